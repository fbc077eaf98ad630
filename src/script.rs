//! Where scripted vertices go: a pure function of the tick.
//!
//! Internal: may change without notice. Open because `step::Setup` takes one.
//!
//! A [`Track`] moves a set of vertices; its motions are applied one after the other to the
//! positions where the scene has placed them. Each interval of the time loop moves straight between
//! two evaluations (docs/method.md §3), so a motion needs no memory, and a restart gives the same
//! bits. Only + − × ÷ √ and the `libm` crate are used.

use std::sync::Arc;

use glam::{DAffine3, DMat3, DQuat, DVec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::grid::Grid;
use crate::skeleton::{Playing, Skinned};

/// Ticks per output frame, the unit of time: scripted motion is a function of the tick, and
/// intervals are powers of two of them.
pub const TICKS_PER_FRAME: u64 = 1 << 16;

/// The motion of every vertex that no force moves.
#[derive(Clone, Debug)]
pub struct Script {
    tracks: Vec<Track>,
    grid: Grid,
    fps: f64,
}

/// Vertices that move together.
#[derive(Clone, Debug, PartialEq)]
pub struct Track {
    /// The vertices, numbered in the mesh.
    pub vertices: Vec<u32>,
    /// Where the scene has placed them, in metres.
    pub placed: Vec<DVec3>,
    /// What moves them, in this order; nothing: they stand still.
    pub motions: Vec<Motion>,
    /// When they are let go, in seconds; infinite for never. It happens between two frames.
    pub until: f64,
    /// Whether they go there to the bit, whatever is in the way; otherwise forces may pull them
    /// there.
    pub firm: bool,
}

/// One motion of a track, in seconds from the start of the scene.
#[derive(Clone, Debug, PartialEq)]
pub enum Motion {
    /// Rigid, from pose to pose.
    Keyframes(Keyframes),
    /// Rigid, round and round.
    Rotation(Rotation),
    /// Vertex by vertex, from sample to sample.
    Sequence(Sequence),
    /// Vertex by vertex, by a skeleton.
    Skin(Skin),
}

/// Poses at given times; before the first and after the last it stands still.
#[derive(Clone, Debug, PartialEq)]
pub struct Keyframes {
    /// Ascending in time; at least one.
    pub keys: Vec<Key>,
    /// How it moves between keys.
    pub interpolation: Interpolation,
    /// What the rotations turn about, in metres.
    pub centre: DVec3,
}

/// A pose at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Key {
    /// Seconds from the start of the scene.
    pub time: f64,
    /// Displacement, in metres.
    pub translation: DVec3,
    /// Rotation about the centre, before the displacement.
    pub rotation: DQuat,
}

/// How a keyframed object moves between keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Interpolation {
    /// At constant speed.
    #[default]
    Linear,
    /// Starts and stops gently at every key: `3s² − 2s³` of the way at the share `s` of the time.
    Smooth,
}

/// A rotation at constant speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rotation {
    /// A point on the axis, in metres.
    pub centre: DVec3,
    /// Direction of the axis; unit length.
    pub axis: DVec3,
    /// Degrees per second; anticlockwise seen against the axis.
    pub speed: f64,
    /// When it begins, in seconds.
    pub from: f64,
    /// When it ends, in seconds; may be infinite.
    pub until: f64,
}

/// Positions at regular times, joined by straight lines; before the first and after the last it
/// stands still.
#[derive(Clone, Debug, PartialEq)]
pub struct Sequence {
    /// Positions of all vertices of the track, sample after sample; at least one sample.
    pub samples: Vec<Vec<DVec3>>,
    /// Samples per second.
    pub fps: f64,
    /// Time of the first sample, in seconds.
    pub start: f64,
}

