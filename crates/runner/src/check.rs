//! `check`: verifies a workload's invariants on the current data in one snapshot, in parallel by
//! ranges of warehouses, and reports the first violating key of each condition.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use triphammer_core::session::{Access, Admin, Database, LockMode, Role, Session};
use triphammer_core::sql::StatementCatalogue;
use triphammer_core::workload::{
    Answer, Borrowed, CheckDef, CheckWhen, Description, OtherTexts, RowJudge, ScaleUnit, Statements,
};
use triphammer_core::{DbError, Rows, Scale, StatementId, Value};
use triphammer_dialects::catalogues;
use triphammer_document::JobDocument;
use triphammer_document::check::{CheckReport, CheckResult};
use triphammer_document::ending::Ending;
use triphammer_drivers::AnyDatabase;
use triphammer_settings::cancel::Cancel;
use triphammer_settings::failure::{Doing, Failure};
use triphammer_settings::worker_pool::{WorkerPool, connect, identify, on_this_thread};

use crate::answers::wrong;
use crate::record::Record;
use crate::references::{ReferenceAnswers, References};
use crate::remove::inspect;
use crate::watch::Watch;
use crate::workload_lock::lock_workload;

/// Parameters of a check.
#[derive(Clone, Debug)]
pub struct CheckRequest {
    /// The workload to check.
    pub workload: Arc<Description>,
    /// Inclusive range of warehouses or branches; `None` for all.
    pub range: Option<(i64, i64)>,
    /// Number of parallel sessions.
    pub jobs: u32,
    /// Longest wait for a session.
    pub connect_limit: Duration,
    /// Cancels the check.
    pub cancel: Cancel,
}

/// One query of the check.
struct Task {
    check: usize,
    range: (i64, i64),
}

/// Runs the check; `begins` is called after all preconditions are met.
///
/// # Errors
/// When nothing was built there, a run is in progress, or the database reports an error.
pub fn check(
    database: &Arc<AnyDatabase>,
    request: &CheckRequest,
    watch: &Watch<'_>,
    begins: &mut dyn FnMut(),
) -> Result<CheckReport, Failure> {
    let workload = &*request.workload;
    identify(workload, database)?;
    let catalogue =
        catalogues::catalogue(workload, database.dialect(), database.capabilities().procedures)?;
    if !database.capabilities().stores {
        return Err(Failure::refuse(
            "this database does not store data, so there is nothing to check",
        ));
    }
    on_this_thread(async {
        let limit = request.connect_limit;
        let _lock =
            lock_workload(workload, database, Role::Monitor, LockMode::Exclusive, limit).await?;
        let mut session = connect(database, Role::Monitor, limit)
            .await
            .doing(format_args!("connecting to {}", database.target()))?;
        let record = built(workload, &catalogue, &mut session, database).await?;
        let settings = record.workload_settings().doing("reading the build record")?;
        let unit = &workload.scale_unit;
        let range = range(unit, request.range, unit.last_key(settings.scale))?;
        begins();
        let texts = match record.is_external() {
            true => texts(workload, &catalogue, &mut session).await?,
            false => TextsFound::Expected,
        };
        let known = texts
            .fit(workload, settings.scale, || known_answers(request, settings.scale, watch))?;
        // This session keeps the snapshot open that all others use.
        session.begin(Access::Snapshot).await.doing("starting a snapshot")?;
        let snapshot = session.share_snapshot().await.doing("sharing the snapshot")?;
        let checks: Vec<&CheckDef> = workload
            .checks
            .iter()
            .filter(|check| !check.when.is_of_population() || record.is_untouched())
            .collect();
        let pool = pool(database, request);
        let has_population = workload.checks.iter().any(|check| check.when.is_of_population());
        let tasks = tasks(&checks, range, unit, settings.scale, pool.size);
        let mut asked = ask(&pool, &catalogue, &checks, &tasks, snapshot.as_deref(), watch)?;
        mark_rules(workload, &record, &mut asked);
        let answers = &known.answers;
        asked.extend(compare(&pool, &catalogue, answers, snapshot.as_deref(), watch)?);
        session.rollback().await.doing("ending the snapshot")?;
        session.close().await;
        let report = CheckReport {
            ending: Ending::default(),
            workload: workload.title.to_string(),
            scale_unit: workload.scale_unit.many.to_string(),
            target: database.target(),
            checks: asked,
            untouched: record.is_untouched() || !has_population,
            made_by: record.made_by().filter(|_| has_population).map(str::to_owned),
            range,
            size: (unit.keys > 1).then(|| unit.count(settings.scale)),
            compared_with: known.source,
            own_texts: known.own_texts,
            not_compared: known.unknown,
        };
        Ok(report.judged())
    })
}

