//! `flashraid reproduce`: simulates the papers' figures, and compares each of their claims with the results.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use flashraid::Stop;
use flashraid::config::{self, Scenario};
use flashraid::duration::WallClockEstimator;
use flashraid::file_hashes::InputFileHashes;
use flashraid::study::{MachineResources, ReportStore, Setting, StudySimulation, default_workers, run_all};
use flashraid_experiments::ledger::{self, Origin};
use flashraid_experiments::remedies::{comparison, crossover, outcomes};
use flashraid_experiments::{Claim, Evaluation, Figure, Point, Results, Row, Size, figures};
use flashraid_workload::catalogue;
use serde::Deserialize;
use serde_json::Value;

use crate::args::{DEFAULT_OUT, ReproduceArgs};
use crate::failure::{Failure, Outcome};
use crate::machine::resources;
use crate::out_folder::all_or_nothing;
use crate::output::narrow::{columns, narrow};
use crate::output::{json, remedies, reproduction};
use crate::progress::Board;
use crate::{failure, files, interrupt};
use flashraid_report::chart::{self, Chart};
use flashraid_report::page::{Page, Part};
use flashraid_report::{claims, picture, results, text};

/// Runs `flashraid reproduce` with its arguments.
pub fn run(arguments: &ReproduceArgs) -> Outcome {
    let chosen = match arguments.figures.as_slice() {
        [only] if only == "list" => return list(arguments),
        [only] if only == "crossover" || only.split('.').next() == Some("remedies") => return side_by_side(arguments, only),
        ids => choose(ids)?,
    };
    let size = if arguments.quick { Size::Quick } else { Size::Full };
    let traces = traces(&arguments.trace)?;
    refuse_unused(&traces, &chosen)?;
    crate::memory::keep_freed();
    let folder = if arguments.quick { "reproduce-quick" } else { "reproduce" };
    let out = arguments.out.clone().unwrap_or_else(|| PathBuf::from(DEFAULT_OUT).join(folder));
    let mut plan = Plan::new(size, arguments.seed, &traces);
    let seeds = |if_not_told: u64| arguments.seeds.unwrap_or(if_not_told);
    let origin = Origin {
        date: today(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        size,
        first_seed: arguments.seed,
        seeds: seeds(size.seeds()),
    };
    let earlier = arguments.earlier.as_deref().map(|file| Earlier::read(file, &origin)).transpose()?;
    let mut own = Vec::new();
    for figure in &chosen {
        let points: Vec<Point> = figure.points.iter().filter(|point| point.has_its_trace(&traces)).cloned().collect();
        own.push(plan.add(&points, |point| seeds(point.seeds(size)))?);
    }

    interrupt::stop_at_next_step()?;
    plan.run(arguments, &out)?;
    let mut curves: Vec<Vec<Chart>> = std::iter::zip(&chosen, &own).map(|(figure, points)| plan.curves(figure, points)).collect();
    let mut evaluated: Vec<(Figure, Evaluation)> = std::iter::zip(chosen, &own)
        .map(|(figure, points)| {
            let evaluation = Evaluation::of(&figure, &plan.results(&figure, points));
            (figure, evaluation)
        })
        .collect();
    // With `--quick`, claims that disagree are not simulated with other settings.
    if size == Size::Full {
        add_sensitivities(&mut evaluated, &mut plan, arguments, &out)?;
    }
    if let Some(earlier) = earlier {
        (evaluated, curves) = earlier.around(evaluated, curves);
    }

    let document = reproduction::document(&evaluated, &origin)?;
    write(&evaluated, curves, &origin, &document, &out)?;
    match arguments.json {
        true => json::print(&document),
        false => {
            let written = format!(
                "written: {}/report.html, reproduction.md, *.svg, {{rows,charts}}.{{csv,parquet}}; --tables prints all tables",
                out.display()
            );
            files::print(&format!("{}{}\n", shown(&document, arguments.tables), text::wrap(&written, columns(), "  ")))
        }
    }
}

/// Runs the comparison of all remedies (`remedies`, or `remedies.DRIVE` for one drive), or that of collecting together and in turn
/// (`crossover`).
fn side_by_side(arguments: &ReproduceArgs, id: &str) -> Outcome {
    let is_crossover = id == "crossover";
    if let Some(trace) = arguments.trace.first() {
        return Err(Failure::Input(format!("--trace {trace}: this comparison uses no traces")));
    }
    if arguments.earlier.is_some() {
        return Err(Failure::Input("--earlier: this comparison has no earlier figures to keep; leave it out".to_owned()));
    }
    let size = if arguments.quick { Size::Quick } else { Size::Full };
    let (mut figures, name) = if is_crossover { (vec![crossover()], "crossover") } else { (comparison(), "remedies") };
    if let Some((_, drive)) = id.split_once('.') {
        let known: Vec<&str> = figures.iter().map(|figure| figure.id).collect();
        if !known.contains(&drive) {
            return Err(Failure::Input(format!("remedies are not compared on {drive}; the drives are {}", known.join(", "))));
        }
        figures.retain(|figure| figure.id == drive);
    }
    let folder = if arguments.quick { format!("{name}-quick") } else { name.to_owned() };
    let out = arguments.out.clone().unwrap_or_else(|| PathBuf::from(DEFAULT_OUT).join(folder));
    let seeds = arguments.seeds.unwrap_or(if is_crossover { 1 } else { 3 });
    let said = match seeds {
        1 => format!("Seed {}", arguments.seed),
        _ => format!("Seeds {} to {}", arguments.seed, arguments.seed + seeds - 1),
    };
    let mut plan = Plan::new(size, arguments.seed, &[]);
    let own = figures.iter().map(|figure| plan.add(&figure.points, |_| seeds)).collect::<Outcome<Vec<_>>>()?;
    interrupt::stop_at_next_step()?;
    plan.run(arguments, &out)?;
    let (text, document, charts) = if is_crossover {
        let results = plan.results(&figures[0], &own[0]);
        let document = remedies::crossover_document(&results, arguments.seed, seeds);
        (remedies::crossover_markdown(&results, &said), document, remedies::crossover_charts(&results))
    } else {
        let of_drive = |(figure, points): (Figure, &Vec<PlannedPoint>)| {
            let results = plan.results(&figure, points);
            (figure, outcomes(&results), results)
        };
        let drives: Vec<_> = std::iter::zip(figures, &own).map(of_drive).collect();
        let document = remedies::document(&drives, arguments.seed, seeds);
        (remedies::markdown(&drives, &said), document, remedies::charts(&drives))
    };
    all_or_nothing(&out, || {
        files::write(&out.join(format!("{name}.json")), json::text(&document).as_bytes())?;
        files::write(&out.join(format!("{name}.md")), text.as_bytes())?;
        chart::table(&charts).write(&out, "charts")?;
        Ok(picture::write(&charts, &out)?)
    })?;
    match arguments.json {
        true => json::print(&document),
        false => files::print(&format!("{text}\nwritten: {}/{name}.md, {name}.json, *.svg, charts.{{csv,parquet}}\n", out.display())),
    }
}

/// Formats a reproduction for standard output: a table of claims and the conclusion; with `tables` every value, too.
pub fn shown(document: &Value, tables: bool) -> String {
    let sheet = claims::summary(document);
    let sentence = text::wrap(&format!("⇒ {}", claims::conclusion(document)), columns(), "  ");
    let details = || std::iter::once(claims::values(document)).chain(claims::rows(document)).collect();
    let more = if tables { format!("\n{}", text::render(&narrow(details()))) } else { String::new() };
    format!("{}\n{}{sentence}\n{more}", sheet.title, text::compact(&sheet))
}

fn list(arguments: &ReproduceArgs) -> Outcome {
    let figures = figures();
    let size = if arguments.quick { Size::Quick } else { Size::Full };
    let mut estimates = WallClockEstimator::default();
    let seconds: Vec<f64> = figures.iter().map(|figure| seconds(figure, size, arguments, &mut estimates)).collect::<Outcome<_>>()?;
    match arguments.json {
        true => json::print(&reproduction::list_document(&figures, &seconds)),
        false => files::print(&text::render(&[reproduction::list(&figures, &seconds)])),
    }
}

/// Estimates the seconds that the simulations of a figure take. The extra ones for claims that disagree are left out, and those of traces.
fn seconds(figure: &Figure, size: Size, arguments: &ReproduceArgs, estimates: &mut WallClockEstimator) -> Outcome<f64> {
    let scenario = |point: &Point| {
        let scenario = config::scenario_from_toml(&point.name, point.text, &point.settings(size, &[]), Some(arguments.seed));
        Ok((scenario.map_err(|problems| failure::refuse(&problems))?, arguments.seeds.unwrap_or(point.seeds(size))))
    };
    let points = figure.points.iter().filter(|point| point.trace.is_none()).map(scenario).collect::<Outcome<Vec<(Scenario, u64)>>>()?;
    let resources = MachineResources {
        simulations_at_once: arguments.jobs.map_or_else(default_workers, usize::from),
        threads_per_simulation: 1,
        warm_state_cache: None,
    };
    let of_seed = |seed: u64| {
        let simulations: Vec<&Scenario> = points.iter().filter(|(_, seeds)| *seeds > seed).map(|(scenario, _)| scenario).collect();
        estimates.estimate_all(&simulations, &resources, &Stop::default()).total_seconds()
    };
    let most = points.iter().map(|(_, seeds)| *seeds).max().unwrap_or(0);
    Ok((0..most).map(of_seed).sum())
}

/// Returns the figures with these names. A paper's name selects all of its figures; `all` are those of the papers that the project began
/// with, and `later` the others.
fn choose(ids: &[String]) -> Outcome<Vec<Figure>> {
    let mut all = figures();
    let is_of_part = |figure: &Figure, id: &String| (id == "all" && !figure.is_later()) || (id == "later" && figure.is_later());
    let wanted = |figure: &Figure, id: &String| is_of_part(figure, id) || figure.id == id || figure.id.split('.').next() == Some(id);
    if let Some(unknown) = ids.iter().find(|id| !all.iter().any(|figure| wanted(figure, id))) {
        let known: Vec<&str> = all.iter().map(|figure| figure.id).collect();
        return Err(Failure::Input(format!(
            "there is no figure {unknown}; there are all, later, remedies, crossover, ggc, pgc, lawc, poster, {}",
            known.join(", ")
        )));
    }
    all.retain(|figure| ids.iter().any(|id| wanted(figure, id)));
    Ok(all)
}

/// Converts the settings of `--trace` to pairs of workload and file. Refuses names that are no workload.
fn traces(settings: &[Setting]) -> Outcome<Vec<(String, String)>> {
    let replayed: BTreeSet<&str> = figures().iter().flat_map(Figure::traces).collect();
    for setting in settings.iter().filter(|setting| !replayed.contains(setting.key.as_str())) {
        if let Err(problem) = catalogue::find_workload(&setting.key) {
            let replayed: Vec<&str> = replayed.iter().copied().collect();
            return Err(Failure::Input(format!("--trace {setting}: {problem}; later papers replay {}", replayed.join(", "))));
        }
    }
    Ok(settings.iter().map(|setting| (setting.key.clone(), setting.value.clone())).collect())
}

/// Refuses a trace for a workload that no chosen figure uses, as a likely mistake.
fn refuse_unused(traces: &[(String, String)], chosen: &[Figure]) -> Outcome {
    let uses = |point: &Point, name: &String| {
        point.trace == Some(name.as_str())
            || point.settings(Size::Full, &[]).iter().any(|(key, value)| key == "workload.preset" && value == name)
    };
    let unused = traces.iter().find(|(name, _)| !chosen.iter().flat_map(|figure| &figure.points).any(|point| uses(point, name)));
    match unused {
        Some((name, file)) => Err(Failure::Input(format!("--trace {name}={file}: none of the chosen figures uses the workload {name}"))),
        None => Ok(()),
    }
}

/// Runs the variations of claims that disagree, and evaluates these claims again with them.
fn add_sensitivities(evaluated: &mut [(Figure, Evaluation)], plan: &mut Plan, arguments: &ReproduceArgs, out: &Path) -> Outcome {
    let mut varied = Vec::new();
    for (index, (figure, evaluation)) in evaluated.iter().enumerate() {
        for (claim, variation) in evaluation.variations() {
            let points = variation.points(figure, claim);
            let points: Vec<Point> = points.into_iter().filter(|point| point.has_its_trace(plan.traces)).collect();
            varied.push((index, claim.id.clone(), variation.clone(), plan.add(&points, |_| 1)?));
        }
    }
    plan.run(arguments, out)?;
    for (index, claim, variation, points) in varied {
        let (figure, evaluation) = &mut evaluated[index];
        let results = plan.results(figure, &points);
        evaluation.add_sensitivity(figure, &claim, &variation, &results);
    }
    Ok(())
}

/// Figures of an earlier run, by name.
struct Earlier(BTreeMap<String, (Vec<Row>, Vec<Claim>)>);

impl Earlier {
    /// Reads the document of an earlier run. Refuses one of another size or of other seeds, since a ledger has one of each.
    fn read(file: &Path, origin: &Origin) -> Outcome<Earlier> {
        let refuse = |problem: String| Failure::Input(format!("--earlier {}: {problem}", file.display()));
        let text = fs::read_to_string(file).map_err(|error| refuse(format!("can't read it: {error}")))?;
        let document: EarlierDocument =
            serde_json::from_str(&text).map_err(|error| refuse(format!("it is no reproduction.json: {error}")))?;
        let kept = reproduction::identity(origin);
        for (key, found) in [("schema", &document.schema), ("size", &document.size), ("seeds", &document.seeds)] {
            if *found != kept[key] {
                return Err(refuse(format!("{key}: {found} there and {} here", kept[key])));
            }
        }
        Ok(Earlier(document.figures.into_iter().map(|figure| (figure.id, (figure.rows, figure.claims))).collect()))
    }

    /// Returns all figures in their order: those that were run, each with its curves, and the earlier ones, whose curves are not kept.
    fn around(mut self, evaluated: Vec<(Figure, Evaluation)>, curves: Vec<Vec<Chart>>) -> (Vec<(Figure, Evaluation)>, Vec<Vec<Chart>>) {
        let mut run: BTreeMap<&str, _> =
            std::iter::zip(evaluated, curves).map(|((figure, evaluation), curves)| (figure.id, (evaluation, curves))).collect();
        let all = figures().into_iter().filter_map(|figure| {
            let (evaluation, curves) = run.remove(figure.id).or_else(|| {
                let (rows, claims) = self.0.remove(figure.id)?;
                Some((Evaluation::earlier(&figure, rows, claims), Vec::new()))
            })?;
            Some(((figure, evaluation), curves))
        });
        all.unzip()
    }
}

/// The parts of a reproduction.json that another run needs.
#[derive(Deserialize)]
struct EarlierDocument {
    schema: Value,
    size: Value,
    seeds: Value,
    figures: Vec<EarlierFigure>,
}

#[derive(Deserialize)]
struct EarlierFigure {
    id: String,
    rows: Vec<Row>,
    claims: Vec<Claim>,
}

/// Simulations to run, and their reports. A simulation that several figures need is here once.
struct Plan<'a> {
    size: Size,
    first_seed: u64,
    traces: &'a [(String, String)],
    contents: InputFileHashes,
    tasks: Vec<StudySimulation>,
    known: BTreeMap<String, usize>,
    /// Reports of the tasks that have run, which are the first ones.
    reports: Vec<Value>,
}

