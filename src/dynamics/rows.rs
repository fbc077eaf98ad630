//! Contact, friction and strain limit as rows of the implicit solve.
//!
//! A row looks at one vector, j = Σ wᵢ dᵢ, of the displacements d: how two points that may touch
//! move against each other, or how the most stretched direction of a triangle grows. Along its
//! normal n it keeps a gap at or above zero, across it friction resists \[AC91\]:
//!
//! ```text
//! sn = λn − ρ (room + n·j)          pn = max(0, sn)             ψn = pn² / 2ρ
//! st = λt − ρ (j − n n·j)           pt = st min(1, r/|st|)      ψt = |st|²/2ρ inside the disc, (r|st| − r²/2)/ρ outside
//! ```
//!
//! ψ is convex and has one derivative; −∂ψ/∂j = pn n + pt is the force of the row. The multipliers λ are the
//! forces of the loop before: what rests needs nothing new. Their stiffness ρ is a multiple of that
//! of the matrix at the vertices of the row, so that the solve stays well conditioned.

use glam::{DVec3, Mat3A, Vec3};
use rayon::prelude::*;

use super::solve::{BlockMatrix, GRAIN, Pieces, join, root, single};
use super::stretch::{Triangle, outer};
use crate::touch;

/// Marks a place of a row that holds no free node.
pub(super) const NONE: u32 = u32::MAX;

/// Stiffness of a row as a multiple of that of the matrix; 3 to 10 do equally well, 100 does not.
const STIFFNESS: f64 = 10.0;

/// Share of the permitted strain from which on a triangle has a row.
const WATCHED: f64 = 0.5;

/// Triangles are held this share of the permitted strain below the limit.
const MARGIN: f64 = 0.08;

/// Share of what a triangle is stretched beyond its limit that one loop takes back.
const RETURN: f64 = 0.1;

/// A limit holds up to this multiple of the elastic stress at it, and carries this many times the
/// weight of all cloth in one triangle: where scripted vertices pull harder, it gives.
const STRENGTH: f64 = 4.0;
const WEIGHTS: f64 = 10.0;

/// From this share of the permitted strain above the limit on, the limit gives; at the next it is
/// given up. Between them stress does not fall while stretch grows: if it did, one row of triangles
/// would take all of it.
const WORRYING: f64 = 0.2;
const FORLORN: f64 = 4.2;

/// One row of the solve.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// Free nodes; [`NONE`] where there is none.
    pub(super) nodes: [u32; 4],
    /// 0 where there is no free node.
    pub(super) weights: [f64; 4],
    pub(super) normal: DVec3,
    pub(super) friction: f64,
    /// ρ.
    pub(super) stiffness: f64,
    /// Gap above the one that is kept, where nothing is displaced.
    room: f64,
    /// Most that it exerts along the normal.
    strength: f64,
    /// λn.
    pub(super) normal_force: f64,
    /// λt.
    pub(super) tangential_force: DVec3,
    /// r.
    radius: f64,
    /// j, with the motion of what is scripted.
    pub(super) motion: DVec3,
    /// The same of the direction in which the solve looks.
    pub(super) along: DVec3,
    /// pn n + pt.
    pub(super) force: DVec3,
}

impl Row {
    /// pn and pt where the row moves by `j`.
    #[inline]
    fn forces(&self, j: DVec3) -> (f64, DVec3) {
        let along = self.normal.dot(j);
        let wanted = self.normal_force - self.stiffness * (self.room + along);
        let pressed = wanted.clamp(0.0, self.strength);
        if self.radius == 0.0 {
            return (pressed, DVec3::ZERO);
        }
        let wanted = self.tangential_force - self.stiffness * (j - along * self.normal);
        (pressed, wanted.clamp_length_max(self.radius))
    }

    /// The force where the row moves by j + α times the direction, along the direction, and how it changes with α.
    #[inline]
    fn slope(&self, alpha: f64) -> [f64; 2] {
        let j = self.motion + alpha * self.along;
        let (n, rho) = (self.normal, self.stiffness);
        let rate = n.dot(self.along);
        let pressed = self.normal_force - rho * (self.room + n.dot(j));
        let (mut force, mut change) = (0.0, 0.0);
        if pressed >= self.strength {
            force = self.strength * rate;
        } else if pressed > 0.0 {
            force = pressed * rate;
            change = rho * rate * rate;
        }
        if self.radius > 0.0 {
            let across = self.along - rate * n;
            let wanted = self.tangential_force - rho * (j - n.dot(j) * n);
            let length = wanted.length();
            let along = wanted.dot(across);
            if length <= self.radius {
                force += along;
                change += rho * across.length_squared();
            } else {
                let share = self.radius / length;
                force += share * along;
                let turned = across.length_squared() - along * along / (length * length);
                change += rho * share * turned.max(0.0);
            }
        }
        [force, change]
    }

