//! Time that the C library takes for the requests of a run, beside the run's own loop: `cargo bench -p flashraid-c`.
//!
//! Each case is measured in one process, by turns, and the shortest of several turns counts. The bench fails where the library takes more
//! than twice as long.

#![expect(unsafe_code, reason = "the functions are those that C calls")]
#![expect(clippy::print_stdout, reason = "the bench prints its figures")]

use std::collections::VecDeque;
use std::ffi::CString;
use std::process::ExitCode;
use std::time::Instant;

use flashraid::config::workload_address_space;
use flashraid::driver::{Progress, RunLimit, RunWatcher, simulate};
use flashraid::model::metrics::CompletedRequest;
use flashraid::warm_up::{SharedWarmUps, warmed_up_array};
use flashraid::{OpKind, Request, RequestSource, Simulation, SourceError, workload};
use flashraid_c::*;

/// Turns of each way.
const TURNS: usize = 5;
/// Time over that of the run's loop that is too much.
const BOUND: f64 = 2.0;

const CASES: &[(&str, &str)] = &[
    (
        "array, large requests",
        "array = { members = 8, stripe_unit = \"4KiB\" }\nssd.geometry = { dies = 16, blocks = 64, pages = 64 }\n\
         workload = { preset = \"hpc-w\", requests = 6000 }",
    ),
    (
        "device, pages",
        "array = { level = \"single\", members = 1 }\nssd.geometry = { dies = 16, blocks = 128, pages = 64 }\n\
         workload = { kind = \"synthetic\", requests = 400000, read_fraction = 0.0, size = \"4KiB\", arrivals = { process = \"poisson\", mean_gap = \"60us\" } }",
    ),
    (
        "device, pages, semi-preemptive",
        "array = { level = \"single\", members = 1 }\nssd.geometry = { dies = 16, blocks = 128, pages = 64 }\nssd.gc.preemption = \"semi\"\n\
         workload = { kind = \"synthetic\", requests = 200000, read_fraction = 0.3, size = \"4KiB\", arrivals = { process = \"poisson\", mean_gap = \"60us\" } }",
    ),
    (
        "raid5, pages",
        "array = { level = \"raid5\", members = 5, stripe_unit = \"16KiB\" }\nssd.geometry = { dies = 8, blocks = 64, pages = 64 }\n\
         workload = { kind = \"synthetic\", requests = 100000, read_fraction = 0.5, size = \"4KiB\", arrivals = { process = \"poisson\", mean_gap = \"60us\" } }",
    ),
];

