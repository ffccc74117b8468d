//! Output lists of an SSD, in which its parts leave everything that they cause elsewhere.

use super::job::{OpEnd, SsdWake};
use crate::coordination::{MemberEvent, Notice};
use crate::events::{GcInterval, TimeNs};
use crate::ids::MemberId;

/// Report that a drive with superblocks has programmed units. A unit is the piece of data that the drive's map places: one page or
/// several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnitsProgrammed {
    /// Time at which the programmed data were on flash, in nanoseconds.
    pub at: TimeNs,
    /// SSD of the array that programmed the data.
    pub member: MemberId,
    /// Number of programmed places, each of which has room for a unit of the mapping (one page or several, `ssd.superblock.unit`).
    /// Parity and padding (places without data) are counted, too.
    pub units: u64,
    /// Number of the programmed pages that collection moved; 0 if the host wrote the data, or if only parity was programmed.
    pub pages_moved: u64,
}

/// Everything that a call of an SSD causes elsewhere. The owner empties the lists after each call, and reuses them.
#[derive(Debug, Clone, Default)]
pub struct Outbox {
    /// Wake-ups of the SSD, in the order in which they were scheduled.
    pub(crate) wakes: Vec<(TimeNs, SsdWake)>,
    /// Ends of page operations.
    pub ends: Vec<OpEnd>,
    /// Collections. Each is reported when its end is known.
    pub collections: Vec<GcInterval>,
    /// Events in the member that the array's controller must know.
    pub(crate) notices: Vec<Notice>,
    /// Reports of units that drives with superblocks have programmed, in order of time. A unit is the piece of data that the map
    /// places.
    pub programmed: Vec<UnitsProgrammed>,
}

impl Outbox {
    /// Schedules a wake-up of the SSD at `at`.
    #[inline]
    pub(super) fn wake(&mut self, at: TimeNs, wake: impl Into<SsdWake>) {
        self.wakes.push((at, wake.into()));
    }

    /// Reports an event to the array's controller.
    pub(super) fn report(&mut self, at: TimeNs, member: MemberId, event: MemberEvent) {
        self.notices.push(Notice { at, member: member.0, event });
    }
}
