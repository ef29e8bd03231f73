//! The published schema is what the types give. It is a document for people as well, so it is
//! written by hand, and held to the types from both sides: every property is required and nothing
//! else is allowed, so a field that is missing here or there fails to validate.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;
use triphammer_core::engine::Author;
use triphammer_core::error::ErrorClass;
use triphammer_core::pace::{Load, read_steps};
use triphammer_core::session::{Isolation, Protocol};
use triphammer_core::spec::{Length, Sessions};
use triphammer_core::workload::Mode;
use triphammer_runner::requirement::{Operator, Unit};
use triphammer_runner::result::{Bottleneck, DatabaseCount, RunResult, Status, Verdict};
use triphammer_runner::schedule::Schedule;

use crate::sample;

const RESULT: &str = "result-schema.json";

fn schema() -> Value {
    read(RESULT)
}

/// A published schema.
pub fn read(name: &str) -> Value {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference");
    let text = std::fs::read_to_string(format!("{folder}/{name}")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn samples() -> Vec<Value> {
    let (_, end) = sample::troubled();
    let mut by_count = sample::facts();
    by_count.spec.length = Length::Transactions(1000);
    let read = DatabaseCount { before: Some(5), after: Some(7) };
    let audit = triphammer_runner::describe("tpc-b").unwrap().audits[0].clone();
    by_count.audits = vec![(audit.clone(), read), (audit, DatabaseCount::default())];
    let mut keyed = sample::facts();
    keyed.spec.load = Load::Keyed;
    keyed.spec.pacing.sessions = Sessions::Pool(64);
    keyed.spec.pacing.steps = read_steps("100,30s").unwrap();
    let mut until = sample::facts();
    until.until_ci = Some(0.01);
    until.schedule = Schedule::Every { setting: "checkpoint_timeout".into(), seconds: 120 };
    let mut until_unknown = until.clone();
    until_unknown.schedule = Schedule::default();
    let mut by_terminal = sample::calm();
    by_terminal.exemplars = end.exemplars.clone();
    by_terminal.exemplars[0].author = Author::User { user: 3, nth: 9 };
    [
        RunResult::new(&sample::facts(), &sample::calm()),
        RunResult::new(&keyed, &by_terminal),
        sample::troubled_result(),
        RunResult::new(&by_count, &sample::calm()),
        RunResult::new(&until, &sample::calm()),
        RunResult::new(&until_unknown, &sample::calm()),
    ]
    .iter()
    .map(|result| serde_json::to_value(result).unwrap())
    .collect()
}

fn errors(instance: &Value) -> Vec<String> {
    errors_of(RESULT, instance)
}

/// Where a document is not as a published schema says.
pub fn errors_of(schema: &str, instance: &Value) -> Vec<String> {
    let validator = jsonschema::validator_for(&read(schema)).unwrap();
    validator.iter_errors(instance).map(|e| format!("{}: {e}", e.instance_path())).collect()
}

#[test]
fn results_validate() {
    for result in samples() {
        assert_eq!(errors(&result), Vec::<String>::new());
    }
}

#[test]
fn what_is_no_result_does_not_validate() {
    let spoil = |change: fn(&mut Value)| {
        let mut result = samples().remove(0);
        change(&mut result);
        assert_ne!(errors(&result), Vec::<String>::new());
    };
    spoil(|result| result["format"] = 2.into());
    spoil(|result| result["status"] = "lost".into());
    spoil(|result| result["window"]["types"][0]["response"]["p50_us"] = Value::Null);
    spoil(|result| result["run"]["total"]["new_field"] = 1.into());
    spoil(|result| drop(result["headline"].as_object_mut().unwrap().remove("verification")));
}

#[test]
fn every_object_is_closed_whole_and_described() {
    closed_whole_and_described(RESULT);
}

/// Holds a published schema to what all of them promise.
pub fn closed_whole_and_described(schema: &str) {
    let mut referred = BTreeSet::new();
    let schema = read(schema);
    visit(&schema, &mut |node| {
        if let Some(Value::String(to)) = node.get("$ref") {
            referred.insert(to.trim_start_matches("#/$defs/").to_owned());
        }
        let Some(properties) = node.get("properties").and_then(Value::as_object) else { return };
        assert_eq!(node["additionalProperties"], Value::Bool(false), "{node}");
        let required: BTreeSet<&str> = node["required"]
            .as_array()
            .unwrap()
            .iter()
            .map(|name| name.as_str().unwrap())
            .collect();
        assert_eq!(required, properties.keys().map(String::as_str).collect());
        for (name, property) in properties {
            let text = property.get("description").and_then(Value::as_str).unwrap_or_default();
            assert!(!text.is_empty(), "{name} is not described");
        }
    });
    let defined: BTreeSet<String> = schema["$defs"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(referred, defined);
}

fn visit(node: &Value, seen: &mut impl FnMut(&Value)) {
    seen(node);
    match node {
        Value::Object(children) => children.values().for_each(|child| visit(child, seen)),
        Value::Array(children) => children.iter().for_each(|child| visit(child, seen)),
        _ => {}
    }
}

#[test]
fn words_are_those_of_the_types() {
    let schema = schema();
    let check = |definition: &str, words: Vec<Value>| {
        let node = &schema["$defs"][definition];
        let listed = match node.get("enum") {
            Some(listed) => listed.as_array().unwrap().clone(),
            None => {
                let variants = node["oneOf"].as_array().unwrap();
                variants.iter().map(|variant| variant["const"].clone()).collect()
            }
        };
        assert_eq!(listed, words, "{definition}");
    };
    fn words<T: Serialize>(all: impl IntoIterator<Item = T>) -> Vec<Value> {
        all.into_iter().map(|value| serde_json::to_value(value).unwrap()).collect()
    }
    check("ErrorClass", words(ErrorClass::ALL));
    check("Isolation", words(Isolation::ALL.map(|(level, _)| level)));
    check("Protocol", words(Protocol::ALL.map(|(protocol, _)| protocol)));
    check("Limit", words(Bottleneck::ALL));
    check("Operator", words(Operator::ALL));
    check("Unit", words([Unit::Number, Unit::Share, Unit::Us]));
    check("Mode", words([Mode::Procedures, Mode::Statements]));
    let all = [Status::Complete, Status::Interrupted, Status::Aborted, Status::Failed];
    check("Status", words(all));
    assert_eq!(words(all), words(all.map(Status::name)));
    check(
        "Verdict",
        words([Verdict::Verified, Verdict::WithinBounds, Verdict::Violated, Verdict::NotCounted]),
    );
}
