//! Verdict of a run: can its figures be trusted?
//!
//! **Load** is one of these:
//! - *closed*: a closed loop, which never asks for more than it gets.
//! - *unstable*: response times grew. The mean of the second half is more than 1.5 times that of the first half. So is that of each of the
//!   last three tenths of time, because a queue that grows without bound does not shrink again. In addition, one of two things holds.
//!   More than 1 % of the requests were outstanding when the last one arrived. Or response times grew in each of the last five tenths, with
//!   a slope of more than three standard errors. Slightly above capacity, few requests are outstanding at any length.
//! - *saturated*: less than 98 % of the requests that had arrived by then were served.
//! - *stable*: all other runs.
//!
//! Skipped requests count for the load as well. A wait that grows evenly would seem to grow too little if only its second half were seen.
//!
//! **Steady state.** The time in which requests arrived is divided into tenths. Response times, and pages moved per byte written, are
//! steady from the first tenth for which these hold:
//! - It lies at least five tenths before the end.
//! - From there on, each tenth's mean is within 20 % of the mean of them all.
//! - A line fitted to them rises or falls by at most 10 % of that mean.
//!
//! Chance is allowed for: three standard errors of a tenth, and two of the line's rise, estimated from the spread within tenths. These runs
//! are not called steady:
//! - The run is too short: the mean of all tenths has a standard error above 5 %, or a tenth has fewer than 50 requests.
//! - The run is unstable or saturated.
//! - A write cache holds more than a tenth of the written data at the end.

use super::WarningMark;
use flashraid_model::metrics::trend::has_enough_samples_beyond;
use flashraid_model::metrics::{LatencyHistogram, ResponseAndGcTrend, TenthOfRun};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Minimum number of requests for each place of a closed loop. With fewer, requests per second are mostly those of its begin and end.
const REQUESTS_PER_PLACE_MIN: u64 = 10;

/// Returns true if a closed loop has too few measured requests for the places of its depth that it used.
pub(crate) fn is_short_loop(used_places: u32, measured_requests: u64) -> bool {
    measured_requests < REQUESTS_PER_PLACE_MIN * u64::from(used_places)
}

/// Least ratio of the response times of the second half to those of the first half at which requests count as piling up.
const GROWTH_MIN: f64 = 1.5;
/// Number of tenths (ten equal parts of the time in which requests arrive), at the end, in which requests must be piling up.
const LAST_TENTHS: usize = 3;
/// Number of tenths, at the end, in each of which response times must rise if few requests are outstanding.
const GROWING_TENTHS: usize = 5;
/// Minimum number of requests in each tenth of the time; with fewer, a run is too short to be called steady.
const TENTH_REQUESTS_MIN: u64 = 50;
/// Minimum number of tenths, up to the end, that must be steady together.
const TENTHS_MIN: usize = 5;
/// Greatest relative distance of the mean of one tenth from the mean of all tenths.
const DISTANCE_MAX: f64 = 0.2;
/// Greatest relative rise or fall of the fitted line over all tenths.
const RISE_MAX: f64 = 0.1;
/// Greatest relative standard error of the mean of all tenths.
const ERROR_MAX: f64 = 0.05;

/// Judgement of the load: whether the array keeps up with the requests of the workload or is overloaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LoadVerdict {
    /// The array keeps up with the requests.
    #[default]
    Stable,
    /// Less than 98 % of the requests had been served when the last request arrived.
    Saturated,
    /// Requests pile up during the run, and response times grow.
    Unstable,
    /// The workload is a closed loop, which waits for answers before it sends more requests, so that it never overloads the array.
    Closed,
    /// Data were lost. Failed members left no way to read or write a page of a measured request, or more members failed than the RAID
    /// level survives.
    #[serde(rename = "data lost")]
    DataLost,
}

impl LoadVerdict {
    /// Returns the name of this verdict on the load, such as `saturated`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            LoadVerdict::Stable => "stable",
            LoadVerdict::Saturated => "saturated",
            LoadVerdict::Unstable => "unstable",
            LoadVerdict::Closed => "closed",
            LoadVerdict::DataLost => "data lost",
        }
    }
}

