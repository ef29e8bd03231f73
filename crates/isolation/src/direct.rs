//! Anomalies that need no cycle: what one read, one list or one version shows.

use crate::anomaly::{Anomaly, AnomalyKind};
use crate::history::{Fate, History, Model, Op, What, index};
use crate::report::{EdgeKind, Findings, Link};
use crate::versions::{Child, Versions};

/// Finds all of them.
pub(crate) fn find(versions: &Versions<'_>, findings: &mut Findings<'_>) {
    let troubled = troubled(versions);
    let mut direct = Direct { versions, history: versions.history, troubled, findings };
    for key in 0..index(versions.history.keys()) {
        direct.list(key);
    }
    for siblings in versions.all_children() {
        direct.siblings(siblings);
    }
    for reader in versions.counting() {
        let ops = versions.history.ops(reader);
        for (at, op) in ops.iter().enumerate() {
            direct.read(reader, *op);
            direct.within(reader, ops, at);
        }
    }
}

struct Direct<'a, 'f> {
    versions: &'a Versions<'a>,
    history: &'a History,
    /// By key, the place in its longest list of the first element that no transaction wrote, or one
    /// that was rolled back; the length where there is none.
    troubled: Vec<u32>,
    findings: &'a mut Findings<'f>,
}

fn troubled(versions: &Versions<'_>) -> Vec<u32> {
    let history = versions.history;
    let is_troubled = |key: u32, value: u64| {
        versions
            .write(key, value)
            .is_none_or(|write| history.head(write.transaction).fate == Fate::Aborted)
    };
    let first = |key: u32| {
        let list = history.longest(key);
        index(list.iter().position(|value| is_troubled(key, *value)).unwrap_or(list.len()))
    };
    (0..index(history.keys())).map(first).collect()
}

impl Direct<'_, '_> {
    fn add(&mut self, anomaly: Anomaly, transactions: &[u32], links: &[Link]) {
        self.findings.add(AnomalyKind::of(anomaly), transactions, links);
    }

    /// One transaction saw what another should not have shown.
    fn saw(&mut self, anomaly: Anomaly, writer: u32, reader: u32, key: u32) {
        let link = Link { from: writer, to: reader, kind: EdgeKind::Wr, key: Some(key) };
        self.add(anomaly, &[writer, reader], &[link]);
    }

    /// Commits that stand on aborted elements of a list, and elements that it has twice.
    fn list(&mut self, key: u32) {
        let mut aborted = None;
        let list = self.history.longest(key);
        for value in list {
            let Some(writer) = self.versions.write(key, *value).map(|write| write.transaction)
            else {
                continue;
            };
            match aborted {
                _ if self.is_aborted(writer) => aborted = Some(writer),
                Some(before) if self.versions.counts(writer) => {
                    let kind = EdgeKind::Ww;
                    let link = Link { from: before, to: writer, kind, key: Some(key) };
                    self.add(Anomaly::DirtyUpdate, &[before, writer], &[link]);
                    aborted = None;
                }
                _ => {}
            }
        }
        self.twice(key, list, None);
    }

    /// Values that a list or set has twice; `reader` read it.
    fn twice(&mut self, key: u32, list: &[u64], reader: Option<u32>) {
        let mut sorted = list.to_vec();
        sorted.sort_unstable();
        for pair in sorted.windows(2).filter(|pair| pair[0] == pair[1]) {
            let writer = self.versions.write(key, pair[0]).map(|write| write.transaction);
            let transactions: Vec<u32> = writer.into_iter().chain(reader).collect();
            self.add(Anomaly::Duplicate, &transactions, &[]);
        }
    }

    fn is_aborted(&self, transaction: u32) -> bool {
        self.history.head(transaction).fate == Fate::Aborted
    }

    /// Versions that were written over the same one, or over one that was rolled back.
    fn siblings(&mut self, siblings: &[Child]) {
        let Child { key, .. } = siblings[0];
        let parent = self.versions.write(key, siblings[0].parent).map(|write| write.transaction);
        if let Some(parent) = parent.filter(|parent| self.is_aborted(*parent)) {
            for child in siblings {
                let to = child.transaction;
                let link = Link { from: parent, to, kind: EdgeKind::Ww, key: Some(key) };
                self.add(Anomaly::DirtyUpdate, &[parent, to], &[link]);
            }
        }
        for pair in siblings.windows(2) {
            let (a, b) = (pair[0].transaction, pair[1].transaction);
            if a != b {
                let link = |from, to| Link { from, to, kind: EdgeKind::Rw, key: Some(key) };
                self.add(Anomaly::LostUpdate, &[a, b], &[link(a, b), link(b, a)]);
            }
        }
    }

