//! Values of options: sizes, times, shares, and a value for each direction.

use std::fmt::Write;

/// Values for reads and writes. A direction without a value has fio's default.
pub(super) type ByDirection<T> = [Option<T>; 2];

/// Splits a value `READ[,WRITE[,TRIM]]`. A single value holds for both directions, and an empty part leaves a direction as it was.
pub(super) fn by_direction<T: Clone>(value: &str, read: impl Fn(&str) -> Option<T>) -> Option<ByDirection<T>> {
    let part = |text: &str| if text.is_empty() { Some(None) } else { read(text).map(Some) };
    let mut parts = value.split(',').map(str::trim);
    let first = part(parts.next()?)?;
    match parts.next() {
        None => first.map(|value| [Some(value.clone()), Some(value)]),
        Some(second) => Some([first, part(second)?]),
    }
}

/// Returns a size in bytes as a job file of fio has it, or `None` if the text is no size. Without a unit it counts bytes. Units such as
/// k and kb are powers of 1024; those such as kib are powers of 1000, by an old custom of fio.
pub(super) fn size_bytes(text: &str) -> Option<u64> {
    size_in_units(text, 1000)
}

/// Returns a size in bytes with units of fio, or `None` if the text is no size. Without a unit it counts bytes. All units are powers of
/// 1024, also those such as kib, which fio itself takes for powers of 1000 unless `kb_base` is 1000.
pub fn parse_size_bytes(text: &str) -> Option<u64> {
    size_in_units(text, 1024)
}

/// Returns a size in bytes, in which kib counts `kib_bytes`.
fn size_in_units(text: &str, kib_bytes: u64) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..digits].parse().ok()?;
    let (unit, base) = match &text[digits..] {
        "" | "b" => return Some(number),
        unit if unit.ends_with("ib") => (&unit[..unit.len() - 2], kib_bytes),
        unit => (unit.strip_suffix(['b', 'i']).unwrap_or(unit), 1024),
    };
    let power = match unit {
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        _ => return None,
    };
    number.checked_mul(base.pow(power))
}

/// Returns a time in microseconds as fio reads it. Without a unit, it counts `unit_us`.
pub(super) fn time_us(text: &str, unit_us: u64) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor = match unit.to_ascii_lowercase().as_str() {
        "" => unit_us,
        "us" | "usec" => 1,
        "ms" | "msec" => 1_000,
        "s" => 1_000_000,
        "m" => 60_000_000,
        "h" => 3_600_000_000,
        "d" => 86_400_000_000,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}

/// Returns a time as users of flashraid write it.
pub(super) fn written_time(us: u64) -> String {
    if us.is_multiple_of(1_000_000) { format!("{}s", us / 1_000_000) } else { format!("{us}us") }
}

/// Returns a share in percent. Like fio, it leaves out what stands behind a decimal point.
pub(super) fn percent(text: &str) -> Option<u64> {
    whole(text.trim_end_matches('%')).filter(|percent| *percent <= 100)
}

/// Returns a whole number. Like fio, it leaves out what stands behind a decimal point.
pub(super) fn whole(text: &str) -> Option<u64> {
    let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
    rest.bytes().all(|byte| byte.is_ascii_digit()).then(|| whole.parse().ok())?
}

/// The sizes of the requests of one direction.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Sizes {
    One(u64),
    /// Multiples of the first size up to the second one, all equally likely.
    Uniform(u64, u64),
    /// Sizes with their weights.
    Weighted(Vec<(u64, f64)>),
}

/// Largest number of sizes that a list may have.
const SIZES_MAX: u64 = 4096;

impl Sizes {
    /// Reads one single size.
    pub(super) fn one(text: &str) -> Option<Self> {
        size_bytes(text).filter(|bytes| *bytes > 0).map(Self::One)
    }

    /// Reads a range, written as `MIN-MAX`. If the maximum is no multiple of the minimum, fio cuts the largest size down to it.
    pub(super) fn range(text: &str) -> Option<Self> {
        let (min, max) = text.split_once('-')?;
        let (min, max) = (size_bytes(min)?, size_bytes(max)?);
        if min == 0 || max < min {
            return None;
        }
        let (steps, rest) = (max / min, max % min);
        if steps == 1 && rest == 0 {
            Some(Self::One(min))
        } else if rest == 0 {
            Some(Self::Uniform(min, max))
        } else if steps <= SIZES_MAX {
            Some(Self::Weighted((1..=steps).map(|step| (step * min, min as f64)).chain([(max, rest as f64)]).collect()))
        } else {
            None
        }
    }

