//! stub
use super::*;
use glam::DVec3;
pub struct Margin<'a> {
    pub thickness: &'a [f64],
    pub rest: &'a [DVec3],
}
pub struct Asked<'a> {
    pub mode: ccd::Mode,
    pub margin: Option<Margin<'a>>,
}
pub struct Proximity {
    pub gap: f64,
    pub threshold: f64,
}
impl Proximity {
    pub fn point(&self) -> ContactPoint {
        todo!()
    }
}
pub struct Detector;
impl Detector {
    pub fn new(_: &Mesh) -> Self {
        Self
    }
    pub fn impacts(&mut self, _: &Mesh, _: &[DVec3], _: &[DVec3], _: &Asked) -> Vec<Impact> {
        vec![]
    }
    pub fn impacts_of(
        &mut self,
        _: &Mesh,
        _: &[DVec3],
        _: &[DVec3],
        _: &[u32],
        _: &Asked,
    ) -> Vec<Impact> {
        vec![]
    }
    pub fn proximities(&mut self, _: &Mesh, _: &[DVec3], _: &Margin) -> Vec<Proximity> {
        vec![]
    }
}
