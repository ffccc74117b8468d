//! A drive that writes superpages out of a buffer and collects superblocks little by little (section 24 of the rules).
//!
//! ```text
//!  page operations ─▶ command ─▶ core ─▶ latency ─┬─▶ read ─▶ buffer? ─▶ die ─▶ link ─▶ end
//!                                                 └─▶ link ─▶ buffer ─▶ superpage ─▶ die       end: when all is in the buffer
//!                                    collection: part ─▶ core ─▶ die ─▶ superpage ─▶ die
//! ```
//!
//! [`front`](super::front) brings commands here, [`command`] serves them, [`buffer`] fills superpages, [`die`] says what a
//! die does next, [`collect`] keeps superblocks free and obeys the array's controller, [`crate::space`] knows what lies where.

mod buffer;
mod collect;
mod command;
mod counters;
mod die;
mod held;
mod obey;
mod params;
mod preempt;
mod suspend;
#[cfg(test)]
mod tests;

use super::agent::{Agent, Order};
use super::front::{Front, FrontWake};
use super::job::Table;
use super::mechanism::{AtDie, MechanismCounters, Mechanisms};
use super::worked::Worked;
use super::{MemberCounters, Outbox, Owed, PageOp, SsdParams};
use crate::events::TimeNs;
use crate::ids::{DieId, MemberId};
use crate::space::superblocks::{Shape, Superblocks};
use buffer::Buffer;
use collect::Collection;
pub use counters::{ByHandle, DriveCounters};
use die::{Channel, Die, FlashRead};
pub use params::*;
use preempt::{Merging, Overlap};

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
    /// A mechanism does not hold a die any more, or another one does.
    Held(u32),
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
    /// Which host reads and steps of collection overlap in a die.
    overlap: Overlap,
    /// The units that host reads find with collection.
    merging: Merging,
    /// Collection takes no time.
    instantaneous: bool,
    pub media: Superblocks,
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
    /// Work of the dies.
    worked: Worked,
    /// Moment from which on at least one die works for collection, if one does.
    collecting_since: TimeNs,
    agent: Option<Agent>,
    pub counters: MemberCounters,
    pub drive_counters: DriveCounters,
}

impl Drive {
    pub fn new(params: &SsdParams, superblock: &SuperblockParams, media: Superblocks, member: MemberId) -> Self {
        let shape = media.shape;
        let dies_per_channel = params.channel.map_or(1, |channel| channel.dies_per_channel);
        let channels = shape.dies.div_ceil(dies_per_channel);
        let gc = &params.gc;
        let front = Front::new(&superblock.front(), params.link, member, superblock.unit_pages, superblock.placement.handles);
        Self {
            member,
            shape,
            params: superblock.clone(),
            program_ns: params.timing.page_program_ns,
            erase_ns: params.timing.block_erase_ns,
            semi: gc.preemption.is_some(),
            overlap: Overlap::of(gc.preemption.as_ref(), superblock),
            merging: Merging::new(gc.preemption.is_some_and(|preemption| preemption.merge)),
            instantaneous: gc.instantaneous,
            front,
            buffer: Buffer::new(shape.placement),
            reads: Table::default(),
            touched_dies: Vec::new(),
            dies: (0..shape.dies).map(|die| Die::new(shape.planes, die / dies_per_channel)).collect(),
            channels: vec![Channel::default(); channels as usize],
            die_order: media.die_order.clone(),
            media,
            next_die: 0,
            programs_running: 0,
            waits_for_power: Default::default(),
            collection: Collection::new(&shape, superblock, gc.idle_ns.filter(|_| !gc.instantaneous)),
            worked: Worked::default(),
            collecting_since: 0,
            agent: None,
            counters: MemberCounters::default(),
            drive_counters: DriveCounters::default(),
        }
    }

    /// Takes a page operation; those of the same kind for the same completion at the same nanosecond are one command (rule 201).
    pub fn submit(&mut self, now: TimeNs, op: PageOp, out: &mut Outbox) {
        if let Some(agent) = &mut self.agent {
            agent.given(op.kind);
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
            DriveWake::Held(die) => self.dispatch(now, die, out),
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
        drive_counters.collecting_ns += if self.worked.for_collection.dies() > 0 { now - self.collecting_since } else { 0 };
        (counters, drive_counters)
    }

    /// What is still to be done for what the host has written.
    pub fn owed(&self, now: TimeNs) -> Owed {
        let unit_pages = u64::from(self.params.unit_pages);
        let units = self.collection.owed_units(&self.shape) + self.collection.units_on_their_way(&self.shape);
        let collection_ns = self.dies.iter().map(|die| self.collection_left_ns(now, die)).sum();
        Owed { buffered_pages: u64::from(self.front.buffer.used()) * unit_pages, moves_pages: units * unit_pages, collection_ns }
    }

    /// Returns the counters of its dies' mechanisms.
    pub fn mechanism_counters(&self) -> MechanismCounters {
        self.dies.iter().filter_map(|die| die.mechanisms.as_ref()).map(|mechanisms| mechanisms.counters).sum()
    }

    /// Gives its dies their mechanisms.
    pub fn set_mechanisms(&mut self, mechanisms: &Mechanisms, seed: u64) {
        for (number, die) in self.dies.iter_mut().enumerate() {
            die.mechanisms = AtDie::new(mechanisms, seed, self.member, DieId(number as u32));
        }
    }

    /// Since when each die works that does, without a break.
    pub fn works_since(&self) -> impl Iterator<Item = TimeNs> {
        self.dies.iter().filter_map(|die| die.works_since)
    }

    /// As [`super::Ssd::overwrite_untimed`].
    pub fn overwrite_untimed(&mut self, pages: &[(u32, u8)]) {
        let unit_pages = self.params.unit_pages;
        let front = &self.front;
        self.media.overwrite_untimed(pages.iter().map(|&(page, source)| (page / unit_pages, front.handle_of(source))));
    }
}
