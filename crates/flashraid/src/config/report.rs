//! Keys of the report: `[report]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use flashraid_workload::units::Duration;

/// Settings of the measurements, and their resolution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct ReportConfig {
    /// Length of an interval of the bandwidth series.
    pub bandwidth_interval: Duration,
    /// Length of a time slice. All members that collect during the same slice count as collecting together.
    pub gc_slice: Duration,
    /// Window of simulated time whose requests and collections the report lists one by one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeline: Option<TimelineConfig>,
    /// Number of requests at the beginning that the statistics leave out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 9_223_372_036_854_775_807_u64))]
    pub skip_requests: Option<u64>,
    /// Time at the beginning that the statistics leave out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skip_time: Option<Duration>,
}

impl Default for ReportConfig {
    fn default() -> Self {
        Self {
            bandwidth_interval: Duration { ns: 1_000_000_000 },
            gc_slice: Duration { ns: 100_000 },
            timeline: None,
            skip_requests: None,
            skip_time: None,
        }
    }
}

/// A window of simulated time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct TimelineConfig {
    /// First moment of the window.
    pub from: Duration,
    /// First moment after the window.
    pub to: Duration,
}
