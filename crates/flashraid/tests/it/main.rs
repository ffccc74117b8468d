//! Tests of the library as a whole.

mod adapter;
mod agreement;
mod book;
mod cases;
mod combinations;
mod corners;
mod draw;
mod drives;
mod golden;
mod ideal;
mod outcome;
mod parts;
mod permutation;
mod priorities;
mod reference;
mod shrink;
mod theory;
