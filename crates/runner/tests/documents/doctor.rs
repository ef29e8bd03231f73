//! The published schema and the guide of `doctor` are what the program has.

use triphammer_document::doctor::Group;
use triphammer_observe::doctor::{Declared, checks_of, declarations};
use triphammer_runner::catalogues::{dialect, dialects};

use crate::schema::closed_whole_and_described;

const GUIDE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/doctor.md");

#[test]
fn the_schema_of_the_doctor_is_closed_whole_and_described() {
    closed_whole_and_described("doctor-schema.json");
}

#[test]
fn the_schema_of_why_is_closed_whole_and_described() {
    closed_whole_and_described("why-schema.json");
}

/// The tables of the guide, by the name at their start.
fn lists() -> Vec<(String, String)> {
    let head = "| check | why it matters | what changes it |\n|---|---|---|\n";
    let of_group = |group: Group| {
        let mut table = head.to_owned();
        for check in declarations().iter().filter(|check| check.group == group) {
            let Declared { name, why, change, .. } = check;
            table.push_str(&row(name, why, change));
        }
        table
    };
    let mut lists = vec![
        ("host".to_owned(), of_group(Group::Host)),
        ("network".to_owned(), of_group(Group::Network)),
        ("tests".to_owned(), of_group(Group::Database)),
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

fn row(name: &str, why: &str, change: &str) -> String {
    format!("| `{name}` | {why} | {} |\n", escaped(change))
}

fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "\\<").replace('*', "\\*")
}

#[test]
fn the_guide_to_the_doctor_lists_every_check() {
    let mut guide = std::fs::read_to_string(GUIDE).unwrap();
    for (name, list) in lists() {
        let head = format!("<!-- {name}: made from the program's own list -->\n");
        let from = guide.find(&head).unwrap_or_else(|| panic!("{head}")) + head.len();
        let length = guide[from..].find("<!-- end -->").unwrap();
        guide.replace_range(from..from + length, &list);
    }
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        std::fs::write(GUIDE, &guide).unwrap();
    }
    assert!(
        std::fs::read_to_string(GUIDE).unwrap() == guide,
        "docs/doctor.md has other lists than the program; UPDATE_REFERENCE=1 cargo test \
         -p triphammer-runner --test documents guide writes them"
    );
}
