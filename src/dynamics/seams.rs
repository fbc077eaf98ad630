//! Seams: pairs of vertices that are drawn together over time, down to a gap.
//!
//! Each pair has a spring whose rest length falls evenly from the distance at the start to the gap; from then on a row of the solve
//! keeps it there ([`super::sewn`]).
//! The gap must not be smaller than the thickness: the certificate has no exception for seams, so
//! they close to a gap and never to contact.
//!
//! A stitch may also join points of edges, so that two borders with other vertices close without gathers: its spring is that between
//! the two points, and what it pulls is shared by the weights of the edges' ends.

use glam::{DMat3, DVec3};

use super::damping::Damper;
use super::springs::Spring;
use super::stretch::Weights;

/// A seam between vertices of one or two cloths.
#[derive(Clone, Debug, PartialEq)]
pub struct Seam {
    /// Mesh vertices that belong together.
    pub pairs: Vec<[u32; 2]>,
    /// Distance of each pair when it begins to close, m.
    pub from: Vec<f64>,
    /// Points of edges that belong together.
    pub links: Vec<Link>,
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

/// Two points of edges that belong together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Mesh vertices of the one edge and of the other; the same twice for a vertex.
    pub edges: [[u32; 2]; 2],
    /// How far along its edge each point lies, from 0 to 1.
    pub along: [f64; 2],
    /// Distance when it begins to close, m.
    pub from: f64,
}

impl Link {
    /// Two points, as far apart as they are at `x`.
    pub fn new(edges: [[u32; 2]; 2], along: [f64; 2], x: &[DVec3]) -> Self {
        let point = |side: usize| {
            let [a, b] = edges[side].map(|v| x[v as usize]);
            a + along[side] * (b - a)
        };
        Self {
            edges,
            along,
            from: point(0).distance(point(1)),
        }
    }
}

impl Seam {
    /// A seam that closes in the first second, from the given positions; 10 N per mm of opening and
    /// 0.1 m of seam.
    pub fn new(pairs: Vec<[u32; 2]>, x: &[DVec3], gap: f64) -> Self {
        let distance = |&[a, b]: &[u32; 2]| x[a as usize].distance(x[b as usize]);
        Self {
            from: pairs.iter().map(distance).collect(),
            pairs,
            links: Vec::new(),
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
    /// Share of the stiffness that it has now.
    pub(super) strength: f64,
    /// Most that it holds once it is closed, N.
    pub(super) holds: f64,
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
            stiffness: self.strength * self.spring.stiffness,
            damping: self.strength * self.spring.damping,
            ..self.spring
        }
    }
}

/// A stitch between points of edges, by node numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct EdgeStitch {
    /// A spring between the two points; of its ends only the first is a node.
    pub(super) stitch: Stitch,
    /// The ends of the two edges; where there are fewer nodes, with weight 0.
    pub(super) nodes: [u32; 4],
    /// Weights of the one point, and of the other with a minus.
    pub(super) weights: [f64; 4],
}

impl EdgeStitch {
    /// Nodes that occur twice are one, with the sum of their weights; the rest repeats the first with weight 0.
    pub(super) fn new(stitch: Stitch, edges: [[u32; 2]; 2], along: [f64; 2]) -> Self {
        let [[a, b], [c, d]] = edges;
        let [s, t] = along;
        let (mut nodes, mut weights) = ([a; 4], [0.0; 4]);
        let mut count = 0;
        for (node, weight) in [(a, 1.0 - s), (b, s), (c, t - 1.0), (d, -t)] {
            match nodes[..count].iter().position(|known| *known == node) {
                Some(known) => weights[known] += weight,
                None => {
                    (nodes[count], weights[count]) = (node, weight);
                    count += 1;
                }
            }
        }
        Self {
            stitch,
            nodes,
            weights,
        }
    }

    /// From the second point to the first.
    pub(super) fn apart(&self, x: &[DVec3]) -> DVec3 {
        let parts = self.nodes.iter().zip(self.weights);
        parts.map(|(&i, w)| w * x[i as usize]).sum()
    }

    /// The spring at a time between two points that are this far apart: its second end is the origin, its first has that place.
    fn spring(&self, time: f64) -> Spring {
        Spring {
            ends: [1, 0],
            ..self.stitch.at(time)
        }
    }

    /// J.
    #[cfg(test)]
    pub(super) fn energy(&self, time: f64, x: &[DVec3]) -> f64 {
        self.spring(time).energy(&[DVec3::ZERO, self.apart(x)])
    }

