//! The operations that wait for a die, in order of arrival, and which of them may go in.
//!
//! A short queue is walked through, which is fastest. A long one, as under an overload, keeps an index besides, so that no operation
//! costs more for those that wait with it.

mod index;
mod list;
#[cfg(test)]
mod tests;

use super::super::{NONE, Pending};
use crate::TimeNs;
use crate::events::Slab;
use index::Index;
pub(super) use list::List;

/// A queue with more operations has an index, until half as many are left; in unit tests fewer do, so that random queues come by one.
const SHORT: u32 = if cfg!(test) { 16 } else { 64 };

/// For each kind whether it is wanted: reads, writes, high-priority writes.
type Kinds = [bool; 3];

fn kind_of(operation: &Pending) -> usize {
    usize::from(operation.op.write) + usize::from(operation.op.write && operation.op.high_priority)
}

/// Which kinds of operations may go in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Admitted {
    pub reads: bool,
    pub writes: bool,
}

/// A list through the pending operations.
#[derive(Debug, Clone)]
pub(super) struct Queue {
    list: List,
    /// How many of each kind wait.
    waiting: [u32; 3],
    /// How many have entered so far.
    arrivals: u64,
    /// The first operation that no refusal of all writes has met.
    not_refused: u32,
    index: Option<Box<Index>>,
}

impl Default for Queue {
    fn default() -> Self {
        Self { list: List::default(), waiting: [0; 3], arrivals: 0, not_refused: NONE, index: None }
    }
}

impl Queue {
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub fn head(&self) -> u32 {
        self.list.head()
    }

    pub fn reads(&self) -> u32 {
        self.waiting[0]
    }

    pub fn writes(&self) -> u32 {
        self.waiting[1] + self.waiting[2]
    }

    /// Whether a write waits that must not wait for collection.
    pub fn high_priority_waits(&self) -> bool {
        self.waiting[2] > 0
    }

    fn len(&self) -> u32 {
        self.waiting.iter().sum()
    }

    pub fn push(&mut self, id: u32, pending: &mut Slab<Pending>) {
        self.list.push(id, pending);
        let operation = &mut pending[id];
        operation.arrival = self.arrivals;
        self.arrivals += 1;
        self.waiting[kind_of(operation)] += 1;
        if self.not_refused == NONE {
            self.not_refused = id;
        }
        if let Some(index) = &mut self.index {
            index.push(id, operation);
        } else if self.len() > SHORT {
            self.begin_index(pending);
        }
    }

    #[cold]
    fn begin_index(&mut self, pending: &Slab<Pending>) {
        let mut index = Box::<Index>::default();
        list::from(self.head(), pending).for_each(|id| index.push(id, &pending[id]));
        self.index = Some(index);
    }

    /// Takes out an operation that waits.
    pub fn remove(&mut self, id: u32, pending: &mut Slab<Pending>) {
        if self.not_refused == id {
            self.not_refused = pending[id].next;
        }
        self.list.remove(id, pending);
        self.waiting[kind_of(&pending[id])] -= 1;
        if let Some(index) = &mut self.index {
            index.remove(id, pending);
            if self.len() <= SHORT / 2 {
                self.index = None;
            }
        }
    }

    /// Refuses every write that waits, for want of room.
    pub fn refuse_writes(&mut self, at: TimeNs, pending: &mut Slab<Pending>) {
        while self.not_refused != NONE {
            let operation = &mut pending[self.not_refused];
            if operation.op.write {
                operation.refuse(at);
            }
            self.not_refused = operation.next;
        }
    }

    /// The earliest waiting operation on the page of `lpn`.
    pub fn first_on(&self, lpn: u32, pending: &Slab<Pending>) -> Option<u32> {
        match &self.index {
            Some(index) => index.first_on(lpn),
            None => list::from(self.head(), pending).find(|&id| pending[id].lpn == lpn),
        }
    }

    /// The operations of an admitted kind that overtake none on the same page, in order (rule 34).
    pub fn candidates<'a>(&'a self, admitted: Admitted, pending: &'a Slab<Pending>) -> impl Iterator<Item = u32> + 'a {
        self.candidates_of([admitted.reads, admitted.writes, admitted.writes], pending)
    }

    /// The first high-priority write that overtakes none on its page.
    pub fn first_high_priority_write(&self, pending: &Slab<Pending>) -> Option<u32> {
        self.candidates_of([false, false, true], pending).next()
    }

    fn candidates_of<'a>(&'a self, kinds: Kinds, pending: &'a Slab<Pending>) -> impl Iterator<Item = u32> + 'a {
        let wanted = |kind: usize| kinds[kind] && self.waiting[kind] > 0;
        let mut next = if wanted(0) || wanted(1) || wanted(2) { self.head() } else { NONE };
        std::iter::from_fn(move || {
            // What follows begins at an operation that arrived no earlier, whether or not it may go in itself.
            let from = (next != NONE).then_some(next)?;
            let found = match &self.index {
                Some(index) => index.first_of(kinds, pending[from].arrival)?,
                None => list::from(from, pending).find(|&id| {
                    let operation = &pending[id];
                    kinds[kind_of(operation)] && self.first_on(operation.lpn, pending) == Some(id)
                })?,
            };
            next = pending[found].next;
            Some(found)
        })
    }
}
