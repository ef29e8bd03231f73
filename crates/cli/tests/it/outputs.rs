//! Outputs of a run for people and CI systems, read back with other programs' parsers.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::program::Program;

/// A short run on the null database, all of it the timed window.
const SHORT: &[&str] = &["run", "null:?service=1ms", "--vus", "2", "--transactions", "200"];

fn short(program: &Program, more: &[&str]) -> crate::program::Done {
    program.run(&[SHORT, more].concat())
}

#[test]
fn requirements_that_hold_are_told_and_stored() {
    let program = Program::new();
    let done = short(
        &program,
        &["--require", "nopm >= 1, new_order.p95 < 10s", "--require", "failures < 0.1%", "--json"],
    );
    assert_eq!(done.code, 0, "{}", done.err);
    let result: serde_json::Value = serde_json::from_str(&done.out).unwrap();
    let judged = result["requirements"].as_array().unwrap();
    let texts: Vec<_> = judged.iter().map(|j| j["requirement"].as_str().unwrap()).collect();
    assert_eq!(texts, ["nopm >= 1", "new_order.p95 < 10s", "failures < 0.1%"]);
    assert!(judged.iter().all(|j| j["passed"] == true), "{judged:?}");
    assert_eq!(judged[0]["value"], result["primary_metric"]["value"]);
    let p95 = &result["window"]["types"][0]["response"]["p95_us"];
    assert_eq!(judged[1]["value"].as_f64(), p95.as_f64());
    assert_eq!((&judged[1]["unit"], &judged[1]["limit"]), (&"us".into(), &10e6.into()));
}

#[test]
fn a_requirement_that_fails_is_exit_code_1_and_the_run_is_stored() {
    let program = Program::new();
    let done = short(&program, &["--require", "new_order.p50 < 1us, tpm_server > 5"]);
    assert_eq!(done.code, 1, "{}", done.err);
    assert!(done.out.contains("FAIL  new_order.p50 < 1us"), "{}", done.out);
    assert!(done.out.contains("not measured in this run"), "{}", done.out);
    for (required, code) in [
        ("new_order.p50 > 1us", 0),
        ("all.max < 1us", 1),
        ("nopn > 5", 2),
        ("tpm >= 1, tpm < 2", 1),
    ] {
        let judged = program.run(&["report", "last", "--require", required]);
        assert_eq!(judged.code, code, "{required}: {}{}", judged.out, judged.err);
    }
    let markdown = program.ok(&["report", "last", "--format", "markdown", "--require", "tpm >= 1"]);
    assert!(markdown.contains("| **pass** | `tpm >= 1` |"), "{markdown}");
    assert_eq!(program.run(&["report", "last"]).code, 0, "a report alone judges nothing");
}

#[test]
fn a_job_file_holds_requirements_and_a_flag_replaces_them() {
    let program = Program::new();
    let job = "[run]\nrequire = ['nopm >= 1', 'failures < 1%']\n";
    std::fs::write(program.path("job.toml"), job).unwrap();
    let result = program.json(&[SHORT, &["-f", "job.toml"]].concat());
    assert_eq!(result["requirements"].as_array().unwrap().len(), 2);
    let done = short(&program, &["-f", "job.toml", "--require", "nopm < 1"]);
    assert_eq!(done.code, 1);
    assert!(!done.out.contains("failures < 1%"), "{}", done.out);
    std::fs::write(program.path("job.toml"), "[run]\nrequire = [1, 'nopm > 1']\n").unwrap();
    assert!(
        short(&program, &["-f", "job.toml"]).err.contains("`require` must be a list of strings")
    );
}

/// The elements of an XML document with their attributes.
fn elements(xml: &str) -> Vec<(String, BTreeMap<String, String>)> {
    let mut reader = Reader::from_str(xml);
    let mut found = Vec::new();
    let element = |start: &BytesStart<'_>| {
        let attributes = start.attributes().map(|attribute| {
            let attribute = attribute.unwrap();
            let value = quick_xml::escape::unescape(&attribute.value).unwrap();
            (attribute.key.as_ref().to_owned(), value.into_owned())
        });
        (start.name().as_ref().to_owned(), attributes.collect())
    };
    loop {
        match reader.read_event().unwrap() {
            Event::Start(start) | Event::Empty(start) => found.push(element(&start)),
            Event::Eof => return found,
            _ => {}
        }
    }
}

