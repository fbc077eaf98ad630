//! Results on stdout.

use std::fmt::Arguments;
use std::io::{self, ErrorKind, Write as _};
use std::process;

/// Writes a result to stdout.
///
/// A reader that has closed its end (`percale scenes | head -3`) has seen enough: the work goes on, in silence. Anything else, such as a full
/// disk, ends the program with code 2, since the result is lost.
pub(crate) fn write(text: Arguments<'_>) {
    let mut out = io::stdout().lock();
    match out.write_fmt(text).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            eprintln!("error: cannot write to the standard output: {error}");
            process::exit(2);
        }
        _ => {}
    }
}

/// `println!` for results, see [`write`].
macro_rules! say {
    ($($text:tt)*) => {
        $crate::output::write(format_args!("{}\n", format_args!($($text)*)))
    };
}
pub(crate) use say;
