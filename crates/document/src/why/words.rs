//! The sentences of `why`.

use triphammer_settings::format::{figure, percent};
use triphammer_statistics::Interval;
use triphammer_statistics::causes::DROP_MIN;

use super::document::{Basis, Cause, CauseFigures, Evidence, Lock, WhyResult};
use super::evidence::{
    AUTOVACUUM, CHECKPOINTS, DISK_QUEUE, MISSES, OTHER_CPU, OWN_WRITES, ROW_LOCKS, STEAL,
};
use crate::result::{Bottleneck, CHECKPOINTS_FREQUENT, SPACE_CHECKPOINTS, STOP_OTHERS, WaitClass};

/// Share of a cause's change from which on a statement, event or blocker is named with it.
const MOSTLY: f64 = 0.5;
/// What can slow every session, and from which mean on it is the cause of their waits: CPUs that
/// others use, the share of CPU time that the hypervisor takes, workers of autovacuum.
const OUTSIDE: [(&str, f64); 3] = [(OTHER_CPU, 0.5), (STEAL, 0.15), (AUTOVACUUM, 0.5)];
/// Ratio to the rest from which on it is.
const MUCH_MORE: f64 = 3.0;
/// Share of blocks that are not in memory from which on they are the cause of waits for the disk.
const MISSES_MUCH: f64 = 0.05;
/// Maximum number of sentences about what to try next.
const NEXT_MAX: usize = 4;

/// What to try next in situations that no class of wait describes.
const END_FOREIGN: &str =
    "another program's session holds the lock: let it commit, end it, or run it at another time";
const MOVE_VACUUM: &str = "autovacuum competes with the run: let it start earlier and work in smaller steps, or vacuum \
     before the run";
const ADD_MEMORY: &str = "the data in use does not fit in the server's memory: raise shared_buffers, \
     innodb_buffer_pool_size or max server memory, or use less data";
const SHOW_LOCKS: &str =
    "the user may not see who holds the locks: GRANT PROCESS ON *.* TO it, and run again";
const ASK_HYPERVISOR: &str = "the hypervisor gives the CPUs to others: use a dedicated host";

/// The main cause with its evidence.
pub(super) fn of(why: &WhyResult, limit: Bottleneck) -> String {
    let Some(cause) = main(why) else { return nothing(why) };
    let mut parts: Vec<String> = origin(why, cause).map(circumstances).into_iter().collect();
    parts.push(lead(why, cause));
    parts.extend(holder(why, cause));
    parts.extend(statement(why, cause));
    parts.extend(circumstance(why, cause));
    let sentence = parts.join("; ");
    let is_elsewhere = matches!(limit, Bottleneck::Load | Bottleneck::Client | Bottleneck::Network);
    match why.basis == Basis::Window && is_elsewhere {
        true => {
            format!("{} limited the run; at the database: {sentence}", capital(&why.limited_by))
        }
        false => capital(&sentence),
    }
}

/// The greatest increase.
fn main(why: &WhyResult) -> Option<&Cause> {
    let mut more = why.waits.causes.iter().filter(|cause| cause.figures.excess_sessions > 0.0);
    // What the sessions wait for in the client is not a cause in the database.
    more.clone().find(|cause| cause.class != WaitClass::Client).or_else(|| more.next())
}

fn nothing(why: &WhyResult) -> String {
    if let Some(of) = outside(why).filter(|_| is_slower(why)) {
        return format!(
            "{}; no wait of the database needed more time per transaction: a session that gets no \
             CPU for its next statement is not active yet",
            capital(&circumstances(of))
        );
    }
    match (&why.rest, &why.notes.first()) {
        (_, Some(note)) => format!(
            "No wait of the database explains the stretch: its sessions did not need more time per \
             transaction; {}",
            note.text
        ),
        (Some(_), None) => "No cause is certain: no wait needed more time per transaction in the \
                            stretch than chance explains"
            .to_owned(),
        (None, None) => {
            "No cause is certain: sessions of the run were seldom or not steadily active \
                         at the database"
                .to_owned()
        }
    }
}