    /// Adds the elastic force on all nodes.
    pub(super) fn add_force(&self, time: f64, x: &[DVec3], f: &mut [DVec3]) {
        let pull = self.spring(time).pull(&[DVec3::ZERO, self.apart(x)]);
        for (&i, w) in self.nodes.iter().zip(self.weights) {
            f[i as usize] += w * pull;
        }
    }

    /// Resistance to the rate of extension.
    pub(super) fn damper(&self, time: f64, x: &[DVec3]) -> Damper<4> {
        let spring = self.spring(time);
        let direction = self.apart(x).normalize_or_zero();
        Damper {
            vertices: self.nodes,
            gradient: self.weights.map(|w| w * direction),
            coefficient: spring.damping,
        }
    }

    /// The block K of which two nodes get the product of their weights.
    pub(super) fn matrix(&self, time: f64, x: &[DVec3], weights: Weights) -> DMat3 {
        self.spring(time)
            .matrix(&[DVec3::ZERO, self.apart(x)], weights)
    }

    /// Pairs of its nodes that differ.
    pub(super) fn pairs(&self) -> impl Iterator<Item = [usize; 2]> {
        let used = |i: &usize| self.weights[*i] != 0.0;
        (0..4)
            .filter(used)
            .flat_map(move |i| (0..i).filter(used).map(move |j| [i, j]))
            .collect::<Vec<_>>()
            .into_iter()
    }
}

/// How far the seams are closed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SeamReport {
    /// Stitches.
    pub stitches: usize,
    /// Those that are farther apart than half as much again as their gap.
    pub open: usize,
    /// Largest distance beyond the gap of any, m; none without stitches.
    pub worst: Option<f64>,
    /// Where that is.
    pub place: DVec3,
}

/// A stitch that is farther apart than this multiple of its gap is open.
const OPEN: f64 = 1.5;

