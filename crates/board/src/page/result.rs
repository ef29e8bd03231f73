//! The page of a result: its figures, what its verification found, how it was measured, and what it
//! may be compared with.

use std::collections::BTreeSet;

use maud::{Markup, html};
use triphammer_document::bundle::{BundleVerification, Disagreement, Signature};
use triphammer_document::doctor::SetupVerdict;
use triphammer_document::method::{self, MethodLine};
use triphammer_document::result::{RunResult, TypeFigures};
use triphammer_settings::format::{bytes, counted, figure, integer, milliseconds, precise};
use triphammer_statistics::compare::Better;

use super::{badge, chart, layout, submitter, verified};
use crate::entry::Entry;
use crate::rank::{Board, Class, Compared, MARGIN, Shown, key};

/// Most disagreements that are not folded.
const SHOWN_MAX: usize = 20;
/// Most differences of conditions that are listed for a comparison.
const DIFFERENCES_MAX: usize = 40;
/// The beginning of an aspect of the method that is a clause of a standard: `TPC-C 5.5`.
const STANDARD: &str = "TPC-";

/// The page.
pub(super) fn page(title: &str, entries: &[Entry], place: usize, board: &Board) -> String {
    let entry = &entries[place];
    let head = &entry.head;
    let name = match head.database() {
        database if database.is_empty() => head.workload.clone(),
        database => format!("{} on {database}", head.workload),
    };
    let body = html! {
        nav { a href="../../index.html" { "← " (title) } }
        header {
            h1 { (name) }
            p.answer { (entry.answer()) }
            p { (verified(entry)) " " (rank(board, place)) }
        }
        div.two {
            (source(entry))
            (conditions(entry))
        }
        @if entry.found.agrees {
            (figures(entry))
            (comparison(entries, place, board))
        }
        (verification(&entry.found))
        (method_of(&entry.found))
        @if !entry.report.is_empty() {
            section.card {
                details {
                    summary { "The report as text" }
                    pre.scroll { (entry.report) }
                }
            }
        }
    };
    layout(&format!("{name} · {title}"), "../../", body)
}

fn rank(board: &Board, place: usize) -> Markup {
    match board.place(place) {
        Some((class, position)) => {
            let about = if class.ranked[position].is_apart() { "" } else { "≈ " };
            let text = format!("rank {about}{} of {}", position + 1, class.ranked.len());
            badge("plain", &text)
        }
        None => badge("plain", "no rank"),
    }
}

/// Who says it, and how anyone can check it.
fn source(entry: &Entry) -> Markup {
    let file = entry.name.rsplit('/').next().unwrap_or_default();
    let word = as_word(file);
    html! {
        section.card {
            h2 { "Source" }
            dl {
                dt { "Submitted by" } dd { (submitter(entry)) }
                @if let Some(label) = &entry.label {
                    @if let Some(url) = &label.url {
                        dt { "More" } dd { a href=(url) rel="nofollow noopener ugc" { (url) } }
                    }
                    @if let Some(note) = &label.note { dt { "Note" } dd { (note) } }
                }
                dt { "Signature" } dd { (signature(&entry.found.signature)) }
                dt { "Bundle" }
                dd {
                    a href="bundle.zip" download=(file) { (entry.name) }
                    " " span.quiet { "(" (bytes(entry.bytes)) ")" }
                    div.quiet { "Check it: " code { "triphammer verify " (word) } }
                    div.quiet { "Repeat it: " code { "triphammer repeat " (word) " TARGET" } }
                }
                dt { "Written by" } dd { (entry.found.written_by) }
            }
        }
    }
}

/// The name of a file as one word of a command for a shell.
fn as_word(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-+@".contains(c);
    // What begins with a dash would be an option.
    let path = if name.starts_with('-') { format!("./{name}") } else { name.to_owned() };
    match name.chars().all(is_plain) {
        true => path,
        false => format!("'{}'", path.replace('\'', r"'\''")),
    }
}

