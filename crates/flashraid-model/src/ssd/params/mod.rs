//! Parameters of one SSD, as plain integers. `config` fills them in and guarantees that they are consistent.

mod front;
mod superblock;
mod writes;

use super::mechanism::DieDelayMechanisms;
use crate::coordination::BlockPoolSizeAndThresholds;
use crate::flash::{DieToChannelAssignment, Geometry, Timing};
use crate::request::OpKind;
use crate::space::MappingParams;
use crate::space::pools::BlockPoolsFtlParams;
pub use crate::space::pools::{BlockPoolScope, GcAlgorithm, PlaneChoice};
use crate::space::superblocks::SuperblockMappingParams;
pub use crate::space::superblocks::{
    HandleIsolation, MAPPING_UNITS_PER_SUPERPAGE_MAX, PlacementHandles, RefreshAndWearLevellingParams, SlcSuperblockCountLimit,
    SuperblockShape,
};
pub use crate::space::victim::VictimPolicy;
use crate::units::{Duration, Fraction};
pub(crate) use front::PLACEMENT_HANDLES_MAX;
pub use front::{BufferParams, ControllerCores, FrontEndParams, SubmissionQueues, WriteBuffer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
pub use superblock::{
    OperationSuspension, PlaneReadMode, PlaneReads, SlcSuperblockParams, SlcTimes, SuperblockCollectionParams, SuperblockDriveParams,
    Suspension,
};
pub use writes::{BlockSummaryPage, DieChoiceForWrites, PoolWrites, SummaryPageTimeSplit};

/// Parameters of one member SSD.
#[derive(Debug, Clone, PartialEq)]
pub struct SsdParams {
    /// Numbers of dies, planes, blocks and pages of the flash medium, and the size of a page.
    pub geometry: Geometry,
    /// Durations of flash operations.
    pub timing: Timing,
    /// Writes of a drive with pools of blocks.
    pub writes: PoolWrites,
    /// Parameters of garbage collection.
    pub gc: GcParams,
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
                target_free_superblocks: superblock.collection.target,
                victim: self.gc.victim,
                starts_empty: superblock.starts_empty,
            });
        }
        MappingParams::PageMapping(BlockPoolsFtlParams {
            geometry: self.geometry,
            overwrites_may_change_die: self.writes.allocation == DieChoiceForWrites::Dynamic,
            plane_choice: self.writes.plane_choice,
            pool: self.gc.rules.pool,
            gc_algorithm: self.gc.gc_algorithm,
            start_threshold_free_blocks: self.gc.start_threshold_free_blocks,
            stop_threshold_free_blocks: self.gc.stop_threshold_free_blocks,
            victim: self.gc.victim,
            separate_open_block_for_moves: self.gc.rules.separate_open_block,
            fill_seals_last_block: self.writes.fill_seals_last_block,
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
                start_threshold_free_blocks: superblock.collection.target,
                most_free_blocks: superblock.collection.goal_free_superblocks() - 1,
                longest_victim_collection_ns: self.timing.block_erase.ns + self.timing.page_program.ns,
            };
        }
        let planes = if self.gc.rules.pool == BlockPoolScope::Die { self.geometry.planes } else { 1 };
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
        let transfers = if self.gc.rules.copy_back { 0 } else { 2 };
        let moves = u64::from(g.data_pages_per_block().saturating_sub(1));
        let summary_ns = if g.has_summary_page { t.block_summary_page_transfer_ns + t.page_program.ns } else { 0 };
        moves * (t.page_read.ns + t.page_program.ns + transfers * t.page_transfer_ns) + summary_ns + t.block_erase.ns
    }

    /// Returns the number of pages that the SSD exports. Each die exports a multiple of `die_stride` pages (rule 3).
    pub fn exported_pages(&self) -> u64 {
        let (g, stride) = (&self.geometry, self.writes.die_stride);
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
    /// Rules by which pools of blocks are collected.
    pub rules: CollectionRules,
    /// Number of free blocks in a pool of blocks (of a plane or of a die) at or below which collection starts there.
    pub start_threshold_free_blocks: u32,
    /// Number of free blocks in a pool of blocks (of a plane or of a die) at which collection stops there; at least
    /// `start_threshold_free_blocks + 1`.
    pub stop_threshold_free_blocks: u32,
    /// Policy that chooses the block to collect.
    pub victim: VictimPolicy,
    /// True if collection takes no time but still moves and erases (scheme `ideal`).
    pub collection_takes_no_time: bool,
    /// Interruption of a clean (the collection of one victim block) by host requests; `None` if each clean runs to its end. It has no
    /// effect on instantaneous collection.
    pub preemption: Option<GcPreemption>,
    /// Idle time after which a die collects in the background, in nanoseconds, at least 1; `None` for never. It has no effect on
    /// instantaneous collection.
    pub idle_collection_after_ns: Option<u64>,
}

