//! Work of a die with superblocks: reads, programs, erases and parts (rules 203, 206, 211, 217 and 229).

use std::collections::BTreeSet;

use flashraid_model::events::OperationTimeParts;
use flashraid_model::flash::{DieNumbering, DieToChannelAssignment};
use flashraid_model::ssd::{HostOverlapWithMoves, OperationSuspension, PlaneReadMode};

use super::super::Operation;
use super::super::front::Told;
use super::super::read_around::Seen;
use super::{Die, Drive, DriveEvent, Halt, Job, Part, Read, Reader, Where};

impl Drive {
    pub(super) fn next_job(&mut self, die: usize) -> Option<Job> {
        let in_programs = self.dies.iter().filter(|die| matches!(die.job, Some((Job::Program(_), _)))).count();
        let may_program = in_programs < self.own.dies_programming_max as usize;
        let state = &self.dies[die];
        let wants_to = !state.programs.is_empty() || !state.moved.is_empty();
        if wants_to && !may_program && !self.asks.contains(&die) {
            self.asks.push_back(die);
        }
        let program = state.programs.front().filter(|_| may_program).map(|&number| Job::Program(number));
        let moved = state.moved.front().filter(|_| may_program).map(|&number| Job::Program(number));
        let erase = state.erases.front().map(|&block| Job::Erase(block));
        let part = state.parts.front().map(|&part| Job::Part(part));
        let order = if self.pace() > self.own.collection.span { [erase, moved, part, program] } else { [program, erase, moved, part] };
        order.into_iter().flatten().next()
    }

    pub(super) fn die_looks(&mut self, die: usize) {
        self.halts(die);
        if self.is_stalled(die) {
            return;
        }
        while self.dies[die].job.is_none() || matches!(self.dies[die].halt, Some(Halt::There(_))) {
            let is_halted = self.dies[die].halt.is_some();
            let next = if is_halted { None } else { self.next_job(die) };
            let something_waits = is_halted || next.is_some();
            let state = &mut self.dies[die];
            let busy = (0..state.reading.len()).any(|plane| state.reading[plane] || state.holding[plane] > 0);
            // With pipelining a step needs no more than a host read does, in all planes.
            let almost_free = (0..state.reading.len()).all(|plane| !state.reading[plane] && state.holding[plane] <= 1);
            let may_overlap = almost_free && matches!(next, Some(Job::Part(_))) && self.pipeline() != HostOverlapWithMoves::NoOverlap;
            let state = &mut self.dies[die];
            if !state.reads.is_empty() && (!something_waits || state.in_a_row < self.own.reads.reads_ahead) {
                if !self.begins_a_read(die, something_waits) {
                    return;
                }
            } else if is_halted && !busy {
                let Some(Halt::There(rest)) = state.halt else { unreachable!() };
                state.halt = Some(Halt::Leaving(rest));
                state.in_a_row = 0;
                let resume_ns = self.of_suspension(die).unwrap().resume.ns;
                self.dies[die].ends = self.now + resume_ns + rest;
                self.schedule(self.now + resume_ns, DriveEvent::Halt(die));
            } else if let Some(job) = next.filter(|_| !busy || may_overlap) {
                self.count("pipelined", u64::from(busy));
                let ends = if busy { self.dies[die].ends } else { 0 };
                self.begins(die, job);
                self.dies[die].ends = self.dies[die].ends.max(ends);
            } else {
                return;
            }
        }
        // The data of a step leave: host reads go beside them (rule 229).
        while self.pipeline() == HostOverlapWithMoves::RequestsWaitingOrArrivingDuringStep
            && matches!(self.dies[die].job, Some((Job::Part(_), false)))
            && !self.dies[die].reads.is_empty()
            && self.dies[die].in_a_row < self.own.reads.reads_ahead
            && self.begins_a_read(die, true)
        {
            self.count("pipelined", 1);
        }
    }

