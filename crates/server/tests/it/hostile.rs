//! Malicious requests. None may succeed, and none may disturb the server.

use std::io::{Read, Write};
use std::time::Duration;

use serde_json::{Value, json};

use crate::site::{BEARER, Reply, Site};

const JSON: &str = "content-type: application/json";

#[test]
fn malformed_requests_are_refused_without_a_stumble() {
    let site = Site::start();
    site.target("null", "null:");
    let deep = "[".repeat(100_000);
    let long = "x".repeat(20_000);
    let many =
        format!("{{\"command\":\"run\",\"settings\":{{\"label\":\"{}\"}}}}", "y".repeat(900_000));
    let table: Vec<(&str, String, &str, String, u16)> = [
        ("GET", "/api/v1/nothing", "", "", 404),
        ("GET", "/api/v1", "", "", 404),
        ("GET", "/api/", "", "", 404),
        ("GET", "/api/v1/jobs/", "", "", 404),
        ("GET", "/api/v1/jobs/x", "", "", 400),
        ("GET", "/api/v1/jobs/-1", "", "", 404),
        ("GET", "/api/v1/jobs/0", "", "", 404),
        ("GET", "/api/v1/jobs/99999999999999999999", "", "", 400),
        ("GET", "/api/v1/jobs/1%00", "", "", 400),
        ("GET", "/api/v1/jobs/1'; DROP TABLE jobs", "", "", 400),
        ("GET", "/api/v1/jobs?limit=x", "", "", 400),
        ("GET", "/api/v1/jobs?limit=-1", "", "", 400),
        ("GET", "/api/v1/jobs?limit=4294967296", "", "", 400),
        ("GET", "/api/v1/jobs?limit=0", "", "", 200),
        ("GET", "/api/v1/jobs?limit=4294967295", "", "", 200),
        ("GET", "/api/v1/jobs?sparkline=4294967295", "", "", 200),
        ("GET", "/api/v1/jobs?kind=nonsense", "", "", 400),
        ("GET", "/api/v1/jobs?unknown=1", "", "", 400),
        ("GET", "/api/v1/jobs?search=%27%22%25_%00", "", "", 200),
        ("GET", "/api/v1/jobs?search=%ff%fe", "", "", 200),
        ("GET", "/api/v1/jobs?before=-9223372036854775808", "", "", 200),
        ("GET", "/api/v1/jobs/1/series", "", "", 404),
        ("GET", "/api/v1/jobs/1/series?points=0", "", "", 404),
        ("GET", "/api/v1/jobs/1/series?from=18446744073709551615&to=0", "", "", 404),
        ("GET", "/api/v1/jobs/1/samples?points=0", "", "", 404),
        ("GET", "/api/v1/jobs/1/samples?labels=%00", "", "", 422),
        ("GET", "/api/v1/jobs/1/heatmap?rows=1&columns=0", "", "", 404),
        ("GET", "/api/v1/jobs/1/report?format=../../etc/passwd", "", "", 422),
        ("GET", "/api/v1/activities/0", "", "", 404),
        ("GET", "/api/v1/activities/18446744073709551616", "", "", 400),
        ("GET", "/api/v1/activities/7/events", "", "", 404),
        ("POST", "/api/v1/activities/7/stop", JSON, "", 404),
        ("POST", "/api/v1/activities/7/stop", "", "", 415),
        ("GET", "/api/v1/targets/nobody", "", "", 404),
        ("GET", "/api/v1/targets/%2e%2e%2f%2e%2e%2fetc%2fpasswd", "", "", 404),
        ("GET", "/api/v1/targets/%ff", "", "", 400),
        ("PUT", "/api/v1/targets/%0a", JSON, "{\"url\":\"null:\"}", 422),
        ("PUT", "/api/v1/targets/a", JSON, "{\"url\":\"nonsense\"}", 422),
        ("PUT", "/api/v1/targets/a", JSON, "{\"url\":\"\"}", 422),
        ("PUT", "/api/v1/targets/a", JSON, "{\"url\":7}", 422),
        ("PUT", "/api/v1/targets/a", JSON, "{}", 422),
        ("PUT", "/api/v1/targets/a", JSON, "{\"url\":\"null:\",\"password\":\"x\"}", 422),
        ("PUT", "/api/v1/targets/a", JSON, "{\"url\":\"postgres://h/d?password=x\"}", 422),
        (
            "PUT",
            "/api/v1/targets/a",
            JSON,
            "{\"url\":\"null:\",\"password_variable\":\"TRIPHAMMER_PASSWORD\"}",
            422,
        ),
        ("PUT", "/api/v1/targets/a", JSON, "{\"url\":\"null:\",\"password_file\":\"/x\"}", 422),
        ("PUT", "/api/v1/targets/null/password", JSON, "{\"password\":null}", 422),
        ("POST", "/api/v1/activities", "", "{\"command\":\"run\"}", 415),
        ("POST", "/api/v1/activities", "content-type: text/plain", "{\"command\":\"run\"}", 415),
        ("POST", "/api/v1/activities", JSON, "", 400),
        ("POST", "/api/v1/activities", JSON, "{", 400),
        ("POST", "/api/v1/activities", JSON, "null", 422),
        ("POST", "/api/v1/activities", JSON, "[]", 422),
        ("POST", "/api/v1/activities", JSON, "{\"command\":\"format\"}", 422),
        ("POST", "/api/v1/activities", JSON, "{\"command\":\"run\",\"target\":\"nobody\"}", 404),
        ("POST", "/api/v1/activities", JSON, "{\"command\":\"run\",\"settings\":{\"vus\":7}}", 422),
        (
            "POST",
            "/api/v1/activities",
            JSON,
            "{\"command\":\"run\",\"settings\":{\"store\":\"/x\"}}",
            422,
        ),
        (
            "POST",
            "/api/v1/activities",
            JSON,
            "{\"command\":\"run\",\"settings\":{\"password-file\":\"/etc/shadow\"}}",
            422,
        ),
        (
            "POST",
            "/api/v1/activities",
            JSON,
            "{\"command\":\"run\",\"settings\":{\"target\":\"sqlite:/x\"}}",
            422,
        ),
        (
            "POST",
            "/api/v1/activities",
            JSON,
            "{\"command\":\"run\",\"settings\":{\"workload\":\"nonsense\"}}",
            422,
        ),
        (
            "POST",
            "/api/v1/preview",
            JSON,
            "{\"command\":\"run\",\"target\":\"null\",\"settings\":{\"vus\":\"0\"}}",
            422,
        ),
        (
            "POST",
            "/api/v1/preview",
            JSON,
            "{\"command\":\"run\",\"target\":\"null\",\"settings\":{\"vus\":\"99999999999\"}}",
            422,
        ),
        (
            "POST",
            "/api/v1/preview",
            JSON,
            "{\"command\":\"run\",\"target\":\"null\",\"settings\":{\"workload\":\"tpc-b\",\
             \"host-metrics\":\"http://10.0.0.1/x\"}}",
            422,
        ),
        (
            "POST",
            "/api/v1/preview",
            JSON,
            "{\"command\":\"run\",\"target\":\"null\",\"settings\":{\"workload\":\"tpc-b\",\
             \"energy-metrics\":\"http://10.0.0.1/x\"}}",
            422,
        ),
        (
            "POST",
            "/api/v1/preview",
            JSON,
            "{\"command\":\"run\",\"target\":\"null\",\"settings\":{\"duration\":\"-1s\"}}",
            422,
        ),
        (
            "POST",
            "/api/v1/preview",
            JSON,
            "{\"command\":\"run\",\"target\":\"null\",\"settings\":{\"mix\":\"a,b\"}}",
            422,
        ),
        (
            "POST",
            "/api/v1/preview",
            JSON,
            "{\"command\":\"run\",\"target\":\"null\",\"unknown\":1}",
            422,
        ),
        ("PATCH", "/api/v1/jobs/1", JSON, "{\"label\":7}", 422),
        ("PATCH", "/api/v1/jobs/1", JSON, "{\"label\":\"x\"}", 404),
        ("DELETE", "/api/v1/jobs/1", "", "", 404),
        ("DELETE", "/api/v1/jobs", "", "", 405),
        ("TRACE", "/api/v1/jobs", "", "", 405),
        ("NONSENSE", "/api/v1/jobs", "", "", 405),
        ("POST", "/", JSON, "{}", 405),
        ("GET", "/../../etc/passwd", "", "", 200),
        ("GET", "/%2e%2e/%2e%2e/etc/passwd.txt", "", "", 404),
        ("GET", "/assets/../index.html.br", "", "", 404),
    ]
    .into_iter()
    .map(|(method, path, header, body, status)| {
        (method, path.replace(' ', "%20"), header, body.to_owned(), status)
    })
    .chain([
        ("POST", "/api/v1/activities".into(), JSON, deep, 400),
        ("POST", "/api/v1/preview".into(), JSON, many, 404),
        ("GET", format!("/api/v1/targets/{long}"), "", String::new(), 404),
    ])
    .collect();
    for (method, path, header, body, status) in table {
        let headers: Vec<&str> = [header].into_iter().filter(|header| !header.is_empty()).collect();
        let reply = site.ask(method, &path, &headers, &body);
        let shown: String = format!("{method} {path} {body}").chars().take(200).collect();
        assert!(reply.status < 500, "{shown}: {reply:?}");
        // The large form has no target: its status depends on the folder, its size is what is tried.
        let is_large = body.len() > 500_000;
        assert!(
            is_large || reply.status == status,
            "{shown}: {} for {status}: {}",
            reply.status,
            reply.body
        );
        if reply.status >= 400 && path.starts_with("/api/") {
            let error = reply.json();
            assert!(error["code"].is_string() && error["message"].is_string(), "{shown}: {error}");
        }
    }
    site.get("/api/v1/about");
}

