//! The scenes that come with the library.

/// Name and text of each built-in scene.
pub const BUILTIN: &[(&str, &str)] = &[("drop", include_str!("../../scenes/drop.toml"))];

/// The text of a built-in scene.
pub(super) fn text_of(name: &str) -> Option<&'static str> {
    let found = BUILTIN.iter().find(|(builtin, _)| *builtin == name);
    found.map(|(_, text)| *text)
}

pub(super) fn names() -> String {
    let names: Vec<&str> = BUILTIN.iter().map(|(name, _)| *name).collect();
    names.join(", ")
}
