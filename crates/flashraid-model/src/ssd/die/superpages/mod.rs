//! Dies that program superpages from a buffer, and collect superblocks in small steps (section 24 of the rules).
//!
//! ```text
//!  page operations ─▶ command ─▶ core ─▶ latency ─┬─▶ read ─▶ buffer? ─▶ die ─▶ link ─▶ end
//!                                                 └─▶ link ─▶ buffer ─▶ superpage ─▶ die       end: when all data are in the buffer
//!                                    collection: part ─▶ core ─▶ die ─▶ superpage ─▶ die
//! ```
//!
//! [`front`](crate::ssd::front) delivers commands, [`command`] serves them, and [`buffer`] fills superpages. [`schedule`] chooses the next
//! work of a die. [`collect`] keeps superblocks free, and [`forced`] does so when the controller forces it.

mod abandon;
mod buffer;
mod collect;
mod command;
mod durations;
mod forced;
mod mechanisms;
mod preempt;
mod schedule;
mod sight;
mod suspend;

use crate::events::TimeNs;
use crate::flash::DieToChannelAssignment;
use crate::ids::{DieId, MemberId};
use crate::space::superblocks::{SuperblockMapping, SuperblockShape};
use crate::ssd::collect::superblocks::Collection;
use crate::ssd::counters::{MemberCounters, SuperblockCounters};
use crate::ssd::front::{Front, Superpages};
use crate::ssd::job::{FrontWake, PendingFlashWork, SsdWake, SuperpageWake, Table};
use crate::ssd::mechanism::{AtDie, DieDelayMechanismCounters};
use crate::ssd::outbox::SsdOutbox;
use crate::ssd::params::{SsdParams, SuperblockDriveParams};
use crate::ssd::parts::SsdParts;
use crate::ssd::wire::Wire;
use preempt::{Merging, Overlap};
use schedule::{Die, FlashRead};

/// The dies of an SSD with superblocks, and the work that has not reached them yet.
#[derive(Debug, Clone)]
pub(crate) struct SuperpageDies {
    shape: SuperblockShape,
    params: SuperblockDriveParams,
    program_ns: u64,
    erase_ns: u64,
    /// True if host operations may be served between the reads of a collection step (semi-preemption).
    semi: bool,
    /// Overlap of host reads with collection steps in a die.
    overlap: Overlap,
    /// Units that collection has read and that host reads can use.
    merging: Merging,
    /// Superpages in the buffer.
    buffer: Superpages,
    reads: Table<FlashRead>,
    /// Dies that have received reads but have not yet chosen their next work.
    touched_dies: Vec<u32>,
    dies: Vec<Die>,
    channels: Vec<Wire>,
    /// Order of the dies for a choice among equal ones. Consecutive dies lie on different channels.
    die_order: Vec<u32>,
    /// Position in `die_order` of the die that is asked first for the next superpage.
    next_die: u32,
    programs_running: u32,
    /// Dies that wait because only a limited number may program at a time, in the order of their requests.
    waiting_to_program: std::collections::VecDeque<u32>,
    collection: Collection,
    /// Time since which at least one die works for collection; [`NEVER`] if none does.
    collecting_since: TimeNs,
}

/// The dies together with the parts of the SSD that they need, borrowed for one call.
pub(crate) struct SuperpageContext<'a> {
    /// Output list for everything that the dies cause elsewhere.
    pub(crate) out: &'a mut SsdOutbox,
    /// Mapping of the drive's units.
    pub(crate) media: &'a mut SuperblockMapping,
    /// Commands that have not reached the dies yet, and the room of the write buffer.
    pub(crate) front: &'a mut Front,
    /// Parts that every SSD has.
    pub(crate) parts: &'a mut SsdParts,
    /// State of the dies themselves.
    pub(crate) own: &'a mut SuperpageDies,
}

impl SuperpageDies {
    /// Returns idle dies for the superblocks in `media`.
    pub(crate) fn new(
        params: &SsdParams,
        superblock: &SuperblockDriveParams,
        media: &SuperblockMapping,
        seed: u64,
        member: MemberId,
    ) -> Self {
        let shape = media.shape;
        let channels = params.channel.unwrap_or(DieToChannelAssignment::consecutive(1));
        let gc = &params.gc;
        let die = |die: u32| {
            let mechanisms = AtDie::new(&params.die_delay_mechanisms, seed, member, DieId(die));
            Die::new(shape.planes, channels.channel_of_die(die, shape.dies), mechanisms)
        };
        Self {
            shape,
            params: superblock.clone(),
            program_ns: params.timing.page_program.ns,
            erase_ns: params.timing.block_erase.ns,
            semi: gc.preemption.is_some(),
            overlap: Overlap::of(gc.preemption.as_ref(), superblock),
            merging: Merging::new(gc.preemption.is_some_and(|preemption| preemption.merge)),
            buffer: Superpages::new(shape.placement_handles, shape.mapping_units_per_superpage()),
            reads: Table::default(),
            touched_dies: Vec::new(),
            dies: (0..shape.dies).map(die).collect(),
            channels: vec![Wire::default(); channels.channel_count(shape.dies) as usize],
            die_order: media.die_order.clone(),
            next_die: 0,
            programs_running: 0,
            waiting_to_program: Default::default(),
            collection: Collection::new(&shape, superblock, gc.idle_collection_after_ns, gc.collection_takes_no_time),
            collecting_since: 0,
        }
    }

