//! The published documents match the program.

use std::path::PathBuf;

use serde_json::Value;
use triphammer_server::openapi;

use crate::typescript;

fn file(path: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(path)
}

/// Compares a file with what it should hold, or writes it.
fn same(path: &str, text: &str) {
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        std::fs::create_dir_all(file(path).parent().unwrap()).unwrap();
        std::fs::write(file(path), text).unwrap();
    }
    let found = std::fs::read_to_string(file(path)).unwrap_or_default();
    assert!(
        found == text,
        "{path} is not what the program has; UPDATE_REFERENCE=1 cargo test -p triphammer-server \
         --test it contract rewrites it"
    );
}

#[test]
fn the_published_openapi_document_is_the_programs() {
    let text = serde_json::to_string_pretty(&openapi::document()).unwrap();
    same("docs/reference/openapi.json", &format!("{text}\n"));
}

#[test]
fn the_types_of_the_interface_are_made_from_the_document() {
    same("ui/src/api/types.ts", &typescript::types(&openapi::document()));
}

#[test]
fn the_figures_that_the_page_draws_are_those_declared() {
    same("ui/src/api/metrics.ts", &typescript::metrics());
}

#[test]
fn every_reference_leads_somewhere_and_everything_is_described() {
    let document = openapi::document();
    let schemas = document["components"]["schemas"].as_object().unwrap();
    visit(&document, &mut |node| {
        if let Some(Value::String(to)) = node.get("$ref") {
            let name = to.strip_prefix("#/components/schemas/").unwrap();
            assert!(schemas.contains_key(name), "{name} is referred to and absent");
        }
    });
    for (path, methods) in document["paths"].as_object().unwrap() {
        assert!(path.starts_with("/api/v1/"), "{path}");
        for (method, operation) in methods.as_object().unwrap() {
            let summary = operation["summary"].as_str().unwrap_or_default();
            assert!(!summary.is_empty(), "{method} {path} is not described");
        }
    }
}

fn visit(node: &Value, each: &mut impl FnMut(&Value)) {
    each(node);
    match node {
        Value::Object(fields) => fields.values().for_each(|child| visit(child, each)),
        Value::Array(items) => items.iter().for_each(|child| visit(child, each)),
        _ => {}
    }
}
