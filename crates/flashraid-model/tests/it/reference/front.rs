//! Section 25 of the rules: what stands before the dies of a member. Everything stands in lists, from front to end.

use std::collections::BTreeSet;

use flashraid_model::ssd::{Allocation, FrontCounters, FrontParams};

use super::{Awaited, Event, OpKind, Operation, Purpose, Simulation};

#[derive(Default)]
pub struct Front {
    commands: Vec<Command>,
    unfetched: Vec<usize>,
    /// The queue whose turn it is, and how many commands it has given in it.
    turn: (usize, u32),
    in_flight: u32,
    wait_for_core: Vec<usize>,
    /// The commands that hold cores.
    cores: Vec<Option<usize>>,
    lanes_free_ns: [u64; 2],
    entering: Vec<usize>,
    /// By command: how long it has waited for room; what the dies worked meanwhile, and with a clean in progress.
    waits_for_room: std::collections::BTreeMap<usize, [u64; 3]>,
    /// All that have ever been in the buffer, in order of entry.
    pages: Vec<Page>,
    /// Flushes, and writes that are to survive a loss of power: what they wait for, and when they would be done otherwise.
    flushes: Vec<(usize, BTreeSet<usize>)>,
    forced: Vec<(usize, BTreeSet<usize>, u64)>,
    pub counters: FrontCounters,
}

struct Command {
    operations: Vec<Operation>,
    is_complete: bool,
    arrived_ns: u64,
    started_ns: u64,
    begun_ns: u64,
    crossed_ns: u64,
    /// Operations that are in the buffer or have gone to dies.
    passed: usize,
    no_room_since: Option<u64>,
    ends_unknown: usize,
    last_end_ns: u64,
}

struct Page {
    operation: Operation,
    state: State,
    /// Its begin has not been seen yet, so that it keeps others from its die.
    holds_place: bool,
    /// Reads and writes don't find it.
    is_hidden: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Waits,
    Given,
    Begun,
    Gone,
}

/// Where a page operation comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    Array,
    Command(usize),
    Buffer(usize),
}

#[derive(Clone, Copy)]
pub enum FrontEvent {
    Complete(usize),
    CoreDone(usize),
    LatencyOver(usize),
    Crossed(usize),
    /// A die has begun with a page of the buffer.
    Begun(usize),
    Programmed(usize),
    /// A command in flight is done.
    Done,
    /// A page operation is done.
    Ends(Operation),
}

impl Front {
    fn command(&mut self, number: usize) -> &mut Command {
        &mut self.commands[number]
    }

    /// The page of the buffer that holds a page.
    fn holder(&self, page: u64) -> Option<usize> {
        (0..self.pages.len()).find(|&number| {
            let Page { operation, state, is_hidden, .. } = &self.pages[number];
            operation.page == page && !is_hidden && *state != State::Gone
        })
    }

    fn used(&self) -> usize {
        self.pages.iter().filter(|page| page.state != State::Gone).count()
    }

    /// Rule 231: so much time passes while so many dies work, and so many of them clean.
    pub fn passes(&mut self, ns: u64, work: u64, clean: u64) {
        for &number in &self.entering {
            let sums = self.waits_for_room.entry(number).or_default();
            sums.iter_mut().zip([1, work, clean]).for_each(|(sum, dies)| *sum += ns * dies);
        }
    }

    pub fn rests(&self) -> bool {
        self.used() == 0 && self.commands.iter().all(|command| command.ends_unknown == 0) && self.entering.is_empty()
    }

    /// Writes that have been given to the member and that no die has got.
    pub fn writes(&self) -> Vec<Operation> {
        let of_commands = self.commands.iter().flat_map(|command| &command.operations[command.passed..]);
        let of_buffer = self.pages.iter().filter(|page| page.state == State::Waits).map(|page| &page.operation);
        of_commands.filter(|operation| operation.kind == OpKind::Write).chain(of_buffer).copied().collect()
    }
}

