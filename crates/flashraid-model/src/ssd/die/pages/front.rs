//! Commands that the front passes to dies with pools of blocks (section 25 of the rules).
//!
//! The *front* is the part of a drive before its dies: queues, cores, link and write buffer. Commands go to their dies page by page. Pages
//! of the write buffer go when their dies can take them.

use super::PageContext;
use super::waiting::Waiting;
use crate::events::{OperationTimeParts, TimeNs};
use crate::request::OpKind;
use crate::ssd::front::{Buffered, Entering, Stage};
use crate::ssd::job::{FrontWake, LogicalPageOp, Origin, PageOpEnd, Waiter, WorkSnapshot};

impl PageContext<'_> {
    /// Processes a scheduled event of the front.
    pub(super) fn wake_front(&mut self, now: TimeNs, wake: FrontWake) {
        match wake {
            FrontWake::CommandArrived(id) => {
                self.front.complete_command(id);
                self.front.enqueue(now, id, self.out);
            }
            FrontWake::CommandEnded => self.front.command_done(now, self.out),
            FrontWake::CoreWorkEnds(core) => {
                let part = self.front.core_done(now, core, self.out);
                assert_eq!(part, None, "cleans of pools need no core");
                self.front.assign_cores(now, self.out);
            }
            FrontWake::ControllerDelayEnds(id) => self.command_begins(now, id),
            FrontWake::DataCrossedLink(id) => self.data_crossed(now, id),
            FrontWake::BufferedPageProgramBegun(page) => {
                let lane = self.own.buffered.pages[page].lane;
                self.own.buffered.at_dies[lane as usize] -= 1;
                self.send_buffered_pages(now, lane);
            }
            FrontWake::Programmed(page) => {
                self.page_leaves_buffer(now, page);
                self.admit_waiting(now);
            }
        }
    }

    /// Begins the work of a command that the front has passed on.
    fn command_begins(&mut self, now: TimeNs, id: u32) {
        let front = &mut *self.front;
        front.commands[id].begun = now;
        match front.commands[id].kind {
            OpKind::Read => self.read_command(now, id),
            OpKind::Write => front.send_data(now, id, self.out),
            OpKind::Trim => {
                let ops = std::mem::take(&mut front.commands[id].ops);
                ops.iter().for_each(|op| self.drop_buffered(now, op.logical_page));
                self.send_to_dies(now, id, ops);
                self.admit_waiting(now);
            }
            OpKind::Flush => {
                front.flush_begins(now, id, self.out);
            }
        }
    }

    /// Serves a read command. Pages in the buffer need no flash, and the other pages go to their dies.
    fn read_command(&mut self, now: TimeNs, id: u32) {
        let mut ops = std::mem::take(&mut self.front.commands[id].ops);
        ops.retain(|op| {
            let is_buffered = self.own.buffered.held.contains_key(&op.logical_page);
            if is_buffered {
                let front = &mut *self.front;
                front.counters.pages_read_from_buffer += 1;
                let command = &front.commands[id];
                let waiter = Waiter {
                    completion: op.completion_tag,
                    fetched_id: command.fetched_id,
                    arrived: command.arrived,
                    other_ns: command.begun - command.started,
                    before: WorkSnapshot::default(),
                };
                let at = front.send_page_to_host(now);
                front.read_ends(at, &waiter, OperationTimeParts { transfer_ns: at - now, ..OperationTimeParts::default() }, self.out);
            }
            !is_buffered
        });
        self.send_to_dies(now, id, ops);
    }

    /// Sends the pages of a command to their dies, in order.
    fn send_to_dies(&mut self, now: TimeNs, id: u32, ops: Vec<LogicalPageOp>) {
        let command = &mut self.front.commands[id];
        let pages = ops.len() as u32;
        (command.next, command.pages_left) = (0, pages);
        if pages == 0 {
            command.ops = ops;
            self.finish_command(id);
            return;
        }
        for &op in &ops {
            self.send_to_die(now, op, Origin::Command(id));
        }
    }

    fn send_to_die(&mut self, now: TimeNs, op: LogicalPageOp, origin: Origin) {
        let (die, lpn) = self.die_and_lpn(op.logical_page);
        let id = self.own.waiting.insert(Waiting { origin, ..Waiting::new(now, op, lpn, die) });
        self.arrive(now, 0, id);
    }

    fn finish_command(&mut self, id: u32) {
        let front = &mut *self.front;
        debug_assert_eq!(front.commands[id].pages_left, 0, "its pages have ended");
        let command = std::mem::take(&mut front.commands[id]);
        front.release(id, command);
    }

    /// Processes the end of a page of a command. A die has served it until `at`.
    pub(super) fn front_page_ends(&mut self, id: u32, at: TimeNs) {
        let Waiting { op, origin, met_gc, .. } = self.own.waiting[id];
        let mut time = self.own.waiting[id].time_until(at);
        match origin {
            Origin::Array => unreachable!("it did not come through the front"),
            Origin::WriteBufferEntry(page) => self.out.wake(at, FrontWake::Programmed(page)),
            Origin::Command(command) => {
                let member = self.parts.member;
                let front = &mut *self.front;
                let of = &mut front.commands[command];
                time.queue_ns += of.started - of.arrived;
                time.other_ns += of.begun - of.started;
                if of.kind == OpKind::Write {
                    time.transfer_ns += of.crossed - of.begun;
                }
                debug_assert_eq!(time.total_ns(), at - of.arrived, "the parts of its time add up");
                assert!(of.pages_left > 0, "a command ends once");
                of.pages_left -= 1;
                let (fetched_id, is_over) = (of.fetched_id, of.pages_left == 0);
                self.out.page_op_end_times.push(PageOpEnd {
                    completion_tag: op.completion_tag,
                    member,
                    is_read: op.kind == OpKind::Read,
                    at,
                    met_gc,
                    time_parts: time,
                });
                front.pages_end(fetched_id, 1, at, self.out);
                if is_over {
                    self.finish_command(command);
                }
            }
        }
    }

    /// Continues a write command after its data have crossed the link.
    fn data_crossed(&mut self, now: TimeNs, id: u32) {
        let front = &mut *self.front;
        if front.buffer.exists() {
            front.data_crossed(now, id, &self.parts.work_times);
            self.admit_waiting(now);
        } else {
            front.commands[id].crossed = now;
            let ops = std::mem::take(&mut front.commands[id].ops);
            self.send_to_dies(now, id, ops);
        }
    }

    /// Admits pages to the write buffer, command by command, while there is room.
    fn admit_waiting(&mut self, now: TimeNs) {
        while let Some(entering) = self.front.next_unit() {
            if !self.admit_page(now, &entering) {
                return self.front.note_no_room(now);
            }
            if let Some(id) = self.front.unit_entered(now, entering.pages) {
                let (front, buffered) = (&mut *self.front, &self.own.buffered);
                let pages: Vec<u64> =
                    if front.commands[id].fua { front.commands[id].ops.iter().map(|op| op.logical_page).collect() } else { Vec::new() };
                // What is in the buffer no more has been programmed, or trimmed, in the meantime.
                let batches = || pages.iter().filter_map(|page| buffered.held.get(page)).map(|&held| buffered.pages[held].number).collect();
                front.write_entered(now, id, &self.parts.work_times, batches, self.out);
            }
        }
    }

    /// Admits a page to the write buffer. Returns true if there was room, or if the page replaces one whose program has not begun.
    fn admit_page(&mut self, now: TimeNs, entering: &Entering) -> bool {
        let (front, buffered) = (&mut *self.front, &self.own.buffered);
        let page = entering.unit;
        if buffered.held.get(&page).is_some_and(|&held| buffered.pages[held].stage != Stage::Begun) {
            front.counters.units_overwritten_in_buffer += 1;
            return true;
        }
        if !front.buffer.take_room() {
            return false;
        }
        let number = front.buffer.next_number();
        front.buffer.begin_batch(number);
        let lane = if self.own.dynamic { 0 } else { self.die_and_lpn(page).0.0 };
        let id = self.own.buffered.pages.take();
        self.own.buffered.pages[id] = Buffered { op: entering.op, number, stage: Stage::NotSentToDie, lane };
        self.own.buffered.held.insert(page, id);
        self.own.buffered.lanes[lane as usize].push_back(id);
        self.send_buffered_pages(now, lane);
        true
    }

    /// Sends buffered pages of a lane to their dies, up to the number of pages that may wait there.
    fn send_buffered_pages(&mut self, now: TimeNs, lane: u32) {
        while let Some((id, op)) = self.own.buffered.next_for_die(lane) {
            self.send_to_die(now, op, Origin::WriteBufferEntry(id));
        }
    }

    /// Removes a trimmed page from the write buffer. If a die has received it already, the page only becomes invisible to reads.
    fn drop_buffered(&mut self, now: TimeNs, page: u64) {
        let Some(id) = self.own.buffered.held.remove(&page) else { return };
        let Buffered { stage, lane, .. } = self.own.buffered.pages[id];
        if stage != Stage::NotSentToDie {
            return;
        }
        self.own.buffered.lanes[lane as usize].retain(|&waiting| waiting != id);
        self.front.counters.units_trimmed_in_buffer += 1;
        self.page_leaves_buffer(now, id);
    }

    /// Frees the room of a page in the write buffer.
    fn page_leaves_buffer(&mut self, now: TimeNs, id: u32) {
        let Buffered { op, number, .. } = self.own.buffered.pages[id];
        if self.own.buffered.held.get(&op.logical_page) == Some(&id) {
            self.own.buffered.held.remove(&op.logical_page);
        }
        self.own.buffered.pages.recycle(id);
        self.front.buffer.free_room(1);
        self.front.batch_ends(now, number, self.out);
    }

    /// Returns the pages of write commands that no die has received.
    pub(super) fn pages_before_dies(&self) -> impl Iterator<Item = u64> {
        let in_commands = self.front.pages_to_write();
        in_commands.chain(self.own.buffered.waiting())
    }
}
