//! What the view shows of a run: plain data, of bounded size however long the run is.

use std::collections::VecDeque;

use triphammer_core::event::{Event, Phase};
use triphammer_core::outcome::Counts;
use triphammer_core::recorder::{TypeInterval, histogram};
use triphammer_core::spec::{Length, RunSpec};
use triphammer_core::stats::{Times, rate, share};
use triphammer_core::workload::{Description, Headline, TransactionDef};
use triphammer_runner::second::Second;
use triphammer_statistics::series::{Summary, summarise};

/// Points of a chart; when there are more, the older half is merged in pairs.
const POINTS_MAX: usize = 600;
/// Points that the interval of the mean is made of; when there are more, all are merged in pairs.
const SERIES_MAX: usize = 1800;
/// Seconds that "now" looks back.
const RECENT_SECONDS: usize = 5;

/// A run, as far as it is known.
#[derive(Debug)]
pub struct Model {
    /// What runs where.
    pub title: String,
    /// The workload's first figure.
    pub headline: Headline,
    /// The workload's transaction types.
    pub transactions: Vec<TransactionDef>,
    /// Virtual users.
    pub users: u32,
    /// Seconds of ramp-up and window; `None` when the length is a number of transactions.
    pub plan: Option<(u64, u64)>,
    /// Sessions open, and to be opened.
    pub connecting: Option<(u32, u32)>,
    /// The phase, and the second at which it began.
    pub phase: Option<(Phase, u64)>,
    /// Seconds since the run's zero.
    pub elapsed_s: u64,
    /// What the figures are of: the ramp-up, then the window and nothing else.
    pub figures: Figures,
    /// The last seconds.
    pub recent: VecDeque<Point>,
    /// The whole run.
    pub course: Vec<Point>,
    /// Gauges of the last second.
    pub gauges: Gauges,
    /// Sessions lost and reconnected in the whole run.
    pub lost: (u64, u64),
    /// Grows with every change.
    pub revision: u64,
}

/// Counted over a phase.
#[derive(Debug)]
pub struct Figures {
    /// How long.
    pub seconds: u64,
    /// By transaction type.
    pub types: Vec<TypeInterval>,
    /// Growth of the database's own counter, and the seconds that it took.
    pub server: (u64, f64),
    /// What the first figure's seconds say.
    pub summary: Option<Summary>,
    series: Series,
}

/// The first figure's seconds, the older ones in pairs of pairs.
#[derive(Debug)]
struct Series {
    points: Vec<f64>,
    /// Seconds of a point.
    width: u64,
    open: (f64, u64),
}

/// A second, or several.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// How many.
    pub seconds: u64,
    /// Transactions of the first figure.
    pub headline: u64,
    /// Transactions completed.
    pub completed: u64,
    /// 95th percentile of the response times of all types, µs; the worst second's.
    pub p95_us: u64,
}

/// What limited the run in its last second.
#[derive(Clone, Copy, Debug, Default)]
pub struct Gauges {
    /// Sessions connected.
    pub connected: u32,
    /// Share of a core that the busiest worker thread used.
    pub busiest: f64,
    /// 99th percentile of the scheduling lag, µs; `None` where nobody measures it.
    pub lag_us: Option<u64>,
    /// Share of the host's CPUs; `None` where it cannot be read.
    pub host: Option<f64>,
}

/// A row of the table.
#[derive(Clone, Debug)]
pub struct Row {
    /// Counters.
    pub counts: Counts,
    /// Completed ones a minute.
    pub per_minute: f64,
    /// Response times of committed ones.
    pub times: Times,
}

