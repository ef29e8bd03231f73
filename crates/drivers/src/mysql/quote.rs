//! Quotes names and strings for the SQL mode of our sessions.

/// Quotes a name, whatever it contains; sessions treat `"` as the standard does.
pub(super) fn quote_identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Quotes a string, whatever it contains; sessions treat a backslash literally.
pub(super) fn quote_literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
