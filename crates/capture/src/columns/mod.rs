//! Which column of which table a value in a statement belongs to.
//!
//! ```text
//! places   the column of each parameter
//! tables   the tables of a database, with their columns
//! ```

mod places;
mod tables;

pub use self::places::Origin;
pub(crate) use self::places::origins;
pub(crate) use self::tables::bare;
pub use self::tables::{Column, ColumnKind, Tables};
