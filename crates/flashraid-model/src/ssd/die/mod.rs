//! The dies of an SSD, and the effects of their work. Both kinds of dies are reached through this file.
//!
//! | folder | a job of a die is | the next job is chosen |
//! |---|---|---|
//! | [`pages`] | a page operation of the host, or a step of a clean | in order of arrival, also between steps of a clean (PGC) |
//! | [`superpages`] | a program, an erase or a step of collection on all planes, beside reads of single planes | by classes of work |
//!
//! The two methods of choice really differ. Dies for pages have workers, and preemption points at which operations are served. Dies for
//! superpages have jobs that need all planes, beside reads of single planes. Everything that they share is written once: [`activity`] has
//! busy and idle time, and the mechanisms that occupy a die.
//!
//! Each kind has its own suspension, because the rules differ. At a die for pages, a read interrupts as soon as it arrives, if its page and
//! blocking scope allow it (rules 39 and 102). At a die for superpages, all waiting reads interrupt together, after some progress. They
//! do so only if that is sooner than the end of the operation (rule 217).
//!
//! Dies own their state and no other part of their SSD. A [`DieContext`] lends them the mapping, the front, the common parts and the outbox
//! for one call. No other file of the SSD asks which mapping there is.

mod activity;
mod pages;
mod superpages;

use super::counters::{MemberCounters, SuperblockCounters};
use super::front::Front;
use super::job::{LogicalPageOp, PendingFlashWork, ReadForecast, SsdWake, SuperpageWake};
use super::mechanism::DieDelayMechanismCounters;
use super::outbox::SsdOutbox;
use super::params::{ExactFastPaths, SsdParams};
use super::parts::SsdParts;
use crate::coordination::ToMember;
use crate::events::TimeNs;
use crate::ids::MemberId;
use crate::space::Mapping;
use crate::space::pools::PageMapping;
pub(crate) use pages::{ImmediateContext, Served};
use pages::{PageContext, PageDies};
use superpages::{SuperpageContext, SuperpageDies};

/// State of the dies of an SSD. The mapping decides which kind there is.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "there is one for each member, and a page must not cost a pointer more")]
pub(crate) enum Dies {
    /// Dies of a drive with pools of blocks. Each read or program of such a die concerns a single page.
    Pages(PageDies),
    /// Dies of a drive with superblocks. One program of such a die writes a superpage: a flash page for each plane and each bit per
    /// cell.
    Superpages(Box<SuperpageDies>),
}

