//! The queue, stopping, and what is stored, on SQLite and the null database.

use serde_json::{Value, json};

use crate::site::Site;

const LONG: &str = "10m";

fn run(duration: &str) -> Value {
    json!({ "vus": "2", "rampup": "0s", "duration": duration })
}

#[test]
fn a_build_a_check_and_a_run_leave_jobs_that_can_be_read() {
    let site = Site::start();
    site.target("file", &format!("sqlite:{}", site.file("b.sqlite").display()));
    let workload = json!({ "workload": "tpc-b" });
    site.done("build", "file", &workload);
    let checked = site.done("check", "file", &workload);
    assert_eq!(checked["good"], true, "{checked}");
    let form = json!({ "command": "run", "target": "file",
        "settings": { "workload": "tpc-b", "rampup": "0s", "duration": "2s" } });
    let preview = site.post("/api/v1/preview", &form);
    assert_eq!(preview["spec"]["users"], 1);
    assert!(preview["command_line"].as_str().unwrap().starts_with("triphammer run sqlite:"));
    let settings =
        json!({ "workload": "tpc-b", "rampup": "0s", "duration": "2s", "label": "Zebra" });
    let ran = site.done("run", "file", &settings);
    let job = ran["job"].as_i64().unwrap();
    let found = site.get("/api/v1/jobs?search=zebra&sparkline=10");
    assert_eq!((found["total"].as_u64(), found["jobs"][0]["id"].as_i64()), (Some(1), Some(job)));
    let points = found["jobs"][0]["sparkline"].as_array().unwrap();
    assert_eq!(points.len(), 2, "two seconds of load, without the drain: {points:?}");
    let detail = site.get(&format!("/api/v1/jobs/{job}"));
    assert_eq!(detail["document"]["kind"], "run");
    let series = site.get(&format!("/api/v1/jobs/{job}/series?points=1"));
    let per_second = series["total_per_second"]["mean"][0].as_f64().unwrap();
    let seconds = series["last"][0].as_f64().unwrap() + 1.0;
    let completed = detail["document"]["run"]["total"]["completed"].as_f64().unwrap();
    assert!((per_second * seconds - completed).abs() < 1.0, "{series} {completed}");
    let curves = site.get(&format!("/api/v1/jobs/{job}/percentiles?scope=run"));
    assert_eq!(curves["curves"][0]["count"], detail["document"]["run"]["total"]["committed"]);
    let map = site.get(&format!("/api/v1/jobs/{job}/heatmap?rows=10"));
    let cells = map["counts"].as_array().unwrap().iter().flat_map(|c| c.as_array().unwrap());
    let counted: u64 = cells.map(|cell| cell.as_u64().unwrap()).sum();
    assert_eq!(Some(counted), detail["document"]["run"]["total"]["committed"].as_u64());
    for format in detail["formats"].as_array().unwrap() {
        let format = format.as_str().unwrap();
        let path = format!("/api/v1/jobs/{job}/report?format={format}&download=true");
        let reply = site.ask("GET", &path, &[], "");
        assert_eq!(reply.status, 200, "{format}");
        assert!(reply.header("content-disposition").unwrap().contains("attachment"));
        assert!(!reply.body.is_empty());
    }
    let change = json!({ "label": "Gnu" });
    assert_eq!(site.call("PATCH", &format!("/api/v1/jobs/{job}"), &change).0, 204);
    assert_eq!(site.get(&format!("/api/v1/jobs/{job}"))["job"]["label"], "Gnu");
    assert_eq!(site.call("DELETE", &format!("/api/v1/jobs/{job}"), &Value::Null).0, 204);
    assert_eq!(site.call("GET", &format!("/api/v1/jobs/{job}"), &Value::Null).0, 404);
    let dropped = site.done("drop", "file", &workload);
    assert!(dropped["outcome"].as_str().unwrap().contains("dropped"));
}

