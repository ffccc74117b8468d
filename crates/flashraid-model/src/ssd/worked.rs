//! Time that the dies of a member have worked, and the part of it that was for collection (rule 231).

use crate::events::TimeNs;

/// The sum over all dies of the time for which they did something. Sums wrap around; only differences mean something.
#[derive(Debug, Clone, Copy, Default)]
pub struct DieTime {
    dies: u64,
    /// The ends of what is over, less all begins.
    ends_less_begins: u64,
}

impl DieTime {
    /// Takes notice that a die begins.
    #[inline]
    pub fn begins(&mut self, at: TimeNs) {
        self.dies += 1;
        self.ends_less_begins = self.ends_less_begins.wrapping_sub(at);
    }

    /// A die that has begun stops.
    #[inline]
    pub fn stops(&mut self, at: TimeNs) {
        debug_assert!(self.dies > 0, "a die stops that has begun");
        self.dies -= 1;
        self.ends_less_begins = self.ends_less_begins.wrapping_add(at);
    }

    /// The dies that do it now.
    pub fn dies(&self) -> u64 {
        self.dies
    }

    fn until(&self, now: TimeNs) -> u64 {
        self.ends_less_begins.wrapping_add(self.dies.wrapping_mul(now))
    }
}

/// Work of the dies of a member.
#[derive(Debug, Clone, Copy, Default)]
pub struct Worked {
    /// Work of any kind.
    pub at_all: DieTime,
    /// Work for collection only.
    pub for_collection: DieTime,
}

/// Work of the dies until a moment.
#[derive(Debug, Clone, Copy, Default)]
pub struct WorkedBefore {
    at: TimeNs,
    at_all: u64,
    for_collection: u64,
}

impl Worked {
    /// The work so far.
    #[inline]
    pub fn until(&self, now: TimeNs) -> WorkedBefore {
        WorkedBefore { at: now, at_all: self.at_all.until(now), for_collection: self.for_collection.until(now) }
    }

    /// Returns the part of the wait from `before` to `now` that collection is the cause of. It is the share that collection had in the
    /// work of the dies.
    pub fn collection_of_wait(&self, before: &WorkedBefore, now: TimeNs) -> u64 {
        let wait_ns = now - before.at;
        if wait_ns == 0 {
            return 0;
        }
        let after = self.until(now);
        let at_all = after.at_all.wrapping_sub(before.at_all);
        let for_collection = after.for_collection.wrapping_sub(before.for_collection);
        assert!(for_collection <= at_all, "dies that collect work");
        if at_all == 0 { 0 } else { (u128::from(wait_ns) * u128::from(for_collection) / u128::from(at_all)) as u64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_divided_as_the_dies_divide_their_time() {
        let mut worked = Worked::default();
        worked.at_all.begins(100);
        let before = worked.until(150);
        assert_eq!(worked.collection_of_wait(&before, 150), 0);
        // A second die collects for 200 of 300 ns; one has worked all the time, the other 250 ns.
        worked.at_all.begins(200);
        worked.for_collection.begins(250);
        worked.for_collection.stops(450);
        worked.at_all.stops(450);
        assert_eq!(worked.collection_of_wait(&before, 450), 300 * 200 / 550);
        // Nobody works: collection is no cause.
        worked.at_all.stops(450);
        let idle = worked.until(500);
        assert_eq!(worked.collection_of_wait(&idle, 600), 0);
    }
}
