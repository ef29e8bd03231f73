//! The published documents match the program.

use serde_json::Value;
use triphammer_server::openapi;
use triphammer_testbed::assert_generated;

use crate::typescript;

#[test]
fn the_published_openapi_document_is_the_programs() {
    let text = serde_json::to_string_pretty(&openapi::document()).unwrap();
    assert_generated("docs/reference/openapi.json", &format!("{text}\n"));
}

#[test]
fn the_types_of_the_interface_are_made_from_the_document() {
    assert_generated("ui/src/api/types.ts", &typescript::types(&openapi::document()));
}

#[test]
fn the_figures_that_the_page_draws_are_those_declared() {
    assert_generated("ui/src/api/metrics.ts", &typescript::metrics());
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
