//! The objects of a scene one by one: copies made, shapes generated, regions chosen.

use std::rc::Rc;

use glam::{DMat3, DVec3};
use serde::Serialize;

use super::motion::{Placed, scripts};
use super::rest::Rest;
use super::shapes::Triangles;
use super::{
    Cloth, Motion, Obstacle, Paint, Quantity, RestShape, Scene, SceneError, Shape, Springs,
};
use crate::dynamics::{Fabric, SoftPin, Stretch};
use crate::geometry::BodyKind;
use crate::script::{self, Track, sincos_degrees};

/// A body of the mesh to be.
pub(super) struct Object<'a> {
    pub(super) name: String,
    pub(super) kind: BodyKind,
    pub(super) shape: Rc<Triangles>,
    pub(super) velocity: DVec3,
    pub(super) surface: &'a str,
    pub(super) thickness: Option<f64>,
    pub(super) layer: i32,
    /// Its shape without forces, if that is not the one that it has.
    pub(super) rest: Option<Rest>,
    /// What it is made of and how it resists stretching, if it is simulated.
    pub(super) fabric: Option<(&'a Fabric, Stretch)>,
    paint: &'a [Paint],
    /// Vertices that follow a script, each once, with their motions and the key that they stand under.
    pub(super) scripted: Vec<Scripted<'a>>,
    position: DVec3,
    turn: DMat3,
    /// The key of its table.
    pub(super) key: String,
}

pub(super) struct Scripted<'a> {
    pub(super) vertices: Vec<u32>,
    motions: &'a [Motion],
    until: f64,
    pub(super) grip: Grip,
    key: String,
}

/// How closely vertices follow their script.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Grip {
    /// To the bit: infinite mass.
    Firm,
    /// Pulled by critically damped springs that lag behind by this many seconds.
    Lagging(f64),
    /// Pulled by given springs.
    Springs(Springs),
}

/// How large a scene is; all copies counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Simulated objects.
    pub cloths: usize,
    /// Vertices of cloths; three degrees of freedom each.
    pub vertices: usize,
    /// Triangles of cloths.
    pub triangles: usize,
    /// Scripted objects.
    pub obstacles: usize,
    /// Vertices of obstacles.
    pub obstacle_vertices: usize,
    /// Triangles of obstacles.
    pub obstacle_triangles: usize,
}

impl Scene {
    /// Counts objects, vertices and triangles; generates the shapes to do so.
    ///
    /// # Errors
    /// Impossible shapes, or files that cannot be read.
    pub fn counts(&self) -> Result<Counts, SceneError> {
        let mut counts = Counts::default();
        for object in self.objects()? {
            let (vertices, triangles) = (object.shape.x.len(), object.shape.faces.len());
            if object.key.starts_with("cloth") {
                counts.cloths += 1;
                counts.vertices += vertices;
                counts.triangles += triangles;
            } else {
                counts.obstacles += 1;
                counts.obstacle_vertices += vertices;
                counts.obstacle_triangles += triangles;
            }
        }
        Ok(counts)
    }

    /// All objects, in the order of [`Scene::object_names`].
    pub(super) fn objects(&self) -> Result<Vec<Object<'_>>, SceneError> {
        let mut objects = Vec::new();
        for (i, cloth) in self.cloth.iter().enumerate() {
            let key = format!("cloth.{i}");
            let shape = generate(&key, &cloth.shape)?;
            for (copy, name) in (0..).zip(cloth.names()) {
                objects.push(Object::of_cloth(
                    &key,
                    cloth,
                    Rc::clone(&shape),
                    copy,
                    name,
                )?);
            }
        }
        for (i, obstacle) in self.obstacle.iter().enumerate() {
            let key = format!("obstacle.{i}");
            let shape = generate(&key, &obstacle.shape)?;
            objects.push(Object::of_obstacle(key, obstacle, shape));
        }
        Ok(objects)
    }
}

fn generate(key: &str, shape: &Shape) -> Result<Rc<Triangles>, SceneError> {
    let triangles = shape.triangles();
    let triangles = triangles.map_err(|message| SceneError::value(format!("{key}.shape"), message));
    triangles.map(Rc::new)
}

