//! Closed loop: a new request arrives when an earlier one is done.

use super::fixed::Equal;
use super::{Arrival, Gaps, Problems};
use crate::HostLoop;
use crate::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A new request arrives when one of `depth` outstanding requests is done, after the pause `think`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Closed {
    /// Number of outstanding requests.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub depth: u32,
    /// Pause from the end of a request until the next request takes its place among the `depth` outstanding ones.
    #[serde(default)]
    pub think: Duration,
}

impl Closed {
    /// Returns a loop of `depth` outstanding requests without a pause.
    pub(crate) fn with_depth(depth: u32) -> Self {
        Self { depth, think: Duration { ns: 0 } }
    }
}

impl Arrival for Closed {
    fn problems(&self, problems: &mut Problems) {
        problems.require("depth", f64::from(self.depth), self.depth > 0, "1 or more");
    }

    fn mean_per_second(&self) -> Option<f64> {
        None
    }

    fn dispersion(&self) -> Option<f64> {
        None
    }

    /// Returns the sum of the pauses, because the response times are not known.
    fn mean_span_ns(&self, requests: u64) -> f64 {
        libm::floor(requests.saturating_sub(1) as f64 / f64::from(self.depth)) * self.think.ns as f64
    }

    fn host_loop(&self) -> HostLoop {
        HostLoop::Closed { depth: self.depth, think_ns: self.think.ns }
    }

    /// Returns gaps of 0, because requests arrive when others are done.
    fn gaps(&self, _seed: u64) -> Box<dyn Gaps> {
        Box::new(Equal { gap_ns: 0.0 })
    }
}
