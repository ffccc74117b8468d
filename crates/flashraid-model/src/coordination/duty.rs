//! Duties of members: what a member does for the scheme of its array, beside the work that the controller orders.
//!
//! A duty stands in the file of its scheme, beside what the controller does. An SSD tells its duty what happens, and asks it when it may
//! collect. The SSD knows neither schemes nor their messages.

use super::protocol::{ForcedCollectionAmount, MemberEvent, Notice, ToController};
use super::{BlockPoolSizeAndThresholds, CoordinationParams, PredictableLatencyCounters, SchemeCounters};
use crate::TimeNs;
use crate::request::OpKind;

/// Means of a duty, and what its member knows: it sends messages, and asks for a check.
#[derive(Debug)]
pub(crate) struct Desk<'a> {
    pub(crate) member: u32,
    /// True while the member does work of collection that it was told or allowed to do.
    pub(crate) has_work: bool,
    /// Number of page writes that the member has received.
    pub(crate) pages_given: u64,
    /// Number of times that the member was told or allowed to collect.
    pub(crate) orders_received: u32,
    /// True if the run has ended, after which members begin nothing of their own.
    pub(crate) run_is_over: bool,
    /// The nanosecond at whose end the duty is checked.
    pub(crate) check_at: &'a mut TimeNs,
    pub(crate) notices: &'a mut Vec<Notice>,
}

impl Desk<'_> {
    /// Reports an event of the member to the array's controller.
    pub(super) fn report(&mut self, at: TimeNs, event: MemberEvent) {
        self.notices.push(Notice { at, member: self.member, event });
    }

    /// Sends a message to the controller.
    pub(crate) fn send(&mut self, at: TimeNs, message: ToController) {
        self.report(at, MemberEvent::Sends(message));
    }

    /// Lets the member look, when all else of a nanosecond has happened, whether it must leave its deterministic window.
    pub(super) fn check_window_at(&mut self, at: TimeNs) {
        if !self.run_is_over {
            self.report(at, MemberEvent::WindowMayEnd);
        }
    }

    /// Lets the duty be checked when all else of a nanosecond has happened.
    pub(super) fn check_at_end_of(&mut self, at: TimeNs) {
        if *self.check_at != at {
            *self.check_at = at;
            self.report(at, MemberEvent::AskTimerEnds);
        }
    }
}

/// State of a member at which its duty looks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MemberLook {
    /// Number of free blocks in the pool that has the fewest.
    pub(crate) least_free_blocks: u32,
    /// True if the member has superblocks, of which it has so few that it asks to collect.
    pub(crate) is_short: bool,
    /// True if the member has superblocks and must collect, because no more than its floor of them is free.
    pub(crate) is_at_floor: bool,
    /// True if a pool has reached its start threshold, so that the member must collect.
    pub(crate) is_at_start: bool,
    /// Number of pages that can still be written before a pool may reach its start threshold. It is negative if more pages wait already.
    pub(crate) pages_left: i64,
}

/// Makes the duty of a member for the scheme `S`.
pub(crate) trait DutyOf<S>: MemberDuty {
    /// Returns the duty of a member that joins the protocol. `pools` has the sizes of its pools of blocks.
    fn new(scheme: &S, params: &CoordinationParams, pools: &BlockPoolSizeAndThresholds) -> Self;
}

/// The member's half of a scheme. Most methods tell that something has happened to the member; by default, nothing follows.
pub(crate) trait MemberDuty {
    /// Returns true if pools above their hard limit are not collected without permission (rule 117).
    fn holds_back(&self) -> bool {
        true
    }

    /// Returns true if the member has asked the controller to collect, and waits for an answer (rule 119).
    fn has_asked(&self) -> bool {
        false
    }

    /// Returns the number of free blocks up to which a pool takes part in the work of the member; `None` if all pools do.
    fn work_free_blocks(&self) -> Option<u32> {
        None
    }

    /// Returns true if a die takes part in the work of the member, given the free blocks of its pool with the fewest (rule 122).
    fn takes_part(&self, free_blocks: u32) -> bool {
        self.work_free_blocks().is_none_or(|limit| free_blocks <= limit)
    }

