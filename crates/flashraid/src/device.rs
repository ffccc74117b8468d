//! An array as a device that another program drives. The program submits requests at times of its choice, receives the answers, and can ask
//! for a report at any time.

use std::time::Instant;

use crate::Error;
use crate::check::check_without_workload;
use crate::config::Scenario;
use crate::observer::Observer;
use crate::report::Report;
use crate::run::{OWN_SOURCE, RunError, RunFacts, report_of};
use crate::warm_up::{self, SharedWarmUps};
pub use flashraid_driver::RefusedCall as DeviceError;
use flashraid_driver::{Answer, RunningArray};
use flashraid_model::TimeNs;
use flashraid_workload::Request;
use flashraid_workload::units::count_with_noun;

/// A warmed-up array that takes requests one by one.
///
/// Four verbs drive it. [`Device::submit`] hands over a request at its moment, [`Device::next_time`] says when something happens
/// next, [`Device::advance`] lets time pass and gives answers, and [`Device::report`] sums up. Simulated time never goes back. A device
/// has no threads and no callbacks, so that nothing happens between two calls. The same calls give the same answers on every machine.
///
/// Of all events of one nanosecond that have not happened yet, the arrival of a submitted request comes first. `flashraid run` keeps the
/// same order. A trace therefore gets the same response times here if each request is submitted before time advances to its arrival.
///
/// [`Simulation::open`](crate::Simulation::open) warms up an array and returns it as a device.
pub struct Device {
    live: RunningArray,
    scenario: Scenario,
    warnings: Vec<String>,
    begin: Instant,
    warm_up_s: f64,
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Device").field("now_ns", &self.now_ns()).field("under_way", &self.requests_under_way()).finish_non_exhaustive()
    }
}

impl Device {
    /// Warms up the array of a scenario and returns it as a device.
    pub(crate) fn warm(scenario: Scenario, warm_ups: &SharedWarmUps, observer: &mut dyn Observer) -> Result<Self, RunError> {
        let begin = Instant::now();
        let warnings = check_without_workload(&scenario).warnings;
        let array = warm_up::warmed_up_array(&scenario, warm_ups, observer)?;
        let live = RunningArray::new(array, &scenario.metrics);
        Ok(Self { live, scenario, warnings, begin, warm_up_s: begin.elapsed().as_secs_f64() })
    }

    /// Submits a request at its `arrival_ns`. The answer carries `tag`, which may be any number.
    ///
    /// # Errors
    ///
    /// Returns an error, and changes nothing, if the time lies before [`Device::now_ns`] or passes 2^62 ns. The same holds if the request
    /// has no bytes or reaches beyond the array.
    #[inline]
    pub fn submit(&mut self, request: &Request, tag: u64) -> Result<(), DeviceError> {
        self.live.submit(request, tag)
    }

    /// Returns the earliest time at which something may happen, or `None` if nothing can happen. A request that is submitted later may
    /// change it.
    #[inline]
    pub fn next_time(&mut self) -> Option<TimeNs> {
        self.live.next_event_time()
    }

    /// Runs the device up to and including `until_ns`. It gives at most `answers_max` answers to `take_answer`, in the order of their ends,
    /// and returns their number.
    ///
    /// After `answers_max` answers, time stops at the last of them, so that the caller can react to it. Another call continues from there.
    /// With fewer answers, time is `until_ns`. [`u64::MAX`] stands for "until all requests are answered", and time then stops at the last
    /// answer.
    ///
    /// # Errors
    ///
    /// Returns an error, and changes nothing, if the time lies before [`Device::now_ns`] or passes 2^62 ns.
    #[inline]
    pub fn advance(&mut self, until_ns: TimeNs, answers_max: usize, take_answer: impl FnMut(&Answer)) -> Result<usize, DeviceError> {
        self.live.advance(until_ns, answers_max, take_answer)
    }

    /// Returns the report of a run that would end now. Requests without an answer are not counted. The device continues as if it had not
    /// been called. Its state is copied for the report, which needs as much memory again for a moment.
    ///
    /// # Errors
    ///
    /// Returns [`Error::InconsistentMemberState`], which is a bug of the simulator.
    pub fn report(&mut self) -> Result<Report, Error> {
        let under_way = self.live.requests_under_way() as u64;
        let outcome = self.live.outcome_so_far();
        let mut warnings = self.warnings.clone();
        if outcome.requests_sent == under_way {
            warnings.push("nothing was measured: no request has been answered yet".to_owned());
        } else if outcome.ended_before_measuring {
            warnings
                .push("nothing was measured: the part that report.skip_requests or report.skip_time leaves out is not over yet".to_owned());
        }
        let facts = RunFacts {
            begin: self.begin,
            warm_up_s: self.warm_up_s,
            run_s: self.begin.elapsed().as_secs_f64() - self.warm_up_s,
            warnings,
            workload_note: Some(OWN_SOURCE.to_owned()),
            partial_reason: (under_way > 0).then(|| format!("{} without an answer yet", count_with_noun(under_way, "request"))),
            verify: false,
        };
        Ok(report_of(&self.scenario, outcome, facts)?)
    }

    /// Returns the present simulated time, in nanoseconds. Calls of [`Device::submit`] and [`Device::advance`] have brought the device
    /// to this time.
    #[inline]
    pub fn now_ns(&self) -> TimeNs {
        self.live.now_ns()
    }

    /// Returns the number of requests that the array is serving. Answers that have not been taken yet do not count.
    #[inline]
    pub fn requests_under_way(&self) -> usize {
        self.live.requests_under_way()
    }

    /// Returns the number of bytes that the array offers. No request may reach beyond them.
    #[inline]
    pub fn capacity_bytes(&self) -> u64 {
        self.live.capacity_bytes()
    }
}
