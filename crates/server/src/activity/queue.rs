//! The queue: at most one activity per target runs at a time; the others wait in the order of their
//! arrival.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use serde_json::Value;
use triphammer_core::pace::{LoadChange, LoadChangeError, LoadChanged, LoadNow};
use triphammer_settings::failure::Failure;
use triphammer_settings::handle::Handle;

use super::form::{Form, ValidForm};
use super::perform::{self, ActivityOutcome};
use super::run_metrics::MetricsOfRuns;
use super::{Activity, ActivityDetail, ActivityState};
use crate::error::ApiError;
use crate::live::{Hub, LiveEvent};
use crate::targets::Targets;
use crate::time::now;

/// Maximum number of waiting activities.
const QUEUED_MAX: usize = 100;
/// Maximum number of activities kept after their end.
const OVER_MAX: usize = 100;

/// All activities of this server.
#[derive(Debug)]
pub struct Activities {
    hub: Arc<Hub>,
    store: PathBuf,
    table: Mutex<ActivityTable>,
    run_metrics: MetricsOfRuns,
    /// Notified when an activity ends.
    ended: Condvar,
}

#[derive(Debug, Default)]
struct ActivityTable {
    last: u64,
    entries: BTreeMap<u64, Entry>,
    closed: bool,
}

#[derive(Debug)]
struct Entry {
    activity: Activity,
    asked: ValidForm,
    spec: Option<Value>,
    document: Option<Value>,
    handle: Handle,
}

impl Activities {
    /// Creates an empty queue.
    pub fn new(hub: Arc<Hub>, store: PathBuf) -> Arc<Self> {
        Arc::new(Self {
            hub,
            store,
            table: Mutex::default(),
            run_metrics: MetricsOfRuns::default(),
            ended: Condvar::new(),
        })
    }

    /// The job store's file.
    pub(super) fn store(&self) -> &std::path::Path {
        &self.store
    }

    /// Metrics of the current runs.
    pub fn run_metrics(&self) -> &MetricsOfRuns {
        &self.run_metrics
    }

    /// The hub that receives the events.
    pub(super) fn hub(&self) -> &Hub {
        &self.hub
    }

    /// Accepts a form: starts it or adds it to the queue.
    ///
    /// # Errors
    /// When the form is invalid, the queue is full, or the server is shutting down.
    pub fn submit(self: &Arc<Self>, form: &Form, targets: &Targets) -> Result<Activity, ApiError> {
        let asked = ValidForm::new(form, targets)?;
        let handle = Handle::default();
        let mut job = asked.job(None, &handle)?;
        job.validate()?;
        let mut urls = job.targets().into_iter();
        let mut table = self.lock();
        if table.closed {
            return Err(ApiError::conflict("the server is shutting down and starts nothing new"));
        }
        let waiting = table.entries.values().filter(|e| e.activity.state == ActivityState::Queued);
        if waiting.count() >= QUEUED_MAX {
            return Err(ApiError::conflict(format!("{QUEUED_MAX} activities are already waiting")));
        }
        table.last += 1;
        let id = table.last;
        let activity = Activity {
            id,
            command: form.command,
            state: ActivityState::Queued,
            position: None,
            target: form.target.clone(),
            url: urls.next().unwrap_or_default(),
            other_url: urls.next(),
            workload: asked.workload.name.to_string(),
            label: job.settings().get("label").map(str::to_owned),
            job: None,
            users: None,
            rampup_s: None,
            window_s: None,
            primary_metric_name: None,
            primary_metric_value: None,
            good: None,
            outcome: None,
            error: None,
            created_at: now(),
            started_at: None,
            ended_at: None,
        };
        table.entries.insert(id, Entry { activity, asked, spec: None, document: None, handle });
        self.advance(&mut table, Some(id));
        Ok(table.entries[&id].activity.clone())
    }

    /// Returns all activities, newest first.
    pub fn list(&self) -> Vec<Activity> {
        self.lock().entries.values().rev().map(|entry| entry.activity.clone()).collect()
    }

    /// Number of the activity that is using a saved target now; `None` if it is free.
    pub fn using(&self, target: &str) -> Option<u64> {
        let table = self.lock();
        let mut going = table.entries.iter().filter(|(_, entry)| {
            entry.activity.state != ActivityState::Queued && !entry.activity.state.is_over()
        });
        let uses =
            |form: &Form| [&form.target, &form.other].into_iter().flatten().any(|n| n == target);
        going.find(|(_, entry)| uses(&entry.asked.form)).map(|(id, _)| *id)
    }

