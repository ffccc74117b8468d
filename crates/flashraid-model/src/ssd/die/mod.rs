//! The dies of an SSD, and what follows from their work: the door of both kinds of dies.
//!
//! | folder | a job of a die is | what comes next is decided |
//! |---|---|---|
//! | [`pages`] | a page operation of the host, or a step of a clean | in order of arrival; points between steps say who may go in (PGC) |
//! | [`superpages`] | a program, an erase or a step of collection on all planes, beside reads of single planes | by classes of work |
//!
//! The two ways to decide differ in fact. Dies for pages have workers, and points at which operations go in. Dies for superpages have jobs
//! of all planes, beside reads of planes. What is the same stands here once: [`activity`] (work, rest, and the mechanisms that hold a die).
//!
//! Suspension stays in both, because its rules differ. A read that reaches a die for pages interrupts at once, if its page and scope allow
//! (rules 39 and 102). At a die for superpages all reads that have come do, after some progress, and only if that is sooner than
//! the end (rule 217).
//!
//! Dies own their state and hold no other part of their SSD. A [`Turn`] lends them the mapping, the front, the common parts and the outbox
//! for a call. This file is the only one of the SSD that asks which mapping there is.

mod activity;
mod pages;
mod superpages;

use super::counters::{DriveCounters, MemberCounters};
use super::front::Front;
use super::job::{Owed, PageOp, SsdWake, SuperpageWake};
use super::mechanism::MechanismCounters;
use super::outbox::Outbox;
use super::params::{Shortcuts, SsdParams};
use super::parts::Parts;
use crate::coordination::ToMember;
use crate::events::TimeNs;
use crate::ids::MemberId;
use crate::space::Space;
use crate::space::pools::Pools;
pub use pages::{ImmediateTurn, Served};
use pages::{PageDies, PageTurn};
use superpages::{SuperpageDies, SuperpageTurn};

/// The dies of an SSD, of the kind that its mapping needs.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "there is one for each member, and a page must not cost a pointer more")]
pub enum Dies {
    /// Dies for pools of blocks.
    Pages(PageDies),
    /// Dies for superblocks of units.
    Superpages(Box<SuperpageDies>),
}

/// The dies with the parts that they work with, for one call.
pub enum Turn<'a> {
    /// Dies for pools of blocks.
    Pages(PageTurn<'a>),
    /// Dies for superblocks of units.
    Superpages(SuperpageTurn<'a>),
}

/// Says that a mapping and its dies are of one kind.
const ONE_KIND: &str = "dies are made for their mapping";

impl Dies {
    /// Dies that rest; a `controlled` member may be forced to collect by the array's controller.
    pub fn new(params: &SsdParams, space: &Space, seed: u64, member: MemberId, controlled: bool, shortcuts: Shortcuts) -> Self {
        match space {
            Space::Pools(_) => Self::Pages(PageDies::new(params, seed, member, controlled, shortcuts)),
            Space::Superblocks(media) => {
                let superblock = params.superblock.as_ref().expect(ONE_KIND);
                Self::Superpages(Box::new(SuperpageDies::new(params, superblock, media, seed, member)))
            }
        }
    }

    /// The dies of a member with pools, and these.
    ///
    /// # Panics
    /// The member has superblocks.
    #[inline]
    pub fn of_pages<'a>(&'a self, space: &'a Space) -> (&'a PageDies, &'a Pools) {
        match (self, space) {
            (Self::Pages(own), Space::Pools(pools)) => (own, pools),
            _ => unreachable!("{ONE_KIND}"),
        }
    }

    /// Every operation is served when it comes.
    #[inline]
    pub fn is_immediate(&self) -> bool {
        matches!(self, Self::Pages(own) if own.is_immediate())
    }

    /// Returns true if the dies program superpages.
    pub fn takes_superpages(&self) -> bool {
        matches!(self, Self::Superpages(_))
    }

    /// The latest end that is known of what they have taken; 0 where ends become known one after the other.
    pub fn busy_until(&self) -> TimeNs {
        match self {
            Self::Pages(own) => own.busy_until(),
            Self::Superpages(_) => 0,
        }
    }

    /// The counts at `now`, and those of superpages where there are any.
    pub fn counters_at(&self, now: TimeNs, parts: &Parts) -> (MemberCounters, Option<DriveCounters>) {
        match self {
            Self::Pages(_) => (parts.counters, None),
            Self::Superpages(own) => {
                let (counters, drive_counters) = own.count_until(now, parts);
                (counters, Some(drive_counters))
            }
        }
    }

    /// Returns the work that is still to be done for what the host has written, beside what is in the buffer.
    pub fn owed(&self, space: &Space, preemptive: bool, now: TimeNs) -> Owed {
        match (self, space) {
            (Self::Pages(own), Space::Pools(pools)) => own.owed(pools, preemptive, now),
            (Self::Superpages(own), Space::Superblocks(media)) => own.owed(media, now),
            _ => unreachable!("{ONE_KIND}"),
        }
    }

    /// Returns the counters of the dies' mechanisms.
    pub fn mechanism_counters(&self) -> MechanismCounters {
        match self {
            Self::Pages(own) => own.mechanism_counters(),
            Self::Superpages(own) => own.mechanism_counters(),
        }
    }

    /// The times for which dies have worked without a break and still did, or did last, at `end_ns`.
    pub fn works(&self, end_ns: TimeNs) -> Vec<(TimeNs, TimeNs)> {
        match self {
            Self::Pages(own) => own.works(end_ns),
            Self::Superpages(own) => own.works(end_ns),
        }
    }

    /// Start of the oldest collection whose end is not known yet, or of one that is not known at all.
    pub fn oldest_open_collection(&self) -> Option<TimeNs> {
        match self {
            Self::Pages(own) => own.oldest_open_clean(),
            Self::Superpages(own) => own.collects_since(),
        }
    }

    /// Returns true if a wake-up still means something. Idle time of superblocks is not used any more when this is asked.
    pub fn expects(&self, wake: SsdWake) -> bool {
        match (self, wake) {
            (Self::Pages(own), SsdWake::Worker { die, worker, number }) => own.expects(die, worker, number),
            (_, SsdWake::Superpages(SuperpageWake::Idle(_))) => false,
            _ => true,
        }
    }

    /// Verifies the pages of the write buffer.
    ///
    /// # Errors
    /// A sentence that names the first invariant that does not hold.
    pub fn verify_buffer(&self, front: &Front) -> Result<(), String> {
        match self {
            Self::Pages(own) => own.verify_buffer(front.buffer.used()),
            Self::Superpages(_) => Ok(()),
        }
    }

    /// Host writes of logical pages, each with its source, in their order, without time and without counting.
    pub fn overwrite_untimed(&self, space: &mut Space, front: &Front, pages: &[(u32, u8)]) {
        match (self, space) {
            (Self::Pages(own), Space::Pools(pools)) => own.overwrite_untimed(pools, pages),
            (Self::Superpages(own), Space::Superblocks(media)) => own.overwrite_untimed(media, front, pages),
            _ => unreachable!("{ONE_KIND}"),
        }
    }
}

