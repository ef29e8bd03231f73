//! Resolves the settings of a run against the build, or builds the default file first.

use std::collections::BTreeMap;
use std::sync::Arc;

use triphammer_core::pace::LoadChange;
use triphammer_core::session::{Capabilities, Database, Isolation, Role, Session};
use triphammer_core::spec::RunSpec;
use triphammer_core::sql::StatementCatalogue;
use triphammer_core::workload::{
    BuildEffect, Description, ExternalSchema, Mode, OptionCommand, OwnData, OwnWork, Workload,
    WorkloadSettings,
};
use triphammer_core::{Scale, SpecError};
use triphammer_dialects::catalogues;
use triphammer_document::failure_limit::FailureLimit;
use triphammer_document::requirement::{self, Vocabulary};
use triphammer_drivers::AnyDatabase;
use triphammer_engine::Share;
use triphammer_load::Plan;
use triphammer_observe::energy::{self, EnergyPlan};
use triphammer_observe::host_metrics::{self, Exporter};
use triphammer_observe::{self as observe, ObservePlan};
use triphammer_settings::cancel::Cancel;
use triphammer_settings::failure::{Doing, Failure};
use triphammer_settings::nodes::NodeList;
use triphammer_settings::target::Target;
use triphammer_settings::worker_pool::{connect, create_database, identify, on_this_thread};
use triphammer_settings::{RunDefaults, Settings, run_spec, until_ci};
use triphammer_workloads::AnyWorkload;

use super::Resolved;
use super::pause;
use super::query_run::{self, QueryRun};
use crate::build::{build, option_of};
use crate::build_request::BuildRequest;
use crate::check::built;
use crate::cluster::{Cluster, SharedRun};
use crate::record::Record;
use crate::state::Preparation;
use crate::watch::Watch;
use crate::{requests, resources};

/// Scale of a run on a database that does not store data.
const SCALE_UNSTORED: u32 = 10;

impl Resolved {
    /// Resolves a run: scale and seed from the build, the rest from the settings. The default
    /// SQLite file is built first if it does not exist.
    ///
    /// # Errors
    /// When nothing was built, or a setting is invalid.
    pub fn new(
        settings: &mut Settings,
        workload: &Arc<Description>,
        target: &Target,
        watch: &Watch<'_>,
        is_preview: bool,
    ) -> Result<Self, Failure> {
        let database = &target.database;
        let pause = pause::read(settings)?;
        let (workload, vocabulary) = &of_user(settings, workload, target)?;
        let requirements = requirement::from_settings(settings, vocabulary)?;
        identify(workload, database)?;
        refuse_isolations(workload, database.capabilities())?;
        let sql = catalogue(workload, database)?;
        let (mut given, record) =
            given_and_built(settings, workload, &sql, target, watch, is_preview)?;
        for (name, value) in settings.workload_options(&workload.options, OptionCommand::Run) {
            given.options.entry(name).or_insert(value);
        }
        requests::show_own(settings, workload);
        show_external(settings, workload, &record)?;
        let (spec, queries) = spec(settings, workload, &given, &record, target, &sql)?;
        let cluster = Cluster::from_settings(settings)?;
        match &cluster {
            Some(cluster) => cluster.refuse(settings, workload, target, &spec)?,
            None => resources::check(&spec, database)?,
        }
        given.run_seed = spec.seed;
        given.without_waits = spec.load.is_closed();
        let mut plan = plan(workload, &given, &record, database, sql, spec)?;
        check_changes(&plan)?;
        if let (Some(list), None) = (&target.nodes, &queries) {
            let nodes = list.of_run(plan.workload.description(), plan.spec.seed)?;
            plan.nodes = Some(Arc::new(nodes));
        }
        let streams = query_run::streams(settings, &given, &mut plan)?;
        let Observing { observe, host_exporter, energy } =
            Observing::read(settings, vocabulary, database, queries.is_some())?;
        if let Some(cluster) = &cluster {
            cluster.refuse_streams(streams.is_some())?;
        }
        let shared = cluster.map(|cluster| SharedRun::new(cluster, settings, target, &given));
        let price = crate::price::read(settings)?;
        let preparation = Preparation::read(settings)?;
        if !is_preview && target.is_file() && makes_its_data(plan.workload.description()) {
            create_database(database)?;
        }
        let facts = record.below("fact").chain(record.below("dialect"));
        Ok(Self {
            plan,
            settings: given,
            facts: facts.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            external: record.is_external(),
            requirements,
            connect_limit: target.connect_limit,
            until_ci: until_ci(settings)?,
            failure_limit: FailureLimit::from_settings(settings)?,
            observe,
            host_exporter,
            energy,
            price,
            queries,
            streams,
            shared,
            pause,
            preparation,
            restored: None,
            parent: None,
            seat: None,
        })
    }
}

