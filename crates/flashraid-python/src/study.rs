//! Studies: here, or in parts for workers elsewhere.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use flashraid::config::Scenario;
use flashraid::run::run_with_shared_warm_ups;
use flashraid::study::{Axis, Study as Library, StudyPlan};
use flashraid::warm_state_cache::WarmStateCache;
use flashraid::warm_up::SharedWarmUps;
use flashraid::{Error, Observer, Progress, Simulation, Stop, StudyResult};
use flashraid_report::grid::Grid;
use flashraid_report::page::{self, Page};
use flashraid_report::{chart, json, text};
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};

use crate::error::{exception, of_output, refused, simulation_error};
use crate::machine;
use crate::report::Report;
use crate::spec::Spec;
use crate::table::Table;
use crate::wait::{OfStudy, Watch, interruptible};

/// A study, checked and ready to run.
#[pyclass(frozen, module = "flashraid._native")]
pub struct Plan(StudyPlan);

/// The results of a study.
#[pyclass(frozen, module = "flashraid._native")]
pub struct Study {
    result: StudyResult,
    /// Simulations that it should have.
    all: usize,
}

#[pymethods]
impl Plan {
    /// Checks every point of a study.
    #[new]
    fn new(py: Python<'_>, spec: &str, folder: Option<PathBuf>, force: bool) -> PyResult<Plan> {
        let spec = Spec::read(py, spec)?;
        py.detach(|| plan_of(&spec, folder, force)).map(Plan).map_err(|error| exception(py, &error))
    }

    fn __len__(&self) -> usize {
        self.0.simulation_count()
    }

    /// Names the study: the same for the same simulations.
    fn hash(&self) -> String {
        self.0.hash()
    }

    /// The numbers of simulations that the folder does not hold yet, in groups that share a warm-up.
    fn open_groups(&self, py: Python<'_>) -> PyResult<Vec<Vec<usize>>> {
        py.detach(|| self.0.unfinished_simulations_by_warm_up()).map_err(|error| exception(py, &error))
    }

    /// The settings and the seed of a simulation.
    fn simulation(&self, index: usize) -> (Vec<(String, String)>, u64) {
        let (settings, seed) = self.0.simulation(index);
        (settings.iter().map(|setting| (setting.key.clone(), setting.value.clone())).collect(), seed)
    }

    /// Memory that these simulations need, one after the other, about.
    fn memory_bytes(&self, simulations: Vec<usize>) -> u64 {
        self.0.memory_bytes(&simulations)
    }

    /// Takes reports of simulations that were run elsewhere, each with its number, and saves them in the folder.
    fn keep(&self, py: Python<'_>, reports: Vec<(usize, String)>) -> PyResult<()> {
        reports.iter().try_for_each(|(index, report)| {
            let report = Report::from_json(py, report)?;
            py.detach(|| self.0.save_report(*index, report.0)).map_err(|error| exception(py, &error))
        })
    }

    /// Removes and returns the finished simulations, from the folder or handed in.
    fn take_done(&self, py: Python<'_>) -> Study {
        Study { result: py.detach(|| self.0.take_finished_reports()), all: self.0.simulation_count() }
    }

    /// Runs what the folder does not hold yet: what is done, and what a signal handler or `progress` raised.
    #[pyo3(signature = (*, workers, threads, keep_warm, progress))]
    fn run(
        &self,
        py: Python<'_>,
        workers: Option<usize>,
        threads: Option<usize>,
        keep_warm: bool,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<(Study, Option<PyErr>)> {
        let means = machine::means(py, &self.0.scenarios(), workers, threads, keep_warm)?;
        let (watch, all) = (Arc::new(Watch::default()), self.0.simulation_count());
        let tick = || match &progress {
            Some(progress) => progress.call1((watch.of_study(), all)).map(drop),
            None => Ok(()),
        };
        let observer = OfStudy(Arc::clone(&watch));
        let work = || self.0.run_with(&means, &observer);
        let (result, raised) = interruptible(py, &watch, tick, work)?;
        let result = result.map_err(|error| exception(py, &error))?;
        if let (Some(progress), None) = (&progress, &raised) {
            progress.call1((all, all))?;
        }
        Ok((Study { result, all }, raised))
    }
}

fn plan_of(spec: &Spec, folder: Option<PathBuf>, force: bool) -> Result<StudyPlan, Error> {
    let study: Library = spec.study()?;
    let Some(folder) = folder else { return study.plan() };
    let plan = study.folder(&folder).plan()?;
    if !force {
        plan.refuse_folder_of_other_study(&folder)?;
    }
    Ok(plan)
}

/// The result of a study, as a text of which another process makes it again.
#[derive(Serialize, Deserialize)]
struct State {
    all: usize,
    axes: Vec<(String, Vec<String>)>,
    baselines: Vec<usize>,
    rows: Vec<(usize, flashraid::Report)>,
}

/// Puts the folders of all shards of a study together.
#[pyfunction]
pub fn merge(py: Python<'_>, folders: Vec<PathBuf>) -> PyResult<Study> {
    let result = py.detach(|| Library::merge(&folders)).map_err(|error| exception(py, &error))?;
    let all = result.rows.len();
    Ok(Study { result, all })
}

impl Study {
    /// Simulations of each point that are there.
    fn seeds(&self) -> Vec<usize> {
        let mut seeds = vec![0; self.result.points.len()];
        self.result.rows.iter().for_each(|row| seeds[row.point] += 1);
        seeds
    }

