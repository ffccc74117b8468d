//! A small SSD for tests that check every nanosecond. Blocks have four pages; a read takes 28 ns, a write 208 and an erase 1000.

use super::{
    BufferParams, CollectionRules, ControllerCores, DieChoiceForWrites, GcAlgorithm, GcParams, HostLinkParams, PlacementHandles,
    PlaneChoice, PlaneReads, PoolWrites, RefreshAndWearLevellingParams, SsdParams, SuperblockCollectionParams, SuperblockDriveParams,
    VictimPolicy, WriteBuffer,
};
use crate::TimeNs;
use crate::flash::{Geometry, Timing};
use crate::ssd::Duplex;
use crate::units::{Duration, TimePerByte};

pub(crate) const READ_NS: TimeNs = 28;
pub(crate) const WRITE_NS: TimeNs = 208;

/// Returns an SSD with dies of one plane and `blocks` blocks, of which the initial fill leaves `reserved` free. Collection of a pool starts
/// at one free block and stops at two.
pub(crate) fn ssd(dies: u32, blocks: u32, reserved: u32) -> SsdParams {
    SsdParams {
        geometry: Geometry {
            dies,
            planes: 1,
            blocks_per_plane: blocks,
            pages_per_block: 4,
            page_bytes: 4096,
            overprovisioned_blocks_per_plane: reserved,
            has_summary_page: false,
        },
        timing: Timing {
            page_read: Duration { ns: 20 },
            page_program: Duration { ns: 200 },
            block_erase: Duration { ns: 1000 },
            page_transfer_ns: 7,
            block_summary_page_transfer_ns: 0,
            command_overhead: Duration { ns: 1 },
            transfer_per_byte: TimePerByte::default(),
            spare_bytes_per_sector: 0,
            spreads_summary_page_over_programs: false,
        },
        writes: PoolWrites {
            die_stride: 1,
            allocation: DieChoiceForWrites::Static,
            plane_choice: PlaneChoice::Rotate,
            ..PoolWrites::default()
        },
        gc: GcParams {
            gc_algorithm: GcAlgorithm::VictimByPolicy,
            rules: CollectionRules::default(),
            start_threshold_free_blocks: 1,
            stop_threshold_free_blocks: 2,
            victim: VictimPolicy::default(),
            collection_takes_no_time: false,
            preemption: None,
            idle_collection_after_ns: None,
        },
        pools_start_empty: false,
        channel: None,
        link: None,
        front_end: None,
        die_delay_mechanisms: Default::default(),
        superblock: None,
    }
}

/// One die of one plane. Superpages have two units on one flash page. There are four rows and twenty superblocks, eight of which are
/// exported.
///
/// A read command costs 5 on the core and a write 7, then 20 pass. An array read takes 100, a unit on the wires 10, a page on the link 4.
/// A program takes 1000, an erase 5000, and `ack` is 3. The buffer holds four units.
pub(crate) fn drive_with_superblocks() -> SsdParams {
    let mut params = ssd(1, 20, 12);
    params.geometry.pages_per_block = 8;
    (params.timing.page_program.ns, params.timing.block_erase.ns) = (1000, 5000);
    params.link = Some(HostLinkParams { page_transfer_ns: 4, duplex: Duplex::Full });
    params.superblock = Some(SuperblockDriveParams {
        pages_per_mapping_unit: 1,
        mapping_units_per_flash_page: 2,
        bits_per_cell: 1,
        read_ns_by_page_type: vec![100],
        mapping_unit_transfer_ns: 10,
        reads: PlaneReads { reads_ahead: 2, ..PlaneReads::default() },
        dies_programming_max: 1,
        has_parity_superpages: false,
        placement_handles: PlacementHandles::SINGLE_HANDLE,
        slc: None,
        buffer: BufferParams { capacity_mapping_units: 4, settings: WriteBuffer { ack: Duration { ns: 3 }, ..WriteBuffer::default() } },
        submission_queues: None,
        firmware: ControllerCores {
            cores: 1,
            read: Duration { ns: 5 },
            write: Duration { ns: 7 },
            move_: Duration { ns: 0 },
            trim: Duration { ns: 6 },
            trim_unit: Duration { ns: 1 },
            latency: Duration { ns: 20 },
        },
        collection: SuperblockCollectionParams { target: 4, span: 2, floor: 2, move_backlog_max_mapping_units: 8 },
        upkeep: RefreshAndWearLevellingParams::default(),
        suspension: None,
        starts_empty: false,
    });
    params
}