/// Whether the workload's own code makes its data in the run, also in a file that does not exist yet.
fn makes_its_data(workload: &Description) -> bool {
    workload.own_work().is_some_and(|work: &OwnWork| work.data == OwnData::InRun)
}

/// What is read beside a run.
struct Observing {
    observe: Option<ObservePlan>,
    host_exporter: Option<Exporter>,
    energy: Option<EnergyPlan>,
}

impl Observing {
    /// Reads the settings of what is observed; of queries, no energy.
    fn read(
        settings: &mut Settings,
        vocabulary: &Vocabulary,
        database: &AnyDatabase,
        of_queries: bool,
    ) -> Result<Self, Failure> {
        let observe = observe::plan(settings, vocabulary, database)?;
        let observe = if of_queries { observe.map(ObservePlan::of_queries) } else { observe };
        let host_exporter = host_metrics::exporter(settings)?.filter(|_| observe.is_some());
        let energy = energy::plan(settings, host_exporter.as_ref())?;
        let energy = (observe.is_some() && !of_queries).then_some(energy);
        Ok(Self { observe, host_exporter, energy })
    }
}

/// Reads the settings of a run without connecting, as far as they do not depend on what was built:
/// a request with an invalid value is rejected before it waits for its turn.
///
/// # Errors
/// When a setting is invalid.
pub fn validate(
    settings: &mut Settings,
    workload: &Arc<Description>,
    target: &Target,
) -> Result<(), Failure> {
    let database = &target.database;
    let (workload, vocabulary) = &of_user(settings, workload, target)?;
    requirement::from_settings(settings, vocabulary)?;
    // By ODBC the dialect is known only when somebody connects.
    if database.dialect() == "base" {
        return Ok(());
    }
    let sql = catalogue(workload, database)?;
    let record = match database.capabilities().stores && workload.has_data() {
        true => unbuilt(settings, workload)?,
        false => Record::planned(workload, Scale::ONE, 1, &BTreeMap::new()),
    };
    let given = record.workload_settings().doing("reading the settings of the workload")?;
    let (_, queries) = spec(settings, workload, &given, &record, target, &sql)?;
    if queries.is_none() {
        observe::plan(settings, vocabulary, database)?;
    }
    let host_exporter = host_metrics::exporter(settings)?;
    energy::plan(settings, host_exporter.as_ref())?;
    crate::price::read(settings)?;
    pause::read(settings)?;
    until_ci(settings)?;
    FailureLimit::from_settings(settings)?;
    Ok(())
}

/// The workload of a run, each with its own files, because the two sides of a comparison may run
/// different scripts; and the names of its metrics.
fn of_user(
    settings: &mut Settings,
    workload: &Arc<Description>,
    target: &Target,
) -> Result<(Arc<Description>, Vocabulary), Failure> {
    let workload = requests::of_run(settings, workload)?;
    let nodes = target.nodes.iter().flat_map(NodeList::names).map(str::to_owned);
    let vocabulary = Vocabulary::of_workload(&workload).with_nodes(nodes);
    if query_run::is_for(&workload) {
        query_run::refuse_settings(settings, &workload)?;
    }
    requests::refuse_invalid_options(settings, &workload)?;
    Ok((workload, vocabulary))
}

/// The SQL of a workload for a database.
fn catalogue(
    workload: &Description,
    database: &AnyDatabase,
) -> Result<StatementCatalogue, Failure> {
    let procedures = database.capabilities().procedures;
    Ok(catalogues::catalogue(workload, database.dialect(), procedures)?)
}

/// The workload's settings that the data has, and the build record; without stored data, those that
/// were asked for.
fn given_and_built(
    settings: &mut Settings,
    workload: &Arc<Description>,
    sql: &StatementCatalogue,
    target: &Target,
    watch: &Watch<'_>,
    is_preview: bool,
) -> Result<(WorkloadSettings, Record), Failure> {
    let has_data = workload.has_data();
    if !target.database.capabilities().stores || !has_data {
        let is_own = !has_data || workload.is_of_user();
        let unstored = if is_own { Scale::ONE } else { SCALE_UNSTORED.into() };
        let scale = requests::scale(settings, unstored)?;
        let given = WorkloadSettings { scale, data_seed: 1, ..WorkloadSettings::default() };
        return Ok((given, Record::default()));
    }
    let record = match on_this_thread(find(workload, sql, target)) {
        Ok(record) => record,
        Err(_) if target.is_embedded_to_build() && !is_preview => {
            // An invalid setting is reported before a file is created.
            Resolved::new(&mut settings.clone(), workload, target, watch, true)?;
            build_embedded(settings, workload, target, watch)?;
            on_this_thread(find(workload, sql, target))?
        }
        Err(_) if target.is_embedded_to_build() => unbuilt(settings, workload)?,
        Err(failure) => return Err(failure),
    };
    agree(settings, workload, &record)?;
    refuse_lack(&record, &target.database.target())?;
    let given = record.workload_settings().doing("reading the build record")?;
    Ok((given, record))
}

