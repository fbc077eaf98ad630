//! Tangled sheets on purpose: one for every type of intersection, and the four rows of Table 1 ([WLG06] Fig. 1, Table 1).
//!
//! Every sheet is folded over once along a crease. The lower layer is flat; the upper lies above it at the height
//! `x g(x, y)`, where x is the distance from the crease and y runs along it, so that the sign of g alone decides where
//! the layers have changed sides and its zero line is the path:
//!
//! ```text
//! y ┤ crease   upper layer            g < 0 in a disc                 CLOSED
//!   │┌───────────────────┐            in a drop that ends at v        EIGHT
//!   ││    ┌───────────┐  ┊ lower      next to the crease, v to w      LL
//!  v ●    │   g < 0   │  ┊            beyond a line from v            BLI
//!   ││    └───────────┘  ┊            in a wedge that ends at v       CROSS
//!  w ●                   ┊            next to the upper far edge      BB/II
//!   │└───────────────────┘            beyond a line between edges     BI/BI
//!   └────────────────────┴─▶ x
//! ```
//!
//! BLB, BLLB and BB/BI ask for boundaries that touch exactly: there two vertices get the very same position.

use glam::{DVec2, DVec3};

/// A sheet with its rest shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Tangled {
    /// Where the vertices are, in metres.
    pub positions: Vec<DVec3>,
    /// Corners of each face.
    pub faces: Vec<[u32; 3]>,
    /// Parameters of each corner of each face, in metres.
    pub uv: Vec<[DVec2; 3]>,
}

/// Names of the sheets that show one type each, as in `tangles/closed`.
pub const TYPES: [&str; 10] = [
    "closed", "eight", "ll", "bli", "blb", "bllb", "cross", "bb-ii", "bb-bi", "bi-bi",
];

/// The sheet of a type, with `cells` × 2 `cells` cells in each layer, 1 m × 2 m; `None` if there is no such type.
///
/// From 4 cells upward every sheet holds exactly one intersection of its type.
pub fn of_type(name: &str, cells: u32) -> Option<Tangled> {
    let mut fold = Fold {
        columns: [cells, cells],
        rows: 2 * cells,
        ..Fold::default()
    };
    let square = |t: f64| t * t;
    // the numbers are odd so that no vertex falls on a zero line at the usual resolutions
    // far edges that cross in one point, at the upper row `meet`
    let meet = cells + cells / 2;
    let meet_y = fold.y(meet);
    Some(match name {
        "closed" => fold.sheet(|x, y| square((x - 0.573) / 0.297) + square(y / 0.411) - 1.0),
        "eight" => fold.sheet(|x, y| y.abs() - 0.71 * x * (1.0 - x / 0.83)),
        "ll" => fold.sheet(|x, y| square(x / 0.613) + square(y / 0.517) - 1.0),
        "bli" => fold.sheet(|x, y| y + 0.31 * x - 0.107),
        "blb" => {
            fold.lower_slant = Some(meet_y);
            fold.upper_length = 1.0;
            fold.meeting_row = Some(meet);
            fold.sheet(|x, y| y - meet_y + 0.6 * (1.0 - x))
        }
        "bllb" => {
            fold.slit = Some(0.613);
            fold.sheet(|x, y| square(x / 0.613) + square(y / 0.517) - 1.0)
        }
        "cross" => fold.sheet(|x, y| y.abs() - 0.71 * x),
        "bb-ii" => fold.sheet(|x, y| square((1.0 - x) / 0.513) + square(y / 0.517) - 1.0),
        "bb-bi" => {
            fold.lower_slant = Some(meet_y);
            fold.upper_length = 1.0;
            fold.meeting_row = Some(meet);
            fold.lower_taper = 0.3;
            fold.sheet(|x, y| 1.6 * (1.0 - x) + (meet_y - y))
        }
        "bi-bi" => {
            fold.lower_taper = 0.3;
            fold.sheet(|x, y| 1.83 * (0.507 - x) + (0.911 - y))
        }
        _ => return None,
    })
}