    /// Reads sizes with shares, written as `SIZE/PERCENT:SIZE/PERCENT`. Sizes without a share divide the rest equally.
    pub(super) fn split(text: &str) -> Option<Self> {
        let parts: Option<Vec<(u64, Option<u64>)>> = text
            .split(':')
            .map(|part| match part.trim().split_once('/') {
                Some((size, "")) => Some((size_bytes(size)?, None)),
                Some((size, share)) => Some((size_bytes(size)?, Some(percent(share)?))),
                None => Some((size_bytes(part)?, None)),
            })
            .collect();
        let parts = parts?;
        let (given, open) = (parts.iter().filter_map(|part| part.1).sum::<u64>(), parts.iter().filter(|part| part.1.is_none()).count());
        if given > 100 || parts.iter().any(|part| part.0 == 0) {
            return None;
        }
        let weight = |share: Option<u64>| share.map_or_else(|| (100 - given) as f64 / open as f64, |share| share as f64);
        let sizes: Vec<(u64, f64)> = parts.iter().map(|part| (part.0, weight(part.1))).filter(|part| part.1 > 0.0).collect();
        match sizes.as_slice() {
            [] => None,
            [(size, _)] => Some(Self::One(*size)),
            _ => Some(Self::Weighted(sizes)),
        }
    }

    /// Returns the mean size in bytes.
    pub(super) fn mean_bytes(&self) -> f64 {
        match self {
            Self::One(bytes) => *bytes as f64,
            Self::Uniform(min, max) => (*min as f64 + *max as f64) / 2.0,
            Self::Weighted(sizes) => {
                sizes.iter().map(|(bytes, weight)| *bytes as f64 * weight).sum::<f64>() / sizes.iter().map(|part| part.1).sum::<f64>()
            }
        }
    }

    /// Returns the sizes with their weights.
    fn list(&self) -> Vec<(u64, f64)> {
        match self {
            Self::One(bytes) => vec![(*bytes, 1.0)],
            Self::Uniform(min, max) => (1..=max / min).map(|step| (step * min, 1.0)).collect(),
            Self::Weighted(sizes) => sizes.clone(),
        }
    }

    /// Returns the smallest size in bytes.
    pub(super) fn min_bytes(&self) -> u64 {
        match self {
            Self::One(bytes) | Self::Uniform(bytes, _) => *bytes,
            Self::Weighted(sizes) => sizes.iter().map(|part| part.0).min().unwrap_or(1),
        }
    }

    /// Returns the sizes as a value of TOML.
    pub(super) fn toml(&self) -> String {
        match self {
            Self::One(bytes) => bytes.to_string(),
            Self::Uniform(min, max) => format!("{{ distribution = \"uniform\", min = {min}, max = {max}, grain = \"{min}B\" }}"),
            Self::Weighted(sizes) => {
                let mut list = String::new();
                for (position, (bytes, weight)) in sizes.iter().enumerate() {
                    let comma = if position > 0 { ", " } else { "" };
                    write!(list, "{comma}[{bytes}, {weight}]").expect("a string grows");
                }
                format!("{{ distribution = \"weighted\", sizes = [{list}] }}")
            }
        }
    }
}

