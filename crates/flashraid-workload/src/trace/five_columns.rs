//! Tells apart the formats of five numbers separated by blanks, and guesses the unit of their times.
//!
//! All of them have lines `time device start length op`. These marks are tried in order:
//! - Times with a decimal point are milliseconds (DiskSim, FlashSim, cuts of MSR). Without one, the format is MQSim or SSDSim.
//! - If all starts and lengths are multiples of 512, they are bytes (a cut of MSR). As sectors, they would all be multiples of 256 KiB.
//! - If half of the lengths are at most 3, they are pages (FlashSim). As sectors, half of the requests would have at most 1.5 KiB.
//!
//! The integers of MQSim and SSDSim should be nanoseconds, but some files count µs, or no time at all:
//! - If all are multiples of 1000, they are nanoseconds from a clock that ticks in µs.
//! - If they give at most 200,000 requests per second when read as nanoseconds, they are nanoseconds.
//! - If they rise strictly in whole steps of the smallest gap, and on average by at most 20 of them, they are numbers of records. The trace
//!   then has no times.
//! - Otherwise they are microseconds.

use super::detect::Sample;
use super::fields::{Fields, decimal_times, integer};
use super::formats::Format;
use super::time_unit::TimeUnit;

/// Rate beyond which times of a trace of real storage cannot be nanoseconds.
const PLAUSIBLE_REQUESTS_PER_S: u64 = 200_000;

/// Meaning of the column for times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Times {
    /// Times are counted in this unit.
    In(TimeUnit),
    /// The column holds record numbers instead of times.
    None,
}

struct Line {
    time: u64,
    has_point: bool,
    start: u64,
    length: u64,
}

fn parse(line: &[u8]) -> Option<Line> {
    let mut fields = Fields::blank(line);
    let time = fields.next()?;
    let has_point = integer(time).is_none();
    let time = if has_point { decimal_times(time, 1).ok()? } else { integer(time)? };
    integer(fields.next()?)?;
    let start = integer(fields.next()?)?;
    let length = integer(fields.next()?)?;
    let op = fields.next()?;
    let is_flag = op.len() <= 8 && op.iter().all(u8::is_ascii_hexdigit);
    (is_flag && fields.next().is_none()).then_some(Line { time, has_point, start, length })
}

fn lines<'a>(sample: &Sample<'a>) -> impl Iterator<Item = Line> + use<'a> {
    sample.lines().filter_map(parse)
}

/// Returns the number of lines in the sample that consist of five numbers, and the number of all lines.
pub(crate) fn understood(sample: &Sample<'_>) -> (usize, usize) {
    (lines(sample).count(), sample.lines().count())
}

/// Returns the format of the sample, and the reason for this decision.
pub(crate) fn format(sample: &Sample<'_>) -> (Format, String) {
    if !lines(sample).any(|line| line.has_point) {
        return (Format::Mqsim, "format: five columns with whole numbers as times, taken for MQSim/SSDSim".to_owned());
    }
    if lines(sample).all(|line| line.start % 512 == 0 && line.length % 512 == 0) {
        return (
            Format::MsrWindow,
            "format: five columns, all starts and lengths multiples of 512, taken for bytes (msr-window); \"disksim\" overrules it"
                .to_owned(),
        );
    }
    let mut lengths: Vec<u64> = lines(sample).map(|line| line.length).collect();
    lengths.sort_unstable();
    if lengths.get(lengths.len() / 2).is_some_and(|median| *median <= 3) {
        return (
            Format::Flashsim,
            "format: five columns, half of the lengths at most 3, taken for pages of 4 KiB (flashsim), and so are the starts; \"disksim\" \
             overrules it, sector_bytes = 512 takes only the starts for sectors"
                .to_owned(),
        );
    }
    (
        Format::Disksim,
        "format: five columns, lengths taken for sectors of 512 bytes (disksim); \"flashsim\" overrules it for pages".to_owned(),
    )
}

/// Returns the meaning of the times of MQSim and SSDSim, and the reason for this decision.
pub(crate) fn times(sample: &Sample<'_>) -> (Times, String) {
    let times: Vec<u64> = lines(sample).map(|line| line.time).collect();
    if times.iter().all(|time| time % 1000 == 0) {
        return (
            Times::In(TimeUnit::Nanoseconds),
            "times: taken for ns, all being multiples of 1000 as a clock of µs gives them; time_unit overrules it".to_owned(),
        );
    }
    let gaps = || times.windows(2).map(|pair| pair[1].saturating_sub(pair[0]));
    let count = gaps().count() as u64;
    let mean_gap = gaps().fold(0_u64, u64::saturating_add) / count.max(1);
    let rate = 1_000_000_000 / mean_gap.max(1);
    if count == 0 || rate <= PLAUSIBLE_REQUESTS_PER_S {
        return (Times::In(TimeUnit::Nanoseconds), format!("times: taken for ns, which gives {rate} requests/s; time_unit overrules it"));
    }
    let smallest = gaps().min().unwrap_or(0);
    if smallest > 0 && mean_gap <= 20 * smallest && gaps().all(|gap| gap % smallest == 0) {
        return (
            Times::None,
            format!(
                "times: none; the first column rises in steps of {smallest} like the number of a record, and as ns it would mean {rate} \
                 requests/s; time_unit overrules it"
            ),
        );
    }
    (
        Times::In(TimeUnit::Microseconds),
        format!(
            "times: taken for µs; as ns they would mean {rate} requests/s, more than the {PLAUSIBLE_REQUESTS_PER_S} that are believed; \
             time_unit overrules it"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(text: &str) -> Sample<'_> {
        Sample::whole(text.as_bytes())
    }

    /// Returns twenty lines with these times.
    fn with_times(time: impl Fn(u64) -> u64) -> String {
        (0..20).map(|i| format!("{} 0 {} 8 1\n", time(i), 100 + 8 * i)).collect()
    }

    #[test]
    fn times_with_a_point_are_milliseconds_of_three_formats() {
        assert_eq!(format(&sample("0.5 0 1024 4096 1\n1.5 0 512 512 0\n")).0, Format::MsrWindow);
        assert_eq!(format(&sample("0.5 0 1023 1 1\n1.5 0 512 2 0\n2.0 0 9 40 0\n")).0, Format::Flashsim);
        assert_eq!(format(&sample("0.5 0 1023 8 1\n1.5 0 512 16 0\n")).0, Format::Disksim);
        assert_eq!(format(&sample("5 0 1023 8 1\n9 0 512 16 0\n")).0, Format::Mqsim);
    }

    #[test]
    fn the_unit_of_whole_times_is_guessed_by_clock_and_rate() {
        let unit = |text: String| times(&sample(&text)).0;
        assert_eq!(unit(with_times(|i| i * 12_000)), Times::In(TimeUnit::Nanoseconds), "a µs clock");
        assert_eq!(unit(with_times(|i| i * 1_234_567)), Times::In(TimeUnit::Nanoseconds), "810 requests/s");
        assert_eq!(unit(with_times(|i| i * 2_361 + i % 3)), Times::In(TimeUnit::Microseconds), "423 requests/s");
        assert_eq!(unit(with_times(|i| i * 30 + 10 * (i % 2))), Times::None, "record numbers");
    }
}
