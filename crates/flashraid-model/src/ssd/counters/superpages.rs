//! Counters that only drives with superblocks have.

use crate::space::superblocks::Stream;
use crate::ssd::params::PLACEMENT_HANDLES_MAX;

counts! {
    /// Counters kept by drives with superblocks, by placement handle. Each write carries a handle, and data with different handles go to
    /// different superblocks (rule 221).
    pub struct PlacementHandleCounters {
        /// Number of pages that the drive received with write commands, by placement handle.
        pages_received: [u64; PLACEMENT_HANDLES_MAX as usize],
        /// Number of units of the mapping (one page or several) programmed in superblocks that the host fills, by placement handle. Padding
        /// and parity are included.
        host_units_programmed: [u64; PLACEMENT_HANDLES_MAX as usize],
        /// Number of units of the mapping (one page or several) programmed in superblocks that collection fills, by placement handle.
        /// Padding and parity are included. If collection mixes handles, all count for handle 0.
        collection_units_programmed: [u64; PLACEMENT_HANDLES_MAX as usize],
    }
}

impl PlacementHandleCounters {
    pub(in crate::ssd) fn received(&mut self, handle: u8, pages: u64) {
        self.pages_received[usize::from(handle)] += pages;
    }

    pub(in crate::ssd) fn programmed(&mut self, stream: Stream, units: u64) {
        match stream {
            Stream::Host(_) | Stream::Slc => self.host_units_programmed[usize::from(stream.handle())] += units,
            Stream::Collection(handle) => self.collection_units_programmed[usize::from(handle)] += units,
        }
    }
}

counts! {
    /// Counts of superpages and superblocks since the end of the warm-up.
    pub struct SuperblockCounters {
        /// Number of pages that the drive received with write commands.
        host_pages_received,
        /// Number of units programmed for the host.
        host_units_programmed,
        /// Number of units programmed for the host with one bit per cell. They are part of `host_units_programmed`.
        host_units_programmed_slc,
        /// Number of units that collection moved and programmed. A unit is the granularity of the map, such as 4 KiB.
        units_moved_by_collection,
        /// Number of units that collection moved out of superblocks with one bit per cell. They are part of `units_moved_by_collection`.
        collected_units_from_slc,
        /// Number of units that the host overwrote while collection was moving them, so that they were not programmed again.
        units_overwritten_during_move,
        /// Number of units of padding, programmed because a superpage was closed before it was full.
        padding_units_programmed,
        /// Number of units of parity programmed.
        parity_units_programmed,
        /// Number of units that the host wrote only in part, so that the rest had to be read from flash.
        units_read_for_partial_writes,
        /// Number of trimmed pages that were ignored, because the trim did not cover their whole unit.
        trimmed_pages_ignored,
        /// Number of reads from flash for the host, including those for partial writes.
        flash_page_reads_for_host,
        /// Number of pages that the host read without a flash read of their own. A read of the same flash page for another brought them.
        page_reads_sharing_flash_read,
        /// Number of host superpages that had to wait because collection was further behind with its moves than
        /// `move_backlog_max_mapping_units` allows.
        superpages_that_waited_for_collection,
        /// Number of host superpages that had to wait because too few superblocks were free.
        waits_for_free_superblock,
        /// Total time that host superpages waited because too few superblocks were free, in nanoseconds.
        waits_for_free_superblock_ns,
        /// Number of host page reads that waited for collection on their die.
        reads_behind_collection,
        /// Total time that host page reads waited for collection on their die, in nanoseconds.
        reads_behind_collection_ns: u128,
        /// Time that dies spent on programs for the host, including transfers, in nanoseconds.
        host_program_ns,
        /// Time that dies spent on programs of collection, including transfers, in nanoseconds.
        collection_program_ns,
        /// Time that dies spent on programs of parity, including transfers, in nanoseconds.
        parity_program_ns,
        /// Time that dies spent on reads of collection, including transfers, in nanoseconds.
        collection_read_ns,
        /// Time that dies spent on erases, in nanoseconds.
        erase_ns,
        /// Time in which at least one die worked for collection, in nanoseconds.
        any_die_collecting_ns,
        /// Number of superblocks whose units collection began to move.
        victims_begun,
        /// Number of superblocks that were moved because they had been read too often. They are part of `victims_begun`.
        victims_for_refresh,
        /// Number of superblocks that were moved to level wear. They are part of `victims_begun`.
        victims_for_wear_levelling,
        /// Counts for each placement handle.
        by_placement_handle: PlacementHandleCounters,
    }
}

impl SuperblockCounters {
    /// Returns the write amplification: the amount of data programmed on flash, divided by the amount that the host sent. The result is
    /// `None` if the host sent nothing. `pages_per_mapping_unit` is the number of pages in a unit of the mapping. It converts units to
    /// pages, because the data that the host sent are counted in pages.
    #[must_use]
    pub fn write_amplification(&self, pages_per_mapping_unit: u32) -> Option<f64> {
        self.for_each_received(self.programmed_mapping_units(), pages_per_mapping_unit)
    }

    /// Returns the part of the write amplification that parity causes: parity data programmed, divided by the data that the host sent.
    /// The result is `None` if the host sent nothing. `pages_per_mapping_unit` is the number of pages in a unit of the mapping. It
    /// converts units to pages, because the data that the host sent are counted in pages.
    #[must_use]
    pub fn write_amplification_of_parity(&self, pages_per_mapping_unit: u32) -> Option<f64> {
        self.for_each_received(self.parity_units_programmed, pages_per_mapping_unit)
    }

    /// Returns the amount of data in `units` units of the mapping, divided by the amount that the host sent. The result is `None` if the
    /// host sent nothing. `pages_per_mapping_unit` is the number of pages in a unit of the mapping. It converts units to pages, because
    /// the data that the host sent are counted in pages.
    fn for_each_received(&self, units: u64, pages_per_mapping_unit: u32) -> Option<f64> {
        (self.host_pages_received > 0).then(|| (units * u64::from(pages_per_mapping_unit)) as f64 / self.host_pages_received as f64)
    }

    /// Returns the number of units of the mapping (one page or several) that were programmed: for the host, by collection, as padding,
    /// and as parity.
    #[must_use]
    pub fn programmed_mapping_units(&self) -> u64 {
        self.host_units_programmed + self.units_moved_by_collection + self.padding_units_programmed + self.parity_units_programmed
    }
}
