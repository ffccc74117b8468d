//! What a cache asks of the array that drives it.

use crate::TimeNs;

/// A destage: one of the slots of one of the caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Destage {
    /// 0 is the cache of the array or the front, `m + 1` the cache of member m.
    pub cache: u16,
    /// The slot of that cache.
    pub slot: u16,
}

/// What an operation was ordered for; comes back when it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token {
    /// The pages of a host read that are in no cache.
    Read(u32),
    /// What is missing for the parity of a part of a write.
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
    /// The memory has written what the front has destaged into the member caches.
    Down(Destage),
}

/// Consecutive pages of the array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArrayRun {
    /// First page of the array.
    pub first_page: u64,
    /// Pages, at least 1.
    pub pages: u32,
}

/// Consecutive pages of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemberRun {
    /// The member.
    pub member: u32,
    /// First logical page of the member.
    pub first_page: u32,
    /// Pages, at least 1.
    pub pages: u32,
}

/// Something the array has to do, at once and in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Reads or writes pages of the array; those of a write lie in one stripe, whose parity is made once for all of them.
    Array {
        /// Which of [`Orders::array_runs`], in order of address.
        runs: (u32, u32),
        /// Write rather than read.
        write: bool,
        /// Comes back with [`done`](super::Cache::done).
        token: Token,
    },
    /// Reads or writes pages of members, without parity.
    Members {
        /// Which of [`Orders::member_runs`].
        runs: (u32, u32),
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

/// Orders that have not been carried out yet.
#[derive(Debug, Clone, Default)]
pub struct Orders {
    /// The orders.
    pub list: Vec<Order>,
    /// Pages of their array operations.
    pub array_runs: Vec<ArrayRun>,
    /// Pages of their member operations.
    pub member_runs: Vec<MemberRun>,
}

impl Orders {
    /// Forgets all.
    pub fn clear(&mut self) {
        self.list.clear();
        self.array_runs.clear();
        self.member_runs.clear();
    }

    pub(super) fn wake(&mut self, at: TimeNs, wake: CacheWake) {
        self.list.push(Order::Wake { at, wake });
    }

    /// Orders the array runs from `from` on.
    pub(super) fn array(&mut self, from: usize, write: bool, token: Token) {
        self.list.push(Order::Array { runs: (from as u32, self.array_runs.len() as u32), write, token });
    }

    /// Orders the member runs from `from` on.
    pub(super) fn members(&mut self, from: usize, write: bool, token: Token) {
        self.list.push(Order::Members { runs: (from as u32, self.member_runs.len() as u32), write, token });
    }

    /// Adds a page to the array runs that begin at `from`.
    pub(super) fn add_array_page(&mut self, from: usize, page: u64) {
        match self.array_runs[from..].last_mut() {
            Some(run) if run.first_page + u64::from(run.pages) == page => run.pages += 1,
            _ => self.array_runs.push(ArrayRun { first_page: page, pages: 1 }),
        }
    }

    /// Adds a page to the member runs that begin at `from`.
    pub(super) fn add_member_page(&mut self, from: usize, member: u32, page: u32) {
        match self.member_runs[from..].last_mut() {
            Some(run) if run.member == member && run.first_page + run.pages == page => run.pages += 1,
            _ => self.member_runs.push(MemberRun { member, first_page: page, pages: 1 }),
        }
    }
}
