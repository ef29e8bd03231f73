//! What is known of a run beside its figures, as names and values: to tell what differs between two sides.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_core::session::ServerInfo;

use super::run::Run;
use crate::host::Host;
use crate::profile::ProfileResult;
use crate::result::{
    Redacted, SchemaFact, SchemaKind, Setting, Tool, WorkloadFacts, mask_secrets, mask_setting,
};

/// What a fact is about.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// The workload, its options and its data.
    Workload,
    /// How it was driven.
    Setting,
    /// Which database.
    Target,
    /// What is at the other end.
    Server,
    /// A table, an index or a constraint.
    Schema,
    /// The size of a table, where it differs by more than a quarter.
    Size,
    /// How old the planner's statistics are.
    Statistics,
    /// One of the server's own settings.
    ServerSetting,
    /// The program that measured.
    Tool,
    /// Host of the client.
    Host,
}

impl Subject {
    /// All variants.
    pub const ALL: [Self; 10] = [
        Self::Workload,
        Self::Setting,
        Self::Target,
        Self::Server,
        Self::Schema,
        Self::Size,
        Self::Statistics,
        Self::ServerSetting,
        Self::Tool,
        Self::Host,
    ];

    /// Human-readable name.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Workload => "workload",
            Self::Setting => "setting",
            Self::Target => "target",
            Self::Server => "server",
            Self::Schema => "schema",
            Self::Size => "size",
            Self::Statistics => "statistics",
            Self::ServerSetting => "server setting",
            Self::Tool => "tool",
            Self::Host => "host",
        }
    }
}

/// Something that is not the same on both sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// What it is about.
    pub subject: Subject,
    /// Its name.
    pub name: String,
    /// With A, without secrets; `None` where there is none. Several values are joined by slashes.
    pub a: Option<String>,
    /// With B.
    pub b: Option<String>,
    /// Figures compare only when it is equal.
    pub must_be_equal: bool,
}

/// Facts of the workload without which figures do not compare: its version, the size, and the mix.
const MUST_BE_EQUAL: [&str; 3] = ["version", "scale", "mix"];
/// Settings that say where to store and print, or what another fact says.
const NOT_TOLD: [&str; 13] = [
    "ask-password",
    "format",
    "json",
    "junit",
    "label",
    "metrics-listen",
    "otlp",
    "otlp-ca",
    "password-file",
    "scale",
    "series",
    "show-spec",
    "target",
];
/// Settings of servers that say where it lies, not what it does: the target tells that.
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

/// What a run has in place of an index that other runs of its side have.
const MISSING: &str = "missing";
/// What names of sizes in bytes start with.
const BYTES: &str = "bytes of ";
/// Rows or bytes that a difference is above, at least.
const SIZE_APART_MIN: u64 = 100_000;

/// Facts by subject and name; more than one value where runs of one side differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts(BTreeMap<(Subject, String), BTreeSet<String>>);

impl Facts {
    /// Of a run.
    #[must_use]
    pub fn of_run(run: &Run) -> Self {
        let result = &run.result;
        let mut facts = Self::default();
        facts.workload(&result.workload);
        facts.settings(&result.settings, &result.workload);
        facts.around(&result.target, &result.server, &result.tool, &result.host);
        facts.schema(&result.schema);
        facts.server_settings(&run.server_settings);
        facts
    }

    /// Of a profile, with the schema and the server's settings in its first run.
    #[must_use]
    pub fn of_profile(
        profile: &ProfileResult,
        schema: &[SchemaFact],
        server_settings: &[(String, String)],
    ) -> Self {
        let mut facts = Self::default();
        facts.workload(&profile.workload);
        // Each run of it has other users, and threads by them.
        let same = |setting: &&Setting| !matches!(setting.name.as_str(), "vus" | "threads");
        let settings: Vec<Setting> = profile.settings.iter().filter(same).cloned().collect();
        facts.settings(&settings, &profile.workload);
        facts.around(&profile.target, &profile.server, &profile.tool, &profile.host);
        facts.schema(schema);
        facts.server_settings(server_settings);
        facts
    }

    /// The facts of all runs of a side.
    #[must_use]
    pub fn of_all(runs: &[&Run]) -> Self {
        let each: Vec<Self> = runs.iter().map(|run| Self::of_run(run)).collect();
        let mut all = Self::default();
        for facts in &each {
            for (key, values) in &facts.0 {
                all.0.entry(key.clone()).or_default().extend(values.iter().cloned());
            }
        }
        // An index that some runs had and others had not is told like one with two definitions.
        for (key, values) in all.0.iter_mut().filter(|(key, _)| key.0 == Subject::Schema) {
            let lacks = |facts: &Self| facts.knows(Subject::Schema) && !facts.0.contains_key(key);
            if each.iter().any(lacks) {
                values.insert(MISSING.to_owned());
            }
        }
        all
    }

    /// Whether anything is known about the subject.
    fn knows(&self, subject: Subject) -> bool {
        self.0.keys().any(|key| key.0 == subject)
    }

