//! Cancelling a build or a check from another thread: what is in hand is given up, what is done stays, and a
//! build is resumed by the same command.

use tokio::sync::watch;

/// A switch that is turned once; its clones turn together.
#[derive(Clone, Debug)]
pub struct Cancel(watch::Sender<bool>);

impl Default for Cancel {
    fn default() -> Self {
        Self(watch::channel(false).0)
    }
}

impl Cancel {
    /// Turns it.
    pub fn cancel(&self) {
        self.0.send_replace(true);
    }

    /// Whether it was turned.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until it is turned.
    pub async fn cancelled(&self) {
        let mut turned = self.0.subscribe();
        // The sender lives in `self`.
        let _ = turned.wait_for(|turned| *turned).await;
    }
}
