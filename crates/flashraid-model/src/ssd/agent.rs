//! The member's side of the protocol with the controller of its array (sections 11, 21 and 22 of the rules).
//!
//! The agent does not know the dies or the mapping. Dies report free blocks, limits, pages left and finished work to it, and ask it whether
//! they may collect.

use super::job::NEVER;
use super::outbox::SsdOutbox;
use crate::coordination::{
    CollectionTurnSettings, CollectionUrgency, ForcedCollectionAmount, GcPermissionRequestSettings, JointCollectionRequestTiming,
    MemberCoordinationSettings, MemberEvent, MemberState, OutOfTurnCollectionCounters, PredictableLatencyCounters,
    PredictableLatencyWindows, ToController, ToMember,
};
use crate::events::TimeNs;
use crate::ids::MemberId;
use crate::request::OpKind;

/// Protocol state of one member: the requests it has sent, and the orders of the controller that it has not finished.
#[derive(Debug, Clone)]
pub(crate) struct Agent {
    member: MemberId,
    role: MemberCoordinationSettings,
    /// Work that the controller has ordered or allowed, and that the member has not finished. `None` if there is no such work.
    forced: Option<ForcedCollectionAmount>,
    /// Number of superblocks that have become free since the member was last forced.
    freed: u32,
    /// Number of dies that have not finished the forced work.
    dies_left: u32,
    /// Number of page writes that the member has received.
    pages_given: u64,
    collection_orders_received: u32,
    /// True if the member has asked to collect since it was last forced.
    has_asked: bool,
    /// True if the member has told the controller since then that it is at its limit.
    has_said_limit: bool,
    /// True if the member has registered since it was last forced.
    participates: bool,
    /// True if the controller has denied collection above the hard limit, and has neither granted nor forced it since.
    denied: bool,
    /// True if the idle time in which the member may collect has ended.
    stopped: bool,
    /// True if the run has ended, after which members no longer collect in idle time.
    run_is_over: bool,
    /// The last time at which pools needed cleans, and the number of cleans that began then (rule 43).
    needed_began: (TimeNs, u32),
    /// Time of the last request to collect, and the number of cleans of that nanosecond that are still in progress. The request stays open
    /// until all of them end, or until the member is forced.
    request: (TimeNs, u32),
    /// The last time at which a host write left a pool at or below its soft limit (rule 119).
    low_pool_write_at: TimeNs,
    /// The last time at which the member reached its hard limit.
    limit_reached_at: TimeNs,
    /// The nanosecond at whose end the member may ask to collect.
    ask_scheduled_at: TimeNs,
    /// Number of forced cycles, permissions or turns in which the member has collected something.
    collecting_cycles: u64,
    /// True if the present or latest of them counts in `collecting_cycles`.
    cycle_counts: bool,
    /// State of a member that asks for leave before it collects.
    leave: Option<Leave>,
    /// State of a member that collects when it is its turn.
    turn: Option<Turn>,
}

/// State of a member that collects when it is its turn (rules 264 to 266).
#[derive(Debug, Clone)]
struct Turn {
    role: CollectionTurnSettings,
    /// Time before which cleans may begin in the member's turn. It is in the past outside of a turn.
    begins_cleans_until: TimeNs,
    /// End of the member's last turn so far.
    ends_at: TimeNs,
    counters: OutOfTurnCollectionCounters,
    /// True from the beginning of a turn to its end. A turn may begin before another one has ended, which is then no end.
    is_open: bool,
    /// Windows of NVMe's predictable latency mode, if the member has them (rules 284 to 289).
    windows: Option<PredictableLatencyWindows>,
}

/// State of a member that asks for leave before it collects (rules 260 and 261).
#[derive(Debug, Clone)]
struct Leave {
    role: GcPermissionRequestSettings,
    /// True from a request for leave until it is granted, or until the member has been denied and does not ask again.
    asks: bool,
    /// The nanosecond at whose end the member asks again, after it was denied.
    retry_at: TimeNs,
    /// Number of cleans in progress that pools needed.
    needed_cleans: u32,
    /// True while the member collects without leave because it gets few operations.
    works_idly: bool,
    /// True if the controller has been told that the member collects without leave, and not yet that this has ended.
    is_unasked: bool,
    /// Time of the last operation, if there was one.
    last_operation: Option<TimeNs>,
    /// Mean time between operations, in nanoseconds.
    mean_gap_ns: u64,
    /// The nanosecond at whose end the member collects if it has got few operations.
    few_operations_at: TimeNs,
}

