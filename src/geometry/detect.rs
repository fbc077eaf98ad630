//! The detector: impacts of a motion and proximities at an instant, over a whole mesh.
//!
//! The tree proposes pairs, which are listed for as long as they hold (`nearby`); boxes and a first look in single precision
//! (`sweep32`) dismiss most, the continuous test or the closest points decide the rest. Results are sorted, so they depend on the positions alone: not on the number of threads,
//! and not on what the detector was asked before.

use glam::DVec3;
use rayon::prelude::*;

use super::box32::Box32;
use super::bvh::Tree;
use super::ccd::{self, Answer, Mode, Question};
use super::nearby::Nearby;
use super::proof::{Open, Proof};
use super::proximity::{self, Closest, Proximity};
use super::sweep::at;
use super::sweep32::{Listed, Motion32};
use super::{Impact, Mesh, Pair, Sweep, critical};

/// How far features are kept apart.
#[derive(Clone, Copy, Debug)]
pub struct Margin<'a> {
    /// Thickness at each vertex, in metres, at least 0: two layers are meant to lie one thickness apart.
    pub thickness: &'a [f64],
    /// Rest positions. Features of one body are never kept further apart than half their distance at rest, else
    /// cloth with a thickness near the length of its edges would push itself apart.
    pub rest: &'a [DVec3],
    /// The least gap that each vertex has at the start, in metres; none means that nothing is near. What slides over a
    /// surface in contact comes upon features that it is not kept from yet: asked to stay further from them than from
    /// that surface, it would be caught by edges that nobody can feel.
    pub gap: Option<&'a [f64]>,
}

/// What is asked about a motion.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asked<'a> {
    /// How the continuous test decides.
    pub mode: Mode,
    /// The separation that impacts are judged by; none means touching.
    pub margin: Option<Margin<'a>>,
}

/// Share of the start gap and of the rest distance that a separation may take (design §3).
const SHARE: f64 = 0.5;

/// Rounding error of a computed gap, in units of the largest coordinate difference of its four vertices.
///
/// A closest point is r − t d or a − u b − v c: each coordinate is a sum of at most three products of differences
/// below the extent with weights that sum to at most 2, with at most 6 roundings each: 12 u = 6 ε, and √3 of that as
/// a length; that the weights themselves are rounded moves the point by another ε within the feature. Halving a gap leaves a factor 2, so
/// a gap of 32 ε is still larger than the separation taken from it. `a_gap_errs_less_than_its_bound` measures it.
const GAP_ERROR: f64 = 16.0 * f64::EPSILON;

impl Margin<'_> {
    /// The separation of a pair, in metres: the least of its thickness, half its gap at `x0`, half the least gap of its
    /// vertices there, and half its distance at rest within one body; 0 where the gap is too small to be told from rounding.
    pub fn separation(&self, mesh: &Mesh, pair: Pair, x0: &[DVec3]) -> f64 {
        let thickness = self.pair_thickness(mesh, pair);
        if thickness == 0.0 {
            return 0.0;
        }
        let vertices = mesh.vertices_of(pair);
        let start = at(x0, vertices);
        let gap = Closest::of(pair, start).distance_squared.sqrt();
        if gap <= 2.0 * GAP_ERROR * extent(&start) {
            return 0.0;
        }
        let least = |gaps: &[f64]| {
            vertices
                .iter()
                .fold(gap, |gap, &v| gap.min(gaps[v as usize]))
        };
        let separation = thickness.min(SHARE * self.gap.map_or(gap, least));
        separation.min(self.rest_limit(mesh, pair, separation))
    }

    /// Mean of the two features' thicknesses, each the least of its vertices.
    fn pair_thickness(&self, mesh: &Mesh, pair: Pair) -> f64 {
        let h = at(self.thickness, mesh.vertices_of(pair));
        match pair {
            Pair::VertexFace { .. } => 0.5 * (h[0] + h[1].min(h[2]).min(h[3])),
            Pair::EdgeEdge { .. } => 0.5 * (h[0].min(h[1]) + h[2].min(h[3])),
        }
    }

    /// Half the rest distance within one body; any number above `enough` if it is not below it.
    fn rest_limit(&self, mesh: &Mesh, pair: Pair, enough: f64) -> f64 {
        let [a, .., b] = mesh.vertices_of(pair);
        if mesh.body_of_vertex(a) != mesh.body_of_vertex(b) {
            return f64::INFINITY;
        }
        let rest = at(self.rest, mesh.vertices_of(pair));
        // boxes first: most features of a body rest far apart
        if box_gap(pair, &rest, &rest) > enough / SHARE {
            return f64::INFINITY;
        }
        SHARE * Closest::of(pair, rest).distance_squared.sqrt()
    }
}

/// Finds impacts and proximities; keeps its tree, buffers and what it has proved between calls, and nothing that
/// changes a result.
#[derive(Clone, Debug)]
pub struct Detector {
    pub(super) tree: Tree,
    nearby: Nearby,
    /// Boxes of the vertices in the present question.
    boxes: Vec<Box32>,
    /// The motion in question.
    motion: Motion32,
    is_changed: Vec<bool>,
    proof: Option<Proof>,
    /// Of the motion that was expected.
    foreseen: Option<Proof>,
    queries: u64,
}

impl Detector {
    /// A detector for one mesh; all calls must name the same.
    pub fn new(mesh: &Mesh) -> Self {
        Self {
            tree: Tree::new(mesh),
            nearby: Nearby::default(),
            boxes: Vec::new(),
            motion: Motion32::default(),
            is_changed: vec![false; mesh.vertex_count()],
            proof: None,
            foreseen: None,
            queries: 0,
        }
    }

    /// Pairs put to the continuous test since the detector was made: those that neither boxes nor a first direction tell apart.
    /// The same for any number of threads.
    pub fn queries(&self) -> u64 {
        self.queries
    }

