//! The work of commands, the buffer, and the way of superpages to their dies (rules 203 to 209).

use std::collections::BTreeSet;

use super::super::OpKind;
use super::{Drive, DriveEvent, Halt, Part, Reader, Superpage, Where};

impl Drive {
    /// Units of a command, each with its pages.
    pub(super) fn units_of(&self, number: usize) -> Vec<(u32, u32)> {
        let mut units: Vec<(u32, u32)> = Vec::new();
        for operation in &self.front.commands[number].operations {
            let of_page = operation.page as u32 / self.own.pages_per_mapping_unit;
            match units.last_mut() {
                Some((unit, pages)) if *unit == of_page => *pages += 1,
                _ => units.push((of_page, 1)),
            }
        }
        units
    }

    /// A command goes to its work.
    pub(super) fn work(&mut self, number: usize) {
        self.front.command(number).begun_ns = self.now;
        let operations = self.front.commands[number].operations.clone();
        let pages = operations.len() as u64;
        match operations[0].kind {
            OpKind::Read => {
                self.count("pages_read", pages);
                let mut touched = Vec::new();
                for mut operation in operations {
                    self.front.books(number, &mut operation);
                    match self.units[(operation.page as u32 / self.own.pages_per_mapping_unit) as usize] {
                        Where::Flash(place) => {
                            let is_held = self.is_held(place);
                            self.wants(place, Reader::Page(number, operation));
                            let die = self.die_of(place);
                            // A die that has got nothing does not look.
                            if !is_held && !touched.contains(&die) {
                                touched.push(die);
                            }
                        }
                        found => {
                            self.front.counters.pages_read_from_buffer += u64::from(found != Where::Nowhere);
                            self.front.goes_to_host(number, operation);
                        }
                    }
                }
                touched.into_iter().for_each(|die| self.die_looks(die));
            }
            OpKind::Write => {
                self.count("pages_received", pages);
                let handle = self.handle_of_command(number);
                self.handles[handle][0] += pages;
                self.front.sends_data(number);
            }
            OpKind::Trim => {
                self.count("pages_trimmed", pages);
                for (unit, pages) in self.units_of(number) {
                    if pages == self.own.pages_per_mapping_unit {
                        self.units[unit as usize] = Where::Nowhere;
                    } else {
                        self.count("trimmed_in_part", u64::from(pages));
                    }
                }
                self.front.command_ends(number, self.now);
            }
            OpKind::Flush => {
                let is_of_host = |superpage: &Superpage| superpage.of_host && !superpage.is_parity;
                let of_host = self.superpages.iter().filter(|(_, superpage)| is_of_host(superpage));
                let all = of_host.map(|(&number, _)| number as usize).collect();
                if self.front.flush_begins(number, all) {
                    (0..self.handle_count()).for_each(|handle| self.close(handle));
                }
            }
        }
    }

    pub(super) fn buffered(&self) -> u32 {
        self.superpages.values().filter(|superpage| superpage.of_host).map(|superpage| superpage.units.len() as u32).sum()
    }

    /// Writes enter the buffer, unit by unit, as there is room.
    pub(super) fn bring_in(&mut self) {
        while let Some(&number) = self.front.entering.first() {
            let handle = self.handle_of_command(number);
            let mut before = 0;
            for (unit, pages) in self.units_of(number) {
                before += pages as usize;
                if before <= self.front.commands[number].passed {
                    continue;
                }
                if !self.enters(unit, handle, pages < self.own.pages_per_mapping_unit) {
                    return self.front.finds_no_room();
                }
                self.front.command(number).passed = before;
            }
            let batches = self.batches_of_command(number);
            if self.front.is_in(batches.clone()) {
                // A write that is to survive closes what holds it.
                let in_it = |handle: &usize| self.filling[*handle].is_some_and(|filling| batches.contains(&(filling as usize)));
                let closes: Vec<usize> = (0..self.handle_count()).filter(in_it).collect();
                closes.into_iter().for_each(|handle| self.close(handle));
            }
        }
    }

    /// Superpages of the buffer that hold units of a command.
    pub(super) fn batches_of_command(&self, number: usize) -> BTreeSet<usize> {
        let holds = |(unit, _): (u32, u32)| match self.units[unit as usize] {
            Where::Buffer(superpage, _) => Some(superpage as usize),
            _ => None,
        };
        self.units_of(number).into_iter().filter_map(holds).collect()
    }

