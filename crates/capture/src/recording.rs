//! A recording: the transactions of a log with their times, to be replayed as they were.
//!
//! A file of lines, each a JSON value:
//!
//! ```text
//! {"triphammer_recording": 2, "from": "csvlog", "started": "2026-01-31 12:00:00"}
//! {"statement": 0, "sql": "UPDATE accounts SET balance = balance + :p1 WHERE id = :p2", "literals": [1]}
//! [3, 1500, "commit", [[0, 120, [5, 17], {"changed": 1, "us": 310}], [1, -80, []]], 40]
//! {"sessions": 8, "transactions": 1, "statements": 2}
//! ```
//!
//! A statement comes before its first use. Transactions are in the order in which they ended. A transaction is its
//! session, its start in µs after `started`, its ending (`single`, `commit` or `rollback`, then an isolation level and
//! `read` if it has them), its statements, the gap before COMMIT or ROLLBACK, and if they are known, the times of BEGIN and
//! of COMMIT or ROLLBACK in µs. Each of its statements is its number,
//! the gap before it in µs, its arguments, and what the server answered, if that is known. An argument is null, a whole
//! number, a text, `{"number": "1.5"}`, or `{"bytes": "ff00"}` for bytes that are no text. A negative gap counts from the start of the statement before, because the log
//! does not have its end. An answer has what is known of [`Answer`]: `rows`, `changed`, `error`, `hash` in hexadecimal
//! digits, `made`, and `us`.

use std::io::{self, BufRead, Write};

use serde::ser::{SerializeMap as _, SerializeSeq as _};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use triphammer_core::value::{Timestamp, hex};

use super::answer::Answer;
use super::argument::unhex;
use super::event::Argument;
use super::lines::{Line, Lines};
use super::log::Format;
use super::sessions::{Bounds, Ending, Gap, Step, Transaction};
use super::shapes::Shapes;
use super::skipped::Reason;
use super::sql::Syntax;
use super::statement::{Characteristics, Effect, effect};

/// Version of the format: in the first one, arguments had no bytes.
const VERSION: u64 = 2;
/// The oldest version that is read.
const VERSION_MIN: u64 = 1;
/// Key of the version in the first line.
const KEY: &str = "triphammer_recording";
/// What recordings of what passed on the wire are from, by their syntax.
const FROM_WIRE: [(Syntax, &str); 2] =
    [(Syntax::Postgres, "wire-postgres"), (Syntax::MySql, "wire-mysql")];
/// Most bytes of a recording that is replayed: all of it is kept in memory.
pub const RECORDING_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// The name of what a recording is from that was made of what passed on the wire.
#[must_use]
pub fn from_wire(syntax: Syntax) -> &'static str {
    FROM_WIRE.iter().find(|(one, _)| *one == syntax).map_or("wire", |(_, name)| name)
}

/// How the SQL of a recording is written, by what it is from; `None` if that is unknown.
fn syntax_from(from: &str) -> Option<Syntax> {
    let of_wire = FROM_WIRE.iter().find(|(_, name)| *name == from).map(|(syntax, _)| *syntax);
    let format = Format::ALL.into_iter().find(|one| one.name() == from);
    of_wire.or_else(|| format.map(Format::syntax))
}

/// Writes a recording.
#[derive(Debug)]
pub struct Recorder<W> {
    out: W,
    start_us: Option<i64>,
    from: &'static str,
    /// Whether each statement has been written.
    written: Vec<bool>,
    transactions: u64,
    statements: u64,
    last_us: i64,
}

/// How far a recording has been written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Number of transactions.
    pub transactions: u64,
    /// Number of their statements.
    pub statements: u64,
    last_us: i64,
}

impl<W: Write> Recorder<W> {
    /// Begins a recording of a log in this format.
    pub const fn new(out: W, from: &'static str) -> Self {
        Self {
            out,
            start_us: None,
            from,
            written: Vec::new(),
            transactions: 0,
            statements: 0,
            last_us: 0,
        }
    }

