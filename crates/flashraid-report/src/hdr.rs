//! Response times as an interval log of HdrHistogram, which its plotters and its log processor read.
//!
//! An interval has a histogram of reads (tag `read`) and one of writes (tag `write`), left out where there are none; values are nanoseconds.
//! All of them added up are the histograms that the report's percentiles come from.

use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use flashraid::CompletedRequest;
use flashraid_model::metrics::Skip;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, IntervalLogWriterError, Tag};

use crate::error::Outcome;
use crate::files::GrowingFile;
use crate::requests::counted_direction;

/// Significant digits of the histograms: those of the report's.
const SIGNIFICANT_DIGITS: u8 = 3;
/// The greatest value that every implementation of HdrHistogram takes.
const LONGEST_NS: u64 = i64::MAX as u64;
/// The column of greatest values, which is for people, is in milliseconds.
const NS_PER_MS: u64 = 1_000_000;
/// The tags, reads first.
const TAGS: [&str; 2] = ["read", "write"];

/// A log that grows while the simulation runs; without [`Log::finish`] nothing is left of it.
pub struct Log {
    out: GrowingFile,
    serializer: V2DeflateSerializer,
    skip: Skip,
    interval_ns: u64,
    /// The interval under way, counted from the begin of the run.
    interval: u64,
    /// Its reads and writes.
    histograms: [Histogram<u64>; 2],
}

impl Log {
    /// Begins a log with intervals of this length, rounded up to whole milliseconds as which they are written, of what the statistics of a run count that skip its beginning so.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn begin(path: &Path, interval_ns: u64, skip: Skip) -> Outcome<Log> {
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
        // Simulated time begins at no time of day.
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

    /// Counts a request, which is done no earlier than those before.
    ///
    /// # Errors
    /// The file can't be written.
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
                // The divisor is the header's; a builder that writes nothing else before the first line carries it.
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

    /// Writes the rest and gives the file its name.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn finish(mut self) -> Outcome {
        self.write_interval()?;
        self.out.finish()
    }
}
