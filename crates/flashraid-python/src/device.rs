//! An array that a Python program drives.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use flashraid::{Answer, Device as Inner, Observer, OpKind, Progress, Request, Stop};
use pyo3::prelude::*;

use crate::error::{exception, refused, refused_at};
use crate::machine;
use crate::report::Report;
use crate::spec::Spec;
use crate::wait::{Watch, interruptible};

/// A warmed-up array that takes requests one by one.
#[pyclass(frozen, module = "flashraid._native")]
pub struct Device(Mutex<Inner>);

/// Tag, arrival, end, kind, members in collection, pages lost, and the parts of the time in the order of `requests.parquet`.
type Row = (u64, u64, u64, &'static str, u32, u32, (u64, u64, u64, u64, u64, u64, u64));

#[pymethods]
impl Device {
    /// Warms the array of a configuration up.
    #[new]
    fn new(py: Python<'_>, spec: &str, threads: Option<usize>, keep_warm: bool) -> PyResult<Device> {
        let spec = Spec::read(py, spec)?;
        let scenario = spec.simulation().and_then(|simulation| simulation.scenario()).map_err(|error| exception(py, &error))?;
        let means = machine::means(py, &[&scenario], None, threads, keep_warm)?;
        let watch = Arc::new(Watch::default());
        let mut watcher = WarmUp(Arc::clone(&watch));
        let work = || {
            spec.simulation()?.threads(means.threads_per_simulation).warm_state_cache(means.warm_state_cache).observe(&mut watcher).open()
        };
        let (result, raised) = interruptible(py, &watch, || Ok(()), work)?;
        match (result, raised) {
            (_, Some(raised)) => Err(raised),
            (Ok(device), None) => Ok(Device(Mutex::new(device))),
            (Err(error), None) => Err(exception(py, &error)),
        }
    }

    /// Submits a request at a moment, which must not lie before an earlier one.
    #[expect(clippy::too_many_arguments, reason = "they are what a request is made of")]
    fn submit(
        &self,
        py: Python<'_>,
        now_ns: u64,
        kind: &str,
        offset: u64,
        bytes: u64,
        stream: u8,
        fua: bool,
        high_priority: bool,
        tag: u64,
    ) -> PyResult<()> {
        let Some(kind) = [OpKind::Read, OpKind::Write, OpKind::Trim, OpKind::Flush].into_iter().find(|known| known.name() == kind) else {
            return Err(refused_at(py, "kind", &format!("{kind:?}"), "\"read\", \"write\", \"trim\" or \"flush\"", None));
        };
        let request = Request { stream, fua, high_priority, ..Request::new(kind, now_ns, offset, bytes) };
        self.inner().submit(&request, tag).map_err(|error| refused(py, &error.to_string()))
    }

    /// The earliest moment at which something may happen.
    fn next_time(&self) -> Option<u64> {
        self.inner().next_time()
    }

    /// Lets time pass; without an end until nothing is under way.
    fn advance(&self, py: Python<'_>, until_ns: Option<u64>, room: Option<usize>) -> PyResult<Vec<Row>> {
        let (until_ns, room) = (until_ns.unwrap_or(u64::MAX), room.unwrap_or(usize::MAX));
        let mut rows = Vec::new();
        let advanced = py.detach(|| self.inner().advance(until_ns, room, |answer| rows.push(row_of(answer))));
        advanced.map(|_| rows).map_err(|error| refused(py, &error.to_string()))
    }

    /// Returns the report of a run that ends now.
    fn report(&self, py: Python<'_>) -> PyResult<Report> {
        py.detach(|| self.inner().report()).map(Report).map_err(|error| exception(py, &error))
    }

    /// The latest moment of any call.
    #[getter]
    fn now_ns(&self) -> u64 {
        self.inner().now_ns()
    }

    /// Bytes that the array offers.
    #[getter]
    fn capacity_bytes(&self) -> u64 {
        self.inner().capacity_bytes()
    }
}

impl Device {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        // No call leaves it half done, unless the simulator has a bug, which every later call may show.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn row_of(answer: &Answer) -> Row {
    let time = &answer.time_parts;
    let parts = (time.queue_ns, time.collection_ns, time.parity_ns, time.cache_ns, time.transfer_ns, time.flash_ns, time.other_ns);
    (answer.tag, answer.arrival_ns, answer.done_ns, answer.kind.name(), answer.gc_members_met, answer.pages_lost, parts)
}

/// Stops the warm-up when a signal comes.
struct WarmUp(Arc<Watch>);

impl Observer for WarmUp {
    fn progress(&mut self, progress: &Progress) -> bool {
        self.0.note(progress)
    }

    fn stop_signal(&self) -> Stop {
        self.0.asked()
    }
}
