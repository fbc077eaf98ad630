//! Which vertices of an object are meant.

use glam::DVec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shapes::Triangles;
use crate::io::Look;

/// A set of vertices of one object.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Region {
    /// Every vertex.
    #[default]
    All,
    /// Those that lie farthest in a direction of the shape, before it is placed: an edge of a sheet, the rim of a tube.
    Edge {
        /// Which way.
        towards: Direction,
    },
    /// Those that lie farthest in two directions at once: a corner of a sheet.
    Corner {
        /// Which way.
        towards: [Direction; 2],
    },
    /// Those inside a box where the object starts, its sides included.
    Box {
        /// Smallest coordinates, in metres.
        min: [f64; 3],
        /// Largest coordinates, in metres.
        max: [f64; 3],
    },
    /// Those of the faces in a group, object or material of its mesh file: `g`, `o` and `usemtl` of OBJ, materials of glTF.
    Group {
        /// Its name in the file.
        name: String,
    },
    /// Those whose number in its mesh file is above a limit, e.g. "red" of a painted PLY; whole numbers count as shares of the largest that
    /// they can be.
    Attribute {
        /// Its name in the file.
        name: String,
        /// The limit.
        #[serde(default)]
        above: f64,
    },
    /// Those with these numbers in the object, from 0.
    Vertices {
        /// The numbers.
        list: Vec<u32>,
    },
}

/// A direction along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Direction {
    /// Towards smaller x.
    #[serde(rename = "-x")]
    Left,
    /// Towards larger x.
    #[serde(rename = "+x")]
    Right,
    /// Towards smaller y.
    #[serde(rename = "-y")]
    Down,
    /// Towards larger y.
    #[serde(rename = "+y")]
    Up,
    /// Towards smaller z.
    #[serde(rename = "-z")]
    Back,
    /// Towards larger z.
    #[serde(rename = "+z")]
    Front,
}

impl Direction {
    fn vector(self) -> DVec3 {
        match self {
            Self::Left => DVec3::NEG_X,
            Self::Right => DVec3::X,
            Self::Down => DVec3::NEG_Y,
            Self::Up => DVec3::Y,
            Self::Back => DVec3::NEG_Z,
            Self::Front => DVec3::Z,
        }
    }
}

/// Vertices within this share of the mean edge of the farthest one count as farthest: more than files round
/// coordinates to, less than any row of vertices is apart.
const SAME_EDGE: f64 = 0.01;

impl Region {
    /// The vertices, ascending; `shape` as it was made, `placed` where it starts.
    ///
    /// # Errors
    /// The region holds none, or names one that does not exist.
    pub(super) fn select(
        &self,
        shape: &Triangles,
        placed: impl Fn(DVec3) -> DVec3,
    ) -> Result<Vec<u32>, String> {
        let count = shape.x.len() as u32;
        let chosen: Vec<u32> = match self {
            Self::All => (0..count).collect(),
            Self::Edge { towards } => farthest(shape, &[*towards]),
            Self::Corner { towards } => farthest(shape, towards),
            Self::Box { min, max } => {
                let (min, max) = (DVec3::from_array(*min), DVec3::from_array(*max));
                let inside = |v: &u32| {
                    let p = placed(shape.x[*v as usize]);
                    p.cmpge(min).all() && p.cmple(max).all()
                };
                (0..count).filter(inside).collect()
            }
            Self::Group { name } => in_group(shape, name)?,
            Self::Attribute { name, above } => {
                let values = shape.attribute(name)?;
                let chosen = |v: &u32| values[*v as usize] > *above;
                (0..count).filter(chosen).collect()
            }
            Self::Vertices { list } => {
                if let Some(v) = list.iter().find(|&&v| v >= count) {
                    return Err(format!("vertex {v}, but there are only {count} (from 0)"));
                }
                let mut list = list.clone();
                list.sort_unstable();
                list.dedup();
                list
            }
        };
        if chosen.is_empty() {
            return Err(match self {
                Self::Box { .. } => {
                    let (low, high) = shape
                        .x
                        .iter()
                        .map(|&p| placed(p))
                        .fold((DVec3::MAX, DVec3::MIN), |(low, high), p| {
                            (low.min(p), high.max(p))
                        });
                    format!("no vertex lies in the box; the object spans {low} to {high}")
                }
                Self::Attribute { name, above } => {
                    let values = shape.attribute(name)?;
                    let range = values
                        .iter()
                        .fold((f64::MAX, f64::MIN), |(low, high), &value| {
                            (low.min(value), high.max(value))
                        });
                    let (low, high) = range;
                    format!("no vertex has '{name}' above {above}; it goes from {low} to {high}")
                }
                _ => "no vertex is chosen".into(),
            });
        }
        Ok(chosen)
    }
}

