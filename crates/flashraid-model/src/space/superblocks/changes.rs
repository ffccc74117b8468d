//! Changes of a run to the map of a drive. Nothing is stored for the units that lie where they lay at the start.
//!
//! ```text
//!  sparse: a hash table of changed units, two numbers a slot, at most five eighths full
//!  dense:  an entry for every unit, from the moment on at which the hash table would be as large
//! ```

use crate::space::tables::{LargeTable, Number, Numbers, Width, prefetch, widened};

/// Entry of a unit that has not changed. No place and no slot of the write buffer has this number.
const UNCHANGED: u64 = u64::MAX - 1;
/// Number of slots of the smallest hash table.
const SLOTS_MIN: usize = 64;
/// Neighbouring units lie side by side in groups of eight, which are one or two lines of the processor's cache.
const GROUP_BITS: u32 = 3;

/// Map entries of the units that have changed since the start.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Changes {
    width: Width,
    units: u64,
    entries: Entries,
}

#[derive(Debug, Clone, PartialEq)]
enum Entries {
    Sparse(Hashed<u64>),
    WideSparse(Hashed<u128>),
    Dense(Numbers),
}

/// A hash table of units and their entries. The number of its slots is a power of two.
#[derive(Debug, Clone, PartialEq)]
struct Hashed<S: Slot> {
    slots: LargeTable<S>,
    used: usize,
}

/// A slot of the hash table, with the unit in the upper half and its entry in the lower one.
trait Slot: Number + Eq {
    /// Slot that is free. No unit has its number.
    const FREE: Self;
    fn new(unit: u64, entry: u64) -> Self;
    fn unit(self) -> u64;
    fn entry(self) -> u64;
}

impl Slot for u64 {
    const FREE: Self = Self::MAX;
    #[inline(always)]
    fn new(unit: u64, entry: u64) -> Self {
        unit << 32 | u64::from(entry as u32)
    }
    #[inline(always)]
    fn unit(self) -> u64 {
        self >> 32
    }
    #[inline(always)]
    fn entry(self) -> u64 {
        widened(self as u32)
    }
}

impl Slot for u128 {
    const FREE: Self = Self::MAX;
    #[inline(always)]
    fn new(unit: u64, entry: u64) -> Self {
        Self::from(unit) << 64 | Self::from(entry)
    }
    #[inline(always)]
    fn unit(self) -> u64 {
        (self >> 64) as u64
    }
    #[inline(always)]
    fn entry(self) -> u64 {
        self as u64
    }
}

impl Changes {
    /// Returns a record without changes, for so many units.
    pub(super) fn none(width: Width, units: u64) -> Self {
        let entries = match width {
            Width::Narrow => Entries::Sparse(Hashed::with_slots(SLOTS_MIN)),
            Width::Wide => Entries::WideSparse(Hashed::with_slots(SLOTS_MIN)),
        };
        let mut none = Self { width, units, entries };
        none.expect_all_if_smaller(SLOTS_MIN);
        none
    }

    /// Returns a record in which all units have changed, to this entry.
    pub(super) fn all(width: Width, units: u64, entry: u64) -> Self {
        Self { width, units, entries: Entries::Dense(Numbers::filled(width, units as usize, entry)) }
    }

    /// Makes room for changes of all units. This saves time if most of them will change.
    pub(super) fn expect_all(&mut self) {
        let dense = || Numbers::filled(self.width, self.units as usize, UNCHANGED);
        let dense = match &self.entries {
            Entries::Sparse(hashed) => hashed.moved_to(dense()),
            Entries::WideSparse(hashed) => hashed.moved_to(dense()),
            Entries::Dense(_) => return,
        };
        self.entries = Entries::Dense(dense);
    }

    /// Returns the entry of a unit, or `None` if it has not changed.
    #[inline(always)]
    pub(super) fn get(&self, unit: u64) -> Option<u64> {
        match &self.entries {
            Entries::Sparse(hashed) => hashed.get(unit),
            Entries::Dense(entries) => Some(entries.get(unit as usize)).filter(|&entry| entry != UNCHANGED),
            Entries::WideSparse(hashed) => get_wide(hashed, unit),
        }
    }

    /// Changes the entry of a unit.
    #[inline]
    pub(super) fn set(&mut self, unit: u64, entry: u64) {
        debug_assert!(entry != UNCHANGED && unit < self.units, "an entry is a place or a slot of the buffer");
        let is_full = match &mut self.entries {
            Entries::Dense(entries) => return entries.set(unit as usize, entry),
            Entries::Sparse(hashed) => hashed.set(unit, entry),
            Entries::WideSparse(hashed) => set_wide(hashed, unit, entry),
        };
        if is_full {
            self.grow();
        }
    }

    /// Prefetches the entry of a unit.
    #[inline]
    pub(super) fn prefetch(&self, unit: u64) {
        match &self.entries {
            Entries::Dense(entries) => entries.prefetch(unit as usize),
            Entries::Sparse(hashed) => prefetch(&hashed.slots, home(hashed.slots.len(), unit)),
            Entries::WideSparse(hashed) => prefetch(&hashed.slots, home(hashed.slots.len(), unit)),
        }
    }

    /// Returns the number of bytes that the entries occupy.
    pub(super) fn memory_bytes(&self) -> usize {
        match &self.entries {
            Entries::Dense(entries) => entries.memory_bytes(),
            Entries::Sparse(hashed) => size_of_val(&*hashed.slots),
            Entries::WideSparse(hashed) => size_of_val(&*hashed.slots),
        }
    }

