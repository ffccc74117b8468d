//! The comparison of a measured value with the paper's. These rules were written before the first full run that used them, without
//! knowledge of its results.

use serde::{Deserialize, Serialize};

/// The verdict on a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// A run of the claim gives no meaningful mean. Requests pile up without bound, or the array serves less than is asked of it, so that
    /// figures depend on the length of the run. Nothing is concluded.
    Unstable,
    /// The trace that the claim needs was not given. Nothing is concluded.
    #[serde(rename = "no trace")]
    NoTrace,
    /// Fewer than four of five first seeds give the same verdict. Nothing is concluded.
    Undecided,
    /// Neither values nor direction agree.
    Differs,
    /// Only the sign, the side of 1 or the order is that of the paper. Of a statement, only the core holds.
    Direction,
    /// All values are close to the paper's, or the whole statement holds.
    Agrees,
}

impl Verdict {
    /// All verdicts on simulations that were run, the best first.
    pub const ALL: [Verdict; 5] = [Verdict::Agrees, Verdict::Direction, Verdict::Differs, Verdict::Undecided, Verdict::Unstable];

    /// Returns the name of the verdict.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Unstable => "unstable",
            Verdict::NoTrace => "no trace",
            Verdict::Undecided => "undecided",
            Verdict::Differs => "differs",
            Verdict::Direction => "direction",
            Verdict::Agrees => "agrees",
        }
    }

    /// Returns the verdict from two facts: the values are close, and the direction holds.
    pub fn of(close: bool, direction_holds: bool) -> Verdict {
        match (close, direction_holds) {
            (true, _) => Verdict::Agrees,
            (false, true) => Verdict::Direction,
            (false, false) => Verdict::Differs,
        }
    }
}

/// Factor by which positive values may differ in either direction. For a reduction, it applies to the rest of the baseline.
pub const FACTOR: f64 = 1.33;
/// Share of the paper's reduction by which a reduction may differ.
pub const SHARE: f64 = 0.25;

/// Distance of values that differ by a factor of a hundred or in sign.
const FARTHEST: f64 = 4.605_170_185_988_092;
/// Distance of a statement that does not hold.
pub const FALSE: f64 = core::f64::consts::LN_2;

/// Kinds of numbers, which decide how they are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The share by which a figure is less than a baseline; negative if it is more.
    Reduction,
    /// Any other signed fraction, such as a rise or a share.
    Fraction,
    /// One quantity over another of its kind.
    Ratio,
    /// A quantity with a unit.
    Quantity,
}

impl Kind {
    /// Returns the kind for a unit of `claims.toml`.
    pub fn of_unit(unit: &str) -> Kind {
        match unit {
            "reduction" => Kind::Reduction,
            "fraction" => Kind::Fraction,
            "ratio" => Kind::Ratio,
            _ => Kind::Quantity,
        }
    }

    /// Returns true if a value is close to the paper's. There is no absolute tolerance: if the paper says 0.0053, 0.03 is something else.
    ///
    /// A reduction must pass two tests, because each of them is too lenient at one end:
    ///
    /// - The rest of the baseline is within [`FACTOR`]. Alone, this would let 0.10 agree with −0.15.
    /// - The reduction itself is within [`SHARE`]. Alone, this would let 0.82 agree with 1.00.
    pub fn is_close(self, paper: f64, measured: f64) -> bool {
        self.is_within(FACTOR, paper, measured)
    }

    /// Returns true if a value is close to the paper's with another factor.
    pub fn is_within(self, factor: f64, paper: f64, measured: f64) -> bool {
        let within = |paper: f64, measured: f64| {
            paper == measured || (measured / paper > 0.0 && libm::fabs(libm::log(measured / paper)) <= libm::log(factor))
        };
        match self {
            Kind::Reduction => within(1.0 - paper, 1.0 - measured) && (measured - paper).abs() <= SHARE * paper.abs(),
            Kind::Fraction | Kind::Ratio | Kind::Quantity => within(paper, measured),
        }
    }

    /// Returns the distance of a value from the paper's: the absolute logarithm of their ratio. For a reduction, the ratio is that of the
    /// rests of the baseline.
    pub fn distance(self, paper: f64, measured: f64) -> f64 {
        let (paper, measured) = if self == Kind::Reduction { (1.0 - paper, 1.0 - measured) } else { (paper, measured) };
        if paper == measured {
            return 0.0;
        }
        let ratio = measured / paper;
        if ratio > 0.0 && ratio.is_finite() { libm::fabs(libm::log(ratio)).min(FARTHEST) } else { FARTHEST }
    }

