//! JUnit XML, as shown by Jenkins, GitLab, GitHub Actions and most other CI systems: one test case
//! for each requirement of a run or condition of a check.

use triphammer_core::text::steers;
use triphammer_document::check::CheckReport;
use triphammer_document::ending::Ending;
use triphammer_document::parts::Status;
use triphammer_document::result::{QueriesResult, RunResult, Steady, StepTime, Verdict};

use super::{query_streams, words};

/// Name of the case for steadiness.
const STEADY: &str = "the window was steady, and shows the level";

/// A test case: one requirement or condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Group of the case: `triphammer.requirements`.
    pub class: &'static str,
    /// Name of the case.
    pub name: String,
    /// Outcome of the case.
    pub outcome: Outcome,
    /// Duration in seconds; 0 if there is none.
    pub seconds: f64,
}

/// Outcome of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Passed, with the measured value.
    Passed(String),
    /// Failed, with the reason.
    Failed(String),
    /// Could not be determined, with the reason.
    Skipped(String),
    /// The command failed with an error.
    Error(String),
}

/// A test suite.
#[derive(Clone, Debug, PartialEq)]
pub struct Suite {
    /// Name of the suite: `run of tproc-c`.
    pub name: String,
    /// Start time, RFC 3339, UTC.
    pub started_at: Option<String>,
    /// Duration in seconds.
    pub seconds: f64,
    /// Test cases, in order.
    pub cases: Vec<Case>,
}

impl Suite {
    /// Makes the first case fail if the job is not good and no other case says so.
    #[must_use]
    pub(crate) fn agreeing_with(mut self, ending: &Ending) -> Self {
        let fails = |case: &Case| matches!(case.outcome, Outcome::Failed(_) | Outcome::Error(_));
        if !ending.good && !self.cases.iter().any(fails) {
            self.cases
                .insert(0, case(RUN, "the job is good", Outcome::Failed(ending.words.clone())));
        }
        self
    }
}

const RUN: &str = "triphammer.run";

/// A case that takes no time.
pub(super) fn case(class: &'static str, name: &str, outcome: Outcome) -> Case {
    Case { class, name: name.to_owned(), outcome, seconds: 0.0 }
}

/// The suite of a run: completion, failures, the database's count, audits, requirements.
#[must_use]
pub fn of_run(result: &RunResult) -> Suite {
    let failures = failures(result);
    let verification = &result.primary_metric.verification;
    let mut cases = vec![Case {
        seconds: result.durations.whole_s,
        ..case(RUN, "the run completed", completed(result))
    }];
    match &result.queries {
        Some(set) => cases.extend(of_queries(set)),
        None => cases.extend([
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
        ]),
    }
    if let Some(streams) = &result.query_streams {
        let text = query_streams::outcome(streams).join(crate::lines::DOT);
        let outcome = passed(streams.is_good(), text);
        cases.push(case("triphammer.queries", "the queries of all streams are answered", outcome));
    }
    if let Some(steadiness) = words::judged_steadiness(result) {
        let text = words::steadiness(steadiness);
        let outcome = match steadiness.verdict {
            Steady::Steady => Outcome::Passed(text),
            // The exit code does not depend on it.
            Steady::WithinWindow | Steady::Drifting | Steady::TooShort => Outcome::Skipped(text),
        };
        cases.push(case("triphammer.checks", STEADY, outcome));
    } else if let Some(why) = words::not_judged(result) {
        cases.push(case("triphammer.checks", STEADY, Outcome::Skipped(why)));
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

/// One case per query, and one for the comparison of answers.
fn of_queries(set: &QueriesResult) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for query in &set.queries {
        let name = format!("{} {}", query.name.to_uppercase(), query.title);
        let trouble = set.unanswered().find(|step| step.name == query.name);
        let outcome = match trouble.and_then(StepTime::trouble) {
            Some(trouble) => Outcome::Failed(trouble),
            None => Outcome::Passed(format!("{} of {} answered", query.answered, query.asked)),
        };
        let seconds = query.mean_s.unwrap_or_default();
        cases.push(Case { seconds, ..case("triphammer.queries", &name, outcome) });
    }
    let answers = &set.answers;
    let outcome = match answers.differences.first() {
        Some(difference) => Outcome::Failed(difference.clone()),
        None if answers.compared == 0 => Outcome::Skipped("nothing to compare".to_owned()),
        None => Outcome::Passed(format!("{} compared", answers.compared)),
    };
    cases.push(case("triphammer.queries", "equal queries have equal answers", outcome));
    cases
}

fn completed(result: &RunResult) -> Outcome {
    let has_window = result.queries.is_none();
    if has_window && result.status == Status::Complete && result.window.total.completed == 0 {
        return Outcome::Failed("no transaction completed in the timed window".to_owned());
    }
    match result.ending.detail.clone() {
        None => {
            let primary_metric = words::primary_metric(result).swap_remove(0);
            Outcome::Passed(format!("{} {}", primary_metric[0], primary_metric[1]))
        }
        Some(ending) => Outcome::Failed(ending),
    }
}

/// The suite of a check: one case per condition.
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

/// The suite of a command that failed with an error.
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

/// The failures of a run; above their limit, with the most frequent error.
fn failures(result: &RunResult) -> String {
    let text = words::failures(result);
    let most = result.errors.iter().max_by_key(|error| error.count);
    match most.filter(|_| result.failures.above_limit) {
        Some(error) => format!("{text}: {}", error.message),
        None => text,
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
    /// Renders the XML document, with a final line break.
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

/// Escapes text for an element or an attribute. Characters not allowed in XML 1.0 become `�`.
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
