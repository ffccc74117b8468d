//! Index that finds operations in a long queue without a search from its front.

use std::collections::BTreeMap;

use super::super::waiting::Waiting;
use super::{KINDS, Kinds, kind_of};
use crate::events::Slab;
use crate::ids::Lpn;

#[derive(Debug, Clone, Default)]
pub(super) struct Index {
    /// All operations, ordered by page and then by arrival.
    by_page: BTreeMap<(Lpn, u64), u32>,
    /// Operations that came before all others on their page, by kind and in order of arrival.
    first_on_page: [BTreeMap<u64, u32>; KINDS],
}

impl Index {
    pub(super) fn push(&mut self, id: u32, operation: &Waiting) {
        if self.first_on(operation.lpn).is_none() {
            self.first_on_page[kind_of(operation)].insert(operation.arrival, id);
        }
        self.by_page.insert((operation.lpn, operation.arrival), id);
    }

    pub(super) fn remove(&mut self, id: u32, waiting: &Slab<Waiting>) {
        let operation = &waiting[id];
        self.by_page.remove(&(operation.lpn, operation.arrival));
        let was_first = self.first_on_page[kind_of(operation)].remove(&operation.arrival).is_some();
        if was_first && let Some(next) = self.first_on(operation.lpn) {
            self.first_on_page[kind_of(&waiting[next])].insert(waiting[next].arrival, next);
        }
    }

    pub(crate) fn first_on(&self, lpn: Lpn) -> Option<u32> {
        self.by_page.range((lpn, 0)..=(lpn, u64::MAX)).next().map(|(_, &id)| id)
    }

    /// Returns the first operation of these kinds that arrived at `arrival` or later and is the first one on its page.
    pub(crate) fn first_of(&self, kinds: Kinds, arrival: u64) -> Option<u32> {
        let wanted = self.first_on_page.iter().zip(kinds).filter(|&(_, wanted)| wanted);
        wanted.filter_map(|(operations, _)| operations.range(arrival..).next()).min().map(|(_, &id)| id)
    }
}
