//! Scheme `stagger`: a member asks the controller for permission before it collects (rules 260 to 263). Only few members of a mirror
//! set or array have permission at a time.
//!
//! It is the opposite of the schemes of GGC. While some members collect, the others serve reads at once.
//!
//! RackBlox (SOSP 2023) has a network switch give permission to one of two copies. The thresholds are in proportion to those of its
//! artifact.

use super::{
    BlockPoolSizeAndThresholds, CollectionUrgency, CoordinatedArray, CoordinationParams, Cycle, Desk, DutyOf, ForcedCollectionAmount,
    MemberDuty, MemberEvent, MemberLook, NEVER, Scheme, ToController, ToMember, time_range_problem,
};
use crate::TimeNs;
use crate::ids::MemberSet;
use crate::policy::ParameterProblem;
use crate::quantity_impls;
use crate::request::OpKind;
use crate::rng::{self, RandomStream};
use crate::units::{AllowedUnitlessRange, Duration, Quantity, UnitError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Members ask the controller for permission before they collect. Only a few of them get it at a time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StaggeredCollection {
    /// Number of members of a group (see `scope`) that may collect at a time. `"parity"` stands for as many as there are parity strips
    /// in a stripe, but at least one.
    pub together: CollectingMembersLimit,
    /// Group of members in which at most `together` members may collect at a time.
    pub scope: CollectionPermissionScope,
    /// Factor for the threshold at which a member asks the controller for permission to collect. The threshold is the start threshold
    /// of collection times this factor, rounded up to whole free blocks. The member asks when one of its pools of blocks has so few
    /// free blocks, or fewer.
    #[schemars(range(min = 1.0, max = 100.0))]
    pub ask_at: f64,
    /// Factor for the threshold at which a member collects without the controller's permission. This happens only while the array sends
    /// few operations to the member (see `idle_gap`). The threshold is the start threshold of collection times this factor, rounded up
    /// to whole free blocks. The member collects when one of its pools of blocks has so few free blocks, or fewer.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub idle_at: f64,
    /// Limit for the mean time between the operations that a member gets. Above the limit, the member counts as getting few operations
    /// (see `idle_at`). With each operation, the mean becomes half the sum of the old mean and the time since the operation before.
    pub idle_gap: Duration,
    /// Time after which a member that was denied permission to collect asks again.
    pub retry: Duration,
    /// Time after the end of a member's collection in which no member of the same group (see `scope`) gets permission to collect.
    pub pause: Duration,
    /// State of the scheme `stagger` in a run: members that have permission to collect, that collect without it, and that ask for it.
    #[serde(skip)]
    pub permissions: CollectionPermissions,
}

impl Default for StaggeredCollection {
    fn default() -> Self {
        Self {
            together: CollectingMembersLimit::ParityStripCount,
            scope: CollectionPermissionScope::MirrorSet,
            ask_at: 1.4,
            idle_at: 2.2,
            idle_gap: Duration { ns: 30_000_000 },
            retry: Duration { ns: 1_000_000 },
            pause: Duration { ns: 0 },
            permissions: CollectionPermissions::default(),
        }
    }
}

/// Number of members that may collect at a time, in each group of members that [`CollectionPermissionScope`] names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CollectingMembersLimit {
    /// Lets as many members of a group collect at a time as there are parity strips in a stripe, but at least one.
    /// [`CollectionPermissionScope`] says which members form a group: those with copies of the same pages, or all members.
    ParityStripCount,
    /// Lets this number of members of a group collect at a time, from 1 to 128. [`CollectionPermissionScope`] says which members form a
    /// group: those with copies of the same pages, or all members.
    Members(u32),
}

quantity_impls!(CollectingMembersLimit);

impl Quantity for CollectingMembersLimit {
    const JSON_SCHEMA_FORMAT: &'static str = "members-together";
    const ALLOWED_VALUES: &'static str = "\"parity\", or a number of members from 1 to 128";
    const JSON_SCHEMA_PATTERN: &'static str = r"^\s*(parity|[0-9]+)\s*$";
    const UNITLESS_RANGE: Option<AllowedUnitlessRange> = Some(AllowedUnitlessRange { min: 1.0, max: 128.0, only_whole_numbers: true });

