//! Bundles of real runs, edited in many ways: with the manifest as it was, and with the hash of the
//! edited part in it, so that only the computation can find the edit.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;
use triphammer_core::Rng;
use triphammer_document::bundle::{BundleVerification, Signature};
use triphammer_document::compare::Run;
use triphammer_document::evidence::Evidence;
use triphammer_document::{Document, JobId};
use triphammer_report::{Charset, Report as _, Style};
use triphammer_runner::job::{Job, Order};
use triphammer_runner::watch::Silent;
use triphammer_settings::command::JobKind;
use triphammer_settings::target::NoSecrets;
use triphammer_settings::{Settings, Source};
use triphammer_store::Store;

use crate::container::{Container, pack};
use crate::make::{Options, find, make};
use crate::manifest::{MANIFEST, Manifest, SIGNATURE, this_program};
use crate::parts::Parts;
use crate::repeat::{self, Repetition};
use crate::verify::verify;

/// A job store with jobs of the null database.
struct Jobs {
    folder: TempDir,
}

impl Jobs {
    fn new() -> Self {
        Self { folder: TempDir::new().unwrap() }
    }

    /// Runs a job, and returns its number.
    fn run(&self, kind: JobKind, given: &[(&str, &str)]) -> JobId {
        let usual = [("target", "null:?service=1ms"), ("workload", "tpc-b"), ("rampup", "0s")];
        let mut settings = Settings::new(kind);
        for (name, value) in given.iter().chain(&usual) {
            settings.set(name, *value, Source::Flag);
        }
        let store = Some(self.folder.path().join("jobs.sqlite"));
        let mut job = Job::new(Order { store, ..Order::new(settings, &NoSecrets) }).unwrap();
        job.run(&mut Silent).unwrap().job.unwrap()
    }

    fn store(&self) -> Store {
        Store::open_to_read(&self.folder.path().join("jobs.sqlite")).unwrap()
    }

    fn bundle(&self, job: JobId, options: Options<'_>) -> Vec<u8> {
        make(&self.store(), &[job], options).unwrap().0
    }
}

fn parts_of(bundle: &[u8]) -> BTreeMap<String, Vec<u8>> {
    Container::of(bundle.to_vec()).unwrap().parts
}

/// Packs parts with their hashes in the manifest.
fn corrected(mut parts: BTreeMap<String, Vec<u8>>) -> Vec<u8> {
    let manifest = Manifest::read(&parts[MANIFEST]).unwrap();
    let manifest = Manifest { parts: Manifest::entries(&parts), ..manifest };
    parts.insert(MANIFEST.to_owned(), manifest.text().into_bytes());
    pack(&parts).unwrap()
}

fn verified(bundle: &[u8]) -> BundleVerification {
    verify(Container::of(bundle.to_vec()).unwrap(), None).unwrap()
}

/// Replaces text in a part, where it must occur.
fn edited(bundle: &[u8], part: &str, edit: impl Fn(&str) -> String) -> BTreeMap<String, Vec<u8>> {
    let mut parts = parts_of(bundle);
    let text = std::str::from_utf8(&parts[part]).unwrap();
    let changed = edit(text);
    assert_ne!(changed, text, "{part}");
    parts.insert(part.to_owned(), changed.into_bytes());
    parts
}

/// Adds one to the first whole number in this column of the last line.
fn one_more(column: &str) -> impl Fn(&str) -> String {
    move |text| {
        let mut lines: Vec<Vec<String>> =
            text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect();
        let place = lines[0].iter().position(|name| name == column).unwrap();
        let last = lines.last_mut().unwrap();
        last[place] = (last[place].parse::<i64>().unwrap() + 1).to_string();
        lines.iter().map(|line| line.join(",") + "\n").collect()
    }
}

