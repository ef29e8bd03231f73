//! TypeScript from the OpenAPI document: an interface or type for each schema, and the operations by method
//! and path. Small, because the document uses few of the ways in which a schema can be written.

use std::fmt::Write;

use serde_json::Value;
use triphammer_document::metrics::{Merge, MetricKind, OF_SECOND, OF_TYPE};
use triphammer_observe::host_metrics::{HOST, HOST_METRICS};
use triphammer_observe::node_figures::NODE_METRICS;
use triphammer_observe::{CPU_NUMBER, declared, dialects};

const HEAD: &str = "\
// Made from docs/reference/openapi.json, which is made from the program; do not edit.
// `make generate` rewrites it.

";

/// Generates the whole file of types.
pub fn types(document: &Value) -> String {
    let mut out = HEAD.to_owned();
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        comment(&mut out, schema, "");
        let body = of(schema, "");
        if schema["properties"].is_object() {
            writeln!(out, "export interface {name} {body}\n").unwrap();
        } else {
            writeln!(out, "export type {name} = {body};\n").unwrap();
        }
    }
    out.push_str(&operations(document));
    out
}

/// The operations by `METHOD path`: query, body and response.
fn operations(document: &Value) -> String {
    let mut out = String::from(
        "/** Every operation: its query, its body, and what it answers. */\nexport interface Operations {\n",
    );
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let summary = serde_json::json!({ "description": operation["summary"] });
            comment(&mut out, &summary, "  ");
            writeln!(out, "  \"{} {path}\": {{", method.to_uppercase()).unwrap();
            let query: Vec<_> = operation["parameters"]
                .as_array()
                .into_iter()
                .flatten()
                .filter(|parameter| parameter["in"] == "query")
                .collect();
            if query.is_empty() {
                out.push_str("    query: undefined;\n");
            } else {
                out.push_str("    query: {\n");
                for parameter in query {
                    comment(&mut out, parameter, "      ");
                    let name = parameter["name"].as_str().unwrap();
                    let (mut schema, _) = without_null(&parameter["schema"]);
                    schema = schema.trim().to_owned();
                    writeln!(out, "      {name}?: {schema} | undefined;").unwrap();
                }
                out.push_str("    };\n");
            }
            let body = &operation["requestBody"]["content"]["application/json"]["schema"];
            writeln!(
                out,
                "    body: {};",
                if body.is_null() { "undefined".into() } else { of(body, "    ") }
            )
            .unwrap();
            writeln!(out, "    answer: {};", answer(operation)).unwrap();
            out.push_str("  };\n");
        }
    }
    out.push_str("}\n");
    out
}

fn answer(operation: &Value) -> String {
    let responses = operation["responses"].as_object().unwrap();
    let good = responses.iter().find(|(status, _)| status.starts_with('2')).unwrap().1;
    match good["content"].as_object().and_then(|content| content.iter().next()) {
        None => "undefined".into(),
        Some((kind, content)) if kind == "application/json" => of(&content["schema"], "    "),
        Some((kind, _)) if kind == "text/event-stream" => "LiveEvent".into(),
        Some(_) => "string".into(),
    }
}

fn comment(out: &mut String, schema: &Value, indent: &str) {
    if let Some(text) = schema["description"].as_str() {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        writeln!(out, "{indent}/** {text} */").unwrap();
    }
}

/// A schema's type, and whether it may be null.
fn without_null(schema: &Value) -> (String, bool) {
    let text = of(schema, "");
    match text.strip_suffix(" | null") {
        Some(rest) => (rest.to_owned(), true),
        None => (text, false),
    }
}

/// A schema as a type.
fn of(schema: &Value, indent: &str) -> String {
    if let Some(to) = schema["$ref"].as_str() {
        return to.rsplit('/').next().unwrap().to_owned();
    }
    if let Some(only) = schema.get("const") {
        return only.to_string();
    }
    if let Some(words) = schema["enum"].as_array() {
        return words.iter().map(Value::to_string).collect::<Vec<_>>().join(" | ");
    }
    for (ways, sign) in [("oneOf", " | "), ("anyOf", " | "), ("allOf", " & ")] {
        if let Some(ways) = schema[ways].as_array() {
            let mut all: Vec<String> = ways.iter().map(|way| of(way, indent)).collect();
            all.sort_by_key(|way| way == "null");
            return all.join(sign);
        }
    }
    match &schema["type"] {
        Value::Array(types) => {
            let mut all: Vec<String> = types
                .iter()
                .map(|one| {
                    let mut schema = schema.clone();
                    schema["type"] = one.clone();
                    of(&schema, indent)
                })
                .collect();
            all.sort_by_key(|one| one == "null");
            all.join(" | ")
        }
        Value::String(one) => match one.as_str() {
            "integer" | "number" => "number".into(),
            "array" => format!("{}[]", bracketed(&of(&schema["items"], indent))),
            "object" => object(schema, indent),
            other => other.to_owned(),
        },
        _ => "unknown".into(),
    }
}