    /// Returns one activity without its details, which may be long.
    ///
    /// # Errors
    /// When there is no activity with that number.
    pub fn activity(&self, id: u64) -> Result<Activity, ApiError> {
        let table = self.lock();
        table.entries.get(&id).map(|entry| entry.activity.clone()).ok_or_else(|| absent(id))
    }

    /// Returns one activity with its details.
    ///
    /// # Errors
    /// When there is no activity with that number.
    pub fn get(&self, id: u64) -> Result<ActivityDetail, ApiError> {
        let table = self.lock();
        let entry = table.entries.get(&id).ok_or_else(|| absent(id))?;
        Ok(ActivityDetail {
            activity: entry.activity.clone(),
            form: entry.asked.form.clone(),
            spec: entry.spec.clone(),
            document: entry.document.clone(),
        })
    }

    /// Stops an activity: removes it from the queue, drains a run, or cancels a build or check. The
    /// second call aborts a run.
    ///
    /// # Errors
    /// When there is no activity with that number, or it has already ended.
    pub fn stop(self: &Arc<Self>, id: u64) -> Result<Activity, ApiError> {
        self.end(id, false)
    }

    /// Aborts an activity.
    ///
    /// # Errors
    /// As [`Activities::stop`].
    pub fn abort(self: &Arc<Self>, id: u64) -> Result<Activity, ApiError> {
        self.end(id, true)
    }

    /// Changes the load of a run in progress.
    ///
    /// # Errors
    /// When there is no activity with that number, it has no run whose load can be changed, or the
    /// new value is not possible.
    pub fn change_load(&self, id: u64, change: LoadChange) -> Result<LoadChanged, ApiError> {
        self.handle(id)?.change_load(change).map_err(refused)
    }

    /// The load of a run in progress.
    ///
    /// # Errors
    /// When there is no activity with that number, or it has no run whose load can be changed.
    pub fn load_now(&self, id: u64) -> Result<LoadNow, ApiError> {
        self.handle(id)?.load_now().map_err(refused)
    }

    /// The handle of an activity in progress.
    fn handle(&self, id: u64) -> Result<Handle, ApiError> {
        let table = self.lock();
        let entry = table.entries.get(&id).ok_or_else(|| absent(id))?;
        if entry.activity.state != ActivityState::Running {
            let message = format!("activity {id} has no run in progress, whose load could change");
            return Err(ApiError::conflict(message));
        }
        Ok(entry.handle.clone())
    }

    fn end(self: &Arc<Self>, id: u64, at_once: bool) -> Result<Activity, ApiError> {
        let mut table = self.lock();
        let entry = table.entries.get_mut(&id).ok_or_else(|| absent(id))?;
        let state = entry.activity.state;
        let next = match state {
            state if state.is_over() => {
                return Err(ApiError::conflict(format!("activity {id} has already ended")));
            }
            ActivityState::Queued => {
                entry.activity.ended_at = Some(now());
                entry.activity.position = None;
                ActivityState::Cancelled
            }
            ActivityState::Running if !at_once => ActivityState::Stopping,
            _ => ActivityState::Aborting,
        };
        entry.activity.state = next;
        match next {
            ActivityState::Stopping => entry.handle.stop(),
            ActivityState::Aborting => entry.handle.abort(),
            _ => {}
        }
        if next != state {
            self.notify(entry);
        }
        self.advance(&mut table, None);
        Ok(table.entries[&id].activity.clone())
    }

    /// Starts activities whose targets are free, and renumbers the queue; publishes what changed,
    /// and `new` in any case.
    fn advance(self: &Arc<Self>, table: &mut ActivityTable, new: Option<u64>) {
        let mut busy: Vec<String> = table
            .entries
            .values()
            .filter(|e| e.activity.state != ActivityState::Queued && !e.activity.state.is_over())
            .flat_map(|e| e.activity.urls().map(str::to_owned).collect::<Vec<_>>())
            .collect();
        let mut position = 0;
        for (id, entry) in &mut table.entries {
            if entry.activity.state != ActivityState::Queued {
                continue;
            }
            let before = entry.activity.clone();
            let places: Vec<String> = entry.activity.urls().map(str::to_owned).collect();
            if places.iter().any(|url| busy.contains(url)) {
                position += 1;
                entry.activity.position = Some(position);
            } else {
                entry.activity.position = None;
                entry.activity.state = ActivityState::Running;
                entry.activity.started_at = Some(now());
                self.begin(*id, entry);
            }
            busy.extend(places);
            if entry.activity != before || Some(*id) == new {
                self.notify(entry);
            }
        }
        let over: Vec<u64> = table
            .entries
            .iter()
            .filter(|(_, entry)| entry.activity.state.is_over())
            .map(|(id, _)| *id)
            .collect();
        for id in over.iter().take(over.len().saturating_sub(OVER_MAX)) {
            table.entries.remove(id);
        }
    }

