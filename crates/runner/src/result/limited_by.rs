//! What limited a run: the load that was asked for, the client, the host, the network, or else the
//! database. A pure function of figures that the run measured of itself, so that a figure is never
//! shown without what it is a figure of.
//!
//! | kind | when, in this order |
//! |---|---|
//! | undecided | the window is shorter than [`WINDOW_MIN_S`] or has fewer than [`COMMITTED_MIN`] transactions; or the host is busy and nobody knows whether the server is on it |
//! | load-limited | the load was paced, and the sessions were busy for less than [`SESSIONS_BUSY`] of the time |
//! | client-bound | a worker thread used more than [`THREAD_BUSY`] of a core |
//! | host-bound | client and server share a host whose CPUs were busier than [`HOST_BUSY`] |
//! | client-bound | scheduling lag p99 above [`LAG_SHARE`] of the median service time, and above [`LAG_MIN_US`] |
//! | network-bound | round trip time × round trips above [`NETWORK_SHARE`] of the mean service time |
//! | database-bound | none of these |
//!
//! Lag comes after the host because threads that wait for a CPU which others have are late too: the
//! cause is then the host, and more threads would not help.

use serde::{Deserialize, Serialize};
use triphammer_core::engine::RunEnd;
use triphammer_core::outcome::Counts;
use triphammer_core::stats::{Times, share};

use super::facts::RunFacts;
use crate::report::format::{counted, duration, figure, integer, milliseconds, percent};

/// Shortest window that is judged, in seconds.
pub const WINDOW_MIN_S: f64 = 2.0;
/// Fewest committed transactions that are judged.
pub const COMMITTED_MIN: u64 = 100;
/// Fewest measurements of lag that its 99th percentile is read from.
pub const LAG_SAMPLES_MIN: u64 = 100;
/// Share of the time: below it the sessions of a paced load wait for work, not the work for sessions.
pub const SESSIONS_BUSY: f64 = 0.5;
/// Share of a core: above it a worker thread holds the load back.
pub const THREAD_BUSY: f64 = 0.8;
/// Share of the median service time: above it the lag spoils the times.
pub const LAG_SHARE: f64 = 0.1;
/// Lag that waking a thread which sleeps costs on any host, in microseconds: it is every client's, and
/// limits nothing.
pub const LAG_MIN_US: u64 = 500;
/// Lag above which a wake-up counts as late, in microseconds.
pub const LATE_US: u64 = 10_000;
/// Share of all CPUs: above it the host has nothing left to give.
pub const HOST_BUSY: f64 = 0.9;
/// Share of the mean service time: above it the time goes by on the way.
pub const NETWORK_SHARE: f64 = 0.6;
/// The round trip time that is judged is this quantile of those measured. The fast ones show the
/// network; the slow ones waited for a busy server as well. The very fastest may be a lucky one.
pub const ROUND_TRIP_QUANTILE: f64 = 0.1;

/// What limited a run, why, and what to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LimitedBy {
    /// What it was.
    pub kind: Limit,
    /// Why, in words with figures.
    pub words: String,
    /// What to do next.
    pub advice: String,
    /// What it was decided from.
    pub figures: LimitFigures,
}

/// What can limit a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Limit {
    /// The load asked for no more.
    #[serde(rename = "load_limited")]
    Load,
    /// The client's own threads.
    #[serde(rename = "client_bound")]
    Client,
    /// The CPUs that client and server share.
    #[serde(rename = "host_bound")]
    Host,
    /// The way between client and server.
    #[serde(rename = "network_bound")]
    Network,
    /// The database, because it was nothing else.
    #[serde(rename = "database_bound")]
    Database,
    /// Nobody can tell.
    #[serde(rename = "undecided")]
    Undecided,
}

impl Limit {
    /// Every one.
    pub const ALL: [Self; 6] =
        [Self::Load, Self::Client, Self::Host, Self::Network, Self::Database, Self::Undecided];

