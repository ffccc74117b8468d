//! Durations, sizes, rates and fractions as users write them. It reads and prints them, and describes them in the JSON Schema.

mod thresholds;

use std::fmt;

use crate::events::TIME_MAX_NS;
use schemars::{Schema, json_schema};
use serde::de;

pub use thresholds::{GcStartThreshold, GcStopThreshold};

/// Returns a number with its noun in singular or plural: "1 request", "2,000 requests".
pub fn count_with_noun(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", with_commas(&count.to_string()), if count == 1 { "" } else { "s" })
}

/// Returns `number` with commas between groups of three digits before its point: `-1234567.25` becomes `-1,234,567.25`. `number` must
/// be a decimal number that is written without an exponent.
pub fn with_commas(number: &str) -> String {
    let (sign, digits) = number.split_at(usize::from(number.starts_with('-')));
    let (whole, fraction) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    let mut text = sign.to_owned();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text + fraction
}

/// Error for a text that cannot be read as a quantity. Its `Display` text says why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UnitError(String);

impl UnitError {
    /// Returns an error with this explanation.
    pub fn new(explanation: impl Into<String>) -> Self {
        Self(explanation.into())
    }
}

/// A value that users write as a text with a unit (some also as a plain number).
pub trait Quantity: Sized + Clone {
    /// Name of the type in the JSON Schema, which is also its `format`.
    const JSON_SCHEMA_FORMAT: &'static str;
    /// Description of the allowed texts, as the end of the sentence "this must be …".
    const ALLOWED_VALUES: &'static str;
    /// Regular expression for the texts of this quantity, which the JSON Schema gives to text editors. It checks only the form of a
    /// text. [`Quantity::parse`] makes the final decision.
    const JSON_SCHEMA_PATTERN: &'static str;
    /// Range of plain numbers that are allowed without a unit. `None` if a unit is required.
    const UNITLESS_RANGE: Option<AllowedUnitlessRange>;

    /// Reads a text that a user wrote.
    ///
    /// # Errors
    /// Returns an error that explains why the text is not such a quantity.
    fn parse(text: &str) -> Result<Self, UnitError>;

    /// Converts a number that a user wrote without a unit to this quantity. The caller has checked that the number lies in
    /// [`Quantity::UNITLESS_RANGE`].
    ///
    /// # Errors
    /// Returns an error that explains why the number is not allowed. The default implementation refuses every number, because the unit
    /// is missing.
    fn from_unitless_number(number: f64) -> Result<Self, UnitError> {
        Err(UnitError::new(format!("{number} has no unit")))
    }

    /// Returns this quantity as a configuration file would have it, in its shortest exact form: for example the text `4KiB` for 4,096
    /// bytes.
    fn to_json(&self) -> serde_json::Value;
}

/// Range of the numbers that users may write for a quantity without a unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AllowedUnitlessRange {
    /// The least number that is allowed without a unit.
    pub min: f64,
    /// The greatest number that is allowed without a unit.
    pub max: f64,
    /// True if only whole numbers are allowed without a unit.
    pub only_whole_numbers: bool,
}

/// Implements serde, schemars and `FromStr` for types that implement [`Quantity`](crate::units::Quantity).
#[macro_export]
macro_rules! quantity_impls {
    ($($name:ident),+ $(,)?) => {$(
        impl ::serde::Serialize for $name {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                ::serde::Serialize::serialize(&$crate::units::Quantity::to_json(self), serializer)
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $name {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any($crate::units::QuantityVisitor::<$name>::new())
            }
        }

        impl ::schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                <$name as $crate::units::Quantity>::JSON_SCHEMA_FORMAT.into()
            }

            fn json_schema(_: &mut ::schemars::SchemaGenerator) -> ::schemars::Schema {
                $crate::units::quantity_schema::<$name>()
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::units::UnitError;

            fn from_str(text: &str) -> Result<Self, $crate::units::UnitError> {
                $crate::units::Quantity::parse(text)
            }
        }
    )+};
}

