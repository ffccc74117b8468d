//! Superpages of the write buffer: units wait in them until they are full, and until they are programmed (rules 204 to 208).

use super::{Drive, DriveWake, Table};
use crate::events::TimeNs;
use crate::space::superblocks::{BUFFERED, NONE, PlacementHandles, Stream};
use crate::ssd::front::{Entering, units_of};
use crate::ssd::job::{Reader, Stage};
use crate::ssd::{Outbox, Programmed};
use std::collections::VecDeque;

/// A superpage in the buffer.
#[derive(Debug, Clone, Default)]
pub(super) struct Superpage {
    pub stream: Stream,
    /// It holds no units, but parity of the others of its row.
    pub is_parity: bool,
    pub stage: Stage,
    /// Its number among all.
    pub number: u64,
    /// Logical units.
    pub units: Vec<u32>,
    /// Of collection: where each came from.
    pub sources: Vec<u32>,
    /// Units whose rest is still to be read from flash.
    pub missing: u32,
    /// Where it goes, once it has a die.
    pub first: u32,
}

/// Superpages in the write buffer, and those of collection on their way.
#[derive(Debug, Clone, Default)]
pub(super) struct Buffer {
    pub superpages: Table<Superpage>,
    /// By placement handle: the superpage that takes units of the host.
    filling: Vec<Option<u32>>,
    /// The superpage that takes units of collection; by placement handle if what is moved stays with it.
    filling_moved: Vec<Option<u32>>,
    /// Full superpages of the host that no die has, in order.
    to_place: VecDeque<u32>,
    /// The same of collection.
    moved_to_place: VecDeque<u32>,
    /// Superpages with one bit per cell that have no place yet.
    slc_promised: u32,
    /// Since when the first superpage of `to_place` has waited for a superblock.
    foreground_since: Option<TimeNs>,
    /// The first superpage of `to_place` has waited because moves were owed.
    waits_for_debt: bool,
}

impl Buffer {
    pub fn new(placement: PlacementHandles) -> Self {
        Self {
            filling: vec![None; placement.handles as usize],
            filling_moved: vec![None; placement.collections() as usize],
            ..Self::default()
        }
    }

    /// The handle whose units the superpage with that number takes, if it does.
    fn filled_by(&self, number: u64) -> Option<u8> {
        let takes = |id: &Option<u32>| id.is_some_and(|id| self.superpages[id].number == number);
        self.filling.iter().position(takes).map(|handle| handle as u8)
    }

    /// The map entry of a unit in a superpage.
    fn slot(superpage: u32, at: usize, per_superpage: u32) -> u32 {
        BUFFERED | (superpage * per_superpage + at as u32)
    }
}

impl Drive {
    /// The data of a write command have crossed the link.
    pub(super) fn data_crossed(&mut self, now: TimeNs, id: u32, out: &mut Outbox) {
        self.front.data_crossed(now, id, &self.worked);
        self.bring_in(now, out);
    }

    /// Units enter the buffer, command by command, as far as there is room (rule 204).
    pub(super) fn bring_in(&mut self, now: TimeNs, out: &mut Outbox) {
        while let Some(Entering { unit, pages, handle, .. }) = self.front.next_unit() {
            if !self.enter(now, unit, handle, pages < self.params.unit_pages, out) {
                return self.front.finds_no_room(now);
            }
            if let Some(id) = self.front.unit_is_in(now, pages) {
                self.write_is_in(now, id, out);
            }
        }
    }

    /// A write is in the buffer; one that is to survive a loss of power closes the superpages that hold its units (rule 208).
    fn write_is_in(&mut self, now: TimeNs, id: u32, out: &mut Outbox) {
        let mut closes: Vec<u8> = Vec::new();
        let Self { front, buffer, media, shape, params, worked, .. } = self;
        let units: Vec<u32> = if front.commands[id].fua {
            units_of(&front.commands[id].ops, params.unit_pages).map(|(unit, _)| media.map[unit as usize]).collect()
        } else {
            Vec::new()
        };
        let holding = || {
            // What is in the buffer no more has been programmed, or trimmed, in the meantime.
            let places = units.iter().filter(|&&place| place != NONE && place & BUFFERED != 0);
            let superpages = places.map(|place| (place & !BUFFERED) / shape.superpage_units());
            let mut numbers: Vec<u64> = superpages.map(|superpage| buffer.superpages[superpage].number).collect();
            numbers.dedup();
            // They lie in the superpages of several handles if they replace units of others.
            closes.extend(numbers.iter().filter_map(|&number| buffer.filled_by(number)));
            numbers
        };
        if front.write_is_in(now, id, worked, holding, out) {
            closes.sort_unstable();
            closes.dedup();
            closes.into_iter().for_each(|handle| self.close_filling(now, handle, out));
        }
    }

