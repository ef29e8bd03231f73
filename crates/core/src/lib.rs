//! The vocabulary of triphammer: what a database session, a workload, an outcome, a load model and
//! an interval are. There is no engine, no driver, no workload and no HTTP here; those crates depend
//! on this one and never the other way round.
#![expect(
    async_fn_in_trait,
    reason = "sessions live on one worker thread, so their futures need not be Send"
)]

pub mod answers;
pub mod clock;
pub mod error;
pub mod event;
pub mod histogram;
pub mod io;
pub mod isolation;
pub mod login;
pub mod mix;
mod name;
pub mod nodes;
pub mod odbc;
pub mod origin;
pub mod outcome;
pub mod pace;
pub mod pipelining;
pub mod protocol;
pub mod query_plan;
pub mod random;
pub mod recorder;
pub mod row_lines;
pub mod rows;
pub mod scale;
pub mod session;
pub mod small_file;
pub mod spec;
pub mod sql;
mod sql_forms;
pub mod stats;
mod table;
pub mod text;
pub mod timer;
pub mod traffic;
pub mod value;
pub mod workload;

pub use clock::{Clock, Elapsed};
pub use error::{DbError, ErrorClass, SpecError};
pub use outcome::{Counts, Outcome, Timing};
pub use random::Rng;
pub use rows::{Row, Rows};
pub use scale::Scale;
pub use session::{Access, Capabilities, Database, Session, StatementId};
pub use value::{ColumnType, Date, Timestamp, Value};
pub use workload::Workload;
