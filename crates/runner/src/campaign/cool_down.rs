//! The pause between two runs of a campaign (`--cool-down`), in which a server finishes what it does
//! in the background. Unless its length was given, it ends early where the server is on this host
//! and the host is quiet.

use std::time::Duration;

use triphammer_core::SpecError;
use triphammer_core::session::Database as _;

use triphammer_observe::host_metrics::QuietHost;
use triphammer_settings::handle::Handle;
use triphammer_settings::target::Target;
use triphammer_settings::{Settings, Source};

/// Time between two looks at the host.
const LOOK: Duration = Duration::from_secs(1);

/// The pause between two runs.
#[derive(Clone, Copy, Debug)]
pub struct CoolDown {
    /// Its length, or the most that it takes.
    pub most: Duration,
    /// Whether it ends when the host is quiet.
    ends_when_quiet: bool,
}

impl CoolDown {
    /// Reads `--cool-down`. The default is short where the database is in this process and does
    /// nothing between runs.
    ///
    /// # Errors
    /// When the setting is invalid.
    pub fn read(settings: &mut Settings, target: &Target) -> Result<Self, SpecError> {
        let does_nothing = target.is_file() || !target.database.capabilities().stores;
        let default = Duration::from_secs(if does_nothing { 1 } else { 10 });
        let ends_when_quiet = settings.source("cool-down") == Source::Default;
        Ok(Self { most: settings.duration_or("cool-down", default)?, ends_when_quiet })
    }

    /// Waits, or until the job is stopped. `is_here` says that the server is on this host.
    pub(super) fn wait(self, handle: &Handle, is_here: bool) {
        if !(self.ends_when_quiet && is_here) {
            return handle.wait(self.most);
        }
        let mut host = QuietHost::begin();
        let mut left = self.most;
        while !left.is_zero() && !handle.is_stopped() {
            let next = left.min(LOOK);
            handle.wait(next);
            left -= next;
            if host.look(next.as_secs_f64()) {
                return;
            }
        }
    }
}
