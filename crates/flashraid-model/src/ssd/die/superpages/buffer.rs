//! Superpages from the write buffer to the dies, and the effects of their programs (rules 204 to 208).

use super::SuperpageContext;
use crate::events::TimeNs;
use crate::space::superblocks::{NONE, Stream};
use crate::ssd::front::{Entering, Superpage, SuperpageStage, units_of};
use crate::ssd::job::{Reader, SuperpageWake};
use crate::ssd::outbox::MappingUnitsProgrammed;

/// Number of units by which prefetching of map entries runs ahead.
const AHEAD: usize = 12;

impl SuperpageContext<'_> {
    /// Continues a write command after its data have crossed the link.
    pub(super) fn data_crossed(&mut self, now: TimeNs, id: u32) {
        self.front.data_crossed(now, id, &self.parts.work_times);
        self.admit_waiting(now);
    }

    /// Admits units to the write buffer, command by command, while there is room (rule 204).
    pub(super) fn admit_waiting(&mut self, now: TimeNs) {
        while let Some(Entering { unit, pages, handle, .. }) = self.front.next_unit() {
            if !self.admit_unit(now, unit, handle, pages < self.own.params.pages_per_mapping_unit) {
                return self.front.note_no_room(now);
            }
            if let Some(id) = self.front.unit_entered(now, pages) {
                self.write_entered(now, id);
            }
        }
    }

    /// Ends a write whose data are all in the buffer. A write that must be safe from a loss of power first closes the superpages that hold
    /// its units (rule 208).
    fn write_entered(&mut self, now: TimeNs, id: u32) {
        let mut closes: Vec<u8> = Vec::new();
        let (front, media, buffer) = (&mut *self.front, &*self.media, &self.own.buffer);
        let (params, work_times) = (&self.own.params, &self.parts.work_times);
        let units: Vec<u64> = if front.commands[id].fua {
            units_of(&front.commands[id].ops, params.pages_per_mapping_unit).map(|(unit, _)| media.entry(unit)).collect()
        } else {
            Vec::new()
        };
        let holding = || {
            // What is in the buffer no more has been programmed, or trimmed, in the meantime.
            let mut numbers: Vec<u64> =
                units.iter().filter_map(|&place| buffer.superpage_at(place)).map(|superpage| superpage.number).collect();
            numbers.dedup();
            // They lie in the superpages of several handles if they replace units of others.
            closes.extend(numbers.iter().filter_map(|&number| buffer.filled_by(number, u64::MAX)));
            numbers
        };
        if front.write_entered(now, id, work_times, holding, self.out) {
            closes.sort_unstable();
            closes.dedup();
            closes.into_iter().for_each(|handle| self.close_filling(now, handle));
        }
    }

    /// Admits a unit to the write buffer. Returns true if there was room, or if the unit replaces an older version.
    fn admit_unit(&mut self, now: TimeNs, unit: u64, handle: u8, is_partial: bool) -> bool {
        let place = self.media.entry(unit);
        let held_by = self.own.buffer.superpage_at(place);
        if held_by.is_some_and(|superpage| superpage.stage != SuperpageStage::Programming) {
            self.front.counters.units_overwritten_in_buffer += 1;
            return true;
        }
        if !self.front.buffer.take_room() {
            return false;
        }
        let on_flash = place != NONE && held_by.is_none();
        if on_flash {
            self.media.invalidate(unit, place);
        }
        let id = match self.own.buffer.filling(handle) {
            Some(id) => id,
            None => self.open_superpage(now, handle),
        };
        self.media.set_entry(unit, self.own.buffer.slot(id, self.own.buffer[id].units.len()));
        let superpage = &mut self.own.buffer[id];
        superpage.units.push(unit);
        let is_full = superpage.units.len() == self.media.superpage_units(superpage.stream) as usize;
        let reads = is_partial && on_flash && !self.own.merging.holds(place);
        superpage.missing += u32::from(reads);
        if is_full {
            self.close_filling(now, handle);
        }
        if reads {
            self.parts.drive_counters.units_read_for_partial_writes += 1;
            self.enqueue_read(now, place, Reader::PartialUnitWrite(id));
            self.look_at_touched(now);
        }
        true
    }

    fn open_superpage(&mut self, now: TimeNs, handle: u8) -> u32 {
        let stream = self.media.stream_of_host(handle, self.own.buffer.slc_promised());
        let number = self.front.buffer.next_number();
        self.front.buffer.begin_batch(number);
        if let Some(linger_ns) = self.front.buffer.linger_ns() {
            self.out.wake(now + linger_ns, SuperpageWake::OpenSuperpageTimedOut(number as u32));
        }
        self.own.buffer.open(handle, stream, number)
    }

    pub(super) fn linger_time_ended(&mut self, now: TimeNs, number: u32) {
        if let Some(handle) = self.own.buffer.filled_by(u64::from(number), u64::from(u32::MAX)) {
            self.close_filling(now, handle);
        }
    }

    /// Closes the host's open superpage for that placement handle, although it may not be full.
    fn close_filling(&mut self, now: TimeNs, handle: u8) {
        if self.own.buffer.close(handle) {
            self.place_superpages(now);
        }
    }

    /// Completes a unit of which the host wrote only a part, because the rest has been read from flash.
    pub(super) fn rest_of_unit_read(&mut self, now: TimeNs, id: u32) {
        if self.own.buffer.rest_of_unit_read(id) {
            self.place_superpages(now);
        }
    }

    /// Assigns host superpages to dies, in order, while collection allows it (rules 205 and 209).
    pub(super) fn place_superpages(&mut self, now: TimeNs) {
        while let Some(&id) = self.own.buffer.to_place.front() {
            if self.own.collection.is_instantaneous() {
                self.collect_instantly(now);
            }
            if self.own.collection.paced.is_at_floor(self.media.free()) {
                if self.own.buffer.foreground_since.is_none() {
                    self.own.buffer.foreground_since = Some(now);
                    self.parts.drive_counters.waits_for_free_superblock += 1;
                    self.note_pace(now);
                }
                self.begin_parts(now);
                return;
            }
            if let Some(since) = self.own.buffer.foreground_since.take() {
                self.parts.drive_counters.waits_for_free_superblock_ns += now - since;
                self.note_pace(now);
            }
            if self.own.collection.owes_too_much() {
                self.begin_parts(now);
            }
            if self.own.collection.owes_too_much() {
                if !std::mem::replace(&mut self.own.buffer.waits_for_debt, true) {
                    self.parts.drive_counters.superpages_that_waited_for_collection += 1;
                }
                return;
            }
            let Some(die) = self.earliest_die(now, self.own.buffer[id].stream) else { return };
            self.own.buffer.waits_for_debt = false;
            self.own.buffer.to_place.pop_front();
            self.give_to_die(now, id, die);
            self.earn_credits(id);
            self.dispatch(now, die);
            self.begin_parts(now);
        }
    }

    /// Assigns a superpage to a die, which gives it a place on flash.
    fn give_to_die(&mut self, now: TimeNs, id: u32, die: u32) {
        let free = self.media.free();
        let stream = self.own.buffer[id].stream;
        self.own.buffer.has_place(id, self.media.take_place(stream, die));
        self.enqueue_program(id, die);
        if self.media.free() < free {
            self.superblock_opened(now);
        }
    }

    /// Adds a superpage to the program queue of its die, in the class of its source.
    fn enqueue_program(&mut self, id: u32, die: u32) {
        let state = &mut self.own.dies[die as usize];
        let queue = if self.own.buffer[id].stream.is_host() { &mut state.programs } else { &mut state.moved_programs };
        queue.push_back(id);
        let (transfer_ns, program_ns) = self.own.program_times(self.media, id);
        self.own.dies[die as usize].waiting_ns += transfer_ns + program_ns;
    }

    /// Sends the parity of a row to its die, if the program of the row's last data superpage has begun (rule 218).
    pub(super) fn send_parity_if_due(&mut self, now: TimeNs, id: u32) {
        let Superpage { stream, is_parity, first, .. } = self.own.buffer[id];
        if is_parity {
            return;
        }
        let Some(place) = self.media.superpage_began(first) else { return };
        let id = self.own.buffer.begin(stream, self.front.buffer.next_number());
        let parity = &mut self.own.buffer[id];
        (parity.is_parity, parity.stage, parity.first) = (true, SuperpageStage::Closed, place);
        let die = self.own.shape.place(place).die;
        self.enqueue_program(id, die);
        self.dispatch(now, die);
    }

    /// Ends the program of a parity superpage.
    fn parity_programmed(&mut self, now: TimeNs, id: u32) {
        let stream = self.own.buffer[id].stream;
        let units = u64::from(self.media.superpage_units(stream));
        self.parts.drive_counters.parity_units_programmed += units;
        self.parts.drive_counters.by_placement_handle.programmed(stream, units);
        self.out.programmed.push(MappingUnitsProgrammed { at: now, member: self.parts.member, units, pages_moved: 0 });
        let is_sealed = self.media.superpage_programmed(self.own.buffer[id].first);
        let units = std::mem::take(&mut self.own.buffer[id].units);
        self.own.buffer.recycle(id, units);
        if is_sealed {
            self.superblock_sealed(now);
        }
    }

    /// Looks for another victim after a superblock was sealed, because collection may have had nothing to collect.
    fn superblock_sealed(&mut self, now: TimeNs) {
        self.begin_parts(now);
        self.place_superpages(now);
    }

    /// Returns the die with the earliest estimated start among those with room (rule 205). Among equals, it is the one with most rows left,
    /// so that no die falls behind. If these are equal, too, channels take turns.
    fn earliest_die(&mut self, now: TimeNs, stream: Stream) -> Option<u32> {
        let all = self.own.die_order.len();
        let from = self.own.next_die as usize;
        let positions = (from..all).chain(0..from);
        let with_room = positions.filter(|&at| self.media.has_room(stream, self.own.die_order[at]));
        let at = with_room.min_by_key(|&at| {
            let number = self.own.die_order[at];
            let die = &self.own.dies[number as usize];
            (now.max(die.current_work_ends) + die.waiting_ns, std::cmp::Reverse(self.media.rows_left(stream, number)))
        })?;
        self.own.next_die = if at + 1 == all { 0 } else { at as u32 + 1 };
        Some(self.own.die_order[at])
    }

    /// Adds a unit that collection has read to a superpage of moved units, if the unit is still valid.
    pub(super) fn add_moved_unit(&mut self, now: TimeNs, source: u64) {
        let stream = self.media.collection_of(self.media.superblock_of(source));
        let id = match self.own.buffer.filling_moved(stream.handle()) {
            Some(id) => id,
            None => self.own.buffer.open_moved(stream, self.front.buffer.next_number()),
        };
        let unit = self.media.unit_at(source);
        let superpage = &mut self.own.buffer[id];
        superpage.units.push(unit);
        superpage.sources.push(source);
        if superpage.units.len() == self.own.shape.mapping_units_per_superpage() as usize {
            self.close_moved(now, stream.handle());
        }
    }

    /// Closes the open superpage of moved units for that placement handle. If collection mixes handles, the only superpage has number 0.
    pub(super) fn close_moved(&mut self, now: TimeNs, handle: u8) {
        if self.own.buffer.close_moved(handle) {
            self.place_moved(now);
        }
    }

    /// Assigns superpages of moved units to dies, in order. A superpage for which no die has room is skipped.
    pub(super) fn place_moved(&mut self, now: TimeNs) {
        let mut at = 0;
        while let Some(&id) = self.own.buffer.moved_to_place.get(at) {
            let Some(die) = self.earliest_die(now, self.own.buffer[id].stream) else {
                at += 1;
                continue;
            };
            self.own.buffer.moved_to_place.remove(at);
            self.give_to_die(now, id, die);
            self.dispatch(now, die);
        }
    }

    /// Ends the program of a superpage. Its units now lie at their new places, unless they were overwritten in the meantime (rules 206 and
    /// 210).
    pub(super) fn programmed(&mut self, now: TimeNs, id: u32) {
        if self.own.buffer[id].is_parity {
            return self.parity_programmed(now, id);
        }
        let Superpage { stream, number, units, sources, first, .. } = std::mem::take(&mut self.own.buffer[id]);
        let of_host = stream.is_host();
        let all = self.media.superpage_units(stream);
        self.parts.drive_counters.padding_units_programmed += u64::from(all - units.len() as u32);
        self.parts.drive_counters.by_placement_handle.programmed(stream, u64::from(all));
        let pages_moved = if of_host { 0 } else { units.len() as u64 * u64::from(self.own.params.pages_per_mapping_unit) };
        self.out.programmed.push(MappingUnitsProgrammed { at: now, member: self.parts.member, units: u64::from(all), pages_moved });
        if of_host {
            self.parts.drive_counters.host_units_programmed += units.len() as u64;
            self.parts.drive_counters.host_units_programmed_slc += if stream == Stream::Slc { units.len() as u64 } else { 0 };
            for (at, &unit) in units.iter().enumerate() {
                self.media.prefetch_map(units[(at + AHEAD).min(units.len() - 1)]);
                if self.media.entry(unit) == self.own.buffer.slot(id, at) {
                    self.media.record_program(unit, first + at as u64);
                }
            }
            self.front.buffer.free_room(units.len() as u32);
        } else {
            self.parts.drive_counters.units_moved_by_collection += units.len() as u64;
            self.parts.drive_counters.collected_units_from_slc +=
                sources.iter().filter(|&&source| self.media.is_slc(source)).count() as u64;
            self.parts.counters.gc_pages_moved += pages_moved;
            for (at, (&unit, &source)) in units.iter().zip(&sources).enumerate() {
                self.media.prefetch_map(units[(at + AHEAD).min(units.len() - 1)]);
                if self.media.entry(unit) == source {
                    self.media.invalidate(unit, source);
                    self.media.record_program(unit, first + at as u64);
                }
            }
        }
        let is_sealed = self.media.superpage_programmed(first);
        let moved = if of_host { Vec::new() } else { sources };
        self.own.buffer.recycle(id, units);
        if of_host {
            self.front.batch_ends(now, number, self.out);
            self.admit_waiting(now);
            if is_sealed {
                self.superblock_sealed(now);
            }
        } else {
            self.moves_programmed(now, &moved);
        }
    }

    /// Processes a flush. If it must wait for data, it closes the open superpages of the host (rule 208).
    pub(super) fn flush_command(&mut self, now: TimeNs, id: u32) {
        if self.front.flush_begins(now, id, self.out) {
            (0..self.own.shape.placement_handles.count).for_each(|handle| self.close_filling(now, handle as u8));
        }
    }
}
