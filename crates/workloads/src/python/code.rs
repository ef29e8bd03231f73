//! What an interpreter of users' code implements.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::OnceLock;
use std::time::Duration;

use triphammer_core::rows::Rows;
use triphammer_core::value::{Date, Timestamp};
use triphammer_core::{DbError, SpecError, Value};

use super::meter::Meter;

/// The interpreter of this process.
static INTERPRETER: OnceLock<Box<dyn Interpreter>> = OnceLock::new();

/// Registers the interpreter of this process; a second one is ignored.
pub fn register(interpreter: Box<dyn Interpreter>) {
    let _ = INTERPRETER.set(interpreter);
}

/// The interpreter of this process.
///
/// # Errors
/// When there is none: the program is not that of the Python package.
pub fn interpreter() -> Result<&'static dyn Interpreter, SpecError> {
    let message = "workloads in Python run in the Python package: install it with `pip install triphammer`, \
                   and use its program, or call triphammer.run() in Python";
    let found = INTERPRETER.get().map(AsRef::as_ref);
    found.ok_or_else(|| SpecError::new(message).about("workload"))
}

/// An interpreter.
pub trait Interpreter: Send + Sync + fmt::Debug {
    /// Loads a script.
    ///
    /// # Errors
    /// When it fails, with file and line, or has no workload.
    fn load(&self, script: &Script<'_>) -> Result<Box<dyn Code>, SpecError>;
}

/// A script to load.
#[derive(Debug)]
pub struct Script<'a> {
    /// Its file.
    pub file: &'a str,
    /// The class, if the file has several.
    pub class: Option<&'a str>,
    /// Its text.
    pub text: &'a str,
    /// Options of the user's.
    pub options: &'a BTreeMap<String, String>,
}

/// A type of transaction, as the code declares it.
#[derive(Clone, Debug)]
pub struct Transaction {
    /// Name of its function.
    pub name: String,
    /// Its weight in the mix.
    pub weight: u32,
    /// Whether it only reads.
    pub reads: bool,
}

/// A function of the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// Called once before a run.
    Setup,
    /// Called for each session that connects.
    Connected,
    /// The transaction of this index.
    Transaction(usize),
}

/// Code that is loaded: one object, which all sessions share.
pub trait Code: Send + Sync + fmt::Debug {
    /// The transactions, in the order of their declaration.
    fn transactions(&self) -> &[Transaction];

    /// The code of session `number`, from 0, of `of`.
    ///
    /// # Errors
    /// When memory is exhausted.
    fn session(&self, number: u32, of: u32) -> Result<Box<dyn SessionCode>, CodeError>;
}

/// The code of a session: at most one function at a time, suspended at its request.
pub trait SessionCode: Send {
    /// Calls a function, up to its first request. What was suspended is abandoned. A function that does not exist
    /// returns at once.
    ///
    /// # Errors
    /// When the function raises an exception.
    fn call(
        &mut self,
        function: Function,
        seed: u64,
        meter: &mut Meter,
        request: &mut Request,
    ) -> Result<(), CodeError>;

    /// Answers the last request, and continues up to the next.
    ///
    /// # Errors
    /// When the function raises an exception.
    fn answer(
        &mut self,
        answer: Answer<'_>,
        meter: &mut Meter,
        request: &mut Request,
    ) -> Result<(), CodeError>;
}

/// An exception.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeError {
    /// File, line and message.
    pub message: String,
    /// Whether it is the one that the last failed statement raised.
    pub is_of_statement: bool,
}

/// What a function requests. It is reused, so that nothing is allocated once its buffers have grown.
#[derive(Debug, Default)]
pub struct Request {
    /// What it is.
    pub kind: RequestKind,
    /// The statement.
    pub sql: String,
    /// Its arguments.
    pub arguments: Vec<Argument>,
}

/// What is requested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RequestKind {
    /// The function has returned.
    #[default]
    Returned,
    /// Rows of a statement.
    Query,
    /// The number of rows that a statement changes.
    Execute,
    /// Any text of SQL, without arguments.
    Script,
    /// The beginning of a transaction.
    Begin,
    /// Its commit.
    Commit,
    /// Its rollback.
    Rollback,
    /// A wait.
    Sleep(Duration),
}

/// An answer.
#[derive(Debug)]
pub enum Answer<'a> {
    /// Done.
    Done,
    /// Rows.
    Rows(&'a Rows),
    /// A number of rows.
    Count(u64),
    /// The statement failed.
    Failed(&'a DbError),
}

/// An argument of a statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// NULL.
    Null,
    /// A whole number.
    Int(i64),
    /// A floating-point number.
    Float(f64),
    /// A decimal: all digits, and those after the point.
    Decimal(i128, u8),
    /// Text.
    Text(String),
    /// Date and time.
    Timestamp(Timestamp),
    /// A date.
    Date(Date),
}

impl Argument {
    /// The value for the database.
    pub(super) fn value(&self) -> Value<'_> {
        match self {
            Self::Null => Value::Null,
            Self::Int(value) => Value::Int(*value),
            Self::Float(value) => Value::Float(*value),
            Self::Decimal(units, scale) => match i64::try_from(*units) {
                Ok(units) => Value::Decimal { units, scale: *scale },
                Err(_) => Value::Decimal128 { units, scale: *scale },
            },
            Self::Text(text) => Value::Text(text),
            Self::Timestamp(value) => Value::Timestamp(*value),
            Self::Date(value) => Value::Date(*value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_an_interpreter_the_message_names_the_package() {
        let error = interpreter().expect_err("tests register none").to_string();
        assert!(error.contains("pip install triphammer"), "{error}");
    }

    #[test]
    fn decimals_are_as_short_as_they_can_be() {
        assert_eq!(Argument::Decimal(1250, 2).value(), Value::Decimal { units: 1250, scale: 2 });
        let wide = Argument::Decimal(i128::MAX, 0);
        assert_eq!(wide.value(), Value::Decimal128 { units: &i128::MAX, scale: 0 });
    }
}
