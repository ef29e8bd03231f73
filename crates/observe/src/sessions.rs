//! Active sessions: sums up samples of what the sessions of a server do and wait for.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use triphammer_core::Rows;
use triphammer_core::sql::StatementCatalogue;
use triphammer_core::text::one_line;
use triphammer_core::workload::Description;
use triphammer_document::metrics::{Merge, Unit};
use triphammer_document::result::{ActiveSessions, StatementWaits, WaitClass, WaitShare};
use triphammer_document::samples::SampleSeries;

use super::sink::Measured;
use super::wait_classes::WaitClasses;

/// Name of the metric of active sessions. OpenTelemetry has none for waits.
pub const ACTIVE_SESSIONS: &str = "db.sessions.active";
/// Name of the metric of active sessions by the statement that they execute.
pub const ACTIVE_STATEMENTS: &str = "db.statements.active";
/// Maximum number of different waits and statements that are kept apart.
const KINDS_MAX: usize = 300;
/// Maximum number of texts whose statement is remembered.
const TEXTS_MAX: usize = 4_000;
/// Maximum number of waits and statements in the document.
const SHOWN_MAX: usize = 20;
/// Characters of a text that identify a statement: servers cut texts.
const KEY_LENGTH: usize = 160;
/// Maximum length of an unknown statement in the document.
const TEXT_LENGTH: usize = 60;
/// What waits and statements beyond the maximum are called.
const REST: &str = "(others)";

/// A wait of the run's own sessions.
type Wait = (WaitClass, String);

/// What was seen in samples.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Activity {
    /// Number of samples, and of those that were due but not taken.
    pub samples: u64,
    pub missed: u64,
    waits: BTreeMap<Wait, u64>,
    statements: BTreeMap<(String, WaitClass), u64>,
    idle: u64,
    other: BTreeMap<WaitClass, u64>,
    background: BTreeMap<WaitClass, u64>,
}

/// Adds to a count, under `rest` if there are too many keys.
fn count<K: Ord>(counts: &mut BTreeMap<K, u64>, key: K, number: u64, rest: impl FnOnce(K) -> K) {
    let key = match counts.len() < KINDS_MAX || counts.contains_key(&key) {
        true => key,
        false => rest(key),
    };
    *counts.entry(key).or_default() += number;
}

impl Activity {
    /// Adds a sample: the rows of a dialect's query of sessions, without that of the log probe,
    /// which has a table of its own.
    pub fn sample(
        &mut self,
        rows: &Rows,
        classes: &mut WaitClasses,
        statements: &mut StatementNames,
        probe: Option<&str>,
    ) {
        self.samples += 1;
        for row in rows.iter() {
            let text = |column: usize| row.text(column).unwrap_or_default();
            if probe.is_some_and(|table| text(5).contains(table)) {
                continue;
            }
            let class = classes.of(text(3), text(4));
            match (text(1), text(2)) {
                ("ours", "idle_in_transaction") => self.idle += 1,
                (_, "idle_in_transaction") => {}
                ("ours", _) => {
                    self.wait((class, text(3).to_owned()), 1);
                    self.statement((statements.of(text(5)), class), 1);
                }
                ("background", _) => *self.background.entry(class).or_default() += 1,
                _ => *self.other.entry(class).or_default() += 1,
            }
        }
    }

    fn wait(&mut self, wait: Wait, number: u64) {
        count(&mut self.waits, wait, number, |(class, _)| (class, REST.to_owned()));
    }

    fn statement(&mut self, of: (String, WaitClass), number: u64) {
        count(&mut self.statements, of, number, |(_, class)| (REST.to_owned(), class));
    }

    /// Adds another stretch.
    pub fn add(&mut self, other: Self) {
        self.samples += other.samples;
        self.missed += other.missed;
        self.idle += other.idle;
        other.waits.into_iter().for_each(|(wait, number)| self.wait(wait, number));
        other.statements.into_iter().for_each(|(of, number)| self.statement(of, number));
        for (class, number) in other.other {
            *self.other.entry(class).or_default() += number;
        }
        for (class, number) in other.background {
            *self.background.entry(class).or_default() += number;
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "counts of samples")]
    fn average(&self, number: u64) -> f64 {
        number as f64 / (self.samples.max(1) as f64)
    }

    /// The values of a second: average numbers of sessions by class and wait, and by statement.
    pub fn measured(&self) -> Measured {
        let mut all = Vec::new();
        if self.samples == 0 {
            return all;
        }
        for ((class, wait), number) in &self.waits {
            let labels = [("who", "run"), ("class", class.name()), ("wait", wait.as_str())];
            all.push((sessions(&labels, "Active sessions"), self.average(*number)));
        }
        let mut by_statement: BTreeMap<&str, u64> = BTreeMap::new();
        for ((statement, _), number) in &self.statements {
            *by_statement.entry(statement).or_default() += number;
        }
        for (statement, number) in by_statement {
            let labels = [("statement", statement)];
            let series = series(ACTIVE_STATEMENTS, &labels, "Sessions in the statement");
            all.push((series, self.average(number)));
        }
        for (who, counts) in [("other", &self.other), ("background", &self.background)] {
            for (class, number) in counts {
                let labels = [("who", who), ("class", class.name())];
                all.push((sessions(&labels, "Active sessions"), self.average(*number)));
            }
        }
        let labels = [("who", "run"), ("class", "idle_in_transaction")];
        all.push((sessions(&labels, "Idle in transaction"), self.average(self.idle)));
        all
    }

