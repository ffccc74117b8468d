//! Writes response times, bandwidth, and requests per second over time as fio's logs, for its plotters.
//!
//! A line has fio's format: `milliseconds, value, direction (0 read, 1 write), bytes of the request`.
//!
//! - `_lat.log`, `_clat.log` and `_slat.log` have a line for each request, in nanoseconds. No request is submitted late, so the first two
//!   are equal, and the third is 0.
//! - `_bw.log` (KiB/s) and `_iops.log` have a line for each interval and direction, with 0 bytes, as with `log_avg_msec`.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use flashraid::CompletedRequest;
use flashraid_model::metrics::UnmeasuredStart;

use crate::error::Outcome;
use crate::files::GrowingFile;
use crate::requests::counted_direction;

const NS_PER_MS: u64 = 1_000_000;

/// Logs that grow while the simulation runs. If they are dropped without [`Logs::finish`], nothing of them stays.
pub struct Logs {
    total: GrowingFile,
    completion: GrowingFile,
    submission: GrowingFile,
    bandwidth: GrowingFile,
    iops: GrowingFile,
    skip: UnmeasuredStart,
    interval_ms: u64,
    /// Index of the current interval, from the begin of the run.
    interval: u64,
    /// Requests and bytes of reads and of writes in the interval.
    done: [(u64, u64); 2],
    /// True for a direction that has had requests.
    seen: [bool; 2],
}

/// Returns the paths of the five logs with this prefix.
pub fn paths(prefix: &Path) -> [PathBuf; 5] {
    ["lat", "clat", "slat", "bw", "iops"].map(|name| {
        let mut path = prefix.as_os_str().to_owned();
        path.push(format!("_{name}.log"));
        PathBuf::from(path)
    })
}

fn line(log: &mut GrowingFile, ms: u64, value: u64, direction: usize, bytes: u64) -> Outcome {
    log.add(|out| writeln!(out, "{ms}, {value}, {direction}, {bytes}"))
}

impl Logs {
    /// Begins logs of the requests after `skip`, with names that begin with `prefix`. The length of intervals is rounded up to whole
    /// milliseconds.
    ///
    /// # Errors
    ///
    /// Fails if a file can't be written.
    pub fn begin(prefix: &Path, interval_ns: u64, skip: UnmeasuredStart) -> Outcome<Logs> {
        let [total, completion, submission, bandwidth, iops] = paths(prefix);
        Ok(Logs {
            total: GrowingFile::begin(&total)?,
            completion: GrowingFile::begin(&completion)?,
            submission: GrowingFile::begin(&submission)?,
            bandwidth: GrowingFile::begin(&bandwidth)?,
            iops: GrowingFile::begin(&iops)?,
            skip,
            interval_ms: interval_ns.max(1).div_ceil(NS_PER_MS),
            interval: 0,
            done: [(0, 0); 2],
            seen: [false; 2],
        })
    }

    /// Adds a completed request, which must not end before those added earlier.
    ///
    /// # Errors
    ///
    /// Fails if a file can't be written.
    pub fn add(&mut self, done: &CompletedRequest) -> Outcome {
        let CompletedRequest { request, arrival_ns, done_ns, .. } = done;
        let Some(direction) = counted_direction(done, self.skip) else { return Ok(()) };
        let interval = done_ns / NS_PER_MS / self.interval_ms;
        if self.seen == [false; 2] {
            self.interval = interval;
        }
        self.end_intervals(interval)?;
        self.seen[direction] = true;
        self.done[direction].0 += 1;
        self.done[direction].1 += request.length_bytes;
        let response_ns = done_ns - arrival_ns;
        for (log, ns) in [(&mut self.total, response_ns), (&mut self.completion, response_ns), (&mut self.submission, 0)] {
            line(log, done_ns / NS_PER_MS, ns, direction, request.length_bytes)?;
        }
        Ok(())
    }

    /// Writes the intervals before `until`. Those without requests are written too, unless a pause is longer than a thousand intervals.
    fn end_intervals(&mut self, until: u64) -> Outcome {
        const PAUSE_MAX: u64 = 1000;
        if until > self.interval + PAUSE_MAX {
            self.end_interval()?;
            self.interval = until;
        }
        while self.interval < until {
            self.end_interval()?;
            self.interval += 1;
        }
        Ok(())
    }

    fn end_interval(&mut self) -> Outcome {
        let end_ms = (self.interval + 1) * self.interval_ms;
        let per_second = |amount: u64| (u128::from(amount) * 1000 / u128::from(self.interval_ms)) as u64;
        for (direction, (requests, bytes)) in std::mem::take(&mut self.done).into_iter().enumerate() {
            if self.seen[direction] {
                line(&mut self.bandwidth, end_ms, per_second(bytes) / 1024, direction, 0)?;
                line(&mut self.iops, end_ms, per_second(requests), direction, 0)?;
            }
        }
        Ok(())
    }

    /// Writes the last interval, and gives the files their names.
    ///
    /// # Errors
    ///
    /// Fails if a file can't be written.
    pub fn finish(mut self) -> Outcome {
        if self.seen != [false; 2] {
            self.end_interval()?;
        }
        let mut logs = [self.total, self.completion, self.submission, self.bandwidth, self.iops];
        // Writing all buffers first shows a full disk before any file has its final name.
        logs.iter_mut().try_for_each(|log| log.add(BufWriter::flush))?;
        logs.into_iter().try_for_each(GrowingFile::finish)
    }
}
