//! What a die of a drive does next (rules 203, 211 and 214).

use super::{Drive, DriveCounters, DriveWake, PlaneReads};
use crate::events::{TimeNs, TimeParts};
use crate::ssd::Outbox;
use crate::ssd::collect::order::{self, Class};
use crate::ssd::job::{Before, Clock, Reader, Stage};
use crate::ssd::mechanism::AtDie;
use std::collections::VecDeque;

/// A flash page that is read for the host.
#[derive(Debug, Clone, Default)]
pub(super) struct FlashRead {
    pub flash_page: u32,
    die: u32,
    plane: u32,
    pub array_ns: u64,
    /// The units asked for, as bits.
    pub units: u64,
    pub readers: Vec<Reader>,
    /// The array read has ended.
    in_register: TimeNs,
    /// Work of the die until it began.
    before: Before,
}

/// What a die does with all its planes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Job {
    Program(u32),
    MovedProgram(u32),
    Erase(u32),
    Move(u32),
}

impl Job {
    pub(super) fn is_of_collection(self) -> bool {
        !matches!(self, Job::Program(_))
    }
}

/// How far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Data are on the channel.
    Transfer,
    /// The array works.
    Array { ends: TimeNs },
    /// The array comes to a halt; so much of its work is left.
    Suspending { rest_ns: u64 },
    /// Reads go in.
    Suspended { rest_ns: u64 },
    /// The array is about to go on.
    Resuming { rest_ns: u64 },
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Exclusive {
    pub job: Job,
    pub step: Step,
    /// Since when it has the die: from its begin, or from the end of the reads that have interrupted it.
    pub began: TimeNs,
    /// How often it has been suspended, and when that may happen again.
    pub suspensions: u32,
    pub suspended_from: TimeNs,
    /// Reads have come since it has had its turn, or were left when it went on.
    pub reads_came: bool,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Plane {
    /// The array reads.
    pub reads: bool,
    /// Pages that have been read and have not left.
    pub holds: u8,
}

/// A die of a drive.
#[derive(Debug, Clone)]
pub(super) struct Die {
    channel: u32,
    /// Flash pages that are to be read for the host.
    pub reads: VecDeque<u32>,
    pub programs: VecDeque<u32>,
    pub erases: VecDeque<u32>,
    pub moved_programs: VecDeque<u32>,
    /// Parts of victims.
    pub moves: VecDeque<u32>,
    pub planes: Vec<Plane>,
    /// Flash pages that planes read or hold.
    pub reading: u32,
    pub exclusive: Option<Exclusive>,
    /// Host reads that have begun while something else waited, since that had its turn.
    pub reads_in_a_row: u32,
    /// It is among those that wait for leave to program.
    asks_for_power: bool,
    /// It has got reads and has not looked yet.
    touched: bool,
    /// When what it does would end if it waited for no channel.
    pub current_work_ends: TimeNs,
    /// Plain durations of what waits.
    pub waiting_ns: u64,
    collected_ns: u64,
    /// Since when it has worked without a break, if it does.
    pub works_since: Option<TimeNs>,
    /// While it rests: since when.
    pub rests_since: TimeNs,
    /// State of the listed mechanisms at this die; `None` without any.
    pub mechanisms: Option<Box<AtDie>>,
    /// Until when a mechanism holds it.
    pub held_until: Option<TimeNs>,
    /// A mechanism holds it.
    pub held: Clock,
}

/// The wires between dies and controller: one transfer at a time, in order of asking.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Channel {
    free: TimeNs,
}

impl Exclusive {
    fn is_suspended(&self) -> bool {
        matches!(self.step, Step::Suspended { .. })
    }
}

impl Die {
    pub fn new(planes: u32, channel: u32) -> Self {
        Self {
            channel,
            reads: VecDeque::new(),
            programs: VecDeque::new(),
            erases: VecDeque::new(),
            moved_programs: VecDeque::new(),
            moves: VecDeque::new(),
            planes: vec![Plane::default(); planes as usize],
            reading: 0,
            exclusive: None,
            reads_in_a_row: 0,
            asks_for_power: false,
            touched: false,
            current_work_ends: 0,
            waiting_ns: 0,
            collected_ns: 0,
            works_since: None,
            rests_since: 0,
            mechanisms: None,
            held_until: None,
            held: Clock::default(),
        }
    }

