//! The nodes of a target, as users declare them: a file (`--nodes`), HammerDB's connect pool, or a
//! URL with several hosts and `--route`. The engine routes transactions to them
//! (`triphammer_core::nodes`); what each did is in `node_figures` of the crate `observe`, and in the
//! result's `nodes`.

mod file;
mod hammerdb;

use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;

use triphammer_core::SpecError;
use triphammer_core::nodes::{NODES_MAX, Node, Nodes, Routing};
use triphammer_core::session::Database as _;
use triphammer_core::small_file::{SETTINGS_BYTES_MAX, read_text};
use triphammer_core::workload::Description;
use triphammer_drivers::AnyDatabase;
use triphammer_drivers::target::{ConnectSettings, TargetUrl, host_text};

use crate::Settings;

/// The setting that names the file.
const NODES: &str = "nodes";
/// The setting with the rules.
const ROUTE: &str = "route";

/// A node before it is opened.
#[derive(Clone, Debug)]
struct NodeDeclaration {
    name: String,
    url: TargetUrl,
    weight: u32,
    partitions: Option<RangeInclusive<u64>>,
}

/// The nodes of a target and the rules of a run, before the transaction types are known.
#[derive(Debug)]
pub struct NodeList {
    nodes: Vec<(NodeDeclaration, Arc<AnyDatabase>)>,
    rules: Vec<(String, String)>,
}

/// What the settings say about nodes.
#[derive(Debug)]
pub(crate) struct NodeSettings {
    declared: Vec<NodeDeclaration>,
    rules: Vec<(String, String)>,
    /// Whether the nodes are the hosts of the target.
    are_hosts: bool,
}

impl NodeSettings {
    /// Reads the settings; `None` for a single server.
    ///
    /// # Errors
    /// When the file or a rule is invalid, or there is only one node.
    pub fn read(settings: &mut Settings) -> Result<Option<Self>, SpecError> {
        let target = settings.get("target").map(TargetUrl::parse).transpose();
        let file = settings.get(NODES).map(str::to_owned);
        let route = settings.get(ROUTE).map(str::to_owned);
        let (declared, mut rules) = match (&file, &route) {
            (None, None) => return Ok(None),
            (Some(file), _) => {
                let read = read_file(Path::new(file), target?.as_ref());
                read.map_err(|error| SpecError::new(format!("{file}: {error}")).about(NODES))?
            }
            (None, Some(_)) => (hosts(target?), Vec::new()),
        };
        rules.extend(route.map(|text| parse_rules(&text)).transpose()?.unwrap_or_default());
        for name in [NODES, ROUTE] {
            if let Some(value) = settings.get(name).map(str::to_owned) {
                let source = settings.source(name);
                settings.show(name, value, &source);
            }
        }
        check(&declared).map_err(|error| match file {
            Some(file) => SpecError::new(format!("{file}: {error}")).about(NODES),
            None => error.about(ROUTE),
        })?;
        Ok(Some(Self { declared, rules, are_hosts: settings.get(NODES).is_none() }))
    }

    /// Whether the nodes are the hosts of the target, rather than those of a file.
    pub const fn are_hosts(&self) -> bool {
        self.are_hosts
    }

    /// The URL for what is done beside the transactions: the nodes' hosts in one URL that connects to
    /// the one that accepts writes; of nodes that differ in more than the host, the first.
    pub fn main_url(&self) -> TargetUrl {
        let mut url = self.declared[0].url.clone();
        let is_like = |other: &TargetUrl| {
            let mut alike = other.clone();
            alike.hosts.clone_from(&url.hosts);
            alike == url
        };
        let attribute = match url.scheme.as_str() {
            "postgres" | "postgresql" => "target_session_attrs",
            "mysql" | "mariadb" => "target-session-attrs",
            _ => return url,
        };
        if self.declared.iter().all(|node| is_like(&node.url)) {
            let hosts = self.declared.iter().flat_map(|node| node.url.hosts.clone());
            url.hosts = hosts.collect();
            if url.params.iter().all(|(name, _)| name.replace('_', "-") != "target-session-attrs") {
                url.params.push((attribute.to_owned(), "read-write".to_owned()));
            }
        }
        url
    }

    /// Opens the nodes, without connecting.
    ///
    /// # Errors
    /// When a URL cannot be used for a node.
    pub fn open(self, connect: &ConnectSettings) -> Result<NodeList, SpecError> {
        let open = |node: NodeDeclaration| {
            let database = AnyDatabase::open_url(&node.url, connect)
                .map_err(|error| SpecError::new(format!("node {}: {error}", node.name)))?;
            if database.capabilities().blocks {
                let message = format!(
                    "node {}: a database in this process cannot be a node; give the URL of a server",
                    node.name
                );
                return Err(SpecError::new(message).about(NODES));
            }
            Ok((node, Arc::new(database)))
        };
        let nodes = self.declared.into_iter().map(open).collect::<Result<_, _>>()?;
        Ok(NodeList { nodes, rules: self.rules })
    }
}