/// A body that a skeleton moves.
#[derive(Clone, Debug, PartialEq)]
pub struct Skin {
    /// Surface, skeleton and clips.
    pub body: Arc<Skinned>,
    /// What is played, and when.
    pub playing: Playing,
    /// From the file's coordinates to where the scene has placed it, m.
    pub place: DAffine3,
    /// The vertices of the track, numbered in the body.
    pub moved: Vec<u32>,
}

impl Script {
    /// A script of tracks, for a scene of `fps` frames per second; at frame ticks all positions are
    /// on the grid.
    ///
    /// # Panics
    /// If a track has not one place per vertex, a motion has no keys or samples, or a sample has
    /// another number of vertices.
    pub fn new(tracks: Vec<Track>, grid: Grid, fps: f64) -> Self {
        for track in &tracks {
            let count = track.vertices.len();
            assert_eq!(track.placed.len(), count, "one place per vertex");
            for motion in &track.motions {
                let usable = match motion {
                    Motion::Keyframes(keyframes) => !keyframes.keys.is_empty(),
                    Motion::Rotation(_) => true,
                    Motion::Sequence(sequence) => {
                        let mut samples = sequence.samples.iter();
                        !sequence.samples.is_empty() && samples.all(|x| x.len() == count)
                    }
                    Motion::Skin(skin) => {
                        let last = skin.body.vertex_count() as u32;
                        skin.moved.len() == count && skin.moved.iter().all(|&v| v < last)
                    }
                };
                assert!(usable, "keys and samples must fit the track");
            }
        }
        Self { tracks, grid, fps }
    }

    /// Vertices that follow to the bit in the frame after `frame`, track by track.
    pub fn held(&self, frame: u64) -> Vec<u32> {
        let held = self.tracks.iter().filter(|track| self.holds(track, frame));
        let held = held.filter(|track| track.firm);
        held.flat_map(|track| track.vertices.iter().copied())
            .collect()
    }

    /// Whether other vertices are scripted in the frame after `frame` than in the one before.
    pub fn lets_go(&self, frame: u64) -> bool {
        let before = |track| {
            frame
                .checked_sub(1)
                .is_none_or(|frame| self.holds(track, frame))
        };
        let mut tracks = self.tracks.iter();
        tracks.any(|track| before(track) && !self.holds(track, frame))
    }

    /// Whether a track has hold of its vertices in the frame after `frame`.
    fn holds(&self, track: &Track, frame: u64) -> bool {
        (frame as f64) < track.until * self.fps
    }

    /// Where the script has its vertices at a tick; the others are at `x`.
    ///
    /// Between frames the error of rounding to the grid is blended from frame to frame. So nothing
    /// jumps at a frame, and what stands still keeps its bits.
    pub fn at(&self, tick: u64, x: &[DVec3]) -> Vec<DVec3> {
        let mut target = x.to_vec();
        let frame = tick / TICKS_PER_FRAME;
        let share = (tick % TICKS_PER_FRAME) as f64 / TICKS_PER_FRAME as f64;
        let time = |frames: f64| frames / self.fps;
        // a frame tick ends the frame before it
        let during = tick.saturating_sub(1) / TICKS_PER_FRAME;
        let held = self.tracks.iter().filter(|track| self.holds(track, during));
        for track in held {
            let before = track.at(time(frame as f64));
            let places: Vec<DVec3> = if track.motions.is_empty() || share == 0.0 {
                before.into_iter().map(|p| self.grid.round(p)).collect()
            } else {
                let after = track.at(time((frame + 1) as f64));
                let now = track.at(time(frame as f64 + share));
                let error = |p: DVec3| self.grid.round(p) - p;
                now.into_iter()
                    .zip(before.into_iter().zip(after))
                    .map(|(now, (before, after))| {
                        let (before, after) = (error(before), error(after));
                        now + (before + share * (after - before))
                    })
                    .collect()
            };
            for (&v, place) in track.vertices.iter().zip(places) {
                target[v as usize] = place;
            }
        }
        target
    }
}

