//! Allocation of superpages: the streams of writes, their open superblocks, and the next superpage on a die.

use super::{Open, State, Stream, SuperblockMapping, SuperblockShape};
use std::collections::BTreeMap;

impl SuperblockMapping {
    /// Returns the index of a stream in `open`.
    pub(crate) fn number_of(&self, stream: Stream) -> usize {
        match stream {
            Stream::Host(handle) => usize::from(handle),
            Stream::Collection(handle) => self.shape.placement_handles.count as usize + usize::from(handle),
            Stream::Slc => self.shape.placement_handles.host_and_collection_streams() as usize,
        }
    }

    /// Returns the number of units in a superpage of the stream.
    pub(crate) fn superpage_units(&self, stream: Stream) -> u32 {
        if stream == Stream::Slc { self.shape.slc_superpage_units() } else { self.shape.mapping_units_per_superpage() }
    }

    /// Returns the stream for the host's next superpage with this placement handle (rule 222). `promised` is the number of superpages with
    /// one bit per cell that were decided on but have no place yet.
    pub(crate) fn stream_of_host(&self, handle: u8, promised: u32) -> Stream {
        let Some(room) = self.shape.slc_superblock_limit else { return Stream::Host(handle) };
        let left: u32 = self.open[self.number_of(Stream::Slc)].iter().map(|open| open.superpages_left).sum();
        let more = room.slc_superblocks_max(self.free(), self.slc_in_use, self.target_free_superblocks).saturating_sub(self.slc_in_use);
        let has_room = u64::from(promised) < u64::from(left) + u64::from(more) * u64::from(self.shape.data_superpages());
        if has_room { Stream::Slc } else { Stream::Host(handle) }
    }

    /// Returns true if the next superpage of the stream may be written to that die.
    pub(crate) fn has_room(&self, stream: Stream, die: u32) -> bool {
        let open = &self.open[self.number_of(stream)];
        let rows = self.shape.superpages_of_superblock_per_die;
        let has_row = |&block: &u32| self.shape.data_row(block, die, 0) < rows;
        (open.len() < 2 && self.free.front().is_some_and(has_row)) || open.iter().any(|open| open.next_row[die as usize] < rows)
    }

    /// Returns the number of rows that the stream can still write on the die, in its open superblocks.
    pub(crate) fn rows_left(&self, stream: Stream, die: u32) -> u32 {
        self.open[self.number_of(stream)].iter().map(|open| self.shape.data_rows(open.block, die, open.next_row[die as usize])).sum()
    }

    /// Allocates a superpage of the stream on that die, which must have room, and returns its place.
    pub(crate) fn take_place(&mut self, stream: Stream, die: u32) -> u64 {
        let SuperblockShape { dies, superpages_of_superblock_per_die: rows, .. } = self.shape;
        let handle = self.handle_of_superblocks(stream);
        let number = self.number_of(stream);
        let list = &mut self.open[number];
        let at = list.iter().position(|open| open.next_row[die as usize] < rows).unwrap_or_else(|| {
            let block = self.free.pop_front().expect("the die has room");
            let superblock = &mut self.superblocks[block as usize];
            assert!(superblock.state == State::Free && superblock.valid == 0, "what is opened was erased");
            self.sequence += 1;
            (superblock.state, superblock.handle, superblock.is_slc) = (State::Open, handle, stream == Stream::Slc);
            superblock.sequence = self.sequence;
            self.slc_in_use += u32::from(superblock.is_slc);
            list.push(Open::new(&self.shape, block));
            list.len() - 1
        });
        let open = &mut list[at];
        let row = open.next_row[die as usize];
        assert!(row < rows && open.superpages_left > 0, "the die has a row left");
        open.next_row[die as usize] = self.shape.data_row(open.block, die, row + 1);
        open.superpages_left -= 1;
        let first = self.shape.first_place_of_superpage((open.block * rows + row) * dies + die);
        let block = open.block;
        if open.superpages_left == 0 {
            list.remove(at);
        }
        self.make_room_for_units(block);
        first
    }
}

/// Returns the number of full rows with parity of a superblock, given the next row of each die. Enters the rows that have only begun into
/// `rows_begun`.
pub(super) fn parity_written(shape: &SuperblockShape, block: u32, next_row: &[u32], rows_begun: &mut BTreeMap<u32, u32>) -> u32 {
    let rows = shape.superpages_of_superblock_per_die;
    let mut full = 0;
    for row in block * rows..(block + 1) * rows {
        let Some(parity) = shape.parity_die(row) else { break };
        let has_begun = |&(die, &next): &(u32, &u32)| die != parity && next > row % rows;
        match (0..).zip(next_row).filter(has_begun).count() as u32 {
            0 => {}
            all if all + 1 == shape.dies => full += 1,
            begun => drop(rows_begun.insert(row, begun)),
        }
    }
    full
}