/// Returns the JSON Schema of a [`Quantity`].
pub fn quantity_schema<Q: Quantity>() -> Schema {
    text_schema(Q::JSON_SCHEMA_FORMAT, Q::JSON_SCHEMA_PATTERN, Q::ALLOWED_VALUES, Q::UNITLESS_RANGE)
}

/// Returns the JSON Schema of a quantity with these properties. It is compiled once for all quantities.
fn text_schema(name: &str, pattern: &str, allowed_text: &str, allowed_numbers: Option<AllowedUnitlessRange>) -> Schema {
    let mut schema = json_schema!({
        "type": "string",
        "format": name,
        "pattern": pattern,
        "description": format!("{}{}", allowed_text[..1].to_uppercase(), &allowed_text[1..]),
    });
    if let Some(numbers) = allowed_numbers {
        let number = if numbers.only_whole_numbers { "integer" } else { "number" };
        schema.insert("type".into(), serde_json::json!(["string", number]));
        schema.insert("minimum".into(), numbers.min.into());
        schema.insert("maximum".into(), numbers.max.into());
    }
    schema
}

/// Serde visitor that reads a [`Quantity`] from a text or, if the quantity allows it, from a number.
pub struct QuantityVisitor<Q>(std::marker::PhantomData<Q>);

impl<Q> QuantityVisitor<Q> {
    /// Returns a new visitor for the quantity.
    pub fn new() -> Self {
        Self(std::marker::PhantomData)
    }
}

impl<Q> Default for QuantityVisitor<Q> {
    fn default() -> Self {
        Self::new()
    }
}

impl<Q: Quantity> de::Visitor<'_> for QuantityVisitor<Q> {
    type Value = Q;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Q::ALLOWED_VALUES)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Q, E> {
        Q::parse(text).map_err(E::custom)
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Q, E> {
        match Q::UNITLESS_RANGE {
            Some(n) if (n.min..=n.max).contains(&number) && !(n.only_whole_numbers && libm::trunc(number) != number) => {
                Q::from_unitless_number(number).map_err(E::custom)
            }
            _ => Err(E::custom(format!("{number} is not {}", Q::ALLOWED_VALUES))),
        }
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Q, E> {
        self.visit_f64(number as f64)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Q, E> {
        self.visit_f64(number as f64)
    }
}

/// A duration of simulated time, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Duration {
    /// Length of the duration in nanoseconds.
    pub ns: u64,
}

/// A size in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Size {
    /// The size as a number of bytes.
    pub bytes: u64,
}

/// A rate in bytes per second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ByteRate {
    /// Bytes per second, at least 1.
    pub bytes_per_s: u64,
}

/// Time to transfer one byte, in picoseconds, because a byte on a fast channel takes less than a nanosecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct TimePerByte {
    /// Number of picoseconds per byte.
    pub picoseconds: u64,
}

/// A share between 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default)]
pub struct Fraction(pub f64);

quantity_impls!(Duration, Size, ByteRate, TimePerByte, Fraction);

/// Units of time in picoseconds, from short to long. A duration is printed in the longest unit that divides it exactly.
const TIME_UNITS: &[(&str, u128)] = &[
    ("ps", 1),
    ("ns", 1_000),
    ("us", 1_000_000),
    ("ms", 1_000_000_000),
    ("s", 1_000_000_000_000),
    ("min", 60_000_000_000_000),
    ("h", 3_600_000_000_000_000),
    ("d", 86_400_000_000_000_000),
    // Other spellings, which are read but never written.
    ("µs", 1_000_000),
    ("μs", 1_000_000),
];

const SIZE_UNITS: &[(&str, u128)] = &[
    ("B", 1),
    ("KB", 1_000),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
];

impl Quantity for Duration {
    const JSON_SCHEMA_FORMAT: &'static str = "duration";
    const ALLOWED_VALUES: &'static str = "a duration with a unit (ns, us or µs, ms, s, min, h, d), such as \"25us\" or \"1.5ms\"";
    const JSON_SCHEMA_PATTERN: &'static str = r"^\s*[0-9][0-9_]*(\.[0-9]+)?\s*(ns|us|µs|μs|ms|s|min|h|d)\s*$";
    const UNITLESS_RANGE: Option<AllowedUnitlessRange> = None;

