//! Tests of the library as a whole.

mod adapter;
mod agreement;
mod cases;
mod layers;
mod outcome;
mod permutation;
mod reference;
mod shrink;
mod theory;
