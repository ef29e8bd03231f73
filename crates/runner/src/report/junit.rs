//! JUnit XML, which Jenkins, GitLab, GitHub's actions and most other systems show: one test case for each
//! thing that a run or a check had to hold.

use triphammer_core::text::steers;

use crate::check::CheckReport;
use crate::job::Document;
use crate::result::{RunResult, Status, Steady, Verdict};

use super::words;

/// One thing that had to hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Its group: `triphammer.requirements`.
    pub class: &'static str,
    /// Its name.
    pub name: String,
    /// What came of it.
    pub outcome: Outcome,
    /// How long it took, in seconds; 0 of what is judged in no time.
    pub seconds: f64,
}

/// What came of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It holds; with what was measured.
    Passed(String),
    /// It does not.
    Failed(String),
    /// It could not be told.
    Skipped(String),
    /// The command could not do its work.
    Error(String),
}

/// A set of cases.
#[derive(Clone, Debug, PartialEq)]
pub struct Suite {
    /// What was done: `run of tproc-c`.
    pub name: String,
    /// When it began, RFC 3339, UTC.
    pub started_at: Option<String>,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// The cases.
    pub cases: Vec<Case>,
}

const RUN: &str = "triphammer.run";

/// What a document had to hold; `None` of one that had to hold nothing.
#[must_use]
pub fn of(document: &Document) -> Option<Suite> {
    match document {
        Document::Run(result) => Some(of_run(result)),
        Document::Check(report) => Some(of_check(report)),
        _ => None,
    }
}

/// What a run had to hold: that it completed, its failures, the database's count, audits, requirements.
#[must_use]
pub fn of_run(result: &RunResult) -> Suite {
    let case =
        |class, name: &str, outcome| Case { class, name: name.to_owned(), outcome, seconds: 0.0 };
    let failures = words::failures(result);
    let verification = &result.primary_metric.verification;
    let mut cases = vec![
        Case {
            seconds: result.durations.whole_s,
            ..case(RUN, "the run completed", completed(result))
        },
        case(
            RUN,
            "failures are within their limit",
            passed(!result.failures.above_limit, failures),
        ),
        case(
            "triphammer.checks",
            &format!("the database counts the same {}", result.primary_metric.name),
            of_verdict(verification.verdict, verification.words.clone()),
        ),
    ];
    if let Some(steadiness) = words::judged_steadiness(result) {
        let text = words::steadiness(steadiness);
        let outcome = match steadiness.verdict {
            Steady::Steady => Outcome::Passed(text),
            // It is no condition of a run: the exit code does not depend on it.
            Steady::Drifting | Steady::TooShort => Outcome::Skipped(text),
        };
        cases.push(case("triphammer.checks", "the window was steady", outcome));
    }
    for audit in &result.audits {
        let outcome = of_verdict(audit.verdict, audit.words.clone());
        cases.push(case("triphammer.checks", &audit.title, outcome));
    }
    for (holds, [requirement, value, distance]) in words::requirements(result) {
        let text = format!("{value}: {distance}");
        cases.push(case("triphammer.requirements", &requirement, passed(holds, text)));
    }
    Suite {
        name: format!("triphammer run {}", result.workload.name),
        started_at: Some(result.started_at.clone()),
        seconds: result.durations.whole_s,
        cases,
    }
}

fn completed(result: &RunResult) -> Outcome {
    if result.status == Status::Complete && result.window.total.completed == 0 {
        return Outcome::Failed("no transaction completed in the timed window".to_owned());
    }
    match words::ending(result) {
        None => {
            let primary_metric = words::primary_metric(result).swap_remove(0);
            Outcome::Passed(format!("{} {}", primary_metric[0], primary_metric[1]))
        }
        Some(ending) => Outcome::Failed(ending),
    }
}

/// What a check found: a case for each condition.
#[must_use]
pub fn of_check(report: &CheckReport) -> Suite {
    let cases = report.checks.iter().map(|check| Case {
        class: "triphammer.checks",
        name: format!("{} {}", check.id, check.title),
        outcome: passed(
            check.passes(),
            match &check.first_key {
                Some(key) => {
                    let by = check.by_rules_of.as_ref();
                    let whose = by.map(|by| format!(" by the rules of {by}")).unwrap_or_default();
                    format!("violated {} times{whose}, first at {key}", check.violations)
                }
                None => "holds".to_owned(),
            },
        ),
        seconds: 0.0,
    });
    Suite {
        name: format!("triphammer check {}", report.workload),
        started_at: None,
        seconds: 0.0,
        cases: cases.collect(),
    }
}

