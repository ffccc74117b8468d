//! Address arithmetic of RAID: the place of each page on the members, and the pages that form a stripe (rules 2 and 50).

mod lost;

use crate::request::OpKind;
pub(crate) use lost::{LostStrips, StripRoles};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Redundancy of an array: what it has of its data besides the data themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Redundancy {
    /// Nothing: each page lies in one place only.
    None,
    /// Copies of each page.
    Copies,
    /// Parity of each stripe.
    Parity,
}

/// RAID level, which decides how addresses spread over the members.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RaidLevel {
    /// One SSD without striping.
    Single,
    /// Stripes over all members, without redundancy.
    Raid0,
    /// Full copies on all members. Data are read from one copy; by default, consecutive strips are read from the members in rotation.
    Raid1,
    /// Stripes over pairs of mirrors.
    Raid10,
    /// Stripes with parity on the last member.
    Raid4,
    /// Stripes with parity on each member in turn (left-symmetric).
    Raid5,
    /// Stripes with two parities, on each pair of neighbouring members in turn.
    Raid6,
}

impl RaidLevel {
    /// Returns the number of parity strips in a stripe.
    pub const fn parity_strips(self) -> u32 {
        match self {
            Self::Single | Self::Raid0 | Self::Raid1 | Self::Raid10 => 0,
            Self::Raid4 | Self::Raid5 => 1,
            Self::Raid6 => 2,
        }
    }

    /// Returns the default number of members of an array of this level.
    pub const fn default_members(self) -> u32 {
        match self {
            Self::Single => 1,
            Self::Raid1 => 2,
            Self::Raid0 | Self::Raid10 => 8,
            Self::Raid4 | Self::Raid5 => 9,
            Self::Raid6 => 10,
        }
    }

    /// Returns the name in a file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Raid0 => "raid0",
            Self::Raid1 => "raid1",
            Self::Raid10 => "raid10",
            Self::Raid4 => "raid4",
            Self::Raid5 => "raid5",
            Self::Raid6 => "raid6",
        }
    }

    /// Returns true if the array keeps its data when one of its members fails.
    pub const fn survives_a_failure(self) -> bool {
        !matches!(self, Self::Single | Self::Raid0)
    }
}

/// Number of strips in a stripe, and the members (or groups of mirrors) that hold them.
///
/// A *role* identifies a strip within its stripe. The data columns have the roles 0, 1, … in order of address. The roles of the first
/// parity P and of the second parity Q follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StripeShape {
    /// Number of strips that hold data.
    pub data_strips: u32,
    /// Number of strips that hold parity.
    pub parity_strips: u32,
    /// True if the strips shift by one member from each stripe to the next.
    pub rotates_over_members: bool,
}

impl StripeShape {
    /// Returns the shape of stripes without parity.
    pub const fn without_parity(columns: u32) -> Self {
        Self { data_strips: columns, parity_strips: 0, rotates_over_members: false }
    }

    /// Returns the number of strips in a stripe.
    #[inline]
    pub const fn strips_per_stripe(self) -> u32 {
        self.data_strips + self.parity_strips
    }

    /// Returns the number of members that hold data in at least one stripe. They are the first members of the array.
    #[inline]
    pub const fn members_with_data_in_some_stripe(self) -> u32 {
        if self.rotates_over_members { self.strips_per_stripe() } else { self.data_strips }
    }

    /// Returns the member that holds the strip with this role in `stripe`. A role numbers a strip in its stripe: data in order of address,
    /// then P and Q.
    #[inline]
    pub const fn member_of_strip(self, stripe: u64, role: u32) -> u32 {
        if !self.rotates_over_members {
            return role;
        }
        let width = self.strips_per_stripe();
        // P of stripe 0 lies on the last member, and Q on the member after it, which is the first.
        let turned = width - (stripe % width as u64) as u32;
        (role + turned + self.parity_strips - 1) % width
    }

    /// Returns the role of the strip that `member` holds in `stripe`. A role numbers a strip in its stripe: data in order of address, then
    /// P and Q.
    #[inline]
    pub const fn strip_index_of_member(self, stripe: u64, member: u32) -> u32 {
        if !self.rotates_over_members {
            return member;
        }
        let width = self.strips_per_stripe();
        (member + (stripe % width as u64) as u32 + width + 1 - self.parity_strips) % width
    }

