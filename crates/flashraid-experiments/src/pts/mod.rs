//! Three tests of steady state by the Performance Test Specification of SNIA (PTS 2.0), on a simulated drive.
//!
//! ```text
//!  Test ─▶ Setup ─▶ simulation, with Requests as its source and Watch as its observer ─▶ Outcome
//!            └────▶ fio: the same for a real drive
//! ```
//!
//! A test runs in rounds until the figure that it tracks is steady. This module describes and judges tests. The caller runs the
//! simulations.

mod fio;
mod rounds;

use flashraid::config::ScaledDriveDimension;
use flashraid::{Error, Simulation};
use serde::Serialize;

use crate::card::cards;

pub use fio::job_file;
pub use rounds::{Requests, Watch, rounds};

/// Name and version of the document of a test.
pub const PTS_SCHEMA: &str = "flashraid.pts/1";

/// Number of consecutive rounds that steady state is judged by.
pub const WINDOW: usize = 5;
/// Largest range (greatest − least value) in the window at steady state, as a share of the mean.
pub const RANGE_MAX: f64 = 0.2;
/// Largest rise of the fitted line over the window at steady state, as a share of the mean.
pub const SLOPE_MAX: f64 = 0.1;
/// Time of a pattern in a round on the full drive, in nanoseconds. It is divided by the scale of the simulated drive.
const PATTERN_NS: u64 = 60_000_000_000;
/// Least number of times that the capacity must be written in `wsat` before the drive may count as steady. A fresh drive has even figures,
/// too.
const FILLS_BEFORE_STEADY: f64 = 2.0;

const KIB: u64 = 1024;

/// A test of the specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Test {
    /// Requests per second for 7 shares of reads and 8 sizes.
    Iops,
    /// Random writes from the first byte to saturation.
    Wsat,
    /// Response times of one request at a time.
    Latency,
}

/// Requests with one share of reads and one size, at random addresses that are multiples of the size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Pattern {
    /// Percent of the requests that read.
    pub read_percent: u8,
    /// Bytes of a request.
    pub block_bytes: u64,
}

impl Test {
    /// All tests of the specification that there are here.
    pub const ALL: [Test; 3] = [Test::Iops, Test::Wsat, Test::Latency];

    /// Returns the name that users write.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Test::Iops => "iops",
            Test::Wsat => "wsat",
            Test::Latency => "latency",
        }
    }

    /// Returns the patterns of a round, in order.
    #[must_use]
    pub fn patterns(self) -> Vec<Pattern> {
        let all = |shares: &[u8], sizes: &[u64]| {
            let of_share = |&read_percent: &u8| sizes.iter().map(move |&block_bytes| Pattern { read_percent, block_bytes });
            shares.iter().flat_map(of_share).collect()
        };
        match self {
            Test::Iops => {
                let sizes = [1024 * KIB, 128 * KIB, 64 * KIB, 32 * KIB, 16 * KIB, 8 * KIB, 4 * KIB, 512];
                all(&[100, 95, 65, 50, 35, 5, 0], &sizes)
            }
            Test::Wsat => all(&[0], &[4 * KIB]),
            Test::Latency => all(&[100, 65, 0], &[8 * KIB, 4 * KIB, 512]),
        }
    }

    /// Returns the pattern whose figure must become steady.
    #[must_use]
    pub fn tracked(self) -> Pattern {
        Pattern { read_percent: 0, block_bytes: 4 * KIB }
    }

    /// Returns the number of outstanding requests.
    #[must_use]
    pub fn depth(self) -> u32 {
        match self {
            Test::Iops | Test::Wsat => 128,
            Test::Latency => 1,
        }
    }

    /// Returns true if twice the capacity is written in order before the first round.
    #[must_use]
    pub fn is_preconditioned(self) -> bool {
        self != Test::Wsat
    }

    /// Returns the largest number of rounds.
    #[must_use]
    pub fn rounds_max(self) -> u32 {
        match self {
            Test::Iops | Test::Latency => 25,
            Test::Wsat => 600,
        }
    }

    /// Returns the name of the figure that must become steady.
    #[must_use]
    pub fn tracks(self) -> &'static str {
        match self {
            Test::Iops | Test::Wsat => "IOPS",
            Test::Latency => "mean response time in µs",
        }
    }
}

