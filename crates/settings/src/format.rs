//! Formats numbers for people.

use triphammer_core::Scale;
use triphammer_engine::Origin;

/// Formats an integer with thousands separators: `12,345`.
#[must_use]
pub fn integer(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Formats a signed integer: `-12,345`.
#[must_use]
pub fn signed(number: i64) -> String {
    let sign = if number < 0 { "-" } else { "" };
    format!("{sign}{}", integer(number.unsigned_abs()))
}

/// Formats a rate or a cost: `12,346`, `41.3`, `0.52`, `0.013`, `< 0.001`. Only 0 is shown as `0`.
#[must_use]
pub fn figure(number: f64) -> String {
    match number {
        f64::INFINITY => "unlimited".to_owned(),
        n if n >= 1e15 => format!("{n:.1e}"),
        n if n >= 99.95 => integer(whole(n)),
        n if n >= 9.995 => format!("{n:.1}"),
        n if n >= 0.0995 => format!("{n:.2}"),
        n if n >= 0.00995 => format!("{n:.3}"),
        n if n >= 0.0005 => format!("{n:.4}"),
        n if n > 0.0 => "< 0.001".to_owned(),
        _ => "0".to_owned(),
    }
}

/// Formats an amount of money, with cents from 1 on and three significant digits below: `1,234.50`,
/// `12.35`, `0.0123`. Below 0.000001, and for what is no amount, only that is shown.
#[must_use]
pub fn money(amount: f64) -> String {
    match amount {
        n if n >= 1e15 => format!("{n:.1e}"),
        n if n >= 0.9995 => {
            let cents = whole(n * 100.0);
            format!("{}.{:02}", integer(cents / 100), cents % 100)
        }
        n if n >= 0.0995 => format!("{n:.3}"),
        n if n >= 0.00995 => format!("{n:.4}"),
        n if n >= 0.000_995 => format!("{n:.5}"),
        n if n >= 0.000_001 => format!("{n:.7}"),
        n if n > 0.0 => "< 0.000001".to_owned(),
        _ => "0".to_owned(),
    }
}

/// Formats microseconds as milliseconds, to three significant digits and at most microseconds:
/// `0.042`, `1.23`, `12.3`, `1,234`.
#[must_use]
pub fn milliseconds(us: f64) -> String {
    match us / 1000.0 {
        ms if ms >= 99.95 => integer(whole(ms)),
        ms if ms >= 9.995 => format!("{ms:.1}"),
        ms if ms >= 0.9995 => format!("{ms:.2}"),
        // The sum of nothing is -0.
        ms => format!("{:.3}", ms + 0.0),
    }
}

/// Formats the time of a query in seconds, with milliseconds below a minute: `0.012 s`, `1,234.5 s`.
#[must_use]
pub fn seconds(seconds: f64) -> String {
    match seconds {
        s if s >= 999.95 => format!("{} s", integer(whole(s))),
        s if s >= 59.95 => format!("{s:.1} s"),
        s => format!("{:.3} s", s + 0.0),
    }
}

/// Formats a share from 0 to 1 as a percentage: `0 %`, `0.02 %`, `3.1 %`, `100 %`. Only exact
/// values are shown as 0 or 100.
#[must_use]
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent <= 0.0 {
        "0 %".to_owned()
    } else if percent < 0.01 {
        "< 0.01 %".to_owned()
    } else if percent < 0.995 {
        format!("{} %", format!("{percent:.2}").trim_end_matches('0'))
    } else if percent > 99.95 && percent < 100.0 {
        "> 99.9 %".to_owned()
    } else if percent >= 1_000.0 {
        format!("{} %", figure(percent))
    } else if (percent - percent.round()).abs() < 0.005 {
        format!("{percent:.0} %")
    } else {
        format!("{percent:.1} %")
    }
}

/// Formats a share to two significant digits, for precisions and deviations: `0.52 %`, `1.3 %`, `12
/// %`.
#[must_use]
pub fn precise(share: f64) -> String {
    match share * 100.0 {
        percent if percent >= 9.95 => format!("{percent:.0} %"),
        percent if percent >= 0.995 => format!("{percent:.1} %"),
        percent => format!("{:.2} %", percent + 0.0),
    }
}

/// Formats seconds: `250ms`, `4.2s`, `45s`, `5m`, `1h 2m 3s`.
#[must_use]
pub fn duration(seconds: f64) -> String {
    if seconds <= 0.0 {
        return "0s".to_owned();
    }
    if seconds < 0.9995 {
        return format!("{:.0}ms", seconds * 1000.0);
    }
    let tenths = whole(seconds * 10.0);
    if tenths < 600 {
        return match tenths % 10 {
            0 => format!("{}s", tenths / 10),
            tenth => format!("{}.{tenth}s", tenths / 10),
        };
    }
    let whole = whole(seconds);
    let parts = [(whole / 3600, "h"), (whole % 3600 / 60, "m"), (whole % 60, "s")];
    let shown: Vec<String> =
        parts.iter().filter(|(n, _)| *n > 0).map(|(n, unit)| format!("{n}{unit}")).collect();
    shown.join(" ")
}

/// Formats seconds since the start of a run: `0:01:23`.
#[must_use]
pub fn clock(seconds: f64) -> String {
    let whole = whole(seconds);
    format!("{}:{:02}:{:02}", whole / 3600, whole % 3600 / 60, whole % 60)
}

