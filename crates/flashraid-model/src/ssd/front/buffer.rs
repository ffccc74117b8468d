//! Room of the write buffer, and the commands that wait for room or for programs (rules 204 and 208).
//!
//! A *batch* is the data that are programmed together: a superpage or a page. Batches are numbered in the order in which they begin.

use crate::events::TimeNs;
use crate::ssd::params::BufferParams;
use std::collections::{BTreeSet, VecDeque};

/// Room of the write buffer, and the commands that wait for it. Both kinds of dies use it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Buffer {
    /// Settings of the buffer. With `None`, writes go directly to their dies.
    params: Option<BufferParams>,
    /// Number of host units in the buffer.
    used: u32,
    /// Write commands some units of which are not in the buffer yet, in order.
    entering: VecDeque<u32>,
    /// Number of batches that have begun.
    numbers: u64,
    /// Numbers of the host batches that have not been programmed.
    pending: BTreeSet<u64>,
    /// Waiting flushes. Each waits for all batches before the given number.
    flushes: Vec<(u64, u32)>,
    /// Writes that must be safe from a loss of power and wait for their programs.
    durable_writes: Vec<DurableWrite>,
}

/// A write that waits for the programs of its batches.
#[derive(Debug, Clone)]
struct DurableWrite {
    command: u32,
    batches: Vec<u64>,
    /// Earliest time at which the write may be done.
    not_before: TimeNs,
}

impl Buffer {
    pub(crate) fn new(params: Option<BufferParams>) -> Self {
        Self { params, ..Self::default() }
    }

    /// Returns true if there is a buffer.
    pub(crate) fn exists(&self) -> bool {
        self.params.is_some()
    }

    pub(crate) fn ack_ns(&self) -> u64 {
        self.params.map_or(0, |params| params.settings.ack.ns)
    }

    /// Returns true if the contents of the buffer survive a loss of power.
    pub(crate) fn is_protected(&self) -> bool {
        self.params.is_none_or(|params| params.settings.protected)
    }

    pub(crate) fn linger_ns(&self) -> Option<u64> {
        self.params.and_then(|params| params.settings.linger.map(|time| time.ns))
    }

    /// Returns the number of host units in the buffer.
    pub(crate) fn used(&self) -> u32 {
        self.used
    }

    /// Returns the number of host units for which the buffer has room.
    pub(crate) fn room(&self) -> u32 {
        self.params.map_or(0, |params| params.capacity_mapping_units - self.used)
    }

    /// Reserves room for a unit. Returns false if the buffer is full.
    pub(crate) fn take_room(&mut self) -> bool {
        let units = self.params.map_or(0, |params| params.capacity_mapping_units);
        assert!(self.used <= units, "{} units are in a buffer of {units}", self.used);
        let has_room = self.used < units;
        self.used += u32::from(has_room);
        has_room
    }

    /// Frees the room of `units` units.
    pub(crate) fn free_room(&mut self, units: u32) {
        assert!(units <= self.used, "{units} units leave a buffer with {}", self.used);
        self.used -= units;
    }

    /// Adds a write command to the queue of those that enter the buffer.
    pub(crate) fn enqueue_for_buffer(&mut self, command: u32) {
        self.entering.push_back(command);
    }

    #[inline]
    pub(crate) fn first_in_queue(&self) -> Option<u32> {
        self.entering.front().copied()
    }

    /// Removes the first command from that queue, because all its units are in the buffer.
    pub(crate) fn remove_first_of_queue(&mut self) {
        let entered = self.entering.pop_front();
        assert!(entered.is_some(), "a command that has brought all was to enter");
    }

    /// Returns the number for a batch that begins.
    pub(crate) fn next_number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers - 1
    }

    /// Records that a batch with data of the host begins.
    pub(crate) fn begin_batch(&mut self, number: u64) {
        let is_new = self.pending.insert(number);
        assert!(is_new && number < self.numbers, "batch {number} begins once");
    }

    pub(crate) fn batch_ends(&mut self, number: u64) {
        let was_there = self.pending.remove(&number);
        assert!(was_there, "batch {number} has begun");
        for durable_writes in &mut self.durable_writes {
            durable_writes.batches.retain(|&batch| batch != number);
        }
    }

    /// Makes a write wait for the programs of these batches.
    pub(crate) fn await_batches(&mut self, command: u32, batches: Vec<u64>, not_before: TimeNs) {
        self.durable_writes.push(DurableWrite { command, batches, not_before });
    }

    /// Makes a flush wait until everything that is in the buffer now has been programmed. Returns false if there is nothing to wait for.
    pub(crate) fn await_all(&mut self, command: u32) -> bool {
        let waits = !self.is_protected() && !self.pending.is_empty();
        if waits {
            self.flushes.push((self.numbers, command));
        }
        waits
    }

    /// Removes and returns the first flush whose batches have all been programmed.
    pub(crate) fn next_flush(&mut self) -> Option<u32> {
        let first = self.pending.first().copied().unwrap_or(u64::MAX);
        let at = self.flushes.iter().position(|&(before, _)| before <= first)?;
        Some(self.flushes.remove(at).1)
    }

    /// Removes and returns the first durable write whose batches have all been programmed, with the earliest time at which it may end.
    pub(crate) fn next_durable_write(&mut self) -> Option<(u32, TimeNs)> {
        let at = self.durable_writes.iter().position(|durable_writes| durable_writes.batches.is_empty())?;
        let DurableWrite { command, not_before, .. } = self.durable_writes.remove(at);
        Some((command, not_before))
    }
}
