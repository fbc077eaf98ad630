//! Why a mesh is refused.

use glam::DVec3;

/// Why a mesh is not one that Percale can work on.
///
/// # Examples
/// ```
/// use percale::{Mesh, MeshError};
///
/// let error = Mesh::new(3, vec![[0, 1, 3]]).unwrap_err();
/// assert!(matches!(error, MeshError::IndexOutOfRange { face: 0, vertex: 3, .. }));
/// assert!(error.to_string().starts_with("face 0 uses vertex 3, but there are only 3"));
/// ```
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MeshError {
    /// There is nothing to test.
    #[error("the mesh has no faces; it needs at least one triangle")]
    Empty,

    /// A face uses a vertex that does not exist.
    #[error(
        "face {face} uses vertex {vertex}, but there are only {vertex_count} (numbered from 0); is the file truncated?"
    )]
    IndexOutOfRange {
        /// The face, from 0.
        face: usize,
        /// The index it uses.
        vertex: u32,
        /// How many there are.
        vertex_count: usize,
    },

    /// A face uses a vertex twice.
    #[error("face {face} uses a vertex twice: {corners:?}; remove degenerate faces first")]
    DegenerateFace {
        /// The face, from 0.
        face: usize,
        /// Its corners.
        corners: [u32; 3],
    },

    /// Two faces lie on the same three vertices.
    #[error("faces {first} and {second} have the same vertices {corners:?}; remove one of them")]
    DuplicateFace {
        /// The first of them, from 0.
        first: usize,
        /// The second.
        second: usize,
        /// Their corners.
        corners: [u32; 3],
    },

    /// A face of one body uses a vertex of another.
    #[error(
        "face {face} of body '{body}' uses vertex {vertex} of another body; number each body's vertices apart"
    )]
    FaceAcrossBodies {
        /// The face, from 0.
        face: usize,
        /// The foreign vertex.
        vertex: u32,
        /// The face's body.
        body: String,
    },

    /// A coordinate is NaN or infinite.
    #[error("vertex {vertex} is at {position}, which is not a finite position")]
    NotFinite {
        /// The vertex, from 0.
        vertex: usize,
        /// Where it is said to be.
        position: DVec3,
    },

    /// A coordinate is outside the range in which detection is proved.
    #[error(
        "vertex {vertex} is at {position}; each coordinate must be 0 or between 1e-70 and 1e30 m in magnitude, \
         or rounding could hide an intersection"
    )]
    OutOfRange {
        /// The vertex, from 0.
        vertex: usize,
        /// Where it is.
        position: DVec3,
    },

    /// An edge of a shape at rest has its ends in one place.
    #[error(
        "the edge between the vertices {} and {} has no length; its ends are in one place",
        edge[0], edge[1]
    )]
    NoLength {
        /// Its ends, from 0.
        edge: [u32; 2],
    },

    /// Positions and topology do not belong together.
    #[error("{positions} positions for {vertex_count} vertices; both must come from the same mesh")]
    PositionCount {
        /// How many positions there are.
        positions: usize,
        /// How many vertices there are.
        vertex_count: usize,
    },

    /// More elements than 32-bit indices can number.
    #[error("{count} elements are more than 32-bit indices can number; split the mesh")]
    TooLarge {
        /// How many.
        count: usize,
    },
}
