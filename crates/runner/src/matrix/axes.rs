//! The axes of a matrix, as the user writes them: `vus=1,8,32` or `mix=new_order=45,payment=43|new_order=1`, and
//! the combinations of their values.

use std::collections::BTreeSet;

use triphammer_core::SpecError;
use triphammer_core::workload::OptionDef;
use triphammer_settings::command::JobKind;
use triphammer_settings::{REPEATED, Settings};

use crate::campaign::may_differ;
use crate::profile::RequestedLevels;

/// Name of the setting.
pub(super) const OVER: &str = "over";
/// The setting that names a database.
pub(super) const TARGET: &str = "target";
/// The setting of what is built.
const SCALE: &str = "scale";
/// Most axes: a table and its reader have no room for more.
const AXES_MAX: usize = 4;
/// Most combinations.
const CELLS_MAX: usize = 400;

/// A setting that the matrix varies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Axis {
    /// Name of the setting.
    pub name: String,
    /// Its values, distinct, in the given order.
    pub values: Vec<String>,
}

/// Reads the axes.
///
/// # Errors
/// When there are none, a setting cannot be varied, or a value is missing or given twice.
pub(super) fn read(settings: &Settings, options: &[OptionDef]) -> Result<Vec<Axis>, SpecError> {
    let refuse = |message: String| SpecError::new(message).about(OVER);
    let text = settings.get(OVER).unwrap_or_default();
    let is_axis = |name: &str| is_axis(name, options, settings);
    let axes = parse(text, is_axis).map_err(refuse)?;
    let cells = axes.iter().map(|axis| axis.values.len()).product::<usize>();
    if axes.is_empty() || cells < 2 {
        return Err(refuse(
            "a matrix needs a setting with at least two values: --over vus=1,8,32".to_owned(),
        ));
    }
    if axes.len() > AXES_MAX || cells > CELLS_MAX {
        return Err(refuse(format!(
            "--{OVER} has {} settings with {cells} combinations: at most {AXES_MAX} settings and \
             {CELLS_MAX} combinations are possible",
            axes.len()
        )));
    }
    let has = |name: &str| axes.iter().any(|axis| axis.name == name);
    let target = settings.get(TARGET).unwrap_or_default();
    if has(TARGET) && !target.is_empty() {
        return Err(refuse(format!(
            "both a target and --{OVER} {TARGET} are given: omit the target"
        )));
    }
    if has(SCALE) && !has(TARGET) && !target.contains("{scale}") && !target.starts_with("null:") {
        return Err(refuse(format!(
            "the scale is that of the data, and a matrix builds nothing: build each scale at a target of \
             its own, and name them with {{scale}} in the target, as in postgres://db1/tpcc{{scale}}, or \
             with --{OVER} {TARGET}=URL,URL instead of {SCALE}"
        )));
    }
    Ok(axes)
}

/// Whether a matrix may vary a setting.
fn is_axis(name: &str, options: &[OptionDef], settings: &Settings) -> bool {
    match name {
        TARGET => settings.may_name_targets(),
        _ => may_differ(JobKind::Matrix, name, options, settings.of_client()),
    }
}

/// Reads axes that are separated by commas: each begins with the name of a setting. A part that begins with none
/// belongs to the axis before it.
fn parse(text: &str, is_axis: impl Fn(&str) -> bool) -> Result<Vec<Axis>, String> {
    let mut given: Vec<(String, String)> = Vec::new();
    for part in text.split(REPEATED).filter(|part| !part.trim().is_empty()) {
        let name = part.split_once('=').map(|(name, _)| name.trim().trim_start_matches("--"));
        match (name, given.last_mut()) {
            (Some(name), _) if is_axis(name) => {
                let values = part.split_once('=').map_or("", |(_, values)| values);
                given.push((name.to_owned(), values.trim().to_owned()));
            }
            (None, Some((_, values))) => values.push_str(&format!(",{}", part.trim())),
            (Some(name), _) => {
                return Err(format!(
                    "--{OVER} `{part}`: a matrix cannot vary `{name}`; see `triphammer run --help` for \
                     the settings of a run"
                ));
            }
            (None, None) => {
                return Err(format!("--{OVER} `{part}`: write NAME=VALUES, as in vus=1,8,32"));
            }
        }
    }
    let mut names = BTreeSet::new();
    let mut axis = |(name, values): (String, String)| {
        if !names.insert(name.clone()) {
            return Err(format!("--{OVER} has `{name}` twice"));
        }
        Ok(Axis { values: of_axis(&name, &values)?, name })
    };
    given.into_iter().map(&mut axis).collect()
}

/// The values of an axis: separated by `|` if there is one, else by commas, or a range that doubles.
fn of_axis(name: &str, text: &str) -> Result<Vec<String>, String> {
    let separator = if text.contains('|') { '|' } else { ',' };
    let mut values: Vec<String> = Vec::new();
    for value in text.split(separator).map(str::trim) {
        let is_number = |text: &str| text.trim().parse::<u32>().is_ok();
        match value.split_once("..") {
            Some((first, last)) if is_number(first) && is_number(last) => match value.parse()? {
                RequestedLevels::Given(levels) => {
                    values.extend(levels.iter().map(u32::to_string));
                }
                RequestedLevels::Auto => {}
            },
            _ if value.is_empty() => {
                return Err(format!("--{OVER} {name}={text}: a value is empty"));
            }
            _ => values.push(value.to_owned()),
        }
    }
    let distinct: BTreeSet<&String> = values.iter().collect();
    if distinct.len() < values.len() {
        return Err(format!("--{OVER} {name}={text} has a value twice"));
    }
    Ok(values)
}

