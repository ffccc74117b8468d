//! Counts of fronts and of drives with superblocks, as reports show them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::build::share_of_dies;
use super::figures::{Part, Shown, mean_us, section};
use super::table::{Row, Section};
use super::{DriveInputs, ReportInputs, is_zero};
use crate::config::ScaleBy;
use flashraid_model::ssd::{DriveCounters, FrontCounters, PlacementHandles};

/// The sources of the figures of all fronts.
pub(super) struct OfFronts {
    front: FrontCounters,
    has_queues: bool,
}

impl OfFronts {
    pub(super) fn new(inputs: &ReportInputs) -> Self {
        Self { front: inputs.counts.fronts.iter().copied().sum(), has_queues: inputs.has_queues }
    }
}

figures! {
    /// Counts of queues, cores and buffers before the dies of members without superblocks, all together (section 25 of the rules).
    pub struct FrontReport("front", of: OfFronts) {
        /// Number of commands. A command is what an operation of the array sends to a drive at a time.
        commands: u64 = of.front.commands;
        /// Number of commands that waited in a queue until they were fetched; left out without `ssd.queues`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fetch_waits: Option<u64> = of.has_queues.then_some(of.front.fetch_waits),
            row 5 "commands that waited to be fetched" in "" if |front| front.fetch_waits.is_some();
        /// Mean of these waits, in microseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fetch_wait_mean_us: Option<f64> = mean_us(of.front.fetch_wait_ns, of.front.fetch_waits),
            row 6 "mean of these waits" in "µs" if |front| front.fetch_waits.is_some();
        /// Number of pages that replaced one in the buffer, which was therefore not programmed.
        overwritten: u64 = of.front.overwritten, row 1 "pages overwritten in the buffer" in "";
        /// Number of pages read from the buffer.
        buffer_hits: u64 = of.front.buffer_hits, row 2 "pages read from the buffer" in "";
        /// Number of pages that a trim removed from the buffer before a die had them.
        trimmed: u64 = of.front.dropped;
        /// Number of write commands that waited for room in the buffer.
        room_waits: u64 = of.front.room_waits, row 3 "writes that waited for the buffer" in "";
        /// Mean of these waits, in microseconds.
        room_wait_mean_us: Option<f64> = mean_us(of.front.room_wait_ns, of.front.room_waits), row 4 "mean of these waits" in "µs";
        /// Number of writes with "force unit access" that waited for their programs; left out if there are none.
        #[serde(default, skip_serializing_if = "is_zero")]
        forced_waits: u64 = of.front.forced_waits;
    }
}

impl FrontReport {
    pub(super) fn section(&self) -> Section {
        section("Drives' buffers and queues", self.rows())
    }
}

/// The sources of the figures of all drives with superblocks.
pub(super) struct OfDrives<'a> {
    inputs: &'a ReportInputs<'a>,
    drive: DriveInputs,
    counts: DriveCounters,
    front: FrontCounters,
}

impl<'a> OfDrives<'a> {
    pub(super) fn new(inputs: &'a ReportInputs<'a>, drive: &DriveInputs) -> Self {
        let (counts, front) = (inputs.counts.drives.iter().copied().sum(), inputs.counts.fronts.iter().copied().sum());
        Self { inputs, drive: *drive, counts, front }
    }

    /// Returns the share of so much time in the time of all dies.
    fn share(&self, ns: u64) -> Option<f64> {
        share_of_dies(self.inputs, self.inputs.counts.drives.len(), ns)
    }

    fn page_bytes(&self, pages: u64) -> u64 {
        pages * u64::from(self.drive.page_bytes)
    }

    fn unit_bytes(&self, units: u64) -> u64 {
        self.page_bytes(units * u64::from(self.drive.unit_pages))
    }
}

