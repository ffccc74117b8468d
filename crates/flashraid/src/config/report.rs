//! Keys of the report: `[report]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use flashraid_workload::units::Duration;

/// Settings of the report. They set the intervals of time in which it measures, its timeline, and the part of the run that the
/// statistics leave out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct ReportConfig {
    /// Length of an interval of the bandwidth series.
    pub bandwidth_interval: Duration,
    /// Length of a time slice. All members that collect during the same slice count as collecting together.
    pub gc_slice: Duration,
    /// Window of simulated time for which the report has a timeline. The timeline lists the requests, collections, and destages of the
    /// write cache that overlap with the window. By default, there is no timeline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeline: Option<EventTimelineConfig>,
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

/// Window of simulated time for which the report has a timeline. The timeline is a list of all requests, collections, and destages of
/// the write cache that overlap with the window. It has at most 200,000 entries of each kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct EventTimelineConfig {
    /// Simulated time at which the window of the timeline begins, counted from the start of the run.
    pub from: Duration,
    /// Simulated time at which the window of the timeline ends, counted from the start of the run. This moment itself is outside.
    pub to: Duration,
}
