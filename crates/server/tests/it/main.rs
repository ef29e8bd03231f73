//! The server, in process, on real databases.

mod contract;
mod typescript;
