//! Simulates garbage collection in arrays of SSDs.
//!
//! ```text
//!  configuration ─▶ config ─Scenario▶ run ─▶ warm_up, simulation ─▶ report
//!                                                   │  ▲
//!                            workload ─Request──────┘  │
//!                            model: Array ─────────────┘
//! ```
//!
//! [`config`] makes a scenario of what a user writes and refuses everything that can be wrong with it, [`run`] runs it to a [`report`].
//! [`simulation`] is the loop between any [`Source`](workload::Source) of requests and any [`Array`](model::array::Array):
//! what a workload of one's own needs.

pub mod check;
pub mod config;
pub mod memory;
pub mod report;
pub mod run;
pub mod simulation;
mod threads;
pub mod warm_cache;
pub mod warm_state;
pub mod warm_up;

pub use flashraid_model as model;
pub use flashraid_workload as workload;
pub use flashraid_workload::files;
