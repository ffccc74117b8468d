//! `flashraid run`: runs one simulation and reports it.

use std::fs;
use std::ops::Range;
use std::path::Path;

use flashraid::config::Scenario;
use flashraid::study::Setting;
use flashraid::{Report, Simulation, Stop, counterfactual};
use flashraid_workload::units::Duration;
use serde_json::Value;

use crate::args::{OutputFormat, RunArgs};
use crate::failure::{Failure, Outcome};
use crate::files;
use crate::interrupt;
use crate::machine::{self, resources};
use crate::out_folder::{OutFolder, all_or_nothing};
use crate::output::json;
use crate::output::narrow::{columns, narrow};
use crate::progress::Board;
use crate::scenario;
use crate::watch::Watcher;
use flashraid_report::grid::Grid;
use flashraid_report::page::{self, Page};
use flashraid_report::parquet::Metadata;
use flashraid_report::requests::RequestFiles;
use flashraid_report::{chart, fio, fio_logs, hdr, picture, run as tables, series, text};

use super::compare::{run_long_enough, shown as shown_grid, write_reports as write_grid, written};
use crate::until::Extensions;

/// Runs `flashraid run` with its arguments.
pub fn run(arguments: &RunArgs) -> Outcome {
    refuse_overwriting(arguments)?;
    if arguments.until.at_most.is_some() && arguments.until.until.is_none() {
        return Err(Failure::Input("--at-most: it bounds --until judged or --until P%, and neither is given".to_owned()));
    }
    if let Some(seeds) = arguments.seeds {
        return run_seeds(arguments, seeds);
    }
    let configured = || -> Outcome<Simulation<'_>> {
        let mut simulation = scenario::simulation(&arguments.scenario, &window(arguments.timeline.as_ref()))?;
        if let Some(seed) = arguments.seed {
            simulation = simulation.seed(seed);
        }
        if arguments.check {
            simulation = simulation.verify();
        }
        if arguments.because {
            simulation = simulation.because();
        }
        Ok(simulation)
    };
    // Errors are reported before files are made. The scenario is kept, so that a trace's format is detected only once.
    let mut simulation = configured()?;
    let scenario = simulation.scenario()?;
    if arguments.timeline.is_some() && arguments.out.is_none() && arguments.form() != OutputFormat::Json {
        return Err(Failure::Input(
            "--timeline: add --out DIR for the picture of the window, or --json for its entries; tables have no place for it".to_owned(),
        ));
    }
    let runs = if arguments.because { 1 + refuse_or_count_changes(arguments, &scenario)? } else { 1 };
    if arguments.until.until.is_some() {
        refuse_what_cannot_go_on(&scenario)?;
    }
    // The runs follow each other. Beside each array there is the state that they share.
    let resources = resources(arguments.machine, &vec![&scenario; runs], Some(1))?;
    interrupt::stop_at_next_step()?;
    let checked = simulation.check_unless_stopped(&Stop::stop_when(interrupt::requested))?;
    machine::announce_seconds(
        checked.seconds.map(|seconds| seconds.with_warm_up_threads(resources.threads_per_simulation).with_runs(runs)),
        runs,
        &resources,
        arguments.machine.quiet,
    );
    simulation = simulation.with_earlier_check(checked);
    let config = json::document(&scenario.config)?;
    let out = arguments.out.as_deref().map(|out| OutFolder::claim(out, Some(arguments.force))).transpose()?;
    let mut extensions = Extensions::new(arguments.until, None);
    let (report, document, requests, hdr, fio_logs, fio) = loop {
        let mut requests = out.as_ref().map(|out| RequestFiles::begin(out.path(), &Metadata::of(&config), arguments.csv)).transpose()?;
        let (interval_ns, skip) = (scenario.metrics.bandwidth_interval.ns, scenario.metrics.skip);
        let mut hdr = arguments.hdr.as_ref().map(|file| hdr::Log::begin(file, interval_ns, skip)).transpose()?;
        let mut fio_logs = arguments.fio_logs.as_ref().map(|prefix| fio_logs::Logs::begin(prefix, interval_ns, skip)).transpose()?;

        let board = Board::new(1, arguments.machine.quiet);
        let mut fio = (arguments.form() == OutputFormat::Fio).then(|| fio::Recorder::new(scenario.metrics.skip));
        let mut watcher = Watcher::new(&board, requests.as_mut());
        (watcher.fio, watcher.hdr, watcher.fio_logs) = (fio.as_mut(), hdr.as_mut(), fio_logs.as_mut());
        let threads = resources.threads_per_simulation;
        let cache = resources.warm_state_cache.clone();
        let result = simulation.threads(threads).warm_state_cache(cache).observe(&mut watcher).run();
        board.clear();
        let report = match watcher.failure {
            Some(failure) => return Err(failure),
            None => result?,
        };
        let document = json::document(&report)?;
        if report.partial || !extensions.go_on(&Grid::of_report(&document), arguments.machine.quiet) {
            break (report, document, requests, hdr, fio_logs, fio);
        }
        simulation = configured()?.longer(extensions.times);
    };

    hdr.map(hdr::Log::finish).transpose()?;
    fio_logs.map(fio_logs::Logs::finish).transpose()?;
    if let (Some(out), Some(requests)) = (&out, requests) {
        all_or_nothing(out.path(), || {
            requests.finish()?;
            write_reports(&report, &document, &arguments.scenario.file, out.path())
        })?;
    }
    match arguments.form() {
        OutputFormat::Json => json::print(&document)?,
        OutputFormat::Fio => {
            let job =
                arguments.scenario.file.file_stem().map_or_else(|| "flashraid".to_owned(), |name| name.to_string_lossy().into_owned());
            json::print(&fio.expect("it was wanted").document(&report, &job))?;
        }
        OutputFormat::Text => {
            let tables =
                if arguments.csv { "{requests,series,charts}.{csv,parquet}" } else { "requests.parquet, {series,charts}.{csv,parquet}" };
            let written = out.as_ref().map_or_else(String::new, |out| written(out.path(), tables));
            let length = extensions.sentence(&Grid::of_report(&document), columns());
            files::print(&format!("{length}{}{written}", shown(&report, arguments.tables)))?;
        }
    }
    let stopped = match &report.because {
        _ if report.partial && arguments.because => {
            "stopped: the report covers the run so far and is marked as partial; there was no further run for --because"
        }
        _ if report.partial => "stopped: the report covers the run so far and is marked as partial",
        Some(because) if because.stopped => "stopped: the report is complete, but not all further runs of --because were made",
        _ => return Ok(()),
    };
    Err(Failure::Interrupted(stopped.to_owned()))
}

