//! Reads that are late: a client that misses its own commits or sees an older state than before, and
//! reads of what had been replaced, by an acknowledged commit, before their transaction began.

use std::collections::HashMap;

use crate::anomaly::{Anomaly, AnomalyKind};
use crate::history::{Fate, History, Model, Nanos, Op, What, index};
use crate::report::{EdgeKind, Findings, Link, Report};
use crate::versions::{NOBODY, Versions};

/// Finds all of them, and the ages of stale reads.
pub(crate) fn find(
    versions: &Versions<'_>,
    sessions: &[Vec<u32>],
    findings: &mut Findings<'_>,
    report: &mut Report,
) {
    let acknowledged = Acknowledged::of(versions);
    for reader in versions.counting() {
        for op in versions.history.ops(reader) {
            stale(versions, &acknowledged, reader, *op, findings, report);
        }
    }
    for session in sessions {
        let mut client = Client { versions, seen: HashMap::new(), findings };
        for transaction in session {
            client.follow(*transaction);
        }
    }
}

/// When versions were acknowledged.
struct Acknowledged {
    /// For each element of the longest lists, the earliest acknowledgement of it or a later one, with
    /// the writer.
    of_lists: Vec<(Nanos, u32)>,
    /// Where those of each key begin; there is one more than elements, for those that nobody saw.
    begins: Vec<u32>,
}

/// Later than anything.
const NEVER: (Nanos, u32) = (Nanos::MAX, NOBODY);

impl Acknowledged {
    fn of(versions: &Versions<'_>) -> Self {
        let (mut of_lists, mut begins) = (Vec::new(), Vec::new());
        for key in 0..index(versions.history.keys()) {
            begins.push(index(of_lists.len()));
            let begin = of_lists.len();
            let unseen = versions.unseen(key).map(|writer| acknowledged(versions, writer));
            let mut earliest = unseen.min().unwrap_or(NEVER);
            of_lists.push(earliest);
            for writer in versions.writers(key).iter().rev() {
                if *writer != NOBODY {
                    earliest = earliest.min(acknowledged(versions, *writer));
                }
                of_lists.push(earliest);
            }
            of_lists[begin..].reverse();
        }
        Self { of_lists, begins }
    }

    /// The earliest acknowledgement of an element after the first `length`.
    fn after(&self, key: u32, length: u32) -> (Nanos, u32) {
        self.of_lists[(self.begins[key as usize] + length) as usize]
    }
}

/// When a commit was acknowledged, and whose it is; never if it is in doubt.
fn acknowledged(versions: &Versions<'_>, writer: u32) -> (Nanos, u32) {
    let head = versions.history.head(writer);
    match head.fate {
        Fate::Committed => (head.ended, writer),
        Fate::Aborted | Fate::InDoubt => NEVER,
    }
}

/// Judges one read against the commits that had been acknowledged before its transaction began.
fn stale(
    versions: &Versions<'_>,
    lists: &Acknowledged,
    reader: u32,
    op: Op,
    findings: &mut Findings<'_>,
    report: &mut Report,
) {
    let key = op.key;
    let of = |writer: u32| acknowledged(versions, writer);
    let missed = match op.what {
        What::Wrote(_) | What::Odd(_) | What::Beyond(_) => return,
        What::Prefix(length) => lists.after(key, length),
        What::Version(version) => {
            let children = versions.children(key, version).iter();
            children.map(|child| of(child.transaction)).min().unwrap_or(NEVER)
        }
        What::Members(read) => {
            let members = versions.history.read(read);
            let others = versions.writes_of(key).iter();
            let others = others.filter(|write| !members.contains(&write.value));
            others.map(|write| of(write.transaction)).min().unwrap_or(NEVER)
        }
    };
    report.reads += 1;
    let began = versions.history.head(reader).began;
    let (ended, writer) = missed;
    if ended >= began || writer == reader {
        return;
    }
    report.ages.record(began - ended);
    let order = Link { from: writer, to: reader, kind: EdgeKind::RealTime, key: None };
    let link = Link { from: reader, to: writer, kind: anti(versions.history, key), key: Some(key) };
    findings.add(AnomalyKind::of(Anomaly::StaleRead), &[writer, reader], &[order, link]);
}

/// How a transaction depends on one whose version it did not see.
fn anti(history: &History, key: u32) -> EdgeKind {
    match history.key_at(key).model {
        Model::Set => EdgeKind::PredicateRw,
        Model::List | Model::Register => EdgeKind::Rw,
    }
}

