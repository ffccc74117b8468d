//! State that all coordination schemes share: the members, the cycle in progress or about to begin, and the load (rules 44 and 120).
//! Below it stands the duty of members that take part in cycles.

use super::{
    BlockPoolSizeAndThresholds, CollectionUrgency, ControllerAction, CoordinationParams, Desk, DutyOf, ForcedCollectionAmount,
    JointCollectionRequestTiming, MemberDuty, MemberEvent, MemberLook, NEVER, RequestsDuringCycle, Scheme, ToController, ToMember,
};
use crate::TimeNs;
use crate::ids::MemberSet;
use std::collections::BTreeMap;

/// A member that has asked to collect by a soft request, and has not been forced or allowed to collect since.
#[derive(Debug, Clone, Copy)]
struct Asking {
    /// Arrival time of its first request.
    since: TimeNs,
    /// True if the member cannot wait any longer. Either it has said so, or it has received more writes than it could absorb.
    must: bool,
}

/// The controller's view of the members, and its cycle of collection.
#[derive(Debug, Clone)]
pub(crate) struct Cycle {
    /// Work that a cycle normally tells members to do.
    usual_work: ForcedCollectionAmount,
    delay_ns: u64,
    notify: JointCollectionRequestTiming,
    at_idle: bool,
    ggc_aware: MemberSet,
    /// Members that were forced to collect and have not finished.
    collecting: MemberSet,
    /// Work that the forced members were told to do.
    work: ForcedCollectionAmount,
    /// True if members have asked for a cycle that has not begun yet. It is never true with soft notification.
    pending: bool,
    /// True if requests that arrive during a cycle make another one follow.
    repeats: bool,
    /// True if another cycle follows the one in progress.
    is_repeated: bool,
    /// Members with an unanswered soft request.
    asking: BTreeMap<u32, Asking>,
    /// Number of times that each member has been forced or allowed to collect.
    collection_orders_received: Vec<u32>,
    /// Members that will take part in the next cycle.
    registered: MemberSet,
    /// Members that have failed.
    lost: MemberSet,
    outstanding: u32,
    idle_since: TimeNs,
    actions: Vec<ControllerAction>,
}

impl Cycle {
    pub(super) fn new(params: &CoordinationParams) -> Self {
        Self {
            usual_work: params.force_until,
            delay_ns: params.delay.ns,
            notify: params.notify(),
            at_idle: params.at_idle,
            ggc_aware: params.coordinated_members,
            collecting: MemberSet::NONE,
            work: params.force_until,
            pending: false,
            repeats: params.during_cycle == RequestsDuringCycle::Repeat,
            is_repeated: false,
            asking: BTreeMap::new(),
            collection_orders_received: Vec::new(),
            registered: MemberSet::NONE,
            lost: MemberSet::NONE,
            outstanding: 0,
            idle_since: 0,
            actions: Vec::new(),
        }
    }

    /// Returns all members that know the protocol and have not failed.
    pub(crate) fn everyone(&self) -> MemberSet {
        self.ggc_aware.without(self.lost)
    }

    /// Returns the members that have registered, or asked to collect, since they were last forced.
    pub(crate) fn registered(&self) -> MemberSet {
        self.registered
    }

    /// Returns the members that were forced to collect and have not finished.
    pub(crate) fn collecting(&self) -> MemberSet {
        self.collecting
    }

    /// Returns the members with an unanswered soft request.
    pub(crate) fn asking(&self) -> MemberSet {
        self.asking.keys().copied().collect()
    }

    /// Returns the work that members are usually told to do.
    pub(crate) fn usual_work(&self) -> ForcedCollectionAmount {
        self.usual_work
    }

    /// Returns how much each member must collect in this cycle before it may stop.
    pub(crate) fn work(&self) -> ForcedCollectionAmount {
        self.work
    }

    /// Returns true if the member has failed.
    pub(crate) fn has_failed(&self, member: u32) -> bool {
        self.lost.contains(member)
    }

    /// Returns true if no cycle is in progress or about to begin. Soft requests do not count, because any cycle may begin before theirs.
    pub(crate) fn is_free(&self) -> bool {
        self.collecting.is_empty() && !self.pending
    }

