//! The latency of commits (`--write-test`): one session updates one row of a table of its own,
//! again and again, each time in a transaction of its own.

use std::time::Duration;

use hdrhistogram::Histogram;
use tokio::time::timeout;
use triphammer_core::clock::Clock;
use triphammer_core::recorder::{HIGHEST_US, histogram};
use triphammer_core::session::{Role, Session as _};
use triphammer_core::stats::Times;
use triphammer_core::{DbError, ErrorClass, Rows};
use triphammer_dialects::doctor::WriteTestDef;
use triphammer_document::doctor::{Group, LatencyClass, Line, WriteTest};
use triphammer_drivers::AnySession;
use triphammer_settings::cancel::Cancel;
use triphammer_settings::format::milliseconds;
use triphammer_settings::limited::Limited;
use triphammer_settings::target::Target;

use super::check::{Change, CheckDeclaration, Reading};
use super::guard::INTERRUPTED;
use super::network::bound;
use super::own::{self, Object};

/// Number of commits, unless they take longer than [`TIME`].
const COMMITS: u64 = 2_000;
const TIME: Duration = Duration::from_secs(3);
/// First commits, which are not measured: they load what the others find.
const WARM_UP: u64 = 5;
/// Maximum time of one commit.
pub(crate) const COMMIT_LIMIT: Duration = Duration::from_secs(10);
/// 99th percentile from which a disk is slow, in microseconds.
const SLOW_US: u64 = 20_000;

/// The line of the test.
pub(super) const DECLARED: CheckDeclaration = CheckDeclaration {
    name: "commit_latency",
    group: Group::Database,
    goals: &[],
    cost: None,
    knob: None,
    why: "One session cannot commit faster than this, and others wait with it. Slow or uneven \
          commits come from the disk of the log, its write cache, or standbys.",
    change: Change::One("a disk with a protected write cache for the log, or fewer writers on it"),
};

/// The result of a test of this length, whose times have this sum.
fn result(seconds: f64, times: &Histogram<u64>, sum_ns: u64) -> WriteTest {
    let histogram = classes(times);
    WriteTest { seconds, times: Times::of(Some(times), Some(sum_ns)), histogram }
}

/// The line of the report.
pub(super) fn line(test: &WriteTest) -> Line {
    let ms = |us: u64| milliseconds(us as f64);
    let Times { p50_us, p95_us, p99_us, max_us, .. } = test.times;
    let value = format!(
        "p50 {}, p95 {}, p99 {}, max {} ms",
        ms(p50_us),
        ms(p95_us),
        ms(p99_us),
        ms(max_us)
    );
    DECLARED.line(Reading::look_unless(p99_us <= SLOW_US, value))
}

/// Merges a histogram into classes that end at powers of two.
pub(crate) fn classes(times: &Histogram<u64>) -> Vec<LatencyClass> {
    let mut classes: Vec<LatencyClass> = Vec::new();
    for recorded in times.iter_recorded() {
        let up_to_us = recorded.value_iterated_to().next_power_of_two();
        let mut next = classes.last().map_or(up_to_us, |last| last.up_to_us * 2);
        while next <= up_to_us {
            classes.push(LatencyClass { up_to_us: next, commits: 0 });
            next *= 2;
        }
        if let Some(last) = classes.last_mut() {
            last.commits += recorded.count_at_value();
        }
    }
    classes
}

/// Makes the test.
///
/// # Errors
/// As the database reports; if it is interrupted; if the table remains.
pub(super) async fn make(
    target: &Target,
    test: &WriteTestDef,
    cancel: &Cancel,
) -> Result<WriteTest, DbError> {
    let object = Object { create: Some(&test.create), drop: Some(&test.drop) };
    // A user's session, because those of other roles may have other settings.
    own::with(
        (&target.database, target.connect_limit),
        Role::User,
        object,
        async |session, name| {
            own::run(session, &test.fill.replace("{name}", name)).await?;
            measure(session, test.write.replace("{name}", name), cancel).await
        },
    )
    .await
}

async fn measure(
    session: &mut Limited<AnySession>,
    sql: String,
    cancel: &Cancel,
) -> Result<WriteTest, DbError> {
    let id = session.prepare(&bound("doctor.write_test", sql, false)).await?;
    let (mut rows, mut times, mut sum_ns) = (Rows::new(), histogram(), 0);
    for _ in 0..WARM_UP {
        commit(session.call(id, &[], &mut rows), cancel).await?;
    }
    let clock = Clock::start();
    while times.len() < COMMITS && clock.now().duration() < TIME {
        let sent = clock.now();
        commit(session.call(id, &[], &mut rows), cancel).await?;
        let ns = clock.now().since(sent);
        sum_ns += ns;
        times.record((ns / 1000).min(HIGHEST_US)).expect("it grows up to HIGHEST_US");
    }
    Ok(result(clock.now().duration().as_secs_f64(), &times, sum_ns))
}

/// Awaits one commit, unless the user interrupts the test.
async fn commit(
    work: impl Future<Output = Result<(), DbError>>,
    cancel: &Cancel,
) -> Result<(), DbError> {
    let stopped = |reason: String| DbError::new(ErrorClass::Cancelled, reason);
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(stopped(INTERRUPTED.to_owned())),
        done = timeout(COMMIT_LIMIT, work) => done.unwrap_or_else(|_| {
            Err(stopped(format!("a commit took more than {} s", COMMIT_LIMIT.as_secs())))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use triphammer_document::doctor::SetupVerdict;

    #[test]
    fn classes_double_without_gaps_and_hold_every_commit() {
        let mut times = histogram();
        for (us, count) in [(3, 1), (4, 2), (5, 3), (100, 10), (700, 1)] {
            times.record_n(us, count).unwrap();
        }
        let found = classes(&times);
        let found: Vec<_> = found.iter().map(|class| (class.up_to_us, class.commits)).collect();
        let expected =
            [(4, 3), (8, 3), (16, 0), (32, 0), (64, 0), (128, 10), (256, 0), (512, 0), (1024, 1)];
        assert_eq!(found, expected);
        assert_eq!(classes(&histogram()), []);
    }

    #[test]
    fn slow_commits_are_to_look_at() {
        let line = |us: u64| {
            let mut times = histogram();
            times.record_n(us, 100).unwrap();
            line(&result(1.0, &times, us * 100_000))
        };
        assert_eq!(line(900).value, "p50 0.900, p95 0.900, p99 0.900, max 0.900 ms");
        assert_eq!(line(900).verdict, SetupVerdict::Fine);
        assert_eq!(line(25_000).verdict, SetupVerdict::Look);
    }
}
