use super::*;

fn span(from_s: u64, to_s: u64, joules: u64) -> EnergySpan {
    EnergySpan { from_ms: from_s * 1_000, to_ms: to_s * 1_000, microjoules: joules * 1_000_000 }
}

fn domain(name: &str, run: Vec<EnergySpan>, idle: Vec<EnergySpan>) -> EnergyDomainReadings {
    EnergyDomainReadings { name: name.into(), run, idle }
}

fn source(of: EnergyOf, domains: Vec<EnergyDomainReadings>) -> EnergySourceReadings {
    EnergySourceReadings { kind: EnergySourceKind::Rapl, of, host: None, domains }
}

fn rate(count: u64) -> MeasuredRate {
    MeasuredRate::new(["New-Orders committed per minute", "minute"], count, 10.0)
}

/// A window of seconds 10 to 20 with 1,000 New-Orders, of which the client used a quarter of the CPU
/// time.
fn energy(sources: Vec<EnergySourceReadings>, nodes: usize) -> Energy {
    let read = EnergyReadings { sources, gaps: Vec::new() };
    let (rate, metric) = (&rate(1_000), Some(6_000.0));
    let client_cpu_share = Some(0.25);
    let window_ms = [10_000, 20_000];
    Energy::new(&read, &EnergyInput { window_ms, rate, metric, nodes, client_cpu_share })
}

/// 60 W of a package and 5 W of memory, each second; before, 20 W and 5 W idle.
fn busy() -> Vec<EnergyDomainReadings> {
    let each = |joules: u64| (0..25).map(|s| span(s, s + 1, joules)).collect();
    let idle = |joules: u64| vec![span(0, 30, 30 * joules)];
    vec![domain("package-0", each(60), idle(20)), domain("dram", each(5), idle(5))]
}

#[test]
fn energy_is_that_of_the_timed_window_only() {
    let found = energy(vec![source(EnergyOf::SharedHost, busy())], 0);
    let of = &found.sources[0];
    assert_eq!((of.joules, of.watts, of.idle_watts), (Some(650.0), Some(65.0), Some(25.0)));
    assert_eq!(of.domains[0].coverage, 1.0);
    let figures = found.figures.unwrap();
    assert_eq!(figures.counted, "New-Orders committed");
    assert_eq!((figures.per_second, figures.joules_per_transaction), (100.0, Some(0.65)));
    assert_eq!(figures.primary_metric_per_watt, Some(6_000.0 / 65.0));
    assert_eq!(figures.client_cpu_share, Some(0.25));
    let idle = figures.above_idle.unwrap();
    assert_eq!((idle.idle_s, idle.idle_watts, idle.watts), (30.0, 25.0, 40.0));
    assert_eq!((idle.joules_per_transaction, found.gaps.len()), (Some(0.4), 0));
}

#[test]
fn a_span_across_the_edge_of_the_window_counts_by_its_time() {
    let spans = vec![span(8, 12, 400), span(12, 21, 900)];
    let part = Part::within(&spans, [10_000, 20_000]);
    assert_eq!(part, Part { joules: 200.0 + 800.0, read_s: 10.0 });
}

#[test]
fn idle_power_is_not_subtracted_unless_it_was_measured() {
    let mut domains = busy();
    domains[1].idle.clear();
    let found = energy(vec![source(EnergyOf::ServerHost, domains)], 0);
    let figures = found.figures.unwrap();
    assert_eq!((figures.above_idle, found.sources[0].idle_watts), (None, None));
    assert_eq!(figures.client_cpu_share, None, "another host");
}

#[test]
fn a_domain_that_vanishes_leaves_no_figure_but_a_reason() {
    let mut domains = busy();
    domains[0].run.truncate(15);
    let found = energy(vec![source(EnergyOf::SharedHost, domains)], 0);
    assert_eq!((&found.figures, found.sources[0].watts), (&None, None));
    assert_eq!(
        found.gaps,
        ["RAPL of this host: package-0 was read in 50 % of the timed window only"]
    );
    // A tenth may be missing: the rest has the same power.
    let mut domains = busy();
    domains[0].run.truncate(19);
    let found = energy(vec![source(EnergyOf::SharedHost, domains)], 0);
    assert_eq!((found.sources[0].joules, found.gaps.len()), (Some(650.0), 0));
    assert!(found.figures.is_some());
}

