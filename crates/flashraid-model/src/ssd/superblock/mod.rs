//! A drive that writes superpages out of a buffer and collects superblocks little by little (section 24 of the rules).
//!
//! ```text
//!  page operations ─▶ command ─▶ core ─▶ latency ─┬─▶ read ─▶ buffer? ─▶ die ─▶ link ─▶ end
//!                                                 └─▶ link ─▶ buffer ─▶ superpage ─▶ die       end: when all is in the buffer
//!                                    collection: part ─▶ core ─▶ die ─▶ superpage ─▶ die
//! ```
//!
//! [`queues`] says which command is fetched, [`command`] follows the operations of the host, [`buffer`] fills superpages, [`die`] says what a
//! die does next, [`collect`] keeps superblocks free, [`agent`] speaks with the array's controller, [`media`] knows what lies where.

mod agent;
mod buffer;
mod collect;
mod command;
mod counters;
mod die;
mod media;
mod params;
mod queues;
mod state;
mod suspend;
#[cfg(test)]
mod tests;

use super::{Busy, MemberCounters, Outbox, Owed, PageOp, SsdParams};
use crate::events::TimeNs;
use crate::ftl::Wear;
use crate::ids::MemberId;
use crate::request::OpKind;
use crate::rng;
use agent::Agent;
use buffer::Buffer;
use collect::Collection;
use command::{Command, Cores};
pub use counters::{ByHandle, DriveCounters};
use die::{Channel, Die, FlashRead};
pub use media::Media;
use media::Warming;
pub use params::*;
use queues::Queues;

/// A moment at which a drive goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DriveWake {
    /// All page operations of a command are there.
    Ready(u32),
    /// A core is done.
    Core(u32),
    /// A command that was fetched is done.
    Done,
    /// The latency of a command is over.
    Delayed(u32),
    /// The data of a write command have crossed the link.
    Crossed(u32),
    /// An array read of a plane is over.
    ArrayRead(u32),
    /// The data of a read have left their die.
    ReadOut(u32),
    /// What a die does with all its planes goes on.
    Exclusive(u32),
    /// A die is suspended, or what was suspended there goes on.
    Suspension(u32),
    /// What was suspended in a die has worked long enough to be suspended again.
    Progress(u32),
    /// A superpage has been open for as long as it may; the last bits of its number.
    Linger(u32),
    /// Nothing has come for as long as idle collection waits; the commands so far.
    Idle(u32),
}

/// Entries by number, used again with what they own.
#[derive(Debug, Clone)]
pub(super) struct Table<T> {
    entries: Vec<T>,
    free: Vec<u32>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self { entries: Vec::new(), free: Vec::new() }
    }
}

impl<T: Default> Table<T> {
    /// A number for an entry, which may be a used one.
    pub fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.entries.push(T::default());
            self.entries.len() as u32 - 1
        })
    }

    pub fn give_back(&mut self, number: u32) {
        self.free.push(number);
    }
}

impl<T> std::ops::Index<u32> for Table<T> {
    type Output = T;
    #[inline]
    fn index(&self, number: u32) -> &T {
        &self.entries[number as usize]
    }
}

impl<T> std::ops::IndexMut<u32> for Table<T> {
    #[inline]
    fn index_mut(&mut self, number: u32) -> &mut T {
        &mut self.entries[number as usize]
    }
}