    /// A unit enters, if there is room or it replaces one.
    fn enter(&mut self, now: TimeNs, unit: u32, handle: u8, is_partial: bool, out: &mut Outbox) -> bool {
        let per_superpage = self.shape.superpage_units();
        let place = self.media.map[unit as usize];
        let is_buffered = place != NONE && place & BUFFERED != 0;
        if is_buffered && self.buffer.superpages[(place & !BUFFERED) / per_superpage].stage != Stage::Programming {
            self.front.counters.overwritten += 1;
            return true;
        }
        if !self.front.buffer.take_room() {
            return false;
        }
        let on_flash = place & BUFFERED == 0;
        if on_flash {
            self.media.invalidate(place);
        }
        let id = match self.buffer.filling[usize::from(handle)] {
            Some(id) => id,
            None => self.open_superpage(now, handle, out),
        };
        let superpage = &mut self.buffer.superpages[id];
        self.media.map[unit as usize] = Buffer::slot(id, superpage.units.len(), per_superpage);
        superpage.units.push(unit);
        let is_full = superpage.units.len() == self.media.superpage_units(superpage.stream) as usize;
        let reads = is_partial && on_flash && !self.merging.holds(place);
        superpage.missing += u32::from(reads);
        if is_full {
            self.close_filling(now, handle, out);
        }
        if reads {
            self.drive_counters.rmw_reads += 1;
            self.enqueue_read(now, place, Reader::Rest(id), out);
            self.look_at_touched(now, out);
        }
        true
    }

    fn begin_superpage(&mut self, stream: Stream) -> u32 {
        let id = self.buffer.superpages.take();
        let superpage = &mut self.buffer.superpages[id];
        superpage.units.clear();
        superpage.sources.clear();
        (superpage.stream, superpage.is_parity, superpage.stage, superpage.missing) = (stream, false, Stage::Filling, 0);
        superpage.number = self.front.buffer.next_number();
        id
    }

    fn open_superpage(&mut self, now: TimeNs, handle: u8, out: &mut Outbox) -> u32 {
        let stream = self.media.stream_of_host(handle, self.buffer.slc_promised);
        self.buffer.slc_promised += u32::from(stream == Stream::Slc);
        let id = self.begin_superpage(stream);
        let number = self.buffer.superpages[id].number;
        self.buffer.filling[usize::from(handle)] = Some(id);
        self.front.buffer.begin_batch(number);
        if let Some(linger_ns) = self.front.buffer.linger_ns() {
            out.wake(now + linger_ns, DriveWake::Linger(number as u32));
        }
        id
    }

    pub(super) fn lingered(&mut self, now: TimeNs, number: u32, out: &mut Outbox) {
        let takes = |id: &Option<u32>| id.is_some_and(|id| self.buffer.superpages[id].number as u32 == number);
        if let Some(handle) = self.buffer.filling.iter().position(takes) {
            self.close_filling(now, handle as u8, out);
        }
    }

    /// The superpage that takes units of the host with that handle takes no more.
    fn close_filling(&mut self, now: TimeNs, handle: u8, out: &mut Outbox) {
        let Some(id) = self.buffer.filling[usize::from(handle)].take() else { return };
        self.buffer.superpages[id].stage = Stage::Closed;
        if self.buffer.superpages[id].missing == 0 {
            self.buffer.to_place.push_back(id);
            self.place_superpages(now, out);
        }
    }

    /// The rest of a unit has been read.
    pub(super) fn rest_is_there(&mut self, now: TimeNs, id: u32, out: &mut Outbox) {
        let superpage = &mut self.buffer.superpages[id];
        superpage.missing -= 1;
        if superpage.missing == 0 && superpage.stage == Stage::Closed {
            self.buffer.to_place.push_back(id);
            self.place_superpages(now, out);
        }
    }

