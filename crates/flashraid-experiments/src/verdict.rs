//! How a measured value compares with the paper's.

use serde::Serialize;

/// The verdict on a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Neither.
    Differs,
    /// Only the sign or the order is the paper's.
    Direction,
    /// Within a quarter of the paper's value, or within 0.05 for fractions; a statement that holds.
    Agrees,
}

impl Verdict {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Differs => "differs",
            Verdict::Direction => "direction",
            Verdict::Agrees => "agrees",
        }
    }

    /// From whether the value is close and whether the direction holds.
    pub fn of(close: bool, direction_holds: bool) -> Verdict {
        match (close, direction_holds) {
            (true, _) => Verdict::Agrees,
            (false, true) => Verdict::Direction,
            (false, false) => Verdict::Differs,
        }
    }
}

/// Within 25 % of the paper's value, or within 0.05 for a fraction.
pub fn is_close(paper: f64, measured: f64, unit: &str) -> bool {
    let difference = (measured - paper).abs();
    difference <= 0.25 * paper.abs() || (unit == "fraction" && difference <= 0.05)
}

/// The values of a claim go the paper's way: reductions have its sign, ratios lie on its side of 1, quantities come in its order.
///
/// Only quantities of the same kind are put in order: those whose names begin alike, up to the last word.
pub fn same_direction(unit: &str, pairs: &[(&str, f64, f64)]) -> bool {
    let kind = |name: &str| {
        name.rsplit_once(' ').map_or("", |(kind, _)| kind).trim_end_matches(|c: char| c.is_ascii_digit() || c == ' ').to_owned()
    };
    let sorted_alike = |(a_name, a_paper, a): &(&str, f64, f64), (b_name, b_paper, b): &(&str, f64, f64)| {
        kind(a_name) != kind(b_name) || a_paper == b_paper || (a < b) == (a_paper < b_paper)
    };
    match unit {
        "fraction" => pairs.iter().all(|(_, paper, measured)| measured * paper > 0.0),
        "ratio" => pairs.iter().all(|(_, paper, measured)| (measured - 1.0) * (paper - 1.0) > 0.0),
        _ => pairs.iter().enumerate().all(|(index, first)| pairs[index + 1..].iter().all(|second| sorted_alike(first, second))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_is_close() {
        assert!(is_close(2.0, 2.5, "ratio") && !is_close(2.0, 2.51, "ratio"));
        assert!(is_close(0.06, 0.11, "fraction") && !is_close(0.06, 0.12, "fraction"));
        assert!(!is_close(0.06, 0.11, "ratio") && !is_close(1.0, f64::NAN, "ratio"));
    }

    #[test]
    fn directions_are_signs_sides_and_orders() {
        assert!(same_direction("fraction", &[("", 0.7, 0.01)]) && !same_direction("fraction", &[("", 0.7, -0.01)]));
        assert!(same_direction("ratio", &[("", 3.0, 1.1)]) && !same_direction("ratio", &[("", 3.0, 0.9)]));
        assert!(same_direction("MB/s", &[("mlc 1", 100.0, 50.0), ("mlc 4", 400.0, 60.0)]));
        assert!(!same_direction("MB/s", &[("mlc 1", 100.0, 50.0), ("mlc 4", 400.0, 40.0)]));
        // Means and deviations are not put in one order.
        assert!(same_direction("MB/s", &[("mlc mean a", 100.0, 1.0), ("mlc stddev a", 5.0, 7.0)]));
    }

    #[test]
    fn a_missing_value_has_no_direction() {
        assert!(!same_direction("fraction", &[("", 0.7, f64::NAN)]) && !same_direction("ratio", &[("", 3.0, f64::NAN)]));
        assert_eq!(Verdict::of(is_close(1.0, f64::NAN, "ms"), same_direction("ratio", &[("", 2.0, f64::NAN)])), Verdict::Differs);
    }
}
