//! Counters of superpages and superblocks, beside those of every member.

use crate::space::superblocks::Stream;
use crate::ssd::params::HANDLES_MAX;

/// Counts of a drive by placement handle (rule 221).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ByHandle {
    /// Pages that write commands brought.
    pub pages_received: [u64; HANDLES_MAX as usize],
    /// Places of units that were programmed into superblocks of the host, those without data and of parity included.
    pub host_units: [u64; HANDLES_MAX as usize],
    /// The same of collection; what it moves of all handles counts as handle 0.
    pub collection_units: [u64; HANDLES_MAX as usize],
}

impl ByHandle {
    pub(in crate::ssd) fn received(&mut self, handle: u8, pages: u64) {
        self.pages_received[usize::from(handle)] += pages;
    }

    pub(in crate::ssd) fn programmed(&mut self, stream: Stream, units: u64) {
        match stream {
            Stream::Host(_) | Stream::Slc => self.host_units[usize::from(stream.handle())] += units,
            Stream::Collection(handle) => self.collection_units[usize::from(handle)] += units,
        }
    }

    fn with(&self, other: &Self, each: fn(u64, u64) -> u64) -> Self {
        let both = |a: &[u64; HANDLES_MAX as usize], b: &[u64; HANDLES_MAX as usize]| std::array::from_fn(|at| each(a[at], b[at]));
        Self {
            pages_received: both(&self.pages_received, &other.pages_received),
            host_units: both(&self.host_units, &other.host_units),
            collection_units: both(&self.collection_units, &other.collection_units),
        }
    }
}

counts! {
    /// Counts of superpages and superblocks since the end of the warm-up.
    pub struct DriveCounters {
        /// Pages that write commands brought.
        pages_received,
        /// Units programmed for the host.
        units_programmed,
        /// Units among them that were programmed with one bit per cell.
        units_slc,
        /// Units moved by collection and programmed.
        units_moved,
        /// Units among them that came from superblocks with one bit per cell.
        units_folded,
        /// Units that collection had begun to move when the host replaced them, and that were not programmed again.
        units_dropped,
        /// Places of units that were programmed without data, since a superpage was closed early.
        units_padded,
        /// Places of units that were programmed with parity.
        units_parity,
        /// Units of which the host wrote a part, and whose rest was read from flash.
        rmw_reads,
        /// Pages of trims that do not cover their unit, and are ignored.
        trimmed_in_part,
        /// Array reads for the host, those for partial writes included.
        array_reads,
        /// Reads that shared the array read of another one.
        joined,
        /// Superpages of the host that waited because moves were owed.
        debt_waits,
        /// Superpages of the host that waited because no superblock was to be had.
        foreground,
        /// Sum of these waits, in nanoseconds.
        foreground_ns,
        /// Pages of host reads that waited for an operation of collection at their die.
        reads_behind_collection,
        /// Sum of these waits, in nanoseconds.
        reads_behind_collection_ns,
        /// Time of dies in programs for the host, transfers included, in nanoseconds.
        program_ns,
        /// Time of dies in programs of collection, transfers included, in nanoseconds.
        collection_program_ns,
        /// Time of dies in programs of parity, transfers included, in nanoseconds.
        parity_program_ns,
        /// Time of dies in reads of collection, transfers included, in nanoseconds.
        collection_read_ns,
        /// Time of dies in erases, in nanoseconds.
        erase_ns,
        /// Time in which at least one die worked for collection, in nanoseconds.
        collecting_ns,
        /// Superblocks that collection began to move.
        victims,
        /// Superblocks among them that were moved because they had been read often.
        refreshed,
        /// Superblocks among them that were moved because they had been erased seldom.
        levelled,
        + /// By placement handle.
        by_handle: ByHandle,
    }
}

impl DriveCounters {
    /// Units on flash for each unit's worth of pages that the host sent; `None` if it sent nothing.
    #[must_use]
    pub fn write_amplification(&self, unit_pages: u32) -> Option<f64> {
        self.for_each_received(self.programmed_units(), unit_pages)
    }

    /// Returns the part of write amplification that parity is the cause of.
    #[must_use]
    pub fn write_amplification_of_parity(&self, unit_pages: u32) -> Option<f64> {
        self.for_each_received(self.units_parity, unit_pages)
    }

    fn for_each_received(&self, units: u64, unit_pages: u32) -> Option<f64> {
        (self.pages_received > 0).then(|| (units * u64::from(unit_pages)) as f64 / self.pages_received as f64)
    }

    /// Units' worth of places that were programmed, for the host, by collection, without data and with parity.
    #[must_use]
    pub fn programmed_units(&self) -> u64 {
        self.units_programmed + self.units_moved + self.units_padded + self.units_parity
    }
}
