//! `triphammer snapshot`: makes, lists and drops the snapshots of a database.

use triphammer_core::SpecError;
use triphammer_core::workload::Description;
use triphammer_drivers::snapshot::{Mark, Purpose, SnapshotName};
use triphammer_settings::failure::Failure;
use triphammer_settings::format::bytes;
use triphammer_settings::handle::Handle;
use triphammer_settings::target::Target;
use triphammer_settings::worker_pool::on_this_thread;
use triphammer_settings::{Settings, Source};

use super::plan::TIMEOUT;
use super::{Consent, Place, identify_database, in_parentheses};
use crate::state;

/// What is asked of the snapshots of a database.
#[derive(Clone, Debug)]
pub struct SnapshotOrder {
    what: What,
    consent: Consent,
    limit: std::time::Duration,
    depth: Option<triphammer_document::result::FingerprintDepth>,
}

#[derive(Clone, Debug)]
enum What {
    List,
    Make(SnapshotName),
    Restore(String),
    Drop(String),
}

impl SnapshotOrder {
    /// Reads it from the settings.
    ///
    /// # Errors
    /// When a name is invalid, or two things are asked for.
    pub fn read(settings: &mut Settings) -> Result<Self, SpecError> {
        // TRIPHAMMER_RESTORE is that of runs, and nothing is dropped because of a variable.
        let given = ["make", "restore", "drop"]
            .into_iter()
            .filter(|name| settings.source(name) != Source::Environment)
            .filter_map(|name| Some((name, settings.get(name)?.trim().to_owned())));
        let what = match given.collect::<Vec<_>>().as_slice() {
            [] => What::List,
            [("make", name)] => {
                let name = name.parse().map_err(|text: String| SpecError::new(text).about("make"));
                What::Make(name?)
            }
            [("restore", name)] => What::Restore(name.clone()),
            [(_, name)] => What::Drop(name.clone()),
            [(first, _), (second, _), ..] => {
                let message =
                    format!("--{first} and --{second} are two commands: give one of them");
                return Err(SpecError::new(message));
            }
        };
        let limit = settings.duration_or(TIMEOUT, super::plan::COPY_LIMIT)?;
        let depth = state::depth(settings, true)?;
        let end_sessions = settings.switch("end-sessions")?;
        Ok(Self { what, consent: Consent { end_sessions }, limit, depth })
    }
}

/// Does what is asked, and returns what there is to say of it.
///
/// # Errors
/// As the database reports.
pub fn snapshots(
    order: &SnapshotOrder,
    workload: &Description,
    target: &Target,
    handle: &Handle,
) -> Result<String, Failure> {
    let place = Place { workload, target, limit: order.limit, handle };
    on_this_thread(async {
        identify_database(place.database()).await?;
        match &order.what {
            What::List => Ok(listed(&place, &place.list().await?)),
            What::Make(name) => {
                let repaired = place.repair().await?;
                let (mark, remarks) =
                    place.make(name.clone(), false, order.depth, order.consent).await?;
                let repaired: String = repaired.iter().map(|text| format!("{text}\n")).collect();
                Ok(format!(
                    "{repaired}made snapshot `{name}` of {}{}; restore from it with --restore \
                     copy={name}\n",
                    place.name(),
                    in_parentheses(&mark, &remarks)
                ))
            }
            What::Restore(name) => {
                let repaired = place.repair().await?;
                let mark = place.named(name).await?;
                let remarks = place.restore(&mark.name, order.consent).await?;
                let repaired: String = repaired.iter().map(|text| format!("{text}\n")).collect();
                Ok(format!(
                    "{repaired}restored {} from snapshot `{name}`{}\n",
                    place.name(),
                    in_parentheses(&mark, &remarks)
                ))
            }
            What::Drop(name) => {
                let mark = place.named(name).await?;
                place.drop(&mark.name).await?;
                Ok(format!("dropped snapshot `{name}` of {}\n", place.name()))
            }
        }
    })
}

impl Place<'_> {
    /// The mark of a snapshot that has to exist. What is unfinished has the name of one, too, and is meant if nothing else
    /// has it.
    pub(super) async fn named(&self, name: &str) -> Result<Mark, Failure> {
        let marks = self.list().await?;
        let found = marks.iter().filter(|mark| mark.name.as_str() == name);
        let found = found.min_by_key(|mark| mark.purpose != Purpose::Snapshot);
        found.cloned().ok_or_else(|| {
            Failure::refuse(format!(
                "{} has no snapshot `{name}`; its snapshots: {}; `triphammer snapshot TARGET --make NAME` makes one",
                self.name(),
                names(&marks)
            ))
        })
    }
}

fn names(marks: &[Mark]) -> String {
    match marks {
        [] => "none".to_owned(),
        marks => marks.iter().map(|mark| mark.name.as_str()).collect::<Vec<_>>().join(", "),
    }
}

/// The list of snapshots, a line each.
fn listed(place: &Place<'_>, marks: &[Mark]) -> String {
    let Ok(snapshots) = place.snapshots() else { return String::new() };
    let mut text = format!("Snapshots of {}, each {}\n", place.name(), snapshots.way());
    for mark in marks {
        let size = mark.bytes.map_or_else(|| "size unknown".to_owned(), bytes);
        let of = match &mark.by {
            Some(maker) if maker.is_gone() => {
                ", left behind: the next restore removes it".to_owned()
            }
            Some(maker) => format!(", in use by {maker}"),
            None => String::new(),
        };
        let half = match &mark.restoring {
            Some(_) => ", of which a restore is not finished",
            None => "",
        };
        let made = mark.made_at.split('.').next().unwrap_or_default();
        text.push_str(&format!("  {}  made {made} UTC, {size}{of}{half}\n", mark.name));
    }
    if marks.is_empty() {
        text.push_str("  none\n");
    }
    text
}
