//! Plain types that the parts of an SSD pass to each other. The parts know these types, and these types know no part.

use crate::events::{TimeNs, TimeParts};
use crate::ids::{DieId, MemberId};
use crate::request::OpKind;

/// Time that never comes.
pub const NEVER: TimeNs = TimeNs::MAX;

/// A page to read, write or trim for the layer above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageOp {
    /// Number of the logical page in the member.
    pub page: u32,
    /// Kind of operation. It is never a flush, which concerns no page.
    pub kind: OpKind,
    /// True for a write that is done only when its data survive a loss of power.
    pub fua: bool,
    /// True for a write that must not wait for garbage collection.
    pub high_priority: bool,
    /// Stream of a mix to which its request belongs; 0 without a mix, and for operations of the array itself.
    pub source: u8,
    /// Number of the completion, which comes back with the end.
    pub completion: u32,
}

/// The end of a page operation. It may be reported before it happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpEnd {
    /// Number of the completion.
    pub completion: u32,
    /// Member that served the operation.
    pub member: MemberId,
    /// Time at which the page is done.
    pub at: TimeNs,
    /// True if the page waited while garbage collection occupied its die or plane.
    pub met_gc: bool,
    /// Parts of its time.
    pub time: TimeParts,
}

/// Work that is still to be done for what the host has written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Owed {
    /// Number of pages in buffers that are not programmed.
    pub buffered_pages: u64,
    /// Number of pages that collection must move.
    pub moves_pages: u64,
    /// Time of dies that the current collections still take, in nanoseconds.
    pub collection_ns: u64,
}

impl std::iter::Sum for Owed {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::default(), |sum, part| Self {
            buffered_pages: sum.buffered_pages + part.buffered_pages,
            moves_pages: sum.moves_pages + part.moves_pages,
            collection_ns: sum.collection_ns + part.collection_ns,
        })
    }
}

/// Wake-ups of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SsdWake {
    /// A wait of a worker ends.
    Worker {
        /// Die of the worker.
        die: DieId,
        /// Worker whose wait ends.
        worker: Worker,
        /// Number of the wait.
        number: u32,
    },
    /// A lazy die must be brought up to date.
    Die(DieId),
    /// A page has crossed this lane of the link.
    Crossed(u32),
    /// A transfer on this channel ends.
    Transferred(u32),
    /// The front has something to do.
    Front(FrontWake),
    /// Dies that take superpages continue.
    Superpages(SuperpageWake),
}

impl From<SuperpageWake> for SsdWake {
    fn from(wake: SuperpageWake) -> Self {
        Self::Superpages(wake)
    }
}

/// Wake-ups of a front.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrontWake {
    /// All page operations of a command have arrived.
    Ready(u32),
    /// The work at this core ends.
    Core(u32),
    /// A command that was fetched is done.
    Done,
    /// The latency of a command ends.
    Delayed(u32),
    /// The data of a write command have crossed the link.
    Crossed(u32),
    /// A die has begun to program this page of the buffer.
    Begun(u32),
    /// This page of the buffer has been programmed.
    Programmed(u32),
}

impl From<FrontWake> for SsdWake {
    fn from(wake: FrontWake) -> Self {
        Self::Front(wake)
    }
}

/// Wake-ups of dies that take superpages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SuperpageWake {
    /// An array read of a plane ends.
    ArrayRead(u32),
    /// The data of a read have left their die.
    ReadOut(u32),
    /// The job that occupies all planes of this die continues.
    Exclusive(u32),
    /// A suspension of this die begins or ends.
    Suspension(u32),
    /// The resumed job of this die has worked long enough to be suspended again.
    Progress(u32),
    /// A mechanism no longer occupies this die, or another one begins to.
    Held(u32),
    /// A superpage has been open for the longest allowed time. The number has the last bits of the superpage's number.
    Linger(u32),
    /// The drive has been idle long enough to collect. The number is that of the commands so far.
    Idle(u32),
}

/// Worker in a die: the command slot, the clean in a scope, or an operation that overlaps with a step of a clean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Worker(u32);

impl Worker {
    /// Worker that serves host operations.
    pub const SLOT: Self = Self(0);
    /// Number of the first companion. There are fewer scopes than this.
    const FIRST_COMPANION: u32 = 1 << 8;

    /// Returns the worker of the clean in a scope.
    pub(super) fn clean(scope: u32) -> Self {
        Self(scope + 1)
    }

    /// Returns the worker of an operation that overlaps with a step of a clean.
    pub(super) fn of_companion(number: usize) -> Self {
        Self(Self::FIRST_COMPANION + number as u32)
    }

    pub(super) fn scope(self) -> Option<u32> {
        self.0.checked_sub(1).filter(|_| self.0 < Self::FIRST_COMPANION)
    }

    pub(super) fn companion(self) -> Option<usize> {
        self.0.checked_sub(Self::FIRST_COMPANION).map(|number| number as usize)
    }
}

/// Origin of a page operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The array has sent it.
    Array,
    /// A page of this command, which has passed the front.
    Command(u32),
    /// The page of the write buffer with this number.
    Buffer(u32),
}

/// A page of a host read on its way through a drive with superblocks.
#[derive(Debug, Clone, Copy)]
pub struct Waiter {
    /// Number of the completion.
    pub completion: u32,
    /// Number of its command among those that were fetched.
    pub flight: u32,
    /// Arrival of its command.
    pub arrived: TimeNs,
    /// Time of its command at the core and of the latency after it, in nanoseconds.
    pub other_ns: u64,
    /// Work of its die before it joined the queue.
    pub before: WorkSnapshot,
}

/// Work that a die had done up to some time.
#[derive(Debug, Clone, Copy, Default)]
pub struct WorkSnapshot {
    /// Time for which the die had collected, in nanoseconds.
    pub collected_ns: u64,
    /// Time for which mechanisms had occupied the die while operations waited, in nanoseconds.
    pub held_ns: u64,
}

impl WorkSnapshot {
    /// Returns the work done since `earlier`.
    pub fn since(self, earlier: Self) -> Self {
        Self { collected_ns: self.collected_ns - earlier.collected_ns, held_ns: self.held_ns - earlier.held_ns }
    }
}

/// Reader of a unit.
#[derive(Debug, Clone, Copy)]
pub enum Reader {
    /// A read of the host.
    Host(Waiter),
    /// A superpage with a unit that the host wrote only in part.
    Rest(u32),
}

/// Cause of a clean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// A pool needs the clean.
    Needed,
    /// No operation waits for the die.
    Idle,
    /// The array's controller forces the clean.
    Forced,
}

/// Measures the total time for which something is on.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stopwatch {
    total_ns: u64,
    on: bool,
    since: TimeNs,
}

impl Stopwatch {
    /// Starts or stops the stopwatch.
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

/// Table whose entries keep their numbers. Removed entries are used again with the memory that they own.
#[derive(Debug, Clone)]
pub struct Table<T> {
    entries: Vec<T>,
    free: Vec<u32>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self { entries: Vec::new(), free: Vec::new() }
    }
}

impl<T: Default> Table<T> {
    /// Returns the number of a free entry.
    pub fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.entries.push(T::default());
            self.entries.len() as u32 - 1
        })
    }

    /// Frees an entry for later use.
    pub fn give_back(&mut self, number: u32) {
        debug_assert!((number as usize) < self.entries.len(), "nobody has taken entry {number}");
        self.free.push(number);
    }

    /// Returns the number of entries in use.
    pub fn taken(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// Returns all entries, with those that are not in use.
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
