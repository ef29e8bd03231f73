//! Targets with passwords, builds that are cancelled, and runs, on PostgreSQL.

use serde_json::{Value, json};
use triphammer_testbed::PostgresServer;

use crate::site::Site;

#[test]
fn a_password_is_used_and_never_given_back() {
    let server = PostgresServer::shared();
    let url = server.fresh_database("served").unwrap();
    let site = Site::start();
    let (_, saved) = site.call("PUT", "/api/v1/targets/pg", &json!({ "url": url }));
    assert_eq!(saved["has_password"], true);
    assert!(!saved["url"].as_str().unwrap().contains(server.password()));
    let tested = site.post("/api/v1/targets/pg/test", &Value::Null);
    assert_eq!((&tested["product"], &tested["transport"]), (&json!("PostgreSQL"), &json!("tcp")));
    let found = site.post("/api/v1/doctor", &json!({ "target": "pg" }));
    assert_eq!(
        (&found["kind"], &found["server"]["product"]),
        (&json!("doctor"), &json!("PostgreSQL"))
    );
    let lines = found["lines"].as_array().unwrap();
    let fsync = lines.iter().find(|line| line["name"] == "fsync").unwrap();
    assert!(fsync["change"].as_str().unwrap().contains("ALTER SYSTEM"), "{fsync}");
    assert!(lines.iter().any(|line| line["group"] == "network"), "{found}");
    site.done("build", "pg", &json!({ "workload": "tpc-b" }));
    let settings = json!({ "workload": "tpc-b", "vus": "2", "rampup": "0s", "duration": "2s" });
    let form = json!({ "command": "run", "target": "pg", "settings": settings });
    site.post("/api/v1/preview", &form);
    let ran = site.done("run", "pg", &settings);
    assert_eq!(ran["good"], true, "{ran}");
    site.get(&format!("/api/v1/activities/{}", ran["id"]));
    site.get(&format!("/api/v1/jobs/{}", ran["job"]));
    site.get(&format!("/api/v1/jobs/{}/server-settings", ran["job"]));
    // One page with all results, if the web interface was built.
    site.ask("GET", &format!("/api/v1/jobs/{}/report?format=html", ran["job"]), &[], "");
    site.get("/api/v1/targets");
    site.get("/api/v1/activities");
    let wrong = json!({ "password": "wr0ng-s3cret" });
    site.call("PUT", "/api/v1/targets/pg/password", &wrong);
    let (status, error) = site.call("POST", "/api/v1/targets/pg/test", &Value::Null);
    assert_eq!((status, &error["code"]), (502, &json!("database")));
    assert!(
        error["message"].as_str().unwrap().contains("password authentication failed"),
        "{error}"
    );
    let failed = site.start_activity("run", "pg", &settings);
    assert_eq!(site.ended(failed)["state"], "failed");
    // Another URL is another server: the password for the first is not sent there.
    let elsewhere =
        url.replace(&format!(":{}@", server.password()), "@").replace("127.0.0.1", "localhost");
    let (_, moved) = site.call("PUT", "/api/v1/targets/pg", &json!({ "url": elsewhere }));
    assert_eq!(moved["has_password"], false);
    let received = site.received();
    for secret in [server.password(), "wr0ng-s3cret"] {
        assert!(!received.contains(secret), "an answer holds {secret}");
        for file in ["jobs.sqlite", "jobs.sqlite-wal", "jobs.targets.json"] {
            let Ok(bytes) = std::fs::read(site.file(file)) else { continue };
            let holds = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!holds, "{file} holds {secret}");
        }
    }
}

#[test]
fn a_cancelled_build_ends_soon_and_is_resumed() {
    let url = PostgresServer::shared().fresh_database("cancelled").unwrap();
    let site = Site::start();
    site.target("pg", &url);
    let settings = json!({ "scale": "2", "jobs": "1" });
    let id = site.start_activity("build", "pg", &settings);
    let mut events = site.events(&format!("/api/v1/activities/{id}/events"), None);
    events.until(|event| event["type"] == "progress" && event["phase"] == "loading");
    site.post(&format!("/api/v1/activities/{id}/stop"), &Value::Null);
    let ended = site.ended(id);
    assert_eq!(ended["state"], "interrupted", "{ended}");
    let job = site.get(&format!("/api/v1/jobs/{}", ended["job"]));
    assert_eq!(job["job"]["status"], "interrupted");
    let built = site.done("build", "pg", &settings);
    assert!(built["outcome"].as_str().unwrap().starts_with("resumed"), "{built}");
    assert_eq!(site.done("check", "pg", &json!({}))["good"], true);
}

#[test]
fn a_database_that_is_down_is_told_in_the_command_lines_words() {
    let site = Site::start();
    site.target("gone", "postgres://nobody@127.0.0.1:1/x");
    let (status, error) = site.call("POST", "/api/v1/targets/gone/test", &Value::Null);
    assert_eq!(status, 502);
    assert!(
        error["message"].as_str().unwrap().starts_with("connecting to postgres://nobody@"),
        "{error}"
    );
    let form = json!({ "command": "run", "target": "gone", "settings": {} });
    assert_eq!(site.call("POST", "/api/v1/preview", &form).0, 502);
}

#[test]
fn streams_beside_transactions_report_what_is_running_and_their_times_so_far() {
    let url = PostgresServer::shared().fresh_database("beside").unwrap();
    let site = Site::start();
    site.target("pg", &url);
    site.done("build", "pg", &json!({ "workload": "ch", "scale": "1" }));
    let settings = json!({
        "workload": "ch", "vus": "1", "streams": "2", "queries": "1,6", "rampup": "0s", "duration": "10m"
    });
    let id = site.start_activity("run", "pg", &settings);
    let mut events = site.events(&format!("/api/v1/activities/{id}/events"), None);
    let event = events.until(|event| {
        let is_running = event["running"].as_array().is_some_and(|running| !running.is_empty());
        event["type"] == "progress" && is_running && event["geomean_ms"].is_number()
    });
    assert_eq!((&event["unit"], &event["total"]), (&json!("queries"), &json!(0)), "{event}");
    assert!(
        event["done"].as_u64() > Some(0) && event["geomean_ms"].as_f64() > Some(0.0),
        "{event}"
    );
    let query = &event["running"][0];
    assert!(["q1", "q6"].contains(&query["name"].as_str().unwrap()), "{event}");
    assert!([1, 2].contains(&query["stream"].as_u64().unwrap()), "{event}");
    // How long the first query takes depends on what else the host does.
    site.post(&format!("/api/v1/activities/{id}/stop"), &Value::Null);
    assert_eq!(site.ended(id)["state"], "interrupted");
}