impl Simulation<'_> {
    fn front(&mut self, member: usize) -> &mut Front {
        &mut self.members[member].front
    }

    fn front_params(&self) -> FrontParams {
        self.ssd.front.expect("there is a front")
    }

    fn schedule_front(&mut self, member: usize, at: u64, what: FrontEvent) {
        self.schedule(at - self.now, Event::Front { member, what });
    }

    /// The part of a mix that an operation belongs to (rule 219), and whether what it writes is to survive a loss of power.
    pub fn source_and_fua(&self, job: Option<usize>) -> (u8, bool) {
        let Some(job) = job else { return (0, false) };
        match self.jobs[job].purpose {
            Purpose::Host { request } => (self.case.requests[request].stream, self.case.requests[request].fua),
            Purpose::Cache { awaited: Awaited::ReadFromArray { request } | Awaited::Trimmed { request }, .. } => {
                (self.case.requests[request].stream, false)
            }
            Purpose::Cache { .. } => (0, false),
        }
    }

    /// Rule 224: a page operation comes.
    pub fn comes_to_front(&mut self, member: usize, operation: Operation) {
        let now = self.now;
        let front = self.front(member);
        let number = front.commands.len();
        if let Some(last) = front.commands.last_mut().filter(|last| !last.is_complete && last.arrived_ns == now) {
            let first = last.operations[0];
            let of = |operation: &Operation| (operation.kind, operation.job, operation.stripe_operation);
            if of(&first) == of(&operation) {
                last.operations.push(operation);
                last.ends_unknown += 1;
                return;
            }
        }
        front.commands.push(Command {
            operations: vec![operation],
            is_complete: false,
            arrived_ns: now,
            started_ns: 0,
            begun_ns: 0,
            crossed_ns: 0,
            passed: 0,
            no_room_since: None,
            ends_unknown: 1,
            last_end_ns: 0,
        });
        self.schedule_front(member, now, FrontEvent::Complete(number));
    }

    pub fn front_event(&mut self, member: usize, what: FrontEvent) {
        let now = self.now;
        match what {
            FrontEvent::Complete(number) => {
                let front = self.front(member);
                front.counters.commands += 1;
                front.command(number).is_complete = true;
                if self.front_params().queues.is_some() {
                    self.front(member).unfetched.push(number);
                    self.fetch(member);
                } else {
                    self.wants_core(member, number);
                }
            }
            FrontEvent::CoreDone(core) => {
                let number = self.front(member).cores[core].take().expect("it was held");
                let latency_ns = self.front_params().firmware.latency_ns;
                self.schedule_front(member, now + latency_ns, FrontEvent::LatencyOver(number));
                self.use_cores(member);
            }
            FrontEvent::LatencyOver(number) => {
                self.front(member).command(number).begun_ns = now;
                self.goes_to_work(member, number);
            }
            FrontEvent::Crossed(number) => {
                self.front(member).command(number).crossed_ns = now;
                if self.front_params().buffer.is_some() {
                    self.front(member).entering.push(number);
                    self.bring_in(member);
                } else {
                    let operations = self.front(member).command(number).operations.clone();
                    self.front(member).command(number).passed = operations.len();
                    self.bring_to_dies(member, number, operations);
                }
            }
            FrontEvent::Begun(page) => {
                self.front(member).pages[page].holds_place = false;
                let lane = self.lane_of(member, page);
                self.feed(member, lane);
            }
            FrontEvent::Programmed(page) => {
                self.leaves_buffer(member, page);
                self.bring_in(member);
            }
            FrontEvent::Done => {
                self.front(member).in_flight -= 1;
                self.fetch(member);
            }
            FrontEvent::Ends(operation) => self.operation_done(operation),
        }
    }

    /// Rule 219.
    fn fetch(&mut self, member: usize) {
        let Some(own) = self.front_params().queues else { return };
        let (now, queues) = (self.now, own.queues as usize);
        while self.front(member).in_flight < own.commands {
            let front = self.front(member);
            let queue_of = |front: &Front, number: usize| usize::from(front.commands[number].operations[0].source) % queues;
            let has_some = |front: &Front, queue: usize| front.unfetched.iter().any(|&number| queue_of(front, number) == queue);
            let Some(queue) = (0..queues).map(|step| (front.turn.0 + step) % queues).find(|&queue| has_some(front, queue)) else { return };
            if queue != front.turn.0 {
                front.turn = (queue, 0);
            }
            let at = front.unfetched.iter().position(|&number| queue_of(front, number) == queue).expect("it has some");
            let number = front.unfetched.remove(at);
            front.turn.1 += 1;
            if front.turn.1 == own.burst || !has_some(front, queue) {
                front.turn = ((queue + 1) % queues, 0);
            }
            front.in_flight += 1;
            let waited_ns = now - front.commands[number].arrived_ns;
            front.counters.fetch_waits += u64::from(waited_ns > 0);
            front.counters.fetch_wait_ns += waited_ns;
            self.wants_core(member, number);
        }
    }

    fn wants_core(&mut self, member: usize, number: usize) {
        self.front(member).wait_for_core.push(number);
        self.use_cores(member);
    }

    /// Rule 201.
    fn use_cores(&mut self, member: usize) {
        let (now, firmware) = (self.now, self.front_params().firmware);
        loop {
            let front = self.front(member);
            front.cores.resize(firmware.cores as usize, None);
            let Some(core) = front.cores.iter().position(Option::is_none) else { return };
            if front.wait_for_core.is_empty() {
                return;
            }
            let number = front.wait_for_core.remove(0);
            front.cores[core] = Some(number);
            let command = front.command(number);
            command.started_ns = now;
            let cost_ns = match command.operations[0].kind {
                OpKind::Read => firmware.read_ns,
                OpKind::Write | OpKind::Flush => firmware.write_ns,
                OpKind::Trim => firmware.trim_ns + command.operations.len() as u64 * firmware.trim_unit_ns,
            };
            self.schedule_front(member, now + cost_ns, FrontEvent::CoreDone(core));
        }
    }

    /// Rule 202.
    fn crosses_by(&mut self, member: usize, to_host: bool, pages: usize) -> u64 {
        let Some(link) = self.ssd.link else { return self.now };
        let now = self.now;
        let lane = &mut self.front(member).lanes_free_ns[usize::from(link.full_duplex && to_host)];
        *lane = now.max(*lane) + pages as u64 * link.page_ns;
        *lane
    }

    fn goes_to_work(&mut self, member: usize, number: usize) {
        let now = self.now;
        let operations = self.front(member).command(number).operations.clone();
        match operations[0].kind {
            OpKind::Read => {
                let front = self.front(member);
                let (hits, others): (Vec<_>, Vec<_>) = operations.into_iter().partition(|operation| front.holder(operation.page).is_some());
                for mut operation in hits {
                    self.front(member).counters.buffer_hits += 1;
                    let at = self.crosses_by(member, true, 1);
                    self.books_front(member, number, &mut operation);
                    operation.parts.transfer_ns += at - now;
                    self.page_ends(member, number, operation, at);
                }
                self.bring_to_dies(member, number, others);
            }
            OpKind::Write => {
                let at = self.crosses_by(member, false, operations.len());
                self.schedule_front(member, at, FrontEvent::Crossed(number));
            }
            OpKind::Trim => {
                for operation in &operations {
                    self.is_trimmed(member, operation.page);
                }
                self.bring_to_dies(member, number, operations);
                self.bring_in(member);
            }
            OpKind::Flush => {
                let is_protected = self.front_params().buffer.is_none_or(|buffer| buffer.is_protected);
                let front = self.front(member);
                let all: BTreeSet<usize> = (0..front.pages.len()).filter(|&page| front.pages[page].state != State::Gone).collect();
                if is_protected || all.is_empty() {
                    self.command_ends(member, number, now);
                } else {
                    front.flushes.push((number, all));
                }
            }
        }
    }

    /// The time until a command has gone to its work and its data have crossed.
    fn books_front(&mut self, member: usize, number: usize, operation: &mut Operation) {
        let &mut Command { arrived_ns, started_ns, begun_ns, crossed_ns, .. } = self.front(member).command(number);
        operation.parts.queue_ns += started_ns - arrived_ns;
        operation.parts.other_ns += begun_ns - started_ns;
        operation.parts.transfer_ns += crossed_ns.saturating_sub(begun_ns);
    }

    fn bring_to_dies(&mut self, member: usize, number: usize, operations: Vec<Operation>) {
        for mut operation in operations {
            operation.origin = Origin::Command(number);
            self.books_front(member, number, &mut operation);
            self.reach_member(member, operation);
        }
    }

    /// A die is done with what has come through the front.
    pub fn leaves_to_front(&mut self, member: usize, mut operation: Operation) {
        match operation.origin {
            Origin::Array => unreachable!("it has not come through the front"),
            Origin::Buffer(page) => self.schedule_front(member, self.now, FrontEvent::Programmed(page)),
            Origin::Command(number) => {
                let reads = operation.kind == OpKind::Read;
                let at = if reads { self.crosses_by(member, true, 1) } else { self.now };
                operation.parts.transfer_ns += at - self.now;
                self.page_ends(member, number, operation, at);
            }
        }
    }

    /// The end of a page is known.
    fn page_ends(&mut self, member: usize, number: usize, mut operation: Operation, at: u64) {
        operation.origin = Origin::Array;
        self.schedule_front(member, at, FrontEvent::Ends(operation));
        let has_queues = self.front_params().queues.is_some();
        let command = self.front(member).command(number);
        command.ends_unknown -= 1;
        command.last_end_ns = command.last_end_ns.max(at);
        let (is_last, last_end_ns) = (command.ends_unknown == 0, command.last_end_ns);
        if is_last && has_queues {
            self.schedule_front(member, last_end_ns, FrontEvent::Done);
        }
    }

    /// A command ends with all its pages, by what the front has done.
    fn command_ends(&mut self, member: usize, number: usize, at: u64) {
        let operations = self.front(member).command(number).operations.clone();
        for mut operation in operations {
            self.books_front(member, number, &mut operation);
            if operation.kind == OpKind::Write {
                let crossed_ns = self.front(member).command(number).crossed_ns;
                let waits = self.front(member).waits_for_room.get(&number).copied().unwrap_or_default();
                let [wait_ns, work_ns, clean_ns] = waits.map(u128::from);
                operation.parts.collection_ns = (wait_ns * clean_ns).checked_div(work_ns).unwrap_or(0) as u64;
                operation.parts.cache_ns += at - crossed_ns - operation.parts.collection_ns;
            } else {
                // What a flush waits for.
                let begun_ns = self.front(member).command(number).begun_ns;
                operation.parts.queue_ns += at - begun_ns;
            }
            self.page_ends(member, number, operation, at);
        }
    }

    /// Rule 225: pages enter the buffer.
    fn bring_in(&mut self, member: usize) {
        let Some(buffer) = self.front_params().buffer else { return };
        while let Some(&number) = self.front(member).entering.first() {
            while let Some(&operation) = {
                let command = self.front(member).command(number);
                command.operations.get(command.passed)
            } {
                if !self.enters(member, operation, buffer.units as usize) {
                    let now = self.now;
                    let front = self.front(member);
                    if front.commands[number].no_room_since.is_none() {
                        front.commands[number].no_room_since = Some(now);
                        front.counters.room_waits += 1;
                    }
                    return;
                }
                self.front(member).command(number).passed += 1;
            }
            let now = self.now;
            let front = self.front(member);
            front.entering.remove(0);
            front.counters.room_wait_ns += front.commands[number].no_room_since.map_or(0, |since| now - since);
            let operations = &front.commands[number].operations;
            let holders: BTreeSet<usize> = operations.iter().filter_map(|operation| front.holder(operation.page)).collect();
            if operations[0].fua && !buffer.is_protected && !holders.is_empty() {
                front.counters.forced_waits += 1;
                front.forced.push((number, holders, now + buffer.ack_ns));
            } else {
                self.command_ends(member, number, now + buffer.ack_ns);
            }
        }
    }

    fn enters(&mut self, member: usize, operation: Operation, units: usize) -> bool {
        let front = self.front(member);
        if let Some(page) = front.holder(operation.page)
            && front.pages[page].state != State::Begun
        {
            front.counters.overwritten += 1;
            return true;
        }
        if front.used() == units {
            return false;
        }
        for page in front.pages.iter_mut().filter(|page| page.operation.page == operation.page) {
            page.is_hidden = true;
        }
        front.pages.push(Page { operation, state: State::Waits, holds_place: false, is_hidden: false });
        let lane = self.lane_of(member, self.members[member].front.pages.len() - 1);
        self.feed(member, lane);
        true
    }

    /// The die of a page or, if dies are chosen late, none.
    fn lane_of(&self, member: usize, page: usize) -> Option<usize> {
        let page = self.members[member].front.pages[page].operation.page;
        (self.ssd.allocation == Allocation::Static).then(|| self.members[member].flash.home_die(page))
    }

    /// Rule 226.
    fn feed(&mut self, member: usize, lane: Option<usize>) {
        let places = if lane.is_some() { 1 } else { self.members[member].dies.len() };
        loop {
            let front = &self.members[member].front;
            let of_lane: Vec<usize> = (0..front.pages.len()).filter(|&page| self.lane_of(member, page) == lane).collect();
            if of_lane.iter().filter(|&&page| front.pages[page].holds_place).count() == places {
                return;
            }
            let Some(page) = of_lane.into_iter().find(|&page| front.pages[page].state == State::Waits) else { return };
            let now = self.now;
            let of_buffer = &mut self.front(member).pages[page];
            (of_buffer.state, of_buffer.holds_place) = (State::Given, true);
            let operation =
                Operation { job: None, stripe_operation: None, origin: Origin::Buffer(page), issued_ns: now, ..of_buffer.operation };
            self.reach_member(member, operation);
        }
    }

    /// An operation leaves the queue of its die.
    pub fn front_sees_begin(&mut self, member: usize, operation: &Operation) {
        if let Origin::Buffer(page) = operation.origin {
            self.front(member).pages[page].state = State::Begun;
            self.schedule_front(member, self.now, FrontEvent::Begun(page));
        }
    }

    /// Rule 227.
    fn is_trimmed(&mut self, member: usize, page: u64) {
        let front = self.front(member);
        let holder = front.holder(page);
        for of_buffer in front.pages.iter_mut().filter(|of_buffer| of_buffer.operation.page == page) {
            of_buffer.is_hidden = true;
        }
        if let Some(holder) = holder.filter(|&holder| front.pages[holder].state == State::Waits) {
            front.counters.dropped += 1;
            self.leaves_buffer(member, holder);
        }
    }

    fn leaves_buffer(&mut self, member: usize, page: usize) {
        let now = self.now;
        let front = self.front(member);
        front.pages[page].state = State::Gone;
        front.flushes.iter_mut().for_each(|(_, waits_for)| {
            waits_for.remove(&page);
        });
        front.forced.iter_mut().for_each(|(_, waits_for, _)| {
            waits_for.remove(&page);
        });
        while let Some(at) = self.front(member).flushes.iter().position(|(_, waits_for)| waits_for.is_empty()) {
            let (number, _) = self.front(member).flushes.remove(at);
            self.command_ends(member, number, now);
        }
        while let Some(at) = self.front(member).forced.iter().position(|(_, waits_for, _)| waits_for.is_empty()) {
            let (number, _, not_before_ns) = self.front(member).forced.remove(at);
            self.command_ends(member, number, now.max(not_before_ns));
        }
    }
}