#[test]
fn untouched_bundles_agree_and_the_same_job_gives_the_same_bytes() {
    let jobs = Jobs::new();
    let open = [("load", "rate:200/s"), ("vus", "4"), ("duration", "2s"), ("label", "night")];
    for job in [
        jobs.run(JobKind::Run, &open),
        jobs.run(JobKind::Run, &SPARSE),
        jobs.run(JobKind::Run, &[("transactions", "20"), ("require", "all.p95 < 1s")]),
        jobs.run(JobKind::Profile, &[("vus", "1,2"), ("repeats", "1"), ("duration", "1s")]),
        jobs.run(
            JobKind::Compare,
            &[
                ("ab", "true"),
                ("pairs", "2"),
                ("b", "vus=2"),
                ("cool-down", "0s"),
                ("duration", "1s"),
            ],
        ),
    ] {
        let bundle = jobs.bundle(job, Options::default());
        assert_eq!(bundle, jobs.bundle(job, Options::default()));
        let found = verified(&bundle);
        assert!(found.agrees, "{:?}", found.disagreements);
        let values: u64 = found.agreements.iter().map(|of| of.values).sum();
        assert!(values > 500, "{values}");
        assert!(found.signature == Signature::None && !found.method.is_empty());
        let anonymous = jobs.bundle(job, Options { anonymous: true, ..Options::default() });
        let found = verified(&anonymous);
        assert!(found.agrees, "{:?}", found.disagreements);
        assert!(found.names.labels.iter().all(|label| label == "label-1"), "{:?}", found.names);
        let shows = |name: &str| {
            let has = |part: &Vec<u8>| part.windows(name.len()).any(|at| at == name.as_bytes());
            parts_of(&anonymous).values().any(has)
        };
        assert!(!shows("night") && !shows(&jobs.folder.path().display().to_string()));
    }
}

#[test]
fn a_workload_that_means_something_else_now_is_not_repeated() {
    let jobs = Jobs::new();
    let bundle = jobs.bundle(jobs.run(JobKind::Run, &SPARSE), Options::default());
    let original = repeat::Original::read(Container::of(bundle).unwrap()).unwrap();
    let mut run = original.runs[0].result.clone();
    repeat::check_version(&run).unwrap();
    run.workload.version += 1;
    let error = repeat::check_version(&run).unwrap_err().to_string();
    assert!(error.contains("repeat it with triphammer 0."), "{error}");
}

/// A load in which nothing happens in some seconds.
const SPARSE: [(&str, &str); 3] = [("load", "rate:0.5/s"), ("vus", "1"), ("duration", "6s")];

#[test]
fn times_of_a_second_without_transactions_are_invented() {
    let jobs = Jobs::new();
    let bundle = jobs.bundle(jobs.run(JobKind::Run, &SPARSE), Options::default());
    for table in ["seconds", "series"] {
        let part = format!("jobs/1/{table}.csv");
        let invent = |text: &str| {
            let mut lines: Vec<Vec<String>> =
                text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect();
            let place = lines[0].iter().position(|name| name == "p50_us").unwrap();
            let idle =
                lines.iter_mut().skip(1).find(|line| ["", "0", "0.0"].contains(&&*line[place]));
            idle.expect("an idle second")[place] = "7".to_owned();
            lines.iter().map(|line| line.join(",") + "\n").collect()
        };
        let found = verified(&corrected(edited(&bundle, &part, invent)));
        let is_named = |place: &str| place.contains("p50_us in second");
        assert!(found.disagreements.iter().any(|of| is_named(&of.place)), "{table}: {found:?}");
    }
}

#[test]
fn a_histogram_is_of_the_seconds_that_the_store_has_together() {
    let jobs = Jobs::new();
    let bundle = jobs.bundle(jobs.run(JobKind::Run, &SPARSE), Options::default());
    let part = "jobs/1/histograms.csv";
    let text = String::from_utf8(parts_of(&bundle)[part].clone()).unwrap();
    assert!(text.lines().count() > 1, "{text}");
    for row in 1..text.lines().count() {
        // The second after may be idle, and add nothing.
        let longer = |text: &str| {
            let lines = text.lines().enumerate().map(|(number, line)| {
                let mut cells: Vec<String> = line.split(',').map(str::to_owned).collect();
                if number == row {
                    cells[3] = (cells[3].parse::<u64>().unwrap() + 1).to_string();
                }
                cells.join(",") + "\n"
            });
            lines.collect()
        };
        let found = verified(&corrected(edited(&bundle, part, longer)));
        let is_named = |place: &str| place.contains("times of type") && place.contains("seconds");
        assert!(found.disagreements.iter().any(|of| is_named(&of.place)), "{row}: {found:?}");
    }
}