/// A drive.
#[derive(Debug, Clone)]
pub(super) struct Drive {
    member: MemberId,
    shape: Shape,
    params: SuperblockParams,
    /// Half-duplex links have one lane, full-duplex links two: to the drive and to the host.
    link: Option<super::LinkParams>,
    lane_free: [TimeNs; 2],
    program_ns: u64,
    erase_ns: u64,
    /// Host operations may go in between the steps of a read of collection.
    semi: bool,
    /// Collection takes no time.
    instantaneous: bool,
    idle_ns: Option<u64>,
    pub media: Media,
    commands: Table<Command>,
    /// The command to which operations of this moment may belong.
    gathering: Option<(TimeNs, u32)>,
    /// Where commands wait to be fetched, if they do.
    queues: Option<Queues>,
    cores: Cores,
    buffer: Buffer,
    reads: Table<FlashRead>,
    /// Dies that have got reads and have not looked yet.
    touched_dies: Vec<u32>,
    dies: Vec<Die>,
    channels: Vec<Channel>,
    /// Dies in the order in which equal ones are chosen: channels first.
    die_order: Vec<u32>,
    /// Position in it at which the next search begins.
    next_die: u32,
    programs_running: u32,
    /// Dies that would program if more might, in order of asking.
    waits_for_power: std::collections::VecDeque<u32>,
    collection: Collection,
    /// Dies that work for collection, and since when at least one does.
    dies_collecting: u32,
    collecting_since: TimeNs,
    agent: Option<Agent>,
    untimed: Warming,
    pub counters: MemberCounters,
    pub drive_counters: DriveCounters,
}

impl Drive {
    pub fn new(params: &SsdParams, superblock: &SuperblockParams, member: MemberId) -> Self {
        let shape = Shape::new(&params.geometry, superblock);
        let dies_per_channel = params.channel.map_or(1, |channel| channel.dies_per_channel);
        let channels = shape.dies.div_ceil(dies_per_channel);
        let in_order = (0..dies_per_channel).flat_map(|of| (0..channels).map(move |channel| channel * dies_per_channel + of));
        let die_order: Vec<u32> = in_order.filter(|&die| die < shape.dies).collect();
        let gc = &params.gc;
        Self {
            member,
            shape,
            params: superblock.clone(),
            link: params.link,
            lane_free: [0; 2],
            program_ns: params.timing.page_program_ns,
            erase_ns: params.timing.block_erase_ns,
            semi: gc.preemption.is_some(),
            instantaneous: gc.instantaneous,
            idle_ns: gc.idle_ns.filter(|_| !gc.instantaneous),
            media: Media::new(shape, &die_order, superblock.fresh),
            commands: Table::default(),
            gathering: None,
            queues: superblock.queues.map(Queues::new),
            cores: Cores::new(superblock.firmware.cores),
            buffer: Buffer::new(shape.placement),
            reads: Table::default(),
            touched_dies: Vec::new(),
            dies: (0..shape.dies).map(|die| Die::new(shape.planes, die / dies_per_channel)).collect(),
            channels: vec![Channel::default(); channels as usize],
            die_order,
            next_die: 0,
            programs_running: 0,
            waits_for_power: Default::default(),
            collection: Collection::new(&shape),
            dies_collecting: 0,
            collecting_since: 0,
            agent: None,
            untimed: Warming::new(shape.placement),
            counters: MemberCounters::default(),
            drive_counters: DriveCounters::default(),
        }
    }

    /// Takes a page operation; those of the same kind for the same completion at the same nanosecond are one command (rule 201).
    pub fn submit(&mut self, now: TimeNs, op: PageOp, out: &mut Outbox) {
        if let Some(agent) = &mut self.agent {
            agent.pages_given += u64::from(op.kind == OpKind::Write);
        }
        let id = match self.gathering {
            Some((at, id)) if at == now && self.commands[id].is_of(&op) => id,
            _ => {
                let id = self.commands.take();
                let handle = self.handle_of(op.source);
                self.commands[id].begin(now, &op, handle);
                self.gathering = Some((now, id));
                out.wake(now, DriveWake::Ready(id));
                id
            }
        };
        self.commands[id].ops.push(op);
    }

    pub fn wake(&mut self, now: TimeNs, wake: DriveWake, out: &mut Outbox) {
        match wake {
            DriveWake::Ready(id) => self.command_ready(now, id, out),
            DriveWake::Done => self.command_done(now, out),
            DriveWake::Core(core) => self.core_done(now, core, out),
            DriveWake::Delayed(id) => self.command_delayed(now, id, out),
            DriveWake::Crossed(id) => self.data_crossed(now, id, out),
            DriveWake::ArrayRead(id) => self.array_read_over(now, id, out),
            DriveWake::ReadOut(id) => self.read_out(now, id, out),
            DriveWake::Exclusive(die) => self.exclusive_over(now, die, out),
            DriveWake::Suspension(die) => self.suspension_goes_on(now, die, out),
            DriveWake::Progress(die) => self.interrupt(now, die, out),
            DriveWake::Linger(number) => self.lingered(now, number, out),
            DriveWake::Idle(commands) => self.idle_since(now, commands, out),
        }
    }

