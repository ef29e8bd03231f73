//! The coordinator: has the hosts begin at one instant, merges their seconds, moves the run through
//! its phases, and verifies the counts at the end. It does for hosts what
//! [`control`](crate::control) does for worker threads.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};
use triphammer_core::clock::{Clock, Elapsed};
use triphammer_core::error::{DbError, ErrorClass};
use triphammer_core::event::{Event, Note, Phase};
use triphammer_core::recorder::{HostCpu, HostUse, LoginInterval, RecordedInterval};
use triphammer_core::spec::RunSpec;

use super::host::{Host, is_possible};
use super::message::{FromShare, ShareEnd, ToShare};
use super::{
    Coordination, FromHost, HEARTBEAT, HOST_LOST, OnHostLoss, Permit, SILENCE_MAX, WallClock,
};
use crate::course::Course;
use crate::demand::Demand;
use crate::merge::Merger;
use crate::phases::Phases;
use crate::queue::Tickets;
use crate::signal::{Signal, State, StopHandle};
use crate::{
    Offered, RunEnd, RunEnding, RunError, RunLogins, Share, Violation, accounts, called_off,
};

/// Shortest time from the decision to begin to the agreed instant.
const NOTICE_MIN: Duration = Duration::from_millis(200);
/// That time in round trips of the slowest message.
const NOTICE_TRIPS: u32 = 4;
/// Whole seconds from the decision to end the window to its end, in which all hosts learn of it.
const WINDOW_NOTICE: u64 = 2;
/// Why a host is lost whose link has no room for a message, or is gone.
const TAKES_NONE: &str = "it takes no messages";
/// Notes of a share that the coordinator makes itself, for the whole run.
const OWN_NOTES: [&str; 3] = ["interrupted", "outage", "sessions_lost"];

/// Runs it.
pub(super) async fn coordinate(
    run: Coordination,
    events: mpsc::Sender<Event>,
    stopper: StopHandle,
    signal: Signal,
) -> Result<RunEnd, RunError> {
    let mut coordinator = Coordinator::new(run, events, stopper, signal).map_err(unshared)?;
    if let Err(error) = coordinator.all_connect().await {
        let (connected, of) = coordinator.connected();
        coordinator.show_all(&ToShare::Abort);
        coordinator.course.stopper.over();
        return Err(RunError { connected, of, error });
    }
    coordinator.begin().await;
    while coordinator.hosts.iter().any(Host::is_at_work) {
        if !coordinator.step().await {
            break;
        }
    }
    Ok(coordinator.finish().await)
}

fn unshared(error: triphammer_core::error::SpecError) -> RunError {
    RunError { connected: 0, of: 0, error: DbError::new(ErrorClass::Other, error.to_string()) }
}

struct Coordinator {
    spec: RunSpec,
    types: usize,
    on_host_loss: OnHostLoss,
    hosts: Vec<Host>,
    messages: mpsc::Receiver<FromHost>,
    /// Until it is there.
    permit: Option<Permit>,
    wall: WallClock,
    heartbeat: tokio::time::Interval,
    course: Course,
    signal: Signal,
    merger: Merger,
    /// What hosts used of their machines, by the last second of the interval.
    uses: BTreeMap<u64, HostUse>,
}

impl Coordinator {
    fn new(
        run: Coordination,
        events: mpsc::Sender<Event>,
        stopper: StopHandle,
        signal: Signal,
    ) -> Result<Self, triphammer_core::error::SpecError> {
        let Coordination { spec, types, on_host_loss, hosts, messages, permit } = run;
        let of = u32::try_from(hosts.len()).unwrap_or(u32::MAX);
        let mut shared = Vec::new();
        for (index, link) in (0..).zip(hosts) {
            let share = Share::new(index, of, &spec)?;
            let ids = share.range(spec.sessions());
            shared.push(Host::new(link, share, ids.end - ids.start, types));
        }
        let mut heartbeat = interval(HEARTBEAT);
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let demand = Demand::new(spec.clone(), Share::WHOLE, Arc::new(Tickets::default()), None);
        Ok(Self {
            merger: Merger::new(shared.len(), types),
            course: Course::new(Phases::new(&spec), types, demand, events, stopper),
            uses: BTreeMap::new(),
            wall: WallClock::new(),
            hosts: shared,
            spec,
            types,
            on_host_loss,
            messages,
            permit: Some(permit),
            heartbeat,
            signal,
        })
    }

