//! Seams: pairs of vertices that are drawn together over time, down to a gap.
//!
//! Each pair has a spring whose rest length falls evenly from the distance at the start to the gap. The gap must not be smaller than
//! the thickness: the certificate has no exception for seams, so they close to a gap and never to contact.

use glam::DVec3;

use super::springs::Spring;

/// A seam between vertices of one or two cloths.
#[derive(Clone, Debug, PartialEq)]
pub struct Seam {
    /// Mesh vertices that belong together.
    pub pairs: Vec<[u32; 2]>,
    /// Distance of each pair when it begins to close, m.
    pub from: Vec<f64>,
    /// Distance when closed, m; at least the thickness.
    pub gap: f64,
    /// When it begins to close, s.
    pub start: f64,
    /// How long closing takes, s; 0 closes at once.
    pub duration: f64,
    /// Pull per length of seam and distance, N/m².
    pub stiffness: f64,
    /// Damping relative to the stiffness, s.
    pub damping: f64,
}

impl Seam {
    /// A seam that closes in the first second, from the given positions; 10 N per mm of opening and 0.1 m of seam.
    pub fn new(pairs: Vec<[u32; 2]>, x: &[DVec3], gap: f64) -> Self {
        let distance = |&[a, b]: &[u32; 2]| x[a as usize].distance(x[b as usize]);
        Self {
            from: pairs.iter().map(distance).collect(),
            pairs,
            gap,
            start: 0.0,
            duration: 1.0,
            stiffness: 1e5,
            damping: 1e-2,
        }
    }
}

/// One pair of a seam by node numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stitch {
    /// Closed.
    pub(super) spring: Spring,
    /// Rest length before it closes, m.
    pub(super) from: f64,
    /// s.
    pub(super) start: f64,
    /// s.
    pub(super) duration: f64,
}

impl Stitch {
    /// The spring at a time; none of its forces act before the start.
    pub(super) fn at(&self, time: f64) -> Spring {
        let elapsed = time - self.start;
        if elapsed < 0.0 {
            return Spring {
                stiffness: 0.0,
                damping: 0.0,
                ..self.spring
            };
        }
        let open = if elapsed < self.duration {
            1.0 - elapsed / self.duration
        } else {
            0.0
        };
        let gap = self.spring.rest;
        Spring {
            rest: gap + open * (self.from - gap),
            ..self.spring
        }
    }
}
