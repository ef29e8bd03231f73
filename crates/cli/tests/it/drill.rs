//! The drill: ten disturbances in one run of each workload (server killed, stopped, restarted,
//! network cut), which the run survives; afterwards every invariant holds, and the outages are in
//! the result.

use std::ops::DerefMut;
use std::time::Duration;

use triphammer_testbed::{BabelfishServer, PostgresOptions, PostgresServer, Proxy, Server};

use crate::program::{Program, finish, signal, wait_until};
use crate::servers::name_of;

#[derive(Clone, Copy, Debug)]
enum Disturbance {
    Kill,
    Stop(u64),
    Restart,
    Cut(u64),
}

use Disturbance::{Cut, Kill, Restart, Stop};

const TEN: [Disturbance; 10] =
    [Kill, Cut(2), Restart, Stop(5), Kill, Cut(3), Restart, Kill, Stop(2), Cut(2)];
/// Undisturbed time between two of them, in which transactions are committed.
const CALM: Duration = Duration::from_secs(1);
/// Growth of the number of commits that shows that the sessions are back.
const GROWTH: i64 = 50;

/// A server that can be started again.
pub trait Disturbed: DerefMut<Target = Server> {
    fn start_again(&mut self);
}

impl Disturbed for PostgresServer {
    fn start_again(&mut self) {
        self.restart().unwrap();
    }
}

impl Disturbed for BabelfishServer {
    fn start_again(&mut self) {
        self.restart().unwrap();
    }
}

fn disturb(server: &mut impl Disturbed, proxy: &Proxy, what: Disturbance) {
    match what {
        Kill => {
            server.kill9();
            std::thread::sleep(Duration::from_millis(500));
            server.start_again();
        }
        Restart => server.start_again(),
        Stop(seconds) => {
            server.sigstop();
            std::thread::sleep(Duration::from_secs(seconds));
            server.sigcont();
        }
        Cut(seconds) => {
            proxy.cut();
            std::thread::sleep(Duration::from_secs(seconds));
            proxy.heal();
        }
    }
}

fn drill(workload: &str) {
    let server = PostgresServer::start(PostgresOptions::default()).unwrap();
    let direct = server.fresh_database("drill").unwrap();
    let program = Program::new();
    program.ok(&["build", &direct, "-w", workload]);
    let committed = match workload {
        "tproc-c" => "SELECT sum(d_next_o_id) FROM district",
        _ => "SELECT count(*) FROM pgbench_history",
    };
    let committed = |server: &PostgresServer| -> i64 {
        let rows = server.run(name_of(&direct), committed).unwrap();
        rows[0][0].as_deref().unwrap().parse().unwrap()
    };
    goes_on(&program, server, &direct, workload, committed);
}

/// Runs a workload that is built at `direct` through ten disturbances: after each, transactions are committed again.
/// `committed` asks the server for a number that grows with them.
pub fn goes_on<S: Disturbed>(
    program: &Program,
    mut server: S,
    direct: &str,
    workload: &str,
    committed: impl Fn(&S) -> i64,
) {
    let proxy = Proxy::start(server.port());
    let proxied = direct.replace(&format!(":{}", server.port()), &format!(":{}", proxy.port()));
    let mut child = program.start(&[
        "run",
        &proxied,
        "-w",
        workload,
        "--vus",
        "8",
        "--rampup",
        "1s",
        "--duration",
        "10m",
        "--max-failures",
        "100%",
        "--json",
    ]);
    let mut before = committed(&server);
    for what in TEN {
        wait_until(&mut child, "transactions", || committed(&server) >= before + GROWTH);
        std::thread::sleep(CALM);
        disturb(&mut server, &proxy, what);
        before = committed(&server);
    }
    wait_until(&mut child, "transactions at the end", || committed(&server) >= before + GROWTH);
    signal(&child, "INT");
    let done = finish(child);
    let result: serde_json::Value =
        serde_json::from_str(&done.out).unwrap_or_else(|_| panic!("{}", done.err));
    assert_eq!(done.code, 130, "{}", done.err);
    assert_eq!(result["status"], "interrupted");
    let verdict = result["primary_metric"]["verification"]["verdict"].as_str().unwrap();
    assert!(["verified", "within_bounds"].contains(&verdict), "{}", result["primary_metric"]);
    let notes: Vec<&str> =
        result["notes"].as_array().unwrap().iter().map(|n| n["kind"].as_str().unwrap()).collect();
    assert!(notes.contains(&"outage"), "{notes:?}");
    let recoveries = notes.iter().filter(|kind| **kind == "recovery").count();
    assert!(recoveries >= 4, "killed and restarted five times: {notes:?}");
    assert!(program.ok(&["check", direct, "-w", workload]).contains("hold"));
}

#[test]
#[ignore = "slow: tools/test-matrix.py slow"]
fn tproc_c_goes_on_through_ten_disturbances() {
    drill("tproc-c");
}

#[test]
#[ignore = "slow, and like the one of TPROC-C; `make test-matrix` runs it"]
fn tpc_b_goes_on_through_ten_disturbances() {
    drill("tpc-b");
}
