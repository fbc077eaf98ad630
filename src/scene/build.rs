//! From a scene to a simulation: one mesh of all objects, masses, surfaces, script.

use std::sync::Arc;

use glam::DVec3;

use super::objects::{Grip, Object};
use super::rest::Rest;
use super::{Quantity, Scene, SceneError};
use crate::dynamics::{ClothModel, Dynamics, RestShape, SoftPin};
use crate::error::{NamedFace, RefusedStart, StartError};
use crate::geometry::{Aabb, Body, Mesh};
use crate::script::Script;
use crate::state::Surfaces;
use crate::step::{self, Setup, Simulation};
use crate::untangle::Segments;

impl Scene {
    /// Makes the simulation and certifies its start.
    ///
    /// # Errors
    /// Impossible shapes, files that cannot be read, or a start that is tangled, unless `start = "untangle"`.
    pub fn build(&self) -> Result<Simulation, SceneError> {
        let objects = self.objects()?;
        let mesh = mesh_of(&objects)?;
        let (mut x, mut v, mut tracks) = (Vec::new(), Vec::new(), Vec::new());
        for (object, body) in objects.iter().zip(mesh.bodies()) {
            x.extend(object.shape.x.iter().map(|&p| object.place(p)));
            v.extend(object.shape.x.iter().map(|_| object.velocity));
            tracks.extend(object.tracks(body.vertices.start, self.fps, &objects)?);
        }
        let begun = self.begin(&objects, &mut x, &mut v);
        begun.map_err(|(key, message)| SceneError::value(key, message))?;
        let grid = self.output.grid;
        for p in &mut x {
            *p = grid.round(*p);
        }
        let script = Script::new(tracks, grid, self.fps);
        let x = script.at(0, &x);
        for vertex in script.held(0) {
            v[vertex as usize] = DVec3::ZERO;
        }

        let dynamics = self.dynamics_of(&mesh, &objects)?;
        let surfaces = self.surfaces_of(&mesh, &objects)?;
        self.check_thickness(&x, &objects, &surfaces)?;
        let seams = self.seams(&mesh, &objects, &x, surfaces.thickness())?;
        let dynamics = dynamics.with_seams(&seams);
        let settings = step::Settings {
            fps: self.fps,
            time: self.time.clone(),
            repulsion: self.repulsion.clone(),
            response: self.response.clone(),
            passes: self.passes,
            failsafe: self.failsafe.clone(),
            grid,
            start: self.start,
            on_pinch: self.on_pinch,
        };
        let (mesh, start) = (Arc::new(mesh), x.clone());
        Simulation::new(Setup {
            mesh: Arc::clone(&mesh),
            x,
            v,
            dynamics,
            surfaces,
            script,
            settings,
            staging: self.staging(&objects),
        })
        .map_err(|error| match error {
            StartError::Crossing { count, faces, .. } => {
                SceneError::Tangled(Box::new(refused(mesh, start, count, faces)))
            }
            other => other.into(),
        })
    }

