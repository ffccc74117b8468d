//! Results in the format of `fio --output-format=json+`, for the tools that read it.
//!
//! Response times are fio's completion latencies (`clat`). No request is submitted late, so submission latencies are 0, and total latencies
//! equal completion latencies. The bins are fio's own: 64 for each doubling, named by their middles.

use flashraid::CompletedRequest;
use flashraid::report::Report;
use flashraid_model::metrics::{Moments, UnmeasuredStart};
use serde_json::{Map, Value, json};

use crate::requests::counted_direction;

/// Logarithm of the number of fio's bins for each doubling.
const PLAT_BITS: u32 = 6;
/// Number of fio's bins, which come in groups of 64.
const PLAT_BINS: usize = 29 << PLAT_BITS;
/// Default percentiles of fio.
const PERCENTILES: [f64; 17] = [1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99];
/// Interval over which fio averages bandwidth and requests per second (`bwavgtime`), in nanoseconds.
const AVERAGE_NS: u64 = 500_000_000;
/// Version of fio that has this structure. Readers depend on it.
const FIO_VERSION: &str = "fio-3.36";
/// Upper ends of fio's coarse shares of latency, for each unit. The last group has no end.
const SHARES: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];

/// Records the data that fio's document has and a report has not.
#[derive(Debug, Clone)]
pub struct Recorder {
    skip: UnmeasuredStart,
    kinds: [Kind; 2],
    shares: [u64; 32],
}

#[derive(Debug, Clone)]
struct Kind {
    bins: Vec<u64>,
    response: Moments,
    bytes: u64,
    /// Index of the current interval of [`AVERAGE_NS`].
    stretch: u64,
    stretch_bytes: u64,
    stretch_requests: u64,
    bandwidth_kib_s: Moments,
    iops: Moments,
}

impl Default for Kind {
    fn default() -> Self {
        Self {
            bins: vec![0; PLAT_BINS],
            response: Moments::default(),
            bytes: 0,
            stretch: 0,
            stretch_bytes: 0,
            stretch_requests: 0,
            bandwidth_kib_s: Moments::default(),
            iops: Moments::default(),
        }
    }
}

/// Returns the bin of a latency, as fio's `plat_val_to_idx` does.
fn bin_of(ns: u64) -> usize {
    let msb = 63 - (ns | 1).leading_zeros();
    if msb <= PLAT_BITS {
        return ns as usize;
    }
    let shift = msb - PLAT_BITS;
    let index = ((u64::from(shift) + 1) << PLAT_BITS) + ((ns >> shift) & ((1 << PLAT_BITS) - 1));
    (index as usize).min(PLAT_BINS - 1)
}

/// Returns the middle of a bin, as fio's `plat_idx_to_val` does.
fn middle_of(bin: usize) -> u64 {
    let bin = bin as u64;
    if bin < 2 << PLAT_BITS {
        return bin;
    }
    let shift = (bin >> PLAT_BITS) - 1;
    let base = 1 << (shift + u64::from(PLAT_BITS));
    base + ((bin % (1 << PLAT_BITS)) << shift) + (1 << (shift - 1))
}

impl Recorder {
    /// Creates a recorder that counts the requests after `skip`, as the statistics of the run do.
    #[must_use]
    pub fn new(skip: UnmeasuredStart) -> Self {
        Self { skip, kinds: [Kind::default(), Kind::default()], shares: [0; 32] }
    }

    /// Records a completed request, if it counts.
    pub fn record(&mut self, done: &CompletedRequest) {
        let CompletedRequest { request, arrival_ns, done_ns, .. } = done;
        let Some(direction) = counted_direction(done, self.skip) else { return };
        let kind = &mut self.kinds[direction];
        let response_ns = done_ns - arrival_ns;
        kind.bins[bin_of(response_ns)] += 1;
        kind.response.record(response_ns);
        kind.bytes += request.length_bytes;
        kind.at(*done_ns / AVERAGE_NS);
        kind.stretch_bytes += request.length_bytes;
        kind.stretch_requests += 1;
        self.shares[share_of(response_ns)] += 1;
    }

