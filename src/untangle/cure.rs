//! The cure: a tangled mesh is moved until nothing crosses, or until nothing helps.
//!
//! ```text
//! analyse ─▶ components ─▶ measure, best, method ─▶ targets ─▶ relax ─▶ keep apart ─▶ again
//! ```
//!
//! After \[WLG06\] §5. Each step begins with a new analysis; everything outside the tangles is prevented from meeting
//! (`prevent`), everything beyond the components keeps its bits. Counts jump when a contour passes a vertex, so a step need
//! not get better; but each component remembers its best state, goes back to it when its method stalls, and goes on with the next method.
//! The result is never worse than the input.

use std::sync::Arc;
use std::time::Instant as Clock;

use glam::DVec3;
use serde::Serialize;

use super::attract::Aim;
use super::chart::Tables;
use super::components::{Cloth, Components, METHODS, Turn, grown};
use super::finish::{self, Finish};
use super::prevent;
use super::pulls::{Pull, Targets};
use super::relax::STRETCH;
use super::sides::{History, Marks, Votes};
use super::tangle::{Permitted, tangles};
use super::targets::{Instant, Method, TargetSettings, targets_by};
use super::touching;
use super::{Analysis, Kind, PathSummary, Rest, analyse, analyse_by};
use crate::geometry::mesh::{NONE, check_positions, flush_tiny};
use crate::geometry::{Collider, Crossings, Mesh, MeshError, Scope};

/// Settings of the cure.
#[derive(Clone, Debug, PartialEq)]
pub struct CureSettings {
    /// Steps before what is left is left.
    pub max_steps: u32,
    /// Steps without improvement before a component goes back to its best and tries another method.
    pub patience: u32,
    /// Rings of faces around paths and inside regions in which nothing is prevented.
    pub rings: u32,
    /// How targets are found.
    pub targets: TargetSettings,
    /// κ: how strongly the cloth is pulled, relative to how strongly it resists stretch.
    pub stiffness: f64,
    /// Largest part of a wish that is asked for in one step, in edge lengths: `f_max` / κ.
    pub reach: f64,
    /// How the targets move the cloth.
    pub response: Response,
    /// Distance to which layers that crossed are parted in the end, in metres, at most a quarter of an edge; 0 leaves them as near
    /// as they are.
    pub thickness: f64,
}

/// How targets move the cloth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Response {
    /// Forces and relaxation: the rest of the cloth gives way.
    Relax,
    /// Direct displacement (\[WLG06\] §5.2): both points go this share of the way, a little more than a half.
    Displace(f64),
}

impl Default for CureSettings {
    fn default() -> Self {
        Self {
            max_steps: 600,
            patience: 12,
            rings: 2,
            targets: TargetSettings {
                aim: Aim::Smooth,
                clearance: 0.5,
            },
            stiffness: 2.0,
            reach: 1.0,
            response: Response::Relax,
            thickness: 0.0,
        }
    }
}

/// What is to be cured.
#[derive(Clone, Copy, Debug)]
pub struct Patient<'a> {
    /// The mesh; vertices of obstacles never move.
    pub mesh: &'a Arc<Mesh>,
    /// Its positions, in metres.
    pub x: &'a [DVec3],
    /// The undeformed cloth; unknown means that lengths are right as they are.
    pub rest: Rest<'a>,
    /// Vertices that may not move, one entry each; empty if all may.
    pub keep: &'a [bool],
    /// Layers, an entry for each vertex; empty if nobody knows. Of two pieces of cloth that of the higher layer belongs on the side to which the faces of
    /// the other look; equal layers say nothing.
    pub layers: &'a [i32],
    /// Lengths that edges are to have in the end, an entry for each, in metres: those of the cloth before it was tangled
    /// ([`edge_lengths`](super::edge_lengths)); empty if they are right as they are.
    pub lengths: &'a [f64],
}

/// A cured mesh.
#[derive(Clone, Debug)]
pub struct Cured {
    /// Where the vertices are now.
    pub positions: Vec<DVec3>,
    /// What happened.
    pub report: CureReport,
}

