//! Results of a check about drives with superblocks.

use serde::Serialize;

use super::{PoolGcThresholdsAndCost, theory};
use crate::config::{HandleIsolation, ScaledDriveDimension, Scenario, SlcShareBase};
use crate::memory;
use flashraid_model::array::{ArrayParams, ParityHandle};
use flashraid_model::ssd::{PlaneReadMode, SlcSuperblockCountLimit, SsdParams, SubmissionQueues, SuperblockDriveParams, SuperblockShape};
use flashraid_workload::SourceSpec;

/// Number of superpages per die in a superblock from which throughput hardly depends on how many dies may program at a time.
///
/// With four superpages, the throughput was erratic: with 113, 114 and 115 dies allowed, 103, 114 and 98 programmed.
const ROWS_ENOUGH: u32 = 8;

/// Results of checking a scenario whose members have superblocks: sizes of one such drive as it is simulated, after any scaling by
/// `ssd.scale`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SuperblockDriveCheck {
    /// Factor by which the simulated drive is smaller than the full-size one. It divides the number of superpages that a superblock
    /// has on each die. With `ssd.scale_by = "width"`, it instead divides the numbers of dies, channels, cores and commands in
    /// progress, the buffer size and the link rate.
    pub scale: u32,
    /// The value `width` if the drive is simulated at a fraction of its full size, with fewer dies, channels and cores and a slower
    /// link. It is left out if the drive is made smaller by smaller superblocks instead (`ssd.scale_by = "space"`). The same holds for
    /// a drive that is simulated at full size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale_by: Option<ScaledDriveDimension>,
    /// Number of superblocks in the drive.
    pub superblocks: u32,
    /// Size of a superblock in bytes, including parity.
    pub superblock_bytes: u64,
    /// Number of bytes of parity in all superblocks; left out without parity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parity_bytes: Option<u64>,
    /// Results about placement handles, by which writes say which data belong together: their number, and the superblocks that they
    /// need. Left out without `ssd.placement_handles`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement: Option<PlacementHandlesCheck>,
    /// Number of rows of a superblock. A row is one superpage of every die.
    pub rows: u32,
    /// Number of bytes in a superpage, which one program of a die writes.
    pub superpage_bytes: u64,
    /// Capacity of the write buffer, in bytes.
    pub buffer_bytes: u64,
    /// Number of submission queues, and limits on the commands that are fetched from them; left out without `ssd.queues`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queues: Option<SubmissionQueuesCheck>,
    /// Number and capacity of the superblocks with one bit per cell; left out without `ssd.slc`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slc: Option<SlcSuperblocksCheck>,
    /// Number of bytes that the host can write in one burst until writes must wait for free superblocks. In the meantime, free superblocks
    /// fall from `target + span`, where collection stops, to `floor`.
    pub burst_bytes: u64,
    /// Number of bytes that the host can write to the real drive in one burst until writes must wait for free superblocks. The simulated
    /// drive is smaller if `ssd.scale` is above 1.
    pub burst_bytes_unscaled: u64,
    /// Number of bytes of memory that a simulation needs for one member at its full size (with `ssd.scale = 1`) if all of it is written.
    pub memory_bytes_unscaled: u64,
}

/// Placement handles (numbers by which writes say which data belong together): how many the drive and the workload have, and the
/// superblocks that they need.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlacementHandlesCheck {
    /// Number of placement handles.
    pub handles: u32,
    /// Time for which data of different placement handles stay in different superblocks: until collection moves them, or for ever.
    pub isolation: HandleIsolation,
    /// Number of placement handles that writes use: one for each stream of a mix, and that of parity (`array.parity_handle`), at most
    /// `handles`. Other workloads, and writes behind a write cache, use one.
    pub handles_used: u32,
    /// Maximum number of superblocks that may be open at the same time, for the host and for collection.
    pub open_superblocks_max: u32,
}

fn placement_check(scenario: &Scenario, shape: &SuperblockShape) -> Option<PlacementHandlesCheck> {
    let written = scenario.config.ssd.placement_handles.as_ref()?;
    let sources = match &scenario.workload.source {
        SourceSpec::Mix(streams) if scenario.array.cache.is_none() => streams.len() as u32,
        _ => 1,
    };
    let of_parity = scenario.array.parity_handle;
    let of_streams = sources.min(written.count - u32::from(of_parity == ParityHandle::Own));
    let is_further = match of_parity {
        ParityHandle::OfData => false,
        ParityHandle::Own => true,
        ParityHandle::Number(handle) => u32::from(handle) >= of_streams,
    };
    Some(PlacementHandlesCheck {
        handles: written.count,
        isolation: written.isolation,
        handles_used: of_streams + u32::from(is_further),
        open_superblocks_max: shape.open_superblocks_max(),
    })
}

