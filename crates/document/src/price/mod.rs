//! What a measured rate costs: price lists, as `--price` reads them, and the figures that follow from
//! a list and a rate. Reading the file is left to the runner.
//!
//! Documents keep the whole list, so that anyone can compute the figures again.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use triphammer_settings::format::{figure, money};
use triphammer_statistics::compare::{Better, Comparison};
use triphammer_statistics::{Estimate, Interval};

use crate::measure::Measure;

/// Hours in a year of 365 days.
const HOURS_PER_YEAR: f64 = 8_760.0;
/// Seconds in a year of 365 days.
const SECONDS_PER_YEAR: f64 = HOURS_PER_YEAR * 3_600.0;
/// Months in a year.
const MONTHS_PER_YEAR: f64 = 12.0;
/// What prices of transactions are for.
const MILLION: f64 = 1e6;
/// Largest price and quantity, and most years: beyond them a figure is a mistake.
const NUMBER_MAX: f64 = 1e12;
/// Most components of a list.
const COMPONENTS_MAX: usize = 200;
/// Longest name or source, in characters.
const TEXT_MAX: usize = 300;

/// What the measured system costs: the components of a price file, all in one currency. One that is
/// read from a document is checked like a price file.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PriceList {
    /// Code of the currency by ISO 4217: `EUR`.
    pub currency: String,
    /// The components, in the order of the file; at least one.
    pub components: Vec<PriceComponent>,
}

impl<'de> Deserialize<'de> for PriceList {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Unchecked {
            currency: String,
            components: Vec<PriceComponent>,
        }
        let Unchecked { currency, components } = Unchecked::deserialize(from)?;
        let list = Self { currency, components };
        list.check().map_err(|why| D::Error::custom(format!("price list: {why}")))?;
        Ok(list)
    }
}

/// A component of a price list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PriceComponent {
    /// Name for people: `server, 8 vCPU`.
    pub name: String,
    /// Number of such components.
    #[schemars(range(min = 0.0))]
    pub quantity: f64,
    /// Price of one component per payment, in the list's currency.
    #[schemars(range(min = 0.0))]
    pub price: f64,
    /// When it is paid.
    pub paid: Payment,
    /// Where the price is from: a URL with a date, or the number of an offer.
    pub source: String,
}

/// When a component is paid.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "every", rename_all = "snake_case")]
pub enum Payment {
    /// Every hour, all year.
    Hour,
    /// Every month.
    Month,
    /// Once, for a number of years.
    Once {
        /// Years of use, more than 0: each carries the same share of the price.
        years: f64,
    },
}

/// What a run costs by its price list, at the rate of its timed window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "RunPrice")]
pub struct Price {
    /// The list.
    pub list: PriceList,
    /// Costs per year of 365 days, in the list's currency.
    #[schemars(range(min = 0.0))]
    pub per_year: f64,
    /// What is counted: what the primary metric counts, such as `New-Orders committed`.
    pub counted: String,
    /// Costs per million of what is counted, in the list's currency, with the interval that follows
    /// from that of the rate; `None` if nothing was counted.
    pub per_million: Option<Estimate>,
    /// How many are counted in a year at the measured rate, in millions; `None` likewise.
    pub millions_per_year: Option<Estimate>,
}

/// What the levels of a profile cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProfilePrice {
    /// The list, the same for all levels.
    pub list: PriceList,
    /// Costs per year of 365 days, in the list's currency.
    #[schemars(range(min = 0.0))]
    pub per_year: f64,
    /// What is counted: what the primary metric counts, such as `New-Orders committed`.
    pub counted: String,
    /// The level with the lowest costs per million among those whose runs all kept the requirements;
    /// `None` if no level did.
    pub cheapest: Option<CheapestLevel>,
}

/// The cheapest level of a profile that keeps the requirements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheapestLevel {
    /// Number of virtual users, or streams.
    pub users: u32,
    /// Costs per million of what the primary metric counts, in the list's currency.
    pub per_million: Estimate,
    /// Other levels that keep them, and whose costs do not differ from these: their intervals overlap.
    #[serde(default)]
    pub alike: Vec<u32>,
    /// The requirements that it keeps, as `--require` has them; `None` without any.
    pub required: Option<String>,
}

/// What B costs relative to A, per transaction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PriceComparison {
    /// Price list of A.
    pub a: PriceList,
    /// Price list of B, which may be the same.
    pub b: PriceList,
    /// Costs of A per million of what the primary metric counts, at its mean rate.
    pub a_per_million: Option<f64>,
    /// The same of B.
    pub b_per_million: Option<f64>,
    /// Costs of B per transaction over those of A, with the interval that follows from that of the
    /// rates' ratio; `None` if there is no ratio.
    pub ratio: Option<Estimate>,
    /// The result in words, or why there is no ratio.
    pub words: String,
}