    /// Returns true if the member may collect in turns, without a word of the controller.
    fn takes_turns(&self) -> bool {
        false
    }

    /// Returns the number of free blocks at or below which a pool is collected now, because it is the member's turn.
    fn collect_at(&self, _now: TimeNs) -> Option<u32> {
        None
    }

    /// Returns the end of the member's turn while it lasts.
    fn turn_lasts_until(&self, _now: TimeNs) -> Option<TimeNs> {
        None
    }

    /// Learns that the member joins the protocol.
    fn joins(&mut self, _now: TimeNs, _desk: &mut Desk) {}

    /// Begins the member's turn, which ends at `end`. Cleans may begin before `until`.
    fn turn_begins(&mut self, _now: TimeNs, _until: TimeNs, _end: TimeNs) {}

    /// Ends the member's turn. Returns false if another one has begun since, so that the member's turn goes on.
    fn turn_ends(&mut self, _now: TimeNs, _desk: &mut Desk) -> bool {
        true
    }

    /// Leaves the deterministic window if the member must (rule 286).
    fn check_window(&mut self, _now: TimeNs, _desk: &mut Desk) {}

    /// Learns of the answer to a page read that the member got at `given`.
    fn read_answered(&mut self, _given: TimeNs, _answered: TimeNs) {}

    /// Learns that measuring begins. Counters other than maxima go on.
    fn measuring_begins(&mut self) {}

    /// Returns the counts of the member's windows of NVMe's predictable latency mode, if it has them.
    fn predictable_latency(&self) -> Option<PredictableLatencyCounters> {
        None
    }

    /// Learns that collection is in progress at the end of the member's turn.
    fn collection_overran(&mut self) {}

    /// Returns true if the start of a host write matters.
    fn reacts_to_writes(&self) -> bool {
        false
    }

    /// Learns that the member receives an operation.
    fn operation_given(&mut self, _now: TimeNs, _kind: OpKind, _desk: &mut Desk) {}

    /// Learns of the start of a host write that leaves its pool with so many free blocks, perhaps at its hard limit.
    fn host_write_began(&mut self, _at: TimeNs, _free_blocks: u32, _is_at_limit: bool, _desk: &mut Desk) {}

    /// Learns that a die begins a clean because a pool needs it.
    fn needed_clean_began(&mut self, at: TimeNs, desk: &mut Desk) {
        self.needed_collection_began(at, desk);
    }

    /// Learns of the end of a clean that a pool needed and that began at `began`.
    fn needed_clean_ended(&mut self, _at: TimeNs, _began: TimeNs, _desk: &mut Desk) {}

    /// Learns that a collection begins that cannot wait.
    fn needed_collection_began(&mut self, _at: TimeNs, _desk: &mut Desk) {}

    /// Learns that a drive has opened a superblock.
    fn superblock_opened(&mut self, _at: TimeNs, _look: &MemberLook, _desk: &mut Desk) {}

    /// Learns that a superblock has become free.
    fn superblock_freed(&mut self, _at: TimeNs, _desk: &mut Desk) {}

    /// Learns that the controller has denied collection.
    fn denied(&mut self, _now: TimeNs, _desk: &mut Desk) {}

    /// Learns that the member begins work that it was told or allowed to do, or that it does by itself.
    fn work_begins(&mut self) {}

    /// Learns that the member has ended its work. The controller waits for the message. A drive with superblocks passes its state.
    fn work_ended(&mut self, at: TimeNs, _drive: Option<&MemberLook>, desk: &mut Desk) {
        desk.send(at, ToController::GcDone);
    }

    /// Returns true if [`MemberDuty::check`] needs the number of pages that are left. To count them takes long.
    fn counts_pages_left(&self, _now: TimeNs, _has_work: bool) -> bool {
        false
    }

    /// Does what is due when all else of this nanosecond has happened. Returns work that the member begins by itself.
    fn check(&mut self, _now: TimeNs, _look: &MemberLook, _desk: &mut Desk) -> Option<ForcedCollectionAmount> {
        None
    }

    /// Adds the counters that the duty keeps.
    fn add_counters(&self, _counters: &mut SchemeCounters) {}
}