/// Rules by which pools of blocks are collected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CollectionRules {
    /// Kinds of host requests before which a die checks if one of its pools of blocks has so few free blocks that collection must start.
    pub trigger: HostRequestKindsThatMayStartGc,
    /// Scope of a pool of blocks: a plane, or a whole die. All blocks of a pool have their free blocks in common, and the open blocks
    /// that are being written. The thresholds `start` and `stop` of garbage collection count the free blocks of a pool.
    pub pool: BlockPoolScope,
    /// The blocking scope of a collection: the part that serves no request during the collection.
    pub blocking: CollectionBlockingScope,
    /// True to write moved pages to an open block of their own, instead of that for host writes.
    pub separate_open_block: bool,
    /// True if moved pages stay inside their plane and need no transfer.
    pub copy_back: bool,
    /// True to clean planes of a die at the same time where several of them need it, or are forced. The die is held for the longest.
    /// False to clean one plane after another. Needs a pool for each plane, blocking of the die, copy-back, pins of each die's own,
    /// and no preemption.
    pub parallel_planes: bool,
}

impl Default for CollectionRules {
    fn default() -> Self {
        Self {
            trigger: HostRequestKindsThatMayStartGc::EveryRequest,
            pool: BlockPoolScope::Plane,
            blocking: CollectionBlockingScope::Die,
            separate_open_block: false,
            copy_back: true,
            parallel_planes: false,
        }
    }
}

impl GcParams {
    /// Returns true if the collection of a victim block blocks only the plane of this block.
    pub(super) fn blocks_planes(&self) -> bool {
        self.rules.blocking == CollectionBlockingScope::Plane && !self.collection_takes_no_time
    }

    /// Returns true if a die checks the free blocks of its pools before it starts an operation of this kind (rule 10).
    #[inline]
    pub(super) fn checks_pools_before(&self, kind: OpKind) -> bool {
        kind == OpKind::Write || self.rules.trigger == HostRequestKindsThatMayStartGc::EveryRequest
    }
}

/// Settings for the interruption of a clean (the collection of one victim block) by host requests. A clean is a sequence of steps:
/// reads and programs of pages, and the erase. Waiting host requests may be served between two steps (section III of the paper on
/// preemptive collection, PGC).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GcPreemption {
    /// Number of free blocks of a pool below which host writes that need a free page wait while a block is collected. It is a share of
    /// the number in the key `start`, at which collection starts. The paper on preemptive collection (PGC) calls it T_hard. Needs a
    /// `preemption` other than `"none"`. Applies only to drives without superblocks.
    pub t_hard: Fraction,
    /// Overlap of host requests with a step of a collection: the read or program of a page that is moved. With `true`, requests that
    /// wait when a step begins may overlap with it. All requests that the die may serve then must be of the step's kind: reads for a
    /// read, writes for a program. Otherwise none overlaps. With `"in-flight"`, requests of the step's kind that arrive during the
    /// step may overlap, too. Needs a `preemption` other than `"none"`. In drives with superblocks, only reads overlap, and
    /// `superblock.cache_read = true` and `superblock.plane_reads = "independent"` are needed, too.
    pub pipeline: HostOverlapWithMoves,
    /// True if host requests use the copy of a page that collection has read and not yet programmed. A read gets its data from this
    /// copy, and a write replaces the data in it. The copy is in the page register of the die. In drives with superblocks, the copy is
    /// in the controller, and only reads use it. Needs a `preemption` other than `"none"`.
    pub merge: bool,
    /// True if collection moves a page earlier than others of its block because a waiting request reads or writes it. The request is
    /// then served with the copy of the page that collection has read (as the key `merge` says). Needs `merge = true`. Applies only to
    /// drives without superblocks.
    pub reorder: bool,
    /// Time that a die takes, between two steps of a collection, to look for waiting requests in its queue. Needs a `preemption` other
    /// than `"none"`. Applies only to drives without superblocks.
    pub poll: Duration,
    /// Suspension of programs and erases in progress by reads; `None` for no suspension.
    #[serde(skip)]
    pub suspension: Option<ProgramEraseSuspension>,
}

impl Default for GcPreemption {
    fn default() -> Self {
        Self {
            t_hard: Fraction(0.5),
            pipeline: HostOverlapWithMoves::NoOverlap,
            merge: false,
            reorder: false,
            poll: Duration { ns: 600 },
            suspension: None,
        }
    }
}

/// Rule that decides which host requests run at the same time as a step of the collection of a block (rule 37). Such a step is the read
/// or program of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "HostOverlapWithMovesConfig", into = "HostOverlapWithMovesConfig")]
#[schemars(with = "HostOverlapWithMovesConfig")]
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

