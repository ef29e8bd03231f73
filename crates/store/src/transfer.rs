//! The rows of a job as text, and back: for files that carry a job from one store to another. Rows
//! are in the order of their keys and numbers are written exactly, so that the same job always
//! gives the same text, and a job that was read back gives it again.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, params, params_from_iter};
use serde_json::{Map, Value as Json};
use triphammer_core::histogram::layout;
use triphammer_document::JobId;
use triphammer_document::unit::Unit;

use super::error::StoreError;
use super::open::Store;
use super::tables;

/// The tables with rows of a job, besides that of the jobs, each after those that it refers to.
pub const JOB_TABLES: [&str; 10] = [
    "seconds",
    "series",
    "histograms",
    "totals",
    "settings",
    "notes",
    "checks",
    "errors",
    "sample_series",
    "sample_chunk",
];
/// The table whose rows belong to a series of a job instead of to the job itself.
const OF_SERIES: &str = "sample_chunk";
/// The table of sampled series.
const SERIES: &str = "sample_series";
/// The column that says to which job a row belongs: the text has it once, in its name.
const JOB: &str = "job";
/// Columns of the table of jobs with JSON, which the text contains as it is.
const JSON: [&str; 5] = ["spec", "facts", "host", "transactions", "plan"];
/// The column with the document, which is a text of its own.
const DOCUMENT: &str = "result";

/// The column with an encoded histogram.
const COUNTS: &str = "counts";

/// A column of a table.
struct Column {
    name: String,
    kind: String,
    is_optional: bool,
}

/// Why a text is not the rows of a table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TransferError {
    /// A text does not have the form of rows, or a value is not one of its column.
    #[error("{0}")]
    Invalid(String),
    /// The store rejected it, or cannot be written to.
    #[error("{0}")]
    Store(String),
}

impl From<rusqlite::Error> for TransferError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Store(error.to_string())
    }
}

