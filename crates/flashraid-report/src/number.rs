//! Formats numbers for people, with their significant digits and a fitting unit.

use flashraid::report::format_figure;
pub use flashraid_model::units::{count_with_noun, with_commas};

/// Formats three significant digits, with `k`, `M` or `G` for large numbers.
pub fn rounded(value: f64) -> String {
    let (scaled, suffix) = match value.abs() {
        magnitude if magnitude >= 999.5e6 => (value / 1e9, "\u{202f}G"),
        magnitude if magnitude >= 999.5e3 => (value / 1e6, "\u{202f}M"),
        magnitude if magnitude >= 9999.5 => (value / 1e3, "\u{202f}k"),
        _ => (value, ""),
    };
    format!("{}{suffix}", three_digits(scaled))
}

/// Formats three significant digits. Whole numbers with more digits keep them.
pub fn three_digits(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude == 0.0 {
        return "0".to_owned();
    }
    if magnitude < 0.999_5e-6 {
        return format!("{value:.2e}");
    }
    let decimals = (0..8).find(|decimals| magnitude >= 99.95 / 10_f64.powi(*decimals)).unwrap_or(8) as usize;
    with_commas(&format!("{value:.decimals$}"))
}

/// Formats a ratio to a baseline as a change with half of its interval, such as `−75 ±3 %`. Ratios from two on, and below a thousandth, are
/// formatted as a factor. An interval that would reach below zero is written as its ends, such as `−100 to −57 %`.
pub fn change(ratio: f64, half_width: Option<f64>) -> String {
    match ratio {
        factor if factor >= 2.0 => {
            let interval = half_width.map_or(String::new(), |half_width| format!(" ±{}", three_digits(half_width)));
            format!("×{}{interval}", three_digits(factor))
        }
        factor if factor > 0.0 && factor < 0.001 => format!("÷{}", three_digits(1.0 / factor)),
        _ => {
            let percent_of = |value: f64, decimals: usize| {
                let number = format!("{:.decimals$}", value.abs());
                let is_zero = number.chars().all(|digit| matches!(digit, '0' | '.'));
                let sign = if value < 0.0 { "−" } else { "+" };
                format!("{}{number}", if is_zero { "" } else { sign })
            };
            // Nothing can be less than nothing.
            if let Some(half_width) = half_width.filter(|half_width| *half_width > ratio) {
                return format!("−100 to {} %", percent_of((ratio + half_width - 1.0) * 100.0, 0));
            }
            let (percent, half_width) = ((ratio - 1.0) * 100.0, half_width.map(|half_width| half_width * 100.0));
            // The digits suffice for the rest of a figure that has nearly vanished, and for a narrow interval.
            let known = [Some(percent.abs()), Some(ratio * 100.0), half_width];
            let least = known.into_iter().flatten().filter(|value| *value > 0.0).fold(f64::INFINITY, f64::min);
            let decimals = if least >= 9.95 {
                0
            } else if least >= 0.095 {
                1
            } else {
                2
            };
            let interval = half_width.map_or(String::new(), |half_width| format!(" ±{half_width:.decimals$}"));
            format!("{}{interval} %", percent_of(percent, decimals))
        }
    }
}

