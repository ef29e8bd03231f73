//! Replaces names in the raw parts of a bundle: each by a number, the same everywhere. All other
//! parts are made from these, so they cannot show what the raw ones do not.

use triphammer_document::bundle::ShownNames;
use triphammer_settings::command::JobKind;

use crate::parts::Parts;

/// Endings of the names of parts with binary values, in which nothing is replaced.
const BINARY: [&str; 3] = ["histograms.csv", "totals.csv", "sample_chunk.csv"];

/// Words that stand for other things in results: schemes of URLs, kinds and states.
const WORDS: [&str; 20] = [
    "postgres",
    "postgresql",
    "mysql",
    "mariadb",
    "sqlite",
    "duckdb",
    "trino",
    "sqlserver",
    "odbc",
    "null",
    "true",
    "false",
    "complete",
    "interrupted",
    "window",
    "response",
    "service",
    "default",
    "target",
    "label",
];

/// A name that cannot be replaced by its text alone, because it is also a number or such a word.
pub(crate) fn common_word(names: &ShownNames) -> Option<&String> {
    let is_common = |name: &&String| {
        let is_number = !name.chars().any(char::is_alphabetic);
        let is_kind = || JobKind::ALL.iter().any(|kind| kind.name() == **name);
        is_number && name.parse::<std::net::IpAddr>().is_err()
            || is_kind()
            || WORDS.contains(&name.to_ascii_lowercase().as_str())
    };
    let mut all = names.hosts.iter().chain(&names.labels).chain(&names.paths);
    all.find(is_common)
}

/// Replaces these names.
pub(crate) fn replace(parts: &mut Parts, names: &ShownNames) {
    let pairs = replacements(names);
    for (name, content) in &mut parts.0 {
        if BINARY.iter().any(|binary| name.ends_with(binary)) {
            continue;
        }
        if let Ok(text) = std::str::from_utf8(content) {
            let replaced =
                pairs.iter().fold(text.to_owned(), |text, (from, to)| replaced(&text, from, to));
            *content = replaced.into_bytes();
        }
    }
}

/// What replaces what, the longest names first: one may be part of another.
fn replacements(names: &ShownNames) -> Vec<(String, String)> {
    let numbered = |kind: &'static str, list: &[String]| {
        let pairs =
            (1..).zip(list).map(move |(number, name)| (escaped(name), format!("{kind}-{number}")));
        pairs.collect::<Vec<_>>()
    };
    let mut pairs = numbered("host", &names.hosts);
    pairs.extend(numbered("label", &names.labels));
    pairs.extend(numbered("path", &names.paths));
    pairs.sort_by_key(|(from, _)| std::cmp::Reverse(from.len()));
    pairs
}

/// A name as JSON has it.
fn escaped(name: &str) -> String {
    let json = serde_json::to_string(name).expect("text is JSON");
    json[1..json.len() - 1].to_owned()
}

/// Replaces a name where it stands alone, not within a longer word.
fn replaced(text: &str, from: &str, to: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(from) {
        let (before, after) = (&rest[..at], &rest[at + from.len()..]);
        let last = before.chars().next_back().or_else(|| out.chars().next_back());
        // A server names its files after its host: `db1-slow.log`.
        let ends = !after.chars().next().is_some_and(|c| is_word(c) && c != '-');
        let is_alone = !last.is_some_and(is_word) && ends;
        out.push_str(before);
        out.push_str(if is_alone { to } else { from });
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_replaced_where_they_stand_alone() {
        let of = |text: &str| replaced(text, "db1", "host-1");
        assert_eq!(of("postgres://u@db1:5432/db1"), "postgres://u@host-1:5432/host-1");
        assert_eq!(of("db12, my-db1, db1."), "db12, my-db1, host-1.");
        assert_eq!(of("db1-slow.log"), "host-1-slow.log");
    }

    #[test]
    fn common_words_are_found() {
        let of = |host: &str| {
            let names = ShownNames { hosts: vec![host.to_owned()], ..ShownNames::default() };
            common_word(&names).is_some()
        };
        for host in ["postgres", "10", "/", "run"] {
            assert!(of(host), "{host}");
        }
        for host in ["db1", "10.0.0.5", "fe80::1", "postgres-1"] {
            assert!(!of(host), "{host}");
        }
    }

    #[test]
    fn the_longest_name_is_replaced_first() {
        let names = ShownNames {
            hosts: vec!["db1".into(), "db1.example.com".into()],
            labels: vec!["a \"b\"".into()],
            ..ShownNames::default()
        };
        let mut parts = Parts::default();
        let text = r#"{"u": "x://db1.example.com/ x://db1/", "label": "a \"b\""}"#;
        parts.0.insert("jobs/1/job.json".into(), text.into());
        replace(&mut parts, &names);
        let expected = r#"{"u": "x://host-2/ x://host-1/", "label": "label-1"}"#;
        assert_eq!(parts.text("jobs/1/job.json"), Some(expected));
    }
}