/// A command that could not do its work.
#[must_use]
pub fn of_failure(command: &str, workload: &str, failure: &str) -> Suite {
    let name = format!("the {command} completed");
    let outcome = Outcome::Error(failure.to_owned());
    Suite {
        name: format!("triphammer {command} {workload}"),
        started_at: None,
        seconds: 0.0,
        cases: vec![Case { class: RUN, name, outcome, seconds: 0.0 }],
    }
}

fn passed(holds: bool, text: String) -> Outcome {
    if holds { Outcome::Passed(text) } else { Outcome::Failed(text) }
}

fn of_verdict(verdict: Verdict, text: String) -> Outcome {
    match verdict {
        Verdict::Verified | Verdict::WithinBounds => Outcome::Passed(text),
        Verdict::Violated => Outcome::Failed(text),
        Verdict::NotCounted => Outcome::Skipped(text),
    }
}

impl Suite {
    /// The document, with a line break at its end.
    #[must_use]
    pub fn xml(&self) -> String {
        let count = |is: fn(&Outcome) -> bool| self.cases.iter().filter(|c| is(&c.outcome)).count();
        let counts = format!(
            "tests=\"{}\" failures=\"{}\" errors=\"{}\"",
            self.cases.len(),
            count(|outcome| matches!(outcome, Outcome::Failed(_))),
            count(|outcome| matches!(outcome, Outcome::Error(_))),
        );
        let skipped = count(|outcome| matches!(outcome, Outcome::Skipped(_)));
        let time = format!("time=\"{:.3}\"", self.seconds);
        let timestamp = self.started_at.as_ref().map_or_else(String::new, |at| {
            format!(" timestamp=\"{}\"", escape(at.split(['.', 'Z']).next().unwrap_or(at)))
        });
        let mut out = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <testsuites name=\"triphammer\" {counts} {time}>\n  \
             <testsuite name=\"{}\" {counts} skipped=\"{skipped}\" {time}{timestamp}>\n",
            escape(&self.name)
        );
        for case in &self.cases {
            out.push_str(&case.xml());
        }
        out.push_str("  </testsuite>\n</testsuites>\n");
        out
    }
}

impl Case {
    fn xml(&self) -> String {
        let (element, text) = match &self.outcome {
            Outcome::Passed(text) => ("system-out", text),
            Outcome::Failed(text) => ("failure", text),
            Outcome::Skipped(text) => ("skipped", text),
            Outcome::Error(text) => ("error", text),
        };
        let text = escape(text);
        let inner = match element {
            "system-out" => format!("<system-out>{text}</system-out>"),
            _ => {
                format!("<{element} message=\"{text}\">{}: {text}</{element}>", escape(&self.name))
            }
        };
        format!(
            "    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3}\">\n      {inner}\n    </testcase>\n",
            self.class,
            escape(&self.name),
            self.seconds
        )
    }
}

/// Text for an element or an attribute. Characters that XML 1.0 cannot hold become `�`.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            c if steers(c) || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_cannot_hold_is_written_otherwise() {
        assert_eq!(escape("a<b & \"c\"\n\u{1b}[0m"), "a&lt;b &amp; &quot;c&quot;&#10;\u{fffd}[0m");
        let written = escape("a\0b\u{9b}c\u{202e}d\u{2069}e\r");
        assert_eq!(written, "a\u{fffd}b\u{fffd}c\u{fffd}d\u{fffd}e\u{fffd}");
    }

    #[test]
    fn a_command_that_could_not_begin_is_one_error() {
        let xml = of_failure("run", "tproc-c", "no server at <localhost>").xml();
        assert!(xml.contains("tests=\"1\" failures=\"0\" errors=\"1\""), "{xml}");
        assert!(xml.contains("<error message=\"no server at &lt;localhost&gt;\">"), "{xml}");
    }
}
