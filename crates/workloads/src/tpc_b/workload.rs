//! pgbench's scripts as a [`Workload`].

use std::sync::{Arc, LazyLock};

use triphammer_core::mix::Mix;
use triphammer_core::random::Rng;
use triphammer_core::session::{RowSource, Session};
use triphammer_core::value::Timestamp;
use triphammer_core::workload::{
    Author, Chunk, Completion, Description, ExternalSchema, Mode, ScaleUnit, Statements, TableDef,
    TransactionDef, Workload, WorkloadSettings,
};
use triphammer_core::{DbError, SpecError};

use super::checks::CHECKS;
use super::prepared::Prepared;
use super::schema::{branch_rows, branch_tables, rows, tables};
use super::settings::{OPTIONS, Settings};
use super::statements::{SCALE, statements};
use super::transactions::{Input, audits, primary_metric, transactions};

/// The `tpc-b` workload at a scale.
#[derive(Debug)]
pub struct TpcB {
    settings: Settings,
    mix: Arc<Mix>,
}

static DESCRIPTION: LazyLock<Arc<Description>> = LazyLock::new(|| {
    Arc::new(Description {
        name: "tpc-b".into(),
        title: "TPC-B-like".into(),
        author: Author::Program,
        extends: None,
        record: None,
        own_sql: Vec::new(),
        has_streams: false,
        recording: None,
        version: 1,
        scale_unit: ScaleUnit::new("branch", "branches"),
        options: OPTIONS.to_vec(),
        statements: statements(),
        tables: tables(),
        transactions: transactions().to_vec(),
        primary_metric: primary_metric(),
        checks: CHECKS.to_vec(),
        answers: None,
        audits: audits(),
        modes: vec![Mode::Statements],
        pipelining: Ok(()),
        external: Some(external("pgbench -i")),
        borrowed: None,
        cycle: None,
    })
});

/// The tables, as other programs make them.
pub(crate) fn external(made_by: &'static str) -> ExternalSchema {
    ExternalSchema {
        made_by: made_by.into(),
        scale: SCALE.into(),
        hint: None,
        needs: None,
        modes: vec![Mode::Statements],
        options: Vec::new(),
        violates: Vec::new(),
    }
}

impl TpcB {
    /// Declares tpc-b: tables, statements, types, checks and options.
    #[must_use]
    pub fn describe() -> Arc<Description> {
        Arc::clone(&DESCRIPTION)
    }

    /// Creates tpc-b at the given scale, with the given options.
    ///
    /// # Errors
    /// When an option or the scale is invalid.
    pub fn new(given: &WorkloadSettings) -> Result<Self, SpecError> {
        let settings = Settings::new(given)?;
        Ok(Self { mix: TransactionDef::mix(&DESCRIPTION.transactions, settings.mix), settings })
    }
}

impl Workload for TpcB {
    /// Every transaction is drawn independently; users have no state.
    type User = ();
    type Input = Input;
    type Prepared = Prepared;

    fn description(&self) -> &Arc<Description> {
        &DESCRIPTION
    }

    fn writes(&self) -> Option<bool> {
        let mut types = self.description().transactions.iter().zip(self.settings.mix);
        Some(types.any(|(of, weight)| weight > 0 && of.access.writes()))
    }

    fn mix(&self, _arrives: bool) -> Result<&Arc<Mix>, &'static str> {
        Ok(&self.mix)
    }

    fn chunks(&self) -> Vec<Chunk> {
        let tables = branch_tables();
        (1..=self.settings.scale)
            .map(|bid| Chunk {
                name: format!("branch {bid}"),
                key: bid.into(),
                tables: Arc::clone(&tables),
                rows: branch_rows(),
            })
            .collect()
    }

    fn rows(&self, chunk: &Chunk, table: &TableDef) -> Box<dyn RowSource + '_> {
        rows(&table.name, chunk.key)
    }

    fn user(&self, _id: u32, _users: u32, _rng: &mut Rng) {}

    #[inline]
    fn next(&self, (): &mut (), rng: &mut Rng) -> Option<usize> {
        self.mix.draw(rng)
    }

    #[inline]
    fn draw(&self, transaction: usize, (): &mut (), rng: &mut Rng, now: Timestamp) -> Input {
        Input::draw(transaction, self.settings.scale, rng, now)
    }

    async fn prepare<S: Session>(
        &self,
        _mode: Mode,
        statements: &mut Statements<'_>,
        session: &mut S,
    ) -> Result<Prepared, DbError> {
        Prepared::new(self.writes() == Some(true), statements, session).await
    }

    fn acknowledged(&self, input: &Input) -> Option<Completion> {
        let counter = match input {
            Input::TpcbLike(change) | Input::SimpleUpdate(change) => change.delta.into(),
            Input::SelectOnly { .. } => 0,
        };
        Some(Completion { committed: true, counter })
    }

    async fn run<S: Session>(
        &self,
        input: &Input,
        prepared: &mut Prepared,
        session: &mut S,
    ) -> Result<Completion, DbError> {
        prepared.run(input, session).await
    }
}
