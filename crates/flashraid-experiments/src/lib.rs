//! The papers' figures and tables, and the data sheets of drives. The crate says what to simulate for each, and compares the results with
//! the claims.
//!
//! ```text
//!  ggc · pgc · lawc · poster · later ─▶ Figure ─ points ─▶ whoever runs them ─▶ Results ─ evaluate ─▶ Evaluation ─▶ ledger
//!                                         claims*.toml ─▶ paper's numbers ─▶ verdict ─┘
//! ```
//!
//! [`card`] does the same for drives and their data sheets, and [`pts`] for drives and their steady state.
//!
//! This crate describes and judges; it runs nothing but the three requests of `overlap`, reads no files and knows no threads.
//! Nothing is tuned for a figure: what the papers leave open is chosen once, in [`settings`].

pub mod card;
mod figure;
mod ggc;
mod later;
mod lawc;
pub mod ledger;
mod overlap;
mod pgc;
mod poster;
pub mod pts;
pub mod remedies;
mod results;
pub mod settings;
mod verdict;

pub use figure::{
    Claim, Curves, Effect, Evaluation, Evidence, Fact, Figure, Part, Point, Role, RootCause, Row, Sensitivity, Shown, Size, Variation,
    facts, root_causes,
};
pub use results::Results;
pub use verdict::{FACTOR, SHARE, Verdict};

/// Returns every figure and table, in the order of the papers. Those of later papers follow (see [`Figure::is_later`]).
pub fn figures() -> Vec<Figure> {
    [ggc::figures(), pgc::figures(), lawc::figures(), poster::figures(), later::figures()].concat()
}
