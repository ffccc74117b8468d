//! Percentiles and other figures of a distribution that were published for a drive, and how each is taken from a simulation.

use std::fmt;

use flashraid::Report;
use flashraid::report::ResponseTime;
use serde::{Deserialize, Serialize};

use super::Kind;
use super::job::Job;

/// A statistic of the response times, or of the seconds, of one load.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Statistic {
    /// The mean response time, in microseconds.
    Mean,
    /// The response time that this percentage of the requests does not exceed, in microseconds.
    Percentile(f64),
    /// The 99th percentile over the median.
    Spread,
    /// The requests in the slowest second over the mean of all seconds, in percent.
    Consistency,
}

impl TryFrom<String> for Statistic {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let percentile = || name.strip_prefix('p')?.parse().ok().filter(|percent| (0.0..100.0).contains(percent));
        match name.as_str() {
            "mean" => Ok(Statistic::Mean),
            "p99/p50" => Ok(Statistic::Spread),
            "consistency" => Ok(Statistic::Consistency),
            _ => percentile().map(Statistic::Percentile).ok_or_else(|| format!("{name} is none of mean, p99/p50, consistency, p50, p99.9")),
        }
    }
}

impl fmt::Display for Statistic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Statistic::Mean => formatter.write_str("mean"),
            Statistic::Percentile(percent) => write!(formatter, "p{percent}"),
            Statistic::Spread => formatter.write_str("p99/p50"),
            Statistic::Consistency => formatter.write_str("consistency"),
        }
    }
}

impl From<Statistic> for String {
    fn from(statistic: Statistic) -> String {
        statistic.to_string()
    }
}

/// Number of requests that must be beyond a percentile for it to be told.
const BEYOND: f64 = 10.0;

impl Statistic {
    /// Returns the unit of the statistic; empty for ratios.
    #[must_use]
    pub fn unit(self) -> &'static str {
        match self {
            Statistic::Mean | Statistic::Percentile(_) => "µs",
            Statistic::Spread => "",
            Statistic::Consistency => "%",
        }
    }

    /// Returns the value in the report of a simulation; `None` if the report is too short for it.
    fn of(self, report: &Report) -> Option<f64> {
        let times = &report.response_us.all;
        match self {
            Statistic::Mean => times.mean,
            Statistic::Percentile(percent) => percentile(times, percent),
            Statistic::Spread => Some(percentile(times, 99.0)? / percentile(times, 50.0)?),
            Statistic::Consistency => {
                let least = report.bandwidth_mb_s.series.iter().copied().reduce(f64::min)?;
                report.bandwidth_mb_s.mean.filter(|mean| *mean > 0.0).map(|mean| 100.0 * least / mean)
            }
        }
    }
}

fn percentile(times: &ResponseTime, percent: f64) -> Option<f64> {
    let share = percent / 100.0;
    if (1.0 - share) * (times.count as f64) < BEYOND - 1e-6 {
        return None;
    }
    times.cdf.iter().find(|(_, fraction)| *fraction >= share - 1e-9).map(|(time_us, _)| *time_us)
}

/// A published value, with what it was used for.
#[derive(Debug, Clone, PartialEq)]
pub struct Published {
    /// Load for which it was published.
    pub load: Job,
    /// Statistic of the load.
    pub of: Statistic,
    /// Published value, or the least of several. `None` if nothing is published, and only the simulated value is shown.
    pub value: Option<f64>,
    /// Greatest of several published values.
    pub to: Option<f64>,
    /// Largest difference of the simulation, as a share of the value. For consistency, it is a difference of the two shares.
    pub tolerance: Option<f64>,
    /// Role of the value in choosing the preset's numbers.
    pub kind: Kind,
    /// Document that has the value.
    pub source: String,
}

impl Published {
    /// Returns the least and the greatest simulated value that meets the published ones; `None` if nothing is judged.
    fn bounds(&self) -> Option<[f64; 2]> {
        let (low, tolerance) = (self.value?, self.tolerance?);
        let high = self.to.unwrap_or(low);
        let [below, above] = match self.of {
            Statistic::Consistency => [low - 100.0 * tolerance, high + 100.0 * tolerance],
            _ => [low * (1.0 - tolerance), high * (1.0 + tolerance)],
        };
        Some([if self.kind == Kind::Bound { 0.0 } else { below }, above])
    }

    /// Compares the value with the report of its load.
    pub(super) fn grade(&self, report: &Report) -> GradedPercentile {
        let simulated = self.of.of(report);
        let is_met = |[low, high]: [f64; 2]| simulated.is_some_and(|simulated| (low..=high).contains(&simulated));
        GradedPercentile {
            load: self.load.name(),
            of: self.of,
            unit: self.of.unit().to_owned(),
            published: self.value,
            published_to: self.to,
            simulated,
            tolerance: self.tolerance,
            kind: self.kind,
            holds: self.bounds().map(is_met),
            steady: report.verdict.steady,
            source: self.source.clone(),
        }
    }
}

/// Ratios of the 99th percentile to the median of reads at depth 16 that occur. Two measured drives have 1.8.
const SPREADS: std::ops::RangeInclusive<f64> = 1.4..=2.3;

/// A published value with the simulated one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GradedPercentile {
    /// Short description of the load.
    pub load: String,
    /// Statistic of the load: `mean`, `p50`, `p99.9`, `p99/p50` or `consistency`.
    pub of: Statistic,
    /// Unit of the values; empty for ratios.
    pub unit: String,
    /// Published value, or the least of several; `None` if nothing is published.
    pub published: Option<f64>,
    /// Greatest of several published values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published_to: Option<f64>,
    /// Simulated value; `None` if fewer than ten requests are beyond the percentile.
    pub simulated: Option<f64>,
    /// Largest difference, as a share of the published value; for consistency, a difference of the two shares. `None` if nothing is judged.
    pub tolerance: Option<f64>,
    /// Role of the value in choosing the preset's numbers.
    pub kind: Kind,
    /// True if the simulation meets the value; `None` if nothing is judged.
    pub holds: Option<bool>,
    /// True if the simulation was steady.
    pub steady: bool,
    /// Document that has the value.
    pub source: String,
}

impl GradedPercentile {
    /// Returns true if the ratio of 99th percentile to median is not one that drives have.
    #[must_use]
    pub fn is_unlike_drives(&self) -> bool {
        self.of == Statistic::Spread && self.simulated.is_some_and(|spread| !SPREADS.contains(&spread))
    }
}