    /// Returns the document of the run, which has one job of this name.
    #[must_use]
    pub fn document(mut self, report: &Report, job: &str) -> Value {
        let measured_ns = report.load_ns;
        let runtime_ms = measured_ns / 1_000_000;
        let sum = |of: fn(&Kind) -> u64| self.kinds.iter().map(of).sum::<u64>();
        let mean_bytes = sum(|kind| kind.bytes) / sum(|kind| kind.response.count()).max(1);
        let [read, write] = &mut self.kinds;
        let directions = [
            ("read", read.document(measured_ns, report.iops.read)),
            ("write", write.document(measured_ns, report.iops.write)),
            ("trim", Kind::default().document(measured_ns, None)),
        ];
        let mut result = Map::new();
        let mut add = |key: &str, value: Value| result.insert(key.to_owned(), value);
        add("jobname", json!(job));
        add("groupid", json!(0));
        add("error", json!(0));
        add("eta", json!(0));
        add("elapsed", json!(measured_ns.div_ceil(1_000_000_000)));
        add("job options", options(report, job, mean_bytes));
        for (name, document) in directions {
            add(name, document);
        }
        add("sync", json!({ "total_ios": 0, "lat_ns": latency(&Moments::default()) }));
        add("job_runtime", json!(runtime_ms));
        for key in ["usr_cpu", "sys_cpu"] {
            add(key, json!(0.0));
        }
        for key in ["ctx", "majf", "minf"] {
            add(key, json!(0));
        }
        let [ns, us, ms] = shares(&self.shares);
        add("latency_ns", ns);
        add("latency_us", us);
        add("latency_ms", ms);
        add("latency_depth", json!(depth(report).unwrap_or(1)));
        add("latency_target", json!(0));
        add("latency_percentile", json!(100.0));
        add("latency_window", json!(0));
        json!({
            "fio version": FIO_VERSION,
            "written by": format!("flashraid {}", report.version),
            "global options": { "ioengine": "flashraid", "randseed": report.seed.to_string() },
            "jobs": [result],
            "disk_util": [],
        })
    }
}

impl Kind {
    /// Goes on to an interval. Intervals without requests count as zero.
    fn at(&mut self, stretch: u64) {
        if self.response.count() == 1 {
            self.stretch = stretch;
        }
        while self.stretch < stretch {
            self.end_stretch();
            self.stretch += 1;
            if self.stretch + (1 << 20) < stretch {
                // After a very long pause, such as a week, its intervals are left out.
                self.stretch = stretch;
            }
        }
    }

    fn end_stretch(&mut self) {
        let per_second = |amount: u64| amount * (1_000_000_000 / AVERAGE_NS);
        self.bandwidth_kib_s.record(per_second(self.stretch_bytes) / 1024);
        self.iops.record(per_second(self.stretch_requests));
        (self.stretch_bytes, self.stretch_requests) = (0, 0);
    }

    /// Returns fio's object for a direction. `rate` is requests per second, with those that arrived before the measured time.
    fn document(&mut self, measured_ns: u64, rate: Option<f64>) -> Value {
        let requests = self.response.count();
        if self.iops.count() == 0 && requests > 0 {
            self.end_stretch();
        }
        let rate = rate.filter(|_| requests > 0).unwrap_or(0.0);
        let bytes_per_s = rate * self.bytes as f64 / requests.max(1) as f64;
        let mut clat = latency(&self.response);
        if requests > 0 {
            clat["percentile"] = PERCENTILES.iter().map(|percent| (format!("{percent:.6}"), json!(self.percentile(*percent)))).collect();
            // fio's converter (of this version) skips a direction that has no bins, but fails on an empty list.
            let used = self.bins.iter().enumerate().filter(|(_, count)| **count > 0);
            clat["bins"] = used.map(|(bin, count)| (middle_of(bin).to_string(), json!(count))).collect();
        }
        let (bw, iops) = (&self.bandwidth_kib_s, &self.iops);
        json!({
            "io_bytes": self.bytes,
            "io_kbytes": self.bytes / 1024,
            "bw_bytes": bytes_per_s as u64,
            "bw": (bytes_per_s / 1024.0) as u64,
            "iops": rate,
            "runtime": measured_ns / 1_000_000,
            "total_ios": requests,
            "short_ios": 0,
            "drop_ios": 0,
            "slat_ns": latency(&Moments::default()),
            "clat_ns": clat,
            "lat_ns": latency(&self.response),
            "bw_min": bw.min().unwrap_or(0),
            "bw_max": bw.max().unwrap_or(0),
            "bw_agg": if requests > 0 { 100.0 } else { 0.0 },
            "bw_mean": bw.mean().unwrap_or(0.0),
            "bw_dev": bw.stddev().unwrap_or(0.0),
            "bw_samples": bw.count(),
            "iops_min": iops.min().unwrap_or(0),
            "iops_max": iops.max().unwrap_or(0),
            "iops_mean": iops.mean().unwrap_or(0.0),
            "iops_stddev": iops.stddev().unwrap_or(0.0),
            "iops_samples": iops.count(),
        })
    }

