//! One Lua state: a script, its coroutine, and its requests. The coroutine is resumed with LuaJIT's C interface: values
//! lie on its stack until the request is answered, so that nothing is copied or allocated for a statement.

#![expect(unsafe_code, reason = "LuaJIT's C interface, for what happens for each statement")]

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use mlua::{Function, Lua, LuaOptions, StdLib, Table, Thread, Value as LuaValue, ffi};
use triphammer_core::rows::Rows;
use triphammer_core::{SpecError, Value};

use crate::MEMORY_LIMIT;
use crate::host::{Failure, Shared, add_functions};
use crate::options::{GENERAL, Kind, Scalar, ScriptOption};
use crate::unique::Unique;
use crate::watchdog::watched;

/// The API, in the order of its parts.
const API: [(&str, &str); 3] = [
    ("=sysbench", include_str!("api/start.lua")),
    ("=sysbench.rand", include_str!("api/rand.lua")),
    ("=sysbench.sql", include_str!("api/sql.lua")),
];
/// Number of arguments for which nothing is allocated.
const FEW: usize = 16;
/// Most arguments of a statement: those of the protocols.
const ARGUMENTS_MAX: usize = 65_535;

/// What a script sees around it.
#[derive(Clone, Debug)]
pub struct Environment {
    /// Path or name of the script.
    pub name: Arc<str>,
    /// Its text.
    pub text: Arc<str>,
    /// Folders in which `require` finds modules, besides the current one.
    pub folders: Vec<PathBuf>,
    /// The command: `run`, `prepare` and so on.
    pub command: String,
    /// Name of the database driver in sysbench: `mysql` or `pgsql`.
    pub driver: String,
    /// Number of the thread, from 0.
    pub tid: u32,
    /// Number of threads.
    pub threads: u32,
    /// Options by name, with underscores: general ones and the script's.
    pub options: Arc<BTreeMap<String, String>>,
    /// Seed of the random numbers until the first event.
    pub seed: u64,
    /// Numbers that no other thread has had.
    pub unique: Arc<Unique>,
    /// Where the script prints.
    pub output: Output,
}

/// Where a script prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// Standard output, as in sysbench.
    Stdout,
    /// Standard error, where standard output belongs to a result.
    Stderr,
    /// Nowhere: the script is only tried.
    Nowhere,
}

/// How commands of a script run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Commands {
    /// Once.
    Single,
    /// In each thread.
    Parallel,
}

/// Why a script failed.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct ScriptError {
    /// What and where, without the call stack.
    pub message: String,
    /// The error with which an event is restarted, for its hook.
    restart: Option<LuaValue>,
}

impl ScriptError {
    /// Whether the event is to be restarted.
    #[must_use]
    pub const fn restarts(&self) -> bool {
        self.restart.is_some()
    }
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

/// The arguments of a statement, on the script's stack.
#[derive(Clone, Copy, Debug)]
pub struct Arguments<'a> {
    state: *mut ffi::lua_State,
    count: usize,
    of: std::marker::PhantomData<&'a State>,
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
    shared: Rc<Shared>,
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
        let shared = Rc::new(Shared::default());
        let host = host(&lua, environment, &shared).map_err(failed)?;
        set_general_options(&lua, &host, environment)?;
        start(&lua, &host, environment).map_err(failed)?;
        let bind = host.get("bind").map_err(failed)?;
        let mut state = Self { lua, host, bind, thread: None, shared, options: Vec::new() };
        state.load(environment).map_err(failed)?;
        state.options = declared(&state.lua).map_err(failed)?;
        state.set_options(environment)?;
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
        let is_general = |name: &str| GENERAL.iter().any(|option| option.name == name);
        for option in &self.options {
            let given = environment.options.get(&option.name);
            let value = match given {
                Some(text) => Some(option.kind.read(&option.name, text)?),
                None => option.default.clone(),
            };
            let value = value.map(|value| lua_value(&self.lua, &value)).transpose();
            let value = value.map_err(|error| SpecError::new(message_of(&error)))?;
            // What a general option has in common with the script's is already set.
            if given.is_some() || !is_general(&option.name) {
                let set: Function = self.host.get("set_option").expect("start.lua defines it");
                let set = set.call::<()>((option.name.as_str(), value, false));
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
        let id = self.shared.results.borrow_mut().keep(rows);
        if width == 0 {
            return self.answer(&[0]);
        }
        let number = |value: usize| i64::try_from(value).unwrap_or_default();
        self.answer(&[id, number(count), number(width)])
    }

    /// Answers a request with an error.
    ///
    /// # Errors
    /// When the script fails, which it does unless it catches the error.
    pub fn fail(
        &mut self,
        code: Option<&str>,
        message: String,
        is_ignorable: bool,
    ) -> Result<(), ScriptError> {
        let code = code.unwrap_or_default();
        let number = code.parse().unwrap_or_default();
        let state = if number == 0 { code.to_owned() } else { String::new() };
        self.shared.failure.replace(Failure { number, state, message, is_ignorable });
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

    /// Takes the counts and resets them.
    #[must_use]
    pub fn take_counts(&self) -> Counts {
        self.shared.counts.take()
    }
}

impl<'a> Arguments<'a> {
    /// Number of arguments.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Reads the arguments into a buffer.
    ///
    /// # Errors
    /// When one has a type that no database knows, or is not UTF-8.
    #[inline]
    pub fn read<'b>(
        &self,
        few: &'b mut [Value<'a>; FEW],
        many: &'b mut Vec<Value<'a>>,
    ) -> Result<&'b [Value<'a>], ScriptError> {
        if self.count > ARGUMENTS_MAX {
            return Err(malformed());
        }
        if self.count > FEW {
            for place in 0..self.count {
                many.push(self.value(place)?);
            }
            return Ok(many);
        }
        for (place, value) in few.iter_mut().enumerate().take(self.count) {
            *value = self.value(place)?;
        }
        Ok(&few[..self.count])
    }

    #[inline]
    fn value(&self, place: usize) -> Result<Value<'a>, ScriptError> {
        let at = c_int::try_from(place + 3).expect("ARGUMENTS_MAX is small");
        // SAFETY: the coroutine is suspended while `'a` lasts, and has this many values on its stack.
        unsafe {
            match ffi::lua_type(self.state, at) {
                ffi::LUA_TNUMBER => Ok(number(ffi::lua_tonumber(self.state, at))),
                ffi::LUA_TSTRING => text_at(self.state, at)
                    .map(Value::Text)
                    .ok_or_else(|| ScriptError::new("an argument is not UTF-8 text")),
                ffi::LUA_TBOOLEAN => Ok(Value::Int(ffi::lua_toboolean(self.state, at).into())),
                ffi::LUA_TNIL | ffi::LUA_TNONE => Ok(Value::Null),
                _ => Err(ScriptError::new(format!(
                    "argument {} of a statement must be a number, a text, true, false or nil",
                    place + 1
                ))),
            }
        }
    }
}

