//! The scenes that come with the library.

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

/// The text of a built-in scene.
pub(super) fn text_of(name: &str) -> Option<&'static str> {
    let found = BUILTIN.iter().find(|(builtin, _)| *builtin == name);
    found.map(|(_, text)| *text)
}

pub(super) fn names() -> String {
    let names: Vec<&str> = BUILTIN.iter().map(|(name, _)| *name).collect();
    names.join(", ")
}
