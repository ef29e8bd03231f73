//! Reads a workload file: transactions, parameters, set-up, checks and audits. All problems are reported at once.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::time::Duration;

use toml::de::{DeTable, DeValue};
use triphammer_core::SpecError;
use triphammer_core::clock::parse_duration;
use triphammer_core::session::{Access, Isolation};
use triphammer_core::value::ColumnType;
use triphammer_dialects::catalogues;

use super::by_dialect::ByDialect;
use super::generator::Generator;
use super::parameters::{Context, ParsedGenerator, parameter, template};
use super::reader::{Node, Reader, Section, Text, suggestion};
use super::source::WorkloadText;
use crate::script::names::{Names, is_name};
use crate::script::scan::{Lexis, single};
use crate::script::sql::{Effect, Part};

/// Largest weight of a transaction.
const WEIGHT_MAX: i64 = 1_000_000;
/// Most transactions of a file.
const TRANSACTIONS_MAX: usize = 128;
/// Longest name, in characters.
const NAME_MAX: usize = 40;
/// The parameter that is the scale of the data.
pub const SCALE: &str = "scale";
/// Terminals per unit of scale for which none are given.
const TERMINALS: i64 = 10;

/// What a file describes.
#[derive(Debug, Default)]
pub struct Definition {
    /// Name of the workload.
    pub title: String,
    /// Names of the slots: parameters and results.
    pub names: Names,
    /// Types of the arguments, by slot.
    pub types: Vec<ColumnType>,
    /// The parameters, each after those that it uses.
    pub parameters: Vec<Parameter>,
    /// The transactions.
    pub transactions: Vec<Transaction>,
    /// Indexes of the transactions that count for the primary metric.
    pub primary: Vec<usize>,
    /// Terminals per unit of scale, if a transaction has a time to think.
    pub terminals: u32,
    /// What a build runs; `None` if nothing is built.
    pub setup: Option<ByDialect<String>>,
    /// What a drop runs.
    pub teardown: Option<ByDialect<String>>,
    /// The checks.
    pub checks: Vec<Question>,
    /// The audits.
    pub audits: Vec<Audit>,
    /// Number of statements.
    pub statements: usize,
}

/// A parameter.
#[derive(Debug)]
pub struct Parameter {
    /// Its slot.
    pub slot: usize,
    /// How it is drawn.
    pub generator: Generator,
    /// The parameters that it uses.
    uses: Vec<usize>,
}

/// A transaction.
#[derive(Debug)]
pub struct Transaction {
    /// Its name.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// Its weight in the mix.
    pub weight: u32,
    /// Whether it writes.
    pub access: Access,
    /// Its isolation level; `None` for the run's.
    pub isolation: Option<Isolation>,
    /// Mean time to think after it.
    pub think: Duration,
    /// Indexes of its parameters, in the order of [`Definition::parameters`].
    pub draws: Box<[usize]>,
    /// Slots of its results.
    pub results: Box<[usize]>,
    /// Its steps.
    pub steps: Vec<Step>,
    /// What it adds to the sums of audits.
    pub counter: Counter,
}

/// What a transaction adds to the sums of audits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counter {
    /// A constant.
    Constant(i64),
    /// The value of a slot.
    Slot(usize),
}

/// A step of a transaction.
#[derive(Debug)]
pub enum Step {
    /// A time to wait inside the transaction.
    Pause(Duration),
    /// A statement.
    Statement(Statement),
}

/// A statement.
#[derive(Debug)]
pub struct Statement {
    /// Its number among all of the file.
    pub id: usize,
    /// Its line in the file, from 1.
    pub line: usize,
    /// Its column, from 1.
    pub column: usize,
    /// Its SQL.
    pub sql: ByDialect<Part>,
    /// The number of rows that it must return or change.
    pub rows: Option<RangeInclusive<u64>>,
    /// Columns of its first row that are kept, with their slots.
    pub keep: Vec<(String, usize)>,
    /// Whether its rows are read, rather than counted by the database.
    pub returns_rows: bool,
    /// Whether it only reads.
    pub reads: bool,
}

/// A query of a check.
#[derive(Debug)]
pub struct Question {
    /// Its name.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Its SQL.
    pub sql: ByDialect<String>,
}

