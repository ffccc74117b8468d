//! Parameters of one SSD, as plain integers. `config` fills them in and guarantees that they are consistent.

mod front;
mod superblock;

use super::mechanism::DieDelayMechanisms;
use crate::coordination::BlockPoolSizeAndThresholds;
use crate::flash::{DieToChannelAssignment, Geometry, Timing};
use crate::request::OpKind;
use crate::space::MappingParams;
use crate::space::pools::BlockPoolsFtlParams;
pub use crate::space::pools::{BlockPoolScope, GcAlgorithm, PlaneChoice};
use crate::space::superblocks::SuperblockMappingParams;
pub use crate::space::superblocks::{
    MAPPING_UNITS_PER_SUPERPAGE_MAX, PlacementHandles, RefreshAndWearLevellingParams, SlcSuperblockCountLimit, SuperblockShape,
};
pub use crate::space::victim::VictimPolicy;
pub(crate) use front::PLACEMENT_HANDLES_MAX;
pub use front::{BufferParams, ControllerCoresParams, FrontEndParams, SubmissionQueueParams};
pub use superblock::{
    OperationSuspensionParams, PlaneReadMode, ProgramEraseSuspensionParams, SlcSuperblockParams, SuperblockCollectionParams,
    SuperblockDriveParams,
};

/// Parameters of one member SSD.
#[derive(Debug, Clone, PartialEq)]
pub struct SsdParams {
    /// Numbers of dies, planes, blocks and pages of the flash medium, and the size of a page.
    pub geometry: Geometry,
    /// Durations of flash operations.
    pub timing: Timing,
    /// Number of consecutive logical pages that go to one die before the next die has its turn.
    pub consecutive_pages_per_die: u32,
    /// Rule that chooses the die of a write.
    pub die_choice_for_writes: DieChoiceForWrites,
    /// Rule that chooses the plane of a write inside its die.
    pub plane_choice: PlaneChoice,
    /// Parameters of garbage collection.
    pub gc: GcParams,
    /// True if the initial fill closes the block that it writes last, so that collection may choose it. The reference simulator leaves it
    /// open. Because nothing programs it later, it is then never collected.
    pub fill_seals_last_block: bool,
    /// True if no page of a drive with pools of blocks holds data at first. A drive with superblocks has such a setting in `superblock`.
    pub pools_start_empty: bool,
    /// Assignment of dies to the channels that they share. With `None`, every die has its own pins, and transfers are part of its
    /// busy time.
    pub channel: Option<DieToChannelAssignment>,
    /// Speed of the link between the host and this SSD. With `None`, the link takes no time, neither for the data of reads nor for
    /// those of writes.
    pub link: Option<HostLinkParams>,
    /// Queues, processor cores and write buffer of a drive with pools of blocks; operations pass through them before they reach the
    /// dies. With `None`, operations go to their dies as they arrive. A drive with superblocks has such settings in `superblock`
    /// instead.
    pub front_end: Option<FrontEndParams>,
    /// Optional effects that take time of the dies, such as read retries and background work. Every kind of device may have them.
    pub die_delay_mechanisms: DieDelayMechanisms,
    /// Settings of a drive with superblocks behind a write buffer; `None` for a drive with pools of blocks. Superblocks replace pools,
    /// planes and the choice of dies for writes (section 24 of the rules).
    pub superblock: Option<SuperblockDriveParams>,
}

impl SsdParams {
    /// Returns true if the SSD levels wear, either by its victim policy or by moving superblocks with few erases (rule 223).
    pub fn levels_wear(&self) -> bool {
        let by_upkeep = self.superblock.as_ref().is_some_and(|superblock| superblock.upkeep.erase_difference_to_level.is_some());
        by_upkeep || self.gc.victim.prefers_less_worn_blocks()
    }

    /// Returns the parameters of the same SSD without any data at first.
    #[must_use]
    pub fn unwritten(mut self) -> Self {
        self.pools_start_empty = self.superblock.is_none();
        if let Some(superblock) = &mut self.superblock {
            superblock.starts_empty = true;
        }
        self
    }

    /// Returns the parameters of the front, if there is one.
    pub(super) fn front(&self) -> Option<FrontEndParams> {
        self.superblock.as_ref().map(SuperblockDriveParams::front).or(self.front_end)
    }