/// Formats bytes in the largest binary unit with at least 1: `7.8 GiB`.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "shown to two digits")]
pub fn bytes(number: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = number as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 || value >= 99.95 {
        format!("{value:.0} {}", UNITS[unit])
    } else {
        format!("{value:.1} {}", UNITS[unit])
    }
}

/// Formats a count: `1 run`, `10 runs`, `1 query`. The singular is `plural` without its s, or with y
/// instead of ies.
#[must_use]
pub fn counted(number: u64, plural: &str) -> String {
    let count = integer(number);
    match (number, plural.strip_suffix("ies"), plural.strip_suffix('s')) {
        (1, Some(stem), _) => format!("{count} {stem}y"),
        (1, None, Some(stem)) => format!("{count} {stem}"),
        _ => format!("{count} {plural}"),
    }
}

/// Formats the scale of the data: `1 warehouse`, `1,000 branches`. Documents contain the plural of
/// the unit; the workload knows its singular.
#[must_use]
pub fn scale(number: Scale, plural: &str) -> String {
    let known =
        || triphammer_workloads::all().into_iter().find(|known| known.scale_unit.many == plural);
    match number.whole() {
        Some(number) if number != 1 => counted(number.into(), plural),
        whole => match (known(), whole) {
            (Some(known), _) => known.scale_unit.count(number),
            (None, Some(whole)) => counted(whole.into(), plural),
            (None, None) => format!("{number} {plural}"),
        },
    }
}

/// Formats a scale for a title; `None` if it says nothing, as that of data whose size the program
/// does not know.
#[must_use]
pub fn size(number: Scale, plural: &str) -> Option<String> {
    let is_unknown = number == Scale::ONE && plural == "units of scale";
    (!is_unknown).then(|| scale(number, plural))
}

/// Rounds to a whole number; 0 if the value is negative or not a number.
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float saturates when it becomes an integer"
)]
pub fn whole(number: f64) -> u64 {
    number.round() as u64
}

/// Formats the origin of a transaction's input.
pub fn origin(origin: Origin) -> String {
    match origin {
        Origin::User { user, nth } => format!("user {user}, no. {}", integer(nth)),
        Origin::Arrival(number) => format!("arrival {}", integer(number)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_separated() {
        for (number, text) in
            [(0, "0"), (7, "7"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")]
        {
            assert_eq!(integer(number), text);
        }
    }

    #[test]
    fn milliseconds_have_three_significant_digits() {
        for (us, text) in [
            (0.0, "0.000"),
            (-0.0, "0.000"),
            (5.0, "0.005"),
            (42.0, "0.042"),
            (999.4, "0.999"),
            (999.6, "1.00"),
            (1234.0, "1.23"),
            (9_996.0, "10.0"),
            (12_345.0, "12.3"),
            (123_456.0, "123"),
            (1_234_567.0, "1,235"),
        ] {
            assert_eq!(milliseconds(us), text);
        }
    }

    #[test]
    fn percentages_never_round_to_nothing_or_all() {
        for (share, text) in [
            (0.0, "0 %"),
            (0.000_05, "< 0.01 %"),
            (0.0002, "0.02 %"),
            (0.002, "0.2 %"),
            (0.0045, "0.45 %"),
            (0.01, "1 %"),
            (0.031, "3.1 %"),
            (0.446, "44.6 %"),
            (0.1, "10 %"),
            (0.9999, "> 99.9 %"),
            (1.0, "100 %"),
            (307.223, "30,722 %"),
        ] {
            assert_eq!(percent(share), text);
        }
    }

    #[test]
    fn durations_and_rates_and_bytes_read_well() {
        for (seconds, text) in [
            (0.0, "0s"),
            (0.25, "250ms"),
            (4.2, "4.2s"),
            (45.0, "45s"),
            (59.99, "1m"),
            (300.0, "5m"),
            (300.4, "5m"),
            (3723.0, "1h 2m 3s"),
        ] {
            assert_eq!(duration(seconds), text);
        }
        for (number, text) in [
            (0.0, "0"),
            (0.5, "0.50"),
            (0.0131, "0.013"),
            (0.0049, "0.0049"),
            (0.000_4, "< 0.001"),
            (12.34, "12.3"),
            (12_345.6, "12,346"),
        ] {
            assert_eq!(figure(number), text);
        }
        for (amount, text) in [
            (1_234.5, "1,234.50"),
            (0.999_9, "1.00"),
            (0.123_4, "0.123"),
            (0.012_34, "0.0123"),
            (0.000_012_3, "0.0000123"),
            (0.000_000_1, "< 0.000001"),
            (0.0, "0"),
        ] {
            assert_eq!(money(amount), text);
        }
        for (number, text) in [(512, "512 B"), (8_375_000_000, "7.8 GiB"), (1 << 37, "128 GiB")] {
            assert_eq!(bytes(number), text);
        }
        assert_eq!(clock(83.4), "0:01:23");
        assert_eq!((counted(1, "runs"), counted(10, "runs")), ("1 run".into(), "10 runs".into()));
        assert_eq!(counted(1, "queries"), "1 query");
        for workload in triphammer_workloads::all() {
            let unit = &workload.scale_unit;
            assert_eq!(scale(Scale::ONE, &unit.many), format!("1 {}", unit.one));
            assert_eq!(scale(1000.into(), &unit.many), format!("1,000 {}", unit.many));
        }
        assert_eq!(scale(Scale::ONE, "shops"), "1 shop");
    }
}
