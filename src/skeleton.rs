//! Bodies that a skeleton moves: linear blend skinning as a pure function of time.
//!
//! Internal: may change without notice. Open because `script::Motion` holds one.
//!
//! Source: the glTF 2.0 specification, §3.7.3 (skins) and appendix C (interpolation). A vertex goes where its joints take it:
//!
//! ```text
//! x(t) = Σ wₖ · G(jₖ, t) · Bₖ · p,    Σ wₖ = 1
//! ```
//!
//! with p its place in the mesh, B the inverse bind matrix of a joint and G the product of the poses from the root down to it.
//! Everything is f64, summed in a fixed order, with + − × ÷ √ and the `libm` crate only. A rigid part is one whose only joint is the
//! node that carries it. Poses are looked up by time alone, so a restart gives the same bits.

use glam::{DAffine3, DQuat, DVec3};

use crate::script::slerp;

/// A surface bound to a tree of joints, and the motions that its file has for them.
#[derive(Clone, Debug, PartialEq)]
pub struct Skinned {
    /// Joints and what carries them, parents before their children.
    pub nodes: Vec<Node>,
    /// What vertices can be bound to: a node, and the matrix that takes the mesh to the node's coordinates.
    pub bones: Vec<(u32, DAffine3)>,
    /// Places of the vertices in the mesh.
    pub places: Vec<DVec3>,
    /// For each vertex its bones and their weights, which sum to 1: `influences[first[v]..first[v + 1]]`.
    pub influences: Vec<(u32, f64)>,
    /// One more than there are vertices.
    pub first: Vec<u32>,
    /// Motions of the joints.
    pub clips: Vec<Clip>,
}

/// A joint, or what carries one.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Its name in the file; may be empty.
    pub name: String,
    /// Its parent, which comes before it.
    pub parent: Option<u32>,
    /// Where it is without animation, seen from its parent.
    pub local: Local,
}

/// A place seen from a parent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Local {
    /// In parts, which a clip may move.
    Pose(Pose),
    /// A matrix, which nothing moves.
    Fixed(DAffine3),
}

/// A scale, then a rotation, then a translation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Translation.
    pub translation: DVec3,
    /// Rotation; unit length.
    pub rotation: DQuat,
    /// Scale along the axes.
    pub scale: DVec3,
}

impl Pose {
    fn matrix(&self) -> DAffine3 {
        DAffine3::from_scale_rotation_translation(self.scale, self.rotation, self.translation)
    }

    /// A share of the way to another pose.
    fn towards(&self, other: &Self, share: f64) -> Self {
        Self {
            translation: self.translation + share * (other.translation - self.translation),
            rotation: slerp(self.rotation, other.rotation, share),
            scale: self.scale + share * (other.scale - self.scale),
        }
    }
}

/// A motion of joints.
#[derive(Clone, Debug, PartialEq)]
pub struct Clip {
    /// Its name in the file; may be empty.
    pub name: String,
    /// Time of its first key, s.
    pub begin: f64,
    /// Time of its last key, s.
    pub end: f64,
    /// How long it takes from its last pose to its first when it repeats, s; 0 where they are the same.
    pub closing: f64,
    /// What it moves.
    pub channels: Vec<Channel>,
}

/// Keys of one part of one pose.
#[derive(Clone, Debug, PartialEq)]
pub struct Channel {
    /// The node.
    pub node: u32,
    /// Which part of its pose.
    pub part: Part,
    /// How to get from key to key.
    pub between: Between,
    /// Times of the keys, ascending, s.
    pub times: Vec<f64>,
    /// Values: x, y, z, and w of a rotation. With [`Between::Cubic`] three for each key: tangent in, value, tangent out.
    pub values: Vec<[f64; 4]>,
}

/// A part of a pose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Translation.
    Translation,
    /// Rotation.
    Rotation,
    /// Scale.
    Scale,
}

/// How a channel gets from key to key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Between {
    /// Stays, then jumps.
    Step,
    /// Straight; rotations at constant angular speed, the shorter way.
    Linear,
    /// Hermite's cubic.
    Cubic,
}

