//! Resolves settings to requests for builds and checks, for the command line and the server. The
//! request of a run is [`Resolved`](crate::run::Resolved), which depends on the database.

use std::collections::BTreeMap;
use std::sync::Arc;

use triphammer_core::workload::{
    Author, Description, OptionCommand, OwnData, OwnWork, Refusal, Workload as _, WorkloadSettings,
};
use triphammer_core::{Database, Scale, SpecError};
use triphammer_dialects::catalogues;
use triphammer_observe::{self as observe, host_metrics};
use triphammer_settings::cancel::Cancel;
use triphammer_settings::command::{Command, JobKind};
use triphammer_settings::failure::{Doing, Failure};
use triphammer_settings::target::Target;
use triphammer_settings::{JOBS_MAX, SCALE_MAX, Settings, Source, workload_options};
use triphammer_workloads::{AnyWorkload, describe, describe_with, of_command, of_setting};

use crate::build::base_record;
use crate::build_request::BuildRequest;
use crate::check::CheckRequest;
use crate::cluster::SharedBuild;
use crate::record::Record;

/// Setting that names the file of a user's own workload.
const WORKLOAD_FILE: &str = "workload-file";
/// Setting that names the recording to replay.
const RECORDING: &str = "recording";

/// Finds the workload named in the settings; reads the user's files if it is made of them.
///
/// # Errors
/// When there is no workload of that name, or a file is invalid.
pub fn workload(settings: &mut Settings) -> Result<Arc<Description>, Failure> {
    if let Some(workload) = of_command(settings.command().name()) {
        return Ok(workload);
    }
    set_replay(settings)?;
    let mut name: String = settings.parse("workload")?;
    if name.ends_with(".toml") {
        if settings.get(WORKLOAD_FILE).is_some() {
            let message = match settings.source(WORKLOAD_FILE) {
                Source::Job(job) => format!(
                    "-w {name}: --replay-exemplar uses the workload file that is stored with job \
                     {job}; omit -w"
                ),
                _ => format!("-w {name} already names the workload file: omit --workload-file"),
            };
            return Err(SpecError::new(message).about(WORKLOAD_FILE).into());
        }
        let source = settings.source("workload");
        settings.set(WORKLOAD_FILE, name.as_str(), source);
        settings.replace("workload", name_of(WORKLOAD_FILE));
        name = settings.parse("workload")?;
    }
    let declared = describe(&name)?;
    if let Author::Command(command) = declared.author
        && settings.command() != Command::Job(JobKind::Drop)
    {
        let message =
            format!("`{name}` is a command of its own: use `triphammer {command} TARGET`");
        return Err(SpecError::new(message).about("workload").into());
    }
    of_run(settings, &declared)
}

/// Name of the workload whose files a setting names.
fn name_of(setting: &str) -> String {
    of_setting(setting).expect("a workload has the setting").name.to_string()
}

/// Whether a workload that somebody names is their own: files, or transactions in a setting.
#[must_use]
pub fn is_own(name: &str) -> bool {
    let name = name.trim();
    name.ends_with(".toml") || describe(name).is_ok_and(|workload| workload.is_of_user())
}

/// Makes `--load replay:FILE` the workload of that recording, and `--recording FILE` that load.
fn set_replay(settings: &mut Settings) -> Result<(), Failure> {
    let replay = name_of(RECORDING);
    let of_load = settings.get("load").and_then(|load| load.strip_prefix("replay:"));
    match (of_load.map(str::to_owned), settings.get(RECORDING).map(str::to_owned)) {
        (Some(of_load), Some(given)) if of_load != given => {
            let message =
                format!("--load replay:{of_load} already names the recording: omit --recording");
            return Err(SpecError::new(message).about(RECORDING).into());
        }
        (Some(of_load), None) => {
            let source = settings.source("load");
            settings.set("workload", replay.as_str(), source.clone());
            settings.set(RECORDING, of_load, source);
        }
        (None, Some(given)) => {
            let source = settings.source(RECORDING);
            settings.set("workload", replay.as_str(), source.clone());
            settings.set("load", format!("replay:{given}"), source);
        }
        _ => return Ok(()),
    }
    match settings.get("workload") {
        Some(other) if other != replay => Err(Failure::refuse(format!(
            "-w {other} cannot be replayed: a recording has its own statements; omit -w"
        ))),
        _ => Ok(()),
    }
}

