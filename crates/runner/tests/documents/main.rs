//! The documents that jobs leave: the result from known numbers, its published schema, the reports made
//! from it, and the store that keeps it. One binary, because linking the databases takes longest.

mod report;
mod result;
mod sample;
mod schema;
mod store;
