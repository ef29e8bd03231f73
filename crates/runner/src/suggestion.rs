//! Suggestions for mistyped names.

/// Maximum number of edits between a name and the typed one: with more, any short name would match.
const EDITS_MAX: usize = 2;

/// The end of an error about an unknown name: the closest known name, or nothing if none is close.
/// A name that exists but is not accepted here is not a typing mistake.
pub(crate) fn suggestion<'a>(typed: &str, known: impl Iterator<Item = &'a str>) -> String {
    let closest = known
        .map(|name| (strsim::levenshtein(typed, name), name))
        .filter(|(edits, _)| *edits <= EDITS_MAX)
        .min()
        .filter(|(edits, _)| *edits > 0);
    closest.map_or(String::new(), |(_, name)| format!("; did you mean `{name}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_name_is_suggested_and_none_that_is_far() {
        let known = ["vus", "scale", "seed", "series"];
        for (typed, hint) in [
            ("use", "; did you mean `vus`?"),
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