#[test]
fn every_figure_that_the_text_report_shows_is_computed_again() {
    let jobs = Jobs::new();
    let job = jobs.run(JobKind::Run, &[("duration", "2s"), ("vus", "3")]);
    let bundle = jobs.bundle(job, Options::default());
    let text = std::str::from_utf8(&parts_of(&bundle)["document.json"]).unwrap().to_owned();
    let document: Value = serde_json::from_str(&text).unwrap();
    let rendered = |document: &Value| {
        let read = Document::read(JobKind::Run, document.clone()).ok()?;
        Some(read.text(Charset::Unicode, Style::Plain))
    };
    let before = rendered(&document).unwrap();
    let mut shown = Vec::new();
    for place in numbers(&document, String::new()) {
        let mut changed = document.clone();
        change(changed.pointer_mut(&place).unwrap());
        if rendered(&changed).is_some_and(|text| text != before) {
            shown.push(place);
        }
    }
    assert!(shown.len() > 50, "{shown:?}");
    // As many at a time as a verification lists.
    for places in shown.chunks(150) {
        let mut changed = document.clone();
        places.iter().for_each(|place| change(changed.pointer_mut(place).unwrap()));
        let parts = edited(&bundle, "document.json", |_| changed.to_string());
        let named: BTreeSet<String> = verified(&corrected(parts))
            .disagreements
            .into_iter()
            .filter(|of| of.part == "document.json")
            .map(|of| format!("/{}", of.place.replace(['.', '['], "/").replace(']', "")))
            .collect();
        let missed: Vec<_> = places.iter().filter(|place| !named.contains(*place)).collect();
        assert!(missed.is_empty(), "{missed:?}");
    }
}

/// JSON pointers of all numbers.
fn numbers(value: &Value, path: String) -> Vec<String> {
    match value {
        Value::Number(_) => vec![path],
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items.flat_map(|(place, item)| numbers(item, format!("{path}/{place}"))).collect()
        }
        Value::Object(members) => members
            .iter()
            .flat_map(|(name, item)| numbers(item, format!("{path}/{name}")))
            .collect(),
        _ => Vec::new(),
    }
}

fn change(number: &mut Value) {
    *number = match number.as_u64() {
        Some(whole) => (whole + 1 + whole / 2).into(),
        None => (number.as_f64().unwrap() * 1.5 + 0.25).into(),
    };
}

#[test]
fn edits_are_named_with_their_part_whether_or_not_the_manifest_knows_them() {
    let jobs = Jobs::new();
    let run = |seed: &str| {
        let given =
            [("duration", "2s"), ("vus", "2"), ("seed", seed), ("transaction-timeout", "9s")];
        jobs.run(JobKind::Run, &given)
    };
    let [first, second] =
        [run("1"), run("2")].map(|job| (job, jobs.bundle(job, Options::default())));
    let (job, bundle) = &first;
    let of = |name: &str| format!("jobs/{}/{name}", job.0);
    let mut edits: Vec<(String, BTreeMap<String, Vec<u8>>)> = Vec::new();
    for (table, columns) in [
        ("series.csv", &["committed", "response_ns", "p99_us", "max_us", "last_second"][..]),
        ("seconds.csv", &["p50_us", "max_us", "lost", "reconnected"]),
        ("histograms.csv", &["last_second", "type"]),
        ("totals.csv", &["type"]),
    ] {
        for column in columns {
            edits.push((of(table), edited(bundle, &of(table), one_more(column))));
        }
    }
    for (part, from, to) in [
        ("document.json".to_owned(), "\"committed\":", "\"committed\":1"),
        ("document.json".to_owned(), "\"format\":1", "\"format\":1,\"format\":1"),
        (of("facts.json"), "\"answers_at_end\":true", "\"answers_at_end\":false"),
        (of("facts.json"), "{\"job\":", "{\"more\":1,\"job\":"),
        (of("ended.json"), "\"round_trips\":", "\"round_trips\":1"),
        (of("ended.json"), "\"ended\":", "\"ended\":1"),
        (of("job.json"), "\"status\": \"complete\"", "\"status\": \"interrupted\""),
        (of("job.json"), "    \"io\": \"auto\",\n", ""),
        (of("job.json"), "\"workload_version\": ", "\"workload_version\": 1"),
        ("report.txt".to_owned(), "TPS", "TpS"),
        ("job.toml".to_owned(), "tpc-b", "tpc-c"),
    ] {
        edits.push((part.clone(), edited(bundle, &part, |text| text.replacen(from, to, 1))));
    }
    for name in ["facts.json", "ended.json", "seconds.csv", "series.csv", "histograms.csv"] {
        let theirs = parts_of(&second.1)[&format!("jobs/{}/{name}", second.0.0)].clone();
        let mut parts = parts_of(bundle);
        parts.insert(of(name), theirs);
        edits.push((of(name), parts));
        let mut parts = parts_of(bundle);
        parts.remove(&of(name));
        edits.push((of(name), parts));
    }
    for (part, parts) in edits {
        let found = verified(&corrected(parts.clone()));
        let first = found.disagreements.first().unwrap_or_else(|| panic!("{part} was not found"));
        assert!(!found.agrees && first.part != "the archive", "{part}: {first:?}");
        assert_ne!(first.written, first.found, "{part}: {first:?}");
        if parts.contains_key(&part) {
            let found = verified(&pack(&parts).unwrap());
            assert!(found.disagreements.iter().any(|of| of.part == part), "{part}");
        } else {
            let refused = verify(Container::of(pack(&parts).unwrap()).unwrap(), None).unwrap_err();
            assert!(refused.to_string().contains(&format!("{part} is missing")), "{refused}");
        }
    }
}

