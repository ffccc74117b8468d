//! Contents of a drive at the start, as a function: which unit lies where, before the run has written anything.
//!
//! A run changes little of a large drive. Nothing is therefore stored for what lies where it lay at the start.

use super::owners::UnitOwners;
use super::shuffle::Shuffle;
use super::{NONE, SuperblockShape};
use crate::rng;
use std::ops::Range;

/// Contents of the drive at the start.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Origin {
    /// No unit has data.
    Empty,
    InOrder(InOrder),
    Steady(Steady),
}

impl Origin {
    /// Returns the place at which a unit lay at the start, or [`NONE`].
    pub(super) fn place_of(&self, shape: &SuperblockShape, unit: u64) -> u64 {
        match self {
            Self::Empty => NONE,
            Self::InOrder(in_order) => in_order.place_of(shape, unit),
            Self::Steady(steady) => steady.place_of(shape, unit),
        }
    }

    /// Returns the unit that lay at a place at the start; `None` if the place held parity or nothing valid.
    pub(super) fn unit_at(&self, shape: &SuperblockShape, place: u64) -> Option<u64> {
        match self {
            Self::Empty => None,
            Self::InOrder(in_order) => in_order.unit_at(shape, place),
            Self::Steady(steady) => steady.unit_at(shape, place),
        }
    }

    /// Calls `each` with the units that lay in a range of places of one superblock at the start, and with their places.
    pub(super) fn for_each_in(&self, shape: &SuperblockShape, places: Range<u64>, mut each: impl FnMut(u64, u64)) {
        if let Self::Steady(steady) = self
            && places.end - places.start == u64::from(shape.mapping_units_per_superblock())
        {
            // A place without a unit is not looked at.
            let block = shape.superblock_of(places.start);
            let (from, to) = steady.ranks_of(block);
            return (from..to).for_each(|rank| each(steady.order.unit_of(rank), steady.place_of_rank(shape, block, rank)));
        }
        for place in places {
            if let Some(unit) = self.unit_at(shape, place) {
                each(unit, place);
            }
        }
    }
}

/// The fill: handle by handle, units in order, superpage by superpage over the dies in turn (rules 215 and 221).
#[derive(Debug, Clone, PartialEq)]
pub(super) struct InOrder {
    /// Dies in the order of their turns, and the turn of each die.
    order: Vec<u32>,
    turns: Vec<u32>,
    owners: Option<UnitOwners>,
    /// Handles with units, in the order in which they were filled. Each begins a superblock of its own.
    parts: Vec<FilledPart>,
}

/// Units of one placement handle, as the fill wrote them.
#[derive(Debug, Clone, Copy, PartialEq)]
struct FilledPart {
    handle: u8,
    units: u64,
    /// First row of its first superblock, counted over all superblocks.
    first_row: u32,
}

impl InOrder {
    /// Returns a fill of which nothing has been written yet.
    pub(super) fn new(order: &[u32], owners: Option<UnitOwners>) -> Self {
        let mut turns = vec![0; order.len()];
        (0..).zip(order).for_each(|(turn, &die)| turns[die as usize] = turn);
        Self { order: order.to_vec(), turns, owners, parts: Vec::new() }
    }

    /// Returns true if the formulas hold for a shape. They need a row without the parity of each die in each superblock.
    pub(super) fn holds_for(shape: &SuperblockShape) -> bool {
        !shape.has_parity_superpages || shape.superpages_of_superblock_per_die > 1
    }

    /// Adds the units of a handle, from the superblock with this first row on. Returns for each die the row of its first superpage after
    /// them, and the row in which the last unit lies.
    pub(super) fn add_part(&mut self, shape: &SuperblockShape, handle: u8, units: u64, first_row: u32) -> (Vec<u32>, u32) {
        self.parts.push(FilledPart { handle, units, first_row });
        let all = units.div_ceil(u64::from(shape.mapping_units_per_superpage())) as u32;
        let until = (0..shape.dies).map(|die| {
            let superpages = all / shape.dies + u32::from(self.turns[die as usize] < all % shape.dies);
            shape.row_of_data_superpage(die, shape.data_superpages_of_die_before(die, first_row) + superpages)
        });
        (until.collect(), shape.row_of(self.place_in(shape, first_row, units - 1)))
    }

    /// Returns the place of the unit with this number among those that were written from `first_row` on.
    fn place_in(&self, shape: &SuperblockShape, first_row: u32, number: u64) -> u64 {
        let (superpage, at) = shape.superpage_and_unit(number);
        let die = self.order[(superpage % shape.dies) as usize];
        let superpage_of_die = shape.data_superpages_of_die_before(die, first_row) + superpage / shape.dies;
        shape.first_place_of_superpage(shape.row_of_data_superpage(die, superpage_of_die) * shape.dies + die) + u64::from(at)
    }

