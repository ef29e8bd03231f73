//! The CPU profile of a run (`--cpu-profile`): `perf` samples the stacks of all processes of this host
//! in the timed window, and they become those of the server, of the client, and of others.
//!
//! The installed tool is used, because it knows how to unwind stacks and to find symbols, also of
//! processes in containers. What it needs is tried before the run.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::ops::RangeInclusive;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::fs::{CWD, Mode, mkfifoat};
use tempfile::TempDir;
use triphammer_core::SpecError;
use triphammer_core::clock::{Clock, format_duration, parse_duration};
use triphammer_core::session::ServerProcess;
use triphammer_document::result::{
    CpuProfile, CpuSide, Function, Observed, ObserverGap, ProfiledSide, StackTree,
};
use triphammer_settings::Settings;
use triphammer_settings::files::Files;

use crate::host_metrics::{ProcessGroup, group_of};

/// Name of the setting.
pub const CPU_PROFILE: &str = "cpu-profile";
/// Most samples per second of a CPU: not a divisor of the periods of timers.
const FREQUENCY_MAX: u32 = 99;
/// Fewest samples per second of a CPU.
const FREQUENCY_MIN: u32 = 9;
/// Samples of all CPUs that are read after the run, about 2 ms each.
const SAMPLES_MAX: u32 = 20_000;
/// How stacks are unwound, with the bytes of each that are copied: many programs have no frame pointers.
const UNWINDING: &str = "dwarf,4096";
/// Lengths of a profile, which is a sample.
const LENGTHS: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_mins(10);
/// What a host needs for the profile of all of its processes.
const NEEDS: &str = "as root, with CAP_PERFMON, or with sysctl kernel.perf_event_paranoid=-1";
/// How perf is installed.
const INSTALL: &str =
    "apt-get install linux-perf (Debian), linux-tools-generic (Ubuntu), dnf install perf";

/// Samples the CPUs in the timed window of a run.
#[derive(Debug)]
pub struct CpuProfiler {
    /// Version of `perf`.
    tool: String,
    length: Duration,
    frequency_hz: u32,
    /// Whether all processes may be sampled.
    is_of_host: bool,
    folder: TempDir,
    server: Option<ProcessGroup>,
    server_processes: BTreeSet<u32>,
    recording: Option<Recording>,
    /// Time from the beginning of the window to the end of the profile.
    recorded: Duration,
}

/// `perf record`, which waits for the timed window. Its command is a `cat` that ends when this process drops its input, or
/// is killed.
#[derive(Debug)]
struct Recording {
    child: Child,
    /// Where perf reads whether it samples.
    control: File,
    /// When the window began.
    since: Option<Clock>,
    is_sampling: bool,
}