/// How fast a run did what its primary metric counts.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredRate {
    /// What is counted: `New-Orders committed`.
    pub counted: String,
    /// How many per second of the timed window.
    pub per_second: f64,
    /// 95 % interval of that; `None` if there is none.
    pub interval: Option<Interval>,
}

impl MeasuredRate {
    /// The rate of a run that counted so many in so many seconds of its window.
    #[must_use]
    pub(crate) fn new([meaning, per]: [&str; 2], count: u64, window_s: f64) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "transactions of a run")]
        let per_second = if window_s > 0.0 { count as f64 / window_s } else { 0.0 };
        Self { counted: counted(meaning, per), per_second, interval: None }
    }

    /// The same with the interval of the primary metric, whose value is given.
    #[must_use]
    pub(crate) fn with_interval(self, value: f64, interval: Option<Interval>) -> Self {
        let factor = self.per_second / value;
        let interval = interval.filter(|_| value > 0.0);
        let scaled = |of: Interval| Interval { low: of.low * factor, high: of.high * factor };
        Self { interval: interval.map(scaled), ..self }
    }
}

/// What a metric with this meaning counts, without its unit of time.
#[must_use]
pub fn counted(meaning: &str, per: &str) -> String {
    match meaning.strip_suffix(&format!(" per {per}")) {
        Some(counted) => counted.to_owned(),
        None if Measure::stored(per) == Measure::Queries => "queries answered".to_owned(),
        None => meaning.to_owned(),
    }
}

impl PriceList {
    /// Whether the list can be calculated with.
    ///
    /// # Errors
    /// Says which component has which wrong value, and what is expected.
    pub fn check(&self) -> Result<(), String> {
        let currency = &self.currency;
        if currency.len() != 3 || !currency.bytes().all(|byte| byte.is_ascii_uppercase()) {
            return Err(format!(
                "currency `{currency}`: expected a code of ISO 4217, three capitals such as EUR"
            ));
        }
        if self.components.is_empty() {
            return Err("no component: add a table [[component]]".to_owned());
        }
        if self.components.len() > COMPONENTS_MAX {
            let count = self.components.len();
            return Err(format!("{count} components: at most {COMPONENTS_MAX} are accepted"));
        }
        for component in &self.components {
            component.check().map_err(|why| format!("component `{}`: {why}", component.name))?;
        }
        self.check_names()?;
        if self.per_year() <= 0.0 {
            return Err("all components are free: at least one must have a price".to_owned());
        }
        Ok(())
    }

    /// Rejects a component that is there twice, which is a mistake more often than not.
    fn check_names(&self) -> Result<(), String> {
        let mut names = BTreeSet::new();
        let again = self.components.iter().find(|component| !names.insert(component.name.trim()));
        again.map_or(Ok(()), |PriceComponent { name, .. }| {
            Err(format!("component `{name}` is there twice: use a quantity, or names of their own"))
        })
    }

    /// Costs per year of 365 days.
    #[must_use]
    pub fn per_year(&self) -> f64 {
        self.components.iter().map(PriceComponent::per_year).sum()
    }

    /// Costs per million at a rate per second, with the interval that follows from that of the rate;
    /// `None` for no rate.
    #[must_use]
    pub fn per_million(&self, per_second: f64, interval: Option<Interval>) -> Option<Estimate> {
        let at = |rate: f64| self.per_year() / (rate * SECONDS_PER_YEAR) * MILLION;
        let interval = interval.filter(|interval| interval.low > 0.0);
        // The higher the rate, the lower the costs.
        let interval =
            interval.map(|interval| Interval { low: at(interval.high), high: at(interval.low) });
        (per_second > 0.0).then(|| Estimate { value: at(per_second), interval })
    }

    /// Formats an amount of the list's currency: `12.34 EUR`.
    #[must_use]
    pub fn show(&self, amount: f64) -> String {
        format!("{} {}", money(amount), self.currency)
    }

    /// Formats an amount with its interval: `12.34 EUR (12.10 to 12.58)`.
    #[must_use]
    pub fn show_estimate(&self, amount: &Estimate) -> String {
        let interval = amount.interval.map(|Interval { low, high }| {
            let [low, high] = [low, high].map(money);
            format!(" ({low} to {high})")
        });
        format!("{}{}", self.show(amount.value), interval.unwrap_or_default())
    }
}

impl PriceComponent {
    /// Costs per year of 365 days.
    #[must_use]
    pub fn per_year(&self) -> f64 {
        let payments = match self.paid {
            Payment::Hour => HOURS_PER_YEAR,
            Payment::Month => MONTHS_PER_YEAR,
            Payment::Once { years } => 1.0 / years,
        };
        self.quantity * self.price * payments
    }

