//! Keys of the report: `[report]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use flashraid_model::metrics::MetricsParams;
use flashraid_workload::units::Duration;

/// Settings of the report. They set the intervals of time in which it measures, its timeline, and the part of the run that the
/// statistics leave out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct ReportConfig {
    /// Resolution of what is measured.
    #[serde(flatten)]
    pub measured: MetricsParams,
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
