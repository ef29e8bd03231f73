//! Reads the generators of `[parameters]`.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use toml::de::DeValue;
use triphammer_core::value::{Date, Timestamp, parse_decimal};

use super::by_dialect::ByDialect;
use super::csv;
use super::datum::Datum;
use super::definition::dialect_texts;
use super::generator::{Generator, Integers, List, Shape, StartQuery};
use super::json::{Template, mentions};
use super::reader::{Node, Reader, Section, Text, suggestion};
use crate::script::names::Names;
use crate::script::random::Zipf;

/// Exponent of Zipf's law for which none is given: YCSB's.
const EXPONENT: f64 = 0.99;
/// Standard deviations from the middle to either end for which no deviation is given.
const DEVIATIONS: f64 = 3.0;
/// Longest text, in characters.
const LENGTH_MAX: i64 = 1_000_000;
/// Most digits after the point of a decimal.
const DIGITS_MAX: i64 = 18;

/// All generators, for messages.
const GENERATORS: [&str; 12] = [
    "integer",
    "float",
    "decimal",
    "sequence",
    "pick",
    "csv",
    "query",
    "text",
    "uuid",
    "date",
    "timestamp",
    "json",
];

/// A generator that was read, and the parameters that its template names, with their offsets.
pub struct ParsedGenerator<'a> {
    /// The generator; a template has no pieces yet.
    pub generator: Generator,
    /// Its template.
    pub template: Option<Text<'a>>,
    /// The parameters in the template: name and offset in the document.
    pub mentions: Vec<(&'a str, usize)>,
}

/// What generators are read with.
pub struct Context<'a> {
    /// The scale of the data, of which there is at least 1.
    pub scale: i64,
    /// The files that the document names.
    pub files: &'a BTreeMap<String, String>,
    /// Name of the document, for messages.
    pub file: &'a str,
}

/// Reads one parameter.
pub fn parameter<'a>(
    reader: &mut Reader<'a>,
    name: &str,
    node: &'a Node<'a>,
    context: &Context<'a>,
) -> Option<ParsedGenerator<'a>> {
    let mut section = reader.table(format!("parameter `{name}`"), node)?;
    let kind = section.needs_text(reader, "generator")?;
    let plain = |generator| ParsedGenerator { generator, template: None, mentions: Vec::new() };
    let before = reader.count();
    let section = &mut section;
    let read = match kind.text {
        "integer" => integers(reader, section, context).map(Generator::Integer).map(plain),
        "float" => float(reader, section).map(plain),
        "decimal" => decimal(reader, section).map(plain),
        "sequence" => sequence(reader, section, context).map(plain),
        "pick" => pick(reader, section).map(plain),
        "csv" => from_csv(reader, section, context).map(plain),
        "query" => query(reader, section, context).map(plain),
        "text" => text(reader, section).map(plain),
        "uuid" => Some(plain(Generator::Uuid)),
        "date" => dates(reader, section, date).map(Generator::Date).map(plain),
        "timestamp" => dates(reader, section, timestamp).map(Generator::Timestamp).map(plain),
        "json" => json(reader, section),
        other => {
            let hint = suggestion(other, GENERATORS.into_iter());
            let known = GENERATORS.join(", ");
            reader.wrong(kind.at, format!("unknown generator `{other}`; known are {known}{hint}"));
            return None;
        }
    };
    // After an error, keys that were not asked for may be right.
    if read.is_some() {
        reader.end(section);
    }
    read.filter(|_| reader.count() == before)
}

/// An integer, or a text such as `1000 * scale`.
pub fn scaled<'a>(
    reader: &mut Reader<'a>,
    section: &mut Section<'a>,
    key: &'a str,
    scale: i64,
) -> Option<i64> {
    let node = section.get(key)?;
    let title = section.of(key);
    if !matches!(node.get_ref(), DeValue::String(_)) {
        return reader.integer(&title, node, i64::MIN, i64::MAX);
    }
    let text = reader.text(&title, node)?;
    let factors = text.text.split('*').map(|factor| match factor.trim() {
        "scale" => Some(scale),
        number => number.replace('_', "").parse().ok(),
    });
    let product = factors.reduce(|product, factor| product?.checked_mul(factor?)).flatten();
    if product.is_none() {
        let message = format!(
            "{title} must be a whole number or a text such as \"1000 * scale\", got `{}`",
            text.text
        );
        reader.wrong(text.at, message);
    }
    product
}

