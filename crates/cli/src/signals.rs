//! Ctrl-C and SIGTERM: once drains a run, twice aborts it and ends the program soon, a third time at once. Where
//! nothing can be drained (a build, a check), once ends the program: the database rolls back what was
//! open, and a build is resumed by the same command.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use triphammer_core::engine::Stopper;
use triphammer_runner::campaign;

/// How long the program may take to end after a second Ctrl-C.
const GRACE: Duration = Duration::from_secs(2);

static HEARD: AtomicU32 = AtomicU32::new(0);
static STOPPER: Mutex<Option<Stops>> = Mutex::new(None);
static LAST_WORDS: Mutex<Option<Box<dyn FnOnce() + Send>>> = Mutex::new(None);

/// What a signal stops.
#[derive(Clone, Debug)]
pub enum Stops {
    /// A run.
    Run(Stopper),
    /// The run of a sequence, and those that would follow.
    Campaign(campaign::Stopper),
}

impl Stops {
    fn stop(&self) {
        match self {
            Self::Run(stopper) => stopper.stop(),
            Self::Campaign(stopper) => stopper.stop(),
        }
    }

    fn abort(&self) {
        match self {
            Self::Run(stopper) => stopper.abort(),
            Self::Campaign(stopper) => stopper.abort(),
        }
    }
}

/// Begins to listen, on a thread of its own.
pub fn listen() {
    let listening = std::thread::Builder::new().name("signals".into()).spawn(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        if let Ok(runtime) = runtime {
            runtime.block_on(hear());
        }
    });
    if let Err(error) = listening {
        crate::terminal::warn(&format!("Ctrl-C will not drain: {error}"));
    }
}

/// From now on a signal stops this.
pub fn stops(stops: Stops) {
    *STOPPER.lock().expect("nobody panics with it") = Some(stops);
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
    while signals.next().await.is_some() {
        heard();
    }
}

/// Ctrl-C and SIGTERM.
#[derive(Debug)]
pub struct Signals {
    #[cfg(unix)]
    heard: [tokio::signal::unix::Signal; 2],
}

#[cfg(unix)]
impl Signals {
    /// Begins to listen; `None` when they cannot be heard.
    pub fn listen() -> Option<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let heard = [SignalKind::interrupt(), SignalKind::terminate()].map(signal);
        let [Ok(interrupt), Ok(terminate)] = heard else { return None };
        Some(Self { heard: [interrupt, terminate] })
    }

    /// The next one.
    pub async fn next(&mut self) -> Option<()> {
        let [interrupt, terminate] = &mut self.heard;
        tokio::select! {
            heard = interrupt.recv() => heard,
            heard = terminate.recv() => heard,
        }
    }
}

#[cfg(not(unix))]
impl Signals {
    /// Begins to listen.
    pub fn listen() -> Option<Self> {
        Some(Self {})
    }

    /// The next one.
    pub async fn next(&mut self) -> Option<()> {
        tokio::signal::ctrl_c().await.ok()
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
    let stopper = STOPPER.lock().expect("nobody panics with it").clone();
    match (stopper, times) {
        (Some(stopper), 1) => {
            crate::terminal::note(
                "stopping: transactions in flight end; Ctrl-C again gives them up",
            );
            stopper.stop();
        }
        (Some(stopper), 2) => {
            crate::terminal::note("aborting");
            end_soon();
            stopper.abort();
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