/// A number of Lua: whole ones are integers.
#[inline]
fn number(value: f64) -> Value<'static> {
    #[expect(clippy::cast_possible_truncation, reason = "compared with the original")]
    let whole = value as i64;
    #[expect(clippy::cast_precision_loss, reason = "that is what is compared")]
    let is_whole = whole as f64 == value && whole != i64::MAX;
    if is_whole { Value::Int(whole) } else { Value::Float(value) }
}

/// The text at a place of a stack, if it is UTF-8.
///
/// # Safety
/// The value must stay on the stack for `'a`.
unsafe fn text_at<'a>(state: *mut ffi::lua_State, at: c_int) -> Option<&'a str> {
    // SAFETY: the type is checked first, because a number would be converted in place. LuaJIT's texts do not move.
    unsafe {
        if ffi::lua_type(state, at) != ffi::LUA_TSTRING {
            return None;
        }
        let mut length = 0;
        let start = ffi::lua_tolstring(state, at, &raw mut length);
        std::str::from_utf8(std::slice::from_raw_parts(start.cast(), length)).ok()
    }
}

impl ScriptError {
    /// An error with this message, after which nothing is restarted.
    #[must_use]
    pub const fn plain(message: String) -> Self {
        Self { message, restart: None }
    }

    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), restart: None }
    }
}

fn malformed() -> ScriptError {
    ScriptError::new("the script sent an invalid request to triphammer")
}

/// The C state of a coroutine.
fn state_of(thread: &Thread) -> *mut ffi::lua_State {
    LuaValue::Thread(thread.clone()).to_pointer().cast_mut().cast()
}

/// The table `host`, with what the API needs to know and to call.
fn host(lua: &Lua, environment: &Environment, shared: &Rc<Shared>) -> mlua::Result<Table> {
    let host = lua.create_table()?;
    host.set("tid", environment.tid)?;
    host.set("command", environment.command.as_str())?;
    host.set("script", &*environment.name)?;
    host.set("driver", environment.driver.as_str())?;
    host.set(
        "output",
        match environment.output {
            Output::Stdout => "stdout",
            Output::Stderr => "stderr",
            Output::Nowhere => "nowhere",
        },
    )?;
    add_functions(lua, &host, shared, &environment.unique)?;
    Ok(host)
}

