//! Summaries: what the last screen of 80 × 24 characters shows of a finished job. The report of the
//! stored job has the rest.

use triphammer_document::parts::Status;

use super::chart::Charset;
use super::table::{Table, WIDTH, paragraph, width};
use crate::lines::{DOT, ascii, printed};

/// Maximum lines of a summary: a terminal of 24 lines has one left for the next command.
pub(super) const HEIGHT: usize = 23;
/// Maximum lines of an entry, if there is room.
pub(super) const ENTRY_LINES: usize = 2;
/// Maximum lines of a finding.
const ENTRY_LINES_MAX: usize = HEIGHT;
/// Maximum lines of the verdict.
const VERDICT_LINES: usize = 4;
/// Maximum columns of a line that is cut, before its ellipsis, which has up to four columns.
const CUT: usize = WIDTH - 4;
/// Lines of a table that are reserved: an empty one, the header and two rows.
const TABLE_LINES: usize = 4;

/// The contents of a summary of a job that consists of findings: a campaign or a drill.
#[derive(Debug)]
pub(super) struct Summary<'a> {
    pub title: String,
    pub label: Option<&'a str>,
    /// How the job ended, if it is not complete.
    pub ending: Option<String>,
    /// The verdict first, then by importance.
    pub findings: Vec<String>,
    /// Conditions that a reader needs to understand the verdict: name and text.
    pub conditions: Vec<(&'static str, String)>,
    pub job: Option<i64>,
    /// The command that resumes the job.
    pub resume: Option<String>,
}

impl Summary<'_> {
    /// Renders the summary, with a final line break. `table` returns the figures in at most so many
    /// rows without the header.
    pub fn text(&self, charset: Charset, table: impl Fn(usize) -> Option<Table>) -> String {
        let mut lines = self.head(charset);
        let end = self.end(charset);
        let room = HEIGHT.saturating_sub(lines.len() + 2 + end.len());
        let findings = self.findings(charset, room.saturating_sub(TABLE_LINES));
        let rows = room.saturating_sub(findings.len() + 2);
        let table = table(rows).filter(|table| rows > 0 && table.rows.len() > 1);
        let table = table.map_or_else(Vec::new, |table| shown(table, charset));
        for part in [findings, table, end] {
            lines.push(String::new());
            lines.extend(part);
        }
        lines.dedup_by(|a, b| a.is_empty() && b.is_empty());
        printed(&lines, charset)
    }

    fn head(&self, charset: Charset) -> Vec<String> {
        let label = self.label.map(|label| format!("“{label}”"));
        let texts = [(Some(self.title.clone()), 2), (label, 1), (self.ending.clone(), 2)];
        let entry = |(text, most): (Option<String>, usize)| {
            text.map_or_else(Vec::new, |text| entry("", &text, most, charset))
        };
        texts.into_iter().flat_map(entry).collect()
    }

    /// The findings in at most so many lines; those that do not fit are counted.
    fn findings(&self, charset: Charset, room: usize) -> Vec<String> {
        let bullet = |(index, text): (usize, &String), most: usize| {
            entry("• ", text, if index == 0 { VERDICT_LINES } else { most }, charset)
        };
        // A sentence is shown whole or not at all; only the verdict is always there.
        let all: Vec<Vec<String>> =
            self.findings.iter().enumerate().map(|of| bullet(of, ENTRY_LINES_MAX)).collect();
        if all.iter().map(Vec::len).sum::<usize>() <= room {
            return all.concat();
        }
        let mut used = 1;
        let fit = |lines: &&Vec<String>| {
            used += lines.len();
            used <= room
        };
        let kept = all.iter().take_while(fit).count().max(1).min(all.len());
        let mut lines = all[..kept].concat();
        if kept < all.len() {
            lines.push(format!("  and {} more", all.len() - kept));
        }
        lines
    }

    fn end(&self, charset: Charset) -> Vec<String> {
        let names = self.conditions.iter().map(|(name, _)| width(name)).max().unwrap_or(0);
        let conditions = self
            .conditions
            .iter()
            .flat_map(|(name, text)| entry(&format!("{name:names$}  "), text, 1, charset));
        let mut lines: Vec<String> = conditions.collect();
        lines.extend(self.job.map(shows_all));
        lines.extend(self.resume.as_ref().map(|command| format!("Resume with: {command}")));
        lines
    }
}

/// The command that resumes a job some of whose runs are missing.
pub(super) fn resume(command: &str, job: Option<i64>, status: Status) -> Option<String> {
    let job = job.filter(|_| status != Status::Complete)?;
    Some(format!("triphammer {command} --resume {job}"))
}

