//! The dies that take single pages: their state, and the calls from other parts.

use super::Die;
use super::durations::Durations;
use super::immediate::{ImmediateDie, may_be_immediate};
use super::lazy::may_be_lazy;
use super::placement::Placement;
use super::waiting::Waiting;
use super::work::Channel;
use crate::events::{Slab, TimeNs};
use crate::ids::{DieId, Lpn, MemberId};
use crate::request::OpKind;
use crate::space::pools::PageMapping;
use crate::ssd::collect::pools::Watermarks;
use crate::ssd::front::{Front, PageBuffer};
use crate::ssd::job::{LogicalPageOp, NEVER, Origin, PageOpEnd, PendingFlashWork, SsdWake};
use crate::ssd::mechanism::{AtDie, DieDelayMechanismCounters};
use crate::ssd::outbox::SsdOutbox;
use crate::ssd::params::{DieChoiceForWrites, ExactFastPaths, ProgramEraseSuspension, SsdParams};
use crate::ssd::parts::SsdParts;
use std::collections::VecDeque;

/// The dies of an SSD with pools, and the operations that have not reached them yet.
#[derive(Debug, Clone)]
pub(crate) struct PageDies {
    pub(super) durations: Durations,
    /// Dies of an immediate member.
    pub(super) immediate: Vec<ImmediateDie>,
    /// Dies of a member that advances step by step.
    pub(super) dies: Vec<Die>,
    /// True if waits of the dies end without events; see `lazy.rs`.
    pub(super) lazy: bool,
    /// True if a clean blocks only its plane, false if it blocks the whole die.
    pub(super) by_plane: bool,
    /// True if cleans of a die that are due at the same time are performed together (rule 15).
    pub(super) together: bool,
    /// True if the die of a write is chosen when it arrives.
    pub(super) dynamic: bool,
    pub(super) suspension: Option<ProgramEraseSuspension>,
    pub(super) channels: Vec<Channel>,
    /// Queues of operations whose data must cross the link, in order. The first one of each is crossing. Lane 0 leads to the member, and
    /// lane 1 to the host. A half-duplex link has only lane 0.
    pub(super) lanes: [VecDeque<u32>; 2],
    pub(super) waiting: Slab<Waiting>,
    pub(super) placement: Placement,
    /// Number of dies, and number of consecutive pages on a die before the next one follows.
    pub(super) striping: (u32, u32),
    /// Binary logarithm of the number of dies. It is `None` unless consecutive pages go to consecutive dies and the number is a power of
    /// two.
    pub(super) die_shift: Option<u32>,
    /// Limits at which pools are collected.
    pub(super) watermarks: Watermarks,
    /// Pages in the write buffer.
    pub(super) buffered: PageBuffer,
}

/// The dies together with the parts of the SSD that they need, borrowed for one call.
pub(crate) struct PageContext<'a> {
    /// Output list for everything that the dies cause elsewhere.
    pub(crate) out: &'a mut SsdOutbox,
    /// Mapping of the member's pages.
    pub(crate) pools: &'a mut PageMapping,
    /// Queues, processor cores and buffer that come before the dies.
    pub(crate) front: &'a mut Front,
    /// Parts that every SSD has.
    pub(crate) parts: &'a mut SsdParts,
    /// State of the dies themselves.
    pub(crate) own: &'a mut PageDies,
}

