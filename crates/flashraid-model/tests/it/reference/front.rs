//! Queues, cores, link and write buffer of a member, for both kinds of dies (sections 24 and 25 of the rules). Everything is kept in lists,
//! in order.

use std::collections::{BTreeMap, BTreeSet};

use flashraid_model::ssd::{ControllerCores, Duplex, FrontEndCounters, FrontEndParams, HostLinkParams, SsdParams};

use super::{Event, Message, OpKind, Operation};

/// Events that a part of a member reports to the simulation, in order.
pub(super) enum Told {
    /// Something happens at a time.
    At(u64, Event),
    /// A message to the controller.
    Sends(Message),
    /// A request for collection: pages left, and if it is at its limit.
    Asks(u64, bool),
    /// Collection begins by need (rule 121).
    CollectsByNeed,
    /// A superblock was opened or has become free: so many are free (rule 261).
    FreeChanged { opened: bool },
    /// The work that it was told to do is over.
    HasDone,
}

/// Queues, cores, link and buffer before the dies of a member.
pub(super) struct Front {
    member: usize,
    pub params: FrontEndParams,
    link: Option<HostLinkParams>,
    /// Pages of what the map knows.
    unit_pages: usize,
    pub now: u64,
    /// All that have ever come.
    pub commands: Vec<Command>,
    unfetched: Vec<usize>,
    /// The queue whose turn it is, and how many commands it has given in it.
    turn: (usize, u32),
    in_flight: u32,
    wait_for_core: Vec<usize>,
    /// Parts of victims that wait for a core, and for how long they will hold it.
    parts_for_core: Vec<(usize, u64)>,
    cores: Vec<Option<OnCore>>,
    lanes_free_ns: [u64; 2],
    /// Writes that bring what they write into the buffer, in order.
    pub entering: Vec<usize>,
    /// Wait of each command for room, with the work of the dies meanwhile, and their work for collection.
    waits_for_room: BTreeMap<usize, [u64; 3]>,
    /// Flushes, and writes that are to survive a loss of power: the batches they wait for, and when they would be done otherwise.
    flushes: Vec<(usize, BTreeSet<usize>)>,
    forced: Vec<(usize, BTreeSet<usize>, u64)>,
    pub counters: FrontEndCounters,
    pub told: Vec<Told>,
}

pub(super) struct Command {
    pub operations: Vec<Operation>,
    is_complete: bool,
    pub arrived_ns: u64,
    started_ns: u64,
    pub begun_ns: u64,
    pub crossed_ns: u64,
    /// Operations that are in the buffer or have gone to dies.
    pub passed: usize,
    no_room_since: Option<u64>,
    ends_unknown: usize,
    last_end_ns: u64,
}

#[derive(Clone, Copy)]
enum OnCore {
    Command(usize),
    Part(usize),
}

/// Origin of a page operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Origin {
    Array,
    Command(usize),
    Buffer(usize),
}

#[derive(Clone, Copy)]
pub(super) enum FrontEvent {
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

/// The front of a device, if it has one; drives with superblocks do.
pub(super) fn params_of(ssd: &SsdParams) -> Option<FrontEndParams> {
    match &ssd.superblock {
        Some(own) => Some(FrontEndParams { write_buffer: Some(own.buffer), queues: own.submission_queues, firmware: own.firmware }),
        None => ssd.front_end,
    }
}

impl Front {
    pub(super) fn of(ssd: &SsdParams, member: usize) -> Option<Front> {
        let params = params_of(ssd)?;
        Some(Front {
            member,
            params,
            link: ssd.link,
            unit_pages: ssd.superblock.as_ref().map_or(1, |own| own.pages_per_mapping_unit as usize),
            now: 0,
            commands: Vec::new(),
            unfetched: Vec::new(),
            turn: (0, 0),
            in_flight: 0,
            wait_for_core: Vec::new(),
            parts_for_core: Vec::new(),
            cores: (0..params.firmware.cores).map(|_| None).collect(),
            lanes_free_ns: [0; 2],
            entering: Vec::new(),
            waits_for_room: BTreeMap::new(),
            flushes: Vec::new(),
            forced: Vec::new(),
            counters: FrontEndCounters::default(),
            told: Vec::new(),
        })
    }

    pub(super) fn command(&mut self, number: usize) -> &mut Command {
        &mut self.commands[number]
    }

    fn schedule(&mut self, at: u64, what: FrontEvent) {
        self.told.push(Told::At(at, Event::Front { member: self.member, what }));
    }

    /// Nothing happens for so long, in which so many dies work, and so many of them for collection (rule 231).
    pub(super) fn passes(&mut self, ns: u64, work: u64, collect: u64) {
        self.now += ns;
        for &number in &self.entering {
            let sums = self.waits_for_room.entry(number).or_default();
            sums.iter_mut().zip([1, work, collect]).for_each(|(sum, dies)| *sum += ns * dies);
        }
    }

    pub(super) fn rests(&self) -> bool {
        self.commands.iter().all(|command| command.ends_unknown == 0) && self.entering.is_empty()
    }