    /// Numbers of sessions that are open, and of all.
    fn connected(&self) -> (u32, u32) {
        (self.hosts.iter().map(|host| host.connected).sum(), self.spec.sessions())
    }

    /// Sends a message to all hosts before the start. One that does not take it is noticed by its
    /// silence, or ends with its link.
    fn show_all(&self, message: &ToShare) {
        for host in &self.hosts {
            host.send(message);
        }
    }

    /// Sends a message to all hosts during the run.
    fn send_all(&mut self, message: &ToShare) {
        for host in 0..self.hosts.len() {
            self.send(host, message);
        }
    }

    /// Sends a message to a host during the run. A host without room for it is lost: it would not
    /// end with the others if the message asks for the end.
    fn send(&mut self, host: usize, message: &ToShare) {
        if !self.hosts[host].send(message) {
            self.lose(host, TAKES_NONE.to_owned());
        }
    }

    /// Asks a host for its clock; nothing else would be noticed if it were not asked.
    fn ping(&self, host: usize) -> Result<(), DbError> {
        let host = &self.hosts[host];
        match host.send(&ToShare::Ping { sent_ns: self.wall.now() }) {
            true => Ok(()),
            false => Err(of_host(&host.link.name, TAKES_NONE)),
        }
    }

    /// Waits until all sessions are connected, all clocks are known, and the run may start.
    async fn all_connect(&mut self) -> Result<(), DbError> {
        let mut signal = self.signal.clone();
        (0..self.hosts.len()).try_for_each(|host| self.ping(host))?;
        while self.permit.is_some() || !self.hosts.iter().all(Host::is_ready) {
            let permit = self.permit.as_mut();
            let message = tokio::select! {
                message = self.messages.recv() => message,
                permit = async { permit.expect("checked").await }, if permit.is_some() => {
                    permit.map_err(|_| called_off())?;
                    self.permit = None;
                    continue;
                }
                _ = self.heartbeat.tick() => {
                    self.show_all(&ToShare::Alive);
                    match self.hosts.iter().find(|host| host.is_silent()) {
                        Some(host) => return Err(of_host(&host.link.name, &silence())),
                        None => continue,
                    }
                }
                _ = signal.until(|state| state.stop_requested) => {
                    let text = "interrupted while connecting";
                    return Err(DbError::new(ErrorClass::Cancelled, text));
                }
            };
            let Some(FromHost { host, message }) = message else {
                return Err(DbError::new(ErrorClass::Other, "no host is left"));
            };
            if host >= self.hosts.len() {
                continue; // It has no share.
            }
            let received_ns = self.wall.now();
            let name = &self.hosts[host].link.name;
            let message = message.map_err(|reason| of_host(name, &reason))?;
            match message {
                FromShare::Failed(reason) => return Err(of_host(name, &reason)),
                FromShare::Ended(_) => return Err(of_host(name, "ended before the start")),
                FromShare::Pong { sent_ns, clock_ns } => {
                    let measures_on = self.hosts[host].pong(sent_ns, clock_ns, received_ns);
                    if measures_on {
                        self.ping(host)?;
                    }
                }
                FromShare::Connecting { connected } => {
                    self.hosts[host].connected = connected;
                    let (connected, of) = self.connected();
                    let event = Event::Connecting { connected, of };
                    // The number that others wait for; those before it can be dropped.
                    match connected == of {
                        true => self.course.outbox.send(event).await,
                        false => self.course.outbox.offer(event),
                    }
                }
                _ => {}
            }
            self.hosts[host].note_message();
        }
        Ok(())
    }

