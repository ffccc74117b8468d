//! Owners of the units at the start (rule 221). They say which placement handle a unit has before the host writes it. Units of a handle are
//! numbered in order of address.
//!
//! A drive may have hundreds of millions of units, so nothing is stored for each of them. Ranges of data are few, and strips of parity
//! between them repeat.
//!
//! ```text
//!  units     0 1 2 3 4 5 6 7 8 9 …
//!  ranges    └─ handle 0 ─┘└─ handle 1 ─
//!  parity    · · · P · · · P · · …          with a handle of its own, or with that of the data around it
//! ```

use std::ops::Range;

/// Placement handles of the units of one drive at the start. A handle is a label of host writes, which go to superblocks of their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitOwners {
    units: u64,
    /// Ranges of data in order of address. The first one begins at unit 0.
    ranges: Vec<OwnedRange>,
    parity: Option<ParityUnits>,
    /// Number of units of each handle.
    counts: Vec<u64>,
}

/// Data of one placement handle, up to the next range.
#[derive(Debug, Clone, PartialEq, Eq)]
struct OwnedRange {
    first: u64,
    handle: u8,
    /// Number of units of each handle before the range.
    before: Vec<u64>,
}

/// Units of a drive that hold parity of the array, all with one placement handle. They repeat after a period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParityUnits {
    /// Placement handle of the parity.
    pub handle: u8,
    /// Number of units after which the places of parity repeat, at least 1.
    pub period: u64,
    /// Units of the first period that hold parity: ranges in order that do not touch.
    pub runs: Vec<Range<u64>>,
    /// Number of the first unit from which on no unit holds parity.
    pub until: u64,
}

impl ParityUnits {
    /// Returns the number of units with parity in a period.
    fn in_period(&self) -> u64 {
        self.runs.iter().map(|run| run.end - run.start).sum()
    }

    fn contains(&self, unit: u64) -> bool {
        let at = unit % self.period;
        unit < self.until && self.runs.iter().any(|run| run.contains(&at))
    }

    /// Returns the number of units with parity before `unit`.
    fn before(&self, unit: u64) -> u64 {
        let unit = unit.min(self.until);
        let at = unit % self.period;
        let in_part: u64 = self.runs.iter().map(|run| at.clamp(run.start, run.end) - run.start).sum();
        unit / self.period * self.in_period() + in_part
    }

    /// Returns the unit with this number among those with parity.
    fn nth(&self, number: u64) -> u64 {
        let (periods, mut left) = (number / self.in_period(), number % self.in_period());
        let run = self.runs.iter().find(|run| {
            let is_here = left < run.end - run.start;
            left -= if is_here { 0 } else { run.end - run.start };
            is_here
        });
        periods * self.period + run.expect("the number is less than those of a period").start + left
    }

    /// Returns the unit with this number among those without parity.
    fn nth_other(&self, number: u64) -> u64 {
        let parity_units = self.before(self.until);
        if number >= self.until - parity_units {
            return number + parity_units;
        }
        let others = self.period - self.in_period();
        let at = self.runs.iter().fold(number % others, |at, run| if at < run.start { at } else { at + run.end - run.start });
        number / others * self.period + at
    }
}

impl UnitOwners {
    /// Returns the owners of `units` units of a drive with `handles` handles. `ranges` has the first unit and the handle of each range of
    /// data, in order of address; the first one begins at unit 0. Units of `parity` belong to the handle of the parity instead.
    pub fn new(units: u64, handles: u32, ranges: &[(u64, u8)], parity: Option<ParityUnits>) -> Self {
        assert!(ranges.first().is_some_and(|&(first, _)| first == 0), "the first range begins at the first unit");
        let mut owners = Self { units, ranges: Vec::with_capacity(ranges.len()), parity, counts: vec![0; handles as usize] };
        for (at, &(first, handle)) in ranges.iter().enumerate() {
            let end = ranges.get(at + 1).map_or(units, |&(next, _)| next);
            owners.ranges.push(OwnedRange { first, handle, before: owners.counts.clone() });
            for of in 0..handles as u8 {
                owners.counts[usize::from(of)] += owners.count(handle, of, first..end);
            }
        }
        owners
    }

