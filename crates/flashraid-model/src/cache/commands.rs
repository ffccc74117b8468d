//! What a cache asks of the array that drives it.

use crate::TimeNs;
use crate::request::OpKind;

/// A destage: one of the slots of one of the caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Destage {
    /// 0 is the cache of the array or the first level, `m + 1` the cache of member m.
    pub cache: u16,
    /// The slot of that cache.
    pub slot: u16,
}

/// What an operation is for; it comes back when it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token {
    /// The pages of a host read that are in no cache.
    Read(u32),
    /// The pages of a host trim.
    Trim(u32),
    /// What is missing for the parity of a sub-request.
    Missing(u32),
    /// A destage.
    Destage(Destage),
}

/// What a wake-up is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CacheWake {
    /// The memory is done with a host request.
    Host(u32),
    /// The memory has read the pages of a destage.
    Taken(Destage),
    /// The memory has written what the first level has destaged into the member caches.
    Down(Destage),
}

/// Consecutive pages of the array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArrayExtent {
    /// First page of the array.
    pub first_page: u64,
    /// Pages, at least 1.
    pub pages: u32,
}

/// Consecutive pages of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemberExtent {
    /// The member.
    pub member: u32,
    /// First logical page of the member.
    pub first_page: u32,
    /// Pages, at least 1.
    pub pages: u32,
}

/// Something the array has to do, at once and in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// Reads, writes or trims pages of the array; those of a write lie in one stripe, whose parity is made once for all of them.
    Array {
        /// Which of [`Commands::array_extents`], in order of address.
        extents: (u32, u32),
        /// What is done with them.
        kind: OpKind,
        /// Comes back with [`done`](super::Cache::done).
        token: Token,
    },
    /// Reads or writes pages of members, without parity.
    Members {
        /// Which of [`Commands::member_extents`].
        extents: (u32, u32),
        /// Write rather than read.
        write: bool,
        /// Comes back with [`done`](super::Cache::done).
        token: Token,
    },
    /// Calls [`wake`](super::Cache::wake) at a later time or at the end of this moment.
    Wake {
        /// When.
        at: TimeNs,
        /// What for.
        wake: CacheWake,
    },
}

/// Commands that have not been carried out yet.
#[derive(Debug, Clone, Default)]
pub struct Commands {
    /// The commands.
    pub list: Vec<Command>,
    /// Pages of their array operations.
    pub array_extents: Vec<ArrayExtent>,
    /// Pages of their member operations.
    pub member_extents: Vec<MemberExtent>,
}

impl Commands {
    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.array_extents.clear();
        self.member_extents.clear();
    }

    pub(super) fn wake(&mut self, at: TimeNs, wake: CacheWake) {
        self.list.push(Command::Wake { at, wake });
    }

    /// An operation on the array extents from `from` on.
    pub(super) fn array(&mut self, from: usize, kind: OpKind, token: Token) {
        self.list.push(Command::Array { extents: (from as u32, self.array_extents.len() as u32), kind, token });
    }

    /// An operation on the member extents from `from` on.
    pub(super) fn members(&mut self, from: usize, write: bool, token: Token) {
        self.list.push(Command::Members { extents: (from as u32, self.member_extents.len() as u32), write, token });
    }

    /// Adds a page to the array extents that begin at `from`.
    pub(super) fn add_array_page(&mut self, from: usize, page: u64) {
        match self.array_extents[from..].last_mut() {
            Some(extent) if extent.first_page + u64::from(extent.pages) == page => extent.pages += 1,
            _ => self.array_extents.push(ArrayExtent { first_page: page, pages: 1 }),
        }
    }

    /// Adds a page to the member extents that begin at `from`.
    pub(super) fn add_member_page(&mut self, from: usize, member: u32, page: u32) {
        match self.member_extents[from..].last_mut() {
            Some(extent) if extent.member == member && extent.first_page + extent.pages == page => extent.pages += 1,
            _ => self.member_extents.push(MemberExtent { member, first_page: page, pages: 1 }),
        }
    }
}
