//! Counterfactual pairs: the same requests and seed once more with one thing changed, which says what that thing causes.
//!
//! The parts of a response time (`time_us`) say where requests waited. They cannot say what would be gained without collection. A page
//! that collection moves keeps requests in a queue. The pace of collection withholds room in a buffer for which writes wait.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::check::{CheckReport, is_read_only_once};
use crate::config::Scenario;
use crate::observer::{Observer, Progress, RunPhase};
use crate::report::{BatchFigures, MeanResponseTimeByCause, Report, ResponseTime, ResponseTimeParts, TotalReadWrite};
use crate::run::{self, RunError, RunSettings};
use crate::warm_up::SharedWarmUps;
use flashraid_driver::HostConduct;
use flashraid_model::metrics::confidence_interval::half_width_of_paired_batches;
use flashraid_workload::{HostLoop, RequestSource};

/// Explains in one sentence why the shares of [`WaitedAndCaused`] differ.
pub const WHY_THEY_DIFFER: &str = "Waited is where requests were held up, caused is what goes away without it: a request behind a page that \
                                   collection moves waits in a queue, and a write waits for room that collection withholds, so that the two differ.";

/// The one thing that differs between two runs of the same requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Change {
    /// Collection takes no time, as with `coordination.scheme = "ideal"`.
    NoCollection,
    /// Writes leave parity as it is: they go to their data strips alone, without locks of stripes and without reads before them.
    NoParity,
    /// The host sends its reads at the same times, and nothing else. There are then no programs of the host, and no collection that they
    /// make necessary.
    ReadsAlone,
    /// The host sends a request at its time, or when the request before it is answered if that is later. Requests of the host then wait
    /// for no others.
    OneAtATime,
}

impl Change {
    /// All changes, in the order of tables.
    pub const ALL: [Change; 4] = [Self::NoCollection, Self::NoParity, Self::ReadsAlone, Self::OneAtATime];

    /// Returns the name in JSON documents.
    #[must_use]
    pub fn json_name(self) -> &'static str {
        match self {
            Self::NoCollection => "no_collection",
            Self::NoParity => "no_parity",
            Self::ReadsAlone => "reads_alone",
            Self::OneAtATime => "one_at_a_time",
        }
    }

    /// Returns the name for people.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::NoCollection => "no collection",
            Self::NoParity => "no parity",
            Self::ReadsAlone => "reads alone",
            Self::OneAtATime => "one at a time",
        }
    }

    /// Returns the part of `time_us` that has the same name as what the change takes away, if there is one.
    #[must_use]
    pub fn part_of_time(self) -> Option<&'static str> {
        match self {
            Self::NoCollection => Some("collection"),
            Self::NoParity => Some("parity"),
            Self::OneAtATime => Some("queue"),
            Self::ReadsAlone => None,
        }
    }

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

    /// Returns true if there are writes in the changed run, so that figures of writes and of all requests can be compared.
    fn keeps_writes(self) -> bool {
        self != Self::ReadsAlone
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

/// Causes of the response times of a run: the same requests and seed once more with one thing changed. Each changed run has its own
/// entry, which is left out if there was no such run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Because {
    /// Differences to the same run in which collection takes no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_collection: Option<PairedDifference>,
    /// Differences to the same run in which writes leave parity as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_parity: Option<PairedDifference>,
    /// Differences to the same run with nothing but its reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads_alone: Option<PairedDifference>,
    /// Differences to the same run with one request at a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub one_at_a_time: Option<PairedDifference>,
    /// Changes that were not tried, each with its reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<ChangeLeftOut>,
    /// True if the user stopped the changed runs. The report itself is complete.
    pub stopped: bool,
}

/// A change that was not tried, with its reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ChangeLeftOut {
    /// The change that was not tried.
    pub change: Change,
    /// Reason why it was not tried, as part of a sentence.
    pub reason: String,
}

impl Because {
    /// Returns the changes that were tried, each with its differences.
    pub fn pairs(&self) -> impl Iterator<Item = (Change, &PairedDifference)> {
        Change::ALL.into_iter().filter_map(|change| Some((change, self.pair(change)?)))
    }

    /// Returns the differences to the run with this change, if it was tried.
    #[must_use]
    pub fn pair(&self, change: Change) -> Option<&PairedDifference> {
        match change {
            Change::NoCollection => self.no_collection.as_ref(),
            Change::NoParity => self.no_parity.as_ref(),
            Change::ReadsAlone => self.reads_alone.as_ref(),
            Change::OneAtATime => self.one_at_a_time.as_ref(),
        }
    }

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

/// Differences between a run and the same run with one thing changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct PairedDifference {
    /// Response times of both runs, in microseconds.
    pub response_us: TotalReadWrite<PairedFigures>,
    /// Shares of the mean response time that requests waited for, beside the shares that are caused. Left out for `reads_alone`, because no
    /// part of `time_us` stands for writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shares: Option<WaitedAndCausedShares>,
}

/// Mean and percentiles of both runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct PairedFigures {
    /// Mean response times of both runs.
    pub mean: PairedFigure,
    /// The 99th percentiles of both runs.
    pub p99: PairedFigure,
    /// The 99.9th percentiles of both runs.
    pub p99_9: PairedFigure,
}

