//! `flashraid run`: one simulation.

use std::ops::Range;
use std::path::Path;

use flashraid::Report;
use flashraid::study::Setting;
use flashraid_workload::units::Duration;
use serde_json::Value;

use crate::args::RunArgs;
use crate::failure::{Failure, Outcome};
use crate::files;
use crate::machine::Machine;
use crate::output::json;
use crate::progress::Board;
use crate::watch::Watcher;
use crate::{interrupt, scenario};
use flashraid_report::page::Page;
use flashraid_report::parquet::Metadata;
use flashraid_report::requests::RequestFiles;
use flashraid_report::{chart, picture, run as tables, text};

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
    if arguments.timeline.is_some() && arguments.out.is_none() && !arguments.json {
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
    let mut watcher = Watcher::new(&board, requests.as_mut());
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
    match arguments.json {
        true => json::print(&document)?,
        false => {
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
    let (facts, sheets, charts) = (tables::notes(report), tables::sheets(report), chart::of_run(document));
    let title = format!("flashraid run {}", file.display());
    // What was run, and its response times.
    let (summary, details) = sheets.split_at(2);
    let page = Page { title: &title, facts: &facts, summary, details, charts: &charts, configuration: &document["config"] };
    files::write(&out.join("report.html"), page.html().as_bytes())?;
    chart::table(&charts).of(&document["config"]).write(out, "charts")?;
    Ok(picture::write(&charts, out)?)
}
