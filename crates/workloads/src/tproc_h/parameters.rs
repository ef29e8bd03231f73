//! Substitution parameters of the queries in a run, drawn by the rules of clause 2.4, each value of a range or list
//! equally likely (clause 2.1.3.2). They depend on the seed, the stream and the query, and not on the order in which
//! the queries run. qgen follows the same rules with other random numbers, so its values differ.

use std::sync::LazyLock;

use tpchgen::distribution::Distributions;
use triphammer_core::Scale;
use triphammer_core::random::Rng;
use triphammer_core::value::{Date, Value};

use super::queries::day;

/// Keeps these numbers apart from others of the same seed.
const PURPOSE: u64 = 0x5450_4348;

/// The arguments of query `query` in stream `stream`, in the order of its statement's parameters.
///
/// # Panics
/// When there is no such query.
#[must_use]
pub fn parameters(query: u8, stream: u32, scale: Scale, seed: u64) -> Vec<Value<'static>> {
    let lists = &*LISTS;
    let mut draw = Draw(Rng::of(seed, &[PURPOSE, stream.into(), query.into()]));
    match query {
        1 => vec![days_before(day(1998, 12, 1), draw.number(60, 120))],
        2 => {
            vec![draw.value(1, 50), draw.text(&lists.type_endings), draw.text(&lists.regions)]
        }
        3 => vec![draw.text(&lists.segments), day(1995, 3, draw.number(1, 31))],
        4 | 15 => draw.months(0, 57, 3).into(),
        5 => [vec![draw.text(&lists.regions)], draw.year()].concat(),
        6 => draw.revenue_change(),
        7 => draw.several(&lists.nations, 2),
        8 => draw.market_share(),
        9 => vec![draw.text(&lists.colors_anywhere)],
        10 => draw.months(1, 24, 3).into(),
        11 => vec![draw.text(&lists.nations), fraction(scale)],
        12 => [draw.several(&lists.modes, 2), draw.year()].concat(),
        13 => vec![draw.text(&lists.words)],
        14 => draw.months(0, 59, 1).into(),
        16 => draw.part_relationship(),
        17 => vec![draw.text(&lists.brands), draw.text(&lists.containers)],
        18 => vec![draw.value(312, 315)],
        19 => [(1, 10), (10, 20), (20, 30)]
            .into_iter()
            .flat_map(|(low, high)| [draw.text(&lists.brands), draw.value(low, high)])
            .collect(),
        20 => [vec![draw.text(&lists.colors_first)], draw.year(), vec![draw.text(&lists.nations)]]
            .concat(),
        21 => vec![draw.text(&lists.nations)],
        22 => draw.several(&lists.codes, 7),
        other => unreachable!("there is no query {other}"),
    }
}

/// Draws parameters.
struct Draw(Rng);

impl Draw {
    fn number(&mut self, low: i32, high: i32) -> i32 {
        self.0.between32(low, high)
    }

