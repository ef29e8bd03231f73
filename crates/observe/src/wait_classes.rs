//! The class of what a session waits for, by the rules of the server's dialect.

use std::collections::HashMap;

use triphammer_dialects::waits::{WaitRule, class_of};
use triphammer_document::result::WaitClass;

/// Maximum number of waits whose class is remembered.
const WAITS_MAX: usize = 4_000;

/// Finds classes. A wait is looked up in the rules once, because a sample has many sessions.
#[derive(Debug, Default)]
pub struct WaitClasses {
    rules: Vec<WaitRule>,
    known: HashMap<String, WaitClass>,
    key: String,
}

impl WaitClasses {
    /// The classes by these rules.
    pub fn new(rules: &[WaitRule]) -> Self {
        Self { rules: rules.to_vec(), ..Self::default() }
    }

    /// The class of a wait; `Other` if no rule has it.
    pub fn of(&mut self, wait: &str, context: &str) -> WaitClass {
        self.key.clear();
        self.key.extend([wait, "\n", context]);
        if let Some(class) = self.known.get(&self.key) {
            return *class;
        }
        let class =
            class_of(&self.rules, wait, context).map_or_else(WaitClass::default, WaitClass::named);
        if self.known.len() == WAITS_MAX {
            self.known.clear();
        }
        self.known.insert(self.key.clone(), class);
        class
    }
}

#[cfg(test)]
mod tests {
    use triphammer_dialects::catalogues::dialects;
    use triphammer_dialects::observe::observe;

    use super::*;

    #[test]
    fn the_classes_of_all_dialects_exist() {
        for dialect in dialects() {
            for rule in observe(&dialect).unwrap().waits {
                let WaitRule { class, .. } = rule;
                assert_eq!(WaitClass::named(&class).name(), class, "{dialect}");
            }
        }
    }

    #[test]
    fn the_context_of_a_wait_decides_too() {
        let mut classes = WaitClasses::new(&observe("sqlserver").unwrap().waits);
        let key = "KEY: 5:72057594043170816 (8194443284a0)";
        for _ in 0..2 {
            assert_eq!(classes.of("LCK_M_X", key), WaitClass::RowLock);
            assert_eq!(classes.of("LCK_M_X", "OBJECT: 5:245575913:0"), WaitClass::Lock);
            assert_eq!(classes.of("NEW", ""), WaitClass::Other);
        }
    }
}
