//! Compares simulations with results of queueing theory and published analysis. Each check takes the simulation as a function, so that it
//! serves both the reference and the model.

use flashraid_model::flash::{Geometry, Timing};
use flashraid_model::placement::RaidLevel;
use flashraid_model::request::{OpKind, Request};
use flashraid_model::rng;
use flashraid_model::space::victim::{Fifo, Greedy};
use flashraid_model::ssd::{BlockPoolScope, GcPreemption, HostOverlapWithMoves, ProgramEraseSuspension, VictimPolicy};
use flashraid_model::units::{Duration, Fraction, TimePerByte};

use crate::adapter;
use crate::cases::{PAGE_BYTES, one_plane};
use crate::corners::check_conservation;
use crate::draw::draw_case;
use crate::outcome::{Case, Outcome};
use crate::reference;

type Simulate = fn(&Case) -> Outcome;

#[test]
#[ignore = "of the reference alone: make test-long"]
fn the_reference_meets_the_theory() {
    idle_latencies(reference::simulate);
    poisson_reads(reference::simulate, 2_000_000);
    for reserved_percent in [10, 28] {
        greedy_write_amplification(reference::simulate, 128, reserved_percent);
        fifo_write_amplification(reference::simulate, 128, reserved_percent);
    }
    reads_that_suspend_programs(reference::simulate, 60_000, 0.06);
    raid0_of_one_member(reference::simulate, 100);
    conservation(reference::simulate, 100);
}

#[test]
fn idle_latencies_are_exact() {
    idle_latencies(adapter::fast);
}

#[test]
fn poisson_reads_follow_md1() {
    poisson_reads(adapter::fast, 2_000_000);
}

#[test]
fn reads_wait_at_most_for_a_transfer_and_a_suspension() {
    reads_that_suspend_programs(adapter::fast, 1_000_000, 0.02);
}

#[test]
fn greedy_write_amplification_follows_desnoyers() {
    for reserved_percent in [7, 10, 15, 20, 28] {
        greedy_write_amplification(adapter::fast, 1024, reserved_percent);
    }
}

#[test]
fn fifo_write_amplification_follows_the_lru_form() {
    for reserved_percent in [7, 10, 15, 20, 28] {
        fifo_write_amplification(adapter::fast, 1024, reserved_percent);
    }
}

#[test]
fn raid0_of_one_member_is_that_member() {
    raid0_of_one_member(adapter::fast, 500);
}

#[test]
fn nothing_is_lost_or_done_twice() {
    conservation(adapter::fast, 500);
}

/// Sends requests that find an idle device with the timing of the reference simulator. Each takes exactly its command: a read 25 + 105.6
/// µs, and a write 105.6 + 200 µs. A write that fills a block takes 13.2 + 200 µs more.
/// Pages of one request on different dies overlap, on one die they follow each other.
fn idle_latencies(simulate: Simulate) {
    let mut case = one_plane();
    case.params.ssd.geometry.dies = 2;
    case.params.ssd.timing = Timing {
        page_read: Duration { ns: 25_000 },
        page_program: Duration { ns: 200_000 },
        block_erase: Duration { ns: 1_500_000 },
        page_transfer_ns: 105_600,
        block_summary_page_transfer_ns: 13_200,
        command_overhead: Duration { ns: 0 },
        transfer_per_byte: TimePerByte::default(),
        spare_bytes_per_sector: 0,
        spreads_summary_page_over_programs: false,
    };
    let ms = |number: u64| number * 1_000_000;
    let case = case.read(ms(0), 0, 1).read(ms(10), 0, 2).read(ms(20), 0, 3).write(ms(30), 0, 2).write(ms(40), 0, 3).write(ms(50), 1, 1);
    let outcome = simulate(&case);
    let (read, write, summary) = (130_600, 305_600, 213_200);
    let expected = [read, read, 2 * read, write, 2 * write + summary, write + summary];
    let latencies: Vec<u64> = outcome.requests.iter().map(|request| request.done_ns - request.arrival_ns).collect();
    assert_eq!(latencies, expected);
}

