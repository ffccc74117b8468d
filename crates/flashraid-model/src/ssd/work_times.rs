//! Time that the dies of a member have worked, and the part of it that was spent on collection (rule 231).

use crate::events::TimeNs;

/// Total time that all dies have spent on one kind of work. Sums may overflow and wrap around, so only differences have a meaning.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct DieTime {
    dies: u64,
    /// Sum of all end times minus sum of all start times.
    ends_minus_begins: u64,
}

impl DieTime {
    /// Records that a die begins to work.
    #[inline]
    pub(super) fn begin(&mut self, at: TimeNs) {
        self.dies += 1;
        self.ends_minus_begins = self.ends_minus_begins.wrapping_sub(at);
    }

    /// Records that a working die stops.
    #[inline]
    pub(super) fn end(&mut self, at: TimeNs) {
        debug_assert!(self.dies > 0, "a die stops that has begun");
        self.dies -= 1;
        self.ends_minus_begins = self.ends_minus_begins.wrapping_add(at);
    }

    /// Returns the number of dies that work now.
    pub(super) fn dies(&self) -> u64 {
        self.dies
    }

    fn until(&self, now: TimeNs) -> u64 {
        self.ends_minus_begins.wrapping_add(self.dies.wrapping_mul(now))
    }
}

/// Total working time of the dies of a member.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct WorkTimes {
    /// Work of any kind.
    pub(crate) any_work: DieTime,
    /// Work for collection only.
    pub(crate) for_collection: DieTime,
}

/// Copy of the working times at some time.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct WorkTimesSnapshot {
    at: TimeNs,
    any_work: u64,
    for_collection: u64,
}

impl WorkTimes {
    /// Returns the working times up to `now`.
    #[inline]
    pub(super) fn until(&self, now: TimeNs) -> WorkTimesSnapshot {
        WorkTimesSnapshot { at: now, any_work: self.any_work.until(now), for_collection: self.for_collection.until(now) }
    }

    /// Returns the part of a wait from `before` to `now` that collection has caused. It is the share that collection had in the work of the
    /// dies during the wait.
    pub(crate) fn collection_of_wait(&self, before: &WorkTimesSnapshot, now: TimeNs) -> u64 {
        let wait_ns = now - before.at;
        if wait_ns == 0 {
            return 0;
        }
        let after = self.until(now);
        let any_work = after.any_work.wrapping_sub(before.any_work);
        let for_collection = after.for_collection.wrapping_sub(before.for_collection);
        assert!(for_collection <= any_work, "dies that collect work");
        if any_work == 0 { 0 } else { (u128::from(wait_ns) * u128::from(for_collection) / u128::from(any_work)) as u64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_divided_as_the_dies_divide_their_time() {
        let mut work_times = WorkTimes::default();
        work_times.any_work.begin(100);
        let before = work_times.until(150);
        assert_eq!(work_times.collection_of_wait(&before, 150), 0);
        // A second die collects for 200 of 300 ns; one has worked all the time, the other 250 ns.
        work_times.any_work.begin(200);
        work_times.for_collection.begin(250);
        work_times.for_collection.end(450);
        work_times.any_work.end(450);
        assert_eq!(work_times.collection_of_wait(&before, 450), 300 * 200 / 550);
        // Nobody works: collection is no cause.
        work_times.any_work.end(450);
        let idle = work_times.until(500);
        assert_eq!(work_times.collection_of_wait(&idle, 600), 0);
    }
}