/// The dies together with the parts of the SSD that they need, borrowed for one call.
pub(crate) enum DieContext<'a> {
    /// Dies of a drive with pools of blocks. Each read or program of such a die concerns a single page. The context also borrows the
    /// mapping and the other parts of the SSD that the dies need.
    Pages(PageContext<'a>),
    /// Dies of a drive with superblocks. One program of such a die writes a superpage: a flash page for each plane and each bit per
    /// cell. The context also borrows the mapping and the other parts of the SSD that the dies need.
    Superpages(SuperpageContext<'a>),
}

/// Panic message if the dies do not fit the kind of mapping.
const ONE_KIND: &str = "dies are made for their mapping";

impl Dies {
    /// Returns idle dies. `controlled` is true if the array's controller may force the member to collect.
    pub(super) fn new(
        params: &SsdParams,
        space: &Mapping,
        seed: u64,
        member: MemberId,
        controlled: bool,
        shortcuts: ExactFastPaths,
    ) -> Self {
        match space {
            Mapping::PageMapping(_) => Self::Pages(PageDies::new(params, seed, member, controlled, shortcuts)),
            Mapping::Superblocks(media) => {
                let superblock = params.superblock.as_ref().expect(ONE_KIND);
                Self::Superpages(Box::new(SuperpageDies::new(params, superblock, media, seed, member)))
            }
        }
    }

    /// Returns the dies and pools of a member with pools.
    ///
    /// # Panics
    ///
    /// Panics if the member has superblocks.
    #[inline]
    pub(super) fn of_pages<'a>(&'a self, space: &'a Mapping) -> (&'a PageDies, &'a PageMapping) {
        match (self, space) {
            (Self::Pages(own), Mapping::PageMapping(pools)) => (own, pools),
            _ => unreachable!("{ONE_KIND}"),
        }
    }

    /// Returns true if the end of every operation is computed when the operation arrives.
    #[inline]
    pub(crate) fn is_immediate(&self) -> bool {
        matches!(self, Self::Pages(own) if own.is_immediate())
    }

    /// Returns true if the dies program superpages.
    pub(crate) fn takes_superpages(&self) -> bool {
        matches!(self, Self::Superpages(_))
    }

    /// Returns the latest known end of an operation. It is 0 if the end of an operation is known only when it happens.
    pub(super) fn busy_until(&self) -> TimeNs {
        match self {
            Self::Pages(own) => own.busy_until(),
            Self::Superpages(_) => 0,
        }
    }

    /// Returns the counters at `now`. If the member has superblocks, the counters of superpages come with them.
    pub(crate) fn counters_at(&self, now: TimeNs, parts: &SsdParts) -> (MemberCounters, Option<SuperblockCounters>) {
        match self {
            Self::Pages(_) => (parts.counters, None),
            Self::Superpages(own) => {
                let (counters, drive_counters) = own.count_until(now, parts);
                (counters, Some(drive_counters))
            }
        }
    }

    /// Returns the work that the host's writes so far leave to the dies, except for the contents of the write buffer.
    pub(super) fn owed(&self, space: &Mapping, preemptive: bool, now: TimeNs) -> PendingFlashWork {
        match (self, space) {
            (Self::Pages(own), Mapping::PageMapping(pools)) => own.owed(pools, preemptive, now),
            (Self::Superpages(own), Mapping::Superblocks(media)) => own.owed(media, now),
            _ => unreachable!("{ONE_KIND}"),
        }
    }

    /// Returns the latest time at which collection lets a read into one of the dies, as estimated; `None` if none collects.
    pub(super) fn collects_until(&self, space: &Mapping, parts: &SsdParts, now: TimeNs) -> Option<TimeNs> {
        match (self, space) {
            (Self::Pages(own), Mapping::PageMapping(pools)) => own.collects_until(pools, parts, now),
            (Self::Superpages(own), Mapping::Superblocks(media)) => own.collects_until(media, now),
            _ => unreachable!("{ONE_KIND}"),
        }
    }

    /// Returns the counters of the mechanisms, summed over the dies.
    pub(super) fn mechanism_counters(&self) -> DieDelayMechanismCounters {
        match self {
            Self::Pages(own) => own.mechanism_counters(),
            Self::Superpages(own) => own.mechanism_counters(),
        }
    }

    /// Returns one busy period for each die: the one that contains `end_ns`, or else the last one.
    pub(crate) fn busy_periods(&self, end_ns: TimeNs) -> Vec<(TimeNs, TimeNs)> {
        match self {
            Self::Pages(own) => own.busy_periods(end_ns),
            Self::Superpages(own) => own.busy_periods(end_ns),
        }
    }

    /// Returns the earliest start of a collection that has not been reported, because its end is unknown.
    pub(crate) fn oldest_open_collection(&self) -> Option<TimeNs> {
        match self {
            Self::Pages(own) => own.oldest_open_clean(),
            Self::Superpages(own) => own.collects_since(),
        }
    }

    /// Verifies the mapping, even while a die is in the middle of a clean.
    ///
    /// # Errors
    /// Returns a sentence that names the first invariant that does not hold.
    pub(crate) fn verify_space(&self, space: &Mapping) -> Result<(), String> {
        match (self, space) {
            (Self::Pages(own), Mapping::PageMapping(pools)) => pools.verify_during_cleans(|die| own.cleans(die)),
            _ => space.verify_invariants(),
        }
    }

    /// Returns true if a wake-up still has an effect. The caller has already ended collection in idle time.
    pub(crate) fn needs_wake_up(&self, wake: SsdWake) -> bool {
        match (self, wake) {
            (Self::Pages(own), SsdWake::Worker { die, worker, wait_number: number }) => own.needs_wake_up(die, worker, number),
            (_, SsdWake::Superpages(SuperpageWake::IdleWaitEnds(_))) => false,
            _ => true,
        }
    }

    /// Verifies the pages of the write buffer.
    ///
    /// # Errors
    ///
    /// Returns a sentence that names the first invariant that does not hold.
    pub(crate) fn verify_buffer(&self, front: &Front) -> Result<(), String> {
        match self {
            Self::Pages(own) => own.verify_buffer(front.buffer.used()),
            Self::Superpages(_) => Ok(()),
        }
    }

    /// Writes logical pages in order, each with its stream. It takes no simulated time and counts nothing.
    pub(super) fn overwrite_untimed(&self, space: &mut Mapping, pages: &[(u64, u8)]) {
        match (self, space) {
            (Self::Pages(own), Mapping::PageMapping(pools)) => own.overwrite_untimed(pools, pages),
            (Self::Superpages(own), Mapping::Superblocks(media)) => own.overwrite_untimed(media, pages),
            _ => unreachable!("{ONE_KIND}"),
        }
    }
}