    /// Writes a transaction.
    ///
    /// # Errors
    /// As the system reports.
    pub fn add(&mut self, transaction: &Transaction, shapes: &Shapes) -> io::Result<()> {
        if self.start_us.is_none() {
            self.start_us = Some(transaction.start_us);
            let started = Timestamp(transaction.start_us).to_string();
            self.line(&json!({ KEY: VERSION, "from": self.from, "started": started }))?;
        }
        let started = self.start_us.unwrap_or_default();
        for step in &transaction.steps {
            self.define(step.shape, shapes)?;
        }
        let start_us = transaction.start_us.saturating_sub(started);
        self.last_us = self.last_us.max(start_us);
        self.transactions += 1;
        self.statements += transaction.steps.len() as u64;
        let (ending, last) = (ending(transaction), gap(transaction.last_gap));
        let (session, steps) = (transaction.session, &transaction.steps);
        match transaction.took_us {
            Bounds { begin: 0, end: 0 } => self.line(&(session, start_us, ending, steps, last)),
            Bounds { begin, end } => {
                self.line(&(session, start_us, ending, steps, last, [begin, end]))
            }
        }
    }

    /// Writes the end of the recording; returns its length in seconds.
    ///
    /// # Errors
    /// As the system reports.
    pub fn finish(mut self, sessions: usize) -> io::Result<f64> {
        self.end(&self.mark(), sessions)
    }

    /// What has been written so far.
    #[must_use]
    pub const fn mark(&self) -> Mark {
        let Self { transactions, statements, last_us, .. } = *self;
        Mark { transactions, statements, last_us }
    }

    /// Writes the end of a recording from which everything after a mark was removed; returns its length in seconds.
    ///
    /// # Errors
    /// As the system reports.
    pub fn end(&mut self, mark: &Mark, sessions: usize) -> io::Result<f64> {
        let Mark { transactions, statements, last_us } = mark;
        self.line(&json!({
            "sessions": sessions, "transactions": transactions, "statements": statements
        }))?;
        self.out.flush()?;
        let us = last_us.max(&0).unsigned_abs();
        Ok(std::time::Duration::from_micros(us).as_secs_f64())
    }

    /// The writer.
    pub const fn writer(&mut self) -> &mut W {
        &mut self.out
    }

    fn define(&mut self, number: usize, shapes: &Shapes) -> io::Result<()> {
        if self.written.get(number) == Some(&true) {
            return Ok(());
        }
        self.written.resize(self.written.len().max(number + 1), false);
        self.written[number] = true;
        let shape = shapes.get(number);
        let sql = shape.text(|argument| format!(":p{}", argument + 1));
        let literals: Vec<usize> =
            (1..).zip(&shape.literals).filter(|(_, is)| **is).map(|(n, _)| n).collect();
        self.line(&json!({ "statement": number, "sql": sql, "literals": literals }))
    }

    fn line(&mut self, line: &impl Serialize) -> io::Result<()> {
        serde_json::to_writer(&mut self.out, line)?;
        self.out.write_all(b"\n")
    }
}

fn gap(gap: Gap) -> i64 {
    let us = i64::try_from(gap.us).unwrap_or(i64::MAX);
    // A gap of 0 is the same from either end.
    if gap.from_start { -us } else { us }
}

impl Serialize for Step {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut line = serializer.serialize_seq(None)?;
        line.serialize_element(&self.shape)?;
        line.serialize_element(&gap(self.gap))?;
        line.serialize_element(&self.arguments)?;
        if let Some(answer) = &self.answer {
            line.serialize_element(answer)?;
        }
        line.end()
    }
}

impl Serialize for Argument {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Int(number) => serializer.serialize_i64(*number),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Number(digits) => one("number", digits, serializer),
            Self::Bytes(bytes) => one("bytes", &hex(bytes), serializer),
        }
    }
}

/// An object with one entry.
fn one<S: Serializer>(name: &str, value: &str, serializer: S) -> Result<S::Ok, S::Error> {
    let mut object = serializer.serialize_map(Some(1))?;
    object.serialize_entry(name, value)?;
    object.end()
}

impl Serialize for Answer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(None)?;
        if let Some(rows) = self.rows {
            object.serialize_entry("rows", &rows)?;
        }
        if let Some(changed) = self.changed {
            object.serialize_entry("changed", &changed)?;
        }
        if let Some(error) = &self.error {
            object.serialize_entry("error", error)?;
        }
        if let Some(hash) = self.hash {
            object.serialize_entry("hash", &format_args!("{hash:016x}"))?;
        }
        if !self.made.is_empty() {
            object.serialize_entry("made", &self.made)?;
        }
        object.serialize_entry("us", &self.took_us)?;
        object.end()
    }
}

