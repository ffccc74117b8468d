//! Scheme `rotate`: members collect one at a time, and the turn goes round among those that have few free blocks (rules 290 to 292).
//!
//! TTFLASH (FAST 2017) lets the planes over which its parity lies collect in rotation, one at a time. Parity then always leads round the
//! busy one. Here members take the place of planes. Unlike in `windows`, a turn lasts as long as its work, and no member without work
//! has one. Unlike in `stagger`, no member is denied.

use super::{
    BlockPoolSizeAndThresholds, CoordinationParams, Cycle, Desk, DutyOf, MemberDuty, MemberLook, NEVER, Scheme, SchemeCounters,
    ToController, time_range_problem,
};
use crate::TimeNs;
use crate::ids::MemberSet;
use crate::policy::ParameterProblem;
use crate::rng::{self, RandomStream};
use crate::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Members collect one at a time. The turn goes round among those that have few free blocks (see `ask_at`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RotatingCollection {
    /// Factor for the threshold at which a member registers for a turn to collect. The threshold is the start threshold of collection
    /// times this factor, rounded up to whole free blocks. The member registers when one of its pools of blocks has so few free blocks, or
    /// fewer.
    #[schemars(range(min = 1.0, max = 100.0))]
    pub ask_at: f64,
    /// Time after the end of a turn in which no other turn begins.
    pub pause: Duration,
    /// State of the scheme `rotate` in a run: the members that wait for their turns.
    #[serde(skip)]
    pub rotation: Rotation,
}

impl Default for RotatingCollection {
    fn default() -> Self {
        Self { ask_at: 1.4, pause: Duration { ns: 0 }, rotation: Rotation::default() }
    }
}

/// State of the rotation, as the controller knows it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Rotation {
    /// Time at which the next turn is given, if a member waits and none has its turn.
    due: Option<TimeNs>,
    /// Member that had the last turn.
    last: Option<u32>,
    /// End of the last turn.
    ended_at: Option<TimeNs>,
    /// Members that wait for a turn, each with the time since which it has waited.
    waiting: BTreeMap<u32, TimeNs>,
    counters: RotationCounters,
}

impl Scheme for RotatingCollection {
    type Duty = AwaitsTurn;

    fn forces_members_to_collect_together(&self) -> bool {
        false
    }

    fn problems(&self, _: &BlockPoolSizeAndThresholds) -> Vec<ParameterProblem> {
        let is_allowed = (1.0..=100.0).contains(&self.ask_at);
        let factor = (!is_allowed).then(|| ParameterProblem { key: "ask_at", message: "but 1 to 100 is allowed".into() });
        factor.into_iter().chain(time_range_problem("pause", self.pause, Duration { ns: 0 })).collect()
    }

    fn receive(&mut self, now: TimeNs, from: u32, message: ToController, cycle: &mut Cycle) {
        let rotation = &mut self.rotation;
        match message {
            ToController::RegisterForCycle => drop(rotation.waiting.entry(from).or_insert(now)),
            ToController::GcDone => rotation.ended_at = Some(now),
            _ => {}
        }
        cycle.receive(now, from, message);
        if cycle.collecting().is_empty() && !rotation.waiting.is_empty() {
            rotation.due = Some(rotation.ended_at.map_or(now, |ended| now.max(ended + self.pause.ns)));
        }
    }

    fn next_tick(&self) -> TimeNs {
        self.rotation.due.unwrap_or(NEVER)
    }

    /// Gives the turn to the next member that waits, in the order of their numbers.
    fn tick(&mut self, now: TimeNs, cycle: &mut Cycle) {
        let Rotation { due, last, waiting, counters, .. } = &mut self.rotation;
        *due = None;
        let first_after = last.map_or(0, |last| last + 1);
        let next = waiting.range(first_after..).chain(&*waiting).next().map(|(&member, &since)| (member, since));
        if let Some((member, since)) = next {
            waiting.remove(&member);
            *last = Some(member);
            counters.turns += 1;
            counters.waited_ns += now - since;
            cycle.force(MemberSet::single(member));
        }
    }