/// The sessions that answer the queries.
fn pool(database: &Arc<AnyDatabase>, request: &CheckRequest) -> WorkerPool {
    WorkerPool {
        database: Arc::clone(database),
        size: request.jobs,
        role: Role::Monitor,
        connect_limit: request.connect_limit,
        cancel: request.cancel.clone(),
    }
}

/// Marks the violations that the rules of another program cause, if that created the tables.
fn mark_rules(workload: &Description, record: &Record, checks: &mut [CheckResult]) {
    let Some(external) = workload.external.as_ref().filter(|_| record.is_external()) else {
        return;
    };
    for check in checks.iter_mut().filter(|c| record.is_violated_by_rule(external, &c.id)) {
        check.by_rules_of = (check.violations > 0).then(|| external.made_by.to_string());
    }
}

/// Returns the record of a complete build, or its equivalent for tables created by another program.
///
/// # Errors
/// When there is none, or the build is not complete: describes how to build.
pub async fn built<S: Admin>(
    workload: &Description,
    catalogue: &StatementCatalogue,
    session: &mut S,
    database: &AnyDatabase,
) -> Result<Record, Failure> {
    let target = &database.target();
    if !workload.has_data() {
        return Ok(Record::planned(workload, Scale::ONE, 1, &BTreeMap::new()));
    }
    let found = inspect(workload, catalogue, session).await?;
    match found.record.as_ref().or(found.external.as_ref()) {
        Some(record) if record.is_complete() && record.lacks(workload).is_empty() => {
            Ok(record.clone())
        }
        Some(record) if record.is_complete() => {
            Err(Failure::refuse(record.without_additions(workload, target)))
        }
        Some(_) => {
            let resume = match database.capabilities().transactions {
                true => {
                    "`triphammer build` with the same settings resumes it, and with --replace \
                         starts over"
                }
                false => "`triphammer build` with --replace starts over",
            };
            let title = &workload.title;
            Err(Failure::refuse(format!(
                "the build of {title} at {target} was interrupted; {resume}"
            )))
        }
        None => {
            found.refuse_strangers(workload, target)?;
            if let Some(Borrowed { workload, needs }) = &workload.borrowed {
                return Err(Failure::refuse(format!(
                    "{needs}, which {target} does not have; build them first: triphammer build \
                     {target} -w {workload}"
                )));
            }
            let other = other_workload(workload, session, database).await;
            Err(Failure::refuse(match other {
                Some(other) => format!("there is no {} at {target}, but {other}", workload.title),
                None if workload.record.is_some() => format!(
                    "there is no {} at {target}; build it first: triphammer build {target} -w \
                     FILE.toml",
                    workload.title
                ),
                None => format!(
                    "there is no {} at {target}; build it first: triphammer build {target} -w {}",
                    workload.title, workload.name
                ),
            }))
        }
    }
}

/// Describes the tables of another workload in the schema, and how to use them.
async fn other_workload<S: Admin>(
    workload: &Description,
    session: &mut S,
    database: &AnyDatabase,
) -> Option<String> {
    let (dialect, procedures) = (database.dialect(), database.capabilities().procedures);
    for other in triphammer_workloads::all().into_iter().filter(|other| other.name != workload.name)
    {
        let Ok(catalogue) = catalogues::catalogue(&other, dialect, procedures) else { continue };
        let Ok(found) = inspect(&other, &catalogue, session).await else { continue };
        let what = match (&found.record, &found.external) {
            (Some(_), _) => format!("{} is built there", other.title),
            (None, Some(record)) => {
                format!(
                    "{} created tables of {} there",
                    record.made_by().unwrap_or("?"),
                    other.title
                )
            }
            (None, None) => continue,
        };
        return Some(format!("{what}: use -w {}", other.name));
    }
    None
}

