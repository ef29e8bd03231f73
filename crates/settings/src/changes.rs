//! Changes of the load that a run makes itself, as users write them: `at=2m rate=2000/s`,
//! `at=3m users=32` or `at=4m mix=new_order=50,payment=50`.

use triphammer_core::SpecError;
use triphammer_core::pace::{LoadChange, PLANNED_MAX, PlannedChange};

use crate::{REPEATED, Settings, timed};

/// Name of the setting.
const CHANGE: &str = "change";
/// The forms of a change, for messages.
const FORMS: &str = "at=TIME rate=N/s, at=TIME users=N, or at=TIME mix=TYPE=WEIGHT,…";

/// Reads the changes of a run, in the order of their times. Whether the run can have them, its spec says.
///
/// # Errors
/// When one is invalid.
pub(crate) fn changes(settings: &mut Settings) -> Result<Vec<PlannedChange>, SpecError> {
    let show = |changes: &Vec<PlannedChange>| match changes.as_slice() {
        [] => "none".to_owned(),
        all => all.iter().map(PlannedChange::to_string).collect::<Vec<_>>().join(REPEATED),
    };
    let mut changes = settings.read_or(CHANGE, parse_all, show, Vec::new)?;
    changes.sort_by_key(|planned| planned.at);
    Ok(changes)
}

fn parse_all(text: &str) -> Result<Vec<PlannedChange>, String> {
    let changes: Vec<_> = timed::each(text).into_iter().map(parse).collect::<Result<_, _>>()?;
    match changes.len() {
        count if count > PLANNED_MAX => Err(format!("at most {PLANNED_MAX} changes, got {count}")),
        _ => Ok(changes),
    }
}

fn parse(text: &str) -> Result<PlannedChange, String> {
    let (at, what) = timed::parse(text, "change", FORMS)?;
    let wrong = |why: String| format!("`{text}` {why}: expected {FORMS}");
    let (name, value) =
        what.split_once('=').ok_or_else(|| wrong("has an unknown change".to_owned()))?;
    // As in a shell, or in a file of its own.
    let value = value.trim().trim_matches(['"', '\'']);
    let change = match name.trim() {
        "rate" => {
            let rate = value.strip_suffix("/s").unwrap_or(value).parse();
            LoadChange::Rate(rate.map_err(|_| wrong(format!("has the invalid rate `{value}`")))?)
        }
        "users" => {
            let users = value.parse();
            LoadChange::Users(users.map_err(|_| wrong(format!("has `{value}` users")))?)
        }
        "mix" if !value.is_empty() => LoadChange::Mix(value.to_owned()),
        "mix" => return Err(wrong("has an empty mix".to_owned())),
        other => return Err(wrong(format!("changes `{other}`"))),
    };
    Ok(PlannedChange { at, change })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;
    use crate::command::JobKind;

    fn read(text: &str) -> Result<Vec<String>, String> {
        let mut settings = Settings::new(JobKind::Run);
        settings.set(CHANGE, text, Source::Flag);
        let changes = changes(&mut settings).map_err(|error| error.to_string())?;
        Ok(changes.iter().map(PlannedChange::to_string).collect())
    }

    #[test]
    fn changes_are_read_in_the_order_of_their_times() {
        let text = "at=4m mix=\"a=50,b=50\", at=120s rate=2000/s, at=3m users=32, at=5m rate=0.5";
        let expected =
            ["at=2m rate=2000/s", "at=3m users=32", "at=4m mix=a=50,b=50", "at=5m rate=0.5/s"];
        assert_eq!(read(text).unwrap(), expected);
        assert_eq!(read("at=1m mix=1,2,3").unwrap(), ["at=1m mix=1,2,3"]);
    }

    #[test]
    fn what_is_no_change_is_refused_with_the_forms() {
        for (text, why) in [
            ("users=5", "does not begin with at="),
            ("at=5s", "has no change"),
            ("at=5s faster", "has an unknown change"),
            ("at=5s vus=5", "changes `vus`"),
            ("at=5s users=many", "has `many` users"),
            ("at=5s users=-1", "has `-1` users"),
            ("at=5s rate=fast", "has the invalid rate `fast`"),
            ("at=5s rate=5/m", "has the invalid rate `5/m`"),
            ("at=5s mix=", "has an empty mix"),
            ("at=5 users=5", "a number with a unit"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
        let many = vec!["at=5s users=5"; PLANNED_MAX + 1].join(REPEATED);
        assert!(read(&many).unwrap_err().contains("at most 100 changes, got 101"));
    }
}
