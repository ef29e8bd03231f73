//! Writes results to stdout; a result that could not be written is a failure.

use std::io::{ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use triphammer_report::printable;
use triphammer_settings::failure::Failure;

use crate::Result;

/// Whether the program was started with stdout closed. Rust's runtime replaces it with `/dev/null`
/// before `main`, so this is checked even earlier.
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

/// Refuses to run if the result could not be written to stdout.
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

/// Writes a result, with a final line break and without terminal control sequences. A closed pipe
/// is not an error.
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

/// Converts the outcome of a write to stdout.
///
/// # Errors
/// When the write failed for any reason other than a closed pipe.
pub fn checked(written: std::io::Result<()>) -> Result<()> {
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::System { doing: "writing to stdout".into(), error })
        }
        _ => Ok(()),
    }
}
