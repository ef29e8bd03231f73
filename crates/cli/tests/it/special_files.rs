//! Paths that lead to no regular file: pipes without a partner, endless devices, sockets, folders.
//! Every setting with a path is tried, by its declaration, and every other way to name a file: the
//! program says what is wrong instead of waiting or reading without end.

use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command as Process;
use std::sync::Mutex;
use std::time::Duration;

use triphammer_core::clock::Clock;
use triphammer_settings::command::{Command, JobKind};
use triphammer_settings::{SETTINGS, SettingDef};

use crate::program::{Program, finish, signal};

/// Maximum time for an answer, in seconds; a slow machine needs part of it.
const WAIT_S: u64 = 60;
/// Nobody listens there.
const UNREACHABLE: &str = "postgres://u@127.0.0.1:1/d";
/// Settings with files that are written. A device is one of them.
const WRITTEN: [&str; 4] = ["series", "junit", "history", "output"];
/// A bundle, once it was written.
const BUNDLE: &str = "bundle.zip";

/// Environment and arguments; `{}` in them is the path.
struct Case {
    variables: Vec<(&'static str, &'static str)>,
    arguments: Vec<String>,
    /// What the path may be: written, a folder.
    is_written: bool,
    is_folder: bool,
    /// Whether the file is optional, so that another error may come first.
    is_optional: bool,
}

impl Case {
    fn of(arguments: &[&str]) -> Self {
        let arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
        let (is_written, is_folder, is_optional) = (false, false, false);
        Self { variables: Vec::new(), arguments, is_written, is_folder, is_optional }
    }

    fn with(name: &'static str, arguments: &[&str]) -> Self {
        Self { variables: vec![(name, "{}")], ..Self::of(arguments) }
    }

    fn optional(self) -> Self {
        Self { is_optional: true, ..self }
    }
}

/// Whether it is the output of `capture`, which may be a folder.
fn is_of_capture(setting: &SettingDef) -> bool {
    setting.name == "output" && setting.commands.contains(Command::Capture)
}

/// The arguments that a setting needs beside it.
fn beside(setting: &SettingDef) -> &'static [&'static str] {
    match setting.name {
        "dialect-dir" => &["check", "odbc:DSN=x"],
        "password-file" => &["run", UNREACHABLE],
        "otlp-ca" => &["run", "null:", "--transactions", "1", "--otlp", "https://127.0.0.1:1"],
        "nodes" => &["run"],
        "output" | "price" if setting.commands.contains(Command::Report) => &["report", "last"],
        "output" | "sign" if setting.commands.contains(Command::Bundle) => &["bundle", "last"],
        "signer" => &["verify", BUNDLE],
        "output" if setting.commands.contains(Command::Board) => &["board", "results"],
        "output" if setting.commands.contains(Command::Datagen) => &["datagen", "-w", "kv"],
        _ if is_of_capture(setting) => &["capture", "log", "--from", "general-log"],
        "tls-cert" => &["serve", "--listen", "127.0.0.1:0", "--tls-key", "server.key"],
        "tls-key" => &["serve", "--listen", "127.0.0.1:0", "--tls-cert", "server.crt"],
        _ if setting.commands.contains(Command::Job(JobKind::Run)) => {
            &["run", "null:", "--transactions", "1", "--rampup", "0s"]
        }
        "history" => &["isolation", "sqlite:isolation.sqlite"],
        "replay" => &["compare", "null:", "null:"],
        "test-dir" => &["doctor", "--host-test"],
        _ if setting.commands.contains(Command::Mcp) => &["mcp"],
        _ if setting.commands.contains(Command::Serve) => &["serve", "--listen", "127.0.0.1:0"],
        name => panic!("--{name}: which command has this path?"),
    }
}

/// Every setting that names a path, and the stores of servers.
fn settings() -> Vec<Case> {
    let is_path = |setting: &&SettingDef| matches!(setting.value, Some("FILE" | "DIR"));
    let case = |setting: &SettingDef| Case {
        arguments: [beside(setting), &["--"]].concat().iter().map(|&a| a.to_owned()).collect(),
        is_written: WRITTEN.contains(&setting.name),
        is_folder: setting.value == Some("DIR") || is_of_capture(setting),
        ..Case::of(&[])
    };
    let with_flag = |setting: &SettingDef| {
        let mut case = case(setting);
        *case.arguments.last_mut().unwrap() = format!("--{}", setting.name);
        case.arguments.push("{}".to_owned());
        case
    };
    let mut cases: Vec<Case> = SETTINGS.iter().filter(is_path).map(with_flag).collect();
    assert!(cases.len() > 12, "the paths are recognised by the name of their value");
    cases.push(Case::of(&["serve", "--listen", "127.0.0.1:0", "--store", "{}"]));
    cases.push(Case::of(&["mcp", "--store", "{}"]));
    cases.push(Case::of(&["jobs", "--store", "{}"]));
    cases
}

