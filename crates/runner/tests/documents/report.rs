//! Reports as people see them. The expected texts are files under `golden/`, which somebody has
//! looked at; `TRIPHAMMER_BLESS=1` rewrites them.

use std::path::Path;

use triphammer_runner::report::{self, Style};
use triphammer_runner::requirement::Vocabulary;
use triphammer_runner::result::{JobKind, Redacted, RunResult};
use triphammer_runner::store::{JobId, JobRow, JobStatus};

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

#[test]
fn a_calm_run_reads_as_agreed() {
    golden("calm.txt", &report::text(&calm(), Style::Plain));
    golden("calm.md", &report::markdown(&calm()));
}

#[test]
fn a_troubled_run_reads_as_agreed() {
    golden("troubled.txt", &report::text(&troubled(), Style::Plain));
    golden("troubled.md", &report::markdown(&troubled()));
}

#[test]
fn no_line_is_wider_than_100_columns() {
    for result in [calm(), troubled()] {
        for line in report::text(&result, Style::Plain).lines() {
            assert!(line.chars().count() <= 100, "{line}");
            assert_eq!(line, line.trim_end());
        }
    }
}

#[test]
fn colour_adds_nothing_but_colour() {
    for result in [calm(), troubled()] {
        let colored = report::text(&result, Style::Color);
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
        assert_eq!(trimmed, report::text(&result, Style::Plain));
    }
}

#[test]
fn a_run_without_a_window_still_reads() {
    let mut end = sample::calm();
    end.window.end = end.window.start;
    end.timed = vec![triphammer_core::recorder::TypeInterval::default(); 5];
    end.ending = triphammer_core::engine::RunEnding::Stopped;
    let mut facts = sample::facts();
    facts.server_transactions = Default::default();
    facts.database_count = Default::default();
    golden("no_window.txt", &report::text(&RunResult::new(&facts, &end), Style::Plain));
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
        scale: if id == 1 { 1 } else { 10 },
        scale_unit: "warehouses".into(),
        target: Redacted::new("postgres://bench@database.example.org:5432/tpcc"),
        server_product: Some("PostgreSQL".into()),
        server_version: Some("15.4".into()),
        tool_version: "0.1.0".into(),
        users: (kind != JobKind::Check).then_some(16),
        pid: 4711,
        started_at: format!("2026-05-09T07:{id:02}:52.123456Z"),
        ended_at: None,
        headline_name: value.map(|_| "NOPM".into()),
        headline_value: value,
        parent: None,
        step: None,
        runs: match kind {
            JobKind::Profile => 9,
            JobKind::Compare => 14,
            _ => 0,
        },
    };
    let jobs = [
        row(12, JobKind::Run, JobStatus::Running, Some("after the upgrade"), None),
        row(11, JobKind::Run, JobStatus::Complete, Some("before"), Some(12_345.4)),
        row(2, JobKind::Profile, JobStatus::Complete, None, Some(23_456.7)),
        JobRow {
            headline_name: Some("slower: NOPM B/A".into()),
            ..row(3, JobKind::Compare, JobStatus::Complete, None, Some(0.951))
        },
        row(10, JobKind::Check, JobStatus::Failed, None, None),
        row(1, JobKind::Build, JobStatus::Lost, None, None),
    ];
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
    let columns = report::series::columns(&[]);
    let formats = report::FORMATS.iter().map(|known| known.name);
    let names = of_run.iter().chain(&of_type).map(String::as_str).chain(formats);
    for name in names.chain(columns.iter().map(String::as_str)) {
        assert!(guide.contains(&format!("`{name}`")), "{name}");
    }
}
