//! Locks of stripes (rule 52): exclusive or shared, first come first served.

use std::collections::{BTreeMap, VecDeque};

/// The locks that are held.
#[derive(Debug, Clone, Default)]
pub(super) struct Locks {
    held: BTreeMap<u64, Lock>,
}

#[derive(Debug, Clone, Default)]
struct Lock {
    holders: u32,
    /// The holders share it.
    shared: bool,
    waiting: VecDeque<Asking>,
}

#[derive(Debug, Clone, Copy)]
struct Asking {
    operation: u32,
    share: bool,
}

impl Lock {
    fn take(&mut self, share: bool) -> bool {
        let may = self.holders == 0 || (self.shared && share);
        if may {
            self.holders += 1;
            self.shared = share;
        }
        may
    }
}

impl Locks {
    /// Asks for the lock of `stripe`; if it has to wait, `operation` comes back from [`Locks::next`].
    pub fn ask(&mut self, stripe: u64, operation: u32, share: bool) -> bool {
        let lock = self.held.entry(stripe).or_default();
        let has_it = lock.waiting.is_empty() && lock.take(share);
        if !has_it {
            lock.waiting.push_back(Asking { operation, share });
        }
        has_it
    }

    /// Whether none is held.
    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// A holder gives it back; [`Locks::next`] must be called until it finds none.
    pub fn release(&mut self, stripe: u64) {
        let lock = self.held.get_mut(&stripe).expect("it is held");
        lock.holders -= 1;
    }

    /// The next that waits, if it gets the lock.
    pub fn next(&mut self, stripe: u64) -> Option<u32> {
        let lock = self.held.get_mut(&stripe)?;
        let Some(&Asking { operation, share }) = lock.waiting.front() else {
            if lock.holders == 0 {
                self.held.remove(&stripe);
            }
            return None;
        };
        lock.take(share).then(|| {
            lock.waiting.pop_front();
            operation
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn granted(locks: &mut Locks) -> Vec<u32> {
        locks.release(7);
        std::iter::from_fn(|| locks.next(7)).collect()
    }

    #[test]
    fn first_come_first_served_and_neighbours_share() {
        let mut locks = Locks::default();
        assert!(locks.ask(7, 0, true) && locks.ask(7, 1, true) && locks.ask(8, 9, false));
        assert!(!locks.ask(7, 2, false));
        // Nobody overtakes one that waits.
        assert!(!locks.ask(7, 3, true) && !locks.ask(7, 4, true) && !locks.ask(7, 5, false));
        assert!(granted(&mut locks).is_empty());
        assert_eq!(granted(&mut locks), [2]);
        assert_eq!(granted(&mut locks), [3, 4]);
        assert!(granted(&mut locks).is_empty());
        assert_eq!(granted(&mut locks), [5]);
        assert!(granted(&mut locks).is_empty());
        assert_eq!(locks.held.len(), 1);
    }
}
