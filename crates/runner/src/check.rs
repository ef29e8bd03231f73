//! `check`: verifies a workload's invariants on the data as it stands, in one snapshot, side by side by
//! ranges of warehouses, and names the first violating key of each condition.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use triphammer_core::session::{Access, Admin, Database, LockMode, Role, Session};
use triphammer_core::sql::StatementCatalogue;
use triphammer_core::workload::{Answer, CheckDef, CheckWhen, Description, ScaleUnit, Statements};
use triphammer_core::{DbError, Rows, Scale, StatementId, Value};
use triphammer_drivers::AnyDatabase;

use crate::answers::wrong;
use crate::build::lock_workload;
use crate::cancel::Cancel;
use crate::catalogues;
use crate::failure::{Doing, Failure};
use crate::record::Record;
use crate::remove::inspect;
use crate::watch::Watch;
use crate::worker_pool::{WorkerPool, connect, identify, on_this_thread};

/// What to check.
#[derive(Clone, Debug)]
pub struct CheckRequest {
    /// Of what.
    pub workload: Arc<Description>,
    /// Only these, first and last included; `None` for all.
    pub range: Option<(i64, i64)>,
    /// Sessions that check side by side.
    pub jobs: u32,
    /// Longest wait for a session.
    pub connect_limit: Duration,
    /// Ends the check before its time.
    pub cancel: Cancel,
}

/// What came out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct CheckReport {
    /// `TPROC-C`.
    pub workload: String,
    /// What the range counts: `warehouses`.
    pub scale_unit: String,
    /// The target, redacted.
    pub target: String,
    /// By condition, in order.
    pub checks: Vec<CheckResult>,
    /// Whether no run had touched the data, so that the rules of the population were checked too.
    pub untouched: bool,
    /// The other program that made the tables; the rules of the population are not its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made_by: Option<String>,
    /// First and last part that was checked.
    pub range: (i64, i64),
    /// How much data that is, `0.01 SF`, where the unit has fractions and the range counts thousandths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<String>,
    /// Why answers that the workload knows at other scales were not compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_compared: Option<String>,
}

/// One condition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct CheckResult {
    /// `3.3.2.1`, `13`.
    pub id: String,
    /// The condition.
    pub title: String,
    /// How many times it is violated.
    pub violations: u64,
    /// Where first.
    pub first_key: Option<String>,
    /// The program that made the tables and whose own rules do not keep the condition: then its
    /// violations are reported and are no failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_rules_of: Option<String>,
}

impl CheckResult {
    /// Whether the condition holds, or cannot be expected to.
    #[must_use]
    pub const fn passes(&self) -> bool {
        self.violations == 0 || self.by_rules_of.is_some()
    }
}

impl CheckReport {
    /// What came out, in a line.
    #[must_use]
    pub fn outcome(&self) -> String {
        let (all, violated) = (self.checks.len(), |check: &&CheckResult| check.violations > 0);
        match self.checks.iter().filter(violated).count() {
            0 => format!("all {all} conditions hold"),
            some => format!("{some} of {all} conditions violated"),
        }
    }

    /// Whether all conditions hold that can be expected to.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.checks.iter().all(CheckResult::passes)
    }
}

/// One question to the database.
struct Task {
    check: usize,
    range: (i64, i64),
}

/// Checks; `begins` is called when nothing stands against it any more.
///
/// # Errors
/// When nothing was built there, a run is going on, or the database reports an error.
pub fn check(
    database: &Arc<AnyDatabase>,
    request: &CheckRequest,
    watch: &Watch<'_>,
    begins: &mut dyn FnMut(),
) -> Result<CheckReport, Failure> {
    let workload = &*request.workload;
    identify(database)?;
    let catalogue =
        catalogues::catalogue(workload, database.dialect(), database.capabilities().procedures)?;
    if !database.capabilities().stores {
        return Err(Failure::refuse("this database keeps nothing, so there is nothing to check"));
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
        // This session keeps the snapshot open that all others look at.
        session.begin(Access::Snapshot).await.doing("beginning a snapshot")?;
        let snapshot = session.share_snapshot().await.doing("sharing the snapshot")?;
        let checks: Vec<&CheckDef> = workload
            .checks
            .iter()
            .filter(|check| !check.when.is_of_population() || record.is_untouched())
            .collect();
        let pool = WorkerPool {
            database: Arc::clone(database),
            size: request.jobs,
            role: Role::Monitor,
            connect_limit: limit,
            cancel: request.cancel.clone(),
        };
        let tasks = tasks(&checks, range, unit, settings.scale, pool.size);
        let mut asked = ask(&pool, &catalogue, &checks, &tasks, snapshot.as_deref(), watch)?;
        if let Some(external) = workload.external.as_ref().filter(|_| record.is_external()) {
            for check in asked.iter_mut().filter(|c| record.is_violated_by_rule(external, &c.id)) {
                check.by_rules_of = (check.violations > 0).then(|| external.made_by.to_string());
            }
        }
        let answers = known_answers(workload, settings.scale);
        asked.extend(compare(&pool, &catalogue, &answers, snapshot.as_deref(), watch)?);
        session.rollback().await.doing("ending the snapshot")?;
        session.close().await;
        Ok(CheckReport {
            workload: workload.title.to_string(),
            scale_unit: workload.scale_unit.many.to_string(),
            target: database.target(),
            checks: asked,
            untouched: record.is_untouched(),
            made_by: record.made_by().map(str::to_owned),
            range,
            size: (unit.keys > 1).then(|| unit.count(settings.scale)),
            not_compared: not_compared(workload, settings.scale, answers.is_empty()),
        })
    })
}

