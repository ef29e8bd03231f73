//! Facts about a run in addition to its figures, as names and values, for finding the differences
//! between two sides.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_core::session::ServerInfo;
use triphammer_settings::Setting;

use super::run::Run;
use crate::doctor::{Group, SetupFact};
use crate::host::Host;
use crate::parts::{Tool, WorkloadFacts};
use crate::profile::ProfileResult;
use crate::redacted::{Redacted, mask_secrets, mask_setting};
use crate::result::{SchemaFact, SchemaKind};

/// Subject of a fact.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// The workload, its options and its data.
    Workload,
    /// The state of the data at the start of the run, by its fingerprint.
    State,
    /// A setting of the run.
    Setting,
    /// The target of the run.
    Target,
    /// Product, version and transport of the database server.
    Server,
    /// A table, an index or a constraint.
    Schema,
    /// The size of a table, if it differs by more than a quarter.
    Size,
    /// Age of the planner's statistics.
    Statistics,
    /// The execution plan of a query, by its fingerprint.
    Plan,
    /// A setting of the database server.
    ServerSetting,
    /// A setting of the server that has the default of its version on both sides.
    ServerDefault,
    /// The program that measured.
    Tool,
    /// Host of the client.
    Host,
}

impl Subject {
    /// All variants, in declaration order.
    pub const ALL: [Self; 13] = [
        Self::Workload,
        Self::State,
        Self::Setting,
        Self::Target,
        Self::Server,
        Self::Schema,
        Self::Size,
        Self::Statistics,
        Self::Plan,
        Self::ServerSetting,
        Self::ServerDefault,
        Self::Tool,
        Self::Host,
    ];

    /// Name for people to read.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Workload => "workload",
            Self::State => "state",
            Self::Setting => "setting",
            Self::Target => "target",
            Self::Server => "server",
            Self::Schema => "schema",
            Self::Size => "size",
            Self::Statistics => "statistics",
            Self::Plan => "plan",
            Self::ServerSetting => "server setting",
            Self::ServerDefault => "server default",
            Self::Tool => "tool",
            Self::Host => "host",
        }
    }
}

/// A difference between the two sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// Subject of the difference.
    pub subject: Subject,
    /// Name of the fact.
    pub name: String,
    /// Value of A, without secrets; `None` if A has none. Several values are joined by slashes.
    pub a: Option<String>,
    /// Value of B, likewise.
    pub b: Option<String>,
    /// Whether figures can only be compared if it is equal.
    pub must_be_equal: bool,
}

impl Difference {
    /// Says which values of a server setting are defaults. If both are, the versions differ in it, and
    /// nobody set anything.
    fn with_defaults(self, sides: [&Facts; 2]) -> Self {
        if self.subject != Subject::ServerSetting {
            return self;
        }
        let [of_a, of_b] = sides.map(|side| side.is_default(&self.name));
        if of_a && of_b {
            return Self { subject: Subject::ServerDefault, ..self };
        }
        let shown = |value: Option<String>, is_default| match is_default {
            true => value.map(|value| format!("{value} (default)")),
            false => value,
        };
        Self { a: shown(self.a, of_a), b: shown(self.b, of_b), ..self }
    }
}

/// Facts of the workload that must be equal: its version, the scale, the mix, and what is run of a set of queries.
const MUST_BE_EQUAL: [&str; 5] = ["version", "scale", "mix", "test", "queries"];
/// Settings that only affect storing and printing, or that duplicate another fact.
const NOT_COMPARED: [&str; 16] = [
    "ask-password",
    "format",
    "json",
    "junit",
    "label",
    "metrics-listen",
    "otlp",
    "otlp-ca",
    "password-file",
    "progress",
    "scale",
    "series",
    "show-spec",
    "slices",
    "target",
    "tui",
];
/// Server settings that describe its location, which the target covers already.
const PLACES: [&str; 16] = [
    "basedir",
    "cluster_name",
    "config_file",
    "data_directory",
    "datadir",
    "external_pid_file",
    "hba_file",
    "hostname",
    "ident_file",
    "log_error",
    "pid_file",
    "port",
    "server_uuid",
    "socket",
    "tmpdir",
    "unix_socket_directories",
];

/// Value for an index that is missing in a run but exists in others of its side.
const MISSING: &str = "missing";
/// Prefix of names of sizes in bytes.
const BYTES: &str = "bytes of ";
/// Minimum difference in rows or bytes.
const SIZE_APART_MIN: u64 = 100_000;

