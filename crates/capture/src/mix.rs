//! The workload file of a log: its transactions with their weights, and generators of their parameters
//! that resemble the values in the log.
//!
//! Values at the same places of a transaction that were equal in every instance are one parameter.
//! Literals that never varied stay in the SQL. Integers that fill their range become `integer`;
//! anything else is drawn from a sample of the values, which keeps their skew and their format.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;

use triphammer_core::random::Rng;
use triphammer_core::text::csv_field;

use super::event::Argument;
use super::sessions::{Ending, Transaction};
use super::shapes::Shapes;
use super::skipped::{Reason, Skipped};
use super::sql::{Shape, Syntax, literal};
use super::variables::inherits;
use super::written::{inserted, quoted, table, title, unique};

/// Most transactions of a workload file.
pub const WRITTEN_MAX: usize = 128;
/// Most different transactions that are kept while a log is read.
pub const KINDS_MAX: usize = 5_000;
/// Most values of a parameter that are kept as a sample.
pub const SAMPLE_MAX: usize = 1_000;
/// Most bytes of a value that is kept in a sample.
pub const VALUE_BYTES_MAX: usize = 4_096;
/// Most bytes of the samples of all parameters while a log is read.
pub const SAMPLES_BYTES_MAX: usize = 128 * 1024 * 1024;
/// Most bytes of the file of samples; a workload file may name files of 1 MiB.
const FILE_BYTES_MAX: usize = 1_000_000;
/// Values that are counted to find how many are different.
const DISTINCT_MAX: usize = 20_000;
/// Share of the different values that draws from a range would give, above which it is one.
const FILLS_RANGE: f64 = 0.8;
/// Values from which on a growing one counts as a sequence.
const SEQUENCE_MIN: u64 = 20;

/// A kind of transactions: the same statements in the same order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    shapes: Vec<usize>,
    /// Name of its isolation level.
    isolation: Option<&'static str>,
    reads: bool,
}

/// What is known about a kind.
#[derive(Debug)]
struct KindStatistics {
    count: u64,
    /// The places of values: by statement, its arguments.
    places: Vec<Place>,
    /// Places with equal values in every instance so far have the same class.
    classes: Vec<usize>,
}

/// The values at a place of a transaction.
#[derive(Debug, Default)]
struct Place {
    argument: usize,
    is_literal: bool,
    first: Option<Argument>,
    varies: bool,
    values: u64,
    nulls: u64,
    /// Range of the values, while all are integers.
    range: Option<(i64, i64)>,
    has_text: bool,
    grows: bool,
    last: i64,
    distinct: BTreeSet<u64>,
    /// Number of values when there were too many different ones to count.
    counted: u64,
    sample: Vec<String>,
}

/// Gathers transactions.
#[derive(Debug)]
pub struct Mix {
    syntax: Syntax,
    kinds: HashMap<Key, KindStatistics>,
    rng: Rng,
    sample_bytes: usize,
    transactions: u64,
    first_us: i64,
    last_us: i64,
    /// What is not in the workload file, besides what is not in any capture.
    pub skipped: Skipped,
}

/// A workload file, and the file of its samples if it has some.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkloadFile {
    /// The TOML file.
    pub text: String,
    /// The CSV file that it names.
    pub samples: Option<String>,
    /// Number of transactions in it.
    pub kinds: usize,
    /// Number of parameters.
    pub parameters: usize,
}

impl Mix {
    /// Gathers the transactions of a log whose SQL is written so.
    #[must_use]
    pub fn new(syntax: Syntax) -> Self {
        Self {
            syntax,
            kinds: HashMap::new(),
            rng: Rng::of(1, &[]),
            sample_bytes: 0,
            transactions: 0,
            first_us: i64::MAX,
            last_us: i64::MIN,
            skipped: Skipped::default(),
        }
    }

