//! The place where the parts of an SSD leave what they cause.

use super::job::{OpEnd, SsdWake};
use crate::coordination::{News, Notice};
use crate::events::{GcInterval, TimeNs};
use crate::ids::MemberId;

/// Units that a drive with superblocks has programmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Programmed {
    /// The moment at which they were on flash.
    pub at: TimeNs,
    /// The member that programmed them.
    pub member: MemberId,
    /// Places of units, those without data and of parity included.
    pub units: u64,
    /// Pages among them that collection has moved.
    pub pages_moved: u64,
}

/// Consequences of a call of an SSD. Their owner empties the lists after each call and uses them again.
#[derive(Debug, Clone, Default)]
pub struct Outbox {
    /// Moments at which the SSD goes on, in order of scheduling.
    pub wakes: Vec<(TimeNs, SsdWake)>,
    /// Ends of page operations.
    pub ends: Vec<OpEnd>,
    /// Collections, each reported when its end is known.
    pub collections: Vec<GcInterval>,
    /// News for the array's controller.
    pub notices: Vec<Notice>,
    /// Programs of drives with superblocks, in order of time.
    pub programmed: Vec<Programmed>,
}

impl Outbox {
    /// Wakes the SSD at `at`.
    #[inline]
    pub(super) fn wake(&mut self, at: TimeNs, wake: impl Into<SsdWake>) {
        self.wakes.push((at, wake.into()));
    }

    /// Tells the controller of the array.
    pub(super) fn report(&mut self, at: TimeNs, member: MemberId, news: News) {
        self.notices.push(Notice { at, member: member.0, news });
    }
}
