//! Tangled sheets on purpose: one for every type of intersection, and the four rows of Table 1 (\[WLG06\] Fig. 1, Table 1).
//!
//! Internal: may change without notice. Open for tests and the command line.
//!
//! Every sheet is folded over once along a crease. The lower layer is flat; the upper lies above it at the height
//! `0.3 x g(x, s)`, where x is the distance from the crease and s runs along it, so that the sign of g alone decides where
//! the layers have changed sides and its zero line is the path:
//!
//! ```text
//! s ┤ crease   upper layer            g < 0 in a disc                 CLOSED
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

pub mod known;

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

/// A sheet by its name, such as `tangles/closed` or `tangles/table-1d`, with or without the first part.
///
/// Those of a type have `cells` × 2 `cells` cells in each layer.
pub fn by_name(name: &str, cells: u32) -> Option<Tangled> {
    let name = name.strip_prefix("tangles/").unwrap_or(name);
    let row = TABLE_1.iter().position(|row| row.name == name);
    row.map_or_else(|| of_type(name, cells), table_1)
}

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
    // far edges that cross in one point, at the upper row `meet`
    let meet = cells + cells / 2;
    let meet_s = fold.along(meet);
    // the numbers are odd so that no vertex falls on a zero line at the usual resolutions
    Some(match name {
        "closed" => fold.sheet(|x, s| square((x - 0.573) / 0.297) + square(s / 0.411) - 1.0),
        "eight" => fold.sheet(|x, s| s.abs() - 0.71 * x * (1.0 - x / 0.83)),
        "ll" => fold.sheet(|x, s| square(x / 0.613) + square(s / 0.517) - 1.0),
        "bli" => fold.sheet(|x, s| s + 0.31 * x - 0.107),
        "blb" => {
            fold.lower_slant = Some(meet_s);
            fold.meeting_row = Some(meet);
            fold.sheet(|x, s| s - meet_s + 0.6 * (1.0 - x))
        }
        "bllb" => {
            fold.slit = Some(0.613);
            fold.sheet(|x, s| square(x / 0.613) + square(s / 0.517) - 1.0)
        }
        "cross" => fold.sheet(|x, s| s.abs() - 0.71 * x),
        "bb-ii" => fold.sheet(|x, s| square((1.0 - x) / 0.513) + square(s / 0.517) - 1.0),
        "bb-bi" => {
            fold.lower_slant = Some(meet_s);
            fold.meeting_row = Some(meet);
            fold.lower_taper = 0.3;
            fold.sheet(|x, s| 1.6 * (1.0 - x) + (meet_s - s))
        }
        "bi-bi" => {
            fold.lower_taper = 0.3;
            fold.sheet(|x, s| 1.83 * (0.507 - x) + (0.911 - s))
        }
        _ => return None,
    })
}

/// What \[WLG06\] Table 1 says of a sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Name of our sheet, as in `tangles/table-1a`.
    pub name: &'static str,
    /// Faces.
    pub triangles: usize,
    /// Paths; two partners count as two.
    pub paths: usize,
    /// Segments, two for every pair of crossing faces ("each triangle/triangle intersection yields two", §4; all of the
    /// paper's numbers are even).
    pub segments: usize,
    /// Inside vertices of all paths.
    pub inside: usize,
    /// Milliseconds for finding segments, on a Pentium 4 with 3 GHz.
    pub segments_ms: u32,
    /// Milliseconds for assembling paths; "less than 1" is 0.
    pub paths_ms: u32,
}

/// The four rows of Table 1.
pub const TABLE_1: [Row; 4] = {
    const fn row(name: &'static str, triangles: usize, counts: [usize; 3], times: [u32; 2]) -> Row {
        Row {
            name,
            triangles,
            paths: counts[0],
            segments: counts[1],
            inside: counts[2],
            segments_ms: times[0],
            paths_ms: times[1],
        }
    }
    [
        row("table-1a", 2450, [4, 154, 147], [32, 0]),
        row("table-1b", 2450, [23, 1976, 827], [78, 281]),
        row("table-1c", 31250, [8, 284, 147], [360, 15]),
        row("table-1d", 31250, [30, 4540, 1515], [656, 7078]),
    ]
};

