//! Sub-requests on their way into the member caches, and their turns at a stripe (rules 77 and 78).

use super::common::Writer;
use crate::TimeNs;
use std::collections::BTreeMap;

const NONE: u32 = u32::MAX;

/// The write from which a sub-request comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// The host write with this number.
    Host(u32),
    /// A destage that writes pages from the first level into the member caches. The first level is a cache of write groups (the dirty
    /// pages of one stripe each). It has a slot for each destage in progress, and the number is that of this slot.
    WriteGroupCacheDestage(u16),
}

/// The pages of one write in one stripe.
#[derive(Debug, Clone)]
pub(super) struct SubRequest {
    pub(crate) owner: Owner,
    pub(crate) writer: Writer,
    pub(crate) stripe: u64,
    /// Offsets of the data pages in the stripe, in ascending order: first all pages of column 0, then those of column 1, and so on.
    pub(crate) offsets: Vec<u32>,
    /// Number of its pages that wait for room.
    pub(crate) waiting: u32,
    /// Time at which the memory has written those of its pages that were admitted.
    pub(crate) end: TimeNs,
    /// True if reads can find its pages although they have not entered a cache yet.
    pub(crate) announced: bool,
    /// The sub-request that gets its turn at the stripe after this one.
    next: u32,
}

/// All sub-requests by number. Numbers of finished ones are reused.
#[derive(Debug, Clone, Default)]
pub(super) struct SubRequests {
    sub_requests: Vec<SubRequest>,
    unused: Vec<u32>,
    /// The sub-request that has its turn at each stripe, and the last one that waits for it.
    turns: BTreeMap<u64, (u32, u32)>,
}

impl SubRequests {
    pub(super) fn insert(&mut self, owner: Owner, writer: Writer, stripe: u64) -> u32 {
        match self.unused.pop() {
            Some(number) => {
                let sub_request = &mut self.sub_requests[number as usize];
                let offsets = std::mem::take(&mut sub_request.offsets);
                *sub_request = SubRequest { owner, writer, stripe, offsets, waiting: 0, end: 0, announced: false, next: NONE };
                number
            }
            None => {
                let sub_request =
                    SubRequest { owner, writer, stripe, offsets: Vec::new(), waiting: 0, end: 0, announced: false, next: NONE };
                self.sub_requests.push(sub_request);
                self.sub_requests.len() as u32 - 1
            }
        }
    }

    pub(super) fn remove(&mut self, number: u32) {
        self.sub_requests[number as usize].offsets.clear();
        self.unused.push(number);
    }

    /// Requests the turn of a sub-request at its stripe. Returns true if its turn begins at once.
    pub(crate) fn ask_for_turn(&mut self, number: u32) -> bool {
        let stripe = self[number].stripe;
        match self.turns.get_mut(&stripe) {
            None => {
                self.turns.insert(stripe, (number, number));
                true
            }
            Some((_, last)) => {
                let before = std::mem::replace(last, number);
                self.sub_requests[before as usize].next = number;
                false
            }
        }
    }

    /// Ends the turn of a sub-request. Returns the sub-request whose turn begins.
    pub(crate) fn end_turn(&mut self, number: u32) -> Option<u32> {
        let sub_request = &mut self.sub_requests[number as usize];
        let (stripe, next) = (sub_request.stripe, std::mem::replace(&mut sub_request.next, NONE));
        if next == NONE {
            self.turns.remove(&stripe);
            return None;
        }
        if let Some((holder, _)) = self.turns.get_mut(&stripe) {
            *holder = next;
        }
        Some(next)
    }

    /// Marks the pages that the first level is destaging now, because they must be destaged further before rebuilding may begin.
    pub(crate) fn mark_first_level(&mut self) {
        let of_first_level =
            self.sub_requests.iter_mut().filter(|sub_request| matches!(sub_request.owner, Owner::WriteGroupCacheDestage(_)));
        of_first_level.for_each(|sub_request| sub_request.writer.marked = true);
    }
}

impl std::ops::Index<u32> for SubRequests {
    type Output = SubRequest;
    #[inline]
    fn index(&self, number: u32) -> &SubRequest {
        &self.sub_requests[number as usize]
    }
}

impl std::ops::IndexMut<u32> for SubRequests {
    #[inline]
    fn index_mut(&mut self, number: u32) -> &mut SubRequest {
        &mut self.sub_requests[number as usize]
    }
}
