//! Tests of what the crate says, from outside.

mod conclusions;
mod truth;
