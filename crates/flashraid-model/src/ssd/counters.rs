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
    /// Collections: one or more victims of one die, cleaned back to back.
    pub collections: u64,
    /// Those that the array's controller forced.
    pub forced_collections: u64,
    /// Sum of the lengths of all collections of all dies, in nanoseconds.
    pub gc_time_ns: u64,
    /// Page operations that went in between the steps of a collection by themselves (PGC III.A).
    pub preemptions: u64,
    /// Page operations that were served from the register of a page move (PGC III.B).
    pub merges: u64,
    /// Page operations that were overlapped with a step of a collection (PGC III.C).
    pub pipelined: u64,
    /// Page moves whose program a host write has taken over by merging; not among `gc_pages_moved`.
    pub merged_moves: u64,
    /// Pages that a clean had read when a host write made them invalid; not among `gc_pages_moved`.
    pub gc_pages_dropped: u64,
    /// Times that a program or erase was suspended for a read.
    pub suspensions: u64,
    /// Writes that waited because no pool had room for them.
    pub exhausted: u64,
    /// Sum of these waits, in nanoseconds.
    pub exhausted_ns: u64,
    /// Part of `gc_time_ns` in which any request might go in (state 1 of PGC III.D), in nanoseconds.
    pub gc_free_for_all_ns: u64,
    /// Part of `gc_time_ns` in which writes had to wait (state 2), in nanoseconds; the rest is state 3.
    pub gc_writes_wait_ns: u64,
    /// Cleans that began because the die had nothing to do; among `erases`.
    pub idle_cleans: u64,
    /// Pages trimmed by the host.
    pub host_pages_trimmed: u64,
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
            collections,
            forced_collections,
            gc_time_ns,
            preemptions,
            merges,
            pipelined,
            merged_moves,
            gc_pages_dropped,
            suspensions,
            exhausted,
            exhausted_ns,
            gc_free_for_all_ns,
            gc_writes_wait_ns,
            idle_cleans,
            host_pages_trimmed,
        } = self;
        apply(host_pages_read, other.host_pages_read);
        apply(host_pages_written, other.host_pages_written);
        apply(gc_pages_moved, other.gc_pages_moved);
        apply(erases, other.erases);
        apply(summary_programs, other.summary_programs);
        apply(collections, other.collections);
        apply(forced_collections, other.forced_collections);
        apply(gc_time_ns, other.gc_time_ns);
        apply(preemptions, other.preemptions);
        apply(merges, other.merges);
        apply(pipelined, other.pipelined);
        apply(merged_moves, other.merged_moves);
        apply(gc_pages_dropped, other.gc_pages_dropped);
        apply(suspensions, other.suspensions);
        apply(exhausted, other.exhausted);
        apply(exhausted_ns, other.exhausted_ns);
        apply(gc_free_for_all_ns, other.gc_free_for_all_ns);
        apply(gc_writes_wait_ns, other.gc_writes_wait_ns);
        apply(idle_cleans, other.idle_cleans);
        apply(host_pages_trimmed, other.host_pages_trimmed);
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

    /// Page reads and programs on flash: the host's that were not merged, two for each page moved, one for each dropped, and the
    /// summaries.
    #[must_use]
    pub fn flash_page_ops(&self) -> u64 {
        let moves = self.gc_pages_moved + self.merged_moves;
        self.host_page_ops() + 2 * moves + self.gc_pages_dropped + self.summary_programs - self.merges
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
            collections: base + 5,
            forced_collections: base + 6,
            gc_time_ns: base + 7,
            preemptions: base + 8,
            merges: base + 9,
            pipelined: base + 10,
            merged_moves: base + 11,
            gc_pages_dropped: base + 12,
            suspensions: base + 13,
            exhausted: base + 14,
            exhausted_ns: base + 15,
            gc_free_for_all_ns: base + 16,
            gc_writes_wait_ns: base + 17,
            idle_cleans: base + 18,
            host_pages_trimmed: base + 19,
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
        assert_eq!((counters.host_page_ops(), counters.flash_page_ops()), (21, 21 + 2 * (12 + 21) + 22 + 14 - 19));
        assert_eq!(counters.write_amplification(), Some(23.0 / 11.0));
        assert_eq!(MemberCounters::default().write_amplification(), None);
    }
}
