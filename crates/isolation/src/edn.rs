//! Histories as Jepsen writes them, in EDN, so that Elle can check ours and this checker those of
//! others: one map per operation, `{:type :invoke, :f :txn, :process 0, :value [[:append 5 1] [:r 5
//! nil]], :time 12}`, of list-append transactions.
//!
//! After an operation that ended with `:info`, a client continues under another process number.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use crate::history::{Action, Fate, Key, Nanos, Operation, Transaction};

/// Deepest nesting of a form.
const DEPTH_MAX: u32 = 64;

/// Writes histories of lists; other operations are left out, and so are transactions without lists.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    index: u64,
    /// Numbers of the processes that clients go on as, after operations in doubt.
    processes: HashMap<u32, u64>,
    /// Added to the number of a process that is in doubt: more than there are clients.
    step: u64,
    line: String,
}

impl<W: Write> Writer<W> {
    /// Writes to `out` the operations of at most so many clients.
    pub fn new(out: W, clients: u32) -> Self {
        let step = u64::from(clients.max(1));
        Self { out, index: 0, processes: HashMap::new(), step, line: String::new() }
    }

    /// Writes transactions in the order of their begins and ends.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&mut self, transactions: &[Transaction]) -> io::Result<()> {
        let of_lists = |one: &&Transaction| {
            one.operations.iter().any(|operation| is_of_list(&operation.action))
        };
        let all = transactions.iter().filter(of_lists);
        let mut events: Vec<(Nanos, bool, &Transaction)> =
            all.flat_map(|one| [(one.began, false, one), (one.ended, true, one)]).collect();
        events.sort_by_key(|(at, is_end, one)| (*at, *is_end, one.session));
        for (at, is_end, one) in events {
            self.event(at, is_end, one)?;
        }
        Ok(())
    }

    fn event(&mut self, at: Nanos, is_end: bool, one: &Transaction) -> io::Result<()> {
        let kind = match one.fate {
            _ if !is_end => "invoke",
            Fate::Committed => "ok",
            Fate::Aborted => "fail",
            Fate::InDoubt => "info",
        };
        let process = *self.processes.entry(one.session).or_insert(u64::from(one.session));
        let index = self.index;
        self.line.clear();
        let line = &mut self.line;
        let failed = "writing to a text cannot fail";
        write!(line, "{{:index {index}, :type :{kind}, :process {process}, :f :txn, :value [")
            .expect(failed);
        let shows = is_end && one.fate == Fate::Committed;
        let lists = one.operations.iter().filter(|operation| is_of_list(&operation.action));
        for (place, operation) in lists.enumerate() {
            line.push_str(if place > 0 { " " } else { "" });
            let id = operation.key.id;
            match &operation.action {
                Action::Append(value) => write!(line, "[:append {id} {value}]").expect(failed),
                Action::List(list) if shows => {
                    let values: Vec<String> = list.iter().map(u64::to_string).collect();
                    write!(line, "[:r {id} [{}]]", values.join(" ")).expect(failed);
                }
                _ => write!(line, "[:r {id} nil]").expect(failed),
            }
        }
        writeln!(line, "], :time {at}}}").expect(failed);
        self.out.write_all(self.line.as_bytes())?;
        self.index += 1;
        if is_end && one.fate == Fate::InDoubt {
            *self.processes.entry(one.session).or_default() += self.step;
        }
        Ok(())
    }

    /// Writes out what is buffered.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.out.flush()
    }
}

const fn is_of_list(action: &Action) -> bool {
    matches!(action, Action::Append(_) | Action::List(_))
}

/// Why a text is no history.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct NoHistory {
    /// Line of the text, from 1.
    pub line: usize,
    /// The reason.
    pub why: String,
}

/// Reads the transactions of a history.
///
/// # Errors
/// When the text is no EDN, or not a whole history of list-append transactions: nothing is claimed of
/// it.
pub fn read(text: &str) -> Result<Vec<Transaction>, NoHistory> {
    let mut pairing = Pairing::default();
    each_operation(text, |operation, _| pairing.operation(operation))?;
    if pairing.done.is_empty() && pairing.open.is_empty() {
        return Err(NoHistory { line: 1, why: "there are no transactions".to_owned() });
    }
    Ok(pairing.finish())
}

