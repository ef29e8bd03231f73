//! The pause before a run (`--pause`): for databases that suspend when nobody is connected. It takes
//! place before the run holds its lock, which is a session, and what would refuse the run is looked
//! for before. Then one session asks the smallest statement, and the time of its answer is measured.

use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};
use triphammer_core::clock::format_duration;
use triphammer_core::recorder::Login;
use triphammer_core::session::{Database as _, Role, Session as _};
use triphammer_core::{DbError, ErrorClass, SpecError};
use triphammer_document::redacted::mask_secrets;
use triphammer_document::result::{AnswerTimes, FirstAnswer};
use triphammer_drivers::AnyDatabase;
use triphammer_settings::failure::{Doing, Failure};
use triphammer_settings::handle::Handle;
use triphammer_settings::worker_pool::connect;
use triphammer_settings::{Settings, parse_time};

use super::Resolved;
use crate::build_observers::ask_exporter;
use crate::state;
use crate::watch::Watch;

/// Name of the setting.
const PAUSE: &str = "pause";
/// Maximum wait for the first answer: a suspended database may take minutes.
const FIRST_ANSWER_LIMIT: Duration = Duration::from_secs(600);
/// Time between two attempts to log in: a database that is not ready yet may reject each at once.
const NEXT_ATTEMPT: Duration = Duration::from_millis(100);

/// Reads how long there is no connection before a run; `None` for no pause.
///
/// # Errors
/// When the setting is invalid, or the target has several nodes.
pub(super) fn read(settings: &mut Settings) -> Result<Option<Duration>, SpecError> {
    let refuse = |message: String| Err(SpecError::new(message).about(PAUSE));
    let parse = |text: &str| match parse_time(text)? {
        Duration::ZERO => Err("must be longer than 0, such as 10m".to_owned()),
        pause => Ok(pause),
    };
    let pause = settings.optional(PAUSE, parse, |pause| format_duration(*pause), "none")?;
    let has_nodes = settings.get("nodes").is_some() || settings.get("route").is_some();
    if pause.is_some() && has_nodes {
        return refuse(format!(
            "--{PAUSE} is for a target of one server, whose first answer is measured; omit --nodes and \
             --route, or --{PAUSE}"
        ));
    }
    Ok(pause)
}

impl Resolved {
    /// Stays away from the database for the time of the pause, and measures its first answer after it;
    /// `None` without a pause.
    ///
    /// # Errors
    /// When the run would be refused, there is no answer, or the user ended it.
    pub(super) async fn pause(
        &self,
        handle: &Handle,
        watch: &Watch<'_>,
    ) -> Result<Option<FirstAnswer>, Failure> {
        let Some(pause) = self.pause else { return Ok(None) };
        // What refuses the run does so before anybody waits.
        if let Some(lock) = self.lock().await? {
            lock.close().await;
        }
        ask_exporter(self.host_exporter.as_ref()).await?;
        let database = &self.plan.database;
        let (target, long) = (database.target(), format_duration(pause));
        watch.note(&format!("no connection to {target} for {long} (--{PAUSE})"));
        let paused = async {
            sleep(pause).await;
            let answered = timeout(FIRST_ANSWER_LIMIT, first_answer(database, pause));
            answered.await.unwrap_or_else(|_| {
                let limit = FIRST_ANSWER_LIMIT.as_secs();
                let message = format!("no answer within {limit} s");
                Err(DbError::new(ErrorClass::Disconnected, message))
            })
        };
        let answered = tokio::select! {
            biased;
            () = handle.cancel().cancelled() => {
                let what = format!("interrupted in the pause of {long}, before the load began");
                return Err(Failure::Interrupted(what));
            }
            answered = paused => answered,
        };
        let first =
            answered.doing(format_args!("connecting to {target} after a pause of {long}"))?;
        watch.note(&first.words);
        Ok(Some(first))
    }
}

/// Logs in, as often as it takes, and asks the smallest statement.
async fn first_answer(database: &AnyDatabase, pause: Duration) -> Result<FirstAnswer, DbError> {
    let statement = state::definition(database.dialect());
    let (begun, mut failed, mut first_error) = (Instant::now(), 0, None);
    loop {
        let attempt = attempt(database, statement.smallest()).await;
        match attempt {
            Ok((login, statement)) => {
                let answer = begun.elapsed();
                let error = first_error;
                let times = AnswerTimes { pause, answer, login, statement, failed, error };
                return Ok(FirstAnswer::new(times));
            }
            Err(error) if is_final(&error) => return Err(error),
            Err(error) => {
                failed += 1;
                first_error.get_or_insert_with(|| mask_secrets(&error.to_string()));
            }
        }
        sleep(NEXT_ATTEMPT).await;
    }
}

/// Whether a database that has resumed would report the same error.
fn is_final(error: &DbError) -> bool {
    matches!(error.class(), ErrorClass::Refused | ErrorClass::Unsupported)
}

/// Logs in and asks a statement; returns how long each of them took.
async fn attempt(database: &AnyDatabase, sql: &str) -> Result<(Login, Duration), DbError> {
    let begun = Instant::now();
    let mut session = connect(database, Role::User, FIRST_ANSWER_LIMIT).await?;
    let login = Login { took: begun.elapsed(), phases: session.login_times() };
    let asked = Instant::now();
    session.script(sql).await?;
    let statement = asked.elapsed();
    session.close().await;
    Ok((login, statement))
}