    fn parse(text: &str) -> Result<Self, UnitError> {
        let ps = parse_with_units(text, &TIME_UNITS[1..], "10ms")?;
        if ps % 1000 != 0 {
            return Err(UnitError::new("it is finer than a nanosecond, the resolution of simulated time"));
        }
        let ns = fit(ps / 1000)?;
        if ns > TIME_MAX_NS {
            return Err(UnitError::new("it is longer than simulated time (2^62 ns, 146 years)"));
        }
        Ok(Self { ns })
    }

    fn to_json(&self) -> serde_json::Value {
        self.to_string().into()
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_shortest(f, u128::from(self.ns) * 1000, &TIME_UNITS[1..5], "s")
    }
}

impl Quantity for Size {
    const JSON_SCHEMA_FORMAT: &'static str = "size";
    const ALLOWED_VALUES: &'static str =
        "a size with a unit (B, KiB, MiB, GiB, TiB, or decimal KB, MB, GB, TB), such as \"4KiB\", or a whole number of bytes";
    const JSON_SCHEMA_PATTERN: &'static str = r"^\s*[0-9][0-9_]*(\.[0-9]+)?\s*(B|[kKMGT]B|[KMGT]iB)\s*$";
    const UNITLESS_RANGE: Option<AllowedUnitlessRange> =
        Some(AllowedUnitlessRange { min: 0.0, max: 9_007_199_254_740_991.0, only_whole_numbers: true });

    fn parse(text: &str) -> Result<Self, UnitError> {
        Ok(Self { bytes: fit(parse_with_units(text, SIZE_UNITS, "4KiB")?)? })
    }

    fn from_unitless_number(number: f64) -> Result<Self, UnitError> {
        Ok(Self { bytes: number as u64 })
    }

    fn to_json(&self) -> serde_json::Value {
        self.to_string().into()
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = u128::from(self.bytes);
        let binary = [SIZE_UNITS[0], SIZE_UNITS[6], SIZE_UNITS[7], SIZE_UNITS[8], SIZE_UNITS[9]];
        write_shortest(f, bytes, &binary, "B")
    }
}

impl Quantity for ByteRate {
    const JSON_SCHEMA_FORMAT: &'static str = "rate";
    const ALLOWED_VALUES: &'static str =
        "a rate above 0 with a unit (B/s, KB/s, MB/s, GB/s, or binary KiB/s, MiB/s, GiB/s), such as \"300MB/s\"";
    const JSON_SCHEMA_PATTERN: &'static str = r"^\s*[0-9][0-9_]*(\.[0-9]+)?\s*(B|[kKMGT]B|[KMGT]iB)/s\s*$";
    const UNITLESS_RANGE: Option<AllowedUnitlessRange> = None;

    fn parse(text: &str) -> Result<Self, UnitError> {
        let Some(size) = text.trim_end().strip_suffix("/s") else {
            return Err(UnitError::new("its unit does not end in /s"));
        };
        let bytes_per_s = fit(parse_with_units(size, SIZE_UNITS, "300MB")?)?;
        if bytes_per_s == 0 {
            return Err(UnitError::new("it is 0, and nothing would ever arrive"));
        }
        Ok(Self { bytes_per_s })
    }

    fn to_json(&self) -> serde_json::Value {
        self.to_string().into()
    }
}

impl fmt::Display for ByteRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimal = [SIZE_UNITS[0], SIZE_UNITS[1], SIZE_UNITS[3], SIZE_UNITS[4], SIZE_UNITS[5]];
        write_shortest(f, u128::from(self.bytes_per_s), &decimal, "B")?;
        f.write_str("/s")
    }
}

impl Quantity for TimePerByte {
    const JSON_SCHEMA_FORMAT: &'static str = "time-per-byte";
    const ALLOWED_VALUES: &'static str =
        "the time of one byte (ps, ns, us), such as \"25ns\" or \"0.8ns\", or the rate of the wire, such as \"1.2GB/s\"";
    const JSON_SCHEMA_PATTERN: &'static str = r"^\s*[0-9][0-9_]*(\.[0-9]+)?\s*(ps|ns|us|µs|μs|ms|s|(B|[kKMGT]B|[KMGT]iB)/s)\s*$";
    const UNITLESS_RANGE: Option<AllowedUnitlessRange> = None;

