//! The program `flashraid`: reads the command line, runs a command, and ends with its exit status.

mod args;
mod cmd;
mod failure;
mod files;
mod interrupt;
mod machine;
mod memory;
mod out_folder;

mod output;
mod progress;
mod scenario;
mod until;
mod watch;

use std::io::Write;
use std::panic;
use std::process::ExitCode;
use std::thread;

use clap::{CommandFactory, Parser};

use args::Arguments;
use failure::{Failure, Outcome};

#[global_allocator]
static ALLOCATOR: memory::OrEnd = memory::OrEnd;

/// Bytes of stack with which all commands work, as systems usually give it.
const STACK_BYTES: usize = 8 << 20;
/// Least limit of the main thread's stack with which it is used.
const STACK_LIMIT_MIN: u64 = 4 << 20;

fn main() -> ExitCode {
    files::fail_beyond_the_limit();
    memory::use_one_heap();
    panic::set_hook(Box::new(|information| complain(&bug_report(information))));
    if stack_limit_bytes().is_none_or(|limit| limit >= STACK_LIMIT_MIN) {
        return guarded();
    }
    // The standard library would abort.
    match thread::Builder::new().stack_size(STACK_BYTES).spawn(guarded) {
        Ok(thread) => thread.join().unwrap_or(ExitCode::FAILURE),
        Err(error) => {
            complain(&format!("error: the limit of the stack (ulimit -s) is too small, and no thread can be started: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// Returns the limit of the main thread's stack, if there is one and the system tells it.
fn stack_limit_bytes() -> Option<u64> {
    let limits = std::fs::read_to_string("/proc/self/limits").ok()?;
    limits.lines().find_map(|line| line.strip_prefix("Max stack size"))?.split_whitespace().next()?.parse().ok()
}

/// Runs the command, and reports its error or a panic.
fn guarded() -> ExitCode {
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
