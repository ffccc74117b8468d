//! Parameters of the translation layer, as plain integers.

use crate::flash::Geometry;
use crate::space::victim::VictimPolicy;

/// Parameters of the translation layer of one member SSD.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BlockPoolsParams {
    /// Shape of the flash medium.
    pub geometry: Geometry,
    /// True if writes may move a page to another die.
    pub moves_pages_between_dies: bool,
    /// Rule that chooses the plane of a write inside its die.
    pub plane_choice: PlaneChoice,
    /// Group of blocks that share free blocks, open blocks and thresholds.
    pub pool: PoolScope,
    /// Procedure that finds victims and free blocks.
    pub collection_procedure: CollectionProcedure,
    /// Number of free blocks at or below which a pool is collected.
    pub start_free_blocks: u32,
    /// Number of free blocks at which the collection of a pool ends; at least `start_free_blocks + 1`.
    pub stop_free_blocks: u32,
    /// Policy that chooses the block to collect.
    pub victim: VictimPolicy,
    /// True if moved pages go to a separate open block, false if they share the block of host writes.
    pub separate_open_block: bool,
    /// True if the initial fill closes the block that it writes last, so that collection may choose it. If false, that block stays open and
    /// is never collected.
    pub fill_seals_last_block: bool,
}

/// Rule that chooses the plane of a write inside its die.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaneChoice {
    /// The plane with the most free pages, searched from a rotating start. Planes are skipped if their open block is older than the block
    /// that holds the old copy (the reference simulator's rule).
    MostFree,
    /// All planes take turns.
    Rotate,
}

/// Procedure of a collection: how it finds victims and free blocks, and which moves need transfers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CollectionProcedure {
    /// Uses the other parameters as they are set.
    AsParametersSay,
    /// Follows the DiskSim SSD extension, with moves through the controller instead of copy-back (rules 130 to 133). When a pool needs
    /// collection, a table of its blocks is sorted by their valid pages, and victims are taken from it in order. Free blocks are searched
    /// plane by plane, and only pages that cross planes are transferred.
    ///
    /// It requires [`PoolScope::Die`], greedy victims and no separate open block.
    ReferenceSimulatorWithoutCopyBack,
}

/// Group of blocks that share free blocks, open blocks and thresholds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PoolScope {
    /// Each plane has its own pool.
    Plane,
    /// All planes of a die form one pool.
    Die,
}
