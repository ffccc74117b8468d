//! Share of a cache that sequential writes should have under the policy `stow` (rule 87).

/// Number of pages that the sequential ring should have, between 0 and all of them.
#[derive(Debug, Clone)]
pub(super) struct SequentialShare {
    wanted_pages: u32,
    cache_pages: u32,
}

impl SequentialShare {
    pub(super) fn new(cache_pages: u32) -> Self {
        Self { wanted_pages: cache_pages / 2, cache_pages }
    }

    /// Increases the share, because a sequential entry was destaged before its stripe was complete. With more room it might have become
    /// complete.
    pub(crate) fn left_incomplete(&mut self) {
        self.wanted_pages = (self.wanted_pages + 1).min(self.cache_pages);
    }

    /// Decreases the share, because a write replaced a page in the ring of random writes. More room there might bring more hits.
    pub(crate) fn random_hit(&mut self) {
        self.wanted_pages = self.wanted_pages.saturating_sub(1);
    }

    /// Returns true if the sequential ring has more pages than its share.
    pub(crate) fn is_exceeded_by(&self, sequential_pages: u32) -> bool {
        sequential_pages > self.wanted_pages
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stays_between_nothing_and_everything() {
        let mut share = SequentialShare::new(4);
        assert!(share.is_exceeded_by(3) && !share.is_exceeded_by(2));
        (0..9).for_each(|_| share.left_incomplete());
        assert!(!share.is_exceeded_by(4));
        (0..9).for_each(|_| share.random_hit());
        assert!(share.is_exceeded_by(1) && !share.is_exceeded_by(0));
    }
}