fn needs<T>(
    reader: &mut Reader<'_>,
    section: &Section<'_>,
    key: &str,
    found: Option<T>,
    is_there: bool,
) -> Option<T> {
    if !is_there {
        reader.wrong(section.at, format!("{} needs `{key}`", section.title));
    }
    found
}

/// Checks the ends of a range.
fn ordered<'a, T: PartialOrd + std::fmt::Display>(
    reader: &mut Reader<'a>,
    section: &Section<'a>,
    low: T,
    high: T,
) -> Option<(T, T)> {
    if low <= high {
        return Some((low, high));
    }
    reader.wrong(
        section.at,
        format!("{}: `min` is {low}, above `max`, which is {high}", section.title),
    );
    None
}

fn integers<'a>(
    reader: &mut Reader<'a>,
    section: &mut Section<'a>,
    context: &Context<'a>,
) -> Option<Integers> {
    let has_min = section.get("min").is_some();
    let low = scaled(reader, section, "min", context.scale).or((!has_min).then_some(1));
    let has_max = section.get("max").is_some();
    let high = scaled(reader, section, "max", context.scale);
    let high = needs(reader, section, "max", high, has_max)?;
    let (low, high) = ordered(reader, section, low?, high)?;
    shaped(reader, section, low, high, 1.0)
}

/// The integers of a range. Mean and deviation are given in units of `unit` integers.
fn shaped<'a>(
    reader: &mut Reader<'a>,
    section: &mut Section<'a>,
    low: i64,
    high: i64,
    unit: f64,
) -> Option<Integers> {
    let Some(size) = high.checked_sub(low).and_then(|span| span.checked_add(1)) else {
        reader
            .wrong(section.at, format!("{} has too many values: at most 2^63 - 1", section.title));
        return None;
    };
    let shape = match distribution(reader, section)? {
        Distribution::Uniform => Shape::Uniform,
        Distribution::Zipf(exponent) => Shape::Zipf(Zipf::new(exponent, size)),
        Distribution::Normal { mean, deviation } => {
            let (mean, deviation) = (mean.map(|mean| mean * unit), deviation.map(|d| d * unit));
            #[expect(clippy::cast_precision_loss, reason = "the ends of a distribution")]
            let (low, high) = (low as f64, high as f64);
            normal(reader, section, low, high, mean, deviation)?
        }
    };
    Some(Integers { low, high, shape })
}

enum Distribution {
    Uniform,
    Zipf(f64),
    Normal { mean: Option<f64>, deviation: Option<f64> },
}

fn distribution<'a>(reader: &mut Reader<'a>, section: &mut Section<'a>) -> Option<Distribution> {
    if section.get("distribution").is_none() {
        return Some(Distribution::Uniform);
    }
    let name = section.text(reader, "distribution")?;
    match name.text {
        "uniform" => Some(Distribution::Uniform),
        "zipf" => exponent(reader, section).map(Distribution::Zipf),
        "normal" => Some(Distribution::Normal {
            mean: section.number(reader, "mean"),
            deviation: section.number(reader, "deviation"),
        }),
        other => {
            let known = ["uniform", "zipf", "normal"];
            let hint = suggestion(other, known.into_iter());
            let known = known.join(", ");
            reader
                .wrong(name.at, format!("unknown distribution `{other}`; known are {known}{hint}"));
            None
        }
    }
}

fn exponent<'a>(reader: &mut Reader<'a>, section: &mut Section<'a>) -> Option<f64> {
    if section.get("exponent").is_none() {
        return Some(EXPONENT);
    }
    let exponent = section.number(reader, "exponent")?;
    if !(0.01..=100.0).contains(&exponent) {
        let message =
            format!("{} must be from 0.01 to 100, got {exponent}", section.of("exponent"));
        reader.wrong(section.at, message);
        return None;
    }
    Some(exponent)
}

