//! After the cure: lengths that it changed too much are given back, and layers part to a distance.
//!
//! While layers pass each other, pulls stretch what hangs on them. Where nothing crosses any more there is nothing to pull: the
//! cloth relaxes, and now everything is prevented from meeting. Features that are near each other are pushed apart a little, otherwise
//! they would hold each other up for ever: prevention only stops.

use glam::DVec3;

use super::components::{Cloth, Components, grown};
use super::prevent;
use super::pulls::{Point, Pull};
use super::relax::Relaxation;
use super::tangle::Permitted;
use crate::geometry::mesh::flush_tiny;
use crate::geometry::{Collider, Margin, Mesh, Motion, Pair, Proximity};

/// Change of an edge's length, relative to what it is held to, that is left as it is: less than what counts as caught, and no less than what cloth
/// that hangs has anyway. The last percents are the slow ones: 5 instead of 7 % take twice the steps.
const STRAIN: f64 = 0.07;
/// Features nearer than this are pushed apart, in edge lengths, and at most so far: a layer is thinner than its edges are long.
const DISTANCE: [f64; 2] = [0.05, 0.25];
/// Steps in which what is wrong has to fall to this share of what it was, otherwise lengths are left as they are; and steps at most. A tenth in six steps is
/// the same pace, and four steps more in vain.
const PATIENCE: usize = 2;
const GAIN: f64 = 0.966;
/// Relative excess of an edge above which it counts no further: one that is caught is not to hide that others get better.
const MOST: f64 = 0.2;
const MAX_STEPS: u32 = 120;
/// Bend of a hinge, relative to what it is held to, above which the cloth counts as rough, in edge lengths: about 7°. Hems that came through ripple. What that counts beside
/// the excess of edges, and for how many steps it alone is reason enough to go on: the first ones gain most.
const BEND: f64 = 0.05;
const ROUGHNESS: f64 = 0.1;
const SMOOTHING: u32 = 3;
/// Share of the distance at which features count as parted: pushes end there only in the limit.
const PARTED: f64 = 0.98;

/// Change of an edge's length beyond which it counts as caught.
pub(super) const CAUGHT: f64 = 0.1;
/// Rings around caught edges that are let go with them, and steps in which they get their lengths back.
const RINGS: u32 = 4;
const RELEASE: u32 = 20;

/// What is to be reached.
pub(super) struct Finish<'a> {
    pub(super) cloth: &'a Cloth<'a>,
    /// How strongly near features are pushed apart, relative to how strongly edges keep their lengths.
    pub(super) stiffness: f64,
    /// Distance to which layers are parted, in metres; 0 leaves them as near as they are.
    pub(super) thickness: f64,
}

