//! The text of catalogues: blocks, template variables, parameters.

use std::collections::BTreeMap;

use super::dialect::{ParamKind, Placeholder};
use super::statement::{BoundStatement, StatementDef};
use crate::error::SpecError;

/// A block that is run as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// Name of the block, such as `index.customer_name`.
    pub name: String,
    /// SQL text of the block.
    pub sql: String,
}

impl Script {
    /// The part of the name before the first dot.
    #[must_use]
    pub fn kind(&self) -> &str {
        self.name.split('.').next().unwrap_or_default()
    }

    /// The part of the name after the first dot.
    #[must_use]
    pub fn object(&self) -> &str {
        self.name.split_once('.').map_or("", |(_, object)| object)
    }
}

/// Splits a file at its `-- name:` lines.
pub(super) fn parse_blocks(file: &str, text: &str) -> Result<Vec<Script>, SpecError> {
    let mut blocks: Vec<Script> = Vec::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("-- name:") {
            let name = name.trim().to_owned();
            if name.is_empty() || blocks.iter().any(|b| b.name == name) {
                return Err(SpecError::new(format!("{file}: `{name}` is empty or defined twice")));
            }
            blocks.push(Script { name, sql: String::new() });
        } else if let Some(block) = blocks.last_mut() {
            block.sql.push_str(line);
            block.sql.push('\n');
        } else if !line.trim().is_empty() && !line.starts_with("--") {
            return Err(SpecError::new(format!("{file}: text before the first `-- name:`")));
        }
    }
    Ok(blocks)
}

/// Adds a layer's blocks, overriding existing ones; overriding a block with an equal one is an
/// error.
pub(super) fn lay_over(
    blocks: &mut Vec<Script>,
    layer: Vec<Script>,
    file: &str,
) -> Result<(), SpecError> {
    for block in layer {
        match blocks.iter_mut().find(|b| b.name == block.name) {
            None => blocks.push(block),
            Some(under) if squeeze(&under.sql) == squeeze(&block.sql) => {
                return Err(SpecError::new(format!(
                    "{file}: `{}` equals what it overrides; delete it",
                    block.name
                )));
            }
            Some(under) => *under = block,
        }
    }
    Ok(())
}

fn squeeze(sql: &str) -> String {
    sql.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Replaces template variables, including nested ones down to `deep` levels.
pub(super) fn expand_variables(
    block: &str,
    text: &str,
    variables: &BTreeMap<String, String>,
    deep: u8,
) -> Result<String, SpecError> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        let Some(length) = rest[open..].find('}') else { break };
        let word = &rest[open + 1..open + length];
        let is_word = !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        out.push_str(&rest[..open]);
        if is_word {
            let value = variables.get(word).filter(|_| deep > 0).ok_or_else(|| {
                let why =
                    if deep > 0 { "is not defined by any dialect" } else { "refers to itself" };
                SpecError::new(format!("`{block}` uses the variable {{{word}}}, which {why}"))
            })?;
            out.push_str(&expand_variables(block, value, variables, deep - 1)?);
        } else {
            out.push_str(&rest[open..=open + length]);
        }
        rest = &rest[open + length + 1..];
    }
    out.push_str(rest);
    Ok(out)
}

/// A statement without the semicolon that ends it in a file. Oracle's blocks end with their own.
fn without_end(sql: &str) -> &str {
    let is_block = sql.starts_with("DECLARE") || sql.starts_with("BEGIN");
    if is_block { sql } else { sql.trim_end_matches(';') }
}

/// Replaces `:param` with placeholders, cast as the dialect wants it, except in strings, comments
/// and `::`.
pub(super) fn bind(
    definition: &StatementDef,
    sql: &str,
    placeholder: Placeholder,
    casts: &BTreeMap<ParamKind, String>,
) -> Result<BoundStatement, SpecError> {
    let mut out = String::with_capacity(sql.len());
    let mut occurrences = Vec::new();
    let mut rest = sql.trim();
    while let Some(c) = rest.chars().next() {
        let skipped = if rest.starts_with("--") {
            rest.find('\n').unwrap_or(rest.len())
        } else if c == '\'' || c == '"' {
            rest[1..].find(c).map_or(rest.len(), |end| end + 2)
        } else if rest.starts_with("::") {
            2
        } else if c == ':' && rest[1..].starts_with(|n: char| n.is_ascii_lowercase()) {
            let name_end = rest[1..]
                .find(|n: char| !(n.is_ascii_alphanumeric() || n == '_'))
                .map_or(rest.len(), |end| end + 1);
            let name = &rest[1..name_end];
            let index = definition.params.iter().position(|p| p.name == name).ok_or_else(|| {
                SpecError::new(format!("`{}` uses :{name}, which is not declared", definition.name))
            })?;
            occurrences.push(index);
            let mark = match placeholder {
                Placeholder::Dollar => format!("${}", index + 1),
                Placeholder::NumberedQuestion => format!("?{}", index + 1),
                Placeholder::At => format!("@p{}", index + 1),
                Placeholder::Question => "?".to_owned(),
            };
            let kind = ParamKind::of(definition.params[index].param_type);
            match kind.and_then(|kind| casts.get(&kind)) {
                Some(wanted) => out.push_str(&format!("CAST({mark} AS {wanted})")),
                None => out.push_str(&mark),
            }
            rest = &rest[name_end..];
            continue;
        } else {
            c.len_utf8()
        };
        if !rest.starts_with("--") {
            out.push_str(&rest[..skipped]);
        }
        rest = &rest[skipped..];
    }
    if let Some(unused) = (0..definition.params.len()).find(|i| !occurrences.contains(i)) {
        let name = &definition.params[unused].name;
        return Err(SpecError::new(format!("`{}` does not use :{name}", definition.name)));
    }
    let order = match placeholder {
        Placeholder::Question => occurrences,
        _ => (0..definition.params.len()).collect(),
    };
    Ok(BoundStatement {
        name: definition.name.to_string(),
        sql: without_end(out.trim()).to_owned(),
        params: definition.params.clone(),
        order,
    })
}
