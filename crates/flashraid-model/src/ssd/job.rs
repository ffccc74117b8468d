//! Plain types that the parts of an SSD pass to each other. The parts know these types, and these types know no part.

use crate::events::{TimeNs, TimeParts};
use crate::ids::{DieId, MemberId};
use crate::request::OpKind;

/// A moment that never comes.
pub const NEVER: TimeNs = TimeNs::MAX;

/// One page to read, write or trim for the layer above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageOp {
    /// Logical page of the member.
    pub page: u32,
    /// The kind of operation; never a flush, which concerns no page.
    pub kind: OpKind,
    /// A write that is done only when its data survive a loss of power.
    pub fua: bool,
    /// A write that must not wait for garbage collection.
    pub high_priority: bool,
    /// The part of a mix whose request it belongs to; 0 without a mix, and for what the array does by itself.
    pub source: u8,
    /// The completion to tell, which comes back with the end.
    pub completion: u32,
}

/// The end of a page operation; may lie in the future of the moment at which it is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpEnd {
    /// The completion of the operation.
    pub completion: u32,
    /// The member that has served it.
    pub member: MemberId,
    /// The moment at which the page is done.
    pub at: TimeNs,
    /// The page waited while garbage collection kept its die or plane busy.
    pub met_gc: bool,
    /// The parts of its time.
    pub time: TimeParts,
}

/// Work that is still to be done for what the host has written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Owed {
    /// Pages that are in buffers and are not programmed.
    pub buffered_pages: u64,
    /// Pages that collection is to move.
    pub moves_pages: u64,
    /// Time of dies that collections which have begun still take, in nanoseconds.
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

/// A moment at which a member has to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SsdWake {
    /// A wait of a worker is over.
    Worker {
        /// The die of the worker.
        die: DieId,
        /// The worker that waits.
        worker: Worker,
        /// Number of the wait.
        number: u32,
    },
    /// A die that proceeds lazily has to catch up.
    Die(DieId),
    /// A page has crossed that lane of the link.
    Crossed(u32),
    /// A transfer on that channel is over.
    Transferred(u32),
    /// The front goes on.
    Front(FrontWake),
    /// Dies that work on superpages go on.
    Superpages(SuperpageWake),
}

impl From<SuperpageWake> for SsdWake {
    fn from(wake: SuperpageWake) -> Self {
        Self::Superpages(wake)
    }
}

/// A moment at which a front goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrontWake {
    /// All page operations of a command are there.
    Ready(u32),
    /// A core is done.
    Core(u32),
    /// A command that was fetched is done.
    Done,
    /// The latency of a command is over.
    Delayed(u32),
    /// The data of a write command have crossed the link.
    Crossed(u32),
    /// The page of the buffer with that number has its die.
    Begun(u32),
    /// The page of the buffer with that number is programmed.
    Programmed(u32),
}

impl From<FrontWake> for SsdWake {
    fn from(wake: FrontWake) -> Self {
        Self::Front(wake)
    }
}

/// A moment at which dies that work on superpages go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SuperpageWake {
    /// An array read of a plane is over.
    ArrayRead(u32),
    /// The data of a read have left their die.
    ReadOut(u32),
    /// The job that has all planes of a die goes on.
    Exclusive(u32),
    /// A die is suspended, or what was suspended there goes on.
    Suspension(u32),
    /// The suspended job of a die has worked long enough to be suspended again.
    Progress(u32),
    /// A mechanism does not hold a die any more, or another one does.
    Held(u32),
    /// A superpage has been open for as long as it may; the last bits of its number.
    Linger(u32),
    /// Nothing has come for as long as idle collection waits; the commands so far.
    Idle(u32),
}

/// A worker in a die: the command slot, the clean in a scope, or an operation done together with a step of a clean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Worker(u32);

impl Worker {
    /// The worker that serves host operations.
    pub const SLOT: Self = Self(0);
    /// The first of those that are done together; there are fewer scopes than this.
    const FIRST_COMPANION: u32 = 1 << 8;

    /// The clean in a scope.
    pub(super) fn clean(scope: u32) -> Self {
        Self(scope + 1)
    }

    /// One of those that are done together with a step of a clean.
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

/// The origin of a page operation of a die.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The array asks for it.
    Array,
    /// A page of the command with that number, which has come through the front.
    Command(u32),
    /// The page of the write buffer with that number.
    Buffer(u32),
}

/// A page of a host read on its way through a drive with superblocks.
#[derive(Debug, Clone, Copy)]
pub struct Waiter {
    /// The completion to tell.
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
pub struct Before {
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

/// The reader of a unit.
#[derive(Debug, Clone, Copy)]
pub enum Reader {
    /// The host reads it.
    Host(Waiter),
    /// A superpage one of whose units the host wrote a part of.
    Rest(u32),
}

/// The cause of a clean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// A pool needs it.
    Needed,
    /// No operation waits for the die.
    Idle,
    /// The controller of the array wants it.
    Forced,
}

/// The time for which something has gone on.
#[derive(Debug, Clone, Copy, Default)]
pub struct Clock {
    total_ns: u64,
    on: bool,
    since: TimeNs,
}

impl Clock {
    /// Starts or stops the clock.
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
