//! glTF as one .glb file: meshes whose morph targets are the frames, played by an animation of their weights.
//!
//! The mesh is the first frame; target k is what frame k adds to it, and the animation takes its weight to 1 at the time of that frame, straight
//! from key to key, so between frames vertices go straight as they do in a run. A vertex with several texture coordinates or normals is split as
//! glTF has it: the first of them keeps its number, the others stand behind all vertices. Polygons are triangles here.
//!
//! Why not `gltf-json`: its structs have no defaults, so every object is all of its fields. What is written is read back by `gltf` in the tests.

use std::collections::HashMap;
use std::io::{self, Write};

use glam::{DVec3, Vec3};
use serde_json::{Value, json};

use crate::io::look::{Look, NONE, Smooth};
use crate::io::material::Material;

const FLOAT: u32 = 5126;
const UNSIGNED: u32 = 5125;
/// Targets of buffer views.
const VERTICES: u32 = 34962;
const INDICES: u32 = 34963;

/// Most bytes of a .glb file: its length is a 32-bit number.
pub(crate) const MAX_BYTES: u64 = u32::MAX as u64;

/// A picture within the file.
#[derive(Clone, Debug)]
pub(crate) struct Picture {
    pub(crate) kind: &'static str,
    pub(crate) bytes: Vec<u8>,
}

impl Picture {
    /// What glTF can hold: PNG and JPEG.
    pub(crate) fn of(bytes: Vec<u8>) -> Option<Self> {
        let kind = match &bytes[..] {
            [0x89, b'P', b'N', b'G', ..] => "image/png",
            [0xff, 0xd8, 0xff, ..] => "image/jpeg",
            _ => return None,
        };
        Some(Self { kind, bytes })
    }
}

/// An object: its triangles, how it looks, and for each of its look's materials the number in the file.
pub(crate) struct Surface<'a> {
    pub(crate) name: &'a str,
    pub(crate) faces: Vec<[u32; 3]>,
    pub(crate) vertex_count: usize,
    pub(crate) look: &'a Look,
    pub(crate) materials: &'a [usize],
    /// Whether it may be anywhere else than at the start.
    pub(crate) moves: bool,
}

/// Where the vertex of a frame is for a program that reads the file: what it adds to the start is rounded.
pub(crate) fn as_read(start: DVec3, p: DVec3) -> DVec3 {
    (start.as_vec3() + added(start, p)).as_dvec3()
}

fn added(start: DVec3, p: DVec3) -> Vec3 {
    (p.as_vec3().as_dvec3() - start.as_vec3().as_dvec3()).as_vec3()
}

/// A surface with its vertices split.
struct Split<'a> {
    surface: &'a Surface<'a>,
    smooth: Smooth,
    /// For each vertex of the file: the object's, its normal, its texture coordinates.
    vertex: Vec<u32>,
    normal: Vec<u32>,
    uv: Vec<[f32; 2]>,
    /// Triangles by material, [`NONE`] for those without.
    triangles: Vec<(u32, Vec<u32>)>,
}