/// Facts of the runs of a side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// By subject and name; several values if the runs differ.
    values: BTreeMap<(Subject, String), BTreeSet<String>>,
    /// The server settings that somebody set in any of the runs; `None` if one of them does not know.
    set: Option<BTreeSet<String>>,
}

impl Facts {
    /// Collects the facts of a run.
    #[must_use]
    pub fn of_run(run: &Run) -> Self {
        let result = &run.result;
        let mut facts = Self::default();
        facts.workload(&result.workload);
        facts.settings(&result.settings, &result.workload);
        facts.around(&result.target, &result.server, &result.tool, &result.host);
        facts.schema(&result.schema);
        if let Some(print) = result.state.as_ref().and_then(|state| state.fingerprint.as_ref())
            && print.missing == 0
        {
            facts.record(Subject::State, print.depth.name(), print.short());
        }
        for plan in result.queries.iter().flat_map(|set| &set.plans) {
            facts.record(Subject::Plan, &plan.query.to_uppercase(), plan.short());
        }
        for plan in &result.statement_plans {
            facts.record(Subject::Plan, &plan.query, plan.short());
        }
        facts.server_settings(&run.server_settings);
        facts.set = result.settings_set.clone().map(|set| set.into_iter().collect());
        facts.setup(&result.setup, !run.server_settings.is_empty());
        facts
    }

    /// Collects the facts of a profile, with the schema and the server settings of its first run.
    #[must_use]
    pub fn of_profile(
        profile: &ProfileResult,
        schema: &[SchemaFact],
        server_settings: &[(String, String)],
    ) -> Self {
        let mut facts = Self::default();
        // Its runs differ in users, and in threads accordingly; or in streams.
        let mut workload = profile.workload.clone();
        workload.facts.remove("streams");
        facts.workload(&workload);
        let same =
            |setting: &&Setting| !matches!(setting.name.as_str(), "vus" | "threads" | "streams");
        let settings: Vec<Setting> = profile.settings.iter().filter(same).cloned().collect();
        facts.settings(&settings, &profile.workload);
        facts.around(&profile.target, &profile.server, &profile.tool, &profile.host);
        facts.schema(schema);
        facts.server_settings(server_settings);
        facts
    }

    /// Collects the facts of a build.
    #[must_use]
    pub fn of_build(
        workload: &WorkloadFacts,
        (target, server): (&Redacted, &ServerInfo),
        tool: &Tool,
        host: &Host,
    ) -> Self {
        let mut facts = Self::default();
        facts.workload(workload);
        facts.around(target, server, tool, host);
        facts
    }

    /// Merges the facts of all runs of a side.
    #[must_use]
    pub fn of_all(runs: &[&Run]) -> Self {
        let each: Vec<Self> = runs.iter().map(|run| Self::of_run(run)).collect();
        let mut all = Self::default();
        for facts in &each {
            for (key, values) in &facts.values {
                all.values.entry(key.clone()).or_default().extend(values.iter().cloned());
            }
        }
        let set = each.iter().map(|facts| facts.set.clone());
        let set: Option<Vec<BTreeSet<String>>> = set.collect();
        all.set = set.filter(|set| !set.is_empty()).map(|set| set.into_iter().flatten().collect());
        // An index that only some runs had is reported like one with two definitions.
        for (key, values) in all.values.iter_mut().filter(|(key, _)| key.0 == Subject::Schema) {
            let lacks =
                |facts: &Self| facts.knows(Subject::Schema) && !facts.values.contains_key(key);
            if each.iter().any(lacks) {
                values.insert(MISSING.to_owned());
            }
        }
        all
    }

    /// Whether there are facts about the subject.
    fn knows(&self, subject: Subject) -> bool {
        self.values.keys().any(|key| key.0 == subject)
    }

    /// The facts that must be equal for figures to be comparable, by name; several values of runs
    /// that differ are joined by slashes.
    #[must_use]
    pub fn that_must_be_equal(&self) -> BTreeMap<String, String> {
        let all = self.values.iter().filter(|(key, _)| must_be_equal(key));
        all.map(|(key, values)| (key.1.clone(), joined(values))).collect()
    }

