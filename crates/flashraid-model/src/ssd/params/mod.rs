//! Parameters of one SSD, as plain integers. `config` fills them in and guarantees that they are consistent.

mod front;
mod superblock;

use super::mechanism::Mechanisms;
use crate::coordination::PoolSizes;
use crate::flash::{ChannelParams, Geometry, Timing};
use crate::request::OpKind;
use crate::space::MappingParams;
use crate::space::pools::BlockPoolsParams;
pub use crate::space::pools::{CollectionProcedure, PlaneChoice, PoolScope};
use crate::space::superblocks::SuperblocksParams;
pub use crate::space::superblocks::{PlacementHandles, SUPERPAGE_UNITS_MAX, SlcLimit, SuperblockShape, UpkeepParams};
pub use crate::space::victim::VictimPolicy;
pub(crate) use front::PLACEMENT_HANDLES_MAX;
pub use front::{BufferParams, FirmwareParams, FrontEndParams, QueueParams};
pub use superblock::{
    OperationSuspensionParams, PlaneReadMode, SlcParams, SuperblockCollectionParams, SuperblockParams, SuperblockSuspensionParams,
};

/// Parameters of one member SSD.
#[derive(Debug, Clone, PartialEq)]
pub struct SsdParams {
    /// Shape of the flash medium.
    pub geometry: Geometry,
    /// Durations of flash operations.
    pub timing: Timing,
    /// Number of consecutive logical pages that go to one die before the next die has its turn.
    pub consecutive_pages_per_die: u32,
    /// Rule that chooses the die of a write.
    pub allocation: Allocation,
    /// Rule that chooses the plane of a write inside its die.
    pub plane_choice: PlaneChoice,
    /// Parameters of garbage collection.
    pub gc: GcParams,
    /// True if the initial fill closes the block that it writes last, so that collection may choose it. The reference simulator leaves it
    /// open. Because nothing programs it later, it is then never collected.
    pub fill_seals_last_block: bool,
    /// Dies that share a channel. With `None`, every die has its own pins, and transfers are part of its busy time.
    pub channel: Option<ChannelParams>,
    /// Limit of the host link. With `None`, transfers to the host take no time.
    pub link: Option<HostLinkParams>,
    /// Queues, processor cores and write buffer through which operations pass before they reach the dies, with pools of blocks. With
    /// `None`, operations go to their dies as they arrive. Drives with superblocks have such settings in `superblock`.
    pub front_end: Option<FrontEndParams>,
    /// Optional effects that take time of the dies, such as read retries and background work. Every kind of device may have them.
    pub mechanisms: Mechanisms,
    /// Superblocks behind a write buffer. They replace pools, planes and the choice of dies for writes (section 24 of the rules).
    pub superblock: Option<SuperblockParams>,
}

impl SsdParams {
    /// Returns true if cleans may be interrupted between their steps, or may begin in idle time (rules 30 to 40).
    pub fn can_interrupt_cleans(&self) -> bool {
        !self.gc.collection_takes_no_time && (self.gc.preemption.is_some() || self.gc.idle_collection_after_ns.is_some())
    }

    /// Returns true if the SSD levels wear, either by its victim policy or by moving superblocks with few erases (rule 223).
    pub fn levels_wear(&self) -> bool {
        let by_upkeep = self.superblock.as_ref().is_some_and(|superblock| superblock.upkeep.erase_difference_to_level.is_some());
        by_upkeep || self.gc.victim.prefers_less_worn_blocks()
    }

    /// Returns the parameters of the front, if there is one.
    pub(super) fn front(&self) -> Option<FrontEndParams> {
        self.superblock.as_ref().map(SuperblockParams::front).or(self.front_end)
    }

    /// Returns the number of pages in a unit, the smallest amount of data that buffer and mapping handle.
    pub(super) fn unit_pages(&self) -> u32 {
        self.superblock.as_ref().map_or(1, |superblock| superblock.unit_pages)
    }

    /// Returns the number of placement handles.
    pub(super) fn handles(&self) -> u32 {
        self.superblock.as_ref().map_or(1, |superblock| superblock.placement_handles.count)
    }