/// When a clip is played.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Playing {
    /// Which clip.
    pub clip: usize,
    /// When it begins, s; before that it stands in its first pose.
    pub start: f64,
    /// How long before `start` it takes from the pose of the file without animation to the first of the clip, s; 0: it is there always.
    pub blend: f64,
    /// Seconds of the clip per second.
    pub speed: f64,
    /// Whether it begins anew at its end; otherwise it stays in its last pose.
    pub repeat: bool,
}

impl Skinned {
    /// Vertices.
    pub fn vertex_count(&self) -> usize {
        self.places.len()
    }

    /// Where all vertices are without animation.
    pub fn at_rest(&self) -> Vec<DVec3> {
        self.skin(&self.rest_poses())
    }

    /// Where all vertices are at a time of the playing.
    pub fn at(&self, playing: &Playing, time: f64) -> Vec<DVec3> {
        self.skin(&self.poses(playing, time))
    }

    fn poses(&self, playing: &Playing, time: f64) -> Vec<Local> {
        let clip = &self.clips[playing.clip];
        let since = time - playing.start;
        let length = clip.end - clip.begin;
        let elapsed = (playing.speed * since).max(0.0);
        let elapsed = match playing.repeat && length > 0.0 {
            true => elapsed % (length + clip.closing),
            false => elapsed.min(length),
        };
        let mut poses = self.posed(clip, clip.begin + elapsed.min(length));
        if elapsed > length {
            let first = self.posed(clip, clip.begin);
            go_towards(&mut poses, &first, (elapsed - length) / clip.closing);
        }
        if since < 0.0 && playing.blend > 0.0 {
            let share = (1.0 + since / playing.blend).max(0.0);
            let share = share * share * (3.0 - 2.0 * share);
            go_towards(&mut poses, &self.rest_poses(), 1.0 - share);
        }
        poses
    }

    /// Lets every clip close over the time of one key where its last pose is not its first: files of walks hold each pose of the cycle once.
    ///
    /// `same` is the distance below which two poses are the same, in the units of the file.
    pub fn close_clips(&mut self, same: f64) {
        for clip in 0..self.clips.len() {
            let is_open = self.gap_of_repetition(clip) > same;
            let clip = &mut self.clips[clip];
            let keys = clip.channels.iter().map(|channel| channel.times.len());
            let steps = keys.max().unwrap_or(1).saturating_sub(1).max(1);
            clip.closing = match is_open {
                true => (clip.end - clip.begin) / steps as f64,
                false => 0.0,
            };
        }
    }

    /// How far a vertex is from its place at the beginning of a clip when the clip ends, at most.
    pub fn gap_of_repetition(&self, clip: usize) -> f64 {
        let clip = &self.clips[clip];
        let [first, last] = [clip.begin, clip.end].map(|time| self.skin(&self.posed(clip, time)));
        let gaps = first.iter().zip(&last).map(|(a, b)| a.distance(*b));
        gaps.fold(0.0, f64::max)
    }

    /// The same skeleton with other vertices bound to it: those that are at `x` at a time of the playing, each with the given influences.
    ///
    /// None where the bones of a vertex flatten space at that time, so that nothing is known of where it was.
    pub fn bind(
        &self,
        playing: &Playing,
        time: f64,
        x: &[DVec3],
        influences: Vec<Vec<(u32, f64)>>,
    ) -> Option<Self> {
        let bones = self.bones_in(&self.poses(playing, time));
        let place = |(x, own): (&DVec3, &Vec<(u32, f64)>)| {
            let mut blend = DAffine3::ZERO;
            for &(bone, weight) in own {
                let matrix = bones[bone as usize];
                blend.matrix3 += weight * matrix.matrix3;
                blend.translation += weight * matrix.translation;
            }
            let place = blend.inverse().transform_point3(*x);
            place.is_finite().then_some(place)
        };
        let places = x
            .iter()
            .zip(&influences)
            .map(place)
            .collect::<Option<_>>()?;
        let mut first = vec![0];
        let ends = influences.iter().scan(0, |end, own| {
            *end += own.len() as u32;
            Some(*end)
        });
        first.extend(ends);
        Some(Self {
            nodes: self.nodes.clone(),
            bones: self.bones.clone(),
            places,
            influences: influences.concat(),
            first,
            clips: self.clips.clone(),
        })
    }

