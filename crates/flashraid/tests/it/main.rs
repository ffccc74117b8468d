//! Tests of the library as a whole.

mod adapter;
mod agreement;
mod cases;
mod outcome;
mod reference;
mod shrink;
mod theory;