    /// Writes that have come and are neither in the buffer nor with a die.
    pub(super) fn writes(&self) -> Vec<Operation> {
        let of_commands = self.commands.iter().flat_map(|command| &command.operations[command.passed..]);
        of_commands.filter(|operation| operation.kind == OpKind::Write).copied().collect()
    }

    /// Processes a page operation that arrives (rules 201 and 224).
    pub(super) fn comes(&mut self, operation: Operation) {
        let now = self.now;
        let number = self.commands.len();
        if let Some(last) = self.commands.last_mut().filter(|last| !last.is_complete && last.arrived_ns == now) {
            let first = last.operations[0];
            let of = |operation: &Operation| (operation.kind, operation.job, operation.stripe_operation);
            if of(&first) == of(&operation) {
                last.operations.push(operation);
                last.ends_unknown += 1;
                return;
            }
        }
        self.commands.push(Command {
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
        self.schedule(now, FrontEvent::Complete(number));
    }

    /// All of a command has come.
    pub(super) fn is_complete(&mut self, number: usize) {
        self.counters.commands += 1;
        self.command(number).is_complete = true;
    }

    pub(super) fn joins(&mut self, number: usize) {
        if self.params.queues.is_some() {
            self.unfetched.push(number);
            self.fetch();
        } else {
            self.wants_core(number);
        }
    }

    /// A command in flight is done.
    pub(super) fn command_is_done(&mut self) {
        self.in_flight -= 1;
        self.fetch();
    }

    /// Fetches commands from the queues (rule 219).
    fn fetch(&mut self) {
        let Some(own) = self.params.queues else { return };
        let (now, queues) = (self.now, own.queues as usize);
        while self.in_flight < own.commands {
            let queue_of = |front: &Front, number: usize| usize::from(front.commands[number].operations[0].source) % queues;
            let has_some = |front: &Front, queue: usize| front.unfetched.iter().any(|&number| queue_of(front, number) == queue);
            let Some(queue) = (0..queues).map(|step| (self.turn.0 + step) % queues).find(|&queue| has_some(self, queue)) else { return };
            if queue != self.turn.0 {
                self.turn = (queue, 0);
            }
            let at = self.unfetched.iter().position(|&number| queue_of(self, number) == queue).expect("it has some");
            let number = self.unfetched.remove(at);
            self.turn.1 += 1;
            if self.turn.1 == own.burst || !has_some(self, queue) {
                self.turn = ((queue + 1) % queues, 0);
            }
            self.in_flight += 1;
            let waited_ns = now - self.commands[number].arrived_ns;
            self.counters.fetch_waits += u64::from(waited_ns > 0);
            self.counters.fetch_wait_ns += u128::from(waited_ns);
            self.wants_core(number);
        }
    }

    fn wants_core(&mut self, number: usize) {
        self.wait_for_core.push(number);
        self.use_cores();
    }

    /// A part of a victim, of so many units, wants a core.
    pub(super) fn part_wants_core(&mut self, part: usize, units: usize) {
        self.parts_for_core.push((part, units as u64 * self.params.firmware.move_.ns));
        self.use_cores();
    }

    /// Assigns cores, to commands before parts (rule 201).
    pub(super) fn use_cores(&mut self) {
        let (now, firmware) = (self.now, self.params.firmware);
        while let Some(core) = self.cores.iter().position(Option::is_none) {
            let ns = if !self.wait_for_core.is_empty() {
                let number = self.wait_for_core.remove(0);
                self.cores[core] = Some(OnCore::Command(number));
                self.command(number).started_ns = now;
                self.cost_ns(number, firmware)
            } else if !self.parts_for_core.is_empty() {
                let (part, ns) = self.parts_for_core.remove(0);
                self.cores[core] = Some(OnCore::Part(part));
                ns
            } else {
                return;
            };
            self.schedule(now + ns, FrontEvent::CoreDone(core));
        }
    }

    fn cost_ns(&self, number: usize, firmware: ControllerCores) -> u64 {
        let operations = &self.commands[number].operations;
        match operations[0].kind {
            OpKind::Read => firmware.read.ns,
            OpKind::Write | OpKind::Flush => firmware.write.ns,
            OpKind::Trim => firmware.trim.ns + operations.len().div_ceil(self.unit_pages) as u64 * firmware.trim_unit.ns,
        }
    }

    /// A core is done: with a command, or with the part that is returned.
    pub(super) fn core_is_done(&mut self, core: usize) -> Option<usize> {
        match self.cores[core].take().expect("it was held") {
            OnCore::Part(part) => Some(part),
            OnCore::Command(number) => {
                self.schedule(self.now + self.params.firmware.latency.ns, FrontEvent::LatencyOver(number));
                None
            }
        }
    }

    /// Returns the time at which pages have crossed the link (rule 202).
    pub(super) fn crosses_by(&mut self, to_host: bool, pages: usize) -> u64 {
        let Some(link) = self.link else { return self.now };
        let lane = &mut self.lanes_free_ns[usize::from(link.duplex == Duplex::Full && to_host)];
        *lane = self.now.max(*lane) + pages as u64 * link.page_transfer_ns;
        *lane
    }

    /// The pages of a write set out together.
    pub(super) fn sends_data(&mut self, number: usize) {
        let pages = self.commands[number].operations.len();
        let at = self.crosses_by(false, pages);
        self.schedule(at, FrontEvent::Crossed(number));
    }

    /// The time until a command has gone to its work and its data have crossed.
    pub(super) fn books(&self, number: usize, operation: &mut Operation) {
        let Command { arrived_ns, started_ns, begun_ns, crossed_ns, .. } = self.commands[number];
        operation.parts.queue_ns += started_ns - arrived_ns;
        operation.parts.other_ns += begun_ns - started_ns;
        operation.parts.transfer_ns += crossed_ns.saturating_sub(begun_ns);
    }

    /// A page of a read whose data are in the controller crosses the link, and ends then.
    pub(super) fn goes_to_host(&mut self, number: usize, mut operation: Operation) {
        let at = self.crosses_by(true, 1);
        operation.parts.transfer_ns += at - self.now;
        self.page_ends(number, operation, at);
    }

    /// The end of a page is known.
    pub(super) fn page_ends(&mut self, number: usize, mut operation: Operation, at: u64) {
        operation.origin = Origin::Array;
        self.schedule(at, FrontEvent::Ends(operation));
        let command = self.command(number);
        command.ends_unknown -= 1;
        command.last_end_ns = command.last_end_ns.max(at);
        let (is_last, last_end_ns) = (command.ends_unknown == 0, command.last_end_ns);
        if is_last && self.params.queues.is_some() {
            self.schedule(last_end_ns, FrontEvent::Done);
        }
    }

    /// A command ends with all its pages, by what the front has done.
    pub(super) fn command_ends(&mut self, number: usize, at: u64) {
        for mut operation in self.commands[number].operations.clone() {
            self.books(number, &mut operation);
            let Command { begun_ns, crossed_ns, .. } = self.commands[number];
            if operation.kind == OpKind::Write {
                let waits = self.waits_for_room.get(&number).copied().unwrap_or_default();
                let [wait_ns, work_ns, collect_ns] = waits.map(u128::from);
                operation.parts.collection_ns = (wait_ns * collect_ns).checked_div(work_ns).unwrap_or(0) as u64;
                operation.parts.cache_ns += at - crossed_ns - operation.parts.collection_ns;
            } else {
                // What a flush waits for.
                operation.parts.queue_ns += at - begun_ns;
            }
            self.page_ends(number, operation, at);
        }
    }

    /// Records that the next unit finds no room in the buffer.
    pub(super) fn finds_no_room(&mut self) {
        let (number, now) = (self.entering[0], self.now);
        if self.commands[number].no_room_since.is_none() {
            self.commands[number].no_room_since = Some(now);
            self.counters.buffer_room_waits += 1;
        }
    }

    /// All of the first write is in the buffer, in these batches as far as they are there yet (rule 208). Says if it waits for them.
    pub(super) fn is_in(&mut self, batches: BTreeSet<usize>) -> bool {
        let buffer = self.params.write_buffer.expect("something has entered it");
        let (number, now) = (self.entering.remove(0), self.now);
        self.counters.buffer_room_wait_ns += self.commands[number].no_room_since.map_or(0, |since| u128::from(now - since));
        let waits = self.commands[number].operations[0].fua && !buffer.settings.protected && !batches.is_empty();
        if waits {
            self.counters.fua_write_waits += 1;
            self.forced.push((number, batches, now + buffer.settings.ack.ns));
        } else {
            self.command_ends(number, now + buffer.settings.ack.ns);
        }
        waits
    }

    /// A flush goes to its work; these batches are in the buffer. Says if it waits for them.
    pub(super) fn flush_begins(&mut self, number: usize, batches: BTreeSet<usize>) -> bool {
        let is_protected = self.params.write_buffer.is_none_or(|buffer| buffer.settings.protected);
        if is_protected || batches.is_empty() {
            self.command_ends(number, self.now);
            return false;
        }
        self.flushes.push((number, batches));
        true
    }

    /// A batch is in the buffer no more.
    pub(super) fn batch_has_left(&mut self, batch: usize) {
        let now = self.now;
        self.flushes.iter_mut().for_each(|(_, batches)| {
            batches.remove(&batch);
        });
        self.forced.iter_mut().for_each(|(_, batches, _)| {
            batches.remove(&batch);
        });
        while let Some(at) = self.flushes.iter().position(|(_, batches)| batches.is_empty()) {
            let (number, _) = self.flushes.remove(at);
            self.command_ends(number, now);
        }
        while let Some(at) = self.forced.iter().position(|(_, batches, _)| batches.is_empty()) {
            let (number, _, not_before_ns) = self.forced.remove(at);
            self.command_ends(number, now.max(not_before_ns));
        }
    }
}
