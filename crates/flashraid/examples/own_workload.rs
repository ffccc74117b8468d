//! A workload from a trait instead of a configuration: a log that is written from end to end, again and again. Reads go at random to the
//! part that was written last. `cargo run --release -p flashraid --example own_workload`

#![allow(clippy::print_stdout)]

use flashraid::model::rng::{self, RandomStream};
use flashraid::{CompletedRequest, Error, Observer, OpKind, Report, Request, RequestSource, Simulation, SourceError};

/// The array, as in a configuration file. Of its `[workload]`, only `requests` has an effect.
const ARRAY: &str = r#"
[array]
level = "raid0"
members = 4
stripe_unit = "16KiB"

[ssd]
preset = "ggc2014"

[ssd.geometry]
dies = 2
blocks = 128
"#;

/// A log in the first `log_bytes` of the array.
struct Log {
    log_bytes: u64,
    /// Address of the next record.
    head: u64,
    now_ns: u64,
    random: RandomStream,
}

const RECORD_BYTES: u64 = 64 << 10;
const READ_BYTES: u64 = 4 << 10;
const MEAN_GAP_NS: f64 = 5e6;

impl RequestSource for Log {
    fn next_request(&mut self) -> Result<Option<Request>, SourceError> {
        self.now_ns += (MEAN_GAP_NS * rng::exponential(&mut self.random)) as u64;
        let is_read = rng::chance(&mut self.random, 0.5);
        let (kind, offset_bytes, length_bytes) = if is_read {
            // Reads go to the last 16 records.
            let back = (1 + rng::below(&mut self.random, 16 * RECORD_BYTES / READ_BYTES)) * READ_BYTES;
            (OpKind::Read, (self.head + self.log_bytes - back) % self.log_bytes, READ_BYTES)
        } else {
            let record = self.head;
            self.head = (self.head + RECORD_BYTES) % self.log_bytes;
            (OpKind::Write, record, RECORD_BYTES)
        };
        Ok(Some(Request::new(kind, self.now_ns, offset_bytes, length_bytes)))
    }
}

/// Counts reads that waited for a collection. An observer like this can measure anything that a report lacks.
#[derive(Default)]
struct DelayedReads(u64);

impl Observer for DelayedReads {
    fn request_completed(&mut self, done: &CompletedRequest) {
        self.0 += u64::from(done.request.kind == OpKind::Read && done.gc_members_met > 0);
    }
}

/// Returns the report of the run, and the number of reads that waited for a collection.
fn measure(requests: u64) -> Result<(Report, u64), Error> {
    let seed = 1;
    let mut delayed = DelayedReads::default();
    let simulation = Simulation::from_toml(ARRAY)?.set("workload.requests", requests)?.seed(seed);
    let log = Log {
        log_bytes: simulation.capacity_bytes()? / 2 / RECORD_BYTES * RECORD_BYTES,
        head: 0,
        now_ns: 0,
        random: rng::stream(seed, "log", 0),
    };
    let report = simulation.source(log).observe(&mut delayed).run()?;
    Ok((report, delayed.0))
}

fn main() -> Result<(), Error> {
    let (report, delayed) = measure(50_000)?;
    let p99_us = report.response_us.read.p99.unwrap_or(0.0);
    println!("reads: 99th percentile {p99_us:.0} µs, {delayed} waited for a collection");
    Ok(())
}

#[test]
fn reads_wait_for_collections_and_a_repetition_measures_the_same() {
    let (report, delayed) = measure(5_000).unwrap();
    let p99_us = report.response_us.read.p99.unwrap();
    assert!(delayed > 0 && p99_us > 1_000.0, "{p99_us} µs, {delayed} reads");
    let (again, delayed_again) = measure(5_000).unwrap();
    assert_eq!((again.without_wall_clock(), delayed_again), (report.without_wall_clock(), delayed));
}