/// Effect that a message of the array's controller has on the member that receives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Consequence {
    /// Starts this garbage collection in the member at once, because the array's controller has ordered or allowed it.
    Collect(ForcedCollectionAmount),
    /// Ends the garbage collection that the member may do only in idle time, because the controller has announced the end of idle
    /// time.
    StopIdleWork,
    /// Leaves the garbage collection of the member as it is, because the controller's message has no immediate effect on it.
    Nothing,
}

impl Agent {
    /// Returns the protocol state of a member that joins the protocol now.
    pub(super) fn new(now: TimeNs, member: MemberId, role: MemberCoordinationSettings, out: &mut SsdOutbox) -> Self {
        let agent = Self {
            member,
            role,
            forced: None,
            freed: 0,
            dies_left: 0,
            pages_given: 0,
            collection_orders_received: 0,
            has_asked: false,
            has_said_limit: false,
            participates: false,
            denied: false,
            stopped: false,
            run_is_over: false,
            needed_began: (NEVER, 0),
            request: (NEVER, 0),
            low_pool_write_at: NEVER,
            limit_reached_at: NEVER,
            ask_scheduled_at: NEVER,
            collecting_cycles: 0,
            cycle_counts: false,
            leave: role.permission_request_settings.map(|role| Leave {
                role,
                asks: false,
                retry_at: NEVER,
                needed_cleans: 0,
                works_idly: false,
                is_unasked: false,
                last_operation: None,
                mean_gap_ns: 0,
                few_operations_at: NEVER,
            }),
            turn: role.turn.map(|role| Turn {
                role,
                begins_cleans_until: 0,
                ends_at: 0,
                counters: OutOfTurnCollectionCounters::default(),
                is_open: false,
                windows: role.predictable_latency.map(|settings| PredictableLatencyWindows::new(now, settings)),
            }),
        };
        agent.watch_time_of_window(out);
        agent
    }

    /// Begins the member's turn, which ends at `end`. Cleans may begin before `until`.
    pub(crate) fn turn_begins(&mut self, now: TimeNs, until: TimeNs, end: TimeNs) {
        if let Some(turn) = &mut self.turn {
            (turn.begins_cleans_until, turn.ends_at, turn.is_open) = (until, end, true);
            if let Some(windows) = &mut turn.windows {
                windows.ndwin_is_ordered(now);
            }
        }
        self.cycle_counts = false;
    }

    /// Counts the forced cycle, permission or turn in progress if this is the first collection in it.
    #[inline]
    pub(crate) fn count_cycle_of_collection(&mut self, now: TimeNs) {
        let is_in_cycle = match &self.turn {
            Some(turn) => now < turn.ends_at,
            None => self.forced.is_some(),
        };
        if is_in_cycle && !self.cycle_counts {
            (self.collecting_cycles, self.cycle_counts) = (self.collecting_cycles + 1, true);
        }
    }

    /// Returns the number of forced cycles, permissions or turns in which the member has collected something.
    pub(crate) fn collecting_cycles(&self) -> u64 {
        self.collecting_cycles
    }

    /// Begins no more cleans in the member's turn.
    pub(crate) fn turn_closes(&mut self) {
        if let Some(turn) = &mut self.turn {
            turn.begins_cleans_until = 0;
        }
    }

    /// Ends the member's turn. Returns false if another one has begun since, so that the member's turn goes on.
    pub(crate) fn turn_ends(&mut self, now: TimeNs, out: &mut SsdOutbox) -> bool {
        let Some(turn) = self.turn.as_mut().filter(|turn| turn.is_open && now >= turn.ends_at) else { return false };
        turn.is_open = false;
        if let Some(windows) = &mut turn.windows {
            windows.ndwin_ends(now);
            self.watch_time_of_window(out);
        }
        true
    }