/// A test, its drive, and its limits.
#[derive(Debug, Clone, PartialEq)]
pub struct Setup {
    /// Test to run on the drive.
    pub test: Test,
    /// Name of the drive's preset.
    pub drive: String,
    /// Keys and values that replace the preset's.
    pub settings: Vec<(String, String)>,
    /// Largest number of rounds, at least [`WINDOW`].
    pub rounds_max: u32,
    /// Seed of all random numbers.
    pub seed: u64,
}

impl Setup {
    /// Returns the simulation, which begins with an empty drive. The caller adds the requests.
    ///
    /// # Errors
    ///
    /// Fails if there is no such preset, if the drive has no superblocks, or if settings are invalid.
    pub fn simulation(&self) -> Result<Simulation<'static>, Error> {
        // The workload of this configuration is replaced by the test's requests.
        let text = "array.level = \"single\"\n[workload]\nkind = \"synthetic\"\nread_fraction = 0\nsize = \"4KiB\"\narrivals = { process = \"closed\", depth = 1 }\n";
        let empty = [("ssd.warm_up.start", "fresh"), ("ssd.warm_up.overwrites", "0")];
        let with = |before: &[(&str, &str)]| {
            let preset = ("ssd.preset", self.drive.as_str());
            let own = self.settings.iter().map(|(key, value)| (key.as_str(), value.as_str()));
            let settings = [preset].into_iter().chain(before.iter().copied()).chain(own);
            let simulation =
                settings.into_iter().try_fold(Simulation::from_toml(text)?, |simulation, (key, value)| simulation.set(key, value))?;
            simulation.set("workload.requests", u64::MAX >> 1).map(|simulation| simulation.seed(self.seed))
        };
        if with(&[])?.scenario()?.config.ssd.scale_by != ScaledDriveDimension::Space {
            let message = "`ssd.scale_by` is \"width\", but these tests bring the load of a whole drive; scale it by \"space\"";
            return Err(Error::UnusableInput(message.to_owned()));
        }
        // The user did not write the keys that empty the drive. An error about them would confuse, so drives without superblocks are
        // refused here.
        if with(&[])?.scenario()?.array.ssd.superblock.is_none() {
            let drives: Vec<&str> = cards().iter().map(|card| card.drive.as_str()).collect();
            return Err(Error::UnusableInput(format!(
                "{} is a device with pools of blocks, which can't begin empty; these tests are for drives with superblocks, such as {}",
                self.drive,
                drives.join(", ")
            )));
        }
        with(&empty)
    }
}

/// Result of a test.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// Name and version of the document: [`PTS_SCHEMA`].
    pub schema: &'static str,
    /// Name of the test.
    pub test: &'static str,
    /// Name of the drive's preset.
    pub drive: String,
    /// Scale at which the drive was simulated.
    pub scale: u32,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Bytes that the simulated drive exports.
    pub capacity_bytes: u64,
    /// Number of outstanding requests.
    pub depth: u32,
    /// Least simulated time of a pattern in a round, in seconds.
    pub pattern_s: f64,
    /// Completed rounds, in order.
    pub rounds: Vec<Round>,
    /// Judgement of the tracked figure: steady or not, and in which rounds.
    pub steady: Steady,
    /// Figures of the last rounds together, by pattern. If steady state was reached, these are its rounds.
    pub window: Vec<Figures>,
    /// Response times of the tracked pattern in these rounds.
    pub histogram: Vec<Band>,
    /// True if the test was stopped before its end.
    pub partial: bool,
}

