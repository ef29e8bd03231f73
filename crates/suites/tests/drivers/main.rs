//! Tests of each driver's own behaviour, on real servers. The conformance suite tests the common
//! guarantees.
#![expect(clippy::unwrap_used, reason = "the helpers of a test fail as its own lines do")]

mod fuzz;
mod mysql;
mod postgres;
mod postgres_pipelining;
mod postgres_wire;
mod repeated_secrets;
mod session;
mod sqlserver;
mod sqlserver_clients;
mod sqlserver_doctor;
mod sqlserver_login;
mod sqlserver_mock;
mod sqlserver_observed;
mod sqlserver_responder;
mod sqlserver_wire;
mod traffic;
