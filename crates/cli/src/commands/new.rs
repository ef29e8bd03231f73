//! `new workload DIR`: writes the commented example of a workload file.

use std::path::PathBuf;

use clap::{Arg, ArgMatches, Command as Clap, value_parser};
use triphammer_runner::WORKLOAD_EXAMPLE;
use triphammer_runner::new_file::{self, NewFolders, Readers, refuse_present};

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
    let paths = WORKLOAD_EXAMPLE.iter().map(|(name, text)| (folder.join(name), text));
    paths.clone().try_for_each(|(path, _)| refuse_present(&path))?;
    let _folders = NewFolders::create(folder)?;
    paths.clone().try_for_each(|(path, text)| new_file::write(&path, text, Readers::Default))?;
    let file = folder.join(WORKLOAD_EXAMPLE[0].0);
    let file = file.display();
    print(&format!(
        "{file} is an example of a workload file. To use it:\n  triphammer build TARGET -w {file}\n  \
         triphammer run TARGET -w {file}\n"
    ))?;
    Ok(Exit::Done)
}
