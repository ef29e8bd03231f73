//! The pages of a site. All text comes into them through `maud`, which escapes it; only the data of a
//! page with charts is escaped elsewhere, as JSON in an element that no browser runs. No page loads
//! anything from elsewhere, and none has a script of its own (`POLICY`).

mod chart;
mod index;
mod listing;
mod result;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use triphammer_server::html_export::SharedAssets;
use triphammer_settings::failure::Failure;

use crate::entry::Entry;
use crate::rank::Board;
use crate::site::Site;

/// What a page may load: style sheets and scripts of the site, and nothing else.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; \
                      base-uri 'none'; form-action 'none'";
/// The same of a page with charts, whose script sets styles of elements.
const POLICY_OF_CHARTS: &str = "default-src 'none'; style-src 'self' 'unsafe-inline'; \
                                script-src 'self'; img-src 'self' data: blob:; base-uri 'none'; \
                                form-action 'none'";
/// Colours and elements, which the web page declares.
const THEME: &str = include_str!("../../../../ui/src/theme.css");
/// The beginning of the dark colours in it.
const DARK: &str = ":root[data-theme='dark'] {";
/// The beginning of the tables in it whose rows are blocks on a small screen.
const STACKED: &str = "@media (max-width: 40rem) {";
/// The same of the tables of results; `board.css` has this width, too.
const STACKED_RESULTS: &str = "@media (max-width: 64rem) {";
const STYLE: &str = include_str!("../../assets/board.css");
const SCRIPT: &str = include_str!("../../assets/board.js");

/// Writes all pages but those with charts, which were written with their entries.
///
/// # Errors
/// When there is no room.
pub(crate) fn write(
    site: &Site,
    title: &str,
    entries: &[Entry],
    board: &Board,
) -> Result<(), Failure> {
    site.write("assets/board.css", style())?;
    site.write("assets/board.js", SCRIPT)?;
    if triphammer_server::has_page() {
        let shared = SharedAssets::of_program()?;
        site.write("assets/report.css", shared.style)?;
        site.write("assets/report.js", shared.script)?;
    }
    // GitHub Pages would leave out what Jekyll does.
    site.write(".nojekyll", "")?;
    for (place, entry) in entries.iter().enumerate() {
        let page = result::page(title, entries, place, board);
        site.write(&entry.file("index.html"), page)?;
    }
    site.write("board.json", listing::json(title, entries, board))?;
    site.write("index.html", index::page(title, entries, board))
}

/// The style sheet: the colours of the web page, which follow the system here, and its tables. Those
/// of results have more columns than others, and are stacked on wider screens, too.
fn style() -> String {
    let dark = THEME.split_once(DARK).and_then(|(_, rest)| rest.split_once('}'));
    let (dark, _) = dark.expect("the theme has dark colours");
    let stacked = THEME.split_once(STACKED).and_then(|(_, rest)| rest.split_once("\n}\n"));
    let (stacked, _) = stacked.expect("the theme has stacked tables");
    let stacked = stacked.replace("table.stack", "table.results");
    let stacked = stacked.replace("table.pairs", "table.results.pairs");
    format!(
        "{THEME}\n@media (prefers-color-scheme: dark) {{\n  :root {{{dark}}}\n}}\n\n\
         {STACKED_RESULTS}{stacked}\n}}\n\n{STYLE}"
    )
}

/// What the head of every page has: its security policy and its title.
fn meta(policy: &str, title: &str) -> Markup {
    html! {
        meta charset="utf-8";
        meta name="viewport" content="width=device-width, initial-scale=1";
        meta name="color-scheme" content="light dark";
        meta http-equiv="Content-Security-Policy" content=(policy);
        // Browsers ask the server for one otherwise.
        link rel="icon" href="data:,";
        title { (title) }
    }
}

/// A page of the site; `root` leads to its top.
fn layout(title: &str, root: &str, body: Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                (meta(POLICY, title))
                link rel="stylesheet" href={ (root) "assets/board.css" };
                script defer src={ (root) "assets/board.js" } {}
            }
            body {
                main { (body) }
                footer.quiet {
                    "Made and verified by triphammer " (env!("CARGO_PKG_VERSION")) ". "
                    "Every figure was computed again from the raw parts of its bundle."
                }
            }
        }
    };
    page.into_string()
}

/// Writes the page with all charts of a result, and forgets what only it needs.
///
/// # Errors
/// When there is no room.
pub(crate) fn write_charts(site: &Site, entry: &mut Entry) -> Result<(), Failure> {
    match entry.charts.take() {
        Some(job) => site.write(&entry.file("report.html"), charts(entry, &job)),
        None => Ok(()),
    }
}

/// The page with all charts: the web page's own, with the job as `job` has it. This is JSON that
/// [`job_of_bundle`](triphammer_server::html_export::job_of_bundle) escaped.
fn charts(entry: &Entry, job: &str) -> String {
    let title = format!("{} on {}: all charts", entry.head.workload, entry.head.database());
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                (meta(POLICY_OF_CHARTS, &title))
                link rel="stylesheet" href="../../assets/report.css";
            }
            body {
                nav.no-print style="padding: 1rem 1rem 0" {
                    a href="index.html" { "← The result, its verification and its method" }
                }
                div id="app" {}
                noscript {
                    p style="padding: 0 1rem" {
                        "These charts need JavaScript; " a href="index.html" { "the result" }
                        " does not."
                    }
                }
                script id="job" type="application/json" { (PreEscaped(job)) }
                script defer src="../../assets/report.js" {}
            }
        }
    };
    page.into_string()
}

/// A word with a colour: `good`, `warn`, `bad`, `plain`.
fn badge(class: &str, text: &str) -> Markup {
    html! { span class={ "badge " (class) } { (text) } }
}

/// Whether a bundle agrees with itself.
fn verified(entry: &Entry) -> Markup {
    match entry.found.disagreement_count {
        0 => badge("good", "verified"),
        1 => badge("bad", "1 value differs"),
        count => badge("bad", &format!("{count} values differ")),
    }
}

/// Who submits a result, and who paid.
fn submitter(entry: &Entry) -> Markup {
    let Some(label) = &entry.label else { return html! { span.quiet { "not named" } } };
    html! {
        (label.submitter) " " (badge("plain", label.kind.name()))
        @if let Some(of) = &label.funded_by { " " small.quiet { "funded by " (of) } }
    }
}

/// What a file of one of the entries is called in links from the top.
fn link(entry: &Entry) -> String {
    entry.file("index.html")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dark_colours_follow_the_system_without_a_script() {
        let style = style();
        let dark = style.rsplit_once("prefers-color-scheme: dark").unwrap().1;
        let end = dark.find("\n}\n").unwrap();
        assert!(dark[..end].contains("--page: #111418"), "{dark}");
        assert_eq!(style.matches('{').count(), style.matches('}').count());
    }

    #[test]
    fn tables_of_results_are_stacked_on_wider_screens_than_others() {
        let style = style();
        let wide = style.split_once(STACKED_RESULTS).unwrap().1;
        let (wide, rest) = wide.split_once("\n}\n").unwrap();
        assert!(wide.contains("table.results tbody td[data-label]::before"), "{wide}");
        assert!(!wide.contains("table.stack"), "{wide}");
        assert!(rest.contains(STACKED_RESULTS), "the board's own rules begin at the same width");
    }

    #[test]
    fn text_of_strangers_is_no_html() {
        let title = "</title><script>alert(1)</script>";
        let page = layout(title, "", html! { a title=(title) { (title) } });
        assert!(!page.contains("<script>alert"), "{page}");
        assert_eq!(page.matches("<script").count(), 1);
    }
}
