//! From a scene to a simulation: one mesh of all objects, masses, surfaces, script.

use std::sync::Arc;

use glam::{DMat3, DVec3};

use super::{Scene, SceneError, Shape};
use crate::dynamics::{ClothModel, Dynamics, RestShape};
use crate::geometry::{Body, BodyKind, Mesh};
use crate::script::{Script, Track};
use crate::state::Surfaces;
use crate::step::{Settings, Setup, Simulation};

impl Scene {
    /// Makes the simulation and certifies its start.
    ///
    /// # Errors
    /// Impossible shapes, or a start that is tangled.
    pub fn build(&self) -> Result<Simulation, SceneError> {
        let mut parts = Parts::default();
        for (i, cloth) in self.cloth.iter().enumerate() {
            let place = format!("cloth.{i} ('{}')", cloth.name);
            parts.add(
                &place,
                &cloth.name,
                BodyKind::Cloth,
                &cloth.shape,
                pose(cloth.rotation, cloth.position),
            )?;
        }
        for (i, obstacle) in self.obstacle.iter().enumerate() {
            let place = format!("obstacle.{i} ('{}')", obstacle.name);
            let pose = pose(obstacle.rotation, obstacle.position);
            parts.add(
                &place,
                &obstacle.name,
                BodyKind::Obstacle,
                &obstacle.shape,
                pose,
            )?;
        }
        let Parts {
            x,
            rest,
            faces,
            bodies,
        } = parts;
        let grid = self.output.grid;
        let x: Vec<DVec3> = x.into_iter().map(|p| grid.round(p)).collect();
        let mesh =
            Mesh::with_bodies(x.len(), faces, bodies).map_err(|source| SceneError::Mesh {
                place: "the scene".into(),
                source,
            })?;

        let models: Vec<ClothModel> = self
            .cloth
            .iter()
            .enumerate()
            .map(|(number, cloth)| {
                let body = &mesh.bodies()[number];
                let rest = rest[body.vertices.start as usize..body.vertices.end as usize].to_vec();
                let rest = RestShape::from_positions(&mesh, body, rest);
                ClothModel {
                    stretch: cloth.stretch,
                    body: number,
                    fabric: cloth.fabric.clone(),
                    rest,
                    pinned: Vec::new(),
                }
            })
            .collect();
        let dynamics = Dynamics::new(&mesh, &models, &self.dynamics);
        let thickness = self
            .thickness
            .unwrap_or_else(|| 0.01 * mean_cloth_edge(&mesh, &rest));
        let surfaces = Surfaces::uniform(&mesh, rest, thickness, self.friction);
        let obstacles = (0..mesh.vertex_count() as u32).filter(|&v| mesh.is_obstacle(v));
        let vertices: Vec<u32> = obstacles.collect();
        let placed = vertices.iter().map(|&v| x[v as usize]).collect();
        let still = Track {
            vertices,
            placed,
            motions: Vec::new(),
        };
        let script = Script::new(vec![still], grid, self.fps);
        let settings = Settings {
            fps: self.fps,
            time: self.time.clone(),
            repulsion: self.repulsion.clone(),
            response: self.response.clone(),
            failsafe: self.failsafe.clone(),
            grid,
        };
        let v = vec![DVec3::ZERO; x.len()];
        Ok(Simulation::new(Setup {
            mesh: Arc::new(mesh),
            x,
            v,
            dynamics,
            surfaces,
            script,
            settings,
        })?)
    }
}

#[derive(Default)]
struct Parts {
    x: Vec<DVec3>,
    /// Positions before they are placed: rest shapes do not depend on where an object starts.
    rest: Vec<DVec3>,
    faces: Vec<[u32; 3]>,
    bodies: Vec<Body>,
}

impl Parts {
    fn add(
        &mut self,
        place: &str,
        name: &str,
        kind: BodyKind,
        shape: &Shape,
        pose: impl Fn(DVec3) -> DVec3,
    ) -> Result<(), SceneError> {
        let triangles = shape
            .triangles()
            .map_err(|message| SceneError::value(format!("{place}.shape"), message))?;
        let (first, first_face) = (self.x.len() as u32, self.faces.len() as u32);
        self.x.extend(triangles.x.iter().map(|&p| pose(p)));
        self.rest.extend(&triangles.x);
        self.faces
            .extend(triangles.faces.iter().map(|face| face.map(|v| v + first)));
        self.bodies.push(Body {
            name: name.into(),
            kind,
            vertices: first..self.x.len() as u32,
            faces: first_face..self.faces.len() as u32,
        });
        Ok(())
    }
}

/// Rotation about x, then y, then z, in degrees, then translation.
fn pose(rotation: [f64; 3], position: [f64; 3]) -> impl Fn(DVec3) -> DVec3 {
    let [(sx, cx), (sy, cy), (sz, cz)] = rotation.map(|degrees| {
        // quarter turns to the bit, so that a turned box stays a box
        match degrees.rem_euclid(360.0) {
            0.0 => (0.0, 1.0),
            90.0 => (1.0, 0.0),
            180.0 => (0.0, -1.0),
            270.0 => (-1.0, 0.0),
            _ => libm::sincos(degrees.to_radians()),
        }
    });
    let about_x = DMat3::from_cols(DVec3::X, DVec3::new(0.0, cx, sx), DVec3::new(0.0, -sx, cx));
    let about_y = DMat3::from_cols(DVec3::new(cy, 0.0, -sy), DVec3::Y, DVec3::new(sy, 0.0, cy));
    let about_z = DMat3::from_cols(DVec3::new(cz, sz, 0.0), DVec3::new(-sz, cz, 0.0), DVec3::Z);
    let turn = about_z * about_y * about_x;
    let position = DVec3::from(position);
    move |p| turn * p + position
}

fn mean_cloth_edge(mesh: &Mesh, x: &[DVec3]) -> f64 {
    let lengths: Vec<f64> = mesh
        .edges()
        .iter()
        .filter(|[a, _]| !mesh.is_obstacle(*a))
        .map(|&[a, b]| (x[a as usize] - x[b as usize]).length())
        .collect();
    lengths.iter().sum::<f64>() / lengths.len() as f64
}
