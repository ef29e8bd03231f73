//! The state of a database at the start of a run: reads it, brings it into caches (`--warm`), and waits
//! for the server's work in the background (`--until-quiet`), as its dialect declares (`state.toml`).

use std::time::Duration;

use tokio::time::Instant;
use triphammer_core::session::Session;
use triphammer_core::sql::BoundStatement;
use triphammer_core::{DbError, ErrorClass, Rows, SpecError};
use triphammer_dialects::state::{QuietDef, StateDef, WarmDef, Warmed, state};
use triphammer_document::result::{
    BackgroundWork, Fingerprint, FingerprintDepth, QuietWait, TableFingerprint, WarmedUp,
};
use triphammer_drivers::snapshot::Stop;
use triphammer_settings::{Settings, handle::Handle};

/// Maximum time for counting the rows of all tables; what is not counted by then is missing.
const COUNT_LIMIT: Duration = Duration::from_secs(30);
/// Time between two looks at a server's work in the background.
const LOOK: Duration = Duration::from_secs(1);
/// Number of looks in a row that find no change of work that rests.
const LOOKS_AT_REST: u32 = 5;
/// Most notes that are kept of reading into caches.
const NOTES_MAX: usize = 5;

/// What is done about the state before a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Preparation {
    /// How the state is described; `None` for its size only.
    pub depth: Option<FingerprintDepth>,
    /// What is read into caches.
    pub warm: Vec<Warmed>,
    /// Longest wait for the server's work in the background; `None` for no wait.
    pub until_quiet: Option<Duration>,
}

impl Preparation {
    /// Reads it from the settings.
    ///
    /// # Errors
    /// When a setting is invalid.
    pub fn read(settings: &mut Settings) -> Result<Self, SpecError> {
        let is_restored = settings.get("restore").is_some();
        let depth = depth(settings, is_restored)?;
        let warm = settings.read("warm", parse_warm, |warm| show_warm(warm))?;
        let show = |limit: &Duration| triphammer_core::clock::format_duration(*limit);
        let parse = |text: &str| triphammer_core::clock::parse_duration(text);
        let until_quiet = settings.optional("until-quiet", parse, show, "no wait")?;
        Ok(Self { depth, warm, until_quiet })
    }

    /// Whether something is done besides reading sizes.
    pub fn is_needed(&self) -> bool {
        *self != Self::default()
    }
}

/// Reads how the state is described.
///
/// # Errors
/// When the setting is invalid.
pub(crate) fn depth(
    settings: &mut Settings,
    by_default: bool,
) -> Result<Option<FingerprintDepth>, SpecError> {
    let parse = |text: &str| match text.trim() {
        "none" => Ok(None),
        name => match FingerprintDepth::ALL.into_iter().find(|depth| depth.name() == name) {
            Some(depth) => Ok(Some(depth)),
            None => Err(format!("invalid fingerprint `{name}`: expected rows, checksums or none")),
        },
    };
    let show =
        |depth: &Option<FingerprintDepth>| depth.map_or("none", FingerprintDepth::name).to_owned();
    settings.read_or("fingerprint", parse, show, || by_default.then_some(FingerprintDepth::Rows))
}

fn parse_warm(text: &str) -> Result<Vec<Warmed>, String> {
    let mut all = Vec::new();
    for word in text.split(',').map(str::trim) {
        match word {
            "none" if text.trim() == "none" => {}
            "tables" => all.push(Warmed::Tables),
            "indexes" => all.push(Warmed::Indexes),
            _ => {
                return Err(format!(
                    "invalid `{word}`: expected tables, indexes, tables,indexes or none"
                ));
            }
        }
    }
    all.dedup();
    Ok(all)
}

fn show_warm(warm: &[Warmed]) -> String {
    let word = |of: &Warmed| match of {
        Warmed::Tables => "tables",
        Warmed::Indexes => "indexes",
    };
    match warm {
        [] => "none".to_owned(),
        warm => warm.iter().map(word).collect::<Vec<_>>().join(","),
    }
}

/// What a dialect declares; nothing for a dialect of a user's folder that cannot be read.
pub(crate) fn definition(dialect: &str) -> StateDef {
    state(dialect).unwrap_or_default()
}

/// A stop that comes with Ctrl-C, or after this time.
pub(crate) fn stop(handle: &Handle, limit: Duration) -> Stop<'_> {
    Stop::when(async move {
        tokio::select! {
            () = handle.cancel().cancelled() => "interrupted".to_owned(),
            () = tokio::time::sleep(limit) => format!("not finished within {} s", limit.as_secs()),
        }
    })
}

