//! TPROC-H as a [`Workload`].

use std::sync::{Arc, LazyLock};

use triphammer_core::query_plan::{self, QueryPlan};
use triphammer_core::random::Rng;
use triphammer_core::session::{RowSource, Session};
use triphammer_core::sql::StatementCatalogue;
use triphammer_core::value::Timestamp;
use triphammer_core::workload::{
    Author, Chunk, Completion, Description, ExternalFindings, ExternalSchema, MeasureDef, Mode,
    Needs, PrimaryMetric, ScaleUnit, Statements, TableDef, Workload, WorkloadSettings,
};
use triphammer_core::{DbError, Rows, Scale, SpecError};

use super::answers::ANSWERS;
use super::checks::CHECKS;
use super::refresh::{Refresh, RefreshSet, foreign_row, rf1, rf2, try_out};
use super::rows::{Piece, factor, rows};
use super::runs::{self, Runs};
use super::schema::{fixed_tables, scaled_tables, tables};
use super::settings::{self, OPTIONS};
use super::statements::{EXTERNAL_ROWS, EXTERNAL_SCALE, statements};

/// Most chunks of one load: the record of the build has a row for each.
const CHUNKS_MAX: u64 = 1_000;
/// Thousandths of the scale factor that make a chunk, as long as there are not too many: 0.01 SF.
const CHUNK_THOUSANDTHS: u64 = 10;
/// Rows that a thousandth of the scale factor has in all tables, with four lines per order on average.
const THOUSANDTH_ROWS: u64 = 10 + 200 + 800 + 150 + 1_500 + 6_000;

/// The workload `tproc-h`.
#[derive(Debug)]
pub struct TprocH {
    scale: Scale,
    runs: Runs,
}

static DESCRIPTION: LazyLock<Arc<Description>> = LazyLock::new(|| {
    Arc::new(Description {
        name: "tproc-h".into(),
        title: "TPROC-H".into(),
        author: Author::Program,
        extends: None,
        record: None,
        own_sql: Vec::new(),
        has_streams: false,
        recording: None,
        version: 1,
        scale_unit: ScaleUnit::new("SF", "SF").in_thousandths(),
        options: OPTIONS.to_vec(),
        statements: statements(),
        tables: tables(),
        transactions: Vec::new(),
        primary_metric: PrimaryMetric {
            name: "geomean_ms".into(),
            meaning: "geometric mean of the query times, in milliseconds".into(),
            transactions: Vec::new(),
            measure: MeasureDef::Queries,
            database_count: None,
            counted: Vec::new(),
        },
        checks: CHECKS.to_vec(),
        answers: Some(ANSWERS),
        audits: Vec::new(),
        modes: vec![Mode::Statements],
        pipelining: Err("a set of queries has no transactions"),
        external: Some(external()),
        borrowed: None,
        cycle: None,
    })
});

/// Tables that somebody else filled, or that a connector generates.
fn external() -> ExternalSchema {
    ExternalSchema {
        made_by: "another program".into(),
        scale: EXTERNAL_SCALE.into(),
        hint: Some(
            "the columns need the names of the specification; for the connector tpch of Trino, set \
             tpch.column-naming=STANDARD in its catalog"
                .into(),
        ),
        needs: Some(Needs { statement: EXTERNAL_ROWS.into(), judge: refuse_empty }),
        modes: vec![Mode::Statements],
        options: Vec::new(),
        violates: Vec::new(),
    }
}

/// Refuses a run on tables of which some are empty: it would time queries on nothing.
fn refuse_empty(_: &StatementCatalogue, rows: &Rows) -> Result<ExternalFindings, DbError> {
    let mut empty = Vec::new();
    for (column, table) in DESCRIPTION.tables.iter().enumerate() {
        if rows.row(0).int(column)? == 0 {
            empty.push(&*table.name);
        }
    }
    let lack = (!empty.is_empty())
        .then(|| format!("a run needs rows in all of them: nothing is in {}", empty.join(", ")));
    Ok(ExternalFindings { lack, violates: Vec::new() })
}

impl TprocH {
    /// What TPROC-H declares.
    #[must_use]
    pub fn describe() -> Arc<Description> {
        Arc::clone(&DESCRIPTION)
    }

