//! Reports as users see them. The expected texts are the reviewed files under `golden/`;
//! `TRIPHAMMER_BLESS=1` rewrites them.

use std::path::Path;

use triphammer_document::JobId;
use triphammer_document::ending::{Ending, Flaw};
use triphammer_document::metrics::{Metric, OF_SECOND, OF_TYPE, Unit};
use triphammer_document::parts::Status;
use triphammer_document::redacted::Redacted;
use triphammer_document::requirement::Vocabulary;
use triphammer_document::result::RunResult;
use triphammer_report as report;
use triphammer_report::{Charset, Report as _, Style};
use triphammer_settings::command::JobKind;
use triphammer_store::{JobRow, JobStatus};
use triphammer_testbed::assert_generated_lists;

use crate::sample;

pub fn golden(name: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/documents/golden").join(name);
    if std::env::var_os("TRIPHAMMER_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, actual).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap();
    assert_eq!(actual, expected, "{name} differs:\n{actual}");
}

fn calm() -> RunResult {
    RunResult::new(&sample::facts(), &sample::calm())
}

pub fn troubled() -> RunResult {
    sample::troubled_result()
}

fn in_short(result: &RunResult) -> String {
    result.summary(Charset::Unicode, Style::Plain).unwrap()
}

#[test]
fn a_calm_run_reads_as_agreed() {
    golden("calm.txt", &calm().text(Charset::Unicode, Style::Plain));
    golden("calm.md", &calm().markdown().unwrap());
}

#[test]
fn a_troubled_run_reads_as_agreed() {
    golden("troubled.txt", &troubled().text(Charset::Unicode, Style::Plain));
    golden("troubled.md", &troubled().markdown().unwrap());
}

#[test]
fn a_summary_fits_a_terminal_and_says_what_counts() {
    golden("calm-summary.txt", &in_short(&calm()));
    golden("troubled-summary.txt", &in_short(&troubled()));
    let mut crowded = troubled();
    for text in ["a", "b", "c"] {
        crowded.requirements.extend(crowded.requirements.clone());
        crowded.warnings.extend(crowded.warnings.clone());
        crowded.label = Some(text.repeat(300));
    }
    for result in [calm(), troubled(), crowded] {
        let summary = in_short(&result);
        assert!(summary.lines().count() <= 23, "{summary}");
        assert!(summary.lines().all(|line| line.chars().count() <= 80), "{summary}");
    }
}

#[test]
fn no_line_is_wider_than_80_columns() {
    for result in [calm(), troubled()] {
        for line in result.text(Charset::Unicode, Style::Plain).lines() {
            assert!(line.chars().count() <= 80, "{line}");
            assert_eq!(line, line.trim_end());
        }
    }
}

#[test]
fn colour_adds_nothing_but_colour() {
    for result in [calm(), troubled()] {
        let colored = result.text(Charset::Unicode, Style::Color);
        assert!(colored.contains("\x1b["));
        let mut stripped = String::new();
        let mut rest = colored.as_str();
        while let Some((before, after)) = rest.split_once("\x1b[") {
            stripped.push_str(before);
            rest = after.split_once('m').unwrap().1;
        }
        stripped.push_str(rest);
        let trimmed: String =
            stripped.lines().map(|line| format!("{}\n", line.trim_end())).collect();
        assert_eq!(trimmed, result.text(Charset::Unicode, Style::Plain));
    }
}

#[test]
fn a_run_without_a_window_still_reads() {
    let mut end = sample::calm();
    end.window.end = end.window.start;
    end.timed = vec![triphammer_core::recorder::TypeInterval::default(); 5];
    end.ending = triphammer_engine::RunEnding::Stopped;
    let mut facts = sample::facts();
    facts.server_transactions = Default::default();
    facts.database_count = Default::default();
    golden("no_window.txt", &RunResult::new(&facts, &end).text(Charset::Unicode, Style::Plain));
}

#[test]
fn jobs_are_a_table() {
    let row = |id, kind, status, label: Option<&str>, value: Option<f64>| JobRow {
        id: JobId(id),
        kind,
        status,
        label: label.map(str::to_owned),
        workload: "tproc-c".into(),
        workload_version: 1,
        scale: if id == 1 { 1 } else { 10 }.into(),
        scale_unit: "warehouses".into(),
        target: Redacted::new("postgres://bench@database.example.org:5432/tpcc"),
        server_product: Some("PostgreSQL".into()),
        server_version: Some("15.4".into()),
        tool_version: "0.1.0".into(),
        users: (kind != JobKind::Check).then_some(16),
        pid: 4711,
        started_at: format!("2026-05-09T07:{id:02}:52.123456Z"),
        ended_at: (status == JobStatus::Complete).then(|| "2026-05-09T08:29:53.6Z".into()),
        primary_metric_name: value.map(|_| "NOPM".into()),
        primary_metric_value: value,
        parent: None,
        step: None,
        runs: match kind {
            JobKind::Profile => 9,
            JobKind::Compare => 14,
            _ => 0,
        },
        ending: None,
    };
    let jobs = [
        row(12, JobKind::Run, JobStatus::Running, Some("after the upgrade"), None),
        row(11, JobKind::Run, JobStatus::Complete, Some("before"), Some(12_345.4)),
        row(2, JobKind::Profile, JobStatus::Complete, None, Some(23_456.7)),
        JobRow {
            primary_metric_name: Some("slower: NOPM B/A".into()),
            ..row(3, JobKind::Compare, JobStatus::Complete, None, Some(0.951))
        },
        row(10, JobKind::Check, JobStatus::Failed, None, None),
        row(1, JobKind::Build, JobStatus::Lost, None, None),
    ];
    let jobs = jobs.map(|row| {
        let flaw = (row.id.0 == 11).then_some(Flaw::Outage);
        JobRow { ending: Some(Ending::new(Status::Complete, flaw)), ..row }
    });
    golden("jobs.txt", &report::jobs::text(&jobs));
    golden("job.txt", &report::jobs::text(&jobs[4..5]));
    let back: Vec<JobRow> = serde_json::from_str(&report::jobs::json(&jobs)).unwrap();
    assert_eq!(back, jobs);
    assert!(report::jobs::text(&[]).contains("triphammer run"));
}

#[test]
fn the_guide_to_outputs_names_every_metric_and_column() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/outputs.md");
    let guide = std::fs::read_to_string(path).unwrap();
    let (of_run, of_type) = Vocabulary::figures();
    let columns = triphammer_document::series::columns(&[]);
    let columns = columns.iter().map(|name| name.strip_prefix("all.").unwrap_or(name));
    let names = of_run.iter().chain(&of_type).map(String::as_str).chain(columns).map(str::to_owned);
    for name in names.chain(Vocabulary::figures_of_node().map(str::to_owned)) {
        assert!(guide.contains(&format!("`{name}`")), "{name}");
    }
}

/// The lists of the guide that are generated from declarations, by the name at their start.
fn lists_of_the_guide() -> [(&'static str, String); 3] {
    let mut formats = String::from("| format | extension | what it is |\n|---|---|---|\n");
    for known in triphammer_settings::formats::FORMATS {
        let triphammer_settings::formats::FormatDeclaration { name, ending, help, .. } = known;
        formats.push_str(&format!("| `{name}` | `.{ending}` | {help} |\n"));
    }
    let columns = |metrics: &[Metric]| {
        let mut table = String::from("| column | meaning |\n|---|---|\n");
        for metric in metrics.iter().filter(|metric| metric.is_column()) {
            let unit = match metric.unit {
                Unit::Us => " In microseconds.",
                Unit::Share => " From 0 to 1.",
                _ => "",
            };
            table.push_str(&format!("| `{}` | {}{unit} |\n", metric.name, metric.help));
        }
        table
    };
    [("formats", formats), ("columns", columns(OF_SECOND)), ("columns of types", columns(OF_TYPE))]
}

#[test]
fn the_lists_of_the_guide_to_outputs_are_those_declared() {
    assert_generated_lists("docs/outputs.md", lists_of_the_guide());
}