/// Facts about a run from which its verdict is made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Facts<'a> {
    pub(crate) trend: &'a ResponseAndGcTrend,
    /// Trends over the whole run, including the requests that the statistics leave out.
    pub(crate) whole_trend: &'a ResponseAndGcTrend,
    /// Number of places of the queue depth that a closed loop has used, or `None` for an open loop. In a closed loop, the host sends a new
    /// request only after an earlier one is answered.
    pub(crate) closed_loop_places: Option<u32>,
    /// Response times of all requests.
    pub(crate) all: &'a LatencyHistogram,
    pub(crate) measured_from_ns: u64,
    /// True if the write cache still holds much of the written data, so that members have not done all the work.
    pub(crate) fills_cache: bool,
    /// True if write buffers and free space took what was written, so that members have not done the collection that it costs.
    pub(crate) absorbs_writes: bool,
    /// True if data were lost. Failed members left no way to read or write a page of a measured request, or more members failed than the
    /// RAID level survives.
    pub(crate) has_lost_data: bool,
    /// True if collection happened often enough, and the run did not live on credit.
    pub(crate) is_judged: bool,
    /// True if a lifetime is projected from too few erases.
    pub(crate) has_little_wear: bool,
}

/// Findings about how far the results of a run can be trusted.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Verdict {
    /// Judgement of the load: whether the array keeps up with the requests of the workload or is overloaded.
    pub load: LoadVerdict,
    /// True if response times and write amplification stay the same in at least the last five of ten equal parts of the measured time.
    pub steady: bool,
    /// Time from which response times and write amplification stay the same until the end, in nanoseconds; `None` if they never do.
    pub steady_from_ns: Option<u64>,
    /// Highest percentile of all requests with at least ten requests beyond it, named as in `response_us`; `None` if there is none.
    pub deepest_percentile: Option<String>,
    /// Conditions that make results doubtful, the most serious first.
    #[serde(default)]
    pub marks: Vec<WarningMark>,
}

impl Verdict {
    /// Returns the verdict on a run from these facts.
    #[must_use]
    pub(super) fn of(facts: &Facts) -> Verdict {
        let Facts { trend, all, .. } = *facts;
        let by_requests = if facts.closed_loop_places.is_some() { LoadVerdict::Closed } else { load(facts.whole_trend) };
        let may_be_steady = matches!(by_requests, LoadVerdict::Closed | LoadVerdict::Stable) && !facts.fills_cache && !facts.absorbs_writes;
        let steady_from_ns = if may_be_steady { steady_from(&trend.tenths) } else { None };
        let deepest = super::REPORTED_PERCENTILES.iter().rev().find(|(_, quantile)| has_enough_samples_beyond(all.moments(), *quantile));
        let is_empty = all.moments().count() == 0;
        let begins_early = steady_from_ns.is_none_or(|steady_from_ns| steady_from_ns > facts.measured_from_ns);
        let is_short = facts.closed_loop_places.is_some_and(|places| is_short_loop(places, all.moments().count()));
        let is_guess = super::REPORTED_PERCENTILES.iter().any(|(_, quantile)| !has_enough_samples_beyond(all.moments(), *quantile));
        let holds = |mark: &WarningMark| match mark {
            WarningMark::NothingMeasured => is_empty && !facts.has_lost_data,
            WarningMark::DataLost => facts.has_lost_data,
            WarningMark::NotSteady => !is_empty && begins_early,
            WarningMark::NotJudged => !is_empty && !facts.is_judged,
            WarningMark::FewSamples => !is_empty && is_guess,
            WarningMark::ShortLoop => !is_empty && is_short,
            WarningMark::LittleWear => facts.has_little_wear,
        };
        Verdict {
            load: if facts.has_lost_data { LoadVerdict::DataLost } else { by_requests },
            steady: steady_from_ns.is_some(),
            steady_from_ns,
            deepest_percentile: deepest.map(|(name, _)| (*name).to_owned()),
            marks: WarningMark::ALL.into_iter().filter(holds).collect(),
        }
    }

