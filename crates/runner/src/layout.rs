//! Layouts of a build's tables, such as partitions and columnar storage: a workload has a switch for
//! each, or a dialect an option, and a dialect declares how it creates such tables and what its
//! servers need for them.

use std::collections::BTreeMap;

use triphammer_core::session::Session;
use triphammer_core::sql::{BoundStatement, Layout};
use triphammer_core::workload::{BuildEffect, Description};
use triphammer_core::{Rows, SpecError};
use triphammer_dialects::catalogues;
use triphammer_settings::failure::{Doing, Failure};

use crate::build_request::BuildRequest;

/// The layouts that a build asks for.
///
/// # Errors
/// When the dialect does not have one, another option cannot be used with it, or the value of an
/// option is too large for the dialect's types.
pub fn requested(
    workload: &Description,
    dialect: &str,
    request: &BuildRequest,
) -> Result<Vec<Layout>, Failure> {
    let on = &request.settings.options;
    for (name, most) in catalogues::most(dialect)? {
        let given = on.get(&name).map_or("", |value| value.trim());
        if given.parse::<u32>().is_ok_and(|number| number > most) {
            let message = format!("--{name} must be at most {most} on {dialect}, got {given}");
            return Err(rejection(&name, message));
        }
    }
    let is_on = |name: &str| on.get(name).is_some_and(|value| value == "true");
    let switches = workload.options.iter().filter(|o| o.effect == Some(BuildEffect::Layout));
    let known = catalogues::layouts(dialect)?;
    let mut layouts = Vec::new();
    for name in switches.map(|option| &*option.name).filter(|name| is_on(name)) {
        let layout = known.iter().find(|layout| layout.switch == name);
        let rejected = match layout {
            Some(layout) => layout.rejected.clone(),
            None => Some(format!("{dialect} has no such tables")),
        };
        if let Some(reason) = rejected {
            return Err(rejection(name, format!("{reason}; omit --{name}")));
        }
        layouts.extend(layout.cloned());
    }
    for option in catalogues::options(dialect)? {
        if is_set(dialect, &option.name, request) {
            layouts.push(Layout { switch: option.name, ..option.layout });
        }
    }
    for layout in &layouts {
        let name = &layout.switch;
        let mut excluded = layout.excludes.iter();
        let is_given = |other: &str| is_on(other) || is_set(dialect, other, request);
        if let Some((other, reason)) = excluded.find(|(other, _)| is_given(other)) {
            let message = format!("--{name} and --{other} exclude each other: {reason}");
            return Err(rejection(name, message));
        }
    }
    Ok(layouts)
}

/// Whether an option of the dialect has another value than its default.
fn is_set(dialect: &str, name: &str, request: &BuildRequest) -> bool {
    let options = catalogues::options(dialect).unwrap_or_default();
    let default = options.iter().find(|option| option.name == name).map(|option| &option.default);
    let given: &BTreeMap<String, String> = &request.dialect_options;
    default.is_some_and(|default| given.get(name).is_some_and(|value| value != default))
}

/// Rejects a server that cannot create such tables.
///
/// # Errors
/// With what the server lacks.
pub async fn require<S: Session>(
    layouts: &[Layout],
    session: &mut S,
    target: &str,
) -> Result<(), Failure> {
    for layout in layouts {
        let Some(sql) = layout.needs.clone() else { continue };
        let name = format!("layout.{}", layout.switch);
        let statement = BoundStatement { name, sql, params: Vec::new(), order: Vec::new() };
        let mut rows = Rows::new();
        let asked = async {
            let id = session.prepare(&statement).await?;
            session.query(id, &[], &mut rows).await
        };
        asked.await.doing(format_args!("asking {target} what --{} needs", layout.switch))?;
        if rows.is_empty() {
            let message = format!("{target}: {}, or omit --{}", layout.lacks, layout.switch);
            return Err(rejection(&layout.switch, message));
        }
    }
    Ok(())
}

/// Definition of the key column of tables without a key, if the server demands that every new table
/// has one; `None` if keys can be added later, which loads faster where tables are not clustered.
///
/// # Errors
/// When the database reports an error.
pub async fn demanded_key<S: Session>(
    dialect: &str,
    layouts: &[Layout],
    session: &mut S,
) -> Result<Option<String>, Failure> {
    let has_keys = layouts.iter().all(|layout| layout.omits.iter().all(|kind| kind != "key"));
    let Some(keys) = catalogues::keys_with_tables(dialect)?.filter(|_| has_keys) else {
        return Ok(None);
    };
    let name = "keys.when".to_owned();
    let statement = BoundStatement { name, sql: keys.when, params: Vec::new(), order: Vec::new() };
    let mut rows = Rows::new();
    let asked = async {
        let id = session.prepare(&statement).await?;
        session.query(id, &[], &mut rows).await
    };
    asked.await.doing("asking whether the server demands primary keys")?;
    Ok((!rows.is_empty()).then_some(keys.row))
}

fn rejection(switch: &str, message: String) -> Failure {
    SpecError::new(message).about(switch).into()
}
