//! Watches a simulation while it runs.

use flashraid_model::events::GcInterval;
use flashraid_model::metrics::CompletedRequest;
use flashraid_workload::Stop;

/// Watches a simulation, and may stop it. Every method does nothing by default.
///
/// What a report lacks is measured in this way. An observer changes no result, unless it stops the run.
pub trait Observer {
    /// Something that a person should know and no report says, such as where a warm state comes from.
    fn note(&mut self, _text: &str) {}

    /// Called every few thousand requests and now and then during the warm-up. Returning false stops the run, whose report then says that it is
    /// partial.
    fn progress(&mut self, _progress: &Progress) -> bool {
        true
    }

    /// What is asked where [`Observer::progress`] can't be called, while a trace is read, skipped or sorted: whether to stop.
    fn stop(&self) -> Stop {
        Stop::default()
    }

    /// Called for every request when it is done, in the order of ends; also for those that the statistics skip.
    fn request(&mut self, _request: &CompletedRequest) {}

    /// Called for every cleaned victim when it is known when its erase ends; those of one die come in order. Cleans of a die that follow each
    /// other back to back are one collection of the report.
    fn collection(&mut self, _clean: &GcInterval) {}

    /// Called when drives with superblocks have programmed so many units since the last call: of the host, moved ones, and padding.
    fn programmed(&mut self, _units: u64) {}
}

/// An observer that looks on.
impl Observer for () {}

impl<O: Observer + ?Sized> Observer for &mut O {
    fn note(&mut self, text: &str) {
        (**self).note(text);
    }

    fn progress(&mut self, progress: &Progress) -> bool {
        (**self).progress(progress)
    }

    fn stop(&self) -> Stop {
        (**self).stop()
    }

    fn request(&mut self, request: &CompletedRequest) {
        (**self).request(request);
    }

    fn collection(&mut self, clean: &GcInterval) {
        (**self).collection(clean);
    }

    fn programmed(&mut self, units: u64) {
        (**self).programmed(units);
    }
}

/// What a run is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Bringing the members to a working state.
    WarmUp,
    /// Serving requests.
    Run,
}

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// What it is doing.
    pub phase: Phase,
    /// Share of the phase that is done, from 0 to 1, if its end is known.
    pub fraction: Option<f64>,
    /// Requests sent.
    pub requests: u64,
    /// Simulated time, in nanoseconds.
    pub simulated_ns: u64,
}
