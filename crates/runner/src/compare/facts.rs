//! What is known of a run beside its figures, as names and values: to tell what differs between two sides.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use triphammer_core::session::ServerInfo;

use super::run::Run;
use crate::host::Host;
use crate::profile::ProfileResult;
use crate::result::{Redacted, Setting, Tool, WorkloadFacts, mask_secrets, mask_setting};

/// What a fact is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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
    /// One of the server's own settings.
    ServerSetting,
    /// The program that measured.
    Tool,
    /// The client's host.
    Host,
}

impl Subject {
    /// Every one.
    pub const ALL: [Self; 7] = [
        Self::Workload,
        Self::Setting,
        Self::Target,
        Self::Server,
        Self::ServerSetting,
        Self::Tool,
        Self::Host,
    ];

    /// For people.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Workload => "workload",
            Self::Setting => "setting",
            Self::Target => "target",
            Self::Server => "server",
            Self::ServerSetting => "server setting",
            Self::Tool => "tool",
            Self::Host => "host",
        }
    }
}

/// Something that is not the same on both sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
const NOT_TOLD: [&str; 12] = [
    "ask-password",
    "format",
    "json",
    "junit",
    "label",
    "metrics-listen",
    "otlp",
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
        facts.server_settings(&run.server_settings);
        facts
    }

    /// Of a profile, with the server's settings in its first run.
    #[must_use]
    pub fn of_profile(profile: &ProfileResult, server_settings: &[(String, String)]) -> Self {
        let mut facts = Self::default();
        facts.workload(&profile.workload);
        // Each run of it has other users, and threads by them.
        let same = |setting: &&Setting| !matches!(setting.name.as_str(), "vus" | "threads");
        let settings: Vec<Setting> = profile.settings.iter().filter(same).cloned().collect();
        facts.settings(&settings, &profile.workload);
        facts.around(&profile.target, &profile.server, &profile.tool, &profile.host);
        facts.server_settings(server_settings);
        facts
    }

    /// The facts of all runs of a side.
    #[must_use]
    pub fn of_all(runs: &[&Run]) -> Self {
        let mut all = Self::default();
        for run in runs {
            for (key, values) in Self::of_run(run).0 {
                all.0.entry(key).or_default().extend(values);
            }
        }
        all
    }

    /// What differs between these of A and those of B.
    #[must_use]
    pub fn against(&self, b: &Self) -> Vec<Difference> {
        let asked = |facts: &Self| facts.0.keys().any(|key| key.0 == Subject::ServerSetting);
        let settings_known = asked(self) && asked(b);
        let mut keys: Vec<&(Subject, String)> = self.0.keys().chain(b.0.keys()).collect();
        keys.sort();
        keys.dedup();
        let differs = |key: &&(Subject, String)| {
            self.0.get(*key) != b.0.get(*key) && (settings_known || key.0 != Subject::ServerSetting)
        };
        let of = |facts: &Self, key| facts.0.get(key).map(joined);
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
                Subject::Workload | Subject::Setting | Subject::Target | Subject::Server
            )
        };
        let mixed = self.0.iter().filter(move |(key, values)| of_runs(key.0) && values.len() > 1);
        mixed.map(|(key, values)| (key.1.as_str(), joined(values)))
    }

    fn say(&mut self, subject: Subject, name: &str, value: impl Into<String>) {
        self.0.entry((subject, name.to_owned())).or_default().insert(value.into());
    }

    fn workload(&mut self, workload: &WorkloadFacts) {
        self.say(Subject::Workload, "version", workload.version.to_string());
        self.say(Subject::Workload, "scale", workload.scale.to_string());
        for (name, value) in &workload.facts {
            // A run has a seed of its own.
            let name = if name == "seed" { "data seed" } else { name };
            self.say(Subject::Workload, name, mask_secrets(value));
        }
    }

    fn settings(&mut self, settings: &[Setting], workload: &WorkloadFacts) {
        for setting in settings {
            let name = setting.name.as_str();
            let told = name != "seed" && workload.facts.contains_key(name);
            if !told && !NOT_TOLD.contains(&name) {
                self.say(Subject::Setting, name, mask_secrets(&setting.value));
            }
        }
    }

    fn around(&mut self, target: &Redacted, server: &ServerInfo, tool: &Tool, host: &Host) {
        self.say(Subject::Target, "target", target.as_str());
        for (name, value) in [
            ("product", Some(server.product.clone())),
            ("version", Some(server.version.clone())),
            ("transport", Some(server.transport.clone())),
            ("cipher", server.cipher.clone()),
            ("same host", server.same_host.map(|same| same.to_string())),
        ] {
            self.say(Subject::Server, name, value.unwrap_or_else(|| "none".to_owned()));
        }
        self.say(Subject::Tool, "version", tool.version.as_str());
        self.say(Subject::Tool, "debug build", tool.debug_build.to_string());
        for (name, value) in [
            ("cpu", host.cpu.clone()),
            ("cores", host.cores.map(|cores| cores.to_string())),
            ("memory", host.memory_bytes.map(crate::report::format::bytes)),
            ("architecture", Some(host.architecture.clone())),
            ("os", Some(host.os.clone())),
            ("kernel", host.kernel.clone()),
            ("governor", host.governor.clone()),
        ] {
            self.say(Subject::Host, name, value.unwrap_or_else(|| "unknown".to_owned()));
        }
    }

    fn server_settings(&mut self, settings: &[(String, String)]) {
        for (name, value) in settings.iter().filter(|(name, _)| !PLACES.contains(&name.as_str())) {
            self.say(Subject::ServerSetting, name, mask_setting(name, value));
        }
    }
}

fn must_be_equal((subject, name): &(Subject, String)) -> bool {
    *subject == Subject::Workload && MUST_BE_EQUAL.contains(&name.as_str())
}

fn joined(values: &BTreeSet<String>) -> String {
    values.iter().map(String::as_str).collect::<Vec<_>>().join(" / ")
}