    /// Makes the member look when its deterministic window has lasted too long.
    fn watch_time_of_window(&self, out: &mut SsdOutbox) {
        let windows = self.turn.as_ref().and_then(|turn| turn.windows.as_ref());
        if let Some(at) = windows.and_then(PredictableLatencyWindows::time_runs_out).filter(|_| !self.run_is_over) {
            out.report(at, self.member, MemberEvent::WindowMayEnd);
        }
    }

    /// Leaves the deterministic window if the member must (rule 286).
    pub(crate) fn leave_deterministic_window_if_due(&mut self, now: TimeNs, out: &mut SsdOutbox) {
        let windows = self.turn.as_mut().and_then(|turn| turn.windows.as_mut());
        if let Some((until, end)) = windows.filter(|_| !self.run_is_over).and_then(|windows| windows.leave_if_due(now)) {
            out.report(now, self.member, MemberEvent::BeginsNonDeterministicWindow(until, end));
        }
    }

    /// Counts the answer to a page read that the member got at `given`.
    pub(crate) fn count_read_in_window(&mut self, given: TimeNs, answered: TimeNs) {
        if let Some(windows) = self.turn.as_mut().and_then(|turn| turn.windows.as_mut()) {
            windows.count_read(given, answered);
        }
    }

    /// Starts the longest response times in windows anew, because measuring begins.
    pub(crate) fn restart_longest_reads(&mut self) {
        if let Some(windows) = self.turn.as_mut().and_then(|turn| turn.windows.as_mut()) {
            windows.restart_longest();
        }
    }

    /// Returns the counts of the member's windows of NVMe's predictable latency mode, if it has them.
    pub(crate) fn predictable_latency_counters(&self) -> Option<PredictableLatencyCounters> {
        self.turn.as_ref().and_then(|turn| turn.windows.as_ref()).map(PredictableLatencyWindows::counters)
    }

    /// Returns the end of the member's turn while it lasts.
    pub(crate) fn turn_lasts_until(&self, now: TimeNs) -> Option<TimeNs> {
        self.turn.as_ref().map(|turn| turn.ends_at).filter(|&end| now < end)
    }

    /// Returns the number of free blocks at or below which a pool is cleaned now, because it is the member's turn.
    #[inline]
    pub(crate) fn turn_free_blocks(&self, now: TimeNs) -> Option<u32> {
        self.turn.as_ref().filter(|turn| now < turn.begins_cleans_until).map(|turn| turn.role.collect_at_free_blocks)
    }

    /// Returns true if the member collects when it is its turn.
    pub(crate) fn takes_turns(&self) -> bool {
        self.turn.is_some()
    }

    /// Counts a turn at the end of which a clean of the turn was in progress.
    pub(crate) fn count_overrun(&mut self) {
        if let Some(turn) = &mut self.turn {
            turn.counters.overruns += 1;
        }
    }

    /// Returns the counts of collections that did not keep to the member's turns.
    pub(crate) fn turn_counters(&self) -> OutOfTurnCollectionCounters {
        self.turn.as_ref().map(|turn| turn.counters).unwrap_or_default()
    }

    /// Begins the work of a member with superblocks in its turn.
    pub(crate) fn begin_work_of_turn(&mut self) {
        self.begin_forced_work(ForcedCollectionAmount::ToWatermark);
    }

    /// Counts an operation that the member receives.
    #[inline]
    pub(crate) fn count_operation(&mut self, now: TimeNs, kind: OpKind, out: &mut SsdOutbox) {
        self.pages_given += u64::from(kind == OpKind::Write);
        if self.leave.is_some() {
            self.note_gap(now, out);
        }
        if let Some(windows) = self.turn.as_mut().and_then(|turn| turn.windows.as_mut())
            && windows.count_operation(kind)
            && !self.run_is_over
        {
            out.report(now, self.member, MemberEvent::WindowMayEnd);
        }
    }

    /// Records the time between operations. A member that gets few may collect at the end of this nanosecond.
    fn note_gap(&mut self, now: TimeNs, out: &mut SsdOutbox) {
        let Some(leave) = &mut self.leave else { return };
        let last = leave.last_operation.replace(now);
        let Some(gap_ns) = last.map(|last| now - last).filter(|&gap_ns| gap_ns > 0) else { return };
        leave.mean_gap_ns = (leave.mean_gap_ns + gap_ns) / 2;
        if leave.mean_gap_ns > leave.role.idle_gap_ns {
            leave.few_operations_at = now;
            self.schedule_check(now, out);
        }
    }