/// `row locks on warehouse (mostly Lock:tuple): 8.1 ms per transaction more (7.2 to 9.0), 62 % of
/// active-session time`.
fn lead(why: &WhyResult, cause: &Cause) -> String {
    let locks = locks(why, cause);
    let is_first = |lock: &Lock| session(lock) == session(locks[0]);
    let object = locks.iter().find(|lock| is_first(lock) && !lock.object.is_empty());
    let object = object.map_or_else(String::new, |lock| format!(" on `{}`", lock.object));
    format!("{}{object}: {}", title(cause), clause(&cause.figures))
}

/// Title of a cause, with the event that is the most of it.
fn title(cause: &Cause) -> String {
    let most = cause.events.first().filter(|event| {
        let is_most = event.figures.excess_sessions >= MOSTLY * cause.figures.excess_sessions;
        is_most && !event.wait.is_empty()
    });
    let most = most.map_or_else(String::new, |event| format!(" ({})", event.wait));
    format!("{}{most}", cause.class.title())
}

/// `8.1 ms per transaction more (7.2 to 9.0), 62 % of active-session time`.
fn clause(of: &CauseFigures) -> String {
    let size = match (of.change_ms, of.change_ms_interval, of.sessions_rest) {
        (Some(ms), Some(interval), None) => {
            format!("{} ms per transaction ({})", figure(ms), ends(interval))
        }
        (Some(ms), Some(interval), Some(_)) => {
            let more = if ms < 0.0 { "less" } else { "more" };
            format!("{} ms per transaction {more} ({})", figure(ms.abs()), ends(interval))
        }
        (ms, ..) => {
            let interval = ends(of.excess_sessions_interval);
            let more = if of.sessions_rest.is_some() { " more" } else { "" };
            let none = if ms.is_none() { ", and nothing was committed" } else { "" };
            format!("{} sessions{more} ({interval}){none}", figure(of.excess_sessions.abs()))
        }
    };
    format!("{size}, {} of active-session time", percent(of.share))
}

/// The ends of an interval of a change, without its sign.
fn ends(interval: Interval) -> String {
    let (low, high) = match interval.high < 0.0 {
        true => (-interval.high, -interval.low),
        false => (interval.low, interval.high),
    };
    let end = |value: f64| match value < 0.0 {
        true => format!("-{}", figure(-value)),
        false => figure(value),
    };
    format!("{} to {}", end(low), end(high))
}

/// Who blocked sessions, if the cause is a lock: most blocked first, those of other programs first
/// if they blocked a good part.
fn locks<'a>(why: &'a WhyResult, cause: &Cause) -> Vec<&'a Lock> {
    if !matches!(cause.class, WaitClass::RowLock | WaitClass::Lock) {
        return Vec::new();
    }
    let all: f64 = why.locks.iter().map(|lock| lock.blocked).sum();
    let mut found: Vec<&Lock> = why.locks.iter().collect();
    let is_main = |lock: &Lock| lock.is_foreign && blocked_by(why, lock) >= all / 3.0;
    found.sort_by(|a, b| blocked_by(why, b).total_cmp(&blocked_by(why, a)));
    found.sort_by_key(|lock| !is_main(lock));
    found
}

/// How many sessions the blocker blocked, whatever it had locked.
fn blocked_by(why: &WhyResult, lock: &Lock) -> f64 {
    why.locks.iter().filter(|of| session(of) == session(lock)).map(|of| of.blocked).sum()
}

/// What tells blockers apart: the number, because the state of a session changes. Those of the run
/// have none, and begin with the same word.
fn session(lock: &Lock) -> &str {
    lock.blocker.split(' ').next().unwrap_or_default()
}

fn holder(why: &WhyResult, cause: &Cause) -> Option<String> {
    let lock = *locks(why, cause).first()?;
    let blocked = figure(blocked_by(why, lock));
    if !lock.is_foreign {
        return Some(format!(
            "the run's own sessions held the locks and blocked {blocked} of its sessions"
        ));
    }
    let last = match lock.statement.is_empty() {
        true => String::new(),
        false => format!(", last statement `{}`", lock.statement),
    };
    let (number, who) = lock.blocker.split_once(' ').unwrap_or(("", &lock.blocker));
    Some(format!(
        "session {number} of another program ({who}{last}) held the lock and blocked {blocked} \
         sessions"
    ))
}

/// The statement in which most of the time was spent.
fn statement(why: &WhyResult, cause: &Cause) -> Option<String> {
    let top = why.waits.statements.first()?;
    let is_most = top.figures.excess_sessions >= MOSTLY * cause.figures.excess_sessions;
    let share = percent(top.figures.share);
    is_most.then(|| format!("mostly in `{}` ({share} of active-session time)", top.statement))
}

