//! Parts of writes on their way into the member caches, and their turns at a stripe (rules 77 and 78).

use super::common::Writer;
use crate::TimeNs;
use std::collections::BTreeMap;

const NONE: u32 = u32::MAX;

/// Whose part it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// A host write.
    Host(u32),
    /// What the front destages in this slot.
    Front(u16),
}

/// The pages of a writer in one stripe.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub owner: Owner,
    pub writer: Writer,
    pub stripe: u64,
    /// Data pages, counted through the columns of the stripe, in order.
    pub offsets: Vec<u32>,
    /// Pages that wait for room.
    pub waiting: u32,
    /// When the memory has written what has been admitted.
    pub end: TimeNs,
    /// Its pages have been announced as on their way.
    pub announced: bool,
    /// The part that gets the stripe next.
    next: u32,
}

/// Parts by number; numbers are used again.
#[derive(Debug, Clone, Default)]
pub(super) struct Parts {
    parts: Vec<Part>,
    unused: Vec<u32>,
    /// The part whose turn it is at a stripe, and the last one that waits for it.
    turns: BTreeMap<u64, (u32, u32)>,
}

impl Parts {
    pub fn insert(&mut self, owner: Owner, writer: Writer, stripe: u64) -> u32 {
        match self.unused.pop() {
            Some(number) => {
                let part = &mut self.parts[number as usize];
                let offsets = std::mem::take(&mut part.offsets);
                *part = Part { owner, writer, stripe, offsets, waiting: 0, end: 0, announced: false, next: NONE };
                number
            }
            None => {
                let part = Part { owner, writer, stripe, offsets: Vec::new(), waiting: 0, end: 0, announced: false, next: NONE };
                self.parts.push(part);
                self.parts.len() as u32 - 1
            }
        }
    }

    pub fn remove(&mut self, number: u32) {
        self.parts[number as usize].offsets.clear();
        self.unused.push(number);
    }

    /// Asks for the turn of a part at its stripe; says whether it has it at once.
    pub fn ask_for_turn(&mut self, number: u32) -> bool {
        let stripe = self[number].stripe;
        match self.turns.get_mut(&stripe) {
            None => {
                self.turns.insert(stripe, (number, number));
                true
            }
            Some((_, last)) => {
                let before = std::mem::replace(last, number);
                self.parts[before as usize].next = number;
                false
            }
        }
    }

    /// Ends the turn of a part; returns the part whose turn begins.
    pub fn end_turn(&mut self, number: u32) -> Option<u32> {
        let part = &mut self.parts[number as usize];
        let (stripe, next) = (part.stripe, std::mem::replace(&mut part.next, NONE));
        if next == NONE {
            self.turns.remove(&stripe);
            return None;
        }
        if let Some((holder, _)) = self.turns.get_mut(&stripe) {
            *holder = next;
        }
        Some(next)
    }

    /// What the front destages now has to leave before a rebuild may begin.
    pub fn mark_those_from_front(&mut self) {
        let from_front = self.parts.iter_mut().filter(|part| matches!(part.owner, Owner::Front(_)));
        from_front.for_each(|part| part.writer.marked = true);
    }
}

impl std::ops::Index<u32> for Parts {
    type Output = Part;
    #[inline]
    fn index(&self, number: u32) -> &Part {
        &self.parts[number as usize]
    }
}

impl std::ops::IndexMut<u32> for Parts {
    #[inline]
    fn index_mut(&mut self, number: u32) -> &mut Part {
        &mut self.parts[number as usize]
    }
}
