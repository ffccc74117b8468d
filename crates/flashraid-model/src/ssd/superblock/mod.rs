//! A drive that writes superpages out of a buffer and collects superblocks little by little (section 24 of the rules).
//!
//! ```text
//!  page operations ─▶ command ─▶ core ─▶ latency ─┬─▶ read ─▶ buffer? ─▶ die ─▶ link ─▶ end
//!                                                 └─▶ link ─▶ buffer ─▶ superpage ─▶ die       end: when all is in the buffer
//!                                    collection: part ─▶ core ─▶ die ─▶ superpage ─▶ die
//! ```
//!
//! [`front`](super::front) brings commands here, [`command`] serves them, [`buffer`] fills superpages, [`die`] says what a
//! die does next, [`collect`] keeps superblocks free, [`agent`] speaks with the array's controller, [`media`] knows what lies where.

mod agent;
mod buffer;
mod collect;
mod command;
mod counters;
mod die;
mod media;
mod params;
mod state;
mod suspend;
#[cfg(test)]
mod tests;

use super::front::{Front, FrontWake};
use super::job::Table;
use super::{Busy, MemberCounters, Outbox, Owed, PageOp, SsdParams};
use crate::events::TimeNs;
use crate::ftl::Wear;
use crate::ids::MemberId;
use crate::request::OpKind;
use crate::rng;
use agent::Agent;
use buffer::Buffer;
use collect::Collection;
pub use counters::{ByHandle, DriveCounters};
use die::{Channel, Die, FlashRead};
pub use media::Media;
use media::Warming;
pub use params::*;

/// A moment at which a drive goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DriveWake {
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

/// A drive.
#[derive(Debug, Clone)]
pub(super) struct Drive {
    member: MemberId,
    shape: Shape,
    params: SuperblockParams,
    program_ns: u64,
    erase_ns: u64,
    /// Host operations may go in between the steps of a read of collection.
    semi: bool,
    /// Collection takes no time.
    instantaneous: bool,
    idle_ns: Option<u64>,
    pub media: Media,
    /// Commands on their way to the dies, and the room of the buffer.
    pub front: Front,
    /// Superpages in the buffer.
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
        let front = Front::new(&superblock.front(), params.link, member, superblock.unit_pages, superblock.placement.handles);
        Self {
            member,
            shape,
            params: superblock.clone(),
            program_ns: params.timing.page_program_ns,
            erase_ns: params.timing.block_erase_ns,
            semi: gc.preemption.is_some(),
            instantaneous: gc.instantaneous,
            idle_ns: gc.idle_ns.filter(|_| !gc.instantaneous),
            media: Media::new(shape, &die_order, superblock.fresh),
            front,
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
        self.front.submit(now, op, out);
    }

    /// Goes on at a wake-up of the front.
    pub fn wake_front(&mut self, now: TimeNs, wake: FrontWake, out: &mut Outbox) {
        match wake {
            FrontWake::Ready(id) => {
                self.front.is_complete(id);
                self.command_came(now, out);
                self.front.joins(now, id, out);
            }
            FrontWake::Done => self.front.command_done(now, out),
            FrontWake::Core(core) => {
                if let Some(part) = self.front.core_done(now, core, out) {
                    self.part_has_core(now, part, out);
                }
                self.front.use_cores(now, out);
            }
            FrontWake::Delayed(id) => self.command_delayed(now, id, out),
            FrontWake::Crossed(id) => self.data_crossed(now, id, out),
            FrontWake::Begun(_) | FrontWake::Programmed(_) => unreachable!("superpages are programmed, not pages"),
        }
    }

    pub fn wake(&mut self, now: TimeNs, wake: DriveWake, out: &mut Outbox) {
        match wake {
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
        Owed { buffered_pages: u64::from(self.front.buffer.used()) * unit_pages, moves_pages: units * unit_pages, collection_ns }
    }

    /// Since when each die works that does, without a break.
    pub fn works_since(&self) -> impl Iterator<Item = TimeNs> {
        self.dies.iter().filter_map(|die| die.works_since)
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
        let handle = self.front.handle_of(source);
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
