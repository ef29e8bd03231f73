//! The text format of Prometheus, as far as exporters use it.

/// Maximum number of lines that are read.
const LINES_MAX: usize = 200_000;

/// A line of the text format: `node_disk_io_now{device="sda"} 0`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sample<'a> {
    /// Name of the metric.
    pub name: &'a str,
    /// The labels as they are written, without brackets.
    labels: &'a str,
    /// The value, which is finite.
    pub value: f64,
}

/// The samples of a text.
pub(crate) fn samples(text: &str) -> impl Iterator<Item = Sample<'_>> {
    text.lines().take(LINES_MAX).filter_map(sample)
}

/// Reads a line; `None` for comments and for what is not a sample. A time stamp after the value is
/// ignored.
fn sample(line: &str) -> Option<Sample<'_>> {
    let line = line.trim();
    let end = line.find(['{', ' ', '\t'])?;
    let (name, rest) = line.split_at(end);
    let (labels, value) = match rest.strip_prefix('{') {
        // A label's value may contain brackets, but no value follows those.
        Some(rest) => rest.rsplit_once('}')?,
        None => ("", rest),
    };
    let value: f64 = value.split_whitespace().next()?.parse().ok()?;
    (!name.starts_with('#') && value.is_finite()).then_some(Sample { name, labels, value })
}

impl<'a> Sample<'a> {
    /// Value of a label that contains neither a comma nor an escaped character, such as the name of
    /// a device.
    pub fn label(&self, name: &str) -> Option<&'a str> {
        self.labels.split(',').find_map(|label| {
            let (found, value) = label.split_once('=')?;
            (found.trim() == name).then(|| value.trim().trim_matches('"'))
        })
    }

    /// All labels, in their order; `None` if they are not written as the format wants.
    pub fn labels(&self) -> Option<Vec<(String, String)>> {
        let mut all = Vec::new();
        let mut rest = self.labels.trim();
        while !rest.is_empty() {
            let (name, value) = rest.split_once('=')?;
            let (value, after) = quoted(value.trim_start())?;
            all.push((name.trim().to_owned(), value));
            let after = after.trim_start();
            rest = match after.strip_prefix(',') {
                Some(next) => next.trim_start(),
                None if after.is_empty() => after,
                None => return None,
            };
        }
        Some(all)
    }
}

/// Reads a value in quotes; returns it without its escapes, and what follows.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut signs = text.strip_prefix('"')?.char_indices();
    while let Some((at, sign)) = signs.next() {
        match sign {
            // After the opening quote and this one.
            '"' => return Some((value, &text[at + 2..])),
            '\\' => match signs.next()?.1 {
                'n' => value.push('\n'),
                other => value.push(other),
            },
            other => value.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_may_contain_what_separates_them() {
        let text = r#"power_watts{a="x,y=\"z\"", b="}"} 12.5 1700000000000"#;
        let sample = samples(text).next().unwrap();
        assert_eq!((sample.name, sample.value), ("power_watts", 12.5));
        let labels = sample.labels().unwrap();
        let labels: Vec<_> = labels.iter().map(|(name, value)| (&**name, &**value)).collect();
        assert_eq!(labels, [("a", "x,y=\"z\""), ("b", "}")]);
        for broken in ["p{a=1} 1", "p{a=\"x} 1", "p{a=\"x\"b=\"y\"} 1", "p{a} 1"] {
            let sample = samples(broken).next().unwrap();
            assert_eq!(sample.labels(), None, "{broken}");
        }
        assert_eq!(samples("# HELP p 1\np NaN\np{} 3").count(), 1);
    }
}
