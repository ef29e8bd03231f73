//! Sampled metrics of a stored run, written like those of observers and read over HTTP.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use triphammer_document::JobId;
use triphammer_document::metrics::{Merge, Unit};
use triphammer_document::samples::SampleSeries;
use triphammer_store::{SampleWriter, SampledSecond};

use crate::site::Site;

/// The value of a series in a second.
type Of = fn(u64) -> Option<f64>;

fn series(metric: &str, labels: &[(&str, &str)], merge: Merge) -> Arc<SampleSeries> {
    Arc::new(SampleSeries {
        metric: metric.to_owned(),
        labels: labels.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect(),
        title: format!("title of {metric}"),
        unit: Unit::Count,
        merge,
    })
}

/// A stored run with only samples: `values(second)` of each series for a number of seconds.
fn job(site: &Site, seconds: u64, all: &[(Arc<SampleSeries>, Of)]) -> i64 {
    site.target("null", "null:");
    let ran = site.done("run", "null", &json!({ "vus": "1", "transactions": "10" }));
    let job = ran["job"].as_i64().unwrap();
    // The run took less than a second, so its samples determine the time axis.
    let path = site.file("jobs.sqlite");
    let raw = rusqlite::Connection::open(&path).unwrap();
    raw.execute("DELETE FROM seconds WHERE job = ?1", [job]).unwrap();
    let writer = SampleWriter::start(&path, JobId(job)).unwrap();
    for second in 0..seconds {
        let values = all.iter().filter_map(|(one, of)| Some((Arc::clone(one), of(second)?)));
        writer.put_waiting(SampledSecond { second, values: values.collect() });
    }
    assert_eq!(writer.finish().unwrap(), 0);
    job
}

fn exactly(second: u64) -> Option<f64> {
    Some(second as f64)
}

fn every_third(second: u64) -> Option<f64> {
    second.is_multiple_of(3).then_some(second as f64)
}

#[test]
fn samples_come_by_name_label_and_time_on_one_axis() {
    let site = Site::start();
    let all: [(_, Of); 3] = [
        (series("waits", &[("class", "lock"), ("database", "a")], Merge::Sum), every_third),
        (series("waits", &[("class", "io"), ("database", "a")], Merge::Max), exactly),
        (series("pages", &[("database", "a")], Merge::Last), exactly),
    ];
    let job = job(&site, 700, &all);
    let ask = |query: &str| site.get(&format!("/api/v1/jobs/{job}/samples{query}"));

    let listed = ask("");
    let of_ours = |answer: &Value| -> Vec<Value> {
        let all = answer["series"].as_array().unwrap().iter();
        all.filter(|one| one["labels"].get("database").is_some()).cloned().collect()
    };
    let names: Vec<_> = of_ours(&listed).iter().map(|one| one["metric"].clone()).collect();
    assert_eq!(names, ["pages", "waits", "waits"], "{listed}");
    assert_eq!(listed["first"], json!([]));
    assert_eq!((&of_ours(&listed)[0]["unit"], &listed["left_out"]), (&json!("count"), &json!(0)));

    let found = ask("?metric=waits&labels=%7B%22class%22%3A%22lock%22%7D&from=9&to=14");
    assert_eq!(found["series"].as_array().unwrap().len(), 1, "{found}");
    assert_eq!((&found["step"], &found["first"]), (&json!(1), &json!([9, 10, 11, 12, 13])));
    assert_eq!(found["series"][0]["value"], json!([9, null, null, 12, null]));
    assert_eq!(found["series"][0]["spread"], Value::Null);

    let found = ask("?metric=pages,waits&from=290&to=310&points=2");
    let values: Vec<_> = of_ours(&found).iter().map(|one| one["value"].clone()).collect();
    assert_eq!(found["first"], json!([290, 300]));
    assert_eq!(
        values,
        [json!([299, 309]), json!([299, 309]), json!([882, 1218])],
        "by their rules"
    );
    assert_eq!(of_ours(&found)[2]["spread"]["mean"], json!([294, 304.5]));

    let whole = ask("?metric=pages");
    assert_eq!((&whole["step"], whole["first"].as_array().unwrap().len()), (&json!(3), 234));
    assert_eq!(whole["series"][0]["value"].as_array().unwrap().last(), Some(&json!(699)));
    assert_eq!(ask("?metric=nothing")["series"], json!([]));
}

