//! The agenda: a queue of wake-ups ordered by time. Wake-ups of the same time leave it in the order in which they were scheduled.
//!
//! An event that nothing can influence gets no wake-up. For example, an idle die starts a command at once, so its end is known from the
//! start. A request therefore costs one wake-up for its completion instead of one for each page.

use crate::TimeNs;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Most wake-ups of the run that a new one is put before. With more, it goes to the heap.
const STEPS_MAX: usize = 32;
/// Number of wake-ups taken from the run after which their room is used again.
const TAKEN_MAX: usize = 256;

/// Queue of wake-ups, each with a number that says what to do then.
///
/// Most wake-ups are scheduled for a time after nearly all others. They are kept in a list in order of time, to which a new one is added
/// near the end. A heap takes the others. It would compare each wake-up about ten times, and the processor can't predict the results.
#[derive(Debug, Clone, Default)]
pub(crate) struct Agenda {
    /// Wake-ups in order of time, and before them `taken` ones that have left the agenda.
    run: Vec<Entry>,
    taken: usize,
    heap: BinaryHeap<Reverse<Entry>>,
    scheduled: u64,
    /// Time of the last wake-up that was taken; none may be scheduled before it.
    now: TimeNs,
}

/// Place of a wake-up in the order. No two entries have the same sequence number.
///
/// All parts have the width of a register. Entries that are written and read in different widths cost more than the rest.
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
    pub(crate) fn schedule(&mut self, at: TimeNs, number: u64) {
        assert!(at >= self.now, "nothing is scheduled for a time that is over");
        let entry = Entry { at, sequence: self.scheduled, number };
        self.scheduled += 1;
        let first = self.run.len().saturating_sub(STEPS_MAX);
        if first > self.taken && self.run[first].at > at {
            self.heap.push(Reverse(entry));
            return;
        }
        let mut place = self.run.len();
        self.run.push(entry);
        // Of the same time, the new one is the last.
        while place > self.taken && self.run[place - 1].at > at {
            self.run[place] = self.run[place - 1];
            place -= 1;
        }
        self.run[place] = entry;
    }

    /// Returns the time of the next wake-up, or `None` if the agenda is empty.
    #[inline]
    pub(crate) fn next_time(&self) -> Option<TimeNs> {
        let in_run = self.run.get(self.taken).map(|entry| entry.at);
        let Some(Reverse(entry)) = self.heap.peek() else { return in_run };
        Some(in_run.map_or(entry.at, |at| at.min(entry.at)))
    }

    /// Removes every wake-up for which `keep` returns false, given its number.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(u64) -> bool) {
        self.run.drain(..self.taken);
        self.taken = 0;
        self.run.retain(|entry| keep(entry.number));
        self.heap.retain(|Reverse(entry)| keep(entry.number));
    }

    /// Removes the next wake-up and returns its number.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<u64> {
        let in_run = self.run.get(self.taken);
        if let Some(Reverse(entry)) = self.heap.peek()
            && in_run.is_none_or(|first| entry < first)
        {
            self.now = entry.at;
            return self.heap.pop().map(|Reverse(entry)| entry.number);
        }
        let Entry { at, number, .. } = *in_run?;
        self.now = at;
        self.taken += 1;
        if self.taken >= TAKEN_MAX && 2 * self.taken >= self.run.len() {
            self.run.drain(..self.taken);
            self.taken = 0;
        }
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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

    proptest! {
        /// The list and the heap together are one queue. Some wake-ups are removed between two others.
        #[test]
        fn agrees_with_a_sorted_list(
            steps in prop::collection::vec((0u64..100, 0usize..3), 1..1500),
            pops_below in 1usize..4,
            spread in 1u64..2000,
            removed in 2u64..50,
        ) {
            let (mut agenda, mut list) = (Agenda::default(), std::collections::BTreeSet::new());
            let mut now = 0;
            for (number, (delay, pops)) in (0..).zip(steps) {
                let at = now + delay * spread / 100;
                agenda.schedule(at, number);
                list.insert((at, number));
                for _ in 0..pops % pops_below {
                    prop_assert_eq!(agenda.next_time(), list.first().map(|first| first.0));
                    let first = list.pop_first();
                    prop_assert_eq!(agenda.pop(), first.map(|first| first.1));
                    now = first.map_or(now, |first| first.0);
                }
                if number % 500 == 499 {
                    agenda.retain(|number| number % removed > 0);
                    list.retain(|(_, number)| number % removed > 0);
                }
            }
            while let Some((at, number)) = list.pop_first() {
                prop_assert_eq!((agenda.next_time(), agenda.pop()), (Some(at), Some(number)));
            }
            prop_assert_eq!(agenda.pop(), None);
        }
    }
}
