//! Measures the speed of the simulator on this machine. The work is fixed, at full size, and includes collection. It runs on one core
//! unless its name says otherwise. Lines on one core are measured by their processor time, which other programs change little.
//!
//! It is a separate crate because the minimal loop beside the simulator is fully optimised, as the simulator is. The program is not.

mod figures;
mod floor;
mod trace;
mod work;

pub use figures::*;
use floor::Floor;

use clap::ValueEnum;
use flashraid::config::{self, Scenario, workload_address_space};
use flashraid::driver::{Progress, RunLimit, RunOutcome, RunWatcher, simulate};
use flashraid::run::{RunError, peak_rss_bytes};
use flashraid_model::array::{Array, ArrayExecutionOptions};
use flashraid_model::metrics::{CompletedRequest, MetricsParams};
use flashraid_model::ssd::{ExactFastPaths, MemberCounters};
use flashraid_workload::{self as workload, RequestSource};
use rustix::time::{ClockId, clock_gettime};
use std::thread;
use std::time::Instant;

/// A part of the bench that can be measured alone; its name is the key of its figures in the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum Line {
    /// Large requests to eight SSDs
    Array,
    /// The same on two threads
    ArrayThreads,
    /// The same under reactive-inclusive coordination
    Coordinated,
    /// A mail server's requests to eight SSDs behind a write cache
    Lawc,
    /// Random writes of a page to one SSD
    Device,
    /// The same with semi-preemptive collection
    DeviceSemi,
    /// Random requests of a page to a simple NVMe drive
    Nvme,
    /// The same to a drive of today
    NvmeFull,
    /// Random writes of a page out of a trace of text
    Trace,
    /// Requests of a page to a RAID-5 of eight small SSDs
    Parity,
    /// Random requests of a page to a RAID-5 of eight drives of today
    ParityNvme,
    /// A mail server's requests to a RAID-5 behind a write cache
    Cached,
    /// A comparison of six schemes on a RAID-5 of eight drives of today
    Answer,
    /// A grid of small arrays on two workers
    Study,
    /// Filling an array and overwriting it twice
    WarmUp,
    /// Mapping and collection of `device` without time
    Floor,
}

/// Amount of work in a bench.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BenchSize {
    /// Requests to the array.
    pub array_requests: u64,
    /// Requests to the array with a write cache.
    pub lawc_requests: u64,
    /// Requests to the NVMe drive.
    pub nvme_requests: u64,
    /// Requests to the drive of today.
    pub nvme_full_requests: u64,
    /// Requests to the arrays with parity.
    pub parity_requests: u64,
    /// Requests of each point of the answer.
    pub answer_requests: u64,
    /// Seeds of the study, each with four points.
    pub study_seeds: u64,
    /// Requests to the device and to the floor.
    pub device_requests: u64,
    /// Requests of the trace.
    pub trace_requests: u64,
    /// Divisor of the number of dies; 1 is the full geometry.
    pub shrink: u32,
}

impl BenchSize {
    /// Size of a benchmark that takes a few minutes.
    pub const FULL: Self = Self {
        array_requests: 150_000,
        lawc_requests: 3_000_000,
        nvme_requests: 5_000_000,
        nvme_full_requests: 3_000_000,
        parity_requests: 500_000,
        answer_requests: 80_000,
        study_seeds: 16,
        device_requests: 20_000_000,
        trace_requests: 2_000_000,
        shrink: 1,
    };
    /// Size of a test that only shows that the benchmark works. It takes a few seconds.
    pub const SMOKE: Self = Self {
        array_requests: 200,
        lawc_requests: 2_000,
        nvme_requests: 5_000,
        nvme_full_requests: 5_000,
        parity_requests: 2_000,
        answer_requests: 100,
        study_seeds: 1,
        device_requests: 20_000,
        trace_requests: 5_000,
        shrink: 16,
    };
}