/// A sheet with about the counts of a row of Table 1.
///
/// The paper does not show its sheets. Ours have a corner that has come through (BB/II) and dents (CLOSED, and LL at the crease) of sizes that give the counts.
pub fn table_1(row: usize) -> Option<Tangled> {
    // places in cells: from the crease, along it; half widths
    let dents: Vec<[f64; 4]> = match row {
        0 => vec![[6.2, 24.3, 0.6, 0.6]],
        1 => {
            let along = |k: u32| 3.6 + 6.95 * f64::from(k);
            let two =
                (0..5).flat_map(|k| [[6.9, along(k), 3.0, 2.95], [14.1, along(k), 3.0, 2.95]]);
            two.chain((0..3).map(|k| [0.0, 7.1 + 10.4 * f64::from(k), 2.9, 3.6]))
                .collect()
        }
        2 => (0..3)
            .map(|k| [20.3, 62.4 + 15.1 * f64::from(k), 1.0, 1.0])
            .collect(),
        3 => {
            let closed = (0..13).map(|k| [33.4, 5.3 + 9.2 * f64::from(k), 9.4, 1.7]);
            closed
                .chain((0..4).map(|k| [0.0, 20.7 + 23.1 * f64::from(k), 9.4, 1.7]))
                .collect()
        }
        _ => return None,
    };
    let corner = [Some(16.5), None, Some(14.5), None][row];
    let cells = if row < 2 { 35 } else { 125 };
    let fold = Fold {
        columns: [cells / 2, cells - cells / 2],
        rows: cells,
        is_mirrored: false,
        lower_length: 1.037,
        ..Fold::default()
    };
    Some(fold.sheet(|x, s| {
        let column = x * f64::from(fold.columns[1]);
        let row = (s / (1.0 - UPPER_TAPER * x) + 1.0) * 0.5 * f64::from(cells);
        let dent = |&[c, r, across, along]: &[f64; 4]| {
            let (u, v) = ((column - c) / across, (row - r) / along);
            (u * u) * (u * u) + (v * v) * (v * v) - 1.0 // almost a rectangle
        };
        let far = f64::from(fold.columns[1]);
        let cut = corner.map_or(1.0, |legs| (far - legs - (column - row)) / legs);
        dents.iter().map(dent).fold(cut, f64::min).min(1.0)
    }))
}

/// A sheet of `cells` × 2 `cells` cells per layer with dents all over, each ten cells wide: about one segment per cell.
pub fn dents(cells: u32) -> Tangled {
    let fold = Fold {
        columns: [cells, cells],
        rows: 2 * cells,
        ..Fold::default()
    };
    let scale = f64::from(cells) / 10.03 * std::f64::consts::TAU;
    fold.sheet(|x, s| 0.6 + libm::cos(scale * x) + libm::cos(scale * s))
}

/// A sheet folded over along x = 0.
#[derive(Clone, Debug)]
struct Fold {
    /// Cells across the lower and the upper layer.
    columns: [u32; 2],
    /// Cells along the crease, which is 2 m long.
    rows: u32,
    /// Width of the lower layer, in metres, unless it is slanted; that of the upper is 1.
    lower_length: f64,
    /// How much narrower the lower layer is at 1 m from the crease; layers differ, so that no two edges lie above each other.
    lower_taper: f64,
    /// The place along the crease at which the slanted far edge of the lower layer is 1 m from the crease.
    lower_slant: Option<f64>,
    /// The row at whose end both layers have a vertex in the same place.
    meeting_row: Option<u32>,
    /// Whether the diagonals are mirrored at the middle row, so that a tip there has neighbours on both sides; otherwise
    /// at the crease, so that those of both layers run the same way.
    is_mirrored: bool,
    /// Cuts the upper layer along s = 0 around this distance from the crease; the lips stay where they are.
    slit: Option<f64>,
}

impl Default for Fold {
    fn default() -> Self {
        Self {
            columns: [0; 2],
            rows: 0,
            lower_length: 1.23,
            lower_taper: -0.05,
            lower_slant: None,
            meeting_row: None,
            is_mirrored: true,
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
    fn along(&self, row: u32) -> f64 {
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
            DVec2::new(across / f64::from(upper), self.along(row))
        };
        for column in 0..lower + upper {
            for row in 0..self.rows {
                let [a, b] = [vertex(column, row), vertex(column + 1, row)];
                let [c, d] = [a + 1, b + 1];
                let is_turned = match self.is_mirrored {
                    true => 2 * row < self.rows,
                    false => column < lower,
                };
                let halves = if is_turned {
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
            // the two inner vertices of three edges are doubled for the faces beyond the cut
            let middle = lower + (x * f64::from(upper)).floor() as u32;
            let is_beyond = |place: &[DVec2; 3]| place.iter().any(|p| p.y > 0.0);
            for old in [middle, middle + 1].map(|column| vertex(column, self.rows / 2)) {
                let copy = positions.len() as u32;
                positions.push(positions[old as usize]);
                for (corners, _) in faces.iter_mut().zip(&uv).filter(|f| is_beyond(f.1)) {
                    *corners = corners.map(|v| if v == old { copy } else { v });
                }
            }
        }
        Tangled {
            positions,
            faces,
            uv,
        }
    }

    /// Height is along y, as everywhere; the crease runs along −z.
    fn position(&self, column: u32, row: u32, g: &impl Fn(f64, f64) -> f64) -> DVec3 {
        let [lower, upper] = self.columns;
        let s = self.along(row);
        // both layers taper towards this place on the crease
        let centre = self.lower_slant.unwrap_or(0.0);
        if column <= lower {
            let length = match self.lower_slant {
                Some(at) => 1.0 + 0.15 * (s - at),
                None => self.lower_length,
            };
            let x = length * f64::from(lower - column) / f64::from(lower);
            let s = centre + (s - centre) * (1.0 - self.lower_taper * x);
            DVec3::new(x, 0.0, -s)
        } else {
            let x = f64::from(column - lower) / f64::from(upper);
            let s = centre + (s - centre) * (1.0 - UPPER_TAPER * x);
            DVec3::new(x, STEEPNESS * x * g(x, s), -s - BULGE * x * (1.0 - x))
        }
    }
}
