//! The last frames of recorded scenes on one sheet.

use std::path::Path;

use percale::io::write_atomically;
use percale::record::Recording;
use percale::render::contact_sheet;

use super::record::Record;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::render::stage::{Source, Stage};

/// Pixels of each picture.
const SIZE: [u32; 2] = [320, 240];

/// Draws the last frame of each scene that has a result folder; says which have none.
pub(super) fn draw(records: &[Record], folders: &Path, file: &Path) -> Result<(), Failure> {
    let progress = Progress::new("picture", records.len() as u64, 0);
    let mut pictures = Vec::new();
    for record in records {
        let name = record.short_name();
        match Recording::open(&folders.join(&name)) {
            Ok(recording) => {
                let last = recording.frame_count() - 1;
                let stage = Stage::new(Source::Recording(&recording), &[last], SIZE, None)?;
                pictures.push((format!("{name} {last}"), stage.draw(last)?));
            }
            Err(error) => progress.say(&format!("no picture of {name}: {error}")),
        }
        progress.add_one();
    }
    progress.finish();
    if pictures.is_empty() {
        let folders = folders.display();
        return Err(Failure::input(format!(
            "no result folder of these scenes in {folders}"
        )));
    }
    let columns = (pictures.len() as f64).sqrt().ceil() as usize;
    let sheet = contact_sheet(&pictures, columns);
    write_atomically(file, |out| sheet.write_png(out))
        .map_err(|error| Failure::input(format!("cannot write {}: {error}", file.display())))
}
