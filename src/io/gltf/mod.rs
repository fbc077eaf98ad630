//! Characters from glTF 2.0, as .glb or as .gltf with everything in one file: surface, skin, animations.
//!
//! Vertices that programs have split where texture coordinates or normals differ are one vertex again: those of one part with the same
//! bits of position, joints and weights. They are numbered in the order in which they first appear. Triangles that become lines so are left
//! out, as are points and lines; strips and fans are refused. Texture coordinates, normals and materials stay with the corners and triangles.
//!
//! The crate `gltf` reads and validates the JSON; the numbers are read here, see `accessor`.

mod accessor;
pub(crate) mod write;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use glam::{DAffine3, DQuat, DVec2, DVec3};
use gltf::animation::{Interpolation, Property};
use gltf::mesh::{Mode, Primitive, Semantic};
use gltf::scene::Transform;
use gltf::{Document, Gltf};

use self::accessor::{Buffers, Wrong, affine, clip_names};
use super::error::{FileError, Place, Problem};
use super::look::{Labelling, Look, NONE};
use super::material::Material;
use super::mesh_file::{MeshFile, Uv};
use crate::skeleton::{Between, Channel, Clip, Local, Node, Part, Pose, Skinned};

/// A distance below which two poses are the same, as a share of the size of the body: what f32 keys make of equal ones is far less,
/// a step of a walk far more.
const SAME_POSE: f64 = 1e-4;

/// A surface, and what moves it.
#[derive(Clone, Debug)]
pub(crate) struct Character {
    /// The surface where it is without animation, in the file's units.
    pub(crate) mesh: MeshFile,
    /// Its skeleton and clips.
    pub(crate) skinned: Skinned,
    /// Clips that also move morph targets, which are not read.
    pub(crate) morphing: Vec<bool>,
    /// What is odd about it, in words.
    pub(crate) doubts: Vec<String>,
}

/// Reads a character; `part` takes only what has this name, a node or a mesh.
pub(crate) fn read(path: &Path, bytes: &[u8], part: Option<&str>) -> Result<Character, FileError> {
    let wrong = |text: String| FileError::new(path, Place::Whole, Problem::Character(text));
    check_whole(bytes).map_err(|problem| FileError::new(path, Place::Whole, problem))?;
    let file = Gltf::from_slice(bytes).map_err(|error| {
        let compressed = match error.to_string().contains("xtension") {
            true => "; export it without compression and extensions",
            false => "",
        };
        wrong(format!(
            "not glTF 2.0 that can be used: {error}{compressed}"
        ))
    })?;
    let buffers = Buffers::of(&file).map_err(wrong)?;
    let tree = Tree::of(&file).map_err(wrong)?;
    let mut surface = Surface::default();
    let mut known = Vec::new();
    for node in tree.shown(&file) {
        let Some(mesh) = node.mesh() else { continue };
        let names = [node.name(), mesh.name()].map(Option::unwrap_or_default);
        known.extend(
            names
                .iter()
                .filter(|name| !name.is_empty())
                .map(ToString::to_string),
        );
        if part.is_some_and(|part| !names.contains(&part)) {
            continue;
        }
        surface.add(&buffers, &tree, &node).map_err(wrong)?;
    }
    if surface.faces.is_empty() {
        known.dedup();
        let parts = known.join(", ");
        return Err(match part {
            Some(part) => wrong(format!("no part '{part}' with triangles; it has: {parts}")),
            None => FileError::new(path, Place::Whole, Problem::NoFaces),
        });
    }
    let doubts = surface.doubt_of_weights().into_iter().collect();
    let (clips, morphing) = tree.clips(&file, &buffers).map_err(wrong)?;
    let mut skinned = Skinned {
        nodes: tree.nodes,
        bones: surface.bones,
        places: surface.places,
        influences: surface.influences,
        first: surface.first,
        clips,
    };
    let positions = skinned.at_rest();
    let (low, high) = positions
        .iter()
        .fold((DVec3::MAX, DVec3::MIN), |(low, high), p| {
            (low.min(*p), high.max(*p))
        });
    skinned.close_clips(SAME_POSE * (high - low).length());
    let look = surface.looks.finish(&surface.faces);
    let mesh = MeshFile {
        path: path.into(),
        positions,
        uv: uv_of(&look),
        look: look.says_something().then(|| Arc::new(look)),
        faces: surface.faces,
        part_names: surface.part_names,
        part_of_face: surface.part_of_face,
        ..MeshFile::default()
    };
    Ok(Character {
        mesh,
        skinned,
        morphing,
        doubts,
    })
}