impl Track {
    /// Positions at a time, before rounding.
    fn at(&self, time: f64) -> Vec<DVec3> {
        let placed = self.placed.clone();
        self.motions
            .iter()
            .fold(placed, |x, motion| motion.apply(time, x))
    }
}

impl Motion {
    fn apply(&self, time: f64, mut x: Vec<DVec3>) -> Vec<DVec3> {
        match self {
            Self::Keyframes(keyframes) => {
                let (rotation, translation) = keyframes.pose(time);
                let (turn, centre) = (DMat3::from_quat(rotation), keyframes.centre);
                for p in &mut x {
                    // an unturned object is not to lose bits to its distance from the centre
                    if rotation != DQuat::IDENTITY {
                        *p = centre + turn * (*p - centre);
                    }
                    *p += translation;
                }
                x
            }
            Self::Rotation(rotation) => {
                let time = time.min(rotation.until).max(rotation.from);
                let (sin, cos) = sincos_degrees(rotation.speed * (time - rotation.from));
                let (axis, centre) = (rotation.axis, rotation.centre);
                if cos < 1.0 {
                    for p in &mut x {
                        // Rodrigues' formula
                        let d = *p - centre;
                        let along = (1.0 - cos) * axis.dot(d) * axis;
                        *p = centre + (cos * d + sin * axis.cross(d) + along);
                    }
                }
                x
            }
            Self::Sequence(sequence) => sequence.at(time),
            Self::Skin(skin) => skin.at(time),
        }
    }
}

impl Keyframes {
    fn pose(&self, time: f64) -> (DQuat, DVec3) {
        let next = self.keys.partition_point(|key| key.time <= time);
        let (a, b) = match (next.checked_sub(1), self.keys.get(next)) {
            (Some(last), Some(b)) => (&self.keys[last], b),
            (Some(last), None) => (&self.keys[last], &self.keys[last]),
            (None, _) => (&self.keys[0], &self.keys[0]),
        };
        if time <= a.time || a == b {
            return (a.rotation, a.translation);
        }
        let s = (time - a.time) / (b.time - a.time);
        let s = match self.interpolation {
            Interpolation::Linear => s,
            Interpolation::Smooth => s * s * (3.0 - 2.0 * s),
        };
        let translation = a.translation + s * (b.translation - a.translation);
        (slerp(a.rotation, b.rotation, s), translation)
    }
}

impl Skin {
    /// Where its vertices are at a time.
    pub fn at(&self, time: f64) -> Vec<DVec3> {
        let x = self.body.at(&self.playing, time);
        let moved = self.moved.iter();
        moved
            .map(|&v| self.place.transform_point3(x[v as usize]))
            .collect()
    }
}

impl Sequence {
    /// Where its vertices are at a time.
    pub fn at(&self, time: f64) -> Vec<DVec3> {
        let last = self.samples.len() - 1;
        let place = ((time - self.start) * self.fps).clamp(0.0, last as f64);
        let (sample, share) = (place as usize, place.fract());
        let a = &self.samples[sample];
        match self.samples.get(sample + 1) {
            Some(b) if share > 0.0 => a.iter().zip(b).map(|(a, b)| a + share * (b - a)).collect(),
            _ => a.clone(),
        }
    }
}

/// Sine and cosine of an angle in degrees; quarter turns to the bit, so that a turned box stays a
/// box.
pub(crate) fn sincos_degrees(degrees: f64) -> (f64, f64) {
    match degrees.rem_euclid(360.0) {
        0.0 => (0.0, 1.0),
        90.0 => (1.0, 0.0),
        180.0 => (0.0, -1.0),
        270.0 => (-1.0, 0.0),
        angle => libm::sincos(angle.to_radians()),
    }
}

