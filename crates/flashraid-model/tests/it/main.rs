//! Tests of the model as a whole.

mod layers;
mod two_places;
