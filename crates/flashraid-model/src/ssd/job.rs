//! Plain types that the parts of an SSD pass to each other. They depend on none of these parts.

use crate::events::{TimeNs, TimeParts};
use crate::ids::{DieId, MemberId};
use crate::request::OpKind;

/// Time that is never reached.
pub(super) const NEVER: TimeNs = TimeNs::MAX;

/// A page to read, write or trim for the layer above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageOp {
    /// Number of the logical page in the member.
    pub page: u32,
    /// Kind of operation. It is never a flush, which concerns no page.
    pub kind: OpKind,
    /// True for a write that must be safe from a loss of power before it counts as done.
    pub fua: bool,
    /// True for a write that must not wait for garbage collection.
    pub high_priority: bool,
    /// Stream of its request in a mix of workloads. It is 0 without a mix, and for operations of the array itself.
    pub source: u8,
    /// Number by which the caller finds what waits for this operation. The end of the operation returns it in [`OpEnd::completion_number`].
    pub completion_number: u32,
}

/// The end of a page operation, which may lie in the future.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpEnd {
    /// Number that the caller gave with the operation in [`PageOp::completion_number`].
    pub completion_number: u32,
    /// Member that served the operation.
    pub member: MemberId,
    /// Time at which the page is done.
    pub at: TimeNs,
    /// True if the page waited while garbage collection occupied its die or plane.
    pub(crate) met_gc: bool,
    /// Division of the operation's response time by causes, such as waits for collection and transfers.
    pub time_parts: TimeParts,
}

/// Prospects of reads that would be sent to their dies now (rule 241). They ignore what stands before the dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ReadForecast {
    /// True if one of the pages lies where collection is in progress.
    pub(crate) meets_collection: bool,
    /// Estimated time at which the last of the reads begins.
    pub(crate) read_begins: TimeNs,
    /// Longest duration that any of the reads would have without waits, in nanoseconds.
    pub(crate) read_length_ns: u64,
}

impl ReadForecast {
    /// Returns the prospect of a read that touches no flash.
    pub(crate) fn not_on_flash(now: TimeNs) -> Self {
        Self { meets_collection: false, read_begins: now, read_length_ns: 0 }
    }

    /// Returns the prospect of all reads of both.
    #[must_use]
    pub(crate) fn combine(self, other: Self) -> Self {
        Self {
            meets_collection: self.meets_collection || other.meets_collection,
            read_begins: self.read_begins.max(other.read_begins),
            read_length_ns: self.read_length_ns.max(other.read_length_ns),
        }
    }

    /// Returns the estimated end of reads that are sent at `at`.
    pub(crate) fn end_if_sent_at(&self, at: TimeNs) -> TimeNs {
        self.read_begins.max(at) + self.read_length_ns
    }
}

/// Work that host writes have left to an SSD (or to several together) at one moment: programs of pages in write buffers, and garbage
/// collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UnfinishedWork {
    /// Number of pages in write buffers that have not been programmed.
    pub buffered_pages: u64,
    /// Number of pages that collection must still move.
    pub pages_to_move: u64,
    /// Time of dies that the collections in progress still need, in nanoseconds.
    pub remaining_collection_die_ns: u64,
}

impl std::iter::Sum for UnfinishedWork {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::default(), |sum, part| Self {
            buffered_pages: sum.buffered_pages + part.buffered_pages,
            pages_to_move: sum.pages_to_move + part.pages_to_move,
            remaining_collection_die_ns: sum.remaining_collection_die_ns + part.remaining_collection_die_ns,
        })
    }
}

