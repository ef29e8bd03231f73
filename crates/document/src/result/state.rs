//! The state of the database at the start of a run: its size, what was done to bring it about, and a
//! fingerprint by which runs from different states are recognised.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_settings::format::{bytes, counted, duration, integer};

use super::schema::{SchemaFact, SchemaKind};

/// Maximum number of tables that are named in a sentence.
const NAMED: usize = 3;

/// The state of the database at the start of a run; `None` for what the database does not report.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DatabaseState {
    /// Size of all tables and indexes, in bytes.
    pub bytes: Option<u64>,
    /// Number of rows of all tables, as estimated by the planner.
    pub rows: Option<u64>,
    /// Number of rows that were deleted or replaced and still take space, as the database counts them.
    pub dead_rows: Option<u64>,
    /// Space in the tables that holds nothing, in bytes.
    pub free_bytes: Option<u64>,
    /// Age of the oldest statistics of a table, in seconds.
    pub statistics_age_s: Option<u64>,
    /// Tables whose statistics were never gathered.
    pub without_statistics: u64,
    /// Rows or checksums of the tables; `None` if they were not read.
    pub fingerprint: Option<Fingerprint>,
    /// How the state was restored before the run; `None` if it was not.
    pub restored: Option<Restored>,
    /// What was read into caches before the run; `None` if nothing was.
    pub warmed: Option<WarmedUp>,
    /// How long the run waited for the server's work in the background; `None` if it did not.
    pub quiet: Option<QuietWait>,
    /// Its size in words; `None` if nothing is known.
    pub size_words: Option<String>,
    /// How it was brought about, a sentence each.
    pub preparation_words: Vec<String>,
}

/// How closely states are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FingerprintDepth {
    /// By the number of rows of each table.
    Rows,
    /// By a checksum of all rows of each table.
    Checksums,
}

impl FingerprintDepth {
    /// All depths, the cheaper first.
    pub const ALL: [Self; 2] = [Self::Rows, Self::Checksums];

    /// Name in settings and documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rows => "rows",
            Self::Checksums => "checksums",
        }
    }
}

/// What distinguishes a state of the data from another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fingerprint {
    /// What was read of each table.
    pub depth: FingerprintDepth,
    /// The tables that were read, by name.
    pub tables: Vec<TableFingerprint>,
    /// Number of tables that could not be read in time.
    pub missing: u64,
    /// Time that it took, in seconds.
    #[serde(default)]
    pub seconds: u64,
}

/// What was read of a table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct TableFingerprint {
    /// Name of the table.
    pub table: String,
    /// Number of rows, or a text that depends on all of them.
    pub value: String,
}

/// How two fingerprints compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateComparison {
    /// All tables are equal.
    Equal,
    /// These tables differ, or only one state has them.
    Different(Vec<String>),
    /// Nothing differs, but not everything was read.
    Unknown,
}

impl Fingerprint {
    /// Compares it with that of another state of a database of the same product.
    #[must_use]
    pub fn against(&self, other: &Self) -> StateComparison {
        if self.depth != other.depth {
            return StateComparison::Unknown;
        }
        let value = |of: &Self, name: &str| {
            of.tables.iter().find(|table| table.table == name).map(|table| table.value.clone())
        };
        let is_whole = self.missing == 0 && other.missing == 0;
        let mut names: Vec<&str> =
            self.tables.iter().chain(&other.tables).map(|table| table.table.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let differs = |name: &&str| match (value(self, name), value(other, name)) {
            (Some(a), Some(b)) => a != b,
            _ => is_whole,
        };
        let different: Vec<String> = names.into_iter().filter(differs).map(str::to_owned).collect();
        match different.is_empty() {
            false => StateComparison::Different(different),
            true if is_whole => StateComparison::Equal,
            true => StateComparison::Unknown,
        }
    }

    /// A short text that is the same for equal fingerprints.
    #[must_use]
    pub fn short(&self) -> String {
        // FNV-1a: a name, not a proof.
        let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
        for table in &self.tables {
            for byte in table.table.bytes().chain([0]).chain(table.value.bytes()).chain([0]) {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        }
        format!("{:08x}", hash >> 32)
    }
}

/// How a state was restored before a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Restored {
    /// From what: ``snapshot `clean` ``, or the command.
    pub from: String,
    /// Time that it took, in seconds.
    #[schemars(range(min = 0.0))]
    pub seconds: f64,
    /// Fingerprint of the snapshot; `None` if it has none, and for a command.
    pub fingerprint: Option<Fingerprint>,
    /// Whether the state at the start of the run equals that of the snapshot; `None` if that is not
    /// known.
    pub is_equal: Option<bool>,
    /// Tables that differ from the snapshot.
    pub different: Vec<String>,
}

/// What was read into caches before a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WarmedUp {
    /// How: `pg_prewarm of tables`.
    pub ways: Vec<String>,
    /// Number of tables and indexes that were read.
    pub relations: u64,
    /// Time that it took, in seconds.
    #[schemars(range(min = 0.0))]
    pub seconds: f64,
    /// What could not be read, or is to be known of it.
    pub notes: Vec<String>,
}