    /// The figures for the document; `None` without samples.
    pub fn figures(&self, statements: &StatementNames) -> Option<ActiveSessions> {
        if self.samples == 0 {
            return None;
        }
        let active: u64 = self.waits.values().sum();
        let share = |number: u64| self.average(number) / self.average(active.max(1));
        let of = |class, wait: &str, number| WaitShare {
            class,
            wait: wait.to_owned(),
            average: self.average(number),
            share: share(number),
        };
        let mut classes: BTreeMap<WaitClass, u64> = BTreeMap::new();
        for ((class, _), number) in &self.waits {
            *classes.entry(*class).or_default() += number;
        }
        let mut classes: Vec<_> = classes.into_iter().map(|(c, n)| of(c, "", n)).collect();
        let mut waits: Vec<_> = self.waits.iter().map(|((c, w), n)| of(*c, w, *n)).collect();
        for shares in [&mut classes, &mut waits] {
            shares.sort_by(|a, b| b.average.total_cmp(&a.average));
            shares.truncate(SHOWN_MAX);
        }
        Some(ActiveSessions {
            samples: self.samples,
            missed: self.missed,
            average: self.average(active),
            idle_in_transaction: self.average(self.idle),
            other: self.average(self.other.values().sum()),
            background: self.average(self.background.values().sum()),
            classes,
            waits,
            statements: self.of_statements(statements, share),
        })
    }

    fn of_statements(
        &self,
        names: &StatementNames,
        share: impl Fn(u64) -> f64,
    ) -> Vec<StatementWaits> {
        let mut by_name: BTreeMap<&str, Vec<(u64, WaitClass)>> = BTreeMap::new();
        for ((name, class), number) in &self.statements {
            by_name.entry(name).or_default().push((*number, *class));
        }
        let waits = by_name.into_iter().map(|(name, counts)| {
            let number = counts.iter().map(|(number, _)| number).sum();
            let (_, top_class) = counts.into_iter().max().expect("a statement has a count");
            StatementWaits {
                statement: name.to_owned(),
                transaction: names.transaction(name),
                average: self.average(number),
                share: share(number),
                top_class,
            }
        });
        let mut waits: Vec<_> = waits.collect();
        waits.sort_by(|a, b| b.average.total_cmp(&a.average));
        waits.truncate(SHOWN_MAX);
        waits
    }
}

fn sessions(labels: &[(&str, &str)], title: &str) -> Arc<SampleSeries> {
    series(ACTIVE_SESSIONS, labels, title)
}

/// A series of average numbers of sessions.
pub fn series(metric: &str, labels: &[(&str, &str)], title: &str) -> Arc<SampleSeries> {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    Arc::new(SampleSeries {
        metric: metric.to_owned(),
        labels: labels.iter().map(owned).collect(),
        title: title.to_owned(),
        unit: Unit::Average,
        merge: Merge::Mean,
    })
}

/// Finds the workload's statement for a text that the server shows.
#[derive(Debug, Default)]
pub struct StatementNames {
    by_key: HashMap<String, String>,
    transactions: Vec<String>,
    seen: HashMap<String, String>,
}

impl StatementNames {
    /// The statements of a workload.
    pub fn new(catalogue: &StatementCatalogue, workload: &Description) -> Self {
        let mut by_key = HashMap::new();
        for of in catalogue.statements() {
            let key = key(&of.sql);
            by_key.extend(call(&key).map(|call| (call.to_owned(), of.name.clone())));
            by_key.insert(key, of.name.clone());
        }
        let transactions = workload.transactions.iter().map(|of| of.name.to_string()).collect();
        Self { by_key, transactions, seen: HashMap::new() }
    }

    /// Name of the statement, or its shortened text.
    pub fn of(&mut self, text: &str) -> String {
        if let Some(known) = self.seen.get(text) {
            return known.clone();
        }
        let key = key(text);
        let name = self.by_key.get(&key).cloned().unwrap_or_else(|| shortened(&key));
        if self.seen.len() == TEXTS_MAX {
            self.seen.clear();
        }
        self.seen.insert(text.to_owned(), name.clone());
        name
    }

