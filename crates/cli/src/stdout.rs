//! Writing results to stdout, so that one that could not be written is no success.

use std::io::{ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use triphammer_runner::Failure;
use triphammer_runner::report::printable;

use crate::Result;

/// Whether the program was started without a stdout. Rust's runtime puts `/dev/null` in its place before
/// `main`, so this is looked for before that.
static CLOSED: AtomicBool = AtomicBool::new(false);

#[cfg(target_os = "linux")]
extern "C" fn look() {
    let is_open = std::fs::symlink_metadata("/proc/self/fd/1").is_ok();
    let is_known = is_open || std::fs::symlink_metadata("/proc/self/fd").is_ok();
    CLOSED.store(is_known && !is_open, Ordering::Relaxed);
}

#[cfg(target_os = "linux")]
#[used]
#[expect(
    unsafe_code,
    reason = "nothing else runs before Rust's runtime; it reads one file's metadata"
)]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

/// Refuses to work for a result that nobody could get.
///
/// # Errors
/// When stdout is closed.
pub fn refuse_closed() -> Result<()> {
    if CLOSED.load(Ordering::Relaxed) {
        return Err(Failure::refuse(
            "stdout is closed, so the result could not be written; redirect it to a file or /dev/null",
        ));
    }
    Ok(())
}

/// Writes a result, with a line break at its end and without what would steer the terminal. A reader that has gone
/// away is no error of ours.
///
/// # Errors
/// When it cannot be written.
pub fn print(text: &str) -> Result<()> {
    let text = printable(text);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    let mut out = std::io::stdout().lock();
    let written = out.write_all(text.as_bytes());
    checked(written.and_then(|()| out.write_all(end.as_bytes())).and_then(|()| out.flush()))
}

/// What became of a write to stdout.
///
/// # Errors
/// When it failed, but for a reader that has gone away.
pub fn checked(written: std::io::Result<()>) -> Result<()> {
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::System { doing: "writing to stdout".into(), error })
        }
        _ => Ok(()),
    }
}
