//! What a study consists of before it runs.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use flashraid_workload::Stop;

use super::baseline::baselines;
use super::means::{Means, default_workers};
use super::run::{Simulated, run_open};
use super::store::{POINTS, Store, short_hash};
use super::{Axis, Setting, Study, StudyObserver, StudyProblem, StudyResult, StudyRow, combinations, shard};
use crate::Error;
use crate::check::preflight;
use crate::config::{Scenario, WarmState, address_space};
use crate::content::{Contents, traces};
use crate::memory;
use crate::report::Report;
use crate::warm_up::warm_up_key;

/// The key that is set in other ways, too.
const SEED: &str = "seed";

/// Simulations of a study at most.
const SIMULATIONS_MAX: u128 = 1_000_000;
/// Memory that a simulation of a study takes before it begins and after its end, about: its configuration and its report.
const SIMULATION_BYTES: u128 = 72 << 10;

/// A grid that memory can't hold is refused before it is laid out.
fn refuse_too_many(axes: &[Axis], seeds: u64) -> Result<(), StudyProblem> {
    let points = axes.iter().map(|axis| axis.values.len() as u128).try_fold(1_u128, u128::checked_mul);
    let simulations = points.and_then(|points| points.checked_mul(u128::from(seeds))).unwrap_or(u128::MAX);
    let room = memory::available_bytes().map_or(u128::MAX, |(bytes, _)| u128::from(bytes) / 2 / SIMULATION_BYTES);
    let most = room.clamp(1000, SIMULATIONS_MAX);
    if simulations > most { Err(StudyProblem::TooMany { simulations, most }) } else { Ok(()) }
}

/// Several simulations can't save their states under one name.
fn refuse_shared_state(tasks: &[Simulated]) -> Result<(), StudyProblem> {
    let mut paths = BTreeSet::new();
    let twice = tasks.iter().filter_map(|task| task.scenario.warm_state.save.as_ref()).find(|path| !paths.insert(*path));
    twice.map_or(Ok(()), |path| Err(StudyProblem::SharedState { path: path.clone() }))
}

/// Looks at all files before the first simulation begins; those that look at the same do so once.
fn preflight_all(tasks: &[Simulated]) -> Result<(), Error> {
    let mut seen = BTreeSet::new();
    for scenario in tasks.iter().map(|task| &task.scenario) {
        let Scenario { workload, warm_state, array, .. } = scenario;
        let mut files = Vec::new();
        traces(workload, &mut files);
        // A generator that nothing is done to has nothing to look at.
        if files.is_empty() && workload.transform.is_identity() && *warm_state == WarmState::default() {
            continue;
        }
        let of = format!("{workload:?} {warm_state:?} {:?}", address_space(array));
        if seen.insert(of) {
            preflight(scenario, &Stop::default())?;
        }
    }
    Ok(())
}

/// A folder in which a study begins. Dropped without [`Begun::keep`] it takes away what the study has made, as long as no point is among it.
struct Begun {
    folder: PathBuf,
    had_folder: bool,
    had_description: bool,
}