fn normal(
    reader: &mut Reader<'_>,
    section: &Section<'_>,
    low: f64,
    high: f64,
    mean: Option<f64>,
    deviation: Option<f64>,
) -> Option<Shape> {
    let mean = mean.unwrap_or_else(|| f64::midpoint(low, high));
    let deviation = deviation.unwrap_or((high - low) / (2.0 * DEVIATIONS));
    let title = &section.title;
    if !(low..=high).contains(&mean) {
        reader.wrong(section.at, format!("{title}: `mean` is {mean}, outside `min` and `max`"));
        return None;
    }
    if deviation < 0.0 {
        reader.wrong(section.at, format!("{title}: `deviation` is {deviation}, below 0"));
        return None;
    }
    Some(Shape::Normal { mean, deviation })
}

fn float<'a>(reader: &mut Reader<'a>, section: &mut Section<'a>) -> Option<Generator> {
    let (has_min, has_max) = (section.get("min").is_some(), section.get("max").is_some());
    let low = section.number(reader, "min");
    let low = needs(reader, section, "min", low, has_min);
    let high = section.number(reader, "max");
    let high = needs(reader, section, "max", high, has_max);
    let (low, high) = ordered(reader, section, low?, high?)?;
    let shape = match distribution(reader, section)? {
        Distribution::Uniform => Shape::Uniform,
        Distribution::Zipf(_) => {
            reader.wrong(
                section.at,
                format!("{}: Zipf's law needs an integer or a list", section.title),
            );
            return None;
        }
        Distribution::Normal { mean, deviation } => {
            normal(reader, section, low, high, mean, deviation)?
        }
    };
    Some(Generator::Float { low, high, shape })
}

fn decimal<'a>(reader: &mut Reader<'a>, section: &mut Section<'a>) -> Option<Generator> {
    let digits = match section.get("digits") {
        Some(_) => section.integer(reader, "digits", 0, DIGITS_MAX)?,
        None => 2,
    };
    let digits = u8::try_from(digits).unwrap_or_default();
    let low = decimal_end(reader, section, "min", digits);
    let high = decimal_end(reader, section, "max", digits);
    let (low, high) = (low?, high?);
    if low > high {
        reader.wrong(section.at, format!("{}: `min` is above `max`", section.title));
        return None;
    }
    let range = shaped(reader, section, low, high, 10f64.powi(i32::from(digits)))?;
    Some(Generator::Decimal(range, digits))
}

/// An end of a range of decimals, in units of the last digit.
fn decimal_end<'a>(
    reader: &mut Reader<'a>,
    section: &mut Section<'a>,
    key: &'a str,
    digits: u8,
) -> Option<i64> {
    let Some(node) = section.get(key) else {
        reader.wrong(section.at, format!("{} needs `{key}`", section.title));
        return None;
    };
    let title = section.of(key);
    let at = node.span().start;
    let written = match node.get_ref() {
        DeValue::Float(number) => number.as_str().to_owned(),
        DeValue::Integer(number) if number.radix() == 10 => number.as_str().to_owned(),
        _ => reader.text(&title, node)?.text.to_owned(),
    };
    let units = parse_decimal(&written, digits);
    if units.is_none() {
        reader.wrong(at, format!("{title} must be a decimal of at most {digits} digits after the point, got {written}"));
    }
    units
}

fn start_query<'a>(
    reader: &mut Reader<'a>,
    section: &mut Section<'a>,
    key: &'a str,
    context: &Context<'a>,
) -> Option<StartQuery> {
    let texts: ByDialect<Text<'a>> = dialect_texts(reader, section, key)?;
    let at = texts.all().next()?.at;
    let (line, column) = reader.position(at);
    let place = format!("{}:{line}:{column}", context.file);
    let sql = texts.map(|text| text.text.trim().trim_end_matches(';').to_owned());
    if sql.all().any(String::is_empty) {
        reader.wrong(at, format!("{} is empty", section.of(key)));
        return None;
    }
    Some(StartQuery { sql, place })
}