    /// What differs between these of A and those of B.
    #[must_use]
    pub fn against(&self, b: &Self) -> Vec<Difference> {
        let product = (Subject::Server, "product".to_owned());
        let one_product = self.0.get(&product) == b.0.get(&product);
        let comparable = |subject| match subject {
            // Products describe their schemas in words of their own.
            Subject::Schema | Subject::Size | Subject::Statistics => {
                one_product && self.knows(subject) && b.knows(subject)
            }
            Subject::ServerSetting => self.knows(subject) && b.knows(subject),
            _ => true,
        };
        let mut keys: Vec<&(Subject, String)> = self.0.keys().chain(b.0.keys()).collect();
        keys.sort();
        keys.dedup();
        let differs = |key: &&(Subject, String)| {
            let (a, b) = (self.0.get(*key), b.0.get(*key));
            a != b && (key.0 != Subject::Size || differ_notably(a, b)) && comparable(key.0)
        };
        let of = |facts: &Self, key: &(Subject, String)| {
            facts.0.get(key).map(|values| match key.0 {
                Subject::Size => size(&key.1, values),
                _ => joined(values),
            })
        };
        keys.into_iter()
            .filter(differs)
            .map(|key| Difference {
                subject: key.0,
                name: key.1.clone(),
                a: of(self, key),
                b: of(b, key),
                must_be_equal: must_be_equal(key),
            })
            .collect()
    }

    /// What differs among the runs of one side, and should not.
    pub(super) fn mixed(&self) -> impl Iterator<Item = (&str, String)> {
        // Versions of the tool and the host wander over time, and the server's settings are many.
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
        let mixed = self.0.iter().filter(move |(key, values)| of_runs(key.0) && values.len() > 1);
        mixed.map(|(key, values)| (key.1.as_str(), joined(values)))
    }

    fn record(&mut self, subject: Subject, name: &str, value: impl Into<String>) {
        self.0.entry((subject, name.to_owned())).or_default().insert(value.into());
    }

    fn workload(&mut self, workload: &WorkloadFacts) {
        self.record(Subject::Workload, "version", workload.version.to_string());
        self.record(Subject::Workload, "scale", workload.scale.to_string());
        for (name, value) in &workload.facts {
            // A run has a seed of its own.
            let name = if name == "seed" { "data seed" } else { name };
            self.record(Subject::Workload, name, mask_secrets(value));
        }
    }

    fn settings(&mut self, settings: &[Setting], workload: &WorkloadFacts) {
        for setting in settings {
            let name = setting.name.as_str();
            let told = name != "seed" && workload.facts.contains_key(name);
            if !told && !NOT_TOLD.contains(&name) {
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
            ("memory", host.memory_bytes.map(crate::report::format::bytes)),
            ("architecture", Some(host.architecture.clone())),
            ("os", Some(host.os.clone())),
            ("kernel", host.kernel.clone()),
            ("governor", host.governor.clone()),
        ] {
            self.record(Subject::Host, name, value.unwrap_or_else(|| "unknown".to_owned()));
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

    fn server_settings(&mut self, settings: &[(String, String)]) {
        for (name, value) in settings.iter().filter(|(name, _)| !PLACES.contains(&name.as_str())) {
            self.record(Subject::ServerSetting, name, mask_setting(name, value));
        }
    }
}

fn must_be_equal((subject, name): &(Subject, String)) -> bool {
    *subject == Subject::Workload && MUST_BE_EQUAL.contains(&name.as_str())
}

/// How old statistics are, in steps of which one more may matter to a planner.
fn age(seconds: &str) -> &str {
    match seconds.parse::<u64>().map(|seconds| seconds / 86_400) {
        Ok(0) => "gathered within a day",
        Ok(1..7) => "gathered within a week",
        Ok(7..30) => "gathered within a month",
        Ok(_) => "gathered more than a month before",
        Err(_) => seconds,
    }
}

/// The greatest of the sizes that the runs of a side found.
fn greatest(sizes: &BTreeSet<String>) -> Option<u64> {
    sizes.iter().filter_map(|size| size.parse().ok()).max()
}

/// Whether two sizes differ by more than a quarter of the greater, and by more than runs add.
fn differ_notably(a: Option<&BTreeSet<String>>, b: Option<&BTreeSet<String>>) -> bool {
    let (Some(a), Some(b)) = (a.and_then(greatest), b.and_then(greatest)) else { return false };
    let apart = a.abs_diff(b);
    apart > SIZE_APART_MIN && apart > a.max(b) / 4
}

fn size(name: &str, sizes: &BTreeSet<String>) -> String {
    let size = greatest(sizes).unwrap_or_default();
    match name.starts_with(BYTES) {
        true => crate::report::format::bytes(size),
        false => crate::report::format::integer(size),
    }
}

fn joined(values: &BTreeSet<String>) -> String {
    values.iter().map(String::as_str).collect::<Vec<_>>().join(" / ")
}
