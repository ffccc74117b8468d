//! What happens next: a queue of wake-ups ordered by time, first scheduled first served among equals.
//!
//! Only what can be influenced in between gets a wake-up: an idle die starts a command at once and its end is known, so that
//! a request costs one wake-up for its completion and not one per page.

use crate::TimeNs;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Wake-ups carrying a `W`.
#[derive(Debug, Clone)]
pub struct Agenda<W> {
    heap: BinaryHeap<Reverse<Entry<W>>>,
    scheduled: u64,
    /// When the last one was taken: none is scheduled before.
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
    /// Adds a wake-up.
    ///
    /// # Panics
    /// It lies before one that has been taken.
    #[inline]
    pub fn schedule(&mut self, at: TimeNs, wake: W) {
        assert!(at >= self.now, "nothing is scheduled for a time that is over");
        self.heap.push(Reverse(Entry { at, sequence: self.scheduled, wake }));
        self.scheduled += 1;
    }

    /// The time of the next wake-up.
    #[inline]
    pub fn next_time(&self) -> Option<TimeNs> {
        self.heap.peek().map(|Reverse(e)| e.at)
    }

    /// Forgets the wake-ups that `keep` does not want.
    pub fn retain(&mut self, mut keep: impl FnMut(&W) -> bool) {
        self.heap.retain(|Reverse(entry)| keep(&entry.wake));
    }

    /// Takes the next wake-up if it is due by `until`.
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
