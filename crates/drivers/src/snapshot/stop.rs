//! What ends a copy before its time: Ctrl-C, or a time limit.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use tokio::time::timeout;
use triphammer_core::session::Canceller;
use triphammer_core::{DbError, ErrorClass};

/// Maximum wait for a server to cancel a statement.
const CANCEL_LIMIT: Duration = Duration::from_secs(10);
/// Maximum time of what is done after a failure, so that nothing unfinished is left.
const CLEAN_UP_LIMIT: Duration = Duration::from_secs(60);

/// Ends the work when its future does, which then says why.
pub struct Stop<'a> {
    comes: Pin<Box<dyn Future<Output = String> + 'a>>,
    reason: Option<String>,
}

impl<'a> Stop<'a> {
    /// A stop that comes when `comes` returns the reason.
    pub fn when(comes: impl Future<Output = String> + 'a) -> Self {
        Self { comes: Box::pin(comes), reason: None }
    }

    /// A stop that comes after the time that cleaning up may take.
    pub(crate) fn of_clean_up() -> Stop<'static> {
        Stop::when(async {
            tokio::time::sleep(CLEAN_UP_LIMIT).await;
            format!("not finished within {} s", CLEAN_UP_LIMIT.as_secs())
        })
    }

    /// Waits until the work is to end; the error says why.
    pub(crate) async fn error(&mut self) -> DbError {
        if self.reason.is_none() {
            self.reason = Some(self.comes.as_mut().await);
        }
        DbError::new(ErrorClass::Cancelled, self.reason.as_deref().unwrap_or_default())
    }

    /// Fails if the work is to end by now.
    ///
    /// # Errors
    /// With the reason.
    pub async fn check(&mut self) -> Result<(), DbError> {
        tokio::select! {
            biased;
            error = self.error() => Err(error),
            () = tokio::task::yield_now() => Ok(()),
        }
    }

    /// Waits for this time.
    ///
    /// # Errors
    /// With the reason, if the work is to end meanwhile.
    pub async fn pause(&mut self, time: Duration) -> Result<(), DbError> {
        tokio::select! {
            biased;
            error = self.error() => Err(error),
            () = tokio::time::sleep(time) => Ok(()),
        }
    }

    /// Does some work of a server, which is asked to cancel it if it is to end.
    ///
    /// # Errors
    /// The error of the work, or the reason.
    pub async fn unless<T>(
        &mut self,
        canceller: Box<dyn Canceller>,
        work: impl Future<Output = Result<T, DbError>>,
    ) -> Result<T, DbError> {
        let mut work = std::pin::pin!(work);
        let error = tokio::select! {
            biased;
            done = &mut work => return done,
            error = self.error() => error,
        };
        let _ = timeout(CANCEL_LIMIT, canceller.cancel()).await;
        // It may be finished all the same.
        let _ = timeout(CANCEL_LIMIT, work).await;
        Err(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_stop_says_why_as_often_as_it_is_asked() {
        let mut stop = Stop::when(async {
            tokio::time::sleep(Duration::from_secs(5)).await;
            "not finished within 5 s".to_owned()
        });
        stop.check().await.unwrap();
        stop.pause(Duration::from_secs(4)).await.unwrap();
        for _ in 0..2 {
            let error = stop.pause(Duration::from_secs(4)).await.unwrap_err();
            assert_eq!(error.message(), "not finished within 5 s");
            assert_eq!(error.class(), ErrorClass::Cancelled);
        }
        assert!(stop.check().await.is_err());
    }
}
