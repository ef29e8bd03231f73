//! The list of workloads, and one enum over them. A transaction goes through one `match`, which a
//! processor predicts reliably because a run drives one workload, and the engine and everything
//! above it is compiled once for all of them. To add a workload, add its module and its line in
//! `workloads!` at the end of this file.

use std::fmt;
use std::sync::Arc;

use triphammer_core::answers::ReplayAnswers;
use triphammer_core::mix::Mix;
use triphammer_core::outcome::Outcome;
use triphammer_core::query_plan::{QueryPlan, Refresh};
use triphammer_core::random::Rng;
use triphammer_core::session::{RowSource, Session};
use triphammer_core::sql::Placeholder;
use triphammer_core::value::Timestamp;
use triphammer_core::workload::{
    Author, Chunk, Completion, Description, Mode, OwnWork, ScriptTotals, StatementExample,
    StatementTimes, Statements, TableDef, Workload, WorkloadSettings,
};
use triphammer_core::{DbError, Elapsed, SpecError};

use crate::custom::suggestion;

/// Why two values of the enums below always belong to the same workload.
const OF_ONE: &str = "users, inputs and statements come from the workload that receives them";

/// Generates [`AnyWorkload`] and the enums of its associated types from the list of workloads: the
/// name of the variant and the workload's type, which has `describe()` and `new(settings)` besides
/// the trait.
macro_rules! workloads {
    ($($name:ident($workload:ty)),+ $(,)?) => {
        /// Any workload of the list.
        #[derive(Debug)]
        pub enum AnyWorkload {
            $(#[doc = concat!("`", stringify!($workload), "`.")] $name($workload),)+
        }

        /// A virtual user of any workload of the list.
        pub enum AnyUser {
            $(#[doc = concat!("Of `", stringify!($workload), "`.")]
            $name(<$workload as Workload>::User),)+
        }

        /// The input of a transaction of any workload of the list.
        #[derive(Clone)]
        pub enum AnyInput {
            $(#[doc = concat!("Of `", stringify!($workload), "`.")]
            $name(<$workload as Workload>::Input),)+
        }

        /// The prepared statements of a session for any workload of the list.
        pub enum AnyPrepared {
            $(#[doc = concat!("For `", stringify!($workload), "`.")]
            $name(<$workload as Workload>::Prepared),)+
        }

        /// Descriptions of the workloads, in the order of the list.
        fn descriptions() -> Vec<Arc<Description>> {
            vec![$(<$workload>::describe()),+]
        }

        impl AnyWorkload {
            /// Creates the workload `name`, at the given scale and with the given options.
            ///
            /// # Errors
            /// When there is no such workload, or an option or the scale is invalid.
            pub fn new(name: &str, settings: &WorkloadSettings) -> Result<Self, SpecError> {
                $(if <$workload>::describe().name == name {
                    return Ok(Self::$name(<$workload>::new(settings)?));
                })+
                Err(unknown(name))
            }
        }

        impl fmt::Display for AnyInput {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self { $(Self::$name(input) => fmt::Display::fmt(input, f),)+ }
            }
        }

        #[deny(clippy::missing_trait_methods, reason = "what is not forwarded would be lost")]
        impl Workload for AnyWorkload {
            type User = AnyUser;
            type Input = AnyInput;
            type Prepared = AnyPrepared;

            fn description(&self) -> &Arc<Description> {
                match self { $(Self::$name(workload) => workload.description(),)+ }
            }

            fn chunks(&self) -> Vec<Chunk> {
                match self { $(Self::$name(workload) => workload.chunks(),)+ }
            }

            fn rows(&self, chunk: &Chunk, table: &TableDef) -> Box<dyn RowSource + '_> {
                match self { $(Self::$name(workload) => workload.rows(chunk, table),)+ }
            }

            fn build_facts(&self) -> Vec<(&'static str, String)> {
                match self { $(Self::$name(workload) => workload.build_facts(),)+ }
            }

            async fn start<S: Session>(
                &self,
                statements: &Statements<'_>,
                session: &mut S,
            ) -> Result<(), DbError> {
                match self { $(Self::$name(workload) => workload.start(statements, session).await,)+ }
            }

            fn user(&self, id: u32, users: u32, rng: &mut Rng) -> AnyUser {
                match self {
                    $(Self::$name(workload) => AnyUser::$name(workload.user(id, users, rng)),)+
                }
            }

            fn arrive(&self, user: &mut AnyUser, number: u64, rng: &mut Rng) -> Option<usize> {
                match (self, user) {
                    $((Self::$name(workload), AnyUser::$name(user)) => {
                        workload.arrive(user, number, rng)
                    })+
                    _ => unreachable!("{OF_ONE}"),
                }
            }

            #[inline]
            fn next(&self, user: &mut AnyUser, rng: &mut Rng) -> Option<usize> {
                match (self, user) {
                    $((Self::$name(workload), AnyUser::$name(user)) => workload.next(user, rng),)+
                    _ => unreachable!("{OF_ONE}"),
                }
            }

            fn due(&self, user: &AnyUser) -> Elapsed {
                match (self, user) {
                    $((Self::$name(workload), AnyUser::$name(user)) => workload.due(user),)+
                    _ => unreachable!("{OF_ONE}"),
                }
            }

            #[inline]
            fn draw(
                &self,
                transaction: usize,
                user: &mut AnyUser,
                rng: &mut Rng,
                now: Timestamp,
            ) -> AnyInput {
                match (self, user) {
                    $((Self::$name(workload), AnyUser::$name(user)) => {
                        AnyInput::$name(workload.draw(transaction, user, rng, now))
                    })+
                    _ => unreachable!("{OF_ONE}"),
                }
            }

            async fn prepare<S: Session>(
                &self,
                mode: Mode,
                statements: &mut Statements<'_>,
                session: &mut S,
            ) -> Result<AnyPrepared, DbError> {
                match self {
                    $(Self::$name(workload) => {
                        workload.prepare(mode, statements, session).await.map(AnyPrepared::$name)
                    })+
                }
            }

            fn acknowledged(&self, input: &AnyInput) -> Option<Completion> {
                match (self, input) {
                    $((Self::$name(workload), AnyInput::$name(input)) => {
                        workload.acknowledged(input)
                    })+
                    _ => unreachable!("{OF_ONE}"),
                }
            }

            fn partition(&self, input: &AnyInput) -> Option<u64> {
                match (self, input) {
                    $((Self::$name(workload), AnyInput::$name(input)) => workload.partition(input),)+
                    _ => unreachable!("{OF_ONE}"),
                }
            }

            #[inline]
            fn ended(
                &self,
                user: &mut AnyUser,
                input: &AnyInput,
                outcome: Outcome,
                at: Elapsed,
            ) {
                match (self, user, input) {
                    $((Self::$name(workload), AnyUser::$name(user), AnyInput::$name(input)) => {
                        workload.ended(user, input, outcome, at);
                    })+
                    _ => unreachable!("{OF_ONE}"),
                }
            }

            async fn run<S: Session>(
                &self,
                input: &AnyInput,
                prepared: &mut AnyPrepared,
                session: &mut S,
            ) -> Result<Completion, DbError> {
                match (self, input, prepared) {
                    $((
                        Self::$name(workload),
                        AnyInput::$name(input),
                        AnyPrepared::$name(prepared),
                    ) => workload.run(input, prepared, session).await,)+
                    _ => unreachable!("{OF_ONE}"),
                }
            }

            async fn finish<S: Session>(&self, prepared: AnyPrepared, session: &mut S) {
                match (self, prepared) {
                    $((Self::$name(workload), AnyPrepared::$name(prepared)) => {
                        workload.finish(prepared, session).await;
                    })+
                    _ => unreachable!("{OF_ONE}"),
                }
            }

            fn is_done(&self) -> bool {
                match self { $(Self::$name(workload) => workload.is_done(),)+ }
            }

            fn failure(&self) -> Option<String> {
                match self { $(Self::$name(workload) => workload.failure(),)+ }
            }

            fn writes(&self) -> Option<bool> {
                match self { $(Self::$name(workload) => workload.writes(),)+ }
            }

            fn mix(&self, arrives: bool) -> Result<&Arc<Mix>, &'static str> {
                match self { $(Self::$name(workload) => workload.mix(arrives),)+ }
            }

            fn warning(&self) -> Option<String> {
                match self { $(Self::$name(workload) => workload.warning(),)+ }
            }

            fn script_totals(&self) -> Option<ScriptTotals> {
                match self { $(Self::$name(workload) => workload.script_totals(),)+ }
            }

            fn replay_answers(&self) -> Option<ReplayAnswers> {
                match self { $(Self::$name(workload) => workload.replay_answers(),)+ }
            }

            fn statement_example(
                &self,
                text: &str,
                placeholder: Placeholder,
            ) -> Option<StatementExample> {
                match self {
                    $(Self::$name(workload) => workload.statement_example(text, placeholder),)+
                }
            }

            fn statement_times(&self) -> Vec<StatementTimes> {
                match self { $(Self::$name(workload) => workload.statement_times(),)+ }
            }

            fn query_plan(&self) -> Option<QueryPlan> {
                match self { $(Self::$name(workload) => workload.query_plan(),)+ }
            }

            async fn refuse_refresh<S: Session>(
                &self,
                refresh: Refresh,
                tries: bool,
                statements: &mut Statements<'_>,
                session: &mut S,
            ) -> Result<Option<String>, DbError> {
                match self {
                    $(Self::$name(workload) => {
                        workload.refuse_refresh(refresh, tries, statements, session).await
                    })+
                }
            }

            async fn refresh<S: Session>(
                &self,
                refresh: Refresh,
                statements: &mut Statements<'_>,
                session: &mut S,
            ) -> Result<u64, DbError> {
                match self {
                    $(Self::$name(workload) => workload.refresh(refresh, statements, session).await,)+
                }
            }
        }
    };
}

