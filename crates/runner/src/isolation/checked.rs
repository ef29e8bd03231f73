//! Checks the history of a load while it runs.

use std::io::{self, Write};
use std::time::Duration;

use triphammer_core::clock::{Clock, Elapsed};
use triphammer_core::event::{Event, Note};
use triphammer_isolation::edn::Writer;
use triphammer_isolation::{
    AnomalyKind, Finding, History, Order, Report, Scope, Transaction, UNCOUNTED, check,
};
use triphammer_settings::format::{counted, integer};
use triphammer_workloads::isolation::{Epoch, IsolationLoad, Recording, Unchecked};

use crate::watch::{CheckProgress, FoundKind, JobEvent, Watch};

/// Transactions of an epoch that is kept for controls: fewer have no place for every anomaly.
const KEPT_MIN: usize = 100;
/// Epochs that are kept for controls.
const KEPT_MAX: usize = 3;
/// Most transactions of an epoch that is kept: planting copies it many times.
const KEPT_TRANSACTIONS_MAX: usize = 100_000;
/// How often it is reported what was found so far.
const REPORT_EVERY: Duration = Duration::from_millis(250);

/// What the checker found in a load.
#[derive(Debug, Default)]
pub(super) struct Checked {
    pub(super) report: Report,
    /// Histories of some epochs, into which anomalies can be planted.
    pub(super) kept: Vec<Vec<Transaction>>,
    /// Why the history could not be written; `None` if it was, or none was to be.
    pub(super) unwritten: Option<io::Error>,
    /// Why a part was left unchecked; `None` if nothing was.
    pub(super) unchecked: Option<String>,
}

/// Runs a load; checks what it records, and writes it to `record`, on a thread of its own.
pub(super) fn check_while<T>(
    load: &IsolationLoad,
    record: Option<Writer<impl Write + Send>>,
    watch: &Watch<'_>,
    progress: CheckProgress,
    run: impl FnOnce() -> T,
) -> (T, Checked) {
    let epochs = load.epochs();
    let histories = epochs.record();
    std::thread::scope(|scope| {
        let checker = scope.spawn(move || check_all(histories, record, progress, watch));
        let done = run();
        let unchecked = epochs.end();
        let joined = checker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        (done, Checked { unchecked: joined.unchecked.or_else(|| in_words(unchecked)), ..joined })
    })
}

fn check_all(
    histories: Recording,
    mut record: Option<Writer<impl Write>>,
    mut progress: CheckProgress,
    watch: &Watch<'_>,
) -> Checked {
    let mut checked = Checked::default();
    let clock = Clock::start();
    let mut reported: Option<Elapsed> = None;
    for Epoch { transactions, .. } in histories {
        if let Some(writer) = &mut record
            && let Err(error) = writer.write(&transactions)
        {
            checked.unwritten = Some(error);
            record = None;
        }
        let history = &mut History::of(&transactions);
        match check(history, Scope { order: Order::Session }) {
            Ok(report) => {
                tell(&checked.report, &report, watch);
                checked.report.merge(report);
                let now = clock.now();
                if reported.is_none_or(|reported| now.has_passed(reported, REPORT_EVERY)) {
                    reported = Some(now);
                    progress.report(&checked.report, watch);
                }
            }
            Err(error) => checked.unchecked = Some(format!("an epoch was not checked: {error}")),
        }
        let fits = (KEPT_MIN..=KEPT_TRANSACTIONS_MAX).contains(&transactions.len());
        if fits && checked.kept.len() < KEPT_MAX {
            checked.kept.push(transactions);
        }
    }
    progress.report(&checked.report, watch);
    if let Some(Err(error)) = record.map(Writer::finish) {
        checked.unwritten = Some(error);
    }
    if checked.report.uncounted && checked.unchecked.is_none() {
        checked.unchecked = Some(UNCOUNTED.to_owned());
    }
    checked
}

/// What was recorded and not checked; `None` for nothing.
fn in_words(unchecked: Unchecked) -> Option<String> {
    let Unchecked { late, incomplete } = unchecked;
    match (late, incomplete) {
        (0, 0) => None,
        (0, incomplete) => Some(format!(
            "{} were not checked, as a thread did not end that had a part of their history",
            counted(incomplete, "transactions")
        )),
        (late, _) => Some(format!(
            "{} were not checked, as the checker was late: use fewer users (--vus) or a stronger level",
            counted(late, "transactions")
        )),
    }
}

impl CheckProgress {
    /// Reports what is known now.
    fn report(&mut self, report: &Report, watch: &Watch<'_>) {
        self.transactions = report.transactions;
        let found = |(kind, finding): (&AnomalyKind, &Finding)| FoundKind {
            kind: kind.to_string(),
            title: kind.anomaly.title(),
            count: finding.count,
        };
        self.found = report.findings.iter().map(found).collect();
        watch.report(JobEvent::Checked(self));
    }
}

/// Tells of kinds that were not found before.
fn tell(known: &Report, new: &Report, watch: &Watch<'_>) {
    for (kind, finding) in &new.findings {
        if known.findings.contains_key(kind) {
            continue;
        }
        let text = format!("found {} {kind} ({})", integer(finding.count), kind.anomaly.title());
        let note = Note::new("isolation", Some(Elapsed(finding.first)), text);
        watch.report(JobEvent::Run(&Event::Note(note)));
    }
}
