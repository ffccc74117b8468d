//! The program `flashraid`: reads the command line, runs a command, and ends with its exit status.

mod args;
mod cmd;
mod failure;
mod files;
mod interrupt;
mod machine;
mod out_folder;
mod out_of_memory;
mod output;
mod progress;
mod scenario;
mod watch;

use std::io::Write;
use std::panic;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use args::Arguments;
use failure::{Failure, Outcome};

#[global_allocator]
static ALLOCATOR: out_of_memory::OrEnd = out_of_memory::OrEnd;

fn main() -> ExitCode {
    files::fail_beyond_the_limit();
    panic::set_hook(Box::new(|information| complain(&bug_report(information))));
    match panic::catch_unwind(|| run(arguments()?)) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(failure)) => {
            if let Some(message) = failure.message() {
                complain(&message);
            }
            ExitCode::from(failure.status())
        }
        // The panic hook has already printed a message.
        Err(_) => ExitCode::FAILURE,
    }
}

/// Parses the command line. Ends the program if it is wrong, or only asks for help.
fn arguments() -> Outcome<Arguments> {
    Arguments::try_parse().or_else(|said| match said.use_stderr() {
        true => said.exit(),
        // Help is written to standard output, which may be full or closed.
        false => match said.print().and_then(|()| std::io::stdout().flush()) {
            Ok(()) => std::process::exit(said.exit_code()),
            Err(error) => Err(Failure::stdout(&error)),
        },
    })
}

fn run(arguments: Arguments) -> Outcome {
    match arguments.command {
        None => files::print(&Arguments::command().render_help().to_string()),
        Some(command) => cmd::run(command),
    }
}

fn complain(message: &str) {
    // `eprintln!` would panic if standard error were closed.
    let _ = writeln!(std::io::stderr(), "{message}");
}

fn bug_report(information: &panic::PanicHookInfo<'_>) -> String {
    format!(
        "flashraid {} has a bug: {information}\nPlease report it, with the command and the configuration: {}/issues",
        env!("CARGO_PKG_VERSION"),
        env!("CARGO_PKG_REPOSITORY"),
    )
}
