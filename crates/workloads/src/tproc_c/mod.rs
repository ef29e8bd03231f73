//! TPROC-C: order entry based on the TPC-C specification (revision 5.11), whose clause numbers the
//! comments cite. Results are never called TPC-C: the figures are NOPM and TPM.
//!
//! # Order of locks
//! Every transaction takes its row locks in this order, so that no two can deadlock:
//!
//! 1. warehouse (Payment)
//! 2. district (Payment: d_ytd; New-Order: d_next_o_id)
//! 3. new_order, districts 1 to 10, the oldest of each (Delivery); its holder owns the order and
//!    its lines, which no other transaction writes
//! 4. stock, by (s_w_id, s_i_id) (New-Order)
//! 5. customer (Payment: one, the last lock it takes; Delivery: those of its orders. Two Deliveries
//!    never hold orders of one district at a time, so they never lock each other's customers)
//!
//! Payment takes 1, 2, 5; New-Order 2, 4; Delivery 3, 5; Order-Status and Stock-Level none. Foreign
//! keys add locks that conflict only with deletes and changes of a key, which never happen to a
//! referenced row. The statements keep this order in both modes, and so must every override in a
//! dialect.

mod buffers;
pub mod checks;
pub mod constants;
mod customer;
mod delivery;
pub mod hammerdb;
pub mod input;
pub mod names;
mod new_order;
mod of_mix;
mod order_status;
pub mod output;
mod payment;
pub mod population;
pub mod prepared;
pub mod schema;
pub mod settings;
pub mod statements;
mod stock_level;
pub mod transactions;
pub mod user;
mod workload;

pub use prepared::Prepared;
pub use workload::TprocC;

/// Name of the workload.
pub const NAME: &str = "tproc-c";