/// Edits a raw part, and computes everything again that follows from it, as somebody would who knows how.
fn forged(bundle: &[u8], job: JobId, name: &str, [from, to]: [&str; 2]) -> Vec<u8> {
    let of = |name: &str| format!("jobs/{}/{name}", job.0);
    let mut parts = Parts(edited(bundle, &of(name), |text| text.replacen(from, to, 1)));
    let (store, unread) = parts.restore(job, Store::temporary().unwrap());
    assert_eq!(unread, []);
    let [facts, ended] = store.evidence(job).unwrap().unwrap();
    let (seconds, series) = (store.seconds(job).unwrap(), store.series(job).unwrap());
    let (evidence, _) = Evidence::read(&facts, &ended, &seconds, &series).unwrap();
    let result = evidence.result().unwrap();
    let text = serde_json::to_string(&result).unwrap();
    parts.0.insert("document.json".to_owned(), text.into_bytes());
    let mut row: Value = serde_json::from_slice(&parts.0[&of("job.json")]).unwrap();
    row["primary_metric_value"] = result.primary_metric.value.into();
    let row = serde_json::to_string_pretty(&row).unwrap() + "\n";
    parts.0.insert(of("job.json"), row.into_bytes());
    let (store, _) = parts.restore(job, Store::temporary().unwrap());
    parts.add_made(&store, &store.load(job).unwrap()).unwrap();
    corrected(parts.0)
}

#[test]
fn a_metric_of_another_unit_or_window_is_found_although_all_follows_from_it() {
    let jobs = Jobs::new();
    let job = jobs.run(JobKind::Run, &[("duration", "3s"), ("vus", "2")]);
    let bundle = jobs.bundle(job, Options::default());
    let value = |bundle: &[u8]| {
        let document: Value = serde_json::from_slice(&parts_of(bundle)["document.json"]).unwrap();
        document["primary_metric"]["value"].as_f64().unwrap()
    };
    for (name, [from, to], ratio, place) in [
        (
            "facts.json",
            ["\"per_seconds\":1}", "\"per_seconds\":60}"],
            60.0,
            "description.primary_metric.measure.rate.per_seconds",
        ),
        ("facts.json", ["\"transactions\":[0,1,2]", "\"transactions\":[1]"], 0.0, "description"),
        ("ended.json", ["\"end\":3000000000", "\"end\":1000000000"], 3.0, "window.end"),
    ] {
        let forged = forged(&bundle, job, name, [from, to]);
        assert!((value(&forged) / value(&bundle) - ratio).abs() < 0.01, "{}", value(&forged));
        let found = verified(&forged).disagreements;
        let is_named = |of: &&triphammer_document::bundle::Disagreement| {
            of.part.ends_with(name) && of.place.starts_with(place)
        };
        assert!(found.iter().any(|of| is_named(&of)), "{place}: {found:?}");
    }
}

