//! `--tui` on a separate terminal, created by script(1).

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::program::Program;

/// The program in a terminal whose settings are read before and after it.
struct Terminal {
    child: Child,
    keys: ChildStdin,
    written: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

/// State at the end.
struct Left {
    /// All that was written to the terminal.
    all: String,
    /// Output after the end of the view.
    after: String,
    code: String,
}

impl Terminal {
    /// Starts the program on 80 columns and 24 rows.
    fn start(program: &Program, run: &str) -> Self {
        Self::sized(program, run, [80, 24])
    }

    fn sized(program: &Program, run: &str, [columns, rows]: [u16; 2]) -> Self {
        let triphammer = env!("CARGO_BIN_EXE_triphammer");
        let within = format!(
            "stty cols {columns} rows {rows}; tty > tty; echo before $(stty -g); \
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

    /// Waits until the terminal has shown all of these at once.
    fn wait_to_see(&self, texts: &[&str]) -> String {
        let what = format!("{texts:?}");
        self.wait_for_screen(&what, |screen| texts.iter().all(|text| screen.contains(text)))
    }

    /// Waits for a screen, which may have been replaced by others meanwhile; returns its rows.
    fn wait_for_screen(&self, what: &str, is_it: impl Fn(&str) -> bool) -> String {
        let mut seen = 0;
        for _ in 0..1200 {
            let screens = screens(&self.text(), seen);
            // The last one may not be complete yet.
            seen += screens.len().saturating_sub(1);
            if let Some(screen) = screens.into_iter().find(|screen| is_it(screen)) {
                return screen;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("waited in vain to see {what}:\n{}", screens(&self.text(), seen).concat());
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

/// Maximum rows and columns of a screen in these tests.
const SCREEN: [usize; 2] = [60, 200];

/// The screens that were written, in order, without the first ones.
fn screens(written: &str, without: usize) -> Vec<String> {
    let view = written.rsplit_once(ENTER).map_or("", |(_, view)| view);
    let view = view.split(LEAVE).next().unwrap_or_default();
    let mut rows = vec![vec![' '; SCREEN[1]]; SCREEN[0]];
    let drawn = view.split_inclusive(DRAWN).enumerate().filter_map(|(place, changes)| {
        draw(&mut rows, changes);
        let text = || rows.iter().map(|row| format!("{}\n", String::from_iter(row).trim_end()));
        (place >= without).then(|| text().collect())
    });
    drawn.collect()
}

/// Applies changes to a screen: moves of the cursor, clearing, and characters are all that a view writes.
fn draw(rows: &mut [Vec<char>], changes: &str) {
    let (mut at, mut rest) = ([0, 0], changes.chars());
    while let Some(next) = rest.next() {
        if next != '\u{1b}' {
            if let Some(cell) = rows.get_mut(at[0]).and_then(|row| row.get_mut(at[1])) {
                *cell = next;
            }
            at[1] += 1;
            continue;
        }
        if rest.next() != Some('[') {
            continue;
        }
        let mut numbers = String::new();
        let end = rest.by_ref().find(|next| {
            numbers.push(*next);
            next.is_ascii_alphabetic()
        });
        let number = |place: usize| {
            let number = numbers.trim_end_matches(char::is_alphabetic).split(';').nth(place);
            number.and_then(|text| text.parse::<usize>().ok()).unwrap_or(1) - 1
        };
        match end {
            Some('H') => at = [number(0), number(1)],
            Some('J') => rows.iter_mut().for_each(|row| row.fill(' ')),
            _ => {}
        }
    }
}

/// Enters the alternate screen.
const ENTER: &str = "\u{1b}[?1049h";
/// Hides the cursor, after all changes of a screen.
const DRAWN: &str = "\u{1b}[?25l";
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
fn at_80_by_24_charts_have_axes_and_nothing_is_cut() {
    let program = Program::new();
    let mut terminal = Terminal::start(&program, LONG);
    let screen = terminal.wait_to_see(&["NOPM", "per min", "p95", " ms", "┤", "0:00:00", "p99 ms"]);
    let rows: Vec<&str> = screen.lines().filter(|row| !row.is_empty()).collect();
    assert!(rows.len() <= 24 && rows.iter().all(|row| row.chars().count() <= 80), "{screen}");
    let last = rows.last().unwrap();
    assert!(last.contains("s stop") && last.contains("? help"), "{screen}");
    terminal.press("s");
    assert_eq!(terminal.end().code, "130");
}

#[test]
fn a_larger_terminal_is_used_in_full_also_when_it_grows_meanwhile() {
    let program = Program::new();
    for (from, grows) in [([160, 50], false), ([80, 24], true)] {
        let mut terminal = Terminal::sized(&program, LONG, from);
        terminal.wait_for("timed");
        if grows {
            let tty = std::fs::read_to_string(program.path("tty")).unwrap();
            let size = ["cols", "160", "rows", "50"];
            let set = Command::new("stty").args(["-F", tty.trim()]).args(size).status();
            assert!(set.unwrap().success());
        }
        let seen = ["NOPM", "p95", "client thread", "sessions lost", "max ms", "0:00:00"];
        let screen = terminal.wait_to_see(&seen);
        let widest = screen.lines().map(|row| row.trim_end().chars().count()).max();
        assert!(widest.is_some_and(|widest| (150..=160).contains(&widest)), "{screen}");
        assert!(screen.lines().nth(49).is_some_and(|row| row.contains("s stop")), "{screen}");
        terminal.press("s");
        assert_eq!(terminal.end().code, "130");
    }
}

#[test]
fn a_profile_shows_its_levels_so_far_beside_the_run_that_goes_on() {
    let program = Program::new();
    let profile = "profile null:?service=1ms --tui --vus 1,2 --repeats 2 --rampup 0s --duration 2s \
                   --cool-down 0s";
    for size in [[80, 24], [160, 50]] {
        let terminal = Terminal::sized(&program, profile, size);
        terminal.wait_to_see(&["Runs so far", "run 1 of 4: "]);
        let screen =
            terminal.wait_to_see(&["run 3 of 4: ", "1 virtual user ", "2 virtual users", " ms"]);
        assert!(screen.contains("per min") && screen.contains("0:00:00"), "{screen}");
        let left = terminal.end();
        assert_eq!(left.code, "0", "{}", left.all);
        assert!(left.after.contains("virtual users"), "{}", left.after);
    }
}

#[test]
fn a_search_for_the_capacity_shows_its_probes_and_can_be_stopped() {
    let program = Program::new();
    let search = "capacity null:?service=1ms --tui --vus 4 --rampup 0s --duration 3s --cool-down 0s \
                  --limit \"all.p95 < 400ms\"";
    let mut terminal = Terminal::start(&program, search);
    let screen = terminal.wait_to_see(&["Runs so far", "run 2", "transactions per second", " ms"]);
    assert!(screen.contains("per min"), "{screen}");
    terminal.press("s");
    let left = terminal.end();
    assert_eq!(left.code, "130", "{}", left.all);
    assert!(left.after.contains("--resume"), "{}", left.after);
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
        assert!(
            left.after.contains("stopping: waiting for transactions in flight"),
            "{}",
            left.after
        );
        assert!(left.after.contains("NOPM"), "{}", left.after);
    }
}

#[test]
fn plus_and_minus_change_the_load_and_what_is_impossible_has_its_reason() {
    let program = Program::new();
    let begun = |screen: &str| screen.contains("timed") && screen.contains("0:00:03");
    let open = "run null:?service=1ms --tui --load rate:100/s --vus 4 --rampup 0s --duration 120s";
    for (run, keys) in [
        (
            open,
            [("+", "the rate changed from 100 to 110"), ("-", "the rate changed from 110 to 99")],
        ),
        (
            LONG,
            [
                ("+", "not changed: users must be from 1 to 2"),
                ("-", "the users changed from 2 to 1"),
            ],
        ),
    ] {
        let mut terminal = Terminal::start(&program, run);
        terminal.wait_for_screen("three seconds", begun);
        for (key, message) in keys {
            terminal.press(key);
            terminal.wait_to_see(&[message]);
            // Another rate begins with the next second, and only then can it change again.
            std::thread::sleep(Duration::from_millis(1_200));
        }
        terminal.press("s");
        assert_eq!(terminal.end().code, "130");
        let report = program.ok(&["report", "last"]);
        assert!(report.contains("by request"), "{report}");
    }
}

#[test]
fn a_twice_aborts_and_the_first_only_asks() {
    let program = Program::new();
    let mut terminal = Terminal::start(&program, LONG);
    // An abort in the ramp-up leaves no window, which is a failure of its own.
    let after = |screen: &str| (2..60).any(|second| screen.contains(&format!("0:00:{second:02}")));
    terminal.wait_for_screen("two seconds", |screen| screen.contains("timed") && after(screen));
    terminal.press("a");
    terminal.wait_for("abort and abandon");
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

#[cfg(target_os = "linux")]
#[test]
fn a_terminal_that_disconnects_ends_the_run_which_is_stored() {
    let program = Program::new();
    let mut terminal = Terminal::start(&program, LONG);
    terminal.wait_for("timed");
    let pid = std::fs::read_to_string(program.path("pid")).unwrap();
    // Its death closes the terminal.
    terminal.child.kill().unwrap();
    terminal.child.wait().unwrap();
    let status = format!("/proc/{}/stat", pid.trim());
    let lives = || std::fs::read_to_string(&status).is_ok_and(|stat| !stat.contains(") Z "));
    let ended = (0..600).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        !lives()
    });
    assert!(ended, "the program outlives its terminal");
    let jobs = program.run(&["jobs"]);
    assert!(jobs.out.contains("interrupted"), "{}", jobs.out);
}

#[test]
fn q_leaves_the_view_and_the_run_goes_on_with_the_live_line() {
    let program = Program::new();
    let mut terminal = Terminal::start(&program, LONG);
    terminal.wait_for("timed");
    terminal.press("q");
    terminal.wait_for("  client CPU ");
    let pid = std::fs::read_to_string(program.path("pid")).unwrap();
    let sent = Command::new("kill").args(["-INT", pid.trim()]).status();
    assert!(sent.unwrap().success());
    let left = terminal.end();
    assert_eq!(left.code, "130", "{}", left.all);
    assert!(left.after.contains("timed 0:00:0") || left.after.contains("  client CPU "));
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
    assert!(done.err.contains("omit one of them"), "{}", done.err);
}
