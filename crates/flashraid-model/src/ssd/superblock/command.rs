//! Commands of the host: cores, latency, link (rules 201 to 204).

use super::die::{Reader, Waiter};
use super::media::{BUFFERED, NONE};
use super::{Drive, DriveWake};
use crate::events::{TimeNs, TimeParts};
use crate::request::OpKind;
use crate::ssd::{OpEnd, Outbox, PageOp};
use std::collections::VecDeque;

/// What the operations of a moment for one completion come to.
#[derive(Debug, Clone)]
pub(super) struct Command {
    pub kind: OpKind,
    /// A write that is to survive a loss of power.
    pub fua: bool,
    /// The placement handle of what it writes.
    pub handle: u8,
    pub ops: Vec<PageOp>,
    pub arrived: TimeNs,
    /// It has its core.
    started: TimeNs,
    /// Its latency is over.
    pub begun: TimeNs,
    /// Its data have crossed.
    pub crossed: TimeNs,
    /// The first operation whose unit is not in the buffer yet.
    pub next: u32,
    /// It found no room, since then.
    pub waits_since: Option<TimeNs>,
    /// Its number among what is in flight, if there are queues.
    pub flight: u32,
}

impl Default for Command {
    fn default() -> Self {
        Self {
            kind: OpKind::Read,
            fua: false,
            handle: 0,
            ops: Vec::new(),
            arrived: 0,
            started: 0,
            begun: 0,
            crossed: 0,
            next: 0,
            waits_since: None,
            flight: 0,
        }
    }
}

impl Command {
    pub fn begin(&mut self, now: TimeNs, first: &PageOp, handle: u8) {
        self.ops.clear();
        (self.kind, self.fua, self.handle, self.arrived, self.next, self.waits_since) = (first.kind, first.fua, handle, now, 0, None);
    }

    /// The source of its request.
    pub fn source(&self) -> u8 {
        self.ops.first().map_or(0, |op| op.source)
    }

    /// Whether an operation that comes at the same moment belongs to it.
    pub fn is_of(&self, op: &PageOp) -> bool {
        self.kind == op.kind && self.ops.first().is_some_and(|first| first.completion == op.completion)
    }
}

/// What holds a core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Job {
    Command(u32),
    Part(u32),
}

/// The cores, and what waits for one.
#[derive(Debug, Clone)]
pub(super) struct Cores {
    jobs: Vec<Option<Job>>,
    commands: VecDeque<u32>,
    parts: VecDeque<u32>,
}

impl Cores {
    pub fn new(cores: u32) -> Self {
        Self { jobs: vec![None; cores as usize], commands: VecDeque::new(), parts: VecDeque::new() }
    }
}

impl Drive {
    pub(super) fn command_ready(&mut self, now: TimeNs, id: u32, out: &mut Outbox) {
        if self.gathering.is_some_and(|(_, gathering)| gathering == id) {
            self.gathering = None;
        }
        self.drive_counters.commands += 1;
        self.command_came(now, out);
        self.command_joins(now, id, out);
    }

    /// A command waits for nothing but a core.
    pub(super) fn wants_core(&mut self, now: TimeNs, id: u32, out: &mut Outbox) {
        self.cores.commands.push_back(id);
        self.use_cores(now, out);
    }

    /// A part of a victim wants a core.
    pub(super) fn part_wants_core(&mut self, now: TimeNs, part: u32, out: &mut Outbox) {
        self.cores.parts.push_back(part);
        self.use_cores(now, out);
    }

    /// Free cores take what waits: commands before parts, each in order of asking.
    fn use_cores(&mut self, now: TimeNs, out: &mut Outbox) {
        while let Some(core) = self.cores.jobs.iter().position(Option::is_none) {
            let firmware = &self.params.firmware;
            let (job, ns) = if let Some(id) = self.cores.commands.pop_front() {
                let command = &mut self.commands[id];
                command.started = now;
                let ns = match command.kind {
                    OpKind::Read => firmware.read_ns,
                    OpKind::Write | OpKind::Flush => firmware.write_ns,
                    OpKind::Trim => {
                        firmware.trim_ns + (command.ops.len() as u64).div_ceil(u64::from(self.params.unit_pages)) * firmware.trim_unit_ns
                    }
                };
                (Job::Command(id), ns)
            } else if let Some(part) = self.cores.parts.pop_front() {
                (Job::Part(part), u64::from(self.collection.parts[part].units()) * firmware.move_ns)
            } else {
                return;
            };
            self.cores.jobs[core] = Some(job);
            out.wake(now + ns, DriveWake::Core(core as u32));
        }
    }

    pub(super) fn core_done(&mut self, now: TimeNs, core: u32, out: &mut Outbox) {
        match self.cores.jobs[core as usize].take() {
            Some(Job::Command(id)) => out.wake(now + self.params.firmware.latency_ns, DriveWake::Delayed(id)),
            Some(Job::Part(part)) => self.part_has_core(now, part, out),
            None => unreachable!("a core that is done was busy"),
        }
        self.use_cores(now, out);
    }

