//! Commands of the host.

use crate::events::TimeNs;
use crate::request::OpKind;
use crate::ssd::job::PageOp;
use crate::ssd::worked::WorkedBefore;

/// The operations of a moment for one completion.
#[derive(Debug, Clone)]
pub struct Command {
    pub kind: OpKind,
    /// A write that is to survive a loss of power.
    pub fua: bool,
    /// The placement handle of what it writes.
    pub handle: u8,
    pub ops: Vec<PageOp>,
    pub arrived: TimeNs,
    /// The moment at which it got its core.
    pub started: TimeNs,
    /// End of its latency.
    pub begun: TimeNs,
    /// The moment at which its data had crossed.
    pub crossed: TimeNs,
    /// Work of the dies until then.
    pub worked_before: WorkedBefore,
    /// The part of its wait for room that is collection's (rule 231).
    pub room_collection_ns: u64,
    /// The first operation whose unit is not in the buffer, or with a die, yet.
    pub next: u32,
    /// The moment from which on it has found no room.
    pub waits_since: Option<TimeNs>,
    /// Number of the command among those in flight, if there are queues.
    pub flight: u32,
    /// Pages that dies have not done, where dies serve it page by page.
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
            worked_before: WorkedBefore::default(),
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

    /// The source of its request.
    pub fn source(&self) -> u8 {
        self.ops.first().map_or(0, |op| op.source)
    }

    /// Returns true if an operation that comes at the same moment belongs to it.
    pub fn is_of(&self, op: &PageOp) -> bool {
        self.kind == op.kind && self.ops.first().is_some_and(|first| first.completion == op.completion)
    }
}

/// The units that operations in order of address touch, each with the range of operations that touch it.
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
