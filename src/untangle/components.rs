//! Components: tangles that have to be resolved together, because they move the same cloth.
//!
//! A component is a set of vertices around some intersections, disjoint from all others: the faces on their paths, what is inside,
//! and as many rings around as the inside is deep, so that there is cloth to give way. Each has its own measure, its own
//! best state and its own method; one that fails does not hold up the others.

use glam::DVec3;

use super::Analysis;
use super::attract::{Sides, corners};
use super::memory::Memory;
use super::relax::Relaxation;
use super::targets::Method;
use crate::geometry::Mesh;
use crate::geometry::mesh::NONE;

/// Rings around an intersection that move with it, beside as many as its inside is deep.
const RINGS: u32 = 3;

/// Steps over which crossings have to fall by a tenth so that a method is given more time.
const TREND: usize = 6;

/// Times as many crossings as at the best from which on a method is not watched any longer.
const BURST: usize = 10;

/// Methods in the order in which they are tried; each begins where the best so far ended.
pub(super) const METHODS: [Method; 6] = [
    Method::Pull(Sides::Chosen),
    Method::ShortenRigid,
    Method::ShortenNodes,
    Method::Pull(Sides::OtherFirst),
    Method::Pull(Sides::OtherSecond),
    Method::Pull(Sides::OtherBoth),
];

/// How bad a component is: fewer crossings are better, then shorter contours.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Measure {
    pub(super) crossings: usize,
    pub(super) length: f64,
}

impl Measure {
    /// Whether this is an improvement worth the name.
    pub(super) fn is_better_than(&self, other: &Self) -> bool {
        self.crossings < other.crossings
            || self.crossings == other.crossings && self.length < 0.98 * other.length
    }
}

/// Cloth around some intersections.
pub(super) struct Component {
    /// Its vertices, ascending; those that may not move are among them.
    pub(super) vertices: Vec<u32>,
    pub(super) relaxation: Relaxation,
    /// Intersections that it has now, by number.
    pub(super) contours: Vec<u32>,
    pub(super) now: Measure,
    pub(super) best: Measure,
    /// Positions of its vertices at the best.
    best_x: Vec<DVec3>,
    /// What was wanted before.
    pub(super) memory: Memory,
    /// Steps since the best.
    pub(super) since: u32,
    /// Crossings at the steps of the method in use.
    recent: Vec<usize>,
    /// The method in use, an index into [`METHODS`].
    pub(super) method: usize,
    /// Whether something got better since the first method was last begun with.
    is_worth_it: bool,
    /// Whether all methods have been tried in vain.
    pub(super) is_given_up: bool,
    /// Whether it was claimed just now, and has no relaxation yet.
    is_new: bool,
}

/// All components of a mesh.
pub(super) struct Components {
    /// The component of each vertex, or [`NONE`].
    pub(super) of: Vec<u32>,
    /// Entries of components that were joined to others are empty.
    pub(super) all: Vec<Option<Component>>,
    pub(super) slots: Vec<u32>,
}

/// What a component is made from.
#[derive(Clone, Copy)]
pub(super) struct Cloth<'a> {
    pub(super) mesh: &'a Mesh,
    /// As it came in, or as it was when nothing crossed: bends are kept to it.
    pub(super) shape: &'a [DVec3],
    /// Lengths of the edges as they came in, m.
    pub(super) lengths: &'a [f64],
    /// Lengths that they are to have in the end, if those are others.
    pub(super) held: Option<&'a [f64]>,
    pub(super) rest: super::Rest<'a>,
    pub(super) is_fixed: &'a [bool],
    /// Vertices around which bends are not kept, ascending.
    pub(super) loose: &'a [u32],
}

impl Components {
    pub(super) fn new(vertex_count: usize) -> Self {
        Self {
            of: vec![NONE; vertex_count],
            all: Vec::new(),
            slots: vec![NONE; vertex_count],
        }
    }