fn ending(transaction: &Transaction) -> String {
    let Characteristics { isolation, reads } = transaction.characteristics;
    let mut text = String::from(match transaction.ending {
        Ending::Single => "single",
        Ending::Commit => "commit",
        Ending::Rollback => "rollback",
    });
    if let Some(level) = isolation {
        text.push(' ');
        text.push_str(level.name());
    }
    if reads {
        text.push_str(" read");
    }
    text
}

/// A statement of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedStatement {
    /// Its SQL, with `:p1` for its first argument.
    pub sql: String,
    /// Numbers of the arguments, from 0, that were literals.
    pub literals: Vec<usize>,
}

/// A recording in memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recording {
    /// Its statements, by their numbers.
    pub statements: Vec<RecordedStatement>,
    /// Its transactions, by session, each in the order of its log; sessions are numbered without gaps, and times are
    /// µs from the start of the recording.
    pub transactions: Vec<Transaction>,
    /// Number of sessions.
    pub sessions: usize,
    /// How its SQL is written, if the log that it is from is known.
    pub syntax: Option<Syntax>,
    /// Number of COPY statements that were left out, because their data is not in the recording.
    pub copies: usize,
}

/// Reads a recording.
///
/// # Errors
/// With the first line that is not one of a recording, and as the system reports.
pub fn read<R: BufRead>(reader: R) -> Result<Recording, String> {
    // A transaction is a line, however long its arguments are.
    let longest = usize::try_from(RECORDING_BYTES_MAX).unwrap_or(usize::MAX);
    let mut lines = Lines::up_to(reader, longest);
    let mut recording = Recording::default();
    let mut numbers = std::collections::HashMap::new();
    let (mut number, mut is_complete) = (0_u64, false);
    while let Some(line) = lines.take().map_err(|error| error.to_string())? {
        number += 1;
        let wrong = |why: &str| format!("line {number}: {why}");
        let Line::Text(line) = line else {
            return Err(wrong("it is too long or not UTF-8 text"));
        };
        let value: Value =
            serde_json::from_str(&line).map_err(|error| wrong(&error.to_string()))?;
        match value {
            Value::Object(object) if number == 1 => match object.get(KEY).and_then(Value::as_u64) {
                Some(VERSION_MIN..=VERSION) => {
                    let from = object.get("from").and_then(Value::as_str);
                    recording.syntax = from.and_then(syntax_from);
                }
                Some(other) => {
                    let expected = format!("expected {VERSION_MIN} to {VERSION}");
                    return Err(wrong(&format!("unsupported version {other}: {expected}")));
                }
                None => return Err(wrong(NO_RECORDING)),
            },
            _ if number == 1 => return Err(wrong(NO_RECORDING)),
            Value::Object(object) if object.contains_key("statement") => {
                let statement = statement(&Value::Object(object));
                let (id, statement) = statement.map_err(|why| wrong(&why))?;
                if numbers.insert(id, recording.statements.len()).is_some() {
                    return Err(wrong("a statement with this number is already defined"));
                }
                recording.statements.push(statement);
            }
            Value::Object(object) => {
                let count = object.get("transactions").and_then(Value::as_u64);
                if count != Some(recording.transactions.len() as u64) {
                    return Err(wrong("the number of transactions differs from the lines above"));
                }
                is_complete = true;
            }
            Value::Array(fields) => {
                let transaction = transaction(&fields, &numbers).map_err(|why| wrong(&why))?;
                recording.transactions.push(transaction);
            }
            _ => return Err(wrong("expected a statement or a transaction")),
        }
    }
    match (number, is_complete) {
        (0, _) => Err("it is empty".to_owned()),
        (_, false) => Err("it is truncated: its last line, with the counts, is missing".to_owned()),
        _ => {
            recording.leave_out_copies();
            recording.arrange();
            Ok(recording)
        }
    }
}

const NO_RECORDING: &str =
    "not a recording: `triphammer capture LOG -o FILE.recording` makes one from a server's log";

fn statement(value: &Value) -> Result<(u64, RecordedStatement), String> {
    let number = value["statement"].as_u64().ok_or("`statement` must be a number")?;
    let sql = value["sql"].as_str().ok_or("`sql` must be a text")?.to_owned();
    let literals = value["literals"].as_array().map_or(&[] as &[Value], Vec::as_slice);
    let literals = literals.iter().filter_map(Value::as_u64).filter_map(|n| n.checked_sub(1));
    let literals = literals.filter_map(|n| usize::try_from(n).ok()).collect();
    Ok((number, RecordedStatement { sql, literals }))
}