#[test]
fn spreads_and_series_with_a_label_are_omitted_on_request() {
    let site = Site::start();
    let all: [(_, Of); 2] = [
        (series("cpu", &[("mode", "user")], Merge::Mean), exactly),
        (series("cpu", &[("mode", "user"), ("number", "1")], Merge::Mean), exactly),
    ];
    let job = job(&site, 100, &all);
    let path = format!("/api/v1/jobs/{job}/samples?metric=cpu&points=10&without=number");
    let found = site.get(&path);
    assert_eq!(found["series"].as_array().unwrap().len(), 1, "{found}");
    assert!(found["series"][0]["spread"].is_object());
    let found = site.get(&format!("{path}&spread=false"));
    assert_eq!((&found["step"], &found["series"][0]["spread"]), (&json!(10), &Value::Null));
    let listed = site.get(&format!("/api/v1/jobs/{job}/samples?without=number"));
    let ours = listed["series"].as_array().unwrap().iter().filter(|one| one["metric"] == "cpu");
    assert_eq!(ours.count(), 1, "{listed}");
}

#[test]
fn means_of_a_part_are_beside_those_of_the_rest_of_the_window() {
    let site = Site::start();
    let all: [(_, Of); 3] = [
        (series("all", &[], Merge::Mean), exactly),
        (series("third", &[("number", "1")], Merge::Last), every_third),
        (series("early", &[], Merge::Mean), |second| (second < 5).then_some(1.0)),
    ];
    let job = job(&site, 400, &all);
    let ask = |query: &str| site.get(&format!("/api/v1/jobs/{job}/samples/means?{query}"));
    let found = ask("from=299&to=302&window_from=10&window_to=400");
    let of = |name: &str| found["series"].as_array().unwrap().iter().find(|s| s["metric"] == name);
    let all = of("all").unwrap();
    assert_eq!(all["here"], json!({ "seconds": 3, "mean": 300, "max": 301 }), "{found}");
    // The seconds 10 to 399 without three of them, whose mean is 300.
    let rest = (10..400).sum::<u64>() as f64 - 900.0;
    assert_eq!(all["rest"]["seconds"], 387);
    assert!((all["rest"]["mean"].as_f64().unwrap() - rest / 387.0).abs() < 1e-6, "{all}");
    assert_eq!(of("third").unwrap()["here"], json!({ "seconds": 1, "mean": 300, "max": 300 }));
    assert!(of("early").is_none(), "measured neither here nor in the window");
    let some = ask("from=0&to=2&without=number");
    let names: Vec<_> = some["series"].as_array().unwrap().iter().map(|s| &s["metric"]).collect();
    assert!(names.contains(&&json!("early")) && !names.contains(&&json!("third")), "{some}");
    let (status, _) = site.call("GET", "/api/v1/jobs/999/samples/means?from=0&to=1", &Value::Null);
    assert_eq!(status, 404);
}

#[test]
fn an_answer_has_a_bounded_size_and_says_what_it_leaves_out() {
    let site = Site::start();
    let number: Vec<String> = (0..600).map(|n| n.to_string()).collect();
    let all: Vec<(_, Of)> =
        number.iter().map(|n| (series("many", &[("n", n)], Merge::Mean), exactly as Of)).collect();
    let job = job(&site, 450, &all);
    let found = site.get(&format!("/api/v1/jobs/{job}/samples?metric=many&points=2000"));
    assert_eq!((found["series"].as_array().unwrap().len(), &found["left_out"]), (500, &json!(100)));
    assert_eq!(found["step"], 3, "500 series have 200 points each at most");
    assert_eq!(found["first"].as_array().unwrap().len(), 150);
}

#[test]
fn what_cannot_be_asked_for_is_refused_by_its_field() {
    let site = Site::start();
    let job = job(&site, 1, &[(series("a", &[], Merge::Sum), exactly)]);
    let many: BTreeMap<usize, String> = (0..501).map(|n| (n, format!("m{n}"))).collect();
    let many: Vec<String> = many.into_values().collect();
    for (query, field) in [
        ("labels=database".to_owned(), "labels"),
        ("labels=%7B%22a%22%3A1%7D".to_owned(), "labels"),
        (format!("metric={}", many.join(",")), "metric"),
    ] {
        let path = format!("/api/v1/jobs/{job}/samples?{query}");
        let (status, answer) = site.call("GET", &path, &Value::Null);
        assert_eq!((status, &answer["field"]), (422, &json!(field)), "{answer}");
    }
    for (path, status) in [
        (format!("/api/v1/jobs/{job}/samples?metrics=a"), 400),
        (format!("/api/v1/jobs/{job}/samples?metric=a&from=18446744073709551615&to=0"), 200),
        ("/api/v1/jobs/999/samples".to_owned(), 404),
    ] {
        assert_eq!(site.call("GET", &path, &Value::Null).0, status, "{path}");
    }
}
