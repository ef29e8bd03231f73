//! Reads a TOML document by its keys, and collects every problem with its place: unknown keys, values of the wrong
//! type, and what the caller finds wrong with a value.

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use triphammer_core::SpecError;

use crate::script::position;

/// Problems that are reported at once.
const SHOWN_MAX: usize = 20;
/// Edits between a key and the one that is suggested for it.
const EDITS_MAX: usize = 2;

/// A value with its place.
pub type Node<'a> = Spanned<DeValue<'a>>;

/// A text of the document.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a> {
    /// The text, without the escapes of TOML.
    pub text: &'a str,
    /// Offset in the document of its first character; of the value if it has escapes.
    pub at: usize,
    /// Whether offsets in the text are offsets in the document.
    is_literal: bool,
}

impl Text<'_> {
    /// Offset in the document of an offset in the text.
    pub const fn place(&self, offset: usize) -> usize {
        if self.is_literal { self.at + offset } else { self.at }
    }
}

/// The document, and what is wrong with it.
pub struct Reader<'a> {
    file: &'a str,
    source: &'a str,
    problems: Vec<(usize, String)>,
}

/// A table whose keys are read one by one.
pub struct Section<'a> {
    /// The table in messages, such as `[parameters]`.
    pub title: String,
    /// Offset in the document.
    pub at: usize,
    table: &'a DeTable<'a>,
    known: Vec<&'a str>,
}

impl<'a> Reader<'a> {
    /// Begins without problems.
    pub const fn new(file: &'a str, source: &'a str) -> Self {
        Self { file, source, problems: Vec::new() }
    }

    /// Adds a problem at an offset of the document.
    pub fn wrong(&mut self, at: usize, message: impl Into<String>) {
        self.problems.push((at, message.into()));
    }

    /// Number of problems so far.
    pub const fn count(&self) -> usize {
        self.problems.len()
    }

    /// Line and column of an offset, both from 1.
    pub fn position(&self, at: usize) -> (usize, usize) {
        let mut at = at.min(self.source.len());
        while !self.source.is_char_boundary(at) {
            at -= 1;
        }
        position(self.source, at)
    }

    /// Ends the reading.
    ///
    /// # Errors
    /// With all problems, in the order of their places.
    pub fn finish(mut self) -> Result<(), SpecError> {
        if self.problems.is_empty() {
            return Ok(());
        }
        self.problems.sort_by_key(|(at, _)| *at);
        self.problems.dedup();
        let line = |(at, message): &(usize, String)| {
            let (line, column) = self.position(*at);
            format!("{}:{line}:{column}: {message}", self.file)
        };
        let mut lines: Vec<String> = self.problems.iter().take(SHOWN_MAX).map(line).collect();
        if let Some(more) = self.problems.len().checked_sub(SHOWN_MAX).filter(|more| *more > 0) {
            lines.push(format!("and {more} more problems"));
        }
        Err(SpecError::new(lines.join("\n")).about(super::settings::FILE.name.as_str()))
    }

