//! Superpages of a write buffer. Units wait in them until they are full, and until they are programmed (rules 204 to 208).
//!
//! Superpages of collection use the same tables, but their units take no room of the buffer.

use crate::events::TimeNs;
use crate::space::superblocks::{BUFFERED, NONE, PlacementHandles, Stream};
use crate::ssd::job::Table;
use std::collections::VecDeque;

/// Stages of a superpage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum SuperpageStage {
    /// The superpage still accepts data: units of the mapping (one page or several, `ssd.superblock.unit`).
    #[default]
    Filling,
    /// The superpage accepts no more data, and no die has begun to program it. If the host wrote only a part of one of its units, the
    /// rest of this unit is first read from flash.
    ///
    /// A superpage with host data then waits while too few superblocks are free, or while too many moves of collection are overdue
    /// (rule 209). At last, the superpage waits for a free place on a die, and in the queue of this die.
    Closed,
    /// The die has begun to program the superpage, so that newer data can no longer replace older data in it.
    Programming,
}

/// A superpage on its way to flash.
#[derive(Debug, Clone, Default)]
pub(crate) struct Superpage {
    /// Stream (such as host or collection) in whose superblocks the superpage will lie.
    pub(crate) stream: Stream,
    /// True if it holds parity of the other superpages of its row instead of units.
    pub(crate) is_parity: bool,
    /// Stage of the superpage.
    pub(crate) stage: SuperpageStage,
    /// Sequence number of the superpage.
    pub(crate) number: u64,
    /// Numbers of the logical units in the superpage. A unit is what the mapping places: one page or several.
    pub(crate) units: Vec<u64>,
    /// Old places of the units, if collection moves them.
    pub(crate) sources: Vec<u64>,
    /// Number of units that wait until the rest of their data has been read from flash.
    pub(crate) missing: u32,
    /// First place on flash; it is set when the superpage is assigned to a die.
    pub(crate) first: u64,
}

/// Superpages in the write buffer, and those of moved units.
#[derive(Debug, Clone, Default)]
pub(crate) struct Superpages {
    table: Table<Superpage>,
    units_max: u32,
    /// Open superpage of the host for each placement handle.
    filling: Vec<Option<u32>>,
    /// Open superpage of moved units for each placement handle. If collection mixes handles, there is only one.
    filling_moved: Vec<Option<u32>>,
    /// Full superpages of the host that no die has been assigned to, in order.
    pub(crate) to_place: VecDeque<u32>,
    /// Full superpages of moved units that no die has been assigned to, in order.
    pub(crate) moved_to_place: VecDeque<u32>,
    /// Number of superpages with one bit per cell that have no place yet.
    slc_promised: u32,
    /// Time since which the first superpage of `to_place` has waited for a superblock.
    pub(crate) foreground_since: Option<TimeNs>,
    /// True if the first superpage of `to_place` has waited because collection was behind with its moves.
    pub(crate) waits_for_debt: bool,
}

impl Superpages {
    /// Returns the state without superpages. A superpage holds at most `units_max` units.
    pub(crate) fn new(placement: PlacementHandles, units_max: u32) -> Self {
        Self {
            units_max,
            filling: vec![None; placement.count as usize],
            filling_moved: vec![None; placement.collection_streams() as usize],
            ..Self::default()
        }
    }

    /// Returns the map entry for a unit in a superpage, given its index there.
    pub(crate) fn slot(&self, id: u32, at: usize) -> u64 {
        BUFFERED + u64::from(id * self.units_max + at as u32)
    }

    /// Returns the superpage that a map entry refers to, if it refers to one.
    pub(crate) fn superpage_at(&self, place: u64) -> Option<&Superpage> {
        let is_buffered = place != NONE && place >= BUFFERED;
        is_buffered.then(|| &self.table[(place - BUFFERED) as u32 / self.units_max])
    }

    /// Begins an empty superpage with this sequence number, and returns its index.
    pub(crate) fn begin(&mut self, stream: Stream, number: u64) -> u32 {
        let id = self.table.take();
        let superpage = &mut self.table[id];
        superpage.units.clear();
        superpage.sources.clear();
        (superpage.stream, superpage.is_parity, superpage.stage, superpage.missing) = (stream, false, SuperpageStage::Filling, 0);
        superpage.number = number;
        id
    }

    /// Makes the number and memory of a superpage available to later ones.
    pub(crate) fn recycle(&mut self, id: u32, units: Vec<u64>) {
        self.table[id].units = units;
        self.table.recycle(id);
    }

    /// Returns the number of superpages with one bit per cell that have no place yet.
    pub(crate) fn slc_promised(&self) -> u32 {
        self.slc_promised
    }