    /// Returns true if the values of a claim go in the paper's direction. Fractions have its sign, ratios lie on its side of 1, and
    /// quantities have its order.
    ///
    /// Only quantities of the same kind are put in order: those whose names begin alike, up to the last word.
    pub fn same_direction(self, pairs: &[(&str, f64, f64)]) -> bool {
        let stem = |name: &str| {
            name.rsplit_once(' ').map_or("", |(stem, _)| stem).trim_end_matches(|c: char| c.is_ascii_digit() || c == ' ').to_owned()
        };
        let sorted_alike = |(a_name, a_paper, a): &(&str, f64, f64), (b_name, b_paper, b): &(&str, f64, f64)| {
            stem(a_name) != stem(b_name) || a_paper == b_paper || (a < b) == (a_paper < b_paper)
        };
        match self {
            Kind::Reduction | Kind::Fraction => pairs.iter().all(|(_, paper, measured)| measured * paper > 0.0),
            Kind::Ratio => pairs.iter().all(|(_, paper, measured)| (measured - 1.0) * (paper - 1.0) > 0.0),
            // One quantity alone has no direction.
            Kind::Quantity => {
                pairs.len() > 1
                    && pairs.iter().enumerate().all(|(index, first)| pairs[index + 1..].iter().all(|second| sorted_alike(first, second)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_close_by_a_factor_and_reductions_by_their_share_as_well() {
        assert!(Kind::Ratio.is_close(3.0, 3.98) && Kind::Ratio.is_close(3.0, 2.26));
        assert!(!Kind::Ratio.is_close(3.0, 4.0) && !Kind::Ratio.is_close(3.0, 2.25));
        // The two ends at which one test alone is lenient.
        assert!(!Kind::Reduction.is_close(0.10, -0.15) && !Kind::Reduction.is_close(0.82, 1.00));
        assert!(Kind::Reduction.is_close(0.71, 0.65) && !Kind::Reduction.is_close(0.71, 0.55));
        // No absolute tolerance: small values are compared like others.
        assert!(!Kind::Fraction.is_close(0.06, 0.10) && !Kind::Reduction.is_close(0.0605, 0.10));
        assert!(Kind::Quantity.is_close(0.0, 0.0) && !Kind::Quantity.is_close(0.0, 0.01));
        assert!(!Kind::Ratio.is_close(1.0, f64::NAN) && !Kind::Reduction.is_close(0.5, f64::NAN) && !Kind::Fraction.is_close(0.5, -0.5));
    }

    #[test]
    fn directions_are_signs_sides_and_orders() {
        assert!(Kind::Reduction.same_direction(&[("", 0.7, 0.01)]) && !Kind::Reduction.same_direction(&[("", 0.7, -0.01)]));
        assert!(Kind::Ratio.same_direction(&[("", 3.0, 1.1)]) && !Kind::Ratio.same_direction(&[("", 3.0, 0.9)]));
        assert!(Kind::Quantity.same_direction(&[("mlc 1", 100.0, 50.0), ("mlc 4", 400.0, 60.0)]));
        assert!(!Kind::Quantity.same_direction(&[("mlc 1", 100.0, 50.0), ("mlc 4", 400.0, 40.0)]));
        // Means and deviations are not put in one order; a single quantity has none.
        assert!(Kind::Quantity.same_direction(&[("mlc mean a", 100.0, 1.0), ("mlc stddev a", 5.0, 7.0)]));
        assert!(!Kind::Quantity.same_direction(&[("", 100.0, 1.0)]));
    }

    #[test]
    fn distances_are_logarithms() {
        let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
        assert!(near(Kind::Ratio.distance(2.0, 4.0), FALSE) && near(Kind::Ratio.distance(4.0, 2.0), FALSE));
        assert!(near(Kind::Reduction.distance(0.8, 0.9), FALSE), "half as much is left");
        assert_eq!((Kind::Quantity.distance(0.0, 0.0), Kind::Quantity.distance(0.0, 1.0)), (0.0, FARTHEST));
        assert_eq!((Kind::Fraction.distance(0.1, -0.1), Kind::Ratio.distance(1.0, f64::NAN)), (FARTHEST, FARTHEST));
        assert_eq!(Kind::Ratio.distance(1.0, 1e9), FARTHEST);
        assert!(Kind::Quantity.is_within(1.83, 10.0, 18.2) && !Kind::Quantity.is_within(1.83, 10.0, 18.4));
    }

    #[test]
    fn a_missing_value_has_no_direction() {
        assert!(!Kind::Reduction.same_direction(&[("", 0.7, f64::NAN)]) && !Kind::Ratio.same_direction(&[("", 3.0, f64::NAN)]));
    }
}
