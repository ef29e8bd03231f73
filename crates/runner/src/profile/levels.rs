//! Reads the requested levels.

use std::fmt;

use triphammer_core::spec::SESSIONS_MAX;

/// Maximum number of levels in a profile.
const LEVELS_MAX: usize = 64;

/// The requested levels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestedLevels {
    /// These levels, ascending and distinct.
    Given(Vec<u32>),
    /// Levels chosen until the knee and the decline are found.
    Auto,
}

impl fmt::Display for RequestedLevels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Given(levels) => {
                let levels: Vec<String> = levels.iter().map(u32::to_string).collect();
                f.write_str(&levels.join(","))
            }
        }
    }
}

impl std::str::FromStr for RequestedLevels {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim() == "auto" {
            return Ok(Self::Auto);
        }
        let mut levels = Vec::new();
        for part in text.split(',') {
            match part.split_once("..") {
                Some((first, last)) => levels.extend(doubling(users(first)?, users(last)?)?),
                None => levels.push(users(part)?),
            }
        }
        levels.sort_unstable();
        levels.dedup();
        match levels.len() {
            0..=1 => Err(format!(
                "`{text}` is only one level: a profile needs at least two, and a \
                             fitted curve three"
            )),
            2..=LEVELS_MAX => Ok(Self::Given(levels)),
            more => Err(format!("{more} levels are too many: give at most {LEVELS_MAX}")),
        }
    }
}

fn users(text: &str) -> Result<u32, String> {
    match text.trim().parse() {
        Ok(users @ 1..=SESSIONS_MAX) => Ok(users),
        Ok(_) => Err(format!("invalid level `{}`: must be 1 to {SESSIONS_MAX}", text.trim())),
        Err(_) => {
            Err(format!("invalid level `{}`: expected 1,2,4,8 or 1..64 or auto", text.trim()))
        }
    }
}

/// Returns `first`, doubled until `last`, and `last`.
fn doubling(first: u32, last: u32) -> Result<Vec<u32>, String> {
    if first >= last {
        return Err(format!(
            "empty range `{first}..{last}`: the second number must be the larger \
                            one, as in 1..64"
        ));
    }
    let below = std::iter::successors(Some(first), |level| level.checked_mul(2));
    Ok(below.take_while(|level| *level < last).chain([last]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_lists_and_doublings() {
        let given = |text: &str| text.parse::<RequestedLevels>().unwrap().to_string();
        assert_eq!(given("auto"), "auto");
        assert_eq!(given("8, 1,4,4"), "1,4,8");
        assert_eq!(given("1..64"), "1,2,4,8,16,32,64");
        assert_eq!(given("3..50"), "3,6,12,24,48,50");
        assert_eq!(given("1..4,6,8..10"), "1,2,4,6,8,10");
    }

    #[test]
    fn what_is_no_list_of_levels_is_refused() {
        for (text, message) in [
            ("", "invalid level ``"),
            ("4", "only one level"),
            ("0,1", "must be 1 to"),
            ("1,x", "invalid level `x`"),
            ("8..8", "empty range"),
            ("9..", "invalid level"),
            ("-1..4", "invalid level"),
        ] {
            let error = text.parse::<RequestedLevels>().unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
        let many: Vec<String> = (1..=65).map(|level| level.to_string()).collect();
        assert!(many.join(",").parse::<RequestedLevels>().unwrap_err().contains("too many"));
    }
}
