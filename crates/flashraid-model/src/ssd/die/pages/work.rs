//! The waits of a worker, and the transfers over a shared channel between them (rules 25 and 90).

use super::{NO_PAGE, PageContext, PageDies};
use crate::events::TimeNs;
use crate::ids::{DieId, Lpn};
use crate::ssd::job::{DieExecutionUnitId, NEVER, SsdWake};
use crate::ssd::wire::Wire;
use std::collections::VecDeque;

/// A step of a host operation, or of the collection of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Waits for this time, in nanoseconds, while the die works.
    Wait {
        ns: u64,
        /// Time from the start of the step after which reads may interrupt the program or erase; [`NEVER`] if they may not.
        interruptible_after_ns: u64,
    },
    /// Transfers data for this time, in nanoseconds, over the channel that dies share. If each die has pins of its own, no channel is
    /// occupied, and the step is a wait like any other.
    Transfer(u64),
    /// Waits for operations that the die has begun earlier and still performs beside this one. They must leave the plane, the page
    /// register or the channel that the next step needs (rule 103 of docs/rules.md).
    Barrier,
}

impl Step {
    /// Returns a step that nothing interrupts.
    pub(super) const fn wait(ns: u64) -> Self {
        Self::Wait { ns, interruptible_after_ns: NEVER }
    }

    /// Returns the step for a program or erase, which reads may interrupt.
    pub(super) const fn interruptible(ns: u64) -> Self {
        Self::Wait { ns, interruptible_after_ns: 0 }
    }

    fn ns(self) -> u64 {
        match self {
            Self::Wait { ns, .. } | Self::Transfer(ns) => ns,
            Self::Barrier => 0,
        }
    }
}

/// Current wait of a worker, and the remaining steps of its operation or phase.
#[derive(Debug, Clone)]
pub(crate) struct Work {
    /// Start of the current wait.
    pub(crate) began: TimeNs,
    /// End of the current wait; [`NEVER`] while the worker waits for another event.
    pub(crate) ends: TimeNs,
    /// End of all steps, if transfers need not wait, except for a transfer that has already been requested (rule 101).
    pub(crate) plain_end: TimeNs,
    /// End of the current wait, or of the transfer that has been requested.
    present_ends: TimeNs,
    /// True if the worker waits at a [`Step::Barrier`], until earlier operations no longer occupy what its next step needs.
    at_barrier: bool,
    /// Number of the wait, counted over all waits of the die. A wake-up for a wait with another number has no effect.
    number: u32,
    steps: VecDeque<Step>,
    /// Sum of the durations of the remaining steps, in nanoseconds.
    remaining_ns: u64,
    /// Time from which reads may interrupt the current program or erase.
    pub(crate) interruptible_from: TimeNs,
    /// Page that is being programmed.
    pub(crate) lpn: Lpn,
    /// Number of interruptions so far.
    pub(crate) interruptions: u32,
    /// Number of operations that had entered the die's queue when the work began.
    pub(crate) arrivals_before: u64,
    /// Time from the requests for transfers to their ends, in nanoseconds, summed up.
    pub(crate) transfers_ns: u64,
}

impl Default for Work {
    fn default() -> Self {
        Self {
            began: 0,
            ends: NEVER,
            plain_end: 0,
            present_ends: 0,
            at_barrier: false,
            number: 0,
            steps: VecDeque::new(),
            remaining_ns: 0,
            interruptible_from: NEVER,
            lpn: NO_PAGE,
            interruptions: 0,
            arrivals_before: 0,
            transfers_ns: 0,
        }
    }
}

impl Work {
    /// Starts a wait. Call [`Work::allow_interruption`] to let reads suspend it.
    #[inline]
    pub(super) fn wait(&mut self, at: TimeNs, ns: u64) {
        (self.began, self.ends, self.plain_end) = (at, at + ns, at + ns);
        (self.interruptible_from, self.interruptions) = (NEVER, 0);
    }

    /// Lets reads interrupt the wait from `from` on. `lpn` is the page that is programmed, if any.
    #[inline]
    pub(crate) fn allow_interruption(&mut self, from: TimeNs, lpn: Lpn) {
        (self.interruptible_from, self.lpn) = (from, lpn);
    }

    /// Stops the wait, which another event will end.
    #[inline]
    pub(super) fn stop(&mut self) {
        (self.ends, self.interruptible_from) = (NEVER, NEVER);
    }

