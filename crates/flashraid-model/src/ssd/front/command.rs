//! Commands that the host sends to a drive.

use crate::events::TimeNs;
use crate::request::OpKind;
use crate::ssd::job::LogicalPageOp;
use crate::ssd::work_times::WorkTimesSnapshot;

/// Operations that arrive at the same time and belong to the same completion.
#[derive(Debug, Clone)]
pub(crate) struct Command {
    pub(crate) kind: OpKind,
    /// True for a write that must be safe from a loss of power before it counts as done.
    pub(crate) fua: bool,
    /// Placement handle of the data that it writes.
    pub(crate) handle: u8,
    pub(crate) ops: Vec<LogicalPageOp>,
    pub(crate) arrived: TimeNs,
    /// Time at which a processor core began to handle it.
    pub(crate) started: TimeNs,
    /// Time at which the latency of the controller had passed.
    pub(crate) begun: TimeNs,
    /// Time at which its data had crossed the link.
    pub(crate) crossed: TimeNs,
    /// Snapshot of the dies' work at the time `crossed`.
    pub(crate) work_times_before: WorkTimesSnapshot,
    /// Part of its wait for room that was caused by collection (rule 231).
    pub(crate) room_collection_ns: u64,
    /// Index of the first operation whose unit is neither in the buffer nor with a die.
    pub(crate) next: u32,
    /// Time since which it has waited for room.
    pub(crate) waits_since: Option<TimeNs>,
    /// Number of the command among the fetched ones, if the drive has submission queues.
    pub(crate) fetched_id: u32,
    /// Number of its pages that dies have not finished. Only dies for single pages use it.
    pub(crate) pages_left: u32,
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
            fetched_id: 0,
            pages_left: 0,
        }
    }
}

impl Command {
    pub(crate) fn begin(&mut self, now: TimeNs, first: &LogicalPageOp) {
        self.ops.clear();
        (self.kind, self.fua, self.handle) = (first.kind, first.fua, first.placement_handle);
        (self.arrived, self.next, self.waits_since) = (now, 0, None);
    }

    /// Returns true if the command has pages that are not done.
    pub(crate) fn is_at_work(&self) -> bool {
        !self.ops.is_empty() || self.pages_left > 0
    }

    /// Returns the stream of its request in a mix of workloads.
    pub(crate) fn source(&self) -> u8 {
        self.ops.first().map_or(0, |op| op.workload_stream)
    }

    /// Returns true if an operation that arrives at the same time belongs to this command.
    pub(crate) fn is_of(&self, op: &LogicalPageOp) -> bool {
        self.kind == op.kind && self.ops.first().is_some_and(|first| first.completion_tag == op.completion_tag)
    }
}

/// Groups operations in order of address into units. Returns each unit with the range of its operations.
pub(crate) fn units_of(ops: &[LogicalPageOp], pages_per_mapping_unit: u32) -> impl Iterator<Item = (u64, std::ops::Range<usize>)> {
    let (mut at, pages_per_mapping_unit) = (0, u64::from(pages_per_mapping_unit));
    std::iter::from_fn(move || {
        let unit = ops.get(at)?.logical_page / pages_per_mapping_unit;
        let begin = at;
        while ops.get(at).is_some_and(|op| op.logical_page / pages_per_mapping_unit == unit) {
            at += 1;
        }
        Some((unit, begin..at))
    })
}
