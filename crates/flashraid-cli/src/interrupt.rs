//! Ctrl-C: the first stops at the next step and keeps what is done, the second ends the program.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::{Failure, Outcome};
use crate::files;

static REQUESTED: AtomicBool = AtomicBool::new(false);
/// The handler of this process, which there can be one of, is there.
static LISTENING: AtomicBool = AtomicBool::new(false);

/// From now on the first Ctrl-C (or request to terminate) stops a simulation at its next step.
pub fn stop_at_next_step() -> Outcome {
    listen(|| {
        if REQUESTED.swap(true, Ordering::Relaxed) {
            stop();
        }
        // Not eprintln!, which panics when standard error is closed.
        let _ = writeln!(std::io::stderr(), "\nstopping after the current step; press Ctrl-C again to stop at once");
    })
}

/// From now on Ctrl-C ends the program, without what it has not finished.
pub fn stop_at_once() -> Outcome {
    listen(stop)
}

fn stop() {
    files::discard_unfinished();
    std::process::exit(130);
}

/// A command that runs several simulations asks for each of them.
fn listen(handler: impl FnMut() + Send + 'static) -> Outcome {
    if LISTENING.swap(true, Ordering::Relaxed) {
        return Ok(());
    }
    ctrlc::set_handler(handler).map_err(|error| match error {
        ctrlc::Error::System(error) => Failure::Run(format!(
            "can't listen for Ctrl-C, which takes a thread of its own: {error}; allow the program more processes (ulimit -u, or the pids limit of \
             the container)"
        )),
        error => Failure::Run(format!("can't listen for Ctrl-C: {error}")),
    })
}

/// The user wants to stop.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}
