//! Block traces of many formats, plain or compressed, as a [`RequestSource`] of requests.
//!
//! ```text
//!  file ─▶ compression ─▶ input (lines, records) ─▶ parser (one per format) ─▶ records in file order
//!        ─▶ filter (devices, repeats) ─▶ reorder ─▶ devices (layout) ─▶ requests
//! ```
//!
//! Requests pass from step to step in blocks. A step reads no more of the file than the requests that it is asked for require.
//!
//! [`open_trace`] reads in constant memory, however long the trace is, except for [`TraceSortMethod::Sort`]. It finds out the format and,
//! if the format leaves it open, the unit of time from the content. [`TraceProperties::notes`] reports every guess, and [`TraceSpec`] can
//! override it.
//!
//! These rules hold for unusual input:
//! - The first request arrives at 0, and the others keep their distance from it.
//! - Requests of length 0 are left out and counted.
//! - A length beyond 1 GiB, or an address beyond 1 EiB, makes a bad line.
//! - Blank lines, and lines that begin with `#`, are skipped.
//! - A unit of time that gives absurd arrivals is questioned, unless the user has chosen it.
//! - A time that goes backwards stops the run unless [`TraceSpec::reorder`] allows for it.

mod columns;
mod compression;
mod detect;
mod devices;
mod fields;
mod filter;
mod five_columns;
mod formats;
pub mod info;
mod input;
mod measured;
mod names;
mod operations;
mod per_cpu;
mod reader;
mod record;
mod reorder;
mod repeated;
mod spec;
mod survey;
mod time_question;
mod time_unit;
pub mod write;

#[cfg(test)]
mod brought_tests;
#[cfg(test)]
mod garbage_tests;
#[cfg(all(test, feature = "bzip2", feature = "gzip", feature = "zstd"))]
mod real_tests;
#[cfg(test)]
mod recorder_tests;
#[cfg(all(test, feature = "bzip2", feature = "gzip", feature = "zstd"))]
mod sample_tests;

use std::sync::Arc;

pub use columns::TraceColumns;
pub use compression::Compression;
pub use formats::Format;
pub use info::trace_info;
pub use measured::{MeasuredResponseTime, MeasuredResponseTimes, measured_response_times};
pub use per_cpu::files_of_recording;
pub use reader::{SkippedRecords, TraceProperties};
use record::NumberedRecord;
pub use record::{MAX_OFFSET_BYTES, MAX_REQUEST_BYTES, TraceRecord};
pub(crate) use repeated::RepeatedTrace;
pub use spec::{DevicePlacement, DiscardPolicy, FlushPolicy, TraceSortMethod, TraceSpec};
pub(crate) use survey::survey_trace;
pub use survey::{TraceDeviceSizeAndOffset, TraceSurvey};
pub use time_unit::TimeUnit;

use super::{HostLoop, OpKind, Request, RequestSource, SourceError, Stop};
use compression::Origin;
use devices::Layout;
use filter::Filter;
use flashraid_model::events::TIME_MAX_NS;
use reorder::Reordered;

/// A trace as a source of requests.
pub struct TraceReader {
    records: Reordered,
    /// Requests that the last call returned, for messages about one of them.
    last_returned: Vec<NumberedRecord>,
    layout: Layout,
    first_ns: Option<u64>,
    /// Number of requests at the first time stamp, and number of all requests.
    at_first: u64,
    requests: u64,
}

/// Opens the trace of `spec`.
///
/// With [`DevicePlacement::Concat`] or a list of several devices, devices are laid end to end. Opening then reads the whole file once to
/// find the length of each device. This pass is left out with `Concat` if the format does not tell devices apart.
///
/// # Errors
/// Returns an error if the file cannot be read, is no trace, is damaged, or does not fit the options.
pub fn open_trace(spec: &TraceSpec) -> Result<TraceReader, SourceError> {
    open_stoppable_trace(spec, &Stop::default())
}

/// Opens the trace like [`open_trace`]. Every pass over the file stops soon after `stop` says so.
///
/// # Errors
/// Returns the errors of [`open_trace`], and [`SourceError::Stopped`].
pub fn open_stoppable_trace(spec: &TraceSpec, stop: &Stop) -> Result<TraceReader, SourceError> {
    TraceReader::of(spec, &Origin::file(&spec.path, stop))
}

/// Opens a trace in memory, like [`open_trace`]. `spec.path` only serves as a name for messages.
///
/// # Errors
/// Returns the same errors as [`open_trace`].
pub fn open_trace_bytes(bytes: impl Into<Arc<[u8]>>, spec: &TraceSpec) -> Result<TraceReader, SourceError> {
    TraceReader::of(spec, &Origin::memory(bytes.into()))
}

impl TraceReader {
    fn of(spec: &TraceSpec, origin: &Origin) -> Result<Self, SourceError> {
        let mut records = Filter::open(spec, origin)?;
        let layout = Layout::new(spec, origin, records.facts().format)?;
        if let Some(note) = layout.note() {
            records.note(note);
        }
        let records = Reordered::new(records, spec.reorder);
        Ok(Self { records, last_returned: Vec::new(), layout, first_ns: None, at_first: 0, requests: 0 })
    }

    /// Returns the next request as the trace holds it, in order of time.
    ///
    /// # Errors
    /// Returns the same errors as [`RequestSource::next_request`].
    pub fn next_record(&mut self) -> Result<Option<TraceRecord>, SourceError> {
        self.last_returned.clear();
        self.records.append_next(&mut self.last_returned, 1)?;
        Ok(self.last_returned.first().map(|numbered| numbered.record))
    }

