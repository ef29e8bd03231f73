//! Formats a command line to copy from the given settings.

use serde_json::Value;
use triphammer_settings::command::JobKind;
use triphammer_settings::{Mark, SettingKind, declared, is, workload_options};
use triphammer_store::StoredJob;

/// Formats the command with its settings; targets come first and without their names.
pub fn of<'a>(command: JobKind, given: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let is_place = |name: &str| is(command, name, Mark::Positional);
    let (places, given): (Vec<_>, Vec<_>) = given.into_iter().partition(|(name, _)| is_place(name));
    let mut line = format!("triphammer {}", command.name());
    for (_, url) in places {
        line.push_str(&format!(" {}", quoted(url)));
    }
    for (name, value) in given {
        let is_switch = declared(command, name).is_some_and(|s| s.kind() == SettingKind::Switch)
            || workload_options().iter().any(|(_, o)| o.name == name && o.value.is_none());
        match (is_switch, value) {
            (true, "true") => line.push_str(&format!(" --{name}")),
            (true, _) => line.push_str(&format!(" --{name}={}", quoted(value))),
            (false, _) => line.push_str(&format!(" --{name} {}", quoted(value))),
        }
    }
    line
}

/// Formats the command of a stored job: from the plan of a campaign, or from the result of a run.
pub fn of_job(job: &StoredJob) -> String {
    let of_plan = job.plan.as_ref().and_then(|plan| plan["given"].as_array());
    let of_result = job.document.as_ref().and_then(|document| document["settings"].as_array());
    // The document of a run has the names of its files, the plan their texts.
    let settings = match job.row.kind {
        JobKind::Run => of_result.or(of_plan),
        _ => of_plan.or(of_result),
    };
    let settings = settings.map_or(&[] as &[Value], Vec::as_slice);
    let shown = settings
        .iter()
        .filter(|setting| setting["source"] != "default" && setting["name"] != "target")
        .filter_map(|setting| Some((setting["name"].as_str()?, setting["value"].as_str()?)))
        .filter(|(name, _)| accepts(job.row.kind, name));
    let mut given_settings = vec![("target", job.row.target.as_str())];
    given_settings.extend(shown);
    let is_missing = !given_settings.iter().any(|(name, _)| *name == "workload");
    if is_missing && accepts(job.row.kind, "workload") {
        given_settings.insert(1, ("workload", &job.row.workload));
    }
    if let Some(label) =
        job.row.label.as_deref().filter(|_| !given_settings.iter().any(|(n, _)| *n == "label"))
    {
        given_settings.push(("label", label));
    }
    of(job.row.kind, given_settings)
}

/// Whether a command accepts a setting: a drill does not accept those that it chooses for its run. Options of workloads
/// and dialects are declared for no command.
fn accepts(command: JobKind, name: &str) -> bool {
    let elsewhere = || JobKind::ALL.into_iter().any(|other| declared(other, name).is_some());
    declared(command, name).is_some() || !elsewhere()
}

/// Quotes a word for a shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%,=+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_has_only_settings_that_it_accepts() {
        let of_run = ["workload", "rampup", "max-failures", "no-observe"];
        assert_eq!(of_run.map(|name| accepts(JobKind::Drill, name)), [false; 4]);
        assert_eq!(of_run.map(|name| accepts(JobKind::Run, name)), [true; 4]);
        assert!(accepts(JobKind::Drill, "fault") && accepts(JobKind::Drill, "vus"));
        assert!(accepts(JobKind::Run, "mix"), "an option of a workload");
    }
}
