//! A page operation from its arrival at a member with pools of blocks until its end.

use crate::events::{OperationTimeParts, TimeNs};
use crate::ids::{DieId, Lpn};
use crate::ssd::job::{LogicalPageOp, NEVER, Origin, WorkSnapshot};

/// Number that stands for no operation.
pub(super) const NONE: u32 = u32::MAX;

/// A page operation inside the member.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waiting {
    pub(crate) op: LogicalPageOp,
    pub(crate) origin: Origin,
    pub(crate) lpn: Lpn,
    pub(crate) die: DieId,
    pub(crate) submitted_ns: TimeNs,
    /// Time of arrival at the member.
    pub(crate) reached_ns: TimeNs,
    /// Start of the operation itself, after its waits.
    pub(crate) started_ns: TimeNs,
    pub(crate) left_die_ns: TimeNs,
    pub(crate) met_gc: bool,
    /// True if the operation overlaps with a step of a clean or is merged into one. Waits after its start then count as caused by
    /// collection.
    pub(crate) beside_clean: bool,
    /// Time at which the operation was first refused because no pool had room.
    pub(crate) refused_at: TimeNs,
    /// Time at which it began to wait for a blocking scope, as the first in the queue.
    pub(crate) awaits_scope_since: TimeNs,
    /// Snapshot of its die's work at the time when it entered the queue.
    pub(crate) before: WorkSnapshot,
    /// Time that it waited because mechanisms occupied its die, in nanoseconds.
    pub(crate) held_ns: u64,
    pub(crate) time: OperationTimeParts,
    /// The operations before and after it in its queue.
    pub(crate) previous: u32,
    pub(crate) next: u32,
    /// Number of operations that entered the queue before it.
    pub(crate) arrival: u64,
    /// True while the operation is in the queue.
    pub(crate) waits: bool,
}

impl Waiting {
    pub(super) fn new(now: TimeNs, op: LogicalPageOp, lpn: Lpn, die: DieId) -> Self {
        Self {
            op,
            origin: Origin::Array,
            lpn,
            die,
            submitted_ns: now,
            reached_ns: now,
            started_ns: now,
            left_die_ns: NEVER,
            met_gc: false,
            beside_clean: false,
            refused_at: NEVER,
            awaits_scope_since: NEVER,
            before: WorkSnapshot::default(),
            held_ns: 0,
            time: OperationTimeParts::default(),
            previous: NONE,
            next: NONE,
            arrival: 0,
            waits: false,
        }
    }

    /// Records that the operation cannot be served because no pool has room (rule 34).
    pub(super) fn refuse(&mut self, at: TimeNs) {
        self.refused_at = at.min(self.refused_at);
    }

    pub(super) fn starts(&mut self, at: TimeNs, beside_clean: bool) {
        (self.started_ns, self.beside_clean) = (at, beside_clean);
    }

    pub(crate) fn left_die(&mut self, at: TimeNs) {
        self.left_die_ns = at;
    }

    /// Returns its response time, divided into causes, if it ends at `at`.
    pub(crate) fn time_until(&self, at: TimeNs) -> OperationTimeParts {
        let mut time = self.time;
        let left_die = at.min(self.left_die_ns);
        if self.beside_clean {
            let own = time.transfer_ns + time.flash_ns + time.other_ns;
            time.collection_ns += (left_die - self.started_ns).saturating_sub(own);
        }
        time.other_ns += self.held_ns;
        time.transfer_ns += (self.reached_ns - self.submitted_ns) + (at - left_die);
        time.queue_ns = at - self.submitted_ns - time.total_ns();
        time
    }
}