impl Recording {
    fn order(&mut self, order: &str) {
        // Nobody may read it any more; then there are no samples, which is noticed at the end.
        let _ = self.control.write_all(order.as_bytes());
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// Reads the setting: the maximum length of the profile.
///
/// # Errors
/// When it is 0, or too long for a profile.
pub fn length(settings: &mut Settings) -> Result<Option<Duration>, SpecError> {
    let show = |length: &Duration| format_duration(*length);
    match settings.optional(CPU_PROFILE, parse_duration, show, "none")? {
        Some(length) if !LENGTHS.contains(&length) => {
            let [min, max] = [LENGTHS.start(), LENGTHS.end()].map(|of| format_duration(*of));
            let message =
                format!("--{CPU_PROFILE} must be from {min} to {max}, got {}", show(&length));
            Err(SpecError::new(message).about(CPU_PROFILE))
        }
        length => Ok(length),
    }
}

impl CpuProfiler {
    /// Tries whether `perf` can sample all processes of this host, or at least this one.
    ///
    /// # Errors
    /// Says what is missing.
    pub fn find(length: Duration) -> Result<Self, SpecError> {
        let refused =
            |why: String| SpecError::new(format!("--{CPU_PROFILE}: {why}")).about(CPU_PROFILE);
        let version = Command::new("perf").arg("version").stdin(Stdio::null()).output();
        let tool = match version {
            Ok(done) if done.status.success() => {
                String::from_utf8_lossy(&done.stdout).trim().to_owned()
            }
            Ok(done) => {
                let why = String::from_utf8_lossy(&done.stderr).trim().to_owned();
                return Err(refused(format!("`perf version` failed: {why}; {INSTALL}")));
            }
            Err(error) => {
                return Err(refused(format!("`perf` cannot be used: {error}; {INSTALL}")));
            }
        };
        let folder =
            tempfile::tempdir().map_err(|error| refused(format!("a temporary folder: {error}")))?;
        let mut profiler = Self {
            tool,
            length,
            frequency_hz: frequency(length, cpus()),
            is_of_host: true,
            folder,
            server: None,
            server_processes: BTreeSet::new(),
            recording: None,
            recorded: Duration::ZERO,
        };
        if profiler.tried().is_err() {
            profiler.is_of_host = false;
            let why = profiler.tried();
            why.map_err(|why| {
                refused(format!("perf cannot sample: {why}; it needs to run {NEEDS}"))
            })?;
        }
        Ok(profiler)
    }

    /// What the profile lacks; `None` if nothing.
    #[must_use]
    pub fn lack(&self) -> Option<String> {
        (!self.is_of_host)
            .then(|| format!("the CPU profile is of this process only; for all: run {NEEDS}"))
    }

    /// The run begins, on this server: starts `perf`, which takes a while on a busy host.
    pub fn start(&mut self, server: Option<ServerProcess>) {
        self.server = server.and_then(|server| group_of(&Files::of_this_host(), server));
        self.recording = self.recording().ok();
    }

    /// The timed window begins.
    pub fn begin(&mut self) {
        self.look_for_sessions();
        if let Some(recording) = &mut self.recording {
            recording.order("enable\n");
            (recording.since, recording.is_sampling) = (Some(Clock::start()), true);
        }
    }

    /// A second of the run has passed: the profile may be long enough.
    pub fn second(&mut self) {
        let since = self.recording.as_ref().and_then(|recording| recording.since);
        if since.is_some_and(|since| since.now().duration() >= self.length) {
            self.stop();
        }
    }

    /// The timed window ends.
    pub fn stop(&mut self) {
        let Some(recording) = self.recording.as_mut().filter(|of| of.is_sampling) else { return };
        recording.order("disable\n");
        recording.is_sampling = false;
        self.recorded = recording.since.map(|since| since.now().duration()).unwrap_or_default();
        self.look_for_sessions();
    }

    /// Adds what was sampled to what was observed, or why there is nothing.
    pub fn add_to(self, observed: &mut Observed) {
        let gap = |hides: String| ObserverGap {
            name: CPU_PROFILE.to_owned(),
            hides,
            change: String::new(),
            part: None,
        };
        observed.gaps.extend(self.lack().map(gap));
        match self.end() {
            Ok(profile) => observed.cpu_profile = Some(profile),
            Err(why) => observed.gaps.push(gap(why)),
        }
    }

    /// Reads what was sampled; an error says why there is nothing.
    fn end(mut self) -> Result<CpuProfile, String> {
        self.stop();
        let recording = self.recording.take().ok_or("perf was not started")?;
        if recording.since.is_none() {
            return Err("the timed window did not begin".to_owned());
        }
        drop(recording);
        let (sides, seconds) = self.sides()?;
        if sides.is_empty() {
            return Err("perf recorded no sample".to_owned());
        }
        Ok(CpuProfile {
            tool: self.tool.clone(),
            seconds,
            frequency_hz: self.frequency_hz,
            is_of_host: self.is_of_host,
            sides,
        })
    }

    /// Starts `perf`, which does not sample yet.
    fn recording(&self) -> std::io::Result<Recording> {
        let control = self.folder.path().join("control");
        mkfifoat(CWD, &control, Mode::RUSR | Mode::WUSR)?;
        let option = format!("--control=fifo:{}", control.display());
        let mut command = self.record(&["-D", "-1", &option], "cat");
        let child =
            command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        // With both ways open, neither side waits for the other.
        let control = OpenOptions::new().read(true).write(true).open(control)?;
        Ok(Recording { child, control, since: None, is_sampling: false })
    }

    /// `perf record` of a command, into the folder.
    fn record(&self, options: &[&str], program: &str) -> Command {
        let mut perf = Command::new("perf");
        perf.args(["record", "-q", "-o"]).arg(self.folder.path().join("perf.data"));
        perf.args([
            "-e",
            "cpu-clock",
            "-F",
            &self.frequency_hz.to_string(),
            "--call-graph",
            UNWINDING,
        ]);
        match self.is_of_host {
            true => perf.arg("-a"),
            false => perf.args(["-p", &std::process::id().to_string()]),
        };
        // A group of its own: Ctrl-C at the terminal is not for it.
        perf.args(options).args(["--", program]).stdin(Stdio::null()).process_group(0);
        perf
    }

    /// Whether a short recording works.
    fn tried(&self) -> Result<(), String> {
        let done = self.record(&[], "true").output().map_err(|error| error.to_string())?;
        let text = String::from_utf8_lossy(&done.stderr);
        let first = text.lines().map(str::trim).find(|line| !line.is_empty() && *line != "Error:");
        match done.status.success() {
            true => Ok(()),
            false => Err(first.unwrap_or("no reason given").to_owned()),
        }
    }

    /// The server's processes of this moment: sessions come and go.
    fn look_for_sessions(&mut self) {
        let Some(ProcessGroup { process, .. }) = &self.server else { return };
        let files = Files::of_this_host();
        let children = files.text(&format!("proc/{process}/task/{process}/children"));
        let all = children.unwrap_or_default();
        let all = all.split_whitespace().chain([process.as_str()]);
        self.server_processes.extend(all.filter_map(|id| id.parse::<u32>().ok()));
    }

    /// Has `perf` print the samples, and adds them up by side; with the seconds that were sampled.
    fn sides(&self) -> Result<(Vec<ProfiledSide>, f64), String> {
        let mut perf = Command::new("perf");
        perf.args(["script", "--no-inline", "-F", "comm,pid,tid,cpu,ip,sym,dso", "-i"]);
        perf.arg(self.folder.path().join("perf.data"));
        perf.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut child = perf.spawn().map_err(|error| error.to_string())?;
        let (out, err) = (child.stdout.take(), child.stderr.take());
        // Warnings of missing symbols must not fill the pipe.
        let errors = std::thread::spawn(move || {
            let mut text = String::new();
            err.map(|mut err| err.read_to_string(&mut text));
            text
        });
        let mut trees: [StackTree; 3] = Default::default();
        let (mut samples, mut cpus) = (0_u32, BTreeSet::new());
        for Sample { process, cpu, stack } in
            Samples::of(BufReader::new(out.expect("it is a pipe")))
        {
            cpus.insert(cpu);
            samples = samples.saturating_add(1);
            if let Some(side) = self.side_of(process) {
                trees[side as usize].add(stack);
            }
        }
        let status = child.wait().map_err(|error| error.to_string())?;
        let errors = errors.join().unwrap_or_default();
        if !status.success() {
            return Err(format!(
                "perf script: {}",
                errors.lines().last().unwrap_or("no reason given")
            ));
        }
        // Idle CPUs are sampled, too, so that their number shows how long perf did: it may begin late on a busy host.
        let cpus = u32::try_from(cpus.len()).unwrap_or(u32::MAX).max(1);
        let seconds = match self.is_of_host {
            true => f64::from(samples) / f64::from(self.frequency_hz) / f64::from(cpus),
            false => self.recorded.as_secs_f64(),
        };
        let samples_of_cpu = f64::from(self.frequency_hz) * seconds;
        let sides = [CpuSide::Server, CpuSide::Client, CpuSide::Others].into_iter().zip(trees);
        let sides = sides.filter_map(|(side, tree)| tree.into_side(side, samples_of_cpu));
        Ok((sides.collect(), seconds))
    }

    /// Whose a process is; `None` for an idle CPU.
    fn side_of(&self, process: u32) -> Option<CpuSide> {
        match process {
            0 => None,
            own if own == std::process::id() => Some(CpuSide::Client),
            server if self.server_processes.contains(&server) => Some(CpuSide::Server),
            _ => Some(CpuSide::Others),
        }
    }
}

/// Samples per second of each CPU, so that all are few enough.
fn frequency(length: Duration, cpus: u32) -> u32 {
    let seconds = u32::try_from(length.as_secs()).unwrap_or(u32::MAX).max(1);
    (SAMPLES_MAX / seconds.saturating_mul(cpus.max(1)).max(1)).clamp(FREQUENCY_MIN, FREQUENCY_MAX)
}

fn cpus() -> u32 {
    std::thread::available_parallelism()
        .map_or(1, |count| u32::try_from(count.get()).unwrap_or(u32::MAX))
}

/// A sample of a CPU.
#[derive(Debug, PartialEq)]
struct Sample {
    /// 0 for an idle CPU.
    process: u32,
    cpu: u32,
    /// From the outermost function to the innermost.
    stack: Vec<Function>,
}

/// The samples that `perf script` prints: a line with the process, the frames from the innermost to
/// the outermost, an empty line.
struct Samples<R> {
    lines: std::io::Lines<R>,
}

impl<R: BufRead> Samples<R> {
    fn of(read: R) -> Self {
        Self { lines: read.lines() }
    }
}

impl<R: BufRead> Iterator for Samples<R> {
    type Item = Sample;

    fn next(&mut self) -> Option<Self::Item> {
        let mut lines = self.lines.by_ref().map_while(Result::ok);
        let head = lines.find(|line| !line.trim().is_empty())?;
        let frames = lines.take_while(|line| !line.trim().is_empty());
        let mut stack: Vec<Function> = frames.filter_map(|line| function(&line)).collect();
        stack.reverse();
        // Frames without symbols next to each other say no more than one.
        stack.dedup();
        // The name of a process may have spaces: `postgres 17593/17593 [001]`.
        let words = || head.split_whitespace().rev();
        let process = words().find_map(|word| word.split_once('/')?.0.parse().ok());
        let cpu = words().find_map(|word| word.strip_prefix('[')?.strip_suffix(']')?.parse().ok());
        let (process, cpu) = (process.unwrap_or_default(), cpu.unwrap_or_default());
        Some(Sample { process, cpu, stack })
    }
}

/// The function of a frame: `  84f __vdso_gettimeofday ([vdso])`.
fn function(line: &str) -> Option<Function> {
    /// Longest name: those of templates have no end.
    const NAME_MAX: usize = 120;
    let (_, rest) = line.trim().split_once(' ')?;
    let (name, module) = rest.rsplit_once(" (")?;
    let module = module.strip_suffix(')').unwrap_or(module);
    // A file that was replaced since: `(/usr/bin/x (deleted))`.
    let (name, module) = match (module, name.rsplit_once(" (")) {
        ("deleted)", Some((name, module))) => (name, module),
        _ => (name, module),
    };
    let module = match module {
        module if module.starts_with("[kernel") || module.starts_with("[guest") => "kernel",
        module => module.rsplit('/').next().unwrap_or(module),
    };
    let name = match name {
        "[unknown]" => format!("[{}]", module.trim_matches(['[', ']'])),
        name => name.chars().take(NAME_MAX).collect(),
    };
    Some((name, module.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `perf script` 6.1 prints samples.
    const PRINTED: &str = "\
opt cgu.0 15283/15299 [001]
\t         889a060 (anonymous namespace)::SROA::splitAlloca+0x6da (/usr/lib/libLLVM.so.22.1)
\t    7fa867f11030 [unknown] ([unknown])

postgres 17593/17593 [000]
\tffffffff8225a101 do_syscall_64 ([kernel.kallsyms])
\t             84f __vdso_gettimeofday ([vdso])
\t          473205 [unknown] (/usr/lib/postgresql/15/bin/postgres)
\t          3efcbc [unknown] (/usr/lib/postgresql/15/bin/postgres)
\t          152b06 main (/usr/lib/postgresql/15/bin/postgres (deleted))

";

    #[test]
    fn samples_are_read_as_perf_prints_them() {
        let samples: Vec<_> = Samples::of(PRINTED.as_bytes()).collect();
        let function = |name: &str, module: &str| (name.to_owned(), module.to_owned());
        assert_eq!(
            samples,
            [
                Sample {
                    process: 15283,
                    cpu: 1,
                    stack: vec![
                        function("[unknown]", "[unknown]"),
                        function(
                            "(anonymous namespace)::SROA::splitAlloca+0x6da",
                            "libLLVM.so.22.1"
                        ),
                    ]
                },
                Sample {
                    process: 17593,
                    cpu: 0,
                    stack: vec![
                        function("main", "postgres"),
                        function("[postgres]", "postgres"),
                        function("__vdso_gettimeofday", "[vdso]"),
                        function("do_syscall_64", "kernel"),
                    ]
                },
            ]
        );
    }

    #[test]
    fn long_profiles_and_large_hosts_are_sampled_more_seldom() {
        let at = |seconds, cpus| frequency(Duration::from_secs(seconds), cpus);
        assert_eq!((at(30, 2), at(30, 64), at(600, 64), at(0, 0)), (99, 10, 9, 99));
    }
}
