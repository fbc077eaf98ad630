//! How the cloth gives way: one quasi-static step of membrane, bending and pulls.
//!
//! ```text
//! E(x) = ½ Σ (|xᵢ − xⱼ| − l)²                       edges keep the length they have, near that at rest on the wrong side
//!      + ½ β Σ |b − b₀|²,  b = Σ cᵢ xᵢ              hinges keep their bend; flat where the cloth was on the wrong side
//!      + ½ κ Σ w |lack|²                            pulls
//!      + ½ μ Σ |x − xₙ|²                            nothing moves without a reason
//! ```
//!
//! Minimised over some vertices, the others stay where they are to the bit, in turns (\[BML14\]): the wanted directions of edges and hinges at
//! the present place, then one linear system for all, the same matrix for each axis. Every turn lowers the energy, by
//! a direct solution or, for large pieces, by conjugate gradients, every iterate of which does. Dimensionless: everything is in edge lengths, so that units do not matter.
//!
//! Why not the elements of `dynamics`: they need a fabric in SI units, and a mesh file has none; here only the shape is to be kept.

use glam::DVec3;

use super::components::Cloth;
use super::envelope::{Envelope, Matrix};
use super::pulls::Pull;
use crate::geometry::Mesh;
use crate::geometry::mesh::NONE;

/// β: resistance to bending, relative to that of edges to stretch.
///
/// Of real cloth it is a thousandth of this; more makes the sheets give way smoothly, over several edges, and later.
const BENDING: f64 = 0.1;
/// The same where nothing crosses any more: hems that were pulled through have buckled in waves of two edges, which no length tells of.
const STIFF: f64 = 0.3;
/// μ: resistance to motion as such. Small: it is there so that pieces that hang on nothing have a place.
const PROXIMAL: f64 = 0.02;
/// How far edges of cloth on the wrong side may stay from their length at rest: what has come through is often stretched, but so is
/// cloth that hangs.
pub(super) const STRETCH: f64 = 0.1;
/// Turns of directions and positions in one step; the next step goes on where this one ends.
const TURNS: u32 = 8;
/// Turns after which the directions of hinges are looked at again: they change less than those of edges.
const HINGE_TURNS: u32 = 2;
/// Iterations of one linear system, and the share of its residual that is left: directions change by more than that.
const MAX_ITERATIONS: u32 = 60;
const RESIDUAL: f64 = 1e-2;

/// Cosine of the angle between normals beyond which a hinge counts as folded over: 120°.
const CREASE: f64 = -0.5;

/// Cosine beyond which a hinge is folded so sharply that the middle of its normals is no direction any more: 154°.
const FOLDED: f64 = -0.9;

/// An edge between two faces, and how it is bent.
struct Hinge {
    /// Its ends, then the tips of its faces.
    vertices: [u32; 4],
    /// b = Σ cᵢ xᵢ vanishes where the four lie in a plane.
    coefficients: [f64; 4],
    bend: Bend,
    /// Whether it was folded over when it came in.
    is_crease: bool,
}

/// What a hinge keeps to.
#[derive(Clone, Copy, PartialEq)]
enum Bend {
    /// The part of b₀ along the mean of the normals; what lies in the plane is stretch, and no matter of hinges.
    Kept(f64),
    /// Flat.
    Flat,
    /// Anything: a crease whose layers have passed through each other would open the wrong way, and one that is folded sharply
    /// has no direction.
    Free,
}

/// Some vertices of a mesh that may move, and what holds them.
#[derive(Default)]
pub(super) struct Relaxation {
    /// The vertices, ascending.
    free: Vec<u32>,
    springs: Vec<Spring>,
    hinges: Vec<Hinge>,
    /// β.
    bending: f64,
    matrix: Matrix,
}

/// An edge and its lengths, m.
struct Spring {
    ends: [u32; 2],
    /// The places of its ends among the free vertices, or [`NONE`].
    slots: [u32; 2],
    /// To which it is held.
    length: f64,
    /// Of the undeformed cloth.
    rest: f64,
    /// Its number.
    edge: u32,
}

/// A pull in terms of free vertices: Σ cᵢ xᵢ ought to be `wanted`.
struct Row {
    parts: Vec<(u32, f64)>,
    wanted: DVec3,
    weight: f64,
}