impl PageDies {
    /// Returns idle dies. `controlled` is true if the array's controller may force the member to collect.
    pub(crate) fn new(params: &SsdParams, seed: u64, member: MemberId, controlled: bool, shortcuts: ExactFastPaths) -> Self {
        let g = params.geometry;
        let by_plane = params.gc.blocks_planes();
        let scopes = if by_plane { g.planes } else { 1 };
        let channels = params.channel.map_or(0, |channel| channel.channel_count(g.dies));
        let (immediate, in_steps) =
            if shortcuts.computes_operation_ends_on_arrival && may_be_immediate(params, controlled) { (g.dies, 0) } else { (0, g.dies) };
        let die = |die: u32| {
            let mechanisms = AtDie::new(&params.die_delay_mechanisms, seed, member, DieId(die));
            Die::new(scopes, by_plane, params.gc.idle_collection_after_ns, mechanisms)
        };
        let dynamic = params.writes.allocation == DieChoiceForWrites::Dynamic;
        Self {
            durations: Durations::new(params),
            immediate: vec![ImmediateDie::new(g.planes, params.gc.rules.blocking); immediate as usize],
            dies: (0..in_steps).map(die).collect(),
            lazy: shortcuts.skips_operation_end_events && may_be_lazy(params),
            by_plane,
            together: params.gc.rules.parallel_planes,
            dynamic,
            suspension: params.gc.preemption.and_then(|preemption| preemption.suspension),
            channels: vec![Channel::default(); channels as usize],
            lanes: Default::default(),
            waiting: Slab::default(),
            placement: Placement::default(),
            striping: (g.dies, params.writes.die_stride),
            die_shift: (params.writes.die_stride == 1 && g.dies.is_power_of_two()).then(|| g.dies.trailing_zeros()),
            watermarks: Watermarks::new(params),
            buffered: if params.front_end.is_some() { PageBuffer::new(g.dies, dynamic) } else { PageBuffer::default() },
        }
    }

    /// Returns true if the end of every operation is computed when the operation arrives; see `immediate.rs`.
    pub(crate) fn is_immediate(&self) -> bool {
        !self.immediate.is_empty()
    }

    /// Returns the die and logical page number of logical page `page` (rule 7).
    #[inline]
    pub(crate) fn die_and_lpn(&self, pools: &PageMapping, page: u64) -> (DieId, Lpn) {
        // A member with pools has fewer than 2^32 pages.
        let page = page as u32;
        // Every page comes here three times (twice to hint), and divisions would be a tenth of its cost.
        if let Some(shift) = self.die_shift {
            let die = DieId(page & ((1 << shift) - 1));
            return (die, pools.lpn_of_die_logical_page(die, page >> shift));
        }
        let (dies, stride) = self.striping;
        let die = DieId(page / stride % dies);
        let page_of_die = page / (stride * dies) * stride + page % stride;
        (die, pools.lpn_of_die_logical_page(die, page_of_die))
    }

    /// Returns the work that the host's writes so far leave to the dies at `now`.
    pub(crate) fn owed(&self, pools: &PageMapping, preemptive: bool, now: TimeNs) -> PendingFlashWork {
        let immediate = self.immediate.iter().map(|die| die.cleaning_left_ns(now));
        let in_steps = (0..self.dies.len() as u32).map(|die| self.cleans_left(pools, preemptive, now, DieId(die)));
        let (moves_pages, collection_ns) = in_steps.fold((0, immediate.sum()), |(pages, ns), die| (pages + die.0, ns + die.1));
        PendingFlashWork { pages_to_move: moves_pages, remaining_collection_die_ns: collection_ns, ..Default::default() }
    }

    /// Returns the counters of the mechanisms, summed over the dies.
    pub(crate) fn mechanism_counters(&self) -> DieDelayMechanismCounters {
        self.dies.iter().filter_map(|die| die.activity.mechanisms.as_ref()).map(|mechanisms| mechanisms.counters).sum()
    }

    /// Returns one busy period for each die: the one that contains `end_ns`, or else the last one.
    pub(crate) fn busy_periods(&self, end_ns: TimeNs) -> Vec<(TimeNs, TimeNs)> {
        let in_steps = self.dies.iter().filter_map(|die| die.busy_period(self.lazy, end_ns)).filter(|stretch| stretch.0 < stretch.1);
        self.immediate.iter().map(ImmediateDie::works).chain(in_steps).collect()
    }

    /// Returns the earliest start of a clean that has not been reported, because its end is unknown.
    pub(crate) fn oldest_open_clean(&self) -> Option<TimeNs> {
        self.dies.iter().map(Die::cleans_known_until).min()
    }

    /// Returns true if the die is in the middle of a clean.
    pub(crate) fn cleans(&self, die: DieId) -> bool {
        self.dies.get(die.index()).is_some_and(Die::cleans_any)
    }

    /// Returns the latest known end of an operation. It is 0 if the end of an operation is known only when it happens.
    pub(crate) fn busy_until(&self) -> TimeNs {
        self.immediate.iter().map(ImmediateDie::busy_until).max().unwrap_or(0)
    }

