//! A second opinion: contours are made shorter until they vanish.
//!
//! After \[VM06\]. A node of a contour is an edge (a, b) that passes a face (c, d, e) in P = a + t (b − a), with barycentrics w. With
//! N the unit normal of the face, E = b − a, and g the sum of unit vectors from P to its neighbours on the contour,
//!
//! ```text
//! h = N (E·g)/(E·N),    −∂L/∂x:   (1−t)(g−h) for a,  t (g−h) for b,  w h for c, d, e,    g for a loop vertex
//! ```
//!
//! where 1/z is taken as z/(z² + (0.1 |E|)²), so that edges that graze a face do not fly away. Signs of N and E are irrelevant, the parts
//! sum to zero. The rigid form moves the two sheets as wholes: G = Σ σ (g − 2h), σ = ±1 for edges of the one sheet and of the
//! other; −∂L/∂D = G/2 for the displacement D between them.
//!
//! It needs no inside and knows no sides. Deep in a tangle it has local minima, and a straight contour has no gradient but at its ends.

use glam::DVec3;

use super::Analysis;
use super::attract::{corresponding_segment, weights_in};
use super::paths::{Path, Spot};
use super::pulls::{Point, Pull};
use super::segments::End;
use crate::geometry::Mesh;

/// Share of an edge's length below which its part along the normal no longer counts in 1/z.
const GRAZING: f64 = 0.1;

/// One contour as nodes.
struct Curve<'a> {
    path: &'a Path,
    /// Number of its points on the path, from the first.
    count: usize,
    is_closed: bool,
}

/// The gradient of the contours' length.
pub(super) struct Shorten<'a> {
    pub(super) mesh: &'a Mesh,
    pub(super) x: &'a [DVec3],
    pub(super) analysis: &'a Analysis,
}

/// −∂L/∂x of one node: of the point on the edge, and of that on the face (or of the loop vertex alone).
struct Descent {
    node: [(Point, DVec3); 2],
    /// σ (g − 2h).
    rigid: DVec3,
}

