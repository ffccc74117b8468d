//! Who is ready to destage, and how long they wait for the others (rule 84).

use crate::TimeNs;

/// The member caches that have a candidate.
#[derive(Debug, Clone)]
pub(super) struct Sync {
    timeout_ns: u64,
    /// Slot and entry of each cache that is ready.
    ready: Vec<Option<(u16, u32)>>,
    ready_count: u32,
    timer_ends: Option<TimeNs>,
}

impl Sync {
    pub fn new(members: u32, timeout_ns: u64) -> Self {
        Self { timeout_ns, ready: vec![None; members as usize], ready_count: 0, timer_ends: None }
    }

    #[inline]
    pub fn is_ready(&self, member: u32) -> bool {
        self.ready[member as usize].is_some()
    }

    #[inline]
    pub fn set_ready(&mut self, member: u32, slot: u16, entry: u32) {
        self.ready[member as usize] = Some((slot, entry));
        self.ready_count += 1;
    }

    /// Whether some are, and all those of members that are `unaffected` by failures.
    #[inline]
    pub fn all_ready(&self, unaffected: impl Fn(usize) -> bool) -> bool {
        let count = self.ready_count as usize;
        count == self.ready.len()
            || (count + 1 >= self.ready.len()
                && count > 0
                && self.ready.iter().enumerate().all(|(member, ready)| ready.is_some() || !unaffected(member)))
    }

    /// Starts the timer if some are ready and it does not run.
    #[inline]
    pub fn start_timer(&mut self, now: TimeNs) {
        if self.ready_count > 0 && self.timer_ends.is_none() {
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
        for (member, ready) in self.ready.iter_mut().enumerate() {
            if let Some((slot, entry)) = ready.take() {
                act(member as u32, slot, entry);
            }
        }
        self.ready_count = 0;
        self.timer_ends = None;
    }

    /// None is ready any more.
    pub fn clear(&mut self) {
        self.take_ready(|_, _, _| {});
    }
}
