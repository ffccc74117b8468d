//! `flashraid compare`: runs every combination of the varied keys, and compares the results.

use std::path::{Path, PathBuf};

use flashraid::study::{MachineResources, Setting, Study, StudyPlan};
use flashraid::{Error, StudyResult};
use flashraid_report::grid::{Grid, Until};
use flashraid_report::number::count_with_noun;
use flashraid_report::page::{self, Page};
use flashraid_report::{chart, picture, text};

use crate::args::{CompareArgs, DEFAULT_OUT};
use crate::failure::{Failure, Outcome};
use crate::machine::{self, resources};
use crate::out_folder::all_or_nothing;
use crate::output::json;
use crate::output::narrow::{columns, narrow};
use crate::progress::Board;
use crate::until::{Extensions, UntilArgs};
use crate::{files, interrupt, scenario};

/// Most simulations of a comparison with timelines.
const TIMELINES_MAX: usize = 12;

/// Runs `flashraid compare` with its arguments.
pub fn run(arguments: &CompareArgs) -> Outcome {
    let plan = study(arguments)?.plan()?;
    if arguments.timeline.is_some() && plan.simulation_count() > TIMELINES_MAX {
        let many = count_with_noun(plan.simulation_count() as u64, "simulation");
        return Err(Failure::Input(format!("--timeline: {many} are too many to look at one by one; vary less, {TIMELINES_MAX} at most")));
    }
    if arguments.shard.is_some() && (arguments.until.until.is_some() || arguments.until.at_most.is_some()) {
        return Err(Failure::Input("--until: a shard keeps to what was asked, since it does not know the other points".to_owned()));
    }
    let is_for_others = arguments.slurm.is_some() || arguments.parallel;
    let resources = if is_for_others {
        // Other machines have the memory, or have not.
        MachineResources { simulations_at_once: 1, threads_per_simulation: 1, warm_state_cache: None }
    } else {
        resources(arguments.machine, &plan.scenarios(), arguments.jobs)?
    };
    let out = match &arguments.out {
        Some(out) if arguments.force => out.clone(),
        Some(out) => {
            plan.refuse_folder_of_other_study(out).map_err(|error| choose_another(error, "--out"))?;
            out.clone()
        }
        // The default folder is named after the hash of the study.
        None => PathBuf::from(DEFAULT_OUT).join(format!("compare-{}", plan.hash())),
    };
    if is_for_others {
        return super::cluster::run(arguments, plan, &out);
    }
    machine::announce(&plan.scenarios(), &resources, arguments.machine.quiet)?;
    let how_to_go_on = format!("The same command continues from here; finished simulations are in {}.", out.display());
    let plan = plan.folder(&out).with_resources(resources);
    if let Some(shard) = arguments.shard {
        let result = run_plan(&plan, arguments.machine.quiet, &how_to_go_on)?;
        return report_shard(shard, &result, &out, arguments.json);
    }
    let default = (!arguments.exactly).then_some(Until::Judged);
    let (grid, extensions) = run_long_enough(plan, arguments.until, default, arguments.machine.quiet, &how_to_go_on)?;
    let grid = Grid { sorted_by: arguments.sort, ..grid };
    write_reports(&grid, &format!("flashraid compare {}", arguments.scenario.file.display()), &out)?;
    match arguments.json {
        true => json::print(&grid.document()),
        false => {
            let length = extensions.sentence(&grid, columns());
            files::print(&format!("{length}{}", shown(&grid, Some(&out), arguments.tables)))
        }
    }
}

/// Runs a plan, and runs it again with longer runs until its points can be judged, or as far as the user wants. `default` is the goal
/// without `--until`, if the runs can become longer.
pub fn run_long_enough(
    plan: StudyPlan,
    until: UntilArgs,
    default: Option<Until>,
    quiet: bool,
    how_to_go_on: &str,
) -> Outcome<(Grid, Extensions)> {
    let can_go_on = plan.can_go_on();
    let option = if until.until.is_some() { Some("--until") } else { until.at_most.map(|_| "--at-most") };
    if let (Some(option), Err(error)) = (option, &can_go_on) {
        return Err(Failure::Input(format!("{option}: {error}")));
    }
    let mut extensions = Extensions::new(until, default.filter(|_| can_go_on.is_ok()));
    let mut grid = Grid::of(run_plan(&plan, quiet, how_to_go_on)?)?;
    while extensions.go_on(&grid, quiet) {
        let longer = plan.longer(extensions.times)?;
        machine::announce(&longer.scenarios(), longer.resources(), quiet)?;
        grid = Grid::of(run_plan(&longer, quiet, how_to_go_on)?)?;
    }
    Ok((grid, extensions))
}

