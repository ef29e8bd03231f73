//! The binary: nothing but the way in and out.

use std::process::ExitCode;

fn main() -> ExitCode {
    triphammer_cli::main()
}