/// Arrays that record as every run does, on one thread.
const SETUP: ArrayExecutionOptions = ArrayExecutionOptions {
    worker_threads_max: 1,
    operations_per_worker_thread_min: None,
    records_member_utilisation: true,
    reports_destage_events: false,
    shortcuts: ExactFastPaths { computes_operation_ends_on_arrival: true, skips_operation_end_events: true },
};
/// Number of threads of `array_threads`, and of workers of `study`.
const TWO: usize = 2;

/// Measures the lines `only`, or all of them if it names none. Tells `report` the name of each before it begins.
///
/// # Errors
///
/// Fails only if a built-in configuration is wrong, which is a bug.
//
// It is not generic over `report`. The measured code would then be compiled for its caller, the program, which is not optimised.
pub fn run(size: BenchSize, only: &[Line], report: &mut dyn FnMut(&str)) -> Result<BenchReport, RunError> {
    let wants = |line: Line| only.is_empty() || only.contains(&line);
    let mut bench = BenchReport::default();
    if [Line::Array, Line::ArrayThreads, Line::Coordinated, Line::WarmUp].into_iter().any(wants) {
        arrays(size, &wants, report, &mut bench)?;
    }

    let device = self::scenario(work::DEVICE, &[], size)?;
    let requests = size.device_requests;
    if wants(Line::Device) {
        report("the device");
        let (seconds, totals) = warm_and_timed(&device, requests)?;
        bench.device = Some(DeviceSpeed::of(seconds, &totals, requests));
    }
    if wants(Line::DeviceSemi) {
        report("the device with semi-preemptive collection");
        let (seconds, _) = warm_and_timed(&self::scenario(work::DEVICE, work::SEMI, size)?, requests)?;
        bench.device_semi = Some(SemiSpeed::of(seconds, requests));
    }
    if wants(Line::Floor) {
        report("the floor");
        let seconds = Floor::new(&device.array).warm_and_time(requests);
        bench.floor = Some(FloorSpeed { requests_per_s: requests as f64 / seconds });
    }
    if wants(Line::Nvme) {
        report("the NVMe drive");
        let (seconds, _) = warm_and_timed(&self::scenario(work::NVME, &[], size)?, size.nvme_requests)?;
        bench.nvme = Some(NvmeSpeed::of(seconds, size.nvme_requests, believable::NVME_NS));
    }
    if wants(Line::NvmeFull) {
        report("the NVMe drive of today");
        let (seconds, _) = warm_and_timed(&self::scenario(work::NVME_FULL, &[], size)?, size.nvme_full_requests)?;
        bench.nvme_full = Some(NvmeSpeed::of(seconds, size.nvme_full_requests, believable::NVME_FULL_NS));
    }
    if wants(Line::Lawc) {
        report("the array with a write cache");
        let (seconds, totals) = warm_and_timed(&self::scenario(work::LAWC, &[], size)?, size.lawc_requests)?;
        bench.lawc = Some(Speed::of(seconds, &totals, size.lawc_requests));
    }
    let parity = size.parity_requests;
    if wants(Line::Parity) {
        report("the array with parity");
        let (seconds, totals) = warm_and_timed(&self::scenario(work::DEVICE, work::PARITY, size)?, parity)?;
        bench.parity = Some(Speed::of(seconds, &totals, parity));
    }
    if wants(Line::ParityNvme) {
        report("drives of today with parity");
        let seconds = started_and_timed(work::PARITY_NVME, parity)?;
        bench.parity_nvme = Some(RequestSpeed { requests_per_s: parity as f64 / seconds });
    }
    if wants(Line::Cached) {
        report("the array with parity and a write cache");
        let (seconds, totals) = warm_and_timed(&self::scenario(work::LAWC, work::CACHED, size)?, parity)?;
        bench.cached = Some(Speed::of(seconds, &totals, parity));
    }
    if wants(Line::Answer) {
        report("the answer");
        bench.answer = Some(AnswerSpeed { seconds: answer(size)? });
    }
    if wants(Line::Trace) {
        bench.trace = Some(trace::measure(size, report)?);
    }
    if wants(Line::Study) {
        report("the study on one worker");
        let (points, one_worker_s) = study(size, 1)?;
        report("the study on two workers");
        let (_, two_workers_s) = study(size, TWO)?;
        bench.study = Some(StudySpeed { points_per_s: points as f64 / two_workers_s, over_one_worker: one_worker_s / two_workers_s });
    }
    bench.compare();
    bench.peak_rss_bytes = peak_rss_bytes();
    Ok(bench)
}