fn signature(signature: &Signature) -> Markup {
    match signature {
        Signature::None => html! { span.quiet { "none: nobody vouches for it" } },
        Signature::ByKey { key } => html! { "by " span.mono { (key) } },
        Signature::ByAsked { key } => {
            html! { "by " span.mono { (key) } ", the key that the submitter names" }
        }
    }
}

/// On what it was measured.
fn conditions(entry: &Entry) -> Markup {
    let head = &entry.head;
    let hosts = match head.same_host {
        Some(true) => "client and server share it",
        Some(false) => "of the client; the server has another one",
        None => "of the client",
    };
    html! {
        section.card {
            h2 { "Conditions" }
            dl {
                dt { "Workload" } dd { (head.workload) }
                @if !head.scale.is_empty() { dt { "Data" } dd { (head.scale) } }
                @if !head.product.is_empty() {
                    dt { "Database" } dd { (head.product) " " (head.version) }
                }
                @if !head.cpu.is_empty() || !head.size.is_empty() {
                    dt { "Host" }
                    dd { (head.cpu) div.quiet { (head.size) "; " (hosts) } }
                }
                @if let Some(run) = entry.run() {
                    dt { "Load" }
                    dd {
                        (counted(run.spec.users.into(), "users")) ", " (run.spec.load.name())
                    }
                }
                dt { "Started" } dd { (head.start()) }
                dt { "Ended" } dd { (head.ending) }
                (costs(entry))
            }
        }
    }
}

/// Price and energy.
fn costs(entry: &Entry) -> Markup {
    let run = entry.run();
    html! {
        @if let Some(price) = run.and_then(|run| run.price.as_ref()) {
            dt { "Price" }
            dd {
                (price.list.show(price.per_year)) " per year"
                @match (&price.per_million, entry.price()) {
                    (Some(of), Some(_)) if entry.runs.len() == 1 => {
                        ", " (price.list.show_estimate(of)) " per million " (price.counted)
                    }
                    (Some(_), Some((of_all, _))) => {
                        ", " (price.list.show(of_all)) " per million " (price.counted)
                        ", at the mean of " (counted(entry.runs.len() as u64, "runs"))
                    }
                    _ => {}
                }
                ul.quiet {
                    @for part in &price.list.components {
                        li { (part.name) ": " (part.payment()) ", in " (price.list.currency) " ("
                             (part.source) ")" }
                    }
                }
            }
        }
        @if let Some(energy) = run.and_then(|run| run.energy.as_ref()) {
            dt { "Energy" }
            dd {
                @if let Some(of) = &energy.figures {
                    (figure(of.watts)) " W by " (of.kind.title())
                    @if let Some(joules) = of.joules_per_transaction {
                        ", " (figure(joules)) " J for each of " (of.counted) ", at "
                        (figure(of.per_second)) " per second"
                    }
                }
                ul.quiet { @for gap in &energy.gaps { li { (gap) } } }
            }
        }
    }
}

fn figures(entry: &Entry) -> Markup {
    let run = entry.runs.last();
    let seconds = run.and_then(|run| {
        let name = &run.result.primary_metric.name;
        let values = run.seconds.as_ref()?.get(&name.to_lowercase())?;
        Some(chart::seconds(name, values))
    });
    html! {
        section.card {
            h2 { "Figures" @if entry.runs.len() > 1 { " " small.quiet { "of the last run" } } }
            @if let Some(chart) = seconds { (chart) }
            @if let Some(result) = entry.run().filter(|of| of.queries.is_none()) { (types(result)) }
            @if entry.has_charts {
                p { a.button href="report.html" { "All charts and details" } }
            } @else if entry.run().is_none() {
                p.quiet { "The report is below." }
            }
        }
    }
}

