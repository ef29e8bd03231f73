//! The stored routines of a schema that HammerDB built, called as they are with inputs drawn as
//! HammerDB's client draws them, so that two clients can be compared on the same work on one
//! database.
//!
//! Differences from the rest of the workload, all of them HammerDB's: customers are drawn
//! uniformly, not by NURand; items, quantities and supplying warehouses are drawn by the routine,
//! in the database; each transaction type is drawn independently rather than dealt from a deck;
//! home warehouses are drawn, so users may share one while another has none. What a routine does
//! not return is unknown: which districts Delivery skipped, for instance.
//!
//! Supported interfaces: those of HammerDB 3.3 to 6.0, functions or procedures on PostgreSQL,
//! procedures on MySQL, MariaDB, SQL Server, Oracle and Db2; `signatures` distinguishes them. The calls are in
//! `sql/*/tproc-c/hammerdb.sql`.

mod ending;
mod signatures;

use std::fmt;

use triphammer_core::random::Rng;
use triphammer_core::rows::Rows;
use triphammer_core::session::{Session, StatementId};
use triphammer_core::value::{Timestamp, Value};
use triphammer_core::workload::{Completion, ExternalSchema, Mode, Name, Needs, Statements};
use triphammer_core::{DbError, ErrorClass};

use super::constants::A_LAST;
use super::input::Rules;
use super::names::{LastNames, last_name};
use super::of_mix::of_mix;
use super::schema::CUSTOMERS;
use super::settings::{ROUTINES, Routines as Wanted};
use super::transactions::{DELIVERY, NEW_ORDER, ORDER_STATUS, PAYMENT, STOCK_LEVEL};
use super::user::Terminal;
use ending::RunEnding;
use signatures::{FoundRoutines, Remark};

/// Schemas that HammerDB built. Conditions that do not hold there: its population gives delivered
/// lines an amount, and its routines leave c_ytd_payment, c_payment_cnt, c_delivery_cnt, s_ytd,
/// s_order_cnt and s_remote_cnt unchanged.
#[must_use]
pub fn external() -> ExternalSchema {
    ExternalSchema {
        made_by: "HammerDB".into(),
        scale: "foreign.scale".into(),
        hint: None,
        needs: Some(Needs { statement: ROUTINES_THERE.into(), judge: signatures::judge }),
        modes: vec![Mode::Procedures],
        options: vec![(ROUTINES.name, Wanted::Hammerdb.name().into())],
        violates: ["3.3.2.10", "3.3.2.11", "3.3.2.12", "13", "14", "15"].map(Name::from).to_vec(),
    }
}

/// The statement that lists the routines.
const ROUTINES_THERE: &str = "hammerdb.routines";
/// PostgreSQL's code for a routine that ends the transaction where it may not. HammerDB's functions
/// do so when they try to roll back.
const INVALID_TERMINATION: &str = "2D000";

/// The constant C of NURand for last names, which is the same in HammerDB's population and runs.
const C_LAST: i64 = 123;

/// The input of a HammerDB routine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Number of the warehouse.
    pub w_id: i32,
    /// The routine's other arguments.
    pub of: Of,
    /// Time of the transaction; functions take the server's instead.
    pub time: Timestamp,
}

/// Arguments of the routines besides the warehouse and the time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Of {
    /// Arguments of NEWORD, its New-Order.
    NewOrder {
        /// Number of warehouses, from which the routine draws.
        warehouses: i32,
        /// Number of the district.
        d_id: i32,
        /// Number of the customer.
        c_id: i32,
        /// Number of lines that the routine draws.
        ol_cnt: i32,
    },
    /// Arguments of PAYMENT, its Payment.
    Payment {
        /// District that is paid.
        d_id: i32,
        /// Number of the customer's warehouse.
        c_w_id: i32,
        /// Number of the customer's district.
        c_d_id: i32,
        /// How the customer is selected.
        customer: Customer,
        /// Amount in whole dollars.
        h_amount: i32,
    },
    /// Arguments of OSTAT, its Order-Status.
    OrderStatus {
        /// Number of the customer's district.
        d_id: i32,
        /// How the customer is selected.
        customer: Customer,
    },
    /// Arguments of DELIVERY, its Delivery.
    Delivery {
        /// Number of the carrier.
        o_carrier_id: i32,
    },
    /// Arguments of SLEV, its Stock-Level.
    StockLevel {
        /// The user's district, which never changes.
        d_id: i32,
        /// Items with less than this in stock are counted.
        threshold: i32,
    },
}

