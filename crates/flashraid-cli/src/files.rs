//! Standard output, and files that appear whole or not at all.

use std::io::{self, BufWriter, Write};

pub use flashraid_report::files::{discard_unfinished, try_discard_unfinished, write};

use crate::failure::{Failure, Outcome};

/// A file longer than the limit (`ulimit -f`) is a write that fails, as on a full disk, and is reported and tidied up like one; the signal that comes
/// with it would end the program.
pub fn fail_beyond_the_limit() {
    #[cfg(unix)]
    // SAFETY: called before there is another thread; no handler is installed.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}

/// Writes to standard output.
pub fn print(text: &str) -> Outcome {
    let mut stdout = BufWriter::new(io::stdout().lock());
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(|error| Failure::stdout(&error))
}