    /// ψ.
    fn potential(&self) -> f64 {
        let j = self.motion;
        let along = self.normal.dot(j);
        let pressed = (self.normal_force - self.stiffness * (self.room + along)).max(0.0);
        let mut sum = match pressed <= self.strength {
            true => pressed * pressed,
            false => self.strength * (2.0 * pressed - self.strength),
        };
        if self.radius > 0.0 {
            let wanted = self.tangential_force - self.stiffness * (j - along * self.normal);
            let length = wanted.length();
            sum += match length <= self.radius {
                true => length * length,
                false => self.radius * (2.0 * length - self.radius),
            };
        }
        match self.stiffness > 0.0 {
            true => 0.5 * sum / self.stiffness,
            false => 0.0,
        }
    }

    /// Whether it acts between free nodes and what is scripted.
    pub(super) fn is_held(&self) -> bool {
        let is_balanced = self.weights.iter().sum::<f64>().abs() < 1e-9;
        self.force != DVec3::ZERO && !is_balanced
    }

    /// A free node of it.
    pub(super) fn first_node(&self) -> usize {
        let node = self.nodes.iter().find(|&&node| node != NONE);
        *node.expect("a row that acts has a free node") as usize
    }

    /// Whether it acts, or may soon.
    pub(super) fn is_active(&self) -> bool {
        self.normal_force > 0.0 || self.force != DVec3::ZERO
    }

    /// ρ n nᵀ, or ρ I where friction holds.
    pub(super) fn block(&self) -> Mat3A {
        let holds = self.radius > 0.0 && self.tangential_force.length() < 0.99 * self.radius;
        match holds {
            true => Mat3A::from_diagonal(Vec3::splat(self.stiffness as f32)),
            false => single(outer(self.stiffness * self.normal, self.normal)),
        }
    }
}

/// A row of contact by nodes, for all loops of an interval.
#[derive(Clone, Copy, Debug)]
struct Held {
    nodes: [u32; 4],
    weights: [f64; 4],
    normal: DVec3,
    kept: f64,
    opening: f64,
    friction: f64,
    /// Where the scripted vertices are together, at the start and at the end of the interval.
    scripted: [DVec3; 2],
    /// λ.
    force: DVec3,
}

/// The rows of a loop.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    contacts: Vec<Held>,
    /// Face of each row after those of contacts.
    pub(super) faces: Vec<u32>,
    pub(super) rows: Vec<Row>,
    /// Of each free node, from `first[node]` on: row and place in it.
    first: Vec<u32>,
    places: Vec<(u32, u8)>,
}

impl Rows {
    /// Those of contact; `node_of` has [`NONE`] for vertices that are none.
    pub(super) fn new(
        contacts: &[touch::Row],
        node_of: &[u32],
        inverse_mass: &[f64],
        [x0, target]: [&[DVec3]; 2],
    ) -> Self {
        let held = |row: &touch::Row| {
            let mut held = Held {
                nodes: [NONE; 4],
                weights: [0.0; 4],
                normal: row.normal,
                kept: row.kept,
                opening: row.opening,
                friction: row.friction,
                scripted: [DVec3::ZERO; 2],
                force: row.force,
            };
            for k in 0..4 {
                let (v, w) = (row.vertices[k] as usize, row.weights[k]);
                if inverse_mass[v] > 0.0 {
                    if w != 0.0 {
                        held.nodes[k] = node_of[v];
                        held.weights[k] = w;
                    }
                } else {
                    held.scripted[0] += w * x0[v];
                    held.scripted[1] += w * target[v];
                }
            }
            held
        };
        Self {
            contacts: contacts.iter().map(held).collect(),
            ..Self::default()
        }
    }

    /// Forces of the contacts, N, on their first points.
    pub(super) fn contact_forces(&self) -> Vec<DVec3> {
        self.contacts.iter().map(|held| held.force).collect()
    }