/// Whether notably fewer transactions were committed than in the rest.
fn is_slower(why: &WhyResult) -> bool {
    let rest = why.rest.as_ref().map_or(0.0, |rest| rest.committed_per_second);
    why.stretch.committed_per_second <= (1.0 - DROP_MIN) * rest
}

/// What began outside of the run and explains the waits of its sessions, whatever these wait for:
/// who holds a lock or syncs the log for others needs a CPU too. Only beside a rest in which there
/// was much less of it, and if it explains most of the loss of throughput.
fn outside(why: &WhyResult) -> Option<&Evidence> {
    let is_much = |of: &&Evidence, least: f64| {
        let is_more = |rest| of.here >= least && of.here >= MUCH_MORE * rest;
        of.rest.is_some_and(|rest| is_more(rest) && explains(why, of, rest))
    };
    let mut found = OUTSIDE.iter().filter_map(|(name, least)| Some((evidence(why, name)?, *least)));
    found.find(|(of, least)| is_much(of, *least)).map(|(of, _)| of)
}

/// Whether the CPU time that others took, of what they had left in the rest, is at least half of the
/// loss of throughput: the run cannot lose much more by it. True where that is unknown.
fn explains(why: &WhyResult, of: &Evidence, rest: f64) -> bool {
    let left = match of.name.as_str() {
        OTHER_CPU => why.host_cpus - rest,
        STEAL => 1.0 - rest,
        _ => return true,
    };
    let before = why.rest.as_ref().map_or(0.0, |rest| rest.committed_per_second);
    if left <= 0.0 || before <= 0.0 {
        return true;
    }
    let loss = 1.0 - why.stretch.committed_per_second / before;
    (of.here - rest) / left >= MOSTLY * loss
}

/// What explains the waits of the run's sessions, and so begins the sentence: nothing else, if a
/// session of another program holds the lock.
fn origin<'a>(why: &'a WhyResult, cause: &Cause) -> Option<&'a Evidence> {
    if locks(why, cause).first().is_some_and(|lock| lock.is_foreign) {
        return None;
    }
    unseen_locks(why, cause).or_else(|| outside(why)).or_else(|| memory(why, cause))
}

/// Row locks that the server counts, and does not show: without a privilege, sessions that wait for
/// one seem to use a CPU.
fn unseen_locks<'a>(why: &'a WhyResult, cause: &Cause) -> Option<&'a Evidence> {
    // Who blocks whom is shown with the same privilege, also where no cause is certain.
    let is_shown = why.waits.causes.iter().any(|cause| cause.class == WaitClass::RowLock)
        || !why.locks.is_empty();
    let waits = evidence(why, ROW_LOCKS).filter(|_| cause.class == WaitClass::Cpu && !is_shown)?;
    let more = waits.here - waits.rest.unwrap_or_default();
    (more >= MOSTLY * cause.figures.excess_sessions).then_some(waits)
}

/// Too little memory for the data in use, if the sessions' waits follow from it. A session that needs
/// room for a block writes another one first, and before that the log: where commits do not wait for
/// the log, sessions wait for it because of that. Where the server does not show reads, sessions that
/// read seem to use a CPU.
fn memory<'a>(why: &'a WhyResult, cause: &Cause) -> Option<&'a Evidence> {
    let misses = evidence(why, MISSES).filter(|of| of.here >= MISSES_MUCH)?;
    let shows_reads = why.waits.causes.iter().any(|cause| cause.class == WaitClass::Io);
    let follows = match cause.class {
        WaitClass::Io => true,
        WaitClass::Log => why.commits_wait == Some(false),
        WaitClass::Cpu => !shows_reads,
        _ => false,
    };
    follows.then_some(misses)
}

fn evidence<'a>(why: &'a WhyResult, name: &str) -> Option<&'a Evidence> {
    why.evidence.iter().find(|of| of.name == name)
}

