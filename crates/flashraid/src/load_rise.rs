//! Detection of lightly loaded arrays, which are called idle. Their dies work so little that they carry the load without any remedy. A
//! remedy is a setting that reduces the effects of garbage collection.

use std::fmt;

use serde_json::Value;

/// Limit of the share of the time for which the busiest part of an array works. Below this limit, the array counts as idle (lightly
/// loaded).
const IDLE_MAX: f64 = 0.1;
/// Maximum share that collection may have in the response times of an idle array. It applies to the mean and to the slowest requests.
const COLLECTION_MAX: f64 = 0.1;
/// Time over which the work of dies is averaged to find the busiest part of a run, in milliseconds. Queues of a second build up even where
/// the mean over the whole run is low.
const WINDOW_MS: f64 = 1000.0;
/// Largest share of a run that this time may be. A trace that is sent a thousand times as fast has its bursts in milliseconds.
const WINDOW_OF_RUN_MAX: f64 = 0.01;

/// Returns the share of the busiest second for which dies work; `None` without intervals. `shares` has the share of each interval, and
/// `interval_ms` the length of an interval. In a run shorter than a hundred seconds, a hundredth of it stands in place of the second.
fn busy_share_of_busiest_second(shares: &[f64], interval_ms: f64) -> Option<f64> {
    let window_ms = WINDOW_MS.min(WINDOW_OF_RUN_MAX * interval_ms * shares.len() as f64);
    let intervals = ((window_ms / interval_ms.max(f64::MIN_POSITIVE)).ceil() as usize).clamp(1, shares.len().max(1));
    let mean = |window: &[f64]| window.iter().sum::<f64>() / window.len() as f64;
    shares.windows(intervals).map(mean).reduce(f64::max)
}

/// State of a lightly loaded (idle) array, and the factor by which its load can rise at most. The load is in requests per second.
///
/// The share of the time that a die works is the load times the work of a request (operational analysis). Twice the load therefore gives
/// twice the share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadRiseUntilGcMatters {
    /// Share of the time for which the dies of the busiest member work; above 0 and below 0.1. A larger share cannot occur here, because
    /// a `LoadRiseUntilGcMatters` describes only arrays in which every part works less than a tenth of the time.
    pub busiest_member_busy_share: f64,
    /// Factor by which the load, in requests per second, would have to rise until the busiest part of the array works all the time. This
    /// part may be the dies, a link, a channel or the controller. It is an upper bound: in bursts, write buffers are full before.
    pub load_factor_until_saturation: f64,
}

impl LoadRiseUntilGcMatters {
    /// Returns a description of a lightly loaded array, with the factor by which its load (requests per second) can rise at most.
    ///
    /// Returns `None` if the array is not lightly loaded. This is so if a part works at least a tenth of the time. It is also so if
    /// requests wait for collection for at least a tenth of their time. The result is also `None` if the dies do no work.
    ///
    /// `busiest_dies` is the share of the time for which the dies of the busiest member work. `busiest_part` is this share for the
    /// busiest part of the array: dies, links, channels or the controller. `collection_in_responses` is the share of response times
    /// spent waiting for collection or, if it is known and larger, the share that collection causes. It matters because long collections
    /// delay requests even if dies have little to do. A comparison also knows how far remedies shorten the mean.
    ///
    /// The workload must be an open loop, in which requests come at their own times. In a closed loop, an answer leads to the next
    /// request, so that the array sets its own load.
    #[must_use]
    pub fn from_busy_fractions(busiest_dies: f64, busiest_part: f64, collection_in_responses: f64) -> Option<LoadRiseUntilGcMatters> {
        let is_idle = busiest_dies > 0.0 && busiest_part < IDLE_MAX && collection_in_responses < COLLECTION_MAX;
        is_idle.then(|| LoadRiseUntilGcMatters {
            busiest_member_busy_share: busiest_dies,
            load_factor_until_saturation: 1.0 / busiest_part.max(busiest_dies),
        })
    }

