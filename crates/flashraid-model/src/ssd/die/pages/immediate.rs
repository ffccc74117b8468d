//! The shortcut *immediate*: if nothing can interrupt or delay an operation, its end is computed when it arrives.
//!
//! It requires first come first served, cleans in one piece, no shared channel or link, and no controller that may force collection
//! ([`may_be_immediate`]). Then everything is known that can happen before the end of an operation.

use super::PageDies;
use crate::events::{OperationTimeParts, TimeNs, VictimBlockCollection};
use crate::ids::{DieId, Lpn};
use crate::request::OpKind;
use crate::space::pools::PageMapping;
use crate::ssd::job::NEVER;
use crate::ssd::params::{CollectionBlockingScope, DieChoiceForWrites, SsdParams};
use crate::ssd::parts::SsdParts;
use std::collections::VecDeque;

/// State of one die of an immediate member.
#[derive(Debug, Clone)]
pub(super) struct ImmediateDie {
    /// Time at which all operations that the die has received will have ended.
    busy_until: TimeNs,
    /// End of the last clean that took time.
    gc_until: TimeNs,
    /// Total time of its cleans until `busy_until`.
    collected_ns: u64,
    /// True if the last work of the die was a clean.
    in_collection: bool,
    /// End of the last clean in each plane, with plane blocking.
    plane_busy_until: Vec<TimeNs>,
    /// Start of the current busy period, or of the last one.
    busy_since: TimeNs,
    /// End of that busy period, as far as operations have arrived.
    busy_period_ends: TimeNs,
    /// Cleans that had not ended when the last operation arrived.
    recent: VecDeque<RecentClean>,
}

/// A clean that an operation may have to wait for.
#[derive(Debug, Clone, Copy)]
struct RecentClean {
    start: TimeNs,
    end: TimeNs,
    collected_before_ns: u64,
}

/// Result of serving an operation. It has two words, so that the processor returns it in registers.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Served {
    /// Time at which the operation is done.
    pub(crate) end: TimeNs,
    /// Time that the operation waited for collection, in nanoseconds, and three flags. The flags are the lowest bits: [`Self::MET_GC`],
    /// [`Self::MAPPED`] and [`Self::SEALED`].
    wait_and_flags: u64,
}

const _: () = assert!(size_of::<Served>() == 16);

impl Served {
    /// Flag: the operation waited for collection.
    const MET_GC: u64 = 1;
    /// Flag: the operation read or programmed flash.
    const MAPPED: u64 = 2;
    /// Flag: the write filled its block.
    const SEALED: u64 = 4;
    const FLAGS: u32 = 3;
    /// Result for no operation, before that of any other.
    pub(crate) const NOTHING: Self = Self { end: 0, wait_and_flags: 0 };

    #[inline]
    fn new(end: TimeNs, met_gc: bool, collection_ns: u64, mapped: bool, sealed: bool) -> Self {
        // A longer wait lies beyond the last moment of simulated time, where the run ends.
        let wait = collection_ns.min(u64::MAX >> Self::FLAGS) << Self::FLAGS;
        let flag = |holds, flag| if holds { flag } else { 0 };
        Self { end, wait_and_flags: wait | flag(met_gc, Self::MET_GC) | flag(mapped, Self::MAPPED) | flag(sealed, Self::SEALED) }
    }

    #[inline]
    fn has(self, flag: u64) -> bool {
        self.wait_and_flags & flag != 0
    }

    /// Returns true if the operation waited for collection.
    #[inline]
    pub(crate) fn met_gc(self) -> bool {
        self.has(Self::MET_GC)
    }
}

impl ImmediateDie {
    pub(super) fn new(planes: u32, blocking: CollectionBlockingScope) -> Self {
        let planes = if blocking == CollectionBlockingScope::Plane { planes } else { 0 };
        Self {
            busy_until: 0,
            gc_until: 0,
            collected_ns: 0,
            in_collection: false,
            plane_busy_until: vec![NEVER; planes as usize],
            busy_since: 0,
            busy_period_ends: 0,
            recent: VecDeque::new(),
        }
    }

