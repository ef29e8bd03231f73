//! `run --tui` on a terminal of its own, which script(1) makes.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::program::Program;

/// The program in a terminal of 80 by 24, between two looks at how the terminal is set.
struct Terminal {
    child: Child,
    keys: ChildStdin,
    written: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

/// What was left at the end.
struct Left {
    /// All that was written to the terminal.
    all: String,
    /// What was written after the view was gone.
    after: String,
    code: String,
}

impl Terminal {
    fn start(program: &Program, run: &str) -> Self {
        let triphammer = env!("CARGO_BIN_EXE_triphammer");
        let within = format!(
            "stty cols 80 rows 24; echo before $(stty -g); \
             sh -c 'echo $$ > pid; exec {triphammer} {run}'; echo code $?; echo after $(stty -g)"
        );
        let mut child = Command::new("script")
            .args(["-q", "-c", &within, "/dev/null"])
            .current_dir(program.folder())
            .env("TERM", "xterm")
            .env("TRIPHAMMER_STORE", program.path("jobs.sqlite"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (keys, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let written = Arc::new(Mutex::new(Vec::new()));
        let takes = Arc::clone(&written);
        let reader = std::thread::spawn(move || {
            let mut some = [0; 4096];
            while let Ok(length @ 1..) = output.read(&mut some) {
                takes.lock().unwrap().extend_from_slice(&some[..length]);
            }
        });
        Self { child, keys, written, reader }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.written.lock().unwrap()).into_owned()
    }

    fn wait_for(&self, text: &str) {
        for _ in 0..1200 {
            if self.text().contains(text) {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("waited in vain for {text}: {}", self.text());
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    /// Waits for the end; the terminal must be as it was.
    fn end(mut self) -> Left {
        self.wait_for("\nafter ");
        self.child.wait().unwrap();
        drop(self.keys);
        self.reader.join().unwrap();
        let all = String::from_utf8_lossy(&self.written.lock().unwrap()).into_owned();
        let told = |name: &str| {
            let line = all.lines().find_map(|line| line.strip_prefix(name));
            line.unwrap_or_else(|| panic!("{name} in {all}")).trim().to_owned()
        };
        assert_eq!(told("before "), told("after "), "the terminal is set as it was");
        let after = all.rsplit_once(LEAVE).unwrap_or_else(|| panic!("{all}")).1.to_owned();
        Left { after, code: told("code "), all }
    }
}

/// Leaves the alternate screen.
const LEAVE: &str = "\u{1b}[?1049l";

const LONG: &str = "run null:?service=1ms --tui --vus 2 --rampup 0s --duration 120s";

#[test]
fn a_run_is_shown_and_its_report_follows_on_the_terminal_as_it_was() {
    let program = Program::new();
    let run = "run null:?service=1ms --tui --vus 2 --rampup 0s --duration 3s";
    let left = Terminal::start(&program, run).end();
    assert_eq!(left.code, "0", "{}", left.all);
    let view = left.all.split_once(LEAVE).unwrap().0;
    for shown in ["NOPM", "TPM", "New-Order", "p95", "thread", "leave"] {
        assert!(view.contains(shown), "{shown} in {view}");
    }
    assert!(left.after.contains("NOPM") && left.after.contains("New-Order"), "{}", left.after);
}

#[test]
fn s_stops_as_ctrl_c_does_and_the_report_follows() {
    let program = Program::new();
    for key in ["s", "\u{3}"] {
        let mut terminal = Terminal::start(&program, LONG);
        terminal.wait_for("timed");
        terminal.press(key);
        let left = terminal.end();
        assert_eq!(left.code, "130", "{}", left.all);
        assert!(left.after.contains("stopping: transactions in flight end"), "{}", left.after);
        assert!(left.after.contains("NOPM"), "{}", left.after);
    }
}

#[test]
fn a_twice_aborts_and_the_first_only_asks() {
    let program = Program::new();
    let mut terminal = Terminal::start(&program, LONG);
    terminal.wait_for("timed");
    terminal.press("a");
    terminal.wait_for("abort?");
    terminal.press("a");
    let left = terminal.end();
    assert_eq!(left.code, "130", "{}", left.all);
    assert!(left.after.contains("aborting"), "{}", left.after);
}

#[test]
fn a_signal_from_elsewhere_gives_the_terminal_back() {
    let program = Program::new();
    let terminal = Terminal::start(&program, LONG);
    terminal.wait_for("timed");
    let pid = std::fs::read_to_string(program.path("pid")).unwrap();
    let sent = Command::new("kill").args(["-TERM", pid.trim()]).status();
    assert!(sent.unwrap().success());
    assert_eq!(terminal.end().code, "130");
}

#[test]
fn q_leaves_the_view_and_the_run_goes_on_with_the_live_line() {
    let program = Program::new();
    let run = "run null:?service=1ms --tui --vus 2 --rampup 0s --duration 6s";
    let mut terminal = Terminal::start(&program, run);
    terminal.wait_for("timed");
    terminal.press("q");
    terminal.wait_for("client CPU");
    let left = terminal.end();
    assert_eq!(left.code, "0", "{}", left.all);
    assert!(left.after.contains("timed 0:00:0") || left.after.contains("client CPU"));
}

#[test]
fn it_is_refused_where_it_cannot_be_with_what_to_do() {
    let program = Program::new();
    let run = ["run", "null:", "--tui"];
    let done = program.run(&run);
    assert_eq!(done.code, 2, "{}", done.err);
    assert!(done.err.contains("--tui needs a terminal"), "{}", done.err);
    let done = program.run(&[&run[..], &["--json"]].concat());
    assert_eq!(done.code, 2, "{}", done.err);
    assert!(done.err.contains("leave one of them out"), "{}", done.err);
}
