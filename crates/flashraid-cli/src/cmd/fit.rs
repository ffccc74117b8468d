//! `flashraid fit`: a device file of what fio measured, or of a data sheet.

use std::path::Path;
use std::time::Duration;

use flashraid_fit::datasheet::{DataSheet, Made};
use flashraid_fit::fit::{FitOptions, fit};
use flashraid_fit::{Base, measured, page};
use flashraid_report::files::ReplacementFile;
use flashraid_report::text;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::args::{DataSheetArgs, FitArgs};
use crate::failure::{Failure, Outcome};
use crate::output::json;
use crate::output::narrow::narrow;
use crate::progress::Lines;
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
    let sheet = data_sheet(&arguments.sheet, out)?;
    let measured = match sheet {
        Some(_) => None,
        None => Some((Base::read(&arguments.base)?, measured::read(&arguments.results)?)),
    };
    // What can't be written is told before the minutes of the search.
    let (device, comparison) = (ReplacementFile::begin(out)?, ReplacementFile::begin(&beside)?);
    let simultaneous = arguments.jobs.map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from);

    interrupt::stop_at_next_step()?;
    let target = if arguments.quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr_with_hz(8) };
    let bar = ProgressBar::with_draw_target(None, target);
    bar.set_style(ProgressStyle::with_template("{spinner} {elapsed} {msg}").expect("the template is constant"));
    if !bar.is_hidden() {
        bar.enable_steady_tick(Duration::from_millis(250));
    }
    let lines = (bar.is_hidden() && !arguments.quiet).then(|| Lines::start(Duration::from_secs(60), crate::complain));
    let say = |message: &str| match &lines {
        Some(lines) => lines.say(message),
        None => bar.set_message(message.to_owned()),
    };
    say("warming up");
    let options = FitOptions {
        parameters: arguments.parameters.clone(),
        hold_out: arguments.hold_out.clone(),
        scale: arguments.scale,
        seed: arguments.seed,
        threads: simultaneous,
        simplex_max: arguments.simplex as usize,
        stopped: &interrupt::requested,
        progress: &|evaluations, error| say(&format!("{evaluations} evaluations, errors {error:.2} deviations")),
    };
    let made = match (&sheet, measured) {
        (Some(sheet), _) => sheet.make(&options),
        (None, Some((base, results))) => fit(&base, results, &options).map(Made::measured),
        (None, None) => unreachable!("without a data sheet there are results"),
    };
    drop(lines);
    bar.finish_and_clear();
    let made = made?;
    let Made { fit: found, card, .. } = &made;
    if let Some(reason) = found.unlike_base().filter(|_| sheet.is_none()) {
        return Err(Failure::Run(format!("{reason}. Nothing was written")));
    }
    let title = match &sheet {
        Some(sheet) => format!("flashraid fit --datasheet: {}", sheet.name()),
        None => format!("flashraid fit {}", shown(&arguments.results.iter().map(|path| path.display().to_string()).collect::<Vec<_>>())),
    };
    device.write(found.device.as_bytes())?;
    comparison.write(page::html(found, card, &title).as_bytes())?;
    device.finish()?;
    comparison.finish()?;
    if arguments.json {
        json::print(&json::document(&made)?)?;
    } else {
        let notes: String = found.notes.iter().map(|note| format!("note: {note}\n")).collect();
        let tables = text::render(&narrow(page::sheets(found, card)));
        files::print(&format!("{}\n{notes}{tables}\nwritten: {}, {}\n", page::headline(found, card), path(out), path(&beside)))?;
    }
    match found.stopped {
        true => Err(Failure::Interrupted(format!("stopped: {} has the best values so far", path(out)))),
        false => Ok(()),
    }
}

/// The data sheet of the options and their file; `None` if measurements are to be fitted.
fn data_sheet(arguments: &DataSheetArgs, out: &Path) -> Outcome<Option<DataSheet>> {
    let Some(file) = &arguments.datasheet else { return Ok(None) };
    let of_file = file.as_deref().map_or_else(|| Ok(DataSheet::default()), DataSheet::read)?;
    let of_options = DataSheet {
        name: arguments.name.clone(),
        capacity: arguments.capacity,
        raw: arguments.raw,
        seq_read: arguments.seq_read,
        seq_write: arguments.seq_write,
        rand_read: arguments.rand_read,
        rand_write: arguments.rand_write,
        read_latency: arguments.read_latency,
        write_latency: arguments.write_latency,
        dwpd: arguments.dwpd,
        flash: arguments.flash,
        like: arguments.like.clone(),
    };
    let of_out = DataSheet { name: out.file_stem().map(|stem| stem.to_string_lossy().into_owned()), ..DataSheet::default() };
    Ok(Some(of_options.or(of_file).or(of_out)))
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
