//! A workload of one's own, from a trait rather than from a configuration: a log that is written from end to end, again and again,
//! and read at random where it has been written lately. `cargo run --release -p flashraid --example own_workload`

#![allow(clippy::print_stdout)]

use flashraid::config;
use flashraid::model::array::Array;
use flashraid::model::metrics::CompletedRequest;
use flashraid::model::rng::{self, Stream};
use flashraid::simulation::{Limit, Progress, Watch, simulate};
use flashraid::workload::{OpKind, Request, Source, SourceError};

/// The array, as in a file; its `[workload]` is not used.
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

// ANCHOR: source
/// A log in the first `log_bytes` of the array.
struct Log {
    log_bytes: u64,
    /// Where the next record goes.
    head: u64,
    now_ns: u64,
    random: Stream,
}

const RECORD_BYTES: u64 = 64 << 10;
const READ_BYTES: u64 = 4 << 10;
const MEAN_GAP_NS: f64 = 5e6;

impl Source for Log {
    fn next_request(&mut self) -> Result<Option<Request>, SourceError> {
        self.now_ns += (MEAN_GAP_NS * rng::exponential(&mut self.random)) as u64;
        let is_read = rng::happens(&mut self.random, 0.5);
        let (offset_bytes, length_bytes, direction) = if is_read {
            // Within the last 16 records.
            let back = (1 + rng::below(&mut self.random, 16 * RECORD_BYTES / READ_BYTES)) * READ_BYTES;
            ((self.head + self.log_bytes - back) % self.log_bytes, READ_BYTES, OpKind::Read)
        } else {
            let record = self.head;
            self.head = (self.head + RECORD_BYTES) % self.log_bytes;
            (record, RECORD_BYTES, OpKind::Write)
        };
        let arrival_ns = self.now_ns;
        Ok(Some(Request { arrival_ns, offset_bytes, length_bytes, kind: direction, high_priority: false, stream: 0, one_member: false }))
    }
}
// ANCHOR_END: source

// ANCHOR: watch
/// Counts reads that waited for a collection; whatever a report lacks can be measured in this way.
#[derive(Default)]
struct DelayedReads(u64);

impl Watch for DelayedReads {
    fn tick(&mut self, _progress: &Progress) -> bool {
        true
    }

    fn completed(&mut self, done: &CompletedRequest) {
        self.0 += u64::from(done.request.kind == OpKind::Read && done.gc_members_met > 0);
    }
}
// ANCHOR_END: watch

// ANCHOR: main
/// The 99th percentile of reads in ns, and how many of them waited for a collection.
fn measure(requests: u64) -> Result<(u64, u64), Box<dyn std::error::Error>> {
    let scenario = config::from_str("own_workload.rs", ARRAY, &[], Some(1)).map_err(|problems| format!("{problems:?}"))?;
    let mut array = Array::new(&scenario.array, scenario.seed);
    for member in array.members_to_warm_up() {
        member.warm_up(2.0, scenario.seed);
    }
    let capacity_bytes = config::address_space(&scenario.array).capacity_bytes;
    let log = Log {
        log_bytes: capacity_bytes / 2 / RECORD_BYTES * RECORD_BYTES,
        head: 0,
        now_ns: 0,
        random: rng::stream(scenario.seed, "log", 0),
    };

    let mut delayed = DelayedReads::default();
    let limit = Limit { requests: Some(requests), duration_ns: None };
    let outcome = simulate(array, Box::new(log), limit, &scenario.metrics, &mut delayed)?;

    outcome.array.verify()?;
    let measured = outcome.metrics.finish(outcome.end_ns);
    Ok((measured.response.read.quantile_ns(0.99).unwrap_or(0), delayed.0))
}
// ANCHOR_END: main

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (p99_ns, delayed) = measure(50_000)?;
    println!("reads: 99th percentile {} µs, {delayed} waited for a collection", p99_ns / 1000);
    Ok(())
}

#[test]
fn reads_wait_for_collections_and_a_repetition_measures_the_same() {
    let (p99_ns, delayed) = measure(5_000).unwrap();
    assert!(delayed > 0 && p99_ns > 1_000_000, "{p99_ns} ns, {delayed} reads");
    assert_eq!(measure(5_000).unwrap(), (p99_ns, delayed));
}
