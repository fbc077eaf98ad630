//! Pulls between points of the cloth, or of cloth and an object: what untangles, as forces.
//!
//! \[WLG06\] (4): a force that grows with what is lacking, up to a maximum, and the opposite one where
//! it is measured from. It is that of a damped spring of given period on the mass that the two points
//! stand for, so a fabric of any weight is drawn at the same speed. Explicit: a spring that
//! takes ten loops or more for its way is stable in any integrator here.

use glam::DVec3;

/// Two points of the mesh, and the vector that ought to lie between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Attraction {
    /// Mesh vertices with signed weights: those of the point that is to move add up to 1, those of the
    /// one that it is measured from to −1, or there are none.
    pub parts: Vec<(u32, f64)>,
    /// What the weighted sum ought to be, m.
    pub wanted: DVec3,
    /// Share of the stiffness.
    pub share: f64,
    /// What is lacking counts up to this, m.
    pub reach: f64,
    /// Time in which the way becomes a third, s; longer where loops are long.
    pub lag: f64,
    /// Share of critical damping.
    pub damping: f64,
}

/// A pull takes at least so many loops for its way: a handful of them on one vertex is still stable.
const LOOPS: f64 = 3.3;

/// The same by nodes, within an interval.
#[derive(Clone, Debug)]
pub(super) struct Drawn {
    /// Free nodes.
    parts: Vec<(u32, f64)>,
    /// What the others add to the sum at the start and at the end.
    others: [DVec3; 2],
    wanted: DVec3,
    /// N/m.
    stiffness: f64,
    /// N·s/m.
    damping: f64,
    reach: f64,
}

impl Drawn {
    /// None where nothing can move; for loops of at most `h` seconds. `node_of` has `u32::MAX` for
    /// vertices that are no nodes.
    pub(super) fn new(
        attraction: &Attraction,
        h: f64,
        node_of: &[u32],
        inverse_mass: &[f64],
        [x0, target]: [&[DVec3]; 2],
    ) -> Option<Self> {
        let is_free = |v: u32| inverse_mass[v as usize] > 0.0 && node_of[v as usize] != u32::MAX;
        let (free, others): (Vec<_>, Vec<_>) =
            attraction.parts.iter().partition(|(v, _)| is_free(*v));
        let softness: f64 = (free.iter())
            .map(|&(v, w): &(u32, f64)| w * w * inverse_mass[v as usize])
            .sum();
        let sum = |x: &[DVec3]| others.iter().map(|&(v, w)| w * x[v as usize]).sum();
        let Attraction {
            wanted,
            share,
            reach,
            lag,
            damping,
            ..
        } = *attraction;
        let lag = lag.max(LOOPS * h);
        (softness > 0.0).then(|| Self {
            others: [sum(x0), sum(target)],
            parts: free
                .iter()
                .map(|&(v, w)| (node_of[v as usize], w))
                .collect(),
            wanted,
            stiffness: share / (softness * lag * lag),
            damping: 2.0 * damping * share / (softness * lag),
            reach,
        })
    }

    /// Adds the force after a share of an interval of `dt` seconds.
    pub(super) fn add_force(&self, share: f64, dt: f64, x: &[DVec3], v: &[DVec3], f: &mut [DVec3]) {
        let sum = |of: &[DVec3]| -> DVec3 {
            let parts = self.parts.iter();
            parts.map(|&(node, w)| w * of[node as usize]).sum()
        };
        let [start, end] = self.others;
        let lack = self.wanted - sum(x) - start.lerp(end, share);
        let speed = sum(v) + (end - start) / dt;
        let force = self.stiffness * lack.clamp_length_max(self.reach) - self.damping * speed;
        for &(node, w) in &self.parts {
            f[node as usize] += w * force;
        }
    }
}