/// Results of the check about the submission queues of a drive: their number, how many the workload uses, and limits on fetched
/// commands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SubmissionQueuesCheck {
    /// Number of submission queues of the drive.
    pub queues: u32,
    /// Number of submission queues that the streams of the workload use.
    pub used: u32,
    /// Maximum number of commands that the drive fetches from a submission queue in one turn of that queue.
    pub burst: u32,
    /// Maximum number of commands that the drive has in progress at a time, from all submission queues together.
    pub commands: u32,
}

/// Superblocks that hold one bit per cell (SLC), in a drive whose other superblocks hold several. They take host writes first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SlcSuperblocksCheck {
    /// Rule that decides how many superblocks may hold one bit per cell.
    pub mode: SlcShareBase,
    /// Maximum number of superblocks that hold one bit per cell at the same time. With `ssd.slc.mode = "dynamic"`, this limit depends
    /// on the number of free superblocks. The value is then the limit after a long idle time. By then, `ssd.superblock.target` +
    /// `ssd.superblock.span` superblocks are free, and none holds one bit per cell.
    pub superblocks: u32,
    /// Number of bytes of data that the simulated drive can hold in its superblocks with one bit per cell.
    pub bytes: u64,
    /// Number of bytes of data that the real drive can hold in its superblocks with one bit per cell. The simulated drive is smaller if
    /// `ssd.scale` is above 1.
    pub bytes_unscaled: u64,
}

/// Results of the check about the front of a drive without superblocks (the parts in front of its dies): queues, cores and write
/// buffer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DriveFrontEndCheck {
    /// Capacity of the drive's write buffer, in bytes; left out if the drive has no write buffer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer_bytes: Option<u64>,
    /// True if the drive's write buffer keeps its data when power is lost. It is also true if the drive has no write buffer.
    pub is_protected: bool,
    /// Number of submission queues, and limits on the commands that are fetched from them; left out without `ssd.queues`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queues: Option<SubmissionQueuesCheck>,
    /// Number of processor cores of the drive's controller.
    pub cores: u32,
}

pub(super) fn front_check(scenario: &Scenario) -> Option<DriveFrontEndCheck> {
    let ssd = &scenario.array.ssd;
    let front = ssd.front_end.as_ref()?;
    Some(DriveFrontEndCheck {
        buffer_bytes: front.write_buffer.map(|buffer| u64::from(buffer.capacity_mapping_units) * u64::from(ssd.geometry.page_bytes)),
        is_protected: front.write_buffer.is_none_or(|buffer| buffer.settings.protected),
        queues: front.queues.map(|queues| queues_check(scenario, queues)),
        cores: front.firmware.cores,
    })
}

fn queues_check(scenario: &Scenario, params: SubmissionQueues) -> SubmissionQueuesCheck {
    let SubmissionQueues { queues, burst, commands } = params;
    SubmissionQueuesCheck { queues, used: scenario.metrics.streams.clamp(1, queues), burst, commands }
}

pub(super) fn drive_check(scenario: &Scenario) -> Option<SuperblockDriveCheck> {
    let ssd = &scenario.array.ssd;
    let superblock = ssd.superblock.as_ref()?;
    let shape = superblock.shape(&ssd.geometry);
    let unit_bytes = u64::from(superblock.pages_per_mapping_unit) * u64::from(ssd.geometry.page_bytes);
    let superblock_bytes = u64::from(shape.mapping_units_per_superblock()) * unit_bytes;
    let burst_superblocks = superblock.collection.target + superblock.collection.span - superblock.collection.floor;
    let data_bytes = u64::from(shape.data_mapping_units_per_superblock()) * unit_bytes;
    // Rows are whole numbers, so that the drive may be scaled by a little more or less.
    let written = &scenario.config.ssd;
    let (pages, unscaled) = match written.scale_by {
        ScaledDriveDimension::Space => (u64::from(ssd.geometry.pages_per_block), u64::from(written.geometry.shape.pages_per_block)),
        ScaledDriveDimension::Width => (1, u64::from(written.scale)),
    };
    let slc_bytes = |superblocks: u32| u64::from(superblocks) * data_bytes / u64::from(superblock.bits_per_cell);
    let slc = written.slc.as_ref().zip(superblock.slc).map(|(written, slc)| {
        let superblocks = slc.superblock_limit.slc_superblocks_max(
            superblock.collection.target + superblock.collection.span,
            0,
            superblock.collection.target,
        );
        let bytes = slc_bytes(superblocks);
        SlcSuperblocksCheck { mode: written.mode, superblocks, bytes, bytes_unscaled: bytes * unscaled / pages }
    });
    // Superblocks with one bit per cell have room for a burst, too.
    let in_slc = slc.as_ref().map_or(0, |slc| slc.superblocks.min(burst_superblocks));
    let burst_bytes = u64::from(burst_superblocks - in_slc) * data_bytes + slc_bytes(in_slc);
    Some(SuperblockDriveCheck {
        scale: (unscaled / pages) as u32,
        scale_by: (written.scale_by == ScaledDriveDimension::Width && written.scale > 1).then_some(written.scale_by),
        superblocks: shape.superblocks,
        superblock_bytes,
        parity_bytes: shape.has_parity_superpages.then(|| u64::from(shape.superblocks) * (superblock_bytes - data_bytes)),
        placement: placement_check(scenario, &shape),
        rows: shape.superpages_of_superblock_per_die,
        superpage_bytes: u64::from(shape.mapping_units_per_superpage()) * unit_bytes,
        buffer_bytes: u64::from(superblock.buffer.capacity_mapping_units) * unit_bytes,
        queues: superblock.submission_queues.map(|queues| queues_check(scenario, queues)),
        slc,
        burst_bytes,
        burst_bytes_unscaled: burst_bytes * unscaled / pages,
        memory_bytes_unscaled: memory::bytes_of_superblocks(&shape) * unscaled / pages,
    })
}