    /// Schedules a check at the end of this nanosecond, when the member asks for leave or tells that it collects without. A drive with
    /// superblocks may begin to collect in its turn.
    fn schedule_check(&mut self, at: TimeNs, out: &mut SsdOutbox) {
        if (self.leave.is_some() || self.turn.is_some()) && self.ask_scheduled_at != at {
            self.ask_scheduled_at = at;
            out.report(at, self.member, MemberEvent::AskTimerEnds);
        }
    }

    /// Ends the scheduled check of a member that takes turns.
    pub(crate) fn end_check(&mut self) {
        self.ask_scheduled_at = NEVER;
    }

    /// Returns true if the member asks for leave before it collects.
    pub(crate) fn needs_leave(&self) -> bool {
        self.leave.is_some()
    }

    /// Returns the number of free blocks up to which a pool takes part in what the member has leave for; `None` if all pools do.
    pub(crate) fn leave_free_blocks(&self) -> Option<u32> {
        let limit = |leave: &Leave| if leave.works_idly { leave.role.idle_free_blocks } else { leave.role.ask_at_free_blocks };
        self.leave.as_ref().map(limit)
    }

    /// Checks at the end of a nanosecond whether the member must tell the controller something (rule 261). `least_free_blocks` are those of
    /// the pool with the fewest. `is_at_limit` is true if the member has superblocks and collects at its floor.
    ///
    /// Returns the work that the member begins without leave, because it gets few operations.
    pub(crate) fn check_leave(
        &mut self,
        now: TimeNs,
        least_free_blocks: u32,
        is_at_limit: bool,
        out: &mut SsdOutbox,
    ) -> Option<ForcedCollectionAmount> {
        self.ask_scheduled_at = NEVER;
        let has_leave = self.forced.is_some();
        let low_pool_write_at = self.low_pool_write_at;
        let leave = self.leave.as_mut()?;
        let asks_again = leave.retry_at == now;
        if asks_again {
            (leave.retry_at, leave.asks) = (NEVER, false);
        }
        let is_unasked = leave.works_idly || (!has_leave && (leave.needed_cleans > 0 || is_at_limit));
        if is_unasked && !leave.is_unasked {
            leave.is_unasked = true;
            self.send(now, ToController::GcRequest(CollectionUrgency::AT_LIMIT), out);
            return None;
        }
        if leave.is_unasked && !leave.works_idly && leave.needed_cleans == 0 && !is_at_limit {
            leave.is_unasked = false;
            out.report(now, self.member, MemberEvent::Sends(ToController::CollectionWithoutPermissionEnds));
        }
        let leave = self.leave.as_mut()?;
        if has_leave || leave.asks || leave.is_unasked {
            return None;
        }
        if leave.few_operations_at == now && least_free_blocks <= leave.role.idle_free_blocks {
            (leave.works_idly, leave.is_unasked, leave.few_operations_at) = (true, true, NEVER);
            let work = leave.role.idle_work;
            self.send(now, ToController::GcRequest(CollectionUrgency::AT_LIMIT), out);
            self.begin_forced_work(work);
            return Some(work);
        }
        if (asks_again || low_pool_write_at == now) && least_free_blocks <= leave.role.ask_at_free_blocks {
            leave.asks = true;
            self.send(now, ToController::AskGc { least_free_blocks }, out);
        }
        None
    }

    /// Returns the forced work that the member has not finished.
    pub(super) fn forced(&self) -> Option<ForcedCollectionAmount> {
        self.forced
    }

    /// Counts a superblock that has become free.
    pub(crate) fn count_freed_superblock(&mut self, at: TimeNs, out: &mut SsdOutbox) {
        self.freed += 1;
        self.schedule_check(at, out);
    }

    /// Returns true if the forced member must still free a superblock, regardless of the number of free ones (rule 123).
    pub(super) fn owes_superblock(&self) -> bool {
        self.freed == 0
            && matches!(self.forced, Some(ForcedCollectionAmount::OneVictimPerPool | ForcedCollectionAmount::OneVictimPerPoolThenWatermark))
    }

