//! Ctrl-C, and what asks a process to end: answered at once and obeyed after the piece of work at hand; a second one is obeyed at once.

use std::io::{self, Read as _};
use std::process::{self, ExitCode};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use crate::failure::Failure;
use crate::progress::Progress;

/// Exit code of a command that Ctrl-C has ended, as shells have it.
const CODE: u8 = 130;

/// Whether Ctrl-C was pressed.
#[derive(Clone)]
pub(crate) struct Interrupt {
    came: Arc<AtomicBool>,
    /// What is on the screen.
    shown: Arc<Mutex<Option<Progress>>>,
}

impl Interrupt {
    /// Watches for Ctrl-C from now on; `piece` is what is finished after the first, `kept` says what is left after the second.
    pub(crate) fn watch(
        progress: &Progress,
        piece: &'static str,
        kept: &'static str,
    ) -> Result<Self, Failure> {
        let interrupt = Self::watch_unshown(piece, kept)?;
        interrupt.shows(progress);
        Ok(interrupt)
    }

    /// The same before there is anything to show.
    pub(crate) fn watch_unshown(piece: &'static str, kept: &'static str) -> Result<Self, Failure> {
        let interrupt = Self {
            came: Arc::default(),
            shown: Arc::default(),
        };
        let Self { came, shown } = interrupt.clone();
        let say = move |text: &str| match &*shown.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(progress) => progress.say(text),
            None => eprintln!("{text}"),
        };
        ctrlc::set_handler(move || {
            if came.swap(true, Ordering::SeqCst) {
                say(&format!("stopped at once; {kept}"));
                process::exit(i32::from(CODE));
            }
            say(&format!(
                "stopping after this {piece}; press Ctrl-C again to stop now"
            ));
        })?;
        Ok(interrupt)
    }

    /// The end of standard input is a reason to stop too: whoever holds the other end has gone, or wants it.
    pub(crate) fn comes_with_the_end_of_input(&self) {
        let came = Arc::clone(&self.came);
        thread::spawn(move || {
            // what comes is nothing to us, and an error is an end
            let _ = io::copy(&mut io::stdin().lock().take(u64::MAX), &mut io::sink());
            came.store(true, Ordering::SeqCst);
        });
    }

    /// From now on this is on the screen.
    pub(crate) fn shows(&self, progress: &Progress) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        *shown = Some(progress.clone());
    }

    /// Whether to stop.
    pub(crate) fn came(&self) -> bool {
        self.came.load(Ordering::SeqCst)
    }

    /// What a command returns that has stopped.
    pub(crate) fn code() -> ExitCode {
        ExitCode::from(CODE)
    }
}
