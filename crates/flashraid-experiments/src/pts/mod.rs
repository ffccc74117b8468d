//! Steady state as drives are tested: three tests after the Performance Test Specification of SNIA (PTS 2.0), on a simulated drive.
//!
//! ```text
//!  Test ─▶ Setup ─▶ simulation, with Requests as its source and Watch as its observer ─▶ Outcome
//!            └────▶ fio: the same for a real drive
//! ```
//!
//! A test goes round by round until the figure that it tracks is steady. Like cards, tests are described and judged here and run elsewhere.

mod fio;
mod rounds;

use flashraid::config::ScaleBy;
use flashraid::{Error, Simulation};
use serde::Serialize;

use crate::card::cards;

pub use fio::job_file;
pub use rounds::{Requests, Watch, rounds};

/// Name and version of the document of a test.
pub const PTS_SCHEMA: &str = "flashraid.pts/1";

/// Rounds that are looked at together.
pub const WINDOW: usize = 5;
/// Greatest − least value of the window, as a share of its mean, in the steady state.
pub const RANGE_MAX: f64 = 0.2;
/// Rise of the fitted line over the window, as a share of the mean, in the steady state.
pub const SLOPE_MAX: f64 = 0.1;
/// A round lasts so long on the drive that is meant, for each pattern; divided by the scale of the simulated one.
const PATTERN_NS: u64 = 60_000_000_000;
/// How often the capacity has been written before a saturating drive may count as steady: a fresh one is even, too.
const FILLS_BEFORE_STEADY: f64 = 2.0;

const KIB: u64 = 1024;

/// A test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Test {
    /// Requests per second for 7 shares of reads and 8 sizes.
    Iops,
    /// Random writes from the first byte to saturation.
    Wsat,
    /// Response times of one request at a time.
    Latency,
}

/// Requests of one share of reads and one size, at random addresses that are multiples of the size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Pattern {
    /// Percent of the requests that read.
    pub read_percent: u8,
    /// Bytes of a request.
    pub block_bytes: u64,
}

impl Test {
    /// All of them.
    pub const ALL: [Test; 3] = [Test::Iops, Test::Wsat, Test::Latency];

    /// The name that users write.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Test::Iops => "iops",
            Test::Wsat => "wsat",
            Test::Latency => "latency",
        }
    }

    /// What a round has, in order.
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

    /// The pattern whose figure has to be steady.
    #[must_use]
    pub fn tracked(self) -> Pattern {
        Pattern { read_percent: 0, block_bytes: 4 * KIB }
    }

    /// Requests outstanding.
    #[must_use]
    pub fn depth(self) -> u32 {
        match self {
            Test::Iops | Test::Wsat => 128,
            Test::Latency => 1,
        }
    }

    /// Whether twice the capacity is written in order before the first round.
    #[must_use]
    pub fn is_preconditioned(self) -> bool {
        self != Test::Wsat
    }

    /// Rounds at most.
    #[must_use]
    pub fn rounds_max(self) -> u32 {
        match self {
            Test::Iops | Test::Latency => 25,
            Test::Wsat => 600,
        }
    }

    /// The figure that has to be steady, in its unit.
    #[must_use]
    pub fn tracks(self) -> &'static str {
        match self {
            Test::Iops | Test::Wsat => "IOPS",
            Test::Latency => "mean response time in µs",
        }
    }
}

/// What is tested, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Setup {
    /// The test.
    pub test: Test,
    /// The preset of the drive.
    pub drive: String,
    /// Keys and values that replace the preset's.
    pub settings: Vec<(String, String)>,
    /// Rounds at most; at least [`WINDOW`].
    pub rounds_max: u32,
    /// Seed of all random numbers.
    pub seed: u64,
}

impl Setup {
    /// The simulation, which has no requests yet: it begins with an empty drive and goes on as long as there are any.
    ///
    /// # Errors
    /// No such preset, no drive with superblocks, or settings that can't be.
    pub fn simulation(&self) -> Result<Simulation<'static>, Error> {
        // Its own requests are not used.
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
        if with(&[])?.scenario()?.config.ssd.scale_by != ScaleBy::Space {
            let message = "`ssd.scale_by` is \"width\", but these tests bring the load of a whole drive; scale it by \"space\"";
            return Err(Error::Input(message.to_owned()));
        }
        // The keys that make it empty are not the user's: what they would be refused for is said here.
        if with(&[])?.scenario()?.array.ssd.superblock.is_none() {
            let drives: Vec<&str> = cards().iter().map(|card| card.drive.as_str()).collect();
            return Err(Error::Input(format!(
                "{} is a device with pools of blocks, which can't begin empty; these tests are for drives with superblocks, such as {}",
                self.drive,
                drives.join(", ")
            )));
        }
        with(&empty)
    }
}

