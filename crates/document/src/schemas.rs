//! The published schemas of result documents, generated from the types: names and descriptions are
//! those of the code. The API's OpenAPI document, `docs/reference/openapi.json`, contains them as
//! components: they are JSON Schema 2020-12.

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value};
use triphammer_settings::command::job_kinds;

use crate::bundle::{BundleVerification, RepetitionResult};
use crate::doctor::DoctorResult;
use crate::history::HistoryResult;
use crate::why::WhyResult;

/// Path of the schemas in an OpenAPI document.
const COMPONENTS: &str = "/components/schemas";

/// A document type with a published schema.
#[derive(Clone, Debug)]
pub struct Published {
    /// Name of its type.
    pub name: String,
    of: fn(SchemaGenerator) -> Schema,
    refer: fn(&mut SchemaGenerator) -> Schema,
}

impl Published {
    fn new<T: JsonSchema>() -> Self {
        let of = |generator: SchemaGenerator| generator.into_root_schema_for::<T>();
        let name = T::schema_name().into_owned();
        Self { name, of, refer: SchemaGenerator::subschema_for::<T> }
    }

    /// Generates the schema: JSON Schema 2020-12, with definitions in `$defs`.
    #[must_use]
    pub fn schema(&self) -> Value {
        (self.of)(settings().into_generator()).to_value()
    }
}

macro_rules! published_documents {
    ($($variant:ident($name:literal, $nature:ident, $($document:ident)::+, $($type:ident)::+) $title:literal,)+) => {
        /// The schemas of the documents of all jobs, in the order of their kinds.
        #[must_use]
        pub fn documents() -> Vec<Published> {
            vec![$(Published::new::<crate::$($document)::+>()),+]
        }
    };
}
job_kinds!(published_documents);

/// Every schema: of the documents, of the history, of the doctor, of bundles, and of explanations.
#[must_use]
pub fn published() -> Vec<Published> {
    let others = [
        Published::new::<HistoryResult>(),
        Published::new::<BundleVerification>(),
        Published::new::<RepetitionResult>(),
        Published::new::<DoctorResult>(),
        Published::new::<WhyResult>(),
    ];
    documents().into_iter().chain(others).collect()
}

/// Returns all schemas and their definitions by name, for an OpenAPI document. Equal names mean the
/// same type.
#[must_use]
pub fn components() -> Map<String, Value> {
    let mut settings = settings();
    settings.definitions_path = COMPONENTS.into();
    let mut generator = settings.into_generator();
    for published in published() {
        (published.refer)(&mut generator);
    }
    generator.take_definitions(true)
}

/// Describes written documents: a field that is always written is required, even if older documents
/// lack it.
fn settings() -> SchemaSettings {
    SchemaSettings::draft2020_12().for_serialize().with_transform(RecursiveTransform(for_readers))
}

/// Closes objects, and adapts descriptions from readers of the code to readers of documents.
fn for_readers(schema: &mut Schema) {
    if schema.get("properties").is_some() {
        schema.insert("additionalProperties".to_owned(), false.into());
    }
    // Written documents need none.
    schema.remove("default");
    // Formats for the widths of Rust's numbers, which validators do not support.
    if schema.get("format").is_some_and(|format| format != "date-time") {
        schema.remove("format");
    }
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = plain(text);
    }
}

/// Converts a doc comment to one line, with `null` for `None` and without links into the code.
fn plain(comment: &str) -> String {
    let line = comment.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut out = String::with_capacity(line.len());
    let mut rest = line.as_str();
    while let Some((before, after)) = rest.split_once("[`") {
        let Some((name, after)) = after.split_once("`]") else { break };
        let link = after.strip_prefix('(').and_then(|link| link.split_once(')'));
        let name = name.rsplit("::").next().unwrap_or(name);
        out.extend([before, "`", name, "`"]);
        rest = link.map_or(after, |(_, after)| after);
    }
    out.push_str(rest);
    out.replace("`None`", "`null`")
}