impl Shorten<'_> {
    /// Adds pulls that move the two sheets against each other by `reach` metres at most, in the direction in which the contour gets
    /// shorter fastest.
    pub(super) fn rigid(&self, number: u32, reach: f64, pulls: &mut Vec<Pull>) {
        for curve in self.curves(number) {
            let sum: DVec3 = self.descents(&curve).iter().map(|d| d.rigid).sum();
            // G has the size of the contour's turns: beyond one of them the whole reach is used
            let way = reach * sum / (sum.length_squared() + 1.0).sqrt();
            let (own, other) = (
                curve.path,
                &self.analysis.paths[curve.path.partner as usize],
            );
            let segments = curve.count - usize::from(!curve.is_closed);
            for k in 0..segments {
                let answer = corresponding_segment(own, k);
                pulls.push(Pull {
                    from: self.middle(own, k),
                    to: Some(self.middle(other, answer)),
                    wanted: way,
                    weight: 1.0,
                    contour: number,
                });
            }
        }
    }

    /// Adds pulls that move each node by itself, none further than `reach` metres.
    pub(super) fn by_node(&self, number: u32, reach: f64, pulls: &mut Vec<Pull>) {
        for curve in self.curves(number) {
            for (point, way) in self.descents(&curve).into_iter().flat_map(|d| d.node) {
                if way != DVec3::ZERO {
                    pulls.push(Pull {
                        from: point,
                        to: None,
                        wanted: point.position(self.x) + (reach * way).clamp_length_max(reach),
                        weight: 1.0,
                        contour: number,
                    });
                }
            }
        }
    }

    /// −∂L/∂x of all vertices, L the length of all contours.
    #[cfg(test)]
    fn gradient(&self) -> Vec<DVec3> {
        let mut all = vec![DVec3::ZERO; self.x.len()];
        for number in 0..self.analysis.contours.len() as u32 {
            for curve in self.curves(number) {
                for (point, way) in self.descents(&curve).into_iter().flat_map(|d| d.node) {
                    for (v, w) in point.parts() {
                        all[v as usize] += w * way;
                    }
                }
            }
        }
        all
    }

    fn curves(&self, number: u32) -> Vec<Curve<'_>> {
        let paths = self.analysis.contours[number as usize].paths.clone();
        let curve = |number: u32| {
            let path = &self.analysis.paths[number as usize];
            let n = path.points.len();
            // a path that is its own partner runs along its curve twice
            let (count, is_closed) = match (path.partner.cmp(&number), path.kind.is_closed()) {
                (std::cmp::Ordering::Less, _) => return None,
                (std::cmp::Ordering::Greater, closed) => (n, closed),
                (std::cmp::Ordering::Equal, false) => (n.div_ceil(2), false),
                (std::cmp::Ordering::Equal, true) => match path.loop_vertices().is_empty() {
                    true => (n / 2, true),
                    false => (n / 2 + 1, false),
                },
            };
            Some(Curve {
                path,
                count,
                is_closed,
            })
        };
        paths.filter_map(curve).collect()
    }

    fn descents(&self, curve: &Curve<'_>) -> Vec<Descent> {
        let n = curve.count;
        let at = |k: usize| {
            self.analysis
                .segments
                .position(self.x, curve.path.points[k])
        };
        (0..n)
            .map(|k| {
                let mut g = DVec3::ZERO;
                if k > 0 || curve.is_closed {
                    g += (at((k + n - 1) % n) - at(k)).normalize_or_zero();
                }
                if k + 1 < n || curve.is_closed {
                    g += (at((k + 1) % n) - at(k)).normalize_or_zero();
                }
                self.descent(curve.path, k, g)
            })
            .collect()
    }

    fn descent(&self, path: &Path, k: usize, g: DVec3) -> Descent {
        let crossing = match path.points[k] {
            End::Loop(v) => {
                let still = (Point::vertex(v), DVec3::ZERO);
                return Descent {
                    node: [(Point::vertex(v), g), still],
                    rigid: DVec3::ZERO,
                };
            }
            End::Crossing(c) => c as usize,
        };
        let location = &self.analysis.segments.locations[crossing];
        let crossing = self.analysis.segments.crossings[crossing];
        let ends = self.mesh.edges()[crossing.edge as usize];
        let corners = self.mesh.faces()[crossing.face as usize];
        let [a, b] = ends.map(|v| self.x[v as usize]);
        let [c, d, e] = corners.map(|v| self.x[v as usize]);
        let (along, n) = (b - a, (d - c).cross(e - c).normalize_or_zero());
        let (z, least) = (along.dot(n), GRAZING * along.length());
        let inverse = if least > 0.0 {
            z / (z * z + least * least)
        } else {
            0.0
        };
        let h = n * (along.dot(g) * inverse);
        let on_first = matches!(path.spot(&self.analysis.segments, k), Spot::Edge { .. });
        let side = if on_first { 1.0 } else { -1.0 };
        Descent {
            node: [
                (Point::edge(ends, location.along_edge), g - h),
                (Point::face(corners, location.weights), h),
            ],
            rigid: side * (g - 2.0 * h),
        }
    }

    fn middle(&self, path: &Path, k: usize) -> Point {
        let face = self.mesh.faces()[path.faces[k] as usize];
        let n = path.points.len();
        let spots = [k, (k + 1) % n].map(|p| path.spot(&self.analysis.segments, p));
        let weights = weights_in(self.mesh, face, spots[0]) + weights_in(self.mesh, face, spots[1]);
        Point::face(face, weights / (weights.x + weights.y + weights.z))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Rest, analyse};
    use super::*;
    use crate::scene::tangles::of_type;

    /// Where edges cross faces steeply, so that nothing is regularised away, it is the gradient of the length.
    #[test]
    fn shortening_is_the_gradient_of_the_length() {
        for name in ["closed", "bb-ii", "bi-bi", "bli", "ll"] {
            let t = of_type(name, 7).unwrap();
            // four times as high: the sheets meet at steep angles
            let x: Vec<DVec3> = t
                .positions
                .iter()
                .map(|p| DVec3::new(p.x, 40.0 * p.y, p.z))
                .collect();
            let mesh = Mesh::new(x.len(), t.faces.clone()).unwrap();
            let length = |x: &[DVec3]| {
                let analysis = analyse(&mesh, x, Rest::Unknown).unwrap();
                analysis.contours.iter().map(|c| c.length).sum::<f64>()
            };
            let analysis = analyse(&mesh, &x, Rest::Unknown).unwrap();
            let shorten = Shorten {
                mesh: &mesh,
                x: &x,
                analysis: &analysis,
            };
            let gradient = shorten.gradient();
            assert!(
                gradient.iter().sum::<DVec3>().length() < 1e-9,
                "{name}: the parts sum to zero"
            );
            let step = 1e-7;
            let mut checked = 0;
            for v in (0..x.len()).filter(|&v| gradient[v] != DVec3::ZERO) {
                for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
                    let mut moved = [x.clone(), x.clone()];
                    moved[0][v] += step * axis;
                    moved[1][v] -= step * axis;
                    let slope = (length(&moved[0]) - length(&moved[1])) / (2.0 * step);
                    let expected = -gradient[v].dot(axis);
                    // the regularisation takes (0.1 |E| / E·N)² of h away
                    assert!(
                        (slope - expected).abs() < 0.05 * (1.0 + slope.abs()),
                        "{name}, vertex {v}: {slope} {expected}"
                    );
                    checked += 1;
                }
            }
            assert!(checked > 20, "{name}: {checked}");
        }
    }
}