    /// Takes a transaction.
    pub fn add(&mut self, transaction: Transaction, shapes: &Shapes) {
        if transaction.ending == Ending::Rollback {
            self.skipped.add(Reason::RolledBack);
            return;
        }
        let own = transaction.steps.iter().map(|step| shapes.get(step.shape));
        if self.syntax == Syntax::MySql && inherits(own) {
            self.skipped.add(Reason::Inherited);
            return;
        }
        let key = Key {
            shapes: transaction.steps.iter().map(|step| step.shape).collect(),
            isolation: transaction.characteristics.isolation.map(|level| level.name()),
            reads: transaction.characteristics.reads,
        };
        if self.kinds.len() == KINDS_MAX && !self.kinds.contains_key(&key) {
            self.skipped.add(Reason::Kinds);
            return;
        }
        self.transactions += 1;
        self.first_us = self.first_us.min(transaction.start_us);
        self.last_us = self.last_us.max(transaction.start_us);
        let kind =
            self.kinds.entry(key).or_insert_with(|| KindStatistics::new(&transaction, shapes));
        kind.count += 1;
        let values = transaction.steps.iter().flat_map(|step| &step.arguments);
        let values: Vec<&Argument> = values.collect();
        kind.refine(&values);
        for (place, value) in kind.places.iter_mut().zip(values) {
            self.sample_bytes += place.add(value, &mut self.rng, self.sample_bytes);
        }
    }

    /// Number of transactions.
    #[must_use]
    pub const fn transactions(&self) -> u64 {
        self.transactions
    }

    /// Writes the workload file. `head` are lines about the log, and `samples` is the name of the file
    /// with the samples.
    #[must_use]
    pub fn write(&mut self, head: &str, samples: &str, shapes: &Shapes) -> WorkloadFile {
        let kinds = std::mem::take(&mut self.kinds);
        let mut kinds: Vec<(Key, KindStatistics)> = kinds.into_iter().collect();
        kinds.sort_by(|(a, x), (b, y)| y.count.cmp(&x.count).then(a.shapes.cmp(&b.shapes)));
        for (_, kind) in kinds.drain(WRITTEN_MAX.min(kinds.len())..) {
            self.skipped.more(Reason::Kinds, kind.count);
        }
        let mut writer = Writer::new(shapes);
        // Weights are whole numbers up to a million.
        let most = kinds.first().map_or(1, |(_, kind)| kind.count);
        let unit = most.div_ceil(1_000_000).max(1);
        for (key, kind) in &kinds {
            writer.transaction(key, kind, kind.count.div_ceil(unit));
        }
        let parameters = writer.parameters.len();
        let (table, csv) = writer.table(samples);
        let mut text = String::new();
        for line in head.lines() {
            let _ = writeln!(text, "# {line}");
        }
        if !table.is_empty() {
            let _ = write!(text, "\n[parameters]\n{table}");
        }
        text.push_str(&writer.transactions);
        WorkloadFile { text, samples: csv, kinds: kinds.len(), parameters }
    }

    /// From the first to the last start of a transaction, in seconds.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        let us = self.last_us.saturating_sub(self.first_us).max(0);
        std::time::Duration::from_micros(us.unsigned_abs()).as_secs_f64()
    }
}

impl KindStatistics {
    fn new(transaction: &Transaction, shapes: &Shapes) -> Self {
        let mut places = Vec::new();
        for step in &transaction.steps {
            let shape = shapes.get(step.shape);
            for argument in 0..step.arguments.len() {
                let is_literal = shape.literals[argument];
                places.push(Place { argument, is_literal, grows: true, ..Place::default() });
            }
        }
        let classes = vec![0; places.len()];
        Self { count: 0, places, classes }
    }

    /// Splits classes whose places have different values now.
    fn refine(&mut self, values: &[&Argument]) {
        let mut known: HashMap<(usize, &Argument), usize> = HashMap::new();
        for (class, value) in self.classes.iter_mut().zip(values) {
            let next = known.len();
            *class = *known.entry((*class, value)).or_insert(next);
        }
    }
}

impl Place {
    /// Takes a value; returns the bytes that the sample grew by.
    fn add(&mut self, value: &Argument, rng: &mut Rng, used: usize) -> usize {
        let first = self.first.get_or_insert_with(|| value.clone());
        self.varies |= first != value;
        let text = match value {
            Argument::Null => {
                self.nulls += 1;
                return 0;
            }
            Argument::Int(number) => {
                let (low, high) = self.range.unwrap_or((*number, *number));
                self.range = Some((low.min(*number), high.max(*number)));
                self.grows &= self.values == 0 || *number > self.last;
                self.last = *number;
                number.to_string()
            }
            other => {
                self.has_text = true;
                other.written().unwrap_or_default().into_owned()
            }
        };
        self.values += 1;
        if self.distinct.len() < DISTINCT_MAX {
            self.distinct.insert(hash(&text));
            self.counted = self.values;
        }
        self.keep(text, rng, used)
    }