    /// Returns true if the member is forced to free exactly one superblock.
    pub(crate) fn frees_one_superblock(&self) -> bool {
        self.forced == Some(ForcedCollectionAmount::OneVictimPerPool)
    }

    /// Returns true if the controller has denied collection above the hard limit (rule 117).
    pub(crate) fn is_denied(&self) -> bool {
        self.denied || self.leave.is_some() || self.turn.is_some()
    }

    /// Returns true if pools above their hard limit may postpone their cleans (rules 117 and 119).
    pub(crate) fn may_defer(&self) -> bool {
        self.is_denied() || self.has_asked
    }

    /// Returns true if the idle time in which the member may collect has ended.
    pub(super) fn idle_is_over(&self) -> bool {
        self.stopped
    }

    /// Returns true if `work` may only be done in idle time and the run has ended.
    pub(crate) fn is_cancelled(&self, work: ForcedCollectionAmount) -> bool {
        self.run_is_over && work == ForcedCollectionAmount::UntilFreeBlocksAfterFill
    }

    /// Returns true if a die takes part in forced collection, given the free blocks of its pool with the fewest (rule 122).
    pub(super) fn takes_part(&self, free_blocks: u32) -> bool {
        match self.leave_free_blocks() {
            Some(limit) => free_blocks <= limit,
            None => self.role.across_dies || free_blocks <= self.role.t_soft_free_blocks,
        }
    }

    /// Ends collection in idle time for good, because the run has ended.
    pub(crate) fn run_ends(&mut self) {
        (self.stopped, self.run_is_over) = (true, true);
    }

    /// Processes a message of the controller. `state` returns the member's state, if the controller asks for it.
    pub(crate) fn receive(
        &mut self,
        now: TimeNs,
        message: ToMember,
        state: impl FnOnce() -> MemberState,
        out: &mut SsdOutbox,
    ) -> Consequence {
        match message {
            ToMember::ForceCollection(work) | ToMember::Grant(work) => {
                assert_eq!(self.forced, None, "the controller waits for GcDone");
                if let Some(leave) = &mut self.leave {
                    leave.asks = false;
                }
                self.begin_forced_work(work);
                Consequence::Collect(work)
            }
            ToMember::StopIdleCollection => {
                self.stopped = true;
                Consequence::StopIdleWork
            }
            ToMember::Deny => {
                self.denied = true;
                if let Some(leave) = &mut self.leave {
                    leave.retry_at = now + leave.role.retry_ns;
                    out.report(leave.retry_at, self.member, MemberEvent::AskTimerEnds);
                }
                Consequence::Nothing
            }
            ToMember::ReportState => {
                self.send(now, ToController::GcState(state()), out);
                Consequence::Nothing
            }
        }
    }

    /// Begins work that the controller has ordered or allowed.
    fn begin_forced_work(&mut self, work: ForcedCollectionAmount) {
        (self.forced, self.freed) = (Some(work), 0);
        (self.request, self.needed_began) = ((NEVER, 0), (NEVER, 0));
        (self.participates, self.denied, self.stopped) = (false, false, self.run_is_over);
        (self.has_asked, self.has_said_limit, self.collection_orders_received) = (false, false, self.collection_orders_received + 1);
        (self.low_pool_write_at, self.limit_reached_at) = (NEVER, NEVER);
        // A turn may begin its work several times.
        self.cycle_counts &= self.turn.is_some();
    }

    /// Sends a message to the controller.
    fn send(&self, at: TimeNs, message: ToController, out: &mut SsdOutbox) {
        out.report(at, self.member, MemberEvent::Sends(message));
    }

    /// Sets the number of dies that must finish the forced work.
    pub(crate) fn set_dies_left(&mut self, dies: u32) {
        assert!(self.forced.is_some() && self.dies_left == 0, "a member is forced once at a time");
        self.dies_left = dies;
    }

    /// Counts a die that has finished its forced work. Returns true if it was the last one.
    pub(crate) fn finish_die(&mut self) -> bool {
        assert!(self.forced.is_some() && self.dies_left > 0, "a die that is done was forced");
        self.dies_left -= 1;
        self.dies_left == 0
    }

