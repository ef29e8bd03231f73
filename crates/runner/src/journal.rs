//! Writes a job to the store, if there is one: a store that cannot be written to causes one warning
//! and never ends a run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;
use triphammer_core::Scale;
use triphammer_core::event::Note;
use triphammer_core::spec::RunSpec;
use triphammer_core::workload::{Description, Workload};
use triphammer_document::build::BuildReport;
use triphammer_document::check::{CheckReport, CheckResult};
use triphammer_document::ending::Flaw;
use triphammer_document::parts::Status;
use triphammer_document::redacted::Redacted;
use triphammer_document::result::{DAY, EarlierRun, RunFacts, RunResult};
use triphammer_document::second::Second;
use triphammer_document::{JobDocument, JobId};
use triphammer_engine::RunEnd;
use triphammer_settings::Settings;
use triphammer_settings::command::JobKind;
use triphammer_settings::failure::Failure;
use triphammer_settings::target::Target;
use triphammer_store::{
    CheckRow, JobFilter, JobHeader, JobRow, JobStatus, ReadAt, Store, StoreError,
};

use crate::build_request::BuildRequest;
use crate::plan::CampaignPlan;

/// Number of newest runs among which those like a run are searched.
const EARLIER_MAX: u32 = 100;

/// The file of a store and the job in it; `None` if the job is not stored.
pub type Place = Option<(PathBuf, JobId)>;

/// Receives the warnings of a journal.
pub type Warn<'a> = &'a mut dyn FnMut(&str);

/// Writes a job to the store.
#[derive(Debug)]
pub struct Journal<'a> {
    store: Option<&'a mut Store>,
    /// Job number, if the job is stored.
    pub job: Option<JobId>,
    warned: bool,
    /// Whether part of the job could not be stored.
    torn: bool,
}

impl<'a> Journal<'a> {
    fn begin(store: Option<&'a mut Store>, header: &JobHeader, warn: Warn<'_>) -> Self {
        let mut journal = Self { store, job: None, warned: false, torn: false };
        match journal.store.as_mut().map(|store| store.begin(header)) {
            Some(Ok(job)) => journal.job = Some(job),
            Some(Err(error)) => {
                journal.torn = true;
                journal.warn(&error, warn);
            }
            None => {}
        }
        journal
    }

    /// The file of the store and the job in it; `None` if the job is not stored.
    #[must_use]
    pub fn place(&self) -> Option<(&Path, JobId)> {
        Some((self.store.as_ref()?.path(), self.job?))
    }

    /// Starts the job of a run; `parent` is the job that it belongs to and its position there.
    pub fn of_run(
        store: Option<&'a mut Store>,
        facts: &RunFacts,
        parent: Option<(JobId, u32)>,
        settings: &Settings,
        warn: Warn<'_>,
    ) -> Self {
        let header = JobHeader {
            kind: JobKind::Run,
            label: facts.label.clone(),
            workload: facts.workload.name.clone(),
            workload_version: facts.workload.version,
            scale: facts.workload.scale,
            scale_unit: facts.workload.scale_unit.clone(),
            target: facts.target.clone(),
            server: Some(facts.server.clone()),
            tool_version: facts.tool.version.clone(),
            users: Some(facts.spec.users),
            spec: Some(facts.spec.clone()),
            facts: facts.workload.facts.clone(),
            host: facts.host.clone(),
            transactions: facts
                .description
                .transactions
                .iter()
                .map(|t| t.name.to_string())
                .collect(),
            parent,
            // The runs of another job are repeated with that.
            plan: parent.is_none().then(|| given(settings)).flatten(),
        };
        Self::begin(store, &header, warn)
    }

    /// Starts the job of a build.
    pub fn of_build(
        store: Option<&'a mut Store>,
        target: &Target,
        request: &BuildRequest,
        settings: &Settings,
        warn: Warn<'_>,
    ) -> Self {
        let mut facts = request.settings.options.clone();
        facts.extend(request.dialect_options.clone());
        facts.insert("seed".to_owned(), request.settings.data_seed.to_string());
        let scale = request.settings.scale;
        let workload = request.workload.description();
        let jobs = Some(request.jobs);
        let header = JobHeader {
            plan: given(settings),
            ..header(workload, JobKind::Build, target, scale, jobs, facts)
        };
        Self::begin(store, &header, warn)
    }

    /// Starts the job of a check.
    pub fn of_check(
        store: Option<&'a mut Store>,
        workload: &Description,
        target: &Target,
        settings: &Settings,
        warn: Warn<'_>,
    ) -> Self {
        let (kind, scale) = (JobKind::Check, Scale::default());
        let header = JobHeader {
            plan: given(settings),
            ..header(workload, kind, target, scale, None, BTreeMap::new())
        };
        Self::begin(store, &header, warn)
    }

