//! Reads the table of a drill back, and compares it with the ledgers.

use std::time::Duration;

use tokio::time::{Instant, sleep};
use triphammer_core::rows::Row;
use triphammer_core::session::{Admin as _, Database as _, Role, Session as _};
use triphammer_core::sql::StatementCatalogue;
use triphammer_core::workload::Statements;
use triphammer_core::{DbError, ErrorClass, Rows, StatementId, Value};
use triphammer_document::drill::LedgerFindings;
use triphammer_drivers::AnySession;
use triphammer_settings::handle::Handle;
use triphammer_settings::limited::Limited;
use triphammer_settings::target::Target;
use triphammer_settings::worker_pool::{connect, on_this_thread};
use triphammer_workloads::drill::{Ledger, RowOfDrill, WRITABLE, judge};

use crate::watch::Watch;

/// Time between two attempts to reach a database that writes.
const AGAIN: Duration = Duration::from_millis(250);
/// Ranges of lost commits that a result lists; all are counted.
const RANGES_MAX: usize = 100;

/// Reads the table at `target` back, after at most `limit` of waiting for it.
///
/// # Errors
/// When no database there answers and accepts writes in time, or it fails while it is read.
pub(super) fn verify(
    target: &Target,
    catalogue: &StatementCatalogue,
    (seed, ledgers): (u64, &[Ledger]),
    limit: Duration,
    handle: &Handle,
    watch: &Watch<'_>,
) -> Result<LedgerFindings, DbError> {
    on_this_thread(async {
        let begun = Instant::now();
        let mut session = reach(target, catalogue, begun + limit, handle).await?;
        let waited_s = begun.elapsed().as_secs_f64();
        let server = session.server().await?;
        let mut found = LedgerFindings { server, waited_s, ..LedgerFindings::default() };
        let mut statements = Statements::new(catalogue);
        let rows_of_user = statements.prepare(&mut session, "rows.of_user").await?;
        watch.task("reading the table back", ledgers.len() as u64, "users");
        for ledger in ledgers {
            user(&mut session, rows_of_user, seed, ledger, &mut found).await?;
            watch.advance(1);
        }
        let count = statements.prepare(&mut session, "rows.count").await?;
        let mut rows = Rows::new();
        session.query(count, &[], &mut rows).await?;
        let all = u64::try_from(rows.first("the number of rows")?.int(0)?).unwrap_or_default();
        // Rows of users that this drill does not have.
        found.judged.altered += all.saturating_sub(found.rows);
        found.rows = all;
        session.close().await;
        Ok(found)
    })
}

/// Connects to a database that accepts writes: one that is starting, or a replica that is about to
/// be promoted, is waited for, unless the drill is aborted.
async fn reach(
    target: &Target,
    catalogue: &StatementCatalogue,
    until: Instant,
    handle: &Handle,
) -> Result<Limited<AnySession>, DbError> {
    loop {
        let reached = async {
            let mut session =
                connect(&target.database, Role::Monitor, target.connect_limit).await?;
            let is_writable = is_writable(&mut session, catalogue).await?;
            // A replica may accept writes before it has applied everything that it has received.
            let status = session.node_status().await?;
            if is_writable && !status.is_behind {
                return Ok(session);
            }
            session.close().await;
            let message = match (is_writable, status.has_stopped_applying) {
                (true, true) => {
                    "the server is a replica whose applier is stopped or has failed, so rows that it \
                     has received are not in its tables: start its applier (START REPLICA \
                     SQL_THREAD), or see its status for the error"
                }
                (true, false) => {
                    "the server has not applied all changes that it has received as a replica: \
                     wait, or stop its replication"
                }
                (false, true) => {
                    "the server is a replica that has stopped to apply changes, so rows are missing: \
                     resume that (pg_wal_replay_resume(), START REPLICA), and promote it"
                }
                (false, false) => {
                    "the server is a replica or read only, so its rows may not be final: promote it"
                }
            };
            Err(DbError::new(ErrorClass::ReadOnly, message))
        };
        let error = match reached.await {
            Ok(session) => return Ok(session),
            Err(error) => error,
        };
        let is_final = error.class() == ErrorClass::Refused || handle.is_aborted();
        if is_final || Instant::now() + AGAIN > until {
            return Err(error.context(format_args!("at {}", target.database.target())));
        }
        sleep(AGAIN).await;
    }
}

/// Whether a server accepts writes.
pub(super) async fn is_writable(
    session: &mut Limited<AnySession>,
    catalogue: &StatementCatalogue,
) -> Result<bool, DbError> {
    if !catalogue.has_statement(WRITABLE) {
        return Ok(true);
    }
    let id = Statements::new(catalogue).prepare(session, WRITABLE).await?;
    let mut rows = Rows::new();
    session.query(id, &[], &mut rows).await?;
    Ok(rows.first("whether the server accepts writes")?.int(0)? != 0)
}

/// Judges the rows of one user.
async fn user(
    session: &mut Limited<AnySession>,
    statement: StatementId,
    seed: u64,
    ledger: &Ledger,
    found: &mut LedgerFindings,
) -> Result<(), DbError> {
    let mut judge = judge(seed, ledger);
    let (mut count, mut failed) = (0, None);
    let mut each = |rows: &Rows| {
        for row in rows.iter() {
            match row_of(&row) {
                Ok(row) => judge.row(&row),
                Err(error) => failed = failed.take().or(Some(error)),
            }
            count += 1;
        }
    };
    let args = [Value::Int(ledger.user().into())];
    session.stream(statement, &args, &mut Rows::new(), &mut each).await?;
    if let Some(error) = failed {
        return Err(error);
    }
    let (judged, lost, span) = judge.finish();
    found.rows += count;
    found.judged.add(&judged);
    let room = RANGES_MAX.saturating_sub(found.lost.len());
    found.lost.extend(lost.into_iter().take(room));
    if let Some((from, to)) = span {
        let all = found.lost_span.get_or_insert((from, to));
        *all = (all.0.min(from), all.1.max(to));
    }
    Ok(())
}

fn row_of(row: &Row<'_>) -> Result<RowOfDrill, DbError> {
    // A negative number is none that a drill has written.
    let seq = u64::try_from(row.int(0)?).unwrap_or_default();
    Ok(RowOfDrill { seq, input: row.int(2)?, prev: row.int(3)?, hash: row.int(4)? })
}
