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
    /// Counters of the read plan `avoid`: the array asks the members where they are collecting garbage, and reads elsewhere. A *part*
    /// is what one read asks for in one stripe. With mirrors, it is what the read asks for in one strip (consecutive pages on one
    /// member).
    pub struct GcAvoidingReadCounters {
        /// Parts of reads that met no collection: none of the strips that they wanted was collecting.
        stripe_reads_without_collection,
        /// Parts of reads that met collection in exactly one strip of their stripe or, with mirrors, in one copy.
        stripe_reads_with_one_strip_collecting,
        /// Parts of reads that met collection in two strips of their stripe or, with mirrors, in two copies.
        stripe_reads_with_two_busy_strips,
        /// Parts of reads that met collection in three or more strips of their stripe or, with mirrors, in as many copies.
        stripe_reads_with_three_or_more_busy_strips,
        /// Parts of reads that avoided a collecting strip: they read the rest of the stripe, or another copy.
        stripe_reads_that_avoided_collection,
        /// Pages read in addition so that parts of reads could avoid a collecting strip.
        pages_added_to_read_around,
        /// Parts of reads that could not avoid a collecting member, because an operation on the same stripe held its lock. They waited for
        /// the collection.
        stripe_reads_locked_out,
        /// Parts of reads that waited for collection in one of their strips, for whatever reason.
        stripe_reads_that_waited,
        /// Writes that computed parity from other pages than usual, to avoid collection (rule 53): from the old parity, or from the rest of
        /// the stripe.
        writes_with_switched_parity_method,
    }
}

impl GcAvoidingReadCounters {
    /// Counts a part of a read that met collection in `busy` strips or, with mirrors, in `busy` copies.
    pub(super) fn count_part(&mut self, busy: usize) {
        *match busy {
            0 => &mut self.stripe_reads_without_collection,
            1 => &mut self.stripe_reads_with_one_strip_collecting,
            2 => &mut self.stripe_reads_with_two_busy_strips,
            _ => &mut self.stripe_reads_with_three_or_more_busy_strips,
        } += 1;
    }
}

counts! {
    /// Counters of a read plan that hedges: it also reads elsewhere if no answer has come after a time, and the first answer counts. A
    /// *part* is what one read asks for in one stripe. With mirrors, it is what the read asks for in one strip (consecutive pages on
    /// one member).
    pub struct HedgeCounters {
        /// Parts of reads, one per stripe (with mirrors, per strip), whether they were late or not.
        stripe_reads,
        /// Parts of reads that took long and were also read elsewhere: from another copy or the rest of the stripe.
        hedged_stripe_reads,
        /// Parts of late reads whose second read (from another copy, or by parity) answered first.
        stripe_reads_answered_by_hedge,
        /// Pages read from another copy or the rest of the stripe, for parts of reads that took long.
        pages_read_elsewhere,
        /// Pages whose data nobody needed, because another read of the same data had answered first.
        pages_read_in_vain,
        /// Pages among those read in vain that left the queue of their die unread, because nobody needed them any more.
        pages_abandoned,
        /// Parts of late reads without a second read, because an operation on the same stripe held its lock.
        stripe_reads_locked_out,
        /// Parts of reads that took long and were not read elsewhere, because there was no other way to their data.
        stripe_reads_without_other_way,
    }
}

counts! {
    /// Counters of the read plan `predict`: it predicts which reads will begin late (are slow), and reads their data elsewhere. A
    /// *part* is what one read asks for in one stripe. With mirrors, it is what the read asks for in one strip (consecutive pages on
    /// one member). The plan makes one prediction for each strip that it considers for a part, and with mirrors for each copy of the
    /// strip. A part may therefore have several predictions.
    pub struct SlowReadPredictionCounters {
        /// Correct predictions that the read of a strip or copy would be slow.
        slow_reads_called_slow,
        /// Wrong predictions that the read of a strip or copy would be fast, although it would be slow.
        slow_reads_called_fast,
        /// Wrong predictions that the read of a strip or copy would be slow, although it would be fast.
        fast_reads_called_slow,
        /// Correct predictions that the read of a strip or copy would be fast.
        fast_reads_called_fast,
        /// Parts of reads, predicted to be slow or fast. A read has one part for each stripe (with mirrors, for each strip) of which it
        /// wants something.
        stripe_reads,
        /// Parts of reads of which a wanted strip (with mirrors, the first copy) was predicted to be slow.
        stripe_reads_called_slow,
        /// Parts of reads that were made elsewhere because of a prediction: from the rest of the stripe, or from another copy.
        stripe_reads_made_elsewhere,
        /// Pages that parts made elsewhere read in addition to those that they would have read without a prediction.
        pages_added,
        /// Parts of reads that could not be made elsewhere, because an operation on the same stripe held its lock.
        stripe_reads_locked_out,
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
