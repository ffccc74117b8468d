//! Writes response times as an interval log of HdrHistogram, for its plotters and its log processor.
//!
//! An interval has a histogram of reads (tag `read`) and one of writes (tag `write`). Empty histograms are left out, and values are
//! nanoseconds. The sum of all histograms gives the percentiles of the report.

use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use flashraid::CompletedRequest;
use flashraid_model::metrics::UnmeasuredStart;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, IntervalLogWriterError, Tag};

use crate::error::Outcome;
use crate::files::GrowingFile;
use crate::requests::counted_direction;

/// Significant digits of the histograms, as in reports.
const SIGNIFICANT_DIGITS: u8 = 3;
/// Greatest value that every implementation of HdrHistogram accepts.
const LONGEST_NS: u64 = i64::MAX as u64;
/// Nanoseconds of the unit of the column of greatest values, which people read.
const NS_PER_MS: u64 = 1_000_000;
/// Tags of the histograms, reads first.
const TAGS: [&str; 2] = ["read", "write"];

/// A log that grows while the simulation runs. If it is dropped without [`Log::finish`], nothing of it stays.
pub struct Log {
    out: GrowingFile,
    serializer: V2DeflateSerializer,
    skip: UnmeasuredStart,
    interval_ns: u64,
    /// Index of the current interval, from the begin of the run.
    interval: u64,
    /// Histograms of the interval's reads and writes.
    histograms: [Histogram<u64>; 2],
}

impl Log {
    /// Begins a log of the requests after `skip`. The length of intervals is rounded up to whole milliseconds, the unit in which the log
    /// writes them.
    ///
    /// # Errors
    ///
    /// Fails if the file can't be written.
    pub fn begin(path: &Path, interval_ns: u64, skip: UnmeasuredStart) -> Outcome<Log> {
        let histogram = || Histogram::new_with_bounds(1, LONGEST_NS, SIGNIFICANT_DIGITS).expect("constant bounds that the crate allows");
        let mut log = Log {
            out: GrowingFile::begin(path)?,
            serializer: V2DeflateSerializer::new(),
            skip,
            interval_ns: interval_ns.max(1).div_ceil(NS_PER_MS).saturating_mul(NS_PER_MS),
            interval: 0,
            histograms: [histogram(), histogram()],
        };
        log.header()?;
        Ok(log)
    }

    fn header(&mut self) -> Outcome {
        // Simulated time has no date, so the log has no start time.
        let mut builder = IntervalLogWriterBuilder::new();
        builder
            .add_comment("[Histogram log format version 1.3]")
            .add_comment(concat!("[Written by flashraid ", env!("CARGO_PKG_VERSION"), ": response times in nanoseconds]"))
            .with_start_time(UNIX_EPOCH)
            .with_base_time(UNIX_EPOCH)
            .with_max_value_divisor(NS_PER_MS as f64);
        let serializer = &mut self.serializer;
        self.out.add(|out| builder.begin_log_with(out, serializer).map(|_| ()))
    }

    /// Adds a completed request, which must not end before those added earlier.
    ///
    /// # Errors
    ///
    /// Fails if the file can't be written.
    pub fn add(&mut self, done: &CompletedRequest) -> Outcome {
        let CompletedRequest { arrival_ns, done_ns, .. } = done;
        let Some(direction) = counted_direction(done, self.skip) else { return Ok(()) };
        let interval = done_ns / self.interval_ns;
        if interval != self.interval {
            self.write_interval()?;
            self.interval = interval;
        }
        self.histograms[direction].saturating_record(done_ns - arrival_ns);
        Ok(())
    }

    fn write_interval(&mut self) -> Outcome {
        let from = Duration::from_nanos(self.interval * self.interval_ns);
        let Self { out, serializer, histograms, interval_ns, .. } = self;
        for (histogram, tag) in histograms.iter_mut().zip(TAGS).filter(|(histogram, _)| !histogram.is_empty()) {
            out.add(|out| {
                // The divisor of values is part of the header, but only this builder passes it to the lines.
                let mut line = Vec::new();
                IntervalLogWriterBuilder::new()
                    .with_max_value_divisor(NS_PER_MS as f64)
                    .begin_log_with(&mut line, serializer)
                    .map_err(IntervalLogWriterError::IoError)
                    .and_then(|mut log| log.write_histogram(histogram, from, Duration::from_nanos(*interval_ns), Tag::new(tag)))
                    .map_err(|error| io::Error::other(error.to_string()))?;
                let end_of_header = line.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
                out.write_all(&line[end_of_header..])
            })?;
            histogram.reset();
        }
        Ok(())
    }

    /// Writes the last interval, and gives the file its name.
    ///
    /// # Errors
    ///
    /// Fails if the file can't be written.
    pub fn finish(mut self) -> Outcome {
        self.write_interval()?;
        self.out.finish()
    }
}
