//! One run of one array, with the response times of its requests in ten batches by their place in the order of arrival.

use super::goal::{Direction, Figure, Statistic};
use super::select::BATCHES;
use crate::config::Scenario;
use crate::observer::{Observer, Progress};
use crate::report::{LoadVerdict, Report};
use crate::run::{self, RunError};
use crate::warm_up::SharedWarmUps;
use flashraid_model::metrics::CompletedRequest;
use flashraid_workload::{OpKind, SourceError};

/// Least number of requests beyond a percentile, in each batch or in the whole run.
const BEYOND_MIN: f64 = 20.0;
/// Number of superblocks, or of collections of each die, from which on write amplification counts as measured.
const SUPERBLOCKS_MIN: f64 = 50.0;
/// Number of days in a year of the Julian calendar.
const DAYS_PER_YEAR: f64 = 365.25;

/// Results of one run.
#[derive(Debug, Clone)]
pub(super) struct Sample {
    /// Response times of reads and of writes in each batch, in nanoseconds and in increasing order.
    batches: Vec<[Vec<u64>; 2]>,
    /// Number of requests that were simulated.
    pub requests: u64,
    /// Write amplification, if anything was written.
    pub write_amplification: Option<f64>,
    /// Years until the first drive is worn out, by this write amplification.
    pub life_years: Option<f64>,
    /// True if so much was written that write amplification counts as measured.
    pub is_wear_measured: bool,
    /// Requests per second that were served.
    pub iops: Option<f64>,
    /// Sentence that says why the run may not be judged, if so.
    pub shortfall: Option<String>,
    /// Number of requests with which it could be judged.
    pub requests_until_judged: Option<u64>,
    /// True if requests pile up or data are lost.
    pub falls_behind: bool,
    /// Share of the time for which dies of the busiest member work, in its busiest interval.
    pub busiest_interval: f64,
}

/// Notes the response times of a run.
struct Recorder<'a> {
    times: Vec<(u64, bool, u64)>,
    stop: &'a (dyn Fn() -> bool + Sync),
}

impl Observer for Recorder<'_> {
    fn progress(&mut self, _: &Progress) -> bool {
        !(self.stop)()
    }

    fn request_completed(&mut self, done: &CompletedRequest) {
        if matches!(done.request.kind, OpKind::Read | OpKind::Write) {
            self.times.push((done.arrival_index, done.request.kind == OpKind::Read, done.done_ns - done.arrival_ns));
        }
    }
}

impl Sample {
    /// Runs a scenario. Returns `None` if `stop` returned true before its end.
    pub(super) fn of(scenario: &Scenario, stop: &(dyn Fn() -> bool + Sync)) -> Result<Option<Self>, RunError> {
        let warm_ups = SharedWarmUps::for_runs([scenario]);
        let mut recorder = Recorder { times: Vec::new(), stop };
        match run::run_with_shared_warm_ups(scenario, &warm_ups, &mut recorder) {
            Ok(report) if report.partial => Ok(None),
            Err(RunError::StoppedBeforeFirstRequest | RunError::RequestSource(SourceError::Stopped)) => Ok(None),
            Ok(report) => Ok(Some(Self::new(scenario, &report, recorder.times))),
            Err(error) => Err(error),
        }
    }

    fn new(scenario: &Scenario, report: &Report, times: Vec<(u64, bool, u64)>) -> Self {
        let all = times.iter().map(|(index, ..)| index + 1).max().unwrap_or(1);
        let mut batches = vec![[Vec::new(), Vec::new()]; BATCHES];
        for (index, is_read, response_ns) in times {
            let batch = (u128::from(index) * BATCHES as u128 / u128::from(all)) as usize;
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
            requests: report.requests.all,
            write_amplification: report.flash.write_amplification,
            life_years: report.flash.implied_life.and_then(|life| life.days).map(|days| days / DAYS_PER_YEAR),
            is_wear_measured: superblocks >= SUPERBLOCKS_MIN,
            iops: report.iops.all,
            shortfall: report.shortfall().map(|shortfall| shortfall.sentence("the array", report.cycles.requests_until_judged)),
            requests_until_judged: report.cycles.requests_until_judged,
            falls_behind: matches!(verdict, LoadVerdict::Unstable | LoadVerdict::Saturated | LoadVerdict::DataLost),
            busiest_interval: report.over_time.members.iter().flat_map(|member| &member.utilisation).copied().fold(0.0, f64::max),
        }
    }

