//! Scheme `windows` (IODA, SOSP 2021): members take turns to collect, by the clock (rules 264 to 266).
//!
//! Nobody sends a message. Each member knows its turn, and so does the host. With the protocol of NVMe, a member may leave its
//! deterministic window between its turns (rules 284 to 289).

use super::predictable_latency::PredictableLatencyWindows;
use super::{
    BlockPoolSizeAndThresholds, CoordinatedArray, CoordinationParams, Cycle, Desk, DutyOf, MemberDuty, MemberEvent, MemberLook,
    PredictableLatencyCounters, PredictableLatencySettings, SHORTEST_CHECK, Scheme, SchemeCounters, time_range_problem,
};
use crate::TimeNs;
use crate::counts::CounterSet;
use crate::policy::ParameterProblem;
use crate::quantity_impls;
use crate::request::OpKind;
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
    /// Protocol of the windows: IODA's, which only follows the clock, or NVMe's predictable latency mode.
    pub protocol: WindowProtocol,
    /// Number of page reads that a deterministic window is good for (DTWIN Reads Typical). If the member gets more, it goes to its
    /// non-deterministic window by itself. `"none"` if there is no limit. Only with `protocol = "nvme"`.
    pub dtwin_reads_typical: StatedCount,
    /// Number of page writes that a deterministic window is good for (DTWIN Writes Typical). If the member gets more, it goes to its
    /// non-deterministic window by itself. `"none"` if there is no limit. Only with `protocol = "nvme"`.
    pub dtwin_writes_typical: StatedCount,
    /// Longest time for which a drive can stay in a deterministic window (DTWIN Time Maximum). After it, the member goes to its
    /// non-deterministic window by itself. `"none"` if there is no limit. Only with `protocol = "nvme"`.
    pub dtwin_time_maximum: StatedTime,
    /// Length of the non-deterministic window that restores all of what a deterministic window is good for (NDWIN Time Minimum High). A
    /// shorter one restores a part, in proportion. `"0s"` if any length restores all. Only with `protocol = "nvme"`.
    pub ndwin_time_minimum_high: Duration,
    /// Shortest time for which a drive stays in its non-deterministic window (NDWIN Time Minimum Low). It is the length of the windows
    /// that a drive begins by itself. It is more than `buffer` and at most `window`. `"none"` if these windows are as long as `window`.
    /// Only with `protocol = "nvme"`.
    pub ndwin_time_minimum_low: StatedTime,
    /// Number of page reads that a deterministic window should have left at its end (DTWIN Reads Threshold). The report counts
    /// the windows that ended with fewer. Only with `dtwin_reads_typical`.
    pub dtwin_reads_threshold: u64,
    /// Number of page writes that a deterministic window should have left at its end (DTWIN Writes Threshold). The report
    /// counts the windows that ended with fewer. Only with `dtwin_writes_typical`.
    pub dtwin_writes_threshold: u64,
    /// Time that a deterministic window should have left at its end (DTWIN Time Threshold). The report counts the windows that
    /// ended with less. Only with `dtwin_time_maximum`.
    pub dtwin_time_threshold: Duration,
    /// State of the scheme `windows` in a run: which member's turn to collect comes next.
    #[serde(skip)]
    pub turns: CollectionTurnState,
}

/// Keys that only the protocol of NVMe has.
const KEYS_OF_NVME: [&str; 8] = [
    "dtwin_reads_typical",
    "dtwin_writes_typical",
    "dtwin_time_maximum",
    "ndwin_time_minimum_high",
    "ndwin_time_minimum_low",
    "dtwin_reads_threshold",
    "dtwin_writes_threshold",
    "dtwin_time_threshold",
];

/// Number of page reads or page writes that a drive states for its deterministic windows, if it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatedCount(
    /// The number, or `None` if the drive states none.
    pub Option<u64>,
);

/// Time that a drive states for its windows, if it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatedTime(
    /// The time, or `None` if the drive states none.
    pub Option<Duration>,
);

quantity_impls!(StatedCount, StatedTime);

impl Quantity for StatedCount {
    const JSON_SCHEMA_FORMAT: &'static str = "stated-count";
    const ALLOWED_VALUES: &'static str = "\"none\", or a whole number";
    const JSON_SCHEMA_PATTERN: &'static str = r"^\s*(none|[0-9]+)\s*$";
    const UNITLESS_RANGE: Option<AllowedUnitlessRange> = Some(AllowedUnitlessRange { min: 0.0, max: 1e15, only_whole_numbers: true });

