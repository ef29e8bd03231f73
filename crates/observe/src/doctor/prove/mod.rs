//! `doctor --prove`: what a setting of this host is worth. Which settings can be changed, and how, is
//! declared with their checks. The runs are those of a comparison in pairs; what is here finds the
//! values of both sides ([`plan()`]), changes the setting between the runs, and restores it
//! ([`HostChange`]), even after a crash ([`Journal`]).

mod change;
mod journal;
#[cfg(test)]
mod tests;

use std::fmt;

use triphammer_core::SpecError;
use triphammer_core::session::Database as _;
use triphammer_document::doctor::DoctorResult;
use triphammer_settings::Settings;
use triphammer_settings::cancel::Cancel;
use triphammer_settings::failure::Failure;
use triphammer_settings::files::Files;
use triphammer_settings::target::Target;

use super::check::{Check, CheckDeclaration, Knob, KnobPlace};
use super::database;
use super::host::{self, HostFacts};

pub use change::HostChange;
pub(super) use journal::Journal;
use journal::value;

/// The value of a side whose files keep what they have.
const NOW: &str = "now";

/// A setting of the host, and its values on the sides of a comparison: `swappiness=60,1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// Name of the check.
    pub check: String,
    /// Values of A and of B, as the check names them; `now` for what the host has.
    pub values: [String; 2],
}

impl Proof {
    /// Reads `CHECK=A,B`.
    ///
    /// # Errors
    /// When it has another form, or the check is unknown or cannot be changed.
    pub fn parse(text: &str) -> Result<Self, String> {
        let parts = text.split_once('=').and_then(|(check, values)| {
            let (a, b) = values.split_once(',')?;
            Some([check, a, b].map(|part| part.trim().to_owned()))
        });
        let is_plain = |text: &String| !text.is_empty() && !text.contains(char::is_control);
        let Some([check, a, b]) = parts.filter(|parts| parts.iter().all(is_plain)) else {
            return Err(format!(
                "`{text}`: write CHECK=A,B with the values of both sides, as in swappiness=60,1; \
                 `triphammer doctor --prove CHECK TARGET` finds the values"
            ));
        };
        declared(&check).map_err(|error| error.to_string())?;
        if a == b {
            return Err(format!("`{text}`: both sides have the same value"));
        }
        Ok(Self { check, values: [a, b] })
    }
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b] = &self.values;
        write!(f, "{}={a},{b}", self.check)
    }
}

/// A proof, and why it has these values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedProof {
    /// The proof.
    pub proof: Proof,
    /// What is compared, in a sentence.
    pub words: String,
}

/// Every check of the host.
fn all() -> impl Iterator<Item = &'static Check<HostFacts>> {
    host::checks().chain(host::data_checks()).chain(host::server_checks())
}

/// The check of this name, with how it is changed.
fn declared(name: &str) -> Result<(&'static CheckDeclaration, Knob), SpecError> {
    let known = all().map(|check| &check.declared).find(|declared| declared.name == name);
    if let Some((declared, knob)) = known.and_then(|known| Some((known, known.knob?))) {
        return Ok((declared, knob));
    }
    let provable = all().filter(|check| check.declared.knob.is_some());
    let provable: Vec<&str> = provable.map(|check| check.declared.name).collect();
    let why = match known {
        Some(known) => format!(
            "`{name}` cannot be changed between two runs; what changes it: {}",
            known.change.words(None)
        ),
        None => format!("unknown check `{name}`"),
    };
    let message = format!("{why}. These can be proven: {}", provable.join(", "));
    Err(SpecError::new(message).about("prove"))
}

/// Finds the values of both sides for `CHECK`: A has what the host has, B what is advised, or the
/// other way if the host has that already. Of `CHECK=A,B` the given ones.
///
/// # Errors
/// When the check cannot be proven on this host, or the server of the target runs on another one.
pub fn plan(
    settings: &Settings,
    target: &Target,
    asked: &str,
    cancel: &Cancel,
) -> Result<PlannedProof, Failure> {
    if asked.contains('=') {
        let proof = Proof::parse(asked).map_err(|why| SpecError::new(why).about("prove"))?;
        let words =
            format!("A has {0} {1}, B {0} {2}", proof.check, proof.values[0], proof.values[1]);
        return Ok(PlannedProof { proof, words });
    }
    let (_, knob) = declared(asked)?;
    let facts = examined(settings, target, cancel)?;
    let found = Found::find(&facts, asked)?;
    let now = found.now();
    let check = asked.to_owned();
    if now != [knob.advised] {
        let before = if let [one] = now.as_slice() { one.clone() } else { NOW.to_owned() };
        let words = format!("A has {check} {}, as it is; B {}", now.join(" and "), knob.advised);
        let proof = Proof { check, values: [before, knob.advised.to_owned()] };
        return Ok(PlannedProof { proof, words });
    }
    let advised = knob.advised;
    let Some(other) = knob.other else {
        let message = format!(
            "{check} is {advised} already, which is what is advised: name what to compare it with, as \
             in --prove {check}={advised},VALUE"
        );
        return Err(SpecError::new(message).about("prove").into());
    };
    let words = format!("{check} is {advised} already, which is what is advised: B has {other}");
    let proof = Proof { check, values: [advised.to_owned(), other.to_owned()] };
    Ok(PlannedProof { proof, words })
}

