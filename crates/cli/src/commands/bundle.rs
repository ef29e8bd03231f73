//! `triphammer bundle` and `triphammer verify`.

use std::path::{Path, PathBuf};

use triphammer_bundle::make::{self, Options};
use triphammer_bundle::{Container, verify as verification};
use triphammer_document::bundle::ShownNames;
use triphammer_report as report;
use triphammer_runner::outputs::ReportFile;
use triphammer_settings::Settings;
use triphammer_settings::format::bytes;

use super::{charset, print, stored};
use crate::{Exit, Result, terminal};

/// Writes a stored job as a bundle.
pub fn bundle(settings: &mut Settings, job: &str) -> Result<Exit> {
    let store = stored(settings)?;
    let jobs = make::find(&store, job)?;
    let key = settings.get("sign").map(PathBuf::from);
    let options = Options { anonymous: settings.switch("anonymous")?, key: key.as_deref() };
    let output = settings.get("output").map(PathBuf::from);
    let last = jobs.last().map(ToString::to_string).unwrap_or_default();
    let path = output.unwrap_or_else(|| PathBuf::from(format!("job-{last}.zip")));
    let file = ReportFile::create(&path)?;
    let (bundle, names) = make::make(&store, &jobs, options)?;
    file.write_bytes(&bundle)?;
    if !triphammer_server::has_page() {
        terminal::warn(
            "the bundle has no report.html: this program was built without its web page",
        );
    }
    print(&format!(
        "wrote {} ({})\n{}",
        path.display(),
        bytes(bundle.len() as u64),
        shown(&names)
    ))?;
    Ok(Exit::Done)
}

/// The names that a bundle shows, as lines.
fn shown(names: &ShownNames) -> String {
    let lists = [("hosts", &names.hosts), ("labels", &names.labels), ("paths", &names.paths)];
    let of = lists.into_iter().filter(|(_, list)| !list.is_empty());
    let lines: String = of.map(|(kind, list)| format!("  {kind}: {}\n", list.join(", "))).collect();
    match (lines.is_empty(), names.anonymous) {
        (true, _) => "it shows no names of hosts, labels or paths\n".to_owned(),
        (false, true) => format!("it shows these instead of names:\n{lines}"),
        (false, false) => format!("it shows these names; --anonymous replaces them:\n{lines}"),
    }
}

/// Verifies a bundle.
pub fn verify(settings: &mut Settings, file: &Path) -> Result<Exit> {
    let signer = settings.get("signer").map(PathBuf::from);
    let found = verification::verify(Container::read(file)?, signer.as_deref())?;
    match settings.switch("json")? {
        true => print(&report::json_pretty(&found))?,
        false => print(&report::verification(&found, charset()))?,
    }
    Ok(if found.agrees { Exit::Done } else { Exit::CheckFailed })
}