    /// Superpages of the host go to dies, in order, as far as collection lets them (rules 205 and 209).
    pub(super) fn place_superpages(&mut self, now: TimeNs, out: &mut Outbox) {
        while let Some(&id) = self.buffer.to_place.front() {
            if self.instantaneous {
                self.collect_at_once(now, out);
            }
            if self.collection.paced.is_at_floor(self.media.free()) {
                if self.buffer.foreground_since.is_none() {
                    self.buffer.foreground_since = Some(now);
                    self.drive_counters.foreground += 1;
                    self.note_pace(now, out);
                }
                self.begin_parts(now, out);
                return;
            }
            if let Some(since) = self.buffer.foreground_since.take() {
                self.drive_counters.foreground_ns += now - since;
                self.note_pace(now, out);
            }
            if self.owes_too_much() {
                self.begin_parts(now, out);
            }
            if self.owes_too_much() {
                if !std::mem::replace(&mut self.buffer.waits_for_debt, true) {
                    self.drive_counters.debt_waits += 1;
                }
                return;
            }
            let Some(die) = self.earliest_die(now, self.buffer.superpages[id].stream) else { return };
            self.buffer.waits_for_debt = false;
            self.buffer.to_place.pop_front();
            self.give_to_die(now, id, die, out);
            self.earn(id);
            self.dispatch(now, die, out);
            self.begin_parts(now, out);
        }
    }

    fn owes_too_much(&self) -> bool {
        self.collection.paced.is_too_much(self.collection.owed_units(&self.shape))
    }

    /// The superpage has its place.
    fn give_to_die(&mut self, now: TimeNs, id: u32, die: u32, out: &mut Outbox) {
        let free = self.media.free();
        let stream = self.buffer.superpages[id].stream;
        self.buffer.slc_promised -= u32::from(stream == Stream::Slc);
        self.buffer.superpages[id].first = self.media.take_place(stream, die);
        self.await_program(id, die);
        if self.media.free() < free {
            self.superblock_opened(now, out);
        }
    }

    /// A superpage joins the queue of its class.
    fn await_program(&mut self, id: u32, die: u32) {
        let state = &mut self.dies[die as usize];
        let queue = if self.buffer.superpages[id].stream.is_host() { &mut state.programs } else { &mut state.moved_programs };
        queue.push_back(id);
        let (transfer_ns, program_ns) = self.program_times(id);
        self.dies[die as usize].waiting_ns += transfer_ns + program_ns;
    }

    /// Times of the transfer and of the program of a superpage.
    pub(super) fn program_times(&self, id: u32) -> (u64, u64) {
        let stream = self.buffer.superpages[id].stream;
        let transfer_ns = u64::from(self.media.superpage_units(stream)) * self.params.unit_transfer_ns;
        let slc = self.params.slc.filter(|_| stream == Stream::Slc);
        (transfer_ns, slc.map_or(self.program_ns, |slc| slc.program_ns))
    }

    /// The program of a superpage has begun: if it is the last of its row with data, the parity of that goes to its die (rule 218).
    pub(super) fn parity_follows(&mut self, now: TimeNs, id: u32, out: &mut Outbox) {
        let Superpage { stream, is_parity, first, .. } = self.buffer.superpages[id];
        if is_parity {
            return;
        }
        let Some(place) = self.media.row_is_full(first) else { return };
        let id = self.begin_superpage(stream);
        let parity = &mut self.buffer.superpages[id];
        (parity.is_parity, parity.stage, parity.first) = (true, Stage::Closed, place);
        let die = self.shape.place(place).die;
        self.await_program(id, die);
        self.dispatch(now, die, out);
    }

    /// The program of parity has ended.
    fn parity_programmed(&mut self, now: TimeNs, id: u32, out: &mut Outbox) {
        let stream = self.buffer.superpages[id].stream;
        let units = u64::from(self.media.superpage_units(stream));
        self.drive_counters.units_parity += units;
        self.drive_counters.by_handle.programmed(stream, units);
        out.programmed.push(Programmed { at: now, member: self.member, units, pages_moved: 0 });
        let is_sealed = self.media.superpage_programmed(self.buffer.superpages[id].first);
        self.buffer.superpages.give_back(id);
        if is_sealed {
            self.superblock_sealed(now, out);
        }
    }

    /// What found nothing useful to collect may find it now: more superblocks than two may have waited for their last programs.
    fn superblock_sealed(&mut self, now: TimeNs, out: &mut Outbox) {
        self.begin_parts(now, out);
        self.place_superpages(now, out);
    }

    /// The die with the earliest estimated start of those that have room, of equal ones the one with most rows left, so that dies that have
    /// fallen behind catch up; channels in turn (rule 205).
    fn earliest_die(&mut self, now: TimeNs, stream: Stream) -> Option<u32> {
        let all = self.die_order.len();
        let from = self.next_die as usize;
        let positions = (from..all).chain(0..from);
        let with_room = positions.filter(|&at| self.media.has_room(stream, self.die_order[at]));
        let at = with_room.min_by_key(|&at| {
            let number = self.die_order[at];
            let die = &self.dies[number as usize];
            (now.max(die.current_work_ends) + die.waiting_ns, std::cmp::Reverse(self.media.rows_left(stream, number)))
        })?;
        self.next_die = if at + 1 == all { 0 } else { at as u32 + 1 };
        Some(self.die_order[at])
    }