    pub(super) fn enters(&mut self, unit: u32, handle: usize, is_partial: bool) -> bool {
        let before = self.units[unit as usize];
        if let Where::Buffer(superpage, _) = before
            && !self.superpages[&superpage].begun
        {
            self.front.counters.units_overwritten_in_buffer += 1;
            return true;
        }
        if self.buffered() == self.own.buffer.capacity_mapping_units {
            return false;
        }
        let number = self.opened(handle);
        if self.superpages[&number].units.is_empty()
            && let Some(linger) = self.own.buffer.settings.linger
        {
            self.schedule(self.now + linger.ns, DriveEvent::Linger(number));
        }
        let all = self.units_of_stream(self.superpages[&number].stream) as usize;
        let is_held = matches!(before, Where::Flash(place) if self.is_held(place));
        let superpage = self.superpages.get_mut(&number).unwrap();
        self.units[unit as usize] = Where::Buffer(number, superpage.units.len());
        superpage.units.push(unit);
        let is_full = superpage.units.len() == all;
        let reads = match before {
            Where::Flash(place) if is_partial && !is_held => Some(place),
            _ => None,
        };
        superpage.missing += u32::from(reads.is_some());
        if is_full {
            self.close(handle);
        }
        if let Some(place) = reads {
            self.count("rmw_reads", 1);
            self.wants(place, Reader::Rest(number));
            self.die_looks(self.die_of(place));
        }
        true
    }

    pub(super) fn opened(&mut self, stream: usize) -> u64 {
        if let Some(number) = self.filling[stream] {
            return number;
        }
        let number = self.superpages_begun;
        self.superpages_begun += 1;
        let (units, sources) = (Vec::new(), Vec::new());
        let (is_parity, is_full, has_place, begun) = (false, false, false, false);
        let of_host = stream < self.handle_count();
        self.filling[stream] = Some(number);
        let stream = if of_host { self.stream_of_host(stream) } else { stream };
        let superpage = Superpage { stream, of_host, is_parity, units, sources, missing: 0, is_full, has_place, begun, first: 0 };
        self.superpages.insert(number, superpage);
        number
    }

    pub(super) fn close(&mut self, stream: usize) {
        let Some(number) = self.filling[stream].take() else { return };
        self.superpages.get_mut(&number).unwrap().is_full = true;
        self.is_complete(number);
    }

    pub(super) fn is_complete(&mut self, number: u64) {
        let superpage = &self.superpages[&number];
        if !superpage.is_full || superpage.missing > 0 {
            return;
        }
        if superpage.of_host {
            self.to_place[0].push_back(number);
            self.place_host();
        } else {
            self.to_place[1].push_back(number);
            self.place_moved();
        }
    }

    pub(super) fn place_host(&mut self) {
        while let Some(&number) = self.to_place[0].front() {
            if self.ssd.gc.collection_takes_no_time {
                self.collect_in_no_time();
            }
            if self.free.len() as u32 <= self.own.collection.floor {
                if !std::mem::replace(&mut self.in_foreground, true) {
                    self.count("foreground", 1);
                    self.looks_if_it_collects();
                }
                return self.begin_parts();
            }
            if std::mem::take(&mut self.in_foreground) {
                self.looks_if_it_collects();
            }
            let debt = i128::from(self.own.collection.move_backlog_max_mapping_units);
            if self.owed() > debt {
                self.begin_parts();
            }
            if self.owed() > debt {
                return;
            }
            let Some(die) = self.best_die(self.superpages[&number].stream) else { return };
            self.to_place[0].pop_front();
            self.gets_place(number, die);
            let of = &self.superpages[&number];
            let times = if of.stream == self.slc_stream() { self.own.bits_per_cell } else { 1 };
            let units = of.units.len() as i128 * i128::from(times);
            let pace = if self.is_urgent() { 0 } else { i128::from(self.pace()) };
            if pace > 0 && self.victim.is_none() {
                self.choose();
            }
            if let Some(victim) = self.victim.as_ref().filter(|victim| !victim.for_upkeep) {
                self.credits += units * i128::from(victim.valid) * pace;
            }
            self.die_looks(die);
            self.begin_parts();
        }
    }

    pub(super) fn place_moved(&mut self) {
        for number in self.to_place[1].clone() {
            if let Some(die) = self.best_die(self.superpages[&number].stream) {
                self.to_place[1].retain(|&other| other != number);
                self.gets_place(number, die);
                self.die_looks(die);
            }
        }
    }

    pub(super) fn gets_place(&mut self, number: u64, die: usize) {
        let Superpage { stream, of_host, .. } = self.superpages[&number];
        let free = self.free.len();
        let first = self.take_row(stream, die);
        let superpage = self.superpages.get_mut(&number).unwrap();
        (superpage.first, superpage.has_place) = (first, true);
        if of_host {
            self.dies[die].programs.push_back(number)
        } else {
            self.dies[die].moved.push_back(number)
        }
        if self.free.len() < free {
            self.looks_if_it_collects();
            self.may_ask();
        }
    }

