//! What a study consists of before it runs.

use std::path::PathBuf;

use super::baseline::baselines;
use super::run::{Means, Simulated, default_workers, run_all};
use super::store::{Store, short_hash};
use super::{Axis, Setting, Study, StudyObserver, StudyProblem, StudyResult, StudyRow, combinations, shard};
use crate::Error;
use crate::config::Scenario;

/// The key that is set in other ways, too.
const SEED: &str = "seed";

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
}

impl StudyPlan {
    pub(super) fn new(study: &Study) -> Result<Self, Error> {
        let Study { template, axes, baseline, seeds, folder, shard, workers, threads, cache } = study;
        let seed_is_varied = axes.iter().any(|axis| axis.key == SEED);
        if seed_is_varied && (*seeds > 1 || template.seed.is_some()) {
            return Err(StudyProblem::SeedTwice.into());
        }
        let points = combinations(axes);
        let baselines = baselines(axes, &points, baseline.as_deref())?;
        let mut tasks = Vec::new();
        for settings in &points {
            let sets = || settings.iter().map(|setting| (setting.key.clone(), setting.value.clone()));
            let scenario = template.scenario(sets(), None)?;
            let first = scenario.seed;
            tasks.push(Simulated::new(scenario));
            for offset in 1..*seeds {
                let seed = first.checked_add(offset).ok_or(StudyProblem::SeedTooLarge { first, offset })?;
                tasks.push(Simulated::new(template.scenario(sets(), Some(seed))?));
            }
        }
        Ok(Self {
            axes: axes.clone(),
            points,
            baselines,
            tasks,
            seeds: *seeds,
            shard: *shard,
            folder: folder.clone(),
            means: Means { workers: workers.unwrap_or_else(default_workers), threads: *threads, cache: cache.clone() },
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

    /// Runs what its folder does not hold yet.
    ///
    /// # Errors
    /// What went wrong first; [`Error::StudyInterrupted`] if the observer stopped it.
    pub fn run(self, observer: &dyn StudyObserver) -> Result<StudyResult, Error> {
        let store = self.folder.as_deref().map(Store::open).transpose()?;
        if let (Some(folder), Some(store), Some(_)) = (&self.folder, &store, self.shard) {
            shard::describe(&self, folder, store)?;
        }
        let own = self.own();
        let tasks: Vec<&Simulated> = own.iter().map(|index| &self.tasks[*index]).collect();
        let reports = run_all(&tasks, &self.means, store.as_ref(), observer)?;
        let (done, all) = (reports.iter().flatten().count(), reports.len());
        if done < all {
            return Err(Error::StudyInterrupted { done, all });
        }
        let point = |task: usize| task / self.seeds as usize;
        let rows = own.iter().zip(reports.into_iter().flatten()).map(|(task, report)| StudyRow { point: point(*task), report }).collect();
        Ok(StudyResult { axes: self.axes, points: self.points, baselines: self.baselines, rows })
    }
}
