//! What a result is computed from, as it is stored with a run: the facts of the runner and the
//! output of the engine. The stored seconds are the rest; with them, anyone can compute the result
//! again, with the code that computed it.

use triphammer_core::event::Phase;
use triphammer_core::pace::PairHalf;
use triphammer_core::recorder::{Arrived, RecordedInterval};
use triphammer_engine::RunEnd;
use triphammer_statistics::reaction::LoadSecond;

use crate::judgement::{NOTHING_REQUIRED, REQUIRE};
use crate::requirement::{self, Vocabulary};
use crate::result::{QueriesResult, RunFacts, RunResult, Slicer, repeated};
use crate::second::Second;
use crate::series::{SecondRow, SeriesRow, rows};
use crate::stopping_rule::StoppingRule;

/// What a result is computed from.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// The runner's facts about the run.
    pub facts: RunFacts,
    /// The engine's output.
    pub end: RunEnd,
}

impl Evidence {
    /// Reads the two stored texts, and adds what only the stored seconds have. Also returns the
    /// texts as they are written for the values that were read.
    ///
    /// # Errors
    /// Says what cannot be read, or which lists do not belong together.
    pub fn read(
        facts: &str,
        ended: &str,
        seconds: &[SecondRow],
        series: &[SeriesRow],
    ) -> Result<(Self, [String; 2]), String> {
        let facts = serde_json::from_str(facts).map_err(|error| format!("facts: {error}"))?;
        let end = serde_json::from_str(ended).map_err(|error| format!("ended: {error}"))?;
        let mut evidence = Self { facts, end };
        evidence.shape()?;
        let again = |json: Result<String, serde_json::Error>| json.map_err(|e| e.to_string());
        let facts = again(serde_json::to_string(&evidence.facts))?;
        let ended = again(serde_json::to_string(&evidence.end))?;
        evidence.restore(seconds, series);
        Ok((evidence, [facts, ended]))
    }

    /// The slices of a window with these seconds, without times and counts.
    #[must_use]
    pub fn slicer_of(&self, seconds: &[SecondRow]) -> Slicer {
        let mut slicer = Slicer::of_run(self.facts.spec.length, self.facts.until_ci);
        for row in seconds {
            let Some(phase) = row.phase else { continue };
            let mut interval = RecordedInterval::new(row.first, 0);
            interval.last = row.last;
            let due = row.values.get("arrivals").map(|_| row.values.count("arrivals"));
            interval.arrived = due.map(|due| Arrived { due, ..Arrived::default() });
            slicer.take(&Second::new(interval, phase, None));
        }
        slicer
    }

    /// Computes the result.
    ///
    /// # Errors
    /// When the requirements among the settings cannot be read.
    pub fn result(&self) -> Result<RunResult, String> {
        let mut result = RunResult::new(&self.facts, &self.end);
        let required = self.facts.settings.iter().find(|setting| setting.name == REQUIRE);
        let required =
            required.map(|setting| &*setting.value).filter(|text| *text != NOTHING_REQUIRED);
        if let Some(text) = required.filter(|text| !text.is_empty()) {
            let required = requirement::parse(text, &Vocabulary::of_result(&result))?;
            requirement::judge(&mut result, &required);
        }
        Ok(result)
    }

