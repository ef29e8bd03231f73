//! TPROC-C as a [`Workload`]: connects tables, data, inputs and transactions.

use std::sync::{Arc, LazyLock};

use triphammer_core::mix::Mix;
use triphammer_core::random::Rng;
use triphammer_core::session::{RowSource, Session};
use triphammer_core::value::Timestamp;
use triphammer_core::workload::{
    Author, Chunk, Completion, Description, Mode, ScaleUnit, Statements, TableDef, TransactionDef,
    Workload, WorkloadSettings,
};
use triphammer_core::{DbError, SpecError};

use super::checks::CHECKS;
use super::constants::{RunConstants, c_load};
use super::hammerdb;
use super::input::{Delivery, Input, NewOrder, OrderStatus, Payment, Rules, StockLevel};
use super::names::LastNames;
use super::population::Population;
use super::prepared::Prepared;
use super::schema::{ITEMS, WAREHOUSE_ROWS, item_tables, tables, warehouse_tables};
use super::settings::{OPTIONS, Routines, Settings};
use super::statements::statements;
use super::transactions::{
    DELIVERY, NEW_ORDER, ORDER_STATUS, PAYMENT, audits, cycle, primary_metric, transactions,
};
use super::user::User;

/// The TPROC-C workload at a scale.
#[derive(Debug)]
pub struct TprocC {
    settings: Settings,
    mix: Arc<Mix>,
    run_seed: u64,
    c_load: i64,
    population: Population,
    rules: Rules,
    names: LastNames,
}

static DESCRIPTION: LazyLock<Arc<Description>> = LazyLock::new(|| {
    Arc::new(Description {
        name: super::NAME.into(),
        title: "TPROC-C".into(),
        author: Author::Program,
        extends: None,
        record: None,
        own_sql: Vec::new(),
        has_streams: false,
        recording: None,
        version: 1,
        scale_unit: ScaleUnit::new("warehouse", "warehouses"),
        options: OPTIONS.to_vec(),
        statements: statements(),
        tables: tables(),
        transactions: transactions().to_vec(),
        primary_metric: primary_metric(),
        checks: CHECKS.to_vec(),
        answers: None,
        audits: audits(),
        modes: vec![Mode::Procedures, Mode::Statements],
        pipelining: Ok(()),
        external: Some(hammerdb::external()),
        borrowed: None,
        cycle: Some(cycle()),
    })
});

impl TprocC {
    /// Declares TPROC-C: tables, statements, types, checks and options.
    #[must_use]
    pub fn describe() -> Arc<Description> {
        Arc::clone(&DESCRIPTION)
    }

    /// Creates TPROC-C at the given scale, with the given options.
    ///
    /// # Errors
    /// When an option or the scale is invalid.
    pub fn new(given: &WorkloadSettings) -> Result<Self, SpecError> {
        let settings = Settings::new(given)?;
        let c_load = c_load(given.data_seed);
        let rules = Rules {
            warehouses: settings.warehouses,
            constants: RunConstants::new(given.run_seed, c_load),
        };
        Ok(Self {
            mix: TransactionDef::mix(&transactions(), settings.mix),
            population: Population::new(given.data_seed, c_load, settings.population_time),
            settings,
            run_seed: given.run_seed,
            c_load,
            rules,
            names: LastNames::new(),
        })
    }

    /// The rules by which inputs are drawn.
    #[must_use]
    pub fn rules(&self) -> &Rules {
        &self.rules
    }
}

impl Workload for TprocC {
    type User = User;
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
        let items = Chunk {
            name: "items".to_owned(),
            key: 0,
            tables: item_tables(),
            rows: ITEMS.unsigned_abs().into(),
        };
        let tables = warehouse_tables();
        let warehouses = (1..=self.settings.warehouses).map(|w_id| Chunk {
            name: format!("warehouse {w_id}"),
            key: w_id.into(),
            tables: Arc::clone(&tables),
            rows: WAREHOUSE_ROWS,
        });
        std::iter::once(items).chain(warehouses).collect()
    }

    fn rows(&self, chunk: &Chunk, table: &TableDef) -> Box<dyn RowSource + '_> {
        self.population.rows(&table.name, chunk.key, &self.names)
    }

    fn build_facts(&self) -> Vec<(&'static str, String)> {
        vec![("c_load", self.c_load.to_string())]
    }

    fn user(&self, id: u32, users: u32, _rng: &mut Rng) -> User {
        User::new(id, users, self.run_seed, &self.settings)
    }

    fn arrive(&self, user: &mut User, _number: u64, rng: &mut Rng) -> Option<usize> {
        Some(user.arrive(&self.mix, rng))
    }

    fn next(&self, user: &mut User, rng: &mut Rng) -> Option<usize> {
        Some(user.next(&self.mix, rng))
    }

    fn draw(&self, transaction: usize, user: &mut User, rng: &mut Rng, now: Timestamp) -> Input {
        let terminal = user.terminal(rng);
        if self.settings.routines == Routines::Hammerdb {
            let input = hammerdb::Input::draw(transaction, &self.rules, terminal, rng, now);
            return Input::Hammerdb(input);
        }
        match transaction {
            NEW_ORDER => Input::NewOrder(NewOrder::draw(&self.rules, terminal, rng, now)),
            PAYMENT => Input::Payment(Payment::draw(&self.rules, terminal, rng, now)),
            ORDER_STATUS => Input::OrderStatus(OrderStatus::draw(&self.rules, terminal, rng)),
            DELIVERY => Input::Delivery(Delivery::draw(terminal, rng, now)),
            _ => Input::StockLevel(StockLevel::draw(terminal, rng)),
        }
    }

    async fn prepare<S: Session>(
        &self,
        mode: Mode,
        statements: &mut Statements<'_>,
        session: &mut S,
    ) -> Result<Prepared, DbError> {
        Prepared::new(mode, &self.settings, statements, session).await
    }

    fn acknowledged(&self, input: &Input) -> Option<Completion> {
        match input {
            Input::NewOrder(order) if order.rolls_back() => Some(Completion::ROLLED_BACK),
            // The routine draws the items, so only its answer shows whether it rolls back.
            Input::Hammerdb(input) if input.is_new_order() => None,
            Input::Payment(payment) => Some(payment.completion()),
            _ => Some(Completion::COMMITTED),
        }
    }

    /// The home warehouse.
    fn partition(&self, input: &Input) -> Option<u64> {
        Some(input.warehouse().unsigned_abs().into())
    }

    async fn run<S: Session>(
        &self,
        input: &Input,
        prepared: &mut Prepared,
        session: &mut S,
    ) -> Result<Completion, DbError> {
        prepared.run(input, &self.names, session).await
    }
}
