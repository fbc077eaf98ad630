//! Characters from glTF 2.0, as .glb or as .gltf with everything in one file: surface, skin, animations.
//!
//! Vertices that programs have split where texture coordinates or normals differ are one vertex again: those of one part with the same
//! bits of position, joints and weights. They are numbered in the order in which they first appear. Triangles that become lines so are left
//! out, as are points and lines; strips and fans are refused.
//!
//! The crate `gltf` reads and validates the JSON; the numbers are read here, see `accessor`.

mod accessor;
pub(crate) mod write;

use std::collections::HashMap;
use std::path::Path;

use glam::{DAffine3, DQuat, DVec3};
use gltf::animation::{Interpolation, Property};
use gltf::mesh::{Mode, Primitive, Semantic};
use gltf::scene::Transform;
use gltf::{Document, Gltf};

use self::accessor::{Buffers, Wrong, affine, clip_names};
use super::error::{FileError, Place, Problem};
use super::mesh_file::MeshFile;
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
}

/// Reads a character; `part` takes only what has this name, a node or a mesh.
pub(crate) fn read(path: &Path, bytes: &[u8], part: Option<&str>) -> Result<Character, FileError> {
    let wrong = |text: String| FileError::new(path, Place::Whole, Problem::Character(text));
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
    let mesh = MeshFile {
        path: path.into(),
        positions,
        faces: surface.faces,
        part_names: surface.part_names,
        part_of_face: surface.part_of_face,
        ..MeshFile::default()
    };
    Ok(Character {
        mesh,
        skinned,
        morphing,
    })
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
}

impl Surface {
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
                            if weight > 0.0 && bone as usize >= count {
                                return Err(format!(
                                    "vertex {v} of '{name}' hangs on joint {bone} of {count}"
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
