//! One run of one array, with the response times of its requests in ten batches by their place in the order of arrival.

use std::cell::RefCell;

use super::Watch;
use super::goal::{Direction, Figure, Statistic};
use super::select::BATCHES;
use crate::config::Scenario;
use crate::observer::{Observer, Progress};
use crate::report::{CYCLES_MIN, LoadVerdict, Report};
use crate::run::{self, RunError};
use crate::warm_up::SharedWarmUps;
use flashraid_model::metrics::CompletedRequest;
use flashraid_workload::{OpKind, SourceError, Stop};

/// Least number of requests beyond a percentile, in each batch or in the whole run.
const BEYOND_MIN: f64 = 20.0;
/// Least number of requests expected beyond a percentile if the slowest one is to bound it. There is none with a probability of e⁻⁵, 0.7 %.
const BEYOND_CEILING_MIN: f64 = 5.0;
/// Number of superblocks, or of collections of each die, from which on write amplification counts as measured.
const SUPERBLOCKS_MIN: f64 = 50.0;
/// Number of requests from which on a run tells that it is saturated.
const SATURATED_MIN: u64 = 10_000;
/// Number of days in a year of the Julian calendar.
const DAYS_PER_YEAR: f64 = 365.25;

/// Results of one run.
#[derive(Debug, Clone)]
pub(super) struct Sample {
    /// Response times of reads and of writes in each batch, in nanoseconds and in increasing order.
    batches: Vec<[Vec<u64>; 2]>,
    /// Estimates that were asked for before, which take much sorting.
    known_estimates: RefCell<Vec<(Figure, Option<Vec<f64>>)>>,
    /// Number of requests that were simulated.
    pub requests: u64,
    /// Write amplification, if anything was written.
    pub write_amplification: Option<f64>,
    /// Years until the first drive is worn out, by this write amplification.
    pub life_years: Option<f64>,
    /// Number of superblocks, or of blocks of each die, that a drive erased.
    pub superblocks: f64,
    /// Requests per second that were served.
    pub iops: Option<f64>,
    /// Write amplification in the tenths of the run, as far as something was written in each.
    write_amplification_of_tenths: Option<Vec<f64>>,
    /// Requests per second in the tenths of the run.
    iops_of_tenths: Option<Vec<f64>>,
    /// Simulated time, in seconds.
    pub simulated_s: f64,
    /// Rate at which a failed member was rebuilt, in bytes per second, and true if it may be rebuilt no faster.
    pub rebuild: Option<(f64, bool)>,
    /// Sentence that says why the run may not be judged, if so.
    pub shortfall: Option<String>,
    /// Estimate of the number of requests with which a run is judged.
    pub requests_to_judge: Option<u64>,
    /// True if requests pile up or data are lost.
    pub falls_behind: bool,
    /// Share of the time for which dies of the busiest member work, in its busiest interval.
    pub busiest_interval: f64,
}

/// Notes the response times of a run.
struct Recorder<'a> {
    /// Index and time of the arrival, true for a read, and the response time in nanoseconds.
    times: Vec<(u64, u64, bool, u64)>,
    watch: &'a dyn Watch,
}

impl Observer for Recorder<'_> {
    fn progress(&mut self, _: &Progress) -> bool {
        !self.watch.stop()
    }

    fn stop_signal(&self) -> Stop {
        self.watch.stop_signal()
    }

    fn request_completed(&mut self, done: &CompletedRequest) {
        if matches!(done.request.kind, OpKind::Read | OpKind::Write) {
            let is_read = done.request.kind == OpKind::Read;
            self.times.push((done.arrival_index, done.arrival_ns, is_read, done.done_ns - done.arrival_ns));
        }
    }
}

impl Sample {
    /// Runs a scenario. Returns `None` if `watch` stopped it before its end.
    pub(super) fn of(scenario: &Scenario, watch: &dyn Watch) -> Result<Option<Self>, RunError> {
        let warm_ups = SharedWarmUps::for_runs([scenario]);
        let mut recorder = Recorder { times: Vec::new(), watch };
        match run::run_with_shared_warm_ups(scenario, &warm_ups, &mut recorder) {
            Ok(report) if report.partial => Ok(None),
            Err(RunError::StoppedBeforeFirstRequest | RunError::RequestSource(SourceError::Stopped)) => Ok(None),
            Ok(report) => Ok(Some(Self::new(scenario, &report, recorder.times))),
            Err(error) => Err(error),
        }
    }

