//! Parameters of the translation layer, as plain integers.

use crate::flash::Geometry;
use crate::space::victim::VictimPolicy;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PlaneChoice {
    /// The plane with most free pages, as in the reference simulator (the SSD extension of DiskSim).
    #[serde(rename = "most-free")]
    #[default]
    MostFreePages,
    /// The planes of the die take writes in rotation: each write goes to the next plane that can take it.
    Rotate,
}

/// Rules by which collection chooses victim blocks and free blocks, and moves pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum GcAlgorithm {
    /// Finds victims and free blocks as the other keys of `ssd.gc` say.
    #[serde(rename = "as-set")]
    VictimByPolicy,
    /// Follows the SSD extension of DiskSim with its setting copy-back disabled. Each die has one pool of blocks. When collection
    /// begins in the pool, its blocks are listed in a table, those with the fewest valid pages first. Victims are taken from the table
    /// in order. The die looks for the next free block to write plane by plane. A moved page is transferred out of the die and back
    /// only if it changes planes, as in DiskSim.
    #[serde(rename = "reference-no-copy-back")]
    LikeDiskSimWithoutCopyBack,
}

/// Scope of a pool of blocks: a plane, or a whole die. All blocks of a pool have their free blocks in common, and the open blocks that
/// are being written. The thresholds `start` and `stop` of garbage collection count the free blocks of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BlockPoolScope {
    /// Each plane has its own pool of blocks.
    Plane,
    /// All planes of a die share one pool of blocks.
    Die,
}