/// What happened in a cure.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CureReport {
    /// Paths as they were.
    pub paths: Vec<PathSummary>,
    /// Crossing pairs of faces before.
    pub intersections_before: usize,
    /// And after.
    pub intersections_after: usize,
    /// Edge-face crossings before.
    pub edge_face_before: usize,
    /// And after.
    pub edge_face_after: usize,
    /// Steps taken.
    pub steps: u32,
    /// Steps of giving back lengths and distances where nothing crosses any more.
    pub finishing_steps: u32,
    /// Largest way of a vertex, in metres.
    pub max_displacement: f64,
    /// Mean way of those that moved, in metres.
    pub mean_displacement: f64,
    /// How many moved.
    pub moved: usize,
    /// How often a vertex did not go its whole way, because something that may not pass was in it.
    pub held: usize,
    /// Intersections that are left.
    pub left: Vec<Left>,
    /// Crossing pairs of faces at each step.
    pub curve: Vec<usize>,
    /// Where the time went.
    pub seconds: CureSeconds,
}

/// An intersection that is left.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Left {
    /// Its type.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// Crossing pairs of faces along it.
    pub segments: usize,
    /// In metres.
    pub length: f64,
    /// The first two of its faces.
    pub faces: [u32; 2],
    /// A point of it, in metres.
    pub at: [f64; 3],
    /// Why it is left.
    pub reason: Reason,
}

/// Why an intersection is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// No method made it better; the pieces may be linked.
    NothingHelps,
    /// The steps were spent.
    StepsSpent,
    /// None of the vertices along it may move.
    Fixed,
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::NothingHelps => "no method makes it shorter; the pieces may be linked",
            Self::StepsSpent => "the steps were spent; try more",
            Self::Fixed => "nothing along it may move",
        })
    }
}

/// Where the time of a cure went, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct CureSeconds {
    /// Finding and naming intersections.
    pub analysis: f64,
    /// Finding targets.
    pub targets: f64,
    /// Forces and relaxation.
    pub forces: f64,
    /// Keeping apart what may not pass.
    pub prevention: f64,
    /// Giving back lengths and distances.
    pub finish: f64,
}