    /// Returns a percentile as fio computes it: the bin in which this share of the requests is reached.
    fn percentile(&self, percent: f64) -> u64 {
        let wanted = percent / 100.0 * self.response.count() as f64;
        let mut counted = 0;
        let bin = self.bins.iter().position(|count| {
            counted += count;
            counted > 0 && counted as f64 >= wanted
        });
        bin.map_or(0, middle_of)
    }
}

fn latency(moments: &Moments) -> Value {
    json!({
        "min": moments.min().unwrap_or(0),
        "max": moments.max().unwrap_or(0),
        "mean": moments.mean().unwrap_or(0.0),
        "stddev": moments.stddev().unwrap_or(0.0),
        "N": moments.count(),
    })
}

/// Returns the index of a latency among fio's coarse shares: ten of nanoseconds, ten of microseconds, twelve of milliseconds.
fn share_of(ns: u64) -> usize {
    let within = |value: u64| SHARES.iter().position(|end| value < *end);
    if ns < 1000 {
        within(ns).unwrap_or(9)
    } else if ns < 1_000_000 {
        10 + within(ns / 1000).unwrap_or(9)
    } else {
        let ms = ns / 1_000_000;
        20 + within(ms).unwrap_or(if ms < 2000 { 10 } else { 11 })
    }
}

fn shares(counts: &[u64; 32]) -> [Value; 3] {
    let all: u64 = counts.iter().sum();
    let percent = |count: u64| if all == 0 { 0.0 } else { count as f64 * 100.0 / all as f64 };
    let names = |from: usize, more: &[&str]| -> Value {
        let names = SHARES.iter().map(u64::to_string).chain(more.iter().map(|name| (*name).to_owned()));
        names.enumerate().map(|(index, name)| (name, json!(percent(counts[from + index])))).collect()
    };
    [names(0, &[]), names(10, &[]), names(20, &["2000", ">=2000"])]
}

/// Returns the number of requests that a closed loop keeps outstanding.
fn depth(report: &Report) -> Option<u64> {
    report.config.pointer("/workload/arrivals/depth").and_then(Value::as_u64)
}

/// Returns the options of a job that readers of fio's output need. For requests of different sizes, the block size is their mean.
fn options(report: &Report, job: &str, mean_bytes: u64) -> Value {
    let mut options = Map::new();
    let mut add = |key: &str, value: String| options.insert(key.to_owned(), value.into());
    add("name", job.to_owned());
    add("ioengine", "flashraid".to_owned());
    let (read, write) = (report.requests.read, report.requests.write);
    add(
        "rw",
        if write == 0 {
            "randread"
        } else if read == 0 {
            "randwrite"
        } else {
            "randrw"
        }
        .to_owned(),
    );
    if read > 0 && write > 0 {
        add("rwmixread", (read * 100 / (read + write)).to_string());
    }
    add("bs", report.config.pointer("/workload/size").and_then(Value::as_str).map_or(mean_bytes.to_string(), ToOwned::to_owned));
    if let Some(depth) = depth(report) {
        add("iodepth", depth.to_string());
    }
    add("numjobs", "1".to_owned());
    Value::Object(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_those_of_fio() {
        // These values follow fio's stat.h: latencies of 0 to 127 are exact; then each doubling has 64 bins, named by their middles.
        assert_eq!([0, 63, 64, 127, 128, 129, 130, 255, 256].map(bin_of), [0, 63, 64, 127, 128, 128, 129, 191, 192]);
        assert_eq!([0, 127, 128, 129, 192].map(middle_of), [0, 127, 129, 131, 258]);
        for ns in (0..5000).chain([1_000_000, 123_456_789, 17_000_000_000]) {
            let (bin, middle) = (bin_of(ns), middle_of(bin_of(ns)));
            assert_eq!(bin_of(middle), bin, "{ns}");
            assert!(middle.abs_diff(ns) <= ns / 128 + 1, "{ns} {middle}");
        }
        assert_eq!(bin_of(u64::MAX), PLAT_BINS - 1);
    }

    #[test]
    fn shares_end_where_those_of_fio_do() {
        assert_eq!([0, 1, 2, 999, 1000, 1999, 2000, 999_999].map(share_of), [0, 0, 1, 9, 10, 10, 11, 19]);
        assert_eq!([1_000_000, 999_000_000, 1_000_000_000, 1_999_000_000, 2_000_000_000].map(share_of), [20, 29, 30, 30, 31]);
        let mut counts = [0; 32];
        counts[31] = 3;
        counts[0] = 1;
        let [ns, _, ms] = shares(&counts);
        assert_eq!((&ns["2"], &ms[">=2000"], &ms["2"]), (&json!(25.0), &json!(75.0), &json!(0.0)));
    }
}
