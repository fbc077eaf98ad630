//! Pairs of features, and where and when a pair meets.

use std::fmt;

use glam::DVec3;
use serde::Serialize;

/// Two features without a common vertex: what detection looks at one at a time.
///
/// Ordered: all vertex-face pairs first, then by indices. Edges are indices into
/// [`super::Mesh::edges`], `a < b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Pair {
    /// A vertex and a face.
    VertexFace {
        /// Vertex index.
        vertex: u32,
        /// Face index.
        face: u32,
    },
    /// Two edges.
    EdgeEdge {
        /// Index of the first edge.
        a: u32,
        /// Index of the second edge, larger than `a`.
        b: u32,
    },
}

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::VertexFace { vertex, face } => write!(f, "vertex {vertex} and face {face}"),
            Self::EdgeEdge { a, b } => write!(f, "edges {a} and {b}"),
        }
    }
}

/// A pair that meets during a motion.
///
/// `weights` are signed so that `Σ wᵢ xᵢ(time)` is the vector from the second feature's point to
/// the first feature's: (1, −a, −b, −c) for vertex-face, (1−s, s, −(1−u), −u) for edge-edge. `Σ wᵢ
/// xᵢ(0) · normal ≥ 0`: the normal points from the second feature to the first as they lay at the
/// start.
///
/// # Examples
/// ```
/// use percale::geometry::Sweep;
/// use percale::geometry::ccd::{Answer, Question, vertex_face};
/// use percale::DVec3;
///
/// // a vertex falls on the middle of a face
/// let face = [DVec3::ZERO, 3.0 * DVec3::Z, 3.0 * DVec3::X];
/// let at = |y| [DVec3::new(1.0, y, 1.0), face[0], face[1], face[2]];
/// let sweep = Sweep { start: at(1.0), end: at(-1.0) };
/// let Answer::Hit(contact) = vertex_face(&sweep, Question::default()) else { panic!() };
/// assert!(contact.time <= 0.5 && contact.time > 0.499);
/// assert!((contact.normal - DVec3::Y).length() < 1e-9, "from the face to the vertex");
/// assert!((contact.weights.iter().sum::<f64>()).abs() < 1e-9, "1 − ⅓ − ⅓ − ⅓");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Impact {
    /// The two features.
    pub pair: Pair,
    /// Their four vertices, in the order of [`super::Sweep`].
    pub vertices: [u32; 4],
    /// Never later than the true time of impact, in [0, 1].
    pub time: f64,
    /// Signed barycentric weights.
    pub weights: [f64; 4],
    /// Unit vector along which the features approach.
    pub normal: DVec3,
    /// Whether the continuous test proved the impact or merely could not exclude it.
    pub certain: bool,
}

impl Impact {
    /// Whether this is an impact of a vertex with a face.
    pub fn is_vertex_face(&self) -> bool {
        matches!(self.pair, Pair::VertexFace { .. })
    }

    /// The part that a response needs.
    pub fn point(&self) -> ContactPoint {
        ContactPoint {
            vertices: self.vertices,
            weights: self.weights,
            normal: self.normal,
        }
    }
}

/// A point of contact between two features: four vertices with signed weights, and a direction.
///
/// The common part of an impact and a proximity; weights and normal as in [`Impact`].
#[derive(Clone, Copy, Debug)]
pub struct ContactPoint {
    /// The four vertices.
    pub vertices: [u32; 4],
    /// Signed weights.
    pub weights: [f64; 4],
    /// Unit vector from the second feature to the first.
    pub normal: DVec3,
}

impl ContactPoint {
    /// `Σ wᵢ xᵢ`: from the second feature's point to the first's, for any vertex quantity.
    pub fn relative(&self, x: &[DVec3]) -> DVec3 {
        self.vertices
            .iter()
            .zip(self.weights)
            .map(|(&v, w)| w * x[v as usize])
            .sum()
    }

    /// Inverse mass of the point, `Σ wᵢ² / mᵢ`, from 1/kg per vertex; 0 where nothing can move.
    pub fn inverse_mass(&self, inverse_mass: &[f64]) -> f64 {
        let each = self.vertices.iter().zip(self.weights);
        each.map(|(&v, w)| w * w * inverse_mass[v as usize]).sum()
    }

    /// Distance of the two points along the normal, in metres.
    pub fn gap(&self, x: &[DVec3]) -> f64 {
        self.relative(x).dot(self.normal)
    }
}
