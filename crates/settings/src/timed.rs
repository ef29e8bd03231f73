//! What happens at times of a run, as users write it: `at=30s WHAT`, several of them with commas
//! between.

use std::time::Duration;

use triphammer_core::clock::parse_duration;

/// Begins each of them.
const AT: &str = "at=";
/// Separates two of them: each begins with its time.
const NEXT: &str = ", at=";

/// The texts of a list; what happens may contain commas.
pub fn each(text: &str) -> Vec<&str> {
    let mut all = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let end = rest.find(NEXT).unwrap_or(rest.len());
        all.push(rest[..end].trim());
        rest = rest[end..].trim_start_matches([',', ' ']);
    }
    all
}

/// Reads the time and what happens then. `what` names that in messages, and `forms` says how it is
/// written.
///
/// # Errors
/// Says what is missing.
pub fn parse<'t>(text: &'t str, what: &str, forms: &str) -> Result<(Duration, &'t str), String> {
    let wrong = |why: String| format!("`{text}` {why}: expected {forms}");
    let rest = text.trim().strip_prefix(AT);
    let rest = rest.ok_or_else(|| wrong(format!("does not begin with {AT}")))?;
    let (at, rest) =
        rest.split_once(char::is_whitespace).ok_or_else(|| wrong(format!("has no {what}")))?;
    Ok((parse_duration(at)?, rest.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_happens_may_contain_commas() {
        let all = each("at=1s mix=a=1, b=2, at=2s cmd=x, y ,at=3s z");
        assert_eq!(all, ["at=1s mix=a=1, b=2", "at=2s cmd=x, y ,at=3s z"]);
        assert_eq!(each(" "), [""; 0]);
        assert_eq!(
            parse("at=90s users=3", "change", "x"),
            Ok((Duration::from_secs(90), "users=3"))
        );
        let error = parse("at=90s", "change", "at=TIME users=N").unwrap_err();
        assert_eq!(error, "`at=90s` has no change: expected at=TIME users=N");
    }
}