/// The line of the second operation that appends a value to a list, in a history that
/// [was read](read); `None` if there is none.
#[must_use]
pub fn line_of_second(text: &str, key: u64, value: u64) -> Option<usize> {
    let mut keys = Keys::default();
    let mut lines = Vec::new();
    let mut begun = false;
    let look = |operation: &Form, line: usize| {
        let operation = Fields::of(operation)?;
        let is_begin = operation.get("type") == Some(&Form::Keyword("invoke".to_owned()));
        begun |= is_begin;
        if let (true, Some(value_of)) = (is_begin || !begun, operation.get("value")) {
            let appends = operations(value_of, 0, &mut keys, Reads::Unknown).unwrap_or_default();
            let is = |one: &Operation| one.key.id == key && one.action == Action::Append(value);
            lines.extend(appends.iter().filter(|one| is(one)).map(|_| line));
        }
        Ok(())
    };
    each_operation(text, look).ok()?;
    lines.get(1).copied()
}

/// Calls `each` with every operation of a history and its line.
fn each_operation(
    text: &str,
    mut each: impl FnMut(&Form, usize) -> Result<(), String>,
) -> Result<(), NoHistory> {
    let refuse = |line: usize| move |why: String| NoHistory { line, why };
    let mut each = |operation: Form, line: usize| each(&operation, line).map_err(refuse(line));
    let mut parser = Parser { rest: text, line: 1 };
    while let Some(line) = parser.next_form(0)? {
        match parser.begins_list() {
            // A history in one vector: its operations have lines of their own.
            Some(end) => parser.each_until(end, 0, &mut each)?,
            None => each(parser.form(0)?, line)?,
        }
    }
    Ok(())
}

/// A form of EDN, as far as histories need it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Form {
    Nil,
    Number(i128),
    Keyword(String),
    /// A text, with its quotes and escapes, or a symbol.
    Text(String),
    /// A vector, list or set.
    List(Vec<Form>),
    Map(Vec<(Form, Form)>),
}

struct Parser<'a> {
    rest: &'a str,
    line: usize,
}