    /// For people, after "Limited by".
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Load => "the load",
            Self::Client => "the client",
            Self::Host => "the host",
            Self::Network => "the network",
            Self::Database => "the database",
            Self::Undecided => "undecided",
        }
    }
}

/// What the decision is made from, of the timed window (round trips: of the whole run). `None` where it was not or cannot be measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LimitFigures {
    /// Length of the window, in seconds.
    pub window_s: f64,
    /// Transactions committed.
    pub committed: u64,
    /// Whether the load model said when transactions are due.
    pub paced: bool,
    /// Share of the time in which a session was in a transaction.
    pub sessions_busy_share: f64,
    /// Share of a core that the busiest worker thread used.
    pub busiest_thread_share: f64,
    /// Whether the database works on the worker threads, so that their CPU time and their lateness
    /// are the database's.
    pub database_on_threads: bool,
    /// Times that the scheduling lag was measured.
    pub lag_samples: u64,
    /// Scheduling lag: how late worker threads took up what was ready.
    pub lag_p50_us: Option<u64>,
    /// The same, 99th percentile.
    pub lag_p99_us: Option<u64>,
    /// Wake-ups later than 10 ms.
    pub late_wakeups: Option<u64>,
    /// Median service time of committed transactions.
    pub median_service_us: u64,
    /// Mean service time of committed transactions.
    pub mean_service_us: f64,
    /// Time of a round trip on the run's own sessions, 10th percentile.
    pub round_trip_us: Option<u64>,
    /// Times that a round trip was measured.
    pub round_trip_samples: u64,
    /// Round trips of a transaction.
    pub round_trips_per_transaction: f64,
    /// Round trip time × round trips, of the mean service time.
    pub network_share: Option<f64>,
    /// Whether client and server share a host.
    pub same_host: Option<bool>,
    /// How busy the client's host was.
    pub host_cpu_share: Option<f64>,
}

/// Why it was the client.
enum Reason {
    Cpu,
    Lag,
}

impl LimitFigures {
    /// The figures of a run.
    #[must_use]
    pub fn new(facts: &RunFacts, end: &RunEnd, window_s: f64, per_transaction: f64) -> Self {
        let mut all = triphammer_core::recorder::TypeInterval::default();
        for seen in &end.timed {
            all.add(seen);
        }
        let service = Times::of(all.service_times(), Some(all.counts.service_ns));
        let gauges = &end.gauges;
        let lag = gauges.lag.as_ref().filter(|lag| !lag.is_empty());
        let trips = gauges.round_trip.as_ref().filter(|trips| !trips.is_empty());
        let round_trip_us = trips.map(|trips| trips.value_at_quantile(ROUND_TRIP_QUANTILE));
        Self {
            window_s,
            committed: all.counts.committed,
            paced: !facts.spec.load.is_closed(),
            sessions_busy_share: sessions_busy(&all.counts, facts.spec.sessions(), window_s),
            busiest_thread_share: gauges.busiest_share(),
            database_on_threads: facts.database_on_threads,
            lag_samples: lag.map_or(0, hdrhistogram::Histogram::len),
            lag_p50_us: lag.map(|lag| lag.value_at_quantile(0.5)),
            lag_p99_us: lag.map(|lag| lag.value_at_quantile(0.99)),
            late_wakeups: lag.map(|lag| lag.len() - lag.count_between(0, LATE_US)),
            median_service_us: service.p50_us,
            mean_service_us: service.mean_us,
            round_trip_us,
            round_trip_samples: trips.map_or(0, hdrhistogram::Histogram::len),
            round_trips_per_transaction: per_transaction,
            network_share: round_trip_us
                .filter(|_| service.mean_us > 0.0)
                .map(|us| whole(us) * per_transaction / service.mean_us),
            same_host: facts.server.same_host,
            host_cpu_share: gauges.host.share(),
        }
    }

