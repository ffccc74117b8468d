//! Parameters of the translation layer, as plain integers.

use crate::flash::Geometry;
use crate::space::victim::VictimPolicy;

/// Parameters of the translation layer of one member SSD.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BlockPoolsFtlParams {
    /// Shape of the flash medium.
    pub geometry: Geometry,
    /// True if writes may move a page to another die.
    pub overwrites_may_change_die: bool,
    /// Rule that chooses the plane of a write inside its die.
    pub plane_choice: PlaneChoice,
    /// Scope of a pool: the group of blocks that share free blocks, open blocks and the start and stop thresholds of collection.
    pub pool: BlockPoolScope,
    /// Procedure that finds the blocks to collect and the free blocks for moved pages.
    pub gc_algorithm: GcAlgorithm,
    /// Start threshold of collection: number of free blocks of a pool at or below which blocks of the pool are collected.
    pub start_threshold_free_blocks: u32,
    /// Stop threshold of collection: number of free blocks of a pool at which the collection there ends; at least
    /// `start_threshold_free_blocks + 1`.
    pub stop_threshold_free_blocks: u32,
    /// Policy that chooses the block to collect.
    pub victim: VictimPolicy,
    /// True if moved pages go to a separate open block, false if they share the block of host writes.
    pub separate_open_block_for_moves: bool,
    /// True if the initial fill closes the block that it writes last, so that collection may choose it. If false, that block stays open and
    /// is never collected.
    pub fill_seals_last_block: bool,
    /// True if no page holds data at first.
    pub starts_empty: bool,
}

/// Rule that chooses the plane of a write inside its die.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaneChoice {
    /// The plane with the most free pages; among equals, planes take turns. The new copy of a page should not go to a block that was
    /// opened before the block with the old copy. Planes with such an open block are therefore left out, unless this leaves out all
    /// planes. The rule comes from the SSD extension of the simulator DiskSim.
    MostFreePages,
    /// The planes of the die take turns: each write goes to the next plane that has room.
    Rotate,
}

/// Procedure of a collection: how it finds victims and free blocks, and which moves need transfers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GcAlgorithm {
    /// Chooses each victim block by the policy `victim` when its collection begins. Free blocks are used in order of their numbers in the
    /// pool. The other parameters in [`BlockPoolsFtlParams`] apply as they are set.
    VictimByPolicy,
    /// Imitates the SSD extension of the simulator DiskSim with copy-back (moves inside a plane without a transfer) switched off (rules
    /// 130 to 133 of docs/rules.md). When a pool of blocks needs collection, its blocks are sorted once by their valid pages. Victims
    /// are taken in this order, the fewest valid pages first. Free blocks for moved pages are searched plane by plane.
    ///
    /// As in that simulator, moves inside a plane still take no time on the channel, although copy-back is off. Only pages that change
    /// their plane take such time.
    ///
    /// The other parameters must be: [`BlockPoolScope::Die`], greedy victims, and open blocks shared by host writes and moved pages.
    /// Copy-back and pipelining (overlap of requests with collection) must be off.
    LikeDiskSimWithoutCopyBack,
}

/// Scope of a pool: the group of blocks that share free blocks, open blocks and the start and stop thresholds of collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockPoolScope {
    /// Each plane has a pool of its own. The blocks of a plane share free blocks, open blocks and the start and stop thresholds of
    /// collection.
    Plane,
    /// All planes of a die form one pool. The blocks of a die share free blocks, open blocks and the start and stop thresholds of
    /// collection.
    Die,
}
