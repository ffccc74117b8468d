//! The shortcut *collapsed*: if nothing can interrupt a die, its waits end without events. Such dies are called lazy.
//!
//! It requires dies that do not affect each other (separate pins, static allocation, no link). A die must also have at most one active
//! worker (die blocking). [`may_be_lazy`] tests that. The work of a die then depends only on the operations that reach it and on their
//! times.
//!
//! A die is brought up to date before it gets an operation or a message, and at the end of the run. A wake-up at the end of a clean also
//! brings it up to date. Moves of a clean that nothing can interrupt are made in one loop ([`PageContext::move_undisturbed`]).

use super::{Clean, Die, NO_PAGE, PageContext, Phase, SlotPhase, State};
use crate::events::TimeNs;
use crate::ids::DieId;
use crate::space::pools::GcAlgorithm;
use crate::ssd::job::{DieExecutionUnitId, NEVER, SsdWake};
use crate::ssd::params::{DieChoiceForWrites, SsdParams};

impl Die {
    /// Returns the only active worker. With die blocking, the clean pauses while the command slot is in use.
    #[inline]
    fn active(&self) -> DieExecutionUnitId {
        if self.slot.phase == SlotPhase::Free && self.cleans[0].is_some() { DieExecutionUnitId::clean(0) } else { DieExecutionUnitId::SLOT }
    }
}

