//! Functions that the API calls in Rust.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use mlua::{Lua, Table, Value};

use crate::results::Results;
use crate::unique::Unique;

/// The error of the last request, as a script sees it.
#[derive(Clone, Debug, Default)]
pub struct Failure {
    /// The database's own number; 0 where its codes are not numbers.
    pub number: i64,
    /// SQLSTATE, or nothing.
    pub state: String,
    /// The message, with the code.
    pub message: String,
    /// Whether the event is restarted.
    pub is_ignorable: bool,
}

/// Counts of a state, by sysbench's kinds of statements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "sysbench's kinds")]
pub struct Counts {
    pub reads: u64,
    pub writes: u64,
    pub other: u64,
    pub errors: u64,
}

/// What the host's functions share with the state.
#[derive(Debug, Default)]
pub struct StateOfScript {
    pub results: RefCell<Results>,
    pub failure: RefCell<Failure>,
    pub counts: Cell<Counts>,
}

/// Indices of `sb_counter_type` that are counted.
const OTHER: i64 = 0;
const READ: i64 = 1;
const WRITE: i64 = 2;
const ERROR: i64 = 4;

/// Adds the functions to the table `host`.
///
/// # Errors
/// When memory is exhausted.
pub fn add_functions(
    lua: &Lua,
    host: &Table,
    shared: &Rc<StateOfScript>,
    unique: &Arc<Unique>,
) -> mlua::Result<()> {
    let kept = Rc::clone(shared);
    let fetch = move |lua: &Lua, id: i64| {
        let row = kept.results.borrow_mut().fetch(id).map_err(mlua::Error::runtime)?;
        let Some(row) = row else { return Ok(Value::Nil) };
        let table = lua.create_table_with_capacity(row.len(), 0)?;
        for (column, text) in (1..).zip(row) {
            if let Some(text) = text {
                table.raw_set(column, lua.create_string(text)?)?;
            }
        }
        Ok(Value::Table(table))
    };
    host.set("fetch", lua.create_function(fetch)?)?;
    let kept = Rc::clone(shared);
    let used = move |_: &Lua, id: i64| {
        kept.results.borrow_mut().used(id);
        Ok(())
    };
    host.set("use", lua.create_function(used)?)?;
    let kept = Rc::clone(shared);
    let free = move |_: &Lua, id: i64| {
        kept.results.borrow_mut().free(id);
        Ok(())
    };
    host.set("free", lua.create_function(free)?)?;
    let kept = Rc::clone(shared);
    let failure = move |_: &Lua, ()| {
        let Failure { number, state, message, is_ignorable } = kept.failure.borrow().clone();
        Ok((number, state, message, is_ignorable))
    };
    host.set("failure", lua.create_function(failure)?)?;
    let kept = Rc::clone(shared);
    let count = move |_: &Lua, (counter, count): (i64, i64)| {
        let mut counts = kept.counts.get();
        let count = count.unsigned_abs();
        match counter {
            OTHER => counts.other += count,
            READ => counts.reads += count,
            WRITE => counts.writes += count,
            ERROR => counts.errors += count,
            _ => {}
        }
        kept.counts.set(counts);
        Ok(())
    };
    host.set("count", lua.create_function(count)?)?;
    let unique = Arc::clone(unique);
    host.set("unique", lua.create_function(move |_: &Lua, ()| Ok(unique.next()))?)
}
