//! Tests of other machines by the authors of this program, to compare with.

use triphammer_document::doctor::{HOST_FIGURES, HostFigure, HostReference};

/// A machine and its figures, in the order of the declarations of those that it has.
struct Machine {
    words: &'static str,
    figures: &'static [(&'static str, f64)],
}

/// The machines.
const MACHINES: &[Machine] = &[];

/// All references.
pub(super) fn all() -> Vec<HostReference> {
    let reference = |machine: &Machine| HostReference {
        machine: machine.words.to_owned(),
        figures: HOST_FIGURES
            .iter()
            .filter_map(|def| {
                let (name, value) = machine.figures.iter().find(|(name, _)| *name == def.name)?;
                let (name, unit) = ((*name).to_owned(), def.unit.to_owned());
                Some(HostFigure { name, value: *value, unit })
            })
            .collect(),
    };
    MACHINES.iter().map(reference).collect()
}
