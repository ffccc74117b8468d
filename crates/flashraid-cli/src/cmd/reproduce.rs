//! `flashraid reproduce`: the papers' figures, each with its claims.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use flashraid::config;
use flashraid::content::Contents;
use flashraid::study::{Setting, Simulated, Store, run_all};
use flashraid_experiments::ledger::{self, Origin};
use flashraid_experiments::{Evaluation, Figure, Point, Results, Size, Variation, figures};
use flashraid_workload::catalogue;
use serde_json::Value;

use crate::args::{DEFAULT_OUT, ReproduceArgs};
use crate::failure::{Failure, Outcome};
use crate::machine::means;
use crate::out_folder::all_or_nothing;
use crate::output::narrow::narrow;
use crate::output::{json, reproduction};
use crate::progress::Board;
use crate::{files, interrupt, scenario};
use flashraid_report::chart::{self, Chart};
use flashraid_report::page::{Page, Part};
use flashraid_report::{picture, text};

/// Runs the command.
pub fn run(arguments: &ReproduceArgs) -> Outcome {
    let chosen = match arguments.figures.as_slice() {
        [only] if only == "list" => return list(arguments.json),
        ids => choose(ids)?,
    };
    let size = if arguments.quick { Size::Quick } else { Size::Full };
    let traces = traces(&arguments.trace)?;
    refuse_unused(&traces, &chosen)?;
    let plan = Plan::new(chosen, size, arguments.seed, &traces)?;

    let simulations: Vec<_> = plan.tasks.iter().map(|task| &task.scenario).collect();
    let means = means(arguments.machine, &simulations, arguments.jobs)?;
    let folder = if arguments.quick { "reproduce-quick" } else { "reproduce" };
    let out = arguments.out.clone().unwrap_or_else(|| PathBuf::from(DEFAULT_OUT).join(folder));
    let store = Store::open(&out)?;
    interrupt::stop_at_next_step()?;
    let board = Board::new(plan.tasks.len(), arguments.machine.quiet);
    let tasks: Vec<&Simulated> = plan.tasks.iter().collect();
    let reports = run_all(&tasks, &means, Some(&store), &board);
    board.clear();
    let reports = reports?;
    let (done, all) = (reports.iter().flatten().count(), reports.len());
    if done < all {
        let kept = format!("The same command goes on from here; finished simulations are in {}.", out.display());
        return Err(Failure::Interrupted(format!("stopped: {done} of {all} simulations are done. {kept}")));
    }
    let reports = reports.iter().flatten().map(json::document).collect::<Result<Vec<Value>, _>>()?;
    let curves = plan.curves(&reports);
    let evaluated = plan.evaluate(&reports);
    let origin = Origin { date: today(), version: env!("CARGO_PKG_VERSION").to_owned(), size, first_seed: arguments.seed };

    let document = reproduction::document(&evaluated, &origin)?;
    write(&evaluated, curves, &origin, &document, &out)?;
    match arguments.json {
        true => json::print(&document),
        false => files::print(&format!("{}{}\n", text::render(&narrow(reproduction::sheets(&evaluated))), summary(&evaluated, &out))),
    }
}

fn list(as_json: bool) -> Outcome {
    match as_json {
        true => json::print(&reproduction::list_document(&figures())),
        false => files::print(&text::render(&[reproduction::list(&figures())])),
    }
}

/// The figures of these names; a paper's name means all of its figures.
fn choose(ids: &[String]) -> Outcome<Vec<Figure>> {
    let mut all = figures();
    let wanted = |figure: &Figure, id: &String| id == "all" || figure.id == id || figure.id.split('.').next() == Some(id);
    if let Some(unknown) = ids.iter().find(|id| !all.iter().any(|figure| wanted(figure, id))) {
        let known: Vec<&str> = all.iter().map(|figure| figure.id).collect();
        return Err(Failure::Input(format!("there is no figure {unknown}; there are all, ggc, pgc, lawc, poster, {}", known.join(", "))));
    }
    all.retain(|figure| ids.iter().any(|id| wanted(figure, id)));
    Ok(all)
}

/// `NAME=FILE` pairs of workloads that exist.
fn traces(settings: &[Setting]) -> Outcome<Vec<(String, String)>> {
    for setting in settings {
        if let Err(problem) = catalogue::find(&setting.key) {
            return Err(Failure::Input(format!("--trace {setting}: {problem}")));
        }
    }
    Ok(settings.iter().map(|setting| (setting.key.clone(), setting.value.clone())).collect())
}

/// A trace for a workload that no figure uses is a mistake.
fn refuse_unused(traces: &[(String, String)], chosen: &[Figure]) -> Outcome {
    let uses =
        |point: &Point, name: &String| point.settings(Size::Full, &[]).iter().any(|(key, value)| key == "workload.preset" && value == name);
    let unused = traces.iter().find(|(name, _)| !chosen.iter().flat_map(|figure| &figure.points).any(|point| uses(point, name)));
    match unused {
        Some((name, file)) => Err(Failure::Input(format!("--trace {name}={file}: none of the chosen figures uses the workload {name}"))),
        None => Ok(()),
    }
}

/// The simulations of the chosen figures; one that several figures share is there once.
struct Plan {
    tasks: Vec<Simulated>,
    figures: Vec<Planned>,
}

/// A figure with its simulations.
struct Planned {
    figure: Figure,
    points: Vec<PlannedPoint>,
    /// Claims with other settings, and the points with these.
    variations: Vec<(String, Variation, Vec<PlannedPoint>)>,
}

