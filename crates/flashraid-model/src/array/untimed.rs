//! Changes to the members before the first request, which take no simulated time. The warm-up uses them.

use super::volume::Volume;
use super::{Array, ArrayLayout, RequestInPages};
use crate::ids::MemberId;
use crate::ssd::Ssd;
use std::ops::Range;

/// Access to the members of an array before its first request, to change them without simulated time.
#[derive(Debug)]
pub struct UntimedAccess<'a>(&'a mut Volume);

/// Pages of the array that belong to a stream of a mix of workloads before the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnedPages {
    /// Pages of the array.
    pub pages: Range<u64>,
    /// Number of the stream in the mix.
    pub stream: u8,
}

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

    /// Fills the members anew, so that units of superblocks have the placement handles of the streams that they belong to (rules 221
    /// and 280).
    /// `owners` has ranges in order of address that do not overlap. All other pages belong to stream 0.
    ///
    /// Spares, and members without superblocks or with a single handle, stay as they are.
    pub fn fill_by_owner(self, owners: &[OwnedPages]) {
        let Volume { layout, members, .. } = self.0;
        let layout = *layout;
        for (member, ssd) in (0..layout.members()).zip(&mut members.ssds) {
            let handles = &members.handles;
            ssd.fill_by_owner(|pages_per_unit, units| {
                let mut ranges = ranges_of_member(&layout, member, owners, pages_per_unit, units);
                ranges.iter_mut().for_each(|(_, stream)| *stream = handles.of_stream(*stream));
                (ranges, handles.parity_units(MemberId(member), pages_per_unit))
            });
        }
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

/// Returns the first unit and the stream of each range of a member's units. A unit belongs to the stream of its first page, and parity to
/// that of the first data strip of its stripe.
fn ranges_of_member(layout: &ArrayLayout, member: u32, owners: &[OwnedPages], pages_per_unit: u32, units: u64) -> Vec<(u64, u8)> {
    // The pages of the array that units begin with rise from unit to unit.
    let first_unit_from = |page: u64| {
        let is_before = |unit: u64| layout.array_page_beside(member, unit * u64::from(pages_per_unit)).is_some_and(|at| at < page);
        let (mut low, mut high) = (0, units);
        while low < high {
            let middle = low + (high - low) / 2;
            if is_before(middle) { low = middle + 1 } else { high = middle }
        }
        low
    };
    let mut ranges: Vec<(u64, u8)> = vec![(0, 0)];
    for OwnedPages { pages, stream } in owners {
        for (page, stream) in [(pages.start, *stream), (pages.end, 0)] {
            let unit = first_unit_from(page);
            // Of ranges that begin with the same unit, all but the last one are empty.
            if ranges.last().is_some_and(|last| last.0 == unit) {
                ranges.pop();
            }
            if unit < units {
                ranges.push((unit, stream));
            }
        }
    }
    ranges
}
