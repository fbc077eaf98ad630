//! A scene run into a result folder, for programs; `percale run` does the same with a progress bar.

use std::ops::ControlFlow;
use std::path::Path;

use super::holding::Holding;
use super::{ResultError, ResultFolder, Stopped, Summary, checkpoint};
use crate::error::StartError;
use crate::scene::Scene;
use crate::step::{Figures, Simulation};
use crate::verify::audit;

/// What becomes of an earlier result in the folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Earlier {
    /// There may be none.
    #[default]
    Refuse,
    /// It is replaced.
    Replace,
    /// It is continued; there must be one.
    Resume,
    /// It is continued if there is one.
    ResumeIfAny,
}

/// Why a run cannot begin or go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The folder.
    #[error(transparent)]
    Result(#[from] ResultError),
    /// The checkpoint of the folder does not fit the scene.
    #[error(transparent)]
    Start(#[from] StartError),
}

/// Runs a simulation that stands at its start into a folder, up to a frame, or to where it stops, or until `each` breaks off: it is
/// told every frame. `report.json` is written in any case; a run that was broken off can be continued to the same bits.
///
/// # Errors
/// The folder cannot be written or continued. A run that stops on the way is none: [`Summary::stopped`] says why.
pub fn run(
    scene: &Scene,
    simulation: &mut Simulation,
    path: &Path,
    frames: u64,
    earlier: Earlier,
    each: &mut dyn FnMut(&Simulation, &Figures) -> ControlFlow<()>,
) -> Result<Summary, RunError> {
    let is_force = earlier == Earlier::Replace;
    let resumes = match earlier {
        Earlier::Refuse | Earlier::Replace => false,
        Earlier::Resume => true,
        // a run that was killed before its start was stored left nothing to go on from
        Earlier::ResumeIfAny => {
            Holding::of(path)? == Holding::Result && checkpoint::path_in(path).exists()
        }
    };
    let mut folder = if resumes {
        let mesh = simulation.state().mesh();
        let (folder, checkpoint) = ResultFolder::resume(path, scene, mesh)?;
        simulation.restore(checkpoint)?;
        folder
    } else {
        let is_force = is_force || earlier == Earlier::ResumeIfAny;
        let (state, checkpoint) = (simulation.state(), simulation.checkpoint());
        ResultFolder::create(path, scene, state, &checkpoint, is_force)?
    };
    let mut stopped = None;
    while simulation.frame() < frames {
        let report = match simulation.step() {
            Ok(report) => report,
            Err(error) => {
                stopped = Some(Stopped::new(simulation.frame() + 1, &error));
                break;
            }
        };
        let told = each(simulation, &report);
        folder.push(simulation.state(), report, &simulation.checkpoint())?;
        if told.is_break() {
            break;
        }
    }
    let state = simulation.state();
    let crossings = audit::obstacle_crossings(state.mesh(), state.positions()).len();
    Ok(folder.finish(crossings, stopped)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Recording, pack, unpack};

    fn small() -> Scene {
        let small = [
            ("cloth.0.shape.cells", "[4, 4]"),
            ("obstacle.0.shape.subdivisions", "0"),
        ];
        Scene::load("drop").unwrap().set_all(small).unwrap()
    }

    fn whole(scene: &Scene, path: &Path, frames: u64, earlier: Earlier) -> Summary {
        let mut simulation = scene.build().unwrap();
        let each = &mut |_: &Simulation, _: &Figures| ControlFlow::Continue(());
        run(scene, &mut simulation, path, frames, earlier, each).unwrap()
    }

    #[test]
    fn a_run_that_was_broken_off_goes_on_to_the_same_bits() {
        let (scene, folder) = (small(), tempfile::tempdir().unwrap());
        let [a, b] = ["a", "b"].map(|name| folder.path().join(name));
        let at_once = whole(&scene, &a, 4, Earlier::Refuse);
        let mut simulation = scene.build().unwrap();
        let each = &mut |s: &Simulation, _: &Figures| match s.frame() {
            2 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        };
        let part = run(&scene, &mut simulation, &b, 4, Earlier::ResumeIfAny, each).unwrap();
        assert_eq!(part.frames, 2);
        let rest = whole(&scene, &b, 4, Earlier::ResumeIfAny);
        assert_eq!((rest.frames, rest.hash), (4, at_once.hash));
        assert!(Recording::open(&b).unwrap().summary().is_some());
    }

    #[test]
    fn a_checkpoint_is_of_one_scene_and_whole() {
        let scene = small();
        let mut simulation = scene.build().unwrap();
        simulation.step().unwrap();
        let checkpoint = simulation.checkpoint();
        let count = checkpoint.x.len();
        let mut bytes = pack(&checkpoint, &scene);
        assert_eq!(unpack(&bytes, &scene, count).unwrap(), checkpoint);
        let other = scene.clone().set("friction", 0.7).unwrap();
        let message = unpack(&bytes, &other, count).unwrap_err().to_string();
        assert!(message.contains("another scene"), "{message}");
        bytes[40] ^= 1;
        let message = unpack(&bytes, &scene, count).unwrap_err().to_string();
        assert!(message.contains("damaged"), "{message}");
    }
}
