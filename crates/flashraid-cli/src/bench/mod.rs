//! Measures the speed of the simulator on this machine. The work is fixed, at full size, and includes collection. It runs on one core
//! unless its name says otherwise.

mod floor;
mod work;

use floor::Floor;

use flashraid::config::{self, Scenario, address_space};
use flashraid::driver::{Limit, Progress, Watch, simulate};
use flashraid::run::{RunError, peak_rss_bytes};
use flashraid_model::array::{Array, Setup};
use flashraid_model::metrics::{CompletedRequest, MetricsParams};
use flashraid_model::ssd::{MemberCounters, Shortcuts};
use flashraid_workload as workload;
use serde::Serialize;
use std::thread;
use std::time::Instant;

/// Results of `flashraid bench`: a field for each kind of work.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BenchReport {
    /// Large requests to eight SSDs in RAID-0, each of which collects on its own (GGC Table 8, write-dominated).
    pub array: Speed,
    /// `array` on two threads.
    pub array_threads: ThreadsSpeed,
    /// `array` under reactive-inclusive coordination.
    pub coordinated: CoordinatedSpeed,
    /// Random requests of a page to one simple NVMe drive, 70 % reads, closed loop of 64.
    pub nvme: NvmeSpeed,
    /// The same load on a drive of today: a write buffer, superpages, incremental collection, a controller with cores.
    pub nvme_full: NvmeSpeed,
    /// A grid of 64 small arrays on two workers.
    pub study: StudySpeed,
    /// Uniform random writes of a page to one SSD (PGC Table II), closed loop of 32.
    pub device: DeviceSpeed,
    /// `device` with semi-preemptive collection.
    pub device_semi: SemiSpeed,
    /// A mail server's requests to eight SSDs behind the write cache `lawc` (LAWC Tables 1 and 3).
    pub lawc: Speed,
    /// Filling the array and overwriting it twice.
    pub warm_up: WarmUpSpeed,
    /// The mapping and the collection of `device` without time.
    pub floor: FloorSpeed,
    /// Resident memory of the array per physical page.
    pub bytes_per_physical_page: f64,
    /// The most memory that the process has had resident, where the system tells.
    pub peak_rss_bytes: Option<u64>,
}

/// Speed of an array.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Speed {
    /// Pages read and programmed for the host, per second.
    pub host_page_ops_per_s: f64,
    /// All pages read and programmed, per second.
    pub flash_page_ops_per_s: f64,
    /// Requests simulated per second.
    pub requests_per_s: f64,
}

impl Speed {
    fn of(seconds: f64, totals: &MemberCounters, requests: u64) -> Self {
        Self {
            host_page_ops_per_s: totals.host_page_ops() as f64 / seconds,
            flash_page_ops_per_s: totals.flash_page_ops() as f64 / seconds,
            requests_per_s: requests as f64 / seconds,
        }
    }
}

/// Speed of an array on several threads.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ThreadsSpeed {
    /// Number of threads that simulate members.
    pub threads: usize,
    /// Pages read and programmed for the host, per second.
    pub host_page_ops_per_s: f64,
    /// The same as a multiple of that on one thread.
    pub over_one_thread: f64,
}

/// Speed of a coordinated array.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CoordinatedSpeed {
    /// Pages read and programmed for the host, per second.
    pub host_page_ops_per_s: f64,
    /// The same as a multiple of that of the array without coordination.
    pub over_array: f64,
}

/// Speed of an NVMe drive.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct NvmeSpeed {
    /// Requests simulated per second.
    pub requests_per_s: f64,
    /// The same as a multiple of that of the device.
    pub over_device: f64,
}

/// Speed of a study.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StudySpeed {
    /// Points on two workers, per second.
    pub points_per_s: f64,
    /// The same as a multiple of that on one worker.
    pub over_one_worker: f64,
}

/// Speed of a device.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DeviceSpeed {
    /// Requests simulated per second.
    pub requests_per_s: f64,
    /// All pages read and programmed, per second.
    pub flash_page_ops_per_s: f64,
    /// Time per request, as a multiple of the floor's.
    pub time_over_floor: f64,
}

/// Speed of a device with semi-preemptive collection.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SemiSpeed {
    /// Requests simulated per second.
    pub requests_per_s: f64,
    /// Time per request, as a multiple of the device's without preemption.
    pub time_over_device: f64,
}

