//! Results of queues, processor cores, buffers and superblocks of drives, as reports show them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::build::share_of_dies;
use super::figures::{Part, TableValue, mean_us, section};
use super::table::{TableRow, TableSection};
use super::{ReportInputs, SuperblockDriveInputs, is_zero};
use crate::config::ScaledDriveDimension;
use flashraid_model::ssd::{FrontEndCounters, SuperblockCounters};

/// Source of the values about queues, processor cores and buffers of all members.
pub(super) struct FrontsSource {
    front: FrontEndCounters,
    has_queues: bool,
}

impl FrontsSource {
    pub(super) fn new(inputs: &ReportInputs) -> Self {
        Self {
            front: inputs.counts.drive_front_end_counters.iter().copied().sum(),
            has_queues: inputs.drives_without_superblocks_have_submission_queues,
        }
    }
}

figures! {
    /// Counters kept by the queues, processor cores and write buffers of members without superblocks, summed over the members (section
    /// 25 of `docs/rules.md`).
    pub struct DriveQueuesAndBuffersReport("front", of: FrontsSource) {
        /// Number of commands sent to the drives. All pages that one operation of the array sends to a drive at a time form one command.
        commands: u64 = of.front.commands;
        /// Number of commands that waited in a submission queue, because the drive could not fetch them at once; left out without
        /// `ssd.queues`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fetch_waits: Option<u64> = of.has_queues.then_some(of.front.fetch_waits),
            row 5 "commands that waited to be fetched" in "" if |front| front.fetch_waits.is_some();
        /// Mean wait of the commands that waited in a submission queue, in microseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fetch_wait_mean_us: Option<f64> = mean_us(of.front.fetch_wait_ns, of.front.fetch_waits),
            row 6 "mean of these waits" in "µs" if |front| front.fetch_waits.is_some();
        /// Number of pages that were overwritten in the buffer, so that their old version was not programmed.
        overwritten: u64 = of.front.units_overwritten_in_buffer, row 1 "pages overwritten in the buffer" in "";
        /// Number of pages read from the buffer.
        buffer_hits: u64 = of.front.pages_read_from_buffer, row 2 "pages read from the buffer" in "";
        /// Number of pages that a trim removed from the buffer before a die had received them.
        trimmed: u64 = of.front.units_trimmed_in_buffer;
        /// Number of write commands that waited for room in the buffer.
        room_waits: u64 = of.front.buffer_room_waits, row 3 "writes that waited for the buffer" in "";
        /// Mean wait of the write commands that waited for room in the buffer, in microseconds.
        room_wait_mean_us: Option<f64> = mean_us(of.front.buffer_room_wait_ns, of.front.buffer_room_waits), row 4 "mean of these waits" in "µs";
        /// Number of writes with "force unit access" that waited for their programs; left out if there are none.
        #[serde(default, skip_serializing_if = "is_zero")]
        forced_waits: u64 = of.front.fua_write_waits;
    }
}

impl DriveQueuesAndBuffersReport {
    pub(super) fn section(&self) -> TableSection {
        section("Drives' buffers and queues", self.rows())
    }
}

/// Source of the values of all drives with superblocks.
pub(super) struct DrivesSource<'a> {
    inputs: &'a ReportInputs<'a>,
    drive: SuperblockDriveInputs,
    counts: SuperblockCounters,
    front: FrontEndCounters,
}

impl<'a> DrivesSource<'a> {
    pub(super) fn new(inputs: &'a ReportInputs<'a>, drive: &SuperblockDriveInputs) -> Self {
        let (counts, front) = (
            inputs.counts.superblock_counters_by_member.iter().copied().sum(),
            inputs.counts.drive_front_end_counters.iter().copied().sum(),
        );
        Self { inputs, drive: *drive, counts, front }
    }

    /// Returns the share of `ns` in the time of all dies.
    fn share(&self, ns: u64) -> Option<f64> {
        share_of_dies(self.inputs, self.inputs.counts.superblock_counters_by_member.len(), ns)
    }

    fn page_bytes(&self, pages: u64) -> u64 {
        pages * u64::from(self.drive.page_bytes)
    }

    fn unit_bytes(&self, units: u64) -> u64 {
        self.page_bytes(units * u64::from(self.drive.pages_per_mapping_unit))
    }
}

