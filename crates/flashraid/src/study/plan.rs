//! The plan of a study: all its simulations, checked before it runs.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use flashraid_workload::Stop;

use super::baseline::baselines;
use super::run::{StudySimulation, run_unfinished};
use super::store::{POINTS, ReportStore, short_hash};
use super::{Axis, Setting, Study, StudyObserver, StudyProblem, StudyResult, StudySimulationRow, all_combinations, shard};
use crate::Error;
use crate::check::check_before_run;
use crate::config::{Scenario, WarmStateFiles, workload_address_space};
use crate::file_hashes::{InputFileHashes, traces};
use crate::memory;
use crate::report::Report;
use crate::resources::{MachineResources, default_workers};
use crate::warm_up::warm_up_key;

/// Key for the seed, which can be set in other ways, too.
const SEED: &str = "seed";

/// Keys for the length of a run.
const LENGTHS: [&str; 4] = ["workload.requests", "workload.duration", "workload.limit", "workload.repeat"];

/// Maximum number of simulations of a study.
const SIMULATIONS_MAX: u128 = 1_000_000;
/// Estimated memory that a simulation of a study needs before it begins and after its end, for its configuration and its report.
const SIMULATION_BYTES: u128 = 72 << 10;

/// Returns an error for a grid that is too large for memory, before any of it is built.
fn refuse_too_many(axes: &[Axis], seeds: u64) -> Result<(), StudyProblem> {
    let points = axes.iter().map(|axis| axis.values.len() as u128).try_fold(1_u128, u128::checked_mul);
    let simulations = points.and_then(|points| points.checked_mul(u128::from(seeds))).unwrap_or(u128::MAX);
    let room = memory::available_memory_bytes().map_or(u128::MAX, |(bytes, _)| u128::from(bytes) / 2 / SIMULATION_BYTES);
    let most = room.clamp(1000, SIMULATIONS_MAX);
    if simulations > most { Err(StudyProblem::TooManySimulations { simulations, simulations_max: most }) } else { Ok(()) }
}

/// Returns an error if several simulations would save their states under one name.
fn refuse_shared_state(tasks: &[StudySimulation]) -> Result<(), StudyProblem> {
    let mut paths = BTreeSet::new();
    let twice = tasks.iter().filter_map(|task| task.scenario.warm_state.save_to.as_ref()).find(|path| !paths.insert(*path));
    twice.map_or(Ok(()), |path| Err(StudyProblem::WarmStateFileConflict { path: path.clone() }))
}

/// Checks all files before the first simulation begins. Simulations with the same files are checked once.
fn preflight_all(tasks: &[StudySimulation]) -> Result<(), Error> {
    let mut seen = BTreeSet::new();
    for scenario in tasks.iter().map(|task| &task.scenario) {
        let Scenario { workload, warm_state, array, .. } = scenario;
        let mut files = Vec::new();
        traces(workload, &mut files);
        // A generator without changes uses no files.
        if files.is_empty() && workload.transform.changes_nothing() && *warm_state == WarmStateFiles::default() {
            continue;
        }
        let of = format!("{workload:?} {warm_state:?} {:?}", workload_address_space(array));
        if seen.insert(of) {
            check_before_run(scenario, &Stop::default())?;
        }
    }
    Ok(())
}

/// A new folder for a study. Without a call of [`NewFolder::keep`], dropping it removes the study's files, if no simulation was saved
/// there.
struct NewFolder {
    folder: PathBuf,
    had_folder: bool,
    had_description: bool,
    mark: Option<PathBuf>,
}

impl NewFolder {
    fn at(folder: &Path, shard: Option<(usize, usize)>) -> Self {
        let mark = shard.map(|shard| folder.join(shard::mark(shard))).filter(|mark| !mark.exists());
        Self { folder: folder.to_owned(), had_folder: folder.exists(), had_description: folder.join(shard::FILE).exists(), mark }
    }

    fn keep(mut self) {
        self.had_description = true;
        self.had_folder = true;
        self.mark = None;
    }
}

impl Drop for NewFolder {
    fn drop(&mut self) {
        if let Some(mark) = &self.mark {
            let _ = fs::remove_file(mark);
        }
        // Folders are removed only while they are empty, and no other shard has begun there.
        if !self.had_description && !shard::has_marks(&self.folder) && fs::remove_dir(self.folder.join(POINTS)).is_ok() {
            let _ = fs::remove_file(self.folder.join(shard::FILE));
        }
        if !self.had_folder {
            let _ = fs::remove_dir(&self.folder);
        }
    }
}