    fn parse(text: &str) -> Result<Self, UnitError> {
        if text.trim() == "none" {
            return Ok(Self(None));
        }
        let number: f64 = text.trim().parse().map_err(|_| UnitError::new("it is neither \"none\" nor a whole number"))?;
        Self::from_unitless_number(number)
    }

    fn from_unitless_number(number: f64) -> Result<Self, UnitError> {
        if number.fract() == 0.0 && (0.0..=1e15).contains(&number) {
            Ok(Self(Some(number as u64)))
        } else {
            Err(UnitError::new("it is not a whole number from 0 to 10^15"))
        }
    }

    fn to_json(&self) -> serde_json::Value {
        self.0.map_or_else(|| "none".into(), Into::into)
    }
}

impl Quantity for StatedTime {
    const JSON_SCHEMA_FORMAT: &'static str = "stated-time";
    const ALLOWED_VALUES: &'static str = "\"none\", or a duration with a unit, such as \"300ms\"";
    const JSON_SCHEMA_PATTERN: &'static str = r"^\s*(none|[0-9][0-9_]*(\.[0-9]+)?\s*(ns|us|µs|μs|ms|s|min|h|d))\s*$";
    const UNITLESS_RANGE: Option<AllowedUnitlessRange> = None;

    fn parse(text: &str) -> Result<Self, UnitError> {
        if text.trim() == "none" { Ok(Self(None)) } else { Duration::parse(text).map(|time| Self(Some(time))) }
    }

    fn to_json(&self) -> serde_json::Value {
        self.0.map_or_else(|| "none".into(), |time| time.to_json())
    }
}

impl Default for CollectionTimeWindows {
    fn default() -> Self {
        Self {
            window: Duration { ns: 100_000_000 },
            buffer: TurnEndMargin::LongestVictimCollection,
            clean_at: 2.0,
            protocol: WindowProtocol::Ioda,
            dtwin_reads_typical: StatedCount(None),
            dtwin_writes_typical: StatedCount(None),
            dtwin_time_maximum: StatedTime(None),
            ndwin_time_minimum_high: Duration { ns: 0 },
            ndwin_time_minimum_low: StatedTime(None),
            dtwin_reads_threshold: 0,
            dtwin_writes_threshold: 0,
            dtwin_time_threshold: Duration { ns: 0 },
            turns: CollectionTurnState::default(),
        }
    }
}

/// Protocol by which members have windows of time for collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WindowProtocol {
    /// Windows follow the clock. Outside of its turn, a member collects single blocks if it runs short of free ones.
    Ioda,
    /// Windows follow NVMe's predictable latency mode. Outside of its turn, a member is in its deterministic window. It leaves
    /// this window by itself if it gets more requests than promised, if the window lasts too long, or if free blocks run short.
    Nvme,
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

impl CollectionTimeWindows {
    /// Returns the length of the non-deterministic windows that a drive begins by itself.
    pub fn ndwin_time_minimum_low(&self) -> Duration {
        self.ndwin_time_minimum_low.0.unwrap_or(self.window)
    }

    /// Returns what the drive promises in its deterministic windows, with the protocol of NVMe.
    fn predictable_latency(&self, pools: &BlockPoolSizeAndThresholds) -> Option<PredictableLatencySettings> {
        let time = self.dtwin_time_maximum.0.map(|time| time.ns);
        (self.protocol == WindowProtocol::Nvme).then(|| PredictableLatencySettings {
            dtwin_attributes: [self.dtwin_reads_typical.0, self.dtwin_writes_typical.0, time],
            dtwin_thresholds: [self.dtwin_reads_threshold, self.dtwin_writes_threshold, self.dtwin_time_threshold.ns],
            ndwin_time_minimum_high_ns: self.ndwin_time_minimum_high.ns,
            ndwin_time_minimum_low_ns: self.ndwin_time_minimum_low().ns,
            end_margin_ns: self.turn_end_margin_ns(pools),
        })
    }

