//! A value as given: a text, or, by a program, the value itself, which is then not formatted and
//! parsed.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use triphammer_core::clock::format_duration;
use triphammer_core::pace::Load;

/// A given value of a setting.
#[derive(Clone)]
pub struct GivenValue {
    /// The value as typed on the command line.
    text: String,
    /// The value itself, if given by a program.
    value: Option<Arc<dyn Any + Send + Sync>>,
}

impl GivenValue {
    fn typed<T: Any + Send + Sync>(text: String, value: T) -> Self {
        Self { text, value: Some(Arc::new(value)) }
    }

    /// The value as typed on the command line.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The value itself, if a program gave it with this type; otherwise the text must be parsed.
    #[must_use]
    pub fn value<T: Clone + 'static>(&self) -> Option<T> {
        self.value.as_ref()?.downcast_ref().cloned()
    }
}

impl fmt::Debug for GivenValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}

impl PartialEq for GivenValue {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for GivenValue {}

impl From<String> for GivenValue {
    fn from(text: String) -> Self {
        Self { text, value: None }
    }
}

impl From<&str> for GivenValue {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<&String> for GivenValue {
    fn from(text: &String) -> Self {
        text.clone().into()
    }
}

impl From<u32> for GivenValue {
    fn from(number: u32) -> Self {
        Self::typed(number.to_string(), number)
    }
}

impl From<u64> for GivenValue {
    fn from(number: u64) -> Self {
        Self::typed(number.to_string(), number)
    }
}

impl From<Duration> for GivenValue {
    fn from(duration: Duration) -> Self {
        Self::typed(format_duration(duration), duration)
    }
}

impl From<Load> for GivenValue {
    fn from(load: Load) -> Self {
        Self::typed(load.to_string(), load)
    }
}
