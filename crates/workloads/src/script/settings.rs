//! Options of the workload.

use triphammer_core::SpecError;
use triphammer_core::workload::{OptionCommand, OptionDef};

use super::SETTING;
use super::names::is_name;

/// The scripts.
pub const SCRIPT: OptionDef = OptionDef::value(
    OptionCommand::Run,
    SETTING,
    "SCRIPT@WEIGHT",
    "",
    "a file in pgbench's language, or a built-in script (tpcb-like, simple-update or select-only), \
     with its weight in the mix, such as a.sql@3; can be repeated",
)
.repeated();

/// Variables.
pub const DEFINE: OptionDef = OptionDef::value(
    OptionCommand::Run,
    "define",
    "NAME=VALUE",
    "",
    "a variable of the scripts; can be repeated",
)
.repeated()
.short('D');

/// Whether `\shell` and `\setshell` are allowed.
pub const ALLOW_SHELL: OptionDef = OptionDef::switch(
    OptionCommand::Run,
    "allow-shell",
    "allow scripts to run commands of the operating system (\\shell and \\setshell)",
);

/// All options of the workload.
pub static OPTIONS: &[OptionDef] = &[SCRIPT, DEFINE, ALLOW_SHELL];

/// Reads definitions such as `a=1, b=x`: names and values. What follows a comma without a name
/// belongs to the value before it.
///
/// # Errors
/// When there is no name.
pub fn definitions(value: &str) -> Result<Vec<(String, String)>, SpecError> {
    let mut defined: Vec<(String, String)> = Vec::new();
    for item in value.split(", ").filter(|_| !value.is_empty()) {
        match (item.split_once('='), defined.last_mut()) {
            (Some((name, value)), _) if is_name(name) => {
                defined.push((name.to_owned(), value.to_owned()));
            }
            (_, Some((_, value))) => {
                value.push_str(", ");
                value.push_str(item);
            }
            (_, None) => {
                let message = format!("--define {item}: expected NAME=VALUE, such as low=1");
                return Err(SpecError::new(message).about("define"));
            }
        }
    }
    Ok(defined)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_have_a_name_and_any_value() {
        let found = definitions("a=1, b=x, y, c=").unwrap();
        let found: Vec<_> = found.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        assert_eq!(found, [("a", "1"), ("b", "x, y"), ("c", "")]);
        assert_eq!(definitions("").unwrap(), []);
        for value in ["foobla", "=1", "1a=2", "a-b=1"] {
            let error = definitions(value).unwrap_err().to_string();
            assert!(error.contains("expected NAME=VALUE"), "{error}");
        }
    }
}