/// Results of a round of the test.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Round {
    /// Number of the round, from 1.
    pub round: u32,
    /// Begin of the round in seconds of simulated time.
    pub from_s: f64,
    /// Times that the host has written the capacity by the end of the round, preconditioning included.
    pub drive_fills: f64,
    /// Bytes programmed for each byte that the host wrote in the round, in whole units. `None` without writes.
    pub write_amplification: Option<f64>,
    /// Figures of the round's patterns, in order.
    pub patterns: Vec<Figures>,
}

/// Figures of one pattern.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figures {
    /// Share of reads and size of the requests.
    #[serde(flatten)]
    pub pattern: Pattern,
    /// Number of completed requests.
    pub requests: u64,
    /// Completed requests per second.
    pub iops: f64,
    /// Bandwidth, in MB/s (10^6).
    pub mb_s: f64,
    /// Mean response time, in microseconds.
    pub mean_us: Option<f64>,
    /// Median response time, in microseconds. `None` if fewer than ten requests took longer, as for the percentiles below.
    pub p50_us: Option<f64>,
    /// 99th percentile of the response time, in microseconds.
    pub p99_us: Option<f64>,
    /// 99.9th percentile of the response time, in microseconds.
    pub p99_9_us: Option<f64>,
    /// 99.99th percentile of the response time, in microseconds.
    pub p99_99_us: Option<f64>,
    /// 99.999th percentile of the response time, in microseconds.
    pub p99_999_us: Option<f64>,
    /// Longest response time, in microseconds.
    pub max_us: Option<f64>,
}

/// Number of requests that took at least `from_us`, and less than twice as long.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Band {
    /// Least response time, in microseconds.
    pub from_us: f64,
    /// Number of these requests.
    pub requests: u64,
    /// Share of these among all requests.
    pub share: f64,
}

/// Judgement of the tracked figure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Steady {
    /// True if the figure is steady.
    pub is_steady: bool,
    /// First round of the window. `None` if there are too few rounds, as for the fields below.
    pub from_round: Option<u32>,
    /// Last round of the window. If the figure is steady, it is the round of steady state.
    pub round: Option<u32>,
    /// Mean of the tracked figure in the window.
    pub mean: Option<f64>,
    /// Difference of the greatest and the least value, as a share of the mean.
    pub range: Option<f64>,
    /// Rise or fall of the fitted line over the window, as a share of the mean.
    pub slope: Option<f64>,
}

impl Steady {
    /// Judges the last rounds by their tracked figures. The first value is that of round 1.
    #[must_use]
    pub fn of(values: &[f64]) -> Steady {
        let Some(from) = values.len().checked_sub(WINDOW) else {
            return Steady { is_steady: false, from_round: None, round: None, mean: None, range: None, slope: None };
        };
        let window = &values[from..];
        let mean = window.iter().sum::<f64>() / WINDOW as f64;
        let (least, most) = window.iter().fold((f64::INFINITY, 0.0_f64), |(least, most), &value| (least.min(value), most.max(value)));
        // The line is fitted by least squares to the values at 0, 1, 2 …
        let middle = (WINDOW - 1) as f64 / 2.0;
        let offsets = (0..WINDOW).map(|at| at as f64 - middle);
        let squares: f64 = offsets.clone().map(|offset| offset * offset).sum();
        let rise = offsets.zip(window).map(|(offset, value)| offset * value).sum::<f64>() / squares * (WINDOW - 1) as f64;
        let share = |value: f64| if mean > 0.0 { value / mean } else { f64::MAX };
        let (range, slope) = (share(most - least), share(rise.abs()));
        Steady {
            is_steady: range <= RANGE_MAX && slope <= SLOPE_MAX,
            from_round: Some(from as u32 + 1),
            round: Some(values.len() as u32),
            mean: Some(mean),
            range: Some(range),
            slope: Some(slope),
        }
    }
}

#[cfg(test)]
mod tests;
