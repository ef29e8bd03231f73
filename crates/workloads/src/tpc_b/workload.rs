//! pgbench's scripts as a [`Workload`].

use triphammer_core::random::Rng;
use triphammer_core::session::{RowSource, Session};
use triphammer_core::sql::StatementDef;
use triphammer_core::value::Timestamp;
use triphammer_core::workload::{
    AuditDef, CheckDef, Completion, Foreign, Headline, Mode, OptionDef, Part, Statements, TableDef,
    TransactionDef, Workload, WorkloadSettings,
};
use triphammer_core::{DbError, SpecError};

use super::checks::CHECKS;
use super::prepared::Prepared;
use super::schema::{BRANCH_TABLES, TABLES, branch_rows, rows};
use super::settings::{OPTIONS, Settings};
use super::statements::STATEMENTS;
use super::transactions::{AUDITS, HEADLINE, Input, TRANSACTIONS};

/// The workload `tpc-b`.
#[derive(Debug)]
pub struct TpcB {
    settings: Settings,
}

impl Workload for TpcB {
    const NAME: &'static str = "tpc-b";
    const TITLE: &'static str = "TPC-B-like";
    const VERSION: u32 = 1;
    const SCALE_UNIT: &'static str = "branches";

    /// Every transaction is drawn anew; a user remembers nothing.
    type User = ();
    type Input = Input;
    type Prepared = Prepared;

    fn options() -> &'static [OptionDef] {
        OPTIONS
    }

    fn new(given: &WorkloadSettings) -> Result<Self, SpecError> {
        Ok(Self { settings: Settings::new(given)? })
    }

    fn statements() -> &'static [StatementDef] {
        STATEMENTS
    }

    fn tables() -> &'static [TableDef] {
        &TABLES
    }

    fn transactions() -> &'static [TransactionDef] {
        &TRANSACTIONS
    }

    fn headline() -> Headline {
        HEADLINE
    }

    fn checks() -> &'static [CheckDef] {
        CHECKS
    }

    fn audits() -> &'static [AuditDef] {
        &AUDITS
    }

    fn modes() -> &'static [Mode] {
        &[Mode::Statements]
    }

    fn foreign() -> Option<Foreign> {
        Some(Foreign {
            made_by: "pgbench -i",
            scale: "foreign.scale",
            needs: None,
            modes: Self::modes(),
            options: &[],
            violates: &[],
        })
    }

    fn parts(&self) -> Vec<Part> {
        (1..=self.settings.scale)
            .map(|bid| Part {
                name: format!("branch {bid}"),
                key: bid.into(),
                tables: &BRANCH_TABLES,
                rows: branch_rows(),
            })
            .collect()
    }

    fn rows(&self, part: &Part, table: &TableDef) -> Box<dyn RowSource + '_> {
        rows(table.name, part.key)
    }

    fn build_facts(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    fn user(&self, _id: u32, _users: u32, _rng: &mut Rng) {}

    fn next(&self, (): &mut (), rng: &mut Rng) -> Option<usize> {
        let mix = &self.settings.mix;
        let mut drawn = rng.below(mix.iter().copied().map(u64::from).sum());
        mix.iter().map(|share| u64::from(*share)).position(|share| match drawn.checked_sub(share) {
            None => true,
            Some(rest) => {
                drawn = rest;
                false
            }
        })
    }

    fn draw(&self, transaction: usize, (): &mut (), rng: &mut Rng, now: Timestamp) -> Input {
        Input::draw(transaction, self.settings.scale, rng, now)
    }

    async fn prepare<S: Session>(
        &self,
        _mode: Mode,
        statements: &mut Statements<'_>,
        session: &mut S,
    ) -> Result<Prepared, DbError> {
        Prepared::new(statements, session).await
    }

    fn acknowledged(&self, input: &Input) -> Option<Completion> {
        let tally = match input {
            Input::TpcbLike(change) | Input::SimpleUpdate(change) => change.delta.into(),
            Input::SelectOnly { .. } => 0,
        };
        Some(Completion { committed: true, tally })
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
