//! Options: sysbench's general ones, and those that a script declares in `sysbench.cmdline.options`.

use triphammer_core::SpecError;

/// Kind of an option's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionKind {
    /// `on` or `off`; the name alone means `on`.
    Switch,
    /// A whole number of 32 bits.
    Int,
    /// A whole number from 0, which may end in K, M, G or T (powers of 1024).
    Size,
    /// A number.
    Double,
    /// Any text.
    Text,
    /// Texts with commas between them.
    List,
}

/// A value as a script sees it.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the kinds of values")]
pub enum Scalar {
    Switch(bool),
    Int(i64),
    Double(f64),
    Text(String),
    List(Vec<String>),
}

impl OptionKind {
    /// Reads a value, as sysbench 1.0.20 does; but what that ignores after a number is an error.
    ///
    /// # Errors
    /// When the text is not of this kind; the message names the option.
    pub fn read(self, name: &str, text: &str) -> Result<Scalar, SpecError> {
        let wrong = |wanted: &str| {
            let name = name.replace('_', "-");
            SpecError::new(format!("--{name} {text}: expected {wanted}"))
        };
        match self {
            Self::Switch => match text {
                "" | "on" | "true" | "1" => Ok(Scalar::Switch(true)),
                "off" | "false" | "0" => Ok(Scalar::Switch(false)),
                _ => Err(wrong("on or off")),
            },
            Self::Int => int(text)
                .map(Scalar::Int)
                .ok_or_else(|| wrong("a whole number without a unit, such as 1000")),
            Self::Size => {
                size(text).map(Scalar::Int).ok_or_else(|| wrong("a size, such as 1000 or 64K"))
            }
            Self::Double => double(text)
                .map(Scalar::Double)
                .ok_or_else(|| wrong("a number without a unit, such as 1000 or 0.5")),
            Self::Text => Ok(Scalar::Text(text.to_owned())),
            Self::List => {
                let items = text.split(',').filter(|item| !item.is_empty());
                Ok(Scalar::List(items.map(str::to_owned).collect()))
            }
        }
    }

    /// The value of an option that has no default.
    #[must_use]
    pub const fn empty(self) -> Scalar {
        match self {
            // In sysbench as if its name was given.
            Self::Switch => Scalar::Switch(true),
            Self::Int | Self::Size => Scalar::Int(0),
            Self::Double => Scalar::Double(0.0),
            Self::Text => Scalar::Text(String::new()),
            Self::List => Scalar::List(Vec::new()),
        }
    }
}

/// Reads a whole number as C's `strtol` does; no text is 0.
fn int(text: &str) -> Option<i64> {
    match text {
        "" => Some(0),
        _ => text.trim_start().parse::<i32>().ok().map(i64::from),
    }
}

/// Reads a whole number with an optional unit; no text is 0.
fn size(text: &str) -> Option<i64> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let unit = unit.to_ascii_uppercase();
    let shift = match unit.strip_suffix('B').unwrap_or(&unit) {
        "" if unit.is_empty() => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return None,
    };
    match text {
        "" => Some(0),
        _ => digits.parse::<i64>().ok()?.checked_mul(1 << shift),
    }
}

/// Reads a finite number as C's `strtod` does, but for fractions in hexadecimal; no text is 0.
fn double(text: &str) -> Option<f64> {
    let text = text.trim_start();
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let hexadecimal = unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X"));
    let read = match hexadecimal {
        _ if text.is_empty() => 0.0,
        Some(digits) if digits.starts_with(|c: char| c.is_ascii_hexdigit()) => {
            #[expect(clippy::cast_precision_loss, reason = "all of Lua's numbers are floats")]
            let value = u64::from_str_radix(digits, 16).ok()? as f64;
            if text.starts_with('-') { -value } else { value }
        }
        Some(_) => return None,
        None => text.parse().ok()?,
    };
    read.is_finite().then_some(read)
}

/// An option that a script declares.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptOption {
    /// Name with underscores, as in `sysbench.opt`.
    pub name: String,
    /// Its description.
    pub help: String,
    /// Kind of its values.
    pub kind: OptionKind,
    /// Its default as it is written on a command line; `None` if it has none.
    pub default: Option<String>,
}

impl ScriptOption {
    /// The value of the option, of the text that is given for it.
    ///
    /// # Errors
    /// When the text, or the default, is not of its kind.
    pub fn value(&self, given: Option<&str>) -> Result<Scalar, SpecError> {
        match (given, self.default.as_deref()) {
            (Some(text), _) => self.kind.read(&self.name, text),
            (None, Some(text)) => {
                let read = self.kind.read(&self.name, text);
                read.map_err(|error| SpecError::new(format!("the default of {error}")))
            }
            (None, None) => Ok(self.kind.empty()),
        }
    }
}

/// A general option of sysbench 1.0.
#[derive(Clone, Copy, Debug)]
pub struct GeneralOption {
    /// Name with underscores, as in `sysbench.opt`.
    pub name: &'static str,
    /// Kind of its values.
    pub kind: OptionKind,
    /// Its default as text.
    pub default: &'static str,
}