impl<'a> Object<'a> {
    fn of_cloth(
        key: &str,
        cloth: &'a Cloth,
        shape: Rc<Triangles>,
        copy: u32,
        name: String,
    ) -> Result<Self, SceneError> {
        let copies = cloth.copies.as_ref();
        let moved = |start: [f64; 3], step: Option<[f64; 3]>| {
            let step = DVec3::from_array(step.unwrap_or_default());
            DVec3::from_array(start) + f64::from(copy) * step
        };
        let mut object = Self {
            name,
            kind: BodyKind::Cloth,
            shape,
            velocity: DVec3::from_array(cloth.velocity),
            surface: &cloth.surface,
            thickness: cloth.thickness,
            layer: cloth.layer,
            rest: None,
            fabric: Some((&cloth.fabric, cloth.stretch)),
            paint: &cloth.paint,
            scripted: Vec::new(),
            position: moved(cloth.position, copies.map(|copies| copies.step)),
            turn: rotation(moved(cloth.rotation, copies.map(|copies| copies.turn)).to_array()),
            key: key.into(),
        };
        object.rest = match (&cloth.rest, object.shape.material.is_empty()) {
            (Some(rest), _) => {
                let made = rest.of(&object.shape).map_err(|message| {
                    // what its own file lacks; another file names itself
                    let message = match (&cloth.shape, rest) {
                        (Shape::File(own), RestShape::Uv { .. }) => {
                            format!("{}: {message}", own.file.display())
                        }
                        _ => message,
                    };
                    SceneError::value(format!("{key}.rest"), message)
                });
                Some(made?)
            }
            (None, true) => None,
            (None, false) => Some(Rest::Paper(object.shape.material.clone())),
        };
        let delay = f64::from(copy) * copies.map_or(0.0, |copies| copies.delay);
        let mut held = vec![false; object.shape.x.len()];
        for (p, pin) in cloth.pin.iter().enumerate() {
            let key = format!("{key}.pin.{p}");
            let chosen = pin.region.select(&object.shape, |p| object.place(p));
            let mut vertices =
                chosen.map_err(|message| SceneError::value(format!("{key}.region"), message))?;
            // a vertex in two regions follows the first
            vertices.retain(|&v| !std::mem::replace(&mut held[v as usize], true));
            object.scripted.push(Scripted {
                vertices,
                motions: &pin.motion,
                until: pin.until.map_or(f64::INFINITY, |until| until + delay),
                grip: pin.soft.map_or(Grip::Firm, Grip::Springs),
                key,
            });
        }
        Ok(object)
    }

    fn of_obstacle(key: String, obstacle: &'a Obstacle, shape: Rc<Triangles>) -> Self {
        let all = Scripted {
            vertices: (0..shape.x.len() as u32).collect(),
            motions: &obstacle.motion,
            until: f64::INFINITY,
            grip: obstacle
                .soft
                .as_ref()
                .map_or(Grip::Firm, |soft| Grip::Lagging(soft.lag)),
            key: key.clone(),
        };
        Self {
            name: obstacle.name.clone(),
            kind: obstacle.kind(),
            shape,
            velocity: DVec3::ZERO,
            surface: &obstacle.surface,
            thickness: obstacle.thickness,
            layer: 0,
            rest: None,
            fabric: obstacle
                .soft
                .as_ref()
                .map(|soft| (&soft.fabric, Stretch::default())),
            paint: &[],
            scripted: vec![all],
            position: DVec3::from_array(obstacle.position),
            turn: rotation(obstacle.rotation),
            key,
        }
    }

    /// Where a point of the shape starts.
    pub(super) fn place(&self, p: DVec3) -> DVec3 {
        self.turn * p + self.position
    }

    /// The scripted parts, `first` being the object's first vertex in the mesh.
    pub(super) fn tracks(
        &self,
        first: u32,
        fps: f64,
        objects: &[Object<'_>],
    ) -> Result<Vec<Track>, SceneError> {
        let track = |part: &Scripted<'_>| {
            let places: Vec<DVec3> = (part.vertices.iter())
                .map(|&v| self.place(self.shape.x[v as usize]))
                .collect();
            let motions = self.motions_of(part, fps, &places, objects);
            let motions = motions.map_err(|(key, message)| SceneError::value(key, message))?;
            Ok(Track {
                placed: places,
                motions,
                vertices: part.vertices.iter().map(|v| first + v).collect(),
                until: part.until,
                firm: part.grip == Grip::Firm,
            })
        };
        self.scripted.iter().map(track).collect()
    }

