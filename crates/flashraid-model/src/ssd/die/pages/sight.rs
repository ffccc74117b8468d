//! The state of a die that takes single pages, as a read plan sees it (rules 240 to 242).

use super::{Clean, Die, PageContext, PageDies, Phase, SlotPhase, State};
use crate::events::TimeNs;
use crate::ids::{DieId, Lpn};
use crate::request::OpKind;
use crate::space::pools::PageMapping;
use crate::ssd::job::{Cause, DieExecutionUnitId, ReadForecast};
use crate::ssd::parts::SsdParts;

impl PageContext<'_> {
    /// Returns the prospect of a read of a page that would be sent now. An idle die checks its pools first, as it would for the read.
    pub(crate) fn forecast_read(&mut self, now: TimeNs, page: u64) -> ReadForecast {
        if self.own.buffered.held.contains_key(&page) {
            return ReadForecast::not_on_flash(now);
        }
        let (home, lpn) = self.die_and_lpn(page);
        let die = self.die_of_read(home, lpn);
        self.check_for_read(now, die);
        let state = &self.own.dies[die.index()];
        let scope = if self.own.by_plane { self.scope_of(die, lpn, OpKind::Read) } else { Some(0) };
        let clean = scope.and_then(|scope| Some((scope, state.cleans[scope as usize].as_ref()?)));
        let work_ends = now.max(state.current_work_ends());
        let begins = clean.map_or(work_ends, |(scope, clean)| self.own.lets_reads_in(self.pools, self.parts, now, state, scope, clean));
        let plain_ns = |kind| self.own.durations.plain_ns(kind);
        ReadForecast {
            meets_collection: clean.is_some(),
            read_begins: begins + state.queue.sum_ns(plain_ns),
            read_length_ns: plain_ns(OpKind::Read),
        }
    }

    /// Returns the die that a read is sent to (rules 7, 8 and 101).
    fn die_of_read(&self, home: DieId, lpn: Lpn) -> DieId {
        match self.own.placement.followed(lpn) {
            Some(die) if self.own.dynamic => die,
            None if self.own.dynamic && self.pools.is_mapped(lpn) => self.pools.die_that_holds(lpn),
            _ => home,
        }
    }

    /// Lets an idle die begin the cleans that pools need, if a read lets it check them.
    fn check_for_read(&mut self, now: TimeNs, die: DieId) {
        let gc = &self.parts.params.gc;
        if gc.collection_takes_no_time || !gc.checks_pools_before(OpKind::Read) {
            return;
        }
        let state = &self.own.dies[die.index()];
        let is_idle = state.slot_is_free() && state.queue.is_empty() && (self.own.by_plane || !state.cleans_any());
        if is_idle {
            self.begin_needed(now, die, Cause::FreeBlocksNeeded);
        }
    }
}

impl PageDies {
    /// Returns the estimated time at which a clean in progress lets a read of its scope in.
    fn lets_reads_in(&self, pools: &PageMapping, parts: &SsdParts, now: TimeNs, state: &Die, scope: u32, clean: &Clean) -> TimeNs {
        let works_together = state.slot.phase == SlotPhase::JointStep && state.slot.admitted_by == Some(scope);
        let is_suspended = state.slot.suspended.as_ref().is_some_and(|suspended| suspended.is_of(DieExecutionUnitId::clean(scope)));
        let stands_aside = works_together || is_suspended || clean.phase == Phase::Paused;
        let phase_ends = if stands_aside { 0 } else { clean.work.plain_end };
        let ends = now.max(state.current_work_ends()).max(phase_ends);
        let Some(preemption) = &parts.params.gc.preemption else { return ends };
        match clean.state {
            State::AllWait if clean.phase == Phase::Erase => ends,
            State::AllWait => ends + u64::from(pools.valid_pages_of(clean.victim)) * self.durations.move_ns + self.durations.erase_ns,
            _ if state.slot_is_free() && clean.phase == Phase::Poll => ends,
            _ => ends + preemption.poll.ns,
        }
    }

    /// Returns the latest time at which a clean in progress lets reads in, as estimated.
    pub(crate) fn collects_until(&self, pools: &PageMapping, parts: &SsdParts, now: TimeNs) -> Option<TimeNs> {
        let of_die = |state: &Die| {
            let cleans = (0..).zip(&state.cleans).filter_map(|(scope, clean)| Some((scope, clean.as_ref()?)));
            cleans.map(|(scope, clean)| self.lets_reads_in(pools, parts, now, state, scope, clean)).max()
        };
        self.dies.iter().filter_map(of_die).max()
    }
}
