//! The room of the write buffer, and what waits for it or for its batches (rules 204 and 208).
//!
//! A *batch* is what is programmed together: a superpage, or a page. Batches have numbers in order of their begin.

use crate::events::TimeNs;
use crate::ssd::params::BufferParams;
use std::collections::{BTreeSet, VecDeque};

/// The write buffer, as far as it is the same for all SSDs.
#[derive(Debug, Clone, Default)]
pub struct Buffer {
    /// `None`: there is none, and writes go straight to their dies.
    params: Option<BufferParams>,
    /// Units of the host in it.
    used: u32,
    /// Write commands that have units to bring in, in order.
    entering: VecDeque<u32>,
    /// Batches begun so far.
    numbers: u64,
    /// Numbers of batches of the host that are not programmed.
    pending: BTreeSet<u64>,
    /// Flushes, each with the number of the first batch that it does not wait for.
    flushes: Vec<(u64, u32)>,
    /// Writes that are to survive a loss of power.
    forced: Vec<Forced>,
}

/// A write that waits for the programs of its batches.
#[derive(Debug, Clone)]
struct Forced {
    command: u32,
    batches: Vec<u64>,
    /// The write is not done earlier than this, as every write.
    not_before: TimeNs,
}

impl Buffer {
    pub fn new(params: Option<BufferParams>) -> Self {
        Self { params, ..Self::default() }
    }

    /// Returns true if there is a buffer.
    pub fn is_there(&self) -> bool {
        self.params.is_some()
    }

    pub fn ack_ns(&self) -> u64 {
        self.params.map_or(0, |params| params.ack_ns)
    }

    /// Returns true if the content survives a loss of power.
    pub fn is_protected(&self) -> bool {
        self.params.is_none_or(|params| params.is_protected)
    }

    pub fn linger_ns(&self) -> Option<u64> {
        self.params.and_then(|params| params.linger_ns)
    }

    /// Units of the host in it.
    pub fn used(&self) -> u32 {
        self.used
    }

    /// A unit takes room, if there is some.
    pub fn take_room(&mut self) -> bool {
        let units = self.params.map_or(0, |params| params.units);
        assert!(self.used <= units, "{} units are in a buffer of {units}", self.used);
        let has_room = self.used < units;
        self.used += u32::from(has_room);
        has_room
    }

    /// Units have left it.
    pub fn free_room(&mut self, units: u32) {
        assert!(units <= self.used, "{units} units leave a buffer with {}", self.used);
        self.used -= units;
    }

    /// A command has data for it.
    pub fn will_enter(&mut self, command: u32) {
        self.entering.push_back(command);
    }

    #[inline]
    pub fn first_to_enter(&self) -> Option<u32> {
        self.entering.front().copied()
    }

    /// The first command that enters has brought all.
    pub fn all_entered(&mut self) {
        let entered = self.entering.pop_front();
        assert!(entered.is_some(), "a command that has brought all was to enter");
    }

    /// The number of a batch that begins.
    pub fn next_number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers - 1
    }

    /// A batch holds what the host has written.
    pub fn begin_batch(&mut self, number: u64) {
        let is_new = self.pending.insert(number);
        assert!(is_new && number < self.numbers, "batch {number} begins once");
    }

    pub fn batch_ends(&mut self, number: u64) {
        let was_there = self.pending.remove(&number);
        assert!(was_there, "batch {number} has begun");
        for forced in &mut self.forced {
            forced.batches.retain(|&batch| batch != number);
        }
    }

    /// A write waits for batches.
    pub fn await_batches(&mut self, command: u32, batches: Vec<u64>, not_before: TimeNs) {
        self.forced.push(Forced { command, batches, not_before });
    }

    /// A flush waits for all that is in the buffer now, if that can be lost; returns whether it does.
    pub fn await_all(&mut self, command: u32) -> bool {
        let waits = !self.is_protected() && !self.pending.is_empty();
        if waits {
            self.flushes.push((self.numbers, command));
        }
        waits
    }

    /// Takes the first flush that has nothing left to wait for.
    pub fn next_flush(&mut self) -> Option<u32> {
        let first = self.pending.first().copied().unwrap_or(u64::MAX);
        let at = self.flushes.iter().position(|&(before, _)| before <= first)?;
        Some(self.flushes.remove(at).1)
    }

    /// Takes the first write that has nothing left to wait for, and the moment before which it is not done.
    pub fn next_forced(&mut self) -> Option<(u32, TimeNs)> {
        let at = self.forced.iter().position(|forced| forced.batches.is_empty())?;
        let Forced { command, not_before, .. } = self.forced.remove(at);
        Some((command, not_before))
    }
}