/// The record of a complete build or what stands for it where another program made the tables, or a
/// failure that says how to make one.
///
/// # Errors
/// When there is none, or it is not complete.
pub async fn built<S: Admin>(
    workload: &Description,
    catalogue: &StatementCatalogue,
    session: &mut S,
    database: &AnyDatabase,
) -> Result<Record, Failure> {
    let target = &database.target();
    let found = inspect(workload, catalogue, session).await?;
    match found.record.as_ref().or(found.external.as_ref()) {
        Some(record) if record.is_complete() => Ok(record.clone()),
        Some(_) => Err(Failure::refuse(format!(
            "the build of {} at {target} was interrupted; `triphammer build` with the same settings \
             resumes it, with --replace it starts over",
            workload.title
        ))),
        None => {
            found.refuse_strangers(workload, target)?;
            let other = other_workload(workload, session, database).await;
            Err(Failure::refuse(match other {
                Some(other) => format!("there is no {} at {target}, but {other}", workload.title),
                None => format!(
                    "there is no {} at {target}; build it first: triphammer build {target} -w {}",
                    workload.title, workload.name
                ),
            }))
        }
    }
}

/// What is there of another workload, and how to use it.
async fn other_workload<S: Admin>(
    workload: &Description,
    session: &mut S,
    database: &AnyDatabase,
) -> Option<String> {
    let (dialect, procedures) = (database.dialect(), database.capabilities().procedures);
    for other in crate::workloads().into_iter().filter(|other| other.name != workload.name) {
        let Ok(catalogue) = catalogues::catalogue(&other, dialect, procedures) else { continue };
        let Ok(found) = inspect(&other, &catalogue, session).await else { continue };
        let what = match (&found.record, &found.external) {
            (Some(_), _) => format!("{} is built there", other.title),
            (None, Some(record)) => {
                format!("{} made tables of {} there", record.made_by().unwrap_or("?"), other.title)
            }
            (None, None) => continue,
        };
        return Some(format!("{what}: use -w {}", other.name));
    }
    None
}

/// Asks every question.
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
            session.query(ids[&task.check], &args, &mut rows).await?;
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
        // Ranges are asked in ascending order, so the first answer has the first key.
        results[task.check].first_key.get_or_insert(key);
    }
    Ok(results)
}

/// The answers that are known at this scale.
fn known_answers(workload: &Description, scale: Scale) -> Vec<Answer> {
    workload.answers.as_ref().map_or_else(Vec::new, |answers| (answers.at)(scale))
}

/// Why there was nothing to compare answers with.
fn not_compared(workload: &Description, scale: Scale, is_unknown: bool) -> Option<String> {
    let answers = workload.answers.as_ref().filter(|_| is_unknown)?;
    let (known_at, size) = (&answers.known_at, workload.scale_unit.count(scale));
    Some(format!("answers are known at {known_at}; at {size} none was compared"))
}

/// Asks every question whose answer is known.
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

/// Begins to read at the instant of the check.
async fn begin_snapshot<S: Session>(
    session: &mut S,
    snapshot: Option<&str>,
) -> Result<(), DbError> {
    match snapshot {
        Some(name) => session.begin_at(name).await,
        None => session.begin(Access::Snapshot).await,
    }
}

/// The keys that are asked about: those asked for, or all up to `end`.
fn range(unit: &ScaleUnit, asked: Option<(i64, i64)>, end: i64) -> Result<(i64, i64), Failure> {
    let Some((first, last)) = asked else { return Ok((1, end)) };
    let many = &unit.many;
    if unit.keys > 1 {
        return Err(Failure::refuse(format!("{many} have no ranges; leave --warehouses out")));
    }
    if first < 1 || last > end || first > last {
        let message = format!("there are {many} 1 to {end}; {first}-{last} is no range of them");
        return Err(Failure::refuse(message));
    }
    Ok((first, last))
}

/// Cuts the range so that every session has work and progress shows.
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
