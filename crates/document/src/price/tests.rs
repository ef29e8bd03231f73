use triphammer_statistics::compare::{self, Better};

use super::*;

fn component(price: f64, paid: Payment) -> PriceComponent {
    let (name, source) = ("server".to_owned(), "offer 1".to_owned());
    PriceComponent { name, quantity: 1.0, price, paid, source }
}

fn list(components: &[(f64, Payment)]) -> PriceList {
    let components = components.iter().map(|(price, paid)| component(*price, *paid)).collect();
    PriceList { currency: "EUR".to_owned(), components }
}

fn is_near(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-9 * expected.abs()
}

#[test]
fn all_ways_of_payment_add_up_to_a_year() {
    let all =
        [(0.5, Payment::Hour), (100.0, Payment::Month), (3_000.0, Payment::Once { years: 3.0 })];
    assert!(is_near(list(&all).per_year(), 4_380.0 + 1_200.0 + 1_000.0));
    let mut two = list(&[(0.5, Payment::Hour)]);
    two.components[0].quantity = 2.0;
    assert!(is_near(two.per_year(), 8_760.0));
    assert_eq!(two.components[0].payment(), "2.00 × 0.500 per hour");
}

#[test]
fn costs_per_million_have_the_interval_of_the_rate_turned_round() {
    // One per hour of 3,600 s at 100 per second: 1 / 360,000 each.
    let rate = MeasuredRate {
        counted: "New-Orders committed".into(),
        per_second: 100.0,
        interval: Some(Interval { low: 80.0, high: 125.0 }),
    };
    let price = Price::new(&list(&[(1.0, Payment::Hour)]), &rate);
    let per_million = price.per_million.unwrap();
    assert!(is_near(per_million.value, 1e6 / 360_000.0));
    let interval = per_million.interval.unwrap();
    assert!(is_near(interval.low, per_million.value * 0.8));
    assert!(is_near(interval.high, per_million.value * 1.25));
    assert!(is_near(price.millions_per_year.unwrap().value, 3_153.6));
    assert!(is_near(price.per_year, price.millions_per_year.unwrap().value * per_million.value));
    let nothing = MeasuredRate { per_second: 0.0, interval: None, ..rate };
    let price = Price::new(&price.list, &nothing);
    assert_eq!((price.per_million, price.millions_per_year), (None, None));
}

#[test]
fn an_interval_that_reaches_no_rate_gives_none_of_costs() {
    let interval = Some(Interval { low: -1.0, high: 3.0 });
    let cost = list(&[(1.0, Payment::Hour)]).per_million(1.0, interval).unwrap();
    assert_eq!(cost.interval, None);
}

#[test]
fn wrong_values_are_named_with_their_component() {
    let wrong = |change: &dyn Fn(&mut PriceList)| {
        let mut of = list(&[(1.0, Payment::Hour)]);
        change(&mut of);
        of.check().unwrap_err()
    };
    let mut two = list(&[(0.0, Payment::Hour), (1.0, Payment::Hour)]);
    assert!(two.check().unwrap_err().contains("is there twice"));
    two.components[1].name = "disk".into();
    assert!(two.check().is_ok());
    for (error, part) in [
        (wrong(&|of| of.currency = "euro".into()), "currency `euro`"),
        (wrong(&|of| of.components.clear()), "no component"),
        (wrong(&|of| of.components[0].price = -1.0), "`server`: price -1: expected 0 to 1e12"),
        (wrong(&|of| of.components[0].price = f64::NAN), "price NaN"),
        (wrong(&|of| of.components[0].price = 1e308), ": expected 0 to 1e12"),
        (wrong(&|of| of.components[0].price = f64::INFINITY), "price inf"),
        (wrong(&|of| of.components[0].price = 0.0), "all components are free"),
        (wrong(&|of| of.components[0].quantity = 0.0), "quantity 0: expected more than 0"),
        (wrong(&|of| of.components[0].paid = Payment::Once { years: 0.0 }), "years 0"),
        (wrong(&|of| of.components[0].source = " ".into()), "source: expected"),
        (wrong(&|of| of.components[0].name = "a\nb".into()), "name: expected"),
    ] {
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn costs_of_two_sides_are_a_ratio_with_an_interval() {
    // B is 1.2 times as fast at the same price.
    let (a, b) = ([100.0, 101.0, 99.0, 100.0], [120.0, 121.2, 118.8, 120.0]);
    let pairs: Vec<(f64, f64)> = a.into_iter().zip(b).collect();
    let comparison = compare::pairs(&pairs, Better::Higher, 0.02).unwrap();
    let rates = ComparedRates {
        meaning: ["New-Orders committed per minute", "minute"],
        per_second: Some([100.0 / 60.0, 120.0 / 60.0]),
        comparison: Some(comparison),
    };
    let price = list(&[(1.0, Payment::Hour)]);
    let found = PriceComparison::new([price.clone(), price.clone()], &rates);
    let ratio = found.ratio.unwrap();
    assert!(is_near(ratio.value, 1.0 / 1.2) && ratio.interval.unwrap().contains(ratio.value));
    assert!(
        found.words.starts_with("B costs 0.83 × (0.83 to 0.83) per transaction"),
        "{}",
        found.words
    );
    let double = PriceComparison::new([price.clone(), list(&[(2.0, Payment::Hour)])], &rates);
    assert!(is_near(double.ratio.unwrap().value, 2.0 / 1.2));
    let dollars = PriceList { currency: "USD".into(), ..price.clone() };
    let found = PriceComparison::new([price.clone(), dollars], &rates);
    assert!(found.ratio.is_none() && found.words.contains("A is paid in EUR and B in USD"));
    let unknown = ComparedRates { comparison: None, ..rates };
    let found = PriceComparison::new([price.clone(), price], &unknown);
    assert!(found.ratio.is_none() && found.words.contains("no interval"), "{}", found.words);
}

#[test]
fn a_list_in_a_document_is_checked_like_a_price_file() {
    let text = |price: &str, years: &str| {
        format!(
            r#"{{"currency": "EUR", "components": [{{"name": "a", "quantity": 1, "price": {price},
                "paid": {{"every": "once", "years": {years}}}, "source": "offer 7"}}]}}"#
        )
    };
    let list: PriceList = serde_json::from_str(&text("3", "1")).unwrap();
    assert_eq!(list.per_year(), 3.0);
    for (price, years, reason) in [("-3", "1", "price -3"), ("3", "0", "years 0")] {
        let error = serde_json::from_str::<PriceList>(&text(price, years)).unwrap_err();
        assert!(error.to_string().contains(reason), "{error}");
    }
}
