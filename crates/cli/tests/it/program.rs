//! Runs the program in a separate folder, without the caller's environment.

use std::io::{BufRead, BufReader, Lines, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;
use triphammer_core::clock::Clock;

/// A temporary directory in which the program runs.
pub struct Program {
    folder: TempDir,
    variables: Vec<(String, String)>,
}

/// Output and exit code of a command.
#[derive(Debug)]
pub struct Done {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Program {
    pub fn new() -> Self {
        Self { folder: TempDir::new().unwrap(), variables: Vec::new() }
    }

    /// Finds DuckDB's library, which lies outside its folder.
    pub fn with_duckdb() -> Self {
        let mut program = Self::new();
        let library = triphammer_testbed::duckdb_library().unwrap();
        program.set("TRIPHAMMER_DUCKDB", library.to_str().unwrap());
        program
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn set(&mut self, name: &str, value: &str) {
        self.variables.push((name.to_owned(), value.to_owned()));
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = self.private(env!("CARGO_BIN_EXE_triphammer"));
        command.args(args);
        command
    }

    /// A program with this home and store, and nothing else of the environment.
    fn private(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.folder.path())
            .env_clear()
            .env("HOME", self.folder.path())
            .env("TRIPHAMMER_STORE", self.path("jobs.sqlite"))
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn start(&self, args: &[&str]) -> Child {
        self.command(args).spawn().unwrap()
    }

    /// Runs a script of the shell in which the program is `triphammer`, with these variables.
    pub fn shell(&self, script: &str, variables: &[(&str, &str)]) -> Done {
        let folder = Path::new(env!("CARGO_BIN_EXE_triphammer")).parent().unwrap();
        let mut shell = self.private("sh");
        shell.args(["-c", script]).envs(variables.iter().copied());
        shell.env("PATH", format!("{}:/usr/bin:/bin", folder.display()));
        finish(shell.spawn().unwrap())
    }

    /// Starts it with an input to write to.
    pub fn start_with_input(&self, args: &[&str]) -> Child {
        self.command(args).stdin(Stdio::piped()).spawn().unwrap()
    }

    pub fn run(&self, args: &[&str]) -> Done {
        finish(self.start(args))
    }

    /// Runs, and expects success.
    pub fn ok(&self, args: &[&str]) -> String {
        let done = self.run(args);
        assert_eq!(done.code, 0, "{args:?}\n{}\n{}", done.out, done.err);
        done.out
    }

    /// Runs with `--json`, and expects success.
    pub fn json(&self, args: &[&str]) -> serde_json::Value {
        let mut args = args.to_vec();
        args.push("--json");
        serde_json::from_str(&self.ok(&args)).unwrap()
    }

    /// Waits until the store contains a number of seconds of runs; they arrive in batches of five.
    pub fn wait_for_seconds(&self, seconds: i64, child: &mut Child) {
        let sql = "SELECT count(*) FROM seconds";
        wait_until(child, "seconds", || self.number("jobs.sqlite", sql) >= seconds);
    }

    /// The number returned by a query on an SQLite file that may be being written; 0 if it fails.
    pub fn number(&self, file: &str, sql: &str) -> i64 {
        let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
        let asked = rusqlite::Connection::open_with_flags(self.path(file), flags)
            .and_then(|file| file.query_row(sql, [], |row| row.get(0)));
        asked.unwrap_or_default()
    }

    /// Every file below the folder, as bytes.
    pub fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        std::fs::read_dir(self.folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.is_file())
            .map(|path| (path.clone(), std::fs::read(path).unwrap()))
            .collect()
    }
}

pub fn finish(child: Child) -> Done {
    let output = child.wait_with_output().unwrap();
    Done {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Lines of a program's stderr. Other lines are read too, so that the program does not block on a
/// full pipe.
pub struct Messages(Option<Lines<BufReader<ChildStderr>>>);

impl Messages {
    pub fn by(child: &mut Child) -> Self {
        Self(Some(BufReader::new(child.stderr.take().unwrap()).lines()))
    }

    /// Reads until a line starts with this text.
    pub fn wait_for(&mut self, beginning: &str) {
        self.wait_for_any(&[beginning]);
    }

    /// Reads until a line starts with one of these texts.
    pub fn wait_for_any(&mut self, beginnings: &[&str]) {
        let what = format!("a line that begins with {beginnings:?}");
        self.wait_for_line(&what, |line| beginnings.iter().any(|text| line.starts_with(text)));
    }

    /// Reads until a line suits.
    pub fn wait_for_line(&mut self, what: &str, suits: impl Fn(&str) -> bool) {
        let mut lines = self.0.iter_mut().flatten().map_while(Result::ok);
        assert!(lines.any(|line| suits(&line)), "there was not {what}");
    }

    /// What follows, to its end.
    pub fn rest(&mut self) -> Vec<String> {
        self.0.iter_mut().flatten().map_while(Result::ok).collect()
    }

    /// Reads until the program has noticed the first Ctrl-C: the kernel merges a second one with one
    /// that is pending.
    pub fn wait_for_interrupt(&mut self) {
        self.wait_for_any(&["stopping: ", "interrupted"]);
    }
}

impl Drop for Messages {
    fn drop(&mut self) {
        let rest = self.0.take();
        std::thread::spawn(move || rest.into_iter().flatten().for_each(drop));
    }
}

/// Waits until something holds, while a program runs.
pub fn wait_until(child: &mut Child, what: &str, mut holds: impl FnMut() -> bool) {
    until(what, || {
        let has_ended = child.try_wait().unwrap().is_some();
        let holds = holds();
        if has_ended && !holds {
            let mut said = String::new();
            if let Some(err) = &mut child.stderr {
                let _ = err.read_to_string(&mut said);
            }
            panic!("the program ended before there were {what}: {said}");
        }
        holds
    });
}

/// Waits until something holds.
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let clock = Clock::start();
    while !holds() {
        assert!(clock.now().second() < 120, "no {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Whether a program has a thread with this name.
pub fn has_thread(process: u32, name: &str) -> bool {
    let mut tasks = std::fs::read_dir(format!("/proc/{process}/task")).unwrap().flatten();
    tasks.any(|task| {
        std::fs::read_to_string(task.path().join("comm")).is_ok_and(|n| n.trim_end() == name)
    })
}

/// Sends a signal by name: `INT`.
pub fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status();
    assert!(sent.unwrap().success());
}
