//! A front before dies with pools of blocks (section 25 of the rules): commands go to their dies page by page, and pages of the write
//! buffer as their dies take them.

use super::{Entering, Front, FrontWake};
use crate::events::{TimeNs, TimeParts};
use crate::request::OpKind;
use crate::ssd::job::{Before, Origin, Table, Waiter};
use crate::ssd::{OpEnd, Outbox, PageOp, Ssd, Waiting};
use std::collections::{HashMap, VecDeque};

/// How far a page of the buffer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Stage {
    /// It waits for its turn.
    #[default]
    Waiting,
    /// It waits in the queue of a die, or for one that accepts it.
    Given,
    /// Its die has begun with it: it can't be replaced any more.
    Begun,
}

/// A page in the write buffer.
#[derive(Debug, Clone, Copy)]
struct Buffered {
    op: PageOp,
    /// Its number among all batches.
    number: u64,
    stage: Stage,
    lane: u32,
}

impl Default for Buffered {
    fn default() -> Self {
        let op = PageOp { page: 0, kind: OpKind::Write, fua: false, high_priority: false, source: 0, completion: 0 };
        Self { op, number: 0, stage: Stage::Waiting, lane: 0 }
    }
}

/// The pages of a write buffer, and which of them may go to their dies.
#[derive(Debug, Clone, Default)]
pub(in crate::ssd) struct PageBuffer {
    pages: Table<Buffered>,
    /// By logical page: the last that was written of it, while that is in the buffer and not trimmed.
    held: HashMap<u32, u32>,
    /// Pages that wait for their turn, in order of entry: by die or, where dies are chosen late, all in one.
    lanes: Vec<VecDeque<u32>>,
    /// By lane: pages that dies have got and not begun.
    given: Vec<u32>,
    /// These at most.
    given_max: u32,
}

impl PageBuffer {
    /// Of a member with so many dies, which are chosen late or by address.
    pub fn new(dies: u32, dynamic: bool) -> Self {
        let lanes = if dynamic { 1 } else { dies };
        Self { lanes: vec![VecDeque::new(); lanes as usize], given: vec![0; lanes as usize], given_max: dies / lanes, ..Self::default() }
    }

    /// The next page of a lane that may go to its die.
    fn give(&mut self, lane: u32) -> Option<(u32, PageOp)> {
        let of_lane = lane as usize;
        if self.given[of_lane] == self.given_max {
            return None;
        }
        let id = self.lanes[of_lane].pop_front()?;
        let page = &mut self.pages[id];
        assert_eq!(page.stage, Stage::Waiting, "a page is given to a die once");
        page.stage = Stage::Given;
        self.given[of_lane] += 1;
        Some((id, page.op))
    }

    /// A die begins with a page.
    pub fn begins(&mut self, id: u32) {
        let page = &mut self.pages[id];
        assert_eq!(page.stage, Stage::Given, "a die begins with what it has got");
        page.stage = Stage::Begun;
    }

    /// The pages that no die has got.
    fn waiting(&self) -> impl Iterator<Item = u32> {
        self.lanes.iter().flatten().map(|&id| self.pages[id].op.page)
    }

    /// Verifies that it fits a buffer in which `used` pages are.
    fn verify(&self, used: u32) -> Result<(), String> {
        let (pages, waiting) = (self.pages.taken(), self.lanes.iter().map(VecDeque::len).sum::<usize>());
        if pages != used as usize {
            return Err(format!("the write buffer has {pages} pages, but room for {used} is taken"));
        }
        if waiting > pages || self.held.len() > pages {
            return Err(format!("of {pages} pages of the write buffer {waiting} wait and {} can be read", self.held.len()));
        }
        match self.held.iter().find(|&(&page, &id)| self.pages[id].op.page != page) {
            Some((page, id)) => Err(format!("page {page} is held as page {} of the write buffer", self.pages[*id].op.page)),
            None => Ok(()),
        }
    }
}

impl Ssd {
    /// The front and the pages of its buffer.
    fn front(&mut self) -> &mut Front {
        self.front.as_mut().expect("only a member with a front gets its wake-ups")
    }