#[test]
fn a_figure_of_the_host_that_its_sampled_values_do_not_give_is_found() {
    let jobs = Jobs::new();
    let job = jobs.run(JobKind::Run, &[("duration", "3s"), ("vus", "2")]);
    let bundle = jobs.bundle(job, Options::default());
    let part = format!("jobs/{}/facts.json", job.0);
    let facts: Value = serde_json::from_slice(&parts_of(&bundle)[&part]).unwrap();
    let cpu = facts["observed"]["hosts"].as_array().unwrap().iter();
    let cpu = cpu.filter(|of| of["unit"] == "cores" && of["mean"].as_f64().unwrap() > 0.0);
    for figure in cpu {
        let [from, to] = [1.0, 0.5]
            .map(|times| format!("\"mean\":{:?},", figure["mean"].as_f64().unwrap() * times));
        let found = verified(&forged(&bundle, job, "facts.json", [&from, &to])).disagreements;
        let is_named = found.iter().any(|of| of.part == part && of.place.ends_with(".mean"));
        assert!(is_named, "{from}: {found:?}");
    }
}

#[test]
fn arrivals_add_up_and_what_is_missing_is_named() {
    let jobs = Jobs::new();
    let open = [("load", "rate:200/s"), ("vus", "4"), ("duration", "2s")];
    let (job, closed) =
        (jobs.run(JobKind::Run, &open), jobs.run(JobKind::Run, &[("duration", "2s")]));
    let named = |parts: BTreeMap<String, Vec<u8>>, part: &str, place: &str| {
        let found = verified(&corrected(parts)).disagreements;
        let is_named = found.iter().any(|of| of.part == part && of.place.contains(place));
        assert!(is_named, "{part}, {place}: {found:?}");
    };
    let bundle = jobs.bundle(job, Options::default());
    let seconds = |job: JobId| format!("jobs/{}/seconds.csv", job.0);
    for column in ["arrivals", "skipped"] {
        named(edited(&bundle, &seconds(job), one_more(column)), &seconds(job), column);
    }
    let of_closed = jobs.bundle(closed, Options::default());
    let given = edited(&of_closed, &seconds(closed), |text| {
        let cut = text.trim_end().strip_suffix(",,,,,,,").unwrap();
        format!("{cut},5,,,,,,\n")
    });
    named(given, &seconds(closed), "arrivals");
    let facts = format!("jobs/{}/facts.json", job.0);
    let mut parts = parts_of(&bundle);
    parts.remove(&format!("jobs/{}/sample_chunk.csv", job.0)).unwrap();
    named(parts, &facts, "observed.hosts[");
    for name in ["document.json", "facts.json", "ended.json"] {
        let part = match name {
            "document.json" => name.to_owned(),
            _ => format!("jobs/{}/{name}", job.0),
        };
        let mut parts = parts_of(&bundle);
        parts.remove(&part).unwrap();
        named(parts, &part, "the ");
    }
}

#[test]
fn a_run_of_a_campaign_can_be_bundled() {
    let jobs = Jobs::new();
    let job = jobs.run(JobKind::Profile, &[("vus", "1,2"), ("repeats", "1"), ("duration", "1s")]);
    let found = verified(&jobs.bundle(JobId(job.0 + 1), Options::default()));
    assert!(found.agrees, "{:?}", found.disagreements);
    assert_eq!((found.job_kind, found.job), (JobKind::Run, job.0 + 1));
}

#[test]
fn a_bundle_of_a_campaign_has_its_runs_and_its_answer_is_made_again() {
    let jobs = Jobs::new();
    let job = jobs.run(JobKind::Profile, &[("vus", "1,2"), ("repeats", "2"), ("duration", "1s")]);
    let bundle = jobs.bundle(job, Options::default());
    let documents = parts_of(&bundle).keys().filter(|name| name.ends_with("document.json")).count();
    assert_eq!(documents, 5);
    let parts =
        edited(&bundle, "document.json", |text| text.replacen("\"repeats\":2", "\"repeats\":3", 1));
    let found = verified(&corrected(parts));
    let named = found.disagreements.iter().find(|of| of.place.ends_with("repeats")).unwrap();
    assert_eq!((&*named.part, &*named.written, &*named.found), ("document.json", "3", "2"));
}

