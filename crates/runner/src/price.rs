//! Price files (`--price`): TOML with what is paid for the measured system. What follows from them is
//! in `document::price`.
//!
//! ```toml
//! currency = "EUR"
//! source = "https://example.com/prices, 2026-11-01"
//!
//! [[component]]
//! name = "server, 8 vCPU"
//! per_hour = 0.40
//! ```

use std::path::Path;

use serde::Deserialize;
use triphammer_core::SpecError;
use triphammer_core::small_file::{SETTINGS_BYTES_MAX, read_text};
use triphammer_document::price::{Payment, PriceComponent, PriceList};
use triphammer_settings::Settings;
use triphammer_settings::failure::excerpt;

/// The setting.
pub(crate) const PRICE: &str = "price";

/// The file as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceFile {
    currency: String,
    source: Option<String>,
    #[serde(default)]
    component: Vec<ComponentTable>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ComponentTable {
    name: String,
    quantity: Option<f64>,
    per_hour: Option<f64>,
    per_month: Option<f64>,
    once: Option<f64>,
    years: Option<f64>,
    currency: Option<String>,
    source: Option<String>,
}

/// Reads the price list of the settings; `None` without one.
///
/// # Errors
/// When the file cannot be read, or a value in it is wrong.
pub fn read(settings: &Settings) -> Result<Option<PriceList>, SpecError> {
    settings.get(PRICE).map(|path| read_file(Path::new(path))).transpose()
}

/// Reads a price file.
///
/// # Errors
/// As [`read`].
pub fn read_file(path: &Path) -> Result<PriceList, SpecError> {
    let refuse = |why: String| {
        let message = format!("price file {}: {why}; see docs/price-energy.md", path.display());
        SpecError::new(message).about(PRICE)
    };
    let text = read_text(path, SETTINGS_BYTES_MAX).map_err(|error| refuse(error.to_string()))?;
    parse(&text).map_err(refuse)
}

fn parse(text: &str) -> Result<PriceList, String> {
    let file: PriceFile = toml::from_str(text).map_err(|error| excerpt(&error.to_string()))?;
    let PriceFile { currency, source, component } = file;
    let components = component.into_iter().map(|table| {
        let name = table.name.clone();
        let component = table.component(&currency, source.as_deref());
        component.map_err(|why| format!("component `{name}`: {why}"))
    });
    let components = components.collect::<Result<_, _>>()?;
    let list = PriceList { currency, components };
    list.check()?;
    Ok(list)
}

impl ComponentTable {
    fn component(self, currency: &str, source: Option<&str>) -> Result<PriceComponent, String> {
        if let Some(own) = self.currency.filter(|own| own != currency) {
            return Err(format!(
                "currency {own}, but the file has {currency}: convert all prices to one currency"
            ));
        }
        let source = self.source.or_else(|| source.map(str::to_owned));
        let source = source.ok_or(
            "no source: add `source`, a URL with a date or the number of an offer, to it or to the \
             file",
        )?;
        let (price, paid) = match (self.per_hour, self.per_month, self.once, self.years) {
            (Some(price), None, None, None) => (price, Payment::Hour),
            (None, Some(price), None, None) => (price, Payment::Month),
            (None, None, Some(price), Some(years)) => (price, Payment::Once { years }),
            (None, None, Some(_), None) => {
                return Err("no years: `once` needs `years`, the time of use".to_owned());
            }
            (.., None, Some(_)) => return Err("`years` belongs to `once`".to_owned()),
            _ => {
                return Err(
                    "give one of `per_hour`, `per_month`, or `once` with `years`".to_owned()
                );
            }
        };
        let quantity = self.quantity.unwrap_or(1.0);
        Ok(PriceComponent { name: self.name, quantity, price, paid, source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "currency = 'EUR'\nsource = 'offer 7'\n";

    #[test]
    fn a_price_file_has_components_that_are_paid_in_three_ways() {
        let text = format!(
            "{HEAD}[[component]]\nname = 'server'\nper_hour = 0.4\nquantity = 2\n\
             [[component]]\nname = 'disk'\nper_month = 46\nsource = 'list'\ncurrency = 'EUR'\n\
             [[component]]\nname = 'licence'\nonce = 9000\nyears = 3\n"
        );
        let list = parse(&text).unwrap();
        let of = |at: usize| {
            let of = &list.components[at];
            (of.quantity, of.price, of.paid, of.source.as_str())
        };
        assert_eq!(of(0), (2.0, 0.4, Payment::Hour, "offer 7"));
        assert_eq!(of(1), (1.0, 46.0, Payment::Month, "list"));
        assert_eq!(of(2), (1.0, 9000.0, Payment::Once { years: 3.0 }, "offer 7"));
        assert_eq!(list.currency, "EUR");
    }

    #[test]
    fn a_wrong_file_says_what_is_wrong_and_where() {
        let of = |rest: &str| parse(&format!("{HEAD}[[component]]\nname = 'a'\n{rest}"));
        for (found, message) in [
            (of("per_hour = 1\ncolour = 'red'"), "unknown field `colour`"),
            (of("per_hour = -1"), "component `a`: price -1: expected 0 to 1e12"),
            (of("per_hour = nan"), "price NaN"),
            (of("per_hour = inf"), "price inf"),
            (of("once = 1"), "component `a`: no years"),
            (of("once = 1\nyears = 0"), "component `a`: years 0"),
            (of("once = 1\nyears = -3"), "years -3"),
            (of("per_hour = 1\nyears = 3"), "`years` belongs to `once`"),
            (of("per_hour = 1\nper_month = 2"), "give one of"),
            (of("quantity = 2"), "give one of"),
            (of("per_hour = 1\nquantity = 0"), "quantity 0"),
            (of("per_hour = 1\ncurrency = 'USD'"), "currency USD, but the file has EUR"),
            (of("per_hour = 'cheap'"), "invalid type"),
            (of("per_hour = 0"), "all components are free"),
            (parse("currency = 'EUR'\n[[component]]\nname = 'a'\nper_hour = 1"), "no source"),
            (parse("source = 'x'"), "missing field `currency`"),
            (parse("currency = 'Euro'\nsource = 'x'\ncomponent = []"), "currency `Euro`"),
            (parse(HEAD), "no component"),
            (parse("price = "), "price"),
        ] {
            let error = found.unwrap_err();
            assert!(error.contains(message), "{error} has no `{message}`");
        }
    }
}