/// What server and host did meanwhile that goes with a class of wait.
fn circumstance(why: &WhyResult, cause: &Cause) -> Option<String> {
    let names: &[&str] = match cause.class {
        WaitClass::Cpu => &[OTHER_CPU, STEAL, AUTOVACUUM, MISSES],
        WaitClass::Log => &[CHECKPOINTS, AUTOVACUUM, OWN_WRITES, OTHER_CPU, STEAL, DISK_QUEUE],
        WaitClass::Io | WaitClass::Latch => {
            &[AUTOVACUUM, CHECKPOINTS, MISSES, OWN_WRITES, OTHER_CPU, STEAL, DISK_QUEUE]
        }
        _ => &[],
    };
    let named = origin(why, cause).map(|of| of.name.as_str());
    let names = names.iter().filter(|name| Some(**name) != named);
    let found: Vec<&Evidence> = names.filter_map(|name| evidence(why, name)).collect();
    let is_clear = |of: &&&Evidence| of.name != CHECKPOINTS || of.here >= CHECKPOINTS_FREQUENT;
    let clauses: Vec<String> = found.iter().filter(is_clear).map(|of| circumstances(of)).collect();
    (!clauses.is_empty()).then(|| clauses.join(", "))
}

fn circumstances(of: &Evidence) -> String {
    let rest = |show: fn(f64) -> String| {
        of.rest.map_or_else(String::new, |rest| format!(" ({} in the rest)", show(rest)))
    };
    match of.name.as_str() {
        CHECKPOINTS => format!("{} checkpoints per minute{}", figure(of.here), rest(figure)),
        AUTOVACUUM => format!("{} autovacuum workers at work{}", figure(of.here), rest(figure)),
        OTHER_CPU => {
            format!("other processes used CPU time: {} CPUs{}", figure(of.here), rest(figure))
        }
        MISSES if of.here >= MISSES_MUCH => {
            let share = percent(of.here);
            format!("too little memory: {share} of the blocks were not in it{}", rest(percent))
        }
        MISSES => format!("{} of the blocks were not in memory{}", percent(of.here), rest(percent)),
        ROW_LOCKS => format!(
            "row locks: {} sessions waited for them, as the server counts{}; who held them is hidden",
            figure(of.here),
            rest(figure)
        ),
        STEAL => format!("the hypervisor took {} of the CPUs{}", percent(of.here), rest(percent)),
        _ => format!("{} {}{}", figure(of.here), of.title, rest(figure)),
    }
}

/// What to try next: situations first, then the advice of the classes.
pub(super) fn next(why: &WhyResult) -> Vec<String> {
    let Some(main) = main(why) else { return next_without_cause(why) };
    let is_foreign = locks(why, main).first().is_some_and(|lock| lock.is_foreign);
    let origin = origin(why, main).map(|of| of.name.as_str());
    let has = |name| {
        let is_beside = circumstance(why, main).is_some() && evidence(why, name).is_some();
        is_beside || origin == Some(name)
    };
    let is_cpu = main.class == WaitClass::Cpu;
    let are_frequent = evidence(why, CHECKPOINTS).is_some_and(|of| of.here >= CHECKPOINTS_FREQUENT);
    let situations = [
        (is_foreign, END_FOREIGN),
        (origin == Some(ROW_LOCKS), SHOW_LOCKS),
        (origin == Some(MISSES), ADD_MEMORY),
        (has(OTHER_CPU), STOP_OTHERS),
        (has(STEAL), ASK_HYPERVISOR),
        (has(AUTOVACUUM), MOVE_VACUUM),
        (!is_cpu && has(CHECKPOINTS) && are_frequent, SPACE_CHECKPOINTS),
    ];
    let situations = situations.into_iter().filter(|(is, _)| *is).map(|(_, next)| next.to_owned());
    let more = why.waits.causes.iter().filter(|cause| cause.figures.excess_sessions > 0.0);
    let is_large =
        |cause: &&Cause| cause.figures.excess_sessions >= main.figures.excess_sessions / 4.0;
    let of_classes = more.filter(is_large).map(|cause| cause.advice.clone());
    let mut all: Vec<String> = situations.chain(of_classes).collect();
    all.dedup();
    all.truncate(NEXT_MAX);
    all
}

/// What to try next if something outside of the run is the cause, and no wait is.
fn next_without_cause(why: &WhyResult) -> Vec<String> {
    let next = outside(why).filter(|_| is_slower(why)).map(|of| match of.name.as_str() {
        STEAL => ASK_HYPERVISOR,
        AUTOVACUUM => MOVE_VACUUM,
        _ => STOP_OTHERS,
    });
    next.map(str::to_owned).into_iter().collect()
}

