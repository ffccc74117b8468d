//! Counters of parity, locks, failed members, trims and flushes.

use super::stripe_pages::ParityMethod;
use crate::request::OpKind;

counts! {
    /// Counters of parity, stripe locks, lost pages, trims and rebuilding, from the start of the run (without the warm-up of the
    /// members). Pages are counted when their operations are issued (rule 57).
    pub struct ParityAndRebuildCounters {
        /// Writes of one stripe that read nothing before, because they bring all data for the new parity.
        full_stripe_writes,
        /// Writes of one stripe that first read the rest of its data to compute the parity.
        reconstruct_writes,
        /// Writes of one stripe that first read the old data and old parity of their pages to compute the new parity.
        read_modify_writes,
        /// Writes of one stripe that kept no parity, because failed members left no place for it.
        no_parity_writes,
        /// Data pages that writes read first to compute parity.
        data_pages_read,
        /// Parity pages that writes read first to compute the new parity.
        parity_pages_read,
        /// Parity pages written together with the data of writes and destages. Those written by rebuilding do not count.
        parity_pages_written,
        /// Operations on one stripe, reads included, that waited for the lock of the stripe.
        lock_waits,
        /// Total time that operations waited for the lock of their stripe, in nanoseconds.
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

impl ParityAndRebuildCounters {
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
    /// Number of host requests that move no data: trims and flushes.
    pub struct TrimAndFlushCounters {
        /// Number of host trims.
        trims,
        /// Number of host flushes.
        flushes,
    }
}

impl TrimAndFlushCounters {
    #[inline]
    pub(super) fn count(&mut self, kind: OpKind) {
        match kind {
            OpKind::Read | OpKind::Write => {}
            OpKind::Trim => self.trims += 1,
            OpKind::Flush => self.flushes += 1,
        }
    }
}