figures! {
    /// Counters kept by drives with superblocks, summed over the drives (section 24 of `docs/rules.md`). A unit is what a drive maps
    /// (`ssd.superblock.unit`, a page or several).
    pub struct SuperblockDriveReport("drive", of: DrivesSource<'_>) {
        /// Factor by which the simulated drive is smaller than the full-size one. It divides the number of superpages that a superblock
        /// has on each die. With `scale_by = "width"`, it divides dies, channels, cores, buffer and link rate instead.
        scale: u32 = of.drive.scaled_down_by, rows 0 in "" (SuperblockDriveReport::scale_rows);
        /// The value `width` if the drive is simulated at a fraction of its full size with fewer dies, channels and cores and a slower
        /// link. It is left out without `ssd.scale`, and if only the superblocks are smaller.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        scale_by: Option<ScaledDriveDimension> = Some(of.drive.scaled_down_dimension).filter(|by| *by == ScaledDriveDimension::Width && of.drive.scaled_down_by > 1);
        /// Write amplification of the media: the number of units programmed, including padding and parity, divided by the number of units
        /// that the host wrote. `flash.write_amplification` has the same value.
        write_amplification: Option<f64> = of.counts.write_amplification(of.drive.pages_per_mapping_unit), row 1 "write amplification of the media" in "";
        /// Part of `write_amplification` that parity accounts for; left out without `ssd.superblock.rain`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        write_amplification_of_parity: Option<f64> =
            of.counts.write_amplification_of_parity(of.drive.pages_per_mapping_unit).filter(|_| of.drive.rain),
            row 2 "of which parity" in "" if |drive| drive.die_time.parity_programs.is_some();
        /// Number of commands sent to the drives. All pages that one operation of the array sends to a drive at a time form one command.
        commands: u64 = of.front.commands;
        /// Number of commands that waited in a submission queue, because the drive could not fetch them at once; left out without
        /// `ssd.queues`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fetch_waits: Option<u64> = of.drive.has_submission_queues.then_some(of.front.fetch_waits),
            row 20 "commands that waited to be fetched" in "" if |drive| drive.fetch_waits.is_some();
        /// Mean wait of the commands that waited in a submission queue, in microseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fetch_wait_mean_us: Option<f64> = mean_us(of.front.fetch_wait_ns, of.front.fetch_waits),
            row 21 "mean of these waits" in "µs" if |drive| drive.fetch_waits.is_some();
        /// Number of units of the mapping (`ssd.superblock.unit`, a page or several) programmed for the host. Moved units, padding and
        /// parity do not count.
        units_programmed: u64 = of.counts.host_units_programmed;
        /// Number of units of the mapping (`ssd.superblock.unit`, a page or several) that collection moved and programmed.
        units_moved: u64 = of.counts.units_moved_by_collection;
        /// Number of units of the mapping that the host overwrote while collection moved them, so that collection did not program them.
        units_dropped: u64 = of.counts.units_overwritten_during_move;
        /// Number of units of padding, programmed without data because superpages were closed before they were full. A superpage is what
        /// one program of a die takes.
        units_padded: u64 = of.counts.padding_units_programmed;
        /// Number of units of parity that were programmed, each as large as a unit of the mapping; left out if there are none.
        #[serde(default, skip_serializing_if = "is_zero")]
        units_parity: u64 = of.counts.parity_units_programmed;
        /// Number of units of the mapping that were overwritten in the write buffer, so that their old version was not programmed.
        overwritten: u64 = of.front.units_overwritten_in_buffer;
        /// Number of pages read from the buffer.
        buffer_hits: u64 = of.front.pages_read_from_buffer;
        /// Number of units of the mapping (`ssd.superblock.unit`, a page or several) that the host wrote only in part. The rest of each
        /// unit was read from flash.
        rmw_reads: u64 = of.counts.units_read_for_partial_writes;
        /// Number of reads from flash for the host, including those for writes of a part of a unit of the mapping.
        array_reads: u64 = of.counts.flash_page_reads_for_host;
        /// Number of pages that the host read without a flash read of their own. A read of the same flash page for another request
        /// brought their data.
        joined: u64 = of.counts.page_reads_sharing_flash_read;
        /// Number of trimmed pages that were ignored, because the trim covered their unit of the mapping (`ssd.superblock.unit`, a page
        /// or several) only in part.
        trimmed_in_part: u64 = of.counts.trimmed_pages_ignored;
        /// Number of superblocks whose units collection began to move.
        victims: u64 = of.counts.victims_begun, row 3 "superblocks collected" in "";
        /// Number of write commands that waited for room in the buffer.
        room_waits: u64 = of.front.buffer_room_waits, row 10 "writes that waited for the buffer" in "";
        /// Mean wait of the write commands that waited for room in the buffer, in microseconds.
        room_wait_mean_us: Option<f64> = mean_us(of.front.buffer_room_wait_ns, of.front.buffer_room_waits), row 11 "mean of these waits" in "µs";
        /// Number of writes with "force unit access" that waited for their programs; left out if there are none.
        #[serde(default, skip_serializing_if = "is_zero")]
        forced_waits: u64 = of.front.fua_write_waits;
        /// Number of superpages of host data that waited because collection was further behind with its moves than `ssd.superblock.debt`
        /// allows. A superpage is what one program of a die takes.
        debt_waits: u64 = of.counts.superpages_that_waited_for_collection, row 12 "superpages that waited for moves" in "";
        /// Number of superpages of host data that waited for collection, because too few superblocks were free. A superpage is what one
        /// program of a die takes.
        foreground: u64 = of.counts.waits_for_free_superblock, row 13 "superpages that waited for a superblock" in "";
        /// Total time that superpages of host data waited because too few superblocks were free, in milliseconds. A superpage is what
        /// one program of a die takes.
        foreground_ms: f64 = of.counts.waits_for_free_superblock_ns as f64 / 1e6;
        /// Number of host page reads that waited for collection on their die.
        reads_behind_collection: u64 = of.counts.reads_behind_collection, row 14 "pages read that waited for collection" in "";
        /// Mean wait of the host page reads that waited for collection on their die, in microseconds.
        reads_behind_collection_mean_us: Option<f64> =
            mean_us(of.counts.reads_behind_collection_ns, of.counts.reads_behind_collection), row 15 "mean of these waits" in "µs";
        /// Shares of the time of all dies that they spent on programs, on erases, and on reads of collection.
        die_time: DieTimeShares = DieTimeShares::new(of);
        /// Counters for each placement handle; left out without `ssd.placement_handles`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        placement: Option<PlacementHandleBytesReport> = of.drive.placement.map(|placement| {
            let is_persistent = placement.collection_separates_handles();
            PlacementHandleBytesReport::new(&PlacementSource { drives: of, is_persistent, handles: placement.count })
        });
        /// Counters of data that were written to superblocks with one bit per cell, or moved out of them by collection. Left out without
        /// `ssd.slc`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        slc: Option<SlcReport> = of.drive.has_slc.then(|| SlcReport::new(&of.counts));
        /// Numbers of superblocks moved to preserve data or to level wear; left out without `ssd.superblock.refresh_reads` and
        /// `wear_difference`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        upkeep: Option<RefreshAndWearLevellingReport> = of.drive.has_refresh_or_wear_levelling.then(|| RefreshAndWearLevellingReport::new(&of.counts));
    }
}