/// Moves a mesh until nothing crosses, or until nothing helps.
///
/// A mesh without crossings comes back with the same bits, and so does every vertex that is far from all of them.
/// The same result for any number of threads. What the result is worth, only `verify` says.
///
/// # Errors
/// Positions that are missing, not finite or out of range.
///
/// # Panics
/// If `keep`, layers, lengths or a rest shape are given, but not for everything.
pub fn cure(patient: Patient<'_>, settings: &CureSettings) -> Result<Cured, MeshError> {
    let Patient {
        mesh,
        x,
        rest,
        keep,
        layers,
        lengths: held,
    } = patient;
    let count = mesh.vertex_count();
    assert!(
        [keep.len(), layers.len()]
            .iter()
            .all(|n| [0, count].contains(n)),
        "an entry for every vertex"
    );
    let is_held = !held.is_empty();
    assert!(
        !is_held || held.len() == mesh.edges().len(),
        "a length for every edge"
    );
    check_positions(mesh, x)?;
    let mut collider = Collider::new(mesh);
    let before = collider.crossings(x, Scope::Certified);
    if before.faces.is_empty() {
        return Ok(Cured {
            positions: x.to_vec(),
            report: CureReport::default(),
        });
    }
    let first = analyse_by(&mut collider, x, rest)?;
    let mut report = CureReport {
        paths: first.summaries(x),
        intersections_before: before.faces.len(),
        intersections_after: before.faces.len(),
        edge_face_before: before.edge_faces.len(),
        edge_face_after: before.edge_faces.len(),
        ..CureReport::default()
    };
    let lengths: Vec<[f64; 3]> = (0..mesh.faces().len() as u32)
        .map(|f| rest.lengths(mesh, x, f))
        .collect();
    let length = |e: &[u32; 2]| x[e[0] as usize].distance(x[e[1] as usize]);
    let edges: Vec<f64> = mesh.edges().iter().map(length).collect();
    let is_fixed: Vec<bool> = (0..mesh.vertex_count())
        .map(|v| mesh.is_obstacle(v as u32) || keep.get(v) == Some(&true))
        .collect();
    let orientation = mesh.orientation();
    let work = Work {
        cloth: Cloth {
            mesh,
            shape: x,
            lengths: &edges,
            held: is_held.then_some(held),
            rest: Rest::Lengths(&lengths),
            is_fixed: &is_fixed,
            loose: &[],
        },
        settings,
        orientation: orientation.as_deref(),
        layers,
        knows_lengths: is_held || !matches!(patient.rest, Rest::Unknown),
    };
    let is_touching = !first.has_all(&before.faces);
    let (start, first) = match is_touching {
        true => {
            let mut start = x.to_vec();
            let touching = before.clone();
            let (steps, _) = work.part_touching(&mut collider, &mut start, &first, touching);
            report.finishing_steps += steps;
            let first = analyse_by(&mut collider, &start, rest)?;
            (start, first)
        }
        false => (x.to_vec(), first),
    };
    let mut ended = work.run_and_release(&mut collider, &start, first, &mut report)?;
    let mut is_spent = report.steps >= settings.max_steps;
    if !ended.crossings.faces.is_empty() && !is_spent {
        let second = work.run_softer(&mut collider, &start, &ended, &mut report)?;
        let count = |ended: &Ended| ended.crossings.faces.len();
        if let Some(second) = second.filter(|s| count(s) < count(&ended)) {
            ended = second;
            is_spent = report.steps >= settings.max_steps;
        }
    }
    let Ended {
        x: mut positions,
        crossings: mut after,
    } = ended;
    if !after.faces.is_empty() {
        let analysis = analyse_by(&mut collider, &positions, rest)?;
        let x = &mut positions;
        let (steps, parted) = work.part_touching(&mut collider, x, &analysis, after);
        report.finishing_steps += steps;
        after = parted;
    }
    let is_worse = after.faces.len() > before.faces.len();
    let positions = if is_worse { x.to_vec() } else { positions };
    let after = if is_worse { before } else { after };
    report.intersections_after = after.faces.len();
    report.edge_face_after = after.edge_faces.len();
    if !after.faces.is_empty() {
        report.left = work.left(&positions, is_spent)?;
    }
    let ways = positions.iter().zip(x).map(|(a, b)| a.distance(*b));
    let ways: Vec<f64> = ways.filter(|w| *w > 0.0).collect();
    report.moved = ways.len();
    report.max_displacement = ways.iter().copied().fold(0.0, f64::max);
    report.mean_displacement = ways.iter().sum::<f64>() / ways.len().max(1) as f64;
    Ok(Cured { positions, report })
}

#[derive(Clone, Copy)]
struct Work<'a> {
    cloth: Cloth<'a>,
    settings: &'a CureSettings,
    orientation: Option<&'a [bool]>,
    layers: &'a [i32],
    /// Whether lengths at rest are known: those of a mesh that came in tangled are no evidence.
    knows_lengths: bool,
}

/// How a run ended.
struct Ended {
    x: Vec<DVec3>,
    /// What crosses there, by the exact test.
    crossings: Crossings,
}

/// Times that what is caught is let go at most; the last is that after which more than this share is still caught: what does not come free at once
/// is not caught, but has another length than before, and every try takes as long as the cure itself.
const RELEASES: u32 = 8;
const WORTH_IT: f64 = 0.9;

/// Share of the stiffness of pulls in the second attempt, and times as much patience: where half of a sheet has come through half of another, crossings
/// grow for some dozen steps before they fall.
const SOFTER: f64 = 0.5;
const MORE_PATIENCE: u32 = 3;

impl Analysis {
    /// Whether each of some pairs of faces is one of a path; the others only touch.
    fn has_all(&self, pairs: &[[u32; 2]]) -> bool {
        let crossing = self.crossing_faces();
        pairs
            .iter()
            .all(|pair| crossing.binary_search(pair).is_ok())
    }

    /// Pairs of faces that cross, ascending.
    fn crossing_faces(&self) -> Vec<[u32; 2]> {
        let crossing = self.segments.segments.iter();
        let mut crossing: Vec<[u32; 2]> = crossing
            .map(|s| [s.faces[0].min(s.faces[1]), s.faces[0].max(s.faces[1])])
            .collect();
        crossing.sort_unstable();
        crossing
    }
}

