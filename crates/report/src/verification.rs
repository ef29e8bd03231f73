//! The report of a verification: what does not agree, what was computed again, what only hashes
//! protect, and the judgement of the method.

use triphammer_document::bundle::{BundleVerification, Signature};
use triphammer_document::method::{self, MethodLine};
use triphammer_settings::format::counted;

use super::chart::Charset;
use super::profile::WIDTH;
use super::table::wrapped;
use crate::lines::printed;

/// Columns of a verdict and the space after it.
const VERDICT: usize = 7;

/// Renders a verification as text, with a final line break.
#[must_use]
pub fn verification(found: &BundleVerification, charset: Charset) -> String {
    let mut lines = vec![
        format!("Bundle of job {}, a {}: {}", found.job, found.job_kind.noun(), found.outcome),
        format!("written by {}, verified by triphammer {}", found.written_by, found.tool.version),
    ];
    lines.extend(found.other_version.iter().flat_map(|words| wrapped("", words, WIDTH)));
    lines.push(String::new());
    lines.push(match found.disagreement_count {
        0 if found.other_version.is_some() => "What both versions write agrees.".to_owned(),
        0 => "Everything agrees.".to_owned(),
        count => format!("{} with what was found:", disagree(count)),
    });
    for of in &found.disagreements {
        let text = format!("{}, {}: written {}, found {}", of.part, of.place, of.written, of.found);
        lines.extend(wrapped("• ", &text, WIDTH));
    }
    let more = found.disagreement_count.saturating_sub(found.disagreements.len() as u64);
    if more > 0 {
        lines.push(format!("• and {more} more"));
    }
    lines.extend([String::new(), "Computed again, and equal:".to_owned()]);
    for of in &found.agreements {
        lines.push(format!("  {:>9}  {}", of.values, of.what));
    }
    if !found.not_recomputed.is_empty() {
        let head = "Once in the bundle, so that only hashes and a signature protect it:";
        lines.extend([String::new(), head.to_owned()]);
        lines.extend(found.not_recomputed.iter().flat_map(|what| wrapped("• ", what, WIDTH)));
    }
    lines.extend([String::new(), signature(&found.signature)]);
    lines.extend(names(found));
    lines.extend(judged(&found.method));
    printed(&lines, charset)
}

fn disagree(count: u64) -> String {
    match count {
        1 => "1 value does not agree".to_owned(),
        _ => format!("{} do not agree", counted(count, "values")),
    }
}

fn signature(signature: &Signature) -> String {
    match signature {
        Signature::None => "Not signed: whoever changes everything cannot be noticed.".to_owned(),
        Signature::ByKey { key } => format!("Signed by {key}; --signer says whose key it must be."),
        Signature::ByAsked { key } => format!("Signed by the expected key: {key}."),
    }
}

fn names(found: &BundleVerification) -> Vec<String> {
    let names = &found.names;
    let lists = [("hosts", &names.hosts), ("labels", &names.labels), ("paths", &names.paths)];
    let lists = lists.into_iter().filter(|(_, list)| !list.is_empty());
    let all: Vec<String> =
        lists.map(|(kind, list)| format!("{kind} {}", list.join(", "))).collect();
    match all.is_empty() {
        true => Vec::new(),
        false => wrapped("It shows: ", &all.join("; "), WIDTH),
    }
}

/// The judgement of the method: of several runs, each line once.
fn judged(all: &[MethodLine]) -> Vec<String> {
    if all.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![String::new(), "Method:".to_owned()];
    for (line, of) in method::of_runs(all) {
        let lead = format!("{:VERDICT$}", line.verdict.name());
        lines.extend(wrapped(&lead, &format!("{}: {}{of}", line.aspect, line.words), WIDTH));
    }
    lines
}