fn transaction(
    fields: &[Value],
    numbers: &std::collections::HashMap<u64, usize>,
) -> Result<Transaction, String> {
    let (session, start, ending, steps, last, took) = match fields {
        [session, start, ending, steps, last] => (session, start, ending, steps, last, None),
        [session, start, ending, steps, last, took] => {
            (session, start, ending, steps, last, Some(took))
        }
        _ => return Err("a transaction must have 5 or 6 elements".to_owned()),
    };
    let session = session.as_u64().and_then(|n| usize::try_from(n).ok());
    let start_us = start.as_i64().ok_or("the start of a transaction must be a number")?;
    let ending = ending.as_str().unwrap_or_default();
    let mut words = ending.split(' ');
    let (ending, mut characteristics) = match words.next() {
        Some("single") => (Ending::Single, Characteristics::default()),
        Some("commit") => (Ending::Commit, Characteristics::default()),
        Some("rollback") => (Ending::Rollback, Characteristics::default()),
        _ => return Err(format!("unknown ending of a transaction `{ending}`")),
    };
    for word in words {
        match word {
            "read" => characteristics.reads = true,
            level => characteristics.isolation = Some(level.parse()?),
        }
    }
    let steps = steps.as_array().filter(|steps| !steps.is_empty());
    let steps = steps.ok_or("a transaction must have statements")?;
    let steps: Result<Vec<Step>, String> = steps.iter().map(|one| step(one, numbers)).collect();
    Ok(Transaction {
        session: session.ok_or("the session of a transaction must be a number")?,
        start_us,
        characteristics,
        ending,
        steps: steps?,
        last_gap: read_gap(last)?,
        took_us: took.map_or(Ok(Bounds::default()), read_bounds)?,
    })
}

fn step(value: &Value, numbers: &std::collections::HashMap<u64, usize>) -> Result<Step, String> {
    let fields = value.as_array().map_or(&[] as &[Value], Vec::as_slice);
    let (number, gap, arguments, answer) = match fields {
        [number, gap, arguments] => (number, gap, arguments, None),
        [number, gap, arguments, answer] => (number, gap, arguments, Some(answer)),
        _ => return Err("a statement of a transaction must have 3 or 4 elements".to_owned()),
    };
    let shape = number.as_u64().and_then(|number| numbers.get(&number));
    let shape =
        *shape.ok_or_else(|| format!("statement {number} is not defined before its use"))?;
    let answer = answer.map(read_answer).transpose()?.map(Box::new);
    Ok(Step { shape, gap: read_gap(gap)?, arguments: read_arguments(arguments)?, answer })
}

fn read_arguments(value: &Value) -> Result<Vec<Argument>, String> {
    let values = value.as_array().ok_or("the arguments of a statement must be an array")?;
    values.iter().map(read_argument).collect()
}

fn read_argument(value: &Value) -> Result<Argument, String> {
    match value {
        Value::Null => Ok(Argument::Null),
        Value::String(text) => Ok(Argument::Text(text.clone())),
        Value::Object(object) if object.get("number").is_some_and(is_number) => {
            let digits = object["number"].as_str().unwrap_or_default();
            Ok(Argument::Number(digits.to_owned()))
        }
        Value::Object(object) if object.contains_key("bytes") => {
            let bytes = object["bytes"].as_str().and_then(unhex);
            bytes.map(Argument::Bytes).ok_or_else(|| {
                "`bytes` of an argument must have pairs of hexadecimal digits".to_owned()
            })
        }
        other => other.as_i64().map(Argument::Int).ok_or_else(|| {
            format!(
                "an argument must be null, a whole number, a text, {{\"number\": TEXT}} or \
                 {{\"bytes\": DIGITS}}, got {other}"
            )
        }),
    }
}

fn read_answer(value: &Value) -> Result<Answer, String> {
    let object = value.as_object().ok_or("the answer to a statement must be an object")?;
    let number = |name: &str| match object.get(name) {
        None => Ok(None),
        Some(value) => value
            .as_u64()
            .map(Some)
            .ok_or_else(|| format!("`{name}` of an answer must be a whole number")),
    };
    let hash = object.get("hash").map(|hash| {
        let digits = hash.as_str().filter(|digits| digits.len() == 16);
        let hash = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
        hash.ok_or("`hash` of an answer must have 16 hexadecimal digits")
    });
    let made = object.get("made").and_then(Value::as_array).map_or(&[] as &[Value], Vec::as_slice);
    Ok(Answer {
        rows: number("rows")?,
        changed: number("changed")?,
        error: object.get("error").and_then(Value::as_str).map(str::to_owned),
        hash: hash.transpose()?,
        made: made.iter().map(read_arguments).collect::<Result<_, _>>()?,
        took_us: number("us")?.unwrap_or_default(),
    })
}

