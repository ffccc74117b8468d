//! Statistics of a trace, as `flashraid trace info` shows them.
//!
//! All values here are in bytes. Tables show mean sizes in KB of 1024 bytes, and footprints in MB of 10^6 bytes, as is usual for each.
//! These terms are used:
//! - A page has 4 KiB.
//! - The duration runs from the earliest to the latest time stamp.
//! - A request is sequential if it begins where the request before it on the same device ended.
//! - Peak rates count requests per whole second from the first stamp.
//!
//! Requests are taken in the order of the file, so times that go backwards are counted here instead of refused.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde::Serialize;

use super::compression::{Compression, Origin};
use super::filter::{Filter, Repeats};
use super::formats::Format;
use super::measured::{MeasuredHistograms, MeasuredResponseTimes};
use super::reader::SkippedRecords;
use super::record::TraceRecord;
use super::spec::TraceSpec;
use super::time_unit::TimeUnit;
use crate::{OpKind, SourceError, Stop};

/// Longest time between a request and its repeat, in nanoseconds.
const REPEAT_NS: u64 = 2_000_000;
/// Share of repeated requests from which on a note mentions them.
const REPEATED_SHARE: f64 = 0.05;

/// Number of bytes in a page, the unit in which the footprint of a trace is counted. The footprint is the data in all distinct pages
/// that the trace reads or writes.
pub const FOOTPRINT_PAGE_BYTES: u64 = 4096;

/// Statistics of a trace.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TraceInfo {
    /// Path of the file.
    pub path: String,
    /// Format of the trace, given by the user or detected.
    pub format: Format,
    /// Compression of the file.
    pub compression: Compression,
    /// Unit of the time stamps. It is `None` if the format leaves no choice or the trace has no times.
    pub time_unit: Option<TimeUnit>,
    /// Number of reads, writes and discards.
    pub requests: u64,
    /// Number of flushes, which count in no other figure here.
    pub flushes: u64,
    /// Share of requests that read.
    pub read_fraction: f64,
    /// Time between the earliest and the latest time stamp; `None` without times.
    pub duration_s: Option<f64>,
    /// Number of requests divided by the duration. It is `None` without times, or if all come at once.
    pub requests_per_s: Option<f64>,
    /// Number of requests in the busiest second.
    pub peak_requests_per_s: Option<u64>,
    /// Sizes of all requests.
    pub all: RequestSizes,
    /// Sizes of all reads.
    pub read: RequestSizes,
    /// Sizes of all writes.
    pub write: RequestSizes,
    /// Sizes of discards. Discards count in no footprint.
    pub trim: RequestSizes,
    /// Amount of data in the distinct 4 KiB pages that are read or written, in bytes.
    pub footprint_bytes: u64,
    /// Amount of data in the distinct 4 KiB pages that are written, in bytes.
    pub written_footprint_bytes: u64,
    /// Number of page writes divided by the number of distinct pages written. It is 1 if nothing is overwritten, and `None` without writes.
    pub rewritten: Option<f64>,
    /// Share of requests that begin where the one before on the same device ended.
    pub sequential_fraction: f64,
    /// Lowest address that a request touches on any device, in bytes.
    pub first_byte: u64,
    /// End of the request that reaches farthest on any device, counted from the start of that device.
    pub end_byte: u64,
    /// Devices in order of their numbers.
    pub devices: Vec<TracedDeviceStatistics>,
    /// Statistics of time stamps that go backwards.
    pub backwards: BackwardsTimes,
    /// Number of repeats: requests with the same device, address, length and kind (read, write or discard) as another request at most 2
    /// ms earlier. It is `None` if the trace has no times.
    pub repeats: Option<u64>,
    /// Requests and lines that were left out.
    pub skipped: SkippedRecords,
    /// Response times that the trace tells, in microseconds; `None` if it tells none.
    pub measured_response_us: Option<MeasuredResponseTimes>,
    /// Notes about what was guessed when the trace was read, such as its unit of time, and about the settings that override the
    /// guesses.
    pub notes: Vec<String>,
}

