//! Tests of the library as a whole.

mod advise;
mod advise_grids;
mod book;
mod combinations;
mod device;
mod drives;
mod flushes;
mod golden;
mod longer;
mod matrix;
mod parts;
mod priorities;
mod rates;
mod two_places;
