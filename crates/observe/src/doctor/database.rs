//! Makes a dialect's checks on its database. Every query has a limit, and all together have one:
//! what was not answered by then is reported as not read.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::Duration;

use tokio::time::{Instant, timeout, timeout_at};
use triphammer_core::session::{Admin, Database as _, Role, ServerInfo, Session};
use triphammer_core::text::one_line;
use triphammer_core::{DbError, ErrorClass, Rows};
use triphammer_dialects::doctor::{DatabaseCheck, DoctorDef, doctor};
use triphammer_document::doctor::{DoctorResult, Group, Line, SetupVerdict};
use triphammer_document::redacted::Redacted;
use triphammer_drivers::AnySession;
use triphammer_settings::cancel::Cancel;
use triphammer_settings::failure::{Doing as _, Failure};
use triphammer_settings::limited::Limited;
use triphammer_settings::target::Target;
use triphammer_settings::worker_pool::{connect, on_this_thread};

use super::guard::INTERRUPTED;
use super::host::HostFacts;
use super::names;
use super::network::{self, NetworkFacts, bound, measure_download, measure_upload, round_trips};

/// Maximum time to reach the server, and for everything. The host takes a fraction of a second, so
/// that the command ends within 30 s.
const CONNECT_LIMIT: Duration = Duration::from_secs(12);
const TOTAL_LIMIT: Duration = Duration::from_secs(25);
/// Maximum time per query.
const QUERY_LIMIT: Duration = Duration::from_secs(3);
/// Maximum time to close the session.
const CLOSE_LIMIT: Duration = Duration::from_millis(500);
/// What stands in SQL for the rate of writes to the log, and for a value that is unknown.
const WRITE_RATE: &str = "{write_rate}";
const NULL: &str = "NULL";
/// Maximum length of a value, in characters.
const VALUE_MAX: usize = 200;

/// Checks that are still to be made.
pub(super) type Checks<'a> = VecDeque<&'a DatabaseCheck>;

/// Examines the database, and the network if there is one; learns where its data lies. `write_rate`
/// is what the newest stored run at the target wrote to the log, in bytes per second.
///
/// # Errors
/// When it cannot be reached.
pub(super) fn examine(
    target: &Target,
    cancel: &Cancel,
    write_rate: Option<f64>,
    host: &mut HostFacts,
    result: &mut DoctorResult,
) -> Result<(), Failure> {
    result.target = Some(Redacted::target_of(&target.database));
    on_this_thread(async {
        let deadline = Instant::now() + TOTAL_LIMIT;
        let (mut session, server) = reach(target, cancel).await?;
        let mut doctor = doctor(target.database.dialect())?;
        doctor.name_grants(&names::ask(&mut session, &doctor).await);
        let rate = write_rate.map_or_else(|| NULL.to_owned(), |rate| format!("{rate:.1}"));
        doctor.checks.iter_mut().for_each(|c| c.sql = c.sql.replace(WRITE_RATE, &rate));
        result.host_of_database = server.same_host == Some(true);
        let mut checks: Checks<'_> =
            doctor.checks.iter().filter(|check| check.is_for(&server.version)).collect();
        result.server = Some(server);
        let mut network = NetworkFacts::default();
        let asked = ask(&mut session, &doctor, &mut checks, host, &mut network, result);
        let answered = tokio::select! {
            biased;
            () = cancel.cancelled() => Err(interrupted()),
            answered = timeout_at(deadline, asked) => {
                answered.unwrap_or_else(|_| Err(late(TOTAL_LIMIT)))
            }
        };
        if let Err(error) = answered {
            checks.iter().for_each(|check| result.fail(&check.name, error.message()));
        } else {
            let _ = timeout(CLOSE_LIMIT, session.close()).await;
        }
        super::make(result, network::CHECKS, &network);
        // In the order of the declarations: the network's lines come before the database's.
        result.lines.sort_by_key(|line| line.group == Group::Database);
        Ok(())
    })
}

/// Connects and identifies the server.
async fn reach(
    target: &Target,
    cancel: &Cancel,
) -> Result<(Limited<AnySession>, ServerInfo), Failure> {
    let limit = target.connect_limit.min(CONNECT_LIMIT);
    let reached = timeout(limit, async {
        target.database.identify().await?;
        let mut session = connect(&target.database, Role::Monitor, limit).await?;
        let server = session.server().await?;
        Ok((session, server))
    });
    let reached = tokio::select! {
        biased;
        () = cancel.cancelled() => Err(interrupted()),
        reached = reached => reached.unwrap_or_else(|_| Err(late(limit))),
    };
    reached.doing(format_args!("connecting to {}", target.database.target()))
}

fn interrupted() -> DbError {
    DbError::new(ErrorClass::Cancelled, INTERRUPTED)
}

fn late(limit: Duration) -> DbError {
    let message = format!("no answer within {} s", limit.as_secs_f64());
    DbError::new(ErrorClass::Disconnected, message)
}

/// Asks everything. An error means that the session can no longer be used.
async fn ask(
    session: &mut impl Admin,
    doctor: &DoctorDef,
    checks: &mut Checks<'_>,
    host: &mut HostFacts,
    network: &mut NetworkFacts,
    result: &mut DoctorResult,
) -> Result<(), DbError> {
    network.round_trips_us = limited(round_trips(session)).await?;
    ask_checks(session, doctor, checks, host, result).await?;
    find_data(session, doctor, host, result).await?;
    find_processes(session, host, result).await?;
    let found = limited(measure_download(session, doctor)).await;
    network.download = found.or_else(|error| missed(result, "download", error))?;
    let found = limited(measure_upload(session, doctor)).await;
    network.upload = found.or_else(|error| missed(result, "upload", error))?;
    Ok(())
}