/// Scheduled events of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SsdWake {
    /// The current wait of a worker ends. Each worker of a die does one thing at a time, such as serving host commands or collecting a
    /// block.
    Worker {
        /// Die to which the worker belongs. A worker is the part of a die that does one thing at a time, such as serving host commands.
        die: DieId,
        /// The worker of the die whose current wait ends. It may serve host commands, collect blocks, or perform a host command that
        /// overlaps with collection. Such a wait lasts until an operation, or a step of it, ends.
        worker: DieWorker,
        /// Number of the wait, counted over all waits of the die. The worker is the part of the die that waits, such as the one that
        /// serves host commands. If the worker has begun another wait since, the event has no effect.
        number: u32,
    },
    /// The state of a lazy die must be brought up to date. The waits of such a die end without events of their own.
    Die(DieId),
    /// A page has crossed the host link in one direction. Lane 0 leads to the SSD and lane 1 to the host; if one direction works at a
    /// time, lane 0 serves both.
    PageCrossedLink(u32),
    /// A transfer ends on the channel with this number.
    Transferred(u32),
    /// An event is due in the parts of the SSD in front of its dies: queues, processor cores, link and write buffer.
    Front(FrontWake),
    /// An event of dies that program superpages is due.
    Superpages(SuperpageWake),
}

impl From<SuperpageWake> for SsdWake {
    fn from(wake: SuperpageWake) -> Self {
        Self::Superpages(wake)
    }
}

/// Scheduled events in the parts of an SSD in front of its dies: queues, processor cores, link and write buffer. Numbers of commands are
/// those in the table of the commands in work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FrontWake {
    /// All page operations of the command with this number have arrived, so that no more can join it.
    CommandArrived(u32),
    /// The work of this processor core ends.
    Core(u32),
    /// A fetched command has ended, so that its queue may send the next one.
    CommandEnded,
    /// The fixed delay of the SSD's controller has passed for the command with this number. The command has had its processor core
    /// before, and starts work now.
    Delayed(u32),
    /// The data of the write command with this number have crossed the link.
    DataCrossedLink(u32),
    /// A die has begun to program a page of the write buffer. The value is the number of the page's entry in the buffer's table.
    ProgramBegun(u32),
    /// A page of the write buffer has been programmed. The value is the number of the page's entry in the buffer's table.
    Programmed(u32),
}

impl From<FrontWake> for SsdWake {
    fn from(wake: FrontWake) -> Self {
        Self::Front(wake)
    }
}

/// Scheduled events of dies that program superpages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SuperpageWake {
    /// The flash array of a die has finished a read for the host, and the page is in the register of its plane. The value is the number
    /// of the read.
    FlashArrayRead(u32),
    /// The data of the host read with this number have been transferred from their die to the controller of the SSD.
    ReadOut(u32),
    /// The current step of the job that occupies all planes of this die ends.
    ExclusiveStepEnds(u32),
    /// A step of a suspension ends on this die: the flash array has stopped, or it continues.
    SuspensionStepEnds(u32),
    /// The resumed job of this die has worked long enough to be suspended again.
    MaySuspendAgain(u32),
    /// The time is over for which an optional mechanism (such as background work) occupied the die with this number.
    MechanismEnds(u32),
    /// A superpage has been open for the longest allowed time. The value contains the last bits of its sequence number.
    LingerEnds(u32),
    /// The wait for idle time ends. If no command has arrived during the wait, the drive may begin to collect in the background. The
    /// value is the number of commands, modulo 2^32, that had arrived since the start of the run when the wait began. It shows if one
    /// has arrived since then.
    IdleWaitEnds(u32),
}

/// Number of a worker of a die. A worker has one task and does one thing at a time. One of them serves host commands. Others collect
/// blocks of the die or of one of its planes. Further ones perform host commands that overlap with a step of collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DieWorker(u32);

impl DieWorker {
    /// Worker that serves host operations.
    pub(crate) const SLOT: Self = Self(0);
    /// Number of the first overlapping operation. Lower numbers belong to scopes (dies or planes that a collection blocks), of which
    /// there are fewer.
    const FIRST_COMPANION: u32 = 1 << 8;

