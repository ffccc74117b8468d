//! Changes to the members before the first request, which take no simulated time. The warm-up uses them.

use super::volume::Volume;
use super::{Array, RequestInPages};
use crate::ssd::Ssd;

/// Access to the members of an array before its first request, to change them without simulated time.
#[derive(Debug)]
pub struct UntimedAccess<'a>(&'a mut Volume);

impl Array {
    /// Returns access to the members that changes them without simulated time, as the warm-up does. It is possible only before the
    /// first request.
    ///
    /// # Panics
    /// Panics if a request has been submitted.
    pub fn untimed_access(&mut self) -> UntimedAccess<'_> {
        let Self { volume, advanced_before, last_arrival_ns, .. } = self;
        assert!(
            (*advanced_before, *last_arrival_ns) == (0, 0) && volume.members.completions.is_empty(),
            "nothing has been asked of the array"
        );
        UntimedAccess(volume)
    }
}

impl<'a> UntimedAccess<'a> {
    /// Returns the members, with the spares behind them.
    pub fn members(self) -> &'a mut [Ssd] {
        &mut self.0.members.ssds
    }

    /// Returns the members to warm up: all except blank spares.
    pub fn members_to_warm_up(self) -> &'a mut [Ssd] {
        let count = self.0.members.ssds.len() - self.0.blank_spares as usize;
        &mut self.0.members.ssds[..count]
    }

    /// Makes writes and trims of the run leave parity as it is: they go to their data strips alone, without locks and earlier reads.
    /// Nothing changes for an array without parity.
    ///
    /// # Panics
    /// Panics if members fail or a read plan uses parity, because either needs parity that is right. A write cache keeps parity of its
    /// own, which this does not change.
    pub fn stop_keeping_parity(self) {
        if let Some(stripes) = &mut self.0.stripes {
            stripes.stop_keeping_parity();
        }
    }

    /// Performs the page writes of `requests` without simulated time, for a warm-up with the workload's own addresses. Pass many requests
    /// at once: that is faster, because members are written one after another and die by die.
    pub fn overwrite(self, requests: &[RequestInPages]) {
        self.0.overwrite_untimed(requests);
    }
}