    fn value(&mut self, low: i32, high: i32) -> Value<'static> {
        self.number(low, high).into()
    }

    fn index(&mut self, count: usize) -> usize {
        usize::try_from(self.0.below(count as u64)).expect("below a usize")
    }

    fn text(&mut self, list: &'static [String]) -> Value<'static> {
        Value::Text(&list[self.index(list.len())])
    }

    /// `count` different texts of a list.
    fn several(&mut self, list: &'static [String], count: usize) -> Vec<Value<'static>> {
        let mut shuffled: Vec<&'static str> = list.iter().map(String::as_str).collect();
        self.0.shuffle(&mut shuffled);
        shuffled.into_iter().take(count).map(Value::Text).collect()
    }

    /// Both ends of `length` months, of which the first is from `first` to `last` months after January 1993.
    fn months(&mut self, first: i32, last: i32, length: i32) -> [Value<'static>; 2] {
        let from = self.number(first, last);
        [from, from + length].map(|month| day(1993 + month / 12, month % 12 + 1, 1))
    }

    /// Both ends of one of the years 1993 to 1997.
    fn year(&mut self) -> Vec<Value<'static>> {
        let year = self.number(1993, 1997);
        vec![day(year, 1, 1), day(year + 1, 1, 1)]
    }

    /// Q6: the year, a discount from 0.02 to 0.09 with 0.01 to either side, the quantity.
    fn revenue_change(&mut self) -> Vec<Value<'static>> {
        let mut drawn = self.year();
        let discount = i64::from(self.number(2, 9));
        drawn.extend([Value::cents(discount - 1), Value::cents(discount + 1), self.value(24, 25)]);
        drawn
    }

    /// Q8: a nation, its region, a type.
    fn market_share(&mut self) -> Vec<Value<'static>> {
        let nation = self.index(LISTS.nations.len());
        let region = &LISTS.regions[LISTS.region_of_nation[nation]];
        vec![Value::Text(&LISTS.nations[nation]), Value::Text(region), self.text(&LISTS.types)]
    }

    /// Q16: a brand, the beginning of a type, eight different sizes.
    fn part_relationship(&mut self) -> Vec<Value<'static>> {
        let mut sizes: Vec<i32> = (1..=50).collect();
        self.0.shuffle(&mut sizes);
        let mut drawn = vec![self.text(&LISTS.brands), self.text(&LISTS.type_beginnings)];
        drawn.extend(sizes.into_iter().take(8).map(Value::from));
        drawn
    }
}

fn days_before(date: Value<'static>, days: i32) -> Value<'static> {
    match date {
        Value::Date(Date(day)) => Value::Date(Date(day - days)),
        other => other,
    }
}

/// Q11: 0.0001 / SF, with ten digits after the point as qgen writes it.
fn fraction(scale: Scale) -> Value<'static> {
    let thousandths = i64::try_from(scale.thousandths().max(1)).unwrap_or(i64::MAX);
    let units = (1_000_000_000 + thousandths / 2) / thousandths;
    Value::Decimal { units, scale: 10 }
}

/// What parameters are chosen from (clauses 4.2.2.9, 4.2.2.13 and 4.2.3).
struct Lists {
    nations: Vec<String>,
    region_of_nation: Vec<usize>,
    regions: Vec<String>,
    segments: Vec<String>,
    modes: Vec<String>,
    containers: Vec<String>,
    types: Vec<String>,
    /// The first two syllables of the types, then anything.
    type_beginnings: Vec<String>,
    /// Anything, then the last syllable of the types.
    type_endings: Vec<String>,
    /// Words of parts' names, with anything behind them.
    colors_first: Vec<String>,
    /// Words of parts' names, with anything before and behind them.
    colors_anywhere: Vec<String>,
    brands: Vec<String>,
    /// The two words of Q13, with anything around them.
    words: Vec<String>,
    /// Country codes of telephone numbers.
    codes: Vec<String>,
}

static LISTS: LazyLock<Lists> = LazyLock::new(|| {
    let known = Distributions::static_default();
    let own = |list: &[&str]| list.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
    let types = known.part_types().get_values();
    let parts = || types.iter().filter_map(|name| name.rsplit_once(' '));
    let colors = known.part_colors().get_values();
    let (nations, numbers) = (known.nations(), 0..known.nations().size());
    Lists {
        nations: own(nations.get_values()),
        region_of_nation: numbers
            .map(|n| usize::try_from(nations.get_weight(n)).expect("regions count from 0"))
            .collect(),
        regions: own(known.regions().get_values()),
        segments: own(known.market_segments().get_values()),
        modes: own(known.ship_modes().get_values()),
        containers: own(known.part_containers().get_values()),
        types: own(types),
        type_beginnings: distinct(parts().map(|(beginning, _)| format!("{beginning}%"))),
        type_endings: distinct(parts().map(|(_, ending)| format!("%{ending}"))),
        colors_first: colors.iter().map(|color| format!("{color}%")).collect(),
        colors_anywhere: colors.iter().map(|color| format!("%{color}%")).collect(),
        brands: pairs(1..=5, 1..=5, |m, n| format!("Brand#{m}{n}")),
        words: pairs(
            ["special", "pending", "unusual", "express"],
            ["packages", "requests", "accounts", "deposits"],
            |first, second| format!("%{first}%{second}%"),
        ),
        codes: (10..10 + nations.size()).map(|code| code.to_string()).collect(),
    }
});

