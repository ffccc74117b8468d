//! Estimate of the load that requests put on the members of an array without failures.

use super::ArrayParams;
use super::stripe_pages::{StripePages, plan_write};
use super::stripes::next_sub_request;
use crate::placement::{ArrayLayout, Extent, RequestInPages, StripRoles};
use crate::request::OpKind;

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
    /// each copy of a strip that is accessed. The arguments of `visit` are the number of the member, and the numbers of pages of the strip
    /// that are read and written there. A trim reads and writes none.
    pub fn visit_strip_reads_and_writes(&mut self, request: &RequestInPages, mut visit: impl FnMut(u32, u32, u32)) {
        let shape = self.layout.stripe_shape();
        let extents = self.layout.extents(request);
        if !(request.is_write() && shape.parity_strips > 0) {
            let accessed = |extent: &Extent| self.layout.members_to_access(extent, request.kind);
            match request.kind {
                OpKind::Read => extents.for_each(|extent| accessed(&extent).for_each(|member| visit(member, extent.pages, 0))),
                OpKind::Write => extents.for_each(|extent| accessed(&extent).for_each(|member| visit(member, 0, extent.pages))),
                OpKind::Trim | OpKind::Flush => {}
            }
            return;
        }
        let mut extents = extents.peekable();
        while extents.peek().is_some() {
            self.pages.clear();
            self.reads.clear();
            let stripe = next_sub_request(&self.layout, &mut extents, request.contiguous_on_one_member, &mut self.pages);
            plan_write(shape, StripRoles::default(), &mut self.pages, &mut self.reads);
            for role in StripRoles(self.pages.touched_roles().0 | self.reads.touched_roles().0).iter() {
                let (read, written) = (self.reads.page_count_of_strip(role), self.pages.page_count_of_strip(role));
                if read + written > 0 {
                    visit(self.layout.member_of_strip(stripe, role), read, written);
                }
            }
        }
    }
}
