//! A database of several nodes needs only two things from the engine, the slot and the access:
//! writing transactions go to the first node, reading ones to a replica of their session's slot.

use std::sync::{Arc, Mutex};

use triphammer_core::session::{
    Admin, Canceller, Capabilities, Database, LockMode, Role, RowSource, ServerInfo, Session,
    StatementId,
};
use triphammer_core::spec::Length;
use triphammer_core::sql::BoundStatement;
use triphammer_core::workload::TableDef;
use triphammer_core::{Access, DbError, Rows, Value};
use triphammer_drivers::null::{Null, NullSession};
use triphammer_engine::{RunEnd, RunPlan};

use crate::pings::{CALL, Pings, READ, WRITE, plan};

/// Number of statements and calls on each node, by slot of the session: the writer's, and the
/// replica's.
type Seen = Arc<Mutex<Vec<[u64; 2]>>>;

struct Cluster {
    node: Null,
    seen: Seen,
}

struct Routed {
    /// The writer, and this slot's replica.
    nodes: [NullSession; 2],
    to: usize,
    slot: u32,
    seen: Seen,
}

impl Routed {
    fn node(&mut self) -> &mut NullSession {
        self.seen.lock().unwrap()[self.slot as usize][self.to] += 1;
        &mut self.nodes[self.to]
    }

    fn writer(&mut self) -> &mut NullSession {
        &mut self.nodes[0]
    }
}

impl Database for Cluster {
    type Session = Routed;

    fn dialect(&self) -> &'static str {
        self.node.dialect()
    }

    fn capabilities(&self) -> &Capabilities {
        self.node.capabilities()
    }

    fn target(&self) -> String {
        self.node.target()
    }

    async fn connect(&self, role: Role, slot: u32) -> Result<Routed, DbError> {
        let nodes = [self.node.connect(role, slot).await?, self.node.connect(role, slot).await?];
        Ok(Routed { nodes, to: 0, slot, seen: Arc::clone(&self.seen) })
    }

    async fn create_database(&self) -> Result<bool, DbError> {
        self.node.create_database().await
    }
}

impl Session for Routed {
    async fn script(&mut self, sql: &str) -> Result<(), DbError> {
        self.writer().script(sql).await
    }

    /// Every node prepares every statement, under the same number.
    async fn prepare(&mut self, statement: &BoundStatement) -> Result<StatementId, DbError> {
        let [writer, replica] = &mut self.nodes;
        replica.prepare(statement).await?;
        writer.prepare(statement).await
    }

    async fn execute(&mut self, id: StatementId, args: &[Value<'_>]) -> Result<u64, DbError> {
        self.node().execute(id, args).await
    }

    async fn query(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
        rows: &mut Rows,
    ) -> Result<(), DbError> {
        self.node().query(id, args, rows).await
    }

    async fn stream(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
        batch: &mut Rows,
        each: &mut dyn FnMut(&Rows),
    ) -> Result<(), DbError> {
        self.node().stream(id, args, batch, each).await
    }

    fn announce(&mut self, access: Access) {
        self.to = usize::from(!access.writes());
    }

    async fn begin(&mut self, access: Access) -> Result<(), DbError> {
        self.node().begin(access).await
    }

    async fn commit(&mut self) -> Result<(), DbError> {
        self.node().commit().await
    }

    async fn rollback(&mut self) -> Result<(), DbError> {
        self.node().rollback().await
    }

    async fn load(&mut self, table: &TableDef, source: &mut dyn RowSource) -> Result<u64, DbError> {
        self.writer().load(table, source).await
    }

    fn is_closed(&self) -> bool {
        self.nodes.iter().any(Session::is_closed)
    }

    fn canceller(&self) -> Box<dyn Canceller> {
        self.nodes[self.to].canceller()
    }

    async fn close(self) {
        for node in self.nodes {
            node.close().await;
        }
    }
}

impl Admin for Routed {
    async fn server(&mut self) -> Result<ServerInfo, DbError> {
        self.writer().server().await
    }

    async fn settings(&mut self) -> Result<Vec<(String, String)>, DbError> {
        self.writer().settings().await
    }

    async fn transaction_count(&mut self) -> Result<Option<u64>, DbError> {
        self.writer().transaction_count().await
    }

    async fn tables(&mut self) -> Result<Vec<String>, DbError> {
        self.writer().tables().await
    }

    async fn advisory_lock(
        &mut self,
        name: &str,
        advisory_lock: LockMode,
    ) -> Result<bool, DbError> {
        self.writer().advisory_lock(name, advisory_lock).await
    }
}

#[test]
fn reading_transactions_go_to_the_replica_of_their_slot() {
    let RunPlan { mut spec, catalogue, share, .. } = plan("null:", 5, 1);
    spec.threads = 2;
    spec.length = Length::Transactions(8);
    let url = triphammer_drivers::TargetUrl::parse("null:").unwrap();
    let node = Null::open(&url, &triphammer_drivers::ConnectSettings::default()).unwrap();
    let seen: Seen = Arc::new(Mutex::new(vec![[0, 0]; 5]));
    let cluster = Cluster { node, seen: Arc::clone(&seen) };
    let workload = Arc::new(Pings::new(vec![READ, WRITE, READ, CALL], 0));
    let database = Arc::new(cluster);
    let plan = RunPlan { workload, database, nodes: None, catalogue, spec, share };
    let mut handle = triphammer_engine::start(plan).unwrap();
    while handle.events.blocking_recv().is_some() {}
    let end: RunEnd = handle.join().unwrap();
    assert_eq!(end.started, [5 * 4, 5 * 2, 5 * 2]);
    // Two writes of begin, statement and commit, and two calls; four reads of one statement each.
    assert_eq!(*seen.lock().unwrap(), vec![[2 * 3 + 2, 4]; 5]);
}