/// All simulations of a study, checked and in order.
#[derive(Debug)]
pub struct StudyPlan {
    pub(super) axes: Vec<Axis>,
    pub(super) points: Vec<Vec<Setting>>,
    pub(super) baselines: Vec<usize>,
    /// One simulation for each point (combination of settings) and seed: point by point, and for each point seed by seed.
    pub(super) tasks: Vec<StudySimulation>,
    pub(super) seeds: u64,
    pub(super) shard: Option<(usize, usize)>,
    folder: Option<PathBuf>,
    /// False for longer runs of a study, whose folder belongs to the study as it was asked for.
    describes_folder: bool,
    resources: MachineResources,
    /// Reports that were passed to [`StudyPlan::save_report`] or found in the results folder. They are kept so that no file is read
    /// twice.
    known_reports: Mutex<BTreeMap<usize, Report>>,
}

impl StudyPlan {
    pub(super) fn new(study: &Study) -> Result<Self, Error> {
        let Study { template, axes, variants, baseline, seeds, folder, shard, workers, threads, cache } = study;
        let seed_is_varied = axes.iter().any(|axis| axis.key == SEED);
        if seed_is_varied && (*seeds > 1 || template.seed.is_some()) {
            return Err(StudyProblem::SeedBothVariedAndSet.into());
        }
        refuse_too_many(axes, *seeds)?;
        let points = all_combinations(axes);
        let baselines = baselines(axes, &points, baseline.as_deref())?;
        let mut tasks = Vec::new();
        let mut contents = InputFileHashes::default();
        for settings in &points {
            let behind =
                |setting| variants.iter().find_map(|variants| variants.settings_behind(setting)).unwrap_or(std::slice::from_ref(setting));
            let sets = settings.iter().flat_map(behind).map(|setting| (setting.key.clone(), setting.value.clone()));
            let scenario = template.scenario(sets, None)?;
            let first = scenario.seed;
            for offset in 0..*seeds {
                let seed = first
                    .checked_add(offset)
                    .ok_or(StudyProblem::SeedTooLarge { first_seed_of_point: first, offset_from_first_seed: offset })?;
                tasks.push(StudySimulation::new(scenario.with_seed(seed), &mut contents)?);
            }
        }
        refuse_shared_state(&tasks)?;
        preflight_all(&tasks)?;
        Ok(Self {
            axes: axes.clone(),
            points,
            baselines,
            tasks,
            seeds: *seeds,
            shard: *shard,
            folder: folder.clone(),
            describes_folder: true,
            resources: MachineResources {
                simulations_at_once: workers.unwrap_or_else(default_workers),
                threads_per_simulation: *threads,
                warm_state_cache: cache.clone(),
            },
            known_reports: Mutex::default(),
        })
    }

    /// Returns a hash of all simulations of the study, which identifies the study. If [`Study::shard`] chose a part of the study, the
    /// hash is still that of the whole study.
    pub fn hash(&self) -> String {
        short_hash(&self.tasks.iter().map(|task| task.result_file_name.as_str()).collect::<Vec<_>>().join(" "))
    }

    /// Returns the number of simulations in the study or, if [`Study::shard`] chose a part of it, in this part.
    pub fn simulation_count(&self) -> usize {
        self.shard.map_or(self.tasks.len(), |shard| shard::of(&self.tasks, shard).len())
    }

    /// Returns the scenarios of the study or, if [`Study::shard`] chose a part of it, of this part.
    #[doc(hidden)]
    pub fn scenarios(&self) -> Vec<&Scenario> {
        self.own().into_iter().map(|index| &self.tasks[index].scenario).collect()
    }

    /// Returns the indices of the simulations in the study or, if [`Study::shard`] chose a part of it, in this part.
    fn own(&self) -> Vec<usize> {
        match self.shard {
            Some(shard) => shard::of(&self.tasks, shard),
            None => (0..self.tasks.len()).collect(),
        }
    }

    /// Returns the indices of the simulations in each part, if the whole study were divided into `count` parts.
    #[doc(hidden)]
    pub fn divide_into_parts(&self, count: usize) -> Vec<Vec<usize>> {
        shard::parts(&self.tasks, count)
    }

    /// Sets the resources of the machine, in place of [`Study::parallel_simulations`], [`Study::threads_per_simulation`] and
    /// [`Study::warm_state_cache`].
    #[doc(hidden)]
    #[must_use]
    pub fn with_resources(mut self, resources: MachineResources) -> Self {
        self.resources = resources;
        self
    }

    /// Returns the resources of the machine that the plan uses.
    #[doc(hidden)]
    pub fn resources(&self) -> &MachineResources {
        &self.resources
    }

    /// Checks that [`StudyPlan::longer`] can make the runs longer. Reads no file.
    ///
    /// # Errors
    /// Returns [`Error::Study`] with the reason why not.
    pub fn can_go_on(&self) -> Result<(), Error> {
        self.longer_scenarios(2).map(drop)
    }

