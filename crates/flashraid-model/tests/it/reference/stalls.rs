//! Stalls of dies for background work (rule 230).

use flashraid_model::rng;
use flashraid_model::ssd::{DieDelayMechanismCounters, DieDelayMechanisms};

use super::Simulation;
use super::die::{DieState, Slot, Use};
use super::work::{Step, Worker};

/// The stalls of a die.
pub(super) struct StallSchedule {
    every_ns: u64,
    lasts_ns: u64,
    gaps: rng::RandomStream,
    pub due_ns: u64,
    pub ends_ns: u64,
}

impl StallSchedule {
    pub(super) fn of(mechanisms: &DieDelayMechanisms, seed: u64, member: usize, die: usize) -> Option<StallSchedule> {
        let background = mechanisms.background?;
        let gaps = rng::stream(seed, "background", ((member as u64) << 32) + die as u64);
        let mut stalls = StallSchedule { every_ns: background.every.ns, lasts_ns: background.lasts.ns, gaps, due_ns: 0, ends_ns: 0 };
        stalls.draws();
        Some(stalls)
    }

    fn draws(&mut self) {
        self.due_ns += (self.every_ns as f64 * rng::exponential(&mut self.gaps)) as u64;
    }

    pub(super) fn begins(&mut self, at: u64) {
        self.ends_ns = at + self.lasts_ns;
        self.draws();
    }

    /// A die rests until `time`.
    pub(super) fn passes_at_rest(&mut self, now: u64, time: u64) {
        loop {
            let begin = self.due_ns.max(self.ends_ns).max(now);
            if begin > time {
                return;
            }
            self.begins(begin);
        }
    }
}

impl DieState {
    /// Until `time` nothing happens.
    pub(super) fn may_stall_at_rest(&mut self, now: u64, time: u64) {
        if self.slot.is_some() || !self.cleans.is_empty() {
            return;
        }
        if let Some(stalls) = &mut self.stalls {
            stalls.passes_at_rest(now, time);
        }
    }

    pub(super) fn is_stalled(&self) -> bool {
        matches!(&self.slot, Some(Slot { what: Use::Stall, .. }))
    }
}

impl Simulation<'_> {
    /// The head of the queue could be served. Says whether a stall has the slot instead.
    pub(super) fn stalls(&mut self, member: usize, die: usize) -> bool {
        let now = self.now;
        let Some(stalls) = &mut self.die(member, die).stalls else { return false };
        if stalls.ends_ns <= now && stalls.due_ns <= now {
            stalls.begins(now);
        }
        let ns = stalls.ends_ns.saturating_sub(now);
        if ns == 0 {
            return false;
        }
        let counters: &mut DieDelayMechanismCounters = &mut self.members[member].mechanisms;
        counters.background.stalls_waited_for += 1;
        counters.background.time_waited_for_stalls_ns += ns;
        self.die(member, die).slot = Some(Slot { what: Use::Stall, let_in_by: None });
        self.start_work(member, Worker::Slot { die }, vec![Step::Wait(ns)]);
        true
    }
}