/// How long a run waited for the server's work in the background.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QuietWait {
    /// Longest time that it would have waited, in seconds.
    #[schemars(range(min = 0.0))]
    pub limit_s: f64,
    /// Time that it waited, in seconds.
    #[schemars(range(min = 0.0))]
    pub seconds: f64,
    /// Whether the server was quiet then.
    pub is_quiet: bool,
    /// What it waited for.
    pub waited_for: Vec<BackgroundWork>,
    /// Work that this user cannot see.
    pub unknown: Vec<String>,
}

/// Work of a server in the background.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BackgroundWork {
    /// Name of the work: `autovacuum`.
    pub name: String,
    /// How much of it there was at the beginning of the wait.
    pub first: u64,
    /// How much there was at its end.
    pub last: u64,
    /// Whether the wait ended because of the limit, and this was not done.
    pub is_left: bool,
}

impl DatabaseState {
    /// Fills in what the schema's facts say of size, rows and statistics.
    pub fn read_schema(&mut self, facts: &[SchemaFact]) {
        let numbers = |kinds: &[SchemaKind]| {
            let of_kind = facts.iter().filter(|fact| kinds.contains(&fact.kind));
            of_kind.filter_map(|fact| fact.value.parse::<u64>().ok()).collect::<Vec<_>>()
        };
        let sum = |kinds: &[SchemaKind]| {
            let found = numbers(kinds);
            (!found.is_empty()).then(|| found.iter().sum())
        };
        self.bytes = sum(&[SchemaKind::Bytes, SchemaKind::IndexBytes]);
        self.rows = sum(&[SchemaKind::Rows]);
        self.statistics_age_s = numbers(&[SchemaKind::Statistics]).into_iter().max();
        let never =
            |fact: &&SchemaFact| fact.kind == SchemaKind::Statistics && fact.value == "never";
        self.without_statistics = facts.iter().filter(never).count() as u64;
    }

    /// Records whether the restored state is that of the snapshot.
    fn judge_restored(&mut self) {
        let Some(restored) = &mut self.restored else { return };
        let (Some(of_snapshot), Some(now)) = (&restored.fingerprint, &self.fingerprint) else {
            return;
        };
        (restored.is_equal, restored.different) = match now.against(of_snapshot) {
            StateComparison::Equal => (Some(true), Vec::new()),
            StateComparison::Different(tables) => (Some(false), tables),
            StateComparison::Unknown => (None, Vec::new()),
        };
    }

    /// Puts it into words, when everything is known.
    pub fn describe(&mut self) {
        self.judge_restored();
        self.size_words = self.size_in_words();
        self.preparation_words = self.preparation_in_words();
    }