    /// Reads or jobs wait in its queues.
    pub fn has_something_waiting(&self) -> bool {
        let Self { reads, programs, erases, moved_programs, moves, .. } = self;
        !(reads.is_empty() && programs.is_empty() && erases.is_empty() && moved_programs.is_empty() && moves.is_empty())
    }

    pub fn done_before(&self, now: TimeNs) -> Before {
        Before { collected_ns: self.collected_ns(now), held_ns: self.held.at(now) }
    }

    fn works_for_collection(&self) -> bool {
        self.exclusive.is_some_and(|exclusive| exclusive.job.is_of_collection() && !exclusive.is_suspended())
    }

    /// What it has worked on with all its planes, and for how long, without a break.
    pub fn works_on_for(&self, now: TimeNs) -> Option<(Job, u64)> {
        self.exclusive.filter(|exclusive| !exclusive.is_suspended()).map(|exclusive| (exclusive.job, now - exclusive.began))
    }

    /// How long it has worked for collection.
    pub fn collected_ns(&self, now: TimeNs) -> u64 {
        let current = self.exclusive.filter(|_| self.works_for_collection()).map_or(0, |exclusive| now - exclusive.began);
        self.collected_ns + current
    }
}

impl Drive {
    /// A unit at a place is to be read; its die looks at it with [`Drive::look_at_touched`].
    pub(super) fn enqueue_read(&mut self, now: TimeNs, ppn: u32, mut reader: Reader, out: &mut Outbox) {
        if self.merging.holds(ppn) {
            return self.serve_merged(now, reader, Before::default(), out);
        }
        let place = self.shape.place(ppn);
        let die = &mut self.dies[place.die as usize];
        if let Reader::Host(waiter) = &mut reader {
            waiter.before = die.done_before(now);
        }
        if let Some(exclusive) = &mut die.exclusive {
            exclusive.reads_came = true;
        }
        if !die.touched {
            die.touched = true;
            self.touched_dies.push(place.die);
        }
        let reads = &mut self.reads;
        if let Some(&id) = die.reads.iter().find(|&&id| reads[id].flash_page == place.flash_page) {
            reads[id].units |= 1 << place.unit_of_page;
            reads[id].readers.push(reader);
            self.drive_counters.joined += 1;
            return;
        }
        let id = reads.take();
        let array_ns = self.array_read_ns(ppn, place.page_of_block);
        let (die, read) = (&mut self.dies[place.die as usize], &mut self.reads[id]);
        read.array_ns = array_ns;
        (read.flash_page, read.die, read.plane) = (place.flash_page, place.die, place.plane);
        read.units = 1 << place.unit_of_page;
        read.readers.push(reader);
        die.waiting_ns += read.array_ns + self.params.unit_transfer_ns;
        die.reads.push_back(id);
    }

    /// Time of an array read of the page with that number in its block, `ppn` being in that block.
    pub(super) fn array_read_ns(&self, ppn: u32, page_of_block: u32) -> u64 {
        let types = &self.params.page_read_ns;
        let slc = self.params.slc.filter(|_| self.media.is_slc(ppn));
        slc.map_or(types[page_of_block as usize % types.len()], |slc| slc.read_ns)
    }

    /// The dies that have got reads look at what waits for them, in the order in which they got the first.
    pub(super) fn look_at_touched(&mut self, now: TimeNs, out: &mut Outbox) {
        let mut touched = std::mem::take(&mut self.touched_dies);
        for &die in &touched {
            self.dies[die as usize].touched = false;
        }
        for die in touched.drain(..) {
            self.dispatch(now, die, out);
        }
        self.touched_dies = touched;
    }

    /// A die looks at what it can begin.
    pub(super) fn dispatch(&mut self, now: TimeNs, die: u32, out: &mut Outbox) {
        self.begin_what_may(now, die, out);
        let state = &mut self.dies[die as usize];
        match (state.works_since, state.exclusive.is_some() || state.reading > 0) {
            (None, true) => {
                state.works_since = Some(now);
                self.worked.at_all.begins(now);
            }
            (Some(since), false) => {
                (state.works_since, state.rests_since) = (None, now);
                self.worked.at_all.stops(now);
                out.worked.push((since, now));
            }
            _ => {}
        }
    }

