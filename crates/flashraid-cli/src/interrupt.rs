//! Handling of Ctrl-C: the first one stops at the next step and keeps the results so far. The second one ends the program.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::{Failure, Outcome};
use crate::files;

static REQUESTED: AtomicBool = AtomicBool::new(false);
/// True once the handler is installed, of which a process can have only one.
static LISTENING: AtomicBool = AtomicBool::new(false);

/// Makes the first Ctrl-C, or SIGTERM, stop a simulation at its next step. The second one ends the program.
pub fn stop_at_next_step() -> Outcome {
    listen(|| {
        if REQUESTED.swap(true, Ordering::Relaxed) {
            stop();
        }
        // `eprintln!` would panic if standard error were closed.
        let _ = writeln!(std::io::stderr(), "\nstopping after the current step; press Ctrl-C again to stop at once");
    })
}

/// Makes Ctrl-C end the program at once. Unfinished files are removed.
pub fn stop_at_once() -> Outcome {
    listen(stop)
}

fn stop() {
    files::discard_unfinished_files();
    std::process::exit(130);
}

/// Installs a handler for Ctrl-C, unless one is installed already: a command with several simulations calls this for each.
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

/// Returns true once the user has asked to stop.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}