/// Returns the number of sequential requests that move `amount` bytes, by the sizes of reads and writes and the share of reads in percent.
///
/// At the end, fio draws only sizes that still fit. Half of the largest size is left on average when it does not fit any more, then half of
/// the next one, and so on.
pub(super) fn sequential_requests(amount: u64, [read, write]: [&Sizes; 2], reads: u64) -> u64 {
    let mut sizes: Vec<(u64, f64)> = Vec::new();
    for (of_direction, share) in [(read, reads), (write, 100 - reads)] {
        let list = of_direction.list();
        let all: f64 = list.iter().map(|(_, weight)| weight).sum();
        sizes.extend(list.into_iter().filter(|_| share > 0).map(|(bytes, weight)| (bytes, weight / all * share as f64)));
    }
    sizes.sort_by_key(|(bytes, _)| *bytes);
    let (mut rest, mut requests) = (amount as f64, 0.0);
    while let Some(&(largest, _)) = sizes.last() {
        let left = if sizes[0].0 == largest { 0.0 } else { largest as f64 / 2.0 };
        if rest > left {
            let weight: f64 = sizes.iter().map(|(_, weight)| weight).sum();
            let mean = sizes.iter().map(|(bytes, weight)| *bytes as f64 * weight).sum::<f64>() / weight;
            requests += (rest - left) / mean;
            rest = left;
        }
        sizes.retain(|(bytes, _)| *bytes < largest);
    }
    (requests as u64).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_are_read_as_fio_reads_them() {
        assert_eq!(["4k", "4kb", "4ki", "4kib", "7b", "2G"].map(|text| size_bytes(text).unwrap()), [4096, 4096, 4096, 4000, 7, 2 << 30]);
        assert_eq!([parse_size_bytes("4kib"), parse_size_bytes("1MiB"), parse_size_bytes("4x")], [Some(4096), Some(1 << 20), None]);
        assert_eq!([size_bytes("1.5g"), size_bytes("k"), size_bytes("99999999t")], [None; 3]);
        assert_eq!(
            ["5", "5s", "2m", "7ms", "7usec"].map(|text| time_us(text, 1_000_000).unwrap()),
            [5_000_000, 5_000_000, 120_000_000, 7_000, 7]
        );
        assert_eq!([time_us("5min", 1), time_us("0.5", 1), time_us("", 1)], [None; 3]);
        assert_eq!([percent("66.7"), percent("70%"), percent("101"), percent("x.1")], [Some(66), Some(70), None, None]);
    }

    #[test]
    fn an_empty_part_leaves_a_direction_as_it_was() {
        assert_eq!(by_direction("4k,8k", Sizes::one).unwrap(), [Some(Sizes::One(4096)), Some(Sizes::One(8192))]);
        assert_eq!(by_direction(",8k", Sizes::one).unwrap(), [None, Some(Sizes::One(8192))]);
        assert_eq!(by_direction("8k,", Sizes::one).unwrap(), [Some(Sizes::One(8192)), None]);
        assert_eq!(by_direction("8k", Sizes::one).unwrap(), [Some(Sizes::One(8192)), Some(Sizes::One(8192))]);
        assert_eq!([by_direction("", Sizes::one), by_direction("8k,y", Sizes::one)], [None, None]);
    }

    /// fio 3.33 sends 3071 requests in the second case: where a MiB does not fit any more, only sizes of 512 bytes follow.
    #[test]
    fn small_sizes_fill_the_end_of_a_sequence() {
        let requests = |amount, split| sequential_requests(amount, [&Sizes::split(split).unwrap(), &Sizes::One(4096)], 100);
        assert_eq!(requests(1 << 20, "4k"), 256);
        assert!(requests(1 << 30, "512/50:1m/50").abs_diff(3071) < 10, "{}", requests(1 << 30, "512/50:1m/50"));
        assert_eq!(sequential_requests(1 << 20, [&Sizes::One(4096), &Sizes::One(4096)], 50), 256);
        assert_eq!(requests(100, "4k"), 1);
    }

    #[test]
    fn means_are_those_of_the_written_sizes() {
        assert_eq!(Sizes::split("4k/60:64k/40").unwrap().mean_bytes(), 28_672.0);
        assert_eq!(Sizes::split("4k/60:64k").unwrap().mean_bytes(), 28_672.0);
        assert_eq!(Sizes::range("4k-64k").unwrap().mean_bytes(), 34.0 * 1024.0);
        // Sizes of 4 and 8 KiB have two fifths each, and the largest the last fifth.
        assert!((Sizes::range("4k-10k").unwrap().mean_bytes() - 6963.2).abs() < 1e-6);
        assert_eq!([Sizes::split("4k/60:8k/60"), Sizes::range("8k-4k"), Sizes::one("0")], [None, None, None]);
    }
}
