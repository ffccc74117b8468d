//! Tests of the library as a whole.

mod adapter;
mod agreement;
mod outcome;
mod reference;
