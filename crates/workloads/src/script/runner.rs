//! Runs a script on a session, step by step.

use std::process::{Command, Stdio};

use triphammer_core::random::Rng;
use triphammer_core::rows::{Cell, Row};
use triphammer_core::session::{Access, Pipeline, Protocol, Session, StatementId};
use triphammer_core::sql::Placeholder;
use triphammer_core::workload::{Completion, Statements};
use triphammer_core::{DbError, Elapsed, ErrorClass, Rows, Value as Argument};

use super::names::{Names, is_name};
use super::parser::{Action, Amount, Program, ShellWord, Unit};
use super::sql::{Capture, Effect, Part, Sql};
use super::times::Counts;
use super::variable::{Value, Variable, write_value};
use super::workload::{Input, Script, State};

/// Number of arguments of a statement for which nothing is allocated. They are part of the future of a transaction, whose
/// memory is cold when many users share a thread: few of them keep it small.
const FEW: usize = 4;

/// The statements of a session.
pub struct Prepared {
    placeholder: Placeholder,
    /// Whether values become part of the text, as in pgbench's simple protocol.
    as_text: bool,
    /// By [`Part::id`].
    statements: Vec<SessionStatement>,
    /// Rows of statements whose columns are known.
    rows: Rows,
    /// Rows with the names of their columns.
    named: Rows,
    counts: Counts,
}

/// A statement of a session.
enum SessionStatement {
    /// Not run yet: it may need a table that the script creates.
    New,
    /// Prepared.
    Known {
        id: StatementId,
        /// Slots of the arguments.
        slots: Box<[usize]>,
        /// Slots of the columns that are captured, once it has run.
        columns: Option<Box<[Option<usize>]>>,
    },
    /// Text without arguments that the database does not prepare.
    Text(String),
}

/// State of the transaction that a script runs.
#[derive(Default)]
struct Progress {
    in_transaction: bool,
    in_pipeline: bool,
    /// Whether the last transaction was rolled back by the script.
    was_rolled_back: bool,
    /// Whether something of the script is committed already.
    has_committed: bool,
}

impl Prepared {
    /// Chooses how the session sends statements; each is prepared when it first runs.
    ///
    /// # Errors
    /// When a script uses a pipeline that the session does not have.
    pub async fn new<S: Session>(
        script: &Script,
        statements: &Statements<'_>,
        session: &mut S,
    ) -> Result<Self, DbError> {
        if let Some(user) = script.scripts.iter().find(|script| script.has_pipelines) {
            let context = |error: DbError| error.context(format_args!("{}", user.name));
            session.pipeline(Pipeline::Start).await.map_err(context)?;
            session.pipeline(Pipeline::End).await?;
        }
        let placeholder = statements.catalogue().placeholder();
        let is_simple = statements.protocol() == Protocol::Simple;
        Ok(Self {
            placeholder,
            as_text: is_simple && placeholder == Placeholder::Dollar,
            statements: (0..script.statements).map(|_| SessionStatement::New).collect(),
            rows: Rows::new(),
            named: Rows::with_names(),
            counts: Counts::new(&script.times),
        })
    }
}

/// Runs the script of an input, from its first step to its last.
///
/// # Errors
/// As the database reports, and when a command cannot be evaluated.
pub async fn run<S: Session>(
    script: &Script,
    input: &Input,
    prepared: &mut Prepared,
    session: &mut S,
) -> Result<Completion, DbError> {
    let parsed = &script.scripts[input.script];
    let mut lent = input.client.lend();
    let state = &mut *lent.state;
    if parsed.sees_attempts {
        state.variables.clone_from(&state.before);
    }
    state.machine.place.0 = input.script;
    let mut execution = Execution {
        script,
        program: &parsed.program,
        state,
        prepared,
        rng: input.rng.clone(),
        progress: Progress::default(),
    };
    let mut at = 0;
    while let Some(step) = parsed.program.steps.get(at) {
        at += 1;
        execution.state.machine.place.1 = step.command;
        let counted = parsed.counted[at - 1].map(|command| (command, execution.started()));
        let done = execution.step(&step.action, &mut at, session).await;
        if let Some((command, started)) = counted {
            execution.prepared.counts.end(command, started, done.is_err());
        }
        if let Err(error) = done {
            let is_last = at == parsed.program.steps.len();
            // What is committed already does not make the script succeed.
            let is_partial = execution.progress.has_committed && !(error.is_unread() && is_last);
            let error = error.context(format_args!("{}:{}", parsed.name, step.line));
            return Err(if is_partial { error.undone() } else { error });
        }
    }
    execution.end().map_err(|error| error.context(format_args!("{}", parsed.name)))
}

