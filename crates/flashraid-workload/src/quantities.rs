//! Quantities in the settings of workloads, as users write them.

use crate::SizeOrAddressGranularity;
use crate::units::{AllowedUnitlessRange, Quantity, Size, UnitError};
use flashraid_model::events::TIME_MAX_NS;
use flashraid_model::quantity_impls;

quantity_impls!(MeanRequestInterval, MeanRequestSize, SizeOrAddressGranularity);

/// A mean time between requests, which may be a fraction of a nanosecond. Users write it as a duration or as a rate of requests. Some
/// other times of a workload have this type, too, such as the length of a tick.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanRequestInterval {
    /// Length of the time, as a rule the mean time between two requests, in nanoseconds; above 0.
    pub ns: f64,
}

impl MeanRequestInterval {
    /// Returns the mean time between requests, of which `per_second` arrive in a second.
    pub fn from_rate(per_second: f64) -> Self {
        Self { ns: 1e9 / per_second }
    }

    /// Returns the number of requests per second that arrive with this mean time between them.
    pub fn per_second(self) -> f64 {
        1e9 / self.ns
    }
}

impl Quantity for MeanRequestInterval {
    const JSON_SCHEMA_FORMAT: &'static str = "gap";
    const ALLOWED_VALUES: &'static str = "a duration above 0 with a unit, such as \"3ms\", or a rate, such as \"476.5/s\"";
    const JSON_SCHEMA_PATTERN: &'static str = r"^\s*[0-9][0-9_]*(\.[0-9]+)?\s*(ns|us|µs|μs|ms|s|min|h|d|/s)\s*$";
    const UNITLESS_RANGE: Option<AllowedUnitlessRange> = None;

    fn parse(text: &str) -> Result<Self, UnitError> {
        let per_second = text.trim().strip_suffix("/s");
        let ns = match per_second {
            Some(rate) => 1e9 / decimal(rate)?,
            None => float_with_unit(
                text,
                &[
                    ("ns", 1.0),
                    ("us", 1e3),
                    ("µs", 1e3),
                    ("μs", 1e3),
                    ("ms", 1e6),
                    ("s", 1e9),
                    ("min", 6e10),
                    ("h", 3.6e12),
                    ("d", 8.64e13),
                ],
            )?,
        };
        match ns {
            _ if ns <= 0.0 => Err(UnitError::new("it must be above 0")),
            _ if ns > TIME_MAX_NS as f64 => Err(UnitError::new("it is longer than simulated time (2^62 ns, 146 years)")),
            _ => Ok(Self { ns }),
        }
    }

    fn to_json(&self) -> serde_json::Value {
        shortest(self.ns, &[("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)]).into()
    }
}

/// A mean size of requests, which need not be a whole number of bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanRequestSize {
    /// Number of bytes in a request on average, above 0.
    pub bytes: f64,
}

impl Quantity for MeanRequestSize {
    const JSON_SCHEMA_FORMAT: &'static str = "mean-size";
    const ALLOWED_VALUES: &'static str = "a size above 0 with a unit (B, KiB, MiB, GiB, or decimal KB, MB, GB), such as \"510.53KiB\"";
    const JSON_SCHEMA_PATTERN: &'static str = r"^\s*[0-9][0-9_]*(\.[0-9]+)?\s*(B|[kKMG]B|[KMG]iB)\s*$";
    const UNITLESS_RANGE: Option<AllowedUnitlessRange> = None;

    fn parse(text: &str) -> Result<Self, UnitError> {
        let units = [
            ("B", 1.0),
            ("KiB", 1024.0),
            ("MiB", 1_048_576.0),
            ("GiB", 1_073_741_824.0),
            ("KB", 1e3),
            ("kB", 1e3),
            ("MB", 1e6),
            ("GB", 1e9),
        ];
        let bytes = float_with_unit(text, &units)?;
        if bytes > 0.0 && bytes < 1e18 { Ok(Self { bytes }) } else { Err(UnitError::new("it must be above 0 and below 10^18 bytes")) }
    }

    fn to_json(&self) -> serde_json::Value {
        shortest(self.bytes, &[("B", 1.0), ("KiB", 1024.0), ("MiB", 1_048_576.0)]).into()
    }
}

fn decimal(text: &str) -> Result<f64, UnitError> {
    let text = text.trim().replace('_', "");
    let well_formed = text.starts_with(|c: char| c.is_ascii_digit()) && text.chars().all(|c| c.is_ascii_digit() || c == '.');
    match text.parse::<f64>() {
        Ok(number) if well_formed => Ok(number),
        _ => Err(UnitError::new("it does not begin with a number")),
    }
}

fn float_with_unit(text: &str, units: &[(&str, f64)]) -> Result<f64, UnitError> {
    let text = text.trim();
    let unit_at = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(text.len());
    let unit = text[unit_at..].trim_start();
    let number = decimal(&text[..unit_at])?;
    match units.iter().find(|(name, _)| *name == unit) {
        Some((_, factor)) => Ok(number * factor),
        None if unit.is_empty() => Err(UnitError::new("it has no unit")),
        None => Err(UnitError::new(format!("\"{unit}\" is not a unit here"))),
    }
}

/// Returns the shortest text that is read back as exactly `value`.
fn shortest(value: f64, units: &[(&str, f64)]) -> String {
    let candidates = units.iter().filter(|(_, factor)| value / factor * factor == value);
    let texts = candidates.map(|(unit, factor)| format!("{}{unit}", value / factor));
    texts.min_by_key(String::len).unwrap_or_else(|| format!("{value}{}", units[0].0))
}

impl Quantity for SizeOrAddressGranularity {
    const JSON_SCHEMA_FORMAT: &'static str = "grain";
    const ALLOWED_VALUES: &'static str = "\"page\", \"sector\", or a size above 0 with a unit, such as \"4KiB\"";
    const JSON_SCHEMA_PATTERN: &'static str = r"^\s*(page|sector|[0-9][0-9_]*(\.[0-9]+)?\s*(B|[kKMGT]B|[KMGT]iB))\s*$";
    const UNITLESS_RANGE: Option<AllowedUnitlessRange> = None;

    fn parse(text: &str) -> Result<Self, UnitError> {
        match text.trim() {
            "page" => Ok(Self::LogicalPage),
            "sector" => Ok(Self::Sector),
            other => match Size::parse(other)? {
                Size { bytes: 0 } => Err(UnitError::new("it is 0")),
                Size { bytes } => Ok(Self::Bytes(bytes)),
            },
        }
    }

    fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Sector => "sector".into(),
            Self::LogicalPage => "page".into(),
            Self::Bytes(bytes) => Size { bytes: *bytes }.to_json(),
        }
    }
}