fn sequence<'a>(
    reader: &mut Reader<'a>,
    section: &mut Section<'a>,
    context: &Context<'a>,
) -> Option<Generator> {
    let start = match section.get("start") {
        Some(_) => Some(scaled(reader, section, "start", context.scale)?),
        None => None,
    };
    let step = if section.get("step").is_some() {
        section.integer(reader, "step", i64::MIN, i64::MAX)?
    } else {
        1
    };
    if step == 0 {
        reader.wrong(section.at, format!("{}: `step` must not be 0", section.title));
        return None;
    }
    let after = match section.get("after") {
        Some(_) => Some(start_query(reader, section, "after", context)?),
        None => None,
    };
    let start = start.unwrap_or(if after.is_some() { step } else { 1 });
    Some(Generator::Sequence { start, step, after, loaded: OnceLock::new() })
}

/// The exponent of a list that is chosen from by Zipf's law.
fn list_exponent<'a>(reader: &mut Reader<'a>, section: &mut Section<'a>) -> Option<Option<f64>> {
    match distribution(reader, section)? {
        Distribution::Uniform => Some(None),
        Distribution::Zipf(exponent) => Some(Some(exponent)),
        Distribution::Normal { .. } => {
            reader
                .wrong(section.at, format!("{}: a list has no normal distribution", section.title));
            None
        }
    }
}

fn pick<'a>(reader: &mut Reader<'a>, section: &mut Section<'a>) -> Option<Generator> {
    let Some(node) = section.get("values") else {
        reader.wrong(section.at, format!("{} needs `values`", section.title));
        return None;
    };
    let title = section.of("values");
    let mut values = Vec::new();
    for node in reader.list(&title, node, false) {
        values.push(match node.get_ref() {
            DeValue::Integer(_) => Datum::Int(reader.integer(&title, node, i64::MIN, i64::MAX)?),
            DeValue::Float(_) => Datum::Float(reader.number(&title, node)?),
            DeValue::Datetime(_) => match (date(node), timestamp(node)) {
                (Some(days), _) => Datum::Date(Date(i32::try_from(days).unwrap_or_default())),
                (None, Some(seconds)) => Datum::Timestamp(Timestamp::from_seconds(seconds)),
                (None, None) => Datum::Text(reader.text(&title, node)?.text.to_owned()),
            },
            _ => Datum::Text(reader.text(&title, node)?.text.to_owned()),
        });
    }
    if values.is_empty() {
        reader.wrong(section.at, format!("{title} must not be empty"));
        return None;
    }
    Some(Generator::List(List::of(values, list_exponent(reader, section)?)))
}

fn from_csv<'a>(
    reader: &mut Reader<'a>,
    section: &mut Section<'a>,
    context: &Context<'a>,
) -> Option<Generator> {
    let file = section.needs_text(reader, "file")?;
    let column = section.needs_text(reader, "column")?;
    let separator = match section.get("separator") {
        Some(_) => section.text(reader, "separator")?.text,
        None => ",",
    };
    let exponent = list_exponent(reader, section)?;
    let mut characters = separator.chars();
    let (Some(separator), None) = (characters.next(), characters.next()) else {
        reader.wrong(section.at, format!("{} must be one character", section.of("separator")));
        return None;
    };
    let Some(text) = context.files.get(file.text) else {
        reader.wrong(
            file.at,
            format!("the file {} is missing: send it with the workload", file.text),
        );
        return None;
    };
    let values = csv::column(text, column.text, separator);
    let values =
        values.map_err(|why| reader.wrong(column.at, format!("{}:{why}", file.text))).ok()?;
    if values.is_empty() {
        reader.wrong(file.at, format!("{} has no lines after its first", file.text));
        return None;
    }
    Some(Generator::List(List::of(typed(values), exponent)))
}

/// Integers if all values are, else texts.
fn typed(values: Vec<String>) -> Vec<Datum> {
    let integer =
        |value: &String| value.parse::<i64>().ok().filter(|number| number.to_string() == *value);
    let integers: Option<Vec<i64>> = values.iter().map(integer).collect();
    match integers {
        Some(integers) => integers.into_iter().map(Datum::Int).collect(),
        None => values.into_iter().map(Datum::Text).collect(),
    }
}