impl<'a> Split<'a> {
    fn of(surface: &'a Surface<'a>) -> Self {
        let look = surface.look;
        let smooth = look.smooth(surface.vertex_count);
        let mut split = Self {
            surface,
            vertex: (0..surface.vertex_count as u32).collect(),
            normal: (0..surface.vertex_count as u32).collect(),
            uv: vec![[0.0; 2]; surface.vertex_count],
            smooth,
            triangles: Vec::new(),
        };
        let mut numbers: HashMap<(u32, u32, [u32; 2]), u32> = HashMap::new();
        let mut is_taken = vec![false; surface.vertex_count];
        let mut by_material: Vec<Vec<u32>> = vec![Vec::new(); look.materials.names.len() + 1];
        let mut faces = surface.faces.iter();
        for (polygon, range) in look.polygons.ranges().enumerate() {
            let none = by_material.len() - 1;
            let material = look.materials.of_polygon.get(polygon);
            let material = material.map_or(none, |&m| (m as usize).min(none));
            for face in faces.by_ref().take(range.len() - 2) {
                for v in face {
                    let mut corners = range.clone();
                    let k = corners.find(|&k| look.polygons.corners[k] == *v);
                    let k = k.expect("triangles have the corners of their polygon");
                    let t = look.uv_of_corner.get(k).copied().unwrap_or(NONE);
                    let t = look.uv.get(t as usize).map_or([0.0; 2], |t| {
                        [t.x as f32, (1.0 - t.y) as f32] // v goes down in glTF
                    });
                    let normal = split.smooth.of_corner[k];
                    let key = (*v, normal, t.map(f32::to_bits));
                    let number = *numbers.entry(key).or_insert_with(|| {
                        if !std::mem::replace(&mut is_taken[*v as usize], true) {
                            (split.normal[*v as usize], split.uv[*v as usize]) = (normal, t);
                            return *v;
                        }
                        split.vertex.push(*v);
                        split.normal.push(normal);
                        split.uv.push(t);
                        split.vertex.len() as u32 - 1
                    });
                    by_material[material].push(number);
                }
            }
        }
        let last = by_material.len() - 1;
        for (material, corners) in by_material.into_iter().enumerate() {
            let number = if material == last {
                NONE
            } else {
                material as u32
            };
            if !corners.is_empty() {
                split.triangles.push((number, corners));
            }
        }
        split
    }

    fn has_uv(&self) -> bool {
        !self.surface.look.uv_of_corner.is_empty()
    }

    fn targets(&self, frame_count: u64) -> u64 {
        if self.surface.moves {
            frame_count - 1
        } else {
            0
        }
    }

    /// Bytes of its numbers.
    fn bytes(&self, frame_count: u64) -> u64 {
        let count = self.vertex.len() as u64;
        let uv = if self.has_uv() { 8 } else { 0 };
        count * (24 + uv + 24 * self.targets(frame_count)) + 12 * self.surface.faces.len() as u64
    }

    /// Positions and normals of the file's vertices.
    fn vertices(&self, x: &[DVec3]) -> (Vec<DVec3>, Vec<Vec3>) {
        let normals = self.surface.look.normals_at(&self.smooth, x);
        (
            self.vertex.iter().map(|&v| x[v as usize]).collect(),
            self.normal
                .iter()
                .map(|&n| normals[n as usize].as_vec3())
                .collect(),
        )
    }
}

/// The JSON part while it grows, with the layout of the numbers.
#[derive(Default)]
struct Layout {
    views: Vec<Value>,
    accessors: Vec<Value>,
    bytes: u64,
}

impl Layout {
    fn view(&mut self, length: u64, target: Option<u32>) -> usize {
        let mut view = json!({ "buffer": 0, "byteOffset": self.bytes, "byteLength": length });
        if let Some(target) = target {
            view["target"] = target.into();
        }
        self.bytes += length.next_multiple_of(4);
        self.views.push(view);
        self.views.len() - 1
    }

    fn accessor(&mut self, count: usize, kind: &str, type_: u32, target: Option<u32>) -> usize {
        let wide = match kind {
            "SCALAR" => 1,
            "VEC2" => 2,
            _ => 3,
        };
        let view = self.view(4 * wide * count as u64, target);
        self.accessors.push(
            json!({ "bufferView": view, "componentType": type_, "count": count, "type": kind }),
        );
        self.accessors.len() - 1
    }

    /// The smallest and largest of numbers, which readers want to know of positions and times.
    fn bound(&mut self, accessor: usize, low: &[f32], high: &[f32]) {
        self.accessors[accessor]["min"] = json!(low);
        self.accessors[accessor]["max"] = json!(high);
    }
}

