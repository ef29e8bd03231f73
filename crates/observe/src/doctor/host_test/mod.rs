//! What the host itself can do (`--host-test`): processors, memory, and the disk of the database's
//! data, in at most 30 seconds. Where a user would reach for sysbench, STREAM and fio; the loops are
//! in the crate `loops`, and what the network can do is examined with every target.

mod cpu;
mod disk;
mod memory;
mod references;

use std::path::PathBuf;
use std::time::Duration;

use triphammer_core::clock::Clock;
use triphammer_document::doctor::{
    DoctorResult, Goal, Group, HOST_FIGURES, HostFigure, HostTest, HostTestMachine, Line,
};
use triphammer_document::host::Host;
use triphammer_settings::cancel::Cancel;
use triphammer_settings::files::Files;
use triphammer_settings::format::figure;

use super::check::{Change, CheckDeclaration, Reading};
use super::guard::INTERRUPTED;
use super::host::HostFacts;

/// Maximum time of the whole test: each part takes less, and the last one gets what is left.
pub(super) const LIMIT: Duration = Duration::from_secs(30);

/// The line of the test.
pub(super) const DECLARED: CheckDeclaration = CheckDeclaration {
    name: "host_test",
    group: Group::Host,
    goals: Goal::BOTH,
    why: "Processors, memory or disk are much slower than in earlier tests of this host: runs of then \
          and now cannot be compared. A frequency that is lower now, other programs, or other guests \
          of a virtual machine are the usual causes.",
    cost: None,
    knob: None,
    change: Change::One(
        "look at the lines of the processors, at host_load and at steal_time; then repeat",
    ),
};

/// Why a part of the test was not made.
type Missed = String;

/// Makes the test. What cannot be measured is reported with the reason.
pub(super) fn make(
    host: &HostFacts,
    folder: Option<PathBuf>,
    cancel: &Cancel,
    result: &mut DoctorResult,
) -> Option<HostTest> {
    let files = host.files();
    let facts = crate::host::detect();
    let part = Part { files, cancel, clock: Clock::start() };
    let threads = facts.cores.unwrap_or(1).max(1);
    let mut test = HostTest {
        seconds: 0.0,
        machine: machine(files, &facts),
        threads,
        array_bytes: 0,
        cache_bytes: memory::cache_bytes(&facts),
        disk: None,
        figures: Vec::new(),
        earlier: Vec::new(),
        references: references::all(),
    };
    let done = cpu::measure(&part, threads, &mut test)
        .and_then(|()| memory::measure(&part, threads, &mut test))
        .map_err(|reason| result.fail("host_test", &reason));
    if done.is_ok() {
        let place = disk::place(host, folder);
        let measured = place.and_then(|place| disk::measure(&part, &place, &mut test));
        if let Err(reason) = measured {
            // What was measured until then belongs to no whole test.
            test.figures.retain(|figure| !figure.name.starts_with("disk_"));
            result.fail("host_test_disk", &reason);
        }
    }
    test.seconds = part.clock.now().duration().as_secs_f64();
    (done.is_ok() && !cancel.is_cancelled()).then_some(test)
}

fn machine(files: &Files, host: &Host) -> HostTestMachine {
    let name = files.text("proc/sys/kernel/hostname");
    let name = name.unwrap_or_else(|| "unknown".to_owned());
    HostTestMachine { host: name, cpu: host.cpu.clone(), cpus: host.cores }
}

/// What every part of the test needs.
struct Part<'a> {
    files: &'a Files,
    cancel: &'a Cancel,
    clock: Clock,
}

impl Part<'_> {
    /// Fails if the user has interrupted the test.
    fn go_on(&self) -> Result<(), Missed> {
        if self.cancel.is_cancelled() { Err(INTERRUPTED.to_owned()) } else { Ok(()) }
    }

    /// What is left of a time, if the whole test is to end in its time.
    fn within(&self, time: Duration) -> Duration {
        time.min(LIMIT.saturating_sub(self.clock.now().duration()))
    }
}

/// Adds a figure to a test.
fn put(test: &mut HostTest, name: &str, value: f64) {
    let unit = HOST_FIGURES.iter().find(|def| def.name == name).map_or("", |def| def.unit);
    test.figures.push(HostFigure { name: name.to_owned(), value, unit: unit.to_owned() });
}

/// The line of the report.
pub(super) fn line(test: &HostTest) -> Line {
    let worse = test.worse();
    let words = worse.iter().map(|(def, now, before)| {
        let (title, unit) = (def.title.trim(), def.unit);
        format!("{title} {} instead of {} {unit}", figure(*now), figure(*before))
    });
    let words: Vec<String> = words.collect();
    let value = match (words.is_empty(), test.earlier.is_empty()) {
        (true, true) => "no earlier test of this host".to_owned(),
        (true, false) => "as in earlier tests".to_owned(),
        (false, _) => words.join("; "),
    };
    DECLARED.line(Reading::look_unless(words.is_empty(), value))
}
