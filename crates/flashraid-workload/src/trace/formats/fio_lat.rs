//! Latency log of fio: `ms, latency, direction, bytes, offset[, priority]`, with the latency in nanoseconds.
//!
//! Source: fio's HOWTO, "Log File Formats". Direction 0 is a read, 1 a write, 2 a trim. The time is that of the end of the request. fio
//! writes offsets only with `log_offset=1`.

use super::super::columns::{Columns, separator_of};
use super::super::detect::Sample;
use super::super::time_unit::TimeUnit;
use super::by_columns::{ByColumns, ColumnSettings};
use super::{Detection, FormatDescription};

/// Parser of the format.
pub(crate) type FioLat = ByColumns<Settings>;

/// Settings of the reader of columns.
#[derive(Debug, Clone)]
pub(crate) struct Settings;

impl ColumnSettings for Settings {
    const DESCRIPTION: FormatDescription = FormatDescription {
        doc: "Latency log of fio (`write_lat_log`, with `log_offset=1`): `ms, ns, direction, bytes, offset`.",
        description: "fio latency log: ms, ns, direction (0 = read), bytes, offset",
        columns: "end, latency in ns, direction (0 = read), bytes, offset",
        times: "ms",
        time_unit: Some(TimeUnit::Milliseconds),
        sector_bytes: None,
        has_devices: false,
        detection: Detection::TrialParse(7),
        sample: b"1, 84732, 0, 4096, 8192, 0\n2, 91001, 1, 4096, 0, 0\n",
        ..FormatDescription::TEXT
    };

    fn columns(sample: &Sample<'_>) -> Result<Columns, String> {
        let first = sample.lines().next().unwrap_or_default();
        let columns = first.iter().filter(|byte| **byte == b',').count() + 1;
        if separator_of(first) != Some(b',') || ![5, 6].contains(&columns) {
            return Err(
                "line 1: expected a line of fio's latency log with an offset (log_offset=1): ms, ns, direction, bytes, offset".to_owned()
            );
        }
        if lacks_offsets(sample) {
            return Err(WITHOUT_OFFSETS.to_owned());
        }
        Ok(Columns::at_places(&"end,response:ns,op:0=read,length,address".parse()?, Some(b',')))
    }

    fn note(_: &Columns) -> Option<String> {
        Some("requests: the lines of fio's log of latencies; logs of bandwidth look the same, and would be taken for one".to_owned())
    }
}

/// Explanation for a log without addresses.
pub(crate) const WITHOUT_OFFSETS: &str =
    "it is a latency log of fio without offsets, whose fifth column is the priority; record it with log_offset=1";

/// Returns true for a log whose lines end with the priority of a request, instead of its offset. Five columns have either of them.
pub(crate) fn lacks_offsets(sample: &Sample<'_>) -> bool {
    let number = |field: &[u8]| std::str::from_utf8(field.trim_ascii()).ok()?.parse::<u64>().ok();
    let last_of_five = |line: &[u8]| {
        let numbers: Vec<u64> = line.split(|byte| *byte == b',').map(number).collect::<Option<_>>()?;
        numbers.get(4).copied().filter(|_| numbers.len() == 5)
    };
    let mut lines = sample.lines().take(1000);
    let first = lines.next().and_then(last_of_five);
    // A priority has its class from the fourteenth bit on, and its level below.
    let is_priority = |last: u64| last & 0x1ff8 == 0 && last < 4 << 13;
    let mut others = lines.peekable();
    first.is_some_and(is_priority) && others.peek().is_some() && others.all(|line| last_of_five(line) == first)
}
