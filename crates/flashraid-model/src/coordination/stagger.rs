//! Scheme `stagger`: a member asks for leave before it collects (rules 260 to 263). Only few members of a mirror set or array have leave at
//! a time.
//!
//! It is the opposite of the schemes of GGC. While some members collect, the others serve reads at once.
//!
//! RackBlox (SOSP 2023) has a network switch give leave to one of two copies. The thresholds are in proportion to those of its artifact.

use super::{CoordinatedArray, Cycle, ForcedWork, LeaveRole, NEVER, PoolSizes, Scheme, ToController, ToMember, time_range_problem};
use crate::TimeNs;
use crate::ids::MemberSet;
use crate::policy::ParameterProblem;
use crate::quantity_impls;
use crate::rng::{self, Stream};
use crate::units::{Duration, NumberRange, Quantity, UnitError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Members ask before they collect. Only a few of them may collect at a time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Stagger {
    /// Number of members of a scope that may collect at a time. `"parity"` stands for as many as there are parity strips in a stripe, but
    /// at least one.
    pub together: Together,
    /// Members among which so many may collect at a time.
    pub scope: LeaveScope,
    /// Number of free blocks in a pool at or below which its member asks, as a multiple of the start of collection. It is rounded up.
    #[schemars(range(min = 1.0, max = 100.0))]
    pub ask_at: f64,
    /// Number of free blocks at or below which a member that gets few operations collects unasked, as a multiple of the start of
    /// collection. It is rounded up.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub idle_at: f64,
    /// Mean time between the operations of a member above which it gets few. Each new time weighs as much as all earlier ones.
    pub idle_gap: Duration,
    /// Time after which a member that was denied asks again.
    pub retry: Duration,
    /// Time from the end of collection of a scope until the next member may begin. It makes members take turns like a token that rests.
    pub pause: Duration,
    /// Members that collect, and members that ask.
    #[serde(skip)]
    pub leaves: Leaves,
}

impl Default for Stagger {
    fn default() -> Self {
        Self {
            together: Together::AsParity,
            scope: LeaveScope::MirrorSet,
            ask_at: 1.4,
            idle_at: 2.2,
            idle_gap: Duration { ns: 30_000_000 },
            retry: Duration { ns: 1_000_000 },
            pause: Duration { ns: 0 },
            leaves: Leaves::default(),
        }
    }
}

/// Number of members of a scope that may collect at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Together {
    /// The number of parity strips in a stripe, but at least one.
    AsParity,
    /// This number, from 1 to 128.
    Members(u32),
}

quantity_impls!(Together);

impl Quantity for Together {
    const NAME: &'static str = "members-together";
    const ALLOWED_TEXT: &'static str = "\"parity\", or a number of members from 1 to 128";
    const PATTERN: &'static str = r"^\s*(parity|[0-9]+)\s*$";
    const ALLOWED_NUMBERS: Option<NumberRange> = Some(NumberRange { min: 1.0, max: 128.0, only_whole_numbers: true });

    fn parse(text: &str) -> Result<Self, UnitError> {
        if text.trim() == "parity" {
            return Ok(Self::AsParity);
        }
        let number: f64 = text.trim().parse().map_err(|_| UnitError::new("it is neither \"parity\" nor a whole number"))?;
        Self::from_number(number)
    }

    fn from_number(number: f64) -> Result<Self, UnitError> {
        if number.fract() == 0.0 && (1.0..=128.0).contains(&number) {
            Ok(Self::Members(number as u32))
        } else {
            Err(UnitError::new("it is not a whole number from 1 to 128"))
        }
    }

    fn to_json(&self) -> serde_json::Value {
        match self {
            Self::AsParity => "parity".into(),
            Self::Members(members) => (*members).into(),
        }
    }
}

impl Together {
    /// Returns the number of members for an array with so many parity strips in a stripe.
    pub fn members(self, parity_strips: u32) -> u32 {
        match self {
            Self::AsParity => parity_strips.max(1),
            Self::Members(members) => members,
        }
    }
}

