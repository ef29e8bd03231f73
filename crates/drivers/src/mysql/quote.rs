//! Quotes names and strings so that they are read the same in every SQL mode.

use std::fmt::Write as _;

/// Quotes a name, whatever it contains.
pub(super) fn quote_identifier(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// Quotes a string, whatever it contains. The SQL mode decides what a backslash in quotes is, so a
/// string with one is written in hexadecimal.
pub(super) fn quote_literal(text: &str) -> String {
    if !text.contains('\\') {
        return format!("'{}'", text.replace('\'', "''"));
    }
    let mut quoted = "CONVERT(0x".to_owned();
    for byte in text.bytes() {
        let written = write!(quoted, "{byte:02x}");
        written.expect("writing to a string cannot fail");
    }
    quoted.push_str(" USING utf8mb4)");
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_mean_the_same_in_every_sql_mode() {
        assert_eq!(quote_identifier("a`b\"c"), "`a``b\"c`");
        assert_eq!(quote_literal("it's"), "'it''s'");
        assert_eq!(quote_literal("a\\"), "CONVERT(0x615c USING utf8mb4)");
    }
}