/// An audit.
#[derive(Debug)]
pub struct Audit {
    /// Its query, which returns a sum.
    pub question: Question,
    /// Indexes of the transactions that change the sum.
    pub transactions: Vec<usize>,
    /// Largest change by one transaction.
    pub most: u32,
}

/// Reads the files at this scale.
///
/// # Errors
/// With the places of all problems.
pub fn read(text: &WorkloadText, scale: i64) -> Result<Definition, SpecError> {
    let mut reader = Reader::new(&text.name, &text.text);
    let (document, errors) = DeTable::parse_recoverable(&text.text);
    for error in &errors {
        let at = error.span().map_or(0, |span| span.start);
        reader.wrong(
            at,
            format!("no valid TOML: {}", error.message().lines().next().unwrap_or_default()),
        );
    }
    if !errors.is_empty() {
        return reader.finish().map(|()| Definition::default());
    }
    let context = Context { scale, files: &text.files, file: &text.name };
    let mut builder = Builder {
        context,
        definition: Definition::default(),
        used: BTreeSet::new(),
        declared: BTreeSet::new(),
    };
    builder.document(&mut reader, document.get_ref());
    let definition = builder.definition;
    reader.finish()?;
    Ok(definition)
}

/// The SQL of a key and of the dialects, which are keys of the same section.
pub fn dialect_texts<'a>(
    reader: &mut Reader<'a>,
    section: &mut Section<'a>,
    key: &'a str,
) -> Option<ByDialect<Text<'a>>> {
    let default = section.text(reader, key);
    let mut others = Vec::new();
    for dialect in dialects() {
        if let Some(text) = section.text(reader, dialect) {
            others.push((dialect.clone(), text));
        }
    }
    if default.is_none() && others.is_empty() {
        if section.get(key).is_none() {
            reader.wrong(section.at, format!("{} needs `{key}`", section.title));
        }
        return None;
    }
    Some(ByDialect { default, others })
}

/// Names of the dialects that may have their own SQL.
fn dialects() -> &'static [String] {
    static NAMES: std::sync::OnceLock<Vec<String>> = std::sync::OnceLock::new();
    NAMES.get_or_init(|| catalogues::dialects().into_iter().filter(|name| name != "base").collect())
}

/// The dialect of MySQL, which others are based on.
const MYSQL: &str = "mysql";

/// How a dialect writes comments and quotations.
fn lexis(dialect: &str) -> Lexis {
    let chain = catalogues::chain(dialect).unwrap_or_default();
    match chain.iter().any(|one| one.name == MYSQL) {
        true => Lexis::MySql,
        false => Lexis::Common,
    }
}

struct Builder<'a> {
    context: Context<'a>,
    definition: Definition,
    /// Slots that a statement, a template or a counter uses.
    used: BTreeSet<usize>,
    /// Names of all parameters, also of those with errors.
    declared: BTreeSet<&'a str>,
}

/// The parameters of a file while it is read.
struct DeclaredParameters<'a> {
    name: &'a str,
    at: usize,
    read: Option<ParsedGenerator<'a>>,
}

impl<'a> Builder<'a> {
    fn document(&mut self, reader: &mut Reader<'a>, table: &'a DeTable<'a>) {
        let mut root = reader.section("the workload file", 0, table);
        self.definition.names.slot(SCALE);
        let name = root.text(reader, "name");
        self.definition.title = match name {
            Some(name) if (1..=NAME_MAX).contains(&name.text.chars().count()) => {
                name.text.to_owned()
            }
            Some(name) => {
                reader.wrong(name.at, format!("`name` must have 1 to {NAME_MAX} characters"));
                String::new()
            }
            None => default_title(self.context.file),
        };
        let parameters = root.get("parameters");
        let parameters = parameters.map_or_else(Vec::new, |node| self.parameters(reader, node));
        self.transactions(reader, &mut root);
        self.setup(reader, &mut root);
        self.checks(reader, &mut root);
        self.audits(reader, &mut root);
        self.primary(reader, &mut root);
        let terminals = root.integer(reader, "terminals", 1, 1_000_000);
        self.definition.terminals =
            u32::try_from(terminals.unwrap_or(TERMINALS)).unwrap_or_default();
        // Without other problems, all uses were found.
        let is_complete = reader.count() == 0;
        for DeclaredParameters { name, at, .. } in parameters.iter().filter(|_| is_complete) {
            let slot = self.definition.names.find(name);
            if slot.is_none_or(|slot| !self.used.contains(&slot)) {
                reader.wrong(
                    *at,
                    format!("parameter `{name}` is never used: use it as :{name}, or remove it"),
                );
            }
        }
        self.draws();
        reader.end(&root);
    }