/// Sizes of one group of requests of a trace: of all requests, the reads, the writes, or the discards. All values are 0 if the group is
/// empty.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct RequestSizes {
    /// Number of requests in the group (all requests, the reads, the writes, or the discards).
    pub requests: u64,
    /// Sum of the sizes of the requests in the group (all requests, the reads, the writes, or the discards), in bytes.
    pub bytes: u64,
    /// Mean size of the requests in the group (all requests, the reads, the writes, or the discards), in bytes.
    pub mean_bytes: f64,
    /// Smallest size of a request in the group (all requests, the reads, the writes, or the discards), in bytes.
    pub min_bytes: u64,
    /// Largest size of a request in the group (all requests, the reads, the writes, or the discards), in bytes.
    pub max_bytes: u64,
}

/// Statistics of one device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TracedDeviceStatistics {
    /// Number of the device.
    pub device: u32,
    /// Name of the device in the trace.
    pub label: String,
    /// Number of requests of the device.
    pub requests: u64,
    /// Number of reads of the device.
    pub reads: u64,
    /// Lowest address that a request of the device touches, in bytes.
    pub first_byte: u64,
    /// End of the request that reaches farthest on the device, in bytes.
    pub end_byte: u64,
}

/// Statistics of time stamps that are earlier than another one before them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct BackwardsTimes {
    /// Number of time stamps earlier than the one directly before.
    pub stamps: u64,
    /// Longest time by which a stamp lies before the latest one so far, in nanoseconds.
    pub farthest_ns: u64,
    /// Value for the `reorder` window that puts all requests in order. It is `None` if the value would exceed 65536, so that only sorting
    /// helps.
    pub reorder_window: Option<u32>,
}

/// Reads a whole trace and returns its statistics.
///
/// # Errors
/// Returns an error if the trace cannot be read to its end. Times that go backwards are no error here.
pub fn trace_info(spec: &TraceSpec) -> Result<TraceInfo, SourceError> {
    info_of(spec, &Origin::file(&spec.path, &Stop::default()))
}

/// Returns the statistics of a trace in memory, like [`trace_info`]. `spec.path` only serves as a name.
///
/// # Errors
/// Returns the same errors as [`trace_info`].
pub fn trace_info_of_bytes(bytes: impl Into<Arc<[u8]>>, spec: &TraceSpec) -> Result<TraceInfo, SourceError> {
    info_of(spec, &Origin::memory(bytes.into()))
}

