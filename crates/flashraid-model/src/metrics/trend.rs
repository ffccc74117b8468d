//! Trends of a run: response times and pages moved over the measured time, and the requests still outstanding when the last one arrives.

use super::Moments;
use crate::TimeNs;

/// Maximum number of stretches of time that are kept. A longer run merges pairs of them.
const STRETCHES_MAX: usize = 2048;
/// Binary logarithm of the first length of a stretch, in nanoseconds.
const FIRST_SHIFT: u32 = 10;
/// Number of equal parts (tenths) of the time in which requests arrived. They are compared with one another.
pub(crate) const TENTHS: usize = 10;
/// Number of parts into which each tenth is divided. Their spread tells how much of the tenth's mean is due to chance.
const PARTS: usize = 10;

/// Sums over a stretch of time. A request belongs to the stretch in which it arrived.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Stretch {
    requests: u64,
    response_ns: u128,
    written_bytes: u64,
    pages_moved: u64,
}

impl Stretch {
    fn add(&mut self, other: &Stretch) {
        self.requests += other.requests;
        self.response_ns += other.response_ns;
        self.written_bytes += other.written_bytes;
        self.pages_moved += other.pages_moved;
    }
}

/// Mean of a quantity over one of ten equal parts (tenths) of the time in which requests arrived, with the standard error of this
/// mean. The quantity is the response time, or the number of pages moved per byte written.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TenthMeanWithError {
    /// Mean response time in nanoseconds, or mean number of pages moved per byte written: the field of [`TenthOfRun`] says which. It
    /// is taken over one of ten equal parts of the time in which requests arrived.
    pub mean: f64,
    /// Standard error of `mean`, in the same unit. The value `mean` covers a tenth of the time in which requests arrived. The error is
    /// estimated from ten means over the ten equal parts of that tenth.
    pub standard_error: f64,
}

/// Means and sums over one of ten equal parts (tenths) of the time in which requests arrived. Comparing the ten parts shows how a run
/// changed over time.
///
/// The time that is divided ends with the last arrival of a request. For the trend of the whole run, it begins at time 0. For the trend
/// of the measured time, it begins when measuring begins, which may be later.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TenthOfRun {
    /// Time at which this tenth of the run begins, in nanoseconds.
    pub from_ns: TimeNs,
    /// Number of requests that arrived in this tenth of the run.
    pub requests_arrived: u64,
    /// Response times of the requests that arrived in this tenth of the run, in nanoseconds.
    pub response_ns: TenthMeanWithError,
    /// Number of pages that garbage collection moved in this tenth of the run, divided by the bytes written (`written_bytes`).
    pub gc_moved_pages_per_written_byte: TenthMeanWithError,
    /// Total size of the write requests that arrived in this tenth of the run, in bytes.
    pub written_bytes: u64,
}

/// Summary of how response times and moved pages changed during a run. It shows if the run was steady, and if requests piled up.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ResponseAndGcTrend {
    /// Results of ten equal parts of the time up to the last arrival of a request, in order of time. The list is empty if no request
    /// was recorded.
    pub tenths: Vec<TenthOfRun>,
    /// Mean response times of the first and of the second half of the requests, in nanoseconds.
    pub mean_response_ns_by_half: Option<(f64, f64)>,
    /// Number of requests that had arrived before the last one and were not done when it arrived. It is `None` for a closed loop and for a
    /// run that was stopped.
    pub outstanding_at_last_arrival: Option<u64>,
}

/// Records the trends of a run in bounded memory.
#[derive(Debug, Clone)]
pub(super) struct TrendRecorder {
    from_ns: TimeNs,
    shift: u32,
    stretches: Vec<Stretch>,
    last_arrival_ns: Option<TimeNs>,
    outstanding: u64,
}

impl TrendRecorder {
    pub(super) fn new(from_ns: TimeNs) -> Self {
        Self { from_ns, shift: FIRST_SHIFT, stretches: vec![Stretch::default(); STRETCHES_MAX], last_arrival_ns: None, outstanding: 0 }
    }