/// The transaction types of a run.
fn types(result: &RunResult) -> Markup {
    let row = |of: &TypeFigures, title: &str| {
        let ms = |us: u64| milliseconds(us as f64);
        html! {
            tr {
                th scope="row" { (title) }
                td.number data-label="Per minute" { (figure(of.per_minute)) }
                @for (name, us) in [("p50 ms", of.response.p50_us), ("p95 ms", of.response.p95_us),
                                    ("p99 ms", of.response.p99_us), ("Max ms", of.response.max_us)] {
                    td.number data-label=(name) { @if of.response.count > 0 { (ms(us)) } }
                }
                td.number data-label="Failed" { (integer(of.failed + of.indeterminate)) }
            }
        }
    };
    html! {
        div.scroll {
            table.stack.pairs {
                thead {
                    tr {
                        th scope="col" { "Transaction" }
                        @for name in ["Per minute", "p50 ms", "p95 ms", "p99 ms", "Max ms", "Failed"] {
                            th.number scope="col" { (name) }
                        }
                    }
                }
                tbody {
                    @for of in &result.window.types { (row(of, &of.title)) }
                    (row(&result.window.total, "All"))
                }
            }
        }
    }
}

/// What the result may be compared with, and why not with others.
fn comparison(entries: &[Entry], place: usize, board: &Board) -> Markup {
    let Some((class, position)) = board.place(place) else {
        return html! {
            section.card {
                h2 { "Comparison" }
                p { "It is not compared with others:" }
                ul { @for reason in board.no_rank_because(place) { li { (reason) } } }
            }
        };
    };
    let ranked = &class.ranked[position];
    html! {
        section.card {
            h2 { "Comparison" }
            @if class.ranked.len() == 1 {
                p { "No other result of the same work has a rank." }
            } @else if ranked.comparisons.is_empty() {
                p { "The best of " (counted(class.ranked.len() as u64, "results"))
                    " of the same work. Their pages compare them with it." }
            } @else {
                @for compared in &ranked.comparisons { (with(entries, class, compared)) }
            }
            (not_with(entries, place, board))
        }
    }
}

fn with(entries: &[Entry], class: &Class, compared: &Compared) -> Markup {
    let other = &entries[compared.other];
    let position = class.ranked.iter().position(|of| of.entry == compared.other);
    let ratio = match &compared.interval {
        Some(interval) => triphammer_document::compare::ratio(compared.ratio, *interval),
        None => format!("{:.3}", compared.ratio),
    };
    let worse = match class.metric.better {
        Better::Higher => "less",
        Better::Lower => "more",
    };
    let verdict = match compared.verdict {
        Shown::Different => format!("it has {worse}, beyond ± {}", precise(MARGIN)),
        Shown::Same => format!("the same within ± {}", precise(MARGIN)),
        Shown::Undecided => "the runs do not decide whether they differ".to_owned(),
        Shown::Unknown => {
            "unknown: single runs do not show how much runs of a host differ".to_owned()
        }
    };
    let shown = compared.differences.iter().take(DIFFERENCES_MAX);
    let more = compared.differences.len().saturating_sub(DIFFERENCES_MAX);
    html! {
        p {
            strong { (ratio) " × " }
            "that of rank " (position.unwrap_or_default() + 1) ", "
            a href={ "../" (other.slug) "/index.html" } { (other.head.database()) ", " (other.head.cpu) }
            ": " (verdict) "."
        }
        @if !compared.differences.is_empty() {
            details {
                summary { (counted(compared.differences.len() as u64, "conditions")) " differ" }
                div.scroll {
                    table.stack {
                        thead { tr { th scope="col" { "Condition" } th scope="col" { "There" }
                                     th scope="col" { "Here" } } }
                        tbody {
                            @for [name, there, here] in shown {
                                tr { th scope="row" { (name) } td data-label="There" { (there) }
                                     td data-label="Here" { (here) } }
                            }
                        }
                    }
                }
                @if more > 0 { p.quiet { "and " (more) " more" } }
            }
        }
    }
}