fn study(arguments: &CompareArgs) -> Outcome<Study> {
    let mut study = scenario::study(&arguments.scenario)?.seeds(arguments.seeds);
    for Setting { key, value } in super::run::window(arguments.timeline.as_ref()) {
        study = study.set(&key, &value)?;
    }
    for axis in &arguments.vary {
        study = study.vary_axis(axis.clone())?;
    }
    if let Some(baseline) = &arguments.baseline {
        study = study.baseline(baseline);
    }
    if let Some(seed) = arguments.seed {
        study = study.seed(seed);
    }
    if let Some((index, count)) = arguments.shard {
        study = study.shard(index, count)?;
    }
    Ok(study)
}

/// Turns an error about a folder of results into a message that names the options against it.
fn choose_another(error: Error, option: &str) -> Failure {
    match error {
        Error::Study(problem) => Failure::Input(format!("{problem}; choose another folder with {option}, or --force to write over it")),
        error => error.into(),
    }
}

/// Reports one part of a comparison. It has nothing to compare yet, so the text only says which simulations the folder holds.
fn report_shard((index, count): (usize, usize), result: &StudyResult, out: &Path, as_json: bool) -> Outcome {
    let simulations = result.rows.len();
    match as_json {
        true => json::print(&serde_json::json!({
            "schema": "flashraid.shard/1",
            "shard": [index, count],
            "simulations": simulations,
            "folder": out.display().to_string(),
        })),
        false => files::print(&format!(
            "shard {index}/{count}: {1} done and kept in {0}\nflashraid merge {0} … puts all shards together\n",
            out.display(),
            count_with_noun(simulations as u64, "simulation")
        )),
    }
}

/// Runs a plan. Shows a progress bar, and stops at the next step after Ctrl-C. `how_to_go_on` then tells the user how to continue.
pub fn run_plan(plan: &StudyPlan, quiet: bool, how_to_go_on: &str) -> Outcome<StudyResult> {
    interrupt::stop_at_next_step()?;
    let board = Board::new(plan.simulation_count(), quiet);
    let result = plan.run(&board);
    board.clear();
    result.map_err(|error| match error {
        Error::StudyInterrupted { .. } => Failure::Interrupted(format!("{error}. {how_to_go_on}")),
        error => error.into(),
    })
}

/// Writes the reports, the points, the data of the charts, and the pictures. If one of them fails, no new file is left.
pub fn write_reports(grid: &Grid, title: &str, out: &Path) -> Outcome {
    let part = page::of_grid(title, grid);
    let configuration = &grid.points[0].reports[0]["config"];
    let page = Page { title, parts: std::slice::from_ref(&part) };
    all_or_nothing(out, || {
        files::write(&out.join("report.json"), json::text(&grid.document()).as_bytes())?;
        files::write(&out.join("report.html"), page.html().as_bytes())?;
        grid.table().of(configuration).write(out, "points")?;
        chart::table(&part.charts).of(configuration).write(out, "charts")?;
        Ok(picture::write(&part.charts, out)?)
    })
}

/// Formats a comparison for standard output: the summary, the conclusion, and the paths of the files. With `tables` the other tables, too.
pub fn shown(grid: &Grid, out: Option<&Path>, tables: bool) -> String {
    let width = columns();
    let sheet = grid.summary(width);
    let mut text = format!("{}\n{}", sheet.title, text::compact(&sheet));
    let mut paragraph = |line: &str, indent: &str| {
        if !line.is_empty() {
            text += &(text::wrap(line, width, indent) + "\n");
        }
    };
    paragraph(&grid.summary_legend(), "");
    grid.doubts().iter().for_each(|doubt| paragraph(doubt, "  "));
    grid.idle().iter().for_each(|idle| paragraph(idle, "  "));
    grid.conclusions().iter().for_each(|sentence| paragraph(&format!("⇒ {sentence}"), "  "));
    grid.costs_of_collection().iter().for_each(|sentence| paragraph(sentence, "  "));
    grid.notes().iter().for_each(|note| paragraph(note, "  "));
    if tables {
        text += &format!("\n{}{}\n", text::render(&narrow(grid.sheets())), text::wrap(&grid.legend(), width, ""));
    }
    text + &out.map_or_else(String::new, |out| written(out, "{points,charts}.{csv,parquet}"))
}

/// Formats the line that tells which files a command wrote.
pub fn written(out: &Path, tables: &str) -> String {
    let folder = out.display();
    text::wrap(&format!("written: {folder}/report.html, report.json, *.svg, {tables}; --tables prints all tables"), columns(), "  ") + "\n"
}
