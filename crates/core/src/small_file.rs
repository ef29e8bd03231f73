//! Files that users name in settings: passwords, job files, steps, certificates. Only a regular
//! file of a plausible size is read: a device would fill the memory, and a pipe would keep the
//! reader waiting.

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
    let refuse = |why: String| Err(io::Error::new(io::ErrorKind::InvalidData, why));
    let file = open(path)?;
    // Reads the metadata of the open file, since its name may refer to another one by now.
    let facts = file.metadata()?;
    if !facts.is_file() {
        return refuse("not a regular file".to_owned());
    }
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return refuse(format!("longer than {} KiB", most / 1024));
    }
    Ok(bytes)
}

/// Opens a file without waiting: a pipe without a writer opens at once.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    }
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        }
        assert!(read(&folder.join("absent"), most).is_err());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
