//! Captures the statistics that a database has of its statements. The statements are tried on the database before they
//! are written, so that the workload file can run.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::timeout;
use triphammer_capture::digest::{
    Column, ColumnKind, DigestStatement, Digests, Guess, Origin, Span, Tables, guesses, write,
};
use triphammer_capture::mix::WorkloadFile;
use triphammer_capture::sql::Syntax;
use triphammer_capture::{Reason, Skipped};
use triphammer_core::session::{Admin, Database as _, Role, Session};
use triphammer_core::sql::{BoundStatement, StatementCatalogue};
use triphammer_core::text::one_line;
use triphammer_core::workload::{Statements, Workload as _, WorkloadSettings};
use triphammer_core::{DbError, Rows, Scale, SpecError};
use triphammer_dialects::catalogues;
use triphammer_dialects::observe::QueryDef;
use triphammer_dialects::statistics::{StatisticsDef, Texts, statistics};
use triphammer_document::capture::CaptureReport;
use triphammer_drivers::AnySession;
use triphammer_settings::Settings;
use triphammer_settings::failure::{Doing as _, Failure};
use triphammer_settings::format::counted;
use triphammer_settings::limited::{Limited, answered};
use triphammer_settings::target::{self, Secrets, Target};
use triphammer_settings::worker_pool::{connect, on_this_thread};
use triphammer_workloads::custom::{Custom, WorkloadText};

use super::common::counts;
use super::output::Output;

/// Maximum wait for a server to cancel a query that took too long.
const CANCEL_LIMIT: Duration = Duration::from_secs(1);

/// The database whose statistics to capture, and where to write them.
#[derive(Debug)]
pub struct StatisticsRequest {
    target: Target,
    output: Output,
}

/// The statements of the statistics, with what is known about their parameters.
struct StatementStatistics {
    /// Name of the statistics.
    name: String,
    statements: Vec<DigestStatement>,
    spans: BTreeMap<Column, Span>,
    skipped: Skipped,
    file: WorkloadFile,
}

impl StatisticsRequest {
    /// The statistics of the target in the settings.
    ///
    /// # Errors
    /// When the target or a setting is invalid, or the output is a recording.
    pub fn new(
        output: Output,
        settings: &mut Settings,
        secrets: &dyn Secrets,
    ) -> Result<Self, Failure> {
        let target = target::open(settings, Some(&Custom::describe()), secrets)?;
        let wrong = |about, why: &str| Err(SpecError::new(why).about(about).into());
        if settings.get("from").is_some() {
            return wrong("from", "--from is the format of a log; omit it for a database");
        }
        if output.is_recording {
            return wrong(
                "output",
                "a recording needs a log: statistics have no times; name a workload file, such as \
                 -o shop.toml",
            );
        }
        Ok(Self { target, output })
    }

    /// Warnings about the target.
    pub fn warnings(&self) -> &[String] {
        &self.target.warnings
    }

    /// Reads the statistics and writes the workload file.
    ///
    /// # Errors
    /// When the database cannot be asked, has no such statistics or no statement that can run, or the file cannot be
    /// written.
    pub fn capture(&self) -> Result<CaptureReport, Failure> {
        let files = self.output.files()?;
        let StatementStatistics { name, statements, skipped, file, .. } =
            on_this_thread(self.read())?;
        let files = files.write(&file.text, None)?;
        let calls = statements.iter().map(|statement| statement.calls).sum();
        Ok(CaptureReport {
            from: name,
            source: self.target.database.target(),
            files,
            is_recording: false,
            bytes: 0,
            sessions: 0,
            transactions: calls,
            statements: calls,
            distinct_statements: statements.len(),
            kinds: file.kinds,
            parameters: file.parameters,
            seconds: 0.0,
            guessed: Some(guesses(&file.text)),
            ended_early: None,
            unreached: 0,
            skipped: counts(&skipped),
        })
    }