figures! {
    /// Counts of drives with superblocks, all together (section 24 of the rules).
    pub struct DriveReport("drive", of: OfDrives<'_>) {
        /// Factor by which the simulated drive is smaller than the full-size one, in rows of a superblock or in what `scale_by` names.
        scale: u32 = of.drive.scale, rows 0 in "" (DriveReport::scale_rows);
        /// `width` if dies, channels, cores and link are scaled, otherwise left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        scale_by: Option<ScaleBy> = Some(of.drive.scale_by).filter(|by| *by == ScaleBy::Width && of.drive.scale > 1);
        /// All units programmed, with padding and parity, divided by the units that the host sent. It equals that of `flash`.
        write_amplification: Option<f64> = of.counts.write_amplification(of.drive.unit_pages), row 1 "write amplification of the media" in "";
        /// Share of parity in this write amplification; left out without `ssd.superblock.rain`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        write_amplification_of_parity: Option<f64> =
            of.counts.write_amplification_of_parity(of.drive.unit_pages).filter(|_| of.drive.rain),
            row 2 "of which parity" in "" if |drive| drive.die_time.parity_programs.is_some();
        /// Number of commands. A command is what an operation of the array sends to a drive at a time.
        commands: u64 = of.front.commands;
        /// Number of commands that waited in a queue until they were fetched; left out without `ssd.queues`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fetch_waits: Option<u64> = of.drive.has_queues.then_some(of.front.fetch_waits),
            row 20 "commands that waited to be fetched" in "" if |drive| drive.fetch_waits.is_some();
        /// Mean of these waits, in microseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fetch_wait_mean_us: Option<f64> = mean_us(of.front.fetch_wait_ns, of.front.fetch_waits),
            row 21 "mean of these waits" in "µs" if |drive| drive.fetch_waits.is_some();
        /// Number of units programmed for the host.
        units_programmed: u64 = of.counts.units_programmed;
        /// Number of units that collection programmed.
        units_moved: u64 = of.counts.units_moved;
        /// Number of units that the host replaced while collection moved them.
        units_dropped: u64 = of.counts.units_dropped;
        /// Number of places without data in superpages that were closed early.
        units_padded: u64 = of.counts.units_padded;
        /// Number of places that were programmed with parity; left out if there are none.
        #[serde(default, skip_serializing_if = "is_zero")]
        units_parity: u64 = of.counts.units_parity;
        /// Number of units that replaced one in the buffer.
        overwritten: u64 = of.front.overwritten;
        /// Number of pages read from the buffer.
        buffer_hits: u64 = of.front.buffer_hits;
        /// Number of units of which the host wrote a part, and whose rest was read from flash.
        rmw_reads: u64 = of.counts.rmw_reads;
        /// Number of array reads for the host.
        array_reads: u64 = of.counts.array_reads;
        /// Number of reads that shared the array read of another.
        joined: u64 = of.counts.joined;
        /// Number of pages of trims that covered a unit only in part, and were ignored.
        trimmed_in_part: u64 = of.counts.trimmed_in_part;
        /// Number of superblocks that collection began to move.
        victims: u64 = of.counts.victims, row 3 "superblocks collected" in "";
        /// Number of write commands that waited for room in the buffer.
        room_waits: u64 = of.front.room_waits, row 10 "writes that waited for the buffer" in "";
        /// Mean of these waits, in microseconds.
        room_wait_mean_us: Option<f64> = mean_us(of.front.room_wait_ns, of.front.room_waits), row 11 "mean of these waits" in "µs";
        /// Number of writes with "force unit access" that waited for their programs; left out if there are none.
        #[serde(default, skip_serializing_if = "is_zero")]
        forced_waits: u64 = of.front.forced_waits;
        /// Number of superpages of the host that waited because moves were owed.
        debt_waits: u64 = of.counts.debt_waits, row 12 "superpages that waited for moves" in "";
        /// Number of superpages of the host that waited because too few superblocks were free.
        foreground: u64 = of.counts.foreground, row 13 "superpages that waited for a superblock" in "";
        /// Sum of these waits, in milliseconds.
        foreground_ms: f64 = of.counts.foreground_ns as f64 / 1e6;
        /// Number of pages of host reads that waited for collection at their die.
        reads_behind_collection: u64 = of.counts.reads_behind_collection, row 14 "pages read that waited for collection" in "";
        /// Mean of these waits, in microseconds.
        reads_behind_collection_mean_us: Option<f64> =
            mean_us(of.counts.reads_behind_collection_ns, of.counts.reads_behind_collection), row 15 "mean of these waits" in "µs";
        /// Shares of the time of all dies.
        die_time: DieTime = DieTime::new(of);
        /// Counts of each placement handle; left out without `ssd.placement_handles`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        placement: Option<PlacementReport> = of.drive.placement.map(|PlacementHandles { handles, is_persistent }| {
            PlacementReport::new(&OfPlacement { drives: of, is_persistent, handles })
        });
        /// Counts of superblocks with one bit per cell; left out without `ssd.slc`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        slc: Option<SlcReport> = of.drive.has_slc.then(|| SlcReport::new(&of.counts));
        /// Counts of moves for upkeep; left out without `ssd.superblock.refresh_reads` and `wear_difference`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        upkeep: Option<UpkeepReport> = of.drive.has_upkeep.then(|| UpkeepReport::new(&of.counts));
    }
}

figures! {
    /// Superblocks that drives have moved for upkeep (rule 223).
    #[derive(Eq)]
    pub struct UpkeepReport("drive.upkeep", of: DriveCounters) {
        /// Number of superblocks that had been read many times.
        refreshed: u64 = of.refreshed, row 40 "superblocks moved as they had been read often" in "";
        /// Number of superblocks that had been erased only a few times.
        levelled: u64 = of.levelled, row 41 "superblocks moved as they had been erased seldom" in "";
    }
}