    fn longer_scenarios(&self, times: u64) -> Result<Vec<Scenario>, Error> {
        let cannot = |reason: String| Error::from(StudyProblem::CannotGoOn { reason });
        if let Some(axis) = self.axes.iter().find(|axis| LENGTHS.contains(&axis.key.as_str())) {
            return Err(cannot(format!("{} is varied", axis.key)));
        }
        self.tasks.iter().map(|task| task.scenario.longer(times).map_err(cannot)).collect()
    }

    /// Returns a plan of the same study whose runs are `times` as long: generated requests go on, and traces repeat. Its simulations are
    /// saved in the same folder, beside those of this plan.
    ///
    /// # Errors
    /// Returns [`Error::Study`] if a workload cannot go on, or if a varied key is a length.
    pub fn longer(&self, times: u64) -> Result<Self, Error> {
        let mut contents = InputFileHashes::default();
        let mut longer = |scenario: Scenario| StudySimulation::new(scenario, &mut contents);
        Ok(Self {
            axes: self.axes.clone(),
            points: self.points.clone(),
            baselines: self.baselines.clone(),
            tasks: self.longer_scenarios(times)?.into_iter().map(&mut longer).collect::<Result<_, Error>>()?,
            seeds: self.seeds,
            shard: self.shard,
            folder: self.folder.clone(),
            describes_folder: false,
            resources: self.resources.clone(),
            known_reports: Mutex::default(),
        })
    }

    /// Sets the folder in which finished simulations are saved, like [`Study::folder`]. It serves callers that choose the folder only after
    /// they have made the plan.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// Checks that a folder holds no results of another study or command, because [`StudyPlan::run`] would mix its own results with
    /// those.
    ///
    /// # Errors
    /// Returns [`Error::Study`] if the folder holds such results, and [`Error::Io`] if the folder cannot be read.
    pub fn refuse_folder_of_other_study(&self, folder: impl AsRef<Path>) -> Result<(), Error> {
        shard::refuse_foreign(self, folder.as_ref())
    }

    /// Returns the settings and the seed of a simulation. The simulations of the whole study are numbered from 0. The order is point by
    /// point (combinations of settings), and for each point seed by seed.
    pub fn simulation(&self, index: usize) -> (&[Setting], u64) {
        (&self.points[self.point(index)], self.tasks[index].scenario.seed)
    }

    /// Returns the numbers of the simulations that have no report yet, in groups that share a warm-up. Reports may lie in the results
    /// folder or have been passed to [`StudyPlan::save_report`]. The numbers are those of [`StudyPlan::simulation`].
    ///
    /// A caller with its own scheduler runs these simulations and passes their reports to [`StudyPlan::save_report`]. When none is left,
    /// [`StudyPlan::run`] only combines the reports.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if the results folder cannot be made or written.
    pub fn unfinished_simulations_by_warm_up(&self) -> Result<Vec<Vec<usize>>, Error> {
        let store = self.store()?;
        let mut known_reports = self.known_reports();
        let mut is_open = |index: &usize| {
            let task = &self.tasks[*index];
            if known_reports.contains_key(index) && task.has_its_state() {
                return false;
            }
            match store.as_ref().and_then(|store| task.done_before(store)) {
                Some(report) => {
                    known_reports.insert(*index, report);
                    false
                }
                None => true,
            }
        };
        let open: Vec<usize> = self.own().into_iter().filter(&mut is_open).collect();
        let mut groups: Vec<(String, Vec<usize>)> = Vec::new();
        let mut position_of: HashMap<String, usize> = HashMap::new();
        for index in open {
            let key = warm_up_key(&self.tasks[index].scenario);
            let next = groups.len();
            let position = *position_of.entry(key.clone()).or_insert(next);
            if position == next {
                groups.push((key, Vec::new()));
            }
            groups[position].1.push(index);
        }
        Ok(groups.into_iter().map(|(_, group)| group).collect())
    }

    /// Returns the estimated number of bytes of memory that these simulations need if they run one at a time.
    pub fn memory_bytes(&self, simulations: &[usize]) -> u64 {
        memory::peak_memory_needed_bytes(simulations.iter().map(|index| &self.tasks[*index].scenario), 1)
    }

    /// Adds the report of a simulation that was run elsewhere, and saves it if the study has a folder. `index` is the number of the
    /// simulation in the whole study, as in [`StudyPlan::simulation`]. If the study has a report of the simulation already, that one stays.
    ///
    /// # Errors
    /// Returns [`Error::Study`] if the report belongs to another simulation, and [`Error::Io`] if it cannot be saved.
    pub fn save_report(&self, index: usize, report: Report) -> Result<(), Error> {
        let task = &self.tasks[index];
        if report.config_hash != task.scenario.config_hash || report.seed != task.scenario.seed || report.partial {
            return Err(StudyProblem::ReportOfOtherStudy { simulation_index: index }.into());
        }
        if self.known_reports().contains_key(&index) {
            return Ok(());
        }
        let mut earlier = None;
        if let Some(store) = self.folder.as_deref().map(ReportStore::of_this_build) {
            earlier = store.load_report(&task.result_file_name);
            if earlier.is_none() {
                store.save_report(&task.result_file_name, &report)?;
            }
        }
        self.known_reports().entry(index).or_insert(earlier.unwrap_or(report));
        Ok(())
    }