/// The values by the names of HammerDB's parameters.
impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { w_id, of, time } = self;
        write!(f, "w_id = {w_id}\n{of}\ntime = {time}")
    }
}

impl fmt::Display for Of {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NewOrder { warehouses, d_id, c_id, ol_cnt } => write!(
                f,
                "warehouses = {warehouses}\nd_id = {d_id}\nc_id = {c_id}\nol_cnt = {ol_cnt}"
            ),
            Self::Payment { d_id, c_w_id, c_d_id, customer, h_amount } => write!(
                f,
                "d_id = {d_id}\nc_w_id = {c_w_id}\nc_d_id = {c_d_id}\n{customer}\n\
                 h_amount = {h_amount}"
            ),
            Self::OrderStatus { d_id, customer } => write!(f, "d_id = {d_id}\n{customer}"),
            Self::Delivery { o_carrier_id } => write!(f, "o_carrier_id = {o_carrier_id}"),
            Self::StockLevel { d_id, threshold } => {
                write!(f, "d_id = {d_id}\nthreshold = {threshold}")
            }
        }
    }
}

impl fmt::Display for Customer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { c_id, last_name: number, by_name } = self;
        write!(f, "c_id = {c_id}\nc_last = {}\nby_name = {by_name}", last_name(*number))
    }
}

/// How a routine's customer is selected: it takes both number and name, and whether to use the
/// name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Customer {
    /// Number; with a name, the routine may use it if no customer has that name.
    pub c_id: i32,
    /// Number of the last name, for [`LastNames`].
    pub last_name: u16,
    /// Whether the name is used rather than the number.
    pub by_name: bool,
}

impl Customer {
    fn draw(rng: &mut Rng) -> Self {
        let c_id = rng.between32(1, CUSTOMERS);
        let last_name = rng.nurand(A_LAST, C_LAST, 0, 999);
        Self {
            c_id,
            last_name: u16::try_from(last_name).expect("0 to 999"),
            by_name: rng.percent(60),
        }
    }

    fn args(self, names: &LastNames) -> [Value<'_>; 3] {
        let name = Value::Text(names.get(self.last_name));
        [self.c_id.into(), i32::from(self.by_name).into(), name]
    }
}

impl Input {
    /// Draws the input of a transaction type as HammerDB's client does.
    #[must_use]
    pub fn draw(
        transaction: usize,
        rules: &Rules,
        terminal: Terminal,
        rng: &mut Rng,
        now: Timestamp,
    ) -> Self {
        let of = match transaction {
            NEW_ORDER => Of::NewOrder {
                warehouses: rules.warehouses,
                d_id: Rules::district(rng),
                c_id: rng.between32(1, CUSTOMERS),
                ol_cnt: rng.between32(5, 15),
            },
            PAYMENT => {
                let d_id = Rules::district(rng);
                let remote = rng.percent(15) && rules.warehouses > 1;
                let (c_w_id, c_d_id) = if remote {
                    (rules.other_warehouse(terminal.w_id, rng), Rules::district(rng))
                } else {
                    (terminal.w_id, d_id)
                };
                let customer = Customer::draw(rng);
                Of::Payment { d_id, c_w_id, c_d_id, customer, h_amount: rng.between32(1, 5_000) }
            }
            ORDER_STATUS => {
                Of::OrderStatus { d_id: Rules::district(rng), customer: Customer::draw(rng) }
            }
            DELIVERY => Of::Delivery { o_carrier_id: rng.between32(1, 10) },
            _ => Of::StockLevel { d_id: terminal.d_id, threshold: rng.between32(10, 20) },
        };
        Self { w_id: terminal.w_id, of, time: now }
    }
}