    pub(super) fn wants(&mut self, place: u32, reader: Reader) {
        if self.is_held(place) {
            return self.serve_held(reader, spent_by(reader));
        }
        let (die, flash_page) = (self.die_of(place), place / self.own.mapping_units_per_flash_page);
        let unit = place % self.own.mapping_units_per_flash_page;
        self.dies[die].read_came = true;
        let spent = spent_by(reader);
        if let Some(read) = self.dies[die].reads.iter_mut().find(|read| read.flash_page == flash_page) {
            read.readers.push((unit, reader, spent));
            self.count("joined", 1);
            return;
        }
        let plane = (flash_page % (self.per_superpage() / self.own.mapping_units_per_flash_page) % self.ssd.geometry.planes) as usize;
        let ns = self.array_read_ns(place);
        self.dies[die].reads.push(Read { flash_page, die, plane, ns, readers: vec![(unit, reader, spent)] });
    }

    /// Reads that wait and that nobody needs any more are not made (rule 256). Returns the number of their pages.
    pub(crate) fn abandons(&mut self, is_of: &dyn Fn(&Operation) -> bool) -> usize {
        let mut pages = 0;
        for die in 0..self.dies.len() {
            let is_all =
                |read: &Read| read.readers.iter().all(|(_, reader, _)| matches!(reader, Reader::Page(_, operation) if is_of(operation)));
            let (gone, left): (Vec<Read>, Vec<Read>) = std::mem::take(&mut self.dies[die].reads).into_iter().partition(is_all);
            self.dies[die].reads = left;
            let is_left = !gone.is_empty();
            for (_, reader, parts) in gone.into_iter().flat_map(|read| read.readers) {
                let Reader::Page(number, operation) = reader else { unreachable!("all are pages") };
                let now = self.now;
                self.front.page_ends(number, Operation { parts, ..operation }, now);
                pages += 1;
            }
            if is_left {
                self.die_looks(die);
            }
        }
        pages
    }

    /// The first waiting read whose plane is free, if there is one.
    pub(super) fn begins_a_read(&mut self, die: usize, something_waits: bool) -> bool {
        let of_step = self.planes_of_step(die);
        let state = &mut self.dies[die];
        let busy = (0..state.reading.len()).any(|plane| state.reading[plane] || state.holding[plane] > 0);
        if self.own.reads.plane_reads == PlaneReadMode::OnePlaneAtATime && busy {
            return false;
        }
        let most = u32::from(self.own.reads.cache_read);
        let may = |read: &Read| !state.reading[read.plane] && state.holding[read.plane] + u32::from(of_step.contains(&read.plane)) <= most;
        let Some(at) = state.reads.iter().position(may) else { return false };
        let mut read = state.reads.remove(at);
        state.reading[read.plane] = true;
        state.in_a_row += u32::from(something_waits);
        let block = (read.flash_page * self.own.mapping_units_per_flash_page / self.per_block()) as usize;
        let further = self.retries.further_reads(u64::from(read.flash_page), self.erases[block]);
        self.count("retried_reads", u64::from(further > 0));
        self.count("retries_ns", further * read.ns);
        read.ns *= 1 + further;
        let state = &mut self.dies[die];
        let units: BTreeSet<u32> = read.readers.iter().map(|&(unit, ..)| unit).collect();
        state.ends = state.ends.max(self.now + read.ns + units.len() as u64 * self.own.mapping_unit_transfer_ns);
        self.count("array_reads", 1);
        self.reads[block] += 1;
        self.schedule(self.now + read.ns, DriveEvent::ArrayRead(read));
        true
    }

    pub(super) fn pipeline(&self) -> HostOverlapWithMoves {
        let has_registers = self.own.reads.cache_read && self.own.reads.plane_reads == PlaneReadMode::EachPlaneIndependently;
        self.ssd.gc.preemption.filter(|_| has_registers).map_or(HostOverlapWithMoves::NoOverlap, |preemption| preemption.pipeline)
    }

    pub(super) fn places_of_step(&self, part: usize) -> Vec<u32> {
        let part = &self.parts[part];
        part.units.iter().copied().filter(|&place| self.type_of(place) == part.types[0]).collect()
    }

    /// Planes whose registers hold the data of a step.
    pub(super) fn planes_of_step(&self, die: usize) -> BTreeSet<usize> {
        match self.dies[die].job {
            Some((Job::Part(part), false)) => self.places_of_step(part).into_iter().map(|place| self.plane_of(place)).collect(),
            _ => BTreeSet::new(),
        }
    }