    fn begin_what_may(&mut self, now: TimeNs, die: u32, out: &mut Outbox) {
        if self.is_held(now, die, out) {
            return;
        }
        loop {
            let exclusive = &self.dies[die as usize].exclusive;
            let is_suspended = exclusive.as_ref().is_some_and(Exclusive::is_suspended);
            if exclusive.is_some() && !is_suspended {
                self.read_beside_step(now, die, out);
                return self.interrupt(now, die, out);
            }
            let next = if is_suspended { None } else { self.next_job(die) };
            let others_wait = is_suspended || next.is_some();
            let state = &self.dies[die as usize];
            let may_read = !others_wait || state.reads_in_a_row < self.params.reads_ahead;
            if may_read && !state.reads.is_empty() {
                if !self.begin_read(now, die, others_wait, out) {
                    return;
                }
            } else if state.reading > 0 && !self.may_overlap(die, next) {
                return;
            } else if is_suspended {
                return self.resume(now, die, out);
            } else if let Some(job) = next {
                self.begin_job(now, die, job, out);
            } else {
                return;
            }
        }
    }

    /// Begins the first waiting read whose plane is free, if there is one.
    pub(super) fn begin_read(&mut self, now: TimeNs, die: u32, others_wait: bool, out: &mut Outbox) -> bool {
        let state = &mut self.dies[die as usize];
        if self.params.plane_reads == PlaneReads::Die && state.reading > 0 {
            return false;
        }
        let holds_max = u8::from(self.params.cache_read);
        let reads = &mut self.reads;
        let is_free = |plane: &Plane| !plane.reads && plane.holds <= holds_max;
        let Some(at) = state.reads.iter().position(|&id| is_free(&state.planes[reads[id].plane as usize])) else { return false };
        let id = state.reads.remove(at).expect("it has just been found");
        let read = &mut reads[id];
        state.planes[read.plane as usize].reads = true;
        state.reading += 1;
        state.reads_in_a_row += u32::from(others_wait);
        state.waiting_ns -= read.array_ns + self.params.unit_transfer_ns;
        let ends = now + read.array_ns + u64::from(read.units.count_ones()) * self.params.unit_transfer_ns;
        state.current_work_ends = state.current_work_ends.max(ends);
        read.before = state.done_before(now);
        let over = now + read.array_ns;
        let block = self.media.superblock_of(read.flash_page * self.shape.flash_page_units);
        self.media.superblocks[block as usize].reads += 1;
        self.drive_counters.array_reads += 1;
        out.wake(over, DriveWake::ArrayRead(id));
        true
    }

    pub(super) fn array_read_over(&mut self, now: TimeNs, id: u32, out: &mut Outbox) {
        let read = &mut self.reads[id];
        read.in_register = now;
        let (die, plane, units) = (read.die, read.plane, u64::from(read.units.count_ones()));
        let plane = &mut self.dies[die as usize].planes[plane as usize];
        plane.reads = false;
        plane.holds += 1;
        let left = self.transfer(now, die, units * self.params.unit_transfer_ns);
        out.wake(left, DriveWake::ReadOut(id));
        if self.params.cache_read {
            self.dispatch(now, die, out);
        }
    }

    /// When a transfer that a die asks for now is over.
    fn transfer(&mut self, now: TimeNs, die: u32, ns: u64) -> TimeNs {
        let channel = &mut self.channels[self.dies[die as usize].channel as usize];
        channel.free = channel.free.max(now) + ns;
        channel.free
    }

    pub(super) fn read_out(&mut self, now: TimeNs, id: u32, out: &mut Outbox) {
        let mut read = std::mem::take(&mut self.reads[id]);
        let state = &mut self.dies[read.die as usize];
        state.planes[read.plane as usize].holds -= 1;
        state.reading -= 1;
        for reader in read.readers.drain(..) {
            match reader {
                Reader::Host(waiter) => {
                    let at = self.front.cross(now, true, 1);
                    let Before { collected_ns: collection_ns, held_ns: other_ns } = read.before.since(waiter.before);
                    let transfer_ns = at - read.in_register;
                    let time = TimeParts { collection_ns, transfer_ns, flash_ns: read.array_ns, other_ns, ..TimeParts::default() };
                    self.read_ends(at, &waiter, time, out);
                }
                Reader::Rest(superpage) => self.rest_is_there(now, superpage, out),
            }
        }
        let (die, flash_page) = (read.die, read.flash_page);
        self.reads[id] = read;
        self.reads.give_back(id);
        self.dispatch(now, die, out);
        let reads = || self.media.superblocks[self.media.superblock_of(flash_page * self.shape.flash_page_units) as usize].reads;
        if self.collection.upkeep.is_read_too_often(reads) {
            self.begin_parts(now, out);
        }
    }

