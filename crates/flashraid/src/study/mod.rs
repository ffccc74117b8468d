//! Studies: every combination of varied keys, each with every seed.

mod axis;
mod baseline;
mod plan;
mod range;
mod run;
mod shard;
mod store;

#[cfg(test)]
mod tests;

use std::borrow::Borrow;
use std::path::{Path, PathBuf};

use flashraid_workload::Stop;
use serde_json::Value;

use crate::Error;
use crate::config::Config;
use crate::observer::Progress;
use crate::report::Report;
use crate::template::Template;
use crate::warm_state_cache::WarmStateCache;

#[doc(hidden)]
pub use crate::resources::{MachineResources, default_workers};
pub use crate::study_problem::StudyProblem;
#[doc(hidden)]
pub use axis::all_combinations;
pub use axis::{Axis, AxisKind, Setting, axis_kind, must_match_for_comparison};
pub use flashraid_model::metrics::Estimate;
pub use plan::StudyPlan;
#[doc(hidden)]
pub use run::{StudySimulation, run_all};
#[doc(hidden)]
pub use store::ReportStore;

/// A grid of simulations: every combination of the varied keys, each with every seed.
///
/// Each combination is a point of the study. All points have the same seeds, unless `seed` is varied. Simulations that begin in the same
/// state share their warm-up. With a [`folder`](Study::folder), each simulation is saved when it ends, and the same study continues
/// where it stopped.
///
/// ```
/// # fn main() -> Result<(), flashraid::Error> {
/// let result = flashraid::Study::from_toml("ssd.geometry = { dies = 1, blocks = 64 }\nworkload.requests = 100")?
///     .vary("array.members", [2, 4])?
///     .vary("coordination.scheme", ["local", "ideal"])?
///     .seeds(2)
///     .workers(2)
///     .run(&())?;
///
/// assert_eq!(result.rows.len(), 4 * 2);
/// for (point, settings) in result.points.iter().enumerate() {
///     let mean = result.estimate(point, |report| report.response_us.all.mean).expect("requests were served");
///     println!("{} {}: {:.0} µs ± {:.0}", settings[0], settings[1], mean.mean, mean.interval_half_width.unwrap_or(0.0));
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "a study does nothing before `run`"]
pub struct Study {
    template: Template,
    axes: Vec<Axis>,
    variants: Vec<Variants>,
    baseline: Option<String>,
    seeds: u64,
    folder: Option<PathBuf>,
    shard: Option<(usize, usize)>,
    workers: Option<usize>,
    threads: usize,
    cache: Option<WarmStateCache>,
}

/// A name that stands in place of a varied key. Each of its values stands for several settings.
#[derive(Debug, Clone)]
struct Variants {
    name: String,
    settings: Vec<(String, Vec<Setting>)>,
}

impl Variants {
    /// Returns the settings of the configuration that a setting of the study stands for.
    fn settings_behind(&self, setting: &Setting) -> Option<&[Setting]> {
        let found = self.settings.iter().find(|(value, _)| setting.key == self.name && setting.value == *value);
        found.map(|(_, settings)| settings.as_slice())
    }
}

impl Study {
    /// Returns a study (a grid of simulations) whose common configuration was built in Rust.
    pub fn new(config: impl Borrow<Config>) -> Self {
        Self::of(Template::new(config.borrow()))
    }

    /// Returns a study (a grid of simulations) whose common configuration is a text in TOML. Missing keys have their defaults, and paths
    /// are relative to the working folder.
    ///
    /// # Errors
    /// Returns [`Error::Config`] if the text is not TOML.
    pub fn from_toml(text: &str) -> Result<Self, Error> {
        Ok(Self::of(Template::from_toml(text)?))
    }

