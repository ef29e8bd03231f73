//! Options of the workload.

use std::collections::BTreeMap;

use triphammer_core::SpecError;
use triphammer_core::workload::{OptionCommand, OptionDef};

use crate::script::SETTING;

/// The script.
pub const SCRIPT: OptionDef = OptionDef::value(
    OptionCommand::Run,
    SETTING,
    "FILE",
    "",
    "a Lua script for sysbench 1.0: a file, or the name of a test that comes with sysbench, such as \
     oltp_read_write",
)
.repeated();

/// Options of the script.
pub const DEFINE: OptionDef = OptionDef::value(
    OptionCommand::Run,
    "define",
    "NAME=VALUE",
    "",
    "an option of the script, such as table_size=100000; can be repeated",
)
.repeated()
.short('D');

/// All options of the workload.
pub static OPTIONS: &[OptionDef] = &[SCRIPT, DEFINE];

/// Reads definitions such as `tables=2, rand-type=uniform`, by names with underscores. What follows a comma without a
/// name belongs to the value before it.
///
/// # Errors
/// When there is no name.
pub fn definitions(value: &str) -> Result<BTreeMap<String, String>, SpecError> {
    let is_name = |name: &str| {
        let continues = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(continues)
    };
    let mut defined: Vec<(String, String)> = Vec::new();
    for item in value.split(", ").filter(|_| !value.is_empty()) {
        match (item.split_once('='), defined.last_mut()) {
            (Some((name, value)), _) if is_name(name) => {
                defined.push((name.replace('-', "_"), value.to_owned()));
            }
            (_, Some((_, value))) => {
                value.push_str(", ");
                value.push_str(item);
            }
            (_, None) => {
                let message = format!("--define {item}: expected NAME=VALUE, such as tables=2");
                return Err(SpecError::new(message).about("define"));
            }
        }
    }
    Ok(defined.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_have_names_with_dashes_or_underscores() {
        let found =
            definitions("table-size=10, rand_type=uniform, mysql_table_options=a, b").unwrap();
        let found: Vec<_> = found.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        assert_eq!(
            found,
            [("mysql_table_options", "a, b"), ("rand_type", "uniform"), ("table_size", "10")]
        );
        let error = definitions("=1").unwrap_err().to_string();
        assert!(error.contains("expected NAME=VALUE"), "{error}");
    }
}
