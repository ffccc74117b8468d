//! Counterfactual pairs: the same requests and seed once more with one thing changed, which says what that thing causes.
//!
//! The parts of a response time (`time_us`) say where requests waited. They cannot say what would be gained without collection. A page
//! that collection moves keeps requests in a queue. The pace of collection withholds room in a buffer for which writes wait.

use std::path::PathBuf;

use crate::Error;
use crate::check::{CheckReport, is_read_only_once};
use crate::config::Scenario;
use crate::observer::{Observer, Progress, RunPhase};
use crate::report::Report;
pub use crate::report::{
    Because, Change, ChangeLeftOut, PairedDifference, PairedFigure, PairedFigures, WHY_THEY_DIFFER, WaitedAndCaused, WaitedAndCausedShares,
};
use crate::run::{self, RunError, RunSettings};
use crate::warm_up::SharedWarmUps;
use flashraid_driver::HostConduct;
use flashraid_workload::{HostLoop, RequestSource};

impl Change {
    /// Returns the reason why a run of `scenario` has no pair with this change, if that is known before the run.
    fn obstacle(self, scenario: &Scenario) -> Option<&'static str> {
        let array = &scenario.array;
        match self {
            Self::NoCollection if array.ssd.gc.collection_takes_no_time => {
                Some("collection takes no time in this run (coordination.scheme = \"ideal\")")
            }
            Self::NoParity if array.level.parity_strips() == 0 => Some("the level has no parity (array.level)"),
            Self::NoParity if array.cache.is_some() => Some("the write cache keeps parity of its own (cache.policy)"),
            Self::NoParity if !array.failures.is_empty() => Some("a member fails, and its data need parity (array.failure)"),
            Self::NoParity if array.chooses_source_of_each_read() => Some("reads use parity to avoid members (read.plan)"),
            _ => None,
        }
    }

    /// Returns the reason why this run has no pair with this change, if the run shows it.
    fn obstacle_in(self, report: &Report, host: HostLoop) -> Option<&'static str> {
        match (self, host) {
            (Self::ReadsAlone, _) if report.requests.write == 0 => Some("the run has no writes"),
            (Self::ReadsAlone, _) if report.requests.read == 0 => Some("the run has no reads"),
            (Self::ReadsAlone, HostLoop::Closed { .. }) => {
                Some("the load is a closed loop, which would have more reads outstanding instead of its writes")
            }
            (Self::OneAtATime, HostLoop::Closed { depth: 0 | 1, .. }) => Some("the load has one request at a time"),
            _ => None,
        }
    }

    /// Returns the scenario of the changed run.
    fn scenario(self, scenario: &Scenario) -> Scenario {
        let mut changed = if self == Self::NoCollection { scenario.with_ideal_coordination() } else { scenario.clone() };
        // The run as it is has saved its state, and windows are drawn of that run alone.
        changed.warm_state.save_to = None;
        changed.metrics.timeline_window = None;
        changed
    }

    fn conduct(self) -> HostConduct {
        match self {
            Self::ReadsAlone => HostConduct::ReadsAlone,
            Self::OneAtATime => HostConduct::OneAtATime,
            Self::NoCollection | Self::NoParity => HostConduct::AsGiven,
        }
    }
}

impl Because {
    fn add(&mut self, change: Change, pair: PairedDifference) {
        let place = match change {
            Change::NoCollection => &mut self.no_collection,
            Change::NoParity => &mut self.no_parity,
            Change::ReadsAlone => &mut self.reads_alone,
            Change::OneAtATime => &mut self.one_at_a_time,
        };
        *place = Some(pair);
    }

    fn leave_out(&mut self, change: Change, reason: &str) {
        self.left_out.push(ChangeLeftOut { change, reason: reason.to_owned() });
    }
}