/// Whether this is the beginning of glTF, and all of it is there.
fn check_whole(bytes: &[u8]) -> Result<(), Problem> {
    let start = bytes.trim_ascii_start();
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    let ends = |promised: u32| format!("after {} of {promised} bytes", bytes.len());
    match bytes {
        _ if start.is_empty() => Err(Problem::NotAMesh("the file is empty".into())),
        [b'g', b'l', b'T', b'F', _, _, _, _, a, b, c, d, ..] => {
            let promised = u32::from_le_bytes([*a, *b, *c, *d]);
            match bytes.len() < promised as usize {
                true => Err(Problem::Truncated(ends(promised))),
                false => Ok(()),
            }
        }
        _ if start[0] == b'{' => match serde_json::from_slice::<serde::de::IgnoredAny>(start) {
            Err(error) if error.is_eof() => {
                Err(Problem::Truncated("in the middle of its JSON".into()))
            }
            _ => Ok(()),
        },
        _ => Err(Problem::NotAMesh(
            "glTF begins with the letters glTF (.glb) or with { (.gltf); export it again, or give the file its right extension".into(),
        )),
    }
}

/// The nodes, parents first.
struct Tree {
    nodes: Vec<Node>,
    /// By the number in the file.
    number: Vec<u32>,
}

impl Tree {
    fn of(document: &Document) -> Result<Self, Wrong> {
        let count = document.nodes().len();
        let mut parent = vec![None; count];
        for node in document.nodes() {
            for child in node.children() {
                if parent[child.index()].replace(node.index()).is_some() {
                    return Err(format!("node {} has two parents", child.index()));
                }
            }
        }
        let all: Vec<gltf::Node<'_>> = document.nodes().collect();
        let mut open: Vec<usize> = (0..count).rev().filter(|&n| parent[n].is_none()).collect();
        let (mut nodes, mut number) = (Vec::with_capacity(count), vec![u32::MAX; count]);
        while let Some(n) = open.pop() {
            number[n] = nodes.len() as u32;
            nodes.push(Node {
                name: all[n].name().unwrap_or_default().to_string(),
                parent: parent[n].map(|p: usize| number[p]),
                local: local(&all[n])?,
            });
            open.extend(all[n].children().map(|child| child.index()));
        }
        match number.iter().position(|&n| n == u32::MAX) {
            Some(n) => Err(format!("node {n} is its own ancestor")),
            None => Ok(Self { nodes, number }),
        }
    }

