//! The answers that a replay meets: compared with the recorded ones, and counted.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use triphammer_capture::Step;
use triphammer_capture::answer::{Answer, RowHasher, RowHashes};
use triphammer_core::DbError;
use triphammer_core::answers::{
    Divergence, DivergenceCount, DivergenceExample, FirstDivergence, MadeValues, OrderWaits,
    ReplayAnswers, StatementAnswers,
};
use triphammer_core::rows::{Row, Rows};
use triphammer_core::session::RowEffect;

use super::facts::{Stability, StatementFacts};
use super::ids::{Back, ColumnDomains, Domain};
use super::progress::WaitEnd;

/// Most examples of a statement.
const EXAMPLES_MAX: usize = 5;
/// The digest of the last statement of a transaction whose end failed.
const END_FAILED: u32 = 1;
/// Microseconds of a second.
const US: f64 = 1e6;

/// Codes of errors that a row with this key exists: PostgreSQL's, MySQL's, SQLite's and SQL Server's.
const DUPLICATES: &[&str] = &["23505", "1062", "1586", "1555", "2067", "2601", "2627"];

/// Most columns and domains that are tried alone for values that the server made.
const TRIED_MAX: usize = 8;

/// Where a divergence is: whether its statement was not reached, the start of its transaction in µs, and its number among all.
type Place = (bool, i64, usize);

/// The rows of an answer: their number, and hashes of them as they are and with recorded values in place of those that the
/// server made. A text may be such a value of one domain in one column and something else in another: where the column does not
/// say which, columns and domains are tried alone, too.
#[derive(Clone, Debug, Default)]
pub struct ReplayedRows {
    pub count: u64,
    here: RowHashes,
    /// With recorded values in columns that have the name of their domain.
    named: RowHashes,
    /// With recorded values wherever they may be.
    back: RowHashes,
    /// By column and domain, the hash like `named`, with recorded values of the domain in the column, too.
    tried: Vec<((usize, Domain), RowHashes)>,
    /// Whether a row could not be hashed: a field is not a text.
    is_unread: bool,
}

impl ReplayedRows {
    /// Adds the rows of a batch; `back` leads from values that were made here to the recorded ones, in columns of these domains.
    pub fn add(&mut self, rows: &Rows, back: Option<&Back>, columns: &[ColumnDomains]) {
        self.count += rows.len() as u64;
        for row in rows.iter() {
            self.is_unread |= (0..row.len()).any(|at| row.bytes(at).is_none() && !row.is_null(at));
            let here = hash(&row, |column| row.bytes(column));
            match back {
                None => {
                    self.named.add(here);
                    self.back.add(here);
                    self.tried.iter_mut().for_each(|(_, hashes)| hashes.add(here));
                }
                Some(back) => self.add_back(&row, back, columns),
            }
            self.here.add(here);
        }
    }

    /// Adds a row with recorded values in place of those that were made here.
    fn add_back(&mut self, row: &Row<'_>, back: &Back, columns: &[ColumnDomains]) {
        let known: Vec<&[(Domain, Vec<u8>)]> = (0..row.len())
            .map(|at| row.bytes(at).and_then(|text| back.get(text)).map_or(&[][..], Vec::as_slice))
            .collect();
        let of = |at: usize| columns.get(at).unwrap_or(&ColumnDomains::Any);
        let first = |at: usize, is_one: &dyn Fn(Domain) -> bool| {
            let found = known[at].iter().find(|(domain, _)| is_one(*domain));
            found.map(|(_, recorded)| recorded.as_slice())
        };
        let named = |at: usize| first(at, &|domain| of(at).are_named(domain)).or(row.bytes(at));
        for (column, known) in known.iter().enumerate() {
            for (domain, _) in known.iter().filter(|(domain, _)| of(column).may_be(*domain)) {
                let one = (column, *domain);
                let is_new = self.tried.iter().all(|(tried, _)| *tried != one);
                if is_new && self.tried.len() < TRIED_MAX {
                    // The rows before have no such value in it.
                    self.tried.push((one, self.named));
                }
            }
        }
        for ((column, domain), hashes) in &mut self.tried {
            let tried = first(*column, &|of| of == *domain);
            hashes.add(hash(row, |at| tried.filter(|_| at == *column).or_else(|| named(at))));
        }
        let any = |at: usize| first(at, &|domain| of(at).may_be(domain));
        self.named.add(hash(row, named));
        self.back.add(hash(row, |at| any(at).or_else(|| named(at))));
    }