    /// The transaction type to which a statement of this name belongs.
    fn transaction(&self, statement: &str) -> Option<String> {
        let belongs = |name: &&String| statement.split('.').any(|part| part == *name);
        self.transactions.iter().find(belongs).cloned()
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(TEXT_LENGTH) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A call of T-SQL without its arguments, as SQL Server shows it; `None` for another statement.
fn call(key: &str) -> Option<&str> {
    let name = key.strip_prefix("exec ")?.split(' ').next()?;
    Some(&key[..name.len() + 5])
}

/// A text without its values, spaces and case, as far as servers show it: what a statement with
/// placeholders and the same with values have in common.
fn key(text: &str) -> String {
    beginning(text, KEY_LENGTH)
}

/// The same of the whole text.
pub fn whole_key(text: &str) -> String {
    beginning(text, usize::MAX)
}

/// The first characters of the key of a text.
fn beginning(text: &str, most: usize) -> String {
    let text = one_line(text);
    let mut key = String::with_capacity(text.len().min(most));
    let mut chars = text.chars().peekable();
    let mut length = 0;
    while let Some(c) = chars.next() {
        if length == most {
            break;
        }
        let follows_word = key.chars().last().is_some_and(|c| c.is_alphanumeric() || c == '_');
        let put = match c {
            '\'' => {
                while chars.next().is_some_and(|c| c != '\'') {}
                '?'
            }
            '$' | '0'..='9' if !follows_word => {
                let is_number = |c: &char| c.is_ascii_digit() || *c == '.';
                while chars.next_if(is_number).is_some() {}
                '?'
            }
            c if c.is_whitespace() => ' ',
            c => c.to_ascii_lowercase(),
        };
        if put == ' ' && key.ends_with(' ') {
            continue;
        }
        key.push(put);
        length += 1;
    }
    key.trim().trim_end_matches(';').to_owned()
}

#[cfg(test)]
mod tests {
    use triphammer_dialects::observe::observe;

    use super::*;

    fn rows(of: &[[&str; 6]]) -> Rows {
        let mut rows = Rows::new();
        rows.reset(6);
        for row in of {
            row.iter().for_each(|text| rows.text(text));
        }
        rows
    }

    #[test]
    fn texts_with_values_and_with_placeholders_are_the_same_statement() {
        let prepared = "SELECT a1 FROM t\n WHERE  x = $1 AND y = $12";
        assert_eq!(key(prepared), key("select a1 from t where x = 45.5 and y = 'it';"));
        assert_ne!(key(prepared), key("SELECT a2 FROM t WHERE x = $1 AND y = $12"));
    }

    #[test]
    fn calls_are_known_by_their_procedures() {
        assert_eq!(call(&key("EXEC pay @p1, @p2")), Some("exec pay"));
        assert_eq!(call(&key("SELECT pay(1)")), None);
    }

    #[test]
    fn shares_are_of_the_runs_own_active_sessions() {
        let mut names = StatementNames::default();
        let mut activity = Activity::default();
        let classes = &mut WaitClasses::new(&observe("postgres").unwrap().waits);
        let lock = ["1", "ours", "active", "Lock:tuple", "", "UPDATE d"];
        let cpu = ["2", "ours", "active", "", "", "UPDATE d"];
        let idle = ["3", "ours", "idle_in_transaction", "Client:ClientRead", "", "x"];
        let foreign = ["4", "other", "active", "", "", "SELECT 1"];
        activity.sample(&rows(&[lock, cpu, idle, foreign]), classes, &mut names, None);
        let probe = ["9", "ours", "active", "IO:WALSync", "", "UPDATE probe_1 SET n = n + 1"];
        activity.sample(&rows(&[lock, lock, probe]), classes, &mut names, Some("probe_1"));
        let figures = activity.figures(&names).unwrap();
        assert_eq!((figures.samples, figures.average, figures.other), (2, 2.0, 0.5));
        assert_eq!(figures.idle_in_transaction, 0.5);
        let classes: Vec<_> = figures.classes.iter().map(|of| (of.class, of.share)).collect();
        assert_eq!(classes, [(WaitClass::RowLock, 0.75), (WaitClass::Cpu, 0.25)]);
        let statement = &figures.statements[0];
        assert_eq!((statement.statement.as_str(), statement.share), ("update d", 1.0));
        assert_eq!(statement.top_class, WaitClass::RowLock);
        assert_eq!(Activity::default().figures(&names), None);
        let measured = activity.measured();
        let of_statements = measured.iter().filter(|of| of.0.metric == ACTIVE_STATEMENTS);
        let statements: Vec<_> =
            of_statements.map(|of| (&*of.0.labels["statement"], of.1)).collect();
        assert_eq!(statements, [("update d", 2.0)], "over its classes of waits");
    }

    #[test]
    fn too_many_different_waits_are_counted_together() {
        let mut activity = Activity::default();
        for number in 0..KINDS_MAX + 50 {
            activity.wait((WaitClass::Io, number.to_string()), 1);
        }
        assert_eq!(activity.waits.len(), KINDS_MAX + 1);
        assert_eq!(activity.waits[&(WaitClass::Io, REST.to_owned())], 50);
    }
}