    /// Keeps each value with the same probability (reservoir sampling).
    fn keep(&mut self, text: String, rng: &mut Rng, used: usize) -> usize {
        if text.len() > VALUE_BYTES_MAX || text.contains('\0') {
            return 0;
        }
        if self.sample.len() < SAMPLE_MAX {
            let bytes = text.len() + size_of::<String>();
            if used + bytes > SAMPLES_BYTES_MAX {
                return 0;
            }
            self.sample.push(text);
            return bytes;
        }
        let place = usize::try_from(rng.below(self.values)).unwrap_or(usize::MAX);
        if let Some(kept) = self.sample.get_mut(place).filter(|kept| kept.len() >= text.len()) {
            *kept = text;
        }
        0
    }

    /// What stays in the SQL: a literal that never varied, and NULL.
    fn constant(&self) -> Option<String> {
        let first = self.first.as_ref().filter(|_| !self.varies)?;
        (self.is_literal || *first == Argument::Null).then(|| literal(first)).flatten()
    }

    /// Whether the integers fill their range as draws from it would.
    fn fills_range(&self) -> Option<(i64, i64)> {
        let (low, high) = self.range.filter(|_| !self.has_text)?;
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let (size, values, distinct) =
            ((high.abs_diff(low) as f64) + 1.0, self.counted as f64, self.distinct.len() as f64);
        let expected = size * -(-values / size).exp_m1();
        (self.varies && distinct >= FILLS_RANGE * expected).then_some((low, high))
    }
}

/// A hash of a text (FNV-1a).
fn hash(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

/// Writes the parts of a workload file.
struct Writer<'a> {
    shapes: &'a Shapes,
    names: BTreeSet<String>,
    /// Definitions of parameters, by name; the values of those that have a sample.
    parameters: Vec<(String, Definition)>,
    transactions: String,
}

enum Definition {
    Range(i64, i64),
    Sequence(Growing),
    Pick(String),
    Sample(Vec<String>),
}

/// A column that grew in the log.
struct Growing {
    /// The table and the column: all sequences of a column share its numbers.
    column: (String, String),
    /// The number after the last one.
    next: i64,
}

impl<'a> Writer<'a> {
    fn new(shapes: &'a Shapes) -> Self {
        let names = BTreeSet::from(["scale".to_owned()]);
        Self { shapes, names, parameters: Vec::new(), transactions: String::new() }
    }

    fn transaction(&mut self, key: &Key, kind: &KindStatistics, weight: u64) {
        let name = self.name_of_transaction(key);
        let mut of_class: BTreeMap<usize, String> = BTreeMap::new();
        let mut texts = Vec::new();
        let mut first = 0;
        for number in &key.shapes {
            let shape = self.shapes.get(*number);
            let places = &kind.places[first..first + shape.literals.len()];
            let classes = &kind.classes[first..first + shape.literals.len()];
            first += shape.literals.len();
            let mut written: Vec<String> = Vec::new();
            for (place, class) in places.iter().zip(classes) {
                written.push(match (place.constant(), of_class.get(class)) {
                    (Some(constant), _) => constant,
                    (None, Some(name)) => format!(":{name}"),
                    (None, None) => {
                        let name = self.parameter(place, shape);
                        of_class.insert(*class, name.clone());
                        format!(":{name}")
                    }
                });
            }
            texts.push(shape.text(|argument| written[argument].clone()));
        }
        let out = &mut self.transactions;
        let _ = write!(out, "\n[[transactions]]\nname = \"{name}\"\nweight = {weight}\n");
        if let Some(level) = key.isolation {
            let _ = writeln!(out, "isolation = \"{level}\"");
        }
        if key.reads {
            out.push_str("access = \"read\"\n");
        }
        out.push_str("statements = [\n");
        for text in texts {
            let _ = writeln!(out, "    {},", quoted(&text));
        }
        out.push_str("]\n");
    }

    /// A name from the first statement that writes, else from the first one.
    fn name_of_transaction(&mut self, key: &Key) -> String {
        let shapes: Vec<&Shape> =
            key.shapes.iter().map(|number| self.shapes.get(*number)).collect();
        let writes = |shape: &&&Shape| {
            matches!(&*shape.verb(), "insert" | "update" | "delete" | "merge" | "replace")
        };
        let shape = shapes.iter().find(writes).or(shapes.first());
        let name = shape.map_or_else(|| "transaction".to_owned(), |shape| title(shape));
        unique(&mut self.names, &name)
    }

