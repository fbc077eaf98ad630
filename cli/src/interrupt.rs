//! Ctrl-C: answered at once and obeyed after the piece of work at hand; a second one is obeyed at once.

use std::process::{self, ExitCode};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::Failure;
use crate::progress::Progress;

/// Exit code of a command that Ctrl-C has ended, as shells have it.
const CODE: u8 = 130;

/// Whether Ctrl-C was pressed.
#[derive(Clone)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Watches for Ctrl-C from now on; `piece` is what is finished after the first, `kept` says what is left after the second.
    pub(crate) fn watch(
        progress: &Progress,
        piece: &'static str,
        kept: &'static str,
    ) -> Result<Self, Failure> {
        let came = Arc::new(AtomicBool::new(false));
        let (flag, shown) = (Arc::clone(&came), progress.clone());
        ctrlc::set_handler(move || {
            if flag.swap(true, Ordering::SeqCst) {
                shown.say(&format!("stopped at once; {kept}"));
                process::exit(i32::from(CODE));
            }
            shown.say(&format!(
                "stopping after this {piece}; press Ctrl-C again to stop now"
            ));
        })?;
        Ok(Self(came))
    }

    /// Whether to stop.
    pub(crate) fn came(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// What a command returns that has stopped.
    pub(crate) fn code() -> ExitCode {
        ExitCode::from(CODE)
    }
}
