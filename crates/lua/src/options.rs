//! Options: sysbench's general ones, and those that a script declares in `sysbench.cmdline.options`.

use triphammer_core::SpecError;

/// Kind of an option's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `on` or `off`; the name alone means `on`.
    Switch,
    /// A whole number, which may end in K, M, G or T (powers of 1024).
    Int,
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

impl Kind {
    /// Reads a value.
    ///
    /// # Errors
    /// When the text is not of this kind; the message names the option.
    pub fn read(self, name: &str, text: &str) -> Result<Scalar, SpecError> {
        let wrong = |wanted: &str| {
            let name = name.replace('_', "-");
            SpecError::new(format!("--{name} {text}: expected {wanted}"))
        };
        match self {
            Self::Switch => match text.to_ascii_lowercase().as_str() {
                "" | "on" | "true" | "yes" | "1" => Ok(Scalar::Switch(true)),
                "off" | "false" | "no" | "0" => Ok(Scalar::Switch(false)),
                _ => Err(wrong("on or off")),
            },
            Self::Int => {
                whole(text).map(Scalar::Int).ok_or_else(|| wrong("a whole number, such as 1000"))
            }
            Self::Double => {
                let read = text.trim().parse().ok().filter(|value: &f64| value.is_finite());
                read.map(Scalar::Double).ok_or_else(|| wrong("a number, such as 0.5"))
            }
            Self::Text => Ok(Scalar::Text(text.to_owned())),
            Self::List => {
                let items = text.split(',').filter(|item| !item.is_empty());
                Ok(Scalar::List(items.map(str::to_owned).collect()))
            }
        }
    }
}

/// Reads a whole number with an optional unit.
fn whole(text: &str) -> Option<i64> {
    let text = text.trim();
    let (digits, shift) = match text.chars().last()?.to_ascii_uppercase() {
        'K' => (&text[..text.len() - 1], 10),
        'M' => (&text[..text.len() - 1], 20),
        'G' => (&text[..text.len() - 1], 30),
        'T' => (&text[..text.len() - 1], 40),
        _ => (text, 0),
    };
    digits.parse::<i64>().ok()?.checked_mul(1 << shift)
}

impl Scalar {
    /// The kind of the value.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Switch(_) => Kind::Switch,
            Self::Int(_) => Kind::Int,
            Self::Double(_) => Kind::Double,
            Self::Text(_) => Kind::Text,
            Self::List(_) => Kind::List,
        }
    }

    /// The value as it is written on a command line.
    #[must_use]
    pub fn show(&self) -> String {
        match self {
            Self::Switch(true) => "on".to_owned(),
            Self::Switch(false) => "off".to_owned(),
            Self::Int(value) => value.to_string(),
            Self::Double(value) => value.to_string(),
            Self::Text(value) => value.clone(),
            Self::List(values) => values.join(","),
        }
    }
}

/// An option that a script declares.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptOption {
    /// Name with underscores, as in `sysbench.opt`.
    pub name: String,
    /// Its description.
    pub help: String,
    /// Kind of its values.
    pub kind: Kind,
    /// Its default; `None` if it has none.
    pub default: Option<Scalar>,
}

/// A general option of sysbench 1.0.
#[derive(Clone, Copy, Debug)]
pub struct GeneralOption {
    /// Name with underscores, as in `sysbench.opt`.
    pub name: &'static str,
    /// Kind of its values.
    pub kind: Kind,
    /// Its default as text.
    pub default: &'static str,
}

const fn general(name: &'static str, kind: Kind, default: &'static str) -> GeneralOption {
    GeneralOption { name, kind, default }
}

/// The general options of sysbench 1.0 that scripts can read, with sysbench's defaults.
pub const GENERAL: &[GeneralOption] = &[
    general("threads", Kind::Int, "1"),
    general("events", Kind::Int, "0"),
    general("time", Kind::Int, "10"),
    general("rate", Kind::Int, "0"),
    general("num_threads", Kind::Int, "1"),
    general("max_requests", Kind::Int, "0"),
    general("max_time", Kind::Int, "0"),
    general("tx_rate", Kind::Int, "0"),
    general("report_interval", Kind::Int, "0"),
    general("percentile", Kind::Int, "95"),
    general("histogram", Kind::Switch, "off"),
    general("verbosity", Kind::Int, "3"),
    general("validate", Kind::Switch, "off"),
    general("debug", Kind::Switch, "off"),
    general("forced_shutdown", Kind::Text, "off"),
    general("rand_type", Kind::Text, "special"),
    general("rand_spec_iter", Kind::Int, "12"),
    general("rand_spec_pct", Kind::Int, "1"),
    general("rand_spec_res", Kind::Int, "75"),
    general("rand_seed", Kind::Int, "0"),
    general("rand_pareto_h", Kind::Double, "0.2"),
    general("rand_zipfian_exp", Kind::Double, "0.8"),
    general("db_driver", Kind::Text, "mysql"),
    general("db_ps_mode", Kind::Text, "auto"),
    general("db_debug", Kind::Switch, "off"),
    general("mysql_host", Kind::List, "localhost"),
    general("mysql_port", Kind::List, "3306"),
    general("mysql_socket", Kind::List, ""),
    general("mysql_user", Kind::Text, "sbtest"),
    general("mysql_password", Kind::Text, ""),
    general("mysql_db", Kind::Text, "sbtest"),
    general("mysql_ssl", Kind::Switch, "off"),
    general("mysql_ignore_errors", Kind::List, "1213,1020,1205"),
    general("pgsql_host", Kind::Text, "localhost"),
    general("pgsql_port", Kind::Int, "5432"),
    general("pgsql_user", Kind::Text, "sbtest"),
    general("pgsql_password", Kind::Text, ""),
    general("pgsql_db", Kind::Text, "sbtest"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_kind_of_their_option() {
        assert_eq!(Kind::Int.read("table_size", "10K").unwrap(), Scalar::Int(10_240));
        assert_eq!(Kind::Switch.read("a", "").unwrap(), Scalar::Switch(true));
        assert_eq!(Kind::Double.read("a", "0.5").unwrap(), Scalar::Double(0.5));
        let list = Scalar::List(vec!["1".into(), "2".into()]);
        assert_eq!(Kind::List.read("a", "1,2").unwrap(), list);
        for (kind, text) in [(Kind::Int, "x"), (Kind::Int, ""), (Kind::Switch, "maybe")] {
            let error = kind.read("table_size", text).unwrap_err().to_string();
            assert!(error.starts_with(&format!("--table-size {text}: expected")), "{error}");
        }
        for option in GENERAL {
            option.kind.read(option.name, option.default).unwrap();
        }
    }
}
