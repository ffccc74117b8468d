//! Runs on a thread of its own what takes long, without the interpreter's lock, and meanwhile lets Python have its signals.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use flashraid::study::StudyObserver;
use flashraid::{Progress, RunPhase, Stop};
use pyo3::prelude::*;

use crate::error::simulation_error;

/// Interval at which signals are examined. It lies well below the half second within which Ctrl-C must end a run.
const TICK: Duration = Duration::from_millis(50);

/// Progress of the work, and a request to stop, shared by all threads.
#[derive(Debug, Default)]
pub struct Watch {
    stop: AtomicBool,
    is_warm: AtomicBool,
    /// Bits of the share that is done of a run, or simulations that are done of a study.
    done: AtomicU64,
}

impl Watch {
    /// Notes how far a run is, and says whether it is to go on.
    pub fn note(&self, progress: &Progress) -> bool {
        self.is_warm.store(progress.phase == RunPhase::Run, Ordering::Relaxed);
        self.done.store(progress.phase_fraction_done.unwrap_or(0.0).to_bits(), Ordering::Relaxed);
        self.goes_on()
    }

    /// Returns true unless somebody has asked to stop.
    pub fn goes_on(&self) -> bool {
        !self.stop.load(Ordering::Relaxed)
    }

    /// Asks the work to stop.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// The same for what asks by itself.
    pub fn asked(self: &Arc<Self>) -> Stop {
        let watch = Arc::clone(self);
        Stop::stop_when(move || !watch.goes_on())
    }

    /// Returns the progress of a run: the phase, and its share that is done.
    pub fn of_run(&self) -> (&'static str, f64) {
        let phase = if self.is_warm.load(Ordering::Relaxed) { "run" } else { "warm-up" };
        (phase, f64::from_bits(self.done.load(Ordering::Relaxed)))
    }

    /// Returns the progress of a study: the number of finished simulations.
    pub fn of_study(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }
}

/// Watches a study for Python.
pub struct OfStudy(pub Arc<Watch>);

impl StudyObserver for OfStudy {
    fn progress(&self, _: usize, _: &Progress) -> bool {
        self.0.goes_on()
    }

    fn stop_signal(&self) -> Stop {
        self.0.asked()
    }

    fn simulation_done(&self, _: usize) {
        self.0.done.fetch_add(1, Ordering::Relaxed);
    }

    fn may_continue(&self) -> bool {
        self.0.goes_on()
    }
}

/// Does the work on another thread, and calls `tick` from time to time. If a signal handler or `tick` raises an exception, the work stops.
/// The exception is then returned beside the result of the work.
pub fn interruptible<T: Send>(
    py: Python<'_>,
    watch: &Watch,
    mut tick: impl FnMut() -> PyResult<()>,
    work: impl FnOnce() -> T + Send,
) -> PyResult<(T, Option<PyErr>)> {
    let (sender, receiver) = mpsc::channel();
    // Only so that a reference to it may be used without the interpreter's lock.
    let receiver = Mutex::new(receiver);
    thread::scope(|scope| {
        let spawned = thread::Builder::new().name("flashraid".to_owned()).spawn_scoped(scope, move || {
            // The other end is gone only if this process is.
            let _ = sender.send(work());
        });
        if let Err(error) = spawned {
            return Err(simulation_error(py, &format!("the system gives no thread to run on: {error}")));
        }
        let mut raised = None;
        loop {
            let received = py.detach(|| receiver.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(TICK));
            match received {
                Ok(result) => return Ok((result, raised)),
                Err(mpsc::RecvTimeoutError::Disconnected) => {
                    return Err(simulation_error(py, "the simulator failed: this is a bug of flashraid"));
                }
                Err(mpsc::RecvTimeoutError::Timeout) if raised.is_some() => {}
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    if let Err(error) = py.check_signals().and_then(|()| tick()) {
                        watch.stop();
                        raised = Some(error);
                    }
                }
            }
        }
    })
}