    /// What limited the run.
    #[must_use]
    pub fn decide(&self) -> Limit {
        if self.lacks_data() {
            return Limit::Undecided;
        }
        if self.paced && self.sessions_busy_share < SESSIONS_BUSY {
            return Limit::Load;
        }
        if self.client_reason().is_some_and(|reason| matches!(reason, Reason::Cpu)) {
            return Limit::Client;
        }
        if self.host_cpu_share.is_some_and(|share| share > HOST_BUSY) {
            match self.same_host {
                Some(true) => return Limit::Host,
                None => return Limit::Undecided,
                Some(false) => {}
            }
        }
        if self.client_reason().is_some() {
            return Limit::Client;
        }
        match self.network_share {
            Some(share) if share > NETWORK_SHARE => Limit::Network,
            _ => Limit::Database,
        }
    }

    fn lacks_data(&self) -> bool {
        self.window_s < WINDOW_MIN_S || self.committed < COMMITTED_MIN
    }

    fn client_reason(&self) -> Option<Reason> {
        if self.database_on_threads {
            return None;
        }
        if self.busiest_thread_share > THREAD_BUSY {
            return Some(Reason::Cpu);
        }
        let lag = self.lag_p99_us.filter(|_| self.lag_samples >= LAG_SAMPLES_MIN)?;
        let spoils = whole(lag) > whole(self.median_service_us) * LAG_SHARE;
        (lag > LAG_MIN_US && spoils).then_some(Reason::Lag)
    }
}

/// How much of their time the sessions were in a transaction.
#[expect(clippy::cast_precision_loss, reason = "a share")]
fn sessions_busy(counts: &Counts, users: u32, window_s: f64) -> f64 {
    let mean_s = share(counts.service_ns, counts.committed) / 1e9;
    let time_s = f64::from(users) * window_s;
    if time_s > 0.0 { mean_s * counts.ended() as f64 / time_s } else { 0.0 }
}

#[expect(clippy::cast_precision_loss, reason = "microseconds of at most an hour")]
fn whole(us: u64) -> f64 {
    us as f64
}

impl LimitedBy {
    /// Decides, and says why and what to do.
    #[must_use]
    pub fn new(figures: LimitFigures) -> Self {
        let kind = figures.decide();
        let words = match kind {
            Limit::Load => load_words(&figures),
            Limit::Client => client_words(&figures),
            Limit::Host => host_words(&figures),
            Limit::Network => network_words(&figures),
            Limit::Database => database_words(&figures),
            Limit::Undecided => undecided_words(&figures),
        };
        let advice = advice(kind, &figures).to_owned();
        Self { kind, words, advice, figures }
    }
}

fn load_words(f: &LimitFigures) -> String {
    format!(
        "it asked for no more: sessions were in a transaction {} of the time",
        percent(f.sessions_busy_share)
    )
}

fn client_words(f: &LimitFigures) -> String {
    match f.client_reason() {
        Some(Reason::Lag) => format!(
            "its threads took up what was ready {} late (p99), of a median service time of {}; {} of \
             {} wake-ups were more than 10 ms late",
            time(whole(f.lag_p99_us.unwrap_or(0))),
            time(whole(f.median_service_us)),
            integer(f.late_wakeups.unwrap_or(0)),
            integer(f.lag_samples)
        ),
        _ => format!("its busiest thread used {} of a core", percent(f.busiest_thread_share)),
    }
}

fn host_words(f: &LimitFigures) -> String {
    format!(
        "client and server share its CPUs, which were {} busy",
        percent(f.host_cpu_share.unwrap_or(0.0))
    )
}

fn network_words(f: &LimitFigures) -> String {
    format!(
        "{} round trips of {} are {} of the mean service time of {}",
        figure(f.round_trips_per_transaction),
        time(whole(f.round_trip_us.unwrap_or(0))),
        percent(f.network_share.unwrap_or(0.0)),
        time(f.mean_service_us)
    )
}

