//! Cancels a build or a check from another thread: current work is abandoned, completed work is
//! kept, and the same command resumes a build.

use tokio::sync::watch;

/// A cancellation flag; all clones share its state.
#[derive(Clone, Debug)]
pub struct Cancel(watch::Sender<bool>);

impl Default for Cancel {
    fn default() -> Self {
        Self(watch::channel(false).0)
    }
}

impl Cancel {
    /// Requests the cancellation.
    pub fn cancel(&self) {
        self.0.send_replace(true);
    }

    /// Whether cancellation was requested.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until cancellation is requested.
    pub async fn cancelled(&self) {
        let mut turned = self.0.subscribe();
        // The sender is in `self`, so the channel stays open.
        let _ = turned.wait_for(|turned| *turned).await;
    }
}