figures! {
    /// Units that drives have written with one bit per cell (rule 222).
    #[derive(Eq)]
    pub struct SlcReport("drive.slc", of: DriveCounters) {
        /// Number of units with one bit per cell among those programmed for the host.
        units_programmed: u64 = of.units_slc, row 50 "units programmed with one bit per cell" in "";
        /// Number of units moved out of superblocks with one bit per cell, among those that collection programmed.
        units_folded: u64 = of.units_folded, row 51 "units folded" in "";
    }
}

figures! {
    /// Shares of the time of all dies. The rest is reads of the host, or idle time.
    #[derive(Copy)]
    pub struct DieTime("drive.die_time", of: OfDrives<'_>) {
        /// Programs of the host, with their transfers.
        host_programs: Option<f64> = of.share(of.counts.program_ns), row 4 "dies in programs of the host" in "%";
        /// Programs of collection, with their transfers.
        collection_programs: Option<f64> = of.share(of.counts.collection_program_ns), row 5 "dies in programs of collection" in "%";
        /// Programs of parity, with their transfers; left out without `ssd.superblock.rain`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parity_programs: Option<f64> = of.share(of.counts.parity_program_ns).filter(|_| of.drive.rain),
            row 6 "dies in programs of parity" in "%" if |time| time.parity_programs.is_some();
        /// Reads of collection, with their transfers.
        collection_reads: Option<f64> = of.share(of.counts.collection_read_ns), row 7 "dies in reads of collection" in "%";
        /// Erases of all dies.
        erases: Option<f64> = of.share(of.counts.erase_ns), row 8 "dies in erases" in "%";
    }
}

/// The sources of the figures of placement handles.
pub(super) struct OfPlacement<'a> {
    drives: &'a OfDrives<'a>,
    /// True if moved units stay with their handle.
    is_persistent: bool,
    handles: u32,
}

figures! {
    /// Bytes sent to drives with placement handles, and bytes programmed (rule 221).
    #[derive(Eq)]
    pub struct PlacementReport("drive.placement", of: OfPlacement<'_>) {
        /// Number of bytes that the host sent.
        host_bytes: u64 = of.drives.page_bytes(of.drives.counts.pages_received), row 30 "bytes of the host" in "B";
        /// Number of bytes programmed: for the host, by collection, without data, and with parity.
        media_bytes: u64 = of.drives.unit_bytes(of.drives.counts.programmed_units()), row 31 "bytes programmed" in "B";
    /// Part of these that collection programmed into superblocks that all handles share. Left out if moved units stay with their handle.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shared_media_bytes: Option<u64> =
            (!of.is_persistent).then(|| of.drives.unit_bytes(of.drives.counts.by_handle.collection_units[0])),
            row 33 "moved, of all handles: bytes programmed" in "B" if |placement| placement.shared_media_bytes.is_some();
        /// Counts of each handle, in order.
        handles: Vec<HandleReport> = (0..of.handles as usize).map(|handle| HandleReport::new(&(of, handle))).collect();
    }
}

figures! {
    /// Counts of one placement handle.
    #[derive(Eq)]
    pub struct HandleReport("drive.placement.handles", of: (&OfPlacement<'_>, usize)) {
        /// Number of bytes that the host sent with it.
        host_bytes: u64 = of.0.drives.page_bytes(of.0.drives.counts.by_handle.pages_received[of.1]), row 32 "bytes of the host" in "B";
        /// Number of bytes programmed into its superblocks.
        media_bytes: u64 = {
            let (by, handle) = (&of.0.drives.counts.by_handle, of.1);
            let moved = if of.0.is_persistent { by.collection_units[handle] } else { 0 };
            of.0.drives.unit_bytes(by.host_units[handle] + moved)
        }, row 32 "bytes programmed" in "B";
    }
}

impl PlacementReport {
    fn all_rows(&self) -> Vec<(u32, Row)> {
        let of_handle = |(number, handle): (usize, &HandleReport)| {
            handle.rows().into_iter().map(move |(place, row)| (place, Row { name: format!("handle {number}: {}", row.name), ..row }))
        };
        self.rows().into_iter().chain(self.handles.iter().enumerate().flat_map(of_handle)).collect()
    }
}

impl DriveReport {
    fn scale_rows(&self) -> Vec<(String, Shown)> {
        let by = if self.scale_by == Some(ScaleBy::Width) { " by width" } else { "" };
        let row = (self.scale > 1).then(|| ("scale".to_owned(), Shown::Text(format!("1 : {}{by}", self.scale))));
        row.into_iter().collect()
    }

    pub(super) fn section(&self) -> Section {
        let mut rows = self.rows();
        rows.extend(self.die_time.rows());
        rows.extend(self.placement.iter().flat_map(PlacementReport::all_rows));
        rows.extend(self.upkeep.iter().flat_map(UpkeepReport::rows));
        rows.extend(self.slc.iter().flat_map(SlcReport::rows));
        section("Drives", rows)
    }
}
