//! The data that the view shows of a run; its size is bounded, however long the run is.

use std::collections::VecDeque;

use triphammer_core::event::{Event, Phase};
use triphammer_core::recorder::TypeInterval;
use triphammer_core::spec::{Length, RunSpec};
use triphammer_core::stats::{rate, share};
use triphammer_core::workload::{Description, PrimaryMetric, TransactionDef};
use triphammer_document::measure::{self, Measure};
use triphammer_document::metrics::{Metric, OF_SECOND, Values};
use triphammer_document::result::WaitClass;
use triphammer_document::second::Second;
use triphammer_observe as observe;
use triphammer_observe::node_figures::{NodeNow, of_nodes};
use triphammer_runner::watch::JobEvent;
use triphammer_statistics::series::{Summary, summarise};

use super::campaign::Campaign;

/// Maximum points of a chart; beyond it, the older half is merged in pairs.
const POINTS_MAX: usize = 600;
/// Maximum points for the interval of the mean; beyond it, all are merged in pairs.
const SERIES_MAX: usize = 1800;
/// Seconds covered by "now".
const RECENT_SECONDS: usize = 5;

/// The state of a run.
#[derive(Debug)]
pub struct Model {
    /// Workload and target, for the title line.
    pub title: String,
    /// The workload's primary metric.
    pub primary_metric: PrimaryMetric,
    /// The workload's transaction types.
    pub transactions: Vec<TransactionDef>,
    /// Number of virtual users; `None` until it is resolved.
    pub users: Option<u32>,
    /// The other runs of the campaign; `None` for a single run.
    pub campaign: Option<Campaign>,
    /// Seconds of ramp-up and window; `None` if the length is a number of transactions.
    pub plan: Option<(u64, u64)>,
    /// Sessions connected, and sessions to connect.
    pub connecting: Option<(u32, u32)>,
    /// The current phase, and the second at which it started.
    pub phase: Option<(Phase, u64)>,
    /// Seconds since the start of the run.
    pub elapsed_s: u64,
    /// Figures of the ramp-up at first, then of the window only.
    pub figures: Figures,
    /// What the streams of queries beside the transactions run, or what the checker has found; empty without any.
    pub beside: String,
    /// Active sessions of the run at the database in the last second, what most of them did or waited
    /// for, and how many these are; `None` if that is not observed.
    pub sessions: Option<(f64, WaitClass, f64)>,
    /// What each node did in the last second; empty for a single server.
    pub nodes: Vec<NodeNow>,
    /// The second since which no transaction has completed, while that lasts.
    pub outage_since: Option<u64>,
    /// The last seconds, as many as "now" covers.
    pub recent: VecDeque<Point>,
    /// The whole run as points for the charts.
    pub course: Vec<Point>,
    /// The whole run merged into one point; its counters are sums.
    pub whole: Option<Point>,
    /// Revision number, incremented with every change.
    pub revision: u64,
}

/// Counts over a phase.
#[derive(Debug)]
pub struct Figures {
    /// Length of the part, in seconds.
    pub seconds: u64,
    /// Counts by transaction type, in the workload's order.
    pub types: Vec<TypeInterval>,
    /// Increase of the database's own counter, and the seconds that it covers.
    pub server: (u64, f64),
    /// Statistics over the seconds of the primary metric.
    pub summary: Option<Summary>,
    series: Series,
}

/// The primary metric's seconds, the older ones in pairs of pairs.
#[derive(Debug)]
struct Series {
    points: Vec<f64>,
    /// Seconds per point.
    width: u64,
    open: (f64, u64),
}

/// One second, or several merged ones.
#[derive(Clone, Debug)]
pub struct Point {
    /// Number of seconds merged.
    pub seconds: u64,
    /// Number of transactions counted by the primary metric.
    pub primary_metric: u64,
    /// The declared metrics of all threads.
    all: Values,
    /// The declared metrics of all transaction types together.
    types: Values,
}

impl Model {
    /// Creates the model of a run that has not started.
    pub fn new(title: String, spec: &RunSpec, workload: &Description) -> Self {
        let mut model = Self::blank(title, workload, None);
        model.resolved(spec);
        model
    }

    /// Creates the model of a campaign that has not started.
    pub fn of_campaign(title: String, workload: &Description) -> Self {
        Self::blank(title, workload, Some(Campaign::default()))
    }

    fn blank(title: String, workload: &Description, campaign: Option<Campaign>) -> Self {
        let transactions = workload.transactions.clone();
        Self {
            title,
            primary_metric: workload.primary_metric.clone(),
            figures: Figures::new(transactions.len()),
            transactions,
            users: None,
            campaign,
            plan: None,
            connecting: None,
            phase: None,
            elapsed_s: 0,
            beside: String::new(),
            sessions: None,
            nodes: Vec::new(),
            outage_since: None,
            recent: VecDeque::new(),
            course: Vec::new(),
            whole: None,
            revision: 0,
        }
    }