/// Tests, failures, errors and skipped of a suite, held to what is in it.
fn counts(xml: &str) -> [usize; 4] {
    let elements = elements(xml);
    assert_eq!((elements[0].0.as_str(), elements[1].0.as_str()), ("testsuites", "testsuite"));
    let found = ["testcase", "failure", "error", "skipped"]
        .map(|name| elements.iter().filter(|(element, _)| element == name).count());
    let said = ["tests", "failures", "errors", "skipped"]
        .map(|name| elements[1].1[name].parse::<usize>().unwrap());
    assert_eq!(found, said, "{xml}");
    found
}

#[test]
fn junit_has_a_case_for_everything_that_had_to_hold() {
    let program = Program::new();
    let done = short(&program, &["--junit", "run.xml", "--require", "nopm >= 1, all.p99 < 1us"]);
    assert_eq!(done.code, 1);
    let xml = std::fs::read_to_string(program.path("run.xml")).unwrap();
    // Completion, failures, the database's count (which null: does not have), two requirements.
    assert_eq!(counts(&xml), [5, 1, 0, 1], "{xml}");
    let cases: Vec<_> =
        elements(&xml).into_iter().filter(|(name, _)| name == "testcase").map(|e| e.1).collect();
    assert_eq!(cases[0]["name"], "the run completed");
    assert_eq!(cases[4]["name"], "all.p99 < 1us");
    assert_eq!(cases[4]["classname"], "triphammer.requirements");
    assert_eq!(program.ok(&["report", "last", "--format", "junit"]), xml);
    let refused = program.run(&["run", "sqlite:nowhere/x.db", "--junit", "run.xml"]);
    assert_eq!(refused.code, 2);
    let xml = std::fs::read_to_string(program.path("run.xml")).unwrap();
    assert_eq!(counts(&xml), [1, 0, 1, 0], "{xml}");
}

#[test]
fn junit_of_a_check_has_its_conditions_and_of_a_run_its_audits() {
    let program = Program::new();
    program.ok(&["build", "sqlite:b.db", "-w", "tpc-b"]);
    program.ok(&["check", "sqlite:b.db", "-w", "tpc-b", "--junit", "check.xml"]);
    let check = std::fs::read_to_string(program.path("check.xml")).unwrap();
    assert!(counts(&check)[0] >= 3 && counts(&check)[1..] == [0, 0, 0], "{check}");
    assert_eq!(program.ok(&["report", "last", "--format", "junit"]), check);
    program.ok(&[
        "run",
        "sqlite:b.db",
        "-w",
        "tpc-b",
        "--transactions",
        "20",
        "--junit",
        "run.xml",
    ]);
    let run = std::fs::read_to_string(program.path("run.xml")).unwrap();
    assert!(run.contains("name=\"ΔΣ abalance = Σ delta\"") || run.contains("abalance"), "{run}");
    assert_eq!(counts(&run)[1..], [0, 0, 0], "{run}");
}

/// Rows of CSV by column.
fn csv_rows(text: &str) -> Vec<BTreeMap<String, String>> {
    csv::Reader::from_reader(text.as_bytes()).deserialize().map(Result::unwrap).collect()
}