/// Other classes of the workload, and in what they differ.
fn not_with(entries: &[Entry], place: usize, board: &Board) -> Markup {
    let own = key(&entries[place]);
    let others = board
        .classes
        .iter()
        .filter(|class| class.key.get("workload") == own.get("workload") && class.key != own);
    let others: Vec<String> = others
        .map(|class| {
            let results = counted(class.ranked.len() as u64, "results");
            format!("{results}: {}", class.apart_from(&own).join(", "))
        })
        .collect();
    html! {
        @if !others.is_empty() {
            h3 { "Not compared with, as the work is another" }
            ul { @for other in others { li { (other) } } }
        }
    }
}

fn verification(found: &BundleVerification) -> Markup {
    let values: u64 = found.agreements.iter().map(|of| of.values).sum();
    html! {
        section.card {
            h2 { "Verification" }
            @if found.agrees {
                p.good { (integer(values)) " values were computed again, and agree." }
            } @else {
                p.bad { (counted(found.disagreement_count, "values")) " differ from what was found." }
                @let shown = found.disagreements.len().min(SHOWN_MAX);
                (disagreements(&found.disagreements[..shown]))
                @if found.disagreements.len() > shown {
                    details {
                        summary { (found.disagreements.len() - shown) " more" }
                        (disagreements(&found.disagreements[shown..]))
                    }
                }
            }
            details {
                summary { "What was computed again" }
                ul { @for of in &found.agreements { li { (integer(of.values)) " × " (of.what) } } }
            }
            @if !found.not_recomputed.is_empty() {
                details {
                    summary { "What is in the bundle once, so that nothing can be compared" }
                    ul { @for what in &found.not_recomputed { li { (what) } } }
                }
            }
            p { a href="verification.json" { "As JSON" } }
        }
    }
}

fn disagreements(all: &[Disagreement]) -> Markup {
    html! {
        div.scroll {
            table.stack {
                thead { tr { th scope="col" { "Place" } th scope="col" { "Written" }
                             th scope="col" { "Found" } } }
                tbody {
                    @for of in all {
                        tr { th scope="row" { (of.part) div.quiet { (of.place) } }
                             td data-label="Written" { (of.written) }
                             td data-label="Found" { (of.found) } }
                    }
                }
            }
        }
    }
}

/// How the runs were made. Clauses of a standard are folded, as a run follows few of them.
fn method_of(found: &BundleVerification) -> Markup {
    let lines = method::of_runs(&found.method);
    let (clauses, own): (Vec<_>, Vec<_>) =
        lines.into_iter().partition(|(line, _)| line.aspect.starts_with(STANDARD));
    let standards: BTreeSet<&str> =
        clauses.iter().filter_map(|(line, _)| line.aspect.split(' ').next()).collect();
    let standards = standards.into_iter().collect::<Vec<_>>().join(" and ");
    html! {
        @if !found.method.is_empty() {
            section.card {
                h2 { "Method" }
                (judgements(&own))
                @if !clauses.is_empty() {
                    details {
                        summary {
                            (counted(clauses.len() as u64, "differences")) " from " (standards)
                        }
                        (judgements(&clauses))
                    }
                }
            }
        }
    }
}

fn judgements(lines: &[(&MethodLine, String)]) -> Markup {
    let class = |verdict| match verdict {
        SetupVerdict::Wrong => "bad",
        SetupVerdict::Look => "warn",
        SetupVerdict::Fine => "good",
    };
    html! {
        ul.method {
            @for (line, of) in lines {
                li {
                    (badge(class(line.verdict), line.verdict.name())) " "
                    span { strong { (line.aspect) } ": " (line.words) (of) }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_file_is_one_word_of_a_command() {
        for (name, word) in [
            ("pg17-epyc.zip", "pg17-epyc.zip"),
            ("two words.zip", "'two words.zip'"),
            ("it's.zip", r"'it'\''s.zip'"),
            ("-o.zip", "./-o.zip"),
        ] {
            assert_eq!(as_word(name), word);
        }
    }
}
