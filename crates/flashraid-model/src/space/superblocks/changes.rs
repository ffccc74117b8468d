//! Changes of a run to the map of a drive. Nothing is stored for the units that lie where they lay at the start.
//!
//! ```text
//!  sparse: a hash table of changed units, 8 bytes a slot, at most five eighths full
//!  dense:  an entry for every unit, from the moment on at which the hash table would be as large
//! ```

use crate::space::tables::{LargeTable, prefetch};

/// Entry of a unit that has not changed. No place and no slot of the write buffer has this number.
const UNCHANGED: u32 = u32::MAX - 1;
/// Slot of the hash table that is free. No unit has its number.
const FREE: u64 = u64::MAX;
/// Number of slots of the smallest hash table.
const SLOTS_MIN: usize = 64;
/// Neighbouring units lie side by side in groups of eight, which are a line of the processor's cache.
const GROUP_BITS: u32 = 3;

/// Map entries of the units that have changed since the start.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Changes {
    units: u32,
    entries: Entries,
}

#[derive(Debug, Clone, PartialEq)]
enum Entries {
    /// Slots with the unit in the upper half and its entry in the lower one. Their number is a power of two.
    Sparse {
        slots: LargeTable<u64>,
        used: usize,
    },
    Dense(LargeTable<u32>),
}

impl Changes {
    /// Returns a record without changes, for so many units.
    pub(super) fn none(units: u32) -> Self {
        let mut none = Self { units, entries: Entries::Sparse { slots: LargeTable::filled(0, FREE), used: 0 } };
        none.grow();
        none
    }

    /// Returns a record in which all units have changed, to this entry.
    pub(super) fn all(units: u32, entry: u32) -> Self {
        Self { units, entries: Entries::Dense(LargeTable::filled(units as usize, entry)) }
    }

    /// Makes room for changes of all units. This saves time if most of them will change.
    pub(super) fn expect_all(&mut self) {
        if let Entries::Sparse { slots, .. } = &self.entries {
            let mut dense = LargeTable::filled(self.units as usize, UNCHANGED);
            for &slot in slots.iter().filter(|&&slot| slot != FREE) {
                dense[(slot >> 32) as usize] = slot as u32;
            }
            self.entries = Entries::Dense(dense);
        }
    }

    /// Returns the entry of a unit, or `None` if it has not changed.
    #[inline]
    pub(super) fn get(&self, unit: u32) -> Option<u32> {
        match &self.entries {
            Entries::Dense(entries) => Some(entries[unit as usize]).filter(|&entry| entry != UNCHANGED),
            Entries::Sparse { slots, .. } => {
                let slot = slots[find(slots, unit)];
                (slot != FREE).then_some(slot as u32)
            }
        }
    }

    /// Changes the entry of a unit.
    #[inline]
    pub(super) fn set(&mut self, unit: u32, entry: u32) {
        debug_assert!(entry != UNCHANGED && unit < self.units, "an entry is a place or a slot of the buffer");
        match &mut self.entries {
            Entries::Dense(entries) => entries[unit as usize] = entry,
            Entries::Sparse { slots, used } => {
                let at = find(slots, unit);
                let is_new = slots[at] == FREE;
                slots[at] = u64::from(unit) << 32 | u64::from(entry);
                *used += usize::from(is_new);
                if *used * 8 > slots.len() * 5 {
                    self.grow();
                }
            }
        }
    }

    /// Prefetches the entry of a unit.
    #[inline]
    pub(super) fn prefetch(&self, unit: u32) {
        match &self.entries {
            Entries::Dense(entries) => prefetch(entries, unit as usize),
            Entries::Sparse { slots, .. } => prefetch(slots, home(slots.len(), unit)),
        }
    }

    /// Returns the number of bytes that the entries occupy.
    pub(super) fn memory_bytes(&self) -> usize {
        match &self.entries {
            Entries::Dense(entries) => entries.len() * 4,
            Entries::Sparse { slots, .. } => slots.len() * 8,
        }
    }

    /// Doubles the hash table, or gives each unit an entry if that takes no more memory.
    #[cold]
    fn grow(&mut self) {
        let Entries::Sparse { slots, .. } = &mut self.entries else { return };
        let larger = (2 * slots.len()).max(SLOTS_MIN);
        if larger * 8 >= self.units as usize * 4 {
            return self.expect_all();
        }
        let mut moved = LargeTable::filled(larger, FREE);
        for &slot in slots.iter().filter(|&&slot| slot != FREE) {
            let at = find(&moved, (slot >> 32) as u32);
            moved[at] = slot;
        }
        *slots = moved;
    }
}

/// Returns the slot at which the search for a unit begins.
fn home(slots: usize, unit: u32) -> usize {
    let group_bits = slots.trailing_zeros() - GROUP_BITS;
    let group = (unit >> GROUP_BITS).wrapping_mul(0x9e37_79b1) >> (32 - group_bits);
    ((group << GROUP_BITS) | (unit % (1 << GROUP_BITS))) as usize
}

/// Returns the slot of a unit, or the free slot for it.
#[inline]
fn find(slots: &[u64], unit: u32) -> usize {
    let mut at = home(slots.len(), unit);
    // A table is never full, so that the search ends.
    while slots[at] != FREE && (slots[at] >> 32) as u32 != unit {
        at = (at + 1) & (slots.len() - 1);
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng;

    #[test]
    fn changes_are_those_of_a_table() {
        for (units, all) in [(1, 5), (100, 300), (5_000, 12_000), (300_000, 40_000)] {
            let (mut changes, mut table) = (Changes::none(units), vec![None; units as usize]);
            let mut random = rng::stream(1, "changes", 0);
            for index in 0..all {
                let unit = rng::below(&mut random, u64::from(units)) as u32;
                // Half of the changes come in runs.
                let unit = if index % 2 == 0 { unit } else { index / 2 % units };
                let entry = if index % 7 == 0 { u32::MAX } else { index };
                changes.set(unit, entry);
                table[unit as usize] = Some(entry);
                if index % 64 == 0 || index + 1 == all {
                    let probe = rng::below(&mut random, u64::from(units)) as u32;
                    assert_eq!(changes.get(probe), table[probe as usize]);
                }
            }
            let agree = |changes: &Changes| (0..units).all(|unit| changes.get(unit) == table[unit as usize]);
            assert!(agree(&changes), "{units} units");
            assert!(changes.memory_bytes() <= units as usize * 4);
            changes.expect_all();
            assert!(agree(&changes) && changes.memory_bytes() == units as usize * 4);
        }
    }

    #[test]
    fn few_changes_take_little_memory() {
        let mut changes = Changes::none(1 << 30);
        assert!(changes.memory_bytes() < 1000);
        (0..100_000).for_each(|index: u32| changes.set(index.wrapping_mul(0x9e37_79b1) >> 2, index));
        assert!(changes.memory_bytes() <= 26 * 100_000, "{}", changes.memory_bytes());
    }
}
