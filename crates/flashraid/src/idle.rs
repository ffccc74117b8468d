//! Idle arrays, which have so little work that no remedy against collection matters.

use std::fmt;

/// Share of the time that the busiest dies work, below which an array is idle.
const IDLE_MAX: f64 = 0.1;
/// Most that collection may add to response times in an idle array, as a share of all requests' times and of the slowest ones'.
const COLLECTION_MAX: f64 = 0.1;
/// Share of the time from which requests wait for each other often, so that remedies begin to matter.
const HALF: f64 = 0.5;

/// Distance of an idle array from a load under which remedies matter.
///
/// By operational analysis, the share of the time that a die works is the load times the work of a request. Twice the load therefore gives
/// twice the share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Idle {
    /// Share of the time that the dies of the busiest member work, 0 to 0.1.
    pub busy: f64,
    /// Factor of the load at which they work half of the time.
    pub half: f64,
    /// Factor of the load at which they, or another part of the array, fall behind.
    pub saturated: f64,
}

impl Idle {
    /// Returns the distance if the array is idle under an open load. A closed loop sends a request as soon as it has an answer, so it is
    /// never idle.
    ///
    /// `fullest` is the share of the time that the busiest part works, dies or not. `collection` is the share of response times spent
    /// behind collection. Long collections can be felt even if dies have little to do.
    #[must_use]
    pub fn of(busy: f64, fullest: f64, collection: f64) -> Option<Idle> {
        let is_idle = busy > 0.0 && fullest < IDLE_MAX && collection < COLLECTION_MAX;
        is_idle.then(|| Idle { busy, half: HALF / busy, saturated: 1.0 / fullest.max(busy) })
    }
}

impl fmt::Display for Idle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Idle { busy, half, saturated } = self;
        let percent = busy * 100.0;
        let digits = if percent >= 1.0 { 0 } else { 2 };
        write!(
            f,
            "the array is idle: its busiest dies work {percent:.digits$} % of the time, so that no remedy matters much. At {} times this load \
             (workload.rate_scale), they work half of the time; at {} times, requests pile up",
            factor(*half),
            factor(*saturated),
        )
    }
}

/// Returns a factor with two significant digits.
fn factor(value: f64) -> String {
    let power = 10_f64.powf(value.log10().floor() - 1.0);
    let rounded = (value / power).round() * power;
    if rounded < 10.0 { format!("{rounded:.1}") } else { format!("{rounded:.0}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_follow_from_the_share() {
        let idle = Idle::of(0.003, 0.004, 0.0).unwrap();
        assert!((idle.half - 500.0 / 3.0).abs() < 1e-9 && idle.saturated == 250.0);
        let text = idle.to_string();
        assert!(text.contains("0.30 %") && text.contains("At 170 times") && text.contains("at 250 times"), "{text}");
        assert_eq!(Idle::of(0.2, 0.2, 0.0), None);
        assert_eq!(Idle::of(0.02, 0.7, 0.0), None, "a link that is full is not idle");
        assert_eq!(Idle::of(0.0, 0.0, 0.0), None, "nothing is asked for");
        assert_eq!(Idle::of(0.02, 0.02, 0.8), None, "few collections that last long");
        assert!(Idle::of(0.09, 0.09, 0.0).unwrap().to_string().contains("At 5.6 times"));
    }
}