impl Relaxation {
    /// For free vertices, ascending; `slots` is scratch, one entry per vertex, all [`NONE`].
    ///
    /// The shape of the cloth gives the bends to keep.
    pub(super) fn new(cloth: &Cloth<'_>, free: Vec<u32>, slots: &mut [u32]) -> Self {
        let &Cloth {
            mesh,
            shape,
            rest,
            lengths,
            loose,
            ..
        } = cloth;
        enter(&free, slots);
        let mut edges: Vec<u32> = free
            .iter()
            .flat_map(|&v| mesh.edges_of_vertex(v))
            .copied()
            .collect();
        let faces = free.iter().flat_map(|&v| mesh.faces_of_vertex(v));
        let mut bent: Vec<u32> = faces.flat_map(|&f| mesh.face_edges()[f as usize]).collect();
        for list in [&mut edges, &mut bent] {
            list.sort_unstable();
            list.dedup();
        }
        let length = |edge: u32| lengths[edge as usize];
        let at_rest = |edge: u32| {
            let around = mesh.faces_of_edge(edge);
            let of = |face: u32| {
                let sides = mesh.face_edges()[face as usize];
                let k = sides.iter().position(|&e| e == edge);
                rest.lengths(mesh, shape, face)[k.expect("a face around the edge")]
            };
            around.iter().map(|&f| of(f)).sum::<f64>() / around.len() as f64
        };
        let spring = |&edge: &u32| Spring {
            ends: mesh.edges()[edge as usize],
            slots: mesh.edges()[edge as usize].map(|v| slots[v as usize]),
            length: length(edge),
            rest: at_rest(edge),
            edge,
        };
        let springs: Vec<_> = edges.iter().map(spring).collect();
        let mut hinges: Vec<_> = bent
            .iter()
            .filter_map(|&e| Hinge::of(mesh, shape, e, &length))
            .collect();
        let is_loose = |v: &u32| loose.binary_search(v).is_ok();
        for hinge in hinges
            .iter_mut()
            .filter(|h| h.vertices.iter().any(is_loose))
        {
            hinge.bend = Bend::Free;
        }
        let matrix = Matrix::new(&free, slots, &springs, &hinges, BENDING);
        leave(&free, slots);
        Self {
            free,
            springs,
            hinges,
            bending: BENDING,
            matrix,
        }
    }

    /// The free vertices, ascending.
    pub(super) fn free(&self) -> &[u32] {
        &self.free
    }

    /// Makes the cloth within the given vertices forget how it came in: hinges are flat, edges not far from their length at rest.
    pub(super) fn forget(&mut self, is_inside: impl Fn(u32) -> bool) {
        for spring in &mut self.springs {
            if spring.ends.iter().all(|&v| is_inside(v)) {
                let [least, most] = [1.0 - STRETCH, 1.0 + STRETCH].map(|s| s * spring.rest);
                spring.length = spring.length.clamp(least, most);
            }
        }
        for hinge in &mut self.hinges {
            if matches!(hinge.bend, Bend::Kept(_))
                && hinge.vertices.iter().filter(|&&v| is_inside(v)).count() >= 2
            {
                hinge.bend = match hinge.is_crease {
                    true => Bend::Free,
                    false => Bend::Flat,
                };
            }
        }
    }

    /// Holds the edges to the lengths that they are to have in the end.
    pub(super) fn hold(&mut self, lengths: &[f64]) {
        for spring in &mut self.springs {
            spring.length = lengths[spring.edge as usize];
        }
    }

    /// Edges that are further from the lengths that they are held to than a share, with the relative excess.
    pub(super) fn strained(
        &self,
        x: &[DVec3],
        share: f64,
    ) -> impl Iterator<Item = ([u32; 2], f64)> {
        self.springs.iter().filter_map(move |s| {
            let [a, b] = s.ends.map(|v| x[v as usize]);
            let excess = (a.distance(b) / s.length - 1.0).abs() - share;
            (excess > 0.0).then_some((s.ends, excess))
        })
    }

    /// Makes bends count as much as where nothing crosses; `slots` is scratch as in [`Self::new`].
    pub(super) fn stiffen(&mut self, slots: &mut [u32]) {
        self.bending = STIFF;
        enter(&self.free, slots);
        let Self {
            free,
            springs,
            hinges,
            ..
        } = &*self;
        let matrix = Matrix::new(free, slots, springs, hinges, STIFF);
        leave(free, slots);
        self.matrix = matrix;
    }

