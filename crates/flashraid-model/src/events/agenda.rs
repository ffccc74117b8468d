//! The agenda: a queue of wake-ups ordered by time. Wake-ups of the same time leave it in the order in which they were scheduled.
//!
//! An event that nothing can influence gets no wake-up. An idle die starts a command at once, for example, so its end is known from the
//! start. A request therefore costs one wake-up for its completion instead of one for each page.

use crate::TimeNs;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Queue of wake-ups that each carry a `W`.
#[derive(Debug, Clone)]
pub struct Agenda<W> {
    heap: BinaryHeap<Reverse<Entry<W>>>,
    scheduled: u64,
    /// Time of the last wake-up that was taken; none may be scheduled before it.
    now: TimeNs,
}

#[derive(Debug, Clone, Copy)]
struct Entry<W> {
    at: TimeNs,
    sequence: u64,
    wake: W,
}

impl<W> PartialEq for Entry<W> {
    fn eq(&self, other: &Self) -> bool {
        (self.at, self.sequence) == (other.at, other.sequence)
    }
}
impl<W> Eq for Entry<W> {}
impl<W> PartialOrd for Entry<W> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<W> Ord for Entry<W> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.sequence).cmp(&(other.at, other.sequence))
    }
}

impl<W> Default for Agenda<W> {
    fn default() -> Self {
        Self { heap: BinaryHeap::new(), scheduled: 0, now: 0 }
    }
}

impl<W> Agenda<W> {
    /// Adds a wake-up at the time `at`, in nanoseconds.
    ///
    /// # Panics
    /// Panics if `at` lies before the time of the last wake-up that was taken.
    #[inline]
    pub fn schedule(&mut self, at: TimeNs, wake: W) {
        assert!(at >= self.now, "nothing is scheduled for a time that is over");
        self.heap.push(Reverse(Entry { at, sequence: self.scheduled, wake }));
        self.scheduled += 1;
    }

    /// Returns the time of the next wake-up, or `None` if the agenda is empty.
    #[inline]
    pub fn next_time(&self) -> Option<TimeNs> {
        self.heap.peek().map(|Reverse(e)| e.at)
    }

    /// Removes every wake-up for which `keep` returns false.
    pub fn retain(&mut self, mut keep: impl FnMut(&W) -> bool) {
        self.heap.retain(|Reverse(entry)| keep(&entry.wake));
    }

    /// Removes and returns the next wake-up if its time is at most `until`.
    #[inline]
    pub fn pop_due(&mut self, until: TimeNs) -> Option<(TimeNs, W)> {
        if self.next_time()? > until {
            return None;
        }
        let Reverse(Entry { at, wake, .. }) = self.heap.pop()?;
        self.now = at;
        Some((at, wake))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pops_by_time_then_in_order_of_scheduling_and_not_before_it_is_due() {
        let mut agenda = Agenda::default();
        for (at, wake) in [(5, 'c'), (3, 'a'), (5, 'd'), (3, 'b')] {
            agenda.schedule(at, wake);
        }
        assert_eq!(agenda.pop_due(2), None);
        let order: String = std::iter::from_fn(|| agenda.pop_due(5).map(|(_, w)| w)).collect();
        assert_eq!(order, "abcd");
        assert_eq!(agenda.next_time(), None);
    }
}
