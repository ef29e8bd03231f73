//! Suggestions for mistyped names.

/// Maximum number of edits between a name and the typed one; two swapped letters are one edit.
const EDITS_MAX: usize = 2;
/// Letters per edit: with more edits, any short name would match.
const LETTERS_PER_EDIT: usize = 3;

/// The end of an error about an unknown name: the closest known name, or nothing if none is close.
/// A name that exists but is not accepted here is not a typing mistake.
#[must_use]
pub fn suggestion<'a>(typed: &str, known: impl Iterator<Item = &'a str>) -> String {
    closest(typed, known).map_or(String::new(), |name| format!("; did you mean `{name}`?"))
}

/// The known name that was probably meant; `None` if none is close, or if the typed one is known.
#[must_use]
pub fn closest<'a>(typed: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let most = EDITS_MAX.min(typed.chars().count() / LETTERS_PER_EDIT);
    known
        .map(|name| (strsim::osa_distance(typed, name), name))
        .filter(|(edits, _)| *edits <= most)
        .min()
        .filter(|(edits, _)| *edits > 0)
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_name_is_suggested_and_none_that_is_far() {
        let known = ["vus", "scale", "seed", "series"];
        for (typed, hint) in [
            ("vsu", "; did you mean `vus`?"),
            ("use", ""),
            ("foo", ""),
            ("vuss", "; did you mean `vus`?"),
            ("scal", "; did you mean `scale`?"),
            ("sede", "; did you mean `seed`?"),
            ("seed", ""),
            ("warehouses", ""),
        ] {
            assert_eq!(suggestion(typed, known.into_iter()), hint, "{typed}");
        }
        assert_eq!(suggestion("x", [].into_iter()), "");
    }
}
