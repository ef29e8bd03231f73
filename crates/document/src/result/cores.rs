//! What each CPU of a host did in the timed window: a map of CPUs by time, and whether the work was spread evenly over
//! them. The map has a limited number of columns: a long run has columns of many seconds.
//!
//! The mean of all CPUs hides what one of them does: on 64 CPUs, one that is saturated is 1.6 % of them. The verdict
//! names the cause that the figures show:
//!
//! | cause | when |
//! |---|---|
//! | interrupts | one CPU handles most interrupts of the host ([`INTERRUPTS_OF_ALL`]), and they take [`INTERRUPTS_SHARE`] of its time |
//! | sessions | most working processes or threads of the server ([`SESSIONS_OF_ALL`]) ran on at most half of the CPUs, which are busy while the others are not |
//! | saturated | at most half of the CPUs were saturated in at least [`SATURATED_SECONDS`] of the seconds, while the others were not busy |

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_settings::format::{figure, percent};

/// Maximum number of CPUs of a host of which each is recorded.
pub const CPUS_MAX: usize = 256;
/// Maximum number of columns of a map.
pub const COLUMNS_MAX: usize = 180;
/// Maximum number of cells of a figure of a map: hosts with many CPUs have fewer columns.
pub const CELLS_MAX: usize = 12_288;
/// Share of its time above which a CPU is saturated.
pub const CPU_SATURATED: f64 = 0.9;
/// Minimum number of seconds for a verdict.
const SECONDS_MIN: u64 = 3;
/// Share of the seconds in which a CPU has to be saturated.
const SATURATED_SECONDS: f64 = 0.5;
/// Mean share of time up to which the other CPUs have room for more work.
const OTHERS_FREE: f64 = 0.6;
/// Share of a CPU's time in interrupts from which on they matter.
const INTERRUPTS_SHARE: f64 = 0.2;
/// Share of all interrupts that are most of them; more on a host with two CPUs.
const INTERRUPTS_OF_ALL: f64 = 0.6;
/// Multiple of an even share that one CPU has to have of all interrupts.
const INTERRUPTS_FACTOR: f64 = 1.6;
/// Share of the server's working tasks that is most of them.
const SESSIONS_OF_ALL: f64 = 0.9;
/// Minimum mean share of time in which CPUs with most of the sessions are busy.
const BUNCHED_BUSY: f64 = 0.7;
/// Minimum number of working tasks per CPU that compete for it.
const TASKS_PER_CPU: f64 = 1.5;

/// What a CPU did in a second, as shares of its time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CpuSecond {
    /// All modes but idle and waiting for a disk.
    pub busy: f64,
    /// Handling hardware interrupts.
    pub hard: f64,
    /// Handling software interrupts: most of the work for networks and disks.
    pub soft: f64,
    /// Frequency in Hz, where it is known.
    pub hz: Option<f64>,
    /// Processes or threads of the server that worked and were last on this CPU, where they are known.
    pub server_tasks: Option<f64>,
}

/// Where a CPU is, as far as the system says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuPlace {
    /// Number of its package (socket).
    pub package: Option<u32>,
    /// Number of its memory node.
    pub node: Option<u32>,
    /// Number of its core in the package.
    pub core: Option<u32>,
}

/// What each CPU of a host did in the timed window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CoreMap {
    /// Name of the host of a node exporter; `None` for the host of triphammer.
    pub host: Option<String>,
    /// Second of the run at which the first column begins.
    pub from_s: u64,
    /// Seconds per column: the smallest power of two that limits the number of columns.
    pub column_s: u64,
    /// The CPUs, by number.
    pub cpus: Vec<CpuRow>,
    /// Whether the work was spread evenly; `None` with one CPU or in a short window.
    pub balance: Option<CoreBalance>,
}