    /// Returns the number of requests that have arrived at the array and are not done.
    pub(crate) fn outstanding(&self) -> u32 {
        self.outstanding
    }

    /// Returns the time at which the array became idle, or `None` if a request is outstanding.
    pub(crate) fn idle_since(&self) -> Option<TimeNs> {
        (self.outstanding == 0).then_some(self.idle_since)
    }

    /// Processes a message of a member. It remembers requests and registrations, and begins a cycle if a request makes one due (rules 44
    /// and 120).
    pub(crate) fn receive(&mut self, now: TimeNs, from: u32, message: ToController) {
        match message {
            ToController::GcRequest(need) => match self.notify {
                JointCollectionRequestTiming::AtStartThreshold => self.note_request(now, from),
                JointCollectionRequestTiming::AtSoftThreshold => self.note_soft_request(now, from, need),
            },
            ToController::RegisterForCycle => self.registered.insert(from),
            ToController::GcState(_) | ToController::AskGc { .. } | ToController::CollectionWithoutPermissionEnds => {}
            ToController::GcDone => {
                self.collecting.remove(from);
                if self.collecting.is_empty() && std::mem::take(&mut self.is_repeated) {
                    self.begin_after_delay(now);
                }
                self.begin_if_due(now);
            }
        }
    }

    /// Remembers a request for a cycle. During a cycle the request is absorbed, or makes another cycle follow; if a cycle is about to
    /// begin, the member joins it.
    fn note_request(&mut self, now: TimeNs, member: u32) {
        if !self.collecting.is_empty() {
            if self.repeats && !self.collecting.contains(member) {
                self.registered.insert(member);
                self.is_repeated = true;
            }
            return;
        }
        self.registered.insert(member);
        self.begin_after_delay(now);
    }

    /// Announces a cycle, unless one is announced already.
    fn begin_after_delay(&mut self, now: TimeNs) {
        if !self.pending {
            self.pending = true;
            self.actions.push(ControllerAction::BeginCycleAt(now + self.delay_ns));
        }
    }

    /// Remembers a soft request, unless the member has been forced since it sent the request.
    fn note_soft_request(&mut self, now: TimeNs, member: u32, need: CollectionUrgency) {
        if need.collection_orders_received != self.collection_orders_received(member) {
            return;
        }
        self.registered.insert(member);
        let since = self.asking.get(&member).map_or(now, |asking| asking.since);
        if self.asking.insert(member, Asking { since, must: need.at_limit }).is_none() {
            self.actions.push(ControllerAction::BeginCycleAt(now + self.delay_ns));
        }
        self.actions.push(ControllerAction::WatchPageWrites(member, need.pages_given + need.page_writes_until_gc_start));
        self.begin_if_due(now);
    }

    pub(super) fn page_allowance_is_used_up(&mut self, now: TimeNs, member: u32) {
        if let Some(asking) = self.asking.get_mut(&member) {
            asking.must = true;
            debug_assert!(!self.collecting.is_empty() || self.is_cycle_due(now), "who can't wait is waited for by nothing but a cycle");
            self.begin_if_due(now);
        }
    }

    /// Begins the cycle for members with soft requests if its time has come.
    fn begin_if_due(&mut self, now: TimeNs) {
        debug_assert!(self.asking.keys().all(|&member| !self.lost.contains(member)), "a member that has failed asks for nothing");
        if !self.asking.is_empty() && self.is_cycle_due(now) {
            self.actions.push(ControllerAction::BeginCycleAt(now));
        }
    }

    /// Returns true if the cycle for members with soft requests is due (rule 120).
    fn is_cycle_due(&self, now: TimeNs) -> bool {
        let waits_no_longer = |asking: &Asking| asking.must || now >= asking.since + self.delay_ns;
        let is_idle = self.at_idle && self.outstanding == 0 && !self.asking.is_empty();
        self.collecting.is_empty() && (is_idle || self.asking.values().any(waits_no_longer))
    }

