//! What is near where something has slid off a feature: a vertex over the border of a face, or a crossing of two edges over
//! an end of one of them.
//!
//! Both are one event, a vertex that passes an edge, or another vertex. What touches next is between the same vertex and the
//! faces around that edge, or between the edges of that vertex and the same edge; so nothing has to be searched for.

use glam::DVec3;

use super::collider::near_at;
use super::critical::threshold;
use super::sweep::at;
use super::sweep32::Listed;
use super::{Closest, Margin, Mesh, Pair, Proximity};

/// Cosine of the angle by which the normal of what touches next may differ: less is the other side of a surface.
const SAME_SIDE: f64 = 0.5;

/// What the closest point of a side lies in.
#[derive(Clone, Copy, Debug)]
enum Side {
    Vertex(u32),
    Edge(u32),
    Face,
}

impl Side {
    /// By the vertices that take part.
    fn of(mesh: &Mesh, vertices: &[u32]) -> Self {
        match *vertices {
            [v] => Self::Vertex(v),
            [v, w] => {
                let mut edges = mesh.edges_of_vertex(v).iter();
                let edge = edges.find(|&&e| mesh.edges()[e as usize].contains(&w));
                edge.map_or(Self::Face, |&e| Self::Edge(e))
            }
            _ => Self::Face,
        }
    }
}

/// Pairs around a vertex that passes an edge, each with whether its first feature is on the side of the second of the pair that was
/// left; `is_turned` says whether the vertex is.
fn pass(mesh: &Mesh, vertex: u32, edge: u32, is_turned: bool, pairs: &mut Vec<(Pair, bool)>) {
    let ends = mesh.edges()[edge as usize];
    for &face in mesh.faces_of_edge(edge) {
        if !mesh.faces()[face as usize].contains(&vertex) {
            pairs.push((Pair::VertexFace { vertex, face }, is_turned));
        }
    }
    for &own in mesh.edges_of_vertex(vertex) {
        let is_apart = mesh.edges()[own as usize].iter().all(|v| !ends.contains(v));
        if is_apart {
            let (a, b) = (own.min(edge), own.max(edge));
            pairs.push((Pair::EdgeEdge { a, b }, is_turned != (b == own)));
        }
    }
}

/// Pairs that touch inside their features, within the margin at `x`, next to where the closest points of `pair` are, and the
/// distance of these; `normal` is that of the pair. None if it has not slid off.
pub(crate) fn slid(
    mesh: &Mesh,
    pair: Pair,
    normal: DVec3,
    x: &[DVec3],
    margin: &Margin<'_>,
) -> (Vec<Proximity>, f64) {
    let vertices = mesh.vertices_of(pair);
    let Closest {
        weights,
        distance_squared,
    } = Closest::of(pair, at(x, vertices));
    let split = match pair {
        Pair::VertexFace { .. } => 1,
        Pair::EdgeEdge { .. } => 2,
    };
    let sides = [0..split, split..4].map(|side| {
        let parts: Vec<u32> = side
            .filter(|&i| weights[i] != 0.0)
            .map(|i| vertices[i])
            .collect();
        Side::of(mesh, &parts)
    });
    let mut next = Vec::new();
    match sides {
        [Side::Vertex(v), Side::Edge(e)] => pass(mesh, v, e, false, &mut next),
        [Side::Edge(e), Side::Vertex(v)] => pass(mesh, v, e, true, &mut next),
        [Side::Vertex(v), Side::Vertex(w)] => {
            for &e in mesh.edges_of_vertex(w) {
                pass(mesh, v, e, false, &mut next);
            }
            for &e in mesh.edges_of_vertex(v) {
                pass(mesh, w, e, true, &mut next);
            }
        }
        _ => {}
    }
    next.sort_unstable();
    next.dedup();
    let proximity = |&(pair, is_turned): &(Pair, bool)| {
        let vertices = mesh.vertices_of(pair);
        let closest = near_at(Listed::of(mesh, pair), x, margin)?;
        let is_inside = !closest.weights.contains(&0.0);
        let along = closest.normal(pair, at(x, vertices));
        let sign = if is_turned { -1.0 } else { 1.0 };
        if !is_inside || sign * along.dot(normal) < SAME_SIDE {
            return None;
        }
        let gap = closest.distance_squared.sqrt();
        let threshold = threshold(mesh, vertices, &closest.weights, margin, None);
        (gap < threshold).then_some(Proximity {
            pair,
            vertices,
            weights: closest.weights,
            normal: along,
            gap,
            threshold,
        })
    };
    let near = next.iter().filter_map(proximity).collect();
    (near, distance_squared.sqrt())
}

#[cfg(test)]
mod tests {
    use glam::dvec3;

