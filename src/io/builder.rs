//! Collects vertices and polygons while a file is read, then checks and triangulates them.

use std::collections::HashMap;
use std::mem;
use std::path::Path;
use std::sync::Arc;

use glam::{DVec2, DVec3};

use super::error::{FileError, Place, Problem};
use super::look::{Labelling, Look, NONE};
use super::mesh_file::{Attribute, MeshFile, Polygons, Uv};
use super::polygon::{self, MAX_CONCAVE};
use crate::geometry::mesh::duplicate;

/// A mesh while its file is being read.
///
/// Faces may use vertices that come later, so indices are checked at the end; every polygon remembers where it was.
pub(super) struct Builder<'a> {
    path: &'a Path,
    /// Number of the first vertex in messages: 1 in OBJ, 0 elsewhere.
    first: u32,
    /// Turns the places given to [`Builder::close_face`] into places for messages.
    place: fn(u64) -> Place,
    pub(super) positions: Vec<DVec3>,
    pub(super) uv: Vec<DVec2>,
    pub(super) attributes: Vec<Attribute>,
    /// Normals, each once.
    pub(super) normals: Vec<DVec3>,
    pub(super) objects: Labelling,
    pub(super) groups: Labelling,
    pub(super) materials: Labelling,
    pub(super) libraries: Vec<String>,
    corners: Vec<u32>,
    uv_corners: Vec<u32>,
    /// Of the corners so far, as far as there was a normal.
    normal_corners: Vec<u32>,
    polygons: Vec<Polygon>,
    part_names: Vec<String>,
    part_numbers: HashMap<String, u32>,
    part: u32,
}

struct Polygon {
    end: usize,
    place: u64,
    part: u32,
}

impl<'a> Builder<'a> {
    pub(super) fn new(path: &'a Path, first: u32, place: fn(u64) -> Place) -> Self {
        Self {
            path,
            first,
            place,
            positions: Vec::new(),
            uv: Vec::new(),
            attributes: Vec::new(),
            normals: Vec::new(),
            objects: Labelling::default(),
            groups: Labelling::default(),
            materials: Labelling::default(),
            libraries: Vec::new(),
            corners: Vec::new(),
            uv_corners: Vec::new(),
            normal_corners: Vec::new(),
            polygons: Vec::new(),
            part_names: Vec::new(),
            part_numbers: HashMap::new(),
            part: u32::MAX,
        }
    }

    /// The error that something is wrong at a place.
    pub(super) fn error(&self, place: u64, problem: Problem) -> FileError {
        FileError::new(self.path, (self.place)(place), problem)
    }

    /// The following faces belong to this object or group.
    pub(super) fn enter_part(&mut self, name: String) {
        let number = self.part_numbers.get(&name).copied();
        self.part = number.unwrap_or_else(|| {
            let number = self.part_names.len() as u32;
            self.part_names.push(name.clone());
            self.part_numbers.insert(name, number);
            number
        });
    }

    /// Adds a corner to the open face; indices count from 0.
    pub(super) fn push_corner(&mut self, vertex: u32, uv: Option<u32>) {
        self.corners.push(vertex);
        self.uv_corners.push(uv.unwrap_or(NONE));
    }

    /// The corner added last has this normal.
    pub(super) fn set_normal(&mut self, normal: u32) {
        let last = self.corners.len() - 1;
        self.normal_corners.resize(last, NONE);
        self.normal_corners.push(normal);
    }

    /// Normals were numbered as the file has them; these are their numbers in `normals`.
    pub(super) fn renumber_normals(&mut self, numbers: &[u32]) {
        for normal in self.normal_corners.iter_mut().filter(|n| **n != NONE) {
            *normal = numbers[*normal as usize];
        }
    }

    /// Ends the open face.
    pub(super) fn close_face(&mut self, place: u64) -> Result<(), FileError> {
        let end = self.corners.len();
        let count = end - self.polygons.last().map_or(0, |p| p.end);
        if count < 3 {
            let problem = Problem::Syntax {
                what: format!("a face with {count} corners"),
                remedy: "it needs at least three; remove it, or write an edge as a line element",
            };
            return Err(self.error(place, problem));
        }
        if end >= u32::MAX as usize {
            let problem = Problem::TooLarge {
                what: "the corners of all faces together",
                limit: u64::from(u32::MAX) - 1,
            };
            return Err(self.error(place, problem));
        }
        if self.part == u32::MAX {
            self.enter_part(String::new());
        }
        for labels in [&mut self.objects, &mut self.groups, &mut self.materials] {
            labels.label(self.polygons.len());
        }
        self.polygons.push(Polygon {
            end,
            place,
            part: self.part,
        });
        Ok(())
    }

