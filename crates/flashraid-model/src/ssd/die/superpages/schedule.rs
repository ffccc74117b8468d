//! Choice of the next job of a die that programs superpages (rules 203, 211 and 214).

use super::SuperpageContext;
use crate::events::{OperationTimeParts, TimeNs};
use crate::ssd::collect::order::{self, Class};
use crate::ssd::die::activity::Activity;
use crate::ssd::front::SuperpageStage;
use crate::ssd::job::{Reader, SuperpageWake, WorkSnapshot};
use crate::ssd::mechanism::AtDie;
use crate::ssd::params::PlaneReadMode;
use std::collections::VecDeque;

/// Read of one flash page for the host.
#[derive(Debug, Clone, Default)]
pub(super) struct FlashRead {
    pub(crate) flash_page: u64,
    die: u32,
    plane: u32,
    /// Time that the flash array takes for the read, in nanoseconds.
    pub(crate) array_ns: u64,
    /// Set of the units that were asked for, one bit for each.
    pub(crate) units: u64,
    pub(crate) readers: Vec<Reader>,
    /// Time at which the page was in the register of its plane.
    in_register: TimeNs,
    /// Snapshot of the die's work before the read began.
    before: WorkSnapshot,
}

/// A read in the queue of its die, with what the queue is searched for: long queues are searched in the order of memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct WaitingRead {
    flash_page: u64,
    plane: u32,
    pub(super) id: u32,
}

/// Jobs that need all planes of a die: programs, erases, and reads of collection.
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

/// Steps of a job that needs all planes of a die.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Transfers data over the channel.
    Transfer,
    /// Waits until the flash array of the die has finished its work, at time `ends`.
    FlashCellOperation { ends: TimeNs },
    /// The die waits until its flash array has suspended the program or erase. `remaining_operation_ns` is the time that the program
    /// or erase still needs.
    Suspending { remaining_operation_ns: u64 },
    /// The die serves host reads, because its program or erase is suspended. `remaining_operation_ns` is the time that the
    /// program or erase still needs.
    Suspended { remaining_operation_ns: u64 },
    /// The die waits until its suspended program or erase goes on. It has been resumed, which takes a while. `remaining_operation_ns` is
    /// the time that the program or erase needs after that.
    Resuming { remaining_operation_ns: u64 },
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Exclusive {
    pub(crate) job: Job,
    pub(crate) step: Step,
    /// Time at which the job last got the die: its start, or the end of the reads that interrupted it.
    pub(crate) began: TimeNs,
    /// Number of times that the job has been suspended so far.
    pub(crate) suspensions: u32,
    /// Time from which the job may be suspended again.
    pub(crate) suspended_from: TimeNs,
    /// True if reads have arrived since the job last continued, or if some were waiting then.
    pub(crate) reads_came: bool,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Plane {
    /// True while the flash array reads a page into the plane's register.
    pub(crate) reads: bool,
    /// Number of pages that have been read and are still in registers of the plane.
    pub(crate) holds: u8,
}

/// State of one die of a drive.
#[derive(Debug, Clone)]
pub(super) struct Die {
    channel: u32,
    /// Flash pages to read for the host.
    pub(crate) reads: VecDeque<WaitingRead>,
    pub(crate) programs: VecDeque<u32>,
    pub(crate) erases: VecDeque<u32>,
    pub(crate) moved_programs: VecDeque<u32>,
    /// Parts of victims that must be read.
    pub(crate) moves: VecDeque<u32>,
    pub(crate) planes: Vec<Plane>,
    /// Number of flash pages that its planes are reading or hold in registers.
    pub(crate) reading: u32,
    pub(crate) exclusive: Option<Exclusive>,
    /// Number of host reads that began one after another while other work waited.
    pub(crate) reads_in_a_row: u32,
    /// True if the die waits because only a limited number of dies may program at a time.
    waits_to_program: bool,
    /// True if the die has received reads but has not yet chosen its next work.
    touched: bool,
    /// End of the current work, if it never waits for a channel.
    pub(crate) current_work_ends: TimeNs,
    /// Sum of the durations of waiting work, if it never waits for channels.
    pub(crate) waiting_ns: u64,
    collected_ns: u64,
    /// Busy and idle time of the die, and the optional mechanisms that occupy it, such as background work.
    pub(crate) activity: Activity,
    /// Time until which an optional mechanism, such as background work, occupies the die.
    pub(crate) held_until: Option<TimeNs>,
}

impl Exclusive {
    fn is_suspended(&self) -> bool {
        matches!(self.step, Step::Suspended { .. })
    }
}

impl Die {
    pub(super) fn new(planes: u32, channel: u32, mechanisms: Option<Box<AtDie>>) -> Self {
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
            waits_to_program: false,
            touched: false,
            current_work_ends: 0,
            waiting_ns: 0,
            collected_ns: 0,
            activity: Activity::new(mechanisms),
            held_until: None,
        }
    }

    /// Returns true if reads or jobs wait in the die's queues.
    pub(crate) fn has_something_waiting(&self) -> bool {
        let Self { reads, programs, erases, moved_programs, moves, .. } = self;
        !(reads.is_empty() && programs.is_empty() && erases.is_empty() && moved_programs.is_empty() && moves.is_empty())
    }

    pub(super) fn done_before(&self, now: TimeNs) -> WorkSnapshot {
        WorkSnapshot { collected_ns: self.collected_ns(now), held_ns: self.activity.held.at(now) }
    }

    /// Returns true if a job of collection has the die, and reads have not.
    pub(crate) fn works_for_collection(&self) -> bool {
        self.exclusive.is_some_and(|exclusive| exclusive.job.is_of_collection() && !exclusive.is_suspended())
    }

    /// Returns the job that occupies all planes, and the time for which it has worked since its start or its last interruption.
    pub(crate) fn works_on_for(&self, now: TimeNs) -> Option<(Job, u64)> {
        self.exclusive.filter(|exclusive| !exclusive.is_suspended()).map(|exclusive| (exclusive.job, now - exclusive.began))
    }

    /// Returns the total time that the die has worked for collection until `now`.
    pub(super) fn collected_ns(&self, now: TimeNs) -> u64 {
        let current = self.exclusive.filter(|_| self.works_for_collection()).map_or(0, |exclusive| now - exclusive.began);
        self.collected_ns + current
    }
}

