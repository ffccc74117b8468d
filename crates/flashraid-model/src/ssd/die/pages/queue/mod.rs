//! The operations that wait for a die, in order of arrival, and the search for those that may be served.
//!
//! A short queue is searched from its front, which is fastest. A long queue gets an index as soon as it is searched, as under an overload.
//! The cost of an operation then does not depend on the length. First come first served needs no search at all.

mod index;
mod list;
#[cfg(test)]
mod tests;

use super::waiting::{NONE, Waiting};
use crate::events::{Slab, TimeNs};
use crate::ids::Lpn;
use crate::request::OpKind;
use index::Index;
pub(super) use list::List;
use std::sync::OnceLock;

/// Length up to which a queue is searched without an index. A longer queue gets an index when it is first searched, and keeps it until half
/// as many operations are left. The limit is lower in unit tests, so that random queues reach it.
const SHORT: u32 = if cfg!(test) { 16 } else { 64 };

/// Number of kinds of operations: reads, writes, high-priority writes, trims.
const KINDS: usize = 4;

/// Set of kinds: entry k is true if kind k belongs to the set.
type Kinds = [bool; KINDS];

fn kind_of(operation: &Waiting) -> usize {
    match operation.op.kind {
        OpKind::Read => 0,
        OpKind::Write => 1 + usize::from(operation.op.must_not_wait_for_gc),
        _ => 3,
    }
}

/// Kinds of operations that may be served at a preemption point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Admitted {
    /// True for reads and trims.
    pub(crate) reads: bool,
    pub(crate) writes: bool,
}

/// Queue of the operations that wait for a die.
#[derive(Debug, Clone)]
pub(super) struct Queue {
    list: List,
    /// Number of waiting operations of each kind.
    waiting: [u32; KINDS],
    /// Number of operations that have ever entered the queue.
    arrivals: u64,
    /// First operation that entered the queue after writes were last refused.
    not_refused: u32,
    index: OnceLock<Box<Index>>,
}

impl Default for Queue {
    fn default() -> Self {
        Self { list: List::default(), waiting: [0; KINDS], arrivals: 0, not_refused: NONE, index: OnceLock::new() }
    }
}

impl Queue {
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(super) fn head(&self) -> u32 {
        self.list.head()
    }

    pub(super) fn tail(&self) -> u32 {
        self.list.tail()
    }

    /// Returns the number of waiting reads and trims.
    pub(super) fn reads(&self) -> u32 {
        self.waiting[0] + self.waiting[3]
    }

    pub(super) fn writes(&self) -> u32 {
        self.waiting[1] + self.waiting[2]
    }

    /// Returns true if a write of high priority waits.
    pub(crate) fn high_priority_waits(&self) -> bool {
        self.waiting[2] > 0
    }

    /// Returns the sum of `ns` over the waiting operations, by their kinds.
    pub(super) fn sum_ns(&self, ns: impl Fn(OpKind) -> u64) -> u64 {
        let [reads, writes, writes_of_high_priority, trims] = self.waiting.map(u64::from);
        reads * ns(OpKind::Read) + (writes + writes_of_high_priority) * ns(OpKind::Write) + trims * ns(OpKind::Trim)
    }

    /// Returns the number of operations that have ever entered the queue.
    pub(super) fn arrivals(&self) -> u64 {
        self.arrivals
    }

    fn len(&self) -> u32 {
        self.waiting.iter().sum()
    }

    pub(super) fn push(&mut self, id: u32, all: &mut Slab<Waiting>) {
        self.list.push(id, all);
        let operation = &mut all[id];
        operation.arrival = self.arrivals;
        operation.waits = true;
        self.arrivals += 1;
        self.waiting[kind_of(operation)] += 1;
        if self.not_refused == NONE {
            self.not_refused = id;
        }
        if let Some(index) = self.index.get_mut() {
            index.push(id, operation);
        }
    }

    /// Returns the index. Builds it if the queue is long and has none yet.
    fn index(&self, all: &Slab<Waiting>) -> Option<&Index> {
        if self.index.get().is_none() && self.len() <= SHORT {
            return None;
        }
        Some(self.index.get_or_init(|| {
            let mut index = Box::<Index>::default();
            list::from(self.head(), all).for_each(|id| index.push(id, &all[id]));
            index
        }))
    }

    /// Removes a waiting operation.
    pub(super) fn remove(&mut self, id: u32, all: &mut Slab<Waiting>) {
        if self.not_refused == id {
            self.not_refused = all[id].next;
        }
        self.list.remove(id, all);
        all[id].waits = false;
        self.waiting[kind_of(&all[id])] -= 1;
        if let Some(index) = self.index.get_mut() {
            index.remove(id, all);
            if self.len() <= SHORT / 2 {
                self.index.take();
            }
        }
    }

    /// Marks every waiting write as refused, because no pool has room.
    pub(crate) fn refuse_writes(&mut self, at: TimeNs, all: &mut Slab<Waiting>) {
        while self.not_refused != NONE {
            let operation = &mut all[self.not_refused];
            if operation.op.kind == OpKind::Write {
                operation.refuse(at);
            }
            self.not_refused = operation.next;
        }
    }

    /// Returns the earliest waiting operation on the page `lpn`.
    pub(crate) fn first_on(&self, lpn: Lpn, all: &Slab<Waiting>) -> Option<u32> {
        match self.index(all) {
            Some(index) => index.first_on(lpn),
            None => list::from(self.head(), all).find(|&id| all[id].lpn == lpn),
        }
    }

    /// Returns the operations of admitted kinds, in order. An operation is left out if an earlier one waits for the same page (rule 34).
    pub(super) fn candidates<'a>(&'a self, admitted: Admitted, all: &'a Slab<Waiting>) -> impl Iterator<Item = u32> + 'a {
        self.candidates_of([admitted.reads, admitted.writes, admitted.writes, admitted.reads], all)
    }

    /// Returns the first high-priority write before which no operation waits for the same page.
    pub(crate) fn first_high_priority_write(&self, all: &Slab<Waiting>) -> Option<u32> {
        self.candidates_of([false, false, true, false], all).next()
    }

    fn candidates_of<'a>(&'a self, kinds: Kinds, all: &'a Slab<Waiting>) -> impl Iterator<Item = u32> + 'a {
        let wanted = |kind: usize| kinds[kind] && self.waiting[kind] > 0;
        let mut next = if (0..KINDS).any(wanted) { self.head() } else { NONE };
        std::iter::from_fn(move || {
            // What follows begins at an operation that arrived no earlier, whether or not it may be admitted itself.
            let from = (next != NONE).then_some(next)?;
            let found = match self.index(all) {
                Some(index) => index.first_of(kinds, all[from].arrival)?,
                None => list::from(from, all).find(|&id| {
                    let operation = &all[id];
                    kinds[kind_of(operation)] && self.first_on(operation.lpn, all) == Some(id)
                })?,
            };
            next = all[found].next;
            Some(found)
        })
    }
}