    /// Hands the intersections to components: new ones where there are none, joined ones where they meet.
    ///
    /// What is dear, the relaxation, is made once in the end: thousands of intersections may be joined one after the other.
    pub(super) fn assign(&mut self, cloth: &Cloth<'_>, x: &[DVec3], analysis: &Analysis) {
        for component in self.all.iter_mut().flatten() {
            component.contours.clear();
            component.now = Measure::default();
        }
        for number in 0..analysis.contours.len() as u32 {
            let (core, depth) = core(cloth.mesh, analysis, number);
            let first = self.of[core[0] as usize];
            let component = if first != NONE && core.iter().all(|&v| self.of[v as usize] == first) {
                first
            } else {
                self.claim(cloth.mesh, core, RINGS + depth)
            };
            let contour = &analysis.contours[number as usize];
            let component = self.all[component as usize].as_mut();
            let component = component.expect("claimed or found just now");
            component.contours.push(number);
            component.now.crossings += contour.segment_count;
            component.now.length += contour.length;
        }
        let Self { all, slots, .. } = self;
        for component in all.iter_mut().flatten().filter(|c| c.is_new) {
            component.complete(cloth, x, slots);
        }
    }

    /// Makes the vertices and some rings around them a component, with all components that they meet; it is still to be completed.
    fn claim(&mut self, mesh: &Mesh, core: Vec<u32>, rings: u32) -> u32 {
        let mut vertices = grown(mesh, core, rings);
        let mut met: Vec<u32> = vertices.iter().map(|&v| self.of[v as usize]).collect();
        met.sort_unstable();
        met.dedup();
        met.retain(|&m| m != NONE);
        let mut contours = Vec::new();
        let mut now = Measure::default();
        for &m in &met {
            let joined = self.all[m as usize]
                .take()
                .expect("vertices name those that exist");
            vertices.extend(joined.vertices);
            contours.extend(joined.contours);
            now.crossings += joined.now.crossings;
            now.length += joined.now.length;
        }
        let number = self.all.len() as u32;
        for &v in &vertices {
            self.of[v as usize] = number;
        }
        self.all.push(Some(Component {
            best_x: Vec::new(),
            vertices,
            relaxation: Relaxation::default(),
            contours,
            now,
            best: Measure {
                crossings: usize::MAX,
                length: f64::INFINITY,
            },
            memory: Memory::default(),
            since: 0,
            recent: Vec::new(),
            method: 0,
            is_worth_it: false,
            is_given_up: false,
            is_new: true,
        }));
        number
    }

    /// Takes a ring more into a component, if that is cloth of its own.
    pub(super) fn widen(&mut self, cloth: &Cloth<'_>, number: usize) {
        let Some(component) = &self.all[number] else {
            return;
        };
        let wide = grown(cloth.mesh, component.vertices.clone(), RINGS);
        let own = |v: &u32| [NONE, number as u32].contains(&self.of[*v as usize]);
        let vertices: Vec<u32> = wide.into_iter().filter(own).collect();
        if vertices.len() == component.vertices.len() {
            return;
        }
        for &v in &vertices {
            self.of[v as usize] = number as u32;
        }
        let free = vertices
            .iter()
            .copied()
            .filter(|&v| !cloth.is_fixed[v as usize])
            .collect();
        let relaxation = Relaxation::new(cloth, free, &mut self.slots);
        let component = self.all[number].as_mut().expect("looked at above");
        let old: Vec<(u32, DVec3)> = component
            .vertices
            .iter()
            .copied()
            .zip(component.best_x.iter().copied())
            .collect();
        // what is new has not moved yet
        let place = |v: &u32| match old.binary_search_by_key(v, |o| o.0) {
            Ok(k) => old[k].1,
            Err(_) => cloth.shape[*v as usize],
        };
        component.best_x = vertices.iter().map(place).collect();
        component.vertices = vertices;
        component.relaxation = relaxation;
    }
}

/// What is to be done with a component in this step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// Go on.
    Go,
    /// It was put back to its best and begins anew.
    PutBack,
    /// As [`Turn::PutBack`], and every method has been tried since something last got better: more cloth may help.
    Widen,
    /// There is nothing to do, or nothing that helps.
    Rest,
}

