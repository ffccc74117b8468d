//! Collection at the pace of host writes (rule 209). Each superpage of the host earns credits, and moves spend them.

use crate::ssd::params::SuperblockCollectionParams;

/// Balance that couples moves of collection to host writes.
#[derive(Debug, Clone)]
pub(crate) struct Paced {
    limits: SuperblockCollectionParams,
    /// Credits that host writes have earned and moves have not spent. A positive balance is a debt: collection owes moves to the host.
    credits: i128,
}

impl Paced {
    /// Returns a balance of 0 with these limits.
    pub(crate) fn new(limits: SuperblockCollectionParams) -> Self {
        Self { limits, credits: 0 }
    }

    /// Returns the pace × `span`, which grows as the number of free superblocks falls below the goal (rules 209 and 216).
    ///
    /// A `forced` drive has the greatest pace. A `controlled` drive does not collect above its floor. Superblocks that only wait for their
    /// erase count as free; `erased_soon` returns their number.
    pub(crate) fn pace(&self, free: u32, forced: bool, controlled: bool, erased_soon: impl FnOnce() -> u32) -> u32 {
        let greatest = 4 * self.limits.span;
        if forced {
            greatest
        } else if controlled && !self.is_at_floor(free) {
            0
        } else {
            // Otherwise empty victims would be chosen one after the other until the first is erased.
            self.goal().saturating_sub(free + erased_soon()).min(greatest)
        }
    }

    /// Returns true if dies prefer the work of collection to host programs at this pace.
    pub(crate) fn collection_first(&self, pace: u32) -> bool {
        pace > self.limits.span
    }

    /// Returns true if the drive counts as collecting at this pace (rule 214).
    pub(crate) fn counts_as_collecting(&self, pace: u32) -> bool {
        pace >= 2 * self.limits.span
    }

    /// Returns true if too few superblocks are free for another superpage of the host.
    pub(crate) fn is_at_floor(&self, free: u32) -> bool {
        free <= self.limits.floor
    }

    /// Returns the number of free superblocks that collection tries to keep.
    pub(crate) fn target(&self) -> u32 {
        self.limits.target
    }

    /// Returns the number of free superblocks above which nothing is collected.
    pub(crate) fn goal(&self) -> u32 {
        self.limits.goal_free_superblocks()
    }

    /// Adds the credits that `units` host units earn. The current victim has `valid` valid units.
    pub(crate) fn earn_credits(&mut self, units: u32, valid: u32, pace: u32) {
        self.credits += i128::from(units) * i128::from(valid) * i128::from(pace);
    }

    /// Returns the number of credits that moving one unit costs. `gained` is the number of units that collecting the victim frees.
    pub(crate) fn cost(&self, gained: u32) -> i128 {
        i128::from(gained) * i128::from(self.limits.span)
    }

    /// Returns the number of units that must be moved to pay off the debt, if a move costs `cost` credits.
    pub(crate) fn owed_units(&self, cost: i128) -> u64 {
        if self.credits > 0 { (self.credits / cost) as u64 } else { 0 }
    }

    /// Returns true if a debt of `owed_units` units stops host writes.
    pub(crate) fn exceeds_debt(&self, owed_units: u64) -> bool {
        owed_units > self.limits.move_backlog_max_mapping_units
    }

    /// Returns true if the balance allows another move of this cost.
    pub(crate) fn has_credit_for(&self, cost: i128) -> bool {
        self.credits >= cost
    }

    /// Spends the credits for moving `units` units. Moves that need no credit only reduce debt; they never give the host credit for later.
    pub(crate) fn spend(&mut self, units: u32, cost: i128, needs_no_credit: bool) {
        let after = self.credits - i128::from(units) * cost;
        self.credits = if needs_no_credit { after.max(self.credits.min(0)) } else { after };
    }
}

#[cfg(test)]
mod tests {
    use super::{Paced, SuperblockCollectionParams};

    fn paced() -> Paced {
        Paced::new(SuperblockCollectionParams { target: 6, span: 3, floor: 2, move_backlog_max_mapping_units: 10 })
    }

    #[test]
    fn pace_grows_as_superblocks_are_used_up() {
        let pace = |free, soon| paced().pace(free, false, false, || soon);
        assert_eq!([pace(9, 0), pace(6, 0), pace(6, 2), pace(3, 0), pace(0, 0)], [0, 3, 1, 6, 9]);
        assert!(!paced().collection_first(pace(6, 0)) && paced().collection_first(pace(5, 0)));
        assert!(!paced().counts_as_collecting(pace(4, 0)) && paced().counts_as_collecting(pace(3, 0)));
    }

    #[test]
    fn a_controller_decides_above_the_floor() {
        let pace = |free, forced| paced().pace(free, forced, true, || 0);
        assert_eq!([pace(3, false), pace(2, false), pace(8, true)], [0, 7, 12]);
    }

    #[test]
    fn moves_without_need_of_credit_leave_none() {
        let mut paced = paced();
        let cost = paced.cost(10);
        paced.earn_credits(5, 20, 3);
        assert_eq!((paced.owed_units(cost), paced.has_credit_for(cost)), (10, true));
        assert!(!paced.exceeds_debt(10) && paced.exceeds_debt(11));
        paced.spend(12, cost, true);
        assert_eq!((paced.owed_units(cost), paced.credits), (0, 0));
        paced.spend(2, cost, false);
        assert_eq!(paced.credits, -60);
        paced.spend(2, cost, true);
        assert_eq!(paced.credits, -60, "what is owed to collection stays owed");
    }
}
