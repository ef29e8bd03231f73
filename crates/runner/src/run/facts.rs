//! The facts of a run: what is known before it starts.

use triphammer_core::io::{RING, WorkerLoop};
use triphammer_core::session::{Admin, Database};
use triphammer_core::spec::RunSpec;
use triphammer_core::workload::Description;
use triphammer_document::parts::{COUNTED, ScriptFacts, Tool, WorkloadFacts};
use triphammer_document::redacted::{Redacted, mask_secrets};
use triphammer_document::result::{CounterSpan, DatabaseCount, MeasuredWorkload, RunFacts, Slicer};
use triphammer_document::schedule::Schedule;
use triphammer_settings::failure::{Doing, Failure};
use triphammer_settings::target::DELAY;
use triphammer_settings::{Setting, Settings};
use triphammer_workloads::KeptFiles;

use super::Resolved;
use super::monitor::Monitor;

impl Resolved {
    /// The facts of the run, before it starts.
    ///
    /// # Errors
    /// When the server does not say what it is, or a file of the workload cannot be read.
    pub(super) async fn facts(
        &self,
        settings: &Settings,
        monitor: &mut Monitor<'_>,
    ) -> Result<RunFacts, Failure> {
        let session = monitor.session.as_mut().expect("just ensured");
        let mut server = session.server().await.doing("identifying the server")?;
        let worker_loop = self.plan.spec.worker_loop(self.plan.database.capabilities());
        if worker_loop == WorkerLoop::Ring {
            server.transport.push_str(RING);
        }
        if let Some(delay) = settings.get(DELAY) {
            server.transport.push_str(&format!(", round trips + {}", delay.trim()));
        }
        let workload = self.workload();
        Ok(RunFacts {
            job: None,
            tool: Tool::this(),
            label: settings.get("label").map(str::to_owned),
            workload: self.workload_facts()?,
            description: MeasuredWorkload::of(workload, &self.plan.spec.load),
            spec: RunSpec {
                protocol: self.plan.database.protocol().unwrap_or(self.plan.spec.protocol),
                ..self.plan.spec.clone()
            },
            settings: settings.shown().iter().map(without_secrets).collect(),
            target: Redacted::target_of(&self.plan.database),
            server,
            database_on_threads: self.plan.database.capabilities().blocks,
            host: triphammer_observe::host::detect(),
            database_count: DatabaseCount::default(),
            answers_at_end: false,
            audits: self.audits(),
            server_transactions: CounterSpan {
                errors: self.plan.database.count_errors(),
                late_s: self.plan.database.capabilities().count_delay.as_secs_f64(),
                ..CounterSpan::default()
            },
            schema: Vec::new(),
            state: None,
            first_answer: None,
            setup: Vec::new(),
            settings_changed: Vec::new(),
            settings_set: None,
            slicer: Slicer::of_run(self.plan.spec.length, self.until_ci),
            figures: Vec::new(),
            primary_metric_seconds: Vec::new(),
            load_seconds: Vec::new(),
            // A half of a pair ends by the interval of both.
            until_ci: self.until_ci.filter(|_| self.plan.spec.pacing.half.is_none()),
            schedule: Schedule::default(),
            query_plan: None,
            queries: None,
            query_streams: None,
            nodes: Vec::new(),
            observed: None,
            price: None,
            energy: None,
            earlier: None,
            statements: Vec::new(),
            replay: None,
            statement_plans: Vec::new(),
            script: None,
            workload_warning: None,
            notes: Vec::new(),
        })
    }

    /// The workload with its options, the data's seed and what the build says about the data.
    fn workload_facts(&self) -> Result<WorkloadFacts, Failure> {
        let mut facts = self.settings.options.clone();
        facts.retain(|_, value| !value.is_empty());
        let mut scripts = Vec::new();
        if let Some(work) = self.workload().own_work()
            && let Some(value) = facts.get_mut(work.setting)
        {
            let kept = KeptFiles::of(work, value)?;
            (*value, scripts) = (kept.shown, kept.texts);
            facts.extend(counted_names(self.workload()).map(|names| (COUNTED.into(), names)));
        }
        facts.insert("seed".into(), self.settings.data_seed.to_string());
        facts.extend(self.facts.iter().cloned());
        let workload = self.workload();
        Ok(WorkloadFacts {
            name: workload.name.to_string(),
            title: workload.title.to_string(),
            version: workload.version,
            scale: self.settings.scale,
            scale_unit: workload.scale_unit.many.to_string(),
            facts,
            scripts: scripts.iter().map(ScriptFacts::of).collect(),
        })
    }
}

/// A setting without secrets in its value.
fn without_secrets(setting: &Setting) -> Setting {
    Setting { value: mask_secrets(&setting.value), ..setting.clone() }
}

/// The transactions that the primary metric counts, if they are not all.
fn counted_names(workload: &Description) -> Option<String> {
    let counted = &workload.primary_metric.transactions;
    let names = counted.iter().map(|index| workload.transactions[*index].name.to_string());
    (counted.len() < workload.transactions.len()).then(|| names.collect::<Vec<_>>().join(", "))
}