impl Begun {
    fn of(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), had_folder: folder.exists(), had_description: folder.join(shard::FILE).exists() }
    }

    fn keep(mut self) {
        self.had_description = true;
        self.had_folder = true;
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        // Folders go only while they are empty.
        if !self.had_description && fs::remove_dir(self.folder.join(POINTS)).is_ok() {
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
    /// One for each point and seed.
    pub(super) tasks: Vec<Simulated>,
    pub(super) seeds: u64,
    pub(super) shard: Option<(usize, usize)>,
    folder: Option<PathBuf>,
    means: Means,
    /// Reports that were handed in, or found in the folder: nothing is read twice.
    here: Mutex<BTreeMap<usize, Report>>,
}

impl StudyPlan {
    pub(super) fn new(study: &Study) -> Result<Self, Error> {
        let Study { template, axes, variants, baseline, seeds, folder, shard, workers, threads, cache } = study;
        let seed_is_varied = axes.iter().any(|axis| axis.key == SEED);
        if seed_is_varied && (*seeds > 1 || template.seed.is_some()) {
            return Err(StudyProblem::SeedTwice.into());
        }
        refuse_too_many(axes, *seeds)?;
        let points = combinations(axes);
        let baselines = baselines(axes, &points, baseline.as_deref())?;
        let mut tasks = Vec::new();
        let mut contents = Contents::default();
        for settings in &points {
            let behind = |setting| variants.iter().find_map(|variants| variants.behind(setting)).unwrap_or(std::slice::from_ref(setting));
            let sets = settings.iter().flat_map(behind).map(|setting| (setting.key.clone(), setting.value.clone()));
            let scenario = template.scenario(sets, None)?;
            let first = scenario.seed;
            for offset in 0..*seeds {
                let seed = first.checked_add(offset).ok_or(StudyProblem::SeedTooLarge { first, offset })?;
                tasks.push(Simulated::new(scenario.with_seed(seed), &mut contents)?);
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
            means: Means { workers: workers.unwrap_or_else(default_workers), threads: *threads, cache: cache.clone() },
            here: Mutex::default(),
        })
    }

    /// A name for the study: the same for the same simulations, shards or not.
    pub fn hash(&self) -> String {
        short_hash(&self.tasks.iter().map(|task| task.id.as_str()).collect::<Vec<_>>().join(" "))
    }

    /// How many simulations it runs, or takes from its folder.
    #[expect(clippy::len_without_is_empty, reason = "a plan is never empty")]
    pub fn len(&self) -> usize {
        self.shard.map_or(self.tasks.len(), |shard| shard::of(&self.tasks, shard).len())
    }

    /// What it runs, or takes from its folder.
    #[doc(hidden)]
    pub fn scenarios(&self) -> Vec<&Scenario> {
        self.own().into_iter().map(|index| &self.tasks[index].scenario).collect()
    }

    /// The positions of its simulations: all, or those of the shard.
    fn own(&self) -> Vec<usize> {
        match self.shard {
            Some(shard) => shard::of(&self.tasks, shard),
            None => (0..self.tasks.len()).collect(),
        }
    }

    /// In place of what [`Study::workers`], [`Study::threads`] and [`Study::warm_cache`] say.
    #[doc(hidden)]
    #[must_use]
    pub fn by(mut self, means: Means) -> Self {
        self.means = means;
        self
    }

    /// As [`Study::folder`], for a folder that is named after the plan.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// Refuses a folder that holds the results of something else: [`StudyPlan::run`] would put its own among them.
    ///
    /// # Errors
    /// [`Error::Study`] if it does; [`Error::Io`].
    pub fn refuse_foreign_folder(&self, folder: impl AsRef<Path>) -> Result<(), Error> {
        shard::refuse_foreign(self, folder.as_ref())
    }

    /// The settings and the seed of a simulation, by its number in the order of points and seeds.
    pub fn simulation(&self, index: usize) -> (&[Setting], u64) {
        (&self.points[self.point(index)], self.tasks[index].scenario.seed)
    }

    /// What is still to be run, for schedulers of one's own: the numbers of simulations that the folder does not hold yet, in groups that share a
    /// warm-up. Whoever runs them hands their reports to [`StudyPlan::keep`]; when nothing is left, [`StudyPlan::run`] only puts them together.
    ///
    /// # Errors
    /// [`Error::Io`] if the folder can't be made or written.
    pub fn open_groups(&self) -> Result<Vec<Vec<usize>>, Error> {
        let store = self.store()?;
        let mut here = self.here();
        let mut is_open = |index: &usize| {
            let task = &self.tasks[*index];
            if here.contains_key(index) && task.has_its_state() {
                return false;
            }
            match store.as_ref().and_then(|store| task.done_before(store)) {
                Some(report) => {
                    here.insert(*index, report);
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

    /// Memory that these simulations need, one after the other, about.
    pub fn memory_bytes(&self, simulations: &[usize]) -> u64 {
        memory::needed_by_all(simulations.iter().map(|index| &self.tasks[*index].scenario), 1)
    }

    /// Takes the report of a simulation that was run elsewhere, and saves it as [`StudyPlan::run`] does if the study has a folder. The first one stays.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Study`] if the report is another simulation's.
    pub fn keep(&self, index: usize, report: Report) -> Result<(), Error> {
        let task = &self.tasks[index];
        if report.config_hash != task.scenario.hash || report.seed != task.scenario.seed || report.partial {
            return Err(StudyProblem::OtherReport { simulation: index }.into());
        }
        if self.here().contains_key(&index) {
            return Ok(());
        }
        let mut earlier = None;
        if let Some(store) = self.folder.as_deref().map(Store::of_this_build) {
            earlier = store.load(&task.id);
            if earlier.is_none() {
                store.save(&task.id, &report)?;
            }
        }
        self.here().entry(index).or_insert(earlier.unwrap_or(report));
        Ok(())
    }

    /// What was handed in, and what [`StudyPlan::open_groups`] found in the folder, which is given away: there are fewer rows than
    /// [`StudyPlan::len`] says where something is missing.
    #[doc(hidden)]
    pub fn take_done(&self) -> StudyResult {
        let mut here = std::mem::take(&mut *self.here());
        let rows = self.own().into_iter().filter_map(|index| Some(StudyRow { point: self.point(index), report: here.remove(&index)? }));
        self.result(rows.collect())
    }

    fn here(&self) -> MutexGuard<'_, BTreeMap<usize, Report>> {
        // Reports are put in whole.
        self.here.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The point of a simulation.
    fn point(&self, index: usize) -> usize {
        index / self.seeds as usize
    }

    fn store(&self) -> Result<Option<Store>, Error> {
        let store = self.folder.as_deref().map(Store::open).transpose()?;
        if let (Some(folder), Some(store)) = (&self.folder, &store) {
            shard::describe(self, folder, store)?;
        }
        Ok(store)
    }

    /// Runs what its folder does not hold yet.
    ///
    /// # Errors
    /// What went wrong first; [`Error::StudyInterrupted`] if the observer stopped it.
    pub fn run(self, observer: &dyn StudyObserver) -> Result<StudyResult, Error> {
        let all = self.len();
        let result = self.run_until_stopped(observer)?;
        let done = result.rows.len();
        if done < all { Err(Error::StudyInterrupted { done, all }) } else { Ok(result) }
    }

    /// As [`StudyPlan::run`], but where the observer stops it, what is done is the result: there are fewer rows then than [`StudyPlan::len`] says.
    ///
    /// # Errors
    /// What went wrong first.
    pub fn run_until_stopped(self, observer: &dyn StudyObserver) -> Result<StudyResult, Error> {
        self.run_by(&self.means, observer)
    }

    /// The same with `means` in place of what [`Study::workers`], [`Study::threads`] and [`Study::warm_cache`] say. What was handed in is given
    /// away with the result.
    ///
    /// # Errors
    /// What went wrong first.
    #[doc(hidden)]
    pub fn run_by(&self, means: &Means, observer: &dyn StudyObserver) -> Result<StudyResult, Error> {
        // Before anything is made in it.
        let begun = self.folder.as_deref().map(Begun::of);
        let store = self.store()?;
        let own = self.own();
        let tasks: Vec<&Simulated> = own.iter().map(|index| &self.tasks[*index]).collect();
        let mut here = std::mem::take(&mut *self.here());
        let handed_in = own.iter().map(|index| here.remove(index).filter(|_| self.tasks[*index].has_its_state()));
        let earlier = handed_in.zip(&tasks).map(|(report, task)| report.or_else(|| task.done_before(store.as_ref()?))).collect();
        let reports = run_open(&tasks, earlier, means, store.as_ref(), observer)?;
        // Whatever comes of it now, there is something to keep.
        if let Some(begun) = begun.filter(|_| reports.iter().any(Option::is_some)) {
            begun.keep();
        }
        let row = |(task, report): (&usize, Option<Report>)| Some(StudyRow { point: self.point(*task), report: report? });
        let rows = own.iter().zip(reports).filter_map(row).collect();
        Ok(self.result(rows))
    }

    fn result(&self, rows: Vec<StudyRow>) -> StudyResult {
        StudyResult { axes: self.axes.clone(), points: self.points.clone(), baselines: self.baselines.clone(), rows }
    }
}
