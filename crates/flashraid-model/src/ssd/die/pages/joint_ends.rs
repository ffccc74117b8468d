//! End times of host operations that overlap with a step of a clean, if no other die uses the pins (rule 37).

use crate::events::TimeNs;

/// End times of host operations that overlap with a step of a clean, computed in the order of the operations.
#[derive(Debug, Clone, Default)]
pub(super) struct JointEnds {
    /// End of the last transfer so far.
    transferred: TimeNs,
    /// End of the last operation so far.
    over: TimeNs,
    /// End of the clean's own step.
    clean_ends: TimeNs,
    /// Start and end of the last array operation on each plane.
    planes: Vec<(TimeNs, TimeNs)>,
}

impl JointEnds {
    /// Returns the state in which all planes of the die are free.
    pub(super) fn new(planes: u32) -> Self {
        Self { transferred: 0, over: 0, clean_ends: 0, planes: vec![(0, 0); planes as usize] }
    }

    /// Returns the end of the last operation.
    pub(super) fn over(&self) -> TimeNs {
        self.over
    }

    /// Returns the end of the clean's own step.
    pub(super) fn clean_ends(&self) -> TimeNs {
        self.clean_ends
    }

    /// Begins with a clean's step that is already in progress. The flash array finishes at `array_ends`, and the whole step ends at `ends`.
    pub(crate) fn begin_with_step(&mut self, plane: u32, array_ends: TimeNs, ends: TimeNs) {
        self.planes[plane as usize] = (0, array_ends);
        self.transferred = if array_ends < ends { ends } else { 0 };
        (self.over, self.clean_ends) = (ends, ends);
    }

    /// Adds a host read and returns its end. A page that lies on no plane of this die never waits for a plane.
    pub(super) fn read(&mut self, from: TimeNs, plane: Option<u32>, array_ns: u64, transfer_ns: u64) -> TimeNs {
        let mut alone = (0, 0);
        let (begin, end) = plane.map_or(&mut alone, |plane| &mut self.planes[plane as usize]);
        *begin = from.max(*end);
        *end = *begin + array_ns;
        self.transferred = self.transferred.max(*end) + transfer_ns;
        self.over = self.over.max(self.transferred);
        self.transferred
    }

    /// Adds the read of the clean.
    pub(crate) fn clean_read(&mut self, from: TimeNs, plane: u32, array_ns: u64, transfers_ns: u64) {
        self.clean_ends = self.read(from, Some(plane), array_ns, transfers_ns);
    }

    /// Adds a host program, whose page is transferred over the pins, and returns its end. The plane accepts the page as soon as its
    /// previous program has begun.
    pub(super) fn program(&mut self, from: TimeNs, plane: u32, transfer_ns: u64, program_ns: u64) -> TimeNs {
        let (begun, _) = self.planes[plane as usize];
        self.transferred = from.max(self.transferred).max(begun) + transfer_ns;
        self.program_on_plane(self.transferred, plane, program_ns)
    }

    /// Adds the clean's program and returns its end. The die has the page already, so no transfer is needed.
    pub(crate) fn clean_program(&mut self, from: TimeNs, plane: u32, program_ns: u64) -> TimeNs {
        self.clean_ends = self.program_on_plane(from, plane, program_ns);
        self.clean_ends
    }

    fn program_on_plane(&mut self, from: TimeNs, plane: u32, program_ns: u64) -> TimeNs {
        let (begin, end) = &mut self.planes[plane as usize];
        *begin = from.max(*end);
        *end = *begin + program_ns;
        self.over = self.over.max(*end);
        *end
    }
}