/// A scene of surfaces: written by [`Film::write`] from positions by object and frame.
pub(crate) struct Film<'a> {
    /// Of each frame, in seconds, ascending from 0.
    times: &'a [f64],
    frame_count: u64,
    materials: &'a [Material],
    /// For each material its picture.
    pictures: &'a [Option<Picture>],
    surfaces: Vec<Split<'a>>,
}

impl<'a> Film<'a> {
    pub(crate) fn new(
        times: &'a [f64],
        surfaces: &'a [Surface<'a>],
        materials: &'a [Material],
        pictures: &'a [Option<Picture>],
    ) -> Self {
        Self {
            times,
            frame_count: times.len() as u64,
            materials,
            pictures,
            surfaces: surfaces.iter().map(Split::of).collect(),
        }
    }

    /// Bytes of the file, but for the few that describe it.
    pub(crate) fn about_bytes(&self) -> u64 {
        let surfaces = self.surfaces.iter().map(|s| s.bytes(self.frame_count));
        let pictures = self.pictures.iter().flatten().map(|p| p.bytes.len() as u64);
        let weights = match self.surfaces.iter().any(|s| s.surface.moves) {
            true => 4 * self.frame_count * self.frame_count,
            false => 0,
        };
        surfaces.chain(pictures).sum::<u64>() + weights
    }

    /// Writes the file; `positions` is asked for an object and a frame, twice for each.
    ///
    /// # Errors
    /// More than a .glb can hold; what positions or the system refuse.
    pub(crate) fn write(
        &self,
        out: &mut dyn Write,
        positions: &dyn Fn(usize, u64) -> io::Result<Vec<DVec3>>,
    ) -> io::Result<()> {
        let mut layout = Layout::default();
        let mut nodes = Vec::new();
        let mut meshes = Vec::new();
        let mut moving = Vec::new();
        for (number, split) in self.surfaces.iter().enumerate() {
            if split.targets(self.frame_count) > 0 {
                moving.push(number);
            }
            nodes.push(json!({ "name": split.surface.name, "mesh": number }));
            meshes.push(self.mesh(split, number, &mut layout, positions)?);
        }
        let mut root = json!({
            "asset": { "version": "2.0", "generator": concat!("Percale ", env!("CARGO_PKG_VERSION")) },
            "scene": 0,
            "scenes": [{ "nodes": (0..nodes.len()).collect::<Vec<_>>() }],
            "nodes": nodes,
            "meshes": meshes,
        });
        let materials = self.material_list();
        if !materials.is_empty() {
            root["materials"] = materials.into();
        }
        if !moving.is_empty() {
            root["animations"] = self.animation(&moving, &mut layout);
        }
        self.pictures_into(&mut root, &mut layout);
        root["bufferViews"] = layout.views.into();
        root["accessors"] = layout.accessors.into();
        root["buffers"] = json!([{ "byteLength": layout.bytes }]);
        let mut text = root.to_string().into_bytes();
        text.resize(text.len().next_multiple_of(4), b' ');
        let length = 12 + 8 + text.len() as u64 + 8 + layout.bytes;
        let length = u32::try_from(length).map_err(|_| too_large(length))?;
        for word in [0x4654_6c67, 2, length, text.len() as u32, 0x4e4f_534a] {
            out.write_all(&u32::to_le_bytes(word))?;
        }
        out.write_all(&text)?;
        for word in [layout.bytes as u32, 0x004e_4942] {
            out.write_all(&word.to_le_bytes())?;
        }
        self.numbers(out, !moving.is_empty(), positions)
    }

    /// The description of a mesh; the order of its numbers is that of [`Film::numbers`].
    fn mesh(
        &self,
        split: &Split<'_>,
        number: usize,
        layout: &mut Layout,
        positions: &dyn Fn(usize, u64) -> io::Result<Vec<DVec3>>,
    ) -> io::Result<Value> {
        let count = split.vertex.len();
        let first = split.vertices(&positions(number, 0)?).0;
        let place = layout.accessor(count, "VEC3", FLOAT, Some(VERTICES));
        let (low, high) = bounds(first.iter().map(|p| p.as_vec3()));
        layout.bound(place, &low, &high);
        let normal = layout.accessor(count, "VEC3", FLOAT, Some(VERTICES));
        let mut attributes = json!({ "POSITION": place, "NORMAL": normal });
        if split.has_uv() {
            attributes["TEXCOORD_0"] = layout.accessor(count, "VEC2", FLOAT, Some(VERTICES)).into();
        }
        let mut parts = Vec::new();
        for (material, corners) in &split.triangles {
            let indices = layout.accessor(corners.len(), "SCALAR", UNSIGNED, Some(INDICES));
            let material = match *material {
                NONE => self.materials.len(),
                own => split.surface.materials[own as usize],
            };
            parts.push(
                json!({ "attributes": attributes, "indices": indices, "material": material }),
            );
        }
        let targets = split.targets(self.frame_count);
        let mut list = Vec::new();
        for frame in 1..=targets {
            let x = split.vertices(&positions(number, frame)?).0;
            let moved = first.iter().zip(&x).map(|(&a, &b)| added(a, b));
            let place = layout.accessor(count, "VEC3", FLOAT, Some(VERTICES));
            let (low, high) = bounds(moved);
            layout.bound(place, &low, &high);
            let normal = layout.accessor(count, "VEC3", FLOAT, Some(VERTICES));
            list.push(json!({ "POSITION": place, "NORMAL": normal }));
        }
        let mut mesh = json!({ "name": split.surface.name });
        if targets > 0 {
            for part in &mut parts {
                part["targets"] = list.clone().into();
            }
            mesh["weights"] = vec![0; targets as usize].into();
            let names: Vec<String> = (1..=targets)
                .map(|frame| format!("frame {frame}"))
                .collect();
            mesh["extras"] = json!({ "targetNames": names });
        }
        mesh["primitives"] = parts.into();
        Ok(mesh)
    }

    fn animation(&self, moving: &[usize], layout: &mut Layout) -> Value {
        let count = self.frame_count as usize;
        let times = layout.accessor(count, "SCALAR", FLOAT, None);
        layout.bound(times, &[0.0], &[self.time(self.frame_count - 1)]);
        let weights = layout.accessor(count * (count - 1), "SCALAR", FLOAT, None);
        let sampler = json!({ "input": times, "output": weights, "interpolation": "LINEAR" });
        let channels: Vec<Value> = moving
            .iter()
            .map(|node| json!({ "sampler": 0, "target": { "node": node, "path": "weights" } }))
            .collect();
        json!([{ "name": "frames", "samplers": [sampler], "channels": channels }])
    }

    fn time(&self, frame: u64) -> f32 {
        self.times[frame as usize] as f32
    }

    /// The materials, and the one of what has none: cloth has two sides and is no metal.
    fn material_list(&self) -> Vec<Value> {
        let (mut list, mut picture) = (Vec::new(), 0);
        for (material, own) in self.materials.iter().zip(self.pictures) {
            let [r, g, b] = match own {
                Some(_) => [1.0; 3],
                None => material.colour().unwrap_or([0.8; 3]),
            };
            let opacity = material.opacity().unwrap_or(1.0);
            let mut value = json!({
                "name": material.name,
                "doubleSided": true,
                "pbrMetallicRoughness": {
                    "baseColorFactor": [r, g, b, opacity],
                    "metallicFactor": material.metallic().unwrap_or(0.0),
                    "roughnessFactor": material.roughness().unwrap_or(1.0),
                },
            });
            if opacity < 1.0 {
                value["alphaMode"] = "BLEND".into();
            }
            if own.is_some() {
                value["pbrMetallicRoughness"]["baseColorTexture"] = json!({ "index": picture });
                picture += 1;
            }
            list.push(value);
        }
        let is_bare = |split: &Split<'_>| split.triangles.iter().any(|(m, _)| *m == NONE);
        if self.surfaces.iter().any(is_bare) {
            list.push(json!({
                "name": "default",
                "doubleSided": true,
                "pbrMetallicRoughness": { "metallicFactor": 0.0, "roughnessFactor": 1.0 },
            }));
        }
        list
    }

    fn pictures_into(&self, root: &mut Value, layout: &mut Layout) {
        let own: Vec<&Picture> = self.pictures.iter().flatten().collect();
        if own.is_empty() {
            return;
        }
        let images: Vec<Value> = own
            .iter()
            .map(|picture| {
                let view = layout.view(picture.bytes.len() as u64, None);
                json!({ "bufferView": view, "mimeType": picture.kind })
            })
            .collect();
        let textures: Vec<Value> = (0..own.len())
            .map(|number| json!({ "source": number, "sampler": 0 }))
            .collect();
        root["images"] = images.into();
        root["textures"] = textures.into();
        root["samplers"] = json!([{ "wrapS": 10497, "wrapT": 10497 }]);
    }

    /// Writes all numbers in the order of the layout.
    fn numbers(
        &self,
        out: &mut dyn Write,
        is_moving: bool,
        positions: &dyn Fn(usize, u64) -> io::Result<Vec<DVec3>>,
    ) -> io::Result<()> {
        for (number, split) in self.surfaces.iter().enumerate() {
            let (first, normals) = split.vertices(&positions(number, 0)?);
            vectors(out, first.iter().map(|p| p.as_vec3()))?;
            vectors(out, normals.iter().copied())?;
            if split.has_uv() {
                for c in split.uv.as_flattened() {
                    out.write_all(&c.to_le_bytes())?;
                }
            }
            for v in split.triangles.iter().flat_map(|(_, corners)| corners) {
                out.write_all(&v.to_le_bytes())?;
            }
            for frame in 1..=split.targets(self.frame_count) {
                let (x, now) = split.vertices(&positions(number, frame)?);
                vectors(out, first.iter().zip(&x).map(|(&a, &b)| added(a, b)))?;
                vectors(out, normals.iter().zip(&now).map(|(a, b)| *b - *a))?;
            }
        }
        if is_moving {
            for frame in 0..self.frame_count {
                out.write_all(&self.time(frame).to_le_bytes())?;
            }
            for frame in 0..self.frame_count {
                for target in 1..self.frame_count {
                    let weight = if frame == target { 1f32 } else { 0.0 };
                    out.write_all(&weight.to_le_bytes())?;
                }
            }
        }
        for picture in self.pictures.iter().flatten() {
            out.write_all(&picture.bytes)?;
            let length = picture.bytes.len();
            out.write_all(&[0; 3][..length.next_multiple_of(4) - length])?;
        }
        Ok(())
    }
}

/// The error that a file would be too long.
pub(crate) fn too_large(bytes: u64) -> io::Error {
    io::Error::other(format!(
        "it would have {:.1} GB, and a .glb file ends at 4.3 GB: every frame holds all vertices; choose fewer frames (--frames \"every 2\") or objects \
         (--objects), or export usda or pc2",
        bytes as f64 / 1e9
    ))
}

fn vectors(out: &mut dyn Write, x: impl Iterator<Item = Vec3>) -> io::Result<()> {
    for c in x.flat_map(|p| p.to_array()) {
        out.write_all(&c.to_le_bytes())?;
    }
    Ok(())
}

fn bounds(x: impl Iterator<Item = Vec3>) -> ([f32; 3], [f32; 3]) {
    let (low, high) = x.fold((Vec3::MAX, Vec3::MIN), |(low, high), p| {
        (low.min(p), high.max(p))
    });
    (low.to_array(), high.to_array())
}
