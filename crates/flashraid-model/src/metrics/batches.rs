//! Batch means: the measured requests, split into ten batches by their position in the order of arrival.
//!
//! Two runs of the same workload have the same requests in the same batches, so that batches can be compared in pairs. The spread of the
//! ten differences tells how much of the difference between two runs is chance.

use super::counts::Counts;
use crate::request::OpKind;

/// Number of batches in a run.
pub(crate) const BATCHES: usize = 10;
/// Maximum number of slots that are kept. A longer run merges pairs of slots.
const SLOTS_MAX: usize = 20 * BATCHES;
/// Minimum number of slots for a division into batches. With fewer requests, the means of the batches are too uncertain.
const SLOTS_MIN: usize = 10 * BATCHES;

/// Sums over requests of one direction.
#[derive(Debug, Clone, Default)]
struct Sums {
    requests: u64,
    response_ns: u128,
    counts: Counts,
}

impl Sums {
    fn add(&mut self, other: &Sums) {
        self.requests += other.requests;
        self.response_ns += other.response_ns;
        self.counts.add(&other.counts);
    }

    fn results(&self) -> DirectionBatchResults {
        let requests = self.requests;
        // Of n requests, those of higher rank lie beyond the percentile.
        let supported =
            |rank: u64| (requests - rank >= super::trend::SAMPLES_BEYOND_QUANTILE_MIN).then(|| self.counts.of_rank_ns(rank)).flatten();
        DirectionBatchResults {
            requests,
            mean_response_ns: (requests > 0).then(|| self.response_ns as f64 / requests as f64),
            p99_ns: supported((requests * 99).div_ceil(100)),
            p99_9_ns: supported((requests * 999).div_ceil(1000)),
        }
    }
}

/// Sums over a few reads and writes that arrived one after another.
#[derive(Debug, Clone, Default)]
pub(super) struct Slot {
    reads: Sums,
    writes: Sums,
}

impl Slot {
    fn add(&mut self, other: &Slot) {
        self.reads.add(&other.reads);
        self.writes.add(&other.writes);
    }
}

/// Results of one batch: a tenth of the measured requests, by their place in the order of arrival.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RequestBatchResults {
    /// Results of reads and writes together.
    pub all: DirectionBatchResults,
    /// Results of the reads among them.
    pub reads: DirectionBatchResults,
    /// Results of the writes among them.
    pub writes: DirectionBatchResults,
}

/// Results of the requests of one direction in a batch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DirectionBatchResults {
    /// Number of requests that are done.
    pub requests: u64,
    /// Mean response time, in nanoseconds; `None` without requests.
    pub mean_response_ns: Option<f64>,
    /// The 99th percentile of response times, in nanoseconds; `None` with fewer than ten requests beyond it.
    pub p99_ns: Option<u64>,
    /// The 99.9th percentile of response times, in nanoseconds; `None` with fewer than ten requests beyond it.
    pub p99_9_ns: Option<u64>,
}

/// Records batches in bounded memory, however long the run is.
#[derive(Debug, Clone, Default)]
pub(super) struct Recorder {
    /// Binary logarithm of the number of requests in a slot.
    shift: u32,
    slots: Vec<Slot>,
}

impl Recorder {
    /// Counts a request, given its position among the measured ones and the bucket of its response time.
    #[inline]
    pub(super) fn record_request(&mut self, position: u64, kind: OpKind, response_ns: u64, bucket: usize) {
        let slot = self.slot_of(position);
        let sums = if kind == OpKind::Read { &mut slot.reads } else { &mut slot.writes };
        sums.requests += 1;
        sums.response_ns += u128::from(response_ns);
        sums.counts.record(bucket);
    }

    /// Returns the slot of a position. Makes it, so that batches reach to this position, even if its request is left out.
    #[inline]
    pub(super) fn slot_of(&mut self, position: u64) -> &mut Slot {
        while position >> self.shift >= SLOTS_MAX as u64 {
            self.double();
        }
        let slot = (position >> self.shift) as usize;
        if slot >= self.slots.len() {
            self.slots.resize_with(slot + 1, Slot::default);
        }
        &mut self.slots[slot]
    }

    #[cold]
    fn double(&mut self) {
        let mut slots = std::mem::take(&mut self.slots).into_iter();
        self.slots.reserve(SLOTS_MAX);
        while let Some(mut first) = slots.next() {
            first.add(&slots.next().unwrap_or_default());
            self.slots.push(first);
        }
        self.shift += 1;
    }