    /// Says what is missing, if something is.
    fn lack(&self, seeds: &[usize]) -> Option<String> {
        let done = self.result.rows.len();
        let lacks = done < self.all || seeds.iter().any(|count| *count == 0 || *count != seeds[0]);
        lacks.then(|| {
            let of = if done < self.all { format!("only {done} of {} simulations", self.all) } else { format!("only {done} simulations") };
            format!("{of} are there, a part of the study, of which nothing can be compared; `points` and `reports` have what is done")
        })
    }

    fn grid(&self, py: Python<'_>) -> PyResult<Grid> {
        let seeds = self.seeds();
        // Every point must have all of its seeds, or figures would be compared that are not there.
        if let Some(lack) = self.lack(&seeds) {
            return Err(simulation_error(py, &lack));
        }
        self.partial_grid(py)
    }

    fn partial_grid(&self, py: Python<'_>) -> PyResult<Grid> {
        let result = self.result.clone();
        py.detach(|| Grid::of(result)).map_err(|error| of_output(py, &error))
    }
}

#[pymethods]
impl Study {
    /// A row for each setting and seed.
    fn points(&self, py: Python<'_>) -> PyResult<Table> {
        Ok(Table::of_data(&self.partial_grid(py)?.table()))
    }

    /// The reports in the order of points and seeds.
    fn reports(&self) -> Vec<Report> {
        self.result.rows.iter().map(|row| Report(row.report.clone())).collect()
    }

    /// The settings of each report.
    fn settings(&self) -> Vec<Vec<(String, String)>> {
        let settings =
            |point: usize| self.result.points[point].iter().map(|setting| (setting.key.clone(), setting.value.clone())).collect();
        self.result.rows.iter().map(|row| settings(row.point)).collect()
    }

    fn __len__(&self) -> usize {
        self.result.rows.len()
    }

    /// The document of `flashraid compare --json`.
    fn json(&self, py: Python<'_>) -> PyResult<String> {
        Ok(json::text(&self.grid(py)?.document()))
    }

    /// A row for each point and figure: mean, ratio, and their intervals.
    fn summary(&self, py: Python<'_>) -> PyResult<Table> {
        Ok(Table::of_data(&self.grid(py)?.figures_table()))
    }

    /// Returns a text about missing simulations, if the study was stopped or is a part of one.
    #[getter]
    fn missing(&self) -> Option<String> {
        self.lack(&self.seeds())
    }

    /// All of it as a text.
    fn state(&self, py: Python<'_>) -> String {
        py.detach(|| {
            let result = &self.result;
            let state = State {
                all: self.all,
                axes: result.axes.iter().map(|axis| (axis.key.clone(), axis.values.clone())).collect(),
                baselines: result.baseline_index_by_point.clone(),
                rows: result.rows.iter().map(|row| (row.point, row.report.clone())).collect(),
            };
            serde_json::to_string(&state).expect("a study is plain data")
        })
    }

    /// Makes a study of the text that `state` returned.
    #[staticmethod]
    fn of_state(py: Python<'_>, text: &str) -> PyResult<Study> {
        let made = py.detach(|| {
            let State { all, axes, baselines, rows } = serde_json::from_str(text).map_err(|error| error.to_string())?;
            let axes = axes.into_iter().map(|(key, values)| Axis { key, values }).collect();
            StudyResult::from_parts(axes, baselines, rows).map(|result| Study { result, all })
        });
        made.map_err(|error: String| refused(py, &format!("this is no study of flashraid: {error}")))
    }

