//! What a measured rate costs: price lists, as `--price` reads them, and the figures that follow from
//! a list and a rate. Reading the file is left to the runner.
//!
//! Documents keep the whole list, so that anyone can compute the figures again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_statistics::Estimate;

/// Hours in a year of 365 days.
pub const HOURS_PER_YEAR: f64 = 8_760.0;

/// What the measured system costs: the components of a price file, all in one currency.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PriceList {
    /// Code of the currency by ISO 4217: `EUR`.
    pub currency: String,
    /// The components, in the order of the file; at least one.
    pub components: Vec<PriceComponent>,
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
