//! Live events: their contents and their distribution.

mod event;
mod figures;
mod history;
mod host;
mod hub;
mod second;

pub use event::{
    ActivityCheck, ActivityNote, ActivityPhase, ActivityProgress, ActivityRequirements,
    ActivityStep, Goodbye, Hello, HostLoad, LiveEvent,
};
pub use figures::{Figures, Number};
pub use host::tell_host;
pub use hub::{Hub, READER_EVENTS_MAX, Reader};
pub use second::{LiveSecond, LiveSeconds, LiveType, SecondsOf};