    /// Returns true if the cycle that [`ControllerAction::BeginCycleAt`] announced may begin now.
    pub(super) fn may_begin(&self, now: TimeNs) -> bool {
        self.notify == JointCollectionRequestTiming::AtStartThreshold || self.is_cycle_due(now)
    }

    fn collection_orders_received(&self, member: u32) -> u32 {
        self.collection_orders_received.get(member as usize).copied().unwrap_or(0)
    }

    /// Ends collection in idle time for good, because the workload is over.
    pub(super) fn end_idle(&mut self) {
        self.at_idle = false;
    }

    /// Begins the cycle that was about to begin, with these members.
    pub(super) fn begin(&mut self, members: MemberSet) {
        self.pending = false;
        self.force(members);
        debug_assert!(self.asking.keys().all(|&member| !self.collecting.contains(member)), "who is forced no longer asks");
    }

    /// Forces these members to collect, except for those that have failed. No cycle may be in progress.
    pub(crate) fn force(&mut self, members: MemberSet) {
        self.force_with_work(members, self.usual_work);
    }

    /// Forces these members to do the given work instead of the usual one.
    pub(crate) fn force_with_work(&mut self, members: MemberSet, work: ForcedCollectionAmount) {
        assert!(self.collecting.is_empty(), "cycles don't overlap");
        let members = members.without(self.lost);
        self.collecting = members;
        self.work = work;
        self.registered = self.registered.without(members);
        self.send(members, ToMember::ForceCollection(work));
        assert!(self.registered.0 & self.collecting.0 == 0, "who is forced is registered no longer");
    }

    /// Begins the turn of a member if it knows the protocol and has not failed.
    pub(super) fn begin_turn(&mut self, now: TimeNs, member: u32, begin_cleans_until: TimeNs, end: TimeNs) {
        if self.everyone().contains(member) {
            self.actions.extend(ControllerAction::turn(now, member, begin_cleans_until, end));
        }
    }

    /// Stops collection in idle time, because a request has arrived. Cleans in progress are finished.
    pub(crate) fn stop(&mut self) {
        self.work = self.usual_work;
        self.send(self.collecting, ToMember::StopIdleCollection);
    }

    /// Sends a message to each of these members.
    pub(crate) fn send(&mut self, members: MemberSet, message: ToMember) {
        for member in members.iter() {
            self.actions.push(ControllerAction::Message(member, message));
            if matches!(message, ToMember::ForceCollection(_) | ToMember::Grant(_)) {
                let length = self.collection_orders_received.len().max(member as usize + 1);
                self.collection_orders_received.resize(length, 0);
                self.collection_orders_received[member as usize] += 1;
                self.asking.remove(&member);
            }
        }
    }

    pub(super) fn take_actions(&mut self, out: &mut Vec<ControllerAction>) {
        out.append(&mut self.actions);
    }

    pub(super) fn request_arrives(&mut self) {
        self.outstanding += 1;
    }

    pub(super) fn request_done(&mut self, now: TimeNs) {
        assert!(self.outstanding > 0, "a request that is done has arrived");
        self.outstanding -= 1;
        if self.outstanding == 0 {
            debug_assert!(now >= self.idle_since, "time does not go back");
            self.idle_since = now;
            self.begin_if_due(now);
        }
    }

    pub(super) fn member_failed(&mut self, member: u32) {
        self.lost.insert(member);
        self.registered.remove(member);
        self.asking.remove(&member);
        assert!(self.has_failed(member) && !self.everyone().contains(member), "a member that has failed takes part in nothing");
    }

    /// Replaces a failed member by a spare. Returns true if the failed member knew the protocol, so that the spare takes part in it now.
    pub(super) fn replace(&mut self, failed: u32, spare: u32) -> bool {
        assert!(self.lost.contains(failed) && !self.lost.contains(spare), "spare {spare} replaces member {failed}, which has failed");
        let aware = self.ggc_aware.contains(failed);
        if aware {
            self.ggc_aware.insert(spare);
        }
        assert_eq!(self.everyone().contains(spare), aware, "a spare knows the protocol if the member did that it replaces");
        aware
    }
}

