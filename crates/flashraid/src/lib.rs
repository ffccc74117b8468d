//! Simulates garbage collection in arrays of SSDs.
//!
//! ```text
//!  workload ─Request▶ array ─▶ cache            absorb? destage?
//!                       ├─▶ raid layout ─page ops▶ ssd[i] ─▶ ftl ─▶ flash die
//!                       ├◀─ coordination         who collects now?     │
//!  metrics ◀completion─ array ◀──────────────── ends ◀────────── die
//! ```
//!
//! Calls go down, data comes up. The model (`array`, `ssd`, `ftl`, `flash`) has no clock, no I/O, no threads and cannot fail;
//! everything a user can get wrong is refused by [`config`] before it starts.

pub mod agenda;
pub mod array;
pub mod bench;
pub mod cache;
pub mod check;
pub mod config;
pub mod coordination;
pub mod flash;
pub mod ftl;
pub mod layout;
pub mod metrics;
pub mod report;
pub mod rng;
pub mod run;
pub mod simulation;
pub mod slab;
pub mod ssd;
pub mod units;
pub mod warm_state;
pub mod warm_up;
pub mod workload;

/// Simulated time in nanoseconds since the start of the run.
pub type TimeNs = u64;