    /// Returns the parameters of the mapping.
    pub fn space_params(&self) -> MappingParams {
        if let Some(superblock) = &self.superblock {
            return MappingParams::Superblocks(SuperblocksParams {
                shape: superblock.shape(&self.geometry),
                channel: self.channel.unwrap_or(ChannelParams::consecutive(1)),
                target_free_superblocks: superblock.collection.target_free_superblocks,
                victim: self.gc.victim,
                starts_empty: superblock.starts_empty,
            });
        }
        MappingParams::Pools(BlockPoolsParams {
            geometry: self.geometry,
            moves_pages_between_dies: self.allocation == Allocation::Dynamic,
            plane_choice: self.plane_choice,
            pool: self.gc.pool,
            collection_procedure: self.gc.procedure,
            start_free_blocks: self.gc.start_free_blocks,
            stop_free_blocks: self.gc.stop_free_blocks,
            victim: self.gc.victim,
            separate_open_block: self.gc.separate_open_block,
            fill_seals_last_block: self.fill_seals_last_block,
        })
    }

    /// Returns the size of the pools, which thresholds refer to.
    pub fn pool_sizes(&self) -> PoolSizes {
        if let Some(superblock) = &self.superblock {
            return PoolSizes {
                blocks: self.geometry.blocks_per_plane,
                reserved_blocks: self.geometry.reserved_blocks_per_plane,
                start_free_blocks: superblock.collection.target_free_superblocks,
                most_free_blocks: superblock.collection.goal_free_superblocks() - 1,
                longest_clean_ns: self.timing.block_erase_ns + self.timing.page_program_ns,
            };
        }
        let planes = if self.gc.pool == PoolScope::Die { self.geometry.planes } else { 1 };
        PoolSizes {
            blocks: planes * self.geometry.blocks_per_plane,
            reserved_blocks: planes * self.geometry.reserved_blocks_per_plane,
            start_free_blocks: self.gc.start_free_blocks,
            most_free_blocks: planes * self.geometry.reserved_blocks_per_plane,
            longest_clean_ns: self.longest_clean_ns(),
        }
    }

    /// Returns the time of a clean that moves all pages of a block but one (rule 14).
    fn longest_clean_ns(&self) -> u64 {
        let (t, g) = (&self.timing, &self.geometry);
        let transfers = if self.gc.copy_back { 0 } else { 2 };
        let moves = u64::from(g.data_pages_per_block().saturating_sub(1));
        let summary_ns = if g.summary_page { t.block_summary_transfer_ns + t.page_program_ns } else { 0 };
        moves * (t.page_read_ns + t.page_program_ns + transfers * t.page_transfer_ns) + summary_ns + t.block_erase_ns
    }

    /// Returns the number of pages that the SSD exports. Each die exports a multiple of `consecutive_pages_per_die` pages (rule 3).
    pub fn exported_pages(&self) -> u64 {
        let (g, stride) = (&self.geometry, self.consecutive_pages_per_die);
        if let Some(superblock) = &self.superblock {
            let shape = superblock.shape(g);
            return u64::from(shape.exported_units) * u64::from(superblock.unit_pages);
        }
        u64::from(g.exported_pages_per_die() / stride * stride) * u64::from(g.dies)
    }
}

/// Faster ways of computing the same results that may be used. Tests switch them off to show that no result changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ComputingShortcuts {
    /// True to compute the end of an operation when it arrives, on members that allow it.
    pub computes_ends_on_arrival: bool,
    /// True to save events on dies whose work nothing can interrupt. There, the end of an operation gets no event of its own. The die
    /// computes it when its next operation or the next message of the controller arrives. Results stay the same.
    pub ends_waits_without_events: bool,
}

impl Default for ComputingShortcuts {
    fn default() -> Self {
        Self { computes_ends_on_arrival: true, ends_waits_without_events: true }
    }
}

/// Rule that chooses the die of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allocation {
    /// Chooses the die by the address: `(lpn / die_stride) mod dies`.
    Static,
    /// Chooses the die that can start earliest among those with room.
    Dynamic,
}