    pub(super) fn channels_first(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.dies.len()).collect();
        order.sort_by_key(|&die| {
            let channel = self.channel_of(die);
            ((0..die).filter(|&before| self.channel_of(before) == channel).count(), channel)
        });
        order
    }

    pub(super) fn best_die(&mut self, stream: usize) -> Option<usize> {
        let dies = self.dies.len();
        let mut order = self.channels_first();
        order.rotate_left(self.turn);
        let rows_left = |die: usize| self.open[stream].iter().map(|(_, left)| left[die].len()).sum::<usize>();
        let with_row = order.iter().enumerate().filter(|&(_, &die)| self.has_row(stream, die));
        let (at, &die) = with_row.min_by_key(|&(_, &die)| (self.start(die), std::cmp::Reverse(rows_left(die))))?;
        self.turn = (self.turn + at + 1) % dies;
        Some(die)
    }

    /// Returns the time at which work that joins the queues of a die could start.
    pub(super) fn start(&self, die: usize) -> u64 {
        let state = &self.dies[die];
        // What is suspended waits, too.
        let halted = match state.halt {
            Some(Halt::Coming(rest) | Halt::There(rest)) => rest + self.of_suspension(die).unwrap().resume.ns,
            _ => 0,
        };
        let programs: u64 = state.programs.iter().chain(&state.moved).map(|&number| self.program_plain_ns(number)).sum();
        let reads: u64 = state.reads.iter().map(|read| read.ns + self.own.mapping_unit_transfer_ns).sum();
        let erases = state.erases.len() as u64 * self.ssd.timing.block_erase.ns;
        let parts: u64 = state.parts.iter().map(|&part| self.part_plain_ns(part)).sum();
        self.now.max(state.ends) + halted + programs + reads + erases + parts
    }

    pub(super) fn program_plain_ns(&self, number: u64) -> u64 {
        self.superpage_transfer_ns(number) + self.program_ns(number)
    }

    pub(super) fn part_plain_ns(&self, part: usize) -> u64 {
        let part = &self.parts[part];
        part.types.iter().map(|&of| self.step(part, of)).map(|(ns, units)| ns + units * self.own.mapping_unit_transfer_ns).sum()
    }

    /// Array time and units of one type of page.
    pub(super) fn step(&self, part: &Part, of: u32) -> (u64, u64) {
        let units: Vec<&u32> = part.units.iter().filter(|&&place| self.type_of(place) == of).collect();
        (self.array_read_ns(*units[0]), units.len() as u64)
    }

    /// The program of a superpage has begun; the parity of its row may have to be written now.
    pub(super) fn parity_follows(&mut self, number: u64) {
        let of = self.superpages[&number].clone();
        if of.is_parity {
            return;
        }
        let Some(first) = self.begins_to_be_written(of.first) else { return };
        let number = self.superpages_begun;
        self.superpages_begun += 1;
        let parity = Superpage { is_parity: true, is_full: true, begun: false, first, units: Vec::new(), sources: Vec::new(), ..of };
        self.superpages.insert(number, parity);
        let die = self.die_of(first);
        if of.of_host {
            self.dies[die].programs.push_back(number)
        } else {
            self.dies[die].moved.push_back(number)
        }
        self.die_looks(die);
    }

    pub(super) fn is_programmed(&mut self, number: u64) {
        if self.superpages[&number].is_parity {
            let Superpage { first, stream, .. } = self.superpages.remove(&number).unwrap();
            self.count("units_parity", u64::from(self.units_of_stream(stream)));
            self.count_of_stream(stream, u64::from(self.units_of_stream(stream)));
            self.superpage_is_programmed(first);
            if self.is_sealed(first) {
                self.begin_parts();
                self.place_host();
            }
            return;
        }
        let Superpage { stream, of_host, units, sources, first, .. } = self.superpages.remove(&number).unwrap();
        let all = u64::from(self.units_of_stream(stream));
        self.count_of_stream(stream, all);
        self.count("units_padded", all - units.len() as u64);
        self.count("units_slc", if stream == self.slc_stream() { units.len() as u64 } else { 0 });
        self.count("units_folded", sources.iter().filter(|&source| self.slc[(source / self.per_block()) as usize]).count() as u64);
        self.count(if of_host { "units_programmed" } else { "units_moved" }, units.len() as u64);
        for (at, &unit) in units.iter().enumerate() {
            let before = if of_host { Where::Buffer(number, at) } else { Where::Flash(sources[at]) };
            if self.units[unit as usize] == before {
                self.units[unit as usize] = Where::Flash(first + at as u32);
                self.written[first as usize + at] = Some(unit);
            }
        }
        self.superpage_is_programmed(first);
        let seals = self.is_sealed(first);
        if of_host {
            self.front.batch_has_left(number as usize);
            self.bring_in();
            if seals {
                self.begin_parts();
                self.place_host();
            }
            return;
        }
        self.room += sources.len() as u64;
        // A superpage holds units of victims one after the other.
        let mut blocks: Vec<u32> = sources.iter().map(|source| source / self.per_block()).collect();
        while let Some(&block) = blocks.first() {
            let of_block = blocks.iter().take_while(|&&other| other == block).count();
            blocks.drain(..of_block);
            self.ways.get_mut(&block).unwrap().units -= of_block as u32;
            self.victim_goes_on(block);
        }
        self.begin_parts();
        self.place_host();
    }
}
