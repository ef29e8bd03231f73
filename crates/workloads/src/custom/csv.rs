//! Reads one column of a CSV file (RFC 4180): a line of names, fields in quotes where they need them.

/// The values of the column `column`, without its name.
///
/// # Errors
/// When there is no such column, a line lacks it, or a quotation has no end; the message begins with the line.
pub fn column(text: &str, column: &str, separator: char) -> Result<Vec<String>, String> {
    let mut records =
        Records { text: text.strip_prefix('\u{feff}').unwrap_or(text), separator, line: 1 };
    let names = records.next_record()?.map(|(_, names)| names).unwrap_or_default();
    let Some(place) = names.iter().position(|name| name.trim() == column) else {
        let hint = super::reader::suggestion(column, names.iter().map(|name| name.trim()));
        return Err(format!(
            "1: no column `{column}`; the first line names {}{hint}",
            names.join(", ")
        ));
    };
    let mut values = Vec::new();
    while let Some((line, mut fields)) = records.next_record()? {
        if place >= fields.len() {
            return Err(format!(
                "{line}: {} fields, but `{column}` is the {}th",
                fields.len(),
                place + 1
            ));
        }
        values.push(fields.swap_remove(place));
    }
    Ok(values)
}

struct Records<'a> {
    text: &'a str,
    separator: char,
    line: usize,
}

impl Records<'_> {
    /// The next record with its line, after any blank lines; `None` at the end.
    fn next_record(&mut self) -> Result<Option<(usize, Vec<String>)>, String> {
        while let Some(rest) =
            self.text.strip_prefix('\n').or_else(|| self.text.strip_prefix("\r\n"))
        {
            self.text = rest;
            self.line += 1;
        }
        if self.text.is_empty() {
            return Ok(None);
        }
        let line = self.line;
        let mut fields = Vec::new();
        loop {
            fields.push(self.field()?);
            let mut rest = self.text.chars();
            match rest.next() {
                Some(c) if c == self.separator => self.text = rest.as_str(),
                Some('\r') if rest.as_str().starts_with('\n') => {
                    self.text = &rest.as_str()[1..];
                    break;
                }
                Some('\n') => {
                    self.text = rest.as_str();
                    break;
                }
                Some(_) => return Err(format!("{}: text after the end of a quotation", self.line)),
                None => break,
            }
        }
        self.line += 1;
        Ok(Some((line, fields)))
    }

    fn field(&mut self) -> Result<String, String> {
        let Some(quoted) = self.text.strip_prefix('"') else {
            let end = |c: char| c == self.separator || c == '\n';
            let length = self.text.find(end).unwrap_or(self.text.len());
            let field = &self.text[..length];
            let field = field.strip_suffix('\r').unwrap_or(field);
            self.text = &self.text[field.len()..];
            return Ok(field.to_owned());
        };
        let (mut field, mut rest) = (String::new(), quoted);
        loop {
            let Some(end) = rest.find('"') else {
                return Err(format!("{}: the quotation has no end", self.line));
            };
            field.push_str(&rest[..end]);
            self.line += rest[..end].matches('\n').count();
            rest = &rest[end + 1..];
            match rest.strip_prefix('"') {
                Some(more) => {
                    field.push('"');
                    rest = more;
                }
                None => break,
            }
        }
        self.text = rest;
        Ok(field)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_may_be_quoted() {
        let text = "id,name\r\n1,Ann\n2,\"a \"\"b\"\", c\nd\"\n\n3,\n";
        assert_eq!(column(text, "name", ',').unwrap(), ["Ann", "a \"b\", c\nd", ""]);
        assert_eq!(column(text, "id", ',').unwrap(), ["1", "2", "3"]);
        assert_eq!(column("\u{feff}a;b\n1;2", "a", ';').unwrap(), ["1"]);
        assert_eq!(column("a", "a", ',').unwrap(), [""; 0]);
        assert_eq!(column("a\n\"\"\n\r\n1\n", "a", ',').unwrap(), ["", "1"]);
    }

    #[test]
    fn errors_have_a_line() {
        for (text, message) in [
            ("", "1: no column `name`"),
            ("id,nam\n", "did you mean `nam`?"),
            ("id,name\n1,x\n2\n", "3: 1 fields, but `name` is the 2th"),
            ("id,name\n1,\"x\n", "2: the quotation has no end"),
            ("id,name\n1,\"x\"y\n", "2: text after the end of a quotation"),
        ] {
            let error = column(text, "name", ',').unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