#[test]
fn what_is_no_http_is_refused() {
    let site = Site::start();
    let host = site.address;
    let huge = format!("GET / HTTP/1.1\r\nhost: {host}\r\nx: {}\r\n\r\n", "x".repeat(100_000));
    let headers: String = (0..200).map(|n| format!("x{n}: 1\r\n")).collect();
    let many = format!("GET / HTTP/1.1\r\nhost: {host}\r\n{headers}\r\n");
    for bytes in [
        "\r\n\r\n",
        "GET\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "\x16\x03\x01\x02\x00",
        "GET / HTTP/1.1\r\n\r\n",
        "GET http://evil.example/ HTTP/1.1\r\nhost: evil.example\r\n\r\n",
        "GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nhost: evil.example\r\n\r\n",
        "GET http://127.0.0.1/ HTTP/1.1\r\nhost: 127.0.0.1\r\nhost: evil.example\r\n\r\n",
        "GET http://127.0.0.1/ HTTP/1.1\r\nhost: 127.0.0.1\r\nhost: 127.0.0.1\r\n\r\n",
        "GET http://127.0.0.1/ HTTP/1.1\r\nhost: localhost\r\n\r\n",
        "GET http://127.0.0.1/ HTTP/1.1\r\n\r\n",
        "GET http://127.0.0.1@evil.example/ HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n",
        "POST /api/v1/preview HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: x\r\n\r\n",
        "POST /api/v1/preview HTTP/1.1\r\nhost: 127.0.0.1\r\ntransfer-encoding: chunked\r\ncontent-length: 3\r\n\r\nzzz",
        &huge,
        &many,
    ] {
        let mut stream = site.connect();
        let _ = stream.write_all(bytes.as_bytes());
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer);
        assert!(
            answer.is_empty() || answer.starts_with("HTTP/1.1 4"),
            "{bytes:.60}: {answer:.200}"
        );
    }
    site.get("/api/v1/about");
}

