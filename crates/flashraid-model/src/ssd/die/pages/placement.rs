//! Dynamic allocation, which chooses the die of a write when it arrives (rules 8 and 101).

use super::PageContext;
use super::waiting::Waiting;
use crate::events::TimeNs;
use crate::ids::{DieId, Lpn};
use crate::request::OpKind;
use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

/// The writes and trims for which a die is chosen when they come (dynamic allocation), and the die at which the next search begins.
#[derive(Debug, Clone, Default)]
pub(super) struct Placement {
    /// Operations that no die has accepted yet, in order.
    unplaced: VecDeque<u32>,
    /// The die at which writes or trims of a page wait, and their number, by page.
    waiting: HashMap<Lpn, (DieId, u32), BuildHasherDefault<PageHasher>>,
    /// The die at which the next search begins.
    next_die: u32,
}

/// Hasher for page numbers. It can be simple, because nobody chooses page numbers that collide.
#[derive(Debug, Clone, Copy, Default)]
struct PageHasher(u64);

impl Hasher for PageHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u32(u32::from(*byte)));
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        // A multiplication by the golden ratio spreads neighbours over the upper bits.
        self.0 = (self.0 ^ u64::from(number)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    #[inline]
    fn finish(&self) -> u64 {
        // Hash tables use both the lowest bits and the highest ones.
        self.0 ^ (self.0 >> 32)
    }
}

impl Placement {
    /// Returns the die in whose queue writes or trims of a page wait, if any do.
    pub(super) fn followed(&self, lpn: Lpn) -> Option<DieId> {
        self.waiting.get(&lpn).map(|&(die, _)| die)
    }
}

impl PageContext<'_> {
    /// Processes an operation that has reached the member.
    pub(super) fn arrives_for_placement(&mut self, now: TimeNs, id: u32) {
        self.own.placement.unplaced.push_back(id);
        self.place_waiting(now);
    }

    /// Returns the number of writes that no die has accepted yet.
    pub(super) fn unplaced_writes(&self) -> usize {
        self.own.placement.unplaced.iter().filter(|&&id| self.own.waiting[id].op.kind == OpKind::Write).count()
    }

    /// Passes waiting operations to dies, in order, while dies accept them.
    pub(super) fn place_waiting(&mut self, now: TimeNs) {
        while let Some(&id) = self.own.placement.unplaced.front() {
            let Waiting { op, lpn, .. } = self.own.waiting[id];
            let follows = self.own.placement.followed(lpn);
            let die = match op.kind {
                _ if follows.is_some() => follows,
                OpKind::Write => self.earliest_die(now),
                _ => Some(if self.pools.is_mapped(lpn) { self.pools.die_that_holds(lpn) } else { self.die_and_lpn(op.logical_page).0 }),
            };
            let Some(die) = die else { return };
            self.own.placement.unplaced.pop_front();
            if op.kind != OpKind::Read {
                self.own.placement.waiting.entry(lpn).or_insert((die, 0)).1 += 1;
            }
            self.own.waiting[id].die = die;
            self.join_queue(now, 0, id);
        }
    }

    /// Records that a write or trim has left its queue.
    pub(super) fn no_longer_waits(&mut self, lpn: Lpn, kind: OpKind) {
        if kind == OpKind::Read {
            return;
        }
        let entry = self.own.placement.waiting.get_mut(&lpn).expect("what has been placed is counted");
        entry.1 -= 1;
        if entry.1 == 0 {
            self.own.placement.waiting.remove(&lpn);
        }
    }

    /// Returns the die with the earliest estimated start among those that accept another write.
    fn earliest_die(&mut self, now: TimeNs) -> Option<DieId> {
        let dies = self.own.dies.len() as u32;
        let pages_max = self.pools.valid_pages_max_per_die();
        let from = self.own.placement.next_die;
        let estimated_start = |die: u32| {
            let state = &self.own.dies[die as usize];
            now.max(state.current_work_ends()) + state.waiting_ns
        };
        let chosen = (from..dies)
            .chain(0..from)
            .filter(|&die| self.pools.valid_pages(DieId(die)) + self.own.dies[die as usize].waiting_writes < pages_max)
            .min_by_key(|&die| estimated_start(die))?;
        self.own.placement.next_die = if chosen + 1 == dies { 0 } else { chosen + 1 };
        Some(DieId(chosen))
    }
}