/// Makes the checks of the database. An error means that the session can no longer be used.
pub(super) async fn ask_checks(
    session: &mut impl Session,
    doctor: &DoctorDef,
    checks: &mut Checks<'_>,
    host: &HostFacts,
    result: &mut DoctorResult,
) -> Result<(), DbError> {
    let memory_bytes = host.memory_bytes().filter(|_| result.host_of_database);
    let memory = memory_bytes.map_or_else(|| NULL.to_owned(), |bytes| bytes.to_string());
    while let Some(check) = checks.front() {
        let sql = check.sql.replace("{memory}", &memory).replace(WRITE_RATE, NULL);
        let change = check.change_for(memory_bytes);
        match limited(row(session, &check.name, sql)).await {
            Ok(Some((value, verdict))) => judge(result, check, value, &verdict, change),
            Ok(None) => {}
            Err(error) => failed(result, doctor, check, error)?,
        }
        checks.pop_front();
    }
    Ok(())
}

/// Learns where the data of a database on this host lies. An error means that the session can no
/// longer be used.
pub(super) async fn find_data(
    session: &mut impl Session,
    doctor: &DoctorDef,
    host: &mut HostFacts,
    result: &mut DoctorResult,
) -> Result<(), DbError> {
    let is_here = result.host_of_database;
    let Some(sql) = doctor.data_path.as_ref().filter(|_| is_here) else { return Ok(()) };
    match (limited(row(session, "data_path", sql.clone())).await, &doctor.data_path_grant) {
        (Err(error), _) if error.class().loses_session() => return Err(error),
        (Err(error), Some(grant)) if doctor.lacks_privilege(&error) => {
            result.hide("data_disk", grant);
        }
        (Err(error), _) => result.fail("data_disk", error.message()),
        (Ok(found), _) => host.data = found.and_then(|(path, _)| data_folder(&path)),
    }
    Ok(())
}

/// Learns which processes of this host are the server's. An error means that the session can no
/// longer be used.
async fn find_processes(
    session: &mut impl Admin,
    host: &mut HostFacts,
    result: &DoctorResult,
) -> Result<(), DbError> {
    if !result.host_of_database {
        return Ok(());
    }
    match limited(session.server_process()).await {
        Err(error) if error.class().loses_session() => Err(error),
        found => {
            host.find_server(found.ok().flatten());
            Ok(())
        }
    }
}

/// Records that a measurement failed; returns the error if the session is lost.
fn missed(result: &mut DoctorResult, name: &str, error: DbError) -> Result<Option<f64>, DbError> {
    result.fail(name, error.message());
    if error.class().loses_session() { Err(error) } else { Ok(None) }
}

/// A path of this host, without links; `None` for a relative path of another process.
fn data_folder(path: &str) -> Option<PathBuf> {
    let path = PathBuf::from(path);
    // A folder of another user cannot be resolved, and is taken as it is.
    path.canonicalize().ok().or_else(|| path.is_absolute().then_some(path))
}

/// Awaits a query within its limit.
async fn limited<T>(query: impl Future<Output = Result<T, DbError>>) -> Result<T, DbError> {
    timeout(QUERY_LIMIT, query).await.unwrap_or_else(|_| Err(late(QUERY_LIMIT)))
}

/// The first row of a query: one text or two, cut to a length for one line.
async fn row(
    session: &mut impl Session,
    name: &str,
    sql: String,
) -> Result<Option<(String, String)>, DbError> {
    let id = session.prepare(&bound(&format!("doctor.{name}"), sql, false)).await?;
    let mut rows = Rows::new();
    session.query(id, &[], &mut rows).await?;
    let Some(row) = rows.iter().next() else { return Ok(None) };
    let text = |column| match row.len() > column && !row.is_null(column) {
        true => row.text(column).map(|text| one_line(text).into_owned()),
        false => Ok(String::new()),
    };
    let value = text(0)?.chars().take(VALUE_MAX).collect();
    Ok(Some((value, text(1)?)))
}

/// Turns an answer into a line.
fn judge(
    result: &mut DoctorResult,
    check: &DatabaseCheck,
    value: String,
    verdict: &str,
    change: String,
) {
    let verdict = match verdict {
        "fine" => SetupVerdict::Fine,
        "look" => SetupVerdict::Look,
        "wrong" => SetupVerdict::Wrong,
        "hidden" => return result.hide(&check.name, check.grant.as_deref().unwrap_or_default()),
        other => return result.fail(&check.name, &format!("unexpected verdict `{other}`")),
    };
    result.lines.push(Line {
        group: Group::Database,
        name: check.name.clone(),
        value,
        verdict,
        goals: Vec::new(),
        why: check.why.clone(),
        cost: None,
        change,
    });
}

/// Records why a check failed; returns the error if the session is lost.
fn failed(
    result: &mut DoctorResult,
    doctor: &DoctorDef,
    check: &DatabaseCheck,
    error: DbError,
) -> Result<(), DbError> {
    if error.class().loses_session() {
        return Err(error);
    }
    match &check.grant {
        Some(grant) if doctor.lacks_privilege(&error) => result.hide(&check.name, grant),
        _ => result.fail(&check.name, error.message()),
    }
    Ok(())
}
