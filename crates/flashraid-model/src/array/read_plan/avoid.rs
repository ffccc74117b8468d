//! `avoid`: reads go round strips that collect, by parity or to another copy (rules 240 to 246).
//!
//! It follows IODA (SOSP 2021). A device that collects where a page is wanted refuses the read at once, and tells for how long.
//! The host then reads the rest of the stripe instead. The functions here choose from what the members tell. They change nothing.

use super::{Part, Plan, ReadAction, ReadPlanCounters};
use crate::TimeNs;
use crate::array::members::Members;
use crate::array::stripe_pages::{StripePages, read_around};
use crate::placement::{StripRoles, StripeShape};
use crate::policy::ParameterProblem;
use crate::rng::{self, RandomStream};
use crate::ssd::ReadForecast;
use crate::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Longest time after which a member may refuse a read.
const REFUSAL_MAX_NS: u64 = 1_000_000_000;

/// Reads go round strips that collect, by parity or to another copy (IODA).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Avoid {
    /// Time that a member takes to refuse a read that would wait for its collection. The host then reads the rest of the stripe, or
    /// another copy, from other members. If one of these is collecting as well, the host loses this time twice. No further read is
    /// refused then: reads wait for collection if they must.
    pub fast_fail: Duration,
    /// Knowledge of the host about which parts of the array collect garbage at the moment: dies or planes, members, or only whose turn
    /// it is. The host uses it to read elsewhere.
    pub knowledge: HostKnowledgeOfCollection,
    /// True to avoid collecting members also in the reads that an array with parity makes before a write. For the new parity, the
    /// array reads either the old data and parity, or the rest of the stripe. With true, it takes whichever of the two is delayed less
    /// by collection.
    pub pre_reads: bool,
    /// Knowledge of the host about how long collection will last.
    pub remaining: HostKnowledgeOfRemainingCollection,
    /// State of the plan in a run: its random draws and its counters.
    #[serde(skip)]
    pub run: AvoidInRun,
}

impl Default for Avoid {
    fn default() -> Self {
        Self {
            fast_fail: Duration { ns: 1000 },
            knowledge: HostKnowledgeOfCollection::Element,
            pre_reads: true,
            remaining: HostKnowledgeOfRemainingCollection::Known,
            run: AvoidInRun::default(),
        }
    }
}

/// Knowledge of the host about collection in the members.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "HostKnowledgeOfGcConfig")]
pub enum HostKnowledgeOfCollection {
    /// The host knows which dies or planes (the parts that a collection blocks) collect now.
    Element,
    /// The host knows which members have a die that collects now, but not which die it is.
    Member,
    /// The host only knows the clock, and so which member has its turn to collect. It avoids this member, even if the member does not
    /// collect, and avoids no other. Requires `coordination.scheme = "windows"`.
    Turn,
}

/// Knowledge of the host about how long collection will last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HostKnowledgeOfRemainingCollection {
    /// Each member, collecting or not, tells the host at what time it would begin a read that is sent now.
    Known,
    /// Members only tell the host that they collect, and not for how long.
    Unknown,
}

/// State of the plan `avoid` in a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AvoidInRun {
    /// Source of draws if the host does not know how long collection lasts.
    draws: Option<RandomStream>,
    counters: PlannedReads,
}