/// Measures the lines that need a large array which has been warmed up.
fn arrays(size: BenchSize, wants: &dyn Fn(Line) -> bool, report: &mut dyn FnMut(&str), bench: &mut BenchReport) -> Result<(), RunError> {
    let scenario = self::scenario(work::ARRAY, &[], size)?;
    let pages = scenario.array.ssd.geometry.physical_pages() * u64::from(scenario.array.members);
    report("warming up the array");
    let mut array = Array::new(&scenario.array, scenario.seed, SETUP);
    let seconds = warm(&mut array, &scenario, 1)?;
    let memory_bytes: u64 = array.members().iter().map(|m| m.mapping().simulator_memory_bytes()).sum();
    bench.bytes_per_physical_page = Some(memory_bytes as f64 / pages as f64);

    let mut threads_array = None;
    if wants(Line::WarmUp) || wants(Line::ArrayThreads) {
        report("warming up the array on two threads");
        let mut array = Array::new(&scenario.array, scenario.seed, ArrayExecutionOptions { worker_threads_max: TWO, ..SETUP });
        let two_threads_seconds = warm(&mut array, &scenario, TWO)?;
        if wants(Line::WarmUp) {
            bench.warm_up = Some(WarmUpSpeed { pages, seconds, two_threads_seconds });
        }
        threads_array = Some(array).filter(|_| wants(Line::ArrayThreads));
    }
    let coordinated = self::scenario(work::ARRAY, work::COORDINATED, size)?;
    let coordinated_array = wants(Line::Coordinated).then(|| {
        let mappings = array.members().iter().map(|warm| warm.mapping().to_owned()).collect();
        SETUP.new_array_of_mappings(&coordinated.array, coordinated.seed, mappings)
    });
    if wants(Line::Array) {
        report("the array");
        let (seconds, totals) = timed(array, &scenario, size.array_requests)?;
        bench.array = Some(ArraySpeed::of(seconds, &totals, size.array_requests));
    }
    if let Some(array) = coordinated_array {
        report("the array, coordinated");
        let (seconds, totals) = timed(array, &coordinated, size.array_requests)?;
        bench.coordinated = Some(CoordinatedSpeed::of(seconds, &totals));
    }
    if let Some(array) = threads_array {
        report("the array on two threads");
        // The processor time of two threads says nothing of how long they take together.
        let begin = Instant::now();
        let (_, totals) = timed(array, &scenario, size.array_requests)?;
        let host_page_ops_per_s = totals.host_page_ops() as f64 / begin.elapsed().as_secs_f64();
        bench.array_threads = Some(ThreadsSpeed { threads: TWO, host_page_ops_per_s, over_one_thread: None });
    }
    Ok(())
}

/// Reads a built-in configuration with `settings` over it, with fewer dies if `size` says so.
fn scenario(text: &str, settings: &[(&str, &str)], size: BenchSize) -> Result<Scenario, RunError> {
    let settings: Vec<_> = settings.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
    let mut scenario =
        config::scenario_from_toml("bench", text, &settings, None).map_err(|problems| RunError::InvalidInput(problems.to_string()))?;
    let dies = &mut scenario.array.ssd.geometry.dies;
    *dies = (*dies / size.shrink).max(1);
    Ok(scenario)
}

