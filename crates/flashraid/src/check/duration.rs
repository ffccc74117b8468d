//! Estimates of the time that simulations will take.
//!
//! The amount of work is known in advance: pages of the warm-up, and pages that requests read and write. The speed is what `flashraid
//! bench` measures on one processor of a common machine. Machines differ by a factor of about two, so the estimate is good enough to decide
//! whether to wait.

use std::collections::{HashMap, HashSet};

use super::{FirstRequestsStatistics, first_requests, warm_up_pages};
use crate::config::Scenario;
use crate::resources::MachineResources;
use crate::warm_up::warm_up_key;
use flashraid_model::array::WarmUpPattern;
use flashraid_workload::Stop;

/// Number of pages that a warm-up overwrites per second.
const WARM_UP_PAGES_PER_S: f64 = 15e6;
/// Number of pages that a warm-up overwrites per second on drives with superblocks, whose units are moved one by one.
const WARM_UP_UNIT_PAGES_PER_S: f64 = 4e6;
/// Number of pages read and written per second by immediate members, which nothing can interfere with.
const PAGES_PER_S: f64 = 7e6;
/// Number of pages per second if dies advance step by step, because of preemption, coordination, parity or caches.
const PAGES_IN_STEPS_PER_S: f64 = 1.4e6;
/// Number of pages read and written per second by drives with superblocks.
const DRIVE_PAGES_PER_S: f64 = 0.7e6;
/// Number of requests that are examined in each workload.
const REQUESTS: u64 = 1000;
/// Maximum number of distinct workloads that are examined. All others are assumed to equal the last of them.
const SAMPLES_MAX: usize = 200;

/// Estimated time that the computer needs for simulations, in seconds of the wall clock (not of simulated time).
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct EstimatedWallClockSeconds {
    /// Time that the computer needs for the warm-up, in seconds of the wall clock; 0 if a saved state is loaded instead.
    pub warm_up: f64,
    /// Time that the computer needs for the run after the warm-up, in seconds of the wall clock; `None` if the number of requests is
    /// unknown.
    pub run: Option<f64>,
}

impl EstimatedWallClockSeconds {
    /// Returns the estimated times that the computer needs for the warm-up of `scenario` and for the run after it. They hold for one
    /// processor and are in seconds of the wall clock. `sample` describes the first requests of the workload. Without a sample, only the
    /// warm-up is estimated, and the time of the run is `None`.
    #[must_use]
    pub fn estimate(scenario: &Scenario, sample: Option<&FirstRequestsStatistics>) -> EstimatedWallClockSeconds {
        let has_superblocks = scenario.array.ssd.superblock.is_some();
        let (pages, speed) = match (scenario.warm_up.pattern, has_superblocks) {
            // The steady state takes no time.
            (WarmUpPattern::SteadyStateWithoutWrites, _) => (0, WARM_UP_PAGES_PER_S),
            (_, true) => (warm_up_pages(scenario), WARM_UP_UNIT_PAGES_PER_S),
            (_, false) => (warm_up_pages(scenario), WARM_UP_PAGES_PER_S),
        };
        let run = sample.and_then(|sample| {
            let by_time = scenario.run_limit.max_duration_ns.zip(sample.requests_per_s).map(|(ns, rate)| ns as f64 / 1e9 * rate);
            let requests =
                [scenario.run_limit.max_requests.map(|requests| requests as f64), by_time].into_iter().flatten().reduce(f64::min)?;
            let is_plain =
                scenario.array.coordination.is_none() && scenario.array.cache.is_none() && scenario.array.ssd.gc.preemption.is_none();
            let speed = match (has_superblocks, is_plain) {
                (true, _) => DRIVE_PAGES_PER_S,
                (false, true) => PAGES_PER_S,
                (false, false) => PAGES_IN_STEPS_PER_S,
            };
            Some(requests * (sample.pages_read_per_request + sample.pages_written_per_request) / speed)
        });
        EstimatedWallClockSeconds { warm_up: if scenario.warm_state.load_from.is_some() { 0.0 } else { pages as f64 / speed }, run }
    }

    /// Returns the estimate if `threads` threads do the warm-up, each of them for one member at a time. The time of the run stays the
    /// same.
    #[must_use]
    pub fn with_warm_up_threads(self, threads: usize) -> EstimatedWallClockSeconds {
        EstimatedWallClockSeconds { warm_up: self.warm_up / threads.max(1) as f64, ..self }
    }

    /// Returns the estimate for so many runs of the same requests, one after the other, that share the warm-up.
    #[must_use]
    pub fn with_runs(self, runs: usize) -> EstimatedWallClockSeconds {
        EstimatedWallClockSeconds { run: self.run.map(|run| run * runs as f64), ..self }
    }