    /// By how much hinges are bent otherwise than they are held to, beyond a share of their edges; summed up, in edge lengths.
    pub(super) fn roughness(&self, x: &[DVec3], share: f64) -> f64 {
        let of = |h: &Hinge| {
            let [a, b, ..] = h.vertices.map(|v| x[v as usize]);
            let off = (h.value(x) - h.wanted(x)).length() - share * a.distance(b);
            (off > 0.0).then(|| off / a.distance(b))
        };
        self.hinges.iter().filter_map(of).map(|r| r.min(1.0)).sum()
    }

    #[cfg(test)]
    /// Energy of positions, in m², relative to the start of the step.
    fn energy(&self, x: &[DVec3], start: &[DVec3], pulls: &[Pull], stiffness: f64) -> f64 {
        let at = |v: u32| x[v as usize];
        let square = |r: f64| r * r;
        let springs = self
            .springs
            .iter()
            .map(|s| square(at(s.ends[0]).distance(at(s.ends[1])) - s.length));
        let hinges = self
            .hinges
            .iter()
            .map(|h| (h.value(x) - h.wanted(x)).length_squared());
        let pulls = pulls.iter().map(|p| p.weight * p.lack(x).length_squared());
        let moved = self
            .free
            .iter()
            .map(|&v| at(v).distance_squared(start[v as usize]));
        0.5 * (springs.sum::<f64>()
            + self.bending * hinges.sum::<f64>()
            + stiffness * pulls.sum::<f64>()
            + PROXIMAL * moved.sum::<f64>())
    }

    /// Moves the free vertices towards the least energy; `slots` is scratch as in [`Self::new`].
    pub(super) fn step(&self, x: &mut [DVec3], pulls: &[Pull], stiffness: f64, slots: &mut [u32]) {
        enter(&self.free, slots);
        let start: Vec<DVec3> = self.free.iter().map(|&v| x[v as usize]).collect();
        let rows = rows(x, pulls, stiffness, slots);
        let outer = rows.iter().map(|row| (&row.parts[..], row.weight));
        let direct = Envelope::new(&self.matrix, outer);
        // what does not change from turn to turn
        let mut still: Vec<DVec3> = start.iter().map(|p| PROXIMAL * *p).collect();
        for spring in &self.springs {
            match spring.slots {
                [NONE, i] => still[i as usize] += x[spring.ends[0] as usize],
                [i, NONE] => still[i as usize] += x[spring.ends[1] as usize],
                _ => {}
            }
        }
        for row in &rows {
            for &(i, c) in &row.parts {
                still[i as usize] += row.weight * c * row.wanted;
            }
        }
        let mut now = start;
        let mut bent = still.clone();
        let mut right = still.clone();
        for turn in 0..TURNS {
            if turn % HINGE_TURNS == 0 {
                bent.copy_from_slice(&still);
                self.bend(x, slots, &mut bent);
            }
            right.copy_from_slice(&bent);
            for spring in &self.springs {
                let place = |k: usize| match spring.slots[k] {
                    NONE => x[spring.ends[k] as usize],
                    i => now[i as usize],
                };
                let wanted = spring.length * (place(0) - place(1)).normalize_or_zero();
                for (slot, wanted) in spring.slots.into_iter().zip([wanted, -wanted]) {
                    if slot != NONE {
                        right[slot as usize] += wanted;
                    }
                }
            }
            match &direct {
                Some(direct) => {
                    direct.solve(&mut right);
                    now.copy_from_slice(&right);
                }
                None => self.matrix.solve(&rows, &right, &mut now),
            }
            if (turn + 1) % HINGE_TURNS == 0 || turn + 1 == TURNS {
                for (&v, p) in self.free.iter().zip(&now) {
                    x[v as usize] = *p;
                }
            }
        }
        leave(&self.free, slots);
    }

    /// Adds what the hinges want at the present place to the right-hand side.
    fn bend(&self, x: &[DVec3], slots: &[u32], right: &mut [DVec3]) {
        for hinge in &self.hinges {
            let mut wanted = hinge.wanted(x);
            for (&v, &c) in hinge.vertices.iter().zip(&hinge.coefficients) {
                if slots[v as usize] == NONE {
                    wanted -= c * x[v as usize];
                }
            }
            for (&v, &c) in hinge.vertices.iter().zip(&hinge.coefficients) {
                if slots[v as usize] != NONE {
                    right[slots[v as usize] as usize] += self.bending * c * wanted;
                }
            }
        }
    }
}