#[test]
fn the_answer_of_a_matrix_with_a_hook_is_made_again() {
    let jobs = Jobs::new();
    let given = [
        ("over", "vus=1,2"),
        ("repeats", "1"),
        ("duration", "1s"),
        ("cool-down", "0s"),
        ("restore", "cmd=true"),
    ];
    let bundle = jobs.bundle(jobs.run(JobKind::Matrix, &given), Options::default());
    let found = verified(&bundle);
    assert!(found.agrees, "{:?}", found.disagreements);
    let answer = |what: &&String| what.contains("the answer of");
    assert_eq!(found.not_recomputed.iter().find(answer), None);
    let parts =
        edited(&bundle, "document.json", |text| text.replacen("\"repeats\":1", "\"repeats\":2", 1));
    let found = verified(&corrected(parts));
    assert!(found.disagreements.iter().any(|of| of.place.ends_with("repeats")), "{found:?}");
}

#[test]
fn a_bundle_of_another_version_is_compared_where_both_write_the_same() {
    let jobs = Jobs::new();
    let bundle = jobs.bundle(jobs.run(JobKind::Run, &[("duration", "1s")]), Options::default());
    let other = |edit: &dyn Fn(&mut Value)| {
        let parts =
            edited(&bundle, MANIFEST, |text| text.replace(&this_program(), "triphammer 0.0.1"));
        let mut document: Value = serde_json::from_slice(&parts["document.json"]).unwrap();
        edit(&mut document);
        let mut parts = parts.clone();
        parts.insert("document.json".to_owned(), document.to_string().into_bytes());
        parts.insert("report.txt".to_owned(), b"In other words.\n".to_vec());
        verified(&corrected(parts))
    };
    let found = other(&|_| {});
    assert!(found.agrees, "{:?}", found.disagreements);
    let words = found.other_version.clone().unwrap();
    assert!(words.starts_with("triphammer 0.0.1 wrote the bundle, and triphammer"), "{words}");
    let found = other(&|document| {
        document["of_once"] = 1.into();
        document.as_object_mut().unwrap().remove("tpm_server").unwrap();
    });
    assert!(found.agrees, "{:?}", found.disagreements);
    let once = "document.json, of_once: this version does not know it";
    assert!(found.not_recomputed.iter().any(|what| what == once), "{:?}", found.not_recomputed);
    let found = other(&|document| document["window"]["total"]["committed"] = 7.into());
    let first = &found.disagreements[0];
    assert_eq!((&*first.place, &*first.written), ("window.total.committed", "7"));
    assert_eq!(verified(&bundle).other_version, None);
}

#[test]
fn runs_with_one_label_are_one_bundle() {
    let jobs = Jobs::new();
    let given = [("duration", "1s"), ("label", "base")];
    let runs = [1, 2].map(|_| jobs.run(JobKind::Run, &given));
    assert_eq!(find(&jobs.store(), "base").unwrap(), runs);
    let bundle = make(&jobs.store(), &runs, Options::default()).unwrap().0;
    assert!(verified(&bundle).agrees);
    let original = repeat::Original::read(Container::of(bundle).unwrap()).unwrap();
    assert_eq!(original.runs.len(), 2);
    assert_eq!(original.file.job["duration"], "1s");
    assert!(find(&jobs.store(), "other").unwrap_err().to_string().contains("no complete run"));
}