    fn place_of(&self, shape: &SuperblockShape, unit: u64) -> u64 {
        let Some(owners) = &self.owners else { return self.place_in(shape, 0, unit) };
        let (handle, number) = owners.number_of(unit);
        let part = self.parts.iter().find(|part| part.handle == handle).expect("a handle with units was filled");
        self.place_in(shape, part.first_row, number)
    }

    fn unit_at(&self, shape: &SuperblockShape, place: u64) -> Option<u64> {
        let (superpage, at) = shape.superpage_and_unit(place);
        let (row, die) = (superpage / shape.dies, superpage % shape.dies);
        let part = self.parts.iter().rfind(|part| part.first_row <= row)?;
        let round = shape.data_superpages_before(die, row)? - shape.data_superpages_of_die_before(die, part.first_row);
        let number = shape.first_place_of_superpage(round * shape.dies + self.turns[die as usize]) + u64::from(at);
        (number < part.units).then(|| self.owners.as_ref().map_or(number, |owners| owners.unit_of(part.handle, number)))
    }
}

/// The steady state of uniform random writes (rule 215).
///
/// ```text
///  unit ◀─Shuffle─▶ rank ◀─sums of valid units─▶ superblock, number in it ◀─Shuffle of the superblock─▶ place
/// ```
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Steady {
    /// Bijection of units to ranks.
    order: RankOrder,
    /// Bijections of the places for data in a sealed superblock, and the key of each superblock. Those of the victim come last.
    slots: Shuffle,
    keys: Vec<u64>,
    /// The victim of which a part was moved before the run, if there is one.
    victim: Option<PartOfVictim>,
    /// Least rank in each superblock, and at last the number of units.
    first_ranks: Vec<u64>,
    /// Superblock of every rank that is a multiple of a power of two.
    guide: Vec<u32>,
    guide_bits: u32,
}

/// Bijection of units to ranks.
#[derive(Debug, Clone, PartialEq)]
enum RankOrder {
    /// All units are mixed.
    Mixed { units: Shuffle, key: u64 },
    /// Units of each placement handle are mixed among themselves, and lie in superblocks of their own.
    ByHandle { owners: UnitOwners, handles: Vec<HandleRanks> },
}

/// Ranks of the units of one placement handle.
#[derive(Debug, Clone, PartialEq)]
struct HandleRanks {
    /// Bijection of the numbers of its units, and its key.
    units: Shuffle,
    key: u64,
    /// Ranks in its superblocks, in the order of these.
    ranks: Vec<Range<u64>>,
}

impl RankOrder {
    fn rank_of(&self, unit: u64) -> u64 {
        match self {
            Self::Mixed { units, key } => units.apply(*key, unit),
            Self::ByHandle { owners, handles } => {
                let (handle, number) = owners.number_of(unit);
                let HandleRanks { units, key, ranks } = &handles[usize::from(handle)];
                let mut at = units.apply(*key, number);
                let range = ranks.iter().find(|range| {
                    let is_here = at < range.end - range.start;
                    at -= if is_here { 0 } else { range.end - range.start };
                    is_here
                });
                range.expect("a handle has as many ranks as units").start + at
            }
        }
    }

    fn unit_of(&self, rank: u64) -> u64 {
        match self {
            Self::Mixed { units, key } => units.invert(*key, rank),
            Self::ByHandle { owners, handles } => {
                let has = |of: &HandleRanks| of.ranks.iter().any(|range| range.contains(&rank));
                let handle = handles.iter().position(has).expect("each rank belongs to a handle");
                let HandleRanks { units, key, ranks } = &handles[handle];
                // Ranges behind that of the rank add nothing.
                let before: u64 = ranks.iter().map(|range| rank.clamp(range.start, range.end) - range.start).sum();
                owners.unit_of(handle as u8, units.invert(*key, before))
            }
        }
    }
}

/// Rest of a superblock whose valid units are being moved, superpage by superpage.
#[derive(Debug, Clone, Copy, PartialEq)]
struct PartOfVictim {
    block: u32,
    /// Number of the first place for data that may hold a valid unit.
    first_slot: u32,
    /// Bijections of the places from there on.
    slots: Shuffle,
}

