//! Scheme `windows` (IODA, SOSP 2021): members take turns to collect, by the clock (rules 264 to 266).
//!
//! Nobody sends a message. Each member knows its turn, and so does the host.

use super::{
    BlockPoolSizeAndThresholds, CoordinatedArray, CoordinationParams, Cycle, Desk, DutyOf, MemberDuty, MemberLook, SHORTEST_CHECK, Scheme,
    SchemeCounters, time_range_problem,
};
use crate::TimeNs;
use crate::counts::CounterSet;
use crate::policy::ParameterProblem;
use crate::quantity_impls;
use crate::rng::{self, RandomStream};
use crate::units::{AllowedUnitlessRange, Duration, Quantity, UnitError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Members take turns to collect, by the clock.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CollectionTimeWindows {
    /// Length of a member's turn: the window of time in which this member may collect. The others collect in this time only if they run
    /// short of free blocks.
    pub window: Duration,
    /// Length of the last part of each turn, in which the member begins to collect no further block. A collection in progress can then
    /// end within the turn. `"longest-clean"` stands for the longest time that the collection of one block can take: all its pages but
    /// one are moved.
    ///
    /// A drive with superblocks stops collecting when this part begins. `"longest-clean"` then stands for the time of an erase and a
    /// program, which may still be in progress.
    pub buffer: TurnEndMargin,
    /// Factor for the threshold at which a member collects in its turn (the window of time in which it may collect). The threshold is
    /// the start threshold of collection times this factor, rounded up to whole free blocks. Blocks of a pool are collected in the turn
    /// when the pool has so few free blocks, or fewer. Outside its turn, a member collects only if it runs short of free blocks.
    #[schemars(range(min = 1.0, max = 100.0))]
    pub clean_at: f64,
    /// State of the scheme `windows` in a run: which member's turn to collect comes next.
    #[serde(skip)]
    pub turns: CollectionTurnState,
}

impl Default for CollectionTimeWindows {
    fn default() -> Self {
        Self {
            window: Duration { ns: 100_000_000 },
            buffer: TurnEndMargin::LongestVictimCollection,
            clean_at: 2.0,
            turns: CollectionTurnState::default(),
        }
    }
}

/// Length of the last part of each turn, in which the member does not begin to collect another block. A turn is the window of time in
/// which this member may collect. The others collect in this time only if they run short of free blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnEndMargin {
    /// Makes the last part of a turn as long as the longest collection of one block, which moves all pages of the block but one. In
    /// this part, a member begins to collect no further block.
    ///
    /// A drive with superblocks can stop in the middle of a collection, and does so when this part begins. An erase or a program may still
    /// be in progress then. Therefore, the part is only as long as an erase and a program there.
    LongestVictimCollection,
    /// Makes the last part of a turn (the window of time in which a member may collect) this long. In this part, the member begins to
    /// collect no further block.
    Time(Duration),
}

quantity_impls!(TurnEndMargin);

impl Quantity for TurnEndMargin {
    const JSON_SCHEMA_FORMAT: &'static str = "turn-buffer";
    const ALLOWED_VALUES: &'static str = "\"longest-clean\", or a duration with a unit, such as \"50ms\"";
    const JSON_SCHEMA_PATTERN: &'static str = r"^\s*(longest-clean|[0-9][0-9_]*(\.[0-9]+)?\s*(ns|us|µs|μs|ms|s|min|h|d))\s*$";
    const UNITLESS_RANGE: Option<AllowedUnitlessRange> = None;

    fn parse(text: &str) -> Result<Self, UnitError> {
        if text.trim() == "longest-clean" { Ok(Self::LongestVictimCollection) } else { Duration::parse(text).map(Self::Time) }
    }

    fn to_json(&self) -> serde_json::Value {
        match self {
            Self::LongestVictimCollection => "longest-clean".into(),
            Self::Time(time) => time.to_json(),
        }
    }
}

/// State of the members' turns to collect: the number of the next turn, and the spares that have taken over turns of failed members.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CollectionTurnState {
    members: u32,
    buffer_ns: u64,
    /// Number of the next turn.
    next: u64,
    /// Failed members, each with its spare.
    replaced: Vec<(u32, u32)>,
}

impl CollectionTimeWindows {
    /// Returns the number of free blocks at or below which blocks of a pool are collected in the member's turn.
    pub fn collect_at_free_blocks(&self, pools: &BlockPoolSizeAndThresholds) -> u32 {
        pools.times_start(self.clean_at)
    }

    /// Returns the length of the last part of each turn, in which the member does not begin to collect another block, in nanoseconds. A
    /// turn is the window of time in which this member may collect. The others collect in this time only if they run short of free
    /// blocks.
    pub fn turn_end_margin_ns(&self, pools: &BlockPoolSizeAndThresholds) -> u64 {
        match self.buffer {
            TurnEndMargin::LongestVictimCollection => pools.longest_victim_collection_ns,
            TurnEndMargin::Time(time) => time.ns,
        }
    }
}

impl Scheme for CollectionTimeWindows {
    type Duty = TakesTurns;

    fn forces_members_to_collect_together(&self) -> bool {
        false
    }