impl Store {
    /// Opens an empty store in memory, or in a temporary file where it becomes large.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn temporary() -> Result<Self, StoreError> {
        let path = std::path::Path::new("");
        let failed = |error| StoreError::from_sqlite(path, error);
        let mut connection = Connection::open("").map_err(failed)?;
        tables::create(&mut connection, path)?;
        Ok(Self { connection, path: path.to_owned(), held: Default::default() })
    }

    /// Creates an empty store in an empty file that nothing else needs, so that it is not safe from a
    /// crash. Another connection can read it.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn scratch(path: &std::path::Path) -> Result<Self, StoreError> {
        let failed = |error| StoreError::from_sqlite(path, error);
        let mut connection = Connection::open(path).map_err(failed)?;
        let mode = |row: &rusqlite::Row<'_>| row.get::<_, String>(0);
        connection.pragma_update_and_check(None, "journal_mode", "off", mode).map_err(failed)?;
        connection.pragma_update(None, "synchronous", "off").map_err(failed)?;
        tables::create(&mut connection, path)?;
        Ok(Self { connection, path: path.to_owned(), held: Default::default() })
    }

    /// The rows that a job has in one of the [`JOB_TABLES`], as CSV with a header; `None` without
    /// any. Binary values are in base64.
    ///
    /// # Errors
    /// When the store cannot be read.
    ///
    /// # Panics
    /// When there is no such table.
    pub fn export(&self, job: JobId, table: &str) -> Result<Option<String>, StoreError> {
        assert!(JOB_TABLES.contains(&table), "{table} is not a table of jobs");
        let failed = |error| self.failed(error);
        let columns = columns(&self.connection, table).map_err(failed)?;
        let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        let of_job = match table {
            OF_SERIES => "series IN (SELECT id FROM sample_series WHERE job = ?1)",
            _ => "job = ?1",
        };
        let (list, order) = (names.join(", "), names[..names.len().min(4)].join(", "));
        let sql = format!("SELECT {list} FROM {table} WHERE {of_job} ORDER BY {order}");
        let mut statement = self.connection.prepare(&sql).map_err(failed)?;
        let mut rows = statement.query([job.0]).map_err(failed)?;
        let mut out = csv::Writer::from_writer(Vec::new());
        let expected = "a vector takes every byte";
        let mut is_empty = true;
        while let Some(row) = rows.next().map_err(failed)? {
            if std::mem::take(&mut is_empty) {
                out.write_record(&names).expect(expected);
            }
            for place in 0..names.len() {
                out.write_field(text(row.get_ref(place).map_err(failed)?)).expect(expected);
            }
            out.write_record(None::<&[u8]>).expect(expected);
        }
        let bytes = out.into_inner().expect(expected);
        Ok((!is_empty).then(|| String::from_utf8(bytes).expect("cells are text")))
    }

    /// The row of a job without its document, as a JSON object; `None` if there is no such job.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn export_job(&self, job: JobId) -> Result<Option<Json>, StoreError> {
        let failed = |error| self.failed(error);
        let columns = columns(&self.connection, "jobs").map_err(failed)?;
        let found = self.rows("SELECT * FROM jobs WHERE id = ?1", [job.0], |row| {
            let mut object = Map::new();
            for column in columns.iter().filter(|column| column.name != DOCUMENT) {
                let value = row.get_ref(column.name.as_str())?;
                object.insert(column.name.clone(), json(&column.name, value));
            }
            Ok(Json::Object(object))
        })?;
        Ok(found.into_iter().next())
    }

    /// The stored text of a job's document; `None` without one.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn export_document(&self, job: JobId) -> Result<Option<String>, StoreError> {
        let found =
            self.rows("SELECT result FROM jobs WHERE id = ?1", [job.0], |row| row.get(0))?;
        Ok(found.into_iter().next().flatten())
    }

    /// Numbers of all jobs, in order, whatever they belong to.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn all_jobs(&self) -> Result<Vec<JobId>, StoreError> {
        self.rows("SELECT id FROM jobs ORDER BY id", [], |row| row.get(0).map(JobId))
    }

    /// Number of sampled values of a job, with those that were not measured.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn sample_values(&self, job: JobId) -> Result<u64, StoreError> {
        let sql = "SELECT total(count) FROM sample_chunk
                   WHERE series IN (SELECT id FROM sample_series WHERE job = ?1)";
        let found = self.rows(sql, [job.0], |row| row.get::<_, f64>(0))?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        Ok(found.into_iter().next().unwrap_or_default() as u64)
    }

    /// The stored evidence of a run, its facts and the output of the engine, as JSON; `None` for
    /// other jobs, and for a run that did not reach its end.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn evidence(&self, job: JobId) -> Result<Option<[String; 2]>, StoreError> {
        let sql = "SELECT facts, ended FROM evidence WHERE job = ?1";
        let found = self.rows(sql, [job.0], |row| Ok([row.get(0)?, row.get(1)?]))?;
        Ok(found.into_iter().next())
    }

    /// Adds the evidence of a run.
    ///
    /// # Errors
    /// When the store rejects it, as for a job that it does not have.
    pub fn import_evidence(
        &self,
        job: JobId,
        [facts, ended]: &[String; 2],
    ) -> Result<(), TransferError> {
        let sql = "INSERT INTO evidence VALUES (?1, ?2, ?3)";
        self.connection.execute(sql, params![job.0, facts, ended])?;
        Ok(())
    }

    /// Adds a job that [`Store::export_job`] described, with its document.
    ///
    /// # Errors
    /// When the object has other members than the table has columns, or values of other types.
    pub fn import_job(&self, job: &Json, document: Option<&str>) -> Result<(), TransferError> {
        let columns = columns(&self.connection, "jobs")?;
        let object = job.as_object().ok_or_else(|| invalid("it is not an object"))?;
        let mut values = Vec::new();
        for column in &columns {
            if column.name == DOCUMENT {
                values.push(Value::from(document.map(str::to_owned)));
                continue;
            }
            let value = object.get(&column.name);
            let value = value.ok_or_else(|| invalid(format!("`{}` is missing", column.name)))?;
            let of_json = || match value {
                Json::Null => String::new(),
                Json::String(text) if !JSON.contains(&column.name.as_str()) => text.clone(),
                other => other.to_string(),
            };
            values.push(cell(column, &of_json()).map_err(invalid)?);
        }
        let known = |name: &&String| columns.iter().any(|column| column.name == **name);
        if let Some(unknown) = object.keys().find(|name| !known(name)) {
            return Err(invalid(format!("`{unknown}` is not known")));
        }
        insert(&self.connection, "jobs", &columns)?.execute(params_from_iter(values))?;
        Ok(())
    }

    /// Adds the rows of a table that [`Store::export`] wrote.
    ///
    /// # Errors
    /// Says which line has something else than such rows.
    ///
    /// # Panics
    /// When there is no such table.
    pub fn import(&self, job: JobId, table: &str, text: &str) -> Result<(), TransferError> {
        assert!(JOB_TABLES.contains(&table), "{table} is not a table of jobs");
        let columns = columns(&self.connection, table)?;
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let header = reader.headers().map_err(|error| invalid(error.to_string()))?;
        if !header.iter().eq(columns.iter().map(|column| column.name.as_str())) {
            return Err(invalid("line 1: these are not the columns of the table"));
        }
        let own = [Column { name: JOB.into(), kind: "INTEGER".into(), is_optional: false }];
        let has_job = table != OF_SERIES;
        let all = own.iter().filter(|_| has_job).chain(&columns);
        let all: Vec<&Column> = all.collect();
        let transaction = self.connection.unchecked_transaction()?;
        {
            let mut statement = insert(&transaction, table, all)?;
            let mut record = csv::StringRecord::new();
            let mut line = 1_u64;
            while reader.read_record(&mut record).map_err(|e| invalid(e.to_string()))? {
                line += 1;
                let mut values: Vec<Value> = Vec::with_capacity(columns.len() + 1);
                values.extend(has_job.then_some(Value::Integer(job.0)));
                for (column, text) in columns.iter().zip(&record) {
                    values.push(
                        cell(column, text).map_err(|why| invalid(format!("line {line}: {why}")))?,
                    );
                }
                if table == SERIES {
                    check_scale(&columns, &record)
                        .map_err(|why| invalid(format!("line {line}: {why}")))?;
                }
                let stored = statement.execute(params_from_iter(values));
                stored.map_err(|error| invalid(format!("line {line}: {error}")))?;
            }
        }
        transaction.commit()?;
        Ok(())
    }
}

