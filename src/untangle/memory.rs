//! What was wanted before: a side that has been chosen is kept until it is reached.
//!
//! On their way past each other two sheets lie almost in one place, and every ripple of the mesh crosses: many small contours
//! appear, and each of them would choose its own smaller side. So the wishes of the last steps are kept until they are fulfilled or
//! too old, and a new one that points the other way is not heard. (A flip of sides would go back and forth for ever.)

use glam::DVec3;

use super::pulls::Pull;

/// Steps for which a wish is kept: a vertex goes half an edge per step, so this is about four edges.
const MAX_AGE: u32 = 8;
/// Share of the clearance below which a wish counts as fulfilled.
const FULFILLED: f64 = 0.5;

/// The wishes of a component that are not fulfilled yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    /// By the vertex that they pull, ascending.
    kept: Vec<(u32, u32, Pull)>,
}

impl Memory {
    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.kept.clear();
    }

    /// Leaves out of `pulls` what contradicts the past, adds what the past still wants, and remembers the result.
    pub(super) fn join(&mut self, x: &[DVec3], pulls: &mut Vec<Pull>) {
        self.kept.retain_mut(|(_, age, pull)| {
            *age += 1;
            *age <= MAX_AGE && pull.lack(x).length() > FULFILLED * pull.wanted.length()
        });
        let wanted = |v: u32| {
            let found = self.kept.binary_search_by_key(&v, |k| k.0).ok()?;
            Some(self.kept[found].2.wanted)
        };
        let contradicts = |pull: &Pull| {
            let toward = |(v, w): (u32, f64)| wanted(v).map_or(0.0, |old| w * old.dot(pull.wanted));
            let from: f64 = pull.from.parts().map(toward).sum();
            let to = pull.to.into_iter().flat_map(|to| to.parts()).map(toward);
            from - to.sum::<f64>() < 0.0
        };
        pulls.retain(|pull| pull.to.is_some() && !contradicts(pull));
        let mut fresh: Vec<(u32, u32, Pull)> = pulls
            .iter()
            .filter(|p| p.from.weights[0] == 1.0)
            .map(|p| (p.from.vertices[0], 0, *p))
            .collect();
        fresh.sort_by_key(|p| p.0);
        fresh.dedup_by_key(|p| p.0);
        let old = std::mem::take(&mut self.kept);
        let is_fresh = |v: u32| fresh.binary_search_by_key(&v, |f| f.0).is_ok();
        let left: Vec<_> = old.into_iter().filter(|(v, ..)| !is_fresh(*v)).collect();
        pulls.extend(left.iter().map(|(_, _, pull)| *pull));
        self.kept = fresh;
        self.kept.extend(left);
        self.kept.sort_by_key(|k| k.0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Point;
    use super::*;

    fn pull(vertex: u32, up: f64) -> Pull {
        Pull {
            from: Point::vertex(vertex),
            to: Some(Point::vertex(9)),
            wanted: DVec3::new(0.0, up, 0.0),
            weight: 1.0,
            contour: 0,
        }
    }

    #[test]
    fn a_side_is_kept_until_it_is_reached() {
        let mut x = vec![DVec3::ZERO; 10];
        x[1].y = -1.0;
        let mut memory = Memory::default();
        memory.join(&x, &mut vec![pull(1, 0.2)]);
        // another contour thinks otherwise, and one is new
        x[1].y = 0.02;
        let mut pulls = vec![pull(1, -0.2), pull(2, 0.2)];
        memory.join(&x, &mut pulls);
        assert_eq!(pulls, [pull(2, 0.2), pull(1, 0.2)]);
        // reached
        x[1].y = 0.15;
        x[2].y = 0.2;
        let mut pulls = vec![pull(1, -0.2)];
        memory.join(&x, &mut pulls);
        assert_eq!(pulls, [pull(1, -0.2)]);
    }

    #[test]
    fn old_wishes_are_forgotten() {
        let x = vec![DVec3::ZERO; 10];
        let mut memory = Memory::default();
        memory.join(&x, &mut vec![pull(1, 0.2)]);
        for age in 1..=MAX_AGE + 1 {
            let mut pulls = Vec::new();
            memory.join(&x, &mut pulls);
            assert_eq!(pulls.is_empty(), age > MAX_AGE);
        }
    }
}