    /// Fits the boxes of all vertices to the motion, each grown by `growth`, and makes the list of pairs hold for them.
    fn cover(
        &mut self,
        mesh: &Mesh,
        [x0, x1]: [&[DVec3]; 2],
        growth: impl Fn(usize) -> f64 + Sync,
    ) {
        let Self {
            tree,
            nearby,
            boxes,
            ..
        } = self;
        let vertices = (0..x0.len()).into_par_iter().with_min_len(4096);
        vertices
            .map(|v| Box32::of_vertex(x0[v], x1[v], growth(v)))
            .collect_into_vec(boxes);
        nearby.cover(tree, mesh, x0, boxes, growth);
    }

    /// Says that the next questions will be about motions like this one, and about pairs within these thicknesses. Saves time, changes no
    /// result.
    pub fn expect(&mut self, mesh: &Mesh, x0: &[DVec3], x1: &[DVec3], thickness: &[f64]) {
        self.nearby.expect(x0, x1);
        self.cover(mesh, [x0, x1], |v| 0.5 * thickness[v]);
    }

    /// Reports all pairs whose boxes overlap, grown by `growth` of their vertices, and that have a vertex in `asked`, if that is given;
    /// some of those that are proved to stay further apart than any two growths together are left out.
    fn overlaps<T: Send>(
        &mut self,
        mesh: &Mesh,
        [x0, x1]: [&[DVec3]; 2],
        growth: impl Fn(usize) -> f64 + Sync,
        asked: Option<&[bool]>,
        report: impl Fn(Pair, &mut Vec<T>) + Sync,
    ) -> Vec<T> {
        self.cover(mesh, [x0, x1], &growth);
        let Self {
            nearby,
            boxes,
            motion,
            ..
        } = self;
        let largest = (0..x0.len()).map(growth).fold(0.0, f64::max);
        motion.set(x0, x1, 2.0 * largest);
        let is_asked =
            |listed: &Listed| asked.is_none_or(|asked| at(asked, listed.vertices).contains(&true));
        let is_idle = |listed: &Listed| !is_asked(listed) || motion.is_apart(listed);
        nearby.overlaps(boxes, is_idle, report)
    }

    /// Every pair without a common vertex whose swept boxes come within `margin` of each other on each axis, once,
    /// ascending; pairs of two obstacle features left out.
    ///
    /// The gap of two boxes is rounded to the nearest number before it is compared: a pair is never missed, one
    /// within half a unit in the last place beyond the margin may be added.
    pub fn pairs(&mut self, mesh: &Mesh, x0: &[DVec3], x1: &[DVec3], margin: f64) -> Vec<Pair> {
        self.cover(mesh, [x0, x1], |_| 0.5 * margin);
        let is_idle = |_: &Listed| false;
        let mut pairs = self.nearby.overlaps(&self.boxes, is_idle, |pair, out| {
            let Sweep { start, end } = Sweep::of(mesh, pair, x0, x1);
            if box_gap(pair, &start, &end) <= margin {
                out.push(pair);
            }
        });
        pairs.par_sort_unstable();
        pairs
    }

    /// All impacts of the straight motion from `x0` to `x1`, by time, then pair.
    ///
    /// A motion that was looked at with a margin just before, or [foreseen](Self::foresee), and has changed little since, is not gone
    /// through anew: only what may have come nearer since is tested.
    pub fn impacts(
        &mut self,
        mesh: &Mesh,
        x0: &[DVec3],
        x1: &[DVec3],
        asked: &Asked<'_>,
    ) -> Vec<Impact> {
        if let Some(margin) = asked.margin {
            let largest = margin.thickness.iter().copied().fold(0.0, f64::max);
            let foreseen = self.foreseen.take();
            let open = foreseen.as_ref().and_then(|f| f.open(x0, x1, largest));
            let (impacts, near) = match open {
                Some(open) => self.look_again(mesh, x0, x1, &open, asked),
                None => self.find_impacts(mesh, x0, x1, None, asked),
            };
            self.foreseen = foreseen;
            self.proof = proof_distance(asked).map(|distance| Proof::new(x0, x1, distance, near));
            return impacts;
        }
        let proof = self.proof.take();
        let open = match &proof {
            Some(proof) if asked.mode == Mode::Exact => proof.open(x0, x1, 0.0),
            _ => None,
        };
        let (impacts, _) = match open {
            Some(open) => self.look_again(mesh, x0, x1, &open, asked),
            None => self.find_impacts(mesh, x0, x1, None, asked),
        };
        self.proof = proof;
        impacts
    }

    /// The impacts of [`Detector::impacts`] in which at least one of the vertices in `changed` takes part; `changed` ascends.
    pub fn impacts_of(
        &mut self,
        mesh: &Mesh,
        x0: &[DVec3],
        x1: &[DVec3],
        changed: &[u32],
        asked: &Asked<'_>,
    ) -> Vec<Impact> {
        let (impacts, near) = self.find_impacts(mesh, x0, x1, Some(changed), asked);
        if asked.margin.is_some() {
            let old = self.proof.take();
            self.proof = old.and_then(|proof| {
                let distance = proof_distance(asked)?;
                proof.updated(mesh, x0, x1, changed, distance, near)
            });
        }
        impacts
    }

    /// Impacts in which a vertex in `changed` takes part, if that is given; and with a margin, all such pairs that are
    /// not proved to stay apart by [`proof_distance`].
    fn find_impacts(
        &mut self,
        mesh: &Mesh,
        x0: &[DVec3],
        x1: &[DVec3],
        changed: Option<&[u32]>,
        asked: &Asked<'_>,
    ) -> (Vec<Impact>, Vec<Pair>) {
        let mut is_changed = std::mem::take(&mut self.is_changed);
        let mark = |is_changed: &mut [bool], value| {
            for &v in changed.unwrap_or_default() {
                is_changed[v as usize] = value;
            }
        };
        mark(&mut is_changed, true);
        let filter = changed.map(|_| &is_changed[..]);
        self.nearby.expect(x0, x1);
        let growth = |v: usize| asked.margin.map_or(0.0, |m| 0.5 * m.thickness[v]);
        let pairs = self.overlaps(mesh, [x0, x1], growth, filter, |pair, out| {
            if may_meet(mesh, pair, x0, x1, asked) {
                out.push(pair);
            }
        });
        mark(&mut is_changed, false);
        self.is_changed = is_changed;
        self.test_all(mesh, x0, x1, &pairs, asked)
    }