/// Runs all queries of the check.
fn ask(
    pool: &WorkerPool,
    catalogue: &StatementCatalogue,
    checks: &[&CheckDef],
    tasks: &[Task],
    snapshot: Option<&str>,
    watch: &Watch<'_>,
) -> Result<Vec<CheckResult>, Failure> {
    watch.task("checking", tasks.len() as u64, "questions");
    let answers = pool.work(
        tasks,
        |task| format!("check {}", checks[task.check].id),
        async |session| {
            let mut statements = Statements::new(catalogue);
            let mut ids: BTreeMap<usize, StatementId> = BTreeMap::new();
            for (index, check) in checks.iter().enumerate() {
                ids.insert(index, statements.prepare(session, &check.statement).await?);
            }
            begin_snapshot(session, snapshot).await?;
            Ok(ids)
        },
        async |session, ids, task| {
            let mut rows = Rows::new();
            let args = [Value::Int(task.range.0), Value::Int(task.range.1)];
            // A query of a user's workload has no range.
            let has_range = !catalogue.statement(&checks[task.check].statement)?.params.is_empty();
            let args = if has_range { &args[..] } else { &[] };
            if let Some(judge) = checks[task.check].judge {
                let judged = judge_rows(session, ids[&task.check], args, judge).await;
                watch.advance(1);
                return judged;
            }
            session.query(ids[&task.check], args, &mut rows).await?;
            watch.advance(1);
            let Some(row) = rows.iter().next() else { return Ok(None) };
            let violations = u64::try_from(row.int(0)?).unwrap_or_default();
            Ok::<_, DbError>(Some((violations, row.text(1)?.to_owned())))
        },
    )?;
    let mut results: Vec<CheckResult> = checks
        .iter()
        .map(|check| CheckResult {
            id: check.id.to_string(),
            title: check.title.to_string(),
            violations: 0,
            first_key: None,
            by_rules_of: None,
        })
        .collect();
    for (task, answer) in tasks.iter().zip(answers) {
        let Some((violations, key)) = answer else { continue };
        results[task.check].violations += violations;
        // Ranges are queried in ascending order, so the first result has the first key.
        results[task.check].first_key.get_or_insert(key);
    }
    Ok(results)
}

