//! The collider: one mesh, its tree, and all that can be asked about its motions.
//!
//! The tree proposes pairs, which are listed for as long as they hold (`nearby`); boxes and a first look in single precision
//! (`sweep32`) dismiss most, the continuous test or the closest points decide the rest. Results are sorted, so they depend on the
//! positions alone: not on the number of threads, and not on what was asked before. What a look has proved is a value, a [`Proof`],
//! which its owner may show with the next question; the collider remembers nothing that changes a result.

use std::sync::Arc;

use glam::DVec3;
use rayon::prelude::*;

use super::MeshError;
use super::box32::{Box32, Way32};
use super::bvh::{Boxes, Tree};
use super::ccd::{self, Answer, Mode, Question};
use super::margin::{Margin, box_gap};
use super::mesh::check_positions;
use super::nearby::{Boxed, Nearby};
use super::proof::{Open, Proof};
use super::proximity::{self, Closest, Proximity};
use super::sweep::at;
use super::sweep32::{Listed, Motion32};
use super::tangle::Exempt;
use super::{Impact, Mesh, Pair, Sweep, critical};

/// What is asked about a motion.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asked<'a> {
    /// How the continuous test decides.
    pub mode: Mode,
    /// The separation that impacts are judged by; none means touching.
    pub margin: Option<Margin<'a>>,
}

/// A straight motion of all vertices of a mesh, see [`Collider::motion`].
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use percale::{Collider, DVec3, Mesh};
///
/// let collider = Collider::new(&Arc::new(Mesh::new(3, vec![[0, 1, 2]])?));
/// let x = [DVec3::ZERO, DVec3::X, DVec3::Y];
/// assert!(collider.motion(&x, &x).is_ok());
/// assert!(collider.motion(&x, &[DVec3::NAN; 3]).is_err(), "refused by name");
/// # Ok::<(), percale::MeshError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Motion<'a> {
    pub(super) start: &'a [DVec3],
    pub(super) end: &'a [DVec3],
    pub(super) reach: Reach<'a>,
}

/// Which pairs of a motion are looked at.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Reach<'a> {
    #[default]
    All,
    /// All but those that a list of tangles lets through.
    Outside(&'a Arc<Exempt>),
    /// Only those.
    Within(&'a Arc<Exempt>),
}

impl<'a> Motion<'a> {
    /// Of positions that come from a certified state and from a candidate; what is not a number among the ends proves nothing.
    pub(crate) fn new(start: &'a [DVec3], end: &'a [DVec3]) -> Self {
        Self {
            start,
            end,
            reach: Reach::All,
        }
    }

    /// The same motion, in which some pairs are let through each other: nobody looks at them.
    pub(crate) fn outside(self, exempt: Option<&'a Arc<Exempt>>) -> Self {
        let reach = exempt.map_or(Reach::All, Reach::Outside);
        Self { reach, ..self }
    }

    /// The same motion of nothing but these pairs.
    pub(crate) fn within(self, exempt: &'a Arc<Exempt>) -> Self {
        let reach = Reach::Within(exempt);
        Self { reach, ..self }
    }

    pub(super) fn leaves_out(&self, pair: Pair) -> bool {
        match self.reach {
            Reach::All => false,
            Reach::Outside(exempt) => exempt.holds(pair),
            Reach::Within(exempt) => !exempt.holds(pair),
        }
    }
}

/// What a look at a motion found.
#[derive(Clone, Debug)]
pub struct Look {
    /// By time, then pair.
    pub impacts: Vec<Impact>,
    /// What it proved; none if it was asked without a margin.
    pub proof: Option<Proof>,
}

/// What a look ahead found.
#[derive(Clone, Debug)]
pub struct Foreseen {
    /// What is near at the start.
    pub near: Vec<Proximity>,
    /// Impacts between features that are not, by time, then pair.
    pub impacts: Vec<Impact>,
    /// What it proved.
    pub proof: Option<Proof>,
}

/// Finds impacts and proximities of one mesh; keeps its tree and buffers between calls, and nothing that changes a result.
///
/// All calls panic if a motion or a margin is of a mesh with another number of vertices. A question
/// with something in it that is not a number finds nothing, and proves nothing.
///
/// # Examples
/// Two triangles, one above the other; a corner of the upper one goes down through the lower:
///
/// ```
/// use std::sync::Arc;
/// use percale::geometry::Asked;
/// use percale::{Collider, DVec3, Mesh};
///
/// let mesh = Arc::new(Mesh::new(6, vec![[0, 1, 2], [3, 4, 5]])?);
/// let lower = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]];
/// let upper = [[0.2, 0.1, 0.2], [1.2, 0.1, 0.2], [0.2, 0.1, 1.2]];
/// let x0: Vec<DVec3> = lower.iter().chain(&upper).map(|&x| x.into()).collect();
/// let mut x1 = x0.clone();
/// x1[3].y = -0.1;
///
/// let mut collider = Collider::new(&mesh);
/// let motion = collider.motion(&x0, &x1)?;
/// let impacts = collider.impacts(motion, &Asked::default());
/// assert!((impacts[0].time - 0.5).abs() < 1e-6, "half of the way");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Collider {
    pub(super) mesh: Arc<Mesh>,
    pub(super) tree: Tree,
    /// Of the tree, around rooms or in the static test.
    pub(super) fitted: Boxes<Box32>,
    nearby: Nearby,
    /// Boxes of the vertices in the present question.
    boxes: Vec<Box32>,
    /// The motion in question.
    pub(super) single: Motion32,
    pub(super) vertex_ways: Vec<Way32>,
    pub(super) ways: Boxes<Way32>,
    is_changed: Vec<bool>,
    pub(super) queries: u64,
}

