//! What the translation layer has to know of its SSD, as plain integers.

use crate::flash::Geometry;
use crate::space::victim::VictimPolicy;

/// The translation layer of one member SSD.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PoolsParams {
    /// Shape of the flash.
    pub geometry: Geometry,
    /// Writes may move a page to another die.
    pub dynamic: bool,
    /// How a write finds its plane inside the die.
    pub plane_choice: PlaneChoice,
    /// What shares free blocks, open blocks and watermarks.
    pub pool: Pool,
    /// How victims and free blocks are found.
    pub procedure: Procedure,
    /// A pool with this many free blocks or fewer is collected.
    pub start_free_blocks: u32,
    /// A collection of a pool ends when it has this many free blocks; at least `start_free_blocks + 1`.
    pub stop_free_blocks: u32,
    /// Which block is collected.
    pub victim: VictimPolicy,
    /// Pages that are moved go to an open block of their own rather than to the one of host writes.
    pub separate_open_block: bool,
    /// The block that the fill reaches last is sealed like the others.
    pub fill_seals_last_block: bool,
}

/// How a write finds its plane inside the die.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaneChoice {
    /// Most free pages, scanned from a rotating start, skipping planes whose open block is older than the block that holds the
    /// old copy (the reference simulator's rule).
    MostFree,
    /// Planes in turn.
    Rotate,
}

/// How collection goes about its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Procedure {
    /// As the other parameters say.
    AsSet,
    /// As the reference simulator does without copy-back (rules 130 to 133): victims from a table made when a go begins, free blocks
    /// in rotation plane by plane, transfers only for pages that cross planes. Requires [`Pool::Die`], greedy victims and no separate
    /// open block.
    ReferenceNoCopyBack,
}

/// What shares free blocks, open blocks and watermarks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pool {
    /// Each plane by itself.
    Plane,
    /// All planes of a die together.
    Die,
}
