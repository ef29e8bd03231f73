//! What a run does: options, and the plan of its streams.
//!
//! | `--test` | phases | figures (clause 5.4) |
//! |---|---|---|
//! | `queries` | the streams side by side, no refresh functions; one stream unless `--streams` says more | geometric mean |
//! | `power` | RF1, stream 0, RF2 | Power@Size |
//! | `throughput` | streams 1 to S beside S pairs of refresh functions | Throughput@Size |
//! | `both` | power, then throughput | the composite too |
//!
//! [`plan`] is the one place where orderings, parameters and refresh functions enter a run.

use triphammer_core::query_plan::{
    QueryDef, QueryPhase, QueryPlan, QueryStep, QueryStream, QueryTest, Refresh,
};
use triphammer_core::workload::{OptionCommand, OptionDef, WorkloadSettings};
use triphammer_core::{Scale, SpecError};

use super::orderings::ordering;
use super::parameters::parameters;
use super::queries::QUERIES;
use super::text_pool::text_pool;

/// The highest number of query streams.
pub const STREAMS_MAX: u32 = 1_000;
/// The highest number of repeats.
const REPEATS_MAX: u32 = 1_000;
/// Default of `--streams`.
const BY_SCALE: &str = "auto";
/// Default of `--queries`.
const ALL: &str = "all";

pub const TEST: OptionDef = OptionDef::value(
    OptionCommand::Run,
    "test",
    "TEST",
    "power",
    "what to measure: queries (alone), power (one stream between the refresh functions), throughput \
     (several streams in parallel with them) or both",
)
.choices(&[
    ("power", "one stream of all queries between the two refresh functions"),
    ("throughput", "several streams in parallel with the refresh functions"),
    ("both", "the power test, then the throughput test"),
    ("queries", "the queries alone, without refresh functions"),
]);
pub const STREAMS: OptionDef = OptionDef::value(
    OptionCommand::Run,
    "streams",
    "S",
    BY_SCALE,
    "number of parallel query streams, in `profile` the levels (1,2,4 or 1..8 or auto); auto: from 2 (below 10 SF) to 11 by the scale \
     factor, and 1 for --test queries",
);
pub const ONLY: OptionDef = OptionDef::value(
    OptionCommand::Run,
    "queries",
    "NUMBERS",
    ALL,
    "run only these queries, such as 1,6,14",
);
pub const REPEAT: OptionDef = OptionDef::value(
    OptionCommand::Run,
    "repeat",
    "N",
    "1",
    "number of times to run the whole test",
);

pub const ANALYZE: OptionDef = OptionDef::switch(
    OptionCommand::Run,
    "analyze",
    "run each query once more after the timed part and keep its plan with what each operation measured \
     (EXPLAIN ANALYZE)",
);

/// Options of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runs {
    test: QueryTest,
    streams: u32,
    /// Numbers of the queries, in ascending order.
    queries: Vec<u8>,
    repeats: u32,
    seed: u64,
    analyze: bool,
}

impl Runs {
    /// Reads the options of a run.
    ///
    /// # Errors
    /// When one is invalid, or does not fit the test.
    pub fn read(given: &WorkloadSettings, scale: Scale) -> Result<Self, SpecError> {
        let test: QueryTest =
            TEST.chosen(given.option(&TEST))?.parse().map_err(|error| about(&TEST, error))?;
        let streams = match given.option(&STREAMS) {
            BY_SCALE if matches!(test, QueryTest::Queries | QueryTest::Power) => 1,
            BY_SCALE => streams(scale),
            text => count(text, STREAMS_MAX).map_err(|error| about(&STREAMS, error))?,
        };
        if test == QueryTest::Power && streams > 1 {
            let message = "the power test has one stream; use --test throughput or both";
            return Err(about(&STREAMS, message.to_owned()));
        }
        let queries = chosen(given)?;
        let repeats =
            count(given.option(&REPEAT), REPEATS_MAX).map_err(|error| about(&REPEAT, error))?;
        let analyze = given.switch(&ANALYZE)?;
        Ok(Self { test, streams, queries, repeats, seed: given.run_seed, analyze })
    }
}

fn count(text: &str, most: u32) -> Result<u32, String> {
    match text.trim().parse() {
        Ok(number) if (1..=most).contains(&number) => Ok(number),
        _ => Err(format!("invalid value `{text}`: expected a number from 1 to {most}")),
    }
}

/// An error about an option.
fn about(option: &OptionDef, message: String) -> SpecError {
    SpecError::new(format!("--{}: {message}", option.name)).about(&option.name)
}

/// The queries of `--queries`, by their numbers in ascending order.
///
/// # Errors
/// With the text that is not a query.
pub fn chosen(given: &WorkloadSettings) -> Result<Vec<u8>, SpecError> {
    numbers(given.option(&ONLY)).map_err(|error| about(&ONLY, error))
}

/// Reads `1,6,14`, or all.
fn numbers(text: &str) -> Result<Vec<u8>, String> {
    if text == ALL {
        return Ok((1..=22).collect());
    }
    let mut numbers = Vec::new();
    for one in text.split(',') {
        match one.trim().parse() {
            Ok(number @ 1..=22) => numbers.push(number),
            _ => return Err(format!("invalid query `{one}`: expected numbers from 1 to 22")),
        }
    }
    numbers.sort_unstable();
    numbers.dedup();
    Ok(numbers)
}

