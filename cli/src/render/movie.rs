//! MP4 files, written by ffmpeg if there is one.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{self, Child, Command, Stdio};

use percale::render::Image;

use crate::failure::Failure;

/// A movie being written: raw pixels go to ffmpeg's standard input, and the file appears when it is whole.
pub(crate) struct Movie {
    file: PathBuf,
    draft: PathBuf,
    ffmpeg: Child,
}

impl Movie {
    /// Starts ffmpeg; an existing file is replaced at the end.
    pub(crate) fn new(file: &Path, [width, height]: [u32; 2], fps: f64) -> Result<Self, Failure> {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let draft = file.with_file_name(format!(".{name}.{}.part", process::id()));
        let ffmpeg = Command::new("ffmpeg")
            .args(["-hide_banner", "-loglevel", "error", "-y"])
            .args(["-f", "rawvideo", "-pix_fmt", "rgb24"])
            .args(["-s", &format!("{width}x{height}"), "-r", &fps.to_string(), "-i", "-"])
            // players want even sizes and halved colours
            .args(["-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p"])
            .args(["-c:v", "libx264", "-crf", "18", "-movflags", "+faststart"])
            .args(["-f", "mp4"])
            .arg(&draft)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => Failure::input(
                    "--mp4 needs ffmpeg, which was not found; install it, or write a GIF with --gif",
                ),
                _ => Failure::input(format!("ffmpeg could not be started: {error}")),
            })?;
        Ok(Self {
            file: file.into(),
            draft,
            ffmpeg,
        })
    }

    /// Appends a frame.
    pub(crate) fn push(&mut self, image: &Image) -> Result<(), Failure> {
        let pipe = self
            .ffmpeg
            .stdin
            .as_mut()
            .expect("piped above, taken only by finish");
        match pipe.write_all(image.pixels().as_flattened()) {
            Ok(()) => Ok(()),
            Err(_) => Err(self.failure()), // it has ended, and has said why
        }
    }

    /// Ends the file.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        drop(self.ffmpeg.stdin.take());
        match self.ffmpeg.wait() {
            Ok(status) if status.success() => {
                fs::rename(&self.draft, &self.file).map_err(|_| self.failure())
            }
            _ => Err(self.failure()),
        }
    }

    fn failure(&self) -> Failure {
        Failure::input(format!(
            "ffmpeg could not write {} (its message is above); try a file name that ends in .mp4, \
             an ffmpeg with libx264, or --gif",
            self.file.display()
        ))
    }
}

/// A movie that was not finished leaves nothing.
impl Drop for Movie {
    fn drop(&mut self) {
        // after `finish` all of these have nothing to do
        let _ = self.ffmpeg.kill();
        let _ = self.ffmpeg.wait();
        let _ = fs::remove_file(&self.draft);
    }
}
