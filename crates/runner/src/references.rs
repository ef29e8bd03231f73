//! The answers that `check` compares with, at any scale: those that a workload knows, else what DuckDB answers to the same
//! queries on the same data.
//!
//! DuckDB's answers are computed once, on a temporary file, and kept in the user's cache by workload, scale,
//! parameters and versions. They run our SQL on our data, so they prove databases against each other, and not the SQL.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use triphammer_core::rows::{Row, Rows};
use triphammer_core::session::{Access, Role, Session as _};
use triphammer_core::small_file::read_text;
use triphammer_core::sql::{Script, StatementCatalogue};
use triphammer_core::workload::{
    Answer, AnswerRule, Answers, Chunk, Description, Statements, Workload as _, WorkloadSettings,
};
use triphammer_core::{DbError, ErrorClass, Scale};
use triphammer_dialects::catalogues;
use triphammer_drivers::target::ConnectSettings;
use triphammer_drivers::{AnyDatabase, duckdb};
use triphammer_settings::cancel::Cancel;
use triphammer_settings::failure::Failure;
use triphammer_settings::fnv::Fnv1a;
use triphammer_settings::format::bytes;
use triphammer_settings::worker_pool::{WorkerPool, identify};
use triphammer_workloads::AnyWorkload;

use crate::answers::NULL;
use crate::watch::Watch;

/// Maximum memory of DuckDB while it computes answers; it writes what does not fit to files.
const MEMORY: u64 = 1 << 30;
/// Disk space that a row takes in DuckDB's file, with a reserve: 0.24 GB at SF 1 of TPROC-H, which
/// has 8.7 million rows.
const BYTES_PER_ROW: u64 = 50;
/// First words of a file of the cache.
const FORM: &str = "triphammer answers 1";
/// Maximum size of a file of the cache, in bytes.
const KEPT_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Start of the last line of a file, before the hash of all lines before it.
const END: &str = "-- end ";

/// Answers to compare with, or why there are none.
#[derive(Debug, Default)]
pub struct ReferenceAnswers {
    /// The answers; empty if they are unknown.
    pub answers: Vec<Answer>,
    /// Who answered, if it was computed: `DuckDB 1.5.5`.
    pub source: Option<String>,
    /// Whose texts some of the answers belong to, if the tables have not the expected ones.
    pub own_texts: Option<String>,
    /// Why answers cannot be compared, and what to do.
    pub unknown: Option<String>,
}

/// Finds or computes answers.
#[derive(Clone, Copy, Debug)]
pub struct References<'a, 'w> {
    /// The workload.
    pub workload: &'a Description,
    /// Scale of the data.
    pub scale: Scale,
    /// Number of parallel sessions.
    pub jobs: u32,
    /// Longest wait for a session.
    pub connect_limit: Duration,
    /// Ends the computation.
    pub cancel: &'a Cancel,
    /// Receives the progress.
    pub watch: &'a Watch<'w>,
}

impl References<'_, '_> {
    /// Returns the answers; nothing for a workload without any.
    ///
    /// # Errors
    /// When the computation is cancelled. That it fails is a reason not to compare.
    pub fn find(&self) -> Result<ReferenceAnswers, Failure> {
        let Some(of_workload) = &self.workload.answers else {
            return Ok(ReferenceAnswers::default());
        };
        let answers = (of_workload.at)(self.scale);
        if !answers.is_empty() {
            return Ok(ReferenceAnswers { answers, ..ReferenceAnswers::default() });
        }
        match self.computed(of_workload) {
            Ok((answers, version)) => {
                let source = Some(format!("DuckDB {version}"));
                Ok(ReferenceAnswers { answers, source, ..ReferenceAnswers::default() })
            }
            Err(Failure::Cancelled) => Err(Failure::Cancelled),
            Err(failure) => {
                let size = self.workload.scale_unit.count(self.scale);
                let unknown = format!(
                    "no answers were compared: they are known at {}, and at {size} DuckDB computes \
                     them, which failed: {failure}",
                    of_workload.known_at
                );
                Ok(ReferenceAnswers { unknown: Some(unknown), ..ReferenceAnswers::default() })
            }
        }
    }