/// Whether only the command line runs the workload `name`.
#[must_use]
pub fn is_only_local(name: &str) -> bool {
    describe(name).is_ok_and(|workload| workload.is_only_local())
}

/// Reads the files of a user's own workload, whose texts become the value of their setting, and
/// describes it.
fn own(
    settings: &mut Settings,
    declared: &Description,
    work: &OwnWork,
) -> Result<Arc<Description>, Failure> {
    let command = settings.command();
    let uses = |kind: JobKind| kind.drives() || work.data == OwnData::InBuild;
    if !command.job().is_some_and(uses) {
        return Err(Failure::refuse(work.unused.replace("{command}", command.name())));
    }
    let of_client = settings.of_client();
    let refused = |refusal: &Refusal| SpecError::new(refusal.why).about(refusal.about);
    if let Some(refusal) = work.only_local.filter(|_| of_client) {
        return Err(refused(&refusal).into());
    }
    if let Some(texts) = work.texts {
        let loaded = (texts.load)(settings.get(work.setting).unwrap_or_default(), !of_client)?;
        settings.replace(work.setting, loaded);
    }
    let options = settings.workload_options(&declared.options, OptionCommand::Run);
    let is_set = |of: &&Refusal| options.get(of.about).is_some_and(|value| value != "false");
    if let Some(refusal) = work.local_options.iter().find(is_set).filter(|_| of_client) {
        return Err(refused(refusal).into());
    }
    show_own(settings, declared);
    Ok(describe_with(&declared.name, &options)?)
}

/// The workload of one run: `workload`, unless the run's own settings name other files of the user.
///
/// # Errors
/// When a file is invalid.
pub fn of_run(
    settings: &mut Settings,
    workload: &Arc<Description>,
) -> Result<Arc<Description>, Failure> {
    match workload.own_work() {
        Some(work) => own(settings, workload, work),
        None => Ok(Arc::clone(workload)),
    }
}

/// Shows the files of a user's own workload by their names instead of their texts.
pub fn show_own(settings: &mut Settings, workload: &Description) {
    let Some(work) = workload.own_work() else { return };
    let Some(texts) = work.texts else { return };
    let summary = settings.get(work.setting).map(texts.summary).unwrap_or_default();
    let source = settings.source(work.setting);
    settings.show(work.setting, summary, &source);
}

/// Rejects a flag that is not an option of the workload. In a job file or the environment, it may
/// be meant for another run.
///
/// # Errors
/// When there is such a flag.
pub fn refuse_options_of_others(
    settings: &Settings,
    workload: &Description,
) -> Result<(), Failure> {
    let has = |name: &str| workload.options.iter().any(|option| option.name == name);
    for (title, option) in workload_options() {
        let asked = settings.source(&option.name).is_of_job();
        if asked && !has(&option.name) {
            let name = &option.name;
            let known = triphammer_workloads::all();
            let takes = |of: &&Arc<Description>| of.options.iter().any(|own| own.name == *name);
            let ours: Vec<_> =
                known.iter().filter(takes).map(|of| format!("-w {}", of.name)).collect();
            let message = format!(
                "--{name} is an option of {title}, not of {}: choose the workload with {}",
                workload.name,
                ours.join(" or ")
            );
            return Err(SpecError::new(message).about(name).into());
        }
    }
    Ok(())
}

/// Rejects invalid values of the workload's options, before the database is asked for anything: they do not
/// depend on what is there.
///
/// # Errors
/// As the workload reports.
pub fn refuse_invalid_options(settings: &Settings, workload: &Description) -> Result<(), Failure> {
    // What is read here is not shown: what was built may replace it.
    let mut settings = settings.clone();
    let mut options = BTreeMap::new();
    for command in [OptionCommand::Build, OptionCommand::Run] {
        options.extend(settings.workload_options(&workload.options, command));
    }
    let given = WorkloadSettings { scale: Scale::ONE, options, ..WorkloadSettings::default() };
    Ok(AnyWorkload::new(&workload.name, &given).map(drop)?)
}