#[test]
fn a_body_larger_than_a_mebibyte_is_refused() {
    let site = Site::start();
    let body = format!("{{\"command\":\"run\",\"target\":\"{}\"}}", "x".repeat(1 << 20));
    let reply = site.ask("POST", "/api/v1/preview", &[JSON], &body);
    assert_eq!((reply.status, &reply.json()["code"]), (413, &json!("too_large")));
}

#[test]
fn a_slow_head_and_a_slow_body_are_given_up() {
    let site = Site::start_with(|config| config.limits.head = Duration::from_millis(200));
    let mut stream = site.connect();
    stream.write_all(b"GET / HT").unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let site = Site::start_with(|config| config.limits.request = Duration::from_millis(200));
    let mut stream = site.connect();
    write!(
        stream,
        "POST /api/v1/preview HTTP/1.1\r\nhost: {}\r\n{BEARER}\r\n{JSON}\r\ncontent-length: 9\r\n\r\n{{",
        site.address
    )
    .unwrap();
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 408");
}

#[test]
fn pages_of_other_sites_are_refused() {
    let site = Site::start();
    let own = format!("origin: http://{}", site.address);
    for (headers, status) in [
        (vec![own.as_str()], 200),
        (vec!["sec-fetch-site: same-origin"], 200),
        (vec!["sec-fetch-site: none"], 200),
        (vec!["origin: http://evil.example"], 403),
        (vec!["origin: null"], 403),
        (vec!["origin: https://127.0.0.1"], 403),
        (vec![own.as_str(), "origin: http://evil.example"], 403),
        (vec!["sec-fetch-site: cross-site"], 403),
        (vec!["sec-fetch-site: same-site"], 403),
        (vec!["sec-fetch-site: cross-site", "sec-fetch-mode: navigate"], 403),
    ] {
        assert_eq!(site.ask("GET", "/api/v1/about", &headers, "").status, status, "{headers:?}");
    }
    let link = ["sec-fetch-site: cross-site", "sec-fetch-mode: navigate"];
    assert_eq!(site.ask("GET", "/", &link, "").status, 200);
    for host in ["evil.example", "localhost.evil.example:7400", ""] {
        let reply = site.raw(
            format!("GET /api/v1/about HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n")
                .as_bytes(),
        );
        assert_eq!(reply.unwrap().status, 421, "{host}");
    }
}