/// Garbage collection of one SSD.
#[derive(Debug, Clone, PartialEq)]
pub struct GcParams {
    /// Procedure of a collection. The caller guarantees the requirements of [`CollectionProcedure::ReferenceSimulatorWithoutCopyBack`].
    pub procedure: CollectionProcedure,
    /// Group of blocks that share free blocks, open blocks and thresholds.
    pub pool: PoolScope,
    /// Blocking scope of a clean: the part of the SSD that serves no request during the clean.
    pub blocking: BlockingScope,
    /// Number of free blocks at or below which a pool is collected.
    pub start_free_blocks: u32,
    /// Number of free blocks at which the collection of a pool ends; at least `start_free_blocks + 1`.
    pub stop_free_blocks: u32,
    /// Kinds of requests before which the free blocks are checked.
    pub pool_check_trigger: RequestsThatCheckPools,
    /// Policy that chooses the block to collect.
    pub victim: VictimPolicy,
    /// True if moved pages go to a separate open block, false if they share the block of host writes.
    pub separate_open_block: bool,
    /// True if moved pages stay in their plane and need no transfer (copy-back).
    ///
    /// Otherwise every move costs two transfers; with [`CollectionProcedure::ReferenceSimulatorWithoutCopyBack`], only moves that cross
    /// planes do.
    pub copy_back: bool,
    /// True if collection takes no time but still moves and erases (scheme `ideal`).
    pub collection_takes_no_time: bool,
    /// Interruption of cleans by requests; `None` if each clean runs to its end. It has no effect on instantaneous collection.
    pub preemption: Option<Preemption>,
    /// Idle time after which a die collects in the background, in nanoseconds, at least 1; `None` for never. It has no effect on
    /// instantaneous collection.
    pub idle_collection_after_ns: Option<u64>,
}

impl GcParams {
    /// Returns true if a clean blocks only its plane.
    pub(super) fn blocks_planes(&self) -> bool {
        self.blocking == BlockingScope::Plane && !self.collection_takes_no_time
    }

    /// Returns true if a die checks the free blocks of its pools before it starts an operation of this kind (rule 10).
    #[inline]
    pub(super) fn checks_pools_before(&self, kind: OpKind) -> bool {
        kind == OpKind::Write || self.pool_check_trigger == RequestsThatCheckPools::EveryRequest
    }
}

/// Interruption of a clean by requests (PGC section III).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Preemption {
    /// Duration of a poll of the queue, between two steps of a clean, in nanoseconds.
    pub poll_ns: u64,
    /// Limit T_hard of PGC, as a share of `start_free_blocks`, from 0 to 1. With fewer free blocks, requests that consume free blocks wait.
    pub hard_limit_over_start_threshold: f64,
    /// Rule that decides which requests overlap with a step of a clean.
    pub pipeline: PipeliningMode,
    /// True if a request for the page that is being moved is served from the register.
    pub serves_requests_from_move_register: bool,
    /// True if a page that a waiting request needs is moved next. It requires `serves_requests_from_move_register`.
    pub moves_requested_pages_first: bool,
    /// Suspension of programs and erases in progress by reads; `None` for no suspension.
    pub suspension: Option<Suspension>,
}

/// Rule that decides which requests overlap with a step of a clean (rule 37).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PipeliningMode {
    /// No host request runs at the same time as a step of a clean (read, program or erase).
    Off,
    /// Host requests that wait when a step of a clean is due run at the same time as this step. All requests that may be served then must
    /// be of the step's kind: reads with a read, writes with a program.
    AtPreemptionPoints,
    /// Like [`PipeliningMode::AtPreemptionPoints`]. In addition, requests of the step's kind that arrive during the step run at the same
    /// time.
    AlsoDuringSteps,
}

/// Suspension of programs and erases by reads (Wu & He, FAST 2012).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Suspension {
    /// Time from the interruption until the first read starts, in nanoseconds.
    pub suspend_ns: u64,
    /// Time from the end of the last read until the operation continues, in nanoseconds.
    pub resume_ns: u64,
    /// Maximum number of times that one program or erase is suspended. After that, it runs to its end.
    pub suspensions_max: u32,
}

/// Part of an SSD that serves no requests during a clean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockingScope {
    /// The whole die is blocked.
    Die,
    /// Only the plane of the victim is blocked. It requires [`PoolScope::Plane`].
    Plane,
}

/// Kinds of requests before which the free blocks are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestsThatCheckPools {
    /// Every request of the host.
    EveryRequest,
    /// Only writes of the host.
    OnlyWrites,
}

/// Limit of the host link of one SSD.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostLinkParams {
    /// Time to transfer one page over the link, in nanoseconds.
    pub page_transfer_ns: u64,
    /// True if both directions work at the same time (NVMe), false if they share the link (SATA).
    pub full_duplex: bool,
}
