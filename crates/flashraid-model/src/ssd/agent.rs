//! The member's side of the protocol with the controller of its array (sections 11, 21 and 22 of the rules).
//!
//! The agent does not know the dies or the mapping. Dies report free blocks, limits and finished work to it, and ask it whether they may
//! collect. What only some schemes ask of their members is its [`Duty`].

use super::job::NEVER;
use super::outbox::SsdOutbox;
use crate::coordination::{Desk, Duty, ForcedCollectionAmount, MemberLook, MemberState, ToController, ToMember};
use crate::events::TimeNs;
use crate::ids::MemberId;
use crate::request::OpKind;

/// Protocol state of one member: its duty, and the orders of the controller that it has not finished.
#[derive(Debug, Clone)]
pub(crate) struct Agent {
    member: MemberId,
    duty: Duty,
    /// Work that the controller has ordered or allowed, and that the member has not finished. `None` if there is no such work.
    forced: Option<ForcedCollectionAmount>,
    /// Number of superblocks that have become free since the member was last forced.
    freed: u32,
    /// Number of dies that have not finished the forced work.
    dies_left: u32,
    /// Number of page writes that the member has received.
    pages_given: u64,
    collection_orders_received: u32,
    /// True if the controller has denied collection above the hard limit, and has neither granted nor forced it since.
    denied: bool,
    /// True if the idle time in which the member may collect has ended.
    stopped: bool,
    /// True if the run has ended, after which members no longer collect in idle time.
    run_is_over: bool,
    /// The nanosecond at whose end the duty is checked.
    check_at: TimeNs,
    /// Number of forced cycles, permissions or turns in which the member has collected something.
    collecting_cycles: u64,
    /// True if the present or latest of them counts in `collecting_cycles`.
    cycle_counts: bool,
}

impl Agent {
    /// Returns the protocol state of a member that joins the protocol now.
    pub(super) fn new(now: TimeNs, member: MemberId, duty: Duty, out: &mut SsdOutbox) -> Self {
        let mut agent = Self {
            member,
            duty,
            forced: None,
            freed: 0,
            dies_left: 0,
            pages_given: 0,
            collection_orders_received: 0,
            denied: false,
            stopped: false,
            run_is_over: false,
            check_at: NEVER,
            collecting_cycles: 0,
            cycle_counts: false,
        };
        agent.tell(out, |duty, desk| duty.joins(now, desk));
        agent
    }

    /// Returns the duty of the member.
    #[inline]
    pub(crate) fn duty(&self) -> &Duty {
        &self.duty
    }

    /// Returns the duty of the member, to tell it what it needs no desk for.
    #[inline]
    pub(crate) fn duty_mut(&mut self) -> &mut Duty {
        &mut self.duty
    }

    /// Tells the duty that something has happened.
    pub(crate) fn tell<R>(&mut self, out: &mut SsdOutbox, tell: impl FnOnce(&mut Duty, &mut Desk) -> R) -> R {
        let mut desk = Desk {
            member: self.member.0,
            has_work: self.forced.is_some(),
            pages_given: self.pages_given,
            orders_received: self.collection_orders_received,
            run_is_over: self.run_is_over,
            check_at: &mut self.check_at,
            notices: &mut out.notices,
        };
        tell(&mut self.duty, &mut desk)
    }

    /// Counts the forced cycle, permission or turn in progress if this is the first collection in it.
    #[inline]
    pub(crate) fn count_cycle_of_collection(&mut self, now: TimeNs) {
        let is_in_cycle = if self.duty.takes_turns() { self.duty.turn_lasts_until(now).is_some() } else { self.forced.is_some() };
        if is_in_cycle && !self.cycle_counts {
            (self.collecting_cycles, self.cycle_counts) = (self.collecting_cycles + 1, true);
        }
    }

    /// Returns the number of forced cycles, permissions or turns in which the member has collected something.
    pub(crate) fn collecting_cycles(&self) -> u64 {
        self.collecting_cycles
    }

    /// Counts an operation that the member receives.
    #[inline]
    pub(crate) fn count_operation(&mut self, now: TimeNs, kind: OpKind, out: &mut SsdOutbox) {
        self.pages_given += u64::from(kind == OpKind::Write);
        self.tell(out, |duty, desk| duty.operation_given(now, kind, desk));
    }