    /// Size and bloat in words; `None` if nothing is known.
    fn size_in_words(&self) -> Option<String> {
        let statistics = match (self.without_statistics, self.statistics_age_s) {
            (0, Some(seconds)) => {
                #[expect(clippy::cast_precision_loss, reason = "an age for people")]
                let age = duration(seconds as f64);
                Some(format!("statistics up to {age} old"))
            }
            (0, None) => None,
            (tables, _) => Some(format!("{} without statistics", counted(tables, "tables"))),
        };
        let parts = [
            self.bytes.map(bytes),
            self.rows.map(|rows| format!("about {}", counted(rows, "rows"))),
            self.dead_rows.map(|rows| format!("{} dead", integer(rows))),
            self.free_bytes
                .filter(|free| *free > 0)
                .map(|free| format!("{} free in tables", bytes(free))),
            statistics,
            self.fingerprint.as_ref().map(|print| {
                format!(
                    "{} of {}",
                    print.depth.name(),
                    counted(print.tables.len() as u64, "tables")
                ) + &format!(": {}", print.short())
            }),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    /// How the state was brought about, a sentence each.
    fn preparation_in_words(&self) -> Vec<String> {
        let restored = self.restored.as_ref().map(Restored::words);
        let warmed = self.warmed.as_ref().map(WarmedUp::words);
        let quiet = self.quiet.as_ref().map(QuietWait::words);
        [restored, warmed, quiet].into_iter().flatten().collect()
    }
}

/// The first names of a list.
#[must_use]
pub fn first_names(names: &[String]) -> String {
    let named = names.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

impl Restored {
    fn words(&self) -> String {
        let equal = match self.is_equal {
            Some(true) => "; its state is equal".to_owned(),
            Some(false) => format!("; its state differs: {}", first_names(&self.different)),
            None if self.fingerprint.is_some() => {
                "; whether its state is equal is not known".to_owned()
            }
            None => String::new(),
        };
        format!("restored from {} in {}{equal}", self.from, duration(self.seconds))
    }
}

impl WarmedUp {
    fn words(&self) -> String {
        let (ways, relations) = (self.ways.join(", "), counted(self.relations, "relations"));
        let notes: String = self.notes.iter().map(|note| format!("; {note}")).collect();
        format!("read {relations} into caches in {} ({ways}){notes}", duration(self.seconds))
    }
}

impl QuietWait {
    fn words(&self) -> String {
        let list = |left: bool| {
            let of = self.waited_for.iter().filter(|work| !left || work.is_left);
            let words = of.map(|work| {
                format!("{} ({} to {})", work.name, integer(work.first), integer(work.last))
            });
            words.collect::<Vec<_>>().join(", ")
        };
        let waited = match (self.is_quiet, self.waited_for.is_empty()) {
            (true, true) => "the server was quiet".to_owned(),
            (true, false) => format!("waited {} for {}", duration(self.seconds), list(false)),
            (false, _) => {
                format!("not quiet after the limit of {}: {}", duration(self.limit_s), list(true))
            }
        };
        match self.unknown.is_empty() {
            true => waited,
            false => format!("{waited}; not visible to this user: {}", self.unknown.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print(tables: &[(&str, &str)], missing: u64) -> Fingerprint {
        let table = |(table, value): &(&str, &str)| TableFingerprint {
            table: (*table).to_owned(),
            value: (*value).to_owned(),
        };
        let tables = tables.iter().map(table).collect();
        Fingerprint { depth: FingerprintDepth::Rows, tables, missing, seconds: 0 }
    }

    #[test]
    fn states_are_equal_only_if_everything_was_read_and_is_equal() {
        let whole = print(&[("a", "1"), ("b", "2")], 0);
        assert_eq!(whole.against(&whole.clone()), StateComparison::Equal);
        assert_eq!(whole.short(), whole.clone().short());
        let other = print(&[("a", "1"), ("b", "3")], 0);
        assert_eq!(whole.against(&other), StateComparison::Different(vec!["b".to_owned()]));
        assert_ne!(whole.short(), other.short());
        let without = print(&[("a", "1")], 0);
        assert_eq!(whole.against(&without), StateComparison::Different(vec!["b".to_owned()]));
        let partly = print(&[("a", "1")], 1);
        assert_eq!(whole.against(&partly), StateComparison::Unknown);
        let partly = print(&[("a", "9")], 1);
        assert_eq!(whole.against(&partly), StateComparison::Different(vec!["a".to_owned()]));
        let deeper = Fingerprint { depth: FingerprintDepth::Checksums, ..whole.clone() };
        assert_eq!(whole.against(&deeper), StateComparison::Unknown);
    }

    #[test]
    fn a_restored_state_is_judged_by_the_snapshots() {
        let mut state = DatabaseState {
            fingerprint: Some(print(&[("a", "1")], 0)),
            restored: Some(Restored {
                from: "snapshot `clean`".to_owned(),
                seconds: 2.0,
                fingerprint: Some(print(&[("a", "2")], 0)),
                is_equal: None,
                different: Vec::new(),
            }),
            ..DatabaseState::default()
        };
        state.describe();
        assert_eq!(
            state.preparation_words,
            ["restored from snapshot `clean` in 2s; its state differs: a"]
        );
    }
}
