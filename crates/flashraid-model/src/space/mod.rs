//! The mapping of one SSD: the place of every page, the contents of every block, and the choice of blocks to collect. It knows neither time
//! nor requests.
//!
//! ```text
//!  pools/        pages in blocks of dies; pools of free blocks        ┐  one question, one answer each:
//!  superblocks/  units in superblocks that lie on all dies            ┘  Space
//!  victim/       which block is collected, for both: one policy a file
//! ```
//!
//! An SSD has one of the two mappings. Both consist of flat tables of numbers, both are saved and loaded by the parts of `codec`, and both
//! can verify their whole state.

mod codec;
mod free_space;
pub mod pools;
pub mod superblocks;
mod tables;
pub mod victim;
mod wear;

pub use codec::checksum;
use pools::{BlockPoolsFtlParams, PageMapping};
use std::borrow::{Borrow, BorrowMut};
use superblocks::{PointOfCycle, SuperblockMapping, SuperblockMappingParams};
pub(crate) use tables::prefetch;
pub use wear::EraseCountSummary;

/// Mapping of an SSD from logical pages to places on the flash. An SSD maps either single pages to pools of blocks, or units of pages
/// to superblocks. The type parameters say if the mapping is owned or borrowed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mapping<P = PageMapping, S = SuperblockMapping> {
    /// Maps single logical pages to physical pages in blocks. The blocks of each plane or of each die form a pool, with free blocks and
    /// an open block of its own.
    PageMapping(P),
    /// Maps logical units (one page or several, `ssd.superblock.unit`) to places in superblocks. A superblock consists of the block
    /// with the same number from each plane of each die.
    Superblocks(S),
}

/// Parameters of a mapping. Together with the writes they determine its state.
pub(crate) type MappingParams = Mapping<BlockPoolsFtlParams, SuperblockMappingParams>;

/// Calls a method on whichever of the two mappings is there.
macro_rules! either {
    ($space:expr, $held:ident => $call:expr) => {
        match $space {
            Mapping::PageMapping($held) => $call,
            Mapping::Superblocks($held) => $call,
        }
    };
}

impl Mapping {
    /// Returns the mapping of a newly filled drive. `seed` and `member` select the random numbers for victim policies that choose at
    /// random.
    pub fn new_filled(params: &MappingParams, seed: u64, member: u32) -> Self {
        match params {
            Mapping::PageMapping(params) => Self::PageMapping(PageMapping::filled_in_address_order(params, seed, member)),
            Mapping::Superblocks(params) => Self::Superblocks(SuperblockMapping::filled(params, seed, member)),
        }
    }

    /// Overwrites random pages without simulated time, `overwrites` × the exported capacity in all (rules 24 and 215).
    ///
    /// `go_on` is called with the share that is done. If it returns false, the warm-up stops and returns false.
    pub fn warm_up(&mut self, overwrites: f64, seed: u64, member: u32, go_on: &mut dyn FnMut(f64) -> bool) -> bool {
        either!(self, held => held.warm_up(overwrites, seed, member, go_on))
    }

    /// Puts superblocks into the steady state of uniform random writes (rule 215), at this point between two collections. A mapping with
    /// pools of blocks stays as it is.
    pub(crate) fn make_steady(&mut self, seed: u64, member: u32, point: PointOfCycle) {
        if let Self::Superblocks(superblocks) = self {
            superblocks.make_steady(seed, member, point);
        }
    }

    /// Ends the warm-up: closes the blocks that it has left open. The drive then continues as if its state had been loaded from a file.
    pub fn end_warm_up_and_close_superpages(&mut self) {
        if let Self::Superblocks(superblocks) = self {
            superblocks.end_warm_up_and_close_superpages();
        }
    }
}

impl<P, S> Mapping<P, S> {
    /// Returns a mapping that borrows the content of this mapping, for reading.
    pub fn as_ref(&self) -> Mapping<&P, &S> {
        match self {
            Self::PageMapping(pools) => Mapping::PageMapping(pools),
            Self::Superblocks(superblocks) => Mapping::Superblocks(superblocks),
        }
    }

    /// Returns a mapping that borrows the content of this mapping, for changes.
    pub fn as_mut(&mut self) -> Mapping<&mut P, &mut S> {
        match self {
            Self::PageMapping(pools) => Mapping::PageMapping(pools),
            Self::Superblocks(superblocks) => Mapping::Superblocks(superblocks),
        }
    }
}