reported_counts! {
    /// Counters of reads with `read.plan = "avoid"`. If garbage is being collected where a wanted strip lies, the array reads the rest
    /// of the stripe or another copy. Reads are counted in *parts*. A read has one part for every stripe that it asks for or, with
    /// mirrors, for every strip (consecutive pages on one member).
    pub struct PlannedReads, "Planned reads" {
        /// Number of parts of reads that met no collection: none of the strips that they wanted was collecting.
        stripe_reads_without_collection as "parts_free", "parts that met no collection";
        /// Number of parts of reads that met collection in exactly one strip of their stripe or, with mirrors, in one copy.
        stripe_reads_with_one_strip_collecting as "parts_one_busy", "with one strip collecting";
        /// Number of parts of reads that met collection in two strips of their stripe or, with mirrors, in two copies.
        stripe_reads_with_two_busy_strips as "parts_two_busy", "with two";
        /// Number of parts of reads that met collection in three or more strips of their stripe or, with mirrors, in as many copies.
        stripe_reads_with_three_or_more_busy_strips as "parts_more_busy", "with more";
        /// Number of parts of reads that avoided a collecting strip: they read the rest of the stripe, or another copy.
        stripe_reads_that_avoided_collection as "avoided", "parts that went round";
        /// Number of pages read in addition so that parts of reads could avoid a collecting strip.
        pages_added_to_read_around as "pages_added", "pages read in addition" in "pages";
        /// Number of parts of reads that waited for collection, because another operation held the lock of their stripe. They could
        /// therefore not avoid the collecting member.
        stripe_reads_locked_out as "locked_out", "parts locked out";
        /// Number of parts of reads that waited for collection in one of their strips, for whatever reason.
        stripe_reads_that_waited as "waited", "parts that waited";
        /// Number of writes that computed parity from other pages than usual, to avoid collection: from the old parity, or from the rest of
        /// the stripe.
        writes_with_switched_parity_method as "writes_changed", "writes that read by the other method";
    }
}

impl PlannedReads {
    /// Counts a part of a read that met collection in `busy` strips or, with mirrors, in `busy` copies.
    fn count_part(&mut self, busy: usize) {
        *match busy {
            0 => &mut self.stripe_reads_without_collection,
            1 => &mut self.stripe_reads_with_one_strip_collecting,
            2 => &mut self.stripe_reads_with_two_busy_strips,
            _ => &mut self.stripe_reads_with_three_or_more_busy_strips,
        } += 1;
    }
}

impl Plan for Avoid {
    fn problems(&self) -> Vec<ParameterProblem> {
        let is_long = self.fast_fail.ns > REFUSAL_MAX_NS;
        is_long.then(|| ParameterProblem { key: "fast_fail", message: "but at most 1s is allowed".to_owned() }).into_iter().collect()
    }

    fn parameter_that_needs_turns(&self) -> Option<&'static str> {
        (self.knowledge == HostKnowledgeOfCollection::Turn).then_some("knowledge")
    }

    fn is_about_collection(&self) -> bool {
        true
    }

    fn begin(&mut self, seed: u64, _members: &mut Members) {
        let draws = (self.remaining == HostKnowledgeOfRemainingCollection::Unknown).then(|| rng::stream(seed, "read-plan", 0));
        self.run = AvoidInRun { draws, counters: PlannedReads::default() };
    }

    fn part_begins(&mut self, part: &mut Part<'_>) -> ReadAction {
        if part.copies.is_empty() { self.choose_way(part) } else { self.choose_copy(part) }
    }

    fn reads_before_write(&mut self, part: &mut Part<'_>, other: &dyn Fn() -> StripePages) -> Option<(StripePages, u64)> {
        if !self.pre_reads {
            return None;
        }
        let first = self.look_at_strips(part);
        if !first.iter().any(|strip| strip.meets_collection) {
            return None;
        }
        let other = other();
        let second = self.look_at_strips(&mut part.asking_for(&other));
        let refuses_again = second.iter().any(|strip| strip.meets_collection);
        let delay_ns = self.fast_fail.ns * if refuses_again { 2 } else { 1 };
        let planner = self.planner(part.now);
        let is_better = planner.rank_reads_before_write(&second, delay_ns) < planner.rank_reads_before_write(&first, 0);
        self.run.counters.writes_with_switched_parity_method += u64::from(is_better);
        is_better.then_some((other, delay_ns))
    }

    fn add_counters(&self, counters: &mut ReadPlanCounters) {
        counters.planned_reads = Some(self.run.counters);
    }
}