    /// What a read shows of others: aborted, intermediate, impossible values.
    fn read(&mut self, reader: u32, op: Op) {
        match op.what {
            What::Wrote(_) | What::Version(0) => {}
            What::Version(version) => self.value(reader, op.key, version, true),
            What::Prefix(length) => {
                let list = &self.history.longest(op.key)[..length as usize];
                // Only what this read shows last differs between the reads of a sound list.
                let sound = self.troubled[op.key as usize].min(length.saturating_sub(1));
                self.values(reader, op.key, &list[sound as usize..]);
            }
            What::Beyond(read) => self.values(reader, op.key, self.history.read(read)),
            What::Odd(read) => {
                let list = self.history.read(read);
                self.add(Anomaly::IncompatibleOrder, &[reader], &[]);
                self.twice(op.key, list, Some(reader));
                self.values(reader, op.key, list);
            }
            What::Members(read) => {
                let members = self.history.read(read);
                self.twice(op.key, members, Some(reader));
                for member in members {
                    self.value(reader, op.key, *member, false);
                }
            }
        }
    }

    fn values(&mut self, reader: u32, key: u32, list: &[u64]) {
        for (at, value) in list.iter().enumerate() {
            self.value(reader, key, *value, at + 1 == list.len());
        }
    }

    /// A value that was read; `is_newest` if the read shows nothing after it.
    fn value(&mut self, reader: u32, key: u32, value: u64, is_newest: bool) {
        match self.versions.write(key, value) {
            None => self.add(Anomaly::Unwritten, &[reader], &[]),
            Some(write) if write.transaction == reader => {}
            Some(write) if self.is_aborted(write.transaction) => {
                self.saw(Anomaly::G1a, write.transaction, reader, key);
            }
            Some(write) if is_newest && !write.is_last => {
                self.saw(Anomaly::G1b, write.transaction, reader, key);
            }
            Some(_) => {}
        }
    }

    /// Whether a read agrees with what its transaction did and saw before.
    fn within(&mut self, reader: u32, ops: &[Op], at: usize) {
        let op = ops[at];
        let is_first = ops[..at].iter().all(|earlier| earlier.key != op.key);
        if is_first || matches!(op.what, What::Wrote(_)) {
            return;
        }
        let mut own = writes(&ops[..at], op.key);
        if self.history.key_at(op.key).model == Model::Register {
            own.drain(..own.len().saturating_sub(1));
        }
        let read = self.state(op);
        if own.iter().any(|value| !read.contains(value)) {
            self.add(Anomaly::OwnWrite, &[reader], &[]);
            return;
        }
        let is_read =
            |earlier: &&Op| earlier.key == op.key && !matches!(earlier.what, What::Wrote(_));
        let Some(place) = ops[..at].iter().rposition(|earlier| is_read(&earlier)) else { return };
        let since = writes(&ops[place..at], op.key);
        if !self.agrees(&self.state(ops[place]), &since, &read, op.key) {
            self.add(Anomaly::Internal, &[reader], &[]);
        }
    }

    /// What a read showed: of a register, its version.
    fn state(&self, op: Op) -> Vec<u64> {
        match op.what {
            What::Wrote(_) => Vec::new(),
            What::Version(version) => vec![version],
            What::Prefix(length) => self.history.longest(op.key)[..length as usize].to_vec(),
            What::Odd(read) | What::Beyond(read) | What::Members(read) => {
                self.history.read(read).to_vec()
            }
        }
    }

    /// Whether a second read is the first with the writes between them.
    fn agrees(&self, first: &[u64], writes: &[u64], second: &[u64], key: u32) -> bool {
        match self.history.key_at(key).model {
            Model::Register => second == writes.last().map_or(first, std::slice::from_ref),
            Model::List => [first, writes].concat() == second,
            // Members that are new are phantoms, which dependencies show.
            Model::Set => first.iter().chain(writes).all(|member| second.contains(member)),
        }
    }
}

/// What operations wrote to a key, in order.
fn writes(ops: &[Op], key: u32) -> Vec<u64> {
    let of_key = ops.iter().filter(|op| op.key == key);
    let value = |op: &Op| match op.what {
        What::Wrote(value) => Some(value),
        _ => None,
    };
    of_key.filter_map(value).collect()
}
