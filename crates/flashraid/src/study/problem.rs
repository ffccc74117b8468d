//! What is wrong with the settings of a study.

use std::path::PathBuf;

/// The values that may be a baseline.
fn of_choices(choices: &[String]) -> String {
    if choices.is_empty() { "no varied key is a remedy".to_owned() } else { format!("choose one of {}", choices.join(", ")) }
}

/// What is wrong with the settings of a study.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StudyProblem {
    /// A key is varied without a value.
    #[error("{key} is varied, but without a value")]
    #[non_exhaustive]
    NoValue {
        /// The key.
        key: String,
    },
    /// A key has the same value twice.
    #[error("{key}: the value {value} is there twice")]
    #[non_exhaustive]
    RepeatedValue {
        /// The key.
        key: String,
        /// The value.
        value: String,
    },
    /// A key is varied twice.
    #[error("{key} is varied twice; give all values at once")]
    #[non_exhaustive]
    RepeatedKey {
        /// The key.
        key: String,
    },
    /// The seed is varied, and given in another way, too.
    #[error("the seed is varied and given in another way, too; leave out one of them")]
    SeedTwice,
    /// The last seed is no number that a seed can be.
    #[error("seed {first} + {offset} is too large")]
    #[non_exhaustive]
    SeedTooLarge {
        /// The first seed.
        first: u64,
        /// What is added to it.
        offset: u64,
    },
    /// The baseline is none, or more than one, of the varied values.
    #[error("baseline {wanted}: {reason}; {}", of_choices(choices))]
    #[non_exhaustive]
    Baseline {
        /// What was wanted.
        wanted: String,
        /// Why it can't be had.
        reason: &'static str,
        /// What can be had.
        choices: Vec<String>,
    },
    /// The grid is larger than memory.
    #[error("there are {simulations} simulations, but at most {most} fit here; vary fewer values, or compare in several folders")]
    #[non_exhaustive]
    TooMany {
        /// Simulations of the grid.
        simulations: u128,
        /// How many there may be.
        most: u128,
    },
    /// Simulations would save their states over each other.
    #[error(
        "ssd.warm_up.save: several simulations would write {}, and one state would replace the other; save it by a run of its own and \
         set ssd.warm_up.load here",
        path.display()
    )]
    #[non_exhaustive]
    SharedState {
        /// The file.
        path: PathBuf,
    },
    /// There is no such shard.
    #[error("there is no shard {index} of {count}; shards are 1 of N to N of N")]
    #[non_exhaustive]
    Shard {
        /// Its number.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// A report is not that of the simulation that it was handed in for.
    #[error("the report handed in for simulation {simulation} is another simulation's, or partial")]
    #[non_exhaustive]
    OtherReport {
        /// Its number in the order of points and seeds.
        simulation: usize,
    },
    /// A folder holds no shard of a study.
    #[error("{}: {reason}", folder.display())]
    #[non_exhaustive]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Shards do not add up to the whole study.
    #[error(
        "{missing} of {all} simulations are in none of the folders; a missing shard, or one that was stopped? shards that are there: {shards}"
    )]
    #[non_exhaustive]
    Missing {
        /// Simulations that are missing.
        missing: usize,
        /// Simulations of the study.
        all: usize,
        /// The shards that were given.
        shards: String,
    },
}
