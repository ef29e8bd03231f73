//! The job store: every build, check and run with all its measurements, in one SQLite file. It is
//! written outside the engine's threads, in batches of a few seconds, by the thread that reads the
//! run's events; several programs may write concurrently. It contains no secrets: a target is a
//! [`Redacted`](triphammer_document::redacted::Redacted), and server settings are masked.
//!
//! A running job holds a lock on a small file next to the store; the system releases it when the
//! process ends for any reason. A job that is `running` in the store but whose lock is free is
//! `lost`. This works across containers and reboots, where process IDs are meaningless.
//!
//! A failing store never ends a run: see [`StoreError::may_pass`] for what the caller can expect.
//!
//! Not here: what documents mean (`document`), and when a job is written (`runner`). Begin with
//! [`Store`], and `tables.sql` for what is in the file.

mod browse;
mod chunks;
mod columns;
mod cpu_tests;
mod error;
mod held;
mod histograms;
mod job;
mod lock;
mod open;
mod path;
mod read;
mod samples;
mod tables;
mod transfer;
mod write;

pub use browse::{JobPage, JobQuery, PAGE_MAX};
pub use chunks::{CHUNK_SECONDS, SERIES_MAX};
pub use error::StoreError;
pub use histograms::{FULL_SECONDS, HistogramRow, MERGED_SECONDS, Scope, TimesKind, TotalRow};
pub use job::{CheckRow, JobFilter, JobHeader, JobRow, JobStatus, ReadAt, StoredJob};
pub use open::Store;
pub use path::{default_path, store_path};
pub use samples::{SamplePoint, SamplePoints, SampleWriter, SampledSecond, StoredSeries};
pub use tables::VERSION;
pub use transfer::{JOB_TABLES, TransferError};
pub use write::STORE_GAP;