    /// The nodes of the scene that the file shows; all, if it does not say.
    fn shown<'a>(&self, document: &'a Document) -> Vec<gltf::Node<'a>> {
        let scene = document
            .default_scene()
            .or_else(|| document.scenes().next());
        let Some(scene) = scene else {
            return document.nodes().collect();
        };
        let mut shown = vec![false; self.number.len()];
        let mut open: Vec<gltf::Node<'a>> = scene.nodes().collect();
        while let Some(node) = open.pop() {
            if !std::mem::replace(&mut shown[node.index()], true) {
                open.extend(node.children());
            }
        }
        document
            .nodes()
            .filter(|node| shown[node.index()])
            .collect()
    }

    fn clips(
        &self,
        document: &Document,
        buffers: &Buffers,
    ) -> Result<(Vec<Clip>, Vec<bool>), Wrong> {
        let (mut clips, mut morphing) = (Vec::new(), Vec::new());
        for (animation, name) in document.animations().zip(clip_names(document)) {
            let mut channels = Vec::new();
            let mut morphs = false;
            for channel in animation.channels() {
                let target = channel.target();
                let what = format!("animation '{name}', channel {}", channel.index());
                let part = match target.property() {
                    Property::Translation => Part::Translation,
                    Property::Rotation => Part::Rotation,
                    Property::Scale => Part::Scale,
                    Property::MorphTargetWeights => {
                        morphs = true;
                        continue;
                    }
                };
                let node = self.number[target.node().index()];
                if matches!(self.nodes[node as usize].local, Local::Fixed(_)) {
                    return Err(format!(
                        "{what}: it moves a node that is placed by a matrix"
                    ));
                }
                channels.push(read_channel(
                    &channel.sampler(),
                    buffers,
                    node,
                    part,
                    &what,
                )?);
            }
            let ends = channels
                .iter()
                .map(|c| (c.times[0], c.times[c.times.len() - 1]));
            let (begin, end) = ends.fold((f64::MAX, f64::MIN), |(a, b), (from, to)| {
                (a.min(from), b.max(to))
            });
            if channels.is_empty() && !morphs {
                continue;
            }
            clips.push(Clip {
                name,
                begin: if channels.is_empty() { 0.0 } else { begin },
                end: if channels.is_empty() { 0.0 } else { end },
                closing: 0.0,
                channels,
            });
            morphing.push(morphs);
        }
        Ok((clips, morphing))
    }
}

fn local(node: &gltf::Node<'_>) -> Result<Local, Wrong> {
    let numbers = |values: [f32; 3]| DVec3::from_array(values.map(f64::from));
    let local = match node.transform() {
        Transform::Matrix { matrix } => {
            let flat: Vec<f64> = matrix.iter().flatten().map(|&m| f64::from(m)).collect();
            let flat: [f64; 16] = flat.try_into().expect("four columns of four");
            Local::Fixed(affine(&flat))
        }
        Transform::Decomposed {
            translation,
            rotation,
            scale,
        } => {
            let q = DQuat::from_array(rotation.map(f64::from));
            if q.length().partial_cmp(&0.0) != Some(std::cmp::Ordering::Greater) {
                return Err(format!(
                    "the rotation of node {} is no quaternion",
                    node.index()
                ));
            }
            Local::Pose(Pose {
                translation: numbers(translation),
                rotation: q * (1.0 / q.length()),
                scale: numbers(scale),
            })
        }
    };
    let matrix = match local {
        Local::Fixed(matrix) => matrix,
        Local::Pose(pose) => {
            DAffine3::from_scale_rotation_translation(pose.scale, pose.rotation, pose.translation)
        }
    };
    match matrix.is_finite() {
        true => Ok(local),
        false => Err(format!("the place of node {} is not finite", node.index())),
    }
}

fn read_channel(
    sampler: &gltf::animation::Sampler<'_>,
    buffers: &Buffers,
    node: u32,
    part: Part,
    what: &str,
) -> Result<Channel, Wrong> {
    let times = buffers.numbers::<1>(&sampler.input(), &format!("{what}: times"))?;
    let times: Vec<f64> = times.into_iter().map(|[time]| time).collect();
    if times.is_empty() {
        return Err(format!("{what}: it has no keys"));
    }
    if let Some(k) = times.windows(2).position(|pair| pair[1] <= pair[0]) {
        return Err(format!("{what}: key {} is not after the one before", k + 1));
    }
    let named = format!("{what}: values");
    let values: Vec<[f64; 4]> = match part {
        Part::Rotation => buffers.numbers::<4>(&sampler.output(), &named)?,
        _ => {
            let values = buffers.numbers::<3>(&sampler.output(), &named)?;
            values.into_iter().map(|[x, y, z]| [x, y, z, 0.0]).collect()
        }
    };
    let between = match sampler.interpolation() {
        Interpolation::Step => Between::Step,
        Interpolation::Linear => Between::Linear,
        Interpolation::CubicSpline => Between::Cubic,
    };
    let (each, middle) = match between {
        Between::Cubic => (3, 1),
        _ => (1, 0),
    };
    if values.len() != each * times.len() {
        let (found, wanted) = (values.len(), each * times.len());
        return Err(format!(
            "{what}: {found} values for {} keys, not {wanted}",
            times.len()
        ));
    }
    let is_null = |q: &&[f64; 4]| q.iter().all(|&c| c.abs() < 1e-6);
    if part == Part::Rotation
        && values
            .iter()
            .skip(middle)
            .step_by(each)
            .any(|q| is_null(&q))
    {
        return Err(format!("{what}: a rotation is no quaternion"));
    }
    Ok(Channel {
        node,
        part,
        between,
        times,
        values,
    })
}

