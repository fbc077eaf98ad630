//! Axis-aligned boxes.

use glam::DVec3;

/// A closed axis-aligned box, in metres; empty if `min > max` on some axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aabb {
    /// Least coordinates.
    pub min: DVec3,
    /// Greatest coordinates.
    pub max: DVec3,
}

impl Aabb {
    /// The box without points; the neutral element of [`Aabb::union`].
    pub const EMPTY: Self = Self {
        min: DVec3::INFINITY,
        max: DVec3::NEG_INFINITY,
    };

    /// The smallest box around the points.
    pub fn of(points: impl IntoIterator<Item = DVec3>) -> Self {
        points.into_iter().fold(Self::EMPTY, |hull, p| Self {
            min: hull.min.min(p),
            max: hull.max.max(p),
        })
    }

    /// The smallest box around both.
    pub fn union(self, other: Self) -> Self {
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }

    /// The box grown by `margin` on every side.
    pub fn grown(self, margin: f64) -> Self {
        Self {
            min: self.min - margin,
            max: self.max + margin,
        }
    }

    /// Whether the closed boxes share a point; touching counts.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.min.cmple(other.max).all() && other.min.cmple(self.max).all()
    }

    /// The middle of the box.
    pub fn centre(&self) -> DVec3 {
        0.5 * (self.min + self.max)
    }

    /// Edge lengths of the box.
    pub fn size(&self) -> DVec3 {
        self.max - self.min
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(min: f64, max: f64) -> Aabb {
        Aabb::of([DVec3::splat(max), DVec3::splat(min)])
    }

    #[test]
    fn boxes_hold_what_they_are_made_of_and_no_more() {
        let (a, b) = (span(-1.0, 2.0), span(0.0, 5.0));
        assert_eq!(a.union(b), span(-1.0, 5.0));
        assert_eq!(b.union(a), span(-1.0, 5.0));
        assert_eq!(a.union(Aabb::EMPTY), a);
        assert_eq!(a.grown(1.0), span(-2.0, 3.0));
        assert_eq!(a.centre(), DVec3::splat(0.5));
        assert_eq!(a.size(), DVec3::splat(3.0));
    }

    #[test]
    fn boxes_that_touch_overlap() {
        let touching = |a: &Aabb, b: &Aabb| a.overlaps(b) && b.overlaps(a);
        assert!(touching(&span(0.0, 1.0), &span(1.0, 2.0)));
        assert!(!span(0.0, 1.0).overlaps(&span(1.0f64.next_up(), 2.0)));
        for axis in 0..3 {
            let mut apart = span(0.0, 1.0);
            apart.min[axis] = 3.0;
            apart.max[axis] = 4.0;
            assert!(!apart.overlaps(&span(0.0, 1.0)) && !span(0.0, 1.0).overlaps(&apart));
        }
        assert!(!Aabb::EMPTY.overlaps(&span(0.0, 1.0)));
    }
}
