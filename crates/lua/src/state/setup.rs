//! What a state has before its script is loaded: the API, the options, and what the API calls in Rust.

use std::rc::Rc;

use mlua::{Function, Lua, Table, Value as LuaValue};
use triphammer_core::SpecError;

use crate::api::API;
use crate::environment::{Environment, Output};
use crate::error::message_of;
use crate::host::{StateOfScript, add_functions};
use crate::options::{GENERAL, OptionKind, Scalar, ScriptOption};

/// Values of `--rand-type`.
const DISTRIBUTIONS: [&str; 5] = ["uniform", "gaussian", "special", "pareto", "zipfian"];

/// The table `host`, with what the API needs to know and to call.
pub(super) fn host(
    lua: &Lua,
    environment: &Environment,
    shared: &Rc<StateOfScript>,
) -> mlua::Result<Table> {
    let host = lua.create_table()?;
    host.set("tid", environment.tid)?;
    host.set("command", environment.command.as_str())?;
    host.set("script", &*environment.name)?;
    host.set("driver", environment.driver.as_str())?;
    host.set(
        "output",
        match environment.output {
            Output::Stdout => "stdout",
            Output::Stderr => "stderr",
            Output::Nowhere => "nowhere",
        },
    )?;
    add_functions(lua, &host, shared, &environment.unique)?;
    Ok(host)
}

/// Runs the API's own code.
pub(super) fn start(lua: &Lua, host: &Table, environment: &Environment) -> mlua::Result<()> {
    let package: Table = lua.globals().get("package")?;
    let own: String = package.get("path")?;
    let mut path = String::from("./?.lua;./?/init.lua");
    for folder in &environment.folders {
        path.push_str(&format!(";{0}/?.lua;{0}/?/init.lua", folder.display()));
    }
    package.set("path", format!("{path};{own}"))?;
    #[expect(clippy::cast_precision_loss, reason = "53 bits are enough for a seed")]
    let seed = (environment.seed >> 11) as f64;
    let math: Table = lua.globals().get("math")?;
    math.get::<Function>("randomseed")?.call::<()>(seed)?;
    let mut request = LuaValue::Nil;
    for (name, text) in API {
        let chunk = lua.load(text).set_name(name).into_function()?;
        let returned: LuaValue = chunk.call((host, request.clone()))?;
        if request.is_nil() {
            request = returned;
            let set: Function = host.get("set_option")?;
            let options: Vec<(String, LuaValue)> =
                host.get::<Table>("general")?.pairs().collect::<mlua::Result<_>>()?;
            for (name, value) in options {
                set.call::<()>((name, value))?;
            }
        }
    }
    Ok(())
}

/// Reads the values of general options, for `start`.
pub(super) fn set_general_options(
    lua: &Lua,
    host: &Table,
    environment: &Environment,
) -> Result<(), SpecError> {
    let failed = |error: mlua::Error| SpecError::new(message_of(&error));
    let general = lua.create_table().map_err(failed)?;
    for option in GENERAL {
        let given = environment.options.get(option.name).map(String::as_str);
        let value = match option.name {
            "threads" => Scalar::Int(environment.threads.into()),
            "db_driver" => Scalar::Text(environment.driver.clone()),
            name => option.kind.read(name, given.unwrap_or(option.default))?,
        };
        check(option.name, &value)?;
        general.set(option.name, lua_value(lua, &value).map_err(failed)?).map_err(failed)?;
    }
    host.set("general", general).map_err(failed)
}

