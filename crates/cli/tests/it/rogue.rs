//! Servers that are silent, answer nonsense, or never finish; systems that run out of resources;
//! and absurd sizes and files. The program ends in time, with a message and without a panic.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use triphammer_core::clock::Clock;
use triphammer_testbed::{Framing, Meddler, Meddling, fuzz_settings};

use crate::program::{Done, Messages, Program, finish, signal};
use crate::servers::{self, Mariadb, Postgres, Product, name_of};

/// Maximum time of a command whose waits are limited to a second each; generous, because other
/// programs share these CPUs.
const IN_TIME: Duration = Duration::from_secs(120);
/// Default seconds of broken messages for each server.
const FUZZ_SECONDS: u64 = 15;
/// Short limits, as settings.
const SHORT: [&str; 6] =
    ["--connect-timeout", "1s", "--query-timeout", "1s", "--drain-timeout", "1s"];

/// A database of its own on the shared server, and its targets.
struct Site {
    product: Product,
    /// The target without anything between: by a line that can be read.
    direct: String,
}

impl Site {
    fn empty(product: Product) -> Self {
        Self::of(product, servers::Site::shared(product).fresh_database())
    }

    /// With a warehouse of TPROC-C.
    fn built(product: Product) -> Self {
        Self::of(product, servers::Site::built(product))
    }

    fn of(product: Product, target: String) -> Self {
        let plain = match product {
            Postgres => "sslmode=disable",
            Mariadb => "ssl-mode=DISABLED",
        };
        Self { product, direct: format!("{target}?{plain}") }
    }

    /// A server that meddles, and the target behind it.
    fn meddle(&self, meddling: Meddling) -> (Meddler, String) {
        let framing = match self.product {
            Postgres => Framing::Postgres,
            Mariadb => Framing::Mysql,
        };
        let host = self.direct.split_once('@').unwrap().1;
        let upstream = host.split_once('/').unwrap().0.split_once(':').unwrap().1;
        let meddler = Meddler::start(upstream.parse().unwrap(), framing, meddling);
        let target =
            self.direct.replace(&format!(":{upstream}/"), &format!(":{}/", meddler.port()));
        (meddler, target)
    }

    fn number(&self, sql: &str) -> i64 {
        let rows = servers::Site::shared(self.product).run(name_of(&self.direct), sql);
        rows[0][0].as_deref().unwrap().parse().unwrap()
    }
}

