//! The words between read plans and the part of the array that reads as they decide.

use super::super::locks::StripeLocks;
use super::super::members::Members;
use super::super::route::Route;
use super::super::stripe_pages::StripePages;
use crate::TimeNs;
use crate::placement::{StripRoles, StripeShape};
use crate::ssd::ReadForecast;

/// A part of a read: what it asks for in one stripe or, with mirrors, in one strip. Through it, a plan looks at the members.
pub(in crate::array) struct Part<'a> {
    pub(in crate::array) now: TimeNs,
    pub(in crate::array) stripe: u64,
    /// Pages that the part asks for, or that are read before a write.
    pub(in crate::array) pages: &'a StripePages,
    /// Roles of the strips of which no copy is left.
    pub(in crate::array) lost: StripRoles,
    /// Members with the copies that are left, in the order of turns, with mirrors. Empty with parity.
    pub(in crate::array) copies: Vec<u32>,
    pub(in crate::array) route: &'a Route,
    pub(in crate::array) locks: &'a mut StripeLocks,
    pub(in crate::array) members: &'a mut Members,
    /// True if the part holds the lock of its stripe.
    pub(in crate::array) has_lock: bool,
}

impl Part<'_> {
    /// Returns the same part with other pages that it asks for.
    pub(super) fn asking_for<'b>(&'b mut self, pages: &'b StripePages) -> Part<'b> {
        let Self { now, stripe, lost, has_lock, .. } = *self;
        Part {
            now,
            stripe,
            pages,
            lost,
            copies: self.copies.clone(),
            route: self.route,
            locks: self.locks,
            members: self.members,
            has_lock,
        }
    }

    pub(super) fn shape(&self) -> StripeShape {
        self.route.layout.stripe_shape()
    }

    /// Takes a share of the lock of the stripe, without which no strip may be computed from the others. Returns false if the part must
    /// do without.
    pub(super) fn share_lock(&mut self) -> bool {
        self.has_lock = self.has_lock || self.locks.try_share(self.stripe);
        self.has_lock
    }

    /// Returns the member with a strip that is not lost.
    pub(super) fn member_of(&self, role: u32) -> u32 {
        self.route.member_of(self.stripe, role)
    }

    /// Looks at a strip that is not lost, with parity. It is looked at where the part asks for it. A strip for which the part does not ask
    /// is looked at where the part asks for any strip.
    pub(super) fn look_at_strip(&mut self, role: u32) -> ReadForecast {
        let pages: Vec<u32> =
            if self.pages.roles().has(role) { self.pages.offsets_in_strip(role).collect() } else { self.pages.offsets().collect() };
        self.look_at(self.member_of(role), pages)
    }

    /// Looks at one of the copies that are left, where the part asks for it.
    pub(super) fn look_at_copy(&mut self, copy: usize) -> ReadForecast {
        self.look_at(self.copies[copy], self.pages.offsets().collect())
    }

    /// Returns what a member tells of reads at these offsets of its strip (rule 241). The reads count as arriving.
    fn look_at(&mut self, member: u32, offsets: Vec<u32>) -> ReadForecast {
        let first_page = self.route.layout.stripe_first_page_on_member(self.stripe);
        let mut forecast = ReadForecast::not_on_flash(self.now);
        for offset in offsets {
            let page = first_page + u64::from(offset);
            let _taken_later = self.members.act_on_member(member, |ssd, out| forecast = forecast.combine(ssd.busy(self.now, page, out)));
        }
        forecast
    }
}

/// Action with a part of a read, as its plan decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::array) enum ReadAction {
    /// Reads what is asked for where it lies: from the first copy that is left. Lost pages follow from the first parity strips.
    Read,
    /// Computes the `replaced` columns and the lost ones from all other columns and from these `parity` strips. What the part does not ask
    /// for is read after a time, in nanoseconds.
    ReadAround { replaced: StripRoles, parity: StripRoles, after_ns: u64 },
    /// Reads one of the copies that are left, counted in the order of turns, after a time in nanoseconds.
    ReadCopy { copy: usize, after_ns: u64 },
}

/// Event of a part whose strips are read by themselves (rules 247 to 249).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::array) enum LateRead {
    /// The part begins to read.
    Began,
    /// A strip has been read from a member. It was not read elsewhere, and nothing of it was dropped.
    StripRead { now: TimeNs, member: u32, took_ns: u64 },
    /// The part is late, and reads this number of pages elsewhere.
    ReadElsewhere { pages: u32 },
    /// The part is late, and another operation holds the lock that it needs to read elsewhere.
    LockedOut,
    /// The part is late, and there is no other way to its data.
    WithoutOtherWay,
    /// The part has ended, perhaps by what was read elsewhere. Some pages were read in vain.
    Ended { by_other_way: bool, pages_in_vain: u64 },
    /// This number of pages of a part that has ended was dropped unread.
    Abandoned { pages: u64 },
}