    /// Starts a job whose command has a workload of its own.
    pub(crate) fn of_own_load(
        store: Option<&'a mut Store>,
        kind: JobKind,
        (workload, target): (&Description, &Target),
        settings: &Settings,
        users: u32,
        warn: Warn<'_>,
    ) -> Self {
        let (scale, none) = (Scale::default(), BTreeMap::new());
        let header = JobHeader {
            label: settings.get("label").map(str::to_owned),
            plan: given(settings),
            ..header(workload, kind, target, scale, Some(users), none)
        };
        Self::begin(store, &header, warn)
    }

    /// Starts the job of a campaign.
    pub fn of_campaign(
        store: Option<&'a mut Store>,
        kind: JobKind,
        workload: &Description,
        target: &Target,
        settings: &Settings,
        scale: Scale,
        warn: Warn<'_>,
    ) -> Self {
        let header = JobHeader {
            label: settings.get("label").map(str::to_owned),
            plan: given(settings),
            ..header(workload, kind, target, scale, None, BTreeMap::new())
        };
        Self::begin(store, &header, warn)
    }

    /// Resumes the job of an interrupted campaign.
    ///
    /// # Errors
    /// When another process runs the job, or the store cannot be written to.
    pub fn resumed(store: Option<&'a mut Store>, job: JobId) -> Result<Self, Failure> {
        if let Some(store) = &store {
            store.resume(job).map_err(|error| Failure::refuse(error.to_string()))?;
        }
        Ok(Self { job: store.is_some().then_some(job), store, warned: false, torn: false })
    }

    /// The path of the store, for a job within this one.
    pub fn store(&mut self) -> Option<&mut Store> {
        self.store.as_deref_mut()
    }

    /// Server settings at the start of a run, as stored.
    pub fn settings_of(&self, run: &RunResult) -> Vec<(String, String)> {
        let store = self.store.as_deref().zip(run.job.map(JobId));
        let settings = store.map(|(store, job)| store.stored_settings(job, ReadAt::Start));
        settings.and_then(Result::ok).unwrap_or_default()
    }

    /// The earlier complete runs of the same load on the same target, the newest first; `None` without a
    /// store.
    pub fn earlier(&self, facts: &RunFacts) -> Option<Vec<EarlierRun>> {
        let store = self.store.as_deref()?;
        let filter = JobFilter {
            kind: Some(JobKind::Run),
            workload: Some(facts.workload.name.clone()),
            label: facts.label.clone(),
            parent: None,
            limit: Some(EARLIER_MAX),
        };
        let is_alike = |row: &JobRow| {
            let is_same = row.target == facts.target && row.label == facts.label;
            let is_good = row.ending.as_ref().is_some_and(|ending| ending.good);
            is_same && is_good && row.status == JobStatus::Complete && Some(row.id) != self.job
        };
        let rows = store.jobs(&filter).ok()?;
        let earlier = rows.iter().filter(|row| is_alike(row)).filter_map(|row| {
            let value = row.primary_metric_value?;
            let stored = store.load(row.id).ok()?;
            let is_same_work = stored.facts == facts.workload.facts
                && row.scale == facts.workload.scale
                && row.workload_version == facts.workload.version;
            let is_same_load = stored.spec.is_some_and(|spec| same_load(&spec, &facts.spec));
            let day = row.started_at.chars().take(DAY).collect();
            (is_same_work && is_same_load).then_some(EarlierRun { day, value })
        });
        Some(earlier.collect())
    }

    /// Stores the intermediate result of a campaign, and its primary metric.
    pub fn checkpoint(
        &mut self,
        document: &impl Serialize,
        primary_metric: Option<(String, f64)>,
        warn: Warn<'_>,
    ) {
        let document = serde_json::to_value(document).unwrap_or_default();
        let primary_metric = primary_metric.as_ref().map(|(name, value)| (name.as_str(), *value));
        self.with(warn, |store, job| store.checkpoint(job, &document, primary_metric));
    }

    /// Uses the store, if there is one and the job is in it.
    fn with(
        &mut self,
        warn: Warn<'_>,
        write: impl FnOnce(&mut Store, JobId) -> Result<(), StoreError>,
    ) {
        if let (Some(store), Some(job)) = (self.store.as_mut(), self.job)
            && let Err(error) = write(store, job)
        {
            self.torn = true;
            self.warn(&error, warn);
        }
    }

