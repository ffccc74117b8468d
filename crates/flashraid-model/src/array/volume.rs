//! The members as one volume: operations on pages of the array become page operations on members, with parity and lost members.

use super::RequestInPages;
use super::failure::Step;
use super::members::{Access, Completion, Continuation, Issued, Members, ServedPages};
use super::stripes::Stripes;
use crate::TimeNs;
use crate::cache::MemberExtent;
use crate::placement::{ArrayLayout, Extent};
use crate::request::OpKind;

/// The members, and the layout of the array's pages on them.
#[derive(Debug, Clone)]
pub(super) struct Volume {
    pub(crate) layout: ArrayLayout,
    pub(crate) members: Members,
    /// Parity and lost members; `None` for an array that has neither.
    pub(crate) stripes: Option<Box<Stripes>>,
    /// Number of spares without data.
    pub(crate) blank_spares: u32,
}

impl Volume {
    /// Issues an operation on pages of the array. Consecutive extents of one stripe are written together; with `by_strip`, each strip is
    /// written by itself.
    #[inline]
    pub(super) fn issue(
        &mut self,
        access: &Access,
        extents: impl Iterator<Item = Extent>,
        by_strip: bool,
        continuation: Continuation,
    ) -> Issued {
        let by_stripe = self.stripes.as_ref().is_some_and(|stripes| stripes.are_needed_for(access));
        if !by_stripe && self.members.are_immediate() {
            return self.serve(access.now, access.kind, extents, continuation);
        }
        let open = self.members.open_completion(continuation);
        let ends = match &mut self.stripes {
            Some(stripes) if by_stripe => stripes.submit(access, extents, by_strip, open.completion_number(), &mut self.members),
            _ => self.issue_directly(access, extents, open.completion_number()),
        };
        // A trim of parts of stripes waits for nothing.
        self.members.close_completion(open, ends, access.now);
        self.members.issued()
    }

    /// Reads or writes pages of members, without parity.
    pub(crate) fn issue_on_members(&mut self, access: &Access, extents: &[MemberExtent], continuation: Continuation) -> Issued {
        if self.stripes.is_none() && self.members.are_immediate() {
            let as_one = |extent: &MemberExtent| Extent {
                first_member: extent.member,
                mirror_copies: 1,
                first_page: extent.first_page,
                pages: extent.pages,
            };
            return self.serve(access.now, access.kind, extents.iter().map(as_one), continuation);
        }
        let open = self.members.open_completion(continuation);
        let mut operations = 0;
        for extent in extents {
            operations += match &self.stripes {
                Some(stripes) => stripes.issue_on_members(access, extent, open.completion_number(), &mut self.members),
                None => {
                    for page in extent.pages_on_member() {
                        self.members.submit(access, extent.member, page, open.completion_number());
                    }
                    extent.pages
                }
            };
        }
        self.members.close_completion(open, operations, access.now);
        self.members.issued()
    }

    /// Issues an operation that concerns no page, such as a flush, to every member.
    pub(crate) fn issue_everywhere(&mut self, access: &Access, continuation: Continuation) -> Issued {
        let open = self.members.open_completion(continuation);
        let members = self.members.ssds.len() as u32;
        (0..members).for_each(|member| self.members.submit(access, member, 0, open.completion_number()));
        self.members.close_completion(open, members, access.now);
        self.members.issued()
    }

    /// Ends an operation that concerns no page at once.
    pub(crate) fn issue_nothing(&mut self, now: TimeNs, continuation: Continuation) -> Issued {
        let open = self.members.open_completion(continuation);
        self.members.close_completion(open, 0, now);
        self.members.issued()
    }