#[test]
fn one_run_a_target_goes_on_and_the_others_wait_in_line() {
    let site = Site::start();
    site.target("one", "null:");
    site.target("other", "null:?service=1ms");
    let first = site.start_activity("run", "one", &run(LONG));
    let second = site.start_activity("run", "one", &run("1s"));
    let third = site.start_activity("run", "one", &run("1s"));
    let aside = site.start_activity("run", "other", &run("1s"));
    let state = |id: u64| site.get(&format!("/api/v1/activities/{id}"))["activity"].clone();
    assert_eq!((&state(second)["position"], &state(third)["position"]), (&json!(1), &json!(2)));
    assert_eq!(site.ended(aside)["state"], "complete");
    let cancelled = site.post(&format!("/api/v1/activities/{second}/stop"), &Value::Null);
    assert_eq!(cancelled["state"], "cancelled");
    assert_eq!(state(third)["position"], 1);
    let mut events = site.events(&format!("/api/v1/activities/{first}/events"), None);
    events.until(|event| event["type"] == "second");
    site.post(&format!("/api/v1/activities/{first}/stop"), &Value::Null);
    let stopped = site.ended(first);
    assert_eq!(stopped["state"], "interrupted", "{stopped}");
    assert_eq!(site.ended(third)["state"], "complete");
    let job = site.get(&format!("/api/v1/jobs/{}", stopped["job"]));
    assert_eq!(job["job"]["status"], "interrupted");
}

#[test]
fn a_second_stop_aborts() {
    let site = Site::start();
    // With 20 users, each within a transaction of some seconds, there is always one in flight.
    site.target("slow", "null:?service=exp(350ms)");
    let settings =
        json!({ "workload": "tpc-b", "mode": "statements", "vus": "20", "rampup": "0s" });
    let id = site.start_activity("run", "slow", &settings);
    let mut events = site.events(&format!("/api/v1/activities/{id}/events"), None);
    events.until(|event| event["type"] == "second");
    let stop = format!("/api/v1/activities/{id}/stop");
    assert_eq!(site.post(&stop, &Value::Null)["state"], "stopping");
    assert_eq!(site.post(&stop, &Value::Null)["state"], "aborting");
    assert_eq!(site.ended(id)["state"], "aborted");
    assert_eq!(site.call("POST", &stop, &Value::Null).0, 409);
}

#[test]
fn the_end_of_the_server_drains_and_stores_what_goes_on() {
    let mut site = Site::start();
    site.target("null", "null:");
    let id = site.start_activity("run", "null", &run(LONG));
    let waiting = site.start_activity("run", "null", &run("1s"));
    let mut events = site.events("/api/v1/events", None);
    events.until(|event| event["type"] == "second");
    site.interrupt();
    events.until(|event| event["id"] == waiting && event["state"] == "cancelled");
    let ended = events.until(|event| event["id"] == id && !event["ended_at"].is_null());
    assert_eq!(ended["state"], "interrupted");
    assert_eq!(events.until(|event| event["type"] == "goodbye")["type"], "goodbye");
    drop(events);
    site.wait();
    let store = triphammer_store::Store::open(&site.file("jobs.sqlite")).unwrap();
    let job = triphammer_document::JobId(ended["job"].as_i64().unwrap());
    assert_eq!(store.load(job).unwrap().row.status.name(), "interrupted");
}

#[test]
fn the_list_of_jobs_comes_in_pages() {
    let site = Site::start();
    site.target("null", "null:");
    for _ in 0..3 {
        let settings = json!({ "vus": "1", "transactions": "10" });
        site.done("run", "null", &settings);
    }
    let first = site.get("/api/v1/jobs?limit=2");
    assert_eq!((first["total"].as_u64(), first["jobs"].as_array().unwrap().len()), (Some(3), 2));
    let before = first["next_before"].as_i64().unwrap();
    let second = site.get(&format!("/api/v1/jobs?limit=2&before={before}"));
    assert_eq!(second["jobs"].as_array().unwrap().len(), 1);
    assert_eq!(second["next_before"], Value::Null);
    assert_eq!(site.get("/api/v1/jobs?kind=build")["total"], 0);
    assert_eq!(site.get("/api/v1/jobs?status=complete&workload=tproc-c")["total"], 3);
}

