//! `flashraid completions`: prints the script with which a shell completes commands and options.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Arguments;
use crate::failure::Outcome;
use crate::files;

/// Runs `flashraid completions` for a shell.
pub fn run(shell: Shell) -> Outcome {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "flashraid", &mut text);
    files::print(&String::from_utf8(text).expect("completions are text"))
}
