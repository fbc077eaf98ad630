//! What the cure asks of the cloth: pairs of points that ought to stand in a certain place to each other.
//!
//! A [`Pull`] takes the force of \[WLG06\] (4) from point to point, and the opposite force back, so that momentum is
//! kept ("the correction forces should be applied symmetrically"). It is a wish and no displacement: a relaxation or a
//! running simulation decides how far it goes. We differ: `max` in (4) and (6) must be `min`, as the text says ("up to
//! a maximum value").

use glam::DVec3;

/// A point of the cloth: corners of a face with weights that sum to one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The corners; those of weight zero may be repeated.
    pub vertices: [u32; 3],
    /// Their weights.
    pub weights: [f64; 3],
}

impl Point {
    /// A vertex.
    pub fn vertex(v: u32) -> Self {
        Self {
            vertices: [v; 3],
            weights: [1.0, 0.0, 0.0],
        }
    }

    /// A point of an edge, from 0 at its first vertex to 1.
    pub fn edge([a, b]: [u32; 2], along: f64) -> Self {
        Self {
            vertices: [a, b, b],
            weights: [1.0 - along, along, 0.0],
        }
    }

    /// A point of a face.
    pub fn face(vertices: [u32; 3], weights: DVec3) -> Self {
        Self {
            vertices,
            weights: weights.to_array(),
        }
    }

    /// Where it is, in metres.
    pub fn position(&self, x: &[DVec3]) -> DVec3 {
        self.parts().map(|(v, w)| w * x[v as usize]).sum()
    }

    /// Vertices that take part, with their weights.
    pub fn parts(&self) -> impl Iterator<Item = (u32, f64)> + Clone + use<> {
        let all = self.vertices.into_iter().zip(self.weights);
        all.filter(|&(_, w)| w != 0.0)
    }
}

/// Two points and the vector that ought to lie between them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pull {
    /// The point that is to move.
    pub from: Point,
    /// The point that it is measured from, and that feels the opposite force; `None` is a place in space.
    pub to: Option<Point>,
    /// Where `from` ought to be: relative to `to`, or in space. In metres.
    pub wanted: DVec3,
    /// Share of the stiffness.
    pub weight: f64,
    /// The intersection that asks for it, by number.
    pub contour: u32,
}

impl Pull {
    /// How far `from` is from where it ought to be, in metres.
    pub fn lack(&self, x: &[DVec3]) -> DVec3 {
        let to = self.to.map_or(DVec3::ZERO, |to| to.position(x));
        to + self.wanted - self.from.position(x)
    }

    /// The same wish, of which at most `reach` metres are asked for at once: `min(k d, f_max)` with `f_max` = k · reach.
    #[must_use]
    pub fn within(mut self, x: &[DVec3], reach: f64) -> Self {
        let lack = self.lack(x);
        self.wanted -= lack - lack.clamp_length_max(reach);
        self
    }
}

/// Everything that is asked at one instant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Targets {
    /// By contour, then by path and vertex.
    pub pulls: Vec<Pull>,
}

impl Targets {
    /// Adds the forces (4): `stiffness` in N/m per pull, none above `max_force`, in N. They sum to zero, but for pulls to places in
    /// space.
    pub fn add_forces(&self, x: &[DVec3], stiffness: f64, max_force: f64, f: &mut [DVec3]) {
        for pull in &self.pulls {
            let force = (stiffness * pull.weight * pull.lack(x)).clamp_length_max(max_force);
            for (v, w) in pull.from.parts() {
                f[v as usize] += w * force;
            }
            for (v, w) in pull.to.into_iter().flat_map(|to| to.parts()) {
                f[v as usize] -= w * force;
            }
        }
    }

    /// Direct displacement (\[WLG06\] §5.2): the way of each vertex that takes part, in ascending order, if both points of each pull
    /// go `share` of the way. The mean where several pull.
    pub fn displacements(&self, x: &[DVec3], share: f64) -> Vec<(u32, DVec3)> {
        let mut parts: Vec<(u32, DVec3, f64)> = Vec::new();
        for pull in &self.pulls {
            let way = share * pull.lack(x);
            let from = pull.from.parts().map(|(v, w)| (v, way, w * pull.weight));
            let to = pull.to.into_iter().flat_map(|to| to.parts());
            parts.extend(from);
            parts.extend(to.map(|(v, w)| (v, -way, w * pull.weight)));
        }
        parts.sort_by_key(|p| p.0); // stable: the order of the sums is that of the pulls
        let mean = |group: &[(u32, DVec3, f64)]| {
            let weight: f64 = group.iter().map(|p| p.2).sum();
            let sum: DVec3 = group.iter().map(|p| p.2 * p.1).sum();
            (weight > 0.0).then(|| (group[0].0, sum / weight))
        };
        parts.chunk_by(|a, b| a.0 == b.0).filter_map(mean).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> (Targets, Vec<DVec3>) {
        let x = vec![
            DVec3::ZERO,
            DVec3::X,
            DVec3::Y,
            DVec3::new(0.25, 0.25, -3.0),
        ];
        let pull = Pull {
            from: Point::vertex(3),
            to: Some(Point::face([0, 1, 2], DVec3::new(0.5, 0.25, 0.25))),
            wanted: DVec3::new(0.0, 0.0, 1.0),
            weight: 2.0,
            contour: 0,
        };
        (Targets { pulls: vec![pull] }, x)
    }

    #[test]
    fn forces_grow_with_the_distance_up_to_a_maximum_and_sum_to_zero() {
        let (targets, x) = sample();
        for (max_force, expected) in [(1e3, 40.0), (7.0, 7.0)] {
            let mut f = vec![DVec3::ZERO; 4];
            targets.add_forces(&x, 5.0, max_force, &mut f);
            assert!((f[3] - DVec3::new(0.0, 0.0, expected)).length() < 1e-12);
            assert!((f[0] - DVec3::new(0.0, 0.0, -0.5 * expected)).length() < 1e-12);
            assert!(f.iter().sum::<DVec3>().length() < 1e-12);
            let torque: DVec3 = x.iter().zip(&f).map(|(x, f)| x.cross(*f)).sum();
            assert!(torque.length() < 1e-12);
        }
    }

    #[test]
    fn slightly_more_than_half_way_from_both_sides_parts_the_sheets() {
        let (targets, mut x) = sample();
        for (v, way) in targets.displacements(&x, 0.55) {
            x[v as usize] += way;
        }
        assert!(x[3].z > x[0].z);
        let (targets, x) = sample();
        let near = targets.pulls[0].within(&x, 0.5);
        assert!((near.lack(&x) - DVec3::new(0.0, 0.0, 0.5)).length() < 1e-12);
    }
}
