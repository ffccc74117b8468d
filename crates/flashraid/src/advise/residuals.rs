//! Errors of the model itself: how far simulated figures of drives are from published ones to which nothing was fitted.

use std::collections::BTreeMap;

use serde::Serialize;

use super::goal::{Direction, Figure, Statistic};

/// Least error that any figure is taken to have.
const ERROR_MIN: f64 = 0.05;
/// Number of published figures below which the error is taken to be larger.
const FIGURES_MIN: usize = 5;
/// Factor for the error that few figures give.
const FEW_FIGURES: f64 = 1.5;

/// Error of one kind of figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Residual {
    /// Kind of figure, named as in goals.
    pub kind: String,
    /// Number of published figures.
    pub figures: usize,
    /// Root mean square of the logarithm of simulated over published.
    pub rms: f64,
    /// Mean of this logarithm.
    pub mean: f64,
}

/// Errors by kind of figure.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(transparent)]
pub struct Residuals {
    /// Kinds in the order of their names.
    pub kinds: Vec<Residual>,
}

impl Residuals {
    /// Returns the errors of pairs of a kind and the logarithm of simulated over published.
    pub fn of(errors: impl IntoIterator<Item = (String, f64)>) -> Self {
        let mut by_kind: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for (kind, error) in errors {
            by_kind.entry(kind).or_default().push(error);
        }
        let residual = |(kind, errors): (String, Vec<f64>)| {
            let count = errors.len() as f64;
            let squares: f64 = errors.iter().map(|error| error * error).sum();
            Residual { kind, figures: errors.len(), rms: libm::sqrt(squares / count), mean: errors.iter().sum::<f64>() / count }
        };
        Self { kinds: by_kind.into_iter().map(residual).collect() }
    }

    /// Returns the standard deviation of the logarithm that a figure is taken to have; `None` if no drive was compared by it. Figures that
    /// follow from arithmetic alone have no error.
    pub fn error_of(&self, figure: Figure) -> Option<f64> {
        let of = |kind: &str| {
            let residual = self.kinds.iter().find(|residual| residual.kind == kind)?;
            let factor = if residual.figures < FIGURES_MIN { FEW_FIGURES } else { 1.0 };
            Some((residual.rms * factor).max(ERROR_MIN))
        };
        match figure {
            Figure::Capacity | Figure::Cost | Figure::RebuildHours => Some(0.0),
            Figure::WriteAmplification | Figure::Life => of("waf"),
            Figure::Iops => of("iops"),
            // Requests of both directions are as uncertain as the less certain direction.
            Figure::Response(Direction::All, Statistic::Mean) => Some(of("read mean")?.max(of("write mean")?)),
            // A percentile between two others is as uncertain as the less certain one.
            Figure::Response(direction, statistic @ (Statistic::P90 | Statistic::P95)) => {
                let of = |statistic| of(&Figure::Response(direction, statistic).to_string());
                of(statistic).or_else(|| Some(of(Statistic::P50)?.max(of(Statistic::P99)?)))
            }
            figure => of(&figure.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_figures_and_small_errors_are_not_trusted() {
        let many = [0.1, -0.1, 0.1, -0.1, 0.1].map(|error| ("read p99".to_owned(), error));
        let few = [0.1, 0.3].map(|error| ("waf".to_owned(), error));
        let exact = [0.0; 6].map(|error| ("iops".to_owned(), error));
        let residuals = Residuals::of(many.into_iter().chain(few).chain(exact));
        let error = |figure| residuals.error_of(figure).map(|error| (error * 1e4).round() / 1e4);
        assert_eq!(error(Figure::Response(Direction::Read, Statistic::P99)), Some(0.1));
        assert_eq!(error(Figure::WriteAmplification), Some(0.3354), "1.5 · √0.05");
        assert_eq!(error(Figure::Iops), Some(0.05));
        assert_eq!(error(Figure::Response(Direction::Write, Statistic::P99)), None);
        assert_eq!(error(Figure::Response(Direction::All, Statistic::Mean)), None);
        assert_eq!(error(Figure::Capacity), Some(0.0));
        assert_eq!(error(Figure::Response(Direction::Read, Statistic::P95)), None, "there is no median");
        let between = Residuals::of([("read p50", 0.2), ("read p99", 0.1)].map(|(kind, error)| (kind.to_owned(), error)));
        assert!((between.error_of(Figure::Response(Direction::Read, Statistic::P95)).unwrap() - 0.3).abs() < 1e-12);
    }
}
