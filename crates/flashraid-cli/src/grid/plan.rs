//! What a grid consists of before it runs.

use flashraid::config::Scenario;

use super::{Axis, Grid, Point, Setting, Store, Task, baselines, combinations, run_all, short_hash};
use crate::failure::{Failure, Outcome};
use crate::interrupt;
use crate::machine::Machine;

/// The key that has options of its own.
const SEED: &str = "seed";

/// All simulations of a grid, checked and in order.
pub struct Plan {
    axes: Vec<Axis>,
    combinations: Vec<Vec<Setting>>,
    baselines: Vec<usize>,
    seeds: u64,
    tasks: Vec<Task>,
}

impl Plan {
    /// Every combination of `axes` with `seeds` consecutive seeds from `first_seed` (by default the configuration's).
    ///
    /// `load` reads the configuration with settings and a seed over it; every combination is read, so that a bad one is refused before any runs.
    pub fn new(
        axes: &[Axis],
        baseline: Option<&str>,
        first_seed: Option<u64>,
        seeds: u64,
        load: impl Fn(&[Setting], Option<u64>) -> Outcome<Scenario>,
    ) -> Outcome<Plan> {
        refuse_repeated_keys(axes)?;
        let seed_is_varied = axes.iter().any(|axis| axis.key == SEED);
        if seed_is_varied && (seeds > 1 || first_seed.is_some()) {
            return Err(Failure::Input("--vary seed=… together with --seed or --seeds: leave out one of them".to_owned()));
        }
        let combinations = combinations(axes);
        let baselines = baselines(axes, &combinations, baseline)?;
        let mut tasks = Vec::new();
        for settings in &combinations {
            let first = load(settings, first_seed)?;
            let first_seed = first.seed;
            tasks.push(Task::new(first));
            for offset in 1..seeds {
                let seed =
                    first_seed.checked_add(offset).ok_or_else(|| Failure::Input(format!("seed {first_seed} + {offset} is too large")))?;
                tasks.push(Task::new(load(settings, Some(seed))?));
            }
        }
        Ok(Plan { axes: axes.to_vec(), combinations, baselines, seeds, tasks })
    }

    /// Simulations of the grid.
    pub fn simulations(&self) -> Vec<&Scenario> {
        self.tasks.iter().map(|task| &task.scenario).collect()
    }

    /// A name for this grid: the same for the same points.
    pub fn hash(&self) -> String {
        short_hash(&self.tasks.iter().map(|task| task.id.as_str()).collect::<Vec<_>>().join(" "))
    }

    /// Runs what the store does not hold yet.
    ///
    /// # Errors
    /// What went wrong first; after an interruption how much is done, and `how_to_go_on`.
    pub fn run(self, machine: &Machine, store: Option<&Store>, how_to_go_on: &str) -> Outcome<Grid> {
        interrupt::stop_at_next_step()?;
        let reports = run_all(&self.tasks, machine, store)?;
        let (done, all) = (reports.iter().flatten().count(), reports.len());
        if done < all {
            return Err(Failure::Interrupted(format!("stopped: {done} of {all} simulations are done. {how_to_go_on}")));
        }
        let mut reports = reports.into_iter().flatten();
        let points = self.combinations.into_iter().map(|settings| {
            let reports = reports.by_ref().take(self.seeds as usize).collect();
            Point { settings, reports }
        });
        Ok(Grid { axes: self.axes, points: points.collect(), baselines: self.baselines })
    }
}

fn refuse_repeated_keys(axes: &[Axis]) -> Outcome {
    for (index, axis) in axes.iter().enumerate() {
        if axes[..index].iter().any(|earlier| earlier.key == axis.key) {
            let key = &axis.key;
            return Err(Failure::Input(format!("--vary {key} is there twice; give all values at once: --vary {key}=A,B,C")));
        }
    }
    Ok(())
}
