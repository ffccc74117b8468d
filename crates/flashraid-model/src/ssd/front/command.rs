//! Commands of the host.

use crate::events::TimeNs;
use crate::request::OpKind;
use crate::ssd::job::PageOp;
use crate::ssd::work_times::WorkTimesSnapshot;

/// Operations that arrive at the same time for the same completion.
#[derive(Debug, Clone)]
pub struct Command {
    pub kind: OpKind,
    /// True for a write that must survive a loss of power.
    pub fua: bool,
    /// Placement handle of the data that it writes.
    pub handle: u8,
    pub ops: Vec<PageOp>,
    pub arrived: TimeNs,
    /// Time at which it got its core.
    pub started: TimeNs,
    /// End of its latency.
    pub begun: TimeNs,
    /// Time at which its data had crossed the link.
    pub crossed: TimeNs,
    /// Work of the dies before that time.
    pub work_times_before: WorkTimesSnapshot,
    /// Part of its wait for room that collection caused (rule 231).
    pub room_collection_ns: u64,
    /// First operation whose unit is neither in the buffer nor with a die.
    pub next: u32,
    /// Time since which it has waited for room.
    pub waits_since: Option<TimeNs>,
    /// Number of the command among those that were fetched, if there are queues.
    pub flight: u32,
    /// Number of pages that dies have not finished, if dies take single pages.
    pub pages_left: u32,
}

impl Default for Command {
    fn default() -> Self {
        Self {
            kind: OpKind::Read,
            fua: false,
            handle: 0,
            ops: Vec::new(),
            arrived: 0,
            started: 0,
            begun: 0,
            crossed: 0,
            work_times_before: WorkTimesSnapshot::default(),
            room_collection_ns: 0,
            next: 0,
            waits_since: None,
            flight: 0,
            pages_left: 0,
        }
    }
}

impl Command {
    pub fn begin(&mut self, now: TimeNs, first: &PageOp, handle: u8) {
        self.ops.clear();
        (self.kind, self.fua, self.handle, self.arrived, self.next, self.waits_since) = (first.kind, first.fua, handle, now, 0, None);
    }

    /// Returns true if the command has pages that are not done.
    pub fn is_at_work(&self) -> bool {
        !self.ops.is_empty() || self.pages_left > 0
    }

    /// Returns the source of its request.
    pub fn source(&self) -> u8 {
        self.ops.first().map_or(0, |op| op.source)
    }

    /// Returns true if an operation that arrives at the same time belongs to the command.
    pub fn is_of(&self, op: &PageOp) -> bool {
        self.kind == op.kind && self.ops.first().is_some_and(|first| first.completion == op.completion)
    }
}

/// Returns the units that operations in order of address touch, each with the range of these operations.
pub fn units_of(ops: &[PageOp], unit_pages: u32) -> impl Iterator<Item = (u32, std::ops::Range<usize>)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let unit = ops.get(at)?.page / unit_pages;
        let begin = at;
        while ops.get(at).is_some_and(|op| op.page / unit_pages == unit) {
            at += 1;
        }
        Some((unit, begin..at))
    })
}