#[test]
fn a_counter_that_stands_still_is_not_energy() {
    let mut domains = busy();
    domains[0].run.iter_mut().for_each(|span| span.microjoules = 0);
    let found = energy(vec![source(EnergyOf::SharedHost, domains)], 0);
    assert_eq!(found.figures, None);
    assert!(found.gaps[0].contains("the counter package-0 did not move"), "{:?}", found.gaps);
}

#[test]
fn memory_and_powers_may_be_0() {
    let mut domains = busy();
    domains[1].run.iter_mut().for_each(|span| span.microjoules = 0);
    let found = energy(vec![source(EnergyOf::SharedHost, domains.clone())], 0);
    assert_eq!((found.figures.unwrap().watts, found.gaps.len()), (60.0, 0));
    // Of a power supply that stands by, whatever its name.
    domains[1].name = "package_watts{psu=2}".into();
    let power = |domains| EnergySourceReadings {
        kind: EnergySourceKind::PowerMetric,
        ..source(EnergyOf::SharedHost, domains)
    };
    let found = energy(vec![power(domains.clone())], 0);
    assert_eq!((found.figures.unwrap().watts, found.gaps.len()), (60.0, 0));
    domains.remove(0);
    let found = energy(vec![power(domains)], 0);
    assert_eq!(found.figures, None);
    assert!(found.gaps[0].contains("it read 0 W"), "{:?}", found.gaps);
}

#[test]
fn energies_of_different_kinds_of_source_have_no_ratio() {
    let rapl = source(EnergyOf::ServerHost, busy());
    let plug = EnergySourceReadings { kind: EnergySourceKind::PowerMetric, ..rapl.clone() };
    let [rapl, plug] = [rapl, plug].map(|source| energy(vec![source], 0));
    let compare = |a: &Energy, b: &Energy| EnergyComparison::new(&[Some(a)], &[Some(b)]).unwrap();
    assert_eq!(compare(&plug, &plug).ratio, Some(1.0));
    let found = compare(&rapl, &plug);
    assert_eq!(found.ratio, None);
    assert!(found.words.contains("no ratio: RAPL and power metric"), "{}", found.words);
}

#[test]
fn the_client_s_host_is_not_taken_for_that_of_the_database() {
    let client = source(EnergyOf::ClientHost, busy());
    let found = energy(vec![client.clone()], 0);
    assert!(found.figures.is_none() && found.sources[0].watts.is_some());
    assert!(found.gaps[0].contains("--energy-metrics"), "{:?}", found.gaps);
    let both = vec![client, source(EnergyOf::ServerHost, busy())];
    let found = energy(both.clone(), 0);
    assert_eq!(found.figures.unwrap().of, EnergyOf::ServerHost);
    let found = energy(both, 3);
    assert!(found.figures.is_none() && found.gaps[0].contains("3 nodes"), "{:?}", found.gaps);
}

#[test]
fn a_window_without_length_has_no_figure() {
    let read =
        EnergyReadings { sources: vec![source(EnergyOf::SharedHost, busy())], gaps: Vec::new() };
    let (rate, metric, client_cpu_share) = (&rate(0), None, None);
    let window_ms = [10_000, 10_000];
    let input = EnergyInput { window_ms, rate, metric, nodes: 0, client_cpu_share };
    let found = Energy::new(&read, &input);
    assert_eq!((found.sources[0].joules, found.figures), (None, None));
}

#[test]
fn spans_are_written_as_arrays() {
    let text = serde_json::to_string(&span(1, 2, 3)).unwrap();
    assert_eq!(text, "[1000,2000,3000000]");
    assert_eq!(serde_json::from_str::<EnergySpan>(&text).unwrap(), span(1, 2, 3));
}