/// The surface of all parts.
#[derive(Default)]
struct Surface {
    bones: Vec<(u32, DAffine3)>,
    places: Vec<DVec3>,
    influences: Vec<(u32, f64)>,
    first: Vec<u32>,
    faces: Vec<[u32; 3]>,
    part_names: Vec<String>,
    part_of_face: Vec<u32>,
    looks: Looks,
    /// Vertices whose weights do not sum to 1, how many there are, and the first with its sum.
    unequal: (usize, Option<(String, usize, f64)>),
}

/// Weights may be off by this much: eight bits each.
const WEIGHTS_OFF: f64 = 0.02;

/// What the file says of the surface beyond its triangles.
#[derive(Default)]
struct Looks {
    uv: Vec<DVec2>,
    uv_of_corner: Vec<u32>,
    normals: Vec<DVec3>,
    known_normals: HashMap<[u64; 3], u32>,
    normal_of_corner: Vec<u32>,
    objects: Labelling,
    materials: Labelling,
    library: Vec<Material>,
}

impl Looks {
    /// What corners of a primitive have, by its own vertices: texture coordinates and normals, numbered here. What cannot be read is none: nothing
    /// hangs on it.
    fn add(&mut self, buffers: &Buffers, primitive: &Primitive<'_>) -> [Vec<u32>; 2] {
        let uv = primitive.get(&Semantic::TexCoords(0));
        let uv = uv.and_then(|uv| buffers.numbers::<2>(&uv, "").ok());
        let first = self.uv.len() as u32;
        let uv = uv.unwrap_or_default();
        // v goes down in glTF
        let up = uv.iter().map(|&[u, v]| DVec2::new(u, 1.0 - v));
        self.uv.extend(up);
        let normals = primitive.get(&Semantic::Normals);
        let normals = normals.and_then(|normals| buffers.numbers::<3>(&normals, "").ok());
        let number = |normal: [f64; 3]| {
            let next = self.normals.len() as u32;
            let key = normal.map(|c| (c + 0.0).to_bits());
            let number = *self.known_normals.entry(key).or_insert(next);
            if number == next {
                self.normals.push(DVec3::from_array(normal));
            }
            number
        };
        let normals = normals
            .unwrap_or_default()
            .into_iter()
            .map(number)
            .collect();
        [(first..self.uv.len() as u32).collect(), normals]
    }

    /// A material as a library of OBJ says it; pictures are left out.
    fn enter_material(&mut self, material: &gltf::Material<'_>) {
        let Some(name) = material.name() else {
            return self.materials.enter("");
        };
        self.materials.enter(name);
        if self.library.iter().any(|known| known.name == name) {
            return;
        }
        let metal = material.pbr_metallic_roughness();
        let [r, g, b, opacity] = metal.base_color_factor();
        self.library.push(Material {
            name: name.into(),
            statements: vec![
                format!("Kd {r} {g} {b}"),
                format!("d {opacity}"),
                format!("Pm {}", metal.metallic_factor()),
                format!("Pr {}", metal.roughness_factor()),
            ],
        });
    }