const fn general(name: &'static str, kind: OptionKind, default: &'static str) -> GeneralOption {
    GeneralOption { name, kind, default }
}

/// The option of the errors after which an event is restarted.
pub const IGNORE_ERRORS: &str = "mysql_ignore_errors";

/// The general options of sysbench 1.0 that scripts can read, with sysbench's defaults.
pub const GENERAL: &[GeneralOption] = &[
    general("threads", OptionKind::Int, "1"),
    general("events", OptionKind::Int, "0"),
    general("time", OptionKind::Int, "10"),
    general("rate", OptionKind::Int, "0"),
    general("num_threads", OptionKind::Int, "1"),
    general("max_requests", OptionKind::Int, "0"),
    general("max_time", OptionKind::Int, "0"),
    general("tx_rate", OptionKind::Int, "0"),
    general("report_interval", OptionKind::Int, "0"),
    general("percentile", OptionKind::Int, "95"),
    general("histogram", OptionKind::Switch, "off"),
    general("verbosity", OptionKind::Int, "3"),
    general("validate", OptionKind::Switch, "off"),
    general("debug", OptionKind::Switch, "off"),
    general("forced_shutdown", OptionKind::Text, "off"),
    general("rand_type", OptionKind::Text, "special"),
    general("rand_spec_iter", OptionKind::Int, "12"),
    general("rand_spec_pct", OptionKind::Int, "1"),
    general("rand_spec_res", OptionKind::Int, "75"),
    general("rand_seed", OptionKind::Int, "0"),
    general("rand_pareto_h", OptionKind::Double, "0.2"),
    general("rand_zipfian_exp", OptionKind::Double, "0.8"),
    general("db_driver", OptionKind::Text, "mysql"),
    general("db_ps_mode", OptionKind::Text, "auto"),
    general("db_debug", OptionKind::Switch, "off"),
    general("mysql_host", OptionKind::List, "localhost"),
    general("mysql_port", OptionKind::List, "3306"),
    general("mysql_socket", OptionKind::List, ""),
    general("mysql_user", OptionKind::Text, "sbtest"),
    general("mysql_password", OptionKind::Text, ""),
    general("mysql_db", OptionKind::Text, "sbtest"),
    general("mysql_ssl", OptionKind::Switch, "off"),
    general(IGNORE_ERRORS, OptionKind::List, "1213,1020,1205"),
    general("pgsql_host", OptionKind::Text, "localhost"),
    general("pgsql_port", OptionKind::Int, "5432"),
    general("pgsql_user", OptionKind::Text, "sbtest"),
    general("pgsql_password", OptionKind::Text, ""),
    general("pgsql_db", OptionKind::Text, "sbtest"),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// What sysbench 1.0.20 makes of these values was seen by running it.
    #[test]
    fn values_are_read_as_sysbench_does() {
        for (kind, text, value) in [
            (OptionKind::Switch, "", Scalar::Switch(true)),
            (OptionKind::Switch, "true", Scalar::Switch(true)),
            (OptionKind::Switch, "0", Scalar::Switch(false)),
            (OptionKind::Int, "-3", Scalar::Int(-3)),
            (OptionKind::Int, " +3", Scalar::Int(3)),
            (OptionKind::Int, "", Scalar::Int(0)),
            (OptionKind::Size, "4096", Scalar::Int(4096)),
            (OptionKind::Size, "10k", Scalar::Int(10_240)),
            (OptionKind::Size, "10KB", Scalar::Int(10_240)),
            (OptionKind::Size, "99999999999999", Scalar::Int(99_999_999_999_999)),
            (OptionKind::Double, "1.5", Scalar::Double(1.5)),
            (OptionKind::Double, "1e3", Scalar::Double(1000.0)),
            (OptionKind::Double, "-0x10", Scalar::Double(-16.0)),
            (OptionKind::Double, "", Scalar::Double(0.0)),
            (OptionKind::List, ",a,,b", Scalar::List(vec!["a".into(), "b".into()])),
        ] {
            assert_eq!(kind.read("a", text).unwrap(), value, "{kind:?} {text}");
        }
        for (kind, texts) in [
            (OptionKind::Switch, &["maybe", "ON", "yes", "2"][..]),
            (OptionKind::Int, &["x", "10K", "1.5", "7 ", " ", "99999999999", "0x10"]),
            (OptionKind::Size, &["K", "1.5", "-3", "10X", "1P", "B", "10B", "9999999999T"]),
            (OptionKind::Double, &["10K", "x", "7z", "inf", "nan", "1e400", "0x", "0x+1"]),
        ] {
            for text in texts {
                let error = kind.read("table_size", text).unwrap_err().to_string();
                assert!(error.starts_with(&format!("--table-size {text}: expected")), "{error}");
            }
        }
        for option in GENERAL {
            option.kind.read(option.name, option.default).unwrap();
        }
    }
}
