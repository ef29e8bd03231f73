//! What an attempt at a script can see of the one before: most scripts assign each variable before they read it, so that
//! nothing needs to be kept for a retry.

use std::collections::BTreeSet;

use super::parser::{Action, Amount, Program};
use super::sql::{Capture, Part};

/// Whether the script may read a variable that an earlier attempt at it has assigned. True as well for scripts with
/// branches, answers or shell commands that assign variables: they are not followed.
pub fn sees_the_one_before(program: &Program) -> bool {
    let assigns: BTreeSet<usize> =
        program.steps.iter().filter_map(|step| set(&step.action)).collect();
    let mut assigned = BTreeSet::new();
    for step in &program.steps {
        let reads: Vec<usize> = match &step.action {
            Action::Set(_, expression) => expression.variables().collect(),
            Action::Sql(index) if program.sql[*index].capture == Capture::Nothing => {
                program.sql[*index].parts.iter().flat_map(Part::slots).collect()
            }
            Action::Sleep(Amount::Variable(slot), _) => vec![*slot],
            Action::Sleep(Amount::Constant(_), _) | Action::Pipeline(_) => Vec::new(),
            Action::Sql(_) | Action::Unless(..) | Action::Jump(_) | Action::Shell(..) => {
                return true;
            }
        };
        if reads.iter().any(|slot| assigns.contains(slot) && !assigned.contains(slot)) {
            return true;
        }
        assigned.extend(set(&step.action));
    }
    false
}

/// The variable that `\set` assigns.
fn set(action: &Action) -> Option<usize> {
    match action {
        Action::Set(slot, _) => Some(*slot),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::names::Names;
    use super::super::parser::parse;
    use super::*;

    #[test]
    fn only_what_is_read_before_it_is_assigned_lasts() {
        for (text, expected) in [
            ("\\set a random(1, :scale)\nSELECT :a;", false),
            ("\\set a 1\n\\set b :a + :scale\nSELECT :a, ':b';\n\\sleep :a ms", false),
            ("SELECT :a;", false),
            ("\\set a :a + 1\nSELECT 1;", true),
            ("SELECT ':a';\n\\set a 1", true),
            ("\\sleep :a ms\n\\set a 1", true),
            ("\\if :a = 1\n\\set a 2\n\\endif\nSELECT 1;", true),
            ("SELECT 1 AS a \\gset", true),
        ] {
            let program = parse("a.sql", text, &mut Names::default()).unwrap();
            assert_eq!(sees_the_one_before(&program), expected, "{text}");
        }
    }
}
