//! The analysis of intersections: an independent judge, every kind of path, real tangles.

mod analysis;
mod path_data;
mod path_judge;
mod path_topology;
