//! The document of a comparison: its figures with their verdict, and how the sides differ. Which runs
//! are compared is decided by whoever makes it.

mod answers;
mod at_once;
mod builds;
mod document;
mod facts;
mod figures;
mod host_setting;
mod plans;
mod profiles;
mod run;
mod time;
mod words;

pub use answers::{
    AnswersCompared, DifferingStatement, ReplayFit, SideAnswers, StatementSpeed, UnstableStatement,
};
pub use at_once::{AtOnce, AtOnceKind, Block, CONTENTION_MIN, CarryOver, Contention, UntilDecided};
pub use builds::Built;
pub use document::{
    COMPARISON_FORMAT, ComparisonParameters, ComparisonResult, Demand, FailedRun, OfPair, Pairing,
    Side, SideRun, price_list_of,
};
pub use facts::{Difference, Facts, Subject};
pub use figures::{Figure, QUERY_TIME};
pub use host_setting::HostSetting;
pub use plans::PlanChange;
pub use profiles::{CurveFigure, LevelFigure, Profiled, Profiles};
pub use run::{Run, Seconds, seconds};
pub use time::{ComparedPart, TimeComparison};
pub use words::{ratio, word};
