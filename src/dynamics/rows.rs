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
//! A face at its limit is a row without friction whose n turns with it: with e = j − σ₀ n, the image of the
//! direction that is stretched most, and the length L that it may have, sn = λn − ρ (L − |e|) and the force is −pn e/|e|.
//! A length is convex, so ψ still is.
//!
//! ψ is convex and has one derivative; −∂ψ/∂j = pn n + pt is the force of the row. The multipliers λ are the
//! forces of the loop before: what rests needs nothing new. Their stiffness ρ is a multiple of that
//! of the matrix at the vertices of the row, so that the solve stays well conditioned.
//!
//! A solve looks along a direction again and again. What it needs for that is kept apart from the
//! rows ([`Pull`]), and so are the forces: most of the time is spent on reading them.

use glam::{DMat3, DVec3, Mat3A, Vec3};
use rayon::prelude::*;

use super::contacts::Contacts;
use super::elements::Elements;
use super::solve::{BlockMatrix, GRAIN, Pieces, double, evenly, join, root, single, sums_of};
use super::stretch::outer;

/// Marks a place of a row that holds no free node.
pub(super) const NONE: u32 = u32::MAX;

/// Stiffness of a row as a multiple of that of the matrix; 3 to 10 do equally well, 100 does not.
const STIFFNESS: f64 = 10.0;

/// A face counts as left beyond its limit from this share of the strain that is permitted on.
const OVERSTRETCHED: f64 = 0.05;

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
    pub(super) room: f64,
    /// Most that it exerts along the normal.
    pub(super) strength: f64,
    /// λn.
    pub(super) normal_force: f64,
    /// λt.
    pub(super) tangential_force: DVec3,
    /// j where no free node is displaced: the motion of what is scripted.
    pub(super) motion: DVec3,
    /// Of a face at its strain limit; none for a contact.
    pub(super) taut: Option<Taut>,
}

/// What a row of a face knows beside that of a contact.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taut {
    /// σ where nothing is displaced.
    pub(super) stretch: f64,
    /// The strain that is permitted.
    pub(super) permitted: f64,
}

impl Row {
    /// Whether it acts between free nodes only.
    fn is_balanced(&self) -> bool {
        self.weights.iter().sum::<f64>().abs() < 1e-9
    }

    /// A free node of it.
    fn first_node(&self) -> usize {
        let node = self.nodes.iter().find(|&&node| node != NONE);
        *node.expect("a row has a free node") as usize
    }

    /// Σ wᵢ vᵢ over free nodes.
    #[inline]
    pub(super) fn sum(&self, values: &[DVec3]) -> DVec3 {
        let mut sum = DVec3::ZERO;
        for (&node, &w) in self.nodes.iter().zip(&self.weights) {
            if node != NONE {
                sum += w * values[node as usize];
            }
        }
        sum
    }
}

/// What a row exerts where the solve is, and how that changes in the direction in which it looks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pull {
    /// sn; of a taut face, sn without ρ |e|.
    normal: f64,
    /// st; of a taut face, e.
    tangential: DVec3,
    /// Of sn, per unit of the direction; 0 for a taut face.
    normal_change: f64,
    /// Of st, or of e.
    tangential_change: DVec3,
    strength: f64,
    /// r.
    radius: f64,
    /// 1/ρ.
    give: f64,
    is_taut: bool,
}

impl Pull {
    /// Of a row that looks at `j`.
    fn new(row: &Row, j: DVec3) -> Self {
        let stretch = row.taut.map_or(0.0, |taut| taut.stretch);
        let mut pull = Self {
            normal: row.normal_force - row.stiffness * (row.room + stretch),
            tangential: match row.taut {
                Some(_) => -stretch * row.normal,
                None => row.tangential_force,
            },
            normal_change: 0.0,
            tangential_change: DVec3::ZERO,
            strength: row.strength,
            radius: match row.taut {
                Some(_) => 0.0,
                None => row.friction * row.normal_force,
            },
            give: 1.0 / row.stiffness,
            is_taut: row.taut.is_some(),
        };
        pull.look(row, j);
        pull.advance(1.0);
        pull
    }

    /// Looks in the direction in which j changes by `along`.
    #[inline]
    fn look(&mut self, row: &Row, along: DVec3) {
        if self.is_taut {
            self.tangential_change = along;
            return;
        }
        let rate = row.normal.dot(along);
        self.normal_change = -row.stiffness * rate;
        self.tangential_change = match row.friction > 0.0 {
            true => -row.stiffness * (along - rate * row.normal),
            false => DVec3::ZERO,
        };
    }