    /// The tables of `flashraid compare`; of a part of a study what is missing.
    fn text(&self, py: Python<'_>) -> PyResult<String> {
        if let Some(lack) = self.lack(&self.seeds()) {
            return Ok(lack + "\n");
        }
        let grid = self.grid(py)?;
        let notes: String = grid
            .doubts()
            .into_iter()
            .chain(grid.notes())
            .chain(grid.conclusions())
            .chain(grid.costs_of_collection())
            .map(|note| note + "\n")
            .collect();
        Ok(format!("{}{}\n{notes}", text::render(&grid.sheets()), grid.legend()))
    }

    /// The page of `flashraid compare`.
    fn html(&self, py: Python<'_>, title: &str) -> PyResult<String> {
        let grid = self.grid(py)?;
        let part = page::of_grid(title, &grid);
        Ok(Page { title, parts: std::slice::from_ref(&part) }.html())
    }

    /// Returns the contents of the page's charts, as a JSON text.
    fn charts(&self, py: Python<'_>) -> PyResult<String> {
        let grid = self.grid(py)?;
        let mut charts = chart::of_grid(&grid);
        if charts.iter().all(|chart| chart.id != "time-parts") {
            charts.extend(chart::time_parts(&grid));
        }
        Ok(serde_json::to_string(&charts).expect("charts are plain data"))
    }
}

/// Simulations of a study that one worker runs, one after the other; those that begin alike share their warm-up.
#[pyclass(frozen, module = "flashraid._native")]
pub struct Batch {
    simulations: Vec<Scenario>,
    warm_ups: SharedWarmUps,
}

#[pymethods]
impl Batch {
    /// Returns some simulations of a study, with their settings and seeds, for one worker.
    #[new]
    fn new(py: Python<'_>, spec: &str, simulations: Vec<(Vec<(String, String)>, u64)>, threads: usize, keep_warm: bool) -> PyResult<Batch> {
        let spec = Spec::read(py, spec)?;
        let of_settings = |settings: &[(String, String)]| -> Result<Scenario, Error> {
            let set = |simulation: Simulation<'static>, (key, value): &(String, String)| {
                // A name of several settings stands for these.
                match spec.behind(key, value) {
                    Some(settings) => {
                        settings.iter().try_fold(simulation, |simulation, setting| simulation.set(&setting.key, &setting.value))
                    }
                    None => simulation.set(key, value),
                }
            };
            settings.iter().try_fold(spec.simulation()?, set)?.scenario()
        };
        let of_each = |same: &[(Vec<(String, String)>, u64)]| -> Result<Vec<Scenario>, Error> {
            let scenario = of_settings(&same[0].0)?;
            Ok(same.iter().map(|(_, seed)| scenario.with_seed(*seed)).collect())
        };
        // What differs by its seed alone is read once.
        let same = simulations.chunk_by(|one, next| one.0 == next.0);
        let simulations = same.map(of_each).collect::<Result<Vec<_>, Error>>().map_err(|error| exception(py, &error))?.concat();
        let cache = if keep_warm { WarmStateCache::of_user_folder() } else { None };
        let warm_ups = SharedWarmUps::for_runs(&simulations).with_cache(cache).with_threads_per_run(threads);
        Ok(Batch { simulations, warm_ups })
    }

    fn __len__(&self) -> usize {
        self.simulations.len()
    }

    /// Runs them from this one on for about so many seconds, one at least: their reports as JSON texts, and the seconds that they took.
    fn run(&self, py: Python<'_>, first: usize, for_s: f64) -> PyResult<(Vec<String>, f64)> {
        let watch = Arc::new(Watch::default());
        let mut observer = OfOne(Arc::clone(&watch));
        let work = || {
            let begin = Instant::now();
            let (mut texts, mut simulated_s) = (Vec::new(), 0.0);
            for scenario in &self.simulations[first..] {
                let report = run_with_shared_warm_ups(scenario, &self.warm_ups, &mut observer)?;
                simulated_s += report.wall_s;
                texts.push(serde_json::to_string(&report).expect("a report is plain data"));
                if begin.elapsed().as_secs_f64() >= for_s || !watch.goes_on() {
                    break;
                }
            }
            Ok((texts, simulated_s))
        };
        let (result, raised) = interruptible(py, &watch, || Ok(()), work)?;
        match raised {
            Some(raised) => Err(raised),
            None => result.map_err(|error: flashraid::run::RunError| exception(py, &error.into())),
        }
    }
}

/// Stops a simulation when asked.
struct OfOne(Arc<Watch>);

impl Observer for OfOne {
    fn progress(&mut self, progress: &Progress) -> bool {
        self.0.note(progress)
    }

    fn stop_signal(&self) -> Stop {
        self.0.asked()
    }
}