    /// Returns the problems of the keys that only the protocol of NVMe has. `buffer` is the length of the last part of each turn.
    fn nvme_problems(&self, buffer: Duration) -> Vec<ParameterProblem> {
        let mut problems = Vec::new();
        let low = self.ndwin_time_minimum_low();
        if low > self.window || low <= buffer || low < SHORTEST_CHECK {
            let above = buffer.max(SHORTEST_CHECK);
            let message =
                format!("but more than coordination.buffer ({above}) and at most coordination.window ({}) is allowed", self.window);
            problems.push(ParameterProblem { key: "ndwin_time_minimum_low", message });
        }
        problems.extend(time_range_problem("ndwin_time_minimum_high", self.ndwin_time_minimum_high, Duration { ns: 0 }));
        problems.extend(self.dtwin_time_maximum.0.and_then(|time| time_range_problem("dtwin_time_maximum", time, SHORTEST_CHECK)));
        let mut compare = |key, is_allowed, limit: Option<String>, limit_key| {
            let message = match limit {
                _ if is_allowed => return,
                None => format!("but coordination.{limit_key} is \"none\", so that nothing is left at the end of a window"),
                Some(limit) => format!("but at most coordination.{limit_key} ({limit}) is allowed"),
            };
            problems.push(ParameterProblem { key, message });
        };
        let count = |stated: StatedCount| stated.0.map(|count| count.to_string());
        let (reads, writes, time) = (self.dtwin_reads_typical, self.dtwin_writes_typical, self.dtwin_time_maximum);
        compare("dtwin_reads_threshold", self.dtwin_reads_threshold <= reads.0.unwrap_or(0), count(reads), "dtwin_reads_typical");
        compare("dtwin_writes_threshold", self.dtwin_writes_threshold <= writes.0.unwrap_or(0), count(writes), "dtwin_writes_typical");
        let most = time.0.unwrap_or_default();
        compare("dtwin_time_threshold", self.dtwin_time_threshold <= most, time.0.map(|time| time.to_string()), "dtwin_time_maximum");
        problems
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
        } else {
            problems.extend(self.nvme_problems(buffer));
        }
        problems
    }

    fn parameters_without_effect(&self) -> Vec<(&'static str, &'static str)> {
        match self.protocol {
            WindowProtocol::Nvme => Vec::new(),
            WindowProtocol::Ioda => KEYS_OF_NVME.map(|key| (key, "protocol = \"nvme\"")).into(),
        }
    }

    fn has_turns_by_the_clock(&self) -> bool {
        true
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

    fn predictable_latency(&self) -> Option<PredictableLatencyCounters> {
        (self.protocol == WindowProtocol::Nvme).then(PredictableLatencyCounters::default)
    }

    fn random_for_tests(stream: &mut RandomStream) -> Self {
        // Odd times make it unlikely that turns coincide with other events.
        let window_ns = 1_000_003 << rng::below(stream, 5);
        let buffer_ns = rng::below(stream, 800_000);
        let drawn = |stream: &mut RandomStream, below: u64| (rng::below(stream, 2) == 0).then(|| rng::below(stream, below));
        // Often so few that a window breaks, and sometimes so many that none does.
        let scale = 1 << rng::below(stream, 9);
        let [reads, writes] = [(); 2].map(|()| drawn(stream, scale));
        let time_ns = drawn(stream, 3 * window_ns).map(|ns| ns + 1000);
        let share = |limit: Option<u64>, stream: &mut RandomStream| rng::below(stream, limit.unwrap_or(0) + 1);
        let low_ns = drawn(stream, window_ns - buffer_ns).map(|ns| buffer_ns.max(999) + 1 + ns).map(|ns| ns.min(window_ns));
        let time = |ns: Option<u64>| StatedTime(ns.map(|ns| Duration { ns }));
        Self {
            protocol: if rng::below(stream, 2) == 0 { WindowProtocol::Ioda } else { WindowProtocol::Nvme },
            dtwin_reads_typical: StatedCount(reads),
            dtwin_writes_typical: StatedCount(writes),
            dtwin_time_maximum: time(time_ns),
            dtwin_reads_threshold: share(reads, stream),
            dtwin_writes_threshold: share(writes, stream),
            dtwin_time_threshold: Duration { ns: share(time_ns, stream) },
            ndwin_time_minimum_high: Duration { ns: drawn(stream, 2 * window_ns).unwrap_or(0) },
            ndwin_time_minimum_low: time(low_ns),
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
    /// True from the beginning of a turn to its end. A turn may begin before another one has ended, which is then no end.
    is_open: bool,
    counters: OutOfTurnCollectionCounters,
    /// Windows of NVMe's predictable latency mode, if the member has them (rules 284 to 289).
    windows: Option<Box<PredictableLatencyWindows>>,
}

impl DutyOf<CollectionTimeWindows> for TakesTurns {
    fn new(scheme: &CollectionTimeWindows, _: &CoordinationParams, pools: &BlockPoolSizeAndThresholds) -> Self {
        let (collect_at_free_blocks, counters) = (scheme.collect_at_free_blocks(pools), OutOfTurnCollectionCounters::default());
        let windows = scheme.predictable_latency(pools).map(|settings| Box::new(PredictableLatencyWindows::new(settings)));
        Self { collect_at_free_blocks, begins_cleans_until: 0, ends_at: 0, is_open: false, counters, windows }
    }
}

impl TakesTurns {
    /// Makes the member look when its deterministic window has lasted too long.
    fn watch_time_of_window(&self, desk: &mut Desk) {
        if let Some(at) = self.windows.as_deref().and_then(PredictableLatencyWindows::time_runs_out) {
            desk.check_window_at(at);
        }
    }
}

impl MemberDuty for TakesTurns {
    fn collect_at(&self, now: TimeNs) -> Option<u32> {
        (now < self.begins_cleans_until).then_some(self.collect_at_free_blocks)
    }

    fn takes_turns(&self) -> bool {
        true
    }

    fn joins(&mut self, now: TimeNs, desk: &mut Desk) {
        if let Some(windows) = &mut self.windows {
            windows.begin(now);
        }
        self.watch_time_of_window(desk);
    }

    fn operation_given(&mut self, now: TimeNs, kind: OpKind, desk: &mut Desk) {
        if let Some(windows) = &mut self.windows
            && windows.count_operation(kind)
        {
            desk.check_window_at(now);
        }
    }

    fn needed_collection_began(&mut self, at: TimeNs, desk: &mut Desk) {
        self.counters.broken_contracts += u64::from(at >= self.begins_cleans_until);
        if let Some(windows) = &mut self.windows
            && windows.had_to_collect()
        {
            desk.check_window_at(at);
        }
    }

    fn superblock_opened(&mut self, at: TimeNs, _look: &MemberLook, desk: &mut Desk) {
        desk.check_at_end_of(at);
    }

    fn superblock_freed(&mut self, at: TimeNs, desk: &mut Desk) {
        desk.check_at_end_of(at);
    }

    /// Tells nobody, since nobody waits for the end of work in a turn.
    fn work_ended(&mut self, _at: TimeNs, _drive: Option<&MemberLook>, _desk: &mut Desk) {}

    fn turn_begins(&mut self, now: TimeNs, until: TimeNs, end: TimeNs) {
        (self.begins_cleans_until, self.ends_at, self.is_open) = (until, end, true);
        if let Some(windows) = &mut self.windows {
            windows.ndwin_is_ordered(now);
        }
    }

    fn turn_ends(&mut self, now: TimeNs, desk: &mut Desk) -> bool {
        if !self.is_open || now < self.ends_at {
            return false;
        }
        self.is_open = false;
        if let Some(windows) = &mut self.windows {
            windows.ndwin_ends(now);
        }
        self.watch_time_of_window(desk);
        true
    }

    fn check_window(&mut self, now: TimeNs, desk: &mut Desk) {
        let windows = self.windows.as_mut().filter(|_| !desk.run_is_over);
        if let Some((begin_cleans_until, end)) = windows.and_then(|windows| windows.leave_if_due(now)) {
            desk.report(now, MemberEvent::BeginsNonDeterministicWindow { begin_cleans_until, end });
        }
    }

    fn read_answered(&mut self, given: TimeNs, answered: TimeNs) {
        if let Some(windows) = &mut self.windows {
            windows.count_read(given, answered);
        }
    }

    fn measuring_begins(&mut self) {
        if let Some(windows) = &mut self.windows {
            windows.restart_longest();
        }
    }

    fn predictable_latency(&self) -> Option<PredictableLatencyCounters> {
        self.windows.as_deref().map(PredictableLatencyWindows::counters)
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
