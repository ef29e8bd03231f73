//! Finds an exemplar of a stored run, and uses the run's settings as defaults for those of the
//! command line, so that its input is generated as before.

use std::path::Path;

use triphammer_core::pace::Changed;
use triphammer_core::value::Timestamp;
use triphammer_core::workload::TransactionDef;
use triphammer_document::JobId;
use triphammer_document::parts::ScriptFacts;
use triphammer_document::result::{RunResult, SlowTransaction};
use triphammer_engine::{Origin, Replay, RunEnd};
use triphammer_settings::command::JobKind;
use triphammer_settings::failure::Failure;
use triphammer_settings::format::{counted, duration, milliseconds};
use triphammer_settings::{Mark, Settings, Source, is};
use triphammer_store::Store;
use triphammer_workloads::{KeptFiles, describe};

/// The setting of the target.
const TARGET: &str = "target";

/// Result of replaying an exemplar.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// Describes the original and the new execution.
    pub text: String,
    /// Whether the transaction ended without a failure.
    pub is_good: bool,
}

/// An exemplar of a stored run.
#[derive(Clone, Debug)]
pub struct Exemplar {
    job: i64,
    number: usize,
    slow: SlowTransaction,
    started_at: String,
}

/// When the mix of a run was first changed while it was in progress, in seconds since its start.
fn mix_changed(store: &Store, job: JobId) -> Option<f64> {
    let [_, ended] = store.evidence(job).ok()??;
    let end: RunEnd = serde_json::from_str(&ended).ok()?;
    let change = end.load_changes.into_iter().find(|change| change.what == Changed::Mix)?;
    Some(change.at.duration().as_secs_f64())
}

impl Exemplar {
    /// Loads the exemplar `name`, as in `12:3`, from the store, and adds the settings of its run.
    ///
    /// # Errors
    /// When it does not exist.
    pub fn find(name: &str, store: &Path, settings: &mut Settings) -> Result<Self, Failure> {
        let refuse = |why: String| Failure::refuse(format!("--replay-exemplar {name}: {why}"));
        let form = || refuse("expected a job and the number of an exemplar, as in 12:1".to_owned());
        let (job, number) = name.split_once(':').ok_or_else(form)?;
        let number: usize = number.parse().map_err(|_| form())?;
        let store = Store::open_to_read(store).map_err(|error| refuse(error.to_string()))?;
        let id = store.find(job, &[JobKind::Run], |_| true)?;
        let stored = store.load(id).map_err(|error| refuse(error.to_string()))?;
        let job = id.0;
        let result: RunResult = stored
            .document
            .and_then(|document| serde_json::from_value(document).ok())
            .ok_or_else(|| refuse(format!("job {job} is not a finished run")))?;
        let slow = number.checked_sub(1).and_then(|place| result.exemplars.get(place)).cloned();
        let slow = slow
            .ok_or_else(|| refuse(format!("job {job} has {} exemplars", result.exemplars.len())))?;
        if mix_changed(&store, id).is_some_and(|at| slow.finished_s > at) {
            return Err(refuse(format!(
                "the mix of job {job} was changed before this transaction ended, and what was drawn from \
                 another mix cannot be drawn again: choose one from before the change"
            )));
        }
        // A replay writes: never to the default file what ran elsewhere.
        let default = Source::Default.to_string();
        let mut of_run = result.settings.iter();
        let was_named = of_run.any(|of| of.name == TARGET && of.source != default);
        if was_named && settings.get(TARGET).is_none() {
            let target = result.target.as_str();
            return Err(refuse(format!(
                "job {job} ran at {target}: name the target, as in `triphammer run {target} \
                 --replay-exemplar {name}`"
            )));
        }
        if !result.workload.scripts.is_empty() {
            let texts = result.workload.scripts.iter().map(ScriptFacts::script).collect();
            if let Some(work) = describe(&result.workload.name)?.own_work() {
                settings.set(work.setting, KeptFiles::value(work, texts)?, Source::Job(job));
            }
        }
        let is_arrival = matches!(slow.origin, Origin::Arrival(_));
        for setting in &result.settings {
            let name = setting.name.as_str();
            let marked = |mark| is(JobKind::Run, name, mark);
            // A setting that does not affect the input of an arrival may name a file.
            let is_left = marked(Mark::NotReplayed) || is_arrival && marked(Mark::OfLoad);
            if !is_left && setting.source != Source::Default.to_string() {
                settings.set(name, &setting.value, Source::Job(job));
            }
        }
        Ok(Self { job, number, slow, started_at: result.started_at })
    }

    /// The origin of its input.
    #[must_use]
    pub fn origin(&self) -> Origin {
        self.slow.origin
    }

    /// Time at which it was due, which can be part of its input.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "seconds of a run")]
    pub fn date(&self) -> Timestamp {
        let zero: Option<jiff::Timestamp> = self.started_at.parse().ok();
        let zero = zero.map_or(0, jiff::Timestamp::as_second);
        Timestamp::from_seconds(zero + self.slow.due_s as i64)
    }

    /// Describes the original and the new execution.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "times for people")]
    pub fn text(&self, replay: &Replay, transactions: &[TransactionDef]) -> String {
        let now = match &replay.outcome {
            Ok(completion) if completion.committed => "committed".to_owned(),
            Ok(_) => "rolled back".to_owned(),
            Err(error) => format!("failed ({error})"),
        };
        let trips = counted(replay.round_trips, "round trips");
        let sent: Vec<_> = replay.sent.iter().map(|sql| format!("{sql};\n")).collect();
        format!(
            "Exemplar {} of job {}: {}, {}\n\nthen  {} ms of response time, {} ms of it service, {} into the \
             run\nnow   {now} in {} ms, {trips}\n\n{}\n\n{}",
            self.number,
            self.job,
            transactions[replay.transaction].title,
            triphammer_settings::format::origin(self.slow.origin),
            milliseconds(self.slow.response_us as f64),
            milliseconds(self.slow.service_us as f64),
            duration(self.slow.started_s),
            milliseconds(replay.took.0 as f64 / 1000.0),
            replay.input,
            sent.concat()
        )
    }
}