    /// Returns the number of pages in a unit, the smallest amount of data that buffer and mapping handle.
    pub(super) fn pages_per_mapping_unit(&self) -> u32 {
        self.superblock.as_ref().map_or(1, |superblock| superblock.pages_per_mapping_unit)
    }

    /// Returns the number of placement handles.
    pub(super) fn handles(&self) -> u32 {
        self.superblock.as_ref().map_or(1, |superblock| superblock.placement_handles.count)
    }

    /// Returns the parameters of the mapping.
    pub fn mapping_params(&self) -> MappingParams {
        if let Some(superblock) = &self.superblock {
            return MappingParams::Superblocks(SuperblockMappingParams {
                shape: superblock.shape(&self.geometry),
                die_to_channel_assignment: self.channel.unwrap_or(DieToChannelAssignment::consecutive(1)),
                target_free_superblocks: superblock.collection.target_free_superblocks,
                victim: self.gc.victim,
                starts_empty: superblock.starts_empty,
            });
        }
        MappingParams::PageMapping(BlockPoolsFtlParams {
            geometry: self.geometry,
            overwrites_may_change_die: self.die_choice_for_writes == DieChoiceForWrites::Dynamic,
            plane_choice: self.plane_choice,
            pool: self.gc.block_pool_scope,
            gc_algorithm: self.gc.gc_algorithm,
            start_threshold_free_blocks: self.gc.start_threshold_free_blocks,
            stop_threshold_free_blocks: self.gc.stop_threshold_free_blocks,
            victim: self.gc.victim,
            separate_open_block_for_moves: self.gc.separate_open_block,
            fill_seals_last_block: self.fill_seals_last_block,
            starts_empty: self.pools_start_empty,
        })
    }

    /// Returns the number of blocks in a pool of blocks (of a plane or of a die), and its thresholds of free blocks for collection.
    /// With superblocks, the drive is one pool, and each superblock counts as one block.
    pub fn pool_sizes(&self) -> BlockPoolSizeAndThresholds {
        if let Some(superblock) = &self.superblock {
            return BlockPoolSizeAndThresholds {
                blocks_per_pool: self.geometry.blocks_per_plane,
                reserved_blocks: self.geometry.overprovisioned_blocks_per_plane,
                start_threshold_free_blocks: superblock.collection.target_free_superblocks,
                most_free_blocks: superblock.collection.goal_free_superblocks() - 1,
                longest_victim_collection_ns: self.timing.block_erase_ns + self.timing.page_program_ns,
            };
        }
        let planes = if self.gc.block_pool_scope == BlockPoolScope::Die { self.geometry.planes } else { 1 };
        BlockPoolSizeAndThresholds {
            blocks_per_pool: planes * self.geometry.blocks_per_plane,
            reserved_blocks: planes * self.geometry.overprovisioned_blocks_per_plane,
            start_threshold_free_blocks: self.gc.start_threshold_free_blocks,
            most_free_blocks: planes * self.geometry.overprovisioned_blocks_per_plane,
            longest_victim_collection_ns: self.longest_clean_ns(),
        }
    }

    /// Returns the longest time that the collection of one victim block takes, in nanoseconds: all its data pages but one are moved
    /// (rule 14).
    fn longest_clean_ns(&self) -> u64 {
        let (t, g) = (&self.timing, &self.geometry);
        let transfers = if self.gc.copy_back { 0 } else { 2 };
        let moves = u64::from(g.data_pages_per_block().saturating_sub(1));
        let summary_ns = if g.has_summary_page { t.block_summary_page_transfer_ns + t.page_program_ns } else { 0 };
        moves * (t.page_read_ns + t.page_program_ns + transfers * t.page_transfer_ns) + summary_ns + t.block_erase_ns
    }

    /// Returns the number of pages that the SSD exports. Each die exports a multiple of `consecutive_pages_per_die` pages (rule 3).
    pub fn exported_pages(&self) -> u64 {
        let (g, stride) = (&self.geometry, self.consecutive_pages_per_die);
        if let Some(superblock) = &self.superblock {
            let shape = superblock.shape(g);
            return shape.exported_mapping_units * u64::from(superblock.pages_per_mapping_unit);
        }
        u64::from(g.exported_pages_per_die() / stride * stride) * u64::from(g.dies)
    }
}

