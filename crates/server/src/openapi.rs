//! The OpenAPI document of the API: generated from the handlers and their types, with the published
//! schemas of runs, profiles, capacity searches and comparisons.

use serde_json::{Value, json};
use triphammer_document::metrics::{Metric, MetricKind, OF_SECOND, OF_TYPE, Unit};
use triphammer_settings::formats::FORMATS;
use utoipa::OpenApi;

use crate::api;
use crate::live::LiveEvent;
use crate::schema::documents;

/// Requests and errors, whose fields are optional. All other types always have every field, possibly `null`.
const SENT: [&str; 7] =
    ["Form", "TargetForm", "JobChange", "PasswordForm", "TokenForm", "DoctorForm", "ApiError"];

/// Path of a job's report; its media types are those of the formats.
const REPORT: &str = "/api/v1/jobs/{id}/report";

/// Statuses that reject any request before its handler runs.
const REFUSALS: [(&str, &str); 5] = [
    ("400", "The request is malformed."),
    ("401", "The token is missing or wrong."),
    ("403", "The request comes from a page of another site."),
    ("408", "The request timed out."),
    ("421", "The host name is unknown."),
];

/// Additional statuses for requests that change something.
const REFUSALS_OF_CHANGES: [(&str, &str); 3] = [
    ("413", "The request is too large."),
    ("415", "The content type is not JSON."),
    ("422", "The request has missing or invalid fields."),
];

#[derive(OpenApi)]
#[openapi(
    info(
        title = "triphammer",
        description = "The API of `triphammer serve`. Every error is an `ApiError`. Timestamps are \
                       RFC 3339 in UTC; durations have the unit that the field's name ends with; \
                       shares are from 0 to 1.",
        license(name = "Apache-2.0")
    ),
    components(schemas(LiveEvent))
)]
struct Head;

/// Generates the document.
///
/// # Panics
/// When two types have the same name, which the tests detect.
#[must_use]
pub fn document() -> Value {
    let (_, paths) = api::routes().split_for_parts();
    let mut head = Head::openapi();
    head.merge(paths);
    let mut document = serde_json::to_value(head).expect("a document is plain data");
    let schemas = document["components"]["schemas"].as_object_mut().expect("there are schemas");
    for (name, members) in declared() {
        let properties = schemas[name]["properties"].as_object_mut().expect("it is an object");
        properties.extend(members);
    }
    for (_, schema) in schemas.iter_mut().filter(|(name, _)| !SENT.contains(&name.as_str())) {
        let all: Option<Vec<&String>> =
            schema["properties"].as_object().map(|f| f.keys().collect());
        if let Some(all) = all {
            let all = json!(all);
            schema["required"] = all;
        }
    }
    for (name, schema) in documents() {
        let before = schemas.insert(name.clone(), schema);
        assert!(before.is_none(), "two types are called {name}");
    }
    document["paths"][REPORT]["get"]["responses"]["200"]["content"] = report_contents();
    for path in document["paths"].as_object_mut().expect("there are paths").values_mut() {
        for (method, operation) in path.as_object_mut().expect("a path has methods") {
            add_refusals(method, &mut operation["responses"]);
        }
    }
    document
}

/// Media types of reports, in the order of the formats.
fn report_contents() -> Value {
    let contents = FORMATS.iter().map(|format| {
        let media_type = format.media_type.split(';').next().unwrap_or_default();
        let kind = if media_type == "application/json" { "object" } else { "string" };
        (media_type.to_owned(), json!({ "schema": { "type": kind } }))
    });
    contents.collect::<serde_json::Map<_, _>>().into()
}

/// The fields for declared metrics, by the schema that contains them.
fn declared() -> [(&'static str, Vec<(String, Value)>); 4] {
    let live = |metrics: &[Metric]| {
        let some = metrics.iter().filter_map(|metric| Some((metric.live?, metric)));
        some.map(|(name, metric)| (name.to_owned(), value_schema(metric))).collect()
    };
    let points = |metrics: &[Metric]| {
        let some = metrics.iter().filter_map(|metric| Some((metric.points?, metric)));
        some.map(|(name, metric)| (name.to_owned(), points_schema(metric))).collect()
    };
    [
        ("LiveSecond", live(OF_SECOND)),
        ("LiveType", live(OF_TYPE)),
        ("JobSeries", points(OF_SECOND)),
        ("TypeSeries", points(OF_TYPE)),
    ]
}

/// Schema of one value of a metric.
fn value_schema(metric: &Metric) -> Value {
    let word = word(metric);
    let kind = if metric.zero { json!(word) } else { json!([word, "null"]) };
    json!({ "type": kind, "description": help(metric) })
}

/// JSON type of a value.
fn word(metric: &Metric) -> &'static str {
    let is_mean = metric.kind == MetricKind::Mean;
    if matches!(metric.unit, Unit::Count | Unit::Us) && !is_mean { "integer" } else { "number" }
}

/// Schema of the values of a metric in a series.
fn points_schema(metric: &Metric) -> Value {
    if !metric.has_spread() {
        let items = json!({ "type": word(metric) });
        return json!({ "type": "array", "items": items, "description": help(metric) });
    }
    let spread = json!({ "$ref": "#/components/schemas/Spread" });
    if metric.zero {
        return json!({ "allOf": [spread], "description": help(metric) });
    }
    json!({ "oneOf": [{ "type": "null" }, spread], "description": help(metric) })
}

/// Describes a metric: meaning, unit, and when it is null.
fn help(metric: &Metric) -> String {
    let unit = if metric.unit == Unit::Us { " In µs." } else { "" };
    let null = if metric.zero { "" } else { " `null` if it was not measured." };
    format!("{}{unit}{null}", metric.help)
}

/// Adds the responses that occur before a handler runs.
fn add_refusals(method: &str, responses: &mut Value) {
    let responses = responses.as_object_mut().expect("an operation has responses");
    let changes = ["post", "put", "patch"].contains(&method);
    let of_changes = REFUSALS_OF_CHANGES.iter().filter(|_| changes);
    for (status, description) in REFUSALS.iter().chain(of_changes) {
        let schema = json!({ "$ref": "#/components/schemas/ApiError" });
        let content = json!({ "application/json": { "schema": schema } });
        let refusal = json!({ "description": description, "content": content });
        responses.entry(*status).or_insert(refusal);
    }
}
