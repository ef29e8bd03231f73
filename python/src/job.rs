//! A job on a thread of its own.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;
use triphammer_document::Document;
use triphammer_report as report;
use triphammer_runner::job::{self, FinishedJob, Order};
use triphammer_runner::watch::Silent;
use triphammer_runner::{compare, resources};
use triphammer_settings::command::JobKind;
use triphammer_settings::failure::Failure;
use triphammer_settings::handle::Handle;

use crate::command::{Process, settings};
use crate::events::{End, EventQueues, Reporter};
use crate::failure::Raised;

/// A job: created, then started once. `stop` and `abort` may be called at any time, from any thread.
#[pyclass(frozen, module = "triphammer._native")]
pub struct Job {
    kind: JobKind,
    /// The job until it starts.
    waiting: Mutex<Option<job::Job>>,
    handle: Handle,
    shared: Arc<EventQueues>,
    store: Option<String>,
}

#[pymethods]
impl Job {
    /// Reads the settings that all jobs of the kind share; opens no connection.
    #[new]
    fn new(py: Python<'_>, kind: &str, given: Vec<(String, String)>) -> PyResult<Self> {
        py.detach(|| Self::of(kind, &given)).map_err(PyErr::from)
    }

    /// Every setting with its source, as JSON: a list per target.
    fn preview(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| {
            let mut job = self.take()?;
            Ok(report::json_pretty(&job.specification(&mut Silent)?))
        })
        .map_err(|error: Raised| error.into())
    }

    /// Starts the job.
    fn start(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.begin()).map_err(PyErr::from)
    }

    /// The next second as JSON; empty if none will come, `None` if none came in this time. Raises what a
    /// handler of signals raises, such as `KeyboardInterrupt`.
    fn second(&self, py: Python<'_>, wait_ms: u64) -> PyResult<Option<String>> {
        py.check_signals()?;
        let second = py.detach(|| self.shared.second(Duration::from_millis(wait_ms)));
        if second.is_none() {
            py.check_signals()?;
        }
        Ok(second)
    }

    /// The next message as JSON, if there is one.
    fn message(&self) -> Option<String> {
        self.shared.message()
    }

    /// Number of seconds that were not read in time.
    fn missed(&self) -> u64 {
        self.shared.missed()
    }

    /// Waits for the end; returns whether it came. Raises as `second` does.
    fn wait(&self, py: Python<'_>, wait_ms: u64) -> PyResult<bool> {
        let is_over = py.detach(|| self.shared.wait(Duration::from_millis(wait_ms)).is_some());
        py.check_signals()?;
        Ok(is_over)
    }

    /// Whether the job has ended.
    fn is_over(&self) -> bool {
        self.shared.wait(Duration::ZERO).is_some()
    }

    /// Kind and JSON of the document, job number, whether all is good, the outcome in one line.
    #[expect(clippy::type_complexity, reason = "a tuple for Python")]
    fn end(&self) -> PyResult<Option<(&'static str, Option<String>, Option<i64>, bool, String)>> {
        let Some(end) = self.shared.wait(Duration::ZERO) else { return Ok(None) };
        let End { kind, document, job, good, outcome } = end?;
        Ok(Some((kind, document, job, good, outcome)))
    }

    fn stop(&self, py: Python<'_>) {
        py.detach(|| self.handle.stop());
    }

    fn abort(&self, py: Python<'_>) {
        py.detach(|| self.handle.abort());
    }

    #[getter]
    fn kind(&self) -> &'static str {
        self.kind.name()
    }

    /// The file of the job store, if the settings name one.
    #[getter]
    fn store(&self) -> Option<&str> {
        self.store.as_deref()
    }
}

impl Job {
    fn of(kind: &str, given: &[(String, String)]) -> Result<Self, Raised> {
        let Some(kind) = JobKind::ALL.into_iter().find(|known| known.name() == kind) else {
            let names: Vec<_> = JobKind::ALL.iter().map(|kind| kind.name()).collect();
            let names = names.join(", ");
            return Err(Raised::argument(format!("unknown job `{kind}`; use one of {names}")));
        };
        resources::check_process()?;
        let (settings, warnings) = settings(kind.into(), given)?;
        let job = job::Job::new(Order::new(settings, &Process))?;
        let shared = Arc::new(EventQueues::default());
        for warning in warnings.iter().map(String::as_str).chain(job.warnings()) {
            shared.warn(warning);
        }
        let (handle, store) = (job.handle(), job.settings().get("store").map(str::to_owned));
        Ok(Self { kind, waiting: Mutex::new(Some(job)), handle, shared, store })
    }

    fn take(&self) -> Result<job::Job, Raised> {
        let job = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
        job.ok_or_else(|| Raised::argument("the job has already started"))
    }

    fn begin(&self) -> Result<(), Raised> {
        let mut job = self.take()?;
        if self.kind == JobKind::Drop && !job.settings_mut().switch("yes")? {
            let (title, target) = (job.workload().title.clone(), job.targets().join(" and "));
            let message =
                format!("nothing was dropped: use yes=True to drop {title} from {target}");
            return Err(Raised::argument(message));
        }
        let shared = Arc::clone(&self.shared);
        let work = move || {
            // Also when the thread panics, so that nobody waits forever.
            let guard = Guard(&shared);
            shared.end(perform(job, &shared));
            drop(guard);
        };
        let started = std::thread::Builder::new().name("triphammer".into()).spawn(work);
        let doing = "starting the thread of the job".to_owned();
        started.map_err(|error| Failure::System { doing, error })?;
        Ok(())
    }
}

/// Ends the job as a defect if nothing else has ended it.
struct Guard<'a>(&'a EventQueues);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.0.end(Err(Raised::defect()));
    }
}

/// Runs the job to its end.
fn perform(mut job: job::Job, shared: &Arc<EventQueues>) -> Result<End, Raised> {
    let warn = |text: &str| shared.warn(text);
    let mut reporter = Reporter::new(Arc::clone(shared), job.workload());
    let finished = job.run(&mut reporter);
    // The runs of a campaign have their own notes in their results.
    job.remarks().iter().filter(|_| !job.kind().is_campaign()).for_each(|remark| warn(remark));
    let mut finished = finished?;
    let is_good = is_good(&mut job, &finished, warn)?;
    let (trouble, torn) = finished.end_outputs();
    let torn = torn.map(|failure| failure.to_string());
    for text in finished.reason.iter().chain(&trouble).chain(&torn) {
        warn(text);
    }
    let document = finished
        .document
        .as_ref()
        .map(|document| serde_json::to_string(document).expect("a document is plain data"));
    Ok(End {
        kind: job.kind().name(),
        document,
        job: finished.job.map(|job| job.0),
        good: is_good && torn.is_none() && finished.is_stored,
        outcome: finished.outcome(),
    })
}

/// Whether the command would exit with 0, as far as the result goes.
fn is_good(
    job: &mut job::Job,
    finished: &FinishedJob,
    warn: impl Fn(&str),
) -> Result<bool, Raised> {
    if let Some(Document::Compare(result)) = &finished.document {
        compare::warning(job.settings_mut(), result)?.into_iter().for_each(warn);
    }
    Ok(finished.is_good())
}
