//! The commands of the program, one file each.

mod advise;
mod bench;
mod cache;
mod card;
mod check;
mod cluster;
mod compare;
mod completions;
mod demo;
mod explain;
mod export;
mod fit;
mod import;
mod init;
mod man;
mod merge;
mod preset;
mod probe;
mod pts;
mod report;
mod reproduce;
mod run;
mod schema;
mod trace;

use crate::args::Command;
use crate::failure::Outcome;

/// Runs the command that the user chose.
pub fn run(command: Command) -> Outcome {
    match command {
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Init(arguments) => init::run(&arguments),
        Command::Run(arguments) => run::run(&arguments),
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Advise(arguments) => advise::run(&arguments),
        Command::Export(arguments) => export::run(&arguments),
        Command::Import(arguments) => import::run(&arguments),
        Command::Merge(arguments) => merge::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Trace(command) => trace::run(&command),
        Command::Preset { command } => preset::run(command.as_ref()),
        Command::Probe(arguments) => probe::run(&arguments),
        Command::Fit(arguments) => fit::run(&arguments),
        Command::Report(arguments) => report::run(&arguments),
        Command::Pts(arguments) => pts::run(&arguments),
        Command::Reproduce(arguments) => reproduce::run(&arguments),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Cache { command } => cache::run(command.as_ref()),
        Command::Schema { report, markdown } => schema::run(report, markdown),
        Command::Explain { name } => explain::run(&name),
        Command::Completions { shell } => completions::run(shell),
        Command::Man { out } => man::run(out.as_deref()),
    }
}