/// What a CPU did in the timed window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuRow {
    /// Number of the logical CPU.
    pub cpu: u32,
    /// Number of its package (socket).
    pub package: Option<u32>,
    /// Number of its memory node.
    pub node: Option<u32>,
    /// Number of its core in the package; threads of a core have the same.
    pub core: Option<u32>,
    /// Share of the time in which it was busy.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub busy: f64,
    /// Share of the time in which it handled hardware interrupts.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub hard: f64,
    /// Share of the time in which it handled software interrupts.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub soft: f64,
    /// Share of the seconds in which it was at least 90 % busy.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub saturated: f64,
    /// Mean frequency in MHz, where it is known.
    pub mhz: Option<f64>,
    /// Mean number of working processes or threads of the server that were last on it, where they are known.
    pub server_tasks: Option<f64>,
    /// The figures over time.
    pub columns: CpuColumns,
}

/// A CPU over time: a value per column, `None` where there is none. Lists of what a CPU never did are empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuColumns {
    /// Busy, in percent.
    pub busy: Vec<Option<u8>>,
    /// Hardware interrupts, in percent.
    pub hard: Vec<Option<u8>>,
    /// Software interrupts, in percent.
    pub soft: Vec<Option<u8>>,
    /// Frequency, in MHz.
    pub mhz: Vec<Option<u32>>,
    /// Working processes or threads of the server, rounded.
    pub server_tasks: Vec<Option<u32>>,
}

/// Whether the work of a host was spread evenly over its CPUs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CoreBalance {
    /// Why it was not; `None` if it was.
    pub uneven: Option<UnevenCause>,
    /// The CPUs that are the cause; empty if there is none.
    pub cpus: Vec<u32>,
    /// Reason in words, with figures.
    pub words: String,
    /// What to do next; `None` if there is nothing to do.
    pub advice: Option<String>,
}

/// Why the work was not spread evenly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UnevenCause {
    /// One CPU handles the interrupts of the host.
    Interrupts,
    /// The server's sessions ran on a part of the CPUs.
    Sessions,
    /// A part of the CPUs was saturated while the others had room.
    Saturated,
}

impl UnevenCause {
    const fn advice(self) -> &'static str {
        match self {
            Self::Interrupts => {
                "spread the interrupts of the network card or disk over more CPUs: irqbalance, more queues \
                 (ethtool -L), or receive packet steering (rps_cpus)"
            }
            Self::Sessions => {
                "see what binds the server to these CPUs: taskset -cp PID, AllowedCPUs= of its service, or the \
                 CPUs of its container"
            }
            Self::Saturated => {
                "see what runs there: ps -eLo psr,pcpu,comm --sort=-pcpu | head; a single thread cannot use \
                 the other CPUs"
            }
        }
    }
}

/// Sums over seconds of a CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Sums {
    seconds: u32,
    busy: f64,
    hard: f64,
    soft: f64,
    hz: (f64, u32),
    tasks: (f64, u32),
}

impl Sums {
    fn take(&mut self, of: &CpuSecond) {
        self.seconds += 1;
        self.busy += of.busy;
        self.hard += of.hard;
        self.soft += of.soft;
        for (sum, value) in [(&mut self.hz, of.hz), (&mut self.tasks, of.server_tasks)] {
            if let Some(value) = value {
                *sum = (sum.0 + value, sum.1 + 1);
            }
        }
    }

    fn add(&mut self, other: &Self) {
        self.seconds += other.seconds;
        self.busy += other.busy;
        self.hard += other.hard;
        self.soft += other.soft;
        self.hz = (self.hz.0 + other.hz.0, self.hz.1 + other.hz.1);
        self.tasks = (self.tasks.0 + other.tasks.0, self.tasks.1 + other.tasks.1);
    }

    fn mean(&self, read: impl Fn(&Self) -> f64) -> Option<f64> {
        (self.seconds > 0).then(|| (read(self) / f64::from(self.seconds)).clamp(0.0, 1.0))
    }

    fn hz(&self) -> Option<f64> {
        (self.hz.1 > 0).then(|| self.hz.0 / f64::from(self.hz.1))
    }

    fn tasks(&self) -> Option<f64> {
        (self.tasks.1 > 0).then(|| self.tasks.0 / f64::from(self.tasks.1))
    }
}

/// A CPU so far.
#[derive(Clone, Debug, Default, PartialEq)]
struct CpuSeen {
    whole: Sums,
    saturated: u32,
    columns: Vec<Sums>,
}

