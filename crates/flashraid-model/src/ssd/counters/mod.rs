//! Counters of one member while it runs.

mod front;
mod superpages;

pub use front::FrontEndCounters;
pub use superpages::{PlacementHandleCounters, SuperblockCounters};

counts! {
    /// Counts of one member SSD since the end of its warm-up.
    pub struct MemberCounters {
        /// Number of pages read for the host.
        host_pages_read,
        /// Number of pages programmed for the host.
        host_pages_written,
        /// Number of valid pages that collection moved.
        gc_pages_moved,
        /// Number of erased blocks. Except in drives with superblocks, it is also the number of victim blocks collected.
        erases,
        /// Number of programmed summary pages. A summary page is the last page of a block, which describes the block.
        block_summary_pages_programmed,
        /// Number of collections. A collection is an uninterrupted sequence of collected victim blocks of one die (of one plane, if only
        /// planes are blocked). In drives with superblocks, each collected superblock counts as one collection.
        collections,
        /// Number of collections that the array's controller forced.
        forced_collections,
        /// Sum of the lengths of all collections of all dies, in nanoseconds.
        gc_time_ns,
        /// Number of page operations served between the steps of a collection (section III.A of the paper on preemptive collection, PGC).
        preemptions,
        /// Number of page operations served from the page register during the move of a page (section III.B of the paper on preemptive
        /// collection, PGC).
        operations_served_from_move_register,
        /// Number of page operations that ran at the same time as a step of a collection (section III.C of the paper on preemptive
        /// collection, PGC).
        pipelined_operations,
        /// Number of page moves whose program was replaced by a host write of the same page. They are not part of `gc_pages_moved`.
        moves_replaced_by_host_writes,
        /// Number of pages that collection read from a victim block in vain, because a host write invalidated them before their program.
        /// They are not part of `gc_pages_moved`.
        gc_pages_read_in_vain,
        /// Number of times that a program or erase was suspended for a read.
        suspensions,
        /// Number of writes that waited because no pool of blocks (of a plane or of a die) had room for them.
        writes_that_waited_for_room,
        /// Total time that writes waited because no pool of blocks (of a plane or of a die) had room for them, in nanoseconds.
        writes_waiting_for_room_ns,
        /// Part of `gc_time_ns` in which any request could be served between two steps of a collection, in nanoseconds. This is state 1 in
        /// section III.D of the paper on preemptive collection (PGC).
        gc_preemptible_by_all_requests_ns,
        /// Part of `gc_time_ns` in which reads could be served between two steps of a collection but writes had to wait, in nanoseconds.
        /// This is state 2 in section III.D of the paper on preemptive collection (PGC). In the rest, all requests had to wait (state 3).
        gc_preemptible_by_reads_only_ns,
        /// Number of victim blocks whose collection began because the die was idle. They are part of `erases`.
        idle_cleans,
        /// Number of pages trimmed by the host.
        host_pages_trimmed,
    }
}

impl MemberCounters {
    /// Returns the number of pages read and programmed for the host.
    #[must_use]
    pub fn host_page_ops(&self) -> u64 {
        self.host_pages_read + self.host_pages_written
    }

    /// Returns the number of page reads and programs on flash. It is the sum of:
    /// - host operations that were not served from the page register,
    /// - a read and a program for each moved page,
    /// - a read for each page that was invalidated between its read and its program,
    /// - programs of summary pages (the last page of each block, which describes the block).
    #[must_use]
    pub fn flash_page_ops(&self) -> u64 {
        let moves = self.gc_pages_moved + self.moves_replaced_by_host_writes;
        self.host_page_ops() + 2 * moves + self.gc_pages_read_in_vain + self.block_summary_pages_programmed
            - self.operations_served_from_move_register
    }

    /// Returns (host pages + moved pages) / host pages, or `None` if the host wrote nothing. Summary pages (the last page of each block,
    /// which describes the block) do not count. Hence the value can be compared with analytic models.
    #[must_use]
    pub fn write_amplification(&self) -> Option<f64> {
        let written = self.host_pages_written;
        (written > 0).then(|| (written + self.gc_pages_moved) as f64 / written as f64)
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
            block_summary_pages_programmed: base + 4,
            collections: base + 5,
            forced_collections: base + 6,
            gc_time_ns: base + 7,
            preemptions: base + 8,
            operations_served_from_move_register: base + 9,
            pipelined_operations: base + 10,
            moves_replaced_by_host_writes: base + 11,
            gc_pages_read_in_vain: base + 12,
            suspensions: base + 13,
            writes_that_waited_for_room: base + 14,
            writes_waiting_for_room_ns: base + 15,
            gc_preemptible_by_all_requests_ns: base + 16,
            gc_preemptible_by_reads_only_ns: base + 17,
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
