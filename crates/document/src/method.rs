//! Judges how a run was made, in plain words: what a reader of its figures should know before
//! believing or comparing them. Verdicts that the result already has are repeated, not made again.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_core::pace::Load;
use triphammer_settings::format::{bytes, counted, duration, percent, scale};

use crate::doctor::SetupVerdict;
use crate::result::{Bottleneck, RunResult, Steady, Verdict, WarmUp};

/// Shortest window, in seconds, whose figures are more than a first impression.
const WINDOW_MIN_S: f64 = 60.0;
/// Shortest measurement interval of TPC-C, in seconds.
const TPC_C_INTERVAL_S: f64 = 7_200.0;
/// Terminals per warehouse of TPC-C.
const TPC_C_TERMINALS: f64 = 10.0;

/// A judgement of one aspect of the method.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MethodLine {
    /// The run that it is about; `None` for an aspect of the whole job.
    pub job: Option<i64>,
    /// The aspect: `length`, `ramp-up`, `settings`.
    pub aspect: String,
    /// Judgement of it.
    pub verdict: SetupVerdict,
    /// The judgement in words.
    pub words: String,
}

/// The judgements of several runs, the worst first: equal ones once, with words that say of which runs,
/// such as ` (3 runs)`.
#[must_use]
pub fn of_runs(all: &[MethodLine]) -> Vec<(&MethodLine, String)> {
    let mut shown: Vec<(&MethodLine, usize)> = Vec::new();
    for line in all {
        let is_same = |of: &&mut (&MethodLine, usize)| {
            (&of.0.aspect, &of.0.words) == (&line.aspect, &line.words)
        };
        match shown.iter_mut().find(is_same) {
            Some(of) => of.1 += 1,
            None => shown.push((line, 1)),
        }
    }
    // Stable: within a verdict, the order is that of the first run.
    shown.sort_by_key(|(line, _)| std::cmp::Reverse(line.verdict));
    let runs = all.iter().filter_map(|line| line.job).collect::<BTreeSet<_>>().len();
    let of = |line: &MethodLine, times: usize| match times {
        _ if runs < 2 => String::new(),
        times if times == runs => " (all runs)".to_owned(),
        1 => line.job.map(|job| format!(" (job {job})")).unwrap_or_default(),
        times => format!(" ({times} runs)"),
    };
    shown.into_iter().map(|(line, times)| (line, of(line, times))).collect()
}

/// Judges the method of a run.
#[must_use]
pub fn judge(result: &RunResult) -> Vec<MethodLine> {
    let mut lines = Lines { job: result.job, all: Vec::new() };
    if result.queries.is_none() {
        length(result, &mut lines);
        steadiness(result, &mut lines);
    }
    failures(result, &mut lines);
    verification(result, &mut lines);
    settings(result, &mut lines);
    memory(result, &mut lines);
    client(result, &mut lines);
    standard(result, &mut lines);
    lines.all
}

struct Lines {
    job: Option<i64>,
    all: Vec<MethodLine>,
}

impl Lines {
    fn add(&mut self, aspect: &str, verdict: SetupVerdict, words: impl Into<String>) {
        let (job, aspect, words) = (self.job, aspect.to_owned(), words.into());
        self.all.push(MethodLine { job, aspect, verdict, words });
    }
}

fn length(result: &RunResult, lines: &mut Lines) {
    let window = result.durations.window_s;
    let shortest = result.steadiness.as_ref().map_or(0.0, |of| of.shortest_s as f64);
    let (verdict, words) = match window {
        w if w < WINDOW_MIN_S => (
            SetupVerdict::Wrong,
            format!("a window of {} is a first impression, not a measurement", duration(w)),
        ),
        w if w < shortest => (
            SetupVerdict::Look,
            format!(
                "a window of {} has less than two periods of the server's periodic work; {} would",
                duration(w),
                duration(shortest)
            ),
        ),
        w => (SetupVerdict::Fine, format!("a window of {}", duration(w))),
    };
    lines.add("length", verdict, words);
    let rampup = duration(result.durations.rampup_s);
    let Some(steadiness) = &result.steadiness else { return };
    let (verdict, words) = match steadiness.warm_up {
        WarmUp::Ended { after_s } if after_s as f64 <= result.durations.rampup_s => (
            SetupVerdict::Fine,
            format!(
                "{rampup}; throughput had warmed up after {}: caches were as warm as the window \
                 needs them",
                duration(after_s as f64)
            ),
        ),
        WarmUp::Ended { after_s } => (
            SetupVerdict::Wrong,
            format!(
                "{rampup}, but throughput warmed up only after {}: the window has cold caches in it",
                duration(after_s as f64)
            ),
        ),
        _ => {
            (SetupVerdict::Look, format!("{rampup}; it is not known when throughput had warmed up"))
        }
    };
    lines.add("ramp-up", verdict, words);
}

fn steadiness(result: &RunResult, lines: &mut Lines) {
    let Some(steadiness) = &result.steadiness else { return };
    let verdict = match steadiness.verdict {
        Steady::Steady => SetupVerdict::Fine,
        Steady::WithinWindow | Steady::TooShort => SetupVerdict::Look,
        Steady::Drifting => SetupVerdict::Wrong,
    };
    lines.add("steadiness", verdict, steadiness.words.clone());
}

fn failures(result: &RunResult, lines: &mut Lines) {
    let failures = &result.failures;
    let share = percent(failures.share);
    let (verdict, words) = match (failures.above_limit, failures.share > 0.0) {
        (true, _) => (SetupVerdict::Wrong, format!("{share} failed, more than was allowed")),
        (false, true) => (SetupVerdict::Look, format!("{share} of the transactions failed")),
        (false, false) => (SetupVerdict::Fine, "no transaction failed".to_owned()),
    };
    lines.add("failures", verdict, words);
    if let Some(ended) = &result.ending.detail {
        lines.add("end", SetupVerdict::Wrong, ended.clone());
    }
}

