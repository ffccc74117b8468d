//! The front before the dies of an SSD: submission queues, cores, link, write buffer (sections 24 and 25 of the rules).
//!
//! ```text
//! page operations ─▶ command ─▶ queue ─▶ core ─▶ latency ─┬─▶ read, trim, flush
//!                                                         └─▶ link ─▶ buffer
//! ```
//!
//! [`Front`] follows a command until it reaches the dies, and reports its end. It knows neither collection nor mapping. The dies ask it for
//! the next command, and perform it. In an SSD without these parts, nothing of the front is switched on.

mod buffer;
mod command;
mod cores;
mod pages;
mod queues;
mod superpages;

use super::counters::FrontEndCounters;
use super::job::{FrontWake, LogicalPageOp, PageOpEnd, Table, Waiter};
use super::outbox::SsdOutbox;
use super::params::{ControllerCores, Duplex, FrontEndParams, HostLinkParams};
use super::wire::Wire;
use super::work_times::WorkTimes;
use crate::events::{OperationTimeParts, TimeNs};
use crate::ids::MemberId;
use crate::request::OpKind;
use buffer::Buffer;
use command::Command;
pub(super) use command::units_of;
use cores::{CoreWork, Cores};
pub(crate) use pages::{Buffered, PageBuffer, Stage};
use queues::Queues;
pub(super) use superpages::Superpage;
pub(crate) use superpages::{SuperpageStage, Superpages};

/// The queues, commands, cores, link and buffer room of one SSD.
#[derive(Debug, Clone)]
pub(super) struct Front {
    is_on: bool,
    member: MemberId,
    firmware: ControllerCores,
    /// Number of pages in a unit. The buffer holds units.
    pages_per_mapping_unit: u32,
    pub(crate) commands: Table<Command>,
    /// The command that further operations of the same nanosecond may still join.
    gathering: Option<(TimeNs, u32)>,
    /// Submission queues; `None` if the drive does not model them.
    queues: Option<Queues>,
    cores: Cores,
    link: Option<HostLinkParams>,
    /// Lanes of the link. A half-duplex link has one lane. A full-duplex link has two: to the drive and to the host.
    lanes: [Wire; 2],
    pub(crate) buffer: Buffer,
    pub(crate) counters: FrontEndCounters,
}

impl Front {
    /// Returns the front of a member with units of `pages_per_mapping_unit` pages. Without parameters, operations go directly to the dies.
    pub(super) fn new(params: Option<FrontEndParams>, link: Option<HostLinkParams>, member: MemberId, pages_per_mapping_unit: u32) -> Self {
        let is_on = params.is_some();
        let params = params.unwrap_or(FrontEndParams { write_buffer: None, queues: None, firmware: ControllerCores::WITHOUT_OVERHEAD });
        Self {
            is_on,
            member,
            firmware: params.firmware,
            pages_per_mapping_unit,
            commands: Table::default(),
            gathering: None,
            queues: params.queues.map(Queues::new),
            cores: Cores::new(params.firmware.cores),
            link,
            lanes: [Wire::default(); 2],
            buffer: Buffer::new(params.write_buffer),
            counters: FrontEndCounters::default(),
        }
    }

    /// Returns true if the drive models any part of the front.
    #[inline]
    pub(super) fn is_on(&self) -> bool {
        self.is_on
    }

    /// Processes a page operation. Operations of the same kind, completion and nanosecond form one command (rule 201).
    pub(super) fn submit(&mut self, now: TimeNs, op: LogicalPageOp, out: &mut SsdOutbox) {
        let id = match self.gathering {
            Some((at, id)) if at == now && self.commands[id].is_of(&op) => id,
            _ => {
                let id = self.commands.take();
                self.commands[id].begin(now, &op);
                self.gathering = Some((now, id));
                out.wake(now, FrontWake::CommandArrived(id));
                id
            }
        };
        self.commands[id].ops.push(op);
    }

    /// Closes a command, so that later operations of this nanosecond form another one.
    pub(crate) fn complete_command(&mut self, id: u32) {
        if self.gathering.is_some_and(|(_, gathering)| gathering == id) {
            self.gathering = None;
        }
        self.counters.commands += 1;
    }

    /// Adds a closed command to its submission queue. Without such queues, the command asks for a core.
    pub(crate) fn enqueue(&mut self, now: TimeNs, id: u32, out: &mut SsdOutbox) {
        let source = self.commands[id].source();
        match &mut self.queues {
            Some(queues) => {
                queues.join(source, id);
                self.fetch(now, out);
            }
            None => self.ask_for_core(now, id, out),
        }
    }

    fn fetch(&mut self, now: TimeNs, out: &mut SsdOutbox) {
        while let Some(queues) = &mut self.queues
            && let Some(id) = queues.fetch()
        {
            let command = &mut self.commands[id];
            command.fetched_id = queues.register_fetched(command.ops.len() as u32);
            if now > command.arrived {
                self.counters.fetch_waits += 1;
                self.counters.fetch_wait_ns += u128::from(now - command.arrived);
            }
            self.ask_for_core(now, id, out);
        }
    }