impl Input {
    /// Whether it is the input of NEWORD.
    #[must_use]
    pub const fn is_new_order(&self) -> bool {
        matches!(self.of, Of::NewOrder { .. })
    }
}

/// The routines of a schema, ready to be called.
#[derive(Debug)]
pub(super) struct Routines {
    /// Whether they take the time of the transaction: procedures do, functions do not.
    take_time: bool,
    /// The calls, by index of the transaction type; only of those in the mix: who may not call the
    /// others can prepare none of them.
    calls: [Option<StatementId>; 5],
    /// How to find out whether New-Order committed.
    ending: RunEnding,
    /// Whether a transaction may be open before a call that must not be in it.
    leave_open: bool,
    /// Whether they roll back and return an error as a row instead of failing.
    return_errors: bool,
    /// What sets the customer's number and name, where parameters that are read and written must be variables.
    set_customer: Option<StatementId>,
}

impl Routines {
    /// Prepares the calls of the types in the mix, in the form that the catalogue has.
    pub(super) async fn prepare<S: Session>(
        mode: Mode,
        mix: [u32; 5],
        statements: &mut Statements<'_>,
        session: &mut S,
        rows: &mut Rows,
    ) -> Result<Self, DbError> {
        let refuse = |why: String| DbError::new(ErrorClass::Unsupported, why);
        if mode != Mode::Procedures {
            let why = "HammerDB's routines can only be called in mode procedures, not statements";
            return Err(refuse(why.to_owned()));
        }
        if !statements.has(ROUTINES_THERE) {
            return Err(refuse("HammerDB's routines cannot be called on this database".to_owned()));
        }
        let listing = statements.prepare(session, ROUTINES_THERE).await?;
        session.query(listing, &[], rows).await?;
        let found = signatures::recognise(statements.catalogue(), rows)?.map_err(|lack| {
            refuse(format!("HammerDB's routines cannot be called: {lack}; omit --routines"))
        })?;
        let leave_open = found.has(Remark::Open);
        if leave_open {
            let no_autocommit = statements.prepare(session, "hammerdb.no_autocommit").await?;
            session.execute(no_autocommit, &[]).await?;
        }
        Ok(Self {
            take_time: found.form.name != "function",
            calls: calls(&found, mix, statements, session).await?,
            ending: match mix[NEW_ORDER] {
                0 => RunEnding::Commits,
                _ => RunEnding::of(&found, statements, session, rows).await?,
            },
            leave_open,
            return_errors: found.form.name == "rows",
            set_customer: match statements.has("hammerdb.set_customer") {
                true => Some(statements.prepare(session, "hammerdb.set_customer").await?),
                false => None,
            },
        })
    }

    /// Runs one transaction. What it returns is received but not checked.
    pub(super) async fn run<S: Session>(
        &self,
        input: &Input,
        names: &LastNames,
        rows: &mut Rows,
        session: &mut S,
    ) -> Result<Completion, DbError> {
        let ended = self.run_routine(input, names, rows, session).await;
        ended.map_err(|error| self.uncover(error))
    }

    /// Reveals the cause of an error: a function that meets a deadlock or a serialization failure
    /// catches it and tries to roll back, which a function may not, and that is the error reported.
    /// Everything is rolled back, as with the original error.
    fn uncover(&self, error: DbError) -> DbError {
        if self.take_time || error.code() != Some(INVALID_TERMINATION) {
            return error;
        }
        let message = format!(
            "HammerDB's function hides a deadlock or serialization failure: {}",
            error.message()
        );
        DbError::new(ErrorClass::Deadlock, message).with_code(INVALID_TERMINATION)
    }