    async fn read(&self) -> Result<StatementStatistics, Failure> {
        let database = &self.target.database;
        let doing = format!("reading the statistics of {}", database.target());
        answered(database.waits().query, database.identify()).await.doing(&doing)?;
        let dialect = database.dialect();
        let def = statistics(dialect)?;
        let syntax = match def.texts {
            Some(Texts::Postgres) => Syntax::Postgres,
            Some(Texts::Mysql) => Syntax::MySql,
            None => {
                return Err(Failure::refuse(format!(
                    "cannot capture from {}: {dialect} has no statistics of statements that can be \
                     captured; PostgreSQL, MySQL and MariaDB have",
                    database.target()
                )));
            }
        };
        let mut session = self.connect().await?;
        let found = find(&mut session, &def).await.doing(&doing)?;
        let Some((query, rows)) = found else {
            let needs = missing(&mut session, &def).await.doing(&doing)?;
            return Err(Failure::refuse(format!(
                "{} has no statistics of its statements; they need {needs}",
                database.target()
            )));
        };
        let tables = tables(&mut session, &def).await.doing(&doing)?;
        let mut digests = Digests::new(&tables, syntax);
        for row in rows.iter().filter(|row| !row.is_null(0)) {
            let calls = u64::try_from(row.int(1).doing(&doing)?).unwrap_or_default();
            digests.add(row.text(0).doing(&doing)?, calls);
        }
        let (statements, skipped) = digests.counted();
        let name = query.name.split(' ').next().unwrap_or_default().to_owned();
        let file = WorkloadFile { text: String::new(), samples: None, kinds: 0, parameters: 0 };
        let mut read =
            StatementStatistics { name, statements, spans: BTreeMap::new(), skipped, file };
        self.read_spans(&mut session, &def, &mut read).await?;
        self.write(&def, &mut read)?;
        let rejected = self.rejected(&mut session, &read).await?;
        for place in rejected.iter().rev() {
            let statement = read.statements.remove(*place);
            read.skipped.more(Reason::Unprepared, statement.calls);
        }
        self.write(&def, &mut read)?;
        session.close().await;
        if read.statements.is_empty() {
            let counts = read.skipped.lines("  ");
            return Err(Failure::refuse(format!(
                "{} ({}) has no statement that can be replayed\n{}",
                database.target(),
                read.name,
                counts.trim_end()
            )));
        }
        Ok(read)
    }

    async fn connect(&self) -> Result<Limited<AnySession>, Failure> {
        let database = &self.target.database;
        let session = connect(database, Role::Monitor, self.target.connect_limit).await;
        session.doing(format_args!("connecting to {}", database.target()))
    }

    /// Reads the smallest and largest values of the columns of parameters. What cannot be read, or not in time, is
    /// unknown.
    async fn read_spans(
        &self,
        session: &mut Limited<AnySession>,
        def: &StatisticsDef,
        read: &mut StatementStatistics,
    ) -> Result<(), Failure> {
        for column in read.statements.iter().flat_map(|s| &s.origins).filter_map(Origin::column) {
            if read.spans.contains_key(column) {
                continue;
            }
            let canceller = session.canceller();
            let found = span(session, def, column).await;
            if found.as_ref().is_err_and(|error| error.class().loses_session()) {
                let _ = timeout(CANCEL_LIMIT, canceller.cancel()).await;
                *session = self.connect().await?;
            }
            read.spans.insert(column.clone(), found.unwrap_or_default());
        }
        Ok(())
    }

    /// Makes the workload file.
    fn write(&self, def: &StatisticsDef, read: &mut StatementStatistics) -> Result<(), Failure> {
        let head = self.head(read);
        let guess = |origin: &Origin| guess(def, &read.spans, origin);
        read.file = write(&head, &read.statements, guess);
        Ok(())
    }

    /// The numbers of the statements that the database cannot prepare.
    async fn rejected(
        &self,
        session: &mut impl Session,
        read: &StatementStatistics,
    ) -> Result<Vec<usize>, Failure> {
        if read.statements.is_empty() {
            return Ok(Vec::new());
        }
        let database = &self.target.database;
        let text = WorkloadText {
            name: self.output.file.display().to_string(),
            text: read.file.text.clone(),
            ..WorkloadText::default()
        };
        let options = BTreeMap::from([("workload-file".to_owned(), text.value()?)]);
        let given = WorkloadSettings { scale: Scale::ONE, options, ..WorkloadSettings::default() };
        let workload = Custom::new(&given)?;
        let procedures = database.capabilities().procedures;
        let catalogue: StatementCatalogue =
            catalogues::catalogue(workload.description(), database.dialect(), procedures)?;
        let tried = workload.try_statements(&Statements::new(&catalogue), session).await;
        let tried = tried.doing(format_args!("trying the statements on {}", database.target()))?;
        Ok(tried.into_iter().map(|(number, _)| number).collect())
    }