/// Runs the API's own code.
fn start(lua: &Lua, host: &Table, environment: &Environment) -> mlua::Result<()> {
    let package: Table = lua.globals().get("package")?;
    let own: String = package.get("path")?;
    let mut path = String::from("./?.lua;./?/init.lua");
    for folder in &environment.folders {
        path.push_str(&format!(";{0}/?.lua;{0}/?/init.lua", folder.display()));
    }
    package.set("path", format!("{path};{own}"))?;
    #[expect(clippy::cast_precision_loss, reason = "53 bits are enough for a seed")]
    let seed = (environment.seed >> 11) as f64;
    let math: Table = lua.globals().get("math")?;
    math.get::<Function>("randomseed")?.call::<()>(seed)?;
    let mut request = LuaValue::Nil;
    for (name, text) in API {
        let chunk = lua.load(text).set_name(name).into_function()?;
        let returned: LuaValue = chunk.call((host, request.clone()))?;
        if request.is_nil() {
            request = returned;
            let set: Function = host.get("set_option")?;
            let options: Vec<(String, LuaValue)> =
                host.get::<Table>("general")?.pairs().collect::<mlua::Result<_>>()?;
            for (name, value) in options {
                set.call::<()>((name, value, true))?;
            }
        }
    }
    Ok(())
}

/// Reads the values of general options, for `start`.
fn set_general_options(
    lua: &Lua,
    host: &Table,
    environment: &Environment,
) -> Result<(), SpecError> {
    let failed = |error: mlua::Error| SpecError::new(message_of(&error));
    let general = lua.create_table().map_err(failed)?;
    for option in GENERAL {
        let given = environment.options.get(option.name).map(String::as_str);
        let value = match option.name {
            "threads" => Scalar::Int(environment.threads.into()),
            "db_driver" => Scalar::Text(environment.driver.clone()),
            name => option.kind.read(name, given.unwrap_or(option.default))?,
        };
        general.set(option.name, lua_value(lua, &value).map_err(failed)?).map_err(failed)?;
    }
    host.set("general", general).map_err(failed)
}

/// A value of an option in Lua.
fn lua_value(lua: &Lua, value: &Scalar) -> mlua::Result<LuaValue> {
    Ok(match value {
        Scalar::Switch(value) => LuaValue::Boolean(*value),
        #[expect(clippy::cast_precision_loss, reason = "all of Lua's numbers are floats")]
        Scalar::Int(value) => LuaValue::Number(*value as f64),
        Scalar::Double(value) => LuaValue::Number(*value),
        Scalar::Text(value) => LuaValue::String(lua.create_string(value)?),
        Scalar::List(values) => {
            LuaValue::Table(lua.create_sequence_from(values.iter().map(String::as_str))?)
        }
    })
}

/// The options that the script has declared.
fn declared(lua: &Lua) -> mlua::Result<Vec<ScriptOption>> {
    let cmdline: Table = lua.globals().get::<Table>("sysbench")?.get("cmdline")?;
    let Some(options) = cmdline.get::<Option<Table>>("options")? else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for pair in options.pairs::<String, Table>() {
        let (name, declaration) = pair?;
        let help: Option<String> = declaration.get(1)?;
        let default = match declaration.get::<LuaValue>(2)? {
            LuaValue::Nil => None,
            LuaValue::Boolean(value) => Some(Scalar::Switch(value)),
            LuaValue::Integer(value) => Some(Scalar::Int(value)),
            LuaValue::Number(value) => Some(match number(value) {
                Value::Int(whole) => Scalar::Int(whole),
                _ => Scalar::Double(value),
            }),
            LuaValue::String(text) => Some(Scalar::Text(text.to_string_lossy())),
            LuaValue::Table(items) => {
                Some(Scalar::List(items.sequence_values().collect::<mlua::Result<_>>()?))
            }
            other => {
                let kind = other.type_name();
                return Err(mlua::Error::runtime(format!(
                    "the default of the option {name} is a {kind}"
                )));
            }
        };
        let kind = match declaration.get::<Option<i64>>(3) {
            Ok(Some(1)) => Kind::Switch,
            Ok(Some(2 | 3)) => Kind::Int,
            Ok(Some(4)) => Kind::Double,
            Ok(Some(6)) => Kind::List,
            _ => default.as_ref().map_or(Kind::Text, Scalar::kind),
        };
        found.push(ScriptOption {
            name: name.replace('-', "_"),
            help: help.unwrap_or_default(),
            kind,
            default,
        });
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

fn out_of_memory() -> String {
    format!("not enough memory: a script may use {} MiB", MEMORY_LIMIT / 1024 / 1024)
}

/// The message of an error, without the call stack.
fn message_of(error: &mlua::Error) -> String {
    let message = match error {
        mlua::Error::SyntaxError { message, .. } => message.clone(),
        mlua::Error::RuntimeError(message) => message.clone(),
        mlua::Error::MemoryError(_) => out_of_memory(),
        mlua::Error::CallbackError { cause, .. } => return message_of(cause),
        other => other.to_string(),
    };
    let end = message.find("\nstack traceback:").unwrap_or(message.len());
    message[..end].to_owned()
}