#[test]
fn the_series_adds_up_to_the_result_in_every_form() {
    let program = Program::new();
    let done = short(&program, &["--transactions=1500", "--series", "live.csv", "--json"]);
    assert_eq!(done.code, 2, "given twice: {}", done.err);
    let run = ["run", "null:?service=1ms", "--vus", "2", "--transactions", "1500"];
    let result = program.json(&[&run[..], &["--series", "live.csv"]].concat());
    let live = std::fs::read_to_string(program.path("live.csv")).unwrap();
    program.ok(&["report", "last", "-o", "stored.csv"]);
    assert_eq!(std::fs::read_to_string(program.path("stored.csv")).unwrap(), live);
    assert_eq!(program.ok(&["report", "last", "--format", "csv"]), live);
    let rows = csv_rows(&live);
    assert!(rows.len() >= 2, "{live}");
    let sum =
        |column: &str| rows.iter().map(|row| row[column].parse::<u64>().unwrap()).sum::<u64>();
    for (of, figures) in [
        ("all", &result["run"]["total"]),
        ("new_order", &result["run"]["types"][0]),
        ("stock_level", &result["run"]["types"][4]),
    ] {
        for outcome in ["committed", "rolled_back", "failed", "indeterminate"] {
            assert_eq!(sum(&format!("{of}.{outcome}")), figures[outcome].as_u64().unwrap(), "{of}");
        }
    }
    for (place, row) in rows.iter().enumerate() {
        assert_eq!(
            (row["second"].as_str(), row["phase"].as_str()),
            (&*place.to_string(), "window")
        );
        assert_eq!(row["tpm_server"], "", "null: counts nothing");
    }
    let times = || rows.iter().filter_map(|row| row["new_order.p95_us"].parse::<u64>().ok());
    assert!(times().count() > 0 && times().all(|p95| p95 >= 1000), "{live}");
    program.ok(&["report", "last", "-o", "stored.jsonl"]);
    let lines = std::fs::read_to_string(program.path("stored.jsonl")).unwrap();
    for (line, row) in lines.lines().zip(&rows) {
        let object: BTreeMap<String, serde_json::Value> = serde_json::from_str(line).unwrap();
        assert_eq!(object.len(), row.len());
        for (column, value) in object {
            let text = match value {
                serde_json::Value::String(text) => text,
                serde_json::Value::Null => String::new(),
                number => number.to_string(),
            };
            let same = text == row[&column]
                || text.parse::<f64>().unwrap() == row[&column].parse::<f64>().unwrap();
            assert!(same, "{column}: {text} and {}", row[&column]);
        }
    }
    assert_eq!(lines.lines().count(), rows.len());
}

#[test]
fn observed_figures_are_columns_of_a_file() {
    let program = Program::new();
    let run = ["run", "null:?service=1ms", "--duration", "3s", "--rampup", "0s", "--vus", "2"];
    program.json(&run);
    program.ok(&["report", "last", "-o", "run.observed.csv"]);
    let rows = csv_rows(&std::fs::read_to_string(program.path("run.observed.csv")).unwrap());
    let names: Vec<_> = rows[0].keys().collect();
    let memory = *names.iter().find(|name| name.starts_with("system.memory.usage{")).unwrap();
    assert!(names.iter().any(|name| name.starts_with("system.cpu.")), "{names:?}");
    // A second in which the host stood still has no figures.
    let figures =
        |row: &&BTreeMap<_, String>| row.values().filter(|value| !value.is_empty()).count();
    let row = rows.iter().max_by_key(figures).unwrap();
    assert!(figures(&row) > 2, "{rows:?}");
    assert!(row[memory].parse::<f64>().unwrap() > 1e6, "{row:?}");
    program.ok(&["report", "last", "-o", "run.observed.jsonl"]);
    let lines = std::fs::read_to_string(program.path("run.observed.jsonl")).unwrap();
    assert_eq!(lines.lines().count(), rows.len());
    for (line, row) in lines.lines().zip(&rows) {
        let object: BTreeMap<String, Option<f64>> = serde_json::from_str(line).unwrap();
        assert!(object.keys().eq(row.keys()));
        assert_eq!(object[memory], row[memory].parse().ok());
    }
    program.json(&[&run[..], &["--no-observe"]].concat());
    let done = program.run(&["report", "last", "-o", "none.observed.csv"]);
    assert_eq!(done.code, 2, "{}", done.err);
    assert!(done.err.contains("has no observed figures"), "{}", done.err);
}

#[test]
fn the_histogram_log_gives_the_percentiles_of_the_result() {
    let program = Program::new();
    let run = ["run", "null:?service=1ms", "--vus", "2", "--transactions", "1500"];
    let result = program.json(&run);
    program.ok(&["report", "last", "-o", "run.hdr"]);
    let log = std::fs::read(program.path("run.hdr")).unwrap();
    let mut by_tag: BTreeMap<String, Histogram<u64>> = BTreeMap::new();
    for entry in IntervalLogIterator::new(&log) {
        let LogEntry::Interval(interval) = entry.unwrap() else { continue };
        let bytes = STANDARD.decode(interval.encoded_histogram()).unwrap();
        let histogram: Histogram<u64> = Deserializer::new().deserialize(&mut &*bytes).unwrap();
        let tag = interval.tag().unwrap().as_str().to_owned();
        let all = by_tag
            .entry(tag)
            .or_insert_with(|| Histogram::new_with_bounds(1, 3_600_000_000, 3).unwrap());
        all.add(&histogram).unwrap();
    }
    for figures in result["window"]["types"].as_array().unwrap() {
        let all = &by_tag[&format!("{}.response", figures["name"].as_str().unwrap())];
        let response = &figures["response"];
        assert_eq!(all.len(), response["count"].as_u64().unwrap());
        for (quantile, field) in
            [(0.5, "p50_us"), (0.95, "p95_us"), (0.999, "p99_9_us"), (0.9999, "p99_99_us")]
        {
            assert_eq!(all.value_at_quantile(quantile), response[field].as_u64().unwrap());
        }
        assert_eq!(all.max(), response["max_us"].as_u64().unwrap());
    }
}

