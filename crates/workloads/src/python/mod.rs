//! Users' workloads in Python: a class whose coroutines are the transactions. The interpreter is not part of this crate:
//! the Python package [registers](register) one.
//!
//! ```text
//! code                what an interpreter implements, and its registration
//! settings source     --script FILE, --define NAME=VALUE; how the file is read
//! workload            the class as a Workload: each of its transactions is a type
//! runner              carries out what a transaction requests on a session
//! meter               what the code costs: CPU time, the interpreter's lock
//! ```
//!
//! A transaction is a coroutine that is suspended at each of its requests, as the scripts of sysbench are. So one worker
//! thread drives many users, and the interpreter's lock is held only between two requests.

mod code;
mod meter;
mod runner;
mod settings;
mod source;
mod workload;

pub use code::{
    Answer, Argument, Code, CodeError, Function, Interpreter, Request, RequestKind, Script,
    SessionCode, Transaction, register,
};
pub use meter::{LockHold, LockRequest, Meter};
pub use source::load;
pub use workload::Python;

/// Name of the workload.
pub const NAME: &str = "python";
