//! A recording as pictures: colours, ground, camera.

use std::borrow::Cow;

use glam::DVec3;
use percale::geometry::{Aabb, Body, BodyKind, Mesh};
use percale::record::Recording;
use percale::render::{self, Camera, Colour, Framing, Image, Line, Model, Paint, Picture, Shading};
use percale::scene;
use percale::untangle::{self, Analysis, Kind, Rest};
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

/// Share of its path's colour that an inside face takes on.
const TINT: f32 = 0.5;
/// Width of paths, in pixels.
const PATH_WIDTH: f64 = 3.0;

/// What is drawn.
#[derive(Clone, Copy)]
pub(crate) enum Source<'a> {
    /// The frames of a result folder.
    Recording(&'a Recording),
    /// One mesh.
    Still(&'a Mesh, &'a [DVec3]),
}

impl<'a> Source<'a> {
    fn mesh(self) -> &'a Mesh {
        match self {
            Self::Recording(recording) => recording.mesh(),
            Self::Still(mesh, _) => mesh,
        }
    }

    fn positions(self, frame: u64) -> Result<Cow<'a, [DVec3]>, Failure> {
        Ok(match self {
            Self::Recording(recording) => Cow::Owned(recording.positions(frame)?),
            Self::Still(_, x) => Cow::Borrowed(x),
        })
    }

    /// The camera that the scene asks for.
    fn camera(self) -> Option<Camera> {
        match self {
            Self::Recording(recording) => match recording.scene().camera {
                scene::Camera::Auto => None,
                scene::Camera::At(view) => Some(Camera {
                    eye: view.position.into(),
                    target: view.target.into(),
                    fov: view.fov,
                }),
            },
            Self::Still(..) => None,
        }
    }

    /// Whether the run that made a frame has found it free of intersections.
    fn is_audited(self, frame: u64) -> bool {
        match self {
            Self::Recording(recording) => {
                let mut reports = recording.reports().iter();
                reports.any(|report| report.frame == frame && report.intersections == 0)
            }
            Self::Still(..) => false,
        }
    }
}

/// Everything that stays the same over the frames.
pub(crate) struct Stage<'a> {
    source: Source<'a>,
    pub(crate) camera: Camera,
    pub(crate) grounds: Vec<bool>,
    strain: Option<Strain>,
    /// Whether intersection paths are drawn.
    pub(crate) shows_paths: bool,
    pub(crate) settings: render::Settings,
}

struct Strain {
    rest: Vec<DVec3>,
    percent: f64,
}

impl Strain {
    /// The stretch at each vertex, as a share of the largest that is shown.
    fn of_vertices(&self, mesh: &Mesh, x: &[DVec3]) -> Vec<f32> {
        let stretch = render::principal_stretch(&self.rest, x, mesh.faces());
        render::to_vertices(&stretch, mesh.faces(), mesh.vertex_count())
            .into_iter()
            .map(|stretch| (100.0 * (stretch - 1.0) / self.percent) as f32)
            .collect()
    }
}

impl<'a> Stage<'a> {
    /// For some frames; without a camera here or in the scene, all cloth of these frames is in view.
    pub(crate) fn new(
        source: Source<'a>,
        frames: &[u64],
        [width, height]: [u32; 2],
        camera: Option<Camera>,
    ) -> Result<Self, Failure> {
        let start = source.positions(0)?;
        let bodies = source.mesh().bodies();
        let grounds: Vec<bool> = bodies.iter().map(|body| is_ground(body, &start)).collect();
        let camera = match camera.or(source.camera()) {
            Some(camera) => camera,
            None => {
                let aspect = f64::from(width) / f64::from(height);
                frame_all(source, frames, &grounds, aspect)?
            }
        };
        Ok(Self {
            source,
            camera,
            grounds,
            strain: None,
            shows_paths: false,
            settings: render::Settings {
                width,
                height,
                ..render::Settings::default()
            },
        })
    }

    /// Colours the cloth by its largest stretch since frame 0, up to so many percent.
    pub(crate) fn show_strain(&mut self, percent: f64) -> Result<(), Failure> {
        let rest = self.source.positions(0)?.into_owned();
        self.strain = Some(Strain { rest, percent });
        Ok(())
    }

