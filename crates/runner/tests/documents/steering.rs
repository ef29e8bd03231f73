//! Text from servers, labels and file names is shown by every report without control effects.

use serde_json::Value;
use triphammer_core::text::steers;
use triphammer_document::result::RunResult;
use triphammer_report as report;
use triphammer_report::{Charset, Report as _, Style, junit, printable};

use crate::report::troubled;

const EVIL: &str = "evil \u{1b}[2J\u{9b}31m\u{202e}\u{2066}\0\u{7f}<script>alert(1)</script>\
                    ![x](http://e)[y](javascript:z)|`\u{2028}";

/// Puts the text into every field with one of these names.
fn spoil(node: &mut Value) {
    const NAMES: [&str; 8] =
        ["label", "message", "text", "product", "version", "target", "next", "advice"];
    match node {
        Value::Object(members) => {
            for (name, value) in members {
                match value {
                    Value::String(text) if NAMES.contains(&name.as_str()) => text.push_str(EVIL),
                    value => spoil(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(spoil),
        _ => {}
    }
}

fn spoiled() -> RunResult {
    let mut document = serde_json::to_value(troubled()).unwrap();
    spoil(&mut document);
    document["label"] = EVIL.into();
    serde_json::from_value(document).unwrap()
}

fn hold(text: &str) {
    is_steady(text);
    assert!(text.contains("evil"), "{text}");
}

fn is_steady(text: &str) {
    let found: Vec<char> = text.chars().filter(|c| steers(*c) && *c != '\n').collect();
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn no_report_steers_what_shows_it() {
    let result = spoiled();
    hold(&printable(&result.text(Charset::Unicode, Style::Plain)));
    is_steady(&junit::of_run(&result).xml());
    hold(&junit::of_failure("run", "tproc-c", EVIL).xml());
    hold(&report::json(&result));
    let back: RunResult = serde_json::from_str(&report::json(&result)).unwrap();
    assert_eq!(back.label.as_deref(), Some(EVIL));
    let color = result.text(Charset::Unicode, Style::Color);
    let shown = printable(&color);
    assert!(shown.contains("\u{1b}[1m") && !shown.contains("\u{1b}[2J"), "{shown}");
    assert_eq!(printable(&shown), shown);
}

#[test]
fn markdown_holds_no_html_link_or_image() {
    let markdown = spoiled().markdown().unwrap();
    hold(&markdown);
    let tags = markdown.match_indices('<').map(|(at, _)| markdown[at + 1..].chars().next());
    assert!(tags.flatten().all(|next| matches!(next, ' ' | '=')), "{markdown}");
    for (at, _) in markdown.match_indices(['[', ']']) {
        assert_eq!(markdown.as_bytes()[at - 1], b'\\', "{markdown}");
    }
    assert!(!junit::of_run(&spoiled()).xml().contains("<script"));
}