    fn parse(text: &str) -> Result<Self, UnitError> {
        if text.trim() == "parity" {
            return Ok(Self::ParityStripCount);
        }
        let number: f64 = text.trim().parse().map_err(|_| UnitError::new("it is neither \"parity\" nor a whole number"))?;
        Self::from_unitless_number(number)
    }

    fn from_unitless_number(number: f64) -> Result<Self, UnitError> {
        if number.fract() == 0.0 && (1.0..=128.0).contains(&number) {
            Ok(Self::Members(number as u32))
        } else {
            Err(UnitError::new("it is not a whole number from 1 to 128"))
        }
    }

    fn to_json(&self) -> serde_json::Value {
        match self {
            Self::ParityStripCount => "parity".into(),
            Self::Members(members) => (*members).into(),
        }
    }
}

impl CollectingMembersLimit {
    /// Returns the number of members that may collect at a time in an array with `parity_strips` parity strips in a stripe.
    pub fn members(self, parity_strips: u32) -> u32 {
        match self {
            Self::ParityStripCount => parity_strips.max(1),
            Self::Members(members) => members,
        }
    }
}

/// Group of members in which only a few may have permission to collect at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CollectionPermissionScope {
    /// The members that hold copies of the same pages form a group, in which only a few may have permission to collect at a time. If no
    /// page has copies, all members of the array form a single group.
    MirrorSet,
    /// All members of the array form a single group, in which only a few may have permission to collect at a time.
    Array,
}

/// State of the coordination scheme `stagger` in a run. It holds the members that have the controller's permission to collect, those
/// that collect without permission, and those that ask for permission.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CollectionPermissions {
    /// Number of members in a scope, which is a group of consecutive members in which only few may collect at a time.
    scope_members: u32,
    /// Number of members of each scope that may collect at a time.
    together: Vec<u32>,
    /// Each spare with the failed member whose place it has taken.
    places: Vec<(u32, u32)>,
    granted: MemberSet,
    /// Number of collections without permission that each member has announced and not ended. It may be negative, because messages may
    /// overtake each other.
    unasked: Vec<i32>,
    /// Time of the last grant to each member.
    last_grant: Vec<Option<TimeNs>>,
    /// Last time at which a member of each scope ended collection.
    last_end: Vec<Option<TimeNs>>,
    /// Members that ask for permission at this nanosecond, with their free blocks.
    asking: Vec<(u32, u32)>,
    asked_at: TimeNs,
    draws: Option<RandomStream>,
}

impl CollectionPermissions {
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

    /// Sorts the members that ask: those with the fewest free blocks first, then those whose last permission is oldest, then by a draw.
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

impl Scheme for StaggeredCollection {
    type Duty = AsksPermission;

    fn forces_members_to_collect_together(&self) -> bool {
        false
    }