fn distinct(texts: impl Iterator<Item = String>) -> Vec<String> {
    texts.collect::<std::collections::BTreeSet<_>>().into_iter().collect()
}

/// Every member of `first` with every one of `second`.
fn pairs<A: Copy, B>(
    first: impl IntoIterator<Item = A>,
    second: impl IntoIterator<Item = B> + Clone,
    join: impl Fn(A, B) -> String,
) -> Vec<String> {
    let join = &join;
    first.into_iter().flat_map(|a| second.clone().into_iter().map(move |b| join(a, b))).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::queries::QUERIES;
    use super::*;

    /// What streams 0 to 3,999 draw for parameter `name` of a query, as text.
    fn drawn(query: u8, name: &str) -> BTreeSet<String> {
        let params = QUERIES[usize::from(query) - 1].params;
        let place = params.iter().position(|(known, ..)| *known == name).unwrap();
        let draw = |stream| parameters(query, stream, Scale::ONE, 7).swap_remove(place);
        (0..4_000).map(|stream| text(draw(stream))).collect()
    }

    fn text(value: Value<'_>) -> String {
        match value {
            Value::Text(text) => text.to_owned(),
            Value::Int(number) => format!("{number:03}"),
            Value::Date(date) => date.to_string(),
            Value::Decimal { units, scale } => format!("{units}e-{scale}"),
            other => panic!("{other:?}"),
        }
    }

    /// The smallest, the largest and the number of the different values.
    #[track_caller]
    fn covers(query: u8, name: &str, first: &str, last: &str, count: usize) {
        let found = drawn(query, name);
        let found = (&**found.first().unwrap(), &**found.last().unwrap(), found.len());
        assert_eq!(found, (first, last, count), "{name} of query {query}");
    }

    #[test]
    fn every_value_of_clause_2_4_is_drawn_and_no_other() {
        covers(1, "until", "1998-08-03", "1998-10-02", 61);
        covers(2, "size", "001", "050", 50);
        covers(2, "type", "%BRASS", "%TIN", 5);
        covers(2, "region", "AFRICA", "MIDDLE EAST", 5);
        covers(3, "segment", "AUTOMOBILE", "MACHINERY", 5);
        covers(3, "date", "1995-03-01", "1995-03-31", 31);
        for query in [4, 15] {
            covers(query, "from_date", "1993-01-01", "1997-10-01", 58);
            covers(query, "to_date", "1993-04-01", "1998-01-01", 58);
        }
        covers(5, "region", "AFRICA", "MIDDLE EAST", 5);
        for query in [5, 6, 12, 20] {
            covers(query, "from_date", "1993-01-01", "1997-01-01", 5);
            covers(query, "to_date", "1994-01-01", "1998-01-01", 5);
        }
        covers(6, "discount_low", "1e-2", "8e-2", 8);
        covers(6, "discount_high", "10e-2", "9e-2", 8);
        covers(6, "quantity", "024", "025", 2);
        for (query, name) in
            [(7, "nation1"), (7, "nation2"), (8, "nation"), (11, "nation"), (20, "nation")]
        {
            covers(query, name, "ALGERIA", "VIETNAM", 25);
        }
        covers(8, "type", "ECONOMY ANODIZED BRASS", "STANDARD POLISHED TIN", 150);
        covers(9, "name", "%almond%", "%yellow%", 92);
        covers(10, "from_date", "1993-02-01", "1995-01-01", 24);
        covers(10, "to_date", "1993-05-01", "1995-04-01", 24);
        covers(12, "mode1", "AIR", "TRUCK", 7);
        covers(12, "mode2", "AIR", "TRUCK", 7);
        covers(13, "words", "%express%accounts%", "%unusual%requests%", 16);
        covers(14, "from_date", "1993-01-01", "1997-12-01", 60);
        covers(14, "to_date", "1993-02-01", "1998-01-01", 60);
        covers(16, "brand", "Brand#11", "Brand#55", 25);
        covers(16, "type", "ECONOMY ANODIZED%", "STANDARD POLISHED%", 30);
        (1..=8).for_each(|n| covers(16, &format!("size{n}"), "001", "050", 50));
        covers(17, "brand", "Brand#11", "Brand#55", 25);
        covers(17, "container", "JUMBO BAG", "WRAP PKG", 40);
        covers(18, "quantity", "312", "315", 4);
        for (n, low, high) in [(1, "001", "010"), (2, "010", "020"), (3, "020", "030")] {
            covers(19, &format!("brand{n}"), "Brand#11", "Brand#55", 25);
            covers(19, &format!("quantity{n}"), low, high, if n == 1 { 10 } else { 11 });
        }
        covers(20, "name", "almond%", "yellow%", 92);
        covers(21, "nation", "ALGERIA", "VIETNAM", 25);
        (1..=7).for_each(|n| covers(22, &format!("code{n}"), "10", "34", 25));
    }

    /// The types of the arguments are those of the validation's, which suit the statements' parameters.
    #[test]
    fn arguments_fit_the_statements_and_ranges_are_as_long_as_in_the_validation() {
        for query in &QUERIES {
            for stream in 0..50 {
                let drawn = parameters(query.number, stream, Scale::ONE, 1);
                assert_eq!(drawn.len(), query.params.len(), "{}", query.number);
                for ((name, _, known), drawn) in query.params.iter().zip(&drawn) {
                    let kinds = [known, drawn].map(std::mem::discriminant);
                    assert_eq!(kinds[0], kinds[1], "{name} of query {}", query.number);
                }
            }
        }
    }

    #[test]
    fn what_must_differ_differs_and_what_belongs_together_does() {
        for stream in 0..500 {
            for (query, from, count) in [(7, 0, 2), (12, 0, 2), (16, 2, 8), (22, 0, 7)] {
                let drawn = parameters(query, stream, Scale::ONE, 3);
                let several = drawn[from..from + count].iter().map(|value| text(*value));
                assert_eq!(several.collect::<BTreeSet<_>>().len(), count, "query {query}");
            }
            let share = parameters(8, stream, Scale::ONE, 3);
            if let [Value::Text("BRAZIL"), region, _] = share[..] {
                assert_eq!(region, Value::Text("AMERICA"));
            }
            if let [Value::Text("VIETNAM"), region, _] = share[..] {
                assert_eq!(region, Value::Text("ASIA"));
            }
            let [.., Value::Decimal { units: low, .. }, Value::Decimal { units: high, .. }, _] =
                parameters(6, stream, Scale::ONE, 3)[..]
            else {
                panic!("query 6 has two decimals and a number at its end")
            };
            assert_eq!(high - low, 2);
        }
    }

    #[test]
    fn the_fraction_of_query_11_shrinks_with_the_scale() {
        for (scale, units) in
            [("0.01", 100_000_000), ("1", 1_000_000), ("3", 333_333), ("100000", 10)]
        {
            let drawn = parameters(11, 0, scale.parse().unwrap(), 1);
            assert_eq!(drawn[1], Value::Decimal { units, scale: 10 }, "{scale}");
        }
    }

    #[test]
    fn parameters_depend_on_seed_and_stream_alone() {
        let all = |stream, seed| {
            (1..=22).map(|query| parameters(query, stream, Scale::ONE, seed)).collect::<Vec<_>>()
        };
        assert_eq!(all(3, 42), all(3, 42));
        for (other, why) in [(all(4, 42), "stream"), (all(3, 43), "seed")] {
            let same = all(3, 42).iter().zip(&other).filter(|(a, b)| a == b).count();
            assert!(same < 8, "{why}: {same} queries with equal parameters");
        }
        let known = parameters(3, 1, Scale::ONE, 1);
        assert_eq!(known, parameters(3, 1, Scale::from(100), 1));
    }
}
