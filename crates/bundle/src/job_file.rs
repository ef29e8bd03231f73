//! The job file of a bundle: the settings that the job was given, and those of the build that made
//! its data. `triphammer build -f job.toml` and the command of the job do the same again.

use std::collections::BTreeMap;

use serde::Deserialize as _;
use triphammer_core::workload::{OptionCommand, OwnData};
use triphammer_runner::plan::given_settings;
use triphammer_settings::command::JobKind;
use triphammer_settings::failure::Failure;
use triphammer_settings::{Mark, all_options, declared};
use triphammer_store::StoredJob;
use triphammer_workloads::describe;

/// Name of the data's seed among the facts of a workload, and of the setting.
const SEED: &str = "seed";

/// What a bundle's job file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobFile {
    /// Kind of the job.
    pub kind: JobKind,
    /// URL of the target, without secrets.
    pub target: String,
    /// Settings of the job.
    pub job: BTreeMap<String, String>,
    /// Settings of the build.
    pub build: BTreeMap<String, String>,
}

impl JobFile {
    /// The job file of a stored job.
    ///
    /// # Errors
    /// When its result cannot be read.
    pub fn of(stored: &StoredJob) -> Result<Self, Failure> {
        let kind = stored.row.kind;
        let given = stored.plan.as_ref().and_then(given_settings).unwrap_or_default();
        let mut job: BTreeMap<String, String> =
            given.into_iter().filter(|(name, _)| is_repeatable(kind, name)).collect();
        job.entry("workload".to_owned()).or_insert_with(|| stored.row.workload.clone());
        if kind.has_own_load() {
            job.remove("workload");
        }
        let own = describe(&stored.row.workload).ok();
        let own = own.as_ref().and_then(|workload| workload.own_work());
        let has_data = own.is_none_or(|work| work.data != OwnData::Never);
        let build = match kind.drives() && has_data {
            true => build_of(stored, &job),
            false => BTreeMap::new(),
        };
        Ok(Self { kind, target: stored.row.target.to_string(), job, build })
    }

    /// The text of the file.
    #[must_use]
    pub fn text(&self) -> String {
        let mut table = toml::Table::new();
        table.insert("target".to_owned(), self.target.clone().into());
        let section = |settings: &BTreeMap<String, String>| {
            let pairs = settings.iter().map(|(name, value)| (name.clone(), value.clone().into()));
            toml::Value::Table(pairs.collect())
        };
        if !self.build.is_empty() {
            table.insert(JobKind::Build.name().to_owned(), section(&self.build));
        }
        table.insert(self.kind.name().to_owned(), section(&self.job));
        let body = toml::to_string(&table).expect("text is TOML");
        let kind = self.kind.name();
        let build = if self.build.is_empty() { "" } else { "#   triphammer build -f job.toml\n" };
        format!("# Repeats the job:\n{build}#   triphammer {kind} -f job.toml\n\n{body}")
    }
}

/// Whether a job file may have the setting, and it does not concern where or for whom the job ran. What runs commands of
/// the host is given by whoever repeats the job, not by a bundle.
fn is_repeatable(kind: JobKind, name: &str) -> bool {
    match declared(kind, name) {
        Some(setting) => {
            let is_of_place = [Mark::NotReplayed, Mark::OfHost, Mark::OfOutput, Mark::Positional];
            setting.in_job_file() && !is_of_place.iter().any(|mark| setting.is(*mark))
        }
        None => !is_only_local(name) && all_options().iter().any(|(_, option)| option.name == name),
    }
}

/// Whether an option of a workload is only for who sits at the host, such as `allow-shell`.
fn is_only_local(name: &str) -> bool {
    let workloads = triphammer_workloads::all();
    let mut refusals = workloads
        .iter()
        .filter_map(|workload| workload.own_work())
        .flat_map(|work| work.local_options.iter());
    refusals.any(|refusal| refusal.about == name)
}

/// The settings of a build that makes the same data: scale, seed and options as the record of the
/// build, which every run reads, has them.
fn build_of(stored: &StoredJob, job: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut facts = stored.facts.clone();
    let of_result = stored.document.as_ref().map(|document| &document["workload"]["facts"]);
    if let Some(Ok(of_result)) = of_result.map(BTreeMap::<String, String>::deserialize) {
        facts.extend(of_result);
    }
    let mut build = BTreeMap::from([("scale".to_owned(), stored.row.scale.to_string())]);
    build.extend(job.get("workload").map(|name| ("workload".to_owned(), name.clone())));
    build.extend(facts.get(SEED).map(|seed| (SEED.to_owned(), seed.clone())));
    for (_, option) in all_options() {
        let is_of_build = option.command != OptionCommand::Run;
        if let Some(value) = facts.get(&*option.name).filter(|_| is_of_build) {
            build.insert(option.name.to_string(), value.clone());
        }
    }
    build
}
