//! What the parts of an SSD say to each other; they know these types, and these types know none of them.

use crate::coordination::Work;
use crate::events::TimeNs;

/// No such moment.
pub(super) const NEVER: TimeNs = TimeNs::MAX;

/// Who wants a page operation of a die.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// The array.
    Array,
    /// A page of the command with that number, which has come through the front.
    Command(u32),
    /// The page of the write buffer with that number.
    Buffer(u32),
}

/// A page of a host read on its way through a drive with superblocks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waiter {
    /// Whom to tell.
    pub completion: u32,
    /// The number of its command among those in flight.
    pub flight: u32,
    /// Arrival of its command.
    pub arrived: TimeNs,
    /// Time of its command at the core, and the latency behind that.
    pub other_ns: u64,
    /// Work of its die until it joined the queue.
    pub before: Before,
}

/// Work of a die until a moment.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Before {
    /// Nanoseconds for which it had collected.
    pub collected_ns: u64,
    /// Nanoseconds for which mechanisms had held it while something waited.
    pub held_ns: u64,
}

impl Before {
    /// Returns the work since `earlier`.
    pub fn since(self, earlier: Self) -> Self {
        Self { collected_ns: self.collected_ns - earlier.collected_ns, held_ns: self.held_ns - earlier.held_ns }
    }
}

/// Who wants a unit read.
#[derive(Debug, Clone, Copy)]
pub(super) enum Reader {
    /// The host.
    Host(Waiter),
    /// A superpage one of whose units the host wrote a part of.
    Rest(u32),
}

/// How far a superpage is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Stage {
    /// It takes units.
    #[default]
    Filling,
    /// It takes no more and waits for data, for leave, for a die, or in the queue of one.
    Closed,
    /// Its program has begun: its units can't be replaced any more.
    Programming,
}

/// Why a clean begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    /// A pool needs it.
    Needed,
    /// Nothing waits.
    Idle,
    /// The controller of the array wants it.
    Forced,
}

/// Work that the controller has forced a die to do.
#[derive(Debug, Clone, Copy)]
pub(super) struct Forced {
    /// All of it.
    pub work: Work,
    /// Of work that begins with one victim: the scopes whose cleans count and go on, as bits; `None` before there is one.
    pub counted: Option<u64>,
}

impl Forced {
    /// What is to be done when the one victim has been cleaned, or there is none.
    pub fn after_one_victim(self) -> Option<Self> {
        (self.work == Work::VictimAndWatermark).then_some(Self { work: Work::Watermark, counted: None })
    }

    /// The work begins with one victim, whatever the free blocks.
    pub fn begins_with_one_victim(self) -> bool {
        matches!(self.work, Work::OneVictim | Work::VictimAndWatermark)
    }
}

/// The time for which something has gone on.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Clock {
    total_ns: u64,
    on: bool,
    since: TimeNs,
}

impl Clock {
    /// It goes on from now on, or it does not.
    #[inline]
    pub fn set(&mut self, at: TimeNs, on: bool) {
        if self.on {
            self.total_ns += at - self.since;
        }
        (self.on, self.since) = (on, at);
    }

    pub fn is_on(&self) -> bool {
        self.on
    }

    #[inline]
    pub fn at(&self, at: TimeNs) -> u64 {
        self.total_ns + if self.on { at - self.since } else { 0 }
    }
}

/// Entries by number, used again with what they own.
#[derive(Debug, Clone)]
pub(super) struct Table<T> {
    entries: Vec<T>,
    free: Vec<u32>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self { entries: Vec::new(), free: Vec::new() }
    }
}

impl<T: Default> Table<T> {
    /// A number for an entry, which may be a used one.
    pub fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.entries.push(T::default());
            self.entries.len() as u32 - 1
        })
    }

    /// Makes a number free for another entry.
    pub fn give_back(&mut self, number: u32) {
        debug_assert!((number as usize) < self.entries.len(), "nobody has taken entry {number}");
        self.free.push(number);
    }

    /// Entries that are taken.
    pub fn taken(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// All entries, those that are not taken included.
    pub fn entries(&self) -> impl Iterator<Item = &T> {
        self.entries.iter()
    }
}

impl<T> std::ops::Index<u32> for Table<T> {
    type Output = T;
    #[inline]
    fn index(&self, number: u32) -> &T {
        &self.entries[number as usize]
    }
}

impl<T> std::ops::IndexMut<u32> for Table<T> {
    #[inline]
    fn index_mut(&mut self, number: u32) -> &mut T {
        &mut self.entries[number as usize]
    }
}
