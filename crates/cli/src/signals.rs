//! Ctrl-C, SIGTERM and SIGHUP: the first signal drains a run, the second aborts it and ends the
//! program soon, the third ends it at once. If nothing can be drained (a build, a check), the first
//! signal ends the program: the database rolls back open transactions, and the same command resumes
//! a build. A server drains and aborts its jobs in the same way; until it serves, and while a command
//! still reads its settings, the first signal ends the program.
//!
//! A terminal that hangs up may send SIGHUP several times, from the shell and from the kernel, so
//! SIGHUP counts only once. Under `nohup` it is ignored.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tokio::sync::watch;
use triphammer_settings::handle::Handle;

/// Maximum time for the program to end after a second Ctrl-C.
const GRACE: Duration = Duration::from_secs(2);

static HEARD: AtomicU32 = AtomicU32::new(0);
/// What a signal stops.
static STOPPED: Mutex<Option<Stopped>> = Mutex::new(None);
static LAST_WORDS: Mutex<Option<Box<dyn FnOnce() + Send>>> = Mutex::new(None);

/// What a signal stops.
#[derive(Clone)]
enum Stopped {
    /// A job, and the message that the user gets.
    Job(Handle, &'static str),
    /// A server, which is told the number of signals.
    Server(watch::Sender<u32>),
}

/// Starts to listen for signals, on a separate thread; returns when it listens.
pub fn listen() {
    let (ready, listens) = std::sync::mpsc::channel();
    let listening = std::thread::Builder::new().name("signals".into()).spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        if let Ok(runtime) = runtime {
            runtime.block_on(on_event(ready));
        }
    });
    match listening {
        // It fails if the thread has ended, which listens to nothing.
        Ok(_) => drop(listens.recv()),
        Err(error) => {
            let message = format!("Ctrl-C will end the program without a drain: {error}");
            crate::terminal::warn(&message);
        }
    }
}

/// Registers the job that a signal stops, and the message of the first signal.
pub fn stops(handle: Handle, stopping: &'static str) {
    stop_at_signal(Stopped::Job(handle, stopping));
}

/// The job that a signal stops.
pub fn job() -> Option<Handle> {
    match STOPPED.lock().expect("no thread panics while it holds the lock").as_ref()? {
        Stopped::Job(handle, _) => Some(handle.clone()),
        Stopped::Server(_) => None,
    }
}

/// Registers a server, which gets the number of signals that were received.
pub fn serves(count: watch::Sender<u32>) {
    stop_at_signal(Stopped::Server(count));
}

fn stop_at_signal(stopped: Stopped) {
    *STOPPED.lock().expect("no thread panics while it holds the lock") = Some(stopped);
}

/// Registers the last action before an immediate exit, such as marking the job as interrupted.
pub fn before_exit(words: impl FnOnce() + Send + 'static) {
    *LAST_WORDS.lock().expect("no thread panics while it holds the lock") = Some(Box::new(words));
}

/// Whether a signal was received.
pub fn interrupted() -> bool {
    HEARD.load(Ordering::Relaxed) > 0
}

async fn on_event(ready: std::sync::mpsc::Sender<()>) {
    let Some(mut signals) = Signals::listen() else { return };
    drop(ready);
    while let Some(signal) = signals.next().await {
        match signal {
            Interrupt::Stop => received(),
            Interrupt::HangUp => drain(),
        }
    }
}

/// Meaning of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Interrupt {
    /// Ctrl-C or SIGTERM was received.
    Stop,
    /// The terminal has disconnected.
    HangUp,
}

/// Ctrl-C, SIGTERM and SIGHUP.
#[derive(Debug)]
struct Signals {
    #[cfg(unix)]
    received: [tokio::signal::unix::Signal; 2],
    /// Receives SIGHUP; `None` under `nohup`.
    #[cfg(unix)]
    hang_up: Option<tokio::signal::unix::Signal>,
}

#[cfg(unix)]
impl Signals {
    /// Starts to listen; `None` if the handlers cannot be installed.
    fn listen() -> Option<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let received = [SignalKind::interrupt(), SignalKind::terminate()].map(signal);
        let [Ok(interrupt), Ok(terminate)] = received else { return None };
        let hang_up = if hang_up_is_ignored() { None } else { signal(SignalKind::hangup()).ok() };
        Some(Self { received: [interrupt, terminate], hang_up })
    }

    /// Waits for the next signal; `None` if no more can be received.
    async fn next(&mut self) -> Option<Interrupt> {
        let [interrupt, terminate] = &mut self.received;
        let hang_up = async {
            match &mut self.hang_up {
                Some(signal) => signal.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            received = interrupt.recv() => received.map(|()| Interrupt::Stop),
            received = terminate.recv() => received.map(|()| Interrupt::Stop),
            received = hang_up => received.map(|()| Interrupt::HangUp),
        }
    }
}

/// Whether the program was started with SIGHUP ignored, as `nohup` does. Only known on Linux;
/// elsewhere false.
#[cfg(unix)]
fn hang_up_is_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask & 1 == 1)
}

#[cfg(not(unix))]
impl Signals {
    /// Starts to listen for Ctrl-C.
    fn listen() -> Option<Self> {
        Some(Self {})
    }

    /// Waits for the next signal; `None` if no more can be received.
    async fn next(&mut self) -> Option<Interrupt> {
        tokio::signal::ctrl_c().await.ok().map(|()| Interrupt::Stop)
    }
}

/// Acts like the first Ctrl-C; does nothing if one was already received.
pub fn drain() {
    if !interrupted() {
        received();
    }
}

/// Acts like the second Ctrl-C; does nothing if two were already received. There is no stop before
/// it: a short run would end by that one, and never be aborted.
pub fn abort() {
    if HEARD.fetch_max(2, Ordering::Relaxed) < 2 {
        act(2);
    }
}

/// Handles one Ctrl-C: stop, then abort, then exit.
pub fn received() {
    act(HEARD.fetch_add(1, Ordering::Relaxed) + 1);
}

/// Does what the first, the second, or a later signal does.
fn act(times: u32) {
    let stopped = STOPPED.lock().expect("no thread panics while it holds the lock").clone();
    match (stopped, times) {
        (Some(Stopped::Job(handle, stopping)), 1) => {
            crate::terminal::note(stopping);
            handle.stop();
        }
        (Some(Stopped::Job(handle, _)), 2) => {
            crate::terminal::note("aborting");
            end_soon();
            handle.abort();
        }
        (Some(Stopped::Server(count)), 1 | 2) => {
            crate::terminal::note(if times == 1 {
                "shutting down: running jobs are stopped and stored; Ctrl-C again aborts them"
            } else {
                end_soon();
                "aborting the running jobs"
            });
            count.send_replace(times);
        }
        _ => end_now(),
    }
}

/// Ends the program if it does not end in time: an abandoned call may wait for a server or system
/// that never answers.
fn end_soon() {
    let ending = std::thread::Builder::new().name("ending".into()).spawn(|| {
        std::thread::sleep(GRACE);
        end_now();
    });
    if ending.is_err() {
        end_now();
    }
}

#[expect(clippy::exit, reason = "the person at the terminal wants out, and nothing can be drained")]
fn end_now() {
    crate::full_screen::restore();
    if let Some(words) = LAST_WORDS.lock().expect("no thread panics while it holds the lock").take()
    {
        words();
    }
    crate::terminal::note("interrupted");
    std::process::exit(130);
}