    async fn run_routine<S: Session>(
        &self,
        input: &Input,
        names: &LastNames,
        rows: &mut Rows,
        session: &mut S,
    ) -> Result<Completion, DbError> {
        let w_id = Value::from(input.w_id);
        let time = Value::Timestamp(input.time);
        match &input.of {
            Of::NewOrder { warehouses, d_id, c_id, ol_cnt } => {
                let [max, d_id, c_id, ol_cnt] =
                    [*warehouses, *d_id, *c_id, *ol_cnt].map(Value::from);
                let args = [w_id, max, d_id, c_id, ol_cnt, time];
                let begun = self.ending.now();
                let called = self.call(NEW_ORDER, &args, rows, session).await;
                let order = [w_id, d_id, c_id, ol_cnt];
                return self.ending.judge(called, begun, &order, rows, session).await;
            }
            Of::Payment { d_id, c_w_id, c_d_id, customer, h_amount } => {
                let [c_id, by_name, c_last] = customer.args(names);
                let (d_id, c_w_id, c_d_id) = ((*d_id).into(), (*c_w_id).into(), (*c_d_id).into());
                let amount = (*h_amount).into();
                if self.sets_customer(c_id, c_last, session).await? {
                    let args = [w_id, d_id, c_w_id, c_d_id, by_name, amount, time];
                    self.call(PAYMENT, &args, rows, session).await?;
                } else {
                    let args = [w_id, d_id, c_w_id, c_d_id, c_id, by_name, amount, c_last, time];
                    self.call(PAYMENT, &args, rows, session).await?;
                }
            }
            Of::OrderStatus { d_id, customer } => {
                let [c_id, by_name, c_last] = customer.args(names);
                let d_id = (*d_id).into();
                if self.sets_customer(c_id, c_last, session).await? {
                    self.read(ORDER_STATUS, &[w_id, d_id, by_name], rows, session).await?;
                } else {
                    let args = [w_id, d_id, c_id, by_name, c_last];
                    self.read(ORDER_STATUS, &args, rows, session).await?;
                }
            }
            Of::Delivery { o_carrier_id } => {
                if self.leave_open {
                    // Reads since the last commit would fix the snapshot that decides which orders
                    // are the oldest.
                    session.rollback().await?;
                }
                self.call(DELIVERY, &[w_id, (*o_carrier_id).into(), time], rows, session).await?;
            }
            Of::StockLevel { d_id, threshold } => {
                let args = [w_id, (*d_id).into(), (*threshold).into()];
                self.read(STOCK_LEVEL, &args, rows, session).await?;
            }
        }
        Ok(Completion::COMMITTED)
    }

    /// Sets the customer by a statement of its own; false where the call takes it.
    async fn sets_customer<S: Session>(
        &self,
        c_id: Value<'_>,
        c_last: Value<'_>,
        session: &mut S,
    ) -> Result<bool, DbError> {
        let Some(statement) = self.set_customer else { return Ok(false) };
        session.execute(statement, &[c_id, c_last]).await.map(|_| true)
    }

