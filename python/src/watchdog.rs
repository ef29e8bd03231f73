//! Ends code that runs on without a statement. One thread of the process looks at the threads that run code of users,
//! and raises an exception in one that has been in the same call for too long. Python raises it before the next
//! instruction of that thread: what waits in C, such as `time.sleep`, is ended when it returns.

#![expect(unsafe_code, reason = "Python's interface to raise an exception in another thread")]

use std::ffi::c_ulong;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use pyo3::prelude::*;

/// Time between two looks at the threads.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Looks after which a call is ended: 10 s.
const LOOKS_MAX: u32 = 20;

/// A thread that runs code.
struct Watched {
    /// Its number in Python.
    thread: c_ulong,
    /// Rises when code is entered and when it is left: odd within it. Changed only with the interpreter's lock.
    calls: AtomicU64,
}

/// A call that was going on at the last look, and at how many before.
struct OngoingCall {
    place: *const Watched,
    call: u64,
    looks: u32,
}

thread_local! {
    static HERE: OnceLock<Arc<Watched>> = const { OnceLock::new() };
}

/// Runs code of the user, with the interpreter's lock.
pub fn watched<T>(py: Python<'_>, call: impl FnOnce() -> T) -> T {
    HERE.with(|here| {
        let here = here.get_or_init(|| begin(py));
        here.calls.fetch_add(1, Ordering::Relaxed);
        let result = call();
        here.calls.fetch_add(1, Ordering::Relaxed);
        result
    })
}

type All = Mutex<Vec<Weak<Watched>>>;

fn list(all: &All) -> MutexGuard<'_, Vec<Weak<Watched>>> {
    all.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds this thread to those that are looked at; starts the watcher for the first one.
fn begin(py: Python<'_>) -> Arc<Watched> {
    static ALL: OnceLock<All> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        std::thread::Builder::new()
            .name("python-watchdog".into())
            .spawn(|| look(ALL.wait()))
            .expect("a process that runs code can start one more thread");
        Mutex::default()
    });
    let ident = py.import("threading").and_then(|threading| threading.call_method0("get_ident"));
    let thread = ident.and_then(|ident| ident.extract()).unwrap_or_default();
    let watched = Arc::new(Watched { thread, calls: AtomicU64::new(0) });
    list(all).push(Arc::downgrade(&watched));
    watched
}

/// Looks at all threads, for as long as the process lasts.
fn look(all: &All) {
    let mut seen: Vec<OngoingCall> = Vec::new();
    loop {
        std::thread::park_timeout(LOOK_EVERY);
        let threads: Vec<_> = {
            let mut all = list(all);
            all.retain(|one| one.strong_count() > 0);
            all.iter().filter_map(Weak::upgrade).collect()
        };
        let mut now = Vec::new();
        for one in &threads {
            let (place, call) = (Arc::as_ptr(one), one.calls.load(Ordering::Relaxed));
            if call % 2 == 0 {
                continue;
            }
            let before = seen.iter().find(|seen| seen.place == place && seen.call == call);
            let looks = before.map_or(0, |seen| seen.looks + 1);
            if looks >= LOOKS_MAX {
                end(one, call);
            }
            now.push(OngoingCall { place, call, looks });
        }
        seen = now;
    }
}

/// Raises an exception in a thread, if it is still in this call.
fn end(one: &Watched, call: u64) {
    // Not while the interpreter ends.
    Python::try_attach(|py| {
        if one.calls.load(Ordering::Relaxed) != call {
            return;
        }
        let class = py.import("triphammer._workload").and_then(|own| own.getattr("TimeLimit"));
        if let Ok(class) = class {
            // SAFETY: the lock is held; a thread that has ended meanwhile is not found.
            unsafe {
                pyo3::ffi::PyThreadState_SetAsyncExc(one.thread.cast_signed(), class.as_ptr())
            };
        }
    });
}