    #[inline]
    fn advance(&mut self, alpha: f64) {
        self.normal += alpha * self.normal_change;
        self.tangential += alpha * self.tangential_change;
    }

    /// sn.
    #[inline]
    fn wanted(&self) -> f64 {
        match self.is_taut {
            true => self.normal + self.tangential.length() / self.give,
            false => self.normal,
        }
    }

    /// pn.
    #[inline]
    fn pressed(&self) -> f64 {
        self.wanted().clamp(0.0, self.strength)
    }

    /// pt.
    #[inline]
    fn rubbed(&self) -> DVec3 {
        match self.radius > 0.0 {
            true => self.tangential.clamp_length_max(self.radius),
            false => DVec3::ZERO,
        }
    }

    /// −∂ψ/∂j.
    #[inline]
    fn force(&self, row: &Row) -> DVec3 {
        match self.is_taut {
            true => -self.pressed() * self.tangential.normalize_or_zero(),
            false => self.pressed() * row.normal + self.rubbed(),
        }
    }

    /// How ψ changes with α at `alpha` times the direction, and how that changes.
    #[inline]
    fn slope(&self, alpha: f64) -> [f64; 2] {
        if self.is_taut {
            return self.slope_of_taut(alpha);
        }
        let pressed = self.normal + alpha * self.normal_change;
        let (mut slope, mut change) = (0.0, 0.0);
        if pressed >= self.strength {
            slope = self.strength * self.normal_change;
        } else if pressed > 0.0 {
            slope = pressed * self.normal_change;
            change = self.normal_change * self.normal_change;
        }
        if self.radius > 0.0 {
            let across = self.tangential_change;
            let wanted = self.tangential + alpha * across;
            let (length, along) = (wanted.length(), wanted.dot(across));
            if length <= self.radius {
                slope += along;
                change += across.length_squared();
            } else {
                let share = self.radius / length;
                slope += share * along;
                let turned = across.length_squared() - along * along / (length * length);
                change += share * turned.max(0.0);
            }
        }
        [slope * self.give, change * self.give]
    }

    fn slope_of_taut(&self, alpha: f64) -> [f64; 2] {
        let e = self.tangential + alpha * self.tangential_change;
        let length = e.length();
        let pressed = (self.normal + length / self.give).min(self.strength);
        if pressed <= 0.0 || length == 0.0 {
            return [0.0; 2];
        }
        let rate = e.dot(self.tangential_change) / length;
        let turned = (self.tangential_change.length_squared() - rate * rate).max(0.0);
        let stiffness = match pressed < self.strength {
            true => 1.0 / self.give,
            false => 0.0,
        };
        [
            pressed * rate,
            stiffness * rate * rate + pressed * turned / length,
        ]
    }

    /// ψ.
    fn potential(&self) -> f64 {
        let pressed = self.wanted().max(0.0);
        let mut sum = match pressed <= self.strength {
            true => pressed * pressed,
            false => self.strength * (2.0 * pressed - self.strength),
        };
        if self.radius > 0.0 {
            let length = self.tangential.length();
            sum += match length <= self.radius {
                true => length * length,
                false => self.radius * (2.0 * length - self.radius),
            };
        }
        0.5 * sum * self.give
    }
}

/// The rows of a loop.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    pub(super) contacts: Contacts,
    /// Contact of each row, then the face of each, then the stitch of each; stitches count on behind the faces.
    contact_of: Vec<u32>,
    faces: Vec<u32>,
    stitches: Vec<u32>,
    rows: Vec<Row>,
    pulls: Vec<Pull>,
    /// pn n + pt.
    forces: Vec<DVec3>,
    /// Of each free node, from `first[node]` on: row, and weight in it.
    first: Vec<u32>,
    places: Vec<(u32, f64)>,
}

impl Rows {
    /// Forces of the contacts, N, on their first points.
    pub(super) fn contact_forces(&self) -> Vec<DVec3> {
        self.contacts.forces()
    }