/// Choice of the host requests that may overlap with a step of a collection. They are none, those that wait when the step begins, or
/// also those that arrive during it. A step is a read or a program of a page that collection moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum HostOverlapWithMovesConfig {
    /// No overlap (`false`), or overlap of a step of a collection with host requests that wait when the step begins (`true`). A step
    /// is a read or a program of a page that collection moves. All requests that the die may serve then must be of the step's kind:
    /// reads for a read, writes for a program. Otherwise none overlaps. In drives with superblocks, only reads overlap.
    Plain(bool),
    /// Overlap that is chosen by a name; `"in-flight"` is the only one. Host requests may then overlap with a step of a collection if
    /// they wait when the step begins, or if they arrive during it. A step is a read or a program of a page that collection moves.
    /// Reads overlap only with a read, and writes only with a program.
    Named(NamedHostOverlap),
}

/// Values of the key `pipeline` that are names rather than true or false. The only one is `"in-flight"`. Host requests may then
/// overlap with a step of a collection if they wait when the step begins, or if they arrive during it. A step is a read or a program
/// of a page that collection moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum NamedHostOverlap {
    /// Lets host requests overlap with a step of a collection if they wait when the step begins, or if they arrive during it. A step is a
    /// read or a program of a page that collection moves. Host reads overlap only with a step that reads, and host writes only with a step
    /// that programs. If both reads and writes wait when the step begins, none of these overlap. In drives with superblocks, only reads
    /// overlap.
    InFlight,
}

impl From<HostOverlapWithMovesConfig> for HostOverlapWithMoves {
    fn from(written: HostOverlapWithMovesConfig) -> Self {
        match written {
            HostOverlapWithMovesConfig::Plain(false) => Self::NoOverlap,
            HostOverlapWithMovesConfig::Plain(true) => Self::RequestsWaitingAtStepStart,
            HostOverlapWithMovesConfig::Named(NamedHostOverlap::InFlight) => Self::RequestsWaitingOrArrivingDuringStep,
        }
    }
}

impl From<HostOverlapWithMoves> for HostOverlapWithMovesConfig {
    fn from(overlap: HostOverlapWithMoves) -> Self {
        match overlap {
            HostOverlapWithMoves::NoOverlap => Self::Plain(false),
            HostOverlapWithMoves::RequestsWaitingAtStepStart => Self::Plain(true),
            HostOverlapWithMoves::RequestsWaitingOrArrivingDuringStep => Self::Named(NamedHostOverlap::InFlight),
        }
    }
}

/// Suspension of programs and erases by reads (Wu & He, FAST 2012).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ProgramEraseSuspension {
    /// Time from the suspension of a program or erase until the read that interrupts it begins, in nanoseconds. Needs
    /// `preemption = "suspend"`.
    #[schemars(range(min = 0, max = 3_600_000_000_000_u64))]
    pub suspend_ns: u64,
    /// Time from the end of the last read that is served during a suspension until the suspended program or erase continues, in
    /// nanoseconds. Needs `preemption = "suspend"`.
    #[schemars(range(min = 0, max = 3_600_000_000_000_u64))]
    pub resume_ns: u64,
    /// Maximum number of times that one program or erase is suspended. Needs `preemption = "suspend"`.
    pub suspensions_max: u32,
}

impl Default for ProgramEraseSuspension {
    fn default() -> Self {
        // None of the papers gives these values. Data sheets promise a few microseconds.
        Self { suspend_ns: 5_000, resume_ns: 5_000, suspensions_max: 10 }
    }
}

/// The blocking scope of a collection: the part that serves no request during the collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CollectionBlockingScope {
    /// The whole die is blocked by a collection.
    Die,
    /// Only the plane of the victim is blocked. Needs `pool = "plane"`.
    Plane,
}

/// Kinds of host requests before which a die checks if one of its pools of blocks has so few free blocks that collection must start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum HostRequestKindsThatMayStartGc {
    /// Makes a die check its pools of blocks before it serves any request of the host. Collection starts if a pool has only `start`
    /// free blocks or fewer.
    #[serde(rename = "request")]
    EveryRequest,
    /// Makes a die check its pools of blocks only before it serves a write of the host. Collection starts if a pool has only `start`
    /// free blocks or fewer.
    #[serde(rename = "write")]
    OnlyWrites,
}

/// Speed of the link between the host and one SSD.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostLinkParams {
    /// Time to transfer one page over the link, in nanoseconds.
    pub page_transfer_ns: u64,
    /// Use of the link by the two directions.
    pub duplex: Duplex,
}

/// Use of the rate of a link by the two directions: shared, or each at the full rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Duplex {
    /// The directions share the rate: data go one way at a time, as with SATA.
    #[default]
    Half,
    /// Each direction has the full rate, as with NVMe.
    Full,
}
