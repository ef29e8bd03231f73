//! Arrays of PostgreSQL as texts, such as `{1,2,NULL,"a b"}` (manual, section 8.15): those of one dimension, whose first element
//! has the number 1.

use super::argument::Argument;

/// The elements of an array; `None` if the text is not one.
#[must_use]
pub fn elements(text: &str) -> Option<Vec<Argument>> {
    let mut rest = text.trim().strip_prefix('{')?.strip_suffix('}')?.trim_start();
    let mut found = Vec::new();
    while !rest.is_empty() {
        let (element, after) = if rest.starts_with('"') { quoted(rest)? } else { plain(rest)? };
        found.push(element);
        rest = match after.trim_start() {
            "" => "",
            // After a comma, there is another element.
            after => Some(after.strip_prefix(',')?.trim_start()).filter(|next| !next.is_empty())?,
        };
    }
    Some(found)
}

/// An element in quotes, and what follows it.
fn quoted(text: &str) -> Option<(Argument, &str)> {
    let mut value = String::new();
    let mut chars = text[1..].chars();
    loop {
        match chars.next()? {
            '"' => return Some((Argument::of_text(value), chars.as_str())),
            '\\' => value.push(chars.next()?),
            c => value.push(c),
        }
    }
}

/// An element without quotes, and what follows it.
fn plain(text: &str) -> Option<(Argument, &str)> {
    let end = text.find(',').unwrap_or(text.len());
    let (element, after) = text.split_at(end);
    let element = element.trim_end();
    let is_plain = !element.is_empty() && !element.contains(['{', '}', '"', '\\']);
    let value = match element.eq_ignore_ascii_case("null") {
        true => Argument::Null,
        false => Argument::of_text(element.to_owned()),
    };
    is_plain.then_some((value, after))
}

/// The array of these elements.
#[must_use]
pub fn array(elements: &[Argument]) -> String {
    let mut out = String::from("{");
    for (place, element) in elements.iter().enumerate() {
        if place > 0 {
            out.push(',');
        }
        match element.written() {
            Some(text) => push_element(&text, &mut out),
            None => out.push_str("NULL"),
        }
    }
    out.push('}');
    out
}

/// Writes an element, in quotes where it needs them.
pub fn push_element(text: &str, out: &mut String) {
    let needs = |c: char| matches!(c, '{' | '}' | ',' | '"' | '\\') || c.is_ascii_whitespace();
    let is_plain = !text.is_empty() && !text.contains(needs) && !text.eq_ignore_ascii_case("null");
    if is_plain {
        out.push_str(text);
        return;
    }
    out.push('"');
    for c in text.chars() {
        if matches!(c, '"' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_read_and_written_as_the_server_does() {
        let text = |text: &str| Argument::Text(text.to_owned());
        for (written, expected) in [
            ("{}", vec![]),
            ("{1,-2,NULL}", vec![Argument::Int(1), Argument::Int(-2), Argument::Null]),
            (
                "{\"a b\",\"\",\"\\\"\\\\\",\"null\"}",
                vec![text("a b"), text(""), text("\"\\"), text("null")],
            ),
            (
                "{00010203-0405-0607-0809-0a0b0c0d0e0f}",
                vec![text("00010203-0405-0607-0809-0a0b0c0d0e0f")],
            ),
        ] {
            assert_eq!(elements(written).as_ref(), Some(&expected), "{written}");
            assert_eq!(array(&expected), written);
        }
        assert_eq!(elements("{ 1 , 2 }"), Some(vec![Argument::Int(1), Argument::Int(2)]));
        for other in [
            "",
            "1",
            "{1",
            "{1,}",
            "{,1}",
            "{{1},{2}}",
            "[0:1]={1,2}",
            "{\"a\":1}",
            "{\"a",
            "{a b}c}",
        ] {
            assert_eq!(elements(other), None, "{other}");
        }
    }
}
