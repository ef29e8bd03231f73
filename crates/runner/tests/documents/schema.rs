//! Documents are valid against the published schemas: every property is required and described, and
//! nothing else is allowed.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;
use triphammer_core::error::ErrorClass;
use triphammer_core::pace::read_steps;
use triphammer_core::session::{Isolation, Protocol};
use triphammer_core::spec::{Length, Sessions};
use triphammer_core::workload::Mode;
use triphammer_document::judgement::Operator;
use triphammer_document::parts::Status;
use triphammer_document::result::{Bottleneck, DatabaseCount, RunResult, Verdict};
use triphammer_document::schedule::Schedule;
use triphammer_document::schemas::{components, published};
use triphammer_document::unit::FigureUnit;
use triphammer_engine::Origin;

use crate::sample;

const RESULT: &str = "RunResult";

/// A second type of a name would be called `Name2`.
#[test]
fn no_two_types_of_documents_have_one_name() {
    for name in components().keys() {
        assert!(!name.ends_with(|c: char| c.is_ascii_digit()), "{name}: `schemars(rename)` one");
    }
}

fn schema() -> Value {
    read(RESULT)
}

/// The published schema of a type of documents.
pub fn read(name: &str) -> Value {
    published().iter().find(|published| published.name == name).unwrap().schema()
}

fn samples() -> Vec<Value> {
    let (_, end) = sample::troubled();
    let mut by_count = sample::facts();
    by_count.spec.length = Length::Transactions(1000);
    let read = DatabaseCount { before: Some(5), after: Some(7) };
    let audit = triphammer_runner::describe("tpc-b").unwrap().audits[0].clone();
    by_count.audits = vec![(audit.clone(), read), (audit, DatabaseCount::default())];
    let mut keyed = sample::facts();
    sample::key(&mut keyed);
    keyed.spec.pacing.sessions = Sessions::Pool(64);
    keyed.spec.pacing.steps = read_steps("100,30s").unwrap();
    let mut until = sample::facts();
    until.until_ci = Some(0.01);
    until.schedule = Schedule::Every { setting: "checkpoint_timeout".into(), seconds: 120 };
    let mut until_unknown = until.clone();
    until_unknown.schedule = Schedule::default();
    let mut by_terminal = sample::calm();
    by_terminal.exemplars = end.exemplars.clone();
    by_terminal.exemplars[0].origin = Origin::User { user: 3, nth: 9 };
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

/// Violations of a published schema in a document.
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
    spoil(|result| result["format"] = 3.into());
    spoil(|result| result["status"] = "lost".into());
    spoil(|result| result["window"]["types"][0]["response"]["p50_us"] = Value::Null);
    spoil(|result| result["run"]["total"]["new_field"] = 1.into());
    spoil(|result| result["failures"]["share"] = 1.5.into());
    spoil(|result| result["window"]["types"][0]["share"] = (-0.1).into());
    spoil(|result| result["spec"]["max_failures"] = 1.5.into());
    spoil(|result| result["durations"]["window_s"] = (-1).into());
    spoil(|result| drop(result["primary_metric"].as_object_mut().unwrap().remove("verification")));
}

#[test]
fn every_object_is_closed_whole_and_described() {
    closed_whole_and_described(RESULT);
}

/// Checks the properties that all published schemas share.
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
        let described = |node: &Value| node["description"].as_str().is_some_and(|t| !t.is_empty());
        for (name, property) in properties {
            // A variant is described as a whole, its tag or its only member with it.
            let of_variant = property.get("const").is_some() || properties.len() == 1;
            assert!(
                described(property) || of_variant && described(node),
                "{name} is not described: {node}"
            );
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
        let all = |words: &[Value]| words.iter().map(Value::to_string).collect::<BTreeSet<_>>();
        assert_eq!(all(&listed), all(&words), "{definition}");
    };
    fn words<T: Serialize>(all: impl IntoIterator<Item = T>) -> Vec<Value> {
        all.into_iter().map(|value| serde_json::to_value(value).unwrap()).collect()
    }
    check("ErrorClass", words(ErrorClass::ALL));
    check("Isolation", words(Isolation::ALL.map(|(level, _)| level)));
    check("Protocol", words(Protocol::ALL.map(|(protocol, _)| protocol)));
    check("Bottleneck", words(Bottleneck::ALL));
    check("Operator", words(Operator::ALL));
    check("FigureUnit", words([FigureUnit::Number, FigureUnit::Share, FigureUnit::Us]));
    check("Mode", words([Mode::Procedures, Mode::Statements]));
    let all = [Status::Complete, Status::Interrupted, Status::Aborted, Status::Failed];
    check("Status", words(all));
    assert_eq!(words(all), words(all.map(Status::name)));
    check(
        "Verdict",
        words([Verdict::Verified, Verdict::WithinBounds, Verdict::Violated, Verdict::NotCounted]),
    );
}
