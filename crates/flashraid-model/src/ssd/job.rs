//! Plain types that the parts of an SSD pass to each other. They depend on none of these parts.

use crate::events::{OperationTimeParts, TimeNs};
use crate::ids::{DieId, MemberId};
use crate::request::OpKind;

/// Time that is never reached.
pub(super) const NEVER: TimeNs = TimeNs::MAX;

/// A read, write or trim of one page. The array gives it to an SSD. Inside the SSD, the queues and the write buffer in front of the
/// dies pass such operations to the dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogicalPageOp {
    /// Number of the logical page in the member.
    pub logical_page: u64,
    /// Kind of operation. It is never a flush, which concerns no page.
    pub kind: OpKind,
    /// True for a write that must be safe from a loss of power before it counts as done.
    pub fua: bool,
    /// True for a write that must not wait for garbage collection.
    pub must_not_wait_for_gc: bool,
    /// Stream of its request in a mix of workloads. It is 0 without a mix, and for operations of the array itself.
    pub workload_stream: u8,
    /// Placement handle of a write, less than the number of handles of the member. It is a label that keeps data in separate superblocks.
    pub placement_handle: u8,
    /// Number by which the caller finds what waits for this operation. The end of the operation returns it in
    /// [`PageOpEnd::completion_tag`].
    pub completion_tag: u32,
}

/// The end of a page operation, which may lie in the future.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageOpEnd {
    /// Number that the caller gave with the operation in [`LogicalPageOp::completion_tag`].
    pub completion_tag: u32,
    /// Member that served the operation.
    pub member: MemberId,
    /// True if the operation is a read.
    pub is_read: bool,
    /// Time at which the operation ends, after all its waits, transfers and work of flash, in nanoseconds.
    pub at: TimeNs,
    /// True if the operation waited while garbage collection occupied its die or plane.
    pub(crate) met_gc: bool,
    /// Division of the operation's response time by causes, such as waits for collection and transfers.
    pub time_parts: OperationTimeParts,
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
pub struct PendingFlashWork {
    /// Number of pages in write buffers that have not been programmed.
    pub buffered_pages: u64,
    /// Number of pages that collection must still move.
    pub pages_to_move: u64,
    /// Number of pages, beyond `pages_to_move`, that collection would have to program to win back the free space that the measured time
    /// used up. It is an upper bound, at the price of the blocks with the fewest valid pages.
    pub credit_pages: u64,
    /// Time for which dies still have to work to finish the collections in progress, in nanoseconds, summed over the dies.
    pub remaining_collection_die_ns: u64,
}

/// Estimate of how much the host must still write until a member collects, and between two collections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CollectionOutlook {
    /// Number of host pages that the member can take before each of its dies has begun to collect.
    pub pages_until_collection: u64,
    /// Number of host pages between two collections of the rarest kind, at least 1. These are a forced cycle or a turn if the member
    /// takes part in the protocol. Otherwise, they are a clean of each die, or a moved superpage.
    pub pages_between_collections: u64,
}

impl std::iter::Sum for PendingFlashWork {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::default(), |sum, part| Self {
            buffered_pages: sum.buffered_pages + part.buffered_pages,
            pages_to_move: sum.pages_to_move + part.pages_to_move,
            credit_pages: sum.credit_pages + part.credit_pages,
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
        /// Worker of the die that has waited until now for the end of an operation, or of a step of it. A worker is the part of a die
        /// that does one thing at a time, such as serving host commands or collecting a block.
        worker: DieExecutionUnitId,
        /// Number of the wait that ends. A die numbers the waits of all its workers in one sequence. If the worker has left this wait
        /// before its end, the event has no effect. A worker is the part of a die that does one thing at a time, such as serving host
        /// commands or collecting a block.
        wait_number: u32,
    },
    /// The die with this number must process all its operations that have ended. To make the simulation faster, their ends have no
    /// events of their own. This event is scheduled only if the simulation would otherwise notice an end too late.
    Die(DieId),
    /// A page has crossed the link between the host and the SSD. The value is the lane (the direction of the transfer): 0 to the SSD, 1
    /// to the host. If one direction works at a time, lane 0 serves both.
    PageCrossedLink(u32),
    /// A transfer ends on the channel with this number.
    ChannelTransferEnds(u32),
    /// An event is due in the parts of the SSD in front of its dies: queues, processor cores, link and write buffer.
    FrontEndEvent(FrontWake),
    /// An event is due in a drive with superblocks, such as the end of a program. The value says which event.
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
    CoreWorkEnds(u32),
    /// A fetched command has ended, so that its queue may send the next one.
    CommandEnded,
    /// The fixed delay of the SSD's controller has passed for the command with this number. The delay began when the command left its
    /// processor core. The command starts its work now.
    ControllerDelayEnds(u32),
    /// The data of the write command with this number have crossed the link.
    DataCrossedLink(u32),
    /// A die has begun to program a page of the write buffer. The value is the number of the page's entry in the buffer's table.
    BufferedPageProgramBegun(u32),
    /// A page of the write buffer has been programmed. The value is the number of the page's entry in the buffer's table.
    Programmed(u32),
}

impl From<FrontWake> for SsdWake {
    fn from(wake: FrontWake) -> Self {
        Self::FrontEndEvent(wake)
    }
}

/// Scheduled events of dies that program superpages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SuperpageWake {
    /// The flash array of a die has finished a read for the host, and the page is in the register of its plane. The value is the number
    /// of the read.
    HostCellReadEnds(u32),
    /// The data of the host read with this number have been transferred from their die to the controller of the SSD.
    ReadTransferred(u32),
    /// A step of a job ends on the die with this number. The job needs all planes of the die, as programs, erases and reads of
    /// collection do. A step is a transfer, or work of the flash array.
    AllPlaneJobStepEnds(u32),
    /// The die with this number has stopped a program or erase to serve reads, or it now continues the one that it had stopped. Both
    /// take time, which ends with this event.
    SuspensionStepEnds(u32),
    /// The die with this number has continued a suspended program or erase for so long that it may be suspended again.
    MaySuspendAgain(u32),
    /// The time is over for which an optional mechanism (such as background work) occupied the die with this number.
    DieDelayMechanismEnds(u32),
    /// A superpage has been open for the longest allowed time, and is closed even if it is not full. The value is the low 32 bits of
    /// the superpage's sequence number. If that superpage has been closed already, nothing happens.
    OpenSuperpageTimedOut(u32),
    /// The wait for idle time ends. The value is the number of commands that had arrived when the wait began, counted from the start of
    /// the run, modulo 2^32. If the number is still the same, no command has arrived during the wait. The drive may then begin to
    /// collect in the background.
    IdleWaitEnds(u32),
}

/// Number of a worker of a die. A worker is a part of the die that does one thing at a time. Worker 0 serves host commands. The next
/// workers collect blocks, one for the whole die or one for each plane. Further workers perform host commands at the same time as a
/// step of collection, so that each needs a worker of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DieExecutionUnitId(u32);

impl DieExecutionUnitId {
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
    WriteBufferEntry(u32),
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
    PartialUnitWrite(u32),
}

/// Reason for the collection of a victim block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    /// The pool of the block needs collection, because it has too few free blocks.
    FreeBlocksNeeded,
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
