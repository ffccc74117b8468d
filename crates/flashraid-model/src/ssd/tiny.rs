//! A small SSD for tests that check every nanosecond. Blocks have four pages; a read takes 28 ns, a write 208 and an erase 1000.

use super::{
    BlockPoolScope, CollectionBlockingScope, DieChoiceForWrites, GcAlgorithm, GcParams, HostRequestKindsThatMayStartGc, PlaneChoice,
    SsdParams, VictimPolicy,
};
use crate::TimeNs;
use crate::flash::{Geometry, Timing};

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
            page_read_ns: 20,
            page_program_ns: 200,
            block_erase_ns: 1000,
            page_transfer_ns: 7,
            block_summary_page_transfer_ns: 0,
            host_command_overhead_ns: 1,
            spreads_summary_page_over_programs: false,
        },
        consecutive_pages_per_die: 1,
        die_choice_for_writes: DieChoiceForWrites::Static,
        plane_choice: PlaneChoice::Rotate,
        gc: GcParams {
            gc_algorithm: GcAlgorithm::VictimByPolicy,
            block_pool_scope: BlockPoolScope::Plane,
            blocking_scope: CollectionBlockingScope::Die,
            start_threshold_free_blocks: 1,
            stop_threshold_free_blocks: 2,
            host_request_kinds_that_may_start_gc: HostRequestKindsThatMayStartGc::EveryRequest,
            victim: VictimPolicy::default(),
            separate_open_block: false,
            copy_back: true,
            cleans_planes_together: false,
            collection_takes_no_time: false,
            preemption: None,
            idle_collection_after_ns: None,
        },
        fill_seals_last_block: true,
        pools_start_empty: false,
        channel: None,
        link: None,
        front_end: None,
        die_delay_mechanisms: Default::default(),
        superblock: None,
    }
}