    /// Agrees on the start with all hosts, and waits for it.
    async fn begin(&mut self) {
        let error = self.hosts.iter().map(|host| host.clock().error_ns).max().unwrap_or_default();
        let notice = NOTICE_MIN.max(Duration::from_nanos(2 * error) * NOTICE_TRIPS);
        let (at, at_ns) = (Instant::now() + notice, self.wall.now());
        let at_ns = at_ns.saturating_add_unsigned(Elapsed::from_duration(notice).0);
        let date = at_ns / 1_000_000_000;
        let learns_not = |host: &usize| {
            let host = &self.hosts[*host];
            let at_ns = at_ns + host.clock().to_apply();
            !host.send(&ToShare::Begin { at_ns, date })
        };
        let without: Vec<usize> = (0..self.hosts.len()).filter(learns_not).collect();
        sleep_until(at).await;
        let clock = Clock::at(at, date);
        self.course.begin(clock).await;
        self.course.stopper.go(clock);
        without.into_iter().for_each(|host| self.lose(host, TAKES_NONE.to_owned()));
    }

    /// Waits for one event and handles it. Returns false when there is no point in continuing.
    async fn step(&mut self) -> bool {
        let mut signal = self.signal.clone();
        let draining = self.course.phases.is_draining();
        let called = self.course.is_called();
        let deadline = self.course.phases.deadline().map(|at| match draining {
            // The hosts keep this limit; here it only ends the wait for them.
            true => Elapsed::from_duration(at.duration() + SILENCE_MAX),
            false => at,
        });
        let wake = self.course.wake(deadline);
        tokio::select! {
            message = self.messages.recv() => match message {
                Some(FromHost { host, message }) => self.take(host, message),
                None => return false,
            },
            () = sleep_until(wake), if deadline.is_some() => return self.phase_is_over(),
            _ = self.heartbeat.tick() => self.look_after_hosts(),
            state = signal.until(called) => match state.stop_requested {
                true => self.stop_early(state),
                false => self.end_window(),
            },
        }
        true
    }

    fn take(&mut self, host: usize, message: Result<FromShare, String>) {
        if !self.hosts.get(host).is_some_and(Host::is_at_work) {
            return;
        }
        self.hosts[host].note_message();
        match message {
            Err(reason) | Ok(FromShare::Failed(reason)) => self.lose(host, reason),
            Ok(message) if !is_possible(&message, self.types) => {
                self.lose(host, "it sent figures of another workload".to_owned());
            }
            Ok(FromShare::Started { late_ns }) => self.hosts[host].late_ns = Some(late_ns),
            Ok(FromShare::Second(interval)) => self.second(host, *interval),
            Ok(FromShare::Note(note)) => self.note(host, note),
            Ok(FromShare::Ended(end)) => {
                self.hosts[host].ended(end);
                self.merger.end(host);
                self.emit();
            }
            Ok(
                FromShare::Alive
                | FromShare::Hello(_)
                | FromShare::Pong { .. }
                | FromShare::Connecting { .. },
            ) => {}
        }
    }

    /// Takes a second of a host.
    fn second(&mut self, host: usize, mut interval: RecordedInterval) {
        let is_timed = self.course.phases.is_timed(&interval);
        self.hosts[host].count(&mut interval, host, is_timed);
        self.put_beside(host, &mut interval);
        self.merger.take(host, interval.last + 1, interval);
        self.emit();
    }

    /// Takes out of an interval what its host used of its machine: what happens on several machines
    /// at the same time does not add up as what happens on one after another.
    fn put_beside(&mut self, host: usize, interval: &mut RecordedInterval) {
        let machine = self.hosts[host].link.machine;
        let speaks = |other: &Host| !other.is_lost() && other.link.machine == machine;
        let is_first = !self.hosts[..host].iter().any(speaks);
        let mut used = std::mem::take(&mut interval.gauges.host_use);
        if !is_first {
            // Its machine is counted already.
            interval.gauges.host = HostCpu::default();
            let HostUse { wall_ns, process_cpu_ns, is_alone, niceness, .. } = used;
            used = HostUse { wall_ns, process_cpu_ns, is_alone, niceness, ..HostUse::default() };
        }
        match self.uses.get_mut(&interval.last) {
            Some(all) => all.add_beside(&used),
            None => {
                self.uses.insert(interval.last, used);
            }
        }
    }

