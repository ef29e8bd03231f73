//! Tables and paragraphs of plain text.

use triphammer_core::text::one_line;

/// Maximum width of a report, in columns.
pub(super) const WIDTH: usize = 80;
/// Minimum width of a text that is cut to fit.
const TEXT_MIN: usize = 8;

/// Rows of cells; the first row is the header.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// Number of left-aligned text columns; the others contain numbers and are right-aligned.
    pub words: usize,
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// Creates a table whose first `words` columns contain text.
    pub fn new(words: usize, head: &[&str]) -> Self {
        Self { words, rows: vec![head.iter().map(|cell| (*cell).to_owned()).collect()] }
    }

    /// Appends a row of cells.
    pub fn row(&mut self, cells: Vec<String>) {
        debug_assert_eq!(cells.len(), self.rows[0].len());
        self.rows.push(cells);
    }

    /// Width of the lines with `gap` spaces between columns.
    pub fn width(&self, gap: usize) -> usize {
        self.widths().iter().sum::<usize>() + gap * (self.rows[0].len() - 1)
    }

    fn widths(&self) -> Vec<usize> {
        let widest = |column: usize| self.rows.iter().map(|row| width(&row[column])).max();
        (0..self.rows[0].len()).map(|column| widest(column).unwrap_or(0)).collect()
    }

    /// The table with texts cut, the widest first, so that its lines are at most `most` wide;
    /// numbers are never cut.
    pub fn narrowed(&self, gap: usize, most: usize) -> Self {
        let mut widths = self.widths();
        for _ in most..self.width(gap).max(most) {
            if let Some(widest) = widths[..self.words].iter_mut().max() {
                *widest = widest.saturating_sub(1).max(TEXT_MIN);
            }
        }
        let cut = |(column, cell): (usize, &String)| match width(cell) > widths[column] {
            true => cell.chars().take(widths[column] - 1).chain(['…']).collect(),
            false => cell.clone(),
        };
        let rows = self.rows.iter().map(|row| row.iter().enumerate().map(cut).collect()).collect();
        Self { words: self.words, rows }
    }

    /// Renders lines of text without trailing spaces, with `gap` spaces between columns.
    pub fn lines(&self, gap: usize) -> Vec<String> {
        let widths = self.widths();
        let line = |row: &Vec<String>| {
            let mut out = String::new();
            for (column, cell) in row.iter().enumerate() {
                let fill = " ".repeat(widths[column] - width(cell));
                if column > 0 {
                    out.push_str(&" ".repeat(gap));
                }
                if column < self.words {
                    out.push_str(cell);
                    out.push_str(&fill);
                } else {
                    out.push_str(&fill);
                    out.push_str(cell);
                }
            }
            out.trim_end().to_owned()
        };
        self.rows.iter().map(line).collect()
    }

    /// Renders a Markdown table, with a final line break.
    pub fn markdown(&self) -> String {
        let mut out = String::new();
        for (index, row) in self.rows.iter().enumerate() {
            let cells: Vec<String> =
                row.iter().map(|cell| one_line(cell).replace('|', "\\|")).collect();
            out.push_str(&format!("| {} |\n", cells.join(" | ")));
            if index == 0 {
                let rule = |column| if column < self.words { " --- |" } else { " ---: |" };
                out.push_str(&format!("|{}\n", (0..row.len()).map(rule).collect::<String>()));
            }
        }
        out
    }
}

/// Width of a text in columns; reports use no wide characters.
pub(super) fn width(text: &str) -> usize {
    text.chars().count()
}

/// Like [`paragraph`], but breaks at separators if the parts between them fit on a line.
pub(super) fn listing(lead: &str, text: &str, separator: &str) -> Vec<String> {
    let indent = " ".repeat(width(lead));
    let mut lines = vec![lead.to_owned()];
    let mut empty = true;
    for part in text.split(separator) {
        let line = lines.last_mut().expect("there is always a line");
        if !empty && width(line) + width(separator) + width(part) <= WIDTH {
            line.push_str(separator);
            line.push_str(part);
            continue;
        }
        if !empty {
            lines.push(indent.clone());
        }
        let start = lines.pop().expect("there is always a line");
        lines.extend(paragraph(&start, part));
        empty = false;
    }
    lines
}

/// Wraps `text` after `lead` to fit [`WIDTH`]; further lines are indented by the width of `lead`.
pub(super) fn paragraph(lead: &str, text: &str) -> Vec<String> {
    wrapped(lead, text, WIDTH)
}

/// Breaks a text between words to fit into `columns`, after `lead`, by whose width further lines are
/// indented.
#[must_use]
pub fn wrapped(lead: &str, text: &str, columns: usize) -> Vec<String> {
    let indent = width(lead);
    let mut lines = Vec::new();
    let mut line = lead.to_owned();
    let mut empty = true;
    for word in words(text) {
        if !empty && width(&line) + 1 + width(&word) > columns {
            lines.push(std::mem::replace(&mut line, " ".repeat(indent)));
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(&word);
        empty = false;
    }
    lines.push(line.trim_end().to_owned());
    lines
}

/// The parts of a text between which it may be broken: a number and its % stay together.
fn words(text: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match all.last_mut().filter(|_| word.starts_with('%')) {
            Some(number) => number.extend([" ", word]),
            None => all.push(word.to_owned()),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_not_separated_from_its_percent_sign() {
        assert_eq!(wrapped("- ", "it was 8.3 %, or 9 %", 12), ["- it was", "  8.3 %, or", "  9 %"]);
    }

    #[test]
    fn long_texts_are_cut_until_the_numbers_fit() {
        let mut table = Table::new(2, &["", "mostly", "mean", "highest"]);
        let name = "Buffer hits of all databases of this server".to_owned();
        let number = || "1,234,567,890.1/s".to_owned();
        table.row(vec![name, "lock manager".into(), number(), number()]);
        table.row(vec!["Commits".into(), "row".into(), "1/s".into(), "2/s".into()]);
        let lines = table.narrowed(1, 60).lines(1);
        assert!(lines.iter().all(|line| width(line) <= 60), "{lines:#?}");
        assert!(lines[1].starts_with("Buffer hit") && lines[1].contains('…'), "{lines:#?}");
        assert!(lines[1].ends_with(" 1,234,567,890.1/s 1,234,567,890.1/s"), "{lines:#?}");
        assert!(lines[2].starts_with("Commits"), "{lines:#?}");
        assert_eq!(table.narrowed(1, 200).rows, table.rows);
    }
}