impl Parser<'_> {
    fn refuse<T>(&self, why: impl Into<String>) -> Result<T, NoHistory> {
        Err(NoHistory { line: self.line, why: why.into() })
    }

    /// Skips what separates forms; returns the line of the next one.
    fn next_form(&mut self, depth: u32) -> Result<Option<usize>, NoHistory> {
        loop {
            let trimmed = self.rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
            self.advance(self.rest.len() - trimmed.len());
            if self.rest.starts_with("#_") {
                self.advance(2);
                self.form(depth + 1)?;
            } else if self.rest.starts_with(';') {
                self.advance(self.rest.find('\n').unwrap_or(self.rest.len()));
            } else {
                break;
            }
        }
        Ok((!self.rest.is_empty()).then_some(self.line))
    }

    fn advance(&mut self, bytes: usize) {
        let (passed, rest) = self.rest.split_at(bytes);
        self.line += passed.bytes().filter(|byte| *byte == b'\n').count();
        self.rest = rest;
    }

    fn form(&mut self, depth: u32) -> Result<Form, NoHistory> {
        if depth > DEPTH_MAX {
            return self.refuse("forms are nested too deeply");
        }
        if self.next_form(depth)?.is_none() {
            return self.refuse("the file ends inside a form: it is cut off");
        }
        let first = self.rest.chars().next().expect("there is a form");
        match first {
            '{' => {
                self.advance(1);
                let forms = self.until('}', depth)?;
                if forms.len() % 2 == 1 {
                    return self.refuse("a map has a key without a value");
                }
                let mut pairs = Vec::with_capacity(forms.len() / 2);
                let mut forms = forms.into_iter();
                while let (Some(key), Some(value)) = (forms.next(), forms.next()) {
                    pairs.push((key, value));
                }
                Ok(Form::Map(pairs))
            }
            '[' | '(' => {
                let end = self.begins_list().expect("it begins with a bracket");
                Ok(Form::List(self.until(end, depth)?))
            }
            '#' if self.rest.starts_with("#{") => {
                self.advance(2);
                Ok(Form::List(self.until('}', depth)?))
            }
            // Infinity, not a number.
            '#' if self.rest.starts_with("##") => {
                self.advance(2);
                self.word()
            }
            // A tag: its form is what counts, such as #jepsen.history.Op{…}.
            '#' => {
                self.advance(1);
                let name = self.word_length();
                self.advance(name);
                self.form(depth + 1)
            }
            '"' => self.string(),
            _ => self.word(),
        }
    }

    /// Passes the bracket that begins a vector or list; returns the one that ends it.
    fn begins_list(&mut self) -> Option<char> {
        let end = match self.rest.chars().next()? {
            '[' => ']',
            '(' => ')',
            _ => return None,
        };
        self.advance(1);
        Some(end)
    }

    fn until(&mut self, end: char, depth: u32) -> Result<Vec<Form>, NoHistory> {
        let mut forms = Vec::new();
        self.each_until(end, depth, &mut |form, _| {
            forms.push(form);
            Ok(())
        })?;
        Ok(forms)
    }

    /// Calls `each` with every form before a closing bracket, and its line.
    fn each_until(
        &mut self,
        end: char,
        depth: u32,
        each: &mut dyn FnMut(Form, usize) -> Result<(), NoHistory>,
    ) -> Result<(), NoHistory> {
        loop {
            let Some(line) = self.next_form(depth)? else {
                return self.refuse(format!("the file ends before `{end}`: it is cut off"));
            };
            if self.rest.starts_with(end) {
                self.advance(1);
                return Ok(());
            }
            each(self.form(depth + 1)?, line)?;
        }
    }

    fn string(&mut self) -> Result<Form, NoHistory> {
        let mut is_escaped = false;
        for (at, c) in self.rest.char_indices().skip(1) {
            match c {
                '"' if !is_escaped => {
                    let text = self.rest[..=at].to_owned();
                    self.advance(at + 1);
                    return Ok(Form::Text(text));
                }
                _ => is_escaped = c == '\\' && !is_escaped,
            }
        }
        self.refuse("the file ends inside a string: it is cut off")
    }

    fn word_length(&self) -> usize {
        let ends = |c: char| c.is_whitespace() || "{}[]()\",;".contains(c);
        self.rest.find(ends).unwrap_or(self.rest.len())
    }

    fn word(&mut self) -> Result<Form, NoHistory> {
        let length = self.word_length();
        if length == 0 {
            return self
                .refuse(format!("unexpected `{}`", self.rest.chars().next().unwrap_or(' ')));
        }
        let word = &self.rest[..length];
        let form = match word.strip_prefix(':') {
            Some(keyword) => Form::Keyword(keyword.to_owned()),
            None if word == "nil" => Form::Nil,
            None => match word.trim_end_matches('N').parse() {
                Ok(number) => Form::Number(number),
                Err(_) => Form::Text(word.to_owned()),
            },
        };
        self.advance(length);
        Ok(form)
    }
}

/// The fields of an operation.
struct Fields<'a>(&'a [(Form, Form)]);

impl<'a> Fields<'a> {
    fn of(operation: &'a Form) -> Result<Self, String> {
        match operation {
            Form::Map(pairs) => Ok(Self(pairs)),
            _ => Err("expected an operation, a map such as {:type :invoke, …}".to_owned()),
        }
    }

    fn get(&self, name: &str) -> Option<&'a Form> {
        let is = |(key, _): &&(Form, Form)| matches!(key, Form::Keyword(key) if key == name);
        self.0.iter().find(is).map(|(_, value)| value)
    }
}

/// Numbers of the keys of a history: a number is its own.
#[derive(Default)]
struct Keys(HashMap<String, u64>);

/// Numbers from here on are those of keys that are no numbers.
const NAMED_KEYS: u64 = 1 << 63;

impl Keys {
    fn number(&mut self, key: &Form) -> Result<u64, String> {
        let name = match key {
            Form::Number(key) => return number(*key),
            Form::Keyword(name) => format!(":{name}"),
            Form::Text(name) => name.clone(),
            _ => return Err("a key is neither a number nor a name".to_owned()),
        };
        let next = NAMED_KEYS + self.0.len() as u64;
        Ok(*self.0.entry(name).or_insert(next))
    }
}

