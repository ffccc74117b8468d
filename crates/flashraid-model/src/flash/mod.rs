//! The flash medium: its shape, its channels, and the durations of its operations.

mod channels;
mod geometry;
mod timing;

pub use channels::{DieNumbering, DieToChannelAssignment};
pub use geometry::Geometry;
pub use timing::{Timing, filled_in_by_preset};