figures! {
    /// Superblocks that drives have moved to preserve their data or to level wear, and not to make room (rule 223 in `docs/rules.md`).
    #[derive(Eq)]
    pub struct RefreshAndWearLevellingReport("drive.upkeep", of: SuperblockCounters) {
        /// Number of superblocks moved because they had been read too often.
        refreshed: u64 = of.victims_for_refresh, row 40 "superblocks moved as they had been read often" in "";
        /// Number of superblocks moved to level wear.
        levelled: u64 = of.victims_for_wear_levelling, row 41 "superblocks moved as they had been erased seldom" in "";
    }
}

figures! {
    /// Counters of data that were written to superblocks with one bit per cell (SLC), or moved out of them by collection. Such
    /// superblocks are programmed faster and hold less (rule 222 in `docs/rules.md`). Data are counted in units of the mapping
    /// (`ssd.superblock.unit`, a page or several).
    #[derive(Eq)]
    pub struct SlcReport("drive.slc", of: SuperblockCounters) {
        /// Number of units of the mapping (`ssd.superblock.unit`, a page or several) that were programmed for the host with one bit per
        /// cell.
        units_programmed: u64 = of.host_units_programmed_slc, row 50 "units programmed with one bit per cell" in "";
        /// Number of units of the mapping (`ssd.superblock.unit`, a page or several) that collection moved out of superblocks with one
        /// bit per cell.
        units_folded: u64 = of.collected_units_from_slc, row 51 "units folded" in "";
    }
}