impl Collider {
    /// For one mesh.
    pub fn new(mesh: &Arc<Mesh>) -> Self {
        Self {
            mesh: Arc::clone(mesh),
            tree: Tree::new(mesh),
            fitted: Boxes::default(),
            nearby: Nearby::default(),
            boxes: Vec::new(),
            single: Motion32::default(),
            vertex_ways: Vec::new(),
            ways: Boxes::default(),
            is_changed: vec![false; mesh.vertex_count()],
            queries: 0,
        }
    }

    /// The mesh.
    pub fn mesh(&self) -> &Arc<Mesh> {
        &self.mesh
    }

    /// A motion of the mesh from `start` straight to `end`, in metres.
    ///
    /// # Errors
    /// Not one position per vertex, or coordinates that are not 0 and not between 1e-70 and 1e30 m in magnitude.
    pub fn motion<'a>(
        &self,
        start: &'a [DVec3],
        end: &'a [DVec3],
    ) -> Result<Motion<'a>, MeshError> {
        check_positions(&self.mesh, start)?;
        check_positions(&self.mesh, end)?;
        Ok(Motion::new(start, end))
    }

    /// Pairs put to the continuous test since the collider was made: those that neither boxes nor a first direction tell apart.
    /// The same for any number of threads.
    pub fn queries(&self) -> u64 {
        self.queries
    }

    /// Fits the boxes of all vertices to the motion, each grown by `growth`, and makes the list of pairs hold for them, or for all of
    /// them that are not proved to stay further apart than a distance.
    ///
    /// `false` if something is not a number: no box holds it, and what is listed beside it would not
    /// hold either. Then nothing is listed, now or for the next question.
    #[must_use]
    fn cover(
        &mut self,
        motion: Motion<'_>,
        growth: impl Fn(usize) -> f64 + Sync,
        distance: Option<f64>,
    ) -> bool {
        let Motion { start, end, .. } = motion;
        if !self.is_number(motion, &growth) {
            self.nearby = Nearby::default();
            return false;
        }
        self.set_boxes(motion, &growth);
        let Self {
            mesh,
            tree,
            fitted,
            ways,
            nearby,
            boxes,
            ..
        } = self;
        let asked = Boxed {
            start,
            end,
            boxes,
            distance,
        };
        nearby.cover((tree, fitted, ways), mesh, &asked, growth);
        true
    }

    /// Whether all numbers of a question are.
    pub(super) fn is_number(
        &self,
        Motion { start, end, .. }: Motion<'_>,
        growth: impl Fn(usize) -> f64 + Sync,
    ) -> bool {
        let count = self.mesh.vertex_count();
        let counts = [start.len(), end.len()];
        assert_eq!(counts, [count; 2], "a motion of this mesh");
        (0..count)
            .into_par_iter()
            .with_min_len(4096)
            .all(|v| start[v].is_finite() && end[v].is_finite() && !growth(v).is_nan())
    }

    fn set_boxes(
        &mut self,
        Motion { start, end, .. }: Motion<'_>,
        growth: impl Fn(usize) -> f64 + Sync,
    ) {
        let vertices = (0..start.len()).into_par_iter().with_min_len(4096);
        vertices
            .map(|v| Box32::of_vertex(start[v], end[v], growth(v)))
            .collect_into_vec(&mut self.boxes);
    }

    /// Whether pairs are listed that answer a question about touching.
    pub(super) fn has_listed(&mut self, motion: Motion<'_>) -> bool {
        if self.nearby.is_empty() {
            return false;
        }
        self.set_boxes(motion, |_| 0.0);
        self.nearby.is_covering(&Boxed {
            start: motion.start,
            end: motion.end,
            boxes: &self.boxes,
            distance: Some(0.0),
        })
    }

    /// Says that the next questions will be about motions like this one, about where it starts, and about pairs within these thicknesses. Saves time, changes no
    /// result.
    pub fn expect(&mut self, motion: Motion<'_>, thickness: &[f64]) {
        self.nearby.expect(motion.start, motion.end);
        let growth = |v: usize| 0.5 * thickness[v];
        let _ = self.cover(motion, growth, Some(2.0 * largest(motion, growth)));
    }

    /// Reports all pairs whose boxes overlap, grown by `growth` of their vertices, and that have a vertex in `asked`, if that is given;
    /// some of those that are proved to stay further apart than any two growths together are left out.
    fn overlaps<T: Send>(
        &mut self,
        motion: Motion<'_>,
        growth: impl Fn(usize) -> f64 + Sync,
        asked: Option<&[bool]>,
        report: impl Fn(&Mesh, Listed, &mut Vec<T>) + Sync,
    ) -> Vec<T> {
        let distance = 2.0 * largest(motion, &growth);
        if !self.cover(motion, &growth, Some(distance)) {
            return Vec::new();
        }
        let Self {
            mesh,
            nearby,
            boxes,
            single,
            ..
        } = self;
        single.set(motion.start, motion.end, distance);
        let is_asked =
            |listed: &Listed| asked.is_none_or(|asked| at(asked, listed.vertices).contains(&true));
        let is_idle = |listed: &Listed| !is_asked(listed) || motion.leaves_out(listed.pair);
        nearby.overlaps(boxes, is_idle, Some(single), |listed, out| {
            report(mesh, listed, out);
        })
    }

    /// Every pair without a common vertex whose swept boxes come within `margin` of each other on each axis, once,
    /// ascending; pairs of two obstacle features left out.
    ///
    /// The gap of two boxes is rounded to the nearest number before it is compared: a pair is never missed, one
    /// within half a unit in the last place beyond the margin may be added.
    pub fn pairs(&mut self, motion: Motion<'_>, margin: f64) -> Vec<Pair> {
        if !self.cover(motion, |_| 0.5 * margin, None) {
            return Vec::new();
        }
        let is_idle = |listed: &Listed| motion.leaves_out(listed.pair);
        let report = |Listed { pair, vertices }: Listed, out: &mut Vec<Pair>| {
            let (start, end) = (at(motion.start, vertices), at(motion.end, vertices));
            if box_gap(pair, &start, &end) <= margin {
                out.push(pair);
            }
        };
        let mut pairs = self.nearby.overlaps(&self.boxes, is_idle, None, report);
        pairs.par_sort_unstable();
        pairs
    }

    /// All impacts of a motion, by time, then pair.
    pub fn impacts(&mut self, motion: Motion<'_>, asked: &Asked<'_>) -> Vec<Impact> {
        self.find_impacts(motion, None, asked).0
    }

    /// All impacts of a motion, by time, then pair, and what is proved by the way if a margin is asked.
    ///
    /// What is `known` of a motion of this mesh from the same start, to an end that differs little, spares work: only what may have come
    /// nearer since is tested. A proof of anything else covers nothing.
    pub fn look(&mut self, motion: Motion<'_>, asked: &Asked<'_>, known: Option<&Proof>) -> Look {
        // in fast mode, touching pairs may be uncertain: only what is proved by a margin counts
        let apart = match asked.margin {
            Some(margin) => Some(margin.thickness.iter().copied().fold(0.0, f64::max)),
            None => (asked.mode == Mode::Exact).then_some(0.0),
        };
        let open = known
            .zip(apart)
            .and_then(|(known, apart)| known.open(&self.mesh, motion, apart));
        let (impacts, near) = match open {
            Some(open) => self.look_at_open(motion, &open, asked),
            None => self.find_impacts(motion, None, asked),
        };
        let distance = proof_distance(asked);
        let proof = distance.and_then(|distance| Proof::new(&self.mesh, motion, distance, near));
        Look { impacts, proof }
    }

    /// Looks again at a motion after the ends of the vertices in `changed`, which ascends, have been moved: the impacts in which at
    /// least one of them takes part, and what is proved now, if `known` is of the motion before.
    pub fn look_again(
        &mut self,
        motion: Motion<'_>,
        changed: &[u32],
        asked: &Asked<'_>,
        known: Option<Proof>,
    ) -> Look {
        let (impacts, near) = self.find_impacts(motion, Some(changed), asked);
        let distance = proof_distance(asked);
        let proof = known.zip(distance).and_then(|(known, distance)| {
            known.updated(&self.mesh, motion, changed, distance, near)
        });
        Look { impacts, proof }
    }

    /// Impacts in which a vertex in `changed` takes part, if that is given; and with a margin, all such pairs that are
    /// not proved to stay apart by [`proof_distance`].
    fn find_impacts(
        &mut self,
        motion: Motion<'_>,
        changed: Option<&[u32]>,
        asked: &Asked<'_>,
    ) -> (Vec<Impact>, Vec<Pair>) {
        self.nearby.expect(motion.start, motion.end);
        if changed.is_none() && asked.margin.is_none() && !self.has_listed(motion) {
            return (self.impacts_at_once(motion, asked.mode), Vec::new());
        }
        let mut is_changed = std::mem::take(&mut self.is_changed);
        let mark = |is_changed: &mut [bool], value| {
            for &v in changed.unwrap_or_default() {
                is_changed[v as usize] = value;
            }
        };
        mark(&mut is_changed, true);
        let filter = changed.map(|_| &is_changed[..]);
        let growth = |v: usize| asked.margin.map_or(0.0, |m| 0.5 * m.thickness[v]);
        let pairs = self.overlaps(motion, growth, filter, |_, listed, out| {
            if may_meet(listed, motion, asked) {
                out.push(listed.pair);
            }
        });
        mark(&mut is_changed, false);
        self.is_changed = is_changed;
        self.test_all(motion, &pairs, asked)
    }

    /// What [`Self::find_impacts`] finds, if only what is open can have come near.
    fn look_at_open(
        &mut self,
        motion: Motion<'_>,
        open: &Open<'_>,
        asked: &Asked<'_>,
    ) -> (Vec<Impact>, Vec<Pair>) {
        let mesh = &self.mesh;
        let is_open = |pair: &Pair| may_meet(Listed::of(mesh, *pair), motion, asked);
        let pairs = open.pairs.par_iter().with_min_len(256).copied();
        let pairs: Vec<Pair> = pairs.filter(is_open).collect();
        let (mut impacts, mut near) = self.test_all(motion, &pairs, asked);
        if let moved @ [_, ..] = &open.moved[..] {
            let more = self.find_impacts(motion, Some(moved), asked);
            impacts.extend(more.0);
            near.extend(more.1);
            sort(&mut impacts);
            near.par_sort_unstable();
            near.dedup();
        }
        impacts.dedup_by_key(|impact| impact.pair); // what moved may be listed too
        (impacts, near)
    }

    /// Impacts among these pairs, and those of the pairs that are not proved to stay apart by [`proof_distance`].
    fn test_all(
        &mut self,
        motion: Motion<'_>,
        pairs: &[Pair],
        asked: &Asked<'_>,
    ) -> (Vec<Impact>, Vec<Pair>) {
        let distance = proof_distance(asked).unwrap_or(0.0);
        self.queries += pairs.len() as u64;
        let mesh = &self.mesh;
        let tested = pairs.par_iter().with_min_len(64).filter_map(|&pair| {
            let Tested { impact, proved } = test(mesh, pair, motion, asked);
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
    /// The proximities are those of [`Self::proximities`] at the start. What is proved of this motion spares work when one like it is
    /// [looked](Self::look) at by a smaller margin.
    pub fn foresee(
        &mut self,
        motion: Motion<'_>,
        reach: &Margin<'_>,
        margin: &Margin<'_>,
    ) -> Foreseen {
        let asked = Asked {
            mode: Mode::Fast,
            margin: Some(*margin),
        };
        let x0 = motion.start;
        self.nearby.expect(motion.start, motion.end);
        let growth = |v: usize| 0.5 * reach.thickness[v].max(margin.thickness[v]);
        let pairs = self.overlaps(motion, growth, None, |_, listed, out| {
            let near = near_at(listed, x0, reach);
            let may_meet = may_meet(listed, motion, &asked);
            if near.is_some() || may_meet {
                out.push((listed.pair, near, may_meet));
            }
        });
        let mesh = &self.mesh;
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
        let (impacts, _) = self.test_all(motion, &far, &asked);
        let least = margin
            .thickness
            .iter()
            .copied()
            .fold(f64::INFINITY, f64::min);
        let proof = match margin.is_usable() && reach.is_usable() {
            true => Proof::new(&self.mesh, motion, least, coming),
            false => None,
        };
        Foreseen {
            near,
            impacts,
            proof,
        }
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
        x: &[DVec3],
        margin: &Margin<'_>,
        start: Option<&[DVec3]>,
    ) -> Vec<Proximity> {
        self.near(x, None, margin, start)
    }

    /// The same without what is let through.
    pub(crate) fn near(
        &mut self,
        x: &[DVec3],
        exempt: Option<&Arc<Exempt>>,
        margin: &Margin<'_>,
        start: Option<&[DVec3]>,
    ) -> Vec<Proximity> {
        let growth = |v: usize| 0.5 * margin.thickness[v];
        let still = Motion::new(x, x).outside(exempt);
        let near = self.overlaps(still, growth, None, |_, listed, out| {
            out.extend(near_at(listed, x, margin).map(|closest| (listed.pair, closest)));
        });
        critical::select(&self.mesh, near, x, margin, start)
    }
}

/// Of the growths of all vertices.
fn largest(motion: Motion<'_>, growth: impl Fn(usize) -> f64) -> f64 {
    (0..motion.start.len()).map(growth).fold(0.0, f64::max)
}

/// The closest points of a pair within the margin, if it can be a proximity.
pub(super) fn near_at(
    Listed { pair, vertices }: Listed,
    x: &[DVec3],
    margin: &Margin<'_>,
) -> Option<Closest> {
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

pub(super) fn sort(impacts: &mut [Impact]) {
    impacts.par_sort_unstable_by(in_order);
}

/// By time, then pair.
pub(super) fn in_order(a: &Impact, b: &Impact) -> std::cmp::Ordering {
    a.time.total_cmp(&b.time).then(a.pair.cmp(&b.pair))
}

/// The distance that most pairs are proved to keep when a motion is looked at with a margin, as a share of the least
/// thickness: far above what rounding to an output grid moves a vertex by, far below what pairs are opened to.
const PROOF_SHARE: f64 = 1.0 / 32.0;

fn proof_distance(asked: &Asked<'_>) -> Option<f64> {
    // the papers' cubic is not certified
    let margin = asked
        .margin
        .filter(|margin| asked.mode != Mode::Cubic && margin.is_usable())?;
    let thickness = margin.thickness.iter().copied();
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
fn may_meet(Listed { pair, vertices }: Listed, motion: Motion<'_>, asked: &Asked<'_>) -> bool {
    let sweep = Sweep {
        start: at(motion.start, vertices),
        end: at(motion.end, vertices),
    };
    let thickness = match asked.margin {
        Some(margin) => margin.thickness_of(pair, vertices),
        None => 0.0,
    };
    // the separation is not known yet: that takes two distances
    let is_apart = ccd::is_easily_apart(pair, &sweep, thickness)
        || box_gap(pair, &sweep.start, &sweep.end) > thickness;
    !is_apart
}

/// Asks the continuous test about one pair.
fn test(mesh: &Mesh, pair: Pair, motion: Motion<'_>, asked: &Asked<'_>) -> Tested {
    let sweep = Sweep::of(mesh, pair, motion.start, motion.end);
    let gap = box_gap(pair, &sweep.start, &sweep.end);
    let separation = match asked.margin {
        Some(margin) => margin.separation(mesh, pair, motion.start),
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

#[cfg(test)]
mod tests;