    /// The first of what waits for all planes, in the order of its class (rule 211).
    fn next_job(&mut self, die: u32) -> Option<Job> {
        let hurries = self.collection.paced.hurries(self.pace());
        let may_program = self.programs_running < self.params.programs_at_once;
        let state = &mut self.dies[die as usize];
        let program = state.programs.front().map(|&id| Job::Program(id));
        let moved_program = state.moved_programs.front().map(|&id| Job::MovedProgram(id));
        if !may_program && (program.is_some() || moved_program.is_some()) && !state.asks_for_power {
            state.asks_for_power = true;
            self.waits_for_power.push_back(die);
        }
        order::of_classes(hurries).into_iter().find_map(|class| match class {
            Class::HostProgram => program.filter(|_| may_program),
            Class::Erase => state.erases.front().map(|&block| Job::Erase(block)),
            Class::CollectionProgram => moved_program.filter(|_| may_program),
            Class::CollectionRead => state.moves.front().map(|&part| Job::Move(part)),
        })
    }

    fn begin_job(&mut self, now: TimeNs, die: u32, job: Job, out: &mut Outbox) {
        let state = &mut self.dies[die as usize];
        state.reads_in_a_row = 0;
        let plain_ns = match job {
            Job::Program(id) | Job::MovedProgram(id) => {
                let queue = if matches!(job, Job::Program(_)) { &mut state.programs } else { &mut state.moved_programs };
                queue.pop_front();
                self.programs_running += 1;
                self.buffer.superpages[id].stage = Stage::Programming;
                let (transfer_ns, program_ns) = self.program_times(id);
                transfer_ns + program_ns
            }
            Job::Erase(_) => {
                state.erases.pop_front();
                self.erase_ns
            }
            Job::Move(part) => {
                state.moves.pop_front();
                self.part_plain_ns(part)
            }
        };
        let state = &mut self.dies[die as usize];
        state.waiting_ns -= plain_ns;
        let of_reads = if state.reading > 0 { state.current_work_ends } else { 0 };
        state.current_work_ends = of_reads.max(now + plain_ns);
        self.counters.pipelined += u64::from(state.reading > 0);
        let step = Step::Transfer;
        state.exclusive = Some(Exclusive { job, step, began: now, suspensions: 0, suspended_from: 0, reads_came: false });
        self.works_from(now, job);
        match job {
            Job::Program(id) | Job::MovedProgram(id) => {
                let at = self.transfer(now, die, self.program_times(id).0);
                out.wake(at, DriveWake::Exclusive(die));
                self.parity_follows(now, id, out);
            }
            Job::Erase(_) => self.array_works(now, die, self.erase_ns, out),
            Job::Move(part) => self.array_works(now, die, self.part_step(part).0, out),
        }
    }

    pub(super) fn array_works(&mut self, now: TimeNs, die: u32, ns: u64, out: &mut Outbox) {
        if let Some(exclusive) = &mut self.dies[die as usize].exclusive {
            exclusive.step = Step::Array { ends: now + ns };
        }
        out.wake(now + ns, DriveWake::Exclusive(die));
        self.interrupt(now, die, out);
    }