    /// Returns true if the run has this mark, which stands for a condition that makes results doubtful, such as lost data.
    #[must_use]
    pub fn has_mark(&self, mark: WarningMark) -> bool {
        self.marks.contains(&mark)
    }
}

fn load(trend: &ResponseAndGcTrend) -> LoadVerdict {
    let requests = trend.requests();
    let grows =
        trend.mean_response_ns_by_half.is_some_and(|(first, second)| second > GROWTH_MIN * first && stays_behind(&trend.tenths, first));
    match trend.outstanding_at_last_arrival {
        Some(outstanding) if grows && (outstanding * 100 > requests || grows_in_each(&trend.tenths)) => LoadVerdict::Unstable,
        Some(outstanding) if outstanding * 50 > requests => LoadVerdict::Saturated,
        _ => LoadVerdict::Stable,
    }
}

/// Returns true if requests in each of the last tenths of time were slower than the first half of the requests, by the factor
/// [`GROWTH_MIN`]. Tenths without requests are ignored.
fn stays_behind(tenths: &[TenthOfRun], first_half_ns: f64) -> bool {
    let last = &tenths[tenths.len().saturating_sub(LAST_TENTHS)..];
    last.iter().filter(|tenth| tenth.requests_arrived > 0).all(|tenth| tenth.response_ns.mean > GROWTH_MIN * first_half_ns)
}

/// Returns true if response times rose in each of the last tenths of time, and by more than chance.
fn grows_in_each(tenths: &[TenthOfRun]) -> bool {
    let means: Vec<(f64, f64)> = tenths[tenths.len().saturating_sub(GROWING_TENTHS)..]
        .iter()
        .filter(|tenth| tenth.requests_arrived > 0)
        .map(|tenth| (tenth.response_ns.mean, tenth.response_ns.standard_error))
        .collect();
    let (slope, error) = slope(&means);
    means.len() == GROWING_TENTHS && means.is_sorted_by(|earlier, later| earlier.0 < later.0) && slope > 3.0 * error
}

/// Returns the slope of a line fitted to means with standard errors, for each step from one to the next, and its standard error.
fn slope(means: &[(f64, f64)]) -> (f64, f64) {
    let middle = (means.len() as f64 - 1.0) / 2.0;
    let squares: f64 = (0..means.len()).map(|at| (at as f64 - middle).powi(2)).sum();
    let slope = means.iter().enumerate().map(|(at, (value, _))| (at as f64 - middle) * value).sum::<f64>() / squares;
    let error = means.iter().enumerate().map(|(at, (_, error))| ((at as f64 - middle) * error).powi(2)).sum::<f64>().sqrt() / squares;
    (slope, error)
}

/// Returns the time at which the steady part of the run begins.
fn steady_from(tenths: &[TenthOfRun]) -> Option<u64> {
    if tenths.is_empty() || tenths.iter().any(|tenth| tenth.requests_arrived < TENTH_REQUESTS_MIN) {
        return None;
    }
    let first = (0..=tenths.len().saturating_sub(TENTHS_MIN)).find(|&first| {
        let rest = &tenths[first..];
        let responses: Vec<(f64, f64)> = rest.iter().map(|tenth| (tenth.response_ns.mean, tenth.response_ns.standard_error)).collect();
        // Pages moved are counted with a page for each page written, the least value. Only ratios matter.
        let moved: Vec<(f64, f64)> = rest
            .iter()
            .filter(|tenth| tenth.written_bytes > 0)
            .map(|tenth| (tenth.gc_moved_pages_per_written_byte.mean, tenth.gc_moved_pages_per_written_byte.standard_error))
            .collect();
        is_steady(&responses, 0.0) && is_steady(&moved, PAGES_PER_BYTE)
    })?;
    Some(tenths[first].from_ns)
}

/// Pages that a write without collections costs for each byte: one for 4 KiB. It makes the ratio (written + moved) / written out of the
/// moved pages, because that ratio must be steady.
const PAGES_PER_BYTE: f64 = 1.0 / 4096.0;

