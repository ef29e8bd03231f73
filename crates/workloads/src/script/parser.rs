//! Parses a script: SQL commands, which end at a semicolon, and commands that begin with a
//! backslash and end with their line. Nothing recurses, so no text is too deep.

use std::ops::Range;
use std::time::Duration;

use triphammer_core::session::Pipeline;

use super::expression::Expression;
use super::names::{Names, is_name};
use super::scan::{PieceEnd, Scan};
use super::sql::{Capture, Part, Sql};
use super::{SyntaxError, continuation, position, syntax};

/// A parsed script.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// The steps in order.
    pub steps: Vec<Step>,
    /// The SQL commands, to which steps refer.
    pub sql: Vec<Sql>,
}

impl Program {
    /// All statements, in order.
    pub fn parts_mut(&mut self) -> impl Iterator<Item = &mut Part> {
        self.sql.iter_mut().flat_map(|sql| &mut sql.parts)
    }
}

/// A step of a script.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// What it does.
    pub action: Action,
    /// Line of its command, from 1.
    pub line: usize,
    /// Number of its command, from 1.
    pub command: usize,
}

/// What a step does.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Runs SQL: an index in [`Program::sql`].
    Sql(usize),
    /// Assigns a variable.
    Set(usize, Expression),
    /// Continues at another step unless the condition holds.
    Unless(Expression, usize),
    /// Continues at another step.
    Jump(usize),
    /// Waits.
    Sleep(Amount, Unit),
    /// Starts, synchronises or ends a pipeline.
    Pipeline(Pipeline),
    /// Runs a command of the operating system, and assigns its output to a variable.
    Shell(Vec<ShellWord>, Option<usize>),
}

/// A number in a script: a constant or a variable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// A constant.
    Constant(i64),
    /// The variable of a slot.
    Variable(usize),
}

/// Unit of `\sleep`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unit {
    /// Microseconds.
    Microseconds,
    /// Milliseconds.
    Milliseconds,
    /// Seconds.
    Seconds,
}

impl Unit {
    /// This many units; none for a negative number.
    #[must_use]
    pub fn duration(self, count: i64) -> Duration {
        let count = u64::try_from(count).unwrap_or(0);
        match self {
            Self::Microseconds => Duration::from_micros(count),
            Self::Milliseconds => Duration::from_millis(count),
            Self::Seconds => Duration::from_secs(count),
        }
    }
}

/// A word of a shell command.
#[derive(Clone, Debug, PartialEq)]
pub enum ShellWord {
    /// As written.
    Text(String),
    /// The variable of a slot.
    Variable(usize),
}

/// An `\if` whose `\endif` has not come yet.
struct Block {
    /// The condition that continues at the next branch.
    condition: Option<usize>,
    /// The jumps from the ends of branches to the end of the block.
    ends: Vec<usize>,
    has_else: bool,
    at: usize,
}

