//! What went wrong, by the diagnostic records of a handle.

use std::fmt;

use crate::api::{Api, Handle, worked};

/// Number of records that are read of one failure.
const RECORDS_MAX: i16 = 4;
/// Longest message of a record, in UTF-16 units; a longer one is cut.
const MESSAGE_UNITS: usize = 2048;

/// An error that a driver or the driver manager reported.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Error {
    /// SQLSTATE, such as `40001`; empty if there is no record of the failure.
    pub state: String,
    /// The database's or driver's own number; 0 if it has none.
    pub native: i32,
    /// Message, without the brackets that name the components it passed through.
    pub message: String,
    /// Whether the driver manager reported it, rather than a driver.
    pub of_manager: bool,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl Error {
    /// An error of this crate's own.
    pub(crate) fn new(state: &str, message: impl Into<String>) -> Self {
        Self { state: state.to_owned(), message: message.into(), ..Self::default() }
    }

    /// Reads why the last call with a handle failed.
    pub(crate) fn of(api: &Api, kind: i16, handle: Handle, call: &str) -> Self {
        let records: Vec<Self> =
            (1..=RECORDS_MAX).map_while(|n| record(api, kind, handle, n)).collect();
        // Warnings may come before the error.
        let is_error = |record: &&Self| !record.state.starts_with("01");
        let Some(main) = records.iter().find(is_error).or(records.first()) else {
            return Self::new("", format!("{call} failed, and the driver does not say why"));
        };
        let mut error = main.clone();
        for other in &records {
            if !error.message.contains(&other.message) {
                error.message.push_str("; ");
                error.message.push_str(&other.message);
            }
        }
        error
    }
}

fn record(api: &Api, kind: i16, handle: Handle, number: i16) -> Option<Error> {
    let (mut state, mut native, mut length) = ([0u16; 6], 0, 0);
    let mut message = [0u16; MESSAGE_UNITS];
    #[expect(clippy::cast_possible_truncation, reason = "a small constant")]
    let room = MESSAGE_UNITS as i16;
    // SAFETY: the handle is alive, and each buffer has the length that is passed or required.
    let code = unsafe {
        (api.get_diag_rec)(
            kind,
            handle,
            number,
            state.as_mut_ptr(),
            &raw mut native,
            message.as_mut_ptr(),
            room,
            &raw mut length,
        )
    };
    if !worked(code) {
        return None;
    }
    let text = until_zero(&message);
    let (text, of_manager) = without_brackets(&text);
    Some(Error { state: until_zero(&state), native, message: text.to_owned(), of_manager })
}

/// Text up to the first zero.
pub(crate) fn until_zero(units: &[u16]) -> String {
    let end = units.iter().position(|unit| *unit == 0).unwrap_or(units.len());
    String::from_utf16_lossy(&units[..end])
}

/// A message without `[unixODBC][Driver Manager]` before it, and whether the manager is named.
fn without_brackets(message: &str) -> (&str, bool) {
    let mut rest = message.trim();
    let mut of_manager = false;
    while let Some((name, after)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        of_manager |= name == "Driver Manager";
        rest = after.trim_start();
    }
    if rest.is_empty() { (message, of_manager) } else { (rest, of_manager) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_lose_the_names_of_components() {
        for (message, expected, of_manager) in [
            (
                "[unixODBC][Driver Manager]Data source name not found",
                "Data source name not found",
                true,
            ),
            ("[SQLite]no such table: t (1)", "no such table: t (1)", false),
            ("plain [x]", "plain [x]", false),
            ("[only]", "[only]", false),
            ("[open", "[open", false),
            ("", "", false),
        ] {
            assert_eq!(without_brackets(message), (expected, of_manager));
        }
    }

    #[test]
    fn text_ends_at_its_zero() {
        assert_eq!(until_zero(&[0x61, 0, 0x62]), "a");
        assert_eq!(until_zero(&[0x61, 0xd800]), "a\u{fffd}");
    }
}
