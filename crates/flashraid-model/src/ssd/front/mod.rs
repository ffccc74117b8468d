//! The front before the dies of an SSD: submission queues, cores, link, write buffer (sections 24 and 25 of the rules).
//!
//! ```text
//!  page operations ─▶ command ─▶ queue ─▶ core ─▶ latency ─┬─▶ read, trim, flush
//!                                                          └─▶ link ─▶ buffer
//! ```
//!
//! [`Front`] follows a command until there is something to do behind it, and tells its end. It knows neither collection nor mapping: the
//! dies ask it what comes next, and do it. An SSD that has none of this has a front with nothing switched on.

mod buffer;
mod command;
mod cores;
mod pages;
mod queues;
mod superpages;

use super::counters::FrontCounters;
use super::job::{FrontWake, OpEnd, PageOp, Table, Waiter};
use super::outbox::Outbox;
use super::params::{FirmwareParams, FrontParams, LinkParams};
use super::wire::Wire;
use super::worked::Worked;
use crate::events::{TimeNs, TimeParts};
use crate::ids::MemberId;
use crate::request::OpKind;
use buffer::Buffer;
use command::Command;
pub use command::units_of;
use cores::{Cores, Holder};
pub use pages::{Buffered, PageBuffer, Stage};
use queues::Queues;
pub use superpages::{Superpage, SuperpageStage, Superpages};

/// Queues, commands, cores, link and the room of the write buffer of one SSD.
#[derive(Debug, Clone)]
pub struct Front {
    is_on: bool,
    member: MemberId,
    firmware: FirmwareParams,
    /// Pages of a unit, which is what the buffer holds.
    unit_pages: u32,
    /// Placement handles, to which the parts of a mix are mapped.
    handles: u32,
    pub commands: Table<Command>,
    /// The command to which operations of this moment may belong.
    gathering: Option<(TimeNs, u32)>,
    /// Queues in which commands wait to be fetched, if they do.
    queues: Option<Queues>,
    cores: Cores,
    link: Option<LinkParams>,
    /// Half-duplex links have one lane, full-duplex links two: to the drive and to the host.
    lanes: [Wire; 2],
    pub buffer: Buffer,
    pub counters: FrontCounters,
}

impl Front {
    /// Makes the front of a member, behind which units of `unit_pages` pages with `handles` placement handles are kept. Without
    /// parameters nothing is switched on, and operations go past it.
    pub fn new(params: Option<FrontParams>, link: Option<LinkParams>, member: MemberId, unit_pages: u32, handles: u32) -> Self {
        let is_on = params.is_some();
        let params = params.unwrap_or(FrontParams { buffer: None, queues: None, firmware: FirmwareParams::FREE });
        Self {
            is_on,
            member,
            firmware: params.firmware,
            unit_pages,
            handles,
            commands: Table::default(),
            gathering: None,
            queues: params.queues.map(Queues::new),
            cores: Cores::new(params.firmware.cores),
            link,
            lanes: [Wire::default(); 2],
            buffer: Buffer::new(params.buffer),
            counters: FrontCounters::default(),
        }
    }

