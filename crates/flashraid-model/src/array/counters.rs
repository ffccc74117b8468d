//! Counters of parity, locks, failed members, trims and flushes.

use super::stripe_pages::WriteKind;
use crate::request::OpKind;

/// Counts of an array since its start. Pages are counted when their operations are issued (rule 57).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StripeCounters {
    /// Sub-requests that write and need no reads.
    pub full_stripe_writes: u64,
    /// Sub-requests that write and read the rest of the stripe's data.
    pub reconstruct_writes: u64,
    /// Sub-requests that write and read old data and old parity.
    pub read_modify_writes: u64,
    /// Sub-requests that write to a stripe that has lost its only parity.
    pub no_parity_writes: u64,
    /// Data pages read by writes.
    pub data_pages_read: u64,
    /// Parity pages read by writes.
    pub parity_pages_read: u64,
    /// Parity pages written by writes.
    pub parity_pages_written: u64,
    /// Sub-requests that waited for the lock of their stripe.
    pub lock_waits: u64,
    /// Sum of these waits, in nanoseconds.
    pub lock_wait_ns: u64,
    /// Pages of reads and writes that were lost because too many members failed (rule 157).
    pub pages_lost: u64,
    /// Pages of lost strips that reads have asked for.
    pub pages_reconstructed: u64,
    /// Pages read to reconstruct these, beyond the pages that were asked for.
    pub pages_read_to_reconstruct: u64,
    /// Pages that were not trimmed because the rest of their stripe was not.
    pub trim_pages_ignored: u64,
    /// Pages read to rebuild lost strips.
    pub rebuild_pages_read: u64,
    /// Pages written to a spare to rebuild lost strips.
    pub rebuild_pages_written: u64,
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

    /// Returns the counts since the moment at which `earlier` was copied.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            full_stripe_writes: self.full_stripe_writes - earlier.full_stripe_writes,
            reconstruct_writes: self.reconstruct_writes - earlier.reconstruct_writes,
            read_modify_writes: self.read_modify_writes - earlier.read_modify_writes,
            no_parity_writes: self.no_parity_writes - earlier.no_parity_writes,
            data_pages_read: self.data_pages_read - earlier.data_pages_read,
            parity_pages_read: self.parity_pages_read - earlier.parity_pages_read,
            parity_pages_written: self.parity_pages_written - earlier.parity_pages_written,
            lock_waits: self.lock_waits - earlier.lock_waits,
            lock_wait_ns: self.lock_wait_ns - earlier.lock_wait_ns,
            pages_lost: self.pages_lost - earlier.pages_lost,
            pages_reconstructed: self.pages_reconstructed - earlier.pages_reconstructed,
            pages_read_to_reconstruct: self.pages_read_to_reconstruct - earlier.pages_read_to_reconstruct,
            trim_pages_ignored: self.trim_pages_ignored - earlier.trim_pages_ignored,
            rebuild_pages_read: self.rebuild_pages_read - earlier.rebuild_pages_read,
            rebuild_pages_written: self.rebuild_pages_written - earlier.rebuild_pages_written,
        }
    }
}

/// Number of host requests that neither read nor write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HostCounters {
    /// Number of host trims.
    pub trims: u64,
    /// Number of host flushes.
    pub flushes: u64,
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

    /// Returns the counts since the moment at which `earlier` was copied.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self { trims: self.trims - earlier.trims, flushes: self.flushes - earlier.flushes }
    }
}
