//! Quotes names and strings for T-SQL.

/// Quotes a name, whatever it contains.
pub(super) fn quote_identifier(name: &str) -> String {
    format!("[{}]", name.replace(']', "]]"))
}

/// Quotes a string, whatever it contains.
pub(super) fn quote_literal(text: &str) -> String {
    format!("N'{}'", text.replace('\'', "''"))
}
