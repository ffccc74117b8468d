//! A tiny device with round figures, and loads written out by hand.

use flashraid_model::array::{ArrayParams, RaidLevel, ReadPlan, WarmUp, WarmUpPattern};
use flashraid_model::flash::{Geometry, Timing};
use flashraid_model::request::{HostLoop, OpKind, Request};
use flashraid_model::ssd::{CollectionRules, DieChoiceForWrites, GcAlgorithm, GcParams, PlaneChoice, PoolWrites, SsdParams, VictimPolicy};
use flashraid_model::units::{Duration, TimePerByte};

use crate::outcome::Case;

pub(crate) const PAGE_BYTES: u64 = 4096;

/// Returns a case of one die with one plane. Blocks have three data pages and a summary, and nine pages are exported. Block 0 holds pages 0
/// to 2, block 1 pages 3 to 5, and block 2 pages 6 to 8. Block 3 is open, and blocks 4 and 5 are free. Collection starts at one free block.
///
/// Times in nanoseconds: read 20, program 200, erase 1000, transfer of a page 7, of a summary 3, command 1. An idle read takes 28, an idle
/// write 208, a move 220, and a summary 203.
pub(crate) fn one_plane() -> Case {
    let geometry = Geometry {
        dies: 1,
        planes: 1,
        blocks_per_plane: 6,
        pages_per_block: 4,
        page_bytes: PAGE_BYTES as u32,
        overprovisioned_blocks_per_plane: 3,
        has_summary_page: true,
    };
    let timing = Timing {
        page_read: Duration { ns: 20 },
        page_program: Duration { ns: 200 },
        block_erase: Duration { ns: 1000 },
        page_transfer_ns: 7,
        block_summary_page_transfer_ns: 3,
        command_overhead: Duration { ns: 1 },
        transfer_per_byte: TimePerByte::default(),
        spare_bytes_per_sector: 0,
        spreads_summary_page_over_programs: false,
    };
    let gc = GcParams {
        gc_algorithm: GcAlgorithm::VictimByPolicy,
        rules: CollectionRules::default(),
        start_threshold_free_blocks: 1,
        stop_threshold_free_blocks: 2,
        victim: VictimPolicy::default(),
        collection_takes_no_time: false,
        preemption: None,
        idle_collection_after_ns: None,
    };
    let ssd = SsdParams {
        geometry,
        timing,
        writes: PoolWrites {
            die_stride: 1,
            allocation: DieChoiceForWrites::Static,
            plane_choice: PlaneChoice::MostFreePages,
            ..PoolWrites::default()
        },
        gc,
        pools_start_empty: false,
        channel: None,
        link: None,
        front_end: None,
        die_delay_mechanisms: Default::default(),
        superblock: None,
    };
    Case {
        params: ArrayParams {
            level: RaidLevel::Single,
            members: 1,
            stripe_unit_pages: 1,
            parity_handle: Default::default(),
            ssd,
            coordination: None,
            failures: Vec::new(),
            rebuild: None,
            read_plan: ReadPlan::default(),
            slow: Vec::new(),
            cache: None,
            host_port: None,
        },
        warm_up: WarmUp { overwrites_per_page: 0.0, pattern: WarmUpPattern::Random },
        owners: Vec::new(),
        seed: 1,
        host: HostLoop::Open,
        requests: Vec::new(),
    }
}

impl Case {
    pub(crate) fn read(self, at_ns: u64, first_page: u64, pages: u64) -> Case {
        self.request(at_ns, first_page * PAGE_BYTES, pages * PAGE_BYTES, OpKind::Read)
    }

    pub(crate) fn write(self, at_ns: u64, first_page: u64, pages: u64) -> Case {
        self.request(at_ns, first_page * PAGE_BYTES, pages * PAGE_BYTES, OpKind::Write)
    }

    /// Writes of single pages that arrive together.
    pub(crate) fn writes(self, at_ns: u64, pages: &[u64]) -> Case {
        pages.iter().fold(self, |case, &page| case.write(at_ns, page, 1))
    }

    pub(crate) fn request(mut self, arrival_ns: u64, offset_bytes: u64, length_bytes: u64, direction: OpKind) -> Case {
        self.requests.push(Request {
            arrival_ns,
            offset_bytes,
            length_bytes,
            kind: direction,
            fua: false,
            zeroes: false,
            high_priority: false,
            stream: 0,
            contiguous_on_one_member: false,
        });
        self
    }
}
