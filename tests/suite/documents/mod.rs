//! Files that people write and read: broken ones are refused by name, and documents say what is true.

mod broken_scenes;
mod citations;
mod example;
mod loaders;
mod looks;
