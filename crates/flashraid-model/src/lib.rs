//! The model of flashraid: arrays of SSDs that collect garbage.
//!
//! ```text
//!  Request ─▶ array ─▶ cache            absorb? destage?
//!               ├─▶ placement ─page ops▶ ssd[i] ─▶ space  (what lies where)
//!               ├◀─ coordination         who collects now?     │
//!  metrics ◀─ events ◀──────────────────── ends ◀────────── die
//! ```
//!
//! Calls go down, data comes up. The model has no clock and does no input or output. The same parameters, seed and requests give the same
//! results on every machine.
//!
//! The model cannot fail: parameters are plain integers, and the caller guarantees that they are consistent.

#[macro_use]
pub mod counts;

pub mod array;
pub mod cache;
pub mod coordination;
pub mod events;
pub mod flash;
pub mod ids;
pub mod metrics;
pub mod placement;
pub mod policy;
pub mod request;
pub mod rng;
pub mod space;
pub mod ssd;
pub mod units;

pub use events::TimeNs;