    /// Differences between these facts of A and those of B.
    #[must_use]
    pub fn against(&self, b: &Self) -> Vec<Difference> {
        let product = (Subject::Server, "product".to_owned());
        let one_product = self.values.get(&product) == b.values.get(&product);
        let comparable = |subject| match subject {
            // Products describe their schemas in different words.
            Subject::Schema
            | Subject::Size
            | Subject::State
            | Subject::Statistics
            | Subject::Plan => one_product && self.knows(subject) && b.knows(subject),
            Subject::ServerSetting => self.knows(subject) && b.knows(subject),
            _ => true,
        };
        let mut keys: Vec<&(Subject, String)> = self.values.keys().chain(b.values.keys()).collect();
        keys.sort();
        keys.dedup();
        let differs = |key: &&(Subject, String)| {
            let (a, b) = (self.values.get(*key), b.values.get(*key));
            // What could not be read on one side did not change, and products have settings of
            // their own.
            let of_product = matches!(key.0, Subject::Setting | Subject::ServerSetting);
            let may_be_unknown = matches!(key.0, Subject::Plan | Subject::Host | Subject::State)
                || of_product && !one_product;
            let is_known = !may_be_unknown || a.is_some() && b.is_some();
            let notably = match key.0 {
                Subject::Size => differ_notably(a, b),
                // A plan that both sides had depends on more than the side.
                Subject::Plan => a.zip(b).is_some_and(|(a, b)| a.is_disjoint(b)),
                _ => true,
            };
            a != b && is_known && notably && comparable(key.0)
        };
        let of = |facts: &Self, key: &(Subject, String)| {
            facts.values.get(key).map(|values| match key.0 {
                Subject::Size => size(&key.1, values),
                _ => joined(values),
            })
        };
        let all = keys.into_iter().filter(differs).map(|key| Difference {
            subject: key.0,
            name: key.1.clone(),
            a: of(self, key),
            b: of(b, key),
            must_be_equal: must_be_equal(key),
        });
        let mut all: Vec<_> = all.map(|found| found.with_defaults([self, b])).collect();
        all.sort_by_key(|found| found.subject);
        all
    }

    /// Whether a server setting is the default of the version, as far as that is known.
    fn is_default(&self, setting: &str) -> bool {
        self.set.as_ref().is_some_and(|set| !set.contains(setting))
    }

    /// The states from which the runs of a side began, by their fingerprints.
    pub(super) fn states(&self) -> impl Iterator<Item = &BTreeSet<String>> {
        self.values.iter().filter(|(key, _)| key.0 == Subject::State).map(|(_, values)| values)
    }

    /// Facts that differ among the runs of one side but should not.
    pub(super) fn mixed(&self) -> impl Iterator<Item = (&str, String)> {
        // Versions of the tool and the host change over time, and there are many server settings.
        let of_runs = |subject| {
            matches!(
                subject,
                Subject::Workload
                    | Subject::Setting
                    | Subject::Target
                    | Subject::Server
                    | Subject::Schema
            )
        };
        let mixed =
            self.values.iter().filter(move |(key, values)| of_runs(key.0) && values.len() > 1);
        mixed.map(|(key, values)| (key.1.as_str(), joined(values)))
    }

    fn record(&mut self, subject: Subject, name: &str, value: impl Into<String>) {
        self.values.entry((subject, name.to_owned())).or_default().insert(value.into());
    }

    fn workload(&mut self, workload: &WorkloadFacts) {
        self.record(Subject::Workload, "version", workload.version.to_string());
        self.record(Subject::Workload, "scale", workload.scale.to_string());
        for (name, value) in &workload.facts {
            // Each run has a different seed.
            let name = if name == "seed" { "data seed" } else { name };
            self.record(Subject::Workload, name, mask_secrets(value));
        }
    }

    fn settings(&mut self, settings: &[Setting], workload: &WorkloadFacts) {
        for setting in settings {
            let name = setting.name.as_str();
            let is_fact = name != "seed" && workload.facts.contains_key(name);
            if !is_fact && !NOT_COMPARED.contains(&name) {
                self.record(Subject::Setting, name, mask_secrets(&setting.value));
            }
        }
    }