/// A test that was run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// [`PTS_SCHEMA`].
    pub schema: &'static str,
    /// The name of the test.
    pub test: &'static str,
    /// The preset of the drive.
    pub drive: String,
    /// The drive was simulated at this scale.
    pub scale: u32,
    /// Seed of all random numbers.
    pub seed: u64,
    /// What the simulated drive exports.
    pub capacity_bytes: u64,
    /// Requests outstanding.
    pub depth: u32,
    /// Simulated time of a pattern in a round at least, in seconds.
    pub pattern_s: f64,
    /// The rounds that were finished, in order.
    pub rounds: Vec<Round>,
    /// Whether and where the tracked figure was steady.
    pub steady: Steady,
    /// The last rounds together, by pattern: those of the steady state if it was reached.
    pub window: Vec<Figures>,
    /// Response times of the tracked pattern in these rounds.
    pub histogram: Vec<Band>,
    /// The test was stopped before its end.
    pub partial: bool,
}

/// A round.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Round {
    /// Its number, from 1.
    pub round: u32,
    /// Its begin, in seconds of simulated time.
    pub from_s: f64,
    /// How often the host has written the capacity by its end, what preconditioned the drive included.
    pub drive_fills: f64,
    /// Bytes programmed for each byte that the host wrote in it, in whole units; `None` without writes.
    pub write_amplification: Option<f64>,
    /// Its patterns, in order.
    pub patterns: Vec<Figures>,
}

/// What was measured of a pattern.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figures {
    /// The pattern.
    #[serde(flatten)]
    pub pattern: Pattern,
    /// Requests.
    pub requests: u64,
    /// Requests per second.
    pub iops: f64,
    /// Bandwidth, in MB/s (10^6).
    pub mb_s: f64,
    /// Mean response time, in microseconds.
    pub mean_us: Option<f64>,
    /// Median response time, in microseconds; `None` with fewer than ten requests beyond it, like the percentiles that follow.
    pub p50_us: Option<f64>,
    /// 99th percentile, likewise.
    pub p99_us: Option<f64>,
    /// 99.9th percentile, likewise.
    pub p99_9_us: Option<f64>,
    /// 99.99th percentile, likewise.
    pub p99_99_us: Option<f64>,
    /// 99.999th percentile, likewise.
    pub p99_999_us: Option<f64>,
    /// Longest response time, in microseconds.
    pub max_us: Option<f64>,
}

/// Requests that took at least `from_us` and less than twice as long.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Band {
    /// In microseconds.
    pub from_us: f64,
    /// How many.
    pub requests: u64,
    /// Their share of all.
    pub share: f64,
}

/// Whether the tracked figure is steady.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Steady {
    /// It is.
    pub is_steady: bool,
    /// The first round of the window; `None` if there are too few rounds, like all that follows.
    pub from_round: Option<u32>,
    /// The last round of the window: the round of steadiness, if it is steady.
    pub round: Option<u32>,
    /// Of the window: mean of the tracked figure.
    pub mean: Option<f64>,
    /// Greatest − least value, as a share of the mean.
    pub range: Option<f64>,
    /// Rise of the fitted line from the first round to the last, as a share of the mean, without its sign.
    pub slope: Option<f64>,
}

impl Steady {
    /// Of the last rounds, by their tracked figures, the first of which is round 1.
    #[must_use]
    pub fn of(values: &[f64]) -> Steady {
        let Some(from) = values.len().checked_sub(WINDOW) else {
            return Steady { is_steady: false, from_round: None, round: None, mean: None, range: None, slope: None };
        };
        let window = &values[from..];
        let mean = window.iter().sum::<f64>() / WINDOW as f64;
        let (least, most) = window.iter().fold((f64::INFINITY, 0.0_f64), |(least, most), &value| (least.min(value), most.max(value)));
        // Least squares over 0, 1, 2 …
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