    /// Updates the model from an event of the job.
    pub fn on_event(&mut self, event: JobEvent<'_>) {
        match event {
            JobEvent::Run(event) => self.event(event),
            JobEvent::Second(second) => self.second(second),
            JobEvent::Observed(latest) => {
                (self.sessions, self.nodes) = (observe::mostly(latest), of_nodes(latest));
            }
            JobEvent::Queries(progress) => self.beside = progress.running_words(),
            JobEvent::Checked(progress) => self.beside = progress.to_string(),
            JobEvent::Step { .. } => self.begin_step(),
            JobEvent::StepResolved(spec) => self.resolved(spec),
            JobEvent::StepEnded { .. } => self.phase = None,
            _ => {}
        }
        if let Some(campaign) = &mut self.campaign {
            campaign.on_event(event);
        }
        self.revision += 1;
    }

    fn resolved(&mut self, spec: &RunSpec) {
        self.users = Some(spec.users);
        self.plan = match spec.length {
            Length::Time(longest) => Some((spec.rampup.as_secs(), longest.as_secs())),
            Length::Transactions(_) => None,
        };
    }

    /// Resets the model for the next run of a campaign.
    fn begin_step(&mut self) {
        (self.connecting, self.phase, self.elapsed_s) = (None, None, 0);
        self.outage_since = None;
        self.beside.clear();
        self.nodes.clear();
        self.sessions = None;
        self.figures = Figures::new(self.transactions.len());
        (self.whole, self.users, self.plan) = (None, None, None);
        self.recent.clear();
        self.course.clear();
    }

    fn event(&mut self, event: &Event) {
        match event {
            Event::Connecting { connected, of } => self.connecting = Some((*connected, *of)),
            Event::Phase(phase, at) => {
                self.connecting = None;
                self.phase = Some((*phase, at.second()));
                if *phase == Phase::Window {
                    self.figures = Figures::new(self.transactions.len());
                }
            }
            Event::Started { .. } | Event::Second(_) | Event::Note(_) => {}
        }
    }

    fn second(&mut self, second: &Second) {
        self.elapsed_s = second.interval.last + 1;
        let point = Point::of(second, &self.primary_metric);
        let is_load = matches!(second.phase, Phase::RampUp | Phase::Window);
        self.outage_since = second.interval.outage_since.filter(|_| is_load);
        match &mut self.whole {
            Some(whole) => whole.merge(&point),
            None => self.whole = Some(point.clone()),
        }
        // The last transactions in flight would look like a drop in throughput.
        if !is_load {
            return;
        }
        self.figures.take(second, &point);
        self.recent.push_back(point.clone());
        if self.recent.len() > RECENT_SECONDS {
            self.recent.pop_front();
        }
        self.course.push(point);
        thin(&mut self.course);
    }

    /// The value of a metric in the last second; for a counter, its sum over the run.
    pub fn latest(&self, metric: &Metric) -> Option<f64> {
        let of = if metric.is_counter() { self.whole.as_ref() } else { self.course.last() };
        of?.value(metric)
    }

    /// The primary metric over the phase.
    pub fn first(&self) -> f64 {
        let counted = measure::counted(&self.primary_metric, &self.figures.types);
        self.of_primary_metric(counted, self.figures.seconds)
    }

    /// Transactions completed per minute over the phase.
    pub fn tpm(&self) -> f64 {
        self.row(None).get("per_second").unwrap_or_default() * 60.0
    }

    /// Transactions per minute over the phase, from the database's own counter.
    pub fn tpm_server(&self) -> Option<f64> {
        let (count, seconds) = self.figures.server;
        (seconds > 0.0).then(|| rate(count, seconds, 60))
    }

    /// The primary metric and TPM over the last seconds.
    pub fn now(&self) -> (f64, f64) {
        let sum = |of: fn(&Point) -> u64| self.recent.iter().map(of).sum::<u64>();
        let seconds = sum(|point| point.seconds);
        let tpm = rate(sum(Point::completed), seconds_f64(seconds), 60);
        (self.of_primary_metric(sum(|point| point.primary_metric), seconds), tpm)
    }

    /// Metrics of a transaction type over the phase, or of all types together.
    pub fn row(&self, transaction: Option<usize>) -> Values {
        let seconds = seconds_f64(self.figures.seconds);
        match transaction {
            Some(index) => Values::of_type(&self.figures.types[index], seconds),
            None => Values::of_type(&self.figures.all(), seconds),
        }
    }

    /// Share of transactions failed or in doubt among all that ended in the phase.
    pub fn failures(&self) -> f64 {
        let counts = self.figures.all().counts;
        share(counts.failures() + counts.indeterminate, counts.ended())
    }

