//! The scenes that come with the library.

use std::sync::LazyLock;

use super::tangles::{TABLE_1, TYPES};

/// Name and text of each built-in scene.
pub const BUILTIN: &[(&str, &str)] = &[
    ("drop", include_str!("../../scenes/drop.toml")),
    ("stack", include_str!("../../scenes/stack.toml")),
    ("card-house", include_str!("../../scenes/card-house.toml")),
    ("fabrics", include_str!("../../scenes/fabrics.toml")),
    ("flag", include_str!("../../scenes/flag.toml")),
    (
        "curtain-folds",
        include_str!("../../scenes/curtain-folds.toml"),
    ),
    ("needle", include_str!("../../scenes/needle.toml")),
    ("curtains", include_str!("../../scenes/curtains.toml")),
    ("hammock", include_str!("../../scenes/hammock.toml")),
    ("spheres", include_str!("../../scenes/spheres.toml")),
    ("cannonball", include_str!("../../scenes/cannonball.toml")),
    ("pillars", include_str!("../../scenes/pillars.toml")),
    ("twist", include_str!("../../scenes/twist.toml")),
    (
        "rotating-ball",
        include_str!("../../scenes/rotating-ball.toml"),
    ),
    ("funnel", include_str!("../../scenes/funnel.toml")),
    ("funnel-low", include_str!("../../scenes/funnel-low.toml")),
    ("skirt", include_str!("../../scenes/skirt.toml")),
    ("gown", include_str!("../../scenes/gown.toml")),
    ("tee", include_str!("../../scenes/tee.toml")),
    ("ribbon", include_str!("../../scenes/ribbon.toml")),
    (
        "crushed-cylinder",
        include_str!("../../scenes/crushed-cylinder.toml"),
    ),
    (
        "squares-incline",
        include_str!("../../scenes/squares-incline.toml"),
    ),
    (
        "squares-plane",
        include_str!("../../scenes/squares-plane.toml"),
    ),
];

/// Name and text of each built-in scene of a tangled sheet, as in `tangles/closed`.
pub static TANGLES: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
    let rows = TABLE_1.iter().map(|row| row.name);
    let names = TYPES.into_iter().chain(rows);
    let text = |name: &str| {
        let is_row = !TYPES.contains(&name);
        let paper = match is_row {
            true => "Wicke 2006 Table 1",
            false => "Wicke 2006 Fig. 1",
        };
        let small = match is_row {
            true => "frames = 20",
            false => "\"cloth.0.shape.cells\" = 8",
        };
        let template = include_str!("tangles.toml");
        let changes = [("NAME", name), ("PAPER", paper), ("# SMALL", small)];
        changes
            .into_iter()
            .fold(template.to_string(), |text, (from, to)| {
                text.replace(from, to)
            })
    };
    names
        .map(|name| (format!("tangles/{name}"), text(name)))
        .collect()
});

/// The text of a built-in scene.
pub(super) fn text_of(name: &str) -> Option<&'static str> {
    let found = BUILTIN.iter().find(|(builtin, _)| *builtin == name);
    let tangle = || TANGLES.iter().find(|(tangle, _)| tangle == name);
    found
        .map(|(_, text)| *text)
        .or_else(|| tangle().map(|(_, text)| text.as_str()))
}

pub(super) fn names() -> String {
    let names: Vec<&str> = BUILTIN.iter().map(|(name, _)| *name).collect();
    format!("{}, tangles/*", names.join(", "))
}
