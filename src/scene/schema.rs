//! The form of scene files as JSON Schema: completion and checks in editors.

use super::Scene;

impl Scene {
    /// JSON Schema of scene files; every doc comment is a description.
    pub fn schema() -> String {
        let schema = schemars::schema_for!(Self);
        let mut text = serde_json::to_string_pretty(&schema).expect("a schema is plain data");
        text.push('\n');
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `PERCALE_BLESS=1 cargo test schema` rewrites the file; the diff is reviewed.
    #[test]
    fn the_schema_in_the_repository_is_the_one_of_the_code() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/scenes/scene.schema.json");
        if std::env::var_os("PERCALE_BLESS").is_some() {
            std::fs::write(path, Scene::schema()).unwrap();
        }
        let written = std::fs::read_to_string(path).unwrap();
        assert!(
            written == Scene::schema(),
            "scene keys have changed: PERCALE_BLESS=1 cargo test --lib schema"
        );
    }
}