impl Component {
    /// Makes the relaxation of what was claimed.
    fn complete(&mut self, cloth: &Cloth<'_>, x: &[DVec3], slots: &mut [u32]) {
        self.is_new = false;
        self.vertices.sort_unstable();
        self.vertices.dedup();
        let free = self.vertices.iter().copied();
        let free = free.filter(|&v| !cloth.is_fixed[v as usize]).collect();
        self.relaxation = Relaxation::new(cloth, free, slots);
        self.best_x = self.vertices.iter().map(|&v| x[v as usize]).collect();
    }

    /// Compares with the best; decides how to go on.
    pub(super) fn judge(&mut self, x: &mut [DVec3], patience: u32) -> Turn {
        if self.now.crossings == 0 {
            self.keep(x);
            return Turn::Rest;
        }
        if self.now.is_better_than(&self.best) {
            self.is_worth_it |= self.best.crossings != usize::MAX;
            self.keep(x);
            self.is_given_up = false;
        } else {
            self.since += 1;
        }
        if self.is_given_up {
            return Turn::Rest;
        }
        self.recent.push(self.now.crossings);
        let before = self.recent.len().checked_sub(TREND + 1);
        let before = before.map_or(0, |k| self.recent[k]);
        let falls = (self.now.crossings as f64) < 0.9 * before as f64;
        let has_burst = self.now.crossings > BURST * self.best.crossings + 64;
        let is_patient = self.since < patience || falls && self.since < 4 * patience;
        if is_patient && !has_burst {
            return Turn::Go;
        }
        self.recent.clear();
        self.put_back(x);
        self.memory.clear();
        self.since = 0;
        self.method += 1;
        if self.method < METHODS.len() {
            return Turn::PutBack;
        }
        self.method = 0;
        if std::mem::take(&mut self.is_worth_it) {
            return Turn::Widen;
        }
        self.is_given_up = true;
        Turn::Rest
    }

    fn keep(&mut self, x: &[DVec3]) {
        self.best = self.now;
        self.since = 0;
        self.best_x.clear();
        self.best_x
            .extend(self.vertices.iter().map(|&v| x[v as usize]));
    }

    /// Puts its vertices to where they were at the best.
    pub(super) fn put_back(&self, x: &mut [DVec3]) {
        for (&v, p) in self.vertices.iter().zip(&self.best_x) {
            x[v as usize] = *p;
        }
    }
}

/// Vertices on an intersection and inside, ascending, and how many rings deep the inside is.
fn core(mesh: &Mesh, analysis: &Analysis, contour: u32) -> (Vec<u32>, u32) {
    let mut all = Vec::new();
    let mut deepest = 0;
    for number in analysis.contours[contour as usize].paths.clone() {
        let path = &analysis.paths[number as usize];
        let inside = path.inside.vertices();
        let mut reached = corners(mesh, &path.faces);
        all.extend(&reached);
        all.extend(inside);
        let mut left = inside.to_vec();
        left.retain(|v| reached.binary_search(v).is_err());
        let mut depth = 0;
        while !left.is_empty() && depth < 64 {
            let next: Vec<u32> = left
                .iter()
                .copied()
                .filter(|&v| {
                    mesh.neighbours(v)
                        .any(|w| reached.binary_search(&w).is_ok())
                })
                .collect();
            if next.is_empty() {
                break;
            }
            left.retain(|v| next.binary_search(v).is_err());
            reached = next;
            depth += 1;
        }
        deepest = deepest.max(depth);
    }
    all.sort_unstable();
    all.dedup();
    (all, deepest)
}

/// Vertices and those around them, ring by ring, ascending.
pub(super) fn grown(mesh: &Mesh, mut vertices: Vec<u32>, rings: u32) -> Vec<u32> {
    let mut is_in = std::collections::BTreeSet::from_iter(vertices.iter().copied());
    let mut front = 0..vertices.len();
    for _ in 0..rings {
        for k in front.clone() {
            for w in mesh.neighbours(vertices[k]) {
                if is_in.insert(w) {
                    vertices.push(w);
                }
            }
        }
        front = front.end..vertices.len();
    }
    vertices.sort_unstable();
    vertices
}