/// Settings of a member that takes part in cycles (rules 44, 119 and 122).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CycleSettings {
    /// Number of free blocks at or below which a pool counts as low in free blocks.
    pub(crate) t_soft_free_blocks: u32,
    /// True if the member registers with the controller when one of its pools is low in free blocks.
    pub(crate) registers: bool,
    /// Moment at which the member asks the controller to make members collect together.
    pub(crate) notify: JointCollectionRequestTiming,
    /// True if all dies collect when the controller forces the member to collect. False if only dies with a low pool do.
    pub(crate) across_dies: bool,
}

/// Duty of a member that collects when the controller forces it to. It registers for cycles, and asks for them (rules 43, 119 and 122).
#[derive(Debug, Clone)]
pub(crate) struct JoinsCycles {
    settings: CycleSettings,
    /// True if the member has asked to collect since it was last forced.
    has_asked: bool,
    /// True if the member has told the controller since then that it is at its limit.
    has_said_limit: bool,
    /// True if the member has registered since it was last forced.
    participates: bool,
    /// The last time at which pools needed cleans, and the number of cleans that began then (rule 43).
    needed_began: (TimeNs, u32),
    /// Time of the last request to collect, and the number of cleans of that nanosecond that are still in progress. The request stays open
    /// until all of them end, or until the member is forced.
    request: (TimeNs, u32),
    /// The last time at which a host write left a pool at or below its soft limit (rule 119).
    low_pool_write_at: TimeNs,
    /// The last time at which the member reached its hard limit.
    limit_reached_at: TimeNs,
}

impl JoinsCycles {
    pub(crate) fn with(settings: CycleSettings) -> Self {
        Self {
            settings,
            has_asked: false,
            has_said_limit: false,
            participates: false,
            needed_began: (NEVER, 0),
            request: (NEVER, 0),
            low_pool_write_at: NEVER,
            limit_reached_at: NEVER,
        }
    }

    fn asks_softly(&self) -> bool {
        self.settings.notify == JointCollectionRequestTiming::AtSoftThreshold
    }

    /// Asks the controller to collect if there is a reason.
    ///
    /// Dies may reach the same nanosecond in any order. Each event that may allow a request therefore calls this method. The result is the
    /// same as with one call at the end of the nanosecond (rule 43).
    fn ask(&mut self, at: TimeNs, desk: &mut Desk) {
        if !desk.has_work && self.request.1 == 0 && self.needed_began.0 == at {
            self.request = self.needed_began;
            desk.send(at, ToController::GcRequest(CollectionUrgency::AT_LIMIT));
        }
    }

    /// Schedules a check at the end of this nanosecond, when the member may ask to collect. A forced member schedules none.
    fn schedule_ask(&self, at: TimeNs, desk: &mut Desk) {
        if !desk.has_work {
            desk.check_at_end_of(at);
        }
    }

    fn register(&mut self, at: TimeNs, desk: &mut Desk) {
        if self.settings.registers && !self.participates {
            self.participates = true;
            desk.send(at, ToController::RegisterForCycle);
        }
    }

    /// Returns true if a soft request is due at the end of this nanosecond (rule 119).
    fn is_soft_request_due(&self, now: TimeNs, has_work: bool) -> bool {
        !has_work && !self.has_said_limit && (!self.has_asked || self.limit_reached_at == now)
    }
}

impl<S: Scheme> DutyOf<S> for JoinsCycles {
    fn new(scheme: &S, params: &CoordinationParams, pools: &BlockPoolSizeAndThresholds) -> Self {
        Self::with(CycleSettings {
            t_soft_free_blocks: params.t_soft_free_blocks(pools),
            registers: scheme.members_report_low_free_blocks(),
            notify: params.notify(),
            across_dies: params.across_dies,
        })
    }
}

/// Returns the urgency that a member states in a soft request.
fn urgency(pages_left: i64, at_limit: bool, desk: &Desk) -> CollectionUrgency {
    CollectionUrgency {
        page_writes_until_gc_start: pages_left.max(0) as u64,
        at_limit,
        pages_given: desk.pages_given,
        collection_orders_received: desk.orders_received,
    }
}

impl MemberDuty for JoinsCycles {
    fn holds_back(&self) -> bool {
        false
    }