/// Warms up the members on so many threads, and returns the seconds that it took.
fn warm(array: &mut Array, scenario: &Scenario, threads: usize) -> Result<f64, RunError> {
    let begin = Instant::now();
    let members = array.untimed_access().members();
    let share = members.len().div_ceil(threads);
    thread::scope(|scope| {
        let mut shares = members.chunks_mut(share);
        let own = shares.next();
        for members in shares {
            let run = move || members.iter_mut().for_each(|member| member.warm_up(2.0, scenario.seed));
            thread::Builder::new().spawn_scoped(scope, run).map_err(|error| RunError::Io(format!("no second thread: {error}")))?;
        }
        own.into_iter().flatten().for_each(|member| member.warm_up(2.0, scenario.seed));
        Ok(begin.elapsed().as_secs_f64())
    })
}

struct Unwatched;

impl RunWatcher for Unwatched {
    fn report_progress(&mut self, _: &Progress) -> bool {
        true
    }
    fn request_completed(&mut self, _: &CompletedRequest) {}
    fn wants_completed_requests(&self) -> bool {
        false
    }
}

fn timed(array: Array, scenario: &Scenario, requests: u64) -> Result<(f64, MemberCounters), RunError> {
    let source = workload::open_workload(&scenario.workload, scenario.seed, &workload_address_space(&scenario.array))?;
    let (seconds, outcome) = timed_from(array, source, requests)?;
    Ok((seconds, outcome.array.members().iter().map(|member| *member.counters()).sum()))
}

/// Runs so many requests of `source` and returns the seconds that they took.
fn timed_from(array: Array, source: Box<dyn RequestSource>, requests: u64) -> Result<(f64, RunOutcome), RunError> {
    let limit = RunLimit { max_requests: Some(requests), max_duration_ns: None };
    let begin = processor_seconds();
    let outcome = simulate(array, source, limit, &MetricsParams::default(), &mut Unwatched)?;
    Ok((processor_seconds() - begin, outcome))
}

/// Returns the seconds of processor time that this thread has taken. On a machine that others use, too, they say more than a clock does.
fn processor_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

fn warm_and_timed(scenario: &Scenario, requests: u64) -> Result<(f64, MemberCounters), RunError> {
    timed(warmed(scenario)?, scenario, requests)
}

fn warmed(scenario: &Scenario) -> Result<Array, RunError> {
    let mut array = Array::new(&scenario.array, scenario.seed, SETUP);
    warm(&mut array, scenario, 1)?;
    Ok(array)
}

/// Runs the drives of today with these settings, and returns the seconds of processor time from the start to the report.
fn started_and_timed(settings: &[(&str, &str)], requests: u64) -> Result<f64, RunError> {
    let invalid = |error: flashraid::Error| RunError::InvalidInput(error.to_string());
    let configured = || {
        let simulation = flashraid::Simulation::from_toml(work::NVME_FULL)?.set("workload.requests", requests)?;
        settings.iter().try_fold(simulation, |simulation, (key, value)| simulation.set(key, value))
    };
    let simulation = configured().map_err(invalid)?;
    let begin = processor_seconds();
    simulation.run().map_err(invalid)?;
    Ok(processor_seconds() - begin)
}

/// Compares six schemes, from the start to the last report. Returns the seconds of processor time.
fn answer(size: BenchSize) -> Result<f64, RunError> {
    const SCHEMES: [&str; 6] = ["local", "reactive-inclusive", "reactive-selective", "stagger", "windows", "ideal"];
    let of = |scheme: &&str| {
        let scheme = format!("{scheme:?}");
        let settings = [work::PARITY_NVME, work::ANSWER, &[("coordination.scheme", scheme.as_str())]].concat();
        started_and_timed(&settings, size.answer_requests)
    };
    SCHEMES.iter().map(of).sum()
}

