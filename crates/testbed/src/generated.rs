//! Files of the repository that are generated from the program's declarations. A test compares each;
//! `make generate` rewrites them all.

use std::path::Path;

/// Compares a file with what the program makes, or rewrites it with `UPDATE_REFERENCE` set. `path` is
/// relative to the repository.
///
/// # Panics
/// When the file differs, or cannot be written.
pub fn assert_generated(path: &str, text: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        std::fs::write(&file, text).unwrap_or_else(|error| panic!("{path}: {error}"));
    }
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(found == text, "{path} is not what the program makes: run `make generate`");
}

/// Compares the lists in a guide with those that the program makes, or rewrites them: each stands
/// between a comment with its name and `<!-- end -->`.
///
/// # Panics
/// As [`assert_generated`], and when the guide has no such list.
pub fn assert_generated_lists<N: std::fmt::Display>(
    path: &str,
    lists: impl IntoIterator<Item = (N, String)>,
) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    let read = std::fs::read_to_string(file);
    let mut guide = read.unwrap_or_else(|error| panic!("{path}: {error}"));
    for (name, list) in lists {
        let head = format!("<!-- {name}: made from the program's own list -->\n");
        let from = guide.find(&head).unwrap_or_else(|| panic!("{path} lacks {head}")) + head.len();
        let length = guide[from..].find("<!-- end -->").expect("a list ends");
        guide.replace_range(from..from + length, &list);
    }
    assert_generated(path, &guide);
}