/// Whether it is a text of a number, so that it may be written into SQL.
fn is_number(value: &Value) -> bool {
    let is_part = |c: char| c.is_ascii_hexdigit() || "+-.xX".contains(c);
    value.as_str().is_some_and(|text| !text.contains("--") && text.chars().all(is_part))
}

fn read_gap(value: &Value) -> Result<Gap, String> {
    let us = value.as_i64().ok_or("a gap must be a whole number of µs")?;
    Ok(Gap { us: us.unsigned_abs(), from_start: us < 0 })
}

fn read_bounds(value: &Value) -> Result<Bounds, String> {
    let us = |index: usize| value.get(index).and_then(Value::as_u64);
    let both = us(0).zip(us(1)).map(|(begin, end)| Bounds { begin, end });
    both.ok_or_else(|| "the times of BEGIN and COMMIT must be two whole numbers of µs".to_owned())
}

impl Recording {
    /// Removes COPY and LOAD DATA, of which only the fact and the number of rows are recorded.
    fn leave_out_copies(&mut self) {
        let syntax = self.syntax.unwrap_or(Syntax::Postgres);
        let copies = |statement: &RecordedStatement| {
            effect(&statement.sql, syntax) == Effect::Skip(Reason::Copy)
        };
        let copies: Vec<bool> = self.statements.iter().map(copies).collect();
        if !copies.contains(&true) {
            return;
        }
        for transaction in &mut self.transactions {
            let before = transaction.steps.len();
            transaction.steps.retain(|step| !copies[step.shape]);
            self.copies += before - transaction.steps.len();
        }
        self.transactions.retain(|transaction| !transaction.steps.is_empty());
    }

    /// Orders the transactions by session, and numbers the sessions without gaps, by their
    /// first starts. Times begin with the first transaction.
    fn arrange(&mut self) {
        let mut firsts = std::collections::HashMap::new();
        for transaction in &self.transactions {
            let first = firsts.entry(transaction.session).or_insert(i64::MAX);
            *first = transaction.start_us.min(*first);
        }
        let mut order: Vec<(i64, usize)> = firsts.into_iter().map(|(s, at)| (at, s)).collect();
        order.sort_unstable();
        let zero = order.first().map_or(0, |(at, _)| *at);
        let numbers: std::collections::HashMap<usize, usize> =
            order.iter().zip(0..).map(|((_, session), number)| (*session, number)).collect();
        for transaction in &mut self.transactions {
            transaction.session = numbers[&transaction.session];
            transaction.start_us = transaction.start_us.saturating_sub(zero);
        }
        // Stable: the order of a session is that of its log, whatever its clock did.
        self.transactions.sort_by_key(|one| one.session);
        self.sessions = order.len();
    }
}

#[cfg(test)]
mod tests {
    use super::super::answer::ServerAnswer;
    use super::super::{Assembler, Event, What};
    use super::*;