    /// Whether the rows are those of a hash.
    fn is(&self, hash: u64, is_ordered: bool) -> bool {
        let tried = self.tried.iter().map(|(_, hashes)| hashes);
        [&self.here, &self.named, &self.back]
            .into_iter()
            .chain(tried)
            .any(|one| one.hash(is_ordered) == hash)
    }

    /// The hash by which two replays are compared: the recorded one, if the rows are its.
    fn hash(&self, recorded: Option<u64>, is_ordered: bool) -> u64 {
        let recorded = recorded.filter(|hash| self.is(*hash, is_ordered));
        recorded.unwrap_or_else(|| self.back.hash(is_ordered))
    }
}

/// The hash of a row with these fields.
fn hash<'r>(row: &Row<'_>, field: impl Fn(usize) -> Option<&'r [u8]>) -> u64 {
    let mut hasher = RowHasher::default();
    (0..row.len()).for_each(|column| hasher.field(field(column)));
    hasher.finish()
}

/// What a statement of a replay answered.
#[derive(Debug, Default)]
pub struct ReplayedAnswer<'a> {
    /// Its rows, if it returns rows.
    pub rows: Option<ReplayedRows>,
    /// What it did to rows.
    pub effect: RowEffect,
    /// Its error.
    pub error: Option<&'a DbError>,
}

impl ReplayedAnswer<'_> {
    /// The differences from a recorded answer, as far as both are known.
    fn differences(&self, recorded: &Answer, facts: &StatementFacts) -> Vec<Divergence> {
        let code = self.error.map(|error| error.code().unwrap_or_default());
        match (recorded.error.as_deref(), code) {
            (None, Some(_)) => return vec![Divergence::Fails],
            (Some(_), None) => return vec![Divergence::Succeeds],
            (Some(then), Some(now)) if then != now => return vec![Divergence::OtherError],
            (Some(_), Some(_)) => return Vec::new(),
            (None, None) => {}
        }
        if matches!(facts.stability, Stability::Outcome(_)) {
            return Vec::new();
        }
        let mut found = Vec::new();
        if let (Some(then), Some(now)) = (recorded.rows, &self.rows) {
            let hash = recorded.hash.filter(|_| facts.stability == Stability::Stable);
            if then != now.count {
                found.push(Divergence::Rows);
            } else if hash.is_some_and(|hash| !now.is_unread && !now.is(hash, facts.is_ordered)) {
                found.push(Divergence::Content);
            }
        }
        // Clients may ask the server to count the rows that were found.
        let RowEffect { changed, found: matched, .. } = self.effect;
        if recorded.changed.is_some()
            && changed.is_some()
            && ![changed, matched].contains(&recorded.changed)
        {
            found.push(Divergence::Changed);
        }
        found
    }

    /// Whether it has no row, read or changed, and the recorded answer had some; neither is an error.
    fn found_nothing(&self, recorded: &Answer) -> bool {
        let had = recorded.rows.or(recorded.changed).is_some_and(|rows| rows > 0);
        let has = match &self.rows {
            Some(rows) => rows.count > 0,
            None => [self.effect.changed, self.effect.found].into_iter().flatten().any(|n| n > 0),
        };
        recorded.error.is_none() && self.error.is_none() && had && !has
    }

    /// Whether it fails because a row with its key exists, and did not.
    fn is_duplicate(&self, recorded: &Answer) -> bool {
        let code = self.error.and_then(DbError::code);
        recorded.error.is_none() && code.is_some_and(|code| DUPLICATES.contains(&code))
    }

    /// What it was, for people.
    fn text(&self) -> String {
        if let Some(error) = self.error {
            // Its message may contain values.
            return described(None, None, Some(error.code().unwrap_or("without a code")));
        }
        let rows = self.rows.as_ref().map(|rows| rows.count);
        described(rows, self.effect.changed.filter(|_| self.rows.is_none()), None)
    }

    /// A number that two equal answers share, to compare replays: 0 is that of no answer.
    fn digest(&self, recorded: Option<&Answer>, facts: &StatementFacts) -> u32 {
        let mut hasher = RowHasher::default();
        hasher.field(self.error.map(|error| error.code().unwrap_or("?").as_bytes()));
        let is_compared = !matches!(facts.stability, Stability::Outcome(_));
        if let Some(rows) = self.rows.as_ref().filter(|_| is_compared) {
            hasher.field(Some(&rows.count.to_le_bytes()));
            if facts.stability == Stability::Stable && !rows.is_unread {
                let hash = rows.hash(recorded.and_then(|answer| answer.hash), facts.is_ordered);
                hasher.field(Some(&hash.to_le_bytes()));
            }
        }
        if let Some(changed) = self.effect.changed.filter(|_| is_compared) {
            hasher.field(Some(&changed.to_le_bytes()));
        }
        let [low @ .., _, _, _, _] = hasher.finish().to_le_bytes();
        u32::from_le_bytes(low).max(END_FAILED + 1)
    }
}

