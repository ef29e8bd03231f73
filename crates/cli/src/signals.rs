//! Ctrl-C, SIGTERM and SIGHUP: once drains a run, twice aborts it and ends the program soon, a third time at once.
//! Where
//! nothing can be drained (a build, a check), once ends the program: the database rolls back what was
//! open, and a build is resumed by the same command.
//!
//! A terminal that hangs up may say so several times, by the shell and by the kernel, and nobody is there who
//! could be impatient: however often, SIGHUP counts once. Under `nohup` it is not heard at all.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use triphammer_runner::job::Handle;

/// How long the program may take to end after a second Ctrl-C.
const GRACE: Duration = Duration::from_secs(2);

static HEARD: AtomicU32 = AtomicU32::new(0);
static HANDLE: Mutex<Option<Handle>> = Mutex::new(None);
static LAST_WORDS: Mutex<Option<Box<dyn FnOnce() + Send>>> = Mutex::new(None);

/// Begins to listen, on a thread of its own.
pub fn listen() {
    let listening = std::thread::Builder::new().name("signals".into()).spawn(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        if let Ok(runtime) = runtime {
            runtime.block_on(hear());
        }
    });
    if let Err(error) = listening {
        crate::terminal::warn(&format!("Ctrl-C will end the program without a drain: {error}"));
    }
}

/// From now on a signal stops this.
pub fn stops(handle: Handle) {
    *HANDLE.lock().expect("nobody panics with it") = Some(handle);
}

/// What to do before ending at once, such as marking the job interrupted.
pub fn before_exit(words: impl FnOnce() + Send + 'static) {
    *LAST_WORDS.lock().expect("nobody panics with it") = Some(Box::new(words));
}

/// Whether a signal was heard.
pub fn interrupted() -> bool {
    HEARD.load(Ordering::Relaxed) > 0
}

async fn hear() {
    let Some(mut signals) = Signals::listen() else { return };
    while let Some(signal) = signals.next().await {
        match signal {
            Interrupt::Stop => heard(),
            Interrupt::HangUp => drain(),
        }
    }
}

/// What a signal means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interrupt {
    /// Ctrl-C or SIGTERM.
    Stop,
    /// The terminal is gone.
    HangUp,
}

/// Ctrl-C, SIGTERM and SIGHUP.
#[derive(Debug)]
pub struct Signals {
    #[cfg(unix)]
    heard: [tokio::signal::unix::Signal; 2],
    /// `None` under `nohup`.
    #[cfg(unix)]
    hang_up: Option<tokio::signal::unix::Signal>,
}

#[cfg(unix)]
impl Signals {
    /// Begins to listen; `None` when they cannot be heard.
    pub fn listen() -> Option<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let heard = [SignalKind::interrupt(), SignalKind::terminate()].map(signal);
        let [Ok(interrupt), Ok(terminate)] = heard else { return None };
        let hang_up = if hang_up_is_ignored() { None } else { signal(SignalKind::hangup()).ok() };
        Some(Self { heard: [interrupt, terminate], hang_up })
    }

    /// The next one.
    pub async fn next(&mut self) -> Option<Interrupt> {
        let [interrupt, terminate] = &mut self.heard;
        let hang_up = async {
            match &mut self.hang_up {
                Some(signal) => signal.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            heard = interrupt.recv() => heard.map(|()| Interrupt::Stop),
            heard = terminate.recv() => heard.map(|()| Interrupt::Stop),
            heard = hang_up => heard.map(|()| Interrupt::HangUp),
        }
    }
}

/// Whether the program was started with SIGHUP ignored, as `nohup` does. Linux tells; elsewhere it is not.
#[cfg(unix)]
fn hang_up_is_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask & 1 == 1)
}

#[cfg(not(unix))]
impl Signals {
    /// Begins to listen.
    pub fn listen() -> Option<Self> {
        Some(Self {})
    }

    /// The next one.
    pub async fn next(&mut self) -> Option<Interrupt> {
        tokio::signal::ctrl_c().await.ok().map(|()| Interrupt::Stop)
    }
}

/// As the first Ctrl-C, by whatever means it was asked for; nothing when that was heard before.
pub fn drain() {
    if !interrupted() {
        heard();
    }
}

/// As the second Ctrl-C.
pub fn abort() {
    while HEARD.load(Ordering::Relaxed) < 2 {
        heard();
    }
}

/// A Ctrl-C.
pub fn heard() {
    let times = HEARD.fetch_add(1, Ordering::Relaxed) + 1;
    let handle = HANDLE.lock().expect("nobody panics with it").clone();
    match (handle, times) {
        (Some(handle), 1) => {
            crate::terminal::note(
                "stopping: waiting for transactions in flight; Ctrl-C again abandons them",
            );
            handle.stop();
        }
        (Some(handle), 2) => {
            crate::terminal::note("aborting");
            end_soon();
            handle.abort();
        }
        _ => end_now(),
    }
}

/// Ends the program when it has not ended by itself in time: what was given up may be with a server, or a
/// system, that never answers.
pub fn end_soon() {
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
    crate::tui::restore();
    if let Some(words) = LAST_WORDS.lock().expect("nobody panics with it").take() {
        words();
    }
    crate::terminal::note("interrupted");
    std::process::exit(130);
}
