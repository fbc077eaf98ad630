//! `percale view`: a page in the browser that plays a result folder, or shows meshes.

pub(crate) mod html;
pub(crate) mod server;
pub(crate) mod show;
pub(crate) mod touch;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use percale::io::write_atomically;

use crate::failure::Failure;
use crate::output::say;
use server::{Answer, Site};
use show::Show;

/// The page without its program; `viewer/` makes both.
const PAGE: &str = include_str!("../../viewer/page.html");
/// The program of the page.
const SCRIPT: &str = include_str!("../../viewer/dist/viewer.js");

/// Look at a result folder in the browser: play, scrub, colour by strain; also meshes, and runs that go on
#[derive(Debug, clap::Args)]
pub(crate) struct View {
    /// Result folder of `percale run`; or a mesh (.obj, .ply, .stl, also .gz); or two meshes: before and after
    #[arg(value_name = "DIR|MESH", required = true, num_args = 1..=2)]
    inputs: Vec<PathBuf>,
    /// Write one file that holds everything and opens offline, instead of serving a page
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Port on 127.0.0.1; 0 is any that is free
    #[arg(long, default_value_t = 0, conflicts_with = "html")]
    port: u16,
    /// Do not open a browser, only print the address
    #[arg(long, conflicts_with = "html")]
    no_open: bool,
}

impl View {
    pub(crate) fn run(&self) -> Result<ExitCode, Failure> {
        for input in &self.inputs {
            show::check_exists(input)?;
        }
        if let Some(file) = &self.html {
            crate::page::check_target("--html", file)?;
        }
        let mut show = Show::open(&self.inputs)?;
        if let Some(file) = &self.html {
            let text = html::write(&mut show)?;
            write_atomically(file, |out| out.write_all(text.as_bytes())).map_err(|error| {
                Failure::input(format!("cannot write {}: {error}", file.display()))
            })?;
            say!(
                "{}: {} frames, {:.1} MB",
                file.display(),
                show.frame_count(),
                text.len() as f64 / 1e6
            );
            return Ok(ExitCode::SUCCESS);
        }
        let listener = server::listen(self.port)?;
        let site: Arc<dyn Site> = Arc::new(Viewer(Mutex::new(show)));
        server::serve(&listener, &site, !self.no_open)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// The page, told where its frames come from, with something at its end.
pub(crate) fn page(feed: &str, end: &str) -> String {
    PAGE.replace(
        "<html lang=\"en\">",
        &format!("<html lang=\"en\" data-feed=\"{feed}\">"),
    )
    .replace("<!--percale-->", end)
}

/// The parts of the page that do not depend on what is shown.
pub(crate) fn fixed(name: &str, feed: &str) -> Option<Answer> {
    match name {
        "/" => Some(Answer::html(page(
            feed,
            "<script src=\"viewer.js\"></script>",
        ))),
        "/viewer.js" => Some(Answer::script(SCRIPT)),
        _ => None,
    }
}

struct Viewer(Mutex<Show>);

impl Site for Viewer {
    fn answer(&self, name: &str) -> Result<Option<Answer>, Failure> {
        if let Some(answer) = fixed(name, "view") {
            return Ok(Some(answer));
        }
        let mut show = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let number = |prefix: &str| -> Option<u64> {
            let digits = name.strip_prefix(prefix)?;
            let is_plain = digits.len() < 10 && digits.bytes().all(|b| b.is_ascii_digit());
            digits.parse().ok().filter(|_| is_plain)
        };
        let count = show.frame_count();
        let frame = |prefix: &str| number(prefix).filter(|&n| n < count);
        Ok(Some(if name == "/data/scene" {
            show.refresh();
            Answer::json(&show.meta())
        } else if name == "/data/faces" {
            Answer::bytes(show::face_bytes(show.mesh()))
        } else if let Some(n) = frame("/data/frame/") {
            Answer::bytes(show::position_bytes(&show.positions(n)?))
        } else if let Some(n) = frame("/data/touch/") {
            Answer::bytes(show.touch(n)?.to_bytes())
        } else if let Some(n) = frame("/data/paths/") {
            Answer::json(&show.paths(n)?)
        } else if let Some(have) = number("/data/news/") {
            show.refresh();
            Answer::json(&show.news(have as usize))
        } else {
            return Ok(None);
        }))
    }
}
