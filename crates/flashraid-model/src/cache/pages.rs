//! Numbers of pages that wait. A page may wait several times, once for each write that brings it.

use std::collections::BTreeMap;

/// A bag of page numbers, in which a number may occur several times.
#[derive(Debug, Clone, Default)]
pub(super) struct PageBag {
    counts: BTreeMap<u64, u32>,
}

impl PageBag {
    pub(super) fn add(&mut self, page: u64) {
        *self.counts.entry(page).or_default() += 1;
    }

    /// Removes one occurrence of a page, which must be in the bag.
    pub(super) fn remove(&mut self, page: u64) {
        if let Some(count) = self.counts.get_mut(&page) {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&page);
            }
        }
    }

    #[inline]
    pub(super) fn contains(&self, page: u64) -> bool {
        !self.counts.is_empty() && self.counts.contains_key(&page)
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }
}