/// Makes a map from seconds in any order, in memory that does not grow with their number.
#[derive(Clone, Debug, PartialEq)]
pub struct CoreMapper {
    from_s: Option<u64>,
    column_s: u64,
    cpus: BTreeMap<u32, CpuSeen>,
}

impl Default for CoreMapper {
    fn default() -> Self {
        Self { from_s: None, column_s: 1, cpus: BTreeMap::new() }
    }
}

impl CoreMapper {
    /// Takes a second of the run, counted from its start. Seconds before the first one are ignored, as are CPUs beyond
    /// [`CPUS_MAX`].
    pub fn take(&mut self, second: u64, cpus: impl IntoIterator<Item = (u32, CpuSecond)>) {
        let from = *self.from_s.get_or_insert(second);
        let Some(passed) = second.checked_sub(from) else { return };
        for (number, of) in cpus {
            if !self.cpus.contains_key(&number) && self.cpus.len() >= CPUS_MAX {
                continue;
            }
            self.cpus.entry(number).or_default();
            let column = self.column_of(passed);
            let cpu = self.cpus.get_mut(&number).expect("it was just made");
            if cpu.columns.len() <= column {
                cpu.columns.resize(column + 1, Sums::default());
            }
            cpu.columns[column].take(&of);
            cpu.whole.take(&of);
            cpu.saturated += u32::from(of.busy >= CPU_SATURATED);
        }
    }

    /// The column of a second after the first; makes columns wider until it is there.
    fn column_of(&mut self, passed: u64) -> usize {
        let most = (CELLS_MAX / self.cpus.len().max(1)).clamp(1, COLUMNS_MAX) as u64;
        while passed / self.column_s >= most {
            self.column_s *= 2;
            for cpu in self.cpus.values_mut() {
                let halves = std::mem::take(&mut cpu.columns);
                cpu.columns = halves.chunks(2).map(together).collect();
            }
        }
        usize::try_from(passed / self.column_s).expect("less than the maximum number of columns")
    }

    /// The map; `None` without a second.
    #[must_use]
    pub fn finish(self, host: Option<String>, places: &BTreeMap<u32, CpuPlace>) -> Option<CoreMap> {
        let from_s = self.from_s.filter(|_| !self.cpus.is_empty())?;
        let seconds = self.cpus.values().map(|cpu| u64::from(cpu.whole.seconds)).max().unwrap_or(0);
        let place = |number: &u32| places.get(number).copied().unwrap_or_default();
        let columns = self.cpus.values().map(|cpu| cpu.columns.len()).max().unwrap_or(0);
        let row = |(number, cpu): (&u32, &CpuSeen)| cpu.row(*number, place(number), columns);
        let cpus: Vec<CpuRow> = self.cpus.iter().map(row).collect();
        let balance = (seconds >= SECONDS_MIN).then(|| CoreBalance::of(&cpus)).flatten();
        Some(CoreMap { host, from_s, column_s: self.column_s, cpus, balance })
    }
}