/// Pairs invocations with completions.
#[derive(Default)]
struct Pairing {
    keys: Keys,
    /// What each process has begun: when, and what.
    open: HashMap<i128, (Nanos, Vec<Operation>)>,
    done: Vec<Transaction>,
    /// Numbers of the clients, by process.
    sessions: HashMap<i128, u32>,
    /// Time of operations without one: their order.
    clock: Nanos,
    /// `:index` of the last operation.
    index: Option<i128>,
    /// Whether a transaction had an invocation.
    has_begun: bool,
}

impl Pairing {
    fn operation(&mut self, form: &Form) -> Result<(), String> {
        let fields = Fields::of(form)?;
        self.clock += 1;
        self.follow(&fields)?;
        let process = match fields.get("process") {
            Some(Form::Number(process)) => *process,
            // A nemesis, whose faults are no transactions.
            Some(Form::Keyword(_)) => return Ok(()),
            _ => return Err("an operation has no :process".to_owned()),
        };
        match fields.get("f") {
            Some(Form::Keyword(f)) if f != "txn" => {
                return Err(format!(
                    "only histories of :txn operations (list-append) can be checked, not of :{f}"
                ));
            }
            _ => {}
        }
        let at = match fields.get("time") {
            Some(Form::Number(time)) => Nanos::try_from(*time).unwrap_or_default(),
            _ => self.clock,
        };
        let Some(Form::Keyword(kind)) = fields.get("type") else {
            return Err("an operation has no :type".to_owned());
        };
        let value = fields.get("value").unwrap_or(&Form::Nil);
        match kind.as_str() {
            "invoke" => self.begin(process, at, value),
            "ok" => self.end(process, at, Fate::Committed, value),
            "fail" => self.end(process, at, Fate::Aborted, value),
            "info" => self.end(process, at, Fate::InDoubt, value),
            other => Err(format!("unknown :type :{other}")),
        }
    }

    /// Rejects an operation whose `:index` is not the next one.
    fn follow(&mut self, fields: &Fields<'_>) -> Result<(), String> {
        let Some(Form::Number(index)) = fields.get("index") else { return Ok(()) };
        match self.index.replace(*index) {
            Some(before) if before + 1 != *index => Err(format!(
                ":index {index} follows {before}: operations are missing, or in another order"
            )),
            _ => Ok(()),
        }
    }

    fn begin(&mut self, process: i128, at: Nanos, value: &Form) -> Result<(), String> {
        if !self.has_begun && !self.done.is_empty() {
            return Err("transactions before it have no invocation: a part is missing".to_owned());
        }
        self.has_begun = true;
        let operations = operations(value, at, &mut self.keys, Reads::Unknown)?;
        match self.open.insert(process, (at, operations)) {
            None => Ok(()),
            Some(_) => Err(format!("process {process} begins twice without an end between")),
        }
    }

    fn end(&mut self, process: i128, at: Nanos, fate: Fate, value: &Form) -> Result<(), String> {
        let reads = if fate == Fate::Committed { Reads::Known } else { Reads::Unknown };
        let begun = self.open.remove(&process);
        if begun.is_none() && self.has_begun {
            return Err(format!("process {process} ends what it has not begun: a part is missing"));
        }
        let ended = match (value, fate) {
            (Form::Nil, Fate::Aborted | Fate::InDoubt) => None,
            (value, _) => Some(operations(value, at, &mut self.keys, reads)?),
        };
        // A history of completions alone says nothing about when they began.
        let (began, invoked) = begun.unwrap_or_else(|| (0, ended.clone().unwrap_or_default()));
        let is_same = ended.as_ref().is_none_or(|ended| are_same(&invoked, ended));
        if !is_same {
            return Err(format!("process {process} ends with other operations than it began"));
        }
        let mut operations = match (fate, ended) {
            (Fate::Committed, Some(ended)) => ended,
            _ => invoked,
        };
        if fate != Fate::Committed {
            operations.retain(|operation| operation.action.writes());
        }
        self.push(process, (began, at), fate, operations);
        Ok(())
    }