/// What a client has seen and written so far.
struct Client<'a, 'f> {
    versions: &'a Versions<'a>,
    seen: HashMap<u32, KnownVersions>,
    findings: &'a mut Findings<'f>,
}

/// What a client knows of a key: values that it has seen or written, and by which transactions.
#[derive(Default)]
struct KnownVersions {
    /// Of a list the last element, of a register the version, of a set all members.
    values: Vec<(u64, Source)>,
}

#[derive(Clone, Copy)]
struct Source {
    transaction: u32,
    is_own: bool,
}

impl Client<'_, '_> {
    fn follow(&mut self, transaction: u32) {
        let ops = self.versions.history.ops(transaction);
        for op in ops {
            self.judge(transaction, *op);
        }
        for op in ops {
            self.learn(transaction, *op);
        }
    }

    /// Judges a read by what earlier transactions of the client know.
    fn judge(&mut self, reader: u32, op: Op) {
        let Some(seen) = self.seen.get(&op.key) else { return };
        let lacks = |value: u64| self.lacks(op, value);
        let missed = seen.values.iter().find(|(value, _)| lacks(*value));
        let Some((value, Source { transaction, is_own })) = missed.copied() else { return };
        let kind = anti(self.versions.history, op.key);
        let order = Link { from: transaction, to: reader, kind: EdgeKind::Session, key: None };
        let key = Some(op.key);
        if is_own {
            let anti = Link { from: reader, to: transaction, kind, key };
            let kind = AnomalyKind::of(Anomaly::ReadYourWrites);
            self.findings.add(kind, &[transaction, reader], &[order, anti]);
            return;
        }
        let Some(writer) = self.versions.write(op.key, value).map(|write| write.transaction) else {
            return;
        };
        let saw = Link { from: writer, to: transaction, kind: EdgeKind::Wr, key };
        let anti = Link { from: reader, to: writer, kind, key };
        let kind = AnomalyKind::of(Anomaly::MonotonicReads);
        self.findings.add(kind, &[writer, transaction, reader], &[saw, order, anti]);
    }

    /// Whether a read shows a state before a value.
    fn lacks(&self, op: Op, value: u64) -> bool {
        let history = self.versions.history;
        match op.what {
            What::Wrote(_) | What::Odd(_) | What::Beyond(_) => false,
            What::Prefix(length) => !history.longest(op.key)[..length as usize].contains(&value),
            What::Members(read) => !history.read(read).contains(&value),
            What::Version(version) => version != value && self.is_before(op.key, version, value),
        }
    }

    /// Whether a version of a register is one that the other is built on.
    fn is_before(&self, key: u32, version: u64, mut later: u64) -> bool {
        while let Some(parent) = self.versions.write(key, later).and_then(|write| write.parent) {
            if parent == version {
                return true;
            }
            later = parent;
        }
        false
    }

    /// Learns what stays: a write that was rolled back may disappear after it was seen.
    fn learn(&mut self, transaction: u32, op: Op) {
        let (versions, history) = (self.versions, self.versions.history);
        let source = |is_own| Source { transaction, is_own };
        let stays = |value: &u64| {
            versions.write(op.key, *value).is_some_and(|write| versions.counts(write.transaction))
        };
        let model = history.key_at(op.key).model;
        let (newest, is_own) = match op.what {
            What::Wrote(value) => (Some(value), true),
            What::Version(version) => (Some(version).filter(stays), false),
            What::Prefix(length) => {
                let writers = &versions.writers(op.key)[..length as usize];
                let last = writers.iter().rposition(|writer| *writer != NOBODY);
                (last.map(|at| history.longest(op.key)[at]), false)
            }
            What::Odd(_) | What::Beyond(_) => (None, false),
            What::Members(read) => {
                let known = self.seen.entry(op.key).or_default();
                for member in history.read(read).iter().filter(|member| stays(member)) {
                    if known.values.iter().all(|(value, _)| value != member) {
                        known.values.push((*member, source(false)));
                    }
                }
                return;
            }
        };
        let Some(newest) = newest else { return };
        let known = self.seen.entry(op.key).or_default();
        let has_own = known.values.iter().any(|(value, _)| *value == newest);
        match model {
            Model::Set if has_own => {}
            // A read of its own value keeps that it is its own.
            Model::List | Model::Register if has_own && !is_own => {}
            Model::Set => known.values.push((newest, source(is_own))),
            Model::List | Model::Register => known.values = vec![(newest, source(is_own))],
        }
    }
}