    /// Reads the answers from the cache, or computes and keeps them; with DuckDB's version.
    fn computed(&self, of_workload: &Answers) -> Result<(Vec<Answer>, &'static str), Failure> {
        let version = duckdb::version().map_err(Failure::refuse)?;
        let questions = (of_workload.questions)();
        let catalogue = catalogues::catalogue(self.workload, duckdb::DIALECT, false)?;
        let key = self.key(&questions, &catalogue, version)?;
        let folder = folder()?;
        let file = folder.join(format!("{}-{}-{key}.txt", self.workload.name, self.scale));
        let head = format!("{FORM} {key}");
        let kept = read_text(&file, KEPT_BYTES_MAX).ok();
        if let Some(answers) = kept.and_then(|text| parse(&text, &head, &questions)) {
            return Ok((answers, version));
        }
        let size = self.workload.scale_unit.count(self.scale);
        let workload = self.workload()?;
        require_space(&folder, workload.chunks().iter().map(|chunk| chunk.rows).sum())?;
        self.watch.note(&format!(
            "computing the answers at {size} with DuckDB {version}, once, on a temporary file in {}",
            folder.display()
        ));
        let text = self.compute(&workload, &folder, &questions, &catalogue, &head)?;
        let answers = parse(&text, &head, &questions)
            .ok_or_else(|| Failure::refuse("an answer contains a separator"))?;
        if let Err(error) = keep(&file, &text) {
            let file = file.display();
            self.watch.warn(&format!("the answers were not kept: writing {file}: {error}"));
        }
        Ok((answers, version))
    }

    /// The workload at this scale.
    fn workload(&self) -> Result<AnyWorkload, Failure> {
        let given = WorkloadSettings { scale: self.scale, ..WorkloadSettings::default() };
        Ok(AnyWorkload::new(&self.workload.name, &given)?)
    }

    /// A hash of everything that the answers depend on.
    fn key(
        &self,
        questions: &[Answer],
        catalogue: &StatementCatalogue,
        version: &str,
    ) -> Result<String, Failure> {
        let mut hash = Fnv1a::new();
        let workload = self.workload;
        for text in [&*workload.name, version, env!("CARGO_PKG_VERSION")] {
            hash.add(text.as_bytes());
        }
        hash.add(format!("{} {}", workload.version, self.scale).as_bytes());
        for question in questions {
            let statement = catalogue.statement(&question.statement);
            let statement = statement.map_err(|error| Failure::refuse(error.to_string()))?;
            hash.add(format!("{} {:?}", statement.sql, question.args).as_bytes());
        }
        Ok(format!("{:016x}", hash.value()))
    }

    /// Loads the data into a temporary file and asks the questions; returns the text of a cache file.
    fn compute(
        &self,
        workload: &AnyWorkload,
        folder: &Path,
        questions: &[Answer],
        catalogue: &StatementCatalogue,
        head: &str,
    ) -> Result<String, Failure> {
        let scratch = Scratch::new(folder)?;
        let (connect_limit, engine_memory) = (self.connect_limit, Some(MEMORY));
        let settings =
            ConnectSettings { connect_limit, engine_memory, ..ConnectSettings::default() };
        let database = Arc::new(AnyDatabase::open(&scratch.url(), &settings)?);
        identify(self.workload, &database)?;
        let cancel = self.cancel.clone();
        let (size, role) = (self.jobs, Role::Loader);
        let pool = WorkerPool { database, size, role, connect_limit, cancel };
        self.load(workload, &pool, catalogue)?;
        self.watch.task("answering with DuckDB", questions.len() as u64, "queries");
        let answered = pool.work(
            questions,
            |question| format!("query {} on DuckDB", question.id),
            async |_| Ok(()),
            async |session, (), question| {
                let mut rows = Rows::new();
                let id = Statements::new(catalogue).prepare(session, &question.statement).await?;
                session.query(id, &question.args, &mut rows).await?;
                self.watch.advance(1);
                section(question, &rows)
            },
        )?;
        let mut text = format!("{head}\n{}", answered.concat());
        let hash = hash_of(&text);
        text.push_str(&format!("{END}{hash}\n"));
        Ok(text)
    }