/// Returns true if the means of tenths stay the same within their standard errors. `constant` is added to each mean first.
fn is_steady(means: &[(f64, f64)], constant: f64) -> bool {
    if means.is_empty() {
        return true;
    }
    let n = means.len() as f64;
    let mean = constant + means.iter().map(|(mean, _)| mean).sum::<f64>() / n;
    if mean == 0.0 {
        return true;
    }
    let error = means.iter().map(|(_, error)| error * error).sum::<f64>().sqrt() / n;
    let near = |(value, error): &(f64, f64)| (constant + value - mean).abs() <= (DISTANCE_MAX * mean).max(3.0 * error);
    let (slope, slope_error) = slope(means);
    let rises_little = (slope * (n - 1.0)).abs() <= (RISE_MAX * mean).max(2.0 * slope_error * (n - 1.0));
    error <= ERROR_MAX * mean && means.iter().all(near) && rises_little
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashraid_model::metrics::trend::TenthMeanWithError;

    fn tenths(means: [f64; 10], error: f64, requests: u64) -> Vec<TenthOfRun> {
        let tenth = |(index, mean): (usize, f64)| TenthOfRun {
            from_ns: index as u64 * 100,
            requests_arrived: requests,
            response_ns: TenthMeanWithError { mean, standard_error: error * mean },
            gc_moved_pages_per_written_byte: TenthMeanWithError { mean: 1.0 / 4096.0, standard_error: 0.0 },
            written_bytes: 1 << 20,
        };
        means.into_iter().enumerate().map(tenth).collect()
    }

    #[test]
    fn steady_is_what_stays() {
        assert_eq!(steady_from(&tenths([10.0; 10], 0.01, 100)), Some(0));
        // A slower beginning is left out.
        assert_eq!(steady_from(&tenths([40.0, 20.0, 10.0, 11.0, 9.0, 10.0, 10.0, 11.0, 9.0, 10.0], 0.01, 100)), Some(200));
        // These runs have a steady rise, a late jump, too few requests, and too much chance.
        assert_eq!(steady_from(&tenths([10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0, 18.0, 19.0], 0.01, 100)), None);
        assert_eq!(steady_from(&tenths([10.0, 10.0, 10.0, 10.0, 10.0, 10.0, 10.0, 20.0, 20.0, 20.0], 0.01, 100)), None);
        assert_eq!(steady_from(&tenths([10.0; 10], 0.01, 49)), None);
        assert_eq!(steady_from(&tenths([10.0; 10], 0.3, 100)), None);
        assert_eq!(steady_from(&[]), None);
    }

    #[test]
    fn collection_that_begins_late_is_not_steady() {
        let mut run = tenths([10.0; 10], 0.01, 100);
        run[..8].iter_mut().for_each(|tenth| tenth.gc_moved_pages_per_written_byte.mean = 0.0);
        assert_eq!(steady_from(&run), None);
        run.iter_mut().for_each(|tenth| tenth.written_bytes = 0);
        assert_eq!(steady_from(&run), Some(0));
    }

    #[test]
    fn load_follows_its_rules() {
        let growing = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0];
        let of = |means, outstanding, halves| ResponseAndGcTrend {
            tenths: tenths(means, 0.0, 100),
            mean_response_ns_by_half: Some(halves),
            outstanding_at_last_arrival: outstanding,
        };
        let trend = |outstanding, halves| of(growing, outstanding, halves);
        assert_eq!(load(&trend(Some(11), (1.0, 1.6))), LoadVerdict::Unstable);
        assert_eq!(load(&trend(Some(10), (1.0, 1.6))), LoadVerdict::Unstable, "they grow in each tenth");
        let falls_once = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 5.9, 8.0, 9.0, 10.0];
        assert_eq!(load(&of(falls_once, Some(10), (1.0, 1.6))), LoadVerdict::Stable);
        assert_eq!(load(&of(falls_once, Some(11), (1.0, 1.6))), LoadVerdict::Unstable);
        assert_eq!(load(&trend(Some(20), (1.0, 1.5))), LoadVerdict::Stable);
        assert_eq!(load(&trend(Some(21), (1.0, 1.5))), LoadVerdict::Saturated);
        assert_eq!(load(&trend(None, (1.0, 9.0))), LoadVerdict::Stable);
    }

    /// A queue that grows evenly is unstable whatever part of it is skipped.
    #[test]
    fn requests_that_are_skipped_count_for_the_load() {
        use flashraid_model::events::OperationTimeParts;
        use flashraid_model::metrics::{CompletedRequest, MetricsParams, MetricsRecorder};
        use flashraid_model::request::{OpKind, Request};
        const REQUESTS: u64 = 20_000;
        let load_of = |skipped: u64, wait_ns: fn(u64) -> u64| {
            let params = MetricsParams { streams: 1, ..MetricsParams::default() };
            let mut metrics = MetricsRecorder::new(&params, 1, 1);
            let mut done: Vec<CompletedRequest> = (0..REQUESTS)
                .map(|index| {
                    let arrival_ns = index * 1_000;
                    let request = Request::new(OpKind::Write, arrival_ns, 0, 4096);
                    let (done_ns, time) = (arrival_ns + wait_ns(index), OperationTimeParts::default());
                    CompletedRequest { arrival_index: index, request, arrival_ns, done_ns, gc_members_met: 0, time }
                })
                .collect();
            done.sort_by_key(|done| done.done_ns);
            let mut begun = false;
            let mut ended = false;
            for done in &done {
                if !begun && done.done_ns >= skipped * 1_000 {
                    begun = true;
                    metrics.restart_measuring(skipped * 1_000, skipped);
                }
                if !ended && done.done_ns >= (REQUESTS - 1) * 1_000 {
                    ended = true;
                    metrics.record_last_arrival((REQUESTS - 1) * 1_000, 0);
                }
                metrics.record_request(done);
            }
            load(&metrics.into_results(done[done.len() - 1].done_ns, 1).response_and_gc_trend_of_whole_run)
        };
        for skipped in [0, REQUESTS / 4, REQUESTS / 2, REQUESTS * 9 / 10] {
            assert_eq!(load_of(skipped, |index| 500 + index * 500), LoadVerdict::Unstable, "{skipped} skipped");
            assert_eq!(load_of(skipped, |_| 5_000), LoadVerdict::Stable, "{skipped} skipped");
        }
    }

    /// Bursts make the second half slow, but the requests that piled up in them were served later.
    #[test]
    fn bursts_are_no_queue_without_bound() {
        let of = |means, halves| {
            load(&ResponseAndGcTrend {
                tenths: tenths(means, 0.0, 100),
                mean_response_ns_by_half: Some(halves),
                outstanding_at_last_arrival: Some(15),
            })
        };
        assert_eq!(of([1.0, 2.0, 1.0, 1.0, 2.0, 1.0, 1.0, 2.0, 1.0, 90.0], (1.4, 19.0)), LoadVerdict::Stable);
        assert_eq!(of([1.0, 2.0, 1.0, 1.0, 2.0, 1.0, 1.0, 20.0, 1.0, 90.0], (1.4, 22.6)), LoadVerdict::Stable);
        assert_eq!(of([1.0, 2.0, 1.0, 1.0, 2.0, 1.0, 1.0, 20.0, 40.0, 90.0], (1.4, 30.4)), LoadVerdict::Unstable);
        assert_eq!(of([1.0, 2.0, 1.0, 1.0, 2.0, 1.0, 1.0, 2.0, 40.0, 90.0], (1.4, 26.8)), LoadVerdict::Stable);
    }

    #[test]
    fn tenths_without_requests_say_nothing() {
        let mut run = tenths([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 9.0, 9.0], 0.0, 100);
        assert!(!stays_behind(&run, 1.0));
        run[7].requests_arrived = 0;
        assert!(stays_behind(&run, 1.0) && !stays_behind(&run, 6.0));
    }
}
