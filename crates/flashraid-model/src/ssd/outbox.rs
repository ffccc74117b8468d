//! Where the parts of an SSD leave what they cause.

use super::{OpEnd, SsdWake};
use crate::coordination::{News, Notice};
use crate::events::{GcInterval, TimeNs};
use crate::ids::MemberId;

/// Units that a drive with superblocks has programmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Programmed {
    /// When they were on flash.
    pub at: TimeNs,
    /// The member.
    pub member: MemberId,
    /// Places of units, those without data and of parity included.
    pub units: u64,
    /// Pages among them that collection has moved.
    pub pages_moved: u64,
}

/// What an SSD causes. Its owner empties it after each call and uses it again.
#[derive(Debug, Clone, Default)]
pub struct Outbox {
    /// Moments at which the SSD goes on, in order of scheduling.
    pub wakes: Vec<(TimeNs, SsdWake)>,
    /// Ends of page operations.
    pub ends: Vec<OpEnd>,
    /// Collections, each reported when its end is known.
    pub collections: Vec<GcInterval>,
    /// What concerns the array's controller.
    pub notices: Vec<Notice>,
    /// Programs of drives with superblocks, in order of time.
    pub programmed: Vec<Programmed>,
    /// Times for which a die has worked without a break, for the SSD itself.
    pub(super) worked: Vec<(TimeNs, TimeNs)>,
}

impl Outbox {
    /// Has the SSD go on at `at`.
    #[inline]
    pub(super) fn wake(&mut self, at: TimeNs, wake: impl Into<SsdWake>) {
        self.wakes.push((at, wake.into()));
    }

    /// Tells the controller of the array.
    pub(super) fn report(&mut self, at: TimeNs, member: MemberId, news: News) {
        self.notices.push(Notice { at, member: member.0, news });
    }
}
