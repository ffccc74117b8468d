//! The agenda: a queue of wake-ups ordered by time. Wake-ups of the same time leave it in the order in which they were scheduled.
//!
//! An event that nothing can influence gets no wake-up. For example, an idle die starts a command at once, so its end is known from the
//! start. A request therefore costs one wake-up for its completion instead of one for each page.

use crate::TimeNs;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Queue of wake-ups, each with a number that says what to do then.
#[derive(Debug, Clone, Default)]
pub struct Agenda {
    /// All parts of an entry have the width of a register. Entries that are written and read in different widths cost more than the rest.
    heap: BinaryHeap<Reverse<Entry>>,
    scheduled: u64,
    /// Time of the last wake-up that was taken; none may be scheduled before it.
    now: TimeNs,
}

/// Place of a wake-up in the order. No two entries have the same sequence number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    at: TimeNs,
    sequence: u64,
    number: u64,
}

impl Agenda {
    /// Adds a wake-up with this number at the time `at`, in nanoseconds.
    ///
    /// # Panics
    /// Panics if `at` lies before the time of the last wake-up that was taken.
    #[inline]
    pub fn schedule(&mut self, at: TimeNs, number: u64) {
        assert!(at >= self.now, "nothing is scheduled for a time that is over");
        self.heap.push(Reverse(Entry { at, sequence: self.scheduled, number }));
        self.scheduled += 1;
    }

    /// Returns the time of the next wake-up, or `None` if the agenda is empty.
    #[inline]
    pub fn next_time(&self) -> Option<TimeNs> {
        self.heap.peek().map(|Reverse(e)| e.at)
    }

    /// Removes every wake-up for which `keep` returns false, given its number.
    pub fn retain(&mut self, mut keep: impl FnMut(u64) -> bool) {
        self.heap.retain(|Reverse(entry)| keep(entry.number));
    }

    /// Removes the next wake-up and returns its number.
    #[inline]
    pub fn pop(&mut self) -> Option<u64> {
        let Reverse(entry) = self.heap.pop()?;
        self.now = entry.at;
        Some(entry.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pops_by_time_then_in_order_of_scheduling() {
        let mut agenda = Agenda::default();
        for (at, number) in [(5, 30), (3, 20), (5, 10), (3, 40)] {
            agenda.schedule(at, number);
        }
        let mut order = Vec::new();
        while let (Some(at), Some(number)) = (agenda.next_time(), agenda.pop()) {
            order.push((at, number));
        }
        assert_eq!(order, [(3, 20), (3, 40), (5, 30), (5, 10)]);
    }
}
