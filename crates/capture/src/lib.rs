//! Capture: makes a workload file, or a recording to replay, from the log of a server or from what passes on the wire; or
//! a workload file from the statistics that a server keeps about statements.
//!
//! ```text
//! lines      lines of limited length
//! log/       formats: lines to events of sessions
//! answer     what a server answered, if the source has it
//! array      arrays of PostgreSQL as texts
//! databases  which of the databases of a log is captured
//! sql        the shape of a statement, and the values in it
//! statement  what a statement does to a session
//! variables  user variables in statements
//! savepoints names of savepoints that all transactions share
//! sessions   events to transactions, in order and with their gaps
//! mix        transactions to a workload file: weights, and what parameters are drawn from
//! recording  transactions to a recording, and back
//! columns/   the column that a value belongs to
//! digest/    statistics of statements to a workload file: parameters are guessed from the tables
//! mask       other values in place of those that were captured
//! written    names in statements, and texts and names in workload files
//! ```
//!
//! A log is streamed: memory is limited by the number of sessions, of open transactions and of different
//! statements, each with a limit of its own. What cannot be replayed is counted by its reason.

pub mod answer;
mod argument;
pub mod array;
mod columns;
mod databases;
pub mod digest;
mod event;
pub mod lines;
mod log;
pub mod mask;
pub mod mix;
pub mod recording;
mod savepoints;
mod sessions;
mod shapes;
mod skipped;
pub mod sql;
mod statement;
mod variables;
mod written;

pub use argument::Argument;
pub use databases::Databases;
pub use event::{Aftermath, Event, What};
pub use log::{Format, Log, other_source};
pub use sessions::{Assembler, Bounds, Ending, Gap, Sink, Step, Transaction};
pub use shapes::Shapes;
pub use skipped::{Reason, Skipped};
pub use statement::{Characteristics, used_database};
pub use written::{inserted, table, title};
