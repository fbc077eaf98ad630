//! Which impacts a list of stages gets to see: all at once, or first those with objects and then
//! those within cloth.
//!
//! One pass is the rule, because what a later pass moves may meet what an earlier one has settled,
//! and nobody looks at that again: "potentially allowing penetrations in the lower-priority pass"
//! \[HVTG08\] §3. Two passes, as \[BMF03\] have them, exist to measure that. Here nothing
//! penetrates; what the second pass pushes into an object is refused by [`crate::verify::accept`],
//! retried at shorter intervals, and left to the fail-safes, which see everything.

use super::Stage;
use crate::geometry::{BodyKind, Impact, Mesh};

/// The impacts of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All impacts.
    All,
    /// Impacts of cloth with an obstacle.
    Objects,
    /// Impacts of cloth with cloth.
    Cloth,
}

/// Stages, in order, and the impacts that they see.
#[derive(Clone, Copy, Debug)]
pub struct Pass<'a> {
    /// Which impacts.
    pub scope: Scope,
    /// The stages.
    pub stages: &'a [Stage],
}

impl Scope {
    /// Whether an impact belongs to the pass.
    pub fn holds(self, impact: &Impact, mesh: &Mesh) -> bool {
        // the first vertex is always of the first feature, the last of the second
        let kind = |k: usize| mesh.bodies()[mesh.body_of_vertex(impact.vertices[k]) as usize].kind;
        let object = kind(0) == BodyKind::Obstacle || kind(3) == BodyKind::Obstacle;
        match self {
            Self::All => true,
            Self::Objects => object,
            Self::Cloth => !object,
        }
    }
}
