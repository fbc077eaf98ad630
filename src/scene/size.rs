//! How much memory a scene will take, before anything of it is made.

use super::Scene;

/// Bytes that a run takes for each vertex of a cloth: 3.8e3 measured for sheets of 10⁴ and 9·10⁴ vertices.
const BYTES_PER_CLOTH_VERTEX: f64 = 4.0e3;
/// Bytes that a run takes for each vertex of an obstacle: 1.7e3 measured for spheres of 10⁴ and 1.6·10⁵ vertices.
const BYTES_PER_OBSTACLE_VERTEX: f64 = 2.0e3;

/// What a scene takes, by its parameters alone; mesh files are not looked at.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Size {
    /// Vertices of all objects.
    pub vertices: f64,
    /// Memory that a run of it takes, in bytes; good to a factor of two.
    pub bytes: f64,
    /// The key of the largest object.
    pub largest: String,
    /// Vertices of it, with its copies.
    pub largest_vertices: f64,
}

impl Scene {
    /// Estimates the size of a run from the parameters of all shapes, in no time.
    pub fn size(&self) -> Size {
        let mut size = Size::default();
        let mut add = |key: String, vertices: f64, bytes_each: f64| {
            size.vertices += vertices;
            size.bytes += vertices * bytes_each;
            if vertices > size.largest_vertices {
                size.largest_vertices = vertices;
                size.largest = key;
            }
        };
        for (i, cloth) in self.cloth.iter().enumerate() {
            let copies = cloth.copies.as_ref().map_or(1, |copies| copies.count);
            let vertices = f64::from(copies) * cloth.shape.about_vertices();
            add(format!("cloth.{i}"), vertices, BYTES_PER_CLOTH_VERTEX);
        }
        for (i, obstacle) in self.obstacle.iter().enumerate() {
            let vertices = obstacle.shape.about_vertices();
            add(format!("obstacle.{i}"), vertices, BYTES_PER_OBSTACLE_VERTEX);
        }
        size
    }
}
