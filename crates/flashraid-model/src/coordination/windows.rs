//! Scheme `windows` (IODA, SOSP 2021): members take turns to collect, by the clock (rules 264 to 266).
//!
//! Nobody sends a message. Each member knows its turn, and so does the host.

use super::{CoordinatedArray, Cycle, PoolSizes, SHORTEST_CHECK, Scheme, TurnRole, time_range_problem};
use crate::TimeNs;
use crate::policy::ParameterProblem;
use crate::quantity_impls;
use crate::rng::{self, Stream};
use crate::units::{Duration, NumberRange, Quantity, UnitError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Members take turns to collect, by the clock.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Windows {
    /// Length of a member's turn: the window of time in which this member may collect, and the others only if they must.
    pub window: Duration,
    /// Length of the last part of each turn, in which the member does not begin to collect another block. It leaves time for
    /// collection to end within the turn. `"longest-clean"` stands for the time that the collection of a block takes with all pages
    /// but one to move. For a drive with superblocks, it stands for the time of an erase and a program.
    pub buffer: TurnBuffer,
    /// Number of free blocks in a pool of blocks at or below which its blocks are collected in the member's turn to collect. It is
    /// written as a factor, by which the start threshold of collection is multiplied. The product is rounded up. A turn is the window
    /// of time in which this member may collect, and the others only if they must.
    #[schemars(range(min = 1.0, max = 100.0))]
    pub clean_at: f64,
    /// State of the scheme in a run: which member's turn to collect comes next.
    #[serde(skip)]
    pub turns: Turns,
}

impl Default for Windows {
    fn default() -> Self {
        Self { window: Duration { ns: 100_000_000 }, buffer: TurnBuffer::LongestClean, clean_at: 2.0, turns: Turns::default() }
    }
}

/// Length of the last part of each turn, in which the member does not begin to collect another block. A turn is the window of time in
/// which this member may collect, and the others only if they must.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnBuffer {
    /// A member begins to collect no further block in the last part of its turn (the window of time in which it may collect). That part
    /// is as long as the collection of a block with all pages but one to move. For drives with superblocks, it is as long as an erase
    /// and a program.
    LongestClean,
    /// A member begins to collect no further block in the last part of its turn (the window of time in which it may collect). That part
    /// has this fixed length.
    Time(Duration),
}

quantity_impls!(TurnBuffer);

impl Quantity for TurnBuffer {
    const NAME: &'static str = "turn-buffer";
    const ALLOWED_TEXT: &'static str = "\"longest-clean\", or a duration with a unit, such as \"50ms\"";
    const PATTERN: &'static str = r"^\s*(longest-clean|[0-9][0-9_]*(\.[0-9]+)?\s*(ns|us|µs|μs|ms|s|min|h|d))\s*$";
    const ALLOWED_NUMBERS: Option<NumberRange> = None;

    fn parse(text: &str) -> Result<Self, UnitError> {
        if text.trim() == "longest-clean" { Ok(Self::LongestClean) } else { Duration::parse(text).map(Self::Time) }
    }

    fn to_json(&self) -> serde_json::Value {
        match self {
            Self::LongestClean => "longest-clean".into(),
            Self::Time(time) => time.to_json(),
        }
    }
}

/// State of the members' turns to collect: the number of the next turn, and the spares that have taken over turns of failed members.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Turns {
    members: u32,
    buffer_ns: u64,
    /// Number of the next turn.
    next: u64,
    /// Failed members, each with its spare.
    replaced: Vec<(u32, u32)>,
}

impl Windows {
    /// Returns the length of the last part of each turn, in which the member does not begin to collect another block, in nanoseconds.
    /// A turn is the window of time in which this member may collect, and the others only if they must.
    pub fn buffer_ns(&self, pools: &PoolSizes) -> u64 {
        match self.buffer {
            TurnBuffer::LongestClean => pools.longest_clean_ns,
            TurnBuffer::Time(time) => time.ns,
        }
    }
}

impl Scheme for Windows {
    fn has_cycles(&self) -> bool {
        false
    }

    fn problems(&self, pools: &PoolSizes) -> Vec<ParameterProblem> {
        let mut problems: Vec<_> = time_range_problem("window", self.window, SHORTEST_CHECK).into_iter().collect();
        if !(1.0..=100.0).contains(&self.clean_at) {
            problems.push(ParameterProblem { key: "clean_at", message: "but 1 to 100 is allowed".into() });
        }
        let buffer = Duration { ns: self.buffer_ns(pools) };
        if buffer >= self.window {
            let message = format!("which comes to {buffer}, but less than coordination.window ({}) is allowed", self.window);
            problems.push(ParameterProblem { key: "buffer", message });
        }
        problems
    }

    fn turn(&self, pools: &PoolSizes) -> Option<TurnRole> {
        Some(TurnRole { collect_at_free_blocks: pools.times_start(self.clean_at) })
    }

    fn begin(&mut self, array: &CoordinatedArray) {
        self.turns = Turns { members: array.members, buffer_ns: self.buffer_ns(&array.pools), next: 0, replaced: Vec::new() };
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

    fn random_for_tests(stream: &mut Stream) -> Self {
        // Odd times make it unlikely that turns coincide with other events.
        let window_ns = 1_000_003 << rng::below(stream, 5);
        let buffer_ns = rng::below(stream, 800_000);
        Self {
            window: Duration { ns: window_ns },
            buffer: TurnBuffer::Time(Duration { ns: buffer_ns }),
            clean_at: 1.0 + rng::below(stream, 30) as f64 / 10.0,
            turns: Turns::default(),
        }
    }
}