    /// Which vertices hang mostly on these joints or on what these carry; or the name that no joint has.
    pub fn hanging_on<'n>(&self, joints: &'n [String]) -> Result<Vec<bool>, &'n str> {
        let mut chosen = vec![false; self.nodes.len()];
        for name in joints {
            let mut named = (0..self.nodes.len()).filter(|&n| self.nodes[n].name == *name);
            chosen[named.next().ok_or(name.as_str())?] = true;
        }
        for n in 0..self.nodes.len() {
            let carried = self.nodes[n]
                .parent
                .is_some_and(|parent| chosen[parent as usize]);
            chosen[n] |= carried;
        }
        let vertices = self.first.windows(2).map(|own| {
            let own = &self.influences[own[0] as usize..own[1] as usize];
            let share = |&&(bone, _): &&(u32, f64)| chosen[self.bones[bone as usize].0 as usize];
            own.iter()
                .filter(share)
                .map(|(_, weight)| weight)
                .sum::<f64>()
                > 0.5
        });
        Ok(vertices.collect())
    }

    /// Only these vertices, renumbered in their order.
    pub fn only(&self, vertices: &[u32]) -> Self {
        let mut first = vec![0];
        let mut influences = Vec::new();
        for &v in vertices {
            let own = self.first[v as usize] as usize..self.first[v as usize + 1] as usize;
            influences.extend_from_slice(&self.influences[own]);
            first.push(influences.len() as u32);
        }
        Self {
            nodes: self.nodes.clone(),
            bones: self.bones.clone(),
            places: vertices.iter().map(|&v| self.places[v as usize]).collect(),
            influences,
            first,
            clips: self.clips.clone(),
        }
    }

    /// The bones of a point of a face and their weights: those of its corners, by its barycentric coordinates.
    pub fn influences_at(&self, face: [u32; 3], weights: [f64; 3]) -> Vec<(u32, f64)> {
        let mut all: Vec<(u32, f64)> = Vec::new();
        for (v, share) in face.into_iter().zip(weights) {
            let own = self.first[v as usize] as usize..self.first[v as usize + 1] as usize;
            for &(bone, weight) in &self.influences[own] {
                match all.iter_mut().find(|(known, _)| *known == bone) {
                    Some((_, sum)) => *sum += share * weight,
                    None => all.push((bone, share * weight)),
                }
            }
        }
        all
    }

    fn rest_poses(&self) -> Vec<Local> {
        self.nodes.iter().map(|node| node.local).collect()
    }

    /// The poses of all nodes at a time of a clip.
    fn posed(&self, clip: &Clip, time: f64) -> Vec<Local> {
        let mut poses = self.rest_poses();
        for channel in &clip.channels {
            let Local::Pose(pose) = &mut poses[channel.node as usize] else {
                continue; // reading has refused it
            };
            let value = channel.at(time);
            let [x, y, z, _] = value;
            match channel.part {
                Part::Translation => pose.translation = DVec3::new(x, y, z),
                Part::Scale => pose.scale = DVec3::new(x, y, z),
                Part::Rotation => pose.rotation = DQuat::from_array(value),
            }
        }
        poses
    }

    fn bones_in(&self, poses: &[Local]) -> Vec<DAffine3> {
        let mut global: Vec<DAffine3> = Vec::with_capacity(poses.len());
        for (node, pose) in self.nodes.iter().zip(poses) {
            let local = match pose {
                Local::Pose(pose) => pose.matrix(),
                Local::Fixed(matrix) => *matrix,
            };
            global.push(match node.parent {
                Some(parent) => global[parent as usize] * local,
                None => local,
            });
        }
        let bones = self.bones.iter();
        bones
            .map(|(node, bind)| global[*node as usize] * *bind)
            .collect()
    }

    fn skin(&self, poses: &[Local]) -> Vec<DVec3> {
        let bones = self.bones_in(poses);
        let place = |(v, p): (usize, &DVec3)| {
            let own = self.first[v] as usize..self.first[v + 1] as usize;
            let parts = self.influences[own].iter();
            parts.fold(DVec3::ZERO, |sum, &(bone, weight)| {
                sum + weight * bones[bone as usize].transform_point3(*p)
            })
        };
        self.places.iter().enumerate().map(place).collect()
    }
}

/// Takes poses a share of the way to others.
fn go_towards(poses: &mut [Local], others: &[Local], share: f64) {
    for (pose, other) in poses.iter_mut().zip(others) {
        if let (Local::Pose(pose), Local::Pose(other)) = (pose, other) {
            *pose = pose.towards(other, share);
        }
    }
}

