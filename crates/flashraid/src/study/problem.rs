//! Errors in the settings of a study.

use std::path::PathBuf;

/// Returns a sentence that lists the values that may be a baseline.
fn of_choices(choices: &[String]) -> String {
    if choices.is_empty() { "no varied key is a remedy".to_owned() } else { format!("choose one of {}", choices.join(", ")) }
}

/// Error in the settings of a study.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StudyProblem {
    /// A key is varied without a value.
    #[error("{key} is varied, but without a value")]
    #[non_exhaustive]
    AxisWithoutValues {
        /// Name of the key.
        key: String,
    },
    /// A varied key has the same value twice in its list of values.
    #[error("{key}: the value {value} is there twice")]
    #[non_exhaustive]
    RepeatedValue {
        /// Name of the key.
        key: String,
        /// Value that the list of the key has twice.
        value: String,
    },
    /// A key is varied twice.
    #[error("{key} is varied twice; give all values at once")]
    #[non_exhaustive]
    RepeatedKey {
        /// Name of the key.
        key: String,
    },
    /// The seed is a varied key, and is also set by [`Study::seed`](super::Study::seed) or [`Study::seeds`](super::Study::seeds).
    #[error("the seed is varied and given in another way, too; leave out one of them")]
    SeedTwice,
    /// The last seed exceeds the greatest possible one.
    #[error("seed {first_seed} + {offset} is too large")]
    #[non_exhaustive]
    SeedTooLarge {
        /// Value of the first seed.
        first_seed: u64,
        /// Number to be added to the first seed, which gives the last one.
        offset: u64,
    },
    /// The wanted baseline cannot be used. It is not among the varied values, or several varied keys have it, or its key describes the
    /// work to do (such as `workload`).
    #[error("baseline {wanted}: {reason}; {}", of_choices(choices))]
    #[non_exhaustive]
    BaselineNotFound {
        /// Baseline that the user wants.
        wanted: String,
        /// Reason why the wanted baseline is not possible.
        reason: &'static str,
        /// Baselines that are possible.
        choices: Vec<String>,
    },
    /// The grid has more simulations than a study may have.
    #[error(
        "there are {simulations} simulations, but at most {simulations_max} fit here; vary fewer values, or compare in several folders"
    )]
    #[non_exhaustive]
    TooManySimulations {
        /// Number of simulations in the grid.
        simulations: u128,
        /// Maximum number of simulations.
        simulations_max: u128,
    },
    /// Several simulations would save their warm states (the states after the warm-up) in the same file, and one would overwrite the
    /// other.
    #[error(
        "ssd.warm_up.save: several simulations would write {}, and one state would replace the other; save it by a run of its own and \
         set ssd.warm_up.load here",
        path.display()
    )]
    #[non_exhaustive]
    SharedStateFile {
        /// Path of the file in which several simulations would save their warm state (`ssd.warm_up.save`).
        path: PathBuf,
    },
    /// The number of a shard is too small or too large. A shard is one of the parts into which the simulations of a study are divided.
    #[error("there is no shard {index} of {count}; shards are 1 of N to N of N")]
    #[non_exhaustive]
    InvalidShard {
        /// Number of the shard that was asked for, counted from 1.
        index: usize,
        /// Number of shards into which the study is divided.
        count: usize,
    },
    /// A report was handed in for a simulation to which it does not belong.
    #[error("the report handed in for simulation {simulation_index} is another simulation's, or partial")]
    #[non_exhaustive]
    ReportOfOtherStudy {
        /// Number of the simulation in the order of points and seeds.
        simulation_index: usize,
    },
    /// A folder cannot be used for a study or a shard (a part of a study), for example because it holds other results.
    #[error("{}: {reason}", folder.display())]
    #[non_exhaustive]
    UnusableFolder {
        /// Path of the folder.
        folder: PathBuf,
        /// Explanation of what is wrong with it.
        reason: String,
    },
    /// The given shards (parts of a study) do not add up to the whole study, because some simulations are in none of them.
    #[error(
        "{missing} of {simulations} simulations are in none of the folders; a missing shard, or one that was stopped? shards that are there: {shards}"
    )]
    #[non_exhaustive]
    MissingSimulations {
        /// Number of simulations that are missing.
        missing: usize,
        /// Number of simulations in the study.
        simulations: usize,
        /// Shards that were given.
        shards: String,
    },
}