impl NodeList {
    /// Their names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.nodes.iter().map(|(declared, _)| declared.name.as_str())
    }

    /// The nodes of one run of a workload.
    ///
    /// # Errors
    /// When a rule names an unknown transaction type, policy or node.
    pub fn of_run(
        &self,
        workload: &Description,
        seed: u64,
    ) -> Result<Nodes<AnyDatabase>, SpecError> {
        let node = |(declared, database): &(NodeDeclaration, Arc<AnyDatabase>)| Node {
            name: declared.name.clone(),
            database: Arc::clone(database),
            weight: declared.weight,
            partitions: declared.partitions.clone(),
        };
        let list: Vec<_> = self.nodes.iter().map(node).collect();
        let routing = Routing::new(&list, &self.rules, &workload.transactions, seed)
            .map_err(|error| error.about(ROUTE))?;
        Ok(Nodes::new(list, routing))
    }
}

type Read = (Vec<NodeDeclaration>, Vec<(String, String)>);

/// Reads a file of nodes: TOML, or HammerDB's XML.
fn read_file(path: &Path, target: Option<&TargetUrl>) -> Result<Read, SpecError> {
    let text = read_text(path, SETTINGS_BYTES_MAX)
        .map_err(|error| SpecError::new(format!("cannot read the nodes: {error}")))?;
    match text.trim_start().starts_with('<') {
        true => hammerdb::parse(&text),
        false => file::parse(&text, target),
    }
}

/// Reads rules from one text: `reads=round-robin:replicas, payment=first`.
fn parse_rules(text: &str) -> Result<Vec<(String, String)>, SpecError> {
    let rule = |text: &str| {
        let (key, rule) = text.split_once('=').ok_or_else(|| {
            let message = format!(
                "invalid rule `{text}`: write reads=POLICY:NODES, such as \
                 reads=round-robin:replicas"
            );
            SpecError::new(message).about(ROUTE)
        })?;
        Ok((key.trim().to_owned(), rule.trim().to_owned()))
    };
    text.split(',').map(str::trim).filter(|text| !text.is_empty()).map(rule).collect()
}

/// The hosts of a URL as nodes, named as they are written.
fn hosts(target: Option<TargetUrl>) -> Vec<NodeDeclaration> {
    let of_url = |url: TargetUrl| {
        let of_host = |host: &triphammer_drivers::target::UrlHost| NodeDeclaration {
            name: host_text(&host.name, host.port),
            url: {
                let mut url = TargetUrl { hosts: vec![host.clone()], ..url.clone() };
                // Each node is wanted, whether it accepts writes or not.
                url.params.retain(|(name, _)| name.replace('_', "-") != "target-session-attrs");
                url
            },
            weight: 1,
            partitions: None,
        };
        url.hosts.iter().map(of_host).collect()
    };
    target.map(of_url).unwrap_or_default()
}

/// Rejects too few and too many nodes, and names that are invalid or not unique.
fn check(nodes: &[NodeDeclaration]) -> Result<(), SpecError> {
    if !(2..=NODES_MAX).contains(&nodes.len()) {
        return Err(SpecError::new(format!(
            "routing needs from 2 to {NODES_MAX} nodes, got {}: name several hosts in the target \
             (postgres://user@db1,db2/db), or give a file with --nodes",
            nodes.len()
        )));
    }
    for (index, node) in nodes.iter().enumerate() {
        let is_char = |c: char| c.is_ascii_alphanumeric() || "-_.:[]/%".contains(c);
        if node.name.is_empty() || !node.name.chars().all(is_char) {
            return Err(SpecError::new(format!(
                "invalid name `{}` of a node: use letters, digits, `-`, `_` and `.`",
                node.name
            )));
        }
        if nodes[..index].iter().any(|other| other.name == node.name) {
            return Err(SpecError::new(format!("two nodes are named `{}`", node.name)));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;
    use crate::command::{Command, JobKind};

    fn given(settings: &[(&str, &str)]) -> Result<Option<NodeSettings>, SpecError> {
        let mut all = Settings::new(JobKind::Run);
        for (name, value) in settings {
            all.set(name, *value, Source::Flag);
        }
        assert_eq!(all.command(), Command::Job(JobKind::Run));
        NodeSettings::read(&mut all)
    }

    fn names(given: &NodeSettings) -> Vec<&str> {
        given.declared.iter().map(|node| node.name.as_str()).collect()
    }

    #[test]
    fn the_hosts_of_a_url_are_nodes_if_there_are_rules() {
        let url = "postgres://u:pw@db1:5433,db2/d?target_session_attrs=read-write";
        assert!(given(&[("target", url)]).unwrap().is_none());
        let found = given(&[("target", url), ("route", "reads=last, writes=first")]).unwrap();
        let found = found.unwrap();
        assert_eq!(names(&found), ["db1:5433", "db2"]);
        assert_eq!(found.rules.len(), 2);
        assert!(found.declared.iter().all(|node| node.url.params.is_empty()));
        assert_eq!(
            found.main_url().redacted(),
            "postgres://u@db1:5433,db2/d?target_session_attrs=read-write"
        );
    }

    #[test]
    fn bad_nodes_and_rules_are_rejected_with_the_setting() {
        for (settings, setting, message) in [
            (vec![("target", "postgres://u@h/d"), ("route", "all=first")], ROUTE, "from 2 to 64"),
            (vec![("route", "all=first")], ROUTE, "from 2 to 64"),
            (vec![("target", "postgres://u@a,b/d"), ("route", "first")], ROUTE, "invalid rule"),
            (vec![("nodes", "/nonexistent/nodes.toml")], NODES, "cannot read the nodes"),
        ] {
            let error = given(&settings).unwrap_err();
            assert_eq!(error.setting(), Some(setting), "{error}");
            assert!(error.to_string().contains(message), "{error}");
        }
    }
}
