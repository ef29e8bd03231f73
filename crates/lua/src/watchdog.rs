//! Ends scripts that run on without a request. LuaJIT can be interrupted only by a hook, which must be set on the thread
//! that runs the script: `lua_sethook` is made to be called from a signal handler, as LuaJIT's own command line does on
//! Ctrl-C. So one thread of the process watches all threads that run scripts, and sends a signal to one that has been in
//! the same call for too long. Compiled loops check for hooks because LuaJIT is built with `LUAJIT_ENABLE_CHECKHOOK`
//! (`.cargo/config.toml`). A hook that is always set would be simpler, but keeps LuaJIT from compiling anything.
//!
//! What runs in C cannot be interrupted: a call of the C library through `ffi`, or the search for a pattern.

#![expect(unsafe_code, reason = "signal handlers and LuaJIT's C interface")]

use std::cell::Cell;
use std::ffi::c_int;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;

use mlua::ffi;

use crate::api::is_api;

/// CPU time that a script may use without a request: a busy host does not end anything.
pub const TIME_LIMIT: Duration = Duration::from_secs(10);
/// The limit that applies: tests do not wait that long.
const LIMIT: Duration = if cfg!(test) { Duration::from_secs(2) } else { TIME_LIMIT };
/// Time between two looks at the threads.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Ignored by default, and unused here: the handler cannot disturb anything.
const SIGNAL: c_int = libc::SIGURG;
/// Instructions that may pass until one has a line of the script.
const PATIENCE: u64 = 1000;

/// A thread that runs scripts.
struct Watched {
    thread: libc::pthread_t,
    /// Rises when a script is entered and when it is left: odd within one.
    calls: AtomicU64,
    /// The coroutine that runs.
    running: AtomicPtr<ffi::lua_State>,
    /// The call that the signal is meant for; 0 for none.
    expired: AtomicU64,
    /// How often the hook may still wait for an instruction whose line is known.
    patience: AtomicU64,
    /// Whether the thread still exists; held while it is signalled.
    alive: Mutex<bool>,
}

thread_local! {
    /// For the signal handler: without a destructor, so that it can be read at any time.
    static HERE: Cell<*const Watched> = const { Cell::new(std::ptr::null()) };
    /// Keeps what `HERE` points to until the thread ends.
    static REGISTERED: Registered = Registered::new();
}

/// The registration of this thread.
struct Registered(Arc<Watched>);

impl Registered {
    fn new() -> Self {
        // SAFETY: no preconditions.
        let thread = unsafe { libc::pthread_self() };
        let watched = Arc::new(Watched {
            thread,
            calls: AtomicU64::new(0),
            running: AtomicPtr::new(std::ptr::null_mut()),
            expired: AtomicU64::new(0),
            patience: AtomicU64::new(0),
            alive: Mutex::new(true),
        });
        watch(&watched);
        HERE.with(|here| here.set(Arc::as_ptr(&watched)));
        Self(watched)
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        *self.0.alive.lock().unwrap_or_else(PoisonError::into_inner) = false;
        HERE.with(|here| here.set(std::ptr::null()));
    }
}

/// Runs `call`, which enters the script that `state` runs.
#[inline]
pub fn watched<T>(state: *mut ffi::lua_State, call: impl FnOnce() -> T) -> T {
    REGISTERED.with(|Registered(here)| {
        here.running.store(state, Ordering::Relaxed);
        // Only this thread changes the number.
        let calls = here.calls.load(Ordering::Relaxed) + 1;
        here.calls.store(calls, Ordering::Release);
        let result = call();
        here.running.store(std::ptr::null_mut(), Ordering::Relaxed);
        here.calls.store(calls + 1, Ordering::Release);
        result
    })
}

/// Adds a thread to those that are looked at; starts the watcher for the first one.
fn watch(watched: &Arc<Watched>) {
    static ALL: OnceLock<Mutex<Vec<Weak<Watched>>>> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        // SAFETY: the handler only reads atomics and calls lua_sethook, which may be called from signal handlers.
        let handler = unsafe { signal_hook_registry::register(SIGNAL, interrupt) };
        handler.expect("SIGURG can be handled");
        std::thread::Builder::new()
            .name("lua-watchdog".into())
            .spawn(|| look(ALL.wait()))
            .expect("a process that runs scripts can start one more thread");
        Mutex::new(Vec::new())
    });
    let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
    all.push(Arc::downgrade(watched));
}

/// A call that was going on at the last look.
struct OngoingCall {
    place: *const Watched,
    call: u64,
    /// CPU time of the thread when the call was first seen.
    cpu: Duration,
}

