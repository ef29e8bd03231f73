//! Handwritten schemas of fields that refer to published schemas by name.

use serde_json::{Map, Value, json};
use triphammer_document::schemas;
use utoipa::openapi::schema::{AnyOfBuilder, Object, Type};
use utoipa::openapi::{Ref, RefOr, Schema};

/// Name of the union of all result documents.
const DOCUMENT: &str = "JobDocument";

/// The published schemas with their definitions, and the union of all result documents, by name.
pub(crate) fn documents() -> Map<String, Value> {
    let mut all = schemas::components();
    let of_jobs = schemas::documents().into_iter().map(|published| published.name);
    let refer = |name| json!({ "$ref": format!("#/components/schemas/{name}") });
    let any: Vec<Value> = of_jobs.map(refer).collect();
    let description = "The result of a job, according to `kind`: the document of a run, a profile, \
                       a capacity search or a comparison; the report of a build or a check; the \
                       tables removed by a drop.";
    all.insert(DOCUMENT.to_owned(), json!({ "description": description, "anyOf": any }));
    all
}

/// Refers to a published schema by name.
pub(crate) fn part(name: &str) -> RefOr<Schema> {
    Ref::from_schema_name(name).into()
}

/// Schema of a `RunSpec` or null.
pub(crate) fn run_spec_schema() -> RefOr<Schema> {
    let nothing = Object::builder().schema_type(Type::Null);
    AnyOfBuilder::new().item(part("RunSpec")).item(nothing).into()
}

/// Schema of what can change of a load.
pub(crate) fn step_cause_schema() -> RefOr<Schema> {
    part("StepCause")
}

/// Schema of a load before or after a change.
pub(crate) fn load_value_schema() -> RefOr<Schema> {
    part("LoadValue")
}

/// Schema of the result of a stored job, or of the reason for its failure.
pub(crate) fn stored_document_schema() -> RefOr<Schema> {
    AnyOfBuilder::new()
        .item(part(DOCUMENT))
        .item(Object::builder().schema_type(Type::String))
        .item(Object::builder().schema_type(Type::Null))
        .description(Some(
            "The result document, or the reason for the failure as text; `null` while the job \
             runs, and for lost jobs.",
        ))
        .into()
}

/// Schema of the result of an activity.
pub(crate) fn document_schema() -> RefOr<Schema> {
    AnyOfBuilder::new()
        .item(part(DOCUMENT))
        .item(Object::builder().schema_type(Type::Null))
        .description(Some("The result document; `null` while there is none."))
        .into()
}

/// Refers to the schema of a `Host`.
pub(crate) fn host_schema() -> RefOr<Schema> {
    part("Host")
}

/// Schema of an `Ending` or null.
pub(crate) fn ending_schema() -> RefOr<Schema> {
    let nothing = Object::builder().schema_type(Type::Null);
    AnyOfBuilder::new().item(part("Ending")).item(nothing).into()
}