/// Refuses a workload that cannot be made longer, or that can be read only once.
fn refuse_what_cannot_go_on(scenario: &Scenario) -> Outcome {
    let refused = |reason: String| Failure::Input(format!("--until: {reason}"));
    scenario.longer(2).map_err(|reason| refused(format!("the run can't be made longer: {reason}")))?;
    counterfactual::input_read_once(scenario).map_or(Ok(()), |path| {
        Err(refused(format!("`workload.path`: {} can be read only once; write it to a file (flashraid trace convert)", path.display())))
    })
}

/// Returns the number of further runs of `--because`, or the reason why there can be none.
fn refuse_or_count_changes(arguments: &RunArgs, scenario: &Scenario) -> Outcome<usize> {
    if arguments.form() == OutputFormat::Fio {
        return Err(Failure::Input(
            "--because: the document of fio has no place for it; print tables, or the document of --json".to_owned(),
        ));
    }
    counterfactual::refuse_what_is_read_once(scenario).map_err(|error| Failure::Input(error.to_string()))?;
    Ok(counterfactual::possible_changes(scenario).len())
}

/// Formats a run for standard output: the summary and its remarks; with `all` every table, too.
pub fn shown(report: &Report, all: bool) -> String {
    let width = columns();
    let sheet = tables::summary(report);
    let lines = |lines: &[String]| -> String { lines.iter().map(|line| text::wrap(line, width, "  ") + "\n").collect() };
    let more = match all {
        true => format!("\n{}", text::render(&narrow(tables::sheets(report)))),
        false => tables::because(report).iter().map(|sheet| format!("\n{}\n{}", sheet.title, text::compact(sheet))).collect(),
    };
    format!(
        "{}{}{}{more}",
        lines(std::slice::from_ref(&sheet.title)),
        text::compact(&sheet),
        lines(&[vec![tables::facts(report)], tables::notes(report, all)].concat())
    )
}

/// Refuses single files that exist already, unless `--force` is given. Folders of results get another name instead.
fn refuse_overwriting(arguments: &RunArgs) -> Outcome {
    if arguments.force {
        return match (&arguments.out, &arguments.hdr, &arguments.fio_logs) {
            (None, None, None) => {
                Err(Failure::Input("--force: nothing is written; add --out DIR, --hdr FILE or --fio-logs PREFIX".to_owned()))
            }
            _ => Ok(()),
        };
    }
    let logs = arguments.fio_logs.iter().flat_map(|prefix| fio_logs::paths(prefix));
    // A link to a missing file exists, too.
    match arguments.hdr.iter().cloned().chain(logs).find(|file| fs::symlink_metadata(file).is_ok()) {
        Some(file) => Err(Failure::Input(format!("{} is there already; name another file, or --force to write over it", file.display()))),
        None => Ok(()),
    }
}

/// Runs several seeds, as a comparison that has one point.
fn run_seeds(arguments: &RunArgs, seeds: u64) -> Outcome {
    let mut study = scenario::study(&arguments.scenario)?.seeds(seeds);
    if let Some(seed) = arguments.seed {
        study = study.seed(seed);
    }
    let plan = study.plan()?;
    let resources = resources(arguments.machine, &plan.scenarios(), None)?;
    machine::announce(&plan.scenarios(), &resources, arguments.machine.quiet)?;
    let out = arguments.out.as_deref().map(|out| OutFolder::claim(out, Some(arguments.force))).transpose()?;
    let (grid, extensions) =
        run_long_enough(plan.with_resources(resources), arguments.until, None, arguments.machine.quiet, "Nothing was written.")?;
    if let Some(out) = &out {
        write_grid(&grid, &format!("flashraid run {} --seeds {seeds}", arguments.scenario.file.display()), out.path())?;
    }
    match arguments.json {
        true => json::print(&grid.document()),
        false => {
            let length = extensions.sentence(&grid, columns());
            files::print(&format!("{length}{}", shown_grid(&grid, out.as_ref().map(OutFolder::path), arguments.tables)))
        }
    }
}

/// Returns the settings of the configuration that ask for a timeline.
pub fn window(timeline: Option<&Range<Duration>>) -> Vec<Setting> {
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
