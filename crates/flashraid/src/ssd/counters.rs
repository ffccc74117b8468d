//! What one member counts while it runs.

/// Counts of one member SSD since the end of its warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MemberCounters {
    /// Pages read for the host.
    pub host_pages_read: u64,
    /// Pages programmed for the host.
    pub host_pages_written: u64,
    /// Valid pages that garbage collection moved.
    pub gc_pages_moved: u64,
    /// Blocks erased; every victim is erased once, so these are the cleans, too.
    pub erases: u64,
    /// Summary pages programmed.
    pub summary_programs: u64,
    /// Uninterrupted collections of one element: one or more victims back to back.
    pub gc_runs: u64,
    /// Runs that were forced by the array's controller.
    pub gc_forced_runs: u64,
    /// Sum of the lengths of all runs of all elements, in nanoseconds.
    pub gc_time_ns: u64,
    /// Times that a request went in between the steps of a collection (PGC III.A).
    pub preemptions: u64,
    /// Page moves of a collection that were merged with a request for the same page (PGC III.B).
    pub merges: u64,
    /// Requests that were overlapped with a step of a collection (PGC III.B).
    pub pipelined: u64,
}

impl MemberCounters {
    /// Every counter, as (mutable to the first, value of the second): the one list that adding and subtracting share.
    fn each(&mut self, other: &Self, apply: impl Fn(&mut u64, u64)) {
        let Self {
            host_pages_read,
            host_pages_written,
            gc_pages_moved,
            erases,
            summary_programs,
            gc_runs,
            gc_forced_runs,
            gc_time_ns,
            preemptions,
            merges,
            pipelined,
        } = self;
        apply(host_pages_read, other.host_pages_read);
        apply(host_pages_written, other.host_pages_written);
        apply(gc_pages_moved, other.gc_pages_moved);
        apply(erases, other.erases);
        apply(summary_programs, other.summary_programs);
        apply(gc_runs, other.gc_runs);
        apply(gc_forced_runs, other.gc_forced_runs);
        apply(gc_time_ns, other.gc_time_ns);
        apply(preemptions, other.preemptions);
        apply(merges, other.merges);
        apply(pipelined, other.pipelined);
    }

    /// The counts since the moment at which `earlier` was copied from this member.
    #[must_use]
    pub fn since(mut self, earlier: &Self) -> Self {
        self.each(earlier, |now, then| *now -= then);
        self
    }

    /// Pages read and programmed for the host.
    #[must_use]
    pub fn host_page_ops(&self) -> u64 {
        self.host_pages_read + self.host_pages_written
    }

    /// Page reads and programs on flash: the host's, two for each page moved, and the summaries.
    #[must_use]
    pub fn flash_page_ops(&self) -> u64 {
        self.host_page_ops() + 2 * self.gc_pages_moved + self.summary_programs
    }

    /// (Pages of the host + pages moved) / pages of the host; `None` if the host wrote nothing. Summary pages don't count, so that the figure compares with
    /// analytic models.
    #[must_use]
    pub fn write_amplification(&self) -> Option<f64> {
        let written = self.host_pages_written;
        (written > 0).then(|| (written + self.gc_pages_moved) as f64 / written as f64)
    }
}

impl std::iter::Sum for MemberCounters {
    fn sum<I: Iterator<Item = Self>>(members: I) -> Self {
        members.fold(Self::default(), |mut sum, member| {
            sum.each(&member, |sum, member| *sum += member);
            sum
        })
    }
}

/// Erase counts of the blocks of one member, warm-up included.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Wear {
    /// Least erases of a block.
    pub min: u32,
    /// Mean erases of a block.
    pub mean: f64,
    /// Most erases of a block.
    pub max: u32,
    /// Standard deviation over the blocks.
    pub stddev: f64,
}

impl Wear {
    /// Wear of the blocks of several members of equally many blocks; all zero without members.
    #[must_use]
    pub fn of_all(members: &[Self]) -> Self {
        if members.is_empty() {
            return Self::default();
        }
        let count = members.len() as f64;
        let mean = members.iter().map(|wear| wear.mean).sum::<f64>() / count;
        let squares = members.iter().map(|wear| wear.stddev * wear.stddev + (wear.mean - mean) * (wear.mean - mean)).sum::<f64>() / count;
        Self {
            min: members.iter().map(|wear| wear.min).min().unwrap_or(0),
            mean,
            max: members.iter().map(|wear| wear.max).max().unwrap_or(0),
            stddev: squares.sqrt(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(base: u64) -> MemberCounters {
        MemberCounters {
            host_pages_read: base,
            host_pages_written: base + 1,
            gc_pages_moved: base + 2,
            erases: base + 3,
            summary_programs: base + 4,
            gc_runs: base + 5,
            gc_forced_runs: base + 6,
            gc_time_ns: base + 7,
            preemptions: base + 8,
            merges: base + 9,
            pipelined: base + 10,
        }
    }

    #[test]
    fn what_is_taken_off_can_be_added_again() {
        let (early, late) = (counters(10), counters(100));
        assert_eq!([late.since(&early), early].into_iter().sum::<MemberCounters>(), late);
        assert_eq!(late.since(&late), MemberCounters::default());
    }

    #[test]
    fn page_operations_and_amplification() {
        let counters = counters(10);
        assert_eq!((counters.host_page_ops(), counters.flash_page_ops()), (21, 21 + 24 + 14));
        assert_eq!(counters.write_amplification(), Some(23.0 / 11.0));
        assert_eq!(MemberCounters::default().write_amplification(), None);
    }

    #[test]
    fn wear_of_two_members_is_that_of_all_their_blocks() {
        // Blocks 1, 3 and 5, 7: mean 4, deviation √5.
        let members = [Wear { min: 1, mean: 2.0, max: 3, stddev: 1.0 }, Wear { min: 5, mean: 6.0, max: 7, stddev: 1.0 }];
        assert_eq!(Wear::of_all(&members), Wear { min: 1, mean: 4.0, max: 7, stddev: f64::sqrt(5.0) });
        assert_eq!(Wear::of_all(&[]), Wear::default());
    }
}
