//! The speed of one thread of the database (`--cpu-test`): n = 0; for f = 1 … 10,000,000:
//! n = mod(n, 999999) + sqrt(f), in double precision, in a routine that is created for it and
//! dropped again, or in a query where there are no routines.

use std::time::Duration;

use triphammer_core::clock::Clock;
use triphammer_core::session::{Role, Session as _};
use triphammer_core::{DbError, ErrorClass, Rows};
use triphammer_dialects::doctor::CpuTestDef;
use triphammer_document::doctor::{CpuTest, Group, Line, SetupVerdict};
use triphammer_drivers::AnySession;
use triphammer_settings::cancel::Cancel;
use triphammer_settings::format::seconds;
use triphammer_settings::limited::Limited;
use triphammer_settings::target::Target;

use super::check::{Change, CheckDeclaration, Reading};
use super::guard::guarded;
use super::network::bound;
use super::own::{self, Object};

/// Maximum time of the test.
const LIMIT: Duration = Duration::from_secs(300);
/// The result, rounded to two decimals.
pub(super) const EXPECTED: &str = "873729.72";

/// The line of the test.
pub(super) const DECLARED: CheckDeclaration = CheckDeclaration {
    name: "single_thread_speed",
    group: Group::Database,
    goals: &[],
    cost: None,
    knob: None,
    why: "The time of 10 million steps of n = mod(n, 999999) + sqrt(f) in one session: what one CPU \
          does for one user. Compare it with that of the same database on other hosts.",
    change: Change::One(
        "a processor with faster cores, the governor performance, or a release build of the \
             server",
    ),
};

/// The line of the report.
pub(super) fn line(test: &CpuTest) -> Line {
    let is_right = test.result == EXPECTED;
    let reading = match is_right {
        true => {
            let value = format!("{}, result {EXPECTED}", seconds(test.seconds));
            Reading::of(SetupVerdict::Fine, value)
        }
        false => {
            let value =
                format!("{}, with {} instead of {EXPECTED}", seconds(test.seconds), test.result);
            Reading::of(SetupVerdict::Wrong, value)
        }
    };
    DECLARED.line(reading)
}

/// Makes the test.
///
/// # Errors
/// As the database reports; if it takes too long, or is interrupted; if the routine remains.
pub(super) async fn make(
    target: &Target,
    test: &CpuTestDef,
    cancel: &Cancel,
) -> Result<CpuTest, DbError> {
    let object = Object { create: test.create.as_deref(), drop: test.drop.as_deref() };
    own::with(
        (&target.database, target.connect_limit),
        Role::Monitor,
        object,
        async |session, name| measure(session, test.query.replace("{name}", name), cancel).await,
    )
    .await
}

async fn measure(
    session: &mut Limited<AnySession>,
    sql: String,
    cancel: &Cancel,
) -> Result<CpuTest, DbError> {
    let (mut rows, clock) = (Rows::new(), Clock::start());
    let canceller = session.canceller();
    let work = async {
        // A database may calculate already while it prepares.
        let id = session.prepare(&bound("doctor.cpu_test", sql, false)).await?;
        session.call(id, &[], &mut rows).await
    };
    guarded(LIMIT, cancel, canceller, work).await?;
    let seconds = clock.now().duration().as_secs_f64();
    let row = rows.first("the result of the CPU test")?;
    if row.is_null(0) {
        return Err(DbError::new(ErrorClass::Other, "the CPU test returned no number"));
    }
    Ok(CpuTest { seconds, result: row.text(0)?.to_owned(), earlier: Vec::new() })
}
