//! Parameters of one SSD, as plain integers. `config` fills them in and guarantees that they are consistent.

mod front;
mod superblock;

use super::mechanism::Mechanisms;
use crate::coordination::Pools;
use crate::flash::{ChannelParams, Geometry, Timing};
use crate::request::OpKind;
use crate::space::SpaceParams;
use crate::space::pools::PoolsParams;
pub use crate::space::pools::{PlaneChoice, Pool, Procedure};
use crate::space::superblocks::SuperblocksParams;
pub use crate::space::superblocks::{PlacementHandles, SUPERPAGE_UNITS_MAX, Shape, SlcRoom, UpkeepParams};
pub use crate::space::victim::VictimPolicy;
pub use front::{BufferParams, FirmwareParams, FrontParams, HANDLES_MAX, QueueParams};
pub use superblock::{OperationSuspension, PlaneReads, SlcParams, SuperblockCollection, SuperblockParams, SuperblockSuspension};

/// Parameters of one member SSD.
#[derive(Debug, Clone, PartialEq)]
pub struct SsdParams {
    /// Shape of the flash.
    pub geometry: Geometry,
    /// Durations of flash operations.
    pub timing: Timing,
    /// Consecutive logical pages that go to one die before the next die's turn.
    pub die_stride_pages: u32,
    /// The choice of the die of a write.
    pub allocation: Allocation,
    /// The choice of the plane of a write inside its die.
    pub plane_choice: PlaneChoice,
    /// Parameters of garbage collection.
    pub gc: GcParams,
    /// The block that the fill reaches last is sealed like the others. The reference simulator leaves it unsealed, and since
    /// nothing programs it any more it is never collected.
    pub fill_seals_last_block: bool,
    /// Dies that share a channel; `None`: every die has pins of its own and transfers are part of its busy time.
    pub channel: Option<ChannelParams>,
    /// Limit of the host link; `None`: transfers to the host take no time.
    pub link: Option<LinkParams>,
    /// Queues, cores and write buffer before pools of blocks; `None`: operations go to their dies as they come. `superblock` has its own.
    pub front: Option<FrontParams>,
    /// Mechanisms of the list, which every kind of device may have.
    pub mechanisms: Mechanisms,
    /// Superblocks behind a write buffer: what this says takes the place of pools, planes and dies of a write (section 24).
    pub superblock: Option<SuperblockParams>,
}

impl SsdParams {
    /// Cleans go step by step and let requests in between, or begin when nothing waits (rules 30 to 40).
    pub fn interruptible(&self) -> bool {
        !self.gc.instantaneous && (self.gc.preemption.is_some() || self.gc.idle_ns.is_some())
    }

    /// The SSD levels wear: its victim policy does, or it moves superblocks that have been erased seldom (rule 223).
    pub fn levels_wear(&self) -> bool {
        let by_upkeep = self.superblock.as_ref().is_some_and(|superblock| superblock.upkeep.wear_difference.is_some());
        by_upkeep || self.gc.victim.levels_wear()
    }

    /// Parameters of what stands before the dies, if anything does.
    pub(super) fn front(&self) -> Option<FrontParams> {
        self.superblock.as_ref().map(SuperblockParams::front).or(self.front)
    }

    /// Pages of a unit, which is what the write buffer and the mapping know.
    pub(super) fn unit_pages(&self) -> u32 {
        self.superblock.as_ref().map_or(1, |superblock| superblock.unit_pages)
    }

    /// Returns the number of placement handles.
    pub(super) fn handles(&self) -> u32 {
        self.superblock.as_ref().map_or(1, |superblock| superblock.placement.handles)
    }

    /// The parameters of the mapping.
    pub fn space(&self) -> SpaceParams {
        if let Some(superblock) = &self.superblock {
            return SpaceParams::Superblocks(SuperblocksParams {
                shape: superblock.shape(&self.geometry),
                channel: self.channel.unwrap_or(ChannelParams::consecutive(1)),
                target_free_superblocks: superblock.collection.target,
                victim: self.gc.victim,
                fresh: superblock.fresh,
            });
        }
        SpaceParams::Pools(PoolsParams {
            geometry: self.geometry,
            dynamic: self.allocation == Allocation::Dynamic,
            plane_choice: self.plane_choice,
            pool: self.gc.pool,
            procedure: self.gc.procedure,
            start_free_blocks: self.gc.start_free_blocks,
            stop_free_blocks: self.gc.stop_free_blocks,
            victim: self.gc.victim,
            separate_open_block: self.gc.separate_open_block,
            fill_seals_last_block: self.fill_seals_last_block,
        })
    }

    /// The pools that thresholds are measured by.
    pub fn pools(&self) -> Pools {
        if let Some(superblock) = &self.superblock {
            return Pools {
                blocks: self.geometry.blocks_per_plane,
                reserved_blocks: self.geometry.reserved_blocks_per_plane,
                start_free_blocks: superblock.collection.target,
            };
        }
        let planes = if self.gc.pool == Pool::Die { self.geometry.planes } else { 1 };
        Pools {
            blocks: planes * self.geometry.blocks_per_plane,
            reserved_blocks: planes * self.geometry.reserved_blocks_per_plane,
            start_free_blocks: self.gc.start_free_blocks,
        }
    }

