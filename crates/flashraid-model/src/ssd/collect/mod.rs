//! Decides what an SSD collects, and how urgently. Dies carry it out.
//!
//! | file | collection begins because of |
//! |---|---|
//! | [`paced`] | host writes, which pay for it, and few free superblocks |
//! | [`idle`] | time without commands |
//! | [`upkeep`] | many reads, or uneven wear |
//! | [`pools`] | watermarks of pools, idle dies, or the controller's word: the clean of which pool is due |
//! | [`superblocks`] | any of these: it chooses the victim, and its parts one by one |
//! | [`order`] | nothing: it says in which order a die takes its work |
//!
//! Each part owns its state and its limits, and knows neither dies nor time. The array's controller forces members through
//! [`super::agent`].

pub mod idle;
pub mod order;
pub mod paced;
pub mod pools;
pub mod superblocks;
pub mod upkeep;
