//! Documents of the program are valid against the published schemas.

use serde_json::{Value, json};

/// Validates a document against the schema of its type, as a reader of the documentation does: by a
/// reference into the API's document.
pub fn valid(document: &Value, name: &str) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/openapi.json");
    let api: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let reference = format!("#/components/schemas/{name}");
    let schema = json!({ "$ref": reference, "components": api["components"] });
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<_> =
        validator.iter_errors(document).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:?}");
}
