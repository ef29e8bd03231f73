//! Files that users name in settings: passwords, job files, steps, certificates, databases,
//! libraries, outputs. Only a regular file of a plausible size is read: a device would fill the
//! memory, and a pipe would keep the reader waiting. What other libraries open by its path is
//! [examined](check_regular) first, and an output waits for no reader.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

/// Maximum size of a file with settings, in bytes.
pub const SETTINGS_BYTES_MAX: u64 = 64 * 1024;
/// Maximum size of a file with certificates, in bytes: the bundles of operating systems have about
/// 200 KiB.
pub const CERTIFICATES_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Reads a text of at most `most` bytes from a regular file.
///
/// # Errors
/// As the system reports, and when the path is not a regular file, is too long, or is not UTF-8.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    let refuse = |why: String| io::Error::new(io::ErrorKind::InvalidData, why);
    String::from_utf8(read(path, most)?).map_err(|_| refuse("not UTF-8 text".to_owned()))
}

/// Reads at most `most` bytes from a regular file.
///
/// # Errors
/// As the system reports, and when the path is not a regular file or is too long.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let why = format!("longer than {} KiB", most / 1024);
        return Err(io::Error::new(io::ErrorKind::InvalidData, why));
    }
    Ok(bytes)
}

/// Opens a regular file of any size for reading.
///
/// # Errors
/// As the system reports, and when the path is not a regular file.
pub fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let opened = at_once(options.read(true)).open(path);
    #[cfg(unix)]
    let opened = opened.map_err(|error| match error.raw_os_error() {
        // A socket.
        Some(code) if code == rustix::io::Errno::NXIO.raw_os_error() => irregular(),
        _ => error,
    });
    let file = opened?;
    // Reads the metadata of the open file, since its name may refer to another one by now.
    if file.metadata()?.is_file() { Ok(file) } else { Err(irregular()) }
}

/// Rejects a path that another library is to open and that exists, but not as a regular file.
///
/// # Errors
/// When it is a folder, device, pipe or socket.
pub fn check_regular(path: &Path) -> io::Result<()> {
    match std::fs::metadata(path) {
        Ok(facts) if !facts.is_file() => Err(irregular()),
        _ => Ok(()),
    }
}

/// What SQLite and DuckDB append to a database's name for the files that they open beside it.
const BESIDE_DATABASE: [&str; 4] = ["-journal", "-wal", "-shm", ".wal"];

/// Rejects a database's file, and those beside it, which its library is to open, as [`check_regular`].
///
/// # Errors
/// When one of them is a folder, device, pipe or socket.
pub fn check_database(path: &Path) -> io::Result<()> {
    check_regular(path)?;
    for ending in BESIDE_DATABASE {
        let mut beside = path.as_os_str().to_owned();
        beside.push(ending);
        check_regular(Path::new(&beside)).map_err(|error| {
            io::Error::new(
                error.kind(),
                format!("the file of the same name and {ending} is {error}"),
            )
        })?;
    }
    Ok(())
}

/// Creates an empty file for output, or empties it. A pipe that a program reads is a valid output,
/// as are devices.
///
/// # Errors
/// As the system reports, and at once when nobody reads the pipe.
pub fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    let file = at_once(&mut options).open(path);
    #[cfg(unix)]
    {
        use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
        use std::os::unix::fs::FileTypeExt as _;
        let is_pipe = || std::fs::metadata(path).is_ok_and(|facts| facts.file_type().is_fifo());
        let no_reader = rustix::io::Errno::NXIO.raw_os_error();
        if file.as_ref().is_err_and(|e| e.raw_os_error() == Some(no_reader)) && is_pipe() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a pipe that nobody reads"));
        }
        let file = file?;
        // Only the opening must not wait.
        fcntl_setfl(&file, fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
        Ok(file)
    }
    #[cfg(not(unix))]
    file
}

fn irregular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "not a regular file")
}

/// Makes opening not wait: a pipe without a partner opens, or fails, at once.
fn at_once(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    }
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONBLOCK: rustix::fs::OFlags = rustix::fs::OFlags::NONBLOCK;

    #[test]
    fn only_short_regular_files_are_read() {
        let folder = std::env::temp_dir().join(format!("triphammer-small-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = |name: &str, bytes: &[u8]| {
            let path = folder.join(name);
            std::fs::write(&path, bytes).unwrap();
            path
        };
        let most = SETTINGS_BYTES_MAX;
        let fits = file("fits", &vec![b'x'; usize::try_from(most).unwrap()]);
        assert_eq!(read_text(&fits, most).unwrap().len() as u64, most);
        let long = file("long", &vec![b'x'; usize::try_from(most).unwrap() + 1]);
        let refusal = |path: &Path| read_text(path, most).unwrap_err().to_string();
        assert_eq!(refusal(&long), "longer than 64 KiB");
        assert_eq!(refusal(&file("raw", &[0xff])), "not UTF-8 text");
        assert_eq!(refusal(&folder), "not a regular file");
        if cfg!(unix) {
            assert_eq!(refusal(Path::new("/dev/zero")), "not a regular file");
            let pipe = folder.join("pipe");
            let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
            assert!(made.success());
            assert_eq!(refusal(&pipe), "not a regular file", "and nobody waits for a writer");
            let refusal = |path: &Path| check_regular(path).unwrap_err().to_string();
            for path in [pipe.as_path(), &folder, Path::new("/dev/zero")] {
                assert_eq!(refusal(path), "not a regular file");
            }
            std::fs::rename(&pipe, folder.join("fits-journal")).unwrap();
            assert_eq!(
                check_database(&fits).unwrap_err().to_string(),
                "the file of the same name and -journal is not a regular file"
            );
            std::fs::rename(folder.join("fits-journal"), &pipe).unwrap();
            check_database(&fits).unwrap();
            assert_eq!(create(&pipe).unwrap_err().to_string(), "a pipe that nobody reads");
            // With a reader it is an output, and waits for space in the pipe.
            let reader = File::options().read(true).write(true).open(&pipe).unwrap();
            let output = create(&pipe).unwrap();
            assert!(!rustix::fs::fcntl_getfl(&output).unwrap().contains(NONBLOCK));
            drop(reader);
        }
        check_regular(&fits).unwrap();
        check_regular(&folder.join("absent")).unwrap();
        create(&fits).unwrap();
        assert_eq!(std::fs::metadata(&fits).unwrap().len(), 0);
        assert!(create(&folder).is_err());
        assert!(read(&folder.join("absent"), most).is_err());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