    /// Calls a routine, with the time as its last argument if it has that parameter.
    async fn call<S: Session>(
        &self,
        transaction: usize,
        args: &[Value<'_>],
        rows: &mut Rows,
        session: &mut S,
    ) -> Result<(), DbError> {
        let count = if self.take_time { args.len() } else { args.len() - 1 };
        session.call(of_mix(self.calls[transaction])?, &args[..count], rows).await?;
        self.returned(rows)
    }

    /// The error that a routine returned instead of failing.
    fn returned(&self, rows: &Rows) -> Result<(), DbError> {
        let error = self.return_errors.then(|| returned_error(rows)).flatten();
        error.map_or(Ok(()), Err)
    }

    /// Calls a routine that only reads. In a session without autocommit its transaction stays open,
    /// as with HammerDB's client.
    async fn read<S: Session>(
        &self,
        transaction: usize,
        args: &[Value<'_>],
        rows: &mut Rows,
        session: &mut S,
    ) -> Result<(), DbError> {
        let call = of_mix(self.calls[transaction])?;
        if self.leave_open {
            return session.query(call, args, rows).await;
        }
        session.call(call, args, rows).await?;
        self.returned(rows)
    }
}

/// The error that a procedure on SQL Server returned: a row of number, severity, state, procedure,
/// line and message, or for memory-optimized tables a word and the number. A proper result of as
/// many columns begins with a text.
fn returned_error(rows: &Rows) -> Option<DbError> {
    let row = rows.iter().next()?;
    let (number, message) = match row.len() {
        6 => (row.int(0).ok()?, row.text(5).ok()?),
        2 if row.text(0).ok()? == "IMOLTPERROR" => (row.int(1).ok()?, "a conflict"),
        _ => return None,
    };
    let class = match number {
        1205 => ErrorClass::Deadlock,
        1222 => ErrorClass::LockTimeout,
        3960 | 41301 | 41302 | 41305 | 41325 => ErrorClass::Serialization,
        _ => ErrorClass::Other,
    };
    let message = format!("HammerDB's procedure returned an error: {}", message.trim());
    Some(DbError::new(class, message).with_code(number.to_string()).undone())
}

/// Declares the calls of the types in the mix, by index of the transaction type.
async fn calls<S: Session>(
    found: &FoundRoutines,
    mix: [u32; 5],
    statements: &mut Statements<'_>,
    session: &mut S,
) -> Result<[Option<StatementId>; 5], DbError> {
    let mut calls = [None; 5];
    let all = [
        (NEW_ORDER, "new_order"),
        (PAYMENT, "payment"),
        (ORDER_STATUS, "order_status"),
        (DELIVERY, "delivery"),
        (STOCK_LEVEL, "stock_level"),
    ];
    for (place, name) in all.into_iter().filter(|(place, _)| mix[*place] > 0) {
        let form = match (found.form.name, place) {
            ("function", ORDER_STATUS) if found.has(Remark::Numeric) => "function_numeric",
            (form, _) => form,
        };
        let call = statements.prepare(session, &format!("hammerdb.{name}.{form}")).await?;
        calls[place] = Some(call);
    }
    Ok(calls)
}

#[cfg(test)]
mod tests {
    use super::super::constants::RunConstants;
    use super::*;

    const HOME: Terminal = Terminal { w_id: 3, d_id: 7 };

    fn draw(transaction: usize, warehouses: i32, rng: &mut Rng) -> Of {
        let rules = Rules { warehouses, constants: RunConstants::new(1, 5) };
        Input::draw(transaction, &rules, HOME, rng, Timestamp::from_seconds(0)).of
    }

    #[test]
    fn customers_of_new_order_are_drawn_evenly() {
        let mut rng = Rng::of(1, &[]);
        let mut hits = vec![0u32; 3001];
        for _ in 0..300_000 {
            let Of::NewOrder { warehouses: 5, d_id: 1..=10, c_id, ol_cnt: 5..=15 } =
                draw(NEW_ORDER, 5, &mut rng)
            else {
                panic!("out of range")
            };
            hits[usize::try_from(c_id).unwrap()] += 1;
        }
        hits.sort_unstable();
        // The busiest tenth of a uniform draw has little more than a tenth; NURand gives it a
        // third.
        assert!(hits[2701..].iter().sum::<u32>() < 40_000);
    }

    #[test]
    fn payments_keep_hammerdbs_shares_and_whole_dollars() {
        let mut rng = Rng::of(2, &[]);
        let (mut remote, mut by_name) = (0, 0);
        for _ in 0..20_000 {
            let Of::Payment { d_id, c_w_id, c_d_id, customer, h_amount: 1..=5000 } =
                draw(PAYMENT, 5, &mut rng)
            else {
                panic!("out of range")
            };
            assert!((1..=3000).contains(&customer.c_id) && customer.last_name < 1000);
            assert!(c_w_id != HOME.w_id || c_d_id == d_id);
            remote += u32::from(c_w_id != HOME.w_id);
            by_name += u32::from(customer.by_name);
        }
        assert!((2_700..3_300).contains(&remote), "{remote}");
        assert!((11_600..12_400).contains(&by_name), "{by_name}");
        let Of::Payment { c_w_id, .. } = draw(PAYMENT, 1, &mut rng) else { panic!("a payment") };
        assert_eq!(c_w_id, HOME.w_id, "the only warehouse has no other");
    }
}
