//! Standard output, and files that are written completely or not at all.

#![cfg_attr(unix, expect(unsafe_code, reason = "a signal is ignored"))]

use std::io::{self, BufWriter, Write};

pub use flashraid_report::files::{discard_unfinished_files, try_discard_unfinished_files, write};

use crate::failure::{Failure, Outcome};

/// Ignores the signal of files beyond the size limit (`ulimit -f`), which would end the program. The write then fails as on a full disk,
/// and is reported and cleaned up in the same way.
pub fn fail_beyond_the_limit() {
    #[cfg(unix)]
    // SAFETY: no other thread runs yet, and no handler is installed.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}

/// Writes a text to standard output.
pub fn print(text: &str) -> Outcome {
    let mut stdout = BufWriter::new(io::stdout().lock());
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(|error| Failure::stdout(&error))
}
