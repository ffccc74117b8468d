//! Decides which blocks of an SSD are collected, and how urgently. The dies perform the work.
//!
//! | file | reason to collect |
//! |---|---|
//! | [`paced`] | host writes, which earn credits for moves, and a lack of free superblocks |
//! | [`idle`] | time without commands |
//! | [`upkeep`] | many reads, or uneven wear |
//! | [`pools`] | watermarks of pools, idle dies, or an order of the controller; it names the clean that is due |
//! | [`superblocks`] | any of these; it chooses the victim and its parts one by one |
//! | [`order`] | none; it orders the work of a die |
//!
//! Each part owns its state and its limits, and knows neither dies nor time. The array's controller forces members through
//! [`super::agent`].

pub(super) mod idle;
pub(super) mod order;
pub(super) mod paced;
pub(super) mod pools;
pub(super) mod superblocks;
pub(super) mod upkeep;