    /// Goes on at a wake-up of the front.
    pub(in crate::ssd) fn wake_front(&mut self, now: TimeNs, wake: FrontWake, out: &mut Outbox) {
        match wake {
            FrontWake::Ready(id) => {
                self.front().is_complete(id);
                self.front().joins(now, id, out);
            }
            FrontWake::Done => self.front().command_done(now, out),
            FrontWake::Core(core) => {
                let part = self.front().core_done(now, core, out);
                assert_eq!(part, None, "cleans of pools need no core");
                self.front().use_cores(now, out);
            }
            FrontWake::Delayed(id) => self.command_begins(now, id, out),
            FrontWake::Crossed(id) => self.data_crossed(now, id, out),
            FrontWake::Begun(page) => {
                let lane = self.buffered.pages[page].lane;
                self.buffered.given[lane as usize] -= 1;
                self.feed(now, lane, out);
            }
            FrontWake::Programmed(page) => {
                self.leaves_buffer(now, page, out);
                self.bring_in(now, out);
            }
        }
    }

    /// A command goes to its work.
    fn command_begins(&mut self, now: TimeNs, id: u32, out: &mut Outbox) {
        let front = self.front();
        front.commands[id].begun = now;
        match front.commands[id].kind {
            OpKind::Read => self.read_command(now, id, out),
            OpKind::Write => front.sends_data(now, id, out),
            OpKind::Trim => {
                let ops = std::mem::take(&mut front.commands[id].ops);
                ops.iter().for_each(|op| self.drop_buffered(now, op.page, out));
                self.go_to_dies(now, id, ops, out);
                self.bring_in(now, out);
            }
            OpKind::Flush => {
                front.flush_begins(now, id, out);
            }
        }
    }

    /// Pages that are in the buffer touch no flash; the others go to their dies.
    fn read_command(&mut self, now: TimeNs, id: u32, out: &mut Outbox) {
        let mut ops = std::mem::take(&mut self.front().commands[id].ops);
        ops.retain(|op| {
            let is_buffered = self.buffered.held.contains_key(&op.page);
            if is_buffered {
                let front = self.front();
                front.counters.buffer_hits += 1;
                let command = &front.commands[id];
                let waiter = Waiter {
                    completion: op.completion,
                    flight: command.flight,
                    arrived: command.arrived,
                    other_ns: command.begun - command.started,
                    before: Before::default(),
                };
                let at = front.cross(now, true, 1);
                front.read_ends(at, &waiter, TimeParts { transfer_ns: at - now, ..TimeParts::default() }, out);
            }
            !is_buffered
        });
        self.go_to_dies(now, id, ops, out);
    }

    /// Pages of a command go to their dies, in order.
    fn go_to_dies(&mut self, now: TimeNs, id: u32, ops: Vec<PageOp>, out: &mut Outbox) {
        let command = &mut self.front().commands[id];
        let pages = ops.len() as u32;
        (command.next, command.pages_left) = (0, pages);
        if pages == 0 {
            command.ops = ops;
            self.command_leaves(id);
            return;
        }
        for &op in &ops {
            self.goes_to_die(now, op, Origin::Command(id), out);
        }
    }

    fn goes_to_die(&mut self, now: TimeNs, op: PageOp, origin: Origin, out: &mut Outbox) {
        let (die, lpn) = self.home(op.page);
        let id = self.waiting.insert(Waiting { origin, ..Waiting::new(now, op, lpn, die) });
        self.arrive(now, 0, id, out);
    }

    fn command_leaves(&mut self, id: u32) {
        let front = self.front();
        debug_assert_eq!(front.commands[id].pages_left, 0, "its pages have ended");
        let command = std::mem::take(&mut front.commands[id]);
        front.release(id, command);
    }

    /// A die is done with a page that came through the front, at `at`.
    pub(in crate::ssd) fn front_page_ends(&mut self, id: u32, at: TimeNs, out: &mut Outbox) {
        let Waiting { op, origin, met_gc, .. } = self.waiting[id];
        let mut time = self.waiting[id].time_until(at);
        match origin {
            Origin::Array => unreachable!("it did not come through the front"),
            Origin::Buffer(page) => out.wake(at, FrontWake::Programmed(page)),
            Origin::Command(command) => {
                let member = self.member;
                let front = self.front();
                let of = &mut front.commands[command];
                time.queue_ns += of.started - of.arrived;
                time.other_ns += of.begun - of.started;
                if of.kind == OpKind::Write {
                    time.transfer_ns += of.crossed - of.begun;
                }
                debug_assert_eq!(time.total_ns(), at - of.arrived, "the parts of its time add up");
                assert!(of.pages_left > 0, "a command ends once");
                of.pages_left -= 1;
                let (flight, is_over) = (of.flight, of.pages_left == 0);
                out.ends.push(OpEnd { completion: op.completion, member, at, met_gc, time });
                front.pages_end(flight, 1, at, out);
                if is_over {
                    self.command_leaves(command);
                }
            }
        }
    }