/// Runs a scenario as it is, and with one thing changed, and returns the differences. Both runs have the same requests, seed and warm
/// state.
/// ```
/// # fn main() -> Result<(), flashraid::Error> {
/// use flashraid::counterfactual::{Change, counterfactual};
/// let scenario = flashraid::config::scenario_from_toml(
///     "example.toml",
///     "ssd.geometry = { dies = 1, blocks = 64, pages = 16 }\nworkload = { preset = \"hpc-w\", requests = 2000 }",
///     &[],
///     None,
/// )
/// .map_err(flashraid::Error::Config)?;
/// let pair = counterfactual(&scenario, Change::NoCollection)?;
/// let mean = pair.response_us.all.mean;
/// assert!(mean.difference.unwrap() > 0.0, "collection costs time");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Returns [`Error::UnusableInput`] with the reason if this run cannot have the change, for example without parity at a level that has
/// none. It also returns the errors of [`Simulation::run`](crate::Simulation::run).
pub fn counterfactual(scenario: &Scenario, change: Change) -> Result<PairedDifference, Error> {
    let report = run_with_pairs(scenario, &[change], PairSettings::default(), &mut ())?;
    let because = report.because.unwrap_or_default();
    match (because.pair(change), because.left_out.first()) {
        (Some(pair), _) => Ok(pair.clone()),
        (None, Some(left_out)) => {
            Err(Error::UnusableInput(format!("there is no pair of runs with {}: {}", change.label(), left_out.reason)))
        }
        (None, None) => Err(Error::StoppedBeforeFirstRequest),
    }
}

/// Settings of runs with pairs that are not part of the scenario.
#[derive(Default)]
pub(crate) struct PairSettings {
    pub(crate) cache: Option<crate::warm_state_cache::WarmStateCache>,
    pub(crate) threads: usize,
    pub(crate) checked: Option<CheckReport>,
    pub(crate) verify: bool,
}

/// Returns the changes that a run of `scenario` can have, as far as that is known before the run. Each takes a further run.
pub fn possible_changes(scenario: &Scenario) -> Vec<Change> {
    Change::ALL.into_iter().filter(|change| change.obstacle(scenario).is_none()).collect()
}

/// Runs a scenario, and then the same with each of the `changes` that it can have. The report is that of the first run, with the
/// differences. A run that is stopped has no differences.
pub(crate) fn run_with_pairs(
    scenario: &Scenario,
    changes: &[Change],
    settings: PairSettings,
    observer: &mut dyn Observer,
) -> Result<Report, RunError> {
    refuse_what_is_read_once(scenario)?;
    let PairSettings { cache, threads, checked, verify } = settings;
    let possible: Vec<(Change, Scenario)> =
        changes.iter().filter(|change| change.obstacle(scenario).is_none()).map(|change| (*change, change.scenario(scenario))).collect();
    let scenarios = std::iter::once(scenario).chain(possible.iter().map(|(_, changed)| changed));
    let warm_ups = SharedWarmUps::for_runs(scenarios).with_cache(cache).with_threads_per_run(threads);
    let mut stages = Stages { observer, stage: 0, stages: possible.len() + 1, requests_before: 0, requests: 0 };
    let unchanged = RunSettings { checked, verify, ..RunSettings::new(&warm_ups) };
    let (mut report, host) = run::run_and_host(scenario, unchanged, &mut stages)?;
    if report.partial {
        return Ok(report);
    }
    let mut because = Because::default();
    // A level without parity is no news to its user.
    let is_news = |change: &&Change| **change != Change::NoParity || scenario.array.level.parity_strips() > 0 || changes.len() == 1;
    for change in changes.iter().filter(is_news) {
        if let Some(reason) = change.obstacle(scenario) {
            because.leave_out(*change, reason);
        }
    }
    for (change, changed) in &possible {
        stages.next();
        if let Some(reason) = change.obstacle_in(&report, host) {
            because.leave_out(*change, reason);
            continue;
        }
        if because.stopped {
            because.leave_out(*change, STOPPED);
            continue;
        }
        match run_changed(*change, changed, &warm_ups, verify, &mut stages) {
            Ok(other) if !other.partial => because.add(*change, PairedDifference::new(*change, &report, &other)),
            Ok(_) | Err(RunError::StoppedBeforeFirstRequest) => {
                because.stopped = true;
                because.leave_out(*change, STOPPED);
            }
            Err(error) => return Err(error),
        }
    }
    report.because = Some(because);
    Ok(report)
}