    /// Returns the estimated time of warm-up and run together, in seconds of the wall clock. An unknown time of the run counts as 0.
    #[must_use]
    pub fn total_seconds(self) -> f64 {
        self.warm_up + self.run.unwrap_or(0.0)
    }
}

/// Estimator of the time that simulations take, in seconds of the wall clock. It remembers the workloads that it has examined, so that
/// none is read twice.
#[derive(Debug, Default)]
pub struct WallClockEstimator {
    samples: HashMap<String, Option<FirstRequestsStatistics>>,
    last: Option<FirstRequestsStatistics>,
}

impl WallClockEstimator {
    /// Returns the estimated time from the begin of the first simulation to the end of the last one, in seconds of the wall clock.
    /// `resources` says how many simulations run at a time, and with how many threads.
    ///
    /// Simulations that begin in the same state share their warm-up, which counts once. The first requests of the workloads are read to
    /// estimate the runs. If `stop` interrupts the reading, the estimated time of the runs is `None`.
    pub fn estimate_all(&mut self, simulations: &[&Scenario], resources: &MachineResources, stop: &Stop) -> EstimatedWallClockSeconds {
        let mut warm_ups = HashSet::new();
        let (mut warm_up, mut run) = (0.0, Some(0.0));
        for scenario in simulations {
            let seconds = EstimatedWallClockSeconds::estimate(scenario, self.sample(scenario, stop));
            if warm_ups.insert(format!("{} {}", scenario.seed, warm_up_key(scenario))) {
                warm_up += seconds.warm_up;
            }
            run = run.zip(seconds.run).map(|(sum, run)| sum + run);
        }
        let at_a_time = resources.simulations_at_once.clamp(1, simulations.len().max(1)) as f64;
        EstimatedWallClockSeconds { warm_up: warm_up / at_a_time, run: run.map(|run| run / at_a_time) }
            .with_warm_up_threads(resources.threads_per_simulation)
    }

    fn sample(&mut self, scenario: &Scenario, stop: &Stop) -> Option<&FirstRequestsStatistics> {
        // The number of pages of a request depends on these values.
        let array = (scenario.array.level, scenario.array.stripe_unit_pages, scenario.array.ssd.geometry.page_bytes);
        let key = format!("{:?} {:?} {array:?}", scenario.workload, scenario.run_limit);
        if !self.samples.contains_key(&key) {
            if self.samples.len() >= SAMPLES_MAX {
                return self.last.as_ref();
            }
            self.last = first_requests(scenario, REQUESTS, stop);
            self.samples.insert(key.clone(), self.last.clone());
        }
        self.samples[&key].as_ref()
    }
}

/// Returns a duration with about two digits: `40 s`, `3 min`.
#[must_use]
pub fn rounded_duration_text(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 1.0 => "less than 1 s".to_owned(),
        seconds if seconds < 10.0 => format!("{seconds:.0} s"),
        seconds if seconds < 100.0 => format!("{:.0} s", (seconds / 5.0).round() * 5.0),
        seconds if seconds < 5400.0 => format!("{:.0} min", seconds / 60.0),
        seconds => format!("{:.1} h", seconds / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_rounded() {
        let texts = [0.2, 3.4, 42.0, 180.0, 9000.0].map(rounded_duration_text);
        assert_eq!(texts, ["less than 1 s", "3 s", "40 s", "3 min", "2.5 h"]);
    }

    #[test]
    fn more_work_takes_longer_and_warm_ups_are_shared() {
        let scenario = |settings: &[(&str, &str)]| {
            let settings: Vec<(String, String)> = settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
            crate::config::scenario_from_toml("test", "[workload]\npreset = \"hpc-w\"\nrequests = 20000\n", &settings, None).unwrap()
        };
        let resources = |workers| MachineResources { simulations_at_once: workers, threads_per_simulation: 1, warm_state_cache: None };
        let (one, twice) = (scenario(&[]), scenario(&[("workload.requests", "40000")]));
        let of_all = |simulations: &[&Scenario], resources: MachineResources| {
            WallClockEstimator::default().estimate_all(simulations, &resources, &Stop::default())
        };
        let alone = of_all(&[&one], resources(1));
        let both = of_all(&[&one, &twice], resources(1));
        assert_eq!(both.warm_up, alone.warm_up);
        assert!((both.run.unwrap() / alone.run.unwrap() - 3.0).abs() < 0.01);
        assert_eq!(of_all(&[&one, &twice], resources(2)).run, both.run.map(|run| run / 2.0));
        let semi = scenario(&[("ssd.gc.preemption", "semi")]);
        assert!(of_all(&[&semi], resources(1)).run > alone.run);
        assert!(alone.warm_up > 1.0, "{alone:?}");
    }
}