/// Looks at all threads, for as long as the process lasts.
fn look(all: &Mutex<Vec<Weak<Watched>>>) {
    let mut seen: Vec<OngoingCall> = Vec::new();
    loop {
        std::thread::park_timeout(LOOK_EVERY);
        let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|one| one.strong_count() > 0);
        let mut now = Vec::new();
        for one in all.iter().filter_map(Weak::upgrade) {
            let (place, call) = (Arc::as_ptr(&one), one.calls.load(Ordering::Acquire));
            if call % 2 == 0 {
                continue;
            }
            let Some(cpu) = cpu_of(&one) else { continue };
            let before = seen.iter().find(|seen| seen.place == place && seen.call == call);
            let first = before.map_or(cpu, |seen| seen.cpu);
            if cpu.saturating_sub(first) >= LIMIT {
                signal(&one, call);
            }
            now.push(OngoingCall { place, call, cpu: first });
        }
        seen = now;
    }
}

/// CPU time of a thread, if it still exists.
fn cpu_of(one: &Watched) -> Option<Duration> {
    let alive = one.alive.lock().unwrap_or_else(PoisonError::into_inner);
    let mut clock = 0;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the thread exists while the lock is held.
    let is_read = *alive
        && unsafe {
            libc::pthread_getcpuclockid(one.thread, &raw mut clock) == 0
                && libc::clock_gettime(clock, &raw mut time) == 0
        };
    let seconds = u64::try_from(time.tv_sec).ok().filter(|_| is_read)?;
    Some(Duration::new(seconds, u32::try_from(time.tv_nsec).ok()?))
}

/// Interrupts a call of a thread. If it ends at this moment, nothing happens.
fn signal(one: &Watched, call: u64) {
    let alive = one.alive.lock().unwrap_or_else(PoisonError::into_inner);
    if *alive {
        one.expired.store(call, Ordering::Release);
        // SAFETY: the thread exists while the lock is held.
        unsafe { libc::pthread_kill(one.thread, SIGNAL) };
    }
}

/// The signal handler, on the thread that runs the script.
fn interrupt() {
    let here = HERE.with(Cell::get);
    // SAFETY: it points to what the thread's registration keeps, or is null.
    let Some(here) = (unsafe { here.as_ref() }) else { return };
    if here.expired.swap(0, Ordering::AcqRel) != here.calls.load(Ordering::Acquire) {
        return;
    }
    let state = here.running.load(Ordering::Relaxed);
    if !state.is_null() {
        here.patience.store(PATIENCE, Ordering::Relaxed);
        let mask = ffi::LUA_MASKCALL | ffi::LUA_MASKRET | ffi::LUA_MASKCOUNT;
        // SAFETY: the state runs on this very thread, which the handler interrupts.
        unsafe { ffi::lua_sethook(state, Some(stop), mask, 1) };
    }
}

/// The hook: it stays set, so that a script which catches the error fails again at once. Where compiled code has just been
/// left, LuaJIT does not know the line, but at one of the next instructions it does. A line of the API says nothing to the
/// script's author.
unsafe extern "C-unwind" fn stop(state: *mut ffi::lua_State, at: *mut ffi::lua_Debug) {
    const MESSAGE: &std::ffi::CStr =
        c"the script used 10 s of CPU time without a statement: check it for an endless loop";
    // SAFETY: a hook may ask where it was called, and raise an error; nothing here needs to be dropped.
    unsafe {
        if ffi::lua_getinfo(state, c"Sl".as_ptr(), at) != 0 && (*at).currentline > 0 {
            let (source, line) = ((*at).short_src.as_ptr(), (*at).currentline);
            if !is_api(std::ffi::CStr::from_ptr(source).to_bytes()) {
                ffi::luaL_error(state, c"%s:%d: %s".as_ptr(), source, line, MESSAGE.as_ptr());
            }
        }
        if !may_wait() {
            ffi::luaL_error(state, c"%s".as_ptr(), MESSAGE.as_ptr());
        }
    }
}

/// Whether the hook may wait for another instruction.
fn may_wait() -> bool {
    // SAFETY: as in `interrupt`.
    let here = unsafe { HERE.with(Cell::get).as_ref() };
    here.is_some_and(|here| {
        // Only this thread changes the number, and the signal handler, which only sets it.
        let left = here.patience.load(Ordering::Relaxed);
        here.patience.store(left.saturating_sub(1), Ordering::Relaxed);
        left > 0
    })
}
