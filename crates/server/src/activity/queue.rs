//! The queue: at most one activity per target goes on, the others wait in the order in which they came.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use serde_json::Value;
use triphammer_runner::Failure;
use triphammer_runner::job::Handle;
use triphammer_runner::watch::Silent;

use super::form::{Asked, Form};
use super::perform::{self, ActivityOutcome};
use super::{Activity, ActivityDetail, ActivityState};
use crate::error::ApiError;
use crate::live::{Hub, LiveEvent};
use crate::targets::Targets;
use crate::time::now;

/// Activities that may wait.
const QUEUED_MAX: usize = 100;
/// Activities kept after their end.
const OVER_MAX: usize = 100;

/// All activities of this server.
#[derive(Debug)]
pub struct Activities {
    hub: Arc<Hub>,
    store: PathBuf,
    table: Mutex<ActivityTable>,
    /// Told when an activity ends.
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
    asked: Asked,
    spec: Option<Value>,
    document: Option<Value>,
    handle: Handle,
}

impl Activities {
    /// None yet.
    pub fn new(hub: Arc<Hub>, store: PathBuf) -> Arc<Self> {
        Arc::new(Self { hub, store, table: Mutex::default(), ended: Condvar::new() })
    }

    /// The job store's file.
    pub(super) fn store(&self) -> &std::path::Path {
        &self.store
    }

    /// Where events go.
    pub(super) fn hub(&self) -> &Hub {
        &self.hub
    }

    /// Takes a form in: begins it, or puts it in line.
    ///
    /// # Errors
    /// When the form cannot be, the queue is full, or the server ends.
    pub fn submit(self: &Arc<Self>, form: &Form, targets: &Targets) -> Result<Activity, ApiError> {
        let asked = Asked::new(form, targets)?;
        let handle = Handle::default();
        let mut job = asked.job(None, &handle)?;
        // A run's values are read when it begins: they depend on what is in the database then.
        if !form.command.drives() {
            job.preview(&mut Silent)?;
        }
        let mut urls = job.targets().into_iter();
        let mut table = self.lock();
        if table.closed {
            return Err(ApiError::conflict("the server is ending; it begins nothing any more"));
        }
        let waiting = table.entries.values().filter(|e| e.activity.state == ActivityState::Queued);
        if waiting.count() >= QUEUED_MAX {
            return Err(ApiError::conflict(format!("{QUEUED_MAX} activities wait already")));
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

    /// All, newest first.
    pub fn list(&self) -> Vec<Activity> {
        self.lock().entries.values().rev().map(|entry| entry.activity.clone()).collect()
    }

    /// One, with all that is known of it.
    ///
    /// # Errors
    /// When there is none of that number.
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

    /// Asks an activity to end: takes it out of the queue, lets a run's transactions end, cancels a build or
    /// check. Asked a second time, a run gives up what is in flight.
    ///
    /// # Errors
    /// When there is none of that number, or it has ended.
    pub fn stop(self: &Arc<Self>, id: u64) -> Result<Activity, ApiError> {
        self.end(id, false)
    }

    /// Asks an activity to end at once.
    ///
    /// # Errors
    /// As [`Activities::stop`].
    pub fn abort(self: &Arc<Self>, id: u64) -> Result<Activity, ApiError> {
        self.end(id, true)
    }

    fn end(self: &Arc<Self>, id: u64, at_once: bool) -> Result<Activity, ApiError> {
        let mut table = self.lock();
        let entry = table.entries.get_mut(&id).ok_or_else(|| absent(id))?;
        let state = entry.activity.state;
        let next = match state {
            state if state.is_over() => {
                return Err(ApiError::conflict(format!("activity {id} has ended already")));
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

    /// Begins what may begin, and renumbers the queue; tells what has changed, and `new` in any case.
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

    /// Notes how an activity ended, and lets the next one begin.
    fn over(self: &Arc<Self>, id: u64, ended: Result<ActivityOutcome, ApiError>) {
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
                        // What a search finds is another figure than that of its runs.
                        activity.primary_metric_name = Some(name);
                        activity.primary_metric_value = Some(value);
                    }
                    entry.document = Some(ended.document);
                }
                // What was asked to end and then says that it could not go on has done as asked.
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

    /// Changes what is known of an activity, and tells it.
    pub(super) fn change(&self, id: u64, change: impl FnOnce(&mut Activity)) {
        let mut table = self.lock();
        if let Some(entry) = table.entries.get_mut(&id) {
            change(&mut entry.activity);
            self.notify(entry);
        }
    }

    /// Keeps how a run is driven.
    pub(super) fn resolved(&self, id: u64, spec: Value) {
        if let Some(entry) = self.lock().entries.get_mut(&id) {
            entry.spec = Some(spec);
        }
    }

    /// Begins nothing any more, and asks all to end: gently first, at once when said again.
    pub fn close(self: &Arc<Self>) {
        let going: Vec<u64> = {
            let mut table = self.lock();
            table.closed = true;
            let going = table.entries.iter().filter(|(_, e)| !e.activity.state.is_over());
            going.map(|(id, _)| *id).collect()
        };
        // The newest first, so that no waiting one begins when the one before it ends.
        for id in going.into_iter().rev() {
            let _ = self.stop(id);
        }
    }

    /// Waits until nothing goes on, at most for `limit`; says whether that is so.
    pub fn wait(&self, limit: Duration) -> bool {
        let going =
            |table: &mut ActivityTable| table.entries.values().any(|e| !e.activity.state.is_over());
        let waited = self.ended.wait_timeout_while(self.lock(), limit, going);
        !waited.expect("nobody panics with it").1.timed_out()
    }

    fn notify(&self, entry: &Entry) {
        self.hub.publish(&LiveEvent::Activity(entry.activity.clone()));
    }

    fn lock(&self) -> MutexGuard<'_, ActivityTable> {
        self.table.lock().expect("nobody panics with it")
    }
}

fn absent(id: u64) -> ApiError {
    ApiError::not_found(format!("there is no activity {id}; those of an earlier start are gone"))
}