    /// Returns true if a program or erase that reads may interrupt is in progress at `now`.
    #[inline]
    pub(crate) fn is_interruptible(&self, now: TimeNs) -> bool {
        self.interruptible_from <= now && now < self.ends && self.ends != NEVER
    }

    #[inline]
    pub(crate) fn has_steps(&self) -> bool {
        !self.steps.is_empty()
    }

    pub(crate) fn is_at_barrier(&self) -> bool {
        self.at_barrier
    }

    /// Replaces all steps. If each die has `pins` of its own, transfers are plain waits, and consecutive waits become one. With `divided`,
    /// what reads may interrupt is a wait of its own.
    fn set_steps(&mut self, at: TimeNs, steps: impl Iterator<Item = Step>, pins: bool, divided: bool) {
        self.steps.clear();
        self.remaining_ns = 0;
        for step in steps {
            self.remaining_ns += step.ns();
            let step = match step {
                Step::Transfer(ns) if pins => Step::wait(ns),
                step => step,
            };
            match (self.steps.back_mut(), step) {
                (Some(Step::Wait { ns: before, interruptible_after_ns: flight }), Step::Wait { ns, interruptible_after_ns })
                    if !divided || *flight != NEVER || interruptible_after_ns == NEVER =>
                {
                    *flight = (*flight).min(interruptible_after_ns.saturating_add(*before));
                    *before += ns;
                }
                _ => self.steps.push_back(step),
            }
        }
        self.plain_end = at + self.remaining_ns;
    }

    /// Removes the next step.
    #[inline]
    fn take_step(&mut self) {
        if let Some(step) = self.steps.pop_front() {
            self.remaining_ns -= step.ns();
        }
        debug_assert!(self.remaining_ns == 0 || !self.steps.is_empty(), "no step is left, but time is");
    }

    /// Sets the steps of work that begins later.
    pub(super) fn prepare(&mut self, at: TimeNs, steps: impl Iterator<Item = Step>, pins: bool) {
        self.stop();
        self.set_steps(at, steps, pins, false);
        (self.at_barrier, self.lpn, self.interruptions, self.transfers_ns) = (false, NO_PAGE, 0, 0);
    }

    /// Returns true if a barrier lies ahead.
    pub(crate) fn has_barrier(&self) -> bool {
        self.steps.contains(&Step::Barrier)
    }

    /// Returns the end of all steps like `plain_end`, but with barriers. `pass` returns the time at which a barrier is passed, given the
    /// time at which it is reached. A time in the past is 0.
    pub(crate) fn ends_with_barriers(&self, mut pass: impl FnMut(TimeNs) -> TimeNs) -> TimeNs {
        let begins = if self.is_at_barrier() { 0 } else { self.present_ends };
        self.steps.iter().fold(begins, |at, step| if *step == Step::Barrier { pass(at) } else { at + step.ns() })
    }

    /// Returns the sum of the durations of the remaining steps, in nanoseconds.
    #[inline]
    pub(crate) fn remaining_ns(&self) -> u64 {
        self.remaining_ns
    }
}

/// A channel that several dies share. Each transfer ends with an event.
#[derive(Debug, Clone, Default)]
pub(crate) struct Channel {
    /// Transfers in the order of their requests: die, worker, time of the request, and length. The first one is in progress.
    queue: VecDeque<(DieId, DieExecutionUnitId, TimeNs, u64)>,
    wire: Wire,
}