/// Speed of the warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct WarmUpSpeed {
    /// Physical pages of the array.
    pub pages: u64,
    /// Time to fill it and to overwrite twice its capacity, on one thread.
    pub seconds: f64,
    /// The same on two threads.
    pub two_threads_seconds: f64,
}

/// Speed of the floor.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FloorSpeed {
    /// Requests per second, without time and queues.
    pub requests_per_s: f64,
}

/// Amount of work of a benchmark.
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
    /// Seeds of the study, each with four points.
    pub study_seeds: u64,
    /// Requests to the device and to the floor.
    pub device_requests: u64,
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
        study_seeds: 16,
        device_requests: 20_000_000,
        shrink: 1,
    };
    /// Size of a test that only shows that the benchmark works. It takes a few seconds.
    pub const SMOKE: Self = Self {
        array_requests: 200,
        lawc_requests: 2_000,
        nvme_requests: 5_000,
        nvme_full_requests: 5_000,
        study_seeds: 1,
        device_requests: 20_000,
        shrink: 16,
    };
}

/// Arrays that record as every run does, on one thread.
const SETUP: Setup = Setup {
    threads: 1,
    operations_per_thread: None,
    record_usage: true,
    record_destages: false,
    shortcuts: Shortcuts { immediate: true, collapsed: true },
};
/// Number of threads of `array_threads`, and of workers of `study`.
const TWO: usize = 2;

/// Runs all benchmarks, and tells `report` the name of each before it begins.
///
/// # Errors
///
/// Fails only if a built-in configuration is wrong, which is a bug.
pub fn run(size: BenchSize, mut report: impl FnMut(&str)) -> Result<BenchReport, RunError> {
    report("warming up the array");
    let scenario = self::scenario(work::ARRAY, &[], size)?;
    let mut array = Array::new(&scenario.array, scenario.seed, SETUP);
    let warm_up_s = warm(&mut array, &scenario, 1)?;
    let pages = scenario.array.ssd.geometry.physical_pages() * u64::from(scenario.array.members);
    let resident_bytes: u64 = array.members().iter().map(|m| m.space().resident_bytes()).sum();

    report("warming up the array on two threads");
    let mut threads_array = Array::new(&scenario.array, scenario.seed, Setup { threads: TWO, ..SETUP });
    let two_threads_s = warm(&mut threads_array, &scenario, TWO)?;
    let coordinated = self::scenario(work::ARRAY, work::COORDINATED, size)?;
    let mut coordinated_array = Array::new(&coordinated.array, coordinated.seed, SETUP);
    for (member, warm) in coordinated_array.untimed().members().iter_mut().zip(array.members()) {
        member.space_mut().copy_from(&warm.space());
    }

    report("the array");
    let (array_s, totals) = timed(array, &scenario, size.array_requests)?;
    let array = Speed::of(array_s, &totals, size.array_requests);

    report("the array, coordinated");
    let (coordinated_s, totals) = timed(coordinated_array, &coordinated, size.array_requests)?;
    let host_page_ops_per_s = totals.host_page_ops() as f64 / coordinated_s;
    let coordinated = CoordinatedSpeed { host_page_ops_per_s, over_array: host_page_ops_per_s / array.host_page_ops_per_s };

    report("the array on two threads");
    let (threads_s, totals) = timed(threads_array, &scenario, size.array_requests)?;
    let host_page_ops_per_s = totals.host_page_ops() as f64 / threads_s;
    let array_threads =
        ThreadsSpeed { threads: TWO, host_page_ops_per_s, over_one_thread: host_page_ops_per_s / array.host_page_ops_per_s };

    report("the device");
    let device_scenario = self::scenario(work::DEVICE, &[], size)?;
    let (device_s, totals) = warm_and_timed(&device_scenario, size.device_requests)?;
    let device_per_s = size.device_requests as f64 / device_s;

    report("the device with semi-preemptive collection");
    let (semi_s, _) = warm_and_timed(&self::scenario(work::DEVICE, work::SEMI, size)?, size.device_requests)?;

    report("the floor");
    let floor_s = Floor::new(&device_scenario.array).warm_and_time(size.device_requests);

    report("the NVMe drive");
    let (nvme_s, _) = warm_and_timed(&self::scenario(work::NVME, &[], size)?, size.nvme_requests)?;
    let nvme_per_s = size.nvme_requests as f64 / nvme_s;

    report("the NVMe drive of today");
    let (nvme_full_s, _) = warm_and_timed(&self::scenario(work::NVME_FULL, &[], size)?, size.nvme_full_requests)?;
    let nvme_full_per_s = size.nvme_full_requests as f64 / nvme_full_s;

    report("the array with a write cache");
    let (lawc_s, lawc_totals) = warm_and_timed(&self::scenario(work::LAWC, &[], size)?, size.lawc_requests)?;

    report("the study on one worker");
    let (points, one_worker_s) = study(size, 1)?;
    report("the study on two workers");
    let (_, two_workers_s) = study(size, TWO)?;

    Ok(BenchReport {
        array,
        array_threads,
        coordinated,
        nvme: NvmeSpeed { requests_per_s: nvme_per_s, over_device: nvme_per_s / device_per_s },
        nvme_full: NvmeSpeed { requests_per_s: nvme_full_per_s, over_device: nvme_full_per_s / device_per_s },
        study: StudySpeed { points_per_s: points as f64 / two_workers_s, over_one_worker: one_worker_s / two_workers_s },
        lawc: Speed::of(lawc_s, &lawc_totals, size.lawc_requests),
        device: DeviceSpeed {
            requests_per_s: device_per_s,
            flash_page_ops_per_s: totals.flash_page_ops() as f64 / device_s,
            time_over_floor: device_s / floor_s,
        },
        device_semi: SemiSpeed { requests_per_s: size.device_requests as f64 / semi_s, time_over_device: semi_s / device_s },
        warm_up: WarmUpSpeed { pages, seconds: warm_up_s, two_threads_seconds: two_threads_s },
        floor: FloorSpeed { requests_per_s: size.device_requests as f64 / floor_s },
        bytes_per_physical_page: resident_bytes as f64 / pages as f64,
        peak_rss_bytes: peak_rss_bytes(),
    })
}

