//! Formats values of declared metrics: unit and number of digits.

use triphammer_document::metrics::{Metric, MetricKind, Unit};
use triphammer_settings::format::{figure, milliseconds};

/// The factor from a metric's unit to the displayed unit.
pub const fn factor(unit: Unit) -> f64 {
    match unit {
        Unit::Us => 1e-3,
        Unit::Ns | Unit::Hz => 1e-9,
        Unit::Share => 100.0,
        Unit::Count
        | Unit::PerSecond
        | Unit::PerMinute
        | Unit::Cores
        | Unit::S
        | Unit::Average
        | Unit::Bytes
        | Unit::BytesPerSecond
        | Unit::Ms
        | Unit::Watts => 1.0,
    }
}

/// The displayed unit; empty for counts.
pub const fn label(unit: Unit) -> &'static str {
    match unit {
        Unit::Count | Unit::Average => "",
        Unit::Bytes => "B",
        Unit::BytesPerSecond => "B/s",
        Unit::PerSecond => "per s",
        Unit::PerMinute => "per min",
        Unit::Share => "%",
        Unit::Cores => "cores",
        Unit::Us | Unit::Ms => "ms",
        Unit::Ns | Unit::S => "s",
        Unit::Hz => "GHz",
        Unit::Watts => "W",
    }
}

/// The unit of a metric's chart: counters are drawn as rates.
pub fn of_chart(metric: &Metric) -> &'static str {
    let is_counter = metric.kind == MetricKind::Counter && metric.unit == Unit::Count;
    if is_counter { "per s" } else { label(metric.unit) }
}

/// A value without its unit.
pub fn number(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Us => milliseconds(value),
        Unit::Share => format!("{:.0}", value * 100.0),
        _ => figure(value * factor(unit)),
    }
}

/// Formats a value with its unit: `0.42 ms`, `37 %`; counts without one: `8`.
pub fn with_unit(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Count => format!("{value:.0}"),
        _ => format!("{} {}", number(unit, value), label(unit)),
    }
}

/// The smallest round number that is not below a value, for the end of an axis.
pub fn round_up(value: f64) -> f64 {
    if value <= 0.0 || !value.is_finite() {
        return 1.0;
    }
    let decade = 10_f64.powf(value.log10().floor());
    let steps = [1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0];
    // A value that is already round may exceed it by the rounding error of the logarithm.
    let fits = |step: &&f64| value <= *step * decade * (1.0 + 1e-9);
    steps.iter().find(fits).map_or(value, |step| step * decade)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_ends_at_a_round_number_above_its_values() {
        let ends = [(0.0, 1.0), (0.03, 0.03), (1.0, 1.0), (1.01, 1.2), (11_076.0, 12_000.0)];
        for (value, end) in ends {
            assert!((round_up(value) - end).abs() < 1e-9 * end, "{value}: {}", round_up(value));
        }
    }

    #[test]
    fn values_have_the_units_that_people_read() {
        let texts = [
            with_unit(Unit::Us, 420.0),
            with_unit(Unit::Share, 0.374),
            with_unit(Unit::Count, 8.0),
            with_unit(Unit::PerSecond, 12_345.6),
        ];
        assert_eq!(texts, ["0.420 ms", "37 %", "8", "12,346 per s"]);
    }
}
