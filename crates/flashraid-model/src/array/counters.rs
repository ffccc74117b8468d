//! Counters of parity, locks, failed members, trims and flushes.

use super::stripe_pages::WriteKind;
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
        lock_wait_ns,
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
    pub(super) fn count_write(&mut self, kind: WriteKind) {
        *match kind {
            WriteKind::FullStripe => &mut self.full_stripe_writes,
            WriteKind::Reconstruct => &mut self.reconstruct_writes,
            WriteKind::ReadModify => &mut self.read_modify_writes,
            WriteKind::NoParity => &mut self.no_parity_writes,
        } += 1;
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
