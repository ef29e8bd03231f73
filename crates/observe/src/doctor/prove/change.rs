//! Changes a setting of this host between the runs of a comparison, and restores it at the end: also
//! when a run fails, at Ctrl-C, and when this process is killed. For that, a shell waits for the end
//! of a pipe of this process; if it is killed, too, the journal remains.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::Child;

use triphammer_core::SpecError;
use triphammer_settings::Settings;
use triphammer_settings::cancel::Cancel;
use triphammer_settings::failure::Failure;
use triphammer_settings::target::Target;

use super::journal::{Journal, restore, write};
use super::{Found, NOW, Proof, examined};

/// A setting of this host that is being changed.
#[derive(Debug)]
pub struct HostChange {
    check: &'static str,
    originals: Vec<(PathBuf, String)>,
    /// What the files contain on A and on B.
    values: [Vec<String>; 2],
    journal: Journal,
    guard: Option<Child>,
    is_restored: bool,
}

impl HostChange {
    /// Prepares the change, and tries each value once.
    ///
    /// # Errors
    /// When the setting cannot be changed here, or the server of the target runs on another host.
    pub fn begin(
        settings: &Settings,
        target: &Target,
        proof: &Proof,
        cancel: &Cancel,
    ) -> Result<Self, Failure> {
        let facts = examined(settings, target, cancel)?;
        let found = Found::find(&facts, &proof.check)?;
        Self::of(&found, proof).map_err(|why| {
            let message = format!("{} cannot be changed: {why}", proof.check);
            SpecError::new(message).about("prove").into()
        })
    }

    pub(super) fn of(found: &Found, proof: &Proof) -> Result<Self, String> {
        let mut originals = Vec::new();
        for (file, value) in &found.files {
            let path = found.root.path(file);
            let real = path.canonicalize().and_then(|real| {
                File::options().write(true).open(&real)?;
                Ok(real)
            });
            originals.push((real.map_err(|error| unwritable(&path, &error))?, value.clone()));
        }
        let of_side = |value: &str| {
            let raw = |(file, now): &(String, String)| match value {
                NOW => now.clone(),
                value => found.raw(file, value),
            };
            found.files.iter().map(raw).collect::<Vec<String>>()
        };
        let values = [0, 1].map(|side: usize| of_side(&proof.values[side]));
        let journal = Journal::create(&found.root, found.check, &originals)?;
        let guard = guard(&journal);
        let is_restored = false;
        let check = found.check;
        let made = Self { check, originals, values, journal, guard, is_restored };
        // If this fails, what is dropped restores what was changed.
        made.apply(1)?;
        made.apply(0)?;
        Ok(made)
    }

    /// Gives the setting the value of A (0) or of B (1).
    ///
    /// # Errors
    /// Why the kernel does not take it.
    pub fn apply(&self, side: usize) -> Result<(), String> {
        let paths = self.originals.iter().map(|(path, _)| path);
        paths.zip(&self.values[side]).try_for_each(|(path, value)| write(path, value))
    }

    /// Restores the setting; returns what was restored, in a sentence.
    ///
    /// # Errors
    /// The files that could not be restored, and how to.
    pub fn end(mut self) -> Result<String, String> {
        let check = self.check;
        self.restore().map_err(|why| {
            format!("{check} is not restored: {why}; triphammer doctor --restore-host tries again")
        })?;
        Ok(format!("{check} is restored"))
    }

    fn restore(&mut self) -> Result<(), String> {
        self.is_restored = true;
        let restored = restore(&self.originals);
        if let Some(mut guard) = self.guard.take() {
            // An answer, and not only the end of the pipe: there is nothing to do.
            let answered = guard.stdin.take().map(|mut pipe| pipe.write_all(b"done\n"));
            drop(answered);
            let _ = guard.wait();
        }
        restored?;
        self.journal.remove().map_err(|error| error.to_string())
    }
}

impl Drop for HostChange {
    fn drop(&mut self) {
        if !self.is_restored {
            // The journal remains if it fails.
            let _ = self.restore();
        }
    }
}

fn unwritable(path: &std::path::Path, error: &io::Error) -> String {
    let hint = match error.kind() {
        io::ErrorKind::PermissionDenied => ": run as root",
        io::ErrorKind::ReadOnlyFilesystem => {
            ": a container may not change its host; run on the host"
        }
        _ => "",
    };
    format!("{} is not writable ({error}){hint}", path.display())
}

/// Restores what the journal has if the pipe ends without an answer.
#[cfg(unix)]
const GUARD: &str = "read -r answer || {
  done=1
  while IFS=\"$(printf '\\t')\" read -r path value; do
    case \"$path\" in /*) printf '%s\\n' \"$value\" > \"$path\" || done=0 ;; esac
  done < \"$1\"
  [ \"$done\" = 1 ] && rm -f \"$1\"
}";

/// Starts the shell that restores the setting if this process is killed; `None` if there is no shell.
#[cfg(unix)]
fn guard(journal: &Journal) -> Option<Child> {
    use std::os::unix::process::CommandExt as _;
    use std::process::{Command, Stdio};
    let mut shell = Command::new("sh");
    shell.args(["-c", GUARD, "sh"]).arg(journal.path());
    // A group of its own: Ctrl-C at the terminal is not for it.
    shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    shell.spawn().ok()
}

#[cfg(not(unix))]
fn guard(_: &Journal) -> Option<Child> {
    None
}