/// Name of the workload of a job that names none.
pub const DEFAULT: &str = crate::tproc_c::NAME;

/// Descriptions of all workloads that a user can name, in the order of the list.
#[must_use]
pub fn all() -> Vec<Arc<Description>> {
    let mut all = descriptions();
    all.retain(|workload| !matches!(workload.author, Author::Command(_)));
    all
}

/// Description of the workload `name`.
///
/// # Errors
/// When there is no such workload.
pub fn describe(name: &str) -> Result<Arc<Description>, SpecError> {
    let mut all = descriptions().into_iter();
    all.find(|workload| workload.name == name).ok_or_else(|| unknown(name))
}

/// Description of the workload that a command builds and runs; `None` if the command has none of
/// its own.
#[must_use]
pub fn of_command(command: &str) -> Option<Arc<Description>> {
    let is_of = |of: &Author| matches!(of, Author::Command(name) if *name == command);
    descriptions().into_iter().find(|workload| is_of(&workload.author))
}

/// Description of the first workload whose transactions are in the files that a setting names.
#[must_use]
pub fn of_setting(setting: &str) -> Option<Arc<Description>> {
    let is_of = |work: &OwnWork| work.setting == setting;
    descriptions().into_iter().find(|workload| workload.own_work().is_some_and(is_of))
}