#[test]
fn nobody_is_answered_without_the_token() {
    let site = Site::start();
    assert_eq!(
        site.bare("GET", "/api/v1/session", &[], "").json(),
        json!({ "needed": true, "authorized": false })
    );
    let document = triphammer_server::openapi::document();
    for (path, methods) in document["paths"].as_object().unwrap() {
        let path = path.replace("{id}", "1").replace("{name}", "x");
        for method in methods.as_object().unwrap().keys() {
            if path == "/api/v1/session" {
                continue;
            }
            for headers in
                [vec![], vec!["authorization: Bearer wrong"], vec!["cookie: triphammer=x"]]
            {
                let headers: Vec<&str> = headers.into_iter().chain([JSON]).collect();
                let reply = site.bare(&method.to_uppercase(), &path, &headers, "");
                assert_eq!(reply.status, 401, "{method} {path}");
            }
        }
    }
    assert_eq!(site.bare("GET", "/api/v1/openapi.json", &[], "").status, 401);
    assert_eq!(site.bare("GET", "/api/v1/about", &[BEARER], "").status, 200);
    let wrong = site.bare("POST", "/api/v1/session", &[JSON], "{\"token\":\"wrong\"}");
    assert_eq!((wrong.status, &wrong.json()["field"]), (401, &json!("token")));
    let right =
        site.bare("POST", "/api/v1/session", &[JSON], "{\"token\":\"correct horse battery\"}");
    let cookie = right.header("set-cookie").unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    let cookie = format!("cookie: {}", cookie.split(';').next().unwrap());
    assert_eq!(site.bare("GET", "/api/v1/about", &[&cookie], "").status, 200);
    assert_eq!(site.bare("DELETE", "/api/v1/session", &[&cookie], "").status, 204);
    assert_eq!(site.bare("GET", "/api/v1/about", &[&cookie], "").status, 401);
    assert!(!site.received().contains("correct horse"));
}

#[test]
fn every_response_says_what_browsers_may_do_with_it() {
    let site = Site::start();
    for path in ["/", "/login", "/login.js", "/api/v1/about", "/api/v1/nothing", "/api/v1/jobs/x"] {
        let reply = site.ask("GET", path, &[], "");
        let policy = reply.header("content-security-policy").unwrap();
        assert!(
            policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"),
            "{policy}"
        );
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(reply.header("referrer-policy"), Some("no-referrer"), "{path}");
    }
    let reply = site.ask("GET", "/some/page/of/it", &[], "");
    assert_eq!(
        (reply.status, reply.header("content-type")),
        (200, Some("text/html; charset=utf-8"))
    );
    let _: Value = site.get("/api/v1/session");
}

#[test]
fn a_long_answer_is_compressed_for_who_takes_it() {
    let site = Site::start();
    let path = "/api/v1/openapi.json";
    let plain = site.ask("GET", path, &["accept-encoding: br"], "");
    let packed = site.ask("GET", path, &["accept-encoding: gzip, br"], "");
    assert_eq!((plain.header("content-encoding"), plain.status), (None, 200));
    assert_eq!((packed.header("content-encoding"), packed.status), (Some("gzip"), 200));
    assert_eq!(packed.header("vary"), Some("accept-encoding"));
    let length = |reply: &Reply| reply.header("content-length").unwrap().parse::<usize>().unwrap();
    assert!(length(&packed) * 4 < length(&plain), "{} of {}", length(&packed), length(&plain));
    let short = site.ask("GET", "/api/v1/session", &["accept-encoding: gzip"], "");
    assert_eq!(short.header("content-encoding"), None);
}