/// What another program's tables require, if it created them.
fn external<'a>(workload: &'a Description, record: &Record) -> Option<&'a ExternalSchema> {
    workload.external.as_ref().filter(|_| record.is_external())
}

/// Shows the options that another program's tables have, and rejects a mode that they do not support.
fn show_external(
    settings: &mut Settings,
    workload: &Description,
    record: &Record,
) -> Result<(), SpecError> {
    let Some(external) = external(workload, record) else { return Ok(()) };
    for (name, value) in &external.options {
        let source = settings.source(name);
        settings.show(name, value.to_string(), &source);
    }
    refuse_mode(settings, workload, external)
}

/// The modes in which the data can be driven.
fn modes<'a>(workload: &'a Description, record: &Record) -> &'a [Mode] {
    // Without procedures in the database, only statements are possible.
    let without = option_of(workload, BuildEffect::NoProcedures);
    let without = without.and_then(|option| record.get(&format!("option/{}", option.name)));
    match (without, external(workload, record)) {
        (Some("true"), _) => &[Mode::Statements],
        (_, Some(external)) => &external.modes,
        _ => &workload.modes,
    }
}

/// The spec of the run, and the set of queries that it times, if it is one of queries.
fn spec(
    settings: &mut Settings,
    workload: &Description,
    given: &WorkloadSettings,
    record: &Record,
    target: &Target,
    sql: &StatementCatalogue,
) -> Result<(RunSpec, Option<QueryRun>), Failure> {
    let database = &target.database;
    if query_run::is_for(workload) {
        let (spec, queries) = query_run::resolve(settings, workload, given, record, database, sql)?;
        return Ok((spec, Some(queries)));
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let defaults = RunDefaults {
        capabilities: database.capabilities(),
        scale: if workload.has_data() { given.scale.rounded_up() } else { 1 },
        modes: modes(workload, record),
        pipelining: workload.pipelining,
        cycle: workload.cycle.as_ref(),
        recording: workload.recording.as_ref(),
        embedded: target.embedded,
        cores: u32::try_from(cores).unwrap_or(u32::MAX),
    };
    Ok((run_spec(settings, defaults)?, None))
}

/// The plan of the run by one process on one server.
fn plan(
    workload: &Description,
    given: &WorkloadSettings,
    record: &Record,
    database: &Arc<AnyDatabase>,
    sql: StatementCatalogue,
    spec: RunSpec,
) -> Result<Plan, Failure> {
    let workload = Arc::new(AnyWorkload::new(&workload.name, given)?);
    if let Some(difference) = record.setup_difference(&workload.build_facts()) {
        return Err(Failure::refuse(format!(
            "{difference}; build it again at {} with --replace",
            database.target()
        )));
    }
    // The SQL of a user's workload may depend on the scale, which the database had to be asked for.
    let sql = match workload.description().is_of_user() {
        true => catalogue(workload.description(), database)?,
        false => sql,
    };
    Ok(Plan {
        workload,
        database: Arc::clone(database),
        nodes: None,
        catalogue: Arc::new(sql),
        spec,
        share: Share::WHOLE,
    })
}

/// Rejects changes of the load that only the workload knows to be impossible.
fn check_changes(plan: &Plan) -> Result<(), SpecError> {
    let RunSpec { load, pacing, .. } = &plan.spec;
    let is_replay = plan.workload.description().recording.is_some();
    let changeable = plan.spec.changeable(is_replay);
    for planned in &pacing.changes {
        let checked = match &planned.change {
            LoadChange::Mix(text) => {
                let mix = plan.workload.mix(load.is_open()).map_err(str::to_owned);
                mix.and_then(|mix| mix.check(text).map(drop))
            }
            LoadChange::Rate(_) | LoadChange::Users(_) => Ok(()),
        };
        let possible = changeable.check(&planned.change).map_err(|why| why.to_string());
        if let Err(why) = possible.and(checked) {
            return Err(SpecError::new(format!("--change `{planned}`: {why}")).about("change"));
        }
    }
    Ok(())
}

/// Rejects isolation levels of transactions that the database does not have.
fn refuse_isolations(workload: &Description, capabilities: &Capabilities) -> Result<(), SpecError> {
    let lacks = |level: &Isolation| !capabilities.isolations.contains(level);
    for transaction in &workload.transactions {
        if let Some(level) = transaction.isolation.filter(lacks) {
            let known: Vec<_> = capabilities.isolations.iter().map(|level| level.name()).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            let message = format!(
                "transaction `{}` has isolation level {}, which this database does not have: it \
                 has {known}",
                transaction.name,
                level.name()
            );
            return Err(SpecError::new(message).about("workload-file"));
        }
    }
    Ok(())
}

/// Reads the build record at the target.
async fn find(
    workload: &Description,
    catalogue: &StatementCatalogue,
    target: &Target,
) -> Result<Record, Failure> {
    let name = target.database.target();
    let mut session = connect(&target.database, Role::Monitor, target.connect_limit)
        .await
        .doing(format_args!("connecting to {name}"))?;
    let record = built(workload, catalogue, &mut session, &target.database).await?;
    session.close().await;
    Ok(record)
}

/// Scale of the default file.
fn embedded_scale(workload: &Description) -> Scale {
    if query_run::is_for(workload) { query_run::EMBEDDED_SCALE } else { Scale::ONE }
}

/// The record that the default file would have, for `--show-spec` before it is built.
fn unbuilt(settings: &mut Settings, workload: &Description) -> Result<Record, Failure> {
    let scale = requests::scale(settings, embedded_scale(workload))?;
    let options = settings.workload_options(&workload.options, OptionCommand::Build);
    Ok(Record::planned(workload, scale, 1, &options))
}

/// Builds the default file.
fn build_embedded(
    settings: &mut Settings,
    workload: &Arc<Description>,
    target: &Target,
    watch: &Watch<'_>,
) -> Result<(), Failure> {
    let scale = requests::scale(settings, embedded_scale(workload))?;
    watch.note(&format!(
        "building {} with {} at {}",
        workload.title,
        workload.scale_unit.count(scale),
        target.database.target()
    ));
    let of_workload = WorkloadSettings {
        scale,
        data_seed: 1,
        run_seed: 0,
        without_waits: false,
        options: settings.workload_options(&workload.options, OptionCommand::Build),
    };
    let request = BuildRequest {
        workload: Arc::new(AnyWorkload::new(&workload.name, &of_workload)?),
        settings: of_workload,
        dialect_options: settings.dialect_options(target.database.dialect()),
        jobs: 1,
        add: false,
        replace: false,
        force: false,
        create_database: false,
        observe: None,
        host_exporter: None,
        hosts: None,
        connect_limit: target.connect_limit,
        cancel: Cancel::default(),
    };
    build(&target.database, &request, watch, &mut || None).map(drop)
}

/// Rejects a run on tables created by another program if other objects that it needs are missing.
fn refuse_lack(record: &Record, target: &str) -> Result<(), Failure> {
    let (Some(made_by), Some(lack)) = (record.made_by(), record.lack()) else { return Ok(()) };
    Err(Failure::refuse(format!(
        "{made_by} created the tables at {target}, but {lack} (`check` works nevertheless)"
    )))
}

/// Rejects a mode that the workload supports but the tables of another program do not.
fn refuse_mode(
    settings: &Settings,
    workload: &Description,
    external: &ExternalSchema,
) -> Result<(), SpecError> {
    let asked = settings.get("mode").and_then(|text| text.parse::<Mode>().ok());
    let (Some(asked), Some(mode)) = (asked, external.modes.first()) else { return Ok(()) };
    if external.modes.contains(&asked) || !workload.modes.contains(&asked) {
        return Ok(());
    }
    let (made_by, mode, asked) = (&external.made_by, mode.name(), asked.name());
    let message = format!(
        "{made_by} created the tables, so a run needs mode {mode}, not {asked}: omit --mode"
    );
    Err(SpecError::new(message).about("mode"))
}

/// Rejects settings that contradict the build.
fn agree(
    settings: &mut Settings,
    workload: &Description,
    record: &Record,
) -> Result<(), SpecError> {
    if record.get("version") != Some(workload.version.to_string().as_str()) {
        return Err(SpecError::new(format!(
            "the data was built for version {} of {}, but this program runs version {}; rebuild it \
             with --replace",
            record.get("version").unwrap_or("?"),
            workload.title,
            workload.version
        )));
    }
    let built = record.get("scale").and_then(|text| text.parse().ok()).unwrap_or_default();
    let asked: Scale = settings.parse_or("scale", || built)?;
    if asked != built {
        let built = workload.scale_unit.count(built);
        return Err(SpecError::new(format!(
            "the data has {built}, not {asked}; omit --scale, or build again with --replace"
        )));
    }
    for (option, built) in record.below("option") {
        if let Some(asked) = settings.get(option)
            && asked != built
        {
            let made_by = record.get("fact/made_by");
            return Err(SpecError::new(match made_by.filter(|_| record.is_external()) {
                Some(made_by) => {
                    format!("{made_by} created the tables, so {option} is {built}, not {asked}")
                }
                None => format!(
                    "the data was built with {option} = {built}, not {asked}; omit the option, or \
                     build again with --replace"
                ),
            }));
        }
    }
    Ok(())
}