/// Poisson reads to one die are an M/D/1 queue: one server, service time `s` always the same, load `ρ = rate · s`.
///
/// Pollaczek and Khinchine give the mean wait `W = λ · E[S²] / (2 (1 − ρ))`, with `E[S²] = s²` hence `W = ρ s / (2 (1 − ρ))`.
fn poisson_reads(simulate: Simulate, requests: u64) {
    for (index, load) in [(1, 0.3), (2, 0.5), (3, 0.7)] {
        let mut case = one_plane();
        case.params.ssd.timing.page_read.ns = 99_992;
        let service_ns = 100_000.0;
        let pages = case.params.ssd.exported_pages();
        let mut gaps = rng::stream(1, "gaps", index);
        let mut addresses = rng::stream(1, "addresses", index);
        let mut now_ns = 0.0;
        for _ in 0..requests {
            now_ns += -libm::log(1.0 - rng::uniform(&mut gaps)) * service_ns / load;
            case.requests.push(page_request(now_ns as u64, rng::below(&mut addresses, pages), OpKind::Read));
        }
        let outcome = simulate(&case);
        let response_ns: f64 = outcome.requests.iter().map(|request| (request.done_ns - request.arrival_ns) as f64).sum();
        let wait_ns = response_ns / requests as f64 - service_ns;
        assert_close(&format!("mean wait at load {load}"), wait_ns, load * service_ns / (2.0 * (1.0 - load)), 0.01);
    }
}

/// Rare reads among Poisson writes to one die, where no block is collected. The die is in a transfer with probability `ρ x / (x + p)`,
/// for transfers of `x` and programs of `p`. A read then waits for the rest of it, which is uniform. Then, as in a program, it waits for
/// the suspension, but for no other write.
///
/// With `s` for suspension and read, and `f` for the probability of a transfer, a share `q` of the reads thus takes more than
/// `s + x (1 − q / f)`. (Reads that find another read are rarer than the tolerance.)
fn reads_that_suspend_programs(simulate: Simulate, writes: u64, tolerance: f64) {
    const SUSPEND_NS: u64 = 100_000;
    let (read_ns, transfer_ns, program_ns) = (25_000, 105_600, 200_000);
    for (index, load) in [(1, 0.3), (2, 0.5)] {
        let mut case = one_plane();
        let ssd = &mut case.params.ssd;
        (ssd.geometry.pages_per_block, ssd.geometry.has_summary_page) = (256, false);
        ssd.geometry.overprovisioned_blocks_per_plane = writes as u32 / 256 + 20;
        ssd.geometry.blocks_per_plane = ssd.geometry.overprovisioned_blocks_per_plane + 20;
        ssd.timing = Timing {
            page_read: Duration { ns: read_ns },
            page_program: Duration { ns: program_ns },
            block_erase: Duration { ns: 1_500_000 },
            page_transfer_ns: transfer_ns,
            block_summary_page_transfer_ns: 0,
            command_overhead: Duration { ns: 0 },
            transfer_per_byte: TimePerByte::default(),
            spare_bytes_per_sector: 0,
            spreads_summary_page_over_programs: false,
        };
        ssd.gc.preemption = Some(GcPreemption {
            poll: Duration { ns: 0 },
            t_hard: Fraction(0.0),
            pipeline: HostOverlapWithMoves::NoOverlap,
            merge: false,
            reorder: false,
            suspension: Some(ProgramEraseSuspension { suspend_ns: SUSPEND_NS, resume_ns: 0, suspensions_max: 10 }),
        });
        let pages = ssd.exported_pages();
        let service_ns = (transfer_ns + program_ns) as f64;
        let mut addresses = rng::stream(1, "addresses", index);
        let mut poisson = |label: &str, kind: OpKind, number: u64, mean_gap_ns: f64| -> Vec<Request> {
            let mut gaps = rng::stream(1, label, index);
            let mut now_ns = 0.0;
            let mut next = || {
                now_ns += -libm::log(1.0 - rng::uniform(&mut gaps)) * mean_gap_ns;
                page_request(now_ns as u64, rng::below(&mut addresses, pages), kind)
            };
            (0..number).map(|_| next()).collect()
        };
        case.requests = poisson("writes", OpKind::Write, writes, service_ns / load);
        case.requests.extend(poisson("reads", OpKind::Read, writes / 200, 200.0 * service_ns / load));
        case.requests.sort_by_key(|request| request.arrival_ns);
        let reads: Vec<usize> = (0..case.requests.len()).filter(|&index| case.requests[index].kind == OpKind::Read).collect();
        let outcome = simulate(&case);
        let latency = |index: &usize| outcome.requests[*index].done_ns - outcome.requests[*index].arrival_ns;
        let mut latencies: Vec<u64> = reads.iter().map(latency).collect();
        latencies.sort_unstable();
        let in_transfer = load * transfer_ns as f64 / service_ns;
        let slowest = 0.01;
        let found = latencies[latencies.len() - (slowest * latencies.len() as f64) as usize - 1];
        let expected = (SUSPEND_NS + read_ns + transfer_ns) as f64 + transfer_ns as f64 * (1.0 - slowest / in_transfer);
        assert_close(&format!("99th percentile at load {load}"), found as f64, expected, tolerance);
    }
}

