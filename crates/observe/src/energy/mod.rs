//! Energy beside a run: counters of RAPL on this host, or of an exporter on the database's host.
//! Sources are found before the run; an idle host can be read first (`--idle`). What the readings
//! mean is computed in `document::energy`.
//!
//! ```text
//! rapl ────┐
//!          ├─► Meter (spans of energy) ──► EnergyReadings, with the run's facts
//! exporter ┘                          └──► power of each second, as figures of the host
//! ```

mod exporter;
mod meter;
pub(crate) mod rapl;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use triphammer_core::clock::{Clock, format_duration, parse_duration};
use triphammer_core::{Elapsed, SpecError};
use triphammer_document::energy::{
    EnergyDomainReadings, EnergyOf, EnergyReadings, EnergySourceKind, EnergySourceReadings,
};
use triphammer_document::samples::SampleSeries;
use triphammer_settings::Settings;
use triphammer_settings::files::Files;
use triphammer_settings::handle::Handle;

use crate::host_metrics::{Exporter, HOST, POWER};
use crate::{Measured, Source};
use exporter::{PowerMetric, Wanted};
use meter::{Domain, Reading};
use rapl::Powercap;

/// Shortest idle time: fewer seconds say little about a host.
const IDLE_MIN: Duration = Duration::from_secs(5);
/// Longest idle time.
const IDLE_MAX: Duration = Duration::from_secs(3_600);
/// Time between two readings of an idle host.
const READ_EVERY: Duration = Duration::from_secs(1);
/// Most domains of a source.
const DOMAINS_MAX: usize = 64;

/// What to read, by the settings.
#[derive(Clone, Debug)]
pub struct EnergyPlan {
    powercap: Powercap,
    /// The exporter, and whether it was named for its energy.
    exporter: Option<(Exporter, bool)>,
    metric: Option<PowerMetric>,
    idle: Option<Duration>,
    /// Whether a setting asks for energy: only then is it said that there is none.
    is_asked: bool,
}

/// The settings that ask for energy.
const ASKING: [&str; 4] = ["energy-metrics", "power-metric", "idle", "sysfs"];

impl EnergyPlan {
    /// Whether the idle host is to be read.
    #[must_use]
    pub const fn wants_idle(&self) -> bool {
        self.idle.is_some()
    }
}

/// Reads the settings, given the exporter of the database's host.
///
/// # Errors
/// When a setting is invalid, or a metric has no exporter.
pub fn plan(settings: &mut Settings, host: Option<&Exporter>) -> Result<EnergyPlan, SpecError> {
    let own = settings.get("energy-metrics").map(str::parse::<Exporter>).transpose();
    let own = own.map_err(|text| SpecError::new(text).about("energy-metrics"))?;
    let metric = settings.get("power-metric").map(str::parse::<PowerMetric>).transpose();
    let metric = metric.map_err(|text| SpecError::new(text).about("power-metric"))?;
    let exporter = own.map(|own| (own, true)).or_else(|| host.cloned().map(|host| (host, false)));
    if metric.is_some() && exporter.is_none() {
        let message = "--power-metric needs the exporter that has the metric: add --energy-metrics, \
                       such as http://db1:8080/metrics";
        return Err(SpecError::new(message).about("power-metric"));
    }
    let is_asked = ASKING.iter().any(|name| settings.get(name).is_some());
    let powercap = Powercap::in_root(Files::of_settings(settings)?);
    let idle = idle(settings)?;
    Ok(EnergyPlan { powercap, exporter, metric, idle, is_asked })
}

fn idle(settings: &mut Settings) -> Result<Option<Duration>, SpecError> {
    let show = |idle: &Duration| format_duration(*idle);
    let Some(idle) = settings.optional("idle", parse_duration, show, "not read")? else {
        return Ok(None);
    };
    if (IDLE_MIN..=IDLE_MAX).contains(&idle) {
        return Ok(Some(idle));
    }
    let message = format!(
        "--idle must be from {} to {}, got {}",
        format_duration(IDLE_MIN),
        format_duration(IDLE_MAX),
        format_duration(idle)
    );
    Err(SpecError::new(message).about("idle"))
}

/// Where a source reads.
#[derive(Debug)]
enum From {
    /// The counters of this host.
    Files(Powercap),
    /// An exporter, and the runtime of the thread that reads it once that has begun.
    Exporter(Box<Exporter>, Wanted, Option<tokio::runtime::Runtime>),
}

/// A source that is read once per second.
#[derive(Debug)]
struct Meter {
    kind: EnergySourceKind,
    of: EnergyOf,
    /// Host of the exporter.
    host: Option<String>,
    from: Mutex<From>,
    /// By name, those of the first reading. Not locked while an exporter is asked.
    domains: Mutex<BTreeMap<String, Domain>>,
    series: BTreeMap<String, Arc<SampleSeries>>,
}