fn capital(text: &str) -> String {
    let mut signs = text.chars();
    signs.next().map_or_else(String::new, |first| first.to_uppercase().chain(signs).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::why::WHY_FORMAT;

    /// What is known of a run that is short of memory, if its sessions wait for these classes, the
    /// first of them most.
    fn short_of_memory(classes: &[&str], misses: f64, commits_wait: bool) -> WhyResult {
        let part = json!({"from_s": 0, "to_s": 20, "seconds": 20, "committed_per_second": 100.0,
            "sessions": 8.0, "idle_in_transaction": 0.0});
        let cause = |(place, class): (usize, &&str)| {
            let of = 4.0 / f64::from(1 << place);
            let figures = json!({"sessions": of, "sessions_rest": null, "share": of / 8.0,
                "ms_per_transaction": of, "ms_per_transaction_rest": null, "change_ms": of,
                "change_ms_interval": {"low": of - 0.1, "high": of + 0.1}, "excess_sessions": of,
                "excess_sessions_interval": {"low": of - 0.1, "high": of + 0.1}});
            json!({"class": class, "figures": figures, "events": [], "advice": ""})
        };
        let causes: Vec<_> = classes.iter().enumerate().map(cause).collect();
        let evidence = json!([
            {"name": MISSES, "title": "", "unit": "share", "here": misses, "rest": null},
            {"name": OWN_WRITES, "title": "own writes", "unit": "average", "here": 18.0,
                "rest": null},
        ]);
        let server = json!({"product": "", "version": "", "transport": "tcp", "cipher": null,
            "same_host": true});
        let document = json!({"format": WHY_FORMAT, "kind": "why",
            "tool": {"name": "", "version": "", "debug_build": false}, "job": 1,
            "started_at": "2026-01-01T00:00:00Z", "workload": {"name": "", "title": "",
                "version": 1, "scale": 1, "scale_unit": "", "facts": {}, "scripts": []},
            "target": "null:", "server": server, "limited_by": "the database",
            "commits_wait": commits_wait, "basis": "window", "words": "", "stretch": part,
            "rest": null, "waits": {"causes": causes, "statements": [], "resamples": 0},
            "locks": [], "evidence": evidence, "notes": [], "next": [], "warnings": [],
            "host_cpus": 2.0});
        serde_json::from_value(document).unwrap()
    }

    #[test]
    fn too_little_memory_is_the_cause_of_waits_that_follow_from_it_only() {
        let begins = |classes: &[&str], misses: f64, commits_wait: bool| {
            let words = of(&short_of_memory(classes, misses, commits_wait), Bottleneck::Database);
            words.starts_with("Too little memory: ")
        };
        assert!(begins(&["io", "cpu"], 0.32, true), "reads");
        assert!(!begins(&["io", "cpu"], 0.02, true), "few of them");
        assert!(begins(&["log", "io"], 0.32, false), "the log before a block that is written");
        assert!(!begins(&["log", "io"], 0.32, true), "commits");
        assert!(!begins(&["cpu", "io"], 0.32, true), "reads are known, and less than the CPU");
        assert!(begins(&["cpu", "log"], 0.32, true), "reads that the server shows as CPU");
        assert!(!begins(&["row_lock", "io"], 0.32, true));
        let why = short_of_memory(&["log"], 0.32, false);
        assert!(of(&why, Bottleneck::Database).ends_with("18.0 own writes"), "and the writes");
        assert_eq!(next(&why)[0], ADD_MEMORY);
    }

    /// The same, of a stretch with this evidence beside a rest with twice the throughput.
    fn beside_a_rest(classes: &[&str], evidence: serde_json::Value) -> WhyResult {
        let mut why = short_of_memory(classes, 0.0, true);
        why.rest = Some(super::super::Part { committed_per_second: 200.0, ..why.stretch.clone() });
        why.evidence = serde_json::from_value(evidence).unwrap();
        why
    }

    #[test]
    fn a_busy_host_is_the_cause_where_sessions_without_a_cpu_are_not_seen() {
        let others = |here: f64, rest: f64| json!([{"name": OTHER_CPU, "title": "", "unit": "cores", "here": here, "rest": rest}]);
        let why = beside_a_rest(&[], others(1.3, 0.1));
        let words = of(&why, Bottleneck::Host);
        assert!(words.starts_with("Other processes used CPU time: 1.30 CPUs (0.10"), "{words}");
        assert_eq!(next(&why), [STOP_OTHERS]);
        let mut large = beside_a_rest(&["cpu"], others(0.7, 0.2));
        large.host_cpus = 2.0;
        assert!(of(&large, Bottleneck::Host).starts_with("Other processes"), "28 % of 50 %");
        large.host_cpus = 16.0;
        assert!(of(&large, Bottleneck::Host).starts_with("CPU: "), "3 % of 50 %");
        let before = beside_a_rest(&[], others(1.3, 0.9));
        assert!(of(&before, Bottleneck::Host).starts_with("No cause is certain"));
        let mut faster = beside_a_rest(&[], others(1.3, 0.1));
        faster.stretch.committed_per_second = 300.0;
        assert!(of(&faster, Bottleneck::Host).starts_with("No cause is certain"));
        assert_eq!(next(&faster), Vec::<String>::new());
    }

    #[test]
    fn checkpoints_are_to_be_spaced_only_if_they_are_frequent() {
        let spaces = |here: f64| {
            let evidence = json!([
                {"name": CHECKPOINTS, "title": "", "unit": "per_minute", "here": here, "rest": null},
                {"name": OWN_WRITES, "title": "own writes", "unit": "average", "here": 18.0, "rest": null},
            ]);
            let why = beside_a_rest(&["io"], evidence);
            let is_clear = of(&why, Bottleneck::Database).contains("checkpoints per minute");
            assert_eq!(is_clear, here >= CHECKPOINTS_FREQUENT);
            next(&why).contains(&SPACE_CHECKPOINTS.to_owned())
        };
        assert!(spaces(CHECKPOINTS_FREQUENT));
        assert!(!spaces(0.5), "one in two minutes is not");
    }

    #[test]
    fn row_locks_that_a_user_may_not_see_are_known_from_the_servers_count() {
        let waits = |here: f64| json!([{"name": ROW_LOCKS, "title": "", "unit": "average", "here": here, "rest": 0.1}]);
        let begins = |classes: &[&str], here: f64| {
            let words = of(&beside_a_rest(classes, waits(here)), Bottleneck::Database);
            words.starts_with("Row locks: ")
        };
        assert!(begins(&["cpu"], 3.0));
        assert!(!begins(&["cpu"], 1.5), "less than half of what the sessions did more");
        assert!(!begins(&["cpu", "row_lock"], 3.0), "locks are shown, and are not the most");
        assert_eq!(next(&beside_a_rest(&["cpu"], waits(3.0)))[0], SHOW_LOCKS);
        let mut shown = beside_a_rest(&["cpu"], waits(3.0));
        let lock = json!([{"is_foreign": false, "blocker": "sessions of this run", "statement": "", "object": "stock", "blocked": 2.0, "blocked_rest": 0.1}]);
        shown.locks = serde_json::from_value(lock).unwrap();
        let words = of(&shown, Bottleneck::Database);
        assert!(words.starts_with("CPU: "), "locks are shown, and too few to be certain: {words}");
    }

    #[test]
    fn a_blocker_counts_as_a_whole_whatever_it_locked() {
        let lock = |blocker: &str, object: &str, blocked: f64| json!({"is_foreign": !blocker.starts_with("sessions"), "blocker": blocker, "statement": "", "object": object, "blocked": blocked, "blocked_rest": null});
        let mut why = short_of_memory(&["row_lock"], 0.0, true);
        let locks = json!([
            lock("sessions of this run", "stock", 2.5),
            lock("9 ann, psql, idle in transaction", "district", 1.5),
            lock("9 ann, psql, active", "warehouse", 0.5),
        ]);
        why.locks = serde_json::from_value(locks).unwrap();
        let words = of(&why, Bottleneck::Database);
        assert!(words.starts_with("Row locks on `district`: "), "{words}");
        assert!(words.contains("session 9 of another program (ann, psql, idle"), "{words}");
        assert!(words.contains("held the lock and blocked 2.00 sessions"), "{words}");
        why.locks.remove(1);
        let words = of(&why, Bottleneck::Database);
        assert!(words.contains("own sessions held the locks and blocked 2.50 of"), "{words}");
    }
}