fn together(of: &[Sums]) -> Sums {
    let mut sum = of[0];
    of[1..].iter().for_each(|other| sum.add(other));
    sum
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of at most 1")]
fn percent_of(share: f64) -> u8 {
    (share * 100.0).round() as u8
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
fn rounded(number: f64) -> u32 {
    number.round() as u32
}

impl CpuSeen {
    fn row(&self, cpu: u32, place: CpuPlace, columns: usize) -> CpuRow {
        let mut all = self.columns.clone();
        all.resize(columns, Sums::default());
        let percents = |read: fn(&Sums) -> f64| -> Vec<Option<u8>> {
            all.iter().map(|sums| sums.mean(read).map(percent_of)).collect()
        };
        let unless_never = |list: Vec<Option<u8>>| match list.iter().flatten().all(|of| *of == 0) {
            true => Vec::new(),
            false => list,
        };
        let numbers = |read: fn(&Sums) -> Option<f64>| -> Vec<Option<u32>> {
            let list: Vec<_> = all.iter().map(|sums| read(sums).map(rounded)).collect();
            if list.iter().flatten().all(|of| *of == 0) { Vec::new() } else { list }
        };
        let whole = &self.whole;
        let mean = |read: fn(&Sums) -> f64| whole.mean(read).unwrap_or_default();
        CpuRow {
            cpu,
            package: place.package,
            node: place.node,
            core: place.core,
            busy: mean(|of| of.busy),
            hard: mean(|of| of.hard),
            soft: mean(|of| of.soft),
            saturated: f64::from(self.saturated) / f64::from(whole.seconds.max(1)),
            mhz: whole.hz().map(|hz| hz / 1e6),
            server_tasks: whole.tasks(),
            columns: CpuColumns {
                busy: percents(|of| of.busy),
                hard: unless_never(percents(|of| of.hard)),
                soft: unless_never(percents(|of| of.soft)),
                mhz: numbers(|of| of.hz().map(|hz| hz / 1e6)),
                server_tasks: numbers(Sums::tasks),
            },
        }
    }
}

impl CoreMap {
    /// Number of columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.cpus.iter().map(|cpu| cpu.columns.busy.len()).max().unwrap_or(0)
    }

    /// The host, as the verdict names it.
    #[must_use]
    pub fn of_host(&self) -> String {
        self.host.as_ref().map_or_else(|| "this host".to_owned(), Clone::clone)
    }

    /// The verdict, if the work was not spread evenly.
    #[must_use]
    pub fn uneven(&self) -> Option<&CoreBalance> {
        self.balance.as_ref().filter(|balance| balance.uneven.is_some())
    }
}

/// Mean of a figure over some CPUs; 0 of none.
#[expect(clippy::cast_precision_loss, reason = "a number of CPUs")]
fn mean<'a>(cpus: impl Iterator<Item = &'a CpuRow> + Clone, read: fn(&CpuRow) -> f64) -> f64 {
    let count = cpus.clone().count().max(1) as f64;
    cpus.map(read).sum::<f64>() / count
}

impl CoreBalance {
    /// Judges the CPUs of a host; `None` if it has one.
    fn of(cpus: &[CpuRow]) -> Option<Self> {
        if cpus.len() < 2 {
            return None;
        }
        let found = interrupts(cpus).or_else(|| sessions(cpus)).or_else(|| saturated(cpus));
        Some(found.unwrap_or_else(|| {
            let busiest =
                cpus.iter().max_by(|a, b| a.busy.total_cmp(&b.busy)).expect("two or more");
            let words = format!(
                "the CPUs were {} busy on average, the busiest (CPU {}) {}",
                percent(mean(cpus.iter(), |cpu| cpu.busy)),
                busiest.cpu,
                percent(busiest.busy)
            );
            Self { uneven: None, cpus: Vec::new(), words, advice: None }
        }))
    }