impl Channel {
    /// The value at a time; a rotation has unit length.
    fn at(&self, time: f64) -> [f64; 4] {
        let last = self.times.len() - 1;
        let next = self.times.partition_point(|&key| key <= time);
        let a = next.saturating_sub(1);
        let b = next.min(last);
        let value = |key: usize| match self.between {
            Between::Cubic => self.values[3 * key + 1],
            _ => self.values[key],
        };
        if a == b || next == 0 || self.between == Between::Step {
            return self.usable(value(a));
        }
        let length = self.times[b] - self.times[a];
        let s = (time - self.times[a]) / length;
        let (from, to) = (value(a), value(b));
        if self.between == Between::Linear {
            if self.part == Part::Rotation {
                let [from, to] = [from, to].map(|q| DQuat::from_array(self.usable(q)));
                return slerp(from, to, s).to_array();
            }
            return std::array::from_fn(|k| from[k] + s * (to[k] - from[k]));
        }
        let (out, into) = (self.values[3 * a + 2], self.values[3 * b]);
        let (s2, s3) = (s * s, s * s * s);
        self.usable(std::array::from_fn(|k| {
            (2.0 * s3 - 3.0 * s2 + 1.0) * from[k]
                + length * (s3 - 2.0 * s2 + s) * out[k]
                + (3.0 * s2 - 2.0 * s3) * to[k]
                + length * (s3 - s2) * into[k]
        }))
    }

