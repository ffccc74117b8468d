//! Windows of simulations, and what becomes of a card when they are doubled. A verdict must not hang on the length of a window.

use serde::{Deserialize, Serialize};

use super::percentiles::Statistic;
use super::{Grade, Graded, GradedPercentile};

/// Length of the simulations of a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    /// A length that only shows that the simulations work.
    Quick,
    /// The length of kept cards.
    Usual,
    /// Twice as much is measured.
    Double,
}

/// Share of its tolerance by which a figure may move when its window is doubled.
pub const MOVES_MAX: f64 = 0.1;

/// A figure, and the same figure with a window of twice the length.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Moved {
    /// Name of the figure, or load and statistic of a percentile.
    pub name: String,
    /// Value with the usual window.
    pub usual: Option<f64>,
    /// Value with a window of twice the length.
    pub doubled: Option<f64>,
    /// Difference of the two as a share of the tolerance; `None` if nothing is judged, or if a value is missing.
    pub share_of_tolerance: Option<f64>,
    /// True if the verdict is the same.
    pub same_verdict: bool,
}

impl Moved {
    /// Returns true if the window is long enough for the figure.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.same_verdict && self.share_of_tolerance.is_none_or(|share| share <= MOVES_MAX)
    }
}

impl Graded {
    /// Returns by how much each figure moves in a card whose windows are twice as long.
    #[must_use]
    pub fn moved(&self, doubled: &Graded) -> Vec<Moved> {
        let moved = |name: String, usual: Option<f64>, doubled: Option<f64>, allowed: Option<f64>, same_verdict: bool| {
            let share = usual.zip(doubled).zip(allowed.filter(|allowed| *allowed > 0.0));
            let share_of_tolerance = share.map(|((usual, doubled), allowed)| (doubled - usual).abs() / allowed);
            Moved { name, usual, doubled, share_of_tolerance, same_verdict }
        };
        let of_figure = |(one, two): (&Grade, &Grade)| {
            let allowed = one.range.map(|[low, high]| (high - low) / 2.0).or_else(|| Some(one.data_sheet * one.tolerance?));
            moved(one.name.clone(), one.simulated, two.simulated, allowed, one.holds == two.holds)
        };
        let of_percentile = |(one, two): (&GradedPercentile, &GradedPercentile)| {
            let whole = if one.of == Statistic::Consistency { Some(100.0) } else { one.published };
            let allowed = whole.zip(one.tolerance).map(|(whole, tolerance)| whole * tolerance);
            moved(format!("{}: {}", one.load, one.of), one.simulated, two.simulated, allowed, one.holds == two.holds)
        };
        let figures = self.figures.iter().zip(&doubled.figures).map(of_figure);
        figures.chain(self.percentiles.iter().zip(&doubled.percentiles).map(of_percentile)).collect()
    }
}
