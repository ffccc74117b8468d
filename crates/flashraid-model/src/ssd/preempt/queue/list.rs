//! A doubly linked list through the pending operations.

use super::super::super::{NONE, Pending};
use crate::events::Slab;

/// Operations in the order in which they were added; each is in one list at most. What the first one holds as `previous` means nothing, so that
/// taking it out, which is most frequent, touches no other.
#[derive(Debug, Clone, Copy)]
pub struct List {
    head: u32,
    tail: u32,
}

impl Default for List {
    fn default() -> Self {
        Self { head: NONE, tail: NONE }
    }
}

impl List {
    pub fn is_empty(&self) -> bool {
        self.head == NONE
    }

    pub fn head(&self) -> u32 {
        self.head
    }

    pub fn push(&mut self, id: u32, pending: &mut Slab<Pending>) {
        (pending[id].previous, pending[id].next) = (self.tail, NONE);
        if self.tail == NONE {
            self.head = id;
        } else {
            pending[self.tail].next = id;
        }
        self.tail = id;
    }

    pub fn remove(&mut self, id: u32, pending: &mut Slab<Pending>) {
        let Pending { previous, next, .. } = pending[id];
        if self.head == id {
            self.head = next;
            if next == NONE {
                self.tail = NONE;
            }
            return;
        }
        pending[previous].next = next;
        if next == NONE {
            self.tail = previous;
        } else {
            pending[next].previous = previous;
        }
    }
}

/// An operation and all behind it.
pub fn from<'a>(mut id: u32, pending: &'a Slab<Pending>) -> impl Iterator<Item = u32> + use<'a> {
    std::iter::from_fn(move || {
        let this = (id != NONE).then_some(id)?;
        id = pending[this].next;
        Some(this)
    })
}