    fn around(&mut self, target: &Redacted, server: &ServerInfo, tool: &Tool, host: &Host) {
        self.record(Subject::Target, "target", target.as_str());
        for (name, value) in [
            ("product", Some(server.product.clone())),
            ("version", Some(server.version.clone())),
            ("transport", Some(server.transport.clone())),
            ("cipher", server.cipher.clone()),
            ("same host", server.same_host.map(|same| same.to_string())),
        ] {
            self.record(Subject::Server, name, value.unwrap_or_else(|| "none".to_owned()));
        }
        self.record(Subject::Tool, "version", tool.version.as_str());
        self.record(Subject::Tool, "debug build", tool.debug_build.to_string());
        for (name, value) in [
            ("cpu", host.cpu.clone()),
            ("cores", host.cores.map(|cores| cores.to_string())),
            ("memory", host.memory_bytes.map(triphammer_settings::format::bytes)),
            ("architecture", Some(host.architecture.clone())),
            ("os", Some(host.os.clone())),
            ("kernel", host.kernel.clone()),
            ("governor", host.governor.clone()),
        ] {
            self.record(Subject::Host, name, value.unwrap_or_else(|| "unknown".to_owned()));
        }
        // Earlier versions did not read it.
        if let Some(topology) = &host.topology {
            self.record(Subject::Host, "topology", topology.words());
        }
    }

    fn schema(&mut self, facts: &[SchemaFact]) {
        for SchemaFact { kind, table, name, value } in facts {
            let (subject, name) = match kind {
                SchemaKind::Table => (Subject::Schema, format!("table {table}")),
                SchemaKind::Engine => (Subject::Schema, format!("engine of {table}")),
                SchemaKind::Index => (Subject::Schema, format!("index {name} of {table}")),
                SchemaKind::Constraint => {
                    (Subject::Schema, format!("constraint {name} of {table}"))
                }
                SchemaKind::Rows => (Subject::Size, format!("rows of {table}")),
                SchemaKind::Bytes => (Subject::Size, format!("{BYTES}{table}")),
                SchemaKind::IndexBytes => (Subject::Size, format!("{BYTES}indexes of {table}")),
                SchemaKind::Statistics => (Subject::Statistics, table.clone()),
            };
            match subject {
                Subject::Statistics => self.record(subject, &name, age(value)),
                _ => self.record(subject, &name, mask_secrets(value)),
            }
        }
    }

    fn setup(&mut self, setup: &[SetupFact], has_server_settings: bool) {
        for fact in setup {
            let subject = match fact.group {
                // The host has it already.
                Group::Host if fact.name == "governor" => continue,
                Group::Host => Subject::Host,
                // So have the server's settings, unless there is no store.
                Group::Database if !has_server_settings => Subject::ServerSetting,
                Group::Database | Group::Network => continue,
            };
            self.record(subject, &fact.name, fact.value.as_str());
        }
    }

    fn server_settings(&mut self, settings: &[(String, String)]) {
        for (name, value) in settings.iter().filter(|(name, _)| !PLACES.contains(&name.as_str())) {
            self.record(Subject::ServerSetting, name, mask_setting(name, value));
        }
    }
}

fn must_be_equal((subject, name): &(Subject, String)) -> bool {
    *subject == Subject::Workload && MUST_BE_EQUAL.contains(&name.as_str())
}

/// Age of statistics, in classes that may matter to a planner.
fn age(seconds: &str) -> &str {
    match seconds.parse::<u64>().map(|seconds| seconds / 86_400) {
        Ok(0) => "gathered within a day",
        Ok(1..7) => "gathered within a week",
        Ok(7..30) => "gathered within a month",
        Ok(_) => "gathered more than a month before",
        Err(_) => seconds,
    }
}

/// Largest size found in the runs of a side.
fn greatest(sizes: &BTreeSet<String>) -> Option<u64> {
    sizes.iter().filter_map(|size| size.parse().ok()).max()
}

/// Whether two sizes differ by more than a quarter of the larger, and by more than runs add.
fn differ_notably(a: Option<&BTreeSet<String>>, b: Option<&BTreeSet<String>>) -> bool {
    let (Some(a), Some(b)) = (a.and_then(greatest), b.and_then(greatest)) else { return false };
    let apart = a.abs_diff(b);
    apart > SIZE_APART_MIN && apart > a.max(b) / 4
}

fn size(name: &str, sizes: &BTreeSet<String>) -> String {
    let size = greatest(sizes).unwrap_or_default();
    match name.starts_with(BYTES) {
        true => triphammer_settings::format::bytes(size),
        false => triphammer_settings::format::integer(size),
    }
}

fn joined(values: &BTreeSet<String>) -> String {
    values.iter().map(String::as_str).collect::<Vec<_>>().join(" / ")
}