/// A figure of a run, and of the same run with one thing changed.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct PairedFigure {
    /// Value in the run as it is; `None` without requests.
    pub as_is: Option<f64>,
    /// Value in the changed run; `None` without requests.
    pub without: Option<f64>,
    /// Value in the run as it is, minus the value in the changed run. It is what the changed thing costs.
    pub difference: Option<f64>,
    /// Half of the 95 % confidence interval of the difference, from the differences of ten batches of the same requests (Student's t).
    /// `None` if the batches are too short for the figure, or do not have the same requests.
    pub interval_half_width: Option<f64>,
}

impl PairedFigure {
    /// Returns the ratio of the changed run's figure to the figure of the run as it is, with half of its interval.
    #[must_use]
    pub fn ratio(&self) -> Option<(f64, Option<f64>)> {
        let as_is = self.as_is.filter(|value| *value > 0.0)?;
        Some((self.without? / as_is, self.interval_half_width.map(|half_width| half_width / as_is)))
    }
}

/// Shares of the mean response time of all requests and of the slowest: what they waited for, and what is caused.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct WaitedAndCausedShares {
    /// Shares of the mean of all requests.
    pub all: Option<WaitedAndCaused>,
    /// Shares of the mean of the slowest tenth of the requests of each run.
    pub slowest_10_percent: Option<WaitedAndCaused>,
    /// Shares of the mean of the slowest hundredth of the requests of each run.
    pub slowest_1_percent: Option<WaitedAndCaused>,
    /// Shares of the mean of the slowest thousandth of the requests of each run.
    pub slowest_0_1_percent: Option<WaitedAndCaused>,
}

impl WaitedAndCausedShares {
    /// Returns the shares with names of the groups for people, such as `slowest 1 %`.
    #[must_use]
    pub fn named(&self) -> [(&'static str, Option<WaitedAndCaused>); 4] {
        [
            ("all", self.all),
            ("slowest 10 %", self.slowest_10_percent),
            ("slowest 1 %", self.slowest_1_percent),
            ("slowest 0.1 %", self.slowest_0_1_percent),
        ]
    }
}

/// Share of a mean response time that requests waited for, and share that is caused.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct WaitedAndCaused {
    /// Share for which requests waited, from the part of `time_us` of the same name (`collection`, `parity` or `queue`).
    pub waited: f64,
    /// Share that goes away with the change. It is below zero if the changed run is slower.
    pub caused: f64,
}

impl PairedDifference {
    /// Compares a run with the same run in which one thing was changed.
    #[must_use]
    pub fn new(change: Change, as_is: &Report, without: &Report) -> Self {
        let figures = |own: &ResponseTime, other: &ResponseTime, batches: [&BatchFigures; 2]| PairedFigures {
            mean: paired(own.mean, other.mean, batches, |batches| batches.mean_us.iter().copied().collect()),
            p99: paired(own.p99, other.p99, batches, |batches| Some(batches.p99_us.to_vec())),
            p99_9: paired(own.p99_9, other.p99_9, batches, |batches| Some(batches.p99_9_us.to_vec())),
        };
        let (own, other) = (&as_is.response_us, &without.response_us);
        let nothing = PairedFigures { mean: PairedFigure::default(), p99: PairedFigure::default(), p99_9: PairedFigure::default() };
        let with_writes = |figures: PairedFigures| if change.keeps_writes() { figures } else { nothing };
        let response_us = TotalReadWrite {
            all: with_writes(figures(&own.all, &other.all, [as_is, without].map(|report| &report.batches.all))),
            read: figures(&own.read, &other.read, [as_is, without].map(|report| &report.batches.read)),
            write: with_writes(figures(&own.write, &other.write, [as_is, without].map(|report| &report.batches.write))),
            sync: None,
        };
        Self { response_us, shares: change.part_of_time().map(|part| shares(part, &as_is.time_us, &without.time_us)) }
    }
}

fn paired(
    as_is: Option<f64>,
    without: Option<f64>,
    batches: [&BatchFigures; 2],
    of: fn(&BatchFigures) -> Option<Vec<f64>>,
) -> PairedFigure {
    let difference = as_is.zip(without).map(|(as_is, without)| as_is - without);
    let [own, other] = batches;
    let has_same_requests = own.requests == other.requests;
    let half_width = difference.filter(|_| has_same_requests).and_then(|_| half_width_of_paired_batches(&of(own)?, &of(other)?));
    PairedFigure { as_is, without, difference, interval_half_width: half_width }
}

fn shares(part: &str, as_is: &ResponseTimeParts, without: &ResponseTimeParts) -> WaitedAndCausedShares {
    let share = |own: Option<MeanResponseTimeByCause>, other: Option<MeanResponseTimeByCause>| {
        let (own, other) = own.zip(other)?;
        let total = own.total();
        let waited = own.named_causes().into_iter().find(|(name, _)| *name == part).map_or(0.0, |(_, us)| us);
        (total > 0.0).then(|| WaitedAndCaused { waited: waited / total, caused: 1.0 - other.total() / total })
    };
    WaitedAndCausedShares {
        all: share(as_is.all, without.all),
        slowest_10_percent: share(as_is.slowest_10_percent, without.slowest_10_percent),
        slowest_1_percent: share(as_is.slowest_1_percent, without.slowest_1_percent),
        slowest_0_1_percent: share(as_is.slowest_0_1_percent, without.slowest_0_1_percent),
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
