//! The workload of `isolation`: users conflict on few rows, and what each of them did and saw is
//! recorded, so that [`triphammer_isolation`] can find what their isolation level should have
//! prevented.
//!
//! | transaction | what it does |
//! |---|---|
//! | append | appends numbers to lists, and reads lists before and after |
//! | read | reads two to six lists, registers and a set |
//! | counter | reads a register, and writes its value plus one |
//! | pair | reads two registers, and writes one of them by a rule over both |
//! | predicate | reads the members of a set, and inserts one if they are below a limit |
//! | prepare | inserts the rows of the next epoch; not part of the mix |
//!
//! The time of a run is divided into *epochs* ([`Epochs`]), each with rows of its own: an epoch ends
//! when a list has 64 elements. Memory is bounded so, and the history of one epoch is checked while
//! the next is driven. That is exact: a transaction takes its epoch when it begins, so none of an
//! earlier epoch begins after one of a later epoch has ended, and no cycle of dependencies, of
//! sessions or of real time leads back.

mod epochs;
mod input;
mod recorder;
mod rows;
mod settings;
mod workload;

pub use epochs::{Epoch, Epochs, Recording, Unchecked};
pub use rows::{describe_key, statements_of};
pub use settings::{ROWS_DEFAULT, WEIGHTS_DEFAULT};
pub use workload::{IsolationLoad, NAME};
