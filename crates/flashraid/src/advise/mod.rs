//! From a load and goals to a decision.

pub mod select;
