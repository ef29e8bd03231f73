//! Parses requirements: `METRIC OPERATOR NUMBER[UNIT]`, comma-separated.

use super::Requirement;
use super::metric::Vocabulary;
use super::of_node::PREFIX;
use crate::judgement::Operator;
use crate::unit::FigureUnit;

/// Units of times, in microseconds.
const TIMES: [(&str, f64); 6] =
    [("us", 1.0), ("µs", 1.0), ("ms", 1e3), ("s", 1e6), ("min", 6e7), ("m", 6e7)];
/// Suffixes of numbers, with their factors.
const THOUSANDS: [(&str, f64); 3] = [("k", 1e3), ("K", 1e3), ("M", 1e6)];

/// Parses requirements with the names of `vocabulary`.
///
/// # Errors
/// Describes what is wrong, marks the position, and lists the known metrics if one is unknown.
pub fn parse(text: &str, vocabulary: &Vocabulary) -> Result<Vec<Requirement>, String> {
    let mut requirements = Vec::new();
    let mut begin = 0;
    for part in text.split(',') {
        let reader = Reader { whole: text, begin, end: begin + part.len() };
        requirements.push(reader.requirement(vocabulary)?);
        begin += part.len() + 1;
    }
    Ok(requirements)
}

/// Parses one requirement within a longer text.
struct Reader<'a> {
    whole: &'a str,
    begin: usize,
    end: usize,
}

/// A part of the text, as byte offsets.
#[derive(Clone, Copy)]
struct Span {
    begin: usize,
    end: usize,
}

impl Reader<'_> {
    fn requirement(&self, vocabulary: &Vocabulary) -> Result<Requirement, String> {
        let of_node = self.whole[self.begin..self.end].trim_start().starts_with(PREFIX);
        let name = self.word(self.begin, |c| {
            // A node may be named by its host and port.
            c.is_alphanumeric() || "_.".contains(c) || (of_node && "-:[]/%".contains(c))
        });
        if name.begin == name.end {
            return Err(self.wrong(name, "expected a metric here, as in `nopm >= 50000`"));
        }
        let metric = vocabulary.find(self.text(name)).map_err(|problem| {
            format!("{}\n  {}", self.wrong(name, &problem), vocabulary.listed())
        })?;
        let sign = self.word(name.end, |c| "<>=!".contains(c));
        let Some(operator) = Operator::ALL.into_iter().find(|o| o.sign() == self.text(sign)) else {
            return Err(self.wrong(sign, "expected one of < <= > >= == != here"));
        };
        let number = self.word(sign.end, |c| c.is_ascii_digit() || "._-+".contains(c));
        let count = self.text(number).replace('_', "").parse::<f64>().ok();
        let Some(count) = count.filter(|count| count.is_finite()) else {
            return Err(self.wrong(number, "expected a number here"));
        };
        let unit = self.word(number.end, |c| !c.is_whitespace());
        let limit = count
            * factor(metric.unit(), self.text(unit)).map_err(|problem| {
                let place = if unit.begin == unit.end { number } else { unit };
                self.wrong(place, &format!("{}: {problem}", metric.name()))
            })?;
        let rest = self.word(unit.end, |_| true);
        if rest.begin < rest.end {
            return Err(self.wrong(rest, "unexpected text; separate requirements with a comma"));
        }
        let text = self.whole[self.begin..self.end].trim().to_owned();
        Ok(Requirement { text, metric, operator, limit })
    }

    /// The longest part of such characters, starting at `from` after spaces.
    fn word(&self, from: usize, belongs: impl Fn(char) -> bool) -> Span {
        let rest = &self.whole[from..self.end];
        let begin = from + (rest.len() - rest.trim_start().len());
        let word = &self.whole[begin..self.end];
        let length = word.find(|c| !belongs(c)).unwrap_or(word.trim_end().len());
        Span { begin, end: begin + length }
    }

    fn text(&self, span: Span) -> &str {
        &self.whole[span.begin..span.end]
    }

    /// Formats the problem, and the text with a mark under the position.
    fn wrong(&self, span: Span, problem: &str) -> String {
        let before = self.whole[..span.begin].chars().count();
        let width = self.text(span).chars().count().max(1);
        format!("{problem}\n  {}\n  {}{}", self.whole, " ".repeat(before), "^".repeat(width))
    }
}

