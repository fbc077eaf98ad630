//! Methods side by side, from the same states.
//!
//! Internal: may change without notice. Open for the command line.
//!
//! The first method makes the frames. Every other one starts each frame from the state that the
//! first had, so that one frame with the one and with the other differ by the method alone, and not
//! by what went before (the comparison of Sifakis §4 \[SMT08\]). Or, apart, every method goes its
//! own way from the first frame: then pictures differ too.

use std::ops::ControlFlow;

use glam::DVec3;
use serde::Serialize;

use crate::error::StartError;
use crate::step::{FrameReport, Phases, Simulation};

/// A method: its name and its simulation at the start of the same scene.
pub struct Method {
    /// Name, for tables.
    pub name: String,
    /// The scene with this method's settings.
    pub simulation: Simulation,
}

/// One frame of one method.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Frame {
    /// Number of the frame, from 1.
    pub frame: u64,
    /// Whether the method gave up before the end of the frame; the figures below are then empty.
    pub failed: bool,
    /// Mean length of its accepted intervals, in frames: time between successful resolutions.
    pub mean_interval: f64,
    /// Pairs handed to a stage, per call.
    pub pairs_per_call: f64,
    /// Calls of stages.
    pub calls: usize,
    /// Refused attempts.
    pub retries: usize,
    /// Intervals in which a fail-safe had to act.
    pub failsafes: usize,
    /// Crossing face pairs at its end, by the auditor.
    pub intersections: usize,
    /// Kinetic energy of the mean motion that repulsions and stages took, summed over the
    /// intervals, in joules: a load at rest, whose fall every interval proposes anew, counts again
    /// and again.
    pub energy_lost: f64,
    /// Share of the sliding at impacts that is left; none without impacts.
    pub sliding_kept: Option<f64>,
    /// Processor time by phase.
    pub phases: Phases,
}

/// All frames of one method, with their totals.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// Name of the method.
    pub name: String,
    /// Frames that it gave up.
    pub failed_frames: usize,
    /// Mean length of an accepted interval, in frames.
    pub mean_interval: f64,
    /// Processor time of all frames, in seconds.
    pub seconds: f64,
    /// Processor time by phase, of all frames.
    pub phases: Phases,
    /// Pairs handed to a stage, per call.
    pub pairs_per_call: f64,
    /// Intervals in which a fail-safe had to act.
    pub failsafes: usize,
    /// Refused attempts.
    pub retries: usize,
    /// Crossing face pairs at the ends of all frames.
    pub intersections: usize,
    /// Kinetic energy of the mean motion that repulsions and stages took, summed over the
    /// intervals, in joules: a load at rest, whose fall every interval proposes anew, counts again
    /// and again.
    pub energy_lost: f64,
    /// Share of the sliding at impacts that is left; none without impacts.
    pub sliding_kept: Option<f64>,
    /// Each frame.
    pub frames: Vec<Frame>,
    #[serde(skip)]
    sums: Sums,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Sums {
    intervals: usize,
    pairs: usize,
    calls: usize,
    slid: f64,
    slide_wanted: f64,
}

/// Runs methods side by side for a number of frames; `seen` gets each frame's number and the
/// positions of every method, and may end it there; `progress` is told how many frames are done, in
/// parts of frames.
///
/// With `apart` they do not start each frame from the same state. A method that fails a frame
/// starts the next one from the first method's state; apart, it stays where it is and fails again.
///
/// # Errors
/// A state of the first method is no start for another one: they do not run the same scene.
pub fn compare(
    methods: &mut [Method],
    frames: u64,
    apart: bool,
    progress: &mut (dyn FnMut(f64) + Send),
    mut seen: impl FnMut(u64, &[&[DVec3]]) -> ControlFlow<()>,
) -> Result<Vec<Figures>, StartError> {
    let count = methods.len() as f64;
    let mut figures: Vec<Figures> = methods
        .iter()
        .map(|method| Figures::new(&method.name))
        .collect();
    let longest: Vec<u64> = methods
        .iter()
        .map(|method| method.simulation.checkpoint().interval)
        .collect();
    for frame in 1..=frames {
        let done = |method: usize, share: f64| (frame - 1) as f64 + (method as f64 + share) / count;
        let mut start = methods[0].simulation.checkpoint();
        let first = &mut methods[0].simulation;
        let stepped = first.step_with(&mut |share| progress(done(0, share)));
        let stopped = stepped.is_err();
        figures[0].add(frame, stepped.ok());
        for (i, method) in methods.iter_mut().enumerate().skip(1) {
            if !apart {
                start.interval = longest[i];
                method.simulation.restore(start.clone())?;
            }
            let stepped = method
                .simulation
                .step_with(&mut |share| progress(done(i, share)));
            figures[i].add(frame, stepped.ok());
        }
        let states: Vec<&[DVec3]> = methods
            .iter()
            .map(|method| method.simulation.state().positions())
            .collect();
        if seen(frame, &states).is_break() || stopped && !apart {
            break; // stopped: nobody makes the next frame
        }
    }
    Ok(figures)
}

impl Figures {
    fn new(name: &str) -> Self {
        Self {
            name: name.into(),
            failed_frames: 0,
            mean_interval: 0.0,
            seconds: 0.0,
            phases: Phases::default(),
            pairs_per_call: 0.0,
            failsafes: 0,
            retries: 0,
            intersections: 0,
            energy_lost: 0.0,
            sliding_kept: None,
            frames: Vec::new(),
            sums: Sums::default(),
        }
    }

    fn add(&mut self, frame: u64, report: Option<FrameReport>) {
        let failed = report.is_none();
        let report = report.unwrap_or_default();
        let pairs = report.impacts.vertex_face + report.impacts.edge_edge;
        let calls: usize = report.rounds.values().sum();
        let share = |part: f64, whole: f64| (whole > 0.0).then(|| part / whole);
        let each = Frame {
            frame,
            failed,
            mean_interval: share(1.0, report.intervals as f64).unwrap_or_default(),
            pairs_per_call: share(pairs as f64, calls as f64).unwrap_or_default(),
            calls,
            retries: report.retries,
            failsafes: report.failsafes.values().sum(),
            intersections: report.intersections,
            energy_lost: report.energy_lost(),
            sliding_kept: share(report.slid, report.slide_wanted),
            phases: report.phases,
        };
        self.failed_frames += usize::from(failed);
        self.seconds += 1e-3 * each.phases.total_ms();
        let sum = &mut self.phases;
        sum.propose_ms += each.phases.propose_ms;
        sum.repel_ms += each.phases.repel_ms;
        sum.respond_ms += each.phases.respond_ms;
        sum.accept_ms += each.phases.accept_ms;
        sum.audit_ms += each.phases.audit_ms;
        sum.wall_ms += each.phases.wall_ms;
        self.failsafes += each.failsafes;
        self.retries += each.retries;
        self.intersections += each.intersections;
        self.energy_lost += each.energy_lost;

        let sums = &mut self.sums;
        sums.intervals += report.intervals;
        sums.pairs += pairs;
        sums.calls += calls;
        sums.slid += report.slid;
        sums.slide_wanted += report.slide_wanted;
        let done = self.frames.len() + 1 - self.failed_frames;
        self.mean_interval = share(done as f64, sums.intervals as f64).unwrap_or_default();
        self.pairs_per_call = share(sums.pairs as f64, sums.calls as f64).unwrap_or_default();
        self.sliding_kept = share(sums.slid, sums.slide_wanted);
        self.frames.push(each);
    }
}