    /// Ends the collection that the array's controller has ordered, and reports the end to the controller.
    pub(crate) fn finish_forced_work(&mut self, at: TimeNs, out: &mut SsdOutbox) {
        assert!(self.forced.is_some() && self.dies_left == 0, "only a forced member is done");
        self.forced = None;
        let has_worked_idly = self.leave.as_mut().is_some_and(|leave| std::mem::take(&mut leave.works_idly));
        if !has_worked_idly && self.turn.is_none() {
            self.send(at, ToController::GcDone, out);
        }
        if self.leave.is_some() {
            self.schedule_check(at, out);
        }
    }

    /// Asks to collect again after forced work has ended, if a reason arose in the meantime (rules 43 and 119).
    pub(crate) fn ask_again_if_due(&mut self, at: TimeNs, out: &mut SsdOutbox) {
        match self.role.joint_collection_request_timing {
            _ if self.leave.is_some() => {}
            JointCollectionRequestTiming::AtStartThreshold => self.ask(at, out),
            JointCollectionRequestTiming::AtSoftThreshold if self.low_pool_write_at == at || self.limit_reached_at == at => {
                self.schedule_ask(at, out)
            }
            JointCollectionRequestTiming::AtSoftThreshold => {}
        }
    }

    /// Records the end of a clean that a pool needed and that began at `began`.
    pub(crate) fn needed_clean_ended(&mut self, at: TimeNs, began: TimeNs, out: &mut SsdOutbox) {
        if let Some(leave) = &mut self.leave {
            leave.needed_cleans -= 1;
            return self.schedule_check(at, out);
        }
        if began == self.request.0 {
            assert!(self.request.1 > 0, "a request is outstanding while its cleans go on");
            self.request.1 -= 1;
            self.ask(at, out);
        }
    }

    /// Counts a collection that could not wait although the controller had not answered the member's request (rule 121).
    pub(crate) fn needed_collection_began(&mut self, at: TimeNs, out: &mut SsdOutbox) {
        if let Some(turn) = &mut self.turn {
            turn.counters.broken_contracts += u64::from(at >= turn.begins_cleans_until);
            if let Some(windows) = &mut turn.windows
                && windows.had_to_collect()
                && !self.run_is_over
            {
                out.report(at, self.member, MemberEvent::WindowMayEnd);
            }
        }
        if self.leave.is_some() || self.turn.is_some() {
            return;
        }
        if self.role.joint_collection_request_timing == JointCollectionRequestTiming::AtSoftThreshold && self.has_asked {
            debug_assert_eq!(self.forced, None, "being forced answers what was asked");
            out.report(at, self.member, MemberEvent::BeginsCollectionWithoutAnswer);
        }
    }

