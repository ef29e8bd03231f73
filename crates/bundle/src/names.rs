//! Finds the names in a bundle that identify machines, people or purposes: hosts in URLs and among
//! the server's settings, labels, and the files and folders of databases and jobs. They are found
//! in the raw parts, so that `verify` finds the same ones again.

use std::collections::BTreeSet;

use serde_json::Value;
use triphammer_document::bundle::ShownNames;
use triphammer_observe::doctor;

use crate::parts::{EVIDENCE, JOB, Parts};

/// Settings of servers whose value is the name of a machine.
const HOST_SETTINGS: [&str; 4] = ["hostname", "report_host", "wsrep_node_address", "servername"];
/// Keys of connection strings whose value is the name of a machine.
const HOST_KEYS: [&str; 4] = ["server", "servername", "host", "hostname"];
/// Names of the machine itself, which identify nothing.
const OWN: [&str; 5] = ["localhost", "127.0.0.1", "::1", "0.0.0.0", "::"];
/// Beginnings of the paths that packages of servers have everywhere.
const SYSTEM_PATHS: [&str; 7] =
    ["/usr/", "/etc/", "/run/", "/var/run/", "/var/lib/mysql", "/var/lib/postgresql", "/dev/"];
/// Schemes of databases that are files.
const FILE_SCHEMES: [&str; 2] = ["sqlite:", "duckdb:"];

/// Sets of names.
#[derive(Default)]
struct Names {
    hosts: BTreeSet<String>,
    labels: BTreeSet<String>,
    paths: BTreeSet<String>,
}

/// The names in raw parts.
pub(crate) fn shown(parts: &Parts, anonymous: bool) -> ShownNames {
    let mut names = Names::default();
    for (name, content) in &parts.0 {
        let Ok(text) = std::str::from_utf8(content) else { continue };
        let file = name.rsplit('/').next().unwrap_or(name);
        if file == JOB {
            of_row(text, &mut names);
        }
        if [JOB, EVIDENCE[0]].contains(&file) {
            of_text(text, &mut names);
        }
        if file == "settings.csv" {
            of_server(text, &mut names);
        }
    }
    let list = |set: BTreeSet<String>| set.into_iter().collect();
    ShownNames {
        anonymous,
        hosts: list(names.hosts),
        labels: list(names.labels),
        paths: list(names.paths),
    }
}

/// Label and folder of a job.
fn of_row(text: &str, names: &mut Names) {
    let Ok(row) = serde_json::from_str::<Value>(text) else { return };
    let mut add = |value: &Value, set: fn(&mut Names) -> &mut BTreeSet<String>| {
        if let Some(text) = value.as_str().filter(|text| !text.trim().is_empty()) {
            set(names).insert(text.to_owned());
        }
    };
    add(&row["label"], |names| &mut names.labels);
    add(&row["plan"]["folder"], |names| &mut names.paths);
}

/// Hosts in the URLs of a text, and files of databases.
fn of_text(text: &str, names: &mut Names) {
    for (at, _) in text.match_indices("://") {
        let scheme = text[..at].chars().next_back();
        if !scheme.is_some_and(|c| c.is_ascii_alphanumeric()) || is_cited(text, at) {
            continue;
        }
        let rest = &text[at + 3..];
        let is_of_authority = |c: char| c.is_alphanumeric() || ".-_~:@%[],*".contains(c);
        let end = rest.find(|c| !is_of_authority(c)).unwrap_or(rest.len());
        let authority = rest[..end].rsplit('@').next().unwrap_or_default();
        // A comma separates hosts only where a path follows.
        let authority = match rest[end..].starts_with('/') {
            true => authority,
            false => authority.split(',').next().unwrap_or_default(),
        };
        authority.split(',').for_each(|host| add_host(without_port(host), names));
    }
    for scheme in FILE_SCHEMES {
        for (at, _) in text.match_indices(scheme) {
            let is_start = text[..at].chars().next_back().is_none_or(|c| !c.is_alphanumeric());
            let rest = &text[at + scheme.len()..];
            let end = rest.find(['"', '?', '\\', '\n', ' ', '`', '<', ',']).unwrap_or(rest.len());
            let path = rest[..end].trim_end_matches(['.', ';', ':', ')']);
            if is_start && !path.is_empty() {
                names.paths.insert(path.to_owned());
            }
        }
    }
    for (at, _) in text.match_indices("odbc:") {
        let rest = &text[at + 5..];
        let end = rest.find(['"', '\n', ' ', '`']).unwrap_or(rest.len());
        for pair in rest[..end].split(';') {
            let Some((key, value)) = pair.split_once('=') else { continue };
            if HOST_KEYS.contains(&key.trim().to_lowercase().as_str()) {
                add_host(without_port(value.trim_matches(['{', '}'])), names);
            }
        }
    }
}

/// Whether the address whose `://` is here is that of a source, which names nothing of the user's.
fn is_cited(text: &str, at: usize) -> bool {
    doctor::cited_urls().any(|url| {
        let begin = url.find("://").and_then(|scheme| at.checked_sub(scheme));
        begin.and_then(|begin| text.get(begin..)).is_some_and(|rest| rest.starts_with(url))
    })
}

/// The names of machines, and files and folders, among the settings of a server.
fn of_server(text: &str, names: &mut Names) {
    for line in text.lines() {
        let mut cells = line.splitn(3, ',');
        let (_, name, value) = (cells.next(), cells.next(), cells.next());
        let value = value.unwrap_or_default().trim_matches('"');
        if name.is_some_and(|name| HOST_SETTINGS.contains(&name)) {
            add_host(value, names);
        }
        let paths = value.split(',').map(|path| path.trim().trim_end_matches('/'));
        let is_own = |path: &&str| {
            let is_of_system = |of: &str| path.starts_with(of);
            path.starts_with('/')
                && path.len() > 1
                && !SYSTEM_PATHS.iter().any(|of| is_of_system(of))
        };
        names.paths.extend(paths.filter(is_own).map(str::to_owned));
    }
}

fn without_port(host: &str) -> &str {
    if let Some(rest) = host.strip_prefix('[') {
        return rest.split(']').next().unwrap_or_default();
    }
    host.split(':').next().unwrap_or_default()
}

fn add_host(host: &str, names: &mut Names) {
    if !host.is_empty() && !host.contains('*') && !OWN.contains(&host) {
        names.hosts.insert(host.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> [Vec<String>; 2] {
        let mut names = Names::default();
        of_text(text, &mut names);
        [names.hosts, names.paths].map(|set| set.into_iter().collect())
    }

    #[test]
    fn hosts_and_files_are_found_in_urls() {
        let hosts = |text| of(text)[0].join(" ");
        assert_eq!(hosts(r#""postgres://bench@db1.example.com:5432/tpcc?x=y""#), "db1.example.com");
        assert_eq!(hosts("mysql://u:***@[fd00::7]:3306/d and null:"), "fd00::7");
        assert_eq!(hosts("postgres://u@a,b:1/d; postgres://u@localhost/d"), "a b");
        assert_eq!(hosts("scraping http://exporter:9100, twice"), "exporter");
        let cited = doctor::cited_urls().next().unwrap();
        assert_eq!(hosts(&format!(r#""url":"{cited}","source":"http://db1""#)), "db1");
        assert_eq!(
            of(r#""sqlite:/home/ann/b.sqlite?x=1", "duckdb:d.db""#)[1],
            ["/home/ann/b.sqlite", "d.db"]
        );
    }
}
