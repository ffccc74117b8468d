//! The operations that wait for an element, in order of arrival, and which of them may go in.

use super::super::{NONE, Pending};
use crate::slab::Slab;

/// A list through the pending operations.
#[derive(Debug, Clone)]
pub(super) struct Queue {
    head: u32,
    tail: u32,
    reads: u32,
    writes: u32,
    high_priority_writes: u32,
}

impl Default for Queue {
    fn default() -> Self {
        Self { head: NONE, tail: NONE, reads: 0, writes: 0, high_priority_writes: 0 }
    }
}

/// Which kinds of operations may go in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Admitted {
    pub reads: bool,
    pub writes: bool,
}

impl Queue {
    pub fn is_empty(&self) -> bool {
        self.head == NONE
    }

    pub fn head(&self) -> u32 {
        self.head
    }

    pub fn reads(&self) -> u32 {
        self.reads
    }

    pub fn writes(&self) -> u32 {
        self.writes
    }

    /// Whether a write waits that must not wait for collection.
    pub fn high_priority_waits(&self) -> bool {
        self.high_priority_writes > 0
    }

    fn count(&mut self, operation: &Pending, change: i32) {
        let kind = if operation.op.write { &mut self.writes } else { &mut self.reads };
        *kind = kind.wrapping_add_signed(change);
        if operation.op.write && operation.op.high_priority {
            self.high_priority_writes = self.high_priority_writes.wrapping_add_signed(change);
        }
    }

    pub fn push(&mut self, id: u32, pending: &mut Slab<Pending>) {
        pending[id].next = NONE;
        if self.head == NONE {
            self.head = id;
        } else {
            pending[self.tail].next = id;
        }
        self.tail = id;
        self.count(&pending[id], 1);
    }

    /// Takes out an operation that waits.
    pub fn remove(&mut self, id: u32, pending: &mut Slab<Pending>) {
        let next = pending[id].next;
        let mut before = NONE;
        if self.head == id {
            self.head = next;
        } else {
            before = self.head;
            while pending[before].next != id {
                before = pending[before].next;
            }
            pending[before].next = next;
        }
        if self.tail == id {
            self.tail = before;
        }
        self.count(&pending[id], -1);
    }

    /// The waiting operations in order.
    pub fn iter<'a>(&self, pending: &'a Slab<Pending>) -> impl Iterator<Item = u32> + use<'a> {
        let mut id = self.head;
        std::iter::from_fn(move || {
            let this = (id != NONE).then_some(id)?;
            id = pending[this].next;
            Some(this)
        })
    }

    /// The earliest waiting operation on the page of `slot`.
    pub fn first_on(&self, slot: u32, pending: &Slab<Pending>) -> Option<u32> {
        self.iter(pending).find(|&id| pending[id].slot == slot)
    }

    /// The operations of an admitted kind that overtake none on the same page, in order (rule 34).
    pub fn candidates<'a>(&'a self, admitted: Admitted, pending: &'a Slab<Pending>) -> impl Iterator<Item = u32> + 'a {
        let any = (admitted.reads && self.reads > 0) || (admitted.writes && self.writes > 0);
        let all = if any { self.iter(pending) } else { Self::default().iter(pending) };
        all.filter(move |&id| if pending[id].op.write { admitted.writes } else { admitted.reads })
            .filter(|&id| self.first_on(pending[id].slot, pending) == Some(id))
    }

    /// The first high-priority write that overtakes none on its page.
    pub fn first_high_priority_write(&self, pending: &Slab<Pending>) -> Option<u32> {
        self.candidates(Admitted { reads: false, writes: self.high_priority_writes > 0 }, pending).find(|&id| pending[id].op.high_priority)
    }
}