impl SuperpageContext<'_> {
    /// Adds a read of the unit at a place to the queue of its die. [`SuperpageContext::look_at_touched`] must be called after it.
    pub(super) fn enqueue_read(&mut self, now: TimeNs, ppn: u64, mut reader: Reader) {
        if self.own.merging.holds(ppn) {
            return self.serve_merged(now, reader, WorkSnapshot::default());
        }
        let place = self.own.shape.place(ppn);
        let die = &mut self.own.dies[place.die as usize];
        if let Reader::Host(waiter) = &mut reader {
            waiter.before = die.done_before(now);
        }
        if let Some(exclusive) = &mut die.exclusive {
            exclusive.reads_came = true;
        }
        if !die.touched {
            die.touched = true;
            self.own.touched_dies.push(place.die);
        }
        let reads = &mut self.own.reads;
        if let Some(waiting) = die.reads.iter().find(|waiting| waiting.flash_page == place.flash_page_in_drive) {
            let read = &mut reads[waiting.id];
            read.units |= 1 << place.unit_of_page;
            read.readers.push(reader);
            self.parts.drive_counters.page_reads_sharing_flash_read += 1;
            return;
        }
        let id = reads.take();
        let array_ns = self.own.array_read_ns(self.media, ppn, place.page_of_block);
        let (die, read) = (&mut self.own.dies[place.die as usize], &mut self.own.reads[id]);
        read.array_ns = array_ns;
        (read.flash_page, read.die, read.plane) = (place.flash_page_in_drive, place.die, place.plane);
        read.units = 1 << place.unit_of_page;
        read.readers.push(reader);
        die.waiting_ns += read.array_ns + self.own.params.mapping_unit_transfer_ns;
        die.reads.push_back(WaitingRead { flash_page: read.flash_page, plane: read.plane, id });
    }

    /// Lets all dies that have received reads choose their next work, in the order in which they received the first one.
    pub(super) fn look_at_touched(&mut self, now: TimeNs) {
        let mut touched = std::mem::take(&mut self.own.touched_dies);
        for &die in &touched {
            self.own.dies[die as usize].touched = false;
        }
        for die in touched.drain(..) {
            self.dispatch(now, die);
        }
        self.own.touched_dies = touched;
    }

    /// Starts all waiting work that a die can start now.
    pub(super) fn dispatch(&mut self, now: TimeNs, die: u32) {
        self.begin_ready_work(now, die);
        let state = &mut self.own.dies[die as usize];
        match (state.activity.busy_since(), state.exclusive.is_some() || state.reading > 0) {
            (None, true) => state.activity.begin_work(now, self.parts),
            (Some(_), false) => state.activity.end_work(now, self.parts),
            _ => {}
        }
    }

    fn begin_ready_work(&mut self, now: TimeNs, die: u32) {
        if self.is_held(now, die) {
            return;
        }
        loop {
            let exclusive = &self.own.dies[die as usize].exclusive;
            let is_suspended = exclusive.as_ref().is_some_and(Exclusive::is_suspended);
            if exclusive.is_some() && !is_suspended {
                self.read_beside_step(now, die);
                return self.interrupt(now, die);
            }
            let next = if is_suspended { None } else { self.next_job(die) };
            let others_wait = is_suspended || next.is_some();
            let state = &self.own.dies[die as usize];
            let may_read = !others_wait || state.reads_in_a_row < self.own.params.reads.reads_ahead;
            if may_read && !state.reads.is_empty() {
                if !self.begin_read(now, die, others_wait) {
                    return;
                }
            } else if state.reading > 0 && !self.may_overlap(die, next) {
                return;
            } else if is_suspended {
                return self.resume(now, die);
            } else if let Some(job) = next {
                self.begin_job(now, die, job);
            } else {
                return;
            }
        }
    }

    /// Starts the first waiting read whose plane is free. Returns true if there was one.
    pub(super) fn begin_read(&mut self, now: TimeNs, die: u32, others_wait: bool) -> bool {
        let state = &mut self.own.dies[die as usize];
        if self.own.params.reads.plane_reads == PlaneReadMode::OnePlaneAtATime && state.reading > 0 {
            return false;
        }
        let holds_max = u8::from(self.own.params.reads.cache_read);
        let reads = &mut self.own.reads;
        let is_free = |plane: &Plane| !plane.reads && plane.holds <= holds_max;
        let Some(at) = state.reads.iter().position(|waiting| is_free(&state.planes[waiting.plane as usize])) else { return false };
        let WaitingRead { id, .. } = state.reads.remove(at).expect("it has just been found");
        let read = &mut reads[id];
        state.planes[read.plane as usize].reads = true;
        state.reading += 1;
        state.reads_in_a_row += u32::from(others_wait);
        state.waiting_ns -= read.array_ns + self.own.params.mapping_unit_transfer_ns;
        let block = self.media.superblock_of(read.flash_page * u64::from(self.own.shape.mapping_units_per_flash_page));
        let superblock = &mut self.media.superblocks[block as usize];
        superblock.reads += 1;
        read.array_ns += state.activity.extra_array_ns(read.array_ns, || (read.flash_page, superblock.erases));
        let ends = now + read.array_ns + u64::from(read.units.count_ones()) * self.own.params.mapping_unit_transfer_ns;
        state.current_work_ends = state.current_work_ends.max(ends);
        read.before = state.done_before(now);
        let over = now + read.array_ns;
        self.parts.drive_counters.flash_page_reads_for_host += 1;
        self.out.wake(over, SuperpageWake::HostCellReadEnds(id));
        true
    }

    pub(super) fn array_read_ended(&mut self, now: TimeNs, id: u32) {
        let read = &mut self.own.reads[id];
        read.in_register = now;
        let (die, plane, units) = (read.die, read.plane, u64::from(read.units.count_ones()));
        let plane = &mut self.own.dies[die as usize].planes[plane as usize];
        plane.reads = false;
        plane.holds += 1;
        let left = self.transfer(now, die, units * self.own.params.mapping_unit_transfer_ns);
        self.out.wake(left, SuperpageWake::ReadTransferred(id));
        if self.own.params.reads.cache_read {
            self.dispatch(now, die);
        }
    }

    /// Starts a transfer of a die and returns its end.
    fn transfer(&mut self, now: TimeNs, die: u32, ns: u64) -> TimeNs {
        self.own.channels[self.own.dies[die as usize].channel as usize].ask(now, ns)
    }

    pub(super) fn read_out(&mut self, now: TimeNs, id: u32) {
        let mut read = std::mem::take(&mut self.own.reads[id]);
        let state = &mut self.own.dies[read.die as usize];
        state.planes[read.plane as usize].holds -= 1;
        state.reading -= 1;
        for reader in read.readers.drain(..) {
            match reader {
                Reader::Host(waiter) => {
                    let at = self.front.send_page_to_host(now);
                    let WorkSnapshot { collected_ns: collection_ns, held_ns: other_ns } = read.before.since(waiter.before);
                    let transfer_ns = at - read.in_register;
                    let time = OperationTimeParts {
                        collection_ns,
                        transfer_ns,
                        flash_ns: read.array_ns,
                        other_ns,
                        ..OperationTimeParts::default()
                    };
                    self.read_ends(at, &waiter, time);
                }
                Reader::PartialUnitWrite(superpage) => self.rest_of_unit_read(now, superpage),
            }
        }
        let (die, flash_page) = (read.die, read.flash_page);
        self.own.reads[id] = read;
        self.own.reads.recycle(id);
        self.dispatch(now, die);
        let reads = || {
            self.media.superblocks[self.media.superblock_of(flash_page * u64::from(self.own.shape.mapping_units_per_flash_page)) as usize]
                .reads
        };
        if self.own.collection.upkeep.is_read_too_often(reads) {
            self.begin_parts(now);
        }
    }

    /// Returns the next job that needs all planes, in the order of the classes (rule 211).
    fn next_job(&mut self, die: u32) -> Option<Job> {
        let collection_first = self.own.collection.paced.collection_first(self.own.collection.pace(self.need()));
        let may_program = self.own.programs_running < self.own.params.dies_programming_max;
        let state = &mut self.own.dies[die as usize];
        let program = state.programs.front().map(|&id| Job::Program(id));
        let moved_program = state.moved_programs.front().map(|&id| Job::MovedProgram(id));
        if !may_program && (program.is_some() || moved_program.is_some()) && !state.waits_to_program {
            state.waits_to_program = true;
            self.own.waiting_to_program.push_back(die);
        }
        order::of_classes(collection_first).into_iter().find_map(|class| match class {
            Class::HostProgram => program.filter(|_| may_program),
            Class::Erase => state.erases.front().map(|&block| Job::Erase(block)),
            Class::CollectionProgram => moved_program.filter(|_| may_program),
            Class::CollectionRead => state.moves.front().map(|&part| Job::Move(part)),
        })
    }

    fn begin_job(&mut self, now: TimeNs, die: u32, job: Job) {
        let state = &mut self.own.dies[die as usize];
        state.reads_in_a_row = 0;
        let plain_ns = match job {
            Job::Program(id) | Job::MovedProgram(id) => {
                let queue = if matches!(job, Job::Program(_)) { &mut state.programs } else { &mut state.moved_programs };
                queue.pop_front();
                self.own.programs_running += 1;
                self.own.buffer[id].stage = SuperpageStage::Programming;
                let (transfer_ns, program_ns) = self.own.program_times(self.media, id);
                transfer_ns + program_ns
            }
            Job::Erase(_) => {
                state.erases.pop_front();
                self.own.erase_ns
            }
            Job::Move(part) => {
                state.moves.pop_front();
                self.own.part_plain_ns(self.media, part)
            }
        };
        let state = &mut self.own.dies[die as usize];
        state.waiting_ns -= plain_ns;
        let of_reads = if state.reading > 0 { state.current_work_ends } else { 0 };
        state.current_work_ends = of_reads.max(now + plain_ns);
        self.parts.counters.pipelined_operations += u64::from(state.reading > 0);
        let step = Step::Transfer;
        state.exclusive = Some(Exclusive { job, step, began: now, suspensions: 0, suspended_from: 0, reads_came: false });
        self.begin_work_on(now, job);
        match job {
            Job::Program(id) | Job::MovedProgram(id) => {
                let at = self.transfer(now, die, self.own.program_times(self.media, id).0);
                self.out.wake(at, SuperpageWake::AllPlaneJobStepEnds(die));
                self.send_parity_if_due(now, id);
            }
            Job::Erase(_) => self.array_works(now, die, self.own.erase_ns),
            Job::Move(part) => self.array_works(now, die, self.own.part_step(self.media, part).0),
        }
    }

    pub(super) fn array_works(&mut self, now: TimeNs, die: u32, ns: u64) {
        if let Some(exclusive) = &mut self.own.dies[die as usize].exclusive {
            exclusive.step = Step::FlashCellOperation { ends: now + ns };
        }
        self.out.wake(now + ns, SuperpageWake::AllPlaneJobStepEnds(die));
        self.interrupt(now, die);
    }

    /// Ends the current step of a job that needs all planes.
    pub(super) fn exclusive_step_ended(&mut self, now: TimeNs, die: u32) {
        let Some(exclusive) = self.own.dies[die as usize].exclusive else { return };
        let in_array = match exclusive.step {
            Step::Transfer => false,
            Step::FlashCellOperation { ends } if ends == now => true,
            // It was suspended in the meantime, and ends later.
            _ => return,
        };
        match exclusive.job {
            Job::Program(id) | Job::MovedProgram(id) if !in_array => {
                return self.array_works(now, die, self.own.program_times(self.media, id).1);
            }
            Job::Move(part) if in_array => {
                let ns = u64::from(self.own.part_step(self.media, part).1) * self.own.params.mapping_unit_transfer_ns;
                let at = self.transfer(now, die, ns);
                self.step_in_registers(die, part, true);
                if let Some(exclusive) = &mut self.own.dies[die as usize].exclusive {
                    exclusive.step = Step::Transfer;
                }
                self.out.wake(at, SuperpageWake::AllPlaneJobStepEnds(die));
                return self.read_beside_step(now, die);
            }
            Job::Move(part) => {
                self.step_in_registers(die, part, false);
                let step = self.own.part_step_units(part);
                let goes_on = self.own.part_step_ended(part);
                if goes_on && !self.own.semi {
                    return self.array_works(now, die, self.own.part_step(self.media, part).0);
                }
                self.job_ended(now, die);
                if goes_on {
                    let plain_ns = self.own.part_plain_ns(self.media, part);
                    let state = &mut self.own.dies[die as usize];
                    state.moves.push_front(part);
                    state.waiting_ns += plain_ns;
                }
                self.merge_reads(now, die, step);
                if !goes_on {
                    self.part_read(now, part);
                }
            }
            Job::Program(id) | Job::MovedProgram(id) => {
                self.job_ended(now, die);
                self.own.programs_running -= 1;
                self.programmed(now, id);
                self.grant_programs(now);
            }
            Job::Erase(block) => {
                self.job_ended(now, die);
                self.die_erased_block(now, block);
            }
        }
        self.dispatch(now, die);
    }

    fn job_ended(&mut self, now: TimeNs, die: u32) {
        self.count_time(now, die);
        self.own.dies[die as usize].exclusive = None;
    }

    /// Adds the time since the job began to the counter of its kind.
    pub(super) fn count_time(&mut self, now: TimeNs, die: u32) {
        let Some(Exclusive { job, began, .. }) = self.own.dies[die as usize].exclusive else { return };
        *self.own.time_of(job)(&mut self.parts.drive_counters) += now - began;
        if job.is_of_collection() {
            self.parts.counters.gc_time_ns += now - began;
            self.own.dies[die as usize].collected_ns += now - began;
            self.parts.work_times.for_collection.end(now);
            if self.parts.work_times.for_collection.dies() == 0 {
                self.parts.drive_counters.any_die_collecting_ns += now - self.own.collecting_since;
            }
        }
    }

    /// Records that a die begins or continues to work on a job.
    pub(super) fn begin_work_on(&mut self, now: TimeNs, job: Job) {
        if job.is_of_collection() {
            if self.parts.work_times.for_collection.dies() == 0 {
                self.own.collecting_since = now;
            }
            self.parts.work_times.for_collection.begin(now);
        }
    }

    /// Lets waiting dies program, in the order of their requests, up to the number that may program at a time.
    fn grant_programs(&mut self, now: TimeNs) {
        while self.own.programs_running < self.own.params.dies_programming_max
            && let Some(die) = self.own.waiting_to_program.pop_front()
        {
            self.own.dies[die as usize].waits_to_program = false;
            self.dispatch(now, die);
        }
    }
}
