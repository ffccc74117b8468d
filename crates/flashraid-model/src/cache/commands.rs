//! Commands that a cache gives to the array that drives it.

use crate::TimeNs;
use crate::request::OpKind;
use std::ops::Range;

/// A destage in progress, identified by its cache and the slot that it uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Destage {
    /// Number of the cache: 0 for the cache of the array or the first level, `m + 1` for the cache of member m.
    pub(crate) cache: u16,
    /// Number of the slot in that cache.
    pub(crate) slot: u16,
}

/// Purpose of an operation that the cache asked for, such as a certain host read or a certain destage. The array passes it back when
/// the operation is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token {
    /// A read of those pages of a host read that are in no cache. The number identifies the host read.
    Read(u32),
    /// The trim that the array carries out for one whole host trim, on all members concerned. The number identifies the host trim.
    Trim(u32),
    /// A read of the pages that a sub-request (the pages of one write in one stripe) lacks to compute its parity. The number identifies
    /// the sub-request.
    ReadForParity(u32),
    /// A write of the pages of this destage, from a cache to the members.
    Destage(Destage),
}

/// Reason why the cache asked to be called at a later time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CacheWake {
    /// The cache memory has finished the host request with this number.
    HostRequestFinished(u32),
    /// The cache memory has read the pages of this destage.
    PagesRead(Destage),
    /// The cache memory has written the pages of this destage into the member caches. The pages came from the first level, the cache in
    /// front of the member caches.
    FirstLevelDestageWritten(Destage),
}

/// Consecutive pages of the array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ArrayExtent {
    /// Number of the first of these pages, counted from the start of the array.
    pub(crate) first_page: u64,
    /// Number of pages, at least 1.
    pub(crate) pages: u32,
}

/// Consecutive pages of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MemberExtent {
    /// Number of the member.
    pub(crate) member: u32,
    /// Number of the first of these logical pages, counted from the start of the member.
    pub(crate) first_page: u64,
    /// Number of pages, at least 1.
    pub(crate) pages: u32,
}

impl MemberExtent {
    /// Returns the logical pages, counted from the start of the member.
    pub(crate) fn pages_on_member(&self) -> Range<u64> {
        self.first_page..self.first_page + u64::from(self.pages)
    }
}

/// A command for the array, which performs all commands at once and in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Command {
    /// Reads, writes or trims pages of the array. The pages of a write lie in one stripe, whose parity is computed once for all of them.
    AccessArray {
        /// Pages of the array to read, write or trim, in order of address. The pages are those in [`Commands::array_extents`] from the
        /// first index up to, but without, the second.
        extent_index_bounds: (u32, u32),
        /// Kind of operation on the pages.
        kind: OpKind,
        /// Purpose of this operation, such as a certain host read or a certain destage. The array passes it back to
        /// [`done`](super::Cache::done) when the operation has ended.
        token: Token,
    },
    /// Reads or writes pages of members directly. Parity pages among them are treated like all others, and the array computes no
    /// parity.
    AccessMembers {
        /// Pages of members to read or write. The pages are those in [`Commands::member_extents`] from the first index up to, but
        /// without, the second.
        extent_index_bounds: (u32, u32),
        /// True to write the pages, false to read them.
        kind: OpKind,
        /// Purpose of this operation, such as a certain host read or a certain destage. The array passes it back to
        /// [`done`](super::Cache::done) when the operation has ended.
        token: Token,
    },
    /// Asks the array to call [`wake`](super::Cache::wake) at a later time. If it is the present time, the call comes after all other
    /// events of this nanosecond.
    ScheduleCacheWake {
        /// Time at which the array must call the cache, in nanoseconds.
        at: TimeNs,
        /// Work that the cache will continue when the array calls it. The array passes this value to [`wake`](super::Cache::wake).
        wake: CacheWake,
    },
}

/// Commands that the array has not performed yet, with their pages.
#[derive(Debug, Clone, Default)]
pub(crate) struct Commands {
    /// The commands in order.
    pub(crate) list: Vec<Command>,
    /// Pages of the array that the commands refer to.
    pub(crate) array_extents: Vec<ArrayExtent>,
    /// Pages of members that the commands refer to.
    pub(crate) member_extents: Vec<MemberExtent>,
}

impl Commands {
    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.array_extents.clear();
        self.member_extents.clear();
    }

    pub(super) fn push_wake(&mut self, at: TimeNs, wake: CacheWake) {
        self.list.push(Command::ScheduleCacheWake { at, wake });
    }

    /// Adds an operation on the array extents from index `from` on.
    pub(super) fn push_array_operation(&mut self, from: usize, kind: OpKind, token: Token) {
        self.list.push(Command::AccessArray { extent_index_bounds: (from as u32, self.array_extents.len() as u32), kind, token });
    }

    /// Adds an operation on the member extents from index `from` on.
    pub(super) fn push_member_operation(&mut self, from: usize, kind: OpKind, token: Token) {
        self.list.push(Command::AccessMembers { extent_index_bounds: (from as u32, self.member_extents.len() as u32), kind, token });
    }

    /// Adds a page to the array extents that begin at index `from`.
    pub(super) fn add_array_page(&mut self, from: usize, page: u64) {
        match self.array_extents[from..].last_mut() {
            Some(extent) if extent.first_page + u64::from(extent.pages) == page => extent.pages += 1,
            _ => self.array_extents.push(ArrayExtent { first_page: page, pages: 1 }),
        }
    }

    /// Adds a page to the member extents that begin at index `from`.
    pub(super) fn add_member_page(&mut self, from: usize, member: u32, page: u64) {
        match self.member_extents[from..].last_mut() {
            Some(extent) if extent.member == member && extent.first_page + u64::from(extent.pages) == page => extent.pages += 1,
            _ => self.member_extents.push(MemberExtent { member, first_page: page, pages: 1 }),
        }
    }
}
