//! Counters of parity, locks, failed members, trims and flushes.

use super::stripe_pages::ParityMethod;
use crate::request::OpKind;

counts! {
    /// Counts of an array since its start. Pages are counted when their operations are issued (rule 57).
    pub struct StripeCounters {
        /// Sub-requests that write and need no reads.
        full_stripe_writes,
        /// Sub-requests that write and read the rest of the stripe's data.
        reconstruct_writes,
        /// Sub-requests that write and read old data and old parity.
        read_modify_writes,
        /// Sub-requests that write to a stripe that has lost its only parity.
        no_parity_writes,
        /// Data pages read by writes.
        data_pages_read,
        /// Parity pages read by writes.
        parity_pages_read,
        /// Parity pages written by writes.
        parity_pages_written,
        /// Sub-requests that waited for the lock of their stripe.
        lock_waits,
        /// Sum of these waits, in nanoseconds.
        lock_wait_ns: u128,
        /// Pages of reads and writes that were lost because too many members failed (rule 157).
        pages_lost,
        /// Pages of lost strips that reads have asked for.
        pages_reconstructed,
        /// Pages read to reconstruct lost pages, beyond the pages that were asked for.
        pages_read_to_reconstruct,
        /// Pages whose trim was ignored because the rest of their stripe was not trimmed.
        trim_pages_ignored,
        /// Pages read to rebuild lost strips.
        rebuild_pages_read,
        /// Pages written to a spare to rebuild lost strips.
        rebuild_pages_written,
    }
}

impl StripeCounters {
    pub(super) fn count_write(&mut self, kind: ParityMethod) {
        *match kind {
            ParityMethod::FullStripe => &mut self.full_stripe_writes,
            ParityMethod::Reconstruct => &mut self.reconstruct_writes,
            ParityMethod::ReadModify => &mut self.read_modify_writes,
            ParityMethod::NoParity => &mut self.no_parity_writes,
        } += 1;
    }
}

counts! {
    /// Counts of a read plan that looks at the members. A *part* is what a read asks for in a stripe or, with mirrors, in a strip.
    pub struct ReadPlanCounters {
        /// Parts whose strips were all free of collection.
        stripe_reads_without_collection,
        /// Parts that met collection in one strip of their stripe, or in one copy.
        stripe_reads_with_one_strip_collecting,
        /// Parts that met collection in two of them.
        stripe_reads_with_two_strips_collecting,
        /// Parts that met collection in three or more of them.
        stripe_reads_with_more_strips_collecting,
        /// Parts that went round a strip that collects.
        stripe_reads_around_collection,
        /// Pages read in addition for these.
        pages_added_to_read_around,
        /// Parts that waited for collection, because the lock of their stripe was not free.
        stripe_reads_locked_out,
        /// Parts that waited for collection in one of their strips, for whatever reason.
        stripe_reads_that_waited,
        /// Writes that read by the other method before they wrote (rule 53).
        writes_by_other_parity_method,
    }
}

impl ReadPlanCounters {
    /// Counts a part that met collection in so many strips.
    pub(super) fn count_part(&mut self, busy: usize) {
        *match busy {
            0 => &mut self.stripe_reads_without_collection,
            1 => &mut self.stripe_reads_with_one_strip_collecting,
            2 => &mut self.stripe_reads_with_two_strips_collecting,
            _ => &mut self.stripe_reads_with_more_strips_collecting,
        } += 1;
    }
}

counts! {
    /// Counts of a read plan that hedges. A *part* is what a read asks for in a stripe or, with mirrors, in a strip.
    pub struct HedgeCounters {
        /// Parts of reads, whether they were late or not.
        stripe_reads,
        /// Parts that were also read elsewhere, because they took long.
        stripe_reads_made_elsewhere,
        /// Parts that ended by what was read elsewhere.
        stripe_reads_ended_elsewhere,
        /// Pages read elsewhere, of late parts.
        pages_read_elsewhere,
        /// Pages read of which no part needed the answer, because it had ended another way.
        pages_read_in_vain,
        /// Parts that took long and were not read elsewhere, because the lock of their stripe was not free.
        stripe_reads_locked_out,
        /// Parts that took long and were not read elsewhere, because there was no other way to their data.
        stripe_reads_without_other_way,
    }
}

counts! {
    /// Number of host requests that neither read nor write.
    pub struct HostCounters {
        /// Number of host trims.
        trims,
        /// Number of host flushes.
        flushes,
    }
}

impl HostCounters {
    #[inline]
    pub(super) fn count(&mut self, kind: OpKind) {
        match kind {
            OpKind::Read | OpKind::Write => {}
            OpKind::Trim => self.trims += 1,
            OpKind::Flush => self.flushes += 1,
        }
    }
}