    /// Returns the number of data strips that `member` holds in the stripes `0..stripes`.
    pub fn count_data_strips_of_member(self, member: u32, stripes: u64) -> u64 {
        let width = u64::from(self.strips_per_stripe());
        if !self.rotates_over_members {
            return if member < self.data_strips { stripes } else { 0 };
        }
        let in_part = (0..stripes % width).filter(|&stripe| self.strip_index_of_member(stripe, member) < self.data_strips).count();
        stripes / width * u64::from(self.data_strips) + in_part as u64
    }

    /// Returns the stripe and the column of a data strip, given its `index` among the data strips on `member`. The member must hold data.
    pub fn locate_data_strip_of_member(self, member: u32, index: u64) -> (u64, u32) {
        if !self.rotates_over_members {
            return (index, member);
        }
        let (turns, rest) = (index / u64::from(self.data_strips), index % u64::from(self.data_strips));
        // Over `width` stripes, the role of a member rises by one from stripe to stripe. The roles of parity follow each other, so they are
        // skipped together.
        let first = u64::from(self.strip_index_of_member(0, member));
        let before = u64::from(self.data_strips).saturating_sub(first);
        let passed_over = if rest < before { 0 } else { u64::from(self.strips_per_stripe()) - first.max(u64::from(self.data_strips)) };
        let stripe = turns * u64::from(self.strips_per_stripe()) + rest + passed_over;
        (stripe, self.strip_index_of_member(stripe, member))
    }
}

/// A request to the array, in pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestInPages {
    /// Number chosen by the caller, which the completion of the request carries.
    pub tag: u64,
    /// Number of the first page of the request, counted from the start of the array.
    pub first_page: u64,
    /// Number of pages, at least 1 except for a flush.
    pub pages: u32,
    /// Kind of operation. A flush has no use for the range of pages.
    pub kind: OpKind,
    /// True for a write that must be safe from a loss of power before it counts as done (force unit access).
    pub fua: bool,
    /// True for a write that must not wait for garbage collection.
    pub must_not_wait_for_gc: bool,
    /// Number of the stream in a mix of workloads, or 0 without a mix.
    pub stream: u8,
    /// True if all pages of the request lie on the member of the first page, on consecutive data pages of that member.
    pub contiguous_on_one_member: bool,
}

impl RequestInPages {
    /// Returns true if the request is a write.
    #[inline]
    pub const fn is_write(&self) -> bool {
        matches!(self.kind, OpKind::Write)
    }
}

/// Maps pages of the array to pages of members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArrayLayout {
    level: RaidLevel,
    members: u32,
    strip_pages: u32,
    shape: StripeShape,
    /// Number of stripes, which is also the number of strips that each member exports.
    stripes: u64,
}

/// Place where a page of the array is stored: the member and its logical page, and the stripe and data strip to which they belong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageLocation {
    /// Number of the stripe to which the array's page belongs.
    pub stripe: u64,
    /// Number of the data strip in the stripe to which the array's page belongs.
    pub data_strip_in_stripe: u32,
    /// Member that stores the array's page. If several members store it, the first of them.
    pub member: u32,
    /// Number of the member's logical page in which the array's page is stored, counted from the start of the member.
    pub member_page: u64,
}

/// Consecutive pages of a request that are also consecutive on one member (and on its mirrors), all in one stripe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// The first member that holds the pages.
    pub(crate) first_member: u32,
    /// Number of members, from `first_member` on, that hold the same pages.
    pub mirror_copies: u32,
    /// Number of the first page of the extent, as a logical page counted from the start of the member.
    pub first_page: u64,
    /// Number of pages in the extent.
    pub pages: u32,
}

impl Extent {
    /// Returns the members that hold the pages.
    #[inline]
    pub fn members(&self) -> Range<u32> {
        self.first_member..self.first_member + self.mirror_copies
    }

