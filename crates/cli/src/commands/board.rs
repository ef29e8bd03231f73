//! `triphammer board`.

use std::path::{Path, PathBuf};

use triphammer_board::{Order, build};
use triphammer_settings::Settings;
use triphammer_settings::format::counted;
use triphammer_settings::handle::Handle;

use super::print;
use crate::terminal::Bars;
use crate::{Exit, Result, signals};

/// Folder of the site unless one is named.
const SITE: &str = "site";
/// What Ctrl-C says and does.
const STOPPING: &str =
    "stopping after the bundles that are being verified; Ctrl-C again ends at once";

/// Builds the site of a folder of bundles.
pub fn command(settings: &mut Settings, folder: &Path) -> Result<Exit> {
    let site = settings.get("output").map_or_else(|| PathBuf::from(SITE), PathBuf::from);
    let title = settings.read("title", |text| Ok(text.to_owned()), Clone::clone)?;
    let handle = Handle::default();
    signals::stops(handle.clone(), STOPPING);
    let bars = Bars::new();
    let progress = |done: usize, all: usize| match done {
        0 => bars.task("verifying", all as u64, "bundles"),
        _ => bars.advance(1),
    };
    let order = Order {
        folder,
        site: &site,
        title: &title,
        progress: &progress,
        is_stopped: &|| handle.is_stopped(),
    };
    let built = build(order);
    bars.clear();
    let Some(built) = built? else { return Ok(Exit::Interrupted) };
    let of = |number: usize, what: &str| format!("{} {what}", counted(number as u64, "results"));
    let contradicting = match built.unverified {
        1 => "that does not agree with itself",
        _ => "that do not agree with themselves",
    };
    print(&format!(
        "wrote {}: {}, {}, {}\n",
        site.join("index.html").display(),
        of(built.ranked, "with a rank"),
        of(built.unranked, "without one"),
        of(built.unverified, contradicting)
    ))?;
    Ok(Exit::Done)
}