/// Parses the script `text`; `file` is its name in messages.
///
/// # Errors
/// With file, line and column of the first error.
pub fn parse(file: &str, text: &str, names: &mut Names) -> Result<Program, String> {
    let mut parser = Parser::new(text, names);
    parser.script().map_err(|SyntaxError { at, message }| {
        let (line, column) = position(text, at);
        format!("{file}:{line}:{column}: {message}")
    })?;
    Ok(Program { steps: parser.steps, sql: parser.sql })
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    names: &'a mut Names,
    steps: Vec<Step>,
    sql: Vec<Sql>,
    blocks: Vec<Block>,
    in_pipeline: bool,
    /// Offset of the last `\startpipeline`, if it and all others are outside of an `\if`.
    pipeline: Option<usize>,
    has_branched_pipelines: bool,
    commands: usize,
    /// An offset and its line, from which the lines of later offsets are counted.
    line: (usize, usize),
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, names: &'a mut Names) -> Self {
        Self {
            text,
            at: 0,
            names,
            steps: Vec::new(),
            sql: Vec::new(),
            blocks: Vec::new(),
            in_pipeline: false,
            pipeline: None,
            has_branched_pipelines: false,
            commands: 0,
            line: (0, 1),
        }
    }

    fn script(&mut self) -> Result<(), SyntaxError> {
        if let Some(at) = self.text.find('\0') {
            return Err(syntax(at, "the script contains a NUL character"));
        }
        loop {
            match self.statement()? {
                PieceEnd::Semicolon => {}
                PieceEnd::Command => self.command()?,
                PieceEnd::Script => break,
            }
        }
        if let Some(block) = self.blocks.last() {
            return Err(syntax(block.at, "\\if without matching \\endif"));
        }
        if self.commands == 0 {
            return Err(syntax(0, "the script has no commands"));
        }
        if let Some(at) = self.pipeline.filter(|_| !self.has_branched_pipelines) {
            let message =
                "\\startpipeline: the script ends in its pipeline: \\endpipeline is missing";
            return Err(syntax(at, message));
        }
        Ok(())
    }

    /// Line of an offset that is not before any earlier one.
    fn line_of(&mut self, at: usize) -> usize {
        let (from, line) = self.line;
        let ends = self.text[from..at].bytes().filter(|byte| *byte == b'\n').count();
        self.line = (at, line + ends);
        line + ends
    }

    fn push(&mut self, action: Action, line: usize) -> usize {
        self.steps.push(Step { action, line, command: self.commands });
        self.steps.len() - 1
    }

    /// Scans SQL up to its semicolon or the next command.
    fn statement(&mut self) -> Result<PieceEnd, SyntaxError> {
        let mut scan = Scan::new(self.text, self.at);
        let ended = scan.run(self.names)?;
        self.at = scan.at;
        if !scan.parts.is_empty() {
            let line = self.line_of(scan.first.unwrap_or(self.at));
            self.commands += 1;
            self.sql.push(Sql { parts: scan.parts, capture: Capture::Nothing, line });
            self.push(Action::Sql(self.sql.len() - 1), line);
        }
        Ok(ended)
    }

    /// Parses a command; it begins here with its backslash.
    fn command(&mut self) -> Result<(), SyntaxError> {
        let start = self.at;
        let end = command_end(self.text, start);
        let line = self.line_of(start);
        self.at = (end + 1).min(self.text.len());
        let words = words(self.text, start + 1..end);
        let name = words.first().filter(|word| word.start == start + 1);
        let Some(name) = name.cloned() else {
            return Err(syntax(start, "a backslash without a command"));
        };
        let arguments = &words[1..];
        let command = self.text[name.clone()].to_ascii_lowercase();
        self.commands += 1;
        match command.as_str() {
            "set" => self.set(start, arguments, end, line),
            "sleep" => self.sleep(start, arguments, line),
            "if" => {
                let condition = self.expression(name.end..end)?;
                let condition = self.push(Action::Unless(condition, 0), line);
                let (ends, has_else, condition) = (Vec::new(), false, Some(condition));
                self.blocks.push(Block { condition, ends, has_else, at: start });
                Ok(())
            }
            "elif" => self.branch(start, Some(name.end..end), line),
            "else" => {
                self.no_arguments(&command, arguments)?;
                self.branch(start, None, line)
            }
            "endif" => {
                self.no_arguments(&command, arguments)?;
                self.end_block(start)
            }
            "gset" | "aset" => self.capture(start, &command, arguments),
            "startpipeline" | "syncpipeline" | "endpipeline" => {
                self.no_arguments(&command, arguments)?;
                self.pipeline(start, &command, line)
            }
            "shell" => self.shell(start, arguments, None, line),
            "setshell" => self.set_shell(start, arguments, line),
            "setrandom" => Err(syntax(start, self.replace_setrandom(arguments))),
            _ => Err(syntax(start, format!("invalid command \\{}", &self.text[name]))),
        }
    }

    fn no_arguments(&self, command: &str, arguments: &[Range<usize>]) -> Result<(), SyntaxError> {
        match arguments.first() {
            None => Ok(()),
            Some(word) => {
                let found = &self.text[word.clone()];
                let message = format!("unexpected argument of \\{command}: `{found}`");
                Err(syntax(word.start, message))
            }
        }
    }

    fn expression(&mut self, range: Range<usize>) -> Result<Expression, SyntaxError> {
        Expression::parse(self.text, range, self.names)
    }

    /// The variable that a command assigns.
    fn target(
        &mut self,
        start: usize,
        command: &str,
        word: Option<&Range<usize>>,
    ) -> Result<usize, SyntaxError> {
        let Some(word) = word else {
            return Err(syntax(start, format!("\\{command} needs a variable")));
        };
        let name = &self.text[word.clone()];
        if !is_name(name) {
            return Err(syntax(word.start, format!("invalid variable name `{name}`")));
        }
        Ok(self.names.slot(name))
    }

    fn set(
        &mut self,
        start: usize,
        arguments: &[Range<usize>],
        end: usize,
        line: usize,
    ) -> Result<(), SyntaxError> {
        let slot = self.target(start, "set", arguments.first())?;
        let expression = self.expression(arguments[0].end..end)?;
        self.push(Action::Set(slot, expression), line);
        Ok(())
    }

    fn sleep(
        &mut self,
        start: usize,
        arguments: &[Range<usize>],
        line: usize,
    ) -> Result<(), SyntaxError> {
        let Some(word) = arguments.first() else {
            return Err(syntax(start, "\\sleep needs a time"));
        };
        let text = &self.text[word.clone()];
        let (amount, rest) = match text.strip_prefix(':') {
            Some(name) if is_name(name) => (Amount::Variable(self.names.slot(name)), ""),
            Some(name) => {
                return Err(syntax(word.start, format!("invalid variable name `{name}`")));
            }
            None => {
                let sign = usize::from(text.starts_with(['+', '-']));
                let digits = text[sign..].find(|c: char| !c.is_ascii_digit());
                let digits = digits.map_or(text.len(), |digits| sign + digits);
                let number = text[..digits].parse().map_err(|_| {
                    let message =
                        format!("\\sleep needs a whole number or a variable, got `{text}`");
                    syntax(word.start, message)
                })?;
                (Amount::Constant(number), &text[digits..])
            }
        };
        let (unit, unit_at, extra) = match (rest, arguments.get(1)) {
            ("", Some(unit)) => (&self.text[unit.clone()], unit.start, arguments.get(2)),
            (unit, next) => (unit, word.start, next),
        };
        if let Some(extra) = extra {
            return self.no_arguments("sleep", std::slice::from_ref(extra));
        }
        let unit = match unit.to_ascii_lowercase().as_str() {
            "us" => Unit::Microseconds,
            "ms" => Unit::Milliseconds,
            "" | "s" => Unit::Seconds,
            _ => {
                let message = format!("unrecognized time unit `{unit}`: must be us, ms or s");
                return Err(syntax(unit_at, message));
            }
        };
        self.push(Action::Sleep(amount, unit), line);
        Ok(())
    }

    /// Makes a branch that did not hold continue at the next step.
    fn land(&mut self, step: usize) {
        let here = self.steps.len();
        match &mut self.steps[step].action {
            Action::Unless(_, to) | Action::Jump(to) => *to = here,
            _ => unreachable!("only jumps are landed"),
        }
    }

    /// Begins the branch of an `\elif`, which has a condition, or of an `\else`.
    fn branch(
        &mut self,
        start: usize,
        condition: Option<Range<usize>>,
        line: usize,
    ) -> Result<(), SyntaxError> {
        let name = if condition.is_some() { "elif" } else { "else" };
        let Some(block) = self.blocks.last() else {
            return Err(syntax(start, format!("\\{name} without matching \\if")));
        };
        if block.has_else {
            return Err(syntax(start, format!("\\{name} after \\else")));
        }
        let jump = self.push(Action::Jump(0), line);
        if let Some(before) = self.blocks.last_mut().and_then(|block| block.condition.take()) {
            self.land(before);
        }
        let condition = match condition {
            Some(range) => {
                let condition = self.expression(range)?;
                Some(self.push(Action::Unless(condition, 0), line))
            }
            None => None,
        };
        if let Some(block) = self.blocks.last_mut() {
            block.ends.push(jump);
            block.has_else = condition.is_none();
            block.condition = condition;
        }
        Ok(())
    }

    fn end_block(&mut self, start: usize) -> Result<(), SyntaxError> {
        let Some(block) = self.blocks.pop() else {
            return Err(syntax(start, "\\endif without matching \\if"));
        };
        for step in block.condition.into_iter().chain(block.ends) {
            self.land(step);
        }
        Ok(())
    }

    fn capture(
        &mut self,
        start: usize,
        command: &str,
        arguments: &[Range<usize>],
    ) -> Result<(), SyntaxError> {
        if let Some(extra) = arguments.get(1) {
            return self.no_arguments(command, std::slice::from_ref(extra));
        }
        if self.in_pipeline {
            let message = format!("\\{command} is not allowed in pipeline mode");
            return Err(syntax(start, message));
        }
        let prefix = arguments.first().map_or("", |word| &self.text[word.clone()]);
        if !prefix.is_empty() && !is_name(prefix) {
            return Err(syntax(arguments[0].start, format!("invalid prefix `{prefix}`")));
        }
        let last = self.steps.last().and_then(|step| match step.action {
            Action::Sql(index) => Some(index),
            _ => None,
        });
        let sql = last.map(|index| &mut self.sql[index]);
        let Some(sql) = sql.filter(|sql| sql.capture == Capture::Nothing) else {
            return Err(syntax(start, format!("\\{command} must follow an SQL command")));
        };
        let prefix = prefix.to_owned();
        sql.capture = if command == "gset" { Capture::One(prefix) } else { Capture::All(prefix) };
        // It belongs to the command before it.
        self.commands -= 1;
        Ok(())
    }

    fn pipeline(&mut self, start: usize, command: &str, line: usize) -> Result<(), SyntaxError> {
        let (step, inside) = match command {
            "startpipeline" => (Pipeline::Start, false),
            "syncpipeline" => (Pipeline::Sync, true),
            _ => (Pipeline::End, true),
        };
        // Inside an \if, only the run shows which branch is taken.
        if self.blocks.is_empty() && self.in_pipeline != inside {
            let message = if inside { "not in pipeline mode" } else { "already in pipeline mode" };
            return Err(syntax(start, format!("\\{command}: {message}")));
        }
        self.in_pipeline = step != Pipeline::End;
        self.has_branched_pipelines |= !self.blocks.is_empty();
        self.pipeline = match step {
            Pipeline::Start => Some(start),
            Pipeline::Sync => self.pipeline,
            Pipeline::End => None,
        };
        self.push(Action::Pipeline(step), line);
        Ok(())
    }

    fn shell(
        &mut self,
        start: usize,
        arguments: &[Range<usize>],
        into: Option<usize>,
        line: usize,
    ) -> Result<(), SyntaxError> {
        if arguments.is_empty() {
            return Err(syntax(start, "the shell needs a command"));
        }
        let words = arguments
            .iter()
            .map(|word| {
                let text = &self.text[word.clone()];
                match text.strip_prefix(':') {
                    // As in pgbench, a second colon makes it text.
                    Some(name) if name.starts_with(':') => ShellWord::Text(name.to_owned()),
                    Some(name) if is_name(name) => ShellWord::Variable(self.names.slot(name)),
                    _ => ShellWord::Text(text.to_owned()),
                }
            })
            .collect();
        self.push(Action::Shell(words, into), line);
        Ok(())
    }

    fn set_shell(
        &mut self,
        start: usize,
        arguments: &[Range<usize>],
        line: usize,
    ) -> Result<(), SyntaxError> {
        let slot = self.target(start, "setshell", arguments.first())?;
        self.shell(start, &arguments[1..], Some(slot), line)
    }

    /// The message for `\setrandom`, with the line that replaces it.
    fn replace_setrandom(&self, arguments: &[Range<usize>]) -> String {
        let words: Vec<&str> = arguments.iter().map(|word| &self.text[word.clone()]).collect();
        let line = match words[..] {
            [name, low, high] | [name, low, high, "uniform"] => {
                format!("\\set {name} random({low}, {high})")
            }
            [name, low, high, kind @ ("gaussian" | "exponential"), parameter] => {
                format!("\\set {name} random_{kind}({low}, {high}, {parameter})")
            }
            _ => "\\set NAME random(LOW, HIGH)".to_owned(),
        };
        format!("\\setrandom does not exist since pgbench 9.6: replace it with {line}")
    }
}

/// End of the command that begins at `start`: its line's end, unless a backslash continues it.
fn command_end(text: &str, start: usize) -> usize {
    let mut at = start;
    loop {
        let end = text[at..].find('\n').map_or(text.len(), |end| at + end);
        let line = text[at..end].strip_suffix('\r').unwrap_or(&text[at..end]);
        let is_continued = line.ends_with('\\') && (line.len() > 1 || at > start);
        if end == text.len() || !is_continued {
            return end;
        }
        at = end + 1;
    }
}

/// The places of the words of a command.
fn words(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let mut start = None;
    let mut at = range.start;
    while let Some(c) = text[at..range.end].chars().next() {
        // The end of a continued line is within the command, not at its end.
        let length = continuation(&text[at..range.end]);
        if length.is_some() || c.is_whitespace() {
            words.extend(start.take().map(|start| start..at));
        } else {
            start.get_or_insert(at);
        }
        at += length.unwrap_or(c.len_utf8());
    }
    words.extend(start.map(|start| start..range.end));
    words
}

#[cfg(test)]
mod tests;