/// Runs a query, and returns its rows as texts.
async fn texts<S: Session>(
    session: &mut S,
    sql: &str,
    stop: &mut Stop<'_>,
) -> Result<Vec<Vec<String>>, DbError> {
    let canceller = session.canceller();
    let asked = async {
        let (name, params, order) = ("state".to_owned(), Vec::new(), Vec::new());
        let statement = BoundStatement { name, sql: sql.to_owned(), params, order };
        let id = session.prepare(&statement).await?;
        let mut rows = Rows::new();
        session.query(id, &[], &mut rows).await?;
        let field = |row: &triphammer_core::Row<'_>, column| match row.text(column) {
            Ok(text) => text.to_owned(),
            Err(_) => row.int(column).map_or_else(|_| String::new(), |number| number.to_string()),
        };
        let row = |row: triphammer_core::Row<'_>| {
            (0..row.len()).map(|column| field(&row, column)).collect::<Vec<_>>()
        };
        Ok(rows.iter().map(row).collect())
    };
    stop.unless(canceller, asked).await
}

/// The number that a query returns; `None` if it returns none.
pub(crate) async fn number<S: Session>(
    session: &mut S,
    sql: &str,
    stop: &mut Stop<'_>,
) -> Result<Option<u64>, DbError> {
    let rows = texts(session, sql, stop).await?;
    Ok(rows.first().and_then(|row| row.first()?.parse().ok()))
}

/// Whether an error ends everything, and not only the one query.
fn is_final(error: &DbError) -> bool {
    error.class().loses_session() || error.class() == ErrorClass::Cancelled
}

/// Reads the fingerprint of a state. Counting ends after a while, the smallest tables first; checksums
/// take as long as they take.
///
/// # Errors
/// When the session is lost, or the work was ended.
pub(crate) async fn fingerprint<S: Session>(
    session: &mut S,
    def: &StateDef,
    depth: FingerprintDepth,
    stop: &mut Stop<'_>,
) -> Result<Fingerprint, DbError> {
    let begun = Instant::now();
    let list = match depth {
        FingerprintDepth::Rows => &def.rows,
        FingerprintDepth::Checksums => &def.checksums,
    };
    let (mut tables, mut missing) = (Vec::new(), 0);
    let Some(list) = list else {
        let message = format!(
            "the {} of tables are not known how to read here: use --fingerprint none",
            depth.name()
        );
        return Err(DbError::new(ErrorClass::Unsupported, message));
    };
    for row in texts(session, list, stop).await? {
        let [table, sql] = row.as_slice() else { continue };
        let is_late = depth == FingerprintDepth::Rows && begun.elapsed() >= COUNT_LIMIT;
        if is_late {
            missing += 1;
            continue;
        }
        let answer = match depth {
            FingerprintDepth::Rows => {
                let left = COUNT_LIMIT.saturating_sub(begun.elapsed());
                counted(session, sql, left, stop).await?
            }
            FingerprintDepth::Checksums => Some(texts(session, sql, stop).await?),
        };
        match answer.as_ref().and_then(|rows| rows.first()?.last()) {
            Some(value) => {
                tables.push(TableFingerprint { table: table.clone(), value: value.clone() });
            }
            None => missing += 1,
        }
    }
    tables.sort();
    Ok(Fingerprint { depth, tables, missing, seconds: begun.elapsed().as_secs() })
}

/// Counts rows within a limit; `None` if that is not enough.
async fn counted<S: Session>(
    session: &mut S,
    sql: &str,
    limit: Duration,
    stop: &mut Stop<'_>,
) -> Result<Option<Vec<Vec<String>>>, DbError> {
    stop.check().await?;
    let mut late = Stop::when(async {
        tokio::time::sleep(limit).await;
        String::new()
    });
    match texts(session, sql, &mut late).await {
        Ok(rows) => Ok(Some(rows)),
        Err(error) if error.class() == ErrorClass::Cancelled => Ok(None),
        Err(error) => Err(error),
    }
}

/// Reads tables or indexes into caches.
///
/// # Errors
/// When the session is lost, or the work was ended.
pub(crate) async fn warm<S: Session>(
    session: &mut S,
    def: &StateDef,
    what: &[Warmed],
    stop: &mut Stop<'_>,
) -> Result<WarmedUp, DbError> {
    let begun = Instant::now();
    let mut done = WarmedUp { ways: Vec::new(), relations: 0, seconds: 0.0, notes: Vec::new() };
    for of in what {
        let Some(way) = first_way(session, def, *of, stop).await? else {
            let what = show_warm(&[*of]);
            done.notes.push(format!("there is no way to read {what} of this database into caches"));
            continue;
        };
        done.ways.push(way.name.clone());
        done.notes.extend(way.note.clone());
        for row in texts(session, &way.list, stop).await? {
            let [name, sql] = row.as_slice() else { continue };
            let canceller = session.canceller();
            match stop.unless(canceller, session.script(sql)).await {
                Ok(()) => done.relations += 1,
                Err(error) if is_final(&error) => return Err(error),
                Err(error) => {
                    let _ = session.rollback().await;
                    if done.notes.len() < NOTES_MAX {
                        done.notes.push(format!("{name} was not read: {}", error.message()));
                    }
                }
            }
        }
    }
    done.seconds = begun.elapsed().as_secs_f64();
    Ok(done)
}