    fn parse(text: &str) -> Result<Self, UnitError> {
        if text.trim_end().ends_with("/s") {
            let rate = ByteRate::parse(text)?;
            return Ok(Self { picoseconds: 1_000_000_000_000_u64.div_ceil(rate.bytes_per_s) });
        }
        Ok(Self { picoseconds: fit(parse_with_units(text, TIME_UNITS, "25ns")?)? })
    }

    fn to_json(&self) -> serde_json::Value {
        self.to_string().into()
    }
}

impl fmt::Display for TimePerByte {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_shortest(f, u128::from(self.picoseconds), &TIME_UNITS[..5], "ns")
    }
}

impl Quantity for Fraction {
    const JSON_SCHEMA_FORMAT: &'static str = "fraction";
    const ALLOWED_VALUES: &'static str = "a share from 0 to 1, such as 0.05 or \"5%\"";
    const JSON_SCHEMA_PATTERN: &'static str = r"^\s*[0-9]+(\.[0-9]+)?\s*%?\s*$";
    const UNITLESS_RANGE: Option<AllowedUnitlessRange> = Some(AllowedUnitlessRange { min: 0.0, max: 1.0, only_whole_numbers: false });

    fn parse(text: &str) -> Result<Self, UnitError> {
        let trimmed = text.trim();
        let (number, percent) = match trimmed.strip_suffix('%') {
            Some(number) => (number.trim_end(), true),
            None => (trimmed, false),
        };
        // The syntax is checked here. The standard library then converts "5e-2" correctly rounded, so that "5%" and 0.05 are the same
        // number.
        split_decimal(number)?;
        let shifted = if percent { format!("{number}e-2") } else { number.to_string() };
        let share: f64 = shifted.replace('_', "").parse().map_err(|_| UnitError::new("it does not begin with a number"))?;
        Self::from_unitless_number(share)
    }

    fn from_unitless_number(number: f64) -> Result<Self, UnitError> {
        if (0.0..=1.0).contains(&number) { Ok(Self(number)) } else { Err(UnitError::new(format!("{number} lies outside 0 to 1"))) }
    }

    fn to_json(&self) -> serde_json::Value {
        self.0.into()
    }
}

impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Six decimals of a percent, without the zeros at the end.
        let text = format!("{:.6}", self.0 * 100.0);
        write!(f, "{}%", text.trim_end_matches('0').trim_end_matches('.'))
    }
}

impl Fraction {
    /// Returns `⌊self × count⌋`, corrected for the rounding of decimal fractions to binary ones (0.29 × 100 is 29).
    pub fn floor_of(self, count: u32) -> u32 {
        let product = self.0 * f64::from(count);
        libm::floor(product + 1e-9 * libm::fmax(1.0, product)) as u32
    }
}

/// Reads `number unit` and returns it as a whole multiple of the smallest unit.
fn parse_with_units(text: &str, units: &[(&str, u128)], example: &str) -> Result<u128, UnitError> {
    let text = text.trim();
    let unit_at = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(text.len());
    let (number, unit) = (&text[..unit_at], text[unit_at..].trim_start());
    if number.is_empty() && unit.starts_with('-') {
        return Err(UnitError::new("it is negative"));
    }
    let (digits, decimals) = split_decimal(number)?;
    let Some(&(_, factor)) = units.iter().find(|(name, _)| *name == unit) else {
        return Err(unknown_unit(number, unit, units, example));
    };
    let scale = 10_u128.checked_pow(decimals).ok_or_else(|| UnitError::new("it has too many decimals"))?;
    let scaled = digits.checked_mul(factor).ok_or_else(too_large)?;
    if scaled % scale != 0 {
        return Err(UnitError::new(format!("it is not a whole number of {}", units[0].0)));
    }
    Ok(scaled / scale)
}