/// Greedy under uniform random writes, after Desnoyers, "Analytic models of SSD write performance", ACM TOS 2014.
///
/// Let `T` blocks of `N` pages hold `U` valid pages. Each host write invalidates one of them, so a block with `j` valid pages loses one
/// with probability `j / U`. In the steady state, as many blocks pass from each level to the next below as are filled. That is `A / N`
/// blocks per host write, where `A` is the write amplification. Hence `A U / (N j)` blocks have `j` valid pages. Greedy cleans at the
/// lowest level: blocks live on the levels `N` down to some `X`. A block that falls from `X` is cleaned with `X − 1` pages to move, so
/// `A = N / (N − (X − 1))`. The levels add up to all blocks: `T = (A U / N) Σ 1/j`, `j` from `X` to `N`, about `ln((N + ½) / (X − ½))`.
/// With `α = T N / U`, solving for `X` gives `X = ½ − (N / α) · W(−β e^−β)`, `β = (1 + 1/(2N)) α`, `W` Lambert's.
///
/// `T` is the number of blocks among which greedy chooses. With one pool and `start = 1`, a clean comes when one block is free and one has
/// just been opened. All pages but one then lie in the other blocks: `T = blocks − 2`.
fn greedy_write_amplification(simulate: Simulate, blocks: u32, reserved_percent: u32) {
    let case = uniform_writes(Greedy {}.into(), blocks, reserved_percent);
    let pages = f64::from(case.params.ssd.geometry.pages_per_block);
    let alpha = f64::from(blocks - 2) / f64::from(case.params.ssd.geometry.exported_pages_per_die()) * pages;
    let beta = (1.0 + 0.5 / pages) * alpha;
    let lowest_level = 0.5 - pages / alpha * lambert_w(-beta * libm::exp(-beta));
    let expected = pages / (pages - (lowest_level - 1.0));
    let what = format!("greedy, {blocks} blocks, {reserved_percent} % reserved");
    assert_close(&what, write_amplification(&simulate(&case)), expected, 0.03);
}