impl Model {
    /// A run that has not begun.
    pub fn new(title: String, spec: &RunSpec, workload: &Description) -> Self {
        let transactions = workload.transactions.clone();
        let plan = match spec.length {
            Length::Time(longest) => Some((spec.rampup.as_secs(), longest.as_secs())),
            Length::Transactions(_) => None,
        };
        Self {
            title,
            headline: workload.headline.clone(),
            figures: Figures::new(transactions.len()),
            transactions,
            users: spec.users,
            plan,
            connecting: None,
            phase: None,
            elapsed_s: 0,
            recent: VecDeque::new(),
            course: Vec::new(),
            gauges: Gauges::default(),
            lost: (0, 0),
            revision: 0,
        }
    }

    /// Hears an event.
    pub fn event(&mut self, event: &Event) {
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
        self.revision += 1;
    }

    /// Hears of a second.
    pub fn second(&mut self, second: &Second) {
        let interval = &second.interval;
        self.elapsed_s = interval.last + 1;
        let point = Point {
            seconds: second.seconds(),
            headline: (self.headline.transactions.iter())
                .map(|index| interval.types[*index].counts.committed)
                .sum(),
            completed: second.total.counts.completed(),
            p95_us: Times::of(second.total.response.as_ref(), None).p95_us,
        };
        if matches!(second.phase, Phase::RampUp | Phase::Window) {
            self.figures.take(second, point);
        }
        self.recent.push_back(point);
        if self.recent.len() > RECENT_SECONDS {
            self.recent.pop_front();
        }
        self.course.push(point);
        thin(&mut self.course);
        let gauges = &interval.gauges;
        self.gauges = Gauges {
            connected: interval.connected,
            busiest: gauges.busiest_share(),
            lag_us: gauges.lag.as_ref().map(|lag| Times::of(Some(lag), None).p99_us),
            host: gauges.host.share(),
        };
        self.lost.0 += interval.lost;
        self.lost.1 += interval.reconnected;
        self.revision += 1;
    }

    /// The first figure over the phase.
    pub fn first(&self) -> f64 {
        let counts = self.headline.transactions.iter().map(|i| &self.figures.types[*i].counts);
        self.of_headline(counts.map(|counts| counts.committed).sum(), self.figures.seconds)
    }

    /// Transactions completed per minute over the phase.
    pub fn tpm(&self) -> f64 {
        self.row(None).per_minute
    }

    /// The same by the database's own counter.
    pub fn tpm_server(&self) -> Option<f64> {
        let (count, seconds) = self.figures.server;
        (seconds > 0.0).then(|| rate(count, seconds, 60))
    }

    /// The first figure and TPM over the last seconds.
    pub fn now(&self) -> (f64, f64) {
        let sum = |of: fn(&Point) -> u64| self.recent.iter().map(of).sum::<u64>();
        let seconds = sum(|point| point.seconds);
        let tpm = rate(sum(|point| point.completed), seconds_f64(seconds), 60);
        (self.of_headline(sum(|point| point.headline), seconds), tpm)
    }

    /// A row of the table: of a transaction type, or of all.
    pub fn row(&self, transaction: Option<usize>) -> Row {
        let mut all = TypeInterval::default();
        let seen = match transaction {
            Some(index) => &self.figures.types[index],
            None => {
                for seen in &self.figures.types {
                    all.counts.add(&seen.counts);
                    if let Some(times) = &seen.response {
                        let merged = all.response.get_or_insert_with(histogram);
                        merged.add(times).expect("all have the same bounds");
                    }
                }
                &all
            }
        };
        Row {
            counts: seen.counts.clone(),
            per_minute: rate(seen.counts.completed(), seconds_f64(self.figures.seconds), 60),
            times: Times::of(seen.response.as_ref(), None),
        }
    }

    /// Failed and in doubt, of all that ended in the phase.
    pub fn failures(&self) -> f64 {
        let counts = self.row(None).counts;
        share(counts.failures() + counts.in_doubt, counts.ended())
    }

    /// Seconds of the phase that have passed, and all of them where the clock ends it.
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