    /// Returns a description of the array of a run, if it was lightly loaded in an open loop. `report` is the document of its report, or
    /// the parts that tell of load and waits: `over_time`, `time_us`, `because` and `verdict`.
    ///
    /// `gained` is the share of the mean response time that a remedy saves, as far as one is known. It counts like the waits for
    /// collection: requests behind those that wait for collection also wait, which `time_us` does not tell.
    #[must_use]
    pub fn of_report(report: &Value, gained: f64) -> Option<LoadRiseUntilGcMatters> {
        let members = report["over_time"]["members"].as_array()?;
        let shares_of = |member: &Value| member["utilisation"].as_array()?.iter().map(Value::as_f64).collect::<Option<Vec<f64>>>();
        let shares: Vec<Vec<f64>> = members.iter().filter_map(shares_of).filter(|shares| !shares.is_empty()).collect();
        let busy = shares.iter().map(|shares| shares.iter().sum::<f64>() / shares.len() as f64).reduce(f64::max)?;
        let interval_ms = report["over_time"]["interval_ms"].as_f64()?;
        let busiest_second = shares.iter().filter_map(|shares| busy_share_of_busiest_second(shares, interval_ms)).reduce(f64::max)?;
        let waited = |of: &str| {
            let parts = report["time_us"][of].as_object()?;
            let total: f64 = parts.values().filter_map(Value::as_f64).sum();
            Some(parts.get("collection")?.as_f64()? / total.max(f64::MIN_POSITIVE))
        };
        let caused = |of: &str| report["because"]["no_collection"]["shares"][of]["caused"].as_f64();
        let of_responses = ["all", "slowest_1_percent"].into_iter().flat_map(|of| [waited(of), caused(of)]).flatten();
        let collection = of_responses.fold(gained.max(0.0), f64::max);
        Self::from_busy_fractions(busy, busiest_second, collection).filter(|_| report["verdict"]["load"] == "stable")
    }
}

impl fmt::Display for LoadRiseUntilGcMatters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LoadRiseUntilGcMatters { busiest_member_busy_share: busy, load_factor_until_saturation } = self;
        let percent = busy * 100.0;
        // Two digits below one per cent.
        let digits = if percent >= 1.0 { 0 } else { (1.0 - percent.log10().floor()).min(6.0) as usize };
        write!(
            f,
            "the array is idle: its busiest dies work {percent:.digits$} % of the time and carry the load without any remedy: choose by \
             capacity. Requests pile up at {} times this load (workload.rate_scale) at the latest, and sooner in bursts that fill write buffers",
            factor(*load_factor_until_saturation),
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
    fn the_busiest_second_decides() {
        let of = |shares: &[f64], interval_ms| busy_share_of_busiest_second(shares, interval_ms);
        let long = [&[0.0, 0.25, 0.75][..], &[0.0; 197]].concat();
        assert_eq!(of(&long, 500.0), Some(0.5));
        assert_eq!(of(&long, 2000.0), Some(0.75), "intervals are longer than a second");
        assert_eq!(of(&long, 10.0), Some(0.5), "a hundredth of two seconds has two intervals");
        assert_eq!(of(&[0.25, 0.75], 10.0), Some(0.75), "no part of a run is shorter than an interval");
        assert_eq!(of(&[], 10.0), None);
    }

    #[test]
    fn factors_follow_from_the_share() {
        let idle = LoadRiseUntilGcMatters::from_busy_fractions(0.003, 0.004, 0.0).unwrap();
        assert_eq!(idle.load_factor_until_saturation, 250.0);
        let text = idle.to_string();
        let expected = "the array is idle: its busiest dies work 0.30 % of the time and carry the load without any remedy: choose \
                        by capacity. Requests pile up at 250 times this load (workload.rate_scale) at the latest, and sooner in bursts that \
                        fill write buffers";
        assert_eq!(text, expected);
        assert_eq!(LoadRiseUntilGcMatters::from_busy_fractions(0.2, 0.2, 0.0), None);
        assert_eq!(LoadRiseUntilGcMatters::from_busy_fractions(0.02, 0.7, 0.0), None, "a link that is full is not idle");
        assert_eq!(LoadRiseUntilGcMatters::from_busy_fractions(0.0, 0.0, 0.0), None, "nothing is asked for");
        assert_eq!(LoadRiseUntilGcMatters::from_busy_fractions(0.02, 0.02, 0.8), None, "few collections that last long");
        assert!(LoadRiseUntilGcMatters::from_busy_fractions(4.2e-5, 4.2e-5, 0.0).unwrap().to_string().contains(" work 0.0042 % "));
        assert!(LoadRiseUntilGcMatters::from_busy_fractions(0.09, 0.09, 0.0).unwrap().to_string().contains("at 11 times"));
    }
}