/// Facts about this host, with where the data of a database on it lies.
///
/// # Errors
/// When the database cannot be reached, or its server runs on another host.
fn examined(settings: &Settings, target: &Target, cancel: &Cancel) -> Result<HostFacts, Failure> {
    let mut facts = HostFacts::begin(Files::of_settings(settings)?);
    let mut result = DoctorResult::empty();
    database::examine(target, cancel, None, &mut facts, &mut result)?;
    let is_here =
        result.host_of_database || target.is_file() || !target.database.capabilities().stores;
    if is_here {
        return Ok(facts);
    }
    let message = format!(
        "--prove changes a setting of this host, and the server of {} runs on another one, or in a \
         container: run the command there",
        target.database.target()
    );
    Err(SpecError::new(message).about("prove").into())
}

/// Restores what a killed `doctor --prove` left changed; returns what was restored, in a sentence, or
/// `None` if nothing was left.
///
/// # Errors
/// When a file cannot be written.
pub fn restore_left(settings: &Settings) -> Result<Option<String>, Failure> {
    let files = Files::of_settings(settings)?;
    let Some(left) = Journal::left(&files) else { return Ok(None) };
    let words = left.words();
    match left.restore() {
        Ok(()) => Ok(Some(format!("restored a setting of this host: {words}"))),
        Err(why) => Err(Failure::refuse(format!("{words}; it cannot be restored: {why}"))),
    }
}

/// A setting on this host.
struct Found {
    check: &'static str,
    place: &'static KnobPlace,
    /// Its files, with what they contain.
    files: Vec<(String, String)>,
    root: Files,
}

impl Found {
    fn find(facts: &HostFacts, check: &str) -> Result<Self, SpecError> {
        let (declared, knob) = declared(check)?;
        let root = facts.files();
        for place in knob.places {
            let files = expanded(facts, place.files).into_iter();
            let files = files.filter(|file| (place.has)(root, file));
            let files: Vec<_> =
                files.filter_map(|file| Some((file.clone(), value(root, &file)?))).collect();
            if !files.is_empty() {
                let root = root.clone();
                return Ok(Self { check: declared.name, place, files, root });
            }
        }
        let places: Vec<_> = knob.places.iter().map(|place| format!("/{}", place.files)).collect();
        let message = format!(
            "{check} cannot be proven here: this host does not have {}, as in many virtual machines \
             and containers",
            places.join(" or ")
        );
        Err(SpecError::new(message).about("prove"))
    }

    /// What the files contain, as the check names it, without repetitions.
    fn now(&self) -> Vec<String> {
        let name = |(file, raw): &(String, String)| {
            let named = self.place.words.iter().find(|(word, _)| self.raw(file, word) == *raw);
            named.map_or_else(|| raw.clone(), |(word, _)| (*word).to_owned())
        };
        let mut names: Vec<String> = self.files.iter().map(name).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// What a file contains for a value.
    fn raw(&self, file: &str, word: &str) -> String {
        let named = self.place.words.iter().find(|(name, _)| *name == word);
        let raw = named.map_or(word, |(_, raw)| *raw);
        let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
        let beside = raw.strip_prefix('=').map(|name| format!("{folder}/{name}"));
        beside.and_then(|path| self.root.text(&path)).unwrap_or_else(|| raw.to_owned())
    }
}

/// The files of a pattern.
fn expanded(facts: &HostFacts, pattern: &str) -> Vec<String> {
    if let Some(file) = pattern.strip_prefix("DISK") {
        let disks = facts.mount().map(|mount| mount.disks(facts.files())).unwrap_or_default();
        return disks.iter().map(|disk| format!("{}{file}", disk.queue_folder())).collect();
    }
    numbered(facts.files(), pattern)
}

/// The files of a pattern in which `*` stands for a number.
fn numbered(files: &Files, pattern: &str) -> Vec<String> {
    let Some((before, after)) = pattern.split_once('*') else { return vec![pattern.to_owned()] };
    let (folder, prefix) = before.rsplit_once('/').unwrap_or(("", before));
    let numbers = files.numbered(folder, prefix).into_iter();
    numbers.flat_map(|number| numbered(files, &format!("{before}{number}{after}"))).collect()
}
