//! A picture of each recorded scene: all on one sheet, or each in a file of its own beside a page that shows them.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use percale::io::write_atomically;
use percale::record::Recording;
use percale::render::{Image, contact_sheet};
use percale::scene::{BUILTIN, Scene};

use super::record::Record;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::render::stage::{Source, Stage};
use crate::render::{cannot_write, save};

/// Pixels of each picture on the sheet.
const SIZE: [u32; 2] = [320, 240];
/// Pixels of each picture of the gallery.
const GALLERY_SIZE: [u32; 2] = [640, 480];

/// Draws the poster of each scene on one sheet.
pub(super) fn draw(records: &[Record], folders: &Path, file: &Path) -> Result<(), Failure> {
    let mut pictures = Vec::new();
    each_poster(records, folders, SIZE, |record, frame, image| {
        pictures.push((format!("{} {frame}", record.short_name()), image));
        Ok(())
    })?;
    let columns = (pictures.len() as f64).sqrt().ceil() as usize;
    save(&contact_sheet(&pictures, columns), file)
}

/// Writes `README.md` into a folder, and the posters that it shows: each with its purpose, its size and the command that makes it.
pub(super) fn gallery(records: &[Record], folders: &Path, target: &Path) -> Result<(), Failure> {
    fs::create_dir_all(target).map_err(|error| cannot_write(target, &error))?;
    let mut page = String::from(
        "# Gallery\n\nEvery built-in scene, from its result folder. Made by `percale bench scenes` and `percale bench scenes --gallery docs/gallery`.\n",
    );
    each_poster(records, folders, GALLERY_SIZE, |record, frame, image| {
        let name = record.short_name();
        save(&image, &target.join(format!("{name}.png")))?;
        page += &entry(&name, record, frame);
        Ok(())
    })?;
    let file = target.join("README.md");
    write_atomically(&file, |out| out.write_all(page.as_bytes()))
        .map_err(|error| cannot_write(&file, &error))
}

/// Calls for each scene that has a result folder; says which have none.
fn each_poster(
    records: &[Record],
    folders: &Path,
    size: [u32; 2],
    mut use_it: impl FnMut(&Record, u64, Image) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let progress = Progress::new("picture", records.len() as u64, 0);
    let mut count = 0;
    for record in records {
        let name = record.short_name();
        match Recording::open(&folders.join(&name)) {
            Ok(recording) => {
                let last = recording.frame_count() - 1;
                // the scene as it is now: another poster is no other run
                let scene = Scene::load(&record.name).ok();
                let poster = scene.and_then(|scene| scene.poster);
                let frame = poster.unwrap_or(last).min(last);
                let stage = Stage::new(Source::Recording(&recording), &[frame], size, None)?;
                use_it(record, frame, stage.draw(frame)?)?;
                count += 1;
            }
            Err(error) => progress.say(&format!("no picture of {name}: {error}")),
        }
        progress.add_one();
    }
    progress.finish();
    if count == 0 {
        let folders = folders.display();
        let message = format!("no result folder of these scenes in {folders}");
        return Err(Failure::input(message));
    }
    Ok(())
}

fn entry(name: &str, record: &Record, frame: u64) -> String {
    let text = BUILTIN.iter().find(|(builtin, _)| *builtin == record.name);
    let comments = text.map_or("", |(_, text)| text).lines();
    let purpose: Vec<&str> = comments.map_while(|line| line.strip_prefix("# ")).collect();
    let mut entry = format!("\n## {name}\n\n![{name}]({name}.png)\n\n");
    let _ = write!(
        entry,
        "{}\n\n`percale run {}`: {} vertices, {} frames; this is frame {frame}.\n",
        purpose.join("\n"),
        record.name,
        record.vertices,
        record.frames_done
    );
    entry
}
