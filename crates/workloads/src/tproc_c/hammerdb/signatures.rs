//! The arguments of HammerDB's five routines, in the forms that its versions create, and the
//! comparison of a schema's routines with them.
//!
//! Types are compared as numbers, texts and times: the declared type of each differs between
//! versions (PAYMENT's customer is `numeric` in 3.3 and `integer` in 6.0), and calls work with
//! either.

use std::fmt;

use triphammer_core::DbError;
use triphammer_core::rows::Rows;
use triphammer_core::sql::StatementCatalogue;
use triphammer_core::workload::{ExternalFindings, Name};

use super::super::transactions::{DELIVERY, NEW_ORDER, ORDER_STATUS, PAYMENT, STOCK_LEVEL};

/// HammerDB's names of the routines, by index of the transaction type.
pub(super) const NAMES: [&str; 5] = {
    let mut names = [""; 5];
    names[NEW_ORDER] = "neword";
    names[PAYMENT] = "payment";
    names[ORDER_STATUS] = "ostat";
    names[DELIVERY] = "delivery";
    names[STOCK_LEVEL] = "slev";
    names
};

/// The conditions that routines up to 4.10 violate on PostgreSQL: an order's number is one too
/// high.
const LATE: &[&str] = &["3.3.2.2", "3.3.2.3"];

/// A form in which HammerDB creates its routines.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Form {
    /// Suffix of the names of the calls' statements.
    pub(super) name: &'static str,
    title: &'static str,
    kind: &'static str,
    /// Parameter types by the indexes of [`NAMES`]: `n`umber, `t`ext, `d`ate and time, or `a`rray.
    parameters: [&'static str; 5],
}

/// All forms. If two match equally many routines, the first is chosen.
static FORMS: [Form; 6] = [
    Form {
        name: "function",
        title: "functions",
        kind: "function",
        parameters: in_order("nnnnnn", "nnnnnnnttn", "nnnnt", "nn", "nnn"),
    },
    Form {
        name: "native",
        title: "procedures",
        kind: "procedure",
        parameters: in_order(
            "nnnnnnttnnnd",
            "nnnnnnttnttttttttttttttttttdnnntd",
            "nnnntttnndnt",
            "nnd",
            "nnnn",
        ),
    },
    // On SQL Server.
    Form {
        name: "rows",
        title: "procedures",
        kind: "procedure",
        parameters: in_order("nnnnnd", "nnnnnnntd", "nnnnt", "nnd", "nnn"),
    },
    // On PostgreSQL the Oracle-compatible form; on MySQL and MariaDB the only one.
    Form { name: "procedure", title: "procedures", kind: "procedure", parameters: OF_ORACLE },
    // On Oracle, called in a block that takes what they return.
    Form { name: "block", title: "procedures", kind: "procedure", parameters: OF_ORACLE },
    // On Db2: what they return goes to variables, which HammerDB creates, and Delivery returns an array.
    Form {
        name: "variables",
        title: "procedures",
        kind: "procedure",
        parameters: {
            let mut parameters = OF_ORACLE;
            parameters[DELIVERY] = "nnda";
            parameters
        },
    },
];

/// The parameters on Oracle, and on databases whose procedures follow Oracle's.
const OF_ORACLE: [&str; 5] =
    in_order("nnnnnnttnnnd", "nnnnnnntttttttttttttttttttdtnnntd", "nnnntttnndn", "nnd", "nnnn");

const fn in_order(
    neword: &'static str,
    payment: &'static str,
    ostat: &'static str,
    delivery: &'static str,
    slev: &'static str,
) -> [&'static str; 5] {
    let mut parameters = [""; 5];
    parameters[NEW_ORDER] = neword;
    parameters[PAYMENT] = payment;
    parameters[ORDER_STATUS] = ostat;
    parameters[DELIVERY] = delivery;
    parameters[STOCK_LEVEL] = slev;
    parameters
}

/// A difference between versions of routines of one form, reported by `hammerdb.routines`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Remark {
    /// `numeric`: the tables' numbers are numeric, which OSTAT's rows show.
    Numeric,
    /// `late`: an order gets the number that d_next_o_id has after being increased.
    Late,
    /// `rolls back`: NEWORD rolls back for a non-existent item.
    RollsBack,
    /// `open`: DELIVERY leaves it to the session to begin a transaction.
    Open,
}

/// The routines found in a schema.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FoundRoutines {
    pub(super) form: &'static Form,
    remarks: Vec<Remark>,
}

impl FoundRoutines {
    pub(super) fn has(&self, remark: Remark) -> bool {
        self.remarks.contains(&remark)
    }
}

/// A routine as the catalogue reports it.
struct Routine<'a> {
    name: &'a str,
    kind: &'a str,
    types: Vec<&'a str>,
}