    /// Ends a fetched command, so that its queue may send the next one.
    pub(crate) fn command_done(&mut self, now: TimeNs, out: &mut SsdOutbox) {
        if let Some(queues) = &mut self.queues {
            queues.end_fetched();
        }
        self.fetch(now, out);
    }

    /// Ends pages of a fetched command at `at`. When the end of the last page is known, it becomes an event.
    pub(crate) fn pages_end(&mut self, fetched_id: u32, pages: u32, at: TimeNs, out: &mut SsdOutbox) {
        if let Some(queues) = &mut self.queues
            && let Some(last_end) = queues.pages_end(fetched_id, pages, at)
        {
            out.wake(last_end, FrontWake::CommandEnded);
        }
    }

    fn ask_for_core(&mut self, now: TimeNs, id: u32, out: &mut SsdOutbox) {
        let (firmware, command) = (&self.firmware, &self.commands[id]);
        let ns = match command.kind {
            OpKind::Read => firmware.read.ns,
            OpKind::Write | OpKind::Flush => firmware.write.ns,
            OpKind::Trim => {
                firmware.trim.ns + (command.ops.len() as u64).div_ceil(u64::from(self.pages_per_mapping_unit)) * firmware.trim_unit.ns
            }
        };
        self.cores.ask(CoreWork::Command(id), ns);
        self.assign_cores(now, out);
    }

    /// Requests a core for a part of a victim with `units` units.
    pub(crate) fn ask_core_for_part(&mut self, now: TimeNs, part: u32, units: u32, out: &mut SsdOutbox) {
        self.cores.ask(CoreWork::PartOfCommand(part), u64::from(units) * self.firmware.move_.ns);
        self.assign_cores(now, out);
    }

    /// Assigns free cores to waiting work.
    pub(crate) fn assign_cores(&mut self, now: TimeNs, out: &mut SsdOutbox) {
        while let Some((core, holder, ns)) = self.cores.begin() {
            if let CoreWork::Command(id) = holder {
                self.commands[id].started = now;
            }
            out.wake(now + ns, FrontWake::CoreWorkEnds(core));
        }
    }

    /// Ends the work of a core. A command continues after the latency of the controller; a part of a victim is returned.
    /// [`Front::assign_cores`] must be called after it.
    pub(crate) fn core_done(&mut self, now: TimeNs, core: u32, out: &mut SsdOutbox) -> Option<u32> {
        match self.cores.end(core) {
            CoreWork::PartOfCommand(part) => Some(part),
            CoreWork::Command(id) => {
                out.wake(now + self.firmware.latency.ns, FrontWake::ControllerDelayEnds(id));
                None
            }
        }
    }

    /// Records that the data of a write command have crossed the link, so that they may enter the buffer.
    pub(crate) fn data_crossed(&mut self, now: TimeNs, id: u32, work_times: &WorkTimes) {
        let command = &mut self.commands[id];
        (command.crossed, command.work_times_before) = (now, work_times.until(now));
        self.buffer.enqueue_for_buffer(id);
    }

    /// Sends the data of a write command over the link.
    pub(crate) fn send_data(&mut self, now: TimeNs, id: u32, out: &mut SsdOutbox) {
        let pages = self.commands[id].ops.len() as u64;
        let at = self.send_over_link(now, 0, pages);
        out.wake(at, FrontWake::DataCrossedLink(id));
    }

    /// Sends a page to the host over the link, and returns the time at which it has crossed it (rule 202).
    pub(crate) fn send_page_to_host(&mut self, now: TimeNs) -> TimeNs {
        let lane = usize::from(self.link.is_some_and(|link| link.duplex == Duplex::Full));
        self.send_over_link(now, lane, 1)
    }

    fn send_over_link(&mut self, now: TimeNs, lane: usize, pages: u64) -> TimeNs {
        let Some(link) = self.link else { return now };
        self.lanes[lane].ask(now, pages * link.page_transfer_ns)
    }

    /// Ends one page of a read, which has reached the host. Time that no cause accounts for counts as queueing.
    pub(crate) fn read_ends(&mut self, at: TimeNs, waiter: &Waiter, mut time: OperationTimeParts, out: &mut SsdOutbox) {
        time.other_ns += waiter.other_ns;
        time.queue_ns = at - waiter.arrived - time.total_ns();
        let met_gc = time.collection_ns > 0;
        out.page_op_end_times.push(PageOpEnd {
            completion_tag: waiter.completion,
            member: self.member,
            is_read: true,
            at,
            met_gc,
            time_parts: time,
        });
        self.pages_end(waiter.fetched_id, 1, at, out);
    }

    /// Ends a command and all its operations.
    pub(super) fn command_ends(&mut self, id: u32, at: TimeNs, out: &mut SsdOutbox) {
        let command = std::mem::take(&mut self.commands[id]);
        let mut time = OperationTimeParts { other_ns: command.begun - command.started, ..OperationTimeParts::default() };
        if command.kind == OpKind::Write {
            time.transfer_ns = command.crossed - command.begun;
            time.collection_ns = command.room_collection_ns;
            time.cache_ns = at - command.crossed - command.room_collection_ns;
        }
        time.queue_ns = at - command.arrived - time.total_ns();
        for op in &command.ops {
            out.page_op_end_times.push(PageOpEnd {
                completion_tag: op.completion_tag,
                member: self.member,
                is_read: command.kind == OpKind::Read,
                at,
                met_gc: false,
                time_parts: time,
            });
        }
        self.pages_end(command.fetched_id, command.ops.len() as u32, at, out);
        self.release(id, command);
    }