impl PageContext<'_> {
    /// Ends every wait that ended before `now`, and those that end now if they began before `scheduled`. A wait without length ends at
    /// once. Dies that are not lazy use events instead.
    #[inline]
    pub(super) fn catch_up(&mut self, now: TimeNs, scheduled: TimeNs, die: DieId) {
        if !self.own.lazy {
            return;
        }
        loop {
            let state = &self.own.dies[die.index()];
            let worker = state.active();
            let work = match worker {
                DieExecutionUnitId::SLOT => &state.slot.work,
                _ => &state.clean(0).work,
            };
            let (began, ends) = (work.began, work.ends);
            let over = ends < now || (ends == now && (began < scheduled || began == ends));
            if !over {
                return;
            }
            if worker != DieExecutionUnitId::SLOT && state.clean(0).phase == Phase::Poll {
                self.move_undisturbed(now, die);
            }
            let state = &self.own.dies[die.index()];
            let ends = if worker == DieExecutionUnitId::SLOT { state.slot.work.ends } else { state.clean(0).work.ends };
            self.wait_over(ends, die, worker);
        }
    }

    /// Brings every die up to date: it counts and reports everything that ended before `now`, or that ends now and began before
    /// `scheduled`.
    pub(crate) fn catch_up_each(&mut self, now: TimeNs, scheduled: TimeNs) {
        if !self.own.lazy {
            return;
        }
        for die in (0..self.own.dies.len() as u32).map(DieId) {
            self.catch_up(now, scheduled, die);
            self.schedule_wake_up(die);
        }
    }

    /// Processes a wake-up of a lazy die.
    pub(super) fn wake_lazy(&mut self, now: TimeNs, die: DieId) {
        let state = &mut self.own.dies[die.index()];
        if state.near_wake == now {
            state.near_wake = NEVER;
        } else if state.far_wake == now {
            state.far_wake = NEVER;
        } else {
            return;
        }
        self.catch_up(now, NEVER, die);
        self.schedule_wake_up(die);
    }

    /// Schedules the next wake-up of the die, if it needs one.
    pub(super) fn schedule_wake_up(&mut self, die: DieId) {
        if !self.own.lazy {
            return;
        }
        let state = &self.own.dies[die.index()];
        let slot = &state.slot;
        if slot.phase == SlotPhase::Resting {
            // Nobody waits for idle collection but a controller, to which it may ask for more.
            let at = slot.work.ends;
            if self.parts.agent.is_some() && at != NEVER && state.far_wake != at {
                self.own.dies[die.index()].far_wake = at;
                self.out.wake(at, SsdWake::Die(die));
            }
            return;
        }
        let ends =
            if slot.phase == SlotPhase::Free { state.cleans[0].as_ref().map_or(NEVER, |clean| clean.work.ends) } else { slot.work.ends };
        let awaited = |clean: &Clean| !clean.ends_with_phase.is_empty() || !clean.merged.is_empty();
        let (at, near) = match &state.cleans[0] {
            _ if slot.finishing != super::NONE || slot.suspended.as_ref().is_some_and(super::Suspended::holds_write) => (ends, true),
            Some(clean) if awaited(clean) => (ends, true),
            None if !state.queue.is_empty() => (ends, true),
            None if state.check_follows || state.forced.is_some() => (ends, false),
            // It will rest, and then collect and perhaps ask for more.
            None if self
                .parts
                .agent
                .as_ref()
                .is_some_and(|agent| self.own.watermarks.idle_ns().is_some() || agent.duty().takes_turns()) =>
            {
                (ends, false)
            }
            None => return,
            // It will poll again. Whoever speaks with a controller must not be late, as where a write has made the clean shorter.
            Some(_) if state.queue.is_empty() && state.far_wake != NEVER && self.parts.agent.is_none() => return,
            Some(clean) if state.queue.is_empty() || !self.may_admit_later(clean, &state.queue) => {
                (self.clean_ends_at_earliest(die, state, clean), !state.queue.is_empty())
            }
            Some(clean) => {
                let before_poll = match slot.phase {
                    SlotPhase::Command | SlotPhase::Merge => true,
                    SlotPhase::Free => matches!(clean.phase, Phase::Read | Phase::Program) && !clean.work.has_steps(),
                    _ => false,
                };
                (if before_poll { ends + self.own.durations.poll_duration_ns } else { ends }, true)
            }
        };
        let state = &mut self.own.dies[die.index()];
        let missing = if near { state.near_wake != at } else { at < state.near_wake && at != state.far_wake };
        if missing {
            *(if near { &mut state.near_wake } else { &mut state.far_wake }) = at;
            self.out.wake(at, SsdWake::Die(die));
        }
    }

    /// Returns the end of the clean if nothing interrupts it further. If that is not known yet, returns the end of the current wait.
    fn clean_ends_at_earliest(&self, die: DieId, state: &Die, clean: &Clean) -> TimeNs {
        let slot = &state.slot;
        if slot.suspended.is_some() {
            return slot.work.ends;
        }
        let ends = if slot.phase == SlotPhase::Free { clean.work.ends } else { slot.work.ends };
        if slot.phase == SlotPhase::Free && clean.phase == Phase::Erase {
            return ends;
        }
        let to_program = self.pools.valid_pages_of(clean.victim);
        let in_register = u32::from(clean.register != NO_PAGE && self.pools.lies_in(clean.register, clean.victim));
        let to_read = to_program - in_register;
        let seals = self.own.durations.blocks_sealed_by(to_program, self.pools.room_for_moves(die, clean.pool));
        // Point 1 of the page in the register, points 2 and 1 of every other page, point 2 before the erase.
        let polling = slot.phase == SlotPhase::Free && clean.phase == Phase::Poll;
        let polls = in_register + 2 * to_read + 1 - u32::from(polling);
        let poll_duration_ns = if clean.state == State::AllWait { 0 } else { self.own.durations.poll_duration_ns };
        ends + u64::from(polls) * poll_duration_ns
            + u64::from(to_read) * (self.own.durations.move_ns - self.parts.params.timing.page_program.ns)
            + u64::from(to_program) * self.parts.params.timing.page_program.ns
            + u64::from(seals) * self.own.durations.seal_ns
            + self.own.durations.erase_ns
    }

    /// Performs all moves that end before `now`, each with the poll after it, starting from a poll at point 2. It stops if a waiting
    /// operation could be served.
    ///
    /// The result is the same as with single steps, but it takes only a fraction of the computing time.
    fn move_undisturbed(&mut self, now: TimeNs, die: DieId) {
        let state = &self.own.dies[die.index()];
        let clean = state.clean(0);
        // Which pages cross planes is seen step by step.
        let crosses = self.parts.params.gc.gc_algorithm == GcAlgorithm::LikeDiskSimWithoutCopyBack;
        let was_interrupted = crosses || !state.queue.is_empty() && self.may_admit_later(clean, &state.queue);
        if clean.register != NO_PAGE || clean.state == State::AllWait || was_interrupted {
            return;
        }
        let (pool, victim) = (clean.pool, clean.victim);
        let (mut clean_state, mut writes_wait_from) = (clean.state, clean.writes_wait_from);
        let poll_duration_ns = self.own.durations.poll_duration_ns;
        let move_ns = self.own.durations.move_ns + 2 * poll_duration_ns;
        let mut at = clean.work.ends;
        let mut moved = 0;
        if at + 4 * move_ns < now {
            self.pools.prefetch_moves(victim);
        }
        let mut room = self.pools.room_for_moves(die, pool);
        while at + move_ns < now
            && let Some(lpn) = self.pools.first_valid_lpn(victim)
        {
            if clean_state == State::AllMayGoIn && self.own.watermarks.is_below_hard(self.pools, die, pool) {
                clean_state = State::WritesWait;
                writes_wait_from = at;
            }
            let seals = self.own.durations.blocks_sealed_by(1, room) > 0;
            let next = at + move_ns + if seals { self.own.durations.seal_ns } else { 0 };
            if next >= now {
                break;
            }
            self.pools.move_page(die, pool, lpn);
            self.parts.counters.block_summary_pages_programmed += u64::from(seals && self.parts.params.geometry.has_summary_page);
            room = self.pools.room_for_moves(die, pool);
            moved += 1;
            at = next;
        }
        if moved > 0 {
            self.parts.counters.gc_pages_moved += u64::from(moved);
            let clean = self.own.dies[die.index()].clean_mut(0);
            clean.pages_moved += moved;
            (clean.state, clean.writes_wait_from) = (clean_state, writes_wait_from);
            clean.work.wait(at - poll_duration_ns, poll_duration_ns);
        }
    }
}

/// Returns true if dies do not affect each other and at most one worker of a die is active at a time.
pub(super) fn may_be_lazy(params: &SsdParams) -> bool {
    let is_plain =
        params.front_end.is_none() && params.die_delay_mechanisms.is_empty() && params.channel.is_none() && params.link.is_none();
    !params.gc.blocks_planes() && is_plain && params.writes.allocation == DieChoiceForWrites::Static
}