    /// Elapsed seconds of the phase, and its length if that is a time.
    pub fn progress(&self) -> Option<(u64, u64)> {
        let (phase, began) = self.phase?;
        let (rampup, window) = self.plan?;
        let all = match phase {
            Phase::RampUp => rampup,
            Phase::Window => window,
            Phase::Drain | Phase::Abort => return None,
        };
        Some((self.elapsed_s.saturating_sub(began).min(all), all))
    }

    /// Primary metric for a number of transactions in a number of seconds.
    pub fn of_primary_metric(&self, count: u64, seconds: u64) -> f64 {
        Measure::from(self.primary_metric.measure).value(count, seconds_f64(seconds))
    }
}

impl Figures {
    fn new(types: usize) -> Self {
        Self {
            seconds: 0,
            types: vec![TypeInterval::default(); types],
            server: (0, 0.0),
            summary: None,
            series: Series { points: Vec::new(), width: 1, open: (0.0, 0) },
        }
    }

    /// All transaction types together.
    fn all(&self) -> TypeInterval {
        let mut all = TypeInterval::default();
        for seen in &self.types {
            all.add(seen);
        }
        all
    }

    fn take(&mut self, second: &Second, point: &Point) {
        self.seconds += point.seconds;
        for (mine, theirs) in self.types.iter_mut().zip(&second.interval.types) {
            mine.add(theirs);
        }
        if let Some(server) = second.server {
            self.server.0 += server.count;
            self.server.1 += server.seconds;
        }
        let each = rate(point.primary_metric, seconds_f64(point.seconds), 1);
        for _ in 0..point.seconds {
            self.series.push(each);
        }
        if second.phase == Phase::Window {
            self.summary = Some(summarise(&self.series.points));
        }
    }
}

impl Series {
    fn push(&mut self, value: f64) {
        self.open.0 += value;
        self.open.1 += 1;
        if self.open.1 == self.width {
            self.points.push(self.open.0 / seconds_f64(self.width));
            self.open = (0.0, 0);
        }
        if self.points.len() >= SERIES_MAX {
            self.points =
                self.points.chunks_exact(2).map(|pair| pair[0].midpoint(pair[1])).collect();
            self.width *= 2;
        }
    }
}

/// Merges the older half in pairs if there are too many points.
fn thin(course: &mut Vec<Point>) {
    if course.len() <= POINTS_MAX {
        return;
    }
    let newer = course.split_off(POINTS_MAX / 2);
    let merged = course.chunks(2).map(|pair| {
        let mut first = pair[0].clone();
        pair[1..].iter().for_each(|later| first.merge(later));
        first
    });
    *course = merged.collect();
    course.extend(newer);
}

impl Point {
    fn of(second: &Second, primary_metric: &PrimaryMetric) -> Self {
        let types = &second.interval.types;
        let seconds = second.seconds();
        Self {
            seconds,
            primary_metric: measure::counted(primary_metric, types),
            all: Values::of_second(second),
            types: Values::of_type(&second.total, seconds_f64(seconds)),
        }
    }

    /// Merges the following seconds into this point, by the rule of each metric.
    fn merge(&mut self, later: &Self) {
        let lengths = [self.seconds, later.seconds].map(seconds_f64);
        self.all.merge(&later.all, lengths);
        self.types.merge(&later.types, lengths);
        self.seconds += later.seconds;
        self.primary_metric += later.primary_metric;
    }

    /// The value of a declared metric.
    pub fn value(&self, metric: &Metric) -> Option<f64> {
        let is_of_all = OF_SECOND.iter().any(|declared| declared.name == metric.name);
        if is_of_all { &self.all } else { &self.types }.get(metric.name)
    }

    /// Number of completed transactions.
    fn completed(&self) -> u64 {
        self.types.count("committed") + self.types.count("rolled_back")
    }
}

#[expect(clippy::cast_precision_loss, reason = "seconds of a run")]
const fn seconds_f64(seconds: u64) -> f64 {
    seconds as f64
}

#[cfg(test)]
pub mod tests {
    use std::time::Duration;

    use triphammer_core::Elapsed;
    use triphammer_core::recorder::{RecordedInterval, histogram};
    use triphammer_document::parts::ServerTransactions;

    use super::*;

    /// Shares of the transaction types in percent.
    const SHARES: [u32; 5] = [45, 43, 4, 4, 4];

    /// A model of a run of ten seconds of ramp-up and five minutes.
    pub fn model() -> Model {
        let workload = triphammer_runner::describe("tproc-c").unwrap();
        let mut model = Model::blank("tproc-c on null:".into(), &workload, None);
        (model.users, model.plan) = (Some(4), Some((10, 300)));
        model
    }