    fn push(
        &mut self,
        process: i128,
        (began, ended): (Nanos, Nanos),
        fate: Fate,
        operations: Vec<Operation>,
    ) {
        let next = u32::try_from(self.sessions.len()).unwrap_or(u32::MAX);
        let session = *self.sessions.entry(process).or_insert(next);
        self.done.push(Transaction { session, began, ended, fate, operations });
    }

    /// What was begun and has no end is in doubt.
    fn finish(mut self) -> Vec<Transaction> {
        for (process, (began, mut operations)) in std::mem::take(&mut self.open) {
            operations.retain(|operation| operation.action.writes());
            self.push(process, (began, Nanos::MAX), Fate::InDoubt, operations);
        }
        self.done
    }
}

/// Whether a completion has the operations of its invocation; reads may have got an answer.
fn are_same(invoked: &[Operation], ended: &[Operation]) -> bool {
    let is_same = |(a, b): (&Operation, &Operation)| {
        a.key == b.key && (a.action == b.action || !a.action.writes() && !b.action.writes())
    };
    invoked.len() == ended.len() && invoked.iter().zip(ended).all(is_same)
}

/// What `nil` means as the answer of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reads {
    /// The answer is not known, in an operation that did not commit.
    Unknown,
    /// The list has no element yet, in one that committed.
    Known,
}

/// The operations of a value such as `[[:append 5 1] [:r 5 [1]]]`.
fn operations(
    value: &Form,
    at: Nanos,
    keys: &mut Keys,
    reads: Reads,
) -> Result<Vec<Operation>, String> {
    let shape = || "expected operations such as [:append 5 1] and [:r 5 [1]]".to_owned();
    let Form::List(forms) = value else { return Err(shape()) };
    let mut operations = Vec::with_capacity(forms.len());
    for form in forms {
        let Form::List(parts) = form else { return Err(shape()) };
        let [Form::Keyword(f), key, value] = parts.as_slice() else {
            return Err(shape());
        };
        let key = Key::list(keys.number(key)?);
        let action = match (f.as_str(), value) {
            ("append", Form::Number(value)) => Action::Append(number(*value)?),
            ("r", read) if reads == Reads::Unknown || *read == Form::Nil => {
                Action::List(Vec::new())
            }
            ("r", Form::List(list)) => {
                Action::List(list.iter().map(element).collect::<Result<_, _>>()?)
            }
            _ => return Err(shape()),
        };
        operations.push(Operation { key, action, at });
    }
    Ok(operations)
}

fn element(form: &Form) -> Result<u64, String> {
    match form {
        Form::Number(value) => number(*value),
        _ => Err("a list has an element that is no number".to_owned()),
    }
}

