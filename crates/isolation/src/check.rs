//! A history becomes a report.

use crate::anomaly::Order;
use crate::cycles;
use crate::direct;
use crate::history::{Fate, History};
use crate::recency;
use crate::report::{Findings, Report};
use crate::versions::{NotUnique, Versions};

/// What a check looks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// The orders that cycles may use: real time costs two more nodes and edges per transaction.
    pub order: Order,
}

/// Finds the anomalies of a history. Time is linear in its operations, as long as few transactions
/// lie on cycles.
///
/// # Errors
/// When two transactions wrote the same value to one key.
pub fn check(history: &mut History, scope: Scope) -> Result<Report, NotUnique> {
    history.settle(|_| false);
    // What those in doubt saw makes others count, and may be the longest list.
    while settle(history)? {}
    let history = &*history;
    let versions = Versions::of(history)?;
    let mut report = counts(history, &versions);
    let mut findings = Findings::of(history);
    let sessions = versions.sessions();
    direct::find(&versions, &mut findings);
    recency::find(&versions, &sessions, &mut findings, &mut report);
    report.uncounted = cycles::find(&versions, &sessions, scope.order, &mut findings);
    report.findings = findings.findings();
    Ok(report)
}

/// Whether lists became longer by those of transactions in doubt that count.
fn settle(history: &mut History) -> Result<bool, NotUnique> {
    if history.is_whole() {
        return Ok(false);
    }
    let counts = Versions::of(history)?.into_counts();
    Ok(history.settle(|transaction| counts[transaction as usize]))
}

fn counts(history: &History, versions: &Versions<'_>) -> Report {
    let mut report = Report {
        transactions: history.len() as u64,
        operations: history.operations() as u64,
        ..Report::default()
    };
    for (transaction, head) in history.heads() {
        match head.fate {
            Fate::Committed => report.committed += 1,
            Fate::InDoubt if versions.counts(transaction) => report.in_doubt_seen += 1,
            Fate::InDoubt => report.in_doubt_unseen += 1,
            Fate::Aborted => {}
        }
    }
    report
}