    /// Returns the pages of write commands that are neither in the buffer nor with a die.
    pub(super) fn pages_to_write(&self) -> impl Iterator<Item = u64> {
        let writes = self.commands.entries().filter(|command| command.kind == OpKind::Write);
        writes.flat_map(|command| command.ops.iter().skip(command.next as usize)).map(|op| op.logical_page)
    }

    /// Verifies that each command in the table has pages to serve.
    ///
    /// # Errors
    ///
    /// Returns a sentence with the number of commands that have none.
    pub(super) fn verify(&self) -> Result<(), String> {
        let (numbered, at_work) = (self.commands.taken(), self.commands.entries().filter(|command| command.is_at_work()).count());
        if numbered == at_work { Ok(()) } else { Err(format!("{numbered} commands have a number, but {at_work} have pages to serve")) }
    }

    /// Makes a command's number and memory available to later commands.
    pub(super) fn release(&mut self, id: u32, mut command: Command) {
        command.ops.clear();
        self.commands[id] = command;
        self.commands.recycle(id);
    }

    /// Returns the next unit to admit to the buffer, if any.
    pub(crate) fn next_unit(&self) -> Option<Entering> {
        let command = &self.commands[self.buffer.first_in_queue()?];
        let left = &command.ops[command.next as usize..];
        let (unit, pages) = units_of(left, self.pages_per_mapping_unit).next()?;
        Some(Entering { unit, pages: pages.len() as u32, handle: command.handle, op: left[0] })
    }

    /// Records that the command of the next unit has to wait for room, if it was not waiting already.
    pub(crate) fn note_no_room(&mut self, now: TimeNs) {
        let Some(id) = self.buffer.first_in_queue() else { return };
        let command = &mut self.commands[id];
        if command.waits_since.is_none() {
            command.waits_since = Some(now);
            self.counters.buffer_room_waits += 1;
        }
    }

    /// Records that the next unit has entered the buffer with `pages` pages. Returns its command if this was the command's last unit.
    pub(crate) fn unit_entered(&mut self, now: TimeNs, pages: u32) -> Option<u32> {
        let id = self.buffer.first_in_queue()?;
        let command = &mut self.commands[id];
        command.next += pages;
        debug_assert!(command.next as usize <= command.ops.len(), "a command brings no more than its pages");
        if (command.next as usize) < command.ops.len() {
            return None;
        }
        if let Some(since) = command.waits_since {
            self.counters.buffer_room_wait_ns += u128::from(now - since);
        }
        self.buffer.remove_first_of_queue();
        Some(id)
    }

    /// Ends a write whose units are all in the buffer, after the time `ack` for the acknowledgement.
    ///
    /// A write that must be safe from a loss of power may first wait for the programs of these batches (rule 208). Returns true if it
    /// waits.
    pub(crate) fn write_entered(
        &mut self,
        now: TimeNs,
        id: u32,
        work_times: &WorkTimes,
        batches: impl FnOnce() -> Vec<u64>,
        out: &mut SsdOutbox,
    ) -> bool {
        let acknowledged = now + self.buffer.ack_ns();
        let command = &mut self.commands[id];
        command.room_collection_ns = work_times.collection_of_wait(&command.work_times_before, now);
        if self.commands[id].fua && !self.buffer.is_protected() {
            let batches = batches();
            if !batches.is_empty() {
                self.counters.fua_write_waits += 1;
                self.buffer.await_batches(id, batches, acknowledged);
                return true;
            }
        }
        self.command_ends(id, acknowledged, out);
        false
    }

    /// Ends a flush at once if everything is safe from a loss of power. Returns true if it has to wait.
    pub(super) fn flush_begins(&mut self, now: TimeNs, id: u32, out: &mut SsdOutbox) -> bool {
        debug_assert_eq!(self.commands[id].kind, OpKind::Flush);
        let waits = self.buffer.await_all(id);
        if !waits {
            self.command_ends(id, now, out);
        }
        waits
    }

    /// Ends a batch of the host. This completes the flushes that waited only for it, and then the writes, each in order of arrival.
    pub(crate) fn batch_ends(&mut self, now: TimeNs, number: u64, out: &mut SsdOutbox) {
        self.buffer.batch_ends(number);
        while let Some(id) = self.buffer.next_flush() {
            self.command_ends(id, now, out);
        }
        while let Some((id, not_before)) = self.buffer.next_durable_write() {
            self.command_ends(id, not_before.max(now), out);
        }
    }
}

/// A unit that is next to enter the buffer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entering {
    pub(crate) unit: u64,
    /// Number of its pages that the host writes.
    pub(crate) pages: u32,
    pub(crate) handle: u8,
    /// The first operation on the unit.
    pub(crate) op: LogicalPageOp,
}