    /// Creates the tables, without keys, and loads the data.
    fn load(
        &self,
        workload: &AnyWorkload,
        pool: &WorkerPool,
        catalogue: &StatementCatalogue,
    ) -> Result<(), Failure> {
        let scripts: Vec<&Script> = catalogue.scripts("create").collect();
        let (database, cancel) = (Arc::clone(&pool.database), pool.cancel.clone());
        WorkerPool { database, cancel, size: 1, ..*pool }.work(
            &scripts,
            |script| format!("running `{}` on DuckDB", script.name),
            async |_| Ok(()),
            async |session, (), script| session.script(&script.sql).await,
        )?;
        let chunks = workload.chunks();
        let rows = chunks.iter().map(|chunk| chunk.rows).sum();
        self.watch.task("loading into DuckDB", rows, "rows");
        pool.work(
            &chunks,
            |chunk| format!("loading {} into DuckDB", chunk.name),
            async |_| Ok(()),
            async |session, (), chunk: &Chunk| {
                session.begin(Access::Write).await?;
                for table in &*chunk.tables {
                    let mut rows = workload.rows(chunk, table);
                    let mut source = |batch: &mut Rows| {
                        let more = rows.fill(batch);
                        self.watch.rows(&table.name, batch.len() as u64);
                        more && !self.cancel.is_cancelled()
                    };
                    session.load(table, &mut source).await?;
                }
                session.commit().await
            },
        )?;
        Ok(())
    }
}

/// The folder of the answers in the user's cache, which exists then.
fn folder() -> Result<PathBuf, Failure> {
    let variable =
        |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache")));
    let folder = cache.map(|cache| cache.join("triphammer").join("answers"));
    let folder = folder.ok_or_else(|| {
        Failure::refuse("the environment names no cache folder: set HOME or XDG_CACHE_HOME")
    })?;
    let doing = || format!("creating the folder {}", folder.display());
    std::fs::create_dir_all(&folder).map_err(|error| Failure::System { doing: doing(), error })?;
    Ok(folder)
}

/// Rejects a folder whose disk is too small for this number of rows.
fn require_space(folder: &Path, rows: u64) -> Result<(), Failure> {
    let needed = rows.saturating_mul(BYTES_PER_ROW);
    let Ok(disk) = rustix::fs::statvfs(folder) else { return Ok(()) };
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    if free >= needed {
        return Ok(());
    }
    let (needed, free, folder) = (bytes(needed), bytes(free), folder.display());
    Err(Failure::refuse(format!(
        "it needs about {needed} in {folder}, where {free} are free: make room there, or set \
         XDG_CACHE_HOME to another folder"
    )))
}

/// Writes a file so that it is there as a whole or not at all.
fn keep(file: &Path, text: &str) -> std::io::Result<()> {
    let partial = file.with_extension(format!("{}.partial", std::process::id()));
    std::fs::write(&partial, text)?;
    std::fs::rename(&partial, file)
}