    /// What [`Self::find_impacts`] finds, if only what is open can have come near.
    fn look_again(
        &mut self,
        mesh: &Mesh,
        x0: &[DVec3],
        x1: &[DVec3],
        open: &Open<'_>,
        asked: &Asked<'_>,
    ) -> (Vec<Impact>, Vec<Pair>) {
        let is_open = |pair: &Pair| may_meet(mesh, *pair, x0, x1, asked);
        let pairs = open.pairs.par_iter().with_min_len(256).copied();
        let pairs: Vec<Pair> = pairs.filter(is_open).collect();
        let (mut impacts, mut near) = self.test_all(mesh, x0, x1, &pairs, asked);
        if let moved @ [_, ..] = &open.moved[..] {
            let more = self.find_impacts(mesh, x0, x1, Some(moved), asked);
            impacts.extend(more.0);
            near.extend(more.1);
            sort(&mut impacts);
            impacts.dedup_by_key(|impact| impact.pair);
            near.par_sort_unstable();
            near.dedup();
        }
        (impacts, near)
    }

    /// Impacts among these pairs, and those of the pairs that are not proved to stay apart by [`proof_distance`].
    fn test_all(
        &mut self,
        mesh: &Mesh,
        x0: &[DVec3],
        x1: &[DVec3],
        pairs: &[Pair],
        asked: &Asked<'_>,
    ) -> (Vec<Impact>, Vec<Pair>) {
        let distance = proof_distance(asked).unwrap_or(0.0);
        self.queries += pairs.len() as u64;
        let tested = pairs.par_iter().with_min_len(64).filter_map(|&pair| {
            let Tested { impact, proved } = test(mesh, pair, x0, x1, asked);
            (impact.is_some() || proved < distance).then_some((pair, impact))
        });
        let found: Vec<(Pair, Option<Impact>)> = tested.collect();
        let near = found.iter().map(|(pair, _)| *pair).collect();
        let mut impacts: Vec<Impact> = found.into_iter().filter_map(|(_, impact)| impact).collect();
        sort(&mut impacts);
        (impacts, near)
    }

    /// What is near at the start of a motion that is only expected, within `reach`, and its impacts by `margin` between features that are not.
    ///
    /// The proximities are those of [`Self::proximities`] at `x0`. What is proved of this motion spares work when [`Self::impacts`] is asked
    /// about one like it, by a smaller margin.
    pub fn foresee(
        &mut self,
        mesh: &Mesh,
        x0: &[DVec3],
        x1: &[DVec3],
        reach: &Margin<'_>,
        margin: &Margin<'_>,
    ) -> (Vec<Proximity>, Vec<Impact>) {
        let asked = Asked {
            mode: Mode::Fast,
            margin: Some(*margin),
        };
        let growth = |v: usize| 0.5 * reach.thickness[v].max(margin.thickness[v]);
        let pairs = self.overlaps(mesh, [x0, x1], growth, None, |pair, out| {
            let near = near_at(mesh, pair, x0, reach);
            let may_meet = may_meet(mesh, pair, x0, x1, &asked);
            if near.is_some() || may_meet {
                out.push((pair, near, may_meet));
            }
        });
        let near = pairs
            .iter()
            .filter_map(|(pair, near, _)| Some((*pair, (*near)?)));
        let near = critical::select(mesh, near.collect(), x0, reach, None);
        let coming = pairs.into_iter().filter(|(.., may_meet)| *may_meet);
        let coming: Vec<Pair> = coming.map(|(pair, ..)| pair).collect();
        let is_far = |pair: &Pair| {
            let start = at(x0, mesh.vertices_of(*pair));
            let reach = reach.pair_thickness(mesh, *pair);
            Closest::of(*pair, start).distance_squared >= reach * reach
        };
        let far = coming.par_iter().with_min_len(256).copied().filter(is_far);
        let far: Vec<Pair> = far.collect();
        let (impacts, _) = self.test_all(mesh, x0, x1, &far, &asked);
        let least = margin
            .thickness
            .iter()
            .copied()
            .fold(f64::INFINITY, f64::min);
        self.foreseen = Some(Proof::new(x0, x1, least, coming));
        (near, impacts)
    }

    /// Features nearer than their threshold at `x`, each touching feature once, by pair.
    ///
    /// The threshold is the mean thickness of the two closest points, at most half the distance of the two touching features
    /// at rest within one body, and at most their distance at `start` where that is given (then features that were
    /// near from the beginning are not pushed apart suddenly).
    ///
    /// *Once*: a vertex near an edge is near all faces around it; that is one proximity, reported for the first face.
    /// It is none if one of these faces has a point nearer to the vertex, for then that point is what touches. Two
    /// corners are a proximity if each is the other's nearest in this sense, reported for the smaller vertex.
    /// Where two edges are closest at an end of one, that vertex and the faces around the other edge say the same, so only crossings
    /// are taken from edge-edge pairs (all cases of Shi §3, three contacts for one being three times the response).
    pub fn proximities(
        &mut self,
        mesh: &Mesh,
        x: &[DVec3],
        margin: &Margin<'_>,
        start: Option<&[DVec3]>,
    ) -> Vec<Proximity> {
        let growth = |v: usize| 0.5 * margin.thickness[v];
        let near = self.overlaps(mesh, [x, x], growth, None, |pair, out| {
            out.extend(near_at(mesh, pair, x, margin).map(|closest| (pair, closest)));
        });
        critical::select(mesh, near, x, margin, start)
    }
}