    /// Returns true if anything stands before the dies.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.is_on
    }

    /// Takes a page operation; those of the same kind for the same completion at the same nanosecond are one command (rule 201).
    pub fn submit(&mut self, now: TimeNs, op: PageOp, out: &mut Outbox) {
        let id = match self.gathering {
            Some((at, id)) if at == now && self.commands[id].is_of(&op) => id,
            _ => {
                let id = self.commands.take();
                let handle = self.handle_of(op.source);
                self.commands[id].begin(now, &op, handle);
                self.gathering = Some((now, id));
                out.wake(now, FrontWake::Ready(id));
                id
            }
        };
        self.commands[id].ops.push(op);
    }

    /// The placement handle of what a part of a mix writes (rule 221).
    pub fn handle_of(&self, source: u8) -> u8 {
        (u32::from(source) % self.handles) as u8
    }

    /// A command is complete: what comes at this nanosecond from now on is another one.
    pub fn is_complete(&mut self, id: u32) {
        if self.gathering.is_some_and(|(_, gathering)| gathering == id) {
            self.gathering = None;
        }
        self.counters.commands += 1;
    }

    /// A command that is complete waits to be fetched or, without queues, for a core.
    pub fn joins(&mut self, now: TimeNs, id: u32, out: &mut Outbox) {
        let source = self.commands[id].source();
        match &mut self.queues {
            Some(queues) => {
                queues.join(source, id);
                self.fetch(now, out);
            }
            None => self.wants_core(now, id, out),
        }
    }

    fn fetch(&mut self, now: TimeNs, out: &mut Outbox) {
        while let Some(queues) = &mut self.queues
            && let Some(id) = queues.fetch()
        {
            let command = &mut self.commands[id];
            command.flight = queues.begin_flight(command.ops.len() as u32);
            if now > command.arrived {
                self.counters.fetch_waits += 1;
                self.counters.fetch_wait_ns += now - command.arrived;
            }
            self.wants_core(now, id, out);
        }
    }

    /// A command in flight is done.
    pub fn command_done(&mut self, now: TimeNs, out: &mut Outbox) {
        if let Some(queues) = &mut self.queues {
            queues.end_flight();
        }
        self.fetch(now, out);
    }

    /// Pages of a command in flight end at `at`; the end of the last one is an event.
    pub fn pages_end(&mut self, flight: u32, pages: u32, at: TimeNs, out: &mut Outbox) {
        if let Some(queues) = &mut self.queues
            && let Some(last_end) = queues.pages_end(flight, pages, at)
        {
            out.wake(last_end, FrontWake::Done);
        }
    }

    fn wants_core(&mut self, now: TimeNs, id: u32, out: &mut Outbox) {
        let (firmware, command) = (&self.firmware, &self.commands[id]);
        let ns = match command.kind {
            OpKind::Read => firmware.read_ns,
            OpKind::Write | OpKind::Flush => firmware.write_ns,
            OpKind::Trim => firmware.trim_ns + (command.ops.len() as u64).div_ceil(u64::from(self.unit_pages)) * firmware.trim_unit_ns,
        };
        self.cores.ask(Holder::Command(id), ns);
        self.use_cores(now, out);
    }

    /// A part of a victim, of so many units, wants a core.
    pub fn part_wants_core(&mut self, now: TimeNs, part: u32, units: u32, out: &mut Outbox) {
        self.cores.ask(Holder::Part(part), u64::from(units) * self.firmware.move_ns);
        self.use_cores(now, out);
    }

    /// Free cores take what waits.
    pub fn use_cores(&mut self, now: TimeNs, out: &mut Outbox) {
        while let Some((core, holder, ns)) = self.cores.begin() {
            if let Holder::Command(id) = holder {
                self.commands[id].started = now;
            }
            out.wake(now + ns, FrontWake::Core(core));
        }
    }

    /// A core is done: a command goes on after the latency, a part of a victim is returned. [`Front::use_cores`] must follow what the
    /// part then does.
    pub fn core_done(&mut self, now: TimeNs, core: u32, out: &mut Outbox) -> Option<u32> {
        match self.cores.end(core) {
            Holder::Part(part) => Some(part),
            Holder::Command(id) => {
                out.wake(now + self.firmware.latency_ns, FrontWake::Delayed(id));
                None
            }
        }
    }

    /// The data of a write command have crossed the link; they are for the buffer.
    pub fn data_crossed(&mut self, now: TimeNs, id: u32, worked: &Worked) {
        let command = &mut self.commands[id];
        (command.crossed, command.worked_before) = (now, worked.until(now));
        self.buffer.will_enter(id);
    }

    /// The data of a write command set out over the link.
    pub fn sends_data(&mut self, now: TimeNs, id: u32, out: &mut Outbox) {
        let pages = self.commands[id].ops.len() as u64;
        let at = self.cross(now, false, pages);
        out.wake(at, FrontWake::Crossed(id));
    }

    /// Returns the moment at which pages that ask now have crossed the link (rule 202).
    pub fn cross(&mut self, now: TimeNs, to_host: bool, pages: u64) -> TimeNs {
        let Some(link) = self.link else { return now };
        let lane = usize::from(to_host && link.full_duplex);
        self.lanes[lane].ask(now, pages * link.page_ns)
    }

    /// A page of a read is with the host; what the parts leave of its time is queueing.
    pub fn read_ends(&mut self, at: TimeNs, waiter: &Waiter, mut time: TimeParts, out: &mut Outbox) {
        time.other_ns += waiter.other_ns;
        time.queue_ns = at - waiter.arrived - time.total_ns();
        let met_gc = time.collection_ns > 0;
        out.ends.push(OpEnd { completion: waiter.completion, member: self.member, at, met_gc, time });
        self.pages_end(waiter.flight, 1, at, out);
    }

    /// A command ends with all its operations.
    pub fn command_ends(&mut self, id: u32, at: TimeNs, out: &mut Outbox) {
        let command = std::mem::take(&mut self.commands[id]);
        let mut time = TimeParts { other_ns: command.begun - command.started, ..TimeParts::default() };
        if command.kind == OpKind::Write {
            time.transfer_ns = command.crossed - command.begun;
            time.collection_ns = command.room_collection_ns;
            time.cache_ns = at - command.crossed - command.room_collection_ns;
        }
        time.queue_ns = at - command.arrived - time.total_ns();
        for op in &command.ops {
            out.ends.push(OpEnd { completion: op.completion, member: self.member, at, met_gc: false, time });
        }
        self.pages_end(command.flight, command.ops.len() as u32, at, out);
        self.release(id, command);
    }

    /// The pages of write commands that are neither in the buffer nor with a die.
    pub fn pages_to_write(&self) -> impl Iterator<Item = u32> {
        let writes = self.commands.entries().filter(|command| command.kind == OpKind::Write);
        writes.flat_map(|command| command.ops.iter().skip(command.next as usize)).map(|op| op.page)
    }

    /// Verifies that each command that has a number has pages to serve.
    ///
    /// # Errors
    /// A sentence that says how many commands have none.
    pub fn verify(&self) -> Result<(), String> {
        let (numbered, at_work) = (self.commands.taken(), self.commands.entries().filter(|command| command.is_at_work()).count());
        if numbered == at_work { Ok(()) } else { Err(format!("{numbered} commands have a number, but {at_work} have pages to serve")) }
    }

    /// Gives the number of a command back, and the memory with it.
    pub fn release(&mut self, id: u32, mut command: Command) {
        command.ops.clear();
        self.commands[id] = command;
        self.commands.give_back(id);
    }

    /// The next unit that is to enter the buffer, if one is.
    pub fn next_unit(&self) -> Option<Entering> {
        let command = &self.commands[self.buffer.first_to_enter()?];
        let left = &command.ops[command.next as usize..];
        let (unit, pages) = units_of(left, self.unit_pages).next()?;
        Some(Entering { unit, pages: pages.len() as u32, handle: command.handle, op: left[0] })
    }

    /// The next unit finds no room: its command waits from now on, if it has not waited before.
    pub fn finds_no_room(&mut self, now: TimeNs) {
        let Some(id) = self.buffer.first_to_enter() else { return };
        let command = &mut self.commands[id];
        if command.waits_since.is_none() {
            command.waits_since = Some(now);
            self.counters.room_waits += 1;
        }
    }

    /// The next unit, of so many pages, is in the buffer; returns its command if it was the last of that.
    pub fn unit_is_in(&mut self, now: TimeNs, pages: u32) -> Option<u32> {
        let id = self.buffer.first_to_enter()?;
        let command = &mut self.commands[id];
        command.next += pages;
        debug_assert!(command.next as usize <= command.ops.len(), "a command brings no more than its pages");
        if (command.next as usize) < command.ops.len() {
            return None;
        }
        if let Some(since) = command.waits_since {
            self.counters.room_wait_ns += now - since;
        }
        self.buffer.all_entered();
        Some(id)
    }

    /// Ends a write all of whose units are in the buffer, after `ack`. A write that has to survive a loss of power may have to wait until
    /// the batches with these numbers have been programmed (rule 208). Returns true if it waits for them.
    pub fn write_is_in(&mut self, now: TimeNs, id: u32, worked: &Worked, batches: impl FnOnce() -> Vec<u64>, out: &mut Outbox) -> bool {
        let acknowledged = now + self.buffer.ack_ns();
        let command = &mut self.commands[id];
        command.room_collection_ns = worked.collection_of_wait(&command.worked_before, now);
        if self.commands[id].fua && !self.buffer.is_protected() {
            let batches = batches();
            if !batches.is_empty() {
                self.counters.forced_waits += 1;
                self.buffer.await_batches(id, batches, acknowledged);
                return true;
            }
        }
        self.command_ends(id, acknowledged, out);
        false
    }

    /// A flush has gone to its work: it is done if nothing can be lost. Returns whether it waits.
    pub fn flush_begins(&mut self, now: TimeNs, id: u32, out: &mut Outbox) -> bool {
        debug_assert_eq!(self.commands[id].kind, OpKind::Flush);
        let waits = self.buffer.await_all(id);
        if !waits {
            self.command_ends(id, now, out);
        }
        waits
    }

    /// A batch of the host has left the buffer: flushes, then writes, that waited only for it are done, in order of arrival.
    pub fn batch_ends(&mut self, now: TimeNs, number: u64, out: &mut Outbox) {
        self.buffer.batch_ends(number);
        while let Some(id) = self.buffer.next_flush() {
            self.command_ends(id, now, out);
        }
        while let Some((id, not_before)) = self.buffer.next_forced() {
            self.command_ends(id, not_before.max(now), out);
        }
    }
}

/// A unit that is to enter the buffer.
#[derive(Debug, Clone, Copy)]
pub struct Entering {
    pub unit: u32,
    /// Pages of it that the host writes.
    pub pages: u32,
    pub handle: u8,
    /// The first operation on it.
    pub op: PageOp,
}
