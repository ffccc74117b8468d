//! Tests of the model as a whole.

mod layers;