impl Meter {
    fn new(
        kind: EnergySourceKind,
        of: EnergyOf,
        from: From,
        first: Vec<(String, Reading)>,
    ) -> Self {
        let host = match &from {
            From::Files(_) => None,
            From::Exporter(exporter, ..) => Some(exporter.host.clone()),
        };
        let of_host = host.clone().map(|host| (HOST.to_owned(), host));
        let named = |name: &str| {
            let label = (POWER.labels[0].to_owned(), name.to_owned());
            Arc::new(SampleSeries {
                metric: POWER.name.to_owned(),
                labels: [label].into_iter().chain(of_host.clone()).collect(),
                title: POWER.title.to_owned(),
                unit: POWER.unit,
                merge: POWER.merge,
            })
        };
        let names: BTreeSet<String> = first.into_iter().map(|(name, _)| name).collect();
        let series = names.iter().map(|name| (name.clone(), named(name))).collect();
        let domains = names.into_iter().map(|name| (name, Domain::default())).collect();
        Self { kind, of, host, from: Mutex::new(from), domains: Mutex::new(domains), series }
    }

    /// Reads all domains; empty if the source does not answer.
    fn read(&self) -> Vec<(String, Reading)> {
        match &mut *locked(&self.from) {
            From::Files(powercap) => powercap.read(),
            From::Exporter(exporter, wanted, runtime) => {
                if runtime.is_none() {
                    *runtime = triphammer_engine::runtime().ok();
                }
                let Some(runtime) = runtime.as_ref() else { return Vec::new() };
                let text = runtime.block_on(exporter.fetch()).unwrap_or_default();
                exporter::readings(&text, wanted)
            }
        }
    }

    /// Reads once, and records the energy since the last reading in the spans of the run or of the
    /// idle host. Returns the power of each domain. `due_ms` is the time of the reading.
    fn record(&self, due_ms: u64, clock: &Clock, is_idle: bool) -> Measured {
        let begun = clock.now();
        let read = self.read();
        // An exporter reads its counters somewhere between the request and the answer.
        let took = ms(clock.now()).saturating_sub(ms(begun));
        let half = if self.host.is_some() { took / 2 } else { 0 };
        let mut measured = Measured::new();
        let mut domains = locked(&self.domains);
        // Two readings of one name are those of a series that was not there at first.
        let twice = twice(&read);
        for (name, reading) in read.iter().filter(|(name, _)| !twice.contains(name.as_str())) {
            let Some(domain) = domains.get_mut(name) else { continue };
            let watts = domain.record(due_ms + half, *reading, is_idle);
            measured.extend(watts.map(|watts| (Arc::clone(&self.series[name]), watts)));
        }
        measured
    }

    /// Ends the runtime of the thread that read an exporter, on that thread.
    fn end(&self) {
        if let From::Exporter(_, _, runtime) = &mut *locked(&self.from) {
            runtime.take();
        }
    }

    /// What was read so far; later readings are lost.
    fn take_readings(&self) -> EnergySourceReadings {
        let domains = std::mem::take(&mut *locked(&self.domains));
        let of = |(name, domain): (String, Domain)| {
            let [idle, run] = domain.into_spans();
            EnergyDomainReadings { name, idle, run }
        };
        EnergySourceReadings {
            kind: self.kind,
            of: self.of,
            host: self.host.clone(),
            domains: domains.into_iter().map(of).collect(),
        }
    }
}

/// The names that a reading has more than once.
fn twice(read: &[(String, Reading)]) -> BTreeSet<&str> {
    let mut seen = BTreeSet::new();
    read.iter().map(|(name, _)| name.as_str()).filter(|name| !seen.insert(*name)).collect()
}

/// Checks that a first reading has domains that can be told apart, and not too many.
fn checked(first: Vec<(String, Reading)>) -> Result<Vec<(String, Reading)>, String> {
    if first.len() > DOMAINS_MAX {
        let count = first.len();
        return Err(format!(
            "it has {count} series of energy or power, and at most {DOMAINS_MAX} are read: labels \
             of --power-metric choose among them"
        ));
    }
    match twice(&first).first() {
        Some(name) => Err(format!(
            "it has {name} more than once, and which is meant is not known: name the series by \
             --power-metric, or the exporter of one host"
        )),
        None => Ok(first),
    }
}

/// What a panic left is as good as before it.
fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

fn ms(at: Elapsed) -> u64 {
    u64::try_from(at.duration().as_millis()).unwrap_or(u64::MAX)
}

/// The sources of a run, shared by the threads that read them.
#[derive(Clone, Debug)]
pub struct EnergyMeters {
    meters: Vec<Arc<Meter>>,
    gaps: Vec<String>,
    idle: Option<Duration>,
    is_asked: bool,
}