    fn has_asked(&self) -> bool {
        self.has_asked
    }

    fn takes_part(&self, free_blocks: u32) -> bool {
        self.settings.across_dies || free_blocks <= self.settings.t_soft_free_blocks
    }

    fn reacts_to_writes(&self) -> bool {
        (self.settings.registers && !self.participates) || (self.asks_softly() && !self.has_said_limit)
    }

    fn host_write_began(&mut self, at: TimeNs, free_blocks: u32, is_at_limit: bool, desk: &mut Desk) {
        if free_blocks > self.settings.t_soft_free_blocks {
            return;
        }
        if self.asks_softly() && !self.has_said_limit {
            self.low_pool_write_at = at;
            if is_at_limit {
                self.limit_reached_at = at;
            }
            if is_at_limit || !self.has_asked {
                self.schedule_ask(at, desk);
            }
        }
        self.register(at, desk);
    }

    fn needed_clean_began(&mut self, at: TimeNs, desk: &mut Desk) {
        if self.asks_softly() {
            self.limit_reached_at = at;
            self.needed_collection_began(at, desk);
            if !self.has_said_limit {
                self.schedule_ask(at, desk);
            }
            return;
        }
        if self.needed_began.0 != at {
            self.needed_began = (at, 0);
        }
        self.needed_began.1 += 1;
        if self.request.0 == at {
            self.request.1 += 1;
        } else {
            self.ask(at, desk);
        }
    }

    fn needed_clean_ended(&mut self, at: TimeNs, began: TimeNs, desk: &mut Desk) {
        if began == self.request.0 {
            assert!(self.request.1 > 0, "a request is outstanding while its cleans go on");
            self.request.1 -= 1;
            self.ask(at, desk);
        }
    }

    /// Counts a collection that could not wait although the controller had not answered the member's request (rule 121).
    fn needed_collection_began(&mut self, at: TimeNs, desk: &mut Desk) {
        if self.asks_softly() && self.has_asked {
            debug_assert!(!desk.has_work, "being forced answers what was asked");
            desk.report(at, MemberEvent::BeginsCollectionWithoutAnswer);
        }
    }

    /// Registers or asks to collect if few superblocks are free (rule 216).
    fn superblock_opened(&mut self, at: TimeNs, look: &MemberLook, desk: &mut Desk) {
        if desk.has_work {
            return;
        }
        if look.least_free_blocks <= self.settings.t_soft_free_blocks {
            self.register(at, desk);
        }
        if look.is_short {
            self.has_asked = true;
            let urgency = if self.asks_softly() { urgency(look.pages_left, look.is_at_floor, desk) } else { CollectionUrgency::AT_LIMIT };
            desk.send(at, ToController::GcRequest(urgency));
        }
    }

    fn work_begins(&mut self) {
        *self = Self::with(self.settings);
    }

    /// Reports the end of the work, and asks to collect again if a reason arose in the meantime (rules 43, 119 and 216).
    fn work_ended(&mut self, at: TimeNs, drive: Option<&MemberLook>, desk: &mut Desk) {
        desk.send(at, ToController::GcDone);
        match drive {
            Some(look) => self.superblock_opened(at, look, desk),
            None if !self.asks_softly() => self.ask(at, desk),
            None if self.low_pool_write_at == at || self.limit_reached_at == at => self.schedule_ask(at, desk),
            None => {}
        }
    }

    fn counts_pages_left(&self, now: TimeNs, has_work: bool) -> bool {
        self.is_soft_request_due(now, has_work)
    }

    /// Sends a soft request if one is due (rule 119).
    fn check(&mut self, now: TimeNs, look: &MemberLook, desk: &mut Desk) -> Option<ForcedCollectionAmount> {
        if self.is_soft_request_due(now, desk.has_work) {
            let at_limit = self.limit_reached_at == now || look.pages_left < 0 || look.is_at_start;
            (self.has_asked, self.has_said_limit) = (true, at_limit);
            desk.send(now, ToController::GcRequest(urgency(look.pages_left, at_limit, desk)));
        }
        None
    }
}
