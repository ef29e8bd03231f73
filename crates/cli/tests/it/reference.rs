//! What the program declares agrees with its documents.

use crate::program::Program;
use triphammer_runner::settings::{Mark, SETTINGS};
use triphammer_runner::{catalogues, workload_options};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/settings.md");

/// The reference page, from the list of settings.
fn page() -> String {
    let mut page = String::from(
        "# Settings\n\nMade from the program's own list; `UPDATE_REFERENCE=1 cargo test -p triphammer reference` \
         rewrites it.\n\nEach is a flag, an environment variable, and (where marked) a key of a job file: at its \
         top, or in the table\nof its command (`[run]`). Flags win over the environment, the environment over the \
         job file.\n\n| flag | variable | commands | job file | meaning |\n|---|---|---|---|---|\n",
    );
    for s in SETTINGS {
        let flag = match (s.name, s.value) {
            (_, Some(value)) if s.is(Mark::Positional) => format!("`{value}`"),
            (name, Some(value)) => format!("`--{name} {value}`"),
            (name, None) => format!("`--{name}`"),
        };
        let commands: Vec<_> = s.commands.iter().map(|c| c.name()).collect();
        let job_file = if s.in_job_file() { "yes" } else { "" };
        let variable = s.variable();
        page.push_str(&format!(
            "| {flag} | `{variable}` | {} | {job_file} | {} |\n",
            commands.join(", "),
            s.help_and_default()
        ));
    }
    page.push_str(
        "\n## Options of workloads\n\n| workload | flag | default | meaning |\n|---|---|---|---|\n",
    );
    for (title, o) in workload_options() {
        page.push_str(&format!("| {title} | `--{}` | `{}` | {} |\n", o.name, o.default, o.help));
    }
    page.push_str(
        "\n## Options of builds in a dialect\n\nA dialect has its parent's too: mariadb those of mysql.\n\n\
         | dialect | flag | default | meaning |\n|---|---|---|---|\n",
    );
    for (name, o) in catalogues::all_options() {
        page.push_str(&format!("| {name} | `--{}` | `{}` | {} |\n", o.name, o.default, o.help));
    }
    page
}

#[test]
fn the_reference_page_is_what_the_program_takes() {
    let page = page();
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        std::fs::write(FILE, &page).unwrap();
    }
    assert_eq!(
        std::fs::read_to_string(FILE).unwrap_or_default(),
        page,
        "see the page's second line"
    );
}

#[test]
fn every_setting_of_a_command_is_in_its_help() {
    let program = Program::new();
    for command in [
        "build", "run", "profile", "capacity", "compare", "history", "check", "drop", "datagen",
        "jobs", "report", "serve",
    ] {
        let help = program.ok(&[command, "--help"]);
        for s in SETTINGS.iter().filter(|s| s.commands.iter().any(|c| c.name() == command)) {
            let shown = match s.value {
                Some(value) if s.is(Mark::Positional) => format!("[{value}]"),
                _ => format!("--{}", s.name),
            };
            assert!(help.contains(&shown), "{command} --help lacks {shown}");
        }
    }
}

#[test]
fn completions_are_made_for_every_shell() {
    let program = Program::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(program.ok(&["completions", shell]).contains("triphammer"), "{shell}");
    }
}

#[test]
fn the_commands_are_those_of_the_contract() {
    let help = Program::new().ok(&["--help"]);
    for command in [
        "build",
        "run",
        "profile",
        "capacity",
        "compare",
        "history",
        "check",
        "drop",
        "datagen",
        "jobs",
        "report",
        "serve",
        "completions",
    ] {
        assert!(help.contains(command), "{help}");
    }
}
