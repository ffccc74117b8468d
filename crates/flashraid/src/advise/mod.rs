//! A decision for a load and goals: which drive, how many, which level, and how sure that is.
//!
//! ```text
//!  Advisor ─ points of a Space ─▶ contestant  arithmetic, without simulation
//!                                     │
//!                                     ▼
//!                                  search     screen ▶ race ▶ fresh seeds ▶ runs of what was chosen ─▶ Advice
//!                                     │
//!             select (statistics) ◀───┴───▶ sample (one run, ten batches)
//! ```

mod advice;
mod contestant;
mod expression;
pub mod goal;
mod plausible;
mod prices;
mod residuals;
mod sample;
mod search;
pub mod select;
mod space;

use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

pub use advice::{ADVICE_SCHEMA, Advice, FigureOf, Other, PlausibleDrives, PointOf, Stage, Step, Verb};
pub use plausible::{MakeScenario, PlausibleDrive, plausible_drives};
pub use prices::Prices;
pub use residuals::{Residual, Residuals};
pub use space::{NAMED_AXES, Need, POINTS_MAX, Space, USUAL_BAYS, USUAL_DRIVES};

use crate::Error;
use crate::template::Template;
use flashraid_workload::Stop;
use goal::{Circumstance, Goal};

/// Preference among arrays that meet the goals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preference {
    /// Less money or, without prices, less raw capacity of drives.
    Cost,
    /// A smaller value of the figure of the first goal about speed.
    Tail,
}

impl FromStr for Preference {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim() {
            "cost" => Ok(Self::Cost),
            "tail" => Ok(Self::Tail),
            other => Err(format!("{other:?} is no preference; write cost, tail or both")),
        }
    }
}

/// Bound on a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Effort {
    /// Number of simulated requests. With the same number, a search gives the same answer on every machine.
    Requests(u64),
    /// Time of this machine, which is turned into a number of requests after a first look.
    Time(Duration),
}

/// Watches a search, and may stop it. Every method does nothing by default.
pub trait Watch: Sync {
    /// Reports that `done` of `of` runs of a stage have ended. `best` is the best array so far, if there is one.
    fn progress(&self, _stage: &str, _done: usize, _of: usize, _best: Option<&str>) {}

    /// Returns true if the search should end with the answer so far.
    fn stop(&self) -> bool {
        false
    }

    /// Returns a callback that is asked the same while a trace is read or skipped.
    fn stop_signal(&self) -> Stop {
        Stop::default()
    }
}

/// Watcher that ignores everything.
impl Watch for () {}

/// A question about arrays: a load, a space, and goals.
#[derive(Debug, Clone)]
#[must_use = "an advisor does nothing before `advise`"]
pub struct Advisor {
    load: Template,
    load_name: String,
    now: Option<Template>,
    space: Space,
    capacity_bytes: f64,
    /// Goals that an array has to meet.
    pub goals: Vec<Goal>,
    /// Preferences among arrays that meet the goals, the first one first.
    pub prefer: Vec<Preference>,
    /// Needs that values of axes may have.
    pub allow: Vec<Need>,
    /// Circumstances in which the chosen array is shown, besides those of goals.
    pub under: Vec<Circumstance>,
    /// Factor by which more requests arrive than in the load.
    pub growth: f64,
    /// Bound on the search.
    pub effort: Effort,
    /// Share of wrong answers that is allowed.
    pub error: f64,
    /// First seed of all simulations.
    pub seed: u64,
    /// Number of simulations at a time, which changes no answer.
    pub workers: usize,
    /// Errors of the model.
    pub residuals: Residuals,
    /// Prices of the drives. Without them, raw capacity stands for cost.
    pub prices: Option<Prices>,
}

impl Advisor {
    /// Returns a question about a load that is a configuration in TOML.
    ///
    /// # Errors
    /// Returns [`Error::Config`] if the text is not TOML.
    pub fn from_toml(name: &str, text: &str, space: Space, capacity_bytes: f64) -> Result<Self, Error> {
        Ok(Self::of(name, Template::from_toml(text)?, space, capacity_bytes))
    }

    /// Returns a question about a load that is a configuration in a file.
    ///
    /// # Errors
    /// Returns [`Error::Config`] if the file cannot be read or is not TOML.
    pub fn from_file(path: &Path, space: Space, capacity_bytes: f64) -> Result<Self, Error> {
        Ok(Self::of(&path.display().to_string(), Template::from_file(path)?, space, capacity_bytes))
    }

    /// Returns a question about a load that is a tree of values, for example from JSON.
    ///
    /// # Errors
    /// Returns [`Error::Config`] if the value is not a table.
    pub fn from_value(name: &str, value: &serde_json::Value, space: Space, capacity_bytes: f64) -> Result<Self, Error> {
        Ok(Self::of(name, Template::from_value(value)?, space, capacity_bytes))
    }

    fn of(name: &str, load: Template, space: Space, capacity_bytes: f64) -> Self {
        Self {
            load,
            load_name: name.to_owned(),
            now: None,
            space,
            capacity_bytes,
            goals: Vec::new(),
            prefer: vec![Preference::Cost, Preference::Tail],
            allow: vec![Need::Now, Need::Application],
            under: Vec::new(),
            growth: 1.0,
            effort: Effort::Time(Duration::from_secs(120)),
            error: 0.05,
            seed: 1,
            workers: crate::study::default_workers(),
            residuals: Residuals::default(),
            prices: None,
        }
    }

    /// Sets a key of the configuration of the load, like [`Simulation::set`](crate::Simulation::set).
    ///
    /// # Errors
    /// Returns [`Error::Config`] if key or value cannot be read.
    pub fn set(mut self, key: &str, value: impl ToString) -> Result<Self, Error> {
        self.load.set(key, value.to_string())?;
        Ok(self)
    }

    /// Sets the present array, which a configuration in a file describes. Its own workload does not count.
    ///
    /// # Errors
    /// Returns [`Error::Config`] if the file cannot be read or is not TOML.
    pub fn present(mut self, path: &Path) -> Result<Self, Error> {
        self.now = Some(Template::from_file(path)?);
        Ok(self)
    }

    /// Searches, and answers.
    ///
    /// # Errors
    /// Returns [`Error::Config`] if a point of the space cannot be a configuration, [`Error::UnusableInput`] if the question makes no
    /// sense, and the errors of a simulation.
    pub fn advise(&self, watch: &dyn Watch) -> Result<Advice, Error> {
        search::Search::advise(self, watch)
    }
}
