//! What a session records of its transactions.

use std::sync::{Arc, Mutex};

use triphammer_isolation::{Action, Fate, Key, Operation, Transaction};

use super::epochs::{Epochs, Part};
use crate::lock::lock;

/// Records the attempts of one session, each as a transaction of its own: an attempt that is retried
/// was rolled back.
#[derive(Debug)]
pub(super) struct Recorder {
    epochs: Arc<Epochs>,
    /// Its number among the recording sessions, and what it has recorded; `None` if nobody records.
    session: Option<(u64, Arc<Mutex<Part>>)>,
    /// Number of its client.
    client: u32,
    /// The attempt that runs.
    open: Option<Transaction>,
}

impl Recorder {
    pub(super) fn new(epochs: &Arc<Epochs>, client: u32) -> Self {
        Self { session: epochs.join(), epochs: Arc::clone(epochs), client, open: None }
    }

    /// An attempt begins; returns its epoch.
    pub(super) fn begin(&mut self) -> u64 {
        self.close();
        let Some((_, part)) = &self.session else { return self.epochs.current() };
        let epoch = self.epochs.begin(part);
        let now = self.epochs.now();
        self.open = Some(Transaction {
            session: self.client,
            began: now,
            ended: now,
            fate: Fate::Aborted,
            operations: Vec::with_capacity(8),
        });
        epoch
    }

    /// The attempt did or saw something.
    pub(super) fn did(&mut self, key: Key, action: Action) {
        if let Some(open) = &mut self.open {
            open.operations.push(Operation { key, action, at: self.epochs.now() });
        }
    }

    /// The answer to the last operation has come.
    pub(super) fn answered(&mut self) {
        let now = self.epochs.now();
        if let Some(last) = self.open.as_mut().and_then(|open| open.operations.last_mut()) {
            last.at = now;
        }
    }

    /// The last operation had no effect.
    pub(super) fn forget(&mut self) {
        if let Some(open) = &mut self.open {
            open.operations.pop();
        }
    }

    /// COMMIT is sent: from now on, the attempt is in doubt until the answer comes.
    pub(super) fn commits(&mut self) {
        if let Some(open) = &mut self.open {
            open.fate = Fate::InDoubt;
        }
    }

    /// The fate of the attempt is known.
    pub(super) fn ended(&mut self, fate: Fate) {
        if let Some(open) = &mut self.open {
            open.fate = fate;
        }
        self.close();
    }

    /// The attempt ended with an error; `is_undone` if that proves that a COMMIT which was sent did
    /// nothing. Without one, nothing has committed.
    pub(super) fn failed(&mut self, is_undone: bool) {
        if let Some(open) = self.open.as_mut().filter(|_| is_undone) {
            open.fate = Fate::Aborted;
        }
        self.close();
    }

    /// Keeps the attempt as it is: one that an abort abandoned has no other end.
    fn close(&mut self) {
        if let (Some(mut open), Some((_, part))) = (self.open.take(), &self.session) {
            open.ended = self.epochs.now();
            lock(part).push(open);
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.close();
        if let Some((session, _)) = &self.session {
            self.epochs.leave(*session);
        }
    }
}
