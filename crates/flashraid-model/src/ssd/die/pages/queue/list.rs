//! A doubly linked list of waiting operations.

use super::super::waiting::{NONE, Waiting};
use crate::events::Slab;

/// Operations in the order in which they were added. Each is in at most one list.
///
/// The `previous` of the first operation is undefined. Removing the first one, which is the most frequent case, therefore touches no other
/// operation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct List {
    head: u32,
    tail: u32,
}

impl Default for List {
    fn default() -> Self {
        Self { head: NONE, tail: NONE }
    }
}

impl List {
    pub(crate) fn is_empty(&self) -> bool {
        self.head == NONE
    }

    pub(crate) fn head(&self) -> u32 {
        self.head
    }

    pub(crate) fn tail(&self) -> u32 {
        self.tail
    }

    pub(crate) fn push(&mut self, id: u32, waiting: &mut Slab<Waiting>) {
        (waiting[id].previous, waiting[id].next) = (self.tail, NONE);
        if self.tail == NONE {
            self.head = id;
        } else {
            waiting[self.tail].next = id;
        }
        self.tail = id;
    }

    pub(crate) fn remove(&mut self, id: u32, waiting: &mut Slab<Waiting>) {
        let Waiting { previous, next, .. } = waiting[id];
        if self.head == id {
            self.head = next;
            if next == NONE {
                self.tail = NONE;
            }
            return;
        }
        waiting[previous].next = next;
        if next == NONE {
            self.tail = previous;
        } else {
            waiting[next].previous = previous;
        }
    }
}

/// Returns an operation and all operations after it.
pub(super) fn from<'a>(mut id: u32, waiting: &'a Slab<Waiting>) -> impl Iterator<Item = u32> + use<'a> {
    std::iter::from_fn(move || {
        let this = (id != NONE).then_some(id)?;
        id = waiting[this].next;
        Some(this)
    })
}
