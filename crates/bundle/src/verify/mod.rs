//! Verifies a bundle. Everything that can be computed from its raw parts is computed again, and
//! compared with what the bundle says; raw parts are compared with each other; and the method is
//! judged.

mod campaign;
mod compare;
mod raw;
mod run;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read as _, Seek as _};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::thread;

use serde_json::Value;
use triphammer_document::bundle::{
    Agreement, BundleVerification, DISAGREEMENTS_MAX, Disagreement, ShownNames, Signature,
    VERIFICATION_FORMAT,
};
use triphammer_document::method::{self, MethodLine};
use triphammer_document::parts::{Status, Tool};
use triphammer_document::result::RunResult;
use triphammer_document::{Document, JobId};
use triphammer_server::html_export;
use triphammer_settings::command::JobKind;
use triphammer_settings::failure::Failure;
use triphammer_store::{JobRow, Store, StoredJob};

use crate::container::{Container, pack_into};
use crate::manifest::{MANIFEST, Manifest, PartEntry, SIGNATURE, this_program};
use crate::parts::{
    DOCUMENT, JOB, JOB_FILE, MADE, OBSERVED, PAGE, Parts, TEXT, document_of, each_raw, of_job,
};
use crate::{names, signature};
use compare::Known;

/// Bytes of an archive that are compared at a time.
const CHUNK: usize = 1 << 16;
/// The part that is the whole file.
const ARCHIVE: &str = "the archive";
/// What the places of a manifest's entries end with.
const IN_MANIFEST: &str = " in the manifest";
/// Longest value that a disagreement quotes, in characters.
const VALUE_MAX: usize = 200;

/// What was found so far.
#[derive(Debug, Default)]
struct Findings {
    agreements: Vec<Agreement>,
    disagreements: Vec<Disagreement>,
    /// Number of all disagreements.
    count: u64,
    not_recomputed: Vec<String>,
    /// Whether another version wrote the bundle: what only one of both versions writes is not compared.
    of_other_version: bool,
}

impl Findings {
    /// Compares a document with the same one made again; returns the number of differences.
    fn documents(&mut self, what: &str, part: &str, written: &Value, found: &Value) -> u64 {
        let before = self.count;
        let unknown = self.differences(part, written, found);
        let differing = self.count - before;
        let all = compare::leaves(written).min(compare::leaves(found));
        self.agrees(what, all.saturating_sub(differing + unknown));
        differing
    }

    /// Records the differences of two documents; returns the number of values that only another
    /// version knows.
    fn differences(&mut self, part: &str, written: &Value, found: &Value) -> u64 {
        let mut unknown = 0;
        for of in compare::json(written, found) {
            match of.known {
                // A member that is not written says nothing.
                Known::FoundOnly if self.of_other_version => {}
                Known::WrittenOnly if self.of_other_version => {
                    unknown += 1;
                    let place = &of.place;
                    let why = "this version does not know it";
                    self.not_recomputed(&format!("{part}, {place}: {why}"));
                }
                _ => self.differs(part, &of.place, &of.written, &of.found),
            }
        }
        unknown
    }

    /// Whether the form of parts is compared: another version may write the same values otherwise.
    fn compares_form(&mut self) -> bool {
        if self.of_other_version {
            self.not_recomputed(
                "the form of the parts, and the reports: another version wrote them",
            );
        }
        !self.of_other_version
    }

    fn differs(&mut self, part: &str, place: &str, written: &str, found: &str) {
        self.count += 1;
        if self.disagreements.len() < DISAGREEMENTS_MAX {
            self.disagreements.push(Disagreement {
                part: part.to_owned(),
                place: place.to_owned(),
                written: cut(written),
                found: cut(found),
            });
        }
    }

    fn agrees(&mut self, what: &str, values: u64) {
        if values == 0 {
            return;
        }
        match self.agreements.iter_mut().find(|agreement| agreement.what == what) {
            Some(agreement) => agreement.values += values,
            None => self.agreements.push(Agreement { what: what.to_owned(), values }),
        }
    }

