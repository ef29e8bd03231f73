//! The server, in process, on real databases.
#![expect(clippy::unwrap_used, reason = "a helper that fails is a failing test")]

mod access;
mod contract;
mod hostile;
mod live;
mod metrics;
mod postgres;
mod samples;
mod site;
mod sqlite;
mod typescript;
