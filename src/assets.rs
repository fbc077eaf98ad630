//! Files that come with the library, for its built-in scenes: the path `percale:NAME` stands for one.
//!
//! | name | what | from |
//! |---|---|---|
//! | `CesiumMan.glb` | a walking person | Cesium Man, (c) 2017 Cesium, CC-BY 4.0 International |
//! | `mean_all.obj.gz` | a body | `GarmentCode`, MIT |
//! | `shirt_mean_specification.json` | the pattern of a shirt | `GarmentCode`, MIT |

use std::path::Path;

/// What such a path begins with.
const PREFIX: &str = "percale:";

const FILES: [(&str, &[u8]); 3] = [
    (
        "CesiumMan.glb",
        include_bytes!("../tests/data/cesium-man/CesiumMan.glb"),
    ),
    (
        "mean_all.obj.gz",
        include_bytes!("../tests/data/garmentcode/mean_all.obj.gz"),
    ),
    (
        "shirt_mean_specification.json",
        include_bytes!("../tests/data/garmentcode/shirt_mean_specification.json"),
    ),
];

/// What is in the file that a path stands for; none if it is a path like any other.
pub(crate) fn contents(path: &Path) -> Option<&'static [u8]> {
    let name = path.to_str()?.strip_prefix(PREFIX)?;
    let found = FILES.iter().find(|(own, _)| *own == name);
    found.map(|(_, bytes)| *bytes)
}

/// What is wrong with a path that should stand for such a file, and does not.
pub(crate) fn missing(path: &Path) -> Option<String> {
    let is_meant = path.to_str()?.starts_with(PREFIX) && contents(path).is_none();
    is_meant.then(|| {
        let names: Vec<String> = FILES
            .iter()
            .map(|(name, _)| format!("{PREFIX}{name}"))
            .collect();
        format!(
            "no file '{}' comes with Percale; there are: {}",
            path.display(),
            names.join(", ")
        )
    })
}