/// By elimination: says what was ruled out, and with which figures.
fn database_words(f: &LimitFigures) -> String {
    if f.database_on_threads {
        let busiest = percent(f.busiest_thread_share);
        return format!("it works on the client's own threads, the busiest at {busiest} of a core");
    }
    let mut parts = vec![format!("busiest thread {} of a core", percent(f.busiest_thread_share))];
    if let Some(lag) = f.lag_p99_us {
        parts.push(format!("lag p99 {}", time(whole(lag))));
    }
    if let Some(share) = f.network_share {
        parts.push(format!("network {} of the service time", percent(share)));
    }
    if let Some(share) = f.host_cpu_share {
        parts.push(format!("host {} busy", percent(share)));
    }
    format!("nothing else was: {}", parts.join(", "))
}

fn undecided_words(f: &LimitFigures) -> String {
    if f.lacks_data() {
        return format!(
            "too little to judge by: {} in a window of {}",
            counted(f.committed, "committed transactions"),
            duration(f.window_s)
        );
    }
    format!(
        "the client's host was {} busy, and nobody knows whether the server is on it",
        percent(f.host_cpu_share.unwrap_or(0.0))
    )
}

fn advice(kind: Limit, f: &LimitFigures) -> &'static str {
    match kind {
        Limit::Load => "the times are those of this load; ask for more of it to find the limit",
        Limit::Client => match f.client_reason() {
            Some(Reason::Lag) => {
                "more --threads, or a client host with less else to do; until then the times are \
                 longer than the database's"
            }
            _ => "more --threads, or a client host with more cores: the database can do more",
        },
        Limit::Host if f.database_on_threads => {
            "see what else runs here; if nothing does, this is what the database can do on these CPUs"
        }
        Limit::Host => "run the client on another host: here it takes CPU from the server",
        Limit::Network => {
            "fewer round trips (--mode procedures), a client nearer to the server, or more --vus"
        }
        Limit::Database if f.database_on_threads => {
            "look at the database: settings, statements, disk"
        }
        Limit::Database => {
            "look at the server: settings, waits, disk; more --vus show whether it can do more"
        }
        Limit::Undecided if f.lacks_data() => "run longer: --duration 1m",
        Limit::Undecided => "run the client on a host of its own",
    }
}