    fn problems(&self, _: &BlockPoolSizeAndThresholds) -> Vec<ParameterProblem> {
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

    fn begin(&mut self, array: &CoordinatedArray) {
        let has_mirrors = array.copies > 1 && self.scope == CollectionPermissionScope::MirrorSet;
        self.permissions = CollectionPermissions {
            scope_members: if has_mirrors { array.copies } else { u32::MAX },
            together: vec![self.together.members(array.parity_strips)],
            draws: Some(rng::stream(array.seed, "stagger", 0)),
            ..CollectionPermissions::default()
        };
        (0..array.members).for_each(|member| self.permissions.know(member));
    }

    fn receive(&mut self, now: TimeNs, from: u32, message: ToController, cycle: &mut Cycle) {
        if cycle.has_failed(from) {
            return;
        }
        let permissions = &mut self.permissions;
        match message {
            ToController::AskGc { least_free_blocks } => {
                permissions.asking.push((from, least_free_blocks));
                permissions.asked_at = now;
            }
            ToController::GcRequest(_) => permissions.unasked[from as usize] += 1,
            ToController::CollectionWithoutPermissionEnds => {
                permissions.unasked[from as usize] -= 1;
                permissions.ends(now, from);
            }
            ToController::GcDone => {
                permissions.granted.remove(from);
                permissions.ends(now, from);
            }
            ToController::RegisterForCycle | ToController::GcState(_) => {}
        }
    }

    fn next_tick(&self) -> TimeNs {
        if self.permissions.asking.is_empty() { NEVER } else { self.permissions.asked_at }
    }

    /// Answers the members that have asked at this nanosecond.
    fn tick(&mut self, now: TimeNs, cycle: &mut Cycle) {
        let permissions = &mut self.permissions;
        permissions.order_asking();
        for (member, _) in std::mem::take(&mut permissions.asking) {
            let scope = permissions.scope(member);
            let rests = permissions.last_end[scope].is_some_and(|ended| now < ended + self.pause.ns);
            let message = if permissions.others_collecting(member) < permissions.together[scope] && !rests {
                permissions.granted.insert(member);
                permissions.last_grant[member as usize] = Some(now);
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
        let permissions = &mut self.permissions;
        permissions.granted.remove(member);
        permissions.unasked[member as usize] = 0;
        permissions.asking.retain(|&(asks, _)| asks != member);
        let scope = permissions.scope(member);
        permissions.together[scope] = (permissions.together[scope] - 1).max(1);
    }

    fn replace(&mut self, failed: u32, spare: u32) {
        let permissions = &mut self.permissions;
        let place = permissions.place(failed);
        permissions.places.push((spare, place));
        permissions.know(spare);
    }

    fn random_for_tests(stream: &mut RandomStream) -> Self {
        let below = |stream: &mut RandomStream, bound| rng::below(stream, bound);
        Self {
            together: if below(stream, 3) > 0 {
                CollectingMembersLimit::ParityStripCount
            } else {
                CollectingMembersLimit::Members(1 + below(stream, 3) as u32)
            },
            scope: if below(stream, 3) > 0 { CollectionPermissionScope::MirrorSet } else { CollectionPermissionScope::Array },
            ask_at: 1.0 + below(stream, 30) as f64 / 10.0,
            idle_at: below(stream, 40) as f64 / 10.0,
            // Odd times make it unlikely that timers coincide with other events.
            idle_gap: Duration { ns: 50_021 << below(stream, 7) },
            retry: Duration { ns: 10_007 << below(stream, 9) },
            pause: Duration { ns: if below(stream, 4) > 0 { 0 } else { 100_043 << below(stream, 7) } },
            permissions: CollectionPermissions::default(),
        }
    }
}

impl StaggeredCollection {
    /// Returns the number of free blocks of a pool at which its member asks for permission to collect.
    pub fn ask_at_free_blocks(&self, pools: &BlockPoolSizeAndThresholds) -> u32 {
        pools.times_start(self.ask_at)
    }
}

/// Duty of a member that asks for permission before it collects (rules 260 to 262).
#[derive(Debug, Clone)]
pub(crate) struct AsksPermission {
    /// Number of free blocks at which the member asks the controller for permission to collect.
    ask_at_free_blocks: u32,
    /// Number of free blocks at or below which a pool is collected without permission, while the member gets few operations.
    idle_free_blocks: u32,
    /// Limit for the mean time between the operations that the member gets, above which it counts as getting few.
    idle_gap_ns: u64,
    /// Time from the controller's denial until the member asks again, in nanoseconds.
    retry_ns: u64,
    /// Work that the member does without permission while it gets few operations.
    idle_work: ForcedCollectionAmount,
    /// True from a request for permission until it is granted, or until the member has been denied and does not ask again.
    asks: bool,
    /// The nanosecond at whose end the member asks again, after it was denied.
    retry_at: TimeNs,
    /// Number of cleans in progress that pools needed.
    needed_cleans: u32,
    /// True while the member collects without permission because it gets few operations.
    works_idly: bool,
    /// True if the controller has been told that the member collects without permission, and not yet that this has ended.
    is_unasked: bool,
    /// Time of the last operation, if there was one.
    last_operation: Option<TimeNs>,
    /// Mean time between operations, in nanoseconds.
    mean_gap_ns: u64,
    /// The nanosecond at whose end the member collects if it has got few operations.
    few_operations_at: TimeNs,
    /// The last time at which a host write left a pool so low that the member needs permission to collect it.
    low_pool_write_at: TimeNs,
}

impl DutyOf<StaggeredCollection> for AsksPermission {
    fn new(scheme: &StaggeredCollection, params: &CoordinationParams, pools: &BlockPoolSizeAndThresholds) -> Self {
        Self {
            ask_at_free_blocks: scheme.ask_at_free_blocks(pools),
            idle_free_blocks: pools.times_start(scheme.idle_at),
            idle_gap_ns: scheme.idle_gap.ns,
            retry_ns: scheme.retry.ns,
            idle_work: params.force_until,
            asks: false,
            retry_at: NEVER,
            needed_cleans: 0,
            works_idly: false,
            is_unasked: false,
            last_operation: None,
            mean_gap_ns: 0,
            few_operations_at: NEVER,
            low_pool_write_at: NEVER,
        }
    }
}

impl MemberDuty for AsksPermission {
    fn work_free_blocks(&self) -> Option<u32> {
        Some(if self.works_idly { self.idle_free_blocks } else { self.ask_at_free_blocks })
    }

    fn reacts_to_writes(&self) -> bool {
        !self.asks
    }

    /// Records the time between operations. A member that gets few may collect at the end of this nanosecond.
    fn operation_given(&mut self, now: TimeNs, _kind: OpKind, desk: &mut Desk) {
        let last = self.last_operation.replace(now);
        let Some(gap_ns) = last.map(|last| now - last).filter(|&gap_ns| gap_ns > 0) else { return };
        self.mean_gap_ns = (self.mean_gap_ns + gap_ns) / 2;
        if self.mean_gap_ns > self.idle_gap_ns {
            self.few_operations_at = now;
            desk.check_at_end_of(now);
        }
    }

    fn host_write_began(&mut self, at: TimeNs, free_blocks: u32, _is_at_limit: bool, desk: &mut Desk) {
        if free_blocks <= self.ask_at_free_blocks {
            self.low_pool_write_at = at;
            desk.check_at_end_of(at);
        }
    }

    fn needed_clean_began(&mut self, at: TimeNs, desk: &mut Desk) {
        self.needed_cleans += 1;
        desk.check_at_end_of(at);
    }

    fn needed_clean_ended(&mut self, at: TimeNs, _began: TimeNs, desk: &mut Desk) {
        self.needed_cleans -= 1;
        desk.check_at_end_of(at);
    }

    fn superblock_opened(&mut self, at: TimeNs, look: &MemberLook, desk: &mut Desk) {
        self.host_write_began(at, look.least_free_blocks, look.is_at_floor, desk);
        desk.check_at_end_of(at);
    }

    fn superblock_freed(&mut self, at: TimeNs, desk: &mut Desk) {
        desk.check_at_end_of(at);
    }

    fn denied(&mut self, now: TimeNs, desk: &mut Desk) {
        self.retry_at = now + self.retry_ns;
        desk.report(self.retry_at, MemberEvent::AskTimerEnds);
    }

    fn work_begins(&mut self) {
        (self.asks, self.low_pool_write_at) = (false, NEVER);
    }

    fn work_ended(&mut self, at: TimeNs, _drive: Option<&MemberLook>, desk: &mut Desk) {
        if !std::mem::take(&mut self.works_idly) {
            desk.send(at, ToController::GcDone);
        }
        desk.check_at_end_of(at);
    }

    /// Tells the controller what it must know (rule 261). Returns the work that the member begins without permission, because it gets few
    /// operations.
    fn check(&mut self, now: TimeNs, look: &MemberLook, desk: &mut Desk) -> Option<ForcedCollectionAmount> {
        let asks_again = self.retry_at == now;
        if asks_again {
            (self.retry_at, self.asks) = (NEVER, false);
        }
        let is_at_limit = look.is_at_floor;
        let is_unasked = self.works_idly || (!desk.has_work && (self.needed_cleans > 0 || is_at_limit));
        if is_unasked && !self.is_unasked {
            self.is_unasked = true;
            desk.send(now, ToController::GcRequest(CollectionUrgency::AT_LIMIT));
            return None;
        }
        if self.is_unasked && !self.works_idly && self.needed_cleans == 0 && !is_at_limit {
            self.is_unasked = false;
            desk.send(now, ToController::CollectionWithoutPermissionEnds);
        }
        if desk.has_work || self.asks || self.is_unasked {
            return None;
        }
        let least_free_blocks = look.least_free_blocks;
        if self.few_operations_at == now && least_free_blocks <= self.idle_free_blocks {
            (self.works_idly, self.is_unasked, self.few_operations_at) = (true, true, NEVER);
            desk.send(now, ToController::GcRequest(CollectionUrgency::AT_LIMIT));
            return Some(self.idle_work);
        }
        if (asks_again || self.low_pool_write_at == now) && least_free_blocks <= self.ask_at_free_blocks {
            self.asks = true;
            desk.send(now, ToController::AskGc { least_free_blocks });
        }
        None
    }
}