    pub(super) fn merges(&self) -> bool {
        self.ssd.gc.preemption.is_some_and(|preemption| preemption.merge)
    }

    /// Collection has read it and not programmed it.
    pub(super) fn is_held(&self, place: u32) -> bool {
        let has_read = |part: &Part| part.units.contains(&place) && !part.types.is_empty() && !part.types.contains(&self.type_of(place));
        self.merges() && (self.parts.iter().any(has_read) || self.superpages.values().any(|superpage| superpage.sources.contains(&place)))
    }

    pub(super) fn serve_held(&mut self, reader: Reader, parts: OperationTimeParts) {
        if matches!(reader, Reader::Page(..)) {
            self.count("merges", 1);
        }
        self.gets(reader, parts);
    }

    /// The data of a read are in the controller.
    pub(super) fn gets(&mut self, reader: Reader, parts: OperationTimeParts) {
        match reader {
            Reader::Page(number, operation) => self.front.goes_to_host(number, Operation { parts, ..operation }),
            Reader::Rest(superpage) => {
                self.superpages.get_mut(&superpage).unwrap().missing -= 1;
                self.is_complete(superpage);
            }
        }
    }

    /// Waiting reads that want nothing but what a step has read are served.
    pub(super) fn serve_those_that_want(&mut self, die: usize, places: &[u32]) {
        let units = self.own.mapping_units_per_flash_page;
        let has_all = |read: &Read| read.readers.iter().all(|&(unit, ..)| places.contains(&(read.flash_page * units + unit)));
        let (served, left): (Vec<Read>, Vec<Read>) = std::mem::take(&mut self.dies[die].reads).into_iter().partition(has_all);
        self.dies[die].reads = left;
        for read in served {
            for (_, reader, parts) in read.readers {
                self.serve_held(reader, parts);
            }
        }
    }

    /// Returns true if a stall occupies the die, or waits for its reads (rule 230).
    pub(super) fn is_stalled(&mut self, die: usize) -> bool {
        let works = self.works(die);
        let now = self.now;
        let Die { job, stalls: Some(stalls), stall_awaited, reads, programs, erases, moved, parts, .. } = &mut self.dies[die] else {
            return false;
        };
        if job.is_some() {
            return false;
        }
        if works {
            return stalls.due_ns <= now;
        }
        if reads.is_empty() && programs.is_empty() && erases.is_empty() && moved.is_empty() && parts.is_empty() {
            return false;
        }
        if stalls.ends_ns <= now && stalls.due_ns <= now {
            stalls.begins(now);
        }
        let until = stalls.ends_ns;
        if until > now && until != *stall_awaited {
            *stall_awaited = until;
            self.count("stalls", 1);
            self.count("stall_waits_ns", until - now);
            self.schedule(until, DriveEvent::StallOver(die));
        }
        until > now
    }

    pub(super) fn begins(&mut self, die: usize, job: Job) {
        self.dies[die].in_a_row = 0;
        let plain_ns = match job {
            Job::Program(number) => {
                if self.superpages[&number].of_host {
                    self.dies[die].programs.pop_front()
                } else {
                    self.dies[die].moved.pop_front()
                };
                self.superpages.get_mut(&number).unwrap().begun = true;
                self.program_plain_ns(number)
            }
            Job::Erase(_) => {
                self.dies[die].erases.pop_front();
                self.ssd.timing.block_erase.ns
            }
            Job::Part(part) => {
                self.dies[die].parts.pop_front();
                self.part_plain_ns(part)
            }
        };
        let state = &mut self.dies[die];
        (state.job_began, state.ends) = (self.now, self.now + plain_ns);
        state.job = Some((job, !matches!(job, Job::Program(_))));
        (state.times_suspended, state.works_until, state.read_came) = (0, 0, false);
        match job {
            Job::Program(number) => {
                let at = self.over_channel(die, self.superpage_transfer_ns(number));
                self.schedule(at, DriveEvent::JobStep(die));
                self.parity_follows(number);
            }
            Job::Erase(_) => self.array_works(die, self.ssd.timing.block_erase.ns),
            Job::Part(part) => {
                let at = self.now + self.step(&self.parts[part], self.parts[part].types[0]).0;
                self.schedule(at, DriveEvent::JobStep(die));
            }
        }
    }

