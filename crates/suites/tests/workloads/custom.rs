//! Workload files on sessions of real databases.

use std::collections::BTreeMap;

use triphammer_core::random::Rng;
use triphammer_core::rows::Rows;
use triphammer_core::session::{Access, Database, Protocol, Role, Session};
use triphammer_core::sql::StatementCatalogue;
use triphammer_core::value::Timestamp;
use triphammer_core::workload::{Mode, Statements, Workload, WorkloadSettings};
use triphammer_dialects::catalogues::catalogue;
use triphammer_drivers::{AnyDatabase, AnySession, ConnectSettings};
use triphammer_testbed::{MariadbServer, PostgresServer};
use triphammer_workloads::custom::{Custom, EXAMPLE, WorkloadText};

fn open(text: &str, files: &[(&str, &str)]) -> Custom {
    let files = files.iter().map(|(n, t)| ((*n).to_owned(), (*t).to_owned())).collect();
    let text = WorkloadText { name: "w.toml".into(), text: text.into(), files };
    let options = BTreeMap::from([("workload-file".to_owned(), text.value().unwrap())]);
    let settings = WorkloadSettings { scale: 2.into(), options, ..WorkloadSettings::default() };
    Custom::new(&settings).unwrap()
}

/// A database with the statements of a workload.
struct Site {
    database: AnyDatabase,
    catalogue: StatementCatalogue,
    protocol: Protocol,
}

impl Site {
    fn new(custom: &Custom, target: &str, protocol: Option<Protocol>) -> Self {
        let settings = ConnectSettings { protocol, ..ConnectSettings::default() };
        let database = AnyDatabase::open(target, &settings).unwrap();
        let catalogue = catalogue(custom.description(), database.dialect(), false).unwrap();
        Self { database, catalogue, protocol: protocol.unwrap_or(Protocol::Prepared) }
    }

    fn statements(&self) -> Statements<'_> {
        Statements::new(&self.catalogue).by(self.protocol)
    }

    async fn session(&self, role: Role) -> AnySession {
        self.database.connect(role, 0).await.unwrap()
    }

    /// Runs the scripts of a kind, such as `setup`.
    async fn scripts(&self, kind: &str) {
        let mut session = self.session(Role::Loader).await;
        for script in self.catalogue.scripts(kind) {
            session.begin(Access::Write).await.unwrap();
            session.script(&script.sql).await.unwrap();
            session.commit().await.unwrap();
        }
    }

    /// The sum that an audit asks for.
    async fn sum(&self, audit: &str) -> i64 {
        let mut session = self.session(Role::User).await;
        let statement = self.catalogue.statement(&format!("audit.{audit}")).unwrap();
        let id = session.prepare(statement).await.unwrap();
        let mut rows = Rows::new();
        session.begin(Access::Read).await.unwrap();
        session.query(id, &[], &mut rows).await.unwrap();
        session.rollback().await.unwrap();
        rows.row(0).show(0).parse().unwrap()
    }

    /// Runs transactions; returns the sum of the counters by type.
    async fn run(&self, custom: &Custom, count: usize) -> Vec<i64> {
        let mut session = self.session(Role::User).await;
        custom.start(&self.statements(), &mut session).await.unwrap();
        let mut statements = self.statements();
        let mut prepared =
            custom.prepare(Mode::Statements, &mut statements, &mut session).await.unwrap();
        let mut rng = Rng::of(9, &[]);
        let mut user = custom.user(0, 1, &mut rng);
        let mut sums = vec![0; custom.description().transactions.len()];
        for _ in 0..count {
            let transaction = custom.next(&mut user, &mut rng).unwrap();
            let input = custom.draw(transaction, &mut user, &mut rng, Timestamp(0));
            let done = custom.run(&input, &mut prepared, &mut session).await;
            let done = done.unwrap_or_else(|error| panic!("{error}\n{input}"));
            assert!(done.committed);
            sums[transaction] += done.counter;
        }
        sums
    }
}

#[tokio::test]
async fn the_example_runs_and_its_audits_hold() {
    let folder = tempfile::tempdir().unwrap();
    for target in [
        format!("sqlite:{}", folder.path().join("bank.db").display()),
        PostgresServer::shared().fresh_database("custom").unwrap(),
        MariadbServer::shared().fresh_database("custom").unwrap(),
    ] {
        let [(_, text), files @ ..] = EXAMPLE;
        let custom = open(text, &files);
        let site = Site::new(&custom, &target, None);
        site.scripts("setup").await;
        assert_eq!(site.sum("balance").await, 2000 * 100_000, "{target}");
        let sums = site.run(&custom, 100).await;
        assert!(sums.iter().all(|sum| *sum > 0), "{sums:?}");
        assert_eq!(site.sum("balance").await, 2000 * 100_000 + sums[0], "{target}");
        assert_eq!(site.sum("payments").await, sums[0], "{target}");
        // A second run continues its sequence after the first one's.
        let more = site.run(&open(text, &files), 50).await;
        assert_eq!(site.sum("payments").await, sums[0] + more[0], "{target}");
        site.scripts("teardown").await;
    }
}

#[tokio::test]
async fn parameters_are_bound_with_their_types_by_every_protocol() {
    let server = PostgresServer::shared();
    let target = server.fresh_database("custom").unwrap();
    let name = target.rsplit('/').next().unwrap();
    let text = r#"
[parameters]
i = { generator = "integer", min = 5, max = 5 }
d = { generator = "decimal", min = 1.25, max = 1.25 }
f = { generator = "float", min = 0.5, max = 0.5 }
t = { generator = "csv", file = "names.csv", column = "name" }
u = { generator = "uuid" }
j = { generator = "json", template = '{"n": ":t", "d": ":d"}' }
day = { generator = "date", min = 2026-01-31, max = 2026-01-31 }
at = { generator = "timestamp", min = 2026-01-31 12:00:00, max = 2026-01-31 12:00:00 }
q = { generator = "query", sql = "SELECT 41" }

[[transactions]]
name = "insert"
statements = [
    { sql = "SELECT :q::int + 1 AS answer", keep = ["answer"], rows = 1 },
    "INSERT INTO seen VALUES (:i, :d, :f, :t, :u, :j, :day, :at, :answer)",
    "INSERT INTO seen (i, d, f, day, at) VALUES (:i, :d, :f, :day, :at)",
]
"#;
    let table = "CREATE TABLE seen (i bigint, d numeric(10,2), f float8, t text, u uuid, j jsonb, \
                 day date, at timestamp, s int)";
    server.run(name, table).unwrap();
    for protocol in [Protocol::Prepared, Protocol::Extended, Protocol::Simple] {
        let custom = open(text, &[("names.csv", "id,name\n7,\"a'b\"\n")]);
        let site = Site::new(&custom, &target, Some(protocol));
        site.run(&custom, 1).await;
        let found = "SELECT i, d, f, t, j, day, at, s FROM seen ORDER BY t";
        let found: Vec<String> = server
            .run(name, found)
            .unwrap()
            .into_iter()
            .map(|row| row.into_iter().map(|field| field.unwrap_or("null".into())))
            .map(|row| row.collect::<Vec<_>>().join("|"))
            .collect();
        let rest = "2026-01-31|2026-01-31 12:00:00";
        let expected = [
            format!("5|1.25|0.5|a'b|{{\"d\": 1.25, \"n\": \"a'b\"}}|{rest}|42"),
            format!("5|1.25|0.5|null|null|{rest}|null"),
        ];
        assert_eq!(found, expected, "{protocol:?}");
        server.run(name, "TRUNCATE seen").unwrap();
    }
}
