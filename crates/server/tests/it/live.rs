//! Event streams: reconnecting, never reading, many readers.

use std::io::{Read, Write};
use std::time::Duration;

use serde_json::json;
use triphammer_runner::live::{LiveNote, LiveReport};
use triphammer_server::live::LiveEvent;

use crate::site::Site;

fn note(text: &str) -> LiveEvent {
    LiveEvent::of(1, LiveReport::Note(LiveNote::new("test", text))).unwrap()
}

#[test]
fn a_page_that_comes_back_gets_what_it_missed() {
    let site = Site::start();
    site.target("null", "null:");
    let settings = json!({ "vus": "1", "rampup": "0s", "duration": "10m" });
    let id = site.start_activity("run", "null", &settings);
    let mut events = site.events("/api/v1/events", None);
    let seen = events.until(|event| event["type"] == "second")["last"].as_u64().unwrap();
    let last_id = events.last_id.clone();
    drop(events);
    // The run belongs to the server: it continues without a client.
    let mut other = site.events("/api/v1/events", None);
    other.until(|event| event["type"] == "second" && event["first"].as_u64() > Some(seen + 1));
    let mut again = site.events("/api/v1/events", Some(&last_id));
    assert_eq!(again.next().unwrap()["resumed"], true);
    let next = again.until(|event| event["type"] == "second");
    assert_eq!(next["first"], seen + 1);
    let mut fresh = site.events("/api/v1/events", None);
    assert_eq!(fresh.next().unwrap()["resumed"], false);
    assert_eq!(fresh.until(|event| event["type"] == "second")["first"], 0);
    site.post(&format!("/api/v1/activities/{id}/stop"), &serde_json::Value::Null);
    site.ended(id);
}

#[test]
fn the_rate_of_a_run_can_be_changed_while_it_goes_on() {
    let site = Site::start();
    site.target("null", "null:?service=1ms");
    let settings = json!({ "vus": "8", "load": "rate:50/s", "rampup": "0s", "duration": "10m", "workload": "tpc-b" });
    let mut events = site.events("/api/v1/events", None);
    let id = site.start_activity("run", "null", &settings);
    let load = format!("/api/v1/activities/{id}/load");
    events.until(|event| event["type"] == "second");
    for (body, status, message) in [
        (json!({ "users": 4 }), 409, "the load of this run is open"),
        (json!({ "rate": -1.0 }), 422, "the rate must be from 0"),
        (
            json!({ "rate": 1.0, "users": 4 }),
            422,
            "give one of a rate, a number of users and a mix",
        ),
        (json!({}), 422, "give one of a rate, a number of users and a mix"),
        (json!({ "mix": "tpcb=1" }), 422, "there is no transaction type `tpcb`"),
        (json!({ "mix": "select_only=1" }), 422, "the run began without"),
    ] {
        let (found, answer) = site.call("POST", &load, &body);
        assert_eq!(found, status, "{answer}");
        assert!(answer.to_string().contains(message), "{answer}");
    }
    let now = site.get(&load);
    assert_eq!(now["load"]["what"], "rate", "{now}");
    assert_eq!(now["load"]["value"], 50.0, "{now}");
    let answer = site.post(&load, &json!({ "rate": 500 }));
    assert_eq!((&answer["from"], &answer["to"]), (&50.0.into(), &500.0.into()), "{answer}");
    let at = answer["at_s"].as_f64().unwrap();
    // Two whole seconds at the new rate.
    let first = |event: &serde_json::Value| event["first"].as_f64().unwrap_or_default();
    events.until(|event| event["type"] == "second" && first(event) >= at + 2.0);
    site.post(&format!("/api/v1/activities/{id}/stop"), &serde_json::Value::Null);
    let ended = site.ended(id);
    // By then more were due than at the first rate.
    assert!(ended["primary_metric_value"].as_f64() > Some(100.0), "{ended}");
    let job = site.get(&format!("/api/v1/jobs/{}", ended["job"])).to_string();
    assert!(job.contains("the rate changed from 50 to 500 per second"), "{at}: {job}");
    let (found, answer) = site.call("POST", &load, &json!({ "rate": 10 }));
    assert_eq!(found, 409, "{answer}");
    assert!(answer.to_string().contains("has no run in progress"), "{answer}");
}

