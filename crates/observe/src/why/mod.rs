//! `why`: what a run's sessions at the database did or waited for, more in a stretch than in the rest
//! of its timed window, or at all. Reads stored jobs only.
//!
//! ```text
//! store ─► Observations (per second) ─► causes (statistics) ─► WhyResult ─► words, report, page
//! ```
//!
//! `compare` asks the same of two runs (`Waits::between`).

mod observations;

use std::ops::Range;

use triphammer_dialects::observe::observed_dialects;
use triphammer_document::JobId;
use triphammer_document::result::{ObserverGap, RunResult, Warning};
use triphammer_document::why::{Basis, Observations, Stretch, Waits, WhyResult, window};
use triphammer_settings::command::JobKind;
use triphammer_settings::failure::Failure;
use triphammer_statistics::causes::{SECONDS_MIN, lowest};
use triphammer_store::{Store, StoreError, StoredJob};

pub use observations::of_window;

/// Fewer seconds than this have wide intervals, which the result mentions.
const SECONDS_FEW: u64 = 10;

/// Explains a stored run: the stretch `at`, or where the throughput was notably lower than in the
/// rest of the timed window, or if there is no such stretch, the timed window as a whole.
///
/// # Errors
/// When the job is not a run, was not observed, the stretch is too short or not in the run, or the
/// store cannot be read.
pub fn explain(store: &Store, job: JobId, at: Option<Stretch>) -> Result<WhyResult, Failure> {
    let stored = store.load(job).map_err(refuse)?;
    let result = run_of(&stored)?;
    let all = observations::read(store, job, &result).map_err(refuse)?;
    let window = window(&result);
    if !all.seconds.iter().any(|second| window.contains(second)) {
        let reason = not_observed(&result);
        return Err(Failure::refuse(format!(
            "job {job} cannot be explained: its sessions were not observed; {reason}"
        )));
    }
    let (basis, stretch) = match at {
        Some(at) => (Basis::Given, at.within(job, &result)?),
        None => match dropped(&all, &window) {
            Some(found) => (Basis::Lowest, found),
            None => (Basis::Window, window.clone()),
        },
    };
    let here = all.only(|second| stretch.contains(&second));
    let stall = stall_around(&all, &stretch);
    let rest = all.only(|second| window.contains(&second) && !stall.contains(&second));
    long_enough("the stretch", here.seconds.len(), &stretch)?;
    let rest = (!rest.seconds.is_empty()).then_some(rest);
    if let Some(rest) = &rest {
        long_enough("the rest of the timed window", rest.seconds.len(), &window)?;
        if rest.transactions.iter().sum::<f64>() <= 0.0 {
            return Err(Failure::refuse(
                "nothing was committed in the rest of the timed window: there is nothing to \
                 compare the stretch with",
            ));
        }
    }
    let basis = if rest.is_none() { Basis::Window } else { basis };
    let waits = Waits::of(&here, rest.as_ref())
        .expect("both parts are long enough, and the rest has transactions");
    let made = WhyResult::new(&result, basis, waits, &here, rest.as_ref(), &stretch);
    Ok(WhyResult { warnings: warnings(&here, rest.as_ref()), ..made })
}

/// Why no sessions were observed, as far as the run knows.
fn not_observed(result: &RunResult) -> String {
    let observed = result.observed.as_ref().filter(|observed| observed.sessions.is_none());
    observed.and_then(|observed| hidden(&observed.gaps)).unwrap_or_else(|| {
        let dialects = observed_dialects().join(", ");
        format!(
            "triphammer observes runs of transactions on databases of the dialects {dialects}, \
             unless --no-observe is given"
        )
    })
}

