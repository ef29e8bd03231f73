//! The folder of a site. It is filled beside its place, and moved there when it is complete; an
//! existing folder is replaced only if everything in it was written here.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tempfile::TempDir;
use triphammer_core::small_file::read_text;
use triphammer_settings::failure::Failure;

/// File that lists everything in a site: a folder with it is one.
pub(crate) const MARKER: &str = ".triphammer-board";
/// Longest list that is read, in bytes.
const MARKER_BYTES_MAX: u64 = 16 << 20;
/// First line of the list.
const HEAD: &str = "# Written by triphammer board, which replaces this folder: its files.";
/// Beginning of the names of unfinished sites.
const UNFINISHED: &str = ".triphammer-board-";

/// A site that is being built.
#[derive(Debug)]
pub(crate) struct Site {
    /// Where it will be.
    place: PathBuf,
    /// Where it is built; removed unless it is published.
    built: TempDir,
    files: Mutex<BTreeSet<String>>,
}

impl Site {
    /// Begins a site that will be in this folder.
    ///
    /// # Errors
    /// When something else is there, or nothing can be written beside it.
    pub(crate) fn begin(place: &Path) -> Result<Self, Failure> {
        // A link stays a link.
        let place = place.canonicalize().unwrap_or_else(|_| place.to_owned());
        check(&place)?;
        let parent = match place.parent() {
            Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
            Some(parent) => parent,
            None => return Err(Failure::refuse(format!("{} cannot be a site", place.display()))),
        };
        let doing = || format!("creating a folder beside {}", place.display());
        let built = tempfile::Builder::new().prefix(UNFINISHED).tempdir_in(parent);
        let built = built.map_err(|error| Failure::System { doing: doing(), error })?;
        Ok(Self { place, built, files: Mutex::default() })
    }

    /// Writes a file; its folders are created.
    ///
    /// # Errors
    /// When there is no room.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> Result<(), Failure> {
        let path = self.path(name)?;
        std::fs::write(&path, content).map_err(|error| failed(&path, error))
    }

    fn path(&self, name: &str) -> Result<PathBuf, Failure> {
        let path = self.built.path().join(name);
        let folder = path.parent().expect("a file lies in a folder");
        std::fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
        let mut files = self.files.lock().expect("no thread panics while it holds the lock");
        files.insert(name.to_owned());
        Ok(path)
    }

    /// Moves the site to its place. What was there is removed afterwards.
    ///
    /// # Errors
    /// When something else is there by now, or it cannot be moved; then the place is as it was.
    pub(crate) fn publish(self) -> Result<(), Failure> {
        let names: String = {
            let files = self.files.lock().expect("no thread panics while it holds the lock");
            files.iter().map(|name| format!("{name}\n")).collect()
        };
        self.write(MARKER, format!("{HEAD}\n{names}"))?;
        check(&self.place)?;
        let built = self.built.path();
        readable(built).map_err(|error| failed(built, error))?;
        if !self.place.exists() {
            std::fs::rename(built, &self.place).map_err(|error| failed(&self.place, error))?;
            let _ = self.built.keep();
            return Ok(());
        }
        // Afterwards the old site is where the new one was built, and is removed as that.
        swap(built, &self.place).map_err(|error| failed(&self.place, error))
    }
}

/// A temporary folder is its owner's only; a site is for everyone, as far as the umask of files says.
fn readable(folder: &Path) -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let of_file = std::fs::metadata(folder.join(MARKER))?.permissions().mode();
        let readers = of_file & 0o444;
        let mode = 0o700 | readers | readers >> 2;
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(mode))?;
    }
    Ok(())
}

