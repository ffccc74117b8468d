//! Varied keys whose values are numbers or quantities. Lines use them as the horizontal axis, and files as columns of numbers.

use flashraid::workload::units::{ByteRate, Duration, Quantity, Size};

use super::{Axis, Setting};

/// Unit of the values of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Numbers without a unit.
    Plain,
    /// Shares, written in percent.
    Percent,
    /// Durations as numbers of nanoseconds.
    Nanoseconds,
    /// Sizes as numbers of bytes.
    Bytes,
    /// Rates, in bytes per second.
    BytesPerSecond,
}

impl Unit {
    /// Returns the suffix that the name of a column has for this unit.
    pub fn suffix(self) -> &'static str {
        match self {
            Unit::Plain => "",
            Unit::Percent => "_percent",
            Unit::Nanoseconds => "_ns",
            Unit::Bytes => "_bytes",
            Unit::BytesPerSecond => "_bytes_per_s",
        }
    }

    fn parse(self, text: &str) -> Option<f64> {
        match self {
            Unit::Plain => text.replace('_', "").parse().ok().filter(|number: &f64| number.is_finite()),
            Unit::Percent => text.strip_suffix('%')?.trim().parse().ok(),
            Unit::Nanoseconds => Duration::parse(text).ok().map(|duration| duration.ns as f64),
            Unit::BytesPerSecond => ByteRate::parse(text).ok().map(|rate| rate.bytes_per_s as f64),
            Unit::Bytes => Size::parse(text).ok().map(|size| size.bytes as f64),
        }
    }
}

/// Returns the values of an axis as numbers of one unit, if all of them are such. Seeds are names and no numbers.
pub fn numbers(axis: &Axis) -> Option<(Unit, Vec<f64>)> {
    let texts: Vec<String> = axis
        .values
        .iter()
        .map(|value| Setting { key: String::new(), value: value.clone() }.value_as_json())
        .map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
        .collect();
    let units = [Unit::Plain, Unit::Percent, Unit::Nanoseconds, Unit::Bytes, Unit::BytesPerSecond];
    let read = |unit: Unit| Some((unit, texts.iter().map(|text| unit.parse(text.trim())).collect::<Option<Vec<f64>>>()?));
    units.into_iter().filter(|_| axis.key != "seed").find_map(read)
}

#[cfg(test)]
mod tests {
    use super::{Axis, Unit};

    fn numbers(text: &str) -> Option<(Unit, Vec<f64>)> {
        super::numbers(&text.parse::<Axis>().unwrap())
    }

    #[test]
    fn values_of_one_unit_are_numbers() {
        assert_eq!(numbers("array.members=2,4,16"), Some((Unit::Plain, vec![2.0, 4.0, 16.0])));
        assert_eq!(numbers("k=5%,12.5%"), Some((Unit::Percent, vec![5.0, 12.5])));
        assert_eq!(numbers("k=\"1ms\",20us"), Some((Unit::Nanoseconds, vec![1e6, 2e4])));
        assert_eq!(numbers("k=4KiB,1MiB"), Some((Unit::Bytes, vec![4096.0, 1048576.0])));
        assert_eq!(numbers("k=1MB/s,20MB/s"), Some((Unit::BytesPerSecond, vec![1e6, 2e7])));
        assert_eq!(numbers("k=1,off"), None);
        assert_eq!(numbers("k=1ms,4KiB"), None);
        assert_eq!(numbers("seed=1,2"), None);
    }
}