    /// Returns true if the duty needs the number of pages that are left when it is checked now.
    pub(crate) fn counts_pages_left(&self, now: TimeNs) -> bool {
        self.duty.counts_pages_left(now, self.forced.is_some())
    }

    /// Lets the duty do what is due at the end of this nanosecond. Returns the work that the member begins by itself.
    pub(crate) fn check(&mut self, now: TimeNs, look: &MemberLook, out: &mut SsdOutbox) -> Option<ForcedCollectionAmount> {
        self.check_at = NEVER;
        let work = self.tell(out, |duty, desk| duty.check(now, look, desk))?;
        self.begin_forced_work(work);
        Some(work)
    }

    /// Returns the forced work that the member has not finished.
    pub(super) fn forced(&self) -> Option<ForcedCollectionAmount> {
        self.forced
    }

    /// Counts a superblock that has become free.
    pub(crate) fn count_freed_superblock(&mut self, at: TimeNs, out: &mut SsdOutbox) {
        self.freed += 1;
        self.tell(out, |duty, desk| duty.superblock_freed(at, desk));
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

    /// Returns true if the member may not collect above the hard limit (rule 117).
    pub(crate) fn is_denied(&self) -> bool {
        self.denied || self.duty.holds_back()
    }

    /// Returns true if pools above their hard limit may postpone their cleans (rules 117 and 119).
    pub(crate) fn may_defer(&self) -> bool {
        self.is_denied() || self.duty.has_asked()
    }

    /// Returns true if the idle time in which the member may collect has ended.
    pub(super) fn idle_is_over(&self) -> bool {
        self.stopped
    }

    /// Returns true if `work` may only be done in idle time and the run has ended.
    pub(crate) fn is_cancelled(&self, work: ForcedCollectionAmount) -> bool {
        self.run_is_over && work == ForcedCollectionAmount::UntilFreeBlocksAfterFill
    }

    /// Ends collection in idle time for good, because the run has ended.
    pub(crate) fn run_ends(&mut self) {
        (self.stopped, self.run_is_over) = (true, true);
    }

    /// Processes a message of the controller. `state` is what the member answers if the controller asks for its state.
    pub(crate) fn receive(&mut self, now: TimeNs, message: ToMember, state: MemberState, out: &mut SsdOutbox) {
        match message {
            ToMember::ForceCollection(work) | ToMember::Grant(work) => {
                assert_eq!(self.forced, None, "the controller waits for GcDone");
                self.begin_forced_work(work);
            }
            ToMember::StopIdleCollection => self.stopped = true,
            ToMember::Deny => {
                self.denied = true;
                self.tell(out, |duty, desk| duty.denied(now, desk));
            }
            ToMember::BeginTurn { begin_cleans_until, end } => {
                self.duty.turn_begins(now, begin_cleans_until, end);
                self.cycle_counts = false;
            }
            ToMember::ReportState => self.tell(out, |_, desk| desk.send(now, ToController::GcState(state))),
            ToMember::CheckWindow => self.tell(out, |duty, desk| duty.check_window(now, desk)),
            ToMember::CloseTurn | ToMember::EndTurn | ToMember::CheckDuty => {}
        }
    }

    /// Ends the member's turn. `collects` is true if collection of the turn is still in progress.
    pub(crate) fn end_turn(&mut self, now: TimeNs, collects: bool, out: &mut SsdOutbox) {
        let has_ended = self.tell(out, |duty, desk| duty.turn_ends(now, desk));
        if has_ended && collects {
            self.duty.collection_overran();
        }
    }

    /// Begins work that the controller has ordered or allowed, or that the member does by itself.
    pub(crate) fn begin_forced_work(&mut self, work: ForcedCollectionAmount) {
        (self.forced, self.freed) = (Some(work), 0);
        self.duty.work_begins();
        (self.denied, self.stopped) = (false, self.run_is_over);
        self.collection_orders_received += 1;
        // A turn may begin its work several times.
        self.cycle_counts &= self.duty.takes_turns();
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

    /// Ends the collection that the array's controller has ordered, and reports its end to the controller. A drive with
    /// superblocks passes its state.
    pub(crate) fn finish_forced_work(&mut self, at: TimeNs, drive: Option<&MemberLook>, out: &mut SsdOutbox) {
        assert!(self.forced.is_some() && self.dies_left == 0, "only a forced member is done");
        self.forced = None;
        self.tell(out, |duty, desk| duty.work_ended(at, drive, desk));
    }
}