    fn uneven(cause: UnevenCause, cpus: Vec<u32>, words: String) -> Self {
        Self { uneven: Some(cause), cpus, words, advice: Some(cause.advice().to_owned()) }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a number of CPUs")]
fn interrupts(cpus: &[CpuRow]) -> Option<CoreBalance> {
    let share = |cpu: &CpuRow| cpu.hard + cpu.soft;
    let all: f64 = cpus.iter().map(share).sum();
    let most = cpus.iter().max_by(|a, b| share(a).total_cmp(&share(b)))?;
    let of_all = share(most) / all.max(f64::MIN_POSITIVE);
    let enough = (INTERRUPTS_FACTOR / cpus.len() as f64).max(INTERRUPTS_OF_ALL);
    (share(most) >= INTERRUPTS_SHARE && of_all >= enough).then(|| {
        let words = format!(
            "CPU {} spent {} of its time in interrupts (hardware {}, software {}): {} of those of all CPUs",
            most.cpu,
            percent(share(most)),
            percent(most.hard),
            percent(most.soft),
            percent(of_all)
        );
        CoreBalance::uneven(UnevenCause::Interrupts, vec![most.cpu], words)
    })
}

/// The smallest set of CPUs that has most of the server's tasks, if it is at most half of them, and busy.
#[expect(clippy::cast_precision_loss, reason = "a number of CPUs")]
fn sessions(cpus: &[CpuRow]) -> Option<CoreBalance> {
    let tasks = |cpu: &CpuRow| cpu.server_tasks.unwrap_or_default();
    let all: f64 = cpus.iter().map(tasks).sum();
    let mut by_tasks: Vec<&CpuRow> = cpus.iter().collect();
    by_tasks.sort_by(|a, b| tasks(b).total_cmp(&tasks(a)));
    let mut sum = 0.0;
    let enough = by_tasks.iter().position(|cpu| {
        sum += tasks(cpu);
        all > 0.0 && sum >= SESSIONS_OF_ALL * all
    })?;
    let (on, others) = by_tasks.split_at(enough + 1);
    let [busy, free] = [on, others].map(|of| mean(of.iter().copied(), |cpu| cpu.busy));
    let is_bunched = on.len() * 2 <= cpus.len()
        && sum >= TASKS_PER_CPU * on.len() as f64
        && busy >= BUNCHED_BUSY
        && free <= OTHERS_FREE;
    is_bunched.then(|| {
        let numbers = sorted(on);
        let words = format!(
            "{} of the server's working tasks ({} on average) ran on {}, {} busy, while the other CPUs \
             were {} busy",
            percent(sum / all),
            figure(all),
            named(&numbers),
            percent(busy),
            percent(free)
        );
        CoreBalance::uneven(UnevenCause::Sessions, numbers, words)
    })
}

fn saturated(cpus: &[CpuRow]) -> Option<CoreBalance> {
    let (on, others): (Vec<&CpuRow>, Vec<&CpuRow>) =
        cpus.iter().partition(|cpu| cpu.saturated >= SATURATED_SECONDS);
    let free = mean(others.iter().copied(), |cpu| cpu.busy);
    if on.is_empty() || on.len() * 2 > cpus.len() || free > OTHERS_FREE {
        return None;
    }
    let numbers = sorted(&on);
    let words = format!(
        "{} {} {} busy, while the {} {} busy",
        named(&numbers),
        if numbers.len() == 1 { "was" } else { "were" },
        percent(mean(on.iter().copied(), |cpu| cpu.busy)),
        if others.len() == 1 { "other was" } else { "others were" },
        percent(free)
    );
    Some(CoreBalance::uneven(UnevenCause::Saturated, numbers, words))
}

fn sorted(cpus: &[&CpuRow]) -> Vec<u32> {
    let mut numbers: Vec<u32> = cpus.iter().map(|cpu| cpu.cpu).collect();
    numbers.sort_unstable();
    numbers
}

fn named(numbers: &[u32]) -> String {
    match numbers {
        [one] => format!("CPU {one}"),
        more => format!("CPUs {}", ranges(more)),
    }
}

/// Formats sorted numbers as Linux does: `0-3,8`.
#[must_use]
pub fn ranges(numbers: &[u32]) -> String {
    let mut parts: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match parts.last_mut() {
            Some((_, last)) if *last + 1 == *number => *last = *number,
            _ => parts.push((*number, *number)),
        }
    }
    let text = |(first, last): (u32, u32)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    parts.into_iter().map(text).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn busy(busy: f64) -> CpuSecond {
        CpuSecond { busy, ..CpuSecond::default() }
    }

    /// The map of CPUs that do the same in every second.
    fn map_of(seconds: u64, cpus: &[CpuSecond]) -> CoreMap {
        let mut mapper = CoreMapper::default();
        for second in 10..10 + seconds {
            mapper.take(second, (0..).zip(cpus.iter().copied()));
        }
        mapper.finish(None, &BTreeMap::new()).unwrap()
    }

    fn cause(cpus: &[CpuSecond]) -> Option<UnevenCause> {
        map_of(20, cpus).balance.unwrap().uneven
    }

    #[test]
    fn a_long_run_has_wider_columns_with_the_same_means() {
        let mut mapper = CoreMapper::default();
        for second in 0..43_200_u64 {
            let of = |cpu: u32| busy(if second < 21_600 && cpu == 3 { 1.0 } else { 0.25 });
            mapper.take(second, (0..64).map(|cpu| (cpu, of(cpu))));
        }
        let map = mapper.finish(None, &BTreeMap::new()).unwrap();
        assert_eq!((map.cpus.len(), map.column_s, map.columns()), (64, 256, 169));
        let row = &map.cpus[3];
        assert!((row.busy - 0.625).abs() < 1e-9 && (row.saturated - 0.5).abs() < 1e-9, "{row:?}");
        assert_eq!((row.columns.busy[0], row.columns.busy[168]), (Some(100), Some(25)));
        assert!(row.columns.hard.is_empty() && row.columns.mhz.is_empty(), "it never did");
    }

    #[test]
    fn seconds_without_a_value_are_gaps_and_hosts_with_many_cpus_have_fewer_columns() {
        let mut mapper = CoreMapper::default();
        for second in [5, 6, 9] {
            mapper.take(second, [(0, busy(0.5)), (7, busy(0.1))]);
        }
        let map = mapper.finish(Some("db1".into()), &BTreeMap::new()).unwrap();
        let expected = [Some(50), Some(50), None, None, Some(50)];
        assert_eq!((map.from_s, &map.cpus[0].columns.busy[..]), (5, &expected[..]));
        let wide: Vec<CpuSecond> = vec![busy(0.1); 300];
        let map = map_of(1_000, &wide);
        assert_eq!((map.cpus.len(), map.columns()), (CPUS_MAX, 1_000_usize.div_ceil(32)));
    }

    #[test]
    fn one_saturated_cpu_is_uneven_and_all_are_not() {
        assert_eq!(cause(&[busy(0.1), busy(1.0)]), Some(UnevenCause::Saturated));
        assert_eq!(cause(&[busy(0.95), busy(1.0)]), None, "no room");
        assert_eq!(cause(&[busy(0.3), busy(0.5), busy(0.4)]), None);
        let map = map_of(20, &[busy(0.1), busy(0.99), busy(0.2)]);
        let verdict = map.uneven().unwrap();
        assert_eq!(verdict.words, "CPU 1 was 99 % busy, while the others were 15 % busy");
        assert_eq!(verdict.cpus, [1]);
        assert!(map_of(2, &[busy(0.1), busy(1.0)]).balance.is_none(), "too short");
        assert!(map_of(20, &[busy(1.0)]).balance.is_none(), "one CPU");
    }

    #[test]
    fn interrupts_on_one_cpu_are_named_apart() {
        let with = |hard, soft| CpuSecond { busy: 0.5, hard, soft, ..CpuSecond::default() };
        let cpus = [with(0.05, 0.3), with(0.0, 0.02), with(0.0, 0.01), with(0.0, 0.0)];
        assert_eq!(cause(&cpus), Some(UnevenCause::Interrupts));
        assert_eq!(cause(&[with(0.1, 0.2), with(0.1, 0.15)]), None, "both handle them");
        assert_eq!(cause(&[with(0.0, 0.05), with(0.0, 0.0)]), None, "they take little time");
    }

    #[test]
    fn sessions_on_half_of_the_cpus_are_bunched() {
        let with =
            |busy, tasks| CpuSecond { busy, server_tasks: Some(tasks), ..CpuSecond::default() };
        let bunched = [with(0.95, 4.0), with(0.9, 4.0), with(0.1, 0.0), with(0.1, 0.2)];
        let map = map_of(20, &bunched);
        let verdict = map.uneven().unwrap();
        assert_eq!((verdict.uneven, &verdict.cpus[..]), (Some(UnevenCause::Sessions), &[0, 1][..]));
        assert!(verdict.words.contains("ran on CPUs 0-1, 92.5 % busy"), "{}", verdict.words);
        let spread = [with(0.5, 2.0), with(0.5, 2.0), with(0.5, 2.0), with(0.4, 2.0)];
        assert_eq!(cause(&spread), None);
        let one_thread = [with(0.95, 1.0), with(0.1, 0.0), with(0.1, 0.0)];
        assert_eq!(
            cause(&one_thread),
            Some(UnevenCause::Saturated),
            "one task has no others beside it"
        );
    }

    #[test]
    fn numbers_of_cpus_are_ranges() {
        assert_eq!(ranges(&[0, 1, 2, 5, 8, 9]), "0-2,5,8-9");
        assert_eq!(ranges(&[]), "");
    }
}
