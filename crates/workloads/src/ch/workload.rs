//! CH-benCHmark as a [`Workload`]: TPROC-C with more tables, and a plan of queries.

use std::sync::{Arc, LazyLock};

use triphammer_core::mix::Mix;
use triphammer_core::query_plan::{QueryPhase, QueryPlan, QueryStep, QueryStream, QueryTest};
use triphammer_core::random::Rng;
use triphammer_core::session::{RowSource, Session};
use triphammer_core::sql::statement;
use triphammer_core::value::Timestamp;
use triphammer_core::workload::{
    Chunk, Completion, Description, Mode, Statements, TableDef, Workload, WorkloadSettings,
};
use triphammer_core::{DbError, SpecError};

use super::checks::CHECKS;
use super::queries::{self, Period};
use super::rows::rows;
use super::schema::{SUPPLIERS, added_tables, tables};
use super::settings::{self, Streams};
use crate::tproc_c::settings::Settings;
use crate::tproc_c::{self, TprocC};
use crate::tproc_h::ordering;

/// The workload `ch`.
#[derive(Debug)]
pub struct Ch {
    transactions: TprocC,
    data_seed: u64,
    period: Period,
    streams: Streams,
}

static DESCRIPTION: LazyLock<Arc<Description>> = LazyLock::new(|| {
    let base = TprocC::describe();
    let mut statements = base.statements.clone();
    statements.extend(queries::statements());
    // As those of TPROC-C, they take a range of warehouses.
    let range = base.statements.iter().find(|known| known.name == base.checks[0].statement);
    let range = range.map(|known| known.params.clone()).unwrap_or_default();
    statements.extend(CHECKS.iter().map(|check| {
        let name = check.statement.clone();
        triphammer_core::sql::StatementDef { name, ..statement("", &range) }
    }));
    Arc::new(Description {
        name: "ch".into(),
        title: "CH-benCHmark".into(),
        extends: Some(base.name.clone()),
        has_streams: true,
        recording: None,
        options: settings::options(),
        statements,
        tables: tables(),
        checks: base.checks.iter().chain(&CHECKS).cloned().collect(),
        external: None,
        ..(*base).clone()
    })
});

impl Ch {
    /// Declares CH-benCHmark.
    #[must_use]
    pub fn describe() -> Arc<Description> {
        Arc::clone(&DESCRIPTION)
    }

    /// Creates CH-benCHmark at the given scale, with the given options.
    ///
    /// # Errors
    /// When an option or the scale is invalid.
    pub fn new(given: &WorkloadSettings) -> Result<Self, SpecError> {
        let (inner, streams) = settings::read(given)?;
        Ok(Self {
            transactions: TprocC::new(&inner)?,
            data_seed: given.data_seed,
            period: Period::around(Settings::new(&inner)?.population_time),
            streams,
        })
    }

    /// The chosen queries in the order of a stream; streams count from 1, as in a throughput test of TPC-H.
    fn stream(&self, number: u32) -> QueryStream {
        let order = ordering(number).into_iter().map(|query| usize::from(query) - 1);
        let chosen = order.filter(|query| self.streams.queries.contains(query));
        let step = |query| QueryStep::Query { query, args: queries::arguments(query, self.period) };
        QueryStream { number: Some(number), steps: chosen.map(step).collect() }
    }
}

impl Workload for Ch {
    type User = <TprocC as Workload>::User;
    type Input = <TprocC as Workload>::Input;
    type Prepared = tproc_c::Prepared;

    fn description(&self) -> &Arc<Description> {
        &DESCRIPTION
    }

    fn writes(&self) -> Option<bool> {
        self.transactions.writes()
    }