    /// Returns the worker that collects blocks in a scope (the die or plane that a collection blocks).
    pub(super) fn clean(scope: u32) -> Self {
        Self(scope + 1)
    }

    /// Returns the worker of a host operation that overlaps with a step of the collection of a block.
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

/// Sender of a page operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// The array has sent the operation.
    Array,
    /// The operation reads, writes or trims one page of the host command with this number. Commands exist if the SSD models queues,
    /// processor cores or a write buffer.
    Command(u32),
    /// The operation programs a page of the write buffer. The value is the number of the page's entry in the buffer's table, not its
    /// logical page number.
    Buffer(u32),
}

/// A page of a host read that waits to be served by a drive with superblocks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Waiter {
    /// Number of the completion.
    pub(crate) completion: u32,
    /// Number of its command among the fetched ones.
    pub(crate) fetched_id: u32,
    /// Arrival time of its command.
    pub(crate) arrived: TimeNs,
    /// Time that its command took at a processor core, and latency after that, in nanoseconds.
    pub(crate) other_ns: u64,
    /// Snapshot of its die's work at the time when it entered the queue.
    pub(crate) before: WorkSnapshot,
}

/// Amount of work that a die had done up to some time.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct WorkSnapshot {
    /// Time for which the die had collected, in nanoseconds.
    pub(crate) collected_ns: u64,
    /// Time for which optional mechanisms (such as background work) had occupied the die while operations had to wait, in nanoseconds.
    pub(crate) held_ns: u64,
}

impl WorkSnapshot {
    /// Returns the work done since `earlier`.
    pub(super) fn since(self, earlier: Self) -> Self {
        Self { collected_ns: self.collected_ns - earlier.collected_ns, held_ns: self.held_ns - earlier.held_ns }
    }
}

/// Reason for reading a unit of the mapping (one page or several, `ssd.superblock.unit`) from flash.
#[derive(Debug, Clone, Copy)]
pub(super) enum Reader {
    /// A host read needs data of a unit of the mapping (one page or several, `ssd.superblock.unit`) that lies on flash.
    Host(Waiter),
    /// The host wrote only a part of a unit of the mapping (one page or several, `ssd.superblock.unit`), so that its rest must be read.
    /// The unit waits in the buffered superpage with this number.
    RestOfUnit(u32),
}

/// Reason for the collection of a victim block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    /// The pool of the block needs collection, because it has too few free blocks.
    Needed,
    /// The die has been without operations for so long that it collects in idle time (`ssd.gc.idle`).
    Idle,
    /// The array's controller has ordered or permitted the member to collect, and the block is collected for that reason.
    Forced,
}

/// Measures the total time for which a condition holds.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Stopwatch {
    total_ns: u64,
    on: bool,
    since: TimeNs,
}

impl Stopwatch {
    /// Starts the stopwatch if `on`, and otherwise stops it.
    #[inline]
    pub(super) fn set(&mut self, at: TimeNs, on: bool) {
        if self.on {
            self.total_ns += at - self.since;
        }
        (self.on, self.since) = (on, at);
    }

    pub(super) fn is_on(&self) -> bool {
        self.on
    }

    #[inline]
    pub(super) fn at(&self, at: TimeNs) -> u64 {
        self.total_ns + if self.on { at - self.since } else { 0 }
    }
}

/// Table whose entries keep their numbers. A removed entry is reused together with the memory that it owns.
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
    /// Returns the number of an unused entry.
    pub(super) fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.entries.push(T::default());
            self.entries.len() as u32 - 1
        })
    }

    /// Makes an entry available again.
    pub(crate) fn recycle(&mut self, number: u32) {
        debug_assert!((number as usize) < self.entries.len(), "nobody has taken entry {number}");
        self.free.push(number);
    }

    /// Returns the number of entries in use.
    pub(super) fn taken(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// Returns all entries, including those that are not in use.
    pub(super) fn entries(&self) -> impl Iterator<Item = &T> {
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