    use super::*;

    /// A grid of squares whose vertices are numbered from `first` on.
    fn grid([m, n]: [u32; 2], first: u32) -> (Vec<DVec3>, Vec<[u32; 3]>) {
        let x = (0..m).flat_map(|i| (0..n).map(move |j| dvec3(i.into(), 0.0, j.into())));
        let square = |(i, j): (u32, u32)| {
            let a = first + n * i + j;
            [[a, a + 1, a + n + 1], [a, a + n + 1, a + n]]
        };
        let squares = (0..m - 1).flat_map(|i| (0..n - 1).map(move |j| (i, j)));
        (x.collect(), squares.flat_map(square).collect())
    }

    /// All near pairs that touch inside both features, by looking at all of them.
    fn inside(
        mesh: &Mesh,
        is_lower: impl Fn(u32) -> bool,
        x: &[DVec3],
        margin: &Margin<'_>,
    ) -> Vec<Pair> {
        let mut pairs = Vec::new();
        for face in 0..mesh.faces().len() as u32 {
            let vertices = 0..mesh.vertex_count() as u32;
            pairs.extend(vertices.map(|vertex| Pair::VertexFace { vertex, face }));
        }
        let edges = mesh.edges().len() as u32;
        for a in 0..edges {
            pairs.extend((a + 1..edges).map(|b| Pair::EdgeEdge { a, b }));
        }
        pairs.retain(|&pair| {
            let [first, .., last] = mesh.vertices_of(pair);
            let near = || near_at(Listed::of(mesh, pair), x, margin);
            is_lower(first) != is_lower(last)
                && near().is_some_and(|near| !near.weights.contains(&0.0))
        });
        pairs.sort_unstable();
        pairs
    }

    #[test]
    fn what_slides_over_a_surface_finds_what_it_touches_step_by_step() {
        // a turned grid that slides over a larger one with wrinkles, and never reaches its border
        let (mut x, mut faces) = grid([10, 6], 0);
        for x in &mut x {
            x.y = 0.02 * (1.7 * x.x + 0.4 * x.z).sin();
        }
        let lower = x.len();
        let (upper, more) = grid([3, 3], lower as u32);
        faces.extend(more);
        x.extend(&upper);
        let mesh = Mesh::new(x.len(), faces).unwrap();
        let is_lower = |v: u32| (v as usize) < lower;
        let thickness = vec![0.2; x.len()];
        let mut rest = x.clone();
        for x in &mut rest[lower..] {
            x.y += 9.0; // two sheets, not one that is folded
        }
        let margin = Margin {
            thickness: &thickness,
            rest: &rest,
            gap: None,
        };
        let place = |x: &mut [DVec3], step: u32| {
            let by = dvec3(1.3171 + 0.002 * f64::from(step), 0.1, 1.9237);
            for (x, u) in x[lower..].iter_mut().zip(&upper) {
                *x = by + dvec3(0.93 * u.x + 0.31 * u.z, 0.0, 0.89 * u.z - 0.33 * u.x);
            }
        };
        place(&mut x, 0);
        let mut known = inside(&mesh, is_lower, &x, &margin);
        let (mut found, mut left, mut missed, mut count) = (0, 0, 0, 0);
        for step in 1..2000 {
            place(&mut x, step);
            let (mut next, mut lingering) = (Vec::new(), Vec::new());
            for &pair in &known {
                let vertices = mesh.vertices_of(pair);
                let closest = Closest::of(pair, at(&x, vertices));
                if !closest.weights.contains(&0.0) {
                    next.push(pair);
                    continue;
                }
                left += 1;
                let up = closest.normal(pair, at(&x, vertices)).y.signum();
                let (near, distance) = slid(&mesh, pair, up * DVec3::Y, &x, &margin);
                // between two faces it may be above neither
                if near.iter().all(|near| near.gap > distance) {
                    lingering.push(pair);
                }
                for near in near {
                    assert!((distance - near.gap).abs() < 0.05);
                    found += usize::from(!known.contains(&near.pair));
                    next.push(near.pair);
                }
            }
            next.sort_unstable();
            next.dedup();
            let all = inside(&mesh, is_lower, &x, &margin);
            let is_known = |pair: &Pair| all.binary_search(pair).is_ok();
            assert!(next.iter().all(is_known), "step {step}");
            missed += all.len() - next.len();
            count += all.len();
            known = match step % 100 {
                0 => all, // a fifth of an edge later all are looked for anew, as in every interval
                _ => [next, lingering].concat(),
            };
        }
        // what is born between two faces is found when the next of its kind is left
        assert!(found > 200 && left > 200, "{found}, {left}");
        assert!(20 * missed < count, "{missed} of {count}");
    }
}
