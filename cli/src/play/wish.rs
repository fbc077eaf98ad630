//! What the page asks of a live simulation.

use serde::Deserialize;

/// What the page wants; a message each.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Wish {
    Run(bool),
    Step(u32),
    Restart(#[expect(dead_code, reason = "its being there says all")] bool),
    Set(Setting),
    Drag(Option<Drag>),
    Touches(bool),
    /// The frame with this number has arrived.
    Ack(u64),
}

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Setting {
    pub(super) friction: Option<f64>,
    /// Metres.
    pub(super) thickness: Option<f64>,
    /// Along x, m/s.
    pub(super) wind: Option<f64>,
    pub(super) response: Option<String>,
}

impl Setting {
    /// What is asked for later counts.
    pub(super) fn then(self, later: Self) -> Self {
        Self {
            friction: later.friction.or(self.friction),
            thickness: later.thickness.or(self.thickness),
            wind: later.wind.or(self.wind),
            response: later.response.or(self.response),
        }
    }
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Drag {
    pub(super) vertex: u32,
    pub(super) to: [f64; 3],
}