    /// Emits every second that all hosts have completed, including empty ones.
    fn emit(&mut self) {
        while let Some(mut second) = self.merger.next_second(self.course.phases.least_seconds()) {
            second.gauges.host_use = self.uses.remove(&second.last).unwrap_or_default();
            self.course.sums.add(&second, self.course.phases.is_timed(&second));
            self.course.emit(second);
        }
    }

    /// Passes on the remark of a share, with its name; an error once, whichever host had it first.
    fn note(&mut self, host: usize, note: Note) {
        match note.kind.as_str() {
            kind if OWN_NOTES.contains(&kind) => {}
            "error" => self.course.outbox.failing(note),
            _ => {
                let text = format!("{}: {}", self.hosts[host].link.name, note.text);
                self.course.outbox.note(Note { text, ..note });
            }
        }
    }

    /// Shows all hosts that the coordinator is there, and loses those that are silent, or that show
    /// only that they are there and never began.
    fn look_after_hosts(&mut self) {
        let has_begun = self.course.phases.clock.now().duration() > SILENCE_MAX;
        for host in 0..self.hosts.len() {
            self.send(host, &ToShare::Alive);
            let seen = &self.hosts[host];
            if seen.is_silent() {
                self.lose(host, silence());
            } else if seen.is_at_work() && seen.late_ns.is_none() && has_begun {
                self.lose(host, "it did not begin".to_owned());
            }
        }
    }

    /// Continues without a host, or ends the run.
    fn lose(&mut self, host: usize, reason: String) {
        let now = self.course.phases.clock.now();
        self.hosts[host].send(&ToShare::Abort);
        let Host { link, sessions, .. } = &self.hosts[host];
        let text = format!("{} was lost with {sessions} sessions: {reason}", link.name);
        self.course.outbox.note(Note::new(HOST_LOST, Some(now), text));
        let rest = self.hosts[host].lose(now, reason);
        self.merger.take(host, rest.last + 1, rest);
        self.merger.end(host);
        self.emit();
        if self.on_host_loss == OnHostLoss::Abort
            && self.course.phases.current != Some(Phase::Abort)
        {
            // The window ends here: what was planned for later is no outage.
            self.course.stop_early();
            self.abort();
        }
    }

    /// Ends the current phase by the clock. Returns false when even the abort has taken too long.
    fn phase_is_over(&mut self) -> bool {
        if self.course.next_phase() {
            return true;
        }
        match self.course.phases.current {
            Some(Phase::Drain) => self.abort(),
            _ => {
                for host in 0..self.hosts.len() {
                    if self.hosts[host].is_at_work() {
                        self.lose(host, "it did not end".to_owned());
                    }
                }
                return false;
            }
        }
        true
    }

    /// Ends the window because its stopping rule is satisfied, at a second that no host has begun.
    fn end_window(&mut self) {
        let end =
            self.course.phases.shorten(self.course.phases.clock.now().second() + WINDOW_NOTICE);
        self.send_all(&ToShare::EndWindow { second: end.second() });
    }

    /// Ends the run early, by request.
    fn stop_early(&mut self, state: State) {
        if self.course.stop_early() {
            self.send_all(&ToShare::Stop);
        }
        if state.aborted {
            self.abort();
        }
    }

    /// Abandons transactions in flight.
    fn abort(&mut self) {
        self.course.abort();
        self.send_all(&ToShare::Abort);
    }