    /// Returns the ten batches, or none if the run is too short for them.
    pub(super) fn finish(&self) -> Vec<RequestBatchResults> {
        let used = self.slots.len();
        if used < SLOTS_MIN {
            return Vec::new();
        }
        let batch = |index: usize| {
            let mut whole = Slot::default();
            self.slots[index * used / BATCHES..(index + 1) * used / BATCHES].iter().for_each(|slot| whole.add(slot));
            let Slot { reads, writes } = whole;
            let mut all = reads.clone();
            all.add(&writes);
            RequestBatchResults { all: all.results(), reads: reads.results(), writes: writes.results() }
        };
        (0..BATCHES).map(batch).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::breakdown::bucket_of;
    use super::*;

    /// Makes batches of response times in the order of arrival. They are recorded from last to first, because requests end in any order.
    /// Every fourth request is a write.
    fn both(times: &[u64]) -> Vec<RequestBatchResults> {
        let mut recorder = Recorder::default();
        let kind = |position: usize| if position % 4 == 3 { OpKind::Write } else { OpKind::Read };
        let record = |(position, ns): (usize, &u64)| recorder.record_request(position as u64, kind(position), *ns, bucket_of(*ns));
        times.iter().enumerate().rev().for_each(record);
        recorder.finish()
    }

    fn of(times: &[u64]) -> Vec<DirectionBatchResults> {
        both(times).into_iter().map(|batch| batch.all).collect()
    }

    #[test]
    fn reads_and_writes_are_in_the_batches_of_their_places() {
        // Reads take the number of their batch, and writes a hundred more.
        let times: Vec<u64> = (0..800).map(|position| position / 80 + if position % 4 == 3 { 100 } else { 0 }).collect();
        for (index, batch) in both(&times).iter().enumerate() {
            let figures = [batch.all, batch.reads, batch.writes].map(|results| (results.requests, results.mean_response_ns.unwrap()));
            let index = index as f64;
            assert_eq!(figures, [(80, index + 25.0), (60, index), (20, index + 100.0)]);
        }
        let alone = |kind| {
            let mut recorder = Recorder::default();
            (0..800).for_each(|position| recorder.record_request(position, kind, 7, bucket_of(7)));
            recorder.finish()[0]
        };
        let (reads, writes) = (alone(OpKind::Read), alone(OpKind::Write));
        assert_eq!((reads.reads, reads.writes.requests, reads.writes.mean_response_ns), (reads.all, 0, None));
        assert_eq!((writes.writes, writes.reads.p99_ns), (writes.all, None));
    }

    #[test]
    fn batches_follow_the_order_of_arrival() {
        let batches = of(&(0..800).map(|position| 10 + position / 80).collect::<Vec<_>>());
        let means: Vec<f64> = batches.iter().map(|batch| batch.mean_response_ns.unwrap()).collect();
        assert_eq!(means, (10..20).map(f64::from).collect::<Vec<_>>());
        assert!(batches.iter().all(|batch| batch.requests == 80 && batch.p99_ns.is_none()));
    }

    #[test]
    fn any_length_gives_batches_of_about_a_tenth() {
        for requests in [100, 101, 199, 200, 201, 12_345, 399_999] {
            let batches = of(&vec![7; requests]);
            assert_eq!(batches.iter().map(|batch| batch.requests).sum::<u64>(), requests as u64);
            for batch in &batches {
                let share = batch.requests as f64 / requests as f64;
                assert!((0.085..0.115).contains(&share), "{requests}: {share}");
            }
        }
        assert!(of(&[7; 99]).is_empty() && of(&[]).is_empty());
    }

    #[test]
    fn a_percentile_needs_ten_requests_of_the_batch_beyond_it() {
        let p99 = |requests: u64| of(&(0..requests).map(|position| 1_000_000 + position % 1000).collect::<Vec<_>>())[0].p99_ns;
        assert_eq!(p99(9_000), None);
        let found = p99(12_800).unwrap();
        assert!((1_000_980..1_020_000).contains(&found), "{found}");
        let batches = of(&vec![5; 128_000]);
        assert!(batches.iter().all(|batch| batch.p99_9_ns == Some(5)));
    }
}