impl Finish<'_> {
    /// Gives what is caught, the loose vertices and rings around them, its lengths back, whatever is in the way.
    ///
    /// What crosses then is a tangle that knows more than the one before: lengths tell on which side the cloth belongs.
    pub(super) fn release(&self, slots: &mut [u32], x: &mut [DVec3]) {
        let free = grown(self.cloth.mesh, self.cloth.loose.to_vec(), RINGS);
        let free = free
            .into_iter()
            .filter(|&v| !self.cloth.is_fixed[v as usize]);
        let mut relaxation = Relaxation::new(self.cloth, free.collect(), slots);
        if let Some(held) = self.cloth.held {
            relaxation.hold(held);
        }
        for _ in 0..RELEASE {
            relaxation.step(x, &[], self.stiffness, slots);
        }
        flush_tiny(x);
    }

    /// Gives back lengths and distances in the components in which nothing crosses; returns the number of steps.
    pub(super) fn run(
        &self,
        components: &mut Components,
        x: &mut [DVec3],
        half_ring: impl Fn(u32) -> f64,
        collider: &mut Collider,
    ) -> u32 {
        let is_clean = |k: &usize| {
            let component = components.all[*k].as_ref();
            component.is_some_and(|c| c.best.crossings == 0)
        };
        let clean: Vec<usize> = (0..components.all.len()).filter(is_clean).collect();
        if let Some(held) = self.cloth.held {
            for &k in &clean {
                let component = components.all[k].as_mut().expect("just found");
                component.relaxation.hold(held);
            }
        }
        // smoothing would hold up layers that are to part
        let smooths = self.thickness == 0.0;
        // a distance that is asked for comes slowly in the end
        let gain = if smooths { GAIN } else { 1.0 };
        let is_well = |k: &usize| {
            let component = components.all[*k].as_ref().expect("just found");
            let relaxation = &component.relaxation;
            relaxation.strained(x, STRAIN).next().is_none() && relaxation.roughness(x, BEND) == 0.0
        };
        if self.thickness == 0.0 && clean.iter().all(is_well) {
            return 0;
        }
        let mut at: Vec<Vec<u32>> = vec![Vec::new(); components.all.len()];
        for &k in &clean {
            let component = components.all[k].as_mut().expect("just found");
            if smooths {
                component.relaxation.stiffen(&mut components.slots);
            }
            at[k] = component.relaxation.free().to_vec();
        }
        let mut distance = vec![0.0; x.len()];
        for &v in at.iter().flatten() {
            let edge = 2.0 * half_ring(v);
            let [least, most] = DISTANCE.map(|share| share * edge);
            distance[v as usize] = self.thickness.clamp(least, most);
        }
        // obstacles, and cloth that stays, have the distance of what comes near
        let usual = distance.iter().copied().fold(0.0, f64::max);
        for d in distance.iter_mut().filter(|d| **d == 0.0) {
            *d = usual;
        }
        let permitted = Permitted::new(self.cloth.mesh, &[]);
        let mut active = clean;
        let mut best: Vec<f64> = vec![f64::INFINITY; at.len()];
        let mut smoothest = best.clone();
        // the best of the last steps, in turn
        let mut past: Vec<[f64; PATIENCE]> = vec![[f64::INFINITY; PATIENCE]; at.len()];
        let mut best_x = x.to_vec();
        for step in 0..=MAX_STEPS {
            let near = near(collider, x, &distance);
            active.retain(|&k| {
                let component = components.all[k].as_ref().expect("found above");
                let lacking = self.lacking(&near, &components.of, k as u32, &distance);
                let strained = component.relaxation.strained(x, STRAIN);
                let badness = strained.map(|(_, e)| e.min(MOST)).sum::<f64>() + lacking;
                let rough = match smooths {
                    true => component.relaxation.roughness(x, BEND),
                    false => 0.0,
                };
                let all = badness + ROUGHNESS * rough;
                if all < smoothest[k] {
                    smoothest[k] = all;
                    for &v in &at[k] {
                        best_x[v as usize] = x[v as usize];
                    }
                }
                best[k] = best[k].min(badness);
                let before = &mut past[k][step as usize % PATIENCE];
                let before = std::mem::replace(before, best[k]);
                badness > 0.0 && best[k] < gain * before || rough > 0.0 && step < SMOOTHING
            });
            if active.is_empty() || step == MAX_STEPS {
                x.copy_from_slice(&best_x);
                return step;
            }
            let start = x.to_vec();
            let mut moving = Vec::new();
            let Components { all, slots, of } = &mut *components;
            for &k in &active {
                let component = all[k].as_ref().expect("found above");
                let own = near.iter().filter(|p| is_of(p, of, k as u32));
                let pulls: Vec<Pull> = own.map(|p| apart(self.cloth.mesh, p)).collect();
                let relaxation = &component.relaxation;
                relaxation.step(x, &pulls, self.stiffness, slots);
                for &v in relaxation.free() {
                    let (from, to) = (start[v as usize], &mut x[v as usize]);
                    *to = from + (*to - from).clamp_length_max(half_ring(v));
                    if *to != from {
                        moving.push(v);
                    }
                }
            }
            flush_tiny(x);
            moving.sort_unstable();
            // what is near at the end is asked for next
            collider.expect(Motion::new(&start, x), &distance);
            prevent::keep_apart(collider, &start, x, &moving, &permitted);
        }
        unreachable!("the last step returns")
    }

    /// How much is lacking to the wanted distance between layers, as a share of it, summed up.
    fn lacking(&self, near: &[Proximity], of: &[u32], component: u32, distance: &[f64]) -> f64 {
        if self.thickness == 0.0 {
            return 0.0;
        }
        let own = near.iter().filter(|p| is_of(p, of, component));
        let lack = |p: &Proximity| {
            let least = p.vertices.iter().map(|&v| distance[v as usize]);
            let wanted = PARTED * least.fold(self.thickness, f64::min);
            (1.0 - p.gap / wanted).max(0.0)
        };
        own.map(lack).sum()
    }
}

/// What is nearer than its distance.
fn near(collider: &mut Collider, x: &[DVec3], distance: &[f64]) -> Vec<Proximity> {
    // shapes at rest do not limit distances here: what is in contact at rest does not cross either
    let far: Vec<DVec3> = x.iter().map(|p| 1e6 * *p).collect();
    let margin = Margin {
        thickness: distance,
        rest: &far,
        gap: None,
    };
    collider.proximities(x, &margin, None)
}

fn is_of(near: &Proximity, of: &[u32], component: u32) -> bool {
    near.vertices.iter().any(|&v| of[v as usize] == component)
}

/// The wish that two near features part to their distance.
fn apart(mesh: &Mesh, near: &Proximity) -> Pull {
    let w = near.weights;
    let [from, to] = match near.pair {
        Pair::VertexFace { vertex, face } => {
            let weights = -DVec3::new(w[1], w[2], w[3]);
            [
                Point::vertex(vertex),
                Point::face(mesh.faces()[face as usize], weights),
            ]
        }
        Pair::EdgeEdge { a, b } => [
            Point::edge(mesh.edges()[a as usize], w[1].abs()),
            Point::edge(mesh.edges()[b as usize], w[3].abs()),
        ],
    };
    Pull {
        from,
        to: Some(to),
        wanted: near.threshold * near.normal,
        weight: 1.0,
        contour: 0,
    }
}
