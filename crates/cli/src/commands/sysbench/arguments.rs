//! sysbench's command line, and what it means here.

use std::collections::BTreeMap;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use triphammer_core::SpecError;
use triphammer_lua::{GENERAL, IGNORE_ERRORS, OptionKind, Scalar};

/// Old names of options.
const ALIASES: [(&str, &str); 4] = [
    ("num_threads", "threads"),
    ("max_requests", "events"),
    ("max_time", "time"),
    ("tx_rate", "rate"),
];

/// Options of sysbench that mean nothing here, with what to do instead.
const REFUSED: [(&str, &str); 14] = [
    ("forced_shutdown", "Ctrl-C twice abandons transactions in flight"),
    ("thread_stack_size", "a script has no thread of its own"),
    ("report_checkpoints", "every second is stored: see `triphammer report`"),
    ("debug", "there is no such output"),
    ("validate", "scripts are not validated"),
    ("verbosity", "there are no such levels"),
    ("version", "see `triphammer --version`"),
    ("config_file", "give the options on the command line"),
    ("db_debug", "there is no such output"),
    ("mysql_ssl_cipher", "TLS chooses the cipher"),
    ("mysql_compression", "the protocol is never compressed"),
    ("mysql_debug", "there is no such output"),
    ("mysql_dry_run", "use `triphammer run null: -w sysbench`"),
    ("oltp_test_mode", "it is an option of sysbench 0.5"),
];

/// A command line.
#[derive(Debug, PartialEq, Eq)]
pub struct Arguments {
    pub script: String,
    pub command: String,
    /// Options by name, with underscores.
    options: BTreeMap<String, String>,
}

