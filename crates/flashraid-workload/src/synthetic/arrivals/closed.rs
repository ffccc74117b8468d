//! A closed loop.

use super::fixed::Equal;
use super::{Arrival, Gaps, Problems};
use crate::HostLoop;
use crate::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A new request as soon as one of `depth` is done.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Closed {
    /// Outstanding requests.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub depth: u32,
    /// Pause before a request that takes the place of another.
    #[serde(default)]
    pub think: Duration,
}

impl Closed {
    /// So many outstanding requests, without a pause.
    pub fn loop_of(depth: u32) -> Self {
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

    /// The pauses alone.
    fn mean_span_ns(&self, requests: u64) -> f64 {
        libm::floor(requests.saturating_sub(1) as f64 / f64::from(self.depth)) * self.think.ns as f64
    }

    fn host_loop(&self) -> HostLoop {
        HostLoop::Closed { depth: self.depth, think_ns: self.think.ns }
    }

    /// Requests arrive when others are done; until then their time is 0.
    fn gaps(&self, _seed: u64) -> Box<dyn Gaps> {
        Box::new(Equal { gap_ns: 0.0 })
    }
}