    fn new(scenario: &Scenario, report: &Report, mut times: Vec<(u64, u64, bool, u64)>) -> Self {
        // The load may leave out its beginning from statistics.
        times.retain(|(_, arrival_ns, ..)| *arrival_ns >= report.measured_from_ns);
        let first = times.iter().map(|(index, ..)| *index).min().unwrap_or(0);
        let all = times.iter().map(|(index, ..)| index - first + 1).max().unwrap_or(1);
        let mut batches = vec![[Vec::new(), Vec::new()]; BATCHES];
        for (index, _, is_read, response_ns) in times {
            let batch = (u128::from(index - first) * BATCHES as u128 / u128::from(all)) as usize;
            batches[batch][usize::from(!is_read)].push(response_ns);
        }
        batches.iter_mut().flatten().for_each(|times| times.sort_unstable());
        let ssd = &scenario.array.ssd;
        let blocks_of_unit = match ssd.superblock {
            Some(_) => f64::from(ssd.geometry.dies * ssd.geometry.planes),
            None => f64::from(ssd.geometry.dies),
        };
        let superblocks = report.flash.erases as f64 / (blocks_of_unit * f64::from(scenario.array.members.max(1)));
        let verdict = &report.verdict.load;
        Self {
            batches,
            known_estimates: RefCell::default(),
            requests: report.requests.all,
            write_amplification: report.flash.write_amplification,
            life_years: report.flash.implied_life.and_then(|life| life.days).map(|days| days / DAYS_PER_YEAR),
            superblocks,
            iops: report.iops.all,
            write_amplification_of_tenths: tenths(report.over_time.write_amplification.iter().copied()),
            iops_of_tenths: tenths(report.over_time.iops.iter().copied().map(Some)),
            simulated_s: report.simulated_ns as f64 / 1e9,
            rebuild: rebuild(scenario, report),
            shortfall: report.shortfall().map(|shortfall| shortfall.sentence("the array", report.cycles.requests_until_judged)),
            requests_to_judge: report.cycles.requests_until_judged.or_else(|| {
                let rarest = report.cycles.kinds.first()?;
                Some((report.requests.all as f64 * CYCLES_MIN / rarest.least).ceil() as u64)
            }),
            falls_behind: match verdict {
                LoadVerdict::Unstable | LoadVerdict::DataLost => true,
                // The last requests of a short run are a large share of it.
                LoadVerdict::Saturated => report.requests.all >= SATURATED_MIN,
                LoadVerdict::Stable | LoadVerdict::Closed => false,
            },
            busiest_interval: report.over_time.members.iter().flat_map(|member| &member.utilisation).copied().fold(0.0, f64::max),
        }
    }

    /// Returns true if so much was written that write amplification counts as measured.
    pub(super) fn is_wear_measured(&self) -> bool {
        self.superblocks >= SUPERBLOCKS_MIN
    }

    /// Returns the scores of a figure in the ten batches: logarithms, so that less is better. It is `None` if there are too few requests.
    ///
    /// Each batch has its own percentile, so that each part of the load counts alike in a comparison. If batches have too few requests
    /// beyond the percentile, the scores are those of [`Sample::estimates`].
    pub(super) fn scores(&self, figure: Figure) -> Option<Vec<f64>> {
        let Figure::Response(direction, statistic) = figure else { return self.estimates(figure) };
        let of_batch = |batch: &[Vec<u64>; 2]| {
            let times = merged(std::iter::once(batch), direction);
            is_supported(&times, statistic).then(|| statistic_of(&times, statistic))
        };
        match self.batches.iter().map(of_batch).collect() {
            Some(scores) => Some(scores),
            None => self.estimates(figure),
        }
    }

    /// Returns a score that a percentile hardly ever exceeds: that of the slowest request. It is `None` if so few requests were measured
    /// that none of them may lie beyond the percentile.
    pub(super) fn ceiling(&self, direction: Direction, statistic: Statistic) -> Option<f64> {
        let times = merged(self.batches.iter(), direction);
        let beyond = times.len() as f64 * statistic.share_beyond()?;
        (beyond >= BEYOND_CEILING_MIN).then(|| statistic_of(&times[times.len() - 1..], Statistic::Mean))
    }