    /// Returns the number of units of the handle `of` in a range whose data have the handle `data`.
    fn count(&self, data: u8, of: u8, units: Range<u64>) -> u64 {
        let Some(parity) = &self.parity else { return if of == data { units.end - units.start } else { 0 } };
        let with_parity = parity.before(units.end) - parity.before(units.start);
        let of_data = if of == data { units.end - units.start - with_parity } else { 0 };
        of_data + if of == parity.handle { with_parity } else { 0 }
    }

    /// Returns the number of handles of the drive.
    pub(super) fn handles(&self) -> u8 {
        self.counts.len() as u8
    }

    /// Returns the number of units of a handle.
    pub(super) fn units_of(&self, handle: u8) -> u64 {
        self.counts[usize::from(handle)]
    }

    fn range_of(&self, unit: u64) -> &OwnedRange {
        &self.ranges[self.ranges.partition_point(|range| range.first <= unit) - 1]
    }

    /// Returns the handle of a unit.
    pub(super) fn handle_of(&self, unit: u64) -> u8 {
        let parity = self.parity.as_ref().filter(|parity| parity.contains(unit));
        parity.map_or_else(|| self.range_of(unit).handle, |parity| parity.handle)
    }

    /// Returns the handle of a unit, and its number among the units of this handle in order of address.
    pub(super) fn number_of(&self, unit: u64) -> (u8, u64) {
        let (handle, range) = (self.handle_of(unit), self.range_of(unit));
        (handle, range.before[usize::from(handle)] + self.count(range.handle, handle, range.first..unit))
    }

    /// Returns the unit with this number among the units of a handle.
    pub(super) fn unit_of(&self, handle: u8, number: u64) -> u64 {
        let before = |range: &OwnedRange| range.before[usize::from(handle)];
        // Ranges without units of the handle have as many before them as the next one.
        let range = &self.ranges[self.ranges.partition_point(|range| before(range) <= number) - 1];
        let at = number - before(range);
        match &self.parity {
            None => range.first + at,
            Some(parity) if parity.handle != handle => parity.nth_other(range.first - parity.before(range.first) + at),
            Some(_) if range.handle == handle => range.first + at,
            Some(parity) => parity.nth(parity.before(range.first) + at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Owners of up to 300 units with up to four handles, and the handle of each unit.
    fn any_owners() -> impl Strategy<Value = (UnitOwners, Vec<u8>)> {
        let range = (0_u64..300, 0_u8..4);
        let parity = (0_u8..4, 1_u64..40, 0_u64..40, 1_u64..40, 0_u64..300);
        (1_u64..300, proptest::collection::vec(range, 0..6), proptest::option::of(parity)).prop_map(|(units, mut ranges, parity)| {
            ranges.push((0, ranges.len() as u8 % 4));
            ranges.retain(|&(first, _)| first < units);
            ranges.sort_unstable();
            ranges.dedup_by_key(|&mut (first, _)| first);
            let parity = parity.map(|(handle, period, start, length, until)| {
                let start = start % period;
                let run = start..(start + length).min(period);
                ParityUnits { handle, period, runs: Vec::from([run]), until: until.min(units) }
            });
            let handle_of = |unit: u64| match &parity {
                Some(parity) if unit < parity.until && parity.runs[0].contains(&(unit % parity.period)) => parity.handle,
                _ => ranges.iter().rfind(|range| range.0 <= unit).unwrap().1,
            };
            let by_unit = (0..units).map(handle_of).collect();
            (UnitOwners::new(units, 4, &ranges, parity), by_unit)
        })
    }

    proptest! {
        /// Units are numbered within their handles in order of address, and each number leads back to its unit.
        #[test]
        fn units_are_numbered_by_handle((owners, handles) in any_owners()) {
            let mut counts = [0; 4];
            for (unit, &handle) in (0..).zip(&handles) {
                let count = &mut counts[usize::from(handle)];
                prop_assert_eq!(owners.handle_of(unit), handle);
                prop_assert_eq!(owners.number_of(unit), (handle, *count));
                prop_assert_eq!(owners.unit_of(handle, *count), unit);
                *count += 1;
            }
            for handle in 0..4 {
                prop_assert_eq!(owners.units_of(handle), counts[usize::from(handle)]);
            }
        }
    }
}