fn unknown_unit(number: &str, unit: &str, units: &[(&str, u128)], example: &str) -> UnitError {
    if unit.is_empty() {
        return UnitError::new(format!("it has no unit (as in \"{example}\")"));
    }
    let likely = units
        .iter()
        .map(|(name, _)| *name)
        .find(|name| name.eq_ignore_ascii_case(unit))
        .or_else(|| units.iter().map(|(name, _)| *name).find(|name| name.eq_ignore_ascii_case(&format!("{unit}iB"))))
        .or_else(|| match unit.to_ascii_lowercase().as_str() {
            "sec" | "secs" | "second" | "seconds" => Some("s"),
            "msec" | "millis" => Some("ms"),
            "usec" | "micros" => Some("us"),
            "nsec" | "nanos" => Some("ns"),
            "m" | "mins" | "minute" | "minutes" => Some("min"),
            "hour" | "hours" => Some("h"),
            "day" | "days" => Some("d"),
            _ => None,
        })
        .filter(|likely| units.iter().any(|(name, _)| name == likely));
    match likely {
        Some(likely) => UnitError::new(format!("\"{unit}\" is not a unit here; did you mean \"{number}{likely}\"?")),
        None => UnitError::new(format!("\"{unit}\" is not a unit here")),
    }
}

/// Returns the digits of a decimal number as an integer, and the number of digits after the point.
fn split_decimal(number: &str) -> Result<(u128, u32), UnitError> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let well_formed = whole.starts_with(|c: char| c.is_ascii_digit())
        && (fraction.starts_with(|c: char| c.is_ascii_digit()) || !number.contains('.'))
        && number.chars().all(|c| c.is_ascii_digit() || c == '.' || c == '_')
        && !fraction.contains('.');
    if !well_formed {
        return Err(UnitError::new("it does not begin with a number"));
    }
    let fraction = fraction.replace('_', "");
    let fraction = fraction.trim_end_matches('0');
    let digits: String = whole.chars().filter(char::is_ascii_digit).chain(fraction.chars()).collect();
    let digits = digits.parse().map_err(|_| too_large())?;
    Ok((digits, u32::try_from(fraction.len()).map_err(|_| too_large())?))
}

fn fit(value: u128) -> Result<u64, UnitError> {
    u64::try_from(value).map_err(|_| too_large())
}

fn too_large() -> UnitError {
    UnitError::new("it is too large")
}