    /// Returns the end of all operations that the die has received.
    pub(super) fn busy_until(&self) -> TimeNs {
        self.busy_until
    }

    /// Returns the start and end of the last busy period.
    pub(super) fn works(&self) -> (TimeNs, TimeNs) {
        (self.busy_since, self.busy_period_ends)
    }

    /// Returns the set of planes that are busy at `at`, one bit for each.
    fn busy_planes(&self, at: TimeNs) -> u64 {
        let busy = |&(_, &until): &(usize, &TimeNs)| until > at && until != NEVER;
        self.plane_busy_until.iter().enumerate().filter(busy).fold(0, |mask, (plane, _)| mask | 1 << plane)
    }

    /// Returns for how many nanoseconds the die will clean after `now`.
    pub(crate) fn cleaning_left_ns(&self, now: TimeNs) -> u64 {
        let by_plane = self.plane_busy_until.iter().filter(|&&until| until != NEVER).map(|until| until.saturating_sub(now)).sum::<u64>();
        by_plane + self.recent.iter().map(|clean| clean.end.saturating_sub(now.max(clean.start))).sum::<u64>()
    }

    /// Returns for how many nanoseconds the die will clean after `now`, and forgets cleans that ended before. `now` never goes back.
    fn forget_past_cleans(&mut self, now: TimeNs) -> u64 {
        while self.recent.front().is_some_and(|clean| clean.end <= now) {
            self.recent.pop_front();
        }
        self.recent.front().map_or(0, |clean| self.collected_ns - clean.collected_before_ns - now.saturating_sub(clean.start))
    }
}

/// The dies of an immediate member with the parts that they need, borrowed for one operation.
pub(crate) struct ImmediateContext<'a> {
    pub(crate) pools: &'a mut PageMapping,
    pub(crate) parts: &'a mut SsdParts,
    pub(crate) own: &'a mut PageDies,
}

