//! `flashraid fit`: a device file of what fio measured.

use std::path::Path;
use std::time::Duration;

use flashraid_fit::fit::{FitOptions, fit};
use flashraid_fit::{Base, measured, page};
use flashraid_report::files::NewFile;
use flashraid_report::text;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::args::FitArgs;
use crate::failure::{Failure, Outcome};
use crate::output::json;
use crate::output::narrow::narrow;
use crate::{files, interrupt};

/// Runs `flashraid fit` with its arguments.
pub fn run(arguments: &FitArgs) -> Outcome {
    let out = &arguments.out;
    let beside = out.with_extension("html");
    if !out.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml")) {
        return Err(Failure::Input(format!("--out {}: the name of a device file ends in .toml", out.display())));
    }
    for file in [out, &beside] {
        if file.exists() && !arguments.force {
            return Err(Failure::Input(format!("{} is there already; --force writes over it", file.display())));
        }
    }
    let base = Base::read(&arguments.base)?;
    let results = measured::read(&arguments.results)?;
    // What can't be written is told before the minutes of the search.
    let (device, comparison) = (NewFile::begin(out)?, NewFile::begin(&beside)?);
    let simultaneous = arguments.jobs.map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from);

    interrupt::stop_at_next_step()?;
    let target = if arguments.quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr_with_hz(8) };
    let bar = ProgressBar::with_draw_target(None, target);
    bar.set_style(ProgressStyle::with_template("{spinner} {elapsed} {msg}").expect("the template is constant"));
    if !bar.is_hidden() {
        bar.enable_steady_tick(Duration::from_millis(250));
    }
    bar.set_message(format!("warming up, {} jobs", results.jobs.len()));
    let found = fit(
        &base,
        results,
        &FitOptions {
            parameters: arguments.parameters.clone(),
            hold_out: arguments.hold_out.clone(),
            scale: arguments.scale,
            seed: arguments.seed,
            threads: simultaneous,
            simplex_max: arguments.simplex as usize,
            stopped: &interrupt::requested,
            progress: &|evaluations, error| bar.set_message(format!("{evaluations} evaluations, errors {error:.2} deviations")),
        },
    );
    bar.finish_and_clear();
    let found = found?;
    let title = format!("flashraid fit {}", shown(&arguments.results.iter().map(|path| path.display().to_string()).collect::<Vec<_>>()));
    device.write(found.device.as_bytes())?;
    comparison.write(page::html(&found, &title).as_bytes())?;
    device.finish()?;
    comparison.finish()?;
    if arguments.json {
        return json::print(&json::document(&found)?);
    }
    let notes: String = found.notes.iter().map(|note| format!("note: {note}\n")).collect();
    let tables = text::render(&narrow(page::sheets(&found)));
    files::print(&format!("{}\n{notes}{tables}\nwritten: {}, {}\n", page::headline(&found), path(out), path(&beside)))
}

fn path(path: &Path) -> String {
    path.display().to_string()
}

/// The first results, if there are many.
fn shown(names: &[String]) -> String {
    match names {
        [one] => one.clone(),
        [first, rest @ ..] => format!("{first} and {} more", rest.len()),
        [] => String::new(),
    }
}