    /// Fabrics, masses and soft pins of all objects; seams are still missing.
    fn dynamics_of(&self, mesh: &Mesh, objects: &[Object<'_>]) -> Result<Dynamics, SceneError> {
        let mut models = Vec::new();
        for (number, (object, body)) in objects.iter().zip(mesh.bodies()).enumerate() {
            if let Some((fabric, stretch)) = object.fabric {
                let firm = object
                    .scripted
                    .iter()
                    .filter(|part| part.grip == Grip::Firm);
                models.push(ClothModel {
                    body: number,
                    fabric: fabric.clone(),
                    stretch,
                    rest: match &object.rest {
                        None => RestShape {
                            positions: object.shape.unbent().to_vec(),
                            ..RestShape::from_positions(mesh, body, object.shape.x.clone())
                        },
                        Some(Rest::Mesh(x)) => RestShape::from_positions(mesh, body, x.clone()),
                        Some(Rest::Paper(material)) => RestShape {
                            positions: Vec::new(),
                            material: material.clone(),
                        },
                    },
                    pinned: firm.flat_map(|part| part.vertices.clone()).collect(),
                });
            }
        }
        let mut dynamics = Dynamics::new(mesh, &models, &self.dynamics);
        let mut density = Vec::with_capacity(mesh.vertex_count());
        for object in objects {
            density.extend(object.painted(Quantity::Density)?);
        }
        dynamics.weigh(&density);
        let mut pins = Vec::new();
        for (object, body) in objects.iter().zip(mesh.bodies()) {
            let own = object.soft_pins(body.vertices.start, dynamics.mass());
            let mass = |pin: &SoftPin| dynamics.mass()[pin.vertex as usize];
            if let Some(pin) = own.iter().find(|pin| mass(pin) <= 0.0) {
                let message = format!(
                    "vertex {} is pulled by springs but has no mass: no triangle with an area holds it",
                    pin.vertex - body.vertices.start
                );
                return Err(SceneError::value(format!("{}.shape", object.key), message));
            }
            pins.extend(own);
        }
        Ok(dynamics.with_soft_pins(&pins))
    }

    /// What contact knows of each vertex in a simulation of this scene: thickness, friction, where it is at rest.
    ///
    /// # Errors
    /// Impossible shapes, files that cannot be read.
    pub fn surfaces(&self) -> Result<Surfaces, SceneError> {
        let objects = self.objects()?;
        self.surfaces_of(&mesh_of(&objects)?, &objects)
    }

    fn surfaces_of(&self, mesh: &Mesh, objects: &[Object<'_>]) -> Result<Surfaces, SceneError> {
        // rest shapes do not depend on where an object starts
        let rest = objects.iter().map(|object| match &object.rest {
            Some(Rest::Mesh(x)) => x,
            _ => object.shape.unbent(),
        });
        let rest = rest.collect::<Vec<&[DVec3]>>().concat();
        let thickness = self
            .thickness
            .unwrap_or_else(|| Surfaces::default_thickness(mesh, &rest));
        let mut own = Vec::new();
        for object in objects {
            let thickness = object.thickness.unwrap_or(thickness);
            let map = object.painted(Quantity::Thickness)?;
            own.extend(map.iter().map(|factor| factor * thickness));
        }
        let layers = objects.iter().map(|object| object.layer).collect();
        let mut surfaces = Surfaces::uniform(mesh, rest, thickness, self.friction)
            .and_then(|surfaces| surfaces.with_thickness(own)?.with_layers(layers))
            .map_err(StartError::from)?;
        for pair in &self.surface_pair {
            let [first, second] = &pair.surfaces;
            for (a, one) in (0..).zip(objects) {
                for (b, other) in (0..).zip(objects) {
                    if one.surface == first && other.surface == second {
                        surfaces
                            .set_friction(a, b, pair.friction)
                            .map_err(StartError::from)?;
                    }
                }
            }
        }
        Ok(surfaces)
    }
}

impl Scene {
    /// No two points can keep a distance that is larger than the scene.
    fn check_thickness(
        &self,
        x: &[DVec3],
        objects: &[Object<'_>],
        surfaces: &Surfaces,
    ) -> Result<(), SceneError> {
        let (low, high) = x
            .iter()
            .fold((x[0], x[0]), |(low, high), p| (low.min(*p), high.max(*p)));
        let size = (high - low).length();
        let mut first = 0;
        for object in objects {
            let own = &surfaces.thickness()[first..first + object.shape.x.len()];
            first += own.len();
            let most = own.iter().copied().fold(0.0, f64::max);
            if most > size {
                let key = match object.thickness {
                    Some(_) => format!("{}.thickness", object.key),
                    None => "thickness".into(),
                };
                let message = format!(
                    "'{}' would keep {most:e} m, more than the whole scene measures ({size:.2e} m); try a tenth of an edge",
                    object.name
                );
                return Err(SceneError::value(key, message));
            }
        }
        Ok(())
    }
}

fn mesh_of(objects: &[Object<'_>]) -> Result<Mesh, SceneError> {
    let (mut vertex_count, mut faces, mut bodies) = (0, Vec::new(), Vec::new());
    for object in objects {
        let first = vertex_count as u32;
        let first_face = faces.len() as u32;
        faces.extend(
            object
                .shape
                .faces
                .iter()
                .map(|face| face.map(|v| v + first)),
        );
        vertex_count += object.shape.x.len();
        bodies.push(Body {
            name: object.name.clone(),
            kind: object.kind,
            vertices: first..vertex_count as u32,
            faces: first_face..faces.len() as u32,
        });
    }
    Mesh::with_bodies(vertex_count, faces, bodies).map_err(|source| SceneError::Mesh {
        place: "the scene".into(),
        source,
    })
}

/// Names what crosses, and where: in the middle of the line in which the first two faces meet.
fn refused(mesh: Arc<Mesh>, x: Vec<DVec3>, count: usize, faces: [u32; 2]) -> RefusedStart {
    let found = Segments::find(&mesh, &x);
    let line = found.segments.iter().find(|line| line.faces == faces);
    let place = match line {
        Some(line) => {
            let [a, b] = line.ends.map(|end| found.position(&x, end));
            a.midpoint(b)
        }
        // faces that only touch may meet in no line; their boxes overlap all the same
        None => {
            let corners = |face: u32| mesh.faces()[face as usize].map(|v| x[v as usize]);
            let [a, b] = faces.map(|face| Aabb::of(corners(face)));
            a.min.max(b.min).midpoint(a.max.min(b.max))
        }
    };
    RefusedStart {
        first: faces.map(|face| NamedFace::of(&mesh, face)),
        mesh,
        positions: x,
        count,
        place,
    }
}