/// Returns warnings about settings that are probably not intended.
pub(super) fn warnings(drive: &SuperblockDriveCheck, array: &ArrayParams) -> Vec<String> {
    let exported_bytes = array.ssd.exported_pages() * u64::from(array.ssd.geometry.page_bytes);
    let mut warnings = Vec::new();
    if drive.scale_by == Some(ScaledDriveDimension::Width) && array.host_port.is_some() {
        let scale = drive.scale;
        warnings.push(format!("members are scaled by width (1 : {scale}), but the limits of the array's controller are not; divide array.controller by {scale}, too"));
    }
    if drive.placement.as_ref().is_some_and(|placement| placement.handles > 1 && placement.handles_used == 1) {
        warnings.push(match array.cache {
            Some(_) => {
                "ssd.placement_handles has no effect behind a write cache, whose writes belong to no stream and have handle 0".to_owned()
            }
            None => "ssd.placement_handles has no effect, because handles follow from the streams of a mix, and the workload is no mix"
                .to_owned(),
        });
    }
    if drive.scale_by.is_none() && drive.scale > 1 && drive.rows < ROWS_ENOUGH {
        let rows = drive.rows;
        warnings.push(format!(
            "scaling leaves {rows} superpages of each die in a superblock; with fewer than {ROWS_ENOUGH}, dies wait for each other at the end of superblocks; lower ssd.scale"
        ));
    }
    if drive.slc.is_some() && array.ssd.gc.idle_collection_after_ns.is_none() && !array.ssd.gc.collection_takes_no_time {
        warnings.push(
            "ssd.slc without ssd.gc.idle: data with one bit per cell are folded only when few superblocks are free, and not in idle time"
                .to_owned(),
        );
    }
    if drive.slc.as_ref().is_some_and(|slc| slc.superblocks == 0) {
        warnings.push(
            "ssd.slc.share of the free superblocks of a full drive (ssd.superblock.span beyond the target) is less than one superblock, so it has none"
                .to_owned(),
        );
    }
    if drive.buffer_bytes * 100 > exported_bytes {
        let percent = drive.buffer_bytes as f64 * 100.0 / exported_bytes as f64;
        warnings.push(format!(
            "the write buffer holds {percent:.1} % of the simulated part of the drive, so that more writes are replaced in it than in a real drive; lower ssd.scale"
        ));
    }
    warnings
}

/// Returns alpha: the number of all units in superblocks that hold data, divided by the number of exported units.
///
/// Free superblocks hold no data. Neither does half of the open ones, of which there is one for each stream. Superblocks reserved for
/// one bit per cell hold recent data.
pub(super) fn alpha(ssd: &SsdParams, superblock: &SuperblockDriveParams) -> f64 {
    let shape = superblock.shape(&ssd.geometry);
    let set_aside = if let Some(SlcSuperblockCountLimit::Superblocks(superblocks)) = shape.slc_superblock_limit { superblocks } else { 0 };
    let holding =
        f64::from(shape.superblocks) - f64::from(superblock.collection.target) - f64::from(shape.streams()) / 2.0 - f64::from(set_aside);
    holding * f64::from(shape.data_mapping_units_per_superblock()) / shape.exported_mapping_units as f64
}

/// Returns the over-provisioning: data that superblocks can hold divided by exported data, minus 1.
pub(super) fn over_provisioning(ssd: &SsdParams, superblock: &SuperblockDriveParams) -> f64 {
    let shape = superblock.shape(&ssd.geometry);
    f64::from(shape.superblocks) * f64::from(shape.data_mapping_units_per_superblock()) / shape.exported_mapping_units as f64 - 1.0
}