/// The closest points of a pair within the margin, if it can be a proximity.
fn near_at(mesh: &Mesh, pair: Pair, x: &[DVec3], margin: &Margin<'_>) -> Option<Closest> {
    let vertices = mesh.vertices_of(pair);
    let at = at(x, vertices);
    let is_edge_edge = matches!(pair, Pair::EdgeEdge { .. });
    let is_near = |closest: &Closest| {
        let reach = critical::thickness_at(vertices, &closest.weights, margin.thickness);
        closest.distance_squared < reach * reach
    };
    // edges are closest at an end unless they cross, and where they cross beyond reach they are as far, or closer at an end
    if is_edge_edge && !proximity::crossing(at).is_some_and(|inside| is_near(&inside)) {
        return None;
    }
    let closest = Closest::of(pair, at);
    let is_end = is_edge_edge && closest.weights.contains(&0.0);
    (!is_end && is_near(&closest)).then_some(closest)
}

fn sort(impacts: &mut [Impact]) {
    impacts.par_sort_unstable_by(|a, b| a.time.total_cmp(&b.time).then(a.pair.cmp(&b.pair)));
}

/// The distance that most pairs are proved to keep when a motion is looked at with a margin, as a share of the least
/// thickness: far above what rounding to an output grid moves a vertex by, far below what pairs are opened to.
const PROOF_SHARE: f64 = 1.0 / 32.0;

fn proof_distance(asked: &Asked<'_>) -> Option<f64> {
    let thickness = asked.margin?.thickness.iter().copied();
    let least = PROOF_SHARE * thickness.fold(f64::INFINITY, f64::min);
    (least > 0.0).then_some(least)
}

/// What the continuous test says about one pair.
struct Tested {
    impact: Option<Impact>,
    /// The pair stays at least this far apart, in metres, if there is no impact.
    proved: f64,
}

/// Whether a pair has to be put to the continuous test; if not, it is proved to stay one thickness apart, which no separation and no
/// [`proof_distance`] exceeds.
fn may_meet(mesh: &Mesh, pair: Pair, x0: &[DVec3], x1: &[DVec3], asked: &Asked<'_>) -> bool {
    let sweep = Sweep::of(mesh, pair, x0, x1);
    let thickness = match asked.margin {
        Some(margin) => margin.pair_thickness(mesh, pair),
        None => 0.0,
    };
    // the separation is not known yet: that takes two distances
    let is_apart = ccd::is_easily_apart(pair, &sweep, thickness)
        || box_gap(pair, &sweep.start, &sweep.end) > thickness;
    !is_apart
}

/// Asks the continuous test about one pair.
fn test(mesh: &Mesh, pair: Pair, x0: &[DVec3], x1: &[DVec3], asked: &Asked<'_>) -> Tested {
    let sweep = Sweep::of(mesh, pair, x0, x1);
    let gap = box_gap(pair, &sweep.start, &sweep.end);
    let separation = match asked.margin {
        Some(margin) => margin.separation(mesh, pair, x0),
        None => 0.0,
    };
    let mut tested = Tested {
        impact: None,
        proved: separation.max(gap),
    };
    if gap > separation || sweep.is_still() {
        return tested;
    }
    let question = Question {
        mode: asked.mode,
        separation,
    };
    let answer = match pair {
        Pair::VertexFace { .. } => ccd::vertex_face(&sweep, question),
        Pair::EdgeEdge { .. } => ccd::edge_edge(&sweep, question),
    };
    let (contact, certain) = match answer {
        Answer::Never => return tested,
        Answer::Hit(contact) => (contact, true),
        Answer::Uncertain(contact) => (contact, false),
    };
    tested.impact = Some(Impact {
        pair,
        vertices: mesh.vertices_of(pair),
        time: contact.time,
        weights: contact.weights,
        normal: contact.normal,
        certain,
    });
    tested
}

/// The largest gap on any axis between the swept boxes of a pair's features; negative where they overlap on all.
///
/// Rounding is monotonic: a gap that is at most s is at most s after rounding too.
fn box_gap(pair: Pair, start: &[DVec3; 4], end: &[DVec3; 4]) -> f64 {
    let low = |i: usize| start[i].min(end[i]);
    let high = |i: usize| start[i].max(end[i]);
    let (min_a, max_a, min_b, max_b) = match pair {
        Pair::VertexFace { .. } => (
            low(0),
            high(0),
            low(1).min(low(2)).min(low(3)),
            high(1).max(high(2)).max(high(3)),
        ),
        Pair::EdgeEdge { .. } => (
            low(0).min(low(1)),
            high(0).max(high(1)),
            low(2).min(low(3)),
            high(2).max(high(3)),
        ),
    };
    (min_b - max_a).max(min_a - max_b).max_element()
}

