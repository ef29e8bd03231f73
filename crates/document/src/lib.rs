//! The documents of jobs and of the other commands: what was found, as it is stored, printed and read
//! again; and what they are made of: metrics, measures, requirements, plans, verdicts.
//!
//! Everything here is data or a pure function of data, without access to clocks, files or databases.
//! What measures and fills a document is in the crates above: `store`, `observe`, `runner`.
//!
//! [`Document`] is the document of any job and [`JobDocument`] what all have in common. Begin with the
//! document of a run, [`result`].

mod any;
pub mod build;
pub mod bundle;
pub mod capacity;
pub mod capture;
pub mod check;
pub mod compare;
pub mod datagen;
pub mod doctor;
mod document;
pub mod drill;
pub mod ending;
pub mod energy;
pub mod evidence;
pub mod execution_plan;
pub mod failure_limit;
pub mod history;
pub mod host;
pub mod isolation;
mod job_id;
pub mod judgement;
pub mod matrix;
pub mod measure;
pub mod method;
pub mod metrics;
pub mod parts;
pub mod price;
pub mod profile;
pub mod redacted;
pub mod remove;
mod repeats;
pub mod requirement;
pub mod result;
pub mod samples;
pub mod schedule;
pub mod schemas;
pub mod second;
pub mod series;
pub mod stopping_rule;
pub mod unit;
pub mod usage;
pub mod why;

pub use any::Document;
pub use document::{Head, JobDocument, JobType};
pub use job_id::JobId;
