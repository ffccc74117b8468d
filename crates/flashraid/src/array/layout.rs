//! RAID arithmetic: where a page of the array lies (rule 2). Pure.

use super::{ArrayParams, Level, PageRequest};
use std::ops::Range;

/// Maps pages of the array to pages of members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    level: Level,
    members: u32,
    unit_pages: u32,
    /// Members that hold different data.
    columns: u32,
    /// Stripe units that a member exports.
    units_per_member: u64,
}

/// Consecutive pages of a request that lie on one member (and its mirrors) one behind the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// Where writes go: `members[..copies]`; reads go to `members[read_copy]`.
    pub first_member: u32,
    /// Members from `first_member` on that hold the same.
    pub copies: u32,
    /// The copy that reads use.
    pub read_copy: u32,
    /// First logical page on the member.
    pub first_page: u32,
    /// Pages.
    pub pages: u32,
}

impl Run {
    /// Members that a write goes to or a read comes from.
    #[inline]
    pub fn members(&self, write: bool) -> Range<u32> {
        if write {
            self.first_member..self.first_member + self.copies
        } else {
            self.first_member + self.read_copy..self.first_member + self.read_copy + 1
        }
    }
}

impl Layout {
    /// The layout of an array.
    pub fn new(params: &ArrayParams) -> Self {
        let columns = match params.level {
            Level::Single | Level::Raid1 => 1,
            Level::Raid0 => params.members,
            Level::Raid10 => params.members / 2,
        };
        Self {
            level: params.level,
            members: params.members,
            unit_pages: params.stripe_unit_pages,
            columns,
            units_per_member: params.ssd.exported_pages() / u64::from(params.stripe_unit_pages),
        }
    }

    /// Pages that the array exports.
    pub fn exported_pages(&self) -> u64 {
        self.units_per_member * u64::from(self.columns) * u64::from(self.unit_pages)
    }

    /// The runs of the pages of `request`, in order of address.
    #[inline]
    pub fn runs(&self, request: &PageRequest) -> impl Iterator<Item = Run> + '_ {
        let unit = u64::from(self.unit_pages);
        let columns = u64::from(self.columns);
        let strip = request.first_page / unit;
        let mut within = (request.first_page % unit) as u32;
        let mut column = (strip % columns) as u32;
        let mut row = strip / columns;
        let mut left = request.pages;
        let one_member = request.one_member;
        std::iter::from_fn(move || {
            if left == 0 {
                return None;
            }
            let pages = left.min(self.unit_pages - within);
            let (first_member, copies, read_copy) = match self.level {
                Level::Single | Level::Raid0 => (column, 1, 0),
                Level::Raid1 => (0, self.members, (row % u64::from(self.members)) as u32),
                Level::Raid10 => (2 * column, 2, (row % 2) as u32),
            };
            let run = Run { first_member, copies, read_copy, first_page: (row * unit) as u32 + within, pages };
            left -= pages;
            within = 0;
            column += u32::from(!one_member);
            if one_member || column == self.columns {
                column = if one_member { column } else { 0 };
                row = if row + 1 == self.units_per_member { 0 } else { row + 1 };
            }
            Some(run)
        })
    }
}
