//! Snapshots: copies of a whole database that the database, or the file system, makes itself, and from
//! which it is restored before a run. Here is what they have in common; how each database makes them is
//! in its driver, and [`Snapshots`](crate::snapshots::Snapshots) is one type over all of them.
//!
//! A snapshot has a [`Mark`] that says what it is a copy of, and only what has a mark of this program
//! is ever dropped or overwritten. Whatever is made gets a unique name first and its own name when it
//! is complete, so that nothing unfinished is taken for a snapshot. Not here: when to restore, locks of
//! workloads, and what equal states are (the crate `runner`).

mod common;
mod files;
mod mark;
mod stop;

pub use common::{Consent, Remarks};
pub(crate) use common::{check_space, exists, missing, refuse_loss, refused, unmarked};
pub(crate) use files::{FileSnapshots, OneFile};
pub(crate) use mark::unfinished_name;
pub use mark::{Maker, Mark, NAME_MAX, Purpose, SnapshotName};
pub use stop::Stop;
