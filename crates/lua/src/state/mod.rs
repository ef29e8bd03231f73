//! One Lua state: a script, its coroutine, and its requests. The coroutine is resumed with LuaJIT's C interface: values
//! lie on its stack until the request is answered, so that nothing is copied or allocated for a statement.

#![expect(unsafe_code, reason = "LuaJIT's C interface, for what happens for each statement")]

mod arguments;
mod report;
mod setup;

use std::ffi::c_int;
use std::rc::Rc;

use mlua::{Function, Lua, LuaOptions, StdLib, Table, Thread, Value as LuaValue, ffi};
use triphammer_core::SpecError;
use triphammer_core::rows::Rows;

pub use self::arguments::Arguments;
use self::arguments::text_at;
pub use self::report::{Hook, Stat};
use self::setup::{declared, host, lua_value, set_general_options, start};
use crate::MEMORY_LIMIT;
use crate::environment::Environment;
use crate::error::{ScriptError, malformed, message_of, out_of_memory};
use crate::host::{Counts, Failure, StateOfScript};
use crate::options::{GENERAL, OptionKind, ScriptOption};
use crate::watchdog::watched;

/// How commands of a script run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Commands {
    /// Once.
    Single,
    /// In each thread.
    Parallel,
}

/// What a script asks for. Texts lie on its stack until it is answered.
#[derive(Debug)]
pub enum Request<'a> {
    /// May an event begin? Answered by [`State::begin`] or [`State::end`].
    Idle,
    /// The event has ended; answered as `Idle`.
    Done,
    /// Open the connection.
    Connect,
    /// Close it.
    Disconnect,
    /// Run a text of SQL.
    Query(&'a str),
    /// Prepare a statement with `?` as placeholders: answered with its number.
    Prepare(&'a str),
    /// Run a prepared statement.
    Execute(usize, Arguments<'a>),
    /// The function has returned.
    Returned,
}

/// A function of a script to call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call<'a> {
    /// The loop over events.
    ThreadRun,
    /// A function or command of this name.
    Named(&'a str),
}

/// A script with its state.
#[derive(Debug)]
pub struct State {
    lua: Lua,
    host: Table,
    bind: Function,
    /// The coroutine, and its state; the script's names for them differ from Rust's.
    thread: Option<(Thread, *mut ffi::lua_State)>,
    shared: Rc<StateOfScript>,
    options: Vec<ScriptOption>,
}

impl State {
    /// Loads a script.
    ///
    /// # Errors
    /// When it cannot be compiled or its main part fails, with file and line, and when an option is unknown or invalid.
    pub fn new(environment: &Environment) -> Result<Self, SpecError> {
        let failed = |error: mlua::Error| SpecError::new(message_of(&error));
        // SAFETY: scripts are the user's own code, which may use `ffi` as in sysbench.
        let lua = unsafe { Lua::unsafe_new_with(StdLib::ALL, LuaOptions::new()) };
        lua.set_memory_limit(MEMORY_LIMIT).map_err(failed)?;
        let shared = Rc::new(StateOfScript::default());
        let host = host(&lua, environment, &shared).map_err(failed)?;
        set_general_options(&lua, &host, environment)?;
        start(&lua, &host, environment).map_err(failed)?;
        let bind = host.get("bind").map_err(failed)?;
        let mut state = Self { lua, host, bind, thread: None, shared, options: Vec::new() };
        state.load(environment).map_err(failed)?;
        let declared = declared(&state.lua).map_err(failed)?;
        let declares = declared.is_some();
        state.options = declared.unwrap_or_else(|| undeclared(environment));
        state.set_options(environment)?;
        let show: Function = state.host.get("show_options").map_err(failed)?;
        show.call::<()>(declares).map_err(failed)?;
        if !declares {
            state.options.clear();
        }
        Ok(state)
    }

    /// Runs the main part of the script.
    fn load(&self, environment: &Environment) -> mlua::Result<()> {
        // The first line may name the interpreter.
        let text = match environment.text.strip_prefix('#') {
            Some(_) => {
                &environment.text[environment.text.find('\n').unwrap_or(environment.text.len())..]
            }
            None => &*environment.text,
        };
        let name = format!("@{}", environment.name);
        let chunk = self.lua.load(text).set_name(name).set_mode(mlua::ChunkMode::Text);
        let function = chunk.into_function()?;
        let main = self.lua.current_thread();
        watched(state_of(&main), || function.call(()))
    }

    /// Sets the script's own options.
    fn set_options(&self, environment: &Environment) -> Result<(), SpecError> {
        for option in &self.options {
            let given = environment.options.get(&option.name);
            let value = option.value(given.map(String::as_str))?;
            let value =
                lua_value(&self.lua, &value).map_err(|error| SpecError::new(message_of(&error)))?;
            // What a general option has in common with the script's is already set.
            if given.is_some() || !is_general(&option.name) {
                let set: Function = self.host.get("set_option").expect("start.lua defines it");
                let set = set.call::<()>((option.name.as_str(), value));
                set.map_err(|error| SpecError::new(message_of(&error)))?;
            }
        }
        let is_known =
            |name: &str| is_general(name) || self.options.iter().any(|option| option.name == name);
        match environment.options.keys().find(|name| !is_known(name)) {
            None => Ok(()),
            Some(name) => {
                let known: Vec<String> =
                    self.options.iter().map(|o| o.name.replace('_', "-")).collect();
                let known = match known.is_empty() {
                    true => "it declares none".to_owned(),
                    false => format!("it declares {}", known.join(", ")),
                };
                let (script, name) = (&environment.name, name.replace('_', "-"));
                Err(SpecError::new(format!("the script {script} has no option --{name}: {known}")))
            }
        }
    }

    /// The options that the script declares.
    #[must_use]
    pub fn options(&self) -> &[ScriptOption] {
        &self.options
    }

    /// How the script runs a command or function; `None` if it has none of this name.
    #[must_use]
    pub fn has(&self, name: &str) -> Option<Commands> {
        let has: Function = self.host.get("has").ok()?;
        match has.call::<Option<String>>(name).ok()??.as_str() {
            "parallel" => Some(Commands::Parallel),
            _ => Some(Commands::Single),
        }
    }

    /// Whether the script has a loop over events of its own.
    #[must_use]
    pub fn has_own_loop(&self) -> bool {
        let has: mlua::Result<Function> = self.host.get("has_own_loop");
        has.and_then(|has| has.call(())).unwrap_or_default()
    }

    /// Calls a function of the script, up to its first request; the call before is abandoned. After an error that
    /// [restarts](ScriptError::restarts) its hook is called first.
    ///
    /// # Errors
    /// When the script fails.
    pub fn call(&mut self, call: Call<'_>, after: Option<ScriptError>) -> Result<(), ScriptError> {
        let name = match call {
            Call::ThreadRun => "thread_run",
            Call::Named(name) => name,
        };
        let restart = after.and_then(|error| error.restart);
        let bound: mlua::Result<Thread> =
            self.bind.call((name, restart)).and_then(|f: Function| self.lua.create_thread(f));
        let thread = bound.map_err(|error| ScriptError::new(message_of(&error)))?;
        let state = state_of(&thread);
        self.thread = Some((thread, state));
        self.resume(0)
    }

    /// Continues the coroutine with values that are on its stack.
    fn resume(&mut self, values: c_int) -> Result<(), ScriptError> {
        let Some((_, thread)) = self.thread else {
            return Err(ScriptError::new("no function of the script is running"));
        };
        // SAFETY: the coroutine is suspended, and has these values on its stack. LuaJIT reports errors as a status.
        let status = watched(thread, || unsafe { ffi::lua_resume_(thread, values) });
        match status {
            ffi::LUA_YIELD => Ok(()),
            ffi::LUA_OK => {
                self.thread = None;
                Ok(())
            }
            _ => Err(self.failed(thread)),
        }
    }

    /// Takes the error of the coroutine, which is over.
    fn failed(&mut self, thread: *mut ffi::lua_State) -> ScriptError {
        // SAFETY: a coroutine that failed has its error on top of its stack.
        let taken =
            unsafe { self.lua.exec_raw::<LuaValue>((), |main| ffi::lua_xmove(thread, main, 1)) };
        self.thread = None;
        match taken {
            Ok(LuaValue::Table(failure)) => {
                let message: Option<mlua::String> = failure.get("sql_errmsg").ok();
                let message = message.map(|text| text.to_string_lossy());
                let code: i64 = failure.get("errcode").unwrap_or_default();
                let restart = (code == 1).then_some(LuaValue::Table(failure));
                let message =
                    message.unwrap_or_else(|| "the script raised a table as an error".to_owned());
                ScriptError { message, restart }
            }
            Ok(LuaValue::Error(error)) => ScriptError::new(message_of(&error)),
            Ok(LuaValue::String(text)) if text == "not enough memory" => {
                ScriptError::new(out_of_memory())
            }
            Ok(LuaValue::String(text)) => ScriptError::new(text.to_string_lossy()),
            Ok(other) => {
                let shown = other.to_string().unwrap_or_default();
                ScriptError::new(format!("the script raised {shown}"))
            }
            Err(error) => ScriptError::new(message_of(&error)),
        }
    }

    /// What the script asks for.
    ///
    /// # Errors
    /// When a text is not UTF-8, or a request is malformed.
    pub fn request(&self) -> Result<Request<'_>, ScriptError> {
        let Some((_, thread)) = &self.thread else { return Ok(Request::Returned) };
        let thread = *thread;
        // SAFETY: the coroutine is suspended; a request is a number with values.
        let kind = unsafe { ffi::lua_tointeger(thread, 1) };
        match kind {
            1 => Ok(Request::Idle),
            2 => Ok(Request::Done),
            3 => Ok(Request::Connect),
            4 => Ok(Request::Disconnect),
            5 => Ok(Request::Query(self.text(thread, 2)?)),
            6 => Ok(Request::Prepare(self.text(thread, 2)?)),
            7 => {
                // SAFETY: as above.
                let (id, top) = unsafe { (ffi::lua_tointeger(thread, 2), ffi::lua_gettop(thread)) };
                let id = usize::try_from(id).map_err(|_| malformed())?;
                let count = usize::try_from(top - 2).map_err(|_| malformed())?;
                let of = std::marker::PhantomData;
                Ok(Request::Execute(id, Arguments { state: thread, count, of }))
            }
            _ => Err(ScriptError::new(
                "the script called coroutine.yield() outside of a coroutine: only its own coroutines \
                 can yield",
            )),
        }
    }

    /// A text on the coroutine's stack.
    fn text(&self, thread: *mut ffi::lua_State, at: c_int) -> Result<&str, ScriptError> {
        // SAFETY: the text stays on the stack until the request is answered, which needs `&mut self`.
        unsafe { text_at(thread, at) }
            .ok_or_else(|| ScriptError::new("a statement must be UTF-8 text"))
    }

    /// Answers with whole numbers.
    fn answer(&mut self, values: &[i64]) -> Result<(), ScriptError> {
        let Some((_, thread)) = self.thread else { return Err(malformed()) };
        // SAFETY: the coroutine is suspended; its stack has room for more than these few values, and numbers need no
        // memory.
        unsafe {
            ffi::lua_settop(thread, 0);
            #[expect(clippy::cast_precision_loss, reason = "ids and counts")]
            values.iter().for_each(|value| ffi::lua_pushnumber(thread, *value as f64));
        }
        self.resume(c_int::try_from(values.len()).expect("a few values"))
    }

    /// Lets the next event begin, with its own random numbers; up to the first request of the event.
    ///
    /// # Errors
    /// When the script fails.
    #[inline]
    pub fn begin(&mut self, seed: u64) -> Result<(), ScriptError> {
        let Some((_, thread)) = self.thread else { return Err(malformed()) };
        // SAFETY: as in `answer`.
        unsafe {
            ffi::lua_settop(thread, 0);
            ffi::lua_pushboolean(thread, 1);
            #[expect(clippy::cast_precision_loss, reason = "53 bits are enough for a seed")]
            ffi::lua_pushnumber(thread, (seed >> 11) as f64);
        }
        self.resume(2)
    }

    /// Tells the thread that there are no more events.
    ///
    /// # Errors
    /// When the script fails.
    pub fn end(&mut self) -> Result<(), ScriptError> {
        let Some((_, thread)) = self.thread else { return Err(malformed()) };
        // SAFETY: as in `answer`.
        unsafe {
            ffi::lua_settop(thread, 0);
            ffi::lua_pushboolean(thread, 0);
        }
        self.resume(1)
    }

    /// Answers a request that has no result, or that of a prepared statement with its number.
    ///
    /// # Errors
    /// When the script fails.
    pub fn done(&mut self, number: usize) -> Result<(), ScriptError> {
        self.answer(&[i64::try_from(number).unwrap_or_default()])
    }

    /// An empty buffer for rows: give it back to [`State::rows`] or [`State::fail`].
    pub fn buffer(&self) -> Rows {
        self.shared.results.borrow_mut().buffer()
    }

    /// Answers a statement with its rows, which are kept until they are read or replaced.
    ///
    /// # Errors
    /// When the script fails.
    #[inline]
    pub fn rows(&mut self, rows: Rows) -> Result<(), ScriptError> {
        let (count, width) = (rows.len(), rows.width());
        let Some(id) = self.shared.results.borrow_mut().keep(rows) else {
            return self.answer(&[0]);
        };
        let number = |value: usize| i64::try_from(value).unwrap_or_default();
        self.answer(&[id, number(count), number(width)])
    }

    /// Answers a request with an error.
    ///
    /// # Errors
    /// When the script fails, which it does unless it catches the error.
    pub fn fail(&mut self, failure: Failure) -> Result<(), ScriptError> {
        self.shared.failure.replace(failure);
        self.count(|counts| counts.errors += 1);
        self.answer(&[-1])
    }

    /// Changes the counts.
    #[inline]
    pub fn count(&self, change: impl FnOnce(&mut Counts)) {
        let mut counts = self.shared.counts.get();
        change(&mut counts);
        self.shared.counts.set(counts);
    }

    /// The counts so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.shared.counts.get()
    }
}

fn is_general(name: &str) -> bool {
    GENERAL.iter().any(|option| option.name == name)
}

/// The options of a script that declares none: every one that is given, as text.
fn undeclared(environment: &Environment) -> Vec<ScriptOption> {
    let names = environment.options.keys().filter(|name| !is_general(name));
    let option = |name: &String| ScriptOption {
        name: name.clone(),
        help: String::new(),
        kind: OptionKind::Text,
        default: None,
    };
    names.map(option).collect()
}

/// The C state of a coroutine.
fn state_of(thread: &Thread) -> *mut ffi::lua_State {
    LuaValue::Thread(thread.clone()).to_pointer().cast_mut().cast()
}
