//! Output lists of an SSD, in which its parts leave everything that they cause elsewhere.

use super::job::{PageOpEnd, SsdWake};
use crate::coordination::Notice;
use crate::events::{TimeNs, VictimBlockCollection};
use crate::ids::MemberId;

/// Report that a drive with superblocks has programmed units. A unit is the piece of data that the drive's map places: one page or
/// several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MappingUnitsProgrammed {
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

/// Lists of events to schedule, ends of operations, collections and reports, which an SSD hands to its caller. Each call of a method
/// of the SSD adds to these lists. The caller empties them after each call, and reuses them.
#[derive(Debug, Clone, Default)]
pub struct SsdOutbox {
    /// Times at which the SSD must be called again, each with the reason, in the order in which they were scheduled.
    pub(crate) wakes: Vec<(TimeNs, SsdWake)>,
    /// Reports that page operations of the SSD have ended or will end, each with the time of the end.
    pub page_op_end_times: Vec<PageOpEnd>,
    /// Periods of garbage collection in the SSD, each with its start and end. A period is added to the list when its end is known.
    pub collections: Vec<VictimBlockCollection>,
    /// Reports of events in the SSD that the array's controller must know.
    pub(crate) notices: Vec<Notice>,
    /// Reports of programs in a drive with superblocks, in order of time. Each says how many mapping units (pieces of one page or
    /// several) were programmed.
    pub programmed: Vec<MappingUnitsProgrammed>,
}

impl SsdOutbox {
    /// Schedules a call of the SSD at the time `at`. The reason for the call is `wake`.
    #[inline]
    pub(super) fn wake(&mut self, at: TimeNs, wake: impl Into<SsdWake>) {
        self.wakes.push((at, wake.into()));
    }
}
