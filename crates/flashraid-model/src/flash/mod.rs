//! The flash medium: its shape, and the durations of its operations.

mod geometry;
mod timing;

pub use geometry::Geometry;
pub use timing::Timing;
