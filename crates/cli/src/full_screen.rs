//! Switches the terminal to a full-screen view and back. What is shown there is left to `tui`.

use std::io::stdout;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};

use crate::terminal;

/// Whether the view is shown.
static UP: AtomicBool = AtomicBool::new(false);
/// Held while cells are written.
static WRITING: Mutex<()> = Mutex::new(());

/// Switches to the full screen. If that fails, the terminal is as before.
pub fn enter() -> std::io::Result<()> {
    restore_after_panic();
    terminal::keep();
    UP.store(true, Ordering::SeqCst);
    let entered = enable_raw_mode().and_then(|()| execute!(stdout(), EnterAlternateScreen));
    if entered.is_err() {
        restore();
    }
    entered
}

/// Whether the view is still shown.
pub fn is_up() -> bool {
    UP.load(Ordering::SeqCst)
}

/// The lock under which cells are written; `None` if the view is no longer shown.
pub fn writing() -> Option<MutexGuard<'static, ()>> {
    let writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    is_up().then_some(writing)
}

/// Restores the terminal, at the end, after a panic or on a signal. Only the first call has an
/// effect.
pub fn restore() {
    if !UP.swap(false, Ordering::SeqCst) {
        return;
    }
    // A started write may finish, but a terminal that accepts nothing must not block.
    let _written = (0..20).find_map(|_| {
        let free = WRITING.try_lock().ok();
        if free.is_none() {
            std::thread::sleep(Duration::from_millis(10));
        }
        free
    });
    let _ = disable_raw_mode();
    let _ = execute!(stdout(), LeaveAlternateScreen, Show);
    terminal::release();
}

fn restore_after_panic() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        restore();
        before(panic);
    }));
}