/// Whoever makes a bundle has no commands run, no files read and no hosts asked where it is repeated.
#[test]
fn a_bundle_has_nothing_done_to_the_host_that_repeats_it() {
    let jobs = Jobs::new();
    let bundle = jobs.bundle(jobs.run(JobKind::Run, &[("duration", "1s")]), Options::default());
    let file =
        |parts| repeat::Original::read(Container::of(corrected(parts)).unwrap()).unwrap().file;
    let untouched = file(parts_of(&bundle));
    let mut parts =
        edited(&bundle, MANIFEST, |text| text.replace(&this_program(), "triphammer 0.0.9"));
    let toml = "target = 'null:'\n[run]\nrestore = 'cmd=true'\nallow-shell = 'true'\nvus = '9'\n";
    parts.insert("job.toml".to_owned(), toml.into());
    assert_eq!(file(parts.clone()), untouched, "job.toml is not obeyed");
    // The given settings of a job are in its bundle once.
    let name = parts.keys().find(|name| name.ends_with("job.json")).unwrap().clone();
    let mut row: Value = serde_json::from_slice(&parts[&name]).unwrap();
    let given = row["plan"]["given"].as_array_mut().unwrap();
    for (name, value) in [("restore", "cmd=true"), ("series", "s.csv"), ("allow-shell", "true")] {
        let mut more = given[0].clone();
        (more["name"], more["value"]) = (name.into(), value.into());
        given.push(more);
    }
    parts.insert(name, serde_json::to_vec_pretty(&row).unwrap());
    assert_eq!(file(parts), untouched, "only its owner gives such settings");
}

#[test]
fn other_versions_and_manifests_are_refused() {
    let jobs = Jobs::new();
    let bundle = jobs.bundle(jobs.run(JobKind::Run, &[("duration", "1s")]), Options::default());
    let refused = |from: &str, to: &str| {
        let parts = edited(&bundle, MANIFEST, |text| text.replacen(from, to, 1));
        verify(Container::of(pack(&parts).unwrap()).unwrap(), None).unwrap_err().to_string()
    };
    assert!(refused("\"format\": 1", "\"format\": 2").contains("has format 2"));
    assert!(refused("\"kind\": \"run\"", "\"kind\": \"dance\"").contains("cannot be read"));
    assert!(refused("\"job\"", "\"jib\"").contains("cannot be read"));
    for name in ["triphammer 0.1.0\\nEverything agrees.", "triphammer ", "another 1.0"] {
        let why = refused(&this_program(), name);
        assert!(why.contains("is not `triphammer` with a version"), "{why}");
    }
}

#[test]
fn a_signature_is_one_that_ssh_keygen_verifies_and_another_key_is_refused() {
    let jobs = Jobs::new();
    let folder = jobs.folder.path();
    let [own, other] = ["own", "other"].map(|name| folder.join(name));
    for key in [&own, &other] {
        let mut keygen = Command::new("ssh-keygen");
        keygen.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(key);
        assert!(keygen.status().unwrap().success(), "apt-get install openssh-client");
    }
    let job = jobs.run(JobKind::Run, &[("duration", "1s")]);
    let bundle = jobs.bundle(job, Options { key: Some(&own), ..Options::default() });
    let check = |bundle: &[u8], signer: Option<&Path>| {
        verify(Container::of(bundle.to_vec()).unwrap(), signer)
    };
    let public = |key: &Path| key.with_extension("pub");
    let found = check(&bundle, Some(&public(&own))).unwrap();
    assert!(
        found.agrees
            && matches!(&found.signature, Signature::ByAsked { key } if key.contains("SHA256:"))
    );
    assert!(matches!(check(&bundle, None).unwrap().signature, Signature::ByKey { .. }));
    let refused = check(&bundle, Some(&public(&other))).unwrap_err().to_string();
    assert!(refused.contains("is signed by another key"), "{refused}");
    // A manifest that was corrected after the signature.
    let parts = edited(&bundle, "report.txt", |text| text.replacen("TPS", "TpS", 1));
    let found = check(&corrected(parts.clone()), None).unwrap();
    let first = &found.disagreements[0];
    assert!(first.part == SIGNATURE && first.written.contains("not one of"), "{first:?}");
    let refused = check(&corrected(parts), Some(&public(&own))).unwrap_err().to_string();
    assert!(refused.contains("not one of this manifest"), "{refused}");
    let mut parts = parts_of(&bundle);
    parts.remove(SIGNATURE);
    let refused = check(&pack(&parts).unwrap(), Some(&public(&own))).unwrap_err().to_string();
    assert!(refused.contains("not signed"), "{refused}");
}

mod repetitions;