/// Refuses distributions that do not exist, and values for which sysbench 1.0 draws numbers that mean nothing.
fn check(name: &str, value: &Scalar) -> Result<(), SpecError> {
    if let ("rand_type", Scalar::Text(text)) = (name, value)
        && !DISTRIBUTIONS.contains(&text.as_str())
    {
        let known = DISTRIBUTIONS.join(", ");
        return Err(SpecError::new(format!("--rand-type {text}: expected one of {known}")));
    }
    let (range, expected) = match name {
        "rand_spec_iter" => (1..=i64::MAX, "a number of 1 or more"),
        "rand_spec_pct" => (0..=i64::MAX, "a number of 0 or more"),
        "rand_spec_res" => (0..=100, "a number from 0 to 100"),
        _ => return Ok(()),
    };
    match value {
        Scalar::Int(number) if !range.contains(number) => {
            let name = name.replace('_', "-");
            Err(SpecError::new(format!("--{name} {number}: expected {expected}")))
        }
        _ => Ok(()),
    }
}

/// A value of an option in Lua.
pub(super) fn lua_value(lua: &Lua, value: &Scalar) -> mlua::Result<LuaValue> {
    Ok(match value {
        Scalar::Switch(value) => LuaValue::Boolean(*value),
        #[expect(clippy::cast_precision_loss, reason = "all of Lua's numbers are floats")]
        Scalar::Int(value) => LuaValue::Number(*value as f64),
        Scalar::Double(value) => LuaValue::Number(*value),
        Scalar::Text(value) => LuaValue::String(lua.create_string(value)?),
        Scalar::List(values) => {
            LuaValue::Table(lua.create_sequence_from(values.iter().map(String::as_str))?)
        }
    })
}

/// The options that the script has declared; `None` if it declares none.
pub(super) fn declared(lua: &Lua) -> mlua::Result<Option<Vec<ScriptOption>>> {
    let cmdline: Table = lua.globals().get::<Table>("sysbench")?.get("cmdline")?;
    let Some(options) = cmdline.get::<Option<Table>>("options")? else { return Ok(None) };
    let mut found = Vec::new();
    for pair in options.pairs::<String, Table>() {
        let (name, declaration) = pair?;
        let wrong = |what: &str| mlua::Error::runtime(format!("{what} of the option {name}"));
        let help: Option<String> = declaration.get(1)?;
        let default: LuaValue = declaration.get(2)?;
        let kind = match declaration.get::<LuaValue>(3)? {
            LuaValue::Nil => kind_of(&default),
            LuaValue::Integer(1) => Some(OptionKind::Switch),
            LuaValue::Integer(2) => Some(OptionKind::Int),
            LuaValue::Integer(3) => Some(OptionKind::Size),
            LuaValue::Integer(4) => Some(OptionKind::Double),
            LuaValue::Integer(5 | 7) => Some(OptionKind::Text),
            LuaValue::Integer(6) => Some(OptionKind::List),
            _ => None,
        };
        let kind = kind.ok_or_else(|| wrong("unknown type"))?;
        let default = text_of(&default).ok_or_else(|| wrong("invalid default"))?;
        found.push(ScriptOption {
            name: name.replace('-', "_"),
            help: help.unwrap_or_default(),
            kind,
            default,
        });
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(Some(found))
}

/// The kind of an option that has no type, by its default.
fn kind_of(default: &LuaValue) -> Option<OptionKind> {
    match default {
        LuaValue::Nil | LuaValue::String(_) => Some(OptionKind::Text),
        LuaValue::Boolean(_) => Some(OptionKind::Switch),
        LuaValue::Integer(_) | LuaValue::Number(_) => Some(OptionKind::Double),
        LuaValue::Table(_) => Some(OptionKind::List),
        _ => None,
    }
}

/// A default as it is written on a command line; `Some(None)` if there is none.
fn text_of(default: &LuaValue) -> Option<Option<String>> {
    let text = match default {
        LuaValue::Nil => return Some(None),
        LuaValue::Boolean(value) => (if *value { "on" } else { "off" }).to_owned(),
        LuaValue::Integer(value) => value.to_string(),
        LuaValue::Number(value) => value.to_string(),
        LuaValue::String(text) => text.to_string_lossy(),
        LuaValue::Table(items) => {
            let items: mlua::Result<Vec<String>> = items.sequence_values().collect();
            items.ok()?.join(",")
        }
        _ => return None,
    };
    Some(Some(text))
}
