//! Response times, bandwidth and requests per second over time as fio's logs, which its plotters read.
//!
//! Lines are fio's: `milliseconds, value, direction (0 read, 1 write), bytes of the request`. `_lat.log`, `_clat.log` and `_slat.log` have a
//! line for each request, in nanoseconds: nothing is submitted late, so that the first two are the same and the third is 0. `_bw.log`
//! (KiB/s) and `_iops.log` have one for each interval and direction, with 0 bytes, as with `log_avg_msec`.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use flashraid::CompletedRequest;
use flashraid_model::metrics::Skip;

use crate::error::Outcome;
use crate::files::GrowingFile;
use crate::requests::counted_direction;

const NS_PER_MS: u64 = 1_000_000;

/// The logs, which grow while the simulation runs; without [`Logs::finish`] nothing is left of them.
pub struct Logs {
    total: GrowingFile,
    completion: GrowingFile,
    submission: GrowingFile,
    bandwidth: GrowingFile,
    iops: GrowingFile,
    skip: Skip,
    interval_ms: u64,
    /// The interval under way, counted from the begin of the run.
    interval: u64,
    /// Requests and bytes of reads and writes in it.
    done: [(u64, u64); 2],
    /// Whether there have been any at all.
    seen: [bool; 2],
}

/// The files that logs of this prefix are.
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
    /// Begins the logs of what the statistics of a run count that skip its beginning so; the names of their files begin with `prefix`.
    /// Intervals are of this length, rounded up to whole milliseconds.
    ///
    /// # Errors
    /// A file can't be written.
    pub fn begin(prefix: &Path, interval_ns: u64, skip: Skip) -> Outcome<Logs> {
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

    /// Counts a request, which is done no earlier than those before.
    ///
    /// # Errors
    /// A file can't be written.
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

    /// Writes the intervals before this one; those without requests are written, too, as long as a pause is no longer than a thousand of them.
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

    /// Writes the rest and gives the files their names.
    ///
    /// # Errors
    /// A file can't be written.
    pub fn finish(mut self) -> Outcome {
        if self.seen != [false; 2] {
            self.end_interval()?;
        }
        let mut logs = [self.total, self.completion, self.submission, self.bandwidth, self.iops];
        // A disk that is full is noticed before the first of them has its name.
        logs.iter_mut().try_for_each(|log| log.add(BufWriter::flush))?;
        logs.into_iter().try_for_each(GrowingFile::finish)
    }
}
