//! Questions the unit of time stamps: a trace whose unit would give absurd arrivals is refused until the user chooses the unit.
//!
//! The unit is questioned if nobody has chosen it and one of these holds for the first requests:
//! - They come at less than 1 a minute, or at more than 10 million a second.
//! - All gaps are multiples of 1000 units. Nanoseconds and ticks are exempt, because clocks are often coarser than these.
//! - All times have equally many decimals, and these are finer than a nanosecond.
//!
//! Formats are left alone if their first line names the format, or if only one program writes them.

use super::detect::Sample;
use super::fields::Fields;
use super::formats::{Detection, Format, Parser, Units};
use super::time_unit::TimeUnit;

/// Smallest number of requests that says something about the unit.
const REQUESTS_MIN: usize = 10;
/// Sensible numbers of requests per second.
const PER_SECOND: std::ops::RangeInclusive<f64> = 1.0 / 60.0..=1e7;
/// Largest number of units that a message offers.
const OFFERED_MAX: usize = 3;

/// Returns an error text if times in the unit that was taken for granted make no sense.
pub(super) fn question(format: Format, unit: TimeUnit, sample: &Sample<'_>) -> Option<String> {
    let may_differ = matches!(format.full_description().detection, Detection::TrialParse(_) | Detection::FiveColumns)
        && format.time_unit().is_some()
        && !matches!(format, Format::Blkparse | Format::Diskmon);
    if !may_differ {
        return None;
    }
    let mut parser = Parser::new(format, sample).ok()?;
    let units = Units { time_ns: unit.ns(), sector_bytes: 1 };
    let times: Vec<u64> = sample.lines().filter_map(|line| parser.parse(line, units).ok()?).map(|record| record.time_ns).collect();
    let (first, last) = (times.iter().min()?, times.iter().max()?);
    if times.len() < REQUESTS_MIN {
        return None;
    }
    let gaps_ns = || times.windows(2).map(|pair| pair[1].abs_diff(pair[0]));
    let may_be_coarse = matches!(unit, TimeUnit::Nanoseconds | TimeUnit::Ticks);
    let is_coarse = || !may_be_coarse && gaps_ns().all(|gap_ns| gap_ns.is_multiple_of(1000 * unit.ns()));
    let is_by_columns = matches!(format.full_description().detection, Detection::FiveColumns);
    let is_finer_than_ns = |unit: TimeUnit| is_by_columns && decimals(sample).is_some_and(|digits| 10_u64.pow(digits) > unit.ns());
    // One long pause, or one wrong line, says nothing about the unit.
    let span = (last - first).saturating_sub(gaps_ns().max()?) as f64 / unit.ns() as f64;
    let per_second = |unit: TimeUnit| (times.len() - 2) as f64 / (span * unit.ns() as f64 / 1e9);
    let reason = if span == 0.0 {
        return None;
    } else if !PER_SECOND.contains(&per_second(unit)) {
        format!("{} requests per second", shown(per_second(unit)))
    } else if is_coarse() {
        format!("gaps that are all multiples of 1000 {unit}")
    } else if is_finer_than_ns(unit) {
        format!("times finer than a nanosecond, by their {} decimals", decimals(sample).unwrap_or(0))
    } else {
        return None;
    };
    let mut offered: Vec<TimeUnit> = TimeUnit::ALL
        .into_iter()
        .filter(|unit| *unit != TimeUnit::Ticks && PER_SECOND.contains(&per_second(*unit)) && !is_finer_than_ns(*unit))
        .collect();
    // The rates nearest to some hundreds a second are the most likely ones.
    let distance = |unit: &TimeUnit| (per_second(*unit) / 300.0).ln().abs();
    offered.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
    offered.truncate(OFFERED_MAX);
    let offered: Vec<String> = offered.iter().map(|unit| format!("{unit} ({} requests/s)", shown(per_second(*unit)))).collect();
    let offered = if offered.is_empty() { "no unit gives a usual rate".to_owned() } else { format!("sensible are {}", offered.join(", ")) };
    Some(format!("times: taken for {unit} as usual for {format}, they mean {reason}; {offered}; choose with time_unit"))
}

/// Returns the number of decimals that all times in the first column have, or `None` if they differ.
fn decimals(sample: &Sample<'_>) -> Option<u32> {
    let mut digits = sample.lines().map(|line| {
        let time = Fields::blank(line).next()?;
        let point = time.iter().position(|byte| *byte == b'.')?;
        u32::try_from(time.len() - point - 1).ok().filter(|digits| *digits <= 18)
    });
    let first = digits.next()??;
    digits.all(|other| other == Some(first)).then_some(first)
}

/// Returns a rate with three digits.
fn shown(rate: f64) -> String {
    if rate >= 100.0 { format!("{rate:.0}") } else { format!("{rate:.*}", if rate >= 1.0 { 1 } else { 4 }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(format: Format, unit: TimeUnit, line: impl Fn(u64) -> String) -> Option<String> {
        let text: String = (0..40).map(line).collect();
        question(format, unit, &Sample::whole(text.as_bytes()))
    }

    #[test]
    fn absurd_rates_ask_for_the_unit() {
        let spc =
            |per_request: u64| asked(Format::Spc, TimeUnit::Seconds, move |i| format!("0,{},4096,w,{}\n", 8 * i, i * per_request + i % 2));
        let asked_for = spc(1234).unwrap();
        assert!(asked_for.contains("0.0008 requests per second") && asked_for.contains("us (810 requests/s)"), "{asked_for}");
        assert_eq!(spc(7), None);
        let alibaba = |gap: u64| asked(Format::Alibaba, TimeUnit::Microseconds, move |i| format!("1,W,{},4096,{}\n", 4096 * i, gap * i));
        assert!(alibaba(7000).unwrap().contains("multiples of 1000 us"));
        assert_eq!(alibaba(7100), None);
        let mqsim = |gap: u64| asked(Format::Mqsim, TimeUnit::Nanoseconds, move |i| format!("{} 0 {} 8 1\n", gap * i, 8 * i));
        assert!(mqsim(7).unwrap().contains("142857143 requests per second"));
        assert_eq!((mqsim(5000), mqsim(0)), (None, None));
    }

    #[test]
    fn decimals_below_a_nanosecond_ask_for_the_unit() {
        let disksim = |digits: usize| {
            asked(Format::Disksim, TimeUnit::Milliseconds, move |i| format!("{:.digits$} 0 {} 8 1\n", 1.3 * i as f64, 8 * i))
        };
        let asked_for = disksim(9).unwrap();
        assert!(asked_for.contains("9 decimals") && asked_for.contains("s (0.7692 requests/s)"), "{asked_for}");
        assert_eq!(disksim(6), None);
    }
}
