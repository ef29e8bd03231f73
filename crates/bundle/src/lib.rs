//! Bundles: a job as one file that a stranger can check and repeat. A bundle is a zip archive with
//! the rows of the job and of its runs as they are in the store (the *raw parts*), what is computed
//! from them (document, reports, job file), and a manifest with the hash of each part.
//!
//! ```text
//! store ──rows──► raw parts ──► a store of its own ──► document · report.txt · report.html · job.toml
//!                     │                                      │
//!                     └────────────── zip archive ───────────┘        `bundle`
//!
//! zip archive ──raw parts──► a store of its own ──► the same again: equal?      `verify`
//! ```
//!
//! So a bundle is a function of its raw parts, and `verify` applies it again, with the code that
//! the product uses for every job. `verify/raw.rs` judges whether raw parts agree with each other.
//!
//! Begin with [`make`](make::make) and [`verify`](verify::verify); `parts.rs` says what is in a
//! bundle, `container.rs` what is accepted as one.

mod anonymous;
mod container;
mod job_file;
pub mod make;
mod manifest;
mod names;
mod parts;
pub mod repeat;
mod signature;
pub mod verify;

pub use container::Container;
pub use job_file::JobFile;
pub use manifest::{FORMAT, Manifest, this_program};
pub use parts::Parts;

#[cfg(test)]
mod tests;