/// Choice of faster ways to compute results. They give exactly the same results as the slower ways; tests switch them off to show this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExactFastPaths {
    /// True to compute the end of an operation already when the operation arrives at the SSD. This is possible only in an SSD in
    /// which nothing can interrupt or delay an operation later. Such an SSD has no preemption, write buffer, link or shared channel,
    /// for example.
    pub computes_operation_ends_on_arrival: bool,
    /// True to use fewer events for dies whose work nothing can interrupt. The end of an operation of such a die gets no event of its
    /// own. The die computes it later: when its next operation or the next message of the controller arrives, or at the end of the run.
    /// Results stay the same.
    pub skips_operation_end_events: bool,
}

impl Default for ExactFastPaths {
    fn default() -> Self {
        Self { computes_operation_ends_on_arrival: true, skips_operation_end_events: true }
    }
}

/// Rule that chooses the die of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DieChoiceForWrites {
    /// Chooses the die by the address: `(lpn / die_stride) mod dies`.
    Static,
    /// Chooses the die that can start earliest among those with room.
    Dynamic,
}

/// Garbage collection of one SSD.
#[derive(Debug, Clone, PartialEq)]
pub struct GcParams {
    /// Procedure of garbage collection: how it finds victims and free blocks, and which of the moved pages must be transferred over
    /// the channel.
    ///
    /// With [`GcAlgorithm::LikeDiskSimWithoutCopyBack`], all planes of a die must share one pool of blocks, and the
    /// victim policy must be `greedy`. Copy-back, an open block only for moved pages, and pipelining must be off. Whoever fills in
    /// these parameters, such as `config`, must ensure this.
    pub gc_algorithm: GcAlgorithm,
    /// Scope of a pool: the blocks of a plane, or of a die, that share free blocks, open blocks and thresholds.
    pub block_pool_scope: BlockPoolScope,
    /// Part of the SSD that serves no request during a clean (the collection of one victim block).
    pub blocking_scope: CollectionBlockingScope,
    /// Number of free blocks in a pool of blocks (of a plane or of a die) at or below which collection starts there.
    pub start_threshold_free_blocks: u32,
    /// Number of free blocks in a pool of blocks (of a plane or of a die) at which collection stops there; at least
    /// `start_threshold_free_blocks + 1`.
    pub stop_threshold_free_blocks: u32,
    /// Kinds of host requests before which a die checks its pools of blocks (one for each plane, or one for the die). If a pool has
    /// few enough free blocks, the die collects before it serves the request.
    pub host_request_kinds_that_may_start_gc: HostRequestKindsThatMayStartGc,
    /// Policy that chooses the block to collect.
    pub victim: VictimPolicy,
    /// True if pages that collection moves go to an open block of their own; false if they share the open block of host writes.
    pub separate_open_block: bool,
    /// True if the moves of collection need no transfer over the channel, because a page stays inside its plane (copy-back). If it is
    /// false, each move costs two transfers: out of the die and back.
    ///
    /// With [`GcAlgorithm::LikeDiskSimWithoutCopyBack`], the value must be false. That procedure differs, because only
    /// moves to another plane cost the two transfers.
    pub copy_back: bool,
    /// True if the planes of a die are cleaned together where several of its pools are due (rule 15). Each plane must be a pool, the
    /// die must be the blocking scope, and there must be copy-back, and neither preemption nor a shared channel.
    pub cleans_planes_together: bool,
    /// True if collection takes no time but still moves and erases (scheme `ideal`).
    pub collection_takes_no_time: bool,
    /// Interruption of a clean (the collection of one victim block) by host requests; `None` if each clean runs to its end. It has no
    /// effect on instantaneous collection.
    pub preemption: Option<GcPreemption>,
    /// Idle time after which a die collects in the background, in nanoseconds, at least 1; `None` for never. It has no effect on
    /// instantaneous collection.
    pub idle_collection_after_ns: Option<u64>,
}

impl GcParams {
    /// Returns true if the collection of a victim block blocks only the plane of this block.
    pub(super) fn blocks_planes(&self) -> bool {
        self.blocking_scope == CollectionBlockingScope::Plane && !self.collection_takes_no_time
    }

    /// Returns true if a die checks the free blocks of its pools before it starts an operation of this kind (rule 10).
    #[inline]
    pub(super) fn checks_pools_before(&self, kind: OpKind) -> bool {
        kind == OpKind::Write || self.host_request_kinds_that_may_start_gc == HostRequestKindsThatMayStartGc::EveryRequest
    }
}

