//! The variables of a run's scripts: a slot for each name, so that nothing is looked up by name
//! while scripts run.

use std::collections::HashMap;

/// Names of variables, and their slots.
#[derive(Clone, Debug, Default)]
pub struct Names {
    names: Vec<String>,
    slots: HashMap<String, usize>,
}

impl Names {
    /// The slot of a name, which gets the next one if it is new.
    pub fn slot(&mut self, name: &str) -> usize {
        if let Some(slot) = self.slots.get(name) {
            return *slot;
        }
        let slot = self.names.len();
        self.names.push(name.to_owned());
        self.slots.insert(name.to_owned(), slot);
        slot
    }

    /// The slot of a name, if a script uses it.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<usize> {
        self.slots.get(name).copied()
    }

    /// Name of a slot.
    #[must_use]
    pub fn name(&self, slot: usize) -> &str {
        &self.names[slot]
    }

    /// Number of slots.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }
}

/// Whether a variable may have this name: letters, digits, underscores and non-ASCII characters,
/// not beginning with a digit.
#[must_use]
pub fn is_name(name: &str) -> bool {
    name.starts_with(begins_name) && name.chars().all(continues_name)
}

/// Whether a name may begin with this character.
#[must_use]
pub fn begins_name(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || !c.is_ascii()
}

/// Whether a name may contain this character.
#[must_use]
pub fn continues_name(c: char) -> bool {
    begins_name(c) || c.is_ascii_digit()
}
