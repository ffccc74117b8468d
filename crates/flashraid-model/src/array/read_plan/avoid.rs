//! `avoid`: reads go round strips that collect, by parity or to another copy (rules 240 to 246).
//!
//! It follows IODA (SOSP 2021). A device that collects where a page is wanted refuses the read at once, and tells for how long.
//! The host then reads the rest of the stripe instead. The functions here choose from what the members tell. They change nothing.

use super::{Home, Plan, StripCopies};
use crate::TimeNs;
use crate::placement::{StripRoles, StripeShape};
use crate::rng::{self, RandomStream};
use crate::ssd::ReadForecast;

/// The plan `avoid`. As long as nothing is known of the members, copies take turns.
pub(super) struct Avoid;

impl Plan for Avoid {
    #[inline]
    fn copy(&self, strip: &StripCopies) -> u32 {
        Home.copy(strip)
    }
}

/// Knowledge and means of the host for one choice.
pub(in crate::array) struct ReadPlanner<'a> {
    pub(crate) now: TimeNs,
    /// Time after which a member refuses a read.
    pub(crate) fast_fail_ns: u64,
    /// Source of draws if the host does not know how long collection lasts.
    pub(crate) draws: Option<&'a mut RandomStream>,
}

/// A part of a read in a stripe with parity.
pub(in crate::array) struct StripeRead<'a> {
    pub(crate) shape: StripeShape,
    pub(crate) lost: StripRoles,
    /// Roles of the columns that are wanted, as bits. They may be lost if parity is left for them.
    pub(crate) wanted: StripRoles,
    /// State of each strip, by role. That of lost strips is not used.
    pub(crate) strips: &'a [ReadForecast],
}

/// Way to read a part of a stripe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::array) struct ReadWay {
    /// Columns that are wanted, and computed instead of read.
    pub(crate) replaced: StripRoles,
    /// Parity strips that are read.
    pub(crate) parity: StripRoles,
    /// Time after which the strips that are not wanted are read, in nanoseconds.
    pub(crate) delay_ns: u64,
}

/// Rank of a way; the least one is taken.
type Rank = (TimeNs, u32, usize);

