//! What a build made compared with what it means to make: tables with their columns, keys, indexes. A script that was
//! run already ends with an error that means "done before", or that something else of that name is there; and between
//! a build and its resumption anything may have changed. What databases show is read by `fingerprint.objects`.

use triphammer_core::session::Session;
use triphammer_core::sql::{Script, StatementCatalogue};
use triphammer_core::workload::Description;
use triphammer_core::{DbError, ErrorClass};
use triphammer_document::result::{SchemaFact, SchemaKind};

use crate::fingerprint;

/// From this number of rows on, `fingerprint.objects` may not show all of a schema: its own limit.
const OBJECTS_MAX: usize = 20_000;

/// An object that a script makes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Meant {
    kind: MeantKind,
    table: String,
    columns: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MeantKind {
    /// A primary key, or a unique index in its place.
    Key,
    Index,
    ForeignKey,
}

/// What the scripts of these kinds make and the database lacks, in one phrase each; nothing for a database that does
/// not show what it has.
///
/// # Errors
/// When the database reports an error.
pub(crate) async fn missing<S: Session>(
    description: &Description,
    catalogue: &StatementCatalogue,
    kinds: &[&str],
    session: &mut S,
) -> Result<Vec<String>, DbError> {
    const OBJECTS: &str = "fingerprint.objects";
    if !catalogue.has_statement(OBJECTS) {
        return Ok(Vec::new());
    }
    let facts = fingerprint::read(catalogue, session, OBJECTS).await?;
    if facts.len() >= OBJECTS_MAX {
        let text = format!(
            "the schema has {OBJECTS_MAX} indexes, constraints and tables or more, so what the build lacks \
             cannot be read: build into a schema of its own"
        );
        return Err(DbError::new(ErrorClass::Other, text));
    }
    Ok(compared(description, catalogue, kinds, &facts))
}

fn compared(
    description: &Description,
    catalogue: &StatementCatalogue,
    kinds: &[&str],
    facts: &[SchemaFact],
) -> Vec<String> {
    let mut missing = Vec::new();
    if kinds.contains(&"create") {
        for table in description.tables.iter() {
            let there = facts.iter().find(|fact| {
                fact.kind == SchemaKind::Table && fact.table.eq_ignore_ascii_case(&table.name)
            });
            let Some(there) = there else {
                missing.push(format!("table {}", table.name));
                continue;
            };
            let words = words(&there.value);
            let lacks = table.columns.iter().find(|column| !words.contains(&lower(&column.name)));
            missing.extend(lacks.map(|column| format!("column {} of {}", column.name, table.name)));
        }
    }
    let scripts = kinds.iter().flat_map(|kind| catalogue.scripts_meant(kind));
    let meant = scripts.filter_map(meant);
    missing.extend(meant.filter(|meant| !is_there(meant, facts)).map(|meant| {
        let what = match meant.kind {
            MeantKind::Key => "primary key",
            MeantKind::Index => "index",
            MeantKind::ForeignKey => "foreign key",
        };
        format!("{what} ({}) of {}", meant.columns.join(", "), meant.table)
    }));
    missing
}

fn lower(text: &str) -> String {
    text.to_lowercase()
}

/// The words of a definition, without quotes, in lower case.
fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).map(lower).collect()
}

/// What a script of a known form makes.
fn meant(script: &Script) -> Option<Meant> {
    let text = script.sql.split_whitespace().collect::<Vec<_>>().join(" ");
    let upper = text.to_ascii_uppercase();
    let first_after = |sign: &str| {
        let at = upper.find(sign)? + sign.len();
        text[at..].split([' ', '(', ';']).find(|word| !word.is_empty()).map(lower)
    };
    let columns_after = |sign: &str| columns(&text[upper.find(sign)? + sign.len()..]);
    if upper.starts_with("ALTER TABLE ") {
        let table = first_after("ALTER TABLE ")?;
        if upper.contains("FOREIGN KEY") {
            let columns = columns_after("FOREIGN KEY")?;
            return Some(Meant { kind: MeantKind::ForeignKey, table, columns });
        }
        let columns = match first_after(" ADD COLUMN ") {
            Some(column) if upper.contains("PRIMARY KEY") => vec![column],
            _ => columns_after("PRIMARY KEY")?,
        };
        return Some(Meant { kind: MeantKind::Key, table, columns });
    }
    let kind = if upper.starts_with("CREATE UNIQUE INDEX ") {
        MeantKind::Key
    } else if upper.starts_with("CREATE INDEX ") {
        MeantKind::Index
    } else {
        return None;
    };
    Some(Meant { kind, table: first_after(" ON ")?, columns: columns_after(" ON ")? })
}

