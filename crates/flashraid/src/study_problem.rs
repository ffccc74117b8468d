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
        /// Name of the configuration key that is varied without a value.
        key: String,
    },
    /// A varied key has the same value twice in its list of values.
    #[error("{key}: the value {value} is there twice")]
    #[non_exhaustive]
    RepeatedValue {
        /// Name of the varied configuration key that has a value twice.
        key: String,
        /// Value that is twice in the list of values of the varied key.
        value: String,
    },
    /// A key is varied twice.
    #[error("{key} is varied twice; give all values at once")]
    #[non_exhaustive]
    RepeatedKey {
        /// Name of the configuration key that is varied twice.
        key: String,
    },
    /// The seed is a varied key, and is also set by [`Study::seed`](super::Study::seed) or [`Study::seeds`](super::Study::seeds).
    #[error("the seed is varied and given in another way, too; leave out one of them")]
    SeedBothVariedAndSet,
    /// The last seed exceeds the greatest possible one.
    #[error("seed {first_seed_of_point} + {offset_from_first_seed} is too large")]
    #[non_exhaustive]
    SeedTooLarge {
        /// Seed of the first simulation of each point of the study (combination of settings). The further simulations of a point have
        /// the seeds that follow.
        first_seed_of_point: u64,
        /// Number to be added to the first seed to get the last one, which would be too large.
        offset_from_first_seed: u64,
    },
    /// The wanted baseline cannot be used. It is not among the varied values, or several varied keys have it, or its key describes the
    /// work to do (such as `workload`).
    #[error("baseline {requested_baseline}: {reason}; {}", of_choices(possible_baseline_values))]
    #[non_exhaustive]
    UnusableBaseline {
        /// Baseline that the user wants: a value of a varied key with which the other values would be compared.
        requested_baseline: String,
        /// Reason why other values cannot be compared with the value that the user wants as the baseline.
        reason: &'static str,
        /// Values that can be the baseline, with which the other values of a key are compared.
        possible_baseline_values: Vec<String>,
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
    WarmStateFileConflict {
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
    /// The runs of the study cannot be made longer.
    #[error("the runs can't be made longer: {reason}")]
    #[non_exhaustive]
    CannotGoOn {
        /// Reason why not, such as a stream that ends by itself.
        reason: String,
    },
    /// A report was handed in for a simulation to which it does not belong.
    #[error("the report handed in for simulation {simulation_index} is another simulation's, or partial")]
    #[non_exhaustive]
    ReportOfOtherStudy {
        /// Number of the simulation in the whole study, from 0. The order is point by point (combinations of settings), and for each
        /// point seed by seed.
        simulation_index: usize,
    },
    /// A folder cannot be used for a study or a shard (a part of a study), for example because it holds other results.
    #[error("{}: {reason}", folder.display())]
    #[non_exhaustive]
    UnusableFolder {
        /// Path of the folder that cannot be used for a study or a part of it.
        folder: PathBuf,
        /// Reason why the folder cannot be used, for example because it holds other results.
        reason: String,
    },
    /// The given shards (parts of a study) do not add up to the whole study, because some simulations are in none of them.
    #[error(
        "{missing} of {simulations_in_study} simulations are in none of the folders; a missing shard, or one that was stopped? shards that are there: {shards_found}"
    )]
    #[non_exhaustive]
    SimulationsMissingFromShards {
        /// Number of simulations that are missing.
        missing: usize,
        /// Number of simulations in the study.
        simulations_in_study: usize,
        /// Shards (parts of the study) that the given folders hold, as a text such as `1/3, 2/3`. It is empty if the study was not divided.
        shards_found: String,
    },
}