    /// Compares two values that must be equal.
    fn equal(&mut self, what: &str, part: &str, place: &str, [written, found]: [&str; 2]) {
        match written == found {
            true => self.agrees(what, 1),
            false => self.differs(part, place, written, found),
        }
    }

    /// Notes what is in a bundle once only.
    fn not_recomputed(&mut self, what: &str) {
        if !self.not_recomputed.iter().any(|known| known == what) {
            self.not_recomputed.push(what.to_owned());
        }
    }
}

/// Order of disagreements: a value that differs says more than that the hash of its part does, too, and
/// that more than the bytes of the archive.
fn precedence(of: &Disagreement) -> u8 {
    match of {
        of if of.part == ARCHIVE => 2,
        of if of.place.ends_with(IN_MANIFEST) => 1,
        _ => 0,
    }
}

/// The beginning of a value.
fn cut(text: &str) -> String {
    match text.char_indices().nth(VALUE_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A bundle that was verified.
#[derive(Debug)]
pub struct Verified {
    /// What was found.
    pub found: BundleVerification,
    /// The store that its raw parts were put into.
    pub store: Store,
    /// Its job, with the document if that can be read; `None` if the job cannot be.
    pub job: Option<(StoredJob, Option<Document>)>,
    /// The results of its complete runs as they were computed, in their order; empty unless it is a bundle of runs.
    pub runs: Vec<RunResult>,
    /// The reports that were made of them.
    pub made: Made,
}

/// Reports that were made again of the raw parts; `None` where another version wrote the bundle.
#[derive(Debug, Default)]
pub struct Made {
    /// The report as text.
    pub text: Option<String>,
    /// The report as a page.
    pub page: Option<String>,
}

/// What was computed of the jobs.
#[derive(Default)]
struct Computed {
    /// The outcome of the whole.
    outcome: String,
    /// The judgement of the method.
    method: Vec<MethodLine>,
    made: Made,
    job: Option<(StoredJob, Option<Document>)>,
    runs: Vec<RunResult>,
}

/// Verifies a bundle; `signer` is the public key that must have signed it.
///
/// # Errors
/// When the file is not a bundle, or is not signed by the key that was asked for.
pub fn verify(container: Container, signer: Option<&Path>) -> Result<BundleVerification, Failure> {
    verify_into_store(container, signer).map(|verified| verified.found)
}

/// Verifies a bundle, and keeps the store with its jobs.
///
/// # Errors
/// As [`verify`].
pub fn verify_into_store(container: Container, signer: Option<&Path>) -> Result<Verified, Failure> {
    let manifest = manifest(&container)?;
    let of_other_version = manifest.written_by != this_program();
    let mut findings = Findings { of_other_version, ..Findings::default() };
    let signature = check_signature(&container, signer, &mut findings)?;
    let Container { archive, parts, damaged } = container;
    let mut parts = Parts(parts);
    let entries = check_hashes(&parts, &damaged, &manifest, &mut findings)?;
    let root = JobId(manifest.job);
    let (store, reader) = temporary_stores()?;
    // At the same time: either takes a part of the whole time that is worth it.
    let (store, unread) = thread::scope(|scope| {
        let restored = scope.spawn(|| parts.restore(root, store));
        check_archive(&archive, &parts, &mut findings)?;
        Ok::<_, Failure>(restored.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })?;
    drop(archive);
    if let Some((part, reason)) = unread.first().filter(|_| of_other_version) {
        return Err(Failure::refuse(format!(
            "{} wrote {part} in a form that this version does not read ({reason}): verify the bundle \
             with that version",
            manifest.written_by
        )));
    }
    for (part, reason) in unread {
        findings.differs(&part, "the rows", "unreadable", &reason);
    }
    // While all parts are there: what was compared is dropped.
    let shown = check_manifest(&manifest, entries, &parts, &store, &mut findings);
    let Computed { outcome, method, made, job, runs } = thread::scope(|scope| {
        let reports = findings.compares_form().then(|| scope.spawn(|| reports(reader, root)));
        check_form(&mut parts, &store, root, &mut findings)?;
        // A document that nobody could have written may break assumptions of the computation.
        let computed = catch_unwind(AssertUnwindSafe(|| {
            let of_jobs = jobs(&parts, &store, root, &mut findings)?;
            let again =
                reports.map(|made| made.join().unwrap_or_else(|panic| resume_unwind(panic)));
            let made = again.map(|again| compare_reports(&parts, again, &mut findings));
            Ok::<_, Failure>(Computed { made: made.unwrap_or_default(), ..of_jobs })
        }));
        computed.unwrap_or_else(|_| {
            let reason = "the raw parts contradict each other so that nothing can be computed";
            findings.differs(&of_job(root, ""), "the raw parts", "a job", reason);
            Ok(Computed::default())
        })
    })?;
    findings.disagreements.sort_by_key(precedence);
    let found = BundleVerification {
        format: VERIFICATION_FORMAT,
        kind: "verify".to_owned(),
        tool: Tool::this(),
        other_version: of_other_version.then(|| other_version(&manifest.written_by)),
        written_by: manifest.written_by,
        job_kind: manifest.kind,
        job: manifest.job,
        outcome,
        agrees: findings.count == 0,
        agreements: findings.agreements,
        disagreements: findings.disagreements,
        disagreement_count: findings.count,
        not_recomputed: findings.not_recomputed,
        signature,
        names: shown,
        method,
    };
    Ok(Verified { found, store, job, runs, made })
}

/// What follows from another version.
fn other_version(written_by: &str) -> String {
    format!(
        "{written_by} wrote the bundle, and {} verified it: values are compared that both versions write, \
         and neither the form of the parts nor the reports. A value that differs may be computed in \
         another way now: call it an edit only if {written_by} finds it, too",
        this_program()
    )
}

fn manifest(container: &Container) -> Result<Manifest, Failure> {
    let refuse = |reason: String| Failure::refuse(format!("not a bundle: {reason}"));
    if let Some(reason) = container.damaged.get(MANIFEST) {
        return Err(refuse(format!("{MANIFEST} is damaged: {reason}")));
    }
    Manifest::read(&container.parts[MANIFEST]).map_err(refuse)
}

/// Without a key that must have signed, a signature that is wrong is a disagreement like any other.
fn check_signature(
    container: &Container,
    signer: Option<&Path>,
    findings: &mut Findings,
) -> Result<Signature, Failure> {
    let manifest = &container.parts[MANIFEST];
    let verified = match (container.parts.get(SIGNATURE), signer) {
        (Some(signature), Some(_)) => return signature::verify(manifest, signature, signer),
        (Some(signature), None) => signature::verify(manifest, signature, None),
        (None, Some(_)) => return Err(Failure::refuse("the bundle is not signed")),
        (None, None) => return Ok(Signature::None),
    };
    match verified {
        Err(Failure::System { doing, error }) => {
            findings.not_recomputed(&format!("{SIGNATURE}: {doing}: {error}"));
            Ok(Signature::None)
        }
        Err(failure) => {
            findings.differs(
                SIGNATURE,
                "the signature",
                &failure.to_string(),
                "one of this manifest",
            );
            Ok(Signature::None)
        }
        valid => valid,
    }
}

/// Writes the manifest again, with the entries that were found: its kind and names are those of the parts, and its text has nothing else.
fn check_manifest(
    manifest: &Manifest,
    entries: Vec<PartEntry>,
    parts: &Parts,
    store: &Store,
    findings: &mut Findings,
) -> ShownNames {
    let is_numbered = |name: &String| {
        let known = ["host-", "label-", "path-"].into_iter().find_map(|of| name.strip_prefix(of));
        known.is_some_and(|number| number.parse::<u32>().is_ok())
    };
    let given = &manifest.names;
    let mut names = given.hosts.iter().chain(&given.labels).chain(&given.paths);
    let is_anonymous = given.anonymous && names.all(is_numbered);
    let shown = names::shown(parts, is_anonymous);
    let root = JobId(manifest.job);
    let kind = store.row(root).map_or(manifest.kind, |row| row.kind);
    let again = Manifest {
        written_by: manifest.written_by.clone(),
        ..Manifest::of((kind, root.0), shown.clone(), entries)
    };
    // The hashes of the parts are compared before.
    let head = |of: &Manifest| {
        serde_json::to_value(Manifest { parts: Vec::new(), ..of.clone() }).unwrap_or_default()
    };
    findings.documents("values of the manifest", MANIFEST, &head(manifest), &head(&again));
    let [text, again] = [parts.text(MANIFEST).unwrap_or_default(), &again.text()];
    if findings.count == 0
        && findings.compares_form()
        && let Some(place) = compare::text_differs(text, again)
    {
        let [a, b] = [text, again].map(|text| compare::around(text, place));
        findings.differs(MANIFEST, &format!("the form of byte {place}"), &a, &b);
    }
    shown
}

/// Compares the parts with the manifest, and returns their entries.
fn check_hashes(
    parts: &Parts,
    damaged: &BTreeMap<String, String>,
    manifest: &Manifest,
    findings: &mut Findings,
) -> Result<Vec<PartEntry>, Failure> {
    for (name, reason) in damaged {
        findings.differs(name, "the archive", "a part", &format!("it is damaged: {reason}"));
    }
    let found = Manifest::entries(&parts.0);
    for entry in &manifest.parts {
        match found.iter().find(|found| found.name == entry.name) {
            Some(found) => findings.equal(
                "hashes of the parts",
                &entry.name,
                &format!("SHA-256{IN_MANIFEST}"),
                [&entry.sha256, &found.sha256],
            ),
            None if damaged.contains_key(&entry.name) => {}
            None => {
                let message = format!("not a bundle: its part {} is missing", entry.name);
                return Err(Failure::refuse(message));
            }
        }
        if let Some(other) = found.iter().find(|f| f.name == entry.name && f.bytes != entry.bytes) {
            let [written, found] = [entry.bytes, other.bytes].map(|bytes| bytes.to_string());
            let place = format!("bytes{IN_MANIFEST}");
            findings.differs(&entry.name, &place, &written, &found);
        }
    }
    for other in found.iter().filter(|f| manifest.parts.iter().all(|entry| entry.name != f.name)) {
        findings.differs(&other.name, "the manifest", "no such part", "the part");
    }
    Ok(found)
}

/// Packs the parts again: the archive must be what `bundle` writes around them.
fn check_archive(archive: &[u8], parts: &Parts, findings: &mut Findings) -> Result<(), Failure> {
    if !findings.compares_form() {
        return Ok(());
    }
    // In a file: there are two archives and their parts otherwise.
    let doing = || "packing into a temporary file".to_owned();
    let system = |error| Failure::System { doing: doing(), error };
    let file = tempfile::tempfile().map_err(system)?;
    let mut again = pack_into(&parts.0, file)?;
    again.rewind().map_err(system)?;
    let mut chunk = vec![0; CHUNK];
    for (number, written) in archive.chunks(CHUNK).enumerate() {
        let found = &mut chunk[..written.len()];
        let is_read = again.read_exact(found).is_ok();
        if is_read && written == found {
            continue;
        }
        let place = written.iter().zip(&*found).position(|(a, b)| a != b).unwrap_or_default();
        let (written, found) = (written[place].to_string(), found[place].to_string());
        let place = format!("byte {}", number * CHUNK + place);
        findings.differs(ARCHIVE, &place, &written, &found);
        return Ok(());
    }
    match again.read(&mut chunk).map_err(system)? {
        0 => findings.agrees("bytes of the archive", archive.len() as u64),
        _ => findings.differs(ARCHIVE, "its end", "no more bytes", "more bytes"),
    }
    Ok(())
}

/// Writes the rows of the restored store again: each part must be the text that `bundle` writes for
/// its values, without anything that a reader would overlook. Forgets the tables, but not that they are
/// there.
fn check_form(
    parts: &mut Parts,
    store: &Store,
    root: JobId,
    findings: &mut Findings,
) -> Result<(), Failure> {
    let jobs: Vec<JobId> = parts.jobs().into_iter().filter(|job| *job != root).collect();
    let mut known = BTreeSet::new();
    each_raw(store, root, &jobs, &mut |name, found| {
        if let Some(written) = parts.0.get_mut(&name) {
            if !findings.of_other_version {
                // Of a part that is text, several times faster.
                let text = std::str::from_utf8(written).map(Cow::Borrowed);
                let text = text.unwrap_or_else(|_| String::from_utf8_lossy(written));
                same_form(&name, &text, &found, findings);
            }
            // Tables may be large, and are in the store.
            if name.ends_with(".csv") {
                *written = Vec::new();
            }
        }
        known.insert(name);
    })?;
    let others = parts.0.keys().filter(|name| !known.contains(*name) && !name.ends_with(OBSERVED));
    for name in others {
        if name.starts_with("jobs/") || name == DOCUMENT {
            findings.differs(name, "the whole part", "a part", "no rows of the job");
        } else if ![MANIFEST, SIGNATURE].contains(&&**name) && !MADE.contains(&&**name) {
            findings.differs(name, "the whole part", "a part", "no part of a bundle");
        }
    }
    Ok(())
}

/// Compares a raw part with the text of its values.
fn same_form(name: &str, written: &str, found: &str, findings: &mut Findings) {
    let place = match name.ends_with(".json") {
        true => compare::text_differs(written, found),
        false if written == found => None,
        false => {
            let place = written.bytes().zip(found.bytes()).position(|(a, b)| a != b);
            Some(place.unwrap_or(written.len().min(found.len())))
        }
    };
    let Some(place) = place else {
        return findings.agrees("raw parts that are written the same way again", 1);
    };
    let line = 1 + written.as_bytes()[..place].iter().filter(|byte| **byte == b'\n').count();
    let [a, b] = [written, found].map(|text| compare::around(text, place));
    findings.differs(name, &format!("the form of line {line}"), &a, &b);
}

/// Computes everything again that is in the documents of the jobs, and the reports.
fn jobs(
    parts: &Parts,
    store: &Store,
    root: JobId,
    findings: &mut Findings,
) -> Result<Computed, Failure> {
    let mut method = Vec::new();
    let mut runs = Vec::new();
    let mut whole = None;
    for job in parts.jobs() {
        let stored = match store.load(job) {
            Ok(stored) => stored,
            Err(error) => {
                let (part, reason) = (of_job(job, JOB), error.to_string());
                findings.differs(&part, "the whole part", "unreadable", &reason);
                continue;
            }
        };
        if stored.row.kind == JobKind::Run {
            let computed: Option<RunResult> = run::check(parts, store, &stored, root, findings)?;
            method.extend(computed.iter().flat_map(method::judge));
            runs.extend(computed);
        }
        let document = raw::job(&stored, &document_of(job, root), findings);
        if job == root {
            whole = Some((stored, document));
        }
    }
    let Some((stored, document)) = whole else {
        return Ok(Computed { method, ..Computed::default() });
    };
    beside(parts, store, &stored, findings);
    let of_runs = match runs.len() {
        count if count > 1 && stored.row.kind == JobKind::Run => format!(", one of {count} runs"),
        _ => String::new(),
    };
    let outcome = document.as_ref().map(Document::outcome).unwrap_or_default() + &of_runs;
    let made = Made::default();
    if stored.row.kind != JobKind::Run {
        campaign::check(store, &stored, std::mem::take(&mut runs), findings);
    }
    runs.retain(|run| run.status == Status::Complete);
    Ok(Computed { outcome, method, made, job: Some((stored, document)), runs })
}

/// Runs beside the job of the bundle must have its label and its workload.
fn beside(parts: &Parts, store: &Store, root: &StoredJob, findings: &mut Findings) {
    for job in parts.jobs().into_iter().filter(|job| *job != root.row.id) {
        let Ok(row) = store.row(job) else { continue };
        if row.parent.is_some() {
            continue;
        }
        let of = |row: &JobRow| format!("label {:?}, workload {}", row.label, row.workload);
        let [written, found] = [&row, &root.row].map(of);
        findings.equal("labels of runs", &of_job(job, JOB), "the label", [&written, &found]);
        findings.not_recomputed("which of the runs with a label the bundle has");
    }
}

/// An empty store, and another connection to read it on another thread. Its file has no name any more.
fn temporary_stores() -> Result<(Store, Store), Failure> {
    let doing = || "creating a temporary file".to_owned();
    let file = tempfile::NamedTempFile::new()
        .map_err(|error| Failure::System { doing: doing(), error })?;
    Ok((Store::scratch(file.path())?, Store::open_to_read(file.path())?))
}

/// Makes the reports and the job file again.
fn reports(store: Store, root: JobId) -> Result<Parts, Failure> {
    let mut again = Parts::default();
    again.add_made(&store, &store.load(root)?)?;
    Ok(again)
}

/// Compares the reports and the job file with those that were made again.
fn compare_reports(parts: &Parts, again: Result<Parts, Failure>, findings: &mut Findings) -> Made {
    let mut again = match again {
        Ok(again) => again,
        Err(failure) => {
            findings.differs(DOCUMENT, "the reports", "a document", &failure.to_string());
            return Made::default();
        }
    };
    let names: BTreeSet<&String> = parts.0.keys().chain(again.0.keys()).collect();
    for name in names {
        let what = match name.rsplit('/').next() {
            Some(TEXT) => "lines of the text report",
            Some(JOB_FILE) => "lines of the job file",
            Some(OBSERVED) => "lines of the observed values",
            _ => continue,
        };
        let texts = [parts, &again].map(|parts| parts.text(name).unwrap_or_default());
        compare::lines(what, name, texts, findings);
    }
    let [written, found] = [parts, &again].map(|parts| parts.text(PAGE));
    match (written, found) {
        (Some(written), Some(found)) => page([written, found], findings),
        (Some(_), None) => findings.not_recomputed("report.html: this program has no web page"),
        (None, Some(_)) => findings.differs(PAGE, "the whole part", "nothing", "the page"),
        (None, None) => findings.not_recomputed("report.html: neither program has a web page"),
    }
    let mut take = |name: &str| again.0.remove(name).and_then(|of| String::from_utf8(of).ok());
    Made { text: take(TEXT), page: take(PAGE) }
}

/// Compares the data in two pages, and the pages around them if the same program made both.
fn page(pages: [&str; 2], findings: &mut Findings) {
    let [written, found] = pages.map(|page| html_export::job_in(page).unwrap_or_default());
    if pages[0] == pages[1] {
        return findings.agrees("values in the page", compare::leaves_in(found));
    }
    let read = |text: &str| serde_json::from_str(text).unwrap_or(Value::Null);
    let [written_job, found_job] = [read(written), read(found)];
    if findings.documents("values in the page", PAGE, &written_job, &found_job) == 0
        && let Some(place) = compare::text_differs(pages[0], pages[1])
    {
        let [written, found] = pages.map(|page| compare::around(page, place));
        findings.differs(PAGE, &format!("byte {place}"), &written, &found);
    }
}