    /// Sets the rows up for a loop.
    pub(super) fn begin(&mut self, at: &Linear<'_>, elements: &Elements, tension: &[f64]) {
        self.contacts.wake(at, &mut self.contact_of, &mut self.rows);
        let faces = &elements.faces;
        let watched = |k: u32| {
            at.watch(&faces[k as usize], tension[k as usize])
                .map(|row| (k, row))
        };
        let taut: Vec<(u32, Row)> = (0..faces.len() as u32)
            .into_par_iter()
            .with_min_len(GRAIN)
            .filter_map(watched)
            .collect();
        self.faces.clear();
        for (face, row) in taut {
            self.faces.push(face);
            self.rows.push(row);
        }
        self.stitches.clear();
        for ((stitch, nodes, weights), k) in elements.sewn().zip(faces.len()..) {
            if let Some(row) = at.sew(stitch, nodes, weights, tension[k]) {
                self.stitches.push(k as u32);
                self.rows.push(row);
            }
        }
        let rows = self.rows.par_iter().with_min_len(GRAIN);
        rows.map(|row| Pull::new(row, row.motion))
            .collect_into_vec(&mut self.pulls);
        self.forces.clear();
        self.forces.resize(self.rows.len(), DVec3::ZERO);
        self.index(at.x.len());
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
        self.places.resize(self.first[nodes] as usize, (0, 0.0));
        for (r, row) in self.rows.iter().enumerate() {
            for (&node, &w) in row.nodes.iter().zip(&row.weights) {
                if node != NONE {
                    let place = &mut next[node as usize];
                    self.places[*place as usize] = (r as u32, w);
                    *place += 1;
                }
            }
        }
    }

    /// The numbers of the rows at a node, with its weight in them.
    pub(super) fn at(&self, node: usize) -> &[(u32, f64)] {
        match self.first.get(node..node + 2) {
            Some(&[first, last]) => &self.places[first as usize..last as usize],
            _ => &[],
        }
    }

    /// The matrices of the rows that act, or may soon; zero for others.
    pub(super) fn blocks(&self) -> Vec<Mat3A> {
        let numbers = (0..self.rows.len()).into_par_iter().with_min_len(GRAIN);
        numbers.map(|k| self.block(k)).collect()
    }

    /// Whether a row acts, or may soon.
    fn may_act(&self, number: usize) -> bool {
        self.rows[number].normal_force != 0.0 || self.forces[number] != DVec3::ZERO
    }

    /// ρ n nᵀ, or ρ I where friction holds.
    fn block(&self, number: usize) -> Mat3A {
        let (row, pull) = (&self.rows[number], &self.pulls[number]);
        if !self.may_act(number) {
            return Mat3A::ZERO;
        }
        let holds = pull.radius > 0.0 && row.tangential_force.length() < 0.99 * pull.radius;
        match holds {
            true => Mat3A::from_diagonal(Vec3::splat(row.stiffness as f32)),
            false => single(outer(row.stiffness * row.normal, row.normal)),
        }
    }

    /// Calls with the piece of each row and with its matrix for a translation of that piece, where there is any.
    pub(super) fn add_to_pieces(&self, pieces: &Pieces, mut add: impl FnMut(u32, DMat3)) {
        for (number, row) in self.rows.iter().enumerate() {
            if !self.may_act(number) {
                continue;
            }
            let of = row.nodes.map(|node| match node {
                NONE => NONE,
                _ => pieces.of[node as usize],
            });
            for k in (0..4).filter(|&k| of[k] != NONE && !of[..k].contains(&of[k])) {
                let own = (k..4).filter(|&l| of[l] == of[k]);
                let weight: f64 = own.map(|l| row.weights[l]).sum();
                if weight.abs() > 1e-9 {
                    add(of[k], weight * weight * double(self.block(number)));
                }
            }
        }
    }

    /// All rows, by number.
    pub(super) fn all(&self) -> &[Row] {
        &self.rows
    }

    /// Sets the radii of the discs of friction to what presses now.
    pub(super) fn renew_radii(&mut self) {
        self.each_pull(|row, pull| pull.radius = row.friction * pull.pressed());
    }

    /// Moves on by `alpha` along the direction.
    pub(super) fn advance(&mut self, alpha: f64) {
        self.each_pull(|_, pull| pull.advance(alpha));
    }

    /// Changes what the rows exert.
    fn each_pull(&mut self, change: impl Fn(&Row, &mut Pull) + Sync + Send) {
        let rows = self.rows.par_iter().zip(&mut self.pulls);
        let rows = evenly(rows.zip(&mut self.forces), GRAIN);
        rows.for_each(|((row, pull), force)| {
            change(row, pull);
            *force = pull.force(row);
        });
    }

    /// Looks in a direction of the free nodes: as [`Rows::slope`] at 0.
    pub(super) fn look_along(&mut self, p: &[DVec3]) -> [f64; 2] {
        let rows = self.rows.par_chunks(GRAIN);
        let pieces = rows.zip(self.pulls.par_chunks_mut(GRAIN));
        sums_of(evenly(pieces, 2), |(rows, pulls)| {
            let mut sums = [0.0; 2];
            for (row, pull) in rows.iter().zip(pulls) {
                pull.look(row, row.sum(p));
                let [slope, change] = pull.slope(0.0);
                sums[0] += slope;
                sums[1] += change;
            }
            sums
        })
    }