    /// Returns facts about the trace: its name, compression, format and unit of time, as given or detected, and notes on every guess.
    #[must_use]
    pub fn format_properties(&self) -> &TraceProperties {
        self.records.filter().facts()
    }

    /// Returns the numbers of requests and lines of the trace that were left out so far, each with its reason.
    #[must_use]
    pub fn records_skipped(&self) -> SkippedRecords {
        self.records.filter().skipped()
    }

    /// Returns the number of lines left out so far because they could not be understood. It is 0 unless [`TraceSpec::skip_bad_lines`] is
    /// set.
    #[must_use]
    pub(crate) fn bad_lines_skipped(&self) -> u64 {
        self.records_skipped().bad_lines
    }

    /// Returns the time at which a request arrives, counted from the first one, and counts the request.
    #[inline]
    fn arrival_ns(&mut self, numbered: &NumberedRecord) -> Result<u64, SourceError> {
        let time_ns = numbered.record.time_ns;
        let arrival_ns = time_ns - *self.first_ns.get_or_insert(time_ns);
        if arrival_ns > TIME_MAX_NS {
            return Err(self.too_late(numbered, arrival_ns));
        }
        self.at_first += u64::from(arrival_ns == 0);
        self.requests += 1;
        Ok(arrival_ns)
    }

    /// Returns the request of a record that arrives at this time.
    ///
    /// The check of the time is not part of this function, which then needs no `Result`. A request would be copied out of a `Result` in
    /// pieces that the processor waits for.
    #[inline]
    fn request(&self, record: &TraceRecord, arrival_ns: u64) -> Request {
        Request {
            arrival_ns,
            // A flush has no place.
            offset_bytes: if record.kind == OpKind::Flush { 0 } else { self.layout.offset_bytes(record.device, record.offset_bytes) },
            length_bytes: record.length_bytes,
            kind: record.kind,
            fua: record.fua,
            zeroes: record.zeroes,
            high_priority: false,
            stream: 0,
            contiguous_on_one_member: false,
        }
    }

    #[cold]
    fn too_late(&self, numbered: &NumberedRecord, arrival_ns: u64) -> SourceError {
        SourceError::InvalidInput(format!(
            "{}: a request comes {} years after the first one, but simulated time ends after 146 years (2^62 ns); is the unit right? \
             time_unit overrules it",
            self.records.filter().place(numbered),
            arrival_ns / 31_557_600_000_000_000
        ))
    }

    /// Returns the share of the file that was read so far, from 0 to 1. Bytes are counted as the file holds them, before any
    /// decompression. The result is `None` if the length of the file is unknown.
    #[must_use]
    pub fn progress(&self) -> Option<f64> {
        self.records.filter().progress()
    }

    /// Returns the number of bytes from address 0 to the end of the last device. The length of each device is rounded up to 1 MiB.
    ///
    /// The result is `None` unless opening the trace has laid its devices end to end, which takes a pass over the file.
    /// [`TraceSurvey::address_space_bytes`] has a value for every trace.
    #[must_use]
    pub fn address_space_bytes(&self) -> Option<u64> {
        self.layout.address_space_bytes()
    }
}

/// Returns a note if all requests of a trace have the same time.
fn burst_note(requests: u64, is_burst: bool) -> Option<String> {
    (is_burst && requests > 1).then(|| {
        format!(
            "times: all {requests} requests have the same time, so that they arrive at once; if the trace has lost its times, \
             `flashraid trace convert --rate` gives it others"
        )
    })
}

impl RequestSource for TraceReader {
    fn next_request(&mut self) -> Result<Option<Request>, SourceError> {
        self.last_returned.clear();
        self.records.append_next(&mut self.last_returned, 1)?;
        let Some(numbered) = self.last_returned.first().copied() else { return Ok(None) };
        let arrival_ns = self.arrival_ns(&numbered)?;
        Ok(Some(self.request(&numbered.record, arrival_ns)))
    }

    fn next_requests(&mut self, out: &mut Vec<Request>, n: usize) -> Result<usize, SourceError> {
        self.last_returned.clear();
        let read = self.records.append_next(&mut self.last_returned, n);
        for position in 0..self.last_returned.len() {
            let numbered = self.last_returned[position];
            match self.arrival_ns(&numbered) {
                Ok(arrival_ns) => out.push(self.request(&numbered.record, arrival_ns)),
                Err(error) => {
                    self.last_returned.truncate(position);
                    return Err(error);
                }
            }
        }
        read
    }

    fn progress(&self) -> Option<f64> {
        Self::progress(self)
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = self.format_properties().notes.clone();
        if self.bad_lines_skipped() > 0 {
            notes.push(format!("bad lines: {} were left out", self.bad_lines_skipped()));
        }
        notes.extend(burst_note(self.requests, self.format_properties().has_times && self.at_first == self.requests));
        notes
    }

    /// Returns an open loop. A trace without times is replayed one request after another instead.
    fn host_loop(&self) -> HostLoop {
        if self.format_properties().has_times { HostLoop::Open } else { HostLoop::Closed { depth: 1, think_ns: 0 } }
    }

    fn position_in_input(&self, requests_after: usize) -> Option<String> {
        let numbered = self.last_returned.iter().rev().nth(requests_after)?;
        Some(self.records.filter().place(numbered))
    }
}
