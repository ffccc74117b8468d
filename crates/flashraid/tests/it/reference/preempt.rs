//! Section 10 of the rules: cleans that go step by step, idle collection, suspension. One event per step.

use flashraid_model::ssd::{Preemption, Suspension};

use super::flash::Page;
use super::{Collection, Event, Operation, Simulation};

/// What a die of section 10 does, and its clean.
#[derive(Default)]
pub struct Stepper {
    doing: Doing,
    /// Events that carry another number are void.
    number: u64,
    /// When the present activity ends.
    until: u64,
    clean: Option<StepwiseClean>,
    /// The array operation in flight that a read may suspend, with the page that it programs.
    in_flight: Option<InFlight>,
    /// Writes that are done when the program of the page in the register is.
    merged: Vec<Operation>,
    /// A high-priority write is served after a clean in state 3.
    serves_after_state_3: bool,
    cleans_ended: Vec<u64>,
}

#[derive(Default, Clone, Copy, PartialEq, Eq, Debug)]
enum Doing {
    #[default]
    Nothing,
    Command,
    Merge,
    Poll,
    ReadOfClean,
    ProgramOfClean,
    Erase,
    /// Without preemption.
    WholeClean,
    Suspending,
    SuspendedRead,
    Resuming,
}

/// Why a clean began.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// A pool needed it.
    Need,
    /// The die had been idle, whether or not a pool needed it.
    Idle,
    /// The array's controller.
    Forced,
}

struct StepwiseClean {
    pool: usize,
    victim: usize,
    state: u8,
    state_since: u64,
    register: Option<Page>,
    cause: Cause,
    operation_arrived: bool,
}

#[derive(Clone)]
struct InFlight {
    from: u64,
    page: Option<Page>,
    suspended: u32,
    doing: Doing,
    rest: u64,
    /// Host writes that are done when it is.
    ends: Vec<Operation>,
}