    /// A second of the window.
    fn second() -> Second {
        let mut interval = RecordedInterval::new(0, SHARES.len());
        interval.types[0].counts.committed = 2;
        interval.types[1].counts.committed = 1;
        Second::new(interval, Phase::Window, None)
    }

    /// Feeds seconds into the model: 10 of ramp-up, the others in the window.
    pub fn pass(model: &mut Model, seconds: u64) {
        for at in 0..seconds {
            match at {
                0 => {
                    model.on_event(JobEvent::Run(&Event::Phase(Phase::RampUp, Elapsed::default())))
                }
                10 => model
                    .on_event(JobEvent::Run(&Event::Phase(Phase::Window, Elapsed::at_second(10)))),
                _ => {}
            }
            let mut interval = RecordedInterval::new(at, SHARES.len());
            interval.connected = 4;
            for (index, seen) in interval.types.iter_mut().enumerate() {
                let count = u64::from(SHARES[index]) * 4 + at * 7 % 11;
                seen.counts.committed = count;
                let mut times = histogram();
                times.record_n(1_000 + at * 37 % 900, count).unwrap();
                seen.response = Some(times);
            }
            interval.types[0].counts.rolled_back = 2;
            interval.types[1].counts.failed[0] = u64::from(at == 20);
            let phase = if at < 10 { Phase::RampUp } else { Phase::Window };
            let server = Some(ServerTransactions { count: 420, seconds: 1.0 });
            model.on_event(JobEvent::Second(&Second::new(interval, phase, server)));
        }
    }

    #[test]
    fn the_figures_are_of_the_window_alone_once_it_begins() {
        let mut model = model();
        pass(&mut model, 9);
        assert_eq!((model.figures.seconds, model.progress()), (9, Some((9, 10))));
        pass(&mut model, 13);
        assert_eq!((model.figures.seconds, model.progress()), (3, Some((3, 300))));
        let committed: u64 = (10..13).map(|at| 180 + at * 7 % 11).sum();
        assert!((model.first() - rate(committed, 3.0, 60)).abs() < 1e-9);
        assert_eq!(model.row(Some(0)).count("rolled_back"), 6);
        assert_eq!(model.tpm_server(), Some(25_200.0));
    }

    #[test]
    fn the_interval_comes_when_there_are_seconds_enough_and_gets_tighter() {
        let half = |seconds| {
            let mut model = model();
            pass(&mut model, seconds);
            model.figures.summary.and_then(|summary| summary.relative_half_width())
        };
        assert_eq!(half(30), None);
        assert!(half(300).unwrap() < half(100).unwrap());
    }

    #[test]
    fn a_day_takes_no_more_room_than_an_hour_and_loses_nothing() {
        let primary_metric = model().primary_metric;
        let mut course = Vec::new();
        let mut series = Series { points: Vec::new(), width: 1, open: (0.0, 0) };
        let mut point = Point::of(&second(), &primary_metric);
        for at in 0..86_400_u32 {
            point.types.set("p95_us", Some(f64::from(at)));
            course.push(point.clone());
            thin(&mut course);
            series.push(7.0);
        }
        assert!(course.len() <= POINTS_MAX && series.points.len() < SERIES_MAX);
        let all = course.into_iter().reduce(|mut all, later| {
            all.merge(&later);
            all
        });
        let (all, whole) = (all.unwrap(), Duration::from_secs(86_400).as_secs());
        assert_eq!(
            (all.seconds, all.completed(), all.primary_metric),
            (whole, 3 * whole, 2 * whole)
        );
        assert_eq!(all.types.count("p95_us"), whole - 1, "the worst second's");
        assert!(series.points.iter().all(|point| (point - 7.0).abs() < 1e-9));
    }

    #[test]
    fn the_next_run_of_a_campaign_begins_anew_and_the_runs_before_are_kept() {
        let mut model = model();
        model.campaign = Some(Campaign::default());
        pass(&mut model, 20);
        let step = triphammer_runner::step::PlannedRun {
            number: 1,
            target: 0,
            settings: Vec::new(),
            title: "8 virtual users".into(),
        };
        model.on_event(JobEvent::Step { step: &step, done: 1, of: Some(6) });
        assert!(model.course.is_empty() && model.whole.is_none() && model.phase.is_none());
        assert_eq!(model.figures.seconds, 0);
        let campaign = model.campaign.as_ref().unwrap();
        assert_eq!(campaign.current(), "run 2 of 6: 8 virtual users");
        model.on_event(JobEvent::StepRejected { step: &step, reason: "it cannot be" });
        model.on_event(JobEvent::Rest(Duration::from_secs(10)));
        assert_eq!(model.campaign.as_ref().unwrap().between(), "cool-down of 10s");
    }
}