/// Settings for the interruption of a clean (the collection of one victim block) by host requests. A clean is a sequence of steps:
/// reads and programs of pages, and the erase. Waiting host requests may be served between two steps (section III of the paper on
/// preemptive collection, PGC).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GcPreemption {
    /// Time for which a die checks its queue of waiting requests, between two steps of the collection of a block, in nanoseconds. The
    /// die does nothing else during this poll.
    pub queue_poll_duration_ns: u64,
    /// Number of free blocks below which host writes wait during collection, as a share of `start_threshold_free_blocks`, from 0 to 1. The
    /// paper on preemptive collection (PGC) calls this number T_hard. Free blocks are counted in the pool of blocks whose victim is
    /// collected. There is one exception if `serves_moving_page_from_register` is true: writes of the page that is being moved need
    /// not wait.
    pub write_stall_to_gc_start_threshold_ratio: f64,
    /// Rule that decides which host requests run at the same time as a read or program of a page that collection moves.
    pub host_overlap_with_moves: HostOverlapWithMoves,
    /// True if a host request for the page that collection is moving is served from the plane's page register. The register holds the
    /// page between its read and its program.
    pub serves_page_being_moved_from_register: bool,
    /// True if collection moves the pages of the victim block first that waiting host requests need. Such a request is served from
    /// the page register during the move, so that `serves_moving_page_from_register` must be true, too.
    pub moves_host_requested_pages_first: bool,
    /// Suspension of programs and erases in progress by reads; `None` for no suspension.
    pub suspension: Option<ProgramEraseSuspension>,
}

/// Rule that decides which host requests run at the same time as a step of the collection of a block (rule 37). Such a step is the read
/// or program of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostOverlapWithMoves {
    /// No overlap: while collection reads, programs or erases, host requests for the same die (or plane, with
    /// [`CollectionBlockingScope::Plane`]) do not run.
    NoOverlap,
    /// Overlaps host requests that wait at the beginning of a step of collection with this step. A step is the read or program of a
    /// page that collection moves. Only requests that may interrupt collection at this moment are considered. If all are of the same
    /// kind as the step (reads, or writes for a program), they run together with it. Otherwise, the die serves them one after another
    /// before the step.
    ///
    /// In drives with superblocks, a step of collection may instead begin while the data of host reads are transferred (rule 229).
    RequestsWaitingAtStepStart,
    /// Overlaps host requests that wait at the beginning of a step of collection with this step, as
    /// [`HostOverlapWithMoves::RequestsWaitingAtStepStart`] does. A step is the read or program of a page that collection moves. In
    /// addition, host requests that arrive during a step may begin before it ends. Reads may do so during a read, and writes during a
    /// program.
    ///
    /// In drives with superblocks, host reads may also begin while data that collection has read are being transferred (rule 229).
    RequestsWaitingOrArrivingDuringStep,
}

/// Suspension of programs and erases by reads (Wu & He, FAST 2012).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProgramEraseSuspension {
    /// Time from the interruption until the first read starts, in nanoseconds.
    pub suspend_ns: u64,
    /// Time from the end of the last read until the operation continues, in nanoseconds.
    pub resume_ns: u64,
    /// Maximum number of times that one program or erase is suspended. After that, it runs to its end.
    pub suspensions_max: u32,
}

/// Part of an SSD that serves no host requests while a victim block is collected, except those that preemption admits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CollectionBlockingScope {
    /// The whole die that holds the victim block serves no host requests while this block is collected, except those that preemption
    /// admits.
    Die,
    /// The plane that holds the victim block serves no host requests while this block is collected, except those that preemption
    /// admits. The other planes of the die serve requests. Each plane must have a pool of blocks of its own ([`BlockPoolScope::Plane`]).
    Plane,
}

/// Kinds of host requests before which a die compares the free blocks of its pools with the start threshold of collection. If a pool
/// has few enough, the die collects before it serves the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostRequestKindsThatMayStartGc {
    /// Every request of the host, reads included. Before any of them, the die checks whether a pool of blocks has so few free blocks
    /// that it must collect first.
    EveryRequest,
    /// Writes of the host only. Before a write, the die checks whether a pool of blocks has so few free blocks that it must collect
    /// first. Before other requests, such as reads, it does not.
    OnlyWrites,
}

/// Speed of the link between the host and one SSD.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostLinkParams {
    /// Time to transfer one page over the link, in nanoseconds.
    pub page_transfer_ns: u64,
    /// True if both directions work at the same time (NVMe), false if they share the link (SATA).
    pub full_duplex: bool,
}