    fn finish(self, faces: &[[u32; 3]]) -> Look {
        let none = |list: Vec<u32>| match list.iter().all(|&k| k == NONE) {
            true => Vec::new(),
            false => list,
        };
        Look {
            uv: self.uv,
            uv_of_corner: none(self.uv_of_corner),
            normals: self.normals,
            normal_of_corner: none(self.normal_of_corner),
            objects: self.objects.finish(faces.len()),
            materials: self.materials.finish(faces.len()),
            library: self.library,
            ..Look::of_triangles(faces)
        }
    }
}

/// Texture coordinates by triangle, as rest shapes need them.
fn uv_of(look: &Look) -> Option<Uv> {
    let corners = look.uv_of_corner.as_chunks::<3>().0.iter();
    (!look.uv_of_corner.is_empty()).then(|| Uv {
        coordinates: look.uv.clone(),
        corners: corners
            .map(|face| (!face.contains(&NONE)).then_some(*face))
            .collect(),
    })
}

impl Surface {
    fn doubt_of_weights(&self) -> Option<String> {
        let (count, first) = &self.unequal;
        let (name, vertex, sum) = first.as_ref()?;
        Some(format!(
            "has {count} vertices whose weights do not sum to 1, the first is {vertex} of '{name}' with {sum:.3}: they are divided by their sum"
        ))
    }

    fn add(&mut self, buffers: &Buffers, tree: &Tree, node: &gltf::Node<'_>) -> Result<(), Wrong> {
        let mesh = node.mesh().expect("the caller has looked");
        let name = node.name().or(mesh.name()).unwrap_or("part");
        let first_bone = self.bones.len() as u32;
        let joints = match node.skin() {
            None => {
                self.bones
                    .push((tree.number[node.index()], DAffine3::IDENTITY));
                None
            }
            Some(skin) => {
                let joints: Vec<u32> = skin
                    .joints()
                    .map(|joint| tree.number[joint.index()])
                    .collect();
                let binds = match skin.inverse_bind_matrices() {
                    Some(accessor) => buffers.matrices(&accessor, "inverse bind matrices")?,
                    None => vec![DAffine3::IDENTITY; joints.len()],
                };
                if binds.len() < joints.len() {
                    let (have, want) = (binds.len(), joints.len());
                    return Err(format!(
                        "the skin of '{name}' has {want} joints and {have} inverse bind matrices"
                    ));
                }
                self.bones.extend(joints.iter().copied().zip(binds));
                Some(joints.len())
            }
        };
        if self.first.is_empty() {
            self.first.push(0);
        }
        // split vertices of one part become one again, across its materials
        let mut seen: HashMap<Vec<u64>, u32> = HashMap::new();
        for primitive in mesh.primitives() {
            match primitive.mode() {
                Mode::Triangles => {}
                Mode::TriangleStrip | Mode::TriangleFan => {
                    return Err(format!(
                        "'{name}' is made of strips or fans; export it as triangles"
                    ));
                }
                _ => continue,
            }
            self.looks.objects.enter(name);
            self.looks.enter_material(&primitive.material());
            let own = self.looks.add(buffers, &primitive);
            let part = self.part_names.len() as u32;
            self.part_names.push(match primitive.material().name() {
                Some(material) => format!("{name} {material}"),
                None => name.to_string(),
            });
            let corners =
                self.vertices(buffers, &primitive, joints, first_bone, name, &mut seen)?;
            let indices: Vec<usize> = match primitive.indices() {
                Some(accessor) => {
                    let numbers =
                        buffers.numbers::<1>(&accessor, &format!("corners of '{name}'"))?;
                    numbers.into_iter().map(|[n]| n as usize).collect()
                }
                None => (0..corners.len()).collect(),
            };
            for (k, triangle) in indices.chunks_exact(3).enumerate() {
                if let Some(beyond) = triangle.iter().find(|&&v| v >= corners.len()) {
                    let count = corners.len();
                    return Err(format!(
                        "triangle {k} of '{name}' has the corner {beyond} of {count}"
                    ));
                }
                let [a, b, c] = [0, 1, 2].map(|i| corners[triangle[i]]);
                if a != b && b != c && c != a {
                    let [uv, normals] = &own;
                    let of = |list: &[u32], k: usize| list.get(triangle[k]).map_or(NONE, |&n| n);
                    for k in 0..3 {
                        self.looks.uv_of_corner.push(of(uv, k));
                        self.looks.normal_of_corner.push(of(normals, k));
                    }
                    self.looks.objects.label(self.faces.len());
                    self.looks.materials.label(self.faces.len());
                    self.faces.push([a, b, c]);
                    self.part_of_face.push(part);
                }
            }
        }
        Ok(())
    }

