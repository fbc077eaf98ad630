//! What becomes of results that cannot be written to the standard output.

use std::io;

use crate::support::percale;

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    for arguments in [
        &["scenes"][..],
        &["scenes", "--json"],
        &["scenes", "--schema"],
    ] {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let output = percale(arguments)
            .stdout(writer)
            .spawn()
            .unwrap()
            .wait_with_output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {errors}");
        assert_eq!(errors, "", "{arguments:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_one() {
    let full = std::fs::File::options()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let output = percale(&["scenes"]).stdout(full).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("standard output"), "{errors}");
}
