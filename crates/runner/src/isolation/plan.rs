//! The settings of a test of isolation, and the levels that it tests.

use std::path::PathBuf;
use std::time::Duration;

use triphammer_core::isolation::Isolation;
use triphammer_core::random::Rng;
use triphammer_core::session::{Database as _, Role, Session as _};
use triphammer_core::small_file::check_regular;
use triphammer_core::sql::BoundStatement;
use triphammer_core::{DbError, Rows, SpecError};
use triphammer_dialects::isolation::{IsolationDef, LevelDef, levels};
use triphammer_drivers::AnySession;
use triphammer_isolation::{Anomaly, Promise};
use triphammer_settings::failure::{Doing as _, Failure};
use triphammer_settings::limited::Limited;
use triphammer_settings::target::Target;
use triphammer_settings::worker_pool::{connect, on_this_thread};
use triphammer_settings::{GivenValue, Settings};

use super::Driven;
use crate::own_load::LoadSettings;

/// Users, where the database serves several at once.
const USERS: u32 = 16;
/// Users where one writes at a time.
const USERS_OF_ONE_WRITER: u32 = 4;

/// The settings of a test.
pub(super) struct Plan {
    pub(super) load: LoadSettings,
    /// Time of the control; none if it is zero.
    pub(super) control: Duration,
    pub(super) expected: Option<Anomaly>,
    pub(super) fails_if_undecided: bool,
    /// The file that the history is written to; `None` to write none.
    pub(super) history: Option<PathBuf>,
    /// What `--levels` asks for.
    levels: Option<String>,
    /// What `--isolation` asks for.
    level: Option<Isolation>,
}

impl Plan {
    pub(super) fn read((settings, target): (&mut Settings, &Target)) -> Result<Self, Failure> {
        if !target.database.capabilities().stores {
            return Err(Failure::refuse(
                "this database does not store data, so its transactions cannot conflict",
            ));
        }
        let name = |level: &Isolation| level.name().to_owned();
        let (levels, level) =
            (settings.get("levels").map(str::to_owned), settings.get("isolation"));
        if levels.is_some() && level.is_some() {
            let message = "--levels names the levels already: omit --isolation";
            return Err(SpecError::new(message).about("isolation").into());
        }
        let history = settings.get("history").map(PathBuf::from);
        if levels.is_some() && history.is_some() {
            let message = "a history is of one level: name it by --isolation, and omit --levels";
            return Err(SpecError::new(message).about("history").into());
        }
        if let Some(path) = &history {
            check_regular(path).map_err(|error| {
                SpecError::new(format!("{}: {error}", path.display())).about("history")
            })?;
        }
        Ok(Self {
            history,
            load: LoadSettings::read(settings, target, [USERS_OF_ONE_WRITER, USERS])?,
            control: settings.duration("control")?,
            expected: settings.optional(
                "expect",
                str::parse,
                |kind: &Anomaly| kind.name().to_owned(),
                "none",
            )?,
            fails_if_undecided: settings.switch("fail-if-undecided")?,
            level: settings.optional("isolation", str::parse, name, "of the database")?,
            levels,
        })
    }

    /// The settings of the run at a level.
    pub(super) fn of_run(
        &self,
        settings: &Settings,
        levels: &Levels,
        level: Isolation,
        duration: Duration,
    ) -> Settings {
        let mut more = vec![("isolation", GivenValue::from(level.name()))];
        // The sessions have the level that was asked for; another one is that of each transaction.
        if self.levels.is_some() || !levels.is_of_sessions(level) {
            more.push(("level", GivenValue::from(level.name())));
        }
        let options = ["weights", "rows"].into_iter();
        more.extend(options.filter_map(|name| Some((name, settings.get(name)?.into()))));
        self.load.of_run(settings, duration, more)
    }

    /// The levels to test; asks the database for its default and its variant.
    pub(super) fn levels(
        &self,
        (settings, target): (&mut Settings, &Target),
    ) -> Result<Levels, Failure> {
        let database = &target.database;
        let def = levels(database.dialect())?;
        let has = |level: &&LevelDef| database.capabilities().isolations.contains(&level.name);
        let mut known: Vec<Isolation> = def.levels.iter().filter(has).map(|of| of.name).collect();
        known.dedup();
        if known.is_empty() {
            return Err(Failure::refuse(format!(
                "what {} promises at its isolation levels is not known to triphammer",
                database.target()
            )));
        }
        let asked = on_this_thread(ask(target, &def))
            .doing(format_args!("asking {} for its isolation level", database.target()))?;
        let variant = asked.variant.as_deref();
        let is_own = |level: &&Isolation| {
            def.level(**level, variant).is_some_and(|level| level.treated_as.is_none())
        };
        let own: Vec<Isolation> = known.iter().filter(is_own).copied().collect();
        let mut tested = match (&self.levels, self.level) {
            (Some(names), _) if names.trim() == "all" => own.clone(),
            (Some(names), _) => named(names, &known)?,
            (None, Some(level)) => vec![level],
            (None, None) => vec![asked.default.unwrap_or(known[0])],
        };
        if let Some(unknown) = tested.iter().find(|level| !known.contains(level)) {
            return Err(unknown_level(unknown.name(), &known).into());
        }
        if self.levels.is_some() {
            Rng::of(self.load.seed, &[LEVELS]).shuffle(&mut tested);
        }
        let names: Vec<&str> = tested.iter().map(|level| level.name()).collect();
        let source = settings.source(if self.levels.is_some() { "levels" } else { "isolation" });
        settings.show("levels", names.join(","), &source);
        let control = own[0];
        let is_control = self.expected.is_none() && !tested.contains(&control);
        let has_nodes = target.nodes.is_some();
        let variant = asked.variant;
        Ok(Levels {
            tested,
            control: is_control.then_some(control),
            of_sessions: self.level.or(asked.default),
            weakest: control,
            known,
            def,
            variant,
            has_nodes,
        })
    }
}

