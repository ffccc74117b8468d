//! `flashraid completions`: what a shell needs to complete commands and options.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Arguments;
use crate::failure::Outcome;
use crate::files;

/// Runs the command.
pub fn run(shell: Shell) -> Outcome {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "flashraid", &mut text);
    files::print(&String::from_utf8(text).expect("completions are text"))
}