impl ReadPlanner<'_> {
    /// Chooses the way for a part (rule 243). `pages` returns the number of pages that a way reads.
    pub(crate) fn choose_way(&mut self, part: &StripeRead, pages: impl Fn(&ReadWay) -> u32) -> ReadWay {
        let StripeRead { shape, lost, wanted, strips } = *part;
        let mut busy: Vec<u32> = wanted.iter().filter(|&column| !lost.has(column) && strips[column as usize].meets_collection).collect();
        let mut parity: Vec<u32> = lost.parity_left(shape).collect();
        if self.draws.is_some() {
            self.shuffle(&mut busy);
            parity.sort_by_key(|&role| strips[role as usize].meets_collection);
        } else {
            busy.sort_by_key(|&column| std::cmp::Reverse(strips[column as usize].read_begins));
            parity.sort_by_key(|&role| strips[role as usize].read_begins);
        }
        let lost_columns = lost.count_data_strips(shape) as usize;
        let most = busy.len().min(parity.len().saturating_sub(lost_columns));
        let ways = (0..=most).map(|replaced| {
            let replaced = set_of(&busy[..replaced]);
            let computes = wanted.iter().any(|column| lost.has(column) || replaced.has(column));
            let parity = if computes { set_of(&parity[..lost_columns + replaced.iter().count()]) } else { StripRoles::default() };
            self.delayed(part, ReadWay { replaced, parity, delay_ns: 0 })
        });
        let ways: Vec<ReadWay> = ways.collect();
        let mut ranks: Vec<Rank> = ways.iter().enumerate().map(|(at, way)| self.rank(part, way, pages(way), at)).collect();
        let least = *ranks.iter().min().expect("nothing is replaced in the first way");
        if self.draws.is_some() {
            ranks.retain(|rank| rank.0 == least.0);
            return ways[self.draw(&ranks).2];
        }
        ways[least.2]
    }

    /// Returns the way with the time after which its substitutes are read: once for the refusal, twice if a substitute is refused, too.
    fn delayed(&self, part: &StripeRead, way: ReadWay) -> ReadWay {
        if way.replaced.is_empty() {
            return way;
        }
        let refuses = strips_of(part, &way).any(|role| !part.wanted.has(role) && part.strips[role as usize].meets_collection);
        ReadWay { delay_ns: self.fast_fail_ns * if refuses { 2 } else { 1 }, ..way }
    }

    fn rank(&self, part: &StripeRead, way: &ReadWay, pages: u32, at: usize) -> Rank {
        let strip = |role: u32| &part.strips[role as usize];
        if self.draws.is_some() {
            return (strips_of(part, way).filter(|&role| strip(role).meets_collection).count() as u64, 0, at);
        }
        let end = |role| strip(role).end_if_sent_at(if part.wanted.has(role) { self.now } else { self.now + way.delay_ns });
        (strips_of(part, way).map(end).max().unwrap_or(self.now), pages, at)
    }

    /// Chooses among copies that all collect, in the order of their turns (rule 244). The first is read at once, and others `delay_ns`
    /// later.
    pub(crate) fn choose_collecting_copy(&mut self, copies: &[ReadForecast], delay_ns: u64) -> usize {
        let all: Vec<usize> = (0..copies.len()).collect();
        if self.draws.is_some() {
            return self.draw(&all);
        }
        let end = |at: &usize| copies[*at].end_if_sent_at(if *at == 0 { self.now } else { self.now + delay_ns });
        all.into_iter().min_by_key(end).expect("a copy is left")
    }

    /// Ranks the reads before a write by the strips that they read: by their estimated end, or by the number of those that collect.
    pub(crate) fn rank_reads_before_write(&self, strips: &[ReadForecast], delay_ns: u64) -> u64 {
        if self.draws.is_some() {
            return strips.iter().filter(|strip| strip.meets_collection).count() as u64;
        }
        strips.iter().map(|strip| strip.end_if_sent_at(self.now + delay_ns)).max().unwrap_or(self.now)
    }

    fn draw<T: Copy>(&mut self, from: &[T]) -> T {
        match &mut self.draws {
            Some(stream) if from.len() > 1 => from[rng::below(stream, from.len() as u64) as usize],
            _ => from[0],
        }
    }

    fn shuffle(&mut self, list: &mut [u32]) {
        let Some(stream) = &mut self.draws else { return };
        for last in (1..list.len()).rev() {
            list.swap(last, rng::below(stream, last as u64 + 1) as usize);
        }
    }
}

fn set_of(roles: &[u32]) -> StripRoles {
    StripRoles(roles.iter().fold(0, |set, role| set | 1 << role))
}

