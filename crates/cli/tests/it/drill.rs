//! The drill: ten disturbances in one run of each workload (server killed, stopped, restarted,
//! network cut), which the run survives; afterwards every invariant holds, and the outages are in
//! the result.

use std::ops::DerefMut;
use std::time::Duration;

use triphammer_testbed::{BabelfishServer, PostgresOptions, PostgresServer, Proxy, Server};

use crate::program::{Program, finish, wait_until};

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
/// Undisturbed seconds between two of them.
const CALM: Duration = Duration::from_secs(2);

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
    goes_on(&program, server, &direct, workload, |_| true);
}

/// Runs a workload that is built at `direct` through ten disturbances, from the time on when the run is under way: a
/// server that is slow may not have let all sessions in before.
pub fn goes_on<S: Disturbed>(
    program: &Program,
    mut server: S,
    direct: &str,
    workload: &str,
    is_under_way: impl Fn(&S) -> bool,
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
        "60s",
        "--max-failures",
        "100%",
        "--json",
    ]);
    wait_until(&mut child, "transactions", || is_under_way(&server));
    for what in TEN {
        std::thread::sleep(CALM);
        disturb(&mut server, &proxy, what);
    }
    let done = finish(child);
    let result: serde_json::Value =
        serde_json::from_str(&done.out).unwrap_or_else(|_| panic!("{}", done.err));
    assert_eq!(done.code, 0, "{}", done.err);
    assert_eq!(result["status"], "complete");
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
fn tproc_c_goes_on_through_ten_disturbances() {
    drill("tproc-c");
}

#[test]
#[ignore = "slow, and like the one of TPROC-C; `make test-matrix` runs it"]
fn tpc_b_goes_on_through_ten_disturbances() {
    drill("tpc-b");
}
