//! What a run will cost and what in it looks like a mistake, read off its start.

use glam::DVec3;

use super::Simulation;
use crate::geometry::{Body, BodyKind, Mesh};

/// What a run will cost, from its start; contact can only add to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecast {
    /// Integrator loops that an output frame takes; 0 if nothing is stiff and the integrator asks how stiff it is.
    pub loops: f64,
    /// Vertices that are simulated.
    pub vertices: usize,
    /// Pairs of features of one cloth that will be nearer than its thickness while it lies flat; an estimate.
    pub near_pairs: f64,
    /// Where the loops are shortest; none if they are the same everywhere.
    pub stiffest: Option<Stiffest>,
    /// What looks like a mistake.
    pub doubts: Vec<Doubt>,
}

/// The place that asks for the shortest loops.
#[derive(Clone, Debug, PartialEq)]
pub struct Stiffest {
    /// The object.
    pub body: String,
    /// The vertex, counted from the object's first.
    pub vertex: u32,
    /// Least height of a triangle around it, m.
    pub height: f64,
    /// Mean edge of the object, m.
    pub mean_edge: f64,
}

/// Something that looks like a mistake, above all of units.
#[derive(Clone, Debug, PartialEq)]
pub enum Doubt {
    /// A cloth that keeps more distance than its edges are long.
    Thick {
        /// The cloth.
        body: String,
        /// Its largest thickness, m.
        thickness: f64,
        /// Its mean edge, m.
        edge: f64,
    },
    /// A simulated object of needles: triangles more than a thousand times longer than high, which no method of solution does well with.
    Slivers {
        /// The object.
        body: String,
        /// How many of its triangles are needles.
        count: usize,
        /// How many triangles it has.
        faces: usize,
    },
    /// An object of a size that does not go with that of the cloth.
    Scale {
        /// The object.
        body: String,
        /// Diagonal of its box, m.
        size: f64,
        /// Diagonal of the box of the largest cloth, m.
        cloth: f64,
    },
}

/// How many times larger or smaller than the cloth an object may be.
const SCALE: f64 = 100.0;

/// How many times longer than high a triangle may be.
const NEEDLE: f64 = 1e3;

/// Pairs of features within the thickness of a vertex of a flat sheet, over (thickness / edge)²: π per unit of area times 2 faces and, half of
/// them counted, 9 edges with 3 edges of the vertex.
const PAIRS_PER_VERTEX: f64 = std::f64::consts::PI * (2.0 + 4.5);

impl Simulation {
    /// What a run from the present state will cost, and what looks like a mistake in it.
    ///
    /// Costs about one loop of the integrator.
    pub fn forecast(&self) -> Forecast {
        let (mesh, x) = (self.state.mesh(), self.state.positions());
        let frame = 1.0 / self.settings.fps;
        let edges = mean_edges(mesh, x);
        let stiffest = self.dynamics.stiffest_vertex(x).map(|vertex| {
            let number = mesh.body_of_vertex(vertex) as usize;
            let body = &mesh.bodies()[number];
            Stiffest {
                body: body.name.clone(),
                vertex: vertex - body.vertices.start,
                height: least_height(mesh, x, vertex),
                mean_edge: edges[number],
            }
        });
        let mut near_pairs = 0.0;
        let mut doubts = Vec::new();
        let simulated = |body: &&Body| body.kind == BodyKind::Cloth;
        for (body, &edge) in mesh.bodies().iter().zip(&edges) {
            if !simulated(&body) {
                continue;
            }
            let all = body.vertices.clone().map(|v| v as usize);
            let thickness = all
                .map(|v| self.surfaces.thickness()[v])
                .fold(0.0, f64::max);
            let n = body.vertices.len() as f64;
            // n vertices with 2n faces, 3n edges with each other
            near_pairs += (6.5 * n * n).min(n * PAIRS_PER_VERTEX * (thickness / edge).powi(2));
            let all = &mesh.faces()[body.faces.start as usize..body.faces.end as usize];
            let count = all
                .iter()
                .filter(|face| is_needle(face.map(|v| x[v as usize])));
            let count = count.count();
            if count > 0 {
                doubts.push(Doubt::Slivers {
                    body: body.name.clone(),
                    count,
                    faces: all.len(),
                });
            }
            if thickness > edge {
                doubts.push(Doubt::Thick {
                    body: body.name.clone(),
                    thickness,
                    edge,
                });
            }
        }
        let extent = |body: &Body| {
            let all = &x[body.vertices.start as usize..body.vertices.end as usize];
            let first = all.first().copied().unwrap_or_default();
            let (low, high) = all
                .iter()
                .fold((first, first), |(low, high), p| (low.min(*p), high.max(*p)));
            high - low
        };
        let cloths = mesh.bodies().iter().filter(simulated);
        let cloth = cloths.map(|b| extent(b).length()).fold(0.0, f64::max);
        for body in mesh.bodies().iter().filter(|body| !simulated(body)) {
            let extent = extent(body);
            let size = extent.length();
            // a floor may be as large as one likes
            let is_floor = extent.min_element() == 0.0;
            if size > 0.0 && (size * SCALE < cloth || (size > SCALE * cloth && !is_floor)) {
                doubts.push(Doubt::Scale {
                    body: body.name.clone(),
                    size,
                    cloth,
                });
            }
        }
        Forecast {
            loops: frame / self.dynamics.max_loop(x),
            vertices: self.inverse_mass().iter().filter(|&&w| w > 0.0).count(),
            near_pairs,
            stiffest,
            doubts,
        }
    }
}

/// Mean edge of each body, m.
fn mean_edges(mesh: &Mesh, x: &[DVec3]) -> Vec<f64> {
    let mut sums = vec![(0.0, 0.0); mesh.bodies().len()];
    for &[a, b] in mesh.edges() {
        let (sum, count) = &mut sums[mesh.body_of_vertex(a) as usize];
        *sum += x[a as usize].distance(x[b as usize]);
        *count += 1.0;
    }
    sums.into_iter().map(|(sum, count)| sum / count).collect()
}

fn is_needle(corners: [DVec3; 3]) -> bool {
    let (longest, height) = longest_and_height(corners);
    longest > NEEDLE * height
}

/// The longest side of a triangle and the height over it, m.
fn longest_and_height([a, b, c]: [DVec3; 3]) -> (f64, f64) {
    let longest = [a - b, b - c, c - a].map(DVec3::length);
    let longest = longest.into_iter().fold(0.0, f64::max);
    (longest, (b - a).cross(c - a).length() / longest)
}

fn least_height(mesh: &Mesh, x: &[DVec3], vertex: u32) -> f64 {
    let faces = mesh.faces_of_vertex(vertex).iter();
    let heights = faces.map(|&face| {
        let corners = mesh.faces()[face as usize].map(|v| x[v as usize]);
        longest_and_height(corners).1
    });
    heights.fold(f64::INFINITY, f64::min)
}