/// Returns the number of superpages programmed with parity for each one programmed with data.
fn parity_share(shape: &SuperblockShape) -> f64 {
    if shape.has_parity_superpages { 1.0 / f64::from(shape.dies - 1) } else { 0.0 }
}

pub(super) fn gc_check(ssd: &SsdParams, superblock: &SuperblockDriveParams) -> PoolGcThresholdsAndCost {
    let shape = superblock.shape(&ssd.geometry);
    let alpha = alpha(ssd, superblock).max(1.000_001);
    let (of_data, write_amplification_is) =
        theory::expected_write_amplification(ssd.gc.victim.write_amplification_theory(), shape.data_mapping_units_per_superblock(), alpha);
    let (moved, parity) = (1.0 - 1.0 / of_data, parity_share(&shape));
    // A row is one superpage of each die.
    let superpage_ns = (programs_ns(ssd, superblock) + reads_ns(superblock)) as f64 + parity * programs_ns(ssd, superblock) as f64;
    let rows = f64::from(shape.data_superpages()) / f64::from(shape.dies);
    let clean_ns = rows * moved * superpage_ns + ssd.timing.block_erase.ns as f64;
    PoolGcThresholdsAndCost {
        pool_blocks: shape.superblocks,
        start_free_blocks: superblock.collection.target,
        stop_free_blocks: superblock.collection.target + superblock.collection.span,
        write_amplification: of_data * (1.0 + parity),
        write_amplification_is,
        write_amplification_oldest_first: theory::oldest_first_write_amplification(alpha) * (1.0 + parity),
        pages_moved_per_clean: f64::from(shape.data_mapping_units_per_superblock()) * f64::from(superblock.pages_per_mapping_unit) * moved,
        clean_us: if ssd.gc.collection_takes_no_time { 0.0 } else { clean_ns / 1000.0 },
    }
}

/// Returns the number of page transfers over a channel for each page written. Moved pages are transferred twice, and parity once.
pub(super) fn transfers_per_page(ssd: &SsdParams, superblock: &SuperblockDriveParams, gc: &PoolGcThresholdsAndCost) -> f64 {
    let parity = parity_share(&superblock.shape(&ssd.geometry));
    let of_data = gc.write_amplification / (1.0 + parity);
    let moved = if ssd.gc.collection_takes_no_time { 0.0 } else { of_data - 1.0 };
    1.0 + 2.0 * moved + parity * (1.0 + moved)
}

fn superpage_units(ssd: &SsdParams, superblock: &SuperblockDriveParams) -> u32 {
    superblock.shape(&ssd.geometry).mapping_units_per_superpage()
}

fn programs_ns(ssd: &SsdParams, superblock: &SuperblockDriveParams) -> u64 {
    ssd.timing.page_program.ns + u64::from(superpage_units(ssd, superblock)) * superblock.mapping_unit_transfer_ns
}

fn reads_ns(superblock: &SuperblockDriveParams) -> u64 {
    superblock.read_ns_by_page_type.iter().sum::<u64>() / superblock.read_ns_by_page_type.len() as u64 * u64::from(superblock.bits_per_cell)
}

/// Returns the time that a die spends on a page that the host reads at random, and on a page that it writes. The latter includes the
/// collection that the write causes. Planes that read independently count as one die each.
pub(super) fn die_ns_per_page(ssd: &SsdParams, superblock: &SuperblockDriveParams, gc: &PoolGcThresholdsAndCost) -> (f64, f64, f64) {
    let types = superblock.read_ns_by_page_type.len() as f64;
    let read = superblock.read_ns_by_page_type.iter().sum::<u64>() as f64 / types + superblock.mapping_unit_transfer_ns as f64;
    let planes = if superblock.reads.plane_reads == PlaneReadMode::EachPlaneIndependently { f64::from(ssd.geometry.planes) } else { 1.0 };
    let pages = f64::from(superpage_units(ssd, superblock)) * f64::from(superblock.pages_per_mapping_unit);
    let program = programs_ns(ssd, superblock) as f64 / pages;
    let parity = parity_share(&superblock.shape(&ssd.geometry));
    let program = program * (1.0 + parity);
    let moved = gc.write_amplification / (1.0 + parity) - 1.0;
    let erases = gc.write_amplification * ssd.timing.block_erase.ns as f64 / f64::from(ssd.geometry.pages_per_block * ssd.geometry.planes);
    let moves = if ssd.gc.collection_takes_no_time { 0.0 } else { moved * (program + reads_ns(superblock) as f64 / pages) + erases };
    (read / planes, program, program + moves)
}
