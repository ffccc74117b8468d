//! Decides what an SSD collects, and how urgently. Dies carry it out.
//!
//! | file | collection begins because of |
//! |---|---|
//! | [`paced`] | host writes, which pay for it, and few free superblocks |
//! | [`idle`] | time without commands |
//! | [`upkeep`] | many reads, or uneven wear |
//! | [`order`] | nothing: it says in which order a die takes its work |
//!
//! Each part owns its state and its limits, and knows neither dies nor time. Pools of blocks compare free blocks with watermarks in
//! [`crate::space::pools`]; the array's controller forces members through [`super::agent`].

pub mod idle;
pub mod order;
pub mod paced;
pub mod upkeep;