/// The first way whose condition holds.
async fn first_way<'d, S: Session>(
    session: &mut S,
    def: &'d StateDef,
    of: Warmed,
    stop: &mut Stop<'_>,
) -> Result<Option<&'d WarmDef>, DbError> {
    for way in def.warm.iter().filter(|way| way.of == of) {
        let holds = match &way.when {
            Some(when) => !texts(session, when, stop).await?.is_empty(),
            None => true,
        };
        if holds {
            return Ok(Some(way));
        }
    }
    Ok(None)
}

/// Work in the background, as it was seen so far.
struct Seen<'d> {
    def: &'d QuietDef,
    first: u64,
    last: u64,
    /// Number of looks that found no change.
    unchanged: u32,
}

impl Seen<'_> {
    fn is_done(&self) -> bool {
        self.last == 0 || self.def.rests && self.unchanged >= LOOKS_AT_REST
    }

    fn look(&mut self, now: u64) {
        self.unchanged = if now == self.last { self.unchanged + 1 } else { 0 };
        self.last = now;
    }
}

/// Waits until a server of this version has no work in the background, or `limit` is over.
///
/// # Errors
/// When the session is lost, or the job was ended.
pub(crate) async fn until_quiet<S: Session>(
    session: &mut S,
    def: &StateDef,
    version: &str,
    limit: Duration,
    handle: &Handle,
) -> Result<QuietWait, DbError> {
    let begun = Instant::now();
    let mut stop = stop(handle, limit.saturating_add(LOOK));
    let (mut seen, unknown) = first_look(session, def, version, &mut stop).await?;
    while !seen.iter().all(Seen::is_done) && begun.elapsed() < limit {
        stop.pause(LOOK.min(limit.saturating_sub(begun.elapsed()))).await?;
        for work in &mut seen {
            match number(session, &work.def.sql, &mut stop).await {
                Ok(Some(now)) => work.look(now),
                Err(error) if is_final(&error) => return Err(error),
                Ok(None) | Err(_) => {}
            }
        }
    }
    let is_quiet = seen.iter().all(Seen::is_done);
    let waited_for = seen.iter().filter(|work| work.first > 0).map(|work| BackgroundWork {
        name: work.def.name.clone(),
        first: work.first,
        last: work.last,
        is_left: !work.is_done(),
    });
    Ok(QuietWait {
        limit_s: limit.as_secs_f64(),
        seconds: begun.elapsed().as_secs_f64(),
        is_quiet,
        waited_for: waited_for.collect(),
        unknown,
    })
}

/// Work that can be seen, and the names of what cannot.
async fn first_look<'d, S: Session>(
    session: &mut S,
    def: &'d StateDef,
    version: &str,
    stop: &mut Stop<'_>,
) -> Result<(Vec<Seen<'d>>, Vec<String>), DbError> {
    let (mut seen, mut unknown) = (Vec::new(), Vec::new());
    for def in def.quiet.iter().filter(|def| def.is_for(version)) {
        if let Some(when) = &def.when
            && texts(session, when, stop).await?.is_empty()
        {
            continue;
        }
        match number(session, &def.sql, stop).await {
            Ok(Some(first)) => seen.push(Seen { def, first, last: first, unchanged: 0 }),
            Err(error) if is_final(&error) => return Err(error),
            Ok(None) | Err(_) => unknown.push(def.name.clone()),
        }
    }
    Ok((seen, unknown))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_into_caches_is_a_list() {
        for (text, shown) in
            [("none", "none"), ("tables", "tables"), ("tables, indexes", "tables,indexes")]
        {
            assert_eq!(show_warm(&parse_warm(text).unwrap()), shown);
        }
        for bad in ["", "all", "tables,none", "none,none"] {
            assert!(parse_warm(bad).unwrap_err().contains("expected tables"), "{bad}");
        }
    }

    #[test]
    fn work_is_done_when_there_is_none_or_when_it_rests() {
        let def = |rests| QuietDef {
            name: "purge".to_owned(),
            sql: String::new(),
            when: None,
            rests,
            from: None,
            before: None,
        };
        for (rests, looks, is_done) in [
            (false, [9, 9, 9, 9, 9, 9], false),
            (true, [9, 9, 9, 9, 9, 9], true),
            (true, [9, 9, 9, 8, 8, 8], false),
            (false, [5, 4, 3, 2, 1, 0], true),
        ] {
            let def = def(rests);
            let mut seen = Seen { def: &def, first: 9, last: 9, unchanged: 0 };
            looks.into_iter().for_each(|now| seen.look(now));
            assert_eq!(seen.is_done(), is_done, "{rests} {looks:?}");
        }
    }
}