/// The way that a part takes.
#[derive(Debug, Clone, Copy, Default)]
struct Chosen {
    way: ReadWay,
    /// Number of wanted columns that collect.
    busy: usize,
    /// Number of pages that it reads beyond those that it would read without a plan.
    pages_added: u32,
}

impl Avoid {
    fn planner(&mut self, now: TimeNs) -> ReadPlanner<'_> {
        ReadPlanner { now, fast_fail_ns: self.fast_fail.ns, draws: self.run.draws.as_mut() }
    }

    /// Returns what the host knows of reads that it has looked at on a member (rule 242).
    fn known(&self, part: &Part<'_>, member: u32, told: ReadForecast) -> ReadForecast {
        let ssd = &part.members.ssds[member as usize];
        let until = match self.knowledge {
            HostKnowledgeOfCollection::Element => return told,
            HostKnowledgeOfCollection::Member => ssd.collects_until(part.now),
            HostKnowledgeOfCollection::Turn => ssd.turn_lasts_until(part.now),
        };
        ReadForecast { meets_collection: until.is_some(), read_begins: told.read_begins.max(until.unwrap_or(0)), ..told }
    }

    fn look_at_strip(&self, part: &mut Part<'_>, role: u32) -> ReadForecast {
        let told = part.look_at_strip(role);
        self.known(part, part.member_of(role), told)
    }

    /// Looks at all strips for which the part asks.
    fn look_at_strips(&self, part: &mut Part<'_>) -> Vec<ReadForecast> {
        part.pages.roles().iter().map(|role| self.look_at_strip(part, role)).collect()
    }

    /// Chooses the way of a part in a stripe with parity. A way that replaces strips needs a share of the lock.
    fn choose_way(&mut self, part: &mut Part<'_>) -> ReadAction {
        let mut chosen = self.look_for_way(part);
        if !chosen.way.replaced.is_empty() && !part.share_lock() {
            self.run.counters.stripe_reads_locked_out += 1;
            chosen = Chosen { busy: chosen.busy, ..Chosen::default() };
        }
        let (way, counters) = (chosen.way, &mut self.run.counters);
        let replaced = way.replaced.iter().count();
        counters.stripe_reads_that_avoided_collection += u64::from(replaced > 0);
        counters.pages_added_to_read_around += u64::from(chosen.pages_added);
        counters.stripe_reads_that_waited += u64::from(chosen.busy > replaced);
        if way == ReadWay::default() {
            return ReadAction::Read;
        }
        ReadAction::ReadAround { replaced: way.replaced, parity: way.parity, after_ns: way.delay_ns }
    }

    /// Looks at the strips of a part, and chooses its way.
    fn look_for_way(&mut self, part: &mut Part<'_>) -> Chosen {
        let (shape, lost, pages) = (part.shape(), part.lost, part.pages);
        let wanted = pages.roles();
        let mut strips = vec![ReadForecast::default(); shape.strips_per_stripe() as usize];
        for role in wanted.iter().filter(|&role| !lost.has(role)) {
            strips[role as usize] = self.look_at_strip(part, role);
        }
        let busy = strips.iter().filter(|strip| strip.meets_collection).count();
        if busy == 0 {
            self.run.counters.count_part(0);
            if wanted.0 & lost.0 == 0 {
                return Chosen::default();
            }
        }
        for role in (0..shape.strips_per_stripe()).filter(|&role| !lost.has(role) && !wanted.has(role)) {
            strips[role as usize] = self.look_at_strip(part, role);
        }
        if busy > 0 {
            self.run.counters.count_part(strips.iter().filter(|strip| strip.meets_collection).count());
        }
        let read = StripeRead { shape, lost, wanted, strips: &strips };
        let way = self.planner(part.now).choose_way(&read, |way| pages_of(&read, way, pages));
        Chosen { way, busy, pages_added: pages_of(&read, &way, pages) - pages_of(&read, &without_plan(&read), pages) }
    }

    /// Chooses the copy of a part (rule 244).
    fn choose_copy(&mut self, part: &mut Part<'_>) -> ReadAction {
        let mut busy = Vec::new();
        let mut free = None;
        for copy in 0..part.copies.len() {
            let told = part.look_at_copy(copy);
            let known = self.known(part, part.copies[copy], told);
            if !known.meets_collection {
                free = Some(copy);
                break;
            }
            busy.push(known);
        }
        let delay_ns = self.fast_fail.ns * if busy.len() > 1 { 2 } else { 1 };
        let copy = free.unwrap_or_else(|| self.planner(part.now).choose_collecting_copy(&busy, delay_ns));
        let counters = &mut self.run.counters;
        counters.count_part(busy.len());
        counters.stripe_reads_that_avoided_collection += u64::from(copy > 0);
        counters.stripe_reads_that_waited += u64::from(free.is_none());
        ReadAction::ReadCopy { copy, after_ns: if copy > 0 { delay_ns } else { 0 } }
    }
}