/// Number of streams of the throughput test (clause 5.3.4); below 1 SF as at 1 SF.
pub fn streams(scale: Scale) -> u32 {
    let steps = [10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000];
    let reached = steps.into_iter().filter(|step| scale >= Scale::from(*step)).count();
    2 + u32::try_from(reached).unwrap_or(0)
}

/// Plans a run.
pub fn plan(runs: &Runs, scale: Scale) -> QueryPlan {
    let stream = |number: u32| -> Vec<QueryStep> {
        let chosen = ordering(number).into_iter().filter(|query| runs.queries.contains(query));
        let step = |query: u8| QueryStep::Query {
            query: usize::from(query) - 1,
            args: parameters(query, number, scale, runs.seed),
        };
        chosen.map(step).collect()
    };
    // A second of work that belongs to no interval.
    if !matches!(runs.test, QueryTest::Queries) {
        text_pool();
    }
    let refresh = |function, set| QueryStep::Refresh(Refresh { function, set });
    let queries = |numbers: std::ops::RangeInclusive<u32>| -> Vec<QueryStream> {
        let of = |number| QueryStream { number: Some(number), steps: stream(number) };
        numbers.map(of).collect()
    };
    let power = || {
        let steps = [vec![refresh(1, 1)], stream(0), vec![refresh(2, 1)]].concat();
        let streams = vec![QueryStream { number: Some(0), steps }];
        QueryPhase { test: QueryTest::Power, streams }
    };
    let throughput = || {
        let mut streams = queries(1..=runs.streams);
        let sets = 2..=u64::from(runs.streams) + 1;
        let steps = sets.flat_map(|set| [refresh(1, set), refresh(2, set)]).collect();
        streams.push(QueryStream { number: None, steps });
        QueryPhase { test: QueryTest::Throughput, streams }
    };
    let alone = || QueryPhase {
        test: QueryTest::Queries,
        streams: if runs.streams == 1 { queries(0..=0) } else { queries(1..=runs.streams) },
    };
    let phases = match runs.test {
        QueryTest::Queries => vec![alone()],
        QueryTest::Power => vec![power()],
        QueryTest::Throughput => vec![throughput()],
        QueryTest::Both => vec![power(), throughput()],
    };
    QueryPlan {
        test: runs.test,
        queries: (QUERIES.iter())
            .map(|query| QueryDef { name: query.statement().into(), title: query.title.into() })
            .collect(),
        is_whole: runs.queries.len() == QUERIES.len(),
        streams: runs.streams,
        phases,
        repeats: runs.repeats,
        analyze: runs.analyze,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(options: &[(&str, &str)]) -> Result<Runs, String> {
        let options = options.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        let given = WorkloadSettings { options, run_seed: 1, ..WorkloadSettings::default() };
        Runs::read(&given, Scale::from_thousandths(10)).map_err(|error| error.to_string())
    }

    #[test]
    fn the_number_of_streams_is_that_of_the_specification() {
        let at = |text: &str| streams(text.parse().unwrap());
        let all =
            ["0.01", "1", "9.999", "10", "30", "100", "300", "1000", "3000", "10000", "30000"];
        assert_eq!(all.map(at), [2, 2, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
        assert_eq!(at("100000"), 11);
    }

    #[test]
    fn a_plan_has_the_streams_of_its_test() {
        let scale = Scale::from_thousandths(10);
        let numbers = |options: &[(&str, &str)]| -> Vec<Vec<u32>> {
            let plan = plan(&read(options).unwrap(), scale);
            let of = |phase: &QueryPhase| phase.streams.iter().filter_map(|s| s.number).collect();
            plan.phases.iter().map(of).collect()
        };
        assert_eq!(numbers(&[("test", "queries")]), [[0]]);
        assert_eq!(numbers(&[("test", "queries"), ("streams", "3")]), [[1, 2, 3]]);
        assert_eq!(numbers(&[("test", "power")]), [[0]]);
        assert_eq!(numbers(&[("test", "throughput")]), [[1, 2]]);
        assert_eq!(numbers(&[("test", "both"), ("streams", "1")]), [[0], [1]]);
    }

    #[test]
    fn chosen_queries_keep_the_order_of_the_stream() {
        let runs = read(&[("queries", "14,1, 6,1"), ("repeat", "2")]).unwrap();
        let plan = plan(&runs, Scale::ONE);
        let mut queries: Vec<usize> = (plan.phases[0].streams[0].steps.iter())
            .filter_map(|step| match step {
                QueryStep::Query { query, .. } => Some(*query),
                QueryStep::Refresh(_) => None,
            })
            .collect();
        queries.sort_unstable();
        assert_eq!((queries, plan.is_whole, plan.repeats), (vec![0, 5, 13], false, 2));
        assert!(self::plan(&read(&[]).unwrap(), Scale::ONE).is_whole);
    }

    #[test]
    fn what_cannot_be_is_rejected_with_the_reason() {
        for (option, value, why) in [
            ("test", "speed", "expected power, throughput, both or queries"),
            ("streams", "0", "from 1 to 1000"),
            ("queries", "1,23", "invalid query `23`"),
            ("queries", "", "invalid query ``"),
            ("repeat", "x", "from 1 to 1000"),
        ] {
            let error = read(&[(option, value)]).unwrap_err();
            assert!(error.contains(why) && error.contains(&format!("--{option}")), "{error}");
        }
        let error = read(&[("test", "power"), ("streams", "2")]).unwrap_err();
        assert!(error.contains("the power test has one stream"), "{error}");
    }
}