/// Rejects a flag that is not an option of the dialect.
///
/// # Errors
/// When there is such a flag.
pub fn refuse_options_of_other_dialects(
    settings: &Settings,
    target: &Target,
) -> Result<(), Failure> {
    let dialect = target.database.dialect();
    let has = catalogues::options(dialect)?;
    for (of, option) in catalogues::all_options() {
        let name = &*option.name;
        let asked = settings.source(name).is_of_job();
        if asked && has.iter().all(|own| own.name != name) {
            // By ODBC the dialect is known only when somebody connects.
            let message = match dialect {
                "base" => {
                    format!("--{name} is an option of a dialect: name it too, with --dialect")
                }
                _ => format!("--{name} is an option of {of}, not of {dialect}"),
            };
            return Err(SpecError::new(message).about(name).into());
        }
    }
    Ok(())
}

/// Rejects a campaign over a workload whose runs are a set of queries: its levels, rates and pairs are about
/// transactions.
///
/// # Errors
/// If the workload declares no transactions; the message names the commands that it supports.
pub fn refuse_campaign_of_queries(kind: JobKind, workload: &Description) -> Result<(), Failure> {
    // A profile varies the streams, a matrix any setting.
    let varies = |kind: &JobKind| matches!(kind, JobKind::Profile | JobKind::Matrix);
    let can = |kind: &JobKind| !kind.is_campaign() || varies(kind);
    if can(&kind) || !workload.transactions.is_empty() {
        return Ok(());
    }
    let others = JobKind::ALL.into_iter().filter(|kind| can(kind) && !kind.has_own_load());
    let others = others.map(JobKind::name).chain([Command::Datagen.name()]);
    let others: Vec<&str> = others.collect();
    Err(Failure::refuse(format!(
        "a run of {} is a set of queries, which `{}` cannot vary; use {}",
        workload.title,
        kind.name(),
        others.join(", ")
    )))
}

/// Reads the scale of the data.
///
/// # Errors
/// If it is invalid or too large.
pub fn scale(settings: &mut Settings, default: Scale) -> Result<Scale, Failure> {
    let scale: Scale = settings.parse_or("scale", || default)?;
    if scale > SCALE_MAX.into() {
        let message = format!("--scale must be at most {SCALE_MAX}, got {scale}");
        return Err(SpecError::new(message).about("scale").into());
    }
    Ok(scale)
}