    /// Returns a study (a grid of simulations) whose common configuration is read from a file. Paths in the file are relative to its
    /// folder.
    ///
    /// # Errors
    /// Returns [`Error::Config`] if the file cannot be read or is not TOML.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, Error> {
        Ok(Self::of(Template::from_file(path.as_ref())?))
    }

    /// Returns a study (a grid of simulations) whose common configuration is a tree of values, for example from JSON. A `null` counts as
    /// a missing key.
    ///
    /// # Errors
    /// Returns [`Error::Config`] if the value is not a table.
    pub fn from_value(value: &Value) -> Result<Self, Error> {
        Ok(Self::of(Template::from_value(value)?))
    }

    fn of(template: Template) -> Self {
        Self {
            template,
            axes: Vec::new(),
            variants: Vec::new(),
            baseline: None,
            seeds: 1,
            folder: None,
            shard: None,
            workers: None,
            threads: 1,
            cache: None,
        }
    }

    /// Replaces a key of the configuration for all points (combinations of settings), like [`Simulation::set`](crate::Simulation::set).
    ///
    /// # Errors
    /// Returns [`Error::Config`] if key or value cannot be read.
    pub fn set(mut self, key: &str, value: impl ToString) -> Result<Self, Error> {
        self.template.set(key, value.to_string())?;
        Ok(self)
    }

    /// Varies a configuration key: the study simulates each of `values`. If several keys are varied, the last one varies fastest.
    ///
    /// # Errors
    /// Returns [`Error::Study`] if there is no value, if a value is given twice, or if the key is varied already.
    pub fn vary<V: ToString>(self, key: &str, values: impl IntoIterator<Item = V>) -> Result<Self, Error> {
        self.vary_axis(Axis { key: key.to_owned(), values: values.into_iter().map(|value| value.to_string()).collect() })
    }

    /// Varies a configuration key like [`Study::vary`], with key and values together in an [`Axis`]. An axis can be read from a text, as
    /// in `"array.members=2,4".parse::<Axis>()`. In such a text, values may also be ranges, such as `2..8`.
    ///
    /// # Errors
    /// Returns the same errors as [`Study::vary`].
    pub fn vary_axis(mut self, axis: Axis) -> Result<Self, Error> {
        let Axis { key, values } = &axis;
        if values.is_empty() {
            return Err(StudyProblem::AxisWithoutValues { key: key.clone() }.into());
        }
        if let Some((_, twice)) = values.iter().enumerate().find(|(index, value)| values[..*index].contains(value)) {
            return Err(StudyProblem::RepeatedValue { key: key.clone(), value: twice.clone() }.into());
        }
        if self.axes.iter().any(|earlier| earlier.key == *key) {
            return Err(StudyProblem::RepeatedKey { key: key.clone() }.into());
        }
        self.axes.push(axis);
        Ok(self)
    }

    /// Varies several keys together. Each variant has a name and the settings that it stands for, and `name` stands in place of a key.
    ///
    /// The study compares the variants with each other if they are remedies: settings that may improve an array that does the same work.
    /// Most names, such as `setup`, mean this. A name such as `workload.case` begins with a key of the work, the hardware or the
    /// measurement ([`must_match_for_comparison`]), followed by a dot. Such variants do different work, so that each is reported without
    /// comparison to the others.
    ///
    /// # Errors
    /// Returns the same errors as [`Study::vary`].
    pub fn variants<V: ToString>(mut self, name: &str, variants: impl IntoIterator<Item = (V, Vec<Setting>)>) -> Result<Self, Error> {
        let settings: Vec<(String, Vec<Setting>)> = variants.into_iter().map(|(value, settings)| (value.to_string(), settings)).collect();
        self = self.vary(name, settings.iter().map(|(value, _)| value))?;
        self.variants.push(Variants { name: name.to_owned(), settings });
        Ok(self)
    }

    /// Chooses the value of a varied key with which the other values of this key are compared. It is written as `VALUE`, or as
    /// `KEY=VALUE` if several keys have this value.
    ///
    /// Every point of the study (combination of settings) is compared with one point, its baseline. The baseline has the chosen value of
    /// that key, and the first value of each other key. `coordination.scheme=ideal` is passed over if there is another scheme.
    ///
    /// Keys that describe the work, the hardware or the measurement (`workload`, `array.members`, `seed` and so on) are an exception. A
    /// point and its baseline have the same values of such keys, so that none of these values can be chosen.
    pub fn baseline(mut self, value: impl ToString) -> Self {
        self.baseline = Some(value.to_string());
        self
    }

    /// Sets the seed of the first simulation of every point (combination of settings), in place of the configuration's seed. Further
    /// simulations of a point ([`Study::seeds`]) have the seeds that follow.
    pub fn seed(mut self, seed: u64) -> Self {
        self.template.seed = Some(seed);
        self
    }

    /// Sets the number of consecutive seeds with which every point (combination of settings) is simulated; 0 counts as 1.
    pub fn seeds(mut self, seeds: u64) -> Self {
        self.seeds = seeds.max(1);
        self
    }

    /// Saves every finished simulation in `FOLDER/points`, and uses those that this build of the program has finished before.
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// Runs only part `index` of `count`, counted from 1. Simulations that share a warm-up stay together unless there are fewer such
    /// groups than parts.
    ///
    /// The study is divided in the same way on every machine, so that each machine can run another part. [`Study::merge`] combines the
    /// folders of the parts.
    ///
    /// # Errors
    /// Returns [`Error::Study`] if there is no such part.
    pub fn shard(mut self, index: usize, count: usize) -> Result<Self, Error> {
        if index == 0 || index > count {
            return Err(StudyProblem::InvalidShard { index, count }.into());
        }
        self.shard = Some((index, count));
        Ok(self)
    }

    /// Sets the number of simulations at a time; 0 counts as 1. By default, there is one for each processor. It changes no result.
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = Some(workers.max(1));
        self
    }

    /// Sets the number of threads of each simulation, by default 1; see [`Simulation::threads`](crate::Simulation::threads).
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Keeps the states after long warm-ups, like [`Simulation::warm_state_cache`](crate::Simulation::warm_state_cache).
    pub fn warm_state_cache(mut self, cache: impl Into<Option<WarmStateCache>>) -> Self {
        self.cache = cache.into();
        self
    }

    /// Returns a plan of all simulations of the study, and runs none of them. Every point (combination of settings) has been checked, so
    /// that [`StudyPlan::run`] can run the plan.
    ///
    /// # Errors
    /// Returns [`Error::Config`] for the first point that cannot run. Returns [`Error::Study`] if the settings of the study itself
    /// cannot be used, for example if the baseline is not among the varied values.
    pub fn plan(&self) -> Result<StudyPlan, Error> {
        StudyPlan::new(self)
    }

    /// Checks everything and runs the simulations that its folder does not hold yet. The observer `&()` ignores every event.
    ///
    /// # Errors
    /// Returns the errors of [`Study::plan`] and [`StudyPlan::run`].
    pub fn run(&self, observer: &dyn StudyObserver) -> Result<StudyResult, Error> {
        self.plan()?.run(observer)
    }

    /// Combines the folders of all shards of one study.
    ///
    /// # Errors
    /// Returns [`Error::Study`] if they are not of one study or of one build of the program, or if something is missing. Returns
    /// [`Error::Io`] if a folder cannot be read.
    pub fn merge(folders: &[impl AsRef<Path>]) -> Result<StudyResult, Error> {
        shard::merge(folders)
    }
}