/// Largest coordinate difference of four points.
fn extent(x: &[DVec3; 4]) -> f64 {
    let [a, b, c, d] = *x;
    let size = a.max(b).max(c).max(d) - a.min(b).min(c).min(d);
    size.max_element()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use glam::Vec3Swizzles;
    use proptest::prelude::*;

    use super::*;
    use crate::geometry::mesh::NONE;
    use crate::geometry::{Aabb, Body, BodyKind};
    use crate::oracle::position;

    /// A mesh of random faces with its motion: bodies, edges of many faces, vertices of none, long and short faces.
    #[derive(Clone, Debug)]
    struct Soup {
        mesh: Mesh,
        x0: Vec<DVec3>,
        x1: Vec<DVec3>,
    }

    fn soup(max_faces: usize) -> impl Strategy<Value = Soup> {
        let body = |max_faces: usize| {
            (4..24u32).prop_flat_map(move |n| {
                let faces = prop::collection::vec([0..n, 0..n, 0..n], 1..max_faces);
                (Just(n), faces, any::<bool>())
            })
        };
        prop::collection::vec(body(max_faces), 1..4)
            .prop_map(|parts| {
                let (mut faces, mut bodies, mut vertex) = (Vec::new(), Vec::new(), 0);
                for (n, corners, is_obstacle) in parts {
                    let first = faces.len() as u32;
                    let mut keys = BTreeSet::new();
                    for c in corners {
                        let key: BTreeSet<u32> = c.into_iter().collect();
                        if key.len() == 3 && keys.insert(key) {
                            faces.push(c.map(|v| v + vertex));
                        }
                    }
                    if faces.len() as u32 == first {
                        faces.push([vertex, vertex + 1, vertex + 2]);
                    }
                    bodies.push(Body {
                        name: format!("body {}", bodies.len()),
                        kind: if is_obstacle {
                            BodyKind::Obstacle
                        } else {
                            BodyKind::Cloth
                        },
                        vertices: vertex..vertex + n,
                        faces: first..faces.len() as u32,
                    });
                    vertex += n;
                }
                Mesh::with_bodies(vertex as usize, faces, bodies).unwrap()
            })
            .prop_flat_map(|mesh| {
                let n = mesh.vertex_count();
                let at = || prop::collection::vec(position(), n);
                let spread = prop_oneof![Just(0.0), Just(0.5), Just(1.0 / 3.0)];
                (Just(mesh), at(), at(), spread)
            })
            .prop_map(|(mesh, x0, x1, spread)| {
                // a spread leaves some boxes apart, and moves some by a rounded third
                let apart = |(v, p): (usize, &DVec3)| *p + spread * DVec3::splat((v / 3) as f64);
                Soup {
                    x0: x0.iter().enumerate().map(apart).collect(),
                    x1: x1.iter().enumerate().map(apart).collect(),
                    mesh,
                }
            })
    }

    /// A step along an axis, in proof distances: well within reach, just within, just out of it, beyond, and far.
    fn nudge() -> impl Strategy<Value = DVec3> {
        let length = prop::sample::select(vec![0.1, 0.3, 0.498, 0.502, 1.0, 1.02, 1.5, 40.0]);
        let axis = prop::sample::select(vec![DVec3::X, DVec3::Y, DVec3::Z]);
        (length, axis, any::<bool>())
            .prop_map(|(r, axis, back)| if back { -r * axis } else { r * axis })
    }

    /// All pairs by comparing everything with everything.
    fn pairs_by_definition(soup: &Soup, margin: f64) -> Vec<Pair> {
        let Soup { mesh, x0, x1 } = soup;
        let hull = |vertices: &[u32]| {
            Aabb::of(
                vertices
                    .iter()
                    .flat_map(|&v| [x0[v as usize], x1[v as usize]]),
            )
        };
        let near = |a: &[u32], b: &[u32]| {
            let (a_box, b_box) = (hull(a), hull(b));
            let gap = (a_box.min - b_box.max).max(b_box.min - a_box.max);
            a.iter().all(|v| !b.contains(v))
                && !(mesh.is_obstacle(a[0]) && mesh.is_obstacle(b[0]))
                && gap.max_element() <= margin
        };
        let mut pairs = Vec::new();
        for vertex in 0..mesh.vertex_count() as u32 {
            if mesh.vertex_owner()[vertex as usize] == NONE {
                continue;
            }
            for (face, corners) in mesh.faces().iter().enumerate() {
                if near(&[vertex], corners) {
                    let face = face as u32;
                    pairs.push(Pair::VertexFace { vertex, face });
                }
            }
        }
        for (a, ends) in mesh.edges().iter().enumerate() {
            for (b, others) in mesh.edges().iter().enumerate().skip(a + 1) {
                if near(ends, others) {
                    let (a, b) = (a as u32, b as u32);
                    pairs.push(Pair::EdgeEdge { a, b });
                }
            }
        }
        pairs
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn the_tree_finds_every_pair_exactly_once(soup in soup(60), margin in prop_oneof![Just(0.0), Just(0.1), Just(1.0)]) {
            let Soup { mesh, x0, x1 } = &soup;
            let mut detector = Detector::new(mesh);
            let expected = pairs_by_definition(&soup, margin);
            prop_assert_eq!(detector.pairs(mesh, x0, x1, margin), &expected[..]);
            // and again after other questions: the tree is then refitted or rebuilt
            let far: Vec<DVec3> = x0.iter().map(|p| 100.0 * p.zxy()).collect();
            for (x0, x1, margin) in [(x1, x1, 0.0), (x1, &far, margin), (x0, x1, margin)] {
                let soup = Soup { mesh: mesh.clone(), x0: x0.clone(), x1: x1.clone() };
                prop_assert_eq!(detector.pairs(mesh, x0, x1, margin), pairs_by_definition(&soup, margin));
            }
        }

        #[test]
        fn pairs_listed_before_change_no_result(
            soup in soup(60),
            margin in prop_oneof![Just(0.0), Just(0.1), Just(1.0)],
            steps in prop::collection::vec(prop::collection::vec((0..24usize, nudge()), 0..4), 4),
            drift in 0.0..0.1f64,
        ) {
            // most vertices keep to their rooms, some leave them; now and then all have gone too far
            let Soup { mesh, mut x0, mut x1 } = soup;
            let mut detector = Detector::new(&mesh);
            for step in steps {
                // whether it comes so or not
                detector.expect(&mesh, &x1, &x0, &vec![margin; x0.len()]);
                let soup = Soup { mesh: mesh.clone(), x0: x0.clone(), x1: x1.clone() };
                prop_assert_eq!(detector.pairs(&mesh, &x0, &x1, margin), pairs_by_definition(&soup, margin));
                let impacts = detector.impacts(&mesh, &x0, &x1, &Asked::default());
                prop_assert_eq!(impacts, Detector::new(&mesh).impacts(&mesh, &x0, &x1, &Asked::default()));
                for (v, by) in step.into_iter().filter(|(v, _)| *v < x0.len()) {
                    x1[v] += 0.1 * by;
                }
                for (x0, x1) in x0.iter_mut().zip(&mut x1) {
                    let way = drift * (*x1 - *x0);
                    (*x0, *x1) = (*x0 + way, *x1 + way);
                }
            }
        }

        #[test]
        fn impacts_of_some_vertices_are_those_impacts_that_have_one(soup in soup(20), changed in prop::collection::vec(0..8u32, 0..4)) {
            let Soup { mesh, x0, x1 } = &soup;
            let changed: Vec<u32> = changed.into_iter().filter(|&v| (v as usize) < x0.len()).collect();
            let mut detector = Detector::new(mesh);
            let asked = Asked::default();
            let all = detector.impacts(mesh, x0, x1, &asked);
            let some = detector.impacts_of(mesh, x0, x1, &changed, &asked);
            let expected: Vec<Impact> = all.into_iter().filter(|i| i.vertices.iter().any(|v| changed.contains(v))).collect();
            prop_assert_eq!(some, expected);
            prop_assert!(detector.impacts_of(mesh, x0, x1, &[], &asked).is_empty(), "what changed before does not count");
        }

        #[test]
        fn impacts_are_those_of_every_pair_asked_alone(
            soup in soup(12),
            thickness in prop::collection::vec(prop_oneof![Just(0.0), Just(0.25), Just(1.5)], 72),
            gap in prop::collection::vec(prop_oneof![Just(0.125), Just(f64::INFINITY)], 72),
        ) {
            let Soup { mesh, x0, x1 } = &soup;
            let rest: Vec<DVec3> = x1.iter().map(|p| 3.0 * p.yzx()).collect();
            let margin = Margin { thickness: &thickness[..x0.len()], rest: &rest, gap: Some(&gap) };
            let mut detector = Detector::new(mesh);
            for margin in [None, Some(margin)] {
                let asked = Asked { margin, ..Asked::default() };
                let found = detector.impacts(mesh, x0, x1, &asked);
                prop_assert!(found.is_sorted_by_key(|i| (i.time.to_bits(), i.pair)), "by time, then pair");
                for pair in pairs_by_definition(&soup, f64::INFINITY) {
                    let sweep = Sweep::of(mesh, pair, x0, x1);
                    let separation = margin.map_or(0.0, |margin| margin.separation(mesh, pair, x0));
                    let question = Question { mode: asked.mode, separation };
                    let answer = match pair {
                        Pair::VertexFace { .. } => ccd::vertex_face(&sweep, question),
                        Pair::EdgeEdge { .. } => ccd::edge_edge(&sweep, question),
                    };
                    let expected = match answer {
                        Answer::Never => None,
                        Answer::Hit(contact) => Some((contact.time, contact.weights, contact.normal, true)),
                        Answer::Uncertain(contact) => Some((contact.time, contact.weights, contact.normal, false)),
                    };
                    let found = found.iter().find(|i| i.pair == pair).map(|i| (i.time, i.weights, i.normal, i.certain));
                    // boxes apart by rounding errors more than the separation prove what the test leaves open
                    let is_proved = box_gap(pair, &sweep.start, &sweep.end) > separation;
                    prop_assert!(found == expected || (is_proved && found.is_none() && expected.is_some_and(|e| !e.3)), "{pair:?}: {found:?}, expected {expected:?}");
                }
            }
        }

        #[test]
        fn what_was_proved_before_changes_no_result(
            soup in soup(20),
            first in prop::collection::vec((0..24usize, nudge()), 0..6),
            second in prop::collection::vec((0..24usize, nudge()), 0..12),
            tells in any::<bool>(),
        ) {
            let Soup { mesh, x0, mut x1 } = soup;
            let thickness = vec![0.25; x0.len()];
            let asked = Asked { mode: Mode::Fast, margin: Some(Margin { thickness: &thickness, rest: &x0, gap: None }) };
            let exact = Asked { mode: Mode::Exact, margin: None };
            let distance = proof_distance(&asked).unwrap();
            let mut move_some = |nudges: &[(usize, DVec3)]| {
                let known = nudges.iter().filter(|(v, _)| *v < x0.len());
                let moved: BTreeSet<u32> = known.map(|&(v, by)| { x1[v] += by * distance; v as u32 }).collect();
                (moved.into_iter().collect::<Vec<u32>>(), x1.clone())
            };
            let mut detector = Detector::new(&mesh);
            let (_, at) = move_some(&[]);
            let wide = vec![0.375; x0.len()];
            let wide = Margin { thickness: &wide, rest: &x0, gap: None };
            prop_assert_eq!(detector.proximities(&mesh, &x0, &wide, None), Detector::new(&mesh).proximities(&mesh, &x0, &wide, None));
            prop_assert_eq!(detector.impacts(&mesh, &x0, &at, &asked), Detector::new(&mesh).impacts(&mesh, &x0, &at, &asked));
            detector.impacts(&mesh, &x0, &at, &asked);
            let (changed, at) = move_some(&first);
            if tells {
                let found = detector.impacts_of(&mesh, &x0, &at, &changed, &asked);
                prop_assert_eq!(found, Detector::new(&mesh).impacts_of(&mesh, &x0, &at, &changed, &asked));
            }
            prop_assert_eq!(detector.impacts(&mesh, &x0, &at, &exact), Detector::new(&mesh).impacts(&mesh, &x0, &at, &exact));
            let (_, at) = move_some(&second);
            prop_assert_eq!(detector.impacts(&mesh, &x0, &at, &exact), Detector::new(&mesh).impacts(&mesh, &x0, &at, &exact));
        }

        #[test]
        fn what_was_foreseen_changes_no_result(
            soup in soup(20),
            nudges in prop::collection::vec((0..24usize, nudge()), 0..12),
            uneven in any::<bool>(),
        ) {
            let Soup { mesh, x0, x1: mut at } = soup;
            let thick = |factor: f64| (0..x0.len()).map(|v| if uneven && v % 5 == 0 { 1.5 * factor } else { factor }).collect::<Vec<f64>>();
            let [reach, whole, half] = [0.375, 0.25, 0.125].map(thick);
            let [reach, whole, half] = [&reach, &whole, &half].map(|thickness| Margin { thickness, rest: &x0, gap: None });
            let mut detector = Detector::new(&mesh);
            let (near, coming) = detector.foresee(&mesh, &x0, &at, &reach, &whole);
            prop_assert_eq!(near, Detector::new(&mesh).proximities(&mesh, &x0, &reach, None));
            let fast = |margin| Asked { mode: Mode::Fast, margin: Some(margin) };
            let mut expected = Detector::new(&mesh).impacts(&mesh, &x0, &at, &fast(whole));
            expected.retain(|impact| {
                let start = impact.vertices.map(|v| x0[v as usize]);
                let reach = reach.pair_thickness(&mesh, impact.pair);
                Closest::of(impact.pair, start).distance_squared >= reach * reach
            });
            prop_assert_eq!(coming, expected);
            // a larger margin than what was proved
            prop_assert_eq!(detector.impacts(&mesh, &x0, &at, &fast(reach)), Detector::new(&mesh).impacts(&mesh, &x0, &at, &fast(reach)));
            for (v, by) in nudges.into_iter().filter(|(v, _)| *v < x0.len()) {
                at[v] += 0.125 * by;
            }
            prop_assert_eq!(detector.impacts(&mesh, &x0, &at, &fast(half)), Detector::new(&mesh).impacts(&mesh, &x0, &at, &fast(half)));
            // and what follows from that look
            let exact = Asked { mode: Mode::Exact, margin: None };
            prop_assert_eq!(detector.impacts(&mesh, &x0, &at, &exact), Detector::new(&mesh).impacts(&mesh, &x0, &at, &exact));
        }

        #[test]
        fn every_impact_takes_a_query_and_no_pair_takes_two(soup in soup(20), apart in 0.0..0.1f64) {
            let Soup { mesh, x0, mut x1 } = soup;
            let thickness = vec![0.25; x0.len()];
            let asked = Asked { mode: Mode::Fast, margin: Some(Margin { thickness: &thickness, rest: &x0, gap: None }) };
            let exact = Asked { mode: Mode::Exact, margin: None };
            let all = pairs_by_definition(&Soup { mesh: mesh.clone(), x0: x0.clone(), x1: x1.clone() }, f64::INFINITY).len();
            let mut detector = Detector::new(&mesh);
            let mut look = |x1: &[DVec3], asked: &Asked<'_>| {
                let before = detector.queries();
                let found = detector.impacts(&mesh, &x0, x1, asked).len();
                (found, (detector.queries() - before) as usize)
            };
            for asked in [&exact, &asked] {
                let (found, queries) = look(&x1, asked);
                prop_assert!((found..=all).contains(&queries), "{found} impacts, {queries} queries, {all} pairs");
                prop_assert_eq!(look(&x1, asked), (found, queries), "the same again");
            }
            // from what was proved, and again for the vertex that has left it
            x1[0] += apart * DVec3::ONE;
            let (found, queries) = look(&x1, &exact);
            prop_assert!((found..=2 * all).contains(&queries), "{found} impacts, {queries} queries, {all} pairs");
        }

        #[test]
        fn a_null_motion_has_no_impacts(soup in soup(20)) {
            let Soup { mesh, x0, .. } = &soup;
            prop_assert!(Detector::new(mesh).impacts(mesh, x0, x0, &Asked::default()).is_empty());
        }
    }

    /// A square sheet of n × n vertices, waved, with a thickness of about a tenth of its edges.
    fn sheet(n: u32) -> (Mesh, Vec<DVec3>) {
        let mut x = Vec::new();
        let mut faces = Vec::new();
        for i in 0..n * n {
            let (u, v) = (f64::from(i % n), f64::from(i / n));
            x.push(DVec3::new(u, 0.3 * (u - v) * (u + v) / f64::from(n), v));
            if i % n + 1 < n && i / n + 1 < n {
                faces.push([i, i + 1, i + n]);
                faces.push([i + 1, i + n + 1, i + n]);
            }
        }
        (Mesh::new(x.len(), faces).unwrap(), x)
    }

    #[test]
    fn large_meshes_are_walked_like_small_ones_for_any_number_of_threads() {
        let (mesh, x0) = sheet(60);
        let x1: Vec<DVec3> = x0.iter().map(|p| p + 0.1 * p.yzx()).collect();
        let pairs = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let pool = pool.build().unwrap();
            pool.install(|| Detector::new(&mesh).pairs(&mesh, &x0, &x1, 0.1))
        };
        let one = pairs(1);
        assert_eq!(one, pairs(2));
        assert_eq!(one, pairs(5));
        let queries = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let mut detector = Detector::new(&mesh);
            let asked = Asked::default();
            let impacts = || detector.impacts(&mesh, &x0, &x1, &asked);
            pool.build().unwrap().install(impacts);
            detector.queries()
        };
        assert_eq!([queries(1); 2], [queries(2), queries(5)]);
        // compare with sampled rows of the definition: all against all would take minutes
        for vertex in (0..3600).step_by(97) {
            let found: Vec<u32> = one
                .iter()
                .filter_map(|p| match *p {
                    Pair::VertexFace { vertex: v, face } if v == vertex => Some(face),
                    _ => None,
                })
                .collect();
            let expected: Vec<u32> = (0..mesh.faces().len() as u32)
                .filter(|&face| {
                    let pair = Pair::VertexFace { vertex, face };
                    let Sweep { start, end } = Sweep::of(&mesh, pair, &x0, &x1);
                    !mesh.faces()[face as usize].contains(&vertex)
                        && box_gap(pair, &start, &end) <= 0.1
                })
                .collect();
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_separation_is_limited_by_gap_and_rest_distance() {
        // two faces one above the other, moved from rest; one body, then two
        let faces = vec![[0, 1, 2], [3, 4, 5]];
        let body = |name: &str, from: u32, face: u32| Body {
            name: name.into(),
            kind: BodyKind::Cloth,
            vertices: from..from + 3,
            faces: face..face + 1,
        };
        let two = vec![body("lower", 0, 0), body("upper", 3, 1)];
        let one = Mesh::new(6, faces.clone()).unwrap();
        let two = Mesh::with_bodies(6, faces, two).unwrap();
        let at = |y: f64| {
            let corners = [DVec3::ZERO, DVec3::X, DVec3::Z];
            let upper = corners.map(|p| p + y * DVec3::Y);
            [corners, upper].concat()
        };
        let pair = Pair::VertexFace { vertex: 0, face: 1 };
        let (thick, thin, none) = (vec![0.3; 6], vec![0.01; 6], vec![0.0; 6]);
        let rest = at(0.25);
        let separation = |mesh: &Mesh, thickness: &[f64], gap: f64| {
            let margin = Margin {
                thickness,
                rest: &rest,
                gap: None,
            };
            margin.separation(mesh, pair, &at(gap))
        };
        assert_eq!(separation(&one, &thin, 1.0), 0.01, "thickness");
        assert_eq!(separation(&two, &thick, 0.5), 0.25, "half the gap");
        assert_eq!(
            separation(&one, &thick, 0.5),
            0.125,
            "half the rest distance"
        );
        assert_eq!(separation(&two, &thick, 1e-15), 0.0, "the gap is rounding");
        assert_eq!(separation(&one, &none, 1.0), 0.0);
        let uneven = [0.2, 9.0, 9.0, 0.4, 0.6, 0.5];
        let expected = 0.5 * (0.2 + 0.4);
        assert_eq!(
            separation(&two, &uneven, 4.0),
            expected,
            "mean of the least"
        );
        let margin = Margin {
            thickness: &uneven,
            rest: &rest,
            gap: None,
        };
        let edges = |a: [u32; 2], b: [u32; 2]| {
            let edge = |ends| two.edges().iter().position(|&e| e == ends).unwrap() as u32;
            let pair = Pair::EdgeEdge {
                a: edge(a),
                b: edge(b),
            };
            margin.separation(&two, pair, &at(40.0))
        };
        assert_eq!(edges([1, 2], [4, 5]), 0.5 * (9.0 + 0.5));
        assert_eq!(edges([0, 1], [3, 4]), 0.5 * (0.2 + 0.4));
    }

    #[test]
    fn to_come_as_near_as_the_separation_is_an_impact() {
        // a corner falls from 2 to 1 above a face, along an axis: the boxes end one thickness apart
        let mesh = Mesh::new(6, vec![[0, 1, 2], [3, 4, 5]]).unwrap();
        let at = |y: f64| {
            let mut x = [
                [-9, 0, -9],
                [9, 0, -9],
                [0, 0, 9],
                [0, 0, 0],
                [1, 9, 0],
                [0, 9, 1],
            ]
            .map(|p| DVec3::from_array(p.map(f64::from)));
            x[3].y = y;
            x.to_vec()
        };
        let rest = at(1e3);
        let asked = Asked {
            margin: Some(Margin {
                thickness: &[1.0; 6],
                rest: &rest,
                gap: None,
            }),
            ..Asked::default()
        };
        let count = |end: f64| {
            let mut detector = Detector::new(&mesh);
            detector.impacts(&mesh, &at(2.0), &at(end), &asked).len()
        };
        assert_eq!((count(1.0), count(1.0 + 1e-9)), (1, 0));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]

        #[test]
        fn a_gap_errs_less_than_its_bound(
            foot in [0.1..0.9f64, 0.1..0.9f64],
            plane in [[-1.0..1.0f64, -1.0..1.0, -1.0..1.0], [-1.0..1.0f64, -1.0..1.0, -1.0..1.0]],
            height in prop_oneof![Just(1e-16), Just(1e-14), Just(1e-8), Just(1.0)],
            far in prop_oneof![Just(0.0), Just(1.0), Just(1e6)],
        ) {
            // edges that cross at a known height above each other; the shift costs digits that no computation brings back
            let [d, e] = plane.map(DVec3::from_array);
            let n = d.cross(e).normalize_or_zero();
            prop_assume!(d.cross(e).length() > 0.1 * d.length() * e.length());
            let at = |p: DVec3| p + DVec3::splat(far);
            let x = [
                at(-foot[0] * d),
                at((1.0 - foot[0]) * d),
                at(height * n - foot[1] * e),
                at(height * n + (1.0 - foot[1]) * e),
            ];
            let gap = proximity::closest_points_edge_edge(x).distance_squared.sqrt();
            let exact = exact_gap_edge_edge(&x);
            prop_assert!((gap - exact).abs() <= GAP_ERROR * extent(&x), "{gap} {exact}");
        }
    }

    /// |(b0 − a0) · n| / |n| of two lines, in rationals up to the last division and root.
    fn exact_gap_edge_edge(x: &[DVec3; 4]) -> f64 {
        use num_rational::BigRational;
        use num_traits::{Signed, ToPrimitive};
        let r = |v: DVec3| v.to_array().map(|c| BigRational::from_float(c).unwrap());
        let minus = |a: DVec3, b: DVec3| {
            let (a, b) = (r(a), r(b));
            [&a[0] - &b[0], &a[1] - &b[1], &a[2] - &b[2]]
        };
        let (d, e, o) = (minus(x[1], x[0]), minus(x[3], x[2]), minus(x[2], x[0]));
        let n = [
            &d[1] * &e[2] - &d[2] * &e[1],
            &d[2] * &e[0] - &d[0] * &e[2],
            &d[0] * &e[1] - &d[1] * &e[0],
        ];
        let height: BigRational = (0..3).map(|k| &n[k] * &o[k]).sum();
        let square: BigRational = n.iter().map(|k| k * k).sum();
        (height.abs() * height.abs() / square)
            .to_f64()
            .unwrap()
            .sqrt()
    }
}
