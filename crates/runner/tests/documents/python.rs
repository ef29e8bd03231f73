//! What the Python package has of the declarations: a class for each type of document, and the signatures of its
//! functions for type checkers and editors. At run time the package reads the declarations from its native part.

use std::fmt::Write as _;

use serde_json::Value;
use triphammer_document::schemas::{components, documents, published};
use triphammer_settings::command::{Command, JobKind};
use triphammer_settings::{Parameter, SettingKind, parameters};
use triphammer_testbed::assert_generated;

const HEAD: &str = "\
# Made from the declarations of the program; do not edit.
# `make generate` rewrites it.
";

/// Functions of the package that are not jobs, with what they return.
const FUNCTIONS: [(Command, &str); 3] = [
    (Command::Doctor, "DoctorResult"),
    (Command::History, "HistoryResult"),
    (Command::Jobs, "list[Record]"),
];

const KEYWORDS: [&str; 8] = ["class", "def", "from", "global", "if", "in", "is", "lambda"];

#[test]
fn the_python_package_has_the_types_of_documents() {
    assert_generated("python/triphammer/documents.py", &types());
}

#[test]
fn the_python_package_has_the_signatures_of_commands() {
    assert_generated("python/triphammer/_commands.pyi", &signatures());
}

/// A class for each object and a name for each list of words, in the order of the alphabet.
fn types() -> String {
    let mut out = format!(
        "\"\"\"The types of result documents: a class for each object, a name for each list of words.\"\"\"\n\n\
         {HEAD}\nfrom __future__ import annotations\n\n\
         from typing import Any, Literal, Optional, Union\n\n\
         from ._record import Document, Record, RunDocument\n"
    );
    let (all, tops) = (components(), documents());
    // Words first: names are read when the module is imported, classes only when a field is.
    for (name, schema) in all.iter().filter(|(_, schema)| !is_object(schema)) {
        let title = words(schema);
        write!(out, "\n#: {title}\n{name} = {}\n", of(schema)).unwrap();
    }
    for (name, schema) in all.iter().filter(|(_, schema)| is_object(schema)) {
        let is_top = published().iter().any(|top| top.name == *name);
        let base = match name.as_str() {
            "RunResult" => "RunDocument",
            _ if is_top => "Document",
            _ => "Record",
        };
        let title = words(schema);
        write!(out, "\n\nclass {name}({base}):\n    \"\"\"{title}\"\"\"\n\n    __slots__ = ()\n")
            .unwrap();
        for (field, schema) in schema["properties"].as_object().unwrap() {
            let reserved = if KEYWORDS.contains(&field.as_str()) { "_" } else { "" };
            write!(out, "    #: {}\n    {field}{reserved}: {}\n", words(schema), of(schema))
                .unwrap();
        }
    }
    out.push_str("\n\n#: The class of the result of each command.\nOF_KIND = {\n");
    let kinds = JobKind::ALL.into_iter().zip(&tops);
    for (kind, top) in kinds.filter(|(_, top)| is_object(&all[&top.name])) {
        writeln!(out, "    \"{}\": {},", kind.name(), top.name).unwrap();
    }
    out.push_str("    \"doctor\": DoctorResult,\n    \"history\": HistoryResult,\n}\n");
    out
}

fn is_object(schema: &Value) -> bool {
    schema["properties"].is_object()
}

fn words(schema: &Value) -> String {
    schema["description"].as_str().unwrap_or_default().replace("`null`", "`None`").replace('\\', "")
}

/// A schema as a type of Python 3.9.
fn of(schema: &Value) -> String {
    if let Some(to) = schema["$ref"].as_str() {
        return to.rsplit('/').next().unwrap().to_owned();
    }
    if let Some(only) = schema.get("const") {
        return format!("Literal[{only}]");
    }
    if let Some(words) = schema["enum"].as_array() {
        let words: Vec<_> = words.iter().map(Value::to_string).collect();
        return format!("Literal[{}]", words.join(", "));
    }
    if let Some(ways) = ["oneOf", "anyOf"].iter().find_map(|ways| schema[*ways].as_array()) {
        return union(ways.iter().map(of).collect());
    }
    match &schema["type"] {
        Value::Array(types) => {
            let one = |of_type: &Value| {
                let mut schema = schema.clone();
                schema["type"] = of_type.clone();
                of(&schema)
            };
            union(types.iter().map(one).collect())
        }
        Value::String(of_type) => match of_type.as_str() {
            "string" => "str".to_owned(),
            "integer" => "int".to_owned(),
            "number" => "float".to_owned(),
            "boolean" => "bool".to_owned(),
            "null" => "None".to_owned(),
            "array" if schema["items"].is_object() => format!("list[{}]", of(&schema["items"])),
            "array" => "list[Any]".to_owned(),
            _ => match &schema["additionalProperties"] {
                values @ Value::Object(_) => format!("dict[str, {}]", of(values)),
                _ => "Record".to_owned(),
            },
        },
        _ => "Any".to_owned(),
    }
}