/// Knowledge and means of the host for one choice.
struct ReadPlanner<'a> {
    now: TimeNs,
    /// Time after which a member refuses a read.
    fast_fail_ns: u64,
    /// Source of draws if the host does not know how long collection lasts.
    draws: Option<&'a mut RandomStream>,
}

/// A part of a read in a stripe with parity.
struct StripeRead<'a> {
    shape: StripeShape,
    lost: StripRoles,
    /// Roles of the columns that are wanted, as bits. They may be lost if parity is left for them.
    wanted: StripRoles,
    /// State of each strip, by role. That of lost strips is not used.
    strips: &'a [ReadForecast],
}

/// Way to read a part of a stripe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct ReadWay {
    /// Columns that are wanted, and computed instead of read.
    replaced: StripRoles,
    /// Parity strips that are read.
    parity: StripRoles,
    /// Time after which the strips that are not wanted are read, in nanoseconds.
    delay_ns: u64,
}

/// Rank of a way; the least one is taken.
type Rank = (TimeNs, u32, usize);

impl ReadPlanner<'_> {
    /// Chooses the way for a part (rule 243). `pages` returns the number of pages that a way reads.
    fn choose_way(&mut self, part: &StripeRead, pages: impl Fn(&ReadWay) -> u32) -> ReadWay {
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
    fn choose_collecting_copy(&mut self, copies: &[ReadForecast], delay_ns: u64) -> usize {
        let all: Vec<usize> = (0..copies.len()).collect();
        if self.draws.is_some() {
            return self.draw(&all);
        }
        let end = |at: &usize| copies[*at].end_if_sent_at(if *at == 0 { self.now } else { self.now + delay_ns });
        all.into_iter().min_by_key(end).expect("a copy is left")
    }

    /// Ranks the reads before a write by the strips that they read: by their estimated end, or by the number of those that collect.
    fn rank_reads_before_write(&self, strips: &[ReadForecast], delay_ns: u64) -> u64 {
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

/// Returns the way that goes round lost strips only.
fn without_plan(part: &StripeRead) -> ReadWay {
    let StripeRead { shape, lost, wanted, .. } = *part;
    let needed = if wanted.0 & lost.0 == 0 { 0 } else { lost.count_data_strips(shape) as usize };
    let parity: Vec<u32> = lost.parity_left(shape).take(needed).collect();
    ReadWay { parity: set_of(&parity), ..ReadWay::default() }
}

/// Returns the number of pages that a way reads for a part that asks for `pages`.
fn pages_of(part: &StripeRead, way: &ReadWay, pages: &StripePages) -> u32 {
    let mut reads = pages.clone();
    read_around(part.shape, StripRoles(part.lost.0 | way.replaced.0), way.parity, &mut reads);
    reads.page_count()
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