/// An answer, for people.
fn described(rows: Option<u64>, changed: Option<u64>, error: Option<&str>) -> String {
    let plural = |count: u64| if count == 1 { "" } else { "s" };
    match (error, rows, changed) {
        (Some(error), ..) => format!("error {error}"),
        (None, Some(rows), _) => format!("{rows} row{}", plural(rows)),
        (None, None, Some(changed)) => format!("{changed} row{} changed", plural(changed)),
        (None, None, None) => "success".to_owned(),
    }
}

/// What was counted of a statement.
#[derive(Debug, Default)]
struct Counted {
    compared: u64,
    differing: u64,
    by_kind: [u64; Divergence::ALL.len()],
    examples: Vec<DivergenceExample>,
    first: Option<(Place, Divergence)>,
}

/// Counts what a replay meets. All its sessions share it.
#[derive(Debug)]
pub struct Answers {
    statements: Vec<Mutex<Counted>>,
    sent: AtomicU64,
    succeeded: AtomicU64,
    /// Transactions whose end failed: nothing of them took effect, and their last statement did not succeed.
    ends_failed: AtomicU64,
    without_answer: AtomicU64,
    unreached: AtomicU64,
    found_nothing: AtomicU64,
    duplicates: AtomicU64,
    unread: AtomicU64,
    replaced: AtomicU64,
    missing: AtomicU64,
    waits: AtomicU64,
    waited_ns: AtomicU64,
    in_vain: AtomicU64,
    timed_out: AtomicU64,
    /// By statement of the recording in its order, the digest of its answer; 0 if there was none.
    digests: Box<[AtomicU32]>,
}

/// Where a statement is in the recording.
#[derive(Clone, Copy, Debug)]
pub struct Spot<'a> {
    pub transaction: u32,
    pub session: usize,
    pub start_us: i64,
    pub step: &'a Step,
    /// Its number among all of the recording.
    pub number: usize,
}

impl Answers {
    /// Begins to count for so many different statements, and so many in all.
    pub fn new(shapes: usize, statements: usize) -> Self {
        Self {
            statements: (0..shapes).map(|_| Mutex::default()).collect(),
            sent: AtomicU64::new(0),
            succeeded: AtomicU64::new(0),
            ends_failed: AtomicU64::new(0),
            without_answer: AtomicU64::new(0),
            unreached: AtomicU64::new(0),
            found_nothing: AtomicU64::new(0),
            duplicates: AtomicU64::new(0),
            unread: AtomicU64::new(0),
            replaced: AtomicU64::new(0),
            missing: AtomicU64::new(0),
            waits: AtomicU64::new(0),
            waited_ns: AtomicU64::new(0),
            in_vain: AtomicU64::new(0),
            timed_out: AtomicU64::new(0),
            digests: (0..statements).map(|_| AtomicU32::new(0)).collect(),
        }
    }