fn number(value: i128) -> Result<u64, String> {
    u64::try_from(value).map_err(|_| format!("{value} is not a number from 0 to 2⁶⁴ − 1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transaction(session: u32, began: Nanos, fate: Fate, actions: &[Action]) -> Transaction {
        let operation = |action: &Action| Operation {
            key: Key::list(5),
            action: action.clone(),
            at: began + 2,
        };
        let operations = actions.iter().map(operation).collect();
        Transaction { session, began, ended: began + 2, fate, operations }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let history = [
            transaction(0, 1, Fate::Committed, &[Action::Append(1), Action::List(vec![1])]),
            transaction(1, 2, Fate::InDoubt, &[Action::Append(2)]),
            transaction(1, 6, Fate::Aborted, &[Action::Append(3)]),
            transaction(0, 7, Fate::Committed, &[Action::List(vec![1, 2])]),
        ];
        let mut text = Vec::new();
        let mut writer = Writer::new(&mut text, 2);
        writer.write(&history).unwrap();
        writer.finish().unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains(":type :info, :process 1,"), "{text}");
        assert!(text.contains(":type :fail, :process 3,"), "{text}");
        let read = read(&text).unwrap();
        let of = |transactions: &[Transaction]| -> Vec<(Nanos, Nanos, Fate, Vec<Action>)> {
            let actions =
                |one: &Transaction| one.operations.iter().map(|o| o.action.clone()).collect();
            let mut all: Vec<_> = transactions
                .iter()
                .map(|one| (one.began, one.ended, one.fate, actions(one)))
                .collect();
            all.sort_by_key(|one| one.0);
            all
        };
        assert_eq!(of(&read), of(&history));
    }

    #[test]
    fn a_vector_of_tagged_operations_is_a_history_too() {
        let text = "; a comment\n[#jepsen.history.Op{:type :invoke, :f :txn :process 0 :value [[:r 1 nil]]}\n\
                    {:type :ok :f :txn :process 0 :value [[:r 1 []]] :error \"a \\\" }\"}\n\
                    {:type :info :f :kill :process :nemesis :value nil}]";
        let read = read(text).unwrap();
        assert_eq!((read.len(), read[0].operations.len()), (1, 1));
    }

    #[test]
    fn histories_of_completions_named_keys_and_empty_reads_are_read() {
        let text = "{:type :ok :process 0 :value [[:append :x 1] [:r :y nil]] #_ :ignored :ratio ##Inf}\n\
                    {:type :ok :process 1 :value [[:r :x [1]] [:r \"a\" [2]] [:append \"a\" 2]]}";
        let read = read(text).unwrap();
        let actions = |at: usize| -> Vec<(u64, Action)> {
            read[at].operations.iter().map(|one| (one.key.id, one.action.clone())).collect()
        };
        let [x, y, a] = [NAMED_KEYS, NAMED_KEYS + 1, NAMED_KEYS + 2];
        assert_eq!(actions(0), [(x, Action::Append(1)), (y, Action::List(vec![]))]);
        let list = |value: u64| Action::List(vec![value]);
        assert_eq!(actions(1), [(x, list(1)), (a, list(2)), (a, Action::Append(2))]);
        assert_eq!((read[1].began, read[1].ended), (0, 2));
    }

    #[test]
    fn the_line_of_a_value_that_was_written_twice_is_found() {
        let one = |process: u32| {
            format!("{{:type :invoke :process {process} :value [[:append 5 1]]}}\n")
                + &format!("{{:type :ok :process {process} :value [[:append 5 1]]}}\n")
        };
        assert_eq!(line_of_second(&(one(0) + &one(1)), 5, 1), Some(3));
        assert_eq!(line_of_second(&one(0), 5, 1), None);
    }

    #[test]
    fn a_file_that_is_cut_or_edited_is_named_with_its_line() {
        let begin = "{:type :invoke, :f :txn, :process 0, :value [[:append 5 1]]}\n";
        for (text, line, why) in [
            (String::new(), 1, "no transactions"),
            ("{:a 1}".to_owned(), 1, "no :process"),
            ("{:type :info :f :kill :process :nemesis}".to_owned(), 1, "no transactions"),
            (format!("{begin}{{:type :ok, :f :txn"), 2, "cut off"),
            (format!("{begin}{begin}"), 2, "begins twice"),
            (format!("{begin}{{:type :ok, :f :txn, :process 1, :value []}}"), 2, "has not begun"),
            (
                format!("{{:type :ok, :f :txn, :process 1, :value []}}\n{begin}"),
                2,
                "have no invocation",
            ),
            (
                format!("{begin}{{:type :ok, :process 0, :value [[:append 5 2]]}}"),
                2,
                "other operations",
            ),
            (
                "[{:index 3 :process :nemesis}\n{:index 5 :process :nemesis}]".to_owned(),
                2,
                ":index 5 follows 3",
            ),
            (begin.replace(":append 5 1", ":w 5 1"), 1, "expected operations"),
            (begin.replace("5 1", "5 -1"), 1, "-1 is not a number"),
            (begin.replace(":txn", ":read"), 1, "only histories of :txn"),
            ("\n\n}".to_owned(), 3, "unexpected `}`"),
            ("[".repeat(100), 1, "nested too deeply"),
            ("#_".repeat(100_000), 1, "nested too deeply"),
        ] {
            let error = read(&text).unwrap_err();
            assert_eq!(error.line, line, "{text}: {error}");
            assert!(error.why.contains(why), "{text}: {error}");
        }
    }
}