impl EnergyMeters {
    /// Finds what can be read. `is_shared` says whether the database is on this host.
    ///
    /// # Errors
    /// When an exporter that was named for its energy does not answer, or has no such metric.
    pub async fn find(plan: &EnergyPlan, is_shared: bool) -> Result<Self, SpecError> {
        let mut gaps = Vec::new();
        let mut meters = Vec::new();
        if let Some((exporter, is_named)) = &plan.exporter {
            let of = if is_shared { EnergyOf::SharedHost } else { EnergyOf::ServerHost };
            match Self::ask(exporter, plan.metric.as_ref()).await {
                Ok((wanted, first)) => {
                    let from = From::Exporter(Box::new(exporter.clone()), wanted.clone(), None);
                    meters.push(Meter::new(wanted.kind(), of, from, first));
                }
                Err(reason) if *is_named || plan.metric.is_some() => {
                    let name = if *is_named { "energy-metrics" } else { "power-metric" };
                    let message = format!("no energy from {exporter}: {reason}");
                    return Err(SpecError::new(message).about(name));
                }
                Err(reason) => gaps.push(format!("{exporter}: {reason}")),
            }
        }
        let of = if is_shared { EnergyOf::SharedHost } else { EnergyOf::ClientHost };
        match plan.powercap.first().and_then(checked) {
            Ok(first) => {
                let from = From::Files(plan.powercap.clone());
                meters.push(Meter::new(EnergySourceKind::Rapl, of, from, first));
            }
            // The client's host does not matter where the database's is read.
            Err(reason) if meters.is_empty() => gaps.push(reason),
            Err(_) => {}
        }
        let meters = meters.into_iter().map(Arc::new).collect();
        Ok(Self { meters, gaps, idle: plan.idle, is_asked: plan.is_asked })
    }

    /// Asks an exporter which of its metrics are energy or power.
    async fn ask(
        exporter: &Exporter,
        metric: Option<&PowerMetric>,
    ) -> Result<(Wanted, Vec<(String, Reading)>), String> {
        let text = exporter.fetch().await?;
        let wanted = match metric {
            Some(metric) => Wanted::Metric(metric.clone()),
            None => exporter::known(&text).ok_or_else(|| exporter::UNKNOWN.to_owned())?,
        };
        let first = exporter::readings(&text, &wanted);
        match first.is_empty() {
            true => Err(format!("it has no metric {}", wanted.name())),
            false => Ok((wanted, checked(first)?)),
        }
    }

    /// Seconds for which the idle host is to be read, if it can be read at all.
    #[must_use]
    pub fn idle(&self) -> Option<Duration> {
        self.idle.filter(|_| !self.meters.is_empty())
    }

    /// Reads the idle host for its time, or until the job is stopped.
    ///
    /// # Errors
    /// When a thread cannot be started.
    pub async fn read_idle(&self, handle: &Handle) -> std::io::Result<()> {
        let Some(idle) = self.idle() else { return Ok(()) };
        let each = self.meters.iter().map(|meter| {
            let (meter, handle) = (Arc::clone(meter), handle.clone());
            let thread = std::thread::Builder::new().name("observe idle".into());
            thread.spawn(move || read_while(&meter, idle, &handle))
        });
        for thread in each.collect::<std::io::Result<Vec<JoinHandle<()>>>>()? {
            while !thread.is_finished() {
                tokio::time::sleep(crate::END_TICK).await;
            }
        }
        Ok(())
    }

    /// The sources, for the observers of the run.
    pub fn sources(&self) -> impl Iterator<Item = Box<dyn Source>> + '_ {
        self.meters.iter().map(|meter| {
            Box::new(MeterSource { meter: Arc::clone(meter), clock: Clock::start() })
                as Box<dyn Source>
        })
    }

    /// What was read, once the observers have ended, or did not end in time; `None` if there is no
    /// source, and no setting asked for one.
    #[must_use]
    pub fn into_readings(self) -> Option<EnergyReadings> {
        if self.meters.is_empty() && !self.is_asked {
            return None;
        }
        let sources = self.meters.iter().map(|meter| meter.take_readings()).collect();
        Some(EnergyReadings { sources, gaps: self.gaps })
    }
}

fn read_while(meter: &Meter, idle: Duration, handle: &Handle) {
    let clock = Clock::start();
    let mut due = Duration::ZERO;
    while !handle.is_stopped() {
        handle.wait(due.saturating_sub(clock.now().duration()));
        meter.record(ms(clock.now()), &clock, true);
        if due >= idle {
            break;
        }
        // The last reading is at the end of the idle time, and a late one is not made up for.
        due = (due + READ_EVERY).max(clock.now().duration()).min(idle);
    }
    meter.end();
}

/// A meter as a source of the observers.
struct MeterSource {
    meter: Arc<Meter>,
    clock: Clock,
}

impl Drop for MeterSource {
    fn drop(&mut self) {
        self.meter.end();
    }
}

impl Source for MeterSource {
    fn name(&self) -> &'static str {
        "energy"
    }

    fn sample(&mut self, second: u64) -> Measured {
        let at = ms(Elapsed::at_second(second + 1));
        self.meter.record(at, &self.clock, false)
    }
}