    /// The data of a write command have crossed the link.
    fn data_crossed(&mut self, now: TimeNs, id: u32, out: &mut Outbox) {
        let worked = self.worked;
        let front = self.front();
        if front.buffer.is_there() {
            front.data_crossed(now, id, &worked);
            self.bring_in(now, out);
        } else {
            front.commands[id].crossed = now;
            let ops = std::mem::take(&mut front.commands[id].ops);
            self.go_to_dies(now, id, ops, out);
        }
    }

    /// Pages enter the buffer, command by command, as far as there is room.
    fn bring_in(&mut self, now: TimeNs, out: &mut Outbox) {
        while let Some(entering) = self.front().next_unit() {
            if !self.enter(now, &entering, out) {
                return self.front().finds_no_room(now);
            }
            if let Some(id) = self.front().unit_is_in(now, entering.pages) {
                let Self { front, buffered, worked, .. } = self;
                let front = front.as_mut().expect("there is a front");
                let pages: Vec<u32> =
                    if front.commands[id].fua { front.commands[id].ops.iter().map(|op| op.page).collect() } else { Vec::new() };
                // What is in the buffer no more has been programmed, or trimmed, in the meantime.
                let batches = || pages.iter().filter_map(|page| buffered.held.get(page)).map(|&held| buffered.pages[held].number).collect();
                front.write_is_in(now, id, worked, batches, out);
            }
        }
    }

    /// A page enters the buffer, if there is room or it replaces one that its die has not begun with.
    fn enter(&mut self, now: TimeNs, entering: &Entering, out: &mut Outbox) -> bool {
        let Self { front, buffered, .. } = self;
        let front = front.as_mut().expect("there is a front");
        let page = entering.unit;
        if buffered.held.get(&page).is_some_and(|&held| buffered.pages[held].stage != Stage::Begun) {
            front.counters.overwritten += 1;
            return true;
        }
        if !front.buffer.take_room() {
            return false;
        }
        let number = front.buffer.next_number();
        front.buffer.begin_batch(number);
        let lane = if self.dynamic { 0 } else { self.home(page).0.0 };
        let id = self.buffered.pages.take();
        self.buffered.pages[id] = Buffered { op: entering.op, number, stage: Stage::Waiting, lane };
        self.buffered.held.insert(page, id);
        self.buffered.lanes[lane as usize].push_back(id);
        self.feed(now, lane, out);
        true
    }

    /// Pages of a lane go to their dies, as many as may wait there.
    fn feed(&mut self, now: TimeNs, lane: u32, out: &mut Outbox) {
        while let Some((id, op)) = self.buffered.give(lane) {
            self.goes_to_die(now, op, Origin::Buffer(id), out);
        }
    }

    /// A page is trimmed: if no die has got it, it leaves the buffer; else nobody finds it there any more.
    fn drop_buffered(&mut self, now: TimeNs, page: u32, out: &mut Outbox) {
        let Some(id) = self.buffered.held.remove(&page) else { return };
        let Buffered { stage, lane, .. } = self.buffered.pages[id];
        if stage != Stage::Waiting {
            return;
        }
        self.buffered.lanes[lane as usize].retain(|&waiting| waiting != id);
        self.front().counters.dropped += 1;
        self.leaves_buffer(now, id, out);
    }

    /// The room of a page is free.
    fn leaves_buffer(&mut self, now: TimeNs, id: u32, out: &mut Outbox) {
        let Buffered { op, number, .. } = self.buffered.pages[id];
        if self.buffered.held.get(&op.page) == Some(&id) {
            self.buffered.held.remove(&op.page);
        }
        self.buffered.pages.give_back(id);
        self.front().buffer.free_room(1);
        self.front().batch_ends(now, number, out);
    }

    /// The pages that writes have been given for and that no die has got.
    pub(in crate::ssd) fn pages_before_dies(&self) -> impl Iterator<Item = u32> {
        let in_commands = self.front.iter().flat_map(|front| front.pages_to_write());
        in_commands.chain(self.buffered.waiting())
    }

    /// Verifies the pages of the write buffer.
    ///
    /// # Errors
    /// A sentence that names the first invariant that does not hold.
    pub(in crate::ssd) fn verify_front(&self) -> Result<(), String> {
        self.front.as_ref().map_or(Ok(()), |front| self.buffered.verify(front.buffer.used()))
    }
}
