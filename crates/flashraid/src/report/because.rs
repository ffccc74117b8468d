//! Differences between a run and the same requests with one thing changed, as the report shows them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BatchFigures, MeanResponseTimeByCause, Report, ResponseTime, ResponseTimeParts, TotalReadWrite};
use flashraid_model::metrics::confidence_interval::half_width_of_paired_batches;

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

    /// Returns true if there are writes in the changed run, so that figures of writes and of all requests can be compared.
    fn keeps_writes(self) -> bool {
        self != Self::ReadsAlone
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