impl SeamReport {
    /// Counts a stitch.
    pub(super) fn add(&mut self, distance: f64, gap: f64, place: DVec3) {
        self.stitches += 1;
        self.open += usize::from(distance > OPEN * gap);
        let beyond = (distance - gap).max(0.0);
        if self.worst.is_none_or(|worst| beyond > worst) {
            (self.worst, self.place) = (Some(beyond), place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::bodies::strip;
    use super::super::*;
    use super::*;
    use crate::geometry::{Body, BodyKind, Mesh};

    /// Two strips side by side, 0.1 m apart, sewn along the edges that face each other.
    fn two_strips(integrator: Integrator) -> (Dynamics, Vec<DVec3>, Vec<[u32; 2]>) {
        let (one, rest) = strip([2, 8], [0.1, 0.4]);
        let n = rest.len() as u32;
        let f = one.faces().len() as u32;
        let second = one.faces().iter().map(|face| face.map(|v| v + n));
        let faces = one.faces().iter().copied().chain(second).collect();
        let body = |k: u32| Body {
            name: format!("strip {k}"),
            kind: BodyKind::Cloth,
            vertices: k * n..(k + 1) * n,
            faces: k * f..(k + 1) * f,
        };
        let mesh = Mesh::with_bodies(2 * rest.len(), faces, vec![body(0), body(1)]).unwrap();
        let models: Vec<ClothModel> = (0..2)
            .map(|k| ClothModel {
                body: k,
                fabric: Fabric::default(),
                stretch: Stretch::Membrane,
                rest: RestShape::from_positions(&mesh, &mesh.bodies()[k], rest.clone()),
                pinned: Vec::new(),
            })
            .collect();
        let shifted = rest.iter().map(|&x| x + 0.2 * DVec3::X);
        let x: Vec<DVec3> = rest.iter().copied().chain(shifted).collect();
        // the last column of the first strip, the first of the second
        let pairs: Vec<[u32; 2]> = (0..9).map(|j| [18 + j, n + j]).collect();
        let settings = Settings {
            gravity: [0.0; 3],
            integrator,
            ..Settings::default()
        };
        let seam = Seam {
            start: 0.1,
            duration: 0.4,
            ..Seam::new(pairs.clone(), &x, 0.002)
        };
        let dynamics = Dynamics::new(&mesh, &models, &settings).with_seams(&[seam]);
        (dynamics, x, pairs)
    }

    #[test]
    fn stitches_between_points_of_edges_close_to_their_gap_and_keep_momentum() {
        for integrator in [
            Integrator::default(),
            Integrator::Newmark(Newmark::default()),
        ] {
            let (dynamics, mut x, _) = two_strips(integrator);
            // the second border is sewn half an edge further along: vertex to edge, and edge to edge
            let n = (x.len() / 2) as u32;
            let links: Vec<Link> = (0..8)
                .map(|j| match j % 2 {
                    0 => Link::new([[18 + j, 18 + j], [n + j, n + j + 1]], [0.0, 0.5], &x),
                    _ => Link::new([[18 + j, 19 + j], [n + j, n + j + 1]], [0.25, 0.75], &x),
                })
                .collect();
            let seam = Seam {
                links: links.clone(),
                duration: 0.4,
                ..Seam::new(Vec::new(), &x, 0.002)
            };
            let mut dynamics = dynamics;
            dynamics.elements.stitches.clear();
            let dynamics = dynamics.with_seams(&[seam]);
            assert_eq!(dynamics.seams(&x).open, 8);
            let start = x.clone();
            let mut v = vec![DVec3::ZERO; x.len()];
            for k in 0..90 {
                let end = dynamics.propose(&x, &v, &start, f64::from(k) / 60.0, 1.0 / 60.0);
                (x, v) = (end.x, end.v);
            }
            let report = dynamics.seams(&x);
            assert_eq!((report.stitches, report.open), (8, 0), "{report:?}");
            let momentum: DVec3 = (0..x.len()).map(|i| dynamics.mass()[i] * v[i]).sum();
            assert!(momentum.length() < 1e-4, "{momentum}");
            for link in &links {
                let apart = Link::new(link.edges, link.along, &x).from;
                assert!(apart > 0.001 && apart < 0.003, "{apart}");
            }
        }
    }

    #[test]
    fn a_closed_seam_stays_closed_whatever_pulls() {
        // 6 N/m across the seam: its springs alone would open by 6 mm
        let (mut dynamics, mut x, pairs) = two_strips(Integrator::default());
        dynamics.elements.stitches.clear();
        let seam = Seam {
            duration: 0.4,
            stiffness: 1e3,
            ..Seam::new(pairs.clone(), &x, 0.002)
        };
        let mut dynamics = dynamics.with_seams(&[seam]);
        dynamics.hold(&(0..9).collect::<Vec<u32>>());
        dynamics.settings.gravity = [300.0, 0.0, 0.0];
        let start = x.clone();
        let (mut v, mut tension) = (vec![DVec3::ZERO; x.len()], Vec::new());
        for k in 0..90 {
            let (script, time) = ([&start[..], &start[..]], f64::from(k) / 60.0);
            let end = dynamics.propose_touching(&x, &v, script, time, 1.0 / 60.0, None, &tension);
            (x, v, tension) = (end.x, end.v, end.tension);
        }
        for [a, b] in pairs {
            let gap = x[a as usize].distance(x[b as usize]);
            assert!((0.0019..0.0021).contains(&gap), "{gap}");
        }
        // and what holds it is remembered behind the faces: all of the pull
        let faces = dynamics.elements.face_count;
        let held: f64 = tension
            .iter()
            .filter(|t| t.face >= faces)
            .map(|t| t.pull)
            .sum();
        let pull: f64 = dynamics.mass()[27..].iter().sum::<f64>() * 300.0;
        assert!((held / pull - 1.0).abs() < 0.05, "{held} of {pull}");
    }

    #[test]
    fn a_seam_waits_then_closes_to_its_gap_and_not_to_contact() {
        let euler = Integrator::Implicit(Implicit::default());
        for integrator in [Integrator::default(), euler] {
            let (dynamics, mut x, pairs) = two_strips(integrator);
            let start = x.clone();
            let mut v = vec![DVec3::ZERO; x.len()];
            let dt = 1.0 / 60.0;
            for k in 0..60 {
                let time = f64::from(k) * dt;
                let end = dynamics.propose(&x, &v, &start, time, dt);
                (x, v) = (end.x, end.v);
                let gaps = pairs
                    .iter()
                    .map(|&[a, b]| x[a as usize].distance(x[b as usize]));
                if time + dt < 0.1 {
                    let moved = x.iter().zip(&start).map(|(a, b)| a.distance(*b));
                    assert!(moved.fold(0.0, f64::max) < 1e-12);
                }
                for gap in gaps {
                    assert!(gap > 0.001, "frame {k}: {gap}");
                    assert!(time < 0.8 || gap < 0.003, "frame {k}: {gap}");
                }
            }
            let momentum: DVec3 = (0..x.len()).map(|i| dynamics.mass()[i] * v[i]).sum();
            assert!(momentum.length() < 1e-4);
        }
    }
}