/// A script that is being run.
struct Execution<'a> {
    script: &'a Script,
    program: &'a Program,
    state: &'a mut State,
    prepared: &'a mut Prepared,
    rng: Rng,
    progress: Progress,
}

#[cold]
fn invalid(message: impl AsRef<str>) -> DbError {
    DbError::new(ErrorClass::Other, message)
}

impl Execution<'_> {
    fn started(&self) -> Elapsed {
        self.prepared.counts.start()
    }

    async fn step<S: Session>(
        &mut self,
        action: &Action,
        at: &mut usize,
        session: &mut S,
    ) -> Result<(), DbError> {
        match action {
            Action::Sql(index) => {
                let program = self.program;
                self.sql(&program.sql[*index], session).await
            }
            Action::Set(slot, expression) => {
                let value = self.evaluate(expression)?;
                self.state.variables[*slot] = Variable::Value(value);
                Ok(())
            }
            Action::Unless(condition, to) => {
                if !self.evaluate(condition)?.is_true() {
                    *at = *to;
                }
                Ok(())
            }
            Action::Jump(to) => {
                *at = *to;
                Ok(())
            }
            Action::Sleep(amount, unit) => self.sleep(*amount, *unit, session).await,
            Action::Pipeline(step) => self.pipeline(*step, *at, session).await,
            Action::Shell(words, into) => self.shell(words, *into),
        }
    }

    fn evaluate(&mut self, expression: &super::expression::Expression) -> Result<Value, DbError> {
        let State { variables, machine, .. } = &mut *self.state;
        machine.evaluate(expression, variables, &self.script.names, &mut self.rng).map_err(invalid)
    }

    async fn sleep<S: Session>(
        &mut self,
        amount: Amount,
        unit: Unit,
        session: &mut S,
    ) -> Result<(), DbError> {
        let count = match amount {
            Amount::Constant(count) => count,
            Amount::Variable(slot) => {
                let (mut text, name) = (String::new(), self.script.names.name(slot));
                if !self.state.variables[slot].write(&mut text) {
                    return Err(invalid(format!("\\sleep: undefined variable: :{name}")));
                }
                leading_integer(&text).ok_or_else(|| {
                    invalid(format!("\\sleep :{name}: `{text}` is not a whole number"))
                })?
            }
        };
        session.pause(unit.duration(count)).await;
        Ok(())
    }

    async fn pipeline<S: Session>(
        &mut self,
        step: Pipeline,
        at: usize,
        session: &mut S,
    ) -> Result<(), DbError> {
        match (step, self.progress.in_pipeline) {
            (Pipeline::Start, true) => return Err(invalid("already in pipeline mode")),
            (Pipeline::Sync | Pipeline::End, false) => {
                return Err(invalid("not in pipeline mode"));
            }
            _ => {}
        }
        if step == Pipeline::Start {
            self.prepare_ahead(at, session).await?;
        }
        self.progress.in_pipeline = step != Pipeline::End;
        session.pipeline(step).await?;
        self.progress.has_committed |= step != Pipeline::Start && !self.progress.in_transaction;
        Ok(())
    }

    /// Prepares the statements of a pipeline, which cannot be prepared inside it.
    async fn prepare_ahead<S: Session>(
        &mut self,
        at: usize,
        session: &mut S,
    ) -> Result<(), DbError> {
        let program = self.program;
        let inside = program.steps[at..]
            .iter()
            .take_while(|step| step.action != Action::Pipeline(Pipeline::End));
        for step in inside {
            if let Action::Sql(index) = step.action {
                for part in &program.sql[index].parts {
                    self.prepare(part, session).await?;
                }
            }
        }
        Ok(())
    }

    /// Runs a SQL command.
    async fn sql<S: Session>(&mut self, sql: &Sql, session: &mut S) -> Result<(), DbError> {
        if self.prepared.as_text && sql.capture == Capture::Nothing && sql.parts.len() > 1 {
            return self.texts(&sql.parts, session).await;
        }
        for (place, part) in sql.parts.iter().enumerate() {
            let prefix = match &sql.capture {
                Capture::One(prefix) if place + 1 == sql.parts.len() => Some((prefix, true)),
                Capture::All(prefix) => Some((prefix, false)),
                _ => None,
            };
            if prefix.is_some() && self.progress.in_pipeline {
                return Err(invalid("\\gset and \\aset are not allowed in pipeline mode"));
            }
            let effect = part.effect;
            match effect {
                _ if self.progress.in_pipeline => self.statement(part, None, session).await?,
                Effect::Begin => session.begin(Access::Write).await?,
                Effect::Commit => session.commit().await?,
                Effect::Rollback => session.rollback().await?,
                _ if self.prepared.as_text || part.is_text => {
                    self.texts(std::slice::from_ref(part), session).await?;
                    if let Some((prefix, is_one)) = prefix {
                        self.capture_text(prefix, is_one)?;
                    }
                }
                _ => self.statement(part, prefix, session).await?,
            }
            self.after(effect);
        }
        Ok(())
    }

    /// Follows what a statement did to the transaction.
    fn after(&mut self, effect: Effect) {
        let progress = &mut self.progress;
        match effect {
            Effect::Begin | Effect::BeginWith => progress.in_transaction = true,
            Effect::Commit | Effect::Rollback => {
                progress.in_transaction = false;
                progress.was_rolled_back = effect == Effect::Rollback;
                progress.has_committed |= effect == Effect::Commit && !progress.in_pipeline;
            }
            Effect::Write if !progress.in_transaction => {
                progress.has_committed |= !progress.in_pipeline;
                progress.was_rolled_back = false;
            }
            Effect::Read | Effect::Write => {}
        }
    }

    /// Sends statements as one text with the values in it.
    async fn texts<S: Session>(&mut self, parts: &[Part], session: &mut S) -> Result<(), DbError> {
        let State { variables, text, .. } = &mut *self.state;
        text.clear();
        for (place, part) in parts.iter().enumerate() {
            if place > 0 {
                text.push_str("; ");
            }
            part.write(variables, &self.script.names, text);
        }
        // A text of several statements is one transaction, unless it controls transactions itself.
        let changes = parts.iter().any(|part| part.effect != Effect::Read);
        let commits = changes && !self.progress.in_transaction;
        session.text(text, commits, &mut self.prepared.named).await?;
        if let [part] = parts {
            // It is committed even if its rows cannot be captured.
            self.progress.has_committed |= commits && part.effect == Effect::Write;
        } else {
            parts.iter().for_each(|part| self.after(part.effect));
        }
        Ok(())
    }

    fn capture_text(&mut self, prefix: &str, is_one: bool) -> Result<(), DbError> {
        let rows = &self.prepared.named;
        if has_row(rows, is_one)? {
            let columns = columns(rows, prefix, is_one, &self.script.names)?;
            assign_row(rows, &columns, &mut self.state.variables);
        }
        Ok(())
    }

    /// Runs one statement with bound arguments.
    async fn statement<S: Session>(
        &mut self,
        part: &Part,
        prefix: Option<(&String, bool)>,
        session: &mut S,
    ) -> Result<(), DbError> {
        self.prepare(part, session).await?;
        let commits = part.effect == Effect::Write && !self.progress.in_transaction;
        let Prepared { placeholder, statements, rows, named, .. } = &mut *self.prepared;
        let State { variables, text, .. } = &mut *self.state;
        let (id, slots, columns_known) = match &mut statements[part.id] {
            SessionStatement::Known { id, slots, columns } => (*id, &*slots, columns),
            SessionStatement::Text(sql) => return session.text(sql, commits, rows).await,
            SessionStatement::New => {
                return Err(invalid("the statement was not prepared before the pipeline"));
            }
        };
        let as_text = *placeholder == Placeholder::Dollar;
        let mut few = [Argument::Null; FEW];
        let mut many = Vec::new();
        let args = arguments(slots, variables, as_text, text, &mut few, &mut many);
        let Some((prefix, is_one)) = prefix else {
            return if commits && !self.progress.in_pipeline {
                session.call(id, args, rows).await
            } else {
                session.execute(id, args).await.map(drop)
            };
        };
        let rows = if columns_known.is_some() { rows } else { named };
        if commits {
            session.call(id, args, rows).await?;
            self.progress.has_committed = true;
        } else {
            session.query(id, args, rows).await?;
        }
        if !has_row(rows, is_one)? {
            return Ok(());
        }
        let found = match columns_known {
            Some(found) => found,
            None => {
                let found = columns(rows, prefix, is_one, &self.script.names)?;
                columns_known.insert(found.into_boxed_slice())
            }
        };
        assign_row(rows, found, variables);
        Ok(())
    }

    /// Prepares a statement when it runs for the first time.
    async fn prepare<S: Session>(&mut self, part: &Part, session: &mut S) -> Result<(), DbError> {
        if !matches!(self.prepared.statements[part.id], SessionStatement::New) {
            return Ok(());
        }
        if self.progress.in_pipeline {
            return Err(invalid("the statement was not prepared before the pipeline"));
        }
        if part.is_text {
            return Err(invalid(
                "a statement of a pipeline cannot have a variable in quotes: write 'a' || :b \
                 instead of 'a:b', or \\: for a colon",
            ));
        }
        let (bound, slots) = part.bound(self.prepared.placeholder, &self.script.names);
        self.prepared.statements[part.id] = match session.prepare(&bound).await {
            Ok(id) => SessionStatement::Known { id, slots: slots.into(), columns: None },
            Err(error) if error.class() == ErrorClass::Unsupported && slots.is_empty() => {
                SessionStatement::Text(bound.sql)
            }
            Err(error) => return Err(error),
        };
        Ok(())
    }

    fn shell(&mut self, words: &[ShellWord], into: Option<usize>) -> Result<(), DbError> {
        debug_assert!(self.script.may_shell, "checked when the script was parsed");
        let mut line = String::new();
        for (place, word) in words.iter().enumerate() {
            if place > 0 {
                line.push(' ');
            }
            match word {
                ShellWord::Text(text) => line.push_str(text),
                ShellWord::Variable(slot) => {
                    if !self.state.variables[*slot].write(&mut line) {
                        let name = self.script.names.name(*slot);
                        return Err(invalid(format!("undefined variable: :{name}")));
                    }
                }
            }
        }
        let mut command = Command::new("sh");
        command.arg("-c").arg(&line).stdin(Stdio::null());
        let Some(slot) = into else {
            // Standard output belongs to the result of the run.
            let status = command.stdout(Stdio::from(std::io::stderr())).status();
            return match status {
                Ok(status) if status.success() => Ok(()),
                Ok(status) => Err(invalid(format!("the shell command ended with {status}"))),
                Err(error) => Err(invalid(format!("cannot run the shell command: {error}"))),
            };
        };
        let output = command
            .stderr(Stdio::inherit())
            .output()
            .map_err(|error| invalid(format!("cannot run the shell command: {error}")))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let number = text
            .lines()
            .next()
            .unwrap_or_default()
            .trim()
            .parse()
            .map_err(|_| invalid("the shell command must return an integer"))?;
        self.state.variables[slot] = Variable::Value(Value::Int(number));
        Ok(())
    }

    fn end(&self) -> Result<Completion, DbError> {
        let open = match (self.progress.in_pipeline, self.progress.in_transaction) {
            (true, _) => "with an open pipeline: \\endpipeline is missing",
            (false, true) => "without completing its transaction: COMMIT or ROLLBACK is missing",
            (false, false) if self.progress.was_rolled_back => return Ok(Completion::ROLLED_BACK),
            (false, false) => return Ok(Completion::COMMITTED),
        };
        let error = invalid(format!("the script ended {open}"));
        Err(if self.progress.has_committed { error.undone() } else { error })
    }
}

