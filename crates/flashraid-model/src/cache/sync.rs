//! Synchronised destaging: the member caches that are ready, and the time that they wait for the others (rule 84).

use crate::TimeNs;

/// The member caches that have something to destage.
#[derive(Debug, Clone)]
pub(super) struct SyncedDestaging {
    timeout_ns: u64,
    /// Caches that are ready, as bits.
    ready: u128,
    /// The free slot of each ready cache, and the entry to destage.
    candidates: Vec<(u16, u32)>,
    timer_ends: Option<TimeNs>,
}

impl SyncedDestaging {
    pub(super) fn new(members: u32, timeout_ns: u64) -> Self {
        Self { timeout_ns, ready: 0, candidates: vec![(0, 0); members as usize], timer_ends: None }
    }

    #[inline]
    pub(crate) fn is_ready(&self, member: u32) -> bool {
        self.ready >> member & 1 == 1
    }

    #[inline]
    pub(crate) fn set_ready(&mut self, member: u32, slot: u16, entry: u32) {
        self.ready |= 1 << member;
        self.candidates[member as usize] = (slot, entry);
    }

    /// Records that an entry no longer exists. If a cache was ready to destage this entry, it is not ready any more. The timer stops when
    /// no cache is ready.
    pub(crate) fn entry_removed(&mut self, member: u32, entry: u32) {
        if self.is_ready(member) && self.candidates[member as usize].1 == entry {
            self.ready &= !(1 << member);
            if self.ready == 0 {
                self.timer_ends = None;
            }
        }
    }

    /// Returns true if all caches are ready, except for those in `lost`, and at least one is. Bit m of `lost` stands for member m.
    #[inline]
    pub(super) fn all_ready(&self, lost: u128) -> bool {
        let all = u128::MAX >> (128 - self.candidates.len());
        self.ready != 0 && self.ready | lost == all
    }

    /// Starts the timer if a cache is ready and the timer does not run.
    #[inline]
    pub(crate) fn start_timer(&mut self, now: TimeNs) {
        if self.ready != 0 && self.timer_ends.is_none() {
            self.timer_ends = Some(now.saturating_add(self.timeout_ns));
        }
    }

    /// Returns the time at which the timer ends, if it is running.
    #[inline]
    pub(crate) fn timer_ends(&self) -> Option<TimeNs> {
        self.timer_ends
    }

    /// Calls `act` with the number, slot and entry of every ready cache, in order. Then it marks all caches as not ready and stops the
    /// timer.
    pub(crate) fn take_ready(&mut self, mut act: impl FnMut(u32, u16, u32)) {
        let mut ready = std::mem::take(&mut self.ready);
        while ready != 0 {
            let member = ready.trailing_zeros();
            ready &= ready - 1;
            let (slot, entry) = self.candidates[member as usize];
            act(member, slot, entry);
        }
        self.timer_ends = None;
    }

    /// Marks all caches as not ready.
    pub(super) fn clear(&mut self) {
        self.take_ready(|_, _, _| {});
    }
}