impl Steady {
    /// Returns the state of a member whose superblocks have so many valid units. The first `sealed` superblocks are sealed. Valid units are
    /// drawn from all their places. With `moved`, the next superblock is a victim, of which so many superpages hold no valid units, because
    /// these were moved. Other superblocks are filled row by row.
    ///
    /// With `by_handle`, the handles keep to superblocks of their own, which are given as ranges for each handle.
    pub(super) fn new(
        shape: &SuperblockShape,
        valid: &[u32],
        sealed: u32,
        moved: Option<u32>,
        by_handle: Option<(UnitOwners, Vec<Vec<Range<u32>>>)>,
        (seed, member): (u64, u32),
    ) -> Self {
        let key = |index: u32| rng::derive_seed(seed, "steady", (u64::from(member) << 32) + u64::from(index));
        let mut sum = 0;
        let until = valid.iter().map(|&valid| {
            sum += u64::from(valid);
            sum
        });
        let first_ranks: Vec<u64> = std::iter::once(0).chain(until).collect();
        assert_eq!(sum, shape.exported_mapping_units, "every exported unit lies somewhere");
        let guide_bits = (sum / (4 * valid.len() as u64 + 1)).max(1).ilog2();
        let mut block = 0;
        let guide = (0..=(sum - 1) >> guide_bits).map(|at| {
            while first_ranks[block as usize + 1] <= at << guide_bits {
                block += 1;
            }
            block
        });
        let slots = shape.data_mapping_units_per_superblock();
        let victim = moved.map(|superpages| {
            let first_slot = superpages * shape.mapping_units_per_superpage();
            PartOfVictim { block: sealed, first_slot, slots: Shuffle::new(u64::from(slots - first_slot)) }
        });
        let order = match by_handle {
            None => RankOrder::Mixed { units: Shuffle::new(sum), key: key(0) },
            Some((owners, blocks)) => {
                let ranks_of = |blocks: &Range<u32>| first_ranks[blocks.start as usize]..first_ranks[blocks.end as usize];
                let of_handle = |(handle, blocks): (u8, &Vec<Range<u32>>)| HandleRanks {
                    units: Shuffle::new(owners.units_of(handle)),
                    key: rng::derive_seed(seed, "steady-handles", (u64::from(member) << 32) + u64::from(handle)),
                    ranks: blocks.iter().map(ranks_of).collect(),
                };
                let handles = (0..).zip(&blocks).map(of_handle).collect();
                RankOrder::ByHandle { owners, handles }
            }
        };
        Self {
            order,
            slots: Shuffle::new(u64::from(slots)),
            keys: (1..=sealed + u32::from(victim.is_some())).map(key).collect(),
            victim,
            guide: guide.collect(),
            guide_bits,
            first_ranks,
        }
    }

    /// Returns the ranks in a superblock, the upper end excluded.
    fn ranks_of(&self, block: u32) -> (u64, u64) {
        match self.first_ranks.get(block as usize..block as usize + 2) {
            Some(&[from, to]) => (from, to),
            _ => (0, 0),
        }
    }

    fn place_of_rank(&self, shape: &SuperblockShape, block: u32, rank: u64) -> u64 {
        let number = rank - self.first_ranks[block as usize];
        let (first_slot, slots) = self.slots_of(block);
        let slot = self.keys.get(block as usize).map_or(number, |&key| u64::from(first_slot) + slots.apply(key, number));
        shape.place_of_data_slot(block, slot as u32)
    }

    /// Returns the first place for data of a superblock that may hold a valid unit, and the bijections of the places from there on.
    fn slots_of(&self, block: u32) -> (u32, Shuffle) {
        let victim = self.victim.filter(|victim| victim.block == block);
        victim.map_or((0, self.slots), |victim| (victim.first_slot, victim.slots))
    }

    fn place_of(&self, shape: &SuperblockShape, unit: u64) -> u64 {
        let rank = self.order.rank_of(unit);
        let mut block = self.guide[(rank >> self.guide_bits) as usize];
        while self.first_ranks[block as usize + 1] <= rank {
            block += 1;
        }
        self.place_of_rank(shape, block, rank)
    }

    fn unit_at(&self, shape: &SuperblockShape, place: u64) -> Option<u64> {
        let block = shape.superblock_of(place);
        let (first_slot, slots) = self.slots_of(block);
        let slot = u64::from(shape.data_slot(place)?.checked_sub(first_slot)?);
        let number = self.keys.get(block as usize).map_or(slot, |&key| slots.invert(key, slot));
        let (from, to) = self.ranks_of(block);
        (number < to - from).then(|| self.order.unit_of(from + number))
    }
}
