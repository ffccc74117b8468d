//! Scheme `windows` (IODA, SOSP 2021): members take turns to collect, by the clock (rules 264 to 266).
//!
//! Nobody sends a message. Each member knows its turn, and so does the host.

use super::{BlockPoolSizeAndThresholds, CollectionTurnSettings, CoordinatedArray, Cycle, SHORTEST_CHECK, Scheme, time_range_problem};
use crate::TimeNs;
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

    fn turn_settings(&self, pools: &BlockPoolSizeAndThresholds) -> Option<CollectionTurnSettings> {
        Some(CollectionTurnSettings { collect_at_free_blocks: pools.times_start(self.clean_at) })
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
        cycle.begin_turn(member, now + self.window.ns - turns.buffer_ns, now + self.window.ns);
    }

    fn replace(&mut self, failed: u32, spare: u32) {
        self.turns.replaced.push((failed, spare));
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
