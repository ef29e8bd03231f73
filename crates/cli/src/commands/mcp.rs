//! `triphammer mcp`.

use std::path::Path;

use tokio::sync::watch;
use triphammer_server::{Assistant, AssistantConfig, FixedTarget};
use triphammer_settings::Settings;
use triphammer_settings::failure::Failure;

use super::store_path;
use crate::{Exit, Result, signals};

/// Serves an assistant on standard input and output until it closes them, or until Ctrl-C or SIGTERM: the first one
/// stops and stores the running jobs, the second one aborts them.
pub fn command(settings: &mut Settings) -> Result<Exit> {
    let targets = settings.get("targets").map(|file| FixedTarget::read_all(Path::new(file)));
    let config = AssistantConfig {
        store: store_path(settings)?,
        targets: targets.transpose()?.unwrap_or_default(),
        max_time: settings.duration("max-time")?,
        allow_destructive: settings.switch("allow-destructive")?,
    };
    let assistant = Assistant::open(config).map_err(|error| Failure::refuse(error.message))?;
    let failed = |error| Failure::System { doing: "serving an assistant".into(), error };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(failed)?;
    let (count, interrupts) = watch::channel(0);
    signals::serves(count);
    let served = runtime.block_on(assistant.run(interrupts));
    // Where standard input is no pipe, a read that waits cannot be ended.
    runtime.shutdown_background();
    served.map_err(failed)?;
    Ok(Exit::Done)
}