    /// Returns ten values whose mean is the figure of the whole run, as a logarithm of which less is better. Their spread tells how certain
    /// it is. The result is `None` if there are too few requests.
    ///
    /// For response times, they are pseudo-values of the jackknife over batches.
    pub(super) fn estimates(&self, figure: Figure) -> Option<Vec<f64>> {
        if let Some((_, known)) = self.known_estimates.borrow().iter().find(|(known, _)| *known == figure) {
            return known.clone();
        }
        let estimates = self.computed_estimates(figure);
        self.known_estimates.borrow_mut().push((figure, estimates.clone()));
        estimates
    }

    fn computed_estimates(&self, figure: Figure) -> Option<Vec<f64>> {
        // Tenths of a run do not count alike. Their spread is taken, and the value of the whole run.
        let around = |whole: f64, tenths: Option<&Vec<f64>>, sign: f64| {
            let whole = sign * libm::log(whole);
            let Some(tenths) = tenths else { return vec![whole; BATCHES] };
            let logs: Vec<f64> = tenths.iter().map(|value| sign * libm::log(*value)).collect();
            let mean = logs.iter().sum::<f64>() / logs.len() as f64;
            logs.into_iter().map(|value| whole + value - mean).collect()
        };
        let (direction, statistic) = match figure {
            Figure::Response(direction, statistic) => (direction, statistic),
            Figure::WriteAmplification => {
                return Some(around(self.write_amplification?, self.write_amplification_of_tenths.as_ref(), 1.0));
            }
            Figure::Iops => return Some(around(self.iops.filter(|iops| *iops > 0.0)?, self.iops_of_tenths.as_ref(), -1.0)),
            Figure::Life | Figure::RebuildHours | Figure::Capacity | Figure::Cost => return None,
        };
        let all = merged(self.batches.iter(), direction);
        if !is_supported(&all, statistic) {
            return None;
        }
        let without = |left_out: usize| {
            let rest = self.batches.iter().enumerate().filter(|(index, _)| *index != left_out).map(|(_, batch)| batch);
            statistic_of(&merged(rest, direction), statistic)
        };
        let rests: Vec<f64> = (0..BATCHES).map(without).collect();
        let mean = rests.iter().sum::<f64>() / BATCHES as f64;
        let whole = statistic_of(&all, statistic);
        Some(rests.into_iter().map(|rest| whole + (BATCHES - 1) as f64 * (mean - rest)).collect())
    }
}

/// Returns the rate at which a failed member was rebuilt, in bytes per second, and true if it may be rebuilt no faster.
fn rebuild(scenario: &Scenario, report: &Report) -> Option<(f64, bool)> {
    /// Share of the allowed rate above which the load does not slow rebuilding.
    const UNHINDERED: f64 = 0.97;
    let rate = report.failures.first()?.rebuild_mb_s.filter(|rate| *rate > 0.0)? * 1e6;
    let allowed = scenario.config.array.rebuild.as_ref()?.rate;
    Some((rate, rate >= UNHINDERED * allowed.bytes_per_s as f64))
}

/// Returns the means of ten parts of a run, of values of its intervals. Each part needs a value above 0.
fn tenths(values: impl Iterator<Item = Option<f64>>) -> Option<Vec<f64>> {
    let values: Vec<Option<f64>> = values.collect();
    let part = |index: usize| {
        let part = &values[index * values.len() / BATCHES..(index + 1) * values.len() / BATCHES];
        let known: Vec<f64> = part.iter().flatten().copied().collect();
        let mean = known.iter().sum::<f64>() / known.len() as f64;
        (!known.is_empty() && mean > 0.0).then_some(mean)
    };
    (0..BATCHES).map(part).collect()
}

/// Returns true if enough times lie beyond a percentile. A mean needs as many.
fn is_supported(times: &[u64], statistic: Statistic) -> bool {
    times.len() as f64 * statistic.share_beyond().unwrap_or(1.0) >= BEYOND_MIN - 1e-6
}

/// Returns the indices of reads (0) and writes (1) that a direction has.
fn directions(direction: Direction) -> std::ops::Range<usize> {
    match direction {
        Direction::All => 0..2,
        Direction::Read => 0..1,
        Direction::Write => 1..2,
    }
}

