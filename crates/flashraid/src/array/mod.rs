//! The array: addresses to members, requests to page operations and back.

mod params;

pub use params::*;