    /// A section of a table.
    pub fn section(
        &self,
        title: impl Into<String>,
        at: usize,
        table: &'a DeTable<'a>,
    ) -> Section<'a> {
        Section { title: title.into(), at, table, known: Vec::new() }
    }

    /// A section of a value that must be a table.
    pub fn table(&mut self, title: impl Into<String>, node: &'a Node<'a>) -> Option<Section<'a>> {
        let (title, at) = (title.into(), node.span().start);
        match node.get_ref() {
            DeValue::Table(table) => Some(self.section(title, at, table)),
            other => {
                self.mismatch(at, &title, "a table", other);
                None
            }
        }
    }

    /// The values of a list; another value is a list of one if `or_one`.
    pub fn list(&mut self, title: &str, node: &'a Node<'a>, or_one: bool) -> Vec<&'a Node<'a>> {
        match node.get_ref() {
            DeValue::Array(list) => list.iter().collect(),
            _ if or_one => vec![node],
            other => {
                self.mismatch(node.span().start, title, "a list", other);
                Vec::new()
            }
        }
    }

    fn mismatch(&mut self, at: usize, title: &str, wanted: &str, found: &DeValue<'_>) {
        self.wrong(at, format!("{title} must be {wanted}, got {}", kind(found)));
    }

    /// The text of a value.
    pub fn text(&mut self, title: &str, node: &'a Node<'a>) -> Option<Text<'a>> {
        let span = node.span();
        let DeValue::String(text) = node.get_ref() else {
            self.mismatch(span.start, title, "a text", node.get_ref());
            return None;
        };
        if text.contains('\0') {
            self.wrong(span.start, format!("{title} contains a NUL character"));
            return None;
        }
        // Without escapes, the text is in the document as it is, after its quotes.
        let raw = self.source.get(span.clone()).unwrap_or_default();
        let quotes = raw.len() - raw.trim_start_matches(['"', '\'']).len();
        let quotes = if quotes >= 3 { 3 } else { 1 };
        let body = raw.get(quotes..).unwrap_or_default();
        let line = ["\r\n", "\n"].iter().find(|end| quotes == 3 && body.starts_with(**end));
        let start = quotes + line.map_or(0, |end| end.len());
        let is_literal = raw.get(start..).is_some_and(|rest| rest.starts_with(&**text));
        let at = if is_literal { span.start + start } else { span.start };
        Some(Text { text, at, is_literal })
    }

    /// A whole number of a range.
    pub fn integer(&mut self, title: &str, node: &Node<'_>, low: i64, high: i64) -> Option<i64> {
        let at = node.span().start;
        let DeValue::Integer(number) = node.get_ref() else {
            self.mismatch(at, title, "a whole number", node.get_ref());
            return None;
        };
        let read = i64::from_str_radix(number.as_str(), number.radix()).ok();
        let within = read.filter(|number| (low..=high).contains(number));
        if within.is_none() {
            let range = match (low, high) {
                (i64::MIN, i64::MAX) => "a 64-bit number".to_owned(),
                (low, i64::MAX) => format!("{low} or more"),
                (low, high) => format!("from {low} to {high}"),
            };
            self.wrong(at, format!("{title} must be {range}, got {}", number.as_str()));
        }
        within
    }

    /// A number.
    pub fn number(&mut self, title: &str, node: &Node<'_>) -> Option<f64> {
        let text = match node.get_ref() {
            DeValue::Integer(number) if number.radix() == 10 => number.as_str(),
            DeValue::Float(number) => number.as_str(),
            other => {
                self.mismatch(node.span().start, title, "a number", other);
                return None;
            }
        };
        let read = text.parse::<f64>().ok().filter(|number| number.is_finite());
        if read.is_none() {
            self.wrong(node.span().start, format!("{title} must be a finite number, got {text}"));
        }
        read
    }

    /// Rejects keys that were not asked for.
    pub fn end(&mut self, section: &Section<'a>) {
        for (key, _) in section.table.iter() {
            let name: &str = key.get_ref();
            if section.known.contains(&name) {
                continue;
            }
            let hint = suggestion(name, section.known.iter().copied());
            let hint = if hint.is_empty() {
                let mut known = section.known.clone();
                known.sort_unstable();
                known.dedup();
                format!("; known are {}", known.join(", "))
            } else {
                hint
            };
            self.wrong(key.span().start, format!("{} has no key `{name}`{hint}", section.title));
        }
    }
}

impl<'a> Section<'a> {
    /// The value of a key, which is known from now on.
    pub fn get(&mut self, key: &'a str) -> Option<&'a Node<'a>> {
        self.known.push(key);
        self.table.iter().find(|(name, _)| name.get_ref() == key).map(|(_, value)| value)
    }

    /// All keys with their offsets and values, in the order of the document.
    pub fn entries(&self) -> Vec<(&'a str, usize, &'a Node<'a>)> {
        let entry = |(key, value): (&'a Spanned<_>, &'a Node<'a>)| {
            let name: &'a std::borrow::Cow<'a, str> = key.get_ref();
            (&**name, key.span().start, value)
        };
        let mut entries: Vec<_> = self.table.iter().map(entry).collect();
        entries.sort_by_key(|(_, at, _)| *at);
        entries
    }

    /// `key` of this section, for messages.
    pub fn of(&self, key: &str) -> String {
        format!("`{key}` of {}", self.title)
    }

    /// The text of a key, if it is there.
    pub fn text(&mut self, reader: &mut Reader<'a>, key: &'a str) -> Option<Text<'a>> {
        let node = self.get(key)?;
        reader.text(&self.of(key), node)
    }

    /// The text of a key that must be there.
    pub fn needs_text(&mut self, reader: &mut Reader<'a>, key: &'a str) -> Option<Text<'a>> {
        if self.get(key).is_none() {
            reader.wrong(self.at, format!("{} needs `{key}`", self.title));
        }
        self.text(reader, key)
    }

    /// The whole number of a key, if it is there.
    pub fn integer(
        &mut self,
        reader: &mut Reader<'a>,
        key: &'a str,
        low: i64,
        high: i64,
    ) -> Option<i64> {
        let node = self.get(key)?;
        reader.integer(&self.of(key), node, low, high)
    }

    /// The number of a key, if it is there.
    pub fn number(&mut self, reader: &mut Reader<'a>, key: &'a str) -> Option<f64> {
        let node = self.get(key)?;
        reader.number(&self.of(key), node)
    }
}

/// A value in messages.
fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date or time",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// The end of an error about an unknown name: the closest known name, or nothing if none is close.
pub fn suggestion<'a>(typed: &str, known: impl Iterator<Item = &'a str>) -> String {
    let closest = known.map(|name| (strsim::levenshtein(typed, name), name)).min();
    // With more edits, any short name would match.
    let most = EDITS_MAX.min(typed.chars().count() / 3);
    let closest = closest.filter(|(edits, _)| (1..=most).contains(edits));
    closest.map_or(String::new(), |(_, name)| format!("; did you mean `{name}`?"))
}