/// Reads the parameters of a build.
///
/// # Errors
/// When a value is invalid.
pub fn build(
    settings: &mut Settings,
    workload: &Arc<Description>,
    target: &Target,
) -> Result<BuildRequest, Failure> {
    refuse_invalid_options(settings, workload)?;
    let add = settings.switch("add")?;
    let base = if add { Some(base_record(workload, target)?) } else { None };
    let built = base.as_ref().map(Record::workload_settings).transpose();
    let built = built.doing("reading the build record")?;
    let default = workload.scale_unit.default;
    let scale = scale(settings, built.as_ref().map_or(default, |built| built.scale))?;
    let mut of_workload = WorkloadSettings {
        scale,
        data_seed: match built {
            Some(built) => settings.parse_or("seed", || built.data_seed)?,
            None => settings.parse("seed")?,
        },
        run_seed: 0,
        without_waits: false,
        options: settings.workload_options(&workload.options, OptionCommand::Build),
    };
    let mut dialect_options = settings.dialect_options(target.database.dialect());
    if let Some(base) = &base {
        keep(settings, base.below("option"), &mut of_workload.options);
        keep(settings, base.below("dialect"), &mut dialect_options);
    }
    let workload = Arc::new(AnyWorkload::new(&workload.name, &of_workload)?);
    // What defines the workload is not stored with its data.
    let defines = |name: &String| {
        let known = &workload.description().options;
        known.iter().any(|o| o.name == **name && o.command == OptionCommand::Every)
    };
    of_workload.options.retain(|name, _| !defines(name));
    show_own(settings, workload.description());
    let one_writer = target.database.capabilities().one_writer;
    let jobs = settings.count_or("jobs", JOBS_MAX, || {
        if one_writer { 1 } else { (2 * cores()).min(chunks(&workload)).max(1) }
    })?;
    if jobs == 0 {
        return Err(Failure::refuse("--jobs must be 1 or more"));
    }
    let description = workload.description();
    let hosts = SharedBuild::from_settings(settings, description, &of_workload, target, jobs)?;
    // A run that builds first observes the run.
    let is_job = settings.command() == Command::Job(JobKind::Build);
    let observe = if is_job { observe::plan_of_build(settings)? } else { None };
    let host_exporter = if is_job { host_metrics::exporter(settings)? } else { None };
    Ok(BuildRequest {
        workload,
        hosts,
        host_exporter: host_exporter.filter(|_| observe.is_some()),
        observe,
        jobs,
        settings: of_workload,
        dialect_options,
        add,
        replace: settings.switch("replace")?,
        force: settings.switch("force")?,
        create_database: settings.switch("create-database")?,
        connect_limit: target.connect_limit,
        cancel: Cancel::default(),
    })
}

/// Number of the chunks that share the data, besides those of what exists once.
fn chunks(workload: &AnyWorkload) -> u32 {
    let shared = workload.chunks().into_iter().filter(|chunk| chunk.key > 0).count();
    u32::try_from(shared).unwrap_or(u32::MAX)
}

/// Replaces defaults of options by what a build recorded.
fn keep<'a>(
    settings: &mut Settings,
    recorded: impl Iterator<Item = (&'a str, &'a str)>,
    options: &mut BTreeMap<String, String>,
) {
    for (name, value) in recorded {
        if settings.get(name).is_none() && options.contains_key(name) {
            settings.show(name, value.to_owned(), &Source::Default);
            options.insert(name.to_owned(), value.to_owned());
        }
    }
}

/// Rejects a database in this process for a workload with streams of queries: they are to compete for a server,
/// and not for the threads that issue the transactions.
///
/// # Errors
/// When the workload has streams, and the database runs in this process.
pub fn refuse_without_server(workload: &Description, target: &Target) -> Result<(), Failure> {
    let capabilities = target.database.capabilities();
    if !workload.has_streams || (capabilities.stores && !capabilities.blocks) {
        return Ok(());
    }
    Err(Failure::refuse(format!(
        "{} needs a database server (postgres://, mysql:// or mariadb://): {} runs in this process, where queries \
         and transactions would compete for the client's own threads",
        workload.title,
        target.database.target()
    )))
}

/// Reads the parameters of a check.
///
/// # Errors
/// When a value is invalid.
pub fn check(
    settings: &mut Settings,
    workload: &Arc<Description>,
    target: &Target,
) -> Result<CheckRequest, Failure> {
    let jobs = settings.count_or("jobs", JOBS_MAX, cores)?.max(1);
    let range = settings.optional("warehouses", parse_range, |(a, b)| format!("{a}-{b}"), "all")?;
    let cancel = Cancel::default();
    let (workload, connect_limit) = (Arc::clone(workload), target.connect_limit);
    Ok(CheckRequest { workload, range, jobs, connect_limit, cancel })
}

/// Parses a range: `3` or `3-8`.
fn parse_range(text: &str) -> Result<(i64, i64), String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    match (first.trim().parse(), last.trim().parse()) {
        (Ok(first), Ok(last)) if first <= last => Ok((first, last)),
        _ => Err(format!("invalid range `{text}`: expected a number or a range, such as 3 or 3-8")),
    }
}

/// Number of logical processors.
fn cores() -> u32 {
    std::thread::available_parallelism().map_or(1, |n| u32::try_from(n.get()).unwrap_or(u32::MAX))
}