impl ImmediateContext<'_> {
    /// Serves an operation that arrives now, after all operations that the die has already received.
    #[inline]
    pub(crate) fn serve_now(&mut self, now: TimeNs, die: DieId, lpn: Lpn, kind: OpKind, cleans: &mut Vec<VictimBlockCollection>) -> Served {
        if self.own.by_plane && !self.parts.params.gc.collection_takes_no_time {
            return self.serve_beside_cleans(now, die, lpn, kind, cleans);
        }
        let mut at = now.max(self.own.immediate[die.index()].busy_until);
        let begins = at;
        if self.pools.needs_clean(die) && self.parts.params.gc.checks_pools_before(kind) {
            if self.own.together {
                while let Some(end) = self.clean_together_at(at, die, cleans) {
                    at = end;
                }
            } else {
                while let Some((pool, victim)) = self.pools.next_victim(die, 0) {
                    at = self.clean_at(at, die, pool, victim, cleans);
                }
            }
        }
        let (duration_ns, mapped, sealed) = self.command(die, lpn, kind, 0).expect("rule 16: a check leaves room in some pool");
        // Other dies are served before the next clean of this one, and meanwhile its memory arrives.
        self.pools.fetch_foreseen();
        if self.pools.needs_clean(die) {
            self.pools.foresee_clean(die);
        }
        let end = at + duration_ns;
        self.record_busy_period(die, begins, end);
        if let Some(usage) = &mut self.parts.usage {
            usage.record_operation(now, end);
        }
        let state = &mut self.own.immediate[die.index()];
        state.busy_until = end;
        state.in_collection = false;
        let met_gc = state.gc_until > now;
        let collection_ns = if met_gc { state.forget_past_cleans(now) } else { 0 };
        Served::new(end, met_gc, collection_ns, mapped, sealed)
    }

    /// Records that a die works from `from` to `to`. Work that follows without a pause extends the current busy period. `from` never goes
    /// back.
    #[inline]
    fn record_busy_period(&mut self, die: DieId, from: TimeNs, to: TimeNs) {
        let state = &mut self.own.immediate[die.index()];
        if from > state.busy_period_ends {
            if let Some(usage) = &mut self.parts.usage {
                usage.record_work(state.busy_since, state.busy_period_ends);
            }
            state.busy_since = from;
        }
        state.busy_period_ends = to.max(state.busy_period_ends);
    }

    /// Serves an operation with plane blocking, so that cleans of other planes do not delay it (rule 15).
    fn serve_beside_cleans(&mut self, now: TimeNs, die: DieId, lpn: Lpn, kind: OpKind, cleans: &mut Vec<VictimBlockCollection>) -> Served {
        let mut at = now.max(self.own.immediate[die.index()].busy_until);
        let mut collection_ns = 0;
        loop {
            match self.try_beside_cleans(at, die, lpn, kind, cleans) {
                Ok((duration_ns, mapped, sealed)) => {
                    let end = at + duration_ns;
                    self.record_busy_period(die, at, end);
                    if let Some(usage) = &mut self.parts.usage {
                        usage.record_operation(now, end);
                    }
                    self.own.immediate[die.index()].busy_until = end;
                    return Served::new(end, collection_ns > 0, collection_ns, mapped, sealed);
                }
                Err(released) => {
                    collection_ns += released - at;
                    at = released;
                }
            }
        }
    }

    /// Checks the pools and begins the operation. If a plane that the operation needs is busy, returns the time at which that plane becomes
    /// free.
    fn try_beside_cleans(
        &mut self,
        at: TimeNs,
        die: DieId,
        lpn: Lpn,
        kind: OpKind,
        cleans: &mut Vec<VictimBlockCollection>,
    ) -> Result<(u64, bool, bool), TimeNs> {
        let mut busy = self.own.immediate[die.index()].busy_planes(at);
        if self.parts.params.gc.checks_pools_before(kind) {
            while let Some((pool, victim)) = self.pools.next_victim(die, busy) {
                let work = self.pools.clean(die, pool, victim);
                let end = at + self.own.durations.clean_ns(work);
                let until = &mut self.own.immediate[die.index()].plane_busy_until[pool as usize];
                let continues = std::mem::replace(until, end) == at;
                self.record_busy_period(die, at, end);
                self.parts.record_clean(die, pool, at..end, work, continues, cleans);
                busy |= 1 << pool;
            }
        }
        let ends = &self.own.immediate[die.index()].plane_busy_until;
        let goes_on = |until: &TimeNs| *until > at && *until != NEVER;
        if kind == OpKind::Read
            && self.pools.is_mapped(lpn)
            && let Some(&released) = Some(&ends[self.pools.pool_of(lpn) as usize]).filter(|until| goes_on(until))
        {
            return Err(released);
        }
        let first_released = ends.iter().copied().filter(goes_on).min();
        self.command(die, lpn, kind, busy).ok_or_else(|| first_released.expect("rule 16: a pool without room is being cleaned"))
    }

    /// Changes the mapping for an operation that starts now. Returns its duration, true if it touches flash, and true if it fills a block.
    ///
    /// Returns `None` for a write without room.
    #[inline]
    fn command(&mut self, die: DieId, lpn: Lpn, kind: OpKind, busy: u64) -> Option<(u64, bool, bool)> {
        match kind {
            OpKind::Write => {
                let pool = self.pools.choose_pool_for_write(die, lpn, busy)?;
                self.parts.counters.host_pages_written += 1;
                let sealed = self.pools.write(die, pool, lpn);
                self.parts.counters.block_summary_pages_programmed += u64::from(sealed && self.parts.params.geometry.has_summary_page);
                Some((self.own.durations.command_ns(kind, None, sealed), true, sealed))
            }
            OpKind::Read => {
                self.parts.counters.host_pages_read += 1;
                let mapped = self.pools.is_mapped(lpn);
                Some((self.own.durations.command_ns(kind, mapped.then_some(self.own.durations.array_ns), false), mapped, false))
            }
            _ => {
                self.parts.counters.host_pages_trimmed += 1;
                self.pools.trim(lpn);
                Some((self.own.durations.no_flash_ns, false, false))
            }
        }
    }

    /// Cleans a victim in each pool that needs it, all from `at` on (rule 15). Returns the end of the longest, or `None` if there is none.
    fn clean_together_at(&mut self, at: TimeNs, die: DieId, cleans: &mut Vec<VictimBlockCollection>) -> Option<TimeNs> {
        let mut works = Vec::new();
        for judged in self.pools.pools_in_rotation(die) {
            if let Some((pool, victim)) = self.pools.next_victim(die, !(1 << judged)) {
                works.push((pool, self.pools.clean(die, pool, victim)));
            }
        }
        let end = at + works.iter().map(|(_, work)| self.own.durations.clean_ns(*work)).max()?;
        let mut continues = self.hold_for_clean(at..end, die);
        for (pool, work) in &works {
            self.parts.record_clean(die, *pool, at..end, *work, continues, cleans);
            continues = true;
        }
        // The time of the die counts once.
        self.parts.counters.gc_time_ns -= (works.len() as u64 - 1) * (end - at);
        Some(end)
    }

    /// Notes that the die cleans and does nothing else. Returns true if it did so until now.
    fn hold_for_clean(&mut self, time: std::ops::Range<TimeNs>, die: DieId) -> bool {
        let state = &mut self.own.immediate[die.index()];
        let continues = std::mem::replace(&mut state.in_collection, true);
        if !self.parts.params.gc.collection_takes_no_time {
            state.gc_until = time.end;
            state.recent.push_back(RecentClean { start: time.start, end: time.end, collected_before_ns: state.collected_ns });
            state.collected_ns += time.end - time.start;
        }
        continues
    }

    /// Cleans `victim` from `at` on, while the die does nothing else. Returns the end.
    fn clean_at(
        &mut self,
        at: TimeNs,
        die: DieId,
        pool: u32,
        victim: crate::ids::BlockId,
        cleans: &mut Vec<VictimBlockCollection>,
    ) -> TimeNs {
        let work = self.pools.clean(die, pool, victim);
        let end = at + self.own.durations.clean_ns(work);
        let continues = self.hold_for_clean(at..end, die);
        self.parts.record_clean(die, pool, at..end, work, continues, cleans);
        end
    }
}

impl PageDies {
    /// Returns the time of an operation that arrived at `now`, divided into causes.
    #[inline]
    pub(crate) fn time_of(&self, now: TimeNs, kind: OpKind, served: Served) -> OperationTimeParts {
        let mut time = OperationTimeParts { collection_ns: served.wait_and_flags >> Served::FLAGS, ..OperationTimeParts::default() };
        let array_ns = served.has(Served::MAPPED).then_some(self.durations.array_ns);
        self.durations.spend(kind, array_ns, served.has(Served::SEALED), &mut time);
        time.queue_ns = served.end - now - time.total_ns();
        time
    }
}

/// Returns true if nothing can interrupt or delay an operation. This needs first come first served, cleans in one piece, no shared channel
/// or link, and no controller.
pub(super) fn may_be_immediate(params: &SsdParams, controlled: bool) -> bool {
    let interruptible = !params.gc.collection_takes_no_time
        && (controlled || params.gc.preemption.is_some() || params.gc.idle_collection_after_ns.is_some());
    params.front_end.is_none()
        && params.die_delay_mechanisms.is_empty()
        && !interruptible
        && params.channel.is_none()
        && params.link.is_none()
        && params.writes.allocation == DieChoiceForWrites::Static
}