fn invalid(reason: impl Into<String>) -> TransferError {
    TransferError::Invalid(reason.into())
}

/// The columns of a table that a text has.
fn columns(connection: &Connection, table: &str) -> rusqlite::Result<Vec<Column>> {
    let mut statement =
        connection.prepare("SELECT name, type, \"notnull\" = 0 FROM pragma_table_info(?1)")?;
    let all = statement.query_map([table], |row| {
        Ok(Column { name: row.get(0)?, kind: row.get(1)?, is_optional: row.get(2)? })
    })?;
    let all: rusqlite::Result<Vec<Column>> = all.collect();
    Ok(all?.into_iter().filter(|column| column.name != JOB).collect())
}

fn insert<'c, 'n>(
    connection: &'c Connection,
    table: &str,
    columns: impl IntoIterator<Item = &'n Column>,
) -> rusqlite::Result<rusqlite::Statement<'c>> {
    let names: Vec<&str> = columns.into_iter().map(|column| column.name.as_str()).collect();
    let marks = vec!["?"; names.len()].join(", ");
    connection.prepare(&format!("INSERT INTO {table} ({}) VALUES ({marks})", names.join(", ")))
}

/// A value as text: nothing for null.
fn text(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => String::new(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
        ValueRef::Blob(bytes) => STANDARD.encode(bytes),
    }
}

/// A value of the table of jobs as JSON.
fn json(column: &str, value: ValueRef<'_>) -> Json {
    match value {
        ValueRef::Null => Json::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => number.into(),
        ValueRef::Text(_) if JSON.contains(&column) => {
            serde_json::from_str(&text(value)).unwrap_or_else(|_| text(value).into())
        }
        ValueRef::Text(_) | ValueRef::Blob(_) => text(value).into(),
    }
}

/// Reads a value of a column.
fn cell(column: &Column, text: &str) -> Result<Value, String> {
    let Column { name, kind, is_optional } = column;
    if text.is_empty() && *is_optional {
        return Ok(Value::Null);
    }
    let refuse = |what: &str| format!("{name}: `{}` is not {what}", cut(text));
    match kind.as_str() {
        "INTEGER" => match text.parse() {
            Ok(number) => Ok(Value::Integer(number)),
            // A fractional scale is in such a column, too.
            Err(_) => real(text).ok_or_else(|| refuse("a number")),
        },
        "REAL" => real(text).ok_or_else(|| refuse("a number")),
        "BLOB" => {
            let bytes = STANDARD.decode(text).map_err(|_| refuse("base64"))?;
            if name == COUNTS {
                layout::check_head(&bytes)
                    .map_err(|why| format!("{name}: `{}` {why}", cut(text)))?;
            }
            Ok(Value::Blob(bytes))
        }
        _ => Ok(Value::Text(text.to_owned())),
    }
}

