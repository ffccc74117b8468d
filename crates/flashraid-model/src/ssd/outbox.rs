//! Where the parts of an SSD leave what they cause.

use super::{OpEnd, SsdWake};
use crate::coordination::{News, Notice};
use crate::events::{GcInterval, TimeNs};
use crate::ids::MemberId;

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
