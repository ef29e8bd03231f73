//! Application state shared by all handlers.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use triphammer_document::host::Host;
use triphammer_store::{Store, StoreError};

use crate::activity::Activities;
use crate::config::Config;
use crate::error::ApiError;
use crate::live::Hub;
use crate::targets::Targets;
use crate::time::now;

/// Maximum number of open stores kept for later requests.
const STORES_KEPT: usize = 4;

/// Handle to the application state shared by all handlers.
#[derive(Clone, Debug)]
pub struct App(Arc<AppState>);

#[derive(Debug)]
struct AppState {
    store: PathBuf,
    data: PathBuf,
    stores: Mutex<Vec<Store>>,
    hub: Arc<Hub>,
    targets: Targets,
    activities: Arc<Activities>,
    host: Host,
    started_at: String,
}

impl App {
    /// Creates the application on a job store; targets are kept in a file next to it.
    ///
    /// # Errors
    /// When the store cannot be opened, or the file of targets cannot be read.
    pub fn open(config: &Config) -> Result<Self, ApiError> {
        let Config { store, data, targets, allow_scripts, .. } = config;
        Self::on(store, data, || Targets::open(store, data, targets.clone(), *allow_scripts))
    }

    /// Creates the application on a job store, with these targets.
    ///
    /// # Errors
    /// When the store cannot be opened, and those of `targets`.
    pub(crate) fn on(
        store: &Path,
        data: &Path,
        targets: impl FnOnce() -> Result<Targets, ApiError>,
    ) -> Result<Self, ApiError> {
        let first = Store::open(store)?;
        let hub = Arc::new(Hub::new());
        let targets = targets()?;
        let activities = Activities::new(Arc::clone(&hub), store.to_owned());
        Ok(Self(Arc::new(AppState {
            store: store.to_owned(),
            data: data.to_owned(),
            stores: Mutex::new(vec![first]),
            hub,
            targets,
            activities,
            host: triphammer_observe::host::detect(),
            started_at: now(),
        })))
    }

    /// The hub of live events.
    #[must_use]
    pub fn hub(&self) -> &Arc<Hub> {
        &self.0.hub
    }

    /// The running and queued activities.
    #[must_use]
    pub(crate) fn activities(&self) -> &Arc<Activities> {
        &self.0.activities
    }

    /// The targets of the server.
    #[must_use]
    pub(crate) fn targets(&self) -> &Targets {
        &self.0.targets
    }

    /// Facts about this host.
    #[must_use]
    pub(crate) fn host(&self) -> &Host {
        &self.0.host
    }

    /// Start time of the server, RFC 3339, UTC.
    #[must_use]
    pub(crate) fn started_at(&self) -> &str {
        &self.0.started_at
    }

    /// Directory of the SQLite files that clients may use.
    #[must_use]
    pub(crate) fn data(&self) -> &Path {
        &self.0.data
    }

    /// The job store's file.
    #[must_use]
    pub(crate) fn store_path(&self) -> &Path {
        &self.0.store
    }

    /// Queries the store on a thread that may block.
    ///
    /// # Errors
    /// The error of `ask`, or when the store cannot be opened.
    pub(crate) async fn store<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let shared = Arc::clone(&self.0);
        blocking(move || {
            let kept =
                shared.stores.lock().expect("no thread panics while it holds the lock").pop();
            let store = kept.map_or_else(|| Store::open(&shared.store), Ok)?;
            let answer = ask(&store)?;
            let mut stores =
                shared.stores.lock().expect("no thread panics while it holds the lock");
            if stores.len() < STORES_KEPT {
                stores.push(store);
            }
            Ok(answer)
        })
        .await
    }
}

/// Runs blocking work on a separate thread.
///
/// # Errors
/// The error of `work`; a panic in it becomes an internal error.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| Err(ApiError::internal()))
}
