//! `percale render` as a user sees it: files, sizes, refusals.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::support::percale;

/// A small recording of frames 0 to 4.
fn recording(folder: &Path) -> PathBuf {
    let out = folder.join("run");
    let run = percale(&["run", "drop", "--frames", "4"])
        .args(["--set", "cloth.0.shape.cells=[6, 6]"])
        .args(["--set", "obstacle.0.shape.subdivisions=1", "-o"])
        .arg(&out)
        .output()
        .unwrap();
    assert!(run.status.success(), "{run:?}");
    out
}

fn render(recording: &Path, more: &[&str]) -> Output {
    let mut command = percale(&["render", recording.to_str().unwrap()]);
    command.args(more).output().unwrap()
}

/// Width and height in a PNG file's header.
fn png_size(path: &Path) -> [u32; 2] {
    let bytes = fs::read(path).unwrap();
    assert_eq!(bytes[..8], *b"\x89PNG\r\n\x1a\n", "{}", path.display());
    [16, 20].map(|at| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap()))
}

#[test]
fn a_recording_becomes_frames_a_sheet_and_a_gif() {
    let folder = tempfile::tempdir().unwrap();
    let run = recording(folder.path());

    let output = render(&run, &["--size", "64x48", "--frames", "0..4/2"]);
    assert!(output.status.success(), "{output:?}");
    let mut frames: Vec<String> = fs::read_dir(run.join("frames"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    frames.sort();
    assert_eq!(frames, ["0000.png", "0002.png", "0004.png"]);
    assert_eq!(png_size(&run.join("frames/0002.png")), [64, 48]);

    let single = folder.path().join("last.png");
    let camera = "2,1.5,3,0,0.3,0,30";
    let output = render(
        &run,
        &[
            "--frames",
            "last",
            "--size",
            "40x30",
            "--camera",
            camera,
            "--wire",
            "-o",
            single.to_str().unwrap(),
        ],
    );
    assert!(output.status.success(), "{output:?}");
    assert_eq!(png_size(&single), [40, 30]);

    let gif = folder.path().join("a.gif");
    let gif_name = gif.to_str().unwrap();
    let output = render(
        &run,
        &["--sheet", "--strain", "--gif", gif_name, "--size", "48x36"],
    );
    assert!(output.status.success(), "{output:?}");
    // five frames in rows of three, six pixels between them
    assert_eq!(png_size(&run.join("sheet.png")), [3 * 54 + 6, 2 * 42 + 6]);
    let bytes = fs::read(gif).unwrap();
    assert_eq!(bytes[..10], *b"GIF89a\x30\x00\x24\x00");
}

#[test]
fn a_scene_is_drawn_from_its_own_camera_unless_another_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let picture = |scene: &[&str], more: &[&str]| {
        let [run, png] = ["run", "a.png"].map(|name| folder.path().join(name));
        let made = percale(&["run", "drop", "--small", "--frames", "1", "--force"])
            .args(scene)
            .arg("-o")
            .arg(&run)
            .output()
            .unwrap();
        assert!(made.status.success(), "{made:?}");
        let frame = ["--frames", "0", "--size", "64x48", "-o"];
        let drawn = render(&run, &[&frame[..], &[png.to_str().unwrap()], more].concat());
        assert!(drawn.status.success(), "{drawn:?}");
        fs::read(png).unwrap()
    };
    let own = "camera={ position = [2, 1.5, 3], target = [0, 0.3, 0], fov = 30 }";
    let named = ["--camera", "2,1.5,3,0,0.3,0,30"];
    let automatic = picture(&[], &[]);
    assert_eq!(picture(&["--set", own], &[]), picture(&[], &named));
    assert_ne!(picture(&["--set", own], &[]), automatic);
    let other = "camera={ position = [0, 9, 1] }";
    assert_eq!(
        picture(&["--set", other], &named),
        picture(&["--set", own], &[]),
        "the command line wins"
    );
}

#[test]
fn what_cannot_be_drawn_is_refused_with_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let run = recording(folder.path());
    let refusal = |recording: &Path, more: &[&str]| {
        let output = render(recording, more);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let none = refusal(&folder.path().join("nothing"), &[]);
    assert!(none.contains("no such file or folder"), "{none}");
    let beyond = refusal(&run, &["--frames", "3,9"]);
    assert!(
        beyond.contains("no frame 9") && beyond.contains("0 to 4"),
        "{beyond}"
    );
    let size = refusal(&run, &["--size", "big"]);
    assert!(size.contains("WIDTHxHEIGHT"), "{size}");
    let camera = refusal(&run, &["--camera", "1,2,3"]);
    assert!(camera.contains("seven numbers"), "{camera}");
    let many = refusal(&run, &["-o", "x.png"]);
    assert!(many.contains("--sheet"), "{many}");
    let nowhere = folder.path().join("no/such/folder.gif");
    let unwritable = refusal(
        &run,
        &["--size", "16x16", "--gif", nowhere.to_str().unwrap()],
    );
    assert!(unwritable.contains("cannot write"), "{unwritable}");
}

/// Without ffmpeg there is a message; with one it gets every pixel. The one here only counts bytes.
#[cfg(unix)]
#[test]
fn a_movie_goes_to_ffmpeg_if_there_is_one() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let run = recording(folder.path());
    let movie = folder.path().join("m.mp4");
    let arguments = [
        "render",
        run.to_str().unwrap(),
        "--size",
        "32x24",
        "--mp4",
        movie.to_str().unwrap(),
    ];
    let missing = percale(&arguments)
        .env("PATH", folder.path())
        .output()
        .unwrap();
    assert_eq!(missing.status.code(), Some(2));
    assert!(
        String::from_utf8_lossy(&missing.stderr).contains("ffmpeg"),
        "{missing:?}"
    );

    let tool = folder.path().join("ffmpeg");
    // the last argument is the file
    fs::write(
        &tool,
        "#!/bin/sh\nfor file; do :; done\n/usr/bin/env wc -c > \"$file\"\n",
    )
    .unwrap();
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", folder.path().display());
    let output = percale(&arguments).env("PATH", path).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let bytes: usize = fs::read_to_string(&movie).unwrap().trim().parse().unwrap();
    assert_eq!(bytes, 5 * 32 * 24 * 3, "five frames of three bytes a pixel");
}