/// What kept the observer from its session, or else hid the sessions from it.
fn hidden(gaps: &[ObserverGap]) -> Option<String> {
    let not_read = gaps.iter().find(|gap| matches!(gap.name.as_str(), "session" | "sessions"));
    let gap = not_read.or_else(|| gaps.iter().find(|gap| gap.hides.contains("sessions")))?;
    let ObserverGap { name, hides, change, .. } = gap;
    let change = if change.is_empty() { String::new() } else { format!(" → {change}") };
    Some(format!("{name}: {hides}{change}"))
}

/// The result of a run that has one.
fn run_of(stored: &StoredJob) -> Result<RunResult, Failure> {
    let (job, kind) = (stored.row.id, stored.row.kind);
    if kind != JobKind::Run {
        let next = match kind.drains() {
            true => {
                format!("explain one of its runs, which `triphammer jobs --parent {job}` lists")
            }
            false => "only runs can be explained".to_owned(),
        };
        let kind = kind.noun();
        return Err(Failure::refuse(format!("job {job} is a {kind}: {next}")));
    }
    let status = stored.row.status.name();
    stored.result().map_err(refuse)?.ok_or_else(|| {
        Failure::refuse(format!("job {job} is {status} and has no result to explain"))
    })
}

fn long_enough(what: &str, seconds: usize, of: &Range<u64>) -> Result<(), Failure> {
    if seconds >= SECONDS_MIN {
        return Ok(());
    }
    let Range { start, end } = of;
    Err(Failure::refuse(format!(
        "{what} has {seconds} observed seconds from {start}s to {end}s, and needs at least \
         {SECONDS_MIN}: fewer cannot tell a cause from chance"
    )))
}

/// The stretch of the timed window with the lowest throughput, if that is notable.
fn dropped(all: &Observations, window: &Range<u64>) -> Option<Range<u64>> {
    let of_window = all.only(|second| window.contains(&second));
    let found = lowest(&of_window.transactions)?;
    Some(of_window.seconds[found.start]..of_window.seconds[found.end - 1] + 1)
}

/// The stretch with the seconds directly beside it in which nothing was committed either: they belong
/// to the same stall, and in the rest they would hide what the stretch waited for.
fn stall_around(all: &Observations, stretch: &Range<u64>) -> Range<u64> {
    let is_stalled = |second: u64| {
        let at = all.seconds.binary_search(&second);
        at.is_ok_and(|at| all.transactions[at] <= 0.0)
    };
    let before = (0..stretch.start).rev().take_while(|second| is_stalled(*second)).last();
    let after = (stretch.end..).take_while(|second| is_stalled(*second)).last();
    before.unwrap_or(stretch.start)..after.map_or(stretch.end, |last| last + 1)
}

fn warnings(here: &Observations, rest: Option<&Observations>) -> Vec<Warning> {
    let few = |of: &Observations| (of.seconds.len() as u64) < SECONDS_FEW;
    if !few(here) && !rest.is_some_and(few) {
        return Vec::new();
    }
    vec![Warning {
        kind: "few_seconds".to_owned(),
        text: format!("fewer than {SECONDS_FEW} seconds: only large changes are certain"),
        next: Some("choose a longer stretch, or let the run last longer".to_owned()),
    }]
}

fn refuse(error: StoreError) -> Failure {
    Failure::refuse(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hid_the_sessions_is_the_reason() {
        let gap = |name: &str, hides: &str, change: &str| ObserverGap {
            name: name.to_owned(),
            hides: hides.to_owned(),
            change: change.to_owned(),
            part: None,
        };
        let mut gaps = vec![gap("pg_stat_statements", "the top statements", "CREATE EXTENSION")];
        assert_eq!(hidden(&gaps), None);
        gaps.push(gap("view_server_state", "sessions, waits and locks", "GRANT it"));
        let text = hidden(&gaps).unwrap();
        assert_eq!(text, "view_server_state: sessions, waits and locks → GRANT it");
        gaps.push(gap("session", "not read: too many clients", ""));
        assert_eq!(hidden(&gaps).unwrap(), "session: not read: too many clients");
    }
}