    /// Returns the host's open superpage for that placement handle, if there is one.
    pub(crate) fn filling(&self, handle: u8) -> Option<u32> {
        self.filling[usize::from(handle)]
    }

    /// Begins an open superpage of the host for that placement handle.
    pub(crate) fn open(&mut self, handle: u8, stream: Stream, number: u64) -> u32 {
        self.slc_promised += u32::from(stream == Stream::Slc);
        let id = self.begin(stream, number);
        self.filling[usize::from(handle)] = Some(id);
        id
    }

    /// Returns the placement handle of the open superpage with that sequence number. Only the given `bits` of the number are compared.
    pub(crate) fn filled_by(&self, number: u64, bits: u64) -> Option<u8> {
        let takes = |id: &Option<u32>| id.is_some_and(|id| (self.table[id].number ^ number) & bits == 0);
        self.filling.iter().position(takes).map(|handle| handle as u8)
    }

    /// Closes the host's open superpage for that placement handle. Returns true if the superpage may be sent to a die.
    pub(crate) fn close(&mut self, handle: u8) -> bool {
        let Some(id) = self.filling[usize::from(handle)].take() else { return false };
        self.table[id].stage = SuperpageStage::Closed;
        self.may_go_to_die(id)
    }

    /// Records that the rest of a unit has been read from flash. Returns true if its superpage may now be sent to a die.
    pub(crate) fn rest_of_unit_read(&mut self, id: u32) -> bool {
        self.table[id].missing -= 1;
        self.table[id].stage == SuperpageStage::Closed && self.may_go_to_die(id)
    }

    fn may_go_to_die(&mut self, id: u32) -> bool {
        let is_whole = self.table[id].missing == 0;
        if is_whole {
            self.to_place.push_back(id);
        }
        is_whole
    }

    /// Returns the open superpage of moved units for that placement handle, if there is one.
    pub(crate) fn filling_moved(&self, handle: u8) -> Option<u32> {
        self.filling_moved[usize::from(handle)]
    }

    /// Begins an open superpage of moved units.
    pub(crate) fn open_moved(&mut self, stream: Stream, number: u64) -> u32 {
        let id = self.begin(stream, number);
        self.filling_moved[usize::from(stream.handle())] = Some(id);
        id
    }

    /// Closes the open superpage of moved units for that placement handle. Returns true if there was one.
    pub(crate) fn close_moved(&mut self, handle: u8) -> bool {
        let Some(id) = self.filling_moved[usize::from(handle)].take() else { return false };
        self.table[id].stage = SuperpageStage::Closed;
        self.moved_to_place.push_back(id);
        true
    }

    /// Sets the place on flash of a superpage.
    pub(crate) fn has_place(&mut self, id: u32, first: u64) {
        self.table[id].first = first;
        self.slc_promised -= u32::from(self.table[id].stream == Stream::Slc);
    }
}

impl std::ops::Index<u32> for Superpages {
    type Output = Superpage;
    #[inline]
    fn index(&self, id: u32) -> &Superpage {
        &self.table[id]
    }
}

impl std::ops::IndexMut<u32> for Superpages {
    #[inline]
    fn index_mut(&mut self, id: u32) -> &mut Superpage {
        &mut self.table[id]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_superpage_goes_to_a_die_when_it_is_closed_and_whole() {
        let mut superpages = Superpages::new(PlacementHandles::SINGLE_HANDLE, 4);
        let id = superpages.open(0, Stream::Host(0), 7);
        assert_eq!(
            (superpages.filling(0), superpages.filled_by(7, u64::MAX), superpages.filled_by(6, u64::MAX)),
            (Some(id), Some(0), None)
        );
        superpages[id].units.push(100);
        superpages[id].missing = 1;
        let place = superpages.slot(id, 0);
        assert_eq!(superpages.superpage_at(place).map(|superpage| superpage.number), Some(7));
        assert!(superpages.superpage_at(NONE).is_none() && superpages.superpage_at(3).is_none());
        assert!(!superpages.close(0), "a part of a unit is still to be read");
        assert!(superpages.rest_of_unit_read(id) && superpages.to_place == [id]);
        assert!(!superpages.close(0), "it is closed once");
    }

    #[test]
    fn promises_of_one_bit_per_cell_are_kept_once() {
        let mut superpages = Superpages::new(PlacementHandles::SINGLE_HANDLE, 4);
        let id = superpages.open(0, Stream::Slc, 0);
        assert_eq!(superpages.slc_promised(), 1);
        superpages.has_place(id, 12);
        assert_eq!((superpages.slc_promised(), superpages[id].first), (0, 12));
    }
}