#[test]
fn the_mix_of_a_run_can_be_changed_while_it_is_in_progress() {
    let site = Site::start();
    site.target("null", "null:?service=1ms");
    let settings = json!({ "vus": "2", "rampup": "0s", "duration": "10m", "workload": "tproc-c" });
    let mut events = site.events("/api/v1/events", None);
    let id = site.start_activity("run", "null", &settings);
    let load = format!("/api/v1/activities/{id}/load");
    events.until(|event| event["type"] == "second" && event["first"] == 1);
    let now = site.get(&load)["load"]["mix"].clone();
    assert_eq!(now, "new_order=10,payment=10,order_status=1,delivery=1,stock_level=1");
    let answer = site.post(&load, &json!({ "mix": "stock_level=5" }));
    assert_eq!((&answer["from"], &answer["to"]), (&now, &"stock_level=5".into()), "{answer}");
    let at = answer["at_s"].as_f64().unwrap();
    let first = |event: &serde_json::Value| event["first"].as_f64().unwrap_or_default();
    let second = events.until(|event| event["type"] == "second" && first(event) > at + 1.0);
    let types = second["types"].as_array().unwrap().iter();
    let seen: Vec<_> = types.filter(|of| of["committed"] != 0).map(|of| &of["name"]).collect();
    assert_eq!(seen, ["stock_level"], "{second}");
    site.post(&format!("/api/v1/activities/{id}/stop"), &serde_json::Value::Null);
    let job = site.get(&format!("/api/v1/jobs/{}", site.ended(id)["job"])).to_string();
    assert!(job.contains("to stock_level=5, by request"), "{job}");
}

#[test]
fn the_load_of_runs_that_are_compared_cannot_be_changed() {
    let site = Site::start();
    site.target("null", "null:?service=1ms");
    let settings = json!({ "vus": "1,2", "rampup": "0s", "duration": "10m", "workload": "tpc-b" });
    let mut events = site.events("/api/v1/events", None);
    let id = site.start_activity("profile", "null", &settings);
    events.until(|event| event["type"] == "second");
    let load = format!("/api/v1/activities/{id}/load");
    let (found, answer) = site.call("POST", &load, &json!({ "users": 1 }));
    assert_eq!(found, 409, "{answer}");
    assert!(answer.to_string().contains("are compared"), "{answer}");
    let now = site.get(&load);
    assert!(now["load"].is_null() && now["fixed"].to_string().contains("are compared"), "{now}");
    site.post(&format!("/api/v1/activities/{id}/stop"), &serde_json::Value::Null);
    site.ended(id);
}

#[test]
fn a_run_of_queries_reports_what_is_running() {
    let site = Site::start();
    site.target("null", "null:?service=1s");
    let mut events = site.events("/api/v1/events", None);
    let settings = json!({ "workload": "tproc-h", "test": "queries", "queries": "1,6" });
    let id = site.start_activity("run", "null", &settings);
    let running = |event: &serde_json::Value| event["running"].as_array().map_or(0, Vec::len);
    let event = events.until(|event| event["type"] == "progress" && running(event) > 0);
    assert_eq!((&event["phase"], &event["unit"]), (&"queries".into(), &"queries".into()));
    assert_eq!(event["total"], 2, "{event}");
    let query = &event["running"][0];
    assert!(["q1", "q6"].contains(&query["name"].as_str().unwrap()), "{event}");
    assert!(query["lasts_ms"].is_u64() && query["stream"].is_u64(), "{event}");
    site.post(&format!("/api/v1/activities/{id}/stop"), &serde_json::Value::Null);
    site.ended(id);
}

#[test]
fn a_form_knows_which_settings_a_run_of_queries_rejects() {
    let site = Site::start();
    let workloads = site.get("/api/v1/workloads");
    let of_queries = workloads["workloads"].as_array().unwrap().iter();
    let of_queries: Vec<_> =
        of_queries.filter(|it| it["of_queries"] == true).map(|it| it["name"].clone()).collect();
    assert_eq!(of_queries, ["tproc-h"]);
    let commands = site.get("/api/v1/commands");
    let run = commands["commands"].as_array().unwrap().iter().find(|it| it["command"] == "run");
    let of_transactions = |name: &str| {
        let settings = run.unwrap()["settings"].as_array().unwrap();
        settings.iter().find(|it| it["name"] == name).unwrap()["of_transactions"].clone()
    };
    assert_eq!((of_transactions("vus"), of_transactions("seed")), (true.into(), false.into()));
}

#[test]
fn a_reader_that_never_reads_is_given_up() {
    let site = Site::start_with(|config| config.limits.write = Duration::from_millis(300));
    let mut stream = site.connect();
    write!(stream, "GET /api/v1/events HTTP/1.1\r\nhost: {}\r\n\r\n", site.address).unwrap();
    let mut witness = site.events("/api/v1/events", None);
    witness.next().unwrap();
    // More than the sockets hold, at a pace that the server has time to send.
    let text = "x".repeat(1 << 16);
    for n in 0..400 {
        site.hub.publish(&note(&format!("{n} {text}")));
        witness.until(|event| event["type"] == "note");
    }
    // Data already sent arrives, and then the end, without the other megabytes.
    let mut got = Vec::new();
    let _ = stream.read_to_end(&mut got);
    assert!(got.len() < 300 << 16, "{} bytes", got.len());
    site.hub.publish(&note("still there"));
    witness.until(|event| event["text"] == "still there");
}

#[test]
fn fifty_readers_get_the_same() {
    let site = Site::start();
    let mut readers: Vec<_> = (0..50).map(|_| site.events("/api/v1/events", None)).collect();
    for reader in &mut readers {
        reader.next().unwrap();
    }
    site.hub.publish(&note("for all"));
    for reader in &mut readers {
        reader.until(|event| event["text"] == "for all");
    }
}
