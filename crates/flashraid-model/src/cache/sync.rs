//! Who is ready to destage, and how long they wait for the others (rule 84).

use crate::TimeNs;

/// The member caches that have a candidate.
#[derive(Debug, Clone)]
pub(super) struct Sync {
    timeout_ns: u64,
    /// Caches that are ready, as bits.
    ready: u128,
    /// Slot and entry of each of them.
    candidates: Vec<(u16, u32)>,
    timer_ends: Option<TimeNs>,
}

impl Sync {
    pub fn new(members: u32, timeout_ns: u64) -> Self {
        Self { timeout_ns, ready: 0, candidates: vec![(0, 0); members as usize], timer_ends: None }
    }

    #[inline]
    pub fn is_ready(&self, member: u32) -> bool {
        self.ready >> member & 1 == 1
    }

    #[inline]
    pub fn set_ready(&mut self, member: u32, slot: u16, entry: u32) {
        self.ready |= 1 << member;
        self.candidates[member as usize] = (slot, entry);
    }

    /// An entry is gone: a cache whose candidate it was is no longer ready, and if none is, the timer stands.
    pub fn entry_is_gone(&mut self, member: u32, entry: u32) {
        if self.is_ready(member) && self.candidates[member as usize].1 == entry {
            self.ready &= !(1 << member);
            if self.ready == 0 {
                self.timer_ends = None;
            }
        }
    }

    /// Whether some are, and all but those, as bits, that failures have taken.
    #[inline]
    pub fn all_ready(&self, lost: u128) -> bool {
        let all = u128::MAX >> (128 - self.candidates.len());
        self.ready != 0 && self.ready | lost == all
    }

    /// Starts the timer if some are ready and it does not run.
    #[inline]
    pub fn start_timer(&mut self, now: TimeNs) {
        if self.ready != 0 && self.timer_ends.is_none() {
            self.timer_ends = Some(now.saturating_add(self.timeout_ns));
        }
    }

    /// When the timer ends, if it runs.
    #[inline]
    pub fn timer_ends(&self) -> Option<TimeNs> {
        self.timer_ends
    }

    /// Calls `act` with every cache that is ready, its slot and entry, in order; none is ready then and the timer stands.
    pub fn take_ready(&mut self, mut act: impl FnMut(u32, u16, u32)) {
        let mut ready = std::mem::take(&mut self.ready);
        while ready != 0 {
            let member = ready.trailing_zeros();
            ready &= ready - 1;
            let (slot, entry) = self.candidates[member as usize];
            act(member, slot, entry);
        }
        self.timer_ends = None;
    }

    /// None is ready any more.
    pub fn clear(&mut self) {
        self.take_ready(|_, _, _| {});
    }
}