/// Returns the strips that a way reads.
fn strips_of<'a>(part: &'a StripeRead, way: &'a ReadWay) -> impl Iterator<Item = u32> + 'a {
    let StripeRead { shape, lost, wanted, .. } = *part;
    let computes = wanted.iter().any(|column| lost.has(column) || way.replaced.has(column));
    let columns = (0..shape.data_strips).filter(move |&role| !lost.has(role) && !way.replaced.has(role) && (computes || wanted.has(role)));
    columns.chain(way.parity.iter())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: StripeShape = StripeShape { data_strips: 3, parity_strips: 2, rotates_over_members: true };

    fn strips(starts: [u64; 5]) -> [ReadForecast; 5] {
        starts.map(|start| ReadForecast { meets_collection: start > 0, read_begins: start, read_length_ns: 10 })
    }

    /// Returns the replaced columns, the parity strips, and the delay of the way that is chosen for reads of the columns `wanted`.
    fn choose(starts: [u64; 5], wanted: u128, lost: u128, fast_fail_ns: u64) -> (u128, u128, u64) {
        let strips = strips(starts);
        let part = StripeRead { shape: SHAPE, lost: StripRoles(lost), wanted: StripRoles(wanted), strips: &strips };
        let mut sight = ReadPlanner { now: 0, fast_fail_ns, draws: None };
        let way = sight.choose_way(&part, |way| if way.replaced.is_empty() { 1 } else { 4 });
        (way.replaced.0, way.parity.0, way.delay_ns)
    }

    #[test]
    fn the_way_with_the_earliest_end_is_taken() {
        assert_eq!(choose([0, 0, 0, 0, 0], 0b1, 0, 1), (0, 0, 0));
        assert_eq!(choose([100, 0, 0, 0, 0], 0b1, 0, 1), (0b1, 0b1000, 1));
        // P collects for longer than Q.
        assert_eq!(choose([100, 0, 0, 9, 0], 0b1, 0, 1), (0b1, 0b1_0000, 1));
        // A substitute collects, too, but less long.
        assert_eq!(choose([100, 50, 0, 0, 0], 0b1, 0, 1), (0b1, 0b1000, 2));
        assert_eq!(choose([100, 150, 0, 0, 0], 0b1, 0, 1), (0, 0, 0));
        // The refusal takes longer than the rest of collection.
        assert_eq!(choose([100, 0, 0, 0, 0], 0b1, 0, 101), (0, 0, 0));
        // Among ways that end at the same time, the one with fewest reads is taken.
        assert_eq!(choose([100, 100, 0, 0, 0], 0b1, 0, 0), (0, 0, 0));
        // Two columns are replaced, or only the busier one.
        assert_eq!(choose([100, 90, 0, 0, 0], 0b11, 0, 1), (0b11, 0b1_1000, 1));
        assert_eq!(choose([100, 90, 0, 0, 95], 0b11, 0, 1), (0b1, 0b1000, 1));
    }

    #[test]
    fn lost_strips_use_parity_up() {
        assert_eq!(choose([0, 0, 0, 0, 0], 0b1, 0b1, 1), (0, 0b1000, 0));
        assert_eq!(choose([0, 0, 0, 7, 0], 0b1, 0b1, 1), (0, 0b1_0000, 0));
        assert_eq!(choose([0, 80, 0, 0, 0], 0b11, 0b1, 1), (0b10, 0b1_1000, 1));
        assert_eq!(choose([0, 80, 80, 0, 0], 0b111, 0b1, 1), (0, 0b1000, 0));
        assert_eq!(choose([80, 0, 0, 0, 0], 0b1, 0b1_1000, 1), (0, 0, 0));
    }

    #[test]
    fn without_times_fewest_strips_that_collect_are_read() {
        let mut stream = rng::stream(1, "read-plan", 0);
        let mut drawn = [0; 2];
        for _ in 0..100 {
            let strips = strips([100, 0, 0, 9, 0]);
            let part = StripeRead { shape: SHAPE, lost: StripRoles(0), wanted: StripRoles(0b1), strips: &strips };
            let way = ReadPlanner { now: 0, fast_fail_ns: 1, draws: Some(&mut stream) }.choose_way(&part, |_| 1);
            assert_eq!((way.replaced.0, way.parity.0), (0b1, 0b1_0000));
            // With P and Q collecting it is as good to wait.
            let strips = self::strips([100, 0, 0, 9, 9]);
            let part = StripeRead { strips: &strips, ..part };
            let way = ReadPlanner { now: 0, fast_fail_ns: 1, draws: Some(&mut stream) }.choose_way(&part, |_| 1);
            drawn[usize::from(way.replaced.is_empty())] += 1;
        }
        assert!(drawn.iter().all(|&times| times > 30), "{drawn:?}");
    }

    #[test]
    fn the_copy_that_ends_first_is_read_if_all_collect() {
        let copies = |starts: [u64; 5]| ReadPlanner { now: 0, fast_fail_ns: 1, draws: None }.choose_collecting_copy(&strips(starts), 2);
        assert_eq!(copies([50, 40, 30, 20, 10]), 4);
        assert_eq!(copies([7, 7, 7, 7, 7]), 0);
        // The first is read at once.
        assert_eq!(copies([2, 1, 9, 9, 9]), 0);
    }
}