impl PageContext<'_> {
    /// Begins an operation or phase that consists of several steps. `lpn` is the page that it programs, if any.
    pub(super) fn begin_work(&mut self, at: TimeNs, die: DieId, worker: DieExecutionUnitId, steps: impl Iterator<Item = Step>, lpn: Lpn) {
        let (pins, divided) = (self.own.channels.is_empty(), self.own.suspension.is_some());
        let state = &mut self.own.dies[die.index()];
        let arrivals = state.queue.arrivals();
        let work = state.work_mut(worker);
        work.set_steps(at, steps, pins, divided);
        (work.lpn, work.interruptions, work.arrivals_before, work.transfers_ns) = (lpn, 0, arrivals, 0);
        self.next_work_step(at, die, worker);
    }

    /// Begins the next step of a worker, or ends its work.
    pub(super) fn next_work_step(&mut self, at: TimeNs, die: DieId, worker: DieExecutionUnitId) {
        loop {
            let work = self.own.dies[die.index()].work_mut(worker);
            work.stop();
            work.at_barrier = false;
            match work.steps.front().copied() {
                None => return self.work_over(at, die, worker),
                Some(Step::Barrier) => {
                    if !self.reach_barrier(die, worker) {
                        self.own.dies[die.index()].work_mut(worker).at_barrier = true;
                        return;
                    }
                    self.own.dies[die.index()].work_mut(worker).take_step();
                }
                Some(Step::Wait { ns: 0, .. }) => {
                    work.take_step();
                }
                Some(Step::Wait { ns, interruptible_after_ns }) => {
                    let arrivals_before = work.arrivals_before;
                    work.take_step();
                    self.begin_wait(at, die, worker, ns, at.saturating_add(interruptible_after_ns));
                    if interruptible_after_ns == 0 {
                        self.interrupt_for_waiting(at, die, worker, arrivals_before);
                    }
                    return;
                }
                Some(Step::Transfer(ns)) => {
                    work.take_step();
                    return self.ask_for_channel(at, die, worker, ns);
                }
            }
        }
    }

    /// Begins a wait whose end is an event.
    pub(super) fn begin_wait(&mut self, at: TimeNs, die: DieId, worker: DieExecutionUnitId, ns: u64, interruptible_from: TimeNs) {
        let state = &mut self.own.dies[die.index()];
        state.waits_begun = state.waits_begun.wrapping_add(1);
        let number = state.waits_begun;
        let work = state.work_mut(worker);
        work.number = number;
        (work.began, work.ends, work.present_ends, work.interruptible_from) = (at, at + ns, at + ns, interruptible_from);
        if ns > 0 && !self.own.lazy {
            self.out.wake(at + ns, SsdWake::Worker { die, worker, wait_number: number });
        }
    }

    /// Processes the event at the end of a wait of [`PageContext::begin_wait`].
    pub(super) fn wake_worker(&mut self, now: TimeNs, die: DieId, worker: DieExecutionUnitId, number: u32) {
        if self.own.needs_wake_up(die, worker, number) {
            self.wait_over(now, die, worker);
        }
    }

    fn channel_of(&self, die: DieId) -> usize {
        let params = &self.parts.params;
        params.channel.map_or(die.index(), |channel| channel.channel_of_die(die.0, params.geometry.dies) as usize)
    }

    fn ask_for_channel(&mut self, at: TimeNs, die: DieId, worker: DieExecutionUnitId, ns: u64) {
        let number = self.channel_of(die);
        let channel = &mut self.own.channels[number];
        let free_at = channel.wire.ask(at, ns);
        channel.queue.push_back((die, worker, at, ns));
        let alone = channel.queue.len() == 1;
        let work = self.own.dies[die.index()].work_mut(worker);
        work.present_ends = free_at;
        work.plain_end = free_at + work.remaining_ns();
        if alone {
            self.start_transfer(at, number);
        }
    }

    fn start_transfer(&mut self, at: TimeNs, channel: usize) {
        if let Some(&(.., ns)) = self.own.channels[channel].queue.front() {
            self.out.wake(at + ns, SsdWake::ChannelTransferEnds(channel as u32));
        }
    }

    /// Ends a transfer. First its worker continues, and then the next transfer begins.
    pub(super) fn transferred(&mut self, now: TimeNs, channel: u32) {
        let channel = channel as usize;
        let (die, worker, asked, _) = self.own.channels[channel].queue[0];
        self.own.dies[die.index()].work_mut(worker).transfers_ns += now - asked;
        self.wait_over(now, die, worker);
        self.own.channels[channel].queue.pop_front();
        self.start_transfer(now, channel);
    }
}

impl PageDies {
    /// Returns true if the wait with this number is still in progress.
    pub(crate) fn needs_wake_up(&self, die: DieId, worker: DieExecutionUnitId, number: u32) -> bool {
        let state = &self.dies[die.index()];
        let work = match (worker.companion(), worker.scope()) {
            (Some(number), _) => state.work_in_joint_step(number),
            (None, None) => Some(&state.slot.work),
            (None, Some(scope)) => state.cleans[scope as usize].as_ref().map(|clean| &clean.work),
        };
        work.is_some_and(|work| work.number == number && work.ends != NEVER)
    }
}
