//! Observers, which watch a simulation while it runs.

use flashraid_model::events::VictimBlockCollection;
use flashraid_model::metrics::CompletedRequest;
use flashraid_workload::Stop;

/// Watches a simulation, and may stop it. Every method does nothing by default.
///
/// Anything that a report lacks can be measured by an observer. It changes no result, unless it stops the run.
pub trait Observer {
    /// Receives a note for the user that no report has, for example the origin of a warm state.
    fn note(&mut self, _text: &str) {}

    /// Reports the progress every few thousand requests, and from time to time during the warm-up. If it returns false, the run stops, and
    /// its report is partial.
    fn progress(&mut self, _progress: &Progress) -> bool {
        true
    }

    /// Returns a callback that is asked whether to stop. It is used where [`Observer::progress`] cannot be called: while a trace is read,
    /// skipped or sorted.
    fn stop_signal(&self) -> Stop {
        Stop::default()
    }

    /// Reports every request when it is done, in the order of ends. This includes requests that the statistics skip.
    fn request_completed(&mut self, _request: &CompletedRequest) {}

    /// Reports the collection of one victim block (a clean), as soon as the end of the block's erase is known.
    ///
    /// Victim blocks of one die are reported in order. Those that are collected one after another without a gap count as one collection
    /// in the report.
    fn victim_cleaned(&mut self, _clean: &VictimBlockCollection) {}

    /// Reports the number of units of the mapping (`ssd.superblock.unit`, a page or several) that drives with superblocks have
    /// programmed since the last call. The number includes data of the host, data moved by collection, padding and parity.
    fn mapping_units_programmed(&mut self, _units: u64) {}
}

/// Observer that ignores every event.
impl Observer for () {}

impl<O: Observer + ?Sized> Observer for &mut O {
    fn note(&mut self, text: &str) {
        (**self).note(text);
    }

    fn progress(&mut self, progress: &Progress) -> bool {
        (**self).progress(progress)
    }

    fn stop_signal(&self) -> Stop {
        (**self).stop_signal()
    }

    fn request_completed(&mut self, request: &CompletedRequest) {
        (**self).request_completed(request);
    }

    fn victim_cleaned(&mut self, clean: &VictimBlockCollection) {
        (**self).victim_cleaned(clean);
    }

    fn mapping_units_programmed(&mut self, units: u64) {
        (**self).mapping_units_programmed(units);
    }
}

/// Phase of a run: the warm-up, or the simulation of the requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunPhase {
    /// The members are filled and overwritten, so that the run begins with used SSDs; or their saved state is loaded.
    WarmUp,
    /// The host's requests are served.
    Run,
}

/// Progress of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// Current phase of the run.
    pub phase: RunPhase,
    /// Share of the phase that is done, from 0 to 1; `None` if its end is not known.
    pub phase_fraction_done: Option<f64>,
    /// Number of requests sent so far.
    pub requests_sent: u64,
    /// Simulated time so far, in nanoseconds.
    pub simulated_time_ns: u64,
}
