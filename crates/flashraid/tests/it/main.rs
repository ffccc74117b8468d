//! Tests of the library as a whole.

mod book;
mod combinations;
mod drives;
mod golden;
mod parts;
mod priorities;
mod rates;
mod two_places;
