//! Converts stored documents of earlier versions to the version that this program writes.

use serde_json::{Map, Value};

use crate::command::JobKind;

/// Names of version 1, with those of version 2.
const NAMES: [(&str, &str); 7] = [
    ("headline", "primary_metric"),
    ("limited_by", "bottleneck"),
    ("in_doubt", "indeterminate"),
    ("tally", "counter"),
    ("author", "origin"),
    ("refused", "failed_runs"),
    ("settle_s", "cool_down_s"),
];

/// Renames a document of version 1 to the names of version 2. Anything else is returned unchanged,
/// such as the document of a drill: it had these names from its version 1 on.
#[must_use]
pub fn upgraded(kind: JobKind, mut document: Value) -> Value {
    if kind != JobKind::Drill && document.get("format").and_then(Value::as_u64) == Some(1) {
        rename(&mut document);
        document["format"] = 2.into();
    }
    document
}

fn rename(value: &mut Value) {
    match value {
        Value::Object(members) => rename_members(members),
        Value::Array(items) => items.iter_mut().for_each(rename),
        _ => {}
    }
}

fn rename_members(members: &mut Map<String, Value>) {
    *members = std::mem::take(members)
        .into_iter()
        .map(|(name, mut value)| {
            // The outcome of one of the slowest transactions, and the kind of a warning.
            if matches!(name.as_str(), "outcome" | "kind") {
                value = value.as_str().map(new_name).map_or(value.clone(), Value::from);
            }
            rename(&mut value);
            (new_name(&name).to_owned(), value)
        })
        .collect();
}

fn new_name(name: &str) -> &str {
    NAMES.iter().find(|(old, _)| *old == name).map_or(name, |(_, new)| new)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_of_version_1_become_those_of_version_2() {
        let old = json!({
            "format": 1,
            "headline": { "name": "NOPM", "verification": { "in_doubt": 2 } },
            "exemplars": [{ "author": { "arrival": 1 }, "outcome": "in_doubt" }],
            "warnings": [{ "kind": "tally", "text": "in_doubt stays in words" }],
            "pairs": { "settle_s": 1.0, "refused": [] },
        });
        let new = json!({
            "format": 2,
            "primary_metric": { "name": "NOPM", "verification": { "indeterminate": 2 } },
            "exemplars": [{ "origin": { "arrival": 1 }, "outcome": "indeterminate" }],
            "warnings": [{ "kind": "counter", "text": "in_doubt stays in words" }],
            "pairs": { "cool_down_s": 1.0, "failed_runs": [] },
        });
        assert_eq!(upgraded(JobKind::Run, old.clone()), new);
        assert_eq!(upgraded(JobKind::Compare, new.clone()), new);
        assert_eq!(upgraded(JobKind::Drill, old.clone()), old, "a drill's version is 1");
        for other in [json!({ "headline": 1 }), json!("stopped"), Value::Null] {
            assert_eq!(upgraded(JobKind::Run, other.clone()), other);
        }
    }
}