/// The arguments of a statement. With `as_text`, the database infers types from texts; a text that
/// must be written first is kept in `text`.
fn arguments<'a>(
    slots: &[usize],
    variables: &'a [Variable],
    as_text: bool,
    text: &'a mut String,
    few: &'a mut [Argument<'a>; FEW],
    many: &'a mut Vec<Argument<'a>>,
) -> &'a [Argument<'a>] {
    let is_written = |slot: usize| {
        matches!(variables[slot], Variable::Value(Value::Double(_) | Value::Bool(_))) && as_text
    };
    text.clear();
    for slot in slots {
        if let (Variable::Value(value), true) = (&variables[*slot], is_written(*slot)) {
            write_value(text, *value);
            text.push('\0');
        }
    }
    let mut written = text.split('\0');
    let mut argument = |slot: usize| match &variables[slot] {
        _ if is_written(slot) => Argument::Text(written.next().unwrap_or_default()),
        Variable::Unset | Variable::Value(Value::Null) => Argument::Null,
        Variable::Value(Value::Int(value)) => Argument::Int(*value),
        Variable::Value(Value::Bool(value)) => Argument::Int((*value).into()),
        Variable::Value(Value::Double(value)) => Argument::Float(*value),
        Variable::Text(text) => Argument::Text(text),
    };
    if slots.len() > FEW {
        many.extend(slots.iter().map(|slot| argument(*slot)));
        return many;
    }
    for (place, slot) in few.iter_mut().zip(slots) {
        *place = argument(*slot);
    }
    &few[..slots.len()]
}