    /// Moves the reports of all finished simulations out of the plan, and returns them. These are the reports that the caller has passed
    /// in, and those that [`StudyPlan::unfinished_simulations_by_warm_up`] found in the results folder. Each report is a row of the result.
    /// Rows of unfinished simulations are missing.
    #[doc(hidden)]
    pub fn take_finished_reports(&self) -> StudyResult {
        let mut known_reports = std::mem::take(&mut *self.known_reports());
        let rows = self
            .own()
            .into_iter()
            .filter_map(|index| Some(StudySimulationRow { point: self.point(index), report: known_reports.remove(&index)? }));
        self.result(rows.collect())
    }

    fn known_reports(&self) -> MutexGuard<'_, BTreeMap<usize, Report>> {
        // Each report is stored in one step, so that the table is complete even after a panic.
        self.known_reports.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the index of the point (combination of settings) that a simulation belongs to.
    fn point(&self, index: usize) -> usize {
        index / self.seeds as usize
    }

    fn store(&self) -> Result<Option<ReportStore>, Error> {
        let store = self.folder.as_deref().map(ReportStore::open).transpose()?;
        if let (Some(folder), Some(store), true) = (&self.folder, &store, self.describes_folder) {
            shard::describe(self, folder, store)?;
        }
        Ok(store)
    }

    /// Runs the simulations that the results folder does not hold yet.
    ///
    /// # Errors
    /// Returns the first error, or [`Error::StudyInterrupted`] if the observer stopped the study.
    pub fn run(&self, observer: &dyn StudyObserver) -> Result<StudyResult, Error> {
        let all = self.simulation_count();
        let result = self.run_until_stopped(observer)?;
        let done = result.rows.len();
        if done < all { Err(Error::StudyInterrupted { simulations_done: done, total_simulations: all }) } else { Ok(result) }
    }

    /// Runs like [`StudyPlan::run`]. If the observer stops the study, the result has the finished simulations, which are fewer rows
    /// than [`StudyPlan::simulation_count`].
    ///
    /// # Errors
    /// Returns the first error.
    pub fn run_until_stopped(&self, observer: &dyn StudyObserver) -> Result<StudyResult, Error> {
        self.run_with(&self.resources, observer)
    }

    /// Runs the unfinished simulations with `resources` in place of [`Study::parallel_simulations`], [`Study::threads_per_simulation`] and
    /// [`Study::warm_state_cache`]. A simulation is finished if its report was passed to [`StudyPlan::save_report`], or if the results
    /// folder ([`StudyPlan::folder`]) holds it. The result has the reports of all simulations, those that were finished before, too. The
    /// plan forgets the reports that were passed to it; files in the folder stay.
    ///
    /// # Errors
    /// Returns the first error.
    #[doc(hidden)]
    pub fn run_with(&self, resources: &MachineResources, observer: &dyn StudyObserver) -> Result<StudyResult, Error> {
        // The state of the folder is noted before anything is made in it.
        let new_folder = self.folder.as_deref().map(|folder| NewFolder::at(folder, self.shard));
        let store = self.store()?;
        let own = self.own();
        let tasks: Vec<&StudySimulation> = own.iter().map(|index| &self.tasks[*index]).collect();
        let mut known_reports = std::mem::take(&mut *self.known_reports());
        let handed_in = own.iter().map(|index| known_reports.remove(index).filter(|_| self.tasks[*index].has_its_state()));
        let earlier = handed_in.zip(&tasks).map(|(report, task)| report.or_else(|| task.done_before(store.as_ref()?))).collect();
        let reports = run_unfinished(&tasks, earlier, resources, store.as_ref(), observer)?;
        // The folder has points to keep now, whatever the result is.
        if let Some(new_folder) = new_folder.filter(|_| reports.iter().any(Option::is_some)) {
            new_folder.keep();
        }
        let row = |(task, report): (&usize, Option<Report>)| Some(StudySimulationRow { point: self.point(*task), report: report? });
        let rows = own.iter().zip(reports).filter_map(row).collect();
        Ok(self.result(rows))
    }

    fn result(&self, rows: Vec<StudySimulationRow>) -> StudyResult {
        StudyResult { axes: self.axes.clone(), points: self.points.clone(), baseline_index_by_point: self.baselines.clone(), rows }
    }
}