fn query<'a>(
    reader: &mut Reader<'a>,
    section: &mut Section<'a>,
    context: &Context<'a>,
) -> Option<Generator> {
    let query = start_query(reader, section, "sql", context)?;
    let exponent = list_exponent(reader, section)?;
    Some(Generator::List(List::from(query, exponent)))
}

fn text<'a>(reader: &mut Reader<'a>, section: &mut Section<'a>) -> Option<Generator> {
    let (low, high) = match section.get("length") {
        Some(_) => {
            let length = section.integer(reader, "length", 0, LENGTH_MAX)?;
            (length, length)
        }
        None => {
            let has_max = section.get("max").is_some();
            let low = match section.get("min") {
                Some(_) => section.integer(reader, "min", 0, LENGTH_MAX)?,
                None => 1,
            };
            let high = section.integer(reader, "max", 0, LENGTH_MAX);
            (low, needs(reader, section, "max", high, has_max)?)
        }
    };
    let (low, high) = ordered(reader, section, low, high)?;
    let alphabet = match section.get("alphabet") {
        Some(_) => section.text(reader, "alphabet")?.text,
        None => "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
    };
    if alphabet.is_empty() {
        reader.wrong(section.at, format!("{} must not be empty", section.of("alphabet")));
        return None;
    }
    Some(Generator::Text {
        shortest: low.unsigned_abs(),
        longest: high.unsigned_abs(),
        alphabet: alphabet.chars().collect(),
    })
}

/// A date of TOML, or as text: days since 1970-01-01.
fn date(node: &Node<'_>) -> Option<i64> {
    let text = match node.get_ref() {
        DeValue::Datetime(at) => at.to_string(),
        DeValue::String(text) => text.to_string(),
        _ => return None,
    };
    if text.trim().len() > 11 {
        return None;
    }
    Date::parse(&text).map(|date| i64::from(date.0))
}

/// A date and time of TOML, or as text: seconds since 1970-01-01 00:00:00.
fn timestamp(node: &Node<'_>) -> Option<i64> {
    let text = match node.get_ref() {
        DeValue::Datetime(at) => at.to_string(),
        DeValue::String(text) => text.to_string(),
        _ => return None,
    };
    let text = if text.trim().len() == 10 { format!("{} 00:00:00", text.trim()) } else { text };
    Timestamp::parse(&text).map(|at| at.0.div_euclid(1_000_000))
}

fn dates<'a>(
    reader: &mut Reader<'a>,
    section: &mut Section<'a>,
    read: fn(&Node<'_>) -> Option<i64>,
) -> Option<Integers> {
    let mut end = |key: &'a str| {
        let Some(node) = section.get(key) else {
            reader.wrong(section.at, format!("{} needs `{key}`", section.title));
            return None;
        };
        let found = read(node);
        if found.is_none() {
            let message = format!(
                "{} must be a date without a time zone, such as 2026-01-31, or for a timestamp 2026-01-31 12:00:00",
                section.of(key)
            );
            reader.wrong(node.span().start, message);
        }
        found
    };
    let (low, high) = (end("min"), end("max"));
    let (low, high) = (low?, high?);
    if low > high {
        reader.wrong(section.at, format!("{}: `min` is after `max`", section.title));
        return None;
    }
    shaped(reader, section, low, high, 1.0)
}

fn json<'a>(reader: &mut Reader<'a>, section: &mut Section<'a>) -> Option<ParsedGenerator<'a>> {
    let template = section.needs_text(reader, "template")?;
    match mentions(template.text) {
        Ok(found) => {
            let place = |(name, at): (&'a str, usize)| (name, template.place(at));
            Some(ParsedGenerator {
                generator: Generator::Json(Template::default()),
                template: Some(template),
                mentions: found.into_iter().map(place).collect(),
            })
        }
        Err((at, message)) => {
            reader.wrong(template.place(at), message);
            None
        }
    }
}

/// The template of a parameter, whose parameters have slots by now; `is_json` says whether one is JSON itself.
pub fn template(text: &str, names: &mut Names, is_json: impl Fn(&str) -> bool) -> Generator {
    Generator::Json(Template::new(text, |name| Some((names.slot(name), is_json(name)))))
}
