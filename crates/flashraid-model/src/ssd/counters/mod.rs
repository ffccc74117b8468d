//! Counters of one member while it runs.

/// Makes a set of counters: each is one line with its meaning, and parts that are sets of counters themselves follow.
macro_rules! counts {
    ($(#[$doc:meta])* pub struct $Name:ident { $($(#[$about:meta])* $field:ident,)* $(+ $(#[$of:meta])* $part:ident: $Part:ty,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct $Name {
            $($(#[$about])* pub $field: u64,)*
            $($(#[$of])* pub $part: $Part,)*
        }

        impl $Name {
            /// Combines each counter with the other's.
            fn with(&self, other: &Self, each: fn(u64, u64) -> u64) -> Self {
                Self { $($field: each(self.$field, other.$field),)* $($part: self.$part.with(&other.$part, each),)* }
            }

            /// The counts since the moment at which `earlier` was copied from this member.
            #[must_use]
            pub fn since(self, earlier: &Self) -> Self {
                self.with(earlier, |now, earlier| now - earlier)
            }
        }

        impl std::iter::Sum for $Name {
            fn sum<I: Iterator<Item = Self>>(members: I) -> Self {
                members.fold(Self::default(), |sum, member| sum.with(&member, |sum, member| sum + member))
            }
        }
    };
}

mod front;
mod superpages;

pub use front::FrontCounters;
pub use superpages::{ByHandle, DriveCounters};

counts! {
    /// Counts of one member SSD since the end of its warm-up.
    pub struct MemberCounters {
        /// Pages read for the host.
        host_pages_read,
        /// Pages programmed for the host.
        host_pages_written,
        /// Valid pages that garbage collection moved.
        gc_pages_moved,
        /// Blocks erased; every victim is erased once, so these are the cleans, too.
        erases,
        /// Programs of summary pages.
        summary_programs,
        /// Collections: one or more victims of one die, cleaned back to back.
        collections,
        /// Collections among them that the array's controller forced.
        forced_collections,
        /// Sum of the lengths of all collections of all dies, in nanoseconds.
        gc_time_ns,
        /// Page operations that went in between the steps of a collection by themselves (PGC III.A).
        preemptions,
        /// Page operations that were served from the register of a page move (PGC III.B).
        merges,
        /// Page operations that were overlapped with a step of a collection (PGC III.C).
        pipelined,
        /// Page moves whose program a host write has taken over by merging; not among `gc_pages_moved`.
        merged_moves,
        /// Pages that a clean had read when a host write made them invalid; not among `gc_pages_moved`.
        gc_pages_dropped,
        /// Times that a program or erase was suspended for a read.
        suspensions,
        /// Writes that waited because no pool had room for them.
        exhausted,
        /// Sum of these waits, in nanoseconds.
        exhausted_ns,
        /// Part of `gc_time_ns` in which any request might go in (state 1 of PGC III.D), in nanoseconds.
        gc_free_for_all_ns,
        /// Part of `gc_time_ns` in which writes had to wait (state 2), in nanoseconds; the rest is state 3.
        gc_writes_wait_ns,
        /// Cleans that began because the die had nothing to do; among `erases`.
        idle_cleans,
        /// Pages trimmed by the host.
        host_pages_trimmed,
    }
}

impl MemberCounters {
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

    /// Returns (pages of the host + pages moved) / pages of the host, or `None` if the host wrote nothing. Summary pages do not count, so
    /// that the figure compares with analytic models.
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