fn info_of(spec: &TraceSpec, origin: &Origin) -> Result<TraceInfo, SourceError> {
    let mut records = Filter::open(spec, origin)?;
    let mut all = RequestSizes::default();
    let mut read = RequestSizes::default();
    let mut write = RequestSizes::default();
    let mut trim = RequestSizes::default();
    let mut pages = Pages::default();
    let mut clock = Clock::default();
    let mut devices: BTreeMap<u32, DeviceState> = BTreeMap::new();
    let mut sequential = 0_u64;
    let mut repeats = Repeats::within_ns(REPEAT_NS);
    let mut repeated = 0_u64;
    let mut flushes = 0_u64;
    let mut measured = MeasuredHistograms::default();
    records.measure();
    records.for_each(|record| {
        if let Some(response_ns) = record.response_ns {
            measured.record(record.kind, response_ns.get());
        }
        if record.kind == OpKind::Flush {
            flushes += 1;
            return;
        }
        all.add(record.length_bytes);
        match record.kind {
            OpKind::Read => read.add(record.length_bytes),
            OpKind::Write => write.add(record.length_bytes),
            OpKind::Trim => trim.add(record.length_bytes),
            OpKind::Flush => {}
        }
        if record.kind != OpKind::Trim {
            pages.touch(record);
        }
        clock.tick(record.time_ns);
        repeated += u64::from(repeats.is_repeat(record));
        let device = devices.entry(record.device).or_insert_with(|| DeviceState::starting_at(record.offset_bytes));
        sequential += u64::from(device.add(record));
    })?;
    for sizes in [&mut all, &mut read, &mut write, &mut trim] {
        sizes.mean_bytes = if sizes.requests == 0 { 0.0 } else { sizes.bytes as f64 / sizes.requests as f64 };
    }
    if let Some(by_events) = records.measured() {
        measured.add_all(by_events);
    }
    let (touched, written) = pages.distinct();
    let facts = records.facts();
    let duration_s = facts.has_times.then(|| clock.latest_ns.saturating_sub(clock.earliest_ns) as f64 / 1e9);
    let share = |part: u64| part as f64 / all.requests.max(1) as f64;
    // Requests that repeat for other reasons, such as those of a log's head, are few.
    let has_repeats = facts.has_times && share(repeated) >= REPEATED_SHARE;
    let repeats_note = has_repeats.then(|| {
        format!(
            "repeats: {} of the requests ({:.1} %) are the same as one at most 2 ms before, perhaps recorded at two layers; \
             drop_repeats_within = \"2ms\" (--drop-repeats-within-us 2000) leaves them out",
            repeated,
            100.0 * share(repeated)
        )
    });
    let burst = super::burst_note(all.requests, duration_s == Some(0.0));
    Ok(TraceInfo {
        path: facts.name.clone(),
        format: facts.format,
        compression: facts.compression,
        time_unit: facts.time_unit,
        requests: all.requests,
        flushes,
        read_fraction: share(read.requests),
        duration_s,
        requests_per_s: duration_s.filter(|seconds| *seconds > 0.0).map(|seconds| all.requests as f64 / seconds),
        peak_requests_per_s: facts.has_times.then(|| clock.peak()),
        all,
        read,
        write,
        trim,
        footprint_bytes: touched * FOOTPRINT_PAGE_BYTES,
        written_footprint_bytes: written * FOOTPRINT_PAGE_BYTES,
        rewritten: (written > 0).then(|| pages.written as f64 / written as f64),
        sequential_fraction: share(sequential),
        first_byte: devices.values().map(|device| device.first_byte).min().unwrap_or(0),
        end_byte: devices.values().map(|device| device.end_byte).max().unwrap_or(0),
        devices: devices
            .iter()
            .map(|(number, device)| TracedDeviceStatistics {
                device: *number,
                label: records.device_label(*number),
                requests: device.requests,
                reads: device.reads,
                first_byte: device.first_byte,
                end_byte: device.end_byte,
            })
            .collect(),
        backwards: clock.backwards(),
        skipped: records.skipped(),
        repeats: facts.has_times.then_some(repeated),
        measured_response_us: measured.summary(),
        notes: facts.notes.iter().cloned().chain(records.note_at_end()).chain(repeats_note).chain(burst).collect(),
    })
}

impl RequestSizes {
    fn add(&mut self, length_bytes: u64) {
        self.min_bytes = if self.requests == 0 { length_bytes } else { self.min_bytes.min(length_bytes) };
        self.max_bytes = self.max_bytes.max(length_bytes);
        self.requests += 1;
        self.bytes += length_bytes;
    }
}

struct DeviceState {
    requests: u64,
    reads: u64,
    first_byte: u64,
    end_byte: u64,
    /// End address of the last request.
    next_byte: Option<u64>,
}

impl DeviceState {
    fn starting_at(offset_bytes: u64) -> Self {
        Self { requests: 0, reads: 0, first_byte: offset_bytes, end_byte: 0, next_byte: None }
    }

    /// Counts a request. Returns true if it begins where the last one ended.
    fn add(&mut self, record: &TraceRecord) -> bool {
        let end = record.offset_bytes + record.length_bytes;
        let goes_on = self.next_byte == Some(record.offset_bytes);
        self.requests += 1;
        self.reads += u64::from(record.kind == OpKind::Read);
        self.first_byte = self.first_byte.min(record.offset_bytes);
        self.end_byte = self.end_byte.max(end);
        self.next_byte = Some(end);
        goes_on
    }
}