    /// Draws a frame. Faces that cross others are red, unless paths show where.
    pub(crate) fn draw(&self, frame: u64) -> Result<Image, Failure> {
        let mesh = self.source.mesh();
        let x = self.source.positions(frame)?;
        let analysis = match self.shows_paths && !self.source.is_audited(frame) {
            true => Some(untangle::analyse(mesh, &x, Rest::Unknown)?),
            false => None,
        };
        let values = (self.strain.as_ref()).map(|strain| strain.of_vertices(mesh, &x));
        let crossing = match &analysis {
            Some(_) => vec![],
            None => self.crossing_faces(frame, &x),
        };
        let inside = analysis.as_ref().map(|a| inside_faces(mesh, a));
        let curves: Vec<(Kind, Vec<DVec3>)> = analysis.iter().flat_map(|a| curves(a, &x)).collect();
        let marked: Vec<Vec<u32>> = mesh
            .bodies()
            .iter()
            .map(|body| {
                let own = crossing.iter().filter(|face| body.faces.contains(face));
                own.map(|face| face - body.faces.start).collect()
            })
            .collect();

        let colours = self.colours();
        let tinted: Vec<Option<Vec<[Colour; 2]>>> = (mesh.bodies().iter().zip(&colours))
            .map(|(body, plain)| {
                let inside = inside.as_ref()?;
                let faces = body.faces.clone().map(|f| inside[f as usize]);
                Some(faces.map(|kind| tint(*plain, kind)).collect())
            })
            .collect();
        let models = mesh.bodies().iter().enumerate().map(|(number, body)| {
            let ground = self.grounds[number];
            let shading = match body.kind {
                BodyKind::Cloth => Shading::Smooth,
                BodyKind::Obstacle if ground => Shading::Flat,
                BodyKind::Obstacle => Shading::Crease(CREASE),
            };
            let paint = match (&values, &tinted[number]) {
                (Some(values), _) if body.kind == BodyKind::Cloth => Paint::VertexValues(values),
                (_, Some(colours)) if !ground => Paint::FaceColours(colours),
                _ => Paint::TwoSided(colours[number][0], colours[number][1]),
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
            lines: (curves.iter())
                .map(|(kind, points)| Line {
                    points,
                    colour: Colour(kind.colour()),
                    width: PATH_WIDTH,
                })
                .collect(),
        };
        let mut image = render::draw(&picture, &self.camera, &self.settings);
        if let Some(analysis) = &analysis {
            list_kinds(&mut image, analysis);
        }
        if let Some(strain) = &self.strain {
            render::legend(&mut image, "0 %", &format!("{} %", strain.percent));
        }
        Ok(image)
    }

    /// Front and back of each body.
    pub(crate) fn colours(&self) -> Vec<[Colour; 2]> {
        let mut cloths = CLOTHS.into_iter().cycle();
        (self.source.mesh().bodies().iter().zip(&self.grounds))
            .map(|(body, ground)| match body.kind {
                BodyKind::Cloth => cloths.next().expect("a cycle does not end"),
                BodyKind::Obstacle if *ground => [GROUND; 2],
                BodyKind::Obstacle => [OBSTACLE; 2],
            })
            .collect()
    }

    /// Faces that cross others, ascending. Frames that the run has audited as free are not tested again.
    fn crossing_faces(&self, frame: u64, x: &[DVec3]) -> Vec<u32> {
        if self.source.is_audited(frame) {
            return vec![];
        }
        let mut faces = audit::intersections(self.source.mesh(), x).concat();
        faces.sort_unstable();
        faces.dedup();
        faces
    }
}

/// The type of the path that each face is inside of, if most of its corners are; of several the last.
fn inside_faces(mesh: &Mesh, analysis: &Analysis) -> Vec<Option<Kind>> {
    let mut of_face = vec![None; mesh.faces().len()];
    for path in &analysis.paths {
        let kind = analysis.contours[path.contour as usize].kind;
        let inside = path.inside.vertices();
        let is_inside = |v: &u32| inside.binary_search(v).is_ok();
        for &face in inside.iter().flat_map(|&v| mesh.faces_of_vertex(v)) {
            let corners = mesh.faces()[face as usize];
            if corners.iter().filter(|v| is_inside(v)).count() >= 2 {
                of_face[face as usize] = Some(kind);
            }
        }
    }
    of_face
}

pub(crate) fn curves(analysis: &Analysis, x: &[DVec3]) -> Vec<(Kind, Vec<DVec3>)> {
    let contours = (0u32..).zip(&analysis.contours);
    contours
        .flat_map(|(number, contour)| {
            let curves = analysis.curves(number, x).into_iter();
            curves.map(|curve| (contour.kind, curve))
        })
        .collect()
}

fn tint(plain: [Colour; 2], kind: Option<Kind>) -> [Colour; 2] {
    kind.map_or(plain, |kind| {
        plain.map(|colour| colour.mix(Colour(kind.colour()), TINT))
    })
}

/// Lists the types in the upper left corner, each in its colour.
fn list_kinds(image: &mut Image, analysis: &Analysis) {
    let scale = (image.height() / 360).max(1);
    for (row, (kind, count)) in (0u32..).zip(analysis.counts()) {
        let at = [6 * scale, (6 + 10 * row) * scale];
        let line = format!("{count} {kind}");
        render::text(image, &line, at, scale, Colour(kind.colour()));
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
    source: Source<'_>,
    frames: &[u64],
    grounds: &[bool],
    aspect: f64,
) -> Result<Camera, Failure> {
    let bodies = source.mesh().bodies();
    let mut kept: Vec<Vec<DVec3>> = vec![vec![]; bodies.len()];
    for frame in super::spread(frames, CAMERA_FRAMES) {
        let x = source.positions(frame)?;
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
        .ok_or_else(|| Failure::input("there are no points to look at"))
}