/// Factor that converts a number with this unit to the metric's own unit.
fn factor(of: FigureUnit, unit: &str) -> Result<f64, String> {
    let find = |units: &[(&str, f64)]| {
        units.iter().find(|(name, _)| *name == unit).map(|(_, factor)| *factor)
    };
    match of {
        FigureUnit::Us => find(&TIMES).ok_or("a time needs a unit: us, ms, s or min"),
        FigureUnit::Share if unit.is_empty() => Ok(1.0),
        FigureUnit::Share => find(&[("%", 0.01)]).ok_or("expected a share, such as 0.1% or 0.001"),
        FigureUnit::Number if unit.is_empty() => Ok(1.0),
        FigureUnit::Number => find(&THOUSANDS).ok_or(
            "invalid number: only the suffixes k and M are \
                                                allowed",
        ),
    }
    .map_err(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vocabulary() -> Vocabulary {
        Vocabulary::of_workload(&triphammer_workloads::describe("tproc-c").unwrap())
    }

    fn one(text: &str) -> Requirement {
        parse(text, &vocabulary()).unwrap_or_else(|error| panic!("{error}")).remove(0)
    }

    #[test]
    fn good_requirements_are_read() {
        for (text, metric, operator, limit) in [
            ("nopm >= 50000", "nopm", Operator::AtLeast, 50_000.0),
            ("nopm>=50k", "nopm", Operator::AtLeast, 50_000.0),
            ("tpm > 1.5M", "tpm", Operator::Greater, 1_500_000.0),
            ("tpm_server != 50_000", "tpm_server", Operator::NotEqual, 50_000.0),
            ("failures < 0.1%", "failures", Operator::Less, 0.001),
            ("failures < 0.001", "failures", Operator::Less, 0.001),
            ("indeterminate == 0", "indeterminate", Operator::Equal, 0.0),
            ("new_order.p95 < 10ms", "new_order.p95", Operator::Less, 10_000.0),
            ("new_order.p9999 <= 1 s", "new_order.p9999", Operator::AtMost, 1_000_000.0),
            ("payment.service.mean < 250us", "payment.service.mean", Operator::Less, 250.0),
            ("all.max < 2min", "all.max", Operator::Less, 120_000_000.0),
            ("  all.per_minute   >   1 ", "all.per_minute", Operator::Greater, 1.0),
            ("client.cpu_us < 100us", "client.cpu_us", Operator::Less, 100.0),
            ("retries <= 2 %", "retries", Operator::AtMost, 0.02),
        ] {
            let requirement = one(text);
            assert_eq!(requirement.text, text.trim());
            assert_eq!((requirement.metric.name(), requirement.operator), (metric, operator));
            assert!((requirement.limit - limit).abs() < 1e-9, "{text}: {}", requirement.limit);
        }
        assert!(parse(&format!("nopm > {}", "9".repeat(400)), &vocabulary()).is_err());
        let several = parse("nopm >= 5, failures < 1%", &vocabulary()).unwrap();
        assert_eq!(several.len(), 2);
        assert_eq!(several[1].text, "failures < 1%");
    }

    #[test]
    fn bad_requirements_say_what_is_wrong_and_where() {
        for (text, problem, mark) in [
            ("nopn >= 5", "unknown metric `nopn`; did you mean `nopm`?", "^^^^"),
            ("new_orde.p95 < 1ms", "did you mean `new_order.p95`?", "^^^^^^^^^^^^"),
            ("new_order.p97 < 1ms", "did you mean `new_order.p9", "^^^^^^^^^^^^^"),
            ("elephants > 3", "unknown metric `elephants`\n", "^^^^^^^^^"),
            ("", "expected a metric here", "^"),
            (">= 5", "expected a metric here", "^"),
            ("nopm 5", "expected one of < <= > >= == != here", "     ^"),
            ("nopm => 5", "expected one of < <= > >= == != here", "     ^^"),
            ("nopm = 5", "expected one of <", "     ^"),
            ("nopm >=", "expected a number here", "       ^"),
            ("nopm >= many", "expected a number here", "        ^"),
            ("nopm >= 1.2.3", "expected a number here", "        ^^^^^"),
            ("nopm >= 5ms", "nopm: invalid number: only the suffixes k and M", "         ^^"),
            ("nopm >= 5%", "nopm: invalid number", "         ^"),
            ("new_order.p95 < 10", "new_order.p95: a time needs a unit", "                ^^"),
            ("new_order.p95 < 10%", "a time needs a unit", "                  ^"),
            ("failures < 1ms", "expected a share, such as 0.1% or 0.001", "            ^^"),
            ("nopm > 5 or tpm > 5", "nopm: invalid number", "         ^^"),
            (
                "nopm > 5 k tpm",
                "unexpected text; separate requirements with a comma",
                "           ^^^",
            ),
            ("nopm > 5, tpn > 5", "did you mean `tpm`?", "          ^^^"),
            ("nopm > 5,", "expected a metric here", "         ^"),
        ] {
            let error = parse(text, &vocabulary()).expect_err(text);
            assert!(error.contains(problem), "{text}: {error}");
            let shown = format!("\n  {text}\n  {mark}");
            assert!(format!("{error}\n").contains(&format!("{shown}\n")), "{text}: {error}");
        }
    }

    #[test]
    fn an_unknown_metric_lists_the_known_ones() {
        let error = parse("elephants > 3", &vocabulary()).unwrap_err();
        for name in ["nopm", "tpm_server", "client.cpu_us", "p9999", "service.", "all, new_order"] {
            assert!(error.contains(name), "{error}");
        }
    }
}
