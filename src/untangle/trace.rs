//! From segments to chains: the curves in space along which sheets cross.
//!
//! Crossing (e, f) joins the segments (g, f) and (h, f) of the two faces g, h around e. A chain
//! follows these joints until it comes back or to an end:
//!
//! ```text
//! an edge with one face     the cloth ends here: B on the side of the edge, I (or B, if it ends on both) on the other
//! an edge with three faces  the sheets part here: each is treated as if it ended
//! a loop vertex             the chain's two sides meet: the path turns from one to the other
//! ```
//!
//! Along a chain the two *sides* are kept apart: at (e, f) the side that holds f stays in f, the
//! other steps over e. One visit per segment; the time is linear.

use glam::DVec3;

use super::perturb;
use super::segments::{Crossing, End, Segments};
use crate::geometry::{Mesh, mesh::NONE};

/// One segment of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) segment: u32,
    /// The faces of the chain's two sides.
    pub(super) faces: [u32; 2],
}

/// A curve in space along which two sheets cross.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chain {
    pub(super) steps: Vec<Step>,
    /// Points between and around the steps: one more than steps if open, as many if closed.
    pub(super) points: Vec<End>,
    pub(super) shape: Shape,
}

/// How a chain ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// It comes back to its start.
    Ring,
    /// It comes back to its start with its sides exchanged; on one-sided surfaces only.
    TwistedRing,
    /// It ends where the cloth ends or at loop vertices.
    Open([ChainEnd; 2]),
}

/// An end of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChainEnd {
    /// A vertex common to both faces.
    Loop(u32),
    /// The cloth ends: how, on each of the chain's sides.
    Boundary([SideEnd; 2]),
}

/// How one side of a chain ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SideEnd {
    /// On a boundary edge that passes through the other side.
    Boundary,
    /// Within a face, exactly where the boundary of that face is touched.
    Touching(Touched),
    /// Inside the cloth.
    Inside,
}

impl SideEnd {
    pub(super) fn is_inside(self) -> bool {
        self == Self::Inside
    }

    pub(super) fn touched(self) -> Option<Touched> {
        match self {
            Self::Touching(touched) => Some(touched),
            Self::Boundary | Self::Inside => None,
        }
    }
}

/// A piece of boundary that an end touches exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Touched {
    Edge(u32),
    Vertex(u32),
}

/// All chains, in the order of their first segments.
pub(super) fn chains(mesh: &Mesh, x: &[DVec3], found: &Segments) -> Vec<Chain> {
    let mut at = vec![[NONE; 2]; found.crossings.len()];
    for (number, segment) in (0u32..).zip(&found.segments) {
        for end in segment.ends {
            if let End::Crossing(c) = end {
                let [first, second] = &mut at[c as usize];
                *(if *first == NONE { first } else { second }) = number;
            }
        }
    }
    let tracer = Tracer { mesh, x, found, at };
    let mut visited = vec![false; found.segments.len()];
    let mut chains = Vec::new();
    for segment in 0..found.segments.len() as u32 {
        if !visited[segment as usize] {
            let chain = tracer.follow(segment);
            for step in &chain.steps {
                visited[step.segment as usize] = true;
            }
            chains.push(chain);
        }
    }
    chains
}

struct Tracer<'a> {
    mesh: &'a Mesh,
    x: &'a [DVec3],
    found: &'a Segments,
    /// The segments at each crossing; complete only where there are one or two.
    at: Vec<[u32; 2]>,
}

/// A position on a chain: a segment, and the end through which one leaves it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Walker {
    step: Step,
    leaving: usize,
}