    /// Declares the parameter of a place, and returns its name.
    fn parameter(&mut self, place: &Place, shape: &Shape) -> String {
        let hole = shape.holes.iter().position(|argument| *argument == place.argument);
        let column = hole.and_then(|hole| shape.column(hole).or_else(|| inserted(shape, hole)));
        let column_name = column.map_or_else(|| "value".to_owned(), str::to_ascii_lowercase);
        let name = unique(&mut self.names, &column_name);
        let is_insert = shape.verb() == "insert" || shape.verb() == "replace";
        let definition = match (place.fills_range(), &place.first) {
            _ if is_insert && place.grows && !place.has_text && place.values >= SEQUENCE_MIN => {
                let column = (table(shape).to_ascii_lowercase(), column_name.clone());
                Definition::Sequence(Growing { column, next: place.last.saturating_add(1) })
            }
            (Some((low, high)), _) => Definition::Range(low, high),
            (None, Some(Argument::Int(number))) if !place.varies => {
                Definition::Pick(number.to_string())
            }
            (None, Some(Argument::Text(text) | Argument::Number(text))) if !place.varies => {
                Definition::Pick(quoted(text))
            }
            _ if place.sample.is_empty() => Definition::Pick(quoted("")),
            _ => Definition::Sample(place.sample.clone()),
        };
        self.parameters.push((name.clone(), definition));
        name
    }

    /// The numbers of a sequence: those of one column take turns.
    fn sequence(&self, name: &str, growing: &Growing) -> String {
        let of_column = self.parameters.iter().filter_map(|(other, definition)| match definition {
            Definition::Sequence(other_growing) if other_growing.column == growing.column => {
                Some((other, other_growing.next))
            }
            _ => None,
        });
        let all: Vec<(&String, i64)> = of_column.collect();
        let place = all.iter().position(|(other, _)| *other == name).unwrap_or_default();
        let next = all.iter().map(|(_, next)| *next).max().unwrap_or(growing.next);
        let start = next.saturating_add(i64::try_from(place).unwrap_or_default());
        if all.len() < 2 {
            format!("start = {start}")
        } else {
            format!("start = {start}, step = {}", all.len())
        }
    }

    /// The table of parameters, and the file of their samples.
    fn table(&self, file: &str) -> (String, Option<String>) {
        let mut table = String::new();
        for (name, definition) in &self.parameters {
            let _ = match definition {
                Definition::Range(low, high) => writeln!(
                    table,
                    "{name} = {{ generator = \"integer\", min = {low}, max = {high} }}"
                ),
                Definition::Sequence(growing) => {
                    let sequence = self.sequence(name, growing);
                    writeln!(
                        table,
                        "{name} = {{ generator = \"sequence\", {sequence} }} # it grew in the log"
                    )
                }
                Definition::Pick(value) => {
                    writeln!(table, "{name} = {{ generator = \"pick\", values = [{value}] }}")
                }
                Definition::Sample(_) => writeln!(
                    table,
                    "{name} = {{ generator = \"csv\", file = {}, column = \"{name}\" }}",
                    quoted(file)
                ),
            };
        }
        (table, self.samples())
    }

    /// The samples as CSV: every column has as many rows, for which shorter samples are repeated.
    fn samples(&self) -> Option<String> {
        let columns: Vec<(&str, &Vec<String>)> = self
            .parameters
            .iter()
            .filter_map(|(name, definition)| match definition {
                Definition::Sample(values) => Some((name.as_str(), values)),
                _ => None,
            })
            .collect();
        let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
        let rows = columns.iter().map(|(_, values)| values.len()).max()?;
        let mut csv = names.join(",");
        csv.push('\n');
        for row in 0..rows {
            let value = |(_, values): &(&str, &Vec<String>)| {
                csv_field(&values[row % values.len()]).into_owned()
            };
            let line = columns.iter().map(value).collect::<Vec<_>>().join(",");
            if csv.len() + line.len() >= FILE_BYTES_MAX && row > 0 {
                break;
            }
            csv.push_str(&line);
            csv.push('\n');
        }
        Some(csv)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Argument, Assembler, Event, What};
    use super::*;

    fn written(statements: &[(&str, &[Argument])]) -> (WorkloadFile, Mix) {
        written_by(Syntax::Postgres, statements)
    }

    fn written_by(syntax: Syntax, statements: &[(&str, &[Argument])]) -> (WorkloadFile, Mix) {
        let mut assembler = Assembler::new(syntax);
        let mut mix = Mix::new(syntax);
        let mut sink = |transaction: Transaction, shapes: &Shapes| {
            mix.add(transaction, shapes);
            Ok(())
        };
        for (at_us, (sql, binds)) in (0..).zip(statements) {
            let (sql, binds) = ((*sql).to_owned(), binds.to_vec());
            let what = What::Statement { sql, binds, took_us: None };
            assembler
                .event(Event { session: "a".into(), at_us, database: None, what }, &mut sink)
                .unwrap();
        }
        assembler.finish(&mut sink).unwrap();
        let shapes = std::mem::take(&mut assembler.shapes);
        (mix.write("of a test", "values.csv", &shapes), mix)
    }

