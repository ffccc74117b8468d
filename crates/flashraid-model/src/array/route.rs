//! The way from pages of a stripe to members: the layout, and the replacements of failed members.

use super::failure::Failures;
use super::members::{Access, Members};
use super::stripe_pages::StripePages;
use crate::placement::{ArrayLayout, StripRoles};

/// The layout of an array, and the replacements of its failed members.
#[derive(Debug, Clone)]
pub(super) struct Route {
    pub(super) layout: ArrayLayout,
    pub(super) failures: Option<Failures>,
}

impl Route {
    /// Returns the roles of the strips of `stripe` of which no copy is left.
    #[inline]
    pub(super) fn lost(&self, stripe: u64) -> StripRoles {
        self.failures.as_ref().map_or(StripRoles::default(), |failures| failures.lost_strips.wholly_lost(&self.layout, stripe))
    }

    /// Returns the roles of the strips of `stripe` of which at least one copy is lost.
    #[inline]
    pub(super) fn partly_lost(&self, stripe: u64) -> StripRoles {
        self.failures.as_ref().map_or(StripRoles::default(), |failures| failures.lost_strips.partly_lost(&self.layout, stripe))
    }

    #[inline]
    pub(super) fn replacement(&self, member: u32, stripe: u64) -> Option<u32> {
        self.failures.as_ref().map_or(Some(member), |failures| failures.replacement(member, stripe))
    }

    /// Returns the member with a strip that is not lost.
    pub(super) fn member_of(&self, stripe: u64, role: u32) -> u32 {
        self.replacement(self.layout.member_of_strip(stripe, role), stripe).expect("it is not lost")
    }

    /// Returns the members with the copies of a strip that are not lost, in the order of turns.
    pub(super) fn copies_left(&self, stripe: u64, role: u32) -> impl Iterator<Item = u32> {
        let copies = self.layout.copies_of_each_page();
        let first_member = self.layout.member_of_strip(stripe, role);
        let first = self.layout.copy_in_turn(stripe);
        (0..copies).filter_map(move |copy| self.replacement(first_member + (first + copy) % copies, stripe))
    }

    /// Issues operations for `pages` of `stripe`, except for those of lost strips. Returns the number of page operations.
    pub(super) fn issue(&self, access: &Access, stripe: u64, pages: &StripePages, completion: u32, members: &mut Members) -> u32 {
        let mut issued = 0;
        self.for_each_page(access.is_read(), stripe, pages, |member, page| {
            members.submit(access, member, page, completion);
            issued += 1;
        });
        issued
    }

    /// Calls `each` with member and page for each operation that `pages` of `stripe` need, except for those of lost strips.
    #[inline(always)]
    pub(super) fn for_each_page(&self, is_read: bool, stripe: u64, pages: &StripePages, mut each: impl FnMut(u32, u64)) {
        let copies = self.layout.copies_of_each_page();
        let first_page = self.layout.stripe_first_page_on_member(stripe);
        let read_copy = if is_read { self.layout.copy_in_turn(stripe) } else { 0 };
        for role in pages.touched_roles().iter() {
            let first_member = self.layout.member_of_strip(stripe, role);
            for offset in pages.offsets_in_strip(role) {
                let left = (0..copies).filter_map(|copy| self.replacement(first_member + (read_copy + copy) % copies, stripe));
                left.take(if is_read { 1 } else { copies as usize }).for_each(|member| each(member, first_page + u64::from(offset)));
            }
        }
    }
}