/// Reason for pairs that the user did not wait for.
const STOPPED: &str = "it was stopped before its end";

/// Runs the changed scenario.
fn run_changed(
    change: Change,
    changed: &Scenario,
    warm_ups: &SharedWarmUps,
    verify: bool,
    observer: &mut dyn Observer,
) -> Result<Report, RunError> {
    // The check of the scenario as it is stands for all.
    let settings = RunSettings {
        checked: Some(crate::check::check_without_workload(changed)),
        verify,
        conduct: change.conduct(),
        keeps_parity: change != Change::NoParity,
        ..RunSettings::new(warm_ups)
    };
    run::run_with(changed, settings, observer)
}

/// Returns the path of a trace that can be read only once, so that no second run can have its requests.
pub fn input_read_once(scenario: &Scenario) -> Option<PathBuf> {
    is_read_only_once(scenario)
}

/// Returns an error if the requests can be read only once, so that no second run can have them.
pub fn refuse_what_is_read_once(scenario: &Scenario) -> Result<(), RunError> {
    input_read_once(scenario).map_or(Ok(()), |path| {
        Err(RunError::InvalidInput(format!(
            "`workload.path`: {} can be read only once, but a run with one thing changed needs the same requests again; write them to a file \
             (flashraid trace convert), or leave --because out",
            path.display()
        )))
    })
}

/// Refuses pairs for a caller's own source of requests, which can be read only once.
pub(crate) fn refuse_own_source(source: Option<&dyn RequestSource>) -> Result<(), Error> {
    match source {
        None => Ok(()),
        Some(_) => Err(Error::UnusableInput(
            "the requests come from a source that can be read only once, but a run with one thing changed needs the same requests again; \
             write them to a file and set workload.path"
                .to_owned(),
        )),
    }
}

/// Observer of several runs one after the other, which shows them to another observer as one.
struct Stages<'a> {
    observer: &'a mut dyn Observer,
    stage: usize,
    stages: usize,
    requests_before: u64,
    requests: u64,
}

impl Stages<'_> {
    fn next(&mut self) {
        self.stage += 1;
        self.requests_before += std::mem::take(&mut self.requests);
    }
}

impl Observer for Stages<'_> {
    fn note(&mut self, text: &str) {
        self.observer.note(text);
    }

    fn progress(&mut self, progress: &Progress) -> bool {
        self.requests = progress.requests_sent;
        let before = Progress { requests_sent: self.requests_before + progress.requests_sent, ..*progress };
        let share = |share: f64| (self.stage as f64 + share) / self.stages as f64;
        self.observer.progress(&match (self.stage, progress.phase) {
            (0, RunPhase::WarmUp) => *progress,
            // The state is there already, so that later warm-ups take no time worth showing.
            (_, RunPhase::WarmUp) => Progress { phase: RunPhase::Run, phase_fraction_done: Some(share(0.0)), ..before },
            (_, RunPhase::Run) => Progress { phase_fraction_done: progress.phase_fraction_done.map(share), ..before },
        })
    }

    fn stop_signal(&self) -> flashraid_workload::Stop {
        self.observer.stop_signal()
    }

    fn request_completed(&mut self, request: &crate::CompletedRequest) {
        if self.stage == 0 {
            self.observer.request_completed(request);
        }
    }

    fn victim_cleaned(&mut self, clean: &crate::VictimBlockCollection) {
        if self.stage == 0 {
            self.observer.victim_cleaned(clean);
        }
    }

    fn mapping_units_programmed(&mut self, units: u64) {
        if self.stage == 0 {
            self.observer.mapping_units_programmed(units);
        }
    }
}

#[cfg(test)]
mod tests;