    /// A unit that collection has read, if it is still valid.
    pub(super) fn put_moved(&mut self, now: TimeNs, source: u32, out: &mut Outbox) {
        let stream = self.media.collection_of(self.media.superblock_of(source));
        let id = match self.buffer.filling_moved[usize::from(stream.handle())] {
            Some(id) => id,
            None => {
                let id = self.begin_superpage(stream);
                self.buffer.filling_moved[usize::from(stream.handle())] = Some(id);
                id
            }
        };
        let unit = self.media.unit_at(source);
        let superpage = &mut self.buffer.superpages[id];
        superpage.units.push(unit);
        superpage.sources.push(source);
        if superpage.units.len() == self.shape.superpage_units() as usize {
            self.close_moved(now, stream.handle(), out);
        }
    }

    /// The superpage that takes units of collection takes no more: of a handle, or of all as 0.
    pub(super) fn close_moved(&mut self, now: TimeNs, handle: u8, out: &mut Outbox) {
        let Some(id) = self.buffer.filling_moved[usize::from(handle)].take() else { return };
        self.buffer.superpages[id].stage = Stage::Closed;
        self.buffer.moved_to_place.push_back(id);
        self.place_moved(now, out);
    }

    /// Superpages of collection go to dies, in order; those whose stream has no place let others pass.
    pub(super) fn place_moved(&mut self, now: TimeNs, out: &mut Outbox) {
        let mut at = 0;
        while let Some(&id) = self.buffer.moved_to_place.get(at) {
            let Some(die) = self.earliest_die(now, self.buffer.superpages[id].stream) else {
                at += 1;
                continue;
            };
            self.buffer.moved_to_place.remove(at);
            self.give_to_die(now, id, die, out);
            self.dispatch(now, die, out);
        }
    }

    /// The program of a superpage has ended: its units are at their places now, unless they were replaced (rules 206 and 210).
    pub(super) fn programmed(&mut self, now: TimeNs, id: u32, out: &mut Outbox) {
        if self.buffer.superpages[id].is_parity {
            return self.parity_programmed(now, id, out);
        }
        let per_superpage = self.shape.superpage_units();
        let Superpage { stream, number, units, sources, first, .. } = std::mem::take(&mut self.buffer.superpages[id]);
        let of_host = stream.is_host();
        let all = self.media.superpage_units(stream);
        self.drive_counters.units_padded += u64::from(all - units.len() as u32);
        self.drive_counters.by_handle.programmed(stream, u64::from(all));
        let pages_moved = if of_host { 0 } else { units.len() as u64 * u64::from(self.params.unit_pages) };
        out.programmed.push(Programmed { at: now, member: self.member, units: u64::from(all), pages_moved });
        if of_host {
            self.drive_counters.units_programmed += units.len() as u64;
            self.drive_counters.units_slc += if stream == Stream::Slc { units.len() as u64 } else { 0 };
            for (at, &unit) in units.iter().enumerate() {
                if self.media.map[unit as usize] == Buffer::slot(id, at, per_superpage) {
                    self.media.settle(unit, first + at as u32);
                }
            }
            self.front.buffer.free_room(units.len() as u32);
        } else {
            self.drive_counters.units_moved += units.len() as u64;
            self.drive_counters.units_folded += sources.iter().filter(|&&source| self.media.is_slc(source)).count() as u64;
            self.counters.gc_pages_moved += pages_moved;
            for (at, (&unit, &source)) in units.iter().zip(&sources).enumerate() {
                if self.media.map[unit as usize] == source {
                    self.media.invalidate(source);
                    self.media.settle(unit, first + at as u32);
                }
            }
        }
        let is_sealed = self.media.superpage_programmed(first);
        let moved = if of_host { Vec::new() } else { sources };
        self.buffer.superpages[id].units = units;
        self.buffer.superpages.give_back(id);
        if of_host {
            self.front.batch_ends(now, number, out);
            self.bring_in(now, out);
            if is_sealed {
                self.superblock_sealed(now, out);
            }
        } else {
            self.moves_programmed(now, &moved, out);
        }
    }

    /// A flush that has something to wait for closes the superpages of the host (rule 208).
    pub(super) fn flush_command(&mut self, now: TimeNs, id: u32, out: &mut Outbox) {
        if self.front.flush_begins(now, id, out) {
            (0..self.shape.placement.handles).for_each(|handle| self.close_filling(now, handle as u8, out));
        }
    }
}