    #[inline]
    fn at(&mut self, at: TimeNs) -> &mut Stretch {
        let since = at.saturating_sub(self.from_ns);
        while since >> self.shift >= STRETCHES_MAX as u64 {
            self.double();
        }
        &mut self.stretches[(since >> self.shift) as usize]
    }

    #[cold]
    fn double(&mut self) {
        for index in 0..STRETCHES_MAX / 2 {
            let mut both = self.stretches[2 * index];
            both.add(&self.stretches[2 * index + 1]);
            self.stretches[index] = both;
        }
        self.stretches[STRETCHES_MAX / 2..].fill(Stretch::default());
        self.shift += 1;
    }

    #[inline]
    pub(super) fn record_request(&mut self, arrival_ns: TimeNs, done_ns: TimeNs, written_bytes: u64) {
        let stretch = self.at(arrival_ns);
        stretch.requests += 1;
        stretch.response_ns += u128::from(done_ns.saturating_sub(arrival_ns));
        stretch.written_bytes += written_bytes;
        if let Some(last_ns) = self.last_arrival_ns {
            self.outstanding += u64::from(arrival_ns < last_ns && done_ns > last_ns);
        }
    }

    #[inline]
    pub(super) fn moved(&mut self, at: TimeNs, pages: u64) {
        if at >= self.from_ns {
            self.at(at).pages_moved += pages;
        }
    }

    /// Announces that the last request arrived at `last_ns`. Requests that end later are recorded later.
    pub(super) fn arrivals_end(&mut self, last_ns: TimeNs, outstanding: u64) {
        // A loop says so at each of its steps.
        if self.last_arrival_ns.replace(last_ns).is_none() {
            self.outstanding = outstanding;
        }
    }

    pub(super) fn finish(self) -> ResponseAndGcTrend {
        let used = self.stretches.iter().rposition(|stretch| stretch.requests > 0).map_or(0, |last| last + 1);
        let stretches = &self.stretches[..used];
        let tenth = |index: usize| {
            let bound = |part: usize| part * used / (TENTHS * PARTS);
            let sum = |from: usize, to: usize| {
                stretches[from..to].iter().fold(Stretch::default(), |mut sum, stretch| {
                    sum.add(stretch);
                    sum
                })
            };
            let parts: Vec<Stretch> = (index * PARTS..(index + 1) * PARTS).map(|part| sum(bound(part), bound(part + 1))).collect();
            let whole = sum(bound(index * PARTS), bound((index + 1) * PARTS));
            TenthOfRun {
                from_ns: self.from_ns + ((bound(index * PARTS) as u64) << self.shift),
                requests_arrived: whole.requests,
                response_ns: mean(&parts, |part| (part.response_ns as f64, part.requests as f64)),
                gc_moved_pages_per_written_byte: mean(&parts, |part| (part.pages_moved as f64, part.written_bytes as f64)),
                written_bytes: whole.written_bytes,
            }
        };
        ResponseAndGcTrend {
            tenths: if used == 0 { Vec::new() } else { (0..TENTHS).map(tenth).collect() },
            mean_response_ns_by_half: halves(stretches),
            outstanding_at_last_arrival: self.last_arrival_ns.map(|_| self.outstanding),
        }
    }
}

/// Returns the ratio of two sums over the parts of a tenth, with its standard error. The error is that of a ratio estimator with n − 1
/// degrees of freedom, where n is the number of parts.
fn mean(parts: &[Stretch], of: impl Fn(&Stretch) -> (f64, f64)) -> TenthMeanWithError {
    let pairs: Vec<(f64, f64)> = parts.iter().map(of).filter(|pair| pair.1 > 0.0).collect();
    let (sum, count) = pairs.iter().fold((0.0, 0.0), |(sum, count), pair| (sum + pair.0, count + pair.1));
    if count == 0.0 {
        return TenthMeanWithError::default();
    }
    let mean = sum / count;
    let squares: f64 = pairs.iter().map(|(sum, count)| (sum - mean * count) * (sum - mean * count)).sum();
    let n = pairs.len() as f64;
    TenthMeanWithError { mean, standard_error: if n > 1.0 { (squares * n / (n - 1.0)).sqrt() / count } else { mean } }
}