/// Members among which only few may collect at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LeaveScope {
    /// The members that hold copies of the same pages; all members if no page has copies.
    MirrorSet,
    /// All members of the array.
    Array,
}

/// Members that collect, and members that ask.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Leaves {
    /// Number of members in a scope; scopes are consecutive members.
    scope_members: u32,
    /// Number of members of each scope that may collect at a time.
    together: Vec<u32>,
    /// Each spare with the failed member whose place it has taken.
    places: Vec<(u32, u32)>,
    granted: MemberSet,
    /// Number of members' collections without leave that have been announced and not ended. Messages may overtake each other.
    unasked: Vec<i32>,
    /// Time of the last grant to each member.
    last_grant: Vec<Option<TimeNs>>,
    /// Last time at which a member of each scope ended collection.
    last_end: Vec<Option<TimeNs>>,
    /// Members that ask at this nanosecond, with their free blocks.
    asking: Vec<(u32, u32)>,
    asked_at: TimeNs,
    draws: Option<Stream>,
}

impl Leaves {
    /// Returns the scope of a member. A spare has that of the member that it replaces.
    fn scope(&self, member: u32) -> usize {
        (self.place(member) / self.scope_members) as usize
    }

    /// Returns the member whose place a member has taken, or the member itself.
    fn place(&self, member: u32) -> u32 {
        self.places.iter().find(|(spare, _)| *spare == member).map_or(member, |(_, place)| *place)
    }

    fn collects(&self, member: u32) -> bool {
        self.granted.contains(member) || self.unasked[member as usize] > 0
    }

    /// Returns the number of other members of the scope that collect.
    fn others_collecting(&self, member: u32) -> u32 {
        let scope = self.scope(member);
        (0..self.unasked.len() as u32).filter(|&other| other != member && self.scope(other) == scope && self.collects(other)).count() as u32
    }

    /// Makes room for the state of a member.
    fn know(&mut self, member: u32) {
        let members = self.unasked.len().max(member as usize + 1);
        self.unasked.resize(members, 0);
        self.last_grant.resize(members, None);
        let scopes = self.scope(member) + 1;
        let together = self.together[0];
        if scopes > self.together.len() {
            self.together.resize(scopes, together);
        }
        if scopes > self.last_end.len() {
            self.last_end.resize(scopes, None);
        }
    }

    /// Records that a member may have ended its collection.
    fn ends(&mut self, now: TimeNs, member: u32) {
        let scope = self.scope(member);
        if !self.collects(member) {
            self.last_end[scope] = Some(now);
        }
    }

    /// Sorts the members that ask: those with the fewest free blocks first, then those without leave for longest, then by a draw.
    fn order_asking(&mut self) {
        let Self { asking, last_grant, draws, .. } = self;
        let key = |&(member, free_blocks): &(u32, u32)| (free_blocks, last_grant[member as usize]);
        // The number of the member comes last, so that draws do not depend on the order in which members ask within a nanosecond.
        asking.sort_by_key(|one| (key(one), one.0));
        let draws = draws.as_mut().expect("the run has begun");
        let mut from = 0;
        while from < asking.len() {
            let equal = asking[from..].iter().take_while(|&one| key(one) == key(&asking[from])).count();
            for last in (1..equal).rev() {
                asking.swap(from + last, from + rng::below(draws, last as u64 + 1) as usize);
            }
            from += equal;
        }
    }
}

impl Scheme for Stagger {
    fn has_cycles(&self) -> bool {
        false
    }

