//! `new workload DIR`: writes the commented example of a workload file.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;

use clap::{Arg, ArgMatches, Command as Clap, value_parser};
use triphammer_runner::{Failure, WORKLOAD_EXAMPLE};

use crate::stdout::print;
use crate::{Exit, Result};

/// Name of the command.
pub const NAME: &str = "new";

/// Declares the command.
pub fn declare() -> Clap {
    let folder = Arg::new("folder")
        .value_name("DIR")
        .help("folder for the files; it is created if it does not exist")
        .value_parser(value_parser!(PathBuf))
        .required(true);
    let workload = Clap::new("workload")
        .about("Write an example of a workload file, which runs as it is on PostgreSQL, MariaDB and SQLite")
        .arg(folder);
    Clap::new(NAME)
        .about("Write an example to begin with")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(workload)
}

/// Runs the command.
///
/// # Errors
/// When a file exists already or cannot be written; nothing is overwritten.
pub fn command(matches: &ArgMatches) -> Result<Exit> {
    let (_, matches) = matches.subcommand().expect("clap requires one");
    let folder = matches.get_one::<PathBuf>("folder").expect("clap requires it");
    if let Some((name, _)) = WORKLOAD_EXAMPLE.iter().find(|(name, _)| folder.join(name).exists()) {
        let path = folder.join(name);
        return Err(Failure::refuse(format!(
            "{} exists already, and is not overwritten: name another folder",
            path.display()
        )));
    }
    let written = std::fs::create_dir_all(folder).and_then(|()| {
        WORKLOAD_EXAMPLE.iter().try_for_each(|(name, text)| {
            let mut file =
                OpenOptions::new().write(true).create_new(true).open(folder.join(name))?;
            file.write_all(text.as_bytes())
        })
    });
    written.map_err(|error| Failure::System {
        doing: format!("writing the example into {}", folder.display()),
        error,
    })?;
    let file = folder.join(WORKLOAD_EXAMPLE[0].0);
    let file = file.display();
    print(&format!(
        "{file} is an example of a workload file. To use it:\n  triphammer build TARGET -w {file}\n  \
         triphammer run TARGET -w {file}\n"
    ))?;
    Ok(Exit::Done)
}