    fn recorded() -> String {
        let mut assembler = Assembler::new(Syntax::Postgres);
        let mut out = Vec::new();
        let mut recorder = Recorder::new(&mut out, "csvlog");
        let mut sink =
            |transaction: Transaction, shapes: &Shapes| recorder.add(&transaction, shapes);
        for (session, at_us, sql, took_us) in [
            ("b", 1_000_000, "SELECT 'it''s', 5", Some(10)),
            ("a", 1_000_500, "BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY", Some(5)),
            ("a", 1_000_600, "SELECT 'x', NULL", None),
            ("a", 1_000_700, "SELECT 'y', 6", Some(9)),
            ("a", 1_000_800, "ROLLBACK", None),
        ] {
            let what = What::Statement { sql: sql.to_owned(), binds: Vec::new(), took_us };
            let event = Event { session: session.to_owned(), at_us, database: None, what };
            assembler.event(event, &mut sink).unwrap();
        }
        assembler.finish(&mut sink).unwrap();
        let sessions = assembler.sessions();
        recorder.finish(sessions).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn what_is_written_is_read() {
        let text = recorded();
        let read = read(text.as_bytes()).unwrap();
        assert_eq!((read.sessions, read.transactions.len(), read.statements.len()), (2, 2, 2));
        assert_eq!(read.syntax, Some(Syntax::Postgres));
        let second = &read.transactions[1];
        assert_eq!((second.session, second.start_us, second.ending), (1, 500, Ending::Rollback));
        assert!(second.characteristics.reads && second.characteristics.isolation.is_some());
        let gaps: Vec<_> =
            second.steps.iter().map(|step| (step.gap.us, step.gap.from_start)).collect();
        assert_eq!((gaps, second.last_gap.us), (vec![(95, false), (100, true)], 91));
        assert_eq!(read.statements[0].sql, "SELECT :p1, NULL");
        assert_eq!(read.statements[1].sql, "SELECT :p1, :p2");
        assert_eq!(read.statements[1].literals, [0, 1]);
        assert_eq!(read.transactions[0].steps[0].arguments[0], Argument::Text("it's".into()));
    }

    #[test]
    fn answers_are_written_and_read() {
        let answer = Answer {
            rows: Some(2),
            changed: Some(1),
            error: Some("23505".to_owned()),
            hash: Some(0xfe),
            made: vec![vec![Argument::Int(7), Argument::Null], vec![Argument::Text("x".into())]],
            took_us: 31,
        };
        let mut assembler = Assembler::new(Syntax::Postgres);
        let mut out = Vec::new();
        let mut recorder = Recorder::new(&mut out, "csvlog");
        let mut sink =
            |transaction: Transaction, shapes: &Shapes| recorder.add(&transaction, shapes);
        let hashes = None;
        let answers = vec![ServerAnswer { answer: answer.clone(), hashes }];
        let what = What::Answered { sql: "SELECT 5".to_owned(), binds: Vec::new(), answers };
        let event = Event { session: "a".to_owned(), at_us: 10, database: None, what };
        assembler.event(event, &mut sink).unwrap();
        assembler.finish(&mut sink).unwrap();
        recorder.finish(1).unwrap();
        let text = String::from_utf8(out).unwrap();
        let read_back = read(text.as_bytes()).unwrap();
        let found = read_back.transactions[0].steps[0].answer.as_deref();
        assert_eq!(found, Some(&Answer { hash: None, ..answer.clone() }));
        for argument in
            [Argument::Bytes(vec![0xff, 0]), Argument::Number("1.5".into()), Argument::Null]
        {
            let written = serde_json::to_value(&argument).unwrap();
            assert_eq!(read_argument(&written), Ok(argument));
        }
        for wrong in [json!({ "bytes": "f" }), json!({ "bytes": "+f" }), json!({ "bytes": 1 })] {
            assert!(read_argument(&wrong).unwrap_err().contains("`bytes`"), "{wrong}");
        }
        let hashed = serde_json::to_value(&answer).unwrap();
        assert_eq!(hashed["hash"], "00000000000000fe");
        assert_eq!(read_answer(&hashed), Ok(answer));
    }

    #[test]
    fn a_malformed_recording_is_rejected_with_its_line() {
        let text = recorded();
        let lines: Vec<&str> = text.lines().collect();
        let cut = lines[..lines.len() - 1].join("\n");
        for (text, message) in [
            ("", "it is empty"),
            ("SELECT 1\n", "line 1: expected value"),
            ("{\"a\": 1}\n", "line 1: not a recording"),
            ("[1]\n", "line 1: not a recording"),
            ("{\"triphammer_recording\": 3}\n", "line 1: unsupported version 3"),
            (cut.as_str(), "it is truncated"),
            (
                "{\"triphammer_recording\": 1}\n[0, 0, \"commit\", [[7, 0, []]], 0]\n",
                "line 2: statement 7",
            ),
            (
                "{\"triphammer_recording\": 1}\n[0, 0, \"commit\", [[7, 0]], 0]\n",
                "line 2: a statement of a transaction must have 3 or 4 elements",
            ),
            ("{\"triphammer_recording\": 1}\n[0, 0, \"maybe\", [], 0]\n", "line 2: unknown ending"),
            (
                "{\"triphammer_recording\": 1}\n[0, 0]\n",
                "line 2: a transaction must have 5 or 6 elements",
            ),
        ] {
            let error = read(text.as_bytes()).unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