/// The rotation about x, then y, then z, in degrees.
pub(crate) fn quaternion(rotation: [f64; 3]) -> DQuat {
    let about = |axis: DVec3, degrees: f64| {
        let (sin, cos) = sincos_degrees(0.5 * degrees);
        DQuat::from_vec4((sin * axis).extend(cos))
    };
    let [x, y, z] = rotation;
    about(DVec3::Z, z) * (about(DVec3::Y, y) * about(DVec3::X, x))
}

/// Constant angular speed from `a` to `b` the shorter way round \[SHO85\].
///
/// ```text
/// q(s) = (sin (1−s)θ · a + sin sθ · b) / sin θ,    tan θ/2 = |a − b| / |a + b|
/// ```
///
/// With the nearer of b and −b, 0 ≤ θ ≤ π/2; the half-angle form stays accurate for small θ.
pub(crate) fn slerp(a: DQuat, b: DQuat, s: f64) -> DQuat {
    let b = if a.dot(b) < 0.0 { -b } else { b };
    if a == b || s == 0.0 {
        return a;
    }
    let theta = 2.0 * libm::atan2((a - b).length(), (a + b).length());
    let weight = |s: f64| libm::sin(s * theta) / libm::sin(theta);
    let q = a * weight(1.0 - s) + b * weight(s);
    q * (1.0 / q.length())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FPS: f64 = 60.0;

    fn script(motions: Vec<Motion>, placed: Vec<DVec3>, grid: Grid) -> Script {
        let vertices = (0..placed.len() as u32).collect();
        let track = Track {
            vertices,
            placed,
            motions,
            until: f64::INFINITY,
            firm: true,
        };
        Script::new(vec![track], grid, FPS)
    }

    fn key(time: f64, translation: [f64; 3], rotation: [f64; 3]) -> Key {
        Key {
            time,
            translation: translation.into(),
            rotation: quaternion(rotation),
        }
    }

    fn keyframes(keys: Vec<Key>, interpolation: Interpolation) -> Motion {
        Motion::Keyframes(Keyframes {
            keys,
            interpolation,
            centre: DVec3::X,
        })
    }

    fn points() -> Vec<DVec3> {
        vec![
            DVec3::new(0.1, 0.2, 0.3),
            DVec3::new(-1.0 / 3.0, 7.1, 0.01),
            DVec3::new(1e-3, -0.7, 2.9),
        ]
    }

    #[test]
    fn what_stands_still_keeps_its_bits_at_every_tick_and_lies_on_the_grid() {
        let still = vec![
            vec![],
            vec![keyframes(
                vec![key(0.0, [0.3, 0.1, 0.7], [10.0, 20.0, 30.0])],
                Interpolation::Linear,
            )],
            vec![Motion::Rotation(Rotation {
                centre: DVec3::ONE,
                axis: DVec3::Y,
                speed: 77.0,
                from: -1.0,
                until: -0.3,
            })],
        ];
        for motions in still {
            let script = script(motions, points(), Grid::F32);
            let at = |tick| script.at(tick, &points());
            assert!(at(0).iter().all(|p| p.as_vec3().as_dvec3() == *p));
            for tick in [1, 2, 777, TICKS_PER_FRAME, 5 * TICKS_PER_FRAME / 2] {
                assert_eq!(at(tick), at(0), "tick {tick}");
            }
        }
    }

    #[test]
    fn vertices_without_a_track_keep_their_place() {
        let track = Track {
            vertices: vec![2],
            placed: vec![DVec3::Y],
            motions: vec![],
            until: f64::INFINITY,
            firm: true,
        };
        let script = Script::new(vec![track], Grid::F32, FPS);
        let x = points();
        assert_eq!(script.at(5, &x), [x[0], x[1], DVec3::Y]);
    }

    #[test]
    fn a_track_lets_go_at_the_first_frame_from_its_time_on() {
        let track = Track {
            vertices: vec![1],
            placed: vec![DVec3::Y],
            motions: vec![],
            until: 0.1, // 6 frames
            firm: true,
        };
        let script = Script::new(vec![track], Grid::F32, FPS);
        let x = [DVec3::ZERO, DVec3::ZERO];
        for (frame, held) in [(0, true), (5, true), (6, false), (7, false)] {
            assert_eq!(script.held(frame).contains(&1), held, "frame {frame}");
            assert_eq!(script.lets_go(frame), frame == 6, "frame {frame}");
            for tick in [1, TICKS_PER_FRAME / 2, TICKS_PER_FRAME] {
                let place = script.at(frame * TICKS_PER_FRAME + tick, &x)[1];
                assert_eq!(place == DVec3::Y, held, "frame {frame}, tick {tick}");
            }
        }
    }

    #[test]
    fn positions_at_frames_are_on_the_grid_and_nothing_jumps_there() {
        let motion = keyframes(
            vec![
                key(0.0, [0.0; 3], [0.0; 3]),
                key(1.0, [0.1, 0.2, 0.3], [0.0, 100.0, 40.0]),
            ],
            Interpolation::Smooth,
        );
        let script = script(vec![motion], points(), Grid::F32);
        let at = |tick| script.at(tick, &points());
        for frame in [1, 7, 30] {
            let tick = frame * TICKS_PER_FRAME;
            let [before, here, after] = [at(tick - 1), at(tick), at(tick + 1)];
            for v in 0..3 {
                assert_eq!(here[v], here[v].as_vec3().as_dvec3());
                let (a, b) = (here[v] - before[v], after[v] - here[v]);
                // second differences of a smooth motion shrink with the tick squared; a jump by the
                // grid would not
                assert!((a - b).length() < 1e-10, "{a} {b}");
            }
        }
    }

    #[test]
    fn keys_are_met_and_halfway_between_them_is_half_the_way() {
        for interpolation in [Interpolation::Linear, Interpolation::Smooth] {
            let keys = vec![
                key(0.5, [0.0; 3], [0.0; 3]),
                key(1.0, [0.0, 2.0, 0.0], [0.0, 0.0, 90.0]),
                key(2.0, [4.0, 2.0, 0.0], [0.0, 0.0, 90.0]),
            ];
            let script = script(
                vec![keyframes(keys, interpolation)],
                vec![DVec3::new(3.0, 0.0, 0.0)],
                Grid::None,
            );
            let at = |time: f64| {
                script.at((time * FPS * TICKS_PER_FRAME as f64) as u64, &[DVec3::ZERO])[0]
            };
            let half = 2f64.sqrt();
            for (time, expected) in [
                (0.0, [3.0, 0.0, 0.0]),
                (0.5, [3.0, 0.0, 0.0]),
                (0.75, [1.0 + half, 1.0 + half, 0.0]), // 45° about (1, 0, 0), half of 2 m up
                (1.0, [1.0, 4.0, 0.0]),
                (1.5, [3.0, 4.0, 0.0]),
                (2.0, [5.0, 4.0, 0.0]),
                (9.0, [5.0, 4.0, 0.0]),
            ] {
                let place = at(time);
                assert!(
                    (place - DVec3::from(expected)).length() < 1e-14,
                    "{interpolation:?} {time}: {place}"
                );
            }
        }
    }

    #[test]
    fn a_smooth_motion_stands_still_at_its_keys() {
        let keys = vec![
            key(0.0, [0.0; 3], [0.0; 3]),
            key(1.0, [1.0, 0.0, 0.0], [0.0; 3]),
        ];
        let script = script(
            vec![keyframes(keys, Interpolation::Smooth)],
            vec![DVec3::ZERO],
            Grid::None,
        );
        let at = |tick| script.at(tick, &[DVec3::ZERO])[0].x;
        let second = 60 * TICKS_PER_FRAME;
        assert!(at(second / 100) < 3.1e-4, "3s² at s = 0.01");
        assert!(1.0 - at(second * 99 / 100) < 3.1e-4);
        assert_eq!(at(second / 2), 0.5);
    }

    #[test]
    fn between_keys_the_angular_speed_is_constant_and_the_way_is_the_shorter_one() {
        // 350° is 10° the other way
        let (a, b) = (quaternion([0.0, 0.0, 0.0]), quaternion([0.0, 350.0, 0.0]));
        for s in [0.1, 0.25, 0.5, 0.9] {
            let q = slerp(a, b, s);
            let expected = quaternion([0.0, -10.0 * s, 0.0]);
            assert!(1.0 - q.dot(expected).abs() < 1e-15, "{s}: {q}");
        }
        let near = quaternion([0.0, 1e-9, 0.0]);
        let middle = slerp(a, near, 0.5);
        assert!(
            (middle.y / near.y - 0.5).abs() < 1e-12,
            "accurate for small angles"
        );
    }

    #[test]
    fn a_rotation_turns_at_its_speed_between_its_two_times() {
        let rotation = Motion::Rotation(Rotation {
            centre: DVec3::new(1.0, 5.0, 0.0),
            axis: DVec3::Y,
            speed: 90.0,
            from: 1.0,
            until: 3.0,
        });
        let script = script(vec![rotation], vec![DVec3::new(2.0, 0.0, 0.0)], Grid::None);
        let at = |time: u64| script.at(time * 60 * TICKS_PER_FRAME, &[DVec3::ZERO])[0];
        assert_eq!(at(0), DVec3::new(2.0, 0.0, 0.0));
        assert_eq!(at(1), DVec3::new(2.0, 0.0, 0.0));
        assert_eq!(
            at(2),
            DVec3::new(1.0, 0.0, -1.0),
            "anticlockwise seen from above"
        );
        assert_eq!(at(3), DVec3::new(0.0, 0.0, 0.0));
        assert_eq!(at(7), DVec3::new(0.0, 0.0, 0.0));
    }

    #[test]
    fn motions_are_applied_in_order() {
        let turn = Motion::Rotation(Rotation {
            centre: DVec3::ZERO,
            axis: DVec3::Y,
            speed: 90.0,
            from: 0.0,
            until: 1.0,
        });
        let shift = keyframes(
            vec![
                key(0.0, [0.0; 3], [0.0; 3]),
                key(1.0, [0.0, 0.0, 5.0], [0.0; 3]),
            ],
            Interpolation::Linear,
        );
        let end = |motions| {
            script(motions, vec![DVec3::X], Grid::None).at(60 * TICKS_PER_FRAME, &[DVec3::ZERO])[0]
        };
        assert_eq!(
            end(vec![turn.clone(), shift.clone()]),
            DVec3::new(0.0, 0.0, 4.0)
        );
        assert_eq!(end(vec![shift, turn]), DVec3::new(5.0, 0.0, -1.0));
    }

    #[test]
    fn a_sequence_is_met_at_its_samples_and_straight_between_them() {
        let samples = vec![
            vec![DVec3::ZERO],
            vec![DVec3::X],
            vec![DVec3::new(1.0, 1.0, 0.0)],
        ];
        let sequence = Motion::Sequence(Sequence {
            samples,
            fps: 30.0,
            start: 0.1,
        });
        let script = script(vec![sequence], vec![DVec3::ZERO], Grid::None);
        for (frame, expected) in [
            (0.0, [0.0, 0.0]),
            (6.0, [0.0, 0.0]),
            (7.0, [0.5, 0.0]),
            (8.0, [1.0, 0.0]),
            (9.5, [1.0, 0.75]),
            (10.0, [1.0, 1.0]),
            (90.0, [1.0, 1.0]),
        ] {
            let tick = (frame * TICKS_PER_FRAME as f64) as u64;
            let place = script.at(tick, &[DVec3::ZERO])[0];
            let expected = DVec3::new(expected[0], expected[1], 0.0);
            assert!((place - expected).length() < 1e-14, "{frame}: {place}");
        }
    }
}