/// A sheet folded over along x = 0.
#[derive(Clone, Debug)]
struct Fold {
    /// Cells across the lower and the upper layer.
    columns: [u32; 2],
    /// Cells along the crease, which is 2 m long.
    rows: u32,
    /// Width of the upper layer, in metres; that of the lower is 1.23, or 1 on average if it is slanted.
    upper_length: f64,
    /// How much narrower a layer is at 1 m from the crease; they differ, so that no two edges lie above each other.
    lower_taper: f64,
    /// The row's y at which the slanted far edge of the lower layer is 1 m from the crease.
    lower_slant: Option<f64>,
    /// The row at whose end both layers have a vertex in the same place.
    meeting_row: Option<u32>,
    /// Cuts the upper layer along y = 0 around this distance from the crease; the lips stay where they are.
    slit: Option<f64>,
}

impl Default for Fold {
    fn default() -> Self {
        Self {
            columns: [0; 2],
            rows: 0,
            upper_length: 1.0,
            lower_taper: -0.05,
            lower_slant: None,
            meeting_row: None,
            slit: None,
        }
    }
}

/// Height of the upper layer at 1 m from the crease where g = 1, in metres.
const STEEPNESS: f64 = 0.3;
/// How much narrower the upper layer is at 1 m from the crease.
const UPPER_TAPER: f64 = 0.11;
/// Sideways bend of the upper layer, in 1/m: no row lies exactly above one of the lower layer.
const BULGE: f64 = 0.1;

impl Fold {
    /// Place of a row along the crease, in metres.
    fn y(&self, row: u32) -> f64 {
        2.0 * f64::from(row) / f64::from(self.rows) - 1.0
    }

    fn sheet(&self, g: impl Fn(f64, f64) -> f64) -> Tangled {
        let [lower, upper] = self.columns;
        let stride = self.rows + 1;
        let vertex = |column: u32, row: u32| column * stride + row;
        let mut positions = Vec::new();
        for column in 0..=lower + upper {
            for row in 0..stride {
                positions.push(self.position(column, row, &g));
            }
        }
        if let Some(row) = self.meeting_row {
            let (l, u) = (vertex(0, row), vertex(lower + upper, row));
            positions[u as usize] = positions[l as usize];
        }
        let mut faces = Vec::new();
        let mut uv = Vec::new();
        let place = |v: u32| {
            let (column, row) = (v / stride, v % stride);
            let across = f64::from(column) - f64::from(lower);
            DVec2::new(across / f64::from(upper), self.y(row))
        };
        for column in 0..lower + upper {
            for row in 0..self.rows {
                let [a, b] = [vertex(column, row), vertex(column + 1, row)];
                let [c, d] = [a + 1, b + 1];
                // diagonals are mirrored at the middle row, so that a tip there has neighbours on both sides
                let halves = if 2 * row < self.rows {
                    [[a, b, c], [b, d, c]]
                } else {
                    [[a, b, d], [a, d, c]]
                };
                for corners in halves {
                    faces.push(corners);
                    uv.push(corners.map(place));
                }
            }
        }
        if let Some(x) = self.slit {
            let middle = lower + (x * f64::from(upper)).floor() as u32;
            for column in [middle, middle + 1] {
                let old = vertex(column, self.rows / 2);
                let copy = positions.len() as u32;
                positions.push(positions[old as usize]);
                // the faces with some corner beyond the cut
                for corners in &mut faces {
                    let is_beyond = corners
                        .iter()
                        .any(|&v| v < old.max(copy) && v % stride > self.rows / 2);
                    if is_beyond && corners.contains(&old) {
                        *corners = corners.map(|v| if v == old { copy } else { v });
                    }
                }
            }
        }
        Tangled {
            positions,
            faces,
            uv,
        }
    }

    fn position(&self, column: u32, row: u32, g: &impl Fn(f64, f64) -> f64) -> DVec3 {
        let [lower, upper] = self.columns;
        let y = self.y(row);
        if column <= lower {
            let share = f64::from(lower - column) / f64::from(lower);
            let x = share * self.lower_slant.map_or(1.23, |at| 1.0 + 0.15 * (y - at));
            let centre = self.lower_slant.unwrap_or(0.0);
            DVec3::new(x, centre + (y - centre) * (1.0 - self.lower_taper * x), 0.0)
        } else {
            let x = f64::from(column - lower) / f64::from(upper) * self.upper_length;
            let centre = self.lower_slant.unwrap_or(0.0);
            let y = centre + (y - centre) * (1.0 - UPPER_TAPER * x);
            DVec3::new(x, y + BULGE * x * (1.0 - x), STEEPNESS * x * g(x, y))
        }
    }
}
