//! Ctrl-C: the first stops at the next step and keeps what is done, the second ends the program.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::{Failure, Outcome};
use crate::files;

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Begins to listen for Ctrl-C and for a request to terminate.
pub fn listen() -> Outcome {
    ctrlc::set_handler(|| {
        if REQUESTED.swap(true, Ordering::Relaxed) {
            files::discard_unfinished();
            std::process::exit(130);
        }
        // Not eprintln!, which panics when standard error is closed.
        let _ = writeln!(std::io::stderr(), "\nstopping after the current step; press Ctrl-C again to stop at once");
    })
    .map_err(|error| Failure::Run(format!("can't listen for Ctrl-C: {error}")))
}

/// The user wants to stop.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}