    /// Returns the pages of the extent, as logical pages counted from the start of the member.
    #[inline]
    pub fn pages_on_member(&self) -> Range<u64> {
        self.first_page..self.first_page + u64::from(self.pages)
    }
}

impl ArrayLayout {
    /// Returns the layout of `members` members that export `member_pages` pages each. A strip is `strip_pages` consecutive pages of the
    /// array on one member.
    pub fn new(level: RaidLevel, members: u32, strip_pages: u32, member_pages: u64) -> Self {
        let columns = match level {
            RaidLevel::Single | RaidLevel::Raid1 => 1,
            RaidLevel::Raid10 => members / 2,
            RaidLevel::Raid0 | RaidLevel::Raid4 | RaidLevel::Raid5 | RaidLevel::Raid6 => members - level.parity_strips(),
        };
        let rotates = matches!(level, RaidLevel::Raid5 | RaidLevel::Raid6);
        let shape = StripeShape { data_strips: columns, parity_strips: level.parity_strips(), rotates_over_members: rotates };
        Self { level, members, strip_pages, shape, stripes: member_pages / u64::from(strip_pages) }
    }

    /// Returns the number of members, without spares.
    pub(crate) fn members(&self) -> u32 {
        self.members
    }

    /// Returns the number of data and parity strips in a stripe, and how they rotate.
    #[inline]
    pub fn stripe_shape(&self) -> StripeShape {
        self.shape
    }

    /// Returns the number of data strips in a stripe.
    #[inline]
    pub fn data_strips_per_stripe(&self) -> u32 {
        self.shape.data_strips
    }

    /// Returns the number of pages in a strip.
    #[inline]
    pub fn strip_pages(&self) -> u32 {
        self.strip_pages
    }

    /// Returns the number of stripes in the array.
    #[inline]
    pub fn stripes(&self) -> u64 {
        self.stripes
    }

    /// Returns the number of pages that the array exports.
    pub fn exported_pages(&self) -> u64 {
        self.stripes * u64::from(self.shape.data_strips) * u64::from(self.strip_pages)
    }

    /// Returns the place where a page of the array is stored: stripe, data strip, member, and logical page of the member.
    #[inline]
    pub fn locate(&self, array_page: u64) -> PageLocation {
        let (stripe, column, within) = self.split(array_page);
        let member_page = stripe * u64::from(self.strip_pages) + u64::from(within);
        PageLocation { stripe, data_strip_in_stripe: column, member: self.member_of_strip(stripe, column), member_page }
    }

    /// Returns the stripe and the column of a page of the array, and its number within the strip.
    ///
    /// Every request needs this several times. Strips of one page and arrays of one member avoid the division, which takes as long as
    /// dozens of other instructions.
    #[inline]
    fn split(&self, array_page: u64) -> (u64, u32, u32) {
        let (strip_pages, columns) = (u64::from(self.strip_pages), u64::from(self.shape.data_strips));
        let (strip, within) = if strip_pages == 1 { (array_page, 0) } else { (array_page / strip_pages, array_page % strip_pages) };
        let (stripe, column) = if columns == 1 { (strip, 0) } else { (strip / columns, strip % columns) };
        (stripe, column as u32, within as u32)
    }

    /// Returns the page of the array that lies `offset` pages after the start of data strip `column` of `stripe`.
    #[inline]
    pub(crate) fn array_page(&self, stripe: u64, column: u32, offset: u32) -> u64 {
        (stripe * u64::from(self.shape.data_strips) + u64::from(column)) * u64::from(self.strip_pages) + u64::from(offset)
    }

    /// Returns the member that holds the strip with this role (its number in the stripe) in `stripe`. If several members hold it, it
    /// returns the first of them.
    #[inline]
    pub(crate) fn member_of_strip(&self, stripe: u64, role: u32) -> u32 {
        self.shape.member_of_strip(stripe, role) * if self.level == RaidLevel::Raid10 { 2 } else { 1 }
    }

    /// Returns the role of the strip that `member` holds in `stripe`. A role numbers a strip in its stripe: data in order of address, then
    /// P and Q.
    #[inline]
    pub fn strip_index_of_member(&self, stripe: u64, member: u32) -> u32 {
        match self.level {
            RaidLevel::Raid1 => 0,
            RaidLevel::Raid10 => member / 2,
            _ => self.shape.strip_index_of_member(stripe, member),
        }
    }