/// Description of the workload `name` with these options, on which that of a user's own workload depends.
///
/// # Errors
/// When there is no such workload, or a file of the user is invalid.
pub fn describe_with(
    name: &str,
    options: &std::collections::BTreeMap<String, String>,
) -> Result<Arc<Description>, SpecError> {
    let declared = describe(name)?;
    if !declared.is_of_user() {
        return Ok(declared);
    }
    let options = options.clone();
    let settings = WorkloadSettings { scale: 1.into(), options, ..WorkloadSettings::default() };
    Ok(Arc::clone(AnyWorkload::new(name, &settings)?.description()))
}

/// Names of workloads elsewhere, and ours.
const NAMES_ELSEWHERE: [(&str, &str); 9] = [
    ("tpcc", "tproc-c"),
    ("tpc-c", "tproc-c"),
    ("tprocc", "tproc-c"),
    ("tpch", "tproc-h"),
    ("tpc-h", "tproc-h"),
    ("tproch", "tproc-h"),
    ("tpcb", "tpc-b"),
    ("pgbench", "tpc-b"),
    ("ycsb", "kv"),
];

fn unknown(name: &str) -> SpecError {
    let known: Vec<_> = all().iter().map(|workload| workload.name.to_string()).collect();
    let elsewhere = NAMES_ELSEWHERE.iter().find(|(theirs, _)| name.eq_ignore_ascii_case(theirs));
    let meant = match elsewhere {
        Some((_, ours)) => format!("; did you mean `{ours}`?"),
        None => suggestion(name, known.iter().map(String::as_str)),
    };
    SpecError::new(format!(
        "unknown workload `{name}`: expected one of {}, or a workload file FILE.toml{}",
        known.join(", "),
        meant
    ))
}