    /// Whether lists that belong together have the same length, and indexes lie within their lists:
    /// what the program writes always does, and a result can only be computed then.
    fn shape(&self) -> Result<(), String> {
        let Self { facts, end } = self;
        let types = facts.description.transactions.len();
        let metric = &facts.description.primary_metric;
        let of_types = [end.started.len(), end.in_flight.len(), end.run.len(), end.timed.len()];
        let slices = facts.slicer.totals().all(|slice| slice.types.len() == types);
        let mut places = (metric.transactions.iter().chain(&metric.counted).copied())
            .chain(facts.audits.iter().flat_map(|(audit, _)| &audit.terms).map(|t| t.transaction))
            .chain(facts.statements.iter().map(|of| of.transaction))
            .chain(end.exemplars.iter().map(|of| of.transaction))
            .chain(end.errors.iter().map(|of| of.transaction))
            .chain(end.violations.iter().filter_map(|of| of.transaction));
        let nodes = facts.nodes.len();
        let mut of_nodes = (end.failovers.iter().flat_map(|of| [of.from, of.to]))
            .chain(end.node_changes.iter().map(|of| of.node));
        let queries = facts.queries.as_ref().is_none_or(|set| !set.figures.is_empty());
        let plan = facts.query_plan.as_ref().is_none_or(|plan| plan.repeats > 0);
        let half = facts.spec.pacing.half.as_ref().is_none_or(PairHalf::is_possible);
        let rules = [
            (of_types.iter().all(|length| *length == types), "the types of the totals"),
            (slices, "the types of the slices"),
            (places.all(|place| place < types), "a transaction type"),
            (nodes == end.nodes.len() && of_nodes.all(|node| node < nodes), "the nodes"),
            (queries && plan, "the figures of the queries"),
            (half, "the half of a pair"),
        ];
        match rules.iter().find(|(holds, _)| !holds) {
            Some((_, what)) => Err(format!("{what}: lists that belong together differ")),
            None => Ok(()),
        }
    }

    /// Fills in what is not stored twice: the seconds of the slices and of the primary metric, and
    /// the figures of a set of queries, which are computed from its steps.
    fn restore(&mut self, seconds: &[SecondRow], series: &[SeriesRow]) {
        let metric = &self.facts.description.primary_metric;
        let mut rule = StoppingRule::new(metric, None, 0);
        let types = self.facts.description.transactions.len();
        self.facts.slicer.forget_levels();
        for (second, of_types) in rows(seconds, series) {
            let interval = interval(second, of_types, types);
            rule.second(&interval);
            self.facts.load_seconds.extend(stored_load_seconds(second, of_types));
            if second.phase == Some(Phase::Window) {
                self.facts.slicer.take_level(&interval);
            }
        }
        self.facts.primary_metric_seconds = rule.into_seconds();
        if let (Some(plan), Some(stored)) = (&self.facts.query_plan, &self.facts.queries) {
            let (scale, timeout_s) = (self.facts.workload.scale, stored.query_timeout_s);
            self.facts.queries = Some(QueriesResult {
                engine_memory_bytes: stored.engine_memory_bytes,
                usage_of: stored.usage_of,
                phases: stored.phases.clone(),
                ..QueriesResult::new(plan, scale, timeout_s, stored.steps.clone())
                    .with_plans(stored.plans.clone())
            });
        }
    }
}

/// What the reactions to steps of the load are computed from, of a stored second.
#[expect(clippy::cast_precision_loss, reason = "counts of a second")]
fn stored_load_seconds(
    second: &SecondRow,
    types: &[SeriesRow],
) -> impl Iterator<Item = LoadSecond> + use<> {
    let completed =
        |row: &SeriesRow| row.values.count("committed") + row.values.count("rolled_back");
    let completed: u64 = types.iter().map(completed).sum();
    let waiting = second.values.get("backlog").unwrap_or_default();
    let response = second.values.get("all.p95_us").filter(|us| *us > 0.0);
    repeated(completed as f64, waiting, response, second.last - second.first + 1)
}

/// The counts of a stored second on which a result depends.
fn interval(second: &SecondRow, of_types: &[SeriesRow], types: usize) -> RecordedInterval {
    let mut interval = RecordedInterval::new(second.first, types);
    interval.last = second.last;
    for row in of_types {
        if let Some(seen) = interval.types.get_mut(row.transaction) {
            seen.counts.committed = row.values.count("committed");
            seen.counts.response_ns = row.values.count("response_ns");
        }
    }
    interval
}