fn main() -> ExitCode {
    let mut is_slow = false;
    println!("{:<34}{:>12}{:>14}{:>8}{:>14}{:>8}", "requests a second", "run", "C, a trace", "", "C, one by one", "");
    for (name, text) in CASES {
        let requests = requests(text);
        let ways: [fn(&str, &[Request]) -> f64; 3] = [of_run, of_trace, one_by_one];
        let mut shortest = [f64::INFINITY; 3];
        for _ in 0..TURNS {
            for (way, shortest) in ways.iter().zip(&mut shortest) {
                *shortest = shortest.min(way(text, &requests));
            }
        }
        let rate = |seconds: f64| requests.len() as f64 / seconds;
        let share = |seconds: f64| format!("{:.2}", shortest[0] / seconds);
        is_slow |= shortest[1..].iter().any(|seconds| *seconds > BOUND * shortest[0]);
        println!(
            "{name:<34}{:>12.0}{:>14.0}{:>8}{:>14.0}{:>8}",
            rate(shortest[0]),
            rate(shortest[1]),
            share(shortest[1]),
            rate(shortest[2]),
            share(shortest[2])
        );
    }
    if is_slow {
        println!("the library takes more than {BOUND} times as long as the run's loop");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// The requests that a run of this configuration sends.
fn requests(text: &str) -> Vec<Request> {
    let scenario = Simulation::from_toml(text).and_then(|simulation| simulation.scenario()).expect("a configuration of ours");
    let mut source =
        workload::open_workload(&scenario.workload, scenario.seed, &workload_address_space(&scenario.array)).expect("a workload of ours");
    let count = scenario.run_limit.max_requests.expect("the number of requests is given");
    (0..count).map_while(|_| source.next_request().expect("a generator goes on")).collect()
}

struct Given(VecDeque<Request>);

impl RequestSource for Given {
    fn next_request(&mut self) -> Result<Option<Request>, SourceError> {
        Ok(self.0.pop_front())
    }
}

/// Sums up what it sees, as a caller does with answers.
struct Sum(u64);

impl RunWatcher for Sum {
    fn report_progress(&mut self, _: &Progress) -> bool {
        true
    }

    fn request_completed(&mut self, request: &CompletedRequest) {
        self.0 += request.done_ns - request.arrival_ns;
    }
}

/// Seconds of the run's own loop.
fn of_run(text: &str, requests: &[Request]) -> f64 {
    let scenario = Simulation::from_toml(text).and_then(|simulation| simulation.scenario()).expect("a configuration of ours");
    let array = warmed_up_array(&scenario, &SharedWarmUps::default(), &mut ()).expect("a warm-up without files");
    let source = Box::new(Given(requests.iter().copied().collect()));
    let begin = Instant::now();
    let mut sum = Sum(0);
    simulate(array, source, RunLimit::default(), &scenario.metrics, &mut sum).expect("requests that fit");
    assert!(sum.0 > 0);
    begin.elapsed().as_secs_f64()
}

fn opened(text: &str) -> flashraid_device {
    let text = CString::new(text).expect("a text without zero bytes");
    // SAFETY: the text ends with a zero byte.
    let device = unsafe { flashraid_open(text.as_ptr()) };
    assert_ne!(device, 0);
    device
}

fn submit(device: flashraid_device, request: &Request, tag: u64) {
    let kind = if request.kind == OpKind::Read { FLASHRAID_READ } else { FLASHRAID_WRITE };
    let code = flashraid_submit(device, request.arrival_ns, kind, request.offset_bytes, request.length_bytes, 0, tag);
    assert_eq!(code, FLASHRAID_OK);
}

/// Takes answers until there are fewer than there is room for; adds up their response times.
fn advance(device: flashraid_device, until_ns: u64, answers: &mut [flashraid_answer], sum: &mut u64) -> usize {
    let mut all = 0;
    loop {
        // SAFETY: there is room for as many.
        let count = unsafe { flashraid_advance(device, until_ns, answers.as_mut_ptr(), answers.len()) };
        let count = usize::try_from(count).expect("a call that fits");
        *sum += answers[..count].iter().map(|answer| answer.done_ns - answer.arrival_ns).sum::<u64>();
        all += count;
        if count < answers.len() {
            return all;
        }
    }
}

/// Seconds of the library for a trace: some thousand requests, then what was done until the last of them.
fn of_trace(text: &str, requests: &[Request]) -> f64 {
    let device = opened(text);
    let mut answers = vec![flashraid_answer::default(); 4096];
    let begin = Instant::now();
    let (mut sum, mut done) = (0, 0);
    for chunk in requests.chunks(8192) {
        chunk.iter().for_each(|request| submit(device, request, 0));
        done += advance(device, chunk[chunk.len() - 1].arrival_ns, &mut answers, &mut sum);
    }
    done += advance(device, FLASHRAID_NEVER, &mut answers, &mut sum);
    let seconds = begin.elapsed().as_secs_f64();
    assert!(done == requests.len() && sum > 0);
    assert_eq!(flashraid_close(device), FLASHRAID_OK);
    seconds
}

/// Seconds of the library for a caller that looks at every answer before the next request.
fn one_by_one(text: &str, requests: &[Request]) -> f64 {
    let device = opened(text);
    let mut answers = vec![flashraid_answer::default(); 64];
    let begin = Instant::now();
    let (mut sum, mut done) = (0, 0);
    let mut last_ns = 0;
    for request in requests {
        if request.arrival_ns > last_ns {
            done += advance(device, request.arrival_ns - 1, &mut answers, &mut sum);
            last_ns = request.arrival_ns;
        }
        submit(device, request, 0);
    }
    done += advance(device, FLASHRAID_NEVER, &mut answers, &mut sum);
    let seconds = begin.elapsed().as_secs_f64();
    assert!(done == requests.len() && sum > 0);
    assert_eq!(flashraid_close(device), FLASHRAID_OK);
    seconds
}