    /// TPROC-H at a scale, with the options given.
    ///
    /// # Errors
    /// When an option or the scale cannot be.
    pub fn new(given: &WorkloadSettings) -> Result<Self, SpecError> {
        let (scale, runs) = settings::read(given)?;
        Ok(Self { scale, runs })
    }

    fn refresh_set(&self, refresh: query_plan::Refresh) -> RefreshSet {
        RefreshSet::new(self.scale, u32::try_from(refresh.set).unwrap_or(u32::MAX))
    }

    /// Number of the chunks that hold the tables that grow.
    fn parts(&self) -> u64 {
        self.scale.thousandths().div_ceil(CHUNK_THOUSANDTHS).clamp(1, CHUNKS_MAX)
    }
}

impl Workload for TprocH {
    /// There are no transactions: a run follows the query plan.
    type User = ();
    type Input = &'static str;
    type Prepared = ();

    fn description(&self) -> &Arc<Description> {
        &DESCRIPTION
    }

    fn chunks(&self) -> Vec<Chunk> {
        let fixed = Chunk {
            name: "regions and nations".to_owned(),
            key: 0,
            tables: fixed_tables(),
            rows: 5 + 25,
        };
        let (parts, tables) = (self.parts(), scaled_tables());
        let each = (1..=parts).map(|part| Chunk {
            name: format!("part {part} of {parts}"),
            key: i64::try_from(part).unwrap_or(i64::MAX),
            tables: Arc::clone(&tables),
            rows: self.scale.thousandths() * THOUSANDTH_ROWS / parts,
        });
        std::iter::once(fixed).chain(each).collect()
    }

    fn rows(&self, chunk: &Chunk, table: &TableDef) -> Box<dyn RowSource + '_> {
        let parts = i32::try_from(self.parts()).unwrap_or(i32::MAX);
        let part = i32::try_from(chunk.key).unwrap_or(i32::MAX);
        rows(&table.name, Piece { factor: factor(self.scale), part, parts })
    }

    fn user(&self, _id: u32, _users: u32, _rng: &mut Rng) {}

    fn next(&self, (): &mut (), _rng: &mut Rng) -> Option<usize> {
        None
    }

    fn draw(
        &self,
        _transaction: usize,
        (): &mut (),
        _rng: &mut Rng,
        _now: Timestamp,
    ) -> &'static str {
        ""
    }

    async fn prepare<S: Session>(
        &self,
        _mode: Mode,
        _statements: &mut Statements<'_>,
        _session: &mut S,
    ) -> Result<(), DbError> {
        Ok(())
    }

    async fn run<S: Session>(
        &self,
        _input: &&'static str,
        (): &mut (),
        _session: &mut S,
    ) -> Result<Completion, DbError> {
        Ok(Completion::COMMITTED)
    }

    fn query_plan(&self) -> Option<QueryPlan> {
        Some(runs::plan(&self.runs, self.scale))
    }

    async fn refuse_refresh<S: Session>(
        &self,
        refresh: query_plan::Refresh,
        tries: bool,
        statements: &mut Statements<'_>,
        session: &mut S,
    ) -> Result<Option<String>, DbError> {
        let set = self.refresh_set(refresh);
        if let Some(foreign) = foreign_row(set, statements, session).await? {
            return Ok(Some(foreign));
        }
        if tries {
            let prepared = Refresh::prepare(statements, session).await?;
            try_out(set, &prepared, session).await?;
        }
        Ok(None)
    }

    async fn refresh<S: Session>(
        &self,
        refresh: query_plan::Refresh,
        statements: &mut Statements<'_>,
        session: &mut S,
    ) -> Result<u64, DbError> {
        let set = self.refresh_set(refresh);
        if refresh.function == 1 {
            return rf1(set, session).await;
        }
        let prepared = Refresh::prepare(statements, session).await?;
        rf2(set, &prepared, session).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tproc_h(thousandths: u64) -> TprocH {
        let scale = Scale::from_thousandths(thousandths);
        TprocH::new(&WorkloadSettings { scale, ..WorkloadSettings::default() }).unwrap()
    }

    #[test]
    fn chunks_are_even_and_not_too_many() {
        for (thousandths, parts) in [(10, 1), (16, 2), (100, 10), (1_000, 100), (300_000, 1_000)] {
            let chunks = tproc_h(thousandths).chunks();
            assert_eq!(chunks.len(), parts + 1, "{thousandths}");
        }
    }
}