/// Number of 64-bit words in a bitmap of 512 pages, which stand for 2 MiB of addresses.
const WORDS: usize = 8;

/// Pages that were touched, and pages that were written. There are two bits per page, for each 2 MiB of addresses in which requests lie.
#[derive(Default)]
struct Pages {
    stretches: HashMap<(u32, u64), Stretch>,
    /// Number of page writes, repeated ones included.
    written: u64,
}

#[derive(Default)]
struct Stretch {
    touched: [u64; WORDS],
    written: [u64; WORDS],
}

impl Pages {
    fn touch(&mut self, record: &TraceRecord) {
        let mut page = record.offset_bytes / FOOTPRINT_PAGE_BYTES;
        let end = (record.offset_bytes + record.length_bytes).div_ceil(FOOTPRINT_PAGE_BYTES);
        let writes = record.kind == OpKind::Write;
        if writes {
            self.written += end - page;
        }
        let stretch_pages = 64 * WORDS as u64;
        while page < end {
            let number = page / stretch_pages;
            let stretch = self.stretches.entry((record.device, number)).or_default();
            let stop = end.min((number + 1) * stretch_pages);
            while page < stop {
                let word = (page % stretch_pages / 64) as usize;
                let bit = page % 64;
                let bits = (stop - page).min(64 - bit);
                let mask = (u64::MAX >> (64 - bits)) << bit;
                stretch.touched[word] |= mask;
                if writes {
                    stretch.written[word] |= mask;
                }
                page += bits;
            }
        }
    }

    /// Returns the number of distinct pages touched, and the number of distinct pages written.
    fn distinct(&self) -> (u64, u64) {
        let count = |words: &[u64; WORDS]| words.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
        self.stretches
            .values()
            .fold((0, 0), |(touched, written), stretch| (touched + count(&stretch.touched), written + count(&stretch.written)))
    }
}

/// Number of time stamps that are remembered, to find how far requests are out of order.
const REMEMBERED: usize = 1 << 16;

/// Statistics of the time stamps.
struct Clock {
    stamps: u64,
    origin_ns: u64,
    earliest_ns: u64,
    latest_ns: u64,
    last_ns: u64,
    /// Current second, with the number of its requests, and number of requests before it.
    second: (i128, u64),
    per_second: BTreeMap<i128, u64>,
    stamps_backwards: u64,
    farthest_ns: u64,
    window: Option<u64>,
    /// Latest time stamp up to each of the last requests, in a ring buffer.
    latest_up_to: Vec<u64>,
}

impl Default for Clock {
    fn default() -> Self {
        Self {
            stamps: 0,
            origin_ns: 0,
            earliest_ns: u64::MAX,
            latest_ns: 0,
            last_ns: 0,
            second: (0, 0),
            per_second: BTreeMap::new(),
            stamps_backwards: 0,
            farthest_ns: 0,
            window: Some(0),
            latest_up_to: Vec::new(),
        }
    }
}

impl Clock {
    fn tick(&mut self, now_ns: u64) {
        if self.stamps == 0 {
            self.origin_ns = now_ns;
        }
        let second = (i128::from(now_ns) - i128::from(self.origin_ns)).div_euclid(1_000_000_000);
        if second != self.second.0 {
            *self.per_second.entry(self.second.0).or_default() += self.second.1;
            self.second = (second, 0);
        }
        self.second.1 += 1;
        self.stamps_backwards += u64::from(now_ns < self.last_ns);
        if now_ns < self.latest_ns {
            self.farthest_ns = self.farthest_ns.max(self.latest_ns - now_ns);
            let needed = self.window_for(now_ns);
            self.window = self.window.zip(needed).map(|(window, needed)| window.max(needed));
        }
        self.earliest_ns = self.earliest_ns.min(now_ns);
        self.latest_ns = self.latest_ns.max(now_ns);
        self.last_ns = now_ns;
        let place = (self.stamps % REMEMBERED as u64) as usize;
        match self.latest_up_to.get_mut(place) {
            Some(slot) => *slot = self.latest_ns,
            None => self.latest_up_to.push(self.latest_ns),
        }
        self.stamps += 1;
    }

