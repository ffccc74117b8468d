//! Strips of failed members that have not been rebuilt, and which data of a stripe can still be read (rules 58 and 155).

use super::{ArrayLayout, StripeShape};

/// The set of lost strips, by member and stripe.
#[derive(Debug, Clone)]
pub(crate) struct LostStrips {
    stripes: u64,
    members: Vec<Lost>,
}

/// The lost strips of one member.
#[derive(Debug, Clone)]
struct Lost {
    member: u32,
    /// One bit for each stripe, which is set if the strip is lost.
    strips: Vec<u64>,
    left: u64,
}

impl LostStrips {
    /// Returns an empty set for an array of `stripes` stripes.
    pub(crate) fn none(stripes: u64) -> Self {
        Self { stripes, members: Vec::new() }
    }

    /// Adds all strips of a member that fails. The member must not have failed before.
    pub(crate) fn add_failed_member(&mut self, member: u32) {
        let words = usize::try_from(self.stripes.div_ceil(64)).expect("the pages of a member fit the memory");
        self.members.push(Lost { member, strips: vec![u64::MAX; words], left: self.stripes });
    }

    /// Removes a strip that has been rebuilt.
    pub(crate) fn remove_rebuilt_strip(&mut self, member: u32, stripe: u64) {
        if let Some(at) = self.members.iter().position(|lost| lost.member == member) {
            let lost = &mut self.members[at];
            let (word, bit) = (&mut lost.strips[(stripe / 64) as usize], 1 << (stripe % 64));
            lost.left -= u64::from(*word & bit != 0);
            *word &= !bit;
            if lost.left == 0 {
                self.members.remove(at);
            }
        }
    }

    /// Returns true if no strip is lost.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Returns the members that have lost strips, as bits.
    pub(crate) fn members(&self) -> u128 {
        self.members.iter().fold(0, |members, lost| members | 1 << lost.member)
    }

    /// Returns true if the strip of `member` in `stripe` is lost.
    #[inline]
    pub(crate) fn has(&self, member: u32, stripe: u64) -> bool {
        self.members.iter().any(|lost| lost.member == member && lost.strips[(stripe / 64) as usize] >> (stripe % 64) & 1 == 1)
    }

    /// Returns the roles of `stripe` of which at least one copy is lost.
    #[inline]
    pub(crate) fn partly_lost(&self, layout: &ArrayLayout, stripe: u64) -> StripRoles {
        let lost = self.members.iter().filter(|lost| self.has(lost.member, stripe));
        StripRoles(lost.fold(0, |roles, lost| roles | 1 << layout.strip_index_of_member(stripe, lost.member)))
    }

    /// Returns the roles of `stripe` of which every copy is lost.
    pub(crate) fn wholly_lost(&self, layout: &ArrayLayout, stripe: u64) -> StripRoles {
        let copies = layout.copies_of_each_page();
        let touched = self.partly_lost(layout, stripe);
        if copies == 1 {
            return touched;
        }
        let is_gone = |&role: &u32| {
            let first = layout.member_of_strip(stripe, role);
            (first..first + copies).all(|member| self.has(member, stripe))
        };
        StripRoles(touched.iter().filter(is_gone).fold(0, |roles, role| roles | 1 << role))
    }
}

/// The roles of lost strips in one stripe, as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct StripRoles(pub u128);

impl StripRoles {
    /// Returns true if the strip with this role is lost.
    #[inline]
    pub(crate) fn has(self, role: u32) -> bool {
        self.0 >> role & 1 == 1
    }

    /// Returns true if no strip is lost.
    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the roles in ascending order.
    #[inline]
    pub(crate) fn iter(self) -> impl Iterator<Item = u32> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let role = left.trailing_zeros();
            left &= left.wrapping_sub(1);
            (role < u128::BITS).then_some(role)
        })
    }

    /// Returns the number of data columns that are lost.
    pub(crate) fn count_data_strips(self, shape: StripeShape) -> u32 {
        (self.0 & (u128::MAX >> (u128::BITS - shape.data_strips))).count_ones()
    }

    /// Returns the roles of the parity strips that are not lost, in ascending order.
    pub(crate) fn parity_left(self, shape: StripeShape) -> impl Iterator<Item = u32> {
        (shape.data_strips..shape.strips_per_stripe()).filter(move |&parity| !self.has(parity))
    }

    /// Returns true if data cannot be reconstructed, because more data columns are lost than parity strips are left.
    ///
    /// With mirrors, call it on the roles whose copies are all lost ([`LostStrips::wholly_lost`]). It then returns true if there are any.
    #[inline]
    pub(crate) fn exceeds_parity(self, shape: StripeShape) -> bool {
        self.0 != 0 && self.count_data_strips(shape) as usize > self.parity_left(shape).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::placement::RaidLevel;

    #[test]
    fn strips_come_back_one_by_one_in_any_order() {
        let mut lost = LostStrips::none(3);
        lost.add_failed_member(2);
        assert!(lost.has(2, 0) && !lost.has(1, 0) && lost.members() == 4);
        lost.remove_rebuilt_strip(2, 1);
        lost.remove_rebuilt_strip(2, 1);
        assert!(lost.has(2, 0) && !lost.has(2, 1) && lost.has(2, 2));
        lost.remove_rebuilt_strip(2, 0);
        assert!(!lost.is_empty());
        lost.remove_rebuilt_strip(2, 2);
        assert!(lost.is_empty() && lost.members() == 0);
    }

    #[test]
    fn stripes_die_when_more_columns_are_lost_than_parity_is_left() {
        let layout = ArrayLayout::new(RaidLevel::Raid6, 5, 1, 10);
        // Stripe 0: Q 0 1 2 P.
        let of = |members: &[u32]| {
            let mut lost = LostStrips::none(10);
            members.iter().for_each(|&member| lost.add_failed_member(member));
            lost.wholly_lost(&layout, 0)
        };
        let shape = layout.stripe_shape();
        assert_eq!(of(&[1, 2]), StripRoles(0b11));
        assert_eq!(of(&[0, 4]).parity_left(shape).count(), 0);
        let dead = |members: &[u32]| of(members).exceeds_parity(shape);
        assert_eq!([dead(&[]), dead(&[1, 2]), dead(&[0, 4]), dead(&[1, 4])], [false; 4]);
        assert_eq!([dead(&[1, 2, 3]), dead(&[1, 2, 4]), dead(&[0, 1, 4])], [true; 3]);
    }

    #[test]
    fn mirrors_lose_a_strip_with_its_last_copy() {
        let layout = ArrayLayout::new(RaidLevel::Raid10, 4, 1, 10);
        let mut lost = LostStrips::none(10);
        lost.add_failed_member(2);
        assert_eq!((lost.partly_lost(&layout, 3), lost.wholly_lost(&layout, 3)), (StripRoles(0b10), StripRoles(0)));
        lost.add_failed_member(3);
        assert_eq!(lost.wholly_lost(&layout, 3), StripRoles(0b10));
        assert!(lost.wholly_lost(&layout, 3).exceeds_parity(layout.stripe_shape()));
        lost.remove_rebuilt_strip(3, 3);
        assert_eq!(lost.wholly_lost(&layout, 3), StripRoles(0));
    }
}