    /// Sets the rows up for a loop from `x`, in which the interval goes from one share to another,
    /// and the nodes by `guess`, roughly.
    pub(super) fn begin(&mut self, at: &Linear<'_>, faces: &[Triangle], tension: &[f64]) {
        let Linear { x, shares, h, .. } = at;
        self.rows.clear();
        self.faces.clear();
        for held in &self.contacts {
            let from = held.scripted[0] + shares[0] * (held.scripted[1] - held.scripted[0]);
            let to = held.scripted[0] + shares[1] * (held.scripted[1] - held.scripted[0]);
            let apart = sum(&held.nodes, &held.weights, x) + from;
            let gap = held.normal.dot(apart);
            let lack = (held.kept - gap).clamp(0.0, held.kept);
            let opened = h * held.opening * lack * (lack / held.kept);
            let normal_force = held.force.dot(held.normal).max(0.0);
            let goal = if lack > 0.0 { gap + opened } else { held.kept };
            self.rows.push(Row {
                nodes: held.nodes,
                weights: held.weights,
                normal: held.normal,
                friction: held.friction,
                stiffness: 0.0,
                room: gap - goal,
                strength: f64::INFINITY,
                normal_force,
                tangential_force: held
                    .force
                    .reject_from_normalized(held.normal)
                    .clamp_length_max(held.friction * normal_force),
                radius: 0.0,
                motion: to - from,
                along: DVec3::ZERO,
                force: DVec3::ZERO,
            });
        }
        let watched = |k: u32| {
            at.watch(&faces[k as usize], tension[k as usize])
                .map(|row| (k, row))
        };
        let strained: Vec<(u32, Row)> = (0..faces.len() as u32)
            .into_par_iter()
            .with_min_len(GRAIN)
            .filter_map(watched)
            .collect();
        for (face, row) in strained {
            self.faces.push(face);
            self.rows.push(row);
        }
        for row in &mut self.rows {
            let give = (row.nodes.iter().zip(row.weights)).map(|(&node, w)| match node {
                NONE => 0.0,
                _ => {
                    w * w
                        / row.normal.dot(
                            (at.matrix.diagonal[node as usize] * row.normal.as_vec3a()).as_dvec3(),
                        )
                }
            });
            let give: f64 = give.sum();
            row.stiffness = if give > 0.0 { STIFFNESS / give } else { 0.0 };
        }
        self.index(x.len());
    }

    fn index(&mut self, nodes: usize) {
        self.first.clear();
        self.first.resize(nodes + 1, 0);
        for row in &self.rows {
            for &node in row.nodes.iter().filter(|&&node| node != NONE) {
                self.first[node as usize + 1] += 1;
            }
        }
        for i in 0..nodes {
            self.first[i + 1] += self.first[i];
        }
        let mut next = self.first.clone();
        self.places.clear();
        self.places.resize(self.first[nodes] as usize, (0, 0));
        for (r, row) in self.rows.iter().enumerate() {
            for (k, &node) in row.nodes.iter().enumerate() {
                if node != NONE {
                    let place = &mut next[node as usize];
                    self.places[*place as usize] = (r as u32, k as u8);
                    *place += 1;
                }
            }
        }
    }

    /// The rows at a node, with its weight in them.
    pub(super) fn at(&self, node: usize) -> impl Iterator<Item = (&Row, f64)> {
        let places = match self.first.get(node..node + 2) {
            Some(&[first, last]) => &self.places[first as usize..last as usize],
            _ => &[],
        };
        places.iter().map(|&(row, place)| {
            let row = &self.rows[row as usize];
            (row, row.weights[place as usize])
        })
    }

    /// Sets the radii of the discs of friction to what presses, by the multipliers or by the forces now.
    pub(super) fn set_radii(&mut self, by_forces: bool) {
        for row in &mut self.rows {
            let pressed = match by_forces {
                true => row.forces(row.motion).0,
                false => row.normal_force,
            };
            row.radius = row.friction * pressed;
        }
    }

    /// The motions of the rows in a direction.
    pub(super) fn look_along(&mut self, p: &[DVec3]) {
        let rows = self.rows.par_iter_mut().with_min_len(GRAIN);
        rows.for_each(|row| row.along = sum(&row.nodes, &row.weights, p));
    }

    /// Moves on by `alpha` along the direction.
    pub(super) fn advance(&mut self, alpha: f64) {
        for row in &mut self.rows {
            row.motion += alpha * row.along;
        }
    }

    /// r = q + the forces of the rows, on free nodes.
    pub(super) fn add_forces(&mut self, q: &[DVec3], r: &mut [DVec3]) {
        let rows = self.rows.par_iter_mut().with_min_len(GRAIN);
        rows.for_each(|row| {
            let (pressed, rubbed) = row.forces(row.motion);
            row.force = pressed * row.normal + rubbed;
        });
        let nodes = r.par_iter_mut().zip(q).enumerate().with_min_len(GRAIN);
        nodes.for_each(|(i, (r, q))| {
            *r = *q;
            for (row, w) in self.at(i) {
                *r += w * row.force;
            }
        });
    }

    /// φ'(α) + its slope, of the rows alone.
    pub(super) fn slope(&self, alpha: f64) -> [f64; 2] {
        let pieces = self.rows.par_chunks(GRAIN).map(|rows| {
            rows.iter().fold([0.0; 2], |sums, row| {
                let [force, change] = row.slope(alpha);
                [sums[0] - force, sums[1] + change]
            })
        });
        let pieces: Vec<[f64; 2]> = pieces.collect();
        let add = |a: [f64; 2], b: [f64; 2]| [a[0] + b[0], a[1] + b[1]];
        pieces.into_iter().fold([0.0; 2], add)
    }