impl<'a> ImmediateContext<'a> {
    /// Borrows the parts of an immediate member for its dies.
    ///
    /// # Panics
    ///
    /// Panics if the member has superblocks.
    #[inline]
    pub(super) fn new(dies: &'a mut Dies, space: &'a mut Mapping, parts: &'a mut SsdParts) -> Self {
        match (dies, space) {
            (Dies::Pages(own), Mapping::PageMapping(pools)) => Self { pools, parts, own },
            _ => unreachable!("{ONE_KIND}"),
        }
    }
}

/// Calls a method of whichever kind of dies is there.
macro_rules! either {
    ($context:expr, $held:ident => $call:expr) => {
        match $context {
            DieContext::Pages($held) => $call,
            DieContext::Superpages($held) => $call,
        }
    };
}

impl<'a> DieContext<'a> {
    /// Borrows the parts of an SSD for its dies.
    #[inline]
    pub(super) fn new(
        dies: &'a mut Dies,
        space: &'a mut Mapping,
        front: &'a mut Front,
        parts: &'a mut SsdParts,
        out: &'a mut SsdOutbox,
    ) -> Self {
        match (dies, space) {
            (Dies::Pages(own), Mapping::PageMapping(pools)) => Self::Pages(PageContext { out, pools, front, parts, own }),
            (Dies::Superpages(own), Mapping::Superblocks(media)) => Self::Superpages(SuperpageContext { out, media, front, parts, own }),
            _ => unreachable!("{ONE_KIND}"),
        }
    }

    /// Starts the idle periods at the beginning of the run.
    pub(super) fn begin(&mut self) {
        either!(self, context => context.begin());
    }

    /// Processes a page operation that does not go through the queues, cores and buffer of a drive's front.
    #[inline]
    pub(super) fn submit(&mut self, now: TimeNs, op: LogicalPageOp, after_events_of_now: bool) {
        match self {
            Self::Pages(context) => context.submit(now, op, after_events_of_now),
            Self::Superpages(_) => unreachable!("superpages are filled from the buffer of a front"),
        }
    }

    /// Returns the prospect of a read of logical page `page`. An idle die with pools checks its pools first.
    pub(super) fn forecast_read(&mut self, now: TimeNs, page: u64) -> ReadForecast {
        match self {
            Self::Pages(context) => context.forecast_read(now, page),
            Self::Superpages(context) => context.own.forecast_read(context.media, now, page),
        }
    }

    /// Ends all reads of this completion that wait for their die, unread. Returns their number.
    pub(super) fn abandon_reads(&mut self, now: TimeNs, completion: u32) -> u32 {
        either!(self, context => context.abandon_reads(now, completion))
    }

    /// Continues at a wake-up.
    #[inline]
    pub(crate) fn wake(&mut self, now: TimeNs, wake: SsdWake) {
        either!(self, context => context.wake(now, wake));
    }

    /// Ends every wait that ended before `now`, and those that end now if they began before `scheduled`. It matters only for dies whose
    /// waits have no events.
    pub(crate) fn catch_up(&mut self, now: TimeNs, scheduled: TimeNs) {
        if let Self::Pages(context) = self {
            context.catch_up_each(now, scheduled);
        }
    }

    /// Ends collection in idle time for good: after `now`, none begins.
    pub(super) fn forbid_new_idle_collection(&mut self, now: TimeNs) {
        either!(self, context => context.forbid_new_idle_collection(now));
    }

    /// Prepares the dies for the protocol, after the member was given an agent.
    pub(crate) fn agent_begins(&mut self, now: TimeNs) {
        either!(self, context => context.agent_begins(now));
    }

    /// Processes a message of the controller.
    pub(crate) fn receive(&mut self, now: TimeNs, message: ToMember) {
        either!(self, context => context.receive(now, message));
    }
}