    /// The comment at the head of the workload file.
    fn head(&self, read: &StatementStatistics) -> String {
        let calls: u64 = read.statements.iter().map(|statement| statement.calls).sum();
        let target = self.target.database.target();
        let mut head = format!(
            "Captured by triphammer from {} of {}: {} of {}.\n\
             Statistics do not have transactions or values: each transaction is a single statement, its weight is\n\
             the number of calls, and each parameter is guessed from the type and the values of a column.\n\
             Review the lines that are marked `# guessed`, and remove the mark: a run warns while there are any.\n",
            read.name,
            one_line(&target),
            counted(calls, "calls"),
            counted(read.statements.len() as u64, "statements"),
        );
        let counts = read.skipped.lines("  ");
        if !counts.is_empty() {
            head.push_str("Not in this file, by number of calls:\n");
            head.push_str(&counts);
        }
        head
    }
}

/// Runs a query without parameters.
async fn ask(session: &mut impl Session, name: &str, sql: &str) -> Result<Rows, DbError> {
    let statement = BoundStatement {
        name: format!("capture.{name}"),
        sql: sql.to_owned(),
        params: Vec::new(),
        order: Vec::new(),
    };
    let id = session.prepare(&statement).await?;
    let mut rows = Rows::new();
    session.query(id, &[], &mut rows).await?;
    Ok(rows)
}

/// What the server needs to have statistics.
async fn missing(session: &mut impl Session, def: &StatisticsDef) -> Result<String, DbError> {
    for need in &def.needs {
        if let Some(when) = &need.when
            && ask(session, "needs", when).await?.is_empty()
        {
            continue;
        }
        return Ok(need.text.clone());
    }
    Ok(String::new())
}

/// The statistics that the server has: the query and its rows.
async fn find<'a>(
    session: &mut impl Admin,
    def: &'a StatisticsDef,
) -> Result<Option<(&'a QueryDef, Rows)>, DbError> {
    let version = session.server().await?.version;
    for query in def.statements.iter().filter(|query| query.is_for(&version)) {
        let sql = match &query.when {
            None => query.sql.clone(),
            Some(when) => match ask(session, "when", when).await?.iter().next() {
                Some(row) => query.with_found(row.text(0).unwrap_or_default()),
                None => continue,
            },
        };
        return Ok(Some((query, ask(session, "statements", &sql).await?)));
    }
    Ok(None)
}

/// The tables of the database.
async fn tables(session: &mut impl Session, def: &StatisticsDef) -> Result<Tables, DbError> {
    let mut tables = Tables::default();
    for row in ask(session, "columns", &def.columns).await?.iter() {
        let column = Column {
            name: row.text(1)?.to_owned(),
            table: row.text(2)?.to_owned(),
            sql: row.text(3)?.to_owned(),
            kind: ColumnKind::of(row.text(4)?, row.int(5)?),
            is_unique: row.int(6)? == 1,
        };
        tables.add(row.text(0)?, column);
    }
    Ok(tables)
}

/// A query about a column.
fn about(template: &str, column: &Column) -> String {
    template.replace("{column}", &column.sql).replace("{table}", &column.table)
}

/// The smallest and the largest value of a column; for one without an order, whether it has any.
async fn span(
    session: &mut impl Session,
    def: &StatisticsDef,
    column: &Column,
) -> Result<Span, DbError> {
    if matches!(column.kind, ColumnKind::Text(_) | ColumnKind::Other) {
        let sql = about(&def.values, column).replace("LIMIT 1000", "LIMIT 1");
        let is_empty = ask(session, "values", &sql).await?.is_empty();
        return Ok((!is_empty).then(|| (String::new(), String::new())));
    }
    let rows = ask(session, "span", &about(&def.span, column)).await?;
    Ok(rows
        .iter()
        .next()
        .and_then(|row| Some((row.text(0).ok()?.to_owned(), row.text(1).ok()?.to_owned()))))
}

/// The generator of a parameter, and what it was guessed from.
fn guess(def: &StatisticsDef, spans: &BTreeMap<Column, Span>, origin: &Origin) -> (Guess, String) {
    let Some(column) = origin.column() else {
        let from = match origin {
            Origin::Limit => "a number of rows",
            Origin::Offset => "a number of rows to skip",
            Origin::Amount => "what is added to a value",
            _ => "no column was found for it",
        };
        return (Guess::of(origin, &None, "", ""), from.to_owned());
    };
    let span = spans.get(column).cloned().flatten();
    let values = match origin {
        Origin::Any(_) => about(&def.lists, column),
        _ => about(&def.values, column),
    };
    let guess = Guess::of(origin, &span, &values, &about(&def.last, column));
    let mut from = format!("{}.{}", column.table, column.sql);
    if span.is_none() {
        from.push_str(", whose values were not read");
    }
    (guess, one_line(&from).into_owned())
}
