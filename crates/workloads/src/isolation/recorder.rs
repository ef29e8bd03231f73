//! What a session records of its transactions.

use std::sync::Arc;

use triphammer_isolation::{Action, Fate, Key, Operation, Transaction};

use super::epochs::Epochs;

/// Records the attempts of one session, each as a transaction of its own: an attempt that is retried
/// was rolled back.
#[derive(Debug)]
pub(super) struct Recorder {
    epochs: Arc<Epochs>,
    /// Its number among the recording sessions; `None` if nobody records.
    session: Option<u64>,
    /// Number of its client.
    client: u32,
    epoch: u64,
    /// The transactions of the epoch.
    history: Vec<Transaction>,
    /// The attempt that runs.
    open: Option<Transaction>,
}

impl Recorder {
    pub(super) fn new(epochs: &Arc<Epochs>, client: u32) -> Self {
        Self {
            session: epochs.join(),
            epoch: epochs.current(),
            epochs: Arc::clone(epochs),
            client,
            history: Vec::new(),
            open: None,
        }
    }

    /// An attempt begins; returns its epoch.
    pub(super) fn begin(&mut self) -> u64 {
        self.close();
        let epoch = self.epochs.current();
        let Some(session) = self.session else { return epoch };
        if epoch != self.epoch {
            let history = std::mem::take(&mut self.history);
            self.epochs.advance(session, self.epoch, epoch, history);
            self.epoch = epoch;
        }
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

    /// Keeps the attempt as it is: one that an abort abandoned has no other end.
    fn close(&mut self) {
        if let Some(mut open) = self.open.take() {
            open.ended = self.epochs.now();
            self.history.push(open);
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.close();
        if let Some(session) = self.session {
            self.epochs.leave(session, self.epoch, std::mem::take(&mut self.history));
        }
    }
}