    /// The vertices of a primitive, by their numbers in the surface.
    fn vertices(
        &mut self,
        buffers: &Buffers,
        primitive: &Primitive<'_>,
        joints: Option<usize>,
        first_bone: u32,
        name: &str,
        seen: &mut HashMap<Vec<u64>, u32>,
    ) -> Result<Vec<u32>, Wrong> {
        let positions = primitive.get(&Semantic::Positions);
        let positions = positions.ok_or_else(|| format!("'{name}' has no positions"))?;
        let positions = buffers.numbers::<3>(&positions, &format!("positions of '{name}'"))?;
        let mut influences: Vec<Vec<(u32, f64)>> = vec![Vec::new(); positions.len()];
        match joints {
            None => influences
                .iter_mut()
                .for_each(|own| own.push((first_bone, 1.0))),
            Some(count) => {
                let sets = (0..).map(|set| {
                    (
                        primitive.get(&Semantic::Joints(set)),
                        primitive.get(&Semantic::Weights(set)),
                    )
                });
                for (bones, weights) in sets.map_while(|(a, b)| a.zip(b)) {
                    let bones = buffers.numbers::<4>(&bones, &format!("joints of '{name}'"))?;
                    let weights =
                        buffers.numbers::<4>(&weights, &format!("weights of '{name}'"))?;
                    for (v, (bones, weights)) in
                        bones.iter().zip(&weights).enumerate().take(positions.len())
                    {
                        for (&bone, &weight) in bones.iter().zip(weights) {
                            if weight < 0.0 {
                                return Err(format!(
                                    "vertex {v} of '{name}' has the weight {weight}; weights are at least 0: normalise them in the program it comes from"
                                ));
                            }
                            if weight > 0.0 && bone as usize >= count {
                                return Err(format!(
                                    "vertex {v} of '{name}' hangs on joint {bone}, but the skin has {count}, from 0; export the file anew"
                                ));
                            }
                            if weight > 0.0 {
                                influences[v].push((first_bone + bone as u32, weight));
                            }
                        }
                    }
                }
            }
        }
        if let Some(v) = influences.iter().position(Vec::is_empty) {
            return Err(format!(
                "vertex {v} of '{name}' has a skin but no weights, so no joint moves it; weight it in the program it comes from, \
                 or export the part without its skin"
            ));
        }
        let mut numbers = Vec::with_capacity(positions.len());
        for (place, mut own) in positions.iter().zip(influences) {
            own.sort_by_key(|&(bone, _)| bone);
            let sum: f64 = own.iter().map(|(_, weight)| weight).sum();
            if (sum - 1.0).abs() > WEIGHTS_OFF {
                let (count, first) = &mut self.unequal;
                first.get_or_insert_with(|| (name.into(), numbers.len(), sum));
                *count += 1;
            }
            for (_, weight) in &mut own {
                *weight /= sum;
            }
            // 0 and -0 are one place
            let mut key: Vec<u64> = place.iter().map(|c| (c + 0.0).to_bits()).collect();
            key.extend(
                own.iter()
                    .flat_map(|(bone, weight)| [u64::from(*bone), weight.to_bits()]),
            );
            let next = self.places.len() as u32;
            let number = *seen.entry(key).or_insert(next);
            if number == next {
                self.places.push(DVec3::from_array(*place));
                self.influences.extend(own);
                self.first.push(self.influences.len() as u32);
            }
            numbers.push(number);
        }
        Ok(numbers)
    }
}

#[cfg(test)]
mod tests;
