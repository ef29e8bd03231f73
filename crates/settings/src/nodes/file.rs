//! Files of nodes in TOML.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde::Deserialize;
use triphammer_core::SpecError;
use triphammer_drivers::target::TargetUrl;

use super::{NodeDeclaration, Read};
use crate::failure::excerpt;

/// The file as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NodesFile {
    node: Vec<NodeTable>,
    #[serde(default)]
    route: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NodeTable {
    name: String,
    target: Option<String>,
    host: Option<String>,
    weight: Option<u32>,
    warehouses: Option<String>,
}

/// Reads a file. A node without a URL of its own takes `target`, with its own host.
pub(super) fn parse(text: &str, target: Option<&TargetUrl>) -> Result<Read, SpecError> {
    let file: NodesFile = toml::from_str(text)
        .map_err(|error| format!("invalid file of nodes: {}", excerpt(&error.to_string())))
        .map_err(SpecError::new)?;
    let nodes = file.node.into_iter().map(|node| node.declared(target));
    Ok((nodes.collect::<Result<_, _>>()?, file.route.into_iter().collect()))
}

impl NodeTable {
    fn declared(self, target: Option<&TargetUrl>) -> Result<NodeDeclaration, SpecError> {
        let name = self.name;
        let refuse = |text: String| SpecError::new(format!("node {name}: {text}"));
        let url = match (&self.target, &self.host, target) {
            (Some(url), None, _) => {
                TargetUrl::parse(url).map_err(|error| refuse(error.to_string()))?
            }
            (None, Some(host), Some(target)) => with_host(target, host).map_err(refuse)?,
            (None, Some(_), None) => {
                return Err(refuse(
                    "`host` replaces the host of the command's target, and none is given".into(),
                ));
            }
            _ => return Err(refuse("give either `target`, a URL, or `host`".into())),
        };
        if url.hosts.len() > 1 {
            return Err(refuse("a node is one host; declare a node for each".into()));
        }
        let partitions = self.warehouses.as_deref().map(range).transpose().map_err(refuse)?;
        Ok(NodeDeclaration { url, weight: self.weight.unwrap_or(1), partitions, name })
    }
}

/// The target with another host.
fn with_host(target: &TargetUrl, host: &str) -> Result<TargetUrl, String> {
    let parsed = TargetUrl::parse(&format!("{}://{host}", target.scheme));
    let parsed = parsed.map_err(|error| error.to_string())?;
    if parsed.hosts.is_empty() || !parsed.path.is_empty() || parsed.user.is_some() {
        return Err(format!("invalid host `{host}`: expected name or name:port"));
    }
    Ok(TargetUrl { hosts: parsed.hosts, ..target.clone() })
}

/// Reads `1-50`, or one number.
fn range(text: &str) -> Result<RangeInclusive<u64>, String> {
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    let ends = from.trim().parse().ok().zip(to.trim().parse().ok());
    ends.filter(|(from, to)| (1..=*to).contains(from))
        .map(|(from, to)| from..=to)
        .ok_or_else(|| format!("invalid warehouses `{text}`: expected a range such as 1-50"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_have_urls_or_hosts_of_the_target() {
        let text = r#"
            [[node]]
            name = "a"
            target = "postgres://u@db1/d"
            warehouses = "1-50"
            [[node]]
            name = "b"
            host = "db2:5433"
            weight = 3
            [route]
            reads = "random"
        "#;
        let target = TargetUrl::parse("postgres://v:pw@db0/e").unwrap();
        let (nodes, rules) = parse(text, Some(&target)).unwrap();
        let urls: Vec<_> = nodes.iter().map(|node| node.url.redacted()).collect();
        assert_eq!(urls, ["postgres://u@db1/d", "postgres://v@db2:5433/e"]);
        assert_eq!((nodes[0].weight, nodes[0].partitions.clone()), (1, Some(1..=50)));
        assert_eq!((nodes[1].weight, nodes[1].url.password.is_some()), (3, true));
        assert_eq!(rules, [("reads".to_owned(), "random".to_owned())]);
    }

    #[test]
    fn a_wrong_file_says_what_is_wrong_and_where() {
        for (node, message) in [
            ("name = 'a'", "node a: give either `target`"),
            ("name = 'a'\nhost = 'h'", "none is given"),
            ("name = 'a'\ntarget = 'postgres://a,b/d'", "a node is one host"),
            ("name = 'a'\ntarget = 'postgres://a/d'\nwarehouses = '9-1'", "invalid warehouses"),
            ("name = 'a'\ncolor = 'red'", "unknown field `color`"),
        ] {
            let error = parse(&format!("[[node]]\n{node}"), None).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
