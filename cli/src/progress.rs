//! How far a long piece of work is: a bar on a terminal, a line now and then where nobody looks (log files, CI).

use std::io::{self, IsTerminal};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressState, ProgressStyle};

/// Between two lines of a log.
const EVERY: Duration = Duration::from_secs(10);
/// Steps of the bar for one piece of work.
const PARTS: f64 = 1000.0;

/// Work in pieces (frames, pictures) of which some may be done before it begins.
#[derive(Clone)]
pub(crate) struct Progress(Arc<Shared>);

struct Shared {
    work: Work,
    begun: Instant,
    bar: ProgressBar,
    log: Option<Mutex<Log>>,
}

/// What there is to do.
#[derive(Clone, Copy)]
struct Work {
    /// What a piece is called.
    piece: &'static str,
    count: f64,
    /// Pieces that were done before, by an earlier run.
    first: f64,
}

/// What has been written to a log.
#[derive(Default)]
struct Log {
    done: f64,
    /// When the last line was written.
    last: Option<Duration>,
}

impl Progress {
    /// Shows `count` pieces of which `first` are done.
    pub(crate) fn new(piece: &'static str, count: u64, first: u64) -> Self {
        let work = Work {
            piece,
            count: count as f64,
            first: first as f64,
        };
        let is_terminal = io::stderr().is_terminal();
        let bar = if is_terminal {
            ProgressBar::new((PARTS * work.count) as u64)
        } else {
            ProgressBar::hidden()
        };
        let style = ProgressStyle::with_template("{bar:40} {line}  {msg}")
            .expect("the template is well formed")
            .with_key(
                "line",
                move |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                    let line = work.line(state.pos() as f64 / PARTS, state.elapsed());
                    let _ = out.write_str(&line); // a line that cannot be drawn is not missed
                },
            );
        bar.set_style(style);
        bar.set_position((PARTS * work.first) as u64);
        bar.enable_steady_tick(Duration::from_millis(200));
        Self(Arc::new(Shared {
            work,
            begun: Instant::now(),
            bar,
            log: (!is_terminal).then(|| {
                Mutex::new(Log {
                    done: work.first,
                    last: None,
                })
            }),
        }))
    }

    /// So much is done, in pieces and parts of them.
    pub(crate) fn at(&self, done: f64) {
        let Shared {
            work,
            begun,
            bar,
            log,
        } = &*self.0;
        bar.set_position((PARTS * done) as u64);
        if let Some(log) = log {
            let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(line) = log.line(work, done, begun.elapsed()) {
                eprintln!("{line}");
            }
        }
    }

    /// One more piece is done.
    pub(crate) fn add_one(&self) {
        let bar = &self.0.bar;
        let before = match &self.0.log {
            Some(log) => log.lock().unwrap_or_else(PoisonError::into_inner).done,
            None => bar.position() as f64 / PARTS,
        };
        self.at((before + 1.0).round());
    }

    /// What stands behind the bar.
    pub(crate) fn note(&self, text: String) {
        self.0.bar.set_message(text);
    }

    /// A line on stderr that the bar does not draw over.
    pub(crate) fn say(&self, text: &str) {
        self.aside(|| eprintln!("{text}"));
    }

    /// Something is printed while the bar is away.
    pub(crate) fn aside(&self, print: impl FnOnce()) {
        self.0.bar.suspend(print);
    }

    /// Takes the bar away; a log that has lines gets a last one.
    pub(crate) fn finish(&self) {
        let is_long = |log: &Log| log.last.is_some();
        self.finish_if(is_long);
    }

    /// Takes the bar away; a log gets a last line in any case.
    pub(crate) fn finish_with_line(&self) {
        self.finish_if(|_| true);
    }

    fn finish_if(&self, wants_line: fn(&Log) -> bool) {
        let Shared {
            work,
            begun,
            bar,
            log,
        } = &*self.0;
        bar.finish_and_clear();
        if let Some(log) = log {
            let log = log.lock().unwrap_or_else(PoisonError::into_inner);
            if wants_line(&log) {
                eprintln!("{}", work.line(log.done, begun.elapsed()));
            }
        }
    }
}

impl Log {
    /// The line that is due, if one is.
    fn line(&mut self, work: &Work, done: f64, elapsed: Duration) -> Option<String> {
        self.done = done;
        // the end has a line of its own
        let is_due = elapsed >= self.last.unwrap_or_default() + EVERY && done < work.count;
        is_due.then(|| {
            self.last = Some(elapsed);
            work.line(done, elapsed)
        })
    }
}

impl Work {
    /// `frame 12.4 of 120, 0:31 gone, 4:29 to go`.
    fn line(&self, done: f64, elapsed: Duration) -> String {
        let Self { piece, count, .. } = self;
        let shown = (10.0 * done).floor() / 10.0; // the last piece is not done before it is
        let gone = clock(elapsed);
        let to_go = match self.left(done, elapsed) {
            Some(Duration::ZERO) => String::new(),
            Some(left) => format!(", {} to go", clock(left)),
            None => ", ? to go".into(),
        };
        format!("{piece} {shown} of {count}, {gone} gone{to_go}")
    }

    /// What is left at the pace so far; what was done before this began does not count.
    fn left(&self, done: f64, elapsed: Duration) -> Option<Duration> {
        let (own, left) = (done - self.first, self.count - done);
        if left <= 0.0 {
            return Some(Duration::ZERO);
        }
        Duration::try_from_secs_f64(elapsed.as_secs_f64() * left / own).ok()
    }
}

/// `4:05`, or `1:04:05` from an hour on.
fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    let seconds = seconds % 60;
    if hours > 0 {
        format!("{hours}:{minutes:02}:{seconds:02}")
    } else {
        format!("{minutes}:{seconds:02}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORK: Work = Work {
        piece: "frame",
        count: 120.0,
        first: 0.0,
    };

    #[test]
    fn what_is_left_is_known_from_the_first_part_of_a_frame_on() {
        let line = |done, seconds| WORK.line(done, Duration::from_secs(seconds));
        assert_eq!(line(0.0, 3), "frame 0 of 120, 0:03 gone, ? to go");
        assert_eq!(line(0.25, 5), "frame 0.2 of 120, 0:05 gone, 39:55 to go");
        assert_eq!(
            line(60.0, 4000),
            "frame 60 of 120, 1:06:40 gone, 1:06:40 to go"
        );
        assert_eq!(
            line(119.97, 60),
            "frame 119.9 of 120, 1:00 gone, 0:00 to go"
        );
        assert_eq!(line(120.0, 61), "frame 120 of 120, 1:01 gone");
    }

    #[test]
    fn frames_of_an_earlier_run_do_not_count() {
        let resumed = Work {
            first: 100.0,
            ..WORK
        };
        // ten of the twenty that were left have taken a minute
        let line = resumed.line(110.0, Duration::from_secs(60));
        assert_eq!(line, "frame 110 of 120, 1:00 gone, 1:00 to go");
        assert!(
            resumed
                .line(100.0, Duration::from_secs(9))
                .ends_with("? to go")
        );
    }

    #[test]
    fn a_log_gets_a_line_every_ten_seconds_at_most() {
        let mut log = Log::default();
        let lines: Vec<u64> = (0..=35)
            .filter(|&s| log.line(&WORK, s as f64, Duration::from_secs(s)).is_some())
            .collect();
        assert_eq!(lines, [10, 20, 30]);
    }
}
