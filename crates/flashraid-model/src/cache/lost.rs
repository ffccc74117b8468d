//! Which strips of a failed member have not been rebuilt yet (rules 58 and 86).

use std::collections::BTreeSet;

/// A failed member and how far its rebuild is.
#[derive(Debug, Clone)]
pub(super) struct Lost {
    pub member: u32,
    /// All stripes below are rebuilt.
    rebuilt_below: u64,
    /// Rebuilt stripes beyond.
    rebuilt: BTreeSet<u64>,
}

impl Lost {
    pub fn new(member: u32) -> Self {
        Self { member, rebuilt_below: 0, rebuilt: BTreeSet::new() }
    }

    /// Whether the strip of `stripe` on `member` is lost.
    #[inline]
    pub fn has(&self, member: u32, stripe: u64) -> bool {
        member == self.member && stripe >= self.rebuilt_below && !self.rebuilt.contains(&stripe)
    }

    /// A strip has been rebuilt; returns whether all `stripes` have.
    pub fn rebuilt(&mut self, stripe: u64, stripes: u64) -> bool {
        self.rebuilt.insert(stripe);
        while self.rebuilt.remove(&self.rebuilt_below) {
            self.rebuilt_below += 1;
        }
        self.rebuilt_below == stripes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strips_come_back_one_by_one_in_any_order() {
        let mut lost = Lost::new(2);
        assert!(lost.has(2, 0) && !lost.has(1, 0));
        assert!(!lost.rebuilt(1, 3));
        assert!(lost.has(2, 0) && !lost.has(2, 1) && lost.has(2, 2));
        assert!(!lost.rebuilt(0, 3));
        assert!(lost.rebuilt(2, 3));
    }
}