    /// Pages that the SSD exports: the whole die strides of its dies (rule 3).
    pub fn exported_pages(&self) -> u64 {
        let (g, stride) = (&self.geometry, self.die_stride_pages);
        if let Some(superblock) = &self.superblock {
            let shape = superblock.shape(g);
            return u64::from(shape.exported_units) * u64::from(superblock.unit_pages);
        }
        u64::from(g.exported_pages_per_die() / stride * stride) * u64::from(g.dies)
    }
}

/// The shortcuts that may be taken. Tests switch them off to show that they change nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shortcuts {
    /// An operation is served when it comes.
    pub immediate: bool,
    /// Waits that nothing can interrupt end without events.
    pub collapsed: bool,
}

impl Default for Shortcuts {
    fn default() -> Self {
        Self { immediate: true, collapsed: true }
    }
}

/// The choice of the die of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allocation {
    /// The die of the address: `(lpn / die_stride) mod dies`.
    Static,
    /// The die that can start earliest and has room.
    Dynamic,
}

/// Garbage collection of one SSD.
#[derive(Debug, Clone, PartialEq)]
pub struct GcParams {
    /// The procedure of collection. The caller sees to what [`Procedure::ReferenceNoCopyBack`] requires.
    pub procedure: Procedure,
    /// The blocks that share free blocks, open blocks and watermarks.
    pub pool: Pool,
    /// The blocking scope of a clean: what serves no request while it runs.
    pub blocking: Blocking,
    /// A pool with this many free blocks or fewer is collected.
    pub start_free_blocks: u32,
    /// A collection of a pool ends when it has this many free blocks; at least `start_free_blocks + 1`.
    pub stop_free_blocks: u32,
    /// Before which requests the free blocks are checked.
    pub trigger: Trigger,
    /// The choice of the block that is collected.
    pub victim: VictimPolicy,
    /// Pages that are moved go to an open block of their own rather than to the one of host writes.
    pub separate_open_block: bool,
    /// Moved pages stay in their plane and need no transfer; otherwise every move costs two transfers (only moves that cross planes
    /// with [`Procedure::ReferenceNoCopyBack`]).
    pub copy_back: bool,
    /// Collection takes no time but still moves and erases (the scheme `ideal`).
    pub instantaneous: bool,
    /// Requests may go in between the steps of a clean; means nothing where collection is instantaneous.
    pub preemption: Option<Preemption>,
    /// Rest after which a die collects in the background, in nanoseconds, at least 1. It means nothing if collection is instantaneous.
    pub idle_ns: Option<u64>,
}

impl GcParams {
    /// Returns true if a clean blocks its plane only.
    pub(super) fn blocks_planes(&self) -> bool {
        self.blocking == Blocking::Plane && !self.instantaneous
    }

    /// Returns true if the pools are checked before an operation of this kind (rule 10).
    #[inline]
    pub(super) fn checks_before(&self, kind: OpKind) -> bool {
        kind == OpKind::Write || self.trigger == Trigger::Request
    }
}

/// Interruption of a clean by requests (PGC section III).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Preemption {
    /// A poll of the queue between two steps, in nanoseconds.
    pub poll_ns: u64,
    /// T_hard as a fraction of T_soft, the start threshold: with fewer free blocks only what consumes none goes in. From 0 to 1.
    pub t_hard: f64,
    /// The requests of the same kind that are done together with a step.
    pub pipeline: Pipeline,
    /// A request for the page that is being moved is served from the register.
    pub merge: bool,
    /// The page that a waiting request wants is moved next; needs `merge`.
    pub reorder: bool,
    /// Reads may also interrupt a program or erase in flight.
    pub suspension: Option<Suspension>,
}

/// Requests that are done together with a step of a clean (rule 37).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pipeline {
    /// No requests are done together with a step.
    Off,
    /// All that may go in before it, if all are of its kind.
    AtPoints,
    /// The same, and those of its kind that arrive while it is in flight.
    InFlight,
}

/// Suspension of programs and erases for reads (Wu & He, FAST 2012).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Suspension {
    /// Time from the interruption until the first read starts, in nanoseconds.
    pub suspend_ns: u64,
    /// Time from the end of the last read until the operation goes on, in nanoseconds.
    pub resume_ns: u64,
    /// Suspensions that one operation suffers at most.
    pub times_max: u32,
}

/// The scope that serves no requests while a clean runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blocking {
    /// The whole die is blocked.
    Die,
    /// Only the plane of the victim; requires [`Pool::Plane`].
    Plane,
}

/// Before which requests the free blocks are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trigger {
    /// Before every request of the host.
    Request,
    /// Before writes of the host only.
    Write,
}

/// Limit of the host link of one SSD.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkParams {
    /// Time of one page on the link, in nanoseconds.
    pub page_ns: u64,
    /// Reads and writes travel at the same time (NVMe); otherwise they share the link (SATA).
    pub full_duplex: bool,
}
