//! Sheets that cross themselves, for `start = "untangle"`.

use glam::DVec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::Check;
use super::{Generator, Triangles};
use crate::scene::tangles::{TABLE_1, TYPES, by_name};

fn sixteen() -> u32 {
    16
}

/// A sheet that is folded over and has come through itself, 1 m x 2 m in each layer: one for every type of intersection path, and those of
/// Table 1 of Wicke 2006. Flat at rest, as far as bending goes. The middle of the crease is at the origin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tangle {
    /// `closed`, `eight`, `ll`, `bli`, `blb`, `bllb`, `cross`, `bb-ii`, `bb-bi`, `bi-bi`, or `table-1a` to `table-1d`.
    pub name: String,
    /// Cells across each layer, at least 4; along the crease there are twice as many. Those of Table 1 have their own number.
    #[serde(default = "sixteen")]
    pub cells: u32,
}

impl Generator for Tangle {
    fn check(&self) -> Check {
        let mut names = TYPES.into_iter().chain(TABLE_1.iter().map(|row| row.name));
        if !names.any(|name| name == self.name) {
            let rows = TABLE_1.iter().map(|row| row.name);
            let names: Vec<&str> = TYPES.into_iter().chain(rows).collect();
            let message = format!("no tangle '{}'; there are: {}", self.name, names.join(", "));
            return Err(("name", message));
        }
        match (4..=2048).contains(&self.cells) {
            true => Ok(()),
            false => Err(("cells", format!("{} must be from 4 to 2048", self.cells))),
        }
    }

    fn about_vertices(&self) -> f64 {
        match TABLE_1.iter().find(|row| row.name == self.name) {
            Some(row) => 0.5 * row.triangles as f64,
            None => 4.0 * f64::from(self.cells) * f64::from(self.cells),
        }
    }

    fn triangles(&self) -> Result<Triangles, String> {
        let sheet = by_name(&self.name, self.cells).ok_or("no such tangle")?;
        let mut flat = vec![DVec3::ZERO; sheet.positions.len()];
        for (corners, places) in sheet.faces.iter().zip(&sheet.uv) {
            for (&v, place) in corners.iter().zip(places) {
                flat[v as usize] = DVec3::new(place.x, 0.0, -place.y);
            }
        }
        Ok(Triangles {
            x: sheet.positions,
            faces: sheet.faces,
            flat,
            ..Triangles::default()
        })
    }
}
