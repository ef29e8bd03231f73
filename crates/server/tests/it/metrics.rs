//! `/metrics`: access, and the metrics of the current runs.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use triphammer_drivers::target::Secret;
use triphammer_testbed::PostgresServer;

use crate::site::{BEARER, Site};

const OWN: &str = "a-token-of-prometheus";
const OWN_BEARER: &str = "authorization: Bearer a-token-of-prometheus";

fn site() -> Site {
    Site::start_with(|config| config.metrics_token = Some(Secret::new(OWN)))
}

/// Starts a run that lasts until it is stopped; returns its activity after its first second.
fn start_run(site: &Site, target: &str, command: &str, settings: Value) -> u64 {
    let id = site.start_activity(command, target, &settings);
    let mut events = site.events(&format!("/api/v1/activities/{id}/events"), None);
    events.until(|event| event["type"] == "second");
    id
}

fn long() -> Value {
    json!({ "vus": "1", "rampup": "0s", "duration": "10m" })
}

#[test]
fn the_token_of_the_metrics_opens_them_and_nothing_else() {
    let site = site();
    for (header, status) in [
        (BEARER, 200),
        (OWN_BEARER, 200),
        ("authorization: Bearer a-token-of-nobody-here", 401),
        ("accept: */*", 401),
    ] {
        assert_eq!(site.bare("GET", "/metrics", &[header], "").status, status, "{header}");
    }
    for path in ["/api/v1/jobs", "/api/v1/activities", "/api/v1/about", "/api/v1/metrics"] {
        assert_eq!(site.bare("GET", path, &[OWN_BEARER], "").status, 401, "{path}");
    }
    assert_eq!(site.bare("GET", &format!("/metrics?token={OWN}"), &[], "").status, 401);
    let linked = site.bare("GET", &format!("/?token={OWN}"), &[], "");
    assert_eq!((linked.header("location"), linked.header("set-cookie")), (Some("/login"), None));
    let session = json!({ "token": OWN }).to_string();
    let json = "content-type: application/json";
    assert_eq!(site.bare("POST", "/api/v1/session", &[json], &session).status, 401);
    assert_eq!(site.bare("POST", "/metrics", &[json, OWN_BEARER], "{}").status, 405);
    assert!(!site.received().contains(OWN));
}

#[test]
fn without_a_token_of_their_own_the_metrics_need_the_servers() {
    let site = Site::start();
    assert_eq!(site.bare("GET", "/metrics", &["authorization: Bearer "], "").status, 401);
    let reply = site.ask("GET", "/metrics", &[], "");
    assert_eq!((reply.status, reply.body.as_str()), (200, ""), "nothing runs");
    assert_eq!(reply.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
}

#[test]
fn runs_that_go_on_at_once_are_told_apart_by_their_targets() {
    let site = site();
    let urls = BTreeMap::from([("a", "null:?service=1ms"), ("b", "null:?service=2ms")]);
    let ids: Vec<u64> = urls
        .iter()
        .map(|(name, url)| {
            site.target(name, url);
            start_run(&site, name, "run", long())
        })
        .collect();
    let text = site.bare("GET", "/metrics", &[OWN_BEARER], "").body;
    let types: Vec<&str> = text.lines().filter(|line| line.starts_with("# TYPE")).collect();
    let mut once = types.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), types.len(), "{text}");
    for url in urls.values() {
        let labels = format!("{{type=\"new_order\",outcome=\"committed\",target=\"{url}\"}}");
        assert!(text.contains(&format!("triphammer_transactions_total{labels} ")), "{text}");
        assert!(text.contains(&format!("triphammer_phase{{phase=\"window\",target=\"{url}\"}} 1")));
        let info = text.lines().find(|l| l.starts_with("triphammer_run_info") && l.contains(url));
        assert_eq!(info.unwrap().matches("target=").count(), 1, "{text}");
    }
    for id in ids {
        site.post(&format!("/api/v1/activities/{id}/stop"), &Value::Null);
        site.ended(id);
    }
    assert_eq!(site.bare("GET", "/metrics", &[OWN_BEARER], "").body, "");
}

#[test]
fn a_run_of_a_campaign_has_the_label_of_its_own_target() {
    let site = site();
    site.target("a", "null:?service=1ms");
    site.target("b", "null:?service=2ms");
    let settings = json!({ "vus": "1", "rampup": "0s", "duration": "3s", "cool-down": "0s" });
    let form = json!({ "command": "compare", "target": "a", "other": "b", "settings": settings });
    let id = site.post("/api/v1/activities", &form)["id"].as_u64().unwrap();
    let mut events = site.events(&format!("/api/v1/activities/{id}/events"), None);
    let mut seen = Vec::new();
    while seen.len() < 2 {
        events.until(|event| event["type"] == "second");
        let text = site.bare("GET", "/metrics", &[OWN_BEARER], "").body;
        let sessions = text.lines().find(|line| line.starts_with("triphammer_sessions{"));
        let Some(target) = sessions.and_then(|line| line.split('"').nth(1)) else { continue };
        if !seen.iter().any(|known| known == target) {
            seen.push(target.to_owned());
        }
    }
    seen.sort_unstable();
    assert_eq!(seen, ["null:?service=1ms", "null:?service=2ms"]);
    site.post(&format!("/api/v1/activities/{id}/abort"), &Value::Null);
}