/// `8.2 ms`.
fn time(us: f64) -> String {
    format!("{} ms", milliseconds(us))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run that nothing of the client's limited.
    fn quiet() -> LimitFigures {
        LimitFigures {
            window_s: 60.0,
            committed: 10_000,
            paced: false,
            sessions_busy_share: 0.99,
            busiest_thread_share: 0.2,
            database_on_threads: false,
            lag_samples: 4_000,
            lag_p50_us: Some(30),
            lag_p99_us: Some(200),
            late_wakeups: Some(0),
            median_service_us: 10_000,
            mean_service_us: 12_000.0,
            round_trip_us: Some(400),
            round_trip_samples: 60,
            round_trips_per_transaction: 1.0,
            network_share: Some(0.03),
            same_host: Some(true),
            host_cpu_share: Some(0.4),
        }
    }

    type Change = fn(&mut LimitFigures);

    #[test]
    fn every_threshold_is_where_the_table_says() {
        let table: &[(Limit, Change)] = &[
            (Limit::Database, |_| {}),
            (Limit::Undecided, |f| f.window_s = 1.99),
            (Limit::Database, |f| f.window_s = 2.0),
            (Limit::Undecided, |f| f.committed = 99),
            (Limit::Database, |f| f.committed = 100),
            (Limit::Load, |f| (f.paced, f.sessions_busy_share) = (true, 0.49)),
            (Limit::Database, |f| (f.paced, f.sessions_busy_share) = (true, 0.5)),
            (Limit::Database, |f| f.sessions_busy_share = 0.1),
            (Limit::Client, |f| f.busiest_thread_share = 0.801),
            (Limit::Database, |f| f.busiest_thread_share = 0.8),
            (Limit::Client, |f| f.lag_p99_us = Some(1_001)),
            (Limit::Database, |f| f.lag_p99_us = Some(1_000)),
            (Limit::Database, |f| (f.lag_p99_us, f.median_service_us) = (Some(500), 100)),
            (Limit::Client, |f| (f.lag_p99_us, f.median_service_us) = (Some(501), 100)),
            (Limit::Database, |f| (f.lag_p99_us, f.lag_samples) = (Some(9_000), 99)),
            (Limit::Database, |f| (f.lag_p99_us, f.lag_samples) = (None, 0)),
            (Limit::Host, |f| f.host_cpu_share = Some(0.901)),
            (Limit::Database, |f| f.host_cpu_share = Some(0.9)),
            (Limit::Database, |f| f.host_cpu_share = None),
            (Limit::Database, |f| (f.host_cpu_share, f.same_host) = (Some(1.0), Some(false))),
            (Limit::Undecided, |f| (f.host_cpu_share, f.same_host) = (Some(1.0), None)),
            (Limit::Network, |f| f.network_share = Some(0.601)),
            (Limit::Database, |f| f.network_share = Some(0.6)),
            (Limit::Database, |f| (f.network_share, f.round_trip_us) = (None, None)),
        ];
        for (row, (expected, change)) in table.iter().enumerate() {
            let mut figures = quiet();
            change(&mut figures);
            assert_eq!(figures.decide(), *expected, "row {row}: {figures:?}");
        }
    }

    #[test]
    fn the_first_limit_in_the_order_is_told() {
        let mut all = LimitFigures {
            window_s: 1.0,
            paced: true,
            sessions_busy_share: 0.1,
            busiest_thread_share: 1.0,
            host_cpu_share: Some(1.0),
            lag_p99_us: Some(5_000),
            network_share: Some(0.9),
            ..quiet()
        };
        let steps: &[(Limit, Change)] = &[
            (Limit::Undecided, |f| f.window_s = 60.0),
            (Limit::Load, |f| f.sessions_busy_share = 0.9),
            (Limit::Client, |f| f.busiest_thread_share = 0.5),
            (Limit::Host, |f| f.host_cpu_share = Some(0.5)),
            (Limit::Client, |f| f.lag_p99_us = Some(100)),
            (Limit::Network, |f| f.network_share = Some(0.1)),
            (Limit::Database, |_| {}),
        ];
        for (expected, next) in steps {
            assert_eq!(all.decide(), *expected, "{all:?}");
            next(&mut all);
        }
    }

    #[test]
    fn a_database_on_the_clients_threads_is_not_taken_for_the_client() {
        let figures =
            LimitFigures { database_on_threads: true, busiest_thread_share: 1.0, ..quiet() };
        let limited = LimitedBy::new(figures);
        assert_eq!(limited.kind, Limit::Database);
        assert!(limited.words.contains("the client's own threads"), "{}", limited.words);
        let figures = LimitFigures { host_cpu_share: Some(0.95), ..figures };
        let limited = LimitedBy::new(figures);
        assert_eq!(limited.kind, Limit::Host);
        assert!(!limited.advice.contains("another host"), "{}", limited.advice);
    }

    #[test]
    fn every_verdict_says_why_and_what_next() {
        let cases: [(Change, &str, &str); 8] = [
            (|f| f.window_s = 1.0, "10,000 committed transactions in a window of 1s", "run longer"),
            (
                |f| (f.paced, f.sessions_busy_share) = (true, 0.1),
                "10 % of the time",
                "ask for more",
            ),
            (|f| f.busiest_thread_share = 0.95, "used 95 % of a core", "more --threads"),
            (|f| f.lag_p99_us = Some(2_000), "2.00 ms late (p99), of a median", "more --threads"),
            (|f| f.host_cpu_share = Some(0.97), "97 % busy", "another host"),
            (|f| f.network_share = Some(0.7), "are 70 % of the mean", "fewer round trips"),
            (|_| {}, "network 3 % of the service time, host 40 % busy", "look at the server"),
            (
                |f| (f.host_cpu_share, f.same_host) = (Some(1.0), None),
                "nobody knows whether",
                "a host of its own",
            ),
        ];
        for (change, words, advice) in cases {
            let mut figures = quiet();
            change(&mut figures);
            let limited = LimitedBy::new(figures);
            assert!(limited.words.contains(words), "{}", limited.words);
            assert!(limited.advice.contains(advice), "{}", limited.advice);
        }
    }
}
