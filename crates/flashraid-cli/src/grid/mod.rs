//! A grid of simulations: every combination of the varied keys, each with every seed.

mod baseline;
mod plan;
mod run;
mod store;

pub use baseline::baselines;
pub use flashraid_report::grid::{Axis, Grid, Point, Setting, combinations};
pub use plan::Plan;
pub use run::{Task, run_all};
pub use store::{Store, short_hash};
