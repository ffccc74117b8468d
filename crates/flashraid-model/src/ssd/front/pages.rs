//! Pages of a write buffer before dies that take single pages (section 25 of the rules). It decides which pages may go to their dies.

use crate::request::OpKind;
use crate::ssd::job::{LogicalPageOp, Table};
use std::collections::{HashMap, VecDeque};

/// Stages of a page in the buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Stage {
    /// The page is in the write buffer and has not been sent to a die. Each die is sent one page of the buffer at a time. It gets the
    /// next one when it has begun to program the page before.
    ///
    /// With dynamic allocation, pages are sent to all dies together, because any die may take them. The number of pages that have
    /// been sent and not begun is then at most the number of dies.
    #[default]
    NotSentToDie,
    /// The page has been sent to the dies, and none has begun to program it. It waits in the queue of its die or, with dynamic
    /// allocation, for a die that accepts it.
    AtDie,
    /// The die has begun to program the page. A newer write of the same page cannot replace this copy any more, and takes room of its own
    /// in the buffer.
    Begun,
}

/// A page in the write buffer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Buffered {
    pub(crate) op: LogicalPageOp,
    /// Batch number of the page.
    pub(crate) number: u64,
    pub(crate) stage: Stage,
    pub(crate) lane: u32,
}

impl Default for Buffered {
    fn default() -> Self {
        let op = LogicalPageOp {
            logical_page: 0,
            kind: OpKind::Write,
            fua: false,
            must_not_wait_for_gc: false,
            workload_stream: 0,
            placement_handle: 0,
            completion_tag: 0,
        };
        Self { op, number: 0, stage: Stage::NotSentToDie, lane: 0 }
    }
}

/// Pages of a write buffer, in the order in which dies receive them.
#[derive(Debug, Clone, Default)]
pub(crate) struct PageBuffer {
    pub(crate) pages: Table<Buffered>,
    /// Latest version of each logical page that is in the buffer and not trimmed.
    pub(crate) held: HashMap<u64, u32>,
    /// Waiting pages of each die in order of entry. If dies are chosen late, there is one common queue.
    pub(crate) lanes: Vec<VecDeque<u32>>,
    /// Number of pages of each lane that have been sent to dies and whose programs have not begun. There is one lane per die or, with
    /// dynamic allocation, a common one.
    pub(crate) at_dies: Vec<u32>,
    /// Maximum number of pages of a lane that have been sent to dies and whose programs have not begun. It is 1 for the lane of a die,
    /// and the number of dies for a common lane.
    at_dies_max: u32,
}

impl PageBuffer {
    /// Returns the buffer of a member with `dies` dies. With `dynamic`, the die of a page is chosen when the page leaves the buffer.
    pub(crate) fn new(dies: u32, dynamic: bool) -> Self {
        let lanes = if dynamic { 1 } else { dies };
        Self {
            lanes: vec![VecDeque::new(); lanes as usize],
            at_dies: vec![0; lanes as usize],
            at_dies_max: dies / lanes,
            ..Self::default()
        }
    }

    /// Removes and returns the next page of a lane that may go to its die. A lane holds the waiting pages of one die or, with dynamic
    /// allocation, of all dies.
    pub(crate) fn next_for_die(&mut self, lane: u32) -> Option<(u32, LogicalPageOp)> {
        let of_lane = lane as usize;
        if self.at_dies[of_lane] == self.at_dies_max {
            return None;
        }
        let id = self.lanes[of_lane].pop_front()?;
        let page = &mut self.pages[id];
        assert_eq!(page.stage, Stage::NotSentToDie, "a page is given to a die once");
        page.stage = Stage::AtDie;
        self.at_dies[of_lane] += 1;
        Some((id, page.op))
    }

    /// Records that a die begins to program a page.
    pub(crate) fn begin_program(&mut self, id: u32) {
        let page = &mut self.pages[id];
        assert_eq!(page.stage, Stage::AtDie, "a die begins with what it has got");
        page.stage = Stage::Begun;
    }

    /// Returns the pages that no die has received yet.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = u64> {
        self.lanes.iter().flatten().map(|&id| self.pages[id].op.logical_page)
    }

    /// Verifies the state against the number of pages in the buffer, `used`.
    pub(crate) fn verify(&self, used: u32) -> Result<(), String> {
        let (pages, waiting) = (self.pages.taken(), self.lanes.iter().map(VecDeque::len).sum::<usize>());
        if pages != used as usize {
            return Err(format!("the write buffer has {pages} pages, but room for {used} is taken"));
        }
        if waiting > pages || self.held.len() > pages {
            return Err(format!("of {pages} pages of the write buffer {waiting} wait and {} can be read", self.held.len()));
        }
        match self.held.iter().find(|&(&page, &id)| self.pages[id].op.logical_page != page) {
            Some((page, id)) => Err(format!("page {page} is held as page {} of the write buffer", self.pages[*id].op.logical_page)),
            None => Ok(()),
        }
    }
}