    /// Checks everything and cuts polygons into triangles.
    pub(super) fn finish(mut self) -> Result<MeshFile, FileError> {
        if self.positions.is_empty() {
            let problem = Problem::NotAMesh("it has no vertices".into());
            return Err(FileError::new(self.path, Place::Whole, problem));
        }
        if self.positions.len() >= u32::MAX as usize {
            let problem = Problem::TooLarge {
                what: "the vertices",
                limit: u64::from(u32::MAX) - 1,
            };
            return Err(FileError::new(self.path, Place::Whole, problem));
        }
        let mut faces: Vec<[u32; 3]> = Vec::with_capacity(self.polygons.len());
        let mut uv_corners = Vec::with_capacity(if self.uv.is_empty() {
            0
        } else {
            self.polygons.len()
        });
        let mut part_of_face = Vec::with_capacity(self.polygons.len());
        let mut places = Vec::with_capacity(self.polygons.len());
        let mut start = 0;
        let mut triangles = Vec::new();
        for polygon in &self.polygons {
            let corners = &self.corners[start..polygon.end];
            let uv = &self.uv_corners[start..polygon.end];
            start = polygon.end;
            self.check_polygon(corners, uv, polygon.place)?;
            triangles.clear();
            if corners.len() == 3 {
                triangles.push([0, 1, 2]);
            } else {
                let around: Vec<DVec3> = corners
                    .iter()
                    .map(|&v| self.positions[v as usize])
                    .collect();
                triangles = polygon::triangulate(&around)
                    .map_err(|_| self.too_many_corners(corners.len(), polygon.place))?;
            }
            for t in &triangles {
                faces.push(t.map(|k| corners[k]));
                places.push(polygon.place);
                part_of_face.push(polygon.part);
                if !self.uv.is_empty() {
                    let mapped = t.map(|k| uv[k]);
                    uv_corners.push((!mapped.contains(&NONE)).then_some(mapped));
                }
            }
        }
        self.check_duplicates(&faces, &places)?;
        let has_uv = uv_corners.iter().any(Option::is_some);
        let named = self.part_names.iter().any(|n| !n.is_empty());
        let look = self.take_look();
        let all_triangles = faces.len() == look.polygons.sizes.len();
        Ok(MeshFile {
            path: self.path.to_owned(),
            positions: self.positions,
            faces,
            polygons: (!all_triangles).then(|| look.polygons.clone()),
            uv: has_uv.then(|| Uv {
                coordinates: look.uv.clone(),
                corners: uv_corners,
            }),
            look: look.says_something().then(|| Arc::new(look)),
            attributes: self.attributes,
            part_names: if named { self.part_names } else { Vec::new() },
            part_of_face: if named { part_of_face } else { Vec::new() },
        })
    }

    /// What has been read beyond triangles; it is taken out of the builder.
    fn take_look(&mut self) -> Look {
        let count = self.polygons.len();
        let starts = std::iter::once(0).chain(self.polygons.iter().map(|p| p.end));
        let sizes = self.polygons.iter().zip(starts);
        let sizes = sizes.map(|(p, start)| (p.end - start) as u32).collect();
        if !self.normal_corners.is_empty() {
            self.normal_corners.resize(self.corners.len(), NONE);
        }
        if self.uv_corners.iter().all(|&t| t == NONE) {
            self.uv_corners.clear();
        }
        let corners = mem::take(&mut self.corners);
        Look {
            polygons: Polygons { corners, sizes },
            uv: mem::take(&mut self.uv),
            uv_of_corner: mem::take(&mut self.uv_corners),
            normals: mem::take(&mut self.normals),
            normal_of_corner: mem::take(&mut self.normal_corners),
            objects: mem::take(&mut self.objects).finish(count),
            groups: mem::take(&mut self.groups).finish(count),
            materials: mem::take(&mut self.materials).finish(count),
            libraries: mem::take(&mut self.libraries),
            library: Vec::new(),
        }
    }

    fn check_polygon(&self, corners: &[u32], uv: &[u32], place: u64) -> Result<(), FileError> {
        let out_of_range = |what, index: u32, count: usize| {
            let problem = Problem::IndexOutOfRange {
                what,
                index: i64::from(index) + i64::from(self.first),
                count: count as u64,
                first: self.first,
            };
            Err(self.error(place, problem))
        };
        if let Some(&v) = corners
            .iter()
            .find(|&&v| v as usize >= self.positions.len())
        {
            return out_of_range("vertex", v, self.positions.len());
        }
        if let Some(&t) = uv
            .iter()
            .find(|&&t| t != NONE && t as usize >= self.uv.len())
        {
            return out_of_range("texture coordinate", t, self.uv.len());
        }
        let twice = if corners.len() <= 8 {
            (1..corners.len())
                .find(|&i| corners[..i].contains(&corners[i]))
                .map(|i| corners[i])
        } else {
            let mut sorted = corners.to_vec();
            sorted.sort_unstable();
            sorted.windows(2).find(|w| w[0] == w[1]).map(|w| w[0])
        };
        match twice {
            None => Ok(()),
            Some(vertex) => Err(self.error(
                place,
                Problem::DegenerateFace {
                    vertex: u64::from(vertex) + u64::from(self.first),
                    first: self.first,
                },
            )),
        }
    }

    fn check_duplicates(&self, faces: &[[u32; 3]], places: &[u64]) -> Result<(), FileError> {
        match duplicate(self.positions.len(), faces) {
            None => Ok(()),
            Some([first, second]) => Err(self.error(
                places[second],
                Problem::DuplicateFace {
                    first: (self.place)(places[first]),
                },
            )),
        }
    }

    fn too_many_corners(&self, count: usize, place: u64) -> FileError {
        let problem = Problem::Syntax {
            what: format!("a concave face with {count} corners, more than {MAX_CONCAVE}"),
            remedy: "triangulate the mesh in the program that wrote it",
        };
        self.error(place, problem)
    }
}
