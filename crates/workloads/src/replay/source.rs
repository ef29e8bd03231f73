//! The file of a recording. It may be large, so it is read once per process, and jobs keep its hash
//! rather than its text.

use std::io::{BufReader, Read as _};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use sha2::{Digest as _, Sha256};
use triphammer_capture::recording::{RECORDING_BYTES_MAX, Recording, read};
use triphammer_core::SpecError;
use triphammer_core::small_file::open;

use super::workload::RECORDING;

/// What tells whether a file is the one that was read.
type Version = (String, u64, Option<SystemTime>);

/// The recording that was read last.
static LAST: Mutex<Option<(Version, Arc<Recording>)>> = Mutex::new(None);

fn wrong(file: &str, why: impl std::fmt::Display) -> SpecError {
    let message = format!(
        "cannot read the recording {file}: {why}; `triphammer capture LOG -o FILE.recording` makes \
         recordings"
    );
    SpecError::new(message).about(&RECORDING.name)
}

/// Reads a recording.
///
/// # Errors
/// When the file cannot be read, is too long or is not a recording.
pub fn load(file: &str) -> Result<Arc<Recording>, SpecError> {
    let source = open(Path::new(file)).map_err(|error| wrong(file, error))?;
    let facts = source.metadata().map_err(|error| wrong(file, error))?;
    if facts.len() > RECORDING_BYTES_MAX {
        let most = RECORDING_BYTES_MAX / 1024 / 1024;
        return Err(wrong(file, format!("longer than {most} MiB: capture a shorter log")));
    }
    let version = (file.to_owned(), facts.len(), facts.modified().ok());
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((known, recording)) = &*last
        && *known == version
    {
        return Ok(Arc::clone(recording));
    }
    let recording = read(BufReader::with_capacity(1 << 16, source));
    let recording = Arc::new(recording.map_err(|why| wrong(file, why))?);
    *last = Some((version, Arc::clone(&recording)));
    Ok(recording)
}

/// SHA-256 of a file, in hexadecimal digits.
///
/// # Errors
/// As the system reports.
pub fn hash(file: &str) -> Result<String, SpecError> {
    let mut source = open(Path::new(file)).map_err(|error| wrong(file, error))?;
    let (mut digest, mut buffer) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        let length = source.read(&mut buffer).map_err(|error| wrong(file, error))?;
        if length == 0 {
            break;
        }
        digest.update(&buffer[..length]);
    }
    Ok(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}