    /// The motions of an obstacle's vertices, all of them.
    pub(super) fn motions(&self, fps: f64) -> Result<Vec<script::Motion>, (String, String)> {
        let part = &self.scripted[0];
        self.motions_of(part, fps, &[], &[])
    }

    fn motions_of(
        &self,
        part: &Scripted<'_>,
        fps: f64,
        places: &[DVec3],
        objects: &[Object<'_>],
    ) -> Result<Vec<script::Motion>, (String, String)> {
        let placed = Placed {
            position: self.position,
            pose: &|p| self.place(p),
            turn: self.turn,
            shape: &self.shape.x,
            faces: &self.shape.faces,
            bones: self.shape.bones.as_ref(),
            moved: &part.vertices,
            fps,
        };
        scripts(part.motions, &part.key, &placed, places, objects)
    }

    /// The springs that pull softly scripted parts; `first` is the object's first vertex, `mass` that of the mesh's vertices.
    pub(super) fn soft_pins(&self, first: u32, mass: &[f64]) -> Vec<SoftPin> {
        let mut pins = Vec::new();
        for part in &self.scripted {
            for vertex in part.vertices.iter().map(|v| first + v) {
                pins.push(match part.grip {
                    Grip::Firm => continue,
                    // m x'' = −k x − c x' with k = m/lag² and c = 2m/lag, of which the damping is c/k
                    Grip::Lagging(lag) => SoftPin {
                        vertex,
                        stiffness: [mass[vertex as usize] / (lag * lag); 3],
                        damping: 2.0 * lag,
                        mass: 0.0,
                    },
                    Grip::Springs(springs) => SoftPin {
                        vertex,
                        stiffness: springs.stiffness,
                        damping: springs.damping,
                        mass: 0.0,
                    },
                });
            }
        }
        pins
    }

    /// The product of all maps of a quantity, one number per vertex.
    pub(super) fn painted(&self, quantity: Quantity) -> Result<Vec<f64>, SceneError> {
        let mut map = vec![1.0; self.shape.x.len()];
        for (p, paint) in self
            .paint
            .iter()
            .enumerate()
            .filter(|(_, p)| p.quantity == quantity)
        {
            let painted = self.paint(paint, &mut map);
            let key = format!("{}.paint.{p}", self.key);
            painted.map_err(|message| SceneError::value(key, message))?;
        }
        Ok(map)
    }

    fn paint(&self, paint: &Paint, map: &mut [f64]) -> Result<(), String> {
        let values = match &paint.attribute {
            None => None,
            Some(name) => Some(self.shape.attribute(name)?),
        };
        for v in paint.region.select(&self.shape, |p| self.place(p))? {
            let v = v as usize;
            let value = values.as_ref().map_or(1.0, |values| values[v]);
            map[v] *= paint.factor * value;
            if !(map[v] > 0.0 && map[v].is_finite()) {
                return Err(format!("vertex {v} would have {} times its value", map[v]));
            }
        }
        Ok(())
    }
}

/// The rotation about x, then y, then z, in degrees; quarter turns to the bit.
pub(super) fn rotation(degrees: [f64; 3]) -> DMat3 {
    let [(sx, cx), (sy, cy), (sz, cz)] = degrees.map(sincos_degrees);
    let about_x = DMat3::from_cols(DVec3::X, DVec3::new(0.0, cx, sx), DVec3::new(0.0, -sx, cx));
    let about_y = DMat3::from_cols(DVec3::new(cy, 0.0, -sy), DVec3::Y, DVec3::new(sy, 0.0, cy));
    let about_z = DMat3::from_cols(DVec3::new(cz, sz, 0.0), DVec3::new(-sz, cz, 0.0), DVec3::Z);
    about_z * about_y * about_x
}