    fn check(&self) -> Result<(), String> {
        let is_text = |text: &str| {
            let length = text.chars().count();
            !text.trim().is_empty() && length <= TEXT_MAX && !text.chars().any(char::is_control)
        };
        for (name, text) in [("name", &self.name), ("source", &self.source)] {
            if !is_text(text) {
                return Err(format!("{name}: expected a line of 1 to {TEXT_MAX} characters"));
            }
        }
        let is_number = |number: f64| number.is_finite() && number <= NUMBER_MAX;
        if !(is_number(self.price) && self.price >= 0.0) {
            return Err(format!("price {}: expected 0 to {NUMBER_MAX:e}", self.price));
        }
        if !(is_number(self.quantity) && self.quantity > 0.0) {
            return Err(format!(
                "quantity {}: expected more than 0, and at most {NUMBER_MAX:e}",
                self.quantity
            ));
        }
        match self.paid {
            Payment::Once { years } if !(is_number(years) && (0.01..=100.0).contains(&years)) => {
                Err(format!("years {years}: expected 0.01 to 100, the time of use"))
            }
            _ => Ok(()),
        }
    }

    /// Describes how it is paid: `3 × 0.40 per hour`.
    #[must_use]
    pub fn payment(&self) -> String {
        let price = money(self.price);
        let price = match self.paid {
            Payment::Hour => format!("{price} per hour"),
            Payment::Month => format!("{price} per month"),
            Payment::Once { years } => format!("{price} once, over {} years", figure(years)),
        };
        if self.quantity == 1.0 { price } else { format!("{} × {price}", figure(self.quantity)) }
    }
}

impl Price {
    /// What a run at this rate costs.
    #[must_use]
    pub fn new(list: &PriceList, rate: &MeasuredRate) -> Self {
        let per_year = |rate: f64| rate * SECONDS_PER_YEAR / MILLION;
        let millions = Estimate {
            value: per_year(rate.per_second),
            interval: rate.interval.map(|interval| Interval {
                low: per_year(interval.low),
                high: per_year(interval.high),
            }),
        };
        Self {
            per_year: list.per_year(),
            counted: rate.counted.clone(),
            per_million: list.per_million(rate.per_second, rate.interval),
            millions_per_year: (rate.per_second > 0.0).then_some(millions),
            list: list.clone(),
        }
    }
}

/// The rates of both sides of a comparison.
#[derive(Clone, Debug)]
pub(crate) struct ComparedRates<'a> {
    /// Meaning of the primary metric, and its unit of time.
    pub meaning: [&'a str; 2],
    /// Mean rates of A and of B per second; `None` if they are not known.
    pub per_second: Option<[f64; 2]>,
    /// Ratio of the primary metric with its interval; `None` if there is none.
    pub comparison: Option<Comparison>,
}

impl PriceComparison {
    /// Compares what both sides cost per transaction.
    #[must_use]
    pub(crate) fn new(lists: [PriceList; 2], rates: &ComparedRates<'_>) -> Self {
        let [meaning, per] = rates.meaning;
        let counted = counted(meaning, per);
        let of = |side: usize| {
            let rate = rates.per_second?[side];
            lists[side].per_million(rate, None).map(|estimate| estimate.value)
        };
        let [a_per_million, b_per_million] = [of(0), of(1)];
        let ratio = Self::ratio(&lists, rates);
        let words = match (&ratio, a_per_million.zip(b_per_million)) {
            _ if lists[0].currency != lists[1].currency => format!(
                "no ratio of costs: A is paid in {} and B in {}",
                lists[0].currency, lists[1].currency
            ),
            (_, None) => "no ratio of costs: the rate of one side is not known".to_owned(),
            (None, Some((a, b))) => format!(
                "A costs {} and B {} per million {counted}; there is no interval, so no verdict",
                lists[0].show(a),
                lists[1].show(b)
            ),
            (Some(ratio), Some((a, b))) => format!(
                "B costs {} per transaction: A {} and B {} per million {counted}",
                times(ratio),
                lists[0].show(a),
                lists[1].show(b)
            ),
        };
        let [a, b] = lists;
        Self { a, b, a_per_million, b_per_million, ratio, words }
    }

    /// The costs of B over those of A per transaction. Costs fall as the rate rises.
    fn ratio(lists: &[PriceList; 2], rates: &ComparedRates<'_>) -> Option<Estimate> {
        let found = rates.comparison.filter(|found| found.better == Better::Higher)?;
        rates.per_second?;
        if lists[0].currency != lists[1].currency || found.interval.low <= 0.0 {
            return None;
        }
        let prices = lists[1].per_year() / lists[0].per_year();
        let interval =
            Interval { low: prices / found.interval.high, high: prices / found.interval.low };
        Some(Estimate { value: prices / found.ratio, interval: Some(interval) })
    }
}

/// Formats a ratio of costs: `0.83 × (0.80 to 0.86)`.
#[must_use]
fn times(ratio: &Estimate) -> String {
    let interval = ratio.interval.map(|Interval { low, high }| {
        let [low, high] = [low, high].map(|end| format!("{end:.2}"));
        format!(" ({low} to {high})")
    });
    format!("{:.2} ×{}", ratio.value, interval.unwrap_or_default())
}

#[cfg(test)]
mod tests;