    fn problems(&self, _: &PoolSizes) -> Vec<ParameterProblem> {
        let none = Duration { ns: 0 };
        let factor = |key, value: f64, min: f64| {
            let message = format!("but {min} to 100 is allowed");
            (!(min..=100.0).contains(&value)).then_some(ParameterProblem { key, message })
        };
        [
            factor("ask_at", self.ask_at, 1.0),
            factor("idle_at", self.idle_at, 0.0),
            time_range_problem("idle_gap", self.idle_gap, none),
            time_range_problem("retry", self.retry, Duration { ns: 1_000 }),
            time_range_problem("pause", self.pause, none),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn leave(&self, pools: &PoolSizes, work: ForcedWork) -> Option<LeaveRole> {
        Some(LeaveRole {
            ask_free_blocks: pools.times_start(self.ask_at),
            idle_free_blocks: pools.times_start(self.idle_at),
            idle_gap_ns: self.idle_gap.ns,
            retry_ns: self.retry.ns,
            idle_work: work,
        })
    }

    fn begin(&mut self, array: &CoordinatedArray) {
        let has_mirrors = array.copies > 1 && self.scope == LeaveScope::MirrorSet;
        self.leaves = Leaves {
            scope_members: if has_mirrors { array.copies } else { u32::MAX },
            together: vec![self.together.members(array.parity_strips)],
            draws: Some(rng::stream(array.seed, "stagger", 0)),
            ..Leaves::default()
        };
        (0..array.members).for_each(|member| self.leaves.know(member));
    }

    fn receive(&mut self, now: TimeNs, from: u32, message: ToController, cycle: &mut Cycle) {
        if cycle.has_failed(from) {
            return;
        }
        let leaves = &mut self.leaves;
        match message {
            ToController::AskGc { least_free_blocks } => {
                leaves.asking.push((from, least_free_blocks));
                leaves.asked_at = now;
            }
            ToController::GcRequest(_) => leaves.unasked[from as usize] += 1,
            ToController::EndsUnasked => {
                leaves.unasked[from as usize] -= 1;
                leaves.ends(now, from);
            }
            ToController::GcDone => {
                leaves.granted.remove(from);
                leaves.ends(now, from);
            }
            ToController::Participate | ToController::GcState(_) => {}
        }
    }

    fn next_tick(&self) -> TimeNs {
        if self.leaves.asking.is_empty() { NEVER } else { self.leaves.asked_at }
    }

    /// Answers the members that have asked at this nanosecond.
    fn tick(&mut self, now: TimeNs, cycle: &mut Cycle) {
        let leaves = &mut self.leaves;
        leaves.order_asking();
        for (member, _) in std::mem::take(&mut leaves.asking) {
            let scope = leaves.scope(member);
            let rests = leaves.last_end[scope].is_some_and(|ended| now < ended + self.pause.ns);
            let message = if leaves.others_collecting(member) < leaves.together[scope] && !rests {
                leaves.granted.insert(member);
                leaves.last_grant[member as usize] = Some(now);
                ToMember::Grant(cycle.usual_work())
            } else {
                ToMember::Deny
            };
            cycle.send(MemberSet::single(member), message);
        }
    }

    fn acts_after_requests(&self) -> bool {
        true
    }

    /// Removes a failed member. In its scope one member fewer may collect at a time, but at least one.
    fn forget(&mut self, member: u32) {
        let leaves = &mut self.leaves;
        leaves.granted.remove(member);
        leaves.unasked[member as usize] = 0;
        leaves.asking.retain(|&(asks, _)| asks != member);
        let scope = leaves.scope(member);
        leaves.together[scope] = (leaves.together[scope] - 1).max(1);
    }

    fn replace(&mut self, failed: u32, spare: u32) {
        let leaves = &mut self.leaves;
        let place = leaves.place(failed);
        leaves.places.push((spare, place));
        leaves.know(spare);
    }

    fn random_for_tests(stream: &mut Stream) -> Self {
        let below = |stream: &mut Stream, bound| rng::below(stream, bound);
        Self {
            together: if below(stream, 3) > 0 { Together::AsParity } else { Together::Members(1 + below(stream, 3) as u32) },
            scope: if below(stream, 3) > 0 { LeaveScope::MirrorSet } else { LeaveScope::Array },
            ask_at: 1.0 + below(stream, 30) as f64 / 10.0,
            idle_at: below(stream, 40) as f64 / 10.0,
            // Odd times make it unlikely that timers coincide with other events.
            idle_gap: Duration { ns: 50_021 << below(stream, 7) },
            retry: Duration { ns: 10_007 << below(stream, 9) },
            pause: Duration { ns: if below(stream, 4) > 0 { 0 } else { 100_043 << below(stream, 7) } },
            leaves: Leaves::default(),
        }
    }
}