    pub(super) fn of_suspension(&self, die: usize) -> Option<OperationSuspension> {
        let suspension = self.own.suspension?;
        match self.dies[die].job?.0 {
            Job::Program(_) => Some(suspension.program),
            Job::Erase(_) => Some(suspension.erase),
            Job::Part(_) => None,
        }
    }

    /// A program or an erase works until its end, if nothing suspends it.
    pub(super) fn array_works(&mut self, die: usize, ns: u64) {
        self.dies[die].array_ends = self.now + ns;
        self.schedule(self.now + ns, DriveEvent::ArrayEnds(die));
        self.halts(die);
    }

    /// A read that has come makes the array halt, if it may.
    pub(super) fn halts(&mut self, die: usize) {
        let Some(of) = self.of_suspension(die) else { return };
        let state = &self.dies[die];
        let works = state.halt.is_none() && state.job.is_some_and(|(_, works)| works);
        let rest = state.array_ends.saturating_sub(self.now);
        let worth_it = rest > of.suspend_ns() && state.times_suspended < of.suspensions_max;
        if works && state.read_came && worth_it && self.now >= state.works_until {
            let state = &mut self.dies[die];
            state.halt = Some(Halt::Coming(rest));
            state.times_suspended += 1;
            state.ends = self.now + of.suspend_ns();
            self.count("suspensions", 1);
            self.schedule(self.now + of.suspend_ns(), DriveEvent::Halt(die));
        }
    }

    pub(super) fn halt_goes_on(&mut self, die: usize) {
        match self.dies[die].halt.unwrap() {
            Halt::Coming(rest) => {
                self.dies[die].halt = Some(Halt::There(rest));
                self.die_looks(die);
            }
            Halt::Leaving(rest) => {
                let of = self.of_suspension(die).unwrap();
                let state = &mut self.dies[die];
                state.halt = None;
                state.works_until = self.now + of.progress_ns();
                state.read_came = !state.reads.is_empty();
                let again = state.times_suspended < of.suspensions_max && rest > of.progress_ns() + of.suspend_ns();
                if again && of.progress_ns() > 0 {
                    self.schedule(self.now + of.progress_ns(), DriveEvent::MayHalt(die));
                }
                self.array_works(die, rest);
            }
            Halt::There(_) => unreachable!("reads go in"),
        }
    }

    pub(super) fn job_goes_on(&mut self, die: usize) {
        match self.dies[die].job.unwrap() {
            (Job::Program(number), false) => {
                self.dies[die].job = Some((Job::Program(number), true));
                return self.array_works(die, self.program_ns(number));
            }
            (Job::Part(part), true) => {
                let (_, units) = self.step(&self.parts[part], self.parts[part].types[0]);
                let at = self.over_channel(die, units * self.own.mapping_unit_transfer_ns);
                self.dies[die].job = Some((Job::Part(part), false));
                self.schedule(at, DriveEvent::JobStep(die));
                return self.die_looks(die);
            }
            (Job::Part(part), false) => {
                let places = self.places_of_step(part);
                self.parts[part].types.remove(0);
                let is_over = self.parts[part].types.is_empty();
                if !is_over && self.ssd.gc.preemption.is_none() {
                    self.dies[die].job = Some((Job::Part(part), true));
                    let at = self.now + self.step(&self.parts[part], self.parts[part].types[0]).0;
                    return self.schedule(at, DriveEvent::JobStep(die));
                }
                self.dies[die].job = None;
                if !is_over {
                    self.dies[die].parts.push_front(part);
                }
                if self.merges() {
                    self.serve_those_that_want(die, &places);
                }
                if is_over {
                    self.part_is_read(part);
                }
            }
            (Job::Program(number), true) => {
                self.dies[die].job = None;
                self.is_programmed(number);
                while let Some(&other) = self.asks.front() {
                    let in_programs = self.dies.iter().filter(|die| matches!(die.job, Some((Job::Program(_), _)))).count();
                    if in_programs >= self.own.dies_programming_max as usize {
                        break;
                    }
                    self.asks.pop_front();
                    self.die_looks(other);
                }
            }
            (Job::Erase(block), _) => {
                self.dies[die].job = None;
                let way = self.ways.get_mut(&block).unwrap();
                let left = way.erases.unwrap() - 1;
                way.erases = Some(left);
                if left == 0 {
                    self.ways.remove(&block);
                    assert!(self.valid_places(block).is_empty());
                    self.free_block(block);
                    self.has_freed = true;
                    if self.needs_leave() || self.takes_turns() {
                        self.front.told.push(Told::FreeChanged { opened: false });
                    }
                    self.may_be_done();
                    self.looks_if_it_collects();
                    self.place_moved();
                    self.begin_parts();
                    self.place_host();
                }
            }
        }
        self.die_looks(die);
    }

