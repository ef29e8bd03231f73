//! Schemas of members that are made by hand: they point to published schemas by name.

use serde_json::{Map, Value, json};
use triphammer_runner::schemas;
use utoipa::openapi::schema::{AnyOfBuilder, Object, Type};
use utoipa::openapi::{Ref, RefOr, Schema};

/// What every document of a job is one of.
const DOCUMENT: &str = "JobDocument";

/// The published schemas with their parts, and the union of those that jobs leave, by name.
pub(crate) fn documents() -> Map<String, Value> {
    let mut all = schemas::components();
    let of_jobs = schemas::documents().into_iter().map(|published| published.name);
    let refer = |name| json!({ "$ref": format!("#/components/schemas/{name}") });
    let any: Vec<Value> = of_jobs.map(refer).collect();
    let description = "What a job left: by `kind` the document of a run, a profile, a search for the capacity or a \
                       comparison; the report of a build or a check; the tables that a drop removed.";
    all.insert(DOCUMENT.to_owned(), json!({ "description": description, "anyOf": any }));
    all
}

/// A part of the published schema, by name.
pub(crate) fn part(name: &str) -> RefOr<Schema> {
    Ref::from_schema_name(name).into()
}

/// A `RunSpec`, or nothing.
pub(crate) fn run_spec_schema() -> RefOr<Schema> {
    let nothing = Object::builder().schema_type(Type::Null);
    AnyOfBuilder::new().item(part("RunSpec")).item(nothing).into()
}

/// What a stored job left, or why there is nothing.
pub(crate) fn stored_document_schema() -> RefOr<Schema> {
    AnyOfBuilder::new()
        .item(part(DOCUMENT))
        .item(Object::builder().schema_type(Type::String))
        .item(Object::builder().schema_type(Type::Null))
        .description(Some(
            "The document that it left; or why it could not be done, as text; `null` while it runs, and for lost \
             ones.",
        ))
        .into()
}

/// What an activity left.
pub(crate) fn document_schema() -> RefOr<Schema> {
    AnyOfBuilder::new()
        .item(part(DOCUMENT))
        .item(Object::builder().schema_type(Type::Null))
        .description(Some("The document that it left; `null` while there is none."))
        .into()
}

/// A `Host`.
pub(crate) fn host_schema() -> RefOr<Schema> {
    part("Host")
}