    /// Σ ψ.
    pub(super) fn potential(&self) -> f64 {
        self.rows.iter().map(Row::potential).sum()
    }

    /// Of each piece, the first of those that it touches, itself included.
    pub(super) fn groups(&self, pieces: &Pieces) -> Vec<u32> {
        let mut parent: Vec<u32> = (0..pieces.count as u32).collect();
        for row in self.rows.iter().filter(|row| row.force != DVec3::ZERO) {
            let mut nodes = row.nodes.iter().filter(|&&node| node != NONE);
            if let Some(&first) = nodes.next() {
                for &other in nodes {
                    let ends = [first, other].map(|node| pieces.of[node as usize]);
                    join(&mut parent, ends[0], ends[1]);
                }
            }
        }
        (0..pieces.count as u32)
            .map(|piece| root(&mut parent, piece))
            .collect()
    }

    /// Takes the forces as multipliers.
    pub(super) fn renew(&mut self) {
        for row in &mut self.rows {
            let (pressed, rubbed) = row.forces(row.motion);
            row.normal_force = pressed;
            row.tangential_force = rubbed.clamp_length_max(row.friction * pressed);
        }
    }

    /// Keeps the multipliers for the next loop.
    pub(super) fn end(&mut self, tension: &mut [f64]) {
        for (held, row) in self.contacts.iter_mut().zip(&self.rows) {
            held.force = row.normal_force * row.normal + row.tangential_force;
        }
        tension.fill(0.0);
        for (&face, row) in self.faces.iter().zip(&self.rows[self.contacts.len()..]) {
            tension[face as usize] = row.normal_force;
        }
    }

    pub(super) fn contact_rows(&self) -> &[Row] {
        &self.rows[..self.contacts.len()]
    }
}

/// What rows are set up from.
pub(super) struct Linear<'a> {
    pub(super) matrix: &'a BlockMatrix,
    pub(super) inverse_mass: &'a [f64],
    pub(super) x: &'a [DVec3],
    /// Where the nodes would be without any force.
    pub(super) ahead: &'a [DVec3],
    /// Of all that is free, N.
    pub(super) weight: f64,
    /// Displacements of scripted nodes.
    pub(super) scripted: &'a [DVec3],
    /// Of the interval, at start and end of the loop.
    pub(super) shares: [f64; 2],
    pub(super) h: f64,
}

impl Linear<'_> {
    /// The row of a triangle that is stretched, or may be soon.
    fn watch(&self, triangle: &Triangle, tension: f64) -> Option<Row> {
        let watched = 1.0 + WATCHED * (triangle.limit - 1.0);
        let is_near = tension > 0.0
            || triangle.exceeds(watched, self.x)
            || triangle.exceeds(watched, self.ahead);
        if triangle.limit.is_infinite() || !is_near {
            return None;
        }
        let stretch = triangle.largest_stretch(self.x);
        if !stretch.value.is_finite() {
            return None; // others report it
        }
        let permitted = triangle.limit - 1.0;
        let room = triangle.limit - MARGIN * permitted - stretch.value;
        let stiffness = triangle.stretch[0].max(triangle.stretch[2]);
        let beyond = -room / permitted;
        let hope = ((FORLORN - beyond) / (FORLORN - WORRYING)).clamp(0.0, 1.0);
        let elastic = STRENGTH * stiffness * triangle.area * permitted;
        let carried = WEIGHTS * self.weight * (2.0 * triangle.area).sqrt();
        let strength = hope * (elastic + carried);
        if strength == 0.0 {
            return None;
        }
        let mut row = Row {
            nodes: [NONE; 4],
            weights: [0.0; 4],
            normal: -stretch.world,
            friction: 0.0,
            stiffness: 0.0,
            room: if room >= 0.0 { room } else { RETURN * room },
            strength,
            normal_force: tension.min(strength),
            tangential_force: DVec3::ZERO,
            radius: 0.0,
            motion: DVec3::ZERO,
            along: DVec3::ZERO,
            force: DVec3::ZERO,
        };
        for (k, &node) in triangle.vertices.iter().enumerate() {
            let w = triangle.gradient[k].dot(stretch.material);
            if self.inverse_mass[node as usize] > 0.0 {
                row.nodes[k] = node;
                row.weights[k] = w;
            } else {
                row.motion += w * self.scripted[node as usize];
            }
        }
        Some(row)
    }
}

#[inline]
fn sum(nodes: &[u32; 4], weights: &[f64; 4], values: &[DVec3]) -> DVec3 {
    let mut sum = DVec3::ZERO;
    for (&node, &w) in nodes.iter().zip(weights) {
        if node != NONE {
            sum += w * values[node as usize];
        }
    }
    sum
}

#[cfg(test)]
#[path = "tests/rows.rs"]
mod tests;
