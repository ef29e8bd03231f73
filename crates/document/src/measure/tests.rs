//! Answers of the workloads' measures, live and from documents.

use super::*;

fn of(workload: &str) -> PrimaryMetric {
    triphammer_workloads::describe(workload).unwrap().primary_metric.clone()
}

#[test]
fn the_workloads_declare_what_counts_and_in_which_unit() {
    let seen: Vec<TypeInterval> = (1..=5)
        .map(|n| {
            let mut seen = TypeInterval::default();
            (seen.counts.committed, seen.counts.rolled_back) = (n * 100, 7);
            seen
        })
        .collect();
    let nopm = of("tproc-c");
    assert_eq!(counted(&nopm, &seen), 100, "New-Orders that were committed");
    assert_eq!(Measure::from(nopm.measure).value(100, 5.0), 1200.0);
    let tps = of("tpc-b");
    assert_eq!(counted(&tps, &seen[..3]), 600, "all three types");
    assert_eq!(Measure::from(tps.measure).value(600, 5.0), 120.0);
    assert_eq!(Measure::from(tps.measure).value(600, 0.0), 0.0);
    let select_only = PrimaryMetric { transactions: vec![2], ..tps };
    assert_eq!(counted(&select_only, &seen[..3]), 300, "a chosen type");
}

#[test]
fn a_document_gives_its_measure_back() {
    for per_seconds in [1, 30, 60, 3600] {
        let measure = Measure::from(MeasureDef::Rate { per_seconds });
        assert_eq!(Measure::stored(&measure.per()), measure);
    }
    assert_eq!(Measure::stored(&Measure::Queries.per()), Measure::Queries);
    assert_eq!(Measure::stored("fortnight"), Measure::stored("minute"));
}

#[test]
fn throughput_beside_a_rate_has_the_unit_that_fits_it() {
    let named = |per| Measure::stored(per).throughput().map(|t| (t.name, t.of_minute * 60.0));
    assert_eq!(named("second"), Some(("TPS", 1.0)));
    assert_eq!(named("minute"), Some(("TPM", 60.0)));
    assert_eq!(named("hour"), Some(("TPM", 60.0)));
}

#[test]
fn what_is_said_of_seconds_does_not_apply_to_a_set_of_queries() {
    let measure = Measure::from(of("tproc-h").measure);
    assert_eq!(measure, Measure::Queries);
    assert!(measure.of_a_second().is_none() && measure.evidence().is_none());
    assert!(measure.throughput().is_none());
}
