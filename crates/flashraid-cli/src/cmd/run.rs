//! `flashraid run`: one simulation.

use std::ops::Range;
use std::path::Path;

use flashraid::Report;
use flashraid::study::Setting;
use flashraid_workload::units::Duration;
use serde_json::Value;

use crate::args::{OutputFormat, RunArgs};
use crate::failure::{Failure, Outcome};
use crate::files;
use crate::machine::Machine;
use crate::output::json;
use crate::progress::Board;
use crate::watch::Watcher;
use crate::{interrupt, scenario};
use flashraid_report::page::{self, Page};
use flashraid_report::parquet::Metadata;
use flashraid_report::requests::RequestFiles;
use flashraid_report::{chart, fio, picture, run as tables, series, text};

/// Runs the command.
pub fn run(arguments: &RunArgs) -> Outcome {
    let mut simulation = scenario::simulation(&arguments.scenario, &window(arguments.timeline.as_ref()))?;
    if let Some(seed) = arguments.seed {
        simulation = simulation.seed(seed);
    }
    if arguments.check {
        simulation = simulation.verify();
    }
    // What is wrong is said before there are files.
    let scenario = simulation.scenario()?;
    if arguments.timeline.is_some() && arguments.out.is_none() && arguments.form() != OutputFormat::Json {
        return Err(Failure::Input(
            "--timeline: add --out DIR for the picture of the window, or --json for its entries; tables have no place for it".to_owned(),
        ));
    }
    let machine = Machine::new(arguments.machine, &[&scenario], None)?;
    simulation = simulation.threads(machine.threads).warm_cache(machine.cache);
    let config = json::document(&scenario.config)?;
    let mut requests = arguments.out.as_deref().map(|out| RequestFiles::begin(out, &Metadata::of(&config))).transpose()?;

    interrupt::stop_at_next_step()?;
    let board = Board::new(1);
    let mut fio = (arguments.form() == OutputFormat::Fio).then(|| fio::Recorder::new(scenario.metrics.skip));
    let mut watcher = Watcher::new(&board, requests.as_mut());
    watcher.fio = fio.as_mut();
    let result = simulation.observe(&mut watcher).run();
    board.clear();
    let report = match watcher.failure {
        Some(failure) => return Err(failure),
        None => result?,
    };
    let document = json::document(&report)?;

    if let (Some(out), Some(requests)) = (&arguments.out, requests) {
        requests.finish()?;
        write_reports(&report, &document, &arguments.scenario.file, out)?;
    }
    match arguments.form() {
        OutputFormat::Json => json::print(&document)?,
        OutputFormat::Fio => {
            let job =
                arguments.scenario.file.file_stem().map_or_else(|| "flashraid".to_owned(), |name| name.to_string_lossy().into_owned());
            json::print(&fio.expect("it was wanted").document(&report, &job))?;
        }
        OutputFormat::Text => {
            let notes: String = tables::notes(&report).into_iter().map(|note| note + "\n").collect();
            files::print(&format!("{notes}{}", text::render(&tables::sheets(&report))))?;
        }
    }
    match report.partial {
        true => Err(Failure::Interrupted("stopped: the report covers what was done and is marked as partial".to_owned())),
        false => Ok(()),
    }
}

/// The settings that ask for a timeline.
fn window(timeline: Option<&Range<Duration>>) -> Vec<Setting> {
    let setting = |key: &str, value: Duration| Setting { key: format!("report.timeline.{key}"), value: value.to_string() };
    timeline.map_or(Vec::new(), |window| vec![setting("from", window.start), setting("to", window.end)])
}

fn write_reports(report: &Report, document: &Value, file: &Path, out: &Path) -> Outcome {
    files::write(&out.join("report.json"), json::text(document).as_bytes())?;
    let title = format!("flashraid run {}", file.display());
    let part = page::of_run(&title, report, document);
    files::write(&out.join("report.html"), Page { title: &title, parts: std::slice::from_ref(&part) }.html().as_bytes())?;
    chart::table(&part.charts).of(&document["config"]).write(out, "charts")?;
    series::of_run(document).of(&document["config"]).write(out, "series")?;
    Ok(picture::write(&part.charts, out)?)
}