/// Draws a bar of a value with block characters. The greatest value is `width` characters long.
pub fn bar(value: f64, greatest: f64, width: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = if greatest > 0.0 { (value / greatest * width as f64 * 8.0).round().clamp(0.0, width as f64 * 8.0) as usize } else { 0 };
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

/// Formats a whole number with its digits in groups of three.
pub fn grouped(value: u64) -> String {
    with_commas(&value.to_string())
}

/// Formats a duration with its unit.
pub fn duration_us(microseconds: f64) -> String {
    let (unit, factor) = time_unit(microseconds);
    format!("{} {unit}", three_digits(microseconds / factor))
}

/// Returns the unit in which a duration is easy to read, and its length in microseconds.
pub fn time_unit(microseconds: f64) -> (&'static str, f64) {
    match microseconds.abs() {
        magnitude if magnitude >= 999_500.0 => ("s", 1e6),
        magnitude if magnitude >= 999.5 => ("ms", 1e3),
        magnitude if magnitude >= 0.9995 || magnitude == 0.0 => ("µs", 1.0),
        _ => ("ns", 1e-3),
    }
}

/// Formats a lifetime in years or, if it is short, in days.
pub fn years(days: f64) -> String {
    match days / DAYS_PER_YEAR {
        years if years >= 0.995 => format!("{} years", rounded(years)),
        _ => format!("{} days", three_digits(days)),
    }
}

/// Days of a year of the Julian calendar, as data sheets count.
pub const DAYS_PER_YEAR: f64 = 365.25;

/// Formats the capacity of a drive or an array with a decimal unit, as drives are sold.
pub fn capacity(bytes: f64) -> String {
    let units = [("PB", 1e15), ("TB", 1e12), ("GB", 1e9), ("MB", 1e6)];
    let (unit, size) = units.into_iter().find(|(_, size)| bytes >= 0.9995 * size).unwrap_or(("kB", 1e3));
    format!("{} {unit}", three_digits(bytes / size))
}

/// Formats bytes with a binary unit and four significant digits.
pub fn bytes(bytes: f64) -> String {
    let mut value = bytes;
    for unit in ["B", "KiB", "MiB", "GiB", "TiB"] {
        if value < 1023.5 {
            return format!("{} {unit}", format_figure(Some(value)));
        }
        value /= 1024.0;
    }
    format!("{} PiB", format_figure(Some(value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_matter() {
        let texts = [0.0, 0.001234, 0.1234, 1.234, 12.34, 123.4, 999.96, 12345.6].map(three_digits);
        assert_eq!(texts, ["0", "0.00123", "0.123", "1.23", "12.3", "123", "1,000", "12,346"]);
        assert_eq!([2e-6, 0.000_012_34, 5.432e-9, -0.01].map(three_digits), ["0.00000200", "0.0000123", "5.43e-9", "-0.0100"]);
    }

    #[test]
    fn changes_are_percent_or_factors() {
        let texts = [0.2512, 1.0, 1.08, 3.3, 0.0123, 0.004_56, 12.34, 0.000_467, 1.000_01].map(|ratio| change(ratio, None));
        assert_eq!(texts, ["−75 %", "0 %", "+8.0 %", "×3.30", "−98.8 %", "−99.5 %", "×12.3", "÷2,141", "0.00 %"]);
        assert_eq!(change(0.25, Some(0.031)), "−75.0 ±3.1 %");
        assert_eq!((change(0.25, Some(0.2)), change(1.0, Some(0.0))), ("−75 ±20 %".to_owned(), "0 ±0 %".to_owned()));
        assert_eq!(change(2141.3, Some(40.0)), "×2,141 ±40.0");
        let wide = [(0.005, 0.422), (0.5, 0.7), (0.2, 0.8)].map(|(ratio, half_width)| change(ratio, Some(half_width)));
        assert_eq!(wide, ["−100 to −57 %", "−100 to +20 %", "−100 to 0 %"]);
    }

    #[test]
    fn bars_are_as_long_as_their_values() {
        assert_eq!([0.0, 5.0, 10.0, 20.0].map(|value| bar(value, 10.0, 4)), ["", "██", "████", "████"]);
        assert_eq!(bar(1.0, 10.0, 4), "▍");
        assert_eq!(bar(1.0, 0.0, 4), "");
    }

    #[test]
    fn units_fit() {
        assert_eq!(duration_us(24.99), "25.0 µs");
        assert_eq!(duration_us(7912.0), "7.91 ms");
        assert_eq!(duration_us(61_000_000.0), "61.0 s");
        assert_eq!((duration_us(0.25), duration_us(0.0)), ("250 ns".to_owned(), "0 µs".to_owned()));
        assert_eq!([7.68e12, 61.44e12, 999.96e9, 3.2e6].map(capacity), ["7.68 TB", "61.4 TB", "1.00 TB", "3.20 MB"]);
        assert_eq!(bytes(4096.0), "4 KiB");
        assert_eq!(bytes(0.0), "0 B");
        assert_eq!(bytes(1000.0), "1,000 B");
        assert_eq!(rounded(8_123_456.0), "8.12\u{202f}M");
        assert_eq!(grouped(67_108_864), "67,108,864");
        assert_eq!(grouped(12), "12");
        assert_eq!(["-1234.5", "999", "0.0001", "1234567"].map(with_commas), ["-1,234.5", "999", "0.0001", "1,234,567"]);
        assert_eq!([count_with_noun(1, "member"), count_with_noun(1000, "seed")], ["1 member", "1,000 seeds"]);
    }
}
