//! Tests of the model as a whole: against a second, plain implementation of its rules, against formulas, and who uses whom inside it.

mod adapter;
mod agreement;
mod cases;
mod corners;
mod draw;
mod draw_drives;
mod draw_parts;
mod ideal;
mod layers;
mod outcome;
mod packages;
mod permutation;
mod prose;
mod readings;
mod reference;
mod shrink;
mod theory;
