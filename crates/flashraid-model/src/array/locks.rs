//! Locks of stripes, exclusive or shared, granted in order of arrival (rule 52).
//!
//! A lock also adds up the time for which its holders waited for garbage collection. An operation that waits for the lock reports this part
//! of its wait as caused by collection (rule 115).

use crate::TimeNs;
use std::collections::{BTreeMap, VecDeque};

/// A lock that has just been released, so that waiting operations may get it.
#[must_use = "others may wait for it: `Locks::next` until there is none"]
#[derive(Debug)]
pub(super) struct Freed {
    stripe: u64,
}

/// Time that an operation waits for garbage collection, at the beginning of one of its phases (rule 115).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct CollectionWait {
    pub(crate) from_ns: TimeNs,
    pub(crate) length_ns: u64,
}

impl CollectionWait {
    /// Returns the part of the wait that lies after `at`, in nanoseconds.
    fn after_ns(self, at: TimeNs) -> u64 {
        (self.from_ns + self.length_ns).saturating_sub(self.from_ns.max(at))
    }
}

/// Way of holding a lock: alone, or together with others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Hold {
    #[default]
    Exclusive,
    Shared,
}

/// All locks that are held, with the operations that wait for them.
#[derive(Debug, Clone, Default)]
pub(super) struct StripeLocks {
    held: BTreeMap<u64, Lock>,
}

#[derive(Debug, Clone, Default)]
struct Lock {
    holders: u32,
    /// Way in which the last operation that took the lock holds it.
    hold: Hold,
    waiting: VecDeque<Asking>,
    /// Sum of the holders' waits for collection since the lock was last free. If several operations hold it together, only the waits of the
    /// last holder count.
    collected_ns: u64,
}

#[derive(Debug, Clone, Copy)]
struct Asking {
    operation: u32,
    hold: Hold,
    asked_ns: TimeNs,
    /// Value of [`Lock::collected_ns`] when this operation began to wait, so that only later waits of the holders are added to its own. It
    /// is set when the holders of that moment release the lock.
    collected_before_ns: Option<u64>,
}

/// An operation that gets the lock after waiting for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LockGrant {
    pub(crate) operation: u32,
    /// Nanoseconds of its wait in which the holders waited for collection.
    pub(crate) collection_ns: u64,
}

impl Lock {
    fn take(&mut self, hold: Hold) -> bool {
        let may = self.holders == 0 || (self.hold == Hold::Shared && hold == Hold::Shared);
        if may {
            self.holders += 1;
            self.hold = hold;
        }
        may
    }

    /// Adds the last holder's waits for garbage collection to those of the lock.
    fn add_holder_waits(&mut self, waits: &[CollectionWait]) {
        self.collected_ns += waits.iter().map(|wait| wait.length_ns).sum::<u64>();
        // Operations that asked before the holder got the lock stand in front, and wait for all its time.
        for asking in self.waiting.iter_mut().rev().take_while(|asking| asking.collected_before_ns.is_none()) {
            let shared_ns: u64 = waits.iter().map(|wait| wait.after_ns(asking.asked_ns)).sum();
            asking.collected_before_ns = Some(self.collected_ns - shared_ns);
        }
    }
}

impl StripeLocks {
    /// Asks for the lock of `stripe`. Returns false if `operation` has to wait; [`StripeLocks::grant_next`] then returns it later.
    pub(super) fn request_lock(&mut self, now: TimeNs, stripe: u64, operation: u32, hold: Hold) -> bool {
        let lock = self.held.entry(stripe).or_default();
        let has_it = lock.waiting.is_empty() && lock.take(hold);
        if !has_it {
            lock.waiting.push_back(Asking { operation, hold, asked_ns: now, collected_before_ns: None });
        }
        has_it
    }

    /// Takes a share of the lock of `stripe` if it can be had at once. Returns true if it could.
    pub(crate) fn try_share(&mut self, stripe: u64) -> bool {
        let lock = self.held.entry(stripe).or_default();
        lock.waiting.is_empty() && lock.take(Hold::Shared)
    }