impl Arguments {
    /// Reads the arguments after `triphammer sysbench`.
    ///
    /// # Errors
    /// When the script or the command is missing, and for an option that means nothing here, by its name.
    pub fn parse<'a>(given: impl Iterator<Item = &'a str>) -> Result<Self, SpecError> {
        let mut words = Vec::new();
        let mut options = BTreeMap::new();
        for argument in given {
            let Some(option) = argument.strip_prefix("--") else {
                if argument.starts_with('-') && argument.len() > 1 {
                    let message = format!("`{argument}`: options are written as --name=value");
                    return Err(SpecError::new(message));
                }
                words.push(argument);
                continue;
            };
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            let name = name.replace('-', "_");
            if name == "test" {
                words.insert(0, value);
                continue;
            }
            if let Some((_, why)) = REFUSED.iter().find(|(refused, _)| *refused == name) {
                let name = name.replace('_', "-");
                let message = format!("--{name} has no meaning in triphammer: {why}; omit it");
                return Err(SpecError::new(message));
            }
            let general = GENERAL.iter().find(|general| general.name == name);
            if let Some(general) = general {
                general.kind.read(&name, value)?;
            }
            // A script can read both names.
            if let Some((_, new)) = ALIASES.iter().find(|(old, _)| *old == name) {
                options.insert((*new).to_owned(), value.to_owned());
            }
            options.insert(name, value.to_owned());
        }
        match words[..] {
            [script, command] => {
                let (script, command) = (script.to_owned(), command.to_owned());
                let arguments = Self { script, command, options };
                arguments.check_percentile()?;
                Ok(arguments)
            }
            [] => Err(SpecError::new(
                "no script: name one and a command, as in `triphammer sysbench oltp_read_write \
                 --mysql-db=test run`; `SCRIPT help` shows its options",
            )),
            [script] => Err(SpecError::new(format!(
                "no command for {script}: expected prepare, run, cleanup, help or another command \
                 of the script after it"
            ))),
            [_, _, extra, ..] => Err(SpecError::new(format!(
                "`{extra}`: expected one script and one command; values are written as --name=value"
            ))),
        }
    }

    /// Rejects percentiles that sysbench rejects.
    fn check_percentile(&self) -> Result<(), SpecError> {
        match (self.number("percentile")?, self.switch("histogram")?) {
            (101.., _) => {
                let text = self.general("percentile");
                let message = format!("--percentile {text}: expected 1 to 100, or 0 for none");
                Err(SpecError::new(message))
            }
            (0, true) => Err(SpecError::new(
                "--histogram cannot be used with --percentile=0: omit one of them",
            )),
            _ => Ok(()),
        }
    }

    /// The value of a general option as text.
    fn general(&self, name: &str) -> &str {
        let default = GENERAL.iter().find(|option| option.name == name);
        let default = default.map_or("", |option| option.default);
        self.options.get(name).map_or(default, String::as_str)
    }

    /// A general option that is a count.
    ///
    /// # Errors
    /// When it is negative.
    pub fn number(&self, name: &str) -> Result<u64, SpecError> {
        let text = self.general(name);
        match OptionKind::Int.read(name, text)? {
            Scalar::Int(value) => u64::try_from(value).map_err(|_| {
                let name = name.replace('_', "-");
                SpecError::new(format!("--{name} {text}: expected a number from 0"))
            }),
            _ => Ok(0),
        }
    }

    /// A general option that is on or off.
    ///
    /// # Errors
    /// When it is neither.
    pub fn switch(&self, name: &str) -> Result<bool, SpecError> {
        Ok(OptionKind::Switch.read(name, self.general(name))? == Scalar::Switch(true))
    }

    /// The password, if it was given.
    pub fn password(&self) -> Option<&str> {
        let name =
            if self.general("db_driver") == "pgsql" { "pgsql_password" } else { "mysql_password" };
        self.options.get(name).map(String::as_str).filter(|password| !password.is_empty())
    }

    /// The options that a script can read, as NAME=VALUE, without passwords. Errors that are not to be ignored end a run,
    /// as in sysbench.
    pub fn definitions(&self) -> Vec<String> {
        let is_kept = |name: &str| {
            !name.ends_with("_password") && !["threads", "rand_seed", "histogram"].contains(&name)
        };
        let mut kept: BTreeMap<&str, &str> = self
            .options
            .iter()
            .filter(|(name, _)| is_kept(name))
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        kept.entry(IGNORE_ERRORS).or_insert(self.general(IGNORE_ERRORS));
        kept.iter().map(|(name, value)| format!("{name}={value}")).collect()
    }

    /// The URL of the database, without the password.
    ///
    /// # Errors
    /// When the driver is unknown, or there are several hosts.
    pub fn target(&self) -> Result<String, SpecError> {
        let part =
            |name: &str| utf8_percent_encode(self.general(name), NON_ALPHANUMERIC).to_string();
        let driver = self.general("db_driver");
        let (scheme, prefix) = match driver {
            "mysql" => ("mysql", "mysql"),
            "pgsql" => ("postgres", "pgsql"),
            _ => {
                let message = format!("--db-driver {driver}: expected mysql or pgsql");
                return Err(SpecError::new(message));
            }
        };
        let named = |name: &str| format!("{prefix}_{name}");
        for name in ["host", "port", "socket"] {
            if self.general(&named(name)).contains(',') {
                let message =
                    format!("--{prefix}-{name}: several servers are not supported; name one");
                return Err(SpecError::new(message));
            }
        }
        let socket = self.options.get("mysql_socket").filter(|_| driver == "mysql");
        let place = match socket {
            Some(path) => utf8_percent_encode(path, NON_ALPHANUMERIC).to_string(),
            None => {
                let host = self.general(&named("host"));
                let is_plain =
                    host.chars().all(|c| c.is_ascii_alphanumeric() || ".-[]:".contains(c));
                let host = if is_plain { host.to_owned() } else { part(&named("host")) };
                format!("{host}:{}", self.general(&named("port")))
            }
        };
        let tls = match driver == "mysql" && self.switch("mysql_ssl")? {
            true => "?ssl-mode=REQUIRED",
            false => "",
        };
        Ok(format!("{scheme}://{}@{place}/{}{tls}", part(&named("user")), part(&named("db"))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Arguments, SpecError> {
        Arguments::parse(line.split_whitespace())
    }

    #[test]
    fn a_command_line_of_sysbench_is_read() {
        let line = "oltp_read_write --tables=4 --threads=8 --mysql-user=me --mysql-password=x \
                    --mysql-db=test --mysql-host=db1 --time=60 --skip-trx --histogram run";
        let read = parse(line).unwrap();
        assert_eq!((&*read.script, &*read.command), ("oltp_read_write", "run"));
        assert_eq!(read.target().unwrap(), "mysql://me@db1:3306/test");
        assert_eq!(read.password(), Some("x"));
        assert_eq!(read.number("threads").unwrap(), 8);
        assert_eq!(read.number("percentile").unwrap(), 95);
        assert!(read.switch("histogram").unwrap());
        let defined = read.definitions().join(" ");
        assert!(defined.contains("skip_trx= ") && defined.contains("tables=4"), "{defined}");
        assert!(!defined.contains("password"), "{defined}");
        assert!(defined.contains("mysql_ignore_errors=1213,1020,1205 "), "{defined}");
        let read = parse("a.lua --db-driver=pgsql --pgsql-host=/run/pg --pgsql-port=5433 prepare")
            .unwrap();
        assert_eq!(read.target().unwrap(), "postgres://sbtest@%2Frun%2Fpg:5433/sbtest");
        let read = parse("a.lua --mysql-socket=/tmp/m.sock --mysql-ssl=on run").unwrap();
        assert_eq!(
            read.target().unwrap(),
            "mysql://sbtest@%2Ftmp%2Fm%2Esock/sbtest?ssl-mode=REQUIRED"
        );
        assert_eq!(parse("a.lua --num-threads=3 run").unwrap().number("threads").unwrap(), 3);
        for line in ["--test=a.lua --threads=2 run", "--threads=2 run --test=a.lua"] {
            let read = parse(line).unwrap();
            assert_eq!((&*read.script, &*read.command), ("a.lua", "run"));
            assert!(!read.definitions().iter().any(|definition| definition.starts_with("test=")));
        }
    }

    #[test]
    fn what_means_nothing_here_is_refused_by_name() {
        for (line, message) in [
            ("a.lua --forced-shutdown=3 run", "--forced-shutdown has no meaning in triphammer"),
            ("a.lua --mysql-dry-run run", "--mysql-dry-run has no meaning"),
            ("a.lua --threads=many run", "--threads many: expected a whole number"),
            ("a.lua --threads=1K run", "--threads 1K: expected a whole number without a unit"),
            ("a.lua --events=2K run", "--events 2K: expected a whole number without a unit"),
            ("a.lua -x run", "`-x`: options are written as --name=value"),
            ("a.lua", "no command for a.lua"),
            ("", "no script"),
            ("--test=a.lua b.lua run", "`run`: expected one script and one command"),
            (
                "a.lua --histogram --percentile=0 run",
                "--histogram cannot be used with --percentile=0",
            ),
            ("a.lua --percentile=101 run", "--percentile 101: expected 1 to 100"),
            ("a.lua run 8", "`8`: expected one script and one command"),
        ] {
            let error = parse(line).unwrap_err().to_string();
            assert!(error.contains(message), "{line}: {error}");
        }
        let error =
            parse("a.lua --db-driver=oracle run").unwrap().target().unwrap_err().to_string();
        assert!(error.contains("expected mysql or pgsql"), "{error}");
        let error = parse("a.lua --mysql-host=a,b run").unwrap().target().unwrap_err().to_string();
        assert!(error.contains("several servers"), "{error}");
    }
}