    /// Returns the members that hold the parity strips P and Q of `stripe`; none at levels without parity.
    pub(crate) fn parity_members(&self, stripe: u64) -> impl Iterator<Item = u32> + use<> {
        let shape = self.shape;
        (shape.data_strips..shape.strips_per_stripe()).map(move |role| shape.member_of_strip(stripe, role))
    }

    /// Returns the stripe in which a page of a member lies.
    #[inline]
    pub(crate) fn stripe_of_member_page(&self, page: u64) -> u64 {
        if self.strip_pages == 1 { page } else { page / u64::from(self.strip_pages) }
    }

    /// Returns the page of the array that lies on a page of a member. For a page of parity, it is the one at the same offset in the first
    /// data strip of the stripe. The result is `None` behind the last stripe.
    pub(crate) fn array_page_beside(&self, member: u32, member_page: u64) -> Option<u64> {
        let (stripe, offset) = (self.stripe_of_member_page(member_page), (member_page % u64::from(self.strip_pages)) as u32);
        let role = self.strip_index_of_member(stripe, member);
        let column = if role < self.shape.data_strips { role } else { 0 };
        (stripe < self.stripes).then(|| self.array_page(stripe, column, offset))
    }

    /// Returns the number of the first logical page of `stripe`, which is the same on each member.
    #[inline]
    pub fn stripe_first_page_on_member(&self, stripe: u64) -> u64 {
        stripe * u64::from(self.strip_pages)
    }

    /// Returns true if no data are lost when all these members have failed and none has been rebuilt. Each member is given once.
    pub fn survives_failures_of(&self, failed: &[u32]) -> bool {
        let copies = self.copies_of_each_page();
        if copies == 1 {
            return failed.len() <= self.level.parity_strips() as usize;
        }
        // Members that mirror each other have consecutive numbers.
        failed.iter().all(|member| failed.iter().filter(|other| *other / copies == member / copies).count() < copies as usize)
    }

    /// Returns the number of members that hold the same data.
    #[inline]
    pub fn copies_of_each_page(&self) -> u32 {
        match self.level {
            RaidLevel::Raid1 => self.members,
            RaidLevel::Raid10 => 2,
            _ => 1,
        }
    }

    /// Returns what the array has of its data besides the data themselves.
    pub fn redundancy(&self) -> Redundancy {
        match (self.level.parity_strips(), self.copies_of_each_page()) {
            (0, 1) => Redundancy::None,
            (0, _) => Redundancy::Copies,
            _ => Redundancy::Parity,
        }
    }

    /// Returns the copy from which a strip of `stripe` is read, counted from 0, if no read plan chooses another one (rule 2).
    #[inline]
    pub(crate) fn copy_in_turn(&self, stripe: u64) -> u32 {
        match self.copies_of_each_page() {
            1 => 0,
            copies => (stripe % u64::from(copies)) as u32,
        }
    }

    /// Returns the members that an operation on an extent goes to if no read plan chooses: one for a read, otherwise all that hold it.
    #[inline]
    pub(crate) fn members_to_access(&self, extent: &Extent, kind: OpKind) -> Range<u32> {
        if kind != OpKind::Read || extent.mirror_copies == 1 {
            return extent.members();
        }
        let member = extent.first_member + self.copy_in_turn(self.stripe_of_member_page(extent.first_page));
        member..member + 1
    }

