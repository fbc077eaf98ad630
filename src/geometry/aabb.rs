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