fn enter(free: &[u32], slots: &mut [u32]) {
    for (i, &v) in (0u32..).zip(free) {
        slots[v as usize] = i;
    }
}

fn leave(free: &[u32], slots: &mut [u32]) {
    for &v in free {
        slots[v as usize] = NONE;
    }
}

/// Pulls with their fixed parts on the right-hand side.
fn rows(x: &[DVec3], pulls: &[Pull], stiffness: f64, slots: &[u32]) -> Vec<Row> {
    let mut rows = Vec::with_capacity(pulls.len());
    for pull in pulls {
        let from = pull.from.parts();
        let to = pull
            .to
            .into_iter()
            .flat_map(|to| to.parts())
            .map(|(v, w)| (v, -w));
        let mut row = Row {
            parts: Vec::with_capacity(6),
            wanted: pull.wanted,
            weight: stiffness * pull.weight,
        };
        for (v, w) in from.chain(to) {
            match slots[v as usize] {
                NONE => row.wanted -= w * x[v as usize],
                i => row.parts.push((i, w)),
            }
        }
        if !row.parts.is_empty() {
            rows.push(row);
        }
    }
    rows
}

impl Hinge {
    /// At an edge of two faces.
    fn of(mesh: &Mesh, x: &[DVec3], edge: u32, length: &impl Fn(u32) -> f64) -> Option<Self> {
        let &[f, g] = mesh.faces_of_edge(edge) else {
            return None;
        };
        let [a, b] = mesh.edges()[edge as usize];
        let base = length(edge);
        // foot and height of a tip over the edge, at rest
        let tip = |face: u32| {
            let corners = mesh.faces()[face as usize];
            let k = corners.iter().position(|&v| v != a && v != b)?;
            let sides = mesh.face_edges()[face as usize];
            let (next, last) = (length(sides[k]), length(sides[(k + 2) % 3]));
            // side k joins the tip and the corner after it
            let (to_a, to_b) = if corners[(k + 1) % 3] == a {
                (next, last)
            } else {
                (last, next)
            };
            let foot = 0.5 * (1.0 + (to_a - to_b) * (to_a + to_b) / (base * base));
            let height = (to_a * to_a / (base * base) - foot * foot).max(0.0).sqrt();
            (height > 0.0).then_some((corners[k], foot, height))
        };
        let ((p, foot_p, height_p), (q, foot_q, height_q)) = (tip(f)?, tip(g)?);
        // where the line between the tips, laid flat, crosses the line of the edge
        let t = height_p / (height_p + height_q);
        let s = foot_p + t * (foot_q - foot_p);
        let coefficients = [-(1.0 - s), -s, 1.0 - t, t];
        if !coefficients.iter().all(|c| c.is_finite() && c.abs() < 1e3) {
            return None; // a sliver: its tip is nowhere in particular
        }
        let mut hinge = Self {
            vertices: [a, b, p, q],
            coefficients,
            bend: Bend::Flat,
            is_crease: false,
        };
        let b0 = hinge.value(x);
        let [n, m] = hinge.normals(x);
        hinge.is_crease = n.dot(m) < CREASE;
        hinge.bend = match n.dot(m) < FOLDED {
            true => Bend::Free,
            false => Bend::Kept(b0.dot((n + m).normalize_or_zero())),
        };
        Some(hinge)
    }

    fn value(&self, x: &[DVec3]) -> DVec3 {
        let parts = self.vertices.iter().zip(&self.coefficients);
        parts.map(|(&v, &c)| c * x[v as usize]).sum()
    }

    /// Unit normals of the two faces.
    fn normals(&self, x: &[DVec3]) -> [DVec3; 2] {
        let [a, b, p, q] = self.vertices.map(|v| x[v as usize]);
        let e = b - a;
        [e.cross(p - a), (q - a).cross(e)].map(DVec3::normalize_or_zero)
    }

    fn wanted(&self, x: &[DVec3]) -> DVec3 {
        match self.bend {
            Bend::Kept(bend) => {
                let [n, m] = self.normals(x);
                bend * (n + m).normalize_or_zero()
            }
            Bend::Flat => DVec3::ZERO,
            Bend::Free => self.value(x),
        }
    }
}

