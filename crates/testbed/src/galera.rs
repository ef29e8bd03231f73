//! Galera clusters of private MariaDB servers.

use std::path::Path;
use std::time::Duration;

use crate::TestbedError;
use crate::mariadb::{MariadbOptions, MariadbServer};
use crate::server::free_port;

/// Where packages put the library of the replication.
const PROVIDERS: [&str; 3] = [
    "/usr/lib/galera/libgalera_smm.so",
    "/usr/lib64/galera-4/libgalera_smm.so",
    "/usr/lib/libgalera_smm.so",
];
/// Interval at which a node is asked whether it is ready.
const POLL: Duration = Duration::from_millis(100);
const POLLS_MAX: u32 = 600;

/// A cluster; its nodes are stopped and removed when it is dropped.
pub struct Galera {
    /// All of them accept writes.
    pub nodes: Vec<MariadbServer>,
}

impl Galera {
    /// Starts the nodes one after another; each copies the first.
    ///
    /// # Errors
    /// When MariaDB, Galera or rsync is not installed, or a node does not join.
    pub fn start(nodes: u32) -> Result<Self, TestbedError> {
        let provider = PROVIDERS.into_iter().find(|path| Path::new(path).exists());
        let provider = provider.ok_or(TestbedError::Missing {
            product: "Galera",
            command: "apt-get install -y galera-4 rsync",
        })?;
        let group = free_port()?;
        let mut cluster = Self { nodes: Vec::new() };
        for number in 0..nodes {
            let own = if number == 0 { group } else { free_port()? };
            let arguments = arguments(provider, number, (group, own))?;
            let options =
                MariadbOptions { arguments, unprivileged: true, ..MariadbOptions::default() };
            let node = MariadbServer::start(options)?;
            wait_until_ready(&node)?;
            cluster.nodes.push(node);
        }
        Ok(cluster)
    }

    /// A file for `--nodes` in the folder of the first node, with a database on every node.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn nodes_file(&self, database: &str) -> Result<std::path::PathBuf, TestbedError> {
        let node = |(number, node): (usize, &MariadbServer)| {
            format!("[[node]]\nname = \"n{number}\"\ntarget = \"{}\"\n", node.url(database))
        };
        let text: String = self.nodes.iter().enumerate().map(node).collect();
        let path = self.nodes[0].socket_folder().join("nodes.toml");
        std::fs::write(&path, text).map_err(TestbedError::io("writing nodes.toml"))?;
        Ok(path)
    }
}

/// Arguments of a node: the first begins a cluster, and others join it at its port.
fn arguments(
    provider: &str,
    number: u32,
    (group, own): (u16, u16),
) -> Result<Vec<String>, TestbedError> {
    let first = if number == 0 { String::new() } else { format!("127.0.0.1:{group}") };
    let options = format!(
        "base_host=127.0.0.1;base_port={own};gmcast.listen_addr=tcp://127.0.0.1:{own};\
         ist.recv_addr=127.0.0.1:{};gcache.size=32M",
        free_port()?
    );
    let mut arguments = vec![
        "--wsrep-on=ON".to_owned(),
        format!("--wsrep-provider={provider}"),
        format!("--wsrep-cluster-address=gcomm://{first}"),
        "--wsrep-cluster-name=triphammer".to_owned(),
        format!("--wsrep-node-name=n{number}"),
        "--wsrep-node-address=127.0.0.1".to_owned(),
        "--wsrep-sst-method=rsync".to_owned(),
        format!("--wsrep-sst-receive-address=127.0.0.1:{}", free_port()?),
        format!("--wsrep-provider-options={options}"),
        "--binlog-format=ROW".to_owned(),
        "--innodb-autoinc-lock-mode=2".to_owned(),
    ];
    if number == 0 {
        arguments.push("--wsrep-new-cluster".to_owned());
    }
    Ok(arguments)
}

fn wait_until_ready(node: &MariadbServer) -> Result<(), TestbedError> {
    for _ in 0..POLLS_MAX {
        let rows = node.run("mysql", "SHOW STATUS LIKE 'wsrep_ready'").unwrap_or_default();
        if rows.iter().flatten().flatten().any(|value| value == "ON") {
            return Ok(());
        }
        std::thread::sleep(POLL);
    }
    Err(TestbedError::Failed(format!("a node does not join its cluster; its log:\n{}", node.log())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[ignore = "slow: tools/test-matrix.py slow"]
    fn nodes_have_the_same_rows() {
        let cluster = Galera::start(2).unwrap();
        let [first, second] = cluster.nodes.as_slice() else { panic!("two nodes") };
        first.run("mysql", "CREATE DATABASE t; CREATE TABLE t.t (a INT PRIMARY KEY)").unwrap();
        first.run("t", "INSERT INTO t VALUES (7)").unwrap();
        let rows = second.run("t", "SET SESSION wsrep_sync_wait = 1; SELECT a FROM t").unwrap();
        assert_eq!(rows, [[Some("7".to_owned())]]);
    }
}
