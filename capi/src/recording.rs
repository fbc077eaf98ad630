//! Result folders that are read.

use std::ffi::c_char;
use std::path::Path;

use percale::record::Recording;

use crate::border::{Handles, Refusal, Status, call, give_text, out, text};

static RECORDINGS: Handles<Recording> = Handles::new();

/// See `percale.h`.
///
/// # Safety
/// As of [`super::percale_collider_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn percale_recording_open(folder: *const c_char, made: *mut u64) -> Status {
    call(|| {
        // SAFETY: by the caller's promise
        let (folder, made) = unsafe { (text("folder", folder)?, out("made", made)?) };
        made.set(RECORDINGS.keep(Recording::open(Path::new(folder))?));
        Ok(())
    })
}

/// See `percale.h`.
#[unsafe(no_mangle)]
pub extern "C" fn percale_recording_free(recording: u64) -> Status {
    call(|| RECORDINGS.drop(recording, "recording"))
}

/// See `percale.h`.
///
/// # Safety
/// As of [`super::percale_intersections`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn percale_recording_counts(
    recording: u64,
    vertices: *mut usize,
    triangles: *mut usize,
    frames: *mut u64,
) -> Status {
    call(|| {
        // SAFETY: by the caller's promise
        let (vertices, triangles, frames) = unsafe {
            (
                out("vertices", vertices)?,
                out("triangles", triangles)?,
                out("frames", frames)?,
            )
        };
        RECORDINGS.with(recording, "recording", |recording| {
            vertices.set(recording.mesh().vertex_count());
            triangles.set(recording.mesh().faces().len());
            frames.set(recording.frame_count());
            Ok(())
        })
    })
}

/// See `percale.h`.
///
/// # Safety
/// As of [`super::percale_intersections`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn percale_recording_faces(recording: u64, faces: *mut u32) -> Status {
    call(|| {
        // SAFETY: by the caller's promise
        let faces = unsafe { out("faces", faces)? };
        RECORDINGS.with(recording, "recording", |recording| {
            // SAFETY: by the caller's promise there is room for all faces
            unsafe { faces.set_faces(recording.mesh().faces()) };
            Ok(())
        })
    })
}

/// See `percale.h`.
///
/// # Safety
/// As of [`super::percale_intersections`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn percale_recording_positions(
    recording: u64,
    frame: u64,
    positions: *mut f64,
) -> Status {
    call(|| {
        // SAFETY: by the caller's promise
        let positions = unsafe { out("positions", positions)? };
        RECORDINGS.with(recording, "recording", |recording| {
            let count = recording.frame_count();
            if frame >= count {
                let message = format!("frame: {frame}, but there are frames 0 to {}", count - 1);
                return Err(Refusal::argument(message));
            }
            let x = recording.positions(frame)?;
            // SAFETY: by the caller's promise there is room for all vertices
            unsafe { positions.set_vectors(&x) };
            Ok(())
        })
    })
}

/// See `percale.h`.
///
/// # Safety
/// As of [`super::percale_intersections`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn percale_recording_report(
    recording: u64,
    json: *mut *mut c_char,
) -> Status {
    call(|| {
        // SAFETY: by the caller's promise
        let json = unsafe { out("json", json)? };
        RECORDINGS.with(recording, "recording", |recording| {
            let report = serde_json::json!({
                "totals": recording.summary(), "frame_reports": recording.reports(),
            });
            json.set(give_text(&report.to_string()));
            Ok(())
        })
    })
}