    #[test]
    fn equal_values_are_one_parameter_and_constants_stay() {
        let texts: Vec<[String; 4]> = (0..100)
            .map(|n| {
                let (aid, delta) = (n * 7919 % 1000 + 1, n * 31 % 50 - 20);
                [
                    "BEGIN".to_owned(),
                    format!("UPDATE acc SET bal = bal + {delta} WHERE aid = {aid} LIMIT 1"),
                    format!("INSERT INTO hist (aid, delta, note) VALUES ({aid}, {delta}, 'x')"),
                    "END".to_owned(),
                ]
            })
            .collect();
        let all: Vec<(&str, &[Argument])> =
            texts.iter().flatten().map(|sql| (sql.as_str(), &[] as &[Argument])).collect();
        let (file, _) = written(&all);
        let expected = "# of a test\n\n[parameters]\n\
            bal = { generator = \"integer\", min = -20, max = 29 }\n\
            aid = { generator = \"integer\", min = 1, max = 982 }\n\n\
            [[transactions]]\nname = \"update_acc\"\nweight = 100\nstatements = [\n    \
            'UPDATE acc SET bal = bal + :bal WHERE aid = :aid LIMIT 1',\n    \
            '''INSERT INTO hist (aid, delta, note) VALUES (:aid, :bal, 'x')''',\n]\n";
        assert_eq!(file.text, expected);
        assert_eq!((file.kinds, file.parameters, file.samples), (1, 2, None));
    }

    #[test]
    fn what_is_no_range_is_a_sample() {
        let text = |n: i64| [Argument::Text(format!("name, \"{}\"", n % 3)), Argument::Int(n * n)];
        let binds: Vec<[Argument; 2]> = (0..50).map(text).collect();
        let sql = "SELECT a FROM s.t WHERE name = $1 AND n = $2";
        let all: Vec<(&str, &[Argument])> = binds.iter().map(|b| (sql, b.as_slice())).collect();
        let (file, _) = written(&all);
        let sample = "name = { generator = \"csv\", file = 'values.csv', column = \"name\" }";
        assert!(file.text.contains(sample), "{}", file.text);
        let samples = file.samples.unwrap();
        assert!(samples.starts_with("name\n\"name, \"\"0\"\"\"\n"), "{samples}");
        assert_eq!(samples.lines().count(), 51);
    }

    #[test]
    fn values_of_variables_do_not_come_from_another_transaction() {
        let all: [(&str, &[Argument]); 7] = [
            ("SET @v = 1", &[]),
            ("INSERT INTO t VALUES (@v)", &[]),
            ("BEGIN", &[]),
            ("SELECT max(a) FROM t INTO @v", &[]),
            ("INSERT INTO t VALUES (@v)", &[]),
            ("COMMIT", &[]),
            ("CALL p(1, @out)", &[]),
        ];
        let (file, mix) = written_by(Syntax::MySql, &all);
        assert_eq!((file.kinds, mix.skipped.count(Reason::Inherited)), (3, 1), "{}", file.text);
    }

    #[test]
    fn growing_keys_of_inserts_are_sequences() {
        let texts: Vec<String> =
            (0..30).map(|n| format!("INSERT INTO t VALUES ({})", n + 5)).collect();
        let all: Vec<(&str, &[Argument])> =
            texts.iter().map(|sql| (sql.as_str(), &[] as &[Argument])).collect();
        let (file, _) = written(&all);
        assert!(file.text.contains("value = { generator = \"sequence\", start = 35 }"));
    }

    #[test]
    fn rare_transactions_are_counted_and_names_are_unique() {
        let texts: Vec<String> =
            (0..200).map(|n| format!("SELECT c{n} FROM t WHERE a = 1")).collect();
        let all: Vec<(&str, &[Argument])> =
            texts.iter().map(|sql| (sql.as_str(), &[] as &[Argument])).collect();
        let (file, mix) = written(&all);
        assert_eq!((file.kinds, mix.skipped.count(Reason::Kinds)), (128, 72));
        assert!(file.text.contains("name = \"select_t_128\""));
        assert!(!file.text.contains("[parameters]"), "constants stay");
    }
}
