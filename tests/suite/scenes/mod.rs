//! Scenes start, run and keep their bits; their keys do what they say.

mod builtin;
mod compare;
mod garments;
mod golden;
mod outcome;
mod scene_keys;
