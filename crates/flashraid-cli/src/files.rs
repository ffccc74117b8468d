//! Standard output, and files that appear whole or not at all.

use std::io::{self, BufWriter, Write};

pub use flashraid_report::files::{discard_unfinished, rewrite, try_discard_unfinished, write};

use crate::failure::{Failure, Outcome};

/// Writes to standard output.
pub fn print(text: &str) -> Outcome {
    let mut stdout = BufWriter::new(io::stdout().lock());
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(|error| Failure::stdout(&error))
}
