//! The full-screen view of a job. The job updates the model on its own thread and never waits for
//! the terminal; another thread reads keys and draws the model when it has changed. The lock on the
//! model is held while cells are filled, not while they are written.

mod campaign;
mod charts;
mod digits;
mod keys;
mod load;
mod model;
mod nodes;
mod palette;
mod table;
mod units;
mod view;

use std::io::{IsTerminal, stdout};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{self, Event as Input};
use triphammer_runner::watch::JobEvent;
use triphammer_settings::failure::Failure;

use self::keys::{Action, Keys};
pub use self::model::Model;
use self::palette::Palette;
use self::view::ViewState;
use crate::{full_screen, signals, terminal};

/// Maximum wait for a key before checking for changes.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// Maximum wait for the view to end, which a terminal that accepts nothing may prevent.
const END_MAX: Duration = Duration::from_secs(2);
/// Number of message lines to look at: more than any terminal has rows.
const MESSAGES_MAX: usize = 100;

/// Checks that there is a terminal for the view and that no other output goes there.
///
/// # Errors
/// With what to do instead.
pub fn refuse(json: bool) -> Result<(), Failure> {
    if json {
        return Err(Failure::refuse(
            "--tui and --json cannot both use the terminal: omit one of them; `triphammer report \
             last --format json` prints the document later",
        ));
    }
    let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb" || term.is_empty());
    if dumb || !std::io::stdin().is_terminal() || !stdout().is_terminal() {
        return Err(Failure::refuse(
            "--tui needs a terminal as stdin and stdout, and a TERM that supports it; without \
             --tui the run prints progress lines; with ssh, use -t to get a terminal",
        ));
    }
    Ok(())
}

/// The view of a run.
#[derive(Debug)]
pub struct Tui {
    model: Arc<Mutex<Model>>,
    thread: Option<JoinHandle<()>>,
    /// Disconnected when the thread ends.
    ended: Receiver<()>,
}

impl Tui {
    /// Starts the view.
    ///
    /// # Errors
    /// When the terminal cannot be switched to the full-screen view.
    pub fn start(model: Model) -> Result<Self, Failure> {
        let failed = |error| Failure::System { doing: "preparing the terminal".into(), error };
        full_screen::enter().map_err(failed)?;
        let model = Arc::new(Mutex::new(model));
        let shown = Arc::clone(&model);
        let (lives, over) = channel();
        let thread = std::thread::Builder::new().name("view".into()).spawn(move || {
            let _lives = lives;
            let ended = show(&shown);
            full_screen::restore();
            if let Err(error) = ended {
                terminal::warn(&format!("the live view stopped: {error}"));
            }
        });
        match thread {
            Ok(thread) => Ok(Self { model, thread: Some(thread), ended: over }),
            Err(error) => {
                full_screen::restore();
                Err(failed(error))
            }
        }
    }

    /// Updates the model from an event of the job.
    pub fn on_event(&self, event: JobEvent<'_>) {
        lock(&self.model).on_event(event);
    }
}

impl Drop for Tui {
    fn drop(&mut self) {
        full_screen::restore();
        if self.ended.recv_timeout(END_MAX) == Err(RecvTimeoutError::Disconnected)
            && let Some(thread) = self.thread.take()
        {
            let _ = thread.join();
        }
    }
}

/// A panic of the view must not affect the run.
fn lock(model: &Mutex<Model>) -> MutexGuard<'_, Model> {
    model.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Draws and reads keys, until the user leaves the view or the terminal disconnects.
fn show(model: &Mutex<Model>) -> std::io::Result<()> {
    let colours = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let palette = Palette::new(colours);
    let mut screen = Terminal::new(CrosstermBackend::new(stdout()))?;
    let (mut keys, mut drawn) = (Keys::default(), None);
    while full_screen::is_up() {
        let messages = terminal::kept(MESSAGES_MAX);
        let news = (lock(model).revision, messages.last().cloned(), keys);
        if drawn.as_ref() != Some(&news) {
            let Some(_writing) = full_screen::writing() else { break };
            screen.draw(|frame| {
                let seen = ViewState { model: &lock(model), messages: &messages, keys, palette };
                view::draw(&seen, frame.area(), frame.buffer_mut());
            })?;
            drawn = Some(news);
        }
        if has_disconnected()? {
            break;
        }
        if !event::poll(Duration::ZERO)? {
            continue;
        }
        match event::read()? {
            Input::Key(key) => match keys.press(key) {
                Action::None => {}
                Action::Stop => signals::drain(),
                Action::Interrupt => signals::received(),
                Action::Abort => signals::abort(),
                Action::Leave => break,
                Action::Change(to) => load::change(to),
            },
            Input::Resize(..) => drawn = None,
            _ => {}
        }
    }
    Ok(())
}

/// Waits for input, at most until it is time to look for changes, and returns whether the terminal
/// has disconnected. Without this, crossterm would read its end again and again.
#[cfg(unix)]
fn has_disconnected() -> std::io::Result<bool> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::io::Errno;

    let stdin = std::io::stdin();
    let mut input = [PollFd::new(&stdin, PollFlags::IN)];
    let most = Timespec::try_from(LOOK_EVERY).expect("a fraction of a second");
    match poll(&mut input, Some(&most)) {
        // The size of the terminal has changed.
        Err(Errno::INTR) => return Ok(false),
        other => other?,
    };
    Ok(input[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL))
}

/// Waits for input, at most until it is time to look for changes.
#[cfg(not(unix))]
fn has_disconnected() -> std::io::Result<bool> {
    event::poll(LOOK_EVERY).map(|_| false)
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    /// Run by `a_panic_gives_the_terminal_back`, on a terminal created by script(1).
    #[test]
    #[ignore = "it panics, and needs a terminal: the test below runs it"]
    fn fill_the_terminal_and_panic() {
        let workload = triphammer_runner::describe("tpc-b").unwrap();
        let model = Model::of_campaign("tpc-b on null:".into(), &workload);
        let _tui = Tui::start(model).unwrap();
        assert!(full_screen::is_up());
        panic!("on purpose");
    }

    #[test]
    fn a_panic_gives_the_terminal_back() {
        let this = std::env::current_exe().unwrap();
        let within = format!(
            "echo before $(stty -g); {} --exact tui::tests::fill_the_terminal_and_panic --ignored \
             --nocapture; echo after $(stty -g)",
            this.display()
        );
        let done = Command::new("script")
            .args(["-q", "-c", &within, "/dev/null"])
            .env("TERM", "xterm")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let all = String::from_utf8_lossy(&done.stdout);
        let set = |name: &str| {
            let line = all.lines().find_map(|line| line.strip_prefix(name));
            line.unwrap_or_else(|| panic!("{name} in {all}")).trim().to_owned()
        };
        assert_eq!(set("before "), set("after "), "{all}");
        let left = all.find("\u{1b}[?1049l").unwrap_or_else(|| panic!("{all}"));
        assert!(all.find("on purpose").is_some_and(|panic| panic > left), "{all}");
    }
}