    /// Doubles the hash table, or gives each unit an entry if that takes no more memory.
    #[cold]
    fn grow(&mut self) {
        let slots = match &self.entries {
            Entries::Sparse(hashed) => hashed.slots.len(),
            Entries::WideSparse(hashed) => hashed.slots.len(),
            Entries::Dense(_) => return,
        };
        if self.expect_all_if_smaller(2 * slots) {
            return;
        }
        match &mut self.entries {
            Entries::Sparse(hashed) => *hashed = hashed.doubled(),
            Entries::WideSparse(hashed) => *hashed = hashed.doubled(),
            Entries::Dense(_) => {}
        }
    }

    /// Gives each unit an entry if that takes no more memory than a hash table of so many slots, each of two entries. Returns true if it
    /// does.
    fn expect_all_if_smaller(&mut self, slots: usize) -> bool {
        let is_smaller = 2 * slots as u64 >= self.units;
        if is_smaller {
            self.expect_all();
        }
        is_smaller
    }
}

impl<S: Slot> Hashed<S> {
    fn with_slots(slots: usize) -> Self {
        Self { slots: LargeTable::filled(slots, S::FREE), used: 0 }
    }

    #[inline]
    fn get(&self, unit: u64) -> Option<u64> {
        let slot = self.slots[self.find(unit)];
        (slot != S::FREE).then_some(slot.entry())
    }

    /// Changes the entry of a unit. Returns true if the table is then too full.
    #[inline]
    fn set(&mut self, unit: u64, entry: u64) -> bool {
        let at = self.find(unit);
        let is_new = self.slots[at] == S::FREE;
        self.slots[at] = S::new(unit, entry);
        self.used += usize::from(is_new);
        self.used * 8 > self.slots.len() * 5
    }

    /// Returns the slot of a unit, or the free slot for it.
    #[inline]
    fn find(&self, unit: u64) -> usize {
        let slots = &*self.slots;
        let mut at = home(slots.len(), unit);
        // A table is never full, so that the search ends.
        while slots[at] != S::FREE && slots[at].unit() != unit {
            at = (at + 1) & (slots.len() - 1);
        }
        at
    }

    /// Returns a table of twice as many slots with the same entries.
    fn doubled(&self) -> Self {
        let mut larger = Self { used: self.used, ..Self::with_slots(2 * self.slots.len()) };
        for &slot in self.slots.iter().filter(|&&slot| slot != S::FREE) {
            let at = larger.find(slot.unit());
            larger.slots[at] = slot;
        }
        larger
    }

    /// Returns `entries` with those of this table.
    fn moved_to(&self, mut entries: Numbers) -> Numbers {
        for &slot in self.slots.iter().filter(|&&slot| slot != S::FREE) {
            entries.set(slot.unit() as usize, slot.entry());
        }
        entries
    }
}

/// Returns the entry of a unit of a large drive. It is a function of its own, so that the code for other drives stays small.
#[inline(never)]
fn get_wide(hashed: &Hashed<u128>, unit: u64) -> Option<u64> {
    hashed.get(unit)
}

/// Changes the entry of a unit of a large drive, as [`Hashed::set`] does.
#[inline(never)]
fn set_wide(hashed: &mut Hashed<u128>, unit: u64, entry: u64) -> bool {
    hashed.set(unit, entry)
}

/// Returns the slot at which the search for a unit begins.
#[inline]
fn home(slots: usize, unit: u64) -> usize {
    let group_bits = slots.trailing_zeros() - GROUP_BITS;
    let group = (unit >> GROUP_BITS).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - group_bits);
    ((group << GROUP_BITS) | (unit % (1 << GROUP_BITS))) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng;

    #[test]
    fn changes_are_those_of_a_table() {
        let sizes = [(1, 5), (100, 300), (5_000, 12_000), (300_000, 40_000)];
        for ((units, all), (width, bytes)) in sizes.into_iter().flat_map(|size| [(Width::Narrow, 4), (Width::Wide, 8)].map(|of| (size, of)))
        {
            let (mut changes, mut table) = (Changes::none(width, units), vec![None; units as usize]);
            let mut random = rng::stream(1, "changes", 0);
            for index in 0..all {
                let unit = rng::below(&mut random, units);
                // Half of the changes come in runs.
                let unit = if index % 2 == 0 { unit } else { index / 2 % units };
                let entry = if index % 7 == 0 { u64::MAX } else { index };
                changes.set(unit, entry);
                table[unit as usize] = Some(entry);
                if index % 64 == 0 || index + 1 == all {
                    let probe = rng::below(&mut random, units);
                    assert_eq!(changes.get(probe), table[probe as usize]);
                }
            }
            let agree = |changes: &Changes| (0..units).all(|unit| changes.get(unit) == table[unit as usize]);
            assert!(agree(&changes), "{units} units");
            assert!(changes.memory_bytes() <= units as usize * bytes);
            changes.expect_all();
            assert!(agree(&changes) && changes.memory_bytes() == units as usize * bytes);
        }
    }

    #[test]
    fn few_changes_take_little_memory() {
        for (width, units, bytes) in [(Width::Narrow, 1 << 30, 26), (Width::Wide, 1 << 40, 52)] {
            let mut changes = Changes::none(width, units);
            assert!(changes.memory_bytes() < 2000);
            (0..100_000_u64).for_each(|index| changes.set(index.wrapping_mul(0x9e37_79b9_7f4a_7c15) % units, index));
            assert!(changes.memory_bytes() <= bytes * 100_000, "{}", changes.memory_bytes());
        }
    }
}
