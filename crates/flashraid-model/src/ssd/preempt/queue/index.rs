//! Finds operations in a long queue without walking through it.

use std::collections::BTreeMap;

use super::super::super::Pending;
use super::{Kinds, kind_of};
use crate::events::Slab;

#[derive(Debug, Clone, Default)]
pub(super) struct Index {
    /// All operations by lpn, then arrival.
    by_lpn: BTreeMap<(u32, u64), u32>,
    /// Those that overtake none on their page: each kind by arrival.
    first_on_page: [BTreeMap<u64, u32>; 3],
}

impl Index {
    pub fn push(&mut self, id: u32, operation: &Pending) {
        if self.first_on(operation.lpn).is_none() {
            self.first_on_page[kind_of(operation)].insert(operation.arrival, id);
        }
        self.by_lpn.insert((operation.lpn, operation.arrival), id);
    }

    pub fn remove(&mut self, id: u32, pending: &Slab<Pending>) {
        let operation = &pending[id];
        self.by_lpn.remove(&(operation.lpn, operation.arrival));
        let was_first = self.first_on_page[kind_of(operation)].remove(&operation.arrival).is_some();
        if was_first && let Some(next) = self.first_on(operation.lpn) {
            self.first_on_page[kind_of(&pending[next])].insert(pending[next].arrival, next);
        }
    }

    pub fn first_on(&self, lpn: u32) -> Option<u32> {
        self.by_lpn.range((lpn, 0)..=(lpn, u64::MAX)).next().map(|(_, &id)| id)
    }

    /// The first operation of these kinds that overtakes none on its page and did not arrive before `arrival`.
    pub fn first_of(&self, kinds: Kinds, arrival: u64) -> Option<u32> {
        let wanted = self.first_on_page.iter().zip(kinds).filter(|&(_, wanted)| wanted);
        wanted.filter_map(|(operations, _)| operations.range(arrival..).next()).min().map(|(_, &id)| id)
    }
}