impl Simulation<'_> {
    /// Whether section 10 applies.
    pub fn is_stepwise(&self) -> bool {
        let gc = &self.ssd.gc;
        !gc.instantaneous && (gc.preemption.is_some() || gc.idle_ns.is_some() || self.controller.is_some())
    }

    fn preemption(&self) -> Option<Preemption> {
        self.ssd.gc.preemption
    }

    fn suspension(&self) -> Option<Suspension> {
        self.preemption().and_then(|preemption| preemption.suspension)
    }

    fn stepper(&mut self, member: usize, die: usize) -> &mut Stepper {
        &mut self.members[member].steppers[die]
    }

    fn clean_of(&mut self, member: usize, die: usize) -> &mut StepwiseClean {
        self.stepper(member, die).clean.as_mut().expect("a clean is in progress")
    }

    /// A die begins something that takes `ns`.
    fn does(&mut self, member: usize, die: usize, doing: Doing, ns: u64) {
        let now = self.now;
        let stepper = self.stepper(member, die);
        stepper.doing = doing;
        stepper.number += 1;
        stepper.until = now + ns;
        let number = stepper.number;
        if ns == 0 && doing != Doing::Nothing {
            self.step_over(member, die, number);
        } else {
            self.schedule(ns, Event::Step { member, die, number });
        }
    }

    /// A die has nothing to do.
    pub fn rests(&mut self, member: usize, die: usize) {
        match self.ssd.gc.idle_ns {
            Some(idle_ns) => self.does(member, die, Doing::Nothing, idle_ns),
            None => {
                let stepper = self.stepper(member, die);
                stepper.doing = Doing::Nothing;
                stepper.number += 1;
            }
        }
    }

    /// An operation has joined the queue.
    pub fn stepper_has_more(&mut self, member: usize, die: usize, operation: Operation) {
        if let Some(clean) = &mut self.stepper(member, die).clean {
            clean.operation_arrived = true;
        }
        if self.stepper(member, die).doing == Doing::Nothing {
            self.outside_of_cleans(member, die);
        } else {
            self.may_suspend(member, die, operation);
        }
    }

    pub fn step_over(&mut self, member: usize, die: usize, number: u64) {
        if self.stepper(member, die).number != number {
            return;
        }
        let doing = self.stepper(member, die).doing;
        match doing {
            Doing::Nothing => {
                self.idle_clean(member, die);
            }
            Doing::Command => {
                self.flight_ends(member, die);
                if self.stepper(member, die).clean.is_some() {
                    self.point(member, die);
                } else if std::mem::take(&mut self.stepper(member, die).serves_after_state_3) {
                    if !self.forced_clean(member, die) && !self.needed_clean(member, die, Cause::Need) {
                        self.outside_of_cleans(member, die);
                    }
                } else {
                    self.outside_of_cleans(member, die);
                }
            }
            Doing::Merge | Doing::ReadOfClean => self.point(member, die),
            Doing::Poll => self.polled(member, die),
            Doing::ProgramOfClean => {
                self.flight_ends(member, die);
                self.clean_of(member, die).register = None;
                self.point(member, die);
            }
            Doing::Erase => {
                let StepwiseClean { pool, victim, .. } = *self.clean_of(member, die);
                self.members[member].flash.erase(die, pool, victim);
                self.stepper(member, die).in_flight = None;
                self.clean_ends(member, die);
            }
            Doing::WholeClean => self.clean_ends(member, die),
            Doing::Suspending | Doing::SuspendedRead => self.serve_suspended_reads(member, die),
            Doing::Resuming => {
                let now = self.now;
                let flight = self.stepper(member, die).in_flight.as_mut().expect("an operation is suspended");
                flight.from = now;
                let (doing, rest) = (flight.doing, flight.rest);
                self.does(member, die, doing, rest);
            }
        }
    }

    /// What was in flight is over, and with it the writes that end with it.
    fn flight_ends(&mut self, member: usize, die: usize) {
        if let Some(flight) = self.stepper(member, die).in_flight.take() {
            for operation in flight.ends {
                self.leaves_die(member, operation);
            }
        }
    }

    // Rules 10, 12, 32 and 38.

    fn outside_of_cleans(&mut self, member: usize, die: usize) {
        if self.forced_clean(member, die) {
            return;
        }
        let Some(&head) = self.members[member].dies[die].queue.first() else {
            return self.rests(member, die);
        };
        let checks = self.ssd.gc.trigger == flashraid_model::ssd::Trigger::Request || head.write;
        if checks && self.needed_clean(member, die, Cause::Need) {
            return;
        }
        self.serve_stepwise(member, die, 0);
    }

    fn needed_clean(&mut self, member: usize, die: usize, cause: Cause) -> bool {
        match self.members[member].flash.find_victim(die) {
            Some((pool, victim)) => {
                self.will_ask(member, die);
                self.begin_stepwise_clean(member, die, pool, victim, cause);
                true
            }
            None => false,
        }
    }

    /// Rule 38; false if there is nothing to clean.
    fn idle_clean(&mut self, member: usize, die: usize) -> bool {
        if self.run_is_over() {
            return false;
        }
        if self.needed_clean(member, die, Cause::Idle) {
            return true;
        }
        match self.members[member].flash.find_idle_victim(die) {
            Some((pool, victim)) => {
                self.begin_stepwise_clean(member, die, pool, victim, Cause::Idle);
                true
            }
            None => false,
        }
    }

    pub fn begin_stepwise_clean(&mut self, member: usize, die: usize, pool: usize, victim: usize, cause: Cause) {
        let now = self.now;
        self.members[member].flash.dies[die].pool_cleaned_last = Some(pool);
        let collections = self.members[member].collections.entry((die, None)).or_default();
        if collections.last().is_none_or(|collection| collection.end != Some(now)) {
            collections.push(Collection { start: now, end: None, victims: 0, pages_moved: 0, forced: cause == Cause::Forced });
        }
        let collection = collections.last_mut().expect("a collection has begun");
        collection.end = None;
        collection.victims += 1;
        self.members[member].counters.erases += 1;
        self.members[member].counters.idle_cleans += u64::from(cause == Cause::Idle);
        let hard = self.is_below_hard(member, die, pool);
        let state = match self.preemption() {
            None => 3,
            Some(_) if hard => 2,
            Some(_) => 1,
        };
        self.stepper(member, die).clean =
            Some(StepwiseClean { pool, victim, state, state_since: now, register: None, cause, operation_arrived: false });
        if self.preemption().is_some() {
            self.point(member, die);
        } else {
            let mut duration = self.ssd.timing.block_erase_ns;
            for page in self.members[member].flash.pages_of(die, pool, victim) {
                duration += self.read_of_clean_ns() + self.take_new_place(member, die, page);
                self.count_move(member, die);
            }
            self.members[member].flash.erase(die, pool, victim);
            self.does(member, die, Doing::WholeClean, duration);
        }
    }

    fn count_move(&mut self, member: usize, die: usize) {
        self.members[member].counters.gc_pages_moved += 1;
        let collections = self.members[member].collections.get_mut(&(die, None)).expect("a collection goes on");
        collections.last_mut().expect("a collection goes on").pages_moved += 1;
    }

    fn clean_ends(&mut self, member: usize, die: usize) {
        let now = self.now;
        self.enter_state(member, die, 0);
        let clean = self.stepper(member, die).clean.take().expect("a clean ends");
        self.stepper(member, die).cleans_ended.push(now);
        let collections = self.members[member].collections.get_mut(&(die, None)).expect("a collection goes on");
        collections.last_mut().expect("a collection goes on").end = Some(now);
        self.protocol_sees_end_of_clean(member, die);
        if self.preemption().is_some() && clean.state == 3 {
            let queue = self.members[member].dies[die].queue.clone();
            let first = (0..queue.len()).find(|&index| queue[index].write && queue[index].high_priority && !overtakes(&queue, index));
            if let Some(index) = first {
                if self.room(member, die) {
                    self.stepper(member, die).serves_after_state_3 = true;
                    return self.serve_stepwise(member, die, index);
                }
                self.refuse(member, die, index);
            }
        }
        if self.forced_clean(member, die) {
            return;
        }
        if clean.cause == Cause::Idle && !clean.operation_arrived && self.idle_clean(member, die) {
            return;
        }
        if self.preemption().is_some() && self.needed_clean(member, die, Cause::Need) {
            return;
        }
        self.outside_of_cleans(member, die);
    }

    // Rules 31 and 33 to 37.

    fn is_below_hard(&self, member: usize, die: usize, pool: usize) -> bool {
        let free = self.members[member].flash.free_blocks(die, pool);
        self.preemption().is_some_and(|preemption| f64::from(free) < preemption.t_hard * f64::from(self.ssd.gc.start_free_blocks))
    }

    fn enter_state(&mut self, member: usize, die: usize, state: u8) {
        let now = self.now;
        let clean = self.clean_of(member, die);
        let (left, since) = (clean.state, clean.state_since);
        clean.state_since = now;
        if state != 0 {
            clean.state = state;
        }
        let counters = &mut self.members[member].counters;
        match left {
            1 => counters.gc_free_for_all_ns += now - since,
            2 => counters.gc_writes_wait_ns += now - since,
            _ => {}
        }
    }

    fn point(&mut self, member: usize, die: usize) {
        if self.clean_of(member, die).state == 3 {
            self.clean_goes_on(member, die);
        } else {
            let poll_ns = self.preemption().expect("points need preemption").poll_ns;
            self.does(member, die, Doing::Poll, poll_ns);
        }
    }

    fn polled(&mut self, member: usize, die: usize) {
        let preemption = self.preemption().expect("polls need preemption");
        let pool = self.clean_of(member, die).pool;
        let queue = self.members[member].dies[die].queue.clone();
        if self.clean_of(member, die).state == 1 && self.is_below_hard(member, die, pool) {
            self.enter_state(member, die, 2);
        }
        let short = self.members[member].flash.free_blocks(die, pool) <= self.ssd.gc.start_free_blocks;
        if short && queue.iter().any(|operation| operation.write && operation.high_priority) {
            self.enter_state(member, die, 3);
            return self.clean_goes_on(member, die);
        }
        let state = self.clean_of(member, die).state;
        let register = self.clean_of(member, die).register;
        let wants_register = queue.iter().position(|operation| Some(operation.page) == register);
        if let Some(index) = wants_register.filter(|_| preemption.merge) {
            return self.merge(member, die, index);
        }
        let room = self.room(member, die);
        if state == 1 && !room {
            for (index, _) in queue.iter().enumerate().filter(|(_, operation)| operation.write) {
                self.refuse(member, die, index);
            }
        }
        let may_go_in = |index: &usize| {
            let kind = if queue[*index].write { state == 1 && room } else { register.is_none() };
            kind && !overtakes(&queue, *index)
        };
        let admitted: Vec<usize> = (0..queue.len()).filter(may_go_in).collect();
        let victims_pages = self.pages_left(member, die);
        if preemption.reorder && register.is_none() {
            let mut wanting = admitted.first().copied();
            if wanting.is_none() && state == 2 {
                wanting = (0..queue.len()).find(|&index| queue[index].write && !overtakes(&queue, index));
            }
            let wanted = wanting.map(|index| queue[index].page);
            if let Some(page) = wanted.filter(|page| victims_pages.contains(page)) {
                return self.read_of_clean(member, die, page);
            }
        }
        let Some(&first) = admitted.first() else { return self.clean_goes_on(member, die) };
        let operation = queue[first];
        if preemption.pipeline && admitted.len() == 1 {
            match register {
                None if !operation.write && !victims_pages.is_empty() => {
                    return self.read_together(member, die, first, victims_pages[0]);
                }
                Some(page) if operation.page != page && victims_pages.contains(&page) => {
                    return self.program_together(member, die, first, page);
                }
                _ => {}
            }
        }
        self.serve_stepwise(member, die, first);
    }

    /// The clean's next step by itself.
    fn clean_goes_on(&mut self, member: usize, die: usize) {
        let left = self.pages_left(member, die);
        match self.clean_of(member, die).register {
            None if left.is_empty() => {
                let now = self.now;
                self.stepper(member, die).in_flight =
                    Some(InFlight { from: now, page: None, suspended: 0, doing: Doing::Erase, rest: 0, ends: Vec::new() });
                self.does(member, die, Doing::Erase, self.ssd.timing.block_erase_ns);
            }
            None => self.read_of_clean(member, die, left[0]),
            Some(page) if left.contains(&page) => {
                let duration = self.program_of_clean(member, die, page);
                let now = self.now;
                let ends = std::mem::take(&mut self.stepper(member, die).merged);
                self.stepper(member, die).in_flight =
                    Some(InFlight { from: now, page: Some(page), suspended: 0, doing: Doing::ProgramOfClean, rest: 0, ends });
                self.does(member, die, Doing::ProgramOfClean, duration);
            }
            Some(_) => {
                self.members[member].counters.gc_pages_dropped += 1;
                self.clean_of(member, die).register = None;
                self.point(member, die);
            }
        }
    }

    /// Valid pages of the victim that have not moved yet, the one in the register included.
    fn pages_left(&mut self, member: usize, die: usize) -> Vec<Page> {
        let StepwiseClean { pool, victim, .. } = *self.clean_of(member, die);
        self.members[member].flash.pages_of(die, pool, victim)
    }

    fn read_of_clean_ns(&self) -> u64 {
        let timing = &self.ssd.timing;
        timing.page_read_ns + if self.ssd.gc.copy_back { 0 } else { 2 * timing.page_transfer_ns }
    }

    fn read_of_clean(&mut self, member: usize, die: usize, page: Page) {
        self.clean_of(member, die).register = Some(page);
        self.does(member, die, Doing::ReadOfClean, self.read_of_clean_ns());
    }

    /// Moves a page and returns how long its program takes.
    fn take_new_place(&mut self, member: usize, die: usize, page: Page) -> u64 {
        let fills_block = self.members[member].flash.move_page(die, page);
        self.program_ns(member, fills_block)
    }

    fn program_ns(&mut self, member: usize, fills_block: bool) -> u64 {
        let timing = &self.ssd.timing;
        if !fills_block || !self.ssd.geometry.summary_page {
            return timing.page_program_ns;
        }
        self.members[member].counters.summary_programs += 1;
        timing.page_program_ns + timing.summary_transfer_ns + timing.page_program_ns
    }

    fn program_of_clean(&mut self, member: usize, die: usize, page: Page) -> u64 {
        if self.stepper(member, die).merged.is_empty() {
            self.count_move(member, die);
        } else {
            self.members[member].counters.merged_moves += 1;
        }
        self.take_new_place(member, die, page)
    }

    fn read_together(&mut self, member: usize, die: usize, index: usize, page: Page) {
        let operation = self.leaves_queue(member, die, index);
        let timing = self.ssd.timing;
        let (overhead, a, x) = (timing.command_overhead_ns, timing.page_read_ns, timing.page_transfer_ns);
        let g = if self.ssd.gc.copy_back { 0 } else { 2 * x };
        let host = overhead + a + x;
        let same = self.members[member].flash.plane(operation.page) == self.members[member].flash.plane(page);
        let clean = if same { (overhead + 2 * a).max(overhead + a + x) + g } else { overhead + a + x + g };
        self.members[member].counters.pipelined += 1;
        self.members[member].counters.host_pages_read += 1;
        self.schedule(host, Event::HostDone { member, operation });
        self.clean_of(member, die).register = Some(page);
        self.does(member, die, Doing::ReadOfClean, host.max(clean));
    }

    fn program_together(&mut self, member: usize, die: usize, index: usize, page: Page) {
        let clean = self.program_of_clean(member, die, page);
        let ends = std::mem::take(&mut self.stepper(member, die).merged);
        let wanted = self.members[member].dies[die].queue[index].page;
        let Some(pool) = self.members[member].flash.pool_for_write(die, wanted, &[]) else {
            self.refuse(member, die, index);
            let now = self.now;
            self.stepper(member, die).in_flight =
                Some(InFlight { from: now, page: Some(page), suspended: 0, doing: Doing::ProgramOfClean, rest: 0, ends });
            return self.does(member, die, Doing::ProgramOfClean, clean);
        };
        for merged in ends {
            self.schedule(clean, Event::HostDone { member, operation: merged });
        }
        let operation = self.leaves_queue(member, die, index);
        let fills_block = self.members[member].flash.write(die, pool, wanted);
        self.may_register(member, die, pool);
        self.members[member].counters.pipelined += 1;
        self.members[member].counters.host_pages_written += 1;
        let timing = self.ssd.timing;
        let same = self.members[member].flash.plane(wanted) == self.members[member].flash.plane(page);
        let arrived = timing.command_overhead_ns + timing.page_transfer_ns;
        let host = if same { clean.max(arrived) } else { arrived } + self.program_ns(member, fills_block);
        self.schedule(host, Event::HostDone { member, operation });
        self.does(member, die, Doing::ProgramOfClean, host.max(clean));
    }

    fn merge(&mut self, member: usize, die: usize, index: usize) {
        let operation = self.leaves_queue(member, die, index);
        let transfer = self.ssd.timing.page_transfer_ns;
        self.members[member].counters.merges += 1;
        if operation.write {
            self.members[member].counters.host_pages_written += 1;
            self.stepper(member, die).merged.push(operation);
        } else {
            self.members[member].counters.host_pages_read += 1;
            self.done_after(member, operation, transfer);
        }
        self.does(member, die, Doing::Merge, transfer);
    }

    // Operations.

    fn room(&self, member: usize, die: usize) -> bool {
        let flash = &self.members[member].flash;
        (0..flash.dies[die].pools.len()).any(|pool| flash.has_room(die, pool))
    }

    fn refuse(&mut self, member: usize, die: usize, index: usize) {
        let now = self.now;
        self.members[member].dies[die].queue[index].refused_ns.get_or_insert(now);
    }

    /// An operation starts.
    fn leaves_queue(&mut self, member: usize, die: usize, index: usize) -> Operation {
        let operation = self.members[member].dies[die].queue.remove(index);
        let stepper = &self.members[member].steppers[die];
        if stepper.clean.is_some() || stepper.cleans_ended.iter().any(|&end| end > operation.reached_member_ns) {
            self.mark_met(member, &operation);
        }
        if let Some(refused) = operation.refused_ns {
            self.members[member].counters.exhausted += 1;
            self.members[member].counters.exhausted_ns += self.now - refused;
        }
        operation
    }

    /// The die is done with an operation.
    pub fn leaves_die(&mut self, member: usize, operation: Operation) {
        if !operation.write && self.ssd.link.is_some() {
            let lane = self.members[member].lanes.len() - 1;
            self.join_lane(member, lane, operation);
        } else {
            self.operation_done(operation);
        }
    }

    fn done_after(&mut self, member: usize, operation: Operation, ns: u64) {
        if ns == 0 {
            self.leaves_die(member, operation);
        } else {
            self.schedule(ns, Event::HostDone { member, operation });
        }
    }

    /// Serves an operation of the queue by itself.
    fn serve_stepwise(&mut self, member: usize, die: usize, index: usize) {
        let operation = self.leaves_queue(member, die, index);
        if self.stepper(member, die).clean.is_some() {
            self.members[member].counters.preemptions += 1;
        }
        let timing = self.ssd.timing;
        if !operation.write {
            let duration = timing.command_overhead_ns + timing.page_read_ns + timing.page_transfer_ns;
            self.members[member].counters.host_pages_read += 1;
            self.schedule(duration, Event::HostDone { member, operation });
            return self.does(member, die, Doing::Command, duration);
        }
        let pool = self.members[member].flash.pool_for_write(die, operation.page, &[]).expect("a pool has room");
        let fills_block = self.members[member].flash.write(die, pool, operation.page);
        self.may_register(member, die, pool);
        self.members[member].counters.host_pages_written += 1;
        let before = timing.command_overhead_ns + timing.page_transfer_ns;
        let duration = before + self.program_ns(member, fills_block);
        let flight = InFlight {
            from: self.now + before,
            page: Some(operation.page),
            suspended: 0,
            doing: Doing::Command,
            rest: 0,
            ends: vec![operation],
        };
        self.stepper(member, die).in_flight = Some(flight);
        self.does(member, die, Doing::Command, duration);
    }

    // Rule 39.

    fn may_suspend(&mut self, member: usize, die: usize, read: Operation) {
        let Some(suspension) = self.suspension() else { return };
        let now = self.now;
        let queue = &self.members[member].dies[die].queue;
        let last = queue.len() - 1;
        if read.write || overtakes(queue, last) {
            return;
        }
        let stepper = self.stepper(member, die);
        if stepper.clean.as_ref().is_some_and(|clean| clean.state == 3) || now >= stepper.until {
            return;
        }
        let (doing, until) = (stepper.doing, stepper.until);
        if !matches!(doing, Doing::Command | Doing::ProgramOfClean | Doing::Erase) {
            return;
        }
        let Some(flight) = &mut stepper.in_flight else { return };
        if flight.from > now || flight.page == Some(read.page) || flight.suspended >= suspension.times_max {
            return;
        }
        flight.suspended += 1;
        flight.doing = doing;
        flight.rest = until - now;
        self.members[member].counters.suspensions += 1;
        self.does(member, die, Doing::Suspending, suspension.suspend_ns);
    }

    fn serve_suspended_reads(&mut self, member: usize, die: usize) {
        let programmed = self.stepper(member, die).in_flight.as_ref().expect("an operation is suspended").page;
        let queue = self.members[member].dies[die].queue.clone();
        let next =
            (0..queue.len()).find(|&index| !queue[index].write && Some(queue[index].page) != programmed && !overtakes(&queue, index));
        match next {
            Some(index) => {
                let operation = self.leaves_queue(member, die, index);
                let timing = &self.ssd.timing;
                let duration = timing.command_overhead_ns + timing.page_read_ns + timing.page_transfer_ns;
                self.members[member].counters.host_pages_read += 1;
                self.schedule(duration, Event::HostDone { member, operation });
                self.does(member, die, Doing::SuspendedRead, duration);
            }
            None => {
                let resume_ns = self.suspension().expect("an operation is suspended").resume_ns;
                self.does(member, die, Doing::Resuming, resume_ns);
            }
        }
    }

    /// Whether a die does nothing at all.
    pub fn is_at_rest(&self, member: usize, die: usize) -> bool {
        self.members[member].steppers[die].doing == Doing::Nothing
    }

    /// Whether a clean of a die is in progress.
    pub fn cleans_in_steps(&self, member: usize, die: usize) -> bool {
        self.members[member].steppers[die].clean.is_some()
    }

    /// Whether everything in this section has come to rest.
    pub fn steppers_rest(&self, member: usize) -> bool {
        let rests = |stepper: &Stepper| stepper.doing == Doing::Nothing && stepper.clean.is_none() && stepper.merged.is_empty();
        self.members[member].steppers.iter().all(rests)
    }
}

/// Whether an operation of the queue would overtake an earlier one on its page.
fn overtakes(queue: &[Operation], index: usize) -> bool {
    queue[..index].iter().any(|earlier| earlier.page == queue[index].page)
}