    /// Serves extents whose end times are known at once, because the members are immediate and no strip is lost.
    #[inline(always)]
    fn serve(&mut self, now: TimeNs, kind: OpKind, extents: impl Iterator<Item = Extent>, continuation: Continuation) -> Issued {
        let mut served = ServedPages::NONE;
        for extent in extents {
            let members = self.layout.members_to_access(&extent, kind);
            for page in extent.pages_on_member() {
                for member in members.clone() {
                    self.members.serve_page(&mut served, now, kind, member, page);
                }
            }
        }
        self.members.complete_served(&served, now, kind, continuation);
        self.members.issued()
    }

    /// Issues page operations on the members that the layout names, and returns their number.
    #[inline]
    fn issue_directly(&mut self, access: &Access, extents: impl Iterator<Item = Extent>, completion: u32) -> u32 {
        let mut operations = 0;
        for extent in extents {
            let members = self.layout.members_to_access(&extent, access.kind);
            operations += extent.pages * members.len() as u32;
            for page in extent.pages_on_member() {
                for member in members.clone() {
                    self.members.submit(access, member, page, completion);
                }
            }
        }
        operations
    }

    /// Ends a phase of an operation on a stripe. Returns the failed member and the stripe if that rebuilt a strip.
    pub(crate) fn phase_ended(&mut self, now: TimeNs, operation: u32, after_refusal: bool, phase: &Completion) -> Option<(u32, u64)> {
        self.stripes.as_mut()?.phase_ended(now, operation, after_refusal, phase, &mut self.members)
    }

    /// Records that sub-read `nth` of a read has ended. A sub-read is all that the read wants of one strip. If the read takes long, its
    /// data may also be read elsewhere, and the first answer counts (hedging).
    pub fn sub_read_ended(&mut self, now: TimeNs, operation: u32, nth: u32, completion: &Completion) {
        if let Some(stripes) = &mut self.stripes {
            stripes.sub_read_ended(now, operation, nth, completion, &mut self.members);
        }
    }

    /// Continues an operation on a stripe that has waited for this moment.
    pub(super) fn continue_operation(&mut self, now: TimeNs, operation: u32) -> Issued {
        if let Some(stripes) = &mut self.stripes {
            stripes.continue_operation(now, operation, &mut self.members);
        }
        self.members.issued()
    }

    /// Performs the next step of a failure or of rebuilding that is due.
    pub(crate) fn step_failures(&mut self, now: TimeNs) -> Option<Step> {
        self.stripes.as_mut()?.step(now, &mut self.members)
    }

    /// Returns a function that returns the member which stands in for a member in a stripe: itself, its spare, or none.
    pub(crate) fn replacement(&self) -> impl Fn(u32, u64) -> Option<u32> {
        let stripes = self.stripes.as_deref();
        move |member, stripe| stripes.map_or(Some(member), |stripes| stripes.replacement(member, stripe))
    }

    /// Performs page writes without simulated time. The members are written one after another, and die by die.
    pub(super) fn overwrite_untimed(&mut self, requests: &[RequestInPages]) {
        let mut pages_of_members = vec![Vec::new(); self.members.ssds.len()];
        let handles = &self.members.handles;
        let mut write = |member: u32, page: u64, source: u8| {
            pages_of_members[member as usize].push((page, handles.of_write(source, member, page)));
        };
        if let Some(stripes) = &mut self.stripes {
            // Blank spares get their contents by rebuilding.
            let spares: Vec<(u32, u32)> = match self.blank_spares {
                0 => stripes.progress().iter().filter_map(|failure| Some((failure.member, failure.spare_member?))).collect(),
                _ => Vec::new(),
            };
            requests.iter().for_each(|request| stripes.overwrite_untimed(request, &spares, &mut write));
        } else {
            for (extent, source) in requests.iter().flat_map(|request| self.layout.extents(request).map(|extent| (extent, request.stream)))
            {
                for member in extent.first_member..extent.first_member + extent.mirror_copies {
                    extent.pages_on_member().for_each(|page| write(member, page, source));
                }
            }
        }
        for (member, pages) in self.members.ssds.iter_mut().zip(&pages_of_members) {
            member.overwrite_untimed(pages);
        }
    }
}
