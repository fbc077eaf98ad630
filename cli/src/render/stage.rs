//! A recording as pictures: colours, ground, camera.

use glam::DVec3;
use percale::geometry::{Aabb, Body, BodyKind};
use percale::io::recording::Recording;
use percale::render::{
    self, Camera, Colour, Framing, Image, Model, Paint, Picture, Settings, Shading,
};
use percale::verify::audit;

use crate::failure::Failure;

/// Front and back of the cloths, in turn.
const CLOTHS: [[Colour; 2]; 6] = [
    [Colour([70, 116, 170]), Colour([226, 160, 98])],
    [Colour([196, 92, 78]), Colour([232, 206, 160])],
    [Colour([92, 148, 116]), Colour([224, 196, 122])],
    [Colour([224, 180, 92]), Colour([120, 104, 160])],
    [Colour([134, 106, 168]), Colour([176, 200, 140])],
    [Colour([84, 158, 168]), Colour([222, 142, 130])],
];
const OBSTACLE: Colour = Colour([150, 150, 148]);
const GROUND: Colour = Colour([222, 223, 225]);
/// Faces of obstacles that meet at more than this many degrees have an edge between them.
const CREASE: f64 = 40.0;
/// An obstacle whose height is below this share of its width is a ground.
const FLAT: f64 = 1e-3;
/// Obstacles up to this many times the cloth's extent are in view as a whole.
const FRAMED: f64 = 1.5;
/// Frames that are looked at to place the camera.
const CAMERA_FRAMES: u64 = 24;

/// Everything that stays the same over the frames.
pub(crate) struct Stage<'a> {
    recording: &'a Recording,
    camera: Camera,
    grounds: Vec<bool>,
    strain: Option<Strain>,
    pub(crate) settings: Settings,
}

struct Strain {
    rest: Vec<DVec3>,
    percent: f64,
}

impl<'a> Stage<'a> {
    /// For some frames; without a camera, all cloth of these frames is in view.
    pub(crate) fn new(
        recording: &'a Recording,
        frames: &[u64],
        [width, height]: [u32; 2],
        camera: Option<Camera>,
    ) -> Result<Self, Failure> {
        let start = recording.positions(0)?;
        let bodies = recording.mesh().bodies();
        let grounds: Vec<bool> = bodies.iter().map(|body| is_ground(body, &start)).collect();
        let camera = match camera {
            Some(camera) => camera,
            None => {
                let aspect = f64::from(width) / f64::from(height);
                frame_all(recording, frames, &grounds, aspect)?
            }
        };
        Ok(Self {
            recording,
            camera,
            grounds,
            strain: None,
            settings: Settings {
                width,
                height,
                ..Settings::default()
            },
        })
    }

    /// Colours the cloth by its largest stretch since frame 0, up to so many percent.
    pub(crate) fn show_strain(&mut self, percent: f64) -> Result<(), Failure> {
        let rest = self.recording.positions(0)?;
        self.strain = Some(Strain { rest, percent });
        Ok(())
    }

    /// Draws a frame. Faces that cross others are red.
    pub(crate) fn draw(&self, frame: u64) -> Result<Image, Failure> {
        let mesh = self.recording.mesh();
        let x = self.recording.positions(frame)?;
        let values: Option<Vec<f32>> = self.strain.as_ref().map(|strain| {
            let stretch = render::principal_stretch(&strain.rest, &x, mesh.faces());
            render::to_vertices(&stretch, mesh.faces(), mesh.vertex_count())
                .into_iter()
                .map(|stretch| (100.0 * (stretch - 1.0) / strain.percent) as f32)
                .collect()
        });
        let crossing = self.crossing_faces(frame, &x);
        let marked: Vec<Vec<u32>> = mesh
            .bodies()
            .iter()
            .map(|body| {
                let own = crossing.iter().filter(|face| body.faces.contains(face));
                own.map(|face| face - body.faces.start).collect()
            })
            .collect();

        let mut cloths = 0;
        let models = mesh.bodies().iter().enumerate().map(|(number, body)| {
            let ground = self.grounds[number];
            let (paint, shading) = match body.kind {
                BodyKind::Cloth => {
                    let [front, back] = CLOTHS[cloths % CLOTHS.len()];
                    cloths += 1;
                    let plain = Paint::TwoSided(front, back);
                    (
                        values.as_deref().map_or(plain, Paint::VertexValues),
                        Shading::Smooth,
                    )
                }
                BodyKind::Obstacle if ground => (Paint::TwoSided(GROUND, GROUND), Shading::Flat),
                BodyKind::Obstacle => {
                    (Paint::TwoSided(OBSTACLE, OBSTACLE), Shading::Crease(CREASE))
                }
            };
            Model {
                positions: &x,
                faces: &mesh.faces()[body.faces.start as usize..body.faces.end as usize],
                paint,
                shading,
                marked: &marked[number],
                ground,
            }
        });
        let picture = Picture {
            models: models.collect(),
            lines: vec![],
        };
        let mut image = render::draw(&picture, &self.camera, &self.settings);
        if let Some(strain) = &self.strain {
            render::legend(&mut image, "0 %", &format!("{} %", strain.percent));
        }
        Ok(image)
    }

    /// Faces that cross others, ascending. Frames that the run has audited as free are not tested again.
    fn crossing_faces(&self, frame: u64, x: &[DVec3]) -> Vec<u32> {
        let reports = self.recording.reports();
        let report = reports.iter().find(|report| report.frame == frame);
        if report.is_some_and(|report| report.intersections == 0) {
            return vec![];
        }
        let mut faces = audit::intersections(self.recording.mesh(), x).concat();
        faces.sort_unstable();
        faces.dedup();
        faces
    }
}

fn points<'x>(body: &Body, x: &'x [DVec3]) -> &'x [DVec3] {
    &x[body.vertices.start as usize..body.vertices.end as usize]
}

/// Whether a body is a level, flat obstacle.
fn is_ground(body: &Body, x: &[DVec3]) -> bool {
    let size = Aabb::of(points(body, x).iter().copied()).size();
    body.kind == BodyKind::Obstacle && size.y <= FLAT * size.x.min(size.z)
}

/// A camera that has in view all cloth of the frames, and the obstacles that are not much larger.
fn frame_all(
    recording: &Recording,
    frames: &[u64],
    grounds: &[bool],
    aspect: f64,
) -> Result<Camera, Failure> {
    let bodies = recording.mesh().bodies();
    let mut kept: Vec<Vec<DVec3>> = vec![vec![]; bodies.len()];
    for frame in super::spread(frames, CAMERA_FRAMES) {
        let x = recording.positions(frame)?;
        for (body, kept) in bodies.iter().zip(&mut kept) {
            kept.extend(points(body, &x));
        }
    }
    let cloth = bodies
        .iter()
        .zip(&kept)
        .filter(|(body, _)| body.kind == BodyKind::Cloth)
        .map(|(_, points)| Aabb::of(points.iter().copied()))
        .fold(Aabb::EMPTY, Aabb::union);
    let framed = bodies
        .iter()
        .zip(&kept)
        .zip(grounds)
        .filter(|((body, points), ground)| {
            let size = Aabb::of(points.iter().copied()).size();
            body.kind == BodyKind::Cloth
                || !**ground && size.max_element() <= FRAMED * cloth.size().max_element()
        });
    let points = framed.flat_map(|((_, points), _)| points.iter().copied());
    Framing::default()
        .of(points, aspect)
        .ok_or_else(|| Failure::input("the recording has no points to look at"))
}
