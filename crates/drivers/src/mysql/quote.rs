//! Names and strings as sessions have them in SQL.

/// A name as SQL has it, whatever is in it; sessions read `"` as the standard does.
pub(super) fn quote_identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A string as SQL has it, whatever is in it; sessions take a backslash for itself.
pub(super) fn quote_literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