    /// Counts the answer to a statement.
    pub fn count(&self, spot: Spot<'_>, met: &ReplayedAnswer<'_>, facts: &StatementFacts) {
        self.sent.fetch_add(1, Ordering::Relaxed);
        let is_unread = met.rows.as_ref().is_some_and(|rows| rows.is_unread);
        self.unread.fetch_add(u64::from(is_unread), Ordering::Relaxed);
        let recorded = spot.step.answer.as_deref();
        self.digests[spot.number].store(met.digest(recorded, facts), Ordering::Relaxed);
        let failed_then = recorded.and_then(|answer| answer.error.as_deref());
        let failed_as_recorded =
            failed_then.is_some() && met.error.is_some_and(|error| error.code() == failed_then);
        if met.error.is_none() || failed_as_recorded {
            self.succeeded.fetch_add(1, Ordering::Relaxed);
        }
        match recorded {
            None => {
                self.without_answer.fetch_add(1, Ordering::Relaxed);
            }
            Some(recorded) => {
                let found = met.differences(recorded, facts);
                let is_empty = met.found_nothing(recorded);
                self.found_nothing.fetch_add(u64::from(is_empty), Ordering::Relaxed);
                let is_duplicate = met.is_duplicate(recorded);
                self.duplicates.fetch_add(u64::from(is_duplicate), Ordering::Relaxed);
                self.compared(spot, recorded, &found, || met.text());
            }
        }
    }

    /// Counts a statement that was not reached.
    pub fn miss(&self, spot: Spot<'_>) {
        self.unreached.fetch_add(1, Ordering::Relaxed);
        if let Some(recorded) = spot.step.answer.as_deref() {
            self.compared(spot, recorded, &[Divergence::Missing], || "not reached".to_owned());
        }
    }

    /// Counts a transaction whose end failed, after its last statement had been answered.
    pub fn fail_end(&self, last: Spot<'_>, error: &DbError) {
        self.digests[last.number].store(END_FAILED, Ordering::Relaxed);
        self.ends_failed.fetch_add(1, Ordering::Relaxed);
        if let Some(recorded) = last.step.answer.as_deref() {
            let met = || format!("COMMIT: error {}", error.code().unwrap_or("without a code"));
            self.differ(last, recorded, &[Divergence::Fails], met);
        }
    }

    fn compared(
        &self,
        spot: Spot<'_>,
        recorded: &Answer,
        found: &[Divergence],
        met: impl Fn() -> String,
    ) {
        let of_statement = &self.statements[spot.step.shape];
        of_statement.lock().unwrap_or_else(PoisonError::into_inner).compared += 1;
        self.differ(spot, recorded, found, met);
    }

    /// Counts the differences of an answer.
    fn differ(
        &self,
        spot: Spot<'_>,
        recorded: &Answer,
        found: &[Divergence],
        met: impl Fn() -> String,
    ) {
        let mut counted =
            self.statements[spot.step.shape].lock().unwrap_or_else(PoisonError::into_inner);
        counted.differing += u64::from(!found.is_empty());
        for kind in found {
            counted.by_kind[kind.index()] += 1;
            // What was not reached has its cause elsewhere.
            let place = (*kind == Divergence::Missing, spot.start_us, spot.number);
            if counted.first.is_none_or(|(first, _)| place < first) {
                counted.first = Some((place, *kind));
            }
            if counted.examples.len() < EXAMPLES_MAX {
                let changed = recorded.changed.filter(|_| recorded.rows.is_none());
                counted.examples.push(DivergenceExample {
                    kind: *kind,
                    at_s: seconds(spot.start_us),
                    session: spot.session + 1,
                    recorded: described(recorded.rows, changed, recorded.error.as_deref()),
                    replayed: met(),
                });
            }
        }
    }