impl Routine<'_> {
    fn is(&self, form: &Form, place: usize) -> bool {
        let classes = self.types.iter().map(|name| class(name));
        self.name == NAMES[place]
            && self.kind == form.kind
            && classes.eq(form.parameters[place].chars().map(Some))
    }
}

/// Compares what `hammerdb.routines` listed with the forms that the catalogue can call: returns
/// what was found, or a text about what is missing.
pub(super) fn recognise(
    catalogue: &StatementCatalogue,
    rows: &Rows,
) -> Result<Result<FoundRoutines, String>, DbError> {
    let callable =
        |form: &&Form| catalogue.has_statement(&format!("hammerdb.new_order.{}", form.name));
    let forms: Vec<&'static Form> = FORMS.iter().filter(callable).collect();
    let mut routines = Vec::new();
    let mut remarks = Vec::new();
    for row in rows.iter() {
        let types = if row.is_null(2) { "" } else { row.text(2)? };
        let types = types.split(", ").filter(|name| !name.is_empty()).collect();
        routines.push(Routine { name: row.text(0)?, kind: row.text(1)?, types });
        remarks.extend(match row.optional(3, |row, column| row.text(column))? {
            Some("numeric") => Some(Remark::Numeric),
            Some("late") => Some(Remark::Late),
            Some("rolls back") => Some(Remark::RollsBack),
            Some("open") => Some(Remark::Open),
            _ => None,
        });
    }
    Ok(compare(&forms, &routines).map(|form| FoundRoutines { form, remarks }))
}

/// Obstacles to a run, and conditions that the version found does not keep, according to
/// `hammerdb.routines`.
pub(super) fn judge(
    catalogue: &StatementCatalogue,
    rows: &Rows,
) -> Result<ExternalFindings, DbError> {
    Ok(match recognise(catalogue, rows)? {
        Ok(found) if found.has(Remark::Late) => ExternalFindings {
            lack: None,
            violates: LATE.iter().copied().map(Name::from).collect(),
        },
        Ok(_) => ExternalFindings::default(),
        Err(lack) => ExternalFindings {
            lack: Some(format!(
                "a run cannot call its routines: {lack}; create them again with HammerDB"
            )),
            violates: Vec::new(),
        },
    })
}

fn compare(forms: &[&'static Form], routines: &[Routine<'_>]) -> Result<&'static Form, String> {
    let is_there = |form: &Form, place: usize| routines.iter().any(|found| found.is(form, place));
    let mut nearest: Option<(usize, &'static Form)> = None;
    for form in forms {
        let matches = (0..NAMES.len()).filter(|place| is_there(form, *place)).count();
        if nearest.is_none_or(|(most, _)| matches > most) {
            nearest = Some((matches, form));
        }
    }
    let Some((matches, form)) = nearest else {
        return Err("this database has no such routines".to_owned());
    };
    if matches == NAMES.len() {
        return Ok(form);
    }
    let wrong = (0..NAMES.len()).filter(|place| !is_there(form, *place));
    Err(wrong.map(|place| differs(form, place, routines)).collect::<Vec<_>>().join("; "))
}

/// How the routine at `place` differs from that of `form`.
fn differs(form: &Form, place: usize, routines: &[Routine<'_>]) -> String {
    let name = NAMES[place].to_uppercase();
    let Some(found) = routines.iter().find(|found| found.name == NAMES[place]) else {
        return format!("{name} is missing");
    };
    let wanted = Signature(form.parameters[place].chars().map(word).collect());
    let article = |kind: &str| format!("a {kind}");
    format!(
        "{name} is {} with {}, but HammerDB's {} take {wanted}",
        article(found.kind),
        Signature(found.types.clone()),
        form.title
    )
}

/// Types of parameters, with repeated types counted: `12 parameters (5 × number, 2 × text, time)`.
struct Signature<'a>(Vec<&'a str>);

impl fmt::Display for Signature<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.0.len() == 1 { "" } else { "s" };
        write!(out, "{} parameter{plural} (", self.0.len())?;
        for (place, run) in self.0.chunk_by(|a, b| a == b).enumerate() {
            out.write_str(if place == 0 { "" } else { ", " })?;
            match run {
                [one] => out.write_str(one)?,
                more => write!(out, "{} × {}", more.len(), more[0])?,
            }
        }
        out.write_str(")")
    }
}

const fn word(class: char) -> &'static str {
    match class {
        'n' => "number",
        't' => "text",
        'a' => "array",
        _ => "time",
    }
}

