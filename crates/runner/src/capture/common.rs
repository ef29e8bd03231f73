//! What all captures share: what they report, what they leave out, and masks.

use std::net::SocketAddr;
use std::time::Duration;

use triphammer_capture::Skipped;
use triphammer_capture::mask::Mask;
use triphammer_core::SpecError;
use triphammer_document::capture::SkippedCount;
use triphammer_settings::Settings;
use triphammer_settings::failure::Failure;

/// What happens while something is captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaptureEvent {
    /// So many more bytes of a log were read.
    Read(u64),
    /// Clients can connect here.
    Listening(SocketAddr),
    /// The recording has ended and is kept; why it ended early, if it did.
    Recorded(Option<String>),
    /// So many connections are still open, and are forwarded for at most this time.
    Draining(usize, Duration),
}

/// The reasons that occurred.
pub fn counts(skipped: &Skipped) -> Vec<SkippedCount> {
    skipped.iter().map(|(reason, count)| SkippedCount { reason: reason.text(), count }).collect()
}

/// The setting of masks.
pub const MASK: &str = "mask";

/// What is masked.
#[derive(Clone, Debug, Default)]
pub struct MaskRequest(Option<String>);

impl MaskRequest {
    /// Reads what the settings ask for.
    ///
    /// # Errors
    /// When it names something that is no column.
    pub fn new(settings: &Settings) -> Result<Self, SpecError> {
        let list = settings.get(MASK).map(str::to_owned);
        let request = Self(list);
        request.mask([0; 16])?;
        Ok(request)
    }

    fn mask(&self, key: [u8; 16]) -> Result<Option<Mask>, SpecError> {
        let mask = self.0.as_deref().map(|list| Mask::new(list, key));
        mask.transpose().map_err(|why| SpecError::new(format!("--{MASK}: {why}")).about(MASK))
    }

    /// A mask with a key of its own.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub fn draw(&self) -> Result<Option<Mask>, Failure> {
        let mut key = [0; 16];
        getrandom::fill(&mut key).map_err(|error| Failure::System {
            doing: "drawing the key of the mask".to_owned(),
            error: std::io::Error::other(error),
        })?;
        Ok(self.mask(key)?)
    }
}