    /// Returns the extents of `request`, in the order of its pages. The pages of an extent are consecutive both in the request and on one
    /// member (and on its mirrors), and lie in one stripe.
    #[inline]
    pub fn extents(&self, request: &RequestInPages) -> impl Iterator<Item = Extent> + use<> {
        let layout = *self;
        let strip_pages = u64::from(self.strip_pages);
        let (mut stripe, mut column, mut within) = self.split(request.first_page);
        let mut left = request.pages;
        let one_member = request.contiguous_on_one_member;
        std::iter::from_fn(move || {
            if left == 0 {
                return None;
            }
            let pages = left.min(layout.strip_pages - within);
            let (first_member, copies) = match layout.level {
                RaidLevel::Single | RaidLevel::Raid0 | RaidLevel::Raid4 => (column, 1),
                RaidLevel::Raid1 => (0, layout.members),
                RaidLevel::Raid10 => (2 * column, 2),
                RaidLevel::Raid5 | RaidLevel::Raid6 => (layout.shape.member_of_strip(stripe, column), 1),
            };
            let extent = Extent { first_member, mirror_copies: copies, first_page: stripe * strip_pages + u64::from(within), pages };
            left -= pages;
            within = 0;
            if one_member {
                (stripe, column) = layout.next_data_strip(stripe, column);
            } else {
                column += 1;
                if column == layout.shape.data_strips {
                    column = 0;
                    stripe = layout.next_stripe(stripe);
                }
            }
            Some(extent)
        })
    }

    #[inline]
    fn next_stripe(&self, stripe: u64) -> u64 {
        if stripe + 1 == self.stripes { 0 } else { stripe + 1 }
    }

