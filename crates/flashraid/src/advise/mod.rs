//! From a load and goals to a decision.

mod expression;
pub mod goal;
mod residuals;
pub mod select;
mod space;

pub use residuals::{Residual, Residuals};
pub use space::{NAMED_AXES, Need, POINTS_MAX, Space};