/// How a call treats a type of the catalogue.
fn class(type_name: &str) -> Option<char> {
    let name = type_name.to_lowercase();
    match name.split([' ', '(']).next()? {
        "smallint" | "tinyint" | "mediumint" | "int" | "integer" | "bigint" | "decimal"
        | "numeric" | "number" | "binary_integer" | "pls_integer" => Some('n'),
        "char" | "character" | "varchar" | "varchar2" | "text" | "mediumtext" | "longtext" => {
            Some('t')
        }
        "date" | "datetime" | "datetime2" | "timestamp" => Some('d'),
        // HammerDB's own type.
        "delivarray" => Some('a'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use triphammer_dialects::catalogues;

    use super::super::super::TprocC;
    use super::*;

    const TEXTS: &str =
        "character varying, character varying, character varying, character, character";

    fn judged(
        dialect: &str,
        routines: &[(&str, &str, &str, &str)],
    ) -> Result<FoundRoutines, String> {
        let mut rows = Rows::new();
        rows.reset(4);
        for (name, kind, types, remark) in routines {
            rows.text(name);
            rows.text(kind);
            rows.text(types);
            if remark.is_empty() { rows.null() } else { rows.text(remark) }
        }
        recognise(&catalogues::catalogue(&TprocC::describe(), dialect, true).unwrap(), &rows)
            .unwrap()
    }

    /// HammerDB's native procedures on PostgreSQL, with this type for PAYMENT's customer.
    fn native(customer: &str) -> [(&'static str, &'static str, String); 5] {
        let five = "integer, integer, integer, integer, integer";
        [
            (
                "neword",
                "procedure",
                format!(
                    "{five}, numeric, character varying, character varying, numeric, numeric, integer, \
                     timestamp without time zone"
                ),
            ),
            (
                "payment",
                "procedure",
                format!(
                    "{five}, numeric, character, character varying, {customer}, {TEXTS}, {TEXTS}, \
                     character varying, character, {TEXTS}, character, timestamp without time zone, \
                     numeric, numeric, numeric, character varying, timestamp without time zone"
                ),
            ),
            (
                "ostat",
                "procedure",
                "integer, integer, integer, integer, character varying, character varying, \
                 character varying, numeric, integer, timestamp without time zone, integer, text"
                    .to_owned(),
            ),
            ("delivery", "procedure", "integer, integer, timestamp without time zone".to_owned()),
            ("slev", "procedure", "integer, integer, integer, integer".to_owned()),
        ]
    }

    fn of(routines: &[(&'static str, &'static str, String)]) -> Result<FoundRoutines, String> {
        let rows: Vec<_> =
            routines.iter().map(|(name, kind, types)| (*name, *kind, types.as_str(), "")).collect();
        judged("postgres", &rows)
    }

    #[test]
    fn native_procedures_of_all_versions_are_recognised() {
        for customer in ["numeric", "integer"] {
            assert_eq!(of(&native(customer)).unwrap().form.name, "native");
        }
    }

    #[test]
    fn one_parameter_too_few_is_told_with_both_signatures() {
        let mut routines = native("integer");
        let types = routines[2].2.trim_end_matches(", text").to_owned();
        routines[2].2 = types;
        let lack = of(&routines).unwrap_err();
        assert_eq!(
            lack,
            "OSTAT is a procedure with 11 parameters (4 × integer, 3 × character varying, numeric, \
             integer, timestamp without time zone, integer), but HammerDB's procedures take 12 \
             parameters (4 × number, 3 × text, 2 × number, time, number, text)"
        );
    }

    #[test]
    fn parameters_in_another_order_are_no_match() {
        let mut routines = native("integer");
        routines[4].2 = "integer, integer, text, integer".to_owned();
        assert!(
            of(&routines)
                .unwrap_err()
                .starts_with("SLEV is a procedure with 4 parameters (2 × integer")
        );
        routines[4].1 = "function";
        assert!(of(&routines).unwrap_err().starts_with("SLEV is a function with 4"));
        let all = of(&[]).unwrap_err();
        assert_eq!(all.matches("is missing").count(), 5, "{all}");
    }

    #[test]
    fn postgresqls_own_procedures_are_none_of_mysqls() {
        let routines = native("integer");
        let rows: Vec<_> = routines.iter().map(|(n, k, t)| (*n, *k, t.as_str(), "")).collect();
        let lack = judged("mariadb", &rows).unwrap_err();
        assert!(lack.contains("PAYMENT is") && lack.contains("OSTAT is"), "{lack}");
        assert!(!lack.contains("NEWORD"), "{lack}");
    }

    #[test]
    fn remarks_on_versions_are_read() {
        let routines = native("numeric");
        let rows: Vec<_> = routines
            .iter()
            .map(|(n, k, t)| (*n, *k, t.as_str(), if *n == "neword" { "late" } else { "" }))
            .collect();
        let found = judged("postgres", &rows).unwrap();
        assert!(found.has(Remark::Late) && !found.has(Remark::RollsBack));
    }
}
