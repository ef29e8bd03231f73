//! Writes the SQL of dialects whose databases cannot be had, for tools/check-sql.py, which parses it.

use std::path::Path;

use triphammer_dialects::catalogues;
use triphammer_workloads::all;

/// Those dialects.
const DIALECTS: [&str; 2] = ["db2", "oracle"];

#[test]
#[ignore = "tools/check-sql.py runs it"]
fn the_sql_of_oracle_and_db2_is_written() {
    let folder = std::env::var("TRIPHAMMER_SQL_FOLDER").unwrap();
    for dialect in DIALECTS {
        let folder = Path::new(&folder).join(dialect);
        std::fs::create_dir_all(&folder).unwrap();
        write(&folder, dialect);
    }
}

fn write(folder: &Path, dialect: &str) {
    for workload in all() {
        let catalogue = catalogues::catalogue(&workload, dialect, true).unwrap();
        let file = |name: &str| folder.join(format!("{}.{name}.sql", workload.name));
        for script in catalogue.all_scripts() {
            std::fs::write(file(&script.name), &script.sql).unwrap();
        }
        for statement in catalogue.statements() {
            std::fs::write(file(&statement.name), &statement.sql).unwrap();
        }
    }
}