    /// Returns the counters at `now`, including the work that the dies have done so far.
    pub(crate) fn count_until(&self, now: TimeNs, parts: &SsdParts) -> (MemberCounters, SuperblockCounters) {
        let (mut counters, mut drive_counters) = (parts.counters, parts.drive_counters);
        for die in &self.dies {
            if let Some((job, ns)) = die.works_on_for(now) {
                *self.time_of(job)(&mut drive_counters) += ns;
                counters.gc_time_ns += if job.is_of_collection() { ns } else { 0 };
            }
        }
        drive_counters.any_die_collecting_ns += if parts.work_times.for_collection.dies() > 0 { now - self.collecting_since } else { 0 };
        (counters, drive_counters)
    }

    /// Returns the work that the host's writes so far leave to the dies, except for the contents of the write buffer.
    pub(crate) fn owed(&self, media: &SuperblockMapping, now: TimeNs) -> PendingFlashWork {
        let pages_per_mapping_unit = u64::from(self.params.pages_per_mapping_unit);
        let units = self.collection.owed_units() + self.collection.units_on_their_way();
        let collection_ns = self.dies.iter().map(|die| self.collection_left_ns(media, now, die)).sum();
        PendingFlashWork { pages_to_move: units * pages_per_mapping_unit, remaining_collection_die_ns: collection_ns, ..Default::default() }
    }

    /// Returns the counters of the mechanisms, summed over the dies.
    pub(crate) fn mechanism_counters(&self) -> DieDelayMechanismCounters {
        self.dies.iter().filter_map(|die| die.activity.mechanisms.as_ref()).map(|mechanisms| mechanisms.counters).sum()
    }

    /// Returns for each busy die the busy period that contains `end_ns`.
    pub(crate) fn busy_periods(&self, end_ns: TimeNs) -> Vec<(TimeNs, TimeNs)> {
        let since = self.dies.iter().filter_map(|die| die.activity.busy_since());
        since.map(|since| (since, end_ns)).filter(|stretch| stretch.0 < stretch.1).collect()
    }

    /// Returns the time since which the SSD has counted as collecting, if it currently does.
    pub(crate) fn collects_since(&self) -> Option<TimeNs> {
        self.collection.since()
    }

    /// Writes logical pages in order, each with its placement handle. It takes no simulated time and counts nothing.
    pub(crate) fn overwrite_untimed(&self, media: &mut SuperblockMapping, pages: &[(u64, u8)]) {
        let pages_per_mapping_unit = u64::from(self.params.pages_per_mapping_unit);
        media.overwrite_untimed(pages.iter().map(|&(page, handle)| (page / pages_per_mapping_unit, handle)));
    }
}

impl SuperpageContext<'_> {
    /// Continues at a wake-up.
    pub(crate) fn wake(&mut self, now: TimeNs, wake: SsdWake) {
        match wake {
            SsdWake::Superpages(wake) => self.wake_dies(now, wake),
            SsdWake::FrontEndEvent(wake) => self.wake_front(now, wake),
            SsdWake::Worker { .. } | SsdWake::Die(_) | SsdWake::PageCrossedLink(_) | SsdWake::ChannelTransferEnds(_) => {
                unreachable!("these dies take superpages")
            }
        }
    }

    /// Processes a scheduled event of the front.
    fn wake_front(&mut self, now: TimeNs, wake: FrontWake) {
        match wake {
            FrontWake::CommandArrived(id) => {
                self.front.complete_command(id);
                self.command_came(now);
                self.front.enqueue(now, id, self.out);
            }
            FrontWake::CommandEnded => self.front.command_done(now, self.out),
            FrontWake::CoreWorkEnds(core) => {
                if let Some(part) = self.front.core_done(now, core, self.out) {
                    self.part_has_core(now, part);
                }
                self.front.assign_cores(now, self.out);
            }
            FrontWake::ControllerDelayEnds(id) => self.command_delayed(now, id),
            FrontWake::DataCrossedLink(id) => self.data_crossed(now, id),
            FrontWake::BufferedPageProgramBegun(_) | FrontWake::Programmed(_) => unreachable!("superpages are programmed, not pages"),
        }
    }

    fn wake_dies(&mut self, now: TimeNs, wake: SuperpageWake) {
        match wake {
            SuperpageWake::HostCellReadEnds(id) => self.array_read_ended(now, id),
            SuperpageWake::ReadTransferred(id) => self.read_out(now, id),
            SuperpageWake::AllPlaneJobStepEnds(die) => self.exclusive_step_ended(now, die),
            SuperpageWake::SuspensionStepEnds(die) => self.suspension_step_ended(now, die),
            SuperpageWake::MaySuspendAgain(die) => self.interrupt(now, die),
            SuperpageWake::DieDelayMechanismEnds(die) => self.dispatch(now, die),
            SuperpageWake::OpenSuperpageTimedOut(number) => self.linger_time_ended(now, number),
            SuperpageWake::IdleWaitEnds(commands) => self.idle_since(now, commands),
        }
    }
}