/// Says why a sampled series cannot have its scale, which is that of its unit.
fn check_scale(columns: &[Column], record: &csv::StringRecord) -> Result<(), String> {
    let of = |name: &str| record.get(columns.iter().position(|column| column.name == name)?);
    let Some((unit, scale)) = of("unit").zip(of("scale")) else { return Ok(()) };
    let known = Unit::named(unit).ok_or_else(|| format!("unit: `{}` is not known", cut(unit)))?;
    match scale == known.scale().to_string() {
        true => Ok(()),
        false => Err(format!("scale: `{}` is not that of the unit {unit}", cut(scale))),
    }
}

fn real(text: &str) -> Option<Value> {
    text.parse().ok().filter(|number: &f64| number.is_finite()).map(Value::Real)
}

/// The beginning of a text.
fn cut(text: &str) -> String {
    text.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use hdrhistogram::serialization::{Serializer as _, V2Serializer};
    use triphammer_core::recorder;

    use super::*;

    #[test]
    fn rows_come_back_as_they_were_and_others_are_refused_with_their_line() {
        let store = Store::temporary().unwrap();
        let job = serde_json::json!({ "id": 7, "kind": "run", "status": "complete", "label": "a \"b\"",
            "workload": "tpc-b", "workload_version": 1, "scale": 1, "scale_unit": "branches",
            "target": "null:", "server_product": null, "server_version": null,
            "tool_version": "0.1.0", "users": 1, "pid": 3, "started_at": "2026-01-01T00:00:00Z",
            "ended_at": null, "primary_metric_name": "TPS", "primary_metric_value": 0.1,
            "spec": null, "facts": {}, "host": {"cpu": null}, "transactions": ["a"], "parent": null,
            "step": null, "plan": null, "good": 1, "flaw": null });
        store.import_job(&job, Some("{}")).unwrap();
        assert_eq!(store.export_job(JobId(7)).unwrap().unwrap(), job);
        let note = params![7, 0, 0.1 + 0.2, "a", "comma, \"quote\"\nline"];
        let sql = "INSERT INTO notes VALUES (?, ?, ?, ?, ?)";
        store.connection.execute(sql, note).unwrap();
        let mut counts = Vec::new();
        V2Serializer::new().serialize(&recorder::histogram(), &mut counts).unwrap();
        let blob = params![7, "run", 0, "response", counts];
        store.connection.execute("INSERT INTO totals VALUES (?, ?, ?, ?, ?)", blob).unwrap();
        let again = Store::temporary().unwrap();
        again.import_job(&job, Some("{}")).unwrap();
        for table in JOB_TABLES {
            let Some(text) = store.export(JobId(7), table).unwrap() else { continue };
            again.import(JobId(7), table, &text).unwrap();
            assert_eq!(again.export(JobId(7), table).unwrap().unwrap(), text);
        }
        let refused = |table, text: &str| again.import(JobId(7), table, text).unwrap_err();
        let second = "place,at_s,kind,text\n1,x,a,b\n";
        assert_eq!(refused("notes", second).to_string(), "line 2: at_s: `x` is not a number");
        assert!(refused("notes", "place,kind\n").to_string().starts_with("line 1"));
        // Length, digits, and bounds of a histogram.
        for byte in [0, 7, 15, 23, 25] {
            let mut edited = counts.clone();
            edited[byte] ^= 4;
            let row = STANDARD.encode(edited);
            let error =
                refused("totals", &format!("scope,type,times,counts\nrun,1,failed,{row}\n"));
            assert!(error.to_string().starts_with("line 2: counts"), "{byte}: {error}");
        }
        let header = "id,metric,labels,title,unit,merge,scale\n";
        let series = |scale: u32| format!("{header}1,a,{{}},A,share,mean,{scale}\n");
        let scale = Unit::named("share").unwrap().scale();
        let error = refused("sample_series", &series(scale + 1)).to_string();
        assert!(error.starts_with("line 2: scale"), "{error}");
        again.import(JobId(7), "sample_series", &series(scale)).unwrap();
        let twice = "place,at_s,kind,text\n0,,a,b\n";
        assert!(refused("notes", twice).to_string().starts_with("line 2: UNIQUE"));
    }
}