/// A union, with words joined and without repeated types.
fn union(ways: Vec<String>) -> String {
    let (literals, mut others): (Vec<_>, Vec<_>) =
        ways.into_iter().partition(|way| way.starts_with("Literal["));
    let literals: Vec<_> =
        literals.iter().map(|way| &way["Literal[".len()..way.len() - 1]).collect();
    if !literals.is_empty() {
        others.insert(0, format!("Literal[{}]", literals.join(", ")));
    }
    others.dedup();
    let is_optional = others.iter().any(|way| way == "None");
    others.retain(|way| way != "None");
    let one = match others.as_slice() {
        [one] => one.clone(),
        _ => format!("Union[{}]", others.join(", ")),
    };
    if is_optional { format!("Optional[{one}]") } else { one }
}

/// The functions of the package with all their parameters.
fn signatures() -> String {
    let mut out = format!(
        "\"\"\"The functions: one for each command, with the settings that the program declares for it.\"\"\"\n\n\
         {HEAD}\nfrom collections.abc import Sequence\nfrom datetime import timedelta\nfrom os import PathLike\n\
         from typing import Any, Literal, Union\n\n\
         from ._job import Job\nfrom ._record import Document, Record\nfrom ._workload import Workload\n\
         from .documents import (\n"
    );
    let tops = documents();
    let mut names: Vec<_> = published().into_iter().map(|top| top.name).collect();
    names.retain(|name| signature_needs(name));
    names.sort();
    names.iter().for_each(|name| writeln!(out, "    {name},").unwrap());
    out.push_str(")\n\nText = Union[str, PathLike[str], int, float]\n");
    out.push_str("Duration = Union[str, timedelta]\n\n");
    out.push_str("def start(kind: str, *positional: Any, **settings: Any) -> Job[Any]: ...\n");
    out.push_str("def preview(kind: str, *positional: Any, **settings: Any) -> Any: ...\n");
    out.push_str(
        "def job(which: Union[int, str, Job[Any], Document] = \"last\", *, \
         store: Union[str, PathLike[str], None] = None) -> Union[Document, list[str], None]: ...\n",
    );
    for (kind, top) in JobKind::ALL.into_iter().zip(&tops) {
        let returns = match kind {
            JobKind::Run => "Job[RunResult]",
            JobKind::Drop => "list[str]",
            _ => &top.name,
        };
        function(&mut out, kind.into(), returns);
    }
    for (command, returns) in FUNCTIONS {
        function(&mut out, command, returns);
    }
    out
}

/// Whether a signature names this class.
fn signature_needs(name: &str) -> bool {
    !["Removal", "WhyResult"].contains(&name)
}

fn function(out: &mut String, command: Command, returns: &str) {
    let all = parameters(command);
    write!(out, "\ndef {}(\n", command.name()).unwrap();
    let (positional, named): (Vec<_>, Vec<_>) = all.iter().partition(|one| one.positional);
    for (number, parameter) in positional.iter().chain(&named).enumerate() {
        if number == positional.len() {
            out.push_str("    *,\n");
        }
        let name = parameter.name.replace('-', "_");
        let compares = command.job() == Some(JobKind::Compare);
        let kind = match name.as_str() {
            // It may also be a class in Python.
            "workload" if command.job().is_some_and(JobKind::drives) => {
                "Union[Text, type[Workload], None]".to_owned()
            }
            // Stored jobs, by their handles or results.
            _ if compares && parameter.positional => {
                "Union[Text, Job[Any], Document, None]".to_owned()
            }
            _ => kind_of(parameter),
        };
        writeln!(out, "    {name}: {kind} = ...,").unwrap();
    }
    write!(out, ") -> {returns}:\n    \"\"\"{}.\n\n", command.title()).unwrap();
    for parameter in &all {
        let name = parameter.name.replace('-', "_");
        writeln!(out, "    {name}: {}", parameter.help.replace('\\', "\\\\")).unwrap();
    }
    out.push_str("    \"\"\"\n");
}

/// The type of a parameter.
fn kind_of(parameter: &Parameter) -> String {
    let one = match parameter.kind {
        SettingKind::Switch => "bool".to_owned(),
        SettingKind::Integer => "Union[int, str]".to_owned(),
        SettingKind::Duration => "Duration".to_owned(),
        SettingKind::Share => "Union[float, str]".to_owned(),
        SettingKind::Choice if !parameter.words.is_empty() && !parameter.repeats => {
            let words: Vec<_> = parameter.words.iter().map(|word| format!("{word:?}")).collect();
            format!("Literal[{}]", words.join(", "))
        }
        SettingKind::Range | SettingKind::Text | SettingKind::Choice => "Text".to_owned(),
    };
    if parameter.repeats {
        format!("Union[{one}, Sequence[{one}], None]")
    } else {
        format!("Union[{one}, None]")
    }
}