/// The end of a command that must come in time.
fn end_of(mut child: Child, what: &str) -> Done {
    let clock = Clock::start();
    while child.try_wait().unwrap().is_none() {
        if clock.now().duration() > IN_TIME {
            let _ = child.kill();
            panic!("{what}: no end; {}", finish(child).err);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let done = finish(child);
    assert!(!done.err.contains("panicked"), "{what}: {}", done.err);
    assert!((0..=2).contains(&done.code) || done.code == 130, "{what}: {done:?}");
    done
}

/// Every command with short limits, and the arguments after its target.
const COMMANDS: [&[&str]; 7] = [
    &["build", "--replace", "--jobs", "2"],
    &["check", "--jobs", "2"],
    &["run", "--vus", "2", "--rampup", "0s", "--duration", "1s"],
    &["profile", "--vus", "1,2", "--repeats", "1", "--rampup", "0s", "--duration", "1s"],
    &[
        "capacity",
        "--limit",
        "all.p95 < 1s",
        "--rampup",
        "0s",
        "--duration",
        "1s",
        "--max-rate",
        "2",
    ],
    &["compare", "--ab", "--pairs", "5", "--rampup", "0s", "--duration", "1s", "--cool-down", "0s"],
    &["drop", "--yes"],
];

fn start(program: &Program, command: &[&str], target: &str, limits: &[&str]) -> Child {
    let (name, rest) = command.split_first().unwrap();
    let mut args = vec![*name, target];
    // The noise of A against A.
    args.extend((*name == "compare").then_some(target));
    args.extend(rest);
    let takes_drain = !["build", "check", "drop"].contains(name);
    args.extend(if takes_drain { limits } else { &limits[..limits.len().min(4)] });
    program.start(&args)
}

/// Builds again; the server may need a while to notice that earlier sessions are gone.
fn rebuild(program: &Program, direct: &str) {
    let clock = Clock::start();
    loop {
        let done = program.run(&["build", direct, "--jobs", "2", "--replace", "--force"]);
        if done.code == 0 {
            return;
        }
        let is_held = done.err.contains("wait until it has finished");
        assert!(is_held && clock.now().duration() < IN_TIME, "{done:?}");
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// A server that falls silent after a number of messages: at the login, the lock, the settings, in
/// the work, at the end.
fn silence_ends_every_command(product: Product) {
    let site = Site::built(product);
    let program = Program::new();
    for (place, command) in COMMANDS.into_iter().enumerate() {
        // Early messages are tested one by one, later ones by bisection. A complete build or drop
        // comes last.
        let mut stages = vec![0, 2, 5, 9, 13, 20];
        stages.extend([60].iter().filter(|_| !["build", "drop"].contains(&command[0])));
        let running: Vec<_> = stages
            .into_iter()
            .map(|after| {
                let (meddler, target) = site.meddle(Meddling::Silence { after });
                (after, start(&program, command, &target, &SHORT), meddler)
            })
            .collect();
        for (after, child, meddler) in running {
            let what = format!("{} after {after} messages", command[0]);
            let done = end_of(child, &what);
            // Some are done with so many messages.
            if meddler.messages() > after {
                assert_ne!(done.code, 0, "{what} of {}: {done:?}", meddler.messages());
            }
        }
        if ["build", "drop"].contains(&command[0]) && place == 0 {
            rebuild(&program, &site.direct);
        }
    }
}

#[test]
fn an_error_about_prepared_statements_leads_to_the_pooler() {
    let site = Site::empty(Postgres);
    let program = Program::new();
    program.ok(&["build", &site.direct, "-w", "tpc-b"]);
    for (code, message) in [
        ("42P05", "prepared statement \"1\" already exists"),
        ("26000", "prepared statement \"1\" does not exist"),
        ("26000", "unnamed prepared statement does not exist"),
    ] {
        let (_meddler, target) = site.meddle(Meddling::RejectParse { code, message });
        for command in ["build", "check", "run"] {
            let done = program.run(&[command, &target, "-w", "tpc-b"]);
            assert_eq!(done.code, 2, "{command}: {done:?}");
            assert!(done.err.contains(message), "{command}: {}", done.err);
            let advice = "loses prepared statements: use --protocol extended or simple, or connect";
            assert_eq!(done.err.matches(advice).count(), 1, "{command}: {}", done.err);
        }
    }
}

/// An endless row does not fill memory, and the query ends.
fn endless_rows_end_every_command(product: Product) {
    let site = Site::built(product);
    let program = Program::new();
    let mut repeated = 0;
    for command in [COMMANDS[1], COMMANDS[2], COMMANDS[6]] {
        for row in [1, 3, 30] {
            let (meddler, target) = site.meddle(Meddling::Endless { row });
            let mut child = start(&program, command, &target, &SHORT);
            let what = format!("{} with an endless row {row}", command[0]);
            let peak = watch_memory(&mut child);
            end_of(child, &what);
            assert!(peak < 600 * 1024, "{what}: {peak} KiB");
            repeated += meddler.broken();
        }
    }
    assert!(repeated > 1000, "{repeated}");
}

/// Waits for the end, and returns the peak memory in KiB.
pub fn watch_memory(child: &mut Child) -> u64 {
    let mut peak = 0;
    let clock = Clock::start();
    while child.try_wait().unwrap().is_none() && clock.now().duration() < IN_TIME {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id()));
        let line = status.unwrap_or_default();
        let kib = line.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        peak = peak.max(kib.map_or(0, |k| k.trim().trim_end_matches(" kB").parse().unwrap()));
        std::thread::sleep(Duration::from_millis(20));
    }
    peak
}

/// One byte at a time is slow, but correct.
fn a_byte_at_a_time_is_enough(product: Product) {
    let site = Site::built(product);
    let program = Program::new();
    let (_meddler, target) = site.meddle(Meddling::Drip);
    let run = ["run", &target, "--vus", "2", "--transactions", "20", "--mode", "procedures"];
    let result = program.json(&run);
    assert_eq!(result["primary_metric"]["verification"]["verdict"], "verified");
}

/// Two Ctrl-C end a command that waits for a silent server, whatever the limits are.
fn two_interrupts_end_what_waits(product: Product) {
    let site = Site::built(product);
    let program = Program::new();
    for command in [COMMANDS[2], COMMANDS[3], COMMANDS[4], COMMANDS[5], COMMANDS[0]] {
        for after in [9, 60] {
            let (meddler, target) = site.meddle(Meddling::Silence { after });
            let mut child = start(&program, command, &target, &["--connect-timeout", "60s"]);
            let mut told = Messages::by(&mut child);
            while meddler.messages() <= after {
                std::thread::sleep(Duration::from_millis(10));
            }
            signal(&child, "INT");
            told.wait_for_interrupt();
            let _ = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
            let clock = Clock::start();
            let what = format!("{} after {after} messages", command[0]);
            let done = end_of(child, &what);
            assert_eq!(done.code, 130, "{what}: {done:?}");
            // Two seconds, and what a busy machine may take: far less than the minute to connect.
            assert!(clock.now().duration() < Duration::from_secs(30), "{what}");
        }
    }
}

/// Randomly corrupted messages, from seeds: every run ends, and a run reported as verified is
/// verified.
fn broken_messages_make_no_wrong_result(product: Product) {
    let site = Site::built(product);
    let program = Program::new();
    let (first, length) = fuzz_settings(FUZZ_SECONDS);
    let (clock, mut seed, mut verified) = (Clock::start(), first, 0);
    let orders = "SELECT count(*) FROM orders";
    while clock.now().duration() < length {
        let every = [30, 300, 3_000][usize::try_from(seed % 3).unwrap()];
        let (meddler, target) = site.meddle(Meddling::Random { seed, every });
        let before = site.number(orders);
        let run = ["run", "--vus", "4", "--rampup", "0s", "--duration", "1s", "--json"];
        let what = format!("TRIPHAMMER_FUZZ_SEED={seed}");
        let mut child = start(&program, &run, &target, &SHORT);
        let reading = child.stdout.take().unwrap();
        let out = std::thread::spawn(move || std::io::read_to_string(reading).unwrap());
        let done = end_of(child, &what);
        let out = out.join().unwrap();
        if let Ok(result) = serde_json::from_str::<serde_json::Value>(&out) {
            let verification = &result["primary_metric"]["verification"];
            if verification["verdict"] == "verified" {
                verified += 1;
                let counted = &result["run"]["types"][0];
                let committed = counted["committed"].as_i64().unwrap();
                assert_eq!(site.number(orders) - before, committed, "{what}: {verification}");
            }
        }
        assert!(done.code != 0 || !out.is_empty(), "{what}: {done:?}");
        drop(meddler);
        seed += 1;
    }
    eprintln!("seeds {first} to {}: {verified} runs verified", seed - 1);
}

crate::servers::tests! {
    silence_ends_every_command,
        postgres: ignore = "slow: tools/test-matrix.py slow",
        mysql: ignore = "slow: tools/test-matrix.py slow";
    endless_rows_end_every_command, mysql: ignore = "slow: tools/test-matrix.py slow";
    a_byte_at_a_time_is_enough;
    two_interrupts_end_what_waits;
    broken_messages_make_no_wrong_result;
}

/// Limits of the system: files, threads, memory.
#[test]
fn a_system_that_refuses_is_an_error_and_no_panic() {
    let program = Program::new();
    let limited = |limit: &str, rest: &str| {
        let shell =
            format!("ulimit {limit}; exec \"$0\" run null: --rampup 0s --duration 1s {rest}");
        let binary = env!("CARGO_BIN_EXE_triphammer");
        let child = Command::new("sh")
            .args(["-c", &shell, binary])
            .current_dir(program.folder())
            .env_clear()
            .env("HOME", program.folder())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        end_of(child, &format!("ulimit {limit}"))
    };
    let mut refused = 0;
    for files in 4..44 {
        let done = limited(&format!("-n {files}"), "--threads 2 --vus 2");
        refused += u32::from(done.code == 2);
    }
    assert!(refused > 3, "{refused}");
    let done = limited("-v 1000000", "--vus 100000");
    assert_eq!(done.code, 2, "{}", done.err);
    assert!(done.err.contains("MiB of memory"), "{}", done.err);
}

/// Devices and pipes are not settings files.
#[test]
fn only_short_regular_files_are_read() {
    let program = Program::new();
    let made = Command::new("mkfifo").arg(program.path("pipe")).status().unwrap();
    assert!(made.success());
    std::fs::write(program.path("long"), vec![b'#'; 70_000]).unwrap();
    for (file, why) in [
        ("pipe", "not a regular file"),
        ("/dev/zero", "not a regular file"),
        ("long", "longer than 64 KiB"),
    ] {
        let load = format!("steps:{file}");
        for args in [
            &["run", "null:", "--password-file", file][..],
            &["run", "null:", "--job-file", file],
            &["run", "null:", "--load", &load],
            &["serve", "--listen", "127.0.0.1:0", "--token-file", file],
        ] {
            let done = end_of(program.start(args), &format!("{args:?}"));
            assert_eq!(done.code, 2, "{args:?}");
            assert!(done.err.contains(why), "{args:?}: {}", done.err);
        }
        if file != "long" {
            let target =
                format!("postgres://u@127.0.0.1:1/d?sslmode=verify-full&sslrootcert={file}");
            let done = end_of(program.start(&["run", &target]), &target);
            assert_eq!(done.code, 2);
            assert!(done.err.contains(why), "{}", done.err);
        }
    }
}