fn verification(result: &RunResult, lines: &mut Lines) {
    let verification = &result.primary_metric.verification;
    let verdict = match verification.verdict {
        Verdict::Violated => SetupVerdict::Wrong,
        Verdict::NotCounted => SetupVerdict::Look,
        _ => SetupVerdict::Fine,
    };
    lines.add("count", verdict, verification.words.clone());
    for audit in result.audits.iter().filter(|audit| audit.verdict == Verdict::Violated) {
        lines.add("audit", SetupVerdict::Wrong, format!("{}: {}", audit.title, audit.words));
    }
}

/// Settings that void a comparison: what the examination before the run found, and what changed.
fn settings(result: &RunResult, lines: &mut Lines) {
    let found = result.setup.iter().filter(|fact| fact.verdict != SetupVerdict::Fine);
    // What is only slow is as slow in every run.
    let found = found.filter(|fact| fact.concerns_comparisons());
    let before = lines.all.len();
    let warnings = || result.warnings.iter().filter(|warning| warning.kind == "setup");
    let words = || warnings().map(|of| of.text.strip_prefix("set-up: ").unwrap_or(&of.text));
    for fact in found {
        // A warning says the same, and why.
        let is_warned = words().any(|text| text.starts_with(&format!("{} is ", fact.name)));
        if !is_warned {
            lines.add("set-up", fact.verdict, format!("{}: {}", fact.name, fact.value));
        }
    }
    words().for_each(|text| lines.add("set-up", SetupVerdict::Wrong, text));
    if !result.settings_changed.is_empty() {
        let changed = counted(result.settings_changed.len() as u64, "server settings");
        lines.add("set-up", SetupVerdict::Wrong, format!("{changed} changed during the run"));
    }
    if lines.all.len() == before && !result.setup.is_empty() {
        let words = "nothing that `doctor` reads before a run voids a comparison";
        lines.add("set-up", SetupVerdict::Fine, words);
    }
    if result.setup.is_empty() {
        let words = "the set-up of host and database is unknown";
        lines.add("set-up", SetupVerdict::Look, words);
    }
}

fn memory(result: &RunResult, lines: &mut Lines) {
    let Some(memory) = result.host.memory_bytes else { return };
    let here = result.server.same_host == Some(true);
    let of = |name: &str| result.setup.iter().find(|fact| fact.name == name);
    let counted = result.state.as_ref().and_then(|state| state.bytes).map(bytes);
    let words = match of("data_size").map(|size| size.value.clone()).or(counted) {
        Some(size) => format!("the data has {size}, the client's host {}", bytes(memory)),
        None => format!(
            "the size of the data is not recorded ({}); the client's host has {}",
            scale(result.workload.scale, &result.workload.scale_unit),
            bytes(memory)
        ),
    };
    let whose = if here { "" } else { ", which is not the server's" };
    lines.add("data and memory", SetupVerdict::Look, format!("{words}{whose}"));
}

fn client(result: &RunResult, lines: &mut Lines) {
    match result.server.same_host {
        Some(true) => lines.add(
            "hosts",
            SetupVerdict::Look,
            "client and server share one host: the server lacks the CPU time that the client uses",
        ),
        Some(false) => {
            lines.add("hosts", SetupVerdict::Fine, "client and server have hosts of their own")
        }
        None => lines.add(
            "hosts",
            SetupVerdict::Look,
            "it is not known whether client and server share a host",
        ),
    }
    if result.bottleneck.kind == Bottleneck::Client {
        let words = "the client was the bottleneck: these are not figures of the server";
        lines.add("client", SetupVerdict::Wrong, words);
    }
    if result.tool.debug_build {
        lines.add("client", SetupVerdict::Wrong, "the client is a debug build");
    }
}

/// What a full disclosure of the standard, from which the workload is derived, would have to say.
fn standard(result: &RunResult, lines: &mut Lines) {
    let name = &*result.workload.name;
    let mut differs = |clause: &str, words: String| {
        let of = if name.starts_with("tproc-h") { "TPC-H" } else { "TPC-C" };
        lines.add(&format!("{of} {clause}"), SetupVerdict::Look, words);
    };
    match name {
        "tproc-c" | "ch" => {
            let per_scale = f64::from(result.spec.users) / result.workload.scale.as_f64();
            if result.spec.load != Load::Keyed {
                differs("5.2.5", "without keying and thinking times".to_owned());
            }
            if per_scale != TPC_C_TERMINALS {
                let words = format!("{per_scale:.1} users per warehouse instead of 10 terminals");
                differs("4.2", words);
            }
            if result.durations.window_s < TPC_C_INTERVAL_S {
                let window = duration(result.durations.window_s);
                differs("5.5", format!("an interval of {window} instead of at least 120 minutes"));
            }
            differs("2", "no terminals: inputs and outputs are not displayed".to_owned());
            differs("3", "no tests of atomicity, isolation and durability in this run".to_owned());
            differs("4.2", "no proof of space for 60 days".to_owned());
            differs("8, 9", "no full disclosure report and no auditor".to_owned());
        }
        "tproc-h" => {
            if let Some(set) = &result.queries {
                let test = format!("{:?}", set.test).to_lowercase();
                differs("5.3", format!("the test is `{test}`, with {} streams", set.streams));
            }
            differs("2.5", "refresh functions delete what they inserted".to_owned());
            differs("3", "no tests of atomicity, isolation and durability in this run".to_owned());
            differs("8, 9", "no full disclosure report and no auditor".to_owned());
        }
        _ => {}
    }
}
