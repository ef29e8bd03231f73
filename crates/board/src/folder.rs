//! Finds the bundles in a folder. Other files, such as a README, are left alone.

use std::path::{Path, PathBuf};

use triphammer_settings::failure::Failure;

use crate::label::Label;
use crate::site::MARKER;

/// Deepest folder in the folder.
const DEPTH_MAX: usize = 16;
/// Most bundles.
const BUNDLES_MAX: usize = 10_000;
/// Most files and folders that are looked at.
const FILES_MAX: usize = 200_000;
/// Ending of bundles.
const ENDING: &str = "zip";
/// Ending of labels.
const LABEL_ENDING: &str = "toml";

/// A bundle that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// Its file.
    pub path: PathBuf,
    /// The same below the folder, with `/` on every system.
    pub name: String,
    /// Its name in paths of the site, which no other has.
    pub slug: String,
}

/// The bundles in a folder, in the order of their names; without those in `site`, hidden folders, and
/// other sites.
///
/// # Errors
/// When it cannot be read, has no bundle, has too many, or has a label of none.
pub(crate) fn find(folder: &Path, site: &Path) -> Result<Vec<Found>, Failure> {
    if !folder.is_dir() {
        let folder = folder.display();
        return Err(Failure::refuse(format!("{folder} is not a folder: name one with bundles")));
    }
    let mut search = Search { site: site.canonicalize().ok(), ..Search::default() };
    search.folder(folder, "", 0)?;
    search.refuse_lone_labels()?;
    let mut found = search.found;
    if found.is_empty() {
        let folder = folder.display();
        let advice = "`triphammer bundle JOB -o FILE` writes one";
        return Err(Failure::refuse(format!("{folder} has no bundle (*.zip); {advice}")));
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    name_slugs(&mut found);
    Ok(found)
}

#[derive(Default)]
struct Search {
    site: Option<PathBuf>,
    seen: usize,
    found: Vec<Found>,
    /// Files that may be labels.
    labels: Vec<PathBuf>,
}

impl Search {
    fn folder(&mut self, folder: &Path, prefix: &str, depth: usize) -> Result<(), Failure> {
        let is_site = self.site.is_some() && folder.canonicalize().ok() == self.site;
        if is_site || folder.join(MARKER).exists() {
            return Ok(());
        }
        if depth > DEPTH_MAX {
            let message = format!("{} is deeper than {DEPTH_MAX} folders", folder.display());
            return Err(Failure::refuse(message));
        }
        let system =
            |error| Failure::System { doing: format!("reading {}", folder.display()), error };
        for item in std::fs::read_dir(folder).map_err(system)? {
            let item = item.map_err(system)?;
            self.seen += 1;
            let name = item.file_name();
            if name.as_encoded_bytes().starts_with(b".") {
                continue;
            }
            let name = name.to_str().ok_or_else(|| {
                let shown = item.path().display().to_string();
                Failure::refuse(format!("the name of {shown} is not UTF-8: rename it"))
            })?;
            // Links to folders are not followed: they may lead in a circle.
            match item.file_type().map_err(system)?.is_dir() {
                true => self.folder(&item.path(), &format!("{prefix}{name}/"), depth + 1)?,
                false => self.file(item.path(), format!("{prefix}{name}")),
            }
            if self.found.len() > BUNDLES_MAX || self.seen > FILES_MAX {
                return Err(Failure::refuse(format!(
                    "there are more than {BUNDLES_MAX} bundles or {FILES_MAX} files: divide the folder"
                )));
            }
        }
        Ok(())
    }

    fn file(&mut self, path: PathBuf, name: String) {
        let has = |ending: &str| path.extension().is_some_and(|of| of.eq_ignore_ascii_case(ending));
        if has(ENDING) {
            self.found.push(Found { path, name, slug: String::new() });
        } else if has(LABEL_ENDING) {
            self.labels.push(path);
        }
    }

    /// A label of no bundle has a name that is not the one it should have: its bundle would be without.
    fn refuse_lone_labels(&self) -> Result<(), Failure> {
        let labelled = self.found.iter().map(|of| of.path.with_extension(LABEL_ENDING));
        let labelled: std::collections::BTreeSet<PathBuf> = labelled.collect();
        let is_lone = |path: &&PathBuf| !labelled.contains(*path) && Label::is_label(path);
        match self.labels.iter().find(is_lone) {
            None => Ok(()),
            Some(path) => Err(Failure::refuse(format!(
                "{} is a label without a bundle: name it as its bundle, NAME.{LABEL_ENDING} beside \
                 NAME.{ENDING}, or remove it",
                path.display()
            ))),
        }
    }
}

/// Gives each bundle a name that is safe in a path and a URL.
fn name_slugs(found: &mut [Found]) {
    let mut known = std::collections::BTreeSet::new();
    for bundle in found {
        let stem = bundle.name.rsplit_once('.').map_or(&*bundle.name, |(stem, _)| stem);
        let slug = slug(stem);
        let numbered = (2..).map(|number| format!("{slug}-{number}"));
        let free = std::iter::once(slug.clone()).chain(numbered).find(|s| !known.contains(s));
        bundle.slug = free.expect("there are more numbers than bundles");
        known.insert(bundle.slug.clone());
    }
}

/// Lower-case letters and digits of ASCII, with single hyphens in place of all others.
fn slug(name: &str) -> String {
    /// Longest name in characters, below the limit of file systems.
    const LENGTH_MAX: usize = 100;
    let mut slug = String::new();
    for c in name.chars().map(|c| c.to_ascii_lowercase()) {
        match c.is_ascii_alphanumeric() {
            true => slug.push(c),
            false if slug.is_empty() || slug.ends_with('-') => {}
            false => slug.push('-'),
        }
    }
    slug.truncate(LENGTH_MAX);
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "result".to_owned() } else { slug.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(names: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        folder
    }

    #[test]
    fn bundles_are_found_and_other_files_are_not() {
        let marker = format!("old/{MARKER}");
        let folder = files(&["b/a.zip", "A.ZIP", "README.md", ".git/x.zip", "old/x.zip", &marker]);
        std::fs::create_dir_all(folder.path().join("site/results")).unwrap();
        std::fs::write(folder.path().join("site/x.zip"), "").unwrap();
        let found = find(folder.path(), &folder.path().join("site")).unwrap();
        let names: Vec<&str> = found.iter().map(|of| &*of.name).collect();
        assert_eq!(names, ["A.ZIP", "b/a.zip"]);
    }

    #[test]
    fn names_in_the_site_are_safe_and_differ() {
        let folder = files(&["A b.zip", "a-b.zip", "a_b.zip", "…/<script>.zip", "ü.zip"]);
        let found = find(folder.path(), Path::new("site")).unwrap();
        let slugs: Vec<&str> = found.iter().map(|of| &*of.slug).collect();
        assert_eq!(slugs, ["a-b", "a-b-2", "a-b-3", "result", "script"]);
        assert_eq!(slug(&"x".repeat(300)).len(), 100);
    }

    #[test]
    fn a_label_without_a_bundle_is_refused_and_other_files_are_not() {
        let folder = files(&["a.zip"]);
        let write =
            |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        let found = || find(folder.path(), Path::new("site"));
        write("Cargo.toml", "[package]\nname = \"a\"");
        write("a.toml", "submitter = \"Ann\"");
        assert_eq!(found().unwrap().len(), 1);
        write("b.toml", "submitter = \"Ann\"");
        let refused = found().unwrap_err().to_string();
        assert!(refused.contains("b.toml is a label without a bundle"), "{refused}");
    }

    #[test]
    fn a_folder_without_bundles_is_refused() {
        let folder = files(&["README.md"]);
        let refused = |path: &Path| find(path, Path::new("site")).unwrap_err().to_string();
        assert!(refused(folder.path()).contains("has no bundle"));
        assert!(refused(&folder.path().join("README.md")).contains("is not a folder"));
    }
}