    /// Closes the sinks and the counters, and assembles the result.
    async fn finish(mut self) -> RunEnd {
        let is_early = self.course.phases.is_timed_load() && self.course.phases.users_ended();
        if self.course.phases.is_timed_load() && !is_early {
            self.course.enter(Phase::Drain);
        }
        self.emit();
        let outages = self.course.close(self.merger.given()).await;
        let stop = self.course.phases.stop().min(self.course.phases.clock.now());
        let ends = || self.hosts.iter().filter_map(Host::end);
        if ends().any(|end| end.ending == RunEnding::Aborted) {
            self.course.phases.ending = RunEnding::Aborted;
        }
        let ended = ends().map(|end| end.last_finish).max().unwrap_or_default();
        let lost = self.hosts.iter().filter(|host| host.end().is_none());
        let ended = lost.map(|host| Elapsed::at_second(host.next)).fold(ended, Elapsed::max);
        let [start, end] = self.course.phases.edges();
        let kept = ends().flat_map(|end| end.exemplars.iter().copied());
        let end = RunEnd {
            started_at: self.course.phases.clock.zero_timestamp(),
            ended,
            window: self.course.phases.real_window(ended),
            started: self.by_type(|host| host.started().to_vec()),
            in_flight: self
                .by_type(|host| host.end().map(|e| e.in_flight.clone()).unwrap_or_default()),
            offered: self.offered(stop),
            exemplars: accounts::slowest(kept, start..end),
            worker_cpu_ns: ends().flat_map(|end| end.worker_cpu_ns.iter().copied()).collect(),
            sessions: (self.course.sums.lost, self.course.sums.reconnected),
            logins: logins(ends(), std::mem::take(&mut self.course.sums.logins)),
            away: ends().map(|end| end.away).sum(),
            outages,
            violations: self.violations(),
            round_trips: ends().map(|end| end.round_trips).sum(),
            errors: accounts::errors(ends().flat_map(|end| &end.errors)),
            ending: self.course.phases.ending,
            run: self.course.sums.run,
            timed: self.course.sums.window,
            pool_wait: self.course.sums.pool_wait,
            backlog_max: self.course.sums.backlog_max,
            gauges: self.course.sums.gauges,
            notes: self.course.outbox.notes,
            hosts: Vec::new(),
            // A target with several nodes is driven by one process.
            nodes: Vec::new(),
            node_changes: Vec::new(),
            load_changes: Vec::new(),
            failovers: Vec::new(),
        };
        RunEnd { hosts: self.hosts.into_iter().map(Host::into_end).collect(), ..end }
    }

    /// Sums of all hosts, by transaction type.
    fn by_type(&self, read: impl Fn(&Host) -> Vec<u64>) -> Vec<u64> {
        let mut sums = vec![0; self.types];
        for host in &self.hosts {
            sums.iter_mut().zip(read(host)).for_each(|(sum, of_host)| *sum += of_host);
        }
        sums
    }

    fn offered(&self, stop: Elapsed) -> Option<Offered> {
        let mut all: Option<Offered> = None;
        for of_host in self.hosts.iter().filter_map(|host| host.offered(&self.spec, stop)) {
            let sum = all.get_or_insert_default();
            sum.offered += of_host.offered;
            sum.skipped += of_host.skipped;
            sum.never_started += of_host.never_started;
        }
        all
    }

    /// The counting identities that do not hold: those of the shares, and that their seconds, as
    /// they arrived here, are all that they counted.
    fn violations(&self) -> Vec<Violation> {
        let mut violations = accounts::violations(
            &self.by_type(|host| host.started().to_vec()),
            &self.by_type(Host::all_ended),
            &self.by_type(|host| host.end().map(|e| e.in_flight.clone()).unwrap_or_default()),
            &self.course.sums.run,
        );
        for end in self.hosts.iter().filter_map(Host::end) {
            violations.extend(end.violations.iter().cloned());
        }
        violations
    }
}

/// The logins of all shares, by the parts of the run.
fn logins<'a>(
    ends: impl Iterator<Item = &'a ShareEnd>,
    [run, window]: [LoginInterval; 2],
) -> RunLogins {
    let mut start = LoginInterval::default();
    ends.for_each(|end| start.add(&end.first_logins));
    RunLogins { start, run, window }
}

fn of_host(name: &str, reason: &str) -> DbError {
    DbError::new(ErrorClass::Other, format!("{name}: {reason}"))
}

fn silence() -> String {
    format!("no message for {} s", SILENCE_MAX.as_secs())
}
