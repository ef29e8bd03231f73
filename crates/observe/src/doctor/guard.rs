//! Ends work on a database in time: after its limit, or when the user interrupts it, another thread
//! asks the database to stop, because a database in this process blocks the thread that called it.

use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};
use triphammer_core::session::Canceller;
use triphammer_core::{DbError, ErrorClass};
use triphammer_settings::cancel::Cancel;

/// Maximum wait for the database to stop; then its session is abandoned.
const STOP_LIMIT: Duration = Duration::from_secs(5);
/// Time between two requests to stop: one that arrives before its statement has no effect.
const ASK_AGAIN: Duration = Duration::from_millis(500);
/// What is reported of work that the user has interrupted.
pub(super) const INTERRUPTED: &str = "interrupted";

/// Awaits work, at most for `limit` and until it is cancelled. After an error the session may
/// still receive a request to stop.
///
/// # Errors
/// The error of the work, or why it was stopped.
pub(super) async fn guarded<T>(
    limit: Duration,
    cancel: &Cancel,
    canceller: Box<dyn Canceller>,
    work: impl Future<Output = Result<T, DbError>>,
) -> Result<T, DbError> {
    let (done, ended) = oneshot::channel();
    let (abandon, mut abandoned) = oneshot::channel();
    let cancel = cancel.clone();
    let watch = move || watch(limit, &cancel, &*canceller, ended, abandon);
    let guard = std::thread::Builder::new().name("guard".into()).spawn(watch);
    let guard =
        guard.map_err(|error| DbError::new(ErrorClass::Other, format!("no thread: {error}")))?;
    let mut work = std::pin::pin!(work);
    let ended = tokio::select! {
        biased;
        ended = &mut work => Some(ended),
        // An error means that the guard itself has ended.
        Ok(()) = &mut abandoned => None,
    };
    drop(done);
    let stopped = guard.join().ok().flatten();
    match (ended, stopped) {
        (Some(Ok(done)), _) => Ok(done),
        (Some(Err(error)), None) => Err(error),
        (_, stopped) => {
            let reason = stopped.unwrap_or_else(|| INTERRUPTED.to_owned());
            Err(DbError::new(ErrorClass::Cancelled, reason))
        }
    }
}

/// Waits for the end of the work; if that comes too late, asks the database to stop, and returns
/// why.
fn watch(
    limit: Duration,
    cancel: &Cancel,
    canceller: &dyn Canceller,
    mut ended: oneshot::Receiver<()>,
    abandon: oneshot::Sender<()>,
) -> Option<String> {
    let runtime = triphammer_engine::runtime().ok()?;
    runtime.block_on(async {
        let reason = tokio::select! {
            biased;
            _ = &mut ended => return None,
            () = cancel.cancelled() => INTERRUPTED.to_owned(),
            () = sleep(limit) => format!("not finished within {} s", limit.as_secs_f64()),
        };
        let asking = async {
            loop {
                canceller.cancel().await;
                sleep(ASK_AGAIN).await;
            }
        };
        let stopping = timeout(STOP_LIMIT, async {
            tokio::select! {
                _ = &mut ended => {}
                () = asking => {}
            }
        });
        if stopping.await.is_err() {
            // The work may end at the same moment.
            let _ = abandon.send(());
        }
        Some(reason)
    })
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::pin::Pin;
    use std::sync::mpsc;

    use super::*;

    /// Blocks its thread until it is cancelled, as a database in this process does.
    struct Blocked(mpsc::SyncSender<()>);

    impl Canceller for Blocked {
        fn cancel(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
            Box::pin(async {
                let _ = self.0.try_send(());
            })
        }
    }

    async fn blocked(limit: Duration, cancel: &Cancel) -> String {
        let (stop, stopped) = mpsc::sync_channel(1);
        let work = async move {
            stopped.recv().unwrap();
            Err::<(), _>(DbError::new(ErrorClass::Cancelled, "stopped"))
        };
        let done = guarded(limit, cancel, Box::new(Blocked(stop)), work).await;
        done.unwrap_err().message().to_owned()
    }

    #[tokio::test]
    async fn work_that_blocks_its_thread_ends_at_its_limit_or_when_it_is_cancelled() {
        let cancel = Cancel::default();
        let late = blocked(Duration::from_millis(20), &cancel).await;
        assert_eq!(late, "not finished within 0.02 s");
        cancel.cancel();
        assert_eq!(blocked(Duration::from_secs(600), &cancel).await, "interrupted");
    }

    #[tokio::test]
    async fn work_keeps_its_own_end() {
        let cancel = Cancel::default();
        let (stop, _stopped) = mpsc::sync_channel(1);
        let canceller = || Box::new(Blocked(stop.clone()));
        let limit = Duration::from_secs(600);
        assert_eq!(guarded(limit, &cancel, canceller(), async { Ok(7) }).await.unwrap(), 7);
        let failing = async { Err::<(), _>(DbError::new(ErrorClass::Other, "no")) };
        let error = guarded(limit, &cancel, canceller(), failing).await.unwrap_err();
        assert_eq!(error.message(), "no");
    }

    #[tokio::test]
    async fn a_database_that_does_not_stop_is_abandoned() {
        let cancel = Cancel::default();
        cancel.cancel();
        let (stop, _stopped) = mpsc::sync_channel(1);
        let clock = triphammer_core::Clock::start();
        let work = pending::<Result<(), DbError>>();
        let error = guarded(Duration::from_secs(600), &cancel, Box::new(Blocked(stop)), work).await;
        assert_eq!(error.unwrap_err().message(), "interrupted");
        assert!(clock.now().duration() >= STOP_LIMIT);
    }
}
