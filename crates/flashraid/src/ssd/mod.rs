//! One member SSD.

mod counters;
mod params;

pub use counters::{MemberCounters, Wear};
pub use params::*;