impl Matrix {
    fn new(
        free: &[u32],
        slots: &[u32],
        springs: &[Spring],
        hinges: &[Hinge],
        bending: f64,
    ) -> Self {
        let mut entries: Vec<(u32, u32, f64)> = Vec::new();
        let mut add = |parts: &[(u32, f64)], weight: f64| {
            for &(v, c) in parts {
                for &(w, d) in parts {
                    if slots[v as usize] != NONE && slots[w as usize] != NONE {
                        entries.push((slots[v as usize], slots[w as usize], weight * c * d));
                    }
                }
            }
        };
        for &Spring { ends: [a, b], .. } in springs {
            add(&[(a, 1.0), (b, -1.0)], 1.0);
        }
        for h in hinges {
            let parts: [(u32, f64); 4] =
                std::array::from_fn(|k| (h.vertices[k], h.coefficients[k]));
            add(&parts, bending);
        }
        for &v in free {
            entries.push((slots[v as usize], slots[v as usize], PROXIMAL));
        }
        // by row, then by column; sums are in the order of the elements
        let mut starts = vec![0usize; free.len() + 1];
        for e in &entries {
            starts[e.0 as usize + 1] += 1;
        }
        for i in 0..free.len() {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut by_row = vec![(0, 0.0); entries.len()];
        for &(i, j, value) in &entries {
            by_row[next[i as usize]] = (j, value);
            next[i as usize] += 1;
        }
        let mut matrix = Self {
            rows: vec![0],
            ..Self::default()
        };
        for i in 0..free.len() {
            let row = &mut by_row[starts[i]..starts[i + 1]];
            row.sort_by_key(|e| e.0);
            for group in row.chunk_by(|a, b| a.0 == b.0) {
                matrix.columns.push(group[0].0);
                matrix.values.push(group.iter().map(|e| e.1).sum());
            }
            matrix.rows.push(matrix.columns.len() as u32);
        }
        matrix
    }

    fn times(&self, rows: &[Row], p: &[DVec3], out: &mut [DVec3]) {
        for (i, out) in out.iter_mut().enumerate() {
            let range = self.rows[i] as usize..self.rows[i + 1] as usize;
            let columns = self.columns[range.clone()].iter().zip(&self.values[range]);
            *out = columns.map(|(&j, &a)| a * p[j as usize]).sum();
        }
        for row in rows {
            let value: DVec3 = row.parts.iter().map(|&(i, c)| c * p[i as usize]).sum();
            for &(i, c) in &row.parts {
                out[i as usize] += row.weight * c * value;
            }
        }
    }

    /// Conjugate gradients from the present place, with the diagonal as preconditioner.
    fn solve(&self, rows: &[Row], right: &[DVec3], x: &mut [DVec3]) {
        let n = x.len();
        let mut diagonal = vec![0.0; n];
        for i in 0..n {
            for k in self.rows[i] as usize..self.rows[i + 1] as usize {
                if self.columns[k] as usize == i {
                    diagonal[i] += self.values[k];
                }
            }
        }
        for row in rows {
            for &(i, c) in &row.parts {
                diagonal[i as usize] += row.weight * c * c;
            }
        }
        let dot = |a: &[DVec3], b: &[DVec3]| a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum::<f64>();
        let mut product = vec![DVec3::ZERO; n];
        self.times(rows, x, &mut product);
        let mut r: Vec<DVec3> = right.iter().zip(&product).map(|(b, a)| *b - *a).collect();
        let mut z: Vec<DVec3> = r.iter().zip(&diagonal).map(|(r, d)| *r / *d).collect();
        let mut p = z.clone();
        let mut rz = dot(&r, &z);
        let end = RESIDUAL * RESIDUAL * rz;
        for _ in 0..MAX_ITERATIONS {
            if rz <= end || rz == 0.0 {
                break;
            }
            self.times(rows, &p, &mut product);
            let curvature = dot(&p, &product);
            if curvature <= 0.0 || !curvature.is_finite() {
                break;
            }
            let step = rz / curvature;
            for i in 0..n {
                x[i] += step * p[i];
                r[i] -= step * product[i];
                z[i] = r[i] / diagonal[i];
            }
            let next = dot(&r, &z);
            let share = next / rz;
            rz = next;
            for i in 0..n {
                p[i] = z[i] + share * p[i];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Point, Rest};
    use super::*;
    use crate::random::Random;
    use crate::scene::tangles::of_type;

    fn sheet() -> (Mesh, Vec<DVec3>, Vec<[glam::DVec2; 3]>) {
        let t = of_type("closed", 5).unwrap();
        let mesh = Mesh::new(t.positions.len(), t.faces.clone()).unwrap();
        (mesh, t.positions, t.uv)
    }

    fn relaxation(
        mesh: &Mesh,
        x: &[DVec3],
        rest: Rest<'_>,
        free: Vec<u32>,
        slots: &mut [u32],
    ) -> Relaxation {
        let length = |e: &[u32; 2]| x[e[0] as usize].distance(x[e[1] as usize]);
        let cloth = Cloth {
            mesh,
            shape: x,
            lengths: &mesh.edges().iter().map(length).collect::<Vec<_>>(),
            rest,
            is_fixed: &[],
            held: None,
            loose: &[],
        };
        Relaxation::new(&cloth, free, slots)
    }

    #[test]
    fn every_step_lowers_the_energy_and_leaves_the_rest_in_place() {
        let (mesh, x0, _) = sheet();
        let mut slots = vec![NONE; x0.len()];
        let free: Vec<u32> = (20..70).collect();
        let relaxation = relaxation(&mesh, &x0, Rest::Unknown, free, &mut slots);
        let mut random = Random(3);
        let mut vector = || DVec3::new(random.signed(), random.signed(), random.signed());
        let pulls: Vec<Pull> = (30..50)
            .map(|v| Pull {
                from: Point::vertex(v),
                to: Some(Point::face(
                    mesh.faces()[v as usize + 20],
                    DVec3::splat(1.0 / 3.0),
                )),
                wanted: 0.3 * vector(),
                weight: 1.0,
                contour: 0,
            })
            .collect();
        let mut x = x0.clone();
        for _ in 0..10 {
            let start = x.clone();
            relaxation.step(&mut x, &pulls, 2.0, &mut slots);
            let [before, after] = [&start, &x].map(|x| relaxation.energy(x, &start, &pulls, 2.0));
            assert!(after < before, "{after} {before}");
        }
        for v in (0..20).chain(70..x.len()) {
            assert_eq!(x[v], x0[v]);
        }
        assert!(slots.iter().all(|&s| s == NONE));
    }

    #[test]
    fn a_step_does_not_depend_on_where_the_cloth_is() {
        let (mesh, x0, uv) = sheet();
        let mut slots = vec![NONE; x0.len()];
        let shift = DVec3::new(0.3, -0.2, 0.5);
        let pulls: Vec<Pull> = (30..50)
            .map(|v| Pull {
                from: Point::vertex(v),
                to: Some(Point::vertex(v + 20)),
                wanted: DVec3::new(0.0, 0.1, 0.0),
                weight: 1.0,
                contour: 0,
            })
            .collect();
        let mut ends = Vec::new();
        for shift in [DVec3::ZERO, shift] {
            let mut x: Vec<DVec3> = x0.iter().map(|p| *p + shift).collect();
            let free: Vec<u32> = (20..70).collect();
            let rest = Rest::Parameters(&uv);
            let relaxation = relaxation(&mesh, &x, rest, free, &mut slots);
            relaxation.step(&mut x, &pulls, 4.0, &mut slots);
            ends.push(x.iter().map(|p| *p - shift).collect::<Vec<_>>());
        }
        for (p, q) in ends[0].iter().zip(&ends[1]) {
            assert!(p.distance(*q) < 1e-12, "{}", p.distance(*q));
        }
    }

    #[test]
    fn what_is_not_pulled_stays_in_its_shape() {
        let (mesh, x0, _) = sheet();
        let mut slots = vec![NONE; x0.len()];
        let free = (0..x0.len() as u32).collect();
        let relaxation = relaxation(&mesh, &x0, Rest::Unknown, free, &mut slots);
        let mut x = x0.clone();
        relaxation.step(&mut x, &[], 1.0, &mut slots);
        let furthest = x
            .iter()
            .zip(&x0)
            .map(|(a, b)| a.distance(*b))
            .fold(0.0, f64::max);
        assert!(furthest < 1e-12, "{furthest}");
    }
}