    /// Returns the scores of a figure in the ten batches: logarithms, so that less is better. It is `None` if there are too few requests.
    ///
    /// If batches have too few requests beyond a percentile, the scores are pseudo-values of the jackknife over batches. Their mean is the
    /// percentile of the whole run, and their spread tells how certain it is.
    pub(super) fn scores(&self, figure: Figure) -> Option<Vec<f64>> {
        let (direction, statistic) = match figure {
            Figure::Response(direction, statistic) => (direction, statistic),
            Figure::WriteAmplification => return Some(vec![libm::log(self.write_amplification?); BATCHES]),
            Figure::Iops => return Some(vec![-libm::log(self.iops.filter(|iops| *iops > 0.0)?); BATCHES]),
            Figure::Life | Figure::Capacity | Figure::Cost => return None,
        };
        let Some(share) = statistic.share_beyond() else {
            let mean = |batch: &[Vec<u64>; 2]| {
                let (sum, count) = directions(direction).fold((0.0, 0), |(sum, count), index| {
                    (sum + batch[index].iter().map(|ns| *ns as f64).sum::<f64>(), count + batch[index].len())
                });
                (count > 0 && sum > 0.0).then(|| libm::log(sum / count as f64 / 1000.0))
            };
            return self.batches.iter().map(mean).collect();
        };
        let is_supported = |count: usize| count as f64 * share >= BEYOND_MIN - 1e-6;
        let of_batch = |batch: &[Vec<u64>; 2]| {
            let times = merged(std::iter::once(batch), direction);
            is_supported(times.len()).then(|| percentile(&times, statistic))
        };
        if let Some(scores) = self.batches.iter().map(of_batch).collect() {
            return Some(scores);
        }
        let all = merged(self.batches.iter(), direction);
        if !is_supported(all.len()) {
            return None;
        }
        let without = |left_out: usize| {
            let rest = self.batches.iter().enumerate().filter(|(index, _)| *index != left_out).map(|(_, batch)| batch);
            percentile(&merged(rest, direction), statistic)
        };
        let rests: Vec<f64> = (0..BATCHES).map(without).collect();
        let mean = rests.iter().sum::<f64>() / BATCHES as f64;
        let whole = percentile(&all, statistic);
        Some(rests.into_iter().map(|rest| whole + (BATCHES - 1) as f64 * (mean - rest)).collect())
    }
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

/// Returns the logarithm of a percentile of sorted times, in microseconds.
fn percentile(times: &[u64], statistic: Statistic) -> f64 {
    let share = statistic.share_beyond().unwrap_or(0.0);
    let rank = (times.len() as f64 * (1.0 - share) - 1e-9).ceil().max(1.0) as usize;
    let value = times.get(rank.min(times.len()) - 1).copied().unwrap_or(1).max(1);
    libm::log(value as f64 / 1000.0)
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
            requests: reads,
            write_amplification: Some(2.0),
            life_years: None,
            is_wear_measured: false,
            iops: Some(100.0),
            shortfall: None,
            requests_until_judged: None,
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
    fn too_few_requests_have_no_percentile() {
        assert_eq!(sample(1_999).scores(P99), None);
        assert!(sample(2_000).scores(P99).is_some());
        assert_eq!(sample(5_000).scores(Figure::Response(Direction::Write, Statistic::P99)), None);
        assert_eq!(sample(5_000).scores(Figure::Response(Direction::Write, Statistic::Mean)), None);
    }

    #[test]
    fn means_and_rates_are_scores_of_which_less_is_better() {
        let scores = sample(100).scores(Figure::Response(Direction::All, Statistic::Mean)).unwrap();
        assert!((scores[0] - libm::log(46.0)).abs() < 1e-12, "the reads of the first batch take 1, 11 … 91 µs");
        assert!((sample(100).scores(Figure::Iops).unwrap()[0] + libm::log(100.0)).abs() < 1e-12);
        assert!((sample(100).scores(Figure::WriteAmplification).unwrap()[0] - libm::log(2.0)).abs() < 1e-12);
    }
}
