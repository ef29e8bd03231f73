//! The parts specific to `triphammer compare`: its formats.

use triphammer_settings::Settings;
use triphammer_settings::formats::{FORMATS, Format};

use crate::Result;

/// Reads the format in which to print the comparison.
pub fn format(settings: &mut Settings) -> Result<Format> {
    let read = |text: &str| {
        let format: Format = text.parse()?;
        if format.declared().is_printed {
            return Ok(format);
        }
        let names = FORMATS.iter().filter(|known| known.is_printed).map(|known| known.name);
        let names: Vec<_> = names.collect();
        Err(format!("cannot print a comparison as {format}; use one of {}", names.join(", ")))
    };
    Ok(settings.read("format", read, Format::to_string)?)
}