/// The names in the first parentheses of a text, or brackets: `(a, b COLLATE "C")`.
fn columns(text: &str) -> Option<Vec<String>> {
    let inside = &text[text.find(['(', '['])? + 1..];
    let inside = &inside[..inside.find([')', ']'])?];
    let first = |part: &str| words(part).into_iter().find(|word| !word.is_empty());
    inside.split(',').map(first).collect()
}

fn is_there(meant: &Meant, facts: &[SchemaFact]) -> bool {
    let mut of_table = facts.iter().filter(|fact| fact.table.eq_ignore_ascii_case(&meant.table));
    of_table.any(|fact| {
        let upper = fact.value.to_ascii_uppercase();
        let has = |from: usize| columns(&fact.value[from..]).as_ref() == Some(&meant.columns);
        match (fact.kind, meant.kind) {
            (SchemaKind::Index, MeantKind::Key) => upper.starts_with("UNIQUE") && has(0),
            (SchemaKind::Index, MeantKind::Index) => !upper.starts_with("INVALID") && has(0),
            (SchemaKind::Constraint, MeantKind::Key) => upper.starts_with("PRIMARY KEY") && has(0),
            (SchemaKind::Constraint, MeantKind::ForeignKey) => {
                upper.starts_with("FOREIGN KEY") && has(0)
            }
            // The text of the table.
            (SchemaKind::Table, MeantKind::Key) => {
                upper.match_indices("PRIMARY KEY").any(|(at, _)| has(at))
            }
            _ => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(sql: &str) -> Script {
        Script { name: "key.t".into(), sql: sql.into() }
    }

    fn fact(kind: SchemaKind, value: &str) -> SchemaFact {
        SchemaFact { kind, table: "t".into(), name: String::new(), value: value.into() }
    }

    #[test]
    fn what_scripts_mean_is_found_in_what_databases_show() {
        for (sql, kind, shown, expected) in [
            (
                "ALTER TABLE t ADD PRIMARY KEY (a, b);",
                SchemaKind::Constraint,
                "PRIMARY KEY (a, b)",
                true,
            ),
            (
                "ALTER TABLE t ADD PRIMARY KEY (a, b);",
                SchemaKind::Constraint,
                "PRIMARY KEY (b, a)",
                false,
            ),
            (
                "ALTER TABLE t ADD PRIMARY KEY (a);",
                SchemaKind::Constraint,
                "PRIMARY KEY (my_row_id)",
                false,
            ),
            ("ALTER TABLE t ADD PRIMARY KEY (a);", SchemaKind::Index, "UNIQUE CLUSTERED (a)", true),
            ("ALTER TABLE t ADD PRIMARY KEY (a);", SchemaKind::Index, "BTREE (a)", false),
            (
                "ALTER TABLE t ADD PRIMARY KEY (a);",
                SchemaKind::Table,
                "CREATE TABLE t(a INTEGER, PRIMARY KEY(a));",
                true,
            ),
            (
                "ALTER TABLE t ADD COLUMN h bigint NOT NULL AUTO_INCREMENT PRIMARY KEY;",
                SchemaKind::Constraint,
                "PRIMARY KEY (h)",
                true,
            ),
            ("CREATE UNIQUE INDEX t_k ON t (a);", SchemaKind::Index, "UNIQUE (a)", true),
            ("CREATE INDEX n ON t (a, b);", SchemaKind::Index, "btree (a, b COLLATE \"C\")", true),
            ("CREATE INDEX n ON t (a, b);", SchemaKind::Index, "INVALID btree (a, b)", false),
            ("CREATE INDEX n ON t (a, b);", SchemaKind::Index, "[a, b]", true),
            (
                "ALTER TABLE t ADD CONSTRAINT f FOREIGN KEY (a) REFERENCES u (b);",
                SchemaKind::Constraint,
                "FOREIGN KEY (a) REFERENCES u (b)",
                true,
            ),
        ] {
            let meant = meant(&script(sql)).unwrap();
            assert_eq!(is_there(&meant, &[fact(kind, shown)]), expected, "{sql} / {shown}");
        }
        assert_eq!(meant(&script("GRANT SELECT ON t TO u")), None);
    }

    #[test]
    fn a_table_without_a_column_is_named() {
        let workload = triphammer_workloads::describe("kv").unwrap();
        let catalogue =
            triphammer_dialects::catalogues::catalogue(&workload, "mysql", false).unwrap();
        let shown = |columns: &str| SchemaFact {
            table: "kv_store".into(),
            ..fact(SchemaKind::Table, columns)
        };
        let look = |facts: &[SchemaFact]| compared(&workload, &catalogue, &["create"], facts);
        assert_eq!(look(&[]), ["table kv_store"]);
        let whole = "id bigint(20), version bigint(20), checksum bigint(20), payload text";
        assert!(look(&[shown(whole)]).is_empty());
        assert_eq!(
            look(&[shown("id bigint, version bigint, payload text")]),
            ["column checksum of kv_store"]
        );
    }
}
