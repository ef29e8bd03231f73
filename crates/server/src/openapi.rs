//! The interface's OpenAPI document: from the handlers and their types, with the published schema of a run's
//! result and what it is made of.

use serde_json::{Value, json};
use utoipa::OpenApi;
use utoipa::openapi::schema::{AnyOfBuilder, Object, Type};
use utoipa::openapi::{Ref, RefOr, Schema};

use crate::api;
use crate::live::LiveEvent;

/// The published schema of a run's result.
const RESULT: &str = include_str!("../../../docs/reference/result-schema.json");

/// What clients send, and errors: members may be left out. All else has every member, be it `null`.
const SENT: [&str; 6] =
    ["Form", "TargetForm", "JobChange", "PasswordForm", "TokenForm", "ApiError"];

#[derive(OpenApi)]
#[openapi(
    info(
        title = "triphammer",
        description = "What `triphammer serve` offers. Every error is an `ApiError`. Times of day are RFC 3339 in \
                       UTC; durations and times are in the unit that a name ends with; shares are from 0 to 1.",
        license(name = "Apache-2.0")
    ),
    components(schemas(LiveEvent))
)]
struct Head;

/// The document.
///
/// # Panics
/// When two types have one name: a defect that the tests find.
#[must_use]
pub fn document() -> Value {
    let (_, paths) = api::routes().split_for_parts();
    let mut head = Head::openapi();
    head.merge(paths);
    let mut document = serde_json::to_value(head).expect("a document is plain data");
    let schemas = document["components"]["schemas"].as_object_mut().expect("there are schemas");
    for (_, schema) in schemas.iter_mut().filter(|(name, _)| !SENT.contains(&name.as_str())) {
        let all: Option<Vec<&String>> =
            schema["properties"].as_object().map(|f| f.keys().collect());
        if let Some(all) = all {
            let all = json!(all);
            schema["required"] = all;
        }
    }
    for (name, schema) in result_schemas() {
        let before = schemas.insert(name.clone(), schema);
        assert!(before.is_none(), "two types are called {name}");
    }
    document
}

/// The schema of a result and of its parts, by name.
fn result_schemas() -> Vec<(String, Value)> {
    let text = RESULT.replace("#/$defs/", "#/components/schemas/");
    let mut whole: Value = serde_json::from_str(&text).expect("the published schema is JSON");
    let fields = whole.as_object_mut().expect("the published schema is an object");
    fields.remove("$schema");
    fields.remove("title");
    let parts = fields.remove("$defs").unwrap_or_else(|| json!({}));
    let Value::Object(parts) = parts else { return Vec::new() };
    let result = ("RunResult".to_owned(), whole);
    parts.into_iter().chain([result]).collect()
}

/// A part of the published schema, by name.
fn part(name: &str) -> RefOr<Schema> {
    Ref::from_schema_name(name).into()
}

/// A `RunSpec`, or nothing.
pub(crate) fn run_spec_schema() -> RefOr<Schema> {
    let nothing = Object::builder().schema_type(Type::Null);
    AnyOfBuilder::new().item(part("RunSpec")).item(nothing).into()
}

/// A `Host`.
pub(crate) fn host_schema() -> RefOr<Schema> {
    part("Host")
}
