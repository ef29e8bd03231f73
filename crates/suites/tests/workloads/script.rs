//! Scripts driven by the engine on the null database, in virtual time.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use triphammer_core::spec::{Length, Pacing, RetryPolicy, RunSpec};
use triphammer_core::workload::{Workload as _, WorkloadSettings};
use triphammer_engine::RunEnd;
use triphammer_workloads::script::{Script, ScriptText, value};

use crate::virtual_time;

/// Scripts with their weights.
fn script(scripts: &[(&str, u32)], define: &str) -> Arc<Script> {
    let texts: Vec<ScriptText> = (1..)
        .zip(scripts)
        .map(|(n, (text, weight))| ScriptText {
            name: format!("s{n}.sql"),
            weight: *weight,
            text: Some((*text).to_owned()),
        })
        .collect();
    let options = [("script", value(&texts).unwrap()), ("define", define.to_owned())];
    let options = options.map(|(name, value)| (name.to_owned(), value));
    let options = BTreeMap::from(options);
    let settings =
        WorkloadSettings { scale: 1.into(), run_seed: 5, options, ..WorkloadSettings::default() };
    Arc::new(Script::new(&settings).unwrap())
}

async fn run(script: Arc<Script>, target: &str, users: u32, load: &str, length: Length) -> RunEnd {
    let spec = RunSpec {
        pacing: Pacing { backlog: 1000, ..Pacing::default() },
        retry: RetryPolicy { attempts: 100, ..RetryPolicy::default() },
        ..virtual_time::spec(users, load.parse().unwrap(), length)
    };
    virtual_time::run(script, target, spec).await
}

fn seconds(seconds: u64) -> Length {
    Length::Time(Duration::from_secs(seconds))
}

#[tokio::test(start_paused = true)]
async fn a_sleep_is_part_of_the_transaction_and_takes_virtual_time() {
    let script = script(&[("\\set t 150\n\\sleep :t ms\n\\sleep 50000 us\nSELECT 1;\n", 1)], "");
    let end = run(script, "null:", 3, "closed", seconds(10)).await;
    // Five transactions per second and user; timers have milliseconds.
    let committed = end.timed[0].counts.committed;
    assert!((147..=150).contains(&committed), "{committed}");
    let mean = end.timed[0].response.as_ref().unwrap().mean();
    assert!((199_000.0..=202_000.0).contains(&mean), "{mean} us");
}

#[tokio::test(start_paused = true)]
async fn scripts_are_drawn_by_their_weights() {
    let script = script(&[("SELECT 1;", 3), ("SELECT 2;", 1), ("SELECT 3;", 0)], "");
    let end = run(script, "null:", 1, "closed", Length::Transactions(4000)).await;
    let counts: Vec<u64> = end.run.iter().map(|seen| seen.counts.committed).collect();
    assert_eq!((counts.iter().sum::<u64>(), counts[2]), (4000, 0));
    assert!((2850..=3150).contains(&counts[0]), "{counts:?}");
}

/// Each script fails unless what it expects of its variables holds.
#[tokio::test(start_paused = true)]
async fn variables_last_and_a_retry_begins_with_those_before_it() {
    let check = "\\if :n is null\n\\set n 0\n\\endif\n\\set n :n + 1\nBEGIN;\nUPDATE t SET a = 1;\n\
                 COMMIT;\n\\if :n > 200 or :client_id <> 0 or :random_seed <> 5\n\\set n 1 / 0\n\
                 \\endif\n";
    let counted = script(&[(check, 1)], "n=null");
    let target = "null:?fail=serialization:20%";
    let end = run(counted, target, 1, "closed", Length::Transactions(200)).await;
    // More than 200 would have been counted if retries had counted too.
    assert_eq!(end.run[0].counts.committed, 200);
    assert!(end.run[0].counts.retried > 0);
    // One transaction more, and the 201st fails.
    let counted = script(&[(check, 1)], "n=null");
    let end = run(counted, target, 1, "closed", Length::Transactions(201)).await;
    assert_eq!(end.run[0].counts.committed, 200);
}

#[tokio::test(start_paused = true)]
async fn an_arrival_begins_with_new_variables() {
    let fresh = "\\if :n = 1\n\\set n 1 / 0\n\\endif\n\\set n 1\nSELECT 1;\n";
    let end = run(script(&[(fresh, 1)], "n=0"), "null:", 2, "rate:50/s", seconds(4)).await;
    let counts = &end.timed[0].counts;
    assert!(counts.committed > 100, "{counts:?}");
    assert_eq!(counts.failed.iter().sum::<u64>(), 0);
}

#[tokio::test(start_paused = true)]
async fn each_command_that_waits_is_counted() {
    let text = "\\set a 1\nSELECT :a;\n\\sleep 20 ms\n\\if :a = 2\nSELECT 2;\n\\endif\n";
    let script = script(&[(text, 1)], "");
    run(Arc::clone(&script), "null:", 2, "closed", Length::Transactions(10)).await;
    let times = script.statement_times();
    let seen: Vec<_> =
        times.iter().map(|seen| (seen.text.as_str(), seen.line, seen.runs)).collect();
    assert_eq!(seen, [("SELECT :a", 2, 20), ("\\sleep", 3, 20), ("SELECT 2", 5, 0)]);
    let slept = times[1].total.as_secs_f64();
    assert!((0.4..0.45).contains(&slept), "{slept}");
}