    fn parameters(
        &mut self,
        reader: &mut Reader<'a>,
        node: &'a Node<'a>,
    ) -> Vec<DeclaredParameters<'a>> {
        let Some(section) = reader.table("[parameters]", node) else { return Vec::new() };
        let mut declared: Vec<DeclaredParameters<'a>> = Vec::new();
        for (name, at, node) in section.entries() {
            if !is_name(name) || name == SCALE {
                let why = if name == SCALE {
                    "is reserved: it is the scale of the data"
                } else {
                    "must consist of letters, digits and underscores"
                };
                reader.wrong(at, format!("the name of parameter `{name}` {why}"));
                continue;
            }
            self.definition.names.slot(name);
            self.declared.insert(name);
            let read = parameter(reader, name, node, &self.context);
            declared.push(DeclaredParameters { name, at, read });
        }
        self.order(reader, &mut declared);
        declared
    }

    /// Puts the parameters into an order in which each follows those that it uses.
    fn order(&mut self, reader: &mut Reader<'a>, declared: &mut [DeclaredParameters<'a>]) {
        let place: BTreeMap<&str, usize> =
            declared.iter().zip(0..).map(|(d, place)| (d.name, place)).collect();
        let is_json: Vec<bool> = declared
            .iter()
            .map(|d| d.read.as_ref().is_some_and(|read| read.template.is_some()))
            .collect();
        let mut uses: Vec<Vec<usize>> = Vec::new();
        for one in declared.iter() {
            let mut found = Vec::new();
            for (name, at) in one.read.iter().flat_map(|read| &read.mentions) {
                match place.get(name) {
                    Some(place) => {
                        found.push(*place);
                        self.used.extend(self.definition.names.find(name));
                    }
                    None if *name == SCALE => {}
                    None => {
                        let hint = suggestion(name, place.keys().copied());
                        reader.wrong(
                            *at,
                            format!("unknown parameter `{name}`: declare it in [parameters]{hint}"),
                        );
                    }
                }
            }
            uses.push(found);
        }
        let mut done: Vec<Option<usize>> = vec![None; declared.len()];
        let mut count = 0;
        loop {
            let next = (0..declared.len()).find(|place| {
                done[*place].is_none() && uses[*place].iter().all(|other| done[*other].is_some())
            });
            let Some(next) = next else { break };
            done[next] = Some(count);
            count += 1;
        }
        let cyclic: Vec<&DeclaredParameters<'a>> =
            declared.iter().zip(&done).filter(|(_, done)| done.is_none()).map(|(d, _)| d).collect();
        if let Some(first) = cyclic.first() {
            let names: Vec<&str> = cyclic.iter().map(|d| d.name).collect();
            let message = format!("parameters use each other in a cycle: {}", names.join(", "));
            reader.wrong(first.at, message);
            return;
        }
        let names = &mut self.definition.names;
        let mut parameters: Vec<(usize, Parameter)> = Vec::new();
        for (index, one) in declared.iter_mut().enumerate() {
            let Some(read) = one.read.take() else { continue };
            let generator = match read.template {
                Some(text) => {
                    template(text.text, names, |name| place.get(name).is_some_and(|p| is_json[*p]))
                }
                None => read.generator,
            };
            let of = |place: &usize| done[*place];
            let uses = uses[index].iter().filter_map(of).collect();
            let slot = names.slot(one.name);
            parameters.push((done[index].unwrap_or_default(), Parameter { slot, generator, uses }));
        }
        parameters.sort_by_key(|(place, _)| *place);
        self.definition.parameters =
            parameters.into_iter().map(|(_, parameter)| parameter).collect();
    }

    fn transactions(&mut self, reader: &mut Reader<'a>, root: &mut Section<'a>) {
        let Some(node) = root.get("transactions") else {
            reader.wrong(0, "the workload file has no transactions: add [[transactions]]");
            return;
        };
        let nodes = reader.list("`transactions`, as in [[transactions]],", node, false);
        if nodes.is_empty() || nodes.len() > TRANSACTIONS_MAX {
            let at = node.span().start;
            reader.wrong(
                at,
                format!("a workload has 1 to {TRANSACTIONS_MAX} transactions, got {}", nodes.len()),
            );
            return;
        }
        for node in nodes {
            if let Some(mut section) = reader.table("[[transactions]]", node) {
                self.transaction(reader, &mut section);
                reader.end(&section);
            }
        }
    }

    fn transaction(&mut self, reader: &mut Reader<'a>, section: &mut Section<'a>) {
        let others: Vec<String> =
            self.definition.transactions.iter().map(|t| t.name.clone()).collect();
        let name = name(reader, section, &others);
        if let Some(name) = &name {
            section.title = format!("transaction `{name}`");
        }
        let title = section.text(reader, "title").map(|title| title.text.to_owned());
        let weight = section.integer(reader, "weight", 1, WEIGHT_MAX).unwrap_or(1);
        let access = section.text(reader, "access").and_then(|text| match text.text {
            "read" => Some(Access::Read),
            "write" => Some(Access::Write),
            other => {
                let message =
                    format!("{} must be read or write, got `{other}`", section.of("access"));
                reader.wrong(text.at, message);
                None
            }
        });
        let access = access.unwrap_or(Access::Write);
        let isolation = section.text(reader, "isolation").and_then(|text| {
            let level = text.text.parse::<Isolation>();
            level.map_err(|why| reader.wrong(text.at, why)).ok()
        });
        let think = duration(reader, section, "think").unwrap_or_default();
        let mut kept: Vec<&'a str> = Vec::new();
        let steps = self.steps(reader, section, &mut kept, access);
        let counter = self.counter(reader, section, &kept);
        let results = kept.iter().map(|name| self.definition.names.slot(name)).collect();
        let name = name.unwrap_or_default();
        self.definition.transactions.push(Transaction {
            title: title.unwrap_or_else(|| name.clone()),
            name,
            weight: u32::try_from(weight).unwrap_or_default(),
            access,
            isolation,
            think,
            draws: Box::default(),
            results,
            steps,
            counter,
        });
    }

    fn steps(
        &mut self,
        reader: &mut Reader<'a>,
        section: &mut Section<'a>,
        kept: &mut Vec<&'a str>,
        access: Access,
    ) -> Vec<Step> {
        let Some(node) = section.get("statements") else {
            reader.wrong(section.at, format!("{} needs `statements`", section.title));
            return Vec::new();
        };
        let title = section.of("statements");
        let nodes = reader.list(&title, node, true);
        let has_sql = |node: &&Node<'_>| {
            let pauses =
                |table: &DeTable<'_>| table.iter().any(|(key, _)| key.get_ref() == "pause");
            !node.get_ref().as_table().is_some_and(pauses)
        };
        if !nodes.iter().any(has_sql) {
            reader.wrong(node.span().start, format!("{title} must have a statement"));
        }
        let mut steps = Vec::new();
        for node in nodes {
            let step = match node.get_ref() {
                DeValue::String(_) => reader.text(&title, node).and_then(|text| {
                    let sql = ByDialect { default: Some(text), others: Vec::new() };
                    self.statement(reader, sql, kept, access).map(Step::Statement)
                }),
                _ => reader.table(format!("a statement of {}", section.title), node).and_then(
                    |mut own| {
                        let step = self.step(reader, &mut own, kept, access);
                        reader.end(&own);
                        step
                    },
                ),
            };
            steps.extend(step);
        }
        steps
    }

    fn step(
        &mut self,
        reader: &mut Reader<'a>,
        own: &mut Section<'a>,
        kept: &mut Vec<&'a str>,
        access: Access,
    ) -> Option<Step> {
        if own.get("pause").is_some() {
            return duration(reader, own, "pause").map(Step::Pause);
        }
        let sql = dialect_texts(reader, own, "sql");
        let rows = rows(reader, own);
        let keep = keep(reader, own);
        let mut statement = self.statement(reader, sql?, kept, access)?;
        for (name, at) in keep {
            if self.declared.contains(name) || name == SCALE {
                reader.wrong(
                    at,
                    format!("`{name}` is a parameter already: name the column otherwise, with AS"),
                );
                continue;
            }
            let slot = self.definition.names.slot(name);
            statement.keep.push((name.to_owned(), slot));
            kept.push(name);
        }
        statement.returns_rows |= !statement.keep.is_empty();
        statement.rows = rows;
        statement.returns_rows |= statement.rows.is_some() && statement.reads;
        Some(Step::Statement(statement))
    }

    fn statement(
        &mut self,
        reader: &mut Reader<'a>,
        sql: ByDialect<Text<'a>>,
        kept: &[&'a str],
        access: Access,
    ) -> Option<Statement> {
        let at = sql.all().next()?.at;
        let before = reader.count();
        let of_mysql = self.default_of_mysql(&sql, kept);
        // A statement that only MySQL can read is one for MySQL.
        let default = sql.default.filter(|text| {
            let read = single(text.text, Lexis::Common, &mut self.definition.names.clone());
            read.is_ok() || of_mysql.is_none()
        });
        let default =
            default.and_then(|text| self.part(reader, &text, Lexis::Common, kept, access));
        let mut others = Vec::new();
        for (dialect, text) in sql.others {
            let part = self.part(reader, &text, lexis(&dialect), kept, access);
            others.extend(part.map(|part| (dialect, part)));
        }
        if reader.count() > before {
            return None;
        }
        if let Some(text) = of_mysql {
            let part = self.part(reader, &text, Lexis::MySql, kept, access);
            others.extend(part.map(|part| (MYSQL.to_owned(), part)));
        }
        let sql = ByDialect { default, others };
        let reads = sql.all().all(|part| part.effect == Effect::Read || part.is_with_query());
        let returns_rows = sql.all().any(|part| part.has_word("returning"));
        let (line, column) = reader.position(at);
        let id = self.definition.statements;
        self.definition.statements += 1;
        let (rows, keep) = (None, Vec::new());
        Some(Statement { id, line, column, sql, rows, keep, returns_rows, reads })
    }

    /// The text for all dialects, if MySQL reads it otherwise and it is right when it is read so.
    fn default_of_mysql(&self, sql: &ByDialect<Text<'a>>, kept: &[&'a str]) -> Option<Text<'a>> {
        let text = sql.default.filter(|text| Lexis::may_differ(text.text))?;
        if sql.others.iter().any(|(dialect, _)| dialect == MYSQL) {
            return None;
        }
        let mut names = self.definition.names.clone();
        let common = single(text.text, Lexis::Common, &mut names).ok();
        let part = single(text.text, Lexis::MySql, &mut names).ok()?;
        let is_known =
            |name: &str| name == SCALE || kept.contains(&name) || self.declared.contains(name);
        let is_right = part.variables().all(|slot| is_known(names.name(slot)));
        (is_right && common.as_ref() != Some(&part)).then_some(text)
    }

    /// Parses the SQL of a statement.
    fn part(
        &mut self,
        reader: &mut Reader<'a>,
        text: &Text<'a>,
        lexis: Lexis,
        kept: &[&'a str],
        access: Access,
    ) -> Option<Part> {
        let part = match single(text.text, lexis, &mut self.definition.names) {
            Ok(part) => part,
            Err((at, message)) => {
                reader.wrong(text.place(at), message);
                return None;
            }
        };
        match part.effect {
            Effect::Begin | Effect::BeginWith | Effect::Commit | Effect::Rollback => {
                reader.wrong(
                    text.at,
                    "a transaction begins before its first statement and commits after its last: remove the statement, \
                     and set `isolation` or `access` if it has options",
                );
            }
            Effect::Write if access == Access::Read && part.changes_data() => {
                reader.wrong(
                    text.at,
                    "the statement writes, but the transaction has access = \"read\"",
                );
            }
            Effect::Read | Effect::Write => {}
        }
        for slot in part.variables() {
            let name = self.definition.names.name(slot).to_owned();
            self.used.insert(slot);
            let is_known =
                name == SCALE || kept.contains(&&*name) || self.declared.contains(&*name);
            if !is_known {
                let known = self.declared.iter().chain(kept).copied();
                let hint = suggestion(&name, known);
                let at = text.place(place_of(text.text, &name));
                reader.wrong(
                    at,
                    format!("unknown parameter `:{name}`: declare it in [parameters], or `keep` it from an earlier statement{hint}"),
                );
            }
        }
        Some(part)
    }

    fn counter(
        &mut self,
        reader: &mut Reader<'a>,
        section: &mut Section<'a>,
        kept: &[&str],
    ) -> Counter {
        let Some(node) = section.get("counter") else { return Counter::Constant(1) };
        let title = section.of("counter");
        if let DeValue::Integer(_) = node.get_ref() {
            let most = i64::from(u32::MAX);
            return Counter::Constant(
                reader.integer(&title, node, -most, most).unwrap_or_default(),
            );
        }
        let Some(text) = reader.text(&title, node) else { return Counter::Constant(0) };
        let slot = self.definition.names.find(text.text);
        let parameter = self.definition.parameters.iter().find(|p| Some(p.slot) == slot);
        match parameter.map(|p| (p.slot, &p.generator)) {
            Some((slot, Generator::Integer(_))) => {
                self.used.insert(slot);
                Counter::Slot(slot)
            }
            _ => {
                let what =
                    if kept.contains(&text.text) { "a result" } else { "no integer parameter" };
                let message = format!(
                    "{title} must be a whole number or the name of a parameter with the generator `integer`; `{}` is {what}",
                    text.text
                );
                reader.wrong(text.at, message);
                Counter::Constant(0)
            }
        }
    }

    fn setup(&mut self, reader: &mut Reader<'a>, root: &mut Section<'a>) {
        let mut scripts = ["setup", "teardown"].map(|key| {
            let node = root.get(key)?;
            let mut section = reader.table(format!("[{key}]"), node)?;
            let scripts = self.scripts(reader, &mut section);
            reader.end(&section);
            Some((node.span().start, scripts?))
        });
        match &scripts {
            [Some((at, _)), None] if root.get("teardown").is_none() => {
                reader.wrong(*at, "[setup] needs [teardown], which drops what [setup] creates");
            }
            [None, Some((at, _))] if root.get("setup").is_none() => {
                reader.wrong(*at, "[teardown] needs [setup]: without it, nothing is built");
            }
            _ => {}
        }
        let [setup, teardown] = &mut scripts;
        self.definition.setup = setup.take().map(|(_, scripts)| scripts);
        self.definition.teardown = teardown.take().map(|(_, scripts)| scripts);
    }

    /// The scripts of a section: texts, or tables with the name of a file.
    fn scripts(
        &self,
        reader: &mut Reader<'a>,
        section: &mut Section<'a>,
    ) -> Option<ByDialect<String>> {
        let before = reader.count();
        let mut found = ByDialect::default();
        for key in std::iter::once("sql").chain(dialects().iter().map(String::as_str)) {
            let Some(node) = section.get(key) else { continue };
            let title = section.of(key);
            let script = match node.get_ref() {
                DeValue::Table(_) => self.script_of_file(reader, title, node),
                _ => reader.text(&title, node).map(|text| text.text),
            };
            let Some(script) = script else { continue };
            let script = with_scale(script, self.context.scale);
            match key {
                "sql" => found.default = Some(script),
                dialect => found.others.push((dialect.to_owned(), script)),
            }
        }
        if found.all().next().is_none() && reader.count() == before {
            reader.wrong(
                section.at,
                format!("{} needs `sql`: a text, or {{ file = \"NAME.sql\" }}", section.title),
            );
            return None;
        }
        Some(found)
    }

    fn script_of_file(
        &self,
        reader: &mut Reader<'a>,
        title: String,
        node: &'a Node<'a>,
    ) -> Option<&'a str> {
        let mut section = reader.table(title, node)?;
        let file = section.needs_text(reader, "file");
        reader.end(&section);
        let file = file?;
        let text = self.context.files.get(file.text).map(String::as_str);
        if text.is_none() {
            reader.wrong(
                file.at,
                format!("the file {} is missing: send it with the workload", file.text),
            );
        }
        text
    }

    fn questions(
        &self,
        reader: &mut Reader<'a>,
        root: &mut Section<'a>,
        key: &'a str,
    ) -> Vec<(Question, Section<'a>)> {
        let Some(node) = root.get(key) else { return Vec::new() };
        let mut found: Vec<(Question, Section<'a>)> = Vec::new();
        for node in reader.list(&format!("`{key}`, as in [[{key}]],"), node, false) {
            let Some(mut section) = reader.table(format!("[[{key}]]"), node) else { continue };
            let others: Vec<String> =
                found.iter().map(|(question, _)| question.name.clone()).collect();
            let name = name(reader, &mut section, &others);
            let title = section.text(reader, "title").map(|title| title.text.to_owned());
            let sql = dialect_texts(reader, &mut section, "sql");
            let (Some(name), Some(sql)) = (name, sql) else {
                for known in ["transactions", "most"] {
                    section.get(known);
                }
                reader.end(&section);
                continue;
            };
            let sql = sql.map(|text| self.question(reader, &text, key));
            let title = title.unwrap_or_else(|| name.clone());
            found.push((Question { name, title, sql }, section));
        }
        found
    }

    /// The SQL of a check or an audit.
    fn question(&self, reader: &mut Reader<'a>, text: &Text<'a>, key: &str) -> String {
        let sql = with_scale(text.text, self.context.scale);
        if key == "checks" && sql != text.text {
            reader.wrong(
                text.at,
                "the query of a check has no parameters, so :scale is unknown here",
            );
        }
        sql
    }

    fn checks(&mut self, reader: &mut Reader<'a>, root: &mut Section<'a>) {
        for (question, section) in self.questions(reader, root, "checks") {
            reader.end(&section);
            self.definition.checks.push(question);
        }
    }

    fn audits(&mut self, reader: &mut Reader<'a>, root: &mut Section<'a>) {
        for (question, mut section) in self.questions(reader, root, "audits") {
            section.title = format!("audit `{}`", question.name);
            let transactions = self.named(reader, &mut section, "transactions");
            if section.get("transactions").is_none() {
                let message = format!(
                    "{} needs `transactions`: the names of those that change the sum",
                    section.title
                );
                reader.wrong(section.at, message);
            }
            let most = section.integer(reader, "most", 0, u32::MAX.into());
            let most = most.map_or_else(|| self.most(&transactions), i64::unsigned_abs);
            reader.end(&section);
            let most = u32::try_from(most).unwrap_or(u32::MAX);
            self.definition.audits.push(Audit { question, transactions, most });
        }
    }

    /// The largest change by one of these transactions.
    fn most(&self, transactions: &[usize]) -> u64 {
        let of_slot = |slot: usize| {
            let parameter = self.definition.parameters.iter().find(|p| p.slot == slot);
            match parameter.map(|p| &p.generator) {
                Some(Generator::Integer(range)) => range.most(),
                _ => 0,
            }
        };
        let most = |index: &usize| match self.definition.transactions[*index].counter {
            Counter::Constant(value) => value.unsigned_abs(),
            Counter::Slot(slot) => of_slot(slot),
        };
        transactions.iter().map(most).max().unwrap_or_default()
    }

    fn primary(&mut self, reader: &mut Reader<'a>, root: &mut Section<'a>) {
        self.definition.primary = self.named(reader, root, "primary");
        if root.get("primary").is_none() {
            self.definition.primary = (0..self.definition.transactions.len()).collect();
        }
    }

    /// The transactions that a list of names means.
    fn named(
        &self,
        reader: &mut Reader<'a>,
        section: &mut Section<'a>,
        key: &'a str,
    ) -> Vec<usize> {
        let Some(node) = section.get(key) else { return Vec::new() };
        let title = section.of(key);
        let nodes = reader.list(&title, node, true);
        if nodes.is_empty() {
            reader.wrong(node.span().start, format!("{title} must name a transaction"));
        }
        let mut found: Vec<usize> = Vec::new();
        for node in nodes {
            let Some(text) = reader.text(&title, node) else { continue };
            let all = &self.definition.transactions;
            match all.iter().position(|transaction| transaction.name == text.text) {
                Some(index) if found.contains(&index) => {
                    reader.wrong(text.at, format!("{title} names `{}` twice", text.text));
                }
                Some(index) => found.push(index),
                None => {
                    let known = all.iter().map(|transaction| &*transaction.name);
                    let hint = suggestion(text.text, known.clone());
                    let known = known.collect::<Vec<_>>().join(", ");
                    reader.wrong(
                        text.at,
                        format!("no transaction `{}`; there are {known}{hint}", text.text),
                    );
                }
            }
        }
        found.sort_unstable();
        found
    }

    /// Finds the parameters that each transaction draws, and the types of all slots.
    fn draws(&mut self) {
        let Definition { parameters, transactions, names, types, .. } = &mut self.definition;
        for transaction in transactions.iter_mut() {
            let mut needed = vec![false; parameters.len()];
            let mut left: Vec<usize> = Vec::new();
            let at = |slot: usize| parameters.iter().position(|p| p.slot == slot);
            for step in &transaction.steps {
                let Step::Statement(statement) = step else { continue };
                left.extend(statement.sql.all().flat_map(Part::variables).filter_map(at));
            }
            if let Counter::Slot(slot) = transaction.counter {
                left.extend(at(slot));
            }
            while let Some(index) = left.pop() {
                if !std::mem::replace(&mut needed[index], true) {
                    left.extend(&parameters[index].uses);
                }
            }
            transaction.draws = (0..parameters.len()).filter(|index| needed[*index]).collect();
        }
        *types = vec![ColumnType::Any; names.len()];
        if let Some(scale) = names.find(SCALE) {
            types[scale] = ColumnType::BigInt;
        }
        for parameter in parameters {
            types[parameter.slot] = parameter.generator.column_type();
        }
    }
}