    /// A vector of a node and the forces of its rows.
    pub(super) fn add_forces(&self, node: usize, vector: DVec3) -> DVec3 {
        let mut sum = vector;
        for &(row, w) in self.at(node) {
            sum += w * self.forces[row as usize];
        }
        sum
    }

    /// How Σ ψ changes with α, and how that changes.
    pub(super) fn slope(&self, alpha: f64) -> [f64; 2] {
        sums_of(evenly(self.pulls.par_chunks(GRAIN), 4), |pulls| {
            let mut sums = [0.0; 2];
            for pull in pulls {
                let [slope, change] = pull.slope(alpha);
                sums[0] += slope;
                sums[1] += change;
            }
            sums
        })
    }

    /// Σ ψ.
    pub(super) fn potential(&self) -> f64 {
        self.pulls.iter().map(Pull::potential).sum()
    }

    /// Of each piece, the first of those that it touches, itself included.
    pub(super) fn groups(&self, pieces: &Pieces) -> Vec<u32> {
        let mut parent: Vec<u32> = (0..pieces.count as u32).collect();
        for row in self.acting() {
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

    fn acting(&self) -> impl Iterator<Item = &Row> {
        let rows = self.rows.iter().zip(&self.forces);
        rows.filter_map(|(row, force)| (*force != DVec3::ZERO).then_some(row))
    }

    /// A free node of each row that acts between free nodes and what is scripted.
    pub(super) fn held_nodes(&self) -> impl Iterator<Item = usize> {
        let held = self.acting().filter(|row| !row.is_balanced());
        held.map(Row::first_node)
    }

    /// How far faces whose limit could hold are left beyond it: the sum of their excess over [`OVERSTRETCHED`], in shares of the strain
    /// that is permitted.
    pub(super) fn overstretch(&self) -> f64 {
        let first = self.contact_of.len();
        let faces = first..first + self.faces.len();
        let taut = self.rows[faces.clone()].iter().zip(&self.pulls[faces]);
        let excess = taut.map(|(row, pull)| {
            let permitted = row.taut.map_or(f64::INFINITY, |taut| taut.permitted);
            let wanted = pull.wanted();
            let beyond = (wanted - row.normal_force) * pull.give;
            match wanted < pull.strength {
                true => (beyond / permitted - OVERSTRETCHED).max(0.0),
                false => 0.0,
            }
        });
        excess.sum()
    }

    /// Takes the forces as multipliers.
    pub(super) fn renew(&mut self) {
        let rows = self.rows.par_iter_mut().with_min_len(GRAIN);
        rows.zip(&self.pulls).for_each(|(row, pull)| {
            row.normal_force = pull.pressed();
            let most = row.friction * row.normal_force;
            row.tangential_force = pull.rubbed().clamp_length_max(most);
        });
    }

    /// Keeps the multipliers for the next loop.
    pub(super) fn end(&mut self, d: &[DVec3], tension: &mut [f64]) {
        self.contacts.keep(&self.contact_of, &self.rows, d);
        tension.fill(0.0);
        let places = self.faces.iter().chain(&self.stitches);
        for (&place, row) in places.zip(&self.rows[self.contact_of.len()..]) {
            tension[place as usize] = row.normal_force;
        }
    }

    /// The rows of contacts that act, with their forces.
    pub(super) fn contact_rows(&self) -> impl Iterator<Item = (&Row, DVec3)> {
        let count = self.contact_of.len();
        let rows = self.rows[..count].iter().zip(self.forces.iter().copied());
        rows.filter(|(_, force)| *force != DVec3::ZERO)
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
    /// At the end of the loop, s.
    pub(super) time: f64,
    /// Of the interval, at start and end of the loop.
    pub(super) shares: [f64; 2],
    pub(super) h: f64,
}

impl Linear<'_> {
    /// A row with its ρ.
    pub(super) fn stiffened(&self, row: Row) -> Row {
        let give = |(&node, &w): (&u32, &f64)| match node {
            NONE => 0.0,
            _ => {
                let pushed = self.matrix.diagonal[node as usize] * row.normal.as_vec3a();
                w * w / row.normal.dot(pushed.as_dvec3())
            }
        };
        let give: f64 = row.nodes.iter().zip(&row.weights).map(give).sum();
        let stiffness = match give > 0.0 {
            true => STIFFNESS / give,
            false => 1.0, // nothing of it is free, so it does nothing
        };
        Row { stiffness, ..row }
    }
}

#[cfg(test)]
#[path = "tests/rows.rs"]
mod tests;