    fn of_headline(&self, count: u64, seconds: u64) -> f64 {
        rate(count, seconds_f64(seconds), self.headline.per_seconds)
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

    fn take(&mut self, second: &Second, point: Point) {
        self.seconds += point.seconds;
        for (mine, theirs) in self.types.iter_mut().zip(&second.interval.types) {
            mine.add(theirs);
        }
        if let Some(server) = second.server {
            self.server.0 += server.count;
            self.server.1 += server.seconds;
        }
        let each = rate(point.headline, seconds_f64(point.seconds), 1);
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

/// Merges the older half in pairs when there are too many.
fn thin(course: &mut Vec<Point>) {
    if course.len() <= POINTS_MAX {
        return;
    }
    let newer = course.split_off(POINTS_MAX / 2);
    *course =
        course.chunks(2).map(|pair| pair.iter().fold(Point::default(), Point::with)).collect();
    course.extend(newer);
}

impl Point {
    fn with(self, later: &Self) -> Self {
        Self {
            seconds: self.seconds + later.seconds,
            headline: self.headline + later.headline,
            completed: self.completed + later.completed,
            p95_us: self.p95_us.max(later.p95_us),
        }
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
    use triphammer_core::recorder::RecordedInterval;
    use triphammer_runner::result::ServerTransactions;

    use super::*;

    /// Shares of the transaction types in percent.
    const SHARES: [u32; 5] = [45, 43, 4, 4, 4];

    /// A model of a run of ten seconds of ramp-up and five minutes.
    pub fn model() -> Model {
        let plan = Some((10, 300));
        let (figures, gauges) = (Figures::new(SHARES.len()), Gauges::default());
        let workload = triphammer_runner::describe("tproc-c").unwrap();
        Model {
            title: "tproc-c on null:".into(),
            headline: workload.headline.clone(),
            transactions: workload.transactions.clone(),
            users: 4,
            plan,
            connecting: None,
            phase: None,
            elapsed_s: 0,
            figures,
            recent: VecDeque::new(),
            course: Vec::new(),
            gauges,
            lost: (0, 0),
            revision: 0,
        }
    }

    /// Lets seconds pass: 10 of ramp-up, the others in the window.
    pub fn pass(model: &mut Model, seconds: u64) {
        for at in 0..seconds {
            match at {
                0 => model.event(&Event::Phase(Phase::RampUp, Elapsed::default())),
                10 => model.event(&Event::Phase(Phase::Window, Elapsed::at_second(10))),
                _ => {}
            }
            let mut interval = RecordedInterval::new(at, SHARES.len());
            interval.connected = 4;
            for (index, seen) in interval.types.iter_mut().enumerate() {
                let count = SHARES[index] * 4 + u32::try_from(at * 7 % 11).unwrap();
                seen.counts.committed = count.into();
                let mut times = histogram();
                times.record_n(1_000 + at * 37 % 900, count).unwrap();
                seen.response = Some(times);
            }
            interval.types[0].counts.rolled_back = 2;
            interval.types[1].counts.failed[0] = u64::from(at == 20);
            let phase = if at < 10 { Phase::RampUp } else { Phase::Window };
            let server = Some(ServerTransactions { count: 420, seconds: 1.0 });
            model.second(&Second::new(interval, phase, server));
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
        assert_eq!(model.row(Some(0)).counts.rolled_back, 6);
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
        let mut course = Vec::new();
        let mut series = Series { points: Vec::new(), width: 1, open: (0.0, 0) };
        for second in 0..86_400_u64 {
            course.push(Point { seconds: 1, headline: 2, completed: 3, p95_us: second });
            thin(&mut course);
            series.push(7.0);
        }
        assert!(course.len() <= POINTS_MAX && series.points.len() < SERIES_MAX);
        let all = course.iter().fold(Point::default(), Point::with);
        let whole = Duration::from_secs(86_400).as_secs();
        assert_eq!((all.seconds, all.completed, all.p95_us), (whole, 3 * whole, whole - 1));
        assert!(series.points.iter().all(|point| (point - 7.0).abs() < 1e-9));
    }
}