/// Reads a built-in configuration with `settings` over it, with fewer dies if `size` says so.
fn scenario(text: &str, settings: &[(&str, &str)], size: BenchSize) -> Result<Scenario, RunError> {
    let settings: Vec<_> = settings.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
    let mut scenario = config::from_str("bench", text, &settings, None).map_err(|problems| RunError::Input(problems.to_string()))?;
    let dies = &mut scenario.array.ssd.geometry.dies;
    *dies = (*dies / size.shrink).max(1);
    Ok(scenario)
}

/// Warms up the members on so many threads, and returns the seconds that it took.
fn warm(array: &mut Array, scenario: &Scenario, threads: usize) -> Result<f64, RunError> {
    let begin = Instant::now();
    let members = array.untimed().members();
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

impl Watch for Unwatched {
    fn tick(&mut self, _: &Progress) -> bool {
        true
    }
    fn completed(&mut self, _: &CompletedRequest) {}
}

fn timed(array: Array, scenario: &Scenario, requests: u64) -> Result<(f64, MemberCounters), RunError> {
    let source = workload::open(&scenario.workload, scenario.seed, &address_space(&scenario.array))?;
    let limit = Limit { requests: Some(requests), duration_ns: None };
    let begin = Instant::now();
    let outcome = simulate(array, source, limit, &MetricsParams::default(), &mut Unwatched)?;
    Ok((begin.elapsed().as_secs_f64(), outcome.array.members().iter().map(|member| *member.counters()).sum()))
}

fn warm_and_timed(scenario: &Scenario, requests: u64) -> Result<(f64, MemberCounters), RunError> {
    let mut array = Array::new(&scenario.array, scenario.seed, SETUP);
    warm(&mut array, scenario, 1)?;
    timed(array, scenario, requests)
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
    let result = study().map_err(|error| RunError::Input(error.to_string()))?;
    Ok((result.rows.len(), begin.elapsed().as_secs_f64()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_bench_runs_and_its_figures_are_sane() {
        let report = run(BenchSize::SMOKE, |_| {}).unwrap();
        let json = serde_json::to_value(&report).unwrap();
        for (line, figures) in json.as_object().unwrap() {
            for figure in figures.as_object().into_iter().flat_map(|figures| figures.values()).chain(figures.as_number().map(|_| figures)) {
                assert!(figure.as_f64().unwrap() > 0.0, "{line}: {figures}");
            }
        }
        assert!(report.array.flash_page_ops_per_s > report.array.host_page_ops_per_s, "collection is under way");
        assert!(report.bytes_per_physical_page > 7.0 && report.bytes_per_physical_page <= 8.5, "{}", report.bytes_per_physical_page);
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