/// Watches a study from all of its workers, and may stop it. Every method does nothing by default.
pub trait StudyObserver: Sync {
    /// Reports the progress of a running simulation from time to time. The simulations of the study or, with [`Study::shard`], of the
    /// chosen part are numbered from 0. The order is point by point (combinations of settings), and for each point seed by seed.
    ///
    /// If this method returns false, the study stops, and unfinished simulations are lost.
    fn progress(&self, _simulation: usize, _progress: &Progress) -> bool {
        true
    }

    /// Returns a callback that is asked whether to stop, for all simulations; see [`Observer::stop_signal`](crate::Observer::stop_signal).
    fn stop_signal(&self) -> Stop {
        Stop::default()
    }

    /// Receives a note for the user, such as the origin of a warm state. No report contains the note. Several simulations may give the
    /// same note.
    fn note(&self, _text: &str) {}

    /// Reports that the simulation with this number is done, now or in an earlier run. Each simulation has the same number here as in
    /// [`StudyObserver::progress`].
    fn simulation_done(&self, _simulation: usize) {}

    /// Returns false if no further simulation may begin.
    fn may_continue(&self) -> bool {
        true
    }
}

/// Observer that ignores every event.
impl StudyObserver for () {}

/// Result of a study: the varied keys, every combination of their values (a point), and a report for each point and seed.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StudyResult {
    /// The configuration keys that the study varied, each with its values.
    pub axes: Vec<Axis>,
    /// Every combination of the values of the varied keys, called a point of the study. The last key varies fastest.
    pub points: Vec<Vec<Setting>>,
    /// Baseline of each point, with which the point is compared, as an index in `points`.
    pub baseline_index_by_point: Vec<usize>,
    /// One row for each point and seed that was simulated: all of them or, with [`Study::shard`], those of the chosen part. The rows are in
    /// the order of points and, for each point, in the order of seeds.
    pub rows: Vec<StudySimulationRow>,
}