    /// Starts the thread of an activity.
    fn begin(self: &Arc<Self>, id: u64, entry: &mut Entry) {
        let all = Arc::clone(self);
        let asked = entry.asked.clone();
        let handle = entry.handle.clone();
        let thread = std::thread::Builder::new().name(format!("activity-{id}"));
        let started = thread.spawn(move || {
            let work = std::panic::AssertUnwindSafe(|| perform::perform(&all, id, &asked, &handle));
            let ended =
                std::panic::catch_unwind(work).unwrap_or_else(|_| Err(ApiError::internal()));
            all.over(id, ended);
        });
        if let Err(error) = started {
            let failure = Failure::System { doing: "starting a thread".into(), error };
            entry.activity.state = ActivityState::Failed;
            entry.activity.ended_at = Some(now());
            entry.activity.error = Some(failure.into());
        }
    }

    /// Records how an activity ended, and starts the next one.
    fn over(self: &Arc<Self>, id: u64, ended: Result<ActivityOutcome, ApiError>) {
        self.run_metrics.end(id);
        let mut table = self.lock();
        if let Some(entry) = table.entries.get_mut(&id) {
            let asked_to_end = entry.activity.state != ActivityState::Running;
            let activity = &mut entry.activity;
            activity.ended_at = Some(now());
            match ended {
                Ok(ended) => {
                    activity.state = ended.state;
                    activity.good = Some(ended.good);
                    activity.outcome = Some(ended.outcome);
                    if let Some((name, value)) = ended.primary_metric {
                        // The result of a search is a different metric than that of its runs.
                        activity.primary_metric_name = Some(name);
                        activity.primary_metric_value = Some(value);
                    }
                    entry.document = Some(ended.document);
                }
                // An activity that fails after a stop request counts as stopped.
                Err(error) => {
                    activity.state = if asked_to_end && error.code == "cancelled" {
                        ActivityState::Interrupted
                    } else {
                        ActivityState::Failed
                    };
                    activity.good = Some(false);
                    activity.error = Some(error);
                }
            }
            self.notify(entry);
        }
        self.advance(&mut table, None);
        drop(table);
        self.ended.notify_all();
    }

    /// Updates an activity and publishes the change.
    pub(super) fn change(&self, id: u64, change: impl FnOnce(&mut Activity)) {
        let mut table = self.lock();
        if let Some(entry) = table.entries.get_mut(&id) {
            change(&mut entry.activity);
            self.notify(entry);
        }
    }

    /// URL of an activity's target, by index: A's, or B's if it has its own.
    pub(super) fn url(&self, id: u64, place: usize) -> String {
        let table = self.lock();
        let activity = table.entries.get(&id).map(|entry| &entry.activity);
        let url = activity.and_then(|activity| activity.urls().nth(place).or(Some(&activity.url)));
        url.unwrap_or_default().to_owned()
    }

    /// Stores the spec of a run.
    pub(super) fn resolved(&self, id: u64, spec: Value) {
        if let Some(entry) = self.lock().entries.get_mut(&id) {
            entry.spec = Some(spec);
        }
    }

    /// Starts nothing new and stops all activities; the second call aborts them.
    pub fn close(self: &Arc<Self>) {
        let going: Vec<u64> = {
            let mut table = self.lock();
            table.closed = true;
            let going = table.entries.iter().filter(|(_, e)| !e.activity.state.is_over());
            going.map(|(id, _)| *id).collect()
        };
        // Newest first, so that no waiting activity starts when the one before it ends.
        for id in going.into_iter().rev() {
            let _ = self.stop(id);
        }
    }

    /// Waits until no activity is running, at most for `limit`; returns whether that is the case.
    pub fn wait(&self, limit: Duration) -> bool {
        let going =
            |table: &mut ActivityTable| table.entries.values().any(|e| !e.activity.state.is_over());
        let waited = self.ended.wait_timeout_while(self.lock(), limit, going);
        !waited.expect("no thread panics while it holds the lock").1.timed_out()
    }

    fn notify(&self, entry: &Entry) {
        self.hub.publish(&LiveEvent::Activity(entry.activity.clone()));
    }

    fn lock(&self) -> MutexGuard<'_, ActivityTable> {
        self.table.lock().expect("no thread panics while it holds the lock")
    }
}

fn refused(error: LoadChangeError) -> ApiError {
    match error {
        LoadChangeError::Value(reason) => ApiError::invalid(reason),
        LoadChangeError::State(reason) => ApiError::conflict(reason),
    }
}

fn absent(id: u64) -> ApiError {
    ApiError::not_found(format!(
        "there is no activity {id}; activities are kept only until the \
                                 server restarts"
    ))
}