fn bracketed(item: &str) -> String {
    if item.contains([' ', '{']) { format!("({item})") } else { item.to_owned() }
}

fn object(schema: &Value, indent: &str) -> String {
    let Some(fields) = schema["properties"].as_object() else {
        let values = &schema["additionalProperties"];
        let of_values = if values.is_object() { of(values, indent) } else { "unknown".into() };
        return format!("Record<string, {of_values}>");
    };
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let inner = format!("{indent}  ");
    let mut out = String::from("{\n");
    for (name, field) in fields {
        comment(&mut out, field, &inner);
        let (mut text, null) = {
            let text = of(field, &inner);
            let null = text.ends_with(" | null");
            (text, null)
        };
        let mark = if required.contains(&name.as_str()) { "" } else { "?" };
        if mark == "?" && null {
            text.push_str(" | undefined");
        } else if mark == "?" {
            text = format!("{text} | undefined");
        }
        let key = if name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            name.clone()
        } else {
            format!("{name:?}")
        };
        writeln!(out, "{inner}{key}{mark}: {text};").unwrap();
    }
    write!(out, "{indent}}}").unwrap();
    out
}

const METRICS_HEAD: &str = "\
// Made from the figures that the program declares; do not edit.
// `make generate` rewrites it.

/** A figure that the page draws over time. */
export interface Metric {
  /** What its line is called. */
  title: string;
  /** Of all threads, or of each transaction type and all of them. */
  of: 'threads' | 'types';
  unit: 'count' | 'per_second' | 'per_minute' | 'share' | 'cores' | 'us' | 'ns' | 's';
  /** Whether it counts what happened in a second. */
  counts: boolean;
  /** The chart; each of `own` has one for itself. */
  chart: 'trouble' | 'sessions' | 'cpu' | 'lag' | 'own';
  /** Its name in live events, and in a job's series. */
  live: string;
  points: string;
  /** Which value of a spread stands for several seconds. */
  spread: 'min' | 'mean' | 'max';
}

export const METRICS: Metric[] = [
";

/// The declared figures that have a chart.
pub fn metrics() -> String {
    let mut out = METRICS_HEAD.to_owned();
    for (of, metrics) in [("types", OF_TYPE), ("threads", OF_SECOND)] {
        for metric in metrics {
            let (Some(chart), Some(live), Some(points)) =
                (metric.chart, metric.live, metric.points)
            else {
                continue;
            };
            let spread = match metric.merge {
                Merge::Min | Merge::Max => metric.merge.name(),
                _ => Merge::Mean.name(),
            };
            writeln!(
                out,
                "  {{ title: '{}', of: '{of}', unit: '{}', counts: {}, chart: '{}', live: '{live}', \
                 points: '{points}', spread: '{spread}' }},",
                metric.title,
                metric.unit.name(),
                metric.kind == MetricKind::Counter,
                chart.name(),
            )
            .unwrap();
        }
    }
    out + "];\n" + &observed()
}

/// What is declared about the charts of observed figures.
fn observed() -> String {
    let of_nodes = NODE_METRICS.iter().filter(|metric| metric.first);
    let mut first: Vec<(String, String)> =
        of_nodes.map(|metric| (metric.name.to_owned(), metric.title.to_owned())).collect();
    let mut stacks = String::new();
    for metric in HOST_METRICS {
        if metric.first {
            first.push((metric.name.to_owned(), metric.title.to_owned()));
        }
        if let Some(stack) = metric.stack {
            let (name, label, rest) = (metric.name, stack.label, stack.rest);
            writeln!(stacks, "  '{name}': {{ label: '{label}', rest: '{rest}' }},").unwrap();
        }
    }
    for dialect in dialects() {
        let queries = declared(&dialect).unwrap().query;
        for metric in queries.iter().flat_map(|query| &query.metrics).filter(|m| m.first) {
            first.push((metric.name.clone(), metric.title.clone()));
        }
    }
    let mut known = std::collections::BTreeSet::new();
    first.retain(|of| known.insert(of.clone()));
    let first = first.iter().fold(String::new(), |mut out, (metric, title)| {
        writeln!(out, "  {{ metric: '{metric}', title: '{title}' }},").unwrap();
        out
    });
    OBSERVED
        .replace("{first}", &first)
        .replace("{stacks}", &stacks)
        .replace("{host}", HOST)
        .replace("{cpu}", CPU_NUMBER)
}

const OBSERVED: &str = "
/** The observed figures that are drawn unless others are chosen. */
export const FIRST: { metric: string; title: string }[] = [
{first}];

/** Observed figures that add up over a label; its value `rest` is what is left of the whole, and not drawn. */
export const STACKS: Record<string, { label: string; rest: string }> = {
{stacks}};

/** The label of a host that is not the client's. */
export const HOST = '{host}';
/** The label of one of several CPUs. */
export const CPU_NUMBER = '{cpu}';
";