#[test]
fn reports_go_to_files_by_their_ending_and_refuse_others() {
    let program = Program::new();
    short(&program, &[]);
    for (file, begin) in [("r.md", "# "), ("r.json", "{"), ("r.txt", "TPROC-C"), ("r.xml", "<?xml")]
    {
        assert_eq!(program.ok(&["report", "last", "-o", file]), "");
        let text = std::fs::read_to_string(program.path(file)).unwrap();
        assert!(text.starts_with(begin), "{file}: {text}");
    }
    program.ok(&["report", "last", "--format", "hdr", "-o", "r.log"]);
    for (args, message) in [
        (["report", "last", "-o", "r.log"], ".csv, .jsonl, .observed.csv, .observed.jsonl, .hdr"),
        (["report", "last", "--format", "xlsx"], "unknown format `xlsx`; use one of text, json"),
        (["report", "last", "-o", "nowhere/r.md"], "writing to nowhere/r.md"),
    ] {
        let done = program.run(&args);
        assert_eq!((done.code, done.out.as_str()), (2, ""), "{args:?}");
        assert!(done.err.contains(message), "{args:?}: {}", done.err);
    }
    program.ok(&["build", "sqlite:b.db", "-w", "tpc-b"]);
    let done = program.run(&["report", "last", "-o", "r.csv"]);
    assert!(done.err.contains("is a build: only runs have a series"), "{}", done.err);
}

#[test]
fn slices_cover_the_window() {
    let program = Program::new();
    let run = ["run", "null:?service=1ms", "--rampup", "1s", "--duration", "3s", "--vus", "2"];
    let result = program.json(&run);
    let slices = result["slices"].as_array().unwrap();
    assert_eq!((slices.len(), slices[0]["start_s"].as_f64()), (3, Some(1.0)));
    assert_eq!(slices[0]["seconds"], 1.0);
    let sum: u64 = slices.iter().map(|s| s["total"]["completed"].as_u64().unwrap()).sum();
    assert_eq!(sum, result["window"]["total"]["completed"].as_u64().unwrap());
    assert!(program.ok(&["report", "last"]).contains("The window in slices"));
}

#[test]
fn a_report_is_one_page_that_asks_nothing_from_any_network() {
    let program = Program::new();
    program.ok(&[
        "run",
        "null:",
        "--vus",
        "2",
        "--rampup",
        "0s",
        "--duration",
        "2s",
        "--label",
        "</script>",
    ]);
    let done = program.run(&["report", "last", "-o", "report.html"]);
    if !std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../ui/dist/report.html"))
        .exists()
    {
        assert_eq!(done.code, 2, "{}", done.err);
        assert!(done.err.contains("web page") && done.err.contains("make install"), "{}", done.err);
        assert!(!program.path("report.html").exists());
        return;
    }
    assert_eq!(done.code, 0, "{}", done.err);
    let page = std::fs::read_to_string(program.path("report.html")).unwrap();
    assert!(page.len() < 1_000_000, "{}", page.len());
    for asks in
        ["src=\"http", "href=\"http", "src='http", "href='http", "src=\"/", "href=\"/", "@import"]
    {
        assert!(!page.contains(asks), "{asks}");
    }
    let (_, rest) = page.split_once("<script id=\"job\" type=\"application/json\">").unwrap();
    let exported: serde_json::Value =
        serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap();
    assert_eq!(exported["detail"]["job"]["label"], "</script>");
    assert_eq!(exported["detail"]["document"]["kind"], "run");
    assert!(!exported["series"]["first"].as_array().unwrap().is_empty());
    assert!(!exported["percentiles"]["curves"].as_array().unwrap().is_empty());
    let line = exported["detail"]["command_line"].as_str().unwrap();
    assert!(line.starts_with("triphammer run null:") && line.contains("--duration 2s"), "{line}");
}