impl Work<'_> {
    /// Moves apart what the exact test names and no path does; returns the steps that helped, and what it names then.
    fn part_touching(
        &self,
        collider: &mut Collider,
        x: &mut [DVec3],
        analysis: &Analysis,
        named: Crossings,
    ) -> (u32, Crossings) {
        let crossing = analysis.crossing_faces();
        let is_crossing = |pair: [u32; 2]| crossing.binary_search(&pair).is_ok();
        let stiffness = self.settings.stiffness;
        touching::part(&self.cloth, stiffness, collider, x, named, is_crossing)
    }

    /// Runs the cure, lets go of what is still stretched, and runs it again; keeps what is better.
    fn run_and_release(
        &self,
        collider: &mut Collider,
        start: &[DVec3],
        first: Analysis,
        report: &mut CureReport,
    ) -> Result<Ended, MeshError> {
        let mesh = self.cloth.mesh;
        let most = self.settings.max_steps;
        let begun = report.steps;
        let mut best = self.run(collider, first, report, start.to_vec(), most)?;
        let usual = report.steps - begun;
        let mut slots = vec![NONE; best.x.len()];
        for _ in 0..RELEASES {
            if !self.knows_lengths || !best.crossings.faces.is_empty() {
                break;
            }
            let caught = self.caught(&best.x);
            if caught.is_empty() {
                break;
            }
            let before = caught.len();
            let loose = grown(mesh, caught, 1);
            let again = Work {
                cloth: Cloth {
                    shape: &best.x,
                    loose: &loose,
                    ..self.cloth
                },
                ..*self
            };
            let mut released = best.x.clone();
            again.finish().release(&mut slots, &mut released);
            let analysis = analyse_by(collider, &released, self.cloth.rest)?;
            let until = most.min(report.steps + usual + self.settings.patience);
            let tried = again.run(collider, analysis, report, released, until)?;
            let after = self.caught(&tried.x).len();
            let is_clean = tried.crossings.faces.is_empty();
            if is_clean && after < before {
                best = tried;
            }
            if !is_clean || after as f64 > WORTH_IT * before as f64 {
                break;
            }
        }
        Ok(best)
    }

    /// A second attempt where something is left, from the beginning, with weaker pulls and more patience: the cloth goes another way. None if what is left only touches.
    ///
    /// Stronger pulls help less often: of five tubes that are left, half the stiffness cures two, twice as much one of these.
    fn run_softer(
        &self,
        collider: &mut Collider,
        start: &[DVec3],
        left: &Ended,
        report: &mut CureReport,
    ) -> Result<Option<Ended>, MeshError> {
        let analysis = analyse_by(collider, &left.x, self.cloth.rest)?;
        if analysis.contours.is_empty() {
            return Ok(None);
        }
        let settings = CureSettings {
            stiffness: SOFTER * self.settings.stiffness,
            patience: MORE_PATIENCE * self.settings.patience,
            ..self.settings.clone()
        };
        let softer = Work {
            settings: &settings,
            ..*self
        };
        let x = start.to_vec();
        let analysis = analyse_by(collider, &x, self.cloth.rest)?;
        let until = settings.max_steps;
        softer.run(collider, analysis, report, x, until).map(Some)
    }

    /// Ends of edges that are caught: longer or shorter by too much than they came in. What came in stretched is not caught if it is near its length at rest
    /// now; what came in short is, for it was folded between its vertices. Where the lengths to be had are known, nothing else counts.
    fn caught(&self, x: &[DVec3]) -> Vec<u32> {
        let Cloth {
            mesh,
            shape,
            rest,
            lengths,
            held,
            ..
        } = self.cloth;
        let is_caught = |edge: u32| {
            let [a, b] = mesh.edges()[edge as usize].map(|v| x[v as usize]);
            let (now, came) = (a.distance(b), lengths[edge as usize]);
            let is_off = |length: f64| (now / length - 1.0).abs() > finish::CAUGHT;
            if let Some(held) = held {
                let is_free = |v: &u32| !self.cloth.is_fixed[*v as usize];
                return mesh.edges()[edge as usize].iter().any(is_free)
                    && is_off(held[edge as usize]);
            }
            let mut around = mesh.faces_of_edge(edge).iter();
            is_off(came)
                && around.all(|&face| {
                    let sides = mesh.face_edges()[face as usize];
                    let k = sides.iter().position(|&e| e == edge);
                    let at_rest = rest.lengths(mesh, shape, face);
                    is_off(came.min((1.0 + STRETCH) * at_rest[k.expect("a face around the edge")]))
                })
        };
        let edges = (0..mesh.edges().len() as u32).filter(|&e| is_caught(e));
        let mut ends: Vec<u32> = edges.flat_map(|e| mesh.edges()[e as usize]).collect();
        ends.sort_unstable();
        ends.dedup();
        ends
    }

    fn finish(&self) -> Finish<'_> {
        Finish {
            cloth: &self.cloth,
            stiffness: self.settings.stiffness,
            thickness: self.settings.thickness,
        }
    }

    /// Runs the cure up to a step.
    fn run(
        &self,
        collider: &mut Collider,
        first: Analysis,
        report: &mut CureReport,
        mut x: Vec<DVec3>,
        until: u32,
    ) -> Result<Ended, MeshError> {
        let mesh = self.cloth.mesh;
        let mut components = Components::new(x.len());
        let mut analysis = first;
        let mut marks = Marks::new(x.len());
        let done = report.steps;
        for step in done..until {
            if step > done {
                let begun = Clock::now();
                analysis = analyse_by(collider, &x, self.cloth.rest)?;
                report.seconds.analysis += begun.elapsed().as_secs_f64();
            }
            let contested = analysis.choose_sides(&Votes {
                mesh,
                x: &x,
                rest: self.cloth.rest,
                orientation: self.orientation,
                layers: self.layers,
                was_wrong: &marks.was_wrong(step),
                history: History::Certain,
            });
            marks.mark(&analysis, &contested, step);
            report.curve.push(analysis.segments.segments.len());
            components.assign(&self.cloth, &x, &analysis);
            let mut active = Vec::new();
            let mut is_put_back = false;
            for number in 0..components.all.len() {
                let Some(component) = &mut components.all[number] else {
                    continue;
                };
                match component.judge(&mut x, self.settings.patience) {
                    Turn::Go => active.push(number),
                    Turn::PutBack => is_put_back = true,
                    Turn::Widen => {
                        is_put_back = true;
                        components.widen(&self.cloth, number);
                    }
                    Turn::Rest => {}
                }
            }
            if active.is_empty() && !is_put_back {
                break;
            }
            report.steps = step + 1;
            self.step(
                &mut components,
                &active,
                &mut x,
                &analysis,
                collider,
                report,
            );
        }
        for component in components.all.iter().flatten() {
            component.put_back(&mut x);
        }
        let begun = Clock::now();
        let finish = self.finish();
        let cured = x.clone();
        let half_ring = |v| self.half_ring(v);
        let steps = finish.run(&mut components, &mut x, half_ring, collider);
        let mut crossings = collider.crossings(&x, Scope::Certified);
        if steps > 0 && !crossings.faces.is_empty() {
            let before = collider.crossings(&cured, Scope::Certified);
            if crossings.faces.len() > before.faces.len() {
                (x, crossings) = (cured, before);
            }
        }
        report.finishing_steps += steps;
        report.seconds.finish += begun.elapsed().as_secs_f64();
        Ok(Ended { x, crossings })
    }

    /// One step of the components that go on.
    fn step(
        &self,
        components: &mut Components,
        active: &[usize],
        x: &mut [DVec3],
        analysis: &Analysis,
        collider: &mut Collider,
        report: &mut CureReport,
    ) {
        let mesh = self.cloth.mesh;
        let begun = Clock::now();
        let at = Instant {
            mesh,
            x,
            rest: self.cloth.rest,
            analysis,
            orientation: self.orientation,
        };
        let mut asked: Vec<(usize, Vec<Pull>)> = Vec::new();
        let tables = Tables::default();
        for &number in active {
            let component = components.all[number].as_mut().expect("active ones exist");
            let method = METHODS[component.method];
            let contours = component.contours.iter().map(|&c| (c, method));
            let Targets { mut pulls } = targets_by(&tables, at, contours, &self.settings.targets);
            if matches!(method, Method::Pull(_)) {
                component.memory.join(x, &mut pulls);
            }
            let edges = component.contours.iter().map(|&c| at.mean_edge(c));
            let edge = edges.sum::<f64>() / component.contours.len() as f64;
            let reach = self.settings.reach * edge;
            for pull in &mut pulls {
                *pull = pull.within(x, reach);
            }
            let paths = component.contours.iter();
            let paths = paths.flat_map(|&c| analysis.contours[c as usize].paths.clone());
            let mut inside: Vec<u32> = paths
                .flat_map(|p| analysis.paths[p as usize].inside.vertices())
                .copied()
                .collect();
            inside.sort_unstable();
            inside.dedup();
            let relaxation = &mut component.relaxation;
            relaxation.forget(|v| inside.binary_search(&v).is_ok());
            asked.push((number, pulls));
        }
        report.seconds.targets += begun.elapsed().as_secs_f64();

        let begun = Clock::now();
        let start = x.to_vec();
        let Components { all, slots, .. } = components;
        let mut moving = Vec::new();
        for (number, pulls) in asked {
            let component = all[number].as_ref().expect("active ones exist");
            let free = component.relaxation.free();
            match self.settings.response {
                Response::Relax => {
                    component
                        .relaxation
                        .step(x, &pulls, self.settings.stiffness, slots);
                }
                Response::Displace(share) => {
                    for (v, way) in (Targets { pulls }).displacements(&start, share) {
                        if !self.cloth.is_fixed[v as usize] {
                            x[v as usize] += way;
                        }
                    }
                }
            }
            for &v in free {
                let (from, to) = (start[v as usize], &mut x[v as usize]);
                *to = from + (*to - from).clamp_length_max(self.half_ring(v));
                if *to != from {
                    moving.push(v);
                }
            }
        }
        flush_tiny(x);
        moving.sort_unstable();
        report.seconds.forces += begun.elapsed().as_secs_f64();

        let begun = Clock::now();
        let permitted = Permitted::new(mesh, &tangles(mesh, analysis, self.settings.rings));
        report.held += prevent::keep_apart(collider, &start, x, &moving, &permitted);
        report.seconds.prevention += begun.elapsed().as_secs_f64();
    }

    /// What is left, by name.
    fn left(&self, x: &[DVec3], is_spent: bool) -> Result<Vec<Left>, MeshError> {
        let analysis = analyse(self.cloth.mesh, x, self.cloth.rest)?;
        let left = analysis.contours.iter().map(|contour| {
            let path = &analysis.paths[contour.paths.start as usize];
            let paths = contour.paths.clone().map(|p| &analysis.paths[p as usize]);
            let mut corners = paths
                .flat_map(|p| &p.faces)
                .flat_map(|&f| self.cloth.mesh.faces()[f as usize]);
            let is_fixed = corners.all(|v| self.cloth.is_fixed[v as usize]);
            Left {
                kind: contour.kind,
                segments: contour.segment_count,
                length: contour.length,
                faces: analysis.segments.segments[path.segments[0] as usize].faces,
                at: analysis.segments.position(x, path.points[0]).to_array(),
                reason: match (is_fixed, is_spent) {
                    (true, _) => Reason::Fixed,
                    (_, true) => Reason::StepsSpent,
                    _ => Reason::NothingHelps,
                },
            }
        });
        Ok(left.collect())
    }

    /// Half the mean edge at a vertex: no contour can leave its tangle within one step.
    fn half_ring(&self, v: u32) -> f64 {
        let faces = self.cloth.mesh.faces_of_vertex(v);
        let lengths = faces.iter().flat_map(|&f| {
            self.cloth
                .rest
                .lengths(self.cloth.mesh, self.cloth.shape, f)
        });
        0.5 * lengths.sum::<f64>() / (3 * faces.len()).max(1) as f64
    }
}