    /// Counts arguments that were replaced, and those whose value was not made here.
    pub fn replaced(&self, replaced: u64, missing: u64) {
        self.replaced.fetch_add(replaced, Ordering::Relaxed);
        self.missing.fetch_add(missing, Ordering::Relaxed);
    }

    /// Counts a wait for other sessions.
    pub fn waited(&self, ns: u64, end: WaitEnd) {
        self.waits.fetch_add(1, Ordering::Relaxed);
        self.waited_ns.fetch_add(ns, Ordering::Relaxed);
        self.in_vain.fetch_add(u64::from(end == WaitEnd::InVain), Ordering::Relaxed);
        self.timed_out.fetch_add(u64::from(end == WaitEnd::TimedOut), Ordering::Relaxed);
    }

    /// What was counted of statements with these titles; `made` is the number of recorded values that the server made.
    pub fn read(&self, facts: &[StatementFacts], titles: &[String], made: usize) -> ReplayAnswers {
        let number = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let mut read = ReplayAnswers {
            sent: number(&self.sent),
            succeeded: number(&self.succeeded).saturating_sub(number(&self.ends_failed)),
            without_answer: number(&self.without_answer),
            unreached: number(&self.unreached),
            found_nothing: number(&self.found_nothing),
            duplicates: number(&self.duplicates),
            unread: number(&self.unread),
            made: MadeValues {
                recorded: made as u64,
                replaced: number(&self.replaced),
                missing: number(&self.missing),
            },
            order: OrderWaits {
                waits: number(&self.waits),
                waited_s: std::time::Duration::from_nanos(number(&self.waited_ns)).as_secs_f64(),
                in_vain: number(&self.in_vain),
                timed_out: number(&self.timed_out),
            },
            ..ReplayAnswers::default()
        };
        let mut listed: Vec<(Place, StatementAnswers)> = Vec::new();
        let mut first: Option<(Place, FirstDivergence)> = None;
        for ((counted, facts), title) in self.statements.iter().zip(facts).zip(titles) {
            let counted = counted.lock().unwrap_or_else(PoisonError::into_inner);
            let unstable = facts.stability.why().map(str::to_owned);
            read.compared += counted.compared;
            read.unstable += if unstable.is_some() { counted.compared } else { 0 };
            read.differing += counted.differing;
            if let Some((place, kind)) = counted.first
                && first.as_ref().is_none_or(|(known, _)| place < *known)
            {
                let (at_s, text) = (seconds(place.1), title.clone());
                let title = kind.title().to_owned();
                first = Some((place, FirstDivergence { at_s, text, kind, title }));
            }
            if counted.differing > 0 || (unstable.is_some() && counted.compared > 0) {
                let at = counted.first.map_or((true, i64::MAX, 0), |(at, _)| at);
                listed.push((at, of_statement(&counted, title.clone(), unstable)));
            }
        }
        listed.sort_by_key(|(at, _)| *at);
        read.statements = listed.into_iter().map(|(_, statement)| statement).collect();
        read.first = first.map(|(_, first)| first);
        read
    }

    /// By statement of the recording in its order, the digest of its answer; 0 if there was none.
    pub fn digests(&self) -> Vec<u32> {
        self.digests.iter().map(|digest| digest.load(Ordering::Relaxed)).collect()
    }
}

fn of_statement(counted: &Counted, text: String, unstable: Option<String>) -> StatementAnswers {
    let count = |(kind, count): (Divergence, u64)| {
        let title = kind.title().to_owned();
        DivergenceCount { kind, title, count }
    };
    let divergences = Divergence::ALL.into_iter().zip(counted.by_kind).filter(|(_, n)| *n > 0);
    StatementAnswers {
        text,
        compared: counted.compared,
        differing: counted.differing,
        divergences: divergences.map(count).collect(),
        unstable,
        examples: counted.examples.clone(),
    }
}

#[expect(clippy::cast_precision_loss, reason = "seconds for people")]
fn seconds(us: i64) -> f64 {
    us as f64 / US
}