/// Name of a point, and the positions of its tasks, one for each seed.
type PlannedPoint = (String, Vec<usize>);

impl<'a> Plan<'a> {
    fn new(size: Size, first_seed: u64, traces: &'a [(String, String)]) -> Plan<'a> {
        Plan {
            size,
            first_seed,
            traces,
            contents: InputFileHashes::default(),
            tasks: Vec::new(),
            known: BTreeMap::new(),
            reports: Vec::new(),
        }
    }

    /// Adds points, each with so many seeds. Returns where their tasks are.
    fn add(&mut self, points: &[Point], seeds: impl Fn(&Point) -> u64) -> Outcome<Vec<PlannedPoint>> {
        let mut planned = Vec::new();
        for point in points {
            let seeds = self.first_seed..self.first_seed + seeds(point);
            planned.push((point.name.clone(), seeds.map(|seed| self.position(point, seed)).collect::<Outcome<Vec<usize>>>()?));
        }
        Ok(planned)
    }

    fn position(&mut self, point: &Point, seed: u64) -> Outcome<usize> {
        let scenario = config::scenario_from_toml(&point.name, point.text, &point.settings(self.size, self.traces), Some(seed));
        let task = StudySimulation::new(scenario.map_err(|problems| failure::refuse(&problems))?, &mut self.contents)?;
        let next = self.tasks.len();
        let index = *self.known.entry(task.result_file_name.clone()).or_insert(next);
        if index == next {
            self.tasks.push(task);
        }
        Ok(index)
    }

    /// Runs the tasks that have not run yet.
    fn run(&mut self, arguments: &ReproduceArgs, out: &Path) -> Outcome {
        let tasks: Vec<&StudySimulation> = self.tasks[self.reports.len()..].iter().collect();
        let simulations: Vec<_> = tasks.iter().map(|task| &task.scenario).collect();
        let resources = resources(arguments.machine, &simulations, arguments.jobs)?;
        let is_new = !out.exists();
        let store = ReportStore::open(out)?;
        let board = Board::new(tasks.len(), arguments.machine.quiet);
        let reports = run_all(&tasks, &resources, Some(&store), &board);
        board.clear();
        let reports = reports.inspect_err(|_| {
            store.remove_if_empty();
            if is_new {
                // This fails if the folder holds anything, as intended.
                let _ = fs::remove_dir(out);
            }
        })?;
        let (done, all) = (reports.iter().flatten().count(), reports.len());
        if done < all {
            let kept = format!("The same command continues from here; finished simulations are in {}.", out.display());
            return Err(Failure::Interrupted(format!("stopped: {done} of {all} simulations are done. {kept}")));
        }
        for report in reports.iter().flatten() {
            self.reports.push(json::document(report)?);
        }
        Ok(())
    }

    fn results(&self, figure: &Figure, points: &[PlannedPoint]) -> Results {
        let mut results = Results::default();
        for name in figure.traces().into_iter().filter(|name| !self.traces.iter().any(|(given, _)| given == name)) {
            results.lacks_trace(name);
        }
        for (name, tasks) in points {
            results.insert(name, tasks.iter().map(|index| self.reports[*index].clone()).collect());
        }
        results
    }

    /// Returns the curves of a figure, from the reports of the first seed.
    fn curves(&self, figure: &Figure, points: &[PlannedPoint]) -> Vec<Chart> {
        let first = points.iter().filter_map(|(name, tasks)| Some((name.clone(), &self.reports[*tasks.first()?])));
        reproduction::curves(figure, &first.collect::<Vec<_>>())
    }
}

fn write(evaluated: &[(Figure, Evaluation)], curves: Vec<Vec<Chart>>, origin: &Origin, document: &Value, out: &Path) -> Outcome {
    let charts = reproduction::charts(evaluated, curves);
    let charts_table = chart::table(&charts);
    let is_later = evaluated.iter().all(|(figure, _)| figure.is_later());
    let title = if is_later { "Later papers reproduced" } else { "The papers reproduced" };
    let facts = vec![format!("run on {} with seeds from {} on", origin.date, origin.first_seed)];
    let part = Part { facts, charts, ..results::of_reproduction(title, document) };
    all_or_nothing(out, || {
        files::write(&out.join("reproduction.json"), json::text(document).as_bytes())?;
        files::write(&out.join("reproduction.md"), ledger::markdown(evaluated, origin, &claims::tally(document)).as_bytes())?;
        reproduction::table(evaluated).write(out, "rows")?;
        charts_table.write(out, "charts")?;
        files::write(&out.join("report.html"), Page { title, parts: std::slice::from_ref(&part) }.html().as_bytes())?;
        Ok(picture::write(&part.charts, out)?)
    })
}

/// Returns today's date by the system's clock (UTC), such as `2026-11-21`.
fn today() -> String {
    let seconds = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (year, month, day) = civil(seconds / 86_400);
    format!("{year:04}-{month:02}-{day:02}")
}

/// Returns year, month, and day of a number of days since 1970-01-01.
fn civil(mut days: u64) -> (u64, u64, u64) {
    let leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let mut year = 1970;
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let lengths = [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while days >= lengths[month] {
        days -= lengths[month];
        month += 1;
    }
    (year, month as u64 + 1, days + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        assert_eq!([0, 59, 11_016, 20_778].map(civil), [(1970, 1, 1), (1970, 3, 1), (2000, 2, 29), (2026, 11, 21)]);
    }

    #[test]
    fn points_that_figures_share_run_once() {
        let chosen = choose(&["ggc.fig6".to_owned(), "ggc.fig9".to_owned(), "ggc.fig11".to_owned()]).unwrap();
        let tasks = |size: Size| {
            let mut plan = Plan::new(size, 1, &[]);
            let names: usize = chosen.iter().map(|figure| plan.add(&figure.points, |point| point.seeds(size)).unwrap().len()).sum();
            (names, plan.tasks.len())
        };
        // Figures 6 and 9 use points of figure 11, except for hpc-r. At full size, two of the five enterprise workloads have three seeds.
        assert_eq!([Size::Quick, Size::Full].map(tasks), [(4 + 19 + 59, 4 * (59 + 2)), (4 + 19 + 59, 3 * 10 + 49 + 2)]);
    }

    #[test]
    fn unknown_figures_and_workloads_are_refused() {
        assert!(choose(&["ggc.fig99".to_owned()]).unwrap_err().message().unwrap().contains("ggc.fig6"));
        assert_eq!(choose(&["pgc".to_owned()]).unwrap().len(), 8);
        assert!(traces(&["nonsense=x".parse().unwrap()]).is_err());
    }
}
