//! The flash medium: its shape and how long its operations take.

mod geometry;
mod timing;

pub use geometry::Geometry;
pub use timing::Timing;
