//! How a command fails: a message and an exit code.

use std::error::Error;
use std::fmt;
use std::process::ExitCode;

/// A message for people, and the exit code (README).
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    code: u8,
}

impl Failure {
    /// Could not start: bad usage, bad input, a start that cannot be accepted.
    pub(crate) fn input(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            code: 2,
        }
    }

    /// Stopped on the way; what was done before is intact.
    pub(crate) fn stopped(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            code: 1,
        }
    }

    /// Ended by Ctrl-C; says what is left.
    pub(crate) fn interrupted(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            code: 130,
        }
    }

    /// Tells people, on stderr.
    pub(crate) fn report(&self) {
        match self.code {
            130 => eprintln!("{self}"),
            _ => eprintln!("error: {self}"),
        }
    }

    /// The process's exit code.
    pub(crate) fn code(&self) -> ExitCode {
        ExitCode::from(self.code)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Errors of the library before anything has run are bad input; later ones say so with [`Failure::stopped`].
impl<E: Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::input(error.to_string())
    }
}