/// The name of a point and the positions of its tasks, one for each seed.
type PlannedPoint = (String, Vec<usize>);

impl Plan {
    /// The quick size leaves other settings than the figures' own out.
    fn new(chosen: Vec<Figure>, size: Size, first_seed: u64, traces: &[(String, String)]) -> Outcome<Plan> {
        let mut tasks: Vec<Simulated> = Vec::new();
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        let mut contents = Contents::default();
        let mut position = |point: &Point, seed: u64| -> Outcome<usize> {
            let scenario = config::from_str(&point.name, point.text, &point.settings(size, traces), Some(seed));
            let task = Simulated::new(scenario.map_err(|problems| scenario::refuse(&problems))?, &mut contents)?;
            let next = tasks.len();
            let index = *known.entry(task.id.clone()).or_insert(next);
            if index == next {
                tasks.push(task);
            }
            Ok(index)
        };
        let mut plan_points = |points: &[Point], seeds: u64| -> Outcome<Vec<PlannedPoint>> {
            let of_point = |point: &Point| {
                let seeds = (first_seed..first_seed + seeds).map(|seed| position(point, seed));
                Ok((point.name.clone(), seeds.collect::<Outcome<Vec<usize>>>()?))
            };
            points.iter().map(of_point).collect()
        };
        let mut figures = Vec::new();
        for figure in chosen {
            let points = plan_points(&figure.points, size.seeds())?;
            let mut variations = Vec::new();
            for fact in figure.facts().into_iter().filter(|_| size == Size::Full) {
                for variation in fact.vary {
                    let points = plan_points(&variation.points(&figure), 1)?;
                    variations.push((fact.id.clone(), variation, points));
                }
            }
            figures.push(Planned { figure, points, variations });
        }
        Ok(Plan { tasks, figures })
    }

    /// The curves of each figure, with the first seed.
    fn curves(&self, reports: &[Value]) -> Vec<Vec<Chart>> {
        let of_figure = |Planned { figure, points, .. }: &Planned| {
            let first = points.iter().filter_map(|(name, tasks)| Some((name.clone(), &reports[*tasks.first()?])));
            reproduction::curves(figure, &first.collect::<Vec<_>>())
        };
        self.figures.iter().map(of_figure).collect()
    }

    fn evaluate(self, reports: &[Value]) -> Vec<(Figure, Evaluation)> {
        let results = |points: &[PlannedPoint]| {
            let mut results = Results::default();
            for (name, tasks) in points {
                results.insert(name, tasks.iter().map(|index| reports[*index].clone()).collect());
            }
            results
        };
        let evaluate = |Planned { figure, points, variations }: Planned| {
            let mut evaluation = Evaluation::of(&figure, &results(&points));
            for (claim, variation, points) in &variations {
                evaluation.add_sensitivity(&figure, claim, &variation.set, &results(points));
            }
            (figure, evaluation)
        };
        self.figures.into_iter().map(evaluate).collect()
    }
}

fn write(evaluated: &[(Figure, Evaluation)], curves: Vec<Vec<Chart>>, origin: &Origin, document: &Value, out: &Path) -> Outcome {
    let (summary, details) = (reproduction::sheets(evaluated), reproduction::row_sheets(evaluated));
    let charts = reproduction::charts(evaluated, curves);
    let charts_table = chart::table(&charts);
    let title = "The papers reproduced";
    let part = Part {
        title: title.to_owned(),
        headline: Some(ledger::tally(evaluated.iter().flat_map(|(_, evaluation)| &evaluation.claims))),
        facts: vec![format!("run on {} with seeds from {} on", origin.date, origin.first_seed)],
        summary,
        details,
        charts,
        ..Part::default()
    };
    all_or_nothing(out, || {
        files::write(&out.join("reproduction.json"), json::text(document).as_bytes())?;
        files::write(&out.join("reproduction.md"), ledger::markdown(evaluated, origin).as_bytes())?;
        reproduction::table(evaluated).write(out, "rows")?;
        charts_table.write(out, "charts")?;
        files::write(&out.join("report.html"), Page { title, parts: std::slice::from_ref(&part) }.html().as_bytes())?;
        Ok(picture::write(&part.charts, out)?)
    })
}

fn summary(evaluated: &[(Figure, Evaluation)], out: &Path) -> String {
    let tally = ledger::tally(evaluated.iter().flat_map(|(_, evaluation)| &evaluation.claims));
    format!("{tally}; written to {}", out.display())
}

/// The day by the system's clock (UTC), as `2026-11-21`.
fn today() -> String {
    let seconds = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (year, month, day) = civil(seconds / 86_400);
    format!("{year:04}-{month:02}-{day:02}")
}

/// Year, month and day of a count of days since 1970-01-01.
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
        let plan = Plan::new(chosen, Size::Quick, 1, &[]).unwrap();
        let names: usize = plan.figures.iter().map(|planned| planned.points.len()).sum();
        // Figures 6 and 9 consist of points of figure 11, but for hpc-r.
        assert_eq!((names, plan.tasks.len()), (4 + 19 + 59, 4 * (59 + 2)));
    }

    #[test]
    fn unknown_figures_and_workloads_are_refused() {
        assert!(choose(&["ggc.fig99".to_owned()]).unwrap_err().message().unwrap().contains("ggc.fig6"));
        assert_eq!(choose(&["pgc".to_owned()]).unwrap().len(), 8);
        assert!(traces(&["nonsense=x".parse().unwrap()]).is_err());
    }
}