/// Purpose of the random stream that orders the levels.
const LEVELS: u64 = 0x6C76_6C73;

/// The levels of a test, and what is known of the database's.
pub(super) struct Levels {
    /// In the order in which they run.
    pub(super) tested: Vec<Isolation>,
    /// The level of the control; `None` without one.
    pub(super) control: Option<Isolation>,
    /// The level of the sessions; `None` if it is unknown.
    of_sessions: Option<Isolation>,
    /// The weakest level.
    weakest: Isolation,
    /// All levels of the database, the weakest first.
    pub(super) known: Vec<Isolation>,
    def: IsolationDef,
    variant: Option<String>,
    /// Whether the target has several nodes, between which no product promises an order.
    pub(super) has_nodes: bool,
}

impl Levels {
    /// What is promised at a level of this target, by one server or by its nodes together.
    pub(super) fn promise(&self, level: Isolation) -> Promise {
        let level = self.level(level);
        let promise = if self.has_nodes { level.promise_of_nodes() } else { level.promise() };
        promise.expect("promises were read with their file")
    }

    /// What the product promises at a level.
    pub(super) fn level(&self, level: Isolation) -> &LevelDef {
        let found = self.def.level(level, self.variant.as_deref());
        found.expect("levels that are tested are declared")
    }

    /// Whether the sessions have a level, so that transactions need not ask for it.
    fn is_of_sessions(&self, level: Isolation) -> bool {
        self.of_sessions == Some(level)
    }

    /// The test of the weakest level, which is the control of the others.
    pub(super) fn weakest_of<'a>(&self, driven: &'a [Driven]) -> Option<&'a Driven> {
        let weakest = driven.iter().find(|driven| driven.level == self.weakest)?;
        (driven.len() > 1).then_some(weakest)
    }
}

fn named(names: &str, known: &[Isolation]) -> Result<Vec<Isolation>, SpecError> {
    let mut levels = Vec::new();
    for name in names.split(',').map(str::trim) {
        let level = name.parse().map_err(|_| unknown_level(name, known).about("levels"))?;
        if !levels.contains(&level) {
            levels.push(level);
        }
    }
    Ok(levels)
}

fn unknown_level(name: &str, known: &[Isolation]) -> SpecError {
    let known: Vec<&str> = known.iter().map(|level| level.name()).collect();
    let message =
        format!("this database does not have isolation level {name}: it has {}", known.join(", "));
    SpecError::new(message).about("isolation")
}

/// What the database says of itself.
struct DatabaseFacts {
    variant: Option<String>,
    default: Option<Isolation>,
}

async fn ask(target: &Target, def: &IsolationDef) -> Result<DatabaseFacts, DbError> {
    // A file need not exist yet.
    if def.default_query.is_none() && def.variant.is_none() {
        return Ok(DatabaseFacts { variant: None, default: def.default_level });
    }
    let mut session = connect(&target.database, Role::Monitor, target.connect_limit).await?;
    let default = match &def.default_query {
        Some(query) => text(&mut session, query).await?.parse().ok(),
        None => def.default_level,
    };
    let variant = match &def.variant {
        // Servers before the variant do not know what is asked.
        Some(query) => text(&mut session, query).await.ok().filter(|found| !found.is_empty()),
        None => None,
    };
    session.close().await;
    Ok(DatabaseFacts { variant, default })
}

/// The first value of a query.
async fn text(session: &mut Limited<AnySession>, sql: &str) -> Result<String, DbError> {
    let statement = BoundStatement {
        name: "isolation".to_owned(),
        sql: sql.to_owned(),
        params: Vec::new(),
        order: Vec::new(),
    };
    let id = session.prepare(&statement).await?;
    let mut rows = Rows::new();
    session.query(id, &[], &mut rows).await?;
    Ok(rows.first("the answer")?.text(0)?.to_owned())
}
