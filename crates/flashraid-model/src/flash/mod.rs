//! The flash medium: its shape, its channels, and the durations of its operations.

mod channels;
mod geometry;
mod timing;

pub use channels::{ChannelAssignment, DieNumbering};
pub use geometry::Geometry;
pub use timing::Timing;