fn profile(settle: &str) -> Value {
    json!({ "vus": "1,2", "repeats": "1", "rampup": "0s", "duration": "1s", "cool-down": settle })
}

#[test]
fn a_profile_tells_its_steps_and_leaves_one_job_with_its_runs_below_it() {
    let site = Site::start();
    site.target("null", "null:");
    let id = site.start_activity("profile", "null", &profile("0s"));
    let mut events = site.events(&format!("/api/v1/activities/{id}/events"), None);
    let first = events.until(|event| event["type"] == "step" && !event["primary_metric"].is_null());
    assert_eq!((&first["step"], &first["of"]), (&json!(1), &json!(2)), "{first}");
    assert!(first["what"].as_str().unwrap().contains("virtual user"), "{first}");
    let second = events.until(|event| event["type"] == "step" && event["step"] == 2);
    assert_eq!(second["primary_metric"], Value::Null);
    let ended = site.ended(id);
    assert_eq!((&ended["state"], &ended["good"]), (&json!("complete"), &json!(true)), "{ended}");
    let job = &ended["job"];
    let detail = site.get(&format!("/api/v1/jobs/{job}"));
    assert_eq!(detail["document"]["levels"].as_array().unwrap().len(), 2);
    assert_eq!(detail["given"]["vus"], "1,2", "{}", detail["given"]);
    assert_eq!(detail["given"]["target"], Value::Null, "a target may hold a login");
    let all = site.get("/api/v1/jobs");
    assert_eq!((&all["total"], &all["jobs"][0]["runs"]), (&json!(1), &json!(2)), "{all}");
    let runs = site.get(&format!("/api/v1/jobs?parent={job}"));
    assert_eq!((&runs["total"], &runs["jobs"][0]["parent"]), (&json!(2), job), "{runs}");
}

#[test]
fn a_profile_that_is_stopped_begins_no_other_run() {
    let site = Site::start();
    site.target("null", "null:");
    // The job would pause for an hour between its two runs.
    let id = site.start_activity("profile", "null", &profile("1h"));
    let mut events = site.events(&format!("/api/v1/activities/{id}/events"), None);
    events.until(|event| event["type"] == "step" && !event["primary_metric"].is_null());
    site.post(&format!("/api/v1/activities/{id}/stop"), &Value::Null);
    let ended = site.ended(id);
    assert_eq!(ended["state"], "interrupted", "{ended}");
    let runs = site.get(&format!("/api/v1/jobs?parent={}", ended["job"]));
    assert_eq!(runs["total"], 1, "{runs}");
}

