//! Where the time of a transaction goes, and what it exchanges with the server: one table, whose
//! rows are declared in [`PARTS`]. Reports, page, requirements and comparisons read the rows.
//!
//! Response time is divided as the verdict on the bottleneck divides it ([`TimeShares`]); the time
//! of the server is divided further by what was observed there. A part that is not known is a row
//! without a value that says what would make it known.

use triphammer_core::stats::share;
use triphammer_core::traffic::Traffic;
use triphammer_settings::format::{counted, figure, integer, milliseconds};

use super::bottleneck::{LimitFigures, TimeShares, whole};
use super::document::{ClientCost, Durations, Figures};
use super::observed::{ActiveSessions, Observed, ServerTime, WaitClass};
use super::time_parts::{TransactionPart, TransactionTime};
use crate::unit::Unit;

/// Largest sum of the parts of the server's time over it that samples explain.
const SUM_MAX: f64 = 1.05;
/// Fewest pings whose times show the network.
const PINGS_MIN: u64 = 3;

/// What is known of a part.
enum Measured {
    /// A value, and how it was measured.
    Value(f64, String),
    /// What would make it known.
    Unknown(String),
    /// There is no such part in this run.
    Absent,
}

use Measured::{Absent, Unknown, Value};

/// Reads what a part consists of, by title.
type RowsOfPart = fn(&Inputs<'_>) -> Vec<(String, f64)>;

/// Declaration of a part.
struct PartDef {
    name: &'static str,
    title: &'static str,
    depth: u8,
    unit: Unit,
    measure: fn(&Inputs<'_>) -> Measured,
    /// What it consists of, by title.
    rows: Option<(&'static str, RowsOfPart)>,
    /// Whether it was observed at the server, whose sessions may be those of several runs.
    at_server: bool,
    /// Whether a run that has no such row did not wait for it.
    is_wait: bool,
}

/// Declares a part of the response time.
const fn time(
    depth: u8,
    [name, title]: [&'static str; 2],
    measure: fn(&Inputs<'_>) -> Measured,
) -> PartDef {
    let (unit, rows) = (Unit::Us, None);
    PartDef { name, title, depth, unit, measure, rows, at_server: false, is_wait: false }
}

/// Declares a part of the server's time.
const fn of_server(names: [&'static str; 2], measure: fn(&Inputs<'_>) -> Measured) -> PartDef {
    PartDef { at_server: true, ..time(2, names, measure) }
}

/// Declares a wait of the server.
const fn wait(names: [&'static str; 2], measure: fn(&Inputs<'_>) -> Measured) -> PartDef {
    PartDef { is_wait: true, ..of_server(names, measure) }
}

/// Declares an amount.
const fn amount(
    unit: Unit,
    names: [&'static str; 2],
    measure: fn(&Inputs<'_>) -> Measured,
) -> PartDef {
    PartDef { unit, ..time(0, names, measure) }
}

/// The declarations, in display order.
static PARTS: &[PartDef] = &[
    time(0, ["response", "response time"], |i| Value(i.response_us, String::new())),
    PartDef {
        is_wait: true,
        ..time(1, ["session_wait", "wait for a session"], |i| i.session_wait())
    },
    time(1, ["client", "client"], |i| i.of_service(i.client_share(), "")),
    time(2, ["client_cpu", "CPU"], |i| {
        let of = if i.limits.database_on_threads { ", which execute the database" } else { "" };
        i.of_service(i.time.client_cpu, &format!("CPU time of the worker threads{of}"))
    }),
    PartDef {
        is_wait: true,
        ..time(2, ["client_cpu_wait", "wait for a CPU"], |i| i.client_cpu_wait())
    },
    time(1, ["network", "network"], |i| i.network()),
    time(1, ["server", "server"], |i| i.of_service(i.server_share(), i.server_how())),
    of_server(["server_cpu", "CPU"], |i| i.server_cpu()),
    wait(["server_cpu_wait", "wait for a CPU"], |i| i.server_cpu_wait()),
    PartDef {
        rows: Some(("lock_table", |i| i.locks_by_table())),
        ..of_server(["locks", "locks"], |i| i.locks())
    },
    wait(["log_wait", "commit log"], |i| i.waited(WaitClass::Log)),
    wait(["replica_wait", "standby"], |i| i.waited(WaitClass::Replica)),
    wait(["io_wait", "data I/O"], |i| i.waited(WaitClass::Io)),
    wait(["latch_wait", "latches"], |i| i.waited(WaitClass::Latch)),
    wait(["sleep", "sleep"], |i| i.waited(WaitClass::Sleep)),
    wait(["other_wait", "other waits"], |i| i.waited(WaitClass::Other)),
    of_server(["rest", "not explained"], |i| i.rest()),
    of_server(["parsing", "of it parsing"], |i| i.server_time(ServerTime::Parsing)),
    of_server(["planning", "of it planning"], |i| i.server_time(ServerTime::Planning)),
    amount(Unit::Average, ["round_trips", "round trips"], |i| {
        Value(i.limits.round_trips_per_transaction, "in the whole run".to_owned())
    }),
    amount(Unit::Bytes, ["bytes_sent", "bytes sent"], |i| i.bytes(i.traffic.sent_bytes)),
    amount(Unit::Bytes, ["bytes_received", "bytes received"], |i| {
        i.bytes(i.traffic.received_bytes)
    }),
    amount(Unit::Average, ["packets_sent", "packets sent"], |i| {
        i.packets(i.traffic.packets.map(|packets| packets.sent))
    }),
    amount(Unit::Average, ["packets_received", "packets received"], |i| {
        i.packets(i.traffic.packets.map(|packets| packets.received))
    }),
    amount(Unit::Us, ["client_cpu_used", "CPU time, client"], |i| {
        let of = match i.client.process_cpus {
            Some(_) => "of the whole process, observers included",
            None => "of the worker threads",
        };
        Value(i.client.cpu_us_per_transaction, of.to_owned())
    }),
    PartDef {
        at_server: true,
        ..amount(Unit::Us, ["server_cpu_used", "CPU time, server"], |i| i.server_cpu_used())
    },
];

/// The declaration of a row: that of its part, or of the part that it belongs to.
fn declaration(name: &str) -> Option<&'static PartDef> {
    let is_of = |def: &&PartDef| def.name == name || def.rows.is_some_and(|(row, _)| row == name);
    PARTS.iter().find(is_of)
}

/// Whether the row of this name was observed at the server, whose sessions may be those of several runs.
pub(crate) fn is_at_server(name: &str) -> bool {
    declaration(name).is_some_and(|def| def.at_server)
}

/// Whether a run without a row of this name did not wait for it: rows of what a part consists of are
/// there only where something was waited for.
pub(crate) fn is_wait(name: &str) -> bool {
    declaration(name).is_some_and(|def| def.is_wait || def.name != name)
}

/// What a run knows about the time of its transactions.
#[derive(Clone, Copy)]
pub(super) struct SourceFigures<'a> {
    pub limits: &'a LimitFigures,
    pub client: &'a ClientCost,
    pub observed: Option<&'a Observed>,
    pub durations: &'a Durations,
    /// What was sent and received in the window.
    pub traffic: Traffic,
    /// How the server was reached.
    pub transport: &'a str,
}

/// What the parts are calculated from.
struct Inputs<'a> {
    limits: &'a LimitFigures,
    client: &'a ClientCost,
    observed: Option<&'a Observed>,
    traffic: Traffic,
    transport: &'a str,
    response_us: f64,
    completed: u64,
    time: TimeShares,
    /// Observed time over the time in which the run worked.
    observed_ratio: f64,
}

impl TransactionTime {
    /// Divides the time of the transactions of a window; `None` without transactions.
    pub(super) fn new(window: &Figures, of: SourceFigures<'_>) -> Option<Self> {
        let SourceFigures { limits, client, observed, durations, traffic, transport } = of;
        let total = &window.total;
        let inputs = Inputs {
            limits,
            client,
            observed,
            traffic,
            transport,
            response_us: total.response.mean_us,
            completed: total.completed,
            time: limits.time?,
            observed_ratio: durations.window_s / durations.rated_s(),
        };
        Some(Self { transactions: total.response.count, parts: parts(&inputs) })
    }

    /// The value of a part, per transaction; `None` if it is not known.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<f64> {
        self.parts.iter().find(|part| part.name == name)?.value
    }
}

fn parts(inputs: &Inputs<'_>) -> Vec<TransactionPart> {
    let mut all = Vec::new();
    for def in PARTS {
        let (value, how) = match (def.measure)(inputs) {
            Value(value, how) => (Some(value), how),
            Unknown(how) => (None, how),
            Absent => continue,
        };
        let is_of_response = def.depth > 0 || def.name == "response";
        let part = |name: &str, title: &str, depth, value: Option<f64>, how| TransactionPart {
            name: name.to_owned(),
            title: title.to_owned(),
            depth,
            unit: def.unit,
            value,
            share: value
                .filter(|_| is_of_response && inputs.response_us > 0.0)
                .map(|value| value / inputs.response_us),
            how,
        };
        all.push(part(def.name, inputs.title(def), def.depth, value, how));
        if let Some((name, rows)) = def.rows {
            for (title, value) in rows(inputs) {
                all.push(part(name, &title, def.depth + 1, Some(value), String::new()));
            }
        }
    }
    all
}

impl Inputs<'_> {
    /// The title of a part: a database in this process has no server.
    fn title(&self, def: &PartDef) -> &'static str {
        match def.name {
            "client" if self.limits.database_on_threads => "client and database",
            "server" if self.limits.in_process => "database",
            _ => def.title,
        }
    }

    /// A share of the service time.
    fn of_service(&self, share: f64, how: &str) -> Measured {
        Value(share * self.limits.mean_service_us, how.to_owned())
    }

    fn session_wait(&self) -> Measured {
        match self.limits.paced {
            true => {
                let wait = (self.response_us - self.limits.mean_service_us).max(0.0);
                Value(wait, "from when it was due to its first attempt".to_owned())
            }
            false => Absent,
        }
    }

    fn client_share(&self) -> f64 {
        self.time.client_cpu + self.time.client_wait
    }

    fn client_cpu_wait(&self) -> Measured {
        match self.limits.threads_waiting {
            Some(_) => self.of_service(self.time.client_wait, "threads that were ready"),
            None => Unknown("the kernel must count run-queue waits (CONFIG_SCHED_INFO)".to_owned()),
        }
    }

    fn network(&self) -> Measured {
        let limits = self.limits;
        if limits.in_process {
            return Absent;
        }
        if limits.is_thread_full() {
            return Unknown("a worker thread is saturated: use more --threads".to_owned());
        }
        let Some((mean, fast)) = limits.round_trip_mean_us.zip(limits.round_trip_us) else {
            return Unknown("no round trip was measured: run for longer".to_owned());
        };
        if limits.round_trip_samples < PINGS_MIN {
            let pings = counted(limits.round_trip_samples, "pings");
            return Unknown(format!("{pings} of the {PINGS_MIN} that are needed: run for longer"));
        }
        let trips = figure(limits.round_trips_per_transaction);
        let (mean, pings) = (milliseconds(mean), integer(limits.round_trip_samples));
        let how = match self.is_network_of_fast_trips() {
            true => format!(
                "{trips} round trips × {} ms, the 10th percentile of {pings} pings between \
                 transactions; their mean of {mean} ms contains waits for a CPU",
                milliseconds(whole(fast))
            ),
            false => format!(
                "{trips} round trips × {mean} ms, the mean of {pings} pings between transactions, \
                 without waits for a CPU"
            ),
        };
        self.of_service(self.network_share(), &how)
    }

    /// Whether the pings waited for a CPU for so long that only fast ones show the network.
    fn is_network_of_fast_trips(&self) -> bool {
        self.limits.network_share.unwrap_or(0.0) > self.time.network
    }

    /// Share of the time in transit: at least that of fast round trips.
    fn network_share(&self) -> f64 {
        if self.limits.is_thread_full() || self.limits.in_process {
            return self.time.network;
        }
        if self.limits.round_trip_samples < PINGS_MIN {
            return 0.0;
        }
        let fast = self.limits.network_share.unwrap_or(0.0);
        self.time.network.max(fast).min(1.0 - self.client_share()).max(0.0)
    }

    fn server_share(&self) -> f64 {
        (1.0 - self.client_share() - self.network_share()).max(0.0)
    }

    fn server_how(&self) -> &'static str {
        match self.network() {
            Unknown(_) => "what is left, with the network",
            Value(..) | Absent => "what is left",
        }
    }

    fn server_cpu(&self) -> Measured {
        if self.limits.in_process {
            return Absent;
        }
        if let Some(share) = self.time.server_cpu {
            return self.of_service(share, "CPU time of the server's processes");
        }
        match self.sessions() {
            Some(sessions) => {
                let how = "sessions that did not wait, sampled; with waits for a CPU";
                Value(self.sampled(sessions, WaitClass::Cpu), how.to_owned())
            }
            None => Unknown(UNSEEN.to_owned()),
        }
    }

    fn server_cpu_wait(&self) -> Measured {
        match self.time.server_wait {
            _ if self.limits.in_process => Absent,
            Some(share) => {
                self.of_service(share, "processes that were ready; sampled waits may contain it")
            }
            None => Unknown("run triphammer on the server's host".to_owned()),
        }
    }

    /// A time that the server counts itself, or the setting that makes it count.
    fn server_time(&self, part: ServerTime) -> Measured {
        let Some(observed) = self.observed.filter(|_| !self.limits.in_process) else {
            return Absent;
        };
        let counted = observed.profile.iter().filter(|figure| figure.part == Some(part));
        // A metric is in milliseconds per second.
        let ms = counted.filter_map(|figure| figure.per_transaction).reduce(|a, b| a + b);
        let gap = observed.gaps.iter().find(|gap| gap.part == Some(part));
        match (ms, gap) {
            (Some(ms), _) => {
                Value(ms * 1e3, "elapsed time by the server's own statistics".to_owned())
            }
            (None, Some(gap)) if gap.change.is_empty() => Unknown(gap.hides.clone()),
            (None, Some(gap)) => Unknown(format!("needs {}", gap.change)),
            (None, None) => Absent,
        }
    }

    fn sessions(&self) -> Option<&ActiveSessions> {
        self.observed?.sessions.as_ref()
    }

    /// Time per transaction of an average number of sessions.
    fn of_average(&self, average: f64) -> f64 {
        let at_work = self.limits.in_transaction();
        let sessions = average * self.observed_ratio;
        if at_work > 0.0 { sessions / at_work * self.limits.mean_service_us } else { 0.0 }
    }

    fn sampled(&self, sessions: &ActiveSessions, class: WaitClass) -> f64 {
        let of_class = sessions.classes.iter().filter(|of| of.class == class);
        self.of_average(of_class.map(|of| of.average).sum())
    }

    fn waited(&self, class: WaitClass) -> Measured {
        match self.sessions().map(|sessions| self.sampled(sessions, class)) {
            Some(us) if us > 0.0 => Value(us, "sampled".to_owned()),
            _ => Absent,
        }
    }

    /// Waits for row locks by the server's own counter if it has one, else sampled; and those for
    /// other locks.
    fn locks(&self) -> Measured {
        let Some(sessions) = self.sessions() else {
            return if self.limits.in_process { Absent } else { Unknown(NOT_SAMPLED.to_owned()) };
        };
        let other = self.sampled(sessions, WaitClass::Lock);
        match self.server_time(ServerTime::RowLocks) {
            Value(us, _) => {
                let how = "row locks by the server's counter; tables by samples";
                Value(us + other, how.to_owned())
            }
            _ => Value(self.sampled(sessions, WaitClass::RowLock) + other, "sampled".to_owned()),
        }
    }

    /// The waits for locks by table, the longest first: in proportion to the sessions that were seen
    /// to be blocked.
    fn locks_by_table(&self) -> Vec<(String, f64)> {
        let (Value(us, _), Some(observed)) = (self.locks(), self.observed) else {
            return Vec::new();
        };
        let mut tables: Vec<(String, f64)> = Vec::new();
        for of in &observed.blockers {
            let table = of.object.split(' ').next().filter(|name| !name.is_empty());
            let table = table.unwrap_or("table not shown");
            match tables.iter_mut().find(|(known, _)| known == table) {
                Some((_, blocked)) => *blocked += of.blocked,
                None => tables.push((table.to_owned(), of.blocked)),
            }
        }
        let all: f64 = tables.iter().map(|(_, blocked)| blocked).sum();
        tables.retain(|(_, blocked)| *blocked > 0.0 && us > 0.0);
        tables.sort_by(|a, b| b.1.total_cmp(&a.1));
        tables.into_iter().map(|(table, blocked)| (table, us * blocked / all)).collect()
    }

    /// What is left of the server's time.
    fn rest(&self) -> Measured {
        // Parsing and planning are parts of the others.
        let is_part = |def: &&PartDef| {
            def.depth == 2
                && !def.name.starts_with("client")
                && !matches!(def.name, "rest" | "parsing" | "planning")
        };
        let known = PARTS.iter().filter(is_part).map(|def| match (def.measure)(self) {
            Value(us, _) => us,
            Unknown(_) | Absent => 0.0,
        });
        let known: f64 = known.sum();
        let server = self.server_share() * self.limits.mean_service_us;
        if known > server * SUM_MAX {
            let more = milliseconds(known - server);
            return Unknown(format!(
                "the parts, each measured apart, add up to {more} ms more than the server's time"
            ));
        }
        let how = match (self.limits.in_process, self.sessions()) {
            (true, _) => "locks, disks, and threads of the database's own",
            (false, Some(_)) => "too short to be sampled, or on the way",
            (false, None) => NOT_SAMPLED,
        };
        Value((server - known).max(0.0), how.to_owned())
    }

    fn bytes(&self, bytes: u64) -> Measured {
        match (self.limits.in_process, self.traffic.is_counted()) {
            (true, _) => Absent,
            (false, true) => Value(share(bytes, self.completed), "on the wire".to_owned()),
            (false, false) => Unknown("a foreign library has the connection".to_owned()),
        }
    }

    fn packets(&self, packets: Option<u64>) -> Measured {
        match packets {
            Some(packets) => Value(share(packets, self.completed), "TCP segments".to_owned()),
            None if self.transport.starts_with("tcp") && self.traffic.is_counted() => {
                Unknown("counted on Linux, of up to 1,000 connections per worker thread".to_owned())
            }
            None => Absent,
        }
    }

    fn server_cpu_used(&self) -> Measured {
        match self.limits.server_cpus {
            _ if self.limits.in_process || self.completed == 0 => Absent,
            Some(cpus) => {
                #[expect(clippy::cast_precision_loss, reason = "a mean")]
                let us = cpus * self.limits.window_s * 1e6 / self.completed as f64;
                Value(us, "of all its processes, those in the background included".to_owned())
            }
            None => Unknown("run triphammer on the server's host".to_owned()),
        }
    }
}

/// Why the server's CPU time is not known.
const UNSEEN: &str = "run triphammer on the server's host, or without --no-observe";
/// Why waits are not known.
const NOT_SAMPLED: &str = "the server's sessions were not sampled";
