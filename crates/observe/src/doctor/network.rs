//! The way to the database: round trips and bandwidth, over the database's own protocol.

use std::time::Duration;

use triphammer_core::clock::Clock;
use triphammer_core::session::Session;
use triphammer_core::sql::{BoundStatement, param};
use triphammer_core::value::ColumnType;
use triphammer_core::{DbError, Rows, Value};
use triphammer_dialects::doctor::DoctorDef;
use triphammer_document::doctor::Group;
use triphammer_settings::format::milliseconds;

use super::check::{Change, Check, CheckDeclaration, Reading};

/// Number of round trips, unless they take longer than [`PINGS_TIME`].
const PINGS: usize = 500;
const PINGS_TIME: Duration = Duration::from_secs(2);
/// Bytes per row of a download, and per statement of the first upload.
const ROW_BYTES: usize = 64 * 1024;
/// Rows of the first download, which shows whether a longer one is cheap, and of that.
const ROWS: [usize; 2] = [4, 128];
/// Longest time of the first download for which the longer one follows.
const CHEAP: Duration = Duration::from_millis(50);

/// Measurements of the way to the database.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct NetworkFacts {
    /// Times of round trips, in microseconds, in order.
    pub round_trips_us: Vec<f64>,
    /// Bytes per second from the database.
    pub download: Option<f64>,
    /// Bytes per second to the database.
    pub upload: Option<f64>,
}

const fn check(
    name: &'static str,
    read: fn(&NetworkFacts) -> Option<Reading>,
    why: &'static str,
    change: &'static str,
) -> Check<NetworkFacts> {
    let (group, goals, cost, change) = (Group::Network, &[], None, Change::One(change));
    let declared = CheckDeclaration { name, group, goals, why, cost, change, knob: None };
    Check { declared, read, is_momentary: false }
}

/// The checks, in the order of the report.
pub(super) const CHECKS: &[Check<NetworkFacts>] = &[
    check(
        "round_trip",
        round_trip,
        "A transaction of statements waits for one round trip per statement: with 1 ms and 30 \
         statements, at least 30 ms.",
        "run nearer to the database, or use --mode procedures",
    ),
    check(
        "jitter",
        jitter,
        "Varying round trips spread the response times and hide small differences.",
        "look for other traffic, power saving, and busy CPUs on both hosts",
    ),
    check(
        "download",
        download,
        "Large results and builds wait for the network, not for the database.",
        "check the speed of the link with ethtool, and what else uses it",
    ),
    check(
        "upload",
        upload,
        "Builds send their data this way: 1 TPROC-C warehouse is about 100 MB.",
        "check the speed of the link with ethtool, and what else uses it",
    ),
];

/// The round trip at a share of the sorted ones, in microseconds.
fn at(facts: &NetworkFacts, share: f64) -> Option<f64> {
    let mut sorted = facts.round_trips_us.clone();
    sorted.sort_by(f64::total_cmp);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an index: small, and a float saturates"
    )]
    let index = (sorted.len() as f64 * share) as usize;
    sorted.get(index.min(sorted.len().checked_sub(1)?)).copied()
}

fn round_trip(facts: &NetworkFacts) -> Option<Reading> {
    let (median, p99) = (at(facts, 0.5)?, at(facts, 0.99)?);
    let value = format!("median {} ms, p99 {} ms", milliseconds(median), milliseconds(p99));
    Some(Reading::look_unless(median <= 1000.0, value))
}

/// Mean difference of consecutive round trips, as in RFC 3550.
fn jitter(facts: &NetworkFacts) -> Option<Reading> {
    let times = &facts.round_trips_us;
    let count = times.len().checked_sub(1).filter(|count| *count > 0)?;
    let sum: f64 = times.windows(2).map(|pair| (pair[1] - pair[0]).abs()).sum();
    let jitter = sum / count as f64;
    let is_fine = jitter <= 200.0 || jitter <= 0.5 * at(facts, 0.5)?;
    Some(Reading::look_unless(is_fine, format!("{} ms", milliseconds(jitter))))
}

/// Bandwidth of 1 Gbit/s, with protocol overhead, in bytes per second.
const GIGABIT: f64 = 100e6;

fn download(facts: &NetworkFacts) -> Option<Reading> {
    facts.download.map(bandwidth)
}

fn upload(facts: &NetworkFacts) -> Option<Reading> {
    facts.upload.map(bandwidth)
}

fn bandwidth(bytes_per_second: f64) -> Reading {
    let value = format!("{:.0} MB/s", bytes_per_second / 1e6);
    Reading::look_unless(bytes_per_second >= GIGABIT / 10.0, value)
}

/// Measures round trips; none if the database runs in this process.
pub(super) async fn round_trips(session: &mut impl Session) -> Result<Vec<f64>, DbError> {
    let (mut times, clock) = (Vec::new(), Clock::start());
    while times.len() < PINGS && clock.now().duration() < PINGS_TIME {
        let sent = clock.now();
        if !session.ping().await? {
            break;
        }
        times.push(clock.now().since(sent) as f64 / 1e3);
    }
    Ok(times)
}

/// Measures the bandwidth from the database, in bytes per second.
pub(super) async fn measure_download(
    session: &mut impl Session,
    doctor: &DoctorDef,
) -> Result<Option<f64>, DbError> {
    let Some(sql) = &doctor.download else { return Ok(None) };
    let mut found = None;
    for rows in ROWS {
        let sql = sql.replace("{rows}", &rows.to_string());
        let id = session.prepare(&bound("doctor.download", sql, false)).await?;
        let (mut batch, mut bytes) = (Rows::new(), 0);
        let clock = Clock::start();
        let mut count = |rows: &Rows| {
            bytes += rows.iter().filter_map(|row| row.text(0).ok()).map(str::len).sum::<usize>();
        };
        session.stream(id, &[], &mut batch, &mut count).await?;
        let took = clock.now().duration();
        found = Some(bytes as f64 / took.as_secs_f64().max(1e-9));
        if took > CHEAP {
            break;
        }
    }
    Ok(found)
}

/// Measures the bandwidth to the database, in bytes per second.
pub(super) async fn measure_upload(
    session: &mut impl Session,
    doctor: &DoctorDef,
) -> Result<Option<f64>, DbError> {
    let Some(sql) = &doctor.upload else { return Ok(None) };
    let id = session.prepare(&bound("doctor.upload", sql.clone(), true)).await?;
    let mut rows = Rows::new();
    let mut found = None;
    // The second is below the packet limits of servers.
    for bytes in [ROW_BYTES, 32 * ROW_BYTES] {
        let text = "x".repeat(bytes);
        let clock = Clock::start();
        session.query(id, &[Value::Text(&text)], &mut rows).await?;
        let took = clock.now().duration();
        found = Some(bytes as f64 / took.as_secs_f64().max(1e-9));
        if took > CHEAP {
            break;
        }
    }
    Ok(found)
}

/// A statement of the doctor, with one text parameter or none.
pub(super) fn bound(name: &str, sql: String, has_param: bool) -> BoundStatement {
    let params = if has_param { vec![param("text", ColumnType::Text)] } else { Vec::new() };
    let order = if has_param { vec![0] } else { Vec::new() };
    BoundStatement { name: name.to_owned(), sql, params, order }
}