    fn problems(&self, pools: &BlockPoolSizeAndThresholds) -> Vec<ParameterProblem> {
        let mut problems: Vec<_> = time_range_problem("window", self.window, SHORTEST_CHECK).into_iter().collect();
        if !(1.0..=100.0).contains(&self.clean_at) {
            problems.push(ParameterProblem { key: "clean_at", message: "but 1 to 100 is allowed".into() });
        }
        let buffer = Duration { ns: self.turn_end_margin_ns(pools) };
        if buffer >= self.window {
            let message = format!("which comes to {buffer}, but less than coordination.window ({}) is allowed", self.window);
            problems.push(ParameterProblem { key: "buffer", message });
        }
        problems
    }

    fn begin(&mut self, array: &CoordinatedArray) {
        self.turns =
            CollectionTurnState { members: array.members, buffer_ns: self.turn_end_margin_ns(&array.pools), next: 0, replaced: Vec::new() };
    }

    fn next_tick(&self) -> TimeNs {
        self.turns.next.saturating_mul(self.window.ns)
    }

    /// Begins the next turn.
    fn tick(&mut self, now: TimeNs, cycle: &mut Cycle) {
        let turns = &mut self.turns;
        let mut member = (turns.next % u64::from(turns.members)) as u32;
        while let Some((_, spare)) = turns.replaced.iter().find(|(failed, _)| *failed == member) {
            member = *spare;
        }
        turns.next += 1;
        cycle.begin_turn(now, member, now + self.window.ns - turns.buffer_ns, now + self.window.ns);
    }

    fn replace(&mut self, failed: u32, spare: u32) {
        self.turns.replaced.push((failed, spare));
    }

    fn add_counters(&self, counters: &mut SchemeCounters) {
        counters.turns = Some(OutOfTurnCollectionCounters::default());
    }

    fn random_for_tests(stream: &mut RandomStream) -> Self {
        // Odd times make it unlikely that turns coincide with other events.
        let window_ns = 1_000_003 << rng::below(stream, 5);
        let buffer_ns = rng::below(stream, 800_000);
        Self {
            window: Duration { ns: window_ns },
            buffer: TurnEndMargin::Time(Duration { ns: buffer_ns }),
            clean_at: 1.0 + rng::below(stream, 30) as f64 / 10.0,
            turns: CollectionTurnState::default(),
        }
    }
}

/// Duty of a member that collects when it is its turn (rules 264 to 266).
#[derive(Debug, Clone)]
pub(crate) struct TakesTurns {
    /// Number of free blocks at or below which blocks of a pool are collected in the member's turn.
    collect_at_free_blocks: u32,
    /// Time before which cleans may begin in the member's turn. It is in the past outside of a turn.
    begins_cleans_until: TimeNs,
    /// End of the member's last turn so far.
    ends_at: TimeNs,
    counters: OutOfTurnCollectionCounters,
}

impl DutyOf<CollectionTimeWindows> for TakesTurns {
    fn new(scheme: &CollectionTimeWindows, _: &CoordinationParams, pools: &BlockPoolSizeAndThresholds) -> Self {
        let (collect_at_free_blocks, counters) = (scheme.collect_at_free_blocks(pools), OutOfTurnCollectionCounters::default());
        Self { collect_at_free_blocks, begins_cleans_until: 0, ends_at: 0, counters }
    }
}

impl MemberDuty for TakesTurns {
    fn collect_at(&self, now: TimeNs) -> Option<u32> {
        (now < self.begins_cleans_until).then_some(self.collect_at_free_blocks)
    }

    fn takes_turns(&self) -> bool {
        true
    }

    fn needed_collection_began(&mut self, at: TimeNs, _desk: &mut Desk) {
        self.counters.broken_contracts += u64::from(at >= self.begins_cleans_until);
    }

    fn superblock_opened(&mut self, at: TimeNs, _look: &MemberLook, desk: &mut Desk) {
        desk.check_at_end_of(at);
    }

    fn superblock_freed(&mut self, at: TimeNs, desk: &mut Desk) {
        desk.check_at_end_of(at);
    }

    /// Tells nobody, since nobody waits for the end of work in a turn.
    fn work_ended(&mut self, _at: TimeNs, _drive: Option<&MemberLook>, _desk: &mut Desk) {}

    fn turn_begins(&mut self, until: TimeNs, end: TimeNs) {
        (self.begins_cleans_until, self.ends_at) = (until, end);
    }

    fn turn_lasts_until(&self, now: TimeNs) -> Option<TimeNs> {
        (now < self.ends_at).then_some(self.ends_at)
    }

    fn collection_overran(&mut self) {
        self.counters.overruns += 1;
    }

    fn add_counters(&self, counters: &mut SchemeCounters) {
        counters.turns = Some(counters.turns.unwrap_or_default().plus(self.counters));
    }
}

reported_counts! {
    /// Counts of garbage collection outside of a member's turn, the window of time in which only this member may collect
    /// (`coordination.scheme = "windows"`).
    pub struct OutOfTurnCollectionCounters, "Turns to collect" {
        /// Number of victim blocks whose collection began outside of the member's turn, because a pool of blocks had come down to
        /// `ssd.gc.start` free blocks. A drive with superblocks instead counts how often it began to collect outside of its turn, because
        /// it had come down to `ssd.superblock.floor` free superblocks.
        broken_contracts as "broken_contracts", "cleans outside of turns";
        /// Number of turns at whose end garbage collection that had begun in the turn was still in progress. In a turn, only one
        /// member may collect.
        overruns as "overruns", "turns that collection overran";
    }
}
