//! What somebody who mistyped a name most likely meant.

/// Most edits between a name and what was typed: more, and any short name would do.
const EDITS_MAX: usize = 2;

/// The end of an error about an unknown name: which known one was meant, or nothing where none is close. A name that
/// is known, and not taken here, is no mistake of the fingers.
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
