//! What the control thread knows of a stream's session: enough to cancel its step, and no other one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::{Mutex, Notify};
use tokio::time::timeout;
use triphammer_core::session::Canceller;
use triphammer_core::{DbError, ErrorClass};
use triphammer_document::result::StepOutcome;

/// Maximum wait for a database to stop a cancelled step; then its session is dropped.
const CANCEL_LIMIT: Duration = Duration::from_secs(5);

/// A stream, seen from the control thread.
#[derive(Default)]
pub(super) struct Slot {
    armed: Mutex<Option<Armed>>,
    is_stopped: AtomicBool,
}

/// A step that is running.
struct Armed {
    position: u32,
    canceller: Box<dyn Canceller>,
    /// Why it was cancelled.
    reason: Option<StepOutcome>,
    /// Tells the stream that a cancel request was sent.
    sent: Arc<Notify>,
}

impl Slot {
    /// A step begins; the result resolves when a cancel request for it was sent.
    pub async fn arm(&self, position: u32, canceller: Box<dyn Canceller>) -> Arc<Notify> {
        let sent = Arc::new(Notify::new());
        let armed = Armed { position, canceller, reason: None, sent: Arc::clone(&sent) };
        *self.armed.lock().await = Some(armed);
        sent
    }

    /// The step has ended; returns why it was cancelled, if it was. Waits for a request that is on its way.
    pub async fn disarm(&self) -> Option<StepOutcome> {
        self.armed.lock().await.take().and_then(|armed| armed.reason)
    }

    /// Asks the database to cancel the step at a position, if that is what is running.
    pub async fn cancel(&self, position: u32, reason: StepOutcome) {
        let mut armed = self.armed.lock().await;
        let Some(armed) = armed.as_mut().filter(|armed| armed.position == position) else { return };
        armed.reason.get_or_insert(reason);
        armed.canceller.cancel().await;
        armed.sent.notify_one();
    }

    /// Lets no further step begin.
    pub fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
    }

    pub fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }
}

/// Waits for the end of a step; after a cancel request was sent, only for a limited time.
///
/// # Errors
/// That of the step, or `Disconnected` if the database does not react to the request.
pub(super) async fn until_cancelled<T>(
    sent: &Notify,
    work: impl Future<Output = Result<T, DbError>>,
) -> Result<T, DbError> {
    let mut work = std::pin::pin!(work);
    tokio::select! {
        biased;
        done = &mut work => done,
        () = sent.notified() => timeout(CANCEL_LIMIT, &mut work).await.unwrap_or_else(|_| {
            let message = "the database did not react to the cancel request";
            Err(DbError::new(ErrorClass::Disconnected, message))
        }),
    }
}