impl<'a> ImmediateTurn<'a> {
    /// Lends the parts of an immediate member to its dies.
    ///
    /// # Panics
    /// The member has superblocks.
    #[inline]
    pub fn new(dies: &'a mut Dies, space: &'a mut Space, parts: &'a mut Parts) -> Self {
        match (dies, space) {
            (Dies::Pages(own), Space::Pools(pools)) => Self { pools, parts, own },
            _ => unreachable!("{ONE_KIND}"),
        }
    }
}

/// Passes a call on to the kind of dies that there is.
macro_rules! either {
    ($turn:expr, $held:ident => $call:expr) => {
        match $turn {
            Turn::Pages($held) => $call,
            Turn::Superpages($held) => $call,
        }
    };
}

impl<'a> Turn<'a> {
    /// Lends the parts of an SSD to its dies.
    #[inline]
    pub fn new(dies: &'a mut Dies, space: &'a mut Space, front: &'a mut Front, parts: &'a mut Parts, out: &'a mut Outbox) -> Self {
        match (dies, space) {
            (Dies::Pages(own), Space::Pools(pools)) => Self::Pages(PageTurn { out, pools, front, parts, own }),
            (Dies::Superpages(own), Space::Superblocks(media)) => Self::Superpages(SuperpageTurn { out, media, front, parts, own }),
            _ => unreachable!("{ONE_KIND}"),
        }
    }

    /// Starts the first rests, which begin with the run.
    pub fn begin(&mut self) {
        either!(self, turn => turn.begin());
    }

    /// Takes a page operation that has not come through a front.
    #[inline]
    pub fn submit(&mut self, now: TimeNs, op: PageOp, moment_is_over: bool) {
        match self {
            Self::Pages(turn) => turn.submit(now, op, moment_is_over),
            Self::Superpages(_) => unreachable!("superpages are filled from the buffer of a front"),
        }
    }

    /// Goes on at a wake-up.
    #[inline]
    pub fn wake(&mut self, now: TimeNs, wake: SsdWake) {
        either!(self, turn => turn.wake(now, wake));
    }

    /// Ends every wait that ends before `now`, and those that end now if they began before `scheduled`, where this has no events.
    pub fn catch_up(&mut self, now: TimeNs, scheduled: TimeNs) {
        if let Self::Pages(turn) = self {
            turn.catch_up_each(now, scheduled);
        }
    }

    /// After `now` no idle collection begins.
    pub fn end_idle_collection(&mut self, now: TimeNs) {
        either!(self, turn => turn.end_idle_collection(now));
    }

    /// The member has got an agent.
    pub fn agent_begins(&mut self, now: TimeNs) {
        either!(self, turn => turn.agent_begins(now));
    }

    /// A message of the controller has arrived.
    pub fn receive(&mut self, now: TimeNs, message: ToMember) {
        either!(self, turn => turn.receive(now, message));
    }

    /// Asks the controller softly if there is reason to (rule 119).
    pub fn may_ask(&mut self, now: TimeNs) {
        match self {
            Self::Pages(turn) => turn.may_ask(now),
            Self::Superpages(_) => unreachable!("superblocks ask when one is opened (rule 216)"),
        }
    }
}