    /// Returns the end of a transfer for which the channel of a die is asked now.
    pub(super) fn over_channel(&mut self, die: usize, ns: u64) -> u64 {
        let number = self.channel_of(die);
        self.channels[number].asks(self.now, ns)
    }

    /// The channel of a die; without channels each die has one of its own.
    pub(super) fn channel_of(&self, die: usize) -> usize {
        match self.ssd.channel {
            Some(DieToChannelAssignment { dies_per_channel, die_numbering: DieNumbering::ConsecutiveWithinChannel }) => {
                die / dies_per_channel as usize
            }
            Some(DieToChannelAssignment { die_numbering: DieNumbering::InterleavedDies, .. }) => die % self.channels.len(),
            None => die,
        }
    }

    /// Returns the prospect of a read that would be sent now (rule 241).
    pub(crate) fn sees(&self, page: u64) -> Seen {
        let unit = (page / u64::from(self.own.pages_per_mapping_unit)) as usize;
        let nothing_to_read = Seen { collects: false, start: self.now, ns: 0 };
        let Where::Flash(place) = self.units[unit] else { return nothing_to_read };
        if self.is_held(place) {
            return nothing_to_read;
        }
        let die = self.die_of(place);
        let waiting: u64 = self.dies[die].reads.iter().map(|read| read.ns + self.own.mapping_unit_transfer_ns).sum();
        let ns = self.array_read_ns(place) + self.own.mapping_unit_transfer_ns;
        Seen { collects: self.collects(die), start: self.lets_in(die) + waiting, ns }
    }

    /// Returns the time at which the work of a die lets a read in, as it seems now.
    fn lets_in(&self, die: usize) -> u64 {
        let state = &self.dies[die];
        let ends = state.ends.max(self.now);
        match (state.job, state.halt) {
            (Some((Job::Part(part), _)), None) if self.ssd.gc.preemption.is_some() => {
                let (ns, units) = self.step(&self.parts[part], self.parts[part].types[0]);
                self.now.max(state.job_began + ns + units * self.own.mapping_unit_transfer_ns)
            }
            (Some((_, true)), None) => {
                let Some(of) = self.of_suspension(die).filter(|of| state.times_suspended < of.suspensions_max) else { return ends };
                let halts = state.works_until.max(self.now) + of.suspend_ns();
                if halts < state.array_ends { halts } else { ends }
            }
            _ => ends,
        }
    }

    pub(crate) fn collects_until(&self) -> Option<u64> {
        (0..self.dies.len()).filter(|&die| self.collects(die)).map(|die| self.lets_in(die)).max()
    }

    /// A job of collection has the die, and reads have not.
    pub(super) fn collects(&self, die: usize) -> bool {
        let Die { job, halt, .. } = &self.dies[die];
        let of_host = |job: Job| matches!(job, Job::Program(number) if self.superpages[&number].of_host);
        job.is_some_and(|(job, _)| !of_host(job)) && !matches!(halt, Some(Halt::There(_)))
    }

    /// A job has the die, or a plane reads or holds what it has read.
    pub(super) fn works(&self, die: usize) -> bool {
        let Die { job, reading, holding, .. } = &self.dies[die];
        job.is_some() || reading.contains(&true) || holding.iter().any(|&pages| pages > 0)
    }
}

/// Returns the time that the command of a page has spent before it comes to a die.
fn spent_by(reader: Reader) -> OperationTimeParts {
    match reader {
        Reader::Page(_, operation) => operation.parts,
        Reader::Rest(_) => OperationTimeParts::default(),
    }
}