/// Exchanges two folders; at once where the system can do that.
fn swap(new: &Path, old: &Path) -> std::io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        match renameat_with(CWD, new, CWD, old, RenameFlags::EXCHANGE) {
            Ok(()) => return Ok(()),
            // The file system cannot.
            Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let aside = new.with_extension("old");
    std::fs::rename(old, &aside)?;
    if let Err(error) = std::fs::rename(new, old) {
        std::fs::rename(&aside, old)?;
        return Err(error);
    }
    std::fs::rename(&aside, new)
}

/// Refuses a place that has anything that was not written here.
fn check(place: &Path) -> Result<(), Failure> {
    let Ok(about) = std::fs::symlink_metadata(place) else { return Ok(()) };
    let shown = place.display();
    if !about.is_dir() {
        let message = format!("{shown} exists and is not a folder: name another site");
        return Err(Failure::refuse(message));
    }
    let mut listed = BTreeSet::new();
    let marker = place.join(MARKER);
    if std::fs::symlink_metadata(&marker).is_ok() {
        let list = read_text(&marker, MARKER_BYTES_MAX).map_err(|error| failed(&marker, error))?;
        let mut lines = list.lines();
        if lines.next() == Some(HEAD) {
            listed = lines.map(str::to_owned).collect();
            listed.insert(MARKER.to_owned());
        }
    }
    match foreign(place, "", &listed).map_err(|error| failed(place, error))? {
        None => Ok(()),
        Some(name) => Err(Failure::refuse(format!(
            "{shown} has {name}, which `triphammer board` did not write, so it is not replaced: \
             name another folder, or move that file away"
        ))),
    }
}

/// A file that is not listed.
fn foreign(
    folder: &Path,
    prefix: &str,
    listed: &BTreeSet<String>,
) -> std::io::Result<Option<String>> {
    for item in std::fs::read_dir(folder)? {
        let item = item?;
        let name = format!("{prefix}{}", OsStr::to_string_lossy(&item.file_name()));
        if item.file_type()?.is_dir() {
            let inside = format!("{name}/");
            if let Some(found) = foreign(&item.path(), &inside, listed)? {
                return Ok(Some(found));
            }
            continue;
        }
        if !listed.contains(&name) {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

fn failed(path: &Path, error: std::io::Error) -> Failure {
    Failure::System { doing: format!("writing {}", path.display()), error }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let items = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            items.map(|item| item.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_site_is_there_when_it_is_complete_and_replaces_only_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("site");
        for text in ["one", "two"] {
            let site = Site::begin(&place).unwrap();
            site.write("results/a/index.html", text).unwrap();
            let before = names(folder.path()).len();
            site.publish().unwrap();
            assert_eq!(names(folder.path()), ["site"], "{before}");
            let written = std::fs::read_to_string(place.join("results/a/index.html")).unwrap();
            assert_eq!(written, text);
        }
        let site = Site::begin(&place).unwrap();
        site.write("index.html", "three").unwrap();
        std::fs::write(place.join("results/CNAME"), "x").unwrap();
        let refused = site.publish().unwrap_err().to_string();
        assert!(refused.contains("has results/CNAME"), "{refused}");
        assert!(Site::begin(&place).unwrap_err().to_string().contains("did not write"));
        assert_eq!(names(folder.path()), ["site"], "nothing is left beside it");
        assert!(!place.join("index.html").exists());
    }

    #[test]
    fn other_folders_and_files_are_not_touched() {
        let folder = tempfile::tempdir().unwrap();
        let refused = |name: &str| Site::begin(&folder.path().join(name)).unwrap_err().to_string();
        std::fs::write(folder.path().join("file"), "x").unwrap();
        assert!(refused("file").contains("is not a folder"));
        std::fs::create_dir(folder.path().join("home")).unwrap();
        std::fs::write(folder.path().join("home").join(MARKER), "x").unwrap();
        assert!(refused("home").contains("did not write"));
        std::fs::create_dir(folder.path().join("empty")).unwrap();
        Site::begin(&folder.path().join("empty")).unwrap();
        assert!(refused("nowhere/site").contains("creating a folder beside"));
    }
}