/// First in, first out (Desnoyers' LRU) under uniform random writes.
///
/// A page stays valid through a turn of all `T` blocks with probability `x = (1 − 1/U)^(T N / A)`, about `e^(−α / A)`. A clean moves the
/// share `x` of a block, so `A = 1 / (1 − x)`. Together `x = e^(−α (1 − x))`, that is `A = α / (α + W(−α e^−α))`.
///
/// As for greedy, a clean comes when `blocks − 2` blocks are sealed, and the victim is the oldest. Pages that were moved into it came when
/// the clean before its filling began, and have lived through as many blocks. Pages that the host wrote are a share of `1 / A`. They came
/// half a block later on average: `T = blocks − 2 − 1 / (2 A)`.
fn fifo_write_amplification(simulate: Simulate, blocks: u32, reserved_percent: u32) {
    let case = uniform_writes(Fifo {}.into(), blocks, reserved_percent);
    let pages = f64::from(case.params.ssd.geometry.pages_per_block);
    let mut expected = 1.0;
    for _ in 0..100 {
        let turn = f64::from(blocks - 2) - 0.5 / expected;
        let alpha = turn / f64::from(case.params.ssd.geometry.exported_pages_per_die()) * pages;
        expected = alpha / (alpha + lambert_w(-alpha * libm::exp(-alpha)));
    }
    let what = format!("fifo, {blocks} blocks, {reserved_percent} % reserved");
    assert_close(&what, write_amplification(&simulate(&case)), expected, 0.03);
}

/// One pool of blocks of 64 pages, no summaries; single-page writes after a long warm-up.
fn uniform_writes(victim: VictimPolicy, blocks: u32, reserved_percent: u32) -> Case {
    let mut case = one_plane();
    let ssd = &mut case.params.ssd;
    ssd.geometry = Geometry {
        blocks_per_plane: blocks,
        pages_per_block: 64,
        overprovisioned_blocks_per_plane: blocks * reserved_percent / 100,
        has_summary_page: false,
        ..ssd.geometry
    };
    ssd.gc.rules.pool = BlockPoolScope::Die;
    ssd.gc.victim = victim;
    case.warm_up.overwrites_per_page = 4.0;
    let pages = case.params.ssd.exported_pages();
    let mut addresses = rng::stream(1, "addresses", 0);
    case.requests = (0..3 * pages).map(|n| page_request(n * 20_000, rng::below(&mut addresses, pages), OpKind::Write)).collect();
    case
}

fn page_request(arrival_ns: u64, page: u64, direction: OpKind) -> Request {
    let offset_bytes = page * PAGE_BYTES;
    Request {
        arrival_ns,
        offset_bytes,
        length_bytes: PAGE_BYTES,
        kind: direction,
        fua: false,
        zeroes: false,
        high_priority: false,
        stream: 0,
        contiguous_on_one_member: false,
    }
}

fn write_amplification(outcome: &Outcome) -> f64 {
    let counters = outcome.members[0].counters;
    (counters.host_pages_written + counters.gc_pages_moved) as f64 / counters.host_pages_written as f64
}

/// The principal branch on `[−1/e, 0)`, where `w e^w` grows from `w = −1` to 0.
fn lambert_w(z: f64) -> f64 {
    let (mut low, mut high) = (-1.0, 0.0);
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        if middle * libm::exp(middle) < z {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

fn raid0_of_one_member(simulate: Simulate, cases: u64) {
    for seed in 0..cases {
        let mut case = draw_case(seed);
        case.params.members = 1;
        let pages = reference::array_pages(&case.params) * PAGE_BYTES;
        case.requests.retain(|request| request.offset_bytes + request.length_bytes <= pages);
        case.params.level = RaidLevel::Single;
        let single = simulate(&case);
        case.params.level = RaidLevel::Raid0;
        assert_eq!(single.first_difference(&simulate(&case)), None, "case {seed}");
    }
}

fn conservation(simulate: Simulate, cases: u64) {
    for seed in 0..cases {
        let case = draw_case(seed);
        check_conservation(&case, &simulate(&case));
    }
}

fn assert_close(what: &str, found: f64, expected: f64, tolerance: f64) {
    let error = found / expected - 1.0;
    eprintln!("{what}: found {found:.4}, theory {expected:.4}, {:+.2} %", 100.0 * error);
    assert!(error.abs() <= tolerance, "{what}: found {found}, theory says {expected}, tolerance {tolerance}");
}