/// A folder for a temporary database, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    /// Creates the folder, and removes those of processes that were killed.
    fn new(folder: &Path) -> Result<Self, Failure> {
        for left in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = left.file_name();
            let owner =
                name.to_str().and_then(|name| name.strip_prefix("scratch-")?.split('-').next());
            let is_running = |owner: &str| Path::new("/proc").join(owner).exists();
            if owner.is_some_and(|owner| Path::new("/proc").exists() && !is_running(owner)) {
                let _ = std::fs::remove_dir_all(left.path());
            }
        }
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let (process, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let scratch = folder.join(format!("scratch-{process}-{count}"));
        let doing = format!("creating the folder {}", scratch.display());
        std::fs::create_dir(&scratch).map_err(|error| Failure::System { doing, error })?;
        Ok(Self(scratch))
    }

    /// The target, with what means something else in a URL encoded.
    fn url(&self) -> String {
        let path = self.0.join("data.duckdb").display().to_string();
        format!("duckdb:{}", path.replace('%', "%25").replace('?', "%3F").replace('#', "%23"))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// An answer as it is kept: the name of the query, a line of its columns, its rows.
fn section(question: &Answer, rows: &Rows) -> Result<String, DbError> {
    let columns: Vec<&str> = question.columns.iter().map(|column| &*column.name).collect();
    let mut text = format!("-- {}\n{}\n", question.id, columns.join("|"));
    for row in rows.iter() {
        let fields: Result<Vec<String>, DbError> = question
            .columns
            .iter()
            .enumerate()
            .map(|(place, column)| field(column.rule, row, place))
            .collect();
        text.push_str(&fields?.join("|"));
        text.push('\n');
    }
    Ok(text)
}

/// A field as it is kept.
fn field(rule: AnswerRule, row: Row<'_>, column: usize) -> Result<String, DbError> {
    let text = if row.is_null(column) {
        NULL.to_owned()
    } else if rule == AnswerRule::Words {
        row.text(column)?.trim().to_owned()
    } else {
        row.show(column).trim_matches('`').to_owned()
    };
    if text.contains(['|', '\n']) {
        let message = format!("the answer `{text}` contains a separator");
        return Err(DbError::new(ErrorClass::Other, message));
    }
    Ok(text)
}

/// Reads a file of the cache; `None` if it is not whole, or another one.
fn parse(text: &str, head: &str, questions: &[Answer]) -> Option<Vec<Answer>> {
    let (body, hash) = text.split_at_checked(text.rfind(END)?)?;
    if hash.trim_end().strip_prefix(END)? != hash_of(body) {
        return None;
    }
    let mut lines = body.lines().peekable();
    if lines.next()? != head {
        return None;
    }
    let mut answers = Vec::new();
    for question in questions {
        if lines.next()?.strip_prefix("-- ")? != question.id {
            return None;
        }
        lines.next()?;
        let mut answer = question.clone();
        while let Some(line) = lines.next_if(|line| !line.starts_with("-- ")) {
            answer.rows.push(line.split('|').map(Into::into).collect());
        }
        let width = answer.columns.len();
        answers.push(Some(answer).filter(|a| a.rows.iter().all(|row| row.len() == width))?);
    }
    Some(answers)
}

fn hash_of(text: &str) -> String {
    let mut hash = Fnv1a::new();
    hash.add(text.as_bytes());
    format!("{:016x}", hash.value())
}

#[cfg(test)]
mod tests {
    use triphammer_core::workload::AnswerColumn;

    use super::*;

    fn question(id: &str) -> Answer {
        let column = |name: &'static str, rule| AnswerColumn { name: name.into(), rule };
        Answer {
            id: id.into(),
            title: "x".into(),
            statement: "q".into(),
            args: Vec::new(),
            columns: vec![column("name", AnswerRule::Words), column("sum", AnswerRule::Sum)],
            rows: Vec::new(),
        }
    }

    fn file(head: &str, sections: &[String]) -> String {
        let body = format!("{head}\n{}", sections.concat());
        let hash = hash_of(&body);
        format!("{body}{END}{hash}\n")
    }

    #[test]
    fn answers_are_read_as_they_were_kept() {
        let questions = [question("Q1"), question("Q2")];
        let mut rows = Rows::new();
        rows.reset(2);
        rows.text("GERMANY  ");
        rows.decimal(-1_250, 2);
        rows.text("");
        rows.null();
        let sections =
            [section(&questions[0], &rows).unwrap(), section(&questions[1], &Rows::new()).unwrap()];
        let text = file("head", &sections);
        let answers = parse(&text, "head", &questions).unwrap();
        assert_eq!(answers[0].rows, [["GERMANY", "-12.50"], ["", "NULL"]]);
        assert!(answers[1].rows.is_empty());
        assert_eq!(crate::answers::wrong(&answers[0], &rows), None);
    }

    #[test]
    fn a_file_that_is_not_whole_or_not_the_same_is_not_read() {
        let questions = [question("Q1")];
        let whole = file("head", &["-- Q1\nname|sum\na|1\nb|2\n".to_owned()]);
        assert!(parse(&whole, "head", &questions).is_some());
        for (text, why) in [
            (whole.replace("a|1", "a|3"), "changed"),
            (whole[..whole.len() / 2].to_owned(), "cut off"),
            (String::new(), "empty"),
            (file("other", &["-- Q1\nname|sum\n".to_owned()]), "of another key"),
            (file("head", &["-- Q2\nname|sum\n".to_owned()]), "of another query"),
            (file("head", &["-- Q1\nname|sum\na\n".to_owned()]), "without a column"),
        ] {
            assert!(parse(&text, "head", &questions).is_none(), "{why}");
        }
    }

    #[test]
    fn a_disk_that_is_too_small_is_rejected_before_anything_is_loaded() {
        let folder = std::env::temp_dir();
        require_space(&folder, 1).unwrap();
        let error = require_space(&folder, u64::MAX / BYTES_PER_ROW).unwrap_err().to_string();
        assert!(error.contains("XDG_CACHE_HOME"), "{error}");
    }

    #[test]
    fn a_field_with_a_separator_is_an_error() {
        let mut rows = Rows::new();
        rows.reset(2);
        rows.text("a|b");
        rows.int(1);
        assert!(section(&question("Q1"), &rows).is_err());
    }
}