    /// The counts at `now`; of what dies do at that moment the time until then counts.
    pub fn counters_at(&self, now: TimeNs) -> (MemberCounters, DriveCounters) {
        let (mut counters, mut drive_counters) = (self.counters, self.drive_counters);
        for die in &self.dies {
            if let Some((job, ns)) = die.works_on_for(now) {
                *self.time_of(job)(&mut drive_counters) += ns;
                counters.gc_time_ns += if job.is_of_collection() { ns } else { 0 };
            }
        }
        drive_counters.collecting_ns += if self.dies_collecting > 0 { now - self.collecting_since } else { 0 };
        (counters, drive_counters)
    }

    /// What is still to be done for what the host has written.
    pub fn owed(&self, now: TimeNs) -> Owed {
        let unit_pages = u64::from(self.params.unit_pages);
        let units = self.collection.owed_units(&self.shape, &self.params.collection) + self.collection.units_on_their_way(&self.shape);
        let collection_ns = self.dies.iter().map(|die| self.collection_left_ns(now, die)).sum();
        Owed { buffered_pages: u64::from(self.buffer.used) * unit_pages, moves_pages: units * unit_pages, collection_ns }
    }

    /// Since when each die works that does, without a break.
    pub fn works_since(&self) -> impl Iterator<Item = TimeNs> {
        self.dies.iter().filter_map(|die| die.works_since)
    }

    /// The placement handle of what a part of a mix writes (rule 221).
    fn handle_of(&self, source: u8) -> u8 {
        (u32::from(source) % self.shape.placement.handles) as u8
    }

    /// When a page that asks now has crossed the link (rule 202).
    fn cross(&mut self, now: TimeNs, to_host: bool, pages: u64) -> TimeNs {
        let Some(link) = self.link else { return now };
        let lane = usize::from(to_host && link.full_duplex);
        let free = &mut self.lane_free[lane];
        *free = (*free).max(now) + pages * link.page_ns;
        *free
    }

    /// Whether the die of `page` does something for collection, and until when.
    pub fn busy(&self, now: TimeNs, page: u32) -> Busy {
        let place = self.media.location(page / self.params.unit_pages);
        let until = place.and_then(|place| self.dies[self.shape.place(place).die as usize].collects_until());
        Busy { collecting: until.is_some(), until: until.unwrap_or(now).max(now) }
    }

    /// As [`super::Ssd::warm_up_while`].
    pub fn warm_up(&mut self, overwrites: f64, seed: u64, go_on: &mut dyn FnMut(f64) -> bool) -> bool {
        let mut stream = rng::stream(seed, "warm-up", u64::from(self.member.0) << 32);
        self.media.warm_up(overwrites, &mut stream, &self.params.collection, go_on)
    }

    /// As [`super::Ssd::settle_down_while`].
    pub fn settle_down(&mut self, seed: u64, go_on: &mut dyn FnMut(f64) -> bool) -> bool {
        let mut stream = rng::stream(seed, "warm-up", u64::from(self.member.0) << 32);
        self.media.settle_down(&mut stream, self.params.collection.target, go_on)
    }

    /// As [`super::Ssd::overwrite_untimed`], of one page.
    pub fn overwrite_untimed(&mut self, page: u32, source: u8) {
        let handle = self.handle_of(source);
        self.untimed.write(&mut self.media, page / self.params.unit_pages, handle, &self.params.collection);
    }

    /// What a warm-up has left open is closed: it is over. What follows begins as after a state that was loaded.
    pub fn warm_up_is_over(&mut self) {
        self.untimed.close(&mut self.media);
        self.untimed = Warming::new(self.shape.placement);
    }

    pub fn wear(&self) -> Wear {
        Wear::of_counts(self.media.erase_counts())
    }

    pub fn verify(&self) -> Result<(), String> {
        self.media.verify()
    }
}
