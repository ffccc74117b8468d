//! Pages that wait, with how many writes bring them.

use std::collections::BTreeMap;

/// A bag of page numbers.
#[derive(Debug, Clone, Default)]
pub(super) struct PageBag {
    counts: BTreeMap<u64, u32>,
}

impl PageBag {
    pub fn add(&mut self, page: u64) {
        *self.counts.entry(page).or_default() += 1;
    }

    /// Takes one out; it must be in.
    pub fn remove(&mut self, page: u64) {
        if let Some(count) = self.counts.get_mut(&page) {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&page);
            }
        }
    }

    #[inline]
    pub fn contains(&self, page: u64) -> bool {
        !self.counts.is_empty() && self.counts.contains_key(&page)
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }
}