impl<P: Borrow<PageMapping>, S: Borrow<SuperblockMapping>> Mapping<P, S> {
    /// Returns a mapping that owns a copy of the content, although this mapping may have borrowed its content.
    pub fn to_owned(&self) -> Mapping {
        match self {
            Self::PageMapping(pools) => Mapping::PageMapping(pools.borrow().clone()),
            Self::Superblocks(superblocks) => Mapping::Superblocks(superblocks.borrow().clone()),
        }
    }

    /// Returns the pools of blocks of the mapping; `None` if the mapping has superblocks.
    pub fn into_pools(self) -> Option<P> {
        match self {
            Self::PageMapping(pools) => Some(pools),
            Self::Superblocks(_) => None,
        }
    }

    /// Returns the superblocks of the mapping; `None` if the mapping has pools of blocks.
    pub fn superblocks(self) -> Option<S> {
        match self {
            Self::PageMapping(_) => None,
            Self::Superblocks(superblocks) => Some(superblocks),
        }
    }

    /// Returns the state as bytes for [`Mapping::load_state`]. The drive must be idle.
    pub fn save_state(&self) -> Vec<u8> {
        either!(self, held => held.borrow().save())
    }

    /// Returns the maximum number of bytes that [`Mapping::save_state`] can return.
    pub fn saved_state_bytes_max(&self) -> u64 {
        either!(self, held => held.borrow().saved_state_bytes_max())
    }

    /// Returns the number of bytes of memory that the tables occupy.
    pub fn simulator_memory_bytes(&self) -> u64 {
        either!(self, held => held.borrow().memory_bytes())
    }

    /// Returns the number of erases of every block or superblock, including those of the warm-up.
    pub fn erase_counts(&self) -> Vec<u32> {
        either!(self, held => held.borrow().erase_counts().collect())
    }

    /// Returns the wear over all blocks or superblocks, including that of the warm-up.
    pub fn wear(&self) -> EraseCountSummary {
        either!(self, held => EraseCountSummary::from_erase_counts(held.borrow().erase_counts()))
    }

    /// Returns the number of units that can be written before a block must be erased, for each pool of blocks. Superblocks are one pool.
    /// A unit is what the mapping places: one page in pools of blocks, and one page or several in superblocks.
    pub fn free_units_by_pool(&self) -> Vec<u64> {
        either!(self, held => held.borrow().free_units_by_pool())
    }

    /// Returns the number of units that collection would have to program so that each pool has as many free units as in `earlier`. These
    /// are an earlier result of [`Mapping::free_units_by_pool`]. It is 0 for pools that have as many or more.
    ///
    /// Victims are those with the fewest valid units. Superblocks with parity count the parity of the moved units, too.
    pub fn units_to_program_to_regain(&self, earlier: &[u64]) -> u64 {
        either!(self, held => held.borrow().units_to_program_to_regain(earlier))
    }

    /// Verifies the whole state.
    ///
    /// # Errors
    /// Returns a sentence that names the first invariant that does not hold.
    pub fn verify_invariants(&self) -> Result<(), String> {
        either!(self, held => held.borrow().verify())
    }
}

impl<P: BorrowMut<PageMapping>, S: BorrowMut<SuperblockMapping>> Mapping<P, S> {
    /// Replaces the state by one that [`Mapping::save_state`] returned for the same parameters.
    ///
    /// # Errors
    /// Returns an explanation of what is wrong with the bytes. The state must not be used after that.
    pub fn load_state(&mut self, bytes: &[u8]) -> Result<(), String> {
        either!(self, held => held.borrow_mut().load(bytes))
    }

    /// Resets the state to that of a newly filled drive. Parameters, seed and member must be the original ones. Units of superblocks keep
    /// their owners.
    ///
    /// # Panics
    /// Panics if this mapping has pools of blocks and `params` describes superblocks, or the other way round.
    pub fn reset_to_filled(&mut self, params: &MappingParams, seed: u64, member: u32) {
        match (self, Mapping::new_filled(params, seed, member)) {
            (Self::PageMapping(pools), Mapping::PageMapping(filled)) => *pools.borrow_mut() = filled,
            (Self::Superblocks(superblocks), Mapping::Superblocks(filled)) => superblocks.borrow_mut().reset_to(filled),
            _ => panic!("a mapping stays of its kind"),
        }
    }
}