/// Judges every row that a statement returns: the number of violations and the key of the first,
/// or `None` if all satisfy the condition.
async fn judge_rows<S: Session>(
    session: &mut S,
    id: StatementId,
    args: &[Value<'_>],
    judge: RowJudge,
) -> Result<Option<(u64, String)>, DbError> {
    let mut violated: Option<(u64, String)> = None;
    let mut failed = None;
    let mut each = |rows: &Rows| {
        for row in rows.iter() {
            match judge(&row) {
                Ok(None) => {}
                Ok(Some(key)) => violated.get_or_insert((0, key)).0 += 1,
                Err(error) => failed = failed.take().or(Some(error)),
            }
        }
    };
    session.stream(id, args, &mut Rows::new(), &mut each).await?;
    failed.map_or(Ok(violated), Err)
}

/// Finds or computes the answers at this scale. DuckDB needs other threads: this one drives the check's sessions.
fn known_answers(
    request: &CheckRequest,
    scale: Scale,
    watch: &Watch<'_>,
) -> Result<ReferenceAnswers, Failure> {
    let CheckRequest { workload, jobs, connect_limit, cancel, .. } = request;
    let (jobs, connect_limit) = (*jobs, *connect_limit);
    let references = References { workload, scale, jobs, connect_limit, cancel, watch };
    std::thread::scope(|scope| scope.spawn(|| references.find()).join())
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Whose texts the tables have that another program created.
#[derive(Clone, Copy, Debug)]
enum TextsFound {
    /// Those to which the known answers belong.
    Expected,
    /// Those of a program that makes the same data otherwise.
    Own(&'static OtherTexts),
    /// Those of nobody known, who may have made everything else otherwise, too.
    Unknown,
}

/// Finds out whose texts the tables have.
async fn texts<S: Session>(
    workload: &Description,
    catalogue: &StatementCatalogue,
    session: &mut S,
) -> Result<TextsFound, Failure> {
    let Some(texts) = workload.answers.as_ref().map(|answers| &answers.texts) else {
        return Ok(TextsFound::Expected);
    };
    let mut rows = Rows::new();
    let found = async {
        let id = Statements::new(catalogue).prepare(session, &texts.statement).await?;
        session.query(id, &[], &mut rows).await?;
        rows.iter().next().map(|row| row.text(0).map(|text| text.trim().to_owned())).transpose()
    };
    let found = found.await.doing("reading a text of the tables")?;
    let is = |expected: &str| found.as_deref() == Some(expected);
    Ok(match texts.own.iter().find(|own| is(&own.expected)) {
        _ if is(&texts.expected) => TextsFound::Expected,
        Some(own) => TextsFound::Own(own),
        None => TextsFound::Unknown,
    })
}

impl TextsFound {
    /// Returns the answers that belong to the texts, given how to find those that are known for the expected ones.
    fn fit(
        self,
        workload: &Description,
        scale: Scale,
        known: impl FnOnce() -> Result<ReferenceAnswers, Failure>,
    ) -> Result<ReferenceAnswers, Failure> {
        let texts = workload.answers.as_ref().map(|answers| &answers.texts);
        let (own, texts) = match (self, texts) {
            (Self::Own(own), Some(texts)) => (own, texts),
            (Self::Unknown, Some(texts)) => {
                let unknown = Some(format!("no answers were compared: {}", texts.unknown));
                return Ok(ReferenceAnswers { unknown, ..ReferenceAnswers::default() });
            }
            _ => return known(),
        };
        let mut known = known()?;
        let of_texts = (own.at)(scale);
        if known.answers.is_empty() {
            return Ok(known);
        }
        let mut left_out = Vec::new();
        known.answers.retain_mut(|answer| {
            if !texts.answers.contains(&&*answer.id) {
                return true;
            }
            match of_texts.iter().find(|of_texts| of_texts.id == answer.id) {
                Some(of_texts) => answer.clone_from(of_texts),
                None => left_out.push(answer.id.to_string()),
            }
            !left_out.iter().any(|id| *id == *answer.id)
        });
        if !left_out.is_empty() {
            let left_out = left_out.join(", ");
            known.unknown =
                Some(format!("the answers of {left_out} were not compared: {}", own.reason));
        }
        known.own_texts = (!of_texts.is_empty()).then(|| own.made_by.to_string());
        Ok(known)
    }
}

/// Runs every query whose answer is known and compares the answers.
fn compare(
    pool: &WorkerPool,
    catalogue: &StatementCatalogue,
    answers: &[Answer],
    snapshot: Option<&str>,
    watch: &Watch<'_>,
) -> Result<Vec<CheckResult>, Failure> {
    if answers.is_empty() {
        return Ok(Vec::new());
    }
    watch.task("comparing answers", answers.len() as u64, "answers");
    let compared = pool.work(
        answers,
        |answer| format!("query {}", answer.id),
        async |session| begin_snapshot(session, snapshot).await,
        async |session, (), answer| {
            let mut rows = Rows::new();
            let id = Statements::new(catalogue).prepare(session, &answer.statement).await?;
            session.query(id, &answer.args, &mut rows).await?;
            watch.advance(1);
            Ok::<_, DbError>(wrong(answer, &rows))
        },
    )?;
    let results = answers.iter().zip(compared).map(|(answer, wrong)| {
        let (violations, first_key) = wrong.unzip();
        CheckResult {
            id: answer.id.to_string(),
            title: answer.title.to_string(),
            violations: violations.unwrap_or_default(),
            first_key,
            by_rules_of: None,
        }
    });
    Ok(results.collect())
}

/// Starts a read-only transaction on the snapshot of the check.
async fn begin_snapshot<S: Session>(
    session: &mut S,
    snapshot: Option<&str>,
) -> Result<(), DbError> {
    match snapshot {
        Some(name) => session.begin_at(name).await,
        None => session.begin(Access::Snapshot).await,
    }
}

/// Determines the keys to check: those requested, or all up to `end`.
fn range(unit: &ScaleUnit, asked: Option<(i64, i64)>, end: i64) -> Result<(i64, i64), Failure> {
    let Some((first, last)) = asked else { return Ok((1, end)) };
    let many = &unit.many;
    if unit.keys > 1 {
        return Err(Failure::refuse(format!("{many} have no ranges: omit --warehouses")));
    }
    if first < 1 || last > end || first > last {
        let message = format!("the {many} are numbered 1 to {end}: {first}-{last} is out of range");
        return Err(Failure::refuse(message));
    }
    Ok((first, last))
}

/// Splits the range so that every session has work and progress is visible.
fn tasks(
    checks: &[&CheckDef],
    (first, last): (i64, i64),
    unit: &ScaleUnit,
    scale: Scale,
    jobs: u32,
) -> Vec<Task> {
    let count = last - first + 1;
    let step = (count / i64::from(jobs.max(1))).clamp(1, unit.range_max.into());
    let mut tasks = Vec::new();
    for (check, definition) in checks.iter().enumerate() {
        if definition.when.is_once() {
            let whole = definition.when == CheckWhen::Whole;
            let range = if whole { (1, unit.last_key(scale)) } else { (first, last) };
            tasks.push(Task { check, range });
            continue;
        }
        let mut from = first;
        while from <= last {
            let to = (from + step - 1).min(last);
            tasks.push(Task { check, range: (from, to) });
            from = to + 1;
        }
    }
    tasks
}
