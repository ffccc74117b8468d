//! Warm-ups, which bring a filled member to a working state without simulated time.

use super::{MemberCounters, Ssd};
use crate::space::superblocks::{ParityUnits, PointOfCycle, UnitOwners};

impl Ssd {
    /// Overwrites random pages, `overwrites` × the exported capacity in all (rule 24). It works die by die, so that the tables of one die
    /// stay in the processor's cache. Afterwards counters start from zero, but erase counts continue.
    pub fn warm_up(&mut self, overwrites: f64, seed: u64) {
        self.warm_up_while(overwrites, seed, &mut |_| true);
    }

    /// Warms up like [`Ssd::warm_up`], and calls `go_on` with the share that is done, from 0 to 1. If `go_on` returns false, this
    /// function stops and returns false. The state of the SSD must not be used then.
    pub fn warm_up_while(&mut self, overwrites: f64, seed: u64, go_on: &mut dyn FnMut(f64) -> bool) -> bool {
        let done = self.space.warm_up(overwrites, seed, self.parts.member.0, go_on);
        self.parts.counters = MemberCounters::default();
        done
    }

    /// Puts this SSD into the steady state of uniform random writes, if it has superblocks (rule 215). An SSD with pools of blocks stays as
    /// it is. This takes no time, because the place of a unit is computed when it is needed.
    ///
    /// SSDs with the same `point` stand at the same point between two collections.
    pub fn make_steady(&mut self, seed: u64, point: PointOfCycle) {
        self.space.make_steady(seed, self.parts.member.0, point);
    }

    /// Fills this SSD anew with units that have the placement handles of their streams (rule 221). An SSD without superblocks, or with a
    /// single handle, stays as it is.
    ///
    /// `owners_of` gets the number of pages in a unit and the number of units. It returns the first unit and the handle of each range of
    /// units, in order of address. It also returns the units of parity, if these have a handle of their own.
    pub(crate) fn fill_by_owner(&mut self, owners_of: impl FnOnce(u32, u64) -> (Vec<(u64, u8)>, Option<ParityUnits>)) {
        let handles = self.parts.params.handles();
        let pages_per_unit = self.parts.params.pages_per_mapping_unit();
        let Some(superblocks) = self.space.as_mut().superblocks().filter(|_| handles > 1) else { return };
        let units = superblocks.shape.exported_mapping_units;
        let (ranges, parity) = owners_of(pages_per_unit, units);
        superblocks.fill_by_owner(UnitOwners::new(units, handles, &ranges, parity));
    }

    /// Ends a warm-up. Warm-up writes may have filled superpages (each the data of one program of a die) only in part. These
    /// superpages are closed: their remaining places are padded, and count as invalid. An SSD with pools of blocks stays as it is.
    pub fn end_warm_up_and_close_superpages(&mut self) {
        self.space.end_warm_up_and_close_superpages();
    }

    /// Writes logical pages in order, without simulated time and without counting them. Each page comes with its placement handle (as in
    /// [`LogicalPageOp`](super::LogicalPageOp)). Warm-ups with the workload's own addresses use this function.
    pub fn overwrite_untimed(&mut self, pages: &[(u64, u8)]) {
        self.dies.overwrite_untimed(&mut self.space, pages);
    }
}