#[test]
fn a_comparison_makes_its_runs_in_pairs_on_two_targets_and_keeps_both() {
    let site = Site::start();
    site.target("fast", "null:?service=1ms");
    site.target("slow", "null:?service=20ms");
    let settings = json!({ "b": "vus=2", "vus": "1", "pairs": "2", "rampup": "0s", "duration": "1s",
        "cool-down": "0s" });
    let form =
        json!({ "command": "compare", "target": "fast", "other": "slow", "settings": settings });
    let preview = site.post("/api/v1/preview", &form);
    let line = "triphammer compare 'null:?service=1ms' 'null:?service=20ms' --ab --b vus=2 --cool-down 0s \
                --duration 1s --pairs 2 --rampup 0s --vus 1";
    assert_eq!(preview["command_line"], line, "{preview}");
    assert_eq!(preview["spec"]["users"], 1, "{preview}");

    let id = site.post("/api/v1/activities", &form)["id"].as_u64().unwrap();
    let waiting = site.start_activity("run", "slow", &json!({ "transactions": "10", "vus": "1" }));
    let ended = site.ended(id);
    assert_eq!(ended["state"], "complete", "{ended}");
    assert_eq!(ended["other_url"], "null:?service=20ms");
    let begun = site.ended(waiting)["started_at"].as_str().unwrap().to_owned();
    assert!(begun.as_str() >= ended["ended_at"].as_str().unwrap(), "B's target was not its own");
    let document = site.get(&format!("/api/v1/jobs/{}", ended["job"]))["document"].clone();
    let nopm = &document["figures"][0];
    assert!(nopm["a"].as_f64() > nopm["b"].as_f64(), "A has the fast target: {document}");
    let users = document["differences"].as_array().unwrap().iter().find(|it| it["name"] == "vus");
    assert_eq!(
        users.map(|it| (&it["a"], &it["b"])),
        Some((&json!("1"), &json!("2"))),
        "{document}"
    );

    for (command, other, settings, field) in [
        ("run", "slow", json!({}), json!("other")),
        ("compare", "none", json!({}), json!("other")),
        ("compare", "slow", json!({ "b": "store=x" }), json!("b")),
        ("compare", "slow", json!({ "ab": "false" }), json!("ab")),
    ] {
        let form =
            json!({ "command": command, "target": "fast", "other": other, "settings": settings });
        let (status, error) = site.call("POST", "/api/v1/preview", &form);
        assert!([404, 422].contains(&status), "{form}: {status} {error}");
        assert_eq!(error["field"], field, "{form}: {error}");
    }
}

#[test]
fn an_invalid_field_starts_nothing() {
    let site = Site::start();
    site.target("null", "null:");
    for (command, settings, field) in [
        ("run", json!({ "vus": "x" }), "vus"),
        ("run", json!({ "duration": "5" }), "duration"),
        ("run", json!({ "load": "steps:/etc/passwd" }), "load"),
        ("run", json!({ "require": "nonsense > 1" }), "require"),
        ("profile", json!({ "rampup": "x" }), "rampup"),
        ("compare", json!({ "b": "vus=x" }), "vus"),
        ("compare", json!({ "pairs": "2" }), "other"),
    ] {
        let form = json!({ "command": command, "target": "null", "settings": settings });
        let (status, error) = site.call("POST", "/api/v1/activities", &form);
        assert_eq!((status, &error["field"]), (422, &json!(field)), "{form}: {error}");
    }
    let list = site.get("/api/v1/activities");
    assert_eq!(list["activities"], json!([]));
}

#[test]
fn two_runs_are_judged_as_the_command_line_judges_them() {
    let site = Site::start();
    site.target("null", "null:");
    let jobs = ["one", "two"].map(|label| {
        let settings = json!({ "vus": "1", "rampup": "0s", "duration": "2s", "label": label });
        site.done("run", "null", &settings)["job"].as_i64().unwrap()
    });
    let [a, b] = jobs;
    let made = site.get(&format!("/api/v1/comparisons?a={a}&b=two&margin=5%25"));
    assert_eq!((&made["kind"], &made["margin"]), (&json!("compare"), &json!(0.05)), "{made}");
    assert_eq!(made["b"]["runs"][0]["job"], b);
    assert!(made["words"].as_str().is_some_and(|words| !words.is_empty()), "{made}");
    let store = triphammer_store::Store::open(&site.file("jobs.sqlite")).unwrap();
    let own =
        triphammer_runner::compare::stored(&store, [&a.to_string(), "two"], 0.05, [None, None])
            .unwrap();
    assert_eq!(made, serde_json::to_value(own).unwrap());
    let history = site.get("/api/v1/history?workload=tproc-c");
    assert_eq!(history["runs"].as_array().unwrap().len(), 2, "{history}");
    for (path, status) in [
        ("/api/v1/comparisons?a=1", 400),
        ("/api/v1/comparisons?a=1&b=99", 422),
        ("/api/v1/comparisons?a=1&b=2&margin=much", 422),
        ("/api/v1/history", 422),
        ("/api/v1/history?label=none", 422),
    ] {
        assert_eq!(site.call("GET", path, &Value::Null).0, status, "{path}");
    }
}