    fn acts_after_requests(&self) -> bool {
        true
    }

    fn forget(&mut self, member: u32) {
        self.rotation.waiting.remove(&member);
    }

    fn add_counters(&self, counters: &mut SchemeCounters) {
        counters.rotation = Some(self.rotation.counters);
    }

    fn random_for_tests(stream: &mut RandomStream) -> Self {
        Self {
            ask_at: 1.0 + rng::below(stream, 30) as f64 / 10.0,
            // An odd time makes it unlikely that its end coincides with other events.
            pause: Duration { ns: if rng::below(stream, 2) > 0 { 0 } else { 50_023 << rng::below(stream, 7) } },
            rotation: Rotation::default(),
        }
    }
}

/// Duty of a member that registers for a turn to collect, and waits for it as long as it can.
#[derive(Debug, Clone)]
pub(crate) struct AwaitsTurn {
    ask_at_free_blocks: u32,
    /// True from the member's registration until its turn begins.
    is_registered: bool,
    /// End of its last turn.
    turn_ended_at: TimeNs,
    cleans_out_of_turn: u64,
}

impl DutyOf<RotatingCollection> for AwaitsTurn {
    fn new(scheme: &RotatingCollection, _: &CoordinationParams, pools: &BlockPoolSizeAndThresholds) -> Self {
        let ask_at_free_blocks = pools.times_start(scheme.ask_at);
        Self { ask_at_free_blocks, is_registered: false, turn_ended_at: NEVER, cleans_out_of_turn: 0 }
    }
}

impl MemberDuty for AwaitsTurn {
    fn work_free_blocks(&self) -> Option<u32> {
        Some(self.ask_at_free_blocks)
    }

    fn reacts_to_writes(&self) -> bool {
        !self.is_registered
    }

    fn host_write_began(&mut self, at: TimeNs, free_blocks: u32, _is_at_limit: bool, desk: &mut Desk) {
        if !self.is_registered && free_blocks <= self.ask_at_free_blocks {
            self.is_registered = true;
            desk.send(at, ToController::RegisterForCycle);
        }
    }

    fn superblock_opened(&mut self, at: TimeNs, look: &MemberLook, desk: &mut Desk) {
        self.host_write_began(at, look.least_free_blocks, look.is_at_floor, desk);
    }

    /// Counts what begins outside of turns. At the nanosecond at which a turn ends, what begins may come before or after the end.
    fn needed_collection_began(&mut self, at: TimeNs, desk: &mut Desk) {
        self.cleans_out_of_turn += u64::from(!desk.has_work && at != self.turn_ended_at);
    }

    fn work_begins(&mut self) {
        self.is_registered = false;
    }

    fn work_ended(&mut self, at: TimeNs, _drive: Option<&MemberLook>, desk: &mut Desk) {
        self.turn_ended_at = at;
        desk.send(at, ToController::GcDone);
    }

    fn add_counters(&self, counters: &mut SchemeCounters) {
        counters.rotation.get_or_insert_default().cleans_out_of_turn += self.cleans_out_of_turn;
    }
}

reported_counts! {
    /// Counts of turns to collect with `coordination.scheme = "rotate"`, in which one member collects at a time.
    pub struct RotationCounters, "Rotating collection" {
        /// Number of turns to collect that the controller has given to members.
        turns as "turns", "turns to collect";
        /// Total time from the controller's receipt of a member's registration until it gave the member a turn to collect, in milliseconds.
        waited_ns as "waited_ms", "wait for turns to collect";
        /// Number of victim blocks whose collection began outside of a turn of their member. A pool of blocks had come down to
        /// `ssd.gc.start` free blocks. A drive with superblocks instead counts how often it began to collect outside of its turns, because
        /// it had come down to `ssd.superblock.floor` free superblocks.
        cleans_out_of_turn as "cleans_out_of_turn", "cleans out of turn";
    }
}
