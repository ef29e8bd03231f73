//! Boards: a folder of bundles as a static site. Every bundle is verified again; its pages are made
//! from its raw parts, and of its own pages nothing is published, because strangers wrote them.
//!
//! ```text
//! DIR/**/result.zip ──verify──► Entry ──┐
//! DIR/**/result.toml ──► Label ─────────┴─► classes, ranks, comparisons ──► pages ──► SITE
//! ```
//!
//! What may be compared is decided in `rank.rs`, and nowhere else; pages only show it. Text gets into
//! pages through `maud` alone, which escapes it. The site is built beside its place, and moved there
//! when it is complete (`site.rs`).
//!
//! Begin with [`build`].

mod entry;
mod folder;
mod label;
mod page;
mod rank;
mod site;

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use triphammer_settings::failure::Failure;

use entry::Entry;
use folder::Found;
use rank::Board;
use site::Site;

/// Most errors that a message lists.
const ERRORS_MAX: usize = 20;
/// Most bundles that are verified at a time: each may need some hundred megabytes.
const THREADS_MAX: usize = 8;

/// What to build.
#[derive(Clone, Copy)]
pub struct Order<'a> {
    /// Folder with the bundles.
    pub folder: &'a Path,
    /// Folder of the site.
    pub site: &'a Path,
    /// Title of the site.
    pub title: &'a str,
    /// Receives the number of bundles, at first and whenever one is done, and how many are done.
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
    /// Whether to give up.
    pub is_stopped: &'a (dyn Fn() -> bool + Sync),
}

/// What was built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Built {
    /// Results that have a rank.
    pub ranked: usize,
    /// Results that agree with themselves, and have none.
    pub unranked: usize,
    /// Results that do not agree with themselves.
    pub unverified: usize,
}

/// Builds the site of a folder of bundles. `None` if it was stopped; then nothing is written.
///
/// # Errors
/// When a file in the folder cannot be on a board, two bundles have the same run, or the site cannot
/// be written. Then nothing is written.
pub fn build(order: Order<'_>) -> Result<Option<Built>, Failure> {
    let site = Site::begin(order.site)?;
    let found = folder::find(order.folder, order.site)?;
    let Some(entries) = examined(order, &found, &site)? else { return Ok(None) };
    entry::refuse_doubles(&entries)?;
    let board = Board::of(&entries);
    page::write(&site, order.title, &entries, &board)?;
    if (order.is_stopped)() {
        return Ok(None);
    }
    site.publish()?;
    Ok(Some(Built {
        ranked: board.ranked(),
        unranked: board.unranked.len(),
        unverified: board.unverified.len(),
    }))
}

/// Verifies all bundles, several at a time, and writes what needs only one of them.
fn examined(order: Order<'_>, found: &[Found], site: &Site) -> Result<Option<Vec<Entry>>, Failure> {
    let next = AtomicUsize::new(0);
    let done = AtomicUsize::new(0);
    let results = Mutex::new(Vec::with_capacity(found.len()));
    (order.progress)(0, found.len());
    let work = || {
        while !(order.is_stopped)() {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(bundle) = found.get(place) else { return };
            let entry = Entry::examine(bundle, site);
            // It may be large, and no other page needs it.
            let entry = entry.and_then(|mut entry| {
                page::write_charts(site, &mut entry)?;
                Ok(entry)
            });
            results.lock().expect("no thread panics while it holds the lock").push((place, entry));
            (order.progress)(done.fetch_add(1, Ordering::Relaxed) + 1, found.len());
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 1..threads.min(THREADS_MAX) {
            scope.spawn(work);
        }
        work();
    });
    if (order.is_stopped)() {
        return Ok(None);
    }
    let mut results = results.into_inner().expect("no thread panics while it holds the lock");
    results.sort_by_key(|(place, _)| *place);
    all(results.into_iter().map(|(_, entry)| entry)).map(Some)
}

/// All values, or all errors in one.
fn all<T>(results: impl Iterator<Item = Result<T, Failure>>) -> Result<Vec<T>, Failure> {
    let (mut values, mut errors) = (Vec::new(), Vec::new());
    for result in results {
        match result {
            Ok(value) => values.push(value),
            Err(failure) => errors.push(failure.to_string()),
        }
    }
    let more = errors.len().saturating_sub(ERRORS_MAX);
    if errors.is_empty() {
        return Ok(values);
    }
    errors.truncate(ERRORS_MAX);
    let mut message = errors.join("\n");
    if more > 0 {
        message.push_str(&format!("\nand {more} more"));
    }
    Err(Failure::refuse(message))
}

#[cfg(test)]
mod tests;