/// The name of a workload whose file has none: that of the file without folder and extension.
fn default_title(file: &str) -> String {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let title: String = stem.chars().take(NAME_MAX).collect();
    if title.is_empty() { "workload".to_owned() } else { title }
}

/// The name of a section, which is a key in results.
fn name<'a>(
    reader: &mut Reader<'a>,
    section: &mut Section<'a>,
    others: &[String],
) -> Option<String> {
    let text = section.needs_text(reader, "name")?;
    let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let begins = text.text.starts_with(|c: char| c.is_ascii_lowercase());
    if !begins || !text.text.chars().all(letter) || text.text.len() > NAME_MAX || text.text == "all"
    {
        let message = format!(
            "{} must be 1 to {NAME_MAX} lower-case letters, digits and underscores that begin with a letter, and not \
             `all`; got `{}`",
            section.of("name"),
            text.text.chars().take(NAME_MAX).collect::<String>()
        );
        reader.wrong(text.at, message);
        return None;
    }
    if others.iter().any(|other| other == text.text) {
        reader.wrong(text.at, format!("{} is used twice: `{}`", section.of("name"), text.text));
        return None;
    }
    Some(text.text.to_owned())
}

fn duration<'a>(
    reader: &mut Reader<'a>,
    section: &mut Section<'a>,
    key: &'a str,
) -> Option<Duration> {
    let text = section.text(reader, key)?;
    let read = parse_duration(text.text);
    read.map_err(|why| reader.wrong(text.at, format!("{}: {why}", section.of(key)))).ok()
}