/// Maximum number of seconds in which every metric of the dashboard has to appear.
const SECONDS_MAX: usize = 60;

/// The queries of a dashboard.
fn queries(json: &Value, found: &mut Vec<String>) {
    match json {
        Value::Object(members) => {
            for (name, value) in members {
                match value.as_str() {
                    Some(text) if name == "expr" || name == "query" => found.push(text.to_owned()),
                    _ => queries(value, found),
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| queries(value, found)),
        _ => {}
    }
}

/// The metrics that a query names, each with its selector; empty without one.
fn selectors(query: &str) -> Vec<(&str, &str)> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut found = Vec::new();
    let mut rest = query;
    while let Some(at) = rest.find("triphammer_") {
        let (name, after) =
            rest[at..].split_at(rest[at..].find(|c| !is_part(c)).unwrap_or(rest.len() - at));
        let selector = after.strip_prefix('{').and_then(|of| of.split_once('}'));
        found.push((name, selector.map_or("", |(selector, _)| selector)));
        rest = after;
    }
    found
}

/// The labels of a selector or of an exposed line, `a="x",b=~"y|z"`, with their values.
fn labels(text: &str) -> Vec<(&str, Vec<&str>)> {
    let parts = text.split("\",").filter_map(|part| part.split_once('='));
    let known = parts.map(|(name, text)| {
        let values = text.trim_start_matches('~').trim_matches('"');
        (name.trim(), values.split('|').collect())
    });
    known.collect()
}

/// Values by label, by metric.
type Exposed = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

/// Adds what `/metrics` exposes now.
fn expose(site: &Site, exposed: &mut Exposed) {
    for line in site.bare("GET", "/metrics", &[OWN_BEARER], "").body.lines() {
        let Some((name, rest)) = line.split_once('{').filter(|_| !line.starts_with('#')) else {
            continue;
        };
        let known = exposed.entry(name.to_owned()).or_default();
        for (label, values) in labels(rest.rsplit_once('}').unwrap().0) {
            known
                .entry(label.to_owned())
                .or_default()
                .extend(values.into_iter().map(str::to_owned));
        }
    }
}

#[test]
fn the_dashboard_asks_for_metrics_and_labels_that_runs_have() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/grafana.json");
    let dashboard: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut all = Vec::new();
    queries(&dashboard, &mut all);
    all.retain(|query| query.contains("triphammer_"));
    assert!(all.len() > 20, "{all:?}");

    let site = site();
    // One database fails, the other counts its transactions.
    site.target("a", "null:?service=1ms&fail=deadlock:20%");
    site.target("b", &PostgresServer::shared().fresh_database("dashboard").unwrap());
    site.done("build", "b", &json!({ "workload": "tpc-b" }));
    let mut settings = long();
    settings["load"] = "rate:50/s".into();
    settings["retries"] = "2".into();
    let a = site.start_activity("run", "a", &settings);
    settings["workload"] = "tpc-b".into();
    let b = site.start_activity("run", "b", &settings);
    let mut events = site.events(&format!("/api/v1/activities/{b}/events"), None);
    let mut exposed = Exposed::new();
    // Some have a line once something has happened, or was measured.
    for _ in 0..SECONDS_MAX {
        events.until(|event| event["type"] == "second");
        expose(&site, &mut exposed);
        let mut asked = all.iter().flat_map(|query| selectors(query));
        if asked.all(|(name, _)| exposed.contains_key(name)) {
            break;
        }
    }
    for id in [a, b] {
        site.post(&format!("/api/v1/activities/{id}/abort"), &Value::Null);
    }

    for query in &all {
        for (name, selector) in selectors(query) {
            let known = exposed.get(name).unwrap_or_else(|| panic!("no run has {name}: {query}"));
            // Prometheus adds `instance`; the values of `target` are those of a variable.
            let own = labels(selector).into_iter().filter(|(label, _)| *label != "instance");
            for (label, values) in own {
                let has = known.get(label).unwrap_or_else(|| panic!("no {label}: {query}"));
                let is_known = |value: &&str| label == "target" || has.contains(*value);
                assert!(values.iter().all(is_known), "{name} has {label} {has:?}: {query}");
            }
            let by = query.split("by (").skip(1).filter_map(|of| of.split_once(')'));
            for label in by.flat_map(|(labels, _)| labels.split(", ")) {
                assert!(known.contains_key(label), "{name} has no {label}: {query}");
            }
        }
    }
}