/// Every other way to name a file.
fn others() -> Vec<Case> {
    let run = |last: [&'static str; 2]| {
        Case::of(&["run", "null:", "--transactions", "1", last[0], last[1]])
    };
    let build = |target| Case::of(&["build", target, "-w", "kv"]);
    vec![
        build("sqlite:{}"),
        build("duckdb:{}"),
        Case::of(&["check", "sqlite:{}"]),
        Case::of(&["check", "duckdb:{}"]),
        Case::of(&["capture", "{}", "-o", "x.toml"]),
        Case::of(&["isolation", "check", "{}"]),
        Case::of(&["verify", "{}"]),
        Case::of(&["repeat", "{}", "null:"]),
        Case { is_folder: true, ..Case::of(&["board", "{}"]) },
        run(["--load", "steps:{}"]),
        run(["--recording", "{}"]),
        Case::of(&["run", "null:", "-w", "custom", "--workload-file", "{}"]),
        Case::of(&["run", "null:", "-w", "script", "--script", "{}"]),
        Case::of(&["run", "null:", "-w", "sysbench", "--script", "{}"]),
        Case::of(&["sysbench", "{}", "--mysql-host=127.0.0.1", "--mysql-port=1", "run"]),
        Case::of(&["check", "postgres://u@127.0.0.1:1/d?sslmode=verify-full&sslrootcert={}"]),
        Case::of(&["check", "postgres://u@127.0.0.1:1/d?sslmode=require&sslcert={}&sslkey={}"]),
        Case::of(&["check", "mysql://u@127.0.0.1:1/d?ssl-mode=VERIFY_CA&ssl-ca={}"]),
        Case::of(&["check", "trino://u@127.0.0.1:1/c/s?SSL=true&SSLTrustStorePath={}"]),
        Case::with("TRIPHAMMER_STORE", &["jobs"]),
        Case::with("TRIPHAMMER_DUCKDB", &["check", "duckdb:there"]),
        Case::with("TRIPHAMMER_ODBC", &["check", "odbc:DSN=x"]),
        Case::with("ODBCINI", &["check", "odbc:DSN=x"]).optional(),
        Case::with("SSL_CERT_FILE", &["run", "null:", "--otlp", "https://127.0.0.1:1"]),
        Case::with("PGPASSFILE", &["check", UNREACHABLE]).optional(),
        Case::with("PGSSLROOTCERT", &["check", "postgres://u@127.0.0.1:1/d?sslmode=verify-full"]),
    ]
}

/// Runs a case with a path; says what is wrong.
fn tried(program: &Program, case: &Case, path: &Path) -> Option<String> {
    let path = path.to_str().unwrap();
    let arguments: Vec<String> = case.arguments.iter().map(|a| a.replace("{}", path)).collect();
    let mut command = program.command(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    command.envs(case.variables.iter().map(|(name, value)| (name, value.replace("{}", path))));
    let mut child = command.spawn().unwrap();
    let clock = Clock::start();
    while child.try_wait().unwrap().is_none() {
        if clock.now().second() >= WAIT_S {
            signal(&child, "KILL");
            child.wait().unwrap();
            return Some(format!("{arguments:?} {:?}: no answer", case.variables));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let done = finish(child);
    let is_named = case.is_optional || done.err.contains(path);
    let is_right = done.code == 2 && is_named && done.err.len() < 2000;
    (!is_right).then(|| format!("{arguments:?} {:?}: {done:?}", case.variables))
}

#[test]
fn every_path_that_is_no_regular_file_is_refused_at_once() {
    let program = Program::with_duckdb();
    let log = "2024-01-01T00:00:00.000000Z\t    8 Query\tSELECT 1\n";
    std::fs::write(program.path("log"), log).unwrap();
    program.ok(&["run", "null:", "--vus", "1", "--transactions", "1", "--rampup", "0s"]);
    let key = program.path("key");
    let keygen = ["-q", "-t", "ed25519", "-N", "", "-f", key.to_str().unwrap()];
    assert!(Process::new("ssh-keygen").args(keygen).status().unwrap().success());
    program.ok(&["bundle", "last", "-o", BUNDLE, "--sign", "key"]);
    std::fs::write(program.path("there"), "").unwrap();
    triphammer_testbed::write_certificates(program.folder(), "u").unwrap();
    let pipe = program.path("pipe");
    assert!(Process::new("mkfifo").arg(&pipe).status().unwrap().success());
    let socket = program.path("socket");
    let _listener = UnixListener::bind(&socket).unwrap();
    let folder = program.path("folder");
    std::fs::create_dir(&folder).unwrap();
    let paths = [pipe, socket, folder.clone(), PathBuf::from("/dev/zero")];
    let cases: Vec<Case> = settings().into_iter().chain(others()).collect();
    let fits = |case: &Case, path: &PathBuf| {
        !(case.is_folder && *path == folder || case.is_written && path.starts_with("/dev"))
    };
    let all = cases.iter().flat_map(|case| paths.iter().map(move |path| (case, path)));
    let left = Mutex::new(all.filter(|(case, path)| fits(case, path)));
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some((case, path)) = { left.lock().unwrap().next() } {
                    wrong.lock().unwrap().extend(tried(&program, case, path));
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_signal_ends_a_server_at_every_moment_of_its_start() {
    for pause in [0, 5, 20, 60] {
        let program = Program::new();
        let mut child = program.start(&["serve", "--listen", "127.0.0.1:0"]);
        std::thread::sleep(Duration::from_millis(pause));
        signal(&child, "TERM");
        let clock = Clock::start();
        while child.try_wait().unwrap().is_none() {
            assert!(clock.now().second() < WAIT_S, "alive after {pause} ms and a signal");
            std::thread::sleep(Duration::from_millis(10));
        }
        finish(child);
    }
}
