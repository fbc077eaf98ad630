//! Methods side by side, from the same states.
//!
//! Internal: may change without notice. Open for the command line.
//!
//! The first method makes the frames. Every other one starts each frame from the state that the
//! first had, so that one frame with the one and with the other differ by the method alone, and not
//! by what went before (the comparison of Sifakis §6 \[SMT08\]); only the length of its next
//! interval is every method's own, the first one's too. Or, apart, every method goes its
//! own way from the first frame: then pictures differ too.

use std::ops::ControlFlow;

use glam::DVec3;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::error::StartError;
use crate::step::{Figures, Simulation};

/// A method: its name and its simulation at the start of the same scene.
pub struct Method {
    /// Name, for tables.
    pub name: String,
    /// The scene with this method's settings.
    pub simulation: Simulation,
}

/// One frame of one method.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// Whether the method gave up before the end of the frame; the figures are then empty, but for
    /// its number.
    pub failed: bool,
    /// What happened in it.
    pub figures: Figures,
    /// Distance of its end from that of the first method, in metres: root of the mean square over all vertices.
    pub from_first: f64,
}

/// All frames of one method.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// Name of the method.
    pub name: String,
    /// Sum of the frames that it did not give up.
    pub figures: Figures,
    /// Each frame.
    pub frames: Vec<Frame>,
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
) -> Result<Vec<Compared>, StartError> {
    let count = methods.len() as f64;
    let mut compared: Vec<Compared> = methods
        .iter()
        .map(|method| Compared::new(&method.name))
        .collect();
    // each method remembers the length of its own intervals, as it would in a run of its own
    let longest: Vec<u64> = methods
        .iter()
        .map(|method| method.simulation.checkpoint().interval)
        .collect();
    let mut next = longest.clone();
    for frame in 1..=frames {
        let done = |method: usize, share: f64| (frame - 1) as f64 + (method as f64 + share) / count;
        let mut start = methods[0].simulation.checkpoint();
        let first = &mut methods[0].simulation;
        let stepped = first.step_with(&mut |share| progress(done(0, share)));
        let stopped = stepped.is_err();
        compared[0].add(frame, stepped.ok());
        for (i, method) in methods.iter_mut().enumerate().skip(1) {
            if !apart {
                start.interval = next[i];
                method.simulation.restore(start.clone())?;
            }
            let stepped = method
                .simulation
                .step_with(&mut |share| progress(done(i, share)));
            next[i] = match &stepped {
                Ok(_) => method.simulation.checkpoint().interval,
                Err(_) => longest[i], // from another state, nothing is known
            };
            compared[i].add(frame, stepped.ok());
        }
        let states: Vec<&[DVec3]> = methods
            .iter()
            .map(|method| method.simulation.state().positions())
            .collect();
        for (compared, x) in compared.iter_mut().zip(&states) {
            if let Some(frame) = compared.frames.last_mut().filter(|frame| !frame.failed) {
                frame.from_first = rms_distance(states[0], x);
            }
        }
        if seen(frame, &states).is_break() || stopped && !apart {
            break; // stopped: nobody makes the next frame
        }
    }
    Ok(compared)
}

impl Frame {
    /// Mean length of its accepted intervals, in frames: time between successful resolutions; 0 if
    /// it was given up.
    pub fn mean_interval(&self) -> f64 {
        mean_interval(usize::from(!self.failed), &self.figures)
    }
}

impl Compared {
    fn new(name: &str) -> Self {
        Self {
            name: name.into(),
            figures: Figures::default(),
            frames: Vec::new(),
        }
    }

    fn add(&mut self, frame: u64, report: Option<Figures>) {
        let failed = report.is_none();
        let number = || Figures {
            frame,
            ..Figures::default()
        };
        let figures = report.unwrap_or_else(number);
        self.figures += &figures;
        self.frames.push(Frame {
            failed,
            figures,
            from_first: 0.0,
        });
    }

    /// Frames that it gave up.
    pub fn failed_frames(&self) -> usize {
        self.frames.iter().filter(|frame| frame.failed).count()
    }

    /// Mean length of an accepted interval, in frames.
    pub fn mean_interval(&self) -> f64 {
        mean_interval(self.frames.len() - self.failed_frames(), &self.figures)
    }

    /// Distance of its ends from those of the first method, in metres: root of the mean square over all frames.
    pub fn from_first(&self) -> f64 {
        let squares = self.frames.iter().map(|frame| frame.from_first.powi(2));
        (squares.sum::<f64>() / self.frames.len().max(1) as f64).sqrt()
    }

    /// Processor time of all frames, in seconds.
    pub fn seconds(&self) -> f64 {
        1e-3 * self.figures.phases.total_ms()
    }
}

fn rms_distance(a: &[DVec3], b: &[DVec3]) -> f64 {
    let squares = a.iter().zip(b).map(|(a, b)| a.distance_squared(*b));
    (squares.sum::<f64>() / a.len().max(1) as f64).sqrt()
}

fn mean_interval(frames: usize, figures: &Figures) -> f64 {
    match figures.intervals {
        0 => 0.0,
        intervals => frames as f64 / intervals as f64,
    }
}

impl Serialize for Frame {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("frame", &self.figures.frame)?;
        map.serialize_entry("failed", &self.failed)?;
        map.serialize_entry("calls", &self.figures.calls())?;
        write_figures(&mut map, self.mean_interval(), &self.figures)?;
        map.serialize_entry("rms_from_first", &self.from_first)?;
        map.end()
    }
}

impl Serialize for Compared {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &self.name)?;
        map.serialize_entry("failed_frames", &self.failed_frames())?;
        map.serialize_entry("seconds", &self.seconds())?;
        write_figures(&mut map, self.mean_interval(), &self.figures)?;
        map.serialize_entry("rms_from_first", &self.from_first())?;
        map.serialize_entry("frames", &self.frames)?;
        map.end()
    }
}

/// What methods are compared by.
fn write_figures<M: SerializeMap>(
    map: &mut M,
    mean_interval: f64,
    figures: &Figures,
) -> Result<(), M::Error> {
    map.serialize_entry("mean_interval", &mean_interval)?;
    map.serialize_entry("pairs_per_call", &figures.pairs_per_call())?;
    map.serialize_entry("retries", &figures.retries)?;
    map.serialize_entry("failsafes", &figures.failsafe_count())?;
    map.serialize_entry("intersections", &figures.intersections)?;
    map.serialize_entry("energy_lost", &figures.energy_lost())?;
    map.serialize_entry("sliding_kept", &figures.sliding_kept())?;
    if figures.constraints.rounds > 0 {
        map.serialize_entry("constraints", &figures.constraints)?;
    }
    map.serialize_entry("phases", &figures.phases)
}