    /// Returns true if no lock is held.
    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// Releases a lock. `waits` are the times that its holder waited for garbage collection.
    pub(super) fn release(&mut self, stripe: u64, waits: &[CollectionWait]) -> Freed {
        let lock = self.held.get_mut(&stripe).expect("it is held");
        lock.holders -= 1;
        if lock.holders == 0 {
            lock.add_holder_waits(waits);
        }
        Freed { stripe }
    }

    /// Returns the next waiting operation if it gets the lock. The caller repeats this until there is none.
    pub(super) fn grant_next(&mut self, Freed { stripe }: &Freed) -> Option<LockGrant> {
        let lock = self.held.get_mut(stripe)?;
        let Some(&Asking { operation, hold, collected_before_ns, .. }) = lock.waiting.front() else {
            if lock.holders == 0 {
                self.held.remove(stripe);
            }
            return None;
        };
        lock.take(hold).then(|| {
            lock.waiting.pop_front();
            let before_ns = collected_before_ns.expect("those that had the lock when it asked have given it back");
            LockGrant { operation, collection_ns: lock.collected_ns - before_ns }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn granted(locks: &mut StripeLocks, waits: &[CollectionWait]) -> Vec<(u32, u64)> {
        let freed = locks.release(7, waits);
        std::iter::from_fn(|| locks.grant_next(&freed).map(|granted| (granted.operation, granted.collection_ns))).collect()
    }

    #[test]
    fn first_come_first_served_and_neighbours_share() {
        let mut locks = StripeLocks::default();
        assert!(
            locks.request_lock(0, 7, 0, Hold::Shared)
                && locks.request_lock(0, 7, 1, Hold::Shared)
                && locks.request_lock(0, 8, 9, Hold::Exclusive)
        );
        assert!(!locks.request_lock(0, 7, 2, Hold::Exclusive));
        // No operation overtakes one that waits.
        assert!(
            !locks.request_lock(0, 7, 3, Hold::Shared)
                && !locks.request_lock(0, 7, 4, Hold::Shared)
                && !locks.request_lock(0, 7, 5, Hold::Exclusive)
        );
        assert!(granted(&mut locks, &[]).is_empty());
        assert_eq!(granted(&mut locks, &[]), [(2, 0)]);
        assert_eq!(granted(&mut locks, &[]), [(3, 0), (4, 0)]);
        assert!(granted(&mut locks, &[]).is_empty());
        assert_eq!(granted(&mut locks, &[]), [(5, 0)]);
        assert!(granted(&mut locks, &[]).is_empty());
        assert_eq!(locks.held.len(), 1);
        // One who only tries does not wait, and shares a lock that nobody waits for.
        assert!(!locks.try_share(8) && locks.try_share(9) && locks.try_share(9) && !locks.request_lock(0, 9, 6, Hold::Exclusive));
        assert!(!locks.try_share(9));
    }

    #[test]
    fn the_collection_of_all_holders_is_told_from_when_the_lock_was_asked_for() {
        let wait = |from_ns, ns| CollectionWait { from_ns, length_ns: ns };
        let mut locks = StripeLocks::default();
        assert!(locks.request_lock(100, 7, 0, Hold::Exclusive));
        // Operations ask before, during and after the holder's wait for collection from 100 to 150, and after a second one from 180 to 190.
        assert!([100, 130, 160, 200].into_iter().zip(1..).all(|(at, operation)| !locks.request_lock(
            at,
            7,
            operation,
            if operation > 1 { Hold::Shared } else { Hold::Exclusive }
        )));
        assert_eq!(granted(&mut locks, &[wait(100, 50), wait(180, 10)]), [(1, 60)]);
        // Another operation asks while the next holder, which waits for collection from 210 to 250, has the lock.
        assert!(!locks.request_lock(220, 7, 5, Hold::Shared));
        assert_eq!(granted(&mut locks, &[wait(210, 40)]), [(2, 20 + 10 + 40), (3, 10 + 40), (4, 40), (5, 30)]);
        // If several share it, the last one counts.
        assert!(!locks.request_lock(310, 7, 6, Hold::Exclusive));
        assert!([300, 300, 300].into_iter().all(|from_ns| granted(&mut locks, &[wait(from_ns, 1000)]).is_empty()));
        assert_eq!(granted(&mut locks, &[wait(300, 30)]), [(6, 20)]);
        assert!(granted(&mut locks, &[]).is_empty() && locks.is_empty());
    }
}