    /// A value of a rotation at unit length; others as they are.
    fn usable(&self, value: [f64; 4]) -> [f64; 4] {
        if self.part != Part::Rotation {
            return value;
        }
        let q = DQuat::from_array(value);
        (q * (1.0 / q.length())).to_array()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An arm of two joints along x, each 1 long; the second turns by 90° about z within two seconds.
    fn arm(between: Between) -> Skinned {
        let still = |x: f64| {
            Local::Pose(Pose {
                translation: DVec3::new(x, 0.0, 0.0),
                rotation: DQuat::IDENTITY,
                scale: DVec3::ONE,
            })
        };
        let node = |parent, x| Node {
            name: format!("at {x}"),
            parent,
            local: still(x),
        };
        let half = 0.5f64.sqrt();
        let keys = [[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, half, half]];
        let values = match between {
            Between::Cubic => keys
                .iter()
                .flat_map(|&key| [[0.0; 4], key, [0.0; 4]])
                .collect(),
            _ => keys.to_vec(),
        };
        Skinned {
            nodes: vec![node(None, 0.0), node(Some(0), 1.0)],
            bones: vec![
                (0, DAffine3::IDENTITY),
                (1, DAffine3::from_translation(DVec3::NEG_X)),
            ],
            places: vec![
                DVec3::X,
                DVec3::new(2.0, 0.0, 0.0),
                DVec3::new(2.0, 0.0, 0.0),
            ],
            influences: vec![(0, 1.0), (1, 1.0), (0, 0.25), (1, 0.75)],
            first: vec![0, 1, 2, 4],
            clips: vec![Clip {
                name: "bend".into(),
                begin: 0.0,
                end: 2.0,
                closing: 0.0,
                channels: vec![Channel {
                    node: 1,
                    part: Part::Rotation,
                    between,
                    times: vec![0.0, 2.0],
                    values,
                }],
            }],
        }
    }

    fn playing(repeat: bool) -> Playing {
        Playing {
            clip: 0,
            start: 1.0,
            blend: 0.0,
            speed: 2.0,
            repeat,
        }
    }

    #[test]
    fn an_arm_bends_on_a_circle_at_constant_speed_and_weights_share_it() {
        let arm = arm(Between::Linear);
        assert_eq!(arm.at_rest(), arm.places);
        for (time, angle) in [
            (0.0, 0.0),
            (1.0, 0.0),
            (1.25, 22.5),
            (1.5, 45.0),
            (2.0, 90.0),
            (7.0, 90.0),
        ] {
            let x = arm.at(&playing(false), time);
            let (sin, cos) = f64::to_radians(angle).sin_cos();
            let tip = DVec3::new(1.0 + cos, sin, 0.0);
            assert_eq!(x[0], DVec3::X);
            assert!((x[1] - tip).length() < 1e-14, "{time}: {}", x[1]);
            let shared = 0.25 * DVec3::new(2.0, 0.0, 0.0) + 0.75 * tip;
            assert!((x[2] - shared).length() < 1e-14, "{time}: {}", x[2]);
        }
        assert!((arm.gap_of_repetition(0) - 2f64.sqrt()).abs() < 1e-14);
    }

    #[test]
    fn parts_are_chosen_by_the_joints_that_carry_most_of_them() {
        let arm = arm(Between::Linear);
        assert_eq!(
            arm.hanging_on(&["at 1".into()]),
            Ok(vec![false, true, true])
        );
        assert_eq!(
            arm.hanging_on(&["at 0".into()]),
            Ok(vec![true; 3]),
            "what it carries too"
        );
        assert_eq!(arm.hanging_on(&["leg".into()]), Err("leg"));
        let two = arm.only(&[2, 0]);
        let (all, two) = (arm.at(&playing(false), 1.7), two.at(&playing(false), 1.7));
        assert_eq!(two, [all[2], all[0]]);
    }

    #[test]
    fn what_is_bound_to_a_moving_body_stays_where_it_is_and_then_goes_along() {
        let arm = arm(Between::Linear);
        let play = playing(false);
        // a sleeve 0.1 above the forearm, put there while it is bent by 45°
        let turned = |angle: f64, d: DVec3| DQuat::from_rotation_z(angle.to_radians()) * d;
        let there = DVec3::X + turned(45.0, DVec3::new(0.5, 0.1, 0.0));
        let influences = arm.influences_at([1, 1, 1], [0.25, 0.25, 0.5]);
        assert_eq!(influences, [(1, 1.0)]);
        let bound = arm.bind(&play, 1.5, &[there], vec![influences]).unwrap();
        assert!((bound.at(&play, 1.5)[0] - there).length() < 1e-14);
        let bent = bound.at(&play, 2.0)[0] - DVec3::X;
        assert!(
            (bent - turned(90.0, DVec3::new(0.5, 0.1, 0.0))).length() < 1e-14,
            "{bent}"
        );
    }

    #[test]
    fn steps_jump_and_cubics_without_tangents_start_and_stop_gently() {
        let tip = |between, time| arm(between).at(&playing(false), time)[1];
        assert_eq!(tip(Between::Step, 1.9), DVec3::new(2.0, 0.0, 0.0));
        assert!((tip(Between::Step, 2.0) - DVec3::new(1.0, 1.0, 0.0)).length() < 1e-14);
        // half of the way between the two quaternions is 45°; near the keys it hardly moves
        let half = tip(Between::Cubic, 1.5) - DVec3::X;
        assert!((half.y / half.x - 1.0).abs() < 1e-14, "{half}");
        assert!(tip(Between::Cubic, 1.01).y < 1e-3);
    }

    #[test]
    fn a_clip_repeats_and_blends_from_the_pose_at_rest() {
        let arm = arm(Between::Linear);
        let again = playing(true);
        // two seconds of the clip pass in one
        assert_eq!(arm.at(&again, 1.25), arm.at(&again, 2.25));
        let bent = Playing {
            start: 2.0,
            blend: 1.0,
            ..playing(false)
        };
        let mut arm = arm;
        // the last pose is 90° from the first: it goes back in the time of its one key
        arm.close_clips(1e-3);
        assert_eq!(arm.clips[0].closing, 2.0);
        let back = arm.at(&again, 2.5)[1] - DVec3::X;
        assert!((back.y / back.x - 1.0).abs() < 1e-14, "{back}");
        assert_eq!(arm.at(&again, 1.25), arm.at(&again, 3.25));
        let keys = &mut arm.clips[0].channels[0].values;
        keys[0] = keys[1]; // now its first pose is bent by 90° already
        let angle = |time| {
            let tip = arm.at(&bent, time)[1] - DVec3::X;
            tip.y.atan2(tip.x).to_degrees()
        };
        for (time, expected) in [
            (0.0, 0.0),
            (1.0, 0.0),
            (1.5, 45.0),
            (2.0, 90.0),
            (3.0, 90.0),
        ] {
            assert!(
                (angle(time) - expected).abs() < 1e-12,
                "{time}: {}",
                angle(time)
            );
        }
    }
}
