//! Every command of the tutorials in docs/tutorials, in their order, on a private PostgreSQL: with small data and short
//! runs, and a limit that a busy host keeps; else as they stand there.

use std::path::Path;

use triphammer_testbed::PostgresServer;

use crate::program::Program;

/// What takes long in a tutorial, and what the test makes of it.
const SHORTER: [(&str, &str); 3] =
    [("--scale", "1"), ("--vus auto", "--vus 1,2 --repeats 1"), ("< 50ms", "< 10s")];
/// Settings of all commands, which the tutorials leave at their defaults.
const SHORT: [(&str, &str); 4] = [
    ("TRIPHAMMER_DURATION", "6s"),
    ("TRIPHAMMER_RAMPUP", "0s"),
    ("TRIPHAMMER_COOL_DOWN", "0s"),
    ("TRIPHAMMER_MAX_RATE", "20"),
];

/// The commands of a page: lines that begin with `$` in its console blocks.
fn commands(page: &str) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tutorials");
    let text = std::fs::read_to_string(folder.join(page)).unwrap();
    let blocks = text.split("```console\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    blocks.flat_map(str::lines).filter_map(|line| line.strip_prefix("$ ")).map(shorter).collect()
}

fn shorter(command: &str) -> String {
    let [(scale, one), (auto, levels), (limit, generous)] = SHORTER;
    let mut words: Vec<_> = command.split(' ').collect();
    if let Some(place) = words.iter().position(|word| *word == scale) {
        words[place + 1] = one;
    }
    words.join(" ").replace(auto, levels).replace(limit, generous)
}

/// Runs a tutorial in one shell; each of its commands must succeed.
fn succeeds(page: &str) {
    let program = Program::new();
    let server = PostgresServer::shared();
    let place = format!("{}:{}@127.0.0.1:{}", server.user(), server.password(), server.port());
    let mark = format!("{}_{}", page.replace(['-', '.'], "_"), std::process::id());
    let mut script = "set -eu\n".to_owned();
    for command in commands(page) {
        // A database of its own for each server of the tutorial.
        let here = ["db1", "db2", "old", "new"].iter().fold(command, |command, host| {
            let of = |name: &str| format!("postgres://bench@{host}/{name}");
            let to = |name: &str| format!("postgres://{place}/{name}");
            command
                .replace(&of("postgres"), &to("postgres"))
                .replace(&of(""), &to(&format!("{mark}_{host}_")))
        });
        // The doctor finds something wrong on most hosts, and says so by its exit code.
        let or = if here.contains(" doctor ") { " || [ $? = 1 ]" } else { "" };
        script += &format!("echo '$' {}\n{here}{or}\n", quoted(&here));
    }
    let done = program.shell(&script, &SHORT);
    assert_eq!(done.code, 0, "{page}:\n{}\n{}", done.out, done.err);
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

macro_rules! tutorials {
    ($($name:ident $page:literal,)*) => {$(
        #[test]
        #[ignore = "slow: tools/test-matrix.py slow"]
        fn $name() {
            succeeds($page);
        }
    )*

    #[test]
    fn every_tutorial_is_run() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tutorials");
        for entry in std::fs::read_dir(folder).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!([$($page),*].contains(&&*name), "{name}");
            assert!(!commands(&name).is_empty(), "{name} has no command");
        }
    }};
}

tutorials! {
    a_machine_is_sized "size-a-machine.md",
    an_instance_is_chosen "choose-an-instance.md",
    an_upgrade_is_tested "test-an-upgrade.md",
    regressions_are_watched_for "watch-for-regressions.md",
    a_result_is_handed_over "hand-over.md",
}