fn in_group(shape: &Triangles, name: &str) -> Result<Vec<u32>, String> {
    let look = shape.look.as_deref();
    let vertices = look.map_or_else(Vec::new, |look| look.vertices_of(name));
    if !vertices.is_empty() {
        return Ok(vertices);
    }
    let names = look.map_or_else(Vec::new, Look::names).join(", ");
    Err(match names.is_empty() {
        true => format!("no group '{name}': only mesh files have groups, such as `g` in OBJ"),
        false => format!("no group, object or material '{name}'; the file has: {names}"),
    })
}

fn farthest(shape: &Triangles, towards: &[Direction]) -> Vec<u32> {
    let tolerance = SAME_EDGE * mean_edge(shape);
    let mut chosen: Vec<u32> = (0..shape.x.len() as u32).collect();
    for direction in towards {
        let along = |v: u32| shape.x[v as usize].dot(direction.vector());
        let all = (0..shape.x.len() as u32).map(along);
        let end = all.fold(f64::MIN, f64::max);
        chosen.retain(|&v| along(v) >= end - tolerance);
    }
    chosen
}

fn mean_edge(shape: &Triangles) -> f64 {
    let sides = shape.faces.iter().flat_map(|face| {
        let x = face.map(|v| shape.x[v as usize]);
        [x[0] - x[1], x[1] - x[2], x[2] - x[0]]
    });
    sides.map(DVec3::length).sum::<f64>() / (3 * shape.faces.len()) as f64
}

#[cfg(test)]
mod tests {
    use super::super::shapes::{Shape, Sheet};
    use super::*;

    fn sheet() -> Triangles {
        let shape = Shape::Sheet(Sheet {
            size: [2.0, 3.0],
            cells: [2, 3],
            centres: 0,
        });
        shape.triangles().unwrap()
    }

    #[test]
    fn edges_corners_boxes_and_lists_choose_what_they_say() {
        use Direction::{Back, Left, Right, Up};
        let select = |region: Region| region.select(&sheet(), |p| p + DVec3::Y);
        let edge = |towards| select(Region::Edge { towards }).unwrap();
        assert_eq!(edge(Left), [0, 3, 6, 9]);
        assert_eq!(edge(Right), [2, 5, 8, 11]);
        assert_eq!(edge(Back), [0, 1, 2]);
        assert_eq!(edge(Up).len(), 12, "a flat sheet is all top");
        let corner = Region::Corner {
            towards: [Back, Right],
        };
        assert_eq!(select(corner).unwrap(), [2]);
        assert_eq!(select(Region::All).unwrap().len(), 12);
        let list = Region::Vertices {
            list: vec![7, 1, 7],
        };
        assert_eq!(select(list).unwrap(), [1, 7]);
        let inside = |min, max| select(Region::Box { min, max });
        assert_eq!(inside([-0.1, 0.9, -0.6], [0.1, 1.1, 0.6]).unwrap(), [4, 7]);
        let message = inside([-0.1, -0.1, -0.6], [0.1, 0.1, 0.6]).unwrap_err();
        assert!(
            message.contains("[-1, 1, -1.5] to [1, 1, 1.5]"),
            "{message}"
        );
        let list = Region::Vertices { list: vec![12] };
        assert!(select(list).unwrap_err().contains("only 12"));
    }
}
