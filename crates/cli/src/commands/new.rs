//! `new workload DIR`: writes the commented example of a workload file.

use std::path::PathBuf;

use clap::ArgMatches;
use triphammer_runner::WORKLOAD_EXAMPLE;
use triphammer_runner::new_file::{self, NewFolders, Readers, refuse_present};

use crate::stdout::print;
use crate::{Exit, Result};

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