/// Writes `value` in the largest of `units` that needs no decimals. A value of 0 is written in `zero_unit`.
fn write_shortest(f: &mut fmt::Formatter<'_>, value: u128, units: &[(&str, u128)], zero_unit: &str) -> fmt::Result {
    if value == 0 {
        return write!(f, "0{zero_unit}");
    }
    let (unit, factor) = units.iter().rev().find(|(_, factor)| value.is_multiple_of(*factor)).unwrap_or(&units[0]);
    write!(f, "{}{unit}", value / factor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ns(text: &str) -> u64 {
        Duration::parse(text).unwrap().ns
    }

    fn why<Q: Quantity + fmt::Debug>(text: &str) -> String {
        Q::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn durations() {
        assert_eq!(ns("25us"), 25_000);
        assert_eq!(ns("1.5ms"), 1_500_000);
        assert_eq!(ns(" 600 ns "), 600);
        assert_eq!(ns("10s"), 10_000_000_000);
        assert_eq!(ns("2µs"), 2_000);
        assert_eq!(ns("1_000min"), 60_000_000_000_000);
        assert_eq!(ns("0.1us"), 100);
        assert_eq!(why::<Duration>("25"), "it has no unit (as in \"10ms\")");
        assert_eq!(why::<Duration>("25 parsecs"), "\"parsecs\" is not a unit here");
        assert_eq!(why::<Duration>("25US"), "\"US\" is not a unit here; did you mean \"25us\"?");
        assert_eq!(why::<Duration>("25 usec"), "\"usec\" is not a unit here; did you mean \"25us\"?");
        assert_eq!(why::<Duration>("0.5ns"), "it is finer than a nanosecond, the resolution of simulated time");
        assert_eq!(why::<Duration>("-3ms"), "it is negative");
        assert_eq!(why::<Duration>("ms"), "it does not begin with a number");
        assert_eq!(why::<Duration>("1e3ms"), "\"e3ms\" is not a unit here");
        assert_eq!(why::<Duration>("99999999999999999999d"), "it is too large");
    }

    #[test]
    fn sizes() {
        let bytes = |text| Size::parse(text).unwrap().bytes;
        assert_eq!(bytes("4KiB"), 4096);
        assert_eq!(bytes("4 KB"), 4000);
        assert_eq!(bytes("512MiB"), 512 << 20);
        assert_eq!(bytes("1.5KiB"), 1536);
        assert_eq!(bytes("17B"), 17);
        assert_eq!(why::<Size>("4k"), "\"k\" is not a unit here; did you mean \"4KiB\"?");
        assert_eq!(why::<Size>("4"), "it has no unit (as in \"4KiB\")");
        assert_eq!(why::<Size>("0.3B"), "it is not a whole number of B");
        assert_eq!(serde_json::from_str::<Size>("8192").unwrap().bytes, 8192);
        assert!(serde_json::from_str::<Size>("-1").is_err());
        assert!(serde_json::from_str::<Size>("1.5").is_err());
    }

    #[test]
    fn rates_and_times_per_byte() {
        assert_eq!(ByteRate::parse("300MB/s").unwrap().bytes_per_s, 300_000_000);
        assert_eq!(why::<ByteRate>("300MB"), "its unit does not end in /s");
        assert_eq!(why::<ByteRate>("0MB/s"), "it is 0, and nothing would ever arrive");
        assert_eq!(TimePerByte::parse("25ns").unwrap().picoseconds, 25_000);
        assert_eq!(TimePerByte::parse("0.83ns").unwrap().picoseconds, 830);
        assert_eq!(TimePerByte::parse("1GB/s").unwrap().picoseconds, 1_000);
    }

    #[test]
    fn fractions() {
        assert_eq!(Fraction::parse("5%").unwrap(), Fraction(0.05));
        assert_eq!(Fraction::parse("0.05").unwrap(), Fraction(0.05));
        assert_eq!(Fraction::parse("12.5 %").unwrap(), Fraction(0.125));
        assert_eq!(why::<Fraction>("120%"), "1.2 lies outside 0 to 1");
        assert_eq!(Fraction(0.29).floor_of(100), 29);
        assert_eq!(Fraction(0.05).floor_of(2048), 102);
        assert_eq!(Fraction(0.05).floor_of(512), 25);
        assert_eq!(Fraction(0.15).floor_of(512), 76);
        assert_eq!(Fraction(0.07).to_string(), "7%");
    }

    proptest! {
        #[test]
        fn nothing_typed_panics(text in ".*") {
            let _ = (Duration::parse(&text), Size::parse(&text), ByteRate::parse(&text), TimePerByte::parse(&text), Fraction::parse(&text));
        }

        #[test]
        fn what_is_printed_reads_back(value in any::<u64>(), share in 0.0..=1.0) {
            let time = value % (TIME_MAX_NS + 1);
            prop_assert_eq!(Duration::parse(&Duration { ns: time }.to_string()).unwrap().ns, time);
            let too_long = Duration { ns: TIME_MAX_NS + 1 + value % TIME_MAX_NS };
            prop_assert!(Duration::parse(&too_long.to_string()).is_err());
            prop_assert_eq!(Size::parse(&Size { bytes: value }.to_string()).unwrap().bytes, value);
            prop_assert_eq!(TimePerByte::parse(&TimePerByte { picoseconds: value }.to_string()).unwrap().picoseconds, value);
            prop_assert_eq!(ByteRate::parse(&ByteRate { bytes_per_s: value.max(1) }.to_string()).unwrap().bytes_per_s, value.max(1));
            let json = serde_json::to_string(&Fraction(share)).unwrap();
            prop_assert_eq!(serde_json::from_str::<Fraction>(&json).unwrap(), Fraction(share));
        }
    }
}