impl Tracer<'_> {
    /// The chain through a segment.
    fn follow(&self, segment: u32) -> Chain {
        let first = Walker {
            step: Step {
                segment,
                faces: self.found.segments[segment as usize].faces,
            },
            leaving: 0,
        };
        // back to where the chain starts, or once round
        let mut start = first;
        let mut is_ring = false;
        while let Some(next) = self.next(start) {
            start = next;
            if start.step.segment == segment {
                is_ring = true;
                break;
            }
        }
        if is_ring {
            let mut steps = vec![first.step];
            let mut points = vec![self.end(first, 1)];
            let mut walker = first;
            while let Some(next) = self.next(walker).filter(|n| n.step.segment != segment) {
                points.push(self.end(walker, 0));
                steps.push(next.step);
                walker = next;
            }
            let shape = if start.step == first.step {
                Shape::Ring
            } else {
                Shape::TwistedRing
            };
            return Chain {
                steps,
                points,
                shape,
            };
        }
        let mut walker = Walker {
            leaving: 1 - start.leaving,
            ..start
        };
        let mut steps = vec![walker.step];
        let mut points = vec![self.end(walker, 1), self.end(walker, 0)];
        while let Some(next) = self.next(walker) {
            walker = next;
            steps.push(walker.step);
            points.push(self.end(walker, 0));
        }
        let shape = Shape::Open([
            self.chain_end(steps[0], points[0]),
            self.chain_end(walker.step, points[steps.len()]),
        ]);
        Chain {
            steps,
            points,
            shape,
        }
    }

    /// The end through which the walker leaves (0) or has come (1).
    fn end(&self, walker: Walker, behind: usize) -> End {
        self.found.segments[walker.step.segment as usize].ends[walker.leaving ^ behind]
    }

    /// One segment further; nothing at an end.
    fn next(&self, walker: Walker) -> Option<Walker> {
        let through = self.end(walker, 0);
        let End::Crossing(c) = through else {
            return None;
        };
        let Crossing { edge, face } = self.found.crossings[c as usize];
        if self.mesh.faces_of_edge(edge).len() != 2 {
            return None;
        }
        let [a, b] = self.at[c as usize];
        let segment = if a == walker.step.segment { b } else { a };
        let next = &self.found.segments[segment as usize];
        let other = |f: u32| next.faces[usize::from(next.faces[0] == f)];
        let faces = if walker.step.faces[0] == face {
            [face, other(face)]
        } else {
            [other(face), face]
        };
        Some(Walker {
            step: Step { segment, faces },
            leaving: usize::from(next.ends[0] == through),
        })
    }

    fn chain_end(&self, step: Step, point: End) -> ChainEnd {
        match point {
            End::Loop(v) => ChainEnd::Loop(v),
            End::Crossing(c) => {
                let crossing = self.found.crossings[c as usize];
                ChainEnd::Boundary(step.faces.map(|face| {
                    if face != crossing.face {
                        return SideEnd::Boundary;
                    }
                    let is_touch = self.found.locations[c as usize].is_touch;
                    let touched = is_touch.then(|| self.touched_boundary(crossing)).flatten();
                    touched.map_or(SideEnd::Inside, SideEnd::Touching)
                }))
            }
        }
    }

    /// The boundary of the crossing's face that lies exactly where its edge passes; exact.
    fn touched_boundary(&self, crossing: Crossing) -> Option<Touched> {
        let [p, q] = self.mesh.edges()[crossing.edge as usize];
        let corners = self.mesh.faces()[crossing.face as usize];
        let [a, b, c] = corners;
        let zero = |vertices| perturb::sign(self.x, vertices) == 0;
        if zero([a, b, c, p]) && zero([a, b, c, q]) {
            return None; // in the plane of the face: there is no one point
        }
        let on = [[a, b], [b, c], [c, a]].map(|[i, j]| zero([p, q, i, j]));
        let sides = self.mesh.face_edges()[crossing.face as usize];
        let edge = (0..3).find(|&k| on[k] && self.mesh.is_boundary(sides[k]));
        // corner k lies on the sides k − 1 and k
        let vertex = (0..3)
            .find(|&k| on[(k + 2) % 3] && on[k] && self.is_on_boundary(corners[k]))
            .map(|k| Touched::Vertex(corners[k]));
        vertex.or(edge.map(|k| Touched::Edge(sides[k])))
    }

    fn is_on_boundary(&self, vertex: u32) -> bool {
        let mut edges = self.mesh.edges_of_vertex(vertex).iter();
        edges.any(|&e| self.mesh.is_boundary(e))
    }
}