    /// Verifies the pages of a write buffer that holds `used` pages.
    ///
    /// # Errors
    ///
    /// Returns a sentence that names the first invariant that does not hold.
    pub(crate) fn verify_buffer(&self, used: u32) -> Result<(), String> {
        self.buffered.verify(used)
    }

    /// Writes logical pages in order. It takes no simulated time and counts nothing.
    pub(crate) fn overwrite_untimed(&self, pools: &mut PageMapping, pages: &[(u64, u8)]) {
        // Dies know nothing of each other: one after the other keeps the tables of one in the processor's cache.
        let mut lpns_of_dies = vec![Vec::new(); self.striping.0 as usize];
        for (page, _) in pages {
            let (home, lpn) = self.die_and_lpn(pools, *page);
            // Without time there is no earliest start: under dynamic allocation a page stays on the die that holds it.
            let die = if pools.dynamic && pools.is_mapped(lpn) { pools.die_that_holds(lpn) } else { home };
            lpns_of_dies[die.index()].push(lpn);
        }
        for (die, lpns) in (0..).map(DieId).zip(&lpns_of_dies) {
            pools.overwrite_untimed(die, lpns);
        }
    }
}

impl PageContext<'_> {
    /// Processes a page operation that does not go through the queues, cores and buffer of a drive's front.
    ///
    /// `after_events_of_now` is true if all scheduled events of this nanosecond have run, as when the host sends a request in reply to a
    /// completion.
    pub(crate) fn submit(&mut self, now: TimeNs, op: LogicalPageOp, after_events_of_now: bool) {
        let (die, lpn) = self.die_and_lpn(op.logical_page);
        let id = self.own.waiting.insert(Waiting::new(now, op, lpn, die));
        if op.kind == OpKind::Write && self.parts.params.link.is_some() {
            self.join_lane(now, 0, id);
        } else {
            self.arrive(now, if after_events_of_now { NEVER } else { 0 }, id);
        }
    }

    /// Continues at a wake-up.
    pub(crate) fn wake(&mut self, now: TimeNs, wake: SsdWake) {
        match wake {
            SsdWake::Worker { die, worker, wait_number: number } => self.wake_worker(now, die, worker, number),
            SsdWake::Die(die) => self.wake_lazy(now, die),
            SsdWake::PageCrossedLink(lane) => self.page_crossed(now, lane),
            SsdWake::ChannelTransferEnds(channel) => self.transferred(now, channel),
            SsdWake::FrontEndEvent(wake) => self.wake_front(now, wake),
            SsdWake::Superpages(_) => unreachable!("these dies take single pages"),
        }
    }

    /// Returns the die and logical page number of logical page `page` (rule 7).
    #[inline]
    pub(super) fn die_and_lpn(&self, page: u64) -> (DieId, Lpn) {
        self.own.die_and_lpn(self.pools, page)
    }

    /// Processes an operation that has reached the member. `scheduled` is its place among the events of this nanosecond.
    pub(super) fn arrive(&mut self, now: TimeNs, scheduled: TimeNs, id: u32) {
        self.own.waiting[id].reached_ns = now;
        if self.own.dynamic {
            self.arrives_for_placement(now, id);
        } else {
            self.join_queue(now, scheduled, id);
        }
    }

    /// Reports the end of an operation at `at`, which may lie in the future.
    pub(super) fn finish(&mut self, id: u32, at: TimeNs) {
        if self.own.waiting[id].origin != Origin::Array {
            self.front_page_ends(id, at);
            self.own.waiting.release(id);
            return;
        }
        let waiting = &self.own.waiting[id];
        if let Some(usage) = &mut self.parts.usage {
            usage.record_operation(waiting.submitted_ns, at);
        }
        let (time, member) = (waiting.time_until(at), self.parts.member);
        self.out.page_op_end_times.push(PageOpEnd {
            completion_tag: waiting.op.completion_tag,
            member,
            is_read: waiting.op.kind == OpKind::Read,
            at,
            met_gc: waiting.met_gc,
            time_parts: time,
        });
        self.own.waiting.release(id);
    }
}