    /// Returns the number of requests to hold back so that a request at `now_ns` is not too late. It counts from the first request with a
    /// later time stamp.
    fn window_for(&self, now_ns: u64) -> Option<u64> {
        let oldest = self.stamps - self.latest_up_to.len() as u64;
        let latest_up_to = |number: u64| self.latest_up_to[(number % REMEMBERED as u64) as usize];
        if oldest > 0 && latest_up_to(oldest) > now_ns {
            return None;
        }
        // The latest stamps rise, so that a binary search finds the first one beyond now.
        let (mut low, mut high) = (oldest, self.stamps);
        while low < high {
            let middle = low.midpoint(high);
            if latest_up_to(middle) > now_ns {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        Some(self.stamps - low)
    }

    fn peak(&self) -> u64 {
        let (second, requests) = self.second;
        let last = self.per_second.get(&second).copied().unwrap_or(0) + requests;
        self.per_second.values().copied().max().unwrap_or(0).max(last)
    }

    fn backwards(&self) -> BackwardsTimes {
        BackwardsTimes {
            stamps: self.stamps_backwards,
            farthest_ns: self.farthest_ns,
            reorder_window: self.window.and_then(|window| u32::try_from(window).ok()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn pages_are_counted_once_however_they_are_cut() {
        let mut pages = Pages::default();
        let mut touch = |offset_bytes, length_bytes, direction| {
            pages.touch(&TraceRecord::new(0, 0, offset_bytes, length_bytes, direction));
        };
        touch(4095, 2, OpKind::Write);
        touch(0, 1, OpKind::Read);
        touch(4096, 4096, OpKind::Write);
        touch(1 << 21, 4 << 21, OpKind::Read);
        assert_eq!(pages.distinct(), (2 + 4 * 512, 2));
        assert_eq!(pages.written, 3);
    }

    proptest! {
        #[test]
        fn pages_agree_with_a_plain_set(requests in prop::collection::vec((0_u64..40 << 20, 1_u64..6 << 20, any::<bool>()), 1..20)) {
            let mut pages = Pages::default();
            let (mut touched, mut written) = (BTreeSet::new(), BTreeSet::new());
            for (offset_bytes, length_bytes, is_write) in requests {
                let direction = if is_write { OpKind::Write } else { OpKind::Read };
                pages.touch(&TraceRecord::new(0, 3, offset_bytes, length_bytes, direction));
                for page in offset_bytes / 4096..=(offset_bytes + length_bytes - 1) / 4096 {
                    touched.insert(page);
                    if is_write {
                        written.insert(page);
                    }
                }
            }
            prop_assert_eq!(pages.distinct(), (touched.len() as u64, written.len() as u64));
        }

        #[test]
        fn the_window_told_is_enough(times in prop::collection::vec(0_u64..50, 2..60)) {
            let text: String = times.iter().map(|time| format!("{time}.0 0 80 8 1\n")).collect();
            let mut spec = TraceSpec::new("t");
            spec.format = Some(Format::Disksim);
            let window = trace_info_of_bytes(text.clone().into_bytes(), &spec).unwrap().backwards.reorder_window.unwrap();
            spec.reorder = crate::trace::TraceSortMethod::Window(window);
            let mut reader = crate::trace::open_trace_bytes(text.into_bytes(), &spec).unwrap();
            let mut sorted = Vec::new();
            while let Some(record) = reader.next_record().unwrap() {
                sorted.push(record.time_ns / 1_000_000);
            }
            let mut expected = times.clone();
            expected.sort_unstable();
            prop_assert_eq!(sorted, expected);
        }
    }
}