workloads! {
    TprocC(crate::tproc_c::TprocC),
    TpcB(crate::tpc_b::TpcB),
    TprocH(crate::tproc_h::TprocH),
    Ch(crate::ch::Ch),
    Script(crate::script::Script),
    Kv(crate::kv::Kv),
    Custom(crate::custom::Custom),
    Replay(crate::replay::Replay),
    Sysbench(crate::sysbench::Sysbench),
    Python(crate::python::Python),
    Drill(crate::drill::Drill),
    Isolation(crate::isolation::IsolationLoad),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leads_to_its_workload() {
        assert_eq!(describe("tproc-c").unwrap().title, "TPROC-C");
        let settings = WorkloadSettings { scale: 1.into(), ..WorkloadSettings::default() };
        let workload = AnyWorkload::new("tpc-b", &settings).unwrap();
        assert_eq!(workload.description().name, "tpc-b");
    }

    #[test]
    fn a_workload_says_whose_its_transactions_are() {
        let of_user: Vec<_> = all().into_iter().filter(|of| of.is_of_user()).collect();
        let names: Vec<&str> = of_user.iter().map(|of| &*of.name).collect();
        assert_eq!(names, ["script", "custom", "replay", "sysbench", "python"]);
        for workload in &of_user {
            let work = workload.own_work().unwrap();
            let has = |name: &str| workload.options.iter().any(|option| option.name == name);
            assert!(has(work.setting), "{}", workload.name);
            assert!(work.local_options.iter().all(|of| has(of.about)), "{}", workload.name);
        }
        assert_eq!(of_setting("recording").unwrap().name, "replay");
        assert_eq!(of_setting("vus").map(|of| of.name.clone()), None);
        assert_eq!(of_command("drill").unwrap().title, "Durability drill");
        assert!(of_command("run").is_none() && describe(DEFAULT).is_ok());
        assert_eq!(of_command("isolation").unwrap().title, "Isolation");
        let is_of_command = |of: &Description| matches!(of.author, Author::Command(_));
        assert!(all().iter().all(|workload| !is_of_command(workload)));
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_known_ones() {
        let error = describe("tproc-z").unwrap_err().to_string();
        assert_eq!(
            error,
            "unknown workload `tproc-z`: expected one of tproc-c, tpc-b, tproc-h, ch, script, kv, \
             custom, replay, sysbench, python, or a workload file FILE.toml; did you mean `tproc-c`?"
        );
        let far = describe("linkbench").unwrap_err().to_string();
        assert!(far.ends_with("or a workload file FILE.toml"), "{far}");
    }
}
