//! Runs of one simulation.

use std::sync::Arc;

use flashraid::{CompletedRequest, Error, Observer, Progress, Stop, counterfactual};
use pyo3::prelude::*;

use crate::columns::Requests as OwnRequests;
use crate::error::exception;
use crate::machine;
use crate::report::Report;
use crate::spec::Spec;
use crate::table::{Requests, Table};
use crate::wait::{Watch, interruptible};

/// Watches a run from its own thread.
struct Watcher {
    watch: Arc<Watch>,
    requests: Option<Requests>,
}

impl Observer for Watcher {
    fn progress(&mut self, progress: &Progress) -> bool {
        self.watch.note(progress)
    }

    fn stop_signal(&self) -> Stop {
        self.watch.asked()
    }

    #[inline]
    fn request_completed(&mut self, done: &CompletedRequest) {
        if let Some(requests) = &mut self.requests {
            requests.add(done);
        }
    }
}

/// The report, if there is one; the requests, if they were asked for; what a signal handler or `progress` raised.
type Outcome = (Option<Report>, Option<Table>, Option<PyErr>);

/// Runs one configuration and returns its report.
#[pyfunction]
#[pyo3(signature = (spec, *, requests, workload, threads, keep_warm, verify, because, progress))]
#[expect(clippy::too_many_arguments, reason = "they are the keywords of a function in Python")]
pub fn run(
    py: Python<'_>,
    spec: &str,
    requests: bool,
    workload: Option<Bound<'_, OwnRequests>>,
    threads: Option<usize>,
    keep_warm: bool,
    verify: bool,
    because: bool,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Outcome> {
    let spec = Spec::read(py, spec)?;
    let watch = Arc::new(Watch::default());
    let source = workload.map(|workload| workload.get().source());
    let scenario = spec.simulation().and_then(|simulation| simulation.scenario()).map_err(|error| exception(py, &error))?;
    // The runs follow each other. Beside each array there is the state that they share.
    let runs = if because { 1 + counterfactual::possible_changes(&scenario).len() } else { 1 };
    let means = machine::means(py, &vec![&scenario; runs], Some(1), threads, keep_warm)?;
    let mut watcher = Watcher { watch: Arc::clone(&watch), requests: requests.then(Requests::new) };
    let tick = || match &progress {
        Some(progress) => progress.call1(watch.of_run()).map(drop),
        None => Ok(()),
    };
    let work = || -> Result<(flashraid::Report, Watcher), Error> {
        let mut simulation = spec.simulation()?.threads(means.threads_per_simulation).warm_state_cache(means.warm_state_cache);
        if let Some(source) = source {
            simulation = simulation.source(source);
        }
        if verify {
            simulation = simulation.verify();
        }
        if because {
            simulation = simulation.because();
        }
        let report = simulation.observe(&mut watcher).run()?;
        Ok((report, watcher))
    };
    let (result, raised) = interruptible(py, &watch, tick, work)?;
    match result {
        Ok((report, watcher)) => Ok((Some(Report(report)), watcher.requests.map(Requests::finish), raised)),
        Err(Error::StoppedBeforeFirstRequest) if raised.is_some() => Ok((None, None, raised)),
        Err(error) => Err(exception(py, &error)),
    }
}