/// The settings of each combination, the last axis varying fastest: those of the axes, and the target if it depends on
/// them.
pub(super) fn cells(axes: &[Axis], target: Option<&str>) -> Vec<Vec<(String, String)>> {
    let mut cells: Vec<Vec<(String, String)>> = vec![Vec::new()];
    for axis in axes {
        let with = |cell: &Vec<(String, String)>| -> Vec<Vec<(String, String)>> {
            let one = |value: &String| {
                let own = (axis.name.clone(), value.clone());
                cell.iter().cloned().chain([own]).collect()
            };
            axis.values.iter().map(one).collect()
        };
        cells = cells.iter().flat_map(with).collect();
    }
    if let Some(template) = target.filter(|target| target.contains('{')) {
        for cell in &mut cells {
            let fill = |url: String, (name, value): &(String, String)| {
                url.replace(&format!("{{{name}}}"), value)
            };
            let url = cell.iter().fold(template.to_owned(), fill);
            if url != template {
                cell.push((TARGET.to_owned(), url));
            }
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use triphammer_settings::Source;

    use super::*;

    fn axes(text: &str, target: &str) -> Result<Vec<Axis>, String> {
        let mut settings = Settings::new(JobKind::Matrix);
        settings.set(OVER, text, Source::Flag);
        if !target.is_empty() {
            settings.set(TARGET, target, Source::Flag);
        }
        let workload = crate::describe("tproc-c").unwrap();
        read(&settings, &workload.options).map_err(|error| error.to_string())
    }

    fn axis(name: &str, values: &[&str]) -> Axis {
        Axis { name: name.into(), values: values.iter().map(|value| (*value).into()).collect() }
    }

    #[test]
    fn axes_are_settings_with_values() {
        assert_eq!(
            axes("vus=1, 8,32, --mode=statements,procedures", "").unwrap(),
            [axis("vus", &["1", "8", "32"]), axis("mode", &["statements", "procedures"])]
        );
        assert_eq!(axes("vus=1..8", "").unwrap(), [axis("vus", &["1", "2", "4", "8"])]);
        let urls = "target=postgres://a/x?sslmode=disable,postgres://b/x?sslmode=disable";
        let expected = ["postgres://a/x?sslmode=disable", "postgres://b/x?sslmode=disable"];
        assert_eq!(axes(urls, "").unwrap(), [axis("target", &expected)]);
        assert_eq!(
            axes("mix=45,43,4,4,4|100,0,0,0,0, vus=1,2", "").unwrap()[0],
            axis("mix", &["45,43,4,4,4", "100,0,0,0,0"])
        );
    }

    #[test]
    fn what_cannot_be_varied_is_refused_with_the_reason() {
        for (text, target, why) in [
            ("", "", "needs a setting with at least two values"),
            ("vus=1", "", "needs a setting with at least two values"),
            ("1,2", "", "write NAME=VALUES"),
            ("label=a,b", "", "cannot vary `label`"),
            ("vus=1,2, moed=a,b", "", "cannot vary `moed`"),
            ("vus=1,,2", "", "a value is empty"),
            ("vus=1,2,1", "", "has a value twice"),
            ("vus=1,2, vus=3", "", "has `vus` twice"),
            ("target=null:,null:?service=1ms", "null:", "omit the target"),
            ("scale=1,10", "postgres://h/d", "a matrix builds nothing"),
        ] {
            let error = axes(text, target).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
        assert!(axes("scale=1,10", "postgres://h/d{scale}").is_ok());
    }

    #[test]
    fn a_client_of_the_server_names_no_targets() {
        let mut settings = Settings::new(JobKind::Matrix);
        let given = [(OVER.to_owned(), "target=null:,sqlite:x".to_owned())].into();
        settings.add_request(&given, &[]).unwrap();
        let error = read(&settings, &[]).unwrap_err().to_string();
        assert!(error.contains("cannot vary `target`"), "{error}");
    }

    #[test]
    fn cells_are_all_combinations_and_fill_the_target() {
        let axes = [axis("scale", &["1", "10"]), axis("vus", &["4", "8"])];
        let cells = cells(&axes, Some("postgres://h/d{scale}"));
        let text = |cell: &[(String, String)]| {
            cell.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            cells.iter().map(|cell| text(cell)).collect::<Vec<_>>(),
            [
                "scale=1 vus=4 target=postgres://h/d1",
                "scale=1 vus=8 target=postgres://h/d1",
                "scale=10 vus=4 target=postgres://h/d10",
                "scale=10 vus=8 target=postgres://h/d10",
            ]
        );
        assert_eq!(super::cells(&axes, Some("postgres://h/d"))[0].len(), 2);
    }
}