/// One simulation of a study.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StudySimulationRow {
    /// Index in `StudyResult::points` of the combination of settings that was simulated.
    pub point: usize,
    /// Report of the simulation.
    pub report: Report,
}

impl StudyResult {
    /// Builds a result from its parts. A point is one combination of the values of `axes`, and `baselines` has the index of the point
    /// with which each point is compared. Each row is the index of a point with a report.
    ///
    /// # Errors
    /// Returns a text that says which part does not fit the others.
    #[doc(hidden)]
    pub fn from_parts(axes: Vec<Axis>, baselines: Vec<usize>, rows: Vec<(usize, Report)>) -> Result<Self, String> {
        let points = all_combinations(&axes);
        if baselines.len() != points.len()
            || baselines.iter().chain(rows.iter().map(|(point, _)| point)).any(|&point| point >= points.len())
        {
            return Err("its points are not those of its keys".to_owned());
        }
        let rows = rows.into_iter().map(|(point, report)| StudySimulationRow { point, report }).collect();
        Ok(Self { axes, points, baseline_index_by_point: baselines, rows })
    }

    /// Returns the reports of a point (its index in `points` is given), one for each seed.
    pub fn reports(&self, point: usize) -> impl Iterator<Item = &Report> {
        self.rows.iter().filter(move |row| row.point == point).map(|row| &row.report)
    }

    /// Returns the mean of a value over the seeds of a point (its index in `points` is given), with a 95 % confidence interval. Returns
    /// `None` if a report lacks the value.
    pub fn estimate(&self, point: usize, figure: impl Fn(&Report) -> Option<f64>) -> Option<Estimate> {
        Estimate::from_values(&self.reports(point).map(figure).collect::<Option<Vec<f64>>>()?)
    }

    /// Returns the ratio of a value at a point (its index in `points` is given) to the value at its baseline. The baseline is the point
    /// with which it is compared. A ratio is computed for each seed, and the result is their mean with a 95 % confidence interval. It is
    /// `None` if a report lacks the value or the baseline's value is zero.
    pub fn ratio_to_baseline(&self, point: usize, figure: impl Fn(&Report) -> Option<f64>) -> Option<Estimate> {
        let values = |point: usize| self.reports(point).map(&figure).collect::<Option<Vec<f64>>>();
        let (own, baseline) = (values(point)?, values(self.baseline_index_by_point[point])?);
        Estimate::from_ratios(&own, &baseline)
    }
}