    /// A transfer or an array operation of what a die does with all its planes is over.
    pub(super) fn exclusive_over(&mut self, now: TimeNs, die: u32, out: &mut Outbox) {
        let Some(exclusive) = self.dies[die as usize].exclusive else { return };
        let in_array = match exclusive.step {
            Step::Transfer => false,
            Step::Array { ends } if ends == now => true,
            // It was suspended in the meantime, and ends later.
            _ => return,
        };
        match exclusive.job {
            Job::Program(id) | Job::MovedProgram(id) if !in_array => return self.array_works(now, die, self.program_times(id).1, out),
            Job::Move(part) if in_array => {
                let ns = u64::from(self.part_step(part).1) * self.params.unit_transfer_ns;
                let at = self.transfer(now, die, ns);
                self.step_in_registers(die, part, true);
                if let Some(exclusive) = &mut self.dies[die as usize].exclusive {
                    exclusive.step = Step::Transfer;
                }
                out.wake(at, DriveWake::Exclusive(die));
                return self.read_beside_step(now, die, out);
            }
            Job::Move(part) => {
                self.step_in_registers(die, part, false);
                let step = self.part_step_units(part);
                let goes_on = self.part_step_over(part);
                if goes_on && !self.semi {
                    return self.array_works(now, die, self.part_step(part).0, out);
                }
                self.job_over(now, die);
                if goes_on {
                    let plain_ns = self.part_plain_ns(part);
                    let state = &mut self.dies[die as usize];
                    state.moves.push_front(part);
                    state.waiting_ns += plain_ns;
                }
                self.merge_reads(now, die, step, out);
                if !goes_on {
                    self.part_read(now, part, out);
                }
            }
            Job::Program(id) | Job::MovedProgram(id) => {
                self.job_over(now, die);
                self.programs_running -= 1;
                self.programmed(now, id, out);
                self.give_power(now, out);
            }
            Job::Erase(block) => {
                self.job_over(now, die);
                self.erase_over(now, block, out);
            }
        }
        self.dispatch(now, die, out);
    }

    fn job_over(&mut self, now: TimeNs, die: u32) {
        self.count_time(now, die);
        self.dies[die as usize].exclusive = None;
    }

    /// What a die does with all its planes has had it until now.
    pub(super) fn count_time(&mut self, now: TimeNs, die: u32) {
        let Some(Exclusive { job, began, .. }) = self.dies[die as usize].exclusive else { return };
        *self.time_of(job)(&mut self.drive_counters) += now - began;
        if job.is_of_collection() {
            self.counters.gc_time_ns += now - began;
            self.dies[die as usize].collected_ns += now - began;
            self.worked.for_collection.stops(now);
            if self.worked.for_collection.dies() == 0 {
                self.drive_counters.collecting_ns += now - self.collecting_since;
            }
        }
    }

    /// A die begins to work on something, or goes on with it.
    pub(super) fn works_from(&mut self, now: TimeNs, job: Job) {
        if job.is_of_collection() {
            if self.worked.for_collection.dies() == 0 {
                self.collecting_since = now;
            }
            self.worked.for_collection.begins(now);
        }
    }

    /// The counter of the time that dies spend so.
    pub(super) fn time_of(&self, job: Job) -> fn(&mut DriveCounters) -> &mut u64 {
        match job {
            Job::Program(id) | Job::MovedProgram(id) if self.buffer.superpages[id].is_parity => |counters| &mut counters.parity_program_ns,
            Job::Program(_) => |counters| &mut counters.program_ns,
            Job::MovedProgram(_) => |counters| &mut counters.collection_program_ns,
            Job::Erase(_) => |counters| &mut counters.erase_ns,
            Job::Move(_) => |counters| &mut counters.collection_read_ns,
        }
    }

    /// Time that a die is still to work for collection: on what it does for it, and on what waits there.
    pub(super) fn collection_left_ns(&self, now: TimeNs, die: &Die) -> u64 {
        let current_ns = match die.exclusive {
            Some(Exclusive { job, step, .. }) if job.is_of_collection() => match (job, step) {
                (_, Step::Suspended { rest_ns }) => rest_ns,
                (Job::Move(part), _) => self.part_plain_ns(part).min(die.current_work_ends.saturating_sub(now)),
                _ => die.current_work_ends.saturating_sub(now),
            },
            _ => 0,
        };
        let programs_ns =
            die.moved_programs.iter().map(|&id| self.program_times(id)).map(|(transfer_ns, program_ns)| transfer_ns + program_ns);
        let moves_ns = die.moves.iter().map(|&part| self.part_plain_ns(part));
        current_ns + programs_ns.chain(moves_ns).sum::<u64>() + die.erases.len() as u64 * self.erase_ns
    }

    /// A program has ended: the dies that wait for leave to begin one look again, in order of asking, while there is leave.
    fn give_power(&mut self, now: TimeNs, out: &mut Outbox) {
        while self.programs_running < self.params.programs_at_once
            && let Some(die) = self.waits_for_power.pop_front()
        {
            self.dies[die as usize].asks_for_power = false;
            self.dispatch(now, die, out);
        }
    }
}
