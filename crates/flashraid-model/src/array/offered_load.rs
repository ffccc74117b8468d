//! Estimate of the load that requests put on the members of an array without failures.

use super::ArrayParams;
use super::stripe_pages::{StripePages, plan_write};
use super::stripes::next_sub_request;
use crate::placement::{ArrayLayout, RequestInPages, StripRoles};

/// Computes the load that requests offer to the members: the pages that each member must read and write for a request, parity included.
/// The time that this takes is not considered.
#[derive(Debug, Clone)]
pub struct MemberLoadCalculator {
    layout: ArrayLayout,
    pages: StripePages,
    reads: StripePages,
}

impl MemberLoadCalculator {
    /// Returns a calculator of the pages that requests make the members read and write, for an array with these parameters.
    pub fn new(params: &ArrayParams) -> Self {
        let layout = params.layout();
        let none = StripePages::empty(layout.stripe_shape().strips_per_stripe(), layout.strip_pages());
        Self { layout, pages: none.clone(), reads: none }
    }

    /// Calls `visit` once for each strip of which `request` reads or writes pages. A parity strip has a call of its own, and so has
    /// each copy of a strip. The arguments of `visit` are the number of the member, and the numbers of pages of the strip that are
    /// read and written there.
    pub fn visit_strip_reads_and_writes(&mut self, request: &RequestInPages, mut visit: impl FnMut(u32, u32, u32)) {
        let shape = self.layout.stripe_shape();
        let mut extents = self.layout.extents(request).peekable();
        while extents.peek().is_some() {
            self.pages.clear();
            self.reads.clear();
            let stripe = next_sub_request(&self.layout, &mut extents, request.contiguous_on_one_member, &mut self.pages);
            if request.is_write() && shape.parity_strips > 0 {
                plan_write(shape, StripRoles::default(), &mut self.pages, &mut self.reads);
            } else if !request.is_write() {
                std::mem::swap(&mut self.pages, &mut self.reads);
            }
            let copies = self.layout.copies_of_each_page();
            for role in StripRoles(self.pages.touched_roles().0 | self.reads.touched_roles().0).iter() {
                let (read, written) = (self.reads.page_count_of_strip(role), self.pages.page_count_of_strip(role));
                if read + written == 0 {
                    continue;
                }
                let first = self.layout.member_of_strip(stripe, role);
                let read_copy = self.layout.copy_in_turn(stripe);
                (0..copies).for_each(|copy| visit(first + copy, if copy == read_copy { read } else { 0 }, written));
            }
        }
    }
}