#[test]
fn scripts_run_only_on_a_server_that_was_started_for_them() {
    let form =
        |settings: Value| json!({ "command": "run", "target": "none", "settings": settings });
    let script = |text: &str| {
        let texts = json!([{ "name": "a.sql", "weight": 2, "text": text }]).to_string();
        json!({ "workload": "script", "script": texts, "transactions": "5" })
    };
    let site = Site::start();
    site.target("none", "null:");
    let (status, body) = site.call("POST", "/api/v1/preview", &form(script("SELECT 1;")));
    assert_eq!(status, 422, "{body}");
    assert!(body.to_string().contains("start it with --allow-scripts"), "{body}");
    let site = Site::start_with(|config| config.allow_scripts = true);
    site.target("none", "null:");
    let shell = json!({ "allow-shell": "true" });
    let file = json!({ "workload": "script", "script": "a.sql", "transactions": "5" });
    for (settings, message) in [
        (script("SELECT 1;\n\\set a 1 +\n"), "a.sql:2:11: syntax error at the end"),
        (script("\\shell true\n"), "needs --allow-shell"),
        (file, "a request cannot name a file of the server"),
    ] {
        let (status, body) = site.call("POST", "/api/v1/preview", &form(settings));
        assert_eq!(status, 422, "{body}");
        assert!(body.to_string().contains(message), "{body}");
        assert_eq!(body["field"], "script", "{body}");
    }
    let mut settings = script("\\shell true\n");
    settings.as_object_mut().unwrap().extend(shell.as_object().unwrap().clone());
    let (status, body) = site.call("POST", "/api/v1/preview", &form(settings));
    assert!(
        status == 422 && body.to_string().contains("a request cannot set allow-shell"),
        "{body}"
    );
    let ran = site.done("run", "none", &script("SELECT 1;"));
    let job = ran["job"].as_i64().unwrap();
    let detail = site.get(&format!("/api/v1/jobs/{job}"));
    let facts = &detail["document"]["workload"]["scripts"][0];
    assert_eq!((&facts["text"], &facts["name"]), (&"SELECT 1;".into(), &"a.sql".into()));
    // Only the run knows the transaction types of scripts, all of which count.
    let series = site.get(&format!("/api/v1/jobs/{job}/series?points=1"));
    let per_second = series["primary_metric"]["mean"][0].as_f64().unwrap();
    assert!(per_second > 0.0, "{series}");
    assert_eq!(series["primary_metric"]["mean"], series["total_per_second"]["mean"]);
}

#[test]
fn a_target_in_use_is_not_examined_and_without_a_target_only_the_host_is() {
    let site = Site::start();
    site.target("null", "null:");
    let id = site.start_activity("run", "null", &run(LONG));
    let form = json!({ "target": "null" });
    let (status, error) = site.call("POST", "/api/v1/doctor", &form);
    assert_eq!((status, &error["field"]), (409, &json!("target")), "{error}");
    site.post(&format!("/api/v1/activities/{id}/abort"), &Value::Null);
    site.ended(id);
    let (status, _) = site.call("POST", "/api/v1/doctor", &form);
    assert_eq!(status, 200);
    assert_eq!(site.call("POST", "/api/v1/doctor", &json!({ "target": "nobody" })).0, 404);
    let host = site.post("/api/v1/doctor", &json!({}));
    assert_eq!((&host["target"], &host["server"]), (&Value::Null, &Value::Null));
    let groups = host["lines"].as_array().unwrap().iter().map(|line| &line["group"]);
    assert!(groups.collect::<Vec<_>>().iter().all(|group| **group == "host"), "{host}");
}
