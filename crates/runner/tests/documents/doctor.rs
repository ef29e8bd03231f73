//! The published schema and the guide of `doctor` are what the program has.

use triphammer_document::doctor::{Goal, Group};
use triphammer_observe::doctor::{CheckDeclaration, checks_of, declarations, test_declarations};
use triphammer_runner::catalogues::{dialect, dialects};
use triphammer_testbed::assert_generated_lists;

use crate::schema::closed_whole_and_described;

#[test]
fn the_schema_of_the_doctor_is_closed_whole_and_described() {
    closed_whole_and_described("DoctorResult");
}

#[test]
fn the_schema_of_why_is_closed_whole_and_described() {
    closed_whole_and_described("WhyResult");
}

/// The tables of the guide, by the name at their start.
fn lists() -> Vec<(String, String)> {
    let head = "| check | why it matters | what changes it |\n|---|---|---|\n";
    let of = |checks: &mut dyn Iterator<Item = CheckDeclaration>| {
        let rows = checks.map(|check| row(check.name, check.why, &check.change.words(None)));
        format!("{head}{}", rows.collect::<String>())
    };
    let is_of_network = |check: &CheckDeclaration| check.group == Group::Network;
    let network = of(&mut declarations().into_iter().filter(is_of_network));
    let mut lists = vec![
        ("host".to_owned(), host()),
        ("network".to_owned(), network),
        ("tests".to_owned(), of(&mut test_declarations().into_iter())),
    ];
    for name in dialects() {
        // Inherited checks are in the parent's table.
        let parent = dialect(&name).unwrap().parent;
        let inherited = parent.map_or_else(Vec::new, |parent| checks_of(&parent).unwrap());
        let own = checks_of(&name).unwrap();
        let own = own.iter().filter(|check| inherited.iter().all(|one| one.sql != check.sql));
        let mut table = head.to_owned();
        for check in own {
            let versions = match (&check.from, &check.before) {
                (Some(from), _) => format!("`{}` (from {from})", check.name),
                (None, Some(before)) => format!("`{}` (before {before})", check.name),
                (None, None) => format!("`{}`", check.name),
            };
            table.push_str(&format!(
                "| {versions} | {} | {} |\n",
                check.why,
                escaped(&check.change_for(None))
            ));
        }
        if table.len() > head.len() {
            lists.push((name, table));
        }
    }
    lists
}

/// The checks of the host, with their goals and costs.
fn host() -> String {
    let mut table =
        "| check | for | why it matters | what it is worth | what changes it | `--prove` |\n\
                     |---|---|---|---|---|---|\n"
            .to_owned();
    for check in declarations().iter().filter(|check| check.group == Group::Host) {
        let CheckDeclaration { name, goals, why, cost, change, knob, .. } = check;
        let knob = knob.map_or_else(String::new, |knob| match knob.other {
            Some(other) => format!("{}, {other}", knob.advised),
            None => knob.advised.to_owned(),
        });
        let cost = cost.map_or_else(
            || "not measured".to_owned(),
            |cost| format!("{} ([{}]({}))", cost.figure, cost.source, cost.url),
        );
        let (goals, change) = (Goal::short(goals), escaped(&change.words(None)));
        table.push_str(&format!("| `{name}` | {goals} | {why} | {cost} | {change} | {knob} |\n"));
    }
    table
}

fn row(name: &str, why: &str, change: &str) -> String {
    format!("| `{name}` | {why} | {} |\n", escaped(change))
}

fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "\\<").replace('*', "\\*")
}

#[test]
fn the_guide_to_the_doctor_lists_every_check() {
    assert_generated_lists("docs/doctor.md", lists());
}