    fn mix(&self, arrives: bool) -> Result<&Arc<Mix>, &'static str> {
        self.transactions.mix(arrives)
    }

    /// Those of TPROC-C under the same names, and one with the added tables.
    fn chunks(&self) -> Vec<Chunk> {
        let added = Chunk {
            name: "regions, nations and suppliers".to_owned(),
            key: 0,
            tables: added_tables(),
            rows: 5 + 62 + SUPPLIERS.unsigned_abs(),
        };
        let mut chunks = self.transactions.chunks();
        chunks.push(added);
        chunks
    }

    fn rows(&self, chunk: &Chunk, table: &TableDef) -> Box<dyn RowSource + '_> {
        let added = rows(&table.name, self.data_seed);
        added.map_or_else(|| self.transactions.rows(chunk, table), |rows| rows as _)
    }

    fn build_facts(&self) -> Vec<(&'static str, String)> {
        self.transactions.build_facts()
    }

    fn user(&self, id: u32, users: u32, rng: &mut Rng) -> Self::User {
        self.transactions.user(id, users, rng)
    }

    fn arrive(&self, user: &mut Self::User, number: u64, rng: &mut Rng) -> Option<usize> {
        self.transactions.arrive(user, number, rng)
    }

    fn next(&self, user: &mut Self::User, rng: &mut Rng) -> Option<usize> {
        self.transactions.next(user, rng)
    }

    fn draw(
        &self,
        transaction: usize,
        user: &mut Self::User,
        rng: &mut Rng,
        now: Timestamp,
    ) -> Self::Input {
        self.transactions.draw(transaction, user, rng, now)
    }

    async fn prepare<S: Session>(
        &self,
        mode: Mode,
        statements: &mut Statements<'_>,
        session: &mut S,
    ) -> Result<Self::Prepared, DbError> {
        self.transactions.prepare(mode, statements, session).await
    }

    fn acknowledged(&self, input: &Self::Input) -> Option<Completion> {
        self.transactions.acknowledged(input)
    }

    fn partition(&self, input: &Self::Input) -> Option<u64> {
        self.transactions.partition(input)
    }

    async fn run<S: Session>(
        &self,
        input: &Self::Input,
        prepared: &mut Self::Prepared,
        session: &mut S,
    ) -> Result<Completion, DbError> {
        self.transactions.run(input, prepared, session).await
    }

    fn query_plan(&self) -> Option<QueryPlan> {
        if self.streams.count == 0 {
            return None;
        }
        let streams = (1..=self.streams.count).map(|number| self.stream(number)).collect();
        Some(QueryPlan {
            test: QueryTest::Queries,
            queries: queries::definitions().collect(),
            is_whole: self.streams.queries.len() == 22,
            streams: self.streams.count,
            phases: vec![QueryPhase { test: QueryTest::Queries, streams }],
            repeats: 1,
            analyze: false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ch(options: &[(&str, &str)]) -> Ch {
        let options = options.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        let scale = 2.into();
        Ch::new(&WorkloadSettings { scale, options, ..WorkloadSettings::default() }).unwrap()
    }

    #[test]
    fn it_has_all_of_tproc_c_and_more() {
        let (base, own) = (TprocC::describe(), Ch::describe());
        assert_eq!(own.record_name(), &base.name);
        assert_eq!(own.version, base.version);
        assert_eq!(own.tables.len(), base.tables.len() + 3);
        assert_eq!(own.statements.len(), base.statements.len() + 22 + CHECKS.len());
        let names = |chunks: Vec<Chunk>| -> Vec<String> {
            chunks.into_iter().map(|chunk| chunk.name).collect()
        };
        let ch = ch(&[]);
        let mut expected = names(ch.transactions.chunks());
        expected.push("regions, nations and suppliers".to_owned());
        assert_eq!(names(ch.chunks()), expected);
    }

    #[test]
    fn streams_run_the_chosen_queries_each_in_its_own_order() {
        let plan = ch(&[("streams", "2")]).query_plan().unwrap();
        let steps: Vec<_> = plan.phases[0].streams.iter().map(|stream| &stream.steps).collect();
        assert_eq!((plan.sessions(), steps[0].len(), steps[1].len()), (2, 22, 22));
        assert_ne!(steps[0], steps[1]);
        assert!(!plan.refreshes());
        let chosen = ch(&[("queries", "6,1")]).query_plan().unwrap();
        assert_eq!((chosen.steps(), chosen.is_whole), (2, false));
        assert!(ch(&[("streams", "0")]).query_plan().is_none());
    }
}