    /// Whether the job was completely stored, if there is a store.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        !self.torn
    }

    /// Checks that the ended job can be found; otherwise its number is removed.
    fn verify(&mut self, warn: Warn<'_>) {
        let (Some(store), Some(job)) = (self.store.as_ref(), self.job) else { return };
        if let Err(error) = store.verify(job) {
            self.torn = true;
            self.job = None;
            self.warn(&error, warn);
        }
    }

    fn warn(&mut self, error: &StoreError, warn: Warn<'_>) {
        if !std::mem::replace(&mut self.warned, true) {
            warn(&format!("the job is not completely stored: {error}"));
        }
    }

    /// Returns the last action before an immediate exit: it marks the job as interrupted, on a
    /// separate connection.
    pub fn final_message(&self) -> impl FnOnce() + Send + 'static {
        let store = self.store.as_ref().map(|store| store.path().to_owned());
        let job = self.job;
        move || {
            if let (Some(path), Some(job)) = (store, job)
                && let Ok(store) = Store::open(&path)
            {
                // The program exits anyway; if the store cannot be written to, it shows the job as
                // lost.
                let _ = store.interrupted(job);
            }
        }
    }

    /// Stores a second of a run.
    pub fn second(&mut self, second: &Second, warn: Warn<'_>) {
        // Data that cannot be written now is kept for a later batch.
        let was_torn = self.torn;
        self.with(warn, |store, job| store.second(job, second));
        self.torn = was_torn;
    }

    /// Stores a note.
    pub fn note(&mut self, note: &Note, warn: Warn<'_>) {
        self.with(warn, |store, job| store.note(job, note));
    }

    /// Stores the server settings.
    pub fn settings(&mut self, moment: ReadAt, settings: &[(String, String)], warn: Warn<'_>) {
        self.with(warn, |store, job| store.settings(job, moment, settings));
    }

    /// Stores the result of a run.
    pub fn finish(
        &mut self,
        result: &RunResult,
        (facts, end): (&RunFacts, &RunEnd),
        warn: Warn<'_>,
    ) {
        self.with(&mut *warn, |store, job| store.finish(job, result, facts, end));
        self.verify(warn);
    }

    /// Stores the failure of the job.
    pub fn failed(&mut self, failure: &Failure, warn: Warn<'_>) {
        let interrupted = failure.is_interruption();
        let status = if interrupted { Status::Interrupted } else { Status::Failed };
        self.end(status, None, &failure.to_string(), warn);
    }

    /// Stores the report of a build.
    pub fn built(&mut self, report: &BuildReport, warn: Warn<'_>) {
        self.end_with(report, warn);
    }

    /// Stores the report of a check.
    pub fn checked(&mut self, report: &CheckReport, warn: Warn<'_>) {
        let rows: Vec<CheckRow> = report.checks.iter().map(check_row).collect();
        self.with(&mut *warn, |store, job| store.checks(job, &rows));
        self.end_with(report, warn);
    }

    /// Stores the end of the job, with its document.
    pub fn end_with(&mut self, document: &impl JobDocument, warn: Warn<'_>) {
        self.end(document.head().status, document.ending().flaw, document, warn);
    }

    /// Stores the end of the job without a document, with the reason.
    pub fn end_without(&mut self, status: Status, reason: &str, warn: Warn<'_>) {
        self.end(status, None, reason, warn);
    }

    fn end(
        &mut self,
        status: Status,
        flaw: Option<Flaw>,
        what: &(impl Serialize + ?Sized),
        warn: Warn<'_>,
    ) {
        let document = serde_json::to_value(what).unwrap_or_default();
        self.with(&mut *warn, |store, job| store.finish_with(job, status, flaw, &document));
        self.verify(warn);
    }
}

/// Whether two runs drive the same load: the seed draws other inputs of the same kind.
fn same_load(a: &RunSpec, b: &RunSpec) -> bool {
    RunSpec { seed: b.seed, ..a.clone() } == *b
}

/// The settings that a job was given, with which it can be repeated or resumed.
fn given(settings: &Settings) -> Option<serde_json::Value> {
    serde_json::to_value(CampaignPlan::of(settings)).ok()
}

fn header(
    workload: &Description,
    kind: JobKind,
    target: &Target,
    scale: Scale,
    users: Option<u32>,
    facts: BTreeMap<String, String>,
) -> JobHeader {
    JobHeader {
        kind,
        label: None,
        workload: workload.name.to_string(),
        workload_version: workload.version,
        scale,
        scale_unit: workload.scale_unit.many.to_string(),
        target: Redacted::target_of(&target.database),
        server: None,
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        users,
        spec: None,
        facts,
        host: triphammer_observe::host::detect(),
        transactions: Vec::new(),
        parent: None,
        plan: None,
    }
}

fn check_row(check: &CheckResult) -> CheckRow {
    CheckRow {
        id: check.id.clone(),
        title: check.title.clone(),
        ok: check.passes(),
        violations: check.violations,
        first_key: check.first_key.clone(),
    }
}