    /// Records that a die begins a clean because a pool needs it (rules 43 and 119).
    pub(crate) fn needed_clean_began(&mut self, at: TimeNs, out: &mut SsdOutbox) {
        if let Some(leave) = &mut self.leave {
            leave.needed_cleans += 1;
            return self.schedule_check(at, out);
        }
        if self.turn.is_some() {
            return self.needed_collection_began(at, out);
        }
        if self.role.joint_collection_request_timing == JointCollectionRequestTiming::AtSoftThreshold {
            self.limit_reached_at = at;
            self.needed_collection_began(at, out);
            if !self.has_said_limit {
                self.schedule_ask(at, out);
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
            self.ask(at, out);
        }
    }

    /// Asks the controller to collect if there is a reason.
    ///
    /// Dies may reach the same nanosecond in any order. Each event that may allow a request therefore calls this method. The result is the
    /// same as with one call at the end of the nanosecond (rule 43).
    fn ask(&mut self, at: TimeNs, out: &mut SsdOutbox) {
        if self.forced.is_none() && self.request.1 == 0 && self.needed_began.0 == at {
            self.request = self.needed_began;
            self.send(at, ToController::GcRequest(CollectionUrgency::AT_LIMIT), out);
        }
    }

    /// Returns true if a host write could make the member send a message.
    #[inline]
    pub(crate) fn reacts_to_writes(&self) -> bool {
        if let Some(leave) = &self.leave {
            return !leave.asks;
        }
        if self.turn.is_some() {
            return false;
        }
        let may_ask = self.role.joint_collection_request_timing == JointCollectionRequestTiming::AtSoftThreshold && !self.has_said_limit;
        (self.role.registers_for_joint_collection && !self.participates) || may_ask
    }

    /// Processes the start of a host write that leaves `free_blocks` free blocks in its pool. `is_at_limit` is true if the pool is then at
    /// its hard limit.
    pub(crate) fn host_write_began(&mut self, at: TimeNs, free_blocks: u32, is_at_limit: bool, out: &mut SsdOutbox) {
        if let Some(leave) = &self.leave {
            return self.note_low_pool(at, free_blocks <= leave.role.ask_at_free_blocks, out);
        }
        if free_blocks > self.role.t_soft_free_blocks {
            return;
        }
        let registers = self.role.registers_for_joint_collection && !self.participates;
        if self.role.joint_collection_request_timing == JointCollectionRequestTiming::AtSoftThreshold && !self.has_said_limit {
            self.low_pool_write_at = at;
            if is_at_limit {
                self.limit_reached_at = at;
            }
            if is_at_limit || !self.has_asked {
                self.schedule_ask(at, out);
            }
        }
        if registers {
            self.participates = true;
            self.send(at, ToController::RegisterForCycle, out);
        }
    }

    /// Records that a host write has left a pool so low that the member needs leave to collect it.
    fn note_low_pool(&mut self, at: TimeNs, is_low: bool, out: &mut SsdOutbox) {
        if is_low {
            self.low_pool_write_at = at;
            self.schedule_check(at, out);
        }
    }

    /// Schedules a check at the end of this nanosecond, when the member may ask to collect. A forced member schedules none.
    fn schedule_ask(&mut self, at: TimeNs, out: &mut SsdOutbox) {
        if self.forced.is_none() && self.ask_scheduled_at != at {
            self.ask_scheduled_at = at;
            out.report(at, self.member, MemberEvent::AskTimerEnds);
        }
    }

    /// Ends the scheduled check. Returns true if the member must send a soft request now, at the end of the nanosecond (rule 119).
    pub(crate) fn take_scheduled_ask(&mut self, now: TimeNs) -> bool {
        self.ask_scheduled_at = NEVER;
        self.forced.is_none() && !self.has_said_limit && (!self.has_asked || self.limit_reached_at == now)
    }

    /// Sends a soft request. `pages_left` is the number of pages that the member can still absorb. It is negative if more pages wait than
    /// fit.
    pub(crate) fn ask_softly(&mut self, now: TimeNs, pages_left: i64, is_at_limit: bool, out: &mut SsdOutbox) {
        let at_limit = self.limit_reached_at == now || pages_left < 0 || is_at_limit;
        (self.has_asked, self.has_said_limit) = (true, at_limit);
        self.send(now, ToController::GcRequest(self.need(pages_left.max(0) as u64, at_limit)), out);
    }

    /// Returns the urgency that the member states in a request.
    fn need(&self, pages_left: u64, at_limit: bool) -> CollectionUrgency {
        CollectionUrgency {
            page_writes_until_gc_start: pages_left,
            at_limit,
            pages_given: self.pages_given,
            collection_orders_received: self.collection_orders_received,
        }
    }

    /// Processes the opening of a superblock, or the end of forced collection. If few superblocks are free, the member registers or asks to
    /// collect (rule 216).
    pub(crate) fn superblock_opened(
        &mut self,
        at: TimeNs,
        free_blocks: u32,
        asks: bool,
        pages_left: u64,
        at_limit: bool,
        out: &mut SsdOutbox,
    ) {
        if let Some(leave) = &self.leave {
            self.note_low_pool(at, free_blocks <= leave.role.ask_at_free_blocks, out);
            return self.schedule_check(at, out);
        }
        if self.turn.is_some() {
            return self.schedule_check(at, out);
        }
        if self.forced.is_some() {
            return;
        }
        if self.role.registers_for_joint_collection && free_blocks <= self.role.t_soft_free_blocks && !self.participates {
            self.participates = true;
            self.send(at, ToController::RegisterForCycle, out);
        }
        if asks {
            self.has_asked = true;
            let need = match self.role.joint_collection_request_timing {
                JointCollectionRequestTiming::AtStartThreshold => CollectionUrgency::AT_LIMIT,
                JointCollectionRequestTiming::AtSoftThreshold => self.need(pages_left, at_limit),
            };
            self.send(at, ToController::GcRequest(need), out);
        }
    }
}
