//! Workloads in Python: their coroutines, driven by hand. Each is suspended at its request, which the engine's thread
//! carries out without the interpreter's lock.

use std::time::Duration;

use pyo3::exceptions::{PyStopIteration, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use triphammer_core::SpecError;
use triphammer_core::rows::{Cell, Row, Rows};
use triphammer_core::value::{Date, SCALE_MAX, Timestamp, parse_decimal128, write_decimal};
use triphammer_workloads::python::{
    self, Answer, Argument, Code, CodeError, Function, Interpreter, Meter, Request, RequestKind,
    Script, SessionCode, Transaction,
};

use crate::watchdog::watched;

/// Registers the interpreter of this process.
pub fn register() {
    python::register(Box::new(ThisProcess));
}

/// The interpreter into which the package was imported.
#[derive(Debug)]
struct ThisProcess;

/// A workload that is loaded.
#[derive(Debug)]
struct LoadedWorkload {
    file: String,
    transactions: Vec<Transaction>,
    functions: Vec<Py<PyAny>>,
    setup: Option<Py<PyAny>>,
    connected: Option<Py<PyAny>>,
    helpers: Helpers,
}

/// What the package has in Python for workloads.
#[derive(Debug)]
struct Helpers {
    session: Py<PyAny>,
    describe: Py<PyAny>,
    failed: Py<PyAny>,
    date: Py<PyAny>,
    datetime: Py<PyAny>,
    decimal: Py<PyAny>,
}

/// The code of a session.
struct OfSession {
    file: String,
    functions: Vec<Py<PyAny>>,
    setup: Option<Py<PyAny>>,
    connected: Option<Py<PyAny>>,
    helpers: Helpers,
    /// The object that functions receive.
    session: Py<PyAny>,
    coroutine: Option<Py<PyAny>>,
    /// The exception that the last failed statement raised.
    raised: Option<Py<PyAny>>,
}

impl Interpreter for ThisProcess {
    fn load(&self, script: &Script<'_>) -> Result<Box<dyn Code>, SpecError> {
        Python::attach(|py| {
            let loaded = LoadedWorkload::new(py, script);
            let loaded = loaded.map_err(|error| SpecError::new(error.value(py).to_string()))?;
            Ok(Box::new(loaded) as Box<dyn Code>)
        })
    }
}

impl Helpers {
    fn new(py: Python<'_>) -> PyResult<Self> {
        let (own, times) = (py.import("triphammer._workload")?, py.import("datetime")?);
        Ok(Self {
            session: own.getattr("Session")?.unbind(),
            describe: own.getattr("describe")?.unbind(),
            failed: own.getattr("failed")?.unbind(),
            date: times.getattr("date")?.unbind(),
            datetime: times.getattr("datetime")?.unbind(),
            decimal: py.import("decimal")?.getattr("Decimal")?.unbind(),
        })
    }

    fn clone_ref(&self, py: Python<'_>) -> Self {
        Self {
            session: self.session.clone_ref(py),
            describe: self.describe.clone_ref(py),
            failed: self.failed.clone_ref(py),
            date: self.date.clone_ref(py),
            datetime: self.datetime.clone_ref(py),
            decimal: self.decimal.clone_ref(py),
        }
    }
}

/// What `load` returns: transactions as (name, weight, reads, function), and the functions that a workload may have.
type Found = (Vec<(String, u32, bool, Py<PyAny>)>, Option<Py<PyAny>>, Option<Py<PyAny>>);

impl LoadedWorkload {
    fn new(py: Python<'_>, script: &Script<'_>) -> PyResult<Self> {
        let options = PyDict::new(py);
        for (name, value) in script.options {
            options.set_item(name, value)?;
        }
        let own = py.import("triphammer._workload")?;
        let found = own.call_method1("load", (script.file, script.class, script.text, options))?;
        let (found, setup, connected): Found = found.extract()?;
        let mut functions = Vec::new();
        let declare = |(name, weight, reads, function)| {
            functions.push(function);
            Transaction { name, weight, reads }
        };
        let transactions = found.into_iter().map(declare).collect();
        let (file, helpers) = (script.file.to_owned(), Helpers::new(py)?);
        Ok(Self { file, transactions, functions, setup, connected, helpers })
    }
}

impl Code for LoadedWorkload {
    fn transactions(&self) -> &[Transaction] {
        &self.transactions
    }

    fn session(&self, number: u32, of: u32) -> Result<Box<dyn SessionCode>, CodeError> {
        Python::attach(|py| {
            let session = self.helpers.session.call1(py, (number, of));
            let session = session.map_err(|error| CodeError {
                message: error.value(py).to_string(),
                is_of_statement: false,
            })?;
            let share = |of: &Option<Py<PyAny>>| of.as_ref().map(|one| one.clone_ref(py));
            Ok(Box::new(OfSession {
                file: self.file.clone(),
                functions: self.functions.iter().map(|one| one.clone_ref(py)).collect(),
                setup: share(&self.setup),
                connected: share(&self.connected),
                helpers: self.helpers.clone_ref(py),
                session,
                coroutine: None,
                raised: None,
            }) as Box<dyn SessionCode>)
        })
    }
}

/// Works with the interpreter's lock.
fn attached<T>(meter: &mut Meter, work: impl FnOnce(Python<'_>) -> T) -> T {
    let asked = meter.ask();
    Python::attach(|py| {
        let held = meter.take(asked);
        let result = watched(py, || work(py));
        meter.release(held);
        result
    })
}

impl SessionCode for OfSession {
    fn call(
        &mut self,
        function: Function,
        seed: u64,
        meter: &mut Meter,
        request: &mut Request,
    ) -> Result<(), CodeError> {
        attached(meter, |py| {
            self.coroutine = None;
            self.raised = None;
            request.kind = RequestKind::Returned;
            let function = match function {
                Function::Setup => self.setup.as_ref(),
                Function::Connected => self.connected.as_ref(),
                Function::Transaction(index) => self.functions.get(index),
            };
            let Some(function) = function else { return Ok(()) };
            let begun = self.session.setattr(py, intern!(py, "_seed"), seed);
            let called = begun.and_then(|()| function.call1(py, (&self.session,)));
            match called {
                Ok(coroutine) => self.coroutine = Some(coroutine),
                Err(error) => return Err(self.error(py, &error)),
            }
            self.resume(py, Ok(py.None().into_bound(py)), request)
        })
    }

    fn answer(
        &mut self,
        answer: Answer<'_>,
        meter: &mut Meter,
        request: &mut Request,
    ) -> Result<(), CodeError> {
        attached(meter, |py| {
            let value = match answer {
                Answer::Done => Ok(py.None().into_bound(py)),
                Answer::Count(count) => {
                    count.into_pyobject(py).map(Bound::into_any).map_err(PyErr::from)
                }
                Answer::Rows(rows) => self.helpers.rows(py, rows),
                Answer::Failed(error) => {
                    let raised = self.helpers.failed.call1(py, (error.to_string(), error.code()));
                    self.raised = raised.as_ref().ok().map(|raised| raised.clone_ref(py));
                    raised.and_then(|raised| Err(PyErr::from_value(raised.into_bound(py))))
                }
            };
            self.resume(py, value, request)
        })
    }
}

impl OfSession {
    /// Continues the coroutine with a value or an exception, up to its next request. A request that cannot be read is
    /// an exception at its place.
    fn resume<'py>(
        &mut self,
        py: Python<'py>,
        mut value: PyResult<Bound<'py, PyAny>>,
        request: &mut Request,
    ) -> Result<(), CodeError> {
        let Some(coroutine) = &self.coroutine else {
            request.kind = RequestKind::Returned;
            return Ok(());
        };
        let coroutine = coroutine.bind(py);
        loop {
            let continued = match value {
                Ok(value) => coroutine.call_method1(intern!(py, "send"), (value,)),
                Err(error) => coroutine.call_method1(intern!(py, "throw"), (error.into_value(py),)),
            };
            match continued {
                Ok(found) => match self.helpers.read(&found, request) {
                    Ok(()) => return Ok(()),
                    Err(error) => value = Err(error),
                },
                Err(end) if end.is_instance_of::<PyStopIteration>(py) => {
                    self.coroutine = None;
                    request.kind = RequestKind::Returned;
                    return Ok(());
                }
                Err(error) => {
                    let error = self.error(py, &error);
                    self.coroutine = None;
                    return Err(error);
                }
            }
        }
    }

    fn error(&self, py: Python<'_>, error: &PyErr) -> CodeError {
        let value = error.value(py);
        // Until Python 3.12, an exception that is caught here does not know its traceback.
        if let Some(traceback) = error.traceback(py) {
            let _ = value.setattr(intern!(py, "__traceback__"), traceback);
        }
        let described = self.helpers.describe.call1(py, (value, &self.file));
        let message =
            described.and_then(|text| text.extract(py)).unwrap_or_else(|_| error.to_string());
        let is_of_statement = self.raised.as_ref().is_some_and(|raised| raised.is(value));
        CodeError { message, is_of_statement }
    }
}

impl Drop for OfSession {
    /// Closes a coroutine that is suspended, on the thread that holds the lock.
    fn drop(&mut self) {
        if self.coroutine.is_some() {
            Python::attach(|_| self.coroutine = None);
        }
    }
}

impl Helpers {
    /// Reads a request: its number, text, arguments.
    fn read(&self, found: &Bound<'_, PyAny>, request: &mut Request) -> PyResult<()> {
        let py = found.py();
        let read = found.cast::<PyTuple>().ok().filter(|tuple| tuple.len() == 3);
        let Some(tuple) = read else {
            return Err(PyTypeError::new_err(
                "a transaction can await only methods of its session, such as session.query() and session.sleep()",
            ));
        };
        let (kind, sql, params) = (tuple.get_item(0)?, tuple.get_item(1)?, tuple.get_item(2)?);
        request.arguments.clear();
        request.sql.clear();
        request.kind = match kind.extract::<u8>()? {
            0 => RequestKind::Query,
            1 => RequestKind::Execute,
            2 => RequestKind::Script,
            3 => RequestKind::Begin,
            4 => RequestKind::Commit,
            5 => RequestKind::Rollback,
            _ => {
                let seconds: f64 = params.get_item(0)?.extract()?;
                let wait = Duration::try_from_secs_f64(seconds);
                let wrong = |_| PyTypeError::new_err(format!("cannot wait for {seconds} seconds"));
                request.kind = RequestKind::Sleep(wait.map_err(wrong)?);
                return Ok(());
            }
        };
        if let Ok(sql) = sql.cast::<PyString>() {
            request.sql.push_str(&sql.to_cow()?);
        } else if !sql.is_none() {
            let kind = sql.get_type().name()?;
            return Err(PyTypeError::new_err(format!("a statement is a str, not {kind}")));
        }
        if params.is_instance_of::<PyString>() {
            let message =
                "the parameters of a statement are a sequence, such as (name,), not one str";
            return Err(PyTypeError::new_err(message));
        }
        for param in params.try_iter()? {
            let argument = self.argument(py, &param?)?;
            request.arguments.push(argument);
        }
        Ok(())
    }

    /// A value for the database.
    fn argument(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<Argument> {
        if value.is_none() {
            return Ok(Argument::Null);
        }
        if let Ok(value) = value.cast::<PyBool>() {
            return Ok(Argument::Int(value.is_true().into()));
        }
        if value.is_instance_of::<PyInt>() {
            return value.extract().map(Argument::Int);
        }
        if value.is_instance_of::<PyFloat>() {
            return value.extract().map(Argument::Float);
        }
        if let Ok(value) = value.cast::<PyString>() {
            return Ok(Argument::Text(value.to_cow()?.into_owned()));
        }
        let text = || value.str().and_then(|text| text.to_cow().map(std::borrow::Cow::into_owned));
        let known = if value.is_instance(self.datetime.bind(py))? {
            Timestamp::parse(&text()?).map(Argument::Timestamp)
        } else if value.is_instance(self.date.bind(py))? {
            Date::parse(&text()?).map(Argument::Date)
        } else if value.is_instance(self.decimal.bind(py))? {
            decimal(&text()?)
        } else {
            let kind = value.get_type().name()?;
            return Err(PyTypeError::new_err(format!(
                "a parameter cannot be {kind}: use int, float, str, bool, None, Decimal, date or datetime"
            )));
        };
        let text = text()?;
        known.ok_or_else(|| {
            PyTypeError::new_err(format!("the parameter {text} has no equivalent in databases"))
        })
    }

    /// Rows as a list of tuples.
    fn rows<'py>(&self, py: Python<'py>, rows: &Rows) -> PyResult<Bound<'py, PyAny>> {
        let list = PyList::empty(py);
        for row in rows.iter() {
            let fields = (0..row.len()).map(|column| self.field(py, &row, column));
            list.append(PyTuple::new(py, fields.collect::<PyResult<Vec<_>>>()?)?)?;
        }
        Ok(list.into_any())
    }

    fn field<'py>(
        &self,
        py: Python<'py>,
        row: &Row<'_>,
        column: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let exact = |units: i128, scale: u8| {
            let mut text = String::new();
            let _ = write_decimal(&mut text, units, scale);
            self.decimal.bind(py).call1((text,))
        };
        let from_iso = |class: &Py<PyAny>, text: String| {
            // Years beyond 9999 have no object in Python.
            let read = class.bind(py).call_method1(intern!(py, "fromisoformat"), (&text,));
            read.or_else(|_| Ok(PyString::new(py, &text).into_any()))
        };
        match row.cell(column) {
            Cell::Null => Ok(py.None().into_bound(py)),
            Cell::Int(value) => Ok(value.into_pyobject(py)?.into_any()),
            Cell::Float(value) => Ok(value.into_pyobject(py)?.into_any()),
            Cell::Text(span) => {
                let text = String::from_utf8_lossy(row.text_bytes(span));
                Ok(PyString::new(py, &text).into_any())
            }
            Cell::Decimal { units, scale } => exact(units.into(), scale),
            Cell::Decimal128 { place, scale } => exact(*row.units(place), scale),
            Cell::Timestamp(value) => from_iso(&self.datetime, value.to_string()),
            Cell::Date(value) => from_iso(&self.date, value.to_string()),
            Cell::List(_) => {
                let list = row.list(column).expect("the cell is a list");
                let elements = (0..list.len()).map(|place| self.field(py, &list, place));
                Ok(PyList::new(py, elements.collect::<PyResult<Vec<_>>>()?)?.into_any())
            }
        }
    }
}

/// A decimal from its text; `None` if it is not finite or has too many digits.
fn decimal(text: &str) -> Option<Argument> {
    let (number, exponent) = match text.split_once(['E', 'e']) {
        Some((number, exponent)) => (number, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let digits = number.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let scale = i32::try_from(digits).ok()? - exponent;
    let units = parse_decimal128(number, u8::try_from(digits).ok().filter(|n| *n <= SCALE_MAX)?)?;
    if scale < 0 {
        let power = 10i128.checked_pow(scale.unsigned_abs())?;
        return Some(Argument::Decimal(units.checked_mul(power)?, 0));
    }
    let scale = u8::try_from(scale).ok().filter(|scale| *scale <= SCALE_MAX)?;
    Some(Argument::Decimal(units, scale))
}