    /// A command goes to its work.
    pub(super) fn command_delayed(&mut self, now: TimeNs, id: u32, out: &mut Outbox) {
        self.commands[id].begun = now;
        match self.commands[id].kind {
            OpKind::Read => self.read_command(now, id, out),
            OpKind::Write => {
                let pages = self.commands[id].ops.len() as u64;
                self.drive_counters.pages_received += pages;
                self.drive_counters.by_handle.received(self.commands[id].handle, pages);
                self.counters.host_pages_written += pages;
                let at = self.cross(now, false, pages);
                out.wake(at, DriveWake::Crossed(id));
            }
            OpKind::Trim => self.trim_command(now, id, out),
            OpKind::Flush => self.flush_command(now, id, out),
        }
    }

    /// All of it joins the queues of its dies before one of them looks (rule 203).
    fn read_command(&mut self, now: TimeNs, id: u32, out: &mut Outbox) {
        let command = std::mem::take(&mut self.commands[id]);
        self.counters.host_pages_read += command.ops.len() as u64;
        for op in &command.ops {
            let waiter = Waiter {
                completion: op.completion,
                flight: command.flight,
                arrived: command.arrived,
                other_ns: now - command.started,
                collected_before_ns: 0,
            };
            let place = self.media.map[(op.page / self.params.unit_pages) as usize];
            if place & BUFFERED == 0 {
                self.enqueue_read(now, place, Reader::Host(waiter));
            } else {
                self.drive_counters.buffer_hits += u64::from(place != NONE);
                let at = self.cross(now, true, 1);
                self.read_ends(at, &waiter, TimeParts { transfer_ns: at - now, ..TimeParts::default() }, out);
            }
        }
        self.look_at_touched(now, out);
        self.release_command(id, command);
    }

    /// A page of a read is with the host; what the parts leave of its time is queueing.
    pub(super) fn read_ends(&mut self, at: TimeNs, waiter: &Waiter, mut time: TimeParts, out: &mut Outbox) {
        time.other_ns += waiter.other_ns;
        time.queue_ns = at - waiter.arrived - time.total_ns();
        let met_gc = time.collection_ns > 0;
        if met_gc {
            self.drive_counters.reads_behind_collection += 1;
            self.drive_counters.reads_behind_collection_ns += time.collection_ns;
        }
        out.ends.push(OpEnd { completion: waiter.completion, member: self.member, at, met_gc, time });
        self.pages_end(waiter.flight, 1, at, out);
    }

    /// A command that is no read ends, with all its operations.
    pub(super) fn command_ends(&mut self, id: u32, at: TimeNs, out: &mut Outbox) {
        let command = std::mem::take(&mut self.commands[id]);
        let mut time = TimeParts { other_ns: command.begun - command.started, ..TimeParts::default() };
        if command.kind == OpKind::Write {
            time.transfer_ns = command.crossed - command.begun;
            time.cache_ns = at - command.crossed;
        }
        time.queue_ns = at - command.arrived - time.total_ns();
        for op in &command.ops {
            out.ends.push(OpEnd { completion: op.completion, member: self.member, at, met_gc: false, time });
        }
        self.pages_end(command.flight, command.ops.len() as u32, at, out);
        self.release_command(id, command);
    }

    /// Gives the number back, and the memory with it.
    fn release_command(&mut self, id: u32, command: Command) {
        self.commands[id] = command;
        self.commands.give_back(id);
    }

    /// Whole units are unmapped; those in the buffer leave it with their superpage (rule 212).
    fn trim_command(&mut self, now: TimeNs, id: u32, out: &mut Outbox) {
        let ops = std::mem::take(&mut self.commands[id].ops);
        self.counters.host_pages_trimmed += ops.len() as u64;
        for (unit, pages) in units_of(&ops, self.params.unit_pages) {
            if pages.len() < self.params.unit_pages as usize {
                self.drive_counters.trimmed_in_part += pages.len() as u64;
                continue;
            }
            let place = std::mem::replace(&mut self.media.map[unit as usize], NONE);
            if place & BUFFERED == 0 {
                self.media.invalidate(place);
            }
        }
        self.commands[id].ops = ops;
        self.command_ends(id, now, out);
    }
}

/// The units that operations in order of address touch, each with the range of operations that touch it.
pub(super) fn units_of(ops: &[PageOp], unit_pages: u32) -> impl Iterator<Item = (u32, std::ops::Range<usize>)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let unit = ops.get(at)?.page / unit_pages;
        let begin = at;
        while ops.get(at).is_some_and(|op| op.page / unit_pages == unit) {
            at += 1;
        }
        Some((unit, begin..at))
    })
}