    /// Returns the stripe and the column of the next data strip on the same member.
    #[inline]
    fn next_data_strip(&self, mut stripe: u64, column: u32) -> (u64, u32) {
        if !self.shape.rotates_over_members {
            return (self.next_stripe(stripe), column);
        }
        let member = self.shape.member_of_strip(stripe, column);
        loop {
            stripe = self.next_stripe(stripe);
            let role = self.shape.strip_index_of_member(stripe, member);
            if role < self.shape.data_strips {
                return (stripe, role);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Draws the strips of the first stripes, one line each: numbers for data columns, letters for parities.
    fn picture(level: RaidLevel, members: u32, stripes: u64) -> String {
        let layout = ArrayLayout::new(level, members, 1, 100);
        let line = |stripe| -> String {
            let strip = |member| match layout.strip_index_of_member(stripe, member) {
                role if role < layout.data_strips_per_stripe() => char::from_digit(role, 10).unwrap(),
                role => ['P', 'Q'][(role - layout.data_strips_per_stripe()) as usize],
            };
            (0..members).map(strip).collect()
        };
        (0..stripes).map(line).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn stripes_as_drawn_in_text_books() {
        assert_eq!(picture(RaidLevel::Raid4, 4, 2), "012P 012P");
        assert_eq!(picture(RaidLevel::Raid5, 5, 6), "0123P 123P0 23P01 3P012 P0123 0123P");
        assert_eq!(picture(RaidLevel::Raid6, 5, 6), "Q012P 012PQ 12PQ0 2PQ01 PQ012 Q012P");
        assert_eq!(picture(RaidLevel::Raid10, 4, 1), "0011");
    }

    #[test]
    fn copies_take_turns_by_stripe() {
        let copies = |level, members| (0..4).map(|stripe| ArrayLayout::new(level, members, 1, 4).copy_in_turn(stripe)).collect::<Vec<_>>();
        assert_eq!(copies(RaidLevel::Raid1, 3), [0, 1, 2, 0]);
        assert_eq!(copies(RaidLevel::Raid10, 4), [0, 1, 0, 1]);
        assert_eq!(copies(RaidLevel::Raid5, 3), [0; 4]);
    }

    #[test]
    fn extents_of_left_symmetric_parity_go_round_the_members() {
        let layout = ArrayLayout::new(RaidLevel::Raid5, 3, 2, 8);
        let request = RequestInPages {
            tag: 0,
            first_page: 1,
            pages: 12,
            kind: OpKind::Read,
            fua: false,
            must_not_wait_for_gc: false,
            stream: 0,
            contiguous_on_one_member: false,
        };
        let extents = |request| layout.extents(&request).map(|r| (r.first_member, r.first_page, r.pages)).collect::<Vec<_>>();
        assert_eq!(extents(request), [(0, 1, 1), (1, 0, 2), (2, 2, 2), (0, 2, 2), (1, 4, 2), (2, 4, 2), (0, 6, 1)]);
        // Member 0 holds parity in stripe 2.
        assert_eq!(
            extents(RequestInPages { pages: 6, contiguous_on_one_member: true, ..request }),
            [(0, 1, 1), (0, 2, 2), (0, 6, 2), (0, 0, 1)]
        );
    }

    fn any_layout() -> impl Strategy<Value = ArrayLayout> {
        let levels = vec![
            RaidLevel::Single,
            RaidLevel::Raid0,
            RaidLevel::Raid1,
            RaidLevel::Raid10,
            RaidLevel::Raid4,
            RaidLevel::Raid5,
            RaidLevel::Raid6,
        ];
        (proptest::sample::select(levels), 1_u32..5, 1_u32..6, 1_u64..60).prop_map(|(level, size, strip_pages, pages)| {
            let members = match level {
                RaidLevel::Single => 1,
                RaidLevel::Raid10 => 2 * size,
                _ => size + level.parity_strips().max(1),
            };
            ArrayLayout::new(level, members, strip_pages, pages + u64::from(strip_pages))
        })
    }

    proptest! {
        /// Every page of the array has its own place, and the place leads back to the page. Parity fills the other places.
        #[test]
        fn pages_and_locations_are_one_to_one(layout in any_layout()) {
            let mut taken = BTreeSet::new();
            for page in 0..layout.exported_pages() {
                let location = layout.locate(page);
                prop_assert!(location.stripe < layout.stripes() && location.data_strip_in_stripe < layout.data_strips_per_stripe());
                prop_assert_eq!(layout.array_page(location.stripe, location.data_strip_in_stripe, (location.member_page - layout.stripe_first_page_on_member(location.stripe)) as u32), page);
                for member in location.member..location.member + layout.copies_of_each_page() {
                    prop_assert_eq!(layout.strip_index_of_member(location.stripe, member), location.data_strip_in_stripe);
                    prop_assert!(taken.insert((member, location.member_page)), "{:?} twice", location);
                }
            }
            for stripe in 0..layout.stripes() {
                for (nth, member) in layout.parity_members(stripe).enumerate() {
                    prop_assert_eq!(layout.strip_index_of_member(stripe, member), layout.data_strips_per_stripe() + nth as u32);
                    for offset in 0..layout.strip_pages() {
                        prop_assert!(taken.insert((member, layout.stripe_first_page_on_member(stripe) + u64::from(offset))));
                    }
                }
            }
            prop_assert_eq!(taken.len() as u64, layout.stripes() * u64::from(layout.strip_pages()) * u64::from(layout.members));
        }

        /// Extents are the places of the pages, one after another.
        #[test]
        fn extents_agree_with_locations(layout in any_layout(), at in any::<u64>(), length in 1_u32..200) {
            let first_page = at % layout.exported_pages();
            let pages = length.min((layout.exported_pages() - first_page) as u32);
            let request = RequestInPages { tag: 0, first_page, pages, kind: OpKind::Write, fua: false, must_not_wait_for_gc: false, stream: 0, contiguous_on_one_member: false };
            let by_extent: Vec<_> = layout.extents(&request).flat_map(|r| (0..r.pages).map(move |i| (r.first_member, r.first_page + u64::from(i)))).collect();
            let by_page: Vec<_> = (first_page..first_page + u64::from(pages)).map(|p| layout.locate(p)).map(|p| (p.member, p.member_page)).collect();
            prop_assert_eq!(by_extent, by_page);
        }

        /// Requests to one member take its data strips in order.
        #[test]
        fn one_member_takes_data_strip_after_data_strip(layout in any_layout(), member in 0_u32..8, stripes in 1_u64..40) {
            let shape = layout.stripe_shape();
            prop_assume!(member < shape.strips_per_stripe() && shape.count_data_strips_of_member(member, u64::from(shape.strips_per_stripe())) > 0);
            let strips: Vec<_> = (0..stripes).map(|s| (s, shape.strip_index_of_member(s, member))).filter(|&(_, p)| p < shape.data_strips).collect();
            prop_assert_eq!(strips.len() as u64, shape.count_data_strips_of_member(member, stripes));
            let by_index: Vec<_> = (0..strips.len() as u64).map(|index| shape.locate_data_strip_of_member(member, index)).collect();
            prop_assert_eq!(by_index, strips);
        }
    }
}
