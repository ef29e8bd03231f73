//! `/metrics`: access, and the metrics of the current runs.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use triphammer_drivers::target::Secret;

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