/// Runs a grid of members and schemes with several seeds for each point. Returns the number of simulations and the seconds that they took.
fn study(size: BenchSize, workers: usize) -> Result<(usize, f64), RunError> {
    let study = || {
        flashraid::Study::from_toml(work::STUDY)?
            .vary("array.members", [2, 4])?
            .vary("coordination.scheme", ["local", "ideal"])?
            .seeds(size.study_seeds)
            .workers(workers)
            .run(&())
    };
    let begin = Instant::now();
    let result = study().map_err(|error| RunError::InvalidInput(error.to_string()))?;
    Ok((result.rows.len(), begin.elapsed().as_secs_f64()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_bench_runs_and_its_figures_are_sane() {
        let report = run(BenchSize::SMOKE, &[], &mut |_| {}).unwrap();
        let json = serde_json::to_value(&report).unwrap();
        for line in Line::value_variants() {
            let name = line.to_possible_value().unwrap();
            assert!(json.get(name.get_name()).is_some_and(serde_json::Value::is_object), "{line:?}");
        }
        // These names are the contract with whoever reads the document.
        for pointer in [
            "/array/host_page_ops_per_s",
            "/array/flash_page_ops_per_s",
            "/array/requests_per_s",
            "/device/requests_per_s",
            "/device/flash_page_ops_per_s",
            "/device/time_over_floor",
            "/warm_up/pages",
            "/warm_up/seconds",
            "/floor/requests_per_s",
            "/nvme_full/requests_per_s",
            "/parity/requests_per_s",
            "/parity_nvme/requests_per_s",
            "/cached/requests_per_s",
            "/answer/seconds",
            "/bytes_per_physical_page",
        ] {
            assert!(json.pointer(pointer).is_some_and(serde_json::Value::is_number), "{pointer}");
        }
        for (line, figures) in json.as_object().unwrap() {
            for figure in figures.as_object().into_iter().flat_map(|figures| figures.values()).chain(figures.as_number().map(|_| figures)) {
                assert!(figure.as_f64().unwrap() > 0.0, "{line}: {figures}");
            }
        }
        let array = report.array.unwrap().speed;
        assert!(array.flash_page_ops_per_s > array.host_page_ops_per_s, "collection is under way");
        let bytes = report.bytes_per_physical_page.unwrap();
        assert!(bytes > 7.0 && bytes <= 8.5, "{bytes}");
    }

    #[test]
    fn one_line_alone_has_only_its_own_figures() {
        let keys = |only: &[Line]| {
            let json = serde_json::to_value(run(BenchSize::SMOKE, only, &mut |_| {}).unwrap()).unwrap();
            json.as_object().unwrap().keys().cloned().collect::<Vec<_>>()
        };
        assert_eq!(keys(&[Line::Nvme]), ["nvme", "peak_rss_bytes"]);
        assert_eq!(keys(&[Line::Device, Line::Floor]), ["device", "floor", "peak_rss_bytes"]);
        assert_eq!(keys(&[Line::Coordinated]), ["coordinated", "bytes_per_physical_page", "peak_rss_bytes"]);
    }

    /// A changed preset must not change the measured work.
    #[test]
    fn the_work_names_no_preset() {
        let of_pools = ["footprint", "pool", "summary_page", "stop", "overwrites"].as_slice();
        let of_superblocks =
            ["footprint", "programs_at_once", "debt", "scale", "protected", "latency", "reads_ahead", "overwrites"].as_slice();
        let works = [work::ARRAY, work::DEVICE, work::LAWC, work::NVME, work::STUDY].map(|work| (work, of_pools));
        for (work, named) in works.into_iter().chain([(work::NVME_FULL, of_superblocks)]) {
            let keys = work.lines().filter(|line| !line.starts_with('#'));
            assert!(keys.clone().count() > 40 && keys.clone().all(|line| !line.contains("preset")), "{work}");
            for key in named {
                assert!(keys.clone().any(|line| line.contains(key)), "{key}");
            }
        }
    }
}
