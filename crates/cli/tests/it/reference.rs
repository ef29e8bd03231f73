//! The program's declarations agree with its documentation.

use triphammer_runner::catalogues;
use triphammer_settings::command::Command;
use triphammer_settings::{Mark, SETTINGS, choices, workload_options};
use triphammer_testbed::assert_generated;

use crate::program::Program;

/// The reference page, from the list of settings.
fn page() -> String {
    let mut page = String::from(
        "# Settings\n\nGenerated from the program's own list; `make generate` rewrites it.\n\nEach setting is a flag, an environment variable, and (where marked) a key in \
         job files: at the top, or in the\ntable of its command (`[run]`). Flags override environment variables, \
         which override the job file.\n\n| flag | variable | commands | job file | meaning |\n|---|---|---|---|---|\n",
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
        let default = if o.default.is_empty() { String::new() } else { format!("`{}`", o.default) };
        page.push_str(&format!("| {title} | `--{}` | {default} | {} |\n", o.name, o.help));
    }
    page.push_str(
        "\n## Options of builds in a dialect\n\nA dialect also has the options of its parent: mariadb has those of mysql.\n\n\
         | dialect | flag | default | meaning |\n|---|---|---|---|\n",
    );
    for (name, o) in catalogues::all_options() {
        page.push_str(&format!("| {name} | `--{}` | `{}` | {} |\n", o.name, o.default, o.help));
    }
    page
}

#[test]
fn the_reference_page_is_what_the_program_takes() {
    assert_generated("docs/reference/settings.md", &page());
}

#[test]
fn every_setting_of_a_command_is_in_its_help() {
    let program = Program::new();
    for command in [
        "build", "run", "profile", "capacity", "compare", "drill", "history", "check", "drop",
        "datagen", "doctor", "jobs", "report", "serve", "why",
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
fn help_names_the_workloads_and_repeats_no_text() {
    let program = Program::new();
    let help = program.ok(&["run", "--help"]);
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    let names: Vec<_> =
        choices::workloads().iter().map(|choice| choice.value.to_string()).collect();
    let (last, others) = names.split_last().unwrap();
    assert!(help.contains(&format!("Workload: {} or {last}", others.join(", "))), "{help}");
    assert!(
        help.contains("[default: 10,10,1,1,1] (also CH-benCHmark); TPC-B-like: A script"),
        "{help}"
    );
    for text in ["Cards in the deck", "Draw a home warehouse"] {
        assert_eq!(help.matches(text).count(), 1, "{text}");
    }
    // Nothing breaks a paragraph at a fixed width.
    assert!(
        help.contains("(TRIPHAMMER_ and its name in capitals, such as TRIPHAMMER_VUS)"),
        "{help}"
    );
}

#[test]
fn completions_are_made_for_every_shell() {
    let program = Program::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = program.ok(&["completions", shell]);
        assert!(script.contains("triphammer"), "{shell}");
        let has_values = ["bash", "zsh", "fish"].contains(&shell);
        assert!(!has_values || script.contains("procedures"), "{shell}: values of --mode");
    }
}

#[test]
fn every_command_has_a_manual_page_with_its_settings() {
    let program = Program::new();
    program.ok(&["man", "pages"]);
    let page = |name: &str| std::fs::read_to_string(program.path("pages").join(name)).unwrap();
    let head = page("triphammer.1");
    for command in Command::ALL {
        // Roff treats a plain hyphen as a possible line break.
        let text = page(&format!("triphammer-{}.1", command.name())).replace("\\-", "-");
        assert!(head.replace("\\-", "-").contains(&format!("triphammer-{}(1)", command.name())));
        for setting in SETTINGS.iter().filter(|s| s.commands.contains(command)) {
            let is_flag = !setting.is(Mark::Positional);
            assert!(!is_flag || text.contains(&format!("--{}", setting.name)), "{}", setting.name);
        }
    }
    assert!(!program.path("pages/triphammer-man.1").exists(), "it is for packages alone");
    std::fs::write(program.path("file"), "").unwrap();
    let refused = program.run(&["man", "file"]);
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("writing the manual pages into file"), "{}", refused.err);
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
        "drill",
        "history",
        "check",
        "drop",
        "datagen",
        "doctor",
        "jobs",
        "report",
        "serve",
        "why",
        "completions",
        "new",
    ] {
        assert!(help.contains(command), "{help}");
    }
}