/// The variables that the columns of an answer become; `None` for those that no script uses.
fn columns(
    rows: &Rows,
    prefix: &str,
    is_one: bool,
    names: &Names,
) -> Result<Vec<Option<usize>>, DbError> {
    let slot = |column| {
        let name = format!("{prefix}{}", rows.name(column).unwrap_or_default());
        if !is_name(&name) {
            let command = if is_one { "gset" } else { "aset" };
            return Err(invalid(format!("\\{command}: invalid variable name `{name}`")));
        }
        Ok(names.find(&name))
    };
    (0..rows.width()).map(slot).collect()
}

/// Whether there is a row to assign; with `is_one` there must be exactly one.
fn has_row(rows: &Rows, is_one: bool) -> Result<bool, DbError> {
    match rows.len() {
        count if is_one && count != 1 => {
            Err(invalid(format!("\\gset: expected one row, got {count}")))
        }
        count => Ok(count > 0),
    }
}

/// Assigns the columns of the last row.
fn assign_row(rows: &Rows, columns: &[Option<usize>], variables: &mut [Variable]) {
    let Some(last) = rows.len().checked_sub(1) else { return };
    let row = rows.row(last);
    for (column, slot) in columns.iter().enumerate() {
        if let Some(slot) = slot {
            assign(&mut variables[*slot], &row, column);
        }
    }
}

/// The whole number with which a text begins, as C's `atoi` reads it.
fn leading_integer(text: &str) -> Option<i64> {
    let text = text.trim_start();
    let sign = usize::from(text.starts_with(['+', '-']));
    let digits = text[sign..].find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len() - sign);
    text[..sign + digits].parse().ok()
}

/// Assigns a field to a variable: numbers and NULL as values, all else as text.
fn assign(variable: &mut Variable, row: &Row<'_>, column: usize) {
    match row.cell(column) {
        Cell::Null => *variable = Variable::Value(Value::Null),
        Cell::Int(value) => *variable = Variable::Value(Value::Int(value)),
        Cell::Text(_) => {
            let found = row.text(column).unwrap_or_default();
            match variable {
                Variable::Text(text) => {
                    text.clear();
                    text.push_str(found);
                }
                variable => *variable = Variable::Text(found.to_owned()),
            }
        }
        _ => *variable = Variable::Text(row.show(column)),
    }
}