/// Returns the mean response times of the first and the second half of the requests, as exactly as the stretches allow.
fn halves(stretches: &[Stretch]) -> Option<(f64, f64)> {
    let all: u64 = stretches.iter().map(|stretch| stretch.requests).sum();
    let (mut first, mut second) = (Stretch::default(), Stretch::default());
    for stretch in stretches {
        if 2 * first.requests < all { first.add(stretch) } else { second.add(stretch) }
    }
    let mean = |half: Stretch| (half.requests > 0).then(|| half.response_ns as f64 / half.requests as f64);
    Some((mean(first)?, mean(second)?))
}

impl ResponseAndGcTrend {
    /// Returns the number of recorded requests. It is the sum of the requests that arrived in each of the [`ResponseAndGcTrend::tenths`].
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.tenths.iter().map(|tenth| tenth.requests_arrived).sum()
    }
}

/// Number of values that must lie beyond a percentile, so that it is more than a guess.
pub const SAMPLES_BEYOND_QUANTILE_MIN: u64 = 10;

/// Returns true if at least [`SAMPLES_BEYOND_QUANTILE_MIN`] values lie beyond the quantile. With fewer, the value of the quantile is
/// little more than a guess.
#[must_use]
pub fn has_enough_samples_beyond(moments: &Moments, quantile: f64) -> bool {
    // The tolerance of a millionth is for 1 − 0.9999, which has no exact binary form.
    moments.count() as f64 * (1.0 - quantile) >= SAMPLES_BEYOND_QUANTILE_MIN as f64 - 1e-6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tenths_halves_and_what_is_left() {
        let mut trend = TrendRecorder::new(1_000);
        // A request arrives each microsecond, and the second half takes twice as long.
        for index in 0..100_000_u64 {
            let arrival = 1_000 + index * 1_000;
            let response = if index < 50_000 { 500_000 } else { 1_000_000 };
            if index == 90_000 {
                trend.arrivals_end(1_000 + 99_999 * 1_000, 0);
            }
            trend.record_request(arrival, arrival + response, 4096);
            trend.moved(arrival, 3);
        }
        let summary = trend.finish();
        assert_eq!((summary.tenths.len(), summary.requests()), (10, 100_000));
        assert_eq!(summary.tenths[0].response_ns.mean, 500_000.0);
        assert_eq!(summary.tenths[9].response_ns.mean, 1_000_000.0);
        assert!((summary.tenths[3].gc_moved_pages_per_written_byte.mean - 3.0 / 4096.0).abs() < 1e-12);
        assert!(summary.tenths.iter().all(|tenth| (9_000..11_000).contains(&tenth.requests_arrived)));
        let (first, second) = summary.mean_response_ns_by_half.unwrap();
        assert!((first - 500_000.0).abs() < 5_000.0 && (second - 1_000_000.0).abs() < 5_000.0);
        // The requests of one millisecond are outstanding when the last one arrives, which does not count itself.
        assert_eq!(summary.outstanding_at_last_arrival, Some(999));
    }

    #[test]
    fn without_requests_there_is_no_course() {
        assert_eq!(TrendRecorder::new(0).finish(), ResponseAndGcTrend::default());
    }

    #[test]
    fn a_percentile_needs_ten_samples_beyond() {
        let mut moments = Moments::default();
        (0..9_999).for_each(|value| moments.record(value));
        assert!(has_enough_samples_beyond(&moments, 0.99) && !has_enough_samples_beyond(&moments, 0.999));
        moments.record(1);
        assert!(has_enough_samples_beyond(&moments, 0.999) && !has_enough_samples_beyond(&moments, 0.9999));
    }
}