/// The number of rows that is expected.
fn rows<'a>(reader: &mut Reader<'a>, section: &mut Section<'a>) -> Option<RangeInclusive<u64>> {
    let node = section.get("rows")?;
    let title = section.of("rows");
    if !node.get_ref().is_table() {
        let count = reader.integer(&title, node, 0, i64::MAX)?.unsigned_abs();
        return Some(count..=count);
    }
    let mut range = reader.table(title, node)?;
    let low = range.integer(reader, "min", 0, i64::MAX).unwrap_or(0).unsigned_abs();
    let high = range.integer(reader, "max", 0, i64::MAX).unwrap_or(i64::MAX).unsigned_abs();
    reader.end(&range);
    if low > high {
        reader.wrong(range.at, format!("{}: `min` is above `max`", range.title));
        return None;
    }
    Some(low..=high)
}

/// The columns that are kept, with their offsets.
fn keep<'a>(reader: &mut Reader<'a>, section: &mut Section<'a>) -> Vec<(&'a str, usize)> {
    let Some(node) = section.get("keep") else { return Vec::new() };
    let title = section.of("keep");
    let mut found = Vec::new();
    for node in reader.list(&title, node, true) {
        let Some(text) = reader.text(&title, node) else { continue };
        if is_name(text.text) {
            found.push((text.text, text.at));
        } else {
            let message =
                format!("{title}: `{}` is not a name: name the column with AS", text.text);
            reader.wrong(text.at, message);
        }
    }
    found
}

/// A text with the scale for `:scale`.
fn with_scale(text: &str, scale: i64) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(":scale") {
        let after = &rest[at + ":scale".len()..];
        let is_word = !after.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        let is_cast = rest[..at].ends_with(':');
        out.push_str(&rest[..at]);
        if is_word && !is_cast {
            out.push_str(&scale.to_string());
        } else {
            out.push_str(":scale");
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Offset of the first use of a parameter in SQL.
fn place_of(text: &str, name: &str) -> usize {
    let used = format!(":{name}");
    let ends = |at: &usize| {
        !text[at + used.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_')
    };
    text.match_indices(&used).map(|(at, _)| at).find(ends).unwrap_or_default()
}