figures! {
    /// Shares of the time of all dies that they spent on programs, on erases, and on reads of collection. Reads for the host are in no
    /// share, and neither is idle time.
    #[derive(Copy)]
    pub struct DieTimeShares("drive.die_time", of: DrivesSource<'_>) {
        /// Share of time for programs of the host, including their transfers.
        host_programs: Option<f64> = of.share(of.counts.host_program_ns), row 4 "dies in programs of the host" in "%";
        /// Share of time for programs of collection, including their transfers.
        collection_programs: Option<f64> = of.share(of.counts.collection_program_ns), row 5 "dies in programs of collection" in "%";
        /// Share of time for programs of parity, including their transfers; left out without `ssd.superblock.rain`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parity_programs: Option<f64> = of.share(of.counts.parity_program_ns).filter(|_| of.drive.rain),
            row 6 "dies in programs of parity" in "%" if |time| time.parity_programs.is_some();
        /// Share of time for reads of collection, including their transfers.
        collection_reads: Option<f64> = of.share(of.counts.collection_read_ns), row 7 "dies in reads of collection" in "%";
        /// Share of time for erases.
        erases: Option<f64> = of.share(of.counts.erase_ns), row 8 "dies in erases" in "%";
    }
}

/// Source of the values of placement handles.
pub(super) struct PlacementSource<'a> {
    drives: &'a DrivesSource<'a>,
    /// True if moved units stay with their handle.
    is_persistent: bool,
    handles: u32,
}

figures! {
    /// Bytes that the host sent to drives with placement handles, and bytes that these drives programmed (rule 221 in `docs/rules.md`).
    /// Writes with different handles go to different superblocks.
    #[derive(Eq)]
    pub struct PlacementHandleBytesReport("drive.placement", of: PlacementSource<'_>) {
        /// Number of bytes that the host sent.
        host_bytes: u64 = of.drives.page_bytes(of.drives.counts.host_pages_received), row 30 "bytes of the host" in "B";
        /// Number of bytes programmed: data of the host, data moved by collection, padding and parity.
        media_bytes: u64 = of.drives.unit_bytes(of.drives.counts.programmed_mapping_units()), row 31 "bytes programmed" in "B";
        /// Part of `media_bytes` that collection programmed into superblocks shared by all handles. Left out if moved units stay with their
        /// handle.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shared_media_bytes: Option<u64> =
            (!of.is_persistent).then(|| of.drives.unit_bytes(of.drives.counts.by_placement_handle.collection_units_programmed[0])),
            row 33 "moved, of all handles: bytes programmed" in "B" if |placement| placement.shared_media_bytes.is_some();
        /// Counters of each placement handle, in the order of their numbers.
        handles: Vec<HandleReport> = (0..of.handles as usize).map(|handle| HandleReport::new(&(of, handle))).collect();
    }
}

figures! {
    /// Counters of one placement handle.
    #[derive(Eq)]
    pub struct HandleReport("drive.placement.handles", of: (&PlacementSource<'_>, usize)) {
        /// Number of bytes that the host sent with this handle.
        host_bytes: u64 = of.0.drives.page_bytes(of.0.drives.counts.by_placement_handle.pages_received[of.1]), row 32 "bytes of the host" in "B";
        /// Number of bytes programmed into the superblocks of this handle.
        media_bytes: u64 = {
            let (by, handle) = (&of.0.drives.counts.by_placement_handle, of.1);
            let moved = if of.0.is_persistent { by.collection_units_programmed[handle] } else { 0 };
            of.0.drives.unit_bytes(by.host_units_programmed[handle] + moved)
        }, row 32 "bytes programmed" in "B";
    }
}

impl PlacementHandleBytesReport {
    fn all_rows(&self) -> Vec<(u32, TableRow)> {
        let of_handle = |(number, handle): (usize, &HandleReport)| {
            handle.rows().into_iter().map(move |(place, row)| (place, TableRow { label: format!("handle {number}: {}", row.label), ..row }))
        };
        self.rows().into_iter().chain(self.handles.iter().enumerate().flat_map(of_handle)).collect()
    }
}

impl SuperblockDriveReport {
    fn scale_rows(&self) -> Vec<(String, TableValue)> {
        let by = if self.scale_by == Some(ScaledDriveDimension::Width) { " by width" } else { "" };
        let row = (self.scale > 1).then(|| ("scale".to_owned(), TableValue::Text(format!("1 : {}{by}", self.scale))));
        row.into_iter().collect()
    }

    pub(super) fn section(&self) -> TableSection {
        let mut rows = self.rows();
        rows.extend(self.die_time.rows());
        rows.extend(self.placement.iter().flat_map(PlacementHandleBytesReport::all_rows));
        rows.extend(self.upkeep.iter().flat_map(RefreshAndWearLevellingReport::rows));
        rows.extend(self.slc.iter().flat_map(SlcReport::rows));
        section("Drives", rows)
    }
}