fn merged<'a>(batches: impl Iterator<Item = &'a [Vec<u64>; 2]>, direction: Direction) -> Vec<u64> {
    let mut times: Vec<u64> = batches.flat_map(|batch| directions(direction).flat_map(|index| &batch[index])).copied().collect();
    // Sorted runs are merged in nearly linear time.
    times.sort();
    times
}

/// Returns the logarithm of the mean or a percentile of sorted times, in microseconds.
fn statistic_of(times: &[u64], statistic: Statistic) -> f64 {
    let value = match statistic.share_beyond() {
        None => times.iter().map(|ns| *ns as f64).sum::<f64>() / times.len() as f64,
        Some(share) => {
            let rank = (times.len() as f64 * (1.0 - share) - 1e-9).ceil().max(1.0) as usize;
            times[rank.min(times.len()) - 1] as f64
        }
    };
    libm::log(value.max(1.0) / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a sample whose reads take 1, 2, 3 … microseconds in turn over the batches, and which has no writes.
    fn sample(reads: u64) -> Sample {
        let mut batches = vec![[Vec::new(), Vec::new()]; BATCHES];
        (0..reads).for_each(|at| batches[(at % BATCHES as u64) as usize][0].push((at + 1) * 1000));
        Sample {
            batches,
            known_estimates: RefCell::default(),
            requests: reads,
            write_amplification: Some(2.0),
            life_years: None,
            superblocks: 0.0,
            iops: Some(100.0),
            write_amplification_of_tenths: Some((1..=10).map(f64::from).collect()),
            iops_of_tenths: None,
            simulated_s: 1.0,
            rebuild: None,
            shortfall: None,
            requests_to_judge: None,
            falls_behind: false,
            busiest_interval: 0.0,
        }
    }

    const P99: Figure = Figure::Response(Direction::Read, Statistic::P99);

    fn mean(scores: &[f64]) -> f64 {
        scores.iter().sum::<f64>() / scores.len() as f64
    }

    #[test]
    fn batches_have_percentiles_of_their_own_if_they_have_enough_requests() {
        let scores = sample(20_000).scores(P99).unwrap();
        // The batch has 2,000 reads, of which the 1,980th takes 19,791 µs and more by its place.
        let expected: Vec<f64> = (0..10).map(|batch| libm::log(f64::from(1979 * 10 + batch + 1))).collect();
        assert_eq!(scores, expected);
    }

    #[test]
    fn shorter_batches_give_the_percentile_of_the_whole_run() {
        let scores = sample(5_000).scores(P99).unwrap();
        assert!((mean(&scores) - libm::log(4950.0)).abs() < 1e-9, "{}", mean(&scores).exp());
        let spread = scores.iter().fold(0.0_f64, |most, score| most.max((score - mean(&scores)).abs()));
        assert!(spread > 0.0 && spread < 0.1, "{spread}");
    }

    #[test]
    fn the_slowest_request_bounds_a_percentile() {
        assert_eq!(sample(5_000).ceiling(Direction::Read, Statistic::P99_9), Some(libm::log(5000.0)));
        assert_eq!(sample(4_999).ceiling(Direction::Read, Statistic::P99_9), None);
        assert_eq!(sample(5_000).ceiling(Direction::Read, Statistic::Mean), None);
    }

    #[test]
    fn too_few_requests_have_no_percentile() {
        assert_eq!(sample(1_999).scores(P99), None);
        assert!(sample(2_000).scores(P99).is_some());
        assert_eq!(sample(5_000).scores(Figure::Response(Direction::Write, Statistic::P99)), None);
        assert_eq!(sample(5_000).scores(Figure::Response(Direction::Write, Statistic::Mean)), None);
    }

    #[test]
    fn means_and_rates_are_scores_of_which_less_is_better() {
        let scores = sample(200).scores(Figure::Response(Direction::All, Statistic::Mean)).unwrap();
        assert!((scores[0] - libm::log(96.0)).abs() < 1e-12, "the reads of the first batch take 1, 11 … 191 µs");
        assert!((sample(100).scores(Figure::Iops).unwrap()[0] + libm::log(100.0)).abs() < 1e-12);
        let amplification = sample(100).scores(Figure::WriteAmplification).unwrap();
        assert!((mean(&amplification) - libm::log(2.0)).abs() < 1e-12 && amplification[9] > amplification[0], "{amplification:?}");
    }
}
