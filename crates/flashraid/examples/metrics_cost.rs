//! What measuring costs: nanoseconds per call of the metrics, by hand with `cargo run --release -p flashraid --example metrics_cost`.
#![expect(clippy::print_stdout, reason = "a program that prints its result")]

use std::time::Instant;

use flashraid::metrics::{CompletedRequest, GcInterval, Metrics, MetricsParams};
use flashraid::workload::{Direction, Request};

const CALLS: u64 = 20_000_000;

/// A cheap stream of numbers, so that the loop costs little beside what it measures (xorshift64).
fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

fn ns_per_call(calls: u64, mut call: impl FnMut(u64)) -> f64 {
    let begin = Instant::now();
    (0..calls).for_each(&mut call);
    begin.elapsed().as_nanos() as f64 / calls as f64
}

/// Requests 1 µs apart, responses from 64 µs up over six octaves, a fifth reads.
fn request(index: u64, random: u64) -> CompletedRequest {
    let arrival_ns = index * 1_000;
    let done_ns = arrival_ns + (65_536 << (random % 7)) + (random >> 48);
    let direction = if random.is_multiple_of(5) { Direction::Read } else { Direction::Write };
    let request = Request { arrival_ns, offset_bytes: random >> 20, length_bytes: 4096, direction, high_priority: false, stream: 0 };
    CompletedRequest { index, request, arrival_ns, done_ns, gc_members_met: (random >> 30 & 3) as u32 }
}

fn requests() {
    let mut state = 1;
    let mut sum = 0;
    let empty = ns_per_call(CALLS, |index| sum += std::hint::black_box(request(index, next(&mut state))).done_ns);
    let mut metrics = Metrics::new(&MetricsParams::default(), 8, 64);
    let full = ns_per_call(CALLS, |index| metrics.request(std::hint::black_box(&request(index, next(&mut state)))));
    let count = metrics.finish(CALLS * 1_000).response.all.moments().count();
    println!("request: {:.1} ns (loop alone {empty:.1}; {count} requests, {sum:x})", full - empty);
}

/// Collections of 12.7 ms, starts up to 2 ms ahead of the report, so dense that an element collects `share` of its time.
fn collections(members: u32, elements: u32, share: f64) {
    const LENGTH_NS: u64 = 12_700_000;
    let calls = CALLS / 4;
    let all = u64::from(members) * u64::from(elements);
    let gap_ns = (LENGTH_NS as f64 / (all as f64 * share)) as u64;
    let interval = |index: u64, random: u64| {
        // Elements in a scattered order in which each comes once per round.
        let element = (index * 0x9E37_79B1 % all) as u32;
        let start_ns = index * gap_ns + random % 2_000_000;
        GcInterval {
            member: element / elements,
            element: element % elements,
            start_ns,
            end_ns: start_ns + LENGTH_NS,
            victims: 1,
            pages_moved: 50,
            forced: false,
        }
    };
    let mut state = 1;
    let mut sum = 0;
    let empty = ns_per_call(calls, |index| sum += std::hint::black_box(interval(index, next(&mut state))).end_ns);
    let mut metrics = Metrics::new(&MetricsParams::default(), members, elements);
    let full = ns_per_call(calls, |index| {
        metrics.gc(std::hint::black_box(&interval(index, next(&mut state))));
        metrics.advance(index * gap_ns);
    });
    let activity = metrics.finish(calls * gap_ns).gc;
    println!(
        "gc {members} × {elements}: {:.1} ns (loop alone {empty:.1}; busy {:.3}, together {:.2}, {sum:x})",
        full - empty,
        activity.busy_fraction().unwrap_or(0.0),
        activity.synchronised_mean().unwrap_or(0.0)
    );
}

fn main() {
    requests();
    collections(8, 64, 0.3);
    collections(1, 8, 0.3);
    collections(128, 1024, 0.1);
    collections(128, 1024, 0.9);

    let mut state = 1;
    let mut metrics = Metrics::new(&MetricsParams::default(), 8, 64);
    let ns = ns_per_call(CALLS, |index| metrics.free_blocks((index % 8) as u32, index * 10_000, (next(&mut state) % 100) as u32, 102));
    println!("free_blocks: {ns:.1} ns ({} points)", metrics.finish(0).free_blocks[0].len());
}