/// The line that leads to the rest.
pub(super) fn shows_all(job: i64) -> String {
    format!("Job {job}{DOT}triphammer report {job} shows all of it")
}

/// Whether a text fits a screen, so that it needs no summary.
pub fn fits(text: &str) -> bool {
    text.lines().count() <= HEIGHT && text.lines().all(|line| width(line) <= WIDTH)
}

/// The items nearest to a level, on a logarithmic scale and in ascending order, at most so many.
pub(super) fn nearest<T>(items: &[T], level: impl Fn(&T) -> f64, to: f64, most: usize) -> Vec<&T> {
    let distance = |item: &&T| (level(item).max(1e-9) / to.max(1e-9)).ln().abs();
    let mut found: Vec<&T> = items.iter().collect();
    found.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
    found.truncate(most);
    found.sort_by(|a, b| level(a).total_cmp(&level(b)));
    found
}

/// An entry of a summary in at most so many lines.
fn entry(lead: &str, text: &str, most: usize, charset: Charset) -> Vec<String> {
    match charset {
        Charset::Unicode => clipped(paragraph(lead, text), most),
        Charset::Ascii => clipped(paragraph(&ascii(lead), &ascii(text)), most),
    }
}

/// A table as narrow as the screen.
fn shown(mut table: Table, charset: Charset) -> Vec<String> {
    if charset == Charset::Ascii {
        table.rows.iter_mut().flatten().for_each(|cell| *cell = ascii(cell));
    }
    indented(&table)
}

/// The lines of a table below a paragraph, with texts cut so that they fit.
pub(super) fn indented(table: &Table) -> Vec<String> {
    let mut most = WIDTH - 2;
    if table.width(2) > most {
        // The ellipsis of a text that is cut has two more columns in ASCII.
        most -= 2 * table.words;
    }
    let lines = table.narrowed(2, most).lines(2);
    lines.into_iter().map(|line| format!("  {line}")).collect()
}

/// The first lines of a text, with an ellipsis if there is more.
pub(super) fn clipped(mut lines: Vec<String>, most: usize) -> Vec<String> {
    let has_more = lines.len() > most;
    lines.truncate(most);
    let last = lines.len().saturating_sub(1);
    let is_cut = |(index, line): &(usize, &mut String)| {
        most < usize::MAX && width(line) > WIDTH || has_more && *index == last
    };
    for (_, line) in lines.iter_mut().enumerate().filter(is_cut) {
        let mut cut: String = line.chars().take(CUT).collect();
        if cut.len() < line.len() {
            // Never in the middle of a word, unless most of the line is one.
            let space = cut.trim_end().rfind(' ').filter(|at| at * 2 > cut.len());
            cut.truncate(space.unwrap_or(cut.len()));
        }
        *line = format!("{} …", cut.trim_end());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A summary with so many findings, each of which is long.
    fn crowded(findings: usize) -> Summary<'static> {
        let long = "the client was the bottleneck ± 3 % ".repeat(12);
        Summary {
            title: long.clone(),
            label: Some(
                "a label of a single word-that-has-no-place-to-break-it-and-is-wider-than-a-terminal-is",
            ),
            ending: Some(long.clone()),
            findings: vec![long; findings],
            conditions: vec![("A", "postgres://bench@database.example.org:5432/".repeat(4))],
            job: Some(12),
            resume: Some("triphammer profile --resume 12".to_owned()),
        }
    }

    fn table(rows: usize) -> Option<Table> {
        let mut table = Table::new(1, &["", "A ±", "B"]);
        for _ in 0..rows.min(50) {
            table.row(vec!["a name ".repeat(20), "1".to_owned(), "2".to_owned()]);
        }
        Some(table)
    }

    #[test]
    fn every_summary_fits_a_screen() {
        for (findings, charset) in
            [1, 2, 5, 40].into_iter().flat_map(|n| [(n, Charset::Unicode), (n, Charset::Ascii)])
        {
            let text = crowded(findings).text(charset, table);
            assert!(fits(&text), "{text}");
            assert!(text.contains("the client was the bottleneck"), "{text}");
            assert!(text.contains("a name") && text.contains("triphammer report 12"), "{text}");
            // The second sentence has six lines, for which there is no room.
            assert_eq!(text.contains("more\n"), findings > 1, "{text}");
        }
    }

    #[test]
    fn the_nearest_rates_are_in_ascending_order() {
        let rates = [100.0, 800.0, 400.0, 200.0];
        assert_eq!(nearest(&rates, |rate| *rate, 390.0, 2), [&200.0, &400.0]);
        assert_eq!(nearest(&rates, |rate| *rate, 390.0, 9).len(), 4);
    }
}
